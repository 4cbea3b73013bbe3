// SPDX-License-Identifier: Apache-2.0
// Tests for src/render: pictures against geometry, and the PNG writer.
#include "base/hash.h"
#include "render/ground.h"
#include "render/shade.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mabd_render_item make_item(mabd_shape shape, double a, double b, double c, mabd_vec3 at) {
    mabd_render_item item = {.geom = {.shape = shape, .size = {a, b, c}, .rotation = {1, 0, 0, 0}},
                             .position = {at.x, at.y, at.z},
                             .rotation = {1, 0, 0, 0},
                             .color = {0.2f, 0.2f, 0.2f}};
    return item;
}

static void set_color(mabd_render_item* item, float r, float g, float b) {
    item->color[0] = r, item->color[1] = g, item->color[2] = b;
}

// Capsule from a to b.
static mabd_render_item make_rod(mabd_vec3 a, mabd_vec3 b, double radius) {
    mabd_vec3 d = mabd_v3_sub(b, a), middle = mabd_v3_axpy(0.5, d, a);
    double length = mabd_v3_norm(d);
    mabd_render_item item = make_item(MABD_SHAPE_CAPSULE, radius, length, 0, middle);
    mabd_vec3 axis = mabd_v3_cross(mabd_v3(0, 0, 1), d);
    double s = mabd_v3_norm(axis);
    if (s > 0) {
        mabd_quat q = mabd_q_axis_angle(mabd_v3_scale(1 / s, axis), atan2(s, d.z));
        mabd_q_store(q, item.rotation);
    }
    set_color(&item, 0.02f, 0.02f, 0.05f);
    return item;
}

// A camera at (0, -10, 0) that looks along +y: x is right, z is up.
static mabd_render_def make_def(int32_t width, int32_t height) {
    mabd_render_def def = mabd_default_render_def();
    def.width = width, def.height = height;
    def.ground = false;
    def.samples = 1;
    def.camera.fit = false;
    def.camera.position[1] = -10;
    def.camera.fov = 0.5;
    return def;
}

static uint8_t* draw(const mabd_render_def* def, int32_t n, const mabd_render_item* items) {
    uint8_t* rgb = malloc(3 * (size_t)def->width * (size_t)def->height);
    mabd_error error;
    mabd_status status = mabd_render_draw(def, n, items, NULL, rgb, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    return rgb;
}

static int difference(const uint8_t* a, const uint8_t* b) {
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
}

static int count_changed(const mabd_render_def* def, const uint8_t* a, const uint8_t* b) {
    int count = 0;
    for (int i = 0; i < def->width * def->height; i++)
        count += difference(a + 3 * i, b + 3 * i) > 6;
    return count;
}

static const uint8_t* pixel(const mabd_render_def* def, const uint8_t* rgb, int x, int y) {
    return rgb + 3 * (y * def->width + x);
}

// ---- geometry ---------------------------------------------------------------------------------

// A sphere at angle t off the axis with angular radius a projects to an ellipse with half axes
// f sin a cos a / (cos^2 t - sin^2 a) and f sin a / sqrt(cos^2 t - sin^2 a).
static double sphere_area(double focal, double radius, mabd_vec3 from_eye) {
    double d = mabd_v3_norm(from_eye), s = radius / d, cos_t = from_eye.y / d;
    double k = cos_t * cos_t - s * s;
    return acos(-1.0) * focal * focal * s * sqrt(1 - s * s) / k * s / sqrt(k);
}

Test(render, outline_of_a_sphere_is_its_projection) {
    mabd_render_def def = make_def(600, 600);
    uint8_t* empty = draw(&def, 0, NULL);
    mabd_vec3 places[3] = {{0, 0, 0}, {1.3, 0, -1.1}, {-0.7, 2, 1.2}};
    for (int i = 0; i < 3; i++) {
        mabd_render_item item = make_item(MABD_SHAPE_SPHERE, 0.9, 0, 0, places[i]);
        uint8_t* rgb = draw(&def, 1, &item);
        mabd_vec3 from_eye = mabd_v3_add(places[i], mabd_v3(0, 10, 0));
        double expected = sphere_area(300 / tan(0.25), 0.9, from_eye);
        double count = count_changed(&def, rgb, empty);
        cr_assert(epsilon_eq(dbl, count / expected, 1, 0.01), "place %d", i);
        free(rgb);
    }
    free(empty);
}

Test(render, nearer_items_hide_farther_ones_in_any_order) {
    mabd_render_def def = make_def(101, 101);
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOX, 1, 1, 1, mabd_v3(0.2, 0, 0)),
                                 make_item(MABD_SHAPE_BOX, 1, 1, 1, mabd_v3(-0.2, -2, 0))};
    set_color(&items[0], 0, 0.5f, 0);
    set_color(&items[1], 0.5f, 0, 0);
    for (int turn = 0; turn < 2; turn++) {
        uint8_t* rgb = draw(&def, 2, items);
        const uint8_t* p = pixel(&def, rgb, 50, 50);
        cr_assert(lt(int, p[1] + 50, p[0]), "red is nearer");
        p = pixel(&def, rgb, 62, 50);
        cr_assert(lt(int, p[0] + 50, p[1]), "green beside it");
        free(rgb);
        mabd_render_item swap = items[0];
        items[0] = items[1], items[1] = swap;
    }
}

