// SPDX-License-Identifier: Apache-2.0
// States of joints, and rows at them.
#pragma once

#include "joint/rows.h"
#include "support/draw.h"

/// Unit vectors of the axes.
static const mabd_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/// Set a valid state of a hinge about axis k, or of a universal joint: rotate first about axis k of
/// a, then about axis i = k + 1 of b, so that F_k+1 lies in the plane normal to B_k.
static inline void set_hinge(mabd_joint_view* v, int k, mabd_real angle, mabd_real second) {
    set_relative(v, mabd_m3_product(turn(unit[k], angle), turn(unit[(k + 1) % 3], second)));
}

/// Value of a row.
static inline mabd_real value_at(const mabd_joint_view* v, const mabd_row* row) {
    return mabd_row_value(v, row, mabd_joint_gap(v));
}

/// Coordinate of a row, the value nearest to `near`.
static inline mabd_real coordinate_at(const mabd_joint_view* v, const mabd_row* row,
                                      mabd_real near) {
    mabd_real x;
    mabd_joint_coordinates(v, 1, row, &near, &x);
    return x;
}
