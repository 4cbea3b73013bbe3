// SPDX-License-Identifier: Apache-2.0
// The dual system on a device: every component goes to the solver that fits it (dual.h says which), or to the host.
//
// On the host are those that no solver here is for, and those that were singular once: there they are softened (affine/cpu/factor.c). Blocks and
// right-hand side come to the host before the others are factored, multipliers go back when they are solved.
#pragma once

#include "cuda/dual/chains.h"
#include "cuda/dual/levels.h"
#include "cuda/dual/loops.h"
#include "cuda/dual/nets.h"
#include "cuda/dual/segments.h"
#include "cuda/dual/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mabd_cuda_solvers {
    int32_t counts[MABD_CUDA_HOST + 1]; // components of each place
    mabd_cuda_levels levels;
    mabd_cuda_segments segments;
    mabd_cuda_batch batch;
    mabd_cuda_loops loops;
    mabd_cuda_nets nets;
    mabd_cuda_place* places; // (components)
    size_t place_bytes;
    bool sweeps_only; // dual gs
} mabd_cuda_solvers;

/// Lists on the host.
mabd_status MABD_CUDA(solvers_plan)(const mabd_affine_sim* host, const mabd_allocator* allocator,
                                    mabd_cuda_solvers* solvers, mabd_error* error);
/// Device memory from the arena; called twice, first to count.
void MABD_CUDA(solvers_layout)(mabd_cuda_solvers* solvers, mabd_arena* arena);
mabd_status MABD_CUDA(solvers_upload)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_error* error);
void MABD_CUDA(solvers_release)(const mabd_allocator* allocator, mabd_cuda_solvers* solvers);

/// True if some component is solved iteratively; may be: from model and dual alone.
bool MABD_CUDA(solvers_may_iterate)(const mabd_affine_sim* host);
bool MABD_CUDA(solvers_iterate)(const mabd_affine_sim* host, const mabd_cuda_solvers* solvers);
/// Before the first factor of a solve: iterative solvers start from the multipliers before the step.
mabd_status MABD_CUDA(solvers_restart)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                       mabd_affine_sim* host, const mabd_affine_sim* view,
                                       mabd_error* error);
/// Factor all. bad (slots of the plan, device): 1 where a pivot failed. Components of the host are solved at once: waits if there are any, and
/// MABD_ERR_SINGULAR with *joint if one of them is.
mabd_status MABD_CUDA(solvers_factor)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_affine_sim* host, const mabd_affine_sim* view,
                                      const mabd_allocator* allocator, int32_t* bad, int32_t* joint,
                                      mabd_error* error);
/// Multipliers of all in view->lambda; host->dual_report is set.
mabd_status MABD_CUDA(solvers_solve)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                     mabd_affine_sim* host, const mabd_affine_sim* view,
                                     int32_t* bad, mabd_error* error);
/// A slot's pivot has failed: true if its component goes to the host from now on, and is worth another try.
bool MABD_CUDA(solvers_soften)(mabd_cuda_solvers* solvers, const mabd_affine_sim* host,
                               int32_t slot);

#ifdef __cplusplus
}
#endif
