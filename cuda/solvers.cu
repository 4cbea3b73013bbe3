// SPDX-License-Identifier: Apache-2.0
#include "solvers.h"

extern "C" {
#include "base/error.h"
}

// ---- creation ------------------------------------------------------------------------------------------

mabd_status MABD_CUDA(solvers_plan)(const mabd_cpu_sim* host, const mabd_allocator* allocator,
                                    mabd_cuda_solvers* solvers, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const size_t count = (size_t)plan->component_count;
    solvers->host_bytes = count * sizeof *solvers->on_host;
    solvers->on_host = (bool*)mabd_alloc(allocator, solvers->host_bytes);
    int32_t* list = (int32_t*)mabd_alloc(allocator, count * sizeof *list);
    mabd_status status = MABD_ERR_MEMORY;
    if (solvers->on_host && list) {
        for (int32_t i = 0; i < plan->component_count; i++) list[i] = i;
        status = MABD_CUDA(levels_plan)(plan, plan->component_count, list, NULL, allocator,
                                        &solvers->levels, error);
    }
    mabd_free(allocator, list, count * sizeof *list);
    return status == MABD_ERR_MEMORY ? mabd_fail_memory(error, "listing components") : status;
}

void MABD_CUDA(solvers_layout)(mabd_cuda_solvers* solvers, mabd_arena* arena) {
    MABD_CUDA(levels_layout)(&solvers->levels, arena);
}

mabd_status MABD_CUDA(solvers_upload)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_error* error) {
    return MABD_CUDA(levels_upload)(&solvers->levels, device, error);
}

void MABD_CUDA(solvers_release)(const mabd_allocator* allocator, mabd_cuda_solvers* solvers) {
    MABD_CUDA(levels_release)(allocator, &solvers->levels);
    mabd_free(allocator, solvers->on_host, solvers->host_bytes);
}

bool MABD_CUDA(solvers_may_iterate)(const mabd_cpu_sim* host) {
    return mabd_cpu_may_iterate(host);
}

bool MABD_CUDA(solvers_iterate)(const mabd_cpu_sim* host, const mabd_cuda_solvers* solvers) {
    for (int32_t i = 0; i < host->model->plan->component_count; i++) {
        if (solvers->on_host[i] && host->duals[i] && host->duals[i]->iterate) return true;
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
                             mabd_cpu_sim* host, const mabd_cpu_sim* view, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    const int32_t first = plan->slot_row[c->slot_first],
                  last = plan->slot_row[c->slot_first + c->slot_count];
    return copy_reals(device, way, (size_t)(last - first), host->lambda + first,
                      view->lambda + first, error);
}

static mabd_status fetch_component(const mabd_device* device, int32_t component, mabd_cpu_sim* host,
                                   const mabd_cpu_sim* view, mabd_error* error) {
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
                                 mabd_cpu_sim* host, const mabd_cpu_sim* view,
                                 const mabd_allocator* allocator, int32_t* joint,
                                 mabd_error* error) {
    const int32_t count = host->model->plan->component_count;
    if (solvers->host_count == 0) return MABD_OK;
    for (int32_t i = 0; i < count; i++) {
        if (solvers->on_host[i]) MABD_TRY(fetch_component(device, i, host, view, error));
    }
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    for (int32_t i = 0; i < count; i++) {
        if (!solvers->on_host[i]) continue;
        if (mabd_cpu_make_solver(host, allocator, i) != MABD_OK) {
            return mabd_fail_memory(error, "solving a component on the host");
        }
        MABD_TRY(mabd_cpu_solve_component(host, i, joint));
    }
    return MABD_OK;
}

// Multipliers of the host's components; whatever a solver of the device has said of them does not count.
static mabd_status put_host_rows(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                 mabd_cpu_sim* host, const mabd_cpu_sim* view, int32_t* bad,
                                 mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    for (int32_t i = 0; solvers->host_count > 0 && i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (!solvers->on_host[i]) continue;
        MABD_TRY(copy_rows(device, TO_DEVICE, i, host, view, error));
        MABD_CUDA_TRY(cudaMemsetAsync(bad + c->slot_first, 0, (size_t)c->slot_count * sizeof *bad,
                                      device->stream),
                      "clearing marks");
    }
    return MABD_OK;
}

bool MABD_CUDA(solvers_soften)(mabd_cuda_solvers* solvers, const mabd_cpu_sim* host, int32_t slot) {
    const mabd_plan* plan = host->model->plan;
    int32_t i = 0;
    while (slot >= plan->components[i].slot_first + plan->components[i].slot_count) i++;
    const mabd_dual_ops* ops = host->duals[i];
    if (solvers->on_host[i] || !ops || !ops->keeps_system) return false;
    solvers->on_host[i] = true;
    solvers->host_count++;
    return true;
}

// ---- all together --------------------------------------------------------------------------------------

mabd_status MABD_CUDA(solvers_restart)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                       mabd_cpu_sim* host, const mabd_cpu_sim* view,
                                       mabd_error* error) {
    const size_t guess = host->sizes.guess;
    if (guess == 0) return MABD_OK;
    MABD_CUDA_TRY(cudaMemcpyAsync(view->guess, view->lambda_last, guess * sizeof(mabd_real),
                                  cudaMemcpyDeviceToDevice, device->stream),
                  "starting from the last multipliers");
    if (solvers->host_count == 0) return MABD_OK;
    MABD_TRY(copy_reals(device, TO_HOST, guess, host->lambda_last, view->lambda_last, error));
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    mabd_cpu_restart(host);
    return MABD_OK;
}

mabd_status MABD_CUDA(solvers_factor)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_cpu_sim* host, const mabd_cpu_sim* view,
                                      const mabd_allocator* allocator, int32_t* bad, int32_t* joint,
                                      mabd_error* error) {
    host->dual_report.iterations = 0, host->dual_report.residual = 0;
    MABD_TRY(solve_on_host(solvers, device, host, view, allocator, joint, error));
    return MABD_CUDA(levels_factor)(&solvers->levels, device, view, bad, error);
}

mabd_status MABD_CUDA(solvers_solve)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                     mabd_cpu_sim* host, const mabd_cpu_sim* view, int32_t* bad,
                                     mabd_error* error) {
    MABD_TRY(MABD_CUDA(levels_solve)(&solvers->levels, device, view, error));
    return put_host_rows(solvers, device, host, view, bad, error);
}
