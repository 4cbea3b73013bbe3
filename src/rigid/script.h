// SPDX-License-Identifier: Apache-2.0
// Prescribed motions of bodies.
//
// The origin of the user frame moves along a direction d by s(t), and the body turns about an axis
// n of the world by x(t). With r from the origin to the centre of mass and omega = x' n,
//
//   v = s' d + omega x r            a = s'' d + x'' n x r + omega x (omega x r)
//   w = R' omega                    w' = R' x'' n
//
// since omega x n = 0. Derivatives of signals are exact, those from the right at their corners.
#pragma once

#include "rigid/frames.h"
#include "rigid/twist.h"

/// Motion of a body at one time.
typedef struct mabd_rigid_script_motion {
    mabd_rigid_pose pose;
    mabd_rigid_twist u; // [m/s], [rad/s]
    mabd_rigid_twist a; // its derivative: world [m/s^2], principal frame [rad/s^2]
} mabd_rigid_script_motion;

/// Compute the pose that a script prescribes at `time` [s].
mabd_rigid_pose mabd_rigid_script_pose(const mabd_model* m, const mabd_model_script* script,
                                       mabd_real time);
/// Compute pose, twist and its derivative that a script prescribes at `time` [s].
mabd_rigid_script_motion mabd_rigid_script_at(const mabd_model* m, const mabd_model_script* script,
                                              mabd_real time);
/// Compute the state that a script prescribes at `time` [s].
mabd_rigid_state mabd_rigid_script_state(const mabd_model* m, const mabd_model_script* script,
                                         mabd_real time);
