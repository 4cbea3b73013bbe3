// SPDX-License-Identifier: Apache-2.0
// Convex shapes against a half space. With u the unit normal of the plane, a point x is at height u
// . (x - x_plane), which is linear: the lowest points of a shape touch first (mabd_core_lowest), no
// other point is lower, and round shapes are lower by their radius.
#include "contact/pairs.h"

void mabd_narrow_plane(const mabd_collider* a, const mabd_pose* pa, const mabd_pose* pb,
                       mabd_points* points) {
    const mabd_core core = mabd_core_of(a);
    const mabd_vec3 up = pb->rotation.c3, down = mabd_v3_scale(-1, up);
    mabd_vec3 x[MABD_LOWEST_MAX];
    uint32_t ids[MABD_LOWEST_MAX];
    const int count = mabd_core_lowest(&core, mabd_m3_tmul(pa->rotation, up), x, ids);
    for (int k = 0; k < count && points->count < 4; k++) {
        const mabd_vec3 y = mabd_pose_point(pa, x[k]);
        const mabd_real height = mabd_v3_dot(up, mabd_v3_sub(y, pb->position)) - core.radius;
        mabd_points_add(points, mabd_v3_axpy(core.radius, down, y), down, height, ids[k], 0);
    }
}
