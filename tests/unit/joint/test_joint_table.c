// SPDX-License-Identifier: Apache-2.0
// Tests for src/joint/table.c, against the list of free axes in mabd/scene.h
#include "joint/table.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char* const translations[MABD_JOINT_COUNT] = {
#define X(name, text, free_translations, free_rotations) free_translations,
    MABD_JOINT_LIST(X)
#undef X
};
static const char* const rotations[MABD_JOINT_COUNT] = {
#define X(name, text, free_translations, free_rotations) free_rotations,
    MABD_JOINT_LIST(X)
#undef X
};

static bool is_free(mabd_joint type, int axis) {
    return strchr(axis < 3 ? translations[type] : rotations[type], "xyz"[axis % 3]) != NULL;
}

// Bodies anywhere, with coincident anchors and equal frames.
static mabd_joint_view closed_view(uint64_t* state) {
    mabd_joint_view v = draw_view(state);
    set_relative(&v, mabd_m3_identity());
    v.tb = mabd_v3_add(v.tb, mabd_v3_scale(-1, mabd_joint_gap(&v)));
    return v;
}

// Move b along, or rotate it about, one axis of the joint frame through the anchor.
static void move_b(mabd_joint_view* v, int axis, mabd_real amount) {
    const mabd_vec3 n = mabd_m3_mul(v->Aa, mabd_m3_column(&v->Fa, axis % 3));
    if (axis < 3) {
        v->tb = mabd_v3_axpy(amount, n, v->tb);
        return;
    }
    const mabd_vec3 anchor = mabd_v3_add(mabd_m3_mul(v->Ab, v->Xb), v->tb);
    v->Ab = mabd_m3_product(turn(n, amount), v->Ab);
    v->tb = mabd_v3_sub(anchor, mabd_m3_mul(v->Ab, v->Xb));
}

static mabd_real value_after(mabd_joint_view v, const mabd_row* row, int axis, mabd_real amount) {
    move_b(&v, axis, amount);
    return mabd_row_value(&v, row, mabd_joint_gap(&v));
}

Test(joint_table, every_joint_has_six_rows_less_its_free_axes) {
    static const int expected[MABD_JOINT_COUNT] = {6, 5, 5, 4, 4, 4, 4, 3, 3, 3, 2, 0, 2, 1};
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_row rows[MABD_JOINT_MAX_ROWS];
        const int count = mabd_joint_rigid_rows((mabd_joint)type, rows);
        const int freedom = (int)(strlen(translations[type]) + strlen(rotations[type]));
        cr_assert(eq(int, count, 6 - freedom), "%s", mabd_joint_name((mabd_joint)type));
        cr_assert(eq(int, count, expected[type]), "%s", mabd_joint_name((mabd_joint)type));
    }
}

// The locked axis of a cross row is neither the axis of a nor that of b in the row.
Test(joint_table, a_cross_row_grows_as_the_turn_about_the_axis_it_locks) {
    uint64_t state = 1;
    const mabd_real theta = 1e-4;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_row rows[MABD_JOINT_MAX_ROWS];
        const int count = mabd_joint_rigid_rows((mabd_joint)type, rows);
        for (int r = 0; r < count; r++) {
            if (rows[r].kind != MABD_ROW_CROSS) continue;
            const int locked = 3 - rows[r].axis - rows[r].other;
            const mabd_joint_view v = closed_view(&state);
            cr_assert(eq(int, is_free((mabd_joint)type, 3 + locked), 0));
            for (int k = 0; k < 3; k++) {
                const mabd_real c = value_after(v, &rows[r], 3 + k, theta);
                const mabd_real expected = k == locked ? sin(theta) : 0;
                cr_assert(le(dbl, fabs(c - expected), 2e-15), "%s row %d, turn about %c: %g",
                          mabd_joint_name((mabd_joint)type), r, "xyz"[k], c);
            }
        }
    }
}

// Large free motions leave all rows at zero, and each locked motion opens one.
Test(joint_table, rows_open_with_locked_motions_and_with_no_others) {
    uint64_t state = 2;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_row rows[MABD_JOINT_MAX_ROWS];
        const int count = mabd_joint_rigid_rows((mabd_joint)type, rows);
        for (int axis = 0; axis < 6; axis++) {
            const mabd_joint_view v = closed_view(&state);
            const bool free_axis = is_free((mabd_joint)type, axis);
            const mabd_real amount = free_axis ? 0.8 : 1e-3;
            mabd_real open = 0;
            for (int r = 0; r < count; r++) {
                open = fmax(open, fabs(value_after(v, &rows[r], axis, amount)));
            }
            if (free_axis) {
                cr_assert(le(dbl, open, 4e-15), "%s axis %d", mabd_joint_name((mabd_joint)type),
                          axis);
            } else {
                cr_assert(ge(dbl, open, 0.4e-3), "%s axis %d", mabd_joint_name((mabd_joint)type),
                          axis);
            }
        }
    }
}

Test(joint_table, free_axes_and_no_others_have_a_coordinate_that_grows_as_the_motion) {
    uint64_t state = 3;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < 6; axis++) {
            mabd_row row;
            const bool found = mabd_joint_coordinate((mabd_joint)type, (mabd_axis)axis, &row);
            cr_assert(eq(int, found, is_free((mabd_joint)type, axis)));
            if (!found) continue;
            mabd_joint_view v = closed_view(&state);
            mabd_real x, near = 0;
            move_b(&v, axis, 0.7);
            mabd_joint_coordinates(&v, 1, &row, &near, &x);
            cr_assert(le(dbl, fabs(x - 0.7), 4e-15), "%s axis %d: %g",
                      mabd_joint_name((mabd_joint)type), axis, x);
            for (int other = 0; other < 6; other++) {
                if (other == axis || !is_free((mabd_joint)type, other)) continue;
                mabd_joint_view w = closed_view(&state);
                move_b(&w, other, 0.7);
                mabd_joint_coordinates(&w, 1, &row, &near, &x);
                cr_assert(le(dbl, fabs(x), 4e-15), "%s axis %d sees %d: %g",
                          mabd_joint_name((mabd_joint)type), axis, other, x);
            }
        }
    }
}
