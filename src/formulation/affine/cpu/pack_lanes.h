// SPDX-License-Identifier: Apache-2.0
// Functions that process MABD_LANES bodies or joints at once (pack_*.c), compiled once for each
// instruction set.
#pragma once

#include "formulation/affine/cpu/affine_lanes.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/shares.h"

/// Bodies of a pack while their joints are assembled.
typedef struct mabd_affine_pack_work {
    mabd_lanes ref[12]; // rigid reference
    mabd_lanes Z[6];    // affine/element/affine_body.h
    mabd_lanes y[12];   // H^-1 r
} mabd_affine_pack_work;

#ifdef MABD_ISA
// ---- lanes of 8 bodies, given by index (pack_inertia.c, pack_balls.c) ----

/// Open bodies of one class, the first part of every assembly: their references (12), the forces of
/// inertia, gravity and applied forces on them in the body frame (12), stress and geometric
/// stiffness (6 each). predict: compute the references first and store those of `count` bodies that
/// are not in the halo (bit l).
void MABD_STAGE(open_lanes)(mabd_affine_sim* sim, const int32_t* body, int32_t count, uint8_t halo,
                            const mabd_real* stress, bool predict, mabd_lanes* ref, mabd_lanes* r,
                            mabd_lanes* S, mabd_lanes* G);
/// Move the references of a pack to q_new; returns a body without a rotation, -1 = none.
int32_t MABD_STAGE(relinearize_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack);
/// Compute the rates of bodies first .. last - 1 at the end of a solve, to v (bodies x 12).
void MABD_STAGE(finish_bodies)(mabd_affine_sim* sim, bool keep_history, int32_t first, int32_t last,
                               mabd_real* v);
/// Compute the rotations R of A (9 lanes each); turned[l]: A of lane l has one.
void MABD_STAGE(turn_pack)(const mabd_lanes* A, mabd_lanes* R, bool* turned);
/// Compute the geometric stiffness G of stresses (6), clamped.
void MABD_STAGE(lanes_geometric)(const mabd_affine_block* block, const mabd_lanes* stress,
                                 mabd_lanes* G);
/// Assemble bodies with two joints under forces r (12): Z and y in w, the block (6) and right-hand
/// side (3) of each joint, and the block between them (9).
void MABD_STAGE(lanes_link)(const mabd_affine_block* MABD_RESTRICT block,
                            const mabd_lanes* MABD_RESTRICT G, const mabd_lanes* MABD_RESTRICT r,
                            const mabd_affine_pack_side* MABD_RESTRICT from,
                            const mabd_affine_pack_side* MABD_RESTRICT to,
                            mabd_affine_pack_work* MABD_RESTRICT w,
                            mabd_lanes* MABD_RESTRICT out_from, mabd_lanes* MABD_RESTRICT out_to,
                            mabd_lanes* MABD_RESTRICT U);
/// Add the force of one ball: f += J' lambda = s (X, 1) R' lambda
void MABD_STAGE(lanes_pull)(const mabd_lanes* MABD_RESTRICT ref,
                            const mabd_affine_pack_side* MABD_RESTRICT side,
                            const mabd_lanes* MABD_RESTRICT lambda, mabd_lanes* MABD_RESTRICT f);
/// New states of MABD_LANES bodies.
typedef struct mabd_affine_moved_lanes {
    mabd_lanes q[12], stress[6];
    mabd_lanes rotation, size; // squared
    mabd_lanes step[4];        // row of sim->spin_step; store_moved sets the last
    mabd_lanes skew[3];        // axial part of D
} mabd_affine_moved_lanes;
/// Compute new states from references, y and forces f of the joints.
void MABD_STAGE(lanes_move)(const mabd_affine_block* MABD_RESTRICT block,
                            const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT Z,
                            const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT f,
                            mabd_affine_moved_lanes* MABD_RESTRICT out);
/// Set on to 1 in the lanes of bodies whose light axis is treated by its torque, else 0; true if
/// there are any.
bool MABD_STAGE(lanes_light)(const mabd_affine_sim* sim, const int32_t* body, mabd_lanes* on);
/// Store new states of `count` bodies of one class. Z (6): of lanes_move.
void MABD_STAGE(store_moved)(mabd_affine_sim* sim, const int32_t* body, int32_t count,
                             const mabd_lanes* Z, mabd_affine_moved_lanes* moved);

