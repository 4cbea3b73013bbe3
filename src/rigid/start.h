// SPDX-License-Identifier: Apache-2.0
// Start states: poses and velocities that the joints of a model allow (start.c).
#pragma once

#include "base/error.h"
#include "base/warnings.h"
#include "model/model_data.h"

/// Largest joint error and rate of a row that is accepted [m], [rad], [m/s], [rad/s], in addition
/// to round-off.
#define MABD_START_TOLERANCE ((mabd_real)1e-6)
/// Largest rotation of a body in an iteration that closes rows: beyond it the linearisation says
/// nothing [rad].
#define MABD_START_TURN_RAD ((mabd_real)0.5)

/// A state to start from: it is checked, and replaced if the user allows it.
typedef struct mabd_rigid_start {
    const mabd_model* model;
    const mabd_allocator* allocator;
    const mabd_model_start* state; // (bodies) of bodies that move by forces
    /// State of the simulation (bodies), whose joint errors are accepted: a formulation may close
    /// joints by strained bodies, and poses have no strain. Null: the state of the model at its
    /// creation.
    const mabd_model_start* now;
    const mabd_real* near;    // (coordinates) now, null = 0: angles are those nearest to them
    const mabd_real* targets; // (coordinates) set by a program, NaN = the signal; may be null
    mabd_real time;           // [s]
    int64_t step;             // of warnings
    int32_t threads;
    bool pose;  // poses are new: check them
    bool close; // close joints with errors; otherwise they are refused
    bool stops; // poses must lie between the stops of their axes
    bool exact; // rows and rates below the tolerance are closed to round-off
    /// Out: null, or a state (bodies) that differs from `state`, by the allocator; the caller frees
    /// it with mabd_rigid_start_free.
    mabd_model_start* result;
} mabd_rigid_start;

/// Check a state and make it consistent with the joints, as start.c describes. MABD_ERR_INPUT names
/// the joint, MABD_ERR_MEMORY; then there is no result.
mabd_status mabd_rigid_start_settle(mabd_rigid_start* start, mabd_warnings* warnings,
                                    mabd_error* error);
/// Free the result of mabd_rigid_start_settle; null is allowed.
void mabd_rigid_start_free(const mabd_model* model, const mabd_allocator* allocator,
                           mabd_model_start* result);
/// Bytes of the result of mabd_rigid_start_settle.
size_t mabd_rigid_start_bytes(const mabd_model* model);
