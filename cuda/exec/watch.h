// SPDX-License-Identifier: Apache-2.0
// Callbacks of the executor, for the counters of bytes and operations (bench/cuda-model).
#pragma once

#include "cuda/exec/kernel.h"

namespace mabd_exec {

/// Callbacks; all of them are set.
struct watcher {
    void (*begin)(const launch& l); // before the first block
    void (*block)(unsigned index);  // before each block
    void (*thread)(unsigned index); // before a thread starts, or continues after a barrier
    void (*end)(const launch& l);   // after the last block
    // a call of a library: fused multiply-adds and bytes by the definition of its result
    void (*library)(const char* name, uint64_t fused, uint64_t read, uint64_t written);
    void (*copy)(size_t size, bool to_host);     // between host and device
    void (*wait)();                              // the host waits for the device
    void (*memory)(const void* at, size_t size); // device memory is allocated, or (size 0) freed
};

/// The callbacks of this process, null = none.
extern const watcher* watching;

} // namespace mabd_exec
