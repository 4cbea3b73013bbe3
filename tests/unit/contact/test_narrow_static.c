// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/bowl.c and src/contact/height_field.c
#include "contact/narrow.h"

#include "support/convex.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

static mabd_contact_point out[MABD_CONTACT_MAX_POINTS];

static mabd_pose at(double x, double y, double z) {
    mabd_pose pose = {.position = mabd_v3(x, y, z), .rotation = mabd_m3_identity()};
    return pose;
}

static mabd_pose turned(mabd_pose pose, mabd_vec3 axis, double angle) {
    pose.rotation = mabd_m3_product(turn(axis, angle), pose.rotation);
    return pose;
}

#define near_vec(u, v, tol) cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(u, v)), tol))

// ---- bowl ---------------------------------------------------------------------------------------

static const mabd_collider bowl = {.kind = MABD_COLLIDER_BOWL, .size = {1, 0.2, 0}};

static int32_t in_bowl(const mabd_collider* a, mabd_pose pa, double margin) {
    const mabd_pose pb = at(0, 0, 0);
    return mabd_narrow(a, &pa, &bowl, &pb, margin, out);
}

// Compare a ball in any place with samples of the whole surface of the shell.
Test(narrow_static, ball_and_bowl_by_samples) {
    const mabd_collider ball = {.kind = MABD_COLLIDER_SPHERE, .size = {0.1, 0, 0}};
    uint64_t state = 1;
    for (int n = 0; n < 100; n++) {
        const mabd_vec3 c = draw_vec3(&state, 1.5);
        double nearest = 1e300;
        for (int i = 0; i < 60000; i++) {
            const double z = -(i + 0.5) / 60000, angle = 2.399963229728653 * i,
                         rho = sqrt(1 - z * z);
            const mabd_vec3 d = mabd_v3(rho * cos(angle), rho * sin(angle), z);
            const double radius = 1 + 0.2 * (i + 0.5) / 60000; // of a point of the top
            const mabd_vec3 top = mabd_v3(radius * cos(angle), radius * sin(angle), 0);
            nearest = fmin(nearest, mabd_v3_norm(mabd_v3_sub(c, d)));
            nearest = fmin(nearest, mabd_v3_norm(mabd_v3_sub(c, mabd_v3_scale(1.2, d))));
            nearest = fmin(nearest, mabd_v3_norm(mabd_v3_sub(c, top)));
        }
        const double length = mabd_v3_norm(c);
        const bool solid = c.z < 0 && length > 1 && length < 1.2;
        cr_assert(eq(i32, in_bowl(&ball, at(c.x, c.y, c.z), 10), 1));
        cr_assert(le(dbl, fabs(out[0].distance - ((solid ? -nearest : nearest) - 0.1)), 0.01));
    }
}

// In the solid the separation is up if the top is nearest, else inward or outward.
Test(narrow_static, ball_in_the_wall_of_the_bowl) {
    const mabd_collider ball = {.kind = MABD_COLLIDER_SPHERE, .size = {0.1, 0, 0}};
    const mabd_vec3 places[3] = {{1.1, 0, -0.01}, {0, 0, -1.02}, {0, 0, -1.17}};
    const mabd_vec3 normals[3] = {{0, 0, -1}, {0, 0, -1}, {0, 0, 1}};
    const double depth[3] = {0.01, 0.02, 0.03};
    for (int k = 0; k < 3; k++) {
        cr_assert(eq(i32, in_bowl(&ball, at(places[k].x, places[k].y, places[k].z), 0), 1));
        cr_assert(le(dbl, fabs(out[0].distance + depth[k] + 0.1), 1e-12));
        near_vec(out[0].normal, normals[k], 1e-12);
    }
}

