// SPDX-License-Identifier: Apache-2.0
// Symmetric block Gauss-Seidel over lines.
//
//   K = N + T + N'     T: the lines (block tridiagonal each)
//                      N: blocks K_pq with q in an earlier line
//   M = (T + N) T^-1 (T + N')                  symmetric, positive definite as T is
//
//   forth   T y_l = r_l - N y                  line by line, ascending
//   back    z_l = y_l - T^-1 N' z              descending; z_l = y_l without later neighbours
//
// Then T y = r - N y and N' z = T (y - z), so that K z = r + N (z - y): half of the blocks off the
// lines.
//
// A Gauss-Seidel sweep forward and backward over the lines maps x to x + M^-1 (b - K x). Lines are
// solved by the recurrence of chain_kernel.h; the products with N are computed during the sweep.

#include "dual/graph_sweep.h"

#include "dual/graph_lines.h"
#include "math/block.h"

#include <string.h>

void mabd_dual_graph_sweep_layout(mabd_dual_graph_sweep* sweep, const mabd_dual_system* system,
                                  mabd_arena* arena) {
    const size_t n = (size_t)system->slot_count;
    size_t diagonal = 0, widest = 1;
    for (int32_t s = 0; s < system->slot_count; s++) {
        const size_t w = (size_t)system->width[s];
        diagonal += w * w;
        if (w > widest) widest = w;
    }
    mabd_dual_graph_matrix_layout(&sweep->matrix, system, arena);
    sweep->joined = mabd_arena_take(arena, n, sizeof(uint8_t));
    sweep->bound = mabd_arena_take(arena, n, sizeof(uint8_t));
    sweep->link = mabd_arena_take(arena, n, sizeof(size_t));
    sweep->F = mabd_arena_take(arena, diagonal, sizeof(mabd_real));
    // w(p-1) w(p) <= (w(p-1)^2 + w(p)^2) / 2: no more than the diagonal blocks
    sweep->Z = mabd_arena_take(arena, diagonal, sizeof(mabd_real));
    sweep->work = mabd_arena_take(arena, (size_t)system->row_count, sizeof(mabd_real));
}

// Return the end of the line that starts at place a.
static int32_t line_end(const mabd_dual_graph_sweep* sweep, int32_t a) {
    do a++;
    while (a < sweep->matrix.count && sweep->joined[a]);
    return a;
}

static int32_t line_start(const mabd_dual_graph_sweep* sweep, int32_t p) {
    while (sweep->joined[p]) p--;
    return p;
}

// Return the end of the blocks of row p with earlier lines: all but the last one where p is joined
// to p - 1.
static int32_t cross_end(const mabd_dual_graph_sweep* sweep, int32_t p) {
    return sweep->matrix.start[p + 1] - sweep->joined[p];
}

static void mark_bound_lines(mabd_dual_graph_sweep* sweep) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    for (int32_t p = 0; p < m->count; p++) {
        for (int32_t k = m->start[p]; k < cross_end(sweep, p); k++) {
            sweep->bound[m->low[k]] = 1;
        }
    }
    for (int32_t p = m->count - 1; p > 0; p--) { // gathered at the start of the line
        if (sweep->joined[p]) sweep->bound[p - 1] |= sweep->bound[p];
    }
}

mabd_status mabd_dual_graph_sweep_prepare(mabd_dual_graph_sweep* sweep,
                                          const mabd_allocator* allocator,
                                          const mabd_dual_system* system) {
    mabd_dual_graph_matrix* m = &sweep->matrix;
    mabd_dual_neighbours list;
    MABD_TRY(mabd_dual_neighbours_make(allocator, system, &list));
    const mabd_status status =
        mabd_dual_graph_lines(allocator, system, &list, m->slot, sweep->joined);
    if (status == MABD_OK) {
        mabd_dual_graph_matrix_prepare(m, system, &list);
        mark_bound_lines(sweep);
    }
    mabd_dual_neighbours_free(allocator, &list);
    size_t at = 0;
    for (int32_t p = 0; status == MABD_OK && p < m->count; p++) {
        sweep->link[p] = at;
        if (sweep->joined[p]) at += (size_t)(m->width[p - 1] * m->width[p]);
    }
    return status;
}

// ---- factor ------------------------------------------------------------------------------------