Test(render, intersecting_items_meet_where_their_depths_are_equal) {
    // two boxes turned by +-45 degrees about z cross in the plane x = 0
    mabd_render_def def = make_def(201, 201);
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOX, 3, 0.01, 1, mabd_v3(0, 0, 0)),
                                 make_item(MABD_SHAPE_BOX, 3, 0.01, 1, mabd_v3(0, 0, 0))};
    for (int i = 0; i < 2; i++) {
        mabd_quat q = mabd_q_axis_angle(mabd_v3(0, 0, 1), i ? -acos(-1.0) / 4 : acos(-1.0) / 4);
        mabd_q_store(q, items[i].rotation);
    }
    set_color(&items[0], 0.5f, 0, 0); // y = x: nearer where x < 0
    set_color(&items[1], 0, 0.5f, 0);
    uint8_t* rgb = draw(&def, 2, items);
    for (int x = 85; x <= 115; x++) {
        if (abs(x - 100) < 3) continue;
        const uint8_t* p = pixel(&def, rgb, x, 100);
        cr_assert(eq(int, p[0] > p[1], x < 100), "column %d", x);
    }
    free(rgb);
}

Test(render, box_faces_are_brighter_the_more_they_face_the_light) {
    mabd_render_def def = make_def(61, 61);
    double last = -1, last_cosine = -2;
    mabd_view view;
    mabd_render_item box = make_item(MABD_SHAPE_BOX, 2, 2, 2, mabd_v3(0, 0, 0));
    mabd_frame frame = mabd_frame_of(1, &box);
    mabd_error error;
    cr_assert(eq(int, mabd_view_camera(&def, &frame, 1, &box, &view, &error), MABD_OK));
    mabd_lights lights = mabd_lights_make(&view);
    for (int degrees = 40; degrees >= -40; degrees -= 10) { // the key light is on the left
        double angle = degrees * acos(-1.0) / 180;
        mabd_vec3 normal = mabd_v3(sin(angle), -cos(angle), 0);
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 0, 1), angle), box.rotation);
        uint8_t* rgb = draw(&def, 1, &box);
        const uint8_t* p = pixel(&def, rgb, 30, 30);
        double bright = p[0] + p[1] + p[2], cosine = mabd_v3_dot(normal, lights.key_world);
        cr_assert(lt(dbl, last_cosine, cosine));
        cr_assert(lt(dbl, last, bright), "at %d degrees", degrees);
        last = bright, last_cosine = cosine;
        free(rgb);
    }
}

static double rnd(uint64_t* s) {
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*s >> 11) / 9007199254740992.0 - 0.5;
}

static mabd_render_item random_item(uint64_t* s, double spread) {
    mabd_shape shape = (mabd_shape)((rnd(s) + 0.5) * MABD_SHAPE_PLANE);
    mabd_render_item item =
        make_item(shape, 0.6 + rnd(s), 0.6 + rnd(s), 0.6 + rnd(s), mabd_v3(0, 0, 0));
    for (int k = 0; k < 3; k++) item.position[k] = spread * rnd(s), item.geom.position[k] = rnd(s);
    for (int k = 0; k < 4; k++) item.rotation[k] = rnd(s), item.geom.rotation[k] = rnd(s);
    return item;
}

