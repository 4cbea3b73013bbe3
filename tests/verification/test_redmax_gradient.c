// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation: every parameter kind on all joint types, reached from both
// sides, against differences of fourth order; forward mode against the adjoint; with checkpoints
// the same bits; steps in parts; the gradients of the quaternion formulation as h falls; copies of
// a batch against one copy alone; bytes as the allocator counts them.

#include "support/counting_allocator.h"
#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2,  MABD_INTEGRATOR_SDIRK2,
                                          MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_SEMI_IMPLICIT,
                                          MABD_INTEGRATOR_RK45,  MABD_INTEGRATOR_LINEAR_IMPLICIT};
#define METHODS (sizeof methods / sizeof methods[0])
#define STEPS   8

// True if an integrator has prescribed motion.
static bool drives(mabd_integrator method) {
    return method != MABD_INTEGRATOR_RK45;
}

static const char* const axis_names[] = {"tx", "ty", "tz", "rx", "ry", "rz"};

// Free axes of a joint type, as bits.
static const int free_axes[MABD_JOINT_COUNT] = {
    [MABD_JOINT_FIXED] = 0,       [MABD_JOINT_PRISMATIC] = 1,      [MABD_JOINT_HINGE] = 8,
    [MABD_JOINT_RECTANGULAR] = 3, [MABD_JOINT_CYLINDRICAL] = 9,    [MABD_JOINT_PIN_IN_SLOT] = 17,
    [MABD_JOINT_UNIVERSAL] = 24,  [MABD_JOINT_CARTESIAN] = 7,      [MABD_JOINT_PLANAR] = 35,
    [MABD_JOINT_BALL] = 56,       [MABD_JOINT_SLOT] = 57,          [MABD_JOINT_FREE] = 63,
    [MABD_JOINT_AXIS] = 15,       [MABD_JOINT_POINT_ON_PLANE] = 59};

// Springs, dampers and armature on the free axes of a joint; a motor on the last one, a servo on
// the first one.
// smooth: with friction that has derivatives, which quaternion has not.
static void write_axes(int type, bool smooth, char* out, size_t size) {
    size_t at = 0;
    int count = 0, last = -1;
    for (int k = 0; k < 6; k++) {
        if (free_axes[type] >> k & 1) last = k;
    }
    out[0] = 0;
    for (int k = 0; k < 6; k++) {
        if (!(free_axes[type] >> k & 1)) continue;
        at += (size_t)snprintf(out + at, size - at,
                               "%s\"%s\": {\"stiffness\": %g, \"rest\": %g, \"damping\": %g, "
                               "\"armature\": %g%s%s%s}",
                               count ? ", " : "", axis_names[k], 3 + 0.5 * k, 0.05 + 0.02 * k,
                               0.2 + 0.05 * k, 0.02 + 0.01 * k,
                               smooth ? ", \"friction\": 0.2, \"friction_speed\": 0.5" : "",
                               count == 0 ? ", \"servo\": 0.1, "
                                            "\"servo_stiffness\": 2, \"servo_damping\": 0.1"
                                          : "",
                               k == last ? ", \"motor\": 0.4" : "");
        count++;
    }
}

