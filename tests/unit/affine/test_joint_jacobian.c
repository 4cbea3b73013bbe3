// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/element/joint_jacobian.h
//
// Rows are polynomials of degree two in the affine coordinates of both bodies, so a central
// difference of any step is their derivative up to round-off: the step is 1e-3 here, which leaves
// 1e-13.
#include "formulation/affine/element/joint_jacobian.h"

#include "support/draw_row.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define DRAWS 200

// The view after the increment s e_k (12 of them: D column by column, then tau) of one body.
static mabd_joint_view moved(const mabd_joint_view* v, int is_b, int k, mabd_real s) {
    mabd_joint_view out = *v;
    mabd_mat3* A = is_b ? &out.Ab : &out.Aa;
    mabd_vec3* t = is_b ? &out.tb : &out.ta;
    mabd_vec3* columns[4] = {&A->c1, &A->c2, &A->c3, t};
    const mabd_vec3 world = mabd_m3_mul(is_b ? v->Ab : v->Aa, unit[k % 3]);
    *columns[k / 3] = mabd_v3_axpy(s, world, *columns[k / 3]);
    return out;
}

static mabd_real entry(mabd_vec12 J, int k) {
    const mabd_vec3 columns[4] = {J.d1, J.d2, J.d3, J.tau};
    return mabd_v3_get(columns[k / 3], k % 3);
}

// Return the largest difference between a Jacobian and finite differences of its function.
static mabd_real jacobian_error(const mabd_joint_view* v, const mabd_row* row, bool coordinate,
                                mabd_real step) {
    const mabd_real x = coordinate ? coordinate_at(v, row, 0) : 0;
    mabd_real worst = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const mabd_vec12 J = mabd_affine_row_jacobian(v, row, mabd_joint_gap(v), is_b);
        for (int k = 0; k < 12; k++) {
            const mabd_joint_view up = moved(v, is_b, k, step), down = moved(v, is_b, k, -step);
            const mabd_real slope =
                coordinate ? (coordinate_at(&up, row, x) - coordinate_at(&down, row, x))
                           : (value_at(&up, row) - value_at(&down, row));
            worst = fmax(worst, fabs(slope / (2 * step) - entry(J, k)));
        }
    }
    return worst;
}

Test(joint_jacobian, jacobians_of_point_and_slide_rows_are_derivatives) {
    uint64_t state = 1;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_joint_view v = draw_view(&state);
        for (uint8_t axis = 0; axis < 3; axis++) {
            const mabd_row point = {MABD_ROW_POINT, axis, 0, 1},
                           slide = {MABD_ROW_SLIDE, axis, 0, 1};
            cr_assert(le(dbl, jacobian_error(&v, &point, false, 1e-3), 1e-11));
            cr_assert(le(dbl, jacobian_error(&v, &slide, false, 1e-3), 1e-11));
        }
    }
}

Test(joint_jacobian, jacobians_of_cross_rows_are_derivatives) {
    uint64_t state = 2;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_joint_view v = draw_view(&state);
        for (uint8_t i = 0; i < 3; i++) {
            for (uint8_t j = 0; j < 3; j++) {
                const mabd_row row = {MABD_ROW_CROSS, i, j, n % 2 ? 1 : -1};
                cr_assert(le(dbl, jacobian_error(&v, &row, false, 1e-3), 1e-12));
            }
        }
    }
}

// atan2 is not a polynomial: the error of the difference is step^2.
Test(joint_jacobian, jacobians_of_angles_are_derivatives_of_the_coordinates) {
    uint64_t state = 3;
    const mabd_real step = 1e-5;
    for (int n = 0; n < DRAWS; n++) {
        mabd_joint_view v = draw_view(&state);
        for (uint8_t k = 0; k < 3; k++) {
            const mabd_row a = {MABD_ROW_ANGLE_A, k, 0, 1},
                           b = {MABD_ROW_ANGLE_B, (uint8_t)((k + 1) % 3), 0, 1};
            const mabd_real angle = 3 * draw_real(&state), second = 3 * draw_real(&state);
            set_hinge(&v, k, angle, second);
            cr_assert(le(dbl, jacobian_error(&v, &a, true, step), 2e-9));
            cr_assert(le(dbl, jacobian_error(&v, &b, true, step), 2e-9));
        }
    }
}

