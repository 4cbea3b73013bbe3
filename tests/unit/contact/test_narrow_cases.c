// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/narrow.h: pairs whose contact is known without a computation, and the
// points that a body at rest needs.
#include "contact/narrow.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const double tiny = 1e-12;

static mabd_collider shape(mabd_collider_kind kind, double x, double y, double z) {
    mabd_collider s = {.kind = kind, .size = {x, y, z}};
    return s;
}

static mabd_pose at(double x, double y, double z) {
    mabd_pose pose = {.position = mabd_v3(x, y, z), .rotation = mabd_m3_identity()};
    return pose;
}

static mabd_pose turned(mabd_pose pose, mabd_vec3 axis, double angle) {
    pose.rotation = mabd_m3_product(turn(axis, angle), pose.rotation);
    return pose;
}

static const mabd_vec3 ex = {1, 0, 0}, ey = {0, 1, 0}, ez = {0, 0, 1};

#define near_vec(u, v, tol) cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(u, v)), tol))

static mabd_contact_point out[MABD_CONTACT_MAX_POINTS];

static int32_t narrow(const mabd_collider* a, mabd_pose pa, const mabd_collider* b, mabd_pose pb,
                      double margin) {
    return mabd_narrow(a, &pa, b, &pb, margin, out);
}

Test(narrow_cases, two_spheres) {
    const mabd_collider a = shape(MABD_COLLIDER_SPHERE, 1, 0, 0);
    const mabd_collider b = shape(MABD_COLLIDER_SPHERE, 2, 0, 0);
    cr_assert(eq(i32, narrow(&a, at(0, 0, 0), &b, at(0, 3.5, 0), 1), 1));
    cr_assert(le(dbl, fabs(out[0].distance - 0.5), tiny));
    near_vec(out[0].normal, ey, tiny);
    near_vec(out[0].on_a, mabd_v3(0, 1, 0), tiny);
    near_vec(out[0].on_b, mabd_v3(0, 1.5, 0), tiny);
    cr_assert(eq(i32, narrow(&a, at(0, 0, 0), &b, at(0, 3.5, 0), 0.4), 0));
    // common centre: any valid direction of separation
    cr_assert(eq(i32, narrow(&a, at(1, 1, 1), &b, at(1, 1, 1), 0), 1));
    cr_assert(le(dbl, fabs(out[0].distance + 3), tiny));
    cr_assert(le(dbl, fabs(mabd_v3_norm(out[0].normal) - 1), tiny));
}

Test(narrow_cases, crossed_capsules_touch_once_and_parallel_ones_twice) {
    const mabd_collider a = shape(MABD_COLLIDER_CAPSULE, 0.1, 2, 0);
    const mabd_pose cross = turned(at(0.3, 0.1, 0.25), ex, MABD_PI / 2);
    cr_assert(eq(i32, narrow(&a, turned(at(0, 0, 0), ey, MABD_PI / 2), &a, cross, 0.1), 1));
    cr_assert(le(dbl, fabs(out[0].distance - 0.05), tiny));
    near_vec(out[0].on_a, mabd_v3(0.3, 0, 0.1), tiny);
    near_vec(out[0].normal, ez, tiny);
    // along z, the upper one shifted by 0.5: the common part is [-0.5, 1]
    cr_assert(eq(i32, narrow(&a, at(0, 0, 0), &a, at(0, 0.25, 0.5), 0.1), 2));
    double low = fmin(out[0].on_a.z, out[1].on_a.z), high = fmax(out[0].on_a.z, out[1].on_a.z);
    cr_assert(le(dbl, fabs(low + 0.5) + fabs(high - 1), tiny));
    for (int k = 0; k < 2; k++) cr_assert(le(dbl, fabs(out[k].distance - 0.05), tiny));
    // crossing axes: separated along the normal of both
    cr_assert(ge(i32, narrow(&a, turned(at(0, 0, 0), ey, MABD_PI / 2), &a, at(0, 0, 0), 0.1), 1));
    cr_assert(le(dbl, fabs(out[0].distance + 0.2), tiny));
    cr_assert(le(dbl, fabs(fabs(out[0].normal.y) - 1), tiny));
}

// The main case: a link of a chain on a pulley, 1 mm above its side.
static const double R = 0.3, r = 0.02, L = 0.2, gap = 1e-3;

