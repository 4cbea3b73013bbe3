// SPDX-License-Identifier: Apache-2.0
// Trees and chains on a device: elimination level by level, leaves first (levels.cu).
#pragma once

#include "cuda/dual/cuda_dual.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Lists over the slots, which are numbered from 0 over all components in the order of elimination.
/// D and U are those of the plan or, where slots are left out, copies that the solver owns.
typedef struct mabd_cuda_level_lists {
    int32_t* order;              // slots by level (slots)
    int32_t* level_first;        // first entry of a level in `order` (levels + 1)
    int32_t *slot, *width, *row; // of the plan (slots)
    int32_t *start, *to;         // first edge of a slot (slots + 1), slot at its end (edges)
    size_t *block, *edge_block;  // offsets in D (slots), in U (edges)
    bool* negative;              // (slots)
    // null without junctions
    int32_t* junction_first; // first junction of a level (levels + 1)
    int32_t* arm;            // which arm of a junction a slot is, -1 = none (slots)
    int32_t* junction_slot;  // first slot of a junction, junctions by level (junctions)
    int32_t* arm_start;      // first arm of a junction in `arms` (junctions + 1)
    int32_t* arms;           // slots of arms, by junction (slots)
    // null where D and U are those of the plan
    size_t *plan_block, *plan_edge; // offsets in D and U of the plan, SIZE_MAX = a block of zeros
    bool* turned;                   // the plan stores this block as (to, from) (edges)
} mabd_cuda_level_lists;

typedef struct mabd_cuda_levels {
    bool copies; // D and U are copies
    int32_t slot_count, edge_count, level_count, junction_count, arm_count;
    size_t D_reals, U_reals;        // of the copies
    mabd_cuda_level_lists host, on; // on the host and on the device, with one layout
    void *host_memory, *memory;     // of the lists
    size_t size;                    // of either [bytes]
    mabd_real *D, *U;
    mabd_real* kept; // W of arms (arm_count x MABD_ARM_KEPT)
} mabd_cuda_levels;

/// The table of this solver, for mabd_cuda_levels.
extern const mabd_cuda_dual_ops MABD_CUDA(dual_levels);

/// Make the lists on the host without the slots that left_out marks (slots of the plan, null =
/// none): those are not eliminated, edges to them are ignored, and D and U of the plan are not
/// overwritten. Other arguments as in mabd_cuda_dual_ops.plan. MABD_ERR_ARG if the remaining graph
/// has a cycle.
mabd_status MABD_CUDA(levels_plan_part)(const mabd_plan* plan, int32_t count,
                                        const int32_t* components, const bool* left_out,
                                        const mabd_allocator* allocator, mabd_cuda_levels* levels,
                                        mabd_error* error);

/// Entry `factor` of the table: eliminates, and applies L^-1 to lambda.
mabd_status MABD_CUDA(levels_factor)(void* solver, const mabd_device* device,
                                     const mabd_cuda_dual_system* system, int32_t* bad,
                                     mabd_error* error);
/// Entry `solve` of the table: substitutes back in lambda.
mabd_status MABD_CUDA(levels_solve)(void* solver, const mabd_device* device,
                                    const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                                    mabd_dual_report* report, mabd_error* error);

/// Apply the first half of the solution, L^-1, to `columns` right-hand sides after factor. Row r of
/// the plan in column k is x[k stride + r - row_offset] (device); rows of other slots are not read.
mabd_status MABD_CUDA(levels_forward)(const mabd_cuda_levels* levels, const mabd_device* device,
                                      const mabd_cuda_dual_system* system, int32_t columns,
                                      size_t stride, int32_t row_offset, mabd_real* x,
                                      mabd_error* error);
/// Apply the second half of the solution, L^-T d^-1, after levels_forward with the same arguments.
mabd_status MABD_CUDA(levels_back)(const mabd_cuda_levels* levels, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, int32_t columns,
                                   size_t stride, int32_t row_offset, mabd_real* x,
                                   mabd_error* error);

#ifdef __cplusplus
}
#endif
