// SPDX-License-Identifier: Apache-2.0
// Markers for function text that C17, C++17 and CUDA compile alike: no compound literals, no bare
// restrict.
#pragma once

#include "mabd/base.h"

/// The text as a device has it: no vectors, one lane. So have those who count what a device will do (bench/model).
#if defined(__CUDACC__) || defined(MABD_COUNTED)
#define MABD_ON_DEVICE
#endif

#ifdef __CUDACC__
#define MABD_FN static __host__ __device__ inline
#else
#define MABD_FN static inline
#endif
/// For large functions that a device had better call: inlined, they take the registers of their callers.
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

/// For the few functions of an inner loop that must not become calls.
#if defined(__CUDACC__)
#define MABD_HOT static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define MABD_HOT static inline __attribute__((always_inline))
#else
#define MABD_HOT static inline
#endif

#define MABD_PI ((mabd_real)3.14159265358979323846264338327950288)
