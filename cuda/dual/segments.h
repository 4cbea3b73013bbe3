// SPDX-License-Identifier: Apache-2.0
// Long chains on a device, in segments: a thread for each (segments.cu, dual/segment_kernel.h).
#pragma once

#include "cuda/runtime/device.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "dual/segment_kernel.h"
#include "formulation/affine/data.h"

/// Depth 0: the chains; depth 1: chains of their cuts, and so on. Enough for 2^31 slots.
#define MABD_SEGMENT_DEPTHS 8

typedef struct mabd_cuda_segments {
    int32_t depths;
    int32_t most;                                   // widest block
    int32_t slot_count;                             // of all depths
    int32_t segment_first[MABD_SEGMENT_DEPTHS + 1]; // of a depth
    mabd_segment_slot *host_slots, *slots;          // on the host and on the device
    mabd_segment *host_segments, *segments;
    void* host_memory;
    size_t host_size;
    size_t own_reals;
    mabd_real* own; // spikes, shares, blocks between cuts
} mabd_cuda_segments;

/// As mabd_cuda_levels_plan; the components are chains. MABD_ERR_ARG if one is not.
mabd_status MABD_CUDA(segments_plan)(const mabd_plan* plan, int32_t count,
                                     const int32_t* components, const mabd_allocator* allocator,
                                     mabd_cuda_segments* segments, mabd_error* error);
void MABD_CUDA(segments_layout)(mabd_cuda_segments* segments, mabd_arena* arena);
mabd_status MABD_CUDA(segments_upload)(const mabd_cuda_segments* segments,
                                       const mabd_device* device, mabd_error* error);
/// Factor in place; the right-hand side view->lambda goes along. bad (slots of the plan): 1 where a pivot failed, else 0.
mabd_status MABD_CUDA(segments_factor)(const mabd_cuda_segments* segments,
                                       const mabd_device* device, const mabd_affine_sim* view,
                                       int32_t* bad, mabd_error* error);
/// The rest of the solution in view->lambda.
mabd_status MABD_CUDA(segments_solve)(const mabd_cuda_segments* segments, const mabd_device* device,
                                      const mabd_affine_sim* view, mabd_error* error);
void MABD_CUDA(segments_release)(const mabd_allocator* allocator, mabd_cuda_segments* segments);

#ifdef __cplusplus
}
#endif
