// SPDX-License-Identifier: Apache-2.0
// K l = b of components with cycles. Without its cut joints a component is a tree T; ordered with
// the cut joints last
//
//   K = | T   B |     T = L d L'            level by level (levels.cu), no fill
//       | B'  C |     W = T^-1 B            forward and back for all columns of B at once
//                     S = C - B' W = R R'   products by cuBLAS, the factor by cuSOLVER
//
//   y = T^-1 b,   S l_c = b_c - B' y,   l = y - W l_c
//
// T also has the freedoms of junctions, with negative pivots. S is what remains of K after all of
// them are eliminated, a Schur complement of a positive definite matrix, hence positive definite.
//
// Components with equally many cut rows make a class. One array with the rows of the plan holds the
// columns of B of all of them, so that one launch for each level serves the whole class. Products
// of components of one size at equal distances are one call (strided), and so are the factors of
// all S of a class (batched); a class of one component uses the plain functions of cuSOLVER.

#include "cuda/dual/loops.h"

#include "cuda/runtime/launch.h"

// ---- kernels ------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    copy_cut_blocks(int32_t count, const mabd_cuda_loop_block* blocks, const mabd_real* D,
                    const mabd_real* U, mabd_real* B, mabd_real* S) {
    if (INDEX >= count) return;
    const mabd_cuda_loop_block block = blocks[INDEX];
    const mabd_real* from = (block.diagonal ? D : U) + block.from;
    mabd_real* to = (block.inner ? S : B) + block.to;
    for (int32_t i = 0; i < block.height; i++) {
        for (int32_t j = 0; j < block.width; j++) {
            to[(size_t)j * block.lead + (size_t)i] =
                from[block.turned ? j * block.height + i : i * block.width + j];
        }
    }
}

// Mark the cut joints whose pivot failed. info: 0, or the row of S, from 1, whose pivot failed.
__global__ static void __launch_bounds__(THREADS, 1)
    mark_cuts(int32_t count, const mabd_cuda_loop_cut* cuts, const int32_t* info, int32_t* bad) {
    if (INDEX >= count) return;
    const mabd_cuda_loop_cut cut = cuts[INDEX];
    const int32_t at = info[cut.component] - 1 - cut.column;
    bad[cut.slot] = at >= 0 && at < cut.width;
}

// t = b_c
__global__ static void __launch_bounds__(THREADS, 1)
    gather_cuts(int32_t count, const mabd_cuda_loop_cut* cuts, int32_t rows,
                const mabd_real* lambda, mabd_real* t) {
    if (INDEX >= count) return;
    const mabd_cuda_loop_cut cut = cuts[INDEX];
    mabd_real* to = t + (size_t)cut.component * (size_t)rows + cut.column;
    for (int32_t i = 0; i < cut.width; i++) to[i] = lambda[cut.row + i];
}

// l_c = t
__global__ static void __launch_bounds__(THREADS, 1)
    scatter_cuts(int32_t count, const mabd_cuda_loop_cut* cuts, int32_t rows, const mabd_real* t,
                 mabd_real* lambda) {
    if (INDEX >= count) return;
    const mabd_cuda_loop_cut cut = cuts[INDEX];
    const mabd_real* from = t + (size_t)cut.component * (size_t)rows + cut.column;
    for (int32_t i = 0; i < cut.width; i++) lambda[cut.row + i] = from[i];
}

// ---- factor -------------------------------------------------------------------------------------

static const mabd_real one = 1, minus = -1;

// S -= B' W
static mabd_status multiply(const mabd_libraries* l, const mabd_cuda_loop_class* c,
                            mabd_error* error) {
    const int32_t m = c->cut_rows, lead = c->row_count;
    for (int32_t i = 0; i < c->stretch_count; i++) {
        const mabd_cuda_loop_stretch* s = &c->stretches[i];
        const size_t at = (size_t)(s->row - c->row_first);
        const size_t square = (size_t)m * (size_t)m;
        MABD_LIBRARY_TRY(l->gemm(l->blas, CUBLAS_OP_T, CUBLAS_OP_N, m, m, s->rows, &minus,
                                 c->B + at, lead, s->stride, c->W + at, lead, s->stride, &one,
                                 c->S + (size_t)s->first * square, m, (long long)square, s->count),
                         "computing a Schur complement");
    }
    return MABD_OK;
}

static mabd_status factor_complements(const mabd_libraries* l, const mabd_cuda_loop_class* c,
                                      mabd_error* error) {
    const int32_t m = c->cut_rows;
    if (c->count > 1) {
        MABD_LIBRARY_TRY(
            l->potrf_batched(l->solver, CUBLAS_FILL_MODE_LOWER, m, c->on.S, m, c->info, c->count),
            "factoring Schur complements");
    } else {
        MABD_LIBRARY_TRY(l->potrf(l->solver, CUBLAS_FILL_MODE_LOWER, m, c->S, m, c->work,
                                  c->work_reals, c->info),
                         "factoring a Schur complement");
    }
    return MABD_OK;
}

