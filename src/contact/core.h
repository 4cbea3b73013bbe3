// SPDX-License-Identifier: Apache-2.0
// Cores: sphere, capsule, box and cylinder without their rounding radius, as convex sets with the
// signed distance of a point.
//
//   sphere = point + radius      capsule = segment + radius      box, cylinder: radius 0
//
// Signed distance of a convex set (f < 0 inside, minus the distance to the nearest surface point),
// with q = (|x| - hx, |y| - hy, |z| - hz) for the box and q = (rho - R, |z| - H) for the cylinder:
//
//   f = |max(q, 0)|  if any q > 0          n = max(q, 0) / f, with the signs of the point
//   f = max(q)       else                  n = the axis of the largest q
//
// f is convex, its gradient n is a unit vector, and p - f n is the nearest surface point. Where the
// gradient is not unique (centre, axis, segment) n is a fixed axis.
#pragma once

#include "contact/points.h"

typedef struct mabd_core {
    mabd_collider_kind kind; // sphere, capsule, box or cylinder
    mabd_vec3 half;          // box: half edges; cylinder: R, R, H; capsule: 0, 0, H; sphere: 0 [m]
    mabd_real radius;        // rounding radius around the core [m]
} mabd_core;

/// Return the core of a sphere, capsule, box or cylinder.
MABD_FN mabd_core mabd_core_of(const mabd_collider* shape) {
    const mabd_real h = (mabd_real)0.5;
    mabd_core core;
    core.kind = shape->kind, core.half = mabd_v3(0, 0, 0), core.radius = 0;
    if (shape->kind == MABD_COLLIDER_BOX) {
        core.half = mabd_v3(h * shape->size[0], h * shape->size[1], h * shape->size[2]);
    } else if (shape->kind == MABD_COLLIDER_CYLINDER) {
        core.half = mabd_v3(shape->size[0], shape->size[0], h * shape->size[1]);
    } else {
        core.radius = shape->size[0];
        if (shape->kind == MABD_COLLIDER_CAPSULE) core.half.z = h * shape->size[1];
    }
    return core;
}

/// Compute the signed distance of p from a box with half edges h, both in its frame. n: gradient.
MABD_FN mabd_real mabd_box_distance(mabd_vec3 h, mabd_vec3 p, mabd_vec3* n) {
    mabd_vec3 q =
        mabd_v3((mabd_real)fabs(p.x) - h.x, (mabd_real)fabs(p.y) - h.y, (mabd_real)fabs(p.z) - h.z);
    mabd_vec3 s = mabd_v3(p.x < 0 ? -1 : 1, p.y < 0 ? -1 : 1, p.z < 0 ? -1 : 1);
    mabd_vec3 face = mabd_v3(0, 0, s.z);
    mabd_real largest = q.z;
    if (q.y > largest) face = mabd_v3(0, s.y, 0), largest = q.y;
    if (q.x > largest) face = mabd_v3(s.x, 0, 0), largest = q.x;
    *n = face;
    if (!(largest > 0)) return largest;
    return mabd_unit(
        mabd_v3(q.x > 0 ? s.x * q.x : 0, q.y > 0 ? s.y * q.y : 0, q.z > 0 ? s.z * q.z : 0), face,
        n);
}

/// Compute the signed distance of p from a cylinder about z, both in its frame. n: gradient.
MABD_FN mabd_real mabd_cylinder_distance(mabd_real radius, mabd_real half, mabd_vec3 p,
                                         mabd_vec3* n) {
    mabd_vec3 out;
    mabd_real u = mabd_unit(mabd_v3(p.x, p.y, 0), mabd_v3(1, 0, 0), &out) - radius;
    mabd_real w = (mabd_real)fabs(p.z) - half;
    mabd_vec3 cap = mabd_v3(0, 0, p.z < 0 ? -1 : 1);
    if (u > 0 && w > 0) return mabd_unit(mabd_v3_axpy(u, out, mabd_v3_scale(w, cap)), out, n);
    *n = u >= w ? out : cap;
    return u >= w ? u : w;
}

/// Compute the distance of p from the segment |z| <= half, both in its frame. n: gradient.
MABD_FN mabd_real mabd_segment_distance(mabd_real half, mabd_vec3 p, mabd_vec3* n) {
    return mabd_unit(mabd_v3(p.x, p.y, p.z - mabd_clamp(p.z, -half, half)), mabd_v3(1, 0, 0), n);
}

/// Compute the signed distance of p from a core, both in its frame. n: gradient.
MABD_FN mabd_real mabd_core_distance(const mabd_core* core, mabd_vec3 p, mabd_vec3* n) {
    if (core->kind == MABD_COLLIDER_BOX) return mabd_box_distance(core->half, p, n);
    if (core->kind == MABD_COLLIDER_CYLINDER) {
        return mabd_cylinder_distance(core->half.x, core->half.z, p, n);
    }
    return mabd_segment_distance(core->half.z, p, n);
}

#define MABD_LOWEST_MAX 5

/// Find the points of a core that can touch a plane with the unit normal `up` first, in the frame
/// of the core; the lowest point is among them. For a segment: its ends. For a box: the corners of
/// the face that points down most. For a cylinder: the lowest point of the lower rim, those a
/// quarter turn from it and opposite, and the lowest of the upper rim. ids: one number per point,
/// the same in every call. Returns the number of points.
MABD_FN int mabd_core_lowest(const mabd_core* core, mabd_vec3 up, mabd_vec3* x, uint32_t* ids) {
    const mabd_vec3 h = core->half;
    if (core->kind == MABD_COLLIDER_BOX) {
        mabd_real ux = (mabd_real)fabs(up.x), uy = (mabd_real)fabs(up.y),
                  uz = (mabd_real)fabs(up.z);
        const int axis = ux > uy && ux > uz ? 0 : uy > uz ? 1 : 2;
        const mabd_real side = axis == 0 ? up.x : axis == 1 ? up.y : up.z;
        int count = 0;
        for (uint32_t k = 0; k < 8; k++) {
            const bool high = (k >> axis) & 1;
            if (high == (side > 0)) continue;
            x[count] = mabd_v3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z);
            ids[count++] = k;
        }
        return count;
    }
    if (core->kind == MABD_COLLIDER_CYLINDER) {
        mabd_vec3 e;
        mabd_unit(mabd_v3(up.x, up.y, 0), mabd_v3(1, 0, 0), &e);
        const mabd_real r = h.x, z = up.z > 0 ? -h.z : h.z;
        x[0] = mabd_v3(-r * e.x, -r * e.y, z), x[1] = mabd_v3(r * e.y, -r * e.x, z);
        x[2] = mabd_v3(r * e.x, r * e.y, z), x[3] = mabd_v3(-r * e.y, r * e.x, z);
        x[4] = mabd_v3(-r * e.x, -r * e.y, -z);
        const uint32_t cap = up.z > 0 ? 0 : 8;
        for (uint32_t k = 0; k < 4; k++) ids[k] = cap + k;
        ids[4] = 8 - cap;
        return 5;
    }
    x[0] = mabd_v3(0, 0, -h.z), x[1] = mabd_v3(0, 0, h.z);
    ids[0] = core->kind == MABD_COLLIDER_CAPSULE ? 1 : 0, ids[1] = 2;
    return h.z > 0 ? 2 : 1;
}
