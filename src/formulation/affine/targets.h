// SPDX-License-Identifier: Apache-2.0
// Targets of servos and motors that are set from outside.
#pragma once

#include "formulation/affine/data.h"

/// Replace the values of signals by the targets that are set; the last part of begin_solve.
void mabd_affine_apply_targets(mabd_affine_sim* sim);
/// Read coordinates and rates of the axes of all controls (copies x controls each) [m], [rad], and
/// per second. Either may be null.
void mabd_affine_get_controls(const mabd_affine_sim* sim, mabd_real* coordinates, mabd_real* rates);
