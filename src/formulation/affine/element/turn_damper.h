// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on the rotations rx, ry, rz of joints with three free rotations (ball, slot,
// point-on-plane and free).
//
// Kinematics. B and F are the joint frames carried by a and b (joint/rows.h), Q = B'F, and
//
//   Q' = Q [O],   O = F'(w_b - w_a)      relative angular velocity in the joint frame on body b
//
// Law. The torque of b on a, components in the frame F, world = F t, is
//
//   t = d O + A O',   d, A: damping and armature of the axes (diagonal)
//
// plus the torque of springs and servos, sum of n_k (k_k (x_k - rest_k) ..) with the rotation
// vector x of Q and the gradients n_k of its components (math/so3.h). A O' is the rate of the
// components O_k in the frame that b carries, without a gyroscopic term: the armature stores the
// energy sum of A_k O_k^2 / 2, and dampers take d_k O_k^2. Both torques act on a and b with
// opposite sign, so that the momentum of the two is conserved.
//
// Rate over one step (scheme.h: bh, w, w1). In exponential coordinates z about the end of the
// step, Q(s) = Q_end exp [z(s)], the rate is O = z' at z = 0. With the turn y = log(Q0' Q) of this
// step and d = log(Q1' Q0) of the last one (element/turn_log.h)
//
//   z0 = -y,   z1 = log(exp(-y) exp(-d)) = -(y + d) - d x y / 2 + third order
//   O  = (0 - w z0 - w1 z1)/bh = (y + w1 (d + d x y / 2))/bh        since w + w1 = 1
//   O' = (O - w O0 - w1 O1)/bh
//
// of second order, and exact for a constant rate, where d x y = 0.
//
// Rows. The rows of these axes are those of the rotation vector: x = x_ref + N'e for a small turn
// e of b against a in the frame F, N = (n_1 n_2 n_3) in the frame F,
//
//   N = I - [x]/2 + c [x]^2,   N^-1 = I + [x]/(2 s) + (1/4 - c (1 - c p^2))/s [x]^2,
//   s = (1 - c p^2)^2 + p^2/4,   p = |x|
//
// A torque N f does the work of forces f on x. At the reference the damper is f = N^-1 t, and
// (neglecting turns of a step against 1 in the derivative only, which does not change the solution)
// t grows by g e, g = (d + A/bh)/bh:
//
//   lambda = K x - target + f + (K + S) (x - x_ref),   S = N^-1 g N^-T
//
// So the three rows have the compliance matrix C = (K + S)^-1 and the right-hand side
// C (K x_ref - target + f). All three axes have a row, even if only one has a damper: N^-1 t has
// three components. An axis without gains gets the stiffness `least`, which steers the iteration
// and applies no force at its end.
//
// Axes with force laws (joint/axis_law.h). The law, which then has no damping and no armature of
// its own, gives on its current branch lambda_law = slope x - level or, on a vertical branch,
// x = x*. With the rows n that are not vertical and the vertical rows v
//
//   lambda_n = slope x_ref - level + f_n + S_nv (x* - x_ref)_v + (slope + S)_nn (x - x_ref)_n
//
// so C = (slope + S)_nn^-1 on n and 0 on v. After a solve lambda_law of a vertical row is
// lambda - f - S (x - x_ref).
#pragma once

#include "formulation/affine/element/turn_log.h"
#include "math/sym3.h"

/// Gains of the three rotation axes of a joint.
typedef struct mabd_turn_gains {
    mabd_vec3 stiffness; // k + kp, or the slope of the branch of a law [N m/rad]
    mabd_vec3 target;    // k rest + kp target, or its level [N m]
    mabd_vec3 damping;   // [N m s/rad]
    mabd_vec3 armature;  // [kg m^2]
} mabd_turn_gains;

/// History of the rotation of a joint with dampers.
typedef struct mabd_turn_history {
    mabd_vec3 x;          // rotation vector one step ago, at most half a turn [rad]
    mabd_vec3 turn;       // d above [rad]
    mabd_vec3 rate_b;     // w O0 + w1 O1 [rad/s]
    mabd_real per_bh, w1; // 1/bh [1/s]; of scheme.h
} mabd_turn_history;

/// Torque and stiffness of dampers and armature at a reference, as forces on the rotation vector.
typedef struct mabd_turn_damper {
    mabd_vec3 force; // f [N m]
    mabd_sym3 S;     // [N m/rad]
} mabd_turn_damper;

/// Return the rotation vector x without whole turns, angle at most pi.
MABD_HOT mabd_vec3 mabd_turn_unwound(mabd_vec3 x) {
    const mabd_real angle = mabd_v3_norm(x);
    // round to the nearest whole number: adding 1.5 x 2^52 leaves no digits after the point
    const mabd_real shift =
        sizeof(mabd_real) == 8 ? (mabd_real)6755399441055744.0 : (mabd_real)12582912.0;
    const mabd_real turns = (angle / (2 * MABD_PI) + shift) - shift;
    return mabd_v3_scale(1 - turns * (2 * MABD_PI) / (angle + (mabd_real)1e-18), x);
}

/// Compute the turn y from the rotation of the vector x, at most half a turn, to Q [rad].
MABD_HOT mabd_vec3 mabd_turn_from(mabd_vec3 x, mabd_mat3 Q) {
    return mabd_turn_log(mabd_m3_tproduct(mabd_turn_exp(x), Q));
}

