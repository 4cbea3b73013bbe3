// SPDX-License-Identifier: Apache-2.0
// Joints of rigid bodies at random poses, and fourth-order differences over the increments
// (dc, phi) of both bodies.
#pragma once

#include "rigid/row_jacobian.h"
#include "support/draw_row.h"

#include <string.h>

/// A joint type with all its rows: the rigid ones, then the coordinates of its free axes.
typedef struct rigid_case {
    mabd_joint_view v;
    int rigid, count; // count is 6 for every type
    mabd_row rows[6];
    mabd_real near[6];
} rigid_case;

/// How far the pose of a case is from a closed joint.
typedef enum rigid_pose { RIGID_CLOSED, RIGID_OPEN, RIGID_FAR } rigid_pose;

/// Draw the rotation of a closed joint: about the free axes of a hinge, then of b; any rotation by
/// up to 1.9 rad if three are free.
static inline mabd_mat3 draw_free_rotation(const rigid_case* c, uint64_t* state) {
    mabd_mat3 S = mabd_m3_identity();
    for (int r = c->rigid; r < c->count; r++) {
        const mabd_row* row = c->rows + r;
        if (row->kind == MABD_ROW_SLIDE) continue;
        S = mabd_m3_product(
            S, turn(unit[row->axis], (row->kind == MABD_ROW_VECTOR ? 1.1 : 3) * draw_real(state)));
    }
    return S;
}

/// Draw the gap of a closed joint in the axes of a: free translations only.
static inline mabd_vec3 draw_free_gap(const rigid_case* c, uint64_t* state) {
    mabd_vec3 gap = mabd_v3(0, 0, 0);
    for (int r = c->rigid; r < c->count; r++) {
        if (c->rows[r].kind != MABD_ROW_SLIDE) continue;
        gap = mabd_v3_axpy(2 * draw_real(state), unit[c->rows[r].axis], gap);
    }
    return gap;
}

/// Draw a joint of one type: closed, or tilted by 0.2 or 0.6 rad and opened along each axis by up
/// to 0.2 or 0.6 m.
static inline rigid_case draw_rigid_case(mabd_joint type, rigid_pose pose, uint64_t* state) {
    rigid_case c = {.v = draw_view(state)};
    c.count = c.rigid = mabd_joint_rigid_rows(type, c.rows);
    for (int axis = 0; axis < 6; axis++) {
        if (mabd_joint_coordinate(type, (mabd_axis)axis, c.rows + c.count)) c.count++;
    }
    const mabd_real open = pose == RIGID_CLOSED ? 0 : pose == RIGID_OPEN ? 0.2 : 0.6;
    const mabd_mat3 S = draw_free_rotation(&c, state), tilt = turn(draw_direction(state), open);
    set_relative(&c.v, mabd_m3_product(tilt, S));
    const mabd_vec3 gap = mabd_v3_add(draw_free_gap(&c, state), draw_vec3(state, open));
    const mabd_vec3 have = mabd_joint_gap(&c.v);
    const mabd_vec3 want = mabd_m3_mul(c.v.Aa, mabd_m3_mul(c.v.Fa, gap));
    c.v.tb = mabd_v3_add(c.v.tb, mabd_v3_sub(want, have));
    const mabd_real zero[6] = {0};
    mabd_joint_coordinates(&c.v, c.count, c.rows, zero, c.near);
    return c;
}

/// The view after the increment s of unknown k: dc_a, phi_a, dc_b, phi_b, three each.
static inline mabd_joint_view rigid_moved(const mabd_joint_view* v, int k, mabd_real s) {
    mabd_joint_view out = *v;
    mabd_vec3* t = k < 6 ? &out.ta : &out.tb;
    mabd_mat3* A = k < 6 ? &out.Aa : &out.Ab;
    if (k % 6 < 3)
        *t = mabd_v3_axpy(s, unit[k % 3], *t);
    else
        *A = mabd_m3_product(*A, turn(unit[k % 3], s));
    return out;
}

/// A function of the view of a case with n results.
typedef void (*rigid_function)(const rigid_case* c, const mabd_real* data, mabd_real* out);

/// Write the derivative of f (n <= 12) by unknown k: (8 (f(s) - f(-s)) - (f(2s) - f(-2s))) / 12 s.
static inline void rigid_difference(const rigid_case* c, rigid_function f, const mabd_real* data,
                                    int n, int k, mabd_real* slope) {
    const mabd_real step = 1e-3, at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    memset(slope, 0, n * sizeof *slope);
    for (int p = 0; p < 4; p++) {
        rigid_case moved = *c;
        mabd_real value[12] = {0};
        moved.v = rigid_moved(&c->v, k, at[p] * step);
        f(&moved, data, value);
        for (int i = 0; i < n; i++) slope[i] += weight[p] * value[i] / (12 * step);
    }
}
