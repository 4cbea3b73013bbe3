// SPDX-License-Identifier: Apache-2.0
// Linked against cuBLAS, cuSOLVER and cuSPARSE: every entry of the table is there under the name
// that it is looked for by, and without a driver the table is refused with a text.
#include "cuda/runtime/libraries.h"

#include <dlfcn.h>
#include <stdio.h>

static int wrong, entries;

static void check(const char* name, const void* linked) {
    const void* found = dlsym(RTLD_DEFAULT, name);
    entries++;
    if (found == linked) return;
    fprintf(stderr, "%s: linked %p, found %p\n", name, linked, found);
    wrong++;
}

// MABD_ERR_UNAVAILABLE with a text, unless there is a device.
static void check_open(const char* which, bool device, mabd_status status, mabd_error* error) {
    printf("%s: %s\n", which, status == MABD_OK ? "open" : error->text);
    if (status == (device ? MABD_OK : MABD_ERR_UNAVAILABLE)) return;
    fprintf(stderr, "%s: status %d\n", which, (int)status);
    wrong++;
}

int main(void) {
    mabd_libraries dense = {}, sparse = {};
    mabd_error error = {};
    int devices = 0;
    const bool device = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
#define CHECK(field, name) check(#name, (const void*)&name);
    MABD_BLAS_ENTRIES(CHECK)
    MABD_SOLVER_ENTRIES(CHECK)
    MABD_SPARSE_ENTRIES(CHECK)
    check_open("dense", device, mabd_cuda_libraries_open_dense(&dense, 0, &error), &error);
    check_open("sparse", device, mabd_cuda_libraries_open_sparse(&sparse, 0, &error), &error);
    mabd_cuda_libraries_close(&dense);
    mabd_cuda_libraries_close(&sparse);
    printf("%d entries, %d wrong\n", entries, wrong);
    return wrong > 0;
}
