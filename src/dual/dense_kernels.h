// SPDX-License-Identifier: Apache-2.0
// Dense kernels of the block factorisations, on tiles of 8 rows.
//
// A front's columns of L are kept tile by tile: 8 rows of all columns, column after column,
//
//     L[(i / 8) * 8 * width + 8 * k + i % 8]      row i, column k
//
// so a product of two tiles reads both without a stride. Vectors run over the 8 rows of a tile;
// every element is summed over k in ascending order, one product at a time. So the length of the
// machine's vectors does not change a bit of the result.
#pragma once

#include "math/block.h"

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

/// One call per count from 1 to 8: the compiler unrolls loops of constant length.
#define MABD_FOR_COUNT(n, call)                                                                    \
    switch (n) {                                                                                   \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 5:                                                                                        \
        call(5);                                                                                   \
        break;                                                                                     \
    case 6:                                                                                        \
        call(6);                                                                                   \
        break;                                                                                     \
    case 7:                                                                                        \
        call(7);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(8);                                                                                   \
        break;                                                                                     \
    }

/// to[i] = from[i stride], n a constant
MABD_HOT void mabd_dual_copy_just(int n, const mabd_real* MABD_RESTRICT from, int64_t stride,
                                  double* MABD_RESTRICT to) {
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) to[i] = (double)from[i * stride];
}
/// to[i] = from[i stride]
MABD_HOT void mabd_dual_copy(int32_t n, const mabd_real* from, int64_t stride, double* to) {
    for (; n > MABD_TILE; n -= MABD_TILE, from += MABD_TILE * stride, to += MABD_TILE) {
        mabd_dual_copy_just(MABD_TILE, from, stride, to);
    }
#define CALL(count) mabd_dual_copy_just(count, from, stride, to)
    MABD_FOR_COUNT(n, CALL)
#undef CALL
}

/// to += from, n a constant
MABD_HOT void mabd_dual_add_just(int n, const double* MABD_RESTRICT from,
                                 double* MABD_RESTRICT to) {
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) to[i] += from[i];
}
/// to += from
MABD_HOT void mabd_dual_add(int32_t n, const double* from, double* to) {
    for (; n >= MABD_TILE; n -= MABD_TILE, from += MABD_TILE, to += MABD_TILE) {
        mabd_dual_column_store(
            mabd_dual_column_add(mabd_dual_column_load(to), mabd_dual_column_load(from)), to);
    }
    if (n == 0) return;
#define CALL(count) mabd_dual_add_just(count, from, to)
    MABD_FOR_COUNT(n, CALL)
#undef CALL
}

/// to += from, rows x columns, the number of rows a constant
MABD_HOT void mabd_dual_add_columns(int rows, int32_t columns, const double* from,
                                    int64_t from_stride, double* to, int64_t to_stride) {
    for (int32_t j = 0; j < columns; j++)
        mabd_dual_add_just(rows, from + j * from_stride, to + j * to_stride);
}
/// to += from, rows x columns
static inline void mabd_dual_add_block(int32_t rows, int32_t columns, const double* from,
                                       int64_t from_stride, double* to, int64_t to_stride) {
    if (rows <= MABD_TILE) {
#define CALL(n) mabd_dual_add_columns(n, columns, from, from_stride, to, to_stride)
        MABD_FOR_COUNT(rows, CALL)
#undef CALL
        return;
    }
    for (int32_t j = 0; j < columns; j++)
        mabd_dual_add(rows, from + j * from_stride, to + j * to_stride);
}

/// Return the smaller number.
MABD_HOT int mabd_dual_at_most(int a, int b) {
    return a < b ? a : b;
}

/// T (8 x n, columns `stride` apart) = from - A B', `from` null: 0 - A B'. The width of a strip is
/// a constant in each case, so that its sums stay in registers.
MABD_HOT void mabd_dual_tile_sub(int n, int32_t depth, const double* A, const double* B,
                                 const double* from, double* T, int64_t stride) {
#pragma GCC unroll 4
    for (int j = 0; j < n; j += MABD_STRIP) {
        mabd_dual_tile_strip(mabd_dual_at_most(n - j, MABD_STRIP), depth, A, B + j,
                             from ? from + j * stride : NULL, T + j * stride, stride);
    }
}

/// x[i ..] = L_ii^-1 (x[i ..] - L_ik x_k), n rows; L points at the first column of their tile
MABD_HOT void mabd_dual_tile_forward(int n, const double* L, int64_t i, double* x) {
    double z[MABD_TILE] = {0};
    if (i > 0) {
        mabd_dual_column sum = {{{0}}};
        for (int64_t k = 0; k < i; k++) {
            sum = mabd_dual_column_sub(sum, mabd_dual_column_load(L + MABD_TILE * k), x[k]);
        }
        mabd_dual_column_store(sum, z);
    }
    L += MABD_TILE * i;
    x += i;
#pragma GCC unroll 8
    for (int r = 0; r < n; r++) z[r] += x[r];
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
#pragma GCC unroll 8
        for (int r = j + 1; r < n; r++) z[r] -= L[MABD_TILE * j + r] * z[j];
    }
#pragma GCC unroll 8
    for (int r = 0; r < n; r++) x[r] = z[r];
}

/// z = T'^-1 z, n rows, T unit lower triangular
MABD_HOT void mabd_dual_tile_backward(int n, const double* T, double* z) {
#pragma GCC unroll 8
    for (int c = n - 2; c >= 0; c--) {
        double sum = z[c];
#pragma GCC unroll 8
        for (int r = n - 1; r > c; r--) sum -= T[MABD_TILE * c + r] * z[r];
        z[c] = sum;
    }
}

/// Return the sum of a column's 8 entries, always in the same order.
MABD_HOT double mabd_dual_column_sum(const double* p) {
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

/// Subtract from z (n) the sum over `count` tiles of L_i' y_i, n columns. L points at the first
/// column of the first tile, the next tile is `tile` doubles further; y (8 count).
MABD_HOT void mabd_dual_tile_dots(int n, const double* L, int64_t tile, int64_t count,
                                  const double* y, double* z) {
    mabd_dual_column sum[MABD_TILE];
    double parts[MABD_TILE];
    const uintptr_t ahead =
        (uintptr_t)(4 * tile) * sizeof(double); // tiles are far apart where they are many
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) sum[c] = (mabd_dual_column){{{0}}};
    for (int64_t i = 0; i < count; i++, L += tile) {
        const mabd_dual_column factor = mabd_dual_column_load(y + MABD_TILE * i);
#pragma GCC unroll 8
        for (int c = 0; c < n; c++) {
            const double* column = L + MABD_TILE * c;
            MABD_PREFETCH((uintptr_t)column + ahead);
            sum[c] = mabd_dual_column_add_product(sum[c], mabd_dual_column_load(column), factor);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
        mabd_dual_column_store(sum[c], parts);
        z[c] -= mabd_dual_column_sum(parts);
    }
}
