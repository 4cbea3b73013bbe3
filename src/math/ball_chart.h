// SPDX-License-Identifier: Apache-2.0
// The exponential chart of three free rotations: R = exp([q]), angular velocity in the rotated
// frame w = J(q) q', with the right Jacobian, s = q'q,
//
//   J = 1 - a [q] + b [q]^2     a = (1 - cos)/s = sum (-s)^k/(2k + 2)!
//                               b = (1 - sinc)/s = sum (-s)^k/(2k + 3)!
//
// and its first and second derivatives, a1 = da/ds and so on:
//
//   dJ_k      = -2 a1 q_k [q] - a [e_k] + 2 b1 q_k [q]^2 + b ([e_k][q] + [q][e_k])
//   d2J(w)_m u = d/dq_m of (sum_k w_k dJ_k) u
//
// Charts are re-centred at every step, so q is small: series for s < 1, closed forms beyond. q = 0
// is an ordinary point (the quotients (1 - cos)/s are not).
#pragma once

#include "math/mat3.h"
#include "math/so3.h"

#define MABD_CHART_TERMS 14

/// J at a point of the chart, and what its derivatives need.
typedef struct mabd_chart {
    mabd_vec3 q;
    mabd_real a, a1, a2, b, b1, b2;
} mabd_chart;

// Sum a series sum (-s)^k / (2k + first)! and its first two derivatives by s.
MABD_FN void mabd_chart_series(mabd_real s, int first, mabd_real* f) {
    mabd_real c[MABD_CHART_TERMS], factorial = 1;
    for (int k = 2; k <= first; k++) factorial *= (mabd_real)k;
    for (int k = 0; k < MABD_CHART_TERMS; k++) {
        c[k] = 1 / factorial;
        factorial *= -(mabd_real)((2 * k + first + 1) * (2 * k + first + 2));
    }
    f[0] = f[1] = f[2] = 0;
    for (int k = MABD_CHART_TERMS - 1; k >= 0; k--) {
        f[0] = f[0] * s + c[k];
        if (k >= 1) f[1] = f[1] * s + (mabd_real)k * c[k];
        if (k >= 2) f[2] = f[2] * s + (mabd_real)(k * (k - 1)) * c[k];
    }
}

/// Prepare the chart at q.
MABD_FN mabd_chart mabd_chart_at(mabd_vec3 q) {
    const mabd_real s = mabd_v3_dot(q, q);
    mabd_chart x;
    x.q = q;
    if (s < 1) {
        mabd_real f[3];
        mabd_chart_series(s, 2, f);
        x.a = f[0], x.a1 = f[1], x.a2 = f[2];
        mabd_chart_series(s, 3, f);
        x.b = f[0], x.b1 = f[1], x.b2 = f[2];
        return x;
    }
    const mabd_real t = (mabd_real)sqrt(s), cosine = (mabd_real)cos(t);
    const mabd_real c = (mabd_real)sin(t) / t, c1 = (cosine - c) / (2 * s);
    const mabd_real c2 = (-c / 2 - 3 * c1) / (2 * s);
    x.a = (1 - cosine) / s, x.a1 = (c / 2 - x.a) / s, x.a2 = (c1 / 2 - 2 * x.a1) / s;
    x.b = (1 - c) / s, x.b1 = (-c1 - x.b) / s, x.b2 = (-c2 - 2 * x.b1) / s;
    return x;
}

/// J u = u - a q x u + b q x (q x u)
MABD_FN mabd_vec3 mabd_chart_mul(const mabd_chart* x, mabd_vec3 u) {
    const mabd_vec3 qu = mabd_v3_cross(x->q, u);
    return mabd_v3_axpy(x->b, mabd_v3_cross(x->q, qu), mabd_v3_axpy(-x->a, qu, u));
}
/// J as columns
MABD_FN mabd_mat3 mabd_chart_matrix(const mabd_chart* x) {
    return mabd_m3(mabd_chart_mul(x, mabd_v3(1, 0, 0)), mabd_chart_mul(x, mabd_v3(0, 1, 0)),
                   mabd_chart_mul(x, mabd_v3(0, 0, 1)));
}
/// (sum_k w_k dJ_k) u: the derivative of J u along w
MABD_FN mabd_vec3 mabd_chart_slope(const mabd_chart* x, mabd_vec3 w, mabd_vec3 u) {
    const mabd_vec3 q = x->q, qu = mabd_v3_cross(q, u), wu = mabd_v3_cross(w, u);
    const mabd_real qw = mabd_v3_dot(q, w);
    mabd_vec3 y = mabd_v3_scale(-2 * x->a1 * qw, qu);
    y = mabd_v3_axpy(-x->a, wu, y);
    y = mabd_v3_axpy(2 * x->b1 * qw, mabd_v3_cross(q, qu), y);
    y = mabd_v3_axpy(x->b, mabd_v3_cross(w, qu), y);
    return mabd_v3_axpy(x->b, mabd_v3_cross(q, wu), y);
}
/// The derivative of mabd_chart_slope(w, u) by q along d
MABD_FN mabd_vec3 mabd_chart_bend(const mabd_chart* x, mabd_vec3 d, mabd_vec3 w, mabd_vec3 u) {
    const mabd_vec3 q = x->q, qu = mabd_v3_cross(q, u), wu = mabd_v3_cross(w, u);
    const mabd_vec3 du = mabd_v3_cross(d, u);
    const mabd_real qw = mabd_v3_dot(q, w), qd = mabd_v3_dot(q, d), wd = mabd_v3_dot(w, d);
    mabd_vec3 y = mabd_v3_scale(-(4 * x->a2 * qd * qw + 2 * x->a1 * wd), qu);
    y = mabd_v3_axpy(-2 * x->a1 * qw, du, y);
    y = mabd_v3_axpy(-2 * x->a1 * qd, wu, y);
    y = mabd_v3_axpy(4 * x->b2 * qd * qw + 2 * x->b1 * wd, mabd_v3_cross(q, qu), y);
    y = mabd_v3_axpy(2 * x->b1 * qw, mabd_v3_cross(d, qu), y);
    y = mabd_v3_axpy(2 * x->b1 * qw, mabd_v3_cross(q, du), y);
    y = mabd_v3_axpy(2 * x->b1 * qd, mabd_v3_cross(w, qu), y);
    y = mabd_v3_axpy(2 * x->b1 * qd, mabd_v3_cross(q, wu), y);
    y = mabd_v3_axpy(x->b, mabd_v3_cross(w, du), y);
    return mabd_v3_axpy(x->b, mabd_v3_cross(d, wu), y);
}
/// exp([q]) = 1 + c [q] + a [q]^2, c = sinc = 1 - b s
MABD_FN mabd_mat3 mabd_chart_rotation(const mabd_chart* x) {
    const mabd_real c = 1 - x->b * mabd_v3_dot(x->q, x->q);
    const mabd_mat3 Q = mabd_m3_skew(x->q);
    return mabd_m3_axpy(x->a, mabd_m3_product(Q, Q), mabd_m3_axpy(c, Q, mabd_m3_identity()));
}
/// J(q)^-1 w: the rates of the chart from an angular velocity; |q| < 2 pi
MABD_FN mabd_vec3 mabd_chart_rates(mabd_vec3 q, mabd_vec3 w) {
    return mabd_m3_mul(mabd_so3_log_gradients(q), w);
}
