// SPDX-License-Identifier: Apache-2.0
// How kernels of the backend are launched: blocks of THREADS, one thread for each of `count` things. For .cu files only.
#pragma once

#include "cuda/runtime/device.h"

/// Of a kernel's argument that is a struct: it stays where arguments are, also if its address is taken.
#ifdef __CUDACC__
#define CONSTANT const __grid_constant__
#else
#define CONSTANT const
#endif
#define VIEW CONSTANT mabd_affine_sim

// A power of two. ThreadSanitizer takes milliseconds for each: what is built for it has fewer.
#ifndef THREADS
#define THREADS 64
#endif
#define INDEX ((int32_t)(blockIdx.x * blockDim.x + threadIdx.x))

static inline int32_t blocks_for(int32_t count) {
    return (count + THREADS - 1) / THREADS;
}

/// Launch so many blocks in the order of a device's stream, if there are any.
#define LAUNCH_BLOCKS(device, what, kernel, blocks, ...)                                           \
    do {                                                                                           \
        if ((blocks) > 0) {                                                                        \
            MABD_LAUNCH(kernel, blocks, THREADS, (device)->stream, __VA_ARGS__);                   \
            MABD_CUDA_TRY(cudaPeekAtLastError(), what);                                            \
        }                                                                                          \
    } while (0)
/// The same for `count` threads.
#define LAUNCH_ON(device, what, kernel, count, ...)                                                \
    LAUNCH_BLOCKS(device, what, kernel, blocks_for(count), __VA_ARGS__)
/// The same for a kernel that is a template over the widest block.
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
