// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation through screws, composites, spline curves and surfaces,
// reached from both sides, by start states, masses, frames and control values of splines: against
// differences of fourth order, and forward mode against the adjoint.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
    MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};

/// A joint under test, and how many numbers its splines have.
typedef struct joint_case {
    const char *name, *joint;
    int values;
} joint_case;

static const joint_case cases[] = {
    {"screw", "\"type\": \"screw\", \"pitch\": 0.2, \"axis\": [0, 0.6, 0.8]", 0},
    {"composite",
     "\"type\": \"composite\", \"axis\": [0, 1, 0], \"joints\": [{\"type\": \"hinge\","
     " \"anchor\": [0.05, -0.1, 0.02], \"axis\": [0, 0.6, 0.8]}, {\"type\": \"screw\", \"pitch\": "
     "0.1, \"anchor\": [0.1, 0, 0.05],"
     " \"axis\": [1, 0, 0]}, {\"type\": \"ball\", \"anchor\": [0.1, 0.05, 0]}]",
     0},
    {"spline-curve",
     "\"type\": \"spline-curve\", \"start\": 1.4, \"frames\": ["
     " {\"position\": [0, 0, 0.1], \"rotation\": [1, 0.1, 0, 0]},"
     " {\"position\": [0.1, 0.1, 0.2], \"rotation\": [1, 0.2, 0.2, 0]},"
     " {\"position\": [0.2, 0, 0.1], \"rotation\": [1, 0, 0.3, 0.1]},"
     " {\"position\": [0.3, 0, 0], \"rotation\": [1, -0.1, 0.2, 0.3]},"
     " {\"position\": [0.4, 0.1, 0], \"rotation\": [1, -0.2, 0.1, 0.2]},"
     " {\"position\": [0.5, 0.1, 0.1], \"rotation\": [1, 0, 0, 0.2]}]",
     36},
    {"spline-surface",
     "\"type\": \"spline-surface\", \"start\": [0.6, 0.4],"
     " \"x\": [[0, 0, 0, 0], [0.2, 0.2, 0.21, 0.2], [0.4, 0.41, 0.4, 0.4], [0.6, 0.6, 0.6, 0.6],"
     "  [0.8, 0.8, 0.8, 0.8]],"
     " \"y\": [[0, 0.2, 0.4, 0.6], [0, 0.21, 0.4, 0.6], [0, 0.2, 0.4, 0.6], [0, 0.2, 0.4, 0.6],"
     "  [0, 0.2, 0.4, 0.6]],"
     " \"z\": [[0, 0.1, 0, 0], [0.1, 0, 0.1, 0], [0, 0.05, 0, 0], [0.1, 0, 0, 0.1], [0, 0, 0, 0]],"
     " \"rx\": [[0, 0.1, 0, 0], [0.1, 0.2, 0.1, 0], [0, 0.1, 0.3, 0], [0.1, 0, 0, 0.1],"
     "  [0, 0, 0, 0]]",
     120},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

// A base on a hinge, the joint, and a bob on a ball joint. side 1: the joint is given from its
// child to its parent.
static mabd_model* tree(const joint_case* c, int side) {
    char text[4000];
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"base\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.25, 0, 0],"
             "  \"angular_velocity\": [0, 0.8, 0]},"
             " {\"name\": \"arm\", \"mass\": 0.7,"
             "  \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, -0.003],"
             "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.75, 0.1, 0], \"drag\": 0.3,"
             "  \"angular_velocity\": [0.5, 1, 0.8], \"velocity\": [0.2, 0, -0.4]},"
             " {\"name\": \"bob\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
             "  \"position\": [1, 0.1, 0.1], \"angular_velocity\": [2, -1, 3]}],"
             " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"base\","
             "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]},"
             " {\"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.5, 0, 0], %s},"
             " {\"type\": \"ball\", \"a\": \"arm\", \"b\": \"bob\", \"anchor\": [0.9, 0.1, 0]}],"
             " \"start\": {\"close\": true}}",
             side ? "arm" : "base", side ? "base" : "arm", c->joint);
    return rig_text_model(text);
}

