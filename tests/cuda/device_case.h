// SPDX-License-Identifier: Apache-2.0
// A random dual system (support/dual_case.h) on a device, for solvers of some of its components,
// and the solution by solvers of the CPU. D, U, the right-hand side and the list of bad slots are
// those of the whole plan. Also for programs without Criterion: a failure ends the process.
#pragma once

#include "cuda/dual_rig.h"
#include "formulation/affine/dual_select.h"

#include "formulation/affine/data.h"

#include <math.h>
#include <string.h>

static inline void device_need(bool good, const char* text) {
    if (good) return;
    fprintf(stderr, "device: %s\n", text);
    abort();
}

#define DEVICE_TRY(call) device_need((call) == MABD_OK, error.text)

/// Orders of threads and blocks to compare.
#define DEVICE_ORDERS 4
static inline const char* device_order(size_t k) {
    const char* const orders[DEVICE_ORDERS] = {"forward", "reverse", "random:1", "random:2"};
    return orders[k % DEVICE_ORDERS];
}

typedef struct device_case {
    mabd_device device;
    mabd_cuda_dual_system system;
    int32_t* bad;   // (slots) on the device
    size_t D, U, x; // reals
    size_t slots;
} device_case;

/// Indices of all components; the caller frees them.
static inline int32_t* device_components(const mabd_plan* plan) {
    int32_t* components = malloc(((size_t)plan->component_count + 1) * sizeof *components);
    device_need(components != NULL, "no memory");
    for (int32_t i = 0; i < plan->component_count; i++) components[i] = i;
    return components;
}

/// Index of the first of `count` reals that differ; -1 = none.
static inline int32_t device_first_difference(size_t count, const mabd_real* a,
                                              const mabd_real* b) {
    for (size_t i = 0; i < count; i++) {
        if (!(a[i] == b[i])) return (int32_t)i;
    }
    return -1;
}

static inline mabd_real* device_reals(size_t count) {
    mabd_real* memory = calloc(count + 1, sizeof *memory);
    device_need(memory != NULL, "no memory");
    return memory;
}

static inline mabd_real* device_right_side(const mabd_plan* plan, uint64_t seed) {
    mabd_real* b = device_reals((size_t)plan->row_count);
    for (int32_t i = 0; i < plan->row_count; i++) b[i] = (mabd_real)dual_random(&seed);
    return b;
}

/// Open a device with memory for a solver, and upload D, U of the case and b.
static inline device_case device_case_open(const dual_case* c, const mabd_real* b,
                                           dual_rig_layout* layout, void* solver) {
    const mabd_plan* plan = c->plan;
    const dual_rig rig = dual_rig_open(plan, layout, solver);
    const device_case d = {.device = rig.device,
                           .system = rig.system,
                           .bad = rig.bad,
                           .D = plan->slot_block[plan->slot_count],
                           .U = plan->edge_block[plan->edge_count],
                           .x = (size_t)plan->row_count,
                           .slots = (size_t)plan->slot_count};
    dual_rig_put(&rig, c->D, d.D * sizeof *c->D, d.system.D);
    dual_rig_put(&rig, c->U, d.U * sizeof *c->U, d.system.U);
    dual_rig_put(&rig, b, d.x * sizeof *b, d.system.lambda);
    return d;
}

/// Download `count` reals; the caller frees them. Waits.
static inline mabd_real* device_fetch(const device_case* d, const mabd_real* from, size_t count) {
    const dual_rig rig = {.device = d->device};
    mabd_real* to = device_reals(count);
    dual_rig_get(&rig, from, count * sizeof *to, to);
    return to;
}

