// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/dense_lu.h: solutions put back into random matrices, rows of different units,
// singular matrices.

#include "dual/dense_lu.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

#define SIZE 24

// Largest |A x - b| over the sizes of its terms; transposed: of A'x.
static double rest_of(int n, const mabd_real* A, const mabd_real* x, const mabd_real* b,
                      bool transposed) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int k = 0; k < n; k++) {
            const double term = A[transposed ? k * n + i : i * n + k] * x[k];
            sum += term, size += fabs(term);
        }
        most = fmax(most, fabs(sum) / size);
    }
    return most;
}

Test(dense_lu, solutions_satisfy_their_systems) {
    uint64_t state = 3;
    for (int n = 1; n <= SIZE; n++) {
        mabd_real A[SIZE * SIZE], F[SIZE * SIZE], b[SIZE], x[SIZE], scale[SIZE];
        int32_t pivot[SIZE], bad = 0;
        for (int i = 0; i < n * n; i++) { // rows from 1 to 1e-12
            A[i] = draw_real(&state) * pow(10, -(i / n) % 13);
        }
        for (int i = 0; i < n; i++) b[i] = draw_real(&state);
        memcpy(F, A, sizeof A);
        cr_assert(mabd_dense_lu_factor(n, F, pivot, scale, &bad));
        cr_expect(eq(int, bad, -1));
        memcpy(x, b, sizeof b);
        mabd_dense_lu_solve(n, F, pivot, x);
        cr_expect(lt(dbl, rest_of(n, A, x, b, false), 1e-12), "%d", n);
        memcpy(x, b, sizeof b);
        mabd_dense_lu_solve_transposed(n, F, pivot, x);
        cr_expect(lt(dbl, rest_of(n, A, x, b, true), 1e-12), "%d", n);
    }
}

// Several right-hand sides at once, as columns: the same solutions as one by one.
Test(dense_lu, solutions_of_columns_satisfy_their_systems) {
    enum { COLUMNS = 5 };
    uint64_t state = 8;
    for (int n = 1; n <= SIZE; n++) {
        mabd_real A[SIZE * SIZE], F[SIZE * SIZE], B[SIZE * COLUMNS], X[SIZE * COLUMNS], scale[SIZE];
        int32_t pivot[SIZE], bad = 0;
        for (int i = 0; i < n * n; i++) A[i] = i % 3 == 1 ? 0 : draw_real(&state);
        for (int i = 0; i < n; i++) A[i * n + (i + 1) % n] += 2;
        for (int i = 0; i < n * COLUMNS; i++) B[i] = X[i] = draw_real(&state);
        memcpy(F, A, sizeof A);
        cr_assert(mabd_dense_lu_factor(n, F, pivot, scale, &bad));
        mabd_dense_lu_solve_rows(n, F, pivot, COLUMNS, X);
        for (int c = 0; c < COLUMNS; c++) {
            mabd_real x[SIZE], b[SIZE];
            for (int i = 0; i < n; i++) x[i] = X[i * COLUMNS + c], b[i] = B[i * COLUMNS + c];
            cr_expect(lt(dbl, rest_of(n, A, x, b, false), 1e-11), "%d", n);
        }
    }
}

Test(dense_lu, a_singular_matrix_names_its_column) {
    mabd_real A[9] = {1, 2, 3, 0, 0, 0, 4, 5, 6}, scale[3];
    int32_t pivot[3], bad = -1;
    cr_expect(not(mabd_dense_lu_factor(3, A, pivot, scale, &bad)));
    cr_expect(eq(int, bad, 2));
    mabd_real B[1] = {NAN};
    cr_expect(not(mabd_dense_lu_factor(1, B, pivot, scale, &bad)));
}
