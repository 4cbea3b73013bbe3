// SPDX-License-Identifier: Apache-2.0
// The block solver behind mabd_dual_block, and its cost in advance.
#pragma once

#include "dual/block_numeric.h"
#include "dual/block_order.h"

/// The solver object of mabd_dual_block.
typedef struct mabd_dual_block_solver {
    mabd_dual_block_factor factor;
    const mabd_dual_block_kernels* kernels;
    double** rooms; // workspaces (part_count + 1)
    double* stacks; // update matrices of the workspaces; the top shares the first
    // contributions of parts to the right-hand side of the top (part_count x rows of it)
    double* above;
    int32_t* bad; // row whose pivot failed in a part, -1 = none (part_count + 1)
    mabd_dual_block_symbolic* symbolic;
    size_t bytes; // of this object and its numbers
} mabd_dual_block_solver;

/// Cost of a solver, from the pattern alone.
typedef struct mabd_dual_block_outlook {
    mabd_dual_order_report orders;
    int32_t nodes;  // fronts
    double flops;   // of a factorisation, zeros of merged fronts included
    double entries; // stored for the factor [doubles], padding included
    size_t bytes;   // as mabd_dual_ops.bytes returns; SIZE_MAX = overflow
} mabd_dual_block_outlook;

/// Compute the cost of a block factorisation: in ascending order of slots if `natural`, else in the
/// cheapest order. D and U of the system may be null. MABD_ERR_MEMORY.
mabd_status mabd_dual_block_foresee(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    bool natural, mabd_dual_block_outlook* outlook);
