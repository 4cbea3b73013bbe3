// SPDX-License-Identifier: Apache-2.0
// Gradients by start states, masses and places of joints against differences of fourth order.

#include "support/gradient_rig.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_EULER,  MABD_INTEGRATOR_BDF2,           MABD_INTEGRATOR_SDIRK2,
    MABD_INTEGRATOR_TRBDF2, MABD_INTEGRATOR_PARESCHI_RUSSO,
};

// A double pendulum in 3-D: a hinge and a ball joint, bodies with centers away from their frames.
static mabd_model* pendulum(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"upper\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002],"
        "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.25, 0, 0],"
        "  \"angular_velocity\": [0, 1.5, 0]},"
        " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003],"
        "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.75, 0.1, 0],"
        "  \"angular_velocity\": [2, -1, 3]}],"
        " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"upper\","
        "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]},"
        " {\"type\": \"ball\", \"a\": \"upper\", \"b\": \"lower\", \"anchor\": [0.5, 0, 0]}],"
        " \"start\": {\"close\": true}}");
}

static void add_body_kinds(gradient_rig* rig, int32_t body) {
    static const mabd_parameter_kind kinds[] = {
        MABD_PARAMETER_START_POSITION, MABD_PARAMETER_START_ROTATION, MABD_PARAMETER_START_VELOCITY,
        MABD_PARAMETER_START_ANGULAR, MABD_PARAMETER_CENTER};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (int k = 0; k < 3; k++) {
            gradient_rig_add(rig, kinds[i], body, k)->scale = i == 4 ? 0.01 : 0.1;
        }
    }
    for (int k = 0; k < 6; k++) {
        gradient_rig_add(rig, MABD_PARAMETER_INERTIA, body, k)->scale = 0.002;
    }
    gradient_rig_add(rig, MABD_PARAMETER_MASS, body, 0)->scale = 0.1;
}

static void add_terms(gradient_rig* rig) {
    const int64_t end = rig->def.steps;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, 1, end / 2, end);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, 1, end, end);
    t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    t = gradient_rig_term(rig, MABD_LOSS_ROTATION, 0, end, end);
    t->target[0] = 0.8, t->target[1] = 0.48, t->target[3] = 0.36;
    t = gradient_rig_term(rig, MABD_LOSS_ANGULAR, 1, 3, 3);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_COORDINATE, 0, end, end);
    t->axis = MABD_AXIS_RX, t->target[0] = 0.4;
    t = gradient_rig_term(rig, MABD_LOSS_RATE, 0, end - 1, end);
    t->axis = MABD_AXIS_RX, t->weight = 0.05;
    t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
}

Test(gradient, double_pendulum) {
    mabd_model* model = pendulum();
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        gradient_rig rig = gradient_rig_make(methods[i], 0.01, 12);
        mabd_real p[GRADIENT_MAX];
        add_body_kinds(&rig, 0), add_body_kinds(&rig, 1);
        for (int k = 0; k < 3; k++) {
            gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 1, k)->scale = 0.05;
            gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 0, k)->scale = 0.05;
            gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 0, k)->scale = 0.1;
            gradient_rig_add(&rig, MABD_PARAMETER_AXIS_B, 0, k)->scale = 0.1;
            gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, k);
        }
        add_terms(&rig);
        mabd_gradient* g = gradient_rig_create(&rig, model);
        gradient_rig_values(&rig, model, 0, p);
        const double closed = gradient_rig_compare(&rig, g, p, 0.02, false);
        gradient_rig_values(&rig, model, 0.3, p); // joints are open and closed at the start
        const double open = gradient_rig_compare(&rig, g, p, 0.02, false);
        printf("%-15s error %.1e, %.1e from an open start\n", mabd_integrator_name(methods[i]),
               closed, open);
        cr_expect(closed < 1e-6 && open < 1e-6);
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}
