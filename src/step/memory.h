// SPDX-License-Identifier: Apache-2.0
// Memory of a model and its simulation by what it is for.
#pragma once

#include "mabd/sim.h"

/// Bytes of a model without its plan.
size_t mabd_memory_of_model(const mabd_model* model);
/// bytes (MABD_MEMORY_COUNT) of the model and of a simulation that has just been made and holds `bytes_sim`.
void mabd_memory_split(const mabd_model* model, mabd_dual dual, size_t bytes_sim, size_t* bytes);
