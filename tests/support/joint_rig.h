// SPDX-License-Identifier: Apache-2.0
// Boxes and joints in general position, by the public API: what the verification tests of joints,
// controls and forces share.
//
// All joints have one tilted frame (joint_frame) at one anchor off the origin (joint_anchor). Boxes
// have three different sides along the axes of that frame, so those are principal axes and closed
// forms are short; but the box stands askew and off centre in the frame that the user gives, so
// nothing is zero by accident.
#pragma once

#include "mabd/sim.h"

/// A box body. Everything else is mabd_default_body_def().
typedef struct block_def {
    double sides[3];    // along the joint axes [m]
    double place[3];    // of its centre, from the anchor, along the joint axes [m]
    double young;       // [Pa], 0 = default
    double drag;        // [N s/m]
    double velocity[3]; // of its centre, along the joint axes [m/s]
    double spin[3];     // angular velocity, along the joint axes [rad/s]
} block_def;

/// Mass [kg] and moment about the axis k of the joint frame through the centre [kg m^2], at 1000
/// kg/m^3.
double block_mass(const block_def* def);
double block_inertia(const block_def* def, int k);
/// Add the box; returns its index. A scripted or fixed box is made by changing the def before
/// (below).
int32_t block_add(mabd_scene* scene, const block_def* def);
/// The definition of the box, to change and add by hand; *geom is filled and pointed at.
mabd_body_def block_body(const block_def* def, mabd_geom* geom);
/// Centre of a block in its user frame [m] (3), and from its state in the world.
extern const double block_center[3];
void block_world_center(const double* position, const double* quaternion, double* center);

/// Frame and anchor of all joints, world.
extern const double joint_frame[4], joint_anchor[3];
/// World vector of a vector along the joint axes at the start.
void joint_to_world(const double* along, double* world);
/// Component k along the joint axes at the start of a world vector.
double joint_component(const double* world, int k);
/// Joint of `type` from a to b, with what acts on its axes (null = nothing); returns its index.
int32_t joint_add(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b,
                  const mabd_axis_def* const* axes);
/// The same with one axis.
int32_t joint_add_axis(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b, mabd_axis axis,
                       const mabd_axis_def* def);
/// True if a joint of the type is free along or about an axis.
int joint_is_free(mabd_joint type, int axis);
/// Force and torque on a block at its centre, along the joint axes; signal NONE = constant.
void block_push(mabd_scene* scene, int32_t body, const double* force, const double* torque,
                mabd_signal signal);
/// Coordinates of a joint (6) along and about its axes. A ball joint that is bare (nothing on its
/// axes) reports them along those of the world; here they are turned into its own.
void joint_coordinates(const mabd_sim* sim, int32_t joint, bool bare, double* x);
/// One coordinate of a joint that is not a bare ball joint.
double joint_coordinate(const mabd_sim* sim, int32_t joint, int axis);

/// Advance by `steps`; every step must meet its tolerances at its first try, with all rows closed
/// to 1e-9.
void joint_run(mabd_sim* sim, int steps);

/// Signals.
mabd_signal signal_sine(double offset, double amplitude, double frequency, double phase);
mabd_signal signal_ramp(double value, double value_end, double start, double end);

/// What SDIRK2 for the first step and BDF2 from then on make of a coordinate:
///   mass x'' = force(t) - stiffness x - damping x'
/// x and rate start as given and hold the values after `steps` steps of h [s].
typedef struct line_motion {
    double mass, stiffness, damping;
    double (*force)(double time, const void* context); // null = 0
    const void* context;
} line_motion;
void line_bdf2(const line_motion* motion, double h, int steps, double* x, double* rate);
