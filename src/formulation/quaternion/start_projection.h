// SPDX-License-Identifier: Apache-2.0
// Projections of a start state that have derivatives (start_projection.c).
#pragma once

#include "formulation/quaternion/tangent.h"
#include "rigid/user_change.h"

/// Write the matrix of the second projection, M, J and -J', into that of a part.
void mabd_start_store_project(const mabd_quaternion_solve* s);
/// Write the derivative of the first projection at sim->pose with the multipliers of the point into
/// the matrix of its part.
void mabd_start_store_close(const mabd_quaternion_point* p);
/// Close the rigid rows of a part and bring held axes to their coordinates by the least motion from
/// p->from in the mass metric: sim->pose and multiplier (rows), which is p->multiplier, get the
/// result. MABD_ERR_INPUT names the joint that stays open.
mabd_status mabd_start_close(const mabd_quaternion_point* p, mabd_real* multiplier,
                             mabd_error* error);
/// Write the closed poses of a part from sim->pose into a node, and turn its w with q: velocities
/// in the world stay as they are.
void mabd_start_write(const mabd_quaternion_solve* s, mabd_quaternion_node* node);
/// Project the velocities of a node, whose poses are in sim->pose, on those that the rigid rows and
/// the held rates allow, in the mass metric; multiplier (rows) gets the multipliers.
mabd_status mabd_start_project(const mabd_quaternion_point* p, mabd_quaternion_node* node,
                               mabd_real* multiplier, mabd_error* error);
