// SPDX-License-Identifier: Apache-2.0
// Rotation vectors: the logarithm of a rotation matrix, its gradients, and unwrapping of whole
// turns.
//
// A rotation by the angle p about a unit axis has the rotation vector phi = p axis. If a further
// small rotation dr is applied (in the axes of the frame that phi is measured from), phi changes by
//   dphi_k = n_k . dr,   n_k = e_k + phi x e_k / 2 + c phi x (phi x e_k),
//   c = (1 - p/2 cot(p/2)) / p^2
//
// For p <= pi/2 both phi and c are computed without roots, arcs or branches. With t = tan(p/2), z =
// t^2,
//   k(z) = (1 - atan(t)/t) / z = 1/3 - z/5 + z^2/7 - ..,   g = 1 - z k = (p/2) cot(p/2)
// and w = 2 sin(p) axis from the skew part of Q, t = sin(p)/(1 + cos(p)):
//   z = w.w / (4 (1 + cos p)^2),   phi = (1 + z) g w / 2,   c = k / (4 g^2)
// k is a polynomial of degree 19, interpolated at the 20 Chebyshev points of [0, 1]. Its relative
// error is below 5e-16, that of g below 2e-16, so the error of phi is the rounding of w and of cos
// p.
#pragma once

#include "math/mat3.h"

/// A rotation vector and the factor c of its gradients.
typedef struct mabd_rotvec {
    mabd_vec3 phi; // [rad]
    mabd_real c;
} mabd_rotvec;

