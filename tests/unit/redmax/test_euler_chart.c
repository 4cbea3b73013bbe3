// SPDX-License-Identifier: Apache-2.0
// Tests for src/math/euler_chart.h and turn_chart.h: the twelve charts of Euler angles against the
// formulas of [RM Tab. 1-3], derivatives against differences, angles and rates as they pass from
// one chart to another.
#include "math/turn_chart.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 20

// ---- [RM Tab. 1, 2]: R, S and S' by rows; c s: cos and sin of q_1 .. q_3, v: rates -------------

typedef struct euler_table {
    const char *R, *S, *dS;
} euler_table;

static const euler_table tables[MABD_EULER_COUNT] = {
    {"c2c3,-c2s3,s2,c1s3+c3s1s2,c1c3-s1s2s3,-c2s1,s1s3-c1c3s2,c3s1+c1s2s3,c1c2",
     "c2c3,s3,0,-c2s3,c3,0,s2,0,1", "-v2c3s2-v3c2s3,v3c3,0,v2s2s3-v3c2c3,-v3s3,0,v2c2,0,0"},
    {"c2c3,-s2,c2s3,s1s3+c1c3s2,c1c2,c1s2s3-c3s1,c3s1s2-c1s3,c2s1,c1c3+s1s2s3",
     "c2c3,-s3,0,-s2,0,1,c2s3,c3,0", "-v2c3s2-v3c2s3,-v3c3,0,-v2c2,0,0,v3c2c3-v2s2s3,-v3s3,0"},
    {"c1c3+s1s2s3,c3s1s2-c1s3,c2s1,c2s3,c2c3,-s2,c1s2s3-c3s1,s1s3+c1c3s2,c1c2",
     "c2s3,c3,0,c2c3,-s3,0,-s2,0,1", "v3c2c3-v2s2s3,-v3s3,0,-v2c3s2-v3c2s3,-v3c3,0,-v2c2,0,0"},
    {"c1c2,s1s3-c1c3s2,c3s1+c1s2s3,s2,c2c3,-c2s3,-c2s1,c1s3+c3s1s2,c1c3-s1s2s3",
     "s2,0,1,c2c3,s3,0,-c2s3,c3,0", "v2c2,0,0,-v2c3s2-v3c2s3,v3c3,0,v2s2s3-v3c2c3,-v3s3,0"},
    {"c1c3-s1s2s3,-c2s1,c1s3+c3s1s2,c3s1+c1s2s3,c1c2,s1s3-c1c3s2,-c2s3,s2,c2c3",
     "-c2s3,c3,0,s2,0,1,c2c3,s3,0", "v2s2s3-v3c2c3,-v3s3,0,v2c2,0,0,-v2c3s2-v3c2s3,v3c3,0"},
    {"c1c2,c1s2s3-c3s1,s1s3+c1c3s2,c2s1,c1c3+s1s2s3,c3s1s2-c1s3,-s2,c2s3,c2c3",
     "-s2,0,1,c2s3,c3,0,c2c3,-s3,0", "-v2c2,0,0,v3c2c3-v2s2s3,-v3s3,0,-v2c3s2-v3c2s3,-v3c3,0"},
    {"c2,s2s3,c3s2,s1s2,c1c3-c2s1s3,-c1s3-c2c3s1,-c1s2,c3s1+c1c2s3,c1c2c3-s1s3",
     "c2,0,1,s2s3,c3,0,c3s2,-s3,0", "-v2s2,0,0,v2c2s3+v3c3s2,-v3s3,0,v2c2c3-v3s2s3,-v3c3,0"},
    {"c2,-c3s2,s2s3,c1s2,c1c2c3-s1s3,-c3s1-c1c2s3,s1s2,c1s3+c2c3s1,c1c3-c2s1s3",
     "c2,0,1,-c3s2,s3,0,s2s3,c3,0", "-v2s2,0,0,v3s2s3-v2c2c3,v3c3,0,v2c2s3+v3c3s2,-v3s3,0"},
    {"c1c3-c2s1s3,s1s2,c1s3+c2c3s1,s2s3,c2,-c3s2,-c3s1-c1c2s3,c1s2,c1c2c3-s1s3",
     "s2s3,c3,0,c2,0,1,-c3s2,s3,0", "v2c2s3+v3c3s2,-v3s3,0,-v2s2,0,0,v3s2s3-v2c2c3,v3c3,0"},
    {"c1c2c3-s1s3,-c1s2,c3s1+c1c2s3,c3s2,c2,s2s3,-c1s3-c2c3s1,s1s2,c1c3-c2s1s3",
     "c3s2,-s3,0,c2,0,1,s2s3,c3,0", "v2c2c3-v3s2s3,-v3c3,0,-v2s2,0,0,v2c2s3+v3c3s2,-v3s3,0"},
    {"c1c3-c2s1s3,-c1s3-c2c3s1,s1s2,c3s1+c1c2s3,c1c2c3-s1s3,-c1s2,s2s3,c3s2,c2",
     "s2s3,c3,0,c3s2,-s3,0,c2,0,1", "v2c2s3+v3c3s2,-v3s3,0,v2c2c3-v3s2s3,-v3c3,0,-v2s2,0,0"},
    {"c1c2c3-s1s3,-c3s1-c1c2s3,c1s2,c1s3+c2c3s1,c1c3-c2s1s3,s1s2,-c3s2,s2s3,c2",
     "-c3s2,s3,0,s2s3,c3,0,c2,0,1", "v3s2s3-v2c2c3,v3c3,0,v2c2s3+v3c3s2,-v3s3,0,-v2s2,0,0"},
};

