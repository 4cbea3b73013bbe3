// SPDX-License-Identifier: Apache-2.0
// The state of a simulation as bytes: a header that must agree with the simulation it is restored
// into, then the formulation's own block. The header holds a version of each.

#include "base/error.h"
#include "model/model_data.h"
#include "sim/sim_def.h"
#include "sim/sim_object.h"

#include <string.h>

#define STATE_MAGIC   UINT64_C(0x455441545364626d) // "mbdSTATE"
#define STATE_VERSION 6

// Words of 8 bytes only, so that there is no padding.
typedef struct state_header {
    uint64_t magic, version;
    uint64_t block_version; // of the formulation's block
    uint64_t real_size;     // bytes of mabd_real
    uint64_t size;          // bytes of header and block
    uint64_t formulation, model;
    int64_t steps;
    double fields[MABD_DEF_FIELD_COUNT]; // of the resolved definition (sim/def_fields.def)
} state_header;

static state_header make_header(const mabd_sim* sim) {
    state_header header;
    header.magic = STATE_MAGIC;
    header.version = STATE_VERSION;
    header.block_version = sim->ops->state_version;
    header.real_size = sizeof(mabd_real);
    header.size = mabd_sim_state_size(sim);
    header.formulation = (uint64_t)sim->def.formulation;
    header.model = mabd_model_hash(sim->model);
    header.steps = sim->steps;
    mabd_def_values(&sim->def, header.fields);
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

static mabd_status check_fields(const state_header* found, const state_header* expected,
                                mabd_error* error) {
    for (int i = 0; i < MABD_DEF_FIELD_COUNT; i++) {
        if (found->fields[i] == expected->fields[i]) continue;
        const char* name = mabd_def_field_name(i);
        if (strcmp(name, "integrator") == 0) {
            return mabd_fail(error, MABD_ERR_INPUT,
                             "the state was saved with integrator '%s', this simulation has '%s'",
                             mabd_integrator_name((mabd_integrator)found->fields[i]),
                             mabd_integrator_name((mabd_integrator)expected->fields[i]));
        }
        if (strcmp(name, "dual") == 0) {
            return mabd_fail(error, MABD_ERR_INPUT,
                             "the state was saved with dual '%s', this simulation has '%s'",
                             mabd_dual_name((mabd_dual)found->fields[i]),
                             mabd_dual_name((mabd_dual)expected->fields[i]));
        }
        return mabd_fail(error, MABD_ERR_INPUT,
                         "the state was saved with %s = %g, this simulation has %g", name,
                         found->fields[i], expected->fields[i]);
    }
    return MABD_OK;
}

static mabd_status check_header(const state_header* found, const state_header* expected,
                                size_t size, mabd_error* error) {
    if (found->magic != expected->magic || found->real_size != expected->real_size) {
        return mabd_fail(error, MABD_ERR_INPUT, "this is not a saved state of this build");
    }
    if (found->version != expected->version) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "the state has version %llu, this library reads version %d",
                         (unsigned long long)found->version, STATE_VERSION);
    }
    if (found->formulation != expected->formulation) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "the state is of formulation '%s', this simulation is '%s'",
                         mabd_formulation_name((mabd_formulation)found->formulation),
                         mabd_formulation_name((mabd_formulation)expected->formulation));
    }
    if (found->model != expected->model) {
        return mabd_fail(error, MABD_ERR_INPUT, "the state is of another model");
    }
    MABD_TRY(check_fields(found, expected, error));
    if (found->block_version != expected->block_version) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "the state has version %llu of formulation '%s', this library reads %llu",
                         (unsigned long long)found->block_version,
                         mabd_formulation_name((mabd_formulation)expected->formulation),
                         (unsigned long long)expected->block_version);
    }
    if (found->steps < 0) return mabd_fail(error, MABD_ERR_INPUT, "the step count is negative");
    if (found->size != size) {
        return mabd_fail(error, MABD_ERR_INPUT, "the state has %zu bytes, its header says %llu",
                         size, (unsigned long long)found->size);
    }
    return MABD_OK;
}

mabd_status mabd_sim_restore(mabd_sim* sim, const void* buffer, size_t size, mabd_error* error) {
    if (!sim || !buffer) {
        return mabd_fail(error, MABD_ERR_ARG, "sim and buffer must not be null");
    }
    const state_header expected = make_header(sim);
    state_header found;
    if (size < sizeof found) return mabd_fail(error, MABD_ERR_INPUT, "the state is cut short");
    memcpy(&found, buffer, sizeof found);
    MABD_TRY(check_header(&found, &expected, size, error));
    const mabd_real time = (mabd_real)found.steps * sim->def.h;
    const mabd_status status =
        sim->ops->restore(sim->self, (const char*)buffer + sizeof found, size - sizeof found, time);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "restoring a state");
    if (status != MABD_OK) {
        return mabd_fail(error, MABD_ERR_INPUT, "the state does not have the size it should");
    }
    sim->steps = found.steps;
    return MABD_OK;
}
