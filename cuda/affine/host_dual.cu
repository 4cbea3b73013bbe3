// SPDX-License-Identifier: Apache-2.0
#include "cuda/affine/host_dual.h"

extern "C" {
#include "base/error.h"
#include "formulation/affine/backend.h"
}

// ---- plan ---------------------------------------------------------------------------------------

mabd_status MABD_CUDA(dual_plan)(const mabd_affine_sim* host, const mabd_allocator* allocator,
                                 mabd_cuda_solvers* solvers, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const size_t bytes = (size_t)plan->component_count * sizeof(bool);
    bool* in_place = (bool*)mabd_alloc(allocator, bytes);
    if (!in_place) return mabd_fail_memory(error, "listing components");
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_dual_ops* ops = mabd_affine_host.direct_dual(&plan->components[i]);
        in_place[i] = ops == &mabd_dual_chain || ops == &mabd_dual_tree;
    }
    const mabd_status status =
        MABD_CUDA(solvers_plan)(plan, host->dual, in_place, allocator, solvers, error);
    mabd_free(allocator, in_place, bytes);
    return status;
}

bool MABD_CUDA(dual_may_iterate)(const mabd_affine_sim* host) {
    const mabd_plan* plan = host->model->plan;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_component kind = plan->components[i].kind;
        if (kind == MABD_COMPONENT_GRAPH || kind == MABD_COMPONENT_LOOPS) return true;
    }
    return mabd_affine_backend_cpu.may_iterate(host);
}

bool MABD_CUDA(dual_iterates)(const mabd_affine_sim* host, const mabd_cuda_solvers* solvers) {
    for (int32_t i = 0; i < host->model->plan->component_count; i++) {
        if (MABD_CUDA(place_iterates)(solvers->places[i])) return true;
        if (solvers->places[i] == MABD_CUDA_HOST && host->duals[i]->iterate) return true;
    }
    return false;
}

// ---- components on the host ---------------------------------------------------------------------

typedef enum direction { TO_HOST, TO_DEVICE } direction;

static mabd_status copy_reals(const mabd_device* device, direction to, size_t count,
                              mabd_real* host, mabd_real* there, mabd_error* error) {
    const size_t size = count * sizeof *host;
    return to == TO_HOST ? MABD_CUDA(device_download)(device, there, size, host, error)
                         : MABD_CUDA(device_upload)(device, host, size, there, error);
}

static mabd_status copy_rows(const mabd_device* device, direction to, int32_t component,
                             mabd_affine_sim* host, const mabd_affine_sim* view,
                             mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    const int32_t first = plan->slot_row[c->slot_first],
                  last = plan->slot_row[c->slot_first + c->slot_count];
    return copy_reals(device, to, (size_t)(last - first), host->lambda + first,
                      view->lambda + first, error);
}

static mabd_status download_component(const mabd_device* device, int32_t component,
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
        if (solvers->places[i] != MABD_CUDA_HOST) continue;
        MABD_TRY(download_component(device, i, host, view, error));
    }
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    for (int32_t i = 0; i < count; i++) {
        if (solvers->places[i] != MABD_CUDA_HOST) continue;
        if (mabd_affine_host.make_solver(host, allocator, i) != MABD_OK) {
            return mabd_fail_memory(error, "solving a component on the host");
        }
        MABD_TRY(mabd_affine_host.solve_component(host, i, joint));
    }
    return MABD_OK;
}

// Copy the multipliers of the host's components to the device, and clear the marks that a solver of
// the device has left on their slots.
static mabd_status upload_host_rows(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                    mabd_affine_sim* host, const mabd_affine_sim* view,
                                    int32_t* bad, mabd_error* error) {
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

bool MABD_CUDA(dual_soften)(mabd_cuda_solvers* solvers, const mabd_affine_sim* host, int32_t slot) {
    const mabd_plan* plan = host->model->plan;
    int32_t i = 0;
    while (slot >= plan->components[i].slot_first + plan->components[i].slot_count) i++;
    const mabd_dual_ops* ops = host->duals[i];
    if (solvers->places[i] == MABD_CUDA_HOST || !ops || !ops->keeps_system) return false;
    solvers->places[i] =
        MABD_CUDA_HOST; // its solver on the device still runs; its result is ignored
    solvers->counts[MABD_CUDA_HOST]++;
    return true;
}

// ---- all components -----------------------------------------------------------------------------

mabd_status MABD_CUDA(dual_restart)(const mabd_cuda_solvers* solvers, const mabd_device* device,
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
    return mabd_affine_backend_cpu.restart(host);
}

static mabd_cuda_dual_system system_of(const mabd_affine_sim* view) {
    const mabd_cuda_dual_system system = {view->D, view->U, view->lambda, view->guess};
    return system;
}

mabd_status MABD_CUDA(dual_factor)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                   mabd_affine_sim* host, const mabd_affine_sim* view,
                                   const mabd_allocator* allocator, int32_t* bad, int32_t* joint,
                                   mabd_error* error) {
    const mabd_cuda_dual_system system = system_of(view);
    host->dual_report.iterations = 0, host->dual_report.residual = 0;
    MABD_TRY(solve_on_host(solvers, device, host, view, allocator, joint, error));
    return MABD_CUDA(solvers_factor)(solvers, device, &system, bad, error);
}

mabd_status MABD_CUDA(dual_solve)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                  mabd_affine_sim* host, const mabd_affine_sim* view, int32_t* bad,
                                  mabd_error* error) {
    const mabd_cuda_dual_system system = system_of(view);
    const mabd_dual_goal goal = mabd_affine_dual_goal(host->gap_tolerance);
    mabd_dual_report report;
    MABD_TRY(MABD_CUDA(solvers_solve)(solvers, device, &system, &goal, &report, error));
    mabd_affine_dual_report_add(&host->dual_report, &report);
    return upload_host_rows(solvers, device, host, view, bad, error);
}
