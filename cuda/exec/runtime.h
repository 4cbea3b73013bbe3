// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime that our host code uses, for kernels on the CPU (kernel.h): names,
// numbers and meaning as in CUDA, with other symbols, because the real library may be in the same
// process.
//
// Memory of the device is on the heap and is filled with NaN at allocation. Copies in a wrong
// direction and kernel arguments that are not device memory are refused. With MABD_EXEC_ASYNC=1 a
// stream runs only when something waits for it, which exposes missing synchronisation. Environment,
// read at each use:
//
//   MABD_EXEC_ORDER   forward (default), reverse, random:SEED: order of blocks, and of threads
//                     between two barriers
//   MABD_EXEC_ASYNC   1: streams run when something waits for them
//   MABD_EXEC_MEMORY  bytes of the device (default: the memory of the machine)
//   MABD_EXEC_DRIVER  none, old: behave as without a driver, or with one that is too old
//   MABD_EXEC_FAIL    N: the N-th launch fails, as on a broken device
#pragma once

#include <stddef.h>

#define cudaGetDeviceCount        mabd_exec_get_device_count
#define cudaSetDevice             mabd_exec_set_device
#define cudaGetDeviceProperties   mabd_exec_get_device_properties
#define cudaDeviceSynchronize     mabd_exec_device_synchronize
#define cudaGetLastError          mabd_exec_get_last_error
#define cudaPeekAtLastError       mabd_exec_peek_at_last_error
#define cudaGetErrorName          mabd_exec_get_error_name
#define cudaGetErrorString        mabd_exec_get_error_string
#define cudaMalloc                mabd_exec_malloc
#define cudaFree                  mabd_exec_free
#define cudaMemGetInfo            mabd_exec_mem_get_info
#define cudaMemcpyAsync           mabd_exec_memcpy_async
#define cudaMemsetAsync           mabd_exec_memset_async
#define cudaStreamCreateWithFlags mabd_exec_stream_create_with_flags
#define cudaStreamDestroy         mabd_exec_stream_destroy
#define cudaStreamSynchronize     mabd_exec_stream_synchronize
#define cudaStreamWaitEvent       mabd_exec_stream_wait_event
#define cudaEventCreateWithFlags  mabd_exec_event_create_with_flags
#define cudaEventDestroy          mabd_exec_event_destroy
#define cudaEventRecord           mabd_exec_event_record
#define cudaEventSynchronize      mabd_exec_event_synchronize

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719
} cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};

typedef struct mabd_exec_stream* cudaStream_t;
typedef struct mabd_exec_event* cudaEvent_t;
#define cudaStreamNonBlocking  1u
#define cudaEventDisableTiming 2u

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor;
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaMalloc(void** memory, size_t size);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

#ifdef __cplusplus
}
#endif
