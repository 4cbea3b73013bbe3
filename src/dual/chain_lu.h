// SPDX-License-Identifier: Apache-2.0
// The chain case of the block LU (block_lu.h): block Thomas for numbers that are not symmetric.
//
//       | D0  U0         |
//   K = | L0  D1  U1     |   D_i is w_i x w_i, U_i is w_i x w_{i+1}, L_i is w_{i+1} x w_i
//       |     L1  D2  .. |
//
//   factor      P_i S_i = l_i u_i,  W_i = l_i^-1 P_i U_i,  M_i = L_i u_i^-1
//               S_{i+1} = D_{i+1} - M_i W_i
//   K x = b     y_i = l_i^-1 P_i (b_i - M_{i-1} y_{i-1}),  x_i = u_i^-1 (y_i - W_i x_{i+1})
//   K'x = b     y_i = u_i'^-1 (b_i - W_{i-1}' y_{i-1}),    x_i = P_i' l_i'^-1 (y_i - M_i' x_{i+1})
//
// These are the entries of L and U of the elimination row by row, with rows exchanged inside a slot
// only. A slot of w rows takes 14/3 w^3 operations to factor and 6 w^2 to solve.
#pragma once

#include "dual/block_lu.h"
#include "math/block.h"

/// A slot of a chain.
typedef struct mabd_dual_chain_lu_slot {
    int32_t width, row;           // row of the vectors
    size_t block, edge;           // offsets in D, and in U and lower (to the next slot)
    size_t S, W;                  // offsets in S, and in W and M
    uint8_t swap[MABD_BLOCK_MAX]; // row that a row is exchanged with
} mabd_dual_chain_lu_slot;

/// The factor of a chain.
typedef struct mabd_dual_chain_lu {
    int32_t slot_count;
    mabd_dual_chain_lu_slot* slots;
    double* S;     // l below the diagonal, reciprocals of the pivots on it, u above
    double *W, *M; // M transposed: w_i x w_{i+1}, as W
} mabd_dual_chain_lu;

/// True if the slots of a system are a chain from the first to the last, none of them late, none
/// wider than MABD_BLOCK_MAX.
bool mabd_dual_chain_lu_suits(const mabd_dual_system* system);
/// Take the memory of a chain from an arena, and number its slots once the arena has memory.
void mabd_dual_chain_lu_lay_out(const mabd_dual_system* system, mabd_arena* arena,
                                mabd_dual_chain_lu* chain);
/// Factor; report as mabd_dual_lu_factor. Returns the slot whose pivot failed, -1 = none.
int32_t mabd_dual_chain_lu_factor(mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                                  double* growth);
/// Solve K x = b in place.
void mabd_dual_chain_lu_solve(const mabd_dual_chain_lu* chain, mabd_real* x);
/// Solve K'x = b in place.
void mabd_dual_chain_lu_solve_transposed(const mabd_dual_chain_lu* chain, mabd_real* x);
