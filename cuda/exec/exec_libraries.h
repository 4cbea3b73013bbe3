// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS, cuSOLVER and cuSPARSE that our host code uses, for kernels on the CPU: names,
// numbers, arguments and meaning as in CUDA 13, with other symbols, because the real libraries may
// be in the same process. Matrices are column-major; the blocks of a BSR matrix have an order of
// their own.
//
// Arguments are checked in the call; the work is done in the order of the stream, by OpenBLAS,
// LAPACK and plain loops. Scalars are read from the host in the call, all else is device memory. A
// workspace must have the queried size, and is overwritten with NaN.
#pragma once

#include "cuda/exec/runtime.h"

#include <stdint.h>

#define cublasCreate_v2           mabd_exec_cublas_create
#define cublasDestroy_v2          mabd_exec_cublas_destroy
#define cublasSetStream_v2        mabd_exec_cublas_set_stream
#define cublasDgemmStridedBatched mabd_exec_cublas_dgemm_strided_batched
#define cublasDgemvStridedBatched mabd_exec_cublas_dgemv_strided_batched

#define cusolverDnCreate            mabd_exec_cusolver_create
#define cusolverDnDestroy           mabd_exec_cusolver_destroy
#define cusolverDnSetStream         mabd_exec_cusolver_set_stream
#define cusolverDnDpotrf_bufferSize mabd_exec_cusolver_dpotrf_buffer_size
#define cusolverDnDpotrf            mabd_exec_cusolver_dpotrf
#define cusolverDnDpotrs            mabd_exec_cusolver_dpotrs
#define cusolverDnDpotrfBatched     mabd_exec_cusolver_dpotrf_batched
#define cusolverDnDpotrsBatched     mabd_exec_cusolver_dpotrs_batched

#define cusparseCreate          mabd_exec_cusparse_create
#define cusparseDestroy         mabd_exec_cusparse_destroy
#define cusparseSetStream       mabd_exec_cusparse_set_stream
#define cusparseCreateBsr       mabd_exec_cusparse_create_bsr
#define cusparseDestroySpMat    mabd_exec_cusparse_destroy_sp_mat
#define cusparseCreateDnVec     mabd_exec_cusparse_create_dn_vec
#define cusparseDestroyDnVec    mabd_exec_cusparse_destroy_dn_vec
#define cusparseSpMV_bufferSize mabd_exec_cusparse_spmv_buffer_size
#define cusparseSpMV            mabd_exec_cusparse_spmv

#ifdef __cplusplus
extern "C" {
#endif

// ---- cuBLAS -------------------------------------------------------------------------------------

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef struct mabd_exec_blas* cublasHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
/// C_i = alpha op(A_i) op(B_i) + beta C_i, op(A) m x k, op(B) k x n
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* B, int ldb,
                                         long long int strideB, const double* beta, double* C,
                                         int ldc, long long int strideC, int batchCount);
/// y_i = alpha op(A_i) x_i + beta y_i, A m x n
cublasStatus_t cublasDgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
                                         int n, const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* x, int incx,
                                         long long int stridex, const double* beta, double* y,
                                         int incy, long long int stridey, int batchCount);

// ---- cuSOLVER -----------------------------------------------------------------------------------

typedef enum {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3
} cusolverStatus_t;
typedef struct mabd_exec_solver* cusolverDnHandle_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
/// *Lwork: size of the workspace in doubles.
cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, double* A, int lda, int* Lwork);
/// A = L L'; *devInfo = 0, or the order of the minor that is not positive definite.
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double* A, int lda, double* Workspace, int Lwork, int* devInfo);
/// B = A^-1 B with the factor of cusolverDnDpotrf.
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const double* A, int lda, double* B, int ldb, int* devInfo);
/// Factor batchSize matrices. Aarray (batchSize): device array of device pointers; infoArray
/// (batchSize): results as of cusolverDnDpotrf.
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         double* Aarray[], int lda, int* infoArray, int batchSize);
/// Solve with batchSize factors; nrhs must be 1, as in CUDA.
cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, double* A[], int lda, double* B[], int ldb,
                                         int* d_info, int batchSize);

// ---- cuSPARSE -----------------------------------------------------------------------------------

typedef enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10
} cusparseStatus_t;
typedef enum { CUSPARSE_OPERATION_NON_TRANSPOSE = 0 } cusparseOperation_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0 } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_32I = 2 } cusparseIndexType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_SPMV_BSR_ALG1 = 6 } cusparseSpMVAlg_t;
typedef enum cudaDataType_t { CUDA_R_64F = 1 } cudaDataType;
typedef struct mabd_exec_sparse* cusparseHandle_t;
typedef struct mabd_exec_bsr* cusparseSpMatDescr_t;
typedef struct mabd_exec_bsr const* cusparseConstSpMatDescr_t;
typedef struct mabd_exec_vector* cusparseDnVecDescr_t;
typedef struct mabd_exec_vector const* cusparseConstDnVecDescr_t;

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId);
/// A matrix of brows x bcols blocks, bnnz of them stored, each in the given order.
cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* spMatDescr, int64_t brows, int64_t bcols,
                                   int64_t bnnz, int64_t rowBlockSize, int64_t colBlockSize,
                                   void* bsrRowOffsets, void* bsrColInd, void* bsrValues,
                                   cusparseIndexType_t bsrRowOffsetsType,
                                   cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,
                                   cudaDataType valueType, cusparseOrder_t order);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr);
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* dnVecDescr, int64_t size, void* values,
                                     cudaDataType valueType);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr);
/// *bufferSize: size of the workspace of cusparseSpMV [bytes].
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         const void* alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnVecDescr_t vecX, const void* beta,
                                         cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                         cusparseSpMVAlg_t alg, size_t* bufferSize);
/// y = alpha A x + beta y
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void* alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                              const void* beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                              cusparseSpMVAlg_t alg, void* externalBuffer);

#ifdef __cplusplus
}
#endif
