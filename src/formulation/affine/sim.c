// SPDX-License-Identifier: Apache-2.0
// Creation, saved state and the table of the affine formulation.

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/asleep.h"
#include "formulation/affine/dual_analysis.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/energy_books.h"
#include "formulation/affine/fast_bodies.h"
#include "formulation/affine/targets.h"

#include "formulation/affine/affine_measure.h"
#include "formulation/affine/affine_output.h"
#include "formulation/affine/affine_step.h"
#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/limits.h"

#include "base/error.h"

#include <string.h>

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_affine_sim* sim = self;
    sim->backend->destroy(sim, allocator);
    mabd_affine_release(sim, allocator);
    mabd_affine_analysis_end(sim);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim->memory, sim->memory_size);
    mabd_free(allocator, sim, sizeof *sim);
}

static void reset_host(mabd_affine_sim* sim) {
    mabd_affine_reset(sim);
    mabd_affine_wake(sim);
    sim->step_time = -sim->def.h;
    mabd_affine_begin_solve(sim, MABD_SCHEME_EULER, sim->step_time, sim->def.h); // signals at 0
    sim->has_history = false;
    sim->is_start = true;
}

static void reset(void* self) {
    mabd_affine_sim* sim = self;
    reset_host(sim);
    mabd_affine_books_open(sim);
    sim->backend->upload(sim); // a failure is reported by the next step
}

const mabd_affine_sim* mabd_affine_state(const void* self) {
    mabd_affine_sim* sim = (mabd_affine_sim*)self; // the state that it represents does not change
    sim->backend->download(sim);
    if (sim->backend->has_device) mabd_affine_watch_fast(sim, sim->step_time, true);
    return sim;
}

static mabd_status fill(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    mabd_arena arena = {0};
    mabd_affine_layout(sim, &arena);
    sim->memory_size = arena.size = arena.used;
    sim->solvers = NULL; // until they exist
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    sim->memory = arena.memory = mabd_alloc(allocator, arena.size);
    if (!sim->memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    mabd_affine_layout(sim, &arena);
    return mabd_affine_prepare(sim, allocator);
}

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* start,
                          void** self, mabd_error* error) {
    mabd_affine_sim* sim = mabd_alloc(allocator, sizeof *sim);
    if (!sim) return mabd_fail_memory(error, "creating the simulation");
    sim->model = model;
    sim->start = start;
    sim->warnings.allocator = *allocator;
    sim->sizes = mabd_affine_count(model);
    sim->sizes.spins = mabd_affine_count_spins(model, def);
    sim->sizes.threads = (size_t)def->threads;
    sim->dual = def->dual;
    sim->gap_tolerance = def->gap_tolerance;
    sim->backend = mabd_affine_backend_ops_of(def->backend);
    sim->solvers_later = sim->backend->has_device && !model->contact.enabled;
    if (sim->backend->may_iterate(sim)) sim->sizes.guess = sim->sizes.rows;
    sim->def = *def;
    mabd_affine_resolve(&sim->def); // unit tests call this entry with a plain definition
    if (fill(sim, allocator) != MABD_OK) {
        const size_t size = sim->memory_size;
        destroy(sim, allocator);
        return mabd_fail(error, MABD_ERR_MEMORY,
                         "out of memory: the simulation needs %.1f MB and what its solvers take",
                         (double)size / 1e6);
    }
    if (sim->contacts) {
        sim->contacts->search.h = def->h;
        sim->contacts->search.tolerance = def->contact_tolerance;
        sim->contacts->search.force_tolerance =
            MABD_CONTACT_FORCE_TOLERANCE * def->contact_tolerance;
        sim->contacts->search.friction_updates = def->affine.friction_updates;
    }
    reset_host(sim);
    mabd_affine_books_open(sim);
    const mabd_status status =
        sim->backend->create(sim, sim->memory, sim->memory_size, allocator, error);
    if (status != MABD_OK) {
        destroy(sim, allocator);
        return status;
    }
    mabd_affine_analysis_end(sim);
    sim->iterates = sim->backend->iterates(sim);
    mabd_affine_dual_warn(sim);
    *self = sim;
    return MABD_OK;
}

