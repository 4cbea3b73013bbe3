// SPDX-License-Identifier: Apache-2.0
// Uniform cubic B-splines. With control values c_0 .. c_3 of a segment and u in [0, 1],
//
//   x(u) = c_0 + B_1 (c_1 - c_0) + B_2 (c_2 - c_1) + B_3 (c_3 - c_2)
//   B_1 = (5 + 3u - 3u^2 + u^3)/6    B_2 = (1 + 3u + 3u^2 - 2u^3)/6    B_3 = u^3/6
//
// so that curves in a group have the same form, with products of exponentials for sums. Third
// derivatives jump from segment to segment.
#pragma once

#include "math/shared.h"

#include <math.h>

/// Compute B_1, B_2, B_3 (rows) and their first three derivatives (columns).
MABD_FN void mabd_spline_cumulative(mabd_real u, mabd_real B[3][4]) {
    B[0][0] = (5 + u * (3 + u * (-3 + u))) / 6, B[0][1] = (1 - u) * (1 - u) / 2;
    B[0][2] = u - 1, B[0][3] = 1;
    B[1][0] = (1 + u * (3 + u * (3 - 2 * u))) / 6, B[1][1] = (1 + 2 * u * (1 - u)) / 2;
    B[1][2] = 1 - 2 * u, B[1][3] = -2;
    B[2][0] = u * u * u / 6, B[2][1] = u * u / 2, B[2][2] = u, B[2][3] = 1;
}

/// Compute the weights of c_0 .. c_3 (rows) and their first three derivatives (columns).
MABD_FN void mabd_spline_weights(mabd_real u, mabd_real w[4][4]) {
    mabd_real B[3][4];
    mabd_spline_cumulative(u, B);
    for (int d = 0; d < 4; d++) {
        w[0][d] = (d == 0) - B[0][d], w[1][d] = B[0][d] - B[1][d];
        w[2][d] = B[1][d] - B[2][d], w[3][d] = B[2][d];
    }
}

/// Segment of a coordinate among `segments`, *u its place in it. A coordinate beyond the ends
/// belongs to the first or last segment; of a closed spline, to one that it repeats.
MABD_FN int mabd_spline_segment(mabd_real q, int segments, bool closed, mabd_real* u) {
    const mabd_real floor_q = (mabd_real)floor(q);
    if (closed) {
        const mabd_real turns = (mabd_real)floor(floor_q / (mabd_real)segments);
        const int at = (int)(floor_q - turns * (mabd_real)segments);
        *u = q - floor_q;
        return at >= segments ? segments - 1 : at < 0 ? 0 : at;
    }
    const mabd_real last = (mabd_real)(segments - 1);
    const mabd_real s = !(floor_q > 0) ? 0 : floor_q > last ? last : floor_q;
    *u = q - s;
    return (int)s;
}
