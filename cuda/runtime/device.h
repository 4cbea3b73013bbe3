// SPDX-License-Identifier: Apache-2.0
// The device of one simulation: a stream, and its memory in one allocation. A function waits for
// the device only if its comment says so.
#pragma once

#include "cuda/exec/kernel.h"

#include "mabd/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mabd_device {
    cudaStream_t stream;
    void* memory; // one allocation, null = not reserved yet
    size_t size;  // of `memory` [bytes]
    bool open;    // the stream exists
} mabd_device;

/// Set status and text for an error of the runtime. what: the action that failed. Returns
/// MABD_ERR_UNAVAILABLE without a device or with too old a driver, MABD_ERR_MEMORY, or
/// MABD_ERR_DEVICE.
mabd_status MABD_CUDA(fail)(mabd_error* error, cudaError_t code, const char* what);

/// Call a function of the runtime and return from the caller if it fails.
#define MABD_CUDA_TRY(call, what)                                                                  \
    do {                                                                                           \
        const cudaError_t code_ = (call);                                                          \
        if (code_ != cudaSuccess) return MABD_CUDA(fail)(error, code_, what);                      \
    } while (0)

/// Open the first device and create a stream. MABD_ERR_UNAVAILABLE, MABD_ERR_DEVICE.
mabd_status MABD_CUDA(device_open)(mabd_device* device, mabd_error* error);
/// Allocate all memory of the simulation; its content is undefined. MABD_ERR_MEMORY: the text names
/// the available bytes.
mabd_status MABD_CUDA(device_reserve)(mabd_device* device, size_t size, mabd_error* error);
/// Write the architectures that the kernels are compiled for to text (size bytes).
void MABD_CUDA(device_target)(size_t size, char* text);
/// Write the name of the first device to text (size bytes); *memory: its memory, *spare: the free
/// part [bytes].
mabd_status MABD_CUDA(device_describe)(size_t size, char* text, size_t* memory, size_t* spare,
                                       mabd_error* error);
/// Free memory and stream, also of a device that was opened in part.
void MABD_CUDA(device_close)(mabd_device* device);

/// Copy `size` bytes to the device in stream order; `from` must not change until device_wait.
mabd_status MABD_CUDA(device_upload)(const mabd_device* device, const void* from, size_t size,
                                     void* to, mabd_error* error);
/// Copy `size` bytes to the host in the order of the stream; `to` is valid after device_wait.
mabd_status MABD_CUDA(device_download)(const mabd_device* device, const void* from, size_t size,
                                       void* to, mabd_error* error);
/// Wait until the stream is empty; returns errors of kernels.
mabd_status MABD_CUDA(device_wait)(const mabd_device* device, mabd_error* error);

#ifdef __cplusplus
}
#endif
