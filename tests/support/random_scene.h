// SPDX-License-Identifier: Apache-2.0
// Seeded random scenes: bodies of random shape, mass and motion, joined in a given pattern by joints of
// random type with random controls.
#pragma once

#include "mabd/scene.h"

typedef enum random_pattern {
    RANDOM_CHAIN,  // 0 - 1 - 2 - ...
    RANDOM_TREE,   // each body hangs on an earlier one
    RANDOM_LOOPS,  // a tree and a few more joints
    RANDOM_LADDER, // two chains with rungs: a graph
} random_pattern;

typedef struct random_scene_def {
    uint64_t seed;
    random_pattern pattern;
    int32_t bodies;
    bool grounded;        // body 0 is jointed to the world, else the scene floats
    bool balls_only;      // ball joints without controls
    bool controls;        // springs, dampers, armature, servos, motors on some free axes
    mabd_real mass_range; // masses differ by up to this factor, >= 1
} random_scene_def;

/// Uniform in [-1, 1); advances the state.
mabd_real random_real(uint64_t* state);
/// Build it; fails the running test on error. The caller destroys the scene.
mabd_scene* random_scene(const random_scene_def* def);
