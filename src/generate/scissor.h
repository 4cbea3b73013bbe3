// SPDX-License-Identifier: Apache-2.0
// A ring of angulated scissors, anywhere in space: the part that the generators scissor-ring and
// hoberman-sphere share. scissor.c has the geometry.
#pragma once

#include "generate/tools.h"

/// A ring of `units` pairs of bars. Its frame has the rays in x-y, ray 0 along x, hinge axes z.
typedef struct mabd_generate_scissor {
    const char* name; // base of the names of its parts; null = no names
    int32_t units;    // >= 3
    mabd_real arm;    // from the middle hinge to an end [m]
    mabd_real width;  // of the square bars [m]
    mabd_real phi;    // angle between an arm and the tangent [rad]
    mabd_real rate;   // phi' [rad/s]
    mabd_real drag;   // of each bar [N s/m]
    mabd_material material;
    mabd_vec3 position; // of the middle of the ring [m]
    mabd_quat rotation; // from the frame of the ring to the world
    mabd_vec3 velocity; // of the middle [m/s]
    mabd_vec3 spin;     // angular velocity of the whole ring, world axes [rad/s]
    int32_t a, b;       // first bars of the two kinds, set by mabd_generate_scissor_bars
} mabd_generate_scissor;

/// The three circles of hinges of a ring.
typedef enum mabd_scissor_circle {
    MABD_SCISSOR_MIDDLE, // at angles alpha (i + 1/2): bars a_i and b_i
    MABD_SCISSOR_INNER,  // on ray i: bars b_{i-1} and a_i
    MABD_SCISSOR_OUTER,  // on ray i: bars a_{i-1} and b_i
} mabd_scissor_circle;

/// Compute the angle between neighbouring rays, which is also the bend of a bar [rad].
mabd_real mabd_generate_scissor_alpha(const mabd_generate_scissor* ring);
/// Compute the world position of hinge i of a circle.
mabd_vec3 mabd_generate_scissor_point(const mabd_generate_scissor* ring, mabd_scissor_circle circle,
                                      int32_t i);
/// Add the bars name/a/i and name/b/i; sets ring->a and ring->b.
mabd_status mabd_generate_scissor_bars(mabd_scene* scene, mabd_generate_scissor* ring,
                                       mabd_error* error);
/// Make the definition of a hinge of the ring, without bodies and place.
mabd_joint_def mabd_generate_scissor_hinge(const mabd_generate_scissor* ring, const char* name);
/// Add the hinges of a circle from number `first` on, as name/middle/j, name/inner/j or
/// name/outer/j, j from 0. The bars must have been added.
mabd_status mabd_generate_scissor_hinges(mabd_scene* scene, const mabd_generate_scissor* ring,
                                         mabd_scissor_circle circle, int32_t first,
                                         mabd_error* error);
