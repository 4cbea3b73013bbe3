// SPDX-License-Identifier: Apache-2.0
// The dual system of random graphs (support/dual_case.h) on a device, for the solvers of
// cuda/dual/.
#pragma once

#include "cuda/dual/cuda_dual.h"

#include "support/dual_case.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct dual_rig {
    mabd_device device;
    mabd_cuda_dual_system system;
    int32_t* bad; // (slots) on the device
    const mabd_plan* plan;
} dual_rig;

/// Take the device memory of a solver from the arena; called twice, first to count.
typedef void dual_rig_layout(void* solver, mabd_arena* arena);

static inline void dual_rig_must(mabd_status status, const mabd_error* error) {
    if (status == MABD_OK) return;
    fprintf(stderr, "dual_rig: %s\n", error->text);
    abort();
}

static inline size_t dual_rig_rows(const dual_rig* rig) {
    return (size_t)rig->plan->slot_row[rig->plan->slot_count];
}

static inline void dual_rig_lay(dual_rig* rig, dual_rig_layout* layout, void* solver,
                                mabd_arena* arena) {
    const mabd_plan* plan = rig->plan;
    const size_t real = sizeof(mabd_real);
    layout(solver, arena);
    rig->system.D = (mabd_real*)mabd_arena_take(arena, plan->slot_block[plan->slot_count], real);
    rig->system.U = (mabd_real*)mabd_arena_take(arena, plan->edge_block[plan->edge_count], real);
    rig->system.lambda = (mabd_real*)mabd_arena_take(arena, dual_rig_rows(rig), real);
    rig->system.guess = (mabd_real*)mabd_arena_take(arena, dual_rig_rows(rig), real);
    rig->bad = (int32_t*)mabd_arena_take(arena, (size_t)plan->slot_count, sizeof *rig->bad);
}

/// A device with memory for the solver and the system.
static inline dual_rig dual_rig_open(const mabd_plan* plan, dual_rig_layout* layout, void* solver) {
    dual_rig rig = {.plan = plan};
    mabd_error error = {0};
    mabd_arena arena = {0};
    dual_rig_must(MABD_CUDA(device_open)(&rig.device, &error), &error);
    dual_rig_lay(&rig, layout, solver, &arena);
    dual_rig_must(MABD_CUDA(device_reserve)(&rig.device, arena.used, &error), &error);
    arena = (mabd_arena){rig.device.memory, arena.used, 0};
    dual_rig_lay(&rig, layout, solver, &arena);
    return rig;
}

static inline void dual_rig_put(const dual_rig* rig, const void* from, size_t size, void* to) {
    mabd_error error = {0};
    dual_rig_must(MABD_CUDA(device_upload)(&rig->device, from, size, to, &error), &error);
    dual_rig_must(MABD_CUDA(device_wait)(&rig->device, &error), &error);
}

static inline void dual_rig_get(const dual_rig* rig, const void* from, size_t size, void* to) {
    mabd_error error = {0};
    dual_rig_must(MABD_CUDA(device_download)(&rig->device, from, size, to, &error), &error);
    dual_rig_must(MABD_CUDA(device_wait)(&rig->device, &error), &error);
}

/// The matrix of a case, its right-hand side and its x as the first guess.
static inline void dual_rig_load(const dual_rig* rig, const dual_case* c) {
    const mabd_plan* plan = rig->plan;
    const size_t rows = (size_t)c->system.row_count * sizeof(mabd_real);
    dual_rig_put(rig, c->system.D, plan->slot_block[plan->slot_count] * sizeof(mabd_real),
                 rig->system.D);
    dual_rig_put(rig, c->system.U, plan->edge_block[plan->edge_count] * sizeof(mabd_real),
                 rig->system.U);
    dual_rig_put(rig, c->b, rows, rig->system.lambda + c->system.row_offset);
    dual_rig_put(rig, c->x, rows, rig->system.guess + c->system.row_offset);
}

/// The solution to c->x.
static inline void dual_rig_fetch(const dual_rig* rig, dual_case* c) {
    dual_rig_get(rig, rig->system.lambda + c->system.row_offset,
                 (size_t)c->system.row_count * sizeof(mabd_real), c->x);
}

static inline void dual_rig_close(dual_rig* rig) {
    MABD_CUDA(device_close)(&rig->device);
}
