// SPDX-License-Identifier: Apache-2.0
// Bodies that move by forces, in packs of 8 (bodies_lanes.c), for forces.c.
#pragma once

#include "formulation/impulse/impulse_data.h"

/// What is done with each body of a pack.
typedef enum mabd_impulse_body_task {
    MABD_IMPULSE_BODY_START, // velocities with loads and without impulses
    MABD_IMPULSE_BODY_MOVE,  // q and c over the substep
    MABD_IMPULSE_BODY_TURN,  // angular velocities at its end
    MABD_IMPULSE_BODY_POSE,  // poses from q and c
} mabd_impulse_body_task;

/// Arrays of the simulation (bodies), and the bodies in packs.
typedef struct mabd_impulse_bodies {
    int32_t pack_count;
    const int32_t* moving; // (packs x 8) bodies; the last one fills its pack
    const bool* round;     // (packs) all have three equal moments
    const mabd_real* made; // (bodies x 8) mass, drag, moments
    mabd_impulse_line* lines;
    mabd_rigid_pose* poses;
    const mabd_rigid_wrench* load;
    mabd_impulse_spin* spin;
    mabd_sym3* inertia;
    mabd_vec3* shift;
    mabd_quat* q;
    mabd_vec3* c;
    mabd_real h;
    mabd_vec3 wind;
    bool steady; // no torques act, and inertia and shift of round packs are set
} mabd_impulse_bodies;
