// SPDX-License-Identifier: Apache-2.0
// Tests for src/rigid/row_jacobian.h
//
// Oracles: fourth-order differences of joint/rows.h (step 1e-3: round-off 1e-12, truncation 1e-11),
// the balance of forces and torques about the origin, and the Jacobians of the affine formulation,
// whose wrench is force = R tau, torque = e1 x d1 + e2 x d2 + e3 x d3.
#include "rigid/row_jacobian.h"

#include "formulation/affine/element/joint_jacobian.h"
#include "support/rigid_rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define DRAWS 30

static void coordinates(const rigid_case* c, const mabd_real* data, mabd_real* out) {
    (void)data;
    mabd_joint_coordinates(&c->v, c->count, c->rows, c->near, out);
}

// Return the largest difference between the Jacobians of all rows of a case and differences.
static mabd_real jacobian_error(const rigid_case* c) {
    mabd_real C[6], x[6], slope[6], worst = 0;
    mabd_rigid_row J[6];
    mabd_rigid_joint_rows(&c->v, c->count, c->rows, c->near, C, J);
    coordinates(c, NULL, x);
    for (int r = 0; r < c->count; r++) worst = fmax(worst, 1e3 * fabs(C[r] - x[r]));
    for (int k = 0; k < 12; k++) {
        rigid_difference(c, coordinates, NULL, c->count, k, slope);
        for (int r = 0; r < c->count; r++) {
            worst = fmax(worst, fabs(slope[r] - ((const mabd_real*)&J[r])[k]));
        }
    }
    return worst;
}

static mabd_real worst_jacobian(rigid_pose pose, uint64_t state) {
    mabd_real worst = 0;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int n = 0; n < DRAWS; n++) {
            const rigid_case c = draw_rigid_case((mabd_joint)type, pose, &state);
            cr_assert(eq(int, c.count, 6));
            worst = fmax(worst, jacobian_error(&c));
        }
    }
    return worst;
}

Test(row_jacobian, rows_of_all_joints_have_the_derivatives_of_their_values) {
    const mabd_real closed = worst_jacobian(RIGID_CLOSED, 1), open = worst_jacobian(RIGID_OPEN, 2),
                    far = worst_jacobian(RIGID_FAR, 3);
    printf("Jacobians against differences: closed %.1e, open %.1e, far %.1e\n", closed, open, far);
    cr_assert(le(dbl, closed, 1e-8));
    cr_assert(le(dbl, open, 1e-8));
    cr_assert(le(dbl, far, 1e-8));
}

Test(row_jacobian, rigid_rows_of_closed_cases_are_closed) {
    uint64_t state = 4;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const rigid_case c = draw_rigid_case((mabd_joint)type, RIGID_CLOSED, &state);
        mabd_real C[6];
        mabd_rigid_row J[6];
        mabd_rigid_joint_rows(&c.v, c.rigid, c.rows, NULL, C, J);
        for (int r = 0; r < c.rigid; r++) cr_assert(le(dbl, fabs(C[r]), 2e-15));
    }
}

// Rotation vectors of any length up to 5 rad, tiny ones and those at half a turn included: the
// vector nearest to the previous one is followed, not the shortest.
Test(row_jacobian, vector_rows_are_derivatives_near_zero_at_half_turns_and_beyond) {
    const mabd_real angles[] = {0, 1e-9,           1e-4,    9.9e-3,         1.01e-2, 0.1,
                                2, MABD_PI - 1e-3, MABD_PI, MABD_PI + 1e-9, 3.5,     5};
    uint64_t state = 5;
    mabd_real worst = 0;
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
        for (int n = 0; n < DRAWS; n++) {
            rigid_case c = draw_rigid_case(MABD_JOINT_BALL, RIGID_OPEN, &state);
            const mabd_vec3 axis = draw_direction(&state);
            set_relative(&c.v, turn(axis, angles[a]));
            mabd_v3_store(mabd_v3_scale(angles[a], axis), c.near + 3);
            worst = fmax(worst, jacobian_error(&c));
        }
    }
    printf("vector rows against differences: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-8));
}

// A single component, as of a motor on one axis of a ball, has the same row as all three.
Test(row_jacobian, a_row_does_not_depend_on_the_other_rows_of_the_joint) {
    uint64_t state = 6;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const rigid_case c = draw_rigid_case((mabd_joint)type, RIGID_OPEN, &state);
        mabd_real C[6], one;
        mabd_rigid_row J[6], single;
        mabd_rigid_joint_rows(&c.v, c.count, c.rows, c.near, C, J);
        for (int r = 0; r < c.count; r++) {
            mabd_rigid_joint_rows(&c.v, 1, c.rows + r, c.near + r, &one, &single);
            cr_assert(le(dbl, fabs(one - C[r]), 0));
            cr_assert(eq(int, memcmp(&single, J + r, sizeof single), 0));
        }
    }
}

// ---- momentum ----------------------------------------------------------------------------------

// Return the torque of a row about the world origin, both bodies together.
static mabd_vec3 net_torque(const mabd_joint_view* v, const mabd_rigid_row* J) {
    const mabd_vec3 a = mabd_v3_add(mabd_v3_cross(v->ta, J->a.f), mabd_m3_mul(v->Aa, J->a.t));
    const mabd_vec3 b = mabd_v3_add(mabd_v3_cross(v->tb, J->b.f), mabd_m3_mul(v->Ab, J->b.t));
    return mabd_v3_add(a, b);
}

