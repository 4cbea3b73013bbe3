// SPDX-License-Identifier: Apache-2.0
// Acceleration of the rows of joints while the twists of the bodies, in their own frames, stay.
//
// With E(t) = E exp(t [V]) a point X and a direction n of the body move by
//
//   P' = R (w x X + v)   P'' = R w x (w x X + v)      (R n)' = R (w x n)   (R n)'' = R w x (w x n)
//
// and G' V of [RM eq. 1.97] is the second derivative of the value of a row,
//
//   point i   e_i . d''                              d = P_b - P_a
//   slide n   N'' . d + 2 N' . d' + N . d''          N = R_a n
//   cross     U'' . W + 2 U' . W' + U . W''          U = R_a u, W = R_b w
#pragma once

#include "joint/rows.h"
#include "math/spatial.h"

/// A vector with its first two derivatives by time.
typedef struct mabd_maximal_jet {
    mabd_vec3 x, d, dd;
} mabd_maximal_jet;

/// R n of a body with angular velocity w, in its own frame.
MABD_FN mabd_maximal_jet mabd_maximal_direction(mabd_mat3 R, mabd_vec3 w, mabd_vec3 n) {
    const mabd_vec3 turn = mabd_v3_cross(w, n);
    mabd_maximal_jet out;
    out.x = mabd_m3_mul(R, n), out.d = mabd_m3_mul(R, turn);
    out.dd = mabd_m3_mul(R, mabd_v3_cross(w, turn));
    return out;
}
/// The point X of a body with twist V whose centre is at c.
MABD_FN mabd_maximal_jet mabd_maximal_point(mabd_mat3 R, mabd_vec3 c, mabd_spatial V, mabd_vec3 X) {
    const mabd_vec3 speed = mabd_v3_add(mabd_v3_cross(V.w, X), V.v);
    mabd_maximal_jet out;
    out.x = mabd_v3_add(c, mabd_m3_mul(R, X)), out.d = mabd_m3_mul(R, speed);
    out.dd = mabd_m3_mul(R, mabd_v3_cross(V.w, speed));
    return out;
}
/// a - b
MABD_FN mabd_maximal_jet mabd_maximal_difference(mabd_maximal_jet a, mabd_maximal_jet b) {
    a.x = mabd_v3_sub(a.x, b.x), a.d = mabd_v3_sub(a.d, b.d), a.dd = mabd_v3_sub(a.dd, b.dd);
    return a;
}
/// Second derivative of a . b.
MABD_FN mabd_real mabd_maximal_bend(mabd_maximal_jet a, mabd_maximal_jet b) {
    return mabd_v3_dot(a.dd, b.x) + 2 * mabd_v3_dot(a.d, b.d) + mabd_v3_dot(a.x, b.dd);
}

/// Compute the second derivative of the value of a point, slide or cross row [m/s^2] or [rad/s^2].
/// Va, Vb: twists of the bodies in their frames.
MABD_FN mabd_real mabd_maximal_bias(const mabd_joint_view* v, const mabd_row* row, mabd_spatial Va,
                                    mabd_spatial Vb) {
    if (row->kind == MABD_ROW_CROSS) {
        mabd_vec3 u, w;
        mabd_row_axes(v, row, &u, &w);
        return mabd_maximal_bend(mabd_maximal_direction(v->Aa, Va.w, u),
                                 mabd_maximal_direction(v->Ab, Vb.w, w));
    }
    const mabd_maximal_jet d = mabd_maximal_difference(mabd_maximal_point(v->Ab, v->tb, Vb, v->Xb),
                                                       mabd_maximal_point(v->Aa, v->ta, Va, v->Xa));
    if (row->kind == MABD_ROW_POINT) return mabd_v3_get(d.dd, row->axis);
    const mabd_vec3 n = mabd_m3_column(&v->Fa, row->axis);
    return mabd_maximal_bend(mabd_maximal_direction(v->Aa, Va.w, n), d);
}
