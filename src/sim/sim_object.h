// SPDX-License-Identifier: Apache-2.0
// Inside of a simulation.
#pragma once

#include "formulation/formulation.h"
#include "mabd/sim.h"

struct mabd_sim {
    mabd_allocator allocator;
    mabd_sim_def def;
    const mabd_model* model;
    const mabd_formulation_ops* ops;
    void* self;
    int64_t steps;
    size_t bytes_at_start; // what it held when it was made
};
