// SPDX-License-Identifier: Apache-2.0
// Targets of rigid servos that the joints do not allow (drives.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// After a solve from sim->now that failed: write the servo into the report whose target cannot be
/// met with all joints closed, and return true, if there is one. Overwrites sim->pose.
bool mabd_quaternion_blame_drive(const mabd_quaternion_solve* s);
