// SPDX-License-Identifier: Apache-2.0
// Tests for user input to a simulation between steps (src/sim/sim_input.c): states, forces for one
// step, copies, targets on a model without copies. Oracles are Newton's law for whole systems,
// scenes with the same numbers, and the bits of a second simulation.
#include "mabd/mabd.h"
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>

#define H 0.01

static mabd_sim* start(const mabd_model* model) {
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    return rig_sim(model, &def);
}

static mabd_model* free_chain(int links, mabd_joint type) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links, chain.joint = type, chain.pinned = false;
    return rig_chain_model(&chain, 0);
}

typedef struct snapshot {
    size_t size;
    void* bytes;
} snapshot;

static snapshot take(const mabd_sim* sim) {
    snapshot s = {mabd_sim_state_size(sim), NULL};
    s.bytes = malloc(s.size);
    mabd_sim_save(sim, s.bytes);
    return s;
}
static bool same(snapshot a, snapshot b) {
    const bool equal = a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
    free(a.bytes), free(b.bytes);
    return equal;
}

static void push(mabd_sim* sim, int32_t body, const mabd_real* force, const mabd_real* torque) {
    mabd_error error = {0};
    rig_check(mabd_sim_apply_force(sim, 1, &body, force, torque, &error), &error, "force");
}

// ---- forces ------------------------------------------------------------------------------------

static const char* const crate =
    "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"crate\", \"shape\": \"box\","
    " \"size\": [0.2, 0.3, 0.4], \"mass\": 3, \"position\": [1, 2, 3]}]}";

