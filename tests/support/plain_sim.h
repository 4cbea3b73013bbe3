// SPDX-License-Identifier: Apache-2.0
// A model, a default simulation and steps of it, none of which may fail.
#pragma once

#include <mabd/mabd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/// Create a scene from a text, with settings of its parameters.
static inline mabd_scene* plain_scene(const char* text, int32_t count,
                                      const mabd_setting* settings) {
    mabd_error error = {0};
    mabd_scene* scene;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    cr_assert(
        eq(int, mabd_scene_load_text(scene, text, strlen(text), count, settings, &error), MABD_OK),
        "%d:%d %s", (int)error.line, (int)error.column, error.text);
    return scene;
}

/// Build a model; the scene is destroyed.
static inline mabd_model* plain_build(mabd_scene* scene) {
    mabd_error error = {0};
    mabd_model* model;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    mabd_scene_destroy(scene);
    return model;
}

static inline mabd_sim* plain_start(const mabd_model* model, const mabd_allocator* allocator) {
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim;
    def.allocator = allocator;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

/// Return the plan of a simulation with these dual solvers; other fields are those of
/// mabd_default_sim_def().
static inline mabd_sim_plan plain_plan(const mabd_model* model, mabd_dual dual) {
    mabd_error error = {0};
    mabd_sim_plan plan;
    mabd_sim_def def = mabd_default_sim_def();
    def.dual = dual;
    cr_assert(eq(int, mabd_sim_get_plan(model, &def, &plan, &error), MABD_OK), "%s", error.text);
    return plan;
}

/// Make n steps; return the number of pressing contacts at the end.
static inline int32_t plain_advance(mabd_sim* sim, int n) {
    mabd_error error = {0};
    mabd_step_info info = {0};
    for (int i = 0; i < n; i++) {
        cr_assert(eq(int, mabd_sim_step(sim, &info, &error), MABD_OK), "%s", error.text);
    }
    return info.contacts;
}
