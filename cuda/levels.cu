// SPDX-License-Identifier: Apache-2.0
// A thread for each slot of a level runs the text of the CPU (dual/tree_text.h); a launch for each level, leaves first, and root first
// on the way back. Between two launches all that was written is there. No launch waits for the host.
//
// Slots that are left out close cycles. Then the tree T of the others is copied and factored beside K, which stays as it is:
//
//   K = | T   B |     T = L d L' by levels,  X = T^-1 B: forward and back for each column of B
//       | B'  C |     (the complement C - B' X is made by who asked for X)
//
// A hub has a block of threads: each makes some of its entries, over all arms in their order.

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

#define SYSTEM CONSTANT mabd_dual_system

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

// ---- hubs ----------------------------------------------------------------------------------------------

// Lists of a launch, on the device.
typedef struct hub_lists {
    const int32_t *start, *hub_slot, *arm_start, *arms;
    const mabd_real* kept;
} hub_lists;

static hub_lists hubs_of(const mabd_cuda_levels* levels, int32_t level) {
    const mabd_cuda_level_lists* l = &levels->on;
    const int32_t first = levels->hub_first[level];
    const hub_lists hubs = {l->start, l->hub_slot + first, l->arm_start + first, l->arms,
                            levels->kept};
    return hubs;
}

// An entry of a hub, -W' Z or -Z' y over its arms: columns of the left and right factor, their halves, what it is added to.
typedef struct hub_entry {
    int row, column, row_half, column_half;
    bool of_x;
    mabd_real* at;
} hub_entry;

#define HUB_LOWER   (MABD_HUB_SLOT * (MABD_HUB_SLOT + 1) / 2)
#define HUB_BETWEEN (2 * HUB_LOWER)
#define HUB_X       (HUB_BETWEEN + MABD_HUB_SLOT * MABD_HUB_SLOT)
#define HUB_ENTRIES (HUB_X + 2 * MABD_HUB_SLOT)

// The lower triangles of both slots, the block between them, the right-hand side.
MABD_FN hub_entry hub_entry_of(const mabd_dual_system* system, const int32_t* start, int32_t s,
                               mabd_real* x, int k) {
    hub_entry e = {0, 0, 0, 0, false, NULL};
    if (k < HUB_BETWEEN) {
        e.row_half = e.column_half = k / HUB_LOWER;
        e.column = k % HUB_LOWER;
        while (e.column > e.row) e.column -= ++e.row;
        e.at = system->D + system->block[s + e.row_half] + (e.row * MABD_HUB_SLOT + e.column);
    } else if (k < HUB_X) {
        e.row = (k - HUB_BETWEEN) / MABD_HUB_SLOT, e.column = (k - HUB_BETWEEN) % MABD_HUB_SLOT;
        e.column_half = 1;
        e.at = system->U + system->edge_block[start[s]] + (k - HUB_BETWEEN);
    } else {
        e.of_x = true;
        e.row_half = (k - HUB_X) / MABD_HUB_SLOT, e.row = (k - HUB_X) % MABD_HUB_SLOT;
        e.at = x + (system->row[s + e.row_half] - system->row_offset) + e.row;
    }
    return e;
}

__global__ static void __launch_bounds__(THREADS, 1)
    add_arms(SYSTEM system, const hub_lists hubs, mabd_real* x) {
    const int32_t hub = (int32_t)blockIdx.x;
    for (int k = (int)threadIdx.x; k < HUB_ENTRIES; k += (int)blockDim.x) {
        const hub_entry e = hub_entry_of(&system, hubs.start, hubs.hub_slot[hub], x, k);
        mabd_real sum = *e.at;
        for (int32_t i = hubs.arm_start[hub]; i < hubs.arm_start[hub + 1]; i++) {
            const int32_t s = hubs.arms[i], w = system.width[s];
            const size_t* edge = system.edge_block + hubs.start[s];
            const mabd_real* W =
                hubs.kept + (size_t)i * MABD_ARM_KEPT + e.row_half * w * MABD_HUB_SLOT;
            const mabd_real* Z = system.U + edge[e.of_x ? e.row_half : e.column_half];
            sum = e.of_x ? mabd_tree_sub_arm(w, Z + e.row, x + system.row[s], 1, sum)
                         : mabd_tree_sub_arm(w, W + e.row, Z + e.column, MABD_HUB_SLOT, sum);
        }
        *e.at = sum;
    }
}

// b(t_i) -= Z_i' y in each column: a thread for each of its twelve rows.
__global__ static void __launch_bounds__(THREADS, 1)
    add_arm_columns(SYSTEM system, const hub_lists hubs, int32_t count, int32_t columns,
                    size_t stride, mabd_real* all) {
    const int32_t row = INDEX % (2 * MABD_HUB_SLOT), i = INDEX / (2 * MABD_HUB_SLOT);
    if (i >= count * columns) return;
    const int32_t hub = i / columns;
    mabd_real* x = all + (size_t)(i % columns) * stride;
    const hub_entry e = hub_entry_of(&system, hubs.start, hubs.hub_slot[hub], x, HUB_X + row);
    mabd_real sum = *e.at;
    for (int32_t a = hubs.arm_start[hub]; a < hubs.arm_start[hub + 1]; a++) {
        const int32_t s = hubs.arms[a];
        const mabd_real* Z = system.U + system.edge_block[hubs.start[s] + e.row_half];
        sum = mabd_tree_sub_arm(system.width[s], Z + e.row, x + (system.row[s] - system.row_offset),
                                1, sum);
    }
    *e.at = sum;
}