// The point of an item's surface farthest along a direction, by the definition of the shapes.
static mabd_vec3 surface_point(const mabd_render_item* item, mabd_vec3 d) {
    mabd_mat3 body = mabd_q_matrix(mabd_q_normalize(mabd_q_load(item->rotation)));
    mabd_mat3 geom = mabd_q_matrix(mabd_q_normalize(mabd_q_load(item->geom.rotation)));
    mabd_vec3 e = mabd_m3_tmul(mabd_m3_product(body, geom), d), p = mabd_v3(0, 0, 0);
    const double* s = item->geom.size;
    double side = sqrt(e.x * e.x + e.y * e.y), sign = e.z > 0 ? 1 : -1;
    switch (item->geom.shape) {
    case MABD_SHAPE_BOX:
        p = mabd_v3(copysign(s[0], e.x) / 2, copysign(s[1], e.y) / 2, copysign(s[2], e.z) / 2);
        break;
    case MABD_SHAPE_CYLINDER:
        p = mabd_v3(s[0] * e.x / side, s[0] * e.y / side, sign * s[1] / 2);
        break;
    case MABD_SHAPE_CAPSULE:
        p = mabd_v3(s[0] * e.x, s[0] * e.y, s[0] * e.z + sign * s[1] / 2);
        break;
    default:
        p = mabd_v3_scale(s[0], e);
        break;
    }
    p = mabd_v3_add(mabd_v3_load(item->geom.position), mabd_m3_mul(geom, p));
    return mabd_v3_add(mabd_v3_load(item->position), mabd_m3_mul(body, p));
}

Test(render, fit_holds_every_item_and_wastes_nothing) {
    mabd_render_def def = mabd_default_render_def();
    uint64_t s = 7;
    for (int trial = 0; trial < 20; trial++) {
        mabd_render_item items[12];
        for (int i = 0; i < 12; i++) items[i] = random_item(&s, 8);
        for (int k = 0; k < 3; k++) def.camera.direction[k] = rnd(&s);
        mabd_frame frame = mabd_frame_of(12, items);
        mabd_view view;
        cr_assert(eq(int, mabd_view_camera(&def, &frame, 12, items, &view, NULL), MABD_OK));

        double fullest = 0;
        for (int i = 0; i < 12 * 4000; i++) {
            mabd_vec3 d = mabd_v3(rnd(&s), rnd(&s), rnd(&s));
            mabd_vec3 p = surface_point(&items[i / 4000], mabd_v3_scale(1 / mabd_v3_norm(d), d));
            p = mabd_v3_scale(frame.scale, mabd_v3_sub(p, frame.origin));
            mabd_vec3 c = mabd_view_point(&view, p);
            cr_assert(lt(dbl, view.near, c.z));
            mabd_vec3 at = mabd_view_project(&view, c);
            double x = fabs(at.x - view.cx) / view.cx, y = fabs(at.y - view.cy) / view.cy;
            fullest = fmax(fullest, fmax(x, y));
        }
        cr_assert(le(dbl, fullest, 0.86 + 1e-9), "trial %d", trial);
        cr_assert(ge(dbl, fullest, 0.83), "trial %d", trial);
    }
}

Test(render, meshes_are_closed_and_face_outwards) {
    // volume by the divergence theorem: sum of p . (q x r) / 6
    mabd_meshes meshes;
    mabd_arena arena = {NULL, 0, 0};
    mabd_meshes_make(&arena, &meshes);
    arena.size = arena.used, arena.used = 0;
    arena.memory = aligned_alloc(64, arena.size);
    mabd_meshes_make(&arena, &meshes);
    const mabd_mesh* all[3] = {&meshes.round[MABD_MESH_LEVELS - 1],
                               &meshes.cylinder[MABD_MESH_LEVELS - 1], &meshes.box};
    double pi = acos(-1.0), half[3][3] = {{0, 0, 1}, {1, 1, 1}, {1, 1, 1}}, round[3] = {0.5, 0, 0};
    double expected[3] = {pi * 0.25 * 2 + pi / 6, 2 * pi, 8};
    for (int m = 0; m < 3; m++) {
        double volume = 0;
        for (int32_t t = 0; t < all[m]->triangle_count; t++) {
            mabd_vec3 p[3];
            for (int i = 0; i < 3; i++) {
                const mabd_mesh_vertex* v = &all[m]->vertices[all[m]->triangles[3 * t + i]];
                double x[3];
                for (int k = 0; k < 3; k++)
                    x[k] = v->corner[k] * half[m][k] + round[m] * v->normal[k];
                p[i] = mabd_v3_load(x);
            }
            volume += mabd_v3_dot(p[0], mabd_v3_cross(p[1], p[2])) / 6;
        }
        cr_assert(epsilon_eq(dbl, volume / expected[m], 1, 2e-3), "mesh %d", m);
    }
    free(arena.memory);
}

