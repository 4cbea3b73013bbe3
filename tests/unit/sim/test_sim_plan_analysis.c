// SPDX-License-Identifier: Apache-2.0
// Tests for src/model/model_analysis.c and src/formulation/affine/dual_analysis.c: a plan leaves
// its symbolic analysis in the model and creation takes it from there. Calls of the allocator show
// whether an analysis was made; their number in one analysis is counted by analysing the same
// component alone.
#include "dual/block_analysis.h"
#include "formulation/affine/dual_select.h"
#include "support/counting_allocator.h"
#include "support/plain_sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mabd_model* make_net(const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    mabd_net_def net = mabd_default_net_def();
    net.rows = net.columns = 5;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_generate_net(scene, &net, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_model_build(scene, allocator, &model, &error), MABD_OK));
    mabd_scene_destroy(scene);
    return model;
}

static void expect_all_freed(const counting_allocator* counter) {
    cr_expect(eq(i64, counter->live_blocks, 0));
    cr_expect(eq(i64, counter->wrong_frees, 0));
}

static mabd_sim_def def_of(mabd_dual dual, const mabd_allocator* allocator) {
    mabd_sim_def def = mabd_default_sim_def();
    def.dual = dual;
    def.allocator = allocator;
    return def;
}

static mabd_sim* create(const mabd_model* model, mabd_dual dual, const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_sim* sim;
    const mabd_sim_def def = def_of(dual, allocator);
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

// Count the calls of the allocator in one analysis of the only component.
static int64_t calls_of_analysis(const mabd_model* model) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    const mabd_affine_sim sim = {.model = model};
    const mabd_dual_system system = mabd_affine_dual_system(&sim, 0);
    mabd_dual_block_analysis analysis;
    cr_assert(eq(int, model->plan->component_count, 1));
    cr_assert(eq(int, mabd_dual_block_prepare(&allocator, &system, &analysis), MABD_OK));
    mabd_dual_block_symbolic_destroy(&allocator, analysis.symbolic);
    return counter.calls;
}

static int64_t calls_of_create(const mabd_model* model, mabd_dual dual,
                               const mabd_allocator* allocator, const counting_allocator* counter) {
    const int64_t before = counter->calls;
    mabd_sim_destroy(create(model, dual, allocator));
    return counter->calls - before;
}

Test(sim_plan_analysis, creation_after_a_plan_analyses_nothing) {
    const mabd_dual duals[] = {MABD_DUAL_AUTO, MABD_DUAL_DIRECT, MABD_DUAL_STALE};
    for (size_t i = 0; i < sizeof duals / sizeof duals[0]; i++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = make_net(&allocator);
        const int64_t analysis = calls_of_analysis(model);
        const int64_t alone = calls_of_create(model, duals[i], &allocator, &counter);
        plain_plan(model, duals[i]);
        const int64_t after_plan = calls_of_create(model, duals[i], &allocator, &counter);
        const int64_t again = calls_of_create(model, duals[i], &allocator, &counter);
        const char* name = mabd_dual_name(duals[i]);
        cr_expect(lt(i64, 5, analysis));
        cr_expect(le(i64, after_plan, alone - analysis), "%s", name);
        cr_expect(eq(i64, again, alone), "%s: the first simulation took the analysis", name);
        mabd_model_destroy(model);
        expect_all_freed(&counter);
    }
}

Test(sim_plan_analysis, a_second_plan_analyses_nothing) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = make_net(&allocator);
    const int64_t start = counter.calls;
    const mabd_sim_plan first = plain_plan(model, MABD_DUAL_AUTO);
    const int64_t middle = counter.calls;
    const mabd_sim_plan second = plain_plan(model, MABD_DUAL_STALE);
    cr_expect(le(i64, counter.calls - middle, middle - start - calls_of_analysis(model)));
    cr_expect(eq(int, first.line_count, 1));
    cr_expect(eq(int, second.line_count, 1));
    cr_expect(eq(int, first.lines[0].fronts, second.lines[0].fronts));
    cr_expect(lt(sz, first.lines[0].bytes, second.lines[0].bytes));
    mabd_model_destroy(model);
    expect_all_freed(&counter);
}

