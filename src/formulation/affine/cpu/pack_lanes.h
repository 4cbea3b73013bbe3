// SPDX-License-Identifier: Apache-2.0
// Functions that work on MABD_LANES bodies or joints at once (pack_*.c), compiled once for each instruction
// set.
#pragma once

#include "formulation/affine/cpu/affine_lanes.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/shares.h"

/// Bodies of a pack while their joints are put together.
typedef struct mabd_affine_pack_work {
    mabd_lanes ref[12]; // rigid reference
    mabd_lanes Z[6];    // affine/element/affine_body.h
    mabd_lanes y[12];   // H^-1 r
} mabd_affine_pack_work;

#ifdef MABD_ISA
// ---- lanes: of 8 bodies, by index (pack_balls.c) ----

/// q_hat and the guess of the step (12 lanes each; guess: null = not needed).
void MABD_STAGE(lanes_target)(const mabd_affine_sim* sim, const int32_t* body,
                              mabd_lanes* MABD_RESTRICT q_hat, mabd_lanes* MABD_RESTRICT guess);
/// The guess alone.
void MABD_STAGE(lanes_guess)(const mabd_affine_sim* sim, const int32_t* body,
                             mabd_lanes* MABD_RESTRICT guess);
/// Move q_hat (12 lanes) by the forces that were applied for this step; ref: references (12 lanes).
void MABD_STAGE(lanes_apply_force)(const mabd_affine_sim* sim, const int32_t* body,
                                   const mabd_lanes* ref, mabd_lanes* q_hat);
/// References at a guess.
void MABD_STAGE(lanes_reference)(const mabd_affine_sim* sim, const int32_t* body,
                                 const mabd_lanes* guess, mabd_lanes* ref);
/// Write them, but for those of borders, of which others may be reading what they were predicted to before (affine/cpu/pack.h).
void MABD_STAGE(store_references)(mabd_affine_sim* sim, const mabd_lanes* ref, const int32_t* body,
                                  int32_t count, uint8_t border);
/// Rotations of A (9 lanes each), turned[l]: A has one.
void MABD_STAGE(turn_pack)(const mabd_lanes* A, mabd_lanes* R, bool* turned);
/// G of stresses (6), clamped.
void MABD_STAGE(lanes_geometric)(const mabd_affine_block* block, const mabd_lanes* stress,
                                 mabd_lanes* G);
/// Bodies with two joints: Z and y in w, of each joint its block (6) and right-hand side (3), and the block between them (9).
void MABD_STAGE(lanes_link)(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 weight,
                            const mabd_lanes* MABD_RESTRICT G,
                            const mabd_lanes* MABD_RESTRICT q_hat,
                            const mabd_affine_pack_side* MABD_RESTRICT from,
                            const mabd_affine_pack_side* MABD_RESTRICT to,
                            mabd_affine_pack_work* MABD_RESTRICT w,
                            mabd_lanes* MABD_RESTRICT out_from, mabd_lanes* MABD_RESTRICT out_to,
                            mabd_lanes* MABD_RESTRICT U);
/// f += J' lambda of one joint: s (X, 1) R' lambda
void MABD_STAGE(lanes_pull)(const mabd_lanes* MABD_RESTRICT ref,
                            const mabd_affine_pack_side* MABD_RESTRICT side,
                            const mabd_lanes* MABD_RESTRICT lambda, mabd_lanes* MABD_RESTRICT f);
/// New states.
typedef struct mabd_affine_moved_lanes {
    mabd_lanes q[12], stress[6];
    mabd_lanes rotation, size; // squared
} mabd_affine_moved_lanes;
/// From references, y and forces f of the joints.
void MABD_STAGE(lanes_move)(const mabd_affine_block* MABD_RESTRICT block,
                            const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT Z,
                            const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT f,
                            mabd_affine_moved_lanes* MABD_RESTRICT out);