// Three bodies: a hinge at the world, the joint, a ball joint. side 1: the joint is given from its
// child to its parent, and so is the ball joint.
static mabd_model* tree_of(int type, int side, bool smooth) {
    char axes[2048], text[6000];
    write_axes(type, smooth, axes, sizeof axes);
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"base\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002],"
        "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.25, 0, 0],"
        "  \"angular_velocity\": [0, 1.5, 0]},"
        " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003],"
        "  \"center\": [-0.01, 0.02, 0.03], \"position\": [0.75, 0.1, 0], \"drag\": 0.3,"
        "  \"angular_velocity\": [0.5, 1, 0.8], \"velocity\": [0.2, 0, -0.4]},"
        " {\"name\": \"bob\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [1, 0.1, 0.1], \"angular_velocity\": [2, -1, 3]}],"
        " \"forces\": [{\"body\": \"arm\", \"point\": [0.1, 0, 0.05], \"force\": [0.4, 0.2, 0.3]},"
        "  {\"body\": \"bob\", \"force\": [0.1, 0.3, 0], \"torque\": [0.02, 0, 0.01],"
        "   \"frame\": \"body\"}],"
        " \"wind\": {\"direction\": [1, 0, 0], \"strength\": 2},"
        " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"base\","
        "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"damping\": 0.1}}},"
        " {\"type\": \"%s\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.5, 0, 0]%s%s%s%s},"
        " {\"type\": \"ball\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.9, 0.1, 0],"
        "  \"axes\": {\"ry\": {\"stiffness\": 2, \"rest\": 0.1, \"damping\": 0.05,"
        "   \"armature\": 0.01}, \"rx\": {\"motor\": 0.1}}}],"
        " \"start\": {\"close\": true}}",
        mabd_joint_name((mabd_joint)type), side ? "arm" : "base", side ? "base" : "arm",
        type == MABD_JOINT_FIXED ? "" : ", \"axis\": [0.6, 0, 0.8], \"axis2\": [0, 1, 0]",
        axes[0] ? ", \"axes\": {" : "", axes, axes[0] ? "}" : "", side ? "bob" : "arm",
        side ? "arm" : "bob");
    return rig_text_model(text);
}

static mabd_model* tree(int type, int side) {
    return tree_of(type, side, false);
}

static void add_terms(gradient_rig* rig) {
    const int64_t end = rig->def.steps;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, 2, end / 2, end);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, 1, end, end);
    t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    t = gradient_rig_term(rig, MABD_LOSS_ROTATION, 2, end, end);
    t->target[0] = 0.8, t->target[1] = 0.48, t->target[3] = 0.36;
    t = gradient_rig_term(rig, MABD_LOSS_ANGULAR, 1, 0, 3);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, 1, end - 1, end);
    t->axis = -1, t->weight = 1e-4;
    t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, 1, end, end); // a torque
    t->axis = 4, t->weight = 1e-3, t->target[0] = 2;
}

// Kinds on bodies and joint frames.
static void add_shapes(gradient_rig* rig) {
    gradient_rig_three(rig, MABD_PARAMETER_START_ROTATION, 1, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_START_POSITION, 2, 0.05);
    gradient_rig_three(rig, MABD_PARAMETER_START_VELOCITY, 1, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_START_ANGULAR, 2, 0.2);
    gradient_rig_three(rig, MABD_PARAMETER_CENTER, 1, 0.01);
    gradient_rig_three(rig, MABD_PARAMETER_GRAVITY, 0, 0.5);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_A, 1, 0.05);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_B, 1, 0.05);
    gradient_rig_three(rig, MABD_PARAMETER_AXIS_A, 1, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_AXIS_B, 1, 0.1);
    gradient_rig_three(rig, MABD_PARAMETER_ANCHOR_B, 2, 0.05);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    for (int k = 1; k < 6; k += 2) {
        gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 1, k)->scale = 0.002;
    }
}

// Kinds on axes, and inputs.
static void add_axes_of(gradient_rig* rig, int type, bool smooth) {
    static const mabd_parameter_kind kinds[] = {MABD_PARAMETER_STIFFNESS, MABD_PARAMETER_REST,
                                                MABD_PARAMETER_DAMPING, MABD_PARAMETER_ARMATURE,
                                                MABD_PARAMETER_FRICTION};
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 4 + smooth && (free_axes[type] >> k & 1); i++) {
            gradient_rig_axis(rig, kinds[i], 1, (mabd_axis)k, i == 3 ? 0.005 : 0.1);
        }
    }
    for (int i = 0; i < 4; i++) gradient_rig_axis(rig, kinds[i], 2, MABD_AXIS_RY, 0.01);
    gradient_rig_axis(rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 0.2);
    gradient_rig_axis(rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 0.2);
    for (int k = 0; k < (type == MABD_JOINT_FIXED ? 1 : 2); k++) {
        mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, k, 0);
        p->first = 3, p->last = 6;
    }
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 1, 1);
    p->first = 2, p->last = 5;
    p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 2, 5);
    p->first = 4, p->last = rig->def.steps - 1, p->scale = 0.1;
}

