// SPDX-License-Identifier: Apache-2.0
// Balance of forces and torques of one rigid body in quaternion unknowns, and its derivatives.
//
// Unknowns of a solve are centre c and unit quaternion q. With a history (index p) and bh of the
// integrator,
//   v = (c - c_p)/bh   w = (q - q_p)/bh   dv = (v - v_p)/bh   dw = (w - w_p)/bh
// The increment is (dc, phi): dq = q (x) (0, phi)/2 = H'phi/2, phi in the principal frame, where
//   H(q) u = vec(q* (x) u)   (3 x 4),   H'y = q (x) (0, y),   H H' = I for |q| = 1
//
// With om = 2 H w, al = 2 H dw, ka = q.w, k2 = q.dw and J the diagonal of principal moments,
//
//   E_f = m (dv - g) - f                                   world
//   E_t = J al + om x J om + 2 ka J om - R'tau             principal frame
//
// which is F3 and R'F4 of [VQ eq. 10]: w is not quite tangent to the sphere at q, hence ka. From
//   d om = (I/bh + [om]/2 - ka) phi   d al = (I/bh^2 + [al]/2 - k2) phi   d ka = om.phi/4
// follow the derivatives A by (dc, phi):
//
//   A_ff = m/bh^2 I    A_tt = J (I/bh^2 + [al]/2 - k2 I)
//                           + ([om] J - [J om] + 2 ka J)(I/bh + [om]/2 - ka I) + (J om) om'/2
//
// Loads, because d(R'y) = [R'y] phi and d(R y) = -R [y] phi:
//   world torque tau        E_t -= R'tau                    A_tt -= [R'tau]
//   world force f at X      E_f -= f,   E_t -= X x R'f      A_tt -= [X][R'f]
//   turning force f_b at X  E_f -= R f_b,  E_t -= X x f_b   A_ft += R [f_b]
//   turning torque tau_b    E_t -= tau_b
//   drag d against a wind   E_f += d (v - wind)             A_ff += d/bh I
// A_ff is a multiple of I, and A_tf is zero: no torque depends on the centre.
//
// For gradients: derivatives by dw and by w with q fixed (3 x 4),
//   E_a = 2 J H      E_v = 2 ([om] J - [J om] + 2 ka J) H + 2 (J om) q'
// and m I, d I for E_f by dv and v.
#pragma once

#include "math/quat.h"
#include "rigid/geometric.h"

/// Inertia of one body.
typedef struct mabd_rigid_inertia {
    mabd_real mass; // [kg]
    mabd_vec3 J;    // principal moments of inertia [kg m^2]
} mabd_rigid_inertia;

/// Unit quaternion and derivatives of a body in a solve.
typedef struct mabd_rigid_motion {
    mabd_quat q, w, dw; // rotation, its rate [1/s] and the rate of that [1/s^2]
    mabd_vec3 v, dv;    // velocity [m/s] and acceleration [m/s^2] of the centre
} mabd_rigid_motion;

/// Residual E and derivatives A of one body; A_tf is zero.
typedef struct mabd_rigid_balance {
    mabd_vec3 f, t;   // E_f [N], world; E_t [N m], principal frame
    mabd_real ff;     // A_ff = ff I
    mabd_mat3 ft, tt; // A_ft, A_tt
} mabd_rigid_balance;

/// H(q) u = vec(q* (x) u)
MABD_FN mabd_vec3 mabd_rigid_h_mul(mabd_quat q, mabd_quat u) {
    const mabd_quat p = mabd_q_product(mabd_q_conjugate(q), u);
    return mabd_v3(p.x, p.y, p.z);
}
/// H(q)' y = q (x) (0, y)
MABD_FN mabd_quat mabd_rigid_h_tmul(mabd_quat q, mabd_vec3 y) {
    return mabd_q_product(q, mabd_q(0, y.x, y.y, y.z));
}
/// Compute q.u over all four components.
MABD_FN mabd_real mabd_rigid_q_dot(mabd_quat q, mabd_quat u) {
    return q.w * u.w + q.x * u.x + q.y * u.y + q.z * u.z;
}
/// Return q + H(q)'phi/2 at unit length; its sign is that of q.
MABD_FN mabd_quat mabd_rigid_turn(mabd_quat q, mabd_vec3 phi) {
    const mabd_quat d = mabd_rigid_h_tmul(q, mabd_v3_scale((mabd_real)0.5, phi));
    return mabd_q_normalize(mabd_q(q.w + d.w, q.x + d.x, q.y + d.y, q.z + d.z));
}

