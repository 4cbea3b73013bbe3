// SPDX-License-Identifier: Apache-2.0
// Largest magnitudes of blocks, for the bounds of pivots.
#pragma once

#include "math/shared.h"

#include <math.h>

/// The larger one of two numbers, b if a is NaN.
MABD_HOT double mabd_dual_larger(double a, double b) {
    return a > b ? a : b;
}

/// Return the largest magnitude of n numbers; NaN is skipped.
MABD_HOT double mabd_dual_most_of(int32_t n, const mabd_real* x) {
    double most[4] = {0, 0, 0, 0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) most[k] = mabd_dual_larger(fabs((double)x[i + k]), most[k]);
    }
    for (; i < n; i++) most[0] = mabd_dual_larger(fabs((double)x[i]), most[0]);
    return mabd_dual_larger(mabd_dual_larger(most[0], most[1]), mabd_dual_larger(most[2], most[3]));
}
