// SPDX-License-Identifier: Apache-2.0
// Increments, forces and 3 x 3 blocks of MABD_LANES affine bodies (math/lanes.h).
#pragma once

#include "formulation/affine/body_types.h"
#include "math/lanes.h"

/// The 12 numbers of lane l.
MABD_HOT mabd_vec12 mabd_lane_vec12(const mabd_lanes* a, int l) {
    mabd_vec12 y;
    y.d1 = mabd_lane_v3(a, l), y.d2 = mabd_lane_v3(a + 3, l), y.d3 = mabd_lane_v3(a + 6, l);
    y.tau = mabd_lane_v3(a + 9, l);
    return y;
}
/// Store y as lane l of 12 numbers.
MABD_HOT void mabd_lane_put_vec12(mabd_vec12 y, mabd_lanes* a, int l) {
    mabd_lane_put_v3(y.d1, a, l), mabd_lane_put_v3(y.d2, a + 3, l);
    mabd_lane_put_v3(y.d3, a + 6, l), mabd_lane_put_v3(y.tau, a + 9, l);
}

/// A 3 x 3 block of every lane, by rows and with room for whole squares.
typedef struct mabd_affine_lane_blocks {
    alignas(64) mabd_real at[MABD_LANES][12];
} mabd_affine_lane_blocks;

/// Write 12 entries of each lane as one block; entry k is from[order[k]].
MABD_HOT void mabd_lanes_turn_block(const mabd_lanes* from, const int* order,
                                    mabd_affine_lane_blocks* to) {
    mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = to->at[l];
    mabd_lanes_turn(12, from, order, p);
}
