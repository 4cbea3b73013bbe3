// SPDX-License-Identifier: Apache-2.0
// Copies of a batch that settle one by one (cpu/copies.c): a thread for each copy goes over its bodies and joints. What a copy that is good has
// come to goes aside while others go on, and comes back in the end.

#define MABD_DEVICE_TEXT

#include "reduce.h"

#define LAUNCH(what, kernel, count, ...) LAUNCH_ON(&state->device, what, kernel, count, __VA_ARGS__)

#ifdef __CUDACC__
#define GOAL const __grid_constant__ mabd_copy_goal
#else
#define GOAL const mabd_copy_goal
#endif

// ---- looking -------------------------------------------------------------------------------------------

__device__ static void look_at_copy(const mabd_cpu_sim* sim, const mabd_real* twist,
                                    const mabd_opening* openings, int32_t copy,
                                    mabd_copy_state* state) {
    const mabd_model* m = sim->model;
    const mabd_opening closed = {0, 0, 0, -1};
    state->open = closed;
    state->twist = 0, state->twisted_body = -1;
    for (int32_t i = copy * m->copy_bodies; i < (copy + 1) * m->copy_bodies; i++) {
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC || !(twist[i] > state->twist)) continue;
        state->twist = twist[i], state->twisted_body = i;
    }
    state->twist = state->twist > 0 ? (mabd_real)sqrt(state->twist) / 2 : 0;
    for (int32_t i = copy * m->copy_joints; i < (copy + 1) * m->copy_joints; i++) {
        mabd_opening_add(&state->open, &openings[i]);
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    look_at_copies(VIEW sim, GOAL goal, const mabd_real* twist, const mabd_opening* openings,
                   mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t copies = sim.model->copy_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(copies, INDEX); i < share_of(copies, INDEX + 1); i++) {
        mabd_copy_state* state = &sim.copies[i];
        if (state->settled) continue;
        look_at_copy(&sim, twist, openings, i, state);
        state->settled = state->twist <= goal.twist && mabd_copy_is_closed(&state->open, &goal);
        own.left += !state->settled;
    }
    join_parts(shared, &own, parts);
}

// ---- keeping -------------------------------------------------------------------------------------------

// `width` reals of each thing, of which a copy has `each`.
__global__ static void __launch_bounds__(THREADS, 1)
    move_reals(VIEW sim, bool back, int32_t count, int32_t width, int32_t each, mabd_real* now,
               mabd_real* aside) {
    if (INDEX >= count || !mabd_copy_moves(&sim.copies[INDEX / width / each], back)) return;
    if (back) {
        now[INDEX] = aside[INDEX];
    } else {
        aside[INDEX] = now[INDEX];
    }
}

// Multipliers lie by slots, which are joints or the freedoms of hubs.
__global__ static void __launch_bounds__(THREADS, 1)
    move_rows(VIEW sim, bool back, int32_t count, mabd_real* now, mabd_real* aside) {
    if (INDEX >= count) return;
    const mabd_model* m = sim.model;
    const int32_t joint = m->plan->slot_joint[INDEX];
    const int32_t copy = joint >= 0 ? joint / m->copy_joints : (-1 - joint) / m->copy_bodies;
    if (!mabd_copy_moves(&sim.copies[copy], back)) return;
    const int32_t first = m->plan->slot_row[INDEX], last = first + m->plan->slot_width[INDEX];
    for (int32_t r = first; r < last; r++) {
        if (back) {
            now[r] = aside[r];
        } else {
            aside[r] = now[r];
        }
    }
}

__global__ static void __launch_bounds__(THREADS, 1) mark_kept(VIEW sim, int32_t count) {
    if (INDEX < count) sim.copies[INDEX].kept = sim.copies[INDEX].settled;
}

static mabd_status move_kept(mabd_cuda_state* state, bool back, mabd_error* error) {
    const mabd_cpu_sim* sim = &state->view;
    const int32_t copies = (int32_t)sim->sizes.copies, bodies = (int32_t)sim->sizes.bodies,
                  coordinates = (int32_t)sim->sizes.coordinates, each = bodies / copies;
    LAUNCH("copies", move_reals, 12 * bodies, *sim, back, 12 * bodies, 12, each, sim->q_new,
           sim->settled_q);
    LAUNCH("copies", move_reals, 6 * bodies, *sim, back, 6 * bodies, 6, each, sim->stress_new,
           sim->settled_stress);
    LAUNCH("copies", move_reals, coordinates, *sim, back, coordinates, 1, coordinates / copies,
           sim->x_ref, sim->settled_x);
    LAUNCH("copies", move_rows, state->slot_count, *sim, back, state->slot_count, sim->lambda,
           sim->settled_lambda);
    return MABD_OK;
}

// ---- all together --------------------------------------------------------------------------------------

mabd_status MABD_CUDA(settle_copies)(mabd_cuda_state* state, const mabd_copy_goal* goal,
                                     int32_t* left, mabd_error* error) {
    const int32_t copies = (int32_t)state->view.sizes.copies, parts = parts_for(copies);
    mabd_cuda_part part;
    MABD_TRY(MABD_CUDA(check_joints)(state, error));
    LAUNCH_BLOCKS(&state->device, "copies", look_at_copies, parts, state->view, *goal, state->twist,
                  state->openings, state->parts);
    MABD_TRY(MABD_CUDA(fetch_part)(state, parts, &part, error));
    *left = part.left;
    if (*left == 0) return MABD_OK;
    MABD_TRY(move_kept(state, false, error));
    LAUNCH("copies", mark_kept, copies, state->view, copies);
    return MABD_OK;
}

mabd_status MABD_CUDA(close_copies)(mabd_cuda_state* state, mabd_cpu_sim* host, mabd_error* error) {
    MABD_TRY(move_kept(state, true, error));
    MABD_TRY(MABD_CUDA(device_download)(&state->device, state->view.copies,
                                        host->sizes.copies * sizeof *host->copies, host->copies,
                                        error));
    return MABD_CUDA(device_wait)(&state->device, error);
}
