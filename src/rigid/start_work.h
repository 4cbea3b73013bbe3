// SPDX-License-Identifier: Apache-2.0
// Data that the parts of a start state share: poses, velocities, projection, and messages.
#pragma once

#include "rigid/projection.h"
#include "rigid/start.h"

#ifdef MABD_SINGLE
#define MABD_START_EPSILON ((mabd_real)1.2e-7)
#else
#define MABD_START_EPSILON ((mabd_real)2.2e-16)
#endif

/// Round-off, relative to the sizes of a joint.
#define MABD_START_ROUND_OFF (64 * MABD_START_EPSILON)

/// A start state while mabd_rigid_start_settle works on it.
typedef struct mabd_rigid_start_work {
    const mabd_rigid_start* start;
    const mabd_model* m;
    mabd_rigid_pose* poses;  // (bodies + 1)
    mabd_rigid_twist* u;     // (bodies + 1) velocities, those of scripts included
    bool changed;            // poses or velocities
    mabd_rigid_projection p; // of `poses`, unless said
    mabd_rigid_pose* q0;     // (bodies + 1) poses before joints were closed
    mabd_rigid_pose* saved;  // (bodies + 1) closed poses before joints move along their freedoms
    mabd_rigid_pose* before; // (bodies + 1) poses before the current iteration
    mabd_rigid_twist* moved; // (bodies + 1) displacements
    mabd_warnings* warnings;
    mabd_error* error;
} mabd_rigid_start_work;

/// Allocate `poses` and `u` and fill them from the state. MABD_ERR_MEMORY.
mabd_status mabd_rigid_start_open(mabd_rigid_start_work* s);
/// Allocate q0, saved, before, moved and the workspace of the projection, once: only states with a
/// violation need them. MABD_ERR_MEMORY.
mabd_status mabd_rigid_start_reserve(mabd_rigid_start_work* s);
/// Free all arrays; null arrays are allowed.
void mabd_rigid_start_release(mabd_rigid_start_work* s);
/// Write the message about missing memory and return MABD_ERR_MEMORY.
mabd_status mabd_rigid_start_no_memory(const mabd_rigid_start_work* s);
/// Compute the pose of a body in a state; body_count is the world.
mabd_rigid_pose mabd_rigid_pose_in(const mabd_model* m, const mabd_model_start* state,
                                   int32_t body);
/// Compute the twist of a body in a state; 0 for bodies that do not move by forces.
mabd_rigid_twist mabd_rigid_twist_in(const mabd_model* m, const mabd_model_start* state,
                                     int32_t body);
