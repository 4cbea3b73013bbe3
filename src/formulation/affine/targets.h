// SPDX-License-Identifier: Apache-2.0
// Targets of servos and motors that are set from outside.
#pragma once

#include "formulation/affine/data.h"

/// Signal of a control, and whether its target is a position that is met exactly.
typedef struct mabd_affine_control_of {
    const mabd_signal* signal; // null = none
    bool rigid;
} mabd_affine_control_of;
/// Find the signal of control number `control` of a copy.
mabd_affine_control_of mabd_affine_find_control(const mabd_model* m, int32_t copy, int32_t control);
/// Replace the values of signals by the targets that are set; the last part of begin_solve. Those
/// of rigid servos move on within the step.
void mabd_affine_apply_targets(mabd_affine_sim* sim);
/// Read coordinates and rates of the axes of all controls (copies x controls each) [m], [rad], and
/// per second. Either may be null.
void mabd_affine_get_controls(const mabd_affine_sim* sim, mabd_real* coordinates, mabd_real* rates);
