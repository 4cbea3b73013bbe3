// SPDX-License-Identifier: Apache-2.0
#include "dual/dense_upper.h"

#include <math.h>

/// Rows that are eliminated at a time.
#define ROWS 8

// row -= sum_p u[p] U_p, from column `from` on.
static void subtract_rows(size_t n, size_t from, const mabd_real* U, const mabd_real* u,
                          mabd_real* MABD_RESTRICT row) {
    const mabd_real *a = U, *b = U + n, *c = U + 2 * n, *d = U + 3 * n;
    const mabd_real *e = U + 4 * n, *f = U + 5 * n, *g = U + 6 * n, *h = U + 7 * n;
    for (size_t i = from; i < n; i++) {
        const mabd_real low = (u[0] * a[i] + u[1] * b[i]) + (u[2] * c[i] + u[3] * d[i]);
        const mabd_real high = (u[4] * e[i] + u[5] * f[i]) + (u[6] * g[i] + u[7] * h[i]);
        row[i] -= low + high;
    }
}

// Factor rows p .. end - 1 among themselves.
static bool factor_rows(size_t n, size_t p, size_t end, mabd_real* U) {
    for (size_t j = p; j < end; j++) {
        mabd_real* MABD_RESTRICT own = U + j * n;
        if (!(own[j] > 0)) return false;
        const mabd_real root = (mabd_real)sqrt(own[j]);
        own[j] = root;
        for (size_t i = j + 1; i < n; i++) own[i] /= root;
        for (size_t k = j + 1; k < end; k++) {
            mabd_real* MABD_RESTRICT row = U + k * n;
            const mabd_real u = own[k];
            for (size_t i = k; i < n; i++) row[i] -= u * own[i];
        }
    }
    return true;
}

bool MABD_UPPER_JOIN(factor, MABD_ISA)(size_t n, mabd_real* A) {
    for (size_t p = 0; p < n; p += ROWS) {
        const size_t end = p + ROWS < n ? p + ROWS : n;
        if (!factor_rows(n, p, end, A)) return false;
        for (size_t k = end; k < n; k++) {
            mabd_real u[ROWS];
            for (size_t m = 0; m < ROWS; m++) u[m] = A[(p + m) * n + k];
            subtract_rows(n, k, A + p * n, u, A + k * n);
        }
    }
    return true;
}