/// Both ends of a joint; `here` is the current body.
typedef struct mabd_affine_joint_ends {
    const mabd_lanes *here, *there; // references (12)
    const mabd_lanes *X, *Y;        // attachments on here and on there (3)
    const mabd_lanes *e, *f;        // strains (6), read where a joint begins
    const mabd_lanes* F;            // axes of the joint, in the frame of a and then of b (18)
    bool is_b;                      // here is body b
} mabd_affine_joint_ends;
/// Compute strains e (6) of stresses S (6). soft, share: of each body (mabd_affine_strain_of).
void MABD_STAGE(lanes_strain)(const mabd_lanes* MABD_RESTRICT soft,
                              const mabd_lanes* MABD_RESTRICT share,
                              const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
/// Compute strains e (6) of stresses S (6) of bodies of one class.
void MABD_STAGE(lanes_own_strain)(const mabd_affine_block* MABD_RESTRICT block,
                                  const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
/// Compute Z and y = H^-1 r of bodies. r (12): body frame.
void MABD_STAGE(lanes_solve)(const mabd_affine_block* MABD_RESTRICT block,
                             const mabd_lanes* MABD_RESTRICT G, const mabd_lanes* MABD_RESTRICT r,
                             mabd_lanes* MABD_RESTRICT Z, mabd_lanes* MABD_RESTRICT y);
/// Assemble bodies with two joints of one row set (pack_rows.c), after lanes_solve; outputs as in
/// lanes_link. begins (2): joints whose C is computed too, after block and right-hand side.
void MABD_STAGE(lanes_row_link)(const mabd_row_set* set, const mabd_affine_block* block,
                                const mabd_affine_pack_work* w, const mabd_affine_pack_side* side,
                                const mabd_affine_joint_ends* ends, const bool* begins,
                                mabd_lanes* from, mabd_lanes* to, mabd_lanes* U);
/// Add the force of one joint with any rigid rows: f += J' lambda
void MABD_STAGE(lanes_pull_rows)(const mabd_row_set* set, const mabd_affine_pack_side* side,
                                 const mabd_affine_joint_ends* ends, const mabd_lanes* lambda,
                                 mabd_lanes* f);

/// Assemble a pack: its bodies, blocks and right-hand sides. predict: compute the references first.
void MABD_STAGE(assemble_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                               const mabd_real* stress, bool predict);
/// Assemble a pack of bodies with springs, after start_group.
void MABD_STAGE(assemble_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                      const mabd_real* stress, bool predict);
/// Add forces at points and of joints without rows on a body to r. R: of its reference.
void MABD_STAGE(push_body)(const mabd_affine_sim* sim, int32_t body, mabd_mat3 R, mabd_vec12* r);
/// Compute coordinates, axes and right-hand sides of the springs of a group, at the reference.
void MABD_STAGE(start_group)(mabd_affine_sim* sim, const mabd_affine_spring_group* group);
/// Compute the coordinates of a group and their rates at the end of a step.
void MABD_STAGE(finish_group)(mabd_affine_sim* sim, bool keep_history,
                              const mabd_affine_spring_group* group);
/// Assemble point rows of a side: R c(X, X) R' (6) and s (t + R (X + D X + tau)) (3).
void MABD_STAGE(pack_side)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* side, mabd_lanes* out);
/// Assemble the block between the point rows of two sides: s R c(X, Y) R' by rows (9).
void MABD_STAGE(pack_pair)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* from, const mabd_affine_pack_side* to,
                           mabd_lanes* U);
/// Assemble the joints of bodies with any rigid rows (pack_rows.c). S (6): stress.
void MABD_STAGE(assemble_pack_rows)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    const mabd_real* stress, const mabd_lanes* S,
                                    const mabd_affine_pack_work* w);
/// Add the forces of joints with any rigid rows: f (12) += J' lambda
void MABD_STAGE(pull_pack_rows)(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                const mabd_lanes* ref, mabd_lanes* f);
/// True if the bodies of a pack can be processed in lanes: no contact is eliminated in their blocks
/// and all use one scheme.
bool MABD_STAGE(fits_lanes)(const mabd_affine_sim* sim, const mabd_affine_pack* pack);
/// Compute the references of a pack. inside: except those in the halo.
void MABD_STAGE(predict_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack, bool inside);
/// Compute the new state of a pack.
void MABD_STAGE(update_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                             mabd_affine_motion_report* report);
/// Compute the new state of a pack of bodies with springs.
void MABD_STAGE(update_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    mabd_affine_motion_report* report);
/// Compute the new state of a pack from f = J' lambda, the last part of every update.
void MABD_STAGE(move_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_lanes* ref, const mabd_lanes* f,
                           mabd_affine_motion_report* report);

#endif
