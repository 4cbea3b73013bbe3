// SPDX-License-Identifier: Apache-2.0
// Gradients by start coordinates and start rates of joint axes: against differences of fourth
// order, forward mode against the adjoint, and the start states themselves: joints closed, the axis
// where the parameter says, the least motion in the mass metric.

#include "support/gradient_rig.h"
#include "support/sanitized.h"

// Crank, coupler and rocker: a plane four-bar with three redundant rows, one freedom.
static mabd_model* four_bar(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        "{\"name\": \"crank\", \"shape\": \"box\", \"size\": [0.02, 0.02, 0.3],"
        " \"position\": [0, 0, 0.15]},"
        "{\"name\": \"coupler\", \"shape\": \"box\", \"size\": [1, 0.02, 0.02],"
        " \"position\": [0.5, 0, 0.45], \"rotation\": {\"axis\": [0, 1, 0],"
        " \"angle\": -0.2914567944778671}},"
        "{\"name\": \"rocker\", \"shape\": \"box\", \"size\": [0.02, 0.02, 0.6],"
        " \"position\": [1, 0, 0.3]}],"
        " \"joints\": ["
        "{\"type\": \"hinge\", \"b\": \"crank\", \"axis\": [0, 1, 0],"
        " \"axes\": {\"rx\": {\"stiffness\": 0.2, \"damping\": 0.01}}},"
        "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"coupler\", \"anchor\": [0, 0, 0.3],"
        " \"axis\": [0, 1, 0]},"
        "{\"type\": \"hinge\", \"a\": \"coupler\", \"b\": \"rocker\", \"anchor\": [1, 0, 0.6],"
        " \"axis\": [0, 1, 0]},"
        "{\"type\": \"hinge\", \"b\": \"rocker\", \"anchor\": [1, 0, 0], \"axis\": [0, 1, 0]}]}");
}

// A tree in 3-D without a joint to the world: a hinge, a slider, a damped ball joint.
static mabd_model* tree(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"trunk\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002], \"center\": [0.02, 0.03, -0.01], \"angular_velocity\": [0.3, 1.5, -0.4]},"
        " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003], \"center\": [-0.01, 0.02, 0.03], \"position\": [0.5, 0.1, 0],"
        " \"angular_velocity\": [0.3, 2.5, -0.4]},"
        " {\"name\": \"rod\", \"mass\": 0.4, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [0, 0.5, 0]},"
        " {\"name\": \"bob\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [0.8, 0, 0.1], \"angular_velocity\": [1, 2, -1]}],"
        " \"joints\": ["
        " {\"type\": \"hinge\", \"a\": \"trunk\", \"b\": \"arm\", \"anchor\": [0.25, 0, 0],"
        "  \"axis\": [0, 1, 0]},"
        " {\"type\": \"prismatic\", \"a\": \"trunk\", \"b\": \"rod\", \"anchor\": [0, 0.3, 0],"
        "  \"axis\": [0.6, 0, 0.8]},"
        " {\"type\": \"ball\", \"a\": \"arm\", \"b\": \"bob\", \"anchor\": [0.7, 0, 0.1],"
        "  \"axes\": {\"rx\": {\"stiffness\": 2, \"damping\": 0.1},"
        "   \"ry\": {\"stiffness\": 2, \"damping\": 0.1},"
        "   \"rz\": {\"stiffness\": 2, \"damping\": 0.1}}}],"
        " \"start\": {\"close\": true}}");
}

static void add_terms(gradient_rig* rig, int32_t body) {
    const int64_t end = rig->def.steps;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, body, end / 2, end);
    t->point[0] = 0.2, t->point[1] = 0.1, t->target[2] = -0.3;
    t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, body, end, end);
    t->point[2] = 0.1, t->target[0] = 1, t->weight = 0.1;
    t = gradient_rig_term(rig, MABD_LOSS_ANGULAR, 1, 0, 2);
    t->target[1] = 0.5, t->weight = 0.01;
    t = gradient_rig_term(rig, MABD_LOSS_ENERGY, 0, end, end);
    t->weight = 0.01;
}

static const mabd_integrator methods[] = {
    MABD_INTEGRATOR_EULER,  MABD_INTEGRATOR_BDF2,           MABD_INTEGRATOR_SDIRK2,
    MABD_INTEGRATOR_TRBDF2, MABD_INTEGRATOR_PARESCHI_RUSSO,
};

