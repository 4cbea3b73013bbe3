// SPDX-License-Identifier: Apache-2.0
// Mechanisms in the redmax formulation: agreement with the other formulations at second order,
// whips under the energy guard, prescribed motion and its torque, damped axes, failures, threads,
// saved states.

#include "support/counting_allocator.h"
#include "support/redmax_case.h"
#include "support/sanitized.h"

#include <stdlib.h>

#define G 9.81

static mabd_sim_def def_of(mabd_formulation formulation, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = formulation;
    return def;
}

static mabd_sim_def redmax(double h) {
    return def_of(MABD_FORMULATION_REDMAX, h);
}

// Positions of all bodies after `time`; the caller frees them.
static mabd_real* run_positions(const mabd_model* model, mabd_sim_def def, double time) {
    const size_t n = (size_t)mabd_model_body_count(model);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real* x = calloc(3 * n, sizeof *x);
    while (mabd_sim_time(sim) < time - 1e-9) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
    return x;
}

// Largest distance of a body in two formulations after `time`, from the start of the other one.
// push: a program applies a force and a torque to the first body.
static double distance_of(const mabd_model* model, mabd_formulation other, double h, double time,
                          bool push) {
    const size_t n = (size_t)mabd_model_body_count(model);
    const mabd_sim_def def = redmax(h), theirs = def_of(other, h);
    mabd_sim *a = rig_sim(model, &def), *b = rig_sim(model, &theirs);
    mabd_real* x = calloc(13 * n, sizeof *x);
    mabd_error error = {0};
    mabd_sim_get_state(b, x, x + 3 * n, x + 7 * n, x + 10 * n);
    rig_check(mabd_sim_set_state(a, x, x + 3 * n, x + 7 * n, x + 10 * n, &error), &error, "start");
    while (mabd_sim_time(a) < time - 1e-9) {
        const int32_t body = 0;
        const mabd_real force[3] = {0, 5, 0}, torque[3] = {1, 0, 0};
        if (push && mabd_sim_time(a) < 0.75 * time) { // and then no more: a jump
            rig_check(mabd_sim_apply_force(a, 1, &body, force, torque, &error), &error, "push");
            rig_check(mabd_sim_apply_force(b, 1, &body, force, torque, &error), &error, "push");
        }
        rig_step(a), rig_step(b);
    }
    const double worst = rig_apart(model, a, b);
    free(x);
    mabd_sim_destroy(a), mabd_sim_destroy(b);
    return worst;
}

// ---- agreement ---------------------------------------------------------------------------------

#define LEVELS 3

// The distance falls with the square of the step.
static void expect_agreement(const mabd_model* model, const char* name, mabd_formulation other,
                             double h, double time) {
    double errors[LEVELS];
    char text[64];
    for (int i = 0; i < LEVELS; i++)
        errors[i] = distance_of(model, other, ldexp(h, -i), time, false);
    snprintf(text, sizeof text, "%s, %s", name, mabd_formulation_name(other));
    const double order = rig_order(text, h, LEVELS, errors);
    cr_expect(ge(dbl, order, 1.75), "%s: order %g", text, order);
}

// A chain of links on balls, of a stiff material for the affine formulation.
static mabd_model* ball_chain(void) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 4;
    chain.material.young = (mabd_real)1e13;
    return rig_chain_model(&chain, (mabd_real)-G);
}

// Rods of 1 m on hinges, let go level.
static mabd_model* pendulum(int rods) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    int32_t last = MABD_WORLD;
    for (int i = 0; i < rods; i++) {
        const int32_t rod = rig_add_rod(scene, (mabd_real)i, 1, (mabd_real)0.04, (mabd_real)1e13);
        rig_add_joint(scene, MABD_JOINT_HINGE, last, rod, (mabd_real)i, 0);
        last = rod;
    }
    return rig_model(scene);
}

static void check_agreement(mabd_formulation other) {
    const struct {
        const char* name;
        mabd_model* model;
        double h;
    } cases[] = {{"pendulum", pendulum(1), 0.002},
                 {"double pendulum", pendulum(2), 0.002},
                 {"ball chain", ball_chain(), 0.002},
                 {"arm", rig_file_model("scenes/arm.json", NULL, NULL), 0.004}};
    for (int i = 0; i < 4; i++) {
        expect_agreement(cases[i].model, cases[i].name, other, cases[i].h, 0.4);
        mabd_model_destroy(cases[i].model);
    }
}

