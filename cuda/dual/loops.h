// SPDX-License-Identifier: Apache-2.0
// Components with cycles on a device, solved directly: the spanning tree level by level, the cut
// joints by a Schur complement (loops.cu).
#pragma once

#include "cuda/dual/levels.h"
#include "cuda/runtime/libraries.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a block of K is copied to: B or S, height x width, column-major there.
typedef struct mabd_cuda_loop_block {
    size_t from, to; // offset in D or U of the plan; offset in B or S
    size_t lead;     // rows of B or S
    int32_t height, width;
    bool diagonal; // it is in D, else in U
    bool turned;   // U stores its transpose
    bool inner;    // it goes to S, else to B
} mabd_cuda_loop_block;

/// A cut joint.
typedef struct mabd_cuda_loop_cut {
    int32_t slot, row;     // of the plan
    int32_t component;     // of its class
    int32_t column, width; // in S
} mabd_cuda_loop_cut;

/// Components of one size at equal distances, which one call of a library handles.
typedef struct mabd_cuda_loop_stretch {
    int32_t first, count; // in their class
    int32_t row, rows;    // first row of the first component in the plan; rows of each
    int32_t stride;       // rows from one to the next
} mabd_cuda_loop_stretch;

typedef struct mabd_cuda_loop_lists {
    mabd_cuda_loop_block* blocks; // (blocks)
    mabd_cuda_loop_cut* cuts;     // (cuts)
    mabd_real **S, **t;           // addresses of S and t of each component (components)
} mabd_cuda_loop_lists;

/// Components with equally many cut rows.
typedef struct mabd_cuda_loop_class {
    int32_t count, cut_rows;
    int32_t row_first, row_count; // rows of the plan from the first to the last component
    int32_t block_count, cut_count, stretch_count;
    mabd_cuda_levels levels;
    mabd_cuda_loop_lists host, on;     // on the host and on the device, of one layout
    mabd_cuda_loop_stretch* stretches; // (count) on the host
    void *host_memory, *memory;        // of the lists
    size_t size;                       // of either [bytes]
    mabd_real *B, *W; // (row_count x cut_rows) column-major; zero in the rows of cut joints
    mabd_real *S, *t; // (cut_rows x cut_rows), (cut_rows) of each component
    int32_t* info;    // (count + 1) results of the factorisations, and of the last solution
    mabd_real* work;  // (work_reals) workspace of cuSOLVER
    int work_reals;
} mabd_cuda_loop_class;

typedef struct mabd_cuda_loops {
    int32_t class_count, room;
    mabd_cuda_loop_class* classes; // (room)
    mabd_libraries libraries;
} mabd_cuda_loops;

/// The table of this solver, for mabd_cuda_loops. Every component has cycles. D and U are not
/// overwritten. B and W take rows times cut rows each. Upload waits; factor and solve do not.
extern const mabd_cuda_dual_ops MABD_CUDA(dual_loops);

/// Entry `factor` of the table: factors tree and complement, and eliminates the tree in lambda.
mabd_status MABD_CUDA(loops_factor)(void* solver, const mabd_device* device,
                                    const mabd_cuda_dual_system* system, int32_t* bad,
                                    mabd_error* error);
/// Entry `solve` of the table: the rest of the solution in lambda.
mabd_status MABD_CUDA(loops_solve)(void* solver, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                                   mabd_dual_report* report, mabd_error* error);

#ifdef __cplusplus
}
#endif
