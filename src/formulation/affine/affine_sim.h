// SPDX-License-Identifier: Apache-2.0
// An M-ABD simulation: the stages of a backend, the step that calls them, and what can be read off.
#pragma once

#include "formulation/affine/backend.h"
#include "formulation/formulation.h"

/// The simulation with its state downloaded from the device; every getter begins with this call. If
/// the device has failed, the arrays of the host stay as they were and the next step fails.
const mabd_affine_sim* mabd_affine_state(const void* self);

/// The time step (step.c).
mabd_status mabd_affine_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);
/// Energies, momenta, openings (measure.c).
mabd_measure mabd_affine_measure(const void* self);
/// Poses in user frames, joint forces and coordinates (output.c).
void mabd_affine_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                           mabd_real* velocities, mabd_real* angular);
void mabd_affine_get_joint_forces(const void* self, mabd_real* forces);
int32_t mabd_affine_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
mabd_status mabd_affine_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
void mabd_affine_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);

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
