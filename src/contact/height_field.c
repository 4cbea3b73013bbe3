// SPDX-License-Identifier: Apache-2.0
// Convex shapes against a height field, two triangles per cell, solid below.
//
// Contacts are local minima of the distance between the shape and the surface, from both sides:
//
//   faces    the lowest points of the shape over each triangle (mabd_core_lowest): over it where
//            the foot along its normal is inside, or under the surface where the point is below it.
//            distance = height over the plane of the triangle
//   edges    an edge is a segment against the shape: its closest point and the ends of the part
//            beside the touching feature, as for a capsule (round.c). With m the direction from the
//            edge to the shape, w1 and w2 the directions into the two triangles, it is a minimum if
//                m . w1 <= 0  and  m . w2 <= 0,
//            at an end of the edge if m . (neighbour - node) <= 0 for all neighbours of the node
//
// An edge that passes through a box or cylinder is pushed out along the direction of least
// penetration (epa.c). Flat and concave edges have no contacts of their own: a wheel does not feel
// the seams of a plane.
#include "contact/bounds.h"
#include "contact/hull.h"
#include "contact/line_segment.h"
#include "contact/pairs.h"

#define STEEP                                                                                      \
    ((mabd_real)1e-2) // [rad] an edge closer to level than this has two contacts under a shape

typedef struct field_pair {
    mabd_core core;
    mabd_pose pose;         // of a in the frame of b
    const mabd_pose* frame; // of b
    const mabd_height_field* field;
    mabd_real reach; // distance from the shape's centre, with the margin
    mabd_points* points;
} field_pair;

static bool has_node(const field_pair* pair, int32_t i, int32_t j) {
    return i >= 0 && j >= 0 && i < pair->field->columns && j < pair->field->rows;
}

static mabd_vec3 node(const field_pair* pair, int32_t i, int32_t j) {
    const mabd_height_field* f = pair->field;
    return mabd_v3(((mabd_real)i - (mabd_real)(f->columns - 1) / 2) * f->dx,
                   ((mabd_real)j - (mabd_real)(f->rows - 1) / 2) * f->dy,
                   f->heights[(size_t)j * (size_t)f->columns + (size_t)i]);
}

// Return the number of a triangle or edge of the cell (i, j), kind 0..4; unique within 32 cells
// around.
static uint32_t name_of(int32_t i, int32_t j, uint32_t kind) {
    return 0x2000u + (kind << 10 | ((uint32_t)i & 31u) << 5 | ((uint32_t)j & 31u));
}

// Add a contact in the frame of the field; n: from the field to the shape.
static void add(const field_pair* pair, mabd_vec3 on_b, mabd_vec3 n, mabd_real distance,
                uint32_t feature_a, uint32_t feature_b) {
    if (!(distance < pair->points->margin)) return;
    const mabd_vec3 normal = mabd_m3_mul(pair->frame->rotation, mabd_v3_scale(-1, n));
    const mabd_vec3 x = mabd_pose_point(pair->frame, on_b);
    if (mabd_points_has(pair->points, x, normal, pair->reach)) return;
    mabd_points_keep(pair->points, mabd_v3_axpy(-distance, normal, x), normal, distance, feature_a,
                     feature_b);
}

// ---- faces --------------------------------------------------------------------------------------

// True if x is inside the triangle, seen along `along`.
static bool is_over(const mabd_vec3* corner, mabd_vec3 along, mabd_vec3 x) {
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 p = corner[k], edge = mabd_v3_sub(corner[(k + 1) % 3], p);
        const mabd_real side = mabd_v3_dot(along, mabd_v3_cross(edge, mabd_v3_sub(x, p)));
        if (!(side >= -(mabd_real)1e-12 * mabd_v3_dot(edge, edge))) return false;
    }
    return true;
}

