// SPDX-License-Identifier: Apache-2.0
// The affine formulation behind its table: state, definition, plan.
#pragma once

#include "formulation/affine/backend.h"
#include "formulation/formulation.h"

/// Returns the simulation with its state downloaded from the device; every getter begins with this
/// call. If the device has failed, the arrays of the host do not change and the next step fails.
const mabd_affine_sim* mabd_affine_state(const void* self);

/// Set the state of dynamic bodies: entry set_state of the table (formulation/formulation.h).
mabd_status mabd_affine_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                  bool moved, mabd_error* error);
/// Add forces on bodies for the next step: entry apply_force of the table.
void mabd_affine_apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                             const mabd_real* torques);
/// Discard the forces that were applied for a step.
void mabd_affine_clear_applied(mabd_affine_sim* sim);

/// True if the formulation runs on a backend: entry has_backend of the table (options.c).
bool mabd_affine_has_backend(mabd_backend backend);
/// Set the fields of def that a preset determines: entry apply_preset of the table (options.c).
void mabd_affine_apply_preset(mabd_sim_def* def, mabd_preset preset);
/// Replace automatic choices in def: entry resolve of the table (options.c).
void mabd_affine_resolve(mabd_sim_def* def);
/// Refuse a def or model that the formulation cannot simulate: entry check of the table
/// (options.c).
mabd_status mabd_affine_check(const mabd_model* model, const mabd_sim_def* def, mabd_error* error);
/// Compute memory and solvers of a simulation before its creation (plan.c).
mabd_status mabd_affine_plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan,
                             mabd_error* error);
/// Write the bytes of a simulation by use into bytes, from MABD_MEMORY_STATE on (plan.c).
void mabd_affine_memory(const void* self, size_t* bytes);

/// The table of the affine formulation (sim.c).
extern const mabd_formulation_ops mabd_formulation_affine;
