// SPDX-License-Identifier: Apache-2.0
// Kernels to test the executor with: correct ones, and faulty ones that it must report.
#pragma once

#include "cuda/exec/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// y[i] += a x[i], i < n; blocks of 32 threads.
cudaError_t exec_axpy(int n, double a, const double* x, double* y, cudaStream_t stream);
/// sums[b] = sum of x over the entries of block b, 64 each, with barriers; as many blocks as n
/// needs.
cudaError_t exec_sum(int n, const double* x, double* sums, cudaStream_t stream);
/// seen[i] = 0 if every thread saw of all others what they wrote before the last barrier, and
/// nothing later; 64 threads.
cudaError_t exec_phases(int* seen, cudaStream_t stream);
/// Barriers on two lines, each for half of the threads.
cudaError_t exec_diverge(double* out, cudaStream_t stream);
/// exec_sum with a barrier missing.
cudaError_t exec_race_inside(int n, const double* x, double* sum, cudaStream_t stream);
/// Several blocks add to one number.
cudaError_t exec_race_between(int blocks, double* sum, cudaStream_t stream);
/// Writes one number after the end of x.
cudaError_t exec_overrun(int n, double* x, cudaStream_t stream);
/// Too many threads for a block.
cudaError_t exec_too_wide(double* out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
