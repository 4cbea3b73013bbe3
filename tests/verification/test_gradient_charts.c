// SPDX-License-Identifier: Apache-2.0
// Gradients of the redmax formulation across switches of charts: by start states, masses, places
// of joints, springs and dampers on the axes of charted balls, controls and forces, against
// differences of fourth order; forward mode against the adjoint; with checkpoints the same bits.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_BDF2,          MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_EULER,
    MABD_INTEGRATOR_SEMI_IMPLICIT, MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
#define METHODS (sizeof methods / sizeof methods[0])
#define STEPS   14
#define H       0.02

// A hinge at the world, an arm on a ball with the chart that spins about its middle axis, a bob on
// a slot. side 1: both joints are given from child to parent, and a drive may have a limit.
static mabd_model* tree(mabd_joint_chart chart, int side, bool drive) {
    char text[6000];
    const char* name = mabd_joint_chart_name(chart);
    const bool euler = chart >= MABD_CHART_XYZ, proper = chart >= MABD_CHART_XYX;
    const int axis = euler ? name[1] - 'X' : 1;
    double spin[3] = {0.6, -0.5, 0.9}, q[4] = {1, 0, 0, 0};
    spin[axis] = 17;
    const double turn = (side ? -1 : 1) * (proper ? 2.5 : euler ? 1 : 3); // not far from a switch
    q[0] = cos(turn / 2), q[1 + axis] = sin(turn / 2);
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"base\", \"mass\": 3.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
             "0.002], \"center\": [0.02, 0.03, -0.01], \"position\": [0.25, 0, 0],"
             "  \"angular_velocity\": [0, 0.5, 0]},"
             " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
             "-0.003], \"center\": [-0.01, 0.02, 0.03], \"position\": [0.5, 0, 0], \"drag\": 0.3,"
             "  \"angular_velocity\": [%g, %g, %g]},"
             " {\"name\": \"bob\", \"mass\": 0.2, \"inertia\": [0.01, 0.02, 0.015],"
             "  \"position\": [0.6, 0.1, 0], \"angular_velocity\": [2, -1, 3]}],"
             " \"forces\": [{\"body\": \"arm\", \"point\": [0.1, 0, 0.05], \"force\": [0.4, 0.2, "
             "0.3]}],"
             " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"base\","
             "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]},"
             " {\"type\": \"ball\", \"a\": \"%s\", \"b\": \"%s\", \"anchor_a\": [%g, 0, 0],"
             "  \"anchor_b\": [%g, 0, 0], \"frame_a\": [1, 0, 0, 0], \"frame_b\": [%.17g, %.17g, "
             "%.17g, %.17g], \"chart\": \"%s\", \"axes\": {\"rx\": {\"damping\": 0.02}, \"ry\": "
             "{\"stiffness\": 0.05, \"rest\": 0.1, \"damping\": 0.01, \"armature\": 0.01}, \"rz\": "
             "{\"servo\": 0.1, \"servo_stiffness\": 0.2, \"servo_damping\": 0.02%s}}},"
             " {\"type\": \"slot\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [0.6, 0.1, 0],"
             "  \"axis\": [0.6, 0, 0.8], \"chart\": \"exponential\", \"axes\": {\"tx\": "
             "{\"stiffness\": 20}}}],"
             " \"start\": {\"close\": true}}",
             spin[0], spin[1], spin[2], side ? "arm" : "base", side ? "base" : "arm",
             side ? 0. : 0.25, side ? 0.25 : 0., q[0], q[1], q[2], q[3], name,
             side == 1 && drive ? ", \"max_force\": 5" : "", side ? "bob" : "arm",
             side ? "arm" : "bob");
    return rig_text_model(text);
}

