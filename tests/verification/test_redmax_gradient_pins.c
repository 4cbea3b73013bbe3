// SPDX-License-Identifier: Apache-2.0
// Gradients of redmax runs with smooth friction and with pins, whose bounds vary with their loads:
// on turns, slides and balls, reached from both sides, against differences of fourth order and
// forward mode; dry pins that slide and stick; what has none.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

/// Axes of the joints of an arm: hinge, cylindrical, ball.
typedef struct pin_case {
    const char *name, *hinge, *slide, *turn, *ball;
} pin_case;

#define SMOOTH "{\"friction\": 0.3, \"friction_speed\": 0.4}"
#define PIN                                                                                        \
    "{\"friction_speed\": 0.5, \"pin\": {\"friction\": 0.3, \"radius\": 0.05, \"length\": 0.2,"    \
    " \"face\": 0.04}}"
#define BOTH                                                                                       \
    "{\"friction\": 0.2, \"friction_speed\": 0.5, \"damping\": 0.1, \"pin\": {\"friction\": 0.3,"  \
    " \"radius\": 0.05}}"
#define DRY   "{\"pin\": {\"friction\": 0.3, \"radius\": 0.05, \"length\": 0.2, \"face\": 0.04}}"
#define STUCK "{\"friction\": 90, \"pin\": {\"friction\": 0.9, \"radius\": 0.05}}"

static const pin_case cases[] = {
    {"smooth friction", SMOOTH, SMOOTH, SMOOTH, SMOOTH}, {"pins", PIN, PIN, PIN, BOTH},
    {"pins and friction", BOTH, PIN, BOTH, PIN},         {"dry pins", DRY, DRY, STUCK, BOTH},
    {"dry pins of balls", PIN, BOTH, PIN, DRY},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

/// What is beside the arm: a further joint, and other lists of the scene.
typedef struct pin_extra {
    const char *name, *joint, *lists;
} pin_extra;

static const pin_extra extras[] = {
    {"in a loop", ", {\"type\": \"ball\", \"b\": \"three\", \"anchor\": [1.5, 0.1, 0.2]}", ""},
    {"beside springs", "",
     ", \"springs\": [{\"points\": [{\"body\": \"one\", \"point\": [0, 0.1, 0.1]},"
     " {\"body\": \"three\", \"point\": [0.1, 0, 0]}], \"stiffness\": 30, \"damping\": 0.7,"
     " \"length\": 0.5}, {\"points\": [{\"body\": \"one\", \"point\": [0, 0.1, 0]},"
     " {\"body\": \"two\"}, {\"body\": \"three\", \"point\": [0, 0, 0.1]}],"
     " \"stiffness\": 20, \"damping\": 0.5, \"length\": 0.4, \"law\": \"strain\"}]"},
    {"coupled", "",
     ", \"couplings\": [{\"axes\": [{\"joint\": \"hinge\", \"axis\": \"rx\", \"ratio\": 1},"
     " {\"joint\": \"sleeve\", \"axis\": \"tx\", \"ratio\": 4}]}]"}};
static const pin_extra alone = {"", "", ""};

// side 1: joints are given from the child to the parent.
static mabd_model* arm(const pin_case* c, const pin_extra* extra, int side) {
    char text[6000];
    const char* pairs[2][3] = {
        {"\"b\": \"one\"", "\"a\": \"one\", \"b\": \"two\"", "\"a\": \"two\", \"b\": \"three\""},
        {"\"a\": \"one\", \"b\": \"world\"", "\"a\": \"two\", \"b\": \"one\"",
         "\"a\": \"three\", \"b\": \"two\""}};
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"one\", \"mass\": 1.2,"
        "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
        "  \"position\": [0.25, 0.1, 0], \"velocity\": [0, 0, -0.35],"
        "  \"angular_velocity\": [0, 1.4, 0]},"
        " {\"name\": \"two\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
        "  \"position\": [0.75, 0.1, 0.05], \"velocity\": [0.9, 0, -1.05],"
        "  \"angular_velocity\": [1.3, 1.4, 0]},"
        " {\"name\": \"three\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [1.2, 0, 0.1], \"velocity\": [0.9, 0, -1.6],"
        "  \"angular_velocity\": [0.5, 2, 1]}],"
        " \"joints\": [{\"name\": \"hinge\", \"type\": \"hinge\", %s, \"anchor\": [0, 0, 0], "
        "\"axis\": [0, 1, 0],"
        "  \"axes\": {\"rx\": %s}},"
        " {\"name\": \"sleeve\", \"type\": \"cylindrical\", %s, \"anchor\": [0.5, 0, 0], \"axis\": "
        "[1, 0, 0],"
        "  \"axes\": {\"tx\": %s, \"rx\": %s}},"
        " {\"type\": \"ball\", %s, \"anchor\": [1, 0, 0],"
        "  \"axes\": {\"rx\": %s, \"ry\": %s, \"rz\": %s}}%s], \"start\": {\"close\": true}%s}",
        pairs[side][0], c->hinge, pairs[side][1], c->slide, c->turn, pairs[side][2], c->ball,
        c->ball, c->ball, extra->joint, extra->lists);
    return rig_text_model(text);
}

