// SPDX-License-Identifier: Apache-2.0
// Vectors of three reals, by value.
#pragma once

#include "math/shared.h"

#include <math.h>

typedef struct mabd_vec3 {
    mabd_real x, y, z;
} mabd_vec3;

MABD_FN mabd_vec3 mabd_v3(mabd_real x, mabd_real y, mabd_real z) {
    mabd_vec3 v;
    v.x = x, v.y = y, v.z = z;
    return v;
}
MABD_FN mabd_vec3 mabd_v3_load(const mabd_real* p) {
    return mabd_v3(p[0], p[1], p[2]);
}
MABD_FN void mabd_v3_store(mabd_vec3 v, mabd_real* p) {
    p[0] = v.x, p[1] = v.y, p[2] = v.z;
}
MABD_FN mabd_vec3 mabd_v3_add(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
MABD_FN mabd_vec3 mabd_v3_sub(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
MABD_FN mabd_vec3 mabd_v3_scale(mabd_real s, mabd_vec3 a) {
    return mabd_v3(s * a.x, s * a.y, s * a.z);
}
/// a + s b
MABD_FN mabd_vec3 mabd_v3_axpy(mabd_real s, mabd_vec3 b, mabd_vec3 a) {
    return mabd_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
MABD_FN mabd_real mabd_v3_dot(mabd_vec3 a, mabd_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
MABD_FN mabd_vec3 mabd_v3_cross(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
MABD_FN mabd_real mabd_v3_norm(mabd_vec3 a) {
    return (mabd_real)sqrt(mabd_v3_dot(a, a));
}
/// Return component k = 0, 1, 2.
MABD_FN mabd_real mabd_v3_get(mabd_vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}
