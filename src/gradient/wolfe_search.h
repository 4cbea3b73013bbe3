// SPDX-License-Identifier: Apache-2.0
// Line search for the strong Wolfe conditions [NW alg. 3.5, 3.6]. Along f(a), a > 0, with
// f'(0) < 0 it finds a step a with
//
//   f(a) <= f(0) + c1 a f'(0)        sufficient decrease
//   |f'(a)| <= c2 |f'(0)|            curvature
//
// or, if f still falls at the longest step allowed, that step. Steps are chosen by the cubic
// through two points with their slopes, kept away from both ends of the bracket.
#pragma once

#include "mabd/base.h"

#define MABD_WOLFE_DECREASE  ((mabd_real)1e-4) // c1
#define MABD_WOLFE_CURVATURE ((mabd_real)0.9)  // c2

/// Compute value and slope at a step. MABD_ERR_DIVERGED, or a result that is not finite, means that
/// the step is too long; any other failure ends the search.
typedef mabd_status mabd_search_fn(void* user, mabd_real step, mabd_real* value, mabd_real* slope,
                                   mabd_error* error);

typedef struct mabd_search_def {
    mabd_real value, slope;   // at step 0; slope < 0
    mabd_real first, longest; // first step to try, and the longest one allowed; both > 0
    int32_t max_evaluations;  // >= 1
    mabd_search_fn* evaluate;
    void* user;
} mabd_search_def;

/// End of a line search.
typedef struct mabd_search_result {
    mabd_real step;      // 0: no step lowers the value
    mabd_real value;     // at that step
    bool wolfe;          // both conditions hold, or it is the longest step and f still falls there
    int32_t evaluations; // the last one need not be at `step`
    mabd_status failure; // of the last evaluation, if none of them gave a value; else MABD_OK
} mabd_search_result;
/// Search. Returns MABD_OK also if no step was found; the status of an evaluation that failed with
/// another status than MABD_ERR_DIVERGED.
mabd_status mabd_line_search(const mabd_search_def* def, mabd_search_result* result,
                             mabd_error* error);