static void add_face(const field_pair* pair, const mabd_vec3* corner, uint32_t name) {
    mabd_vec3 n, x[MABD_LOWEST_MAX];
    uint32_t ids[MABD_LOWEST_MAX];
    mabd_unit(mabd_v3_cross(mabd_v3_sub(corner[1], corner[0]), mabd_v3_sub(corner[2], corner[0])),
              mabd_v3(0, 0, 1), &n);
    const mabd_real away = mabd_v3_dot(n, mabd_v3_sub(pair->pose.position, corner[0]));
    if (away > pair->reach) return;
    const int count = mabd_core_lowest(&pair->core, mabd_m3_tmul(pair->pose.rotation, n), x, ids);
    for (int k = 0; k < count; k++) {
        const mabd_vec3 y = mabd_pose_point(&pair->pose, x[k]);
        const mabd_real height = mabd_v3_dot(n, mabd_v3_sub(y, corner[0]));
        if (!is_over(corner, height < 0 ? mabd_v3(0, 0, 1) : n, y)) continue;
        add(pair, mabd_v3_axpy(-height, n, y), n, height - pair->core.radius, ids[k], name);
    }
}

static void add_cell(const field_pair* pair, int32_t i, int32_t j) {
    const mabd_vec3 p = node(pair, i, j), q = node(pair, i + 1, j + 1);
    const mabd_vec3 lower[3] = {p, node(pair, i + 1, j), q},
                    upper[3] = {p, q, node(pair, i, j + 1)};
    add_face(pair, lower, name_of(i, j, 0));
    add_face(pair, upper, name_of(i, j, 1));
}

// ---- edges --------------------------------------------------------------------------------------

typedef struct field_edge {
    int32_t i, j, i_end, j_end; // nodes
    mabd_vec3 p, d;             // p + t d, frame of the field
    int sides;                  // triangles beside it: 1 at the border
    mabd_vec3 into[2];          // directions into them, at right angles to d
    uint32_t name;
} field_edge;

