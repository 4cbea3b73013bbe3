// SPDX-License-Identifier: Apache-2.0
// Anything convex against a half space. With u the unit normal of the plane, a point x is at height
// u . (x - x_plane); the lowest points of a shape touch first:
//
//   sphere     centre - r u
//   capsule    its two end spheres
//   box        the four corners of the face that looks down most; the lowest corner is one of them
//   cylinder   on the rim of the lower cap the lowest point (towards e = -u without its part along the
//              axis), and the points at right angles to it and opposite; on the upper rim the lowest
//
// Heights are linear, so these are exact, and no other point of the shape is lower.
#include "contact/pairs.h"

typedef struct plane_pair {
    mabd_vec3 up; // normal of the plane, world
    mabd_vec3 origin;
    mabd_points* points;
} plane_pair;

// The point x of a, lowered by `radius`.
static void add_lowest(const plane_pair* pair, mabd_vec3 x, mabd_real radius, uint32_t feature) {
    mabd_real height = mabd_v3_dot(pair->up, mabd_v3_sub(x, pair->origin)) - radius;
    mabd_vec3 on_a = mabd_v3_axpy(-radius, pair->up, x);
    mabd_points_add(pair->points, on_a, mabd_v3_scale(-1, pair->up), height, feature, 0);
}

static void add_box(const plane_pair* pair, const mabd_pose* pose, mabd_vec3 half) {
    mabd_vec3 up = mabd_m3_tmul(pose->rotation, pair->up);
    mabd_real x = (mabd_real)fabs(up.x), y = (mabd_real)fabs(up.y), z = (mabd_real)fabs(up.z);
    int axis = x > y && x > z ? 0 : y > z ? 1 : 2;
    mabd_real side = axis == 0 ? up.x : axis == 1 ? up.y : up.z;
    for (unsigned corner = 0; corner < 8; corner++) {
        const bool high = (corner >> axis) & 1;
        if (high == (side > 0)) continue;
        mabd_vec3 x_local = mabd_v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                                    corner & 4 ? half.z : -half.z);
        add_lowest(pair, mabd_pose_point(pose, x_local), 0, corner);
    }
}

static void add_cylinder(const plane_pair* pair, const mabd_pose* pose, mabd_core core) {
    mabd_vec3 axis = pose->rotation.c3, up = mabd_m3_tmul(pose->rotation, pair->up), e, low, high;
    mabd_real tilt = up.z, h = tilt > 0 ? -core.half.z : core.half.z;
    mabd_unit(mabd_v3(up.x, up.y, 0), mabd_v3(1, 0, 0), &e);
    e = mabd_m3_mul(pose->rotation, e);
    low = mabd_v3_axpy(h, axis, pose->position);
    high = mabd_v3_axpy(-h, axis, pose->position);
    const uint32_t cap = tilt > 0 ? 0 : 8, other = 8 - cap;
    const mabd_real r = core.half.x;
    mabd_vec3 across = mabd_v3_cross(axis, e);
    add_lowest(pair, mabd_v3_axpy(-r, e, low), 0, cap);
    add_lowest(pair, mabd_v3_axpy(-r, across, low), 0, cap + 1);
    add_lowest(pair, mabd_v3_axpy(r, e, low), 0, cap + 2);
    add_lowest(pair, mabd_v3_axpy(r, across, low), 0, cap + 3);
    if (pair->points->count < 4) add_lowest(pair, mabd_v3_axpy(-r, e, high), 0, other);
}

void mabd_narrow_plane(const mabd_collider* a, const mabd_pose* pa, const mabd_pose* pb,
                       mabd_points* points) {
    const mabd_core core = mabd_core_of(a);
    const plane_pair pair = {.up = pb->rotation.c3, .origin = pb->position, .points = points};
    const mabd_vec3 end = mabd_v3_scale(core.half.z, pa->rotation.c3);
    switch (a->kind) {
    case MABD_COLLIDER_SPHERE:
        add_lowest(&pair, pa->position, core.radius, 0);
        break;
    case MABD_COLLIDER_CAPSULE:
        add_lowest(&pair, mabd_v3_sub(pa->position, end), core.radius, 1);
        add_lowest(&pair, mabd_v3_add(pa->position, end), core.radius, 2);
        break;
    case MABD_COLLIDER_BOX:
        add_box(&pair, pa, core.half);
        break;
    default:
        add_cylinder(&pair, pa, core);
        break;
    }
}
