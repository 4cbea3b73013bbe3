// SPDX-License-Identifier: Apache-2.0
#include "contact/feature.h"

#define SIDE_LABEL 0x80u // edges of a cut polygon that lie on side k of the reference: 0x80 | k

static mabd_real component(mabd_vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static mabd_vec3 box_corner(const mabd_hull* hull, uint32_t corner) {
    const mabd_vec3 h = hull->half;
    return mabd_pose_point(&hull->pose, mabd_v3(corner & 1 ? h.x : -h.x, corner & 2 ? h.y : -h.y,
                                                corner & 4 ? h.z : -h.z));
}

static mabd_vec3 column(const mabd_hull* hull, int k) {
    const mabd_mat3* R = &hull->pose.rotation;
    return k == 0 ? R->c1 : k == 1 ? R->c2 : R->c3;
}

// Return the number of the edge between two corners of a box: its axis and its lower corner.
static uint32_t box_edge(uint32_t from, uint32_t to) {
    return (from ^ to) << 3 | (from & to);
}

static void set_corner(mabd_feature* feature, int32_t i, mabd_vec3 x, uint32_t id, uint32_t edge) {
    mabd_feature_corner* c = &feature->corner[i];
    c->x = x, c->id = id, c->edge = edge, c->side = 0;
}

static void box_face(const mabd_hull* hull, mabd_vec3 d, mabd_feature* face) {
    const mabd_vec3 e = mabd_m3_tmul(hull->pose.rotation, d);
    const mabd_real x = (mabd_real)fabs(e.x), y = (mabd_real)fabs(e.y), z = (mabd_real)fabs(e.z);
    const int k = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    const bool up = component(e, k) >= 0;
    const uint32_t base = up ? 1u << k : 0, u = 1u << (k + 1) % 3, v = 1u << (k + 2) % 3;
    const uint32_t order[4] = {base, base | u, base | u | v, base | v};
    face->count = 4;
    face->id = (uint32_t)(2 * k + up);
    face->normal = mabd_v3_scale(up ? 1 : -1, column(hull, k));
    for (int i = 0; i < 4; i++) {
        const uint32_t here = order[up ? i : 3 - i], next = order[up ? (i + 1) % 4 : (6 - i) % 4];
        set_corner(face, i, box_corner(hull, here), here, box_edge(here, next));
    }
}

// Build the octagon inscribed in the rim of a cap, starting at the direction `first` (unit, local,
// in the cap).
static void cap_polygon(const mabd_hull* hull, bool up, mabd_vec3 first, mabd_feature* face) {
    const mabd_real s = (mabd_real)0.70710678118654752440;
    const mabd_real turn[8][2] = {{1, 0},  {s, s},   {0, 1},  {-s, s},
                                  {-1, 0}, {-s, -s}, {0, -1}, {s, -s}};
    const mabd_real r = hull->half.x, z = up ? hull->half.z : -hull->half.z;
    face->count = 8;
    face->id = up;
    face->normal = mabd_v3_scale(up ? 1 : -1, hull->pose.rotation.c3);
    for (int i = 0; i < 8; i++) {
        const mabd_real c = turn[i][0], q = up ? turn[i][1] : -turn[i][1];
        const mabd_vec3 x =
            mabd_v3(r * (c * first.x - q * first.y), r * (q * first.x + c * first.y), z);
        const uint32_t id = (up ? 8u : 0u) + (uint32_t)i;
        set_corner(face, i, mabd_pose_point(&hull->pose, x), id, 0x40u | id);
    }
}

static void side_line(const mabd_hull* hull, mabd_vec3 out, mabd_feature* line) {
    const mabd_real r = hull->half.x;
    line->count = 2;
    line->id = 2;
    line->normal = mabd_m3_mul(hull->pose.rotation, out);
    for (int i = 0; i < 2; i++) {
        const mabd_vec3 x = mabd_v3(r * out.x, r * out.y, i ? hull->half.z : -hull->half.z);
        set_corner(line, i, mabd_pose_point(&hull->pose, x), 16u + (uint32_t)i, 0x50u);
    }
}

void mabd_feature_face(const mabd_hull* hull, mabd_vec3 d, mabd_feature* face) {
    if (hull->kind == MABD_COLLIDER_CYLINDER) {
        const bool up = mabd_v3_dot(hull->pose.rotation.c3, d) >= 0;
        cap_polygon(hull, up, mabd_v3(1, 0, 0), face);
    } else {
        box_face(hull, d, face);
    }
}

void mabd_feature_incident(const mabd_hull* hull, mabd_vec3 d, mabd_feature* feature) {
    const mabd_vec3 e = mabd_m3_tmul(hull->pose.rotation, d);
    mabd_vec3 out;
    switch (hull->kind) {
    case MABD_COLLIDER_CYLINDER: {
        const mabd_real across = mabd_unit(mabd_v3(e.x, e.y, 0), mabd_v3(1, 0, 0), &out);
        if ((mabd_real)fabs(e.z) >= across)
            cap_polygon(hull, e.z >= 0, out, feature);
        else
            side_line(hull, out, feature);
        break;
    }
    default:
        mabd_feature_face(hull, d, feature);
        break;
    }
}

bool mabd_feature_edge(const mabd_hull* hull, mabd_vec3 d, mabd_feature* edge) {
    const mabd_real near = (mabd_real)1e-3;
    const mabd_vec3 e = mabd_m3_tmul(hull->pose.rotation, d);
    if (hull->kind != MABD_COLLIDER_BOX) {
        mabd_vec3 out;
        mabd_unit(mabd_v3(e.x, e.y, 0), mabd_v3(1, 0, 0), &out);
        side_line(hull, out, edge);
        return (mabd_real)fabs(e.z) < near;
    }
    const mabd_real x = (mabd_real)fabs(e.x), y = (mabd_real)fabs(e.y), z = (mabd_real)fabs(e.z);
    const int k = z <= x && z <= y ? 2 : y <= x ? 1 : 0;
    if (!(fmin(x, fmin(y, z)) < near)) return false;
    const uint32_t signs = (e.x >= 0 ? 1u : 0) | (e.y >= 0 ? 2u : 0) | (e.z >= 0 ? 4u : 0);
    const uint32_t low = signs & ~(1u << k), high = signs | 1u << k;
    edge->count = 2;
    edge->id = 6;
    edge->normal = d;
    set_corner(edge, 0, box_corner(hull, low), low, box_edge(low, high));
    set_corner(edge, 1, box_corner(hull, high), high, box_edge(low, high));
    return true;
}

// Return the point at height 0 of the edge from p to q; their heights g and h have different signs.
static mabd_feature_corner cut(const mabd_feature_corner* p, const mabd_feature_corner* q,
                               mabd_real g, mabd_real h, uint32_t side) {
    mabd_feature_corner c;
    c.x = mabd_v3_axpy(g / (g - h), mabd_v3_sub(q->x, p->x), p->x);
    c.id = 0x100u | p->edge;
    c.edge = g > 0 ? p->edge : (SIDE_LABEL | side); // into the half space, or out along its border
    c.side = 1 + side;
    return c;
}

static void clip_side(mabd_feature* polygon, mabd_vec3 origin, mabd_vec3 outward, uint32_t side) {
    mabd_feature_corner kept[MABD_FEATURE_CORNERS_MAX];
    mabd_real height[MABD_FEATURE_CORNERS_MAX];
    const int32_t n = polygon->count;
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        height[i] = mabd_v3_dot(outward, mabd_v3_sub(polygon->corner[i].x, origin));
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t j = (i + 1) % n;
        const mabd_real g = height[i], h = height[j];
        const mabd_feature_corner *p = &polygon->corner[i], *q = &polygon->corner[j];
        if (!(g > 0) && count < MABD_FEATURE_CORNERS_MAX) kept[count++] = *p;
        const bool open_end = n == 2 && i == 1; // an edge has no closing side
        if ((g > 0) == (h > 0) || open_end || count >= MABD_FEATURE_CORNERS_MAX) continue;
        kept[count++] = cut(p, q, g, h, side);
    }
    polygon->count = count;
    for (int32_t i = 0; i < count; i++) polygon->corner[i] = kept[i];
}

void mabd_feature_clip(const mabd_feature* face, mabd_feature* incident) {
    for (int32_t k = 0; k < face->count && incident->count > 0; k++) {
        const mabd_vec3 p = face->corner[k].x, q = face->corner[(k + 1) % face->count].x;
        const mabd_vec3 outward = mabd_v3_cross(mabd_v3_sub(q, p), face->normal);
        clip_side(incident, p, outward, (uint32_t)k);
    }
}