Test(redmax_mechanisms, agree_with_the_quaternion_formulation_at_second_order) {
    check_agreement(MABD_FORMULATION_QUATERNION);
}

Test(redmax_mechanisms, agree_with_the_affine_formulation_at_second_order) {
    check_agreement(MABD_FORMULATION_AFFINE);
}

// Trees of all joint types with springs, dampers, armature, servos and motors on their axes, half
// of them free in space, so that joints are passed in both directions; most with loads, drag and
// wind, and some pushed by a program.
Test(redmax_mechanisms, random_trees_agree_with_the_quaternion_formulation_at_second_order) {
    double sum[LEVELS] = {0};
    const mabd_real gravity[3] = {0, 1, (mabd_real)-G};
    mabd_error error = {0};
    for (uint64_t seed = 0; seed < AMOUNT(24, 4); seed++) {
        const random_scene_def def = {.seed = seed,
                                      .pattern = RANDOM_TREE,
                                      .bodies = 5,
                                      .grounded = seed % 2 == 0,
                                      .on_fixed = seed % 4 == 0,
                                      .controls = true,
                                      .soft = true,
                                      .wide = true,
                                      .mass_range = 3};
        mabd_scene* scene = random_scene(&def);
        rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
        uint64_t state = seed;
        if (seed % 3 > 0) redmax_case_forces(scene, def.bodies, &state);
        mabd_model* model = rig_model(scene);
        for (int32_t i = 0; i < model->class_count; i++) {
            model->classes[i].material.drag = (mabd_real)(i % 3);
        }
        for (int i = 0; i < LEVELS; i++) {
            const double h = ldexp(0.002, -i);
            const double own =
                distance_of(model, MABD_FORMULATION_QUATERNION, h, 0.1, seed % 3 > 1);
            sum[i] += own;
            if (i == LEVELS - 1) cr_expect(lt(dbl, own, 1e-3), "seed %d", (int)seed);
        }
        mabd_model_destroy(model);
    }
    cr_expect(ge(dbl, rig_order("random trees, sum", 0.002, LEVELS, sum), 1.75));
}

// Largest difference of the wrenches of all joints of random trees after 50 ms, relative to the
// largest wrench.
static double wrench_distance(uint64_t seed, double h) {
    const random_scene_def scene = {.seed = seed,
                                    .pattern = RANDOM_TREE,
                                    .bodies = 6,
                                    .grounded = seed % 2 == 0,
                                    .controls = true,
                                    .soft = true,
                                    .wide = true,
                                    .mass_range = 3};
    mabd_model* model = rig_model(random_scene(&scene));
    const size_t n = 6 * (size_t)mabd_model_joint_count(model);
    mabd_real* forces[2] = {calloc(n, sizeof **forces), calloc(n, sizeof **forces)};
    const mabd_sim_def defs[2] = {redmax(h), def_of(MABD_FORMULATION_AFFINE, h)};
    double most = 0, worst = 0;
    for (int k = 0; k < 2; k++) {
        mabd_sim* sim = rig_sim(model, &defs[k]);
        while (mabd_sim_time(sim) < 0.05 - 1e-9) rig_step(sim);
        mabd_sim_get_joint_forces(sim, forces[k]);
        mabd_sim_destroy(sim);
    }
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(forces[0][i]));
        worst = fmax(worst, fabs(forces[0][i] - forces[1][i]));
    }
    free(forces[0]), free(forces[1]);
    mabd_model_destroy(model);
    return worst / most;
}

// Force and torque on body b, at its anchor, in world axes: of rigid rows, laws and motors,
// whether the tree reaches the joint from a or from b.
Test(redmax_mechanisms, wrenches_of_joints_agree_with_the_affine_formulation) {
    double sum[LEVELS] = {0};
    for (uint64_t seed = 0; seed < AMOUNT(16, 4); seed++) {
        for (int i = 0; i < LEVELS; i++) sum[i] += wrench_distance(seed, ldexp(0.002, -i));
    }
    cr_expect(ge(dbl, rig_order("wrenches, sum", 0.002, LEVELS, sum), 1.75));
    cr_expect(lt(dbl, sum[LEVELS - 1], 2e-3));
}

// ---- whips -------------------------------------------------------------------------------------

