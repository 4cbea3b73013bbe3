// SPDX-License-Identifier: Apache-2.0
// One text of a kernel, two builds.
//
//   nvcc         plain CUDA
//   g++, clang++ the same kernels, run on the CPU by block.cpp and grid.cpp
//
// Kernels keep to one-dimensional grids, static __shared__ memory and __syncthreads: no shuffles, no fences, no spinning between
// blocks. A result that needs an order between blocks takes another launch.
//
// On the CPU the threads of a block run one after the other on one stack. A thread that meets a barrier is put aside there and
// the next goes on on a stack of its own, so kernels without barriers never switch. With ThreadSanitizer each thread of each block
// is a fiber of its own, and only barriers order them: races within a block and between blocks are found, without any
// concurrency. Barriers that only some threads reach are told with their lines, as a launch failure.
#pragma once

#ifdef __CUDACC__

#include <cuda_runtime.h>

/// Names of kernels and of what launches them: both builds may be in one library.
#define MABD_CUDA(name) mabd_cuda_##name
/// Launch a kernel; errors as cudaGetLastError tells them.
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

// A block runs on one thread of the system. AddressSanitizer watches the ends of globals but not of thread-local ones.
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

/// One launch, whatever its kernel's arguments.
struct launch {
    unsigned blocks, threads;
    const char *name, *file;
    int line;
    const char* type; // as typeid tells it of tag<kernel>: holds the kernel's symbol
    void (*body)(const void* arguments); // the kernel, for one thread after the other
    std::shared_ptr<const void> arguments;
};

/// The next thread of the block that this thread of the system works on becomes threadIdx; false if there is none.
bool next_thread();
void end_thread();
void barrier(const char* file, int line);
bool is_device(const void* pointer);
/// Check a launch and put it into its stream. bad: an argument that is no device memory, null = none.
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
