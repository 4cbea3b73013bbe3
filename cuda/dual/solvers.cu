// SPDX-License-Identifier: Apache-2.0
#include "cuda/dual/solvers.h"

extern "C" {
#include "base/error.h"
#include "formulation/affine/report.h"
}

// ---- creation ------------------------------------------------------------------------------------------

// The components of one place; returns how many.
static int32_t list_place(const mabd_cuda_solvers* s, int32_t count, mabd_cuda_place place,
                          int32_t* list) {
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) {
        if (s->places[i] == place) list[n++] = i;
    }
    return n;
}

static mabd_status plan_solvers(const mabd_plan* plan, const mabd_allocator* allocator,
                                int32_t* list, mabd_cuda_solvers* s, mabd_error* error) {
    const int32_t all = plan->component_count;
    int32_t count;
#define PLAN(place, call)                                                                          \
    count = s->counts[place] = list_place(s, all, place, list);                                    \
    if (count > 0) MABD_TRY(call)
    PLAN(MABD_CUDA_LEVELS,
         MABD_CUDA(levels_plan)(plan, count, list, NULL, allocator, &s->levels, error));
    PLAN(MABD_CUDA_SEGMENTS,
         MABD_CUDA(segments_plan)(plan, count, list, allocator, &s->segments, error));
    PLAN(MABD_CUDA_BATCH, MABD_CUDA(batch_plan)(plan, count, list, allocator, &s->batch, error));
    PLAN(MABD_CUDA_LOOPS, MABD_CUDA(loops_plan)(plan, count, list, allocator, &s->loops, error));
    PLAN(MABD_CUDA_NET, MABD_CUDA(nets_plan)(plan, count, list, allocator, &s->nets, error));
#undef PLAN
    s->counts[MABD_CUDA_HOST] = list_place(s, all, MABD_CUDA_HOST, list);
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_plan)(const mabd_affine_sim* host, const mabd_allocator* allocator,
                                    mabd_cuda_solvers* s, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const size_t count = (size_t)plan->component_count, bytes = count * sizeof(int32_t);
    s->sweeps_only = host->dual == MABD_DUAL_GS;
    s->place_bytes = count * sizeof *s->places;
    s->places = (mabd_cuda_place*)mabd_alloc(allocator, s->place_bytes);
    int32_t* list = (int32_t*)mabd_alloc(allocator, bytes);
    mabd_status status = s->places && list ? MABD_CUDA(sort_components)(plan, host->dual, allocator,
                                                                        s->places, error)
                                           : mabd_fail_memory(error, "listing components");
    if (status == MABD_OK) status = plan_solvers(plan, allocator, list, s, error);
    mabd_free(allocator, list, bytes);
    return status;
}

/// X(place, its solver), of those that factor and solve; and of all.
#define DIRECT_SOLVERS(X)                                                                          \
    X(LEVELS, levels)                                                                              \
    X(SEGMENTS, segments)                                                                          \
    X(BATCH, batch)                                                                                \
    X(LOOPS, loops)
#define SOLVERS(X)                                                                                 \
    DIRECT_SOLVERS(X)                                                                              \
    X(NET, nets)

