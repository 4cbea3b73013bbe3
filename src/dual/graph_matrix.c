// SPDX-License-Identifier: Apache-2.0
// Block rows in an order of their own; see graph_matrix.h. Every sum runs in one fixed order.

#include "dual/graph_matrix.h"

#include "math/block.h"

#include <math.h>
#include <string.h>

// ---- neighbours --------------------------------------------------------------------------------

static int32_t edge_from(const mabd_dual_system* system, int32_t edge) {
    return system->from[edge] - system->slot_offset;
}
static int32_t edge_to(const mabd_dual_system* system, int32_t edge) {
    return system->to[edge] - system->slot_offset;
}

static void add_neighbour(mabd_dual_neighbours* list, int32_t slot, int32_t other, int32_t edge) {
    const int32_t at = list->start[slot]++;
    list->slot[at] = other;
    list->edge[at] = edge;
}

// Edges are sorted by (from, to), so the neighbours of a slot come out ascending.
static void fill_neighbours(const mabd_dual_system* system, mabd_dual_neighbours* list) {
    const int32_t n = system->slot_count;
    for (int32_t e = 0; e < system->edge_count; e++) {
        list->start[edge_from(system, e) + 1]++;
        list->start[edge_to(system, e) + 1]++;
    }
    for (int32_t s = 0; s < n; s++) list->start[s + 1] += list->start[s];
    for (int32_t e = 0; e < system->edge_count; e++) {
        const int32_t s = edge_from(system, e), t = edge_to(system, e);
        add_neighbour(list, s, t, e);
        add_neighbour(list, t, s, e);
    }
    for (int32_t s = n; s > 0; s--) list->start[s] = list->start[s - 1];
    list->start[0] = 0;
}

mabd_status mabd_dual_neighbours_make(const mabd_allocator* allocator,
                                      const mabd_dual_system* system, mabd_dual_neighbours* list) {
    const size_t slots = (size_t)system->slot_count, edges = (size_t)system->edge_count;
    memset(list, 0, sizeof *list);
    if (edges > INT32_MAX / 2) return MABD_ERR_MEMORY;
    list->bytes = mabd_bytes(slots + 1 + 4 * edges, sizeof(int32_t));
    list->start = mabd_alloc(allocator, list->bytes);
    if (!list->start) return MABD_ERR_MEMORY;
    list->slot = list->start + slots + 1;
    list->edge = list->slot + 2 * edges;
    fill_neighbours(system, list);
    return MABD_OK;
}

void mabd_dual_neighbours_free(const mabd_allocator* allocator, mabd_dual_neighbours* list) {
    mabd_free(allocator, list->start, list->bytes);
    list->start = NULL;
}

// ---- layout ------------------------------------------------------------------------------------

void mabd_dual_graph_matrix_layout(mabd_dual_graph_matrix* matrix, const mabd_dual_system* system,
                                   mabd_arena* arena) {
    const size_t n = (size_t)system->slot_count, edges = (size_t)system->edge_count;
    size_t diagonal = 0, lower = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        diagonal += (size_t)(system->width[s] * system->width[s]);
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        lower += (size_t)(system->width[edge_from(system, e)] * system->width[edge_to(system, e)]);
    }
    matrix->count = system->slot_count;
    matrix->row_count = system->row_count;
    matrix->slot = mabd_arena_take(arena, n, sizeof(int32_t));
    matrix->place = mabd_arena_take(arena, n, sizeof(int32_t));
    matrix->width = mabd_arena_take(arena, n, sizeof(int32_t));
    matrix->row = mabd_arena_take(arena, n + 1, sizeof(int32_t));
    matrix->block = mabd_arena_take(arena, n + 1, sizeof(size_t));
    matrix->start = mabd_arena_take(arena, n + 1, sizeof(int32_t));
    matrix->low = mabd_arena_take(arena, edges, sizeof(int32_t));
    matrix->edge = mabd_arena_take(arena, edges, sizeof(int32_t));
    matrix->at = mabd_arena_take(arena, n + 1, sizeof(size_t));
    matrix->D = mabd_arena_take(arena, diagonal, sizeof(mabd_real));
    matrix->A = mabd_arena_take(arena, lower, sizeof(mabd_real));
}

static void place_slots(mabd_dual_graph_matrix* m, const mabd_dual_system* system) {
    m->row[0] = 0, m->block[0] = 0;
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t slot = m->slot[p], w = system->width[slot];
        m->place[slot] = p;
        m->width[p] = w;
        m->row[p + 1] = m->row[p] + w;
        m->block[p + 1] = m->block[p] + (size_t)(w * w);
    }
}

// Slots enter the rows of their later neighbours in order, so every row comes out ascending.
void mabd_dual_graph_matrix_prepare(mabd_dual_graph_matrix* m, const mabd_dual_system* system,
                                    const mabd_dual_neighbours* list) {
    place_slots(m, system);
    m->start[0] = 0, m->at[0] = 0;
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t slot = m->slot[p];
        int32_t count = 0;
        size_t reals = 0;
        for (int32_t k = list->start[slot]; k < list->start[slot + 1]; k++) {
            const int32_t q = m->place[list->slot[k]];
            if (q > p) continue;
            count++;
            reals += (size_t)(m->width[p] * m->width[q]);
        }
        m->start[p + 1] = m->start[p] + count;
        m->at[p + 1] = m->at[p] + reals;
    }
    for (int32_t q = 0; q < m->count; q++) {
        const int32_t slot = m->slot[q];
        for (int32_t k = list->start[slot]; k < list->start[slot + 1]; k++) {
            const int32_t p = m->place[list->slot[k]];
            if (p < q) continue;
            const int32_t at = m->start[p]++;
            m->low[at] = q;
            m->edge[at] = m->slot[p] < slot ? list->edge[k] : -1 - list->edge[k];
        }
    }
    for (int32_t p = m->count; p > 0; p--) m->start[p] = m->start[p - 1];
    m->start[0] = 0;
}

