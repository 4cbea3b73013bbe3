// SPDX-License-Identifier: Apache-2.0
// Tests for src/sim/: memory, determinism, saving, definitions, plans, refusals.
#include "mabd/mabd.h"
#include "support/counting_allocator.h"
#include "support/malloc_count.h"
#include "support/plain_sim.h"
#include "support/random_scene.h"

#include "base/hash.h"
#include "sim/sim_def.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const shipped[] = {
    "chain",    "net",       "tree",     "ring",         "four-bar",        "double-four-bar",
    "t-handle", "heavy-top", "pendulum", "spinning-box", "double-pendulum",
};
#define SHIPPED_COUNT (sizeof shipped / sizeof shipped[0])

static mabd_model* load(const char* name, const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, name);
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load(scene, path, 0, NULL, &error), MABD_OK), "%s: %s", name,
              error.text);
    cr_assert(eq(int, mabd_model_build(scene, allocator, &model, &error), MABD_OK));
    mabd_scene_destroy(scene);
    return model;
}

// Hash the whole state, bit for bit.
static uint64_t fingerprint(const mabd_sim* sim) {
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    mabd_sim_save(sim, state);
    const uint64_t hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
    return hash;
}

Test(sim, allocates_nothing_over_100_steps_of_any_scene) {
    for (size_t i = 0; i < SHIPPED_COUNT; i++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = load(shipped[i], NULL);
        mabd_sim* sim = plain_start(model, &allocator);
        const int64_t before = counter.calls;
        const long all_before = malloc_calls;
        plain_advance(sim, 100);
        const long all_after = malloc_calls;
        cr_expect(eq(i64, counter.calls, before), "%s", shipped[i]);
        cr_expect(eq(long, all_after, all_before), "%s: some library allocated", shipped[i]);
        mabd_sim_destroy(sim);
        cr_expect(eq(i64, counter.live_blocks, 0), "%s leaks", shipped[i]);
        mabd_model_destroy(model);
    }
}

Test(sim, the_counter_of_allocations_counts) {
    const long before = malloc_calls;
    free(malloc(10));
    if (MALLOC_COUNTED) cr_assert(eq(long, malloc_calls, before + 1));
}

// Model and simulation with every allocation failing in turn.
static void fail_in_turn(const random_scene_def* def) {
    mabd_scene* scene = random_scene(def);
    for (int64_t fail_at = 0;; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_error error = {0};
        mabd_model* model = NULL;
        mabd_sim* sim = NULL;
        mabd_sim_def sim_def = mabd_default_sim_def();
        sim_def.allocator = &allocator;
        mabd_status status = mabd_model_build(scene, &allocator, &model, &error);
        if (status == MABD_OK) status = mabd_sim_create(model, &sim_def, &sim, &error);
        const bool whole = status == MABD_OK;
        if (!whole) {
            cr_expect(eq(int, status, MABD_ERR_MEMORY), "call %d", (int)fail_at);
            cr_expect(eq(int, error.status, MABD_ERR_MEMORY));
            cr_expect(sim == NULL);
        }
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
        cr_expect(eq(i64, counter.live_blocks, 0), "call %d leaks", (int)fail_at);
        cr_expect(eq(i64, counter.wrong_frees, 0));
        if (whole) {
            cr_expect(lt(i64, 5, fail_at), "the loop met too few allocations");
            break;
        }
    }
    mabd_scene_destroy(scene);
}

Test(sim, every_allocation_failing_in_turn_leaks_nothing) {
    for (int pattern = RANDOM_CHAIN; pattern <= RANDOM_LADDER; pattern++) {
        const random_scene_def def = {.seed = 7,
                                      .pattern = (random_pattern)pattern,
                                      .bodies = 10,
                                      .grounded = true,
                                      .controls = true,
                                      .mass_range = 10};
        fail_in_turn(&def);
    }
}

Test(sim, same_bits_on_every_run_after_reset_and_after_restore) {
    for (size_t i = 0; i < SHIPPED_COUNT; i++) {
        mabd_error error = {0};
        mabd_model* model = load(shipped[i], NULL);
        mabd_sim *one = plain_start(model, NULL), *two = plain_start(model, NULL);
        plain_advance(one, 60);
        const uint64_t expected = fingerprint(one);
        plain_advance(two, 60);
        cr_expect(eq(u64, fingerprint(two), expected), "%s: second run", shipped[i]);
        mabd_sim_reset(one);
        plain_advance(one, 60);
        cr_expect(eq(u64, fingerprint(one), expected), "%s: after reset", shipped[i]);

        mabd_sim_reset(one);
        plain_advance(one, 31);
        const size_t size = mabd_sim_state_size(one);
        void* state = malloc(size);
        mabd_sim_save(one, state);
        mabd_sim* three = plain_start(model, NULL);
        cr_assert(eq(int, mabd_sim_restore(three, state, size, &error), MABD_OK), "%s", error.text);
        cr_expect(eq(i64, mabd_sim_step_count(three), 31));
        plain_advance(three, 29);
        cr_expect(eq(u64, fingerprint(three), expected), "%s: after restore", shipped[i]);
        free(state);
        mabd_sim_destroy(one), mabd_sim_destroy(two), mabd_sim_destroy(three);
        mabd_model_destroy(model);
    }
}