Test(render, packed_normals_come_back) {
    uint64_t s = 3;
    for (int i = 0; i < 1000; i++) {
        mabd_vec3 v = mabd_v3(rnd(&s), rnd(&s), rnd(&s));
        float n[3];
        mabd_normal_unpack(mabd_normal_pack((float)v.x, (float)v.y, (float)v.z), n);
        mabd_vec3 w = mabd_v3(n[0], n[1], n[2]);
        double sine = mabd_v3_norm(mabd_v3_cross(v, w)) / mabd_v3_norm(v);
        cr_assert(lt(dbl, sine, 1e-4));
        cr_assert(lt(dbl, 0, mabd_v3_dot(v, w)));
    }
}

// ---- thin items -------------------------------------------------------------------------------

// Every column between x0 and x1 has a pixel that differs clearly from the empty picture.
static void assert_unbroken(const mabd_render_def* def, const uint8_t* rgb, const uint8_t* empty,
                            int x0, int x1, int contrast) {
    for (int x = x0; x <= x1; x++) {
        int most = 0;
        for (int y = 0; y < def->height; y++) {
            int d = difference(pixel(def, rgb, x, y), pixel(def, empty, x, y));
            most = d > most ? d : most;
        }
        cr_assert(lt(int, contrast, most), "column %d", x);
    }
}

Test(render, rods_thinner_than_a_pixel_stay_visible) {
    for (int samples = 1; samples <= 3; samples++) {
        mabd_render_def def = make_def(200, 200);
        def.samples = samples;
        uint8_t* empty = draw(&def, 0, NULL);
        for (int slope = 0; slope < 5; slope++) {
            double z = 0.45 * slope;
            mabd_render_item rod = make_rod(mabd_v3(-2, 0, -z), mabd_v3(2, 0, z), 1e-5);
            uint8_t* rgb = draw(&def, 1, &rod);
            assert_unbroken(&def, rgb, empty, 30, 170, 90);
            free(rgb);
        }
        free(empty);
    }
}

Test(render, a_rod_of_many_tiny_links_looks_like_one_rod) {
    enum { LINKS = 5000 };
    mabd_render_def def = make_def(200, 200);
    mabd_render_item* items = malloc(LINKS * sizeof *items);
    for (int i = 0; i < LINKS; i++) {
        double x = -2 + 4.0 * i / LINKS;
        items[i] = make_rod(mabd_v3(x, 0, 0.3 * x),
                            mabd_v3(x + 4.0 / LINKS, 0, 0.3 * (x + 4.0 / LINKS)), 1e-5);
    }
    uint8_t *empty = draw(&def, 0, NULL), *rgb = draw(&def, LINKS, items);
    assert_unbroken(&def, rgb, empty, 30, 170, 60);
    free(empty), free(rgb), free(items);
}

Test(render, a_rod_that_runs_from_near_to_far_is_unbroken) {
    // X = Z/4 - 1/2 in depth Z = 1 .. 30: 3 pixels wide at the left, a tenth of a pixel at the
    // right
    mabd_render_def def = make_def(200, 200);
    uint8_t* empty = draw(&def, 0, NULL);
    mabd_render_item rod = make_rod(mabd_v3(-0.25, -9, 0), mabd_v3(7, 20, 0.7), 0.004);
    uint8_t* rgb = draw(&def, 1, &rod);
    assert_unbroken(&def, rgb, empty, 5, 188, 60);
    free(empty), free(rgb);
}

typedef struct line_sum {
    double sum;
    float low, high;
} line_sum;

