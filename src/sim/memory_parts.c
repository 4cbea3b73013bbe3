// SPDX-License-Identifier: Apache-2.0
// Memory of a model and its simulation by what it is for. Arrays are counted as they are laid out; what then is
// left belongs to the solvers of the dual system, so nothing has to be analysed again.

#include "sim/memory_parts.h"

#include "formulation/affine/affine_sim.h"

#define BYTES_STATE(reals) state += (reals) * sizeof(mabd_real);
#define BYTES_WORK(reals)

// The STATE arrays of affine/fields.def.
static size_t state_bytes(const mabd_affine_sizes* n) {
    size_t state = 0;
#define FIELD(kind, name, count, columns, unit, meaning) BYTES_##kind((size_t)(columns) * (count))
#include "formulation/affine/fields.def"
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

void mabd_model_memory(const mabd_model* model, mabd_dual dual, size_t bytes_sim, size_t* bytes) {
    mabd_memory_parts(model, dual, 1, bytes_sim, bytes);
}

void mabd_memory_parts(const mabd_model* model, mabd_dual dual, int32_t threads, size_t bytes_sim,
                       size_t* bytes) {
    mabd_affine_sim cpu = {.model = model, .dual = dual, .sizes = mabd_affine_count(model)};
    cpu.sizes.threads = (size_t)threads;
    mabd_arena arena = {0};
    if (mabd_affine_may_iterate(&cpu)) cpu.sizes.guess = cpu.sizes.rows;
    mabd_affine_layout(&cpu, &arena);
    const size_t packs = mabd_affine_schedule_bytes_for(model);
    const size_t arrays = sizeof(mabd_affine_sim) + arena.used + (packs == SIZE_MAX ? 0 : packs);
    bytes[MABD_MEMORY_MODEL] = mabd_memory_of_model(model);
    bytes[MABD_MEMORY_PLAN] = model->plan->bytes;
    bytes[MABD_MEMORY_STATE] = state_bytes(&cpu.sizes);
    bytes[MABD_MEMORY_WORKSPACE] = arrays - bytes[MABD_MEMORY_STATE];
    bytes[MABD_MEMORY_CONTACTS] = mabd_affine_contacts_bytes_for(model);
    bytes[MABD_MEMORY_DUAL] = rest(bytes_sim, arrays + bytes[MABD_MEMORY_CONTACTS]);
}
