// SPDX-License-Identifier: Apache-2.0
// Between the parts of the executor.
#pragma once

#include "cuda/exec/kernel.h"

#include <functional>
#include <random>
#include <vector>

namespace mabd_exec {

/// The sanitizer that the program runs with, seen at run time: these files are compiled without.
bool has_tsan();
bool has_asan();

/// MABD_EXEC_ORDER for n things.
std::vector<unsigned> order_of(unsigned n);

/// First error since the last cudaGetLastError.
void set_error(cudaError_t error);

/// True if so many bytes from there on are memory of the device, in one piece.
bool is_device(const void* pointer, size_t size);
/// Put something that the host does into a stream (null = that without a name).
void enqueue_host(cudaStream_t stream, std::function<void()> work);

/// One block of a launch, by the thread of the system that calls it.
void run_block(const launch& l, unsigned index);
/// With ThreadSanitizer, when all blocks are done: the caller sees what they wrote; what they held is freed.
void end_blocks();

/// All blocks.
void run_grid(const launch& l);

} // namespace mabd_exec
