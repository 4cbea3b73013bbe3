// SPDX-License-Identifier: Apache-2.0
// Boxes and joints in general position, by the public API, for the verification tests of joints,
// controls and forces.
//
// All joints have one tilted frame (joint_frame) at one anchor off the origin (joint_anchor). Boxes
// have three different sides along the axes of that frame, so these are principal axes and closed
// forms are short; but the box is rotated and off centre in its user frame, so no quantity is zero
// by accident.
#pragma once

#include "mabd/sim.h"

/// A box body. All other fields are those of mabd_default_body_def().
typedef struct block_def {
    double sides[3];    // along the joint axes [m]
    double place[3];    // position of its centre from the anchor, along the joint axes [m]
    double young;       // [Pa], 0 = default
    double drag;        // [N s/m]
    double velocity[3]; // velocity of its centre, along the joint axes [m/s]
    double spin[3];     // angular velocity, along the joint axes [rad/s]
} block_def;

/// Return the mass [kg], or the moment about the axis k of the joint frame through the centre [kg
/// m^2], at 1000 kg/m^3.
double block_mass(const block_def* def);
double block_inertia(const block_def* def, int k);
/// Add the box; return its index. For a scripted or fixed box, change the def of block_body
/// instead.
int32_t block_add(mabd_scene* scene, const block_def* def);
/// Return the definition of the box, to change and add by hand; it points to *geom, which is
/// filled.
mabd_body_def block_body(const block_def* def, mabd_geom* geom);
/// Centre of a block in its user frame [m] (3), and from its state in the world.
extern const double block_center[3];
void block_world_center(const double* position, const double* quaternion, double* center);

/// Frame and anchor of all joints, world.
extern const double joint_frame[4], joint_anchor[3];
/// Convert a vector along the joint axes at the start to the world.
void joint_to_world(const double* along, double* world);
/// Return component k of a world vector along the joint axes at the start.
double joint_component(const double* world, int k);
/// Add a joint of `type` from a to b with controls on its axes (null = none); return its index.
int32_t joint_add(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b,
                  const mabd_axis_def* const* axes);
/// Add a joint of `type` from a to b with controls on one axis; return its index.
int32_t joint_add_axis(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b, mabd_axis axis,
                       const mabd_axis_def* def);
/// Return true if a joint of the type is free along or about an axis.
int joint_is_free(mabd_joint type, int axis);
/// Apply a force and torque to a block at its centre, along the joint axes; signal NONE = constant.
void block_push(mabd_scene* scene, int32_t body, const double* force, const double* torque,
                mabd_signal signal);
/// Compute the coordinates of a joint (6) along and about its axes. A bare ball joint (no controls)
/// reports them along the world axes; here they are converted to its own axes.
void joint_coordinates(const mabd_sim* sim, int32_t joint, bool bare, double* x);
/// Return one coordinate of a joint that is not a bare ball joint.
double joint_coordinate(const mabd_sim* sim, int32_t joint, int axis);

/// Advance by `steps`; every step must meet its tolerances without a retry and close all rows to
/// 1e-9.
void joint_run(mabd_sim* sim, int steps);

/// Make signals.
mabd_signal signal_sine(double offset, double amplitude, double frequency, double phase);
mabd_signal signal_ramp(double value, double value_end, double start, double end);

/// The motion of a coordinate by SDIRK2 for the first step and BDF2 from then on:
///   mass x'' = force(t) - stiffness x - damping x'
/// x and rate start as given and hold the values after `steps` steps of h [s].
typedef struct line_motion {
    double mass, stiffness, damping;
    double (*force)(double time, const void* context); // null = 0
    const void* context;
} line_motion;
void line_bdf2(const line_motion* motion, double h, int steps, double* x, double* rate);
