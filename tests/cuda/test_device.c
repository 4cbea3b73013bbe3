// SPDX-License-Identifier: Apache-2.0
// Errors of a machine without a usable device, and copies to the device and back.
#include "cuda/runtime/device.h"
#include "exec_kernels.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static mabd_device open_device(void) {
    mabd_device device;
    mabd_error error = {0};
    cr_assert(eq(int, MABD_CUDA(device_open)(&device, &error), MABD_OK), "%s", error.text);
    return device;
}

static void expect_none(const char* driver, const char* text) {
    mabd_device device;
    mabd_error error = {0};
    setenv("MABD_EXEC_DRIVER", driver, 1);
    cr_expect(eq(int, MABD_CUDA(device_open)(&device, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(eq(str, error.text, (char*)text));
    cr_expect(eq(int, cudaGetLastError(), cudaSuccess));
    MABD_CUDA(device_close)(&device);
}

Test(device, a_missing_device_is_reported) {
    expect_none("none", "no CUDA device: no CUDA-capable device is detected");
}

Test(device, too_old_a_driver_is_reported) {
    expect_none("old",
                "no CUDA driver, or one that is too old: CUDA driver version is insufficient "
                "for CUDA runtime version");
}

Test(device, too_little_memory_is_reported_with_numbers) {
    mabd_error error = {0};
    setenv("MABD_EXEC_MEMORY", "5000000", 1);
    mabd_device device = open_device();
    cr_expect(eq(int, MABD_CUDA(device_reserve)(&device, 4000000, &error), MABD_OK));
    cr_expect(eq(int, MABD_CUDA(device_reserve)(&device, 2000000, &error), MABD_ERR_MEMORY));
    cr_expect(
        eq(str, error.text,
           (char*)"out of device memory: the simulation needs 2.0 MB, 1.0 of 5.0 MB are free"));
    MABD_CUDA(device_close)(&device);
}

Test(device, copies_go_there_and_back_in_the_order_of_the_stream) {
    const double from[3] = {1, 2, 3};
    double to[3] = {0, 0, 0};
    mabd_error error = {0};
    setenv("MABD_EXEC_ASYNC", "1", 1);
    mabd_device device = open_device();
    cr_assert(eq(int, MABD_CUDA(device_reserve)(&device, sizeof from, &error), MABD_OK));
    cr_assert(eq(int, MABD_CUDA(device_upload)(&device, from, sizeof from, device.memory, &error),
                 MABD_OK));
    cr_assert(eq(int, exec_axpy(3, 1, device.memory, device.memory, device.stream), cudaSuccess));
    cr_assert(eq(int, MABD_CUDA(device_download)(&device, device.memory, sizeof to, to, &error),
                 MABD_OK));
    cr_expect(eq(dbl, to[2], 0));
    cr_assert(eq(int, MABD_CUDA(device_wait)(&device, &error), MABD_OK));
    for (int i = 0; i < 3; i++) cr_expect(eq(dbl, to[i], 2 * from[i]));
    MABD_CUDA(device_close)(&device);
}

Test(device, a_kernel_that_fails_shows_where_it_is_waited_for) {
    mabd_error error = {0};
    setenv("MABD_EXEC_ASYNC", "1", 1);
    mabd_device device = open_device();
    cr_assert(eq(int, MABD_CUDA(device_reserve)(&device, 1024, &error), MABD_OK));
    cr_assert(eq(int, exec_diverge(device.memory, device.stream), cudaSuccess));
    cr_expect(eq(int, MABD_CUDA(device_wait)(&device, &error), MABD_ERR_DEVICE));
    cr_expect(
        eq(str, error.text,
           (char*)"waiting for the device: unspecified launch failure (cudaErrorLaunchFailure)"));
    MABD_CUDA(device_close)(&device);
}
