// SPDX-License-Identifier: Apache-2.0
// Gradients of redmax runs with force laws on the axes of balls, reached from both sides: stops,
// drives, rate motors, friction and rigid servos on components of the rotation vector, against
// differences of fourth order and forward mode; steps in parts; checkpoints; copies of a batch; the
// linearisation of a step. Hinges are in test_gradient_laws.c.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                          MABD_INTEGRATOR_EULER};
#define METHODS AMOUNT(3, 1)

/// Axes of the ball, and whether some step changes a branch.
typedef struct ball_case {
    const char *name, *axes;
    bool rough;
} ball_case;

/// Axes of a crank and of a ball behind it in a loop, a coupling, and whether some step changes a
/// branch.
typedef struct loop_case {
    const char *name, *hinge, *ball, *coupling;
    bool rough;
} loop_case;

static const ball_case cases[] = {
    {"rigid servo",
     "\"ry\": {\"servo\": {\"ramp\": {\"to\": 0.3, \"end\": 0.2}},"
     " \"servo_rigid\": true}, \"rz\": {\"damping\": 0.2, \"armature\": 0.02}",
     false},
    {"two rigid servos",
     "\"rx\": {\"servo\": {\"ramp\": {\"to\": 0.06, \"end\": 0.2}}, \"servo_rigid\": true},"
     " \"rz\": {\"servo\": {\"sine\": {\"amplitude\": 0.1, \"frequency\": 0.3}},"
     " \"servo_rigid\": true, \"armature\": 0.1}",
     false},
    {"rate motor", "\"ry\": {\"motor_velocity\": 1.4}, \"rx\": {\"stiffness\": 2}", false},
    {"sticks", "\"rx\": {\"friction\": 30}, \"ry\": {\"friction\": 50}, \"rz\": {\"friction\": 40}",
     false},
    {"slides",
     "\"ry\": {\"friction\": 0.5, \"armature\": 0.05, \"damping\": 0.1},"
     " \"rz\": {\"stiffness\": 2}",
     false},
    {"servos at and below limits",
     "\"rx\": {\"servo\": 0.4, \"servo_stiffness\": 9, \"servo_damping\": 0.2, \"max_force\": 30},"
     " \"ry\": {\"servo\": 2, \"servo_stiffness\": 90, \"servo_damping\": 0.2, \"max_force\": 3}",
     false},
    {"stops",
     "\"ry\": {\"lower\": -0.07, \"upper\": 0.07, \"armature\": 0.05},"
     " \"rx\": {\"friction\": 0.2, \"lower\": -1}",
     true},
    {"rate motor with stop", "\"ry\": {\"motor_velocity\": 1.4, \"upper\": 0.05, \"lower\": -0.05}",
     true},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

// side 1: joints are given from the child to the parent.
static char* arm_text(const ball_case* c, int side, char* text, size_t size) {
    const char* pair[2] = {"\"a\": \"world\", \"b\": \"upper\"",
                           "\"a\": \"upper\", \"b\": \"world\""};
    const char* next[2] = {"\"a\": \"upper\", \"b\": \"lower\"",
                           "\"a\": \"lower\", \"b\": \"upper\""};
    snprintf(text, size,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"upper\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"position\": [0.25, 0, 0], \"velocity\": [0, 0, -0.35],"
             "  \"angular_velocity\": [0.3, 1.4, 0.2]},"
             " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
             "  \"position\": [0.75, 0.1, 0], \"velocity\": [0, 0, -1.05],"
             "  \"angular_velocity\": [1.3, 1.4, -0.2]}],"
             " \"joints\": [{\"type\": \"ball\", %s, \"anchor\": [0, 0, 0], \"axes\": {%s}},"
             " {\"type\": \"universal\", %s, \"anchor\": [0.5, 0, 0],"
             "  \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_stiffness\": 3, \"servo_damping\": 0.1,"
             "   \"max_force\": 100}}}], \"start\": {\"close\": true}}",
             pair[side], c->axes, next[side]);
    return text;
}

static mabd_model* arm(const ball_case* c, int side) {
    char text[3000];
    return rig_text_model(arm_text(c, side, text, sizeof text));
}

static void add_axis(gradient_rig* rig, const ball_case* c, const char* key,
                     mabd_parameter_kind kind, mabd_real scale) {
    static const char* const axes[] = {"\"rx\"", "\"ry\"", "\"rz\""};
    const char *at = strstr(c->axes, key), *last = NULL;
    int axis = 0;
    if (!at) return;
    for (int k = 0; k < 3; k++) { // the axis that the key belongs to
        const char* own = strstr(c->axes, axes[k]);
        if (own && own < at && own > last) last = own, axis = k;
    }
    gradient_rig_axis(rig, kind, 0, (mabd_axis)(MABD_AXIS_RX + axis), scale);
}

static gradient_rig make_rig(const ball_case* c, mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, 0.01, 8);
    gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 0, 1)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 0, 2)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 0, 3)->scale = 0.005;
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 0, 2)->scale = 0.01;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 2);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 0, 0)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 1, 0)->scale = 0.05;
    add_axis(&rig, c, "damping\"", MABD_PARAMETER_DAMPING, 0.05);
    add_axis(&rig, c, "\"stiffness", MABD_PARAMETER_STIFFNESS, 0.1);
    add_axis(&rig, c, "armature", MABD_PARAMETER_ARMATURE, 0.01);
    add_axis(&rig, c, "friction", MABD_PARAMETER_FRICTION, 0.05);
    for (int k = 0; k < 1 + (strstr(c->name, "two") || strstr(c->name, "servos")); k++) {
        if (!strstr(c->axes, "servo") && !strstr(c->axes, "motor")) break;
        mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, k, 0);
        p->first = 3, p->last = 5, p->scale = 0.05;
    }
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 4, 8);
    t->point[0] = 0.2, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 0, 8, 8);
    t->weight = 0.02, t->target[1] = 1;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 8, 8);
    t->weight = 0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 0, 7, 8);
    t->weight = 1e-4, t->axis = -1;
    return rig;
}

