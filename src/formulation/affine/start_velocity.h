// SPDX-License-Identifier: Apache-2.0
// Start velocities that the joints allow.
#pragma once

#include "formulation/affine/start_work.h"

/// Project the velocities of s->start onto the rigid rows of the joints, where their rates exceed
/// the tolerance, and append a warning with the kinetic energy that this removes. Scripted bodies
/// move by their scripts meanwhile, and have velocity 0 in s->start after it. MABD_ERR_INPUT,
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_settle_velocities(mabd_affine_start_work* s);
