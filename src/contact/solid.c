// SPDX-License-Identifier: Apache-2.0
// Boxes and cylinders against each other.
//
// Both are symmetric about their centres, so the separation along a unit axis n is
//
//   s(n) = |n . (c_b - c_a)| - w_a(n) - w_b(n)
//   w = sum h_k |n . e_k| (box), R |n_xy| + H |n_z| (cylinder)
//
// and every s(n) is a lower bound of the signed distance. The axes tried: faces, caps, and the
// cross products of edges and axes of cylinders. For two boxes that overlap these are complete
// (separating axis theorem), and the best one is exact. In other cases it is exact if contact
// points with the distance s(n) exist: distance <= s(n) <= distance. That settles all contacts on
// faces. The remaining pairs go to GJK if apart and to EPA if overlapping, and get one point, or
// two along parallel edges.
#include "contact/feature.h"
#include "contact/pairs.h"

#define LIST_MAX (MABD_FEATURE_CORNERS_MAX + 1)

// Cosine of the angle to a face's normal above which a contact of edges also gets points of faces.
#define NEARLY_FACE ((mabd_real)0.995)

// Points closer to each other than this fraction of the sizes of the two shapes are merged.
#define MERGE ((mabd_real)5e-3)
// A point that is deeper than four others by this fraction of the sizes is kept.
#define DEEPER ((mabd_real)1e-7)

typedef struct solid_pair {
    mabd_hull a, b;
    mabd_vec3 origin;  // of the hulls' coordinates, world
    mabd_vec3 between; // c_b - c_a
    mabd_real extent;  // [m]
    mabd_points* points;
} solid_pair;

typedef enum axis_source { FACE_OF_A, FACE_OF_B, CROSSED } axis_source;

typedef struct axis_choice {
    mabd_vec3 n; // unit, from a to b
    mabd_real s;
    axis_source source;
} axis_choice;

typedef struct point_list {
    int32_t count;
    mabd_contact_point at[LIST_MAX];
} point_list;

// ---- axes ---------------------------------------------------------------------------------------

static mabd_real half_width(const mabd_hull* hull, mabd_vec3 n) {
    const mabd_vec3 e = mabd_m3_tmul(hull->pose.rotation, n), h = hull->half;
    const mabd_real along = h.z * (mabd_real)fabs(e.z);
    if (hull->kind == MABD_COLLIDER_CYLINDER) {
        return h.x * (mabd_real)sqrt(e.x * e.x + e.y * e.y) + along;
    }
    return h.x * (mabd_real)fabs(e.x) + h.y * (mabd_real)fabs(e.y) + along;
}

// Take the axis if it separates by more than the best one, beyond round-off: otherwise parallel
// faces would alternate.
static void try_axis(const solid_pair* pair, mabd_vec3 n, axis_source source, axis_choice* best) {
    const mabd_real across = mabd_v3_dot(n, pair->between);
    const mabd_real s = (mabd_real)fabs(across) - half_width(&pair->a, n) - half_width(&pair->b, n);
    if (!(s > best->s + (mabd_real)1e-8 * pair->extent)) return;
    best->n = across < 0 ? mabd_v3_scale(-1, n) : n;
    best->s = s;
    best->source = source;
}

static void try_crossed(const solid_pair* pair, mabd_vec3 x, mabd_vec3 y, axis_choice* best) {
    mabd_vec3 n;
    if (mabd_unit(mabd_v3_cross(x, y), mabd_v3(0, 0, 1), &n) > (mabd_real)1e-6) {
        try_axis(pair, n, CROSSED, best);
    }
}

// List face normals or cap normals, then edge directions; the first (or only) one is the axis z.
static int axes_of(const mabd_hull* hull, mabd_vec3* axes) {
    axes[0] = hull->pose.rotation.c3;
    axes[1] = hull->pose.rotation.c1, axes[2] = hull->pose.rotation.c2;
    return hull->kind == MABD_COLLIDER_BOX ? 3 : 1;
}