static gradient_rig make_rig(const joint_case* c, mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, 0.01, 10);
    const int64_t end = rig.def.steps;
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    gradient_rig_three(&rig, MABD_PARAMETER_START_ROTATION, 1, 0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_START_POSITION, 1, 0.02);
    gradient_rig_three(&rig, MABD_PARAMETER_START_VELOCITY, 1, 0.1);
    gradient_rig_three(&rig, MABD_PARAMETER_START_ANGULAR, 2, 0.2);
    gradient_rig_three(&rig, MABD_PARAMETER_CENTER, 1, 0.01);
    gradient_rig_three(&rig, MABD_PARAMETER_GRAVITY, 0, 0.5);
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_A, 1, 0.02);
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_B, 1, 0.02);
    gradient_rig_three(&rig, MABD_PARAMETER_AXIS_A, 1, 0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_AXIS_B, 1, 0.05);
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.002;
    mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 1, 1);
    p->first = 2, p->last = 5;
    for (int k = 0; k < c->values && rig.def.parameter_count < 56; k += c->values == 36 ? 1 : 11) {
        if (c->values == 36 && k < 6) k = 6; // frames 1 .. 4 are those of the segment
        gradient_rig_add(&rig, MABD_PARAMETER_SPLINE, 1, k)->scale = 0.01;
    }
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 2, end / 2, end);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 1, end, end);
    t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 1, 0, 3);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 2, end - 1, end);
    t->axis = -1, t->weight = 1e-4;
    const int32_t axis = strcmp(c->name, "screw") == 0 ? MABD_AXIS_RX : 0; // a coordinate of it
    t = gradient_rig_term(&rig, MABD_LOSS_COORDINATE, 1, end / 2, end);
    t->axis = axis, t->target[0] = (mabd_real)0.3, t->weight = (mabd_real)0.1;
    t = gradient_rig_term(&rig, MABD_LOSS_RATE, 1, end, end);
    t->axis = axis, t->target[0] = 2, t->weight = (mabd_real)0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 1, end - 1, end); // of the joint under test
    t->axis = -1, t->weight = 1e-4;
    return rig;
}

Test(redmax_gradient_joints, against_differences_and_forward_mode) {
    double worst = 0;
    for (int i = 0; i < CASES; i++) {
        for (int side = 0; side < 2; side++) {
            mabd_model* model = tree(&cases[i], side);
            for (int k = 0; k < AMOUNT(2, 1); k++) {
                const mabd_integrator method = methods[(2 * i + 3 * side + k) % 6];
                gradient_rig rig = make_rig(&cases[i], method);
                mabd_real p[GRADIENT_MAX];
                mabd_gradient* g = gradient_rig_create(&rig, model);
                gradient_rig_values(&rig, model, 0.05, p);
                const double error = gradient_rig_compare(&rig, g, p, 0.02, false);
                const double forward = gradient_rig_forward_error(&rig, model, p);
                printf("%-14s %d %-14s error %.1e, forward %.1e\n", cases[i].name, side,
                       mabd_integrator_name(method), error, forward);
                cr_expect(error < 1e-6 && forward < 1e-11);
                worst = fmax(worst, error);
                mabd_gradient_destroy(g);
            }
            mabd_model_destroy(model);
        }
    }
    printf("worst %.1e\n", worst);
}

// Coordinates and rates at the start as parameters: all other bodies follow them, and control
// values, frames and masses move the state that has them.
static gradient_rig start_rig(const joint_case* c, mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, (mabd_real)0.01, 8);
    const int64_t end = rig.def.steps;
    const bool screw = strcmp(c->name, "screw") == 0, curve = c->values == 36;
    const int first = screw ? MABD_AXIS_RX : 0, count = screw || curve ? 1 : 2;
    for (int k = first; k < first + count; k++) {
        gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, (mabd_axis)k, (mabd_real)0.1);
        gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 1, (mabd_axis)k, (mabd_real)0.3);
    }
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, (mabd_real)0.1);
    gradient_rig_three(&rig, MABD_PARAMETER_START_POSITION, 2, (mabd_real)0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_START_ANGULAR, 1, (mabd_real)0.2);
    gradient_rig_three(&rig, MABD_PARAMETER_CENTER, 1, (mabd_real)0.02);
    gradient_rig_three(&rig, MABD_PARAMETER_AXIS_A, 1, (mabd_real)0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_B, 1, (mabd_real)0.02);
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 2, 0)->scale = (mabd_real)0.1;
    for (int k = curve ? 6 : 5; k < c->values && rig.def.parameter_count < 48; k += 7) {
        gradient_rig_add(&rig, MABD_PARAMETER_SPLINE, 1, k)->scale = (mabd_real)0.01;
    }
    gradient_rig_motion_terms(&rig);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_COORDINATE, 1, 0, end);
    t->axis = first, t->target[0] = (mabd_real)0.3, t->weight = (mabd_real)0.1;
    t = gradient_rig_term(&rig, MABD_LOSS_RATE, 1, 0, end);
    t->axis = first, t->target[0] = 2, t->weight = (mabd_real)0.01;
    return rig;
}

