// SPDX-License-Identifier: Apache-2.0
// Rotation of a body over a step, in the frame of the body.
//
// BDF2 on the columns of A shrinks vectors that turn: a body at the rate o loses about (h o)^4/3 of
// it per step. BDF2 with a constant mass is G-stable, and the proof holds in any frame that turns,
// because rotations do not change the norm. So the history of the rotation is kept in the frame of
// the body: a steady rate is a constant there, exact for any h |o|, and Euler's equations
//
//   J o' + o x J o = torque          J: principal moments [kg m^2], o: rate, body frame [rad/s]
//
// stay G-stable: the gyroscopic term does no work.
//
// State      p   rotation as a unit quaternion        o, o1   rate, and rate one step ago
//            d   rotation vector of the last step     torque  all torques at its end
// Kinematics y   rotation vector from the state to a reference R = R(p) exp(y)
//   O  = (y + w1 (d + d x y/2))/bh + ck      rate at the end, second order, exact for constant o
//   o' = (O - o_b)/bh + cw,   o_b = w o + w1 o1
// Inertia as a force on D, body frame, at a reference:
//   C = [O]^2 diag(s)          C_ik = (O_i O_k - |O|^2 delta_ik) s_k
//   r = -(C + C')/2 + e0 diag(s)/bh^2 - T'(J o' + O x J O)/2
// The symmetric part of C is the centrifugal tension. The strain e0 of the state balances the term
// s/bh^2 of the block, so that strain is quasi-static: a rod at rest has its whole stress.
//
// A solve from the reference gives A = R (I + D). Its rotation, with a = axial(skew D) and E =
// sym(D), is that of I + [u], u = a - (tr(E) a - E a)/2, to the order of E^2 a and E a^3: rotation
// by atan|u| about u, exact without strain. The whole rotation follows from exp(y) exp(z), z = u
// atan|u|/|u|. Where u is small, as at the end of a converged step, by the series
//   log(exp(y) exp(z)) = y + z + (y x z)/2 + c y x (y x z) + z x (z x y)/12 + O(z^2 y^2),
//   c = (1 - (|y|/2) cot(|y|/2))/|y|^2 = 1/12 + |y|^2/720 + ...,
// and otherwise by quaternions.
//
// Light axis: an axis whose moment is less than a quarter of the largest; a body has at most one.
// An unfinished rotation w = 2a of the solve leaves the torque 2 G w of the geometric stiffness
// there, and the rate that follows from y would keep it. So the rate about this axis, of a body
// that only has ball joints, follows from the torque instead of the rotation: O_k = O_k(reference)
// + a_k/bh + 2 bh (G w)_k/J_k. For all axes this would make chains with heavy ends unstable, where
// 2 G w is large.
//
// Nearly free bodies (mabd_spin_free): one linear solve does not contain the gyroscopic term, and
// BDF2 damps nutation. Where the torque changes the momentum by less than a fifth in bh, and the
// gyroscopic term turns it, the guess is the solution of Euler's equations in the step, and cw, ck
// are the errors of the scheme on the free motion through the state, computed by a flow that
// conserves energy and momentum. A joint that holds an axis of the body takes its gyroscopic
// torque, so such a body has no correction.
#pragma once

#include "formulation/affine/body_types.h"
#include "formulation/affine/element/turn_log.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/scheme.h"
#include "math/quat.h"
#include "math/sym3.h"

/// Rotation of a body at the state, body frame.
typedef struct mabd_spin {
    mabd_quat p;
    mabd_vec3 o, o1; // [rad/s]
    mabd_vec3 d;     // [rad]
    mabd_vec3 torque;
} mabd_spin;

/// Corrections of the scheme of a nearly free body, 0 for all others.
typedef struct mabd_spin_flow {
    mabd_vec3 cw, ck; // [rad/s^2], [rad/s]
} mabd_spin_flow;

