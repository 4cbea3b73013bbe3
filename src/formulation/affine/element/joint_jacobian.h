// SPDX-License-Identifier: Apache-2.0
// Jacobians of the rows of joint/rows.h with respect to affine bodies, and the nonlinear remainder
// that strain adds to them.
//
// Jacobians are taken at a rigid reference (A = R), in the frame of the body they belong to, so
// that they multiply the constant block of element/affine_body.h directly. With D = R'dA, tau =
// R'dt of that body:
//
//   point i   b: (D X_b + tau) . R_b'e_i            a: -(D X_a + tau) . R_a'e_i
//   slide i   b: (D X_b + tau) . R_b'R_a n          a: (D n) . R_a'd - (D X_a + tau) . n
//                                                       with d = P_b - P_a
//   cross     b: sign (D w) . R_b'R_a u             a: sign (D u) . R_a'R_b w
//
// A vector row is linearised by the gradients n_k of the rotation vector (math/so3.h). It acts on
// rotations only; like the rotation vector itself it does not depend on strain. A torque along n_k
// does the work of a force on phi_k, so springs conserve energy and dampers dissipate it; a torque
// along B_k does not: two bending springs would drive a body that is also twisted.
//
// A in C is the affine matrix, not its rotation. Rows therefore yield a little by shear, and closed
// mechanisms with more rows than degrees of freedom stay solvable: elasticity keeps the dual matrix
// at full rank.
#pragma once

#include "formulation/affine/element/affine_body.h"
#include "joint/rows.h"

/// Compute the axis, in the frame of a, about which a rotation of b changes a vector row at unit
/// rate.
MABD_FN mabd_vec3 mabd_affine_row_vector_axis(const mabd_joint_view* v, const mabd_row* row) {
    const mabd_mat3 gradients = mabd_so3_log_gradients(mabd_joint_rotation_vector(v));
    return mabd_m3_mul(v->Fa, mabd_m3_column(&gradients, row->axis));
}

/// Compute the axes n of all vector rows of a joint as columns, world, at a rigid reference.
/// Jacobians of the rows are mabd_vec12_torque(R_b' n) on body b and mabd_vec12_torque(-R_a' n) on
/// body a.
MABD_HOT mabd_mat3 mabd_affine_joint_vector_axes(mabd_mat3 Ra, mabd_mat3 Fa, mabd_rotvec turn) {
    return mabd_m3_product(mabd_m3_product(Ra, Fa), mabd_rotvec_gradients(turn));
}

/// Remainder of a slide row: (R_a ea n) . (R_b eb X_b - R_a ea X_a).
MABD_FN mabd_real mabd_affine_slide_remainder(mabd_mat3 Ra, mabd_sym3 ea, mabd_vec3 n, mabd_vec3 Xa,
                                              mabd_mat3 Rb, mabd_sym3 eb, mabd_vec3 Xb) {
    const mabd_vec3 d =
        mabd_v3_sub(mabd_m3_mul(Rb, mabd_sym3_mul(eb, Xb)), mabd_m3_mul(Ra, mabd_sym3_mul(ea, Xa)));
    return mabd_v3_dot(mabd_m3_mul(Ra, mabd_sym3_mul(ea, n)), d);
}
/// Remainder of a cross row: (R_a ea u) . (R_b eb w).
MABD_FN mabd_real mabd_affine_cross_remainder(mabd_mat3 Ra, mabd_sym3 ea, mabd_vec3 u, mabd_mat3 Rb,
                                              mabd_sym3 eb, mabd_vec3 w) {
    return mabd_v3_dot(mabd_m3_mul(Ra, mabd_sym3_mul(ea, u)),
                       mabd_m3_mul(Rb, mabd_sym3_mul(eb, w)));
}

/// Compute the part of a row that its linearisation at a rigid reference omits when the bodies have
/// the strains ea, eb (body frames). Strain does not vanish at the end of a step: without this term
/// a loaded row would keep an error of the order of the strain squared.
MABD_CALL mabd_real mabd_affine_row_remainder(const mabd_joint_view* v, const mabd_row* row,
                                              mabd_sym3 ea, mabd_sym3 eb) {
    mabd_vec3 u, w;
    if (row->kind == MABD_ROW_POINT) return 0;
    if (row->kind == MABD_ROW_SLIDE) {
        return mabd_affine_slide_remainder(v->Aa, ea, mabd_m3_column(&v->Fa, row->axis), v->Xa,
                                           v->Ab, eb, v->Xb);
    }
    mabd_row_axes(v, row, &u, &w);
    return mabd_affine_cross_remainder(v->Aa, ea, u, v->Ab, eb, w);
}

