// SPDX-License-Identifier: Apache-2.0
// Tests for src/rigid/geometric.h: G against fourth-order differences of J' lambda.
#include "rigid/geometric.h"

#include "support/rigid_rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define DRAWS 30

// J' lambda of all rows: wrench on a, then on b.
static void row_force(const rigid_case* c, const mabd_real* lambda, mabd_real* out) {
    mabd_real C[6];
    mabd_rigid_row J[6];
    mabd_rigid_joint_rows(&c->v, c->count, c->rows, c->near, C, J);
    for (int r = 0; r < c->count; r++) {
        for (int k = 0; k < 12; k++) out[k] += lambda[r] * ((const mabd_real*)&J[r])[k];
    }
}

// Entry (row, column) of the 12 x 12 matrix of the blocks aa ab / ba bb.
static mabd_real entry(mabd_real blocks[4][36], int row, int column) {
    return blocks[2 * (row / 6) + column / 6][6 * (row % 6) + column % 6];
}

static mabd_real geometric_error(const rigid_case* c, const mabd_real* lambda) {
    mabd_real blocks[4][36] = {{0}}, slope[12], worst = 0;
    const mabd_rigid_blocks G = {blocks[0], blocks[1], blocks[2], blocks[3]};
    const mabd_rigid_joint j = mabd_rigid_joint_at(&c->v, c->count, c->rows, c->near);
    mabd_rigid_add_geometric(&j, c->count, c->rows, lambda, &G);
    for (int k = 0; k < 12; k++) {
        rigid_difference(c, row_force, lambda, 12, k, slope);
        for (int i = 0; i < 12; i++) worst = fmax(worst, fabs(slope[i] - entry(blocks, i, k)));
    }
    return worst;
}

// Each row alone with a multiplier of 1: an error of one row cannot hide behind another.
static mabd_real worst_row(const rigid_case* c) {
    mabd_real worst = 0;
    for (int r = 0; r < c->count; r++) {
        mabd_real lambda[6] = {0};
        lambda[r] = 1;
        worst = fmax(worst, geometric_error(c, lambda));
    }
    return worst;
}

static mabd_real worst_geometric(rigid_pose pose, uint64_t state) {
    mabd_real worst = 0;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int n = 0; n < DRAWS; n++) {
            const rigid_case c = draw_rigid_case((mabd_joint)type, pose, &state);
            worst = fmax(worst, worst_row(&c));
        }
    }
    return worst;
}

Test(geometric, blocks_are_derivatives_of_the_forces_of_every_row_of_all_joints) {
    const mabd_real closed = worst_geometric(RIGID_CLOSED, 1),
                    open = worst_geometric(RIGID_OPEN, 2), far = worst_geometric(RIGID_FAR, 3);
    printf("G against differences: closed %.1e, open %.1e, far %.1e\n", closed, open, far);
    cr_assert(le(dbl, closed, 1e-8));
    cr_assert(le(dbl, open, 1e-8));
    cr_assert(le(dbl, far, 1e-8));
}

Test(geometric, vector_rows_are_exact_near_zero_at_half_turns_and_beyond) {
    const mabd_real angles[] = {0,   1e-9, 1e-4,           9.9e-3,  1.01e-2, 0.0999, 0.1001,
                                0.5, 2,    MABD_PI - 1e-3, MABD_PI, 3.5,     5};
    uint64_t state = 4;
    mabd_real worst = 0;
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
        for (int n = 0; n < DRAWS; n++) {
            rigid_case c = draw_rigid_case(MABD_JOINT_FREE, RIGID_OPEN, &state);
            const mabd_vec3 axis = draw_direction(&state);
            set_relative(&c.v, turn(axis, angles[a]));
            mabd_v3_store(mabd_v3_scale(angles[a], axis), c.near + 3);
            worst = fmax(worst, worst_row(&c));
        }
    }
    printf("G of vector rows against differences: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-8));
}

Test(geometric, rows_add_up_into_the_blocks_and_null_blocks_are_left_out) {
    uint64_t state = 5;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const rigid_case c = draw_rigid_case((mabd_joint)type, RIGID_OPEN, &state);
        mabd_real lambda[6], all[4][36] = {{0}}, some[36];
        for (int r = 0; r < 6; r++) lambda[r] = draw_real(&state);
        for (int k = 0; k < 36; k++) some[k] = 1;
        cr_assert(le(dbl, geometric_error(&c, lambda), 1e-8));
        const mabd_rigid_blocks G = {all[0], all[1], all[2], all[3]}, one = {.bb = some};
        const mabd_rigid_joint j = mabd_rigid_joint_at(&c.v, c.count, c.rows, c.near);
        mabd_rigid_add_geometric(&j, c.count, c.rows, lambda, &G);
        mabd_rigid_add_geometric(&j, c.count, c.rows, lambda, &one);
        for (int k = 0; k < 36; k++) cr_assert(le(dbl, fabs(some[k] - 1 - all[3][k]), 4e-15));
    }
}

// The Hessian of a function of R is symmetric but for half the cross matrix of its gradient, as
// exp([x]) exp([y]) = exp([x + y + x x y / 2 + ..]).
Test(geometric, the_antisymmetric_part_of_an_own_block_is_half_the_cross_matrix_of_the_torque) {
    uint64_t state = 6;
    for (int n = 0; n < DRAWS * MABD_JOINT_COUNT; n++) {
        const rigid_case c = draw_rigid_case((mabd_joint)(n % MABD_JOINT_COUNT), RIGID_FAR, &state);
        mabd_real lambda[6], wrench[12] = {0}, aa[36] = {0}, bb[36] = {0};
        for (int r = 0; r < 6; r++) lambda[r] = draw_real(&state);
        const mabd_rigid_blocks G = {.aa = aa, .bb = bb};
        const mabd_rigid_joint j = mabd_rigid_joint_at(&c.v, c.count, c.rows, c.near);
        mabd_rigid_add_geometric(&j, c.count, c.rows, lambda, &G);
        row_force(&c, lambda, wrench);
        for (int side = 0; side < 2; side++) {
            const mabd_real *block = side ? bb : aa, *t = wrench + 6 * side + 3;
            for (int k = 0; k < 3; k++) {
                const int row = 3 + (k + 2) % 3, column = 3 + (k + 1) % 3;
                const mabd_real skew = block[6 * row + column] - block[6 * column + row];
                cr_assert(le(dbl, fabs(skew - t[k]), 2e-13));
            }
        }
    }
}
