// SPDX-License-Identifier: Apache-2.0
// Projections of a start state that have derivatives (start_projection.c).
#pragma once

#include "formulation/quaternion/solve.h"
#include "rigid/user_change.h"

/// Largest error of a joint that is accepted at the start [m] or [rad].
#define MABD_START_TOLERANCE ((mabd_real)1e-6)

/// Leave the rows of all controls out of the matrix of a part.
void mabd_start_release(const mabd_quaternion_solve* s);
/// One iteration of the projection below from the poses `from` (bodies x 7): sim->y gets the
/// increment of the pose in sim->pose and the multipliers mu.
mabd_status mabd_start_close_step(const mabd_quaternion_solve* s, const mabd_real* from);
/// Close the rigid rows of a part by the least motion in the mass metric; sim->pose is changed, and
/// sim->trial keeps the poses from which it began. Returns the largest error that is left [m] or
/// [rad].
mabd_real mabd_start_close(const mabd_quaternion_solve* s);
/// Write the closed poses of a part from sim->pose into a node, and turn its w with q: velocities
/// in the world stay as they are.
void mabd_start_write(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
/// Project the velocities of a node, whose poses are in sim->pose, on those that the rigid rows
/// allow, in the mass metric. sim->y gets the change and the multipliers.
mabd_status mabd_start_project(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
