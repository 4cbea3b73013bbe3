// SPDX-License-Identifier: Apache-2.0
// Energy by cause: what is booked in solves and steps, and the balance of a run.
#pragma once

#include "formulation/affine/backend.h"

/// Count the joints and bodies with books, into *n.
void mabd_affine_books_count(const mabd_model* model, mabd_affine_sizes* n);
/// List the joints and bodies with books.
void mabd_affine_books_list(mabd_affine_sim* sim);

/// Open the books at the current state of the host, with work 0 except for the arrays of
/// affine/fields.def.
void mabd_affine_books_open(mabd_affine_sim* sim);
/// Leave out a change of energies by a user: before (4) are those before it (affine_measure.h).
void mabd_affine_books_skip(mabd_affine_sim* sim, const mabd_real* before);

/// Begin a step, or return to its start.
void mabd_affine_books_begin(mabd_affine_sim* sim);
/// Book a solve before it is finished. MABD_ERR_DEVICE.
mabd_status mabd_affine_books_add_solve(mabd_affine_sim* sim);
/// Book a finished step that began at `time` [s]. continued: it is one solve that continues the
/// step before, without a jump. MABD_ERR_DEVICE.
mabd_status mabd_affine_books_add_step(mabd_affine_sim* sim, mabd_real time, bool continued);

/// Energy by cause since the start of the run: entry get_energy_balance of the table.
mabd_energy_balance mabd_affine_energy_balance(const void* self);
