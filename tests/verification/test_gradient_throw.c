// SPDX-License-Identifier: Apache-2.0
// The throw of [VQ Fig. 13]: velocities and opening angle of a Hoberman sphere such that it has a
// given pose at a given time. The targets are poses of runs with other start values, so that the
// loss can reach 0.
//
// Unknowns x = (velocity, angular velocity, opening angle). The angle moves all bars: the generator
// gives their start states, whose differences are its derivative, and
//
//   dL/dx_k = sum over bars of  dL/d(start state) . d(start state)/dx_k
//
// The gradient by the start states of all bars comes from one adjoint run.
#include "gradient/lbfgs.h"
#include "mabd/gradient.h"
#include "math/quat.h"
#include "model/model_data.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define UNKNOWNS 7
#define STEPS    15
#define STEP     0.02
#define BARS     48 // 3 rings of 8 pairs
#define STATE    12
#define MARKS    6 // bars whose pose counts

static const int32_t marks[MARKS] = {0, 7, 16, 21, 32, 45};

typedef struct throw_problem {
    mabd_loss_term terms[2 * MARKS];
    int runs, iterations;
    bool shown;
} throw_problem;

static mabd_model* sphere(double angle) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.rings = 3, def.pairs = 8, def.angle = (mabd_real)angle;
    rig_check(mabd_generate_hoberman_sphere(scene, &def, &error), &error, "sphere");
    mabd_model* model = rig_model(scene);
    cr_assert_eq(mabd_model_body_count(model), BARS);
    return model;
}

static mabd_sim_def sim_def(void) {
    mabd_sim_def def = mabd_default_sim_def();
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.h = (mabd_real)STEP;
    return def;
}

// Start velocity of a bar at x: a rigid motion about the middle, the origin.
static mabd_vec3 velocity_of(const mabd_model* model, const double* x, int32_t bar) {
    const mabd_vec3 r = mabd_v3_load(model->start[bar].position);
    return mabd_v3_add(mabd_v3_load(x), mabd_v3_cross(mabd_v3_load(x + 3), r));
}

// Values of the parameters of all bars: position, turn, velocity, angular velocity.
static void fill_values(const mabd_model* model, const double* x, mabd_real* p) {
    for (int32_t b = 0; b < BARS; b++, p += STATE) {
        mabd_v3_store(mabd_v3_load(model->start[b].position), p);
        mabd_v3_store(mabd_v3(0, 0, 0), p + 3);
        mabd_v3_store(velocity_of(model, x, b), p + 6);
        mabd_v3_store(mabd_v3_load(x + 3), p + 9);
    }
}

static mabd_gradient* gradient_of(const mabd_model* model, const throw_problem* t) {
    static const mabd_parameter_kind kinds[] = {
        MABD_PARAMETER_START_POSITION, MABD_PARAMETER_START_ROTATION, MABD_PARAMETER_START_VELOCITY,
        MABD_PARAMETER_START_ANGULAR};
    static mabd_parameter parameters[STATE * BARS];
    for (int32_t i = 0; i < STATE * BARS; i++) {
        parameters[i] = mabd_default_parameter(kinds[i % STATE / 3]);
        parameters[i].index = i / STATE, parameters[i].component = i % 3;
    }
    mabd_error error = {0};
    mabd_gradient* gradient;
    const mabd_sim_def sim = sim_def();
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = STATE * BARS, def.parameters = parameters;
    def.term_count = 2 * MARKS, def.terms = t->terms;
    def.steps = STEPS;
    rig_check(mabd_gradient_create(model, &sim, &def, &gradient, &error), &error, "gradient");
    return gradient;
}

// Add bars . d(start)/d(angle) by central differences of the generator.
static double by_angle(const double* x, const mabd_real* bars) {
    const double d = 1e-6;
    mabd_model *low = sphere(x[6] - d), *high = sphere(x[6] + d);
    double sum = 0;
    for (int32_t b = 0; b < BARS; b++, bars += STATE) {
        const mabd_model_start *s = &low->start[b], *e = &high->start[b];
        const mabd_vec3 shift =
            mabd_v3_scale((mabd_real)(0.5 / d),
                          mabd_v3_sub(mabd_v3_load(e->position), mabd_v3_load(s->position)));
        const mabd_quat turn =
            mabd_q_product(mabd_q_conjugate(mabd_q_load(s->rotation)), mabd_q_load(e->rotation));
        const mabd_real sign = turn.w < 0 ? -1 : 1;
        const mabd_vec3 rate = mabd_v3_scale(sign / (mabd_real)d, mabd_v3(turn.x, turn.y, turn.z));
        sum += mabd_v3_dot(mabd_v3_load(bars), shift) + mabd_v3_dot(mabd_v3_load(bars + 3), rate);
        sum += mabd_v3_dot(mabd_v3_load(bars + 6), mabd_v3_cross(mabd_v3_load(x + 3), shift));
    }
    mabd_model_destroy(low);
    mabd_model_destroy(high);
    return sum;
}