static void add_coverage(void* context, int32_t x, int32_t y, float coverage, float key) {
    line_sum* seen = context;
    (void)x, (void)y;
    seen->sum += coverage;
    seen->low = fminf(seen->low, key), seen->high = fmaxf(seen->high, key);
}

// Over all positions of a line on the pixels, its coverage is its area on average.
Test(render, coverage_of_a_line_is_its_area) {
    uint64_t s = 5;
    for (int k = 0; k < 8; k++) {
        double angle = 0.4 * k, length = 23.7, mean = 0;
        for (int i = 0; i < 400; i++) {
            float dx = (float)(length / 2 * cos(angle)), dy = (float)(length / 2 * sin(angle));
            float x = 32 + (float)rnd(&s), y = 32 + (float)rnd(&s);
            mabd_line line = {x - dx, y - dy, 1, x + dx, y + dy, 2, 0.6f};
            line_sum seen = {0, 9, 0};
            mabd_line_draw(&line, 64, 64, add_coverage, &seen);
            cr_assert(ge(flt, seen.low, 1));
            cr_assert(le(flt, seen.high, 2));
            mean += seen.sum / (0.6 * length) / 400;
        }
        cr_assert(epsilon_eq(dbl, mean, 1, 0.01), "angle %g", angle);
    }
}

// ---- ground, palette --------------------------------------------------------------------------

Test(render, grid_spacing_is_1_2_5) {
    cr_assert(epsilon_eq(dbl, mabd_ground_step(0.99), 0.5, 1e-12));
    cr_assert(epsilon_eq(dbl, mabd_ground_step(1), 1, 1e-12));
    cr_assert(epsilon_eq(dbl, mabd_ground_step(3.7), 2, 1e-12));
    cr_assert(epsilon_eq(dbl, mabd_ground_step(4999), 2000, 1e-9));
    cr_assert(epsilon_eq(dbl, mabd_ground_step(7e-5), 5e-5, 1e-16));
}

Test(render, items_cast_a_shadow_on_the_ground) {
    mabd_render_def def = make_def(200, 200);
    def.ground = true, def.ground_auto = false, def.ground_height = -2;
    def.camera.position[2] = 8;
    mabd_render_item far_away = make_item(MABD_SHAPE_SPHERE, 0.01, 0, 0, mabd_v3(0, 0, 0));
    mabd_render_item ball = make_item(MABD_SHAPE_SPHERE, 0.8, 0, 0, mabd_v3(0, 0, 0));
    uint8_t *without = draw(&def, 1, &far_away), *with = draw(&def, 1, &ball);
    // the key light is up on the left behind the viewer: the shadow falls to the right and away,
    // the ball itself is round the middle
    int darker = 0, brighter = 0;
    for (int y = 0; y < 200; y++) {
        for (int x = 0; x < 200; x++) {
            if (hypot(x - 100, y - 100) < 32) continue;
            int d = pixel(&def, with, x, y)[1] - pixel(&def, without, x, y)[1];
            darker += d<-15, brighter += d> 4;
        }
    }
    cr_assert(lt(int, 300, darker));
    cr_assert(eq(int, brighter, 0));
    free(with), free(without);
}

Test(render, colours_alternate_and_static_is_grey) {
    float a[3], b[3], c[3], grey[3];
    mabd_render_color(0, false, a);
    mabd_render_color(1, false, b);
    mabd_render_color(4, true, grey);
    mabd_render_color(5, true, c);
    cr_assert(lt(flt, 0.2f, fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2])));
    cr_assert(eq(int, memcmp(grey, c, sizeof c), 0));
    cr_assert(lt(flt, fabsf(grey[0] - grey[1]) + fabsf(grey[1] - grey[2]), 0.05f));
}

// ---- robustness -------------------------------------------------------------------------------

