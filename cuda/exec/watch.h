// SPDX-License-Identifier: Apache-2.0
// Who looks on while the executor works: counters of bytes and operations (bench/model). In other programs nobody does.
#pragma once

#include "cuda/exec/kernel.h"

namespace mabd_exec {

struct watcher {
    void (*begin)(const launch& l); // before the first block
    void (*block)(unsigned index);  // before each block
    void (*thread)(unsigned index); // before a thread starts, or goes on after a barrier
    void (*end)(const launch& l);   // after the last block
    // a library's call: fused multiply-adds, bytes, as the definition of what it computes has them
    void (*library)(const char* name, uint64_t fused, uint64_t read, uint64_t written);
    void (*copy)(size_t size, bool to_host);     // between host and device
    void (*wait)();                              // the host waits for the device
    void (*memory)(const void* at, size_t size); // of the device: taken, or (size 0) given back
};

/// Null = nobody.
extern const watcher* watching;

} // namespace mabd_exec