/// Compute k(z) = (1 - atan(t)/t) / z for z = t^2 in [0, 1].
MABD_HOT mabd_real mabd_so3_atan_series(mabd_real z) {
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

/// Compute 2 cos(angle) of a rotation matrix.
MABD_HOT mabd_real mabd_so3_two_cosines(mabd_mat3 Q) {
    return Q.c1.x + Q.c2.y + Q.c3.z - 1;
}
/// Compute 2 sin(angle) axis of a rotation matrix.
MABD_HOT mabd_vec3 mabd_so3_two_sines(mabd_mat3 Q) {
    return mabd_v3(Q.c2.z - Q.c3.y, Q.c3.x - Q.c1.z, Q.c1.y - Q.c2.x);
}

/// Compute the rotation vector of a rotation by at most pi/2. Requires mabd_so3_two_cosines(Q) >=
/// 0; otherwise the result is meaningless.
MABD_HOT mabd_rotvec mabd_so3_log_small(mabd_mat3 Q) {
    const mabd_vec3 w = mabd_so3_two_sines(Q);
    const mabd_real below = 2 + mabd_so3_two_cosines(Q);
    const mabd_real z = mabd_v3_dot(w, w) / (below * below);
    const mabd_real k = mabd_so3_atan_series(z), g = 1 - z * k;
    mabd_rotvec turn;
    turn.phi = mabd_v3_scale((mabd_real)0.5 * (1 + z) * g, w);
    turn.c = k / (4 * (g * g));
    return turn;
}

/// Compute the rotation vector of a rotation matrix, angle in [0, pi].
MABD_FN mabd_vec3 mabd_so3_log(mabd_mat3 Q) {
    if (mabd_so3_two_cosines(Q) >= 0) return mabd_so3_log_small(Q).phi;
    mabd_vec3 w = mabd_so3_two_sines(Q);
    mabd_real sine = mabd_v3_norm(w) / 2, cosine = mabd_so3_two_cosines(Q) / 2;
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

/// Compute the factor c of the gradients of a rotation vector. Vectors longer than pi are unwrapped
/// ones; whole turns other than 0, where the axis is undetermined, are poles.
MABD_FN mabd_real mabd_so3_gradient_factor(mabd_vec3 phi) {
    const mabd_real square = mabd_v3_dot(phi, phi), half = (mabd_real)sqrt(square) / 2;
    return square < (mabd_real)1e-4 // 1/12 + p^2/720 + ...
               ? (mabd_real)1 / 12 + square / 720
               : (1 - half * (mabd_real)cos(half) / (mabd_real)sin(half)) / square;
}
/// Compute (dc/dp)/p of the factor c of the gradients, p = |phi|: dc = result (phi . dphi). Whole
/// turns other than 0 are poles.
MABD_FN mabd_real mabd_so3_gradient_slope(mabd_vec3 phi) {
    const mabd_real square = mabd_v3_dot(phi, phi), half = (mabd_real)sqrt(square) / 2;
    if (square < (mabd_real)1e-2) { // 1/360 + p^2/7560 + p^4/201600 + ...
        return (mabd_real)1 / 360 +
               square * ((mabd_real)1 / 7560 + square * ((mabd_real)1 / 201600));
    }
    // 4 p dc/dp = (cos h/sin h) / h + 1/sin^2 h - 2/h^2,  h = p/2
    const mabd_real sine = (mabd_real)sin(half), cosine = (mabd_real)cos(half);
    const mabd_real sum = cosine / (sine * half) + 1 / (sine * sine) - 2 / (half * half);
    return sum / (4 * square);
}
/// Compute the gradients n_k of phi_k as columns.
MABD_HOT mabd_mat3 mabd_rotvec_gradients(mabd_rotvec turn) {
    const mabd_vec3 phi = turn.phi;
    const mabd_vec3 e1 = mabd_v3(1, 0, 0), e2 = mabd_v3(0, 1, 0), e3 = mabd_v3(0, 0, 1);
    const mabd_vec3 t1 = mabd_v3_cross(phi, e1), t2 = mabd_v3_cross(phi, e2),
                    t3 = mabd_v3_cross(phi, e3);
    const mabd_real h = (mabd_real)0.5, c = turn.c;
    return mabd_m3(mabd_v3_axpy(c, mabd_v3_cross(phi, t1), mabd_v3_axpy(h, t1, e1)),
                   mabd_v3_axpy(c, mabd_v3_cross(phi, t2), mabd_v3_axpy(h, t2, e2)),
                   mabd_v3_axpy(c, mabd_v3_cross(phi, t3), mabd_v3_axpy(h, t3, e3)));
}
/// Compute the gradients n_k of a rotation vector phi as columns; whole turns other than 0 are
/// poles.
MABD_FN mabd_mat3 mabd_so3_log_gradients(mabd_vec3 phi) {
    mabd_rotvec turn;
    turn.phi = phi, turn.c = mabd_so3_gradient_factor(phi);
    return mabd_rotvec_gradients(turn);
}

/// Compute the turn phi with exp(t + s d) = exp(s phi) exp(t) at first order in s: the left
/// derivative of the exponential, d + (1 - cos p)/p^2 t x d + (p - sin p)/p^3 t x (t x d), p = |t|.
MABD_FN mabd_vec3 mabd_so3_turn_change(mabd_vec3 t, mabd_vec3 d) {
    const mabd_real square = mabd_v3_dot(t, t), p = (mabd_real)sqrt(square);
    const bool small = square < (mabd_real)1e-4;
    const mabd_real b = small ? (mabd_real)0.5 - square / 24 + square * square / 720
                              : (1 - (mabd_real)cos(p)) / square;
    const mabd_real c = small ? (mabd_real)1 / 6 - square / 120 + square * square / 5040
                              : (p - (mabd_real)sin(p)) / (square * p);
    const mabd_vec3 once = mabd_v3_cross(t, d);
    return mabd_v3_axpy(c, mabd_v3_cross(t, once), mabd_v3_axpy(b, once, d));
}

/// Return the value among x + 2 pi n, n an integer, that is nearest to `near` [rad].
MABD_FN mabd_real mabd_unwrap_angle(mabd_real x, mabd_real near) {
    return x + 2 * MABD_PI * (mabd_real)floor((near - x) / (2 * MABD_PI) + (mabd_real)0.5);
}

/// Return the rotation vector nearest to `near` among phi + 2 pi n phi/|phi|, which all describe
/// one rotation. Compares only the components that `known` marks by 1 (others are 0).
MABD_FN mabd_vec3 mabd_rotvec_unwrap(mabd_vec3 phi, mabd_vec3 near, mabd_vec3 known) {
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
