// SPDX-License-Identifier: Apache-2.0
// Chains of condensed solves (affine/cpu/condense.c). The slots of touched bodies are kept, and
// so are the ends of the chain and places where the number of rows changes. Long runs between them
// are cut: every slot after MABD_SEGMENT_LINKS others is kept, too.
//
//   o---o---#---#---o---o---o---o---#---o---o    o run, # kept
//
// Runs are eliminated in lanes, eight at a time, by the recurrence of segments
// (affine/cpu/segment.h), which leaves a block of the kept slot before a run, one of the slot
// after it, and one between both. With these the kept slots are a chain again. Runs of equal width
// are sorted by length, so that lanes of a group end at nearly the same time.

#include "formulation/affine/cpu/condense_chain.h"

#include "dual/chain_thomas.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/limits.h"
#include "math/block.h"

#include <string.h>

typedef mabd_affine_condensed_component condensed_component;
typedef mabd_affine_condensed_group condensed_group;

static int32_t* indices(const mabd_list* list) {
    return list->data;
}

// ---- the pattern -------------------------------------------------------------------------------

// True if a slot has the width of its neighbours, and lanes for it exist.
static bool may_be_in_run(const mabd_plan* plan, const mabd_plan_component* c, int32_t slot) {
    const int32_t* width = plan->slot_width;
    if (slot == c->slot_first || slot + 1 == c->slot_first + c->slot_count) return false;
    return width[slot] >= MABD_CONDENSED_LEAST_ROWS && width[slot - 1] == width[slot] &&
           width[slot + 1] == width[slot];
}

static mabd_status keep_slots(mabd_affine_sim* sim, condensed_component* o) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_component* c = &plan->components[o->component];
    const mabd_allocator* allocator = &sim->contacts->allocator;
    mabd_affine_condensed* d = &sim->contacts->condensed;
    int32_t run = 0;
    o->slot_first = d->slots.count;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const bool touched = indices(&d->of_slot)[s] >= 0;
        if (!touched && run < MABD_SEGMENT_LINKS && may_be_in_run(plan, c, s)) {
            run++;
            continue;
        }
        run = 0;
        MABD_TRY(mabd_list_reserve(allocator, &d->slots, sizeof(int32_t), 1));
        indices(&d->of_slot)[s] = d->slots.count - o->slot_first;
        indices(&d->slots)[d->slots.count++] = s;
    }
    o->slot_count = d->slots.count - o->slot_first;
    return MABD_OK;
}

// Lay out the reduced chain: widths, rows, offsets of its blocks.
static mabd_status lay_out(mabd_affine_sim* sim, condensed_component* o) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_allocator* allocator = &sim->contacts->allocator;
    mabd_affine_condensed* d = &sim->contacts->condensed;
    const int32_t n = o->slot_count, at = o->slot_first;
    const int32_t* slots = indices(&d->slots) + at;
    MABD_TRY(mabd_list_reserve(allocator, &d->width, sizeof(int32_t), n));
    MABD_TRY(mabd_list_reserve(allocator, &d->row, sizeof(int32_t), n));
    MABD_TRY(mabd_list_reserve(allocator, &d->block, sizeof(size_t), n));
    MABD_TRY(mabd_list_reserve(allocator, &d->edge, sizeof(size_t), n));
    d->width.count = d->row.count = d->block.count = d->edge.count = at + n;
    int32_t* width = indices(&d->width) + at;
    size_t *block = (size_t*)d->block.data + at, *edge = (size_t*)d->edge.data + at;
    size_t D = 0, U = 0;
    int32_t rows = 0;
    for (int32_t i = 0; i < n; i++) {
        width[i] = plan->slot_width[slots[i]];
        indices(&d->row)[at + i] = rows, rows += width[i];
        block[i] = D, D += (size_t)(width[i] * width[i]);
        edge[i] = U;
        if (i + 1 < n) U += (size_t)(width[i] * plan->slot_width[slots[i + 1]]);
    }
    o->D = (size_t)d->work.count, o->U = o->D + D, o->x = o->U + U;
    o->end = o->x + (size_t)rows;
    o->low = (size_t)d->low.count;
    if (o->end > INT32_MAX) return MABD_ERR_MEMORY;
    d->work.count = (int32_t)o->end;
    d->low.count += rows;
    return MABD_OK;
}

