// SPDX-License-Identifier: Apache-2.0
// The arrays of a simulation on a device: what the host has, at other addresses, so that the text of the CPU's stages (src/cpu/one)
// finds there all that it asks for. Kernels get the view by value: pointers to the device, and the numbers of the solve under way.
//
// A thread has one body, so every joint's second side is in another "tile" (affine/cpu/pack.h): it writes apart, and is added when all
// have written.
#pragma once

#include "cuda/affine/contact_device.h"
#include "cuda/dual/solvers.h"
#include "cuda/runtime/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

/// What a block of threads has found out about its bodies or joints.
typedef struct mabd_cuda_part {
    mabd_affine_motion_report motion; // rotation: squared, of twice the rotation
    mabd_affine_joint_error opening;
    mabd_affine_axis_report pieces;
    int32_t left;       // copies that have not settled
    int32_t last;       // last joint with axes on a wrong piece, -1 = none
    int32_t inside_out; // body that had no rotation at refer, -1 = none
    int32_t bad;        // slot whose pivot failed, INT32_MAX = none
    bool stop;          // an axis meets a stop
} mabd_cuda_part;

/// Bodies that the same kernel goes over at a time.
typedef struct mabd_cuda_group {
    mabd_affine_body_kind kind;
    int32_t first, count; // in mabd_cuda_state.bodies
    int32_t place;        // of the first one's workspace
} mabd_cuda_group;

typedef struct mabd_cuda_state {
    mabd_device device;
    mabd_affine_sim view;
    int32_t joint_count;
    int32_t body_count;    // bodies that move
    const int32_t* bodies; // (body_count) by group
    int32_t group_count;
    mabd_cuda_group* groups; // (group_count), on the host
    size_t group_bytes;
    int32_t apart_count;
    const mabd_affine_deferred* aparts;
    int32_t script_count;
    int32_t* script_bodies; // (script_count)
    mabd_real* script_q;    // (script_count x 12)
    mabd_real* staged_q;    // the same on the host, until it is copied
    size_t staged_bytes;
    mabd_cuda_touch touch;
    mabd_cuda_solvers solvers;
    int32_t* bad;                      // (slots) 1 if its pivot failed
    mabd_real *rotation, *size;        // (bodies) squared
    uint8_t* inside_out;               // (bodies) 1 if it had no rotation at refer
    mabd_affine_joint_error* openings; // (joints)
    mabd_cuda_part* parts;             // (MABD_CUDA_PARTS + 1) the last one is of all
} mabd_cuda_state;

/// Blocks of a reduction.
#define MABD_CUDA_PARTS 64

/// Take the device's memory and copy everything there. host: after mabd_affine_reset and mabd_affine_begin_solve; arena: the memory behind its arrays.
/// MABD_ERR_UNAVAILABLE: no device; the text says what is missing. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(state_create)(const mabd_affine_sim* host, const void* arena,
                                    size_t arena_size, const mabd_allocator* allocator,
                                    mabd_cuda_state* state, mabd_error* error);
void MABD_CUDA(state_destroy)(const mabd_allocator* allocator, mabd_cuda_state* state);

/// Numbers of a solve that mabd_affine_begin_solve has made on the host: blocks, controls, motors, forces, the step.
mabd_status MABD_CUDA(state_begin)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                   mabd_error* error);
/// Which arrays: those of a state, or all of a solve.
typedef enum mabd_cuda_fields {
    MABD_CUDA_STATE, // the STATE fields of affine/fields.def
    MABD_CUDA_ALL,   // all fields but D and U, and axes
} mabd_cuda_fields;
/// To the host; waits.
mabd_status MABD_CUDA(state_download)(const mabd_cuda_state* state, mabd_cuda_fields fields,
                                      mabd_affine_sim* host, mabd_error* error);
/// The STATE fields from the host, which stay as they are until the next wait.
mabd_status MABD_CUDA(state_upload)(const mabd_cuda_state* state, const mabd_affine_sim* host,
                                    mabd_error* error);
/// Bytes on the device.
size_t MABD_CUDA(state_bytes)(const mabd_cuda_state* state);

// ---- stages (stages.cu): as those of affine/data.h, in the order of the stream ----

/// Scripted bodies stand where they do on the host (q_new).
mabd_status MABD_CUDA(predict)(mabd_cuda_state* state, const mabd_affine_sim* host,
                               mabd_error* error);
mabd_status MABD_CUDA(assemble)(mabd_cuda_state* state, mabd_affine_pass pass, mabd_error* error);
/// Waits. part: motion, the slot whose pivot failed in factor, the body that refer could not turn.
mabd_status MABD_CUDA(update)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
/// At q_new. Waits.
mabd_status MABD_CUDA(check)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
/// Part of it: `openings` of all joints, without waiting.
mabd_status MABD_CUDA(check_joints)(mabd_cuda_state* state, mabd_error* error);
mabd_status MABD_CUDA(refer)(mabd_cuda_state* state, mabd_error* error);
mabd_status MABD_CUDA(finish)(mabd_cuda_state* state, bool keep_history, mabd_error* error);
/// q, v and coordinates into their history, or back; stress becomes 0.
mabd_status MABD_CUDA(copy_state)(mabd_cuda_state* state, bool back, mabd_error* error);

// ---- copies of a batch that settle one by one (copies.cu) ----

/// After update: *left of them have not settled. Waits.
mabd_status MABD_CUDA(settle_copies)(mabd_cuda_state* state, const mabd_affine_copy_goal* goal,
                                     const mabd_affine_sim* host, int32_t* left, mabd_error* error);
/// What was kept is the result; host->copies gets what is known of each. Waits.
mabd_status MABD_CUDA(close_copies)(mabd_cuda_state* state, mabd_affine_sim* host,
                                    mabd_error* error);

// ---- axes with laws (axes.cu) ----

/// Waits. host: who counts how often all axes may move.
mabd_status MABD_CUDA(switch_axes)(mabd_cuda_state* state, mabd_affine_sim* host, bool anew,
                                   mabd_real slack, mabd_affine_axis_report* report,
                                   mabd_error* error);
/// Whether some axis meets a stop within `span` > 0 seconds, or has changed one (span = 0). Waits.
mabd_status MABD_CUDA(any_stop)(mabd_cuda_state* state, mabd_real span, mabd_real least, bool* any,
                                mabd_error* error);

#ifdef __cplusplus
}
#endif