// Value of one sum of products; *at moves behind it.
static double entry(const char** at, mabd_vec3 q, mabd_vec3 v) {
    double sum = 0;
    while (**at && **at != ',') {
        double term = 1;
        if (**at == '-') term = -1;
        *at += **at == '-' || **at == '+';
        if (**at == '0') term = 0;
        if (**at == '0' || **at == '1') ++*at;
        while (**at == 'c' || **at == 's' || **at == 'v') {
            const int k = (*at)[1] - '1';
            const double x = (double)mabd_v3_get(q, k);
            term *= **at == 'c' ? cos(x) : **at == 's' ? sin(x) : (double)mabd_v3_get(v, k);
            *at += 2;
        }
        sum += term;
    }
    *at += **at == ',';
    return sum;
}

static mabd_mat3 table(const char* rows, mabd_vec3 q, mabd_vec3 v) {
    mabd_real e[9];
    for (int k = 0; k < 9; k++) e[k] = (mabd_real)entry(&rows, q, v);
    return mabd_m3(mabd_v3(e[0], e[3], e[6]), mabd_v3(e[1], e[4], e[7]), mabd_v3(e[2], e[5], e[8]));
}

static double length(mabd_vec3 a) {
    return (double)mabd_v3_norm(a);
}
static double apart(mabd_mat3 A, mabd_mat3 B) {
    return length(mabd_v3_sub(A.c1, B.c1)) + length(mabd_v3_sub(A.c2, B.c2)) +
           length(mabd_v3_sub(A.c3, B.c3));
}
static mabd_mat3 columns(const mabd_euler* x) {
    return mabd_m3(mabd_euler_mul(x, mabd_v3(1, 0, 0)), mabd_euler_mul(x, mabd_v3(0, 1, 0)),
                   mabd_euler_mul(x, mabd_v3(0, 0, 1)));
}

Test(euler_chart, rotations_and_columns_are_those_of_the_tables) {
    uint64_t state = 1;
    for (int chart = 0; chart < MABD_EULER_COUNT; chart++) {
        for (int i = 0; i < DRAWS; i++) {
            const mabd_vec3 q = draw_vec3(&state, 4), v = draw_vec3(&state, 2);
            const mabd_euler x = mabd_euler_at(chart, false, q);
            mabd_mat3 rate;
            rate.c1 = mabd_euler_slope(&x, v, mabd_v3(1, 0, 0));
            rate.c2 = mabd_euler_slope(&x, v, mabd_v3(0, 1, 0));
            rate.c3 = mabd_euler_slope(&x, v, mabd_v3(0, 0, 1));
            cr_expect(lt(dbl, apart(x.R, table(tables[chart].R, q, v)), 1e-14), "%d", chart);
            cr_expect(lt(dbl, apart(columns(&x), table(tables[chart].S, q, v)), 1e-14), "%d",
                      chart);
            cr_expect(lt(dbl, apart(rate, table(tables[chart].dS, q, v)), 1e-13), "%d", chart);
        }
    }
}

// ---- [RM Tab. 3] -------------------------------------------------------------------------------

// det S = sign of sin or cos of q_2; q_1 = atan2(a, b), q_2 = acos or asin of c, q_3 = atan2(d, e),
// entries of R as +-row column.
typedef struct inverse_table {
    int sign, a, b, c, d, e;
} inverse_table;

