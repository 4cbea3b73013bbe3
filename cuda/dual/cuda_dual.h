// SPDX-License-Identifier: Apache-2.0
// The interface of the dual solvers on a device: one table of functions each, as in dual/dual.h.
//
// A solver works on some components of a plan. Its lists are made on the host from the plan alone;
// its device memory comes from the arena of the simulation; factor and solve only launch kernels in
// the stream of the device.
#pragma once

#include "cuda/runtime/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "base/memory.h"
#include "dual/dual.h"
#include "topology/plan.h"

/// Arrays of the dual system of the whole plan, all device memory.
typedef struct mabd_cuda_dual_system {
    mabd_real *D, *U;  // blocks, at the offsets of the plan
    mabd_real* lambda; // (rows) right-hand side in, solution out
    mabd_real* guess;  // (rows) of iterative solvers: first guess in, solution out; null = none
} mabd_cuda_dual_system;

typedef struct mabd_cuda_dual_ops {
    const char* name;
    size_t size;    // of the solver's struct [bytes]
    bool iterative; // solve uses guess and goal, and fills the report
    /// Make the lists on the host. components (count): indices in plan->components, rising. The
    /// solver needs no initial value; after a failure it holds nothing. MABD_ERR_ARG: a component
    /// does not fit. MABD_ERR_MEMORY.
    mabd_status (*plan)(const mabd_plan* plan, int32_t count, const int32_t* components,
                        const mabd_allocator* allocator, void* solver, mabd_error* error);
    /// Take device memory from the arena; called twice, first to count.
    void (*layout)(void* solver, mabd_arena* arena);
    /// Copy the lists to the device, and load the libraries that the solver calls. May wait.
    mabd_status (*upload)(void* solver, const mabd_device* device, mabd_error* error);
    /// Factor. A direct solver may overwrite D and U and may transform the right-hand side lambda
    /// on the way. bad (slots of the plan): 1 where a pivot failed, else 0; slots of other
    /// components are not written.
    mabd_status (*factor)(void* solver, const mabd_device* device,
                          const mabd_cuda_dual_system* system, int32_t* bad, mabd_error* error);
    /// Write the solution to lambda, after factor. Direct solvers do not read goal and report,
    /// which may be null. An iterative solver waits for the device; its report has the iterations
    /// of all components and the largest residual.
    mabd_status (*solve)(void* solver, const mabd_device* device,
                         const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                         mabd_dual_report* report, mabd_error* error);
    /// Free host memory and libraries; device memory of the arena is the owner's.
    void (*release)(const mabd_allocator* allocator, void* solver);
} mabd_cuda_dual_ops;

#ifdef __cplusplus
}
#endif
