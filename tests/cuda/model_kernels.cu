// SPDX-License-Identifier: Apache-2.0
#include "cuda/exec/kernel.h"

#include "model_kernels.h"

extern "C" {
#include "math/block.h"
#include "math/polar.h"
}

#define INDEX ((int)(blockIdx.x * blockDim.x + threadIdx.x))

static unsigned blocks_of(int n, int threads) {
    return (unsigned)((n + threads - 1) / threads);
}

__global__ static void factor(int n, double* S, int* good) {
    if (INDEX < n) good[INDEX] = mabd_block_ldl(3, S + 9 * INDEX);
}

cudaError_t model_factor(int n, double* S, int* good, cudaStream_t stream) {
    MABD_LAUNCH(factor, blocks_of(n, 32), 32, stream, n, S, good);
    return cudaGetLastError();
}

__global__ static void turn(int n, const double* A, double* R) {
    mabd_mat3 X;
    if (INDEX < n && mabd_polar(mabd_m3_load(A + 9 * INDEX), &X)) mabd_m3_store(X, R + 9 * INDEX);
}

cudaError_t model_turn(int n, const double* A, double* R, cudaStream_t stream) {
    MABD_LAUNCH(turn, blocks_of(n, 32), 32, stream, n, A, R);
    return cudaGetLastError();
}

__global__ static void ladder(int n, double* x) {
    double sum = 0;
    for (int k = 0; k < INDEX && INDEX < n; k++) sum += 1;
    if (INDEX < n) x[INDEX] = sum;
}

cudaError_t model_ladder(int n, double* x, cudaStream_t stream) {
    MABD_LAUNCH(ladder, blocks_of(n, 64), 64, stream, n, x);
    return cudaGetLastError();
}

template <int threads> __global__ static void spread(int n, double* x) {
    __shared__ double first;
    if (threadIdx.x == 0) first = x[0];
    __syncthreads();
    if (INDEX < n) x[INDEX] = first;
}

cudaError_t model_spread(int n, double* x, cudaStream_t stream) {
    MABD_LAUNCH(spread<64>, blocks_of(n, 64), 64, stream, n, x);
    return cudaGetLastError();
}

struct parcel {
    double a[4];
    int b[2];
};

__global__ static void move(int n, const parcel* from, parcel* to) {
    if (INDEX < n) to[INDEX] = from[INDEX];
}

cudaError_t model_move(int n, const void* from, void* to, cudaStream_t stream) {
    MABD_LAUNCH(move, blocks_of(n, 32), 32, stream, n, (const parcel*)from, (parcel*)to);
    return cudaGetLastError();
}

__global__ static void copy_three(int n, const double* from, double* to) {
    if (INDEX < n) memcpy(to + 4 * INDEX, from + 4 * INDEX, 3 * sizeof(double));
}

cudaError_t model_copy_three(int n, const double* from, double* to, cudaStream_t stream) {
    MABD_LAUNCH(copy_three, blocks_of(n, 32), 32, stream, n, from, to);
    return cudaGetLastError();
}

__global__ static void loop_twelve(int n, const double* __restrict__ from,
                                   double* __restrict__ to) {
    for (int k = 0; k < 12 && INDEX < n; k++) to[12 * INDEX + k] = from[12 * INDEX + k];
}

cudaError_t model_loop_twelve(int n, const double* from, double* to, cudaStream_t stream) {
    MABD_LAUNCH(loop_twelve, blocks_of(n, 32), 32, stream, n, from, to);
    return cudaGetLastError();
}

__global__ static void clear(int n, int reals, double* x) {
    if (INDEX < n) memset(x + reals * INDEX, 0, (size_t)reals * sizeof(double));
}

cudaError_t model_clear(int n, int reals, double* x, cudaStream_t stream) {
    MABD_LAUNCH(clear, blocks_of(n, 32), 32, stream, n, reals, x);
    return cudaGetLastError();
}
