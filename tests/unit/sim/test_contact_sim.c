// SPDX-License-Identifier: Apache-2.0
// Simulations with contacts: bits, saving, memory. The scenes are those of support/contact_scene.h.
#include "support/contact_scene.h"
#include "support/counting_allocator.h"
#include "support/malloc_count.h"
#include "support/plain_sim.h"

#include "base/hash.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(contact_sim, .timeout = 120);

#define STEPS  60
#define MIDDLE 33 // all scenes are in contact at this step

// Return the complete state; the caller frees.
static char* state_of(const mabd_sim* sim, size_t* size) {
    *size = mabd_sim_state_size(sim);
    char* state = malloc(*size);
    mabd_sim_save(sim, state);
    return state;
}

static uint64_t fingerprint(const mabd_sim* sim) {
    size_t size;
    char* state = state_of(sim, &size);
    const uint64_t hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
    return hash;
}

static uint64_t fingerprint_of_run(const mabd_model* model) {
    mabd_sim* sim = plain_start(model, NULL);
    plain_advance(sim, STEPS);
    const uint64_t hash = fingerprint(sim);
    mabd_sim_destroy(sim);
    return hash;
}

// ---- bits --------------------------------------------------------------------------------------

Test(contact_sim, same_bits_on_every_run_and_after_reset) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        const char* name = contact_scene_name((contact_scene)k);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = fingerprint_of_run(model);
        cr_expect(eq(u64, fingerprint_of_run(model), expected), "%s: second run", name);
        mabd_sim* sim = plain_start(model, NULL);
        cr_expect(lt(i32, 0, plain_advance(sim, MIDDLE)), "%s does not touch", name);
        mabd_sim_reset(sim);
        plain_advance(sim, STEPS);
        cr_expect(eq(u64, fingerprint(sim), expected), "%s: after reset", name);
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// Reading the contacts does not change the following steps.
Test(contact_sim, looking_at_contacts_leaves_the_bits) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = fingerprint_of_run(model);
        mabd_sim* sim = plain_start(model, NULL);
        for (int i = 0; i < STEPS; i++) {
            mabd_contact_info contacts[64];
            mabd_real depth;
            int32_t a, b;
            const int32_t pushing = plain_advance(sim, 1);
            cr_expect(eq(i32, mabd_sim_get_contacts(sim, 64, contacts), pushing));
            cr_expect(eq(int, mabd_sim_overlap(sim, &depth, &a, &b), MABD_OK));
            mabd_sim_measure(sim);
        }
        cr_expect(eq(u64, fingerprint(sim), expected), "%s", contact_scene_name((contact_scene)k));
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// All start apart and slowly, so the contact planes are those of the shapes to well below a
// millimetre.
Test(contact_sim, bodies_do_not_sink_into_each_other) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        mabd_sim* sim = plain_start(model, NULL);
        mabd_real deepest = 0;
        for (int i = 0; i < STEPS; i++) {
            mabd_real depth;
            int32_t a, b;
            plain_advance(sim, 1);
            cr_expect(eq(int, mabd_sim_overlap(sim, &depth, &a, &b), MABD_OK));
            if (depth > deepest) deepest = depth;
        }
        cr_expect(lt(dbl, deepest, 1e-3), "%s", contact_scene_name((contact_scene)k));
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// ---- saving ------------------------------------------------------------------------------------

// `into` holds the state; it must end with the bits of the uninterrupted run.
static void expect_goes_on(mabd_sim* into, uint64_t expected, const char* name, const char* how) {
    cr_expect(eq(i64, mabd_sim_step_count(into), MIDDLE));
    plain_advance(into, STEPS - MIDDLE);
    cr_expect(eq(u64, fingerprint(into), expected), "%s: %s", name, how);
}

