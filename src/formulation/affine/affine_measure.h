// SPDX-License-Identifier: Apache-2.0
// Energies, momenta and joint errors of the affine formulation.
#pragma once

#include "formulation/affine/data.h"

/// Measure the current state of a simulation (mabd_affine_sim).
mabd_measure mabd_affine_measure(const void* self);