static mabd_status factor_class(const mabd_libraries* l, mabd_cuda_loop_class* c,
                                const mabd_device* device, const mabd_cuda_dual_system* system,
                                int32_t* bad, mabd_error* error) {
    const size_t m = (size_t)c->cut_rows, lead = (size_t)c->row_count;
    const size_t squares = (size_t)c->count * m * m * sizeof *c->S;
    MABD_TRY(MABD_CUDA(levels_factor)(&c->levels, device, system, bad, error));
    MABD_CUDA_TRY(cudaMemsetAsync(c->S, 0, squares, device->stream), "factor");
    LAUNCH_ON(device, "factor", copy_cut_blocks, c->block_count, c->block_count, c->on.blocks,
              system->D, system->U, c->B, c->S);
    MABD_CUDA_TRY(cudaMemcpyAsync(c->W, c->B, lead * m * sizeof *c->W, cudaMemcpyDeviceToDevice,
                                  device->stream),
                  "factor");
    MABD_TRY(MABD_CUDA(levels_forward)(&c->levels, device, system, c->cut_rows, lead, c->row_first,
                                       c->W, error));
    MABD_TRY(MABD_CUDA(levels_back)(&c->levels, device, system, c->cut_rows, lead, c->row_first,
                                    c->W, error));
    MABD_TRY(multiply(l, c, error));
    MABD_TRY(factor_complements(l, c, error));
    LAUNCH_ON(device, "factor", mark_cuts, c->cut_count, c->cut_count, c->on.cuts, c->info, bad);
    return MABD_OK;
}

mabd_status MABD_CUDA(loops_factor)(void* solver, const mabd_device* device,
                                    const mabd_cuda_dual_system* system, int32_t* bad,
                                    mabd_error* error) {
    const mabd_cuda_loops* loops = (const mabd_cuda_loops*)solver;
    for (int32_t i = 0; i < loops->class_count; i++) {
        MABD_TRY(factor_class(&loops->libraries, &loops->classes[i], device, system, bad, error));
    }
    return MABD_OK;
}

// ---- solve --------------------------------------------------------------------------------------

// t -= B' y, or y -= W t
static mabd_status subtract(const mabd_libraries* l, const mabd_cuda_loop_class* c, bool from_cuts,
                            mabd_real* lambda, mabd_error* error) {
    const int32_t m = c->cut_rows, lead = c->row_count;
    for (int32_t i = 0; i < c->stretch_count; i++) {
        const mabd_cuda_loop_stretch* s = &c->stretches[i];
        const size_t at = (size_t)(s->row - c->row_first);
        mabd_real *y = lambda + s->row, *t = c->t + (size_t)s->first * (size_t)m;
        const mabd_real* A = (from_cuts ? c->B : c->W) + at;
        MABD_LIBRARY_TRY(from_cuts ? l->gemv(l->blas, CUBLAS_OP_T, s->rows, m, &minus, A, lead,
                                             s->stride, y, 1, s->stride, &one, t, 1, m, s->count)
                                   : l->gemv(l->blas, CUBLAS_OP_N, s->rows, m, &minus, A, lead,
                                             s->stride, t, 1, m, &one, y, 1, s->stride, s->count),
                         "solving loops");
    }
    return MABD_OK;
}

static mabd_status solve_complements(const mabd_libraries* l, const mabd_cuda_loop_class* c,
                                     mabd_error* error) {
    const int32_t m = c->cut_rows;
    int32_t* info = c->info + c->count;
    if (c->count > 1) {
        MABD_LIBRARY_TRY(l->potrs_batched(l->solver, CUBLAS_FILL_MODE_LOWER, m, 1, c->on.S, m,
                                          c->on.t, m, info, c->count),
                         "solving Schur complements");
    } else {
        MABD_LIBRARY_TRY(l->potrs(l->solver, CUBLAS_FILL_MODE_LOWER, m, 1, c->S, m, c->t, m, info),
                         "solving a Schur complement");
    }
    return MABD_OK;
}

static mabd_status solve_class(const mabd_libraries* l, mabd_cuda_loop_class* c,
                               const mabd_device* device, const mabd_cuda_dual_system* system,
                               mabd_error* error) {
    MABD_TRY(MABD_CUDA(levels_solve)(&c->levels, device, system, NULL, NULL, error));
    LAUNCH_ON(device, "solve", gather_cuts, c->cut_count, c->cut_count, c->on.cuts, c->cut_rows,
              system->lambda, c->t);
    MABD_TRY(subtract(l, c, true, system->lambda, error));
    MABD_TRY(solve_complements(l, c, error));
    MABD_TRY(subtract(l, c, false, system->lambda, error));
    LAUNCH_ON(device, "solve", scatter_cuts, c->cut_count, c->cut_count, c->on.cuts, c->cut_rows,
              c->t, system->lambda);
    return MABD_OK;
}

mabd_status MABD_CUDA(loops_solve)(void* solver, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                                   mabd_dual_report* report, mabd_error* error) {
    const mabd_cuda_loops* loops = (const mabd_cuda_loops*)solver;
    (void)goal, (void)report;
    for (int32_t i = 0; i < loops->class_count; i++) {
        MABD_TRY(solve_class(&loops->libraries, &loops->classes[i], device, system, error));
    }
    return MABD_OK;
}
