// SPDX-License-Identifier: Apache-2.0
//
// One long chain in segments. Block Thomas is one long dependency, so the chain is cut at every
// MABD_SEGMENT-th slot, and the slots between two cuts a, b are eliminated independently, with a
// block F to the cut before them that elimination creates (a spike):
//
//   cut a --- 0 --- 1 --- ... --- n - 1 --- cut b            F_0 = U_a', S_0 = D_0
//
//   L_i d_i L_i' = S_i     W_i = L_i^-1 U_i,  Z_i = d_i^-1 W_i
//                          V_i = L_i^-1 F_i,  Y_i = d_i^-1 V_i     y_i = L_i^-1 b_i
//   S_{i+1} = D_{i+1} - W_i' Z_i        F_{i+1} = -Z_i' V_i        b_{i+1} -= Z_i' y_i
//   S_a -= V_i' Y_i                                                b_a     -= Y_i' y_i
//
// with S_n, b_n and F_n those of cut b: the segment before b updates S_b and b_b, the one after a
// updates S_a and b_a, and U_ab = F_n'. So the cuts form the reduced chain, MABD_SEGMENT times
// shorter. It is cut in the same way until it is short, then one segment without cuts is block
// Thomas. With the cuts known,
//
//   back   x_i = L_i^-T (d_i^-1 y_i - Z_i x_{i+1} - Y_i x_a)
//
// from the last slot of each segment to its first. K is positive definite, so all S are: they are
// Schur complements in another order. Flops are those of block Thomas plus about 1.5 times as many
// for spikes; the critical path of a chain of N slots has log N / log MABD_SEGMENT stretches of
// MABD_SEGMENT slots.
//
// In place: L and 1/d in D, Z in U, y and then x in x. Extra storage: F, which Y replaces; U_ab;
// and the updates of S_a and b_a (a share), because the segments on both sides of a cut run
// concurrently. Reduced chains use the same arrays D and x.
#pragma once

#include "dual/chain_kernel.h"

/// Slots from one cut to the next.
#define MABD_SEGMENT 32
/// Longest chain that is not cut [slots].
#define MABD_SEGMENT_WHOLE 64

/// A slot of a chain or of a reduced chain.
typedef struct mabd_dual_segment_slot {
    int32_t slot; // of the plan
    int32_t width, row;
    size_t block, edge, spike; // offsets of S in D, of the block to the next slot in U, of F in own
} mabd_dual_segment_slot;

/// Slots first .. first + count - 1 of a list; the list entries before and after them are the cuts.
typedef struct mabd_dual_segment {
    int32_t first, count;
    bool before, after; // there is a cut
    // offsets in own of the updates of S_a and b_a; in U of the next chain: of U_ab
    size_t share, joined;
} mabd_dual_segment;

typedef struct mabd_dual_segment_arrays {
    const mabd_dual_segment_slot* slots;
    mabd_real *D, *U, *x;
    mabd_real* own;
} mabd_dual_segment_arrays;

// ---- eliminate ---------------------------------------------------------------------------------

MABD_BLOCK_FN void mabd_dual_segment_load(int count, const mabd_real* from, mabd_real* to) {
    MABD_UNROLL
    for (int k = 0; k < count; k++) to[k] = from[k];
}

// Compute F_{i+1} (v x u) = -Z' V into `to`: by rows, or transposed, as U_ab.
MABD_BLOCK_FN void mabd_dual_segment_next_spike(int w, int v, int u, const mabd_real* Z,
                                                const mabd_real* V, bool turned, mabd_real* to) {
    MABD_UNROLL
    for (int r = 0; r < v; r++) {
        MABD_UNROLL
        for (int c = 0; c < u; c++) {
            mabd_real sum = 0;
            MABD_UNROLL
            for (int k = 0; k < w; k++) sum -= Z[k * v + r] * V[k * u + c];
            to[turned ? c * v + r : r * u + c] = sum;
        }
    }
}

