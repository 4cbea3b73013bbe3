// SPDX-License-Identifier: Apache-2.0
#include "rigid/definite.h"

#include <math.h>

#define N 6
/// Sweeps of Jacobi rotations; convergence is quadratic and takes 5 to 7.
#define SWEEPS_MAX 30
/// Off-diagonal entries below this part of the diagonal are zero.
#define ZERO_PART ((mabd_real)1e-17)

// True if B - least I is positive definite.
static bool is_above(const mabd_real* B, mabd_real least) {
    mabd_real L[N * N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            mabd_real sum = B[N * i + j] - (i == j ? least : 0);
            for (int k = 0; k < j; k++) sum -= L[N * i + k] * L[N * j + k];
            if (i == j) {
                if (!(sum > 0)) return false;
                L[N * i + i] = (mabd_real)sqrt(sum);
            } else {
                L[N * i + j] = sum / L[N * j + j];
            }
        }
    }
    return true;
}

// x_p, x_q <- c x_p - s x_q, s x_p + c x_q, over N entries `stride` apart
static void rotate(mabd_real c, mabd_real s, int stride, mabd_real* p, mabd_real* q) {
    for (int k = 0; k < N * stride; k += stride) {
        const mabd_real x = p[k], y = q[k];
        p[k] = c * x - s * y, q[k] = s * x + c * y;
    }
}

// B <- V'B V diagonal, by cyclic Jacobi rotations (math/eigen3.h has the formulas).
static void diagonalise(mabd_real* B, mabd_real* V) {
    for (int i = 0; i < N * N; i++) V[i] = i % (N + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        bool rotated = false;
        for (int p = 0; p < N; p++) {
            for (int q = p + 1; q < N; q++) {
                const mabd_real b = B[N * p + q], bp = B[N * p + p], bq = B[N * q + q];
                if (!(fabs(b) > ZERO_PART * (fabs(bp) + fabs(bq)))) continue;
                const mabd_real theta = (bq - bp) / (2 * b);
                mabd_real t = 1 / ((mabd_real)fabs(theta) + (mabd_real)sqrt(theta * theta + 1));
                if (theta < 0) t = -t;
                const mabd_real c = 1 / (mabd_real)sqrt(t * t + 1), s = t * c;
                rotate(c, s, 1, B + N * p, B + N * q);
                rotate(c, s, N, B + p, B + q);
                rotate(c, s, N, V + p, V + q);
                rotated = true;
            }
        }
        if (!rotated) return;
    }
}

bool mabd_rigid_raise(const mabd_real* m, mabd_real least, mabd_real* S) {
    mabd_real B[N * N], V[N * N], root[N];
    for (int i = 0; i < N; i++) root[i] = (mabd_real)sqrt(m[i]);
    for (int i = 0; i < N * N; i++) B[i] = S[i] / (root[i / N] * root[i % N]);
    if (is_above(B, least)) return false;
    diagonalise(B, V);
    for (int k = 0; k < N; k++) {
        const mabd_real lift = least - B[(N + 1) * k];
        for (int i = 0; lift > 0 && i < N * N; i++) {
            const int r = i / N, c = i % N;
            S[i] += (root[r] * V[N * r + k]) * (lift * (root[c] * V[N * c + k]));
        }
    }
    return true;
}