static const inverse_table inverses[MABD_EULER_COUNT] = {
    {1, -23, 33, 13, -12, 11}, {-1, 32, 22, -12, 13, 11}, {-1, 13, 33, -23, 21, 22},
    {1, -31, 11, 21, -23, 22}, {1, -12, 22, 32, -31, 33}, {-1, 21, 11, -31, 32, 33},
    {-1, 21, -31, 11, 12, 13}, {-1, 31, 21, 11, 13, -12}, {-1, 12, 32, 22, 21, -23},
    {-1, 32, -12, 22, 23, 21}, {-1, 13, -23, 33, 31, 32}, {-1, 23, 13, 33, 32, -31},
};

static double read(mabd_mat3 R, int code) {
    const int place = abs(code);
    const double value = (double)mabd_v3_get(mabd_m3_column(&R, place % 10 - 1), place / 10 - 1);
    return code < 0 ? -value : value;
}

Test(euler_chart, determinants_and_angles_are_those_of_the_table) {
    uint64_t state = 2;
    for (int i = 0; i < MABD_EULER_COUNT * DRAWS; i++) {
        const int chart = i % MABD_EULER_COUNT;
        const inverse_table* t = &inverses[chart];
        const mabd_mat3 R = draw_rotation(&state);
        const bool proper = chart >= 6;
        const mabd_vec3 q = mabd_euler_angles(chart, R);
        const mabd_euler x = mabd_euler_at(chart, false, q);
        const double middle = proper ? acos(read(R, t->c)) : asin(read(R, t->c));
        const double det = t->sign * (proper ? sin(middle) : cos(middle));
        cr_expect(lt(dbl, fabs((double)q.x - atan2(read(R, t->a), read(R, t->b))), 1e-12));
        cr_expect(lt(dbl, fabs((double)q.y - middle), 1e-7)); // acos near its ends
        cr_expect(lt(dbl, fabs((double)q.z - atan2(read(R, t->d), read(R, t->e))), 1e-12));
        cr_expect(lt(dbl, fabs((double)mabd_euler_det(&x) - det), 1e-7), "%d", chart);
        cr_expect(lt(dbl, apart(x.R, R), 1e-13));
    }
}

Test(euler_chart, angles_are_found_near_others_of_the_same_rotation) {
    uint64_t state = 3;
    for (int i = 0; i < MABD_EULER_COUNT * DRAWS; i++) {
        const int chart = i % MABD_EULER_COUNT;
        const mabd_vec3 q = draw_vec3(&state, 9), d = draw_vec3(&state, (mabd_real)0.1);
        const mabd_euler x = mabd_euler_at(chart, false, q);
        const mabd_vec3 near = mabd_v3_add(q, d);
        if (fabs((double)mabd_euler_det(&x)) < 0.3) continue;
        const mabd_vec3 found = mabd_euler_angles_near(chart, x.R, near);
        cr_expect(lt(dbl, length(mabd_v3_sub(found, q)), 1e-12), "%d", chart);
    }
}

// ---- derivatives -------------------------------------------------------------------------------

static mabd_turn_kind kind_of(int i) {
    const mabd_turn_kind kind = {i % (MABD_EULER_COUNT + 1) - 1, i / (MABD_EULER_COUNT + 1) % 2};
    return kind;
}

typedef mabd_vec3 chart_fn(const mabd_turn_chart* x, mabd_vec3 w, mabd_vec3 u);
static mabd_vec3 value(const mabd_turn_chart* x, mabd_vec3 w, mabd_vec3 u) {
    (void)w;
    return mabd_turn_mul(x, u);
}
static mabd_vec3 slope(const mabd_turn_chart* x, mabd_vec3 w, mabd_vec3 u) {
    return mabd_turn_slope(x, w, u);
}
// Angular velocity in the rotated frame along u, from the rotation alone.
static mabd_vec3 spin(mabd_turn_kind kind, mabd_vec3 q, mabd_vec3 u) {
    const double weights[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.}, at[4] = {-2, -1, 1, 2};
    const double h = 1e-3;
    const mabd_turn_chart x = mabd_turn_chart_at(kind, q);
    mabd_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const mabd_turn_chart y =
            mabd_turn_chart_at(kind, mabd_v3_axpy((mabd_real)(at[i] * h), u, q));
        const mabd_mat3 way = mabd_m3_tproduct(mabd_turn_rotation(&x), mabd_turn_rotation(&y));
        sum = mabd_v3_axpy((mabd_real)(weights[i] / h), mabd_so3_log(way), sum);
    }
    return sum;
}
static mabd_vec3 differ(chart_fn* f, mabd_turn_kind kind, mabd_vec3 q, mabd_vec3 d, mabd_vec3 w,
                        mabd_vec3 u) {
    const double weights[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.}, at[4] = {-2, -1, 1, 2};
    const double h = 1e-3;
    mabd_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const mabd_turn_chart x =
            mabd_turn_chart_at(kind, mabd_v3_axpy((mabd_real)(at[i] * h), d, q));
        sum = mabd_v3_axpy((mabd_real)(weights[i] / h), f(&x, w, u), sum);
    }
    return sum;
}

