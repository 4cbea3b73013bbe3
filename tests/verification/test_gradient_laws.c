// SPDX-License-Identifier: Apache-2.0
// Gradients of runs with stops, limited drives, rate motors and dry friction, against differences
// of fourth order: on each branch of a law, and through changes of the branch, where the step that
// changes it is counted.
//
// An upper arm swings on a hinge with the law, a lower arm hangs on a ball joint, so that nothing
// is planar. A run of a few steps keeps its branches for changes of the parameters as small as
// those of the differences; then the loss is smooth, and both must agree.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

/// Axis of the hinge, start rate of the upper arm [rad/s], steps, and whether some step changes its
/// branch.
typedef struct law_case {
    const char* name;
    const char* axis;
    double rate;
    int steps;
    bool rough;
} law_case;

static const law_case cases[] = {
    {"free between stops", "\"lower\": -3, \"upper\": 3", 1, 6, false},
    {"arrives at a stop", "\"lower\": -0.5, \"upper\": 0.05", 3, 6, true},
    {"arrives, armature", "\"upper\": 0.05, \"armature\": 0.3, \"damping\": 0.2", 3, 6, true},
    {"slides", "\"friction\": 1.5", 2, 6, false},
    {"slides, spring", "\"friction\": 1.5, \"stiffness\": 3, \"damping\": 0.1, \"armature\": 0.05",
     2, 6, false},
    {"sticks", "\"friction\": 80, \"damping\": 0.2", 0, 6, false},
    {"slides, then sticks", "\"friction\": 14, \"damping\": 0.2", 1.2, 8, true},
    {"limited servo inside",
     "\"servo\": 0.2, \"servo_stiffness\": 20, \"servo_damping\": 2, \"max_force\": 500", 1, 6,
     false},
    {"limited servo at its limit",
     "\"servo\": 2, \"servo_stiffness\": 200, \"servo_damping\": 2, \"max_force\": 5", 1, 6, false},
    {"limited rigid servo",
     "\"servo\": {\"ramp\": {\"to\": 0.2, \"end\": 0.2}},"
     " \"servo_rigid\": true, \"max_force\": 5000",
     1, 6, false},
    {"rate motor", "\"motor_velocity\": 1.2", 1.2, 6, false},
    {"rate motor catches up", "\"motor_velocity\": 1.2, \"armature\": 0.05", 0, 6, false},
    {"limited rate motor", "\"motor_velocity\": 9, \"max_force\": 6, \"damping\": 0.1", 1, 6,
     false},
    {"limited rate motor arrives", "\"motor_velocity\": 2.5, \"max_force\": 13", 0.9, 8, true},
    {"ball, slides and arrives",
     "\"friction\": 0.2, \"damping\": 0.1}, \"ry\": {\"upper\": 0.06,"
     " \"armature\": 0.05, \"stiffness\": 2}, \"rz\": {\"damping\": 0.3",
     3, 6, true},
    {"ball, limited servo",
     "\"servo\": 0.4, \"servo_stiffness\": 9, \"servo_damping\": 0.2,"
     " \"max_force\": 30, \"friction\": 0.1",
     2, 6, false},
    {"everything",
     "\"lower\": -1, \"upper\": 0.12, \"friction\": 0.7, \"stiffness\": 2,"
     " \"servo\": 1, \"servo_stiffness\": 4, \"max_force\": 3",
     3, 8, true},
};

static bool is_ball(const law_case* c) {
    return strncmp(c->name, "ball", 4) == 0;
}

static mabd_model* arm(const law_case* c) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"upper\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"position\": [0.25, 0, 0], \"velocity\": [0, 0, %g],"
             "  \"angular_velocity\": [0, %g, 0]},"
             " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
             "  \"position\": [0.75, 0.1, 0], \"velocity\": [0, 0, %g],"
             "  \"angular_velocity\": [0.3, %g, -0.2]}],"
             " \"joints\": [{\"name\": \"law\", \"type\": \"%s\", \"a\": \"world\","
             "  \"b\": \"upper\", \"anchor\": [0, 0, 0], %s"
             "  \"axes\": {\"rx\": {%s}}},"
             " {\"name\": \"ball\", \"type\": \"ball\", \"a\": \"upper\", \"b\": \"lower\","
             "  \"anchor\": [0.5, 0, 0]}], \"start\": {\"close\": true}}",
             -0.25 * c->rate, c->rate, -0.75 * c->rate, c->rate, is_ball(c) ? "ball" : "hinge",
             is_ball(c) ? "" : "\"axis\": [0, 1, 0],", c->axis);
    return rig_text_model(text);
}

