// SPDX-License-Identifier: Apache-2.0
// Closing the joints of a start pose by the least motion in the mass metric.
#pragma once

#include "rigid/start_work.h"

/// Close the held rows and rigid servos of all components with errors above the tolerance. poses
/// (bodies + 1) are changed; q0 (bodies + 1): poses from which the motion is to be the least one,
/// null = any motion. *closed: all errors are within the tolerance. MABD_ERR_MEMORY.
mabd_status mabd_rigid_close_components(mabd_rigid_start_work* s, const mabd_rigid_pose* q0,
                                        mabd_rigid_pose* poses, bool* closed);
/// Close the joints of s->poses and append a warning with the motion of the bodies. MABD_ERR_INPUT
/// if they cannot be closed, MABD_ERR_MEMORY.
mabd_status mabd_rigid_close_joints(mabd_rigid_start_work* s);
/// Close rigid rows of s->poses whose errors are within the tolerance to round-off. Rows that do
/// not come closer stay as they are. MABD_ERR_MEMORY.
mabd_status mabd_rigid_close_exactly(mabd_rigid_start_work* s);
