// SPDX-License-Identifier: Apache-2.0
// Start states: poses and velocities that the joints of a model allow (start.c).
#pragma once

#include "base/warnings.h"
#include "formulation/affine/projection.h"

/// A state to start from: it is checked, and changed if the user allows it.
typedef struct mabd_affine_start {
    mabd_real* q;    // (bodies + 1 x 12) rigid poses as affine coordinates
    mabd_real* v;    // (bodies x 12) their rates; 0 for bodies that do not move by forces
    mabd_real time;  // [s]
    int64_t step;    // of warnings
    bool pose;       // poses are new: check them
    bool close;      // close joints with errors; otherwise they are refused
    bool stops;      // poses must lie between the stops of their axes
    bool changed;    // out: q or v has changed
    bool is_initial; // the state of the model at its creation, for messages
} mabd_affine_start;

/// Check a state and make it consistent with the joints, as start.c describes. D, U and lambda_last
/// of `sim` are overwritten; controls must hold the values at start->time. MABD_ERR_INPUT names the
/// joint; then q and v may have changed. MABD_ERR_MEMORY.
mabd_status mabd_affine_start_settle(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                     mabd_affine_start* start, mabd_warnings* warnings,
                                     mabd_error* error);