static mabd_collider pulley(void) {
    return shape(MABD_COLLIDER_CYLINDER, R, 1, 0);
}
static mabd_collider link(void) {
    return shape(MABD_COLLIDER_CAPSULE, r, L, 0);
}

Test(narrow_cases, a_link_along_a_cylinder_has_two_points) {
    const mabd_collider a = link(), b = pulley();
    cr_assert(eq(i32, narrow(&a, at(R + r + gap, 0, 0.1), &b, at(0, 0, 0), 0.01), 2));
    for (int k = 0; k < 2; k++) {
        cr_assert(le(dbl, fabs(out[k].distance - gap), tiny));
        near_vec(out[k].normal, mabd_v3(-1, 0, 0), tiny);
        near_vec(out[k].on_b, mabd_v3(R, 0, k ? 0.2 : 0), tiny);
    }
}

// Across the axis the ends are higher by R + r - sqrt((R + r)^2 + (L/2)^2): beyond the margin.
Test(narrow_cases, a_link_across_a_cylinder_has_one_point) {
    const mabd_collider a = link(), b = pulley();
    const mabd_pose pose = turned(at(R + r + gap, 0, 0.1), ex, MABD_PI / 2);
    cr_assert(eq(i32, narrow(&a, pose, &b, at(0, 0, 0), 0.01), 1));
    cr_assert(le(dbl, fabs(out[0].distance - gap), tiny));
    near_vec(out[0].on_b, mabd_v3(R, 0, 0.1), tiny);
    cr_assert(eq(i32, narrow(&a, pose, &b, at(0, 0, 0), 0.1), 3));
    const double end = sqrt(pow(R + r + gap, 2) + L * L / 4) - R - r;
    cr_assert(le(dbl, fabs(out[1].distance - end) + fabs(out[2].distance - end), 1e-12));
}

// Beyond the end of the cylinder: the outer point stays at the rim until the inner one meets it
// there.
Test(narrow_cases, a_link_slides_smoothly_over_the_rim) {
    const mabd_collider a = link(), b = pulley();
    mabd_vec3 last[3] = {{0, 0, 0}};
    const double step = 1e-3, start = 0.35;
    for (int n = 0; n < 240; n++) {
        const double z = start + step * n;
        const int32_t count = narrow(&a, at(R + r + gap, 0, z), &b, at(0, 0, 0), 0.01);
        const double inner = z - L / 2, outer = fmin(z + L / 2, 0.5);
        if (inner < 0.5 - 1e-4) cr_assert(eq(i32, count, 2));
        for (int32_t k = 0; k < count; k++) {
            const uint32_t feature = out[k].feature >> 16;
            if (inner < 0.5) cr_assert(le(dbl, fabs(out[k].distance - gap), tiny));
            if (feature == 1) cr_assert(le(dbl, fabs(out[k].on_b.z - inner), 1e-9));
            if (feature == 2) cr_assert(le(dbl, fabs(out[k].on_b.z - outer), 1e-9));
            if (n > 0 && inner < 0.5) {
                near_vec(out[k].on_b, last[feature], 1.01 * step);
            }
        }
        for (int32_t k = 0; k < count; k++) last[out[k].feature >> 16] = out[k].on_b;
    }
}

// A ball of radius r at 45 degrees off the rim of a cap, and a link that points at the rim.
Test(narrow_cases, rim_of_a_cylinder) {
    const mabd_collider ball = shape(MABD_COLLIDER_SPHERE, r, 0, 0), a = link(), b = pulley();
    const double s = sqrt(0.5), d = r + gap;
    cr_assert(eq(i32, narrow(&ball, at(0, R + s * d, 0.5 + s * d), &b, at(0, 0, 0), 0.01), 1));
    cr_assert(le(dbl, fabs(out[0].distance - gap), tiny));
    near_vec(out[0].normal, mabd_v3(0, -s, -s), tiny);
    near_vec(out[0].on_b, mabd_v3(0, R, 0.5), tiny);
    const mabd_vec3 center = mabd_v3(0, R + s * (d + L / 2), 0.5 + s * (d + L / 2));
    const mabd_pose pose = turned(at(0, center.y, center.z), ex, -MABD_PI / 4);
    cr_assert(eq(i32, narrow(&a, pose, &b, at(0, 0, 0), 0.01), 1));
    cr_assert(le(dbl, fabs(out[0].distance - gap), tiny));
    near_vec(out[0].on_b, mabd_v3(0, R, 0.5), tiny);
}

