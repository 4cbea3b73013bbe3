// SPDX-License-Identifier: Apache-2.0
// The block solver behind mabd_dual_tree and mabd_dual_block, for tests that look inside.
#pragma once

#include "dual/block_numeric.h"

/// What `create` of mabd_dual_tree and mabd_dual_block makes.
typedef struct mabd_block_solver {
    mabd_block_factor factor;
    const mabd_block_kernels* kernels;
    mabd_block_symbolic* symbolic;
    size_t bytes; // of this object and its numbers
} mabd_block_solver;
