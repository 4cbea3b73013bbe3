// SPDX-License-Identifier: Apache-2.0
#define MABD_KERNEL_SOURCE

#include "cuda/affine/part.h"

// One block of threads; the result is parts[MABD_CUDA_PARTS].
__global__ static void __launch_bounds__(THREADS, 1)
    join_blocks(int32_t count, mabd_cuda_part* parts) {
    __shared__ mabd_cuda_part shared[THREADS];
    mabd_cuda_part own = no_part();
    for (int32_t i = share_of(count, INDEX); i < share_of(count, INDEX + 1); i++) {
        add_part(&own, &parts[i]);
    }
    join_parts(shared, &own, parts + MABD_CUDA_PARTS);
}

mabd_status MABD_CUDA(download_part)(mabd_cuda_state* state, int32_t count, mabd_cuda_part* part,
                                     mabd_error* error) {
    LAUNCH_BLOCKS(&state->device, "reduce", join_blocks, 1, count, state->parts);
    MABD_TRY(MABD_CUDA(device_download)(&state->device, state->parts + MABD_CUDA_PARTS,
                                        sizeof *part, part, error));
    return MABD_CUDA(device_wait)(&state->device, error);
}