/// diag(d) x
MABD_FN mabd_vec3 mabd_rigid_diagonal_mul(mabd_vec3 d, mabd_vec3 x) {
    return mabd_v3(d.x * x.x, d.y * x.y, d.z * x.z);
}
/// diag(d) M
MABD_FN mabd_mat3 mabd_rigid_diagonal_product(mabd_vec3 d, mabd_mat3 M) {
    return mabd_m3(mabd_rigid_diagonal_mul(d, M.c1), mabd_rigid_diagonal_mul(d, M.c2),
                   mabd_rigid_diagonal_mul(d, M.c3));
}
/// s I + [x]/2
MABD_FN mabd_mat3 mabd_rigid_rate_turn(mabd_real s, mabd_vec3 x) {
    mabd_mat3 M = mabd_m3_skew(mabd_v3_scale((mabd_real)0.5, x));
    M.c1.x = M.c2.y = M.c3.z = s;
    return M;
}
/// [om] J - [J om] + 2 ka J, the derivative of om x J om + 2 ka J om by om at fixed ka.
MABD_FN mabd_mat3 mabd_rigid_gyroscopic(mabd_vec3 J, mabd_vec3 om, mabd_real ka) {
    const mabd_mat3 diagonal = mabd_m3(mabd_v3(J.x, 0, 0), mabd_v3(0, J.y, 0), mabd_v3(0, 0, J.z));
    const mabd_mat3 M = mabd_m3_axpy(2 * ka, diagonal, mabd_m3_skew_product(om, diagonal));
    return mabd_m3_axpy(-1, mabd_m3_skew(mabd_rigid_diagonal_mul(J, om)), M);
}
/// Compute the angular velocity om = 2 H(q) w [rad/s], principal frame.
MABD_FN mabd_vec3 mabd_rigid_spin(mabd_quat q, mabd_quat w) {
    return mabd_v3_scale(2, mabd_rigid_h_mul(q, w));
}

/// Compute A_tt of the inertia: the derivative of J al + om x J om + 2 ka J om by phi.
MABD_FN mabd_mat3 mabd_rigid_inertia_turn(mabd_vec3 J, const mabd_rigid_motion* s, mabd_real bh) {
    const mabd_vec3 om = mabd_rigid_spin(s->q, s->w), al = mabd_rigid_spin(s->q, s->dw);
    const mabd_real ka = mabd_rigid_q_dot(s->q, s->w), k2 = mabd_rigid_q_dot(s->q, s->dw);
    const mabd_mat3 by_al =
        mabd_rigid_diagonal_product(J, mabd_rigid_rate_turn(1 / (bh * bh) - k2, al));
    const mabd_mat3 by_om =
        mabd_m3_product(mabd_rigid_gyroscopic(J, om, ka), mabd_rigid_rate_turn(1 / bh - ka, om));
    const mabd_mat3 by_ka = mabd_m3_outer(mabd_rigid_diagonal_mul(J, om), om);
    return mabd_m3_axpy((mabd_real)0.5, by_ka, mabd_m3_axpy(1, by_om, by_al));
}

/// Compute the residual of inertia and gravity and its derivatives; loads are added to the result.
/// gravity [m/s^2]: world. bh [s]: beta h of the solve.
MABD_CALL mabd_rigid_balance mabd_rigid_body_balance(const mabd_rigid_inertia* body,
                                                     const mabd_rigid_motion* s, mabd_vec3 gravity,
                                                     mabd_real bh) {
    const mabd_vec3 om = mabd_rigid_spin(s->q, s->w), al = mabd_rigid_spin(s->q, s->dw);
    const mabd_vec3 Jom = mabd_rigid_diagonal_mul(body->J, om);
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    mabd_rigid_balance r;
    r.f = mabd_v3_scale(body->mass, mabd_v3_sub(s->dv, gravity));
    r.t = mabd_v3_axpy(2 * mabd_rigid_q_dot(s->q, s->w), Jom, mabd_v3_cross(om, Jom));
    r.t = mabd_v3_add(r.t, mabd_rigid_diagonal_mul(body->J, al));
    r.ff = body->mass / (bh * bh);
    r.ft = mabd_m3(zero, zero, zero);
    r.tt = mabd_rigid_inertia_turn(body->J, s, bh);
    return r;
}

