// SPDX-License-Identifier: Apache-2.0
// Tests for mabd/batch.h. The oracle of most is the scene of one copy, simulated alone: what a batch makes of that copy must be
// the same, bit for bit. No text of batches takes part in it.
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

// One parameter of a shipped scene that differs from copy to copy: low + (high - low) * part of the copy.
typedef struct change {
    const char* name;
    double low, high;
} change;

typedef struct setup {
    const char* scene;
    int32_t copies;
    change changes[MOST_CHANGES]; // up to the first without a name
} setup;

// Spread over 0 .. 1, in no order.
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

static mabd_model* build(mabd_scene* scene) {
    mabd_error error = {0};
    mabd_model* model;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    mabd_scene_destroy(scene);
    return model;
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

// Bodies count x (3 position, 4 rotation, 3 velocity, 3 angular velocity), to be freed.
#define BODY_REALS 13
static mabd_real* state_of(const mabd_sim* sim) {
    const size_t n = (size_t)mabd_model_body_count(mabd_sim_model(sim));
    mabd_real* state = malloc(BODY_REALS * n * sizeof *state);
    mabd_sim_get_state(sim, state, state + 3 * n, state + 7 * n, state + 10 * n);
    return state;
}

// Largest difference between copy `copy` of n bodies each and a state of n bodies; 0 only if all bits agree.
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

static void expect_alone(const setup* s, const mabd_sim* sim, double tolerance) {
    mabd_real* batch = state_of(sim);
    for (int32_t c = 0; c < s->copies; c++) {
        mabd_model* model = build(make_scene(s, c));
        const int32_t n = mabd_model_body_count(model);
        mabd_sim* alone = plain_start(model, NULL);
        plain_advance(alone, STEPS);
        mabd_real* state = state_of(alone);
        const double off = difference(batch, s->copies, c, state, n);
        cr_expect(le(dbl, off, tolerance), "%s, copy %d", s->scene, (int)c);
        free(state);
        mabd_sim_destroy(alone);
        mabd_model_destroy(model);
    }
    free(batch);
}

static void compare(const setup* s, double tolerance) {
    mabd_model* model = build(add_copies(s, 0, s->copies));
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

Test(batch, gives_long_chains_in_runs_the_bits_they_have_alone) {
    const setup s = {"chain", 3, {{"links", 1500, 1500}, {"radius", 0.005, 0.02}}};
    compare(&s, 0);
}

Test(batch, x1) {
    const setup s = {"incline", 6, {{"angle", 10, 40}}};
    compare(&s, 0);
}
Test(batch, x2) {
    const setup s = {"bounce", 6, {{"height", 0.05, 0.2}}};
    compare(&s, 0);
}
Test(batch, x4) {
    const setup s = {"falling-joints", 3, {{"pairs", 16, 16}, {"young", 1e8, 1e9}}};
    compare(&s, 0);
}
Test(batch, x7) {
    const setup s = {"ragdolls", 3, {{"copies", 1, 1}, {"hubs", 6, 6}, {"friction", 0.3, 0.9}}};
    compare(&s, 0);
}
