// SPDX-License-Identifier: Apache-2.0
// Kernels whose bytes and operations are known by hand.
#pragma once

#include "cuda/exec/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// S[i] = L d L' (3 x 3 each), good[i] = 1 if it has one; one thread each, 32 in a block.
cudaError_t model_factor(int n, double* S, int* good, cudaStream_t stream);
/// R[i] = polar(A[i]) (9 reals each), 32 in a block.
cudaError_t model_turn(int n, const double* A, double* R, cudaStream_t stream);
/// x[i] = sum of i ones, 64 in a block: threads of a warp have more and more to do.
cudaError_t model_ladder(int n, double* x, cudaStream_t stream);
/// x[i] = the first number, n threads, 64 in a block.
cudaError_t model_spread(int n, double* x, cudaStream_t stream);
/// to = from, n structures of 40 bytes, one thread each, 32 in a block.
cudaError_t model_move(int n, const void* from, void* to, cudaStream_t stream);
/// 3 of every 4 reals by memcpy, 12 of every 12 by a loop; a thread each, 32 in a block.
cudaError_t model_copy_three(int n, const double* from, double* to, cudaStream_t stream);
cudaError_t model_loop_twelve(int n, const double* from, double* to, cudaStream_t stream);
/// Zeroes `reals` for each of n threads, by memset; 32 in a block.
cudaError_t model_clear(int n, int reals, double* x, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