// Return D = R'dA of the rotation dr (world) of a body: dA = dr x A.
static mabd_vec12 turn_increment(mabd_mat3 R, mabd_vec3 dr) {
    const mabd_vec3 own = mabd_m3_tmul(R, dr);
    const mabd_vec12 D = {mabd_v3_cross(own, unit[0]),
                          mabd_v3_cross(own, unit[1]),
                          mabd_v3_cross(own, unit[2]),
                          {0, 0, 0}};
    return D;
}

// Rotations of either body by 1e-5 about any axis; the difference is exact to 1e-10 (its third
// derivative is of order 1 up to an angle of 3).
Test(joint_jacobian, jacobians_of_vector_rows_are_derivatives_of_the_rotation_vector) {
    uint64_t state = 4;
    const mabd_real step = 1e-5;
    for (int n = 0; n < DRAWS; n++) {
        mabd_joint_view v = draw_view(&state);
        const mabd_vec3 axis = draw_direction(&state), dr = draw_direction(&state);
        set_relative(&v, turn(axis, 3 * pow(fabs(draw_real(&state)), n % 2 ? 1 : 8)));
        for (uint8_t k = 0; k < 3; k++) {
            const mabd_row row = {MABD_ROW_VECTOR, k, 0, 1};
            for (int is_b = 0; is_b < 2; is_b++) {
                const mabd_mat3 R = is_b ? v.Ab : v.Aa;
                mabd_real x[2];
                for (int side = 0; side < 2; side++) {
                    mabd_joint_view w = v;
                    *(is_b ? &w.Ab : &w.Aa) = mabd_m3_product(turn(dr, side ? step : -step), R);
                    x[side] = coordinate_at(&w, &row, 0);
                }
                const mabd_vec12 J = mabd_affine_row_jacobian(&v, &row, mabd_joint_gap(&v), is_b);
                const mabd_real slope = (x[1] - x[0]) / (2 * step);
                cr_assert(le(dbl, fabs(mabd_vec12_dot(J, turn_increment(R, dr)) - slope), 2e-9));
                cr_assert(le(dbl, mabd_v3_norm(J.tau), 0));
            }
        }
    }
}

// Strain alone changes neither a rotation vector nor its row.
Test(joint_jacobian, vector_rows_are_blind_to_strain) {
    uint64_t state = 10;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_joint_view v = draw_view(&state);
        const mabd_vec3 e = draw_vec3(&state, 1), f = draw_vec3(&state, 1);
        const mabd_vec12 D = {{e.x, f.x, f.y}, {f.x, e.y, f.z}, {f.y, f.z, e.z}, {0, 0, 0}};
        for (uint8_t k = 0; k < 3; k++) {
            const mabd_row row = {MABD_ROW_VECTOR, k, 0, 1};
            for (int is_b = 0; is_b < 2; is_b++) {
                const mabd_vec12 J = mabd_affine_row_jacobian(&v, &row, mabd_joint_gap(&v), is_b);
                cr_assert(le(dbl, fabs(mabd_vec12_dot(J, D)), 1e-14));
            }
        }
    }
}

// ---- the remainder -----------------------------------------------------------------------------

static mabd_sym3 draw_strain(uint64_t* state) {
    mabd_real s[6];
    for (int k = 0; k < 6; k++) s[k] = (mabd_real)0.1 * draw_real(state);
    return mabd_sym3_load(s);
}

static mabd_vec12 strain_increment(mabd_sym3 e) {
    const mabd_vec12 D = {
        mabd_sym3_mul(e, unit[0]), mabd_sym3_mul(e, unit[1]), mabd_sym3_mul(e, unit[2]), {0, 0, 0}};
    return D;
}

