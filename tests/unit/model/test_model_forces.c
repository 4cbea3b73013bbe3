// SPDX-License-Identifier: Apache-2.0
// Tests for the forces of src/model/build.c: sorted by body, in linear work.
#include "model/model_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>

static mabd_scene* scene;
static mabd_model* model;
static mabd_error error;

static void setup(void) {
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
}

static void teardown(void) {
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}

TestSuite(model_forces, .init = setup, .fini = teardown);

static void add_bodies(int32_t n) {
    mabd_geom ball = mabd_geom_make(MABD_SHAPE_SPHERE, (const mabd_real[3]){0.1}, 1000);
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 1, def.geoms = &ball;
    for (int32_t i = 0; i < n; i++) {
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
}

static void add_force(int32_t body, mabd_real strength) {
    mabd_force_def def = {0};
    def.body = body, def.force[0] = strength;
    cr_assert(eq(int, mabd_scene_add_force(scene, &def, &error), MABD_OK), "%s", error.text);
}

static void build(void) {
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
}

// Sorting by body must not reorder the forces of one body: their sum would round differently.
Test(model_forces, are_sorted_by_body_and_keep_the_order_of_the_scene) {
    const int32_t bodies[] = {4, 1, 4, 0, 1, 4, 0};
    const int32_t sorted[] = {3, 6, 1, 4, 0, 2, 5}; // by hand
    add_bodies(5);
    for (int i = 0; i < 7; i++) add_force(bodies[i], (mabd_real)(i + 1));
    build();
    cr_assert(eq(i32, model->force_count, 7));
    for (int i = 0; i < 7; i++) {
        cr_expect(eq(i32, model->forces[i].body, bodies[sorted[i]]));
        cr_expect(eq(dbl, (double)model->forces[i].force.x, sorted[i] + 1.0));
    }
}

// The worst order of an insertion sort: 1e6 forces would take 5e11 moves, about an hour. Sorting by
// counting does not notice.
Test(model_forces, a_million_of_them_in_the_reverse_order_of_bodies_are_sorted) {
    const int32_t n = 1000000, bodies = 1000;
    add_bodies(bodies);
    for (int32_t i = 0; i < n; i++) add_force(bodies - 1 - i / (n / bodies), 1);
    build();
    cr_assert(eq(i32, model->force_count, n));
    for (int32_t i = 0; i < n; i++) {
        if (model->forces[i].body != i / (n / bodies)) cr_fatal("force %" PRId32 " misplaced", i);
    }
}
