// SPDX-License-Identifier: Apache-2.0
// Many chains of the same pattern on a device: factor and solve, one thread for each.
#pragma once

#include "exec/kernel.h"

#include "mabd/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// All pointers are device memory. D, U and x are tiled over the chains (math/tiled.h); offsets are those within one chain.
typedef struct mabd_cuda_chains {
    int32_t count;            // chains
    int32_t slot_count;       // of each
    int32_t most;             // widest block, 1..6
    const int32_t* width;     // (slot_count)
    const size_t* block;      // (slot_count) in D
    const size_t* edge_block; // (slot_count - 1) in U
    size_t D_reals, U_reals;  // of one chain
    size_t x_reals;
    mabd_real *D, *U, *x;
    int32_t* bad; // (count) slot whose pivot failed, -1 = none
} mabd_cuda_chains;

/// Factor all in place; `threads` in a block.
cudaError_t MABD_CUDA(chains_factor)(const mabd_cuda_chains* chains, int32_t threads,
                                     cudaStream_t stream);
/// x: right-hand sides in, solutions out.
cudaError_t MABD_CUDA(chains_solve)(const mabd_cuda_chains* chains, int32_t threads,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif
