// SPDX-License-Identifier: Apache-2.0
//
// Elimination of one slot s of a tree in place; t1 < t2 < .. are its later neighbours (tree_aba.c).
//
//   eliminate  L_s d_s L_s' = S_s,  W_i = L_s^-1 U(s, t_i),  U(s, t_i) <- Z_i = d_s^-1 W_i,
//              S(t_i) -= W_i' Z_i,  U(t_i, t_j) -= W_i' Z_j
//   forward    y_s = L_s^-1 b_s,  b(t_i) -= Z_i' y_s
//   back       x_s = L_s^-T (d_s^-1 y_s - sum Z_i x(t_i))
//
// Block (t_i, t_j) needs no search: the edges of t_i are those to t_{i+1}, t_{i+2}, .. in this order.
//
// Blocks with six columns, of joints that bend and twist, go by rows in registers: four and two entries. Every entry is the same
// sum in the same order as in math/block.h, so neither changes a bit.

#include "dual/tree_numeric.h"

#include "math/block.h"

#include <string.h>

// ---- rows of six -------------------------------------------------------------------------------

typedef mabd_real four __attribute__((vector_size(4 * sizeof(mabd_real))));
typedef mabd_real two __attribute__((vector_size(2 * sizeof(mabd_real))));

typedef struct row {
    four a;
    two b;
} row;

MABD_HOT row load_row(const mabd_real* p) {
    row r;
    memcpy(&r.a, p, sizeof r.a);
    memcpy(&r.b, p + 4, sizeof r.b);
    return r;
}
MABD_HOT void store_row(row r, mabd_real* p) {
    memcpy(p, &r.a, sizeof r.a);
    memcpy(p + 4, &r.b, sizeof r.b);
}
// r - s q
MABD_HOT row sub_row(row r, mabd_real s, row q) {
    r.a -= s * q.a, r.b -= s * q.b;
    return r;
}
MABD_HOT row scale_row(mabd_real s, row q) {
    q.a = s * q.a, q.b = s * q.b;
    return q;
}

// mabd_block_lower of U (w x 6).
MABD_HOT void lower_six(int w, const mabd_real* MABD_RESTRICT L, mabd_real* MABD_RESTRICT U) {
    row W[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        W[i] = load_row(U + 6 * i);
        MABD_UNROLL
        for (int k = 0; k < i; k++) W[i] = sub_row(W[i], L[i * w + k], W[k]);
        store_row(W[i], U + 6 * i);
    }
}

// mabd_block_reduce of W (w x 6); of S whole rows of four, which its upper triangle may lose as well.
MABD_HOT void reduce_six(int w, const mabd_real* MABD_RESTRICT L, mabd_real* MABD_RESTRICT W,
                         mabd_real* MABD_RESTRICT S) {
    row Z[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int i = 0; i < w; i++) Z[i] = scale_row(L[i * w + i], load_row(W + 6 * i));
    MABD_UNROLL
    for (int r = 0; r < 4; r++) {
        four sum;
        memcpy(&sum, S + 6 * r, sizeof sum);
        MABD_UNROLL
        for (int i = 0; i < w; i++) sum -= W[6 * i + r] * Z[i].a;
        memcpy(S + 6 * r, &sum, sizeof sum);
    }
    MABD_UNROLL
    for (int r = 4; r < 6; r++) {
        row sum = load_row(S + 6 * r);
        MABD_UNROLL
        for (int i = 0; i < w; i++) sum = sub_row(sum, W[6 * i + r], Z[i]);
        store_row(sum, S + 6 * r);
    }
    MABD_UNROLL
    for (int i = 0; i < w; i++) store_row(Z[i], W + 6 * i);
}

// C (6 x 6) -= W' Z of W, Z (w x 6)
MABD_HOT void sub_product_six(int w, const mabd_real* MABD_RESTRICT W,
                              const mabd_real* MABD_RESTRICT Z, mabd_real* MABD_RESTRICT C) {
    row rows[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int k = 0; k < w; k++) rows[k] = load_row(Z + 6 * k);
    MABD_UNROLL
    for (int r = 0; r < 6; r++) {
        row sum = load_row(C + 6 * r);
        MABD_UNROLL
        for (int k = 0; k < w; k++) sum = sub_row(sum, W[6 * k + r], rows[k]);
        store_row(sum, C + 6 * r);
    }
}

// ---- factor ------------------------------------------------------------------------------------

// S (lower triangle) = L d L' of either sign.
MABD_BLOCK_FN bool factor_block(int w, bool negative, mabd_real* S) {
    const mabd_real sign = negative ? -1 : 1;
    mabd_real L[MABD_BLOCK_MAX * MABD_BLOCK_MAX] = {0};
    MABD_UNROLL
    for (int r = 0; r < w; r++) {
        MABD_UNROLL
        for (int c = 0; c <= r; c++) L[r * w + c] = sign * S[r * w + c];
    }
    const bool good = mabd_block_ldl(w, L);
    MABD_UNROLL
    for (int k = 0; k < w; k++) L[k * w + k] *= sign;
    mabd_block_copy_lower(w, L, S);
    return good;
}