static void add_axes(gradient_rig* rig, int type) {
    add_axes_of(rig, type, false);
}

// Compare at the values of the scene, moved by about `offset` scales.
static double compare(const mabd_model* model, gradient_rig* rig, mabd_real offset) {
    mabd_real p[GRADIENT_MAX];
    mabd_gradient* g = gradient_rig_create(rig, model);
    gradient_rig_values(rig, model, offset, p);
    for (int32_t i = 0; i < rig->def.parameter_count; i++) {
        p[i] += offset * rig->parameters[i].scale * sin(i) / 2;
    }
    const double error = gradient_rig_compare(rig, g, p, 0.02, false);
    mabd_gradient_destroy(g);
    return error;
}

// ---- forward mode ------------------------------------------------------------------------------

static double forward_against_adjoint(const mabd_model* model, const gradient_rig* rig) {
    mabd_real p[GRADIENT_MAX];
    gradient_rig_values(rig, model, 0.1, p);
    return gradient_rig_forward_error(rig, model, p);
}

// ---- all joints --------------------------------------------------------------------------------

// Every kind of parameter on every type of joint, reached from one side or the other: the adjoint
// equals differences and forward mode.
static void check_joints(size_t method) {
    const char* name = mabd_integrator_name(methods[method]);
    double worst = 0, apart = 0;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const int side = (type + (int)method) % 2;
        if (AMOUNT(0, 1) && (size_t)type % METHODS != method) continue; // under sanitizers
        mabd_model* model = tree_of(type, side, true);
        const bool rk45 = methods[method] == MABD_INTEGRATOR_RK45; // takes shorter steps anyway
        gradient_rig shapes = gradient_rig_redmax(methods[method], rk45 ? 0.003 : 0.01, STEPS);
        gradient_rig axes = shapes;
        add_shapes(&shapes), add_terms(&shapes);
        add_axes_of(&axes, type, true), add_terms(&axes);
        const mabd_real offset = type % 3 ? 0.1 : 0; // joints are open at the start
        const double a = compare(model, &shapes, offset), b = compare(model, &axes, offset);
        const double c = forward_against_adjoint(model, &shapes);
        const double d = forward_against_adjoint(model, &axes);
        printf("%-14s %-14s %d shapes %.1e, axes %.1e, forward %.1e\n", name,
               mabd_joint_name((mabd_joint)type), side, a, b, fmax(c, d));
        cr_expect(a < 1e-6 && b < 1e-6 && c < 1e-12 && d < 1e-12);
        worst = fmax(worst, fmax(a, b)), apart = fmax(apart, fmax(c, d));
        mabd_model_destroy(model);
    }
    printf("%s: worst %.1e, forward %.1e\n", name, worst, apart);
}

Test(redmax_gradient, joints_by_bdf2) {
    check_joints(0);
}
Test(redmax_gradient, joints_by_sdirk2) {
    check_joints(1);
}
Test(redmax_gradient, joints_by_euler) {
    check_joints(2);
}
Test(redmax_gradient, joints_by_semi_implicit) {
    check_joints(3);
}
Test(redmax_gradient, joints_by_rk45) {
    check_joints(4);
}
Test(redmax_gradient, joints_by_linear_implicit) {
    check_joints(5);
}

// ---- other trees -------------------------------------------------------------------------------

// A tree without a joint to the world: its root hangs by its centre; force at a point of it.
static mabd_model* flying(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"trunk\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002], \"center\": [0.02, 0.03, -0.01], \"angular_velocity\": [0.3, 1.5, -0.4]},"
        " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003], \"center\": [-0.01, 0.02, 0.03], \"position\": [0.5, 0.1, 0],"
        " \"angular_velocity\": [0.3, 2.5, -0.4]},"
        " {\"name\": \"rod\", \"mass\": 0.4, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [0, 0.5, 0]}],"
        " \"forces\": [{\"body\": \"trunk\", \"point\": [0.1, 0.2, 0.05], \"force\": [1, 2, 5]},"
        "  {\"body\": \"trunk\", \"point\": [0, 0.2, 0.05], \"force\": [1, 2, 0],"
        "   \"frame\": \"body\"}],"
        " \"joints\": ["
        " {\"type\": \"hinge\", \"a\": \"trunk\", \"b\": \"arm\", \"anchor\": [0.25, 0, 0],"
        "  \"axis\": [0, 1, 0]},"
        " {\"type\": \"ball\", \"a\": \"rod\", \"b\": \"trunk\", \"anchor\": [0, 0.3, 0]}],"
        " \"start\": {\"close\": true}}");
}

