// SPDX-License-Identifier: Apache-2.0
// See occupancy.h. Limits and units as cuda_occupancy.h of CUDA 13.0 has them; the tests compare
// with it where it is installed.
#include "bench/cuda-model/occupancy.h"

#include <stddef.h>

#define WARP             32
#define QUARTERS         4
#define REGISTERS        65536 // of a multiprocessor
#define REGISTERS_UNIT   256
#define REGISTERS_THREAD 255
#define SHARED_UNIT      128
#define SHARED_RESERVED  1024 // of every block, by the driver

static const model_architecture ARCHITECTURES[] = {
    {80, 64, 32, 164 * 1024},
    {90, 64, 32, 228 * 1024},
    {120, 48, 24, 100 * 1024},
};

const model_architecture* model_architecture_find(int32_t number) {
    for (size_t i = 0; i < sizeof(ARCHITECTURES) / sizeof(ARCHITECTURES[0]); i++) {
        if (ARCHITECTURES[i].number == number) return &ARCHITECTURES[i];
    }
    return NULL;
}

static int32_t round_up(int32_t value, int32_t unit) {
    return (value + unit - 1) / unit * unit;
}

// Blocks of w warps that the registers suffice for. A block is refused if they would not suffice
// with its warps spread evenly.
static int32_t by_registers(int32_t registers, int32_t w) {
    const int32_t warp = round_up(registers * WARP, REGISTERS_UNIT);
    if (registers > REGISTERS_THREAD || warp * round_up(w, QUARTERS) > REGISTERS) return 0;
    return warp > 0 ? REGISTERS / QUARTERS / warp * QUARTERS / w : INT32_MAX;
}

model_occupancy model_occupancy_of(const model_architecture* a, int32_t registers, int32_t shared,
                                   int32_t threads) {
    const int32_t w = (threads + WARP - 1) / WARP;
    const struct {
        const char* name;
        int32_t blocks;
    } limits[] = {
        {"warps", a->warps / w},
        {"blocks", a->blocks},
        {"registers", by_registers(registers, w)},
        {"shared", a->shared / round_up(shared + SHARED_RESERVED, SHARED_UNIT)},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].blocks < limits[least].blocks) least = i;
    }
    const int32_t blocks = limits[least].blocks;
    return (model_occupancy){.blocks = blocks,
                             .warps = blocks * w,
                             .share = (double)(blocks * w) / a->warps,
                             .limit = limits[least].name};
}
