// SPDX-License-Identifier: Apache-2.0
// The time step of the affine formulation.
#pragma once

#include "formulation/affine/data.h"

/// Advance a simulation (mabd_affine_sim) from `time` [s] by def.h. info may be null. On failure
/// the state is that before the step. MABD_ERR_SINGULAR, MABD_ERR_DIVERGED, MABD_ERR_MEMORY,
/// MABD_ERR_DEVICE; *error names body or joint and time.
mabd_status mabd_affine_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);
