// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients preconditioned by one symmetric multi-directional sweep of block Gauss-Seidel
// (graph_sweep.c). Memory and the cost of an iteration grow linearly with the graph; one iteration
// carries forces along a line of any length.

#include "dual/graph_cg.h"
#include "dual/graph_sweep.h"

typedef struct pcg_solver {
    mabd_dual_graph_sweep sweep;
    mabd_dual_graph_cg cg;
    size_t bytes;
} pcg_solver;

static void layout(pcg_solver* solver, const mabd_dual_system* system, mabd_arena* arena) {
    mabd_arena_take(arena, 1, sizeof *solver);
    mabd_dual_graph_sweep_layout(&solver->sweep, system, arena);
    mabd_dual_graph_cg_layout(&solver->cg, system, arena);
}

static size_t pcg_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    pcg_solver counts;
    mabd_arena arena = {0};
    (void)allocator;
    layout(&counts, system, &arena);
    return arena.used;
}

static size_t pcg_bytes(const void* object) {
    return ((const pcg_solver*)object)->bytes;
}

static void pcg_destroy(const mabd_allocator* allocator, void* object) {
    if (object) mabd_free(allocator, object, pcg_bytes(object));
}

static mabd_status pcg_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                              void** out) {
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    mabd_arena arena = {.size = pcg_bytes_for(allocator, system)};
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    pcg_solver* solver = (pcg_solver*)(void*)arena.memory;
    layout(solver, system, &arena);
    solver->bytes = arena.size;
    const mabd_status status = mabd_dual_graph_sweep_prepare(&solver->sweep, allocator, system);
    if (status != MABD_OK) {
        pcg_destroy(allocator, solver);
        return status;
    }
    *out = solver;
    return MABD_OK;
}

static mabd_status pcg_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    return mabd_dual_graph_sweep_factor(&((pcg_solver*)object)->sweep, system, bad);
}

static void sweep(void* context, const mabd_real* r, mabd_real* z, mabd_real* s) {
    mabd_dual_graph_sweep_apply(context, r, z);
    mabd_dual_graph_sweep_product(context, r, s);
}

static void pcg_iterate(void* object, const mabd_dual_system* system, const mabd_dual_goal* goal,
                        const mabd_real* b, mabd_real* x, mabd_dual_report* report) {
    pcg_solver* solver = object;
    const mabd_dual_graph_matrix* m = &solver->sweep.matrix;
    report->iterations = 0;
    mabd_dual_graph_matrix_gather(m, system, b, solver->cg.b);
    mabd_dual_graph_matrix_gather(m, system, x, solver->cg.x);
    mabd_dual_graph_cg_run(&solver->cg, m, sweep, &solver->sweep, goal, report);
    mabd_dual_graph_matrix_scatter(m, system, solver->cg.x, x);
}

const mabd_dual_ops mabd_dual_pcg = {
    .name = "pcg",
    .keeps_system = true,
    .create = pcg_create,
    .factor = pcg_factor,
    .destroy = pcg_destroy,
    .bytes = pcg_bytes,
    .bytes_for = pcg_bytes_for,
    .iterate = pcg_iterate,
};
