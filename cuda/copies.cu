// SPDX-License-Identifier: Apache-2.0
// Copies that settle one by one (src/cpu/copies.c): a thread goes over the twists and openings of one copy; what settles is moved aside by
// a thread for each body, coordinate and slot. The host gets the state of the copies, which it waits for, and counts those that are left.

#define MABD_DEVICE_TEXT

#include "state.h"

#include "launch.h"

extern "C" {
#include "cpu/one/copies.h"
}

#define LAUNCH(kernel, count, ...) LAUNCH_ON(&state->device, "copies", kernel, count, __VA_ARGS__)

__global__ static void __launch_bounds__(THREADS, 1)
    look_at_copies(VIEW sim, CONSTANT mabd_copy_goal goal, const mabd_real* twist,
                   const mabd_opening* openings) {
    const int32_t copy = INDEX, joints = sim.model->copy_joints;
    if (copy >= sim.model->copy_count) return;
    mabd_copy_state own = sim.copies[copy];
    if (own.settled) return;
    mabd_stage_look_at_copy(&sim, twist, copy, &own);
    for (int32_t i = copy * joints; i < (copy + 1) * joints; i++) {
        mabd_opening_add(&own.open, &openings[i]);
    }
    own.settled = mabd_stage_turn_copy(&goal, &own) && mabd_stage_is_closed(&goal, &own.open);
    sim.copies[copy] = own;
}

__global__ static void __launch_bounds__(THREADS, 1) move_bodies(VIEW sim, bool back) {
    if (INDEX < sim.model->body_count) mabd_stage_move_body(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) move_coordinates(VIEW sim, bool back) {
    if (INDEX < (int32_t)sim.sizes.coordinates) mabd_stage_move_coordinate(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) move_slots(VIEW sim, bool back) {
    if (INDEX < sim.model->plan->slot_count) mabd_stage_move_slot(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) mark_copies(VIEW sim) {
    if (INDEX < sim.model->copy_count) sim.copies[INDEX].kept = sim.copies[INDEX].settled;
}

static mabd_status move_copies(mabd_cuda_state* state, const mabd_cpu_sim* host, bool back,
                               mabd_error* error) {
    LAUNCH(move_bodies, host->model->body_count, state->view, back);
    LAUNCH(move_coordinates, (int32_t)host->sizes.coordinates, state->view, back);
    LAUNCH(move_slots, host->model->plan->slot_count, state->view, back);
    return MABD_OK;
}

mabd_status MABD_CUDA(settle_copies)(mabd_cuda_state* state, const mabd_copy_goal* goal,
                                     mabd_cpu_sim* host, int32_t* left, mabd_error* error) {
    const int32_t copies = host->model->copy_count;
    const size_t size = (size_t)copies * sizeof *host->copies;
    mabd_copy_state* there = state->view.copies;
    mabd_cuda_part part;
    if (goal->first) {
        MABD_CUDA_TRY(cudaMemsetAsync(there, 0, size, state->device.stream), "clearing copies");
    }
    MABD_TRY(MABD_CUDA(check)(state, &part, error));
    LAUNCH(look_at_copies, copies, state->view, *goal, state->twist, state->openings);
    MABD_TRY(MABD_CUDA(device_download)(&state->device, there, size, host->copies, error));
    MABD_TRY(MABD_CUDA(device_wait)(&state->device, error));
    *left = 0;
    for (int32_t i = 0; i < copies; i++) *left += !host->copies[i].settled;
    if (*left == 0) return MABD_OK;
    MABD_TRY(move_copies(state, host, false, error));
    LAUNCH(mark_copies, copies, state->view);
    return MABD_OK;
}

mabd_status MABD_CUDA(close_copies)(mabd_cuda_state* state, const mabd_cpu_sim* host,
                                    mabd_error* error) {
    return move_copies(state, host, true, error);
}
