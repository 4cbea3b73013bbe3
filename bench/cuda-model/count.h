// SPDX-License-Identifier: Apache-2.0
// The work of kernels, counted while the executor runs them: operations on reals (counted.h), and
// bytes of device memory by the calls that -fsanitize=thread inserts before every load and store.
// ThreadSanitizer is not linked: count.cpp defines those calls.
//
//   asked     bytes that threads load and store. Values in registers are not loaded again; the C++
//             compiler decides which those are, and the compiler of a device may decide otherwise.
//   blocks    32-byte sectors that a block accesses, summed over blocks: traffic of the second
//             level of the cache if the first holds the data of a block
//   sectors   32-byte sectors that a launch accesses: traffic of memory if the second level holds
//             the data of one launch, and nothing of the launch before
//   lanes     instructions on reals, of each warp 32 times those of its busiest thread, for which
//             the warp waits
#pragma once

#include "bench/cuda-model/ops.h"

#include <stddef.h>
#include <stdint.h>

#define MODEL_SECTOR 32

#ifdef __cplusplus
extern "C" {
#endif

/// One launch.
typedef struct model_launch {
    const char* type; // mabd_exec::launch.type
    uint32_t blocks, threads;
    uint64_t ops[MODEL_OP_COUNT];
    uint64_t lanes;
    uint64_t read, written;                 // bytes that threads load and store
    uint64_t block_sectors;                 // read or written, of all blocks
    uint64_t sectors_read, sectors_written; // a sector may be both
} model_launch;

typedef struct model_counts {
    size_t launch_count;
    const model_launch* launches;            // in their order; until the next model_count_start
    uint64_t copies, copied_up, copied_down; // between host and device, bytes
    uint64_t waits;                          // of the host for the device
    uint64_t touched;                        // sectors that any launch touched
} model_counts;

/// Install the callbacks of the executor; before the first allocation of device memory.
void model_count_install(void);
/// Reset all counters.
void model_count_start(void);
/// The counts since model_count_start; counting continues.
model_counts model_count_read(void);
/// Instructions on reals.
uint64_t model_instructions(const uint64_t ops[MODEL_OP_COUNT]);

#ifdef __cplusplus
}
#endif
