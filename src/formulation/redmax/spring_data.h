// SPDX-License-Identifier: Apache-2.0
// Data of the springs and of the ground of a simulation in the redmax formulation.
#pragma once

#include "math/spatial.h"

/// A point of a link, of a scripted body, or of the world.
typedef struct mabd_redmax_point {
    int32_t link;   // -1 = none
    int32_t script; // of the model, -1 = none
    mabd_vec3 x;    // link frame, principal frame of a scripted body, or world [m]
} mabd_redmax_point;

typedef struct mabd_redmax_spring {
    int32_t index;        // of the model
    int32_t border;       // first of its borders, -1 = it moves one link only
    int32_t border_count; // 3 for two points; 4 for each segment of more
} mabd_redmax_spring;

/// A point of a spring or of the ground before a step, for its works.
typedef struct mabd_redmax_end {
    mabd_vec3 F, p;           // force of a spring on a script, or of friction on a point; place
    mabd_real length, damper; // of a spring, at its first point: with its tension by damping; of
                              // the ground: height of the point and normal force by damping
} mabd_redmax_end;

/// Couplings of all parts.
typedef struct mabd_redmax_couplings {
    int32_t* order;   // couplings of the model by part
    int32_t* freedom; // (coupling_axes of the model)
} mabd_redmax_couplings;

/// Springs of all parts, and points that the ground pushes.
typedef struct mabd_redmax_springs {
    mabd_redmax_point* points;           // as spring_points of the model
    mabd_redmax_spring* springs;         // by part
    mabd_real* own;                      // (links with springs x 6 x 12) derivatives by dV and xi
    int32_t* ground_first;               // (links + 1) first point of a link
    mabd_vec3* ground;                   // link frames
    mabd_redmax_end *ends, *ground_ends; // as points, as ground
} mabd_redmax_springs;