static void add_parameters(gradient_rig* rig) {
    for (int k = 0; k < 3; k++) {
        gradient_rig_add(rig, MABD_PARAMETER_START_ROTATION, 1, k)->scale = 0.1;
        gradient_rig_add(rig, MABD_PARAMETER_START_ANGULAR, 1, k)->scale = 0.3;
        gradient_rig_add(rig, MABD_PARAMETER_START_ANGULAR, 2, k)->scale = 0.3;
        gradient_rig_add(rig, MABD_PARAMETER_CENTER, 1, k)->scale = 0.01;
        gradient_rig_add(rig, MABD_PARAMETER_ANCHOR_A, 1, k)->scale = 0.05;
        gradient_rig_add(rig, MABD_PARAMETER_AXIS_B, 1, k)->scale = 0.1;
        gradient_rig_add(rig, MABD_PARAMETER_GRAVITY, 0, k);
        mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 1, k + 3 * (k == 1));
        p->first = 3, p->last = 9;
    }
    gradient_rig_axis(rig, MABD_PARAMETER_STIFFNESS, 1, MABD_AXIS_RY, 0.1);
    gradient_rig_axis(rig, MABD_PARAMETER_REST, 1, MABD_AXIS_RY, 0.1);
    gradient_rig_axis(rig, MABD_PARAMETER_DAMPING, 1, MABD_AXIS_RX, 0.01);
    gradient_rig_axis(rig, MABD_PARAMETER_ARMATURE, 1, MABD_AXIS_RY, 0.01);
    gradient_rig_axis(rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 0.1);
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 1, 1)->scale = 0.002;
    mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, 0, 0);
    p->first = 2, p->last = 11, p->scale = 0.1;
}

static void add_terms(gradient_rig* rig) {
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, 2, STEPS / 2, STEPS);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, 1, STEPS, STEPS);
    t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    t = gradient_rig_term(rig, MABD_LOSS_ROTATION, 1, STEPS, STEPS);
    t->target[0] = 0.8, t->target[1] = 0.48, t->target[3] = 0.36;
    t = gradient_rig_term(rig, MABD_LOSS_ANGULAR, 1, 9, 9);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_JOINT_FORCE, 1, STEPS, STEPS);
    t->weight = 1e-4;
    t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, STEPS, STEPS);
    t->weight = 0.01;
}

static gradient_rig rig_of(mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, (mabd_real)H, STEPS);
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    rig.sim.redmax.energy_guard = 0; // a rejected step would make the run shorter in parts
    rig.sim.redmax.newton_tolerance = (mabd_real)(method == MABD_INTEGRATOR_RK45 ? 1e-10 : 1e-13);
    add_parameters(&rig), add_terms(&rig);
    return rig;
}

// Switches of charts in the run of a rig.
static int switches_of(const gradient_rig* rig, const mabd_model* model) {
    mabd_sim* sim = rig_sim(model, &rig->sim);
    int count = 0;
    for (int i = 0; i < STEPS; i++) {
        count += rig_step(sim).redmax.chart_switches;
    }
    mabd_sim_destroy(sim);
    return count;
}

// True if an integrator has derivatives of the laws of the balls.
static bool has_laws(mabd_integrator method) {
    return method == MABD_INTEGRATOR_BDF2 || method == MABD_INTEGRATOR_SDIRK2 ||
           method == MABD_INTEGRATOR_EULER;
}