/// Load a row of sim->spin.
MABD_FN mabd_spin mabd_spin_load(const mabd_real* row) {
    mabd_spin s;
    s.p = mabd_q_load(row);
    s.o = mabd_v3_load(row + 4), s.o1 = mabd_v3_load(row + 7);
    s.d = mabd_v3_load(row + 10), s.torque = mabd_v3_load(row + 13);
    return s;
}
/// Store a row of sim->spin.
MABD_FN void mabd_spin_store(mabd_spin s, mabd_real* row) {
    mabd_q_store(s.p, row);
    mabd_v3_store(s.o, row + 4), mabd_v3_store(s.o1, row + 7);
    mabd_v3_store(s.d, row + 10), mabd_v3_store(s.torque, row + 13);
}

// ---- quaternions and rotation vectors ----------------------------------------------------------

/// Compute the unit quaternion of a rotation vector y [rad], accurate to round-off for |y| <= 2 pi.
MABD_HOT mabd_quat mabd_spin_quat(mabd_vec3 y) {
    const mabd_real z = (mabd_real)0.0625 * mabd_v3_dot(y, y);
    const mabd_real c = mabd_turn_cosine(z), s = mabd_turn_sine(z), k = (mabd_real)0.5 * c * s;
    return mabd_q(c * c - s * s * z, k * y.x, k * y.y, k * y.z);
}

/// Compute the unit quaternion of any rotation vector: whole turns are taken off.
MABD_FN mabd_quat mabd_spin_quat_any(mabd_vec3 y) {
    const mabd_real square = mabd_v3_dot(y, y);
    if (!(square > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) return mabd_spin_quat(y);
    const mabd_real angle = (mabd_real)sqrt(square), turn = 2 * MABD_PI;
    const mabd_real left = angle - turn * (mabd_real)floor(angle / turn + (mabd_real)0.5);
    return mabd_spin_quat(mabd_v3_scale(left / angle, y));
}

/// Compute the rotation vector of a unit quaternion, at most half a turn [rad].
MABD_HOT mabd_vec3 mabd_spin_vector(mabd_quat q) {
    const mabd_real sign = q.w < 0 ? (mabd_real)-1 : (mabd_real)1;
    const mabd_real k = sign / (1 + sign * q.w); // tan(angle/4) = sin(angle/2)/(1 + cos(angle/2))
    const mabd_vec3 t = mabd_v3(k * q.x, k * q.y, k * q.z);
    const mabd_real z = mabd_v3_dot(t, t);
    return mabd_v3_scale(4 * (1 - z * mabd_so3_atan_series(z)), t);
}

/// Compute the quaternion of the rotation of I + [u]: by atan|u| about u.
MABD_HOT mabd_quat mabd_spin_tangent(mabd_vec3 u) {
    const mabd_real cosine = 1 / (mabd_real)sqrt(1 + mabd_v3_dot(u, u));
    const mabd_real w = (mabd_real)sqrt((1 + cosine) / 2), k = cosine / (2 * w);
    return mabd_q(w, k * u.x, k * u.y, k * u.z);
}

/// Turn a unit quaternion p by q, and remove the round-off of its length.
MABD_HOT mabd_quat mabd_spin_advance(mabd_quat p, mabd_quat q) {
    const mabd_quat n = mabd_q_product(p, q);
    const mabd_real k =
        (mabd_real)1.5 - (mabd_real)0.5 * (n.w * n.w + n.x * n.x + n.y * n.y + n.z * n.z);
    return mabd_q(k * n.w, k * n.x, k * n.y, k * n.z);
}

// ---- a solve -----------------------------------------------------------------------------------

/// Compute J o, component by component.
MABD_HOT mabd_vec3 mabd_spin_momentum(const mabd_real* J, mabd_vec3 o) {
    return mabd_v3(J[0] * o.x, J[1] * o.y, J[2] * o.z);
}

/// Compute the rotation vector of the guess: y = lead (o + curve (o - o1)).
MABD_HOT mabd_vec3 mabd_spin_guess(const mabd_affine_step_scale* s, const mabd_spin* state) {
    const mabd_vec3 more = mabd_v3_sub(state->o, state->o1);
    return mabd_v3_scale(s->lead, mabd_v3_axpy(s->curve, more, state->o));
}

/// Compute the rate O at the end of a solve that turned the body by y.
MABD_HOT mabd_vec3 mabd_spin_rate(const mabd_affine_step_scale* s, mabd_vec3 d, mabd_vec3 ck,
                                  mabd_vec3 y) {
    const mabd_vec3 back = mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(d, y), d);
    return mabd_v3_axpy(1 / s->beta_h, mabd_v3_axpy(s->w1, back, y), ck);
}