static void check_ball(const ball_case* c, int side, mabd_integrator method) {
    mabd_model* model = arm(c, side);
    gradient_rig rig = make_rig(c, method);
    gradient_rig_expect_branches(c->name, model, &rig, c->rough ? 0.001 : 0.01, c->rough);
    mabd_model_destroy(model);
}

Test(redmax_gradient_laws, balls_against_differences) {
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < METHODS; k++) {
            check_ball(&cases[i], 0, methods[(k + i) % 3]);
            check_ball(&cases[i], 1, methods[(k + i) % 3]);
        }
    }
}

// ---- loops and couplings -----------------------------------------------------------------------

// A crank, a rod on a ball and a lever, closed by a ball without laws: two freedoms. A coupling
// ties an axis of the lever's joint to the crank where there is one.
static char* loop_text(const loop_case* c, int side, char* text, size_t size) {
    const char* pair[2] = {"\"a\": \"crank\", \"b\": \"rod\"", "\"a\": \"rod\", \"b\": \"crank\""};
    snprintf(text, size,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"crank\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.2, 0, 0.1],"
             "  \"angular_velocity\": [0.2, 1.5, 0.3]},"
             " {\"name\": \"rod\", \"mass\": 0.7,"
             "  \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, -0.003],"
             "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.6, 0.3, 0.2],"
             "  \"angular_velocity\": [0.5, 1, 0.8], \"velocity\": [0.2, 0, -0.4]},"
             " {\"name\": \"lever\", \"mass\": 0.9, \"inertia\": [0.03, 0.02, 0.025],"
             "  \"center\": [0.02, 0.01, 0], \"position\": [0.9, 0.1, -0.2]}], \"joints\": ["
             " {\"name\": \"pivot\", \"type\": \"hinge\", \"b\": \"crank\", \"anchor\": [0, 0, 0],"
             "  \"axis\": [0, 1, 0.2], \"axes\": {\"rx\": {%s}}},"
             " {\"type\": \"ball\", %s, \"anchor\": [0.4, 0.1, 0.1], \"axes\": {%s}},"
             " {\"type\": \"ball\", \"a\": \"lever\", \"b\": \"rod\", \"anchor\": [0.8, 0.3, 0]},"
             " {\"name\": \"base\", \"type\": \"cylindrical\", \"b\": \"lever\","
             "  \"anchor\": [0.9, -0.1, -0.3], \"axis\": [0.8, 0.6, 0.3]}],"
             " \"couplings\": [%s], \"start\": {\"close\": true}}",
             c->hinge, pair[side], c->ball, c->coupling);
    return text;
}