// A chain of links of 0.1 m on hinges, let go level. Returns the largest energy above that of the
// start, relative to the energy that it can lose; *steps: steps that were divided.
static double whip(int32_t links, double h, mabd_real guard, int count, int* retries,
                   bool* failed) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links;
    chain.joint = MABD_JOINT_HINGE;
    chain.length = (mabd_real)0.1;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-G);
    mabd_sim_def def = redmax(h);
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    def.redmax.energy_guard = guard;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double most = 0, lost = 0;
    *retries = 0, *failed = false;
    for (int i = 0; i < count && !*failed; i++) {
        mabd_step_info info;
        mabd_error error = {0};
        *failed = mabd_sim_step(sim, &info, &error) != MABD_OK;
        const mabd_measure now = mabd_sim_measure(sim);
        *retries += info.retries > 0;
        most = fmax(most, now.energy - start.energy);
        lost = fmax(lost, start.gravity - now.gravity);
    }
    rig_destroy(sim, model);
    return most / lost;
}

Test(redmax_mechanisms, whips_gain_no_energy_under_the_guard) {
    const int32_t links[] = {10, 100, 1000};
    const int steps[] = {AMOUNT(500, 200), 200, 240}; // that of 1000 cracks after 4.6 s
    const double h[] = {0.01, 0.01, 0.02};
    for (int i = 0; i < AMOUNT(3, 1); i++) {
        int retries;
        bool failed;
        const double gain = whip(links[i], h[i], (mabd_real)1e-4, steps[i], &retries, &failed);
        printf("whip of %d links: gains %.1e, %d of %d steps divided\n", (int)links[i], gain,
               retries, steps[i]);
        cr_expect(not(failed));
        cr_expect(lt(dbl, gain, 1e-4), "%d links", (int)links[i]);
    }
}

// What the guard is for: without it the same chain explodes.
Test(redmax_mechanisms, a_whip_without_the_guard_gains_energy) {
    int retries;
    bool failed;
    const double gain = whip(10, 0.01, 0, AMOUNT(500, 200), &retries, &failed);
    printf("whip without the guard: gains %.1e\n", gain);
    cr_expect(failed || gain > 0.02);
}

// ---- prescribed motion -------------------------------------------------------------------------

#define AMPLITUDE 0.5
#define RATE      3.0