/// Compute the torque J o' + O x J O at the end of a solve.
MABD_HOT mabd_vec3 mabd_spin_torque(const mabd_affine_step_scale* s, const mabd_real* J,
                                    const mabd_spin* state, mabd_vec3 cw, mabd_vec3 O) {
    const mabd_vec3 base = mabd_v3_axpy(s->w1, state->o1, mabd_v3_scale(s->w, state->o));
    const mabd_vec3 rate = mabd_v3_axpy(1 / s->beta_h, mabd_v3_sub(O, base), cw);
    return mabd_v3_add(mabd_spin_momentum(J, rate), mabd_v3_cross(O, mabd_spin_momentum(J, O)));
}

/// Compute the inertia of the rotation as a force on D at a reference (tau: 0), body frame. sm: s/
/// bh^2; O, torque: at the reference; e: strain of the state.
MABD_HOT mabd_vec12 mabd_spin_force(const mabd_real* sm, mabd_real bh, mabd_vec3 O,
                                    mabd_vec3 torque, mabd_sym3 e) {
    const mabd_real k = bh * bh, h = (mabd_real)0.5;
    const mabd_vec3 s = mabd_v3(k * sm[0], k * sm[1], k * sm[2]);
    const mabd_real xy = h * (s.x + s.y) * (O.x * O.y), xz = h * (s.x + s.z) * (O.x * O.z),
                    yz = h * (s.y + s.z) * (O.y * O.z);
    const mabd_vec3 t = mabd_v3_scale(h, torque);
    mabd_vec12 r;
    r.d1 = mabd_v3(sm[0] * e.xx + s.x * (O.y * O.y + O.z * O.z), sm[0] * e.xy - xy - t.z,
                   sm[0] * e.xz - xz + t.y);
    r.d2 = mabd_v3(sm[1] * e.xy - xy + t.z, sm[1] * e.yy + s.y * (O.x * O.x + O.z * O.z),
                   sm[1] * e.yz - yz - t.x);
    r.d3 = mabd_v3(sm[2] * e.xz - xz - t.y, sm[2] * e.yz - yz + t.x,
                   sm[2] * e.zz + s.z * (O.x * O.x + O.y * O.y));
    r.tau = mabd_v3(0, 0, 0);
    return r;
}

// ---- nearly free bodies ------------------------------------------------------------------------

/// Compute 1 below a, 0 above b, smooth between.
MABD_FN mabd_real mabd_spin_fade(mabd_real a, mabd_real b, mabd_real x) {
    const mabd_real t = (x - a) / (b - a);
    if (!(t > 0)) return 1;
    return t < 1 ? 1 - t * t * (3 - 2 * t) : 0;
}

/// Compute the square of the angle by which the gyroscopic term turns the momentum L in the solve,
/// times L.L.
MABD_HOT mabd_real mabd_spin_gyration(const mabd_affine_step_scale* s, mabd_vec3 o, mabd_vec3 L) {
    const mabd_vec3 turn = mabd_v3_scale(s->lead, mabd_v3_cross(o, L));
    return mabd_v3_dot(turn, turn);
}

/// True if a body is nearly free, bh |torque| < MABD_SPIN_LOADED_PART |J o|, and the gyroscopic
/// term turns its momentum by more than MABD_SPIN_SLOW_RAD in the solve. Bodies that turn in a
/// plane, or as rods without spin, have no such term.
MABD_HOT bool mabd_spin_is_free(const mabd_affine_step_scale* s, const mabd_real* J,
                                const mabd_spin* state) {
    const mabd_vec3 L = mabd_spin_momentum(J, state->o);
    const mabd_real k = s->beta_h / MABD_SPIN_LOADED_PART, size = mabd_v3_dot(L, L);
    const bool loaded = k * k * mabd_v3_dot(state->torque, state->torque) >= size;
    const mabd_real slow = MABD_SPIN_SLOW_RAD * MABD_SPIN_SLOW_RAD;
    return !loaded & (mabd_spin_gyration(s, state->o, L) > slow * size);
}

