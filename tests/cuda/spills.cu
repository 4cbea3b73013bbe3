// SPDX-License-Identifier: Apache-2.0
// A kernel that needs more than 80 registers, for 40 numbers at once. With MABD_TEST_THREADS = 1024
// a thread gets 64.

#define COUNT 40

__global__ void __launch_bounds__(MABD_TEST_THREADS) iterate(const double* a, double* x) {
    double p[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++) p[i] = x[COUNT * threadIdx.x + i];
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        const double c = a[k];
#pragma unroll
        for (int i = 0; i < COUNT; i++) p[i] = p[i] * p[(i + 1) % COUNT] + c;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) x[COUNT * threadIdx.x + i] = p[i];
}