// ---- loads -------------------------------------------------------------------------------------
// R: rotation of the body.

/// Add a torque that is constant in the world.
MABD_FN void mabd_rigid_add_torque(mabd_mat3 R, mabd_vec3 torque, mabd_rigid_balance* r) {
    const mabd_vec3 seen = mabd_m3_tmul(R, torque);
    r->t = mabd_v3_sub(r->t, seen);
    r->tt = mabd_m3_axpy(-1, mabd_m3_skew(seen), r->tt);
}
/// Add a force that is constant in the world, at the point X of the body (principal frame).
MABD_FN void mabd_rigid_add_force(mabd_mat3 R, mabd_vec3 X, mabd_vec3 force,
                                  mabd_rigid_balance* r) {
    const mabd_vec3 seen = mabd_m3_tmul(R, force);
    r->f = mabd_v3_sub(r->f, force);
    r->t = mabd_v3_sub(r->t, mabd_v3_cross(X, seen));
    r->tt = mabd_m3_axpy(-1, mabd_rigid_skew_skew(X, seen), r->tt);
}
/// Add a force at the point X and a torque that turn with the body; all in the principal frame.
MABD_FN void mabd_rigid_add_turning(mabd_mat3 R, mabd_vec3 X, mabd_vec3 force, mabd_vec3 torque,
                                    mabd_rigid_balance* r) {
    r->f = mabd_v3_sub(r->f, mabd_m3_mul(R, force));
    r->t = mabd_v3_sub(r->t, mabd_v3_add(torque, mabd_v3_cross(X, force)));
    r->ft = mabd_m3_axpy(1, mabd_rigid_product_skew(R, force), r->ft);
}
/// Add linear drag [N s/m] of the centre against the wind [m/s].
MABD_FN void mabd_rigid_add_drag(mabd_real drag, mabd_vec3 wind, const mabd_rigid_motion* s,
                                 mabd_real bh, mabd_rigid_balance* r) {
    r->f = mabd_v3_axpy(drag, mabd_v3_sub(s->v, wind), r->f);
    r->ff += drag / bh;
}

/// Add s A to a 6 x 6 block, row-major.
MABD_FN void mabd_rigid_add_balance(const mabd_rigid_balance* r, mabd_real s, mabd_real* block) {
    for (int k = 0; k < 3; k++) block[7 * k] += s * r->ff;
    mabd_rigid_add_part(block, MABD_RIGID_F, MABD_RIGID_T, s, r->ft);
    mabd_rigid_add_part(block, MABD_RIGID_T, MABD_RIGID_T, s, r->tt);
}

// ---- derivatives for gradients -----------------------------------------------------------------

/// Write 2 M H(q) + y q' (3 x 4, row-major, columns w x y z).
MABD_FN void mabd_rigid_h_columns(mabd_mat3 M, mabd_quat q, mabd_vec3 y, mabd_real* out) {
    const mabd_real parts[4] = {q.w, q.x, q.y, q.z};
    for (int k = 0; k < 4; k++) {
        const mabd_quat e = mabd_q(k == 0, k == 1, k == 2, k == 3);
        const mabd_vec3 column = mabd_m3_mul(M, mabd_v3_scale(2, mabd_rigid_h_mul(q, e)));
        const mabd_vec3 sum = mabd_v3_axpy(parts[k], y, column);
        out[k] = sum.x, out[4 + k] = sum.y, out[8 + k] = sum.z;
    }
}
/// Compute E_a, the derivative of E_t by dw (3 x 4, row-major); that of E_f by dv is m I.
MABD_FN void mabd_rigid_by_acceleration(mabd_vec3 J, mabd_quat q, mabd_real* E_a) {
    const mabd_mat3 M = mabd_rigid_diagonal_product(J, mabd_m3_identity());
    mabd_rigid_h_columns(M, q, mabd_v3(0, 0, 0), E_a);
}
/// Compute E_v, the derivative of E_t by w (3 x 4, row-major); that of E_f by v is drag times I.
MABD_FN void mabd_rigid_by_velocity(mabd_vec3 J, mabd_quat q, mabd_quat w, mabd_real* E_v) {
    const mabd_vec3 om = mabd_rigid_spin(q, w);
    const mabd_vec3 y = mabd_v3_scale(2, mabd_rigid_diagonal_mul(J, om));
    mabd_rigid_h_columns(mabd_rigid_gyroscopic(J, om, mabd_rigid_q_dot(q, w)), q, y, E_v);
}