// S_p = D_p - W' Z = L d L', Z from K_{p,p-1}
MABD_BLOCK_FN bool factor_place(int u, int w, const mabd_real* before, const mabd_real* A,
                                mabd_real* Z, mabd_real* S) {
    if (u > 0) {
        MABD_UNROLL
        for (int i = 0; i < u; i++) {
            MABD_UNROLL
            for (int j = 0; j < w; j++) Z[i * w + j] = A[j * u + i];
        }
        mabd_block_eliminate(u, w, before, Z, S);
    }
    return mabd_block_ldl(w, S);
}

static bool factor_any(int u, int w, const mabd_real* before, const mabd_real* A, mabd_real* Z,
                       mabd_real* S) {
    return factor_place(u, w, before, A, Z, S);
}

mabd_status mabd_dual_graph_sweep_factor(mabd_dual_graph_sweep* sweep,
                                         const mabd_dual_system* system, int32_t* bad) {
    mabd_dual_graph_matrix* m = &sweep->matrix;
    mabd_dual_graph_matrix_load(m, system);
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t w = m->width[p], u = sweep->joined[p] ? m->width[p - 1] : 0;
        mabd_real *S = sweep->F + m->block[p], *Z = sweep->Z + sweep->link[p];
        const mabd_real* A = m->A + m->at[p + 1] - (size_t)(u * w); // the last of the row
        const mabd_real* before = u > 0 ? sweep->F + m->block[p - 1] : NULL;
        memcpy(S, m->D + m->block[p], (size_t)(w * w) * sizeof(mabd_real));
        const bool good = u == 3 && w == 3 ? factor_place(3, 3, before, A, Z, S)
                                           : factor_any(u, w, before, A, Z, S);
        if (good) continue;
        if (bad) *bad = m->slot[p];
        return MABD_ERR_SINGULAR;
    }
    return MABD_OK;
}

// ---- sweeps ------------------------------------------------------------------------------------

// t += K_pq x
MABD_BLOCK_FN void add_row(int w, int v, const mabd_real* B, const mabd_real* x, mabd_real* t) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j < v; j++) t[i] += B[i * v + j] * x[j];
    }
}
static void add_row_any(int w, int v, const mabd_real* B, const mabd_real* x, mabd_real* t) {
    add_row(w, v, B, x, t);
}
// t -= K_pq x
MABD_BLOCK_FN void sub_row(int w, int v, const mabd_real* B, const mabd_real* x, mabd_real* t) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j < v; j++) t[i] -= B[i * v + j] * x[j];
    }
}
static void sub_row_any(int w, int v, const mabd_real* B, const mabd_real* x, mabd_real* t) {
    sub_row(w, v, B, x, t);
}
// t -= Z' y, t = L \ t
MABD_BLOCK_FN void forward(int u, int w, const mabd_real* Z, const mabd_real* y, const mabd_real* L,
                           mabd_real* t) {
    mabd_block_sub_tmul(u, w, Z, y, t);
    mabd_block_solve_l(w, L, t);
}
static void forward_any(int u, int w, const mabd_real* Z, const mabd_real* y, const mabd_real* L,
                        mabd_real* t) {
    forward(u, w, Z, y, L, t);
}
// t = L' \ (d \ t - Z x)
MABD_BLOCK_FN void backward(int w, int v, const mabd_real* Z, const mabd_real* x,
                            const mabd_real* L, mabd_real* t) {
    mabd_block_solve_d(w, L, t);
    mabd_block_sub_mul(w, v, Z, x, t);
    mabd_block_solve_lt(w, L, t);
}
static void backward_any(int w, int v, const mabd_real* Z, const mabd_real* x, const mabd_real* L,
                         mabd_real* t) {
    backward(w, v, Z, x, L, t);
}
static void scatter_any(int w, int v, const mabd_real* B, const mabd_real* z, mabd_real* y) {
    mabd_block_sub_tmul(w, v, B, z, y);
}

// Do the forward pass of a line's solve at place p: x is right-hand side in, L^-1 (x - Z' y) out.
static void forward_place(const mabd_dual_graph_sweep* sweep, int32_t p, mabd_real* x) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    const int32_t w = m->width[p], u = sweep->joined[p] ? m->width[p - 1] : 0;
    const mabd_real *Z = sweep->Z + sweep->link[p], *L = sweep->F + m->block[p];
    mabd_real* t = x + m->row[p];
    if (u == 3 && w == 3) {
        forward(3, 3, Z, t - 3, L, t);
    } else {
        forward_any(u, w, Z, t - u, L, t);
    }
}

