// SPDX-License-Identifier: Apache-2.0
// The stand-ins for cuBLAS, cuSOLVER and cuSPARSE, through the table that the backend calls:
// against sums written out, in the order of the stream, and with faults that must be refused.
#include "cuda/runtime/libraries.h"

#include "cuda/runtime/device.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACE 4096 // numbers

typedef struct rig {
    mabd_device device;
    mabd_libraries libraries;
    double *host, *memory; // (SPACE) on the host, and the same on the device
} rig;

static rig open_rig(uint64_t seed) {
    rig r;
    mabd_error error = {0};
    memset(&r, 0, sizeof r);
    setenv("MABD_EXEC_ASYNC", "1", 1);
    cr_assert(eq(int, MABD_CUDA(device_open)(&r.device, &error), MABD_OK));
    cr_assert(
        eq(int, MABD_CUDA(device_reserve)(&r.device, SPACE * sizeof(double), &error), MABD_OK));
    cr_assert(
        eq(int, MABD_CUDA(libraries_open_dense)(&r.libraries, r.device.stream, &error), MABD_OK));
    cr_assert(
        eq(int, MABD_CUDA(libraries_open_sparse)(&r.libraries, r.device.stream, &error), MABD_OK));
    r.memory = r.device.memory;
    r.host = malloc(SPACE * sizeof(double));
    for (int i = 0; i < SPACE; i++) r.host[i] = dual_random(&seed);
    return r;
}

static void upload(rig* r) {
    mabd_error error = {0};
    cr_assert(
        eq(int,
           MABD_CUDA(device_upload)(&r->device, r->host, SPACE * sizeof(double), r->memory, &error),
           MABD_OK));
}

// A copy of the device's memory, when all is done.
static double* download(rig* r) {
    mabd_error error = {0};
    double* copy = malloc(SPACE * sizeof(double));
    cr_assert(
        eq(int,
           MABD_CUDA(device_download)(&r->device, r->memory, SPACE * sizeof(double), copy, &error),
           MABD_OK));
    cr_assert(eq(int, MABD_CUDA(device_wait)(&r->device, &error), MABD_OK));
    return copy;
}

static void close_rig(rig* r) {
    MABD_CUDA(libraries_close)(&r->libraries);
    MABD_CUDA(device_close)(&r->device);
    free(r->host);
}

// ---- cuBLAS -------------------------------------------------------------------------------------

// Entry (i, j) of op(A), column-major.
static double entry(const double* A, int lead, bool transposed, int i, int j) {
    return transposed ? A[i * lead + j] : A[j * lead + i];
}

Test(cuda_libraries, products_of_matrices_in_strides) {
    const int m = 4, n = 3, k = 5, batch = 3, a = 0, b = 200, c = 500, lead = 7;
    const double alpha = -2, beta = 0.5;
    for (int which = 0; which < 4; which++) {
        const bool ta = which & 1, tb = which & 2;
        rig r = open_rig(3);
        upload(&r);
        cr_assert(
            eq(int,
               r.libraries.gemm(r.libraries.blas, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                                tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, r.memory + a, lead,
                                41, r.memory + b, lead, 43, &beta, r.memory + c, lead, 47, batch),
               CUBLAS_STATUS_SUCCESS));
        double* got = download(&r);
        for (int e = 0; e < batch * m * n; e++) {
            const int p = e / (m * n), i = e % m, j = e / m % n;
            const double *A = r.host + a + 41 * p, *B = r.host + b + 43 * p;
            double sum = 0;
            for (int l = 0; l < k; l++) sum += entry(A, lead, ta, i, l) * entry(B, lead, tb, l, j);
            const double expected = alpha * sum + beta * r.host[c + 47 * p + j * lead + i];
            cr_expect(lt(dbl, fabs(got[c + 47 * p + j * lead + i] - expected), 1e-14));
        }
        free(got);
        close_rig(&r);
    }
}