/// True if a body turns by more than MABD_SPIN_CALM_RAD in the solve.
MABD_HOT bool mabd_spin_is_wild(const mabd_affine_step_scale* s, const mabd_spin* state) {
    const mabd_real calm = MABD_SPIN_CALM_RAD * MABD_SPIN_CALM_RAD;
    return s->lead * s->lead * mabd_v3_dot(state->o, state->o) > calm;
}

/// Compute how much a body is free, 1 to 0 as its load bh |torque|/|J o| rises.
MABD_FN mabd_real mabd_spin_freedom(const mabd_affine_step_scale* s, const mabd_real* J,
                                    const mabd_spin* state) {
    const mabd_vec3 L = mabd_spin_momentum(J, state->o);
    const mabd_real load =
        s->beta_h * (mabd_real)sqrt(mabd_v3_dot(state->torque, state->torque) / mabd_v3_dot(L, L));
    return mabd_spin_fade(MABD_SPIN_FREE_PART, MABD_SPIN_LOADED_PART, load);
}

/// Compute how much the torque on a body varies within a step, 0 to 1: the part of the momentum by
/// which J o' at the state, from the torque, and its mean over the last step differ in bh. A torque
/// that stays, as that of a motor, does not vary.
MABD_FN mabd_real mabd_spin_variation(const mabd_affine_step_scale* s, const mabd_real* J,
                                      const mabd_spin* state) {
    const mabd_vec3 L = mabd_spin_momentum(J, state->o);
    const mabd_vec3 mean = mabd_spin_momentum(J, mabd_v3_sub(state->o, state->o1));
    const mabd_vec3 now = mabd_v3_sub(state->torque, mabd_v3_cross(state->o, L));
    const mabd_vec3 off = mabd_v3_axpy(-1 / s->lead, mean, now);
    const mabd_real part = s->beta_h * (mabd_real)sqrt(mabd_v3_dot(off, off) / mabd_v3_dot(L, L));
    return 1 - mabd_spin_fade(MABD_SPIN_FREE_PART, MABD_SPIN_LOADED_PART, part);
}

/// Damp a body that turns by more than MABD_SPIN_CALM_RAD in the solve under a torque that varies
/// within the step, is not resolved and would do work (the end of a whip).
MABD_FN void mabd_spin_damp(const mabd_affine_step_scale* s, const mabd_real* J, mabd_spin* state) {
    const mabd_real angle = s->lead * (mabd_real)sqrt(mabd_v3_dot(state->o, state->o));
    const mabd_real wild = 1 - mabd_spin_fade(MABD_SPIN_CALM_RAD, MABD_SPIN_WILD_RAD, angle);
    const mabd_real k = 1 - MABD_SPIN_DAMPED_PART * wild * mabd_spin_variation(s, J, state);
    state->o = mabd_v3_scale(k, state->o), state->o1 = mabd_v3_scale(k, state->o1);
    state->d = mabd_v3_scale(k, state->d);
}

/// Solve M x = b for a matrix given by columns, by cofactors.
MABD_FN mabd_vec3 mabd_spin_solve3(mabd_mat3 M, mabd_vec3 b) {
    const mabd_vec3 r1 = mabd_v3_cross(M.c2, M.c3);
    const mabd_real inverse = 1 / mabd_v3_dot(M.c1, r1);
    return mabd_v3(inverse * mabd_v3_dot(b, r1),
                   inverse * mabd_v3_dot(M.c1, mabd_v3_cross(b, M.c3)),
                   inverse * mabd_v3_dot(M.c1, mabd_v3_cross(M.c2, b)));
}

/// Returns the matrix diag(k) + [v].
MABD_FN mabd_mat3 mabd_spin_diagonal_cross(mabd_vec3 k, mabd_vec3 v) {
    return mabd_m3(mabd_v3(k.x, v.z, -v.y), mabd_v3(-v.z, k.y, v.x), mabd_v3(v.y, -v.x, k.z));
}