// Try the normal of the side of cylinder b towards the centre of cylinder a or the nearest corner
// of box a: exact for parallel axes and for an edge along the cylinder.
static void try_radial(const solid_pair* pair, bool corner, axis_choice* best) {
    const mabd_mat3* R = &pair->b.pose.rotation;
    mabd_vec3 d = mabd_m3_tmul(*R, pair->between), n;
    mabd_unit(mabd_v3(d.x, d.y, 0), mabd_v3(1, 0, 0), &n);
    if (corner) {
        const mabd_vec3 x = mabd_hull_support(&pair->a, mabd_m3_mul(*R, n));
        d = mabd_m3_tmul(*R, mabd_v3_sub(pair->b.pose.position, x));
        mabd_unit(mabd_v3(d.x, d.y, 0), n, &n);
    }
    try_axis(pair, mabd_m3_mul(*R, n), CROSSED, best);
}

// Find the axis of largest separation. *face: the best of the faces and caps.
static axis_choice find_axis(const solid_pair* pair, axis_choice* face) {
    axis_choice best = {.n = {0, 0, 1}, .s = -(mabd_real)INFINITY, .source = CROSSED};
    mabd_vec3 x[3], y[3];
    const int m = axes_of(&pair->a, x), n = axes_of(&pair->b, y);
    for (int i = 0; i < m; i++) try_axis(pair, x[i], FACE_OF_A, &best);
    for (int i = 0; i < n; i++) try_axis(pair, y[i], FACE_OF_B, &best);
    *face = best;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) try_crossed(pair, x[i], y[j], &best);
    }
    if (n == 1) try_radial(pair, m == 3, &best);
    return best;
}

// ---- points -------------------------------------------------------------------------------------

static void list_add(point_list* list, mabd_vec3 on_a, mabd_vec3 n, mabd_real distance,
                     uint32_t feature_a, uint32_t feature_b) {
    if (list->count == LIST_MAX) return;
    mabd_contact_point* p = &list->at[list->count++];
    p->on_a = on_a, p->normal = n, p->distance = distance;
    p->feature = feature_a << 16 | feature_b;
}

static mabd_real list_smallest(const point_list* list) {
    mabd_real smallest = (mabd_real)INFINITY;
    for (int32_t i = 0; i < list->count; i++) {
        smallest = (mabd_real)fmin(smallest, list->at[i].distance);
    }
    return smallest;
}

// Return true if x, a point over the plane of the reference face, is over its inside.
static bool is_over(const mabd_hull* hull, const mabd_feature* face, mabd_vec3 x) {
    if (hull->kind == MABD_COLLIDER_CYLINDER) {
        const mabd_vec3 p = mabd_pose_local(&hull->pose, x);
        return p.x * p.x + p.y * p.y <= hull->half.x * hull->half.x;
    }
    for (int32_t k = 0; k < face->count; k++) {
        const mabd_vec3 p = face->corner[k].x, q = face->corner[(k + 1) % face->count].x;
        const mabd_vec3 outward = mabd_v3_cross(mabd_v3_sub(q, p), face->normal);
        if (mabd_v3_dot(outward, mabd_v3_sub(x, p)) > 0) return false;
    }
    return true;
}

