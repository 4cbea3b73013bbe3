// SPDX-License-Identifier: Apache-2.0
//
// The KKT matrix as one unsymmetric sparse matrix, by UMFPACK, refined with residuals in extended
// precision. UMFPACK is GPL: this file belongs to the tests and is not part of the library. Its
// memory, and that of UMFPACK, is taken by malloc, not through mabd_allocator.
//
//   | H  J' | |y|   |r|      columns 0 .. 12 n - 1: bodies, then one column per row of J
//   | J  -c | |x| = |b|

#include "support/kkt_oracle.h"

#include <stdlib.h>
#include <umfpack.h>

#define BLOCK       12
#define REFINEMENTS 3

// The matrix as triplets, and after compression by columns; all arrays in one allocation each.
typedef struct kkt_matrix {
    int32_t size, count;
    int *i, *j;              // triplets (count)
    double* v;               // (count)
    int *column, *row;       // compressed (size + 1), (count)
    double* value;           // (count)
    double *b, *right, *sol; // (size) right-hand side, that of a correction, solution
} kkt_matrix;

static void* array(int64_t n, size_t size) {
    return calloc(n > 0 ? (size_t)n : 1, size);
}

static mabd_status allocate(int64_t size, int64_t capacity, kkt_matrix* A) {
    *A = (kkt_matrix){.size = (int32_t)size};
    A->i = array(capacity, sizeof(int)), A->j = array(capacity, sizeof(int));
    A->row = array(capacity, sizeof(int)), A->column = array(size + 1, sizeof(int));
    A->v = array(capacity, sizeof(double)), A->value = array(capacity, sizeof(double));
    A->b = array(size, sizeof(double)), A->right = array(size, sizeof(double));
    A->sol = array(size, sizeof(double));
    bool all =
        A->i && A->j && A->row && A->column && A->v && A->value && A->b && A->right && A->sol;
    return all ? MABD_OK : MABD_ERR_MEMORY;
}

static void release(kkt_matrix* A) {
    free(A->i), free(A->j), free(A->v), free(A->column);
    free(A->row), free(A->value), free(A->b), free(A->right), free(A->sol);
}

static void add(kkt_matrix* A, int32_t i, int32_t j, double v) {
    A->i[A->count] = i, A->j[A->count] = j, A->v[A->count++] = v;
}

static mabd_status umfpack_status(int status) {
    if (status == UMFPACK_OK) return MABD_OK;
    if (status == UMFPACK_WARNING_singular_matrix) return MABD_ERR_SINGULAR;
    return status == UMFPACK_ERROR_out_of_memory ? MABD_ERR_MEMORY : MABD_ERR_ARG;
}

// Compute right = b - A sol in extended precision, the right-hand side of the next correction.
static void residual(const kkt_matrix* A, long double* sum) {
    for (int32_t i = 0; i < A->size; i++) sum[i] = A->b[i];
    for (int32_t j = 0; j < A->size; j++) {
        for (int k = A->column[j]; k < A->column[j + 1]; k++) {
            sum[A->row[k]] -= (long double)A->value[k] * A->sol[j];
        }
    }
    for (int32_t i = 0; i < A->size; i++) A->right[i] = (double)sum[i];
}

// Refine with residuals that are exact to the last bits: the result is as accurate as the matrix
// allows.
static int refine(kkt_matrix* A, void* numeric) {
    long double* sum = array(A->size, sizeof *sum);
    double* step = array(A->size, sizeof *step);
    int status = sum && step ? UMFPACK_OK : UMFPACK_ERROR_out_of_memory;
    for (int i = 0; i < REFINEMENTS && status == UMFPACK_OK; i++) {
        residual(A, sum);
        status = umfpack_di_solve(UMFPACK_A, A->column, A->row, A->value, step, A->right, numeric,
                                  NULL, NULL);
        for (int32_t k = 0; k < A->size; k++) A->sol[k] += step[k];
    }
    free(sum), free(step);
    return status;
}

static mabd_status factor_and_solve(kkt_matrix* A) {
    void *symbolic = NULL, *numeric = NULL;
    int n = A->size;
    int status = umfpack_di_triplet_to_col(n, n, A->count, A->i, A->j, A->v, A->column, A->row,
                                           A->value, NULL);
    if (status == UMFPACK_OK) {
        status = umfpack_di_symbolic(n, n, A->column, A->row, A->value, &symbolic, NULL, NULL);
    }
    if (status == UMFPACK_OK) {
        status = umfpack_di_numeric(A->column, A->row, A->value, symbolic, &numeric, NULL, NULL);
    }
    if (status == UMFPACK_OK) {
        status = umfpack_di_solve(UMFPACK_A, A->column, A->row, A->value, A->sol, A->b, numeric,
                                  NULL, NULL);
    }
    if (status == UMFPACK_OK) status = refine(A, numeric);
    umfpack_di_free_numeric(&numeric);
    umfpack_di_free_symbolic(&symbolic);
    return umfpack_status(status);
}

mabd_status mabd_kkt_solve(int32_t body_count, const mabd_real* H, int32_t row_count,
                           int32_t entry_count, const int32_t* row, const int32_t* column,
                           const mabd_real* value, const mabd_real* c, const mabd_real* r,
                           const mabd_real* b, mabd_real* y, mabd_real* x) {
    int64_t size = (int64_t)BLOCK * body_count + row_count;
    int64_t capacity = (int64_t)BLOCK * BLOCK * body_count + 2 * (int64_t)entry_count + row_count;
    if (size > INT32_MAX - 1 || capacity > INT32_MAX) return MABD_ERR_MEMORY;
    if (size == 0) return MABD_OK;

    kkt_matrix A;
    mabd_status status = allocate(size, capacity, &A);
    if (status == MABD_OK) {
        const int32_t primal = BLOCK * body_count;
        for (int32_t k = 0; k < primal * BLOCK; k++) {
            int32_t i = k / BLOCK, j = i / BLOCK * BLOCK + k % BLOCK;
            if (H[k] != 0) add(&A, i, j, (double)H[k]);
        }
        for (int32_t k = 0; k < entry_count; k++) {
            add(&A, primal + row[k], column[k], (double)value[k]);
            add(&A, column[k], primal + row[k], (double)value[k]);
        }
        for (int32_t k = 0; k < row_count; k++) add(&A, primal + k, primal + k, -(double)c[k]);
        for (int32_t k = 0; k < primal; k++) A.b[k] = (double)r[k];
        for (int32_t k = 0; k < row_count; k++) A.b[primal + k] = (double)b[k];

        status = factor_and_solve(&A);
        if (status == MABD_OK) {
            for (int32_t k = 0; k < primal; k++) y[k] = (mabd_real)A.sol[k];
            for (int32_t k = 0; k < row_count; k++) x[k] = (mabd_real)A.sol[primal + k];
        }
    }
    release(&A);
    return status;
}