// Slide, cross and angle rows do not change if both bodies are turned together, so their torques
// cancel in every pose. A point row is along a world axis: an open one has the torque d x e_i of
// two opposite forces with the distance d, a closed one has none.
static mabd_vec3 torque_of_gap(const mabd_joint_view* v, const mabd_row* row) {
    if (row->kind != MABD_ROW_POINT) return mabd_v3(0, 0, 0);
    return mabd_v3_cross(mabd_joint_gap(v), unit[row->axis]);
}

Test(row_jacobian, the_wrenches_of_a_row_cancel_about_the_origin) {
    uint64_t state = 7;
    mabd_real force = 0, torque = 0;
    for (int n = 0; n < DRAWS * MABD_JOINT_COUNT * 3; n++) {
        const rigid_case c = draw_rigid_case((mabd_joint)(n % MABD_JOINT_COUNT),
                                             (rigid_pose)(n / MABD_JOINT_COUNT % 3), &state);
        mabd_real C[6];
        mabd_rigid_row J[6];
        mabd_rigid_joint_rows(&c.v, c.count, c.rows, c.near, C, J);
        for (int r = 0; r < c.count; r++) {
            force = fmax(force, mabd_v3_norm(mabd_v3_add(J[r].a.f, J[r].b.f)));
            const mabd_vec3 net = net_torque(&c.v, J + r);
            torque = fmax(torque, mabd_v3_norm(mabd_v3_sub(net, torque_of_gap(&c.v, c.rows + r))));
        }
    }
    printf("net force %.1e, net torque %.1e\n", force, torque);
    cr_assert(le(dbl, force, 0));
    cr_assert(le(dbl, torque, 1e-13));
}

// The arm R_a X_a + c_b - c_a of the caption of [VQ Tab. 7] in place of R_b X_b + c_b - c_a.
Test(row_jacobian, the_arm_of_the_printed_table_leaves_a_torque_without_reaction) {
    uint64_t state = 8;
    const rigid_case c = draw_rigid_case(MABD_JOINT_SLOT, RIGID_OPEN, &state);
    mabd_real C[6];
    mabd_rigid_row J[6];
    mabd_rigid_joint_rows(&c.v, c.count, c.rows, c.near, C, J);
    const mabd_vec3 n = mabd_m3_column(&c.v.Fa, c.rows[0].axis);
    const mabd_vec3 arm = mabd_v3_add(c.v.Xa, mabd_m3_tmul(c.v.Aa, mabd_v3_sub(c.v.tb, c.v.ta)));
    cr_assert(le(dbl, mabd_v3_norm(net_torque(&c.v, J)), 1e-13));
    J[0].a.t = mabd_v3_cross(n, arm);
    cr_assert(lt(dbl, 0.1, mabd_v3_norm(net_torque(&c.v, J))));
}

// ---- the affine formulation --------------------------------------------------------------------

// Return the wrench of an affine Jacobian of a body with rotation R.
static mabd_rigid_wrench affine_wrench(mabd_mat3 R, mabd_vec12 J) {
    mabd_rigid_wrench w;
    w.f = mabd_m3_mul(R, J.tau);
    w.t = mabd_v3_add(mabd_v3_add(mabd_v3_cross(unit[0], J.d1), mabd_v3_cross(unit[1], J.d2)),
                      mabd_v3_cross(unit[2], J.d3));
    return w;
}

static mabd_real wrench_distance(mabd_rigid_wrench x, mabd_rigid_wrench y) {
    return fmax(mabd_v3_norm(mabd_v3_sub(x.f, y.f)), mabd_v3_norm(mabd_v3_sub(x.t, y.t)));
}

// The affine angle row is the cross row at the current angle: r dx, r = 1 if the joint is closed.
static mabd_real affine_distance(const rigid_case* c, int r, const mabd_rigid_row* J) {
    const mabd_row* row = c->rows + r;
    mabd_real s = 0, k = 1;
    if (row->kind == MABD_ROW_ANGLE_A || row->kind == MABD_ROW_ANGLE_B) {
        mabd_row_angle(&c->v, row, &s, &k);
    }
    mabd_real scale = sqrt(s * s + k * k), worst = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const mabd_vec12 affine = mabd_affine_row_jacobian(&c->v, row, mabd_joint_gap(&c->v), is_b);
        mabd_rigid_wrench mine = is_b ? J->b : J->a;
        mine.f = mabd_v3_scale(scale, mine.f), mine.t = mabd_v3_scale(scale, mine.t);
        worst = fmax(worst, wrench_distance(affine_wrench(is_b ? c->v.Ab : c->v.Aa, affine), mine));
    }
    return worst;
}

Test(row_jacobian, rows_are_the_wrenches_of_the_affine_jacobians) {
    uint64_t state = 9;
    mabd_real worst = 0;
    for (int n = 0; n < DRAWS * MABD_JOINT_COUNT * 2; n++) {
        const rigid_case c = draw_rigid_case((mabd_joint)(n % MABD_JOINT_COUNT),
                                             (rigid_pose)(n / MABD_JOINT_COUNT % 2), &state);
        mabd_real C[6];
        mabd_rigid_row J[6];
        mabd_rigid_joint_rows(&c.v, c.count, c.rows, c.near, C, J);
        for (int r = 0; r < c.count; r++) worst = fmax(worst, affine_distance(&c, r, J + r));
    }
    printf("against the affine Jacobians: %.1e\n", worst);
    cr_assert(le(dbl, worst, 1e-13));
}
