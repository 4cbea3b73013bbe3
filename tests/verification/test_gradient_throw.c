// SPDX-License-Identifier: Apache-2.0
// The throw of [VQ Fig. 13]: velocity, angular velocity and opening angle of a Hoberman sphere such
// that it has a given pose at a given time. Spheres of the generator with the opening angle psi are
// the oracle: the start coordinate of one hinge, -2 (psi - psi0) for scissors, must give the same
// sphere, and the targets are poses of runs that begin from them.
#include "mabd/gradient.h"
#include "math/quat.h"
#include "model/model_data.h"
#include "support/rig.h"
#include "support/sanitized.h"

#define UNKNOWNS 7 // velocity, angular velocity, coordinate
#define STEPS    15
#define STEP     0.02
#define BARS     48 // 3 rings of 8 pairs
#define MARKS    3  // bars whose pose counts
#define ANGLE    1.1

static const int32_t marks[MARKS] = {0, 21, 45};

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

/// A throw: the values of its parameters, and the terms of its loss.
typedef struct throw_problem {
    mabd_parameter parameters[UNKNOWNS];
    mabd_loss_term terms[2 * MARKS];
    mabd_gradient_def def;
} throw_problem;

static throw_problem make_problem(const mabd_model* model) {
    throw_problem t = {.def = mabd_default_gradient_def()};
    for (int i = 0; i < UNKNOWNS; i++) {
        t.parameters[i] = mabd_default_parameter(i < 3   ? MABD_PARAMETER_START_VELOCITY
                                                 : i < 6 ? MABD_PARAMETER_START_ANGULAR
                                                         : MABD_PARAMETER_COORDINATE);
        t.parameters[i].index = -1, t.parameters[i].component = i % 3;
        t.parameters[i].lower = -20, t.parameters[i].upper = 20;
    }
    // the hinge between the two bars of a pair is the first joint; 0.785 is closed, at 1.963, fully
    // expanded, the sphere is singular
    t.parameters[6].index = 0, t.parameters[6].component = 0, t.parameters[6].axis = MABD_AXIS_RX;
    t.parameters[6].lower = -1, t.parameters[6].upper = (mabd_real)0.5;
    t.parameters[6].scale = (mabd_real)0.2;
    cr_assert(model->joints[0].type == MABD_JOINT_HINGE);
    t.def.parameter_count = UNKNOWNS, t.def.term_count = 2 * MARKS, t.def.steps = STEPS;
    return t;
}

static mabd_gradient* gradient_of(const mabd_model* model, throw_problem* t) {
    mabd_error error = {0};
    mabd_gradient* gradient;
    const mabd_sim_def sim = sim_def();
    t->def.parameters = t->parameters, t->def.terms = t->terms;
    rig_check(mabd_gradient_create(model, &sim, &t->def, &gradient, &error), &error, "gradient");
    return gradient;
}

// A sphere of the generator with the angle of x and its velocities, as one rigid body.
static mabd_sim* thrown(const double* x, mabd_model** model) {
    static mabd_real velocities[3 * BARS], angular[3 * BARS];
    mabd_error error = {0};
    mabd_sim* sim;
    const mabd_sim_def def = sim_def();
    *model = sphere(ANGLE - x[6] / 2);
    rig_check(mabd_sim_create(*model, &def, &sim, &error), &error, "sim");
    const mabd_vec3 v = mabd_v3((mabd_real)x[0], (mabd_real)x[1], (mabd_real)x[2]);
    const mabd_vec3 w = mabd_v3((mabd_real)x[3], (mabd_real)x[4], (mabd_real)x[5]);
    for (int32_t b = 0; b < BARS; b++) { // about the middle, the origin
        const mabd_vec3 r = mabd_v3_load((*model)->start[b].position);
        mabd_v3_store(mabd_v3_add(v, mabd_v3_cross(w, r)), velocities + 3 * b);
        mabd_v3_store(w, angular + 3 * b);
    }
    rig_check(mabd_sim_set_state(sim, NULL, NULL, velocities, angular, &error), &error, "state");
    return sim;
}

