// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/pile_mixed.c
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>

static const mabd_shape shapes[] = {MABD_SHAPE_SPHERE, MABD_SHAPE_CAPSULE, MABD_SHAPE_BOX,
                                    MABD_SHAPE_CYLINDER};
static const char* const names[] = {"sphere", "capsule", "box", "cylinder"};

static mabd_scene* build(const mabd_pile_mixed_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    const mabd_status status = mabd_generate_pile_mixed(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), def->count));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    return scene;
}

// Place i of the grid, layer upon layer, has shape i % 4.
Test(pile_mixed, shapes_take_turns_on_the_grid) {
    mabd_pile_mixed_def def = mabd_default_pile_mixed_def();
    def.count = 23, def.columns = 2, def.rows = 3, def.spacing = 0.2, def.position[2] = 1;
    mabd_scene* scene = build(&def);
    for (int32_t place = 0; place < def.count; place++) {
        char name[64];
        snprintf(name, sizeof(name), "pile-mixed/%s/%d", names[place % 4], (int)(place / 4));
        const int32_t body = mabd_scene_find_body(scene, name);
        cr_assert(ge(i32, body, 0), "%s", name);
        cr_expect(eq(int, scene_geom(scene, body)->shape, shapes[place % 4]));
        const double* x = scene_body(scene, body)->position;
        const double want[3] = {(place % 2 - 0.5) * 0.2, (place / 2 % 3 - 1.0) * 0.2,
                                1 + place / 6 * 0.2};
        for (int k = 0; k < 3; k++) cr_expect(lt(dbl, fabs(x[k] - want[k]), 1e-12), "%s", name);
    }
    mabd_scene_destroy(scene);
}

// Distance of the farthest point of a geom from its centre.
static double reach(const mabd_geom* geom) {
    const double* s = geom->size;
    switch (geom->shape) {
    case MABD_SHAPE_SPHERE:
        return s[0];
    case MABD_SHAPE_CAPSULE:
        return s[0] + s[1] / 2;
    case MABD_SHAPE_BOX:
        return sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / 2;
    default:
        return hypot(s[0], s[1] / 2);
    }
}

// However they are turned, bodies a spacing of twice the size apart do not touch.
Test(pile_mixed, bodies_are_apart) {
    mabd_pile_mixed_def def = mabd_default_pile_mixed_def();
    def.size = 0.3, def.spacing = 0.6, def.count = 4;
    mabd_scene* scene = build(&def);
    for (int32_t i = 0; i < 4; i++)
        cr_expect(le(dbl, reach(scene_geom(scene, i)), 0.3 * (1 + 1e-12)));
    mabd_scene_destroy(scene);
}

// One seed gives one pile; the rotation at a place does not depend on the number of bodies.
Test(pile_mixed, rotations_depend_on_seed_and_place) {
    mabd_pile_mixed_def def = mabd_default_pile_mixed_def();
    def.count = 5;
    mabd_scene* few = build(&def);
    def.count = 9;
    mabd_scene* many = build(&def);
    def.seed = 7;
    mabd_scene* other = build(&def);
    const int32_t a = mabd_scene_find_body(few, "pile-mixed/box/0"),
                  b = mabd_scene_find_body(many, "pile-mixed/box/0"),
                  c = mabd_scene_find_body(many, "pile-mixed/box/1");
    double same = 0, seed = 0, place = 0;
    for (int k = 0; k < 4; k++) {
        const double q = scene_body(many, b)->rotation[k];
        same += fabs(q - scene_body(few, a)->rotation[k]);
        seed += fabs(q - scene_body(other, b)->rotation[k]);
        place += fabs(q - scene_body(many, c)->rotation[k]);
    }
    cr_expect(eq(dbl, same, 0));
    cr_expect(lt(dbl, 0.01, seed));
    cr_expect(lt(dbl, 0.01, place));
    mabd_scene_destroy(few);
    mabd_scene_destroy(many);
    mabd_scene_destroy(other);
}

Test(pile_mixed, refuses_what_it_cannot_build) {
    REFUSES(pile_mixed, "count must be at least 1", def.count = 0);
    REFUSES(pile_mixed, "columns must be at least 1", def.columns = 0);
    REFUSES(pile_mixed, "rows must be at least 1", def.rows = -1);
    REFUSES(pile_mixed, "size", def.size = 0);
    REFUSES(pile_mixed, "spacing must be at least 0.12, twice the size, not 0.1",
            def.spacing = 0.1);
    REFUSES(pile_mixed, "spacing", def.spacing = NAN);
    REFUSES(pile_mixed, "position", def.position[1] = INFINITY);
    REFUSES(pile_mixed, "", def.cookie = 0);
}

static mabd_status build_small(mabd_scene* scene, mabd_error* error) {
    mabd_pile_mixed_def def = mabd_default_pile_mixed_def();
    def.count = 6;
    return mabd_generate_pile_mixed(scene, &def, error);
}

Test(pile_mixed, every_allocation_failing_in_turn_leaks_nothing) {
    check_failing_allocations(build_small);
}
