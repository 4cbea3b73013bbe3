// SPDX-License-Identifier: Apache-2.0
// Many chains of the same pattern on a device: factor and solve, one thread for each (chains.cu).
#pragma once

#include "cuda/runtime/device.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

/// Chains of one pattern. All pointers are device memory. D, U and x are tiled over the chains (math/interleave.h); offsets are those within
/// one chain.
typedef struct mabd_cuda_chains {
    int32_t count;            // chains
    int32_t slot_count;       // of each
    int32_t most;             // widest block, 1..6
    const int32_t* width;     // (slot_count)
    const size_t* block;      // (slot_count) in D
    const size_t* edge_block; // (slot_count) in U
    size_t D_reals, U_reals;  // of one chain
    size_t x_reals;
    mabd_real *D, *U, *x;
    const int32_t* slot_first;                 // (count) in the plan
    const size_t *D_first, *U_first, *x_first; // (count) offsets in D, U, lambda of the plan
} mabd_cuda_chains;

typedef struct mabd_cuda_batch {
    int32_t group_count;
    // groups, on the host: with lists there, and with lists and tiles on the device
    mabd_cuda_chains *host, *on;
    char *host_lists, *lists; // one piece each, of one layout
    size_t heads_size, lists_size;
} mabd_cuda_batch;

/// As mabd_cuda_levels_plan; the components are chains. MABD_ERR_ARG if one is not.
mabd_status MABD_CUDA(batch_plan)(const mabd_plan* plan, int32_t count, const int32_t* components,
                                  const mabd_allocator* allocator, mabd_cuda_batch* batch,
                                  mabd_error* error);
void MABD_CUDA(batch_layout)(mabd_cuda_batch* batch, mabd_arena* arena);
mabd_status MABD_CUDA(batch_upload)(const mabd_cuda_batch* batch, const mabd_device* device,
                                    mabd_error* error);
/// Factor copies of D and U, which stay as they are. bad (slots of the plan): 1 where a pivot failed, else 0.
mabd_status MABD_CUDA(batch_factor)(const mabd_cuda_batch* batch, const mabd_device* device,
                                    const mabd_affine_sim* view, int32_t* bad, mabd_error* error);
/// view->lambda: right-hand sides in, solutions out; any number of times.
mabd_status MABD_CUDA(batch_solve)(const mabd_cuda_batch* batch, const mabd_device* device,
                                   const mabd_affine_sim* view, mabd_error* error);
void MABD_CUDA(batch_release)(const mabd_allocator* allocator, mabd_cuda_batch* batch);

#ifdef __cplusplus
}
#endif
