// SPDX-License-Identifier: Apache-2.0
// Curvature of shapes where they touch, and how a contact point moves with the bodies.
//
// n is the normal from the other surface to the own one. K (2 x 2, symmetric, in the tangents)
// turns the outward normal of a surface as the point moves along it, dn_out = K s; K = 0 of a
// plane, 1/r of a ball, infinite across an edge. If the own body turns by w and its material point
// moves by u, the surfaces touch again where their normals are opposite and the points coincide:
//
//   K_other s + K_own (s - u) = w x n        s: way of the contact point, dn = K_other s
//
//   s = P (w x n) + P K_own u,   dn = K_other s        P = (K_own + K_other)^-1
//
// A rod of half length l across a cylinder of radius R: s = R (w x n), so a normal force f has the
// moment -f R w: it turns the rod back. A corner on a plane: P = 0, s = u. In directions in which
// both surfaces are flat the points of a pair are corners of the common polygon: they stay on the
// own body.
#pragma once

#include "contact/shape.h"

#include <math.h>

/// Curvature of an edge [1/m].
#define MABD_CURVATURE_EDGE ((mabd_real)1e9)
/// Sum of curvatures below which both surfaces are flat [1/m].
#define MABD_CURVATURE_FLAT ((mabd_real)1e-6)

/// Symmetric 2 x 2, in two tangents.
typedef struct mabd_curvature {
    mabd_real uu, uv, vv; // [1/m]
} mabd_curvature;

/// a e e' + b f f' with e the direction of d in the tangents and f across it; b in all directions
/// if d has no length there.
MABD_FN mabd_curvature mabd_curvature_along(mabd_vec3 d, mabd_vec3 t1, mabd_vec3 t2, mabd_real a,
                                            mabd_real b) {
    const mabd_real x = mabd_v3_dot(d, t1), y = mabd_v3_dot(d, t2), s = x * x + y * y;
    mabd_curvature K = {b, 0, b};
    if (!(s > (mabd_real)1e-12)) return K;
    K.uu += (a - b) * (x * x / s), K.uv = (a - b) * (x * y / s), K.vv += (a - b) * (y * y / s);
    return K;
}

/// Curvature of a box at a point x of its surface: of a face, an edge or a corner.
MABD_FN mabd_curvature mabd_curvature_box(const mabd_collider* shape, mabd_vec3 x, mabd_vec3 t1,
                                          mabd_vec3 t2) {
    mabd_vec3 along = mabd_v3(0, 0, 0);
    int bounds = 0;
    for (int k = 0; k < 3; k++) {
        const mabd_real half = shape->size[k] / 2;
        const bool at = (mabd_real)fabs(mabd_v3_get(x, k)) >= half * (1 - (mabd_real)1e-6);
        bounds += at;
        if (!at) along = mabd_v3(k == 0, k == 1, k == 2);
    }
    if (bounds < 2) return mabd_curvature_along(along, t1, t2, 0, 0);
    return mabd_curvature_along(along, t1, t2, bounds == 2 ? 0 : MABD_CURVATURE_EDGE,
                                MABD_CURVATURE_EDGE);
}

/// Curvature of a shape at a point x of its surface with the tangents t1, t2, all in its frame.
MABD_FN mabd_curvature mabd_collider_curvature(const mabd_collider* shape, mabd_vec3 x,
                                               mabd_vec3 t1, mabd_vec3 t2) {
    const mabd_vec3 axis = mabd_v3(0, 0, 1), n = mabd_v3_cross(t1, t2);
    const mabd_real round = 1 / shape->size[0], half = shape->size[1] / 2;
    const mabd_real level = half * (1 - (mabd_real)1e-6);
    const bool ends = (mabd_real)fabs(x.z) >= level;
    mabd_real inside;
    switch (shape->kind) {
    case MABD_COLLIDER_SPHERE:
        return mabd_curvature_along(axis, t1, t2, round, round);
    case MABD_COLLIDER_CAPSULE:
        return mabd_curvature_along(axis, t1, t2, ends ? round : 0, round);
    case MABD_COLLIDER_CYLINDER:
        if ((mabd_real)fabs(n.z) > (mabd_real)0.999 &&
            x.x * x.x + x.y * x.y < shape->size[0] * shape->size[0] * (1 - (mabd_real)1e-6)) {
            return mabd_curvature_along(axis, t1, t2, 0, 0);
        }
        return mabd_curvature_along(axis, t1, t2, ends ? MABD_CURVATURE_EDGE : 0, round);
    case MABD_COLLIDER_BOX:
        return mabd_curvature_box(shape, x, t1, t2);
    case MABD_COLLIDER_BOWL:
        inside = mabd_v3_norm(x) < shape->size[0] + shape->size[1] / 2 ? -1 : 1;
        return mabd_curvature_along(axis, t1, t2, inside * round, inside * round);
    default:
        return mabd_curvature_along(axis, t1, t2, 0, 0);
    }
}

/// How a contact point moves: s = P y + slide u, dn = turn y + bend u with y = w x n and u the way
/// of the own material point, all in the tangents (2 x 2, row-major).
typedef struct mabd_contact_motion {
    mabd_real P[4], slide[4], turn[4], bend[4];
} mabd_contact_motion;

/// Return C = A B (2 x 2).
MABD_FN void mabd_curvature_product(const mabd_real* A, const mabd_real* B, mabd_real* C) {
    for (int i = 0; i < 4; i++) {
        C[i] = A[2 * (i / 2)] * B[i % 2] + A[2 * (i / 2) + 1] * B[2 + i % 2];
    }
}

/// Motion of the contact point of two surfaces.
MABD_FN mabd_contact_motion mabd_contact_motion_of(mabd_curvature own, mabd_curvature other) {
    mabd_contact_motion m;
    mabd_real uu = own.uu + other.uu, uv = own.uv + other.uv, vv = own.vv + other.vv;
    const mabd_real mean = (uu + vv) / 2, part = (uu - vv) / 2;
    const mabd_real radius = (mabd_real)sqrt(part * part + uv * uv);
    const mabd_real least = mean - radius, most = mean + radius;
    if (!(least > MABD_CURVATURE_FLAT)) { // flat there: the points stay on the own body
        mabd_curvature add = {MABD_CURVATURE_EDGE, 0, MABD_CURVATURE_EDGE};
        if (most > MABD_CURVATURE_FLAT && radius > 0) { // across the direction of `most`
            const mabd_real c = part / radius, s = uv / radius;
            add.uu *= (1 - c) / 2, add.vv *= (1 + c) / 2, add.uv = -MABD_CURVATURE_EDGE * s / 2;
        }
        own.uu += add.uu, own.uv += add.uv, own.vv += add.vv;
        uu += add.uu, uv += add.uv, vv += add.vv;
    }
    const mabd_real d = uu * vv - uv * uv;
    const mabd_real A[4] = {own.uu, own.uv, own.uv, own.vv};
    const mabd_real B[4] = {other.uu, other.uv, other.uv, other.vv};
    m.P[0] = vv / d, m.P[1] = m.P[2] = -uv / d, m.P[3] = uu / d;
    mabd_curvature_product(m.P, A, m.slide);
    mabd_curvature_product(B, m.P, m.turn);
    mabd_curvature_product(m.turn, A, m.bend);
    const mabd_real edges = (mabd_real)fmax(fabs(m.bend[0]), fabs(m.bend[3]));
    for (int i = 0; i < 4 && edges > MABD_CURVATURE_EDGE / 1000; i++) { // edge on edge
        m.P[i] = m.turn[i] = m.bend[i] = 0, m.slide[i] = i % 3 == 0;
    }
    return m;
}
