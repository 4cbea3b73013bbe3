// SPDX-License-Identifier: Apache-2.0
// Tests for src/math/polar.h
//
// The properties that define the rotation R of A: R'R = I, det R = 1, and R'A is symmetric and
// positive definite. No other decomposition is needed for comparison. The rotation is known to eps
// s1 / (s2 + s3) for stretches s1 >= s2 >= s3.
#include "math/polar.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <stdio.h>

#define DRAWS 300

// R0 V diag(s) V'
static mabd_mat3 stretched(mabd_mat3 R, mabd_mat3 V, const mabd_real* s) {
    const mabd_mat3 scaled =
        mabd_m3(mabd_v3_scale(s[0], V.c1), mabd_v3_scale(s[1], V.c2), mabd_v3_scale(s[2], V.c3));
    return mabd_m3_product(R, mabd_m3_product(scaled, mabd_m3_transpose(V)));
}

static mabd_real frobenius(mabd_mat3 m) {
    return sqrt(mabd_v3_dot(m.c1, m.c1) + mabd_v3_dot(m.c2, m.c2) + mabd_v3_dot(m.c3, m.c3));
}

static mabd_real distance(mabd_mat3 a, mabd_mat3 b) {
    return frobenius(
        mabd_m3(mabd_v3_sub(a.c1, b.c1), mabd_v3_sub(a.c2, b.c2), mabd_v3_sub(a.c3, b.c3)));
}

static bool positive(mabd_mat3 S) {
    const mabd_real minor = S.c1.x * S.c2.y - S.c1.y * S.c2.x;
    return S.c1.x > 0 && minor > 0 && mabd_m3_det(S) > 0;
}

// Return s1 / (s2 + s3): the factor by which round-off in A can rotate R.
static mabd_real conditioning(const mabd_real* s) {
    const mabd_real largest = fmax(s[0], fmax(s[1], s[2]));
    return largest / (s[0] + s[1] + s[2] - largest);
}

// Check all properties of the rotation of a matrix with stretches s (3), and return it.
static mabd_mat3 check(mabd_mat3 A, const mabd_real* s) {
    mabd_mat3 R = mabd_m3_identity();
    cr_assert(mabd_polar(A, &R));
    const mabd_mat3 S = mabd_m3_tproduct(R, A);
    cr_assert(le(dbl, distance(mabd_m3_tproduct(R, R), mabd_m3_identity()), 2e-15));
    cr_assert(lt(dbl, 0.9, mabd_m3_det(R)));
    cr_assert(le(dbl, distance(S, mabd_m3_transpose(S)) / frobenius(A), 4e-15 * conditioning(s)));
    // for a matrix of condition 1e8 or more the last minor is round-off
    if (conditioning(s) < 1e3) cr_assert(positive(S));
    return R;
}

Test(polar, a_rotation_is_its_own) {
    uint64_t state = 1;
    const mabd_real none[3] = {1, 1, 1};
    mabd_real worst = 0, orthogonal = 0;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_mat3 R = draw_rotation(&state), found = check(R, none);
        worst = fmax(worst, distance(R, found));
        orthogonal = fmax(orthogonal, distance(mabd_m3_tproduct(found, found), mabd_m3_identity()));
    }
    printf("rotations: %.1e from themselves, R'R - I %.1e\n", worst, orthogonal);
    cr_assert(le(dbl, worst, 1e-15));
    cr_assert(le(dbl, orthogonal, 1e-15));
}

// Strains of a loaded body, up to the border between the two iterations.
Test(polar, small_and_moderate_strains) {
    uint64_t state = 2;
    mabd_real worst = 0;
    for (int decade = -12; decade <= 0; decade++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_real e = 0.6 * pow(10, decade);
            const mabd_real s[3] = {1 + e * draw_real(&state), 1 + e * draw_real(&state),
                                    1 + e * draw_real(&state)};
            const mabd_mat3 R = draw_rotation(&state), V = draw_rotation(&state);
            worst = fmax(worst, distance(check(stretched(R, V, s), s), R));
        }
    }
    printf("strains: %.1e from the rotation\n", worst);
    cr_assert(le(dbl, worst, 4e-15));
}

// All stretches between 1e-6 and 1e6, with ratios up to 1e8.
Test(polar, stretches_from_1e_minus_6_to_1e6) {
    uint64_t state = 3;
    mabd_real worst = 0;
    for (int n = 0; n < 20 * DRAWS; n++) {
        mabd_real s[3];
        const mabd_real scale = pow(10, 2 * draw_real(&state));
        for (int k = 0; k < 3; k++) s[k] = scale * pow(10, 4 * draw_real(&state));
        const mabd_mat3 R = draw_rotation(&state), V = draw_rotation(&state);
        const mabd_mat3 found = check(stretched(R, V, s), s);
        worst = fmax(worst, distance(found, R) / (1 + conditioning(s)));
    }
    printf("stretches: %.1e (1 + s1/(s2 + s3)) from the rotation\n", worst);
    cr_assert(le(dbl, worst, 4e-15));
}

Test(polar, a_scale_alone_changes_nothing) {
    uint64_t state = 4;
    for (int decade = -6; decade <= 6; decade++) {
        const mabd_mat3 R = draw_rotation(&state), V = draw_rotation(&state);
        const mabd_real c = pow(10, decade), s[3] = {1.1 * c, 0.9 * c, c};
        cr_assert(le(dbl, distance(check(stretched(R, V, s), s), R), 4e-15));
    }
}

static void refused(mabd_mat3 A) {
    const mabd_mat3 before = turn(mabd_v3(0, 0, 1), 1);
    mabd_mat3 R = before;
    cr_assert(eq(int, mabd_polar(A, &R), 0));
    cr_assert(le(dbl, distance(R, before), 0)); // unchanged
}

Test(polar, mirrored_matrices_are_refused) {
    uint64_t state = 5;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_real e = n % 2 ? 1e-3 : 0.9;
        const mabd_real s[3] = {1 + e * draw_real(&state), -1 + e * draw_real(&state),
                                1 + e * draw_real(&state)};
        refused(stretched(draw_rotation(&state), draw_rotation(&state), s));
    }
    const mabd_mat3 one = mabd_m3_identity();
    refused(mabd_m3(one.c1, one.c2, mabd_v3(0, 0, -1)));
    refused(mabd_m3(one.c2, one.c1, one.c3));
}

Test(polar, singular_matrices_are_refused) {
    const mabd_mat3 one = mabd_m3_identity();
    const mabd_vec3 zero = {0, 0, 0};
    refused(mabd_m3(zero, zero, zero));
    refused(mabd_m3(one.c1, one.c2, zero));
    refused(mabd_m3(one.c1, one.c1, one.c3));
    refused(mabd_m3(one.c1, zero, zero));
    refused(mabd_m3(mabd_v3(1, 2, 4), mabd_v3(2, 4, 8), mabd_v3(1, 1, 1)));
}

Test(polar, what_is_not_finite_is_refused) {
    for (int k = 0; k < 9; k++) {
        const mabd_real bad[] = {NAN, INFINITY, -INFINITY, DBL_MAX};
        for (int b = 0; b < 4; b++) {
            mabd_real a[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
            a[k] = bad[b];
            refused(mabd_m3_load(a));
        }
    }
}
