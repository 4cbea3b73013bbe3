// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/device.h"

#include <stdio.h>

extern "C" {
#include "base/error.h"
}

mabd_status MABD_CUDA(fail)(mabd_error* error, cudaError_t code, const char* what) {
    cudaGetLastError(); // clear it: it is reported here
    switch (code) {
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "no CUDA device: %s",
                         cudaGetErrorString(code));
    case cudaErrorInsufficientDriver:
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "no CUDA driver, or one that is too old: %s",
                         cudaGetErrorString(code));
    case cudaErrorMemoryAllocation:
        return mabd_fail(error, MABD_ERR_MEMORY, "out of device memory: %s", what);
    default:
        return mabd_fail(error, MABD_ERR_DEVICE, "%s: %s (%s)", what, cudaGetErrorString(code),
                         cudaGetErrorName(code));
    }
}

mabd_status MABD_CUDA(device_open)(mabd_device* device, mabd_error* error) {
    const mabd_device none = {};
    int count = 0; // not written without a driver
    *device = none;
    MABD_CUDA_TRY(cudaGetDeviceCount(&count), "counting devices");
    if (count < 1) return MABD_CUDA(fail)(error, cudaErrorNoDevice, "counting devices");
    MABD_CUDA_TRY(cudaSetDevice(0), "selecting the first device");
    MABD_CUDA_TRY(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking),
                  "creating a stream");
    device->open = true;
    return MABD_OK;
}

mabd_status MABD_CUDA(device_reserve)(mabd_device* device, size_t size, mabd_error* error) {
    size_t available = 0, total = 0;
    MABD_CUDA_TRY(cudaMemGetInfo(&available, &total), "querying the memory of the device");
    if (size > available) {
        return mabd_fail(
            error, MABD_ERR_MEMORY,
            "out of device memory: the simulation needs %.1f MB, %.1f of %.1f MB are free",
            (double)size / 1e6, (double)available / 1e6, (double)total / 1e6);
    }
    MABD_CUDA_TRY(cudaMalloc(&device->memory, size), "allocating the memory of the simulation");
    device->size = size;
    return MABD_OK;
}

#ifdef MABD_CUDA_TARGET
#define TARGET MABD_CUDA_TARGET
#else
#define TARGET "the CPU, thread after thread"
#endif

void MABD_CUDA(device_target)(size_t size, char* text) {
    snprintf(text, size, "%s", TARGET);
}

mabd_status MABD_CUDA(device_describe)(size_t size, char* text, size_t* memory, size_t* spare,
                                       mabd_error* error) {
    cudaDeviceProp properties;
    MABD_CUDA_TRY(cudaGetDeviceProperties(&properties, 0), "querying the device");
    if (properties.major > 0) {
        snprintf(text, size, "%s, compute capability %d.%d", properties.name, properties.major,
                 properties.minor);
    } else {
        snprintf(text, size, "%s", properties.name);
    }
    MABD_CUDA_TRY(cudaMemGetInfo(spare, memory), "querying the memory of the device");
    return MABD_OK;
}

void MABD_CUDA(device_close)(mabd_device* device) {
    if (device->memory) cudaFree(device->memory);
    if (device->open) cudaStreamDestroy(device->stream);
    device->memory = NULL, device->open = false;
}

mabd_status MABD_CUDA(device_upload)(const mabd_device* device, const void* from, size_t size,
                                     void* to, mabd_error* error) {
    MABD_CUDA_TRY(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, device->stream),
                  "copying to the device");
    return MABD_OK;
}

mabd_status MABD_CUDA(device_download)(const mabd_device* device, const void* from, size_t size,
                                       void* to, mabd_error* error) {
    MABD_CUDA_TRY(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, device->stream),
                  "copying from the device");
    return MABD_OK;
}

mabd_status MABD_CUDA(device_wait)(const mabd_device* device, mabd_error* error) {
    MABD_CUDA_TRY(cudaStreamSynchronize(device->stream), "waiting for the device");
    return MABD_OK;
}
