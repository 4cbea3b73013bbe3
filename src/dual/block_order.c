// SPDX-License-Identifier: Apache-2.0
//
// Candidates for the elimination order of the slots; the one with the fewest operations is used. So
// the cost decides, not the number of cycles, whether loops are solved by a Schur complement of the
// cut joints or as a graph.
//
//   tree, cut    order of the plan: leaf to root, joints that close cycles last
//                (topology/spanning.c)
//   degree       approximate minimum degree on the graph of slots: AMD through CHOLMOD (LGPL)
//   dissection   nested dissection (order_dissect.c), with minimum degree inside its sets: CAMD
//                through CHOLMOD
//
// Costs are counted exactly, by slots. Minimum degree comes first, as it is quick and seldom far
// from the best; counting the plan's order stops once it exceeds that. Dissection is tried only if
// more than 300 operations per row remain: below that, fronts have fewer than 20 rows and
// separators gain nothing. (Ladders of any length are below, nets from 10 x 10 on above.)

#include "dual/block_order.h"

#include "dual/order_dissect.h"
#include "dual/slot_pattern.h"

#include <float.h>
#include <string.h>

#define DISSECT_FLOPS 300.0 // per row

/// The best order so far and the one being tried.
typedef struct contest {
    const mabd_allocator* allocator;
    const mabd_dual_system* system;
    int32_t *best, *tried;
    mabd_dual_order_report* report;
    double least; // operations
} contest;

static void take_natural(const mabd_dual_system* system, int32_t* order) {
    for (int32_t s = 0; s < system->slot_count; s++) {
        order[s] = system->elimination ? system->elimination[s] : s;
    }
}

// Return the name of the plan's order: without fill it is that of a tree.
static mabd_order natural_name(const mabd_dual_system* system, const mabd_dual_block_count* count) {
    double entries = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        entries += system->width[s] * (system->width[s] + 1) / 2.0;
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        entries += system->width[system->from[e] - system->slot_offset] *
                   (double)system->width[system->to[e] - system->slot_offset];
    }
    return count->entries == entries ? MABD_ORDER_TREE : MABD_ORDER_CUT;
}

mabd_status mabd_dual_block_order_natural(const mabd_allocator* allocator,
                                          const mabd_dual_system* system, int32_t* order,
                                          mabd_dual_order_report* report) {
    mabd_dual_block_count count;
    memset(report, 0, sizeof *report);
    take_natural(system, order);
    MABD_TRY(mabd_dual_block_cost(allocator, system, order, DBL_MAX, &count));
    report->which = natural_name(system, &count);
    report->counts[report->which] = count;
    return MABD_OK;
}

// Order by minimum degree, within the sets if there are any.
static mabd_status order_by_degree(const mabd_dual_system* system, int32_t* set, int32_t* order) {
    cholmod_common common;
    mabd_dual_cholmod_start(&common);
    cholmod_sparse* A = mabd_dual_slot_pattern(system, &common);
    const bool done = A && (set ? cholmod_camd(A, NULL, 0, set, order, &common)
                                : cholmod_amd(A, NULL, 0, order, &common));
    const bool good = done && common.status == CHOLMOD_OK;
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
    return good ? MABD_OK : MABD_ERR_MEMORY;
}

static mabd_status dissect(const mabd_allocator* allocator, const mabd_dual_system* system,
                           int32_t* order) {
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* set = mabd_alloc(allocator, bytes);
    if (!set) return MABD_ERR_MEMORY;
    mabd_status status = mabd_dual_dissect(allocator, system, set);
    if (status == MABD_OK) status = order_by_degree(system, set, order);
    mabd_free(allocator, set, bytes);
    return status;
}

mabd_status mabd_dual_block_order_by(const mabd_allocator* allocator,
                                     const mabd_dual_system* system, mabd_order which,
                                     int32_t* order) {
    switch (which) {
    case MABD_ORDER_DEGREE:
        return order_by_degree(system, NULL, order);
    case MABD_ORDER_DISSECTION:
        return dissect(allocator, system, order);
    default:
        take_natural(system, order);
        return MABD_OK;
    }
}

// Try an order and keep it if it costs the least so far. Counting stops at `limit`.
static mabd_status enter(contest* c, mabd_order which, double limit) {
    mabd_dual_block_count count;
    MABD_TRY(mabd_dual_block_order_by(c->allocator, c->system, which, c->tried));
    MABD_TRY(mabd_dual_block_cost(c->allocator, c->system, c->tried, limit, &count));
    if (which == MABD_ORDER_CUT) which = natural_name(c->system, &count);
    c->report->counts[which] = count;
    if (count.entries == 0 || count.flops >= limit) return MABD_OK;
    c->report->which = which;
    c->least = count.flops;
    int32_t* loser = c->best;
    c->best = c->tried;
    c->tried = loser;
    return MABD_OK;
}

static mabd_status hold(contest* c) {
    MABD_TRY(enter(c, MABD_ORDER_DEGREE, DBL_MAX));
    // the plan's order wins a tie: sums of the same terms in another order
    MABD_TRY(enter(c, MABD_ORDER_CUT, c->least * (1 + 1e-12)));
    if (c->least <= DISSECT_FLOPS * c->system->row_count) return MABD_OK;
    return enter(c, MABD_ORDER_DISSECTION, c->least);
}

mabd_status mabd_dual_block_order(const mabd_allocator* allocator, const mabd_dual_system* system,
                                  int32_t* order, mabd_dual_order_report* report) {
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* other = bytes == SIZE_MAX ? NULL : mabd_alloc(allocator, bytes);
    if (!other) return MABD_ERR_MEMORY;
    memset(report, 0, sizeof *report);
    contest c = {allocator, system, order, other, report, DBL_MAX};
    const mabd_status status = hold(&c);
    if (c.best != order) memcpy(order, c.best, (size_t)system->slot_count * sizeof(int32_t));
    mabd_free(allocator, other, bytes);
    return status;
}
