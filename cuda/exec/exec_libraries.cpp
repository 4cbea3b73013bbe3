// SPDX-License-Identifier: Apache-2.0
#include "cuda/exec/exec_libraries.h"
#include "cuda/exec/exec.h"
#include "cuda/exec/watch.h"

#include <cblas.h>
#include <cstdio>
#include <limits>

extern "C" void dpotrf_(const char* uplo, const int* n, double* A, const int* lda, int* info);
extern "C" void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* A,
                        const int* lda, double* B, const int* ldb, int* info);

struct mabd_exec_blas {
    cudaStream_t stream;
};
struct mabd_exec_solver {
    cudaStream_t stream;
};
struct mabd_exec_sparse {
    cudaStream_t stream;
};

struct mabd_exec_bsr {
    int64_t rows, columns, count; // in blocks
    int64_t height, width;        // of a block
    const int32_t *start, *column;
    const double* values;
    cusparseOrder_t order;
};

struct mabd_exec_vector {
    int64_t size;
    double* values;
};

namespace {

using mabd_exec::enqueue_host;

template <class handle> bool make(handle* out) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return false;
    *out = new std::remove_pointer_t<handle>{nullptr};
    return true;
}

// True if the numbers from `first` to `last` are within one allocation of the device; prints an
// error if they are not.
template <class T> bool spans(const char* call, const T* first, int64_t count) {
    if (count == 0) return true;
    if (mabd_exec::is_device(first, (size_t)count * sizeof(T))) return true;
    fprintf(stderr, "mabd executor: %s gets %p, of which %lld bytes are no device memory\n", call,
            (const void*)first, (long long)count * (long long)sizeof(T));
    return false;
}

// Extents in numbers: of a column-major matrix, of several of them at a stride, of a vector.
int64_t extent(int64_t rows, int64_t columns, int64_t lead) {
    return rows > 0 && columns > 0 ? (columns - 1) * lead + rows : 0;
}
int64_t extent_of_all(int64_t one, int64_t stride, int64_t count) {
    return one > 0 && count > 0 ? (count - 1) * stride + one : 0;
}

void scribble(void* memory, size_t bytes) {
    memset(memory, 0xff, bytes); // NaN
}

// Report the least work of a call to the counters: fused multiply-adds and reals of each of `count`
// problems.
void tell(const char* call, int64_t times, int64_t fused, int64_t read, int64_t written) {
    if (!mabd_exec::watching) return;
    mabd_exec::watching->library(call, (uint64_t)(times * fused),
                                 (uint64_t)(times * read) * sizeof(double),
                                 (uint64_t)(times * written) * sizeof(double));
}

// Work of a Cholesky factor: n^3/6 multiply-adds, half of a square of numbers.
int64_t cubes(int64_t n) {
    return (n * n * n + 5) / 6;
}
int64_t triangles(int64_t n) {
    return n * (n + 1) / 2;
}

CBLAS_TRANSPOSE transpose(cublasOperation_t op) {
    return op == CUBLAS_OP_T ? CblasTrans : CblasNoTrans;
}

const char* triangle(cublasFillMode_t uplo) {
    return uplo == CUBLAS_FILL_MODE_LOWER ? "L" : "U";
}

} // namespace

