// SPDX-License-Identifier: Apache-2.0
// Closing the joints of a start pose by the least motion in the mass metric (start.c).
#pragma once

#include "formulation/affine/start_work.h"

/// Close all components whose rigid rows and rigid servos have errors at q (bodies + 1 x 12). With
/// q0 (bodies + 1 x 12, not q), they move from there by the least motion; null: by any motion.
/// *closed: all errors are within the tolerance. s must be reserved. MABD_ERR_MEMORY.
mabd_status mabd_affine_close_components(mabd_affine_start_work* s, const mabd_real* q0,
                                         mabd_real* q, bool* closed);
/// Close the joints of s->start and append a warning that says how far bodies moved. MABD_ERR_INPUT
/// if they cannot be closed; MABD_ERR_MEMORY.
mabd_status mabd_affine_close_joints(mabd_affine_start_work* s);
