// SPDX-License-Identifier: Apache-2.0
// a_0 = 1, b_0 = sqrt(1 - k^2), c_0 = k;  a' = (a + b)/2, b' = sqrt(a b), c' = (a - b)/2 until c =
// 0. Then phi_N = 2^N a_N u and, backwards, sin(2 phi_{n-1} - phi_n) = c_n/a_n sin phi_n; sn(u, k)
// = sin phi_0.

#include "support/elliptic.h"

#include <math.h>

#define LEVELS 12 // c falls quadratically: more than doubles need

typedef struct means {
    double a[LEVELS + 1], c[LEVELS + 1];
    int last;
} means;

static means descend(double k) {
    means m = {{1}, {k}, 0};
    double b = sqrt((1 - k) * (1 + k));
    while (m.last < LEVELS && fabs(m.c[m.last]) > 1e-17) {
        const double a = m.a[m.last];
        m.last++;
        m.a[m.last] = (a + b) / 2;
        m.c[m.last] = (a - b) / 2;
        b = sqrt(a * b);
    }
    return m;
}

double elliptic_k(double k) {
    const means m = descend(k);
    return acos(-1) / (2 * m.a[m.last]);
}

double elliptic_sn(double u, double k) {
    const means m = descend(k);
    double phi = ldexp(m.a[m.last] * u, m.last);
    for (int n = m.last; n > 0; n--) phi = (phi + asin(m.c[n] / m.a[n] * sin(phi))) / 2;
    return sin(phi);
}
