// SPDX-License-Identifier: Apache-2.0
// The arrays of a simulation on a device: those of the host at other addresses, so that the source
// of the CPU's stages (affine/element/) finds all it reads there. Kernels get the view by value:
// pointers to the device, and the numbers of the current solve.
//
// A thread has one body, so the second side of every joint is in another "tile"
// (affine/cpu/pack.h): it writes to a place of its own (deferred), which is added after all threads
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

/// Result of a block of threads over its bodies, joints, copies or slots.
typedef struct mabd_cuda_part {
    mabd_affine_motion_report motion; // rotation: squared, of twice the rotation
    mabd_affine_joint_error joint_error;
    mabd_affine_axis_report axes;
    int32_t left;       // copies that have not settled
    int32_t last;       // last joint with axes on a wrong branch, -1 = none
    int32_t inside_out; // body that had no rotation at relinearize, -1 = none
    int32_t bad;        // slot whose pivot failed, INT32_MAX = none
    bool stop;          // an axis meets a stop
} mabd_cuda_part;

/// Bodies of one launch: of one kind and colour.
typedef struct mabd_cuda_group {
    mabd_affine_body_kind kind;
    int32_t first, count; // in mabd_cuda_state.bodies
    int32_t place;        // workspace of the first body
} mabd_cuda_group;

/// Pointers are device memory unless the comment says otherwise.
typedef struct mabd_cuda_state {
    mabd_device device;
    mabd_affine_sim view;
    int32_t joint_count;
    int32_t body_count;    // bodies that move
    const int32_t* bodies; // (body_count) by group
    int32_t group_count;
    mabd_cuda_group* groups; // (group_count) on the host
    size_t group_bytes;
    int32_t deferred_count;
    const mabd_affine_deferred* deferred; // (deferred_count)
    int32_t script_count;
    int32_t* script_bodies; // (script_count)
    mabd_real* script_q;    // (script_count x 12)
    mabd_real* staged_q;    // (script_count x 12) on the host, until it is copied
    size_t staged_bytes;
    mabd_cuda_contacts contacts;
    mabd_cuda_solvers solvers;
    int32_t* bad;                          // (slots) 1 if its pivot failed
    mabd_real *rotation, *size;            // (bodies) squared
    uint8_t* inside_out;                   // (bodies) 1 if it had no rotation at relinearize
    mabd_affine_joint_error* joint_errors; // (joints)
    mabd_cuda_part* parts; // (MABD_CUDA_PARTS + 1) of each block of a reduction; the last: of all
} mabd_cuda_state;

/// Take the memory of the device and copy everything there. host: after mabd_affine_reset and
/// mabd_affine_begin_solve; arena: the memory of its arrays. MABD_ERR_UNAVAILABLE: no device; the
/// text names what is missing. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(state_create)(const mabd_affine_sim* host, const void* arena,
                                    size_t arena_size, const mabd_allocator* allocator,
                                    mabd_cuda_state* state, mabd_error* error);
/// Free everything that state_create has taken.
void MABD_CUDA(state_destroy)(const mabd_allocator* allocator, mabd_cuda_state* state);

/// Upload the numbers of a solve that mabd_affine_begin_solve has made on the host: blocks,
/// controls, motors, forces, the step.
mabd_status MABD_CUDA(state_begin)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                   mabd_error* error);
/// Which arrays state_download copies.
typedef enum mabd_cuda_fields {
    MABD_CUDA_STATE, // the STATE fields of affine/fields.def
    MABD_CUDA_ALL,   // all fields but D and U, and axes
} mabd_cuda_fields;
/// Copy arrays to the host. Waits.
mabd_status MABD_CUDA(state_download)(const mabd_cuda_state* state, mabd_cuda_fields fields,
                                      mabd_affine_sim* host, mabd_error* error);
/// Copy the STATE fields of the host to the device; the host must not change them until the next
/// wait.
mabd_status MABD_CUDA(state_upload)(const mabd_cuda_state* state, const mabd_affine_sim* host,
                                    mabd_error* error);
