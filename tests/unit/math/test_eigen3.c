// SPDX-License-Identifier: Apache-2.0
// Tests for src/math/eigen3.h
#include "math/eigen3.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>

static double random_unit(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static mabd_vec3 apply(const double* s, mabd_vec3 v) {
    return mabd_v3(s[0] * v.x + s[3] * v.y + s[4] * v.z, s[3] * v.x + s[1] * v.y + s[5] * v.z,
                   s[4] * v.x + s[5] * v.y + s[2] * v.z);
}

// largest |S v - lambda v| over the three pairs, relative to the largest entry of S
static double residual(const double* s, const double* values, mabd_mat3 V) {
    const mabd_vec3 columns[3] = {V.c1, V.c2, V.c3};
    double worst = 0, scale = DBL_MIN;
    for (int k = 0; k < 6; k++) scale = fmax(scale, fabs(s[k]));
    for (int k = 0; k < 3; k++) {
        mabd_vec3 rest = mabd_v3_axpy(-values[k], columns[k], apply(s, columns[k]));
        worst = fmax(worst, mabd_v3_norm(rest));
    }
    return worst / scale;
}

// largest entry of |V'V - I|, and 1 if V is left-handed
static double orthonormality(mabd_mat3 V) {
    const mabd_vec3 c[3] = {V.c1, V.c2, V.c3};
    double worst = mabd_m3_det(V) > 0 ? 0 : 1;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            worst = fmax(worst, fabs(mabd_v3_dot(c[i], c[j]) - (i == j)));
        }
    }
    return worst;
}

static void check(const double* s) {
    double values[3];
    mabd_mat3 V;
    mabd_sym3_eigen(s, values, &V);
    cr_assert(le(dbl, residual(s, values, V), 2e-15));
    cr_assert(le(dbl, orthonormality(V), 2e-15));
    cr_assert(values[0] >= values[1] && values[1] >= values[2]);
}

Test(eigen3, random_matrices_of_all_scales) {
    uint64_t state = 1;
    for (int i = 0; i < 3000; i++) {
        double s[6], scale = pow(10, 12 * random_unit(&state));
        for (int k = 0; k < 6; k++) s[k] = scale * random_unit(&state);
        check(s);
    }
}

Test(eigen3, entries_of_mixed_scales) {
    uint64_t state = 2;
    for (int i = 0; i < 3000; i++) {
        double s[6];
        for (int k = 0; k < 6; k++) s[k] = random_unit(&state) * pow(10, 12 * random_unit(&state));
        check(s);
    }
}

Test(eigen3, closed_form) { // the second difference: 2 + sqrt 2, 2, 2 - sqrt 2
    const double s[6] = {2, 2, 2, -1, 0, -1};
    double values[3];
    mabd_mat3 V;
    mabd_sym3_eigen(s, values, &V);
    cr_assert(ieee_ulp_eq(dbl, values[0], 2 + sqrt(2), 8));
    cr_assert(ieee_ulp_eq(dbl, values[1], 2, 8));
    cr_assert(ieee_ulp_eq(dbl, values[2], 2 - sqrt(2), 8));
    cr_assert(le(dbl, fabs(fabs(V.c1.y) - sqrt(0.5)), 4e-16));
}

// Graded positive matrices: each eigenvalue is accurate relative to itself, not only to the largest
// one. D C D with D = diag(1e9, 1, 1e-9), C = 1 + small: det is known.
Test(eigen3, small_moments_keep_their_digits) {
    const double c = 0.1, d[3] = {1e9, 1, 1e-9};
    const double s[6] = {d[0] * d[0],     d[1] * d[1],     d[2] * d[2],
                         c * d[0] * d[1], c * d[0] * d[2], c * d[1] * d[2]};
    double values[3];
    mabd_mat3 V;
    mabd_sym3_eigen(s, values, &V);
    double det = 1 - 3 * c * c + 2 * c * c * c; // of C; det D = 1
    cr_assert(le(dbl, fabs(values[0] * values[1] * values[2] / det - 1), 1e-14));
    cr_assert(le(dbl, fabs(values[2] / (1e-18 * det / (1 - c * c)) - 1), 1e-14));
}

Test(eigen3, sorted_diagonal_gives_the_identity) {
    const double s[6] = {3, 2, 2, 0, 0, 0};
    double values[3];
    mabd_mat3 V;
    mabd_sym3_eigen(s, values, &V);
    cr_assert(values[0] == 3 && values[1] == 2 && values[2] == 2);
    cr_assert(V.c1.x == 1 && V.c2.y == 1 && V.c3.z == 1);
}

Test(eigen3, degenerate_matrices) {
    const double cases[][6] = {{0, 0, 0, 0, 0, 0},          {1, 1, 1, 1, 1, 1},
                               {0, 0, 0, 1, 0, 0},          {1, 2, 3, 0, 0, 0},
                               {1, 1, 1, 1e-300, 0, 1e-20}, {1e-300, 1, 1e-300, 1e-150, 0, 0},
                               {5, 5, 5, 0, 0, 0},          {1, 1, -2, 1e-9, 1e-9, 1e-9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(cases[i]);
}
