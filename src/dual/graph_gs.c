// SPDX-License-Identifier: Apache-2.0
// Multi-directional block Gauss-Seidel [MABD 5.5]: x <- x + M^-1 (b - K x), one sweep over all
// lines of the graph forward and backward (graph_sweep.c). The error falls in the norm of K with
// every sweep, faster the weaker the lines are coupled; it is the reference for conjugate
// gradients.

#include "dual/graph_sweep.h"

#include <math.h>

typedef struct gs_solver {
    mabd_dual_graph_sweep sweep;
    mabd_real *b, *x, *r, *z; // (row_count)
    size_t bytes;
} gs_solver;

static void layout(gs_solver* solver, const mabd_dual_system* system, mabd_arena* arena) {
    const size_t rows = (size_t)system->row_count;
    mabd_arena_take(arena, 1, sizeof *solver);
    mabd_dual_graph_sweep_layout(&solver->sweep, system, arena);
    solver->b = mabd_arena_take(arena, rows, sizeof(mabd_real));
    solver->x = mabd_arena_take(arena, rows, sizeof(mabd_real));
    solver->r = mabd_arena_take(arena, rows, sizeof(mabd_real));
    solver->z = mabd_arena_take(arena, rows, sizeof(mabd_real));
}

static size_t gs_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    gs_solver counts;
    mabd_arena arena = {0};
    (void)allocator;
    layout(&counts, system, &arena);
    return arena.used;
}

static size_t gs_bytes(const void* object) {
    return ((const gs_solver*)object)->bytes;
}

static void gs_destroy(const mabd_allocator* allocator, void* object) {
    if (object) mabd_free(allocator, object, gs_bytes(object));
}

static mabd_status gs_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                             void** out) {
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    mabd_arena arena = {.size = gs_bytes_for(allocator, system)};
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    gs_solver* solver = (gs_solver*)(void*)arena.memory;
    layout(solver, system, &arena);
    solver->bytes = arena.size;
    const mabd_status status = mabd_dual_graph_sweep_prepare(&solver->sweep, allocator, system);
    if (status != MABD_OK) {
        gs_destroy(allocator, solver);
        return status;
    }
    *out = solver;
    return MABD_OK;
}

static mabd_status gs_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    return mabd_dual_graph_sweep_factor(&((gs_solver*)object)->sweep, system, bad);
}

static void gs_iterate(void* object, const mabd_dual_system* system, const mabd_dual_goal* goal,
                       const mabd_real* b, mabd_real* x, mabd_dual_report* report) {
    gs_solver* solver = object;
    const mabd_dual_graph_matrix* m = &solver->sweep.matrix;
    mabd_dual_graph_matrix_gather(m, system, b, solver->b);
    mabd_dual_graph_matrix_gather(m, system, x, solver->x);
    for (report->iterations = 0;; report->iterations++) {
        report->residual = mabd_dual_graph_matrix_residual(m, solver->b, solver->x, solver->r);
        if (report->residual <= goal->tolerance || report->iterations >= goal->max_iterations ||
            !isfinite(report->residual)) {
            break;
        }
        mabd_dual_graph_sweep_apply(&solver->sweep, solver->r, solver->z);
        for (int32_t k = 0; k < m->row_count; k++) solver->x[k] += solver->z[k];
    }
    mabd_dual_graph_matrix_scatter(m, system, solver->x, x);
}

const mabd_dual_ops mabd_dual_gs = {
    .name = "gs",
    .keeps_system = true,
    .create = gs_create,
    .factor = gs_factor,
    .destroy = gs_destroy,
    .bytes = gs_bytes,
    .bytes_for = gs_bytes_for,
    .iterate = gs_iterate,
};
