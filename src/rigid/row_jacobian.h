// SPDX-License-Identifier: Apache-2.0
// Jacobians of the rows of joint/rows.h with respect to rigid bodies.
//
// A body is moved by (dc, phi): its centre by dc in world axes, its rotation to R exp([phi]), phi
// in its principal frame. A row has a wrench on each side, force f (world) and torque t (principal
// frame):
//
//   dC = f_a . dc_a + t_a . phi_a + f_b . dc_b + t_b . phi_b
//
// A multiplier lambda of the row puts +lambda times these wrenches on the bodies (J' lambda). With
// Q = R_b' R_a, the gap d = P_b - P_a, and the sign of a cross row in w:
//
//   point i   b: f = e_i,    t = X_b x R_b'f       a: f = -e_i,    t = -X_a x R_a'e_i
//   slide n   b: f = R_a n,  t = X_b x R_b'f       a: f = -R_a n,  t = n x (R_a'd + X_a)
//   cross     b:             t = w x Q u           a:              t = u x Q'w
//
// The force of a slide row acts on a at the anchor of b: R_a'd + X_a is that arm. (The arm printed
// in the caption of [VQ Tab. 7] is not: it leaves a torque without a reaction.) The wrenches of a
// row cancel about any point, except that an open point row leaves the torque d x e_i: it is along
// a world axis.
//
// Angle rows are the coordinate x = atan2(s, c) of mabd_row_angle, not the cross row that
// represents it near a reference. With rho = s^2 + c^2, which is 1 where the joint is closed,
//
//   dx = (c ds - s dc) / rho       dr/r = (s ds + c dc) / rho,  r = sqrt(rho)
//
// s and c share one axis, so both are cross rows with a combined axis on the other side:
//
//   angle_a k   w = F_i,  u = (c B_j - s B_i) / rho    radial (s B_j + c B_i) / rho
//   angle_b k   u = B_j,  w = (c F_i - s F_j) / rho    radial (s F_i + c F_j) / rho
//
// with i = k + 1, j = k + 2. rho = 0 is the singular pose of the coordinate. A vector row is
// component k of the rotation vector phi of S = B'F. A turn of b changes S to S exp([F_b' phi_b]),
// one of a to exp(-[F_a' phi_a]) S, and with N the gradients of math/so3.h as columns,
//
//   dphi = N F_b' phi_b - N' F_a' phi_a
//
// phi is the vector nearest to the previous one, and N that of it: coordinates and Jacobians are
// smooth at half turns. Whole turns other than 0 are poles.
#pragma once

#include "joint/rows.h"

/// A force in world axes and a torque about the centre of mass in the principal frame.
typedef struct mabd_rigid_wrench {
    mabd_vec3 f, t;
} mabd_rigid_wrench;

/// f.v + t.w of a wrench and a velocity u (6): linear in world axes, angular in the principal
/// frame.
MABD_FN mabd_real mabd_rigid_wrench_dot(const mabd_rigid_wrench* w, const mabd_real* u) {
    return mabd_v3_dot(w->f, mabd_v3_load(u)) + mabd_v3_dot(w->t, mabd_v3_load(u + 3));
}

/// The Jacobian of one row: its derivatives by (dc, phi) of a and of b, 12 consecutive reals.
typedef struct mabd_rigid_row {
    mabd_rigid_wrench a, b;
} mabd_rigid_row;

/// The quantities that the rows of one joint share at one pose.
typedef struct mabd_rigid_joint {
    const mabd_joint_view* v; // A are rotations, t centres of mass
    mabd_vec3 gap;            // P_b - P_a, world
    mabd_mat3 Q;              // R_b' R_a
    mabd_vec3 phi;            // unwrapped rotation vector; set if there are vector rows
    mabd_mat3 N;              // its gradients as columns
} mabd_rigid_joint;

/// Axes of a cross or angle row: u in the frame of a, w in that of b.
typedef struct mabd_rigid_axes {
    mabd_vec3 u, w;               // of dx
    mabd_vec3 radial_u, radial_w; // of dr/r of an angle row; zero for a cross row
} mabd_rigid_axes;

MABD_FN bool mabd_rigid_has_vector(int count, const mabd_row* rows) {
    for (int r = 0; r < count; r++) {
        if (rows[r].kind == MABD_ROW_VECTOR) return true;
    }
    return false;
}

/// Prepare the evaluation of rows at the pose of v, which must outlive the result. near (count):
/// earlier coordinates, read for vector rows only; may be null if there are none.
MABD_FN mabd_rigid_joint mabd_rigid_joint_at(const mabd_joint_view* v, int count,
                                             const mabd_row* rows, const mabd_real* near) {
    mabd_rigid_joint j;
    j.v = v;
    j.gap = mabd_joint_gap(v);
    j.Q = mabd_m3_tproduct(v->Ab, v->Aa);
    j.phi = mabd_joint_vector_near(v, count, rows, near);
    j.N = mabd_m3_identity();
    if (mabd_rigid_has_vector(count, rows)) j.N = mabd_so3_log_gradients(j.phi);
    return j;
}

