// SPDX-License-Identifier: Apache-2.0
// Random trees in the redmax formulation, with access to its links: for tests of residual, matrix
// and factor.
#pragma once

#include "formulation/redmax/redmax_charts.h"
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

/// Loads of a case: none, forces of the world with drag and wind, or springs and ground besides.
typedef enum redmax_loads { REDMAX_FREE, REDMAX_FORCES, REDMAX_SPRINGS } redmax_loads;

/// Add springs of all laws, from a body to the world, between bodies and over a body between, and a
/// ground in the middle of the points of the bodies, on which some stick and some slip.
static inline void redmax_case_springs(mabd_scene* scene, int32_t bodies, uint64_t* state) {
    mabd_error error = {0};
    mabd_spring_point corner[64];
    int32_t corners = 0;
    for (int32_t i = 0; i < bodies; i++) {
        mabd_spring_point points[3];
        mabd_spring_def spring = mabd_default_spring_def();
        spring.points = points, spring.point_count = 2 + (i % 4 == 2);
        spring.law = (mabd_spring_law)(i % 3);
        spring.stiffness = 200, spring.damping = 7;
        spring.length = spring.law == MABD_SPRING_CABLE ? (mabd_real)0.1 : (mabd_real)0.7;
        for (int k = 0; k < 3; k++) {
            points[k].body = k == 0 ? i : k == 1 && i % 2 == 0 ? MABD_WORLD : (i + k) % bodies;
            for (int c = 0; c < 3; c++) points[k].point[c] = 2 * random_real(state);
        }
        if (points[0].body != points[1].body) {
            rig_check(mabd_scene_add_spring(scene, &spring, &error), &error, "spring");
        }
        for (int k = 0; k < 2 && corners < 64; k++) {
            corner[corners].body = i;
            for (int c = 0; c < 3; c++) corner[corners].point[c] = random_real(state);
            corners++;
        }
    }
    mabd_ground_def ground = mabd_default_ground_def();
    ground.points = corner, ground.point_count = corners;
    ground.normal[0] = (mabd_real)0.3, ground.stiffness = 300, ground.damping = 20;
    ground.tangent = 60, ground.friction = (mabd_real)0.4;
    rig_check(mabd_scene_set_ground(scene, &ground, &error), &error, "ground");
}

/// Build a case.
static inline redmax_case redmax_case_make(const random_scene_def* def, redmax_loads loads) {
    const bool forces = loads != REDMAX_FREE;
    redmax_case c = {.state = def->seed * 77 + 5};
    mabd_error error = {0};
    const mabd_real gravity[3] = {1, -2, (mabd_real)-9.81};
    mabd_scene* scene = random_scene(def);
    rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
    if (forces) redmax_case_forces(scene, def->bodies, &c.state);
    if (loads == REDMAX_SPRINGS) redmax_case_springs(scene, def->bodies, &c.state);
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

/// Let each ball with a chart of its own move in one of the thirteen; in those with two axes q is
/// moved away from the singular point 0.
static inline void redmax_case_charts(redmax_case* c) {
    mabd_redmax_sim* sim = c->inside;
    c->solve.in_charts = true;
    mabd_redmax_enter_charts(&c->solve);
    for (int32_t i = 0; i < sim->parts[0].link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->ball < 0 || link->chart == MABD_CHART_LOCAL) continue;
        const int chart = (int)((random_real(&c->state) + 1) * 6.5);
        sim->start_chart[link->ball] = (int8_t)(MABD_CHART_EXPONENTIAL + chart);
        sim->q[link->first + 1] += chart > 6 ? (mabd_real)1.5 : 0; // sine of the second angle
    }
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
        sim->q_b[k] = -gamma * v;
    }
    redmax_case_charts(c);
    for (int32_t k = 0; k < sim->parts[0].freedom_count; k++) sim->q_b[k] += sim->q[k];
    mabd_redmax_rates(&c->solve);
}