static int32_t run_length(const int32_t* slots, int32_t left) {
    return slots[left + 1] - slots[left] - 1;
}

#define MABD_CONDENSED_KEYS ((MABD_BLOCK_MAX + 1) * (MABD_SEGMENT_LINKS + 1))
// Key of a run: falling width, then falling length.
static int32_t key_of(const int32_t* width, const int32_t* slots, int32_t left) {
    const int32_t length = run_length(slots, left);
    return (MABD_BLOCK_MAX - width[left]) * (MABD_SEGMENT_LINKS + 1) + MABD_SEGMENT_LINKS - length;
}

// Sort the runs by key, by counting. Returns their number, or -1 if memory is short.
static int32_t sort_runs(mabd_affine_sim* sim, const condensed_component* o) {
    mabd_affine_condensed* d = &sim->contacts->condensed;
    const int32_t *slots = indices(&d->slots) + o->slot_first,
                  *width = indices(&d->width) + o->slot_first;
    int32_t start[MABD_CONDENSED_KEYS + 1] = {0}, count = 0;
    for (int32_t i = 0; i + 1 < o->slot_count; i++) {
        if (run_length(slots, i) > 0) start[key_of(width, slots, i) + 1]++, count++;
    }
    for (int32_t k = 0; k < MABD_CONDENSED_KEYS; k++) start[k + 1] += start[k];
    d->runs.count = 0;
    if (mabd_list_reserve(&sim->contacts->allocator, &d->runs, sizeof(int32_t), count) != MABD_OK)
        return -1;
    for (int32_t i = 0; i + 1 < o->slot_count; i++) {
        if (run_length(slots, i) > 0) indices(&d->runs)[start[key_of(width, slots, i)]++] = i;
    }
    return count;
}

// Form a group that starts with run `at` of the sorted ones. Returns the run after the last one.
static int32_t form_group(const mabd_affine_condensed* d, const condensed_component* o, int32_t at,
                          int32_t count, condensed_group* group) {
    const int32_t *slots = indices(&d->slots) + o->slot_first,
                  *width = indices(&d->width) + o->slot_first, *runs = indices(&d->runs);
    memset(group, 0, sizeof *group);
    group->width = width[runs[at]], group->length = run_length(slots, runs[at]);
    group->bad = -1;
    while (at < count && group->lane_count < MABD_CONDENSED_LANES &&
           width[runs[at]] == group->width) {
        const int32_t l = group->lane_count++;
        group->first[l] = slots[runs[at]] + 1;
        group->count[l] = run_length(slots, runs[at]);
        group->left[l] = runs[at++];
    }
    return at;
}

static mabd_status form_groups(mabd_affine_sim* sim, condensed_component* o) {
    const mabd_allocator* allocator = &sim->contacts->allocator;
    mabd_affine_condensed* d = &sim->contacts->condensed;
    const int32_t count = sort_runs(sim, o);
    if (count < 0) return MABD_ERR_MEMORY;
    o->group_first = d->groups.count;
    for (int32_t at = 0; at < count;) {
        MABD_TRY(mabd_list_reserve(allocator, &d->groups, sizeof(condensed_group), 1));
        condensed_group* group = (condensed_group*)d->groups.data + d->groups.count++;
        at = form_group(d, o, at, count, group);
        group->saved = (size_t)d->saved.count;
        d->saved.count += group->length * MABD_SEGMENT_SAVED(group->width);
    }
    o->group_count = d->groups.count - o->group_first;
    return MABD_OK;
}

mabd_status mabd_affine_condense_chain_plan(mabd_affine_sim* sim, condensed_component* o) {
    MABD_TRY(keep_slots(sim, o));
    MABD_TRY(lay_out(sim, o));
    return form_groups(sim, o);
}

// ---- factor and solve --------------------------------------------------------------------------

static mabd_dual_system reduced_system(const mabd_affine_sim* sim, const condensed_component* o) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    mabd_real* work = d->work.data;
    const mabd_dual_system system = {.slot_count = o->slot_count,
                                     .edge_count = o->slot_count - 1,
                                     .row_count = (int32_t)(o->end - o->x),
                                     .width = indices(&d->width) + o->slot_first,
                                     .row = indices(&d->row) + o->slot_first,
                                     .block = (const size_t*)d->block.data + o->slot_first,
                                     .edge_block = (const size_t*)d->edge.data + o->slot_first,
                                     .D = work + o->D,
                                     .U = work + o->U};
    return system;
}

