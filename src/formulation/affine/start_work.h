// SPDX-License-Identifier: Apache-2.0
// Data that the parts of a start state share: poses, velocities, projection, and messages.
#pragma once

#include "formulation/affine/start.h"

/// Largest joint error and rate of a row that is accepted [m], [rad], [m/s], [rad/s], in addition
/// to round-off.
#define MABD_AFFINE_START_TOLERANCE ((mabd_real)1e-6)
#define MABD_AFFINE_START_ROUND_OFF (64 * MABD_AFFINE_EPSILON)

/// A start state while mabd_affine_start_settle works on it.
typedef struct mabd_affine_start_work {
    mabd_affine_sim* sim;
    const mabd_model* m;
    mabd_affine_start* start;
    mabd_affine_projection p;
    mabd_real* q0;     // (bodies + 1 x 12) poses before joints were closed
    mabd_real* saved;  // (bodies + 1 x 12) closed poses before joints move along their freedoms
    mabd_real* before; // (bodies + 1 x 12) poses before the current iteration
    mabd_real* moved;  // (bodies + 1 x 12) displacements as rates of affine coordinates
    mabd_warnings* warnings;
    mabd_error* error;
} mabd_affine_start_work;

/// Allocate q0, saved, before, moved and the workspace of the projection, once: only states with a
/// violation need them. MABD_ERR_MEMORY.
mabd_status mabd_affine_start_reserve(mabd_affine_start_work* s);
/// Free q0, saved, before, moved and the workspace of the projection; null arrays are allowed.
void mabd_affine_start_release(mabd_affine_start_work* s);
/// Write the message about missing memory and return MABD_ERR_MEMORY.
mabd_status mabd_affine_start_no_memory(const mabd_affine_start_work* s);
