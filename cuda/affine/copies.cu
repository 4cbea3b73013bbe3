// SPDX-License-Identifier: Apache-2.0
// Copies that settle one by one (affine/copies.c): a thread checks the rotations and joint errors
// of one copy; the results of settled copies are saved by a thread for each body, coordinate and
// slot. The host gets the number of copies that have not settled and, at the end, the state of
// each. Steps in which some copies have a jump keep and take results the same way.

#define MABD_KERNEL_SOURCE

#include "cuda/affine/part.h"

extern "C" {
#include "formulation/affine/element/copy.h"
}

#define LAUNCH(kernel, count, ...) LAUNCH_ON(&state->device, "copies", kernel, count, __VA_ARGS__)

// Check one copy; returns true if it has settled.
__device__ static bool check_copy(const mabd_affine_sim* sim, const mabd_affine_copy_goal* goal,
                                  const mabd_real* rotation,
                                  const mabd_affine_joint_error* joint_errors, int32_t copy) {
    const int32_t joints = sim->model->copy_joints;
    mabd_affine_copy_state own = sim->copies[copy];
    if (own.settled) return true;
    mabd_affine_stage_check_copy(sim, rotation, copy, &own);
    for (int32_t i = copy * joints; i < (copy + 1) * joints; i++) {
        mabd_affine_joint_error_add(&own.open, &joint_errors[i]);
    }
    own.settled =
        mabd_affine_stage_turn_copy(goal, &own) && mabd_affine_stage_is_closed(goal, &own.open);
    sim->copies[copy] = own;
    return own.settled;
}

__global__ static void __launch_bounds__(THREADS, 1)
    check_copies(VIEW sim, CONSTANT mabd_affine_copy_goal goal, const mabd_real* rotation,
                 const mabd_affine_joint_error* joint_errors, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t copies = sim.model->copy_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(copies, INDEX); i < share_of(copies, INDEX + 1); i++) {
        own.left += !check_copy(&sim, &goal, rotation, joint_errors, i);
    }
    join_parts(shared, &own, parts);
}

__global__ static void __launch_bounds__(THREADS, 1) begin_copies(VIEW sim) {
    if (INDEX < sim.model->copy_count) mabd_affine_stage_begin_copy(&sim, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1) move_bodies(VIEW sim, bool back) {
    if (INDEX < sim.model->body_count) mabd_affine_stage_move_body(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) move_coordinates(VIEW sim, bool back) {
    if (INDEX < (int32_t)sim.sizes.coordinates)
        mabd_affine_stage_move_coordinate(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) move_slots(VIEW sim, bool back) {
    if (INDEX < sim.model->plan->slot_count) mabd_affine_stage_move_slot(&sim, INDEX, back);
}

__global__ static void __launch_bounds__(THREADS, 1) mark_copies(VIEW sim) {
    if (INDEX < sim.model->copy_count) sim.copies[INDEX].saved = sim.copies[INDEX].settled;
}

static mabd_status move_copies(mabd_cuda_state* state, const mabd_affine_sim* host, bool back,
                               mabd_error* error) {
    LAUNCH(move_bodies, host->model->body_count, state->view, back);
    LAUNCH(move_coordinates, (int32_t)host->sizes.coordinates, state->view, back);
    LAUNCH(move_slots, host->model->plan->slot_count, state->view, back);
    return MABD_OK;
}

mabd_status MABD_CUDA(settle_copies)(mabd_cuda_state* state, const mabd_affine_copy_goal* goal,
                                     const mabd_affine_sim* host, int32_t* left,
                                     mabd_error* error) {
    const int32_t copies = host->model->copy_count, parts = parts_for(copies);
    mabd_cuda_part part;
    if (goal->first) LAUNCH(begin_copies, copies, state->view);
    MABD_TRY(MABD_CUDA(check_joints)(state, error));
    LAUNCH_BLOCKS(&state->device, "copies", check_copies, parts, state->view, *goal,
                  state->rotation, state->joint_errors, state->parts);
    MABD_TRY(MABD_CUDA(download_part)(state, parts, &part, error));
    *left = part.left;
    if (*left == 0) return MABD_OK;
    MABD_TRY(move_copies(state, host, false, error));
    LAUNCH(mark_copies, copies, state->view);
    return MABD_OK;
}

mabd_status MABD_CUDA(close_copies)(mabd_cuda_state* state, mabd_affine_sim* host,
                                    mabd_error* error) {
    const size_t size = (size_t)host->model->copy_count * sizeof *host->copies;
    MABD_TRY(move_copies(state, host, true, error));
    MABD_TRY(
        MABD_CUDA(device_download)(&state->device, state->view.copies, size, host->copies, error));
    return MABD_CUDA(device_wait)(&state->device, error);
}

// ---- steps in which some copies have a jump -----------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    steady_bodies(VIEW sim, mabd_affine_steady_part part) {
    if (INDEX < sim.model->body_count) mabd_affine_stage_steady_body(&sim, part, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1)
    steady_coordinates(VIEW sim, mabd_affine_steady_part part) {
    if (INDEX < (int32_t)sim.sizes.coordinates)
        mabd_affine_stage_steady_coordinate(&sim, part, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1)
    steady_slots(VIEW sim, mabd_affine_steady_part part) {
    if (INDEX < sim.model->plan->slot_count) mabd_affine_stage_steady_slot(&sim, part, INDEX);
}

mabd_status MABD_CUDA(steady_copies)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                     mabd_affine_steady_part part, mabd_error* error) {
    const size_t size = (size_t)host->model->copy_count * sizeof *host->jumps;
    if (part == MABD_STEADY_KEEP) {
        MABD_TRY(
            MABD_CUDA(device_upload)(&state->device, host->jumps, size, state->view.jumps, error));
    }
    LAUNCH(steady_bodies, host->model->body_count, state->view, part);
    LAUNCH(steady_coordinates, (int32_t)host->sizes.coordinates, state->view, part);
    LAUNCH(steady_slots, host->model->plan->slot_count, state->view, part);
    return MABD_OK;
}
