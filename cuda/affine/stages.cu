// SPDX-License-Identifier: Apache-2.0
// The stages of a step on a device: a thread for each body, joint or slot runs the source of the
// CPU (affine/element/). One kernel for each kind of body, which needs the registers of that kind
// only.
//
//   predict    all moving bodies; coordinates of joints
//   assemble   the body of a joint's first side starts it, then all bodies write, then the deferred
//              shares are added
//   update     bodies; largest rotation and first broken body by a reduction
//   check      joints; largest joint error by a reduction
//
// A launch sees all that earlier launches have written. No launch waits for the host.

#define MABD_KERNEL_SOURCE

#include "cuda/affine/part.h"

extern "C" {
#include "formulation/affine/element/assemble.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_error.h"
#include "formulation/affine/element/update.h"
}

// The source of the stages takes a mutable simulation; it writes to its arrays only.
#define SIM ((mabd_affine_sim*)&sim)

/// Launch `count` threads in the stream of the simulation; nothing if there are none.
#define LAUNCH(what, kernel, count, ...) LAUNCH_ON(&state->device, what, kernel, count, __VA_ARGS__)

// ---- predict and relinearize --------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    predict_bodies(VIEW sim, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_affine_stage_predict_body(SIM, bodies[INDEX]);
}

__global__ static void __launch_bounds__(THREADS, 1)
    relinearize_bodies(VIEW sim, int32_t count, const int32_t* bodies, uint8_t* inside_out) {
    if (INDEX < count)
        inside_out[bodies[INDEX]] = !mabd_affine_stage_relinearize_body(SIM, bodies[INDEX]);
}

// Copy the poses q (count) of scripted bodies.
__global__ static void __launch_bounds__(THREADS, 1)
    pose_bodies(VIEW sim, int32_t count, const int32_t* bodies, const mabd_real* q) {
    if (INDEX >= count) return;
    const size_t at = 12 * (size_t)bodies[INDEX / 12] + (size_t)(INDEX % 12);
    sim.q_new[at] = sim.ref[at] = q[INDEX];
}

__global__ static void __launch_bounds__(THREADS, 1) hold_bodies(VIEW sim, int32_t count) {
    if (INDEX < count && sim.model->body_motion[INDEX] != MABD_MOTION_DYNAMIC) {
        mabd_affine_stage_hold_body(SIM, INDEX);
    }
}

__global__ static void __launch_bounds__(THREADS, 1) predict_coordinates(VIEW sim, int32_t count) {
    if (INDEX >= count) return;
    sim.x_ref[INDEX] = mabd_affine_step_coordinate(&sim.step, sim.x[INDEX], sim.xd[INDEX]);
    if (sim.sizes.axes > 0) sim.axes[INDEX].known = false;
}

static mabd_status pose_scripts(mabd_cuda_state* state, const mabd_affine_sim* host,
                                mabd_error* error) {
    const int32_t count = state->script_count;
    if (count == 0) return MABD_OK;
    for (int32_t i = 0; i < count; i++) {
        const size_t body = (size_t)host->model->scripts[i].body;
        memcpy(state->staged_q + 12 * i, host->q_new + 12 * body, 12 * sizeof(mabd_real));
    }
    MABD_TRY(MABD_CUDA(device_upload)(&state->device, state->staged_q, state->staged_bytes,
                                      state->script_q, error));
    LAUNCH("predict", pose_bodies, 12 * count, state->view, 12 * count, state->script_bodies,
           state->script_q);
    return MABD_OK;
}

mabd_status MABD_CUDA(predict)(mabd_cuda_state* state, const mabd_affine_sim* host,
                               mabd_error* error) {
    const mabd_affine_sim sim = state->view;
    const int32_t all = (int32_t)sim.sizes.bodies, coordinates = (int32_t)sim.sizes.coordinates;
    LAUNCH("predict", hold_bodies, all, sim, all);
    MABD_TRY(pose_scripts(state, host, error));
    LAUNCH("predict", predict_bodies, state->body_count, sim, state->body_count, state->bodies);
    LAUNCH("predict", predict_coordinates, coordinates, sim, coordinates);
    return MABD_OK;
}

