// SPDX-License-Identifier: Apache-2.0
// The state before a step that is divided, with its history: what a failure in a later part returns
// to.
#pragma once

#include "formulation/affine/data.h"

/// Keep the state of a simulation with contacts, on the host, before anything of the step is
/// finished. MABD_ERR_MEMORY.
mabd_status mabd_affine_keep_state(mabd_affine_sim* sim);
/// Return to the kept state.
void mabd_affine_return_state(mabd_affine_sim* sim);
