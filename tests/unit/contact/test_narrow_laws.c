// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/narrow.h: properties of every pair of shapes, independent of the method.
#include "contact/narrow.h"

#include "support/convex.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define DRAWS 500

// Runs `check` on random pairs of every two kinds, either order, the second one up to `last`.
typedef void check_function(const convex_pair* pair, uint64_t* state);

static void for_all_pairs(check_function* check, mabd_collider_kind last, int draws) {
    uint64_t state = 7;
    for (int a = MABD_COLLIDER_SPHERE; a <= MABD_COLLIDER_CYLINDER; a++) {
        for (int b = MABD_COLLIDER_SPHERE; b <= (int)last; b++) {
            for (int n = 0; n < draws; n++) {
                convex_pair pair =
                    convex_draw_pair((mabd_collider_kind)a, (mabd_collider_kind)b, &state);
                if (n % 4 == 0) pair.pb.rotation = pair.pa.rotation; // axes parallel
                check(&pair, &state);
            }
        }
    }
}

static void check_point(const mabd_contact_point* p, mabd_real margin, mabd_real scale) {
    const mabd_vec3 x = mabd_v3_axpy(p->distance, p->normal, p->on_a);
    cr_assert(le(dbl, fabs(mabd_v3_norm(p->normal) - 1), 1e-12));
    cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(x, p->on_b)), 1e-9 * scale));
    cr_assert(lt(dbl, p->distance, margin));
}

static void check_margin(const convex_pair* pair, uint64_t* state) {
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    const mabd_real margin = 0.2 * draw_real(state);
    const int32_t count = convex_narrow(pair, margin, points);
    cr_assert(le(i32, count, 8));
    for (int32_t i = 0; i < count; i++) check_point(&points[i], margin, 1);
}

Test(narrow_laws, points_lie_on_their_normal_within_the_margin) {
    for_all_pairs(check_margin, MABD_COLLIDER_HEIGHT_FIELD, DRAWS);
}

static void check_features(const convex_pair* pair, uint64_t* state) {
    (void)state;
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    const int32_t count = convex_narrow(pair, 0.3, points);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < i; j++) cr_assert(ne(u32, points[i].feature, points[j].feature));
    }
}

Test(narrow_laws, features_of_a_pair_differ) {
    for_all_pairs(check_features, MABD_COLLIDER_HEIGHT_FIELD, DRAWS / 4);
}

// Shapes apart: no point of a solid is farther from the other one than the surface.
static void check_surface(const convex_pair* pair, uint64_t* state) {
    (void)state;
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    const int32_t count = convex_narrow(pair, 0.5, points);
    if (count == 0 || convex_smallest(points, count) < 0) return;
    for (int32_t i = 0; i < count; i++) {
        const mabd_vec3 back = mabd_v3_scale(-1, points[i].normal);
        // the shape has no points beyond its support plane
        const mabd_vec3 far_a = convex_support(&pair->a, &pair->pa, points[i].normal);
        cr_assert(le(dbl, mabd_v3_dot(points[i].normal, mabd_v3_sub(points[i].on_a, far_a)), 1e-8));
        if (pair->b.kind == MABD_COLLIDER_PLANE) continue;
        const mabd_vec3 far_b = convex_support(&pair->b, &pair->pb, back);
        cr_assert(le(dbl, mabd_v3_dot(back, mabd_v3_sub(points[i].on_b, far_b)), 1e-8));
    }
}

Test(narrow_laws, points_do_not_leave_their_shapes) {
    for_all_pairs(check_surface, MABD_COLLIDER_PLANE, DRAWS);
}

