// SPDX-License-Identifier: Apache-2.0
// Memory of a model; by what it is for: mabd_model_memory.
#pragma once

#include "mabd/sim.h"

/// Bytes of a model without its plan.
size_t mabd_memory_of_model(const mabd_model* model);
