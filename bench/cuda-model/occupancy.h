// SPDX-License-Identifier: Apache-2.0
// Number of blocks of a kernel that a multiprocessor holds at a time.
//
//   warps of a block    w = ceil(threads / 32)
//   registers           of a warp: 32 r, in units of 256; each of four quarters of the
//                       multiprocessor has 16384 and holds floor(16384 / that) warps, so the whole
//                       4 times as many: / w blocks
//   shared memory       of a block: s and 1 KB of the driver's, in units of 128 bytes
//   warps, blocks       at most so many, by architecture
//
// The least of the four. Occupancy is the number of resident warps over the largest possible
// number.
#pragma once

#include <stdint.h>

typedef struct model_architecture {
    int32_t number;        // 80 = sm_80
    int32_t warps, blocks; // of a multiprocessor
    int32_t shared;        // bytes of a multiprocessor
} model_architecture;

typedef struct model_occupancy {
    int32_t blocks, warps; // of a multiprocessor; 0 = the kernel cannot be launched
    double share;          // of the largest possible number of warps
    const char* limit;     // what is used up first: "registers", "shared", "warps", "blocks"
} model_occupancy;

/// Null if the architecture is not known.
const model_architecture* model_architecture_find(int32_t number);
/// registers: of a thread; shared: bytes of a block; threads: of a block, 1 .. 1024.
model_occupancy model_occupancy_of(const model_architecture* architecture, int32_t registers,
                                   int32_t shared, int32_t threads);
