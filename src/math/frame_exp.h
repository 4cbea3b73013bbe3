// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm of frames: exp of the twist D = (w, v), with x = w,
//
//   R = 1 + c [x] + a [x]^2      p = (1 + a [x] + b [x]^2) v
//   a = (1 - cos)/s,  b = (1 - sinc)/s,  c = sinc,  s = x'x
//
// and its inverse for turns by less than pi; the rotation goes through a quaternion, so that it
// keeps its digits near pi.
#pragma once

#include "math/ball_chart.h"
#include "math/quat.h"
#include "math/spatial.h"

/// exp(D)
MABD_FN mabd_frame mabd_frame_exp(mabd_spatial D) {
    const mabd_chart x = mabd_chart_at(D.w);
    const mabd_vec3 xv = mabd_v3_cross(D.w, D.v);
    mabd_frame E;
    E.R = mabd_chart_rotation(&x);
    E.p = mabd_v3_axpy(x.b, mabd_v3_cross(D.w, xv), mabd_v3_axpy(x.a, xv, D.v));
    return E;
}
/// Unit quaternion of a rotation vector
MABD_FN mabd_quat mabd_q_exp(mabd_vec3 v) {
    const mabd_real angle = mabd_v3_norm(v);
    if (!(angle > 0)) return mabd_q(1, 0, 0, 0);
    return mabd_q_axis_angle(mabd_v3_scale(1 / angle, v), angle);
}
/// mabd_q_exp for |v| <= 1, by series and without branches: the terms left out are below 1e-17.
MABD_HOT mabd_quat mabd_q_exp_small(mabd_vec3 v) {
    const mabd_real z = mabd_v3_dot(v, v) / 4; // (|v|/2)^2
    mabd_real sine = 1, cosine = 1;            // of |v|/2, the sine over |v|/2
    sine = 1 - z / 210 * sine, cosine = 1 - z / 182 * cosine;
    sine = 1 - z / 156 * sine, cosine = 1 - z / 132 * cosine;
    sine = 1 - z / 110 * sine, cosine = 1 - z / 90 * cosine;
    sine = 1 - z / 72 * sine, cosine = 1 - z / 56 * cosine;
    sine = 1 - z / 42 * sine, cosine = 1 - z / 30 * cosine;
    sine = 1 - z / 20 * sine, cosine = 1 - z / 12 * cosine;
    sine = 1 - z / 6 * sine, cosine = 1 - z / 2 * cosine;
    sine /= 2;
    return mabd_q(cosine, sine * v.x, sine * v.y, sine * v.z);
}
/// Rotation vector of a unit quaternion, at most pi long
MABD_FN mabd_vec3 mabd_q_log(mabd_quat q) {
    const mabd_vec3 v = mabd_v3(q.x, q.y, q.z);
    const mabd_real n = mabd_v3_norm(v), w = q.w < 0 ? -q.w : q.w;
    const mabd_real k = n > 0 ? 2 * (mabd_real)atan2(n, w) / n : 2;
    return mabd_v3_scale(q.w < 0 ? -k : k, v);
}
/// log(E): D with exp(D) = E, |w| < pi
MABD_FN mabd_spatial mabd_frame_log(const mabd_frame* E) {
    const mabd_vec3 w = mabd_q_log(mabd_q_from_matrix(E->R));
    return mabd_sp(w, mabd_chart_rates(mabd_v3_scale(-1, w), E->p));
}
