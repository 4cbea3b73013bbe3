// SPDX-License-Identifier: Apache-2.0
// The block solver behind mabd_dual_tree and mabd_dual_block, and what it will take.
#pragma once

#include "dual/block_numeric.h"
#include "dual/block_order.h"

/// What `create` of mabd_dual_tree and mabd_dual_block makes.
typedef struct mabd_block_solver {
    mabd_block_factor factor;
    const mabd_block_kernels* kernels;
    double** rooms; // to work in (part_count + 1)
    double* stacks; // update matrices of the rooms, the top's in the same place
    double*
        above; // what a part adds to the right-hand side of the top, 0 while there is nothing (part_count x rows of the top)
    int32_t* bad; // row whose pivot failed in a part, -1 = none (part_count + 1)
    mabd_block_symbolic* symbolic;
    size_t bytes; // of this object and its numbers
} mabd_block_solver;

/// What a solver will take, from the pattern alone.
typedef struct mabd_block_outlook {
    mabd_order_report orders;
    int32_t nodes;  // fronts
    double flops;   // of a factorisation, zeros of merged fronts included
    double entries; // stored for the factor [doubles], padding included
    size_t bytes;   // as mabd_dual_ops.bytes will tell; SIZE_MAX if too many to count
} mabd_block_outlook;

/// natural: of mabd_dual_tree, else of mabd_dual_block. D and U of the system may be null. MABD_ERR_MEMORY.
mabd_status mabd_block_foresee(const mabd_allocator* allocator, const mabd_dual_system* system,
                               bool natural, mabd_block_outlook* outlook);
