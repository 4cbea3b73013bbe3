// SPDX-License-Identifier: Apache-2.0
// Tests for rigid/definite.h: matrices with known eigenvalues relative to an inertia.
#include "rigid/definite.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

// An orthogonal 6 x 6 matrix: a product of three reflections I - 2 v v'/v'v.
static void make_orthogonal(uint64_t seed, double* Q) {
    for (int i = 0; i < 36; i++) Q[i] = i % 7 == 0;
    for (int k = 0; k < 3; k++) {
        double v[6], square = 0, dot[6] = {0};
        for (int i = 0; i < 6; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            v[i] = (double)(seed >> 40) / (1 << 23) - 1;
            square += v[i] * v[i];
        }
        for (int i = 0; i < 36; i++) dot[i % 6] += v[i / 6] * Q[i];
        for (int i = 0; i < 36; i++) Q[i] -= 2 * v[i / 6] * dot[i % 6] / square;
    }
}

// M^1/2 Q diag(e) Q' M^1/2
static void compose(const double* Q, const double* e, const mabd_real* m, mabd_real* S) {
    for (int i = 0; i < 36; i++) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += Q[i / 6 * 6 + k] * e[k] * Q[i % 6 * 6 + k];
        S[i] = (mabd_real)(sum * sqrt((double)m[i / 6] * (double)m[i % 6]));
    }
}

Test(definite, raises_low_eigenvalues_and_keeps_the_others) {
    static const mabd_real m[6] = {2, 2, 2, 0.01, 3e-4, 7};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        double Q[36], e[6], raised[6];
        mabd_real S[36], expected[36];
        make_orthogonal(seed, Q);
        for (int k = 0; k < 6; k++) {
            e[k] = k % 2 ? 3.0 + k : -50.0 * (double)((seed + (uint64_t)k) % 7) / 6 + 0.01;
            if (seed % 5 == 0) e[k] = -1; // equal ones
            raised[k] = fmax(e[k], 0.1);
        }
        compose(Q, e, m, S);
        compose(Q, raised, m, expected);
        cr_assert(mabd_rigid_raise(m, (mabd_real)0.1, S));
        for (int i = 0; i < 36; i++) {
            const double scale = sqrt((double)m[i / 6] * (double)m[i % 6]);
            cr_assert(fabs((double)(S[i] - expected[i])) < 1e-12 * 50 * scale, "seed %d, entry %d",
                      (int)seed, i);
        }
    }
}

Test(definite, leaves_matrices_above_the_limit_as_they_are) {
    static const mabd_real m[6] = {1e3, 1e3, 1e3, 1e-6, 4e-6, 5};
    const double e[6] = {0.11, 1, 1e6, 0.2, 7, 0.15};
    double Q[36];
    mabd_real S[36], before[36];
    make_orthogonal(3, Q);
    compose(Q, e, m, S);
    memcpy(before, S, sizeof S);
    cr_assert(eq(int, mabd_rigid_raise(m, (mabd_real)0.1, S), false));
    cr_assert(memcmp(before, S, sizeof S) == 0);
}
