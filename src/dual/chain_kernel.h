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
// A chain is processed in stretches of equal width. Within a stretch the current block stays in
// registers, and the code is unrolled for that width (math/block.h); the step between two stretches
// is the same source with variable widths.
//
// One source for the CPU (chain_thomas.c) and for devices, where a thread has one of many chains
// (math/interleave.h). `most` is the widest possible block, a constant: wider code is not compiled.
#pragma once

#include "dual/dual.h"
#include "math/block.h"
#include "math/interleave.h"

// Blocks are prefetched this many slots ahead: a long chain streams from memory, and its dependent
// operations keep the processor from looking ahead. Measured on 3 x 3 blocks. The blocks of a
// reduced chain (affine/cpu/reduced_chain.c) are not adjacent in memory.
#define MABD_CHAIN_AHEAD 16

#define MABD_CHAIN_BLOCK (MABD_BLOCK_MAX * MABD_BLOCK_MAX)

/// The arrays of one chain: offsets as in mabd_dual_system.
typedef struct mabd_dual_chain_arrays {
    int32_t slot_count;
    const int32_t* width;
    const size_t *block, *edge_block;
    mabd_reals D, U;
} mabd_dual_chain_arrays;

// Prefetch the w x w blocks of slot i, which need not exist.
MABD_BLOCK_FN void mabd_dual_chain_prefetch(int w, const mabd_dual_chain_arrays* chain, int32_t i) {
#ifdef MABD_INTERLEAVED
    (void)w, (void)chain, (void)i; // a device hides latency by other threads
#else
    if (i < 0 || i + 1 >= chain->slot_count) return;
    mabd_block_prefetch(w, w, chain->D + chain->block[i], 0);
    mabd_block_prefetch(w, w, chain->U + chain->edge_block[i], 0);
#endif
}

// ---- steps between blocks of different widths --------------------------------------------------

// Compute mabd_block_eliminate in memory, with v not constant: L stays in registers.
MABD_BLOCK_FN void mabd_dual_chain_eliminate_mixed(int w, int v, const mabd_real* L, mabd_reals U,
                                                   mabd_reals S) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int k = 0; k < i; k++) {
            for (int c = 0; c < v; c++) U[i * v + c] -= L[i * w + k] * U[k * v + c];
        }
    }
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        const mabd_real pivot = L[i * w + i];
        for (int r = 0; r < v; r++) {
            for (int c = 0; c <= r; c++) S[r * v + c] -= U[i * v + r] * (pivot * U[i * v + c]);
        }
        for (int c = 0; c < v; c++) U[i * v + c] *= pivot;
    }
}

// x (v) -= Z' y
MABD_BLOCK_FN void mabd_dual_chain_forward_mixed(int w, int v, mabd_reals Z, const mabd_real* y,
                                                 mabd_reals x) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        for (int c = 0; c < v; c++) x[c] -= Z[k * v + c] * y[k];
    }
}

// y (w) = d^-1 y - Z x, of which v is the constant; the last entry of x first
MABD_BLOCK_FN void mabd_dual_chain_back_mixed(int w, int v, mabd_reals L, mabd_reals Z,
                                              const mabd_real* x, mabd_reals y) {
    for (int i = 0; i < w; i++) y[i] *= L[i * w + i];
    MABD_UNROLL
    for (int c = v - 1; c >= 0; c--) {
        for (int i = 0; i < w; i++) y[i] -= Z[i * v + c] * x[c];
    }
}

// ---- factor ------------------------------------------------------------------------------------

// Load the lower triangle of a block into registers, or store it.
MABD_BLOCK_FN void mabd_dual_chain_load_lower(int w, mabd_reals from, mabd_real* to) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j <= i; j++) to[i * w + j] = from[i * w + j];
    }
}
MABD_BLOCK_FN void mabd_dual_chain_store_lower(int w, const mabd_real* from, mabd_reals to) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j <= i; j++) to[i * w + j] = from[i * w + j];
    }
}