static gradient_rig loop_rig(mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, (mabd_real)0.01, 10);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, MABD_AXIS_RX, (mabd_real)0.1);
    gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 3, MABD_AXIS_RX, (mabd_real)0.5);
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = (mabd_real)0.05;
    gradient_rig_add(&rig, MABD_PARAMETER_START_POSITION, 1, 0)->scale = (mabd_real)0.05;
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 2, 0)->scale = (mabd_real)0.05;
    gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_B, 1, 2)->scale = (mabd_real)0.05;
    add_terms(&rig, 1);
    return rig;
}

static gradient_rig tree_rig(mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, (mabd_real)0.01, 10);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, (mabd_real)0.2);
    gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, (mabd_real)0.5);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 1, MABD_AXIS_TX, (mabd_real)0.1);
    gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 1, MABD_AXIS_TX, (mabd_real)0.5);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 2, MABD_AXIS_RY, (mabd_real)0.2);
    gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 2, MABD_AXIS_RZ, (mabd_real)0.5);
    for (int k = 0; k < 3; k++) {
        gradient_rig_add(&rig, MABD_PARAMETER_ANCHOR_A, 0, k)->scale = (mabd_real)0.05;
        gradient_rig_add(&rig, MABD_PARAMETER_AXIS_B, 1, k)->scale = (mabd_real)0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_CENTER, 1, k)->scale = (mabd_real)0.02;
        gradient_rig_add(&rig, MABD_PARAMETER_START_ROTATION, 3, k)->scale = (mabd_real)0.1;
        gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 2, k)->scale = (mabd_real)0.1;
    }
    for (int k = 0; k < 3; k++) { // of all bodies as one
        gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, -1, k)->scale = (mabd_real)0.5;
    }
    gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, -1, 1)->scale = (mabd_real)0.5;
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 2, 0)->scale = (mabd_real)0.1;
    gradient_rig_add(&rig, MABD_PARAMETER_INERTIA, 3, 3)->scale = (mabd_real)0.001;
    add_terms(&rig, 3);
    return rig;
}

static void compare(const char* name, mabd_model* model, gradient_rig make(mabd_integrator),
                    mabd_real offset) {
    for (size_t i = 0; i < AMOUNT(sizeof methods / sizeof methods[0], 1); i++) {
        gradient_rig rig = make(methods[i]);
        mabd_real p[GRADIENT_MAX];
        mabd_gradient* g = gradient_rig_create(&rig, model);
        gradient_rig_values(&rig, model, offset, p);
        const double error = gradient_rig_compare(&rig, g, p, (mabd_real)0.02, false);
        printf("%s, %-15s error %.1e\n", name, mabd_integrator_name(methods[i]), error);
        cr_expect(error < 1e-6);
        mabd_gradient_destroy(g);
    }
}

Test(gradient_start, coordinates_and_rates_of_a_tree) {
    mabd_model* model = tree();
    compare("tree", model, tree_rig, 0);
    compare("tree, moved", model, tree_rig, (mabd_real)0.7);
    mabd_model_destroy(model);
}

Test(gradient_start, coordinates_and_rates_of_a_loop) {
    mabd_model* model = four_bar();
    compare("loop", model, loop_rig, 0);
    compare("loop, moved", model, loop_rig, (mabd_real)0.7);
    mabd_model_destroy(model);
}

// ---- start states in closed form ---------------------------------------------------------------

// Two equal bars of length 1 along x on a hinge about y at the origin, free in space.
static mabd_model* two_bars(void) {
    return rig_text_model("{\"gravity\": [0, 0, 0], \"bodies\": ["
                          "{\"name\": \"left\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1],"
                          " \"position\": [-0.5, 0, 0]},"
                          "{\"name\": \"right\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1],"
                          " \"position\": [0.5, 0, 0]}],"
                          " \"joints\": [{\"type\": \"hinge\", \"a\": \"left\", \"b\": \"right\","
                          "  \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]}]}");
}

/// State of a run at its start.
typedef struct start_state {
    mabd_real positions[6], quaternions[8], velocities[6], angular[6];
} start_state;

static void read_start(void* user, int64_t step, const mabd_sim* sim, mabd_real* value,
                       mabd_real* d_position, mabd_real* d_rotation, mabd_real* d_velocity,
                       mabd_real* d_angular) {
    start_state* s = user;
    (void)d_position, (void)d_rotation, (void)d_velocity, (void)d_angular;
    cr_expect(step == 0);
    mabd_sim_get_state(sim, s->positions, s->quaternions, s->velocities, s->angular);
    *value = 0;
}

