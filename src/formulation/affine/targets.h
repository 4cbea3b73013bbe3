// SPDX-License-Identifier: Apache-2.0
// Targets of controls that are set from outside instead of signals.
#pragma once

#include "formulation/affine/data.h"

/// Replace the values of signals by the targets that were set. Last part of mabd_affine_begin_solve.
void mabd_affine_apply_targets(mabd_affine_sim* sim);
/// Copy coordinates and rates of the axes of all controls (copies x controls each); either may be null.
void mabd_affine_get_controls(const mabd_affine_sim* sim, mabd_real* coordinates, mabd_real* rates);
