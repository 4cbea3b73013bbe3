// SPDX-License-Identifier: Apache-2.0
// The rule uses counts only, so that the choice is the same on every machine:
//
//   chain   MABD_CUDA_ALIKE or more of one pattern: one thread each; longer than MABD_CUDA_LONG:
//           segments; else levels
//   tree    levels, however many: a branch of thousands of joints takes as many barriers of one
//           block of threads
//   loops   Schur complement of the cut rows, if they are few enough; junctions are allowed
//   graph   as loops; with more cut rows it iterates, or goes to the host if it has junctions (the
//           matrix is not definite) or if the user requested a direct solver
//
// Components whose rows may depend on each other (in_place is false) go to the host, which can
// retry with softened rows. Where the user requested an iterative solver and the CPU would iterate,
// the device iterates.

#include "cuda/dual/select.h"

#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/error.h"
#include "base/hash.h"
}

// ---- patterns -----------------------------------------------------------------------------------

typedef struct pattern {
    uint64_t hash;
    int32_t component;
} pattern;

static int compare(const void* left, const void* right) {
    const pattern *a = (const pattern*)left, *b = (const pattern*)right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->component > b->component) - (a->component < b->component);
}

static bool is_alike(const mabd_plan* plan, int32_t a, int32_t b) {
    const mabd_plan_component *ca = &plan->components[a], *cb = &plan->components[b];
    return ca->slot_count == cb->slot_count &&
           memcmp(plan->slot_width + ca->slot_first, plan->slot_width + cb->slot_first,
                  (size_t)ca->slot_count * sizeof(int32_t)) == 0;
}

mabd_status MABD_CUDA(group_chains)(const mabd_plan* plan, int32_t count, int32_t* components,
                                    const mabd_allocator* allocator, int32_t* group_first,
                                    int32_t* group_count, mabd_error* error) {
    const size_t bytes = mabd_bytes((size_t)count, sizeof(pattern));
    pattern* patterns = bytes == SIZE_MAX ? NULL : (pattern*)mabd_alloc(allocator, bytes);
    int32_t groups = 0;
    if (!patterns) return mabd_fail_memory(error, "sorting chains");
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        patterns[i].component = components[i];
        patterns[i].hash = mabd_hash(MABD_HASH_START, plan->slot_width + c->slot_first,
                                     (size_t)c->slot_count * sizeof(int32_t));
    }
    qsort(patterns, (size_t)count, sizeof *patterns, compare);
    for (int32_t i = 0; i < count; i++) {
        components[i] = patterns[i].component;
        if (i == 0 || !is_alike(plan, components[i - 1], components[i])) group_first[groups++] = i;
    }
    group_first[groups] = count;
    *group_count = groups;
    mabd_free(allocator, patterns, bytes);
    return MABD_OK;
}

// ---- places -------------------------------------------------------------------------------------

// Conjugate gradients need a definite matrix (the rule of affine/dual_select.c on the CPU).
static bool may_iterate(const mabd_plan_component* c) {
    return c->kind != MABD_COMPONENT_CHAIN && c->junction_count == 0;
}

static mabd_cuda_place place_of(const mabd_plan_component* c, mabd_dual dual, bool in_place) {
    const mabd_cuda_place iterative = dual == MABD_DUAL_GS ? MABD_CUDA_GS : MABD_CUDA_PCG;
    const bool requested = dual == MABD_DUAL_GS || dual == MABD_DUAL_PCG;
    if (c->slot_count == 0) return MABD_CUDA_NONE;
    if (requested && may_iterate(c)) return iterative;
    if (c->kind == MABD_COMPONENT_CHAIN || c->kind == MABD_COMPONENT_TREE) {
        return in_place ? MABD_CUDA_LEVELS : MABD_CUDA_HOST;
    }
    const int32_t most =
        c->kind == MABD_COMPONENT_LOOPS ? MABD_CUDA_LOOP_CUTS : MABD_CUDA_GRAPH_CUTS;
    if (c->cut_rows <= most) return MABD_CUDA_LOOPS;
    return may_iterate(c) && dual != MABD_DUAL_DIRECT ? iterative : MABD_CUDA_HOST;
}

// Move chains from levels to segments where they are long, and to a batch where many are alike.
static mabd_status place_chains(const mabd_plan* plan, const mabd_allocator* allocator,
                                int32_t* components, int32_t* group_first, mabd_cuda_place* places,
                                mabd_error* error) {
    int32_t count = 0, groups = 0;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (places[i] != MABD_CUDA_LEVELS || c->kind != MABD_COMPONENT_CHAIN) continue;
        if (c->slot_count > MABD_CUDA_LONG) places[i] = MABD_CUDA_SEGMENTS;
        components[count++] = i;
    }
    MABD_TRY(
        MABD_CUDA(group_chains)(plan, count, components, allocator, group_first, &groups, error));
    for (int32_t g = 0; g < groups; g++) {
        if (group_first[g + 1] - group_first[g] < MABD_CUDA_ALIKE) continue;
        for (int32_t i = group_first[g]; i < group_first[g + 1]; i++) {
            places[components[i]] = MABD_CUDA_BATCH;
        }
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(select_places)(const mabd_plan* plan, mabd_dual dual, const bool* in_place,
                                     const mabd_allocator* allocator, mabd_cuda_place* places,
                                     mabd_error* error) {
    const size_t count = (size_t)plan->component_count;
    const size_t bytes = mabd_bytes(2 * count + 1, sizeof(int32_t));
    int32_t* room = bytes == SIZE_MAX ? NULL : (int32_t*)mabd_alloc(allocator, bytes);
    if (!room) return mabd_fail_memory(error, "selecting dual solvers");
    for (size_t i = 0; i < count; i++) {
        places[i] = place_of(&plan->components[i], dual, in_place[i]);
    }
    const mabd_status status = place_chains(plan, allocator, room, room + count, places, error);
    mabd_free(allocator, room, bytes);
    return status;
}
