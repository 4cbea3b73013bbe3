// SPDX-License-Identifier: Apache-2.0
// Times of src/contact/narrow.h: nanoseconds per pair, for shapes that are close and for shapes
// that overlap slightly, as in a heap. Printed; only wildly excessive times fail.
#include "contact/narrow.h"

#include "base/clock.h"
#include "support/convex.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define PAIRS   256
#define REPEATS 20

static const char* const names[] = {"sphere", "capsule", "box",         "cylinder",
                                    "plane",  "bowl",    "height field"};

// b moved along the normal of the deepest point until the smallest distance is `gap`.
static convex_pair draw_close_pair(int a, int b, double gap, uint64_t* state) {
    convex_pair pair = convex_draw_pair((mabd_collider_kind)a, (mabd_collider_kind)b, state);
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    for (int k = 0; k < 3; k++) {
        const int32_t count = convex_narrow(&pair, 10, points);
        if (count == 0) continue;
        const mabd_contact_point p = convex_deepest(points, count);
        pair.pb.position = mabd_v3_axpy(gap - p.distance, p.normal, pair.pb.position);
    }
    return pair;
}

static double time_pairs(const convex_pair* pairs, double* mean_count) {
    mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
    double best = 1e300;
    int64_t total = 0;
    for (int r = 0; r < REPEATS; r++) {
        total = 0;
        const double start = mabd_clock();
        for (int i = 0; i < PAIRS; i++) total += convex_narrow(&pairs[i], 0.02, points);
        best = fmin(best, mabd_clock() - start);
    }
    *mean_count = (double)total / PAIRS;
    return 1e9 * best / PAIRS;
}

Test(narrow_speed, nanoseconds_a_pair) {
    static convex_pair pairs[PAIRS];
    uint64_t state = 21;
    printf("%-24s %20s %20s   (ns, points)\n", "", "apart by 5 mm", "overlap 5 mm");
    for (int a = MABD_COLLIDER_SPHERE; a <= MABD_COLLIDER_CYLINDER; a++) {
        for (int b = a; b <= MABD_COLLIDER_HEIGHT_FIELD; b++) {
            double ns[2], count[2];
            for (int k = 0; k < 2; k++) {
                for (int i = 0; i < PAIRS; i++) {
                    pairs[i] = draw_close_pair(a, b, k ? -0.005 : 0.005, &state);
                }
                ns[k] = time_pairs(pairs, &count[k]);
                cr_assert(le(dbl, ns[k], 1e6));
            }
            printf("%-10s %-13s %14.0f %5.1f %14.0f %5.1f\n", names[a], names[b], ns[0], count[0],
                   ns[1], count[1]);
        }
    }
}