// Solvers keep the analysis, so one of the model's allocator must not enter a simulation whose
// memory comes from elsewhere: that allocator would not see all of its bytes.
Test(sim_plan_analysis, stays_in_the_model_if_the_simulation_has_its_own_allocator) {
    counting_allocator counter = {.fail_at = -1}, own = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    const mabd_allocator other = counting_allocator_make(&own);
    mabd_model* model = make_net(&allocator);
    mabd_sim* sim = create(model, MABD_DUAL_AUTO, &other);
    const int64_t without_plan = own.live_bytes;
    mabd_sim_destroy(sim);
    plain_plan(model, MABD_DUAL_AUTO);
    const int64_t in_model = counter.live_bytes;
    sim = create(model, MABD_DUAL_AUTO, &other);
    cr_expect(eq(i64, counter.live_bytes, in_model));
    cr_expect(eq(i64, own.live_bytes, without_plan));
    mabd_sim_destroy(sim);
    expect_all_freed(&own);
    mabd_model_destroy(model);
    expect_all_freed(&counter);
}

static void* state_after(mabd_sim* sim, size_t* size) {
    plain_advance(sim, 10);
    *size = mabd_sim_state_size(sim);
    void* state = malloc(*size);
    mabd_sim_save(sim, state);
    return state;
}

Test(sim_plan_analysis, changes_no_bit_of_the_motion) {
    const mabd_dual duals[] = {MABD_DUAL_AUTO, MABD_DUAL_STALE};
    for (size_t i = 0; i < sizeof duals / sizeof duals[0]; i++) {
        size_t size[2];
        void* state[2];
        mabd_model* model = make_net(NULL);
        for (int planned = 0; planned < 2; planned++) {
            if (planned) plain_plan(model, duals[i]);
            mabd_sim* sim = create(model, duals[i], NULL);
            state[planned] = state_after(sim, &size[planned]);
            mabd_sim_destroy(sim);
        }
        cr_assert(eq(sz, size[0], size[1]));
        cr_expect(eq(int, memcmp(state[0], state[1], size[0]), 0), "%s", mabd_dual_name(duals[i]));
        free(state[0]), free(state[1]);
        mabd_model_destroy(model);
    }
}

// Let each allocation of plan and creation fail in turn. A plan may succeed all the same: it
// reports SIZE_MAX where bytes cannot be counted.
Test(sim_plan_analysis, leaks_nothing_when_memory_runs_out) {
    int failures = 0;
    bool done = false;
    for (int64_t k = 0; !done; k++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = make_net(&allocator);
        const mabd_sim_def def = def_of(MABD_DUAL_STALE, &allocator);
        mabd_sim_plan plan;
        mabd_sim* sim = NULL;
        counter.fail_at = counter.calls + k;
        mabd_status status = mabd_sim_get_plan(model, &def, &plan, NULL);
        if (status == MABD_OK) status = mabd_sim_create(model, &def, &sim, NULL);
        done = counter.calls <= counter.fail_at;
        cr_expect(status == MABD_ERR_MEMORY || status == MABD_OK);
        failures += status == MABD_ERR_MEMORY;
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
        expect_all_freed(&counter);
    }
    cr_expect(lt(int, 10, failures));
}

static void* plan_and_create(void* context) {
    for (int i = 0; i < 20; i++) {
        plain_plan(context, MABD_DUAL_AUTO);
        mabd_sim_destroy(create(context, MABD_DUAL_AUTO, NULL));
    }
    return NULL;
}

// A sanitizer sees an analysis that two simulations took, or one that none frees.
Test(sim_plan_analysis, threads_share_a_model) {
    mabd_model* model = make_net(NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        cr_assert(eq(int, pthread_create(&threads[i], NULL, plan_and_create, model), 0));
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    mabd_model_destroy(model);
}
