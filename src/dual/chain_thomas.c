// SPDX-License-Identifier: Apache-2.0
//
// Direct solve of one chain's dual system: block Thomas in root-free Cholesky form.
//
//       | D0  U0         |
//   K = | U0' D1  U1     |   K = J H^-1 J' + c, SPD;
//       |     U1' D2  .. |   D_i is w_i x w_i, U_i is w_i x w_{i+1}, w = 1..6
//
//   factor   L_i d_i L_i' = S_i,  W_i = L_i^-1 U_i,  Z_i = d_i^-1 W_i,
//            S_{i+1} = D_{i+1} - W_i' Z_i                                        [MABD eq. 39]
//   forward  y_i = L_i^-1 (b_i - Z_{i-1}' y_{i-1})
//   back     x_i = L_i^-T (d_i^-1 y_i - Z_i x_{i+1})
//
// not as in [MABD eq. 39]: without square roots, and with the reciprocals of the pivots kept, so
// that the solves do not divide. In place: L below the diagonal of D_i and 1/d_i on it, Z_i in U_i.
//
// A chain is taken in runs of equal width. Within a run the block in work stays in registers, and
// the code is unrolled for that width (math/block.h); the step between two runs is the same text
// with widths that are variables.

#include "dual/chain_thomas.h"

#include "math/block.h"

// Blocks are asked for this many slots before they are needed: a long chain streams from memory,
// and its dependent operations leave the processor no room to look ahead. Measured on 3x3 blocks.
// Cuts of runs (cpu/outer.c) are a chain whose blocks do not follow each other in memory.
#define AHEAD 16

// Blocks of slot i, which need not exist, of w rows and of as many columns.
MABD_BLOCK_FN void ask_for(int w, const mabd_dual_system* system, int32_t i) {
    if (i < 0 || i + 1 >= system->slot_count) return;
    mabd_block_prefetch(w, w, system->D + system->block[i], 0);
    mabd_block_prefetch(w, w, system->U + system->edge_block[i], 0);
}

// ---- steps between blocks of different widths --------------------------------------------------

static void eliminate_mixed(int w, int v, const mabd_real* L, mabd_real* U, mabd_real* S) {
    mabd_block_eliminate(w, v, L, U, S);
}
static void forward_mixed(int w, int v, const mabd_real* Z, const mabd_real* y, mabd_real* x) {
    mabd_block_sub_tmul(w, v, Z, y, x);
}
static void back_mixed(int w, int v, const mabd_real* L, const mabd_real* Z, const mabd_real* x,
                       mabd_real* y) {
    mabd_block_solve_d(w, L, y);
    mabd_block_sub_mul(w, v, Z, x, y);
}

// ---- factor ------------------------------------------------------------------------------------

// Eliminate slots from i while the width is w. Returns the first slot not eliminated: slot_count,
// or the first of another width, whose block then holds S. A failed pivot returns -1 - slot.
MABD_BLOCK_FN int32_t factor_run(int w, const mabd_dual_system* system, int32_t i) {
    const int32_t n = system->slot_count;
    mabd_real S[MABD_BLOCK_MAX * MABD_BLOCK_MAX], Z[MABD_BLOCK_MAX * MABD_BLOCK_MAX];
    mabd_block_copy_lower(w, system->D + system->block[i], S);
    for (;; i++) {
        // S_i = L_i d_i L_i'
        if (!mabd_block_ldl(w, S)) return -1 - i;
        mabd_block_copy_lower(w, S, system->D + system->block[i]);
        if (i + 1 == n) return n;

        // W_i, Z_i, S_{i+1}
        mabd_real* U = system->U + system->edge_block[i];
        mabd_real* D = system->D + system->block[i + 1];
        int v = system->width[i + 1];
        if (v != w) {
            eliminate_mixed(w, v, S, U, D);
            return i + 1;
        }
        mabd_real next[MABD_BLOCK_MAX * MABD_BLOCK_MAX];
        ask_for(w, system, i + AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w * w; k++) Z[k] = U[k];
        mabd_block_copy_lower(w, D, next);
        mabd_block_eliminate(w, w, S, Z, next);
        MABD_UNROLL
        for (int k = 0; k < w * w; k++) U[k] = Z[k];
        mabd_block_copy_lower(w, next, S);
    }
}

mabd_status mabd_chain_factor(const mabd_dual_system* system, int32_t* bad) {
    for (int32_t i = 0; i < system->slot_count;) {
        switch (system->width[i]) {
        case 1:
            i = factor_run(1, system, i);
            break;
        case 2:
            i = factor_run(2, system, i);
            break;
        case 3:
            i = factor_run(3, system, i);
            break;
        case 4:
            i = factor_run(4, system, i);
            break;
        case 5:
            i = factor_run(5, system, i);
            break;
        default:
            i = factor_run(6, system, i);
            break;
        }
        if (i < 0) {
            if (bad) *bad = -1 - i;
            return MABD_ERR_SINGULAR;
        }
    }
    return MABD_OK;
}

// ---- solve -------------------------------------------------------------------------------------

