// SPDX-License-Identifier: Apache-2.0
// Memory and solvers of an affine simulation before it is created. Arrays are counted by the layout
// itself; each pattern of component is analysed once, regardless of the number of components with
// it.

#include "base/error.h"
#include "base/hash.h"
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/dual_analysis.h"
#include "formulation/affine/dual_select.h"

#include <stdio.h>
#include <string.h>

static uint64_t hash_slots(uint64_t hash, const int32_t* slots, int32_t n, int32_t offset) {
    for (int32_t i = 0; i < n; i++) {
        const int32_t slot = slots[i] - offset;
        hash = mabd_hash(hash, &slot, sizeof slot);
    }
    return hash;
}

// Hash of a component, equal for components that differ only by the numbers of their slots.
static uint64_t hash_pattern(const mabd_dual_system* system) {
    uint64_t hash = mabd_hash(MABD_HASH_START, &system->slot_count, sizeof system->slot_count);
    hash = mabd_hash(hash, system->width, (size_t)system->slot_count * sizeof(int32_t));
    hash = hash_slots(hash, system->from, system->edge_count, system->slot_offset);
    return hash_slots(hash, system->to, system->edge_count, system->slot_offset);
}

static mabd_dual_line* find(mabd_dual_line* lines, int32_t count, const mabd_dual_line* like) {
    for (int32_t i = 0; i < count; i++) {
        if (lines[i].pattern == like->pattern && lines[i].kind == like->kind &&
            lines[i].bodies == like->bodies) {
            return &lines[i];
        }
    }
    return NULL;
}

static mabd_dual_line describe(const mabd_plan_component* c, const mabd_dual_system* system) {
    return (mabd_dual_line){.kind = c->kind,
                            .components = 1,
                            .bodies = c->body_count,
                            .joints = c->slot_count - 2 * c->junction_count,
                            .rows = system->row_count - 2 * MABD_PLAN_SLOT_ROWS * c->junction_count,
                            .junctions = c->junction_count,
                            .cut_rows = c->cut_rows,
                            .pattern = hash_pattern(system)};
}

// Predict the bytes of a solver; analyses the component if the solver needs it.
static mabd_status solver_bytes(const mabd_affine_sim* sim, int32_t component,
                                const mabd_dual_ops* ops, size_t* bytes) {
    const mabd_dual_system system = mabd_affine_dual_system(sim, component);
    if (!ops->bytes_from) {
        *bytes = ops->bytes_for(&sim->model->allocator, &system);
        return MABD_OK;
    }
    const mabd_dual_block_analysis* analysis = mabd_affine_analysis_of(sim, component);
    if (!analysis) return MABD_ERR_MEMORY;
    *bytes = ops->bytes_from(&system, analysis->symbolic);
    return MABD_OK;
}

static void write_orders(const mabd_dual_order_report* orders, mabd_dual_line* line) {
    line->order = orders->which;
    for (int k = 0; k < MABD_ORDER_COUNT; k++) {
        line->order_flops[k] = orders->counts[k].flops;
        line->order_entries[k] = orders->counts[k].entries;
    }
}

// Predict the work of a chain or tree, which is eliminated in the plan's order and in place: one
// front per slot.
static mabd_status foresee_in_place(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    mabd_dual_line* line) {
    mabd_dual_order_report orders;
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* order = mabd_alloc(allocator, bytes);
    if (!order) return MABD_ERR_MEMORY;
    const mabd_status status = mabd_dual_block_order_natural(allocator, system, order, &orders);
    mabd_free(allocator, order, bytes);
    if (status != MABD_OK) return status;
    write_orders(&orders, line);
    line->fronts = system->slot_count;
    line->flops = line->order_flops[line->order];
    line->entries = line->order_entries[line->order];
    return MABD_OK;
}

// Predict memory and work of a component.
static mabd_status foresee(const mabd_affine_sim* sim, int32_t component, const mabd_dual_ops* ops,
                           mabd_dual_line* line) {
    const bool in_place = ops == &mabd_dual_chain || ops == &mabd_dual_tree;
    line->solver = ops->name;
    line->direct = in_place || ops->bytes_from;
    MABD_TRY(solver_bytes(sim, component, ops, &line->bytes));
    if (in_place) {
        const mabd_dual_system system = mabd_affine_dual_system(sim, component);
        return foresee_in_place(&sim->model->allocator, &system, line);
    }
    if (!line->direct) return MABD_OK;
    const mabd_dual_block_analysis* analysis = mabd_affine_analysis_of(sim, component);
    write_orders(&analysis->orders, line);
    line->fronts = analysis->symbolic->node_count;
    line->flops = analysis->symbolic->flops;
    line->entries = (double)analysis->symbolic->panel_size;
    return MABD_OK;
}

