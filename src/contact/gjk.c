// SPDX-License-Identifier: Apache-2.0
// Distance of two convex sets by the Gilbert-Johnson-Keerthi iteration. With M = A - B and a
// simplex of its points,
//
//   v = point of the simplex nearest to the origin, w = support point of M along -v
//   v . w / |v| <= distance <= |v|           stop when the two meet
//   else add w, keep the smallest face of the simplex that holds the new v
//
// The nearest point of a triangle is the foot of the origin if that is inside, else a point of its
// edges; that of a tetrahedron is the nearest one of its faces. A step that does not reduce |v| is
// round-off and ends the search with the better of the two points.
#include "contact/hull.h"

#define ITERATIONS_MAX 100

typedef struct vertex {
    mabd_vec3 w, a; // point of M, and the point of A in it
} vertex;

typedef struct simplex {
    int count;
    vertex at[4];
    mabd_real weight[4];
} simplex;

static mabd_vec3 nearest(const simplex* s) {
    mabd_vec3 v = mabd_v3(0, 0, 0);
    for (int i = 0; i < s->count; i++) v = mabd_v3_axpy(s->weight[i], s->at[i].w, v);
    return v;
}

static simplex point_of(vertex a) {
    simplex s = {.count = 1, .at = {a}, .weight = {1}};
    return s;
}

static simplex edge_of(vertex a, vertex b, mabd_real t) {
    simplex s = {.count = 2, .at = {a, b}, .weight = {1 - t, t}};
    return s;
}

static simplex on_edge(vertex a, vertex b) {
    mabd_vec3 d = mabd_v3_sub(b.w, a.w);
    mabd_real along = -mabd_v3_dot(a.w, d), length = mabd_v3_dot(d, d);
    if (!(along > 0)) return point_of(a);
    if (along >= length) return point_of(b);
    return edge_of(a, b, along / length);
}

static simplex nearer(simplex x, simplex y) {
    mabd_vec3 v = nearest(&x), u = nearest(&y);
    return mabd_v3_dot(u, u) < mabd_v3_dot(v, v) ? y : x;
}

// Return the nearest point inside the triangle, or on its edges.
static simplex on_triangle(vertex a, vertex b, vertex c) {
    mabd_vec3 ab = mabd_v3_sub(b.w, a.w), ac = mabd_v3_sub(c.w, a.w), n = mabd_v3_cross(ab, ac);
    mabd_real nn = mabd_v3_dot(n, n);
    // weights of the foot of the origin, times nn
    mabd_real wa = mabd_v3_dot(n, mabd_v3_cross(b.w, c.w));
    mabd_real wb = mabd_v3_dot(n, mabd_v3_cross(c.w, a.w));
    mabd_real wc = mabd_v3_dot(n, mabd_v3_cross(a.w, b.w));
    mabd_real sum = wa + wb + wc;
    if (nn > 0 && wa > 0 && wb > 0 && wc > 0 && sum > 0) {
        simplex s = {.count = 3, .at = {a, b, c}, .weight = {wa / sum, wb / sum, wc / sum}};
        return s;
    }
    return nearer(nearer(on_edge(a, b), on_edge(b, c)), on_edge(c, a));
}

// True if the origin and d lie on the same side of the plane a b c.
static bool is_inside(vertex a, vertex b, vertex c, vertex d) {
    mabd_vec3 n = mabd_v3_cross(mabd_v3_sub(b.w, a.w), mabd_v3_sub(c.w, a.w));
    mabd_real origin = -mabd_v3_dot(n, a.w), inner = mabd_v3_dot(n, mabd_v3_sub(d.w, a.w));
    return origin * inner > 0;
}

// Return all four vertices if the origin is inside, else the nearest of the four faces. All faces
// are tested: the side of a thin tetrahedron on which the origin lies may be round-off. The origin
// is never inside if the sets are known to be apart.
static simplex on_tetrahedron(const simplex* s, bool apart) {
    const vertex a = s->at[0], b = s->at[1], c = s->at[2], d = s->at[3];
    if (!apart && is_inside(a, b, c, d) && is_inside(a, b, d, c) && is_inside(a, c, d, b) &&
        is_inside(b, c, d, a)) {
        return *s;
    }
    return nearer(nearer(on_triangle(a, b, c), on_triangle(a, b, d)),
                  nearer(on_triangle(a, c, d), on_triangle(b, c, d)));
}

static simplex reduce(const simplex* s, bool apart) {
    if (s->count == 1) return *s;
    if (s->count == 2) return on_edge(s->at[0], s->at[1]);
    if (s->count == 3) return on_triangle(s->at[0], s->at[1], s->at[2]);
    return on_tetrahedron(s, apart);
}

static vertex support(const mabd_hull* a, const mabd_hull* b, mabd_vec3 d) {
    vertex v;
    v.a = mabd_hull_support(a, d);
    v.w = mabd_v3_sub(v.a, mabd_hull_support(b, mabd_v3_scale(-1, d)));
    return v;
}

static mabd_real size_of(const simplex* s) {
    mabd_real largest = 0;
    for (int i = 0; i < s->count; i++) {
        largest = (mabd_real)fmax(largest, mabd_v3_dot(s->at[i].w, s->at[i].w));
    }
    return (mabd_real)sqrt(largest);
}

bool mabd_hull_distance(const mabd_hull* a, const mabd_hull* b, bool apart,
                        mabd_hull_contact* contact) {
    simplex s = point_of(support(a, b, mabd_v3(1, 0, 0)));
    mabd_vec3 v = s.at[0].w;
    for (int i = 0; i < ITERATIONS_MAX; i++) {
        mabd_real vv = mabd_v3_dot(v, v), size = size_of(&s), touch = (mabd_real)1e-9 * size;
        if (!(vv > touch * touch)) return false;
        vertex w = support(a, b, mabd_v3_scale(-1, v));
        if (mabd_v3_dot(v, w.w) > 0) apart = true;       // v is a separating axis
        const mabd_real open = vv - mabd_v3_dot(v, w.w); // |v| times the gap between the bounds
        if (open <= (mabd_real)1e-11 * size * (mabd_real)sqrt(vv)) break;
        simplex next = s;
        next.at[next.count++] = w;
        next = reduce(&next, apart);
        if (next.count == 4) return false;
        mabd_vec3 u = nearest(&next);
        if (!(mabd_v3_dot(u, u) < vv)) break;
        s = next, v = u;
    }
    mabd_real length = mabd_unit(mabd_v3_scale(-1, v), mabd_v3(0, 0, 1), &contact->normal);
    contact->distance = length;
    contact->on_a = mabd_v3(0, 0, 0);
    for (int i = 0; i < s.count; i++) {
        contact->on_a = mabd_v3_axpy(s.weight[i], s.at[i].a, contact->on_a);
    }
    return true;
}