// Around the cylinder and along it, slightly tilted: normals rotate as much as the link does.
Test(narrow_cases, normals_turn_with_a_draped_link) {
    const mabd_collider a = link(), b = pulley();
    const double step = 1e-4;
    for (int tilt = 0; tilt < 5; tilt++) {
        mabd_vec3 last = ex;
        for (int n = 0; n < 2000; n++) {
            const double angle = step * n, reach = R + r + gap;
            mabd_pose pose = turned(at(reach * cos(angle), reach * sin(angle), 0.1), ez, 0);
            const mabd_vec3 out_of = mabd_v3(cos(angle), sin(angle), 0);
            pose = turned(pose, out_of, 0.3 * tilt);
            cr_assert(ge(i32, narrow(&a, pose, &b, at(0, 0, 0), 0.005), 1));
            const mabd_vec3 normal = mabd_v3_scale(-1, out[0].normal);
            near_vec(normal, out_of, 1e-6);
            if (n > 0) near_vec(normal, last, 1.1 * step);
            last = normal;
        }
    }
}

Test(narrow_cases, edges_of_boxes_cross) {
    // a cube rotated by 45 degrees about x on one rotated about y: edge over edge
    const mabd_collider cube = shape(MABD_COLLIDER_BOX, 1, 1, 1);
    const double top = sqrt(0.5);
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.01 : -0.01;
        const mabd_pose upper = turned(at(0.1, 0.2, 2 * top + h), ey, MABD_PI / 4);
        const mabd_pose lower = turned(at(0, 0, 0), ex, MABD_PI / 4);
        cr_assert(eq(i32, narrow(&cube, lower, &cube, upper, 0.05), 1));
        cr_assert(le(dbl, fabs(out[0].distance - h), 1e-12));
        near_vec(out[0].normal, ez, 1e-12);
        near_vec(out[0].on_a, mabd_v3(0.1, 0, top), 1e-9);
    }
}

// ---- rest ---------------------------------------------------------------------------------------

// The center lies inside the convex hull of the points, seen from above: no line through it has all
// points on one side.
static void check_support(int32_t count, mabd_vec3 center, double inner) {
    for (int k = 0; k < 64; k++) {
        const double angle = MABD_PI * k / 32;
        const mabd_vec3 d = mabd_v3(cos(angle), sin(angle), 0);
        double farthest = -1;
        for (int32_t i = 0; i < count; i++) {
            farthest = fmax(farthest, mabd_v3_dot(d, mabd_v3_sub(out[i].on_b, center)));
        }
        cr_assert(ge(dbl, farthest, inner));
    }
}

Test(narrow_cases, a_resting_box_is_supported_and_keeps_its_features) {
    const mabd_collider small = shape(MABD_COLLIDER_BOX, 0.2, 0.3, 0.4);
    const mabd_collider large = shape(MABD_COLLIDER_BOX, 2, 2, 1);
    const mabd_collider ground = shape(MABD_COLLIDER_PLANE, 0, 0, 0);
    uint64_t state = 3;
    for (int n = 0; n < 500; n++) {
        const mabd_vec3 c = mabd_v3_scale(0.5, draw_vec3(&state, 1));
        mabd_pose pose = turned(at(c.x, c.y, 0.2 - 1e-5), ez, 3 * draw_real(&state));
        pose = turned(pose, ex, 1e-5 * draw_real(&state));
        for (int k = 0; k < 2; k++) {
            const mabd_pose below = k ? at(0, 0, 0) : at(0, 0, -0.5);
            uint32_t features[4];
            cr_assert(eq(i32, narrow(&small, pose, k ? &ground : &large, below, 1e-3), 4));
            check_support(4, c, 0.099);
            for (int i = 0; i < 4; i++) {
                features[i] = out[i].feature;
                cr_assert(le(dbl, fabs(out[i].distance + 1e-5), 1e-5));
            }
            const mabd_pose moved = turned(at(c.x + 1e-3, c.y, 0.2), ez, 0);
            mabd_pose next = pose;
            next.position = moved.position;
            cr_assert(eq(i32, narrow(&small, next, k ? &ground : &large, below, 1e-3), 4));
            for (int i = 0; i < 4; i++) cr_assert(eq(u32, out[i].feature, features[i]));
        }
    }
}