// True if m points away from the surface all around a node.
static bool is_free(const field_pair* pair, int32_t i, int32_t j, mabd_vec3 m) {
    static const int32_t around[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
    const mabd_vec3 x = node(pair, i, j);
    for (int k = 0; k < 6; k++) {
        const int32_t u = i + around[k][0], v = j + around[k][1];
        if (!has_node(pair, u, v)) continue;
        mabd_vec3 e;
        mabd_unit(mabd_v3_sub(node(pair, u, v), x), mabd_v3(1, 0, 0), &e);
        if (mabd_v3_dot(m, e) > (mabd_real)1e-6) return false;
    }
    return true;
}

// Add a contact at p + t d, m from there to the shape, if it is a minimum.
static void add_on_edge(const field_pair* pair, const field_edge* edge, mabd_real t, mabd_vec3 m,
                        mabd_real distance, uint32_t kind) {
    for (int k = 0; k < edge->sides; k++) {
        if (mabd_v3_dot(m, edge->into[k]) > (mabd_real)1e-6) return;
    }
    if (t <= 0 && !is_free(pair, edge->i, edge->j, m)) return;
    if (t >= 1 && !is_free(pair, edge->i_end, edge->j_end, m)) return;
    add(pair, mabd_segment_at(edge->p, edge->d, t), m, distance, 0x40u + kind, edge->name);
}

static void add_at(const field_pair* pair, const field_edge* edge, mabd_real t, uint32_t kind) {
    const mabd_vec3 x = mabd_pose_local(&pair->pose, mabd_segment_at(edge->p, edge->d, t));
    mabd_vec3 n;
    const mabd_real f = mabd_core_distance(&pair->core, x, &n) - pair->core.radius;
    const mabd_vec3 m = mabd_m3_mul(pair->pose.rotation, mabd_v3_scale(-1, n));
    add_on_edge(pair, edge, t, m, f, kind);
}

// Add the contacts of an edge that passes through a box or cylinder, along the least penetration of
// the whole edge.
static void add_pierced(const field_pair* pair, const field_edge* edge, mabd_vec3 p, mabd_vec3 d) {
    const mabd_hull a = mabd_hull_of_segment(p, d), b = mabd_hull_of_core(&pair->core);
    mabd_hull_contact contact;
    mabd_hull_depth(&a, &b, &contact);
    const mabd_real along = mabd_v3_dot(contact.normal, d), tt = mabd_v3_dot(d, d);
    const mabd_vec3 m = mabd_m3_mul(pair->pose.rotation, contact.normal);
    if (along * along > STEEP * STEEP * tt) {
        add_on_edge(pair, edge, along > 0 ? 1 : 0, m, contact.distance, 3);
        return;
    }
    // across the edge: both ends of the part under the shape, in front of its support plane
    const mabd_vec3 out = mabd_v3_scale(-1, contact.normal), level = mabd_hull_support(&b, out);
    const mabd_real foot = mabd_v3_dot(mabd_v3_sub(contact.on_a, p), d) / tt;
    mabd_real t[2];
    mabd_segment_clip(&pair->core, p, d, out, mabd_clamp(foot, 0, 1), &t[0], &t[1]);
    for (uint32_t k = 0; k < 2; k++) {
        const mabd_vec3 to_level = mabd_v3_sub(level, mabd_segment_at(p, d, t[k]));
        const mabd_real distance = mabd_v3_dot(contact.normal, to_level);
        add_on_edge(pair, edge, t[k], m, distance, 3 + k);
    }
}

// Add the contacts of the edge, as a segment in the frame of the shape.
static void add_edge(const field_pair* pair, const field_edge* edge) {
    const mabd_vec3 p = mabd_pose_local(&pair->pose, edge->p);
    const mabd_vec3 d = mabd_m3_tmul(pair->pose.rotation, edge->d);
    const mabd_real tt = mabd_v3_dot(d, d), near = mabd_clamp(-mabd_v3_dot(p, d) / tt, 0, 1);
    if (mabd_v3_norm(mabd_segment_at(p, d, near)) > pair->reach) return;
    const mabd_real t = mabd_segment_closest(&pair->core, p, d);
    mabd_real t0, t1;
    mabd_vec3 n, ignored;
    const mabd_real f = mabd_core_distance(&pair->core, mabd_segment_at(p, d, t), &n);
    if (!(f - pair->core.radius < pair->points->margin)) return;
    if (f <= 0 && pair->core.kind >= MABD_COLLIDER_BOX) {
        add_pierced(pair, edge, p, d);
        return;
    }
    mabd_segment_clip(&pair->core, p, d, n, t, &t0, &t1);
    const mabd_real f0 = mabd_core_distance(&pair->core, mabd_segment_at(p, d, t0), &ignored);
    const mabd_real f1 = mabd_core_distance(&pair->core, mabd_segment_at(p, d, t1), &ignored);
    const mabd_real slack = (mabd_real)1e-6 * pair->reach;
    const bool level = (mabd_real)fabs(f1 - f0) <= STEEP * (t1 - t0) * (mabd_real)sqrt(tt);
    if (!level || f < (mabd_real)fmin(f0, f1) - slack) add_at(pair, edge, t, 0);
    if (level) add_at(pair, edge, t0, 1);
    if (level && t1 > t0) add_at(pair, edge, t1, 2);
}

// Set the existing sides; false if the edge is flat or concave.
static bool set_sides(const field_pair* pair, field_edge* edge, const int32_t opposite[2][2]) {
    mabd_vec3 along;
    edge->sides = 0;
    mabd_unit(edge->d, mabd_v3(1, 0, 0), &along);
    for (int k = 0; k < 2; k++) {
        if (!has_node(pair, opposite[k][0], opposite[k][1])) continue;
        const mabd_vec3 w = mabd_v3_sub(node(pair, opposite[k][0], opposite[k][1]), edge->p);
        mabd_unit(mabd_v3_axpy(-mabd_v3_dot(w, along), along, w), mabd_v3(0, 0, -1),
                  &edge->into[edge->sides++]);
    }
    if (edge->sides < 2) return edge->sides == 1;
    // the sum of the two directions points down at a ridge
    return edge->into[0].z + edge->into[1].z < -(mabd_real)1e-7;
}

static void add_edges(const field_pair* pair, int32_t i, int32_t j) {
    // to (i+1, j), (i, j+1), (i+1, j+1); the nodes opposite to each
    static const int32_t step[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    static const int32_t opposite[3][2][2] = {
        {{1, 1}, {0, -1}}, {{1, 1}, {-1, 0}}, {{1, 0}, {0, 1}}};
    for (uint32_t k = 0; k < 3; k++) {
        field_edge edge = {.i = i, .j = j, .i_end = i + step[k][0], .j_end = j + step[k][1]};
        if (!has_node(pair, edge.i_end, edge.j_end)) continue;
        const int32_t sides[2][2] = {{i + opposite[k][0][0], j + opposite[k][0][1]},
                                     {i + opposite[k][1][0], j + opposite[k][1][1]}};
        edge.p = node(pair, i, j);
        edge.d = mabd_v3_sub(node(pair, edge.i_end, edge.j_end), edge.p);
        edge.name = name_of(i, j, 2 + k);
        if (set_sides(pair, &edge, sides)) add_edge(pair, &edge);
    }
}

// ---- cells --------------------------------------------------------------------------------------

// Find the cells [*first, *last] of `count` nodes that lie within `reach` of x, along one axis.
static bool find_cells(mabd_real x, mabd_real reach, mabd_real step, int32_t count, int32_t* first,
                       int32_t* last) {
    const mabd_real middle = (mabd_real)(count - 1) / 2, top = (mabd_real)(count - 2);
    const mabd_real low = (mabd_real)floor((x - reach) / step + middle);
    const mabd_real high = (mabd_real)floor((x + reach) / step + middle);
    if (!(high >= 0) || !(low <= top)) return false;
    *first = (int32_t)mabd_clamp(low, 0, top);
    *last = (int32_t)mabd_clamp(high, 0, top);
    return true;
}

void mabd_narrow_height_field(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                              const mabd_pose* pb, mabd_points* points) {
    field_pair pair = {.core = mabd_core_of(a), .frame = pb, .field = b->field, .points = points};
    pair.pose.position = mabd_pose_local(pb, pa->position);
    pair.pose.rotation = mabd_m3_tproduct(pb->rotation, pa->rotation);
    pair.reach =
        mabd_v3_norm(pair.core.half) + pair.core.radius + (mabd_real)fmax(0, points->margin);
    int32_t i0, i1, j0, j1;
    const mabd_vec3 c = pair.pose.position;
    const mabd_height_field* f = b->field;
    if (!find_cells(c.x, pair.reach, f->dx, f->columns, &i0, &i1)) return;
    if (!find_cells(c.y, pair.reach, f->dy, f->rows, &j0, &j1)) return;
    for (int32_t j = j0; j <= j1; j++) {
        for (int32_t i = i0; i <= i1; i++) add_cell(&pair, i, j);
    }
    for (int32_t j = j0; j <= j1 + 1; j++) {
        for (int32_t i = i0; i <= i1 + 1; i++) add_edges(&pair, i, j);
    }
}

// ---- bounds -------------------------------------------------------------------------------------

// Solid below: a shape that has sunk in by as much as the field is wide is still in the box.
void mabd_height_field_box(const mabd_height_field* field, mabd_vec3* middle, mabd_vec3* half) {
    const size_t nodes = (size_t)field->columns * (size_t)field->rows;
    const mabd_real x = (mabd_real)(field->columns - 1) * field->dx / 2,
                    y = (mabd_real)(field->rows - 1) * field->dy / 2;
    mabd_real low = field->heights[0], high = low;
    for (size_t i = 1; i < nodes; i++) {
        if (field->heights[i] < low) low = field->heights[i];
        if (field->heights[i] > high) high = field->heights[i];
    }
    low -= x > y ? x : y;
    *middle = mabd_v3(0, 0, (low + high) / 2);
    *half = mabd_v3(x, y, (high - low) / 2);
}