// ---- cuBLAS -------------------------------------------------------------------------------------

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    return make(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* B, int ldb,
                                         long long int strideB, const double* beta, double* C,
                                         int ldc, long long int strideC, int batchCount) {
    const int rows_a = transa == CUBLAS_OP_N ? m : k, rows_b = transb == CUBLAS_OP_N ? k : n;
    const int64_t a = extent(rows_a, m + k - rows_a, lda), b = extent(rows_b, k + n - rows_b, ldb);
    const double scale = *alpha, keep = *beta;
    if (m < 0 || n < 0 || k < 0 || batchCount < 0 || lda < rows_a || ldb < rows_b || ldc < m ||
        !spans("cublasDgemmStridedBatched", A, extent_of_all(a, strideA, batchCount)) ||
        !spans("cublasDgemmStridedBatched", B, extent_of_all(b, strideB, batchCount)) ||
        !spans("cublasDgemmStridedBatched", C,
               extent_of_all(extent(m, n, ldc), strideC, batchCount))) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    tell("cublasDgemmStridedBatched", batchCount, (int64_t)m * n * k,
         (int64_t)m * k + (int64_t)k * n + (keep == 0 ? 0 : (int64_t)m * n), (int64_t)m * n);
    enqueue_host(handle->stream, [=] {
        for (int i = 0; i < batchCount; i++) {
            cblas_dgemm(CblasColMajor, transpose(transa), transpose(transb), m, n, k, scale,
                        A + i * strideA, lda, B + i * strideB, ldb, keep, C + i * strideC, ldc);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
                                         int n, const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* x, int incx,
                                         long long int stridex, const double* beta, double* y,
                                         int incy, long long int stridey, int batchCount) {
    const int in = trans == CUBLAS_OP_N ? n : m, out = m + n - in;
    const double scale = *alpha, keep = *beta;
    if (m < 0 || n < 0 || batchCount < 0 || lda < m || incx < 1 || incy < 1 ||
        !spans("cublasDgemvStridedBatched", A,
               extent_of_all(extent(m, n, lda), strideA, batchCount)) ||
        !spans("cublasDgemvStridedBatched", x,
               extent_of_all(extent(1, in, incx), stridex, batchCount)) ||
        !spans("cublasDgemvStridedBatched", y,
               extent_of_all(extent(1, out, incy), stridey, batchCount))) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    tell("cublasDgemvStridedBatched", batchCount, (int64_t)m * n,
         (int64_t)m * n + in + (keep == 0 ? 0 : out), out);
    enqueue_host(handle->stream, [=] {
        for (int i = 0; i < batchCount; i++) {
            cblas_dgemv(CblasColMajor, transpose(trans), m, n, scale, A + i * strideA, lda,
                        x + i * stridex, incx, keep, y + i * stridey, incy);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}

// ---- cuSOLVER -----------------------------------------------------------------------------------

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
    return make(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    delete handle;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int n, double*,
                                             int lda, int* Lwork) {
    if (n < 0 || lda < n) return CUSOLVER_STATUS_INVALID_VALUE;
    *Lwork = 2 * n; // arbitrary, to test that the workspace is passed
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double* A, int lda, double* Workspace, int Lwork, int* devInfo) {
    if (n < 0 || lda < n || Lwork < 2 * n || !spans("cusolverDnDpotrf", A, extent(n, n, lda)) ||
        !spans("cusolverDnDpotrf", Workspace, Lwork) || !spans("cusolverDnDpotrf", devInfo, 1)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    tell("cusolverDnDpotrf", 1, cubes(n), triangles(n), triangles(n));
    enqueue_host(handle->stream, [=] {
        scribble(Workspace, (size_t)Lwork * sizeof *Workspace);
        dpotrf_(triangle(uplo), &n, A, &lda, devInfo);
    });
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const double* A, int lda, double* B, int ldb, int* devInfo) {
    if (n < 0 || nrhs < 0 || lda < n || ldb < n ||
        !spans("cusolverDnDpotrs", A, extent(n, n, lda)) ||
        !spans("cusolverDnDpotrs", B, extent(n, nrhs, ldb)) ||
        !spans("cusolverDnDpotrs", devInfo, 1)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    tell("cusolverDnDpotrs", 1, (int64_t)n * n * nrhs, triangles(n) + (int64_t)n * nrhs,
         (int64_t)n * nrhs);
    enqueue_host(handle->stream,
                 [=] { dpotrs_(triangle(uplo), &n, &nrhs, A, &lda, B, &ldb, devInfo); });
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         double* Aarray[], int lda, int* infoArray, int batchSize) {
    if (n < 0 || lda < n || batchSize < 0 || !spans("cusolverDnDpotrfBatched", Aarray, batchSize) ||
        !spans("cusolverDnDpotrfBatched", infoArray, batchSize)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    tell("cusolverDnDpotrfBatched", batchSize, cubes(n), triangles(n), triangles(n));
    enqueue_host(handle->stream, [=] {
        for (int i = 0; i < batchSize; i++) {
            if (!spans("cusolverDnDpotrfBatched", Aarray[i], extent(n, n, lda))) {
                mabd_exec::set_error(cudaErrorIllegalAddress);
                return;
            }
            dpotrf_(triangle(uplo), &n, Aarray[i], &lda, &infoArray[i]);
        }
    });
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, double* A[], int lda, double* B[], int ldb,
                                         int* d_info, int batchSize) {
    if (n < 0 || nrhs != 1 || lda < n || ldb < n || batchSize < 0 ||
        !spans("cusolverDnDpotrsBatched", A, batchSize) ||
        !spans("cusolverDnDpotrsBatched", B, batchSize) ||
        !spans("cusolverDnDpotrsBatched", d_info, 1)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    tell("cusolverDnDpotrsBatched", batchSize, (int64_t)n * n, triangles(n) + n, n);
    enqueue_host(handle->stream, [=] {
        *d_info = 0;
        for (int i = 0; i < batchSize; i++) {
            int info = 0;
            if (!spans("cusolverDnDpotrsBatched", A[i], extent(n, n, lda)) ||
                !spans("cusolverDnDpotrsBatched", B[i], n)) {
                mabd_exec::set_error(cudaErrorIllegalAddress);
                return;
            }
            dpotrs_(triangle(uplo), &n, &nrhs, A[i], &lda, B[i], &ldb, &info);
        }
    });
    return CUSOLVER_STATUS_SUCCESS;
}

// ---- cuSPARSE -----------------------------------------------------------------------------------

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
    return make(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId) {
    handle->stream = streamId;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* spMatDescr, int64_t brows, int64_t bcols,
                                   int64_t bnnz, int64_t rowBlockSize, int64_t colBlockSize,
                                   void* bsrRowOffsets, void* bsrColInd, void* bsrValues,
                                   cusparseIndexType_t bsrRowOffsetsType,
                                   cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,
                                   cudaDataType valueType, cusparseOrder_t order) {
    if (bsrRowOffsetsType != CUSPARSE_INDEX_32I || bsrColIndType != CUSPARSE_INDEX_32I ||
        idxBase != CUSPARSE_INDEX_BASE_ZERO || valueType != CUDA_R_64F) {
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    const mabd_exec_bsr m = {brows,
                             bcols,
                             bnnz,
                             rowBlockSize,
                             colBlockSize,
                             (const int32_t*)bsrRowOffsets,
                             (const int32_t*)bsrColInd,
                             (const double*)bsrValues,
                             order};
    if (brows < 0 || bcols < 0 || bnnz < 0 || rowBlockSize < 1 || colBlockSize < 1 ||
        !spans("cusparseCreateBsr", m.start, brows + 1) ||
        !spans("cusparseCreateBsr", m.column, bnnz) ||
        !spans("cusparseCreateBsr", m.values, bnnz * rowBlockSize * colBlockSize)) {
        return CUSPARSE_STATUS_INVALID_VALUE;
    }
    *spMatDescr = new mabd_exec_bsr(m);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr) {
    delete spMatDescr;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* dnVecDescr, int64_t size, void* values,
                                     cudaDataType valueType) {
    if (valueType != CUDA_R_64F) return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (size < 0 || !spans("cusparseCreateDnVec", (double*)values, size)) {
        return CUSPARSE_STATUS_INVALID_VALUE;
    }
    *dnVecDescr = new mabd_exec_vector{size, (double*)values};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr) {
    delete dnVecDescr;
    return CUSPARSE_STATUS_SUCCESS;
}

#define SPMV_BYTES ((size_t)64) // arbitrary, to test that the workspace is passed

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cusparseDnVecDescr_t,
                                         cudaDataType computeType, cusparseSpMVAlg_t alg,
                                         size_t* bufferSize) {
    if (computeType != CUDA_R_64F || alg != CUSPARSE_SPMV_BSR_ALG1) {
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    *bufferSize = SPMV_BYTES;
    return CUSPARSE_STATUS_SUCCESS;
}

namespace {

double row_times(const mabd_exec_bsr& A, int64_t block_row, int64_t row, const double* x) {
    double sum = 0;
    for (int32_t k = A.start[block_row]; k < A.start[block_row + 1]; k++) {
        const double* block = A.values + k * A.height * A.width;
        for (int64_t c = 0; c < A.width; c++) {
            const int64_t at =
                A.order == CUSPARSE_ORDER_ROW ? row * A.width + c : c * A.height + row;
            sum += block[at] * x[A.column[k] * A.width + c];
        }
    }
    return sum;
}

// beta = 0: y is not read.
void multiply(const mabd_exec_bsr& A, double alpha, const double* x, double beta, double* y) {
    for (int64_t i = 0; i < A.rows * A.height; i++) {
        const double product = alpha * row_times(A, i / A.height, i % A.height, x);
        y[i] = beta == 0 ? product : product + beta * y[i];
    }
}

} // namespace

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void* alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                              const void* beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                              cusparseSpMVAlg_t alg, void* externalBuffer) {
    const mabd_exec_bsr A = *matA;
    const double scale = *(const double*)alpha, keep = *(const double*)beta;
    const double* x = vecX->values;
    double* y = vecY->values;
    if (opA != CUSPARSE_OPERATION_NON_TRANSPOSE || computeType != CUDA_R_64F ||
        alg != CUSPARSE_SPMV_BSR_ALG1) {
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
    if (vecX->size != A.columns * A.width || vecY->size != A.rows * A.height || x == y ||
        !spans("cusparseSpMV", (char*)externalBuffer, SPMV_BYTES)) {
        return CUSPARSE_STATUS_INVALID_VALUE;
    }
    const int64_t numbers = A.count * A.height * A.width; // two indices take the bytes of one real
    tell("cusparseSpMV", 1, numbers, numbers + (A.count + A.rows + 2) / 2 + vecX->size, vecY->size);
    enqueue_host(handle->stream, [=] {
        scribble(externalBuffer, SPMV_BYTES);
        multiply(A, scale, x, keep, y);
    });
    return CUSPARSE_STATUS_SUCCESS;
}
