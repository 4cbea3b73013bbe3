// SPDX-License-Identifier: Apache-2.0
// A thread for each slot of a level runs the source of the CPU (dual/tree_kernel.h): leaves first
// to eliminate, root first to substitute back. A level reads the results of the level before it,
// which takes a launch for each level or, where levels are narrow, a barrier: then one block of
// threads handles many of them. No launch waits for the host.
//
// Slots that are left out close cycles. Then the tree T of the others is copied and factored beside
// K, which is not overwritten:
//
//   K = | T   B |     T = L d L' by levels,  X = T^-1 B: forward and back for each column of B
//       | B'  C |     (loops.cu makes the complement C - B' X)
//
// A junction has a thread for each of its entries, which sums over all arms in their order.

#include "cuda/dual/levels.h"

#include "cuda/runtime/launch.h"

extern "C" {
#include "dual/tree_kernel.h"
}

/// Slots times columns up to which a level is narrow.
#define NARROW THREADS

// The argument of all kernels: all slots as one system, the lists, and `columns` vectors x.
// Pointers are device memory.
typedef struct work {
    mabd_dual_system system;
    mabd_cuda_level_lists lists;
    mabd_real *kept, *x;
    int32_t columns;
    size_t stride;
    int32_t* bad;
} work;

static work work_of(const mabd_cuda_levels* levels, const mabd_cuda_dual_system* system) {
    const mabd_cuda_level_lists* l = &levels->on;
    work w = {};
    mabd_dual_system* s = &w.system;
    s->slot_count = levels->slot_count, s->edge_count = levels->edge_count;
    s->width = l->width, s->row = l->row, s->block = l->block;
    s->to = l->to, s->edge_block = l->edge_block;
    s->negative = l->negative;
    s->D = levels->copies ? levels->D : system->D;
    s->U = levels->copies ? levels->U : system->U;
    w.lists = *l, w.kept = levels->kept;
    w.x = system->lambda, w.columns = 1;
    return w;
}

// ---- copies -------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    copy_blocks(CONSTANT work w, const mabd_real* D) {
    const mabd_dual_system& system = w.system;
    const int32_t s = INDEX;
    if (s >= system.slot_count) return;
    const int entries = system.width[s] * system.width[s];
    for (int k = 0; k < entries; k++) {
        system.D[system.block[s] + k] = D[w.lists.plan_block[s] + k];
    }
}

// Copy the edges of one slot.
__global__ static void __launch_bounds__(THREADS, 1)
    copy_edges(CONSTANT work w, const mabd_real* U) {
    const mabd_dual_system& system = w.system;
    const mabd_cuda_level_lists& l = w.lists;
    const int32_t s = INDEX;
    if (s >= system.slot_count) return;
    const int rows = system.width[s];
    for (int32_t e = l.start[s]; e < l.start[s + 1]; e++) {
        const int v = system.width[system.to[e]];
        mabd_real* to = system.U + system.edge_block[e];
        for (int k = 0; k < rows * v; k++) {
            const int at = l.turned[e] ? k % v * rows + k / v : k;
            to[k] = l.plan_edge[e] == SIZE_MAX ? 0 : U[l.plan_edge[e] + at];
        }
    }
}

static mabd_status copy(const mabd_cuda_levels* levels, const mabd_device* device,
                        const mabd_cuda_dual_system* system, mabd_error* error) {
    const work w = work_of(levels, system);
    LAUNCH_ON(device, "factor", copy_blocks, levels->slot_count, w, system->D);
    LAUNCH_ON(device, "factor", copy_edges, levels->slot_count, w, system->U);
    return MABD_OK;
}

// ---- junctions ----------------------------------------------------------------------------------

// An entry of a junction, which gets -W' Z or -Z' y of its arms: columns of the left and right
// factor, their halves, and the address of the entry.
typedef struct junction_entry {
    int row, column, row_half, column_half;
    bool of_x;
    mabd_real* at;
} junction_entry;

