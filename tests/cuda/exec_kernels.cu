// SPDX-License-Identifier: Apache-2.0
#include "cuda/exec/kernel.h"

#include "exec_kernels.h"

#define WIDTH 64

__global__ static void axpy(int n, double a, const double* x, double* y) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] += a * x[i];
}

cudaError_t exec_axpy(int n, double a, const double* x, double* y, cudaStream_t stream) {
    MABD_LAUNCH(axpy, (n + 31) / 32, 32, stream, n, a, x, y);
    return cudaGetLastError();
}

__global__ static void sum(int n, const double* x, double* sums) {
    __shared__ double part[WIDTH];
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * WIDTH + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int w = WIDTH / 2; w > 0; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

cudaError_t exec_sum(int n, const double* x, double* sums, cudaStream_t stream) {
    MABD_LAUNCH(sum, (n + WIDTH - 1) / WIDTH, WIDTH, stream, n, x, sums);
    return cudaGetLastError();
}

__global__ static void phases(int* seen) {
    __shared__ int passed[WIDTH];
    const int t = (int)threadIdx.x;
    passed[t] = 0;
    __syncthreads();
    int count = 0;
    for (int i = 0; i < WIDTH; i++) count += passed[i];
    __syncthreads();
    passed[t] = 1;
    __syncthreads();
    for (int i = 0; i < WIDTH; i++) count += passed[i] - 1;
    seen[t] = count;
}

cudaError_t exec_phases(int* seen, cudaStream_t stream) {
    MABD_LAUNCH(phases, 1, WIDTH, stream, seen);
    return cudaGetLastError();
}

__global__ static void diverge(double* out) {
    if (threadIdx.x < WIDTH / 2) {
        __syncthreads();
        out[threadIdx.x] = 1;
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
}

cudaError_t exec_diverge(double* out, cudaStream_t stream) {
    MABD_LAUNCH(diverge, 1, WIDTH, stream, out);
    return cudaGetLastError();
}

__global__ static void race_inside(int n, const double* x, double* sum) {
    __shared__ double part[WIDTH];
    const int t = (int)threadIdx.x;
    part[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int w = WIDTH / 2; w > 0; w /= 2) {
        if (t < w) part[t] += part[t + w];
    }
    if (t == 0) *sum = part[0];
}

cudaError_t exec_race_inside(int n, const double* x, double* sum, cudaStream_t stream) {
    MABD_LAUNCH(race_inside, 1, WIDTH, stream, n, x, sum);
    return cudaGetLastError();
}

__global__ static void race_between(double* sum) {
    if (threadIdx.x == 0) *sum += 1;
}

cudaError_t exec_race_between(int blocks, double* sum, cudaStream_t stream) {
    MABD_LAUNCH(race_between, blocks, 32, stream, sum);
    return cudaGetLastError();
}

__global__ static void overrun(int n, double* x) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) x[i] = 1;
}

cudaError_t exec_overrun(int n, double* x, cudaStream_t stream) {
    MABD_LAUNCH(overrun, n / 32 + 1, 32, stream, n, x);
    return cudaGetLastError();
}

cudaError_t exec_too_wide(double* out, cudaStream_t stream) {
    MABD_LAUNCH(overrun, 1, 2048, stream, 1, out);
    return cudaGetLastError();
}
