// SPDX-License-Identifier: Apache-2.0
// Values C of the atomic rows of joint/table.h and values of joint coordinates, for bodies x = A X
// + t where A is a rotation or, in the affine formulation, an affine matrix. One source for all
// formulations and backends; Jacobians belong to the formulations.
//
// Near a reference x_ref an angle is represented by a cross row whose axes are chosen so that the
// row vanishes at the reference and grows as sin(x - x_ref):
//   angle_a k   u = cos B_k+2 - sin B_k+1,  w = F_k+1
//   angle_b k   u = B_k+2,  w = cos F_k+1 - sin F_k+2
#pragma once

#include "joint/table.h"
#include "math/polar.h"
#include "math/so3.h"

/// The two sides of one joint in one state. Anchors and frames are constants in the frames of the
/// bodies.
typedef struct mabd_joint_view {
    mabd_mat3 Aa, Ab; // rotations at a reference, affine matrices at a result
    mabd_vec3 ta, tb;
    mabd_vec3 Xa, Xb;     // anchors
    mabd_mat3 Fa, Fb;     // joint axes as columns; not read for point rows
    const mabd_vec3* phi; // rotation vector of the frames if already known, else null
} mabd_joint_view;

/// Compute P_b - P_a [m].
MABD_FN mabd_vec3 mabd_joint_gap(const mabd_joint_view* v) {
    return mabd_v3_sub(mabd_v3_add(mabd_m3_mul(v->Ab, v->Xb), v->tb),
                       mabd_v3_add(mabd_m3_mul(v->Aa, v->Xa), v->ta));
}

/// Compute sine and cosine of an angle row, both scaled by one unknown positive factor.
MABD_FN void mabd_row_angle(const mabd_joint_view* v, const mabd_row* row, mabd_real* sine,
                            mabd_real* cosine) {
    const int i = (row->axis + 1) % 3, j = (row->axis + 2) % 3;
    mabd_vec3 Fi = mabd_m3_mul(v->Ab, mabd_m3_column(&v->Fb, i));
    mabd_vec3 Bj = mabd_m3_mul(v->Aa, mabd_m3_column(&v->Fa, j));
    *sine = mabd_v3_dot(Bj, Fi);
    *cosine = row->kind == MABD_ROW_ANGLE_A
                  ? mabd_v3_dot(mabd_m3_mul(v->Aa, mabd_m3_column(&v->Fa, i)), Fi)
                  : mabd_v3_dot(Bj, mabd_m3_mul(v->Ab, mabd_m3_column(&v->Fb, j)));
}

/// Compute B'F, the joint frame on b relative to that on a; a rotation if both bodies are
/// unstrained.
MABD_FN mabd_mat3 mabd_joint_frames(const mabd_joint_view* v) {
    return mabd_m3_tproduct(mabd_m3_product(v->Aa, v->Fa), mabd_m3_product(v->Ab, v->Fb));
}

/// Compute the relative rotation of the joint frames: the polar factor of B'F.
MABD_FN mabd_mat3 mabd_joint_rotation(const mabd_joint_view* v) {
    const mabd_mat3 Q = mabd_joint_frames(v);
    mabd_mat3 R = Q;
    mabd_polar(Q, &R);
    return R;
}

/// Compute the rotation vector of the joint frames, angle in [0, pi].
MABD_FN mabd_vec3 mabd_joint_rotation_vector(const mabd_joint_view* v) {
    return v->phi ? *v->phi : mabd_so3_log(mabd_joint_rotation(v));
}