static gradient_rig loop_rig(const loop_case* c, mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, 0.01, 8);
    gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 1, 1)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 2, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 1, 0)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.005;
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 0, 2)->scale = 0.01;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 2);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 1, 0)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 2, 1)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_AXIS_B, 3, 0)->scale = 0.02;
    if (strstr(c->hinge, "friction")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 0.05);
    }
    if (strstr(c->ball, "armature")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_ARMATURE, 1, MABD_AXIS_RY, 0.01);
    }
    if (strstr(c->hinge, "motor") || strstr(c->hinge, "servo") || strstr(c->ball, "servo")) {
        mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0);
        p->first = 3, p->last = 5, p->scale = 0.05;
    }
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 4, 8);
    t->point[0] = 0.2, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 2, 8, 8);
    t->weight = 0.02, t->target[1] = 1;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 8, 8);
    t->weight = 0.01;
    for (int32_t j = 0; j < 3; j++) {
        t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, j, 7, 8);
        t->weight = 1e-4, t->axis = -1;
    }
    return rig;
}

static const loop_case loops[] = {
    {"loop, slides", "\"friction\": 0.6",
     "\"ry\": {\"friction\": 0.2, \"armature\": 0.05, \"damping\": 0.1}", "", false},
    {"loop, sticks", "\"friction\": 90", "\"rz\": {\"stiffness\": 2}", "", false},
    {"loop, rigid servo", "\"stiffness\": 2",
     "\"ry\": {\"servo\": {\"ramp\": {\"to\": 0.3, \"end\": 0.2}}, \"servo_rigid\": true,"
     " \"armature\": 0.02}, \"rz\": {\"damping\": 0.2}",
     "", false},
    {"loop, servos", "\"servo\": 2, \"servo_stiffness\": 90, \"max_force\": 1",
     "\"rx\": {\"servo\": 0.4, \"servo_stiffness\": 9, \"servo_damping\": 0.2, \"max_force\": 30},"
     " \"ry\": {\"friction\": 0.1}",
     "", false},
    {"loop, rate motor", "\"motor_velocity\": 1.4", "\"ry\": {\"friction\": 0.1}", "", true},
    {"loop, stops", "\"lower\": -0.07, \"upper\": 0.07, \"armature\": 0.05",
     "\"ry\": {\"friction\": 0.2, \"armature\": 0.03}, \"rx\": {\"lower\": -0.1, \"upper\": 0.1}",
     "", true},
    {"coupling, stops", "\"lower\": -0.07, \"upper\": 0.07",
     "\"ry\": {\"friction\": 0.2, \"lower\": -0.1, \"upper\": 0.1}",
     "{\"axes\": [{\"joint\": \"pivot\", \"axis\": \"rx\"},"
     " {\"joint\": \"base\", \"axis\": \"tx\", \"ratio\": -4}]}",
     true},
};
#define LOOPS ((int)(sizeof loops / sizeof loops[0]))

Test(redmax_gradient_laws, beside_loops_and_couplings) {
    char text[3000];
    for (int i = 0; i < LOOPS; i++) {
        for (int k = 0; k < METHODS; k++) {
            const loop_case* c = &loops[i];
            mabd_model* model = rig_text_model(loop_text(c, (i + k) % 2, text, sizeof text));
            gradient_rig rig = loop_rig(c, methods[(k + i) % 3]);
            gradient_rig_expect_branches(c->name, model, &rig, c->rough ? 0.001 : 0.01, c->rough);
            mabd_model_destroy(model);
        }
    }
}