// Eliminate slots from i while the width is w. Returns the first slot not eliminated: slot_count,
// or the first of another width, whose block then holds S. A failed pivot returns -1 - slot.
MABD_BLOCK_FN int32_t mabd_dual_chain_factor_run(int w, const mabd_dual_chain_arrays* chain,
                                                 int32_t i) {
    const int32_t n = chain->slot_count;
    mabd_real S[MABD_CHAIN_BLOCK], Z[MABD_CHAIN_BLOCK];
    mabd_dual_chain_load_lower(w, chain->D + chain->block[i], S);
    for (;; i++) {
        // S_i = L_i d_i L_i'
        if (!mabd_block_ldl(w, S)) return -1 - i;
        mabd_dual_chain_store_lower(w, S, chain->D + chain->block[i]);
        if (i + 1 == n) return n;

        // W_i, Z_i, S_{i+1}
        mabd_reals U = chain->U + chain->edge_block[i];
        mabd_reals D = chain->D + chain->block[i + 1];
        const int v = chain->width[i + 1];
        if (v != w) {
            mabd_dual_chain_eliminate_mixed(w, v, S, U, D);
            return i + 1;
        }
        mabd_real next[MABD_CHAIN_BLOCK];
        mabd_dual_chain_prefetch(w, chain, i + MABD_CHAIN_AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w * w; k++) Z[k] = U[k];
        mabd_dual_chain_load_lower(w, D, next);
        mabd_block_eliminate(w, w, S, Z, next);
        MABD_UNROLL
        for (int k = 0; k < w * w; k++) U[k] = Z[k];
        mabd_block_copy_lower(w, next, S);
    }
}

// Call `run` with the width of slot i as a constant.
#define MABD_CHAIN_BY_WIDTH(most, width, i, run, ...)                                              \
    switch ((width) < (most) ? (width) : (most)) {                                                 \
    case 1:                                                                                        \
        i = run(1, __VA_ARGS__);                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        if ((most) >= 2) i = run(2, __VA_ARGS__);                                                  \
        break;                                                                                     \
    case 3:                                                                                        \
        if ((most) >= 3) i = run(3, __VA_ARGS__);                                                  \
        break;                                                                                     \
    case 4:                                                                                        \
        if ((most) >= 4) i = run(4, __VA_ARGS__);                                                  \
        break;                                                                                     \
    case 5:                                                                                        \
        if ((most) >= 5) i = run(5, __VA_ARGS__);                                                  \
        break;                                                                                     \
    default:                                                                                       \
        if ((most) >= 6) i = run(6, __VA_ARGS__);                                                  \
        break;                                                                                     \
    }

/// Factor in place; return the slot whose pivot failed, -1 = none.
MABD_BLOCK_FN int32_t mabd_dual_chain_kernel_factor(int most, const mabd_dual_chain_arrays* chain) {
    for (int32_t i = 0; i < chain->slot_count;) {
        MABD_CHAIN_BY_WIDTH(most, chain->width[i], i, mabd_dual_chain_factor_run, chain, i)
        if (i < 0) return -1 - i;
    }
    return -1;
}

// ---- solve -------------------------------------------------------------------------------------

