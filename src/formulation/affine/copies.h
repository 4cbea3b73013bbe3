// SPDX-License-Identifier: Apache-2.0
// Copies of a batch that settle one by one.
#pragma once

#include "formulation/affine/data.h"

/// True if the copies of a model settle one by one: convergence depends on the rows of joints only.
bool mabd_affine_settles_by_copy(const mabd_model* model);
/// After update: mark copies within the tolerances as settled and save their results while others
/// continue. Returns the number of copies that have not settled.
int32_t mabd_affine_settle_copies(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal);
/// At the end of a solve: restore the saved results of settled copies.
void mabd_affine_close_copies(mabd_affine_sim* sim);
/// Keep, exchange or take the results of copies without a jump (element/copy.h).
void mabd_affine_steady_copies(mabd_affine_sim* sim, mabd_affine_steady_part part);
