// SPDX-License-Identifier: Apache-2.0
// Axes with laws on a device (affine/active_set.c): a thread for each joint finds the branches on
// which the solution of its axes lies. The number of axes on a wrong branch goes to the host, which
// decides whether all of them move or the last one only. Stops are found by a reduction as well.

#define MABD_KERNEL_SOURCE

#include "cuda/affine/part.h"

extern "C" {
#include "formulation/affine/backend.h"
}

#define SIM                              ((mabd_affine_sim*)&sim)
#define LAUNCH(what, kernel, count, ...) LAUNCH_ON(&state->device, what, kernel, count, __VA_ARGS__)

__global__ static void __launch_bounds__(THREADS, 1)
    find_branches(VIEW sim, mabd_real slack, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const mabd_model* m = sim.model;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(m->joint_count, INDEX); i < share_of(m->joint_count, INDEX + 1);
         i++) {
        const int32_t before = own.axes.changed;
        if (!m->row_sets[m->joints[i].row_set].laws) continue;
        mabd_affine_stage_find_branch(SIM, i, slack, &own.axes);
        if (own.axes.changed > before) own.last = i;
    }
    join_parts(shared, &own, parts);
}

__global__ static void __launch_bounds__(THREADS, 1)
    move_axes(VIEW sim, bool all, int32_t first, int32_t count) {
    if (INDEX < count) mabd_affine_stage_move_axes(SIM, first + INDEX, all);
}

__global__ static void __launch_bounds__(THREADS, 1)
    find_stops(VIEW sim, mabd_real span, mabd_real least, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t joints = sim.model->joint_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(joints, INDEX); i < share_of(joints, INDEX + 1); i++) {
        own.stop |= mabd_affine_stage_any_stop(SIM, i, span, least);
    }
    join_parts(shared, &own, parts);
}

mabd_status MABD_CUDA(update_axes)(mabd_cuda_state* state, mabd_affine_sim* host, bool first_solve,
                                   mabd_real slack, mabd_affine_axis_report* report,
                                   mabd_error* error) {
    const int32_t parts = parts_for(state->joint_count);
    mabd_cuda_part part;
    LAUNCH_BLOCKS(&state->device, "axes", find_branches, parts, state->view, slack, state->parts);
    MABD_TRY(MABD_CUDA(download_part)(state, parts, &part, error));
    *report = part.axes;
    const bool all = mabd_affine_host.moves_all_axes(host, first_solve, report->changed);
    if (part.last < 0) return MABD_OK;
    const int32_t first = all ? 0 : part.last, count = all ? part.last + 1 : 1;
    LAUNCH("axes", move_axes, count, state->view, all, first, count);
    return MABD_OK;
}

mabd_status MABD_CUDA(any_stop)(mabd_cuda_state* state, mabd_real span, mabd_real least, bool* any,
                                mabd_error* error) {
    const int32_t parts = parts_for(state->joint_count);
    mabd_cuda_part part;
    LAUNCH_BLOCKS(&state->device, "stops", find_stops, parts, state->view, span, least,
                  state->parts);
    MABD_TRY(MABD_CUDA(download_part)(state, parts, &part, error));
    *any = part.stop;
    return MABD_OK;
}
