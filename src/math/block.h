// SPDX-License-Identifier: Apache-2.0
// Small dense blocks, row-major, 1..6 rows: the kernels of block elimination in root-free Cholesky
// form.
//
//   S = L d L'      L unit lower triangular, d > 0; kept as L below the diagonal and 1/d on it
//   W = L^-1 U      Z = d^-1 W      S_next = D_next - W' Z
//
// One source serves every width: each function is inlined into its caller, and a caller that passes
// a constant width gets straight-line code with the blocks in registers. There are no square roots,
// one division per pivot, and two pivots at a time. Each sum adds the operand that becomes
// available last at its end, because along a chain the latency of these operations determines the
// time, not their number.
#pragma once

#include "math/shared.h"

#include <math.h>

#define MABD_BLOCK_MAX 6

#if defined(__CUDACC__)
#define MABD_BLOCK_FN static __host__ __device__ __forceinline__
#define MABD_UNROLL   _Pragma("unroll")
#elif defined(__clang__)
#define MABD_BLOCK_FN          static inline __attribute__((always_inline))
#define MABD_UNROLL            // nvcc unrolls constant loops itself and warns about the others
#define MABD_PREFETCH(address) __builtin_prefetch((const void*)(address))
#elif defined(__GNUC__)
#define MABD_BLOCK_FN          static inline __attribute__((always_inline))
#define MABD_UNROLL            _Pragma("GCC unroll 6")
#define MABD_PREFETCH(address) __builtin_prefetch((const void*)(address))
#else
#define MABD_BLOCK_FN MABD_FN
#define MABD_UNROLL
#endif
#ifndef MABD_PREFETCH
#define MABD_PREFETCH(address) ((void)(address))
#endif
/// Prefetch the cache line at an address into the second level of the cache.
#if defined(__GNUC__) && !defined(MABD_ON_DEVICE)
#define MABD_PREFETCH_FAR(address) __builtin_prefetch((const void*)(address), 0, 2)
#else
#define MABD_PREFETCH_FAR(address) ((void)(address))
#endif

/// Prefetch the w x v block `ahead` blocks after p, which need not exist.
MABD_BLOCK_FN void mabd_block_prefetch(int w, int v, const mabd_real* p, int ahead) {
    uintptr_t bytes = (uintptr_t)(w * v) * sizeof(mabd_real);
    uintptr_t address = (uintptr_t)p + (uintptr_t)(intptr_t)ahead * bytes;
    MABD_PREFETCH(address);
    if (bytes > 64) MABD_PREFETCH(address + 64);
    if (bytes > 128) MABD_PREFETCH(address + 128);
    if (bytes > 192) MABD_PREFETCH(address + 192);
    if (bytes > 256) MABD_PREFETCH(address + 256);
}

/// Copy the lower triangle of a w x w block.
MABD_BLOCK_FN void mabd_block_copy_lower(int w, const mabd_real* from, mabd_real* to) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int j = 0; j <= i; j++) to[i * w + j] = from[i * w + j];
    }
}

/// Return true if `reciprocal` is positive and finite, and so is its inverse; false for NaN.
MABD_BLOCK_FN bool mabd_block_is_pivot(mabd_real reciprocal) {
    return reciprocal > 0 && reciprocal < (mabd_real)INFINITY;
}

/// Eliminate column j of S: write the entries of L below the diagonal and 1/d on it, and reduce the
/// rest of the lower triangle. False if the pivot is not positive or not finite.
MABD_BLOCK_FN bool mabd_block_pivot_one(int w, int j, mabd_real* S) {
    mabd_real r = 1 / S[j * w + j];
    MABD_UNROLL
    for (int i = j + 1; i < w; i++) {
        MABD_UNROLL
        for (int k = j + 1; k <= i; k++) S[i * w + k] -= (S[i * w + j] * r) * S[k * w + j];
    }
    S[j * w + j] = r;
    MABD_UNROLL
    for (int i = j + 1; i < w; i++) S[i * w + j] *= r;
    return mabd_block_is_pivot(r);
}

/// Eliminate columns j and j + 1 of S. With s = S_jj, e = S_{j+1,j} and the minor m = s S_{j+1,j+1}
/// - e^2 the pivots are s and m / s; 1/s and 1/m are computed side by side. Column j + 1 below the
/// pivots is m_i / s before and m_i / m after scaling, m_i = s S_{i,j+1} - S_ij e. Rounding errors
/// are those of one-by-one elimination: relative to s S_{i,j+1}, then divided by s. False if a
/// pivot is not positive or not finite.
MABD_BLOCK_FN bool mabd_block_pivot_two(int w, int j, mabd_real* S) {
    mabd_real s = S[j * w + j], e = S[(j + 1) * w + j];
    mabd_real m = s * S[(j + 1) * w + j + 1] - e * e;
    mabd_real r = 1 / s, q = 1 / m;
    MABD_UNROLL
    for (int i = j + 2; i < w; i++) {
        S[i * w + j + 1] = s * S[i * w + j + 1] - S[i * w + j] * e; // m_i
    }
    MABD_UNROLL
    for (int i = j + 2; i < w; i++) {
        MABD_UNROLL
        for (int k = j + 2; k <= i; k++) {
            mabd_real first = (S[i * w + j] * r) * S[k * w + j];
            mabd_real second = (S[i * w + j + 1] * q) * (S[k * w + j + 1] * r);
            S[i * w + k] = (S[i * w + k] - first) - second;
        }
    }
    S[j * w + j] = r;
    S[(j + 1) * w + j] = e * r;
    S[(j + 1) * w + j + 1] = s * q;
    MABD_UNROLL
    for (int i = j + 2; i < w; i++) {
        S[i * w + j] *= r;
        S[i * w + j + 1] *= q;
    }
    return mabd_block_is_pivot(r) && mabd_block_is_pivot(s * q);
}

