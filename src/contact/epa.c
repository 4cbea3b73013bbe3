// SPDX-License-Identifier: Apache-2.0
// Penetration depth: the face of the difference set M nearest to the origin, by the expanding
// polytope algorithm. A polytope inside M starts as a large tetrahedron and grows where its
// boundary is nearest to the origin:
//
//   face with the smallest offset n . x (negative where the origin is outside)
//   w = support point of M along n;  n . w - offset <= tolerance: n is the direction
//   else faces that see w are removed, and their outline is joined to w
//
// Any n gives a separation s(n) <= signed distance. The result is s(n) of the last n, so its error
// is the distance of the last support point beyond the face. M has at most one point of contact
// between two curved parts, near which the error falls with the square of the face's size.
#include "contact/hull.h"

#include <string.h>

#define VERTICES_MAX 128
#define FACES_MAX    (2 * VERTICES_MAX)
#define EDGES_MAX    VERTICES_MAX

typedef struct face {
    int16_t i, j, k; // counter-clockwise from outside
    mabd_vec3 n;
    mabd_real offset; // n . x on the face
} face;

typedef struct polytope {
    const mabd_hull *a, *b;
    int vertex_count, face_count;
    mabd_real size; // largest extent of the first tetrahedron
    mabd_vec3 w[VERTICES_MAX], on_a[VERTICES_MAX];
    face faces[FACES_MAX];
} polytope;

static int add_vertex(polytope* p, mabd_vec3 d) {
    const int k = p->vertex_count++;
    p->on_a[k] = mabd_hull_support(p->a, d);
    p->w[k] = mabd_v3_sub(p->on_a[k], mabd_hull_support(p->b, mabd_v3_scale(-1, d)));
    return k;
}

// Add the vertex farther along d or -d from vertex 0.
static int add_farther(polytope* p, mabd_vec3 d) {
    add_vertex(p, d);
    const int k = add_vertex(p, mabd_v3_scale(-1, d));
    mabd_real up = mabd_v3_dot(d, mabd_v3_sub(p->w[k - 1], p->w[0]));
    mabd_real down = mabd_v3_dot(d, mabd_v3_sub(p->w[0], p->w[k]));
    if (down > up) p->w[k - 1] = p->w[k], p->on_a[k - 1] = p->on_a[k];
    p->vertex_count--;
    return k - 1;
}

// Add a face. A face without area is never the nearest and sees no vertex; it only keeps the
// surface closed.
static void add_face(polytope* p, int i, int j, int k) {
    face* f = &p->faces[p->face_count++];
    f->i = (int16_t)i, f->j = (int16_t)j, f->k = (int16_t)k;
    mabd_vec3 d = mabd_v3_sub(p->w[j], p->w[i]), e = mabd_v3_sub(p->w[k], p->w[i]);
    mabd_real area = mabd_unit(mabd_v3_cross(d, e), mabd_v3(0, 0, 0), &f->n);
    const bool flat = !(area > (mabd_real)1e-14 * mabd_v3_norm(d) * mabd_v3_norm(e));
    if (flat) f->n = mabd_v3(0, 0, 0);
    f->offset = flat ? (mabd_real)INFINITY : mabd_v3_dot(f->n, p->w[i]);
}

static void start(polytope* p, mabd_vec3 first) {
    mabd_vec3 d, n;
    p->vertex_count = p->face_count = 0;
    add_vertex(p, first);
    add_vertex(p, mabd_v3_scale(-1, first));
    mabd_real length = mabd_unit(mabd_v3_sub(p->w[1], p->w[0]), mabd_v3(1, 0, 0), &d);
    add_farther(p, mabd_across(d));
    mabd_vec3 e = mabd_v3_sub(p->w[2], p->w[0]);
    mabd_real width = mabd_unit(mabd_v3_cross(d, e), mabd_across(d), &n);
    add_farther(p, n);
    p->size = (mabd_real)fmax(length, width);
    const bool inward = mabd_v3_dot(n, mabd_v3_sub(p->w[3], p->w[0])) > 0;
    const int j = inward ? 2 : 1, k = inward ? 1 : 2;
    add_face(p, 0, j, k);
    add_face(p, 0, 3, j);
    add_face(p, j, 3, k);
    add_face(p, k, 3, 0);
}

static int find_nearest(const polytope* p) {
    int best = 0;
    for (int i = 1; i < p->face_count; i++) {
        if (p->faces[i].offset < p->faces[best].offset) best = i;
    }
    return best;
}

typedef struct outline {
    int count;
    int16_t from[EDGES_MAX], to[EDGES_MAX];
} outline;

