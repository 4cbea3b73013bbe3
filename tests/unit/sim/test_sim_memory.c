// SPDX-License-Identifier: Apache-2.0
// Tests for src/sim/memory_parts.c: the parts of the memory sum to what model and simulation hold, and the solvers'
// part is what the solvers say of themselves.
#include "support/contact_scene.h"
#include "support/plain_sim.h"

#include <stdio.h>

#define LINES 64

static mabd_model* load(const char* name) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_model* model;
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, name);
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(eq(int, mabd_scene_load(scene, path, 0, NULL, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    mabd_scene_destroy(scene);
    return model;
}

static size_t sum(const size_t* bytes, int from, int to) {
    size_t total = 0;
    for (int k = from; k < to; k++) total += bytes[k];
    return total;
}

// Bytes that the dual solvers hold, by the lines of the plan.
static size_t solver_bytes(const mabd_model* model, mabd_dual dual) {
    mabd_dual_line lines[LINES];
    int32_t count = 0, left_out = 0;
    size_t total = 0;
    cr_assert(eq(int, mabd_model_dual_plan(model, dual, LINES, lines, &count, &left_out), MABD_OK));
    cr_assert(eq(int, left_out, 0));
    for (int32_t i = 0; i < count; i++) total += (size_t)lines[i].components * lines[i].bytes;
    return total;
}

static void expect_parts(const char* name, const mabd_model* model, mabd_dual dual) {
    const size_t bytes_sim = mabd_model_sim_bytes(model, dual);
    size_t bytes[MABD_MEMORY_COUNT];
    mabd_model_memory(model, dual, bytes_sim, bytes);
    cr_expect(eq(sz, sum(bytes, 0, MABD_MEMORY_STATE), mabd_model_get_info(model).bytes_model),
              "%s, %s", name, mabd_dual_name(dual));
    cr_expect(eq(sz, sum(bytes, MABD_MEMORY_STATE, MABD_MEMORY_COUNT), bytes_sim), "%s, %s", name,
              mabd_dual_name(dual));
    cr_expect(eq(sz, bytes[MABD_MEMORY_DUAL], solver_bytes(model, dual)), "%s, %s", name,
              mabd_dual_name(dual));
    // q, v, the same a step ago, stress: 54 numbers a body, and at most what rows and axes add
    const size_t bodies = (size_t)mabd_model_body_count(model);
    cr_expect(le(sz, 54 * sizeof(mabd_real) * bodies, bytes[MABD_MEMORY_STATE]), "%s", name);
}

static void expect_sim_parts(const char* name, const mabd_sim* sim) {
    size_t bytes[MABD_MEMORY_COUNT];
    mabd_sim_memory(sim, bytes);
    cr_expect(eq(sz, sum(bytes, 0, MABD_MEMORY_STATE),
                 mabd_model_get_info(mabd_sim_model(sim)).bytes_model),
              "%s", name);
    cr_expect(eq(sz, sum(bytes, MABD_MEMORY_STATE, MABD_MEMORY_COUNT), mabd_sim_bytes(sim)), "%s",
              name);
    cr_expect(eq(sz, bytes[MABD_MEMORY_DUAL],
                 solver_bytes(mabd_sim_model(sim), mabd_sim_get_def(sim).dual)),
              "%s", name);
}

Test(sim_memory, parts_sum_to_the_whole_with_every_dual_solver) {
    const char* names[] = {"chain", "tree", "net", "four-bar", "strandbeest", "star"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        mabd_model* model = load(names[i]);
        for (int k = 0; k < MABD_DUAL_COUNT; k++) expect_parts(names[i], model, (mabd_dual)k);
        mabd_sim* sim = plain_start(model, NULL);
        expect_sim_parts(names[i], sim);
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// Contacts take memory while they come; no other part changes.
Test(sim_memory, only_contacts_grow) {
    for (int i = 0; i < CONTACT_SCENE_COUNT; i++) {
        const char* name = contact_scene_name((contact_scene)i);
        mabd_model* model = contact_scene_model((contact_scene)i, NULL);
        mabd_sim* sim = plain_start(model, NULL);
        size_t before[MABD_MEMORY_COUNT], after[MABD_MEMORY_COUNT];
        mabd_sim_memory(sim, before);
        plain_advance(sim, 60);
        mabd_sim_memory(sim, after);
        expect_sim_parts(name, sim);
        cr_expect(lt(sz, before[MABD_MEMORY_CONTACTS], after[MABD_MEMORY_CONTACTS]), "%s", name);
        for (int k = 0; k < MABD_MEMORY_COUNT; k++) {
            if (k == MABD_MEMORY_CONTACTS) continue;
            cr_expect(eq(sz, before[k], after[k]), "%s: %s", name,
                      mabd_memory_name((mabd_memory)k));
        }
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}