/// The first bad slot among those of a solver, which writes to no other; -1 = none.
static inline int32_t device_first_bad(const device_case* d, const bool* among) {
    int32_t *bad = malloc((d->slots + 1) * sizeof *bad), first = -1;
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(device_download)(&d->device, d->bad, d->slots * sizeof *bad, bad, &error));
    DEVICE_TRY(MABD_CUDA(device_wait)(&d->device, &error));
    for (int32_t s = (int32_t)d->slots - 1; s >= 0; s--) {
        if (among && !among[s]) continue;
        device_need(bad[s] == 0 || bad[s] == 1, "a slot that no solver has written");
        if (bad[s]) first = s;
    }
    free(bad);
    return first;
}

/// Solve one component by a solver of the CPU. x: right-hand side in, solution out. Returns the
/// slot of the plan whose pivot failed, -1 = none.
static inline int32_t device_reference(const dual_case* c, int32_t component,
                                       const mabd_dual_ops* ops, mabd_real* x) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_model model = {.plan = c->plan};
    mabd_affine_sim sim = {.model = &model, .D = c->system.D, .U = c->system.U};
    const mabd_dual_system system = mabd_affine_dual_system(&sim, component);
    const int32_t first = c->plan->components[component].slot_first;
    int32_t bad = -1;
    void* solver = NULL;
    const size_t D = c->plan->slot_block[c->plan->slot_count],
                 U = c->plan->edge_block[c->plan->edge_count];
    memcpy(c->system.D, c->D, D * sizeof *c->D);
    memcpy(c->system.U, c->U, U * sizeof *c->U);
    device_need(ops->create(&allocator, &system, &solver) == MABD_OK, "no solver");
    if (ops->factor(solver, &system, &bad) == MABD_OK) {
        ops->solve(solver, &system, x + c->plan->slot_row[first]);
    } else {
        bad += first;
    }
    ops->destroy(&allocator, solver);
    return bad;
}

/// |b - K x| / (|K| |x| + |b|) by largest entries and row sums, over the slots that `kept` marks,
/// with K between these only. Null = all slots.
static inline double device_backward_error(const dual_case* c, const bool* kept, const mabd_real* b,
                                           const mabd_real* x) {
    const mabd_plan* plan = c->plan;
    double *rest = calloc((size_t)plan->row_count + 1, sizeof *rest), *sum;
    double largest = 0, norm = 0, size_x = 0, size_b = 0;
    sum = calloc((size_t)plan->row_count + 1, sizeof *sum);
    device_need(rest && sum, "no memory");
#define ADD(row, column, value)                                                                    \
    (rest[row] += (double)(value) * (double)x[column], sum[row] += fabs((double)(value)))
    for (int32_t s = 0; s < plan->slot_count; s++) {
        const int32_t w = plan->slot_width[s], row = plan->slot_row[s];
        const mabd_real* D = c->D + plan->slot_block[s];
        if (kept && !kept[s]) continue;
        for (int32_t k = 0; k < w * w; k++) ADD(row + k / w, row + k % w, D[k]);
    }
    for (int32_t e = 0; e < plan->edge_count; e++) {
        const int32_t s = plan->edge_from[e], t = plan->edge_to[e], v = plan->slot_width[t];
        const mabd_real* U = c->U + plan->edge_block[e];
        if (kept && (!kept[s] || !kept[t])) continue;
        for (int32_t k = 0; k < plan->slot_width[s] * v; k++) {
            ADD(plan->slot_row[s] + k / v, plan->slot_row[t] + k % v, U[k]);
            ADD(plan->slot_row[t] + k % v, plan->slot_row[s] + k / v, U[k]);
        }
    }
#undef ADD
    for (int32_t s = 0; s < plan->slot_count; s++) {
        if (kept && !kept[s]) continue;
        for (int32_t i = plan->slot_row[s]; i < plan->slot_row[s + 1]; i++) {
            const double off = fabs((double)b[i] - rest[i]);
            largest = isnan(off) ? INFINITY : fmax(largest, off);
            norm = fmax(norm, sum[i]), size_x = fmax(size_x, fabs((double)x[i]));
            size_b = fmax(size_b, fabs((double)b[i]));
        }
    }
    free(rest), free(sum);
    return largest / (norm * size_x + size_b);
}
