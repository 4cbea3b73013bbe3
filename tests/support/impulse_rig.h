// SPDX-License-Identifier: Apache-2.0
// Simulations of the impulse formulation, by the public API and with their insides.
#pragma once

#include "formulation/impulse/impulse_sim.h"
#include "support/joint_rig.h"
#include "support/rig.h"

/// Definition with sweeps: the preset balanced with these counts.
static inline mabd_sim_def impulse_def(double h, int substeps, int sweeps, int relaxations) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_IMPULSE;
    def.impulse.substeps = substeps, def.impulse.sweeps = sweeps;
    def.impulse.relaxations = relaxations;
    return def;
}

/// Create a simulation of the formulation alone, in the start state of the model.
static inline mabd_impulse_sim* impulse_inside(const mabd_model* model, mabd_sim_def def) {
    mabd_error error = {0};
    void* self = NULL;
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_impulse.resolve(&def);
    rig_check(mabd_formulation_impulse.create(model, &def, &allocator, model->start, &self, &error),
              &error, "simulation");
    return self;
}
static inline void impulse_inside_destroy(mabd_impulse_sim* sim) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_impulse.destroy(sim, &allocator);
}
