// SPDX-License-Identifier: Apache-2.0
// Euler angles: R = Q_1 Q_2 Q_3, Q_f = exp(a_f q_f), each a_f an axis of the frame. Twelve charts:
// three different axes, or the first once more at the end.
//
// Angular velocity in the rotated frame, w = S q', by the columns
//
//   j_f = (Q_(f+1) .. Q_3)' a_f        dj_m/dq_n = j_m x j_n for n > m, else 0
//
// so derivatives along e and u of sum_m j_m x_m are
//
//   first    sum_(m < n) x_m e_n  j_m x j_n
//   second   sum_(m < n) x_m e_n (sum_(p > m) u_p (j_m x j_p) x j_n
//                               + sum_(p > n) u_p  j_m x (j_n x j_p))
//
// That is Tab. 1 and 2 of [RM] for all charts at once. (Its printed derivatives [RM eq. 3.24] of R
// and R' have a wrong entry each.) |det S| = |cos q_2| for three axes, |sin q_2| for two, and
// depends on one entry r of R alone: sqrt(1 - r^2).
//
// Reversed: R = exp(-a_3 q_3) exp(-a_2 q_2) exp(-a_1 q_1), the inverse rotation.
#pragma once

#include "math/mat3.h"
#include "math/so3.h"

#define MABD_EULER_COUNT 12

/// A chart at a point.
typedef struct mabd_euler {
    mabd_vec3 j[3]; // columns of S in the order of turns
    int at[3];      // coordinate of each turn
    mabd_mat3 R;
} mabd_euler;

/// Axis 0, 1, 2 of turn `f` of a chart: XYZ XZY YXZ YZX ZXY ZYX XYX XZX YXY YZY ZXZ ZYZ.
MABD_FN int mabd_euler_axis(int chart, int f) {
    const int axes[MABD_EULER_COUNT] = {12, 21, 102, 120, 201, 210, 10, 20, 101, 121, 202, 212};
    const int digits = axes[chart];
    return f == 0 ? digits / 100 : f == 1 ? digits / 10 % 10 : digits % 10;
}
/// True if the first and the last turn are about the same axis.
MABD_FN bool mabd_euler_is_proper(int chart) {
    return mabd_euler_axis(chart, 0) == mabd_euler_axis(chart, 2);
}

MABD_FN mabd_vec3 mabd_euler_unit(int k) {
    return mabd_v3(k == 0 ? 1 : 0, k == 1 ? 1 : 0, k == 2 ? 1 : 0);
}
/// Rotation by an angle about an axis of the frame.
MABD_FN mabd_mat3 mabd_euler_turn(int axis, mabd_real angle) {
    const mabd_real c = (mabd_real)cos(angle), s = (mabd_real)sin(angle);
    if (axis == 0) return mabd_m3(mabd_v3(1, 0, 0), mabd_v3(0, c, s), mabd_v3(0, -s, c));
    if (axis == 1) return mabd_m3(mabd_v3(c, 0, -s), mabd_v3(0, 1, 0), mabd_v3(s, 0, c));
    return mabd_m3(mabd_v3(c, s, 0), mabd_v3(-s, c, 0), mabd_v3(0, 0, 1));
}

/// Compute a chart at q.
MABD_FN mabd_euler mabd_euler_at(int chart, bool reversed, mabd_vec3 q) {
    mabd_euler x;
    x.R = mabd_m3_identity();
    for (int f = 0; f < 3; f++) {
        const int own = reversed ? 2 - f : f, axis = mabd_euler_axis(chart, own);
        const mabd_real sign = reversed ? -1 : 1;
        const mabd_mat3 Q = mabd_euler_turn(axis, sign * mabd_v3_get(q, own));
        for (int g = 0; g < f; g++) x.j[g] = mabd_m3_tmul(Q, x.j[g]);
        x.j[f] = mabd_v3_scale(sign, mabd_euler_unit(axis));
        x.at[f] = own;
        x.R = mabd_m3_product(x.R, Q);
    }
    return x;
}

