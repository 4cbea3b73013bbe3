// SPDX-License-Identifier: Apache-2.0
// Solves with the mass matrix at a pose: accelerations, and consistent start states.
#pragma once

#include "formulation/quaternion/solve.h"

/// Motion of a side of a joint.
typedef struct mabd_side_motion {
    mabd_real u[6]; // velocity of the centre (world), angular velocity (principal frame)
    mabd_real a[6]; // accelerations, for prescribed motions
} mabd_side_motion;
/// Return the motion of a body at a node whose pose is in sim->pose, or of a prescribed one.
mabd_side_motion mabd_quaternion_side_motion(const mabd_quaternion_solve* s,
                                             const mabd_quaternion_node* node, int32_t body);
/// u' G u of one row: G with the multiplier 1, of all four blocks. ua, ub (6): velocities.
mabd_real mabd_quaternion_curvature(const mabd_rigid_joint* at, const mabd_row* row,
                                    const mabd_real* ua, const mabd_real* ub);

/// Evaluate the rows of a joint at sim->pose and s->time: rigid rows, then controls, with the
/// coordinates of controls as values. C, J (width of the joint). near: coordinates before.
void mabd_quaternion_rows(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                          mabd_real* C, mabd_rigid_row* J);
/// The same values without Jacobians.
void mabd_quaternion_row_values(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                mabd_real* C);
/// Write J and -J' of all joints of a part at sim->pose into the matrix.
void mabd_quaternion_store_rows(const mabd_quaternion_solve* s);
/// Write M, J and -J' of a part at sim->pose into the matrix; rows have no compliance.
void mabd_quaternion_store_matrix(const mabd_quaternion_solve* s);
/// Leave row r of a joint out of the matrix: its diagonal is `diagonal`. hold: its row stays, as a
/// compliant one; otherwise its multiplier is the right-hand side over the diagonal.
void mabd_quaternion_release_row(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                 int32_t r, mabd_real diagonal, bool hold);
/// Judge whether the rows of a part are redundant at sim->now, and set its shift (redundancy.c).
void mabd_quaternion_judge_rows(mabd_quaternion_sim* sim, int32_t part);
/// Copy the poses of the bodies of a part from a node to sim->pose.
void mabd_quaternion_take_pose(const mabd_quaternion_solve* s, const mabd_quaternion_node* node);

/// Compute the accelerations of a part at a node: sim->y gets (c'', body-frame angular
/// acceleration) of its bodies, then the multipliers of its rows [N], [N m]. sim->input holds the
/// controls. MABD_ERR_SINGULAR: the report names the slot.
mabd_status mabd_quaternion_accelerate(const mabd_quaternion_solve* s,
                                       const mabd_quaternion_node* node);
/// Write the derivative of a node after mabd_quaternion_accelerate: velocities and accelerations of
/// bodies and coordinates.
void mabd_quaternion_write_slope(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                                 const mabd_quaternion_node* slope);

/// Add k times the targets of rigid servos, sim->input, to their rows of the right-hand side.
void mabd_quaternion_add_targets(const mabd_quaternion_solve* s, mabd_real k);
/// Add (-J u - alpha C/h)/h of all rows at a node, whose poses are in sim->pose, to the right-hand
/// side; h of the solve.
void mabd_quaternion_add_rates(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                               mabd_real alpha);
/// Take the rates across rigid rows, stops and unlimited drives of a part away by impulses: the
/// velocities of a node after an impact without rebound. Its poses are in sim->pose, its branches
/// in sim->axes; stops only push. sim->y gets the changes of velocity (6 per body) and the
/// impulses of the rows, sim->axes the branches `found`. False: they have no solution, and the node
/// stays as it is.
bool mabd_quaternion_take_impacts(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
/// Write the relative angular velocities of damped rotations into a node whose poses are in
/// sim->pose.
void mabd_quaternion_write_turns(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
/// Compute the rates of the coordinates of a node from its velocities, and the coordinates.
void mabd_quaternion_read_coordinates(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
