// SPDX-License-Identifier: Apache-2.0
// Blocks with six columns, of joints with three rotation springs, by rows in registers: four and
// two entries. Every entry is the same sum in the same order as in math/block.h, so the bits are
// the same.
#pragma once

#include "math/block.h"

#include <string.h>

typedef mabd_real mabd_tree_four __attribute__((vector_size(4 * sizeof(mabd_real))));
typedef mabd_real mabd_tree_two __attribute__((vector_size(2 * sizeof(mabd_real))));

typedef struct mabd_dual_tree_row {
    mabd_tree_four a;
    mabd_tree_two b;
} mabd_dual_tree_row;

MABD_HOT mabd_dual_tree_row mabd_dual_tree_load_row(const mabd_real* p) {
    mabd_dual_tree_row r;
    memcpy(&r.a, p, sizeof r.a);
    memcpy(&r.b, p + 4, sizeof r.b);
    return r;
}
MABD_HOT void mabd_dual_tree_store_row(mabd_dual_tree_row r, mabd_real* p) {
    memcpy(p, &r.a, sizeof r.a);
    memcpy(p + 4, &r.b, sizeof r.b);
}
// r - s q
MABD_HOT mabd_dual_tree_row mabd_dual_tree_sub_row(mabd_dual_tree_row r, mabd_real s,
                                                   mabd_dual_tree_row q) {
    r.a -= s * q.a, r.b -= s * q.b;
    return r;
}
MABD_HOT mabd_dual_tree_row mabd_dual_tree_scale_row(mabd_real s, mabd_dual_tree_row q) {
    q.a = s * q.a, q.b = s * q.b;
    return q;
}

// Compute mabd_block_lower of U (w x 6).
MABD_HOT void mabd_dual_tree_lower_six(int w, const mabd_real* MABD_RESTRICT L,
                                       mabd_real* MABD_RESTRICT U) {
    mabd_dual_tree_row W[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        W[i] = mabd_dual_tree_load_row(U + 6 * i);
        MABD_UNROLL
        for (int k = 0; k < i; k++) W[i] = mabd_dual_tree_sub_row(W[i], L[i * w + k], W[k]);
        mabd_dual_tree_store_row(W[i], U + 6 * i);
    }
}

// Compute mabd_block_reduce of W (w x 6) on whole rows of four of S; this may also change its upper
// triangle.
MABD_HOT void mabd_dual_tree_reduce_six(int w, const mabd_real* MABD_RESTRICT L,
                                        mabd_real* MABD_RESTRICT W, mabd_real* MABD_RESTRICT S) {
    mabd_dual_tree_row Z[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int i = 0; i < w; i++)
        Z[i] = mabd_dual_tree_scale_row(L[i * w + i], mabd_dual_tree_load_row(W + 6 * i));
    MABD_UNROLL
    for (int r = 0; r < 4; r++) {
        mabd_tree_four sum;
        memcpy(&sum, S + 6 * r, sizeof sum);
        MABD_UNROLL
        for (int i = 0; i < w; i++) sum -= W[6 * i + r] * Z[i].a;
        memcpy(S + 6 * r, &sum, sizeof sum);
    }
    MABD_UNROLL
    for (int r = 4; r < 6; r++) {
        mabd_dual_tree_row sum = mabd_dual_tree_load_row(S + 6 * r);
        MABD_UNROLL
        for (int i = 0; i < w; i++) sum = mabd_dual_tree_sub_row(sum, W[6 * i + r], Z[i]);
        mabd_dual_tree_store_row(sum, S + 6 * r);
    }
    MABD_UNROLL
    for (int i = 0; i < w; i++) mabd_dual_tree_store_row(Z[i], W + 6 * i);
}

// C (6 x 6) -= W' Z of W, Z (w x 6)
MABD_HOT void mabd_dual_tree_sub_product_six(int w, const mabd_real* MABD_RESTRICT W,
                                             const mabd_real* MABD_RESTRICT Z,
                                             mabd_real* MABD_RESTRICT C) {
    mabd_dual_tree_row rows[MABD_BLOCK_MAX];
    MABD_UNROLL
    for (int k = 0; k < w; k++) rows[k] = mabd_dual_tree_load_row(Z + 6 * k);
    MABD_UNROLL
    for (int r = 0; r < 6; r++) {
        mabd_dual_tree_row sum = mabd_dual_tree_load_row(C + 6 * r);
        MABD_UNROLL
        for (int k = 0; k < w; k++) sum = mabd_dual_tree_sub_row(sum, W[6 * k + r], rows[k]);
        mabd_dual_tree_store_row(sum, C + 6 * r);
    }
}
