// SPDX-License-Identifier: Apache-2.0
// Memory of a model; by what it is for: mabd_model_memory.
#pragma once

#include "mabd/sim.h"

/// mabd_model_memory of a simulation with so many threads.
void mabd_memory_parts(const mabd_model* model, mabd_dual dual, int32_t threads, size_t bytes_sim,
                       size_t* bytes);
/// Bytes of a model without its plan.
size_t mabd_memory_of_model(const mabd_model* model);