static mabd_mat3 strained(mabd_mat3 R, mabd_sym3 e) {
    const mabd_vec12 D = strain_increment(e);
    return mabd_m3(mabd_v3_add(R.c1, mabd_m3_mul(R, D.d1)), mabd_v3_add(R.c2, mabd_m3_mul(R, D.d2)),
                   mabd_v3_add(R.c3, mabd_m3_mul(R, D.d3)));
}

// C(R (I + e)) = C(R) + J e + remainder, to round-off at strains of 0.1
static mabd_real remainder_error(const mabd_joint_view* v, const mabd_row* row, mabd_sym3 ea,
                                 mabd_sym3 eb) {
    mabd_joint_view end = *v;
    end.Aa = strained(v->Aa, ea), end.Ab = strained(v->Ab, eb);
    const mabd_vec3 gap = mabd_joint_gap(v);
    const mabd_real linear =
        mabd_vec12_dot(mabd_affine_row_jacobian(v, row, gap, 0), strain_increment(ea)) +
        mabd_vec12_dot(mabd_affine_row_jacobian(v, row, gap, 1), strain_increment(eb));
    return fabs(value_at(&end, row) - value_at(v, row) - linear -
                mabd_affine_row_remainder(v, row, ea, eb));
}

Test(joint_jacobian, the_remainder_is_what_the_linearisation_leaves_out) {
    uint64_t state = 5;
    mabd_real largest = 0;
    for (int n = 0; n < DRAWS; n++) {
        const mabd_joint_view v = draw_view(&state);
        const mabd_sym3 ea = draw_strain(&state), eb = draw_strain(&state);
        for (uint8_t i = 0; i < 3; i++) {
            const mabd_row rows[] = {{MABD_ROW_POINT, i, 0, 1},
                                     {MABD_ROW_SLIDE, i, 0, 1},
                                     {MABD_ROW_CROSS, i, (uint8_t)((i + 1) % 3), 1},
                                     {MABD_ROW_CROSS, i, (uint8_t)((i + 2) % 3), -1}};
            for (int r = 0; r < 4; r++) {
                cr_assert(le(dbl, remainder_error(&v, &rows[r], ea, eb), 4e-15));
                largest = fmax(largest, fabs(mabd_affine_row_remainder(&v, &rows[r], ea, eb)));
            }
        }
    }
    cr_assert(lt(dbl, 1e-2, largest)); // the remainder is not negligible
}

Test(joint_jacobian, the_remainder_of_an_angle_is_what_its_linearisation_leaves_out) {
    uint64_t state = 11;
    for (int n = 0; n < DRAWS; n++) {
        mabd_joint_view v = draw_view(&state);
        const mabd_sym3 ea = draw_strain(&state), eb = draw_strain(&state);
        const mabd_row slide = {MABD_ROW_SLIDE, (uint8_t)(n % 3), 0, 1},
                       angle = {MABD_ROW_ANGLE_A, (uint8_t)(n % 3), 0, 1};
        const mabd_real x = value_at(&v, &slide);
        const mabd_real bilinear = mabd_affine_row_remainder(&v, &slide, ea, eb);
        cr_assert(le(dbl,
                     fabs(mabd_affine_coordinate_remainder(&v, &slide, &ea, &eb, x) - bilinear),
                     4e-15));
        // the coordinate of the strained bodies is reference + linear term + remainder
        set_hinge(&v, n % 3, 2 * draw_real(&state), 0.3);
        mabd_joint_view end = v;
        end.Aa = strained(v.Aa, ea), end.Ab = strained(v.Ab, eb);
        const mabd_real x_ref = coordinate_at(&v, &angle, 0);
        const mabd_vec3 gap = mabd_joint_gap(&v);
        const mabd_real line =
            mabd_vec12_dot(mabd_affine_row_jacobian(&v, &angle, gap, 0), strain_increment(ea)) +
            mabd_vec12_dot(mabd_affine_row_jacobian(&v, &angle, gap, 1), strain_increment(eb));
        const mabd_real sum =
            x_ref + line + mabd_affine_coordinate_remainder(&v, &angle, &ea, &eb, x_ref);
        cr_assert(le(dbl, fabs(sum - coordinate_at(&end, &angle, x_ref)), 4e-15));
    }
}