// A crank that a rigid servo turns, on a sled that a script moves, and a link behind it.
static mabd_model* driven(void) {
    return rig_text_model(
        "{\"bodies\": [{\"name\": \"sled\", \"mass\": 1, \"inertia\": [1, 1, 1],"
        "  \"script\": {\"direction\": [1, 0, 0], \"translation\": {\"sine\":"
        "   {\"amplitude\": 0.1, \"frequency\": 2}}}},"
        " {\"name\": \"crank\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
        "  \"position\": [0.2, 0, 0]},"
        " {\"name\": \"link\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [0.6, 0, 0]}],"
        " \"joints\": [{\"type\": \"hinge\", \"a\": \"sled\", \"b\": \"crank\","
        "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"servo\":"
        "   {\"sine\": {\"amplitude\": 0.5, \"frequency\": 1}}, \"servo_rigid\": true}}},"
        " {\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"link\", \"anchor\": [0.4, 0, 0],"
        "  \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"damping\": 0.02, \"servo\": 0.1,"
        "   \"servo_stiffness\": 3}}}],"
        " \"start\": {\"close\": true}}");
}

static gradient_rig flying_rig(mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, 0.01, 10);
    for (int32_t body = 0; body < 3; body++) {
        gradient_rig_three(&rig, MABD_PARAMETER_CENTER, body, 0.02);
        gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, body, 4)->scale = 0.002;
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, body, 0)->scale = 0.1;
    }
    gradient_rig_three(&rig, MABD_PARAMETER_START_ROTATION, -1, 0.1);
    gradient_rig_three(&rig, MABD_PARAMETER_START_ANGULAR, -1, 0.2);
    gradient_rig_three(&rig, MABD_PARAMETER_START_POSITION, 0, 0.1);
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_A, 1, 0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_B, 1, 0.05);
    add_terms(&rig);
    return rig;
}

static gradient_rig driven_rig(mabd_integrator method) {
    gradient_rig rig = gradient_rig_redmax(method, 0.01, 10);
    rig.sim.redmax.energy_guard = 1e-2; // some steps are taken in parts
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, k, 0);
            p->first = 2 + 2 * i, p->last = 3 + 2 * i, p->scale = 0.05;
        }
    }
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 2, 0)->scale = 0.1;
    gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_A, 1, 0.05);
    gradient_rig_three(&rig, MABD_PARAMETER_START_ANGULAR, 2, 0.3);
    add_terms(&rig);
    return rig;
}

Test(redmax_gradient, other_trees_against_differences) {
    mabd_model *free = flying(), *servo = driven();
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        gradient_rig a = flying_rig(methods[i]), b = driven_rig(methods[i]);
        const double flies = compare(free, &a, 0.1);
        const double turns = drives(methods[i]) ? compare(servo, &b, 0.1) : 0;
        printf("%-14s flying %.1e, driven %.1e\n", mabd_integrator_name(methods[i]), flies, turns);
        cr_expect(flies < 1e-6 && turns < 1e-6);
    }
    mabd_model_destroy(free), mabd_model_destroy(servo);
}

// With three iterations and a small tolerance steps of this length are taken in parts.
static double divided(mabd_integrator method, int32_t* rough) {
    mabd_model* model = tree(MABD_JOINT_SLOT, 1);
    gradient_rig rig = gradient_rig_redmax(method, 0.04, 6);
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_gradient_info info;
    mabd_error error = {0};
    rig.sim.max_iterations = 3, rig.sim.redmax.newton_tolerance = 1e-11;
    rig.sim.max_halvings = 4;
    add_axes(&rig, MABD_JOINT_SLOT), add_terms(&rig);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0.1, p);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    *rough = info.non_smooth;
    const double worst = gradient_rig_compare(&rig, g, p, 0.001, false);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
    return worst;
}

