// SPDX-License-Identifier: Apache-2.0
// The record has one entry per analysed component, by rising component. Plan and creation visit the
// components in this order, so that a new entry mostly comes last.

#include "formulation/affine/dual_analysis.h"

#include "base/list.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/dual_select.h"
#include "model/model_analysis.h"

#include <string.h>

typedef struct entry {
    int32_t component;
    mabd_dual_block_analysis analysis; // symbolic is null once it is taken
} entry;

struct mabd_affine_analysis {
    mabd_model_analysis head;
    mabd_allocator allocator;
    mabd_list entries; // of entry
};

static void destroy(mabd_model_analysis* head) {
    mabd_affine_analysis* a = (mabd_affine_analysis*)head;
    const mabd_allocator allocator = a->allocator;
    entry* entries = a->entries.data;
    for (int32_t i = 0; i < a->entries.count; i++) {
        mabd_dual_block_symbolic_destroy(&allocator, entries[i].analysis.symbolic);
    }
    mabd_list_free(&allocator, &a->entries, sizeof(entry));
    mabd_free(&allocator, a, sizeof *a);
}

static bool same(const mabd_allocator* a, const mabd_allocator* b) {
    return a->alloc == b->alloc && a->free == b->free && a->context == b->context;
}

mabd_status mabd_affine_analysis_begin(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    if (same(allocator, &sim->model->allocator)) {
        sim->analysis =
            (mabd_affine_analysis*)mabd_model_take_analysis(sim->model, &mabd_formulation_affine);
        if (sim->analysis) return MABD_OK;
    }
    sim->analysis = mabd_alloc(allocator, sizeof *sim->analysis);
    if (!sim->analysis) return MABD_ERR_MEMORY;
    sim->analysis->head.owner = &mabd_formulation_affine;
    sim->analysis->head.destroy = destroy;
    sim->analysis->allocator = *allocator;
    return MABD_OK;
}

// Return the index of the first entry whose component is not lower.
static int32_t place_of(const mabd_affine_analysis* a, int32_t component) {
    const entry* entries = a->entries.data;
    int32_t low = 0, high = a->entries.count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (entries[middle].component < component) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static entry* find(const mabd_affine_analysis* a, int32_t component) {
    entry* entries = a->entries.data;
    const int32_t i = place_of(a, component);
    return i < a->entries.count && entries[i].component == component ? &entries[i] : NULL;
}

static entry* insert(mabd_affine_analysis* a, int32_t component) {
    if (mabd_list_reserve(&a->allocator, &a->entries, sizeof(entry), 1) != MABD_OK) return NULL;
    const int32_t i = place_of(a, component);
    entry* e = (entry*)a->entries.data + i;
    memmove(e + 1, e, (size_t)(a->entries.count - i) * sizeof *e);
    a->entries.count++;
    *e = (entry){.component = component};
    return e;
}

const mabd_dual_block_analysis* mabd_affine_analysis_of(const mabd_affine_sim* sim,
                                                        int32_t component) {
    mabd_affine_analysis* a = sim->analysis;
    entry* e = find(a, component);
    if (e && e->analysis.symbolic) return &e->analysis;
    if (!e) e = insert(a, component);
    if (!e) return NULL;
    const mabd_dual_system system = mabd_affine_dual_system(sim, component);
    const mabd_status status = mabd_dual_block_prepare(&a->allocator, &system, &e->analysis);
    return status == MABD_OK ? &e->analysis : NULL;
}

mabd_dual_block_symbolic* mabd_affine_analysis_take(const mabd_affine_sim* sim, int32_t component) {
    mabd_affine_analysis* a = sim->analysis;
    entry* e = a ? find(a, component) : NULL;
    if (!e) return NULL;
    mabd_dual_block_symbolic* symbolic = e->analysis.symbolic;
    e->analysis.symbolic = NULL;
    return symbolic;
}

void mabd_affine_analysis_leave(mabd_affine_sim* sim) {
    mabd_model_leave_analysis(sim->model, &sim->analysis->head);
    sim->analysis = NULL;
}

void mabd_affine_analysis_end(mabd_affine_sim* sim) {
    if (sim->analysis) destroy(&sim->analysis->head);
    sim->analysis = NULL;
}