static void check(mabd_joint_chart chart, int side, mabd_integrator method, double* worst) {
    mabd_model* model = tree(chart, side, has_laws(method));
    gradient_rig rig = rig_of(method);
    mabd_real p[GRADIENT_MAX];
    const char* name = mabd_joint_chart_name(chart);
    const int switches = switches_of(&rig, model);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    const double error = gradient_rig_compare(&rig, g, p, (mabd_real)1e-3, false);
    const double forward = gradient_rig_forward_error(&rig, model, p);
    printf("%-12s %d %-14s switches %d, difference %.1e, forward %.1e\n", name, side,
           mabd_integrator_name(method), switches, error, forward);
    cr_expect(lt(dbl, error, 1e-7), "%s %d %s", name, side, mabd_integrator_name(method));
    cr_expect(lt(dbl, forward, 1e-11), "%s %d %s", name, side, mabd_integrator_name(method));
    cr_expect(lt(i32, 0, switches), "%s %d %s", name, side, mabd_integrator_name(method));
    *worst = fmax(*worst, error);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

// All charts of Euler angles, the exponential one, both directions, every method at least twice.
Test(gradient_charts, runs_across_switches_have_the_derivatives_of_differences) {
    double worst = 0;
    for (int i = 0; i < AMOUNT(26, 6); i++) {
        check((mabd_joint_chart)(MABD_CHART_EXPONENTIAL + i % 13), i / 13, methods[i % METHODS],
              &worst);
    }
    printf("worst %.1e\n", worst);
}

// With a tape too short for the run, states are taken again.
Test(gradient_charts, checkpoints_give_the_same_bits) {
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        mabd_model* model =
            tree(i % 2 ? MABD_CHART_ZYX : MABD_CHART_EXPONENTIAL, (int)i / 2, false);
        gradient_rig rig = rig_of(methods[i]);
        rig.def.steps = 60, rig.sim.h = (mabd_real)0.005;
        gradient_rig_expect_same_bits(&rig, model, 0);
        mabd_model_destroy(model);
    }
}

// Two bodies that two charted balls and a slot close to a loop.
static mabd_model* loop_of(void) {
    return rig_text_model(
        "{\"gravity\": [0, 0.3, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": "
        "[0.02, 0.03, 0.04], \"position\": [0.2, 0, 0], \"velocity\": [0, 0.5, 2]}, {\"name\": "
        "\"b\", \"mass\": 0.8, \"inertia\": [0.02, 0.03, 0.025], \"position\": [0.6, 0, 0], "
        "\"angular_velocity\": [9, 0, 0]}], \"start\": {\"close\": true}, \"joints\": [{\"type\": "
        "\"ball\", \"b\": \"a\", \"chart\": \"ZYX\"}, {\"type\": \"ball\", \"a\": \"a\", \"b\": "
        "\"b\", \"anchor\": [0.4, 0, 0], \"chart\": \"YXZ\", \"axes\": {\"rx\": {\"stiffness\": "
        "0.3, \"damping\": 0.01}}}, {\"type\": \"slot\", \"b\": \"b\", \"anchor\": [0.8, 0, 0], "
        "\"axis\": [1, 0, 0.3]}]}");
}

Test(gradient_charts, runs_of_loops_have_the_derivatives_of_differences) {
    mabd_model* model = loop_of();
    for (size_t i = 0; i < AMOUNT(METHODS, 2); i++) {
        gradient_rig rig = gradient_rig_make(methods[i], (mabd_real)0.01, STEPS);
        mabd_real p[GRADIENT_MAX];
        rig.sim.formulation = MABD_FORMULATION_REDMAX;
        rig.sim.redmax.newton_tolerance = (mabd_real)1e-13, rig.sim.redmax.energy_guard = 0;
        for (int k = 0; k < 3; k++) {
            gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 1, k)->scale = 0.05;
            gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 1, k)->scale = 0.3;
            gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 1, k)->scale = 0.02;
            gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, k);
        }
        gradient_rig_add(&rig, MABD_PARAMETER_MASS, 0, 0)->scale = 0.1;
        gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 1, MABD_AXIS_RX, 0.1);
        mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, STEPS / 2, STEPS);
        t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
        t = gradient_rig_term(&rig, MABD_LOSS_VELOCITY, 0, STEPS, STEPS);
        t->target[0] = 1, t->weight = 0.1;
        gradient_rig_values(&rig, model, 0, p);
        mabd_gradient* g = gradient_rig_create(&rig, model);
        const double error = gradient_rig_compare(&rig, g, p, (mabd_real)1e-3, false);
        const double forward = gradient_rig_forward_error(&rig, model, p);
        printf("loop, %-14s difference %.1e, forward %.1e\n", mabd_integrator_name(methods[i]),
               error, forward);
        cr_expect(lt(dbl, error, 1e-7), "%s", mabd_integrator_name(methods[i]));
        cr_expect(lt(dbl, forward, 1e-11), "%s", mabd_integrator_name(methods[i]));
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}
