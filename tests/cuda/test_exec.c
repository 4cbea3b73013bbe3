// SPDX-License-Identifier: Apache-2.0
// The executor runs kernels as CUDA does, in any order, and reports faults that a GPU would not.
#include "exec_kernels.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

#define COUNT 1000

static const char* const orders[] = {"forward", "reverse", "random:1", "random:2"};

static double* on_device(int n, const double* from) {
    void* at = NULL;
    cr_assert(eq(int, cudaMalloc(&at, (size_t)n * sizeof(double)), cudaSuccess));
    if (from) {
        cr_assert(
            eq(int,
               cudaMemcpyAsync(at, from, (size_t)n * sizeof(double), cudaMemcpyHostToDevice, NULL),
               cudaSuccess));
    }
    return at;
}

static void from_device(int n, const double* from, double* to) {
    cr_assert(
        eq(int, cudaMemcpyAsync(to, from, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost, NULL),
           cudaSuccess));
    cr_assert(eq(int, cudaStreamSynchronize(NULL), cudaSuccess));
}

static void fill(double* x) {
    for (int i = 0; i < COUNT; i++) x[i] = i % 17;
}

Test(exec, every_thread_of_every_block_runs_once_in_any_order) {
    double x[COUNT], y[COUNT];
    fill(x);
    for (int k = 0; k < 4; k++) {
        setenv("MABD_EXEC_ORDER", orders[k], 1);
        double *a = on_device(COUNT, x), *b = on_device(COUNT, x);
        cr_assert(eq(int, exec_axpy(COUNT, 2, a, b, NULL), cudaSuccess));
        from_device(COUNT, b, y);
        for (int i = 0; i < COUNT; i++) cr_assert(eq(dbl, y[i], 3 * x[i]));
        cudaFree(a), cudaFree(b);
    }
}

Test(exec, barriers_hold_all_threads_of_a_block) {
    double x[COUNT], sums[(COUNT + 63) / 64];
    fill(x);
    for (int k = 0; k < 4; k++) {
        setenv("MABD_EXEC_ORDER", orders[k], 1);
        double *a = on_device(COUNT, x), *b = on_device((COUNT + 63) / 64, NULL);
        cr_assert(eq(int, exec_sum(COUNT, a, b, NULL), cudaSuccess));
        from_device((COUNT + 63) / 64, b, sums);
        for (int j = 0; j < (COUNT + 63) / 64; j++) {
            double expected = 0;
            for (int i = 64 * j; i < 64 * (j + 1) && i < COUNT; i++) expected += x[i];
            cr_assert(eq(dbl, sums[j], expected));
        }
        cudaFree(a), cudaFree(b);
    }
}

Test(exec, between_two_barriers_everyone_sees_the_same) {
    int seen[64];
    for (int k = 0; k < 4; k++) {
        void* at = NULL;
        setenv("MABD_EXEC_ORDER", orders[k], 1);
        cr_assert(eq(int, cudaMalloc(&at, sizeof seen), cudaSuccess));
        cr_assert(eq(int, exec_phases(at, NULL), cudaSuccess));
        cr_assert(eq(int, cudaMemcpyAsync(seen, at, sizeof seen, cudaMemcpyDeviceToHost, NULL),
                     cudaSuccess));
        cr_assert(eq(int, cudaStreamSynchronize(NULL), cudaSuccess));
        for (int i = 0; i < 64; i++) cr_assert(eq(int, seen[i], 0));
        cudaFree(at);
    }
}

Test(exec, a_barrier_that_half_of_the_threads_miss_is_a_failure) {
    double* out = on_device(64, NULL);
    cr_expect(eq(int, exec_diverge(out, NULL), cudaErrorLaunchFailure));
    cr_expect(eq(int, cudaGetLastError(), cudaSuccess));
    cudaFree(out);
}

