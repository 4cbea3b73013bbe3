// SPDX-License-Identifier: Apache-2.0
#include "cuda/dual/solvers.h"

#include "cuda/dual/chains.h"
#include "cuda/dual/levels.h"
#include "cuda/dual/loops.h"
#include "cuda/dual/nets.h"
#include "cuda/dual/segments.h"

extern "C" {
#include "base/error.h"
}

// The solver of each place, null = none on the device; in the order of mabd_cuda_place.
static const mabd_cuda_dual_ops* const tables[MABD_CUDA_PLACES] = {
    NULL,
    &MABD_CUDA(dual_levels),
    &MABD_CUDA(dual_segments),
    &MABD_CUDA(dual_batch),
    &MABD_CUDA(dual_loops),
    &MABD_CUDA(dual_gs),
    &MABD_CUDA(dual_pcg),
    NULL,
};

bool MABD_CUDA(place_iterates)(mabd_cuda_place place) {
    return tables[place] && tables[place]->iterative;
}

// List the components of one place; returns how many.
static int32_t list_place(const mabd_cuda_solvers* s, int32_t count, int place, int32_t* list) {
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) {
        if ((int)s->places[i] == place) list[n++] = i;
    }
    return n;
}

static mabd_status plan_places(const mabd_plan* plan, const mabd_allocator* allocator,
                               int32_t* list, mabd_cuda_solvers* s, mabd_error* error) {
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        const mabd_cuda_dual_ops* ops = tables[place];
        const int32_t count = list_place(s, plan->component_count, place, list);
        s->counts[place] = count;
        if (!ops || count == 0) continue;
        s->solvers[place] = mabd_alloc(allocator, ops->size);
        if (!s->solvers[place]) return mabd_fail_memory(error, "creating dual solvers");
        MABD_TRY(ops->plan(plan, count, list, allocator, s->solvers[place], error));
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_plan)(const mabd_plan* plan, mabd_dual dual, const bool* in_place,
                                    const mabd_allocator* allocator, mabd_cuda_solvers* s,
                                    mabd_error* error) {
    const size_t count = (size_t)plan->component_count, bytes = count * sizeof(int32_t);
    s->place_bytes = count * sizeof *s->places;
    s->places = (mabd_cuda_place*)mabd_alloc(allocator, s->place_bytes);
    int32_t* list = (int32_t*)mabd_alloc(allocator, bytes);
    mabd_status status = s->places && list ? MABD_CUDA(select_places)(plan, dual, in_place,
                                                                      allocator, s->places, error)
                                           : mabd_fail_memory(error, "listing components");
    if (status == MABD_OK) status = plan_places(plan, allocator, list, s, error);
    mabd_free(allocator, list, bytes);
    return status;
}

void MABD_CUDA(solvers_layout)(mabd_cuda_solvers* s, mabd_arena* arena) {
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        if (s->solvers[place]) tables[place]->layout(s->solvers[place], arena);
    }
}

mabd_status MABD_CUDA(solvers_upload)(mabd_cuda_solvers* s, const mabd_device* device,
                                      mabd_error* error) {
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        if (!s->solvers[place]) continue;
        MABD_TRY(tables[place]->upload(s->solvers[place], device, error));
    }
    return MABD_OK;
}

void MABD_CUDA(solvers_release)(const mabd_allocator* allocator, mabd_cuda_solvers* s) {
    const mabd_cuda_solvers none = {};
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        if (!s->solvers[place]) continue;
        tables[place]->release(allocator, s->solvers[place]);
        mabd_free(allocator, s->solvers[place], tables[place]->size);
    }
    mabd_free(allocator, s->places, s->place_bytes);
    *s = none;
}

mabd_status MABD_CUDA(solvers_factor)(const mabd_cuda_solvers* s, const mabd_device* device,
                                      const mabd_cuda_dual_system* system, int32_t* bad,
                                      mabd_error* error) {
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        if (!s->solvers[place]) continue;
        MABD_TRY(tables[place]->factor(s->solvers[place], device, system, bad, error));
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_solve)(const mabd_cuda_solvers* s, const mabd_device* device,
                                     const mabd_cuda_dual_system* system,
                                     const mabd_dual_goal* goal, mabd_dual_report* report,
                                     mabd_error* error) {
    const mabd_dual_report none = {0, 0};
    *report = none; // one solver at most is iterative: Gauss-Seidel or conjugate gradients
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        if (!s->solvers[place]) continue;
        MABD_TRY(tables[place]->solve(s->solvers[place], device, system, goal, report, error));
    }
    return MABD_OK;
}