// Add the contact polygon over a face. The lowest incident point of all is added if the octagon
// inscribed in a cap cut it off, or if the shapes overlap and it determines the depth.
static void add_over_face(const solid_pair* pair, const axis_choice* axis, point_list* list) {
    const bool of_a = axis->source == FACE_OF_A;
    const mabd_hull *reference = of_a ? &pair->a : &pair->b, *other = of_a ? &pair->b : &pair->a;
    const mabd_vec3 outward = mabd_v3_scale(of_a ? 1 : -1, axis->n);
    const mabd_vec3 inward = mabd_v3_scale(-1, outward);
    mabd_feature face, incident;
    mabd_feature_face(reference, outward, &face);
    mabd_feature_incident(other, inward, &incident);
    mabd_feature_clip(&face, &incident);

    const mabd_vec3 level = face.corner[0].x, lowest = mabd_hull_support(other, inward);
    for (int32_t i = 0; i <= incident.count; i++) {
        const bool last = i == incident.count;
        const mabd_feature_corner* c = &incident.corner[last ? 0 : i];
        const mabd_vec3 x = last ? lowest : c->x;
        const mabd_real distance = mabd_v3_dot(outward, mabd_v3_sub(x, level));
        if (last) {
            if (!(distance < list_smallest(list) - (mabd_real)2e-8 * pair->extent)) break;
            if (axis->s > 0 && !is_over(reference, &face, x)) break;
        }
        const uint32_t on_face = face.id << 8 | (last ? 0x7fu : c->side);
        const uint32_t on_other = last ? 0x200u : c->id;
        const mabd_vec3 on_a = of_a ? mabd_v3_axpy(-distance, outward, x) : x;
        list_add(list, on_a, axis->n, distance, of_a ? on_face : on_other,
                 of_a ? on_other : on_face);
    }
}

// Add a contact without a face: its point, or the ends of the common part of two parallel edges.
static void add_over_edges(const solid_pair* pair, const mabd_hull_contact* c, point_list* list) {
    mabd_feature e, f;
    mabd_vec3 d;
    const mabd_vec3 back = mabd_v3_scale(-1, c->normal);
    bool edges = mabd_feature_edge(&pair->a, c->normal, &e);
    edges = mabd_feature_edge(&pair->b, back, &f) && edges;
    if (edges) {
        const mabd_vec3 p = e.corner[0].x, q = f.corner[0].x;
        const mabd_vec3 other = mabd_v3_sub(f.corner[1].x, q);
        const mabd_real length = mabd_unit(mabd_v3_sub(e.corner[1].x, p), mabd_v3(0, 0, 1), &d);
        const mabd_real rate = mabd_v3_dot(other, d), from = mabd_v3_dot(mabd_v3_sub(q, p), d);
        const mabd_real low = (mabd_real)fmax(0, fmin(from, from + rate));
        const mabd_real high = (mabd_real)fmin(length, fmax(from, from + rate));
        const mabd_vec3 aside = mabd_v3_cross(other, d);
        const bool parallel = mabd_v3_norm(aside) < (mabd_real)1e-3 * (mabd_real)fabs(rate);
        if (parallel && high - low > (mabd_real)1e-3 * length) {
            for (uint32_t i = 0; i < 2; i++) {
                const mabd_real t = i ? high : low;
                const mabd_vec3 x = mabd_v3_axpy(t, d, p);
                const mabd_vec3 y = mabd_v3_axpy((t - from) / rate, other, q);
                const mabd_real distance = mabd_v3_dot(c->normal, mabd_v3_sub(y, x));
                list_add(list, x, c->normal, distance, 0x300u | i, 0x300u);
            }
        }
    }
    if (!(list_smallest(list) <= c->distance + (mabd_real)1e-7 * pair->extent)) {
        list_add(list, c->on_a, c->normal, c->distance, 0x3ffu, 0x3ffu);
    }
}

// Add the polygon of faces for edges that nearly lie in them: it supports too, up to the extent of
// the shapes.
static void add_beside_edges(const solid_pair* pair, const axis_choice* face, mabd_real distance,
                             point_list* list) {
    const int32_t first = list->count;
    add_over_face(pair, face, list);
    for (int32_t i = first; i < list->count; i++) {
        if (list->at[i].distance < distance) list->at[i].distance = distance;
    }
}

