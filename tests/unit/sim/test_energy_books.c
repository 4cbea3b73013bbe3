// SPDX-License-Identifier: Apache-2.0
// The energy balance as part of the state: resumed, cloned, reset, on several threads, after steps
// that fail and states that are set, and of a batch. The oracle is the run without any of it: the
// balance must have the same bits.

#include "mabd/batch.h"
#include "support/balance_rig.h"
#include "support/books_scene.h"

#include <stdlib.h>

static const char* const* const scenes[] = {&books_joints, &books_contacts};
#define SCENES 2
#define HALF   40

static mabd_sim* start(const mabd_model* model, size_t method, int32_t threads) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.formulation = balance_methods[method].formulation;
    def.integrator = balance_methods[method].integrator;
    def.threads = threads;
    return rig_sim(model, &def);
}

static void advance(mabd_sim* sim, int steps) {
    const mabd_real force[3] = {1, 0, 2}, torque[3] = {0, 0.1, 0};
    const int32_t body = 3;
    mabd_error error = {0};
    for (int i = 0; i < steps; i++) {
        if (mabd_sim_step_count(sim) % 3 == 0) {
            rig_check(mabd_sim_apply_force(sim, 1, &body, force, torque, &error), &error, "force");
        }
        rig_step(sim);
    }
}

static void expect_same(const mabd_sim* sim, const mabd_energy_balance* expected,
                        const char* what) {
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    cr_expect(memcmp(&b, expected, sizeof b) == 0, "%s: integrator %.17g for %.17g J", what,
              (double)b.integrator, (double)expected->integrator);
}

Test(energy_books, are_restored_cloned_and_reset_bit_for_bit) {
    for (size_t s = 0; s < SCENES; s++) {
        for (size_t k = 0; k < (s == 0 ? BALANCE_METHODS : 2); k++) { // contacts: affine
            mabd_error error = {0};
            mabd_model* model = rig_text_model(*scenes[s]);
            mabd_sim *sim = start(model, k, 1), *other = start(model, k, 1), *clone;
            advance(sim, HALF);
            const size_t size = mabd_sim_state_size(sim);
            void* state = malloc(size);
            mabd_sim_save(sim, state);
            const mabd_energy_balance half = mabd_sim_get_energy_balance(sim);
            rig_check(mabd_sim_clone(sim, &clone, &error), &error, "clone");
            advance(sim, HALF);
            const mabd_energy_balance whole = mabd_sim_get_energy_balance(sim);
            advance(other, 7); // books of another run
            rig_check(mabd_sim_restore(other, state, size, &error), &error, "restore");
            expect_same(other, &half, "restored, before a step");
            advance(other, HALF);
            expect_same(other, &whole, "restored");
            advance(clone, HALF);
            expect_same(clone, &whole, "cloned");
            mabd_sim_reset(sim);
            const mabd_energy_balance none = mabd_sim_get_energy_balance(sim);
            cr_expect(none.kinetic == 0 && none.drives == 0 && none.integrator == 0);
            advance(sim, 2 * HALF);
            expect_same(sim, &whole, "reset");
            balance_check(sim);
            free(state);
            mabd_sim_destroy(other), mabd_sim_destroy(clone);
            rig_destroy(sim, model);
        }
    }
}

Test(energy_books, do_not_depend_on_threads) {
    for (size_t s = 0; s < SCENES; s++) {
        mabd_model* model = rig_text_model(*scenes[s]);
        mabd_sim* one = start(model, 1, 1);
        advance(one, HALF);
        const mabd_energy_balance expected = mabd_sim_get_energy_balance(one);
        mabd_sim_destroy(one);
        for (int32_t threads = 2; threads < 5; threads++) {
            mabd_sim* sim = start(model, 1, threads);
            advance(sim, HALF);
            expect_same(sim, &expected, "threads");
            mabd_sim_destroy(sim);
        }
        mabd_model_destroy(model);
    }
}