/// Compute the axes of an angle row and their radial partners.
MABD_FN mabd_rigid_axes mabd_rigid_angle_axes(const mabd_joint_view* v, const mabd_row* row) {
    const int i = (row->axis + 1) % 3, j = (row->axis + 2) % 3;
    mabd_real s, c;
    mabd_row_angle(v, row, &s, &c);
    const mabd_real over = 1 / (s * s + c * c);
    const mabd_vec3 Bi = mabd_m3_column(&v->Fa, i), Bj = mabd_m3_column(&v->Fa, j);
    const mabd_vec3 Fi = mabd_m3_column(&v->Fb, i), Fj = mabd_m3_column(&v->Fb, j);
    mabd_rigid_axes x;
    x.u = x.radial_u = Bj, x.w = x.radial_w = Fi;
    if (row->kind == MABD_ROW_ANGLE_A) {
        x.u = mabd_v3_axpy(-s * over, Bi, mabd_v3_scale(c * over, Bj));
        x.radial_u = mabd_v3_axpy(c * over, Bi, mabd_v3_scale(s * over, Bj));
    } else {
        x.w = mabd_v3_axpy(-s * over, Fj, mabd_v3_scale(c * over, Fi));
        x.radial_w = mabd_v3_axpy(c * over, Fj, mabd_v3_scale(s * over, Fi));
    }
    return x;
}

/// Compute the axes of a cross or angle row.
MABD_FN mabd_rigid_axes mabd_rigid_row_axes(const mabd_joint_view* v, const mabd_row* row) {
    if (row->kind != MABD_ROW_CROSS) return mabd_rigid_angle_axes(v, row);
    mabd_rigid_axes x;
    mabd_row_axes(v, row, &x.u, &x.w);
    x.radial_u = x.radial_w = mabd_v3(0, 0, 0);
    return x;
}

/// Compute the Jacobian of a point row, world axis i.
MABD_FN mabd_rigid_row mabd_rigid_point_jacobian(const mabd_joint_view* v, int i) {
    const mabd_vec3 e = mabd_v3(i == 0, i == 1, i == 2);
    mabd_rigid_row J;
    J.b.f = e, J.b.t = mabd_v3_cross(v->Xb, mabd_m3_tmul(v->Ab, e));
    J.a.f = mabd_v3_scale(-1, e), J.a.t = mabd_v3_cross(mabd_m3_tmul(v->Aa, e), v->Xa);
    return J;
}

/// Compute the Jacobian of a slide row along n, frame of a.
MABD_FN mabd_rigid_row mabd_rigid_slide_jacobian(const mabd_rigid_joint* j, mabd_vec3 n) {
    const mabd_joint_view* v = j->v;
    const mabd_vec3 arm = mabd_v3_add(mabd_m3_tmul(v->Aa, j->gap), v->Xa);
    mabd_rigid_row J;
    J.b.f = mabd_m3_mul(v->Aa, n), J.b.t = mabd_v3_cross(v->Xb, mabd_m3_mul(j->Q, n));
    J.a.f = mabd_v3_scale(-1, J.b.f), J.a.t = mabd_v3_cross(n, arm);
    return J;
}

/// Compute the Jacobian of (R_a u) . (R_b w): u in the frame of a, w in that of b.
MABD_FN mabd_rigid_row mabd_rigid_cross_jacobian(const mabd_rigid_joint* j, mabd_vec3 u,
                                                 mabd_vec3 w) {
    mabd_rigid_row J;
    J.a.f = J.b.f = mabd_v3(0, 0, 0);
    J.b.t = mabd_v3_cross(w, mabd_m3_mul(j->Q, u));
    J.a.t = mabd_v3_cross(u, mabd_m3_tmul(j->Q, w));
    return J;
}

/// Compute the Jacobian of component k of the rotation vector.
MABD_FN mabd_rigid_row mabd_rigid_vector_jacobian(const mabd_rigid_joint* j, int k) {
    const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
    mabd_rigid_row J;
    J.a.f = J.b.f = mabd_v3(0, 0, 0);
    J.b.t = mabd_m3_mul(j->v->Fb, mabd_m3_tmul(j->N, e));
    J.a.t = mabd_m3_mul(j->v->Fa, mabd_v3_scale(-1, mabd_m3_mul(j->N, e)));
    return J;
}

/// Compute the Jacobian of a row of a prepared joint: of C for point, slide and cross rows, of the
/// coordinate for angle and vector rows.
MABD_CALL mabd_rigid_row mabd_rigid_row_jacobian(const mabd_rigid_joint* j, const mabd_row* row) {
    if (row->kind == MABD_ROW_POINT) return mabd_rigid_point_jacobian(j->v, row->axis);
    if (row->kind == MABD_ROW_SLIDE) {
        return mabd_rigid_slide_jacobian(j, mabd_m3_column(&j->v->Fa, row->axis));
    }
    if (row->kind == MABD_ROW_VECTOR) return mabd_rigid_vector_jacobian(j, row->axis);
    const mabd_rigid_axes x = mabd_rigid_row_axes(j->v, row);
    return mabd_rigid_cross_jacobian(j, x.u, x.w);
}

/// Compute values C and Jacobians J (count) of the rows of one joint [m] or [rad], and return what
/// they share. C of an angle or vector row is its coordinate, the one nearest to near (count); near
/// may be null if there are no such rows, and must not overlap C.
MABD_CALL mabd_rigid_joint mabd_rigid_joint_rows(const mabd_joint_view* v, int count,
                                                 const mabd_row* rows, const mabd_real* near,
                                                 mabd_real* C, mabd_rigid_row* J) {
    const mabd_rigid_joint j = mabd_rigid_joint_at(v, count, rows, near);
    mabd_joint_view known = *v;
    known.phi = &j.phi; // spares the second logarithm: unwrapping leaves it as it is
    mabd_joint_coordinates(&known, count, rows, near, C);
    for (int r = 0; r < count; r++) J[r] = mabd_rigid_row_jacobian(&j, rows + r);
    return j;
}
