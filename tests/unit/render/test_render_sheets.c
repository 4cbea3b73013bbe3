// SPDX-License-Identifier: Apache-2.0
// Tests for src/render/sheet.c: planes, bowls and height fields against geometry.
#include "render/piece.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 500 };
static const double focal = SIZE / 2 / 0.25534192122103627; // tan(0.25)

static mabd_render_item make_item(mabd_shape shape, double a, double b) {
    const mabd_real size[3] = {a, b, 0};
    mabd_render_item item = {
        .geom = mabd_geom_make(shape, size, 1000), .rotation = {1, 0, 0, 0}, .color = {0.5f, 0, 0}};
    return item;
}

// A camera ten metres from the origin, without ground.
static mabd_render_def make_def(double x, double y, double z) {
    mabd_render_def def = mabd_default_render_def();
    def.width = def.height = SIZE;
    def.ground = false;
    def.samples = 1;
    def.camera.fit = false;
    def.camera.position[0] = x, def.camera.position[1] = y, def.camera.position[2] = z;
    def.camera.fov = 0.5;
    return def;
}

static uint8_t* draw(const mabd_render_def* def, int32_t n, const mabd_render_item* items) {
    uint8_t* rgb = malloc((size_t)3 * SIZE * SIZE);
    mabd_error error = {0};
    const mabd_status status = mabd_render_draw(def, n, items, NULL, rgb, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    return rgb;
}

// Red pixels in the part of the picture above (side < 0) or below (> 0) its middle, or in all of it
// (0).
static int count_red(const uint8_t* rgb, int side) {
    int count = 0;
    for (int y = 0; y < SIZE; y++) {
        if ((side < 0 && y >= SIZE / 2) || (side > 0 && y < SIZE / 2)) continue;
        for (int x = 0; x < SIZE; x++) {
            const uint8_t* p = rgb + 3 * (y * SIZE + x);
            count += p[0] > p[1] + 30;
        }
    }
    return count;
}

static int red_of(const mabd_render_def* def, int32_t n, const mabd_render_item* items, int side) {
    uint8_t* rgb = draw(def, n, items);
    const int count = count_red(rgb, side);
    free(rgb);
    return count;
}

// An eye in the plane of the rim sees half the outline of the outer ball, which is
// pi (f s)^2 / (1 - s^2), s = R / distance; one above sees the rim, pi (f R / distance)^2.
Test(render_sheets, outline_of_a_bowl_is_its_projection) {
    const mabd_render_item bowl = make_item(MABD_SHAPE_BOWL, 1.2, 0.3);
    const mabd_render_def side = make_def(0, -10, 0), above = make_def(0, 0, 10);
    const double s = 0.15, half = acos(-1.0) * focal * focal * s * s / (1 - s * s) / 2;
    cr_expect(epsilon_eq(dbl, red_of(&side, 1, &bowl, 1) / half, 1, 0.01));
    cr_expect(eq(int, red_of(&side, 1, &bowl, -1), 0));
    const double rim = acos(-1.0) * focal * focal * s * s;
    cr_expect(epsilon_eq(dbl, red_of(&above, 1, &bowl, 0) / rim, 1, 0.01));
}

// A ball at the bottom is seen from above and hidden from the side.
Test(render_sheets, a_bowl_is_open_above) {
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOWL, 1, 0.1),
                                 make_item(MABD_SHAPE_SPHERE, 0.2, 0)};
    items[0].color[0] = 0, items[0].color[2] = 0.5f;
    items[1].position[2] = -0.8;
    const mabd_render_def side = make_def(0, -10, 0), above = make_def(0, 0, 10);
    const double seen = focal * 0.2 / 10.8, area = acos(-1.0) * seen * seen;
    cr_expect(epsilon_eq(dbl, red_of(&above, 2, items, 0) / area, 1, 0.03));
    cr_expect(eq(int, red_of(&side, 2, items, 0), 0));
}

// Balls at the bottom of a bowl, or in a valley, are hidden at the default elevation. The raised
// camera sees most of each: at an elevation of 50 degrees or more the disc of a ball at the bottom
// is free, and its area is pi (f r / distance)^2 with the fitted distance of at most 40 m.
static void expect_raised(int32_t n, mabd_render_item* items) {
    mabd_render_def def = make_def(0, 0, 0);
    def.camera.fit = true;
    def.camera.raise = false;
    cr_expect(eq(int, red_of(&def, n, items, 0), 0), "the case shows nothing");
    def.camera.raise = true;
    const double radius = focal * 0.1 / 40, area = acos(-1.0) * radius * radius;
    cr_expect(lt(dbl, (n - 1) * area, red_of(&def, n, items, 0)));
}

