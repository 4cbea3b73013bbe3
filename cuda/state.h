// SPDX-License-Identifier: Apache-2.0
// The arrays of a simulation on a device: what the host has, at other addresses, so that the text of the CPU's stages (src/cpu/one)
// finds there all that it asks for. Kernels get the view by value: pointers to the device, and the numbers of the solve under way.
//
// A thread has one body, so every joint's second side is in another "tile" (cpu/pack.h): it writes apart, and is added when all
// have written.
#pragma once

#include "device.h"
#include "levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "cpu/sim.h"

#define MABD_CUDA_KINDS 5 // of bodies: mabd_body_kind

/// What a block of threads has found out about its bodies or joints.
typedef struct mabd_cuda_part {
    mabd_motion_report motion; // twist: squared, of twice the rotation
    mabd_opening opening;
    int32_t bad; // slot whose pivot failed, INT32_MAX = none
} mabd_cuda_part;

typedef struct mabd_cuda_state {
    mabd_device device;
    mabd_cpu_sim view;
    int32_t joint_count;
    int32_t kind_count[MABD_CUDA_KINDS];
    const int32_t* kind_bodies[MABD_CUDA_KINDS]; // moving bodies by kind
    int32_t apart_count;
    const mabd_apart* aparts;
    mabd_cuda_levels levels; // of all components
    int32_t* bad;            // (slots) 1 if its pivot failed
    mabd_real *twist, *size; // (bodies) squared
    mabd_opening* openings;  // (joints)
    mabd_cuda_part* parts;   // (MABD_CUDA_PARTS + 1) the last one is of all
} mabd_cuda_state;

/// Blocks of a reduction.
#define MABD_CUDA_PARTS 64

/// Take the device's memory and copy everything there. host: after mabd_cpu_reset and mabd_cpu_begin; arena: the memory behind its arrays.
/// MABD_ERR_UNAVAILABLE: no device, or the model has what devices do not do yet; the text says what.
mabd_status MABD_CUDA(state_create)(const mabd_cpu_sim* host, const void* arena, size_t arena_size,
                                    const mabd_allocator* allocator, mabd_cuda_state* state,
                                    mabd_error* error);
void MABD_CUDA(state_destroy)(const mabd_allocator* allocator, mabd_cuda_state* state);

/// Numbers of a solve that mabd_cpu_begin has made on the host: blocks, controls, motors, forces, the step.
mabd_status MABD_CUDA(state_begin)(mabd_cuda_state* state, const mabd_cpu_sim* host,
                                   mabd_error* error);
/// The state (the STATE fields of cpu/fields.def) to the host; waits.
mabd_status MABD_CUDA(state_download)(const mabd_cuda_state* state, mabd_cpu_sim* host,
                                      mabd_error* error);

// ---- stages (stages.cu): as those of cpu/sim.h, in the order of the stream ----

mabd_status MABD_CUDA(predict)(mabd_cuda_state* state, mabd_error* error);
mabd_status MABD_CUDA(assemble)(mabd_cuda_state* state, mabd_pass pass, mabd_error* error);
mabd_status MABD_CUDA(factor)(mabd_cuda_state* state, mabd_error* error);
mabd_status MABD_CUDA(solve)(mabd_cuda_state* state, mabd_error* error);
/// Waits. part: motion, and the slot whose pivot failed in factor.
mabd_status MABD_CUDA(update)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
/// At q_new. Waits.
mabd_status MABD_CUDA(check)(mabd_cuda_state* state, mabd_cuda_part* part, mabd_error* error);
mabd_status MABD_CUDA(refer)(mabd_cuda_state* state, mabd_error* error);
mabd_status MABD_CUDA(finish)(mabd_cuda_state* state, bool keep_history, mabd_error* error);

#ifdef __cplusplus
}
#endif
