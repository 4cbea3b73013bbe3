// SPDX-License-Identifier: Apache-2.0
// The device of one simulation: a stream, and all its memory in one piece. Nothing here waits for
// the device but what says so.
#pragma once

#include "cuda/exec/kernel.h"

#include "mabd/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mabd_device {
    cudaStream_t stream;
    void* memory; // one allocation, null = none yet
    size_t size;
    bool open;
} mabd_device;

/// Status and text for an error of the runtime, after what was done: MABD_ERR_UNAVAILABLE without a
/// device or with too old a driver, MABD_ERR_MEMORY, MABD_ERR_DEVICE for the rest.
mabd_status MABD_CUDA(fail)(mabd_error* error, cudaError_t code, const char* what);

/// Every call of the runtime goes through this.
#define MABD_CUDA_TRY(call, what)                                                                  \
    do {                                                                                           \
        const cudaError_t code_ = (call);                                                          \
        if (code_ != cudaSuccess) return MABD_CUDA(fail)(error, code_, what);                      \
    } while (0)

/// The first device, with a stream of its own. MABD_ERR_UNAVAILABLE, MABD_ERR_DEVICE.
mabd_status MABD_CUDA(device_open)(mabd_device* device, mabd_error* error);
/// All memory that it will use, once; what is in it is not defined. MABD_ERR_MEMORY tells how much
/// there is.
mabd_status MABD_CUDA(device_reserve)(mabd_device* device, size_t size, mabd_error* error);
/// What the kernels are compiled for; the device that is open, its memory and what is free of it
/// [bytes].
void MABD_CUDA(device_target)(size_t size, char* text);
mabd_status MABD_CUDA(device_describe)(size_t size, char* text, size_t* memory, size_t* spare,
                                       mabd_error* error);
/// Give everything back, whatever is there of it.
void MABD_CUDA(device_close)(mabd_device* device);

/// Copies in the order of the stream. `from` and `to` on the host stay as they are until
/// mabd_device_wait.
mabd_status MABD_CUDA(device_upload)(const mabd_device* device, const void* from, size_t size,
                                     void* to, mabd_error* error);
mabd_status MABD_CUDA(device_download)(const mabd_device* device, const void* from, size_t size,
                                       void* to, mabd_error* error);
/// Wait until the stream has done all it was given; errors of kernels show here.
mabd_status MABD_CUDA(device_wait)(const mabd_device* device, mabd_error* error);

#ifdef __cplusplus
}
#endif