Test(energy_books, every_account_has_an_entry) {
    mabd_model* model = rig_text_model(books_joints);
    for (size_t k = 0; k < BALANCE_METHODS; k++) {
        mabd_sim* sim = start(model, k, 1);
        const mabd_formulation formulation = balance_methods[k].formulation;
        const bool tells = formulation == MABD_FORMULATION_AFFINE ||
                           formulation == MABD_FORMULATION_REDMAX ||
                           formulation == MABD_FORMULATION_VARIATIONAL;
        advance(sim, 2 * HALF);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        cr_expect(b.drives != 0 && b.scripts != 0 && b.forces != 0);
        cr_expect(b.dampers > 0 && b.friction > 0 && b.drag != 0);
        cr_expect(tells ? b.impacts > 0 : isnan(b.impacts), "a stop is met");
        balance_check(sim);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
    model = rig_text_model(books_contacts);
    mabd_sim* sim = start(model, 1, 1);
    advance(sim, 2 * HALF);
    const mabd_energy_balance c = mabd_sim_get_energy_balance(sim);
    cr_expect(c.scripts != 0 && c.friction > 0 && c.impacts > 0 && c.dampers > 0);
    balance_check(sim);
    rig_destroy(sim, model);
}

// A state that is set changes energies, but no account.
Test(energy_books, leave_out_states_that_are_set) {
    mabd_model* model = rig_text_model("{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": "
                                       "\"b\", \"shape\": \"sphere\", \"radius\":"
                                       " 0.1, \"mass\": 2, \"drag\": 1}]}");
    mabd_sim* sim = start(model, 1, 1);
    mabd_error error = {0};
    const mabd_real up[3] = {0, 0, 5}, fast[3] = {3, 0, 1};
    advance(sim, 0);
    for (int i = 0; i < HALF; i++) rig_step(sim);
    const mabd_energy_balance before = mabd_sim_get_energy_balance(sim);
    rig_check(mabd_sim_set_state(sim, up, NULL, fast, NULL, &error), &error, "set_state");
    const mabd_energy_balance after = mabd_sim_get_energy_balance(sim);
    cr_expect(fabs(after.kinetic - before.kinetic) < 1e-12);
    cr_expect(fabs(after.gravity - before.gravity) < 1e-12);
    cr_expect(after.drag == before.drag);
    cr_expect(fabs(after.integrator - before.integrator) < 1e-12);
    for (int i = 0; i < HALF; i++) rig_step(sim);
    const mabd_energy_balance end = mabd_sim_get_energy_balance(sim);
    cr_expect(end.drag > after.drag && fabs(end.integrator) < 1e-2 * end.drag);
    rig_destroy(sim, model);
}

// A step that fails books nothing; the same step in parts books its work once. The chain of
// test_step_retry.c, two rods against each other, with dampers: dampers take what they take in
// steps of a 64th.
Test(energy_books, a_failed_step_leaves_no_trace) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.1, 0.02, 0.02], \"position\": [0.05, "
        "0, "
        "0], \"velocity\": [0, 0, -15], \"angular_velocity\": [0, 300, 0]},"
        "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.1, 0.02, 0.02], \"position\": [0.15, "
        "0, "
        "0], \"velocity\": [0, 0, -15], \"angular_velocity\": [0, -300, 0]}], \"joints\": ["
        "{\"type\": \"hinge\", \"b\": \"a\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": "
        "{\"rx\": {\"damping\": 1e-4, \"lower\": -4, \"upper\": 4}}},"
        "{\"type\": \"hinge\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0.1, 0, 0], \"axis\": [0, "
        "1, "
        "0]}]}");
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.max_iterations = 1, def.max_halvings = 0;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_energy_balance before = mabd_sim_get_energy_balance(sim);
    cr_assert(mabd_sim_step(sim, NULL, &error) != MABD_OK);
    expect_same(sim, &before, "failed");
    mabd_sim_destroy(sim);
    def.max_halvings = 6;
    sim = rig_sim(model, &def);
    const mabd_step_info info = rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    cr_assert(info.substeps > 1);
    cr_expect(b.dampers > 0 && b.impacts >= 0);
    balance_check(sim);
    rig_destroy(sim, model);
}

