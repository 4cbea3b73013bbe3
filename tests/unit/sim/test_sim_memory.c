// SPDX-License-Identifier: Apache-2.0
// Tests for src/sim/sim_plan.c: the parts of the memory sum to the bytes of model and simulation,
// the plan counts the bytes that a simulation then holds, and its part of the dual solvers is the
// sum over the lines.
#include "support/contact_scene.h"
#include "support/plain_sim.h"

#include <stdio.h>

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

// Return the bytes that the dual solvers hold, by the lines of the plan.
static size_t solver_bytes(const mabd_model* model, mabd_dual dual) {
    const mabd_sim_plan plan = plain_plan(model, dual);
    size_t total = 0;
    cr_assert(eq(int, plan.lines_left_out, 0));
    for (int32_t i = 0; i < plan.line_count; i++) {
        total += (size_t)plan.lines[i].components * plan.lines[i].bytes;
    }
    return total;
}

static void expect_parts(const char* name, const mabd_model* model, mabd_dual dual) {
    const mabd_sim_plan plan = plain_plan(model, dual);
    const size_t bodies = (size_t)mabd_model_body_count(model);
    cr_expect(eq(sz, sum(plan.bytes, 0, MABD_MEMORY_STATE), plan.bytes_model), "%s", name);
    cr_expect(eq(sz, plan.bytes_model, mabd_model_get_info(model).bytes_model), "%s", name);
    cr_expect(eq(sz, sum(plan.bytes, MABD_MEMORY_STATE, MABD_MEMORY_COUNT), plan.bytes_sim),
              "%s, %s", name, mabd_dual_name(dual));
    cr_expect(eq(sz, plan.bytes[MABD_MEMORY_DUAL], solver_bytes(model, dual)), "%s, %s", name,
              mabd_dual_name(dual));
    // q, v, q and v one step ago, stress: 54 numbers per body; rows and axes add to them
    cr_expect(le(sz, 54 * sizeof(mabd_real) * bodies, plan.bytes[MABD_MEMORY_STATE]), "%s", name);
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
        cr_expect(eq(sz, plain_plan(model, MABD_DUAL_AUTO).bytes_sim, mabd_sim_bytes(sim)), "%s",
                  names[i]);
        mabd_sim_destroy(sim);
        mabd_model_destroy(model);
    }
}

// Contacts allocate memory while they appear; no other part changes.
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
