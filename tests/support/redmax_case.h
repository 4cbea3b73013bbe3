// SPDX-License-Identifier: Apache-2.0
// Random trees in the redmax formulation, with access to its links: for tests of residual, matrix
// and factor.
#pragma once

#include "formulation/redmax/redmax_motion.h"
#include "formulation/redmax/redmax_sim.h"
#include "sim/sim_object.h"
#include "support/random_scene.h"
#include "support/rig.h"

/// A simulation, its inside, and the solve of its first part.
typedef struct redmax_case {
    mabd_model* model;
    mabd_sim* sim;
    mabd_redmax_sim* inside;
    mabd_redmax_solve solve;
    mabd_redmax_report report;
    uint64_t state; // of random numbers
} redmax_case;

/// Add a force at a point of every third body, world or turning, and a wind on bodies with drag.
static inline void redmax_case_forces(mabd_scene* scene, int32_t bodies, uint64_t* state) {
    mabd_error error = {0};
    const mabd_signal strength = mabd_signal_constant(3);
    mabd_real direction[3];
    for (int32_t i = 0; i < bodies; i += 3) {
        mabd_force_def force = {.body = i, .body_frame = random_real(state) > 0};
        for (int k = 0; k < 3; k++) {
            force.point[k] = random_real(state), force.force[k] = 20 * random_real(state);
            force.torque[k] = 5 * random_real(state);
        }
        rig_check(mabd_scene_add_force(scene, &force, &error), &error, "force");
    }
    for (int k = 0; k < 3; k++) direction[k] = random_real(state);
    rig_check(mabd_scene_set_wind(scene, direction, &strength, &error), &error, "wind");
}

/// Build a case. forces: with loads, drag and wind.
static inline redmax_case redmax_case_make(const random_scene_def* def, bool forces) {
    redmax_case c = {.state = def->seed * 77 + 5};
    mabd_error error = {0};
    const mabd_real gravity[3] = {1, -2, (mabd_real)-9.81};
    mabd_scene* scene = random_scene(def);
    rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
    if (forces) redmax_case_forces(scene, def->bodies, &c.state);
    c.model = rig_model(scene);
    for (int32_t i = 0; forces && i < c.model->class_count; i++) {
        c.model->classes[i].material.drag = (mabd_real)0.5 * (mabd_real)(i % 3);
    }
    mabd_sim_def d = rig_def(MABD_PRESET_EXACT, (mabd_real)0.01);
    d.formulation = MABD_FORMULATION_REDMAX;
    c.sim = rig_sim(c.model, &d);
    c.inside = c.sim->self;
    return c;
}

static inline void redmax_case_free(redmax_case* c) {
    rig_destroy(c->sim, c->model);
}

/// Set the solve to the first part with random coordinates, rates and accelerations. The case must
/// not move afterwards.
static inline void redmax_case_draw(redmax_case* c, mabd_real gamma) {
    mabd_redmax_sim* sim = c->inside;
    c->solve = (mabd_redmax_solve){.sim = sim,
                                   .part = &sim->parts[0],
                                   .report = &c->report,
                                   .h = sim->def.h,
                                   .gamma = gamma,
                                   .force = sim->force,
                                   .motor = sim->motor,
                                   .from_node = &sim->now};
    mabd_redmax_set_inputs(&c->solve);
    for (int32_t k = 0; k < sim->parts[0].freedom_count; k++) {
        const mabd_real v = random_real(&c->state), a = 3 * random_real(&c->state);
        sim->q[k] = (mabd_real)0.7 * random_real(&c->state);
        sim->v_b[k] = v - gamma * a;
        sim->q_b[k] = sim->q[k] - gamma * v;
    }
    mabd_redmax_rates(&c->solve);
}