// C (v x u) -= W' Z of W (w x v), Z (w x u)
MABD_BLOCK_FN void sub_product(int w, int v, int u, const mabd_real* MABD_RESTRICT W,
                               const mabd_real* MABD_RESTRICT Z, mabd_real* MABD_RESTRICT C) {
    MABD_UNROLL
    for (int r = 0; r < v; r++) {
        MABD_UNROLL
        for (int c = 0; c < u; c++) {
            mabd_real sum = C[r * u + c];
            MABD_UNROLL
            for (int k = 0; k < w; k++) sum -= W[k * v + r] * Z[k * u + c];
            C[r * u + c] = sum;
        }
    }
}

// Eliminate a slot of w rows whose neighbours have v rows each, v = 0: of any width. Last neighbour first: when
// (t_i, t_j) is due, Z_j is there and W_i not yet scaled.
MABD_BLOCK_FN bool eliminate(int w, int v, const mabd_dual_system* system, const int32_t* start,
                             int32_t s) {
    const int32_t first = start[s], count = start[s + 1] - first;
    const int32_t* to = system->to + first;
    mabd_real* L = system->D + system->block[s];
    if (!factor_block(w, system->negative && system->negative[s], L)) return false;
    for (int32_t i = count - 1; i >= 0; i--) {
        const int32_t t = to[i] - system->slot_offset;
        const int vi = v ? v : system->width[t];
        mabd_real* W = system->U + system->edge_block[first + i];
        mabd_real* S = system->D + system->block[t];
        if (v == 6) {
            lower_six(w, L, W);
        } else {
            mabd_block_lower(w, vi, L, W);
        }
        for (int32_t j = i + 1; j < count; j++) {
            const int vj = v ? v : system->width[to[j] - system->slot_offset];
            const mabd_real* Z = system->U + system->edge_block[first + j];
            mabd_real* C = system->U + system->edge_block[start[t] + (j - i - 1)];
            if (v == 6) {
                sub_product_six(w, W, Z, C);
            } else {
                sub_product(w, vi, vj, W, Z, C);
            }
        }
        if (v == 6) {
            reduce_six(w, L, W, S);
        } else {
            mabd_block_reduce(w, vi, L, W, S);
        }
    }
    return true;
}

// Rows of all neighbours of a slot if they have as many each, else 0.
static int common_width(const mabd_dual_system* system, const int32_t* start, int32_t s) {
    int width = 0;
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int w = system->width[system->to[e] - system->slot_offset];
        if (e > start[s] && w != width) return 0;
        width = w;
    }
    return width;
}

MABD_BLOCK_FN void forward(int w, int v, const mabd_dual_system* system, const int32_t* start,
                           int32_t s, mabd_real* x) {
    mabd_real* y = x + (system->row[s] - system->row_offset);
    mabd_block_solve_l(w, system->D + system->block[s], y);
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int32_t t = system->to[e] - system->slot_offset;
        mabd_block_sub_tmul(w, v ? v : system->width[t], system->U + system->edge_block[e], y,
                            x + (system->row[t] - system->row_offset));
    }
}

// One slot, with the right-hand side unless that is null.
MABD_BLOCK_FN bool eliminate_with(int w, int v, const mabd_dual_system* system,
                                  const int32_t* start, int32_t s, mabd_real* x) {
    if (!eliminate(w, v, system, start, s)) return false;
    if (x) forward(w, v, system, start, s, x);
    return true;
}

bool MABD_TREE(eliminate)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                          mabd_real* x) {
    const int w = system->width[s], v = common_width(system, start, s);
    if (w == 3 && v == 3) return eliminate_with(3, 3, system, start, s, x);
    if (w == 5 && v == 5) return eliminate_with(5, 5, system, start, s, x);
    if (w == 6 && v == 6) return eliminate_with(6, 6, system, start, s, x);
    if (w == 3 && v == 6) return eliminate_with(3, 6, system, start, s, x); // on a hub
    if (w == 5 && v == 6) return eliminate_with(5, 6, system, start, s, x);
    return eliminate_with(w, 0, system, start, s, x);
}

// ---- solve -------------------------------------------------------------------------------------

void MABD_TREE(forward)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                        mabd_real* x) {
    const int w = system->width[s], v = common_width(system, start, s);
    if (w == 3 && v == 3) {
        forward(3, 3, system, start, s, x);
    } else if (w == 6 && v == 6) {
        forward(6, 6, system, start, s, x);
    } else {
        forward(w, v, system, start, s, x);
    }
}

MABD_BLOCK_FN void back(int w, int v, const mabd_dual_system* system, const int32_t* start,
                        int32_t s, mabd_real* x) {
    const mabd_real* L = system->D + system->block[s];
    mabd_real* y = x + (system->row[s] - system->row_offset);
    mabd_block_solve_d(w, L, y);
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int32_t t = system->to[e] - system->slot_offset;
        mabd_block_sub_mul(w, v ? v : system->width[t], system->U + system->edge_block[e],
                           x + (system->row[t] - system->row_offset), y);
    }
    mabd_block_solve_lt(w, L, y);
}

void MABD_TREE(back)(const mabd_dual_system* system, const int32_t* start, int32_t s,
                     mabd_real* x) {
    const int w = system->width[s], v = common_width(system, start, s);
    if (w == 3 && v == 3) {
        back(3, 3, system, start, s, x);
    } else if (w == 6 && v == 6) {
        back(6, 6, system, start, s, x);
    } else {
        back(w, v, system, start, s, x);
    }
}
