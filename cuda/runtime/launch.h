// SPDX-License-Identifier: Apache-2.0
// How kernels of the backend are launched: blocks of THREADS threads, one thread for each of
// `count` items. For .cu files only.
#pragma once

#include "cuda/runtime/device.h"

/// For a kernel's argument that is a struct: it stays in the memory of arguments even if its
/// address is taken.
#ifdef __CUDACC__
#define CONSTANT const __grid_constant__
#else
#define CONSTANT const
#endif

// Threads of a block, a power of two. ThreadSanitizer takes milliseconds for each thread, so builds
// for it set fewer.
#ifndef THREADS
#define THREADS 64
#endif
#define INDEX ((int32_t)(blockIdx.x * blockDim.x + threadIdx.x))

static inline int32_t blocks_for(int32_t count) {
    return (count + THREADS - 1) / THREADS;
}

/// Launch `blocks` blocks in the stream of a device; nothing if there are none.
#define LAUNCH_BLOCKS(device, what, kernel, blocks, ...)                                           \
    do {                                                                                           \
        if ((blocks) > 0) {                                                                        \
            MABD_LAUNCH(kernel, blocks, THREADS, (device)->stream, __VA_ARGS__);                   \
            MABD_CUDA_TRY(cudaPeekAtLastError(), what);                                            \
        }                                                                                          \
    } while (0)
/// Launch blocks for `count` threads in the stream of a device; nothing if there are none.
#define LAUNCH_ON(device, what, kernel, count, ...)                                                \
    LAUNCH_BLOCKS(device, what, kernel, blocks_for(count), __VA_ARGS__)
/// Launch `count` threads of a kernel that is a template over the widest block `most`, 1..6.
#define LAUNCH_MOST(device, what, kernel, most, count, ...)                                        \
    do {                                                                                           \
        switch (most) {                                                                            \
        case 1:                                                                                    \
            LAUNCH_ON(device, what, kernel<1>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        case 2:                                                                                    \
            LAUNCH_ON(device, what, kernel<2>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        case 3:                                                                                    \
            LAUNCH_ON(device, what, kernel<3>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        case 4:                                                                                    \
            LAUNCH_ON(device, what, kernel<4>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        case 5:                                                                                    \
            LAUNCH_ON(device, what, kernel<5>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        default:                                                                                   \
            LAUNCH_ON(device, what, kernel<6>, count, __VA_ARGS__);                                \
            break;                                                                                 \
        }                                                                                          \
    } while (0)
