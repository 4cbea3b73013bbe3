// SPDX-License-Identifier: Apache-2.0
// Axes with force laws after a linear solve: branches and stops, over all joints.
#pragma once

#include "formulation/affine/data.h"

/// After update: move axes with a law to the branch that the solution is on, and write the
/// multipliers of flat branches. `first`: the first solve at this reference. slack: error of axes
/// that the solve may have left [m], [rad].
mabd_affine_axis_report mabd_affine_update_axes(mabd_affine_sim* sim, bool first, mabd_real slack);
/// Decide whether all axes on a wrong branch move, or the last one only. changed: number of axes on
/// a wrong branch.
bool mabd_affine_moves_all_axes(mabd_affine_sim* sim, bool first, int32_t changed);
/// True if an axis will meet a stop in the next h seconds, or has met one and still runs into it:
/// velocities jump. A displacement into the stop of less than `least` is no impact [m], [rad].
bool mabd_affine_meets_stop(const mabd_affine_sim* sim, mabd_real h, mabd_real least);
/// True if an axis has reached a stop or left one in the current solve, before finish.
bool mabd_affine_changed_stop(const mabd_affine_sim* sim, mabd_real least);
