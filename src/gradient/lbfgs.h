// SPDX-License-Identifier: Apache-2.0
// Minimise a function of n variables inside bounds: L-BFGS-B [LBFGSB] with a strong Wolfe line
// search (wolfe_search.h) on the quadratic model of lbfgs_model.h. Knows nothing of simulations.
#pragma once

#include "base/memory.h"
#include "mabd/gradient.h"

/// Compute value and gradient (n) at x (n). MABD_ERR_DIVERGED, or numbers that are not finite, mean
/// that there is no value at x: the step is shortened. Other failures end the minimisation.
typedef mabd_status mabd_lbfgs_fn(void* user, const mabd_real* x, mabd_real* value,
                                  mabd_real* gradient, mabd_error* error);
/// Called with the iterate at the start and after each iteration; false ends the minimisation.
typedef bool mabd_lbfgs_progress_fn(void* user, const mabd_optimize_step* step);

typedef struct mabd_lbfgs_def {
    int32_t n;                                    // variables, >= 1
    int32_t memory, max_iterations;               // >= 1
    const mabd_real *lower, *upper;               // (n), lower <= upper, infinite = none
    mabd_real gradient_tolerance, loss_tolerance; // as in mabd_optimize_def
    mabd_lbfgs_fn* evaluate;
    mabd_lbfgs_progress_fn* progress; // may be null
    void* user;                       // of both
    mabd_allocator allocator;
} mabd_lbfgs_def;

/// Minimise from x (n), which is moved inside the bounds first and gets the result; also after a
/// failure it holds the best point found. MABD_ERR_MEMORY; the status of an evaluation that failed
/// at the start, failed for another reason than MABD_ERR_DIVERGED, or failed along a whole line.
mabd_status mabd_lbfgs(const mabd_lbfgs_def* def, mabd_real* x, mabd_optimize_info* info,
                       mabd_error* error);
