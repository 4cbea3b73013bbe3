// SPDX-License-Identifier: Apache-2.0
// In a chain, edge s couples slot s with slot s + 1. After elimination inside a lane of a segment,
// the block between its two cuts is in the edge of the first cut: the edges of the reduced chain
// are therefore those of its slots.

#include "formulation/affine/cpu/reduced_chain.h"

#include "dual/chain_thomas.h"

// List the slots of a component that are outside segments or cuts. Returns their number; slots:
// null = count only.
static int32_t list_slots(const mabd_plan_component* c, const mabd_affine_packs* packs,
                          int32_t segment, int32_t segment_last, int32_t* slots) {
    int32_t count = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        while (segment < segment_last && s >= packs->segments[segment].slot + MABD_SEGMENT_BODIES)
            segment++;
        const int32_t from = segment < segment_last ? s - packs->segments[segment].slot : 0;
        if (from > 0 && from % MABD_SEGMENT_LINKS != 0) continue;
        if (slots) slots[count] = s;
        count++;
    }
    return count;
}

// Find the segments of a component. They rise by slot within a component, because bodies follow the
// chain. Returns the index after the last one.
static int32_t find_segments(const mabd_plan_component* c, const mabd_affine_packs* packs,
                             int32_t* first) {
    int32_t last = 0;
    *first = 0;
    for (int32_t r = 0; r < packs->segment_count; r++) {
        const int32_t slot = packs->segments[r].slot - c->slot_first;
        if (slot < 0 || slot >= c->slot_count) continue;
        if (last == 0) *first = r;
        last = r + 1;
    }
    return last;
}

static int32_t count_rows(const mabd_plan* plan, const int32_t* slots, int32_t count) {
    int32_t rows = 0;
    for (int32_t i = 0; i < count; i++) rows += plan->slot_width[slots[i]];
    return rows;
}

// Reserve all arrays; integers first: slots, widths, first rows.
static void layout(mabd_affine_reduced_chain* o, int32_t count, int32_t rows, mabd_arena* arena) {
    const size_t n = (size_t)count;
    o->slots = mabd_arena_take(arena, n, sizeof *o->slots);
    o->system.width = mabd_arena_take(arena, n, sizeof(int32_t));
    o->system.row = mabd_arena_take(arena, n, sizeof(int32_t));
    o->system.block = mabd_arena_take(arena, n, sizeof(size_t));
    o->system.edge_block = mabd_arena_take(arena, n, sizeof(size_t));
    o->x = mabd_arena_take(arena, (size_t)rows, sizeof *o->x);
}

static void fill(const mabd_affine_sim* sim, const mabd_plan_component* c,
                 mabd_affine_reduced_chain* o) {
    const mabd_plan* plan = sim->model->plan;
    int32_t *width = (int32_t*)o->system.width, *row = (int32_t*)o->system.row;
    size_t *block = (size_t*)o->system.block, *edge = (size_t*)o->system.edge_block;
    int32_t rows = 0;
    for (int32_t i = 0; i < o->system.slot_count; i++) {
        const int32_t s = o->slots[i];
        width[i] = plan->slot_width[s], row[i] = rows;
        block[i] = plan->slot_block[s];
        if (i + 1 < o->system.slot_count) {
            edge[i] = plan->edge_block[c->edge_first + s - c->slot_first];
        }
        rows += width[i];
    }
    o->system.edge_count = o->system.slot_count - 1;
    o->system.D = sim->D, o->system.U = sim->U;
}