Test(redmax_gradient, steps_in_parts) {
    for (size_t i = 0; i < AMOUNT(3, 1); i++) {
        int32_t rough;
        const double error = divided(methods[i], &rough);
        printf("%-14s %d of 6 steps in parts: error %.1e\n", mabd_integrator_name(methods[i]),
               rough, error);
        cr_expect(rough >= 2 && error < 1e-6);
    }
}

// More parts than starts of them are kept: some are taken again from earlier ones.
Test(redmax_gradient, rk45_in_many_parts) {
    mabd_model* model = flying();
    gradient_rig rig = flying_rig(MABD_INTEGRATOR_RK45);
    rig.sim.h = 0.5, rig.def.steps = 2, rig.def.term_count = 0;
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 2, 2, 2);
    t->point[0] = 0.2, t->target[2] = -0.3;
    mabd_sim* sim = rig_sim(model, &rig.sim);
    const int32_t parts = rig_step(sim).substeps;
    mabd_sim_destroy(sim);
    const double error = compare(model, &rig, 0.1), forward = forward_against_adjoint(model, &rig);
    printf("%d parts: error %.1e, forward %.1e\n", (int)parts, error, forward);
    cr_expect(parts > 70 && error < 1e-6 && forward < 1e-12);
    mabd_model_destroy(model);
}

// ---- trees of balls ----------------------------------------------------------------------------

// Two trees without anything but gravity, dampers and armature, so that sweeps both ways are the
// lean ones: bodies on balls and three slides behind a floating one, joints given from either side.
static mabd_model* lean_tree(int side) {
    char text[2400];
    const char* ends[2] = {side ? "far" : "near", side ? "near" : "far"};
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"root\", \"mass\": 1.1, \"inertia\": [0.03, 0.05, 0.04],"
             "  \"angular_velocity\": [1, -2, 0.5], \"velocity\": [0.2, 0.1, 0]},"
             " {\"name\": \"near\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"center\": [0.02, 0.03, -0.01], \"position\": [0.5, 0, 0],"
             "  \"angular_velocity\": [2, 3, -4]},"
             " {\"name\": \"far\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
             "  \"center\": [-0.01, 0.02, 0.03], \"position\": [1, 0.1, 0],"
             "  \"angular_velocity\": [-3, 5, 2]},"
             " {\"name\": \"slider\", \"mass\": 0.4, \"inertia\": [0.02, 0.03, 0.025],"
             "  \"position\": [0, 0.5, 0], \"angular_velocity\": [1, -2, 0.5]}],"
             " \"joints\": ["
             " {\"type\": \"ball\", \"a\": \"root\", \"b\": \"near\", \"anchor\": [0.2, 0, 0],"
             "  \"axes\": {\"rx\": {\"damping\": 0.02, \"armature\": 0.01},"
             "   \"ry\": {\"damping\": 0.02, \"armature\": 0.01},"
             "   \"rz\": {\"damping\": 0.02, \"armature\": 0.01}}},"
             " {\"type\": \"ball\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.7, 0.1, 0]},"
             " {\"type\": \"cartesian\", \"a\": \"root\", \"b\": \"slider\","
             "  \"anchor\": [0, 0.3, 0], \"frame\": [0.9, 0.2, -0.1, 0.3],"
             "  \"axes\": {\"ty\": {\"stiffness\": 30, \"damping\": 0.4}}}],"
             " \"start\": {\"close\": true}}",
             ends[0], ends[1]);
    return rig_text_model(text);
}