// A rod of 1 m on a hinge that a rigid servo turns by A sin(w t): the torque on its axis is
// J x'' + m g (l/2) cos(x) for a rod that starts level, turning downwards.
static void servo_errors(mabd_integrator integrator, bool reversed, double h, double* errors) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene((mabd_real)-G);
    const int32_t rod = rig_add_rod(scene, 0, 1, (mabd_real)0.04, 1e12);
    mabd_axis_def axis = {.servo_rigid = true};
    axis.servo = (mabd_signal){.kind = MABD_SIGNAL_SINE,
                               .amplitude = (mabd_real)AMPLITUDE,
                               .frequency = (mabd_real)(RATE / (2 * acos(-1)))};
    mabd_joint_def joint = mabd_default_joint_def();
    const mabd_real y[3] = {0, 1, 0};
    joint.type = MABD_JOINT_HINGE;
    joint.a = reversed ? rod : MABD_WORLD, joint.b = reversed ? MABD_WORLD : rod;
    cr_assert(mabd_frame_from_axes(y, NULL, joint.frame));
    joint.axes[MABD_AXIS_RX] = &axis;
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    mabd_model* model = rig_model(scene);
    const double m = 1.6, J = m * (1 + 0.04 * 0.04) / 12 + m / 4, time = 0.8;
    for (int i = 0; i < LEVELS; i++) {
        mabd_sim_def def = redmax(ldexp(h, -i));
        def.integrator = integrator;
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real force[6], x[6];
        while (mabd_sim_time(sim) < time - 1e-9) rig_step(sim);
        mabd_sim_get_joint_forces(sim, force);
        mabd_sim_get_joint_coordinates(sim, 0, x);
        const double angle = AMPLITUDE * sin(RATE * time), bend = -RATE * RATE * angle;
        // turned by x about y from +x: the rod points to (cos x, 0, -sin x); of a against the
        // world as b the turn is the other way round
        const double own = reversed ? -angle : angle;
        const double torque = J * (reversed ? -bend : bend) - m * G * 0.5 * cos(own);
        cr_expect(lt(dbl, fabs(x[MABD_AXIS_RX] - angle), 1e-12));
        errors[i] = fabs((reversed ? -force[4] : force[4]) - torque);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

Test(redmax_mechanisms, a_rigid_servo_needs_the_torque_of_inverse_dynamics) {
    for (int reversed = 0; reversed < 2; reversed++) {
        double errors[LEVELS];
        servo_errors(MABD_INTEGRATOR_BDF2, reversed, 0.01, errors);
        cr_expect(ge(dbl, rig_order("torque of a servo, bdf2", 0.01, LEVELS, errors), 1.8));
        servo_errors(MABD_INTEGRATOR_EULER, reversed, 0.01, errors);
        cr_expect(ge(dbl, rig_order("torque of a servo, euler", 0.01, LEVELS, errors), 0.85));
        servo_errors(MABD_INTEGRATOR_SDIRK2, reversed, 0.01, errors);
        cr_expect(ge(dbl, rig_order("torque of a servo, sdirk2", 0.01, LEVELS, errors), 0.85));
    }
}

// A scripted carriage and a pendulum on it: two parts of the motion, the pendulum's by Lagrange,
//   J x'' = -m g c sin x - m c s'' cos x
// x from straight down; the carriage moves by s = A sin(w t) from rest at first order only.
typedef struct carriage {
    double J, mc, A, w;
} carriage;

static double carriage_bend(const carriage* c, double x, double t) {
    const double s2 = -c->A * c->w * c->w * sin(c->w * t);
    return (-c->mc * G * sin(x) - c->mc * s2 * cos(x)) / c->J;
}

// Angle after `time` by RK4, in the frame of the carriage, whose speed A w at the start is that of
// the pendulum too.
static double carriage_reference(const carriage* c, double time) {
    const double h = 1e-4;
    double x = 0, v = 0;
    for (long i = 0; i < lround(time / h); i++) {
        const double t = (double)i * h;
        const double a1 = carriage_bend(c, x, t), v1 = v;
        const double a2 = carriage_bend(c, x + h / 2 * v1, t + h / 2), v2 = v + h / 2 * a1;
        const double a3 = carriage_bend(c, x + h / 2 * v2, t + h / 2), v3 = v + h / 2 * a2;
        const double a4 = carriage_bend(c, x + h * v3, t + h), v4 = v + h * a3;
        x += h * (v1 + 2 * v2 + 2 * v3 + v4) / 6, v += h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
    }
    return x;
}

static const char carriage_scene[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"carriage\", \"script\": {\"direction\": [1, 0, 0],"
    "  \"translation\": {\"sine\": {\"amplitude\": 0.2, \"frequency\": 0.7}}}},"
    "{\"name\": \"rod\", \"position\": [0, 0, -0.5], \"velocity\": [0.8796459430051421, 0, 0],"
    "  \"shape\": \"box\", \"size\": [0.04, 0.04, 1]}],"
    "\"joints\": [{\"type\": \"hinge\", \"a\": \"carriage\", \"b\": \"rod\", \"anchor\": [0, 0, 0],"
    "  \"axis\": [0, 1, 0]}]}";

Test(redmax_mechanisms, a_scripted_carriage_moves_a_pendulum_at_second_order) {
    const double m = 1.6, J = m * (1 + 0.04 * 0.04) / 12 + m / 4;
    const carriage c = {J, m * 0.5, 0.2, 0.7 * 2 * acos(-1)};
    const double expected = carriage_reference(&c, 1);
    const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    mabd_model* model = rig_text_model(carriage_scene);
    for (int k = 0; k < 2; k++) {
        double errors[LEVELS];
        for (int i = 0; i < LEVELS; i++) {
            mabd_sim_def def = redmax(ldexp(0.01, -i));
            def.integrator = methods[k];
            mabd_sim* sim = rig_sim(model, &def);
            mabd_real x[6];
            while (mabd_sim_time(sim) < 1 - 1e-9) rig_step(sim);
            mabd_sim_get_joint_coordinates(sim, 0, x);
            errors[i] = fabs(-x[MABD_AXIS_RX] - expected); // x grows towards -x about y
            mabd_sim_destroy(sim);
        }
        cr_expect(ge(dbl, rig_order(mabd_integrator_name(methods[k]), 0.01, LEVELS, errors), 1.8));
    }
    mabd_model_destroy(model);
}

// ---- laws of axes ------------------------------------------------------------------------------

// A mass on a damped spring, x'' + 2 z w x' + w^2 x = 0 from x = X at rest:
//   x = X e^(-z w t) (cos(u t) + z w/u sin(u t)),  u = w sqrt(1 - z^2)
static double oscillator_error(mabd_integrator integrator, double h) {
    const double m = 2, own = 0.5, k = 250, w = sqrt(k / (m + own)), z = 0.1, X = 0.1, time = 1;
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    mabd_body_def body = mabd_default_body_def();
    const mabd_real size[3] = {(mabd_real)0.1, (mabd_real)0.1, (mabd_real)0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 2000);
    body.geom_count = 1, body.geoms = &geom;
    const int32_t id = rig_add_body(scene, &body);
    mabd_axis_def axis = {.stiffness = (mabd_real)k,
                          .rest = (mabd_real)-X, // the start is X away from rest
                          .damping = (mabd_real)(2 * z * w * (m + own)),
                          .armature = (mabd_real)own};
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_PRISMATIC, joint.b = id;
    joint.axes[MABD_AXIS_TX] = &axis;
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = redmax(h);
    def.integrator = integrator;
    mabd_real* x = run_positions(model, def, time);
    const double u = w * sqrt(1 - z * z);
    const double expected =
        X * exp(-z * w * time) * (cos(u * time) + z * w / u * sin(u * time)) - X;
    const double out = fabs(x[0] - expected);
    free(x);
    mabd_model_destroy(model);
    return out;
}

Test(redmax_mechanisms, a_damped_oscillator_follows_its_closed_form) {
    const struct {
        mabd_integrator integrator;
        double order;
    } cases[] = {{MABD_INTEGRATOR_BDF2, 2},
                 {MABD_INTEGRATOR_SDIRK2, 2},
                 {MABD_INTEGRATOR_EULER, 1},
                 {MABD_INTEGRATOR_LINEAR_IMPLICIT, 1},
                 {MABD_INTEGRATOR_SEMI_IMPLICIT, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double errors[LEVELS];
        for (int i = 0; i < LEVELS; i++) {
            errors[i] = oscillator_error(cases[k].integrator, ldexp(0.002, -i));
        }
        const char* name = mabd_integrator_name(cases[k].integrator);
        const double order = rig_order(name, 0.002, LEVELS, errors);
        cr_expect(ge(dbl, order, cases[k].order - 0.2), "%s: %g", name, order);
    }
    cr_expect(lt(dbl, oscillator_error(MABD_INTEGRATOR_RK45, 0.01), 1e-9));
}

// ---- failures, threads, states -----------------------------------------------------------------

// A step of 10 s of a whip cannot be taken; the state stays, and smaller steps go on.
Test(redmax_mechanisms, a_failed_step_keeps_the_state) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    mabd_sim_def def = redmax(0.01);
    def.max_halvings = 0, def.max_iterations = 1;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_real before[6], after[6];
    mabd_sim_get_state(sim, before, NULL, NULL, NULL);
    cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_ERR_DIVERGED));
    cr_expect(error.text[0] != 0);
    mabd_sim_get_state(sim, after, NULL, NULL, NULL);
    cr_expect(eq(int, memcmp(before, after, sizeof before), 0));
    cr_expect(eq(i64, mabd_sim_step_count(sim), 0));
    rig_destroy(sim, model);
}

