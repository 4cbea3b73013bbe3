// SPDX-License-Identifier: Apache-2.0
// mabd_sim: checks the definition, picks the formulation, counts steps.

#include "mabd/sim.h"

#include "base/error.h"
#include "formulation/affine/backend.h"
#include "model/model_data.h"
#include "sim/memory_parts.h"
#include "sim/sim_object.h"

#include <math.h>
#include <string.h>

#define SIM_COOKIE  UINT32_C(0x6d616273)
#define STATE_MAGIC UINT64_C(0x3445544154536d61) // "amSTATE4"

mabd_sim_def mabd_default_sim_def(void) {
    mabd_sim_def def = {0};
    def.formulation = MABD_FORMULATION_MABD;
    def.backend = MABD_BACKEND_CPU;
    def.integrator = MABD_INTEGRATOR_BDF2;
    def.h = (mabd_real)0.01;
    def.max_halvings = 6;
    def.threads = 1;
    def.cookie = SIM_COOKIE;
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    return def;
}

void mabd_sim_def_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    static const struct {
        mabd_real rotation, row, gap, contact;
        int32_t updates, iterations;
    } values[MABD_PRESET_COUNT] = {
        [MABD_PRESET_FAST] = {(mabd_real)3e-2, (mabd_real)1e-6, (mabd_real)1e-6, (mabd_real)1e-5, 1,
                              10},
        [MABD_PRESET_BALANCED] = {(mabd_real)1e-2, (mabd_real)1e-9, (mabd_real)1e-7,
                                  (mabd_real)1e-6, 1, 10},
        [MABD_PRESET_EXACT] = {(mabd_real)1e-6, (mabd_real)1e-12, (mabd_real)1e-10, (mabd_real)1e-9,
                               50, 20},
    };
    def->rotation_tolerance = values[preset].rotation;
    def->row_tolerance = values[preset].row;
    def->gap_tolerance = values[preset].gap;
    def->contact_tolerance = values[preset].contact;
    def->friction_updates = values[preset].updates;
    def->max_iterations = values[preset].iterations;
}

static mabd_status check_def(const mabd_sim_def* def, mabd_error* error) {
    if (def->cookie != SIM_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG, "start from mabd_default_sim_def()");
    }
    if (!(def->h > 0) || !isfinite(def->h)) {
        return mabd_fail(error, MABD_ERR_ARG, "h must be a positive number of seconds");
    }
    if (!(def->rotation_tolerance > 0) || !(def->row_tolerance > 0) || !(def->gap_tolerance > 0) ||
        !(def->contact_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "tolerances must be positive");
    }
    if (def->friction_updates < 0) {
        return mabd_fail(error, MABD_ERR_ARG, "friction_updates must be at least 0");
    }
    if (def->max_iterations < 1 || def->max_halvings < 0 || def->max_halvings > 20 ||
        def->threads < 1) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "max_iterations and threads must be at least 1, max_halvings 0 to 20");
    }
    if ((unsigned)def->dual >= MABD_DUAL_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "dual must be one of enum mabd_dual");
    }
    if (def->formulation != MABD_FORMULATION_MABD) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation '%s' is not built",
                         mabd_formulation_name(def->formulation));
    }
    if ((unsigned)def->backend >= MABD_BACKEND_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "backend must be one of enum mabd_backend");
    }
    if (!mabd_affine_backend_ops_of(def->backend)) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "backend '%s' is not built into this library",
                         mabd_backend_name(def->backend));
    }
    return MABD_OK;
}

mabd_status mabd_sim_create(const mabd_model* model, const mabd_sim_def* def, mabd_sim** sim,
                            mabd_error* error) {
    if (!model || !def || !sim) return mabd_fail(error, MABD_ERR_ARG, "model, def and sim needed");
    *sim = NULL;
    MABD_TRY(check_def(def, error));
    const mabd_allocator allocator = def->allocator ? *def->allocator : mabd_default_allocator();
    mabd_sim* s = mabd_alloc(&allocator, sizeof *s);
    if (!s) return mabd_fail_memory(error, "creating the simulation");
    s->allocator = allocator;
    s->def = *def;
    s->def.allocator = &s->allocator; // lives as long as the simulation
    s->model = model;
    s->ops = &mabd_formulation_affine;
    const mabd_status status = s->ops->create(model, &s->def, &s->allocator, &s->self, error);
    if (status != MABD_OK) {
        mabd_free(&allocator, s, sizeof *s);
        return status;
    }
    s->bytes_at_start = mabd_sim_bytes(s);
    *sim = s;
    return MABD_OK;
}

void mabd_sim_destroy(mabd_sim* sim) {
    if (!sim) return;
    const mabd_allocator allocator = sim->allocator;
    sim->ops->destroy(sim->self, &allocator);
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
    return sizeof *sim + sim->ops->bytes(sim->self);
}