static gradient_rig make_rig(const pin_case* c, mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, 0.01, 8);
    gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 0, 1)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 2, 0)->scale = 0.05;
    gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 0, 3)->scale = 0.005;
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 2, 1)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 1);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 1, 1)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 1, 2)->scale = 0.05;
    const char* const axes[3] = {c->hinge, c->slide, c->ball};
    const mabd_axis which[3] = {MABD_AXIS_RX, MABD_AXIS_TX, MABD_AXIS_RY};
    for (int k = 0; k < 3; k++) {
        if (strncmp(axes[k], "{\"friction\": 0.", 15) != 0) continue;
        gradient_rig_axis(&rig, MABD_PARAMETER_FRICTION, k, which[k], 0.05);
    }
    if (strstr(c->ball, "damping")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_DAMPING, 2, MABD_AXIS_RZ, 0.05);
    }
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 2, 4, 8);
    t->point[0] = 0.2, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 1, 8, 8);
    t->weight = 0.02, t->target[1] = 1;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 8, 8);
    t->weight = 0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 1, 7, 8);
    t->weight = 1e-4, t->axis = -1;
    return rig;
}

static void check(const pin_case* c, const pin_extra* extra, int side, mabd_integrator method) {
    char name[64];
    mabd_model* model = arm(c, extra, side);
    gradient_rig rig = make_rig(c, method);
    mabd_real p[GRADIENT_MAX];
    const bool rk45 = method == MABD_INTEGRATOR_RK45; // divides its steps as they change
    if (rk45) rig.sim.h = 0.002, rig.sim.redmax.newton_tolerance = 1e-10;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    const double worst =
        gradient_rig_compare(&rig, g, p, rk45 || extra != &alone ? 0.01 : 0.002, false);
    const double forward = gradient_rig_forward_error(&rig, model, p);
    snprintf(name, sizeof name, "%s %s", c->name, extra->name);
    printf("%-34s %-13s error %.1e, forward %.1e\n", name, mabd_integrator_name(method), worst,
           forward);
    cr_expect(worst < 1e-6 && forward < 1e-9, "%s", name); // bounds settle to 1e-11
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                          MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_SEMI_IMPLICIT};
// Dry friction has no explicit methods.
static bool is_dry(const pin_case* c) {
    return strncmp(c->name, "dry", 3) == 0;
}

Test(redmax_gradient_pins, against_differences) {
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < AMOUNT(4, 2); k++) {
            if (!is_dry(&cases[i]) || k < 3) check(&cases[i], &alone, (k + i) % 2, methods[k]);
        }
    }
}

// Rows and springs between links bend the wrenches that joints transmit, and so the bounds.
Test(redmax_gradient_pins, beside_loops_springs_and_couplings) {
    for (int e = 0; e < 3; e++) {
        for (int i = 1; i < CASES; i++) {
            const int k = (e + i) % (is_dry(&cases[i]) ? 3 : 4);
            if (AMOUNT(1, i == e + 1)) check(&cases[i], &extras[e], (e + i) % 2, methods[k]);
        }
    }
}

Test(redmax_gradient_pins, by_rk45) {
    check(&cases[1], &alone, 1, MABD_INTEGRATOR_RK45);
    for (int e = 0; e < AMOUNT(3, 1); e++) {
        check(&cases[1 + e % 2], &extras[e], e % 2, MABD_INTEGRATOR_RK45);
    }
}

Test(redmax_gradient_pins, refuses_what_has_none) {
    mabd_model* model = arm(&cases[1], &alone, 0);
    gradient_rig rig = make_rig(&cases[1], MABD_INTEGRATOR_LINEAR_IMPLICIT);
    mabd_gradient* g;
    mabd_error error = {0};
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_UNAVAILABLE);
    cr_expect(strstr(error.text, "pins") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}
