// SPDX-License-Identifier: Apache-2.0
// The source is that of the CPU (dual/chain_kernel.h). Chains of a group have one pattern, so
// threads of a warp do not diverge, and they read adjacent numbers: D, U and x are interleaved over
// 32 chains (math/interleave.h), and x is copied back. A block of threads transposes 32 reals of 32
// chains in shared memory, so that global memory is read and written contiguously on both sides.
//
//   plan    chain 0: k k+1 k+2 ..      interleaved    k   of chain 0 1 2 .. 31
//           chain 1: k k+1 k+2 ..                     k+1 of chain 0 1 2 .. 31
//
// One kernel for each widest block, as a kernel needs the registers of its widest block.

#define MABD_INTERLEAVED

#include "cuda/dual/chains.h"

#include "cuda/dual/select.h"
#include "cuda/runtime/launch.h"

extern "C" {
#include "base/error.h"
}
#include "dual/chain_kernel.h"

// ---- lists on the host --------------------------------------------------------------------------

static size_t tiles_of(const mabd_cuda_chains* c) {
    return (size_t)((c->count + MABD_TILE - 1) / MABD_TILE);
}

// Take one list from the arena.
template <class T> static T* take(mabd_arena* arena, int32_t count, const T** list) {
    T* memory = (T*)mabd_arena_take(arena, (size_t)count, sizeof(T));
    *list = memory;
    return memory;
}

static void lay_lists(int32_t count, mabd_cuda_chains* groups, mabd_arena* arena) {
    for (int32_t g = 0; g < count; g++) {
        mabd_cuda_chains* c = &groups[g];
        take(arena, c->slot_count, &c->width);
        take(arena, c->slot_count, &c->block);
        take(arena, c->slot_count, &c->edge_block);
        take(arena, c->count, &c->slot_first);
        take(arena, c->count, &c->D_first);
        take(arena, c->count, &c->U_first);
        take(arena, c->count, &c->x_first);
    }
}

// Count the slots and reals of a group by one of its components.
static mabd_cuda_chains count_group(const mabd_plan* plan, int32_t component, int32_t count) {
    const mabd_plan_component* c = &plan->components[component];
    const int32_t first = c->slot_first, end = first + c->slot_count;
    mabd_cuda_chains group = {};
    group.count = count, group.slot_count = c->slot_count;
    group.D_reals = plan->slot_block[end] - plan->slot_block[first];
    group.U_reals =
        plan->edge_block[c->edge_first + c->edge_count] - plan->edge_block[c->edge_first];
    group.x_reals = (size_t)(plan->slot_row[end] - plan->slot_row[first]);
    for (int32_t s = first; s < end; s++) {
        if (plan->slot_width[s] > group.most) group.most = plan->slot_width[s];
    }
    return group;
}

static void fill_group(const mabd_plan* plan, const int32_t* components,
                       const mabd_cuda_chains* g) {
    const mabd_plan_component* c = &plan->components[components[0]];
    for (int32_t k = 0; k < g->slot_count; k++) {
        ((int32_t*)g->width)[k] = plan->slot_width[c->slot_first + k];
        ((size_t*)g->block)[k] =
            plan->slot_block[c->slot_first + k] - plan->slot_block[c->slot_first];
        ((size_t*)g->edge_block)[k] =
            plan->edge_block[c->edge_first + k] - plan->edge_block[c->edge_first];
    }
    for (int32_t i = 0; i < g->count; i++) {
        c = &plan->components[components[i]];
        ((int32_t*)g->slot_first)[i] = c->slot_first;
        ((size_t*)g->D_first)[i] = plan->slot_block[c->slot_first];
        ((size_t*)g->U_first)[i] = plan->edge_block[c->edge_first];
        ((size_t*)g->x_first)[i] = (size_t)plan->slot_row[c->slot_first];
    }
}

// Make groups and lists of components that are sorted by pattern.
static mabd_status fill_batch(const mabd_plan* plan, const int32_t* components,
                              const int32_t* group_first, const mabd_allocator* allocator,
                              mabd_cuda_batch* b, mabd_error* error) {
    const size_t groups = (size_t)b->group_count;
    const size_t heads = mabd_bytes(2 * groups, sizeof *b->host);
    mabd_arena lists = {NULL, 0, 0};
    mabd_cuda_chains* counts =
        heads == SIZE_MAX ? NULL : (mabd_cuda_chains*)mabd_alloc(allocator, heads);
    if (!counts) return mabd_fail_memory(error, "listing chains");
    for (int32_t g = 0; g < b->group_count; g++) {
        counts[g] =
            count_group(plan, components[group_first[g]], group_first[g + 1] - group_first[g]);
    }
    b->host = counts, b->on = counts + groups, b->heads_size = heads;
    lay_lists(b->group_count, b->host, &lists);
    b->lists_size = lists.size = lists.used;
    if (lists.used < SIZE_MAX) b->host_lists = (char*)mabd_alloc(allocator, lists.size);
    if (!b->host_lists) return mabd_fail_memory(error, "listing chains");
    lists.memory = b->host_lists, lists.used = 0;
    lay_lists(b->group_count, b->host, &lists);
    for (int32_t g = 0; g < b->group_count; g++) {
        fill_group(plan, components + group_first[g], &b->host[g]);
    }
    return MABD_OK;
}

