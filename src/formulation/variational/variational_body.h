// SPDX-License-Identifier: Apache-2.0
// One rigid body in a step of the variational formulation [VI eq. 7-17].
//
// A step of length h moves the centre by h v and turns the body by the unit quaternion
// (h/2)(s, w), s = sqrt(4/h^2 - w.w), w in the principal frame. The momenta on both sides are
//
//   linear    m v,  on both sides
//   angular   Lp = (h/2)(s J w + w x J w)   after the start, in the frame of the start
//             Lm = (h/2)(s J w - w x J w)   before the end, in the frame of the end
//
// and R0 Lp = R1 Lm exactly: a free body keeps its angular momentum to round-off. |w| < 2/h: a body
// turns by less than half a turn in a step. Derivatives by w:
//
//   dLp     = (h/2)(s J - (J w) w'/s + [w] J - [J w])
//   dtheta1 = h E dw,  E = (h/2)(s I + w w'/s - [w]),  dtheta1 a turn of the end in its own frame
#pragma once

#include "math/mat3.h"
#include "math/quat.h"

#include <math.h>

/// Largest h^2 w.w of a step; 4 is half a turn.
#define MABD_VARIATIONAL_TURN2_MAX ((mabd_real)3.8)

/// s M
MABD_FN mabd_mat3 mabd_variational_scale(mabd_real s, mabd_mat3 M) {
    return mabd_m3(mabd_v3_scale(s, M.c1), mabd_v3_scale(s, M.c2), mabd_v3_scale(s, M.c3));
}
/// Return s of a step.
MABD_FN mabd_real mabd_variational_s(mabd_vec3 w, mabd_real h) {
    return (mabd_real)sqrt(4 / (h * h) - mabd_v3_dot(w, w));
}
/// Return diag(J) w.
MABD_FN mabd_vec3 mabd_variational_spin(const mabd_real* J, mabd_vec3 w) {
    return mabd_v3(J[0] * w.x, J[1] * w.y, J[2] * w.z);
}
/// Return Lp (side 1) or Lm (side -1) of a step: (h/2)(s J w + side w x J w).
MABD_FN mabd_vec3 mabd_variational_momentum(const mabd_real* J, mabd_vec3 w, mabd_real h,
                                            mabd_real side) {
    const mabd_vec3 Jw = mabd_variational_spin(J, w);
    const mabd_vec3 sum =
        mabd_v3_axpy(side, mabd_v3_cross(w, Jw), mabd_v3_scale(mabd_variational_s(w, h), Jw));
    return mabd_v3_scale(h / 2, sum);
}
/// Return dLp/dw.
MABD_FN mabd_mat3 mabd_variational_slope(const mabd_real* J, mabd_vec3 w, mabd_real h) {
    const mabd_real s = mabd_variational_s(w, h);
    const mabd_vec3 Jw = mabd_variational_spin(J, w);
    mabd_mat3 M =
        mabd_m3(mabd_v3(s * J[0], 0, 0), mabd_v3(0, s * J[1], 0), mabd_v3(0, 0, s * J[2]));
    const mabd_mat3 diagonal =
        mabd_m3(mabd_v3(J[0], 0, 0), mabd_v3(0, J[1], 0), mabd_v3(0, 0, J[2]));
    M = mabd_m3_axpy(-1 / s, mabd_m3_outer(Jw, w), M);
    M = mabd_m3_axpy(1, mabd_m3_skew_product(w, diagonal), M);
    M = mabd_m3_axpy(-1, mabd_m3_skew(Jw), M);
    return mabd_variational_scale(h / 2, M);
}
/// Return E.
MABD_FN mabd_mat3 mabd_variational_turn(mabd_vec3 w, mabd_real h) {
    const mabd_real s = mabd_variational_s(w, h);
    mabd_mat3 E = mabd_m3_axpy(1 / s, mabd_m3_outer(w, w), mabd_m3_skew(mabd_v3_scale(-1, w)));
    const mabd_mat3 I = mabd_m3_identity();
    E = mabd_m3_axpy(s, I, E);
    return mabd_variational_scale(h / 2, E);
}
/// Return the rotation after a step; it is normalised, which changes round-off only.
MABD_FN mabd_quat mabd_variational_rotate(mabd_quat q, mabd_vec3 w, mabd_real h) {
    const mabd_real s = mabd_variational_s(w, h);
    const mabd_quat turn = mabd_q(s * h / 2, w.x * h / 2, w.y * h / 2, w.z * h / 2);
    return mabd_q_normalize(mabd_q_product(q, turn));
}
