// SPDX-License-Identifier: Apache-2.0
// Bounds of collision shapes: axis-aligned boxes for the broad phase, the distance from the centre
// to the farthest point, and the smallest thickness.
#pragma once

#include "contact/broad.h"
#include "contact/core.h"

/// Compute the half edges of the axis-aligned box around a rotated box with half edges h: |R| h.
MABD_FN mabd_vec3 mabd_turned_half(mabd_mat3 R, mabd_vec3 h) {
    return mabd_v3((mabd_real)(fabs(R.c1.x) * h.x + fabs(R.c2.x) * h.y + fabs(R.c3.x) * h.z),
                   (mabd_real)(fabs(R.c1.y) * h.x + fabs(R.c2.y) * h.y + fabs(R.c3.y) * h.z),
                   (mabd_real)(fabs(R.c1.z) * h.x + fabs(R.c2.z) * h.y + fabs(R.c3.z) * h.z));
}

/// Compute the half extents of a disk of radius r with unit normal z: r sqrt(1 - z_k^2) along axis
/// k.
MABD_FN mabd_vec3 mabd_disk_half(mabd_vec3 z, mabd_real r) {
    return mabd_v3(r * (mabd_real)sqrt(fmax(0, 1 - z.x * z.x)),
                   r * (mabd_real)sqrt(fmax(0, 1 - z.y * z.y)),
                   r * (mabd_real)sqrt(fmax(0, 1 - z.z * z.z)));
}

/// Compute the box of a height field in its frame, as middle and half edges.
void mabd_height_field_box(const mabd_height_field* field, mabd_vec3* middle, mabd_vec3* half);

/// Compute the axis-aligned box of a shape, grown by `margin` [m]; infinite for a plane.
MABD_FN mabd_broad_box mabd_collider_box(const mabd_collider* shape, const mabd_pose* pose,
                                         mabd_real margin) {
    const mabd_mat3 R = pose->rotation;
    mabd_vec3 middle = pose->position, half = mabd_v3(0, 0, 0);
    mabd_real grow = margin;
    switch (shape->kind) {
    case MABD_COLLIDER_SPHERE:
        grow += shape->size[0];
        break;
    case MABD_COLLIDER_CAPSULE:
        half = mabd_turned_half(R, mabd_v3(0, 0, shape->size[1] / 2));
        grow += shape->size[0];
        break;
    case MABD_COLLIDER_BOX:
        half = mabd_turned_half(
            R, mabd_v3(shape->size[0] / 2, shape->size[1] / 2, shape->size[2] / 2));
        break;
    case MABD_COLLIDER_CYLINDER:
        half = mabd_turned_half(R, mabd_v3(0, 0, shape->size[1] / 2));
        half = mabd_v3_add(half, mabd_disk_half(R.c3, shape->size[0]));
        break;
    case MABD_COLLIDER_BOWL:
        grow += shape->size[0] + shape->size[1];
        break;
    case MABD_COLLIDER_HEIGHT_FIELD: {
        mabd_vec3 local, edges;
        mabd_height_field_box(shape->field, &local, &edges);
        middle = mabd_pose_point(pose, local);
        half = mabd_turned_half(R, edges);
        break;
    }
    default:
        grow = (mabd_real)INFINITY;
    }
    half = mabd_v3_add(half, mabd_v3(grow, grow, grow));
    mabd_broad_box box;
    mabd_v3_store(mabd_v3_sub(middle, half), box.lo);
    mabd_v3_store(mabd_v3_add(middle, half), box.hi);
    return box;
}

/// Return half the smallest thickness of a shape [m]: a body that moves less in a step cannot pass
/// through it undetected. Infinite for planes and height fields, which are solid below; for a bowl,
/// half the thickness of its shell.
MABD_FN mabd_real mabd_collider_thickness(const mabd_collider* shape) {
    const mabd_real* s = shape->size;
    switch (shape->kind) {
    case MABD_COLLIDER_SPHERE:
    case MABD_COLLIDER_CAPSULE:
        return s[0];
    case MABD_COLLIDER_BOX:
        return (mabd_real)fmin(fmin(s[0], s[1]), s[2]) / 2;
    case MABD_COLLIDER_CYLINDER:
        return (mabd_real)fmin(s[0], s[1] / 2);
    case MABD_COLLIDER_BOWL:
        return s[1] / 2;
    default:
        return (mabd_real)INFINITY;
    }
}

/// Return the radius of curvature of the surface where its outward normal is n (local, unit), about
/// a centre that a rotation of the shape about its own axis does not move [m]: for spheres,
/// capsules and the sides of cylinders; 0 for others.
MABD_FN mabd_real mabd_collider_roundness(const mabd_collider* shape, mabd_vec3 n) {
    // [rad] tolerance of a cylinder's side: excludes its edges
    const mabd_real level = (mabd_real)1e-3;
    switch (shape->kind) {
    case MABD_COLLIDER_SPHERE:
    case MABD_COLLIDER_CAPSULE:
        return shape->size[0];
    case MABD_COLLIDER_CYLINDER:
        return fabs(n.z) <= level ? shape->size[0] : 0;
    default:
        return 0;
    }
}

/// Return true if the surface is curved in one direction and straight in the other: sides of
/// cylinders and capsules. *axis (local, unit) gets the straight direction. False for other shapes,
/// and where n (local, unit) points along the axis.
MABD_FN bool mabd_collider_is_rod(const mabd_collider* shape, mabd_vec3 n, mabd_vec3* axis) {
    const bool rod = shape->kind == MABD_COLLIDER_CAPSULE || shape->kind == MABD_COLLIDER_CYLINDER;
    *axis = mabd_v3(0, 0, 1);
    return rod && fabs(n.z) <= (mabd_real)0.05;
}

/// Compute the distance of the farthest point of a moving shape from its centre [m].
MABD_FN mabd_real mabd_collider_reach(const mabd_collider* shape) {
    if (shape->kind > MABD_COLLIDER_CYLINDER) return 0;
    const mabd_core core = mabd_core_of(shape);
    if (shape->kind == MABD_COLLIDER_CYLINDER) {
        return (mabd_real)sqrt(core.half.x * core.half.x + core.half.z * core.half.z);
    }
    return mabd_v3_norm(core.half) + core.radius;
}
