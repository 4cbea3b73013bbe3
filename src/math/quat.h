// SPDX-License-Identifier: Apache-2.0
// Unit quaternions w x y z.
#pragma once

#include "math/mat3.h"

typedef struct mabd_quat {
    mabd_real w, x, y, z;
} mabd_quat;

MABD_FN mabd_quat mabd_q(mabd_real w, mabd_real x, mabd_real y, mabd_real z) {
    mabd_quat q;
    q.w = w, q.x = x, q.y = y, q.z = z;
    return q;
}
MABD_FN mabd_quat mabd_q_load(const mabd_real* p) {
    return mabd_q(p[0], p[1], p[2], p[3]);
}
MABD_FN void mabd_q_store(mabd_quat q, mabd_real* p) {
    p[0] = q.w, p[1] = q.x, p[2] = q.y, p[3] = q.z;
}
MABD_FN mabd_real mabd_q_norm(mabd_quat q) {
    return (mabd_real)sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}
/// q / |q|; |q| > 0
MABD_FN mabd_quat mabd_q_normalize(mabd_quat q) {
    mabd_real s = 1 / mabd_q_norm(q);
    return mabd_q(s * q.w, s * q.x, s * q.y, s * q.z);
}
MABD_FN mabd_quat mabd_q_conjugate(mabd_quat q) {
    return mabd_q(q.w, -q.x, -q.y, -q.z);
}
/// Return the rotation that applies b first, then a.
MABD_FN mabd_quat mabd_q_product(mabd_quat a, mabd_quat b) {
    return mabd_q(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
/// Return the rotation by `angle` [rad] about a unit axis.
MABD_FN mabd_quat mabd_q_axis_angle(mabd_vec3 axis, mabd_real angle) {
    mabd_real s = (mabd_real)sin(angle / 2);
    return mabd_q((mabd_real)cos(angle / 2), s * axis.x, s * axis.y, s * axis.z);
}
/// Return the rotation matrix of a unit quaternion.
MABD_FN mabd_mat3 mabd_q_matrix(mabd_quat q) {
    return mabd_m3(mabd_v3(1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z),
                           2 * (q.x * q.z - q.w * q.y)),
                   mabd_v3(2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z),
                           2 * (q.y * q.z + q.w * q.x)),
                   mabd_v3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
                           1 - 2 * (q.x * q.x + q.y * q.y)));
}
/// R(q) x
MABD_FN mabd_vec3 mabd_q_rotate(mabd_quat q, mabd_vec3 x) {
    return mabd_m3_mul(mabd_q_matrix(q), x);
}
/// Return the unit quaternion of a rotation matrix, w >= 0 (Shepperd's method: the largest of w x y
/// z first).
MABD_FN mabd_quat mabd_q_from_matrix(mabd_mat3 r) {
    mabd_real xx = r.c1.x, yy = r.c2.y, zz = r.c3.z, trace = xx + yy + zz;
    mabd_quat q;
    if (trace > 0) {
        q = mabd_q(1 + trace, r.c2.z - r.c3.y, r.c3.x - r.c1.z, r.c1.y - r.c2.x);
    } else if (xx >= yy && xx >= zz) {
        q = mabd_q(r.c2.z - r.c3.y, 1 + xx - yy - zz, r.c2.x + r.c1.y, r.c3.x + r.c1.z);
    } else if (yy >= zz) {
        q = mabd_q(r.c3.x - r.c1.z, r.c2.x + r.c1.y, 1 + yy - xx - zz, r.c3.y + r.c2.z);
    } else {
        q = mabd_q(r.c1.y - r.c2.x, r.c3.x + r.c1.z, r.c3.y + r.c2.z, 1 + zz - xx - yy);
    }
    q = mabd_q_normalize(q);
    return q.w < 0 ? mabd_q(-q.w, -q.x, -q.y, -q.z) : q;
}
