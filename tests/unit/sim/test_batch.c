// SPDX-License-Identifier: Apache-2.0
// Tests for mabd/batch.h. The oracle of most tests is the scene of one copy, simulated alone
// without any code of batches: that copy in a batch must have the same bits.
#include "mabd/mabd.h"
#include "support/plain_sim.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS        50
#define MOST_COPIES  24
#define MOST_CHANGES 3

// One parameter of a shipped scene that differs between copies: low + (high - low) * part of the
// copy.
typedef struct change {
    const char* name;
    double low, high;
} change;

typedef struct setup {
    const char* scene;
    int32_t copies;
    change changes[MOST_CHANGES]; // up to the first without a name
} setup;

// Values spread over 0 .. 1, in no order.
static double part_of(int32_t copy) {
    return fmod(0.37 + 0.618033988749895 * copy, 1);
}

static mabd_scene* make_scene(const setup* s, int32_t copy) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_setting settings[MOST_CHANGES];
    char path[512], values[MOST_CHANGES][40];
    int32_t count = 0;
    for (; count < MOST_CHANGES && s->changes[count].name; count++) {
        const change* c = &s->changes[count];
        const double value = c->low + (c->high - c->low) * part_of(copy + 7 * count);
        snprintf(values[count], sizeof values[count], "%.17g", value);
        settings[count] = (mabd_setting){c->name, values[count]};
    }
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, s->scene);
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load(scene, path, count, settings, &error), MABD_OK), "%s: %s",
              s->scene, error.text);
    return scene;
}

static mabd_scene* add_copies(const setup* s, int32_t first, int32_t count) {
    mabd_error error = {0};
    mabd_scene* batch;
    cr_assert(eq(int, mabd_scene_create(NULL, &batch), MABD_OK));
    for (int32_t i = 0; i < count; i++) {
        mabd_scene* copy = make_scene(s, first + i);
        cr_assert(eq(int, mabd_scene_add_copy(batch, copy, &error), MABD_OK), "%s", error.text);
        mabd_scene_destroy(copy);
    }
    cr_assert(eq(int, mabd_scene_copy_count(batch), count));
    return batch;
}

// Return bodies count x (3 position, 4 rotation, 3 velocity, 3 angular velocity); the caller frees.
#define BODY_REALS 13
static mabd_real* state_of(const mabd_sim* sim) {
    const size_t n = (size_t)mabd_model_body_count(mabd_sim_model(sim));
    mabd_real* state = malloc(BODY_REALS * n * sizeof *state);
    mabd_sim_get_state(sim, state, state + 3 * n, state + 7 * n, state + 10 * n);
    return state;
}

// Return the largest difference between copy `copy` of n bodies each and a state of n bodies; 0
// only if all bits agree.
static double difference(const mabd_real* batch, int32_t copies, int32_t copy,
                         const mabd_real* alone, int32_t n) {
    static const int parts[] = {3, 4, 3, 3};
    const size_t bodies = (size_t)n;
    double worst = 0;
    for (int p = 0; p < 4; p++) {
        const size_t count = bodies * (size_t)parts[p];
        const mabd_real* a = batch + (size_t)copy * count;
        for (size_t i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - alone[i]));
        if (memcmp(a, alone, count * sizeof *a) != 0) worst = fmax(worst, 1e-300);
        batch += (size_t)copies * count, alone += count;
    }
    return worst;
}

// Expect the joint forces in copy `copy` to be equal, bit for bit.
static void expect_forces(const mabd_sim* batch, int32_t copy, const mabd_sim* alone) {
    const size_t all = 6 * (size_t)mabd_model_joint_count(mabd_sim_model(batch));
    const size_t one = 6 * (size_t)mabd_model_joint_count(mabd_sim_model(alone));
    mabd_real* forces = malloc((all + one) * sizeof *forces);
    mabd_sim_get_joint_forces(batch, forces);
    mabd_sim_get_joint_forces(alone, forces + all);
    cr_expect(eq(int, memcmp(forces + (size_t)copy * one, forces + all, one * sizeof *forces), 0),
              "forces of copy %d", (int)copy);
    free(forces);
}

static void expect_alone(const setup* s, const mabd_sim* sim, double tolerance) {
    mabd_real* batch = state_of(sim);
    for (int32_t c = 0; c < s->copies; c++) {
        mabd_model* model = plain_build(make_scene(s, c));
        const int32_t n = mabd_model_body_count(model);
        mabd_sim* alone = plain_start(model, NULL);
        plain_advance(alone, STEPS);
        mabd_real* state = state_of(alone);
        const double off = difference(batch, s->copies, c, state, n);
        cr_expect(le(dbl, off, tolerance), "%s, copy %d", s->scene, (int)c);
        if (tolerance == 0) expect_forces(sim, c, alone);
        free(state);
        mabd_sim_destroy(alone);
        mabd_model_destroy(model);
    }
    free(batch);
}

