// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients preconditioned by an older factor of the direct solver.
//
// From one iteration of a step to the next the dual matrix changes little: the factor of an earlier
// one is a preconditioner that needs few iterations, each as cheap as one direct solve. A new
// factor is made by the first system after a restart, after a solve that took more than
// REFACTOR_ITERATIONS iterations, and at once where the iteration with the old factor misses the
// goal. All of this is counted, never timed, and a restart at the start of every step makes a step
// independent of earlier steps: a restored state continues bit for bit.

#include "dual/block_analysis.h"
#include "dual/graph_cg.h"

#include <string.h>

// A solve that takes more iterations than this shows that the factor is too old for the next one.
#define REFACTOR_ITERATIONS 12
// The old factor is abandoned within a solve after this many iterations.
#define ABANDON_ITERATIONS 30

typedef struct stale_solver {
    mabd_dual_graph_matrix matrix; // slots in their own order
    mabd_dual_graph_cg cg;
    void* direct; // of mabd_dual_block
    const mabd_dual_system* system;
    bool has_factor, too_old;
    size_t bytes;
} stale_solver;

static void layout(stale_solver* solver, const mabd_dual_system* system, mabd_arena* arena) {
    mabd_arena_take(arena, 1, sizeof *solver);
    mabd_dual_graph_matrix_layout(&solver->matrix, system, arena);
    mabd_dual_graph_cg_layout(&solver->cg, system, arena);
}

static size_t own_bytes(const mabd_dual_system* system) {
    stale_solver counts;
    mabd_arena arena = {0};
    layout(&counts, system, &arena);
    return arena.used;
}

static size_t with_own_bytes(const mabd_dual_system* system, size_t factor) {
    const size_t own = own_bytes(system);
    return own == SIZE_MAX || factor > SIZE_MAX - own ? SIZE_MAX : own + factor;
}

static size_t stale_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    return with_own_bytes(system, mabd_dual_block.bytes_for(allocator, system));
}

static size_t stale_bytes_from(const mabd_dual_system* system,
                               const struct mabd_dual_block_symbolic* symbolic) {
    return with_own_bytes(system, mabd_dual_block.bytes_from(system, symbolic));
}

static size_t stale_bytes(const void* object) {
    const stale_solver* solver = object;
    return solver->bytes + mabd_dual_block.bytes(solver->direct);
}

static void stale_destroy(const mabd_allocator* allocator, void* object) {
    stale_solver* solver = object;
    if (!solver) return;
    if (solver->direct) mabd_dual_block.destroy(allocator, solver->direct);
    mabd_free(allocator, solver, solver->bytes);
}

static mabd_status prepare(stale_solver* solver, const mabd_allocator* allocator,
                           const mabd_dual_system* system) {
    mabd_dual_neighbours list;
    MABD_TRY(mabd_dual_neighbours_make(allocator, system, &list));
    for (int32_t s = 0; s < system->slot_count; s++) solver->matrix.slot[s] = s;
    mabd_dual_graph_matrix_prepare(&solver->matrix, system, &list);
    mabd_dual_neighbours_free(allocator, &list);
    return MABD_OK;
}

// Create the solver without its direct one.
static mabd_status create_outside(const mabd_allocator* allocator, const mabd_dual_system* system,
                                  stale_solver** out) {
    mabd_arena arena = {.size = own_bytes(system)};
    *out = NULL;
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    stale_solver* solver = (stale_solver*)(void*)arena.memory;
    layout(solver, system, &arena);
    solver->bytes = arena.size;
    if (prepare(solver, allocator, system) != MABD_OK) {
        stale_destroy(allocator, solver);
        return MABD_ERR_MEMORY;
    }
    *out = solver;
    return MABD_OK;
}

static mabd_status stale_create_from(const mabd_allocator* allocator,
                                     const mabd_dual_system* system,
                                     struct mabd_dual_block_symbolic* symbolic, void** out) {
    stale_solver* solver;
    void* direct;
    *out = NULL;
    MABD_TRY(mabd_dual_block.create_from(allocator, system, symbolic, &direct));
    const mabd_status status = create_outside(allocator, system, &solver);
    if (status != MABD_OK) {
        mabd_dual_block.destroy(allocator, direct);
        return status;
    }
    solver->direct = direct;
    *out = solver;
    return MABD_OK;
}

static mabd_status stale_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                void** out) {
    mabd_dual_block_analysis analysis;
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    MABD_TRY(mabd_dual_block_prepare(allocator, system, &analysis));
    return stale_create_from(allocator, system, analysis.symbolic, out);
}

static void stale_restart(void* object) {
    ((stale_solver*)object)->has_factor = false;
}

static mabd_status refactor(stale_solver* solver, const mabd_dual_system* system, int32_t* bad) {
    const mabd_status status = mabd_dual_block.factor(solver->direct, system, bad);
    solver->has_factor = status == MABD_OK;
    solver->too_old = false;
    return status;
}

static mabd_status stale_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    stale_solver* solver = object;
    mabd_dual_graph_matrix_load(&solver->matrix, system);
    return solver->has_factor && !solver->too_old ? MABD_OK : refactor(solver, system, bad);
}

static void solve_with_factor(void* context, const mabd_real* r, mabd_real* z, mabd_real* s) {
    stale_solver* solver = context;
    memcpy(z, r, (size_t)solver->matrix.row_count * sizeof(mabd_real));
    mabd_dual_block.solve(solver->direct, solver->system, z);
    mabd_dual_graph_matrix_product(&solver->matrix, z, s);
}

static void stale_iterate(void* object, const mabd_dual_system* system, const mabd_dual_goal* goal,
                          const mabd_real* b, mabd_real* x, mabd_dual_report* report) {
    stale_solver* solver = object;
    const size_t bytes = (size_t)system->row_count * sizeof(mabd_real);
    mabd_dual_goal first = *goal;
    if (first.max_iterations > ABANDON_ITERATIONS) first.max_iterations = ABANDON_ITERATIONS;
    report->iterations = 0;
    solver->system = system;
    memcpy(solver->cg.b, b, bytes);
    memcpy(solver->cg.x, x, bytes);
    bool met = mabd_dual_graph_cg_run(&solver->cg, &solver->matrix, solve_with_factor, solver,
                                      &first, report);
    if (!met && refactor(solver, system, NULL) == MABD_OK) {
        memcpy(solver->cg.x, x, bytes);
        mabd_dual_graph_cg_run(&solver->cg, &solver->matrix, solve_with_factor, solver, goal,
                               report);
    } else {
        solver->too_old = report->iterations > REFACTOR_ITERATIONS;
    }
    memcpy(x, solver->cg.x, bytes);
}

const mabd_dual_ops mabd_dual_stale = {
    .name = "stale",
    .keeps_system = true,
    .shares_work = true,
    .create = stale_create,
    .create_from = stale_create_from,
    .factor = stale_factor,
    .destroy = stale_destroy,
    .bytes = stale_bytes,
    .bytes_for = stale_bytes_for,
    .bytes_from = stale_bytes_from,
    .iterate = stale_iterate,
    .restart = stale_restart,
};
