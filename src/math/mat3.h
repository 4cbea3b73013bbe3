// SPDX-License-Identifier: Apache-2.0
// 3x3 matrices as three columns, by value: the layout of A in the affine coordinates
// q = (a1, a2, a3, t), [MABD eq. 4].
#pragma once

#include "math/vec3.h"

typedef struct mabd_mat3 {
    mabd_vec3 c1, c2, c3; // columns
} mabd_mat3;

MABD_FN mabd_mat3 mabd_m3(mabd_vec3 c1, mabd_vec3 c2, mabd_vec3 c3) {
    mabd_mat3 m;
    m.c1 = c1, m.c2 = c2, m.c3 = c3;
    return m;
}
MABD_FN mabd_mat3 mabd_m3_identity(void) {
    return mabd_m3(mabd_v3(1, 0, 0), mabd_v3(0, 1, 0), mabd_v3(0, 0, 1));
}
/// Load from 9 reals, column by column.
MABD_FN mabd_mat3 mabd_m3_load(const mabd_real* p) {
    return mabd_m3(mabd_v3_load(p), mabd_v3_load(p + 3), mabd_v3_load(p + 6));
}
MABD_FN void mabd_m3_store(mabd_mat3 m, mabd_real* p) {
    mabd_v3_store(m.c1, p), mabd_v3_store(m.c2, p + 3), mabd_v3_store(m.c3, p + 6);
}
/// M x
MABD_FN mabd_vec3 mabd_m3_mul(mabd_mat3 m, mabd_vec3 x) {
    return mabd_v3(m.c1.x * x.x + m.c2.x * x.y + m.c3.x * x.z,
                   m.c1.y * x.x + m.c2.y * x.y + m.c3.y * x.z,
                   m.c1.z * x.x + m.c2.z * x.y + m.c3.z * x.z);
}
/// M' x
MABD_FN mabd_vec3 mabd_m3_tmul(mabd_mat3 m, mabd_vec3 x) {
    return mabd_v3(mabd_v3_dot(m.c1, x), mabd_v3_dot(m.c2, x), mabd_v3_dot(m.c3, x));
}
/// A B
MABD_FN mabd_mat3 mabd_m3_product(mabd_mat3 a, mabd_mat3 b) {
    return mabd_m3(mabd_m3_mul(a, b.c1), mabd_m3_mul(a, b.c2), mabd_m3_mul(a, b.c3));
}
/// A' B
MABD_FN mabd_mat3 mabd_m3_tproduct(mabd_mat3 a, mabd_mat3 b) {
    return mabd_m3(mabd_m3_tmul(a, b.c1), mabd_m3_tmul(a, b.c2), mabd_m3_tmul(a, b.c3));
}
MABD_FN mabd_mat3 mabd_m3_transpose(mabd_mat3 m) {
    return mabd_m3(mabd_v3(m.c1.x, m.c2.x, m.c3.x), mabd_v3(m.c1.y, m.c2.y, m.c3.y),
                   mabd_v3(m.c1.z, m.c2.z, m.c3.z));
}
MABD_FN mabd_real mabd_m3_det(mabd_mat3 m) {
    return mabd_v3_dot(m.c1, mabd_v3_cross(m.c2, m.c3));
}
/// Return column k = 0, 1, 2.
MABD_FN mabd_vec3 mabd_m3_column(const mabd_mat3* m, int k) {
    return k == 0 ? m->c1 : k == 1 ? m->c2 : m->c3;
}
/// A + s B
MABD_FN mabd_mat3 mabd_m3_axpy(mabd_real s, mabd_mat3 b, mabd_mat3 a) {
    return mabd_m3(mabd_v3_axpy(s, b.c1, a.c1), mabd_v3_axpy(s, b.c2, a.c2),
                   mabd_v3_axpy(s, b.c3, a.c3));
}
/// a b'
MABD_FN mabd_mat3 mabd_m3_outer(mabd_vec3 a, mabd_vec3 b) {
    return mabd_m3(mabd_v3_scale(b.x, a), mabd_v3_scale(b.y, a), mabd_v3_scale(b.z, a));
}
/// Return the cross matrix [x]: [x] y = x x y.
MABD_FN mabd_mat3 mabd_m3_skew(mabd_vec3 x) {
    return mabd_m3(mabd_v3(0, x.z, -x.y), mabd_v3(-x.z, 0, x.x), mabd_v3(x.y, -x.x, 0));
}
/// [x] M
MABD_FN mabd_mat3 mabd_m3_skew_product(mabd_vec3 x, mabd_mat3 m) {
    return mabd_m3(mabd_v3_cross(x, m.c1), mabd_v3_cross(x, m.c2), mabd_v3_cross(x, m.c3));
}