mabd_status MABD_CUDA(relinearize)(mabd_cuda_state* state, mabd_error* error) {
    LAUNCH("relinearize", relinearize_bodies, state->body_count, state->view, state->body_count,
           state->bodies, state->inside_out);
    return MABD_OK;
}

// ---- assemble -----------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    start_bodies(VIEW sim, const mabd_real* stress, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_affine_stage_start_joints(SIM, stress, bodies[INDEX]);
}

__global__ static void __launch_bounds__(THREADS, 1)
    start_turns(VIEW sim, const mabd_real* stress, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_affine_stage_start_turns(SIM, stress, bodies[INDEX]);
}

// place: workspace of the first body, counted in bodies.
template <mabd_affine_body_kind kind, bool contacts>
__global__ static void __launch_bounds__(THREADS, 1)
    assemble_bodies(VIEW sim, const mabd_real* stress, int32_t count, const int32_t* bodies,
                    int32_t place) {
    if (INDEX < count) {
        mabd_affine_stage_assemble_kind(SIM, kind, contacts, bodies[INDEX], stress, place + INDEX);
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    add_deferred(VIEW sim, int32_t count, const mabd_affine_deferred* deferred) {
    if (INDEX < count) mabd_affine_add_deferred(&sim, &deferred[INDEX]);
}

/// `launch` for the kind of a group, with contacts or without.
#define BY_CONTACTS(kind, contacts, launch)                                                        \
    case kind:                                                                                     \
        if (contacts) {                                                                            \
            launch(kind, true);                                                                    \
        } else {                                                                                   \
            launch(kind, false);                                                                   \
        }                                                                                          \
        break;
#define BY_KIND(group, contacts, launch)                                                           \
    switch ((group)->kind) {                                                                       \
        BY_CONTACTS(MABD_BODY_SIMPLE, contacts, launch)                                            \
        BY_CONTACTS(MABD_BODY_SPRUNG, contacts, launch)                                            \
        BY_CONTACTS(MABD_BODY_GENERAL, contacts, launch)                                           \
        BY_CONTACTS(MABD_BODY_ROWS, contacts, launch)                                              \
        BY_CONTACTS(MABD_BODY_JUNCTION, contacts, launch)                                          \
    }

static mabd_status start_group(mabd_cuda_state* state, const mabd_cuda_group* g,
                               const mabd_real* stress, mabd_error* error) {
    if (g->kind == MABD_BODY_SIMPLE) return MABD_OK; // their joints need no start
    LAUNCH("start", start_bodies, g->count, state->view, stress, g->count,
           state->bodies + g->first);
    if (state->view.sizes.turns > 0) {
        LAUNCH("start", start_turns, g->count, state->view, stress, g->count,
               state->bodies + g->first);
    }
    return MABD_OK;
}

static mabd_status assemble_group(mabd_cuda_state* state, const mabd_cuda_group* g,
                                  const mabd_real* stress, mabd_error* error) {
#define ASSEMBLE(kind, contacts)                                                                   \
    LAUNCH("assemble", (assemble_bodies<kind, contacts>), g->count, state->view, stress, g->count, \
           state->bodies + g->first, g->place)
    BY_KIND(g, state->view.contacts, ASSEMBLE)
    return MABD_OK;
}

// Choose the stress of the geometric stiffness; it stays the same while the reference does.
static mabd_status hold_stress(mabd_cuda_state* state, mabd_affine_pass pass,
                               const mabd_real** stress, mabd_error* error) {
    const mabd_affine_sim* sim = &state->view;
    *stress = pass == MABD_PASS_FIRST ? sim->stress : sim->stress_new;
    if (sim->sizes.held == 0) return MABD_OK;
    if (pass != MABD_PASS_AGAIN) {
        MABD_CUDA_TRY(cudaMemcpyAsync(sim->stress_held, *stress,
                                      6 * sim->sizes.held * sizeof(mabd_real),
                                      cudaMemcpyDeviceToDevice, state->device.stream),
                      "keeping the stress");
    }
    *stress = sim->stress_held;
    return MABD_OK;
}

mabd_status MABD_CUDA(assemble)(mabd_cuda_state* state, mabd_affine_pass pass, mabd_error* error) {
    const mabd_affine_sim* sim = &state->view;
    const mabd_real* stress;
    MABD_TRY(hold_stress(state, pass, &stress, error));
    if (sim->shared_edges) {
        MABD_CUDA_TRY(cudaMemsetAsync(sim->U, 0, sim->sizes.edge_reals * sizeof *sim->U,
                                      state->device.stream),
                      "clearing blocks");
    }
    for (int32_t i = 0; i < state->group_count; i++) {
        MABD_TRY(start_group(state, &state->groups[i], stress, error));
    }
    for (int32_t i = 0; i < state->group_count; i++) {
        MABD_TRY(assemble_group(state, &state->groups[i], stress, error));
    }
    LAUNCH("assemble", add_deferred, state->deferred_count, *sim, state->deferred_count,
           state->deferred);
    return MABD_OK;
}

// ---- update and check ---------------------------------------------------------------------------

template <mabd_affine_body_kind kind, bool contacts>
__global__ static void __launch_bounds__(THREADS, 1)
    update_bodies(VIEW sim, int32_t count, const int32_t* bodies, mabd_real* rotation,
                  mabd_real* size) {
    if (INDEX >= count) return;
    const int32_t body = bodies[INDEX];
    mabd_affine_motion_report one = {-1, -1, -1, nullptr};
    mabd_affine_stage_update_kind(SIM, kind, contacts, body, &one);
    rotation[body] = one.rotation;
    size[body] = one.broken_body < 0 ? 0 : 1;
}

__global__ static void __launch_bounds__(THREADS, 1)
    check_joints(VIEW sim, int32_t count, mabd_affine_joint_error* joint_errors) {
    if (INDEX >= count) return;
    mabd_affine_joint_error one = {0, 0, 0, -1};
    if (sim.model->plan->joint_slot[INDEX] >= 0)
        mabd_affine_stage_check_joint(&sim, sim.q_new, INDEX, &one);
    joint_errors[INDEX] = one;
}

__global__ static void __launch_bounds__(THREADS, 1)
    join_bodies(VIEW sim, const mabd_real* rotation, const mabd_real* size, const int32_t* bad,
                const uint8_t* inside_out, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t bodies = sim.model->body_count, slots = sim.model->plan->slot_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(bodies, INDEX); i < share_of(bodies, INDEX + 1); i++) {
        if (sim.model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        if (inside_out[i] && own.inside_out < 0) own.inside_out = i;
        if (size[i] > 0 && own.motion.broken_body < 0) own.motion.broken_body = i;
        if (rotation[i] > own.motion.rotation)
            own.motion.rotation = rotation[i], own.motion.rotated_body = i;
    }
    for (int32_t s = share_of(slots, INDEX); s < share_of(slots, INDEX + 1); s++) {
        if (bad[s] && s < own.bad) own.bad = s;
    }
    join_parts(shared, &own, parts);
}

__global__ static void __launch_bounds__(THREADS, 1)
    join_joints(VIEW sim, const mabd_affine_joint_error* joint_errors, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t joints = sim.model->joint_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(joints, INDEX); i < share_of(joints, INDEX + 1); i++) {
        mabd_affine_joint_error_add(&own.joint_error, &joint_errors[i]);
    }
    join_parts(shared, &own, parts);
}

static mabd_status update_group(mabd_cuda_state* state, const mabd_cuda_group* g,
                                mabd_error* error) {
#define UPDATE(kind, contacts)                                                                     \
    LAUNCH("update", (update_bodies<kind, contacts>), g->count, state->view, g->count,             \
           state->bodies + g->first, state->rotation, state->size)
    BY_KIND(g, state->view.contacts, UPDATE)
    return MABD_OK;
}

mabd_status MABD_CUDA(update)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error) {
    for (int32_t i = 0; i < state->group_count; i++) {
        MABD_TRY(update_group(state, &state->groups[i], error));
    }
    const int32_t parts = parts_for(state->body_count);
    LAUNCH_BLOCKS(&state->device, "reduce", join_bodies, parts, state->view, state->rotation,
                  state->size, state->bad, state->inside_out, state->parts);
    MABD_TRY(MABD_CUDA(download_part)(state, parts, part, error));
    const mabd_real square = part->motion.rotation;
    part->motion.rotation = square > 0 ? (mabd_real)sqrt(square) / 2 : 0;
    return MABD_OK;
}

