// SPDX-License-Identifier: Apache-2.0
// Gradients of driven loops against differences of fourth order: the targets of a rigid servo over
// time on the crank of a four-bar, whose rows then determine all poses and are redundant; with the
// general equations, with the solver for fully constrained parts and with redundant rows left out.

#include "support/gradient_rig.h"

// Crank, coupler and rocker as in test_gradient_start.c, bodies off the plane of the linkage, so
// that forces across it count.
static mabd_model* four_bar(const char* drive) {
    char text[2560];
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             "{\"name\": \"crank\", \"mass\": 0.4, \"inertia\": [0.02, 0.03, 0.02, 0.001, 0.002,"
             " 0.001], \"center\": [0, 0.05, 0], \"position\": [0, 0, 0.15]},"
             "{\"name\": \"coupler\", \"mass\": 1.1, \"inertia\": [0.02, 0.09, 0.08, 0.003, 0.001, "
             "-0.002],"
             " \"center\": [0.1, -0.08, 0.02], \"position\": [0.5, 0, 0.45],"
             " \"rotation\": {\"axis\": [0, 1, 0], \"angle\": -0.2914567944778671}},"
             "{\"name\": \"rocker\", \"mass\": 0.7, \"inertia\": [0.03, 0.04, 0.02],"
             " \"position\": [1, 0, 0.3]}], \"joints\": ["
             "{\"type\": \"hinge\", \"b\": \"crank\", \"axis\": [0, 1, 0], \"axes\": {%s}},"
             "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"coupler\", \"anchor\": [0, 0, 0.3],"
             " \"axis\": [0, 1, 0]},"
             "{\"type\": \"hinge\", \"a\": \"coupler\", \"b\": \"rocker\", \"anchor\": [1, 0, 0.6],"
             " \"axis\": [0, 1, 0]},"
             "{\"type\": \"hinge\", \"b\": \"rocker\", \"anchor\": [1, 0, 0],"
             " \"axis\": [0, 1, 0]}]}",
             drive);
    return rig_text_model(text);
}
#define SERVO                                                                                      \
    "\"rx\": {\"servo\": {\"sine\": {\"amplitude\": 0.2, \"frequency\": 2}}, \"servo_rigid\": "    \
    "true}"

static gradient_rig make_rig(mabd_integrator method, bool driven) {
    gradient_rig rig = gradient_rig_make(method, 0.01, 8);
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.05;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.005;
    gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 1, 1)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 1);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 2, 0)->scale = 0.02;
    for (int64_t step = 2; driven && step <= 8; step++) { // one target a step
        mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0);
        p->first = p->last = step, p->scale = 0.001;
    }
    if (!driven) gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.1);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 4, 8);
    t->point[0] = 0.3, t->target[2] = 0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 2, 8, 8);
    t->weight = 0.01;
    return rig;
}

static void add_forces(gradient_rig* rig, bool driven) {
    for (int axis = 0; axis < 6; axis++) {
        mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, 3, 6, 8);
        t->axis = axis, t->weight = 1e-3 * (1 + axis), t->target[0] = axis - 2;
    }
    if (!driven) return;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_CONTROL_EFFORT, 0, 6, 8);
    t->axis = MABD_AXIS_RX, t->weight = 1e-3, t->target[0] = 2;
}

static void compare(const char* name, gradient_rig* rig, const mabd_model* model) {
    mabd_real p[GRADIENT_MAX];
    mabd_gradient* g = gradient_rig_create(rig, model);
    gradient_rig_values(rig, model, 0, p);
    const double error = gradient_rig_compare(rig, g, p, 0.02, false);
    const double forward = gradient_rig_forward_error(rig, model, p);
    printf("%-22s %-15s error %.1e, forward %.1e\n", name,
           mabd_integrator_name(rig->sim.integrator), error, forward);
    cr_expect(error < 1e-6, "%s", name);
    cr_expect(forward < 1e-10, "%s", name);
    mabd_gradient_destroy(g);
}

static const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                          MABD_INTEGRATOR_TRBDF2};

Test(gradient_loops, a_servo_drives_a_four_bar) {
    mabd_model* model = four_bar(SERVO);
    for (int k = 0; k < 3; k++) {
        gradient_rig rig = make_rig(methods[k], true);
        add_forces(&rig, true);
        rig.sim.quaternion.solver = MABD_SOLVER_GENERAL;
        compare("general", &rig, model);
        rig.sim.quaternion.solver = MABD_SOLVER_FULLY_CONSTRAINED;
        compare("fully constrained", &rig, model);
    }
    mabd_model_destroy(model);
}

Test(gradient_loops, rows_are_left_out) {
    for (int driven = 0; driven < 2; driven++) {
        mabd_model* model = four_bar(driven ? SERVO : "\"rx\": {\"stiffness\": 2}");
        for (int k = 0; k < 3; k++) {
            gradient_rig rig = make_rig(methods[k], driven);
            add_forces(&rig, driven);
            rig.sim.quaternion.redundancy = MABD_REDUNDANCY_ELIMINATE;
            rig.sim.quaternion.solver = MABD_SOLVER_GENERAL;
            compare(driven ? "driven, eliminate" : "passive, eliminate", &rig, model);
        }
        mabd_model_destroy(model);
    }
}