Test(euler_chart, columns_and_their_derivatives_agree_with_differences_in_both_directions) {
    uint64_t state = 4;
    double worst[3] = {0, 0, 0};
    for (int i = 0; i < 2 * (MABD_EULER_COUNT + 1) * 4; i++) {
        const mabd_turn_kind kind = kind_of(i);
        const mabd_vec3 q = draw_vec3(&state, 2), d = draw_direction(&state);
        const mabd_vec3 w = draw_direction(&state), u = draw_direction(&state);
        const mabd_turn_chart x = mabd_turn_chart_at(kind, q);
        const double errors[3] = {
            length(mabd_v3_sub(spin(kind, q, u), mabd_turn_mul(&x, u))),
            length(mabd_v3_sub(differ(value, kind, q, w, w, u), mabd_turn_slope(&x, w, u))),
            length(mabd_v3_sub(differ(slope, kind, q, d, w, u), mabd_turn_bend(&x, d, w, u)))};
        for (int k = 0; k < 3; k++) {
            worst[k] = fmax(worst[k], errors[k]);
            cr_expect(lt(dbl, errors[k], 1e-10), "chart %d, derivative %d", kind.number, k);
        }
    }
    printf("S, dS, d2S of 13 charts against differences: %.1e %.1e %.1e\n", worst[0], worst[1],
           worst[2]);
}

// R of the reversed string is the inverse of the other.
Test(euler_chart, reversed_charts_are_inverse_rotations) {
    uint64_t state = 5;
    for (int chart = 0; chart < MABD_EULER_COUNT; chart++) {
        const mabd_vec3 q = draw_vec3(&state, 3);
        const mabd_euler x = mabd_euler_at(chart, false, q), y = mabd_euler_at(chart, true, q);
        cr_expect(lt(dbl, apart(mabd_m3_product(x.R, y.R), mabd_m3_identity()), 1e-14));
    }
}

// ---- printed entries that are wrong ------------------------------------------------------------

// [RM eq. 3.24] has dR/dq1 (2,3) = -c1 s2; [RM eq. 3.30] has dS/dq2 (2,2) = 1 of a universal joint.
Test(euler_chart, derivatives_are_not_those_that_are_printed_wrong) {
    const mabd_vec3 q = mabd_v3((mabd_real)0.3, (mabd_real)0.5, (mabd_real)-0.4);
    const mabd_euler x = mabd_euler_at(0, false, q);
    const mabd_vec3 spin_1 = mabd_euler_mul(&x, mabd_v3(1, 0, 0));
    const mabd_mat3 dR = mabd_m3_product(x.R, mabd_m3_skew(spin_1));
    cr_expect(lt(dbl, fabs((double)dR.c3.y + cos(0.3) * cos(0.5)), 1e-15));
    cr_expect(lt(dbl, 0.3, fabs((double)dR.c3.y + cos(0.3) * sin(0.5))));
    const mabd_vec3 bent = mabd_euler_slope(&x, mabd_v3(0, 1, 0), mabd_v3(0, 1, 0));
    cr_expect(eq(dbl, (double)bent.y, 0));
}

// Lower left block [p']R + [p]R' of the rate of Ad of a free joint at q, rates v and w.
static mabd_mat3 rate_block(mabd_vec3 p, mabd_vec3 w, mabd_vec3 q, mabd_vec3 v) {
    const mabd_euler x = mabd_euler_at(0, false, q);
    const mabd_mat3 Rdot = mabd_m3_product(x.R, mabd_m3_skew(mabd_euler_mul(&x, v)));
    return mabd_m3_axpy(1, mabd_m3_skew_product(p, Rdot), mabd_m3_skew_product(w, x.R));
}

