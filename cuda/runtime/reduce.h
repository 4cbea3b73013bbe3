// SPDX-License-Identifier: Apache-2.0
// What threads have found out, joined in their order: over the threads of a block, then over the blocks. Ties go to the lower number, as
// on the processor. For .cu files only.
#pragma once

#include "cuda/affine/state.h"

#include "cuda/runtime/launch.h"

extern "C" {
#include "formulation/affine/element/axis.h"
}

// The worse of two parts, of which `more` has the higher bodies, joints and slots.
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
    mabd_affine_joint_error_add(&part->opening, &more->opening);
    mabd_affine_axis_report_add(&part->pieces, &more->pieces);
}

MABD_FN mabd_cuda_part no_part(void) {
    mabd_cuda_part part;
    memset(&part, 0, sizeof part);
    part.motion.rotation = -1, part.motion.rotated_body = part.motion.broken_body = -1;
    part.opening.joint = part.pieces.joint = part.inside_out = part.last = -1;
    part.bad = INT32_MAX;
    return part;
}

// The sum over the threads of a block, in their order, for the whole block.
__device__ static inline void join_parts(mabd_cuda_part* shared, const mabd_cuda_part* own,
                                         mabd_cuda_part* parts) {
    const int32_t t = (int32_t)threadIdx.x;
    shared[t] = *own;
    __syncthreads();
    for (int32_t step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0) add_part(&shared[t], &shared[t + step]);
        __syncthreads();
    }
    if (t == 0) parts[blockIdx.x] = shared[0];
}

// The first of n things that thread i of all has.
__device__ static inline int32_t share_of(int32_t n, int32_t i) {
    return (int32_t)((int64_t)n * i / (gridDim.x * blockDim.x));
}

// Blocks to go over n things: a thread has a few.
static inline int32_t parts_for(int32_t n) {
    const int32_t parts = n / (8 * THREADS) + 1;
    return parts < MABD_CUDA_PARTS ? parts : MABD_CUDA_PARTS;
}

/// Join the parts of `count` blocks and wait for the result.
mabd_status MABD_CUDA(fetch_part)(mabd_cuda_state* state, int32_t count, mabd_cuda_part* part,
                                  mabd_error* error);
