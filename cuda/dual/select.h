// SPDX-License-Identifier: Apache-2.0
// Which of the dual solvers on a device a component goes to.
#pragma once

#include "cuda/dual/cuda_dual.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "mabd/sim.h"

/// From this many chains of one pattern on, each gets a thread.
#define MABD_CUDA_ALIKE 32
/// A chain of more slots is solved in segments, a shorter one level by level.
#define MABD_CUDA_LONG 256
/// Largest number of cut rows for a Schur complement, which is dense: components whose cycles share
/// joints (graphs), and components whose cycles do not (loops).
#define MABD_CUDA_GRAPH_CUTS 384
#define MABD_CUDA_LOOP_CUTS  4096

/// Where a component is solved.
typedef enum mabd_cuda_place {
    MABD_CUDA_NONE,     // no rows
    MABD_CUDA_LEVELS,   // trees, level by level (levels.h)
    MABD_CUDA_SEGMENTS, // long chains (segments.h)
    MABD_CUDA_BATCH,    // many chains of one pattern (chains.h)
    MABD_CUDA_LOOPS,    // tree and Schur complement of the cut joints (loops.h)
    MABD_CUDA_GS,       // block Gauss-Seidel (nets.h)
    MABD_CUDA_PCG,      // conjugate gradients (nets.h)
    MABD_CUDA_HOST,     // by the solver of the CPU
    MABD_CUDA_PLACES    // number of places
} mabd_cuda_place;

/// Choose places (component_count) from counts of the plan alone (select.cu). in_place
/// (component_count): true where elimination in place is safe, which keeps no matrix to retry with;
/// chains and trees where it is false go to the host. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(select_places)(const mabd_plan* plan, mabd_dual dual, const bool* in_place,
                                     const mabd_allocator* allocator, mabd_cuda_place* places,
                                     mabd_error* error);

/// Sort chains so that those of one pattern (as many slots, of the same widths) are adjacent, by
/// index within a group. components (count): chains, in and out; group_first (count + 1): first
/// chain of a group; *group_count: number of groups. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(group_chains)(const mabd_plan* plan, int32_t count, int32_t* components,
                                    const mabd_allocator* allocator, int32_t* group_first,
                                    int32_t* group_count, mabd_error* error);

#ifdef __cplusplus
}
#endif