static void get_times(const void* self, double* seconds) {
    const mabd_affine_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

static void set_targets(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values) {
    mabd_affine_sim* sim = self;
    const size_t controls = (size_t)sim->model->control_count, n = (size_t)count * controls;
    const size_t at = (size_t)first * controls;
    for (size_t i = 0; i < n; i++) {
        if (which && !which[i % controls]) continue;
        sim->target[at + i] = values ? values[i] : 0;
        sim->target_set[at + i] = values != NULL;
    }
}

static bool get_target(const void* self, int32_t copy, int32_t control, mabd_real* target) {
    const mabd_affine_sim* sim = self;
    const size_t at = (size_t)copy * (size_t)sim->model->control_count + (size_t)control;
    *target = sim->target[at];
    return sim->target_set[at];
}

static void get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    mabd_affine_get_controls(mabd_affine_state(self), coordinates, rates);
}

// ---- state as bytes ----------------------------------------------------------------------------
//
// The STATE fields in the order of fields.def, the targets and which of them are set, the same of
// the last two steps, the fingerprints of applied forces of the last step, the energy books of the
// host, a byte of flags; with contacts: euler_steps of all bodies, the number of saved contacts,
// and these; with the flag HAS_APPLIED: the applied forces. A change of this order raises
// state_version.

#define HAS_HISTORY 1
#define HAS_APPLIED 2
#define HAD_APPLIED 4
#define IS_START    8

#define SAVE_STATE(name, size)                                                                     \
    memcpy(out, sim->name, size);                                                                  \
    out += size;
#define SAVE_WORK(name, size)
#define LOAD_STATE(name, size)                                                                     \
    memcpy(sim->name, in, size);                                                                   \
    in += size;
#define LOAD_WORK(name, size)
#define SIZE_STATE(name, size) total += size;
#define SIZE_WORK(name, size)

// Reals of the energy books that are saved.
#define BOOKS_REALS 12

static void pack_books(const mabd_affine_books* b, mabd_real* out) {
    const mabd_real values[BOOKS_REALS] = {
        b->start[0],  b->start[1],         b->start[2],         b->start[3],
        b->applied,   b->contact.friction, b->contact.impacts,  b->contact.scripts,
        b->stored[0], b->stored[1],        b->contact.surfaces, b->contact.rolling};
    memcpy(out, values, sizeof values);
}

static void unpack_books(const mabd_real* in, mabd_affine_books* b) {
    memcpy(b->start, in, sizeof b->start);
    b->applied = in[4];
    b->contact.friction = in[5], b->contact.impacts = in[6], b->contact.scripts = in[7];
    memcpy(b->stored, in + 8, sizeof b->stored);
    b->contact.surfaces = in[10], b->contact.rolling = in[11];
}

static size_t applied_size(const mabd_affine_sim* sim) {
    return 6 * sim->sizes.bodies * sizeof *sim->applied;
}

static size_t prints_size(const mabd_affine_sim* sim) {
    return (size_t)mabd_model_control_copies(sim->model) * sizeof *sim->applied_print;
}

static unsigned char* save_targets(const mabd_affine_sim* sim, unsigned char* out) {
    const size_t n = sim->sizes.targets;
    const mabd_real* targets[] = {sim->target, sim->last_target, sim->older_target};
    const bool* set[] = {sim->target_set, sim->last_set, sim->older_set};
    for (int i = 0; i < 3; i++) {
        memcpy(out, targets[i], n * sizeof *targets[i]);
        out += n * sizeof *targets[i];
        memcpy(out, set[i], n * sizeof *set[i]);
        out += n * sizeof *set[i];
    }
    memcpy(out, sim->applied_print, prints_size(sim));
    return out + prints_size(sim);
}

