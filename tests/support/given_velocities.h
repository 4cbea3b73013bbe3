// SPDX-License-Identifier: Apache-2.0
// Given start velocities of a scene, even if they contradict the joints. A simulation projects them
// when it is created; tests of solvers and backends need the large multipliers of the first step
// that closes such joints.
#pragma once

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/backend.h"
#include "formulation/affine/data.h"
#include "formulation/affine/element/body_inertia.h"

#include <string.h>

/// Set the rates of a simulation that has made no step to the velocities of its model.
static inline void give_velocities(mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        mabd_real q[12];
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        mabd_model_to_affine(c, &m->start[i], q, sim->v + 12 * (size_t)i);
        if (sim->sizes.spins > 0 && mabd_affine_turns(sim, i)) mabd_affine_stage_reset_spin(sim, i);
    }
    memcpy(sim->v1, sim->v, 12 * sim->sizes.bodies * sizeof(mabd_real));
    sim->backend->upload(sim);
}
