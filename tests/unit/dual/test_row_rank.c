// SPDX-License-Identifier: Apache-2.0
// Rank and redundant rows of dense matrices. Matrices with a known rank are products of random
// factors with independent columns; the rows that are kept must have that rank again, which
// Gram-Schmidt in the test's own code decides, and be well conditioned.
#include "dual/row_rank.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    40
#define COLUMNS 30

static mabd_allocator heap;
static uint32_t seed;

static void setup(void) {
    heap = mabd_default_allocator();
}
TestSuite(row_rank, .init = setup);

static double draw(void) {
    seed = seed * 1664525U + 1013904223U;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

// M (rows x columns) of a rank, rows of very different lengths.
static void make_matrix(int rows, int columns, int rank, double* M) {
    double L[ROWS * COLUMNS], R[ROWS * COLUMNS];
    for (int i = 0; i < rows * rank; i++) L[i] = draw();
    for (int i = 0; i < rank * columns; i++) R[i] = draw();
    for (int i = 0; i < rows; i++) {
        const double scale = pow(10, 3 * draw());
        for (int k = 0; k < columns; k++) {
            M[i * columns + k] = 0;
            for (int m = 0; m < rank; m++) {
                M[i * columns + k] += scale * L[i * rank + m] * R[m * columns + k];
            }
        }
    }
}

// Rank of the rows without those of `dropped`, and the least part of a row that is left beside the
// others in Gram-Schmidt.
static int gram_schmidt(int rows, int columns, const double* M, const bool* dropped,
                        double* smallest) {
    double Q[ROWS][COLUMNS];
    int rank = 0;
    *smallest = 1;
    for (int i = 0; i < rows; i++) {
        double *q = Q[rank], before = 0, after = 0;
        if (dropped[i]) continue;
        memcpy(q, M + i * columns, (size_t)columns * sizeof *q);
        for (int k = 0; k < columns; k++) before += q[k] * q[k];
        for (int pass = 0; pass < 2; pass++) {
            for (int m = 0; m < rank; m++) {
                double dot = 0;
                for (int k = 0; k < columns; k++) dot += q[k] * Q[m][k];
                for (int k = 0; k < columns; k++) q[k] -= dot * Q[m][k];
            }
        }
        for (int k = 0; k < columns; k++) after += q[k] * q[k];
        if (after < 1e-20 * before) continue;
        *smallest = fmin(*smallest, sqrt(after / before));
        for (int k = 0; k < columns; k++) q[k] /= sqrt(after);
        rank++;
    }
    return rank;
}

static void expect_rank(int rows, int columns, int rank, int locked) {
    double M[ROWS * COLUMNS], smallest;
    bool may[ROWS], dropped[ROWS] = {false};
    mabd_row_rank* analysis = NULL;
    make_matrix(rows, columns, rank, M);
    for (int i = 0; i < rows; i++) may[i] = i >= locked;
    cr_assert(mabd_row_rank_create(&heap, ROWS, COLUMNS, true, &analysis) == MABD_OK);
    double* A = mabd_row_rank_begin(analysis, rows, columns);
    memcpy(A, M, (size_t)(rows * columns) * sizeof *A);
    cr_expect(eq(int, mabd_row_rank_find(analysis, 1e-9), rank), "%d x %d", rows, columns);
    cr_expect(mabd_row_rank_choose(analysis, rows - rank, may, dropped));
    int count = 0;
    for (int i = 0; i < rows; i++) {
        count += dropped[i];
        cr_expect(may[i] || !dropped[i], "row %d may not be left out", i);
    }
    cr_expect(eq(int, count, rows - rank));
    cr_expect(eq(int, gram_schmidt(rows, columns, M, dropped, &smallest), rank));
    cr_expect(smallest > 1e-4, "%d x %d of rank %d: %g", rows, columns, rank, smallest);
    mabd_row_rank_destroy(&heap, analysis);
}

Test(row_rank, rows_that_are_kept_have_the_rank_of_all) {
    seed = 5;
    expect_rank(40, 30, 22, 0);
    expect_rank(12, 30, 7, 0);
    expect_rank(9, 9, 9, 0);
    expect_rank(40, 30, 30, 0);
    expect_rank(20, 6, 5, 5); // the first five may not be left out
}

// Row 2 is the sum of rows 0 and 1, and row 3 is independent: one of the first three goes, and the
// one with the largest entry in z = (1, 1, -sqrt 2)/2 of the normalised rows is the sum.
Test(row_rank, leaves_out_the_row_with_the_smallest_coefficients) {
    const double M[16] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1};
    const bool may[4] = {true, true, true, true};
    bool dropped[4] = {false};
    mabd_row_rank* analysis = NULL;
    cr_assert(mabd_row_rank_create(&heap, 4, 4, true, &analysis) == MABD_OK);
    memcpy(mabd_row_rank_begin(analysis, 4, 4), M, sizeof M);
    cr_expect(eq(int, mabd_row_rank_find(analysis, 1e-9), 3));
    cr_expect(mabd_row_rank_choose(analysis, 1, may, dropped));
    cr_expect(dropped[2] && !dropped[0] && !dropped[1] && !dropped[3]);
    const bool none[4] = {false};
    cr_expect(not(mabd_row_rank_choose(analysis, 1, none, dropped)), "no row may be left out");
    mabd_row_rank_destroy(&heap, analysis);
}

Test(row_rank, refuses_what_is_not_finite) {
    mabd_row_rank* analysis = NULL;
    cr_assert(mabd_row_rank_create(&heap, 3, 3, false, &analysis) == MABD_OK);
    mabd_row_rank_begin(analysis, 3, 3)[4] = NAN;
    cr_expect(eq(int, mabd_row_rank_find(analysis, 1e-9), -1));
    mabd_row_rank_destroy(&heap, analysis);
}