// Compute the closest points of the two lines of the supporting edges of two boxes.
static void cross_edges(const solid_pair* pair, const axis_choice* axis, mabd_hull_contact* c) {
    const mabd_vec3 back = mabd_v3_scale(-1, axis->n);
    mabd_feature e, f;
    c->normal = axis->n, c->distance = axis->s;
    c->on_a = mabd_hull_support(&pair->a, axis->n);
    if (!mabd_feature_edge(&pair->a, axis->n, &e) || !mabd_feature_edge(&pair->b, back, &f)) return;
    const mabd_vec3 d = mabd_v3_sub(e.corner[1].x, e.corner[0].x);
    const mabd_vec3 g = mabd_v3_sub(f.corner[1].x, f.corner[0].x);
    const mabd_vec3 r = mabd_v3_sub(f.corner[0].x, e.corner[0].x);
    const mabd_real dd = mabd_v3_dot(d, d), dg = mabd_v3_dot(d, g), gg = mabd_v3_dot(g, g);
    const mabd_real determinant = dd * gg - dg * dg;
    if (!(determinant > 0)) return;
    const mabd_real t = (mabd_v3_dot(r, d) * gg - mabd_v3_dot(r, g) * dg) / determinant;
    c->on_a = mabd_v3_axpy(mabd_clamp(t, 0, 1), d, e.corner[0].x);
}

// Find the contact of the two hulls by GJK or EPA; true if they are apart. If EPA ends with a
// separating axis, the simplex that GJK took to contain the origin was wrong.
static bool find_contact(const solid_pair* pair, bool apart, mabd_hull_contact* contact) {
    if (mabd_hull_distance(&pair->a, &pair->b, apart, contact)) return true;
    mabd_hull_depth(&pair->a, &pair->b, contact);
    if (!(contact->distance > 0)) return false;
    const mabd_hull_contact touching = *contact;
    if (mabd_hull_distance(&pair->a, &pair->b, true, contact)) return true;
    *contact = touching;
    return false;
}

// ---- output -------------------------------------------------------------------------------------

// Return the index of the largest value, the first of equals; -1 if none is above 0.
static int32_t largest_of(const mabd_real* value, int32_t n) {
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++) {
        if (value[i] > (best < 0 ? 0 : value[best])) best = i;
    }
    return best;
}

static int32_t deepest_of(const point_list* list) {
    int32_t deepest = 0;
    for (int32_t i = 1; i < list->count; i++) {
        if (list->at[i].distance < list->at[deepest].distance) deepest = i;
    }
    return deepest;
}

// Find the corners of the widest support: the point farthest from the middle, the point farthest
// from that one, and the two farthest from the line through them on either side. Unlike the deepest
// point, corners do not change with every small motion of the bodies.
static void find_corners(const point_list* list, int32_t chosen[4]) {
    mabd_real value[LIST_MAX];
    mabd_vec3 middle = mabd_v3(0, 0, 0);
    for (int32_t i = 0; i < list->count; i++) middle = mabd_v3_add(middle, list->at[i].on_a);
    middle = mabd_v3_scale(1 / (mabd_real)list->count, middle);
    for (int32_t i = 0; i < list->count; i++) {
        value[i] = mabd_v3_norm(mabd_v3_sub(list->at[i].on_a, middle));
    }
    chosen[0] = largest_of(value, list->count);
    if (chosen[0] < 0) chosen[0] = 0;
    const mabd_vec3 first = list->at[chosen[0]].on_a, n = list->at[chosen[0]].normal;
    for (int32_t i = 0; i < list->count; i++) {
        value[i] = mabd_v3_norm(mabd_v3_sub(list->at[i].on_a, first));
    }
    chosen[1] = largest_of(value, list->count);
    chosen[2] = chosen[3] = -1;
    if (chosen[1] < 0) return;
    const mabd_vec3 side = mabd_v3_cross(n, mabd_v3_sub(list->at[chosen[1]].on_a, first));
    for (int k = 2; k < 4; k++) {
        for (int32_t i = 0; i < list->count; i++) {
            const mabd_vec3 x = mabd_v3_sub(list->at[i].on_a, first);
            value[i] = (k == 2 ? 1 : -1) * mabd_v3_dot(side, x);
            if (i == chosen[1]) value[i] = 0;
        }
        chosen[k] = largest_of(value, list->count);
    }
}

