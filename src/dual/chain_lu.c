// SPDX-License-Identifier: Apache-2.0
// Every step is written for any width and inlined for each constant one (math/block.h), so the
// blocks of a chain of equal widths are in registers or at fixed places of the stack; steps between
// different widths are the same source with variable widths.

#include "dual/chain_lu.h"

#include "dual/magnitude.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BLOCK (MABD_BLOCK_MAX * MABD_BLOCK_MAX)
/// Slots ahead whose blocks are prefetched.
#define AHEAD 8

// ---- memory ------------------------------------------------------------------------------------

bool mabd_dual_chain_lu_suits(const mabd_dual_system* s) {
    if (s->edge_count != s->slot_count - 1) return false;
    for (int32_t i = 0; i < s->slot_count; i++) {
        if (s->width[i] > MABD_BLOCK_MAX || (s->late && s->late[i])) return false;
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        if (s->from[e] - s->slot_offset != e || s->to[e] - s->slot_offset != e + 1) return false;
    }
    return true;
}

void mabd_dual_chain_lu_lay_out(const mabd_dual_system* system, mabd_arena* arena,
                                mabd_dual_chain_lu* chain) {
    size_t blocks = 0, sides = 0;
    for (int32_t i = 0; i < system->slot_count; i++) {
        const size_t w = (size_t)system->width[i];
        blocks += w * w;
        if (i + 1 < system->slot_count) sides += w * (size_t)system->width[i + 1];
    }
    const bool counts = !arena->memory;
    chain->slot_count = system->slot_count;
    chain->slots = mabd_arena_take(arena, (size_t)system->slot_count, sizeof *chain->slots);
    chain->S = mabd_arena_take(arena, blocks, sizeof(double));
    chain->W = mabd_arena_take(arena, sides, sizeof(double));
    chain->M = mabd_arena_take(arena, sides, sizeof(double));
    if (counts) return;
    blocks = sides = 0;
    for (int32_t i = 0; i < system->slot_count; i++) {
        mabd_dual_chain_lu_slot* slot = &chain->slots[i];
        const size_t w = (size_t)system->width[i];
        const bool last = i + 1 == system->slot_count;
        slot->width = system->width[i], slot->row = system->row[i] - system->row_offset;
        slot->block = system->block[i], slot->edge = last ? 0 : system->edge_block[i];
        slot->S = blocks, slot->W = sides;
        blocks += w * w;
        if (!last) sides += w * (size_t)system->width[i + 1];
    }
}

// ---- pivots ------------------------------------------------------------------------------------

// Size of the Schur complement of a slot that has a column of zeros (block_lu.h).
static double schur_size(const mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                         int32_t i) {
    double size = 0;
    for (int32_t e = i - 1; e <= i; e++) {
        const int32_t other = e < i ? i - 1 : i + 1;
        if (e < 0 || other >= chain->slot_count) continue;
        const mabd_dual_chain_lu_slot* s = &chain->slots[other];
        const int n = s->width * chain->slots[i].width;
        const double own = mabd_dual_most_of(s->width * s->width, system->blocks.D + s->block);
        const size_t edge = chain->slots[e].edge;
        if (!(own > 0)) continue;
        size = mabd_dual_larger(mabd_dual_most_of(n, system->blocks.U + edge) *
                                    mabd_dual_most_of(n, system->lower + edge) / own,
                                size);
    }
    return size;
}

// Set the least pivots of slot i; returns the largest magnitude of its block.
MABD_BLOCK_FN double scale(int w, const mabd_dual_chain_lu* chain,
                           const mabd_dual_lu_system* system, int32_t i, double* least) {
    const mabd_real* D = system->blocks.D + chain->slots[i].block;
    double most = 0, column[MABD_BLOCK_MAX] = {0};
    bool empty = false;
    MABD_UNROLL
    for (int r = 0; r < w; r++) {
        MABD_UNROLL
        for (int c = 0; c < w; c++)
            column[c] = mabd_dual_larger(fabs((double)D[r * w + c]), column[c]);
    }
    MABD_UNROLL
    for (int c = 0; c < w; c++) {
        least[c] = MABD_DUAL_LU_LEAST * column[c];
        most = mabd_dual_larger(column[c], most);
        empty |= column[c] == 0;
    }
    if (empty) {
        const double size = MABD_DUAL_LU_LEAST * schur_size(chain, system, i);
        for (int c = 0; c < w; c++) {
            if (least[c] == 0) least[c] = size;
        }
    }
    return most;
}