/// Move a free body by H seconds in one part: the rotation y = H/2 J^-1 (J o + exp(-y) J o), so
/// that the momentum J o turns about the mean rate and keeps |J o| and the energy. *o: rate, in and
/// out.
MABD_FN mabd_vec3 mabd_spin_flow_part(const mabd_real* J, mabd_real H, mabd_vec3* o) {
    const mabd_vec3 L = mabd_spin_momentum(J, *o);
    const mabd_vec3 k = mabd_v3(H / (2 * J[0]), H / (2 * J[1]), H / (2 * J[2]));
    mabd_vec3 y = mabd_v3_scale(H, *o), end = L;
    for (int i = 0; i < 5; i++) {
        const mabd_mat3 Q = mabd_q_matrix(mabd_spin_quat_any(mabd_v3_scale(-1, y)));
        end = mabd_m3_mul(Q, L);
        if (i == 4) break;
        const mabd_vec3 sum = mabd_v3_add(L, end);
        const mabd_vec3 off =
            mabd_v3_sub(y, mabd_v3(k.x * sum.x, k.y * sum.y, k.z * sum.z)); // residual
        if (mabd_v3_dot(off, off) <= MABD_SPIN_ROUND_OFF * mabd_v3_dot(y, y)) break;
        // d(exp(-y) L) = [end] Dr(y) dy, with Dr = I - [y]/2 + [y]^2/6 up to small terms
        const mabd_vec3 e1 = mabd_v3(1, 0, 0), e2 = mabd_v3(0, 1, 0), e3 = mabd_v3(0, 0, 1);
        mabd_mat3 M;
        const mabd_vec3 axis[3] = {e1, e2, e3};
        mabd_vec3 column[3];
        for (int c = 0; c < 3; c++) {
            const mabd_vec3 once = mabd_v3_cross(y, axis[c]);
            mabd_vec3 dr = mabd_v3_axpy((mabd_real)-0.5, once, axis[c]);
            dr = mabd_v3_axpy((mabd_real)1 / 6, mabd_v3_cross(y, once), dr);
            const mabd_vec3 turned = mabd_v3_cross(end, dr);
            column[c] =
                mabd_v3_sub(axis[c], mabd_v3(k.x * turned.x, k.y * turned.y, k.z * turned.z));
        }
        M = mabd_m3(column[0], column[1], column[2]);
        y = mabd_v3_sub(y, mabd_spin_solve3(M, off));
    }
    *o = mabd_v3(end.x / J[0], end.y / J[1], end.z / J[2]);
    return y;
}

/// Move a free body by H seconds, in parts that turn it by at most MABD_SPIN_FLOW_RAD. Returns its
/// rotation vector. *o: rate, in and out.
MABD_FN mabd_vec3 mabd_spin_move_free(const mabd_real* J, mabd_real H, mabd_vec3* o) {
    const mabd_real angle = (mabd_real)(fabs(H) * sqrt(mabd_v3_dot(*o, *o)));
    const int parts = 1 + (int)(angle / MABD_SPIN_FLOW_RAD);
    mabd_quat q = mabd_q(1, 0, 0, 0);
    mabd_vec3 y = mabd_v3(0, 0, 0);
    for (int i = 0; i < parts; i++) {
        y = mabd_spin_flow_part(J, H / (mabd_real)parts, o);
        q = mabd_q_product(q, mabd_spin_quat(y));
    }
    return parts == 1 ? y : mabd_spin_vector(q);
}

