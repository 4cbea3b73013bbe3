// SPDX-License-Identifier: Apache-2.0
#include "dual/slot_pattern.h"

void mabd_dual_cholmod_start(cholmod_common* common) {
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->supernodal = CHOLMOD_SIMPLICIAL;
}

// Edges are sorted by (from, to), so the columns are filled in order.
cholmod_sparse* mabd_dual_slot_pattern(const mabd_dual_system* system, cholmod_common* common) {
    const int32_t offset = system->slot_offset;
    const size_t n = (size_t)system->slot_count, entries = n + (size_t)system->edge_count;
    cholmod_sparse* A = cholmod_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_PATTERN, common);
    if (!A) return NULL;
    int *p = A->p, *i = A->i, at = 0, edge = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        p[s] = at;
        i[at++] = s;
        for (; edge < system->edge_count && system->from[edge] - offset == s; edge++) {
            i[at++] = system->to[edge] - offset;
        }
    }
    p[n] = at;
    return A;
}
