// SPDX-License-Identifier: Apache-2.0
// A thread for each slot of a level runs the text of the CPU (dual/tree_text.h); a launch for each level, leaves first, and root first
// on the way back. Between two launches all that was written is there. No launch waits for the host.
//
// Slots that are left out close cycles. Then the tree T of the others is copied and factored beside K, which stays as it is:
//
//   K = | T   B |     T = L d L' by levels,  X = T^-1 B: forward and back for each column of B
//       | B'  C |     (the complement C - B' X is made by who asked for X)

#define MABD_DEVICE_TEXT

#include "levels.h"

#include "launch.h"

extern "C" {
#include "dual/tree_text.h"
}

// All that is eliminated as one system, on the device.
static mabd_dual_system system_of(const mabd_cuda_levels* levels, const mabd_cpu_sim* view) {
    const mabd_cuda_level_lists* l = &levels->on;
    mabd_dual_system s = {};
    s.slot_count = levels->slot_count, s.edge_count = levels->edge_count;
    s.width = l->width, s.row = l->row, s.block = l->block;
    s.to = l->to, s.edge_block = l->edge_block;
    s.negative = l->negative;
    s.D = levels->copies ? levels->D : view->D;
    s.U = levels->copies ? levels->U : view->U;
    return s;
}

#ifdef __CUDACC__
#define SYSTEM const __grid_constant__ mabd_dual_system
#else
#define SYSTEM const mabd_dual_system
#endif

// ---- copies --------------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    copy_blocks(SYSTEM system, const size_t* plan_block, const mabd_real* D) {
    const int32_t s = INDEX;
    if (s >= system.slot_count) return;
    const int entries = system.width[s] * system.width[s];
    for (int k = 0; k < entries; k++) system.D[system.block[s] + k] = D[plan_block[s] + k];
}

// from: slots whose edges these are, by `start`.
__global__ static void __launch_bounds__(THREADS, 1)
    copy_edges(SYSTEM system, const int32_t* start, const size_t* plan_edge, const bool* turned,
               const mabd_real* U) {
    const int32_t s = INDEX;
    if (s >= system.slot_count) return;
    const int w = system.width[s];
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int v = system.width[system.to[e]];
        mabd_real* to = system.U + system.edge_block[e];
        for (int k = 0; k < w * v; k++) {
            const int at = turned[e] ? k % v * w + k / v : k;
            to[k] = plan_edge[e] == SIZE_MAX ? 0 : U[plan_edge[e] + at];
        }
    }
}

static mabd_status copy(const mabd_cuda_levels* levels, const mabd_device* device,
                        const mabd_cpu_sim* view, mabd_error* error) {
    const mabd_cuda_level_lists* l = &levels->on;
    const mabd_dual_system system = system_of(levels, view);
    LAUNCH_ON(device, "factor", copy_blocks, levels->slot_count, system, l->plan_block, view->D);
    LAUNCH_ON(device, "factor", copy_edges, levels->slot_count, system, l->start, l->plan_edge,
              l->turned, view->U);
    return MABD_OK;
}

// ---- factor and solve ----------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    eliminate_level(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
                    mabd_real* x, const int32_t* slot, int32_t* bad) {
    if (INDEX >= count) return;
    const int32_t s = order[INDEX];
    bad[slot[s]] = !mabd_tree_eliminate_slot(&system, start, s, x);
}

__global__ static void __launch_bounds__(THREADS, 1)
    back_level(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
               mabd_real* x) {
    if (INDEX < count) mabd_tree_back_slot(&system, start, order[INDEX], x);
}

mabd_status MABD_CUDA(levels_factor)(const mabd_cuda_levels* levels, const mabd_device* device,
                                     const mabd_cpu_sim* view, int32_t* bad, mabd_error* error) {
    const mabd_dual_system system = system_of(levels, view);
    if (levels->copies) MABD_TRY(copy(levels, device, view, error));
    for (int32_t i = 0; i < levels->level_count; i++) {
        const int32_t first = levels->level_first[i], count = levels->level_first[i + 1] - first;
        LAUNCH_ON(device, "factor", eliminate_level, count, system, count, levels->on.order + first,
                  levels->on.start, view->lambda, levels->on.slot, bad);
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_solve)(const mabd_cuda_levels* levels, const mabd_device* device,
                                    const mabd_cpu_sim* view, mabd_error* error) {
    const mabd_dual_system system = system_of(levels, view);
    for (int32_t i = levels->level_count - 1; i >= 0; i--) {
        const int32_t first = levels->level_first[i], count = levels->level_first[i + 1] - first;
        LAUNCH_ON(device, "solve", back_level, count, system, count, levels->on.order + first,
                  levels->on.start, view->lambda);
    }
    return MABD_OK;
}

// ---- many right-hand sides -----------------------------------------------------------------------------

// Columns of one slot follow each other: their threads read the same blocks.
__global__ static void __launch_bounds__(THREADS, 1)
    forward_columns(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
                    int32_t columns, size_t stride, mabd_real* x) {
    if (INDEX >= count * columns) return;
    mabd_tree_forward_slot(&system, start, order[INDEX / columns],
                           x + (size_t)(INDEX % columns) * stride);
}

__global__ static void __launch_bounds__(THREADS, 1)
    back_columns(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
                 int32_t columns, size_t stride, mabd_real* x) {
    if (INDEX >= count * columns) return;
    mabd_tree_back_slot(&system, start, order[INDEX / columns],
                        x + (size_t)(INDEX % columns) * stride);
}

mabd_status MABD_CUDA(levels_forward)(const mabd_cuda_levels* levels, const mabd_device* device,
                                      const mabd_cpu_sim* view, int32_t columns, size_t stride,
                                      int32_t row_offset, mabd_real* x, mabd_error* error) {
    mabd_dual_system system = system_of(levels, view);
    system.row_offset = row_offset;
    for (int32_t i = 0; i < levels->level_count; i++) {
        const int32_t first = levels->level_first[i], count = levels->level_first[i + 1] - first;
        LAUNCH_ON(device, "solve", forward_columns, count * columns, system, count,
                  levels->on.order + first, levels->on.start, columns, stride, x);
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_back)(const mabd_cuda_levels* levels, const mabd_device* device,
                                   const mabd_cpu_sim* view, int32_t columns, size_t stride,
                                   int32_t row_offset, mabd_real* x, mabd_error* error) {
    mabd_dual_system system = system_of(levels, view);
    system.row_offset = row_offset;
    for (int32_t i = levels->level_count - 1; i >= 0; i--) {
        const int32_t first = levels->level_first[i], count = levels->level_first[i + 1] - first;
        LAUNCH_ON(device, "solve", back_columns, count * columns, system, count,
                  levels->on.order + first, levels->on.start, columns, stride, x);
    }
    return MABD_OK;
}
