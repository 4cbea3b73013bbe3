// SPDX-License-Identifier: Apache-2.0
// cuBLAS, cuSOLVER and cuSPARSE behind one table. They are loaded when a simulation needs them:
// linked, they cost 0.1 s and 260 MB at every start. Types are those that the libraries' own
// headers declare, so an entry whose arguments change does not compile. Run by the executor, the
// table holds stand-ins (exec/libraries.h).
#pragma once

#include "cuda/exec/kernel.h"

#ifdef __CUDACC__
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>
#else
#include "cuda/exec/exec_libraries.h"
#endif

#include "mabd/base.h"

/// X(field of the table, entry of the library)
#define MABD_BLAS_ENTRIES(X)                                                                       \
    X(blas_create, cublasCreate_v2)                                                                \
    X(blas_destroy, cublasDestroy_v2)                                                              \
    X(blas_set_stream, cublasSetStream_v2)                                                         \
    X(gemm, cublasDgemmStridedBatched)                                                             \
    X(gemv, cublasDgemvStridedBatched)
#define MABD_SOLVER_ENTRIES(X)                                                                     \
    X(solver_create, cusolverDnCreate)                                                             \
    X(solver_destroy, cusolverDnDestroy)                                                           \
    X(solver_set_stream, cusolverDnSetStream)                                                      \
    X(potrf_size, cusolverDnDpotrf_bufferSize)                                                     \
    X(potrf, cusolverDnDpotrf)                                                                     \
    X(potrs, cusolverDnDpotrs)                                                                     \
    X(potrf_batched, cusolverDnDpotrfBatched)                                                      \
    X(potrs_batched, cusolverDnDpotrsBatched)
#define MABD_SPARSE_ENTRIES(X)                                                                     \
    X(sparse_create, cusparseCreate)                                                               \
    X(sparse_destroy, cusparseDestroy)                                                             \
    X(sparse_set_stream, cusparseSetStream)                                                        \
    X(create_bsr, cusparseCreateBsr)                                                               \
    X(destroy_matrix, cusparseDestroySpMat)                                                        \
    X(create_vector, cusparseCreateDnVec)                                                          \
    X(destroy_vector, cusparseDestroyDnVec)                                                        \
    X(spmv_size, cusparseSpMV_bufferSize)                                                          \
    X(spmv, cusparseSpMV)

/// Handles work in one stream; scalars (alpha, beta) are read from the host.
typedef struct mabd_libraries {
    void *blas_file, *solver_file, *sparse_file; // of dlopen, null = not loaded
    cublasHandle_t blas;                         // null = not open; likewise the next two
    cusolverDnHandle_t solver;
    cusparseHandle_t sparse;
#define MABD_LIBRARY_FIELD(field, name) __typeof__(&name) field;
    MABD_BLAS_ENTRIES(MABD_LIBRARY_FIELD)
    MABD_SOLVER_ENTRIES(MABD_LIBRARY_FIELD)
    MABD_SPARSE_ENTRIES(MABD_LIBRARY_FIELD)
#undef MABD_LIBRARY_FIELD
} mabd_libraries;

#ifdef __cplusplus
extern "C" {
#endif

/// Load cuBLAS and cuSOLVER, or cuSPARSE, and make their handles. MABD_ERR_UNAVAILABLE: a library
/// is not there, or there is no driver for it. *libraries starts zeroed; after a failure too it is
/// to be closed.
mabd_status MABD_CUDA(libraries_open_dense)(mabd_libraries* libraries, cudaStream_t stream,
                                            mabd_error* error);
mabd_status MABD_CUDA(libraries_open_sparse)(mabd_libraries* libraries, cudaStream_t stream,
                                             mabd_error* error);
/// Give everything back, whatever is there of it.
void MABD_CUDA(libraries_close)(mabd_libraries* libraries);

#ifdef __cplusplus
}

/// Status and text for what a library has answered, after what was done.
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cublasStatus_t code, const char* what);
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusolverStatus_t code, const char* what);
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusparseStatus_t code, const char* what);

/// Every call of a library goes through this; success is 0 with all of them.
#define MABD_LIBRARY_TRY(call, what)                                                               \
    do {                                                                                           \
        const auto code_ = (call);                                                                 \
        if ((int)code_ != 0) return MABD_CUDA(library_fail)(error, code_, what);                   \
    } while (0)
#endif
