// SPDX-License-Identifier: Apache-2.0
// Tests for src/joint/rows.h: coordinates of axes. The values of rows are tested with their
// Jacobians (tests/unit/affine/test_joint_jacobian.c) and in the tests of the joint table.
#include "support/draw_row.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define DRAWS 200

Test(rows, angles_of_hinges_and_universal_joints_are_their_coordinates) {
    uint64_t state = 3;
    for (int n = 0; n < DRAWS; n++) {
        mabd_joint_view v = draw_view(&state);
        for (uint8_t k = 0; k < 3; k++) {
            const mabd_row a = {MABD_ROW_ANGLE_A, k, 0, 1},
                           b = {MABD_ROW_ANGLE_B, (uint8_t)((k + 1) % 3), 0, 1};
            const mabd_real angle = 3 * draw_real(&state), second = 3 * draw_real(&state);
            set_hinge(&v, k, angle, second);
            cr_assert(le(dbl, fabs(coordinate_at(&v, &a, angle) - angle), 4e-15));
            cr_assert(le(dbl, fabs(coordinate_at(&v, &b, second) - second), 4e-15));
        }
    }
}

// ---- more than one turn ------------------------------------------------------------------------

Test(rows, an_angle_is_followed_over_many_turns_in_both_directions) {
    uint64_t state = 7;
    mabd_joint_view v = draw_view(&state);
    const mabd_row row = {MABD_ROW_ANGLE_A, 2, 0, 1};
    mabd_real x = 0;
    for (int i = 0; i <= 400; i++) {
        const mabd_real angle = 0.3 * (i <= 200 ? i : 600 - 2 * i); // to 60, then to -60
        set_hinge(&v, 2, angle, 0.2);
        x = coordinate_at(&v, &row, x);
        cr_assert(le(dbl, fabs(x - angle), 1e-13), "step %d: %g for %g", i, x, angle);
    }
    cr_assert(lt(dbl, x, -50));
}

Test(rows, unwrap_takes_the_nearest_value) {
    cr_assert(
        le(dbl, fabs(mabd_unwrap_angle(3, 3 + 20 * MABD_PI + 3) - (3 + 20 * MABD_PI)), 1e-14));
    cr_assert(
        le(dbl, fabs(mabd_unwrap_angle(3, 3 - 20 * MABD_PI - 3) - (3 - 20 * MABD_PI)), 1e-14));
    cr_assert(le(dbl, fabs(mabd_unwrap_angle(-3, 3.2) - (2 * MABD_PI - 3)), 1e-15));
}

// The vector rows of one joint at a state.
static mabd_vec3 vector_at(const mabd_joint_view* v, mabd_vec3 near) {
    mabd_row rows[3];
    mabd_real last[3], x[3];
    mabd_v3_store(near, last);
    for (uint8_t k = 0; k < 3; k++) rows[k] = (mabd_row){MABD_ROW_VECTOR, k, 0, 1};
    mabd_joint_coordinates(v, 3, rows, last, x);
    return mabd_v3_load(x);
}

Test(rows, a_rotation_vector_is_followed_over_many_turns) {
    uint64_t state = 8;
    for (int n = 0; n < 20; n++) {
        mabd_joint_view v = draw_view(&state);
        const mabd_vec3 axis = draw_direction(&state);
        mabd_vec3 phi = {0, 0, 0};
        for (int i = 1; i <= 250; i++) {
            const mabd_real angle = 0.1 * (i <= 200 ? i : 400 - i); // to 20 rad and back to 15
            set_relative(&v, turn(axis, angle));
            phi = vector_at(&v, phi);
            const mabd_real miss = mabd_v3_norm(mabd_v3_sub(phi, mabd_v3_scale(angle, axis)));
            // the axis is undetermined near whole turns, where sin(angle) is small
            cr_assert(le(dbl, miss, 1e-13 / fmax(1e-3, fabs(sin(angle)))), "%g rad: %g", angle,
                      miss);
        }
    }
}