// Copy blocks, edges and right-hand sides of kept slots to the base.
static void collect(const mabd_affine_sim* sim, const condensed_component* o) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_component* c = &plan->components[o->component];
    const int32_t *slots = indices(&d->slots) + o->slot_first,
                  *width = indices(&d->width) + o->slot_first;
    mabd_real* base = d->base.data;
    mabd_real *D = base + o->D, *U = base + o->U, *x = base + o->x;
    for (int32_t i = 0; i < o->slot_count; i++) {
        const int32_t s = slots[i], w = width[i];
        memcpy(D, sim->D + plan->slot_block[s], (size_t)(w * w) * sizeof *D), D += w * w;
        memcpy(x, sim->lambda + plan->slot_row[s], (size_t)w * sizeof *x), x += w;
        if (i + 1 == o->slot_count) break;
        const size_t edge = plan->edge_block[c->edge_first + s - c->slot_first];
        const int32_t size = w * width[i + 1]; // of a run, the edge before it: it is replaced
        memcpy(U, sim->U + edge, (size_t)size * sizeof *U), U += size;
    }
}

// Eliminate all runs. Returns the first slot whose pivot failed, -1 = none.
static int32_t eliminate(mabd_affine_sim* sim, const condensed_component* o) {
    condensed_group* groups = (condensed_group*)sim->contacts->condensed.groups.data;
    int32_t bad = -1;
    for (int32_t i = o->group_first; i < o->group_first + o->group_count; i++) {
        sim->stages->eliminate_runs(sim, o, &groups[i]);
        if (groups[i].bad >= 0 && (bad < 0 || groups[i].bad < bad)) bad = groups[i].bad;
    }
    return bad;
}

mabd_status mabd_affine_condense_chain_factor(mabd_affine_sim* sim, int32_t component,
                                              int32_t* bad) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    condensed_component* o = mabd_affine_condensed_of(sim->contacts, component);
    const int32_t first = sim->model->plan->components[component].slot_first;
    if (!o->known) {
        collect(sim, o);
        const int32_t failed = eliminate(sim, o);
        *bad = failed - first;
        if (failed >= 0) return MABD_ERR_SINGULAR;
        o->known = true;
    }
    memcpy((mabd_real*)d->work.data + o->D, (const mabd_real*)d->base.data + o->D,
           (o->end - o->D) * sizeof(mabd_real));
    mabd_affine_condense_subtract(sim, o);
    const mabd_dual_system system = reduced_system(sim, o);
    int32_t place = 0;
    const mabd_status status = mabd_dual_chain_factor(&system, &place);
    if (status != MABD_OK) *bad = indices(&d->slots)[o->slot_first + place] - first;
    return status;
}

void mabd_affine_condense_chain_scatter(mabd_affine_sim* sim, const condensed_component* o) {
    const mabd_affine_condensed* d = &sim->contacts->condensed;
    const mabd_real* x = (const mabd_real*)d->work.data + o->x;
    for (int32_t i = o->slot_first; i < o->slot_first + o->slot_count; i++) {
        const int32_t w = indices(&d->width)[i];
        memcpy(sim->lambda + sim->model->plan->slot_row[indices(&d->slots)[i]], x,
               (size_t)w * sizeof *x);
        x += w;
    }
}

void mabd_affine_condense_chain_solve(mabd_affine_sim* sim, int32_t component) {
    const condensed_component* o = mabd_affine_condensed_of(sim->contacts, component);
    const mabd_dual_system system = reduced_system(sim, o);
    mabd_dual_chain_solve(&system, (mabd_real*)sim->contacts->condensed.work.data + o->x);
    mabd_affine_condense_chain_scatter(sim, o);
}

void mabd_affine_condense_chain_complete(mabd_affine_sim* sim, const condensed_component* o) {
    const condensed_group* groups = sim->contacts->condensed.groups.data;
    for (int32_t i = o->group_first; i < o->group_first + o->group_count; i++) {
        sim->stages->solve_runs(sim, &groups[i]);
    }
}