// Inside: distance = 1 - (largest distance of a point of the shape from the centre), sampled.
Test(narrow_static, farthest_points_touch_the_bowl_from_inside) {
    uint64_t state = 2;
    double above = 0, below = 0;
    int checked = 0;
    for (int n = 0; n < 600; n++) {
        const mabd_collider_kind kind = (mabd_collider_kind)(n % 4);
        mabd_collider a = convex_draw_shape(kind, &state);
        for (int k = 0; k < 3; k++) a.size[k] *= 0.3;
        const mabd_vec3 c = mabd_v3_add(draw_vec3(&state, 0.4), mabd_v3(0, 0, -0.6));
        mabd_pose pose = at(c.x, c.y, c.z);
        pose.rotation = draw_rotation(&state);
        double farthest = 0;
        mabd_vec3 point = c;
        for (int i = 0; i < 20000; i++) {
            const double z = 1 - (i + 0.5) / 10000, angle = 2.399963229728653 * i;
            const double rho = sqrt(1 - z * z);
            const mabd_vec3 d = mabd_v3(rho * cos(angle), rho * sin(angle), z);
            const mabd_vec3 x = convex_support(&a, &pose, d);
            if (mabd_v3_norm(x) > farthest) farthest = mabd_v3_norm(x), point = x;
        }
        if (farthest > 1.1 || point.z > -0.1) continue;
        checked++;
        const int32_t count = in_bowl(&a, pose, 10);
        cr_assert(ge(i32, count, 1));
        const double found = convex_smallest(out, count);
        above = fmax(above, found - (1 - farthest)), below = fmax(below, 1 - farthest - found);
    }
    printf("%d shapes in a bowl: %.1e above, %.1e below the samples\n", checked, above, below);
    cr_assert(ge(int, checked, 200));
    cr_assert(le(dbl, above, 1e-12));
    cr_assert(le(dbl, below, 3e-4));
}

// A link that leans over the inner edge at 45 degrees, and a board that covers the bowl.
Test(narrow_static, rim_of_the_bowl) {
    const double s = sqrt(0.5), r = 0.05, gap = 1e-3;
    const mabd_collider link = {.kind = MABD_COLLIDER_CAPSULE, .size = {r, 0.6, 0}};
    const mabd_collider board = {.kind = MABD_COLLIDER_BOX, .size = {4, 1, 0.2}};
    const mabd_vec3 away = mabd_v3(-s, 0, s), x = mabd_v3(1, 0, 0), y = mabd_v3(0, 1, 0);
    const mabd_vec3 c = mabd_v3_axpy(r + gap, away, x);
    cr_assert(eq(i32, in_bowl(&link, turned(at(c.x, c.y, c.z), y, MABD_PI / 4), 0.01), 1));
    cr_assert(le(dbl, fabs(out[0].distance - gap), 1e-9));
    near_vec(out[0].normal, mabd_v3_scale(-1, away), 1e-6);
    near_vec(out[0].on_b, x, 1e-6);

    const int32_t count = in_bowl(&board, at(0, 0, 0.1 + gap), 0.01);
    cr_assert(ge(i32, count, 4));
    double low = 0, high = 0;
    for (int32_t i = 0; i < count; i++) {
        cr_assert(le(dbl, fabs(out[i].distance - gap), 1e-9));
        near_vec(out[i].normal, mabd_v3(0, 0, -1), 1e-9);
        low = fmin(low, out[i].on_b.x), high = fmax(high, out[i].on_b.x);
    }
    cr_assert(le(dbl, low, -0.9));
    cr_assert(ge(dbl, high, 0.9));
}

// From outside, a face against the round surface: one point, below the rim.
Test(narrow_static, outside_of_the_bowl) {
    const mabd_collider box = {.kind = MABD_COLLIDER_BOX, .size = {1, 1, 1}};
    cr_assert(eq(i32, in_bowl(&box, at(0, 0, -1.2 - 0.5 - 0.01), 0.02), 1));
    cr_assert(le(dbl, fabs(out[0].distance - 0.01), 1e-12));
    near_vec(out[0].normal, mabd_v3(0, 0, 1), 1e-12);
    near_vec(out[0].on_b, mabd_v3(0, 0, -1.2), 1e-12);
}

// ---- height field -------------------------------------------------------------------------------

#define NODES 21

