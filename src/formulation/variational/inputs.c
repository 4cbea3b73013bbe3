// SPDX-License-Identifier: Apache-2.0
// Targets and forces from outside: entries of the table.

#include "formulation/variational/variational_sim.h"

static mabd_rigid_inputs* inputs_of(void* self) {
    return &((mabd_variational_sim*)self)->inputs;
}

void mabd_variational_restart_input(void* self, int32_t control, int32_t body) {
    mabd_rigid_restart_input(inputs_of(self), control, body);
}

void mabd_variational_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                                  const mabd_real* values) {
    mabd_rigid_set_targets(inputs_of(self), first, count, which, values);
}

bool mabd_variational_get_target(const void* self, int32_t copy, int32_t control,
                                 mabd_real* target) {
    const mabd_variational_sim* sim = self;
    return mabd_rigid_get_target(&sim->inputs, copy, control, target);
}

void mabd_variational_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_variational_sim* sim = self;
    mabd_rigid_get_controls(sim->model, mabd_variational_control_state, sim, coordinates, rates);
}

void mabd_variational_apply_force(void* self, int32_t n, const int32_t* bodies,
                                  const mabd_real* forces, const mabd_real* torques) {
    mabd_rigid_apply_force(inputs_of(self), n, bodies, forces, torques);
}