MABD_BLOCK_FN void exchange(int w, double* S, int a, int b) {
    for (int c = 0; c < w; c++) {
        const double kept = S[a * w + c];
        S[a * w + c] = S[b * w + c], S[b * w + c] = kept;
    }
}

// Factor P S = l u with reciprocals of pivots on the diagonal. False if a pivot fails.
MABD_BLOCK_FN bool factor_slot(int w, double* S, const double* least, uint8_t* swap) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        int p = k;
        double most = fabs(S[k * w + k]);
        MABD_UNROLL
        for (int r = k + 1; r < w; r++) {
            const double size = fabs(S[r * w + k]);
            if (size > most) most = size, p = r;
        }
        if (!(most > least[k])) return false;
        swap[k] = (uint8_t)p;
        if (p != k) exchange(w, S, k, p);
        const double inverse = 1 / S[k * w + k];
        if (!(fabs(inverse) > 0 && fabs(inverse) <= DBL_MAX)) return false;
        S[k * w + k] = inverse;
        MABD_UNROLL
        for (int r = k + 1; r < w; r++) {
            const double l = S[r * w + k] *= inverse;
            MABD_UNROLL
            for (int c = k + 1; c < w; c++) S[r * w + c] -= l * S[k * w + c];
        }
    }
    return true;
}

// ---- factor ------------------------------------------------------------------------------------

// W = l^-1 P U and M' = u'^-1 L' of a slot, both w x v; next (v x v) -= M W.
MABD_BLOCK_FN void eliminate(int w, int v, const double* S, const uint8_t* swap, const mabd_real* U,
                             const mabd_real* L, double* W, double* M, double* next) {
    MABD_UNROLL
    for (int k = 0; k < w * v; k++) W[k] = (double)U[k];
    for (int k = 0; k < w; k++) {
        if (swap[k] != k) exchange(v, W, k, swap[k]);
    }
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        MABD_UNROLL
        for (int c = 0; c < v; c++) M[k * v + c] = (double)L[c * w + k];
    }
    MABD_UNROLL
    for (int r = 0; r < w; r++) {
        MABD_UNROLL
        for (int k = 0; k < r; k++) {
            MABD_UNROLL
            for (int c = 0; c < v; c++) {
                W[r * v + c] -= S[r * w + k] * W[k * v + c];
                M[r * v + c] -= S[k * w + r] * M[k * v + c];
            }
        }
        MABD_UNROLL
        for (int c = 0; c < v; c++) M[r * v + c] *= S[r * w + r];
    }
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        MABD_UNROLL
        for (int r = 0; r < v; r++) {
            MABD_UNROLL
            for (int c = 0; c < v; c++) next[r * v + c] -= M[k * v + r] * W[k * v + c];
        }
    }
}

// Largest |l_ik| |u_kj| over the pivots of a slot; v = 0: there is no next slot.
MABD_BLOCK_FN double growth_of(int w, int v, const double* S, const double* W, const double* M) {
    double most = 0;
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        double l = 1, u = 1 / fabs(S[k * w + k]);
        MABD_UNROLL
        for (int c = k + 1; c < w; c++) u = mabd_dual_larger(fabs(S[k * w + c]), u);
        MABD_UNROLL
        for (int c = 0; c < v; c++) u = mabd_dual_larger(fabs(W[k * v + c]), u);
        MABD_UNROLL
        for (int c = 0; c < v; c++) l = mabd_dual_larger(fabs(M[k * v + c]), l);
        most = mabd_dual_larger(l * u, most);
    }
    return most;
}

// The factorisation so far.
typedef struct progress {
    double next[BLOCK]; // S of the current slot
    double growth, most;
} progress;