// heights = tilt . (x, y), as a field and as a plane
static void check_inclined(double tilt_x, double tilt_y) {
    static mabd_real heights[NODES * NODES];
    const mabd_height_field field = {NODES, NODES, 0.2, 0.3, heights};
    for (int j = 0; j < NODES; j++) {
        for (int i = 0; i < NODES; i++) {
            heights[j * NODES + i] = tilt_x * 0.2 * (i - 10) + tilt_y * 0.3 * (j - 10);
        }
    }
    const mabd_collider ground = {.kind = MABD_COLLIDER_HEIGHT_FIELD, .field = &field};
    const mabd_collider plane = {.kind = MABD_COLLIDER_PLANE};
    const mabd_vec3 up = mabd_v3(-tilt_x, -tilt_y, 1);
    const mabd_vec3 n = mabd_v3_scale(1 / mabd_v3_norm(up), up);
    mabd_pose flat = at(0, 0, 0), frame = at(0.3, -0.2, 1);
    flat.rotation.c3 = n;
    flat.rotation.c1 = mabd_v3_cross(mabd_v3(0, 1, 0), n);
    flat.rotation.c1 = mabd_v3_scale(1 / mabd_v3_norm(flat.rotation.c1), flat.rotation.c1);
    flat.rotation.c2 = mabd_v3_cross(n, flat.rotation.c1);
    flat.position = frame.position;

    uint64_t state = 5;
    for (int k = 0; k < 2000; k++) {
        const mabd_collider a = convex_draw_shape((mabd_collider_kind)(k % 4), &state);
        const mabd_vec3 c = mabd_v3_add(draw_vec3(&state, 0.5), mabd_v3(0.3, -0.2, 1.3));
        mabd_pose pose = at(c.x, c.y, c.z);
        pose.rotation = draw_rotation(&state);
        mabd_contact_point expected[MABD_CONTACT_MAX_POINTS];
        const int32_t wanted = mabd_narrow(&a, &pose, &plane, &flat, 0.1, expected);
        const int32_t count = mabd_narrow(&a, &pose, &ground, &frame, 0.1, out);
        cr_assert(ge(i32, count, wanted));
        cr_assert(le(i32, count, wanted + 1));
        for (int32_t i = 0; i < wanted; i++) {
            bool found = false;
            for (int32_t j = 0; j < count; j++) {
                const mabd_vec3 d = mabd_v3_sub(out[j].on_a, expected[i].on_a);
                const mabd_vec3 e = mabd_v3_sub(out[j].normal, expected[i].normal);
                found = found || mabd_v3_norm(d) + mabd_v3_norm(e) < 1e-9;
            }
            cr_assert(found);
        }
    }
}

// At rest on flat ground: no points at the seams of the triangles.
Test(narrow_static, seams_of_even_ground_are_not_felt) {
    static mabd_real heights[NODES * NODES];
    const mabd_height_field field = {NODES, NODES, 0.1, 0.1, heights};
    const mabd_collider ground = {.kind = MABD_COLLIDER_HEIGHT_FIELD, .field = &field};
    const mabd_pose origin = at(0, 0, 0);
    const mabd_collider shapes[4] = {{.kind = MABD_COLLIDER_SPHERE, .size = {0.2, 0, 0}},
                                     {.kind = MABD_COLLIDER_CAPSULE, .size = {0.2, 0.5, 0}},
                                     {.kind = MABD_COLLIDER_BOX, .size = {0.5, 0.7, 0.4}},
                                     {.kind = MABD_COLLIDER_CYLINDER, .size = {0.2, 0.4, 0}}};
    const int32_t lying[4] = {1, 2, 4, 2};
    for (int n = 0; n < 40; n++) {
        const double gap = n % 2 ? 1e-3 : -1e-3;
        for (int k = 0; k < 4; k++) {
            const mabd_vec3 x = mabd_v3(1, 0, 0), z = mabd_v3(0, 0, 1);
            mabd_pose pose = at(0.017 * n - 0.3, 0.1, 0.2 + gap);
            if (k != 2) pose = turned(pose, x, MABD_PI / 2);
            pose = turned(pose, z, 0.1 * n);
            const int32_t count = mabd_narrow(&shapes[k], &pose, &ground, &origin, 0.01, out);
            cr_assert(eq(i32, count, lying[k]));
            for (int32_t i = 0; i < count; i++) {
                cr_assert(le(dbl, fabs(out[i].distance - gap), 1e-12));
                near_vec(out[i].normal, mabd_v3(0, 0, -1), 1e-12);
            }
        }
    }
}

