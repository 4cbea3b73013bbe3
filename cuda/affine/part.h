// SPDX-License-Identifier: Apache-2.0
// The results of reductions over bodies, joints and slots. Ties go to the lower number, as on the
// CPU. For .cu files only.
#pragma once

#include "cuda/affine/state.h"
#include "cuda/runtime/reduce.h"

extern "C" {
#include "formulation/affine/element/axis.h"
}

/// The simulation as the argument of a kernel.
#define VIEW CONSTANT mabd_affine_sim

/// Combine two parts; `more` is of higher bodies, joints and slots.
MABD_FN void add_part(mabd_cuda_part* part, const mabd_cuda_part* more) {
    if (more->motion.rotation > part->motion.rotation) {
        part->motion.rotation = more->motion.rotation;
        part->motion.rotated_body = more->motion.rotated_body;
    }
    if (part->motion.broken_body < 0) part->motion.broken_body = more->motion.broken_body;
    if (part->inside_out < 0) part->inside_out = more->inside_out;
    if (more->last >= 0) part->last = more->last;
    if (more->bad < part->bad) part->bad = more->bad;
    part->stop |= more->stop;
    part->left += more->left;
    mabd_affine_joint_error_add(&part->joint_error, &more->joint_error);
    mabd_affine_axis_report_add(&part->axes, &more->axes);
}

/// The part of no bodies, joints and slots.
MABD_FN mabd_cuda_part no_part(void) {
    mabd_cuda_part part;
    memset(&part, 0, sizeof part);
    part.motion.rotation = -1, part.motion.rotated_body = part.motion.broken_body = -1;
    part.joint_error.joint = part.axes.joint = part.inside_out = part.last = -1;
    part.bad = INT32_MAX;
    return part;
}

/// Write the combined part of all threads of a block to parts[blockIdx.x].
__device__ static inline void join_parts(mabd_cuda_part* shared, const mabd_cuda_part* own,
                                         mabd_cuda_part* parts) {
    reduce_block<mabd_cuda_part, add_part>(shared, *own);
    if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

/// Combine state->parts of `count` blocks and copy the result to the host. Waits.
mabd_status MABD_CUDA(download_part)(mabd_cuda_state* state, int32_t count, mabd_cuda_part* part,
                                     mabd_error* error);