Test(cuda_libraries, products_with_vectors_in_strides) {
    const int m = 4, n = 3, batch = 3, lead = 6;
    const double alpha = 3, beta = -1;
    for (int which = 0; which < 2; which++) {
        rig r = open_rig(5);
        const int in = which ? m : n, out = which ? n : m;
        upload(&r);
        cr_assert(eq(int,
                     r.libraries.gemv(r.libraries.blas, which ? CUBLAS_OP_T : CUBLAS_OP_N, m, n,
                                      &alpha, r.memory, lead, 31, r.memory + 200, 2, 17, &beta,
                                      r.memory + 300, 1, 9, batch),
                     CUBLAS_STATUS_SUCCESS));
        double* got = download(&r);
        for (int e = 0; e < batch * out; e++) {
            const int p = e / out, i = e % out;
            double sum = 0;
            for (int l = 0; l < in; l++) {
                sum += entry(r.host + 31 * p, lead, which, i, l) * r.host[200 + 17 * p + 2 * l];
            }
            const double expected = alpha * sum + beta * r.host[300 + 9 * p + i];
            cr_expect(lt(dbl, fabs(got[300 + 9 * p + i] - expected), 1e-14));
        }
        free(got);
        close_rig(&r);
    }
}

// ---- cuSOLVER -----------------------------------------------------------------------------------

#define N       8
#define MATRIX  0    // (SYSTEMS N N)
#define VECTOR  1024 // (SYSTEMS N)
#define WORK    2048
#define INFO    3072
#define LISTS   3080 // of pointers
#define SYSTEMS 3

// Positive definite matrices; system `broken` is none, -1 = all are.
static void make_definite(rig* r, int broken) {
    double G[N * N];
    for (int p = 0; p < SYSTEMS; p++) {
        double* A = r->host + MATRIX + p * N * N;
        memcpy(G, A, sizeof G);
        for (int e = 0; e < N * N; e++) {
            A[e] = e / N == e % N ? 1 : 0;
            for (int k = 0; k < N; k++) A[e] += G[e / N * N + k] * G[e % N * N + k];
        }
        if (p == broken) A[4 * N + 4] = -1;
    }
    for (int p = 0; p < SYSTEMS; p++) {
        double* at[2] = {r->memory + MATRIX + p * N * N, r->memory + VECTOR + p * N};
        memcpy(r->host + LISTS + p, &at[0], sizeof at[0]);
        memcpy(r->host + LISTS + SYSTEMS + p, &at[1], sizeof at[1]);
    }
}

static double residual(const rig* r, const double* got, int p) {
    const double *A = r->host + MATRIX + p * N * N, *b = r->host + VECTOR + p * N;
    double most = 0;
    for (int i = 0; i < N; i++) {
        double rest = b[i];
        for (int j = 0; j < N; j++) rest -= A[j * N + i] * got[VECTOR + p * N + j];
        most = fmax(most, fabs(rest));
    }
    return most;
}

Test(cuda_libraries, one_cholesky_factor) {
    rig r = open_rig(7);
    int work = 0;
    int* info = (int*)(void*)(r.memory + INFO);
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    make_definite(&r, -1);
    upload(&r);
    cr_assert(eq(int, r.libraries.potrf_size(r.libraries.solver, lower, N, r.memory, N, &work),
                 CUSOLVER_STATUS_SUCCESS));
    cr_assert(lt(i32, 0, work));
    cr_expect(eq(
        int,
        r.libraries.potrf(r.libraries.solver, lower, N, r.memory, N, r.memory + WORK, work, info),
        CUSOLVER_STATUS_SUCCESS));
    cr_expect(eq(
        int,
        r.libraries.potrs(r.libraries.solver, lower, N, 1, r.memory, N, r.memory + VECTOR, N, info),
        CUSOLVER_STATUS_SUCCESS));
    double* got = download(&r);
    cr_expect(lt(dbl, residual(&r, got, 0), 1e-13));
    cr_expect(eq(int, *(int*)(void*)(got + INFO), 0));
    cr_expect(eq(int,
                 r.libraries.potrf(r.libraries.solver, lower, N, r.memory, N, r.memory + WORK,
                                   work - 1, info),
                 CUSOLVER_STATUS_INVALID_VALUE));
    free(got);
    close_rig(&r);
}

Test(cuda_libraries, cholesky_factors_of_a_batch_and_one_that_fails) {
    rig r = open_rig(9);
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    int* info = (int*)(void*)(r.memory + INFO);
    double **A = (double**)(void*)(r.memory + LISTS), **b = A + SYSTEMS;
    make_definite(&r, 1);
    upload(&r);
    cr_expect(eq(int, r.libraries.potrf_batched(r.libraries.solver, lower, N, A, N, info, SYSTEMS),
                 CUSOLVER_STATUS_SUCCESS));
    cr_expect(eq(int,
                 r.libraries.potrs_batched(r.libraries.solver, lower, N, 1, A, N, b, N,
                                           info + SYSTEMS, SYSTEMS),
                 CUSOLVER_STATUS_SUCCESS));
    double* got = download(&r);
    const int* infos = (const int*)(const void*)(got + INFO);
    cr_expect(eq(int, infos[0], 0));
    cr_expect(eq(int, infos[1], 5), "the minor that is not positive definite");
    cr_expect(eq(int, infos[2], 0));
    cr_expect(lt(dbl, residual(&r, got, 0), 1e-13));
    cr_expect(lt(dbl, residual(&r, got, 2), 1e-13));
    free(got);
    close_rig(&r);
}