/// Compute the relative angular velocity O at the end of a step with the turn y [rad/s].
MABD_HOT mabd_vec3 mabd_turn_rate(const mabd_turn_history* h, mabd_vec3 y) {
    const mabd_vec3 last = mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(h->turn, y), h->turn);
    return mabd_v3_scale(h->per_bh, mabd_v3_axpy(h->w1, last, y));
}

/// Compute w O0 + w1 O1 of the rates O0 at the start of a step and O1 one step before it [rad/s].
MABD_HOT mabd_vec3 mabd_turn_rate_b(mabd_real w, mabd_real w1, mabd_vec3 rate, mabd_vec3 rate1) {
    return mabd_v3_axpy(w1, rate1, mabd_v3_scale(w, rate));
}

/// Compute the vector of the turn by d followed by the turn by y [rad].
MABD_HOT mabd_vec3 mabd_turn_joined(mabd_vec3 d, mabd_vec3 y) {
    return mabd_turn_log(mabd_m3_product(mabd_turn_exp(d), mabd_turn_exp(y)));
}

/// Multiply a and b component by component.
MABD_HOT mabd_vec3 mabd_turn_each(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/// Compute N^-1 of a rotation vector, |phi| <= pi.
MABD_HOT mabd_mat3 mabd_turn_force_map(mabd_rotvec turn) {
    const mabd_vec3 v = turn.phi;
    const mabd_real square = mabd_v3_dot(v, v), rest = 1 - turn.c * square;
    const mabd_real scale = 1 / (rest * rest + square / 4);
    const mabd_real a = scale / 2, b = scale * ((mabd_real)0.25 - turn.c * rest);
    // I + a [v] + b (v v' - |v|^2)
    const mabd_vec3 bv = mabd_v3_scale(b, v), av = mabd_v3_scale(a, v);
    const mabd_real diagonal = 1 - b * square;
    const mabd_real xy = bv.x * v.y, xz = bv.x * v.z, yz = bv.y * v.z;
    return mabd_m3(mabd_v3(diagonal + bv.x * v.x, xy + av.z, xz - av.y),
                   mabd_v3(xy - av.z, diagonal + bv.y * v.y, yz + av.x),
                   mabd_v3(xz + av.y, yz - av.x, diagonal + bv.z * v.z));
}

/// Compute the dampers of a joint at the reference rotation Q with the rotation vector `turn`.
MABD_HOT mabd_turn_damper mabd_turn_damper_at(const mabd_turn_gains* gains,
                                              const mabd_turn_history* h, mabd_mat3 Q,
                                              mabd_rotvec turn) {
    const mabd_vec3 rate = mabd_turn_rate(h, mabd_turn_from(h->x, Q));
    const mabd_vec3 growth = mabd_v3_scale(h->per_bh, mabd_v3_sub(rate, h->rate_b));
    const mabd_vec3 torque =
        mabd_v3_add(mabd_turn_each(gains->damping, rate), mabd_turn_each(gains->armature, growth));
    const mabd_vec3 g =
        mabd_v3_scale(h->per_bh, mabd_v3_axpy(h->per_bh, gains->armature, gains->damping));
    const mabd_mat3 map = mabd_turn_force_map(turn);
    const mabd_mat3 scaled =
        mabd_m3(mabd_v3_scale(g.x, map.c1), mabd_v3_scale(g.y, map.c2), mabd_v3_scale(g.z, map.c3));
    mabd_turn_damper out;
    out.force = mabd_m3_mul(map, torque);
    out.S.xx = scaled.c1.x * map.c1.x + scaled.c2.x * map.c2.x + scaled.c3.x * map.c3.x;
    out.S.yy = scaled.c1.y * map.c1.y + scaled.c2.y * map.c2.y + scaled.c3.y * map.c3.y;
    out.S.zz = scaled.c1.z * map.c1.z + scaled.c2.z * map.c2.z + scaled.c3.z * map.c3.z;
    out.S.xy = scaled.c1.x * map.c1.y + scaled.c2.x * map.c2.y + scaled.c3.x * map.c3.y;
    out.S.xz = scaled.c1.x * map.c1.z + scaled.c2.x * map.c2.z + scaled.c3.x * map.c3.z;
    out.S.yz = scaled.c1.y * map.c1.z + scaled.c2.y * map.c2.z + scaled.c3.y * map.c3.z;
    return out;
}

/// Return the stiffness `least` of an axis without gains [N m/rad].
MABD_HOT mabd_real mabd_turn_least(const mabd_turn_gains* gains, mabd_real per_bh) {
    const mabd_vec3 all =
        mabd_v3_add(gains->stiffness,
                    mabd_v3_scale(per_bh, mabd_v3_axpy(per_bh, gains->armature, gains->damping)));
    return (mabd_real)1e-6 * (all.x + all.y + all.z);
}

/// Compute the compliance C and the right-hand side C (K x_ref - target + f) of the three rows of a
/// joint without force laws.
MABD_HOT mabd_sym3 mabd_turn_rows(const mabd_turn_gains* gains, mabd_real per_bh,
                                  const mabd_turn_damper* damper, mabd_vec3 x_ref, mabd_vec3* rhs) {
    const mabd_real least = mabd_turn_least(gains, per_bh);
    mabd_sym3 M = damper->S;
    M.xx += gains->stiffness.x + least, M.yy += gains->stiffness.y + least;
    M.zz += gains->stiffness.z + least;
    const mabd_vec3 spring = mabd_v3_sub(mabd_turn_each(gains->stiffness, x_ref), gains->target);
    const mabd_sym3 C = mabd_sym3_inverse(M);
    *rhs = mabd_sym3_mul(C, mabd_v3_add(spring, damper->force));
    return C;
}
