// SPDX-License-Identifier: Apache-2.0
// Gradients of redmax runs with smooth friction and with pins, whose bounds vary with their loads:
// on turns, slides and balls, reached from both sides, against differences of fourth order and
// forward mode; dry pins that slide and stick; what has none.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

/// Axes of the joints of an arm: hinge, cylindrical, ball.
typedef struct pin_case {
    const char *name, *hinge, *slide, *turn, *ball;
    bool rough;
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
    {"smooth friction", SMOOTH, SMOOTH, SMOOTH, SMOOTH, false},
    {"pins", PIN, PIN, PIN, BOTH, false},
    {"pins and friction", BOTH, PIN, BOTH, PIN, false},
    {"dry pins", DRY, DRY, STUCK, BOTH, false},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

// side 1: joints are given from the child to the parent.
static mabd_model* arm(const pin_case* c, int side) {
    char text[6000];
    const char* pairs[2][3] = {
        {"\"b\": \"one\"", "\"a\": \"one\", \"b\": \"two\"", "\"a\": \"two\", \"b\": \"three\""},
        {"\"a\": \"one\", \"b\": \"world\"", "\"a\": \"two\", \"b\": \"one\"",
         "\"a\": \"three\", \"b\": \"two\""}};
    snprintf(text, sizeof text,
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
             " \"joints\": [{\"type\": \"hinge\", %s, \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0],"
             "  \"axes\": {\"rx\": %s}},"
             " {\"type\": \"cylindrical\", %s, \"anchor\": [0.5, 0, 0], \"axis\": [1, 0, 0],"
             "  \"axes\": {\"tx\": %s, \"rx\": %s}},"
             " {\"type\": \"ball\", %s, \"anchor\": [1, 0, 0],"
             "  \"axes\": {\"rx\": %s, \"ry\": %s, \"rz\": %s}}], \"start\": {\"close\": true}}",
             pairs[side][0], c->hinge, pairs[side][1], c->slide, c->turn, pairs[side][2], c->ball,
             c->ball, c->ball);
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

static void check(const pin_case* c, int side, mabd_integrator method) {
    mabd_model* model = arm(c, side);
    gradient_rig rig = make_rig(c, method);
    gradient_rig_expect_branches(c->name, model, &rig, 0.002, false);
    mabd_model_destroy(model);
}

Test(redmax_gradient_pins, against_differences) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                       MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_SEMI_IMPLICIT,
                                       MABD_INTEGRATOR_RK45};
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < AMOUNT(5, 2); k++) {
            if ((i == 3 && k >= 3) || (i == 0 && k == 4))
                continue; // dry friction has no explicit methods
            check(&cases[i], (k + i) % 2, methods[k]);
            if (k < 2) check(&cases[i], (k + i + 1) % 2, methods[k]);
        }
    }
}

Test(redmax_gradient_pins, refuses_what_has_none) {
    const pin_case dry = {"dry balls", PIN, PIN, PIN, DRY, false};
    mabd_model* model = arm(&dry, 0);
    gradient_rig rig = make_rig(&dry, MABD_INTEGRATOR_BDF2);
    mabd_gradient* g;
    mabd_error error = {0};
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_UNAVAILABLE);
    cr_expect(strstr(error.text, "dry pins") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}
