// SPDX-License-Identifier: Apache-2.0
// Creation, saving and the table of the M-ABD formulation.

#include "formulation/mabd/affine_sim.h"

#include "base/error.h"

#include <string.h>

// Contact forces are right to this times the contact tolerance: 3e-3 with the preset balanced [1/m].
#define FORCE_TOLERANCE ((mabd_real)3e3)

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
    sim->backend->destroy(&sim->cpu, allocator);
    mabd_cpu_release(&sim->cpu, allocator);
    mabd_free(allocator, sim->memory, sim->memory_size);
    mabd_free(allocator, sim, sizeof *sim);
}

static void reset_host(mabd_affine_sim* sim) {
    mabd_cpu_reset(&sim->cpu);
    mabd_cpu_begin(&sim->cpu, MABD_SCHEME_EULER, -sim->def.h, sim->def.h); // signals at 0
    sim->has_history = false;
}

static void reset(void* self) {
    mabd_affine_sim* sim = self;
    reset_host(sim);
    sim->backend->put(&sim->cpu); // a failure shows in the next step
}

const mabd_cpu_sim* mabd_affine_state(const void* self) {
    mabd_affine_sim* sim = (mabd_affine_sim*)self; // what it stands for does not change
    sim->backend->fetch(&sim->cpu);
    return &sim->cpu;
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
    sim->cpu.sizes.threads = (size_t)def->threads;
    sim->cpu.dual = def->dual;
    sim->cpu.gap_tolerance = def->gap_tolerance;
    sim->backend = mabd_backend_ops_of(def->backend);
    sim->cpu.solvers_later = sim->backend->has_device && !model->contact.enabled;
    if (sim->backend->may_iterate(&sim->cpu)) sim->cpu.sizes.guess = sim->cpu.sizes.rows;
    sim->def = *def;
    if (fill(sim, allocator) != MABD_OK) {
        const size_t size = sim->memory_size;
        destroy(sim, allocator);
        return mabd_fail(error, MABD_ERR_MEMORY,
                         "out of memory: the simulation needs %.1f MB and what its solvers take",
                         (double)size / 1e6);
    }
    if (sim->cpu.contacts) {
        sim->cpu.contacts->h = def->h;
        sim->cpu.contacts->tolerance = def->contact_tolerance;
        sim->cpu.contacts->force_tolerance = FORCE_TOLERANCE * def->contact_tolerance;
        sim->cpu.contacts->friction_updates = def->friction_updates;
    }
    reset_host(sim);
    const mabd_status status =
        sim->backend->create(&sim->cpu, sim->memory, sim->memory_size, allocator, error);
    if (status != MABD_OK) {
        destroy(sim, allocator);
        return status;
    }
    sim->iterates = sim->backend->iterates(&sim->cpu);
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

static void set_targets(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values) {
    mabd_cpu_sim* cpu = &((mabd_affine_sim*)self)->cpu;
    const size_t controls = (size_t)cpu->model->control_count, n = (size_t)count * controls;
    const size_t at = (size_t)first * controls;
    for (size_t i = 0; i < n; i++) {
        if (which && !which[i % controls]) continue;
        cpu->target[at + i] = values ? values[i] : 0;
        cpu->target_set[at + i] = values != NULL;
    }
}

static void get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    mabd_cpu_get_controls(mabd_affine_state(self), coordinates, rates);
}

// ---- state as bytes --------------------------------------------------------------------------------
//
// The STATE fields in the order of fields.def, then targets of copies and which of them are set, then has_history; with
// contacts: calm of all bodies, how many contacts are kept, and those.

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

// Without contacts that are kept.
static size_t least_size(const mabd_cpu_sim* cpu) {
    const mabd_cpu_sizes* n = &cpu->sizes;
    size_t total = 1 + n->targets * (sizeof *cpu->target + sizeof *cpu->target_set);
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SIZE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    return cpu->contacts ? total + n->bodies * sizeof(mabd_real) + sizeof(int32_t) : total;
}