// Create the reduced chain of one component.
static mabd_status create(mabd_affine_sim* sim, const mabd_allocator* allocator,
                          const mabd_plan_component* c, mabd_affine_reduced_chain* o) {
    const mabd_affine_packs* packs = sim->packs;
    mabd_arena arena = {0};
    o->segment_last = find_segments(c, packs, &o->segment_first);
    if (o->segment_last == 0) return MABD_OK;
    const int32_t count = list_slots(c, packs, o->segment_first, o->segment_last, NULL);
    const int32_t most = MABD_PLAN_SLOT_ROWS * count;
    layout(o, count, most, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    o->bytes = arena.size = arena.used;
    o->memory = arena.memory = mabd_alloc(allocator, arena.size);
    if (!o->memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(o, count, most, &arena);
    list_slots(c, packs, o->segment_first, o->segment_last, o->slots);
    o->system.slot_count = count;
    o->system.row_count = count_rows(sim->model->plan, o->slots, count);
    fill(sim, c, o);
    return MABD_OK;
}

mabd_status mabd_affine_reduced_chain_create(mabd_affine_sim* sim,
                                             const mabd_allocator* allocator) {
    const mabd_plan* plan = sim->model->plan;
    const size_t bytes = (size_t)plan->component_count * sizeof *sim->reduced_chains;
    if (sim->packs->segment_count == 0) return MABD_OK;
    sim->reduced_chains = mabd_alloc(allocator, bytes);
    if (!sim->reduced_chains) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < plan->component_count; i++) {
        MABD_TRY(create(sim, allocator, &plan->components[i], &sim->reduced_chains[i]));
    }
    return MABD_OK;
}

void mabd_affine_reduced_chain_destroy(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    const size_t count = (size_t)sim->model->plan->component_count;
    if (!sim->reduced_chains) return;
    for (size_t i = 0; i < count; i++) {
        if (sim->reduced_chains[i].memory) {
            mabd_free(allocator, sim->reduced_chains[i].memory, sim->reduced_chains[i].bytes);
        }
    }
    mabd_free(allocator, sim->reduced_chains, count * sizeof *sim->reduced_chains);
}

size_t mabd_affine_reduced_chain_bytes(const mabd_affine_sim* sim) {
    const size_t count = (size_t)sim->model->plan->component_count;
    size_t bytes = sim->reduced_chains ? count * sizeof *sim->reduced_chains : 0;
    for (size_t i = 0; sim->reduced_chains && i < count; i++) bytes += sim->reduced_chains[i].bytes;
    return bytes;
}

bool mabd_affine_reduced_chain_is(const mabd_affine_sim* sim, int32_t component) {
    return sim->reduced_chains && sim->reduced_chains[component].memory;
}

mabd_status mabd_affine_reduced_chain_factor(mabd_affine_sim* sim, int32_t component,
                                             int32_t* bad) {
    const mabd_affine_reduced_chain* o = &sim->reduced_chains[component];
    const int32_t first = sim->model->plan->components[component].slot_first;
    for (int32_t r = o->segment_first; r < o->segment_last; r++) {
        if (sim->packs->segments[r].bad < 0) continue;
        *bad = sim->packs->segments[r].bad - first;
        return MABD_ERR_SINGULAR;
    }
    mabd_dual_system system = o->system;
    system.D = sim->D, system.U = sim->U;
    int32_t place = 0;
    const mabd_status status = mabd_dual_chain_factor(&system, &place);
    if (status != MABD_OK) *bad = o->slots[place] - first;
    return status;
}

void mabd_affine_reduced_chain_solve(mabd_affine_sim* sim, int32_t component) {
    const mabd_affine_reduced_chain* o = &sim->reduced_chains[component];
    const mabd_plan* plan = sim->model->plan;
    const mabd_dual_system* system = &o->system;
    for (int32_t i = 0; i < system->slot_count; i++) {
        const mabd_real* from = sim->lambda + plan->slot_row[o->slots[i]];
        for (int32_t k = 0; k < system->width[i]; k++) o->x[system->row[i] + k] = from[k];
    }
    mabd_dual_chain_solve(system, o->x);
    for (int32_t i = 0; i < system->slot_count; i++) {
        mabd_real* to = sim->lambda + plan->slot_row[o->slots[i]];
        for (int32_t k = 0; k < system->width[i]; k++) to[k] = o->x[system->row[i] + k];
    }
}