// A step of 1 s of a whip at its crack, without halvings: an error, and the state is the old one to
// the bit.
Test(redmax_mechanisms, a_step_that_is_too_long_returns_an_error_and_the_old_state) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 10, chain.joint = MABD_JOINT_HINGE;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-G);
    mabd_sim_def def = redmax(1);
    def.max_halvings = 0;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const size_t size = mabd_sim_state_size(sim);
    char *before = malloc(size), *after = malloc(size);
    mabd_sim_save(sim, before);
    cr_expect(eq(int, mabd_sim_step(sim, NULL, &error), MABD_ERR_DIVERGED));
    cr_expect(error.text[0] != 0);
    mabd_sim_save(sim, after);
    cr_expect(eq(int, memcmp(before, after, size), 0));
    free(before), free(after);
    rig_destroy(sim, model);
}

// Eight trees of all joint types in one scene.
static mabd_model* forest(void) {
    mabd_error error = {0};
    const mabd_real gravity[3] = {0, 0, (mabd_real)-G};
    mabd_scene* scene = rig_scene(0);
    for (uint64_t i = 0; i < 8; i++) {
        const random_scene_def def = {.seed = 100 + i,
                                      .pattern = RANDOM_TREE,
                                      .bodies = 6,
                                      .grounded = i % 2 == 0,
                                      .controls = true,
                                      .soft = true,
                                      .wide = true,
                                      .mass_range = 2};
        random_scene_add(&def, scene);
    }
    rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
    return rig_model(scene);
}