#define JUNCTION_LOWER   (MABD_JUNCTION_SLOT * (MABD_JUNCTION_SLOT + 1) / 2)
#define JUNCTION_BETWEEN (2 * JUNCTION_LOWER)
#define JUNCTION_X       (JUNCTION_BETWEEN + MABD_JUNCTION_SLOT * MABD_JUNCTION_SLOT)
#define JUNCTION_ENTRIES (JUNCTION_X + 2 * MABD_JUNCTION_SLOT)

// Entry k: the lower triangles of both slots, then the block between them, then the right-hand
// side.
MABD_FN junction_entry junction_entry_of(const mabd_dual_system* system, const int32_t* start,
                                         int32_t s, mabd_real* x, int k) {
    junction_entry e = {0, 0, 0, 0, false, NULL};
    if (k < JUNCTION_BETWEEN) {
        e.row_half = e.column_half = k / JUNCTION_LOWER;
        e.column = k % JUNCTION_LOWER;
        while (e.column > e.row) e.column -= ++e.row;
        e.at = system->D + system->block[s + e.row_half] + (e.row * MABD_JUNCTION_SLOT + e.column);
    } else if (k < JUNCTION_X) {
        e.row = (k - JUNCTION_BETWEEN) / MABD_JUNCTION_SLOT,
        e.column = (k - JUNCTION_BETWEEN) % MABD_JUNCTION_SLOT;
        e.column_half = 1;
        e.at = system->U + system->edge_block[start[s]] + (k - JUNCTION_BETWEEN);
    } else {
        e.of_x = true;
        e.row_half = (k - JUNCTION_X) / MABD_JUNCTION_SLOT,
        e.row = (k - JUNCTION_X) % MABD_JUNCTION_SLOT;
        e.at = x + (system->row[s + e.row_half] - system->row_offset) + e.row;
    }
    return e;
}

// Subtract the contributions of all arms from entry k of a junction.
__device__ static void add_arms(const work& w, int32_t junction, mabd_real* x, int k) {
    const mabd_dual_system& system = w.system;
    const mabd_cuda_level_lists& l = w.lists;
    const junction_entry e = junction_entry_of(&system, l.start, l.junction_slot[junction], x, k);
    mabd_real sum = *e.at;
    for (int32_t i = l.arm_start[junction]; i < l.arm_start[junction + 1]; i++) {
        const int32_t s = l.arms[i], rows = system.width[s];
        const mabd_real* Z =
            system.U + system.edge_block[l.start[s] + (e.of_x ? e.row_half : e.column_half)];
        if (e.of_x) {
            const mabd_real* y = x + (system.row[s] - system.row_offset);
            sum = mabd_dual_tree_sub_arm(rows, Z + e.row, y, 1, sum);
        } else {
            const mabd_real* W =
                w.kept + (size_t)i * MABD_ARM_KEPT + e.row_half * rows * MABD_JUNCTION_SLOT;
            sum = mabd_dual_tree_sub_arm(rows, W + e.row, Z + e.column, MABD_JUNCTION_SLOT, sum);
        }
    }
    *e.at = sum;
}

// ---- sweeps -------------------------------------------------------------------------------------

// A sweep says what to do for a slot and, before the slots of a level, for each of the
// `junction_items` items of a junction.

struct eliminate_sweep {
    static const bool has_junctions = true;
    static __host__ __device__ int32_t junction_items(int32_t columns) {
        return (void)columns, JUNCTION_ENTRIES;
    }
    static __device__ void junction(const work& w, int32_t junction, int32_t item) {
        add_arms(w, junction, w.x, item);
    }
    static __device__ void slot(const work& w, int32_t s, mabd_real* x) {
        const mabd_cuda_level_lists& l = w.lists;
        if (l.arm && l.arm[s] >= 0) {
            mabd_real* kept = w.kept + (size_t)l.arm[s] * MABD_ARM_KEPT;
            w.bad[l.slot[s]] = !mabd_dual_tree_eliminate_arm_slot(&w.system, l.start, s, x, kept);
        } else {
            w.bad[l.slot[s]] = !mabd_dual_tree_eliminate_slot(&w.system, l.start, s, x);
        }
    }
};

