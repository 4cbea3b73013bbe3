// SPDX-License-Identifier: Apache-2.0
// Charts of three free rotations by number: the exponential chart (ball_chart.h), and the twelve of
// Euler angles (euler_chart.h), as a string of screws in either direction.
#pragma once

#include "math/ball_chart.h"
#include "math/euler_chart.h"

#define MABD_TURN_EXPONENTIAL (-1)

/// A chart: MABD_TURN_EXPONENTIAL, or the number of Euler angles and whether they are reversed.
typedef struct mabd_turn_kind {
    int number;
    bool reversed;
} mabd_turn_kind;

/// A chart at a point, and what its derivatives need.
typedef struct mabd_turn_chart {
    mabd_turn_kind kind;
    mabd_chart ball;
    mabd_euler euler;
} mabd_turn_chart;

MABD_FN bool mabd_turn_is_euler(const mabd_turn_chart* x) {
    return x->kind.number >= 0;
}

/// Prepare a chart at q.
MABD_FN mabd_turn_chart mabd_turn_chart_at(mabd_turn_kind kind, mabd_vec3 q) {
    mabd_turn_chart x;
    x.kind = kind;
    if (kind.number >= 0) {
        x.euler = mabd_euler_at(kind.number, kind.reversed, q);
    } else {
        x.ball = mabd_chart_at(q);
    }
    return x;
}
/// J u, the angular velocity in the rotated frame.
MABD_FN mabd_vec3 mabd_turn_mul(const mabd_turn_chart* x, mabd_vec3 u) {
    return mabd_turn_is_euler(x) ? mabd_euler_mul(&x->euler, u) : mabd_chart_mul(&x->ball, u);
}
/// J as columns.
MABD_FN mabd_mat3 mabd_turn_matrix(const mabd_turn_chart* x) {
    return mabd_m3(mabd_turn_mul(x, mabd_v3(1, 0, 0)), mabd_turn_mul(x, mabd_v3(0, 1, 0)),
                   mabd_turn_mul(x, mabd_v3(0, 0, 1)));
}
/// The derivative of J u along w.
MABD_FN mabd_vec3 mabd_turn_slope(const mabd_turn_chart* x, mabd_vec3 w, mabd_vec3 u) {
    return mabd_turn_is_euler(x) ? mabd_euler_slope(&x->euler, w, u)
                                 : mabd_chart_slope(&x->ball, w, u);
}
/// The derivatives of J u along each axis, as columns.
MABD_FN mabd_mat3 mabd_turn_slopes(const mabd_turn_chart* x, mabd_vec3 u) {
    return mabd_m3(mabd_turn_slope(x, mabd_v3(1, 0, 0), u), mabd_turn_slope(x, mabd_v3(0, 1, 0), u),
                   mabd_turn_slope(x, mabd_v3(0, 0, 1), u));
}
/// The derivative of mabd_turn_slope(w, u) along d.
MABD_FN mabd_vec3 mabd_turn_bend(const mabd_turn_chart* x, mabd_vec3 d, mabd_vec3 w, mabd_vec3 u) {
    return mabd_turn_is_euler(x) ? mabd_euler_bend(&x->euler, d, w, u)
                                 : mabd_chart_bend(&x->ball, d, w, u);
}
MABD_FN mabd_mat3 mabd_turn_rotation(const mabd_turn_chart* x) {
    return mabd_turn_is_euler(x) ? x->euler.R : mabd_chart_rotation(&x->ball);
}
/// J^-1; |q| < 2 pi in the exponential chart.
MABD_FN mabd_mat3 mabd_turn_inverse(const mabd_turn_chart* x) {
    if (!mabd_turn_is_euler(x)) return mabd_so3_log_gradients(x->ball.q);
    return mabd_m3(mabd_euler_rates(&x->euler, mabd_v3(1, 0, 0)),
                   mabd_euler_rates(&x->euler, mabd_v3(0, 1, 0)),
                   mabd_euler_rates(&x->euler, mabd_v3(0, 0, 1)));
}
/// Coordinates of a rotation, those nearest to `near`.
MABD_FN mabd_vec3 mabd_turn_coordinates(mabd_turn_kind kind, mabd_mat3 R, mabd_vec3 near) {
    if (kind.number < 0) return mabd_rotvec_unwrap(mabd_so3_log(R), near, mabd_v3(1, 1, 1));
    const mabd_mat3 joint = kind.reversed ? mabd_m3_transpose(R) : R;
    return mabd_euler_angles_near(kind.number, joint, near);
}
