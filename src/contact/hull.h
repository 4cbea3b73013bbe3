// SPDX-License-Identifier: Apache-2.0
// Convex sets by their support points, and two queries of a pair of them (A, B):
//
//   apart      the nearest points (mabd_hull_distance, gjk.c)
//   overlap    the direction n of least penetration (mabd_hull_depth, epa.c)
//
// The two queries use the difference set M = { a - b }: its support point in the direction n is
// support(A, n) - support(B, -n), and the separation of the pair along n is
//
//   s(n) = min_B n . b - max_A n . a = -h_M(n),        signed distance = max over unit n of s(n).
#pragma once

#include "contact/core.h"

typedef struct mabd_hull {
    mabd_collider_kind kind; // capsule (its segment), box or cylinder
    mabd_vec3 half;          // half extents of its core (core.h) [m]
    mabd_pose pose;
} mabd_hull;

/// Points of A and B with their separation along the unit normal from A to B.
typedef struct mabd_hull_contact {
    mabd_vec3 on_a, normal;
    mabd_real distance;
} mabd_hull_contact;

/// Return the core of a capsule, box or cylinder, with its pose moved by -origin.
MABD_FN mabd_hull mabd_hull_of(const mabd_core* core, const mabd_pose* pose, mabd_vec3 origin) {
    mabd_hull hull;
    hull.kind = core->kind, hull.half = core->half, hull.pose = *pose;
    hull.pose.position = mabd_v3_sub(pose->position, origin);
    return hull;
}

/// Return the segment from p to p + d.
MABD_FN mabd_hull mabd_hull_of_segment(mabd_vec3 p, mabd_vec3 d) {
    mabd_hull hull;
    mabd_vec3 axis, across;
    hull.kind = MABD_COLLIDER_CAPSULE;
    hull.half = mabd_v3(0, 0, mabd_unit(d, mabd_v3(0, 0, 1), &axis) / 2);
    across = mabd_across(axis);
    hull.pose.position = mabd_v3_axpy((mabd_real)0.5, d, p);
    hull.pose.rotation = mabd_m3(across, mabd_v3_cross(axis, across), axis);
    return hull;
}
/// Return a core in its own frame.
MABD_FN mabd_hull mabd_hull_of_core(const mabd_core* core) {
    mabd_pose pose;
    pose.position = mabd_v3(0, 0, 0), pose.rotation = mabd_m3_identity();
    return mabd_hull_of(core, &pose, pose.position);
}

/// Return a point of the hull farthest along d (not 0), in the frame of the pose.
MABD_FN mabd_vec3 mabd_hull_support(const mabd_hull* hull, mabd_vec3 d) {
    const mabd_vec3 e = mabd_m3_tmul(hull->pose.rotation, d), h = hull->half;
    mabd_vec3 p = mabd_v3(e.x < 0 ? -h.x : h.x, e.y < 0 ? -h.y : h.y, e.z < 0 ? -h.z : h.z);
    if (hull->kind == MABD_COLLIDER_CYLINDER) {
        mabd_vec3 out;
        mabd_unit(mabd_v3(e.x, e.y, 0), mabd_v3(1, 0, 0), &out);
        p.x = h.x * out.x, p.y = h.x * out.y;
    }
    return mabd_pose_point(&hull->pose, p);
}

/// Compute s(n) of a unit vector n.
MABD_FN mabd_real mabd_hull_separation(const mabd_hull* a, const mabd_hull* b, mabd_vec3 n) {
    mabd_vec3 x = mabd_hull_support(a, n), y = mabd_hull_support(b, mabd_v3_scale(-1, n));
    return mabd_v3_dot(n, mabd_v3_sub(y, x));
}

/// Compute the distance of two hulls and their nearest points; false if they overlap or touch.
/// apart: a separating axis is known.
bool mabd_hull_distance(const mabd_hull* a, const mabd_hull* b, bool apart,
                        mabd_hull_contact* contact);
/// Compute the direction of least penetration, for hulls that overlap or touch and whose difference
/// set has volume.
void mabd_hull_depth(const mabd_hull* a, const mabd_hull* b, mabd_hull_contact* contact);
