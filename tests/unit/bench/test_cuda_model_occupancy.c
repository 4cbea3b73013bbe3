// SPDX-License-Identifier: Apache-2.0
// Occupancy by hand, and against the rule that comes with CUDA where it is there.
#include "bench/cuda-model/occupancy.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#ifdef MABD_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

static void expect(int architecture, int registers, int shared, int threads, int blocks,
                   const char* limit) {
    const model_architecture* a = model_architecture_find(architecture);
    cr_assert_not_null(a);
    const model_occupancy o = model_occupancy_of(a, registers, shared, threads);
    cr_expect(eq(i32, o.blocks, blocks), "sm_%d, %d registers, %d shared, %d threads", architecture,
              registers, shared, threads);
    cr_expect(eq(i32, o.warps, blocks * ((threads + 31) / 32)));
    cr_expect(eq(dbl, o.share, (double)o.warps / (architecture == 120 ? 48 : 64)));
    cr_expect(eq(str, (char*)o.limit, (char*)limit));
}

Test(model_occupancy, by_hand) {
    // 255 registers: 8160 of a warp, 8192 in units of 256; two in each quarter: 8 warps
    expect(80, 255, 0, 64, 4, "registers");
    expect(120, 255, 0, 64, 4, "registers");
    // 72: 2304, seven in each quarter, 28 warps
    expect(80, 72, 0, 128, 7, "registers");
    expect(90, 72, 0, 64, 14, "registers");
    // 32: 16 in each quarter, 64 warps; blocks of two
    expect(80, 32, 0, 64, 32, "warps");
    expect(120, 32, 0, 64, 24, "warps"); // 24 by both; the first that is named
    expect(120, 16, 0, 32, 24, "blocks");
    expect(80, 16, 0, 32, 32, "blocks");
    // 48 KB and 1 KB of the driver's: three in 164 KB, four in 228, two in 100
    expect(80, 16, 48 * 1024, 128, 3, "shared");
    expect(90, 16, 48 * 1024, 128, 4, "shared");
    expect(120, 16, 48 * 1024, 128, 2, "shared");
    // 1024 threads of 65 registers do not fit: 32 warps of 2304
    expect(80, 65, 0, 1024, 0, "registers");
    expect(80, 64, 0, 1024, 1, "registers");
    expect(80, 256, 0, 32, 0, "registers");
}

Test(model_occupancy, of_unknown_architectures_is_not_guessed) {
    cr_expect_null(model_architecture_find(75));
    cr_expect_null(model_architecture_find(0));
}

#ifdef MABD_CUDA_OCCUPANCY

static int blocks_by_cuda(const model_architecture* a, int registers, int shared, int threads) {
    struct cudaOccDeviceProp device;
    struct cudaOccFuncAttributes kernel;
    struct cudaOccDeviceState state;
    struct cudaOccResult result;
    memset(&device, 0, sizeof device), memset(&kernel, 0, sizeof kernel);
    memset(&state, 0, sizeof state), memset(&result, 0, sizeof result);
    device.computeMajor = a->number / 10, device.computeMinor = a->number % 10;
    device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = 32 * a->warps;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536, device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024, device.reservedSharedMemPerBlock = 1024;
    device.sharedMemPerMultiprocessor = (size_t)a->shared;
    device.sharedMemPerBlockOptin = (size_t)a->shared - 1024;
    device.numSms = 100;
    kernel.maxThreadsPerBlock = 1024, kernel.numRegs = registers;
    kernel.sharedSizeBytes = (size_t)shared;
    kernel.maxDynamicSharedSizeBytes = 48 * 1024;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cr_assert(eq(
        int, cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, 0),
        CUDA_OCC_SUCCESS));
    return result.activeBlocksPerMultiprocessor;
}

Test(model_occupancy, is_that_of_cuda) {
    const int numbers[] = {80, 90, 120}, shared[] = {0, 100, 1024, 5000, 20000, 49152};
    for (int a = 0; a < 3; a++) {
        const model_architecture* architecture = model_architecture_find(numbers[a]);
        for (int s = 0; s < 6; s++) {
            for (int registers = 8; registers <= 255; registers++) {
                for (int threads = 32; threads <= 1024; threads += 32) {
                    const model_occupancy o =
                        model_occupancy_of(architecture, registers, shared[s], threads);
                    const int expected =
                        blocks_by_cuda(architecture, registers, shared[s], threads);
                    cr_assert(eq(i32, o.blocks, expected),
                              "sm_%d, %d registers, %d shared, %d threads", numbers[a], registers,
                              shared[s], threads);
                }
            }
        }
    }
}

#endif
