// SPDX-License-Identifier: Apache-2.0
// The affine formulation behind its table: state, definition, plan.
#pragma once

#include "formulation/affine/backend.h"
#include "formulation/formulation.h"

/// The simulation with its state downloaded from the device; every getter begins with this call. If
/// the device has failed, the arrays of the host stay as they were and the next step fails.
const mabd_affine_sim* mabd_affine_state(const void* self);

/// Entries of the table about the definition (options.c), as formulation.h describes them.
bool mabd_affine_has_backend(mabd_backend backend);
void mabd_affine_apply_preset(mabd_sim_def* def, mabd_preset preset);
void mabd_affine_resolve(mabd_sim_def* def);
mabd_status mabd_affine_check(const mabd_model* model, const mabd_sim_def* def, mabd_error* error);
/// Memory and solvers of a simulation that is not created yet (plan.c).
mabd_status mabd_affine_plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan,
                             mabd_error* error);
/// Write the bytes of a simulation by use into bytes, from MABD_MEMORY_STATE on (plan.c).
void mabd_affine_memory(const void* self, size_t* bytes);

/// The table (sim.c).
extern const mabd_formulation_ops mabd_formulation_affine;