Test(render, same_input_gives_the_same_bytes) {
    mabd_render_def def = mabd_default_render_def();
    def.width = 160, def.height = 90;
    mabd_render_item items[40];
    uint64_t s = 11, hash[3];
    for (int i = 0; i < 40; i++)
        items[i] = i % 2 ? random_item(&s, 9) : make_rod(mabd_v3(i, 0, 0), mabd_v3(i, 9, 1), 0.01);
    for (int run = 0; run < 3; run++) {
        if (run == 2) items[7].position[0] += 0.5;
        uint8_t* rgb = draw(&def, 40, items);
        hash[run] = mabd_hash(MABD_HASH_START, rgb, 3 * 160 * 90);
        free(rgb);
    }
    cr_assert(eq(u64, hash[0], hash[1]));
    cr_assert(ne(u64, hash[0], hash[2]));
}

Test(render, far_from_the_origin_nothing_changes) {
    mabd_render_def def = mabd_default_render_def();
    def.width = 160, def.height = 120, def.ground = false;
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOX, 1, 2, 0.5, mabd_v3(0, 0, 0)),
                                 make_item(MABD_SHAPE_SPHERE, 0.5, 0, 0, mabd_v3(1, 1, 1))};
    uint8_t* here = draw(&def, 2, items);
    for (int i = 0; i < 2; i++) items[i].position[0] += 1048576.0 * 1024;
    uint8_t* there = draw(&def, 2, items);
    cr_assert(le(int, count_changed(&def, here, there), 10));
    free(here), free(there);
}

Test(render, degenerate_scenes_are_drawn) {
    mabd_render_def def = mabd_default_render_def();
    def.width = 64, def.height = 48;
    free(draw(&def, 0, NULL));

    mabd_render_item point = make_item(MABD_SHAPE_SPHERE, 0, 0, 0, mabd_v3(1e12, -3, 5));
    free(draw(&def, 1, &point));
    mabd_render_item flat = make_item(MABD_SHAPE_BOX, 1, 0, 0, mabd_v3(0, 0, 0));
    free(draw(&def, 1, &flat));
    mabd_render_item huge = make_item(MABD_SHAPE_CAPSULE, 1e30, 1e140, 0, mabd_v3(1e140, 0, 0));
    free(draw(&def, 1, &huge));

    def.width = def.height = 1;
    def.samples = 3;
    mabd_render_item pair[2] = {flat, make_item(MABD_SHAPE_CYLINDER, 3, 1e-9, 0, mabd_v3(0, 0, 0))};
    for (int k = 0; k < 3; k++) { // along each axis, straight up and down too
        for (int sign = -1; sign <= 1; sign += 2) {
            memset(def.camera.direction, 0, sizeof def.camera.direction);
            def.camera.direction[k] = sign;
            free(draw(&def, 2, pair));
        }
    }
}

Test(render, a_camera_inside_an_item_sees_the_others) {
    mabd_render_def def = make_def(101, 101);
    mabd_render_item items[2] = {make_item(MABD_SHAPE_BOX, 4, 4, 4, mabd_v3(0, -10, 0)),
                                 make_item(MABD_SHAPE_SPHERE, 1, 0, 0, mabd_v3(0, 0, 0))};
    set_color(&items[1], 0.6f, 0, 0);
    uint8_t* rgb = draw(&def, 2, items);
    const uint8_t* p = pixel(&def, rgb, 50, 50);
    cr_assert(lt(int, p[1] + 30, p[0]));
    free(rgb);
}

Test(render, nothing_is_drawn_nearer_than_the_near_plane) {
    mabd_view view = {.focal = 50, .cx = 32, .cy = 32, .near = 0.5, .width = 64, .height = 64};
    float key[64 * 64] = {0};
    mabd_target target = {64, 64, key, NULL, NULL};
    // a large triangle through the eye's plane, rising towards the eye from depth 2 to -1
    mabd_raster_vertex v[3] = {
        {.point = {-4, -0.2, 2}}, {.point = {0, 0.1, -1}}, {.point = {4, 0.2, 2}}};
    for (int k = 0; k < 3; k++) mabd_raster_vertex_set(&view, &v[k]);
    mabd_raster_triangle(&view, &target, 0, &v[0], &v[1], &v[2]);
    mabd_raster_triangle(&view, &target, 0, &v[0], &v[2], &v[1]);
    int drawn = 0;
    float most = 0;
    for (int i = 0; i < 64 * 64; i++) drawn += key[i] > 0, most = fmaxf(most, key[i]);
    cr_assert(lt(int, 100, drawn));
    cr_assert(le(flt, most, 2.0001f));
    cr_assert(lt(flt, 1.6f, most), "it does reach the near plane");
}

