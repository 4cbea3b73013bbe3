// SPDX-License-Identifier: Apache-2.0
// Newton iteration on a barrier: contacts, stops and boxes of one group of bodies
// (interior_point.c).
#pragma once

#include "formulation/variational/barrier.h"
#include "mabd/base.h"

/// Errors of an iterate, as lengths.
typedef struct mabd_interior_error {
    mabd_real rows; // of joints, and of distances of contacts [m], [rad]
    bool finite;
} mabd_interior_error;

/// The motion of the bodies.
typedef struct mabd_interior_host {
    void* self;
    /// Compute residuals at the iterate: of the bodies and rows, phi and slip of contacts, excess
    /// of boxes.
    mabd_interior_error (*evaluate)(void* self);
    /// Factor the Newton matrix with the responses kn, sn, st. A failure ends the iteration.
    mabd_status (*factor)(void* self);
    /// Solve with the responses k0, s0 and write the increments of all contacts and boxes
    /// (mabd_barrier_solve, mabd_barrier_solve_box).
    void (*solve)(void* self);
    /// Return the step of the last increments that the bodies allow; their largest displacement in
    /// a step of time goes to *length [m].
    mabd_real (*limit)(void* self, mabd_real* length);
    /// Move the bodies by a part of the last increments.
    void (*move)(void* self, mabd_real step);
    /// Put the bodies back to where the iteration has begun.
    void (*restart)(void* self);
} mabd_interior_host;

/// The problem of one group.
typedef struct mabd_interior_problem {
    mabd_interior_host host;
    mabd_barrier_contact* contacts; // (contact_count)
    mabd_barrier_box* boxes;        // (box_count)
    int32_t contact_count, box_count;
    mabd_real tolerance;     // of products: gamma s = tolerance weight [m]
    mabd_real row_tolerance; // [m], [rad]
    mabd_real h;             // of a step [s]
    mabd_real speed;         // largest of the bodies, for cold restarts [m/s]
    int32_t max_iterations;
    bool central; // a second attempt: from cold, and friction stays near the path
} mabd_interior_problem;

/// Result of an iteration.
typedef struct mabd_interior_report {
    int32_t iterations; // factorisations
    int32_t restarts;
    bool converged;
    mabd_real residual; // largest product over its target, less 1; 0 = on target
    mabd_status status; // of the factorisation that failed, else MABD_OK
} mabd_interior_report;

/// Solve a problem from the iterate in its contacts and boxes, which must be inside of their cones.
mabd_interior_report mabd_interior_point(const mabd_interior_problem* problem);