// ---- one component -----------------------------------------------------------------------------

static size_t add(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

// Add the line of a component, if there is room for it; its bytes are added in any case.
static mabd_status add_component(const mabd_affine_sim* sim, int32_t component,
                                 mabd_sim_plan* plan) {
    const mabd_plan_component* c = &sim->model->plan->components[component];
    const mabd_dual_system system = mabd_affine_dual_system(sim, component);
    mabd_dual_line line = describe(c, &system);
    mabd_dual_line* known = find(plan->lines, plan->line_count, &line);
    size_t* bytes = &plan->bytes[MABD_MEMORY_DUAL];
    if (known) {
        known->components++;
        *bytes = add(*bytes, known->bytes);
        return MABD_OK;
    }
    const mabd_dual_ops* ops = mabd_affine_dual_select(sim, component);
    mabd_rigid_add_solver_name(plan->solvers[c->kind], ops->name);
    if (plan->line_count == MABD_PLAN_MAX_LINES) {
        plan->lines_left_out++;
        MABD_TRY(solver_bytes(sim, component, ops, &line.bytes));
    } else {
        MABD_TRY(foresee(sim, component, ops, &line));
        plan->lines[plan->line_count++] = line;
    }
    *bytes = add(*bytes, line.bytes);
    return MABD_OK;
}

// ---- the whole simulation ----

#define BYTES_STATE(reals) state += (reals) * sizeof(mabd_real);
#define BYTES_WORK(reals)

// Bytes of the STATE arrays of affine/fields.def.
static size_t state_bytes(const mabd_affine_sizes* n) {
    size_t state = 0;
#define FIELD(kind, name, count, columns, unit, meaning) BYTES_##kind((size_t)(columns) * (count))
#include "formulation/affine/fields.def"
#undef FIELD
    return state;
}

mabd_status mabd_affine_plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan,
                             mabd_error* error) {
    mabd_affine_sim sim = {.model = model, .dual = def->dual, .sizes = mabd_affine_count(model)};
    sim.sizes.spins = mabd_affine_count_spins(model, def);
    sim.sizes.threads = (size_t)def->threads;
    mabd_arena arena = {0};
    if (mabd_affine_may_iterate(&sim)) sim.sizes.guess = sim.sizes.rows;
    mabd_affine_layout(&sim, &arena);
    const size_t arrays = add(add(arena.used, sizeof sim), mabd_affine_schedule_bytes_for(model));
    plan->bytes[MABD_MEMORY_STATE] = state_bytes(&sim.sizes);
    plan->bytes[MABD_MEMORY_WORKSPACE] =
        arrays == SIZE_MAX ? SIZE_MAX : arrays - plan->bytes[MABD_MEMORY_STATE];
    plan->bytes[MABD_MEMORY_CONTACTS] = mabd_affine_contacts_bytes_for(model);
    plan->bytes_per_contact = model->contact.enabled ? mabd_affine_contacts_bytes_per_contact() : 0;
    mabd_status status = mabd_affine_analysis_begin(&sim, &model->allocator);
    for (int32_t i = 0; status == MABD_OK && i < model->plan->component_count; i++) {
        if (model->plan->components[i].slot_count > 0) status = add_component(&sim, i, plan);
    }
    if (status != MABD_OK) {
        mabd_affine_analysis_end(&sim);
        return mabd_fail_memory(error, "planning the simulation");
    }
    mabd_affine_analysis_leave(&sim);
    return MABD_OK;
}

void mabd_affine_memory(const void* self, size_t* bytes) {
    const mabd_affine_sim* sim = self;
    size_t dual = 0;
    for (int32_t i = 0; i < sim->model->plan->component_count; i++) {
        const mabd_dual_ops* ops = sim->duals[i];
        if (ops && sim->solvers[i]) dual += ops->bytes(sim->solvers[i]);
    }
    bytes[MABD_MEMORY_STATE] = state_bytes(&sim->sizes);
    bytes[MABD_MEMORY_WORKSPACE] =
        sizeof *sim + sim->memory_size + sim->packs->bytes - bytes[MABD_MEMORY_STATE];
    bytes[MABD_MEMORY_CONTACTS] = mabd_affine_contacts_bytes(sim->contacts);
    bytes[MABD_MEMORY_DUAL] = dual;
}