static const unsigned char* restore_targets(mabd_affine_sim* sim, const unsigned char* in) {
    const size_t n = sim->sizes.targets;
    mabd_real* targets[] = {sim->target, sim->last_target, sim->older_target};
    bool* set[] = {sim->target_set, sim->last_set, sim->older_set};
    for (int i = 0; i < 3; i++) {
        memcpy(targets[i], in, n * sizeof *targets[i]);
        in += n * sizeof *targets[i];
        for (size_t k = 0; k < n; k++) set[i][k] = *in++ != 0;
    }
    memcpy(sim->applied_print, in, prints_size(sim));
    return in + prints_size(sim);
}

// Offset of the flags.
static size_t flags_at(const mabd_affine_sim* sim) {
    const mabd_affine_sizes* n = &sim->sizes;
    size_t total = 3 * n->targets * (sizeof *sim->target + sizeof *sim->target_set) +
                   prints_size(sim) + BOOKS_REALS * sizeof(mabd_real);
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SIZE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "formulation/affine/fields.def"
#undef FIELD
    return total;
}

// Size of a state without saved contacts and applied forces.
static size_t least_size(const mabd_affine_sim* sim) {
    const size_t total = flags_at(sim) + 1;
    return sim->contacts ? total + sim->sizes.bodies * sizeof(mabd_real) + sizeof(int32_t) : total;
}

static size_t state_size(const void* self) {
    const mabd_affine_sim* sim = self;
    const size_t saved = sim->contacts ? (size_t)sim->contacts->list.saved.count : 0;
    return least_size(sim) + saved * sizeof(mabd_affine_saved_contact) +
           (sim->has_applied ? applied_size(sim) : 0);
}

static unsigned char* save_contacts(const mabd_affine_sim* sim, unsigned char* out) {
    const mabd_affine_sizes* n = &sim->sizes;
    const mabd_affine_contacts* c = sim->contacts;
    memcpy(out, c->by_body.euler_steps, n->bodies * sizeof *c->by_body.euler_steps);
    out += n->bodies * sizeof *c->by_body.euler_steps;
    memcpy(out, &c->list.saved.count, sizeof c->list.saved.count);
    out += sizeof c->list.saved.count;
    if (c->list.saved.count > 0) {
        memcpy(out, c->list.saved.data,
               (size_t)c->list.saved.count * sizeof(mabd_affine_saved_contact));
    }
    return out + (size_t)c->list.saved.count * sizeof(mabd_affine_saved_contact);
}

static void save(const void* self, void* buffer) {
    const mabd_affine_sim* sim = self;
    mabd_affine_state(self);
    const mabd_affine_sizes* n = &sim->sizes;
    unsigned char* out = buffer;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    SAVE_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "formulation/affine/fields.def"
#undef FIELD
    out = save_targets(sim, out);
    mabd_real books[BOOKS_REALS];
    pack_books(&sim->books, books);
    memcpy(out, books, sizeof books);
    out += sizeof books;
    *out++ = (unsigned char)((sim->has_history ? HAS_HISTORY : 0) |
                             (sim->has_applied ? HAS_APPLIED : 0) |
                             (sim->had_applied ? HAD_APPLIED : 0) | (sim->is_start ? IS_START : 0));
    if (sim->contacts) out = save_contacts(sim, out);
    if (sim->has_applied) memcpy(out, sim->applied, applied_size(sim));
}

// Reserve memory for the contacts of a state; MABD_ERR_INPUT if its size does not fit.
static mabd_status reserve_saved(mabd_affine_sim* sim, const unsigned char* state, size_t size) {
    const size_t least = least_size(sim);
    mabd_affine_contacts* c = sim->contacts;
    int32_t count = 0;
    if (size < least) return MABD_ERR_INPUT;
    if (c) memcpy(&count, state + least - sizeof count, sizeof count);
    const bool applied = (state[flags_at(sim)] & HAS_APPLIED) != 0;
    const size_t more = (size_t)(count > 0 ? count : 0) * sizeof(mabd_affine_saved_contact) +
                        (applied ? applied_size(sim) : 0);
    if (count < 0 || size - least != more) return MABD_ERR_INPUT;
    return c ? mabd_list_reserve(&c->allocator, &c->list.saved, sizeof(mabd_affine_saved_contact),
                                 count)
             : MABD_OK;
}