// Targets that jump every 7 steps: a motor of a given force, and a servo with a gain of 40 N/m.
// Their works are sums over steps of F dx and 40 ((T - x0)^2 - (T - x1)^2)/2, to round-off: a jump
// between two steps is no work.
Test(energy_books, a_target_that_jumps_does_no_work_at_the_jump) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"m\", \"shape\": \"box\", \"size\": "
        "[0.1, "
        "0.1, 0.1]}, {\"name\": \"s\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], "
        "\"position\": [0, "
        "1, 0]}], \"joints\": [{\"type\": \"prismatic\", \"b\": \"m\", \"axis\": [1, 0, 0], "
        "\"axes\": "
        "{\"tx\": {\"motor\": 0}}}, {\"type\": \"prismatic\", \"b\": \"s\", \"axis\": [1, 0, 0], "
        "\"anchor\": [0, 1, 0], \"axes\": {\"tx\": {\"servo\": 0, \"servo_stiffness\": 40}}}]}");
    mabd_error error = {0};
    for (size_t k = 0; k < 2; k++) {
        mabd_sim* sim = start(model, k, 1);
        mabd_real target[2] = {0, 0}, before[2], after[2];
        double work = 0;
        for (int i = 0; i < 60; i++) {
            if (i % 7 == 0) {
                target[0] = 3 * cos(i), target[1] = 0.2 * sin(i);
                rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, target, &error), &error, "targets");
            }
            mabd_sim_get_controls(sim, before, NULL);
            rig_step(sim);
            mabd_sim_get_controls(sim, after, NULL);
            work += target[0] * (after[0] - before[0]);
            work += 20 * (pow(target[1] - before[1], 2) - pow(target[1] - after[1], 2));
        }
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        cr_expect(fabs(work) > 0.1 && fabs(b.drives - work) < 1e-12, "%.15g for %.15g J",
                  (double)b.drives, work);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// The balance of a batch is the sum of those of its copies.
Test(energy_books, of_a_batch_are_the_sum_over_its_copies) {
    mabd_error error = {0};
    mabd_scene *batch, *copy;
    rig_check(mabd_scene_create(NULL, &batch), &error, "scene");
    for (int i = 0; i < 3; i++) {
        rig_check(mabd_scene_create(NULL, &copy), &error, "scene");
        rig_check(mabd_scene_load_text(copy, books_joints, strlen(books_joints), 0, NULL, &error),
                  &error, "copy");
        rig_check(mabd_scene_add_copy(batch, copy, &error), &error, "add");
        mabd_scene_destroy(copy);
    }
    mabd_model *all = rig_model(batch), *one = rig_text_model(books_joints);
    mabd_sim *sims = start(all, 1, 1), *sim = start(one, 1, 1);
    for (int i = 0; i < HALF; i++) rig_step(sims), rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sims),
                              c = mabd_sim_get_energy_balance(sim);
#define X(name, field, kind)                                                                       \
    cr_expect(fabs(b.field - 3 * c.field) < 1e-9, "%s: %g for 3 x %g J",                           \
              mabd_energy_name(MABD_ENERGY_##name), (double)b.field, (double)c.field);
    MABD_ENERGY_LIST(X)
#undef X
    rig_destroy(sims, all);
    rig_destroy(sim, one);
}

Test(energy_books, accounts_have_names_and_kinds) {
    cr_expect(strcmp(mabd_energy_name(MABD_ENERGY_DRIVES), "drives") == 0);
    cr_expect(strcmp(mabd_energy_name(MABD_ENERGY_COUNT), "unknown") == 0);
    cr_expect(mabd_energy_get_kind(MABD_ENERGY_SPRING) == MABD_ENERGY_IS_CHANGE);
    cr_expect(mabd_energy_get_kind(MABD_ENERGY_FORCES) == MABD_ENERGY_IS_WORK);
    cr_expect(mabd_energy_get_kind(MABD_ENERGY_DRAG) == MABD_ENERGY_IS_TAKEN);
    cr_expect(mabd_energy_get_kind(MABD_ENERGY_INTEGRATOR) == MABD_ENERGY_IS_REST);
    cr_expect(mabd_energy_get_kind(MABD_ENERGY_COUNT) == MABD_ENERGY_IS_REST);
}