// The angle p is shared by symmetry, p/2 each, and the common centre stays: x = -+cos(p/2)/2,
// z = 0. So is the rate r: +-r/2 each, and dz = 0, dx = +-r sin(p/2)/4.
// Both turn about z as one, where they are after the angle has moved them.
Test(gradient_start, least_motion_of_two_bars) {
    static const double angles[] = {0.3, -1, 2.5};
    mabd_model* model = two_bars();
    for (size_t i = 0; i < 3; i++) {
        const double p = angles[i], r = 0.8, turn = 0.6;
        const mabd_real values[3] = {(mabd_real)p, (mabd_real)r, (mabd_real)turn};
        mabd_error error = {0};
        start_state s;
        gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 1);
        gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 1);
        gradient_rig_axis(&rig, MABD_PARAMETER_RATE, 0, MABD_AXIS_RX, 1);
        gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, -1, 2);
        gradient_rig_term(&rig, MABD_LOSS_USER, 0, 0, 0);
        rig.def.user_fn = read_start, rig.def.user = &s;
        mabd_gradient* g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, values, NULL, NULL, &error), &error, "run");
        for (int k = 0; k < 2; k++) {
            const double side = k == 0 ? -1 : 1;
            cr_expect(fabs((double)s.positions[3 * k] - side * cos(p / 2) / 2) < 1e-12);
            cr_expect(fabs((double)s.positions[3 * k + 1]) < 1e-12);
            cr_expect(fabs((double)s.positions[3 * k + 2]) < 1e-12, "%g",
                      (double)s.positions[3 * k + 2]);
            cr_expect(fabs((double)s.quaternions[4 * k + 2] - side * sin(p / 4)) < 1e-12);
            cr_expect(fabs((double)s.angular[3 * k + 1] - side * r / 2) < 1e-12);
            cr_expect(fabs((double)s.velocities[3 * k] + side * r * sin(p / 2) / 4) < 1e-12);
            cr_expect(fabs((double)s.velocities[3 * k + 2]) < 1e-12);
            cr_expect(fabs((double)s.velocities[3 * k + 1] - turn * (double)s.positions[3 * k]) <
                      1e-12);
            cr_expect(fabs((double)s.angular[3 * k + 2] - turn) < 1e-12);
        }
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}

// ---- forward mode ------------------------------------------------------------------------------

#define MOST_BODIES 4

// Derivative number i of a loss that is linear in all entries of a state.
static double weight_of(size_t i) {
    return sin(1 + 2.3 * (double)i);
}

static void linear_loss(void* user, int64_t step, const mabd_sim* sim, mabd_real* value,
                        mabd_real* d_position, mabd_real* d_rotation, mabd_real* d_velocity,
                        mabd_real* d_angular) {
    const size_t n = 3 * (size_t)mabd_model_body_count((const mabd_model*)user);
    (void)step, (void)sim;
    *value = 0; // not looked at
    for (size_t i = 0; d_position && i < n; i++) {
        d_position[i] = (mabd_real)weight_of(4 * i),
        d_rotation[i] = (mabd_real)weight_of(4 * i + 1);
        d_velocity[i] = (mabd_real)weight_of(4 * i + 2);
        d_angular[i] = (mabd_real)weight_of(4 * i + 3);
    }
}

static double sum_forward(const mabd_real* ds_dp, int32_t bodies, int32_t count,
                          int32_t parameter) {
    double sum = 0;
    for (int32_t b = 0; b < bodies; b++) {
        for (int k = 0; k < 12; k++) {
            const size_t own = 4 * (size_t)(3 * b + k % 3) + (size_t)(k / 3);
            sum += weight_of(own) * (double)ds_dp[(12 * b + k) * count + parameter];
        }
    }
    return sum;
}

