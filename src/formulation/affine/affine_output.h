// SPDX-License-Identifier: Apache-2.0
// Results of the affine formulation in the terms of a user. `self` is a mabd_affine_sim.
#pragma once

#include "formulation/affine/data.h"

/// Write poses and velocities of all bodies in user frames: positions (bodies x 3) [m], quaternions
/// (bodies x 4), velocities (bodies x 3) [m/s], angular velocities (bodies x 3) [rad/s]. Any may be
/// null.
void mabd_affine_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                           mabd_real* velocities, mabd_real* angular);
/// Write force and torque of every joint on its body b (joints x 6) [N], [N m], world axes.
void mabd_affine_get_joint_forces(const void* self, mabd_real* forces);
/// Write contacts with a force, at most `capacity`. Returns the number of all.
int32_t mabd_affine_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
/// Find the deepest overlap of two shapes [m]. *a, *b get the bodies, -1 = none. MABD_ERR_MEMORY.
mabd_status mabd_affine_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
/// Write the coordinates of the six axes of a joint (MABD_AXIS_COUNT) [m], [rad].
void mabd_affine_get_joint_coordinates(const void* self, int32_t joint, mabd_real* coordinates);