// Eliminate slot i of w rows; v rows of the next one, u of the cut before, if there is one. False
// if its pivot fails.
MABD_BLOCK_FN bool mabd_dual_segment_step(int w, int v, int u, const mabd_dual_segment_arrays* a,
                                          const mabd_dual_segment* g, int32_t i) {
    const mabd_dual_segment_slot* s = &a->slots[i];
    const bool last = i + 1 == g->first + g->count, next = !last || g->after;
    mabd_real S[MABD_CHAIN_BLOCK], y[MABD_BLOCK_MAX];
    mabd_real* U = a->U + s->edge;
    mabd_dual_chain_load_lower(w, a->D + s->block, S);
    if (!mabd_block_ldl(w, S)) return false;
    mabd_dual_chain_store_lower(w, S, a->D + s->block);
    mabd_dual_segment_load(w, a->x + s->row, y);
    mabd_block_solve_l(w, S, y);
    mabd_dual_segment_load(w, y, a->x + s->row);
    if (next) {
        // Z_i, S_{i+1}, b_{i+1}
        mabd_real Z[MABD_CHAIN_BLOCK], N[MABD_CHAIN_BLOCK];
        mabd_dual_segment_load(w * v, U, Z);
        mabd_dual_chain_load_lower(v, a->D + s[1].block, N);
        mabd_block_eliminate(w, v, S, Z, N);
        mabd_dual_chain_store_lower(v, N, a->D + s[1].block);
        mabd_dual_segment_load(w * v, Z, U);
        mabd_block_sub_tmul(w, v, Z, y, a->x + s[1].row);
    }
    if (g->before) {
        // V_i, F_{i+1}, Y_i, S_a, b_a; Z is read again because registers do not hold all
        mabd_real V[MABD_CHAIN_BLOCK], E[MABD_CHAIN_BLOCK];
        mabd_real* share = a->own + g->share;
        mabd_dual_segment_load(w * u, a->own + s->spike, V);
        mabd_block_lower(w, u, S, V);
        if (next) {
            mabd_dual_segment_next_spike(w, v, u, U, V, last,
                                         a->own + (last ? g->joined : s[1].spike));
        }
        mabd_dual_chain_load_lower(u, share, E);
        mabd_block_reduce(w, u, S, V, E);
        mabd_dual_chain_store_lower(u, E, share);
        mabd_dual_segment_load(w * u, V, a->own + s->spike);
        mabd_block_sub_tmul(w, u, V, y, share + u * u);
    }
    return true;
}

// Eliminate a slot with variable widths.
MABD_CALL bool mabd_dual_segment_step_mixed(int w, int v, int u, const mabd_dual_segment_arrays* a,
                                            const mabd_dual_segment* g, int32_t i) {
    return mabd_dual_segment_step(w, v, u, a, g, i);
}

#define MABD_SEGMENT_EVEN(w, step, ...) step(w, w, w, __VA_ARGS__)

// Return the widths of slot i, of the next slot and of the cut before; a missing one counts as the
// slot's width.
MABD_BLOCK_FN void mabd_dual_segment_widths(const mabd_dual_segment_arrays* a,
                                            const mabd_dual_segment* g, int32_t i, int* w, int* v,
                                            int* u) {
    const bool next = i + 1 < g->first + g->count || g->after;
    *w = a->slots[i].width;
    *v = next ? a->slots[i + 1].width : *w;
    *u = g->before ? a->slots[g->first - 1].width : *w;
}

// Set F_0 = U_a' and clear the share.
MABD_BLOCK_FN void mabd_dual_segment_begin(const mabd_dual_segment_arrays* a,
                                           const mabd_dual_segment* g) {
    const mabd_dual_segment_slot* s = &a->slots[g->first];
    const int w = s->width, u = s[-1].width;
    for (int k = 0; k < u * u + u; k++) a->own[g->share + (size_t)k] = 0;
    for (int r = 0; r < w; r++) {
        for (int c = 0; c < u; c++) {
            a->own[s->spike + (size_t)(r * u + c)] = a->U[s[-1].edge + (size_t)(c * w + r)];
        }
    }
}

