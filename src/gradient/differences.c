// SPDX-License-Identifier: Apache-2.0
// Differences of the loss of fourth order, (8 (f1 - f-1) - (f2 - f-2))/12 d, and the comparison of
// a gradient with them.
#include "base/error.h"
#include "gradient/gradient_run.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

// Round-off of the loss over d and the error of order d^4 balance near 1e-3 of a usual change.
#define USUAL_STEP ((mabd_real)1e-3)

// Difference by parameter i; q (count) holds the values and is left as it was.
static mabd_status difference(mabd_gradient* gradient, int32_t i, mabd_real d, mabd_real* q,
                              mabd_real* result, mabd_error* error) {
    static const mabd_real at[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    const mabd_real center = q[i];
    mabd_status status = MABD_OK;
    *result = 0;
    for (int k = 0; status == MABD_OK && k < 4; k++) {
        mabd_gradient_info info;
        q[i] = center + at[k] * d;
        status = mabd_gradient_run(gradient, q, NULL, &info, error);
        if (status == MABD_OK) *result += weight[k] * info.loss / (12 * d);
    }
    q[i] = center;
    return status;
}

mabd_status mabd_gradient_differences(mabd_gradient* gradient, const mabd_real* p, mabd_real step,
                                      mabd_real* differences, mabd_error* error) {
    if (!gradient || !p || !differences || !(step >= 0) || !isfinite(step)) {
        return mabd_fail(error, MABD_ERR_ARG, "a null argument, or a step that is not >= 0");
    }
    const int32_t n = gradient->def.parameter_count;
    const size_t bytes = mabd_bytes((size_t)n, sizeof(mabd_real));
    mabd_real* q = (mabd_real*)mabd_alloc(&gradient->allocator, bytes);
    if (!q) return mabd_fail_memory(error, "computing differences");
    memcpy(q, p, (size_t)n * sizeof *p);
    mabd_status status = MABD_OK;
    for (int32_t i = 0; status == MABD_OK && i < n; i++) {
        const mabd_real d = (step > 0 ? step : USUAL_STEP) * gradient->def.parameters[i].scale;
        status = difference(gradient, i, d, q, &differences[i], error);
    }
    mabd_free(&gradient->allocator, q, bytes);
    return status;
}

// Compare the derivatives at p with differences: all by value / scale, relative to the largest.
static mabd_status compare(mabd_gradient* g, const mabd_real* p, mabd_real step, mabd_real* own,
                           mabd_real* found, mabd_real* worst, int32_t* which, mabd_error* error) {
    const int32_t n = g->def.parameter_count;
    mabd_real largest = 0;
    MABD_TRY(mabd_gradient_run(g, p, own, NULL, error));
    MABD_TRY(mabd_gradient_differences(g, p, step, found, error));
    for (int32_t i = 0; i < n; i++) {
        own[i] *= g->parameters[i].scale, found[i] *= g->parameters[i].scale;
        largest = (mabd_real)fmax(largest, fmax(fabs(own[i]), fabs(found[i])));
    }
    for (int32_t i = 0; i < n; i++) {
        const mabd_real off = largest > 0 ? (mabd_real)fabs(own[i] - found[i]) / largest : 0;
        if (off <= *worst) continue;
        *worst = off;
        if (which) *which = i;
    }
    return MABD_OK;
}

mabd_status mabd_gradient_check(mabd_gradient* gradient, const mabd_real* p, mabd_real step,
                                mabd_real* worst, int32_t* which, mabd_error* error) {
    if (!gradient || !p || !worst) {
        return mabd_fail(error, MABD_ERR_ARG, "gradient, p and worst must not be null");
    }
    const size_t n = (size_t)gradient->def.parameter_count;
    const size_t bytes = mabd_bytes(2 * n, sizeof(mabd_real));
    mabd_real* work = mabd_alloc(&gradient->allocator, bytes);
    if (!work) return mabd_fail_memory(error, "checking a gradient");
    *worst = 0;
    if (which) *which = -1;
    const mabd_status status = compare(gradient, p, step, work, work + n, worst, which, error);
    mabd_free(&gradient->allocator, work, bytes);
    return status;
}
