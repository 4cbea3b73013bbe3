// SPDX-License-Identifier: Apache-2.0
// How kernels of the backend are launched: blocks of THREADS, one thread for each of `count` things. For .cu files only.
#pragma once

#include "device.h"

#ifdef __CUDACC__
#define VIEW const __grid_constant__ mabd_cpu_sim
#else
#define VIEW const mabd_cpu_sim
#endif

#define THREADS 64
#define INDEX   ((int32_t)(blockIdx.x * blockDim.x + threadIdx.x))

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