// Clear the updates of a segment whose pivot failed, so that no other slot is reported.
MABD_BLOCK_FN void mabd_dual_segment_break(const mabd_dual_segment_arrays* a,
                                           const mabd_dual_segment* g) {
    if (!g->before) return;
    const int u = a->slots[g->first - 1].width;
    for (int k = 0; k < u * u + u; k++) a->own[g->share + (size_t)k] = 0;
    if (!g->after) return;
    const int v = a->slots[g->first + g->count].width;
    for (int k = 0; k < u * v; k++) a->own[g->joined + (size_t)k] = 0;
}

/// Eliminate a segment. most: width of the widest possible block, a constant; bad (slots of the
/// plan): 1 where a pivot fails, else 0.
MABD_BLOCK_FN void mabd_dual_segment_eliminate(int most, const mabd_dual_segment_arrays* a,
                                               const mabd_dual_segment* g, int32_t* bad) {
    bool good = true;
    if (g->before) mabd_dual_segment_begin(a, g);
    for (int32_t i = g->first; i < g->first + g->count; i++) {
        bool done = true;
        int w, v, u;
        mabd_dual_segment_widths(a, g, i, &w, &v, &u);
        if (!good) {
            done = true;
        } else if (v != w || u != w) {
            done = mabd_dual_segment_step_mixed(w, v, u, a, g, i);
        } else {
            MABD_CHAIN_BY_WIDTH(most, w, done, MABD_SEGMENT_EVEN, mabd_dual_segment_step, a, g, i)
        }
        bad[a->slots[i].slot] = !done;
        if (!done) mabd_dual_segment_break(a, g);
        good = good && done;
    }
}

/// Add the share of a segment to the cut before it.
MABD_FN void mabd_dual_segment_add_share(const mabd_dual_segment_arrays* a,
                                         const mabd_dual_segment* g) {
    const mabd_dual_segment_slot* cut = &a->slots[g->first - 1];
    const int u = cut->width;
    const mabd_real* share = a->own + g->share;
    for (int r = 0; r < u; r++) {
        for (int c = 0; c <= r; c++) {
            a->D[cut->block + (size_t)(r * u + c)] += share[r * u + c];
        }
        a->x[cut->row + r] += share[u * u + r];
    }
}

// ---- back --------------------------------------------------------------------------------------

// Solve for one slot; return the slot before.
MABD_BLOCK_FN int32_t mabd_dual_segment_back_step(int w, int v, int u,
                                                  const mabd_dual_segment_arrays* a,
                                                  const mabd_dual_segment* g, int32_t i) {
    const mabd_dual_segment_slot* s = &a->slots[i];
    const mabd_real* L = a->D + s->block;
    mabd_real y[MABD_BLOCK_MAX];
    mabd_dual_segment_load(w, a->x + s->row, y);
    mabd_block_solve_d(w, L, y);
    if (i + 1 < g->first + g->count || g->after) {
        mabd_block_sub_mul(w, v, a->U + s->edge, a->x + s[1].row, y);
    }
    if (g->before) {
        mabd_block_sub_mul(w, u, a->own + s->spike, a->x + a->slots[g->first - 1].row, y);
    }
    mabd_block_solve_lt(w, L, y);
    mabd_dual_segment_load(w, y, a->x + s->row);
    return i - 1;
}

MABD_CALL int32_t mabd_dual_segment_back_step_mixed(int w, int v, int u,
                                                    const mabd_dual_segment_arrays* a,
                                                    const mabd_dual_segment* g, int32_t i) {
    return mabd_dual_segment_back_step(w, v, u, a, g, i);
}

/// Solve for the slots of a segment whose cuts are known.
MABD_BLOCK_FN void mabd_dual_segment_back(int most, const mabd_dual_segment_arrays* a,
                                          const mabd_dual_segment* g) {
    for (int32_t i = g->first + g->count - 1; i >= g->first;) {
        int w, v, u;
        mabd_dual_segment_widths(a, g, i, &w, &v, &u);
        if (v != w || u != w) {
            i = mabd_dual_segment_back_step_mixed(w, v, u, a, g, i);
        } else {
            MABD_CHAIN_BY_WIDTH(most, w, i, MABD_SEGMENT_EVEN, mabd_dual_segment_back_step, a, g, i)
        }
    }
}
