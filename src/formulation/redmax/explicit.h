// SPDX-License-Identifier: Apache-2.0
// Explicit methods of the redmax formulation: accelerations by one sweep with the mass matrix.
#pragma once

#include "formulation/redmax/redmax_data.h"

/// Load s->from_node and find the accelerations there, with the factored mass matrix (explicit.c).
mabd_status mabd_redmax_semi_implicit_slope(mabd_redmax_solve* s);
/// Advance a part from s->from_node by s->h: v' = v + h a(q, v), q' = q + h v' (explicit.c).
mabd_status mabd_redmax_semi_implicit(mabd_redmax_solve* s);
/// Advance a part from s->from_node by s->h by the Dormand-Prince pair in steps whose estimated
/// error is at most newton_tolerance, relative to 1 + the size of each value (explicit.c).
/// MABD_ERR_DIVERGED: a step became too small.
mabd_status mabd_redmax_rk45(mabd_redmax_solve* s);