Test(redmax_gradient, trees_of_balls) {
    static const mabd_integrator own[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                          MABD_INTEGRATOR_EULER};
    for (int i = 0; i < 6; i++) {
        mabd_model* model = lean_tree(i % 2);
        gradient_rig rig = gradient_rig_redmax(own[i / 2], (mabd_real)0.01, 12);
        mabd_real p[GRADIENT_MAX];
        for (int body = 0; body < 4; body++) {
            gradient_rig_three(&rig, MABD_PARAMETER_START_ROTATION, body, (mabd_real)0.05);
            gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, body, body % 3);
            gradient_rig_add(&rig, MABD_PARAMETER_CENTER, body, body % 3)->scale = (mabd_real)0.01;
        }
        for (int joint = 0; joint < 3; joint++) {
            gradient_rig_three(&rig, MABD_PARAMETER_ANCHOR_B, joint, (mabd_real)0.02);
            if (joint == 1) continue; // it has no axes
            gradient_rig_three(&rig, MABD_PARAMETER_AXIS_A, joint, (mabd_real)0.05);
        }
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, 2, 0)->scale = (mabd_real)0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 1);
        gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 2, MABD_AXIS_TY, 1);
        gradient_rig_motion_terms(&rig);
        gradient_rig_values(&rig, model, (mabd_real)0.1, p);
        gradient_rig_expect_derivatives("trees of balls", model, &rig, p);
        mabd_model_destroy(model);
    }
}

// ---- tapes, copies -----------------------------------------------------------------------------

Test(redmax_gradient, adjoint_equals_forward) {
    mabd_model *free = flying(), *servo = driven();
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        gradient_rig a = flying_rig(methods[i]), b = driven_rig(methods[i]);
        b.sim.redmax.energy_guard = 0; // parts of h/64 would amplify round-off by 64^2
        const double flies = forward_against_adjoint(free, &a);
        const double turns = drives(methods[i]) ? forward_against_adjoint(servo, &b) : 0;
        const bool line = methods[i] == MABD_INTEGRATOR_LINEAR_IMPLICIT; // has differences in it
        printf("%-14s flying %.1e, driven %.1e\n", mabd_integrator_name(methods[i]), flies, turns);
        cr_expect(fmax(flies, turns) < (line ? 1e-11 : 1e-12));
    }
    mabd_model_destroy(free), mabd_model_destroy(servo);
    mabd_model* model = tree(MABD_JOINT_SLOT, 1); // steps in parts
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, 0.04, 6);
    rig.sim.max_iterations = 3, rig.sim.max_halvings = 4;
    add_axes(&rig, MABD_JOINT_SLOT);
    cr_expect(forward_against_adjoint(model, &rig) < 1e-12);
    mabd_model_destroy(model);
}

Test(redmax_gradient, checkpoints_give_the_same_bits) {
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        mabd_model* model = tree(MABD_JOINT_SLOT, 1);
        gradient_rig rig = gradient_rig_redmax(methods[i], 0.01, 60);
        add_axes(&rig, MABD_JOINT_SLOT), add_terms(&rig);
        gradient_rig_expect_same_bits(&rig, model, 0.1);
        mabd_model_destroy(model);
    }
}

Test(redmax_gradient, bytes) {
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"arm\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": ["
        "{\"type\": \"slot\", \"b\": \"arm\", \"axes\": {\"rx\": {\"stiffness\": 1}}}]}");
    gradient_rig rig = gradient_rig_redmax(MABD_INTEGRATOR_BDF2, 0.01, 10);
    gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 0, MABD_AXIS_RX, 1);
    mabd_parameter* f = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 0, 1);
    f->first = 2, f->last = 5;
    gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 0, 10, 10)->axis = -1;
    gradient_rig_expect_bytes(&rig, model);
    mabd_model_destroy(model);
}

// Each allocation fails in turn, in a gradient and in the linearisation of a step: nothing leaks.
Test(redmax_gradient, memory_that_is_not_there) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = driven();
    mabd_error error = {0};
    gradient_rig rig = driven_rig(MABD_INTEGRATOR_SDIRK2);
    rig.sim.allocator = &allocator;
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    mabd_status status = MABD_ERR_MEMORY;
    int64_t tried = 0;
    for (; status == MABD_ERR_MEMORY && tried < 200; tried++) {
        mabd_gradient* g;
        counter.calls = 0, counter.fail_at = tried;
        status = mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error);
        if (status == MABD_OK) mabd_gradient_destroy(g);
        cr_assert(counter.live_blocks == 0, "after %lld", (long long)tried);
    }
    cr_expect(status == MABD_OK && tried > 5);
    counter.fail_at = -1;
    mabd_sim* sim = rig_sim(model, &rig.sim);
    const int64_t blocks = counter.live_blocks;
    mabd_real A[16];
    status = MABD_ERR_MEMORY;
    for (tried = 0; status == MABD_ERR_MEMORY && tried < 200; tried++) {
        counter.calls = 0, counter.fail_at = tried;
        status = mabd_gradient_step(sim, A, NULL, &error);
        cr_assert(counter.live_blocks == blocks, "after %lld", (long long)tried);
    }
    cr_expect(status == MABD_OK && tried > 2, "%s", error.text);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

