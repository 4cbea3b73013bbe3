// SPDX-License-Identifier: Apache-2.0
// Targets of rigid servos that the joints do not allow (drives.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// A rigid servo that is off its target.
typedef struct mabd_drive_error {
    int32_t joint; // -1 = none
    mabd_real off; // [m] or [rad]
    bool angle;
} mabd_drive_error;

/// Find the rigid servo of a part farthest from its target, sim->input, at sim->pose.
mabd_drive_error mabd_quaternion_find_drive(const mabd_quaternion_solve* s);
/// Check the servos of a part whose poses are in sim->pose: one that is off its target by more than
/// `tolerance` is a warning, and MABD_ERR_INPUT if it cannot be met with all joints closed.
/// Overwrites sim->pose.
mabd_status mabd_quaternion_check_drives(const mabd_quaternion_solve* s, mabd_real tolerance,
                                         int64_t step, mabd_error* error);
/// After a solve from sim->now that failed: write the servo into the report whose target cannot be
/// met with all joints closed, and return true, if there is one. Overwrites sim->pose.
bool mabd_quaternion_blame_drive(const mabd_quaternion_solve* s);
