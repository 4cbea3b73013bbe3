// SPDX-License-Identifier: Apache-2.0
//
// Direct solve by a block sparse factorisation.
//
//   create   order, analysis (block_symbolic.h), and memory for the factor, the update matrices and one
//            front
//   factor   multifrontal L d L' (block_numeric.c); D and U stay as they are

#include "dual/block_factor.h"

#include "dual/order_late.h"

static mabd_status analyse(const mabd_allocator* allocator, const mabd_dual_system* system,
                           bool natural, mabd_order_report* report,
                           mabd_block_symbolic** symbolic) {
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* order = mabd_alloc(allocator, bytes);
    *symbolic = NULL;
    if (!order) return MABD_ERR_MEMORY;
    mabd_status status = natural ? mabd_block_order_natural(allocator, system, order, report)
                                 : mabd_block_order(allocator, system, order, report);
    if (status == MABD_OK) status = mabd_order_late(allocator, system, order);
    if (status == MABD_OK) status = mabd_block_analyse(allocator, system, order, symbolic);
    mabd_free(allocator, order, bytes);
    return status;
}

static void layout(const mabd_block_symbolic* m, mabd_arena* arena, mabd_block_factor* f) {
    const size_t rows = (size_t)m->row_count, wide = (size_t)m->widest, deep = (size_t)m->deepest;
    const size_t tallest = wide > deep ? wide : deep;
    mabd_arena_take(arena, 1, sizeof(mabd_block_solver));
    f->L = mabd_arena_take(arena, (size_t)m->panel_size, sizeof(double));
    f->d = mabd_arena_take(arena, rows, sizeof(double));
    f->inverse = mabd_arena_take(arena, rows, sizeof(double));
    f->updates = mabd_arena_take(arena, (size_t)m->update_size, sizeof(double));
    f->front = mabd_arena_take(arena, (size_t)m->front_size, sizeof(double));
    f->scaled = mabd_arena_take(arena, wide * MABD_BLOCK_TILE, sizeof(double));
    f->least = mabd_arena_take(arena, wide, sizeof(double));
    f->x = mabd_arena_take(arena, rows, sizeof(double));
    f->below = mabd_arena_take(arena, tallest, sizeof(double));
}

// Bytes of a solver with its numbers, without the analysis.
static size_t count_bytes(const mabd_block_symbolic* symbolic) {
    mabd_block_factor counts;
    mabd_arena arena = {NULL, 0, 0};
    layout(symbolic, &arena, &counts);
    return arena.used;
}

static mabd_status block_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                void** out) {
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    mabd_block_symbolic* symbolic;
    mabd_order_report report;
    MABD_TRY(analyse(allocator, system, false, &report, &symbolic));
    mabd_arena arena = {NULL, count_bytes(symbolic), 0};
    if (arena.size != SIZE_MAX) arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) {
        mabd_block_symbolic_destroy(allocator, symbolic);
        return MABD_ERR_MEMORY;
    }
    mabd_block_solver* solver = (mabd_block_solver*)(void*)arena.memory;
    layout(symbolic, &arena, &solver->factor);
    solver->factor.symbolic = solver->symbolic = symbolic;
    solver->kernels = mabd_block_kernels_of(mabd_isa_count() - 1);
    solver->bytes = arena.size;
    *out = solver;
    return MABD_OK;
}

static void block_destroy(const mabd_allocator* allocator, void* object) {
    mabd_block_solver* solver = object;
    if (!solver) return;
    mabd_block_symbolic_destroy(allocator, solver->symbolic);
    mabd_free(allocator, solver, solver->bytes);
}

static size_t block_bytes(const void* object) {
    const mabd_block_solver* solver = object;
    return solver->bytes + solver->symbolic->bytes;
}

mabd_status mabd_block_foresee(const mabd_allocator* allocator, const mabd_dual_system* system,
                               bool natural, mabd_block_outlook* outlook) {
    mabd_block_symbolic* symbolic;
    MABD_TRY(analyse(allocator, system, natural, &outlook->orders, &symbolic));
    const size_t own = count_bytes(symbolic), analysis = symbolic->bytes;
    outlook->bytes = own > SIZE_MAX - analysis ? SIZE_MAX : own + analysis;
    outlook->nodes = symbolic->node_count;
    outlook->flops = symbolic->flops;
    outlook->entries = (double)symbolic->panel_size;
    mabd_block_symbolic_destroy(allocator, symbolic);
    return MABD_OK;
}

static size_t block_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    mabd_block_outlook outlook;
    const mabd_status status = mabd_block_foresee(allocator, system, false, &outlook);
    return status == MABD_OK ? outlook.bytes : SIZE_MAX;
}

static int32_t slot_of_row(const mabd_dual_system* system, const mabd_block_symbolic* symbolic,
                           int32_t row) {
    int32_t s = 0;
    while (row < symbolic->first[s] || row >= symbolic->first[s] + system->width[s]) s++;
    return s;
}

static mabd_status block_factor_with(void* object, const mabd_dual_system* system, mabd_real* b,
                                     int32_t* bad) {
    mabd_block_solver* solver = object;
    const int32_t row = solver->kernels->factor(&solver->factor, system, b);
    if (row < 0) return MABD_OK;
    if (bad) *bad = slot_of_row(system, solver->symbolic, row);
    return MABD_ERR_SINGULAR;
}

static mabd_status block_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    return block_factor_with(object, system, NULL, bad);
}

static void block_solve_rest(void* object, const mabd_dual_system* system, mabd_real* x) {
    mabd_block_solver* solver = object;
    solver->kernels->backward(&solver->factor, system, x);
}

static void block_solve(void* object, const mabd_dual_system* system, mabd_real* x) {
    mabd_block_solver* solver = object;
    solver->kernels->forward(&solver->factor, system, x);
    solver->kernels->backward(&solver->factor, system, x);
}

const mabd_dual_ops mabd_dual_block = {
    .name = "block",
    .keeps_system = true,
    .create = block_create,
    .factor = block_factor,
    .solve = block_solve,
    .factor_with = block_factor_with,
    .solve_rest = block_solve_rest,
    .destroy = block_destroy,
    .bytes = block_bytes,
    .bytes_for = block_bytes_for,
};
