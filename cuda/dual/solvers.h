// SPDX-License-Identifier: Apache-2.0
// The dual system of a plan on a device: every component goes to the solver that select.h names.
// Components of place MABD_CUDA_HOST are left to the caller (cuda/affine/host_dual.h).
#pragma once

#include "cuda/dual/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mabd_cuda_solvers {
    int32_t counts[MABD_CUDA_PLACES]; // components of each place
    void* solvers[MABD_CUDA_PLACES];  // null = none of this place
    mabd_cuda_place* places;          // (components)
    size_t place_bytes;
} mabd_cuda_solvers;

/// Choose places and make the lists of all solvers on the host. in_place as in select.h. *solvers
/// is zeroed by the caller and needs solvers_release after a failure too.
mabd_status MABD_CUDA(solvers_plan)(const mabd_plan* plan, mabd_dual dual, const bool* in_place,
                                    const mabd_allocator* allocator, mabd_cuda_solvers* solvers,
                                    mabd_error* error);
/// Take device memory of all solvers from the arena; called twice, first to count.
void MABD_CUDA(solvers_layout)(mabd_cuda_solvers* solvers, mabd_arena* arena);
/// Copy the lists of all solvers to the device. May wait.
mabd_status MABD_CUDA(solvers_upload)(mabd_cuda_solvers* solvers, const mabd_device* device,
                                      mabd_error* error);
/// Free the solvers and their lists on the host.
void MABD_CUDA(solvers_release)(const mabd_allocator* allocator, mabd_cuda_solvers* solvers);

/// Factor all components on the device. bad (slots): 1 where a pivot failed, else 0.
mabd_status MABD_CUDA(solvers_factor)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                      const mabd_cuda_dual_system* system, int32_t* bad,
                                      mabd_error* error);
/// Write the solutions of all components on the device to system->lambda. *report: of the iterative
/// solvers, zero without them.
mabd_status MABD_CUDA(solvers_solve)(const mabd_cuda_solvers* solvers, const mabd_device* device,
                                     const mabd_cuda_dual_system* system,
                                     const mabd_dual_goal* goal, mabd_dual_report* report,
                                     mabd_error* error);
/// True if a component of this place is solved iteratively on the device.
bool MABD_CUDA(place_iterates)(mabd_cuda_place place);

#ifdef __cplusplus
}
#endif
