// SPDX-License-Identifier: Apache-2.0
// The backends of this library.

#include "formulation/affine/backend.h"

#include "base/isa.h"

#include <stdio.h>
#include <string.h>

#ifdef MABD_HAS_CUDA
extern const mabd_affine_backend_ops mabd_cuda_backend;
void mabd_cuda_probe(mabd_backend_info* info);
#define CUDA_OPS   &mabd_cuda_backend
#define CUDA_PROBE mabd_cuda_probe
#else
#define CUDA_OPS   NULL
#define CUDA_PROBE NULL
#endif

#ifdef MABD_HAS_EXECUTOR
extern const mabd_affine_backend_ops mabd_cuda_exec_backend;
void mabd_cuda_exec_probe(mabd_backend_info* info);
#define EXECUTOR_OPS   &mabd_cuda_exec_backend
#define EXECUTOR_PROBE mabd_cuda_exec_probe
#else
#define EXECUTOR_OPS   NULL
#define EXECUTOR_PROBE NULL
#endif

static void probe_cpu(mabd_backend_info* info) {
    info->present = true;
    snprintf(info->device, sizeof info->device, "processor, %s",
             mabd_isa_name(mabd_isa_count() - 1));
    for (int32_t i = 0; i < mabd_isa_count(); i++) {
        const size_t length = strlen(info->target);
        snprintf(info->target + length, sizeof info->target - length, "%s%s", i ? ", " : "",
                 mabd_isa_name(i));
    }
}

static const struct {
    const mabd_affine_backend_ops* ops; // null = not built
    void (*probe)(mabd_backend_info* info);
} backends[MABD_BACKEND_COUNT] = {
    [MABD_BACKEND_CPU] = {&mabd_affine_backend_cpu, probe_cpu},
    [MABD_BACKEND_CUDA] = {CUDA_OPS, CUDA_PROBE},
    [MABD_BACKEND_EXECUTOR] = {EXECUTOR_OPS, EXECUTOR_PROBE},
};

const mabd_affine_backend_ops* mabd_affine_backend_ops_of(mabd_backend backend) {
    return (unsigned)backend < MABD_BACKEND_COUNT ? backends[backend].ops : NULL;
}

mabd_backend_info mabd_backend_get_info(mabd_backend backend) {
    mabd_backend_info info;
    memset(&info, 0, sizeof info);
    info.built = mabd_affine_backend_ops_of(backend) != NULL;
    if (info.built) {
        backends[backend].probe(&info);
    } else {
        snprintf(info.missing, sizeof info.missing, "not built into this library");
    }
    return info;
}
