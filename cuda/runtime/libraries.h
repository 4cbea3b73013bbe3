// SPDX-License-Identifier: Apache-2.0
// cuBLAS, cuSOLVER and cuSPARSE behind one table. They are loaded when a simulation needs them:
// linked, they would cost 0.1 s and 260 MB at every start. Types are those of the libraries' own
// headers, so an entry whose arguments change does not compile. On the executor the table holds
// stand-ins (exec/exec_libraries.h).
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
    cublasHandle_t blas;                         // null = not open
    cusolverDnHandle_t solver;                   // null = not open
    cusparseHandle_t sparse;                     // null = not open
#define MABD_LIBRARY_FIELD(field, name) __typeof__(&name) field;
    MABD_BLAS_ENTRIES(MABD_LIBRARY_FIELD)
    MABD_SOLVER_ENTRIES(MABD_LIBRARY_FIELD)
    MABD_SPARSE_ENTRIES(MABD_LIBRARY_FIELD)
#undef MABD_LIBRARY_FIELD
} mabd_libraries;

#ifdef __cplusplus
extern "C" {
#endif

/// Load cuBLAS and cuSOLVER and create their handles. *libraries is zeroed by the caller and needs
/// libraries_close after a failure too. MABD_ERR_UNAVAILABLE: a library or the driver is missing.
mabd_status MABD_CUDA(libraries_open_dense)(mabd_libraries* libraries, cudaStream_t stream,
                                            mabd_error* error);
/// Load cuSPARSE and create its handle. *libraries is zeroed by the caller and needs
/// libraries_close after a failure too. MABD_ERR_UNAVAILABLE: the library or the driver is missing.
mabd_status MABD_CUDA(libraries_open_sparse)(mabd_libraries* libraries, cudaStream_t stream,
                                             mabd_error* error);
/// Destroy the handles that exist and unload the libraries.
void MABD_CUDA(libraries_close)(mabd_libraries* libraries);

#ifdef __cplusplus
}

/// Set status and text for a status of a library. what: the action that failed.
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cublasStatus_t code, const char* what);
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusolverStatus_t code, const char* what);
mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusparseStatus_t code, const char* what);

/// Call a function of a library and return from the caller if it fails; success is 0 in all of
/// them.
#define MABD_LIBRARY_TRY(call, what)                                                               \
    do {                                                                                           \
        const auto code_ = (call);                                                                 \
        if ((int)code_ != 0) return MABD_CUDA(library_fail)(error, code_, what);                   \
    } while (0)
#endif
