// SPDX-License-Identifier: Apache-2.0
// Trees and chains on a device: elimination level by level, leaves first (levels.cu).
#pragma once

#include "cuda/runtime/device.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

/// Slots are numbered by the order of elimination, from 0 over all components; D and U are those of the plan or, where slots are
/// left out, of the levels themselves.
typedef struct mabd_cuda_level_lists {
    int32_t* order;              // slots by level (slots)
    int32_t* level_first;        // slots of a level in it (levels + 1)
    int32_t *slot, *width, *row; // of the plan (slots)
    int32_t *start, *to;         // edges of a slot (slots + 1), where they go (edges)
    size_t *block, *edge_block;  // offsets in D (slots), in U (edges)
    bool* negative;              // (slots)
    // null without junctions
    int32_t* junction_first; // junctions of a level (levels + 1)
    int32_t* arm;            // which arm of a junction a slot is, -1 = none (slots)
    int32_t *junction_slot,
        *arm_start; // of a junction, by level: its first slot, its arms (junctions + 1)
    int32_t* arms;  // slots, by junction (slots)
    // null where D and U are those of the plan
    size_t *plan_block, *plan_edge; // offsets there, SIZE_MAX = zero
    bool* turned;                   // the plan has this block as (to, from) (edges)
} mabd_cuda_level_lists;

typedef struct mabd_cuda_levels {
    bool copies; // D and U are its own
    int32_t slot_count, edge_count, level_count, junction_count, arm_count;
    size_t D_reals, U_reals;        // of its own
    mabd_cuda_level_lists host, on; // on the host and on the device, with one layout
    void *host_memory, *memory;
    size_t size; // of either
    mabd_real *D, *U;
    mabd_real* kept; // W of arms (arm_count x MABD_ARM_KEPT)
} mabd_cuda_levels;

/// Lists on the host, from the plan alone. components (count): indices in plan->components, rising. left_out (slots of the plan),
/// null = none: slots that are not eliminated; edges to them are not looked at, and D and U of the plan stay as they are.
/// MABD_ERR_ARG if what is left has a cycle.
mabd_status MABD_CUDA(levels_plan)(const mabd_plan* plan, int32_t count, const int32_t* components,
                                   const bool* left_out, const mabd_allocator* allocator,
                                   mabd_cuda_levels* levels, mabd_error* error);
/// Device memory from the arena; called twice, first to count.
void MABD_CUDA(levels_layout)(mabd_cuda_levels* levels, mabd_arena* arena);
/// Copy the lists there, in the order of the stream.
mabd_status MABD_CUDA(levels_upload)(const mabd_cuda_levels* levels, const mabd_device* device,
                                     mabd_error* error);
/// Factor; the right-hand side view->lambda goes along. bad (slots of the plan): 1 where a pivot failed, else 0.
mabd_status MABD_CUDA(levels_factor)(const mabd_cuda_levels* levels, const mabd_device* device,
                                     const mabd_affine_sim* view, int32_t* bad, mabd_error* error);
/// The rest of the solution in view->lambda.
mabd_status MABD_CUDA(levels_solve)(const mabd_cuda_levels* levels, const mabd_device* device,
                                    const mabd_affine_sim* view, mabd_error* error);
/// Solutions for `columns` right-hand sides after factor, in two halves: forward, then back. Row r of the plan in column k is
/// x[k stride + r - row_offset] (device); rows of slots that are not among these are not touched.
mabd_status MABD_CUDA(levels_forward)(const mabd_cuda_levels* levels, const mabd_device* device,
                                      const mabd_affine_sim* view, int32_t columns, size_t stride,
                                      int32_t row_offset, mabd_real* x, mabd_error* error);
mabd_status MABD_CUDA(levels_back)(const mabd_cuda_levels* levels, const mabd_device* device,
                                   const mabd_affine_sim* view, int32_t columns, size_t stride,
                                   int32_t row_offset, mabd_real* x, mabd_error* error);
void MABD_CUDA(levels_release)(const mabd_allocator* allocator, mabd_cuda_levels* levels);

#ifdef __cplusplus
}
#endif
