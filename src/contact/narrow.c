// SPDX-License-Identifier: Apache-2.0
// Bring a pair into its fixed order, call the function of its kind, and restore the caller's order.
#include "contact/narrow.h"

#include "contact/pairs.h"

// < 0 if x before y, > 0 after, 0 equal.
static int compare(const mabd_real* x, const mabd_real* y, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

// Return true if b comes before a. The direction has no symmetry, so that boxes in a stack or in a
// row do not change places by round-off.
static bool is_swapped(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb) {
    if (a->kind != b->kind) return a->kind > b->kind;
    int order = compare(a->size, b->size, 3);
    if (order != 0) return order > 0;
    const mabd_vec3 along = mabd_v3((mabd_real)0.48, (mabd_real)0.36, (mabd_real)0.8);
    mabd_real difference = mabd_v3_dot(along, mabd_v3_sub(pa->position, pb->position));
    if (difference != 0) return difference > 0;
    mabd_real x[12], y[12];
    mabd_v3_store(pa->position, x), mabd_v3_store(pb->position, y);
    mabd_m3_store(pa->rotation, x + 3), mabd_m3_store(pb->rotation, y + 3);
    return compare(x, y, 12) > 0;
}

static void find_points(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                        const mabd_pose* pb, mabd_points* points) {
    if (a->kind > MABD_COLLIDER_CYLINDER) return;
    switch (b->kind) {
    case MABD_COLLIDER_PLANE:
        mabd_narrow_plane(a, pa, pb, points);
        break;
    case MABD_COLLIDER_BOWL:
        mabd_narrow_bowl(a, pa, b, pb, points);
        break;
    case MABD_COLLIDER_HEIGHT_FIELD:
        mabd_narrow_height_field(a, pa, b, pb, points);
        break;
    default:
        if (a->kind <= MABD_COLLIDER_CAPSULE)
            mabd_narrow_round(a, pa, b, pb, points);
        else
            mabd_narrow_solid(a, pa, b, pb, points);
        break;
    }
}

static void reverse(mabd_contact_point* point) {
    mabd_vec3 on_a = point->on_a;
    point->on_a = point->on_b, point->on_b = on_a;
    point->normal = mabd_v3_scale(-1, point->normal);
    point->feature = point->feature >> 16 | point->feature << 16;
}

int32_t mabd_narrow(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                    const mabd_pose* pb, mabd_real margin,
                    mabd_contact_point out[MABD_CONTACT_MAX_POINTS]) {
    mabd_points points = {.at = out, .count = 0, .margin = margin};
    if (!is_swapped(a, pa, b, pb)) {
        find_points(a, pa, b, pb, &points);
        return points.count;
    }
    find_points(b, pb, a, pa, &points);
    for (int32_t i = 0; i < points.count; i++) reverse(&out[i]);
    return points.count;
}