Test(exec, launches_that_no_device_takes_are_refused) {
    double x[4] = {0};
    double* out = on_device(64, NULL);
    cr_expect(eq(int, exec_too_wide(out, NULL), cudaErrorInvalidConfiguration));
    cr_expect(eq(int, exec_axpy(0, 1, out, out, NULL), cudaErrorInvalidConfiguration));
    cr_expect(eq(int, exec_axpy(4, 1, x, out, NULL), cudaErrorIllegalAddress));
    cudaFree(out);
}

Test(exec, memory_comes_as_nan_and_has_an_end) {
    double y[2];
    void* more = NULL;
    double* x = on_device(2, NULL);
    from_device(2, x, y);
    cr_expect(isnan(y[0]) && isnan(y[1]));
    setenv("MABD_EXEC_MEMORY", "100", 1);
    cr_expect(eq(int, cudaMalloc(&more, 85), cudaErrorMemoryAllocation));
    cr_expect(eq(int, cudaGetLastError(), cudaErrorMemoryAllocation));
    cr_expect(eq(int, cudaMalloc(&more, 84), cudaSuccess));
    cr_expect(eq(int, cudaFree(more), cudaSuccess));
    cr_expect(eq(int, cudaFree(x), cudaSuccess));
    cr_expect(eq(int, cudaFree(y), cudaErrorInvalidValue));
}

Test(exec, copies_in_a_wrong_direction_are_refused) {
    double y[2] = {1, 2};
    double* x = on_device(2, y);
    cr_expect(
        eq(int, cudaMemcpyAsync(y, x, 16, cudaMemcpyHostToDevice, NULL), cudaErrorInvalidValue));
    cr_expect(
        eq(int, cudaMemcpyAsync(x, y, 16, cudaMemcpyDeviceToDevice, NULL), cudaErrorInvalidValue));
    cr_expect(eq(int, cudaMemsetAsync(y, 0, 16, NULL), cudaErrorInvalidValue));
    cudaFree(x);
}

// Two streams: one doubles x, the other reads it. Without the event the reader comes first.
static double read_after(bool waits) {
    double x[1] = {1}, y[1] = {0};
    cudaStream_t writer, reader;
    cudaEvent_t event;
    setenv("MABD_EXEC_ASYNC", "1", 1);
    double* at = on_device(1, x);
    cr_assert(eq(int, cudaStreamSynchronize(NULL), cudaSuccess));
    cr_assert(eq(int, cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking), cudaSuccess));
    cr_assert(eq(int, cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking), cudaSuccess));
    cr_assert(eq(int, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess));
    cr_assert(eq(int, exec_axpy(1, 1, at, at, writer), cudaSuccess));
    cr_assert(eq(int, cudaEventRecord(event, writer), cudaSuccess));
    if (waits) cr_assert(eq(int, cudaStreamWaitEvent(reader, event, 0), cudaSuccess));
    cr_assert(
        eq(int, cudaMemcpyAsync(y, at, sizeof *y, cudaMemcpyDeviceToHost, reader), cudaSuccess));
    cr_expect(eq(dbl, y[0], 0));
    cr_assert(eq(int, cudaStreamSynchronize(reader), cudaSuccess));
    cudaEventDestroy(event);
    cudaStreamDestroy(writer), cudaStreamDestroy(reader);
    cudaFree(at);
    return y[0];
}

Test(exec, streams_wait_only_for_events) {
    cr_expect(eq(dbl, read_after(true), 2));
    cr_expect(eq(dbl, read_after(false), 1));
}

Test(exec, a_machine_without_driver_leaves_the_count_alone) {
    int count = -7;
    setenv("MABD_EXEC_DRIVER", "none", 1);
    cr_expect(eq(int, cudaGetDeviceCount(&count), cudaErrorNoDevice));
    setenv("MABD_EXEC_DRIVER", "old", 1);
    cr_expect(eq(int, cudaGetDeviceCount(&count), cudaErrorInsufficientDriver));
    cr_expect(eq(int, count, -7));
}
