// SPDX-License-Identifier: Apache-2.0
// The object behind mabd_sim.
#pragma once

#include "formulation/formulation.h"
#include "mabd/sim.h"

struct mabd_sim {
    mabd_allocator allocator;
    mabd_sim_def def; // resolved
    const mabd_model* model;
    const mabd_formulation_ops* ops;
    void* self;              // of the formulation
    mabd_model_start* start; // (bodies) start state that replaces the model's, null = none
    int64_t steps;
};
