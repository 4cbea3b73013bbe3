// SPDX-License-Identifier: Apache-2.0
// Atomic rows: value C and Jacobian J of the rows of joint/table.h, written once for every backend.
//
// Jacobians are taken at a rigid reference (A = R), in the frame of the body they belong to, so that they meet
// the constant block of affine/element/affine_body.h directly. With D = R'dA, tau = R'dt of that body:
//
//   point i   b: (D X_b + tau) . R_b'e_i                   a: -(D X_a + tau) . R_a'e_i
//   slide i   b: (D X_b + tau) . R_b'R_a n                 a: (D n) . R_a'd - (D X_a + tau) . n,  d = P_b - P_a
//   cross     b: sign (D w) . R_b'R_a u                    a: sign (D u) . R_a'R_b w
//
// A coordinate is linearised as a cross row whose axes are chosen so that it vanishes at the reference
// and grows as sin(x - x_ref):
//   angle_a k   u = cos B_k+2 - sin B_k+1,  w = F_k+1
//   angle_b k   u = B_k+2,  w = cos F_k+1 - sin F_k+2
//
// A vector row is linearised by its gradient and acts on twists alone, blind to strain as the rotation
// vector is. For a turn dr of b against a, in the axes B, the rotation vector phi (angle p < pi) changes by
//   dphi_k = n_k . dr,   n_k = e_k + phi x e_k / 2 + c phi x (phi x e_k),   c = (1 - p/2 cot(p/2)) / p^2
//
// Rotation vector and c of a rotation Q without roots, arcs or branches, for p <= pi/2: with t = tan(p/2), z = t^2 and
//   k(z) = (1 - atan(t)/t) / z = 1/3 - z/5 + z^2/7 - ..,   g = 1 - z k = (p/2) cot(p/2)
// it is w = 2 sin(p) axis from the skew part of Q, t = sin(p)/(1 + cos(p)), and
//   z = w.w / (4 (1 + cos p)^2),   phi = (1 + z) g w / 2,   c = k / (4 g^2)
// k is a polynomial of degree 19, interpolated at the 20 Chebyshev points of [0, 1]: its error is below 5e-16 of k, that of g
// below 2e-16. So phi has the rounding of w, and of cos p.
//
// A torque along n_k does the work of a force on phi_k, so springs keep energy and dampers take it; one
// along B_k does not: two bending springs would drive a body that is also twisted.
//
// A in C is the affine matrix, not its rotation: shear then gives way a little, and closed mechanisms with
// more rows than freedoms stay solvable (the dual matrix keeps full rank through elasticity).
#pragma once

#include "formulation/affine/element/affine_body.h"
#include "joint/table.h"
#include "math/polar.h"

/// Both sides of one joint at some state. Anchors and frames are constants, in the bodies' frames.
typedef struct mabd_joint_view {
    mabd_mat3 Aa, Ab; // rotations at a reference, affine matrices at a result
    mabd_vec3 ta, tb;
    mabd_vec3 Xa, Xb;     // anchors
    mabd_mat3 Fa, Fb;     // joint axes as columns; not read for point rows
    const mabd_vec3* phi; // rotation vector of the frames if it is known already, else null
} mabd_joint_view;

/// P_b - P_a [m]
MABD_FN mabd_vec3 mabd_joint_gap(const mabd_joint_view* v) {
    return mabd_v3_sub(mabd_v3_add(mabd_m3_mul(v->Ab, v->Xb), v->tb),
                       mabd_v3_add(mabd_m3_mul(v->Aa, v->Xa), v->ta));
}