static void release(const mabd_allocator* allocator, void* solver) {
    mabd_cuda_batch* b = (mabd_cuda_batch*)solver;
    const mabd_cuda_batch none = {};
    mabd_free(allocator, b->host_lists, b->lists_size);
    mabd_free(allocator, b->host, b->heads_size);
    *b = none;
}

static mabd_status plan_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const mabd_allocator* allocator, void* solver, mabd_error* error) {
    mabd_cuda_batch* batch = (mabd_cuda_batch*)solver;
    const mabd_cuda_batch none = {};
    const size_t bytes = mabd_bytes(2 * (size_t)count + 1, sizeof(int32_t));
    *batch = none;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        if (c->kind != MABD_COMPONENT_CHAIN || c->slot_count == 0) {
            return mabd_fail(error, MABD_ERR_ARG, "the batch solver takes chains only");
        }
    }
    int32_t* sorted = bytes == SIZE_MAX ? NULL : (int32_t*)mabd_alloc(allocator, bytes);
    if (!sorted) return mabd_fail_memory(error, "listing chains");
    for (int32_t i = 0; i < count; i++) sorted[i] = components[i];
    mabd_status status = MABD_CUDA(group_chains)(plan, count, sorted, allocator, sorted + count,
                                                 &batch->group_count, error);
    if (status == MABD_OK) {
        status = fill_batch(plan, sorted, sorted + count, allocator, batch, error);
    }
    mabd_free(allocator, sorted, bytes);
    if (status != MABD_OK) release(allocator, batch);
    return status;
}

static void layout(void* solver, mabd_arena* arena) {
    mabd_cuda_batch* b = (mabd_cuda_batch*)solver;
    mabd_arena lists = {NULL, b->lists_size, 0};
    b->lists = lists.memory = (char*)mabd_arena_take(arena, b->lists_size, 1);
    for (int32_t g = 0; g < b->group_count; g++) {
        mabd_cuda_chains* c = &b->on[g];
        *c = b->host[g];
        const size_t room = tiles_of(c) * MABD_TILE;
        c->D = (mabd_real*)mabd_arena_take(arena, room, c->D_reals * sizeof *c->D);
        c->U = (mabd_real*)mabd_arena_take(arena, room, c->U_reals * sizeof *c->U);
        c->x = (mabd_real*)mabd_arena_take(arena, room, c->x_reals * sizeof *c->x);
    }
    lay_lists(b->group_count, b->on, &lists);
}

static mabd_status upload(void* solver, const mabd_device* device, mabd_error* error) {
    const mabd_cuda_batch* b = (const mabd_cuda_batch*)solver;
    return MABD_CUDA(device_upload)(device, b->host_lists, b->lists_size, b->lists, error);
}

// ---- interleaving -------------------------------------------------------------------------------

// One array in both layouts: `reals` of each chain, of chain i from plan[first[i]] on.
typedef struct transposed {
    int32_t count; // chains
    size_t reals;  // of one chain
    const size_t* first;
    mabd_real *plan, *interleaved;
} transposed;

// The part that a block of threads transposes: MABD_TILE reals of MABD_TILE chains. One column more
// than that: threads of a warp that write to one column use different memory banks.
typedef mabd_real square[MABD_TILE][MABD_TILE + 1];

MABD_FN size_t squares_of(size_t reals) {
    return (reals + MABD_TILE - 1) / MABD_TILE;
}

// Find real k of chain i of the square of this block of threads; false if it is out of range.
__device__ static bool in_square(const transposed& t, int32_t i, int32_t k, int32_t* chain,
                                 size_t* real) {
    const size_t squares = squares_of(t.reals);
    *chain = (int32_t)(blockIdx.x / squares) * MABD_TILE + i;
    *real = blockIdx.x % squares * MABD_TILE + (size_t)k;
    return *chain < t.count && *real < t.reals;
}

// Loop over a square; adjacent threads get adjacent columns.
#define FOR_SQUARE(row, column)                                                                    \
    for (int32_t at_ = (int32_t)threadIdx.x, row = at_ / MABD_TILE, column = at_ % MABD_TILE;      \
         at_ < MABD_TILE * MABD_TILE;                                                              \
         at_ += THREADS, row = at_ / MABD_TILE, column = at_ % MABD_TILE)

