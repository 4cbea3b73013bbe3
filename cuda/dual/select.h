// SPDX-License-Identifier: Apache-2.0
// Which of the solvers on a device a component goes to.
#pragma once

#include "cuda/exec/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "mabd/sim.h"
#include "topology/plan.h"

/// From so many chains of one pattern on each gets a thread.
#define MABD_CUDA_ALIKE 32
/// A chain of more slots goes in segments, any other level by level.
#define MABD_CUDA_LONG 256
/// Most rows that close cycles for a complement of them: where cycles share joints, and where they do not. It is dense.
#define MABD_CUDA_GRAPH_CUTS 384
#define MABD_CUDA_LOOP_CUTS  4096

typedef enum mabd_cuda_place {
    MABD_CUDA_NONE,     // nothing to solve
    MABD_CUDA_LEVELS,   // trees, level by level (levels.h)
    MABD_CUDA_SEGMENTS, // long chains (segments.h)
    MABD_CUDA_BATCH,    // many chains of one pattern (chains.h)
    MABD_CUDA_LOOPS,    // a tree, and the complement of what closes cycles
    MABD_CUDA_NET,      // iteration
    MABD_CUDA_HOST      // by the solver of the CPU
} mabd_cuda_place;

/// places (component_count), from counts of the plan alone (sort.cu).
mabd_status MABD_CUDA(sort_components)(const mabd_plan* plan, mabd_dual dual,
                                       const mabd_allocator* allocator, mabd_cuda_place* places,
                                       mabd_error* error);

/// Put chains of one pattern (as many slots, of the same widths) side by side, each group by index. components (count): chains, in and
/// out; group_first (count + 1): first of a group; *group_count of them.
mabd_status MABD_CUDA(group_chains)(const mabd_plan* plan, int32_t count, int32_t* components,
                                    const mabd_allocator* allocator, int32_t* group_first,
                                    int32_t* group_count, mabd_error* error);

#ifdef __cplusplus
}
#endif
