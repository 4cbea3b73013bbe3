// SPDX-License-Identifier: Apache-2.0
// Markers for source that compiles as C17, C++17 and CUDA: no compound literals, no bare restrict.
#pragma once

#include "mabd/base.h"

/// Defined where the source compiles as on a device: no vectors, one lane. Programs that count the
/// operations of a device (bench/cuda-model) define MABD_COUNTED to get it.
#if defined(__CUDACC__) || defined(MABD_COUNTED)
#define MABD_ON_DEVICE
#endif

#ifdef __CUDACC__
#define MABD_FN static __host__ __device__ inline
#else
#define MABD_FN static inline
#endif
/// Marks large functions that device code should call: inlined, they would use registers of their
/// callers.
#ifdef __CUDACC__
#define MABD_CALL static __host__ __device__ __noinline__
#else
#define MABD_CALL static inline
#endif
#ifdef __cplusplus
#define MABD_RESTRICT __restrict__
#else
#define MABD_RESTRICT restrict
#endif

/// Marks the few functions of an inner loop that must be inlined.
#if defined(__CUDACC__)
#define MABD_HOT static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define MABD_HOT static inline __attribute__((always_inline))
#else
#define MABD_HOT static inline
#endif

#define MABD_PI ((mabd_real)3.14159265358979323846264338327950288)
