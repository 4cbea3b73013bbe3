// SPDX-License-Identifier: Apache-2.0
// Gradients of every joint type with every integrator by every kind of parameter that the joint
// has: the adjoint against differences of fourth order and against forward mode.
//
// A body hangs on a ball joint, a second one on the joint; its first free axis has spring, damper,
// armature and motor. The start is closed by the projection.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_EULER,  MABD_INTEGRATOR_BDF2,           MABD_INTEGRATOR_SDIRK2,
    MABD_INTEGRATOR_TRBDF2, MABD_INTEGRATOR_PARESCHI_RUSSO,
};

/// First free axis of each type in MABD_JOINT_LIST; -1 = none.
static int first_axis(mabd_joint type) {
#define X(name, text, translations, rotations) {translations, rotations},
    static const char* const free_axes[][2] = {MABD_JOINT_LIST(X)};
#undef X
    const char *t = free_axes[type][0], *r = free_axes[type][1];
    return *t ? *t - 'x' : *r ? MABD_AXIS_RX + *r - 'x' : -1;
}

static mabd_model* pair(mabd_joint type) {
    static const char* const names[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    const int axis = first_axis(type);
    char axes[256] = "", text[2048];
    if (axis >= 0) {
        snprintf(axes, sizeof axes,
                 ", \"axes\": {\"%s\": {\"stiffness\": 6, \"rest\": 0.1, \"damping\": 0.3,"
                 " \"armature\": 0.05, \"motor\": 0.7}}",
                 names[axis]);
    }
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"near\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.25, 0, 0],"
             "  \"angular_velocity\": [0.4, 1.5, -0.3]},"
             " {\"name\": \"far\", \"mass\": 0.7,"
             "  \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, -0.003],"
             "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.75, 0.1, 0],"
             "  \"angular_velocity\": [1, 0.5, 2], \"velocity\": [0.3, -0.2, -1]}],"
             " \"joints\": [{\"type\": \"ball\", \"a\": \"world\", \"b\": \"near\","
             "  \"anchor\": [0, 0, 0]},"
             " {\"type\": \"%s\", \"a\": \"near\", \"b\": \"far\", \"anchor\": [0.5, 0.05, 0.02],"
             "  \"frame\": [0.9, 0.2, -0.1, 0.3]%s}], \"start\": {\"close\": true}}",
             mabd_joint_name(type), axes);
    return rig_text_model(text);
}

static void add_axis_kinds(gradient_rig* rig, int axis) {
    static const mabd_parameter_kind kinds[] = {MABD_PARAMETER_STIFFNESS, MABD_PARAMETER_REST,
                                                MABD_PARAMETER_DAMPING, MABD_PARAMETER_ARMATURE};
    for (int i = 0; i < 4; i++) {
        gradient_rig_axis(rig, kinds[i], 1, (mabd_axis)axis, i == 3 ? 0.005 : 0.1);
    }
    gradient_rig_axis(rig, MABD_PARAMETER_COORDINATE, 1, (mabd_axis)axis, 0.05);
    gradient_rig_axis(rig, MABD_PARAMETER_RATE, 1, (mabd_axis)axis, 0.1);
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, 0, 0);
    p->first = 2, p->last = 4;
    p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, 0, 0);
    p->first = 5, p->last = 6;
}

static gradient_rig make_rig(mabd_joint type, mabd_integrator method) {
    static const mabd_parameter_kind starts[] = {
        MABD_PARAMETER_START_POSITION, MABD_PARAMETER_START_ROTATION, MABD_PARAMETER_START_VELOCITY,
        MABD_PARAMETER_START_ANGULAR, MABD_PARAMETER_CENTER};
    gradient_rig rig = gradient_rig_make(method, 0.01, 6);
    const int axis = first_axis(type);
    // components differ from kind to kind and from type to type: all of them are met
    for (int i = 0; i < 5; i++) {
        gradient_rig_add(&rig, starts[i], 1, (i + (int)type) % 3)->scale = i == 4 ? 0.01 : 0.05;
    }
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 0, (int)type % 6)->scale = 0.002;
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, (int)type % 3);
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 1, (int)type % 3)->scale = 0.02;
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 1, (1 + (int)type) % 3)->scale = 0.02;
    mabd_parameter* force = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 1, (int)type % 6);
    force->first = 2, force->last = 5;
    if (type != MABD_JOINT_BALL && type != MABD_JOINT_SLOT && type != MABD_JOINT_FREE &&
        type != MABD_JOINT_POINT_ON_PLANE) {
        gradient_rig_add(&rig, MABD_PARAMETER_AXIS_A, 1, (int)type % 3)->scale = 0.05;
        gradient_rig_add(&rig, MABD_PARAMETER_AXIS_B, 1, (2 + (int)type) % 3)->scale = 0.05;
    }
    if (axis >= 0) add_axis_kinds(&rig, axis);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 3, 6);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 1, 6, 6);
    t->weight = 0.02, t->target[0] = 0.5;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 0, 6, 6);
    t->weight = 0.02;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 6, 6);
    t->weight = 0.01;
    for (int k = 0; axis >= 0 && k < 2; k++) {
        t = gradient_rig_term(&rig, k ? MABD_LOSS_RATE : MABD_LOSS_COORDINATE, 1, 4, 6);
        t->axis = axis, t->weight = 0.1, t->target[0] = 0.2;
    }
    return rig;
}

static double worst_of(mabd_joint type, mabd_integrator method, double* forward) {
    mabd_model* model = pair(type);
    gradient_rig rig = make_rig(type, method);
    mabd_real p[GRADIENT_MAX];
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    const double error = gradient_rig_compare(&rig, g, p, 0.02, false);
    const double own = gradient_rig_forward_error(&rig, model, p);
    cr_expect(error < 1e-6, "%s, %s", mabd_joint_name(type), mabd_integrator_name(method));
    cr_expect(own < 1e-11, "%s, %s", mabd_joint_name(type), mabd_integrator_name(method));
    *forward = fmax(*forward, own);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
    return error;
}

Test(gradient_joints, every_type_and_integrator) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        double worst = 0, forward = 0;
        for (int k = 0; k < 5; k++) {
            if (AMOUNT(0, 1) && k != type % 5) continue;
            worst = fmax(worst, worst_of((mabd_joint)type, methods[k], &forward));
        }
        printf("%-12s error %.1e, forward %.1e\n", mabd_joint_name((mabd_joint)type), worst,
               forward);
    }
}
