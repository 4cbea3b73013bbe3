// SPDX-License-Identifier: Apache-2.0
// Linkages in the x-z plane at a given distance from a singular pose.
#pragma once

#include "mabd/scene.h"

typedef enum linkage_pose {
    LINKAGE_STRAIGHT,      // an open chain, its links in line
    LINKAGE_CHANGE_POINT,  // a parallelogram, all four corners on a line
    LINKAGE_FLAT_LOOP,     // a closed loop pressed flat: out along a line and back
    LINKAGE_PARALLEL_AXES, // a four-bar with all hinge axes parallel: three rows redundant
    LINKAGE_POSES,
} linkage_pose;

typedef struct linkage_def {
    uint64_t seed;
    linkage_pose pose;
    mabd_real distance; // from the singular pose [rad]
    int32_t corners;    // STRAIGHT: links + 1, >= 2; FLAT_LOOP: >= 4; four otherwise
    bool grounded;      // closed loops: the last bar is the world; STRAIGHT: one end hinged to it
} linkage_def;

/// Make bars of 0.3 m to 1.5 m with different start velocities. Fails the running test on error;
/// the caller destroys the scene.
mabd_scene* linkage_scene(const linkage_def* def);