// Add an edge of the outline; an edge added from both sides is inside the hole. False if there are
// too many.
static bool add_edge(outline* o, int16_t from, int16_t to) {
    for (int i = 0; i < o->count; i++) {
        if (o->from[i] != to || o->to[i] != from) continue;
        o->count--;
        o->from[i] = o->from[o->count], o->to[i] = o->to[o->count];
        return true;
    }
    if (o->count == EDGES_MAX) return false;
    o->from[o->count] = from, o->to[o->count++] = to;
    return true;
}

// Replace the faces that see vertex k, and always the nearest face. False if the buffers are full.
static bool expand(polytope* p, int nearest, int k) {
    outline o = {.count = 0};
    int kept = 0;
    const mabd_real tiny = (mabd_real)1e-14 * p->size;
    for (int i = 0; i < p->face_count; i++) {
        const face f = p->faces[i];
        const bool sees = i == nearest || mabd_v3_dot(f.n, p->w[k]) - f.offset > tiny;
        if (!sees) {
            p->faces[kept++] = f;
        } else if (!add_edge(&o, f.i, f.j) || !add_edge(&o, f.j, f.k) || !add_edge(&o, f.k, f.i)) {
            return false;
        }
    }
    p->face_count = kept;
    if (o.count < 3 || kept + o.count > FACES_MAX) return false;
    for (int i = 0; i < o.count; i++) add_face(p, o.from[i], o.to[i], k);
    return true;
}

// Return the point of A over the foot of the origin on a face; weights are clamped to the face.
static mabd_vec3 witness(const polytope* p, const face* f) {
    const mabd_vec3 x = p->w[f->i], y = p->w[f->j], z = p->w[f->k];
    const mabd_vec3 foot = mabd_v3_scale(f->offset, f->n);
    mabd_vec3 dx = mabd_v3_sub(x, foot), dy = mabd_v3_sub(y, foot), dz = mabd_v3_sub(z, foot);
    mabd_real u = (mabd_real)fmax(0, mabd_v3_dot(f->n, mabd_v3_cross(dy, dz)));
    mabd_real v = (mabd_real)fmax(0, mabd_v3_dot(f->n, mabd_v3_cross(dz, dx)));
    mabd_real w = (mabd_real)fmax(0, mabd_v3_dot(f->n, mabd_v3_cross(dx, dy)));
    mabd_real sum = u + v + w;
    if (!(sum > 0)) return p->on_a[f->i];
    mabd_vec3 on_a = mabd_v3_scale(u / sum, p->on_a[f->i]);
    on_a = mabd_v3_axpy(v / sum, p->on_a[f->j], on_a);
    return mabd_v3_axpy(w / sum, p->on_a[f->k], on_a);
}

// Grow a polytope until its nearest face is a face of M; true if it converged. best, reach: the
// face whose support plane is nearest to the origin, and that plane's distance.
static bool grow(polytope* p, face* best, mabd_real* reach) {
    *best = p->faces[find_nearest(p)];
    *reach = (mabd_real)INFINITY;
    while (p->vertex_count < VERTICES_MAX) {
        const int nearest = find_nearest(p);
        const face f = p->faces[nearest];
        if (!(f.offset < (mabd_real)INFINITY)) break;
        const int k = add_vertex(p, f.n);
        const mabd_real support = mabd_v3_dot(f.n, p->w[k]);
        if (support < *reach) *best = f, *reach = support;
        if (support - f.offset <= (mabd_real)1e-10 * p->size) return true;
        if (!expand(p, nearest, k)) break;
    }
    return *reach - best->offset <= (mabd_real)1e-9 * p->size;
}

// Faces that round-off bends inward can end the growth early: then another start with other faces
// is tried.
void mabd_hull_depth(const mabd_hull* a, const mabd_hull* b, mabd_hull_contact* contact) {
    const mabd_vec3 first[3] = {mabd_v3(1, 0, 0),
                                mabd_v3((mabd_real)0.48, (mabd_real)0.6, (mabd_real)0.64),
                                mabd_v3((mabd_real)-0.6, (mabd_real)0.64, (mabd_real)0.48)};
    polytope p;
    p.a = a, p.b = b;
    contact->normal = mabd_v3(0, 0, 1);
    contact->on_a = mabd_hull_support(a, contact->normal);
    contact->distance = mabd_hull_separation(a, b, contact->normal);
    for (int k = 0; k < 3; k++) {
        face best;
        mabd_real reach;
        start(&p, first[k]);
        const bool done = grow(&p, &best, &reach);
        if (-reach > contact->distance) {
            contact->normal = best.n;
            contact->distance = -reach;
            contact->on_a = witness(&p, &best);
        }
        if (done) break;
    }
}
