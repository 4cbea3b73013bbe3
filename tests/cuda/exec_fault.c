// SPDX-License-Identifier: Apache-2.0
// Run one kernel by name under sanitizers: exec_fault KERNEL. The exit code is always 0; ctest
// reads their reports.
#include "exec_kernels.h"

#include <stdio.h>
#include <string.h>

#define COUNT 200

int main(int argc, char** argv) {
    const char* name = argc == 2 ? argv[1] : "";
    double x[COUNT];
    void *from = NULL, *to = NULL;
    for (int i = 0; i < COUNT; i++) x[i] = i;
    if (cudaMalloc(&from, sizeof x) != cudaSuccess || cudaMalloc(&to, sizeof x) != cudaSuccess ||
        cudaMemcpyAsync(from, x, sizeof x, cudaMemcpyHostToDevice, NULL) != cudaSuccess ||
        cudaMemcpyAsync(to, x, sizeof x, cudaMemcpyHostToDevice, NULL) != cudaSuccess) {
        return 1;
    }
    if (strcmp(name, "sum") == 0) {
        exec_sum(COUNT, from, to, NULL);
    } else if (strcmp(name, "axpy") == 0) {
        exec_axpy(COUNT, 2, from, to, NULL);
    } else if (strcmp(name, "inside") == 0) {
        exec_race_inside(64, from, to, NULL);
    } else if (strcmp(name, "between") == 0) {
        exec_race_between(4, to, NULL);
    } else if (strcmp(name, "overrun") == 0) {
        exec_overrun(COUNT, to, NULL);
    } else {
        fprintf(stderr, "usage: exec_fault axpy|sum|inside|between|overrun\n");
        return 2;
    }
    cudaMemcpyAsync(x, to, sizeof x, cudaMemcpyDeviceToHost, NULL);
    cudaDeviceSynchronize();
    printf("%s: %g\n", name, x[0]);
    cudaFree(from), cudaFree(to);
    return 0;
}
