// SPDX-License-Identifier: Apache-2.0
// Reductions over many items: over the items of a thread, the threads of a block, then the blocks.
// The order is fixed by the counts, so that results have the same bits on every device. For .cu
// files only.
#pragma once

#include "cuda/runtime/launch.h"

/// Largest number of blocks of a reduction.
#define MABD_CUDA_PARTS 64

/// Combine the values of all threads of a block in their order; the result is shared[0]. shared
/// (THREADS): __shared__ memory. combine: *first becomes *first with *second, which comes after.
template <class T, void (*combine)(T* first, const T* second)>
__device__ static inline void reduce_block(T* shared, const T& own) {
    const int32_t t = (int32_t)threadIdx.x;
    shared[t] = own;
    __syncthreads();
    for (int32_t step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0) combine(&shared[t], &shared[t + step]);
        __syncthreads();
    }
}

/// The first of n items of thread i of the grid; its last is before share_of(n, i + 1).
__device__ static inline int32_t share_of(int32_t n, int32_t i) {
    return (int32_t)((int64_t)n * i / (gridDim.x * blockDim.x));
}

/// Number of blocks that reduce n items: about eight items per thread, at most MABD_CUDA_PARTS
/// blocks.
static inline int32_t parts_for(int32_t n) {
    const int32_t parts = n / (8 * THREADS) + 1;
    return parts < MABD_CUDA_PARTS ? parts : MABD_CUDA_PARTS;
}
