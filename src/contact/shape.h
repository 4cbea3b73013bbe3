// SPDX-License-Identifier: Apache-2.0
// Collision shapes and their poses. Sizes and height fields are those of mabd_geom; the last three
// shapes are static and carry no mass.
#pragma once

#include "mabd/scene.h"
#include "math/mat3.h"

typedef enum mabd_collider_kind {
    MABD_COLLIDER_SPHERE,   // size[0] = radius
    MABD_COLLIDER_CAPSULE,  // size[0] = radius, size[1] = length between the two centres; along z
    MABD_COLLIDER_BOX,      // size = full edge lengths x y z
    MABD_COLLIDER_CYLINDER, // size[0] = radius, size[1] = length; along z
    MABD_COLLIDER_PLANE,    // solid is z <= 0, unbounded
    MABD_COLLIDER_BOWL,     // lower half of a shell, open towards z: size[0] = inner radius,
                            // size[1] = thickness (outward)
    MABD_COLLIDER_HEIGHT_FIELD, // field
    MABD_COLLIDER_COUNT
} mabd_collider_kind;

typedef struct mabd_collider {
    mabd_collider_kind kind;
    mabd_real size[3];              // [m], see mabd_collider_kind
    const mabd_height_field* field; // of a height field, else null; not owned
} mabd_collider;

/// x_world = rotation x_local + position
typedef struct mabd_pose {
    mabd_vec3 position; // [m]
    mabd_mat3 rotation; // orthonormal, right-handed
} mabd_pose;

/// Transform a point from the local frame to the world.
MABD_FN mabd_vec3 mabd_pose_point(const mabd_pose* pose, mabd_vec3 local) {
    return mabd_v3_add(mabd_m3_mul(pose->rotation, local), pose->position);
}
/// Transform a point from the world to the local frame.
MABD_FN mabd_vec3 mabd_pose_local(const mabd_pose* pose, mabd_vec3 world) {
    return mabd_m3_tmul(pose->rotation, mabd_v3_sub(world, pose->position));
}