/// Transform a vector z of the other body to the frame of this one: R_here' R_there z.
MABD_FN mabd_vec3 mabd_affine_row_seen(mabd_mat3 here, mabd_mat3 there, mabd_vec3 z) {
    return mabd_m3_tmul(here, mabd_m3_mul(there, z));
}
/// Jacobian of a cross row: x is the vector of this body, n that of the other one, both in this
/// frame.
MABD_FN mabd_vec12 mabd_affine_cross_jacobian(mabd_vec3 x, mabd_vec3 n) {
    mabd_vec12 J = mabd_vec12_at(x, n);
    J.tau = mabd_v3(0, 0, 0);
    return J;
}
/// Jacobian of a slide row on body a, d = R_a' (P_b - P_a). On body b it is
/// mabd_vec12_at(X_b, R_b' R_a n).
MABD_FN mabd_vec12 mabd_affine_slide_jacobian(mabd_vec3 Xa, mabd_vec3 n, mabd_vec3 d) {
    mabd_vec12 J = mabd_vec12_at(Xa, mabd_v3_scale(-1, n));
    J.d1 = mabd_v3_axpy(n.x, d, J.d1), J.d2 = mabd_v3_axpy(n.y, d, J.d2);
    J.d3 = mabd_v3_axpy(n.z, d, J.d3);
    return J;
}

/// Compute the Jacobian of a row on body a (is_b = 0) or b (1), in the frame of that body, at a
/// rigid reference. gap: result of mabd_joint_gap.
MABD_CALL mabd_vec12 mabd_affine_row_jacobian(const mabd_joint_view* v, const mabd_row* row,
                                              mabd_vec3 gap, int is_b) {
    mabd_vec3 n, u, w;
    if (row->kind == MABD_ROW_POINT) {
        n = mabd_v3(row->axis == 0, row->axis == 1, row->axis == 2);
        return is_b ? mabd_vec12_at(v->Xb, mabd_m3_tmul(v->Ab, n))
                    : mabd_vec12_at(v->Xa, mabd_m3_tmul(v->Aa, mabd_v3_scale(-1, n)));
    }
    if (row->kind == MABD_ROW_SLIDE) {
        n = mabd_m3_column(&v->Fa, row->axis);
        return is_b ? mabd_vec12_at(v->Xb, mabd_affine_row_seen(v->Ab, v->Aa, n))
                    : mabd_affine_slide_jacobian(v->Xa, n, mabd_m3_tmul(v->Aa, gap));
    }
    if (row->kind == MABD_ROW_VECTOR) { // the rotation of b minus that of a
        n = mabd_affine_row_vector_axis(v, row);
        return mabd_vec12_torque(is_b ? mabd_affine_row_seen(v->Ab, v->Aa, n)
                                      : mabd_v3_scale(-1, n));
    }
    mabd_row_axes(v, row, &u, &w);
    return is_b ? mabd_affine_cross_jacobian(w, mabd_affine_row_seen(v->Ab, v->Aa, u))
                : mabd_affine_cross_jacobian(u, mabd_affine_row_seen(v->Aa, v->Ab, w));
}

/// Convert a strain to an increment (D = e, tau = 0).
MABD_FN mabd_vec12 mabd_sym3_affine(mabd_sym3 e) {
    mabd_vec12 D;
    D.d1 = mabd_v3(e.xx, e.xy, e.xz), D.d2 = mabd_v3(e.xy, e.yy, e.yz);
    D.d3 = mabd_v3(e.xz, e.yz, e.zz), D.tau = mabd_v3(0, 0, 0);
    return D;
}

/// Compute R (I + e).
MABD_FN mabd_mat3 mabd_m3_strained(mabd_mat3 R, mabd_vec12 e) {
    return mabd_m3(mabd_v3_add(R.c1, mabd_m3_mul(R, e.d1)), mabd_v3_add(R.c2, mabd_m3_mul(R, e.d2)),
                   mabd_v3_add(R.c3, mabd_m3_mul(R, e.d3)));
}

/// Compute the part of a coordinate that its linearisation omits when the bodies have the strains
/// ea, eb: x(strained) - x_ref - J e. An angle is not bilinear in A, so this differs from the
/// remainder of the row that represents it.
MABD_CALL mabd_real mabd_affine_coordinate_remainder(const mabd_joint_view* v, const mabd_row* row,
                                                     const mabd_sym3* ea, const mabd_sym3* eb,
                                                     mabd_real x_ref) {
    mabd_joint_view end = *v;
    mabd_real x, linear = 0;
    end.Aa = mabd_m3_strained(v->Aa, mabd_sym3_affine(*ea));
    end.Ab = mabd_m3_strained(v->Ab, mabd_sym3_affine(*eb));
    end.phi = NULL;
    mabd_joint_coordinates(&end, 1, row, &x_ref, &x);
    for (int is_b = 0; is_b < 2; is_b++) {
        const mabd_vec12 J = mabd_affine_row_jacobian(v, row, mabd_joint_gap(v), is_b);
        linear += mabd_vec12_dot(J, mabd_sym3_affine(is_b ? *eb : *ea));
    }
    return x - x_ref - linear;
}