Test(sim, refuses_a_state_of_another_model_or_definition) {
    mabd_error error = {0};
    mabd_model *chain = load("chain", NULL), *net = load("net", NULL);
    mabd_sim *a = plain_start(chain, NULL), *b = plain_start(net, NULL);
    const size_t size = mabd_sim_state_size(a);
    char* state = malloc(size);
    mabd_sim_save(a, state);
    cr_expect(eq(int, mabd_sim_restore(b, state, size, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "another model") != NULL, "%s", error.text);
    cr_expect(eq(int, mabd_sim_restore(a, state, size - 1, &error), MABD_ERR_INPUT));
    cr_expect(eq(int, mabd_sim_restore(a, state, 3, &error), MABD_ERR_INPUT));
    state[0] ^= 1;
    cr_expect(eq(int, mabd_sim_restore(a, state, size, &error), MABD_ERR_INPUT));
    state[0] ^= 1;
    mabd_sim_def def = mabd_default_sim_def();
    def.h = (mabd_real)0.005;
    mabd_sim* c;
    cr_assert(eq(int, mabd_sim_create(chain, &def, &c, &error), MABD_OK));
    cr_expect(eq(int, mabd_sim_restore(c, state, size, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "h = 0.01") != NULL, "%s", error.text);
    free(state);
    mabd_sim_destroy(a), mabd_sim_destroy(b), mabd_sim_destroy(c);
    mabd_model_destroy(chain), mabd_model_destroy(net);
}

Test(sim, refuses_bad_definitions) {
    mabd_error error = {0};
    mabd_model* model = load("pendulum", NULL);
    mabd_sim* sim = NULL;
    const mabd_sim_def good = mabd_default_sim_def();
    mabd_sim_def bad[8];
    for (int i = 0; i < 8; i++) bad[i] = good;
    bad[0].cookie = 0;
    bad[1].h = 0;
    bad[2].h = -1;
    bad[3].affine.rotation_tolerance = 0;
    bad[4].max_iterations = -1;
    bad[5].threads = 0;
    bad[6].integrator = MABD_INTEGRATOR_RK45;
    bad[7].backend = MABD_BACKEND_CUDA;
    for (int i = 0; i < 8; i++) {
        const mabd_status status = mabd_sim_create(model, &bad[i], &sim, &error);
        cr_expect(eq(int, status, i < 6 ? MABD_ERR_ARG : MABD_ERR_UNAVAILABLE), "case %d", i);
        cr_expect(sim == NULL && error.text[0] != 0);
    }
    mabd_model_destroy(model);
}

Test(sim, presets_are_ordered) {
    mabd_sim_def fast = mabd_default_sim_def(), balanced = fast, exact = fast;
    mabd_sim_def_apply_preset(&fast, MABD_PRESET_FAST);
    mabd_sim_def_apply_preset(&exact, MABD_PRESET_EXACT);
    cr_expect(eq(dbl, fast.affine.rotation_tolerance, 3e-2));
    cr_expect(eq(dbl, balanced.affine.rotation_tolerance, 1e-2));
    cr_expect(eq(dbl, exact.affine.rotation_tolerance, 1e-6));
    cr_expect(fast.row_tolerance > balanced.row_tolerance);
    cr_expect(balanced.row_tolerance > exact.row_tolerance);
}

// ---- definition --------------------------------------------------------------------------------

Test(sim, choices_are_resolved_in_create) {
    mabd_error error = {0};
    mabd_model* model = load("pendulum", NULL);
    mabd_sim* sim = NULL;
    mabd_sim_def def = mabd_default_sim_def();
    cr_expect(eq(int, def.integrator, MABD_INTEGRATOR_AUTO));
    cr_expect(eq(int, def.max_iterations, 0));
    mabd_sim_def_apply_preset(&def, MABD_PRESET_EXACT);
    cr_expect(eq(int, def.preset, MABD_PRESET_EXACT));
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    const mabd_sim_def resolved = mabd_sim_get_def(sim);
    cr_expect(eq(int, resolved.integrator, MABD_INTEGRATOR_BDF2));
    cr_expect(eq(int, resolved.max_iterations, 20));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(sim, names_have_aliases_that_are_never_printed) {
    cr_expect(eq(int, mabd_formulation_find("mabd"), MABD_FORMULATION_AFFINE));
    cr_expect(eq(int, mabd_formulation_find("affine"), MABD_FORMULATION_AFFINE));
    cr_expect(eq(str, (char*)mabd_formulation_name(MABD_FORMULATION_AFFINE), "affine"));
    cr_expect(eq(int, mabd_integrator_find("bdf1"), MABD_INTEGRATOR_EULER));
    cr_expect(eq(str, (char*)mabd_integrator_name(MABD_INTEGRATOR_EULER), "euler"));
    cr_expect(eq(int, mabd_formulation_find("newton"), -1));
}

// A formulation that uses neither `dual` nor the fields of others.
Test(sim, changed_fields_that_a_formulation_does_not_use_are_refused_by_name) {
    static const char* const unused[] = {"dual", NULL};
    const mabd_formulation_ops other = {.name = "other", .unused = unused};
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    cr_expect(eq(int, mabd_def_check_unused(&other, &def, &error), MABD_OK));
    mabd_sim_def_apply_preset(&def, MABD_PRESET_EXACT); // a preset alone is never refused
    cr_expect(eq(int, mabd_def_check_unused(&other, &def, &error), MABD_OK));
    def.row_tolerance = 1; // a common field that is used
    cr_expect(eq(int, mabd_def_check_unused(&other, &def, &error), MABD_OK));
    def.affine.rotation_tolerance = (mabd_real)0.5;
    cr_expect(eq(int, mabd_def_check_unused(&other, &def, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "'other'") && strstr(error.text, "affine.rotation_tolerance"),
              "%s", error.text);
    mabd_sim_def_apply_preset(&def, MABD_PRESET_EXACT);
    def.dual = MABD_DUAL_PCG;
    cr_expect(eq(int, mabd_def_check_unused(&other, &def, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "dual") != NULL, "%s", error.text);
    const mabd_formulation_ops* affine = mabd_formulation_ops_of(MABD_FORMULATION_AFFINE);
    cr_expect(eq(int, mabd_def_check_unused(affine, &def, &error), MABD_OK));
}

// ---- plan --------------------------------------------------------------------------------------

// Junctions make the dual matrix indefinite, so components with one get a direct solver. Two stars
// are two such components, and one warning.
Test(sim, warns_that_a_direct_solver_replaces_an_iterative_one) {
    mabd_star_def star = mabd_default_star_def();
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    for (int stars = 1; stars <= 2; stars++) {
        mabd_scene* scene;
        mabd_model* model;
        mabd_warning warning;
        cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
        for (int i = 0; i < stars; i++) {
            star.name = i == 0 ? "one" : "two";
            cr_assert(eq(int, mabd_generate_star(scene, &star, &error), MABD_OK));
        }
        cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK));
        mabd_scene_destroy(scene);
        for (int dual = 0; dual < MABD_DUAL_COUNT; dual++) {
            const bool replaced = dual != MABD_DUAL_AUTO && dual != MABD_DUAL_DIRECT;
            mabd_sim* sim;
            def.dual = (mabd_dual)dual;
            cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK));
            cr_expect(eq(int, mabd_sim_warnings(sim, 1, &warning), replaced ? 1 : 0));
            if (replaced) {
                const bool more = strstr(warning.text, "; 1 more component") != NULL;
                cr_expect(strstr(warning.text, "component 0") && strstr(warning.text, "'tree'") &&
                              strstr(warning.text, mabd_dual_name(def.dual)),
                          "%s", warning.text);
                cr_expect(eq(int, more, stars == 2), "%s", warning.text);
            }
            mabd_sim_destroy(sim);
        }
        mabd_model_destroy(model);
    }
}

// The getters of a model analyse nothing: they take no memory, where the plan of a net does.
Test(sim, model_info_and_hash_take_no_memory) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/net.json", 0, NULL, &error),
                 MABD_OK));
    cr_assert(eq(int, mabd_model_build(scene, &allocator, &model, &error), MABD_OK));
    const int64_t before = counter.calls;
    const mabd_model_info info = mabd_model_get_info(model);
    cr_expect(eq(u64, info.hash, mabd_model_hash(model)));
    cr_expect(eq(i64, counter.calls, before));
    mabd_sim_plan plan;
    const mabd_sim_def def = mabd_default_sim_def();
    cr_assert(eq(int, mabd_sim_get_plan(model, &def, &plan, &error), MABD_OK));
    cr_expect(lt(i64, before, counter.calls));
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}

Test(sim, restore_refuses_null_arguments) {
    mabd_error error = {0};
    mabd_model* model = load("pendulum", NULL);
    const mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim = NULL;
    char buffer[16] = {0};
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK));
    cr_expect(eq(int, mabd_sim_restore(NULL, buffer, sizeof buffer, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_restore(sim, NULL, 100, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_sim_restore(sim, buffer, sizeof buffer, NULL), MABD_ERR_INPUT));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}
