// SPDX-License-Identifier: Apache-2.0
// Memory, streams and events of the simulated device (runtime.h). A stream is a list of tasks. They
// are executed at once or, with MABD_EXEC_ASYNC=1, when something waits for the stream, after the
// tasks of other streams that they wait for.

#include "cuda/exec/exec.h"
#include "cuda/exec/watch.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <unistd.h>

namespace {

struct task {
    std::function<void()> work; // empty = only waits
    mabd_exec_stream* other;    // stream to wait for, null = none
    uint64_t until;             // number of tasks it must have executed
};

std::recursive_mutex access_mutex;
std::map<uintptr_t, size_t> memory; // allocations of the device: address, size
size_t memory_used;
std::mutex error_mutex;
cudaError_t last_error;
uint64_t launches; // counted for MABD_EXEC_FAIL

} // namespace

struct mabd_exec_stream {
    std::deque<task> tasks;
    uint64_t given = 0, done = 0;
};

struct mabd_exec_event {
    mabd_exec_stream* stream = nullptr;
    uint64_t place = 0;
};

namespace {

mabd_exec_stream null_stream;
std::set<mabd_exec_stream*> streams = {&null_stream};

#define ALONE() std::lock_guard<std::recursive_mutex> alone(access_mutex)

mabd_exec_stream* own(mabd_exec_stream* stream) {
    return stream ? stream : &null_stream;
}

void work_off(mabd_exec_stream* stream, uint64_t until) {
    while (stream->done < until && !stream->tasks.empty()) {
        task t = std::move(stream->tasks.front());
        stream->tasks.pop_front();
        if (t.other) work_off(t.other, t.until);
        if (t.work) t.work();
        stream->done++;
    }
}

void report_wait() {
    if (mabd_exec::watching) mabd_exec::watching->wait();
}

void report_memory(const void* at, size_t size) {
    if (mabd_exec::watching) mabd_exec::watching->memory(at, size);
}

void work_off_all() {
    for (mabd_exec_stream* s : streams) work_off(s, UINT64_MAX);
}

void give(mabd_exec_stream* stream, task t) {
    const char* waits = getenv("MABD_EXEC_ASYNC");
    stream = own(stream);
    stream->tasks.push_back(std::move(t));
    stream->given++;
    if (!waits || strcmp(waits, "1") != 0) work_off(stream, stream->given);
}

// Memory of the device: that of the machine, or MABD_EXEC_MEMORY.
size_t memory_limit() {
    const char* limit = getenv("MABD_EXEC_MEMORY");
    if (limit) return (size_t)strtoull(limit, nullptr, 10);
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

cudaError_t refuse(cudaError_t error) {
    mabd_exec::set_error(error);
    return error;
}

// Error of a machine without a driver; like the CUDA runtime, the callers leave their outputs
// unchanged.
cudaError_t driver() {
    const char* state = getenv("MABD_EXEC_DRIVER");
    if (!state) return cudaSuccess;
    return strcmp(state, "none") == 0 ? cudaErrorNoDevice : cudaErrorInsufficientDriver;
}

} // namespace

namespace mabd_exec {

void set_error(cudaError_t error) {
    std::lock_guard<std::mutex> guard(error_mutex);
    if (last_error == cudaSuccess) last_error = error;
}

bool is_device(const void* pointer) {
    return is_device(pointer, 1);
}

bool is_device(const void* pointer, size_t size) {
    ALONE();
    auto after = memory.upper_bound((uintptr_t)pointer);
    if (after == memory.begin()) return false;
    --after;
    const size_t from = (uintptr_t)pointer - after->first;
    return from < after->second && size <= after->second - from;
}

void enqueue_host(cudaStream_t stream, std::function<void()> work) {
    ALONE();
    give(stream, task{std::move(work), nullptr, 0});
}

cudaError_t enqueue(const launch& l, cudaStream_t stream, const void* bad) {
    ALONE();
    const char* fails = getenv("MABD_EXEC_FAIL");
    if (fails && ++launches == strtoull(fails, nullptr, 10)) return refuse(cudaErrorLaunchFailure);
    if (l.threads < 1 || l.threads > 1024 || l.blocks < 1 || l.blocks > 0x7fffffff) {
        return refuse(cudaErrorInvalidConfiguration);
    }
    if (bad) {
        fprintf(stderr, "mabd executor: %s:%d: kernel %s gets %p, which is no device memory\n",
                l.file, l.line, l.name, bad);
        return refuse(cudaErrorIllegalAddress);
    }
    give(stream, task{[l] { run_grid(l); }, nullptr, 0});
    return cudaSuccess;
}

} // namespace mabd_exec

// ---- the calls ----------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
    const cudaError_t error = driver();
    if (error == cudaSuccess) *count = 1;
    return error;
}

