// SPDX-License-Identifier: Apache-2.0
// Jumps of controls and forces in batches (src/formulation/affine/jumps.c, copies.c): only the copy
// that has one restarts. The oracle is each copy alone, bit for bit, whatever the others do.
#include "mabd/mabd.h"
#include "support/plain_sim.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS    60
#define COPIES   5
#define BODIES   5
#define CONTROLS 4

// A servo, a damped ball joint, a motor beside a spring, a motor alone, a rigid servo; a force by
// steps, which begin at different times in the copies.
static const char* const mechanism =
    "{\"params\": {\"mass\": {\"default\": 1, \"unit\": \"kg\", \"meaning\": \"m\"},"
    "\"begin\": {\"default\": 0, \"unit\": \"s\", \"meaning\": \"b\"}},"
    "\"bodies\": ["
    "{\"name\": \"one\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.2, 0, 0],"
    " \"mass\": \"=mass\"},"
    "{\"name\": \"two\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.6, 0, 0]},"
    "{\"name\": \"three\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [1, 0, 0]},"
    "{\"name\": \"four\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [1.2, 0, "
    "0]},"
    "{\"name\": \"free\", \"shape\": \"box\", \"size\": [0.3, 0.2, 0.1], \"position\": [0, 2, 0],"
    " \"angular_velocity\": [3, 1, 2]}],"
    "\"forces\": [{\"body\": \"free\", \"force\": [0, 0, 20], \"point\": [0.1, 0, 0],"
    " \"signal\": {\"steps\": {\"times\": [0, \"=begin\", \"=begin+0.11\"],"
    " \"values\": [0.5, 1, 0.2]}}}],"
    "\"joints\": ["
    "{\"type\": \"hinge\", \"b\": \"one\", \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"servo\": 0.1,"
    " \"servo_stiffness\": 50, \"servo_damping\": 2, \"motor\": 0}}},"
    "{\"type\": \"ball\", \"a\": \"one\", \"b\": \"two\", \"anchor\": [0.4, 0, 0], \"axes\": {"
    "\"rx\": {\"stiffness\": 20, \"damping\": 1}, \"ry\": {\"stiffness\": 20, \"damping\": 1},"
    "\"rz\": {\"stiffness\": 20, \"damping\": 1, \"armature\": 0.01}}},"
    "{\"type\": \"hinge\", \"a\": \"two\", \"b\": \"three\", \"anchor\": [0.8, 0, 0],"
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"motor\": -0.1}}},"
    "{\"type\": \"prismatic\", \"a\": \"three\", \"b\": \"four\", \"anchor\": [1.2, 0, 0],"
    " \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"servo\": 0, \"servo_rigid\": true}}}]}";

static mabd_scene* make_scene(int32_t copy) {
    char mass[40], begin[40];
    snprintf(mass, sizeof mass, "%.17g", 0.5 + 0.3 * copy);
    snprintf(begin, sizeof begin, "%.17g", 0.1 + 0.03 * copy);
    const mabd_setting settings[] = {{"mass", mass}, {"begin", begin}};
    return plain_scene(mechanism, 2, settings);
}

static mabd_model* build_batch(void) {
    mabd_error error = {0};
    mabd_scene* batch;
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int32_t c = 0; c < COPIES; c++) {
        mabd_scene* copy = make_scene(c);
        cr_assert(eq(int, mabd_scene_add_copy(batch, copy, &error), MABD_OK), "%s", error.text);
        mabd_scene_destroy(copy);
    }
    return plain_build(batch);
}