/// Bytes on the device.
size_t MABD_CUDA(state_bytes)(const mabd_cuda_state* state);

// ---- stages (stages.cu), as described in affine/data.h, in the order of the stream --------------

/// Predict references. Scripted bodies get the pose that they have on the host (q_new).
mabd_status MABD_CUDA(predict)(mabd_cuda_state* state, const mabd_affine_sim* host,
                               mabd_error* error);
/// Assemble the dual system and the increments without joint forces.
mabd_status MABD_CUDA(assemble)(mabd_cuda_state* state, mabd_affine_pass pass, mabd_error* error);
/// Compute q_new from the multipliers. part: motion, the slot whose pivot failed in factor, the
/// body that relinearize could not rotate. Waits.
mabd_status MABD_CUDA(update)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
/// Compute the largest joint error at q_new (part->joint_error). Waits.
mabd_status MABD_CUDA(check)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
/// Compute state->joint_errors of all joints at q_new.
mabd_status MABD_CUDA(check_joints)(mabd_cuda_state* state, mabd_error* error);
/// Move the references to q_new. The next update reports a body without rotation.
mabd_status MABD_CUDA(relinearize)(mabd_cuda_state* state, mabd_error* error);
/// Compute rates and make q_new the state; with keep_history the state before stays as it is.
mabd_status MABD_CUDA(finish)(mabd_cuda_state* state, bool keep_history, mabd_error* error);
/// Copy q, v, coordinates and stress into their history, or back from it.
mabd_status MABD_CUDA(copy_state)(mabd_cuda_state* state, bool back, mabd_error* error);

// ---- copies of a batch that settle one by one (copies.cu) ---------------------------------------

/// Save the results of copies that meet the goal, after update. *left: number of copies that do not
/// meet it yet. Waits.
mabd_status MABD_CUDA(settle_copies)(mabd_cuda_state* state, const mabd_affine_copy_goal* goal,
                                     const mabd_affine_sim* host, int32_t* left, mabd_error* error);
/// Restore the saved results at the end of a solve; host->copies gets the state of each copy.
/// Waits.
mabd_status MABD_CUDA(close_copies)(mabd_cuda_state* state, mabd_affine_sim* host,
                                    mabd_error* error);
/// Upload sim->jumps (MABD_STEADY_KEEP), and keep, exchange or take the results of copies without a
/// jump (affine/element/copy.h).
mabd_status MABD_CUDA(steady_copies)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                     mabd_affine_steady_part part, mabd_error* error);

// ---- energy books (books.cu) --------------------------------------------------------------------

/// Book the stops of all joints in the current solve (affine/backend.h).
mabd_status MABD_CUDA(book_stops)(mabd_cuda_state* state, bool more, mabd_real least,
                                  mabd_error* error);
/// Book joints and bodies in a finished step. host: has the controls at the start of the step.
mabd_status MABD_CUDA(book_step)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                 bool continued, mabd_error* error);
/// Compute the work of the forces for one step on each body, into work (bodies) on the host [J].
/// Waits.
mabd_status MABD_CUDA(book_applied)(mabd_cuda_state* state, mabd_real* work, mabd_error* error);

// ---- axes with laws (axes.cu) -------------------------------------------------------------------

/// Move axes with a law to the branch on which the solution lies. first_solve: the first solve at
/// this reference. slack: residual that the solve may have left [m], [rad]. host: counts how often
/// all axes may move. Waits.
mabd_status MABD_CUDA(update_axes)(mabd_cuda_state* state, mabd_affine_sim* host, bool first_solve,
                                   mabd_real slack, mabd_affine_axis_report* report,
                                   mabd_error* error);
/// Find out whether an axis meets a stop within `span` > 0 seconds, or has changed one (span = 0).
/// least: a smaller displacement into the stop does not count [m], [rad]. Waits.
mabd_status MABD_CUDA(any_stop)(mabd_cuda_state* state, mabd_real span, mabd_real least, bool* any,
                                mabd_error* error);

#ifdef __cplusplus
}
#endif