MABD_FN mabd_vec3 mabd_m3_column(const mabd_mat3* m, int k) {
    return k == 0 ? m->c1 : k == 1 ? m->c2 : m->c3;
}
MABD_FN mabd_real mabd_v3_get(mabd_vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/// A rotation vector and the factor c of its gradients.
typedef struct mabd_turn {
    mabd_vec3 phi;
    mabd_real c;
} mabd_turn;

/// k(z) = (1 - atan(t)/t) / z of z = t^2 in [0, 1]
MABD_HOT mabd_real mabd_turn_lack(mabd_real z) {
    mabd_real k = (mabd_real)-1.8061954618612151e-05;
    k = k * z + (mabd_real)0.00019996189377901382;
    k = k * z - (mabd_real)0.0010496035084968515;
    k = k * z + (mabd_real)0.0034958859739163094;
    k = k * z - (mabd_real)0.0083689311784501622;
    k = k * z + (mabd_real)0.015535152475414177;
    k = k * z - (mabd_real)0.023696731580048622;
    k = k * z + (mabd_real)0.031277189066996385;
    k = k * z - (mabd_real)0.037494868125352472;
    k = k * z + (mabd_real)0.042603566326016522;
    k = k * z - (mabd_real)0.047377495795277787;
    k = k * z + (mabd_real)0.052579733342841106;
    k = k * z - (mabd_real)0.058815068777936561;
    k = k * z + (mabd_real)0.066665646992891042;
    k = k * z - (mabd_real)0.076922989710332165;
    k = k * z + (mabd_real)0.090909085908919343;
    k = k * z - (mabd_real)0.11111111093490827;
    k = k * z + (mabd_real)0.14285714285384132;
    k = k * z - (mabd_real)0.19999999999997531;
    return k * z + (mabd_real)0.33333333333333331;
}

/// 2 cos(angle) of a rotation.
MABD_HOT mabd_real mabd_m3_two_cosines(mabd_mat3 Q) {
    return Q.c1.x + Q.c2.y + Q.c3.z - 1;
}
/// 2 sin(angle) axis
MABD_HOT mabd_vec3 mabd_m3_two_sines(mabd_mat3 Q) {
    return mabd_v3(Q.c2.z - Q.c3.y, Q.c3.x - Q.c1.z, Q.c1.y - Q.c2.x);
}

/// Rotation vector of a rotation by at most a quarter turn: mabd_m3_two_cosines(Q) >= 0. Of others the result is of no use.
MABD_HOT mabd_turn mabd_m3_turn_near(mabd_mat3 Q) {
    const mabd_vec3 w = mabd_m3_two_sines(Q);
    const mabd_real below = 2 + mabd_m3_two_cosines(Q);
    const mabd_real z = mabd_v3_dot(w, w) / (below * below);
    const mabd_real k = mabd_turn_lack(z), g = 1 - z * k;
    mabd_turn turn;
    turn.phi = mabd_v3_scale((mabd_real)0.5 * (1 + z) * g, w);
    turn.c = k / (4 * (g * g));
    return turn;
}

/// Rotation vector of a rotation matrix, angle in [0, pi].
MABD_FN mabd_vec3 mabd_m3_log(mabd_mat3 Q) {
    if (mabd_m3_two_cosines(Q) >= 0) return mabd_m3_turn_near(Q).phi;
    mabd_vec3 w = mabd_m3_two_sines(Q);
    mabd_real sine = mabd_v3_norm(w) / 2, cosine = mabd_m3_two_cosines(Q) / 2;
    if (sine > (mabd_real)1e-3) {
        return mabd_v3_scale((mabd_real)atan2(sine, cosine) / (2 * sine), w);
    }
    // near pi: the axis from the symmetric part, sym(Q) - cos I = (1 - cos) axis axis'
    mabd_real xx = Q.c1.x - cosine, yy = Q.c2.y - cosine, zz = Q.c3.z - cosine;
    mabd_vec3 axis;
    if (xx >= yy && xx >= zz) {
        axis = mabd_v3(xx, (Q.c1.y + Q.c2.x) / 2, (Q.c1.z + Q.c3.x) / 2);
    } else if (yy >= zz) {
        axis = mabd_v3((Q.c1.y + Q.c2.x) / 2, yy, (Q.c2.z + Q.c3.y) / 2);
    } else {
        axis = mabd_v3((Q.c1.z + Q.c3.x) / 2, (Q.c2.z + Q.c3.y) / 2, zz);
    }
    axis = mabd_v3_scale(1 / mabd_v3_norm(axis), axis);
    if (mabd_v3_dot(axis, w) < 0) axis = mabd_v3_scale(-1, axis);
    return mabd_v3_scale((mabd_real)atan2(sine, cosine), axis);
}

/// Sine and cosine of an angle row at a state, not normalised.
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

/// B'F: the joint frames against each other, a rotation where both bodies are unstrained.
MABD_FN mabd_mat3 mabd_joint_frames(const mabd_joint_view* v) {
    return mabd_m3_tproduct(mabd_m3_product(v->Aa, v->Fa), mabd_m3_product(v->Ab, v->Fb));
}

/// Relative rotation of the joint frames: that of B'F, whatever the strain.
MABD_FN mabd_mat3 mabd_joint_rotation(const mabd_joint_view* v) {
    const mabd_mat3 Q = mabd_joint_frames(v);
    mabd_mat3 R = Q;
    mabd_polar(Q, &R);
    return R;
}

/// c of a rotation vector, |phi| <= pi
MABD_FN mabd_real mabd_vector_curve(mabd_vec3 phi) {
    const mabd_real square = mabd_v3_dot(phi, phi), half = (mabd_real)sqrt(square) / 2;
    return square < (mabd_real)1e-4 // 1/12 + p^2/720 + ...
               ? (mabd_real)1 / 12 + square / 720
               : (1 - half * (mabd_real)cos(half) / (mabd_real)sin(half)) / square;
}
/// n_k = grad phi_k as columns.
MABD_HOT mabd_mat3 mabd_turn_gradients(mabd_turn turn) {
    const mabd_vec3 phi = turn.phi;
    const mabd_vec3 e1 = mabd_v3(1, 0, 0), e2 = mabd_v3(0, 1, 0), e3 = mabd_v3(0, 0, 1);
    const mabd_vec3 t1 = mabd_v3_cross(phi, e1), t2 = mabd_v3_cross(phi, e2),
                    t3 = mabd_v3_cross(phi, e3);
    const mabd_real h = (mabd_real)0.5, c = turn.c;
    return mabd_m3(mabd_v3_axpy(c, mabd_v3_cross(phi, t1), mabd_v3_axpy(h, t1, e1)),
                   mabd_v3_axpy(c, mabd_v3_cross(phi, t2), mabd_v3_axpy(h, t2, e2)),
                   mabd_v3_axpy(c, mabd_v3_cross(phi, t3), mabd_v3_axpy(h, t3, e3)));
}
/// The same of a rotation vector phi alone, |phi| <= pi.
MABD_FN mabd_mat3 mabd_vector_gradients(mabd_vec3 phi) {
    mabd_turn turn;
    turn.phi = phi, turn.c = mabd_vector_curve(phi);
    return mabd_turn_gradients(turn);
}

/// Rotation vector of the joint frames, angle in [0, pi].
MABD_FN mabd_vec3 mabd_joint_turn(const mabd_joint_view* v) {
    return v->phi ? *v->phi : mabd_m3_log(mabd_joint_rotation(v));
}

/// Axis, in the frame of a, about which a turn of b moves a vector row at unit rate.
MABD_FN mabd_vec3 mabd_row_vector_axis(const mabd_joint_view* v, const mabd_row* row) {
    const mabd_mat3 gradients = mabd_vector_gradients(mabd_joint_turn(v));
    return mabd_m3_mul(v->Fa, mabd_m3_column(&gradients, row->axis));
}

/// Axes of all vector rows of a joint as columns, world, at a rigid reference. In the frame of body b R_b' of them, in that of
/// a -R_a' of them are what their Jacobians are mabd_vec12_torque of.
MABD_HOT mabd_mat3 mabd_joint_turn_axes(mabd_mat3 Ra, mabd_mat3 Fa, mabd_turn turn) {
    return mabd_m3_product(mabd_m3_product(Ra, Fa), mabd_turn_gradients(turn));
}

/// Axes of a cross or angle row: u in the frame of a, w in the frame of b (sign included in w).
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

// ---- slide and cross rows from the vectors they are made of --------------------------------------------
// n: axis in the frame of a; u in the frame of a, w in that of b, sign included. For one joint at a time or many (math/lanes.h).

/// (A_a n) . (P_b - P_a)
MABD_FN mabd_real mabd_slide_value(mabd_mat3 Aa, mabd_vec3 n, mabd_vec3 gap) {
    return mabd_v3_dot(mabd_m3_mul(Aa, n), gap);
}
/// (A_a u) . (A_b w)
MABD_FN mabd_real mabd_cross_value(mabd_mat3 Aa, mabd_vec3 u, mabd_mat3 Ab, mabd_vec3 w) {
    return mabd_v3_dot(mabd_m3_mul(Aa, u), mabd_m3_mul(Ab, w));
}

/// C of a rigid row: [m] for point and slide rows, [rad] for cross rows. gap = mabd_joint_gap.
MABD_CALL mabd_real mabd_row_value(const mabd_joint_view* v, const mabd_row* row, mabd_vec3 gap) {
    if (row->kind == MABD_ROW_POINT) return mabd_v3_get(gap, row->axis);
    if (row->kind == MABD_ROW_SLIDE) {
        return mabd_slide_value(v->Aa, mabd_m3_column(&v->Fa, row->axis), gap);
    }
    mabd_vec3 u, w;
    mabd_row_axes(v, row, &u, &w);
    return mabd_cross_value(v->Aa, u, v->Ab, w);
}

/// The value nearest to `near` among x + 2 pi n.
MABD_FN mabd_real mabd_unwrap(mabd_real x, mabd_real near) {
    return x + 2 * MABD_PI * (mabd_real)floor((near - x) / (2 * MABD_PI) + (mabd_real)0.5);
}

/// The rotation vectors phi + 2 pi n phi/|phi| are one rotation: the one nearest to `near`, compared in the
/// components that `known` marks (1 or 0 each).
MABD_FN mabd_vec3 mabd_unwrap_vector(mabd_vec3 phi, mabd_vec3 near, mabd_vec3 known) {
    mabd_real angle = mabd_v3_norm(phi), far = mabd_v3_norm(near);
    if (far < (mabd_real)1) return phi; // |phi| <= pi is nearest
    mabd_vec3 axis =
        angle > (mabd_real)1e-6 ? mabd_v3_scale(1 / angle, phi) : mabd_v3_scale(1 / far, near);
    mabd_vec3 seen = mabd_v3(axis.x * known.x, axis.y * known.y, axis.z * known.z);
    mabd_real weight = mabd_v3_dot(seen, seen);
    if (weight < (mabd_real)1e-6) return phi;
    mabd_real n = (mabd_real)floor(
        (mabd_v3_dot(mabd_v3_sub(near, phi), seen) / weight) / (2 * MABD_PI) + (mabd_real)0.5);
    return mabd_v3_axpy(2 * MABD_PI * n, axis, phi);
}

/// Coordinates of `count` rows [m] or [rad]: angles and rotation vectors are the ones nearest to near (count).
MABD_CALL void mabd_joint_coordinates(const mabd_joint_view* v, int count, const mabd_row* rows,
                                      const mabd_real* near, mabd_real* x) {
    const mabd_vec3 gap = mabd_joint_gap(v);
    mabd_real last[3] = {0, 0, 0}, known[3] = {0, 0, 0};
    bool vectors = false;
    for (int r = 0; r < count; r++) {
        const mabd_row* row = rows + r;
        if (row->kind == MABD_ROW_VECTOR) {
            last[row->axis] = near[r], known[row->axis] = 1;
            vectors = true;
        } else if (row->kind == MABD_ROW_ANGLE_A || row->kind == MABD_ROW_ANGLE_B) {
            mabd_real sine, cosine;
            mabd_row_angle(v, row, &sine, &cosine);
            x[r] = mabd_unwrap((mabd_real)atan2(sine, cosine), near[r]);
        } else {
            x[r] = mabd_row_value(v, row, gap);
        }
    }
    if (!vectors) return;
    mabd_vec3 phi = mabd_unwrap_vector(mabd_joint_turn(v), mabd_v3_load(last), mabd_v3_load(known));
    for (int r = 0; r < count; r++) {
        if (rows[r].kind == MABD_ROW_VECTOR) x[r] = mabd_v3_get(phi, rows[r].axis);
    }
}

/// (R_a ea n) . (R_b eb X_b - R_a ea X_a)
MABD_FN mabd_real mabd_slide_remainder(mabd_mat3 Ra, mabd_sym3 ea, mabd_vec3 n, mabd_vec3 Xa,
                                       mabd_mat3 Rb, mabd_sym3 eb, mabd_vec3 Xb) {
    const mabd_vec3 d =
        mabd_v3_sub(mabd_m3_mul(Rb, mabd_sym3_mul(eb, Xb)), mabd_m3_mul(Ra, mabd_sym3_mul(ea, Xa)));
    return mabd_v3_dot(mabd_m3_mul(Ra, mabd_sym3_mul(ea, n)), d);
}
/// (R_a ea u) . (R_b eb w)
MABD_FN mabd_real mabd_cross_remainder(mabd_mat3 Ra, mabd_sym3 ea, mabd_vec3 u, mabd_mat3 Rb,
                                       mabd_sym3 eb, mabd_vec3 w) {
    return mabd_v3_dot(mabd_m3_mul(Ra, mabd_sym3_mul(ea, u)),
                       mabd_m3_mul(Rb, mabd_sym3_mul(eb, w)));
}

/// What the linearisation of a row at a rigid reference leaves out when the bodies are strained by ea, eb
/// (body frames). Strain does not vanish at the end of a step, so without this term a loaded row would stay
/// open by its square.
MABD_CALL mabd_real mabd_row_remainder(const mabd_joint_view* v, const mabd_row* row, mabd_sym3 ea,
                                       mabd_sym3 eb) {
    mabd_vec3 u, w;
    if (row->kind == MABD_ROW_POINT) return 0;
    if (row->kind == MABD_ROW_SLIDE) {
        return mabd_slide_remainder(v->Aa, ea, mabd_m3_column(&v->Fa, row->axis), v->Xa, v->Ab, eb,
                                    v->Xb);
    }
    mabd_row_axes(v, row, &u, &w);
    return mabd_cross_remainder(v->Aa, ea, u, v->Ab, eb, w);
}

/// s (X (x) n, n): the force n at point X as a Jacobian.
MABD_FN mabd_vec12 mabd_vec12_at(mabd_vec3 X, mabd_vec3 n) {
    mabd_vec12 J;
    J.d1 = mabd_v3_scale(X.x, n), J.d2 = mabd_v3_scale(X.y, n), J.d3 = mabd_v3_scale(X.z, n);
    J.tau = n;
    return J;
}

/// A torque as a force on (D, tau): it does work on the rotation, half the twist: T' torque / 2.
MABD_FN mabd_vec12 mabd_vec12_torque(mabd_vec3 torque) {
    const mabd_vec3 h = mabd_v3_scale((mabd_real)0.5, torque);
    mabd_vec12 J;
    J.d1 = mabd_v3(0, h.z, -h.y), J.d2 = mabd_v3(-h.z, 0, h.x), J.d3 = mabd_v3(h.y, -h.x, 0);
    J.tau = mabd_v3(0, 0, 0);
    return J;
}

/// A vector of the other body as this one sees it: R_here' R_there z.
MABD_FN mabd_vec3 mabd_row_seen(mabd_mat3 here, mabd_mat3 there, mabd_vec3 z) {
    return mabd_m3_tmul(here, mabd_m3_mul(there, z));
}
/// J of a cross row: x is this body's vector, n the other one's as this body sees it.
MABD_FN mabd_vec12 mabd_cross_jacobian(mabd_vec3 x, mabd_vec3 n) {
    mabd_vec12 J = mabd_vec12_at(x, n);
    J.tau = mabd_v3(0, 0, 0);
    return J;
}
/// J of a slide row on body a; d = R_a' (P_b - P_a). On body b it is mabd_vec12_at(X_b, R_b' R_a n).
MABD_FN mabd_vec12 mabd_slide_jacobian(mabd_vec3 Xa, mabd_vec3 n, mabd_vec3 d) {
    mabd_vec12 J = mabd_vec12_at(Xa, mabd_v3_scale(-1, n));
    J.d1 = mabd_v3_axpy(n.x, d, J.d1), J.d2 = mabd_v3_axpy(n.y, d, J.d2);
    J.d3 = mabd_v3_axpy(n.z, d, J.d3);
    return J;
}

/// Jacobian of a row on side a (is_b = 0) or b (1), in that body's frame, at a rigid reference.
MABD_CALL mabd_vec12 mabd_row_jacobian(const mabd_joint_view* v, const mabd_row* row, mabd_vec3 gap,
                                       int is_b) {
    mabd_vec3 n, u, w;
    if (row->kind == MABD_ROW_POINT) {
        n = mabd_v3(row->axis == 0, row->axis == 1, row->axis == 2);
        return is_b ? mabd_vec12_at(v->Xb, mabd_m3_tmul(v->Ab, n))
                    : mabd_vec12_at(v->Xa, mabd_m3_tmul(v->Aa, mabd_v3_scale(-1, n)));
    }
    if (row->kind == MABD_ROW_SLIDE) {
        n = mabd_m3_column(&v->Fa, row->axis);
        return is_b ? mabd_vec12_at(v->Xb, mabd_row_seen(v->Ab, v->Aa, n))
                    : mabd_slide_jacobian(v->Xa, n, mabd_m3_tmul(v->Aa, gap));
    }
    if (row->kind == MABD_ROW_VECTOR) { // the twist of b less that of a
        n = mabd_row_vector_axis(v, row);
        return mabd_vec12_torque(is_b ? mabd_row_seen(v->Ab, v->Aa, n) : mabd_v3_scale(-1, n));
    }
    mabd_row_axes(v, row, &u, &w);
    return is_b ? mabd_cross_jacobian(w, mabd_row_seen(v->Ab, v->Aa, u))
                : mabd_cross_jacobian(u, mabd_row_seen(v->Aa, v->Ab, w));
}

/// A strain as an increment.
MABD_FN mabd_vec12 mabd_sym3_affine(mabd_sym3 e) {
    mabd_vec12 D;
    D.d1 = mabd_v3(e.xx, e.xy, e.xz), D.d2 = mabd_v3(e.xy, e.yy, e.yz);
    D.d3 = mabd_v3(e.xz, e.yz, e.zz), D.tau = mabd_v3(0, 0, 0);
    return D;
}

/// R (I + e)
MABD_FN mabd_mat3 mabd_m3_strained(mabd_mat3 R, mabd_vec12 e) {
    return mabd_m3(mabd_v3_add(R.c1, mabd_m3_mul(R, e.d1)), mabd_v3_add(R.c2, mabd_m3_mul(R, e.d2)),
                   mabd_v3_add(R.c3, mabd_m3_mul(R, e.d3)));
}

/// What the linearisation of a coordinate leaves out when the bodies are strained: x(strained) - x_ref - J
/// e. An angle is no bilinear form of A, so this is more than the remainder of the row that it is
/// linearised by.
MABD_CALL mabd_real mabd_coordinate_remainder(const mabd_joint_view* v, const mabd_row* row,
                                              mabd_sym3 ea, mabd_sym3 eb, mabd_real x_ref) {
    const mabd_vec12 Da = mabd_sym3_affine(ea), Db = mabd_sym3_affine(eb);
    const mabd_vec3 gap = mabd_joint_gap(v);
    const mabd_real linear = mabd_vec12_dot(mabd_row_jacobian(v, row, gap, 0), Da) +
                             mabd_vec12_dot(mabd_row_jacobian(v, row, gap, 1), Db);
    mabd_joint_view end = *v;
    mabd_real x;
    end.Aa = mabd_m3_strained(v->Aa, Da), end.Ab = mabd_m3_strained(v->Ab, Db);
    end.phi = NULL;
    mabd_joint_coordinates(&end, 1, row, &x_ref, &x);
    return x - x_ref - linear;
}
