// SPDX-License-Identifier: Apache-2.0
// What kernels do, counted while the executor runs them: operations on reals (counted.h), and bytes of device memory, told by the
// calls that -fsanitize=thread puts before every load and store. No ThreadSanitizer is linked: count.cpp has those calls.
//
//   asked     bytes that threads load and store. What a thread has in a register it does not ask for again; which that is,
//             the C++ compiler decides here and another one on a device.
//   blocks    32-byte sectors that a block touches, summed over blocks: what the second level of the cache
//             delivers if the first holds all that a block needs
//   sectors   32-byte sectors that a launch touches: what memory delivers if the second level holds all that a launch needs,
//             and nothing from the launch before
//   lanes     instructions on reals, of each warp 32 times those of its busiest thread: a warp waits for it
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
    uint64_t read, written;                 // bytes asked for
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

/// Watch the executor from now on, before anything takes device memory.
void model_count_install(void);
/// Count from here, from zero.
void model_count_start(void);
/// What was counted since; goes on counting.
model_counts model_count_read(void);
/// Instructions on reals.
uint64_t model_instructions(const uint64_t ops[MODEL_OP_COUNT]);

#ifdef __cplusplus
}
#endif