static mabd_sim* start(const mabd_model* model, mabd_integrator integrator, int32_t threads) {
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim;
    def.integrator = integrator, def.threads = threads;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

// Input of copy c before a step; `at`: its number in the simulation. Targets change every c + 2
// steps and are set again in every step; one copy is pushed, one returns to its signals.
static void act(mabd_sim* sim, int32_t c, int32_t at, int step) {
    mabd_error error = {0};
    const int held = step / (c + 2);
    const mabd_real values[CONTROLS] = {0.1 + 0.05 * (held % 3), 0.2 * (held % 2),
                                        -0.1 * (held % 4), 0.001 * step};
    if (c == 4) return; // its force alone jumps
    if (c == 3 && step >= 25) {
        cr_assert(eq(int, mabd_sim_clear_targets(sim, at, 1, &error), MABD_OK));
    } else {
        cr_assert(eq(int, mabd_sim_set_targets(sim, at, 1, NULL, values, &error), MABD_OK));
    }
    if (c == 1 && step >= 13 && step < 18) {
        const int32_t body = at * BODIES + 1;
        const mabd_real force[3] = {0, step < 15 ? 3 : 5, 1};
        cr_assert(eq(int, mabd_sim_apply_force(sim, 1, &body, force, NULL, &error), MABD_OK));
    }
}

static void act_all(mabd_sim* sim, int step) {
    for (int32_t c = 0; c < COPIES; c++) act(sim, c, c, step);
}

// Position, quaternion, velocity, angular velocity of the bodies, and forces of the joints.
typedef struct state {
    mabd_real position[COPIES * BODIES * 3], rotation[COPIES * BODIES * 4],
        velocity[COPIES * BODIES * 3], angular[COPIES * BODIES * 3], force[COPIES * CONTROLS * 6];
} state;

static state* state_of(const mabd_sim* sim) {
    state* s = calloc(1, sizeof *s);
    mabd_sim_get_state(sim, s->position, s->rotation, s->velocity, s->angular);
    mabd_sim_get_joint_forces(sim, s->force);
    return s;
}

static void expect_copy(const mabd_sim* batch, int32_t c, const mabd_sim* alone, int step) {
    state *all = state_of(batch), *one = state_of(alone);
    const size_t n = BODIES * sizeof(mabd_real), at = (size_t)(BODIES * c);
    bool same = memcmp(all->position + 3 * at, one->position, 3 * n) == 0;
    same &= memcmp(all->rotation + 4 * at, one->rotation, 4 * n) == 0;
    same &= memcmp(all->velocity + 3 * at, one->velocity, 3 * n) == 0;
    same &= memcmp(all->angular + 3 * at, one->angular, 3 * n) == 0;
    same &=
        memcmp(all->force + 6 * CONTROLS * c, one->force, 6 * CONTROLS * sizeof(mabd_real)) == 0;
    cr_assert(same, "copy %d, step %d", (int)c, step);
    free(all);
    free(one);
}

static void compare(mabd_integrator integrator, int32_t threads) {
    mabd_model *model = build_batch(), *models[COPIES];
    mabd_sim *batch = start(model, integrator, threads), *alone[COPIES];
    int mixed = 0;
    for (int32_t c = 0; c < COPIES; c++) {
        models[c] = plain_build(make_scene(c));
        alone[c] = start(models[c], integrator, 1);
    }
    for (int i = 0; i < STEPS; i++) {
        int32_t most = 0, least = INT32_MAX;
        act_all(batch, i);
        plain_advance(batch, 1);
        for (int32_t c = 0; c < COPIES; c++) {
            mabd_error error = {0};
            mabd_step_info info;
            act(alone[c], c, 0, i);
            cr_assert(eq(int, mabd_sim_step(alone[c], &info, &error), MABD_OK), "%s", error.text);
            most = info.iterations > most ? info.iterations : most;
            least = info.iterations < least ? info.iterations : least;
            expect_copy(batch, c, alone[c], i);
        }
        mixed += most > least;
    }
    cr_expect(lt(int, STEPS / 2, mixed)); // copies do restart at different times
    for (int32_t c = 0; c < COPIES; c++) {
        mabd_sim_destroy(alone[c]);
        mabd_model_destroy(models[c]);
    }
    mabd_sim_destroy(batch);
    mabd_model_destroy(model);
}

Test(batch_jumps, a_copy_has_its_bits_alone_whatever_jumps_elsewhere) {
    compare(MABD_INTEGRATOR_BDF2, 1);
    compare(MABD_INTEGRATOR_BDF2_LINEAR, 1);
}

Test(batch_jumps, and_with_several_threads) {
    compare(MABD_INTEGRATOR_BDF2, 3);
}

// Save after the input of a step and before it; the state tells the resumed run what has jumped.
static void resume_at(const mabd_model* model, int step) {
    mabd_error error = {0};
    mabd_sim *sim = start(model, MABD_INTEGRATOR_BDF2, 1),
             *resumed = start(model, MABD_INTEGRATOR_BDF2, 1);
    for (int i = 0; i < step; i++) {
        act_all(sim, i);
        plain_advance(sim, 1);
    }
    act_all(sim, step);
    const size_t size = mabd_sim_state_size(sim);
    void* saved = malloc(size);
    mabd_sim_save(sim, saved);
    cr_assert(eq(int, mabd_sim_restore(resumed, saved, size, &error), MABD_OK), "%s", error.text);
    free(saved);
    for (int i = step; i < step + 4; i++) {
        if (i > step) act_all(sim, i), act_all(resumed, i);
        plain_advance(sim, 1), plain_advance(resumed, 1);
        state *a = state_of(sim), *b = state_of(resumed);
        cr_assert(eq(int, memcmp(a, b, sizeof *a), 0), "resumed at %d, step %d", step, i);
        free(a);
        free(b);
    }
    mabd_sim_destroy(sim);
    mabd_sim_destroy(resumed);
}

Test(batch_jumps, a_run_that_is_resumed_restarts_at_the_same_steps) {
    mabd_model* batch = build_batch();
    for (int step = 8; step < 32; step++) resume_at(batch, step);
    mabd_model_destroy(batch);
}

// A failed step does not use up its jump: repeated, it is the step that it would have been.
Test(batch_jumps, a_step_that_failed_keeps_its_jump) {
    mabd_error error = {0};
    mabd_model* model = plain_build(make_scene(0));
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim *good, *failed;
    def.max_halvings = 0; // a failed step keeps the history
    cr_assert(eq(int, mabd_sim_create(model, &def, &good, &error), MABD_OK));
    cr_assert(eq(int, mabd_sim_create(model, &def, &failed, &error), MABD_OK));
    plain_advance(good, 5), plain_advance(failed, 5);
    const mabd_real bad[CONTROLS] = {0.1, 1e200, -0.1, 0}, next[CONTROLS] = {0.4, 0.1, -0.1, 0};
    cr_assert(eq(int, mabd_sim_set_targets(failed, 0, 1, NULL, bad, &error), MABD_OK));
    cr_expect(ne(int, mabd_sim_step(failed, NULL, &error), MABD_OK));
    for (int i = 0; i < 5; i++) {
        cr_assert(eq(int, mabd_sim_set_targets(good, 0, 1, NULL, next, &error), MABD_OK));
        cr_assert(eq(int, mabd_sim_set_targets(failed, 0, 1, NULL, next, &error), MABD_OK));
        plain_advance(good, 1), plain_advance(failed, 1);
        state *a = state_of(good), *b = state_of(failed);
        cr_expect(eq(int, memcmp(a->position, b->position, 3 * BODIES * sizeof(mabd_real)), 0),
                  "%d", i);
        free(a);
        free(b);
    }
    mabd_sim_destroy(good);
    mabd_sim_destroy(failed);
    mabd_model_destroy(model);
}
