// SPDX-License-Identifier: Apache-2.0
// The stages of a step on a device: a thread for each body, joint or slot runs the text of the CPU (src/cpu/one). A
// kernel for each kind of body: registers are those of one kind.
//
//   predict    all moving bodies; coordinates of joints
//   assemble   joints are begun by the body whose side is first, then all bodies write, then what is apart is added
//   factor     level by level (levels.cu), leaves first; solve: forward with it, then back, root first
//   update     bodies; largest twist and first broken body over blocks of threads, then over blocks
//   check      joints, likewise
//
// Between two launches all that was written is there. No launch waits for the host.

#define MABD_DEVICE_TEXT

#include "state.h"

#include "launch.h"

extern "C" {
#include "cpu/one/body.h"
#include "cpu/one/check.h"
#include "cpu/one/predict.h"
#include "cpu/one/update.h"
}

// The text takes a simulation that it may write to; it writes to its arrays only.
#define SIM ((mabd_cpu_sim*)&sim)

/// Launch for `count` threads, if there are any.
#define LAUNCH(what, kernel, count, ...) LAUNCH_ON(&state->device, what, kernel, count, __VA_ARGS__)

// ---- predict and refer ---------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    predict_bodies(VIEW sim, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_stage_predict_body(SIM, bodies[INDEX]);
}

__global__ static void __launch_bounds__(THREADS, 1)
    refer_bodies(VIEW sim, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_stage_refer_body(SIM, bodies[INDEX]);
}

__global__ static void __launch_bounds__(THREADS, 1) hold_bodies(VIEW sim, int32_t count) {
    if (INDEX < count && sim.model->body_motion[INDEX] != MABD_MOTION_DYNAMIC) {
        mabd_stage_hold_body(SIM, INDEX);
    }
}

__global__ static void __launch_bounds__(THREADS, 1) predict_coordinates(VIEW sim, int32_t count) {
    if (INDEX < count) sim.x_ref[INDEX] = sim.x[INDEX] + sim.step.lead * sim.xd[INDEX];
}

mabd_status MABD_CUDA(predict)(mabd_cuda_state* state, mabd_error* error) {
    const mabd_cpu_sim sim = state->view;
    LAUNCH("predict", hold_bodies, (int32_t)sim.sizes.bodies, sim, (int32_t)sim.sizes.bodies);
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        LAUNCH("predict", predict_bodies, state->kind_count[k], sim, state->kind_count[k],
               state->kind_bodies[k]);
    }
    LAUNCH("predict", predict_coordinates, (int32_t)sim.sizes.coordinates, sim,
           (int32_t)sim.sizes.coordinates);
    return MABD_OK;
}

mabd_status MABD_CUDA(refer)(mabd_cuda_state* state, mabd_error* error) {
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        LAUNCH("refer", refer_bodies, state->kind_count[k], state->view, state->kind_count[k],
               state->kind_bodies[k]);
    }
    return MABD_OK;
}

// ---- assemble ------------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    start_bodies(VIEW sim, const mabd_real* stress, int32_t count, const int32_t* bodies) {
    if (INDEX < count) mabd_stage_start_joints(SIM, stress, bodies[INDEX]);
}

