// SPDX-License-Identifier: Apache-2.0
// Functions shared by the files of the executor.
#pragma once

#include "cuda/exec/kernel.h"

#include <functional>
#include <random>
#include <vector>

namespace mabd_exec {

/// True if the program runs with ThreadSanitizer; found at run time, as these files are compiled
/// without.
bool has_tsan();
/// True if the program runs with AddressSanitizer.
bool has_asan();

/// The order of n blocks or threads that MABD_EXEC_ORDER names.
std::vector<unsigned> order_of(unsigned n);

/// Set the error of cudaGetLastError unless one is set.
void set_error(cudaError_t error);

/// True if `size` bytes from `pointer` on are within one allocation of the device.
bool is_device(const void* pointer, size_t size);
/// Add work of the host to a stream; null = the default stream.
void enqueue_host(cudaStream_t stream, std::function<void()> work);

/// Run one block of a launch on the calling thread of the system.
void run_block(const launch& l, unsigned index);
/// With ThreadSanitizer, after all blocks: order their writes before the caller, free their fibers.
void end_blocks();

/// Run all blocks of a launch.
void run_grid(const launch& l);

} // namespace mabd_exec
