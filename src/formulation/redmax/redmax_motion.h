// SPDX-License-Identifier: Apache-2.0
// Motion, residual and Newton matrix of a part.
#pragma once

#include "formulation/redmax/redmax_data.h"

/// Weights of the derivatives in H = q dr/dq + v dr/dv + a dr/da.
typedef struct mabd_redmax_weights {
    mabd_real q, v, a;
} mabd_redmax_weights;

/// Weights of a stage: 1, 1/gamma, 1/gamma^2.
MABD_FN mabd_redmax_weights mabd_redmax_stage_weights(mabd_real gamma) {
    mabd_redmax_weights w;
    w.q = 1, w.v = 1 / gamma, w.a = 1 / (gamma * gamma);
    return w;
}

/// Compute v and a of the iterate from q, q_b, v_b and gamma (motion.c).
void mabd_redmax_rates(const mabd_redmax_solve* s);
/// Compute frames and the rotations of balls at sim->q (motion.c).
void mabd_redmax_place(const mabd_redmax_solve* s);
/// Compute frames and velocities at sim->q, v; wrenches stay (motion.c).
void mabd_redmax_velocities(const mabd_redmax_solve* s);
/// Compute the residual r at sim->q, v, a [N], [N m], and frames, velocities, accelerations and
/// wrenches of all links of the part (motion.c).
void mabd_redmax_residual(const mabd_redmax_solve* s);
/// mabd_redmax_residual; frames in the world may stay as they were (motion.c).
void mabd_redmax_residual_of_links(const mabd_redmax_solve* s);
/// Compute the kinetic energy of the links of the part at their velocities [J] (motion.c).
mabd_real mabd_redmax_kinetic(const mabd_redmax_solve* s);

/// External wrench on a link, without gravity and inertia, at its motion (forces.c).
mabd_spatial mabd_redmax_load(const mabd_redmax_solve* s, int32_t link);
/// Subtract the derivatives of the external wrench of a link by velocity and pose from N (6 x 18)
/// (forces.c).
void mabd_redmax_load_derivatives(const mabd_redmax_solve* s, int32_t link, mabd_real* N);
/// Compute tau (3) of the laws of a ball (laws.c).
void mabd_redmax_ball_laws(const mabd_redmax_solve* s, int32_t link, mabd_real* tau);
/// Compute the rotation vector theta of a ball, near that of s->from_node, and rows = dtheta/dq
/// (laws.c).
void mabd_redmax_ball_turn(const mabd_redmax_solve* s, int32_t link, mabd_vec3* theta,
                           mabd_mat3* rows);
/// Compute the forces on theta whose torques on q are tau: rows^-T tau (laws.c).
mabd_vec3 mabd_redmax_ball_forces(mabd_mat3 rows, mabd_vec3 tau);
/// Compute the derivatives of tau of a ball, and the rows of its held axes, into sim->balls
/// (laws.c).
void mabd_redmax_ball_derivatives(const mabd_redmax_solve* s, int32_t link);

/// Derivatives of tau of a ball at an iterate by what acts on one of its axes (3 each).
typedef struct mabd_redmax_axis_change {
    mabd_real x;                  // component of the rotation vector of springs and servos [rad]
    mabd_real force[3], motor[3]; // by a force on it, by that of its motor
    mabd_real damping[3], armature[3]; // by the coefficients of its axis
} mabd_redmax_axis_change;
/// Compute the derivatives of tau of a ball by what acts on an axis 0..2 (laws.c).
mabd_redmax_axis_change mabd_redmax_ball_axis(const mabd_redmax_solve* s, int32_t link, int axis);
/// Derivative of the rotation vector of a ball by a turn of the centre of its chart, link frame
/// (laws.c).
mabd_mat3 mabd_redmax_ball_turn_by_center(const mabd_redmax_solve* s, int32_t link);
/// Compute the derivatives of the rates theta' = dtheta/dq v of the rotation vector of a ball at
/// rates v (3), by its coordinates and by a turn of the centre of its chart, link frame (laws.c).
void mabd_redmax_ball_rate_changes(const mabd_redmax_solve* s, int32_t link, const mabd_real* v,
                                   mabd_mat3* by_q, mabd_mat3* by_center);
/// Derivative of tau of a ball with laws by a turn of the centre of its chart, link frame (laws.c).
mabd_mat3 mabd_redmax_ball_center(const mabd_redmax_solve* s, int32_t link);

