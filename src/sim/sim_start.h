// SPDX-License-Identifier: Apache-2.0
// Start states of simulations, for all formulations.
#pragma once

#include "base/warnings.h"
#include "sim/sim_object.h"

/// Check the start state of the model before the formulation is created. sim->start gets a state
/// that replaces it, or null; model, ops, def and allocator are set. Warnings are appended.
/// MABD_ERR_INPUT, MABD_ERR_MEMORY.
mabd_status mabd_sim_start(mabd_sim* sim, mabd_warnings* warnings, mabd_error* error);
/// Free sim->start; null is allowed.
void mabd_sim_start_end(mabd_sim* sim);
/// Bytes of sim->start.
size_t mabd_sim_start_bytes(const mabd_sim* sim);
