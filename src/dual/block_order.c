// SPDX-License-Identifier: Apache-2.0
//
// Candidates for the elimination order of the slots; the one with the fewest operations wins.
//
//   natural   as the plan numbers them: leaf to root, joints that close cycles last
//   AMD       approximate minimum degree on the graph of slots, by CHOLMOD's interface (LGPL) to AMD

#include "dual/block_order.h"

#include "dual/block_symbolic.h"

#include <cholmod.h>
#include <float.h>

// The graph of slots as a symmetric pattern (lower triangle, one column per `from`): edges are
// sorted by (from, to), so the columns are filled in order.
static cholmod_sparse* slot_pattern(const mabd_dual_system* system, cholmod_common* common) {
    const size_t n = (size_t)system->slot_count, edges = (size_t)system->edge_count;
    cholmod_sparse* A = cholmod_allocate_sparse(n, n, edges, 1, 1, -1, CHOLMOD_PATTERN, common);
    if (!A) return NULL;
    int *p = A->p, *i = A->i, edge = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        p[s] = edge;
        for (; edge < system->edge_count && system->from[edge] - system->slot_offset == s; edge++) {
            i[edge] = system->to[edge] - system->slot_offset;
        }
    }
    p[n] = edge;
    return A;
}

static mabd_status order_by_degree(const mabd_dual_system* system, int32_t* order) {
    cholmod_common common;
    cholmod_start(&common);
    common.print = 0;
    common.error_handler = NULL;
    common.supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_sparse* A = slot_pattern(system, &common);
    const bool done = A && cholmod_amd(A, NULL, 0, order, &common) && common.status == CHOLMOD_OK;
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
    return done ? MABD_OK : MABD_ERR_MEMORY;
}

mabd_status mabd_block_order(const mabd_allocator* allocator, const mabd_dual_system* system,
                             int32_t* order) {
    double natural, degree;
    MABD_TRY(order_by_degree(system, order));
    MABD_TRY(mabd_block_cost(allocator, system, order, DBL_MAX, &degree));
    for (int32_t s = 0; s < system->slot_count; s++) order[s] = s;
    MABD_TRY(mabd_block_cost(allocator, system, order, degree, &natural));
    return natural < degree ? MABD_OK : order_by_degree(system, order);
}
