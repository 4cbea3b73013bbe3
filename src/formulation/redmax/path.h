// SPDX-License-Identifier: Apache-2.0
// Primitives whose columns S change with their coordinates: spline curves and surfaces.
//
// Q is a product of factors exp(D f(q)), D a constant twist and f a function of one or two
// coordinates. Behind each factor, with A = Ad(exp(-D f)), f_i = df/dq_i and all values on the
// right those before the factor:
//
//   S_i   <- D f_i + A S_i
//   S_ij  <- D f_ij + A S_ij - f_j ad(D) A S_i                              S_ij = dS_i/dq_j
//   S_ijk <- D f_ijk + A S_ijk - f_k ad(D) A S_ij - f_j ad(D) A S_ik - f_jk ad(D) A S_i
//                    + f_j f_k ad(D)^2 A S_i
//
// ([RM alg. 3, 4] have one index and one factor wrong.) The tree may reach the joint from its end:
// then Q^-1 with columns Z, C = Q:
//
//   Z_i   = -Ad(C) S_i
//   Z_ij  = -Ad(C) (S_ij + ad(S_j) S_i)
//   Z_ijk = -Ad(C) (S_ijk + ad(S_j) S_ik + ad(S_jk) S_i + ad(S_k) (S_ij + ad(S_j) S_i))
#pragma once

#include "math/spatial.h"
#include "scene/joint_piece.h"

/// Columns of a path, and what their derivatives add to the motion.
typedef struct mabd_redmax_path {
    mabd_spatial S[2], dS[2][2], d2S[2][2][2]; // indices as above
    mabd_spatial by_v[2];                      // sum_i S_ik v_i
    mabd_spatial rest[2];                      // sum_i S_ik a_i + sum_ij S_ijk v_i v_j
    mabd_spatial rate[2];                      // sum_j S_kj v_j
} mabd_redmax_path;

/// Compute Q and the columns S, dS, d2S of a spline at q; `reversed`: those of Q^-1.
mabd_frame mabd_redmax_path_at(const mabd_joint_piece* piece, const mabd_real* values,
                               const mabd_real* q, bool reversed, mabd_redmax_path* path);
/// Compute by_v, rest and rate of a path of n coordinates at the rates v and accelerations a.
void mabd_redmax_path_rates(mabd_redmax_path* path, int n, const mabd_real* v, const mabd_real* a);

/// Changes of the frame behind a path and of its columns.
typedef struct mabd_redmax_path_change {
    mabd_spatial xi;             // twist of the frame, in it
    mabd_spatial S[2], dS[2][2]; // of the columns
} mabd_redmax_path_change;
/// Compute the changes by one unit of control value number `value` of a path; turn: of a curve, the
/// change of the turn of its frame, in the frame (path_change.c).
mabd_redmax_path_change mabd_redmax_path_by_value(const mabd_joint_piece* piece,
                                                  const mabd_real* values, const mabd_real* q,
                                                  bool reversed, int32_t value, mabd_vec3 turn);
