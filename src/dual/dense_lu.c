// SPDX-License-Identifier: Apache-2.0
#include "dual/dense_lu.h"

#include <math.h>

// a (n) += s b
static void add_row(int32_t n, mabd_real s, const mabd_real* b, mabd_real* a) {
    for (int32_t i = 0; i < n; i++) a[i] += s * b[i];
}

static void exchange(mabd_real* a, mabd_real* b) {
    const mabd_real x = *a;
    *a = *b, *b = x;
}

// scale = 1 / largest entry of a row; a row of zeros keeps 0 and is never a pivot.
static void set_scales(int32_t n, const mabd_real* A, mabd_real* scale) {
    for (int32_t i = 0; i < n; i++) {
        mabd_real most = 0;
        for (int32_t k = 0; k < n; k++) {
            const mabd_real size = (mabd_real)fabs(A[(size_t)i * (size_t)n + (size_t)k]);
            if (size > most) most = size;
        }
        scale[i] = most > 0 ? 1 / most : 0;
    }
}

// Bring the pivot of column k to row k; false if there is none.
static bool find_pivot(int32_t n, int32_t k, mabd_real* A, int32_t* pivot, mabd_real* scale) {
    const size_t width = (size_t)n;
    int32_t best = k;
    mabd_real most = 0;
    for (int32_t i = k; i < n; i++) {
        const mabd_real size = (mabd_real)fabs(A[(size_t)i * width + (size_t)k]) * scale[i];
        if (size > most) most = size, best = i;
    }
    pivot[k] = best;
    if (best != k) {
        mabd_real *a = A + (size_t)k * width, *b = A + (size_t)best * width;
        for (size_t c = 0; c < width; c++) exchange(a + c, b + c);
        exchange(scale + k, scale + best);
    }
    return most > 0 && isfinite(most);
}

bool mabd_dense_lu_factor(int32_t n, mabd_real* A, int32_t* pivot, mabd_real* scale, int32_t* bad) {
    const size_t width = (size_t)n;
    set_scales(n, A, scale);
    for (int32_t k = 0; k < n; k++) {
        *bad = k;
        if (!find_pivot(n, k, A, pivot, scale)) return false;
        const mabd_real* row = A + (size_t)k * width;
        const mabd_real over = 1 / row[k];
        for (int32_t i = k + 1; i < n; i++) {
            mabd_real* own = A + (size_t)i * width;
            own[k] *= over;
            if (own[k] != 0) add_row(n - k - 1, -own[k], row + k + 1, own + k + 1);
        }
    }
    *bad = -1;
    return true;
}

void mabd_dense_lu_solve(int32_t n, const mabd_real* A, const int32_t* pivot, mabd_real* x) {
    const size_t width = (size_t)n;
    for (int32_t k = 0; k < n; k++) exchange(x + k, x + pivot[k]);
    for (int32_t i = 1; i < n; i++) {
        const mabd_real* row = A + (size_t)i * width;
        for (int32_t k = 0; k < i; k++) x[i] -= row[k] * x[k];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const mabd_real* row = A + (size_t)i * width;
        for (int32_t k = i + 1; k < n; k++) x[i] -= row[k] * x[k];
        x[i] /= row[i];
    }
}

void mabd_dense_lu_solve_transposed(int32_t n, const mabd_real* A, const int32_t* pivot,
                                    mabd_real* x) {
    const size_t width = (size_t)n;
    for (int32_t i = 0; i < n; i++) {
        const mabd_real* row = A + (size_t)i * width;
        x[i] /= row[i];
        add_row(n - i - 1, -x[i], row + i + 1, x + i + 1);
    }
    for (int32_t i = n - 1; i > 0; i--) add_row(i, -x[i], A + (size_t)i * width, x);
    for (int32_t k = n - 1; k >= 0; k--) exchange(x + k, x + pivot[k]);
}

void mabd_dense_lu_solve_rows(int32_t n, const mabd_real* A, const int32_t* pivot, int32_t columns,
                              mabd_real* X) {
    const size_t width = (size_t)n, m = (size_t)columns;
    for (int32_t k = 0; k < n; k++) {
        mabd_real *a = X + (size_t)k * m, *b = X + (size_t)pivot[k] * m;
        for (size_t c = 0; c < m && a != b; c++) exchange(a + c, b + c);
    }
    for (int32_t i = 1; i < n; i++) {
        const mabd_real* row = A + (size_t)i * width;
        for (int32_t k = 0; k < i; k++) {
            if (row[k] != 0) add_row(columns, -row[k], X + (size_t)k * m, X + (size_t)i * m);
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const mabd_real* row = A + (size_t)i * width;
        mabd_real* own = X + (size_t)i * m;
        for (int32_t k = i + 1; k < n; k++) {
            if (row[k] != 0) add_row(columns, -row[k], X + (size_t)k * m, own);
        }
        for (size_t c = 0; c < m; c++) own[c] /= row[i];
    }
}
