// SPDX-License-Identifier: Apache-2.0
// Simulations with each choice of the dual solver: nets over many steps, gaps at the bodies,
// memory, restored states, the choice itself.
#include "support/counting_allocator.h"
#include "support/malloc_count.h"
#include "support/plain_sim.h"
#include "support/sanitized.h"

#include "base/hash.h"
#include "mabd/sim.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS AMOUNT(100, 20)

// young [Pa]: of bodies without their own.
static mabd_model* load_young(const char* name, int32_t count, const mabd_setting* settings,
                              double young) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, name);
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load(scene, path, count, settings, &error), MABD_OK), "%s",
              error.text);
    cr_assert(eq(int, mabd_scene_set_young(scene, (mabd_real)young, &error), MABD_OK));
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK));
    mabd_scene_destroy(scene);
    return model;
}

static mabd_model* load(const char* name, int32_t count, const mabd_setting* settings) {
    return load_young(name, count, settings, MABD_DEFAULT_YOUNG);
}

static mabd_model* load_net(const char* size, const char* pinned, double young) {
    const mabd_setting settings[] = {{"rows", size}, {"columns", size}, {"pinned", pinned}};
    return load_young("net", 3, settings, young);
}

static mabd_sim* start(const mabd_model* model, mabd_dual dual, const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim;
    def.dual = dual;
    def.allocator = allocator;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

static mabd_step_info step(mabd_sim* sim) {
    mabd_error error = {0};
    mabd_step_info info;
    cr_assert(eq(int, mabd_sim_step(sim, &info, &error), MABD_OK), "%s", error.text);
    return info;
}

static uint64_t fingerprint(const mabd_sim* sim) {
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    mabd_sim_save(sim, state);
    const uint64_t hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
    return hash;
}

// The gap is measured at the bodies, by a measure that no solver uses.
static void hang(const char* size, const char* pinned, mabd_dual dual) {
    mabd_model* model = load_net(size, pinned, MABD_DEFAULT_YOUNG);
    mabd_sim* sim = start(model, dual, NULL);
    const double tolerance = (double)mabd_sim_get_def(sim).gap_tolerance;
    int64_t iterations = 0;
    for (int i = 0; i < STEPS; i++) {
        const mabd_step_info info = step(sim);
        cr_assert(info.converged, "step %d", i);
        cr_assert(le(dbl, (double)info.dual_residual, tolerance));
        cr_assert(le(dbl, (double)mabd_sim_measure(sim).gap, tolerance), "step %d", i);
        iterations += info.dual_iterations;
    }
    cr_log_info("net %s by %s, %s: %.1f iterations a step", size, pinned, mabd_dual_name(dual),
                (double)iterations / STEPS);
    cr_expect(lt(i64, STEPS / 2, iterations), "an iterative solver has worked");
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(sim_dual, nets_hang_closed_with_conjugate_gradients) {
    hang("10", "edge", MABD_DUAL_PCG);
    hang("10", "corners", MABD_DUAL_PCG);
    hang("20", "edge", MABD_DUAL_PCG);
    hang("20", "corners", MABD_DUAL_PCG);
}

Test(sim_dual, nets_hang_closed_with_an_older_factor) {
    hang("10", "edge", MABD_DUAL_STALE);
    hang("10", "corners", MABD_DUAL_STALE);
    hang("20", "edge", MABD_DUAL_STALE);
    hang("20", "corners", MABD_DUAL_STALE);
}

// The motion is that of the direct solver up to the tolerance of the gaps.
static void expect_agreement(const char* pinned, double young) {
    const mabd_dual duals[] = {MABD_DUAL_STALE, MABD_DUAL_GS, MABD_DUAL_PCG};
    mabd_model* model = load_net("6", pinned, young);
    const size_t n = (size_t)mabd_model_body_count(model);
    mabd_real *expected = malloc(3 * n * sizeof(mabd_real)),
              *found = malloc(3 * n * sizeof(mabd_real));
    mabd_sim* direct = start(model, MABD_DUAL_DIRECT, NULL);
    for (int i = 0; i < AMOUNT(20, 5); i++) {
        const mabd_step_info info = step(direct);
        cr_assert(eq(i32, info.dual_iterations, 0));
    }
    mabd_sim_get_state(direct, expected, NULL, NULL, NULL);
    for (int d = 0; d < 3; d++) {
        double difference = 0;
        mabd_sim* sim = start(model, duals[d], NULL);
        for (int i = 0; i < AMOUNT(20, 5); i++) step(sim);
        mabd_sim_get_state(sim, found, NULL, NULL, NULL);
        for (size_t k = 0; k < 3 * n; k++) {
            difference = fmax(difference, fabs((double)(found[k] - expected[k])));
        }
        cr_log_info("%s: %.1e m", mabd_dual_name(duals[d]), difference);
        cr_expect(lt(dbl, difference, 1e-4), "%s", mabd_dual_name(duals[d]));
        mabd_sim_destroy(sim);
    }
    mabd_sim_destroy(direct);
    free(expected), free(found);
    mabd_model_destroy(model);
}

Test(sim_dual, solvers_agree_on_the_motion) {
    expect_agreement("edge", MABD_DEFAULT_YOUNG);
}

// A net on its corners hangs by its stretch: gaps of the tolerance let one of steel sag by
// centimetres.
Test(sim_dual, solvers_agree_on_the_motion_of_a_net_that_stretches) {
    expect_agreement("corners", 1e9);
}

Test(sim_dual, steps_allocate_nothing) {
    const mabd_dual duals[] = {MABD_DUAL_STALE, MABD_DUAL_GS, MABD_DUAL_PCG};
    const char* scenes[] = {"ring", "tree", "four-bar", "double-four-bar"};
    for (int d = 0; d < 3; d++) {
        for (int s = 0; s < 4; s++) {
            counting_allocator counter = {.fail_at = -1};
            const mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_model* model = load(scenes[s], 0, NULL);
            mabd_sim* sim = start(model, duals[d], &allocator);
            const int64_t before = counter.calls;
            const long all_before = malloc_calls;
            for (int i = 0; i < (duals[d] == MABD_DUAL_GS ? AMOUNT(5, 2) : STEPS); i++) step(sim);
            const long all_after = malloc_calls;
            cr_expect(eq(i64, counter.calls, before), "%s", scenes[s]);
            cr_expect(eq(long, all_after, all_before), "%s: some library allocated", scenes[s]);
            mabd_sim_destroy(sim);
            cr_expect(eq(i64, counter.live_blocks, 0), "%s leaks", scenes[s]);
            mabd_model_destroy(model);
        }
    }
}

Test(sim_dual, every_allocation_may_fail) {
    mabd_model* model = load_net("3", "edge", MABD_DEFAULT_YOUNG);
    for (int dual = 0; dual < MABD_DUAL_COUNT; dual++) {
        for (int64_t fail_at = 0;; fail_at++) {
            counting_allocator counter = {.fail_at = fail_at};
            const mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_error error = {0};
            mabd_sim_def def = mabd_default_sim_def();
            mabd_sim* sim = NULL;
            def.dual = (mabd_dual)dual;
            def.allocator = &allocator;
            const mabd_status status = mabd_sim_create(model, &def, &sim, &error);
            cr_assert(status == MABD_OK || status == MABD_ERR_MEMORY);
            mabd_sim_destroy(sim);
            cr_assert(eq(i64, counter.live_blocks, 0));
            if (status == MABD_OK && counter.calls <= fail_at) break;
        }
    }
    mabd_model_destroy(model);
}

Test(sim_dual, a_restored_state_continues_bit_for_bit) {
    for (int dual = 0; dual < MABD_DUAL_COUNT; dual++) {
        if (dual == MABD_DUAL_GS) continue; // like PCG, and slow
        mabd_model* model = load_net("6", "edge", MABD_DEFAULT_YOUNG);
        mabd_sim *one = start(model, (mabd_dual)dual, NULL), *two;
        for (int i = 0; i < 12; i++) step(one);
        const size_t size = mabd_sim_state_size(one);
        void* state = malloc(size);
        mabd_error error = {0};
        mabd_sim_save(one, state);
        two = start(model, (mabd_dual)dual, NULL);
        step(two); // leaves its own factor and multipliers behind
        cr_assert(eq(int, mabd_sim_restore(two, state, size, &error), MABD_OK), "%s", error.text);
        for (int i = 0; i < 15; i++) step(one), step(two);
        cr_expect(eq(u64, fingerprint(one), fingerprint(two)), "%s",
                  mabd_dual_name((mabd_dual)dual));
        free(state);
        mabd_sim_destroy(one), mabd_sim_destroy(two);
        mabd_model_destroy(model);
    }
}

Test(sim_dual, a_state_of_another_solver_or_tolerance_is_refused) {
    mabd_model* model = load_net("3", "edge", MABD_DEFAULT_YOUNG);
    mabd_error error = {0};
    mabd_sim *pcg = start(model, MABD_DUAL_PCG, NULL), *stale = start(model, MABD_DUAL_STALE, NULL);
    mabd_sim_def def = mabd_sim_get_def(pcg);
    mabd_sim* loose;
    def.gap_tolerance *= 2;
    cr_assert(eq(int, mabd_sim_create(model, &def, &loose, &error), MABD_OK));
    const size_t size = mabd_sim_state_size(pcg);
    void* state = malloc(size);
    mabd_sim_save(pcg, state);
    cr_expect(eq(int, mabd_sim_restore(pcg, state, size, &error), MABD_OK));
    cr_expect(eq(int, mabd_sim_restore(stale, state, size, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, mabd_sim_restore(loose, state, size, &error), MABD_ERR_INPUT));
    free(state);
    mabd_sim_destroy(pcg), mabd_sim_destroy(stale), mabd_sim_destroy(loose);
    mabd_model_destroy(model);
}

Test(sim_dual, definitions_are_checked) {
    mabd_model* model = load_net("3", "edge", MABD_DEFAULT_YOUNG);
    mabd_error error = {0};
    mabd_sim* sim;
    mabd_sim_def def = mabd_default_sim_def();
    cr_expect(eq(int, def.dual, MABD_DUAL_AUTO));
    def.gap_tolerance = 0;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_ARG));
    def = mabd_default_sim_def();
    def.dual = MABD_DUAL_COUNT;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_ARG));
    mabd_model_destroy(model);
}