Test(redmax_gradient_joints, start_coordinates_and_rates) {
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < AMOUNT(6, 1); k++) {
            mabd_model* model = tree(&cases[i], (i + k) % 2);
            gradient_rig rig = start_rig(&cases[i], methods[k]);
            mabd_real p[GRADIENT_MAX];
            gradient_rig_values(&rig, model, (mabd_real)0.3, p);
            gradient_rig_expect_derivatives(cases[i].name, model, &rig, p);
            mabd_model_destroy(model);
        }
    }
}

// The values of the scene, and those that a run begins with.
Test(redmax_gradient_joints, start_values) {
    static const mabd_real coordinates[CASES] = {0, 0, (mabd_real)1.4, (mabd_real)0.6};
    static const char* const units[CASES][2] = {
        {"rad", "rad/s"}, {"rad", "rad/s"}, {"", "1/s"}, {"", "1/s"}};
    for (int i = 0; i < CASES; i++) {
        mabd_model* model = tree(&cases[i], 0);
        gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_SDIRK2, (mabd_real)0.01, 1);
        const mabd_axis axis = i == 0 ? MABD_AXIS_RX : MABD_AXIS_TX;
        mabd_error error = {0};
        mabd_gradient_info info;
        mabd_real p[2];
        gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, axis, 1);
        gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 1, axis, 1);
        gradient_rig_values(&rig, model, 0, p);
        cr_expect(fabs(p[0] - coordinates[i]) < 1e-12, "%s: %.15g", cases[i].name, (double)p[0]);
        for (int k = 0; k < 2; k++) {
            cr_expect_str_eq(mabd_parameter_unit(model, &rig.parameters[k]), units[i][k]);
        }
        p[0] += (mabd_real)0.1, p[1] += (mabd_real)0.7;
        for (int k = 0; k < 2; k++) {
            const mabd_loss_kind kind = k ? MABD_LOSS_RATE : MABD_LOSS_COORDINATE;
            mabd_loss_term* t = gradient_rig_term(&rig, kind, 1, 0, 0);
            t->axis = (int32_t)axis, t->target[0] = p[k];
        }
        mabd_gradient* g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, p, NULL, &info, &error), &error, "run");
        cr_expect(fabs(info.loss) < 1e-24, "%s: %.3g", cases[i].name, (double)info.loss);
        mabd_gradient_destroy(g);
        mabd_model_destroy(model);
    }
}

// Every free axis of every joint but those of three free rotations, where some of them share a
// link: a run begins with its coordinate and rate.
Test(redmax_gradient_joints, start_values_of_all_joints) {
    for (int type = 0; type <= MABD_JOINT_POINT_ON_PLANE; type++) {
        char joint[160];
        snprintf(joint, sizeof joint, "\"type\": \"%s\", \"frame\": [0.9, 0.2, -0.1, 0.3]",
                 mabd_joint_name((mabd_joint)type));
        const joint_case own = {mabd_joint_name((mabd_joint)type), joint, 0};
        mabd_model* model = tree(&own, type % 2);
        for (int32_t axis = 0; axis < MABD_AXIS_COUNT; axis++) {
            gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_SDIRK2, (mabd_real)0.01, 4);
            mabd_error error = {0};
            mabd_gradient_info info;
            mabd_gradient* g;
            mabd_real p[GRADIENT_MAX];
            gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, (mabd_axis)axis, (mabd_real)0.1);
            gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 1, (mabd_axis)axis, (mabd_real)0.3);
            gradient_rig_term(&rig, MABD_LOSS_COORDINATE, 1, 0, 0)->axis = axis;
            gradient_rig_term(&rig, MABD_LOSS_RATE, 1, 0, 0)->axis = axis;
            rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
            if (mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) != MABD_OK) continue;
            mabd_gradient_destroy(g);
            gradient_rig_values(&rig, model, 1, p);
            for (int k = 0; k < 2; k++) rig.terms[k].target[0] = p[k];
            g = gradient_rig_create(&rig, model);
            rig_check(mabd_gradient_run(g, p, NULL, &info, &error), &error, "run");
            cr_expect(fabs(info.loss) < 1e-24, "%s %d: %.3g", own.name, (int)axis,
                      (double)info.loss);
            mabd_gradient_destroy(g);
            if (type != MABD_JOINT_CARTESIAN && type != MABD_JOINT_FREE) continue;
            gradient_rig_three(&rig, MABD_PARAMETER_CENTER, 1, (mabd_real)0.02);
            gradient_rig_three(&rig, MABD_PARAMETER_AXIS_A, 1, (mabd_real)0.05);
            gradient_rig_motion_terms(&rig);
            gradient_rig_values(&rig, model, (mabd_real)0.5, p);
            gradient_rig_expect_derivatives(own.name, model, &rig, p);
        }
        mabd_model_destroy(model);
    }
}

