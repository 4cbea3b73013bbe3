// SPDX-License-Identifier: Apache-2.0
// Random vectors, rotations and joint views, the same on every run.
#pragma once

#include "joint/rows.h"
#include "math/quat.h"

#include <stdint.h>

/// Draw a real, uniform in [-1, 1).
static inline mabd_real draw_real(uint64_t* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (mabd_real)(*state >> 11) / (mabd_real)9007199254740992.0 * 2 - 1;
}

/// Draw a vector, uniform in the cube [-size, size)^3.
static inline mabd_vec3 draw_vec3(uint64_t* state, mabd_real size) {
    const mabd_real x = draw_real(state), y = draw_real(state), z = draw_real(state);
    return mabd_v3_scale(size, mabd_v3(x, y, z));
}

/// Draw a direction; all octants are equally likely.
static inline mabd_vec3 draw_direction(uint64_t* state) {
    for (;;) {
        const mabd_vec3 v = draw_vec3(state, 1);
        const mabd_real n = mabd_v3_norm(v);
        if (n > (mabd_real)0.1 && n < 1) return mabd_v3_scale(1 / n, v);
    }
}

/// Return the rotation by `angle` [rad] about a unit axis (Rodrigues' formula).
static inline mabd_mat3 turn(mabd_vec3 axis, mabd_real angle) {
    const mabd_real c = (mabd_real)cos(angle), s = (mabd_real)sin(angle);
    mabd_mat3 R = mabd_m3_identity();
    mabd_vec3* column[3] = {&R.c1, &R.c2, &R.c3};
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = *column[k];
        const mabd_vec3 across = mabd_v3_scale(s, mabd_v3_cross(axis, e));
        *column[k] = mabd_v3_add(mabd_v3_axpy((1 - c) * mabd_v3_dot(axis, e), axis, across),
                                 mabd_v3_scale(c, e));
    }
    return R;
}

static inline mabd_mat3 draw_rotation(uint64_t* state) {
    const mabd_vec3 axis = draw_direction(state);
    return turn(axis, MABD_PI * draw_real(state));
}

/// Draw two rigid bodies, anchors and frames in general position.
static inline mabd_joint_view draw_view(uint64_t* state) {
    mabd_joint_view v = {.phi = NULL};
    v.Aa = draw_rotation(state), v.Ab = draw_rotation(state);
    v.ta = draw_vec3(state, 2), v.tb = draw_vec3(state, 2);
    v.Xa = draw_vec3(state, 1), v.Xb = draw_vec3(state, 1);
    v.Fa = draw_rotation(state), v.Fb = draw_rotation(state);
    return v;
}

/// Rotate body b of a view so that its joint frame is `relative` in that of a: B'F = relative.
static inline void set_relative(mabd_joint_view* v, mabd_mat3 relative) {
    const mabd_mat3 B = mabd_m3_product(v->Aa, v->Fa);
    v->Ab = mabd_m3_product(mabd_m3_product(B, relative), mabd_m3_transpose(v->Fb));
}
