// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting of matrices of one or three rows. Factors are stored with rows of n
// reals while they are computed, and with rows of three reals in a simulation.
#pragma once

#include "math/shared.h"

#include <math.h>

/// Factor D (n x n, row-major, n <= 3) in place: row pivot[k] was exchanged with row k. False if a
/// pivot is not larger than `least`, or is not a number.
MABD_FN bool mabd_small_lu_factor(int n, mabd_real* D, mabd_real least, int8_t* pivot) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int r = k + 1; r < n; r++) {
            if (fabs(D[n * r + k]) > fabs(D[n * best + k])) best = r;
        }
        pivot[k] = (int8_t)best;
        for (int c = 0; c < n && best != k; c++) {
            const mabd_real x = D[n * k + c];
            D[n * k + c] = D[n * best + c], D[n * best + c] = x;
        }
        if (!(fabs(D[n * k + k]) > least)) return false;
        for (int r = k + 1; r < n; r++) {
            D[n * r + k] /= D[n * k + k];
            for (int c = k + 1; c < n; c++) D[n * r + c] -= D[n * r + k] * D[n * k + c];
        }
    }
    return true;
}

/// Solve D x = b in place; rows of D are three reals apart.
MABD_FN void mabd_small_lu_solve(int n, const mabd_real* D, const int8_t* pivot, mabd_real* b) {
    for (int k = 0; k < n; k++) {
        const mabd_real x = b[pivot[k]];
        b[pivot[k]] = b[k], b[k] = x;
    }
    for (int r = 1; r < n; r++) {
        for (int c = 0; c < r; c++) b[r] -= D[3 * r + c] * b[c];
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int c = r + 1; c < n; c++) b[r] -= D[3 * r + c] * b[c];
        b[r] /= D[3 * r + r];
    }
}

/// Solve D'x = b in place; rows of D are three reals apart.
MABD_FN void mabd_small_lu_solve_transposed(int n, const mabd_real* D, const int8_t* pivot,
                                            mabd_real* b) {
    for (int r = 0; r < n; r++) {
        for (int c = 0; c < r; c++) b[r] -= D[3 * c + r] * b[c];
        b[r] /= D[3 * r + r];
    }
    for (int r = n - 2; r >= 0; r--) {
        for (int c = r + 1; c < n; c++) b[r] -= D[3 * c + r] * b[c];
    }
    for (int k = n - 1; k >= 0; k--) {
        const mabd_real x = b[pivot[k]];
        b[pivot[k]] = b[k], b[k] = x;
    }
}
