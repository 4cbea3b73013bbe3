// SPDX-License-Identifier: Apache-2.0
// Numeric part of the block factorisation: one source, compiled for each instruction set
// (base/isa.h).
#pragma once

#include "base/isa.h"
#include "dual/block_symbolic.h"

/// Nodes that a pass over a part processes (mabd_dual_rounds).
typedef enum mabd_dual_block_pass {
    MABD_BLOCK_ALL,
    MABD_BLOCK_TOUCHED,
    MABD_BLOCK_UNTOUCHED,
    MABD_BLOCK_BASE, // factor all, and substitute a right-hand side forward in untouched ones
} mabd_dual_block_pass;

/// Symbolic analysis and memory of the factor, as seen by one part.
typedef struct mabd_dual_block_factor {
    const mabd_dual_block_symbolic* symbolic;
    mabd_pool* pool; // threads that share large fronts, null = none
    double* L;       // unit lower triangular, by fronts and tiles (panel_size)
    double* d;       // pivots (row_count + 8)
    double* inverse; // 1 / d (row_count + 8)
    double* kept;    // update matrices that parts leave for the top, by columns (kept_size)
    double* x;       // right-hand side in elimination order (row_count)
    // of the part, in a workspace that a thread uses for one part after the other
    double* stack;  // its other update matrices, by columns
    double* front;  // own columns of a front, by columns (front_size)
    double* scaled; // rows of L times d (widest x 8)
    double* least;  // least magnitude of the pivots of a front, with their sign (widest)
    double* below;  // entries of x at the rows below a front (deepest)
    double* above;  // contribution to x at the rows of the top; for the top: x itself
    // of rounds
    mabd_dual_block_pass pass;
    const uint8_t* touched; // nodes on which touched slots depend (node_count), null = no rounds
    const int64_t* held_at; // place of the update matrix of an untouched child of a touched node
    double* held;           // these update matrices
} mabd_dual_block_factor;

typedef struct mabd_dual_block_kernels {
    /// Factor K = L d L' of the nodes of a part; `with` a right-hand side also factor->x <- d^-1
    /// L^-1 x. D and U stay unchanged. Returns the row, in elimination order, of the first failing
    /// pivot, -1 = none.
    int32_t (*factor)(const mabd_dual_block_factor* factor, const mabd_dual_system* system,
                      const mabd_dual_block_part* part, bool with);
    /// factor->x <- d^-1 L^-1 x
    void (*forward)(const mabd_dual_block_factor* factor, const mabd_dual_block_part* part);
    /// factor->x <- L'^-1 x
    void (*backward)(const mabd_dual_block_factor* factor, const mabd_dual_block_part* part);
} mabd_dual_block_kernels;

/// Return the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_dual_block_kernels* mabd_dual_block_kernels_of(int32_t isa);

#define MABD_BLOCK_JOIN_(name, isa) mabd_dual_block_##name##_##isa
#define MABD_BLOCK_JOIN(name, isa)  MABD_BLOCK_JOIN_(name, isa)

/// The functions of one instruction set.
#define MABD_BLOCK_PROTOTYPES(isa)                                                                 \
    int32_t MABD_BLOCK_JOIN(factor, isa)(const mabd_dual_block_factor* factor,                     \
                                         const mabd_dual_system* system,                           \
                                         const mabd_dual_block_part* part, bool with);             \
    void MABD_BLOCK_JOIN(forward, isa)(const mabd_dual_block_factor* factor,                       \
                                       const mabd_dual_block_part* part);                          \
    void MABD_BLOCK_JOIN(backward, isa)(const mabd_dual_block_factor* factor,                      \
                                        const mabd_dual_block_part* part)

#ifdef MABD_ISA
MABD_BLOCK_PROTOTYPES(MABD_ISA);
#endif