mabd_status MABD_CUDA(check_joints)(mabd_cuda_state* state, mabd_error* error) {
    LAUNCH("check", check_joints, state->joint_count, state->view, state->joint_count,
           state->joint_errors);
    return MABD_OK;
}

mabd_status MABD_CUDA(check)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error) {
    const int32_t joints = state->joint_count;
    MABD_TRY(MABD_CUDA(check_joints)(state, error));
    const int32_t parts = parts_for(joints);
    LAUNCH_BLOCKS(&state->device, "reduce", join_joints, parts, state->view, state->joint_errors,
                  state->parts);
    return MABD_CUDA(download_part)(state, parts, part, error);
}

// ---- finish -------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    finish_joints(VIEW sim, bool keep_history, int32_t count) {
    if (INDEX < count) mabd_affine_stage_finish_joint(SIM, keep_history, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1)
    finish_bodies(VIEW sim, bool keep_history, mabd_real* v, int32_t count) {
    if (INDEX < count) {
        mabd_affine_stage_finish_body(SIM, keep_history, INDEX, v + 12 * (size_t)INDEX);
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    copy_spins(VIEW sim, bool back, int32_t count) {
    if (INDEX < count) mabd_affine_stage_copy_spin(SIM, back, INDEX);
}

mabd_status MABD_CUDA(finish)(mabd_cuda_state* state, bool keep_history, mabd_error* error) {
    mabd_affine_sim* sim = &state->view;
    const int32_t joints = state->joint_count, bodies = (int32_t)sim->sizes.bodies;
    if (sim->sizes.coordinates > 0) {
        LAUNCH("finish", finish_joints, joints, *sim, keep_history, joints);
    }
    LAUNCH("finish", finish_bodies, bodies, *sim, keep_history, keep_history ? sim->v : sim->v1,
           bodies);
    mabd_affine_advance_history(sim, keep_history);
    return MABD_OK;
}

__global__ static void __launch_bounds__(THREADS, 1)
    copy_turns(VIEW sim, bool back, int32_t count) {
    if (INDEX < count) mabd_affine_stage_copy_turn(SIM, back, INDEX);
}

mabd_status MABD_CUDA(copy_state)(mabd_cuda_state* state, bool back, mabd_error* error) {
    const mabd_affine_sim* sim = &state->view;
    const size_t bodies = 12 * sim->sizes.bodies, coordinates = sim->sizes.coordinates;
#define COPY(now, before, count)                                                                   \
    MABD_CUDA_TRY(cudaMemcpyAsync(back ? sim->now : sim->before, back ? sim->before : sim->now,    \
                                  (count) * sizeof(mabd_real), cudaMemcpyDeviceToDevice,           \
                                  state->device.stream),                                           \
                  "keeping the state")
    COPY(q, q1, bodies);
    COPY(v, v1, bodies);
    COPY(x, x1, coordinates);
    COPY(xd, xd1, coordinates);
    COPY(stress, stress1, bodies / 2);
#undef COPY
    if (sim->sizes.turns > 0) {
        LAUNCH("keeping the state", copy_turns, state->joint_count, *sim, back, state->joint_count);
    }
    const int32_t all = (int32_t)sim->sizes.spins;
    LAUNCH("keeping the state", copy_spins, all, *sim, back, all);
    return MABD_OK;
}