struct forward_sweep {
    static const bool has_junctions = true;
    static __host__ __device__ int32_t junction_items(int32_t columns) {
        return 2 * MABD_JUNCTION_SLOT * columns;
    }
    static __device__ void junction(const work& w, int32_t junction, int32_t item) {
        mabd_real* x = w.x + (size_t)(item / (2 * MABD_JUNCTION_SLOT)) * w.stride;
        add_arms(w, junction, x, JUNCTION_X + item % (2 * MABD_JUNCTION_SLOT));
    }
    static __device__ void slot(const work& w, int32_t s, mabd_real* x) {
        const mabd_dual_system& system = w.system;
        if (w.lists.arm && w.lists.arm[s] >= 0) {
            mabd_block_solve_l(system.width[s], system.D + system.block[s],
                               x + (system.row[s] - system.row_offset));
        } else {
            mabd_dual_tree_forward_slot(&system, w.lists.start, s, x);
        }
    }
};

struct back_sweep {
    static const bool has_junctions = false;
    static __device__ void slot(const work& w, int32_t s, mabd_real* x) {
        mabd_dual_tree_back_slot(&w.system, w.lists.start, s, x);
    }
};

// The junctions of a level, shared among `threads` threads.
template <class sweep>
__device__ static void do_junctions(const work& w, int32_t level, int32_t thread, int32_t threads) {
    const int32_t first = w.lists.junction_first[level], items = sweep::junction_items(w.columns);
    const int32_t count = (w.lists.junction_first[level + 1] - first) * items;
    for (int32_t i = thread; i < count; i += threads)
        sweep::junction(w, first + i / items, i % items);
}

// The slots of a level, shared among `threads` threads. Columns of one slot are adjacent: their
// threads read the same blocks.
template <class sweep>
__device__ static void do_slots(const work& w, int32_t level, int32_t thread, int32_t threads) {
    const int32_t first = w.lists.level_first[level];
    const int32_t count = (w.lists.level_first[level + 1] - first) * w.columns;
    for (int32_t i = thread; i < count; i += threads) {
        sweep::slot(w, w.lists.order[first + i / w.columns],
                    w.x + (size_t)(i % w.columns) * w.stride);
    }
}

template <class sweep>
__global__ static void __launch_bounds__(THREADS, 1)
    junctions_of_level(CONSTANT work w, int32_t level) {
    do_junctions<sweep>(w, level, INDEX, (int32_t)(gridDim.x * blockDim.x));
}

template <class sweep>
__global__ static void __launch_bounds__(THREADS, 1)
    slots_of_level(CONSTANT work w, int32_t level) {
    do_slots<sweep>(w, level, INDEX, (int32_t)(gridDim.x * blockDim.x));
}

// One block of threads: levels `from`, `from + step`, ... before `to`.
template <class sweep>
__global__ static void __launch_bounds__(THREADS, 1)
    narrow_levels(CONSTANT work w, int32_t from, int32_t to, int32_t step) {
    for (int32_t level = from; level != to; level += step) {
        if constexpr (sweep::has_junctions) {
            if (w.lists.arm)
                do_junctions<sweep>(w, level, (int32_t)threadIdx.x, (int32_t)blockDim.x);
            __syncthreads();
        }
        do_slots<sweep>(w, level, (int32_t)threadIdx.x, (int32_t)blockDim.x);
        __syncthreads();
    }
}

// ---- launches -----------------------------------------------------------------------------------

static int32_t slots_in(const mabd_cuda_levels* levels, int32_t level) {
    return levels->host.level_first[level + 1] - levels->host.level_first[level];
}

static int32_t junctions_in(const mabd_cuda_levels* levels, int32_t level) {
    if (levels->junction_count == 0) return 0;
    return levels->host.junction_first[level + 1] - levels->host.junction_first[level];
}

// A narrow level has one junction at most: its entries are a few times the threads of a block.
static bool is_narrow(const mabd_cuda_levels* levels, int32_t level, int32_t columns) {
    return slots_in(levels, level) * columns <= NARROW && junctions_in(levels, level) <= 1;
}