// ---- cuSPARSE -----------------------------------------------------------------------------------

#define X     1024
#define Y     1100
#define START 1200
#define WIDTH 3

// Rows of blocks with the columns 0 2 | 1 | 0 1 2.
static const int32_t start[] = {0, 2, 3, 6}, column[] = {0, 2, 1, 0, 1, 2};

static mabd_status multiply(rig* r, cusparseOrder_t order) {
    const mabd_libraries* l = &r->libraries;
    const double alpha = 1, beta = 0;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t x, y;
    size_t bytes = 0;
    memcpy(r->host + START, start, sizeof start);
    memcpy(r->host + START + 10, column, sizeof column);
    upload(r);
    if (l->create_bsr(&A, 3, 3, 6, WIDTH, WIDTH, r->memory + START, r->memory + START + 10,
                      r->memory, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_64F, order) ||
        l->create_vector(&x, 9, r->memory + X, CUDA_R_64F) ||
        l->create_vector(&y, 9, r->memory + Y, CUDA_R_64F) ||
        l->spmv_size(l->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, x, &beta, y,
                     CUDA_R_64F, CUSPARSE_SPMV_BSR_ALG1, &bytes) ||
        bytes > WORK * sizeof(double) ||
        l->spmv(l->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, A, x, &beta, y, CUDA_R_64F,
                CUSPARSE_SPMV_BSR_ALG1, r->memory + WORK)) {
        return MABD_ERR_DEVICE;
    }
    l->destroy_vector(x), l->destroy_vector(y), l->destroy_matrix(A);
    return MABD_OK;
}

static void expect_product(cusparseOrder_t order) {
    rig r = open_rig(13);
    cr_assert(eq(int, multiply(&r, order), MABD_OK));
    double* got = download(&r);
    for (int i = 0; i < 9; i++) {
        double expected = 0;
        for (int32_t k = start[i / 3]; k < start[i / 3 + 1]; k++) {
            for (int c = 0; c < 3; c++) {
                const int at = order == CUSPARSE_ORDER_ROW ? i % 3 * 3 + c : c * 3 + i % 3;
                expected += r.host[9 * k + at] * r.host[X + 3 * column[k] + c];
            }
        }
        cr_expect(lt(dbl, fabs(got[Y + i] - expected), 1e-14));
    }
    free(got);
    close_rig(&r);
}

Test(cuda_libraries, products_with_blocks_in_either_order) {
    expect_product(CUSPARSE_ORDER_ROW);
    expect_product(CUSPARSE_ORDER_COL);
}

// ---- faults -------------------------------------------------------------------------------------

Test(cuda_libraries, refuse_memory_of_the_host) {
    rig r = open_rig(1);
    const double one = 1;
    double x[4] = {0};
    cr_expect(eq(int,
                 r.libraries.gemv(r.libraries.blas, CUBLAS_OP_N, 2, 2, &one, r.memory, 2, 0, x, 1,
                                  0, &one, r.memory + 8, 1, 0, 1),
                 CUBLAS_STATUS_INVALID_VALUE));
    cr_expect(eq(int,
                 r.libraries.gemv(r.libraries.blas, CUBLAS_OP_N, 2, 2, &one, r.memory + SPACE - 3,
                                  2, 0, r.memory, 1, 0, &one, r.memory + 8, 1, 0, 1),
                 CUBLAS_STATUS_INVALID_VALUE),
              "its end is beyond the device's memory");
    close_rig(&r);
}

Test(cuda_libraries, are_missing_without_a_driver) {
    mabd_libraries libraries = {0};
    mabd_error error = {0};
    setenv("MABD_EXEC_DRIVER", "old", 1);
    cr_expect(
        eq(int, MABD_CUDA(libraries_open_dense)(&libraries, NULL, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(
        eq(str, error.text, (char*)"cuBLAS needs a CUDA driver and device: creating a handle"));
    cr_expect(
        eq(int, MABD_CUDA(libraries_open_sparse)(&libraries, NULL, &error), MABD_ERR_UNAVAILABLE));
    MABD_CUDA(libraries_close)(&libraries);
}
