// SPDX-License-Identifier: Apache-2.0
// Weighted least-norm multipliers of a part (multipliers.c).
#pragma once

#include "formulation/quaternion/body_graph.h"

/// Shift of the body graph for multipliers, relative to its diagonal.
#define MABD_MULTIPLIER_SHIFT ((mabd_real)1e-10)

/// Set V of the graph of a part to the inverse weights of its free rows at sim->pose and s->time.
void mabd_quaternion_set_weights(const mabd_quaternion_solve* s);
/// Factor J' W^-1 J of a part, with J of sim->pose in the matrix (mabd_quaternion_store_rows) and
/// its weights. MABD_ERR_SINGULAR.
mabd_status mabd_quaternion_factor_weighted(const mabd_quaternion_solve* s);
/// Compute the multipliers of free rows (lambda: rows of the part, others stay) with the least sum
/// of weight times square that put the forces E0 (6 per body: force, world; torque, principal
/// frame) on the bodies: J' lambda = E0. Needs mabd_quaternion_factor_weighted. Afterwards
/// graph->motion holds y with lambda = W^-1 J y.
void mabd_quaternion_least_norm(const mabd_quaternion_solve* s, const mabd_real* E0,
                                mabd_real* lambda);
/// Replace the multipliers (rows of the part) by those of least norm that have the same forces on
/// the bodies, at the poses of a node. The part has a graph. Overwrites J of the matrix and
/// sim->pose.
void mabd_quaternion_reduce(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                            mabd_real* lambda);