template <class sweep>
static mabd_status sweep_level(const mabd_cuda_levels* levels, const mabd_device* device,
                               const char* what, const work& w, int32_t level, mabd_error* error) {
    if constexpr (sweep::has_junctions) {
        LAUNCH_ON(device, what, junctions_of_level<sweep>,
                  junctions_in(levels, level) * sweep::junction_items(w.columns), w, level);
    }
    LAUNCH_ON(device, what, slots_of_level<sweep>, slots_in(levels, level) * w.columns, w, level);
    return MABD_OK;
}

// All levels, rising (up) or falling.
template <class sweep>
static mabd_status sweep_levels(const mabd_cuda_levels* levels, const mabd_device* device,
                                const char* what, const work& w, bool up, mabd_error* error) {
    const int32_t step = up ? 1 : -1, end = up ? levels->level_count : -1;
    for (int32_t i = up ? 0 : levels->level_count - 1; i != end;) {
        int32_t to = i;
        while (to != end && is_narrow(levels, to, w.columns)) to += step;
        if (to != i) {
            LAUNCH_BLOCKS(device, what, narrow_levels<sweep>, 1, w, i, to, step);
            i = to;
        } else {
            MABD_TRY(sweep_level<sweep>(levels, device, what, w, i, error));
            i += step;
        }
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_factor)(void* solver, const mabd_device* device,
                                     const mabd_cuda_dual_system* system, int32_t* bad,
                                     mabd_error* error) {
    const mabd_cuda_levels* levels = (const mabd_cuda_levels*)solver;
    work w = work_of(levels, system);
    w.bad = bad;
    if (levels->copies) MABD_TRY(copy(levels, device, system, error));
    return sweep_levels<eliminate_sweep>(levels, device, "factor", w, true, error);
}

mabd_status MABD_CUDA(levels_solve)(void* solver, const mabd_device* device,
                                    const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                                    mabd_dual_report* report, mabd_error* error) {
    const mabd_cuda_levels* levels = (const mabd_cuda_levels*)solver;
    (void)goal, (void)report;
    return sweep_levels<back_sweep>(levels, device, "solve", work_of(levels, system), false, error);
}

// Split the columns so that the number of threads of a launch fits into 31 bits.
template <class sweep>
static mabd_status sweep_columns(const mabd_cuda_levels* levels, const mabd_device* device, work w,
                                 int32_t columns, bool up, mabd_error* error) {
    const int32_t items = levels->slot_count + 2 * MABD_JUNCTION_SLOT * levels->junction_count;
    const int32_t most = items < INT32_MAX / 4 ? INT32_MAX / 4 / (items > 0 ? items : 1) : 1;
    mabd_real* x = w.x;
    for (int32_t k = 0; k < columns; k += most) {
        w.columns = columns - k < most ? columns - k : most;
        w.x = x + (size_t)k * w.stride;
        MABD_TRY(sweep_levels<sweep>(levels, device, "solve", w, up, error));
    }
    return MABD_OK;
}

static work columns_of(const mabd_cuda_levels* levels, const mabd_cuda_dual_system* system,
                       size_t stride, int32_t row_offset, mabd_real* x) {
    work w = work_of(levels, system);
    w.system.row_offset = row_offset;
    w.stride = stride, w.x = x;
    return w;
}

mabd_status MABD_CUDA(levels_forward)(const mabd_cuda_levels* levels, const mabd_device* device,
                                      const mabd_cuda_dual_system* system, int32_t columns,
                                      size_t stride, int32_t row_offset, mabd_real* x,
                                      mabd_error* error) {
    return sweep_columns<forward_sweep>(
        levels, device, columns_of(levels, system, stride, row_offset, x), columns, true, error);
}

mabd_status MABD_CUDA(levels_back)(const mabd_cuda_levels* levels, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, int32_t columns,
                                   size_t stride, int32_t row_offset, mabd_real* x,
                                   mabd_error* error) {
    return sweep_columns<back_sweep>(
        levels, device, columns_of(levels, system, stride, row_offset, x), columns, false, error);
}
