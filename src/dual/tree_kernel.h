// SPDX-License-Identifier: Apache-2.0
//
// Elimination of one slot s of a tree in place; t1 < t2 < .. are its later neighbours (tree_aba.c).
//
//   eliminate  L_s d_s L_s' = S_s,  W_i = L_s^-1 U(s, t_i),  U(s, t_i) <- Z_i = d_s^-1 W_i,
//              S(t_i) -= W_i' Z_i,  U(t_i, t_j) -= W_i' Z_j
//   forward    y_s = L_s^-1 b_s,  b(t_i) -= Z_i' y_s
//   back       x_s = L_s^-T (d_s^-1 y_s - sum Z_i x(t_i))
//
// Block (t_i, t_j) needs no search: the edges of t_i are those to t_{i+1}, t_{i+2}, .. in this
// order.
//
// One source for the CPU (tree_numeric.c) and for devices (cuda/), where independent slots have a
// thread each.

#pragma once

#include "dual/dual.h"
#include "math/block.h"

#if defined(__GNUC__) && !defined(MABD_ON_DEVICE)
#include "dual/tree_six.h"
#define MABD_TREE_SIX(v) ((v) == 6)
#else
#define MABD_TREE_SIX(v)                           false
#define mabd_dual_tree_lower_six(w, L, W)          ((void)0)
#define mabd_dual_tree_sub_product_six(w, W, Z, C) ((void)0)
#define mabd_dual_tree_reduce_six(w, L, W, S)      ((void)0)
#endif

// ---- factor ------------------------------------------------------------------------------------