static mabd_status evaluate(void* user, const mabd_real* x, mabd_real* value, mabd_real* g,
                            mabd_error* error) {
    throw_problem* t = user;
    static mabd_real p[STATE * BARS], bars[STATE * BARS];
    mabd_gradient_info info;
    mabd_model* model = sphere(x[6]);
    mabd_gradient* gradient = gradient_of(model, t);
    fill_values(model, x, p);
    const mabd_status status = mabd_gradient_run(gradient, p, bars, &info, error);
    t->runs++;
    *value = info.loss;
    for (int k = 0; k < UNKNOWNS; k++) g[k] = 0;
    for (int32_t b = 0; b < BARS; b++) {
        const mabd_vec3 force = mabd_v3_load(bars + STATE * b + 6);
        const mabd_vec3 r = mabd_v3_load(model->start[b].position);
        const mabd_vec3 moment =
            mabd_v3_add(mabd_v3_cross(r, force), mabd_v3_load(bars + STATE * b + 9));
        mabd_v3_store(mabd_v3_add(mabd_v3_load(g), force), g);
        mabd_v3_store(mabd_v3_add(mabd_v3_load(g + 3), moment), g + 3);
    }
    g[6] = by_angle(x, bars);
    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
    return status;
}

// Let the terms ask for the pose that a throw with x ends in.
static void set_target(throw_problem* t, const double* x) {
    static mabd_real positions[3 * BARS], quaternions[4 * BARS], velocities[3 * BARS],
        angular[3 * BARS];
    mabd_error error = {0};
    mabd_sim* sim;
    mabd_model* model = sphere(x[6]);
    const mabd_sim_def def = sim_def();
    rig_check(mabd_sim_create(model, &def, &sim, &error), &error, "sim");
    for (int32_t b = 0; b < BARS; b++) {
        mabd_v3_store(velocity_of(model, x, b), velocities + 3 * b);
        mabd_v3_store(mabd_v3_load(x + 3), angular + 3 * b);
    }
    rig_check(mabd_sim_set_state(sim, NULL, NULL, velocities, angular, &error), &error, "state");
    for (int k = 0; k < STEPS; k++) rig_check(mabd_sim_step(sim, NULL, &error), &error, "step");
    mabd_sim_get_state(sim, positions, quaternions, NULL, NULL);
    for (int m = 0; m < MARKS; m++) {
        mabd_loss_term *place = &t->terms[2 * m], *turn = &t->terms[2 * m + 1];
        *place = mabd_default_loss_term(MABD_LOSS_POINT);
        *turn = mabd_default_loss_term(MABD_LOSS_ROTATION);
        place->index = turn->index = marks[m];
        place->first = place->last = turn->first = turn->last = STEPS;
        memcpy(place->target, positions + 3 * marks[m], 3 * sizeof(mabd_real));
        memcpy(turn->target, quaternions + 4 * marks[m], 4 * sizeof(mabd_real));
    }
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

static const double start[UNKNOWNS] = {0.2, 0.1, 2, 0.5, -0.5, 2, 1.1};

Test(gradient_throw, the_gradient_by_the_opening_angle_is_that_of_differences) {
    throw_problem t = {0};
    const double target[UNKNOWNS] = {1, 0.5, 3, 1, 1, 4, 0.9}, d = 1e-4;
    double x[UNKNOWNS], g[UNKNOWNS], unused[UNKNOWNS], f, at[4];
    mabd_error error = {0};
    set_target(&t, target);
    memcpy(x, start, sizeof x);
    rig_check(evaluate(&t, x, &f, g, &error), &error, "gradient");
    for (int k = 0; k < UNKNOWNS; k += 3) {
        for (int i = 0; i < 4; i++) {
            static const double steps[] = {-2, -1, 1, 2};
            x[k] = start[k] + steps[i] * d;
            rig_check(evaluate(&t, x, &at[i], unused, &error), &error, "difference");
        }
        x[k] = start[k];
        const double difference = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * d);
        cr_expect(fabs(g[k] - difference) < 1e-6 * (1 + fabs(difference)), "x_%d: %.9g, %.9g", k,
                  g[k], difference);
    }
}

Test(gradient_throw, three_targets_are_hit_within_40_iterations) {
    static const double targets[3][UNKNOWNS] = {
        {1, 0.5, 3, 1, 1, 4, 0.9}, {-1, 1, 2, -2, 0.5, 1, 1.3}, {0.5, -1.5, 4, 0, 2, -3, 1}};
    for (int k = 0; k < AMOUNT(3, 1); k++) {
        throw_problem t = {0};
        double x[UNKNOWNS], lower[UNKNOWNS], upper[UNKNOWNS];
        mabd_optimize_info info;
        mabd_error error = {0};
        set_target(&t, targets[k]);
        memcpy(x, start, sizeof x);
        for (int i = 0; i < UNKNOWNS; i++) lower[i] = -20, upper[i] = 20;
        lower[6] = 0.85,
        upper[6] = 1.6; // 0.785 is closed; at 1.963, fully expanded, it is singular
        const mabd_lbfgs_def def = {.n = UNKNOWNS,
                                    .memory = 10,
                                    .max_iterations = 40,
                                    .lower = lower,
                                    .upper = upper,
                                    .gradient_tolerance = 1e-9,
                                    .evaluate = evaluate,
                                    .user = &t,
                                    .allocator = mabd_default_allocator()};
        rig_check(mabd_lbfgs(&def, x, &info, &error), &error, "optimise");
        cr_log_info("target %d: loss %.2e -> %.2e, %d iterations, %d runs", k, info.first_loss,
                    info.loss, info.iterations, info.runs);
        cr_expect(info.loss < 1e-6 && info.loss < 1e-6 * info.first_loss, "target %d: %g of %g", k,
                  info.loss, info.first_loss);
        for (int i = 0; i < UNKNOWNS; i++) {
            cr_expect(fabs(x[i] - targets[k][i]) < 1e-2, "target %d: x_%d = %g", k, i, x[i]);
        }
    }
}
