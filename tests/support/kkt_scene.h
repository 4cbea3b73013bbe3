// SPDX-License-Identifier: Apache-2.0
// The linear system of one iteration, written out in full from the definitions: dense 12x12 blocks in world
// coordinates and rows by differences, nothing of the structure that the solvers use.
#pragma once

#include "formulation/mabd/affine_sim.h"

/// Largest relative difference between one iteration of the simulation and the full KKT solution. The
/// step constants, reference and stress must be those of `sim` right after mabd_cpu_update; stress (bodies x 6)
/// is what the iteration started from. lambda and dq are compared with their largest entry.
typedef struct kkt_difference {
    double lambda, dq;
} kkt_difference;
kkt_difference kkt_compare(const mabd_affine_sim* sim, const mabd_real* stress);
