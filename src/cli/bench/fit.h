// SPDX-License-Identifier: Apache-2.0
// The exponent of a power law y = c x^p by least squares: the slope of log y against log x.
//
//   p = (n sum(uv) - sum(u) sum(v)) / (n sum(u^2) - sum(u)^2),   u = log x, v = log y
#pragma once

#include <math.h>

typedef struct bench_fit {
    double n, u, v, uu, uv; // count and sums
} bench_fit;

/// Add a point; x, y > 0.
static inline void bench_fit_add(bench_fit* fit, double x, double y) {
    const double u = log(x), v = log(y);
    fit->n += 1, fit->u += u, fit->v += v, fit->uu += u * u, fit->uv += u * v;
}

/// The exponent p; 0 with fewer than two different x.
static inline double bench_fit_slope(const bench_fit* fit) {
    const double spread = fit->n * fit->uu - fit->u * fit->u;
    return fit->n >= 2 && spread > 0 ? (fit->n * fit->uv - fit->u * fit->v) / spread : 0;
}
