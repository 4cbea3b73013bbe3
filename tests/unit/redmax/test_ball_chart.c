// SPDX-License-Identifier: Apache-2.0
// Tests for src/math/ball_chart.h: J, its derivatives and exp against differences,
// from q = 0 to most of a turn.
#include "math/ball_chart.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static const double sizes[] = {0, 1e-9, 1e-4, 0.1, 0.9, 0.9999, 1.0001, 2, 3, 6};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))
#define DRAWS 20

static double distance(mabd_vec3 a, mabd_vec3 b) {
    return (double)mabd_v3_norm(mabd_v3_sub(a, b));
}

// q of one size, in general direction.
static mabd_vec3 draw_q(uint64_t* state, double size) {
    return mabd_v3_scale((mabd_real)size, draw_direction(state));
}

// Derivative along d by differences of fourth order of a function of the chart.
typedef mabd_vec3 chart_fn(const mabd_chart* x, mabd_vec3 w, mabd_vec3 u);
static mabd_vec3 differ(chart_fn* f, mabd_vec3 q, mabd_vec3 d, mabd_vec3 w, mabd_vec3 u) {
    const double weights[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.}, at[4] = {-2, -1, 1, 2};
    const double h = 1e-3;
    mabd_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const mabd_chart x = mabd_chart_at(mabd_v3_axpy((mabd_real)(at[i] * h), d, q));
        sum = mabd_v3_axpy((mabd_real)(weights[i] / h), f(&x, w, u), sum);
    }
    return sum;
}

static mabd_vec3 value(const mabd_chart* x, mabd_vec3 w, mabd_vec3 u) {
    (void)w;
    return mabd_chart_mul(x, u);
}
static mabd_vec3 slope(const mabd_chart* x, mabd_vec3 w, mabd_vec3 u) {
    return mabd_chart_slope(x, w, u);
}

Test(ball_chart, its_rotation_is_the_exponential) {
    uint64_t state = 1;
    for (int s = 0; s < SIZES * DRAWS; s++) {
        const double size = sizes[s % SIZES];
        const mabd_vec3 axis = draw_direction(&state);
        const mabd_chart x = mabd_chart_at(mabd_v3_scale((mabd_real)size, axis));
        const mabd_mat3 R = mabd_chart_rotation(&x), expected = turn(axis, (mabd_real)size);
        cr_expect(lt(dbl, distance(R.c1, expected.c1), 1e-14));
        cr_expect(lt(dbl, distance(R.c2, expected.c2), 1e-14));
        cr_expect(lt(dbl, distance(R.c3, expected.c3), 1e-14));
    }
}

// omega = J(q) q' is the rotation vector of R(t)' R(t + dt) over dt.
Test(ball_chart, j_gives_the_angular_velocity_in_the_rotated_frame) {
    uint64_t state = 2;
    double worst = 0;
    for (int s = 0; s < SIZES * DRAWS; s++) {
        const mabd_vec3 q = draw_q(&state, sizes[s % SIZES]), v = draw_vec3(&state, 1);
        const mabd_chart x = mabd_chart_at(q);
        const mabd_mat3 R = mabd_chart_rotation(&x);
        const double h = 1e-3, weights[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.};
        const double at[4] = {-2, -1, 1, 2};
        mabd_vec3 omega = {0, 0, 0};
        for (int i = 0; i < 4; i++) {
            const mabd_chart y = mabd_chart_at(mabd_v3_axpy((mabd_real)(at[i] * h), v, q));
            const mabd_vec3 phi = mabd_so3_log(mabd_m3_tproduct(R, mabd_chart_rotation(&y)));
            omega = mabd_v3_axpy((mabd_real)(weights[i] / h), phi, omega);
        }
        const double error = distance(omega, mabd_chart_mul(&x, v));
        worst = fmax(worst, error);
        cr_expect(lt(dbl, error, 5e-11), "|q| = %g", sizes[s % SIZES]);
    }
    printf("angular velocity: %.1e\n", worst);
}

Test(ball_chart, first_and_second_derivatives_agree_with_differences) {
    uint64_t state = 3;
    double worst = 0;
    for (int s = 0; s < SIZES * DRAWS; s++) {
        const mabd_vec3 q = draw_q(&state, sizes[s % SIZES]), w = draw_vec3(&state, 1);
        const mabd_vec3 u = draw_vec3(&state, 1), d = draw_vec3(&state, 1);
        const mabd_chart x = mabd_chart_at(q);
        const double first = distance(differ(value, q, w, w, u), mabd_chart_slope(&x, w, u));
        const double second = distance(differ(slope, q, d, w, u), mabd_chart_bend(&x, d, w, u));
        worst = fmax(worst, fmax(first, second));
        cr_expect(lt(dbl, first, 1e-11), "|q| = %g", sizes[s % SIZES]);
        cr_expect(lt(dbl, second, 1e-11), "|q| = %g", sizes[s % SIZES]);
    }
    printf("derivatives: %.1e\n", worst);
}

Test(ball_chart, rates_are_the_inverse_of_j) {
    uint64_t state = 4;
    for (int s = 0; s < SIZES * DRAWS; s++) {
        const mabd_vec3 q = draw_q(&state, sizes[s % SIZES]), v = draw_vec3(&state, 1);
        const mabd_chart x = mabd_chart_at(q);
        cr_expect(lt(dbl, distance(mabd_chart_rates(q, mabd_chart_mul(&x, v)), v), 1e-13),
                  "|q| = %g", sizes[s % SIZES]);
    }
}
