// SPDX-License-Identifier: Apache-2.0
// Derivatives of states by all parameters, forward along the run.

#include "gradient/gradient_run.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/// Memory of a run in forward mode.
typedef struct forward_run {
    mabd_gradient* g;
    void* work;
    mabd_real* states; // (parameters x bodies x 12) derivatives of a state
    char* records[3];  // of states k, k - 1, k - 2, by k modulo 3
    void* memory;
    size_t memory_size;
} forward_run;

static void lay_out(forward_run* f, mabd_arena* arena) {
    const mabd_gradient* g = f->g;
    const size_t reals = 12 * (size_t)g->source->body_count;
    f->states = mabd_arena_take(arena, reals * (size_t)g->def.parameter_count, sizeof *f->states);
    for (int i = 0; i < 3; i++) f->records[i] = mabd_arena_take(arena, 1, g->record_size);
}

// Write the derivatives of the state into place `at` of ds_dp.
static void write_state(const forward_run* f, size_t at, mabd_real* ds_dp) {
    const size_t reals = 12 * (size_t)f->g->source->body_count;
    const size_t count = (size_t)f->g->def.parameter_count;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < reals; j++) {
            ds_dp[(at * reals + j) * count + i] = f->states[i * reals + j];
        }
    }
}

static mabd_status run(forward_run* f, int64_t every, mabd_real* ds_dp, mabd_error* error) {
    mabd_gradient* g = f->g;
    const mabd_formulation_ops* ops = g->sim->ops;
    const size_t reals = 12 * (size_t)g->source->body_count;
    for (int32_t i = 0; i < g->def.parameter_count; i++) {
        mabd_variant_start_change(&g->variant, i, f->states + (size_t)i * reals);
    }
    for (int64_t k = 0; k <= g->def.steps; k++) {
        if (k > 0) MABD_TRY(mabd_gradient_advance(g, k, error));
        ops->tape_write(g->sim->self, f->work, f->records[k % 3]);
        const bool wanted = k % every == 0;
        const mabd_tape_step step = {f->records[k % 3], k > 0 ? f->records[(k + 2) % 3] : NULL,
                                     k > 1 ? f->records[(k + 1) % 3] : NULL, k,
                                     k > 0 ? (mabd_real)(k - 1) * g->sim->def.h : 0};
        MABD_TRY(ops->forward_step(g->sim->self, f->work, &step, wanted ? f->states : NULL, error));
        if (wanted) write_state(f, (size_t)(k / every), ds_dp);
    }
    return MABD_OK;
}

mabd_status mabd_gradient_forward(mabd_gradient* g, const mabd_real* p, int64_t every,
                                  mabd_real* ds_dp, mabd_error* error) {
    if (!g || !p || !ds_dp || every < 1) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "gradient, p and ds_dp must not be null, every at least 1");
    }
    forward_run f = {.g = g};
    mabd_arena arena = {0};
    const mabd_gradient_setup setup = {g->def.parameter_count, g->parameters, g->values, true,
                                       false};
    MABD_TRY(mabd_gradient_begin(g, p, error));
    lay_out(&f, &arena);
    if (mabd_arena_allocate(&g->allocator, &arena) != MABD_OK) {
        return mabd_fail_memory(error, "derivatives of states");
    }
    lay_out(&f, &arena);
    f.memory = arena.memory, f.memory_size = arena.size;
    mabd_status status =
        g->sim->ops->gradient_open(g->sim->self, &setup, &g->allocator, &f.work, error);
    if (status == MABD_OK) status = run(&f, every, ds_dp, error);
    if (f.work) g->sim->ops->gradient_close(f.work, &g->allocator);
    mabd_free(&g->allocator, f.memory, f.memory_size);
    return status;
}