/// Compute the derivatives of the forces of rows and springs at the motion of the last residual, as
/// mabd_redmax_factor does but for the mass matrix (factor.c).
void mabd_redmax_derive_forces(const mabd_redmax_solve* s);
/// Columns by which wrenches enter the residual.
MABD_FN const mabd_spatial* mabd_redmax_left(const mabd_redmax_solve* s) {
    return s->loads ? s->sim->left : s->sim->S;
}
/// True if the single freedom of a link is held.
MABD_FN bool mabd_redmax_is_held(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    return link->count == 1 && sim->freedoms[link->first].held;
}
/// True if some component of the rotation vector of a ball is held.
MABD_FN bool mabd_redmax_has_holds(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    return link->kind == MABD_PRIMITIVE_BALL && sim->balls[link->ball].holds;
}
/// Factor H at the motion of the last residual, with the borders of a part that has bundles
/// (redmax_bundles.h) (factor.c). MABD_ERR_SINGULAR: *link names the
/// pivot.
mabd_status mabd_redmax_factor(const mabd_redmax_solve* s, mabd_redmax_weights w, int32_t* link);
/// Solve H x = b (freedoms of the part; indices are those of the simulation). x may be b. Rows of
/// held axes are dq = b, or dtheta = b of a ball, whose other rows are those of forces on theta:
/// mabd_redmax_axes_rows writes a residual of these rows (factor.c).
void mabd_redmax_apply(const mabd_redmax_solve* s, const mabd_real* b, mabd_real* x);
/// mabd_redmax_apply, in which links move by their defects besides, if `defects` (factor.c).
void mabd_redmax_apply_defects(const mabd_redmax_solve* s, bool defects, const mabd_real* b,
                               mabd_real* x);
/// Solve H' z = y. z may be y. The first six of sim->x of a link are then minus the twist that z
/// gives it, held axes left out (factor.c).
void mabd_redmax_apply_transposed(const mabd_redmax_solve* s, const mabd_real* y, mabd_real* z);
/// Set the bars of variations of the links of a part, in sim->up, to zero (factor.c).
void mabd_redmax_clear_bars(const mabd_redmax_solve* s);
/// mabd_redmax_apply_transposed with y and the bars of variations in sim->up, which are used up
/// (factor.c).
void mabd_redmax_apply_transposed_bars(const mabd_redmax_solve* s, const mabd_real* y,
                                       mabd_real* z);
/// Compute H x without the factor, after mabd_redmax_factor at the same motion (factor.c).
void mabd_redmax_multiply(const mabd_redmax_solve* s, mabd_redmax_weights w, const mabd_real* x,
                          mabd_real* y);
/// Compute the change of the residual r by x: H x without the rows of held axes (factor.c).
void mabd_redmax_multiply_forces(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                 const mabd_real* x, mabd_real* y);
/// Compute u = D^-1 (b - S'n) of the freedoms of a link, n a wrench (factor.c).
void mabd_redmax_solve_pivots(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                              const mabd_real* b, mabd_spatial n, mabd_real* u);
/// Compute z = D^-T b of a link (b: 3, in), and subtract S z from the twist n (factor.c).
void mabd_redmax_solve_pivots_back(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                   mabd_real* b, mabd_real* z, mabd_spatial* n);
/// Subtract S z of a link from the twist n; z (3) is used up (factor.c).
void mabd_redmax_subtract_twist(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                mabd_real* z, mabd_spatial* n);
/// Add T'x - K'u of a link to the bar of its parent, in sim->up (factor.c).
void mabd_redmax_pull_up(mabd_redmax_sim* sim, int32_t link, int n, const mabd_real* u);
/// Compute N of a link itself (6 x 18), children left out (factor.c).
void mabd_redmax_local(const mabd_redmax_solve* s, int32_t link, mabd_real* N);
/// Compute column k (18) of B of a link for the weights of H (factor.c).
void mabd_redmax_column(const mabd_redmax_sim* sim, int32_t link, int k, mabd_redmax_weights w,
                        mabd_real* B);
/// Compute x = T x_p of a link from the variation x_p (18) of its parent, null = 0 (factor.c).
void mabd_redmax_transfer(const mabd_redmax_sim* sim, int32_t link, int n, const mabd_real* x_p,
                          mabd_real* x);
/// x_p += T'x of a link (18 each) (factor.c).
void mabd_redmax_transfer_back(const mabd_redmax_sim* sim, int32_t link, int n, const mabd_real* x,
                               mabd_real* x_p);
/// Return the entry (j, k) of W of a link: what a freedom k adds to the residual of j besides
/// motion (factor.c).
mabd_real mabd_redmax_own(const mabd_redmax_sim* sim, int32_t link, mabd_redmax_weights w, int j,
                          int k);
/// Compute the variation x of a link (links x 18) from that of its parent and dq (factor.c).
void mabd_redmax_vary(const mabd_redmax_sim* sim, int32_t link, int n, const mabd_real* dq,
                      mabd_real* x);