// [RM eq. 3.43, 3.50] have [p'] dR'/dq in its derivative by an angle; right is [p'] dR/dq.
Test(euler_chart, rate_of_ad_of_a_free_joint_is_not_as_printed) {
    uint64_t state = 8;
    const mabd_vec3 p = draw_vec3(&state, 1), w = draw_vec3(&state, 1), zero = {0, 0, 0};
    const mabd_vec3 q = draw_vec3(&state, 1), v = draw_vec3(&state, 1), e = {1, 0, 0};
    const mabd_real weights[4] = {1, -8, 8, -1}, h = (mabd_real)1e-3;
    mabd_mat3 found = mabd_m3(zero, zero, zero), dR = found, dRdot = found;
    for (int i = 0; i < 4; i++) {
        const mabd_real by = weights[i] / (12 * h), at = (mabd_real)(i < 2 ? i - 2 : i - 1) * h;
        const mabd_vec3 moved = mabd_v3_axpy(at, e, q);
        const mabd_euler x = mabd_euler_at(0, false, moved);
        const mabd_mat3 Rdot = mabd_m3_product(x.R, mabd_m3_skew(mabd_euler_mul(&x, v)));
        found = mabd_m3_axpy(by, rate_block(p, w, moved, v), found);
        dR = mabd_m3_axpy(by, x.R, dR), dRdot = mabd_m3_axpy(by, Rdot, dRdot);
    }
    const mabd_mat3 shared = mabd_m3_skew_product(p, dRdot);
    const mabd_mat3 right = mabd_m3_axpy(1, mabd_m3_skew_product(w, dR), shared);
    const mabd_mat3 printed = mabd_m3_axpy(1, mabd_m3_skew_product(w, dRdot), shared);
    cr_expect(lt(dbl, apart(right, found), 1e-10));
    cr_expect(lt(dbl, 0.1, apart(printed, found)));
}

// ---- switches ----------------------------------------------------------------------------------

// The other way round: |q| > pi becomes (1 - 2pi/t) q, and rates P v keep the angular velocity.
Test(euler_chart, the_other_rotation_vector_has_the_rates_of_the_paper) {
    uint64_t state = 6;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_real t = 4 + (mabd_real)0.8 * draw_real(&state);
        const mabd_vec3 q = mabd_v3_scale(t, draw_direction(&state)), v = draw_vec3(&state, 3);
        const mabd_vec3 other = mabd_v3_scale(1 - 2 * MABD_PI / t, q);
        const mabd_turn_kind kind = {MABD_TURN_EXPONENTIAL, false};
        const mabd_turn_chart x = mabd_turn_chart_at(kind, q);
        const mabd_turn_chart y = mabd_turn_chart_at(kind, other);
        const mabd_vec3 omega = mabd_turn_mul(&x, v);
        const mabd_vec3 rates = mabd_m3_mul(mabd_turn_inverse(&y), omega);
        const mabd_vec3 P = mabd_v3_axpy(2 * MABD_PI * mabd_v3_dot(q, v) / (t * t * t), q,
                                         mabd_v3_scale(1 - 2 * MABD_PI / t, v));
        cr_expect(lt(dbl, apart(mabd_turn_rotation(&x), mabd_turn_rotation(&y)), 1e-13));
        cr_expect(lt(dbl, length(mabd_v3_sub(rates, P)), 1e-12));
        cr_expect(lt(dbl, length(mabd_v3_sub(mabd_turn_mul(&y, P), omega)), 1e-13));
    }
}

// Between any two charts of Euler angles: R and omega stay; the best one is far from singular.
Test(euler_chart, switches_keep_rotation_and_angular_velocity) {
    uint64_t state = 7;
    double least = 1;
    for (int i = 0; i < MABD_EULER_COUNT * DRAWS; i++) {
        const mabd_vec3 q = draw_vec3(&state, 3), v = draw_vec3(&state, 3);
        const mabd_euler x = mabd_euler_at(i % MABD_EULER_COUNT, false, q);
        const int best = mabd_euler_best(x.R);
        const mabd_euler y = mabd_euler_at(best, false, mabd_euler_angles(best, x.R));
        const mabd_vec3 omega = mabd_euler_mul(&x, v);
        const mabd_vec3 kept = mabd_euler_mul(&y, mabd_euler_rates(&y, omega));
        cr_expect(lt(dbl, apart(x.R, y.R), 1e-13));
        cr_expect(lt(dbl, length(mabd_v3_sub(kept, omega)), 1e-13));
        least = fmin(least, fabs((double)mabd_euler_det(&y)));
    }
    cr_expect(lt(dbl, sqrt(2 / 3.) - 1e-12, least)); // an entry of R is at most 1/sqrt(3)
}
