// SPDX-License-Identifier: Apache-2.0
// Poses and velocities that rows allow, by the least motion in the mass metric (closing.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// Iterations that close rows, and the error at which they end [m] or [rad].
#define MABD_CLOSE_MAX_ITERATIONS 50
#define MABD_CLOSE_GOAL           ((mabd_real)1e-13)

/// Write -C of the held rows of a part at sim->pose, or -J u with a node, to the right-hand side,
/// and 0 everywhere else. Held are rigid rows, and with servos also rigid servos, at their targets
/// sim->input. Returns the largest; *joint, unless null, gets the joint that has it if it is not 0.
mabd_real mabd_quaternion_set_rows(const mabd_quaternion_solve* s, bool servos,
                                   const mabd_quaternion_node* node, int32_t* joint);
/// Leave the rows of a part that are not held out of its matrix.
void mabd_quaternion_release_controls(const mabd_quaternion_solve* s, bool servos);
/// Factor the mass matrix with the held rows at sim->pose and solve with the right-hand side:
/// sim->y. MABD_ERR_SINGULAR.
mabd_status mabd_quaternion_solve_rows(const mabd_quaternion_solve* s, bool servos);
/// Move the poses of a part by sim->y; no body turns by more than MABD_START_TURN_RAD. Returns the
/// largest of sim->y [m] or [rad].
mabd_real mabd_quaternion_move_pose(const mabd_quaternion_solve* s);
/// Add y (6 per body of the part) to the velocities of a node.
void mabd_quaternion_add_velocities(const mabd_quaternion_solve* s, const mabd_real* y,
                                    mabd_quaternion_node* node);

/// Close the rigid rows of a part and bring its rigid servos to their targets, sim->input, by the
/// least motion in the mass metric, iterated; sim->pose is changed. Returns the largest error that
/// is left [m] or [rad]. Allocates nothing: a step asks with it whether its targets can be met.
mabd_real mabd_quaternion_close(const mabd_quaternion_solve* s);
