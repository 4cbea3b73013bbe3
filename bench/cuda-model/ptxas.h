// SPDX-License-Identifier: Apache-2.0
// The compiler's report of kernels: lines of `ptxas -v` (registers, spills, memory) and of its
// assembly (launch bounds).
//
//   ptxas info    : Compiling entry function 'SYMBOL' for 'sm_80'
//   ptxas info    : Function properties for SYMBOL
//       496 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 106 registers, used 1 barriers, 3072 bytes smem, 1128 bytes cmem[0], ...
//
// Functions that kernels call have properties as well, and no line "Compiling": their spills are
// added to those of the kernel that was compiled last, which is the one that calls them first.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MODEL_NAME 96

typedef struct model_kernel {
    char name[MODEL_NAME]; // as model_kernel_name
    int32_t architecture;  // 80 = sm_80
    int32_t registers;     // of a thread
    int32_t stack;         // bytes of a thread, with what it calls
    int32_t spill_stores, spill_loads;
    int32_t shared;   // bytes of a block
    int32_t constant; // bytes, all banks; -1 = not reported, as on sm_90 and later
    int32_t bound;    // most threads of a block, 0 = not reported
} model_kernel;

typedef struct model_kernels {
    size_t count, room;
    model_kernel* items; // to be freed
} model_kernels;

/// Add the kernels of a report; false without memory.
bool model_report_read(FILE* report, model_kernels* kernels);
/// Read the launch bounds (.maxntid) of known kernels from assembly (PTX), for all architectures.
bool model_bounds_read(FILE* assembly, model_kernels* kernels);
/// By name, then architecture.
void model_kernels_sort(model_kernels* kernels);
/// The kernel on an architecture; null if it is missing.
const model_kernel* model_kernel_find(const model_kernels* kernels, const char* name,
                                      int32_t architecture);