/// Compute guess and corrections of a nearly free body. *y: the guess of any body, in; blended with
/// the solution of Euler's equations, out.
MABD_CALL void mabd_spin_free(const mabd_affine_step_scale* s, const mabd_real* J,
                              const mabd_spin* state, mabd_vec3* y, mabd_spin_flow* flow) {
    const mabd_real angle = s->lead * (mabd_real)sqrt(mabd_v3_dot(state->o, state->o));
    const mabd_vec3 L = mabd_spin_momentum(J, state->o);
    const mabd_real turn = (mabd_real)sqrt(mabd_spin_gyration(s, state->o, L) / mabd_v3_dot(L, L));
    const mabd_real part = mabd_spin_freedom(s, J, state) *
                           (1 - mabd_spin_fade(MABD_SPIN_SLOW_RAD, MABD_SPIN_FAST_RAD, turn));
    const mabd_real resolved =
        mabd_spin_fade(MABD_SPIN_RESOLVED_RAD, MABD_SPIN_UNRESOLVED_RAD, angle);
    const mabd_real rate = 1 / s->beta_h, w1 = s->w1;
    mabd_vec3 next = state->o, last = state->o, back = mabd_v3(0, 0, 0);
    mabd_vec3 p = mabd_v3_axpy(2 * s->curve, mabd_v3_sub(state->o, state->o1), state->o);
    flow->cw = flow->ck = mabd_v3(0, 0, 0);
    if (part * resolved > 0) {
        // the scheme's own error on the free motion
        const mabd_vec3 ahead = mabd_spin_move_free(J, s->lead, &next);
        if (w1 != 0) back = mabd_v3_scale(-1, mabd_spin_move_free(J, -s->back, &last));
        const mabd_vec3 base = mabd_v3_axpy(w1, last, mabd_v3_scale(s->w, state->o));
        const mabd_vec3 gyro = mabd_v3_cross(next, mabd_spin_momentum(J, next));
        const mabd_vec3 own = mabd_v3(gyro.x / J[0], gyro.y / J[1], gyro.z / J[2]);
        const mabd_spin_flow none = {{0, 0, 0}, {0, 0, 0}};
        flow->cw = mabd_v3_scale(-1, mabd_v3_axpy(rate, mabd_v3_sub(next, base), own));
        flow->ck = mabd_v3_sub(next, mabd_spin_rate(s, back, none.ck, ahead));
        flow->cw = mabd_v3_scale(part * resolved, flow->cw);
        flow->ck = mabd_v3_scale(part * resolved, flow->ck);
        p = mabd_v3_axpy(part * resolved, mabd_v3_sub(next, p), p);
    }
    // Newton on J (p - o_b)/bh + p x J p + J cw - torque = 0
    const mabd_vec3 start = p, k = mabd_v3(rate * J[0], rate * J[1], rate * J[2]);
    mabd_real first = 0, square = 0;
    for (int i = 0; i <= MABD_SPIN_NEWTON_STEPS; i++) {
        const mabd_vec3 M = mabd_spin_momentum(J, p);
        const mabd_vec3 f = mabd_v3_sub(mabd_spin_torque(s, J, state, flow->cw, p), state->torque);
        square = mabd_v3_dot(f, f);
        if (i == 0) first = square;
        if (i == MABD_SPIN_NEWTON_STEPS) break;
        const mabd_mat3 cross = mabd_spin_diagonal_cross(mabd_v3(0, 0, 0), p);
        mabd_mat3 N = mabd_spin_diagonal_cross(k, mabd_v3_scale(-1, M)); // J/bh - [J p] + [p] J
        N.c1 = mabd_v3_axpy(J[0], cross.c1, N.c1);
        N.c2 = mabd_v3_axpy(J[1], cross.c2, N.c2);
        N.c3 = mabd_v3_axpy(J[2], cross.c3, N.c3);
        p = mabd_v3_sub(p, mabd_spin_solve3(N, f));
    }
    if (!(square < first)) p = start;
    // (I + w1/2 [d]) y = bh (p - ck) - w1 d
    const mabd_mat3 M = mabd_spin_diagonal_cross(mabd_v3(1, 1, 1), mabd_v3_scale(w1 / 2, state->d));
    const mabd_vec3 right =
        mabd_v3_axpy(-w1, state->d, mabd_v3_scale(s->beta_h, mabd_v3_sub(p, flow->ck)));
    *y = mabd_v3_axpy(part, mabd_v3_sub(mabd_spin_solve3(M, right), *y), *y);
}