/// Compute the axes of a cross or angle row: u in the frame of a, w in that of b, sign included in
/// w.
MABD_FN void mabd_row_axes(const mabd_joint_view* v, const mabd_row* row, mabd_vec3* u,
                           mabd_vec3* w) {
    const int k = row->axis, i = (k + 1) % 3, j = (k + 2) % 3;
    mabd_real sine, cosine, norm;
    switch (row->kind) {
    case MABD_ROW_CROSS:
        *u = mabd_m3_column(&v->Fa, row->other);
        *w = mabd_v3_scale(row->sign, mabd_m3_column(&v->Fb, k));
        return;
    case MABD_ROW_ANGLE_A:
        mabd_row_angle(v, row, &sine, &cosine);
        norm = 1 / (mabd_real)sqrt(sine * sine + cosine * cosine);
        *u = mabd_v3_axpy(-sine * norm, mabd_m3_column(&v->Fa, i),
                          mabd_v3_scale(cosine * norm, mabd_m3_column(&v->Fa, j)));
        *w = mabd_m3_column(&v->Fb, i);
        return;
    default: // MABD_ROW_ANGLE_B
        mabd_row_angle(v, row, &sine, &cosine);
        norm = 1 / (mabd_real)sqrt(sine * sine + cosine * cosine);
        *u = mabd_m3_column(&v->Fa, j);
        *w = mabd_v3_axpy(-sine * norm, mabd_m3_column(&v->Fb, j),
                          mabd_v3_scale(cosine * norm, mabd_m3_column(&v->Fb, i)));
        return;
    }
}

// ---- slide and cross rows from their vectors ---------------------------------------------------
// n: axis in the frame of a; u in the frame of a, w in that of b, sign included. Also called in
// loops over lanes (math/lanes.h).

/// Compute the value of a slide row: (A_a n) . (P_b - P_a).
MABD_FN mabd_real mabd_slide_value(mabd_mat3 Aa, mabd_vec3 n, mabd_vec3 gap) {
    return mabd_v3_dot(mabd_m3_mul(Aa, n), gap);
}
/// Compute the value of a cross row: (A_a u) . (A_b w).
MABD_FN mabd_real mabd_cross_value(mabd_mat3 Aa, mabd_vec3 u, mabd_mat3 Ab, mabd_vec3 w) {
    return mabd_v3_dot(mabd_m3_mul(Aa, u), mabd_m3_mul(Ab, w));
}

/// Compute C of a rigid row: [m] for point and slide rows, [rad] for cross rows.
/// gap: result of mabd_joint_gap.
MABD_CALL mabd_real mabd_row_value(const mabd_joint_view* v, const mabd_row* row, mabd_vec3 gap) {
    if (row->kind == MABD_ROW_POINT) return mabd_v3_get(gap, row->axis);
    if (row->kind == MABD_ROW_SLIDE) {
        return mabd_slide_value(v->Aa, mabd_m3_column(&v->Fa, row->axis), gap);
    }
    mabd_vec3 u, w;
    mabd_row_axes(v, row, &u, &w);
    return mabd_cross_value(v->Aa, u, v->Ab, w);
}

/// Compute the rotation vector of the joint frames whose components are nearest to those that
/// `near` (count) gives for vector rows; zero if no row is one.
MABD_FN mabd_vec3 mabd_joint_vector_near(const mabd_joint_view* v, int count, const mabd_row* rows,
                                         const mabd_real* near) {
    mabd_real last[3] = {0, 0, 0}, known[3] = {0, 0, 0};
    bool vectors = false;
    for (int r = 0; r < count; r++) {
        if (rows[r].kind != MABD_ROW_VECTOR) continue;
        last[rows[r].axis] = near[r], known[rows[r].axis] = 1;
        vectors = true;
    }
    if (!vectors) return mabd_v3(0, 0, 0);
    return mabd_rotvec_unwrap(mabd_joint_rotation_vector(v), mabd_v3_load(last),
                              mabd_v3_load(known));
}

/// Compute the coordinates x (count) of rows [m] or [rad]. Among the equivalent angles and rotation
/// vectors it returns those nearest to `near` (count); x and near must not overlap.
MABD_CALL void mabd_joint_coordinates(const mabd_joint_view* v, int count, const mabd_row* rows,
                                      const mabd_real* near, mabd_real* x) {
    const mabd_vec3 gap = mabd_joint_gap(v), phi = mabd_joint_vector_near(v, count, rows, near);
    for (int r = 0; r < count; r++) {
        const mabd_row* row = rows + r;
        if (row->kind == MABD_ROW_VECTOR) {
            x[r] = mabd_v3_get(phi, row->axis);
        } else if (row->kind == MABD_ROW_ANGLE_A || row->kind == MABD_ROW_ANGLE_B) {
            mabd_real sine, cosine;
            mabd_row_angle(v, row, &sine, &cosine);
            x[r] = mabd_unwrap_angle((mabd_real)atan2(sine, cosine), near[r]);
        } else {
            x[r] = mabd_row_value(v, row, gap);
        }
    }
}
