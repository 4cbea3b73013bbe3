// SPDX-License-Identifier: Apache-2.0
// Memory of a model and its simulation by what it is for. What arrays and solvers take is known from the
// model; the workspace is what then is left.

#include "step/memory.h"

#include "cpu/sim.h"

#define BYTES_STATE(reals) state += (reals) * sizeof(mabd_real);
#define BYTES_WORK(reals)

// The STATE arrays of cpu/fields.def.
static size_t state_bytes(const mabd_cpu_sizes* n) {
    size_t state = 0;
#define FIELD(kind, name, count, columns, unit, meaning) BYTES_##kind((size_t)(columns) * (count))
#include "cpu/fields.def"
#undef FIELD
    return state;
}

// What is left of `whole`; 0 if a part was told to be larger.
static size_t rest(size_t whole, size_t part) {
    return whole > part ? whole - part : 0;
}

size_t mabd_memory_of_model(const mabd_model* model) {
    return sizeof *model + model->memory_size + mabd_names_bytes(&model->body_names) +
           mabd_names_bytes(&model->joint_names);
}

void mabd_memory_split(const mabd_model* model, mabd_dual dual, size_t bytes_sim, size_t* bytes) {
    const mabd_cpu_sim sim = {.model = model, .dual = dual, .sizes = mabd_cpu_count(model)};
    size_t solvers = mabd_cpu_solver_bytes_for(&sim); // with contacts
    bytes[MABD_MEMORY_MODEL] = mabd_memory_of_model(model);
    bytes[MABD_MEMORY_PLAN] = model->plan->bytes;
    bytes[MABD_MEMORY_STATE] = state_bytes(&sim.sizes);
    bytes[MABD_MEMORY_CONTACTS] = mabd_contacts_bytes_for(model);
    if (solvers == SIZE_MAX) solvers = bytes[MABD_MEMORY_CONTACTS]; // not known
    bytes[MABD_MEMORY_DUAL] = rest(solvers, bytes[MABD_MEMORY_CONTACTS]);
    bytes[MABD_MEMORY_WORKSPACE] = rest(bytes_sim, bytes[MABD_MEMORY_STATE] + solvers);
}

void mabd_model_memory(const mabd_model* model, mabd_dual dual, size_t* bytes) {
    mabd_memory_split(model, dual, mabd_model_sim_bytes(model, dual), bytes);
}
