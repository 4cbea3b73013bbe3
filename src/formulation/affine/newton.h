// SPDX-License-Identifier: Apache-2.0
// One implicit solve of a time step.
#pragma once

#include "formulation/affine/affine_sim.h"

typedef struct mabd_affine_attempt {
    mabd_status status;
    int32_t body, joint; // what failed, -1 = none
    const char* reason;
} mabd_affine_attempt;

/// Solve a scheme's equations for the step of length h [s] that begins at `time`; q_new gets the result, q and its history stay.
/// info: what was counted and measured is added. MABD_ERR_SINGULAR, MABD_ERR_DIVERGED, MABD_ERR_MEMORY,
/// MABD_ERR_DEVICE.
mabd_affine_attempt mabd_affine_newton(mabd_affine_sim* sim, mabd_affine_scheme scheme,
                                       mabd_real time, mabd_real h, mabd_step_info* info);

/// The device has failed: nothing is known of the step (mabd_affine_backend_ops.last_error).
mabd_affine_attempt mabd_affine_lost(mabd_status status);

/// What rows may be open by at the end [m], [rad].
mabd_real mabd_affine_row_tolerance(const mabd_affine_sim* sim);

/// Time since `since` goes to a stage; returns now [s].
double mabd_affine_lap(mabd_affine_sim* sim, mabd_affine_stage stage, double since);