Test(render, items_that_cross_the_near_plane_are_clipped) {
    // a floor that passes below the eye: the lower half of the picture, the horizon in the middle
    mabd_render_def def = make_def(100, 100);
    mabd_render_item slab = make_item(MABD_SHAPE_BOX, 4000, 4000, 0.1, mabd_v3(0, 0, -1));
    uint8_t *empty = draw(&def, 0, NULL), *rgb = draw(&def, 1, &slab);
    for (int x = 0; x < 100; x++) {
        for (int y = 0; y < 100; y++) {
            bool drawn = difference(pixel(&def, rgb, x, y), pixel(&def, empty, x, y)) > 30;
            if (y != 50) cr_assert(eq(int, drawn, y > 50), "pixel %d %d", x, y);
        }
    }
    free(rgb), free(empty);
}

static void assert_refused(const mabd_render_def* def, const mabd_render_item* item,
                           const char* reason) {
    uint8_t rgb[3 * 64 * 48];
    mabd_error error;
    mabd_status status = mabd_render_draw(def, 1, item, NULL, rgb, &error);
    cr_assert(eq(int, status, MABD_ERR_ARG));
    cr_assert(strstr(error.text, reason) != NULL, "'%s' in '%s'", reason, error.text);
}

Test(render, bad_input_is_refused_with_a_reason) {
    mabd_render_def def = mabd_default_render_def(), bad_def;
    def.width = 64, def.height = 48;
    mabd_render_item good = make_item(MABD_SHAPE_BOX, 1, 1, 1, mabd_v3(0, 0, 0)), item = good;
    item.position[1] = NAN;
    assert_refused(&def, &item, "item 0: position");
    item = good, item.geom.position[2] = INFINITY;
    assert_refused(&def, &item, "item 0: position");
    item = good, item.rotation[0] = 0;
    assert_refused(&def, &item, "rotation");
    item = good, item.geom.size[2] = -1;
    assert_refused(&def, &item, "size");
    item = good, item.color[0] = NAN;
    assert_refused(&def, &item, "color");
    item = good, item.geom.shape = (mabd_shape)77;
    assert_refused(&def, &item, "shape");
    item = good, item.geom.size[0] = 1e308, item.position[0] = 1.7e308;
    assert_refused(&def, &item, "too far apart");
    bad_def = def, bad_def.samples = 4;
    assert_refused(&bad_def, &good, "samples");
    bad_def = def, bad_def.width = 0;
    assert_refused(&bad_def, &good, "pixels");
    bad_def = def, bad_def.camera.fov = 0;
    assert_refused(&bad_def, &good, "fov");
    bad_def = def, memset(bad_def.camera.direction, 0, sizeof bad_def.camera.direction);
    assert_refused(&bad_def, &good, "direction");
}

typedef struct counting {
    int fail_at, count;
    long live;
} counting;

static void* counting_alloc(void* context, size_t bytes) {
    counting* c = context;
    if (c->count++ == c->fail_at) return NULL;
    c->live += (long)bytes;
    return aligned_alloc(64, bytes);
}

static void counting_free(void* context, void* memory, size_t bytes) {
    counting* c = context;
    c->live -= (long)bytes;
    free(memory);
}

Test(render, memory_comes_from_the_allocator_and_goes_back) {
    mabd_render_def def = mabd_default_render_def();
    def.width = 64, def.height = 48;
    uint8_t rgb[3 * 64 * 48];
    mabd_render_item item = make_item(MABD_SHAPE_BOX, 1, 1, 1, mabd_v3(0, 0, 0));
    counting state = {-1, 0, 0};
    mabd_allocator allocator = {counting_alloc, counting_free, &state};
    cr_assert(eq(int, mabd_render_draw(&def, 1, &item, &allocator, rgb, NULL), MABD_OK));
    cr_assert(eq(long, state.live, 0));
    int total = state.count;
    cr_assert(lt(int, 0, total));
    for (int i = 0; i < total; i++) {
        state.fail_at = i, state.count = 0;
        mabd_error error;
        mabd_status status = mabd_render_draw(&def, 1, &item, &allocator, rgb, &error);
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
        cr_assert(eq(long, state.live, 0));
    }
}