// y_i from slot i while the width is w; x of slot i already lacks Z_{i-1}' y_{i-1}. Returns the
// first slot of another width, with that product taken off, or slot_count.
MABD_BLOCK_FN int32_t forward_run(int w, const mabd_dual_system* system, int32_t i, mabd_real* x) {
    const int32_t n = system->slot_count;
    mabd_real y[MABD_BLOCK_MAX], next[MABD_BLOCK_MAX];
    x += system->row[i] - system->row_offset;
    MABD_UNROLL
    for (int k = 0; k < w; k++) y[k] = x[k];
    for (;; i++) {
        const mabd_real* L = system->D + system->block[i];
        mabd_block_solve_l(w, L, y);
        MABD_UNROLL
        for (int k = 0; k < w; k++) x[k] = y[k];
        x += w;
        if (i + 1 == n) return n;

        // b_{i+1} - Z_i' y_i
        const mabd_real* Z = system->U + system->edge_block[i];
        int v = system->width[i + 1];
        if (v != w) {
            forward_mixed(w, v, Z, y, x);
            return i + 1;
        }
        ask_for(w, system, i + AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w; k++) next[k] = x[k];
        mabd_block_sub_tmul(w, w, Z, y, next);
        MABD_UNROLL
        for (int k = 0; k < w; k++) y[k] = next[k];
    }
}

// x_i from slot i downwards while the width is w; x of slot i already is d_i^-1 y_i - Z_i x_{i+1}.
// Returns the first slot of another width, prepared likewise, or -1.
MABD_BLOCK_FN int32_t back_run(int w, const mabd_dual_system* system, int32_t i, mabd_real* x) {
    mabd_real y[MABD_BLOCK_MAX], next[MABD_BLOCK_MAX];
    x += system->row[i] - system->row_offset;
    MABD_UNROLL
    for (int k = 0; k < w; k++) y[k] = x[k];
    for (;; i--) {
        mabd_block_solve_lt(w, system->D + system->block[i], y);
        MABD_UNROLL
        for (int k = 0; k < w; k++) x[k] = y[k];
        if (i == 0) return -1;

        // d_{i-1}^-1 y_{i-1} - Z_{i-1} x_i
        const mabd_real* L = system->D + system->block[i - 1];
        const mabd_real* Z = system->U + system->edge_block[i - 1];
        int v = system->width[i - 1];
        x -= v;
        if (v != w) {
            back_mixed(v, w, L, Z, y, x);
            return i - 1;
        }
        ask_for(w, system, i - AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w; k++) next[k] = x[k];
        mabd_block_solve_d(w, L, next);
        mabd_block_sub_mul(w, w, Z, y, next);
        MABD_UNROLL
        for (int k = 0; k < w; k++) y[k] = next[k];
    }
}

void mabd_chain_solve(const mabd_dual_system* system, mabd_real* x) {
    const int32_t n = system->slot_count;
    for (int32_t i = 0; i < n;) {
        switch (system->width[i]) {
        case 1:
            i = forward_run(1, system, i, x);
            break;
        case 2:
            i = forward_run(2, system, i, x);
            break;
        case 3:
            i = forward_run(3, system, i, x);
            break;
        case 4:
            i = forward_run(4, system, i, x);
            break;
        case 5:
            i = forward_run(5, system, i, x);
            break;
        default:
            i = forward_run(6, system, i, x);
            break;
        }
    }
    if (n == 0) return;
    int32_t last = n - 1;
    mabd_block_solve_d(system->width[last], system->D + system->block[last],
                       x + system->row[last] - system->row_offset);
    for (int32_t i = last; i >= 0;) {
        switch (system->width[i]) {
        case 1:
            i = back_run(1, system, i, x);
            break;
        case 2:
            i = back_run(2, system, i, x);
            break;
        case 3:
            i = back_run(3, system, i, x);
            break;
        case 4:
            i = back_run(4, system, i, x);
            break;
        case 5:
            i = back_run(5, system, i, x);
            break;
        default:
            i = back_run(6, system, i, x);
            break;
        }
    }
}

// ---- mabd_dual_chain ---------------------------------------------------------------------------

static mabd_status chain_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                void** solver) {
    (void)allocator, (void)system;
    *solver = NULL;
    return MABD_OK;
}

static mabd_status chain_factor(void* solver, const mabd_dual_system* system, int32_t* bad) {
    (void)solver;
    return mabd_chain_factor(system, bad);
}

static void chain_solve(void* solver, const mabd_dual_system* system, mabd_real* x) {
    (void)solver;
    mabd_chain_solve(system, x);
}

static void chain_destroy(const mabd_allocator* allocator, void* solver) {
    (void)allocator, (void)solver;
}

static size_t chain_bytes(const void* solver) {
    (void)solver;
    return 0;
}

static size_t chain_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    (void)allocator, (void)system;
    return 0;
}

const mabd_dual_ops mabd_dual_chain = {
    .name = "chain",
    .create = chain_create,
    .factor = chain_factor,
    .solve = chain_solve,
    .destroy = chain_destroy,
    .bytes = chain_bytes,
    .bytes_for = chain_bytes_for,
};
