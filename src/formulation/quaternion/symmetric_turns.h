// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on three free rotations in the matrix of the symmetric Newton.
#pragma once

#include "formulation/quaternion/solve.h"

/// Write them into the rows of their axes in the matrix of a part.
void mabd_quaternion_store_turns(const mabd_quaternion_solve* s);
/// Change the right-hand side sim->rhs, K (0; l) - residual or -residual, to that of these rows.
void mabd_quaternion_scale_turns(const mabd_quaternion_solve* s);
/// Replace the multipliers of these rows in sim->y by those of their springs alone.
void mabd_quaternion_finish_turns(const mabd_quaternion_solve* s);
/// Write the row of the relative rotation of a joint about an axis of its frame, with `compliance`
/// on the diagonal, as row r of the joint.
void mabd_quaternion_store_turn(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                int32_t r, int axis, mabd_real compliance);