// S (lower triangle) = L d L' of either sign.
MABD_BLOCK_FN bool mabd_dual_tree_factor_block(int w, bool negative, mabd_real* S) {
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
MABD_BLOCK_FN void mabd_dual_tree_sub_product(int w, int v, int u, const mabd_real* MABD_RESTRICT W,
                                              const mabd_real* MABD_RESTRICT Z,
                                              mabd_real* MABD_RESTRICT C) {
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

// Eliminate a slot of w rows whose neighbours have v rows each, v = 0: any width. The last
// neighbour comes first: when (t_i, t_j) is computed, Z_j is known and W_i not yet scaled.
MABD_BLOCK_FN bool mabd_dual_tree_eliminate(int w, int v, const mabd_dual_system* system,
                                            const int32_t* start, int32_t s) {
    const int32_t first = start[s], count = start[s + 1] - first;
    const int32_t* to = system->to + first;
    mabd_real* L = system->D + system->block[s];
    if (!mabd_dual_tree_factor_block(w, system->negative && system->negative[s], L)) return false;
    for (int32_t i = count - 1; i >= 0; i--) {
        const int32_t t = to[i] - system->slot_offset;
        const int vi = v ? v : system->width[t];
        mabd_real* W = system->U + system->edge_block[first + i];
        mabd_real* S = system->D + system->block[t];
        if (MABD_TREE_SIX(v)) {
            mabd_dual_tree_lower_six(w, L, W);
        } else {
            mabd_block_lower(w, vi, L, W);
        }
        for (int32_t j = i + 1; j < count; j++) {
            const int vj = v ? v : system->width[to[j] - system->slot_offset];
            const mabd_real* Z = system->U + system->edge_block[first + j];
            mabd_real* C = system->U + system->edge_block[start[t] + (j - i - 1)];
            if (MABD_TREE_SIX(v)) {
                mabd_dual_tree_sub_product_six(w, W, Z, C);
            } else {
                mabd_dual_tree_sub_product(w, vi, vj, W, Z, C);
            }
        }
        if (MABD_TREE_SIX(v)) {
            mabd_dual_tree_reduce_six(w, L, W, S);
        } else {
            mabd_block_reduce(w, vi, L, W, S);
        }
    }
    return true;
}

// Return true if the later neighbours of every slot are each other's first ones: elimination makes
// no fill.
MABD_FN bool mabd_dual_tree_fits(const mabd_dual_system* system, const int32_t* start) {
    for (int32_t s = 0; s < system->slot_count; s++) {
        for (int32_t e = start[s]; e + 1 < start[s + 1]; e++) {
            const int32_t t = system->to[e] - system->slot_offset;
            const int32_t rest = start[s + 1] - e - 1; // neighbours of s after t
            if (start[t + 1] - start[t] < rest) return false;
            for (int32_t k = 0; k < rest; k++) {
                if (system->to[start[t] + k] != system->to[e + 1 + k]) return false;
            }
        }
    }
    return true;
}

// Return the rows of all neighbours of a slot if they are equal, else 0.
MABD_FN int mabd_dual_tree_common_width(const mabd_dual_system* system, const int32_t* start,
                                        int32_t s) {
    int width = 0;
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int w = system->width[system->to[e] - system->slot_offset];
        if (e > start[s] && w != width) return 0;
        width = w;
    }
    return width;
}

MABD_BLOCK_FN void mabd_dual_tree_forward(int w, int v, const mabd_dual_system* system,
                                          const int32_t* start, int32_t s, mabd_real* x) {
    mabd_real* y = x + (system->row[s] - system->row_offset);
    mabd_block_solve_l(w, system->D + system->block[s], y);
    for (int32_t e = start[s]; e < start[s + 1]; e++) {
        const int32_t t = system->to[e] - system->slot_offset;
        mabd_block_sub_tmul(w, v ? v : system->width[t], system->U + system->edge_block[e], y,
                            x + (system->row[t] - system->row_offset));
    }
}

// Eliminate one slot, with the right-hand side unless that is null.
MABD_BLOCK_FN bool mabd_dual_tree_eliminate_with(int w, int v, const mabd_dual_system* system,
                                                 const int32_t* start, int32_t s, mabd_real* x) {
    if (!mabd_dual_tree_eliminate(w, v, system, start, s)) return false;
    if (x) mabd_dual_tree_forward(w, v, system, start, s, x);
    return true;
}

MABD_FN bool mabd_dual_tree_eliminate_slot(const mabd_dual_system* system, const int32_t* start,
                                           int32_t s, mabd_real* x) {
    const int w = system->width[s], v = mabd_dual_tree_common_width(system, start, s);
    if (w == 3 && v == 3) return mabd_dual_tree_eliminate_with(3, 3, system, start, s, x);
    if (w == 5 && v == 5) return mabd_dual_tree_eliminate_with(5, 5, system, start, s, x);
    if (w == 6 && v == 6) return mabd_dual_tree_eliminate_with(6, 6, system, start, s, x);
    if (w == 3 && v == 6)
        return mabd_dual_tree_eliminate_with(3, 6, system, start, s, x); // on a junction
    if (w == 5 && v == 6) return mabd_dual_tree_eliminate_with(5, 6, system, start, s, x);
    return mabd_dual_tree_eliminate_with(w, 0, system, start, s, x);
}

// ---- solve -------------------------------------------------------------------------------------

MABD_FN void mabd_dual_tree_forward_slot(const mabd_dual_system* system, const int32_t* start,
                                         int32_t s, mabd_real* x) {
    const int w = system->width[s], v = mabd_dual_tree_common_width(system, start, s);
    if (w == 3 && v == 3) {
        mabd_dual_tree_forward(3, 3, system, start, s, x);
    } else if (w == 6 && v == 6) {
        mabd_dual_tree_forward(6, 6, system, start, s, x);
    } else {
        mabd_dual_tree_forward(w, v, system, start, s, x);
    }
}

MABD_BLOCK_FN void mabd_dual_tree_back(int w, int v, const mabd_dual_system* system,
                                       const int32_t* start, int32_t s, mabd_real* x) {
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

MABD_FN void mabd_dual_tree_back_slot(const mabd_dual_system* system, const int32_t* start,
                                      int32_t s, mabd_real* x) {
    const int w = system->width[s], v = mabd_dual_tree_common_width(system, start, s);
    if (w == 3 && v == 3) {
        mabd_dual_tree_back(3, 3, system, start, s, x);
    } else if (w == 6 && v == 6) {
        mabd_dual_tree_back(6, 6, system, start, s, x);
    } else {
        mabd_dual_tree_back(w, v, system, start, s, x);
    }
}

// ---- arms of a junction -------------------------------------------------------------------------

// A joint on a junction is coupled with its two slots t1, t2 and with no other remaining slot.
// Where many such arms are eliminated concurrently they must not write to the junction: each keeps
// its W beside Z, and the junction subtracts all of them in their order before its own turn, entry
// by entry,
//
//   S(t_i) -= W_i' Z_i,  U(t1, t2) -= W_1' Z_2,  b(t_i) -= Z_i' y      over arms and their rows
//
// the sums of mabd_dual_tree_eliminate and mabd_dual_tree_forward, one arm after the other.

#define MABD_JUNCTION_SLOT 6 // rows of each of a junction's two slots
#define MABD_ARM_KEPT      (2 * MABD_BLOCK_MAX * MABD_JUNCTION_SLOT) // room for W_1, W_2 of an arm

// Eliminate an arm. x: right-hand side, null = none.
MABD_BLOCK_FN bool mabd_dual_tree_eliminate_arm(int w, const mabd_dual_system* system,
                                                const int32_t* start, int32_t s, mabd_real* x,
                                                mabd_real* kept) {
    mabd_real* L = system->D + system->block[s];
    if (!mabd_dual_tree_factor_block(w, false, L)) return false;
    for (int half = 0; half < 2; half++) {
        mabd_real* U = system->U + system->edge_block[start[s] + half];
        mabd_real* W = kept + half * w * MABD_JUNCTION_SLOT;
        mabd_block_lower(w, MABD_JUNCTION_SLOT, L, U);
        MABD_UNROLL
        for (int i = 0; i < w; i++) {
            MABD_UNROLL
            for (int c = 0; c < MABD_JUNCTION_SLOT; c++) {
                const int k = i * MABD_JUNCTION_SLOT + c;
                W[k] = U[k];
                U[k] *= L[i * w + i];
            }
        }
    }
    if (x) mabd_block_solve_l(w, L, x + (system->row[s] - system->row_offset));
    return true;
}

MABD_FN bool mabd_dual_tree_eliminate_arm_slot(const mabd_dual_system* system, const int32_t* start,
                                               int32_t s, mabd_real* x, mabd_real* kept) {
    const int w = system->width[s];
    if (w == 3) return mabd_dual_tree_eliminate_arm(3, system, start, s, x, kept);
    if (w == 5) return mabd_dual_tree_eliminate_arm(5, system, start, s, x, kept);
    return mabd_dual_tree_eliminate_arm(w, system, start, s, x, kept);
}

// Return sum - w' z for columns of W_i and Z_j of an arm with `rows` rows, or of Z_i and y, whose
// entries are contiguous.
MABD_FN mabd_real mabd_dual_tree_sub_arm(int rows, const mabd_real* w, const mabd_real* z,
                                         int z_step, mabd_real sum) {
    for (int k = 0; k < rows; k++) sum -= w[k * MABD_JUNCTION_SLOT] * z[k * z_step];
    return sum;
}