size_t mabd_sim_device_bytes(const mabd_sim* sim) {
    return sim->ops->device_bytes(sim->self);
}

void mabd_sim_memory(const mabd_sim* sim, size_t* bytes) {
    const size_t grown = mabd_sim_bytes(sim) - sim->bytes_at_start;
    mabd_memory_parts(sim->model, sim->def.dual, sim->def.threads,
                      sim->bytes_at_start - sizeof *sim, bytes);
    bytes[MABD_MEMORY_WORKSPACE] += sizeof *sim;
    bytes[MABD_MEMORY_CONTACTS] += grown; // nothing else grows
}

mabd_measure mabd_sim_measure(const mabd_sim* sim) {
    return sim->ops->measure(sim->self);
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

int32_t mabd_sim_get_contacts(const mabd_sim* sim, int32_t capacity, mabd_contact_info* contacts) {
    return sim->ops->get_contacts(sim->self, capacity, contacts);
}

mabd_status mabd_sim_overlap(const mabd_sim* sim, mabd_real* depth, int32_t* a, int32_t* b) {
    return sim->ops->overlap(sim->self, depth, a, b);
}

void mabd_sim_get_times(const mabd_sim* sim, double* seconds) {
    sim->ops->get_times(sim->self, seconds);
}

// ---- state as bytes -----------------------------------------------------------------------------

// Everything that must agree for a state to make sense; written field by field into 8-byte words.
typedef struct state_header {
    uint64_t magic, model, size;
    int64_t steps;
    double h, rotation_tolerance, row_tolerance, gap_tolerance, contact_tolerance;
    int64_t formulation, integrator, dual, friction_updates, max_iterations, max_halvings,
        real_size;
} state_header;

static state_header make_header(const mabd_sim* sim) {
    state_header header;
    header.magic = STATE_MAGIC;
    header.model = sim->model->hash;
    header.size = mabd_sim_state_size(sim);
    header.steps = sim->steps;
    header.h = (double)sim->def.h;
    header.rotation_tolerance = (double)sim->def.rotation_tolerance;
    header.row_tolerance = (double)sim->def.row_tolerance;
    header.gap_tolerance = (double)sim->def.gap_tolerance;
    header.contact_tolerance = (double)sim->def.contact_tolerance;
    header.formulation = sim->def.formulation;
    header.integrator = sim->def.integrator;
    header.dual = sim->def.dual;
    header.friction_updates = sim->def.friction_updates;
    header.max_iterations = sim->def.max_iterations;
    header.max_halvings = sim->def.max_halvings;
    header.real_size = (int64_t)sizeof(mabd_real);
    return header;
}

size_t mabd_sim_state_size(const mabd_sim* sim) {
    return sizeof(state_header) + sim->ops->state_size(sim->self);
}

void mabd_sim_save(const mabd_sim* sim, void* buffer) {
    const state_header header = make_header(sim);
    memcpy(buffer, &header, sizeof header);
    sim->ops->save(sim->self, (char*)buffer + sizeof header);
}

static mabd_status refuse_size(mabd_error* error) {
    return mabd_fail(error, MABD_ERR_INPUT, "the state does not have the size it should");
}

mabd_status mabd_sim_restore(mabd_sim* sim, const void* buffer, size_t size, mabd_error* error) {
    const state_header expected = make_header(sim);
    state_header found;
    if (size < sizeof found) return mabd_fail(error, MABD_ERR_INPUT, "the state is cut short");
    memcpy(&found, buffer, sizeof found);
    if (found.magic != expected.magic || found.real_size != expected.real_size) {
        return mabd_fail(error, MABD_ERR_INPUT, "this is not a saved state of this build");
    }
    if (found.model != expected.model) {
        return mabd_fail(error, MABD_ERR_INPUT, "the state is of another model");
    }
    if (found.h != expected.h) {
        return mabd_fail(error, MABD_ERR_INPUT, "the state was saved with h = %g s, this is %g s",
                         found.h, expected.h);
    }
    found.steps = expected.steps;
    found.size = expected.size; // contacts come and go: the formulation looks at it
    if (memcmp(&found, &expected, sizeof found) != 0) {
        return mabd_fail(
            error, MABD_ERR_INPUT,
            "the state was saved with another integrator, dual solver, preset or tolerance");
    }
    memcpy(&found, buffer, sizeof found);
    if (found.steps < 0) return mabd_fail(error, MABD_ERR_INPUT, "the step count is negative");
    if (found.size != size) return refuse_size(error);
    const mabd_real time = (mabd_real)found.steps * sim->def.h;
    const mabd_status status =
        sim->ops->restore(sim->self, (const char*)buffer + sizeof found, size - sizeof found, time);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "restoring a state");
    if (status != MABD_OK) return refuse_size(error);
    sim->steps = found.steps;
    return MABD_OK;
}