// Let the terms ask for the pose that a throw with x ends in.
static void set_target(throw_problem* t, const double* x) {
    static mabd_real positions[3 * BARS], quaternions[4 * BARS];
    mabd_error error = {0};
    mabd_model* model;
    mabd_sim* sim = thrown(x, &model);
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

static const double start[UNKNOWNS] = {0.2, 0.1, 2, 0.5, -0.5, 2, 0};
static const double targets[3][UNKNOWNS] = {
    {1, 0.5, 3, 1, 1, 4, 0.4}, {-1, 1, 2, -2, 0.5, 1, -0.4}, {0.5, -1.5, 4, 0, 2, -3, 0.2}};

// ---- the start ---------------------------------------------------------------------------------

/// Differences of the start of a run from that of another simulation.
typedef struct start_difference {
    const mabd_sim* other;
    double position, turn, velocity;
} start_difference;

static void compare_start(void* user, int64_t step, const mabd_sim* sim, mabd_real* value,
                          mabd_real* d_position, mabd_real* d_rotation, mabd_real* d_velocity,
                          mabd_real* d_angular) {
    static mabd_real a[13 * BARS], b[13 * BARS];
    start_difference* d = user;
    (void)step, (void)d_position, (void)d_rotation, (void)d_velocity, (void)d_angular;
    *value = 0;
    mabd_sim_get_state(sim, a, a + 3 * BARS, a + 7 * BARS, a + 10 * BARS);
    mabd_sim_get_state(d->other, b, b + 3 * BARS, b + 7 * BARS, b + 10 * BARS);
    for (int i = 0; i < 13 * BARS; i++) {
        double* worst = i < 3 * BARS ? &d->position : i < 7 * BARS ? &d->turn : &d->velocity;
        *worst = fmax(*worst, fabs((double)(a[i] - b[i])));
    }
}

Test(gradient_throw, a_coordinate_opens_the_sphere_as_the_generator_does) {
    mabd_model *model = sphere(ANGLE), *other;
    throw_problem t = make_problem(model);
    mabd_loss_term once = mabd_default_loss_term(MABD_LOSS_USER);
    for (int k = 0; k < 3; k++) {
        mabd_error error = {0};
        start_difference d = {.other = thrown(targets[k], &other)};
        mabd_real p[UNKNOWNS];
        for (int i = 0; i < UNKNOWNS; i++) p[i] = (mabd_real)targets[k][i];
        t.terms[0] = once, t.def.term_count = 1, t.def.steps = 1;
        t.def.user_fn = compare_start, t.def.user = &d;
        mabd_gradient* g = gradient_of(model, &t);
        rig_check(mabd_gradient_run(g, p, NULL, NULL, &error), &error, "run");
        cr_expect(d.position < 1e-10 && d.turn < 1e-10 && d.velocity < 1e-9, "%g m, %g, %g m/s",
                  d.position, d.turn, d.velocity);
        mabd_gradient_destroy(g);
        mabd_sim_destroy((mabd_sim*)d.other);
        mabd_model_destroy(other);
    }
    mabd_model_destroy(model);
}

// ---- the throw ---------------------------------------------------------------------------------

Test(gradient_throw, the_gradient_is_that_of_differences) {
    mabd_model* model = sphere(ANGLE);
    throw_problem t = make_problem(model);
    mabd_error error = {0};
    mabd_real p[UNKNOWNS], worst;
    int32_t which;
    set_target(&t, targets[0]);
    for (int i = 0; i < UNKNOWNS; i++) p[i] = (mabd_real)start[i];
    p[6] = (mabd_real)0.1;
    mabd_gradient* g = gradient_of(model, &t);
    rig_check(mabd_gradient_check(g, p, (mabd_real)1e-3, &worst, &which, &error), &error, "check");
    cr_expect(worst < 1e-6, "parameter %d: %g", (int)which, (double)worst);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

Test(gradient_throw, three_targets_are_hit_within_40_iterations) {
    mabd_model* model = sphere(ANGLE);
    for (int k = 0; k < AMOUNT(3, 1); k++) {
        throw_problem t = make_problem(model);
        mabd_real p[UNKNOWNS];
        mabd_optimize_info info;
        mabd_error error = {0};
        set_target(&t, targets[k]);
        for (int i = 0; i < UNKNOWNS; i++) p[i] = (mabd_real)start[i];
        mabd_optimize_def def = mabd_default_optimize_def();
        def.max_iterations = 40, def.loss_tolerance = (mabd_real)1e-9;
        mabd_gradient* g = gradient_of(model, &t);
        rig_check(mabd_optimize(g, &def, p, &info, &error), &error, "optimise");
        printf("target %d: loss %.2e -> %.2e, %d iterations, %d runs\n", k, (double)info.first_loss,
               (double)info.loss, (int)info.iterations, (int)info.runs);
        cr_expect(info.loss < 1e-6 && info.loss < 1e-6 * info.first_loss);
        for (int i = 0; i < UNKNOWNS; i++) {
            cr_expect(fabs((double)p[i] - targets[k][i]) < 1e-2, "target %d: x_%d = %g", k, i,
                      (double)p[i]);
        }
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}