Test(render_sheets, the_fitted_camera_looks_over_the_rim_of_a_bowl) {
    mabd_render_item items[4] = {
        make_item(MABD_SHAPE_BOWL, 1, 0.1), make_item(MABD_SHAPE_SPHERE, 0.1, 0),
        make_item(MABD_SHAPE_SPHERE, 0.1, 0), make_item(MABD_SHAPE_SPHERE, 0.1, 0)};
    items[0].color[0] = 0, items[0].color[2] = 0.5f;
    for (int k = 1; k < 4; k++) {
        items[k].position[0] = 0.25 * (k - 2);
        items[k].position[1] = -0.1;
        items[k].position[2] = -0.85;
    }
    expect_raised(4, items);
}

Test(render_sheets, the_fitted_camera_looks_into_a_valley) {
    enum { NODES = 61 };
    mabd_real heights[NODES * NODES];
    for (int j = 0; j < NODES; j++) {
        for (int i = 0; i < NODES; i++) {
            heights[j * NODES + i] = abs(j - NODES / 2) > 2 ? 1 : 0; // a trench along x
        }
    }
    const mabd_height_field field = {NODES, NODES, 0.2, 0.2, heights};
    mabd_render_item items[3] = {make_item(MABD_SHAPE_HEIGHT_FIELD, 0, 0),
                                 make_item(MABD_SHAPE_SPHERE, 0.1, 0),
                                 make_item(MABD_SHAPE_SPHERE, 0.1, 0)};
    items[0].geom.field = &field;
    items[0].color[0] = 0, items[0].color[2] = 0.5f;
    for (int k = 1; k < 3; k++) {
        items[k].position[0] = k - 1.5;
        items[k].position[2] = 0.12;
    }
    expect_raised(3, items);
}

// Without a sheet that hides items the direction is used as it is.
Test(render_sheets, the_fitted_camera_is_not_raised_without_need) {
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOWL, 1, 0.1),
                                 make_item(MABD_SHAPE_SPHERE, 0.1, 0)};
    mabd_render_def def = make_def(0, 0, 0);
    def.camera.fit = true;
    items[1].position[2] = 0.5; // above the rim
    uint8_t* raised = draw(&def, 2, items);
    def.camera.raise = false;
    uint8_t* plain = draw(&def, 2, items);
    cr_expect(eq(int, memcmp(raised, plain, (size_t)3 * SIZE * SIZE), 0));
    free(raised), free(plain);
}

// Flat, at z = 1, from above: (f / 9)^2 times its area. One half raised by a metre: that half is
// nearer.
Test(render_sheets, outline_of_a_height_field_is_its_projection) {
    mabd_real heights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const mabd_height_field field = {3, 3, 0.7, 0.5, heights};
    mabd_render_item item = make_item(MABD_SHAPE_HEIGHT_FIELD, 0, 0);
    item.geom.field = &field;
    const mabd_render_def above = make_def(0, 0, 10);
    const double scale = focal / 9;
    cr_expect(epsilon_eq(dbl, red_of(&above, 1, &item, 0) / (1.4 * scale * scale), 1, 0.01));
    // y is up in the picture; the row at y = 0.5 to z = 2: at y > 0 a strip whose half width grows
    // from 0.7 f / 9 to 0.7 f / 8 while its height goes from 0 to 0.5 f / 8
    for (int i = 6; i < 9; i++) heights[i] = 2;
    const double strip = (0.7 / 9 + 0.7 / 8) * 0.5 / 8 * focal * focal;
    cr_expect(epsilon_eq(dbl, red_of(&above, 1, &item, -1) / strip, 1, 0.01));
    const mabd_render_def below = make_def(0, 0, -10);
    cr_expect(eq(int, red_of(&below, 1, &item, 0), 0), "solid below");
}

// A valley from each side, at half its depth: a rectangle of the border's height. Its near side is
// at a distance of ten metres less half the extent.
Test(render_sheets, a_height_field_has_a_skirt_down_to_its_lowest_height) {
    const mabd_real heights[9] = {0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5};
    const mabd_height_field field = {3, 3, 0.7, 0.5, heights};
    mabd_render_item item = make_item(MABD_SHAPE_HEIGHT_FIELD, 0, 0);
    item.geom.field = &field;
    for (int side = 0; side < 4; side++) {
        const double eye = side % 2 ? 10 : -10;
        const mabd_render_def def = side < 2 ? make_def(eye, 0, 0) : make_def(0, eye, 0);
        const double width = side < 2 ? 1 : 1.4, scale = focal / (side < 2 ? 9.3 : 9.5);
        const double border = (1 + width) * scale; // a pixel along two edges
        cr_expect(epsilon_eq(dbl, red_of(&def, 1, &item, 0), width * scale * scale, border),
                  "side %d", side);
    }
}

