// SPDX-License-Identifier: Apache-2.0
// Creation, saving and the table of the M-ABD formulation.

#include "formulation/mabd/affine_sim.h"

#include "base/error.h"

#include <string.h>

static size_t bytes_for(const mabd_model* model, mabd_dual dual) {
    mabd_affine_sim sim = {0};
    mabd_arena arena = {0};
    sim.cpu.model = model;
    sim.cpu.dual = dual;
    sim.cpu.sizes = mabd_cpu_count(model);
    if (mabd_cpu_may_iterate(&sim.cpu)) sim.cpu.sizes.guess = sim.cpu.sizes.rows;
    mabd_cpu_layout(&sim.cpu, &arena);
    const size_t solvers = mabd_cpu_solver_bytes_for(&sim.cpu);
    if (arena.used == SIZE_MAX || solvers > SIZE_MAX - arena.used - sizeof sim) return SIZE_MAX;
    return arena.used + sizeof sim + solvers;
}

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_affine_sim* sim = self;
    mabd_cpu_release(&sim->cpu, allocator);
    mabd_free(allocator, sim->memory, sim->memory_size);
    mabd_free(allocator, sim, sizeof *sim);
}

static void reset(void* self) {
    mabd_affine_sim* sim = self;
    mabd_cpu_reset(&sim->cpu);
    mabd_cpu_begin(&sim->cpu, MABD_SCHEME_EULER, -sim->def.h, sim->def.h); // signals at 0
    sim->has_history = false;
}

static mabd_status fill(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    mabd_arena arena = {0};
    mabd_cpu_layout(&sim->cpu, &arena);
    sim->memory_size = arena.size = arena.used;
    sim->cpu.solvers = NULL; // until they exist
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    sim->memory = arena.memory = mabd_alloc(allocator, arena.size);
    if (!sim->memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    mabd_cpu_layout(&sim->cpu, &arena);
    return mabd_cpu_prepare(&sim->cpu, allocator);
}

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, void** self, mabd_error* error) {
    mabd_affine_sim* sim = mabd_alloc(allocator, sizeof *sim);
    if (!sim) return mabd_fail_memory(error, "creating the simulation");
    sim->cpu.model = model;
    sim->cpu.sizes = mabd_cpu_count(model);
    sim->cpu.dual = def->dual;
    sim->cpu.gap_tolerance = def->gap_tolerance;
    if (mabd_cpu_may_iterate(&sim->cpu)) sim->cpu.sizes.guess = sim->cpu.sizes.rows;
    sim->def = *def;
    if (fill(sim, allocator) != MABD_OK) {
        const size_t size = sim->memory_size;
        destroy(sim, allocator);
        return mabd_fail(error, MABD_ERR_MEMORY,
                         "out of memory: the simulation needs %.1f MB and what its solvers take",
                         (double)size / 1e6);
    }
    sim->iterates = mabd_cpu_iterates(&sim->cpu);
    reset(sim);
    *self = sim;
    return MABD_OK;
}

static size_t bytes(const void* self) {
    const mabd_affine_sim* sim = self;
    return sizeof *sim + sim->memory_size + mabd_cpu_solver_bytes(&sim->cpu);
}

static void get_times(const void* self, double* seconds) {
    const mabd_affine_sim* sim = self;
    memcpy(seconds, sim->cpu.times, sizeof sim->cpu.times);
}

// ---- state as bytes: the STATE fields in the order of fields.def, then has_history -----------------

#define SAVE_STATE(name, size)                                                                     \
    memcpy(out, sim->cpu.name, size);                                                              \
    out += size;
#define SAVE_WORK(name, size)
#define LOAD_STATE(name, size)                                                                     \
    memcpy(sim->cpu.name, in, size);                                                               \
    in += size;
#define LOAD_WORK(name, size)
#define SIZE_STATE(name, size) total += size;
#define SIZE_WORK(name, size)

static size_t state_size(const void* self) {
    const mabd_cpu_sizes* n = &((const mabd_affine_sim*)self)->cpu.sizes;
    size_t total = 1;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SIZE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    return total;
}

static void save(const void* self, void* buffer) {
    const mabd_affine_sim* sim = self;
    const mabd_cpu_sizes* n = &sim->cpu.sizes;
    unsigned char* out = buffer;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SAVE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    *out = sim->has_history;
}

static void restore(void* self, const void* buffer, mabd_real time) {
    mabd_affine_sim* sim = self;
    const mabd_cpu_sizes* n = &sim->cpu.sizes;
    const unsigned char* in = buffer;
    reset(sim);
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    LOAD_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    sim->has_history = *in != 0;
    mabd_cpu_begin(&sim->cpu, MABD_SCHEME_EULER, time - sim->def.h, sim->def.h);
}

const mabd_formulation_ops mabd_formulation_affine = {
    .bytes_for = bytes_for,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_affine_step,
    .measure = mabd_affine_measure,
    .get_state = mabd_affine_get_state,
    .get_joint_forces = mabd_affine_get_joint_forces,
    .get_joint_coordinates = mabd_affine_get_joint_coordinates,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .bytes = bytes,
    .get_times = get_times,
};