Test(narrow_cases, a_cylinder_rests_on_its_cap_and_on_its_side) {
    const mabd_collider can = shape(MABD_COLLIDER_CYLINDER, 0.1, 0.4, 0);
    const mabd_collider table = shape(MABD_COLLIDER_BOX, 2, 2, 1);
    const mabd_collider ground = shape(MABD_COLLIDER_PLANE, 0, 0, 0);
    uint64_t state = 4;
    for (int n = 0; n < 500; n++) {
        const double yaw = 3 * draw_real(&state), depth = 1e-5 * draw_real(&state);
        const mabd_vec3 tilt = mabd_v3(cos(yaw), sin(yaw), 0);
        for (int k = 0; k < 2; k++) {
            const mabd_pose below = k ? at(0, 0, 0) : at(0, 0, -0.5);
            const mabd_collider* b = k ? &ground : &table;
            const mabd_pose standing = turned(at(0.1, 0.2, 0.2 + depth), tilt, 1e-6 * n / 500);
            cr_assert(eq(i32, narrow(&can, standing, b, below, 1e-3), 4));
            check_support(4, mabd_v3(0.1, 0.2, 0), 0.069);
            const mabd_pose lying = turned(at(0.1, 0.2, 0.1 + depth), tilt, MABD_PI / 2);
            cr_assert(eq(i32, narrow(&can, lying, b, below, 1e-3), 2));
            const mabd_vec3 line = mabd_v3_sub(out[0].on_b, out[1].on_b);
            cr_assert(le(dbl, fabs(mabd_v3_norm(line) - 0.4), 1e-9));
            for (int i = 0; i < 2; i++) cr_assert(le(dbl, fabs(out[i].distance - depth), 1e-9));
        }
    }
}

Test(narrow_cases, cylinders_side_by_side_and_stacked) {
    const mabd_collider can = shape(MABD_COLLIDER_CYLINDER, 0.1, 0.4, 0);
    for (int k = 0; k < 2; k++) {
        const double d = k ? 1e-3 : -1e-3;
        cr_assert(eq(i32, narrow(&can, at(0, 0, 0), &can, at(0.2 + d, 0, 0.1), 0.01), 2));
        for (int i = 0; i < 2; i++) {
            cr_assert(le(dbl, fabs(out[i].distance - d), 1e-9));
            near_vec(out[i].normal, ex, 1e-6);
        }
        cr_assert(le(dbl, fabs(fabs(out[0].on_a.z - out[1].on_a.z) - 0.3), 1e-9));
        cr_assert(eq(i32, narrow(&can, at(0, 0, 0), &can, at(0.05, 0, 0.4 + d), 0.01), 4));
        for (int i = 0; i < 4; i++) cr_assert(le(dbl, fabs(out[i].distance - d), 1e-9));
        check_support(4, mabd_v3(0.03, 0, 0), 0.04);
    }
}

// Parallel to the edge of a step, over which it rolls.
Test(narrow_cases, a_cylinder_over_the_edge_of_a_box) {
    const mabd_collider roller = shape(MABD_COLLIDER_CYLINDER, 0.1, 0.4, 0);
    const mabd_collider step = shape(MABD_COLLIDER_BOX, 1, 1, 1);
    const double s = sqrt(0.5);
    for (int k = 0; k < 2; k++) {
        const double d = 0.1 + (k ? 1e-3 : -1e-3);
        const mabd_pose pose = turned(at(0.5 + s * d, 0, 0.5 + s * d), ex, MABD_PI / 2);
        cr_assert(eq(i32, narrow(&roller, pose, &step, at(0, 0, 0), 0.01), 2));
        for (int i = 0; i < 2; i++) {
            cr_assert(le(dbl, fabs(out[i].distance - d + 0.1), 1e-9));
            near_vec(out[i].normal, mabd_v3(-s, 0, -s), 1e-5);
        }
    }
}

// Two equal boxes on top of each other, each rotated slightly about its own edge direction: all
// four corners are within the margin, 0.2 m times the angle apart, and three of them are needed to
// support the upper box.
Test(narrow_cases, boxes_that_are_turned_a_little_keep_their_corners) {
    const mabd_collider box = shape(MABD_COLLIDER_BOX, 0.2, 0.2, 0.2);
    for (double angle = 1e-6; angle < 5e-3; angle *= 1.3) {
        const mabd_pose lower = turned(at(0, 0, 0), ex, angle);
        const mabd_pose upper = turned(at(0, 0, 0.2005), ey, angle);
        cr_expect(ge(i32, narrow(&box, lower, &box, upper, 4e-3), 3), "turned by %g", angle);
    }
}
