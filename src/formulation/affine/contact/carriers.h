// SPDX-License-Identifier: Apache-2.0
// Loads on supports that move.
#pragma once

#include "formulation/affine/data.h"

/// Solve for the motion of supports under their loads. bodies: work, 2 loads + 6 supports.
/// load_saved, support_saved: right-hand sides of their components without contact forces.
void mabd_affine_contacts_solve_supports(mabd_affine_sim* sim, mabd_vec12* bodies,
                                         mabd_real* load_saved, mabd_real* support_saved);
