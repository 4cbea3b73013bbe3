// SPDX-License-Identifier: Apache-2.0
// Numeric part of the block LU: one source, compiled for each instruction set (base/isa.h).
#pragma once

#include "base/isa.h"
#include "dual/block_lu.h"
#include "dual/block_symbolic.h"
#include "dual/chain_lu.h"

/// Symbolic analysis, factor and workspace.
typedef struct mabd_dual_lu_numbers {
    const mabd_dual_block_symbolic* symbolic;
    double* L;       // by fronts and tiles: own rows (L and U of the pivot block), then L_21
    double* U;       // U_12', by fronts and tiles
    int64_t* across; // offset of a node's columns in U [doubles] (node_count)
    double* inverse; // reciprocals of the pivots (row_count)
    int32_t* swap;   // own row that a row is exchanged with, from 0 in its front (row_count)
    double* least;   // least magnitude of the pivots, in elimination order (row_count)
    double* x;       // right-hand side in elimination order (row_count)
    // workspace
    double* kept;  // update matrices that parts leave for the top, by columns
    double* stack; // the other update matrices, by columns
    double* F;     // own columns of a front, by columns
    double* G;     // own rows of a front right of the pivot block, row after row
    double* pack;  // rows of U that belong to 8 columns (widest x 8)
    double* z;     // entries of x at the rows of a front
} mabd_dual_lu_numbers;

typedef struct mabd_dual_lu_kernels {
    /// Factor P K = L U. *growth gets the largest |l_ik| |u_kj|. Returns the row, in elimination
    /// order, of the first failing pivot, -1 = none.
    int32_t (*factor)(const mabd_dual_lu_numbers* factor, const mabd_dual_lu_system* system,
                      double* growth);
    /// factor->x <- U^-1 L^-1 P x
    void (*solve)(const mabd_dual_lu_numbers* factor);
    /// factor->x <- P' L'^-1 U'^-1 x
    void (*solve_transposed)(const mabd_dual_lu_numbers* factor);
} mabd_dual_lu_kernels;

/// Return the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_dual_lu_kernels* mabd_dual_lu_kernels_of(int32_t isa);

/// The object behind mabd_dual_lu.
struct mabd_dual_lu {
    mabd_dual_lu_numbers factor;
    const mabd_dual_lu_kernels* kernels;
    mabd_dual_block_symbolic* symbolic; // null: a chain
    double* size;  // largest magnitude of the diagonal block of a slot (slot_count)
    double* schur; // size of the Schur complement of a slot, if a column of its block is 0
    bool* empty;   // slots with such a column (slot_count)
    int64_t entries;
    size_t bytes;             // of this object and its numbers
    mabd_dual_chain_lu chain; // the chain case; symbolic is null then
};

#define MABD_LU_JOIN_(name, isa) mabd_dual_lu_##name##_##isa
#define MABD_LU_JOIN(name, isa)  MABD_LU_JOIN_(name, isa)

/// The functions of one instruction set.
#define MABD_LU_PROTOTYPES(isa)                                                                    \
    int32_t MABD_LU_JOIN(factor, isa)(const mabd_dual_lu_numbers* factor,                          \
                                      const mabd_dual_lu_system* system, double* growth);          \
    void MABD_LU_JOIN(solve, isa)(const mabd_dual_lu_numbers* factor);                             \
    void MABD_LU_JOIN(solve_transposed, isa)(const mabd_dual_lu_numbers* factor)

#ifdef MABD_ISA
MABD_LU_PROTOTYPES(MABD_ISA);
#endif
