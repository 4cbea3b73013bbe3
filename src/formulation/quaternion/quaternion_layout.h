// SPDX-License-Identifier: Apache-2.0
// Parts, pattern and memory of a simulation in the quaternion formulation.
#pragma once

#include "formulation/quaternion/quaternion_data.h"

/// Divide the bodies into parts, lay out all arrays and create the factors. sim->model, def and
/// allocator are set, the rest is zero. MABD_ERR_MEMORY: call mabd_quaternion_release.
mabd_status mabd_quaternion_prepare(mabd_quaternion_sim* sim);
/// Free everything that mabd_quaternion_prepare took; also after it failed.
void mabd_quaternion_release(mabd_quaternion_sim* sim);
/// Return the linear system of a part.
mabd_dual_lu_system mabd_quaternion_system(const mabd_quaternion_sim* sim,
                                           const mabd_quaternion_part* part);
/// Write the bytes of state, workspace and factors into bytes (MABD_MEMORY_COUNT).
void mabd_quaternion_memory(const mabd_quaternion_sim* sim, size_t* bytes);
