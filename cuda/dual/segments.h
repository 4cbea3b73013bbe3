// SPDX-License-Identifier: Apache-2.0
// Long chains on a device, in segments with one thread each (segments.cu, dual/segment_kernel.h).
#pragma once

#include "cuda/dual/cuda_dual.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "dual/segment_kernel.h"

/// Depth 0: the chains; depth 1: their reduced chains, and so on. Enough for 2^31 slots.
#define MABD_SEGMENT_DEPTHS 8

typedef struct mabd_cuda_segments {
    int32_t depths;
    int32_t most;                                   // widest block, 1..6
    int32_t slot_count;                             // of all depths
    int32_t segment_first[MABD_SEGMENT_DEPTHS + 1]; // of a depth
    mabd_dual_segment_slot *host_slots, *slots;     // on the host and on the device
    mabd_dual_segment *host_segments, *segments;    // on the host and on the device
    void* host_memory;
    size_t host_size; // [bytes]
    size_t own_reals;
    mabd_real* own; // (own_reals) spikes, shares, blocks between cuts
} mabd_cuda_segments;

/// The table of this solver, for mabd_cuda_segments. Its components are chains. It factors in place
/// and eliminates in lambda on the way.
extern const mabd_cuda_dual_ops MABD_CUDA(dual_segments);

#ifdef __cplusplus
}
#endif
