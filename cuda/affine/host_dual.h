// SPDX-License-Identifier: Apache-2.0
// The dual system of a simulation: components on the device (cuda/dual/solvers.h) and on the host.
//
// The host solves components that no solver of the device takes, and those that were singular once:
// there their rows are softened (affine/cpu/factor.c). Blocks and right-hand side are copied to the
// host before the other components are factored; multipliers are copied back after those are
// solved.
#pragma once

#include "cuda/dual/solvers.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

/// Choose solvers for all components and make their lists on the host, as solvers_plan.
mabd_status MABD_CUDA(dual_plan)(const mabd_affine_sim* host, const mabd_allocator* allocator,
                                 mabd_cuda_solvers* solvers, mabd_error* error);

/// True if some component may be solved iteratively; needs model and dual only.
bool MABD_CUDA(dual_may_iterate)(const mabd_affine_sim* host);
/// True if some component is solved iteratively, on the device or on the host.
bool MABD_CUDA(dual_iterates)(const mabd_affine_sim* host, const mabd_cuda_solvers* solvers);

/// Start iterative solvers from the multipliers before the step; before the first factor of a
/// solve. Waits if the host solves components.
mabd_status MABD_CUDA(dual_restart)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                    mabd_affine_sim* host, const mabd_affine_sim* view,
                                    mabd_error* error);
/// Factor all components; those on the host are solved as well, which waits. bad (slots): 1 where a
/// pivot failed, else 0. MABD_ERR_SINGULAR: on the host, at *joint.
mabd_status MABD_CUDA(dual_factor)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                   mabd_affine_sim* host, const mabd_affine_sim* view,
                                   const mabd_allocator* allocator, int32_t* bad, int32_t* joint,
                                   mabd_error* error);
/// Write the multipliers of all components to view->lambda and set host->dual_report.
mabd_status MABD_CUDA(dual_solve)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                  mabd_affine_sim* host, const mabd_affine_sim* view, int32_t* bad,
                                  mabd_error* error);
/// Move the component of a slot whose pivot failed to the host. Returns false if it is there
/// already or its solver on the host cannot soften rows: no use to try again.
bool MABD_CUDA(dual_soften)(mabd_cuda_solvers* solvers, const mabd_affine_sim* host, int32_t slot);

#ifdef __cplusplus
}
#endif
