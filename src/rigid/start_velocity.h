// SPDX-License-Identifier: Apache-2.0
// Start velocities that the joints allow.
#pragma once

#include "rigid/start_work.h"

/// Project the velocities of s->u onto the rigid rows of the joints, where their rates exceed the
/// tolerance, and append a warning with the kinetic energy that this removes; with start->exact
/// also where they exceed round-off, without a warning. MABD_ERR_INPUT, MABD_ERR_MEMORY.
mabd_status mabd_rigid_settle_velocities(mabd_rigid_start_work* s);
