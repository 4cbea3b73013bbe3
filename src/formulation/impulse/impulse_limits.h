// SPDX-License-Identifier: Apache-2.0
// Numbers that tune the impulse formulation.
#pragma once

#include "mabd/base.h"

/// Damping ratio of soft joints: errors fall without overshooting at any frequency.
#define MABD_IMPULSE_JOINT_DAMPING ((mabd_real)2)
/// Largest frequency of a soft row times the substep: above a quarter it overshoots.
#define MABD_IMPULSE_HERTZ_MAX ((mabd_real)0.25)
/// Error of the rows of a mechanism below which its poses are not projected (2-norm) [m], [rad].
#define MABD_IMPULSE_PROJECT_LEAST ((mabd_real)1e-13)
/// Most halvings of a projection.
#define MABD_IMPULSE_PROJECT_HALVINGS 6
/// Part of its diagonal that is added to a block that is not positive definite.
#define MABD_IMPULSE_BLOCK_SHIFT ((mabd_real)1e-10)
/// Newton iterations of the implicit midpoint rule of a free rotation: quadratic from a start that
/// is off by h |w|, 1/8 at 10 rad/s and 10 ms.
#define MABD_IMPULSE_SPIN_ITERATIONS 3
/// Largest change of an impulse in the last sweep, relative to the largest impulse, of a step that
/// counts as converged.
#define MABD_IMPULSE_CONVERGED ((mabd_real)1e-3)
/// Most substeps and sweeps that a definition may have.
#define MABD_IMPULSE_COUNT_MAX 100000
