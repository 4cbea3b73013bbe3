// SPDX-License-Identifier: Apache-2.0
// Nets on a device: components with cycles and without junctions, by conjugate gradients or by coloured block Gauss-Seidel alone (nets.cu).
#pragma once

#include "cuda/runtime/device.h"
#include "cuda/runtime/libraries.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

/// Slots that one block of threads sums over: the same whatever the device.
#define MABD_CUDA_NET_PART 256

typedef struct mabd_cuda_net_part {
    int32_t component;   // of these, from 0
    int32_t first, last; // slots
} mabd_cuda_net_part;

/// Slots of all components here, one after the other, numbered from 0; rows likewise. Row s of blocks has all K_st that are not zero, t rising.
typedef struct mabd_cuda_net_lists {
    int32_t *width, *row;          // of a slot (slots), its first row (slots + 1)
    int32_t *plan_slot, *plan_row; // of the plan (slots)
    int32_t* component;            // (slots)
    int32_t *start, *column; // blocks of a slot (slots + 1), slots that they belong to (blocks)
    int32_t*
        side;   // -1: that slot has an earlier colour, 0: the slot itself, 1: a later one (blocks)
    size_t* at; // offset in A (blocks)
    size_t* from;   // offset in D of the plan if it is on the diagonal, else in U (blocks)
    bool* turned;   // U has its transpose (blocks)
    size_t* block;  // offset in F (slots)
    int32_t* order; // slots by colour (slots)
    mabd_cuda_net_part* parts; // (parts) component by component
    int32_t* part_first;       // of a component (components + 1)
} mabd_cuda_net_lists;

typedef enum mabd_cuda_net_phase {
    MABD_NET_RUNNING,
    MABD_NET_MET,   // r meets the goal: b - K x has to be looked at
    MABD_NET_ENDED, // nothing more to be gained, or enough iterations
    MABD_NET_DONE,  // and the residual is that of x
} mabd_cuda_net_phase;

/// One component's iteration.
typedef struct mabd_cuda_net_state {
    mabd_real rz, alpha, beta;
    mabd_real residual, best; // of b - K x, as in the goal; the least that was halved
    int32_t iterations, stalls, phase;
    int32_t fresh; // 1: p and q begin anew
} mabd_cuda_net_state;

/// What kernels get.
typedef struct mabd_cuda_net_data {
    int32_t slot_count, component_count, part_count;
    mabd_cuda_net_lists on;               // device
    mabd_real* A;                         // blocks, row-major
    mabd_real* F;                         // L and 1/d of diagonal blocks
    mabd_real *b, *x, *r, *z, *s, *p, *q; // (rows)
    mabd_real* partial;                   // (parts)
    mabd_cuda_net_state* states;          // (components)
    int32_t* running;                     // components that are
} mabd_cuda_net_data;

typedef struct mabd_cuda_nets {
    mabd_cuda_net_data data;
    mabd_cuda_net_lists host; // in one piece of memory, as data.on
    int32_t width;            // of all slots, 0 = they differ
    int32_t row_count, color_count;
    size_t block_count, A_reals, F_reals;
    int32_t* color_first;        // in order (color_count + 1), on the host
    mabd_cuda_net_state* states; // (components) on the host
    void *host_memory, *memory;
    size_t size;
    mabd_libraries libraries; // only where products are cuSPARSE's
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vector_x, vector_z, vector_s;
    void* buffer; // that cuSPARSE asks for
} mabd_cuda_nets;

/// Lists on the host, from the plan alone. components (count): indices in plan->components, without junctions.
mabd_status MABD_CUDA(nets_plan)(const mabd_plan* plan, int32_t count, const int32_t* components,
                                 const mabd_allocator* allocator, mabd_cuda_nets* nets,
                                 mabd_error* error);
/// Device memory from the arena; called twice, first to count.
void MABD_CUDA(nets_layout)(mabd_cuda_nets* nets, mabd_arena* arena);
/// Copy the lists there and load cuSPARSE if it is used; waits.
mabd_status MABD_CUDA(nets_upload)(mabd_cuda_nets* nets, const mabd_device* device,
                                   mabd_error* error);
/// K from view->D and U, which stay as they are, and L d L' of its diagonal blocks. bad (slots of the plan): 1 where a pivot failed, else 0.
mabd_status MABD_CUDA(nets_factor)(const mabd_cuda_nets* nets, const mabd_device* device,
                                   const mabd_affine_sim* view, int32_t* bad, mabd_error* error);
/// view->lambda: right-hand side in, solution out; view->guess: first guess in, solution out. Iterations of all components
/// are added, the residual is the worst. Waits.
mabd_status MABD_CUDA(nets_iterate)(mabd_cuda_nets* nets, const mabd_device* device,
                                    const mabd_affine_sim* view, const mabd_dual_goal* goal,
                                    bool sweeps_only, mabd_dual_report* report, mabd_error* error);
void MABD_CUDA(nets_release)(const mabd_allocator* allocator, mabd_cuda_nets* nets);

#ifdef __cplusplus
}
#endif