static void add_copy(gradient_rig* rig, int32_t copy) {
    gradient_rig_add(rig, MABD_PARAMETER_MASS, copy, 0);
    gradient_rig_axis(rig, MABD_PARAMETER_DAMPING, copy, MABD_AXIS_RY, 1);
    mabd_parameter* c = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, copy, 0);
    c->first = 2, c->last = 6;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, copy, 12, 12);
    t->target[2] = 1, t->point[1] = 0.3;
}

// Two copies of a tree with different masses: the gradient by the parameters of one copy has the
// bits of that copy alone.
Test(redmax_gradient, copies_of_a_batch) {
#define ARM(mass)                                                                                  \
    "{\"bodies\": [{\"name\": \"arm\", \"mass\": " mass ", \"inertia\": [1, 1, 1],"                \
    " \"position\": [0.5, 0, 0]}], \"joints\": [{\"type\": \"ball\", \"b\": \"arm\","              \
    " \"anchor\": [0, 0, 0], \"axes\": {\"rx\": {\"motor\": 0.1}, \"ry\": {\"damping\": 1}}}]}"
    const char* const texts[2] = {ARM("1"), ARM("2")};
    mabd_real both[GRADIENT_MAX];
    const gradient_rig empty = gradient_rig_redmax(MABD_INTEGRATOR_SDIRK2, 0.01, 12);
    gradient_rig_expect_copies(&empty, texts, add_copy, both);
    cr_expect(fabs(both[0]) > 1e-6 && fabs(both[2]) > 1e-6);
}

// The same run in redmax and quaternion: both gradients tend to that of the motion itself, so their
// difference falls by four when h is halved.
Test(redmax_gradient, tends_to_that_of_quaternion) {
    mabd_model* model = tree(MABD_JOINT_UNIVERSAL, 0);
    mabd_real p[GRADIENT_MAX], own[2][GRADIENT_MAX];
    double difference[2] = {0}, most = 0;
    for (int i = 0; i < 2; i++) {
        mabd_error error = {0};
        for (int k = 0; k < 2; k++) {
            gradient_rig rig = gradient_rig_redmax(
                k ? MABD_INTEGRATOR_TRBDF2 : MABD_INTEGRATOR_SDIRK2, 0.01 / (1 << i), 20 << i);
            if (k) rig.sim.formulation = MABD_FORMULATION_QUATERNION;
            add_shapes(&rig);
            mabd_loss_term* t =
                gradient_rig_term(&rig, MABD_LOSS_POINT, 2, rig.def.steps, rig.def.steps);
            t->point[0] = 0.2, t->target[2] = -0.3;
            t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 2, rig.def.steps, rig.def.steps);
            t->weight = 0.1;
            mabd_gradient* g = gradient_rig_create(&rig, model);
            gradient_rig_values(&rig, model, 0.1, p);
            rig_check(mabd_gradient_run(g, p, own[k], NULL, &error), &error, "run");
            for (int32_t j = 0; k == 1 && j < rig.def.parameter_count; j++) {
                const double scale = rig.parameters[j].scale;
                difference[i] = fmax(difference[i], fabs(own[0][j] - own[1][j]) * scale);
                most = fmax(most, fabs(own[0][j]) * scale);
            }
            mabd_gradient_destroy(g);
        }
    }
    const double order = log2(difference[0] / difference[1]);
    printf("redmax against quaternion: %.1e, %.1e, order %.2f\n", difference[0] / most,
           difference[1] / most, order);
    cr_expect(difference[1] < 1e-3 * most && fabs(order - 2) < 0.3);
    mabd_model_destroy(model);
}