// Compute y_i from slot i on while the width is w; Z_{i-1}' y_{i-1} has already been subtracted
// from x of slot i. Returns the first slot of another width, with that product subtracted, or
// slot_count. *x: that of slot i in, that of the returned slot out.
MABD_BLOCK_FN int32_t mabd_dual_chain_forward_run(int w, const mabd_dual_chain_arrays* chain,
                                                  int32_t i, mabd_reals* at) {
    const int32_t n = chain->slot_count;
    mabd_real y[MABD_BLOCK_MAX], next[MABD_BLOCK_MAX];
    mabd_reals x = *at;
    MABD_UNROLL
    for (int k = 0; k < w; k++) y[k] = x[k];
    for (;; i++) {
        mabd_reals D = chain->D + chain->block[i];
        MABD_HELD(L, MABD_CHAIN_BLOCK, w * w, D);
        mabd_block_solve_l(w, L, y);
        MABD_UNROLL
        for (int k = 0; k < w; k++) x[k] = y[k];
        *at = x += w;
        if (i + 1 == n) return n;

        // b_{i+1} - Z_i' y_i
        mabd_reals U = chain->U + chain->edge_block[i];
        const int v = chain->width[i + 1];
        if (v != w) {
            mabd_dual_chain_forward_mixed(w, v, U, y, x);
            return i + 1;
        }
        MABD_HELD(Z, MABD_CHAIN_BLOCK, w * w, U);
        mabd_dual_chain_prefetch(w, chain, i + MABD_CHAIN_AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w; k++) next[k] = x[k];
        mabd_block_sub_tmul(w, w, Z, y, next);
        MABD_UNROLL
        for (int k = 0; k < w; k++) y[k] = next[k];
    }
}

// Compute x_i from slot i downwards while the width is w; x of slot i already is d_i^-1 y_i - Z_i
// x_{i+1}. Returns the first slot of another width, prepared in the same way, or -1. *at: x of slot
// i in, x of the returned slot out.
MABD_BLOCK_FN int32_t mabd_dual_chain_back_run(int w, const mabd_dual_chain_arrays* chain,
                                               int32_t i, mabd_reals* at) {
    mabd_real y[MABD_BLOCK_MAX], next[MABD_BLOCK_MAX];
    mabd_reals x = *at;
    MABD_UNROLL
    for (int k = 0; k < w; k++) y[k] = x[k];
    for (;; i--) {
        MABD_HELD(own, MABD_CHAIN_BLOCK, w * w, chain->D + chain->block[i]);
        mabd_block_solve_lt(w, own, y);
        MABD_UNROLL
        for (int k = 0; k < w; k++) x[k] = y[k];
        if (i == 0) return -1;

        // d_{i-1}^-1 y_{i-1} - Z_{i-1} x_i
        mabd_reals D = chain->D + chain->block[i - 1];
        mabd_reals U = chain->U + chain->edge_block[i - 1];
        const int v = chain->width[i - 1];
        *at = x -= v;
        if (v != w) {
            mabd_dual_chain_back_mixed(v, w, D, U, y, x);
            return i - 1;
        }
        MABD_HELD(L, MABD_CHAIN_BLOCK, w * w, D);
        MABD_HELD(Z, MABD_CHAIN_BLOCK, w * w, U);
        mabd_dual_chain_prefetch(w, chain, i - MABD_CHAIN_AHEAD);
        MABD_UNROLL
        for (int k = 0; k < w; k++) next[k] = x[k];
        mabd_block_solve_d(w, L, next);
        mabd_block_sub_mul(w, w, Z, y, next);
        MABD_UNROLL
        for (int k = 0; k < w; k++) y[k] = next[k];
    }
}

/// Solve in place. x: right-hand side in, solution out. Requires mabd_dual_chain_kernel_factor.
MABD_BLOCK_FN void mabd_dual_chain_kernel_solve(int most, const mabd_dual_chain_arrays* chain,
                                                mabd_reals x) {
    const int32_t n = chain->slot_count;
    for (int32_t i = 0; i < n;) {
        MABD_CHAIN_BY_WIDTH(most, chain->width[i], i, mabd_dual_chain_forward_run, chain, i, &x)
    }
    if (n == 0) return;
    const int w = chain->width[n - 1];
    mabd_reals L = chain->D + chain->block[n - 1];
    x -= w;
    for (int k = 0; k < w; k++) x[k] *= L[k * w + k];
    for (int32_t i = n - 1; i >= 0;) {
        MABD_CHAIN_BY_WIDTH(most, chain->width[i], i, mabd_dual_chain_back_run, chain, i, &x)
    }
}