Test(contact_sim, a_restored_state_continues_bit_for_bit) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        const char* name = contact_scene_name((contact_scene)k);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = fingerprint_of_run(model);
        mabd_sim *whole = plain_start(model, NULL), *fresh = plain_start(model, NULL);
        mabd_error error = {0};
        size_t size;
        cr_assert(lt(i32, 0, plain_advance(whole, MIDDLE)), "%s does not touch", name);
        char* state = state_of(whole, &size);
        expect_goes_on(whole, expected, name, "after saving");
        cr_assert(eq(int, mabd_sim_restore(whole, state, size, &error), MABD_OK), "%s", error.text);
        expect_goes_on(whole, expected, name, "restored");
        cr_assert(eq(int, mabd_sim_restore(fresh, state, size, &error), MABD_OK), "%s", error.text);
        expect_goes_on(fresh, expected, name, "restored into a fresh one");
        // an unsuitable state is refused and changes nothing
        const uint64_t before = fingerprint(fresh);
        cr_expect(eq(int, mabd_sim_restore(fresh, state, size - 1, &error), MABD_ERR_INPUT));
        cr_expect(eq(u64, fingerprint(fresh), before));
        free(state);
        mabd_sim_destroy(whole), mabd_sim_destroy(fresh);
        mabd_model_destroy(model);
    }
}

Test(contact_sim, a_checkpoint_continues_bit_for_bit) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/contact_sim_%d.ckpt", (int)getpid());
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        const char* name = contact_scene_name((contact_scene)k);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = fingerprint_of_run(model);
        mabd_sim *whole = plain_start(model, NULL), *fresh = plain_start(model, NULL);
        mabd_error error = {0};
        plain_advance(whole, MIDDLE);
        cr_assert(eq(int, mabd_checkpoint_write(path, whole, NULL, 0, &error), MABD_OK), "%s",
                  error.text);
        plain_advance(whole, 7); // another number of contacts may be stored now
        cr_assert(eq(int, mabd_checkpoint_read(path, whole, NULL, 0, &error), MABD_OK), "%s",
                  error.text);
        expect_goes_on(whole, expected, name, "read");
        cr_assert(eq(int, mabd_checkpoint_read(path, fresh, NULL, 0, &error), MABD_OK), "%s",
                  error.text);
        expect_goes_on(fresh, expected, name, "read into a fresh one");
        unlink(path);
        mabd_sim_destroy(whole), mabd_sim_destroy(fresh);
        mabd_model_destroy(model);
    }
}

// ---- memory ------------------------------------------------------------------------------------

// The reported bytes are the allocated bytes, except for blocks rounded up to 64 bytes.
static void expect_bytes(const mabd_sim* sim, const counting_allocator* counter) {
    const int64_t rounded = counter->live_bytes - (int64_t)mabd_sim_bytes(sim);
    cr_expect(le(i64, 0, rounded));
    cr_expect(lt(i64, rounded, 64 * counter->live_blocks));
}

// Lists grow while contacts appear for the first time; repeating the same motion allocates nothing.
Test(contact_sim, allocates_nothing_once_it_is_warm) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        const char* name = contact_scene_name((contact_scene)k);
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        mabd_sim* sim = plain_start(model, &allocator);
        plain_advance(sim, STEPS);
        mabd_sim_reset(sim);
        const int64_t before = counter.calls;
        const long all_before = malloc_calls;
        plain_advance(sim, STEPS);
        const long all_after = malloc_calls;
        cr_expect(eq(i64, counter.calls, before), "%s", name);
        cr_expect(eq(long, all_after, all_before), "%s: some library allocated", name);
        expect_bytes(sim, &counter);
        mabd_sim_destroy(sim);
        cr_expect(eq(i64, counter.live_blocks, 0), "%s leaks", name);
        mabd_model_destroy(model);
    }
}