// place: of the first body's workspace, counted in bodies.
template <mabd_body_kind kind>
__global__ static void __launch_bounds__(THREADS, 1)
    assemble_bodies(VIEW sim, const mabd_real* stress, int32_t count, const int32_t* bodies,
                    int32_t place) {
    if (INDEX < count) {
        mabd_stage_assemble_kind(SIM, kind, false, bodies[INDEX], stress, place + INDEX);
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    add_aparts(VIEW sim, int32_t count, const mabd_apart* aparts) {
    if (INDEX < count) mabd_cpu_add_apart(&sim, &aparts[INDEX]);
}

mabd_status MABD_CUDA(assemble)(mabd_cuda_state* state, mabd_pass pass, mabd_error* error) {
    const mabd_cpu_sim sim = state->view;
    const mabd_real* stress = pass == MABD_PASS_FIRST ? sim.stress : sim.stress_new;
    const int32_t* count = state->kind_count;
    const int32_t* const* bodies = state->kind_bodies;
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        if (k == MABD_BODY_SIMPLE) continue; // their joints have nothing to begin with
        LAUNCH("start", start_bodies, count[k], sim, stress, count[k], bodies[k]);
    }
#define ASSEMBLE(kind, place)                                                                      \
    LAUNCH("assemble", assemble_bodies<kind>, count[kind], sim, stress, count[kind], bodies[kind], \
           place)
    ASSEMBLE(MABD_BODY_SIMPLE, 0);
    ASSEMBLE(MABD_BODY_SPRUNG, 0);
    ASSEMBLE(MABD_BODY_GENERAL, 0);
    ASSEMBLE(MABD_BODY_ROWS, count[MABD_BODY_GENERAL]);
    ASSEMBLE(MABD_BODY_HUB, count[MABD_BODY_GENERAL] + count[MABD_BODY_ROWS]);
    LAUNCH("assemble", add_aparts, state->apart_count, sim, state->apart_count, state->aparts);
    return MABD_OK;
}

// ---- factor and solve ----------------------------------------------------------------------------------

mabd_status MABD_CUDA(factor)(mabd_cuda_state* state, mabd_error* error) {
    return MABD_CUDA(levels_factor)(&state->levels, &state->device, &state->view, state->bad,
                                    error);
}

mabd_status MABD_CUDA(solve)(mabd_cuda_state* state, mabd_error* error) {
    return MABD_CUDA(levels_solve)(&state->levels, &state->device, &state->view, error);
}

// ---- update and check ----------------------------------------------------------------------------------

template <mabd_body_kind kind>
__global__ static void __launch_bounds__(THREADS, 1)
    update_bodies(VIEW sim, int32_t count, const int32_t* bodies, mabd_real* twist,
                  mabd_real* size) {
    if (INDEX >= count) return;
    const int32_t body = bodies[INDEX];
    mabd_motion_report one = {-1, -1, -1};
    mabd_stage_update_kind(SIM, kind, false, body, &one);
    twist[body] = one.twist;
    size[body] = one.broken_body < 0 ? 0 : 1;
}

__global__ static void __launch_bounds__(THREADS, 1)
    check_joints(VIEW sim, int32_t count, mabd_opening* openings) {
    if (INDEX >= count) return;
    mabd_opening one = {0, 0, 0, -1};
    if (sim.model->plan->joint_slot[INDEX] >= 0)
        mabd_stage_check_joint(&sim, sim.q_new, INDEX, &one);
    openings[INDEX] = one;
}

// The worse of two parts, of which `more` has the higher bodies, joints and slots.
MABD_FN void add_part(mabd_cuda_part* part, const mabd_cuda_part* more) {
    if (more->motion.twist > part->motion.twist) {
        part->motion.twist = more->motion.twist;
        part->motion.twisted_body = more->motion.twisted_body;
    }
    if (part->motion.broken_body < 0) part->motion.broken_body = more->motion.broken_body;
    mabd_opening_add(&part->opening, &more->opening);
    if (more->bad < part->bad) part->bad = more->bad;
}

MABD_FN mabd_cuda_part no_part(void) {
    mabd_cuda_part part;
    memset(&part, 0, sizeof part);
    part.motion.twist = -1, part.motion.twisted_body = part.motion.broken_body = -1;
    part.opening.joint = -1;
    part.bad = INT32_MAX;
    return part;
}

// The sum over the threads of a block, in their order, in the first one.
__device__ static void join_parts(mabd_cuda_part* shared, const mabd_cuda_part* own) {
    const int32_t t = (int32_t)threadIdx.x;
    shared[t] = *own;
    __syncthreads();
    for (int32_t step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0) add_part(&shared[t], &shared[t + step]);
        __syncthreads();
    }
}

// The first of n things that thread i of all has.
__device__ static int32_t share_of(int32_t n, int32_t i) {
    return (int32_t)((int64_t)n * i / (gridDim.x * blockDim.x));
}

