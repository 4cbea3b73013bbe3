// SPDX-License-Identifier: Apache-2.0
// Changes of the states of bodies, between the user's frame and the principal frame.
//
// A state as the user sees it changes by 12 reals: position, turn theta in the body frame,
// velocity, angular velocity omega (world). By its principal frame, R = U V, arm = U center, a body
// changes by (dc, phi) with phi in the principal frame, and by (dv, d om), om = R'omega:
//
//   theta = V phi                     d position = dc + U [center] theta
//   d omega = R d om - R [om] phi     d velocity = dv + [arm] d omega + [omega] U [center] theta
//
// A start state is placed by dc0 = d position - U [center] theta, phi0 = V'theta,
// dv0 = d velocity - [arm] d omega - [omega] U [center] theta, and d omega.
#pragma once

#include "rigid/body_residual.h"
#include "rigid/frames.h"
#include "rigid/geometric.h"
#include "rigid/linear_pass.h"

/// out (12) += the change of the user's state of a body of a class with rotation q and angular
/// velocity om (principal frame) by xi = (dc, phi), eta = (dv, d om) (6 each).
MABD_FN void mabd_rigid_pass_user(const mabd_model_class* c, mabd_quat q, mabd_vec3 om, bool back,
                                  mabd_real* out, mabd_real* xi, mabd_real* eta) {
    const mabd_mat3 R = mabd_q_matrix(q), V = mabd_q_matrix(mabd_q_load(c->axes));
    const mabd_mat3 U = mabd_m3_product(R, mabd_m3_transpose(V));
    const mabd_vec3 center = mabd_v3_load(c->center);
    const mabd_mat3 arm = mabd_m3_skew(mabd_m3_mul(U, center));
    const mabd_mat3 spin = mabd_m3_skew(mabd_m3_mul(R, om)), by_om = mabd_rigid_product_skew(R, om);
    const mabd_mat3 UcV = mabd_m3_product(mabd_rigid_product_skew(U, center), V);
    mabd_pass_scaled(back, 1, 3, out, xi);
    mabd_pass_m3(back, 1, UcV, out, xi + 3);
    mabd_pass_m3(back, 1, V, out + 3, xi + 3);
    mabd_pass_scaled(back, 1, 3, out + 6, eta);
    mabd_pass_m3(back, 1, mabd_m3_product(spin, UcV), out + 6, xi + 3);
    mabd_pass_m3(back, 1, mabd_m3_product(arm, R), out + 6, eta + 3);
    mabd_pass_m3(back, -1, mabd_m3_product(arm, by_om), out + 6, xi + 3);
    mabd_pass_m3(back, 1, R, out + 9, eta + 3);
    mabd_pass_m3(back, -1, by_om, out + 9, xi + 3);
}

/// out (12) += the change of the user's state of a body by component `component` of its centre of
/// mass, at a fixed principal frame.
MABD_FN void mabd_rigid_pass_user_center(const mabd_model_class* c, mabd_quat q, mabd_vec3 om,
                                         int component, bool back, mabd_real* out,
                                         mabd_real* value) {
    const mabd_quat turn = mabd_q_product(q, mabd_q_conjugate(mabd_q_load(c->axes)));
    const mabd_mat3 U = mabd_q_matrix(turn);
    const mabd_vec3 arm = mabd_m3_column(&U, component);
    mabd_real column[3];
    mabd_v3_store(arm, column);
    mabd_pass(back, -1, column, 3, 1, out, value);
    mabd_v3_store(mabd_v3_cross(mabd_q_rotate(q, om), arm), column);
    mabd_pass(back, -1, column, 3, 1, out + 6, value);
}

/// placed (12: dc0, phi0, dv0, d omega) += the change by the user's start state of a body (12).
MABD_FN void mabd_rigid_pass_placed(const mabd_model_class* c, const mabd_model_start* start,
                                    bool back, mabd_real* placed, mabd_real* user) {
    const mabd_mat3 U = mabd_q_matrix(mabd_q_load(start->rotation));
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(c->axes));
    const mabd_vec3 center = mabd_v3_load(c->center), arm = mabd_m3_mul(U, center);
    const mabd_mat3 by_turn = mabd_rigid_product_skew(U, center); // minus d arm
    const mabd_mat3 spin = mabd_m3_skew(mabd_v3_load(start->angular_velocity));
    mabd_pass_scaled(back, 1, 3, placed, user);
    mabd_pass_m3(back, -1, by_turn, placed, user + 3);
    mabd_pass_m3(back, 1, mabd_m3_transpose(V), placed + 3, user + 3);
    mabd_pass_scaled(back, 1, 3, placed + 6, user + 6);
    mabd_pass_m3(back, -1, mabd_m3_skew(arm), placed + 6, user + 9);
    mabd_pass_m3(back, -1, mabd_m3_product(spin, by_turn), placed + 6, user + 3);
    mabd_pass_scaled(back, 1, 3, placed + 9, user + 9);
}

/// placed (12) += the change by component `component` of the centre of mass of a body.
MABD_FN void mabd_rigid_pass_placed_center(const mabd_model_start* start, int component, bool back,
                                           mabd_real* placed, mabd_real* value) {
    const mabd_mat3 U = mabd_q_matrix(mabd_q_load(start->rotation));
    const mabd_vec3 arm = mabd_m3_column(&U, component);
    mabd_real column[3];
    mabd_v3_store(arm, column);
    mabd_pass(back, 1, column, 3, 1, placed, value);
    mabd_v3_store(mabd_v3_cross(mabd_v3_load(start->angular_velocity), arm), column);
    mabd_pass(back, 1, column, 3, 1, placed + 6, value);
}

/// Compute the way from pose `from` to `to` (7 each): of the centre [m], and the turn
/// tau = 2 vec(q0* q)/(q0.q) in the principal frame [rad].
MABD_FN void mabd_rigid_way(const mabd_real* to, const mabd_real* from, mabd_vec3* way,
                            mabd_vec3* turn) {
    const mabd_quat s =
        mabd_q_product(mabd_q_conjugate(mabd_q_load(from + 3)), mabd_q_load(to + 3));
    *way = mabd_v3_sub(mabd_v3_load(to), mabd_v3_load(from));
    *turn = mabd_v3_scale(2 / s.w, mabd_v3(s.x, s.y, s.z));
}
/// diag(J) (I + s [tau]/2 + tau tau'/4): with s = 1 the derivative of diag(J) tau by a turn of the
/// end, with s = -1 minus that by a turn of the start.
MABD_FN mabd_mat3 mabd_rigid_way_slope(mabd_vec3 J, mabd_vec3 tau, mabd_real s) {
    mabd_mat3 M = mabd_rigid_rate_turn(1, mabd_v3_scale(s, tau));
    M = mabd_m3_axpy((mabd_real)0.25, mabd_m3_outer(tau, tau), M);
    return mabd_rigid_diagonal_product(J, M);
}