// Eliminate slot i of w rows before one of v rows, 0 = it is the last. False if a pivot fails.
MABD_BLOCK_FN bool step(int w, int v, mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                        int32_t i, progress* at) {
    mabd_dual_chain_lu_slot* slot = &chain->slots[i];
    const mabd_real *U = system->blocks.U + slot->edge, *L = system->lower + slot->edge;
    double *S = chain->S + slot->S, *W = chain->W + slot->W, *M = chain->M + slot->W;
    double least[MABD_BLOCK_MAX];
    at->most = mabd_dual_larger(scale(w, chain, system, i, least), at->most);
    MABD_UNROLL
    for (int k = 0; k < w * w; k++) S[k] = at->next[k];
    if (!factor_slot(w, S, least, slot->swap)) return false;
    if (v > 0) {
        const mabd_real* D = system->blocks.D + slot[1].block;
        at->most = mabd_dual_larger(
            mabd_dual_larger(mabd_dual_most_of(w * v, U), mabd_dual_most_of(w * v, L)), at->most);
        MABD_UNROLL
        for (int k = 0; k < v * v; k++) at->next[k] = (double)D[k];
        eliminate(w, v, S, slot->swap, U, L, W, M, at->next);
    }
    at->growth = mabd_dual_larger(growth_of(w, v, S, W, M), at->growth);
    return true;
}

static bool step_mixed(int w, int v, mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                       int32_t i, progress* at) {
    return step(w, v, chain, system, i, at);
}

static bool step_even(int w, mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                      int32_t i, progress* at) {
    switch (w) {
    case 1:
        return step(1, 1, chain, system, i, at);
    case 2:
        return step(2, 2, chain, system, i, at);
    case 3:
        return step(3, 3, chain, system, i, at);
    case 4:
        return step(4, 4, chain, system, i, at);
    case 5:
        return step(5, 5, chain, system, i, at);
    default:
        return step(6, 6, chain, system, i, at);
    }
}

static void prefetch(const mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                     int32_t i) {
    if (i + 1 >= chain->slot_count) return;
    const mabd_dual_chain_lu_slot* s = &chain->slots[i];
    mabd_block_prefetch(s->width, s->width, system->blocks.D + s->block, 0);
    mabd_block_prefetch(s->width, s->width, system->blocks.U + s->edge, 0);
    mabd_block_prefetch(s->width, s->width, system->lower + s->edge, 0);
}

int32_t mabd_dual_chain_lu_factor(mabd_dual_chain_lu* chain, const mabd_dual_lu_system* system,
                                  double* growth) {
    progress at = {.growth = 0};
    const mabd_real* D = system->blocks.D + chain->slots[0].block;
    for (int k = 0; k < chain->slots[0].width * chain->slots[0].width; k++) {
        at.next[k] = (double)D[k];
    }
    for (int32_t i = 0; i < chain->slot_count; i++) {
        const int w = chain->slots[i].width;
        const int v = i + 1 < chain->slot_count ? chain->slots[i + 1].width : 0;
        prefetch(chain, system, i + AHEAD);
        const bool good =
            v == w ? step_even(w, chain, system, i, &at) : step_mixed(w, v, chain, system, i, &at);
        if (!good) return i;
    }
    *growth = at.most > 0 ? at.growth / at.most : 0;
    return -1;
}

// ---- solve -------------------------------------------------------------------------------------

MABD_BLOCK_FN void swap_rows(int w, const uint8_t* swap, double* x) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        const double kept = x[k];
        const int p = swap[k];
        x[k] = x[p], x[p] = kept;
    }
}

MABD_BLOCK_FN void load(int w, const mabd_real* from, double* to) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) to[k] = (double)from[k];
}
MABD_BLOCK_FN void store(int w, const double* from, mabd_real* to) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) to[k] = (mabd_real)from[k];
}

// y = l^-1 P b, or u'^-1 b
MABD_BLOCK_FN void lower_solve(int w, bool turned, const double* S, const uint8_t* swap,
                               double* y) {
    if (!turned) swap_rows(w, swap, y);
    MABD_UNROLL
    for (int r = 0; r < w; r++) {
        MABD_UNROLL
        for (int k = 0; k < r; k++) y[r] -= (turned ? S[k * w + r] : S[r * w + k]) * y[k];
        if (turned) y[r] *= S[r * w + r];
    }
}

