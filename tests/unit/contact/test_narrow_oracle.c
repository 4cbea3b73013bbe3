// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/narrow.h: signed distance of random pairs against the independent methods
// of support/convex.h. All pairs of sphere, capsule, box, cylinder, and these against the plane.
#include "contact/narrow.h"

#include "support/convex.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define DRAWS 400

static const char* const names[] = {"sphere", "capsule", "box", "cylinder", "plane"};

// Shapes that are apart: the smallest distance is that of the solids, and every point lies on its
// line.
static void check_apart(mabd_collider_kind a, mabd_collider_kind b) {
    uint64_t state = 100 + 10 * a + b;
    double worst = 0, worst_error = 0;
    int apart = 0, solved = 0;
    for (int n = 0; n < DRAWS; n++) {
        const convex_pair pair = convex_draw_pair(a, b, &state);
        double error;
        const double expected = convex_distance(&pair, &error);
        if (!(expected > 1e-6)) continue;
        apart++;
        if (error > 1e-7) continue; // the oracle has not converged
        solved++;
        mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
        const int32_t count = convex_narrow(&pair, 10, points);
        cr_assert(ge(i32, count, 1));
        const double difference = fabs(convex_smallest(points, count) - expected);
        if (difference > worst) worst = difference, worst_error = error;
    }
    printf("%s-%s apart: %d pairs, worst %.1e (oracle %.1e)\n", names[a], names[b], solved, worst,
           worst_error);
    cr_assert(ge(int, solved, apart * 9 / 10));
    cr_assert(ge(int, solved, DRAWS / 8));
    cr_assert(le(dbl, worst, 1e-6));
}

// Overlapping shapes: minus the penetration depth, from the best of all sampled directions and of
// those near the normal found.
static void check_overlapped(mabd_collider_kind a, mabd_collider_kind b) {
    uint64_t state = 500 + 10 * a + b;
    double worst = 0, sampling = 0;
    int overlapped = 0;
    for (int n = 0; n < DRAWS && overlapped < 60; n++) {
        convex_pair pair = convex_draw_pair(a, b, &state);
        if (b != MABD_COLLIDER_PLANE) pair.pb.position = mabd_v3_scale(0.4, pair.pb.position);
        const double expected = convex_separation(&pair);
        if (!(expected < -1e-3)) continue;
        overlapped++;
        mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
        const int32_t count = convex_narrow(&pair, 10, points);
        cr_assert(ge(i32, count, 1));
        const mabd_contact_point deepest = convex_deepest(points, count);
        const double near = convex_climb(&pair, deepest.normal);
        worst = fmax(worst, fabs(deepest.distance - fmax(expected, near)));
        sampling = fmax(sampling, near - expected);
    }
    printf("%s-%s overlapped: %d pairs, worst %.1e, sampling alone %.1e\n", names[a], names[b],
           overlapped, worst, sampling);
    cr_assert(ge(int, overlapped, 20));
    cr_assert(le(dbl, worst, 1e-6));
    cr_assert(le(dbl, sampling, 1e-4));
}

Test(narrow_oracle, distance_of_pairs_apart) {
    for (int a = MABD_COLLIDER_SPHERE; a <= MABD_COLLIDER_CYLINDER; a++) {
        for (int b = a; b <= MABD_COLLIDER_CYLINDER; b++) {
            check_apart((mabd_collider_kind)a, (mabd_collider_kind)b);
        }
    }
}

Test(narrow_oracle, depth_of_overlapped_pairs) {
    for (int a = MABD_COLLIDER_SPHERE; a <= MABD_COLLIDER_CYLINDER; a++) {
        for (int b = a; b <= MABD_COLLIDER_PLANE; b++) {
            check_overlapped((mabd_collider_kind)a, (mabd_collider_kind)b);
        }
    }
}
