// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/dense_upper.c: U'U against the matrix, solutions against their right-hand
// sides, the bits of all instruction sets.
#include "dual/dense_upper.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 61

static double draw(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

// M'M + 0.1, and its upper triangle with other numbers below.
static void draw_matrix(size_t n, uint64_t* state, mabd_real* A, mabd_real* upper) {
    mabd_real M[MOST * MOST];
    for (size_t i = 0; i < n * n; i++) M[i] = (mabd_real)draw(state);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            mabd_real sum = i == k ? (mabd_real)0.1 : 0;
            for (size_t j = 0; j < n; j++) sum += M[j * n + i] * M[j * n + k];
            A[i * n + k] = sum, upper[i * n + k] = k < i ? 77 : sum;
        }
    }
}

Test(dense_upper, factors_and_solves) {
    mabd_real A[MOST * MOST], U[MOST * MOST], x[MOST], b[MOST];
    uint64_t state = 3;
    mabd_dense_upper_factor_fn* factor = mabd_dense_upper_factor_of(mabd_isa_count() - 1);
    for (size_t n = 1; n <= MOST; n++) {
        draw_matrix(n, &state, A, U);
        cr_assert(factor(n, U), "%d", (int)n);
        for (size_t i = 0; i < n; i++) x[i] = b[i] = (mabd_real)draw(&state);
        mabd_dense_upper_solve(n, U, x);
        for (size_t i = 0; i < n; i++) {
            double row = -(double)b[i], size = 1;
            for (size_t k = 0; k < n; k++) {
                double sum = 0;
                for (size_t j = 0; j <= (i < k ? i : k); j++) {
                    sum += (double)(U[j * n + i] * U[j * n + k]);
                }
                cr_expect(lt(dbl, fabs(sum - (double)A[i * n + k]), 1e-13 * (double)n), "%d",
                          (int)n);
                row += (double)(A[i * n + k] * x[k]);
                size += fabs((double)(A[i * n + k] * x[k]));
            }
            cr_expect(lt(dbl, fabs(row), 1e-13 * (double)n * size), "%d", (int)n);
            for (size_t k = 0; k < i; k++) cr_expect(eq(dbl, (double)U[i * n + k], 77));
        }
    }
}

Test(dense_upper, has_the_same_bits_on_every_instruction_set) {
    mabd_real A[MOST * MOST], U[MOST * MOST], first[MOST * MOST];
    uint64_t state = 5;
    draw_matrix(MOST, &state, A, first);
    memcpy(A, first, sizeof A);
    cr_assert(mabd_dense_upper_factor_of(0)(MOST, first));
    for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
        memcpy(U, A, sizeof U);
        cr_assert(mabd_dense_upper_factor_of(isa)(MOST, U));
        cr_expect(eq(int, memcmp(U, first, sizeof U), 0), "%s", mabd_isa_name(isa));
    }
}

Test(dense_upper, refuses_a_matrix_that_is_not_positive) {
    mabd_dense_upper_factor_fn* factor = mabd_dense_upper_factor_of(mabd_isa_count() - 1);
    for (size_t bad = 0; bad < 20; bad++) {
        mabd_real A[20 * 20] = {0};
        for (size_t i = 0; i < 20; i++) A[21 * i] = i == bad ? -1 : 1;
        cr_expect(eq(int, factor(20, A), false), "%d", (int)bad);
    }
}
