// SPDX-License-Identifier: Apache-2.0
// Twists, wrenches and frames of links.
//
// A twist is V = (w, v), angular and linear velocity; a wrench F = (m, f), moment and force; both
// in the axes and about the origin of a link frame. A frame E = (R, p) takes points of the child to
// the parent. With
//
//   Ad(E) = [ R  0; [p]R  R ]      ad(V) = [ [w]  0; [v]  [w] ]
//
// X = Ad(E^-1) takes twists of the parent to the child, X' wrenches of the child to the parent, and
// the power F'V is the same in both. ad(V)'F is what a moving frame adds to the derivative of a
// wrench (with the opposite sign); it is linear in V too: ad(u)'F =: adF(F) u.
#pragma once

#include "math/mat3.h"

/// A twist (w, v) or a wrench (m, f): six consecutive reals.
typedef struct mabd_spatial {
    mabd_vec3 w, v;
} mabd_spatial;

/// A frame relative to another one.
typedef struct mabd_frame {
    mabd_mat3 R;
    mabd_vec3 p;
} mabd_frame;

/// Inertia about the origin of a link frame.
typedef struct mabd_spatial_inertia {
    mabd_real mass; // [kg]
    mabd_vec3 mc;   // mass times centre [kg m]
    mabd_mat3 Io;   // about the origin: I_c + m [c][c]' [kg m^2]
} mabd_spatial_inertia;

MABD_FN mabd_spatial mabd_sp(mabd_vec3 w, mabd_vec3 v) {
    mabd_spatial x;
    x.w = w, x.v = v;
    return x;
}
MABD_FN mabd_spatial mabd_sp_zero(void) {
    return mabd_sp(mabd_v3(0, 0, 0), mabd_v3(0, 0, 0));
}
/// Load from 6 reals.
MABD_FN mabd_spatial mabd_sp_load(const mabd_real* p) {
    return mabd_sp(mabd_v3_load(p), mabd_v3_load(p + 3));
}
MABD_FN void mabd_sp_store(mabd_spatial x, mabd_real* p) {
    mabd_v3_store(x.w, p), mabd_v3_store(x.v, p + 3);
}
MABD_FN mabd_spatial mabd_sp_add(mabd_spatial a, mabd_spatial b) {
    return mabd_sp(mabd_v3_add(a.w, b.w), mabd_v3_add(a.v, b.v));
}
MABD_FN mabd_spatial mabd_sp_sub(mabd_spatial a, mabd_spatial b) {
    return mabd_sp(mabd_v3_sub(a.w, b.w), mabd_v3_sub(a.v, b.v));
}
/// a + s b
MABD_FN mabd_spatial mabd_sp_axpy(mabd_real s, mabd_spatial b, mabd_spatial a) {
    return mabd_sp(mabd_v3_axpy(s, b.w, a.w), mabd_v3_axpy(s, b.v, a.v));
}
MABD_FN mabd_spatial mabd_sp_scale(mabd_real s, mabd_spatial a) {
    return mabd_sp(mabd_v3_scale(s, a.w), mabd_v3_scale(s, a.v));
}
MABD_FN mabd_real mabd_sp_dot(mabd_spatial a, mabd_spatial b) {
    return mabd_v3_dot(a.w, b.w) + mabd_v3_dot(a.v, b.v);
}

/// ad(V) U
MABD_FN mabd_spatial mabd_sp_cross(mabd_spatial V, mabd_spatial U) {
    return mabd_sp(mabd_v3_cross(V.w, U.w),
                   mabd_v3_add(mabd_v3_cross(V.v, U.w), mabd_v3_cross(V.w, U.v)));
}
/// ad(V)' F
MABD_FN mabd_spatial mabd_sp_cross_wrench(mabd_spatial V, mabd_spatial F) {
    return mabd_sp(mabd_v3_add(mabd_v3_cross(F.w, V.w), mabd_v3_cross(F.v, V.v)),
                   mabd_v3_cross(F.v, V.w));
}

/// E F: the frame F of a child of E
MABD_FN mabd_frame mabd_frame_product(const mabd_frame* E, const mabd_frame* F) {
    mabd_frame out;
    out.R = mabd_m3_product(E->R, F->R);
    out.p = mabd_v3_add(mabd_m3_mul(E->R, F->p), E->p);
    return out;
}
/// E^-1
MABD_FN mabd_frame mabd_frame_inverse(const mabd_frame* E) {
    mabd_frame out;
    out.R = mabd_m3_transpose(E->R);
    out.p = mabd_v3_scale(-1, mabd_m3_tmul(E->R, E->p));
    return out;
}
/// X V, X = Ad(E^-1): a twist of the parent in the child
MABD_FN mabd_spatial mabd_frame_to_child(const mabd_frame* E, mabd_spatial V) {
    return mabd_sp(mabd_m3_tmul(E->R, V.w),
                   mabd_m3_tmul(E->R, mabd_v3_sub(V.v, mabd_v3_cross(E->p, V.w))));
}
/// X' F: a wrench of the child in the parent
MABD_FN mabd_spatial mabd_frame_to_parent(const mabd_frame* E, mabd_spatial F) {
    const mabd_vec3 f = mabd_m3_mul(E->R, F.v);
    return mabd_sp(mabd_v3_add(mabd_m3_mul(E->R, F.w), mabd_v3_cross(E->p, f)), f);
}

/// M V
MABD_FN mabd_spatial mabd_inertia_mul(const mabd_spatial_inertia* M, mabd_spatial V) {
    return mabd_sp(mabd_v3_add(mabd_m3_mul(M->Io, V.w), mabd_v3_cross(M->mc, V.v)),
                   mabd_v3_sub(mabd_v3_scale(M->mass, V.v), mabd_v3_cross(M->mc, V.w)));
}