static void save_after(const mabd_model* model, int threads, int steps, void** state,
                       size_t* size) {
    mabd_sim_def def = redmax(0.002);
    def.threads = threads;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < steps; i++) rig_step(sim);
    *size = mabd_sim_state_size(sim);
    *state = malloc(*size);
    mabd_sim_save(sim, *state);
    mabd_sim_destroy(sim);
}

Test(redmax_mechanisms, any_number_of_threads_gives_the_same_bits) {
    mabd_model* model = forest();
    void *one, *other;
    size_t size, again;
    save_after(model, 1, 40, &one, &size);
    for (int threads = 2; threads <= 4; threads += 2) {
        save_after(model, threads, 40, &other, &again);
        cr_expect(eq(sz, again, size));
        cr_expect(eq(int, memcmp(one, other, size), 0), "%d threads", threads);
        free(other);
    }
    free(one);
    mabd_model_destroy(model);
}

Test(redmax_mechanisms, a_restored_state_continues_with_the_same_bits) {
    mabd_model* model = forest();
    mabd_error error = {0};
    void *middle, *whole, *end;
    size_t size;
    save_after(model, 1, 15, &middle, &size);
    save_after(model, 1, 40, &whole, &size);
    const mabd_sim_def def = redmax(0.002);
    mabd_sim* sim = rig_sim(model, &def);
    rig_check(mabd_sim_restore(sim, middle, size, &error), &error, "restore");
    for (int i = 0; i < 25; i++) rig_step(sim);
    end = malloc(size);
    mabd_sim_save(sim, end);
    cr_expect(eq(int, memcmp(whole, end, size), 0));
    free(middle), free(whole), free(end);
    rig_destroy(sim, model);
}

// The state that get_state gives is the state that set_state sets.
Test(redmax_mechanisms, a_state_set_from_its_own_poses_is_the_same_state) {
    mabd_model* model = forest();
    const mabd_sim_def def = redmax(0.002);
    const size_t n = (size_t)mabd_model_body_count(model);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_real* x = calloc(26 * n, sizeof *x);
    for (int i = 0; i < 30; i++) rig_step(sim);
    mabd_sim_get_state(sim, x, x + 3 * n, x + 7 * n, x + 10 * n);
    rig_check(mabd_sim_set_state(sim, x, x + 3 * n, x + 7 * n, x + 10 * n, &error), &error, "set");
    mabd_real* y = x + 13 * n;
    mabd_sim_get_state(sim, y, y + 3 * n, y + 7 * n, y + 10 * n);
    double worst = 0;
    for (size_t i = 0; i < 13 * n; i++) { // quaternions up to their sign
        const bool turn = i >= 3 * n && i < 7 * n;
        const double other = turn ? fabs(fabs(x[i]) - fabs(y[i])) : fabs(x[i] - y[i]);
        worst = fmax(worst, other);
    }
    cr_expect(lt(dbl, worst, 1e-11), "%g", worst);
    free(x);
    rig_destroy(sim, model);
}

Test(redmax_mechanisms, a_step_allocates_nothing_and_every_failing_allocation_is_returned) {
    mabd_model* model = rig_file_model("scenes/tree.json", NULL, NULL);
    for (int fail = 0;; fail++) {
        counting_allocator counter = {.fail_at = fail};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def = redmax(0.002);
        mabd_error error = {0};
        mabd_sim* sim;
        def.allocator = &allocator;
        const mabd_status status = mabd_sim_create(model, &def, &sim, &error);
        if (status == MABD_OK) {
            const int64_t calls = counter.calls;
            // blocks are whole lines of the cache; there are three
            const int64_t spare = counter.live_bytes - (int64_t)mabd_sim_bytes(sim);
            cr_expect(spare >= 0 && spare < 3 * 64, "%d", (int)spare);
            for (int i = 0; i < 5; i++) rig_step(sim);
            cr_expect(eq(i64, counter.calls, calls));
            mabd_sim_plan* plan = calloc(1, sizeof *plan);
            rig_check(mabd_sim_get_plan(model, &def, plan, &error), &error, "plan");
            cr_expect(eq(sz, plan->bytes_sim, mabd_sim_bytes(sim)));
            free(plan);
            mabd_sim_destroy(sim);
        }
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, counter.wrong_frees, 0));
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
        cr_assert(lt(int, fail, 40));
    }
    mabd_model_destroy(model);
}