// Do the backward pass of a line's solve over the places a ... b - 1.
static void backward_line(const mabd_dual_graph_sweep* sweep, int32_t a, int32_t b, mabd_real* x) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    for (int32_t p = b - 1; p >= a; p--) {
        const int32_t w = m->width[p], v = p + 1 < b ? m->width[p + 1] : 0;
        const mabd_real* Z = v > 0 ? sweep->Z + sweep->link[p + 1] : NULL;
        const mabd_real* L = sweep->F + m->block[p];
        mabd_real* t = x + m->row[p];
        if (w == 3 && v == 3) {
            backward(3, 3, Z, t + 3, L, t);
        } else {
            backward_any(w, v, Z, t + w, L, t);
        }
    }
}

// T y = r - N y
static void sweep_forth(const mabd_dual_graph_sweep* sweep, const mabd_real* r, mabd_real* y) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    for (int32_t a = 0, b; a < m->count; a = b) {
        b = line_end(sweep, a);
        for (int32_t p = a; p < b; p++) {
            const int32_t w = m->width[p], end = cross_end(sweep, p);
            const mabd_real* A = m->A + m->at[p];
            mabd_real* t = y + m->row[p];
            for (int32_t i = 0; i < w; i++) t[i] = r[m->row[p] + i];
            for (int32_t k = m->start[p]; k < end; k++) {
                const int32_t q = m->low[k], v = m->width[q];
                if (w == 3 && v == 3) {
                    sub_row(3, 3, A, y + m->row[q], t);
                } else {
                    sub_row_any(w, v, A, y + m->row[q], t);
                }
                A += w * v;
            }
            forward_place(sweep, p, y);
        }
        backward_line(sweep, a, b, y);
    }
}

// Subtract N' z of one line from the right-hand sides of earlier lines.
static void pass_down(const mabd_dual_graph_sweep* sweep, int32_t a, int32_t b, const mabd_real* z,
                      mabd_real* work) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    for (int32_t p = a; p < b; p++) {
        const int32_t w = m->width[p], end = cross_end(sweep, p);
        const mabd_real *A = m->A + m->at[p], *zp = z + m->row[p];
        for (int32_t k = m->start[p]; k < end; k++) {
            const int32_t q = m->low[k], v = m->width[q];
            if (w == 3 && v == 3) {
                mabd_block_sub_tmul(3, 3, A, zp, work + m->row[q]);
            } else {
                scatter_any(w, v, A, zp, work + m->row[q]);
            }
            A += w * v;
        }
    }
}

// z = y - T^-1 N' z
static void sweep_back(const mabd_dual_graph_sweep* sweep, mabd_real* z) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    mabd_real* work = sweep->work;
    memset(work, 0, (size_t)m->row_count * sizeof(mabd_real));
    for (int32_t b = m->count, a; b > 0; b = a) {
        a = line_start(sweep, b - 1);
        if (sweep->bound[a]) {
            for (int32_t p = a; p < b; p++) forward_place(sweep, p, work);
            backward_line(sweep, a, b, work);
            for (int32_t k = m->row[a]; k < m->row[b]; k++) z[k] += work[k];
        }
        pass_down(sweep, a, b, z, work);
    }
}

void mabd_dual_graph_sweep_apply(mabd_dual_graph_sweep* sweep, const mabd_real* r, mabd_real* z) {
    sweep_forth(sweep, r, z);
    sweep_back(sweep, z);
}

void mabd_dual_graph_sweep_product(const mabd_dual_graph_sweep* sweep, const mabd_real* r,
                                   mabd_real* s) {
    const mabd_dual_graph_matrix* m = &sweep->matrix;
    const mabd_real* change = sweep->work; // z - y
    for (int32_t p = 0; p < m->count; p++) {
        const int32_t w = m->width[p], end = cross_end(sweep, p);
        const mabd_real* A = m->A + m->at[p];
        mabd_real* t = s + m->row[p];
        for (int32_t i = 0; i < w; i++) t[i] = r[m->row[p] + i];
        for (int32_t k = m->start[p]; k < end; k++) {
            const int32_t q = m->low[k], v = m->width[q];
            if (w == 3 && v == 3) {
                add_row(3, 3, A, change + m->row[q], t);
            } else {
                add_row_any(w, v, A, change + m->row[q], t);
            }
            A += w * v;
        }
    }
}
