// SPDX-License-Identifier: Apache-2.0
// An M-ABD simulation: the stages of a backend, the step that calls them, and what can be read off.
#pragma once

#include "formulation/affine/backend.h"
#include "formulation/formulation.h"

/// The simulation with the state on the host: what reads it begins with this. What a device has lost stays as it was, and the
/// next step fails.
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