// Reduce the list to four points: the corners, and the deepest one if it is none of them.
static void reduce_list(const solid_pair* pair, point_list* list) {
    int32_t chosen[4];
    find_corners(list, chosen);
    point_list out = {.count = 0};
    for (int k = 0; k < 4; k++) {
        if (chosen[k] >= 0) out.at[out.count++] = list->at[chosen[k]];
    }
    const mabd_contact_point* deepest = &list->at[deepest_of(list)];
    const mabd_real least = list_smallest(&out) - DEEPER * pair->extent;
    if (deepest->distance < least) out.at[out.count++] = *deepest;
    *list = out;
}

// Return true if a deeper point of the list, or an earlier one as deep, is next to point i: two
// corners, or a corner and the crossing of two edges, that nearly coincide and would appear and
// disappear with every small motion of the bodies.
static bool has_deeper(const solid_pair* pair, const point_list* list, int32_t i) {
    const mabd_contact_point* p = &list->at[i];
    for (int32_t k = 0; k < list->count; k++) {
        const mabd_contact_point* q = &list->at[k];
        if (k == i || mabd_v3_norm(mabd_v3_sub(p->on_a, q->on_a)) > MERGE * pair->extent) continue;
        if (q->distance < p->distance || (q->distance == p->distance && k < i)) return true;
    }
    return false;
}

static void put_out(const solid_pair* pair, point_list* list) {
    point_list all = *list;
    int32_t close = 0;
    for (int32_t i = 0; i < all.count; i++) {
        if (!(all.at[i].distance < pair->points->margin) || has_deeper(pair, &all, i)) continue;
        list->at[close++] = all.at[i];
    }
    list->count = close;
    if (close > 4) reduce_list(pair, list);
    for (int32_t i = 0; i < list->count; i++) {
        const mabd_contact_point* p = &list->at[i];
        mabd_points_add(pair->points, mabd_v3_add(p->on_a, pair->origin), p->normal, p->distance,
                        p->feature >> 16, p->feature & 0xffffu);
    }
}

void mabd_narrow_solid(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points) {
    const mabd_core core_a = mabd_core_of(a), core_b = mabd_core_of(b);
    solid_pair pair = {.origin = pa->position, .points = points};
    pair.a = mabd_hull_of(&core_a, pa, pair.origin);
    pair.b = mabd_hull_of(&core_b, pb, pair.origin);
    pair.between = pair.b.pose.position;
    pair.extent = mabd_v3_norm(core_a.half) + mabd_v3_norm(core_b.half);
    const bool boxes = a->kind == MABD_COLLIDER_BOX && b->kind == MABD_COLLIDER_BOX;

    axis_choice face;
    const axis_choice axis = find_axis(&pair, &face);
    if (!(axis.s < points->margin)) return;
    point_list list = {.count = 0};
    mabd_hull_contact contact;
    const mabd_real exact = axis.s + (mabd_real)1e-8 * pair.extent;
    bool settled = false;
    if (axis.source != CROSSED) {
        add_over_face(&pair, &axis, &list);
        settled = axis.s > 0 ? list_smallest(&list) <= exact : boxes;
    }
    if (!settled && boxes && !(axis.s > 0)) {
        cross_edges(&pair, &axis, &contact);
    } else if (!settled) {
        const bool deep = !find_contact(&pair, axis.s > 0, &contact);
        const bool known = contact.distance <= exact; // then the axis is the better normal
        settled = deep && axis.source != CROSSED && known;
        if (known) contact.normal = axis.n, contact.distance = axis.s;
    }
    if (!settled) {
        list.count = 0;
        add_over_edges(&pair, &contact, &list);
        if (mabd_v3_dot(contact.normal, face.n) > NEARLY_FACE) {
            add_beside_edges(&pair, &face, contact.distance, &list);
        }
    }
    put_out(&pair, &list);
}
