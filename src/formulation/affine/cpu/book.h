// SPDX-License-Identifier: Apache-2.0
// Work of joints and bodies on the CPU: the loops over booked joints and bodies.
#pragma once

#include "formulation/affine/data.h"

/// Book the stops of all joints in a solve (element/book_joint.h).
void mabd_affine_book_stops(mabd_affine_sim* sim, bool more, mabd_real least);
/// Book all joints and bodies in a finished step.
void mabd_affine_book_step(mabd_affine_sim* sim, bool continued);
/// Compute the work of the forces for one step, in the order of the bodies [J].
mabd_real mabd_affine_book_applied(const mabd_affine_sim* sim);