void mabd_dual_graph_matrix_load(mabd_dual_graph_matrix* m, const mabd_dual_system* system) {
    mabd_real* A = m->A;
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t w = m->width[p];
        memcpy(m->D + m->block[p], system->D + system->block[m->slot[p]],
               (size_t)(w * w) * sizeof(mabd_real));
        for (int32_t k = m->start[p]; k < m->start[p + 1]; k++) {
            const int32_t v = m->width[m->low[k]], e = m->edge[k];
            const mabd_real* U = system->U + system->edge_block[e >= 0 ? e : -1 - e];
            if (e >= 0) {
                memcpy(A, U, (size_t)(w * v) * sizeof(mabd_real));
            } else {
                for (int32_t i = 0; i < w; i++) {
                    for (int32_t j = 0; j < v; j++) A[i * v + j] = U[j * w + i];
                }
            }
            A += w * v;
        }
    }
}

// ---- products ----------------------------------------------------------------------------------

// y += B x (y: w), z += B' t (z: v)
MABD_BLOCK_FN void both_products(int w, int v, const mabd_real* B, const mabd_real* x,
                                 const mabd_real* t, mabd_real* y, mabd_real* z) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j < v; j++) {
            y[i] += B[i * v + j] * x[j];
            z[j] += B[i * v + j] * t[i];
        }
    }
}

static void any_products(int w, int v, const mabd_real* B, const mabd_real* x, const mabd_real* t,
                         mabd_real* y, mabd_real* z) {
    both_products(w, v, B, x, t, y, z);
}

// y = B x
MABD_BLOCK_FN void set_product(int w, const mabd_real* B, const mabd_real* x, mabd_real* y) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        y[i] = 0;
        MABD_UNROLL
        for (int j = 0; j < w; j++) y[i] += B[i * w + j] * x[j];
    }
}

static void any_product(int w, const mabd_real* B, const mabd_real* x, mabd_real* y) {
    set_product(w, B, x, y);
}

void mabd_dual_graph_matrix_product(const mabd_dual_graph_matrix* m, const mabd_real* x,
                                    mabd_real* y) {
    const mabd_real* A = m->A;
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t w = m->width[p];
        const mabd_real* t = x + m->row[p];
        mabd_real own[MABD_BLOCK_MAX];
        if (w == 3) {
            set_product(3, m->D + m->block[p], t, own);
        } else {
            any_product(w, m->D + m->block[p], t, own);
        }
        for (int32_t k = m->start[p]; k < m->start[p + 1]; k++) {
            const int32_t q = m->low[k], v = m->width[q];
            if (w == 3 && v == 3) {
                both_products(3, 3, A, x + m->row[q], t, own, y + m->row[q]);
            } else {
                any_products(w, v, A, x + m->row[q], t, own, y + m->row[q]);
            }
            A += w * v;
        }
        memcpy(y + m->row[p], own, (size_t)w * sizeof(mabd_real));
    }
}

mabd_real mabd_dual_graph_matrix_largest(const mabd_dual_graph_matrix* m, const mabd_real* r) {
    mabd_real largest = 0;
    for (int32_t p = 0; p < m->count; p++) {
        mabd_real square = 0;
        for (int32_t k = m->row[p]; k < m->row[p + 1]; k++) square += r[k] * r[k];
        if (!(square <= largest) && largest == largest) largest = square; // a NaN stays
    }
    return (mabd_real)sqrt((double)largest);
}

mabd_real mabd_dual_graph_matrix_residual(const mabd_dual_graph_matrix* m, const mabd_real* b,
                                          const mabd_real* x, mabd_real* r) {
    mabd_dual_graph_matrix_product(m, x, r);
    for (int32_t k = 0; k < m->row_count; k++) r[k] = b[k] - r[k];
    return mabd_dual_graph_matrix_largest(m, r);
}

void mabd_dual_graph_matrix_gather(const mabd_dual_graph_matrix* m, const mabd_dual_system* system,
                                   const mabd_real* from, mabd_real* to) {
    for (int32_t p = 0; p < m->count; p++) {
        memcpy(to + m->row[p], from + (system->row[m->slot[p]] - system->row_offset),
               (size_t)m->width[p] * sizeof(mabd_real));
    }
}

void mabd_dual_graph_matrix_scatter(const mabd_dual_graph_matrix* m, const mabd_dual_system* system,
                                    const mabd_real* from, mabd_real* to) {
    for (int32_t p = 0; p < m->count; p++) {
        memcpy(to + (system->row[m->slot[p]] - system->row_offset), from + m->row[p],
               (size_t)m->width[p] * sizeof(mabd_real));
    }
}
