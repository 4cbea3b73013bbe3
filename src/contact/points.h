// SPDX-License-Identifier: Apache-2.0
// The list that the pair functions of the narrow phase fill, and their small shared helpers.
#pragma once

#include "contact/narrow.h"

typedef struct mabd_points {
    mabd_contact_point* at; // (MABD_CONTACT_MAX_POINTS)
    int32_t count;
    mabd_real margin; // [m]
} mabd_points;

/// Add the point that is on_a on the surface of a, with on_b = on_a + distance normal, if it is
/// closer than the margin. Does nothing if the list is full or the distance or normal is not a
/// number.
MABD_FN void mabd_points_add(mabd_points* points, mabd_vec3 on_a, mabd_vec3 normal,
                             mabd_real distance, uint32_t feature_a, uint32_t feature_b) {
    if (!(distance < points->margin) || points->count >= MABD_CONTACT_MAX_POINTS) return;
    mabd_vec3 on_b = mabd_v3_axpy(distance, normal, on_a);
    if (!(mabd_v3_dot(normal, normal) < 2) || !(mabd_v3_dot(on_b, on_b) >= 0)) return;
    mabd_contact_point* p = &points->at[points->count++];
    p->on_a = on_a, p->on_b = on_b;
    p->normal = normal, p->distance = distance;
    p->feature = feature_a << 16 | feature_b;
}

/// True if the list has a contact with this normal at this point of b, up to 1e-6 of `size`.
MABD_FN bool mabd_points_has(const mabd_points* points, mabd_vec3 on_b, mabd_vec3 normal,
                             mabd_real size) {
    for (int32_t i = 0; i < points->count; i++) {
        const mabd_contact_point* p = &points->at[i];
        const mabd_vec3 d = mabd_v3_sub(on_b, p->on_b), e = mabd_v3_sub(normal, p->normal);
        if (mabd_v3_norm(d) <= (mabd_real)1e-6 * size && mabd_v3_norm(e) <= (mabd_real)1e-6) {
            return true;
        }
    }
    return false;
}
/// Add the point that is on_a on the surface of a, with on_b = on_a + distance normal, if it is
/// closer than the margin. In a full list it replaces the point of largest distance if that is
/// larger.
MABD_FN void mabd_points_keep(mabd_points* points, mabd_vec3 on_a, mabd_vec3 normal,
                              mabd_real distance, uint32_t feature_a, uint32_t feature_b) {
    if (points->count == MABD_CONTACT_MAX_POINTS) {
        int32_t farthest = 0;
        for (int32_t i = 1; i < points->count; i++) {
            if (points->at[i].distance > points->at[farthest].distance) farthest = i;
        }
        if (!(distance < points->at[farthest].distance)) return;
        points->at[farthest] = points->at[--points->count];
    }
    mabd_points_add(points, on_a, normal, distance, feature_a, feature_b);
}

MABD_FN mabd_real mabd_clamp(mabd_real x, mabd_real low, mabd_real high) {
    return x < low ? low : x > high ? high : x;
}
/// Compute *n = v / |v|, or `fallback` if v has no length; return |v|. Safe for lengths whose
/// squares overflow or underflow.
MABD_FN mabd_real mabd_unit(mabd_vec3 v, mabd_vec3 fallback, mabd_vec3* n) {
    mabd_real scale = (mabd_real)fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
    *n = fallback;
    if (!(scale > 0)) return 0;
    mabd_vec3 w = mabd_v3(v.x / scale, v.y / scale, v.z / scale);
    mabd_real length = mabd_v3_norm(w);
    *n = mabd_v3_scale(1 / length, w);
    return scale * length;
}
/// Return a unit vector orthogonal to the unit vector n; the same one for n and -n up to its sign.
MABD_FN mabd_vec3 mabd_across(mabd_vec3 n) {
    mabd_vec3 e = mabd_v3(0, 0, 1), out;
    if (fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z))
        e = mabd_v3(1, 0, 0);
    else if (fabs(n.y) <= fabs(n.z))
        e = mabd_v3(0, 1, 0);
    mabd_unit(mabd_v3_cross(n, e), mabd_v3(1, 0, 0), &out);
    return out;
}