// A constant force over one step: v = F h/m, x = F h^2/(2 m), then v stays. The step that starts or
// ends a push is one of SDIRK2, exact for a constant acceleration, both at the start and in the
// middle of a run.
Test(sim_input, a_force_moves_a_free_body_by_newtons_law) {
    mabd_model* model = rig_text_model(crate);
    const mabd_real force[3] = {3, -6, 9}, m = 3;
    for (int wait = 0; wait < 6; wait += 5) {
        mabd_sim* sim = start(model);
        mabd_real x[3], v[3];
        for (int i = 0; i < wait; i++) rig_step(sim);
        push(sim, 0, force, NULL);
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        for (int k = 0; k < 3; k++) {
            // round-off of a position of 3 m over a substep of 0.3 h
            cr_expect(epsilon_eq(dbl, v[k], force[k] * H / m, 1e-12));
            cr_expect(epsilon_eq(dbl, x[k] - (k + 1), force[k] * H * H / m / 2, 1e-13));
        }
        for (int i = 0; i < 3; i++) rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        for (int k = 0; k < 3; k++) {
            cr_expect(epsilon_eq(dbl, v[k], force[k] * H / m, 1e-12), "gone after one step");
            cr_expect(epsilon_eq(dbl, x[k] - (k + 1), force[k] * H * H / m * 3.5, 1e-12));
        }
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// A torque about a principal axis: omega = tau h/I, I = m (b^2 + c^2)/12; the rotation is tau
// h^2/(2 I).
Test(sim_input, a_torque_turns_a_free_body_by_eulers_law) {
    mabd_model* model = rig_text_model(crate);
    const mabd_real inertia[3] = {3 * 0.25 / 12, 3 * 0.20 / 12, 3 * 0.13 / 12};
    for (int k = 0; k < 3; k++) {
        mabd_sim* sim = start(model);
        mabd_real torque[3] = {0, 0, 0}, w[3], q[4];
        torque[k] = 0.2;
        push(sim, 0, NULL, torque);
        rig_step(sim);
        mabd_sim_get_state(sim, NULL, q, NULL, w);
        cr_expect(epsilon_eq(dbl, w[k], 0.2 * H / inertia[k], 2e-6), "%g",
                  w[k] - 0.2 * H / inertia[k]);
        cr_expect(epsilon_eq(dbl, 2 * q[1 + k], 0.2 * H * H / inertia[k] / 2, 1e-6));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// The momenta of a free system change by F h and (r x F + tau) h for any joints inside it. Chains
// use lanes and segments, a star has a junction.
static void expect_momenta(mabd_model* model, int32_t body, double tolerance) {
    const size_t n = (size_t)mabd_model_body_count(model);
    mabd_real* x = malloc(3 * n * sizeof *x);
    const mabd_real F[3] = {2, -1, 0.5}, tau[3] = {0.01, 0.02, -0.03};
    mabd_sim* sim = start(model);
    for (int i = 0; i < 2; i++) rig_step(sim);
    const mabd_measure before = mabd_sim_measure(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    push(sim, body, F, tau);
    rig_step(sim);
    const mabd_measure after = mabd_sim_measure(sim);
    const mabd_real* r = x + 3 * (size_t)body; // of the frame, which lies at the centre of mass
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double moment = r[i] * F[j] - r[j] * F[i] + tau[k];
        cr_expect(epsilon_eq(dbl, after.linear_momentum[k] - before.linear_momentum[k], F[k] * H,
                             1e-10)); // round-off of positions over a substep, times the mass
        cr_expect(epsilon_eq(dbl, after.angular_momentum[k] - before.angular_momentum[k],
                             moment * H, tolerance),
                  "%g", after.angular_momentum[k] - before.angular_momentum[k] - moment * H);
    }
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    free(x);
}

Test(sim_input, momenta_of_a_pushed_system_change_by_the_force) {
    expect_momenta(free_chain(11, MABD_JOINT_BALL), 3, 1e-5);
    expect_momenta(free_chain(700, MABD_JOINT_BALL), 351, 1e-3);
    expect_momenta(free_chain(700, MABD_JOINT_HINGE), 352, 1e-3);
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    mabd_star_def star = mabd_default_star_def();
    star.arms = 40, star.pinned = false;
    rig_check(mabd_generate_star(scene, &star, &error), &error, "star");
    expect_momenta(rig_model(scene), 0, 1e-4);
}

Test(sim_input, forces_add_up) {
    mabd_model* model = free_chain(20, MABD_JOINT_BALL);
    mabd_sim *a = start(model), *b = start(model);
    mabd_error error = {0};
    const mabd_real one[3] = {1, 2, 4}, two[3] = {-3, 0.5, 0.25}, sum[3] = {-2, 2.5, 4.25};
    const mabd_real both[6] = {1, 2, 4, -3, 0.5, 0.25};
    const int32_t twice[2] = {5, 5};
    push(a, 5, one, NULL), push(a, 5, two, NULL), push(a, 5, NULL, one), push(a, 5, NULL, two);
    push(b, 5, sum, sum);
    cr_expect(same(take(a), take(b)), "pending");
    rig_step(a), rig_step(b);
    cr_expect(same(take(a), take(b)));
    mabd_sim_reset(a), mabd_sim_reset(b);
    rig_check(mabd_sim_apply_force(a, 2, twice, both, NULL, &error), &error, "both");
    push(b, 5, sum, NULL);
    rig_step(a), rig_step(b);
    cr_expect(same(take(a), take(b)), "entries of one call");
    mabd_sim_destroy(a), mabd_sim_destroy(b);
    mabd_model_destroy(model);
}

Test(sim_input, pending_forces_are_saved_and_cleared_by_a_reset) {
    mabd_model* model = free_chain(20, MABD_JOINT_HINGE);
    mabd_sim *a = start(model), *b = start(model), *fresh = start(model);
    mabd_error error = {0};
    const mabd_real force[3] = {1, 2, 4};
    rig_step(a);
    push(a, 7, force, force);
    const snapshot s = take(a);
    rig_check(mabd_sim_restore(b, s.bytes, s.size, &error), &error, "restore");
    for (int i = 0; i < 3; i++) {
        rig_step(a), rig_step(b);
        cr_expect(same(take(a), take(b)), "step %d", i);
    }
    cr_expect(eq(int, mabd_sim_restore(b, s.bytes, s.size - 1, &error), MABD_ERR_INPUT));
    push(a, 7, force, NULL);
    mabd_sim_reset(a);
    cr_expect(same(take(a), take(fresh)));
    free(s.bytes);
    mabd_sim_destroy(a), mabd_sim_destroy(b), mabd_sim_destroy(fresh);
    mabd_model_destroy(model);
}

Test(sim_input, forces_are_the_same_on_the_executor) {
    if (!mabd_backend_get_info(MABD_BACKEND_EXECUTOR).built) cr_skip("without the executor");
    mabd_model* model = free_chain(40, MABD_JOINT_HINGE);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, H);
    mabd_sim* cpu = rig_sim(model, &def);
    def.backend = MABD_BACKEND_EXECUTOR;
    mabd_sim* device = rig_sim(model, &def);
    const mabd_real force[3] = {1, 2, 4};
    mabd_real x[2][3 * 40], v[2][3 * 40];
    for (int i = 0; i < 4; i++) {
        if (i != 1) push(cpu, 7 + i, force, force), push(device, 7 + i, force, force);
        mabd_sim_measure(device); // reading the state must not lose pending forces
        rig_step(cpu), rig_step(device);
    }
    mabd_sim_get_state(cpu, x[0], NULL, v[0], NULL);
    mabd_sim_get_state(device, x[1], NULL, v[1], NULL);
    cr_expect(ge(dbl, fabs(v[0][3 * 7]), 1e-3), "they move");
    for (int i = 0; i < 120; i++) {
        cr_expect(epsilon_eq(dbl, x[0][i], x[1][i], 1e-11));
        cr_expect(epsilon_eq(dbl, v[0][i], v[1][i], 1e-9));
    }
    mabd_sim_destroy(cpu), mabd_sim_destroy(device);
    mabd_model_destroy(model);
}

Test(sim_input, bad_forces_are_refused_as_a_whole) {
    mabd_model* model =
        rig_text_model("{\"bodies\": [{\"name\": \"crate\", \"shape\": \"sphere\", \"radius\": 1},"
                       "{\"name\": \"wall\", \"fixed\": true, \"shape\": \"sphere\", \"radius\": 1,"
                       " \"position\": [9, 0, 0]}]}");
    mabd_sim* sim = start(model);
    mabd_error error = {0};
    const int32_t bodies[2] = {0, 1}, beyond[2] = {0, 2}, below[1] = {-1};
    const mabd_real forces[6] = {1, 0, 0, 1, 0, 0}, quiet[6] = {1, 0, 0, 0, 0, 0};
    const mabd_real nan[6] = {1, 0, 0, 0, NAN, 0};
    const snapshot before = take(sim);
    cr_expect(eq(int, mabd_sim_apply_force(NULL, 1, bodies, forces, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_apply_force(sim, 1, NULL, forces, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_apply_force(sim, -1, bodies, forces, NULL, NULL), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_apply_force(sim, 2, beyond, forces, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(str, error.text, "apply_force: body 2 does not exist (there are 2)"));
    cr_expect(eq(int, mabd_sim_apply_force(sim, 1, below, forces, NULL, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_apply_force(sim, 2, bodies, forces, NULL, &error), MABD_ERR_ARG));
    cr_expect_not_null(strstr(error.text, "body 'wall' has no effect"), "%s", error.text);
    cr_expect(eq(int, mabd_sim_apply_force(sim, 2, bodies, NULL, nan, &error), MABD_ERR_ARG));
    cr_expect_not_null(strstr(error.text, "body 'wall' is not finite"), "%s", error.text);
    cr_expect(eq(int, mabd_sim_apply_force(sim, 0, NULL, NULL, NULL, &error), MABD_OK));
    cr_expect(same(before, take(sim)), "nothing was added");
    cr_expect(eq(int, mabd_sim_apply_force(sim, 2, bodies, quiet, NULL, &error), MABD_OK));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// ---- states ------------------------------------------------------------------------------------

typedef struct state {
    mabd_real *x, *q, *v, *w;
} state;

static state get(const mabd_sim* sim) {
    const size_t n = (size_t)mabd_model_body_count(mabd_sim_model(sim));
    state s = {malloc(3 * n * sizeof *s.x), malloc(4 * n * sizeof *s.x),
               malloc(3 * n * sizeof *s.x), malloc(3 * n * sizeof *s.x)};
    mabd_sim_get_state(sim, s.x, s.q, s.v, s.w);
    return s;
}
static void drop(state s) {
    free(s.x), free(s.q), free(s.v), free(s.w);
}

static void expect_near(const mabd_real* a, const mabd_real* b, size_t n, double tolerance) {
    for (size_t i = 0; i < n; i++) {
        cr_expect(epsilon_eq(dbl, a[i], b[i], tolerance), "%zu: %g", i, a[i] - b[i]);
    }
}

// A pendulum of three links in motion: its state is read and set again. Compared are poses,
// momenta, and the following motion. BDF2 leaves velocities off the joints by O(h^2), which setting
// them projects away: (omega h)^2 of the speed.
Test(sim_input, a_state_that_is_read_can_be_set) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 3, chain.joint = MABD_JOINT_HINGE;
    mabd_model* model = rig_chain_model(&chain, -9.81);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 1e-3);
    mabd_sim *a = rig_sim(model, &def), *b = NULL;
    mabd_error error = {0};
    for (int i = 0; i < 200; i++) rig_step(a);
    const state s = get(a);
    rig_check(mabd_sim_clone(a, &b, &error), &error, "clone");
    rig_check(mabd_sim_set_state(b, s.x, s.q, s.v, s.w, &error), &error, "set");
    const state t = get(b);
    double spin = 0;
    for (int i = 0; i < 9; i++) spin = fmax(spin, fabs(s.w[i]));
    const double part = spin * spin * 1e-6; // (omega h)^2
    expect_near(t.x, s.x, 9, 1e-12), expect_near(t.q, s.q, 12, 1e-12);
    expect_near(t.v, s.v, 9, spin * part), expect_near(t.w, s.w, 9, spin * part);
    const mabd_measure ma = mabd_sim_measure(a), mb = mabd_sim_measure(b);
    const double m = mabd_model_body_mass(model, 0).mass;
    expect_near(mb.linear_momentum, ma.linear_momentum, 3, 3 * m * spin * part);
    expect_near(mb.angular_momentum, ma.angular_momentum, 3, 3 * m * spin * part);
    cr_expect(eq(int, (int)mabd_sim_step_count(b), 200), "time does not change");
    for (int i = 0; i < 20; i++) rig_step(a), rig_step(b);
    const state later = get(a), other = get(b);
    expect_near(other.x, later.x, 9, 20e-3 * spin * part);
    drop(s), drop(t), drop(later), drop(other);
    mabd_sim_destroy(a), mabd_sim_destroy(b);
    mabd_model_destroy(model);
}

Test(sim_input, arrays_that_are_null_leave_their_part) {
    mabd_model* model = rig_text_model(crate);
    mabd_sim* sim = start(model);
    mabd_error error = {0};
    const mabd_real x[3] = {7, 8, 9}, q[4] = {2, 0, 0, 2}, v[3] = {1, 0, 0}, w[3] = {0, 0, 3};
    const mabd_real half = sqrt(0.5), unit[4] = {half, 0, 0, half};
    rig_check(mabd_sim_set_state(sim, NULL, NULL, v, NULL, &error), &error, "velocity");
    rig_check(mabd_sim_set_state(sim, NULL, NULL, NULL, w, &error), &error, "spin");
    rig_check(mabd_sim_set_state(sim, NULL, q, NULL, NULL, &error), &error, "rotation");
    rig_check(mabd_sim_set_state(sim, x, NULL, NULL, NULL, &error), &error, "position");
    rig_check(mabd_sim_set_state(sim, NULL, NULL, NULL, NULL, &error), &error, "nothing");
    const state s = get(sim);
    expect_near(s.x, x, 3, 1e-14), expect_near(s.q, unit, 4, 1e-14);
    expect_near(s.v, v, 3, 1e-14), expect_near(s.w, w, 3, 1e-14);
    drop(s);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(sim_input, a_state_with_an_open_joint_is_refused_whole) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 3, chain.joint = MABD_JOINT_HINGE;
    mabd_model* model = rig_chain_model(&chain, -9.81);
    mabd_sim* sim = start(model);
    mabd_error error = {0};
    for (int i = 0; i < 5; i++) rig_step(sim);
    const snapshot before = take(sim);
    const state s = get(sim);
    s.x[3 * 2 + 2] += 0.25;
    cr_expect(eq(int, mabd_sim_set_state(sim, s.x, s.q, NULL, NULL, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, error.joint, 2));
    cr_expect_not_null(strstr(error.text, "is open by 0.25 m"), "%s", error.text);
    s.x[3 * 2 + 2] = NAN;
    cr_expect(eq(int, mabd_sim_set_state(sim, s.x, s.q, NULL, NULL, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, error.body, 2));
    memset(s.q + 4, 0, 4 * sizeof *s.q);
    cr_expect(eq(int, mabd_sim_set_state(sim, NULL, s.q, NULL, NULL, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, error.body, 1));
    cr_expect(eq(int, mabd_sim_set_state(NULL, s.x, NULL, NULL, NULL, &error), MABD_ERR_ARG));
    cr_expect(same(before, take(sim)), "nothing was set");
    drop(s);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(sim_input, a_state_is_set_on_the_executor) {
    if (!mabd_backend_get_info(MABD_BACKEND_EXECUTOR).built) cr_skip("without the executor");
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 3, chain.joint = MABD_JOINT_HINGE;
    mabd_model* model = rig_chain_model(&chain, -9.81);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, H);
    mabd_sim* cpu = rig_sim(model, &def);
    def.backend = MABD_BACKEND_EXECUTOR;
    mabd_sim* device = rig_sim(model, &def);
    mabd_error error = {0};
    for (int i = 0; i < 5; i++) rig_step(cpu);
    rig_step(device);
    const state s = get(cpu);
    rig_check(mabd_sim_set_state(cpu, s.x, s.q, s.v, s.w, &error), &error, "set");
    rig_check(mabd_sim_set_state(device, s.x, s.q, s.v, s.w, &error), &error, "set");
    for (int i = 0; i < 5; i++) rig_step(cpu), rig_step(device);
    const state a = get(cpu), b = get(device);
    expect_near(a.x, b.x, 9, 1e-11), expect_near(a.v, b.v, 9, 1e-9);
    drop(s), drop(a), drop(b);
    mabd_sim_destroy(cpu), mabd_sim_destroy(device);
    mabd_model_destroy(model);
}

// ---- clones ------------------------------------------------------------------------------------

Test(sim_input, a_clone_steps_to_the_same_bits_and_alone) {
    mabd_model* model = rig_file_model("scenes/stack.json", NULL, NULL);
    mabd_sim *a = start(model), *b = NULL;
    mabd_error error = {0};
    const mabd_real force[3] = {5, 0, 0};
    for (int i = 0; i < 5; i++) rig_step(a);
    push(a, mabd_model_body_count(model) - 1, force, NULL);
    rig_check(mabd_sim_clone(a, &b, &error), &error, "clone");
    cr_expect(eq(int, (int)mabd_sim_step_count(b), 5));
    cr_expect(same(take(a), take(b)));
    rig_step(a);
    const snapshot one = take(a);
    for (int i = 0; i < 3; i++) rig_step(a);
    rig_step(b);
    cr_expect(same(one, take(b)), "steps of one do not move the other");
    for (int i = 0; i < 3; i++) rig_step(b);
    mabd_sim* c = b;
    cr_expect(same(take(a), take(b)));
    mabd_sim_destroy(a);
    rig_step(b);
    cr_expect(eq(int, mabd_sim_clone(NULL, &c, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_clone(b, NULL, &error), MABD_ERR_ARG));
    mabd_sim_destroy(b);
    mabd_model_destroy(model);
}

// ---- targets -----------------------------------------------------------------------------------

static mabd_model* robot(double first, double second) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"bodies\": ["
             "{\"name\": \"one\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": "
             "[0.2, 0, 0]},"
             "{\"name\": \"two\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": "
             "[0.6, 0, 0]}], \"joints\": ["
             "{\"type\": \"hinge\", \"b\": \"one\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": "
             "{\"servo\": %.17g, \"servo_stiffness\": 500, \"servo_damping\": 20}}},"
             "{\"type\": \"hinge\", \"a\": \"one\", \"b\": \"two\", \"anchor\": [0.4, 0, 0], "
             "\"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"motor\": %.17g}}}]}",
             first, second);
    return rig_text_model(text);
}

// A target set through the API acts like the same number in the scene.
Test(sim_input, targets_move_a_model_without_copies) {
    mabd_model *model = robot(0, 0), *other = robot(0.3, -0.7);
    mabd_sim *sim = start(model), *expected = start(other);
    mabd_error error = {0};
    const mabd_real targets[2] = {0.3, -0.7};
    const mabd_real bad[2] = {0.3, NAN};
    mabd_real x[2], rates[2];
    cr_assert(eq(int, mabd_model_copy_count(model), 0));
    cr_assert(eq(int, mabd_model_control_count(model), 2));
    cr_expect(eq(int, mabd_model_control(model, 0).kind, MABD_CONTROL_POSITION));
    cr_expect(eq(int, mabd_model_control(model, 1).kind, MABD_CONTROL_FORCE));
    cr_expect(eq(int, mabd_sim_set_targets(sim, 0, 2, NULL, targets, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_set_targets(sim, 0, 1, NULL, bad, &error), MABD_ERR_ARG));
    rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, targets, &error), &error, "targets");
    for (int i = 0; i < 50; i++) rig_step(sim), rig_step(expected);
    const state a = get(sim), b = get(expected);
    cr_expect(eq(int, memcmp(a.x, b.x, 6 * sizeof *a.x), 0));
    mabd_sim_get_controls(sim, x, rates);
    cr_expect(ge(dbl, x[0], 0.2), "%g", x[0]);
    drop(a), drop(b);
    mabd_sim_destroy(sim), mabd_sim_destroy(expected);
    mabd_model_destroy(model), mabd_model_destroy(other);
}

// Joints added by one call share their axes in the scene, but each has its own target.
Test(sim_input, joints_of_one_call_have_targets_of_their_own) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    mabd_joint_def def = mabd_default_joint_def();
    int32_t a[3] = {MABD_WORLD, MABD_WORLD, MABD_WORLD}, b[3];
    mabd_real anchors[9] = {0}, x[3], rates[3];
    for (int i = 0; i < 3; i++) b[i] = rig_add_rod(scene, 2 * i, 1, 0.1, 2e11);
    for (int i = 0; i < 3; i++) anchors[3 * i] = 2 * i;
    def.type = MABD_JOINT_HINGE;
    mabd_axis_def axis = {0};
    axis.servo = mabd_signal_constant(0);
    axis.servo_stiffness = 1e4, axis.servo_damping = 1e3;
    def.axes[MABD_AXIS_RX] = &axis;
    rig_check(mabd_scene_add_joint_n(scene, &def, 3, a, b, anchors, NULL, NULL, &error), &error,
              "joints");
    mabd_model* model = rig_model(scene);
    mabd_sim* sim = start(model);
    const mabd_real targets[3] = {0.1, -0.2, 0.3};
    cr_assert(eq(int, mabd_model_control_count(model), 3));
    rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, targets, &error), &error, "targets");
    for (int i = 0; i < 200; i++) rig_step(sim);
    mabd_sim_get_controls(sim, x, rates);
    expect_near(x, targets, 3, 1e-3);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}