// ---- the end of a solve ------------------------------------------------------------------------

/// Rotation of a body over a solve.
typedef struct mabd_spin_end {
    mabd_vec3 reference; // rotation vector to the reference [rad]
    mabd_vec3 y;         // rotation vector to the end [rad]
    mabd_real light;     // change of the rate about the light axis from the reference [rad/s]
} mabd_spin_end;

/// Compute axial(skew D) and u of the file head from the columns of D.
MABD_HOT void mabd_spin_small(mabd_mat3 D, mabd_vec3* a, mabd_vec3* u) {
    const mabd_real h = (mabd_real)0.5;
    *a = mabd_v3_scale(h, mabd_so3_two_sines(D));
    mabd_sym3 E;
    E.xx = D.c1.x, E.yy = D.c2.y, E.zz = D.c3.z;
    E.xy = h * (D.c2.x + D.c1.y), E.xz = h * (D.c3.x + D.c1.z), E.yz = h * (D.c3.y + D.c2.z);
    const mabd_vec3 coupled =
        mabd_v3_sub(mabd_v3_scale(E.xx + E.yy + E.zz, *a), mabd_sym3_mul(E, *a));
    *u = mabd_v3_axpy(-h, coupled, *a);
}

/// True if the series of the file head gives the rotation by y and then by that of I + [u].
MABD_HOT bool mabd_spin_is_near(mabd_vec3 y, mabd_vec3 u) {
    return (mabd_v3_dot(u, u) <= MABD_SPIN_NEAR_RAD * MABD_SPIN_NEAR_RAD) &
           (mabd_v3_dot(y, y) <= 1);
}

/// Compute the rotation vector of a rotation by y and then by that of I + [u], by the series.
MABD_HOT mabd_vec3 mabd_spin_join_near(mabd_vec3 y, mabd_vec3 u) {
    const mabd_real w = mabd_v3_dot(u, u), x = mabd_v3_dot(y, y);
    const mabd_vec3 z = mabd_v3_scale(
        1 - w * ((mabd_real)1 / 3 - w * ((mabd_real)1 / 5 - w * ((mabd_real)1 / 7))), u);
    const mabd_real c =
        (mabd_real)1 / 12 +
        x * ((mabd_real)1 / 720 + x * ((mabd_real)1 / 30240 + x * ((mabd_real)1 / 1209600 +
                                                                   x * ((mabd_real)1 / 47900160))));
    const mabd_vec3 yz = mabd_v3_cross(y, z);
    mabd_vec3 sum = mabd_v3_axpy((mabd_real)0.5, yz, mabd_v3_add(y, z));
    sum = mabd_v3_axpy(c, mabd_v3_cross(y, yz), sum);
    return mabd_v3_axpy((mabd_real)-1 / 12, mabd_v3_cross(z, yz), sum);
}

/// Compute the rotation vector of the unit quaternion q that is nearest to `near` [rad]. Close to
/// whole turns, where q has no axis, it is `near` itself.
MABD_FN mabd_vec3 mabd_spin_continue(mabd_quat q, mabd_vec3 near) {
    const mabd_vec3 v = mabd_spin_vector(q);
    const mabd_real angle = mabd_v3_norm(v), turn = 2 * MABD_PI;
    if (!(angle > MABD_SPIN_AXIS_RAD)) return near;
    const mabd_real more = mabd_v3_dot(near, v) / angle - angle;
    const mabd_real turns = (mabd_real)floor(more / turn + (mabd_real)0.5);
    return mabd_v3_scale(1 + turn * turns / angle, v);
}

/// Compute the rotation vector of a rotation by y and then by that of I + [u]. Beyond
/// MABD_SPIN_FAR_RAD no turn is lost.
MABD_FN mabd_vec3 mabd_spin_join(mabd_vec3 y, mabd_vec3 u) {
    if (mabd_spin_is_near(y, u)) return mabd_spin_join_near(y, u);
    const mabd_quat more = mabd_spin_tangent(u);
    const mabd_quat q = mabd_q_product(mabd_spin_quat_any(y), more);
    if (!(mabd_v3_dot(y, y) > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) return mabd_spin_vector(q);
    const mabd_vec3 z = mabd_spin_vector(more);
    return mabd_spin_continue(q,
                              mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(y, z), mabd_v3_add(y, z)));
}