// heights = -|x| / 2: a box along and across the ridge, on it and slightly in it.
Test(narrow_static, a_box_rests_on_a_ridge) {
    static mabd_real heights[NODES * NODES];
    const mabd_height_field field = {NODES, NODES, 0.2, 0.2, heights};
    for (int j = 0; j < NODES; j++) {
        for (int i = 0; i < NODES; i++) heights[j * NODES + i] = -0.1 * abs(i - 10);
    }
    const mabd_collider ground = {.kind = MABD_COLLIDER_HEIGHT_FIELD, .field = &field};
    const mabd_collider box = {.kind = MABD_COLLIDER_BOX, .size = {0.3, 0.5, 0.4}};
    const mabd_pose origin = at(0, 0, 0);
    for (int n = 0; n < 20; n++) {
        const double gap = n % 2 ? 1e-3 : -1e-3, tilt = 1e-6 * n;
        mabd_pose pose = turned(at(0.01 * n - 0.1, 0.03 * n, 0.2 + gap), mabd_v3(1, 0, 0), tilt);
        const int32_t count = mabd_narrow(&box, &pose, &ground, &origin, 0.01, out);
        double low = 1e9, high = -1e9;
        for (int32_t i = 0; i < count; i++) {
            cr_assert(le(dbl, fabs(out[i].distance - gap), 1e-5));
            near_vec(out[i].normal, mabd_v3(0, 0, -1), 1e-4);
            low = fmin(low, out[i].on_b.y), high = fmax(high, out[i].on_b.y);
        }
        cr_assert(ge(i32, count, 2));
        cr_assert(le(dbl, fabs(low - (0.03 * n - 0.25)), 1e-4));
        cr_assert(le(dbl, fabs(high - (0.03 * n + 0.25)), 1e-4));
    }
}

Test(narrow_static, an_even_field_is_a_plane) {
    check_inclined(0, 0);
    check_inclined(0.3, 0);
    check_inclined(-0.2, 0.5);
}

static mabd_vec3 in_triangle(const mabd_vec3* t, mabd_vec3 x) {
    // nearest point of a triangle: over the face, or the best of three edges
    const mabd_vec3 n = mabd_v3_cross(mabd_v3_sub(t[1], t[0]), mabd_v3_sub(t[2], t[0]));
    bool inside = true;
    mabd_vec3 best = t[0];
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 p = t[k], d = mabd_v3_sub(t[(k + 1) % 3], p);
        const mabd_vec3 w = mabd_v3_sub(x, p);
        if (mabd_v3_dot(mabd_v3_cross(d, w), n) < 0) inside = false;
        const double s = fmin(fmax(mabd_v3_dot(w, d) / mabd_v3_dot(d, d), 0), 1);
        const mabd_vec3 foot = mabd_v3_axpy(s, d, p);
        const double before = mabd_v3_norm(mabd_v3_sub(best, x));
        if (mabd_v3_norm(mabd_v3_sub(foot, x)) < before) best = foot;
    }
    if (!inside) return best;
    const double height = mabd_v3_dot(n, mabd_v3_sub(x, t[0])) / mabd_v3_dot(n, n);
    return mabd_v3_axpy(-height, n, x);
}

// Compute the distance of a solid and a triangle, x in the triangle, by gradients x - nearest
// point.
static double triangle_distance(const mabd_collider* a, const mabd_pose* pose, const mabd_vec3* t) {
    mabd_vec3 x = in_triangle(t, pose->position), last = x;
    double best = 1e300, momentum = 1;
    for (int i = 0; i < 3000; i++) {
        const double next = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        const mabd_vec3 u = mabd_v3_axpy((momentum - 1) / next, mabd_v3_sub(x, last), x);
        last = x, momentum = next;
        x = in_triangle(t, convex_project(a, pose, u));
        const double d = mabd_v3_norm(mabd_v3_sub(x, convex_project(a, pose, x)));
        if (d > best + 1e-12) momentum = 1;
        best = fmin(best, d);
        if (mabd_v3_norm(mabd_v3_sub(x, last)) < 1e-13) break;
    }
    return best;
}

static mabd_vec3 terrain_node(const mabd_height_field* f, int i, int j) {
    return mabd_v3((i - (f->columns - 1) / 2.0) * f->dx, (j - (f->rows - 1) / 2.0) * f->dy,
                   f->heights[j * f->columns + i]);
}

