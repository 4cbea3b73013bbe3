// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/libraries.h"

#include <string.h>

extern "C" {
#include "base/error.h"
}

// ---- loading ------------------------------------------------------------------------------------

#ifdef __CUDACC__

#include <dlfcn.h>
#include <stdio.h>

// Load the version of the headers: another one may have other arguments.
static mabd_status load(const char* title, const char* stem, int version, void** file,
                        mabd_error* error) {
    char name[64];
    snprintf(name, sizeof name, "%s.so.%d", stem, version);
    *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*file) return MABD_OK;
    return mabd_fail(error, MABD_ERR_UNAVAILABLE, "%s is missing: %s", title, dlerror());
}

#define LOAD(title, stem, version, file)                                                           \
    MABD_TRY(load(title, stem, version, &libraries->file, error))
#define FIND(field, name)                                                                          \
    libraries->field = (decltype(&name))dlsym(file, #name);                                        \
    if (!libraries->field) {                                                                       \
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "no %s in the library: %s", #name,           \
                         dlerror());                                                               \
    }

static void unload(void* file) {
    if (file) dlclose(file);
}

#else

#define CUBLAS_VER_MAJOR   0
#define CUSOLVER_VER_MAJOR 0
#define CUSPARSE_VER_MAJOR 0

#define LOAD(title, stem, version, file) ((void)error)
#define FIND(field, name)                libraries->field = &name;

static void unload(void*) {}

#endif

static mabd_status find_blas(mabd_libraries* libraries, mabd_error* error) {
    LOAD("cuBLAS", "libcublas", CUBLAS_VER_MAJOR, blas_file);
    [[maybe_unused]] void* file = libraries->blas_file;
    MABD_BLAS_ENTRIES(FIND)
    return MABD_OK;
}

static mabd_status find_solver(mabd_libraries* libraries, mabd_error* error) {
    LOAD("cuSOLVER", "libcusolver", CUSOLVER_VER_MAJOR, solver_file);
    [[maybe_unused]] void* file = libraries->solver_file;
    MABD_SOLVER_ENTRIES(FIND)
    return MABD_OK;
}

static mabd_status find_sparse(mabd_libraries* libraries, mabd_error* error) {
    LOAD("cuSPARSE", "libcusparse", CUSPARSE_VER_MAJOR, sparse_file);
    [[maybe_unused]] void* file = libraries->sparse_file;
    MABD_SPARSE_ENTRIES(FIND)
    return MABD_OK;
}

// ---- errors -------------------------------------------------------------------------------------

// Code 1 is "not initialised" in all of them.
static mabd_status fail(mabd_error* error, const char* title, int code, bool memory,
                        const char* what) {
    if (code == 1) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "%s needs a CUDA driver and device: %s",
                         title, what);
    }
    if (memory) {
        return mabd_fail(error, MABD_ERR_MEMORY, "out of device memory: %s, %s", title, what);
    }
    return mabd_fail(error, MABD_ERR_DEVICE, "%s: %s returned status %d", what, title, code);
}

mabd_status MABD_CUDA(library_fail)(mabd_error* error, cublasStatus_t code, const char* what) {
    return fail(error, "cuBLAS", (int)code, code == CUBLAS_STATUS_ALLOC_FAILED, what);
}

mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusolverStatus_t code, const char* what) {
    return fail(error, "cuSOLVER", (int)code, code == CUSOLVER_STATUS_ALLOC_FAILED, what);
}

mabd_status MABD_CUDA(library_fail)(mabd_error* error, cusparseStatus_t code, const char* what) {
    return fail(error, "cuSPARSE", (int)code, code == CUSPARSE_STATUS_ALLOC_FAILED, what);
}

// ---- handles ------------------------------------------------------------------------------------

mabd_status MABD_CUDA(libraries_open_dense)(mabd_libraries* libraries, cudaStream_t stream,
                                            mabd_error* error) {
    MABD_TRY(find_blas(libraries, error));
    MABD_TRY(find_solver(libraries, error));
    MABD_LIBRARY_TRY(libraries->blas_create(&libraries->blas), "creating a handle");
    MABD_LIBRARY_TRY(libraries->blas_set_stream(libraries->blas, stream), "setting a stream");
    MABD_LIBRARY_TRY(libraries->solver_create(&libraries->solver), "creating a handle");
    MABD_LIBRARY_TRY(libraries->solver_set_stream(libraries->solver, stream), "setting a stream");
    return MABD_OK;
}

mabd_status MABD_CUDA(libraries_open_sparse)(mabd_libraries* libraries, cudaStream_t stream,
                                             mabd_error* error) {
    MABD_TRY(find_sparse(libraries, error));
    MABD_LIBRARY_TRY(libraries->sparse_create(&libraries->sparse), "creating a handle");
    MABD_LIBRARY_TRY(libraries->sparse_set_stream(libraries->sparse, stream), "setting a stream");
    return MABD_OK;
}

void MABD_CUDA(libraries_close)(mabd_libraries* libraries) {
    if (libraries->blas) libraries->blas_destroy(libraries->blas);
    if (libraries->solver) libraries->solver_destroy(libraries->solver);
    if (libraries->sparse) libraries->sparse_destroy(libraries->sparse);
    unload(libraries->sparse_file);
    unload(libraries->solver_file);
    unload(libraries->blas_file);
    memset(libraries, 0, sizeof *libraries);
}