/// Compute G w from Z = (I + G C)^-1 G: G = (I - Z C)^-1 Z. c: diagonal of C.
MABD_HOT mabd_vec3 mabd_spin_stiff(const mabd_real* c, mabd_sym3 Z, mabd_vec3 w) {
    const mabd_vec3 n1 = mabd_v3(1 - Z.xx * c[0], -(Z.xy * c[0]), -(Z.xz * c[0]));
    const mabd_vec3 n2 = mabd_v3(-(Z.xy * c[1]), 1 - Z.yy * c[1], -(Z.yz * c[1]));
    const mabd_vec3 n3 = mabd_v3(-(Z.xz * c[2]), -(Z.yz * c[2]), 1 - Z.zz * c[2]);
    return mabd_spin_solve3(mabd_m3(n1, n2, n3), mabd_sym3_mul(Z, w));
}

/// Compute the change of the rate about light axis k from the reference to the end, by its torque.
/// a: rotation from the reference; Gw: G times 2a.
MABD_HOT mabd_real mabd_spin_light(mabd_real bh, const mabd_real* J, int32_t k, mabd_vec3 a,
                                   mabd_vec3 Gw) {
    return mabd_v3_get(a, k) / bh + 2 * bh * mabd_v3_get(Gw, k) / J[k];
}

/// Compute the rotation vector of a rotation by d and then by y, whose quaternion is q. Beyond
/// MABD_SPIN_FAR_RAD no turn is lost.
MABD_FN mabd_vec3 mabd_spin_sum(mabd_vec3 d, mabd_vec3 y, mabd_quat q) {
    const mabd_vec3 sum = mabd_v3_add(d, y);
    if (!(mabd_v3_dot(sum, sum) > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) {
        return mabd_spin_vector(mabd_q_product(mabd_spin_quat(d), q));
    }
    return mabd_spin_continue(mabd_q_product(mabd_spin_quat_any(d), q),
                              mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(d, y), sum));
}

/// Compute the state after a solve. q: quaternion of end->y; on_light: 1 for the light axis, 0 for
/// the others.
/// With keep_history the solve is part of a step, and the state one step ago stays.
MABD_HOT mabd_spin mabd_spin_next(const mabd_affine_step_scale* s, const mabd_real* J,
                                  mabd_vec3 on_light, const mabd_spin* state,
                                  const mabd_spin_flow* flow, const mabd_spin_end* end, mabd_quat q,
                                  bool keep_history) {
    mabd_spin next;
    const mabd_vec3 at = mabd_spin_rate(s, state->d, flow->ck, end->reference);
    mabd_vec3 O = mabd_spin_rate(s, state->d, flow->ck, end->y);
    O.x = on_light.x > 0 ? at.x + end->light : O.x;
    O.y = on_light.y > 0 ? at.y + end->light : O.y;
    O.z = on_light.z > 0 ? at.z + end->light : O.z;
    next.p = mabd_spin_advance(state->p, q);
    next.o = O;
    next.torque = mabd_spin_torque(s, J, state, flow->cw, O);
    next.o1 = state->o, next.d = end->y;
    if (keep_history) {
        next.o1 = state->o1;
        next.d = mabd_spin_sum(state->d, end->y, q);
    }
    return next;
}

/// Compute the rates R [o] of the columns of a rotation p.
MABD_HOT mabd_mat3 mabd_spin_rates(mabd_quat p, mabd_vec3 o) {
    const mabd_mat3 R = mabd_q_matrix(p);
    return mabd_m3(mabd_v3_sub(mabd_v3_scale(o.z, R.c2), mabd_v3_scale(o.y, R.c3)),
                   mabd_v3_sub(mabd_v3_scale(o.x, R.c3), mabd_v3_scale(o.z, R.c1)),
                   mabd_v3_sub(mabd_v3_scale(o.y, R.c1), mabd_v3_scale(o.x, R.c2)));
}
