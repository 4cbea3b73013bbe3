// SPDX-License-Identifier: Apache-2.0
// Components with cycles on a device, exactly: the tree level by level, the cut joints by a Schur complement (loops.cu).
#pragma once

#include "cuda/dual/levels.h"
#include "cuda/runtime/libraries.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A block of K that goes to B or to the place of S: height x width, column-major there.
typedef struct mabd_cuda_loop_block {
    size_t from, to; // offset in D or U of the plan; in B or S
    size_t lead;     // rows of B or S
    int32_t height, width;
    bool diagonal; // it is in D
    bool turned;   // U has its transpose
    bool inner;    // it goes to S
} mabd_cuda_loop_block;

/// A cut joint.
typedef struct mabd_cuda_loop_cut {
    int32_t slot, row;     // of the plan
    int32_t component;     // of its class
    int32_t column, width; // in S
} mabd_cuda_loop_cut;

/// Components of one size that lie at equal distances: one call of a library.
typedef struct mabd_cuda_loop_run {
    int32_t first, count; // in their class
    int32_t row, rows;    // of the first, of the plan; rows of each
    int32_t stride;       // rows from one to the next
} mabd_cuda_loop_run;

typedef struct mabd_cuda_loop_lists {
    mabd_cuda_loop_block* blocks; // (blocks)
    mabd_cuda_loop_cut* cuts;     // (cuts)
    mabd_real **S, **t;           // (components) where theirs are
} mabd_cuda_loop_lists;

/// Components with equally many cut rows.
typedef struct mabd_cuda_loop_class {
    int32_t count, cut_rows;
    int32_t row_first, row_count; // rows of the plan from the first to the last component
    int32_t block_count, cut_count, run_count;
    mabd_cuda_levels levels;
    mabd_cuda_loop_lists host, on; // of one layout
    mabd_cuda_loop_run* runs;      // (count) on the host
    void *host_memory, *memory;
    size_t size;
    mabd_real *B, *W; // (row_count x cut_rows) column-major; zero in the rows of cut joints
    mabd_real *S, *t; // (cut_rows x cut_rows), (cut_rows) of each component
    int32_t* info;    // (count + 1) of the factors; of solutions
    mabd_real* work;  // that cuSOLVER asks for
    int work_reals;
} mabd_cuda_loop_class;

typedef struct mabd_cuda_loops {
    int32_t class_count, room;
    mabd_cuda_loop_class* classes; // (room)
    mabd_libraries libraries;
} mabd_cuda_loops;

/// Lists on the host, from the plan alone. components (count): indices in plan->components, rising, each with cycles.
mabd_status MABD_CUDA(loops_plan)(const mabd_plan* plan, int32_t count, const int32_t* components,
                                  const mabd_allocator* allocator, mabd_cuda_loops* loops,
                                  mabd_error* error);
/// Device memory from the arena; called twice, first to count. B and W take rows times cut rows each.
void MABD_CUDA(loops_layout)(mabd_cuda_loops* loops, mabd_arena* arena);
/// Copy the lists there and load the libraries; waits.
mabd_status MABD_CUDA(loops_upload)(mabd_cuda_loops* loops, const mabd_device* device,
                                    mabd_error* error);
/// Factor; the right-hand side view->lambda goes along. view->D and U stay as they are. bad (slots of the plan): 1 where a pivot failed, else
/// 0. Nothing waits.
mabd_status MABD_CUDA(loops_factor)(const mabd_cuda_loops* loops, const mabd_device* device,
                                    const mabd_affine_sim* view, int32_t* bad, mabd_error* error);
/// The rest of the solution in view->lambda.
mabd_status MABD_CUDA(loops_solve)(const mabd_cuda_loops* loops, const mabd_device* device,
                                   const mabd_affine_sim* view, mabd_error* error);
void MABD_CUDA(loops_release)(const mabd_allocator* allocator, mabd_cuda_loops* loops);

#ifdef __cplusplus
}
#endif
