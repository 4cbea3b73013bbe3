// SPDX-License-Identifier: Apache-2.0
// Rows of controls for derivatives: the branch of its law that an axis is on (tangent_axis.c).
#pragma once

#include "formulation/quaternion/tangent_joint.h"

/// The row of a control in a solve or among accelerations. With f the force that acts on its
/// coordinate x from outside of the bodies,
///   held       F = x - given, or x'' - given
///   otherwise  F = weight (lambda - f),   df = -k dx - d dx' - I dx'' + by_target dp
typedef struct mabd_tangent_axis {
    bool held;  // x is given: by a target, a stop, a drive that holds or friction that sticks
    bool flat;  // lambda does not depend on x
    bool turns; // its dampers and armature are in ball_damper.h
    bool armed; // among accelerations: F = J a + ... + (lambda - f)/I
    mabd_real weight;
    mabd_real stiffness, damping, armature; // k, d, I
    mabd_real by_target;                    // of f, or of the x that is given
    mabd_real by_past;                      // of the x that is given by x of the past
    mabd_real friction;                     // of -f by the coefficient of dry friction: -1, 0, 1
} mabd_tangent_axis;

/// Return the row of control k of a joint in the implicit function of a point: a solve or
/// accelerations. Branches are those in sim->axes.
mabd_tangent_axis mabd_tangent_axis_of(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                                       int32_t k);

/// Put the columns -J' of rows on flat branches back into the matrix of a solve, which a Newton
/// iteration does not need: their multipliers are known there, and have derivatives here.
void mabd_tangent_store_flat(const mabd_quaternion_point* p);
