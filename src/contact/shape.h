// SPDX-License-Identifier: Apache-2.0
// The shapes that touch, and where they stand. Sizes are those of mabd_geom; the last three shapes
// are static, carry no mass and may be part of the world only.
//
//   height field: nodes (i, j) at local x = (i - (columns - 1)/2) dx, y = (j - (rows - 1)/2) dy,
//   z = heights[j columns + i]; every cell is two triangles that share the diagonal from its corner
//   (i, j) to (i + 1, j + 1). Solid below.
#pragma once

#include "math/mat3.h"

typedef enum mabd_collider_kind {
    MABD_COLLIDER_SPHERE,   // size[0] = radius
    MABD_COLLIDER_CAPSULE,  // size[0] = radius, size[1] = length between the two centres; along z
    MABD_COLLIDER_BOX,      // size = full edge lengths x y z
    MABD_COLLIDER_CYLINDER, // size[0] = radius, size[1] = length; along z
    MABD_COLLIDER_PLANE,    // solid is z <= 0, all of it
    MABD_COLLIDER_BOWL,     // lower half of a shell, open towards z: size[0] = inner radius,
                            // size[1] = thickness (outward)
    MABD_COLLIDER_HEIGHT_FIELD, // field
    MABD_COLLIDER_COUNT
} mabd_collider_kind;

/// A regular grid of heights; see above.
typedef struct mabd_height_field {
    int32_t columns, rows;    // nodes along x and y, >= 2
    mabd_real dx, dy;         // cell size [m], > 0
    const mabd_real* heights; // (rows x columns) [m]; not owned
} mabd_height_field;

typedef struct mabd_collider {
    mabd_collider_kind kind;
    mabd_real size[3];              // [m], see mabd_collider_kind
    const mabd_height_field* field; // of a height field, else null
} mabd_collider;

/// x_world = rotation x_local + position
typedef struct mabd_pose {
    mabd_vec3 position; // [m]
    mabd_mat3 rotation; // orthonormal, right-handed
} mabd_pose;

/// A point of the local frame, in the world.
MABD_FN mabd_vec3 mabd_pose_point(const mabd_pose* pose, mabd_vec3 local) {
    return mabd_v3_add(mabd_m3_mul(pose->rotation, local), pose->position);
}
/// A point of the world, in the local frame.
MABD_FN mabd_vec3 mabd_pose_local(const mabd_pose* pose, mabd_vec3 world) {
    return mabd_m3_tmul(pose->rotation, mabd_v3_sub(world, pose->position));
}
