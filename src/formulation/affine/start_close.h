// SPDX-License-Identifier: Apache-2.0
// Closing the joints of a start pose by the least motion in the mass metric (start.c).
#pragma once

#include "formulation/affine/start_work.h"

/// Close all components whose rigid rows and rigid servos have errors: q (bodies + 1 x 12) moves,
/// and v (bodies x 12) with it unless it is null. *closed: all errors are within the tolerance.
/// s->p must be reserved. MABD_ERR_MEMORY.
mabd_status mabd_affine_close_components(mabd_affine_start_work* s, mabd_real* q, mabd_real* v,
                                         bool* closed);
/// Close the joints of s->start and append a warning that says how far bodies moved. MABD_ERR_INPUT
/// if they cannot be closed; MABD_ERR_MEMORY.
mabd_status mabd_affine_close_joints(mabd_affine_start_work* s);