/// Factor S (w x w, lower triangle) = L d L' in place: L below the diagonal, 1/d on it. The upper
/// triangle is not written. False if a pivot is not positive or not finite.
MABD_BLOCK_FN bool mabd_block_ldl(int w, mabd_real* S) {
    bool good = true;
    MABD_UNROLL
    for (int j = 0; j + 1 < w; j += 2) good = mabd_block_pivot_two(w, j, S) && good;
    if (w % 2) good = mabd_block_pivot_one(w, w - 1, S) && good;
    return good;
}

/// Compute W = L^-1 U in place of U (w x v), with L of mabd_block_ldl (w x w).
MABD_BLOCK_FN void mabd_block_lower(int w, int v, const mabd_real* MABD_RESTRICT L,
                                    mabd_real* MABD_RESTRICT U) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        // W_i = U_i - sum_k L_ik W_k: row i of W is final
        MABD_UNROLL
        for (int k = 0; k < i; k++) {
            MABD_UNROLL
            for (int c = 0; c < v; c++) U[i * v + c] -= L[i * w + k] * U[k * v + c];
        }
    }
}

/// Compute Z = d^-1 W in place of W (w x v) and subtract W' Z from the lower triangle of S (v x v).
/// L holds 1/d on its diagonal.
MABD_BLOCK_FN void mabd_block_reduce(int w, int v, const mabd_real* MABD_RESTRICT L,
                                     mabd_real* MABD_RESTRICT W, mabd_real* MABD_RESTRICT S) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) {
        MABD_UNROLL
        for (int r = 0; r < v; r++) {
            MABD_UNROLL
            for (int c = 0; c <= r; c++) {
                S[r * v + c] -= W[i * v + r] * (L[i * w + i] * W[i * v + c]);
            }
        }
        MABD_UNROLL
        for (int c = 0; c < v; c++) W[i * v + c] *= L[i * w + i];
    }
}

/// Compute Z = d^-1 L^-1 U in place of U (w x v) and subtract U' L^-T Z from the lower triangle of
/// S (v x v), with L of mabd_block_ldl.
MABD_BLOCK_FN void mabd_block_eliminate(int w, int v, const mabd_real* MABD_RESTRICT L,
                                        mabd_real* MABD_RESTRICT U, mabd_real* MABD_RESTRICT S) {
    mabd_block_lower(w, v, L, U);
    mabd_block_reduce(w, v, L, U, S);
}

/// y (v) -= Z' x, Z (w x v)
MABD_BLOCK_FN void mabd_block_sub_tmul(int w, int v, const mabd_real* MABD_RESTRICT Z,
                                       const mabd_real* MABD_RESTRICT x,
                                       mabd_real* MABD_RESTRICT y) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        MABD_UNROLL
        for (int c = 0; c < v; c++) y[c] -= Z[k * v + c] * x[k];
    }
}

/// y (w) -= Z x, Z (w x v); columns in descending order.
MABD_BLOCK_FN void mabd_block_sub_mul(int w, int v, const mabd_real* MABD_RESTRICT Z,
                                      const mabd_real* MABD_RESTRICT x,
                                      mabd_real* MABD_RESTRICT y) {
    MABD_UNROLL
    for (int c = v - 1; c >= 0; c--) {
        MABD_UNROLL
        for (int i = 0; i < w; i++) y[i] -= Z[i * v + c] * x[c];
    }
}

/// x = L \ x
MABD_BLOCK_FN void mabd_block_solve_l(int w, const mabd_real* MABD_RESTRICT L,
                                      mabd_real* MABD_RESTRICT x) {
    MABD_UNROLL
    for (int k = 0; k < w; k++) {
        MABD_UNROLL
        for (int i = k + 1; i < w; i++) x[i] -= L[i * w + k] * x[k];
    }
}

/// x = d \ x
MABD_BLOCK_FN void mabd_block_solve_d(int w, const mabd_real* MABD_RESTRICT L,
                                      mabd_real* MABD_RESTRICT x) {
    MABD_UNROLL
    for (int i = 0; i < w; i++) x[i] *= L[i * w + i];
}

/// x = L' \ x
MABD_BLOCK_FN void mabd_block_solve_lt(int w, const mabd_real* MABD_RESTRICT L,
                                       mabd_real* MABD_RESTRICT x) {
    MABD_UNROLL
    for (int k = w - 1; k >= 0; k--) {
        MABD_UNROLL
        for (int i = 0; i < k; i++) x[i] -= L[k * w + i] * x[k];
    }
}