cudaError_t cudaSetDevice(int device) {
    const cudaError_t error = driver();
    if (error != cudaSuccess) return error;
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    const cudaError_t error = cudaSetDevice(device);
    if (error != cudaSuccess) return error;
    *properties = cudaDeviceProp{"this processor, by the executor", memory_limit(), 0, 0};
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void) {
    std::lock_guard<std::mutex> guard(error_mutex);
    return last_error;
}

cudaError_t cudaGetLastError(void) {
    std::lock_guard<std::mutex> guard(error_mutex);
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "cudaSuccess";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
        return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver:
        return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
        return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
        return "cudaErrorInvalidDevice";
    case cudaErrorIllegalAddress:
        return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure:
        return "cudaErrorLaunchFailure";
    }
    return "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    }
    return "unrecognized error code";
}

cudaError_t cudaDeviceSynchronize(void) {
    ALONE();
    report_wait();
    work_off_all();
    return cudaPeekAtLastError();
}

// Allocate exactly the requested size, so that AddressSanitizer detects overruns.
cudaError_t cudaMalloc(void** pointer, size_t size) {
    ALONE();
    void* at = nullptr;
    if (size == 0) return *pointer = nullptr, cudaSuccess;
    if (size > memory_limit() - memory_used || posix_memalign(&at, 256, size) != 0) {
        return refuse(cudaErrorMemoryAllocation);
    }
    memset(at, 0xff, size); // NaN
    memory[(uintptr_t)at] = size;
    memory_used += size;
    report_memory(at, size);
    *pointer = at;
    return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
    ALONE();
    work_off_all();
    if (!pointer) return cudaSuccess;
    const auto found = memory.find((uintptr_t)pointer);
    if (found == memory.end()) return refuse(cudaErrorInvalidValue);
    memory_used -= found->second;
    memory.erase(found);
    report_memory(pointer, 0);
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
    ALONE();
    *total = memory_limit();
    *available = *total - memory_used;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    ALONE();
    if (size == 0) return cudaSuccess;
    const bool to_device = kind != cudaMemcpyDeviceToHost,
               from_device = kind != cudaMemcpyHostToDevice;
    if (mabd_exec::is_device(to) != to_device || mabd_exec::is_device(from) != from_device) {
        return refuse(cudaErrorInvalidValue);
    }
    if (mabd_exec::watching && kind != cudaMemcpyDeviceToDevice) {
        mabd_exec::watching->copy(size, kind == cudaMemcpyDeviceToHost);
    }
    give(stream, task{[=] { memcpy(to, from, size); }, nullptr, 0});
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
    ALONE();
    if (size == 0) return cudaSuccess;
    if (!mabd_exec::is_device(to)) return refuse(cudaErrorInvalidValue);
    give(stream, task{[=] { memset(to, value, size); }, nullptr, 0});
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    ALONE();
    // Our streams are non-blocking, so none waits for the default stream.
    if (flags != cudaStreamNonBlocking) return refuse(cudaErrorInvalidValue);
    *stream = new mabd_exec_stream;
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    ALONE();
    work_off_all();
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    ALONE();
    report_wait();
    work_off(own(stream), UINT64_MAX);
    return cudaPeekAtLastError();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (flags != cudaEventDisableTiming) return refuse(cudaErrorInvalidValue);
    *event = new mabd_exec_event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    ALONE();
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    ALONE();
    event->stream = own(stream);
    event->place = event->stream->given;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    ALONE();
    report_wait();
    if (event->stream) work_off(event->stream, event->place);
    return cudaPeekAtLastError();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    ALONE();
    if (flags != 0) return refuse(cudaErrorInvalidValue);
    if (event->stream) give(stream, task{nullptr, event->stream, event->place});
    return cudaSuccess;
}
