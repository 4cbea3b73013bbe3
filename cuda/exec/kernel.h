// SPDX-License-Identifier: Apache-2.0
// One source of a kernel, two builds.
//
//   nvcc         plain CUDA
//   g++, clang++ the same kernels, run on the CPU by block.cpp and grid.cpp
//
// Kernels use one-dimensional grids, static __shared__ memory and __syncthreads: no shuffles, no
// fences, no spinning between blocks. A result that needs an order between blocks takes another
// launch.
//
// On the CPU the threads of a block run one after the other on one stack. A thread that meets a
// barrier is suspended there and the next one continues on another stack, so kernels without
// barriers never switch. With ThreadSanitizer each thread of each block is a fiber, and only
// barriers order them: races within a block and between blocks are found without any concurrency. A
// barrier that only some threads reach is reported with its line, as a launch failure.
#pragma once

#ifdef __CUDACC__

#include <cuda_runtime.h>

/// Names of host functions: differ between the builds, as both may be in one library.
#define MABD_CUDA(name) mabd_cuda_##name
/// Launch a kernel; cudaGetLastError returns errors of the launch.
#define MABD_LAUNCH(kernel, blocks, threads, stream, ...)                                          \
    kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__)

#else

#include "cuda/exec/runtime.h"

#define MABD_CUDA(name) mabd_cuda_exec_##name

#ifdef __cplusplus

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>

// After the standard headers, which must not see these.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

// A block runs on one thread of the system. AddressSanitizer detects overruns of globals but not of
// thread-local variables.
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ static __thread
#endif

struct mabd_exec_index {
    unsigned x;
};
extern __thread mabd_exec_index threadIdx, blockIdx, blockDim, gridDim;

namespace mabd_exec {

/// One launch of any kernel.
struct launch {
    unsigned blocks, threads;
    const char *name, *file;
    int line;
    const char* type; // typeid name of tag<kernel>, which contains the kernel's symbol
    void (*body)(const void* arguments); // runs the kernel for the threads of a block in turn
    std::shared_ptr<const void> arguments;
};

/// Make threadIdx the next thread of the current block; false if there is none.
bool next_thread();
/// End the current thread.
void end_thread();
/// Suspend the current thread until all threads of its block have reached this line.
void barrier(const char* file, int line);
/// True if a pointer is within an allocation of the device.
bool is_device(const void* pointer);
/// Check a launch and add it to its stream. bad: a pointer argument that is not device memory, null
/// = none.
cudaError_t enqueue(const launch& l, cudaStream_t stream, const void* bad);

template <auto kernel> struct tag {};

template <auto kernel, class arguments> void body(const void* packed) {
    const arguments& a = *static_cast<const arguments*>(packed);
    while (next_thread()) {
        std::apply(kernel, a);
        end_thread();
    }
}

template <class T> const void* bad_pointer(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
        return value && !is_device((const void*)value) ? (const void*)value : nullptr;
    } else {
        (void)value;
        return nullptr;
    }
}

// Arguments are converted and copied at the launch, as CUDA does.
template <auto kernel, class... P, class... A>
cudaError_t start(void (*)(P...), const char* name, const char* file, int line, unsigned blocks,
                  unsigned threads, cudaStream_t stream, A&&... a) {
    static_assert(sizeof...(P) == sizeof...(A), "a kernel takes other arguments");
    using arguments = std::tuple<std::remove_cv_t<P>...>;
    auto packed = std::make_shared<const arguments>(static_cast<P>(a)...);
    const void* bad = nullptr;
    std::apply([&](const auto&... value) { ((bad = bad ? bad : bad_pointer(value)), ...); },
               *packed);
    return enqueue(launch{blocks, threads, name, file, line, typeid(tag<kernel>).name(),
                          &body<kernel, arguments>, std::move(packed)},
                   stream, bad);
}

} // namespace mabd_exec

#define MABD_LAUNCH(kernel, blocks, threads, stream, ...)                                          \
    mabd_exec::start<kernel>(kernel, #kernel, __FILE__, __LINE__, (unsigned)(blocks),              \
                             (unsigned)(threads), (stream), ##__VA_ARGS__)

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    mabd_exec::barrier(file, line);
}

#endif // __cplusplus
#endif // __CUDACC__
