// SPDX-License-Identifier: Apache-2.0
// Parts whose rows determine all poses (constrained.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// True if the rows of a part may determine its poses: all controls are rigid servos, and there are
/// at least as many rows as freedoms. Such a part has a body graph unless def.solver is `general`.
bool mabd_quaternion_may_be_constrained(const mabd_quaternion_sim* sim,
                                        const mabd_quaternion_part* part);
/// Decide at a node whether the rows of a part determine its poses, part->constrained.
/// MABD_ERR_UNAVAILABLE if they do not and def.solver is `fully-constrained`; the error names a
/// body that can move.
mabd_status mabd_quaternion_judge_constrained(const mabd_quaternion_solve* s,
                                              const mabd_quaternion_node* node, mabd_error* error);
/// Solve the equations of a constrained part as mabd_quaternion_newton does: poses from the rows
/// alone, then multipliers. MABD_ERR_DIVERGED, MABD_ERR_SINGULAR: the report names a joint or body.
mabd_status mabd_quaternion_solve_constrained(mabd_quaternion_solve* s);