__global__ static void __launch_bounds__(THREADS, 1)
    join_bodies(VIEW sim, const mabd_real* twist, const mabd_real* size, const int32_t* bad,
                mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t bodies = sim.model->body_count, slots = sim.model->plan->slot_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(bodies, INDEX); i < share_of(bodies, INDEX + 1); i++) {
        if (sim.model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        if (size[i] > 0 && own.motion.broken_body < 0) own.motion.broken_body = i;
        if (twist[i] > own.motion.twist) own.motion.twist = twist[i], own.motion.twisted_body = i;
    }
    for (int32_t s = share_of(slots, INDEX); s < share_of(slots, INDEX + 1); s++) {
        if (bad[s] && s < own.bad) own.bad = s;
    }
    join_parts(shared, &own);
    if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

__global__ static void __launch_bounds__(THREADS, 1)
    join_joints(VIEW sim, const mabd_opening* openings, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    const int32_t joints = sim.model->joint_count;
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(joints, INDEX); i < share_of(joints, INDEX + 1); i++) {
        mabd_opening_add(&own.opening, &openings[i]);
    }
    join_parts(shared, &own);
    if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

// One block; parts[MABD_CUDA_PARTS] is of all.
__global__ static void __launch_bounds__(THREADS, 1)
    join_blocks(int32_t count, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    mabd_cuda_part own = (int32_t)threadIdx.x < count ? parts[threadIdx.x] : no_part();
    join_parts(shared, &own);
    if (threadIdx.x == 0) parts[MABD_CUDA_PARTS] = shared[0];
}

// Blocks to go over n things: a thread has a few.
static int32_t parts_for(int32_t n) {
    const int32_t parts = n / (8 * THREADS) + 1;
    return parts < MABD_CUDA_PARTS ? parts : MABD_CUDA_PARTS;
}

static mabd_status fetch_part(mabd_cuda_state* state, int32_t count, mabd_cuda_part* part,
                              mabd_error* error) {
    LAUNCH("reduce", join_blocks, THREADS, count, state->parts);
    MABD_TRY(MABD_CUDA(device_download)(&state->device, state->parts + MABD_CUDA_PARTS,
                                        sizeof *part, part, error));
    return MABD_CUDA(device_wait)(&state->device, error);
}

mabd_status MABD_CUDA(update)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error) {
    const int32_t* count = state->kind_count;
#define UPDATE(kind)                                                                               \
    LAUNCH("update", update_bodies<kind>, count[kind], state->view, count[kind],                   \
           state->kind_bodies[kind], state->twist, state->size)
    UPDATE(MABD_BODY_SIMPLE);
    UPDATE(MABD_BODY_SPRUNG);
    UPDATE(MABD_BODY_GENERAL);
    UPDATE(MABD_BODY_ROWS);
    UPDATE(MABD_BODY_HUB);
    const int32_t parts = parts_for(state->joint_count);
    LAUNCH("reduce", join_bodies, parts * THREADS, state->view, state->twist, state->size,
           state->bad, state->parts);
    MABD_TRY(fetch_part(state, parts, part, error));
    const mabd_real square = part->motion.twist;
    part->motion.twist = square > 0 ? (mabd_real)sqrt(square) / 2 : 0;
    return MABD_OK;
}

mabd_status MABD_CUDA(check)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error) {
    const int32_t joints = state->joint_count;
    LAUNCH("check", check_joints, joints, state->view, joints, state->openings);
    const int32_t parts = parts_for(joints);
    LAUNCH("reduce", join_joints, parts * THREADS, state->view, state->openings, state->parts);
    return fetch_part(state, parts, part, error);
}

// ---- finish --------------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    finish_joints(VIEW sim, bool keep_history, int32_t count) {
    if (INDEX < count) mabd_stage_finish_joint(SIM, keep_history, INDEX);
}

__global__ static void __launch_bounds__(THREADS, 1)
    finish_bodies(VIEW sim, mabd_real* v, int32_t count) {
    if (INDEX >= count) return;
    const mabd_real rate = 1 / sim.step.beta_h, w = sim.step.w, w1 = sim.step.w1;
    v[INDEX] = rate * (sim.q_new[INDEX] - (w * sim.q[INDEX] + w1 * sim.q1[INDEX]));
}

mabd_status MABD_CUDA(finish)(mabd_cuda_state* state, bool keep_history, mabd_error* error) {
    mabd_cpu_sim* sim = &state->view;
    const int32_t joints = state->joint_count, reals = 12 * (int32_t)sim->sizes.bodies;
    LAUNCH("finish", finish_joints, joints, *sim, keep_history, joints);
    LAUNCH("finish", finish_bodies, reals, *sim, keep_history ? sim->v : sim->v1, reals);
    mabd_cpu_turn_state(sim, keep_history);
    return MABD_OK;
}
