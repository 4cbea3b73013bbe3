// SPDX-License-Identifier: Apache-2.0
// Gradients of joint forces against differences of fourth order: a tumbling door on two coaxial
// hinges, 5 of whose 10 rows are redundant, on a body that flies free, so that nothing is planar;
// the same with one hinge. Leaving out the difference of G(lambda) and G(lambda_ln)
// (tangent_force.c) must show, and so must leaving out what redundant rows contradict each other by
// (tangent_redundant.c): it is largest with sdirk2, whose velocities are of first order.

#include "support/gradient_rig.h"

static mabd_model* door(int hinges) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0.4, -0.2, -9.81], \"bodies\": ["
        " {\"name\": \"frame\", \"mass\": 2, \"inertia\": [0.3, 0.2, 0.25, 0.01, 0.02, -0.01],"
        "  \"position\": [0, 0, 0], \"angular_velocity\": [1, 2, -1.5]},"
        " {\"name\": \"door\", \"mass\": 1, \"inertia\": [0.1, 0.05, 0.08, 0.01, -0.01, 0.005],"
        "  \"center\": [0.05, 0.02, 0.01], \"position\": [0.4, 0.1, 0],"
        "  \"velocity\": [0.1, -0.7, -0.6], \"angular_velocity\": [1, 2, 3]}],"
        " \"joints\": [{\"name\": \"low\", \"type\": \"hinge\", \"a\": \"frame\","
        "  \"b\": \"door\", \"anchor\": [0.1, 0, -0.3], \"axis\": [0, 0, 1]}%s]}",
        hinges == 1 ? ""
                    : ", {\"name\": \"high\", \"type\": \"hinge\", \"a\": \"frame\","
                      " \"b\": \"door\", \"anchor\": [0.1, 0, 0.3], \"axis\": [0, 0, 1]}");
    return rig_text_model(text);
}

static void check(mabd_integrator method, int hinges) {
    mabd_model* model = door(hinges);
    gradient_rig rig = gradient_rig_make(method, 0.01, 8);
    mabd_real p[GRADIENT_MAX];
    for (int k = 0; k < 3; k++) {
        gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 1, k)->scale = 0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 0, k)->scale = 0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 0, k)->scale = 0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 1, k)->scale = 0.02;
        // in free flight gravity has no effect on forces: differences are noise, which is larger
        // where redundant rows contradict each other
        if (method != MABD_INTEGRATOR_SDIRK2) gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, k);
    }
    if (hinges == 1) {
        for (int k = 0; k < 3; k++) {
            gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 0, k)->scale = 0.02;
            gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 0, k)->scale = 0.05;
            gradient_rig_add(&rig, MABD_PARAMETER_AXIS_B, 0, k)->scale = 0.05;
        }
    }
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.005;
    for (int joint = 0; joint < hinges; joint++) {
        for (int axis = 0; axis < 6; axis++) { // targets and weights without a pattern
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, joint, 2, 8);
            t->axis = axis, t->weight = 0.01 * (1 + axis + 3 * joint),
            t->target[0] = 0.3 * axis - 1;
        }
    }
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    const double error = gradient_rig_compare(&rig, g, p, 0.02, false);
    printf("%-15s %d hinges: error %.1e\n", mabd_integrator_name(method), hinges, error);
    cr_expect(error < 1e-6);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

Test(gradient, regular_forces) {
    check(MABD_INTEGRATOR_EULER, 1);
    check(MABD_INTEGRATOR_BDF2, 1);
    check(MABD_INTEGRATOR_TRBDF2, 1);
}
Test(gradient, redundant_forces) {
    check(MABD_INTEGRATOR_EULER, 2);
    check(MABD_INTEGRATOR_BDF2, 2);
    check(MABD_INTEGRATOR_SDIRK2, 2);
    check(MABD_INTEGRATOR_TRBDF2, 2);
}
