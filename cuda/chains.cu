// SPDX-License-Identifier: Apache-2.0
// The text is that of the CPU (dual/chain_text.h). Chains are of one pattern, so threads of a warp do not part ways, and what they
// read lies side by side. A kernel for each widest block: registers are those of the widest.

#define MABD_TILED

#include "chains.h"

#include "dual/chain_text.h"

MABD_FN mabd_chain chain_of(const mabd_cuda_chains& c, int32_t i) {
    mabd_chain chain;
    chain.slot_count = c.slot_count;
    chain.width = c.width, chain.block = c.block, chain.edge_block = c.edge_block;
    chain.D = mabd_tiled_of(c.D, c.D_reals, i), chain.U = mabd_tiled_of(c.U, c.U_reals, i);
    return chain;
}

template <int most> __global__ void __launch_bounds__(128, 1) chains_factor(mabd_cuda_chains c) {
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= c.count) return;
    const mabd_chain chain = chain_of(c, i);
    c.bad[i] = mabd_chain_text_factor(most, &chain);
}

template <int most> __global__ void __launch_bounds__(128, 1) chains_solve(mabd_cuda_chains c) {
    const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= c.count) return;
    const mabd_chain chain = chain_of(c, i);
    mabd_chain_text_solve(most, &chain, mabd_tiled_of(c.x, c.x_reals, i));
}

#define BY_MOST(kernel)                                                                            \
    const int32_t blocks = (c->count + threads - 1) / threads;                                     \
    switch (c->most) {                                                                             \
    case 1:                                                                                        \
        MABD_LAUNCH(kernel<1>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    case 2:                                                                                        \
        MABD_LAUNCH(kernel<2>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    case 3:                                                                                        \
        MABD_LAUNCH(kernel<3>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    case 4:                                                                                        \
        MABD_LAUNCH(kernel<4>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    case 5:                                                                                        \
        MABD_LAUNCH(kernel<5>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    default:                                                                                       \
        MABD_LAUNCH(kernel<6>, blocks, threads, stream, *c);                                       \
        break;                                                                                     \
    }                                                                                              \
    return cudaGetLastError()

cudaError_t MABD_CUDA(chains_factor)(const mabd_cuda_chains* c, int32_t threads,
                                     cudaStream_t stream) {
    BY_MOST(chains_factor);
}

cudaError_t MABD_CUDA(chains_solve)(const mabd_cuda_chains* c, int32_t threads,
                                    cudaStream_t stream) {
    BY_MOST(chains_solve);
}