// The plan counts the bytes that a new simulation holds, before there are contacts.
Test(contact_sim, memory_is_known_before_it_is_taken) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        mabd_sim* sim = plain_start(model, &allocator);
        const size_t planned = plain_plan(model, MABD_DUAL_AUTO).bytes_sim,
                     held = mabd_sim_bytes(sim);
        expect_bytes(sim, &counter);
        cr_expect(eq(sz, planned, held), "%s", contact_scene_name((contact_scene)k));
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// Allocation `n` after creation fails: that step fails and leaves the state before it; the rest of
// the run has the bits of a run without the failure. False if there was no such allocation.
static bool fail_once(const mabd_model* model, int64_t n, uint64_t expected, const char* name) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_sim* sim = plain_start(model, &allocator);
    int failures = 0;
    counter.fail_at = counter.calls + n;
    while (mabd_sim_step_count(sim) < STEPS && failures < 3) {
        mabd_error error = {0};
        const uint64_t before = fingerprint(sim);
        const mabd_status status = mabd_sim_step(sim, NULL, &error);
        if (status == MABD_OK) continue;
        failures++;
        cr_expect(eq(int, status, MABD_ERR_MEMORY), "%s, call %d", name, (int)n);
        cr_expect(eq(int, error.status, MABD_ERR_MEMORY));
        cr_expect(eq(u64, fingerprint(sim), before), "%s, call %d: state", name, (int)n);
    }
    const bool met = counter.calls > counter.fail_at;
    cr_expect(eq(int, failures, met ? 1 : 0), "%s, call %d", name, (int)n);
    cr_expect(eq(u64, fingerprint(sim), expected), "%s, call %d: the rest", name, (int)n);
    mabd_sim_destroy(sim);
    cr_expect(eq(i64, counter.live_blocks, 0), "%s, call %d leaks", name, (int)n);
    cr_expect(eq(i64, counter.wrong_frees, 0));
    return met;
}

Test(contact_sim, a_step_without_memory_fails_and_leaves_the_state) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        const char* name = contact_scene_name((contact_scene)k);
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = fingerprint_of_run(model);
        int64_t n = 0;
        while (fail_once(model, n, expected, name)) n++;
        cr_expect(lt(i64, 5, n), "%s: too few allocations met", name);
        mabd_model_destroy(model);
    }
}

Test(contact_sim, every_allocation_of_model_and_simulation_may_fail) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        mabd_status status = MABD_ERR_MEMORY;
        for (int64_t fail_at = 0; status != MABD_OK; fail_at++) {
            counting_allocator counter = {.fail_at = fail_at};
            const mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_error error = {0};
            mabd_sim* sim = NULL;
            mabd_sim_def def = mabd_default_sim_def();
            def.allocator = &allocator;
            status = mabd_sim_create(model, &def, &sim, &error);
            if (status != MABD_OK) cr_expect(eq(int, status, MABD_ERR_MEMORY));
            mabd_sim_destroy(sim);
            cr_expect(eq(i64, counter.live_blocks, 0), "call %d leaks", (int)fail_at);
            cr_expect(eq(i64, counter.wrong_frees, 0));
        }
        mabd_model_destroy(model);
    }
}

// Restore a state of many contacts into a simulation that stores none.
Test(contact_sim, a_restore_without_memory_is_refused) {
    mabd_model* model = contact_scene_model(CONTACT_SCENE_STACK, NULL);
    mabd_sim* full = plain_start(model, NULL);
    mabd_error error = {0};
    size_t size;
    plain_advance(full, MIDDLE);
    char* state = state_of(full, &size);
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_sim* empty = plain_start(model, &allocator);
    const uint64_t before = fingerprint(empty);
    counter.fail_at = counter.calls;
    cr_expect(eq(int, mabd_sim_restore(empty, state, size, &error), MABD_ERR_MEMORY));
    cr_expect(eq(u64, fingerprint(empty), before));
    cr_expect(eq(int, mabd_sim_restore(empty, state, size, &error), MABD_OK));
    cr_expect(eq(u64, fingerprint(empty), fingerprint(full)));
    free(state);
    mabd_sim_destroy(full), mabd_sim_destroy(empty);
    mabd_model_destroy(model);
}
