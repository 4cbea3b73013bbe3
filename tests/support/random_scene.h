// SPDX-License-Identifier: Apache-2.0
// Seeded random scenes: bodies of random shape, mass and motion, joined in a given pattern by
// joints of random type with random controls.
#pragma once

#include "mabd/scene.h"

typedef enum random_pattern {
    RANDOM_CHAIN,  // 0 - 1 - 2 - ...
    RANDOM_TREE,   // each body hangs on an earlier one
    RANDOM_LOOPS,  // a tree and a few more joints
    RANDOM_LADDER, // two chains with rungs: a graph
    RANDOM_STAR,   // all bodies hang on the first
    RANDOM_RING,   // a chain closed from its end to its start
    RANDOM_NET,    // rows of three bodies, each joined to its neighbours
    RANDOM_MIXED,  // a ring, a ladder on it, a tree on that, and a few more joints
} random_pattern;

typedef struct random_scene_def {
    uint64_t seed;
    random_pattern pattern;
    int32_t bodies;
    bool grounded;        // body 0 is jointed to the world, else the scene floats
    bool on_fixed;        // with grounded: jointed to a fixed body (added last) instead
    bool balls_only;      // ball joints without controls
    bool controls;        // springs, dampers, armature, servos, motors on some free axes
    bool soft;            // controls without rigid servos
    bool passive;         // all free axes have springs and dampers, and no servos and motors
    bool laws;            // axes with controls have stops, friction, drives with a limit too
    bool paths;           // every other joint is a screw, a composite or a spline, without controls
    bool single;          // joints whose freedoms are single turns and slides, and fixed ones
    bool damped;          // nothing but equal dampers and armature on the turns of balls
    bool charts;          // balls have charts of their own, exponential or Euler angles
    bool wide;            // axis and point-on-plane are among the joints
    mabd_real mass_range; // masses differ by up to this factor, >= 1
} random_scene_def;

/// Draw a number, uniform in [-1, 1); advances the state.
mabd_real random_real(uint64_t* state);
/// Build a random scene; fails the running test on error. The caller destroys the scene.
mabd_scene* random_scene(const random_scene_def* def);
/// Add a random scene to one that may already have bodies.
void random_scene_add(const random_scene_def* def, mabd_scene* scene);
