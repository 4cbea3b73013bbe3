// SPDX-License-Identifier: Apache-2.0
// Warning about a body that turns too far in a step.
#pragma once

#include "formulation/affine/data.h"

/// Look at the rotation of some bodies after a step that began at `time` [s], and warn of one that
/// turns too far, once in the life of a simulation. The state must be on the host. all: look at all
/// bodies, otherwise at MABD_FAST_BODIES_PER_STEP of them, the next ones in the next step.
void mabd_affine_watch_fast(mabd_affine_sim* sim, mabd_real time, bool all);