void MABD_CUDA(solvers_layout)(mabd_cuda_solvers* s, mabd_arena* arena) {
#define X(place, name)                                                                             \
    if (s->counts[MABD_CUDA_##place] > 0) MABD_CUDA(name##_layout)(&s->name, arena);
    SOLVERS(X)
#undef X
}

mabd_status MABD_CUDA(solvers_upload)(mabd_cuda_solvers* s, const mabd_device* device,
                                      mabd_error* error) {
#define X(place, name)                                                                             \
    if (s->counts[MABD_CUDA_##place] > 0) {                                                        \
        MABD_TRY(MABD_CUDA(name##_upload)(&s->name, device, error));                               \
    }
    SOLVERS(X)
#undef X
    return MABD_OK;
}

void MABD_CUDA(solvers_release)(const mabd_allocator* allocator, mabd_cuda_solvers* s) {
#define X(place, name)                                                                             \
    if (s->counts[MABD_CUDA_##place] > 0) MABD_CUDA(name##_release)(allocator, &s->name);
    SOLVERS(X)
#undef X
    mabd_free(allocator, s->places, s->place_bytes);
}

bool MABD_CUDA(solvers_may_iterate)(const mabd_affine_sim* host) {
    const mabd_plan* plan = host->model->plan;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_component kind = plan->components[i].kind;
        if (kind == MABD_COMPONENT_GRAPH || kind == MABD_COMPONENT_LOOPS) return true;
    }
    return mabd_affine_may_iterate(host);
}

bool MABD_CUDA(solvers_iterate)(const mabd_affine_sim* host, const mabd_cuda_solvers* s) {
    for (int32_t i = 0; i < host->model->plan->component_count; i++) {
        if (s->places[i] == MABD_CUDA_NET) return true;
        if (s->places[i] == MABD_CUDA_HOST && host->duals[i]->iterate) return true;
    }
    return false;
}

// ---- the host's components -----------------------------------------------------------------------------

typedef enum direction { TO_HOST, TO_DEVICE } direction;

static mabd_status copy_reals(const mabd_device* device, direction way, size_t count,
                              mabd_real* host, mabd_real* there, mabd_error* error) {
    const size_t size = count * sizeof *host;
    return way == TO_HOST ? MABD_CUDA(device_download)(device, there, size, host, error)
                          : MABD_CUDA(device_upload)(device, host, size, there, error);
}

static mabd_status copy_rows(const mabd_device* device, direction way, int32_t component,
                             mabd_affine_sim* host, const mabd_affine_sim* view,
                             mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    const int32_t first = plan->slot_row[c->slot_first],
                  last = plan->slot_row[c->slot_first + c->slot_count];
    return copy_reals(device, way, (size_t)(last - first), host->lambda + first,
                      view->lambda + first, error);
}

static mabd_status fetch_component(const mabd_device* device, int32_t component,
                                   mabd_affine_sim* host, const mabd_affine_sim* view,
                                   mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    const size_t D = plan->slot_block[c->slot_first],
                 D_last = plan->slot_block[c->slot_first + c->slot_count],
                 U = plan->edge_block[c->edge_first],
                 U_last = plan->edge_block[c->edge_first + c->edge_count];
    MABD_TRY(copy_rows(device, TO_HOST, component, host, view, error));
    MABD_TRY(copy_reals(device, TO_HOST, D_last - D, host->D + D, view->D + D, error));
    return copy_reals(device, TO_HOST, U_last - U, host->U + U, view->U + U, error);
}

static mabd_status solve_on_host(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                 mabd_affine_sim* host, const mabd_affine_sim* view,
                                 const mabd_allocator* allocator, int32_t* joint,
                                 mabd_error* error) {
    const int32_t count = host->model->plan->component_count;
    if (solvers->counts[MABD_CUDA_HOST] == 0) return MABD_OK;
    for (int32_t i = 0; i < count; i++) {
        if (solvers->places[i] == MABD_CUDA_HOST)
            MABD_TRY(fetch_component(device, i, host, view, error));
    }
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    for (int32_t i = 0; i < count; i++) {
        if (solvers->places[i] != MABD_CUDA_HOST) continue;
        if (mabd_affine_make_solver(host, allocator, i) != MABD_OK) {
            return mabd_fail_memory(error, "solving a component on the host");
        }
        MABD_TRY(mabd_affine_solve_component(host, i, joint));
    }
    return MABD_OK;
}

// Multipliers of the host's components; whatever a solver of the device has said of them does not count.
static mabd_status put_host_rows(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                 mabd_affine_sim* host, const mabd_affine_sim* view, int32_t* bad,
                                 mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    for (int32_t i = 0; solvers->counts[MABD_CUDA_HOST] > 0 && i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (solvers->places[i] != MABD_CUDA_HOST) continue;
        MABD_TRY(copy_rows(device, TO_DEVICE, i, host, view, error));
        MABD_CUDA_TRY(cudaMemsetAsync(bad + c->slot_first, 0, (size_t)c->slot_count * sizeof *bad,
                                      device->stream),
                      "clearing marks");
    }
    return MABD_OK;
}

bool MABD_CUDA(solvers_soften)(mabd_cuda_solvers* solvers, const mabd_affine_sim* host,
                               int32_t slot) {
    const mabd_plan* plan = host->model->plan;
    int32_t i = 0;
    while (slot >= plan->components[i].slot_first + plan->components[i].slot_count) i++;
    const mabd_dual_ops* ops = host->duals[i];
    if (solvers->places[i] == MABD_CUDA_HOST || !ops || !ops->keeps_system) return false;
    solvers->places[i] = MABD_CUDA_HOST; // its solver here goes on, and is not listened to
    solvers->counts[MABD_CUDA_HOST]++;
    return true;
}

// ---- all together --------------------------------------------------------------------------------------

mabd_status MABD_CUDA(solvers_restart)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                       mabd_affine_sim* host, const mabd_affine_sim* view,
                                       mabd_error* error) {
    const size_t guess = host->sizes.guess;
    if (guess == 0) return MABD_OK;
    MABD_CUDA_TRY(cudaMemcpyAsync(view->guess, view->lambda_last, guess * sizeof(mabd_real),
                                  cudaMemcpyDeviceToDevice, device->stream),
                  "starting from the last multipliers");
    if (solvers->counts[MABD_CUDA_HOST] == 0) return MABD_OK;
    MABD_TRY(copy_reals(device, TO_HOST, guess, host->lambda_last, view->lambda_last, error));
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    mabd_affine_restart(host);
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_factor)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_affine_sim* host, const mabd_affine_sim* view,
                                      const mabd_allocator* allocator, int32_t* bad, int32_t* joint,
                                      mabd_error* error) {
    host->dual_report.iterations = 0, host->dual_report.residual = 0;
    MABD_TRY(solve_on_host(solvers, device, host, view, allocator, joint, error));
#define X(place, name)                                                                             \
    if (solvers->counts[MABD_CUDA_##place] > 0) {                                                  \
        MABD_TRY(MABD_CUDA(name##_factor)(&solvers->name, device, view, bad, error));              \
    }
    SOLVERS(X)
#undef X
    return MABD_OK;
}

static mabd_status iterate(mabd_cuda_solvers* solvers, const mabd_device* device,
                           mabd_affine_sim* host, const mabd_affine_sim* view, mabd_error* error) {
    const mabd_dual_goal goal = mabd_affine_dual_goal(host->gap_tolerance);
    mabd_dual_report report = {0, 0};
    MABD_TRY(MABD_CUDA(nets_iterate)(&solvers->nets, device, view, &goal, solvers->sweeps_only,
                                     &report, error));
    mabd_dual_report_add(&host->dual_report, &report);
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_solve)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                     mabd_affine_sim* host, const mabd_affine_sim* view,
                                     int32_t* bad, mabd_error* error) {
#define X(place, name)                                                                             \
    if (solvers->counts[MABD_CUDA_##place] > 0) {                                                  \
        MABD_TRY(MABD_CUDA(name##_solve)(&solvers->name, device, view, error));                    \
    }
    DIRECT_SOLVERS(X)
#undef X
    if (solvers->counts[MABD_CUDA_NET] > 0) MABD_TRY(iterate(solvers, device, host, view, error));
    return put_host_rows(solvers, device, host, view, bad, error);
}
