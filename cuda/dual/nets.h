// SPDX-License-Identifier: Apache-2.0
// Nets on a device: components with cycles and without junctions, by conjugate gradients or by
// coloured block Gauss-Seidel (nets.cu).
#pragma once

#include "cuda/dual/cuda_dual.h"
#include "cuda/runtime/libraries.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Slots that one block of threads sums over: the same on every device, so that sums have one
/// order.
#define MABD_CUDA_NET_PART 256

typedef struct mabd_cuda_net_part {
    int32_t component;   // counted from 0 over the components of the solver
    int32_t first, last; // slots first .. last - 1
} mabd_cuda_net_part;

/// Slots of all components of the solver, one component after the other, numbered from 0; rows
/// likewise. Row s of blocks has all K_st that are not zero, t rising.
typedef struct mabd_cuda_net_lists {
    int32_t *width, *row;          // rows of a slot (slots), its first row (slots + 1)
    int32_t *plan_slot, *plan_row; // of the plan (slots)
    int32_t* component;            // (slots)
    int32_t *start, *column;       // first block of a slot (slots + 1); t of a block (blocks)
    int32_t* side;  // colour of t: -1 = earlier than that of s, 0 = t is s, 1 = later (blocks)
    size_t* at;     // offset in A (blocks)
    size_t* from;   // offset in D of the plan if it is on the diagonal, else in U (blocks)
    bool* turned;   // U stores its transpose (blocks)
    size_t* block;  // offset in F (slots)
    int32_t* order; // slots by colour (slots)
    mabd_cuda_net_part* parts; // component by component (parts)
    int32_t* part_first;       // first part of a component (components + 1)
} mabd_cuda_net_lists;

typedef enum mabd_cuda_net_phase {
    MABD_NET_RUNNING,
    MABD_NET_MET,   // r meets the goal: b - K x has to be computed to confirm it
    MABD_NET_ENDED, // no further progress possible, or max_iterations reached
    MABD_NET_DONE,  // ended, and `residual` is that of x
} mabd_cuda_net_phase;

/// The iteration of one component.
typedef struct mabd_cuda_net_state {
    mabd_real rz, alpha, beta;
    mabd_real residual; // of b - K x, as in the goal
    mabd_real best;     // lowest residual so far that was at most half of the one before
    int32_t iterations, stalls, phase;
    int32_t fresh; // 1: p and q restart from z and s
} mabd_cuda_net_state;

/// The argument of all kernels; pointers are device memory.
typedef struct mabd_cuda_net_data {
    int32_t slot_count, component_count, part_count;
    mabd_cuda_net_lists on;
    mabd_real* A;                         // blocks, row-major
    mabd_real* F;                         // L and 1/d of diagonal blocks
    mabd_real *b, *x, *r, *z, *s, *p, *q; // (rows)
    mabd_real* partial;                   // (parts)
    mabd_cuda_net_state* states;          // (components)
    int32_t* running;                     // number of components in phase RUNNING
} mabd_cuda_net_data;

typedef struct mabd_cuda_nets {
    mabd_cuda_net_data data;
    mabd_cuda_net_lists host; // on the host, with the layout of data.on
    int32_t width;            // of all slots, 0 = they differ
    int32_t row_count, color_count;
    size_t block_count, A_reals, F_reals;
    int32_t* color_first;        // first slot of a colour in `order` (color_count + 1), on the host
    mabd_cuda_net_state* states; // (components) on the host
    void *host_memory, *memory;  // of the lists
    size_t size;                 // of either [bytes]
    mabd_libraries libraries;    // open only where cuSPARSE computes the products
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vector_x, vector_z, vector_s;
    void* buffer; // workspace of cuSPARSE
} mabd_cuda_nets;

/// The tables of these solvers, both for mabd_cuda_nets: Gauss-Seidel alone, and conjugate
/// gradients. No component has junctions. D and U are not overwritten; factor copies them to A.
extern const mabd_cuda_dual_ops MABD_CUDA(dual_gs);
extern const mabd_cuda_dual_ops MABD_CUDA(dual_pcg);

/// Entry `factor` of both tables: K from D and U, and L d L' of its diagonal blocks.
mabd_status MABD_CUDA(nets_factor)(void* solver, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, int32_t* bad,
                                   mabd_error* error);
/// Entry `solve` of dual_gs: sweeps forth and back until the goal is met.
mabd_status MABD_CUDA(nets_solve_gs)(void* solver, const mabd_device* device,
                                     const mabd_cuda_dual_system* system,
                                     const mabd_dual_goal* goal, mabd_dual_report* report,
                                     mabd_error* error);
/// Entry `solve` of dual_pcg: conjugate gradients, preconditioned by one sweep.
mabd_status MABD_CUDA(nets_solve_pcg)(void* solver, const mabd_device* device,
                                      const mabd_cuda_dual_system* system,
                                      const mabd_dual_goal* goal, mabd_dual_report* report,
                                      mabd_error* error);

#ifdef __cplusplus
}
#endif
