// SPDX-License-Identifier: Apache-2.0
// Many chains of the same pattern on a device, one thread each (chains.cu).
#pragma once

#include "cuda/dual/cuda_dual.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Chains of one pattern: as many slots, of the same widths. All pointers are device memory. D, U
/// and x are interleaved over the chains (math/interleave.h); offsets are those within one chain.
typedef struct mabd_cuda_chains {
    int32_t count;            // chains
    int32_t slot_count;       // of each
    int32_t most;             // widest block, 1..6
    const int32_t* width;     // (slot_count)
    const size_t* block;      // offset in D (slot_count)
    const size_t* edge_block; // offset in U (slot_count)
    size_t D_reals, U_reals;  // of one chain
    size_t x_reals;           // of one chain
    mabd_real *D, *U, *x;
    const int32_t* slot_first;                 // in the plan (count)
    const size_t *D_first, *U_first, *x_first; // offsets in D, U, lambda of the plan (count)
} mabd_cuda_chains;

typedef struct mabd_cuda_batch {
    int32_t group_count;
    mabd_cuda_chains* host;        // (group_count) on the host, with pointers to lists on the host
    mabd_cuda_chains* on;          // (group_count) on the host, with pointers to the device
    char *host_lists, *lists;      // memory of all lists on the host and on the device, one layout
    size_t heads_size, lists_size; // [bytes]
} mabd_cuda_batch;

/// The table of this solver, for mabd_cuda_batch. Its components are chains. It factors copies of D
/// and U, which are not overwritten; solve may be called any number of times after one factor.
extern const mabd_cuda_dual_ops MABD_CUDA(dual_batch);

#ifdef __cplusplus
}
#endif