// Adjoint and forward mode agree in all entries of the last state, for every integrator. halved: h
// of steps, some too long for three iterations; 0 = usual ones. Returns the steps in parts.
static int compare_modes(const char* name, mabd_model* model, gradient_rig make(mabd_integrator),
                         mabd_real halved) {
    static mabd_real ds_dp[2 * 12 * MOST_BODIES * GRADIENT_MAX];
    int parts = 0;
    const int32_t bodies = mabd_model_body_count(model);
    for (size_t i = 0; i < AMOUNT(sizeof methods / sizeof methods[0], 2); i++) {
        gradient_rig rig = make(methods[i]);
        const int32_t n = rig.def.parameter_count;
        mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
        mabd_error error = {0};
        mabd_gradient_info info;
        rig.def.term_count = 0, rig.def.user_fn = linear_loss, rig.def.user = model;
        if (halved > 0) rig.sim.h = halved, rig.sim.max_iterations = 3;
        gradient_rig_term(&rig, MABD_LOSS_USER, 0, rig.def.steps, rig.def.steps);
        mabd_gradient* g = gradient_rig_create(&rig, model);
        gradient_rig_values(&rig, model, (mabd_real)0.3, p);
        rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
        parts += info.non_smooth;
        rig_check(mabd_gradient_forward(g, p, rig.def.steps, ds_dp, &error), &error, "forward");
        double worst = 0, most = 0;
        for (int32_t k = 0; k < n; k++) {
            const double sum = sum_forward(ds_dp + 12 * bodies * n, bodies, n, k);
            worst = fmax(worst, fabs(sum - (double)own[k])), most = fmax(most, fabs(sum));
        }
        printf("%s, %-15s adjoint against forward: %.1e\n", name, mabd_integrator_name(methods[i]),
               worst / most);
        cr_expect(most > 0 && worst < 1e-11 * most);
        mabd_gradient_destroy(g);
    }
    return parts;
}

Test(gradient_start, adjoint_equals_forward) {
    mabd_model *free_tree = tree(), *loop = four_bar();
    cr_expect(compare_modes("tree", free_tree, tree_rig, 0) == 0);
    cr_expect(compare_modes("loop", loop, loop_rig, 0) == 0);
    cr_expect(compare_modes("loop, halved", loop, loop_rig, (mabd_real)0.06) > 0);
    mabd_model_destroy(free_tree);
    mabd_model_destroy(loop);
}

// ---- two formulations --------------------------------------------------------------------------

// Start states do not depend on the formulation, so neither do their derivatives.
Test(gradient_start, of_quaternion_and_redmax_are_equal) {
    mabd_model* model = tree();
    mabd_real p[GRADIENT_MAX], own[2][GRADIENT_MAX];
    gradient_rig rig = tree_rig(MABD_INTEGRATOR_BDF2);
    int32_t n = 0;
    double most = 0;
    for (int32_t i = 0; i < rig.def.parameter_count; i++) { // redmax has none on a ball joint
        const mabd_parameter* q = &rig.parameters[i];
        const bool held = q->kind == MABD_PARAMETER_COORDINATE || q->kind == MABD_PARAMETER_RATE;
        if (!held || q->index != 2) rig.parameters[n++] = *q;
    }
    rig.def.parameter_count = n;
    rig.def.term_count = 0, rig.def.user_fn = linear_loss, rig.def.user = model;
    rig.def.steps = 1;
    gradient_rig_term(&rig, MABD_LOSS_USER, 0, 0, 0);
    gradient_rig_values(&rig, model, (mabd_real)0.7, p);
    for (int k = 0; k < 2; k++) {
        mabd_error error = {0};
        rig.sim.formulation = k == 0 ? MABD_FORMULATION_QUATERNION : MABD_FORMULATION_REDMAX;
        mabd_gradient* g = gradient_rig_create(&rig, model);
        rig_check(mabd_gradient_run(g, p, own[k], NULL, &error), &error, "run");
        mabd_gradient_destroy(g);
    }
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs((double)own[0][i]));
    for (int32_t i = 0; i < n; i++) {
        cr_expect(fabs((double)(own[0][i] - own[1][i])) < 1e-9 * most, "%s %d/%d: %.12g, %.12g",
                  mabd_parameter_kind_name(rig.parameters[i].kind), (int)rig.parameters[i].index,
                  (int)rig.parameters[i].component, (double)own[0][i], (double)own[1][i]);
    }
    mabd_model_destroy(model);
}

// A start that is not there shortens the step of an optimisation: the rocker cannot come to 2 rad.
// At its dead point crank and coupler are one line.
Test(gradient_start, optimisation_stops_at_a_dead_point) {
    mabd_model* loop = four_bar();
    mabd_error error = {0};
    mabd_optimize_info info;
    mabd_real p = 0;
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 1);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 3, MABD_AXIS_RX, 1);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_COORDINATE, 3, 0, 0);
    t->axis = MABD_AXIS_RX, t->target[0] = 2;
    mabd_gradient* g = gradient_rig_create(&rig, loop);
    const mabd_optimize_def def = mabd_default_optimize_def();
    rig_check(mabd_optimize(g, &def, &p, &info, &error), &error, "optimise");
    printf("rocker at %.6f after %d runs\n", (double)p, (int)info.runs);
    const double reach = 0.3 + sqrt(1 + 0.09); // with the base 1 and the rocker 0.6 a triangle
    const double limit = acos((1 + 0.36 - reach * reach) / 1.2) - acos(0);
    cr_expect(p < limit && p > limit - 1e-3, "%g, dead point %g", (double)p, limit);
    mabd_gradient_destroy(g);
    mabd_model_destroy(loop);
}

// ---- refusals ----------------------------------------------------------------------------------

static void refuse(mabd_model* model, gradient_rig* rig, const mabd_real* p, mabd_status status,
                   const char* text) {
    mabd_error error = {0};
    mabd_gradient* g = NULL;
    rig->def.parameters = rig->parameters, rig->def.terms = rig->terms;
    mabd_status found = mabd_gradient_create(model, &rig->sim, &rig->def, &g, &error);
    if (found == MABD_OK) found = mabd_gradient_run(g, p, NULL, NULL, &error);
    cr_expect(found == status && strstr(error.text, text), "%s: %d: %s", text, (int)found,
              error.text);
    mabd_gradient_destroy(g);
}

Test(gradient_start, refusals) {
    mabd_model *loop = four_bar(), *bars = two_bars();
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 1);
    const mabd_real values[2] = {0, 0};
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 1);
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 3, MABD_AXIS_RX, 1);
    refuse(loop, &rig, values, MABD_ERR_INPUT, "rx is not free at the start");
    rig.parameters[0].kind = rig.parameters[1].kind = MABD_PARAMETER_RATE;
    refuse(loop, &rig, values, MABD_ERR_INPUT, "rx is not free at the start");
    rig.parameters[0].kind = MABD_PARAMETER_COORDINATE;
    rig.def.parameter_count = 1;
    rig.parameters[0].index = 3;
    const mabd_real beyond = 2; // crank and coupler are too short for it: a dead point on the way
    refuse(loop, &rig, &beyond, MABD_ERR_INPUT, "joint 3: rx is not free");
    rig.parameters[0].kind = MABD_PARAMETER_ANCHOR_A, rig.parameters[0].index = 2;
    const mabd_real far = 10; // a coupler of that length
    refuse(loop, &rig, &far, MABD_ERR_INPUT, "cannot be closed at these parameters");
    rig.parameters[0].kind = MABD_PARAMETER_COORDINATE;
    rig.parameters[0].index = 0;
    const mabd_real more = 4;
    refuse(bars, &rig, &more, MABD_ERR_INPUT, "half a turn");
    mabd_model_destroy(loop);
    mabd_model_destroy(bars);
}

Test(gradient_start, refused_axes) {
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]},"
        " {\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [1, 0, 0]},"
        " {\"name\": \"c\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"
        " \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"axis\": [0, 1, 0],"
        "  \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_rigid\": true}}},"
        " {\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0.5, 0, 0]},"
        " {\"type\": \"free\", \"a\": \"a\", \"b\": \"c\"}]}");
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 1);
    const mabd_real zero = 0;
    gradient_rig_axis(&rig, MABD_PARAMETER_COORDINATE, 0, MABD_AXIS_RX, 1);
    refuse(model, &rig, &zero, MABD_ERR_UNAVAILABLE, "a rigid servo overrules it");
    rig.parameters[0].index = 1;
    refuse(model, &rig, &zero, MABD_ERR_UNAVAILABLE, "has no axes");
    rig.parameters[0].kind = MABD_PARAMETER_RATE;
    refuse(model, &rig, &zero, MABD_ERR_UNAVAILABLE, "has no axes");
    rig.parameters[0].kind = MABD_PARAMETER_COORDINATE, rig.parameters[0].index = 2;
    refuse(model, &rig, &zero, MABD_ERR_UNAVAILABLE, "joint 2");
    mabd_model_destroy(model);
}