// ---- steps in parts, tapes, copies -------------------------------------------------------------

static const ball_case parted = {
    "parts",
    "\"ry\": {\"lower\": -0.12, \"upper\": 0.12, \"armature\": 0.05}, \"rx\": {\"friction\": 0.2},"
    " \"rz\": {\"motor_velocity\": 0.3}",
    true};

// With few iterations steps of this length are taken in parts, and end with impulses.
static gradient_rig parted_rig(mabd_integrator method) {
    gradient_rig rig = make_rig(&parted, method);
    rig.sim.h = 0.05, rig.sim.max_iterations = 4, rig.sim.max_halvings = 6;
    rig.sim.redmax.newton_tolerance = 1e-12;
    return rig;
}

static int parts_of(const mabd_model* model, const gradient_rig* rig) {
    mabd_sim* sim = rig_sim(model, &rig->sim);
    int parts = 0;
    for (int k = 0; k < 8; k++) {
        mabd_step_info info;
        mabd_error error = {0};
        rig_check(mabd_sim_step(sim, &info, &error), &error, "step");
        parts += info.substeps > 1;
    }
    mabd_sim_destroy(sim);
    return parts;
}

Test(redmax_gradient_laws, steps_in_parts) {
    for (int side = 0; side < 2; side++) {
        mabd_model* model = arm(&parted, side);
        for (int i = 0; i < METHODS; i++) {
            gradient_rig rig = parted_rig(methods[i]);
            mabd_real p[GRADIENT_MAX];
            mabd_gradient* g = gradient_rig_create(&rig, model);
            gradient_rig_values(&rig, model, 0, p);
            const double error = gradient_rig_compare(&rig, g, p, 2e-4, false);
            const double forward = gradient_rig_forward_error(&rig, model, p);
            const int parts = parts_of(model, &rig);
            printf("%-8s %d of 8 steps in parts: error %.1e, forward %.1e\n",
                   mabd_integrator_name(methods[i]), parts, error, forward);
            cr_expect(error < 1e-6 && forward < 1e-11 && parts > 0);
            mabd_gradient_destroy(g);
        }
        mabd_model_destroy(model);
    }
}

Test(redmax_gradient_laws, checkpoints_give_the_same_bits) {
    const ball_case* const of[] = {&cases[6], &cases[7], &parted};
    mabd_error error = {0};
    mabd_real p[GRADIENT_MAX], plain[GRADIENT_MAX], again[GRADIENT_MAX];
    mabd_gradient_info info;
    for (int i = 0; i < 3; i++) {
        mabd_model* model = arm(of[i], i % 2);
        gradient_rig rig = i < 2 ? make_rig(of[i], methods[i]) : parted_rig(methods[0]);
        rig.def.steps = 40;
        rig.terms[0].last = 40;
        gradient_rig_values(&rig, model, 0, p);
        mabd_gradient* g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, p, plain, &info, &error), &error, "run");
        cr_expect(info.non_smooth > 0);
        mabd_gradient_destroy(g);
        rig.def.tape_bytes = 1;
        cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_MEMORY);
        size_t need = 0;
        sscanf(error.text, "tape_bytes is 1; a tape with checkpoints needs %zu", &need);
        rig.def.tape_bytes = need;
        g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, p, again, &info, &error), &error, "run");
        cr_expect(info.recomputed > 0);
        cr_expect(memcmp(plain, again, (size_t)rig.def.parameter_count * sizeof *p) == 0);
        mabd_gradient_destroy(g);
        mabd_model_destroy(model);
    }
}