// x = u^-1 y, or P' l'^-1 y
MABD_BLOCK_FN void upper_solve(int w, bool turned, const double* S, const uint8_t* swap,
                               double* x) {
    MABD_UNROLL
    for (int r = w - 1; r >= 0; r--) {
        MABD_UNROLL
        for (int k = w - 1; k > r; k--) x[r] -= (turned ? S[k * w + r] : S[r * w + k]) * x[k];
        if (!turned) x[r] *= S[r * w + r];
    }
    for (int k = w - 1; turned && k >= 0; k--) {
        const double kept = x[k];
        x[k] = x[swap[k]], x[swap[k]] = kept;
    }
}

// Forward step of slot i: y (w) of the slot before in, of this one out.
MABD_BLOCK_FN void forward(int w, int before, bool turned, const mabd_dual_chain_lu* chain,
                           int32_t i, double* y, mabd_real* x) {
    const mabd_dual_chain_lu_slot* slot = &chain->slots[i];
    double b[MABD_BLOCK_MAX];
    load(w, x + slot->row, b);
    if (before > 0) {
        const double* A = (turned ? chain->W : chain->M) + slot[-1].W;
        MABD_UNROLL
        for (int k = 0; k < before; k++) {
            MABD_UNROLL
            for (int r = 0; r < w; r++) b[r] -= A[k * w + r] * y[k];
        }
    }
    lower_solve(w, turned, chain->S + slot->S, slot->swap, b);
    memcpy(y, b, (size_t)w * sizeof *y);
    store(w, b, x + slot->row);
}

// Backward step of slot i: x (v) of the slot after in, of this one out.
MABD_BLOCK_FN void backward(int w, int after, bool turned, const mabd_dual_chain_lu* chain,
                            int32_t i, double* y, mabd_real* x) {
    const mabd_dual_chain_lu_slot* slot = &chain->slots[i];
    double b[MABD_BLOCK_MAX];
    load(w, x + slot->row, b);
    if (after > 0) {
        const double* A = (turned ? chain->M : chain->W) + slot->W;
        MABD_UNROLL
        for (int r = 0; r < w; r++) {
            MABD_UNROLL
            for (int k = 0; k < after; k++) b[r] -= A[r * after + k] * y[k];
        }
    }
    upper_solve(w, turned, chain->S + slot->S, slot->swap, b);
    memcpy(y, b, (size_t)w * sizeof *y);
    store(w, b, x + slot->row);
}

static void forward_mixed(int w, int v, bool turned, const mabd_dual_chain_lu* chain, int32_t i,
                          double* y, mabd_real* x) {
    forward(w, v, turned, chain, i, y, x);
}
static void backward_mixed(int w, int v, bool turned, const mabd_dual_chain_lu* chain, int32_t i,
                           double* y, mabd_real* x) {
    backward(w, v, turned, chain, i, y, x);
}

// Call what for slots of equal widths: by a constant one, 3, 5 or 6, as balls, hinges and welds
// have, else by a variable one.
#define BY_WIDTH(what, w, v, ...)                                                                  \
    if ((w) == 3 && (v) == 3)                                                                      \
        what(3, 3, __VA_ARGS__);                                                                   \
    else if ((w) == 5 && (v) == 5)                                                                 \
        what(5, 5, __VA_ARGS__);                                                                   \
    else if ((w) == 6 && (v) == 6)                                                                 \
        what(6, 6, __VA_ARGS__);                                                                   \
    else                                                                                           \
        what##_mixed(w, v, __VA_ARGS__)

MABD_BLOCK_FN void solve(bool turned, const mabd_dual_chain_lu* chain, mabd_real* x) {
    double y[MABD_BLOCK_MAX] = {0};
    const int32_t n = chain->slot_count;
    for (int32_t i = 0; i < n; i++) {
        const int w = chain->slots[i].width, v = i > 0 ? chain->slots[i - 1].width : 0;
        BY_WIDTH(forward, w, v, turned, chain, i, y, x);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const int w = chain->slots[i].width, v = i + 1 < n ? chain->slots[i + 1].width : 0;
        BY_WIDTH(backward, w, v, turned, chain, i, y, x);
    }
}

void mabd_dual_chain_lu_solve(const mabd_dual_chain_lu* chain, mabd_real* x) {
    solve(false, chain, x);
}

void mabd_dual_chain_lu_solve_transposed(const mabd_dual_chain_lu* chain, mabd_real* x) {
    solve(true, chain, x);
}