/// Both ends of a joint, of which `here` is the body under way.
typedef struct mabd_affine_joint_ends {
    const mabd_lanes *here, *there; // references (12)
    const mabd_lanes *X, *Y;        // attachments there (3)
    const mabd_lanes *e, *f;        // strains (6), looked at where a joint begins
    const mabd_lanes* F;            // axes of the joint, in the frame of a and then of b (18)
    bool is_b;                      // here is b
} mabd_affine_joint_ends;
/// Strains of stresses (6).
void MABD_STAGE(lanes_strain)(const mabd_lanes* MABD_RESTRICT soft,
                              const mabd_lanes* MABD_RESTRICT share,
                              const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
void MABD_STAGE(lanes_own_strain)(const mabd_affine_block* MABD_RESTRICT block,
                                  const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
/// Z and y of bodies.
void MABD_STAGE(lanes_solve)(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 weight,
                             const mabd_lanes* MABD_RESTRICT G,
                             const mabd_lanes* MABD_RESTRICT q_hat,
                             const mabd_lanes* MABD_RESTRICT ref, mabd_lanes* MABD_RESTRICT Z,
                             mabd_lanes* MABD_RESTRICT y);
/// Bodies with two joints of one row set (pack_rows.c), as lanes_link after lanes_solve; begins (2): of which C is wanted as well,
/// which comes last.
void MABD_STAGE(lanes_row_link)(const mabd_row_set* set, const mabd_affine_block* block,
                                const mabd_affine_pack_work* w, const mabd_affine_pack_side* side,
                                const mabd_affine_joint_ends* ends, const bool* begins,
                                mabd_lanes* from, mabd_lanes* to, mabd_lanes* U);
/// f += J' lambda of one joint with any rigid rows.
void MABD_STAGE(lanes_pull_rows)(const mabd_row_set* set, const mabd_affine_pack_side* side,
                                 const mabd_affine_joint_ends* ends, const mabd_lanes* lambda,
                                 mabd_lanes* f);

/// A pack: its bodies, blocks and right-hand sides. `predict`: its references first.
void MABD_STAGE(assemble_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                               const mabd_real* stress, bool predict);
/// The same of bodies with springs, after start_group.
void MABD_STAGE(assemble_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                      const mabd_real* stress, bool predict);
/// What all begin with: targets, references, stress, geometric stiffness (12, 12, 6, 6).
void MABD_STAGE(open_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_real* stress, bool predict, mabd_lanes* q_hat,
                           mabd_lanes* ref, mabd_lanes* S, mabd_lanes* G);
/// r += forces at points and of loose motors on a body; R of its reference.
void MABD_STAGE(push_body)(const mabd_affine_sim* sim, int32_t body, mabd_mat3 R, mabd_vec12* r);
/// Coordinates, axes and right-hand sides of the springs of a group, at the reference.
void MABD_STAGE(start_group)(mabd_affine_sim* sim, const mabd_affine_spring_group* group);
/// Coordinates and their rates at the end of a step.
void MABD_STAGE(finish_group)(mabd_affine_sim* sim, bool keep_history,
                              const mabd_affine_spring_group* group);
/// Its parts for point rows: R c(X, X) R' (6) and s (t + R (X + D X + tau)) (3) of a side, s R c(X, Y) R' by rows (9) of two.
void MABD_STAGE(pack_side)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* side, mabd_lanes* out);
void MABD_STAGE(pack_pair)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* from, const mabd_affine_pack_side* to,
                           mabd_lanes* U);
/// Its part for bodies with any rigid rows (pack_rows.c). S (6): stress.
void MABD_STAGE(assemble_pack_rows)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    const mabd_real* stress, const mabd_lanes* S,
                                    const mabd_affine_pack_work* w);
/// f (12) += J' lambda of such bodies.
void MABD_STAGE(pull_pack_rows)(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                const mabd_lanes* ref, mabd_lanes* f);
/// True if the bodies of a pack can be assembled and updated in lanes: none is touched, all are in one scheme.
bool MABD_STAGE(fits_lanes)(const mabd_affine_sim* sim, const mabd_affine_pack* pack);
/// References of a pack alone; `inside`: but for its borders.
void MABD_STAGE(predict_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack, bool inside);
/// The new state of a pack.
void MABD_STAGE(update_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                             mabd_affine_motion_report* report);
void MABD_STAGE(update_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    mabd_affine_motion_report* report);
/// What all end with: the new state from f = J' lambda.
void MABD_STAGE(move_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_lanes* ref, const mabd_lanes* f,
                           mabd_affine_motion_report* report);

#endif