// Numbers that are none, and components of three free rotations.
Test(redmax_gradient_joints, start_values_that_are_none) {
    for (int i = 0; i < CASES; i++) {
        mabd_model* model = tree(&cases[i], 0);
        for (int32_t axis = -1; axis <= MABD_AXIS_COUNT; axis++) {
            const bool screw = i == 0, two = i == 1 || i == 3;
            const bool there = screw ? axis == MABD_AXIS_RX : axis >= 0 && axis <= two;
            gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 1);
            mabd_gradient* g;
            mabd_error error = {0};
            gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, (mabd_axis)axis, 1);
            gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 1, 1);
            rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
            const mabd_status status = mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error);
            cr_expect(status == (there ? MABD_OK : MABD_ERR_INPUT), "%s %d: %s", cases[i].name,
                      (int)axis, error.text);
            if (status == MABD_OK) mabd_gradient_destroy(g);
        }
        mabd_model_destroy(model);
    }
}

// A composite of hinge, screw and ball has two coordinates that are angles.
Test(redmax_gradient_joints, coordinates_by_number) {
    mabd_model* model = tree(&cases[1], 0);
    for (int32_t axis = 0; axis < 6; axis++) {
        gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 4);
        mabd_gradient* g;
        mabd_error error = {0};
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0);
        gradient_rig_term(&rig, MABD_LOSS_RATE, 1, 4, 4)->axis = axis;
        rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
        const mabd_status status = mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error);
        cr_expect(status == (axis < 2 ? MABD_OK : MABD_ERR_INPUT), "%d: %s", (int)axis, error.text);
        if (status == MABD_OK) mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}

Test(redmax_gradient_joints, checkpoints_give_the_same_bits) {
    mabd_error error = {0};
    mabd_real p[GRADIENT_MAX], plain[GRADIENT_MAX], again[GRADIENT_MAX];
    mabd_gradient_info info;
    mabd_model* model = tree(&cases[2], 1);
    gradient_rig rig = make_rig(&cases[2], MABD_INTEGRATOR_SDIRK2);
    rig.def.steps = 25;
    gradient_rig_values(&rig, model, 0, p);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, plain, &info, &error), &error, "run");
    mabd_gradient_destroy(g);
    rig.def.tape_bytes = 1;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_MEMORY);
    sscanf(error.text, "tape_bytes is 1; a tape with checkpoints needs %zu", &rig.def.tape_bytes);
    g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, again, &info, &error), &error, "run");
    cr_expect(info.recomputed > 0);
    cr_expect(memcmp(plain, again, (size_t)rig.def.parameter_count * sizeof *p) == 0);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

// A bead on a curve: bytes, and the units, values and bad numbers of control values.
Test(redmax_gradient_joints, control_values) {
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"bead\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"
        " \"joints\": [{\"type\": \"spline-curve\", \"b\": \"bead\", \"frames\": ["
        " {\"position\": [-1, 0, 0]}, {\"position\": [0, 0, 0]}, {\"position\": [1, 0, 0]},"
        " {\"position\": [2, 0, 0]}]}]}");
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, 0.01, 10);
    mabd_error error = {0};
    mabd_gradient* g;
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_SPLINE, 0, 6 * 3);
    cr_expect(mabd_parameter_value(model, 0.01, p) == 2);
    cr_expect_str_eq(mabd_parameter_unit(model, p), "m");
    p = gradient_rig_add(&rig, MABD_PARAMETER_SPLINE, 0, 6 * 3 + 4);
    cr_expect(mabd_parameter_value(model, 0.01, p) == 0);
    cr_expect_str_eq(mabd_parameter_unit(model, p), "rad");
    gradient_rig_term(&rig, MABD_LOSS_POINT, 0, 10, 10);
    gradient_rig_expect_bytes(&rig, model);
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    p->component = 24;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_INPUT);
    cr_expect(strstr(error.text, "no control value 24") != NULL, "%s", error.text);
    p->kind = MABD_PARAMETER_STIFFNESS;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_INPUT);
    mabd_model_destroy(model);
}
