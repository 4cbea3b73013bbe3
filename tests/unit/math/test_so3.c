// SPDX-License-Identifier: Apache-2.0
// Tests for src/math/so3.h: logarithms of rotations and their gradients.
#include "math/so3.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define DRAWS 200

// phi . grad phi = phi: equal springs rotate a body straight back, at any angle.
Test(so3, equal_forces_on_a_rotation_vector_are_a_torque_along_it) {
    uint64_t state = 9;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_real angle = MABD_PI * fabs(draw_real(&state));
        const mabd_vec3 phi = mabd_v3_scale(angle, draw_direction(&state));
        const mabd_vec3 sum = mabd_m3_mul(mabd_so3_log_gradients(phi), phi);
        cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(sum, phi)), 1e-14));
    }
}

Test(so3, the_logarithm_inverts_a_turn_of_any_angle) {
    uint64_t state = 6;
    mabd_real worst = 0, worst_near_pi = 0;
    for (int decade = 0; decade <= 14; decade++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_vec3 axis = draw_direction(&state);
            const mabd_real small = pow(10, -decade) * (1.5 + 0.5 * draw_real(&state));
            const mabd_vec3 near_zero = mabd_v3_scale(small, axis);
            const mabd_vec3 found = mabd_so3_log(turn(axis, small));
            worst = fmax(worst, mabd_v3_norm(mabd_v3_sub(found, near_zero)) / (1e-3 + small));
            // equally near to pi; finally the sign of the axis is lost in round-off
            const mabd_real large = MABD_PI - small;
            mabd_vec3 flipped = mabd_so3_log(turn(axis, large));
            if (decade >= 13 && mabd_v3_dot(flipped, axis) < 0)
                flipped = mabd_v3_scale(-1, flipped);
            const mabd_vec3 miss = mabd_v3_sub(flipped, mabd_v3_scale(large, axis));
            worst_near_pi = fmax(worst_near_pi, mabd_v3_norm(miss));
        }
    }
    printf("log: %.1e near 0, %.1e near pi\n", worst, worst_near_pi);
    cr_assert(le(dbl, worst, 1e-12));
    cr_assert(le(dbl, worst_near_pi, 1e-12));
}

// Compute (1 - atan(t)/t) / z, z = t^2: by its series where the difference would lose digits.
static long double lack_of(long double z) {
    if (z > 0.05L) return (1 - atanl(sqrtl(z)) / sqrtl(z)) / z;
    long double sum = 0;
    for (int k = 20; k >= 0; k--) sum = 1.0L / (2 * k + 3) - z * sum;
    return sum;
}

// (1 - p/2 cot(p/2)) / p^2
static long double curve_of(long double p) {
    const long double s = p * p;
    if (p > 0.1L) return (1 - p / 2 / tanl(p / 2)) / s;
    return 1 / 12.0L + s * (1 / 720.0L + s * (1 / 30240.0L + s * (1 / 1209600.0L + s / 47900160)));
}

// Angles up to pi/2, which lanes compute without branches, against arcs and cotangents of libm in
// long double. The matrix is rounded, so its angle is known to round-off of 1.
Test(so3, small_turns_and_their_gradients_have_the_accuracy_of_round_off) {
    uint64_t state = 16;
    double worst_lack = 0, worst_phi = 0, worst_c = 0;
    for (int n = 0; n <= 20000; n++) {
        const mabd_real z = (mabd_real)n / 20000;
        worst_lack = fmax(worst_lack, fabs((double)(mabd_so3_atan_series(z) / lack_of(z) - 1)));
    }
    for (int n = 0; n < 100 * DRAWS; n++) {
        const mabd_vec3 axis = draw_direction(&state);
        const mabd_real angle = pow(10, -3 + 3 * draw_real(&state)) * (MABD_PI / 2);
        const mabd_rotvec found = mabd_so3_log_small(turn(axis, angle));
        const mabd_vec3 miss = mabd_v3_sub(found.phi, mabd_v3_scale(angle, axis));
        worst_phi = fmax(worst_phi, mabd_v3_norm(miss));
        worst_c = fmax(worst_c, fabs((double)(found.c / curve_of(angle) - 1)));
    }
    printf("small turns: %.1e of k, %.1e of phi, %.1e of c\n", worst_lack, worst_phi, worst_c);
    cr_assert(lt(dbl, worst_lack, 5e-16));
    cr_assert(lt(dbl, worst_phi, 2e-15));
    cr_assert(lt(dbl, worst_c, 2e-15));
}

// (dc/dp)/p by a difference of c in long double, from 1e-3 over half a turn to 5 rad. The closed
// form loses digits as 1e-16/p^5 down to 0.1, where the series begins; the slope multiplies p^3.
Test(so3, the_slope_of_the_gradient_factor_is_its_derivative) {
    uint64_t state = 17;
    double worst = 0, relative = 0;
    for (int n = 0; n < 10 * DRAWS; n++) {
        const mabd_real p =
            n % 2 ? 1e-3 + 5 * fabs(draw_real(&state)) : pow(10, 1.5 * draw_real(&state) - 1.5);
        const mabd_vec3 phi = mabd_v3_scale(p, draw_direction(&state));
        const long double d = (p < 0.5 ? 1e-2L : 1e-4L) * p;
        const long double near = curve_of(p + d) - curve_of(p - d),
                          far = curve_of(p + 2 * d) - curve_of(p - 2 * d);
        const double slope = (double)((8 * near - far) / (12 * d) / p);
        const double miss = fabs(mabd_so3_gradient_slope(phi) - slope);
        worst = fmax(worst, miss * fmin(1, p * p * p));
        relative = fmax(relative, miss / slope);
    }
    printf("slope of c: %.1e, relative %.1e\n", worst, relative);
    cr_assert(lt(dbl, worst, 1e-13));
    cr_assert(lt(dbl, relative, 1e-8));
}

Test(so3, the_logarithm_of_the_identity_is_zero_and_of_half_turns_has_length_pi) {
    cr_assert(le(dbl, mabd_v3_norm(mabd_so3_log(mabd_m3_identity())), 0));
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = (mabd_vec3){k == 0, k == 1, k == 2};
        const mabd_mat3 half =
            mabd_m3(mabd_v3(2 * e.x * e.x - 1, 0, 0), mabd_v3(0, 2 * e.y * e.y - 1, 0),
                    mabd_v3(0, 0, 2 * e.z * e.z - 1));
        const mabd_vec3 phi = mabd_so3_log(half);
        cr_assert(le(dbl, fabs(mabd_v3_norm(phi) - MABD_PI), 1e-15));
        cr_assert(le(dbl, fabs(fabs(mabd_v3_dot(phi, e)) - MABD_PI), 1e-15));
    }
}