Test(sim_dual, names_are_found) {
    for (int dual = 0; dual < MABD_DUAL_COUNT; dual++) {
        cr_expect(eq(int, mabd_dual_find(mabd_dual_name((mabd_dual)dual)), dual));
    }
    cr_expect(eq(int, mabd_dual_find("pgs"), -1));
}

Test(sim_dual, chains_keep_their_own_solver) {
    mabd_model* chain = load("chain", 0, NULL);
    mabd_model* net = load_net("4", "edge", MABD_DEFAULT_YOUNG);
    for (int dual = 0; dual < MABD_DUAL_COUNT; dual++) {
        mabd_sim_plan plan = plain_plan(chain, (mabd_dual)dual);
        cr_expect(eq(str, plan.solvers[MABD_COMPONENT_CHAIN], "chain"));
        plan = plain_plan(net, (mabd_dual)dual);
        cr_expect(eq(str, plan.solvers[MABD_COMPONENT_CHAIN], ""));
    }
    mabd_sim_plan plan = plain_plan(net, MABD_DUAL_PCG);
    cr_expect(eq(str, plan.solvers[MABD_COMPONENT_GRAPH], "pcg"));
    plan = plain_plan(net, MABD_DUAL_STALE);
    cr_expect(eq(str, plan.solvers[MABD_COMPONENT_GRAPH], "stale"));
    mabd_model_destroy(chain), mabd_model_destroy(net);
}