// ---- factor and solve ----------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    eliminate_level(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
                    const int32_t* arm, mabd_real* kept, mabd_real* x, const int32_t* slot,
                    int32_t* bad) {
    if (INDEX >= count) return;
    const int32_t s = order[INDEX];
    if (arm && arm[s] >= 0) {
        kept += (size_t)arm[s] * MABD_ARM_KEPT;
        bad[slot[s]] = !mabd_tree_eliminate_arm_slot(&system, start, s, x, kept);
    } else {
        bad[slot[s]] = !mabd_tree_eliminate_slot(&system, start, s, x);
    }
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
        if (levels->hub_count > 0) {
            LAUNCH_BLOCKS(device, "factor", add_arms,
                          levels->hub_first[i + 1] - levels->hub_first[i], system,
                          hubs_of(levels, i), view->lambda);
        }
        LAUNCH_ON(device, "factor", eliminate_level, count, system, count, levels->on.order + first,
                  levels->on.start, levels->on.arm, levels->kept, view->lambda, levels->on.slot,
                  bad);
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
                    const int32_t* arm, int32_t columns, size_t stride, mabd_real* x) {
    if (INDEX >= count * columns) return;
    const int32_t s = order[INDEX / columns];
    x += (size_t)(INDEX % columns) * stride;
    if (arm && arm[s] >= 0) {
        mabd_block_solve_l(system.width[s], system.D + system.block[s],
                           x + (system.row[s] - system.row_offset));
    } else {
        mabd_tree_forward_slot(&system, start, s, x);
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    back_columns(SYSTEM system, int32_t count, const int32_t* order, const int32_t* start,
                 int32_t columns, size_t stride, mabd_real* x) {
    if (INDEX >= count * columns) return;
    mabd_tree_back_slot(&system, start, order[INDEX / columns],
                        x + (size_t)(INDEX % columns) * stride);
}

// Columns that a launch of `count` slots, or rows of hubs, takes at once: threads are counted by 31 bits.
static int32_t columns_at_once(int32_t count, int32_t columns) {
    const int32_t most = INT32_MAX / 2 / (count > 0 ? count : 1);
    return columns < most ? columns : most > 0 ? most : 1;
}

static mabd_status forward_one(const mabd_cuda_levels* levels, const mabd_device* device,
                               const mabd_dual_system* system, int32_t level, int32_t columns,
                               size_t stride, mabd_real* x, mabd_error* error) {
    const int32_t first = levels->level_first[level];
    const int32_t count = levels->level_first[level + 1] - first;
    if (levels->hub_count > 0) {
        const int32_t hubs = levels->hub_first[level + 1] - levels->hub_first[level];
        LAUNCH_ON(device, "solve", add_arm_columns, hubs * columns * 2 * MABD_HUB_SLOT, *system,
                  hubs_of(levels, level), hubs, columns, stride, x);
    }
    LAUNCH_ON(device, "solve", forward_columns, count * columns, *system, count,
              levels->on.order + first, levels->on.start, levels->on.arm, columns, stride, x);
    return MABD_OK;
}

static mabd_status back_one(const mabd_cuda_levels* levels, const mabd_device* device,
                            const mabd_dual_system* system, int32_t level, int32_t columns,
                            size_t stride, mabd_real* x, mabd_error* error) {
    const int32_t first = levels->level_first[level];
    const int32_t count = levels->level_first[level + 1] - first;
    LAUNCH_ON(device, "solve", back_columns, count * columns, *system, count,
              levels->on.order + first, levels->on.start, columns, stride, x);
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_forward)(const mabd_cuda_levels* levels, const mabd_device* device,
                                      const mabd_cpu_sim* view, int32_t columns, size_t stride,
                                      int32_t row_offset, mabd_real* x, mabd_error* error) {
    mabd_dual_system system = system_of(levels, view);
    system.row_offset = row_offset;
    const int32_t step =
        columns_at_once(levels->slot_count + 2 * MABD_HUB_SLOT * levels->hub_count, columns);
    for (int32_t k = 0; k < columns; k += step) {
        const int32_t some = columns - k < step ? columns - k : step;
        for (int32_t i = 0; i < levels->level_count; i++) {
            MABD_TRY(forward_one(levels, device, &system, i, some, stride, x + (size_t)k * stride,
                                 error));
        }
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_back)(const mabd_cuda_levels* levels, const mabd_device* device,
                                   const mabd_cpu_sim* view, int32_t columns, size_t stride,
                                   int32_t row_offset, mabd_real* x, mabd_error* error) {
    mabd_dual_system system = system_of(levels, view);
    system.row_offset = row_offset;
    const int32_t step = columns_at_once(levels->slot_count, columns);
    for (int32_t k = 0; k < columns; k += step) {
        const int32_t some = columns - k < step ? columns - k : step;
        for (int32_t i = levels->level_count - 1; i >= 0; i--) {
            MABD_TRY(
                back_one(levels, device, &system, i, some, stride, x + (size_t)k * stride, error));
        }
    }
    return MABD_OK;
}
