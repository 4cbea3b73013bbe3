// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/element/turn_log.h, against Rodrigues' formula with sines and
// cosines of libm in long double:
//   Q_ij = cos(p) delta_ij + (1 - cos p) n_i n_j - sin(p) sum_k epsilon_ijk n_k
#include "formulation/affine/element/turn_log.h"

#include "math/lanes.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>

#define DRAWS 2000

// Angles of the tests [rad]: from round-off of a step to nearly half a turn.
static const double angles[] = {1e-12, 1e-9, 1e-6, 1e-4, 0.003, 0.1, 0.5, 1, 1.5, 2, 2.5, 2.9, 3};
#define ANGLES (sizeof angles / sizeof angles[0])

static double* entry(mabd_mat3* Q, int i, int j) {
    mabd_vec3* c = j == 0 ? &Q->c1 : j == 1 ? &Q->c2 : &Q->c3;
    return i == 0 ? &c->x : i == 1 ? &c->y : &c->z;
}

// The rotation of the vector y by its definition, rounded once.
static mabd_mat3 rodrigues(mabd_vec3 y) {
    const long double v[3] = {y.x, y.y, y.z};
    const long double p = sqrtl(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const long double sine = p > 0 ? sinl(p) / p : 1, half = sinl(p / 2);
    const long double square = p > 0 ? 2 * half * half / (p * p) : 0; // (1 - cos p)/p^2
    mabd_mat3 Q = mabd_m3_identity();
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            long double e = square * v[i] * v[j];
            if (i == j) e += 1 - 2 * half * half;
            if (j == (i + 1) % 3) e -= sine * v[(i + 2) % 3];
            if (j == (i + 2) % 3) e += sine * v[(i + 1) % 3];
            *entry(&Q, i, j) = (double)e;
        }
    }
    return Q;
}

static double largest_difference(mabd_mat3 a, mabd_mat3 b) {
    double most = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) most = fmax(most, fabs(*entry(&a, i, j) - *entry(&b, i, j)));
    }
    return most;
}

Test(turn_log, the_vector_of_a_rotation_to_round_off) {
    uint64_t state = 1;
    for (size_t a = 0; a < ANGLES; a++) {
        for (int k = 0; k < DRAWS; k++) {
            const mabd_vec3 y = mabd_v3_scale(angles[a], draw_direction(&state));
            const mabd_vec3 error = mabd_v3_sub(mabd_turn_log(rodrigues(y)), y);
            cr_assert(le(dbl, mabd_v3_norm(error) / angles[a], 1e-15), "%g rad", angles[a]);
        }
    }
}

Test(turn_log, the_rotation_of_a_vector_to_round_off) {
    uint64_t state = 2;
    for (int k = 0; k < 10 * DRAWS; k++) {
        const double angle = 2 * MABD_PI * (k + 1) / (10 * DRAWS);
        const mabd_vec3 y = mabd_v3_scale(angle, draw_direction(&state));
        const mabd_mat3 Q = mabd_turn_exp(y);
        cr_assert(le(dbl, largest_difference(Q, rodrigues(y)), 2e-15), "%g rad", angle);
        cr_assert(le(dbl, largest_difference(mabd_m3_tproduct(Q, Q), mabd_m3_identity()), 4e-15));
    }
}

Test(turn_log, small_vectors_survive_the_way_there_and_back) {
    uint64_t state = 3;
    for (double angle = 1e-300; angle < 3; angle *= 3) {
        const mabd_vec3 y = mabd_v3_scale(angle, draw_direction(&state));
        const mabd_vec3 error = mabd_v3_sub(mabd_turn_log(mabd_turn_exp(y)), y);
        cr_assert(le(dbl, mabd_v3_norm(error) / angle, 2e-15), "%g rad", angle);
    }
    const mabd_vec3 none = mabd_turn_log(mabd_turn_exp(mabd_v3(0, 0, 0)));
    cr_assert(eq(dbl, mabd_v3_norm(none), 0));
}

Test(turn_log, more_than_a_turn_is_still_a_rotation_about_the_axis) {
    const mabd_vec3 axis = mabd_v3(2.0 / 3, -1.0 / 3, 2.0 / 3);
    for (double angle = 7; angle < 60; angle *= 1.5) {
        const mabd_mat3 Q = mabd_turn_exp(mabd_v3_scale(angle, axis));
        const mabd_vec3 still = mabd_v3_sub(mabd_m3_mul(Q, axis), axis);
        cr_assert(le(dbl, largest_difference(mabd_m3_tproduct(Q, Q), mabd_m3_identity()), 1e-14));
        cr_assert(le(dbl, mabd_v3_norm(still), 1e-14));
    }
}

Test(turn_log, half_a_turn_has_a_finite_logarithm) {
    uint64_t state = 4;
    for (int k = 0; k < DRAWS; k++) {
        const mabd_vec3 y = mabd_v3_scale(MABD_PI, draw_direction(&state));
        const double norm = mabd_v3_norm(mabd_turn_log(rodrigues(y)));
        cr_assert(isfinite(norm) && norm < 3.2);
    }
    const mabd_vec3 exact =
        mabd_turn_log(mabd_m3(mabd_v3(1, 0, 0), mabd_v3(0, -1, 0), mabd_v3(0, 0, -1)));
    cr_assert(isfinite(mabd_v3_norm(exact)));
}

Test(turn_log, a_lane_has_the_bits_of_one_rotation) {
    uint64_t state = 5;
    mabd_lanes y[3], back[3];
    for (int l = 0; l < MABD_LANES; l++) mabd_lane_put_v3(draw_vec3(&state, 1.5), y, l);
    MABD_EACH_LANE(l) {
        const mabd_mat3 Q = mabd_turn_exp(mabd_lane_v3(y, l));
        mabd_lane_put_v3(mabd_turn_log(Q), back, l);
    }
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_vec3 one = mabd_turn_log(mabd_turn_exp(mabd_lane_v3(y, l)));
        cr_assert(eq(dbl, one.x, back[0].at[l]));
        cr_assert(eq(dbl, one.y, back[1].at[l]));
        cr_assert(eq(dbl, one.z, back[2].at[l]));
    }
}