static void turn_about_x(mabd_render_item* item, double angle) {
    item->rotation[0] = cos(angle / 2), item->rotation[1] = sin(angle / 2);
}

Test(render_sheets, a_plane_hides_what_is_behind_it) {
    const mabd_render_def def = make_def(0, -10, 0);
    mabd_render_item items[2] = {make_item(MABD_SHAPE_SPHERE, 0.5, 0),
                                 make_item(MABD_SHAPE_PLANE, 0, 0)};
    for (int k = 0; k < 3; k++) items[1].color[k] = 0.3f;
    const int alone = red_of(&def, 1, items, 0);
    turn_about_x(&items[1], acos(0.0)); // normal (0, -1, 0), towards the eye
    items[1].position[1] = 2;
    cr_expect(eq(int, red_of(&def, 2, items, 0), alone));
    items[1].position[1] = -2;
    cr_expect(eq(int, red_of(&def, 2, items, 0), 0));
    turn_about_x(&items[1], -acos(0.0)); // seen from below
    cr_expect(eq(int, red_of(&def, 2, items, 0), alone));
}

Test(render_sheets, a_plane_does_not_move_the_camera) {
    mabd_render_item items[3] = {make_item(MABD_SHAPE_PLANE, 0, 0),
                                 make_item(MABD_SHAPE_SPHERE, 0.5, 0),
                                 make_item(MABD_SHAPE_SPHERE, 0.5, 0)};
    items[0].position[0] = 1e6, items[2].position[1] = 3;
    const mabd_frame with = mabd_frame_of(3, items), without = mabd_frame_of(2, items + 1);
    cr_expect(epsilon_eq(dbl, with.scale, without.scale, 1e-9));
    cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(with.origin, without.origin)), 1e-9));
    mabd_render_def def = make_def(0, -10, 0);
    def.camera.fit = true;
    cr_expect(lt(int, 10000, red_of(&def, 3, items, 0)));
    free(draw(&def, 1, items)); // nothing but a plane
}

Test(render_sheets, the_ground_replaces_the_highest_level_plane) {
    mabd_render_item items[3] = {make_item(MABD_SHAPE_SPHERE, 0.5, 0),
                                 make_item(MABD_SHAPE_PLANE, 0, 0),
                                 make_item(MABD_SHAPE_PLANE, 0, 0)};
    items[1].position[2] = -0.5, items[2].position[2] = -1.5;
    mabd_render_def def = make_def(3, -8, 5), given = def;
    def.ground = given.ground = true;
    given.ground_auto = false, given.ground_height = -0.5;
    uint8_t *with = draw(&def, 3, items), *without = draw(&given, 1, items);
    uint8_t* below = draw(&def, 1, items); // below the ball: at -0.502
    cr_expect(eq(int, memcmp(with, without, (size_t)3 * SIZE * SIZE), 0));
    cr_expect(ne(int, memcmp(with, below, (size_t)3 * SIZE * SIZE), 0));
    free(with), free(without), free(below);
}

static void expect_fault(const mabd_render_item* item, const char* text) {
    static uint8_t rgb[3 * SIZE * SIZE];
    const mabd_render_def def = make_def(0, -10, 0);
    mabd_error error = {0};
    cr_expect(eq(int, mabd_render_draw(&def, 1, item, NULL, rgb, &error), MABD_ERR_ARG));
    cr_expect(eq(str, error.text, (char*)text));
}

Test(render_sheets, broken_sheets_are_refused) {
    mabd_real heights[4] = {0, 0, 0, NAN};
    mabd_height_field field = {2, 2, 1, 0, heights};
    mabd_render_item item = make_item(MABD_SHAPE_HEIGHT_FIELD, 0, 0);
    expect_fault(&item, "item 0: height field without nodes");
    item.geom.field = &field;
    expect_fault(&item, "item 0: cell of a height field is not positive or not finite");
    field.dy = 1;
    expect_fault(&item, "item 0: height is not finite");
    field.rows = 1;
    expect_fault(&item, "item 0: height field without nodes");
    mabd_render_item bowl = make_item(MABD_SHAPE_BOWL, 1, -1);
    expect_fault(&bowl, "item 0: size is negative or not finite");
}