static size_t state_size(const void* self) {
    const mabd_cpu_sim* cpu = &((const mabd_affine_sim*)self)->cpu;
    const size_t kept = cpu->contacts ? (size_t)cpu->contacts->kept.count : 0;
    return least_size(cpu) + kept * sizeof(mabd_contact_kept);
}

static void save(const void* self, void* buffer) {
    const mabd_affine_sim* sim = self;
    mabd_affine_state(self);
    const mabd_cpu_sizes* n = &sim->cpu.sizes;
    unsigned char* out = buffer;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SAVE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    memcpy(out, sim->cpu.target, n->targets * sizeof *sim->cpu.target);
    out += n->targets * sizeof *sim->cpu.target;
    memcpy(out, sim->cpu.target_set, n->targets * sizeof *sim->cpu.target_set);
    out += n->targets * sizeof *sim->cpu.target_set;
    *out++ = sim->has_history;
    const mabd_contacts* c = sim->cpu.contacts;
    if (!c) return;
    memcpy(out, c->calm, n->bodies * sizeof *c->calm);
    out += n->bodies * sizeof *c->calm;
    memcpy(out, &c->kept.count, sizeof c->kept.count);
    out += sizeof c->kept.count;
    if (c->kept.count > 0) {
        memcpy(out, c->kept.data, (size_t)c->kept.count * sizeof(mabd_contact_kept));
    }
}

// Room for the contacts of a state; MABD_ERR_INPUT if its size does not fit.
static mabd_status reserve_kept(mabd_cpu_sim* cpu, const unsigned char* state, size_t size) {
    const size_t least = least_size(cpu);
    mabd_contacts* c = cpu->contacts;
    int32_t count = 0;
    if (size < least) return MABD_ERR_INPUT;
    if (c) memcpy(&count, state + least - sizeof count, sizeof count);
    if (count < 0 || size - least != (size_t)count * sizeof(mabd_contact_kept)) {
        return MABD_ERR_INPUT;
    }
    return c ? mabd_list_reserve(&c->allocator, &c->kept, sizeof(mabd_contact_kept), count)
             : MABD_OK;
}

static mabd_status restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_affine_sim* sim = self;
    const mabd_cpu_sizes* n = &sim->cpu.sizes;
    const unsigned char* in = buffer;
    MABD_TRY(reserve_kept(&sim->cpu, in, size));
    reset_host(sim);
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    LOAD_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    memcpy(sim->cpu.target, in, n->targets * sizeof *sim->cpu.target);
    in += n->targets * sizeof *sim->cpu.target;
    for (size_t i = 0; i < n->targets; i++) sim->cpu.target_set[i] = *in++ != 0;
    sim->has_history = *in++ != 0;
    mabd_contacts* c = sim->cpu.contacts;
    if (c) {
        memcpy(c->calm, in, n->bodies * sizeof *c->calm);
        in += n->bodies * sizeof *c->calm;
        memcpy(&c->kept.count, in, sizeof c->kept.count);
        in += sizeof c->kept.count;
        if (c->kept.count > 0) {
            memcpy(c->kept.data, in, (size_t)c->kept.count * sizeof(mabd_contact_kept));
        }
    }
    mabd_cpu_begin(&sim->cpu, MABD_SCHEME_EULER, time - sim->def.h, sim->def.h);
    sim->backend->put(&sim->cpu); // a failure shows in the next step
    return MABD_OK;
}

static size_t device_bytes(const void* self) {
    const mabd_affine_sim* sim = self;
    return sim->backend->bytes(&sim->cpu);
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
    .set_targets = set_targets,
    .get_controls = get_controls,
    .get_contacts = mabd_affine_get_contacts,
    .overlap = mabd_affine_overlap,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .bytes = bytes,
    .device_bytes = device_bytes,
    .get_times = get_times,
};
