// SPDX-License-Identifier: Apache-2.0
// mabd_sim: creates the object of a formulation, counts steps, and passes calls on to the table.

#include "mabd/sim.h"

#include "base/error.h"
#include "model/model_data.h"
#include "sim/sim_def.h"
#include "sim/sim_object.h"
#include "sim/sim_start.h"

#include <string.h>

// Check the start state and create the object of the formulation. Warnings of both are its.
static mabd_status create(mabd_sim* s, mabd_error* error) {
    mabd_warnings warnings = {.allocator = s->allocator};
    mabd_status status = mabd_sim_start(s, &warnings, error);
    if (status == MABD_OK) {
        status = s->ops->create(s->model, &s->def, &s->allocator,
                                s->start ? s->start : s->model->start, &s->self, error);
    }
    if (status == MABD_OK) mabd_warnings_prepend(&warnings, s->ops->warnings(s->self));
    mabd_warnings_free(&warnings);
    return status;
}

mabd_status mabd_sim_create(const mabd_model* model, const mabd_sim_def* def, mabd_sim** sim,
                            mabd_error* error) {
    if (sim) *sim = NULL;
    if (!model || !def || !sim) {
        return mabd_fail(error, MABD_ERR_ARG, "model, def and sim must not be null");
    }
    mabd_sim_def resolved;
    const mabd_formulation_ops* ops;
    MABD_TRY(mabd_def_resolve(model, def, &resolved, &ops, error));
    const mabd_allocator allocator = def->allocator ? *def->allocator : mabd_default_allocator();
    mabd_sim* s = mabd_alloc(&allocator, sizeof *s);
    if (!s) return mabd_fail_memory(error, "creating the simulation");
    s->allocator = allocator;
    s->def = resolved;
    s->def.allocator = &s->allocator; // lives as long as the simulation
    s->model = model;
    s->ops = ops;
    const mabd_status status = create(s, error);
    if (status != MABD_OK) {
        mabd_sim_start_end(s);
        mabd_free(&allocator, s, sizeof *s);
        return status;
    }
    *sim = s;
    return MABD_OK;
}

void mabd_sim_destroy(mabd_sim* sim) {
    if (!sim) return;
    const mabd_allocator allocator = sim->allocator;
    sim->ops->destroy(sim->self, &allocator);
    mabd_sim_start_end(sim);
    mabd_free(&allocator, sim, sizeof *sim);
}

void mabd_sim_reset(mabd_sim* sim) {
    sim->ops->reset(sim->self);
    sim->steps = 0;
}

mabd_status mabd_sim_step(mabd_sim* sim, mabd_step_info* info, mabd_error* error) {
    MABD_TRY(sim->ops->step(sim->self, mabd_sim_time(sim), info, error));
    sim->steps++;
    return MABD_OK;
}

const mabd_model* mabd_sim_model(const mabd_sim* sim) {
    return sim->model;
}

mabd_sim_def mabd_sim_get_def(const mabd_sim* sim) {
    return sim->def;
}

int64_t mabd_sim_step_count(const mabd_sim* sim) {
    return sim->steps;
}

mabd_real mabd_sim_time(const mabd_sim* sim) {
    return (mabd_real)sim->steps * sim->def.h;
}

size_t mabd_sim_bytes(const mabd_sim* sim) {
    size_t parts[MABD_MEMORY_COUNT] = {0}, sum = mabd_bytes(1, sizeof *sim);
    sim->ops->memory(sim->self, parts);
    for (int i = 0; i < MABD_MEMORY_COUNT; i++) sum += parts[i];
    return sum + mabd_sim_start_bytes(sim);
}

size_t mabd_sim_device_bytes(const mabd_sim* sim) {
    return sim->ops->device_bytes(sim->self);
}

void mabd_sim_memory(const mabd_sim* sim, size_t* bytes) {
    mabd_model_memory(sim->model, bytes);
    sim->ops->memory(sim->self, bytes);
    bytes[MABD_MEMORY_WORKSPACE] += mabd_bytes(1, sizeof *sim) + mabd_sim_start_bytes(sim);
}

mabd_measure mabd_sim_measure(const mabd_sim* sim) {
    return sim->ops->measure(sim->self);
}

mabd_energy_balance mabd_sim_get_energy_balance(const mabd_sim* sim) {
    return sim->ops->get_energy_balance(sim->self);
}

void mabd_sim_get_state(const mabd_sim* sim, mabd_real* positions, mabd_real* quaternions,
                        mabd_real* velocities, mabd_real* angular) {
    sim->ops->get_state(sim->self, positions, quaternions, velocities, angular);
}

void mabd_sim_get_joint_forces(const mabd_sim* sim, mabd_real* forces) {
    sim->ops->get_joint_forces(sim->self, forces);
}

void mabd_sim_get_joint_coordinates(const mabd_sim* sim, int32_t joint, mabd_real* coordinates) {
    sim->ops->get_joint_coordinates(sim->self, joint, coordinates);
}

mabd_status mabd_sim_get_rank(mabd_sim* sim, mabd_rank_info* rank, mabd_error* error) {
    if (!sim || !rank) return mabd_fail(error, MABD_ERR_ARG, "get_rank: null argument");
    if (!sim->ops->get_rank) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation '%s' has no rank of rows",
                         sim->ops->name);
    }
    return sim->ops->get_rank(sim->self, rank, error);
}

int32_t mabd_sim_get_contacts(const mabd_sim* sim, int32_t capacity, mabd_contact_info* contacts) {
    return sim->ops->get_contacts(sim->self, capacity, contacts);
}

mabd_status mabd_sim_overlap(const mabd_sim* sim, mabd_real* depth, int32_t* a, int32_t* b) {
    return sim->ops->overlap(sim->self, depth, a, b);
}

void mabd_sim_get_times(const mabd_sim* sim, double* seconds) {
    memset(seconds, 0, MABD_MAX_STAGES * sizeof *seconds);
    sim->ops->get_times(sim->self, seconds);
}
