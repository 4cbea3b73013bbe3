// SPDX-License-Identifier: Apache-2.0
// Energies, momenta and joint errors of the affine formulation.
#pragma once

#include "formulation/affine/data.h"

/// Compute kinetic, gravity, elastic and spring energy of the state on the host, into energies (4)
/// [J]; without the energy stored in contacts.
void mabd_affine_energies(const mabd_affine_sim* sim, mabd_real* energies);
/// Measure the current state of a simulation (mabd_affine_sim).
mabd_measure mabd_affine_measure(const void* self);