static void compare(const setup* s, double tolerance) {
    mabd_model* model = plain_build(add_copies(s, 0, s->copies));
    cr_assert(eq(int, mabd_model_copy_count(model), s->copies));
    mabd_sim* sim = plain_start(model, NULL);
    plain_advance(sim, STEPS);
    expect_alone(s, sim, tolerance);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch, gives_a_chain_the_bits_it_has_alone) {
    const setup s = {"chain", 20, {{"radius", 0.005, 0.02}, {"end_mass_ratio", 2, 50}}};
    compare(&s, 0);
}

Test(batch, gives_a_robot_arm_the_bits_it_has_alone) {
    const setup s = {"arm", 24, {{"load", 0.2, 5}, {"gain", 100, 800}, {"swing", 0.2, 1.5}}};
    compare(&s, 0);
}

Test(batch, gives_a_tree_the_bits_it_has_alone) {
    const setup s = {"binary-tree", 5, {{"depth", 4, 4}}};
    compare(&s, 0);
}

Test(batch, gives_linkages_with_loops_the_bits_they_have_alone) {
    const setup four_bar = {"double-four-bar", 12, {{"velocity", 0.5, 3}}};
    compare(&four_bar, 0);
    const setup driven = {"four-bar", 6, {{"speed", 2, 12}}};
    compare(&driven, 0);
}

Test(batch, gives_long_chains_in_segments_the_bits_they_have_alone) {
    const setup s = {"chain", 3, {{"links", 1500, 1500}, {"radius", 0.005, 0.02}}};
    compare(&s, 0);
}

// All copies are in the same place and none touches another. Equal copies need the same solves, so
// they have the same bits as alone, for every contact solver.
Test(batch, keeps_copies_from_touching_each_other) {
    const setup pile = {"falling-joints", 3, {{"pairs", 16, 16}}};
    compare(&pile, 0);
    const setup stack = {"stack", 7, {{"friction", 0.5, 0.5}}};
    compare(&stack, 0);
}

Test(batch, finds_contacts_within_copies_only) {
    const setup s = {"stack", 5, {{"friction", 0.3, 0.9}}};
    mabd_model* model = plain_build(add_copies(&s, 0, s.copies));
    const int32_t bodies = mabd_model_body_count(model) / s.copies;
    mabd_sim* sim = plain_start(model, NULL);
    cr_assert(lt(int, 0, plain_advance(sim, STEPS)));
    mabd_contact_info contacts[400];
    const int32_t count = mabd_sim_get_contacts(sim, 400, contacts);
    int32_t of[5] = {0};
    for (int32_t i = 0; i < count; i++) {
        cr_expect(eq(int, contacts[i].a / bodies, contacts[i].b / bodies));
        of[contacts[i].b / bodies]++;
    }
    for (int32_t c = 1; c < s.copies; c++) cr_expect(eq(int, of[c], of[0]));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// With contacts, the number of solves per step is decided for all copies. Further solves change the
// state within the tolerance of contacts, 1e-6 m per step.
Test(batch, agrees_to_the_tolerance_of_contacts_where_copies_differ) {
    const setup slide = {"incline", 6, {{"angle", 10, 40}}};
    compare(&slide, 1e-6 * STEPS);
    const setup bounce = {"bounce", 6, {{"height", 0.05, 0.2}}};
    compare(&bounce, 1e-6 * STEPS);
}

// The device kernels, run by the executor: there, too, a copy has the bits of its scene alone, and
// it agrees with the CPU after a step.
static mabd_sim* start_on(const mabd_model* model, mabd_backend backend) {
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim;
    def.backend = backend;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

Test(batch, gives_the_same_on_the_kernels_of_devices) {
    const setup s = {"arm", 5, {{"load", 0.2, 5}, {"gain", 100, 800}, {"swing", 0.2, 1.5}}};
    if (!mabd_backend_get_info(MABD_BACKEND_EXECUTOR).built) cr_skip("without the executor");
    mabd_model* model = plain_build(add_copies(&s, 0, s.copies));
    mabd_sim *sim = start_on(model, MABD_BACKEND_EXECUTOR), *cpu = plain_start(model, NULL);
    plain_advance(sim, 1);
    plain_advance(cpu, 1);
    mabd_real *here = state_of(cpu), *there = state_of(sim);
    const int32_t bodies = mabd_model_body_count(model);
    cr_expect(le(dbl, difference(there, 1, 0, here, bodies), 1e-12));
    free(here);
    free(there);
    plain_advance(sim, STEPS - 1);
    mabd_real* batch = state_of(sim);
    for (int32_t c = 0; c < s.copies; c++) {
        mabd_model* one = plain_build(make_scene(&s, c));
        mabd_sim* alone = start_on(one, MABD_BACKEND_EXECUTOR);
        plain_advance(alone, STEPS);
        mabd_real* state = state_of(alone);
        cr_expect(eq(dbl, difference(batch, s.copies, c, state, bodies / s.copies), 0), "copy %d",
                  (int)c);
        expect_forces(sim, c, alone);
        free(state);
        mabd_sim_destroy(alone);
        mabd_model_destroy(one);
    }
    free(batch);
    mabd_sim_destroy(cpu);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

Test(batch, of_one_copy_is_the_scene_itself) {
    const setup s = {"arm", 1, {{"load", 0.2, 5}}};
    compare(&s, 0);
}
