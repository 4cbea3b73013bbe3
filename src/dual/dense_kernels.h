// SPDX-License-Identifier: Apache-2.0
// Dense kernels of the block factorisation, on tiles of 8 rows.
//
// A front's columns of L are kept tile by tile: 8 rows of all columns, column after column,
//
//     L[(i / 8) * 8 * width + 8 * k + i % 8]      row i, column k
//
// so a product of two tiles reads both without a stride. Vectors run over the 8 rows of a tile;
// every element is summed over k in ascending order, one product at a time. So the length of the
// machine's vectors does not change a bit of the result.
#pragma once

#include "math/shared.h"

#define MABD_TILE 8

// Doubles of one machine vector, vectors of one tile's column, and columns held in registers at
// once.
#if defined(__AVX512F__)
#define MABD_LANES 8
#define MABD_STRIP 8
#elif defined(__AVX__)
#define MABD_LANES 4
#define MABD_STRIP 4
#else
#define MABD_LANES 2
#define MABD_STRIP 2
#endif
#define MABD_PARTS (MABD_TILE / MABD_LANES)

typedef double mabd_lanes
    __attribute__((vector_size(MABD_LANES * sizeof(double)), aligned(8), may_alias));

typedef int64_t mabd_mask __attribute__((vector_size(MABD_LANES * sizeof(int64_t)), aligned(8)));

/// Column of a tile, 8 rows.
typedef struct mabd_dual_column {
    mabd_lanes part[MABD_PARTS];
} mabd_dual_column;

MABD_HOT mabd_dual_column mabd_dual_column_load(const double* p) {
    mabd_dual_column c;
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) c.part[i] = *(const mabd_lanes*)(p + i * MABD_LANES);
    return c;
}
MABD_HOT void mabd_dual_column_store(mabd_dual_column c, double* p) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) *(mabd_lanes*)(p + i * MABD_LANES) = c.part[i];
}
/// c - a b
MABD_HOT mabd_dual_column mabd_dual_column_sub(mabd_dual_column c, mabd_dual_column a, double b) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) c.part[i] -= a.part[i] * b;
    return c;
}
/// a b
MABD_HOT mabd_dual_column mabd_dual_column_scale(mabd_dual_column a, double b) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) a.part[i] *= b;
    return a;
}

/// a + b
MABD_HOT mabd_dual_column mabd_dual_column_add(mabd_dual_column a, mabd_dual_column b) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) a.part[i] += b.part[i];
    return a;
}
/// c + a b, row by row
MABD_HOT mabd_dual_column mabd_dual_column_add_product(mabd_dual_column c, mabd_dual_column a,
                                                       mabd_dual_column b) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) c.part[i] += a.part[i] * b.part[i];
    return c;
}

/// Set entries of magnitude up to MABD_NOTHING to 0; NaN stays. Distant rows of L decay, and
/// products below the range of normal numbers take a hundred times as long.
#define MABD_NOTHING 1e-120
MABD_HOT mabd_dual_column mabd_dual_column_clean(mabd_dual_column a) {
#pragma GCC unroll 4
    for (int i = 0; i < MABD_PARTS; i++) {
        const mabd_lanes x = a.part[i];
        a.part[i] = (mabd_lanes)((mabd_mask)x & ~((x <= MABD_NOTHING) & (x >= -MABD_NOTHING)));
    }
    return a;
}

/// T -= A B', n columns of T: A a tile of `depth` columns, B (depth x 8) with the rows that belong
/// to the columns of T; T has its columns `stride` apart.
MABD_HOT void mabd_dual_tile_strip(int n, int32_t depth, const double* MABD_RESTRICT A,
                                   const double* MABD_RESTRICT B, const double* from, double* T,
                                   int64_t stride) {
    mabd_dual_column sum[MABD_STRIP];
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
        if (from)
            sum[j] = mabd_dual_column_load(from + j * stride);
        else
            sum[j] = (mabd_dual_column){{{0}}};
    }
    for (int32_t k = 0; k < depth; k++) {
        const mabd_dual_column a = mabd_dual_column_load(A + MABD_TILE * (int64_t)k);
        const double* b = B + MABD_TILE * (int64_t)k;
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) sum[j] = mabd_dual_column_sub(sum[j], a, b[j]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) mabd_dual_column_store(sum[j], T + j * stride);
}