Test(redmax_gradient_laws, bytes) {
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"arm\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": ["
        "{\"type\": \"slot\", \"b\": \"arm\", \"axes\": {\"rx\": {\"friction\": 1}, \"tx\":"
        " {\"motor_velocity\": 1, \"upper\": 1}}}]}");
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_SDIRK2, 0.01, 10);
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    gradient_rig_axis(&rig, MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 1);
    gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0)->last = 5;
    gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 0, 10, 10)->axis = -1;
    gradient_rig_expect_bytes(&rig, model);
    mabd_model_destroy(model);
}

static void add_copy(gradient_rig* rig, int32_t copy) {
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 2 * copy, 0);
    gradient_rig_axis(rig, MABD_PARAMETER_FRICTION, 2 * copy, MABD_AXIS_RX, 1);
    gradient_rig_axis(rig, MABD_PARAMETER_ARMATURE, 2 * copy, MABD_AXIS_RY, 1);
    gradient_rig_term(rig, MABD_LOSS_POINT, 2 * copy + 1, 8, 8)->target[2] = 1;
}

// Two copies of an arm: the gradient by parameters of one has the bits of that copy alone.
Test(redmax_gradient_laws, copies_of_a_batch) {
    char text[3000];
    const char* const texts[2] = {text, text};
    mabd_real both[GRADIENT_MAX];
    arm_text(&cases[6], 1, text, sizeof text);
    const gradient_rig empty = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, 0.01, 8);
    gradient_rig_expect_copies(&empty, texts, add_copy, both);
    cr_expect(fabs(both[1]) > 1e-6 && fabs(both[4]) > 1e-6);
}

// ---- the linearisation of a step ---------------------------------------------------------------

// A cart by implicit Euler: its motor is too weak for its rate u, or reaches it; it arrives at a
// stop; friction holds it.
Test(redmax_gradient_laws, linearisation_on_each_branch) {
    static const struct {
        const char* axis;
        double A[4], B[2];
    } runs[] = {
        {"\"motor_velocity\": 5, \"max_force\": 2", {1, 0.1, 0, 1}, {0, 0}},
        {"\"motor_velocity\": 1.1, \"max_force\": 2000", {1, 0, 0, 0}, {0.1, 1}},
        {"\"upper\": 0.05", {0, 0, -10, 0}, {0, 0}}, // v = (0.05 - x)/h
        {"\"friction\": 900", {1, 0, 0, 0}, {0, 0}},
    };
    for (int i = 0; i < 4; i++) {
        char text[600];
        mabd_real A[4], B[2] = {0};
        mabd_error error = {0};
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"cart\", \"mass\": 2,"
                 " \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0]}], \"joints\": [{\"type\":"
                 " \"prismatic\", \"b\": \"cart\", \"axes\": {\"tx\": {%s}}}]}",
                 runs[i].axis);
        mabd_model* model = rig_text_model(text);
        mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.1);
        def.formulation = MABD_FORMULATION_REDMAX, def.integrator = MABD_INTEGRATOR_EULER;
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_real target = i == 0 ? 5 : 1.1;
        if (i < 2) rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &target, &error), &error, "set");
        rig_check(mabd_gradient_step(sim, A, i < 2 ? B : NULL, &error), &error, "step");
        for (int k = 0; k < 4; k++) cr_expect(fabs(A[k] - runs[i].A[k]) < 1e-12, "%d: %g", i, A[k]);
        for (int k = 0; k < 2; k++) cr_expect(fabs(B[k] - runs[i].B[k]) < 1e-12, "%d: %g", i, B[k]);
        rig_destroy(sim, model);
    }
}

// ---- what has none -----------------------------------------------------------------------------

Test(redmax_gradient_laws, contacts_are_refused) {
    mabd_model* model =
        rig_text_model("{\"contact\": {\"enabled\": true}, \"bodies\": ["
                       " {\"name\": \"floor\", \"shape\": \"plane\", \"fixed\": true}, {\"name\": "
                       "\"box\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]}]}");
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_EULER, 0.01, 2);
    mabd_gradient* g;
    mabd_error error = {0};
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0);
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_UNAVAILABLE);
    cr_expect(strstr(error.text, "contacts of shapes") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}
