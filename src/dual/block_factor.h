// SPDX-License-Identifier: Apache-2.0
// The block solver behind mabd_dual_block.
#pragma once

#include "dual/block_numeric.h"

/// The touched nodes of a solver.
typedef struct mabd_dual_block_rounds {
    uint8_t* touched; // (node_count)
    int64_t* held_at; // (node_count) -1 = not held
    double* held;     // (held_capacity)
    double* below;    // (row_count) at rows of touched nodes: what untouched ones add to x
    int64_t held_capacity;
    size_t bytes; // of this object, `held` left out
} mabd_dual_block_rounds;

/// The solver object of mabd_dual_block.
typedef struct mabd_dual_block_solver {
    mabd_dual_block_factor factor;
    const mabd_dual_block_kernels* kernels;
    double** rooms; // workspaces (part_count + 1)
    double* stacks; // update matrices of the workspaces; the top shares the first
    // contributions of parts to the right-hand side of the top (part_count x rows of it)
    double* above;
    struct mabd_dual_block_rounds* rounds; // null until mabd_dual_rounds.touch
    int32_t* bad; // row whose pivot failed in a part, -1 = none (part_count + 1)
    mabd_dual_block_symbolic* symbolic;
    size_t bytes; // of this object and its numbers
} mabd_dual_block_solver;

/// Return the least pivot of the last factor of a mabd_dual_block solver, and its slot in *slot.
double mabd_dual_block_least_pivot(const void* solver, int32_t* slot);
