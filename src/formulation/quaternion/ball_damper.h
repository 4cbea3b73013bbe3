// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on three free rotations of a joint: they act on the relative angular
// velocity and acceleration, components in the joint frame F on body b.
//
// With om of the bodies in their principal frames, Q = R_b' R_a and r = om_b - Q om_a, the rate of
// the axes is F'r. Over a solve with r' = (r - r_p)/bh in the joint frame the torque on b is
//
//   t_b = -F (D F'r + I (F'r - w_p)/bh) = -(B r - F (I/bh) w_p),   B = F (D + I/bh) F'
//
// and t_a = -Q' t_b. From d om = T phi, T = I/bh + [om]/2 - ka (rigid/body_residual.h), and
// d(R'y) = [R'y] phi:
//
//   dr = (T_b - [Q om_a]) phi_b - Q (T_a - [om_a]) phi_a
//   dE_b = B dr,   E_b = -t_b = y       dE_a = -([Q'y] phi_a - Q'[y] phi_b + Q' B dr),  E_a = -Q'y
#pragma once

#include "rigid/body_residual.h"

/// One side: angular velocity om [rad/s], principal frame, and its derivative T by phi; both are
/// zero for a body that does not move by forces, whose om is given.
typedef struct mabd_ball_side {
    mabd_vec3 om;
    mabd_mat3 T;
} mabd_ball_side;

/// A damped joint: gains in the joint frame, past rates (joint frame) and 1/bh.
typedef struct mabd_ball_damper {
    mabd_vec3 damping, armature; // [N m s], [kg m^2]
    mabd_vec3 past;              // w_p [rad/s]
    mabd_real rate;              // 1/bh [1/s]
} mabd_ball_damper;

/// M' diag(d) M' is F diag(d) F' for the columns of F.
MABD_FN mabd_mat3 mabd_ball_gain(mabd_mat3 F, mabd_vec3 d) {
    const mabd_mat3 scaled =
        mabd_m3(mabd_v3_scale(d.x, F.c1), mabd_v3_scale(d.y, F.c2), mabd_v3_scale(d.z, F.c3));
    return mabd_m3_product(scaled, mabd_m3_transpose(F));
}

/// Compute the rates of the axes: F'(om_b - Q om_a), joint frame on b [rad/s].
MABD_FN mabd_vec3 mabd_ball_rate(mabd_mat3 F, mabd_mat3 Q, mabd_vec3 om_a, mabd_vec3 om_b) {
    return mabd_m3_tmul(F, mabd_v3_sub(om_b, mabd_m3_mul(Q, om_a)));
}

/// Add k times the residual of a damper to the torques of a and b (3 reals each, null = none), and
/// k times its derivatives to the blocks; G null: no derivatives. F: joint frame on b.
MABD_CALL void mabd_ball_damper_add(const mabd_ball_damper* d, mabd_mat3 F, mabd_mat3 Q,
                                    const mabd_ball_side* a, const mabd_ball_side* b, mabd_real k,
                                    mabd_real* on_a, mabd_real* on_b, const mabd_rigid_blocks* G) {
    const mabd_vec3 inertia = mabd_v3_scale(d->rate, d->armature);
    const mabd_mat3 B = mabd_ball_gain(F, mabd_v3_add(d->damping, inertia));
    const mabd_vec3 seen = mabd_m3_mul(Q, a->om), r = mabd_v3_sub(b->om, seen);
    const mabd_vec3 memory = mabd_m3_mul(F, mabd_rigid_diagonal_mul(inertia, d->past));
    const mabd_vec3 y = mabd_v3_sub(mabd_m3_mul(B, r), memory), back = mabd_m3_tmul(Q, y);
    if (on_b) mabd_v3_store(mabd_v3_axpy(k, y, mabd_v3_load(on_b)), on_b);
    if (on_a) mabd_v3_store(mabd_v3_axpy(-k, back, mabd_v3_load(on_a)), on_a);
    if (!G) return;
    const mabd_mat3 by_b = mabd_m3_product(B, mabd_m3_axpy(-1, mabd_m3_skew(seen), b->T));
    const mabd_mat3 turn_a = mabd_m3_axpy(-1, mabd_m3_skew(a->om), a->T);
    const mabd_mat3 by_a = mabd_m3_product(B, mabd_m3_product(Q, turn_a)); // minus the derivative
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(G->bb, t, t, k, by_b);
    mabd_rigid_add_part(G->ba, t, t, -k, by_a);
    mabd_rigid_add_part(G->aa, t, t, -k, mabd_m3_skew(back));
    mabd_rigid_add_part(G->aa, t, t, k, mabd_m3_tproduct(Q, by_a));
    mabd_rigid_add_part(G->ab, t, t, k, mabd_m3_tproduct(Q, mabd_m3_skew(y)));
    mabd_rigid_add_part(G->ab, t, t, -k, mabd_m3_tproduct(Q, by_b));
}