__global__ static void __launch_bounds__(THREADS, 1) gather(CONSTANT transposed t) {
    __shared__ square part;
    int32_t chain;
    size_t real;
    FOR_SQUARE(i, k) {
        if (in_square(t, i, k, &chain, &real)) part[i][k] = t.plan[t.first[chain] + real];
    }
    __syncthreads();
    FOR_SQUARE(k, i) {
        if (in_square(t, i, k, &chain, &real)) {
            mabd_interleaved_of(t.interleaved, t.reals, chain)[(ptrdiff_t)real] = part[i][k];
        }
    }
}

__global__ static void __launch_bounds__(THREADS, 1) scatter(CONSTANT transposed t) {
    __shared__ square part;
    int32_t chain;
    size_t real;
    FOR_SQUARE(k, i) {
        if (in_square(t, i, k, &chain, &real)) {
            part[i][k] = mabd_interleaved_of(t.interleaved, t.reals, chain)[(ptrdiff_t)real];
        }
    }
    __syncthreads();
    FOR_SQUARE(i, k) {
        if (in_square(t, i, k, &chain, &real)) t.plan[t.first[chain] + real] = part[i][k];
    }
}

static int32_t squares_for(const mabd_cuda_chains* c, size_t reals) {
    return (int32_t)(tiles_of(c) * squares_of(reals));
}

// ---- factor and solve ---------------------------------------------------------------------------

MABD_FN mabd_dual_chain_arrays chain_of(const mabd_cuda_chains& c, int32_t i) {
    mabd_dual_chain_arrays chain;
    chain.slot_count = c.slot_count;
    chain.width = c.width, chain.block = c.block, chain.edge_block = c.edge_block;
    chain.D = mabd_interleaved_of(c.D, c.D_reals, i),
    chain.U = mabd_interleaved_of(c.U, c.U_reals, i);
    return chain;
}

template <int most>
__global__ static void __launch_bounds__(THREADS, 1)
    factor_chains(CONSTANT mabd_cuda_chains c, int32_t* bad) {
    if (INDEX >= c.count) return;
    const mabd_dual_chain_arrays chain = chain_of(c, INDEX);
    const int32_t failed = mabd_dual_chain_kernel_factor(most, &chain);
    if (failed >= 0) bad[c.slot_first[INDEX] + failed] = 1;
}

template <int most>
__global__ static void __launch_bounds__(THREADS, 1) solve_chains(CONSTANT mabd_cuda_chains c) {
    if (INDEX >= c.count) return;
    const mabd_dual_chain_arrays chain = chain_of(c, INDEX);
    mabd_dual_chain_kernel_solve(most, &chain, mabd_interleaved_of(c.x, c.x_reals, INDEX));
}

__global__ static void __launch_bounds__(THREADS, 1)
    clear_bad(CONSTANT mabd_cuda_chains c, int32_t* bad) {
    const int32_t chain = INDEX / c.slot_count, slot = INDEX % c.slot_count;
    if (chain < c.count) bad[c.slot_first[chain] + slot] = 0;
}

static mabd_status factor(void* solver, const mabd_device* device,
                          const mabd_cuda_dual_system* system, int32_t* bad, mabd_error* error) {
    const mabd_cuda_batch* batch = (const mabd_cuda_batch*)solver;
    for (int32_t g = 0; g < batch->group_count; g++) {
        const mabd_cuda_chains* c = &batch->on[g];
        const transposed D = {c->count, c->D_reals, c->D_first, system->D, c->D};
        const transposed U = {c->count, c->U_reals, c->U_first, system->U, c->U};
        LAUNCH_BLOCKS(device, "factor", gather, squares_for(c, c->D_reals), D);
        LAUNCH_BLOCKS(device, "factor", gather, squares_for(c, c->U_reals), U);
        LAUNCH_ON(device, "factor", clear_bad, c->count * c->slot_count, *c, bad);
        LAUNCH_MOST(device, "factor", factor_chains, c->most, c->count, *c, bad);
    }
    return MABD_OK;
}

static mabd_status solve(void* solver, const mabd_device* device,
                         const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                         mabd_dual_report* report, mabd_error* error) {
    const mabd_cuda_batch* batch = (const mabd_cuda_batch*)solver;
    (void)goal, (void)report;
    for (int32_t g = 0; g < batch->group_count; g++) {
        const mabd_cuda_chains* c = &batch->on[g];
        const transposed x = {c->count, c->x_reals, c->x_first, system->lambda, c->x};
        LAUNCH_BLOCKS(device, "solve", gather, squares_for(c, c->x_reals), x);
        LAUNCH_MOST(device, "solve", solve_chains, c->most, c->count, *c);
        LAUNCH_BLOCKS(device, "solve", scatter, squares_for(c, c->x_reals), x);
    }
    return MABD_OK;
}

const mabd_cuda_dual_ops MABD_CUDA(dual_batch) = {
    .name = "batch",
    .size = sizeof(mabd_cuda_batch),
    .iterative = false,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = factor,
    .solve = solve,
    .release = release,
};