static bool same(mabd_vec3 a, mabd_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void check_swap(const convex_pair* pair, uint64_t* state) {
    (void)state;
    mabd_contact_point one[MABD_CONTACT_MAX_POINTS], two[MABD_CONTACT_MAX_POINTS];
    const int32_t count = convex_narrow(pair, 0.3, one);
    const int32_t again = mabd_narrow(&pair->b, &pair->pb, &pair->a, &pair->pa, 0.3, two);
    cr_assert(eq(i32, count, again));
    for (int32_t i = 0; i < count; i++) {
        cr_assert(same(one[i].on_a, two[i].on_b));
        cr_assert(same(one[i].on_b, two[i].on_a));
        cr_assert(same(one[i].normal, mabd_v3_scale(-1, two[i].normal)));
        cr_assert(eq(dbl, one[i].distance, two[i].distance));
        cr_assert(eq(u32, one[i].feature, two[i].feature >> 16 | two[i].feature << 16));
    }
}

Test(narrow_laws, swapped_shapes_give_the_same_bits) {
    for_all_pairs(check_swap, MABD_COLLIDER_HEIGHT_FIELD, DRAWS / 2);
}

static void check_moved(const convex_pair* pair, uint64_t* state) {
    mabd_contact_point one[MABD_CONTACT_MAX_POINTS], two[MABD_CONTACT_MAX_POINTS];
    const convex_pair moved = convex_moved(*pair, draw_rotation(state), draw_vec3(state, 3));
    const int32_t count = convex_narrow(pair, 10, one);
    const int32_t again = convex_narrow(&moved, 10, two);
    if (pair->b.kind <= MABD_COLLIDER_BOWL) cr_assert(ge(i32, count, 1));
    const double difference = convex_smallest(one, count) - convex_smallest(two, again);
    cr_assert(le(dbl, fabs(difference), 1e-7));
}

Test(narrow_laws, distance_does_not_depend_on_the_frame) {
    for_all_pairs(check_moved, MABD_COLLIDER_HEIGHT_FIELD, DRAWS);
}

// The signed distance changes by no more than the farthest point of a shape moves.
static void check_continuity(const convex_pair* pair, uint64_t* state) {
    mabd_contact_point one[MABD_CONTACT_MAX_POINTS], two[MABD_CONTACT_MAX_POINTS];
    const double step = 1e-6;
    convex_pair moved = *pair;
    moved.pb.position = mabd_v3_axpy(step, draw_direction(state), moved.pb.position);
    const mabd_mat3 little = turn(draw_direction(state), step / 4);
    moved.pb.rotation = mabd_m3_product(little, moved.pb.rotation);
    // a plane turned moves its far points more
    if (pair->b.kind == MABD_COLLIDER_PLANE) moved.pb.rotation = pair->pb.rotation;
    const int32_t count = convex_narrow(pair, 10, one);
    const int32_t again = convex_narrow(&moved, 10, two);
    const double difference = convex_smallest(one, count) - convex_smallest(two, again);
    cr_assert(le(dbl, fabs(difference), 2 * step));
}

Test(narrow_laws, distance_is_continuous) {
    for_all_pairs(check_continuity, MABD_COLLIDER_PLANE, DRAWS);
}

// At a distance d, the nearest points of the difference set move no more than the shapes do, so the
// normal rotates by no more than 2 step / d; the rest is the accuracy of the method.
static void check_normal(const convex_pair* pair, uint64_t* state) {
    mabd_contact_point one[MABD_CONTACT_MAX_POINTS], two[MABD_CONTACT_MAX_POINTS];
    const double step = 1e-6;
    convex_pair moved = *pair;
    moved.pb.position = mabd_v3_axpy(step, draw_direction(state), moved.pb.position);
    const int32_t count = convex_narrow(pair, 10, one), again = convex_narrow(&moved, 10, two);
    const mabd_contact_point p = convex_deepest(one, count), q = convex_deepest(two, again);
    if (p.distance < 0.05) return;
    const bool ball = pair->a.kind == MABD_COLLIDER_SPHERE || pair->b.kind == MABD_COLLIDER_SPHERE;
    const double turned = mabd_v3_norm(mabd_v3_sub(p.normal, q.normal));
    cr_assert(le(dbl, turned, 2 * step / p.distance + (ball ? 1e-9 : 2e-3)));
}

Test(narrow_laws, normals_are_continuous) {
    for_all_pairs(check_normal, MABD_COLLIDER_PLANE, DRAWS);
}

static bool is_finite(mabd_vec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

// Coincident centres, parallel and crossed axes, needles and plates, sizes over twelve decades.
static void check_degenerate(const convex_pair* given, uint64_t* state) {
    convex_pair pair = *given;
    const mabd_real choice = draw_real(state);
    mabd_collider* shapes[2] = {&pair.a, &pair.b};
    mabd_real scale = 1;
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < 3; k++) {
            if (draw_real(state) < 0.3) shapes[s]->size[k] *= pow(10, (int)(6 * draw_real(state)));
            scale = fmax(scale, shapes[s]->size[k]);
        }
        if (shapes[s]->kind == MABD_COLLIDER_CAPSULE && draw_real(state) < -0.5) {
            shapes[s]->size[1] = 0;
        }
    }
    if (draw_real(state) < 0) pair.pa.rotation = mabd_m3_identity();
    if (choice < -0.3)
        pair.pb.rotation = pair.pa.rotation;
    else if (choice < 0.3) {
        const mabd_mat3 R = pair.pa.rotation;
        pair.pb.rotation = mabd_m3(R.c2, R.c3, R.c1);
    }
    if (draw_real(state) < 0)
        pair.pb.position = pair.pa.position;
    else if (draw_real(state) < 0) {
        const mabd_vec3 axis = pair.pa.rotation.c3;
        pair.pb.position = mabd_v3_axpy(pair.a.size[1] / 2, axis, pair.pa.position);
    }
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    const int32_t count = convex_narrow(&pair, 1, points);
    for (int32_t i = 0; i < count; i++) {
        cr_assert(is_finite(points[i].on_a) && is_finite(points[i].on_b));
        cr_assert(is_finite(points[i].normal) && isfinite(points[i].distance));
        check_point(&points[i], 1, scale);
    }
    // shapes that share their centre overlap
    if (same(pair.pa.position, pair.pb.position) && pair.b.kind < MABD_COLLIDER_PLANE) {
        cr_assert(ge(i32, count, 1));
        cr_assert(le(dbl, convex_smallest(points, count), 0));
    }
}

Test(narrow_laws, degenerate_pairs_stay_finite) {
    for_all_pairs(check_degenerate, MABD_COLLIDER_HEIGHT_FIELD, 2 * DRAWS);
}
