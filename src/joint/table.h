// SPDX-License-Identifier: Apache-2.0
// The twelve joints of [VQ Tab. 3], and `axis` and `point-on-plane` of [VI Tab. B.2], as data over
// atomic rows.
//
// Body a is the base (B in [VQ]), body b the follower (F). x y z are the axes of the joint frame,
// carried by a as B_x B_y B_z and by b as F_x F_y F_z; P_a, P_b are the anchors.
//
//   point   e_i . (P_b - P_a)            world axis i: linear in q; if all translations are locked
//   slide   (A_a n_i) . (P_b - P_a)      axis i of a
//   cross   sign (A_b F_i) . (A_a B_j)   axis i of b against axis j of a
//
// and coordinates of free axes, on which springs, servos and motors act:
//
//   slide     the row above, as a coordinate
//   angle_a   turn about axis k of a:  F_k+1 = cos B_k+1 + sin B_k+2
//   angle_b   turn about axis k of b:  B_k+2 = cos F_k+2 + sin F_k+1
//   vector    component k of the rotation vector of B'F (joints with three free rotations)
//
// A cross row is positive for a positive turn of b about the axis that it locks.
#pragma once

#include "mabd/scene.h"

typedef enum mabd_row_kind {
    MABD_ROW_POINT,
    MABD_ROW_SLIDE,
    MABD_ROW_CROSS,
    MABD_ROW_ANGLE_A,
    MABD_ROW_ANGLE_B,
    MABD_ROW_VECTOR,
} mabd_row_kind;

typedef struct mabd_row {
    uint8_t kind;  // mabd_row_kind
    uint8_t axis;  // i or k above: 0 1 2
    uint8_t other; // j of a cross row
    int8_t sign;   // of a cross row
} mabd_row;

#define MABD_JOINT_MAX_ROWS 6

/// Write the rigid rows of a joint type to rows (MABD_JOINT_MAX_ROWS) and return their number.
int mabd_joint_rigid_rows(mabd_joint type, mabd_row* rows);
/// Find the coordinate row of a free axis; return false if the type locks that axis.
bool mabd_joint_coordinate(mabd_joint type, mabd_axis axis, mabd_row* row);
