// SPDX-License-Identifier: Apache-2.0
// The six coordinates of a joint, as mabd_sim_get_joint_coordinates gives them.
#pragma once

#include "model/model_data.h"
#include "rigid/twist.h"

/// Compute the coordinates (MABD_AXIS_COUNT) of a joint [m], [rad]: those of its free axes, and the
/// errors of its locked ones. view: both sides of the joint now. start (bodies): the start state,
/// whose rotations define the axes of a joint that has none. known (control_count of the joint):
/// its controlled coordinates, followed over whole turns.
void mabd_rigid_joint_coordinates(const mabd_model* m, int32_t joint, mabd_joint_view view,
                                  const mabd_model_start* start, const mabd_real* known,
                                  mabd_real* coordinates);

/// Compute coordinates and rates x (controls x 2) of all controls of a joint: the coordinates
/// nearest to those of near (controls x 2), rates from the twists of both bodies. Where dampers or
/// armatures act on a rotation vector its rates are those of the relative angular velocity in the
/// joint frame on b.
void mabd_rigid_control_coordinates(const mabd_row_set* set, const mabd_joint_view* view,
                                    mabd_rigid_twist a, mabd_rigid_twist b, const mabd_real* near,
                                    mabd_real* x);