static mabd_status restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_affine_sim* sim = self;
    const mabd_affine_sizes* n = &sim->sizes;
    const unsigned char* in = buffer;
    MABD_TRY(reserve_saved(sim, in, size));
    reset_host(sim);
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    LOAD_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "formulation/affine/fields.def"
#undef FIELD
    in = restore_targets(sim, in);
    mabd_real books[BOOKS_REALS];
    memcpy(books, in, sizeof books);
    in += sizeof books;
    unpack_books(books, &sim->books);
    const unsigned char flags = *in++;
    sim->has_history = (flags & HAS_HISTORY) != 0;
    sim->has_applied = (flags & HAS_APPLIED) != 0;
    sim->had_applied = (flags & HAD_APPLIED) != 0;
    sim->is_start = (flags & IS_START) != 0;
    mabd_affine_contacts* c = sim->contacts;
    if (c) {
        memcpy(c->by_body.euler_steps, in, n->bodies * sizeof *c->by_body.euler_steps);
        in += n->bodies * sizeof *c->by_body.euler_steps;
        memcpy(&c->list.saved.count, in, sizeof c->list.saved.count);
        in += sizeof c->list.saved.count;
        if (c->list.saved.count > 0) {
            memcpy(c->list.saved.data, in,
                   (size_t)c->list.saved.count * sizeof(mabd_affine_saved_contact));
        }
        in += (size_t)c->list.saved.count * sizeof(mabd_affine_saved_contact);
    }
    if (sim->has_applied) memcpy(sim->applied, in, applied_size(sim));
    sim->step_time = time - sim->def.h;
    mabd_affine_begin_solve(sim, MABD_SCHEME_EULER, sim->step_time, sim->def.h);
    sim->backend->upload(sim); // a failure is reported by the next step
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_affine_sim*)self)->warnings;
}

static size_t device_bytes(const void* self) {
    const mabd_affine_sim* sim = self;
    return sim->backend->bytes(sim);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_AFFINE_STAGE_LIST(X) NULL};
#undef X
static const char* const nothing_unused[] = {NULL};

const mabd_formulation_ops mabd_formulation_affine = {
    .name = "affine",
    .alias = "mabd",
    .paper_name = "M-ABD",
    .state_version = 5,
    .can = MABD_CAN_CONTACTS | MABD_CAN_LOOPS | MABD_CAN_STOPS | MABD_CAN_SCRIPTS | MABD_CAN_BATCH |
           MABD_CAN_REBOUND | MABD_CAN_ROLLING | MABD_CAN_SURFACES,
    .integrators = 1U << MABD_INTEGRATOR_BDF2 | 1U << MABD_INTEGRATOR_EULER |
                   1U << MABD_INTEGRATOR_BDF2_LINEAR,
    .stages = stage_names,
    .unused = nothing_unused,
    .has_backend = mabd_affine_has_backend,
    .apply_preset = mabd_affine_apply_preset,
    .resolve = mabd_affine_resolve,
    .check = mabd_affine_check,
    .plan = mabd_affine_plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_affine_step,
    .measure = mabd_affine_measure,
    .get_energy_balance = mabd_affine_energy_balance,
    .get_state = mabd_affine_get_state,
    .get_joint_forces = mabd_affine_get_joint_forces,
    .get_joint_coordinates = mabd_affine_get_joint_coordinates,
    .set_state = mabd_affine_set_state,
    .apply_force = mabd_affine_apply_force,
    .warnings = warnings,
    .set_targets = set_targets,
    .get_controls = get_controls,
    .get_target = get_target,
    .get_contacts = mabd_affine_get_contacts,
    .overlap = mabd_affine_overlap,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .device_bytes = device_bytes,
    .memory = mabd_affine_memory,
    .get_times = get_times,
};