/// S u
MABD_FN mabd_vec3 mabd_euler_mul(const mabd_euler* x, mabd_vec3 u) {
    mabd_vec3 y = mabd_v3(0, 0, 0);
    for (int f = 0; f < 3; f++) y = mabd_v3_axpy(mabd_v3_get(u, x->at[f]), x->j[f], y);
    return y;
}
/// The derivative of S u along w.
MABD_FN mabd_vec3 mabd_euler_slope(const mabd_euler* x, mabd_vec3 w, mabd_vec3 u) {
    mabd_vec3 y = mabd_v3(0, 0, 0);
    for (int m = 0; m < 2; m++) {
        for (int n = m + 1; n < 3; n++) {
            const mabd_real by = mabd_v3_get(u, x->at[m]) * mabd_v3_get(w, x->at[n]);
            y = mabd_v3_axpy(by, mabd_v3_cross(x->j[m], x->j[n]), y);
        }
    }
    return y;
}
/// The derivative of mabd_euler_slope(w, u) along d.
MABD_FN mabd_vec3 mabd_euler_bend(const mabd_euler* x, mabd_vec3 d, mabd_vec3 w, mabd_vec3 u) {
    mabd_vec3 y = mabd_v3(0, 0, 0);
    for (int m = 0; m < 2; m++) {
        for (int n = m + 1; n < 3; n++) {
            const mabd_real by = mabd_v3_get(u, x->at[m]) * mabd_v3_get(w, x->at[n]);
            for (int p = m + 1; p < 3; p++) {
                const mabd_real own = by * mabd_v3_get(d, x->at[p]);
                const mabd_vec3 first = mabd_v3_cross(x->j[m], x->j[p]);
                y = mabd_v3_axpy(own, mabd_v3_cross(first, x->j[n]), y);
                if (p <= n) continue;
                const mabd_vec3 second = mabd_v3_cross(x->j[n], x->j[p]);
                y = mabd_v3_axpy(own, mabd_v3_cross(x->j[m], second), y);
            }
        }
    }
    return y;
}
/// det S but for its sign, which changes at a singular point.
MABD_FN mabd_real mabd_euler_det(const mabd_euler* x) {
    return mabd_v3_dot(x->j[0], mabd_v3_cross(x->j[1], x->j[2]));
}
/// S^-1 w
MABD_FN mabd_vec3 mabd_euler_rates(const mabd_euler* x, mabd_vec3 w) {
    const mabd_real over = 1 / mabd_euler_det(x);
    mabd_real v[3];
    for (int f = 0; f < 3; f++) {
        const mabd_vec3 across = mabd_v3_cross(x->j[(f + 1) % 3], x->j[(f + 2) % 3]);
        v[x->at[f]] = over * mabd_v3_dot(across, w);
    }
    return mabd_v3_load(v);
}

// Entry of row i and column k of R.
MABD_FN mabd_real mabd_euler_entry(const mabd_mat3* R, int i, int k) {
    return mabd_v3_get(mabd_m3_column(R, k), i);
}

/// The angles of a rotation, q_2 in [-pi/2, pi/2] for three axes and [0, pi] for two [RM Tab. 3].
MABD_FN mabd_vec3 mabd_euler_angles(int chart, mabd_mat3 R) {
    const int i = mabd_euler_axis(chart, 0), j = mabd_euler_axis(chart, 1);
    const int k = 3 - i - j; // the axis that is left
    const mabd_real e = (j - i + 3) % 3 == 1 ? 1 : -1;
    mabd_vec3 q;
    if (mabd_euler_is_proper(chart)) {
        const mabd_real y = mabd_euler_entry(&R, j, i), z = -e * mabd_euler_entry(&R, k, i);
        q.x = (mabd_real)atan2(y, z);
        q.y = (mabd_real)atan2(sqrt(y * y + z * z), mabd_euler_entry(&R, i, i));
        q.z = (mabd_real)atan2(mabd_euler_entry(&R, i, j), e * mabd_euler_entry(&R, i, k));
        return q;
    }
    const mabd_real y = mabd_euler_entry(&R, i, i), z = -e * mabd_euler_entry(&R, i, j);
    q.x = (mabd_real)atan2(-e * mabd_euler_entry(&R, j, k), mabd_euler_entry(&R, k, k));
    q.y = (mabd_real)atan2(e * mabd_euler_entry(&R, i, k), sqrt(y * y + z * z));
    q.z = (mabd_real)atan2(z, y);
    return q;
}

// Squared distance of the angles nearest to `near` among q + 2 pi n, which are written back.
MABD_FN mabd_real mabd_euler_unwrap(mabd_vec3* q, mabd_vec3 near) {
    q->x = mabd_unwrap_angle(q->x, near.x);
    q->y = mabd_unwrap_angle(q->y, near.y);
    q->z = mabd_unwrap_angle(q->z, near.z);
    const mabd_vec3 way = mabd_v3_sub(*q, near);
    return mabd_v3_dot(way, way);
}
/// The angles of a rotation that are nearest to `near`.
MABD_FN mabd_vec3 mabd_euler_angles_near(int chart, mabd_mat3 R, mabd_vec3 near) {
    mabd_vec3 q = mabd_euler_angles(chart, R), other = q;
    other.x += MABD_PI, other.z += MABD_PI;
    other.y = mabd_euler_is_proper(chart) ? -q.y : MABD_PI - q.y;
    const mabd_real first = mabd_euler_unwrap(&q, near), second = mabd_euler_unwrap(&other, near);
    return second < first ? other : q;
}

/// The chart in which |det S| is largest at a rotation.
MABD_FN int mabd_euler_best(mabd_mat3 R) {
    int best = 0;
    mabd_real least = 2;
    for (int chart = 0; chart < MABD_EULER_COUNT; chart++) {
        const mabd_real entry = (mabd_real)fabs(
            mabd_euler_entry(&R, mabd_euler_axis(chart, 0), mabd_euler_axis(chart, 2)));
        if (entry < least) least = entry, best = chart;
    }
    return best;
}
