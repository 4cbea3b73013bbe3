// SPDX-License-Identifier: Apache-2.0
// The order of a method; see compare_order.h. The ratio grows with p, which is found by bisection.
#include "cli/compare/compare_order.h"

#include <math.h>

#define ORDER_LEAST (-4.0)
#define ORDER_MOST  12.0

// (h_0^p - h_1^p) / (h_1^p - h_2^p); the limit at p = 0 is the ratio of the logarithms.
static double ratio_at(const double* h, double p) {
    if (fabs(p) < 1e-6) return log(h[0] / h[1]) / log(h[1] / h[2]);
    return expm1(p * log(h[0] / h[1])) / -expm1(-p * log(h[1] / h[2]));
}

double compare_order_of(const double* h, double ratio) {
    double low = ORDER_LEAST, high = ORDER_MOST;
    if (!(ratio >= ratio_at(h, low) && ratio <= ratio_at(h, high))) return NAN;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (ratio_at(h, middle) < ratio) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}