static gradient_rig make_rig(const law_case* c, mabd_formulation formulation,
                             mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, 0.01, c->steps);
    rig.sim.formulation = formulation;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 0, 1)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 1, 2)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 0, 3)->scale = 0.005;
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 0, 2)->scale = 0.01;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 2);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 0, 0)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 1, 1)->scale = 0.02;
    if (!is_ball(c)) gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 0, 0)->scale = 0.05;
    if (strstr(c->axis, "\"damping\"")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_DAMPING, 0, MABD_AXIS_RX, 0.05);
    }
    if (strstr(c->axis, "\"stiffness\"") && !is_ball(c)) {
        gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 0, MABD_AXIS_RX, 0.1);
        gradient_rig_axis(&rig, MABD_PARAMETER_REST, 0, MABD_AXIS_RX, 0.1);
    }
    if (strstr(c->axis, "armature")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_ARMATURE, 0,
                          is_ball(c) ? MABD_AXIS_RY : MABD_AXIS_RX, 0.01);
    }
    if (strstr(c->axis, "friction")) {
        gradient_rig_axis(&rig, MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 0.1);
    }
    if (strstr(c->axis, "servo") || strstr(c->axis, "motor")) {
        mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0);
        p->first = 2, p->last = c->steps, p->scale = 0.1;
    }
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, c->steps / 2, c->steps);
    t->point[0] = 0.2, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 0, c->steps, c->steps);
    t->weight = 0.02, t->target[1] = 1;
    t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 1, c->steps, c->steps);
    t->weight = 0.02;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, c->steps, c->steps);
    t->weight = 0.01;
    for (int axis = 0; axis < (is_ball(c) ? 3 : 6); axis += 2) {
        t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 0, c->steps - 1, c->steps);
        t->weight = 1e-4, t->axis = axis, t->target[0] = 3;
    }
    return rig;
}

static void check(const law_case* c, mabd_formulation formulation, mabd_integrator method) {
    mabd_model* model = arm(c);
    gradient_rig rig = make_rig(c, formulation, method);
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_error error = {0};
    mabd_gradient_info info;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    const double worst = gradient_rig_compare(&rig, g, p, 0.001, false);
    const double forward = gradient_rig_forward_error(&rig, model, p);
    printf("%-27s %-15s %d steps not smooth, error %.1e, forward %.1e\n", c->name,
           mabd_integrator_name(method), (int)info.non_smooth, worst, forward);
    cr_expect(worst < 1e-6, "%s", c->name);
    cr_expect(forward < 1e-11, "%s", c->name);
    cr_expect(c->rough == (info.non_smooth > 0), "%s: %d", c->name, (int)info.non_smooth);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

Test(gradient_laws, branches) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                              MABD_INTEGRATOR_TRBDF2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < AMOUNT(3, 2); k++) {
            check(&cases[i], MABD_FORMULATION_QUATERNION, methods[k]);
        }
    }
}

Test(gradient_laws, branches_of_redmax) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                              MABD_INTEGRATOR_EULER};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < AMOUNT(3, 2); k++) {
            check(&cases[i], MABD_FORMULATION_REDMAX, methods[k]);
        }
    }
}

// A slide without loads: x = v t up to the stop, then x = stop. The derivative by v is t, then 0;
// where a step ends on the stop it is one of the two. Implicit Euler arrives in one step, rests in
// the next, and then lies at the stop without a force, which is an edge of the law again.
Test(gradient_laws, a_stop_in_closed_form) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"cart\", \"mass\": 2,"
        " \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0]}], \"joints\": [{\"type\": \"prismatic\","
        " \"a\": \"world\", \"b\": \"cart\", \"axes\": {\"tx\": {\"upper\": 0.055}}}]}");
    mabd_error error = {0};
    static const struct {
        double v;
        int steps, rough;
        double least, most; // derivative of x
    } runs[] = {{1, 5, 0, 0.05, 0.05}, {1, 8, 2, 0, 0}, {1.1, 5, 1, 0, 0.05}};
    for (int k = 0; k < 6; k++) {
        const int i = k % 3;
        gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_EULER, 0.01, runs[i].steps);
        if (k > 2) rig.sim.formulation = MABD_FORMULATION_REDMAX;
        mabd_gradient_info info;
        mabd_real own;
        const mabd_real v = (mabd_real)runs[i].v;
        gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 0, 0);
        gradient_rig_term(&rig, MABD_LOSS_POINT, 0, runs[i].steps, runs[i].steps)->target[0] = -1;
        mabd_gradient* g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, &v, &own, &info, &error), &error, "run");
        const double x = sqrt(info.loss) - 1, by_v = own / (2 * (x + 1));
        cr_expect(fabs(x - fmin(0.055, runs[i].v * 0.01 * runs[i].steps)) < 1e-12);
        cr_expect(by_v > runs[i].least - 1e-10 && by_v < runs[i].most + 1e-10, "%g", by_v);
        cr_expect(runs[i].rough == info.non_smooth, "run %d: %d", i, (int)info.non_smooth);
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}