static double terrain_distance(const mabd_collider* a, const mabd_pose* pose,
                               const mabd_height_field* f) {
    double best = 1e300;
    for (int j = 0; j + 1 < f->rows; j++) {
        for (int i = 0; i + 1 < f->columns; i++) {
            const mabd_vec3 p = terrain_node(f, i, j), q = terrain_node(f, i + 1, j + 1);
            const mabd_vec3 one[3] = {p, terrain_node(f, i + 1, j), q};
            const mabd_vec3 two[3] = {p, q, terrain_node(f, i, j + 1)};
            best = fmin(best, triangle_distance(a, pose, one));
            best = fmin(best, triangle_distance(a, pose, two));
        }
    }
    return best;
}

static double terrain_height(const mabd_height_field* f, double x, double y) {
    const double u = x / f->dx + (f->columns - 1) / 2.0, v = y / f->dy + (f->rows - 1) / 2.0;
    const int i = (int)floor(u), j = (int)floor(v);
    const double s = u - i, t = v - j, p = terrain_node(f, i, j).z;
    const double q = terrain_node(f, i + 1, j + 1).z;
    const double side = s > t ? terrain_node(f, i + 1, j).z : terrain_node(f, i, j + 1).z;
    return s > t ? p + s * (side - p) + t * (q - side) : p + t * (side - p) + s * (q - side);
}

// Every contact of a ball is a minimum: the surface around it is farther from the centre.
Test(narrow_static, contacts_of_a_ball_are_local_minima) {
    uint64_t state = 8;
    int32_t checked = 0;
    const mabd_collider ball = {.kind = MABD_COLLIDER_SPHERE, .size = {0.1, 0, 0}};
    const mabd_collider ground = convex_draw_shape(MABD_COLLIDER_HEIGHT_FIELD, &state);
    const mabd_pose origin = at(0, 0, 0);
    for (int n = 0; n < 2000; n++) {
        const mabd_vec3 c = mabd_v3_add(draw_vec3(&state, 0.3), mabd_v3(0, 0, 0.5));
        const mabd_pose pose = at(c.x, c.y, c.z);
        const int32_t count = mabd_narrow(&ball, &pose, &ground, &origin, 0.4, out);
        for (int32_t i = 0; i < count; i++) {
            const double distance = mabd_v3_norm(mabd_v3_sub(c, out[i].on_b));
            for (int k = 0; k < 32; k++) {
                const double x = out[i].on_b.x + 1e-4 * cos(MABD_PI * k / 16);
                const double y = out[i].on_b.y + 1e-4 * sin(MABD_PI * k / 16);
                const mabd_vec3 beside = mabd_v3(x, y, terrain_height(ground.field, x, y));
                cr_assert(ge(dbl, mabd_v3_norm(mabd_v3_sub(c, beside)), distance - 1e-9));
            }
            checked++;
        }
    }
    cr_assert(ge(i32, checked, 2000));
}

Test(narrow_static, distance_over_rough_terrain) {
    uint64_t state = 6;
    double worst = 0;
    int checked = 0;
    for (int n = 0; n < 160; n++) {
        mabd_collider a = convex_draw_shape((mabd_collider_kind)(n % 4), &state);
        const mabd_collider ground = convex_draw_shape(MABD_COLLIDER_HEIGHT_FIELD, &state);
        for (int k = 0; k < 3; k++) a.size[k] *= 0.5;
        const mabd_vec3 c = mabd_v3_add(draw_vec3(&state, 0.2), mabd_v3(0, 0, 0.45));
        mabd_pose pose = at(c.x, c.y, c.z), origin = at(0, 0, 0);
        pose.rotation = draw_rotation(&state);
        const double expected = terrain_distance(&a, &pose, ground.field);
        if (expected < 1e-6) continue;
        checked++;
        const int32_t count = mabd_narrow(&a, &pose, &ground, &origin, 1, out);
        cr_assert(ge(i32, count, 1));
        worst = fmax(worst, fabs(convex_smallest(out, count) - expected));
    }
    printf("%d shapes over terrain: worst %.1e\n", checked, worst);
    cr_assert(ge(int, checked, 80));
    cr_assert(le(dbl, worst, 1e-6));
}
