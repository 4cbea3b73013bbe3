// SPDX-License-Identifier: Apache-2.0
// Triangle fill by edge functions in 1/256 sample, with the top-left rule: triangles that share
// an edge leave no gap and cover no sample twice. All interpolated values are linear on the screen:
// the key, and the normal times the key (perspective-correct; only its direction is kept).
// Triangles that leave the guard band (one picture around the picture) or cross the near plane
// are clipped first, so the products of the edge functions stay far inside 64 bits.

#include "render/raster.h"

#define PLANES      5
#define POLYGON_MAX (3 + PLANES)

// Distance to plane k (near, left, right, top, bottom of the guard band), negative = outside.
static mabd_real plane_distance(const mabd_view* view, mabd_vec3 p, int k) {
    mabd_real w = view->parallel ? 1 : p.z, x = view->focal * p.x, y = view->focal * p.y;
    switch (k) {
    case 0:
        return p.z - view->near;
    case 1:
        return x + 3 * view->cx * w;
    case 2:
        return 3 * view->cx * w - x;
    case 3:
        return y + 3 * view->cy * w;
    default:
        return 3 * view->cy * w - y;
    }
}

void mabd_raster_vertex_set(const mabd_view* view, mabd_raster_vertex* vertex) {
    vertex->clip = 0;
    for (int k = 0; k < PLANES; k++) {
        if (!(plane_distance(view, vertex->point, k) >= 0)) vertex->clip |= 1u << k;
    }
    if (!vertex->clip) vertex->screen = mabd_view_project(view, vertex->point);
}

// ---- normals ----------------------------------------------------------------------------------

static float wrap(float a, float b) {
    return (1 - fabsf(b)) * (a >= 0 ? 1.0f : -1.0f);
}

uint32_t mabd_normal_pack(float x, float y, float z) {
    float s = 1 / (fabsf(x) + fabsf(y) + fabsf(z));
    float u = x * s, v = y * s;
    if (z < 0) {
        float folded = wrap(u, v);
        v = wrap(v, u);
        u = folded;
    }
    uint32_t a = (uint32_t)((u * 0.5f + 0.5f) * 65535 + 0.5f);
    uint32_t b = (uint32_t)((v * 0.5f + 0.5f) * 65535 + 0.5f);
    return a << 16 | (b & 0xffff);
}

void mabd_normal_unpack(uint32_t packed, float* n) {
    float u = (float)(packed >> 16) / 32767.5f - 1, v = (float)(packed & 0xffff) / 32767.5f - 1;
    float z = 1 - fabsf(u) - fabsf(v);
    if (z < 0) {
        float folded = wrap(u, v);
        v = wrap(v, u);
        u = folded;
    }
    float s = 1 / sqrtf(u * u + v * v + z * z);
    n[0] = u * s, n[1] = v * s, n[2] = z * s;
}

// ---- fill -------------------------------------------------------------------------------------

typedef struct fill_plane {
    double base, dx, dy; // value at the first sample, per sample to the right and down
} fill_plane;

typedef struct fill_setup {
    int64_t x[3], y[3]; // [1/256 sample]
    int32_t x0, x1, y0, y1;
    int64_t edge[3], step_x[3], step_y[3];
    fill_plane key, normal[3];
} fill_setup;

static int64_t min3(const int64_t* v) {
    int64_t m = v[0] < v[1] ? v[0] : v[1];
    return m < v[2] ? m : v[2];
}

static int64_t max3(const int64_t* v) {
    int64_t m = v[0] > v[1] ? v[0] : v[1];
    return m > v[2] ? m : v[2];
}

// First and last sample whose centre (at 128/256) is within [low, high].
static bool sample_range(int64_t low, int64_t high, int32_t size, int32_t* first, int32_t* last) {
    int64_t a = (low + 127) >> 8, b = (high - 128) >> 8;
    *first = (int32_t)(a < 0 ? 0 : a);
    *last = (int32_t)(b >= size ? size - 1 : b);
    return *first <= *last;
}

// Value v over the triangle, from its values at the three corners.
static fill_plane plane_of(const fill_setup* s, double area, double v0, double v1, double v2) {
    double x1 = (double)(s->x[1] - s->x[0]), y1 = (double)(s->y[1] - s->y[0]);
    double x2 = (double)(s->x[2] - s->x[0]), y2 = (double)(s->y[2] - s->y[0]);
    double dx = ((v1 - v0) * y2 - (v2 - v0) * y1) / area;
    double dy = ((v2 - v0) * x1 - (v1 - v0) * x2) / area;
    double sx = (double)(256 * (int64_t)s->x0 + 128 - s->x[0]);
    double sy = (double)(256 * (int64_t)s->y0 + 128 - s->y[0]);
    fill_plane plane = {v0 + dx * sx + dy * sy, 256 * dx, 256 * dy};
    return plane;
}

static void set_edges(fill_setup* s) {
    int64_t px = 256 * (int64_t)s->x0 + 128, py = 256 * (int64_t)s->y0 + 128;
    for (int k = 0; k < 3; k++) {
        int j = (k + 1) % 3;
        int64_t ex = s->x[j] - s->x[k], ey = s->y[j] - s->y[k];
        // inside is to the right of each edge (y down); left edges go up, top edges go right
        bool top_left = ey < 0 || (ey == 0 && ex > 0);
        s->edge[k] = ex * (py - s->y[k]) - ey * (px - s->x[k]) - (top_left ? 0 : 1);
        s->step_x[k] = -256 * ey;
        s->step_y[k] = 256 * ex;
    }
}

static void fill_rows(const fill_setup* s, const mabd_target* target, int32_t item) {
    for (int32_t y = s->y0; y <= s->y1; y++) {
        double row = y - s->y0;
        int64_t e0 = s->edge[0] + (y - s->y0) * s->step_y[0];
        int64_t e1 = s->edge[1] + (y - s->y0) * s->step_y[1];
        int64_t e2 = s->edge[2] + (y - s->y0) * s->step_y[2];
        size_t base = (size_t)y * (size_t)target->width;
        for (int32_t x = s->x0; x <= s->x1; x++) {
            if ((e0 | e1 | e2) >= 0) {
                double column = x - s->x0;
                float key = (float)(s->key.base + s->key.dx * column + s->key.dy * row);
                if (key > target->key[base + (size_t)x]) {
                    target->key[base + (size_t)x] = key;
                    if (target->normal) {
                        float n[3];
                        for (int k = 0; k < 3; k++) {
                            const fill_plane* p = &s->normal[k];
                            n[k] = (float)(p->base + p->dx * column + p->dy * row);
                        }
                        target->normal[base + (size_t)x] = mabd_normal_pack(n[0], n[1], n[2]);
                        target->item[base + (size_t)x] = item;
                    }
                }
            }
            e0 += s->step_x[0], e1 += s->step_x[1], e2 += s->step_x[2];
        }
    }
}

static void fill(const mabd_target* target, int32_t item, const mabd_raster_vertex* a,
                 const mabd_raster_vertex* b, const mabd_raster_vertex* c) {
    // counter-clockwise with y up is clockwise here: reverse the order
    const mabd_raster_vertex* v[3] = {a, c, b};
    fill_setup s;
    for (int k = 0; k < 3; k++) {
        s.x[k] = llrint(v[k]->screen.x * 256);
        s.y[k] = llrint(v[k]->screen.y * 256);
    }
    int64_t area = (s.x[1] - s.x[0]) * (s.y[2] - s.y[0]) - (s.x[2] - s.x[0]) * (s.y[1] - s.y[0]);
    if (area <= 0) return;
    if (!sample_range(min3(s.x), max3(s.x), target->width, &s.x0, &s.x1)) return;
    if (!sample_range(min3(s.y), max3(s.y), target->height, &s.y0, &s.y1)) return;

    set_edges(&s);
    double k0 = v[0]->screen.z, k1 = v[1]->screen.z, k2 = v[2]->screen.z;
    s.key = plane_of(&s, (double)area, k0, k1, k2);
    if (target->normal) {
        const mabd_vec3 *n0 = &v[0]->normal, *n1 = &v[1]->normal, *n2 = &v[2]->normal;
        s.normal[0] = plane_of(&s, (double)area, k0 * n0->x, k1 * n1->x, k2 * n2->x);
        s.normal[1] = plane_of(&s, (double)area, k0 * n0->y, k1 * n1->y, k2 * n2->y);
        s.normal[2] = plane_of(&s, (double)area, k0 * n0->z, k1 * n1->z, k2 * n2->z);
    }
    fill_rows(&s, target, item);
}

// ---- clipping ---------------------------------------------------------------------------------

static mabd_raster_vertex between(const mabd_raster_vertex* a, const mabd_raster_vertex* b,
                                  mabd_real t) {
    mabd_raster_vertex v = *a;
    v.point = mabd_v3_axpy(t, mabd_v3_sub(b->point, a->point), a->point);
    v.normal = mabd_v3_axpy(t, mabd_v3_sub(b->normal, a->normal), a->normal);
    return v;
}

// Clip a polygon to the inside of plane k (Sutherland-Hodgman); returns its number of corners.
static int clip_plane(const mabd_view* view, int k, int n, const mabd_raster_vertex* in,
                      mabd_raster_vertex* out) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const mabd_raster_vertex *a = &in[i], *b = &in[(i + 1) % n];
        mabd_real da = plane_distance(view, a->point, k), db = plane_distance(view, b->point, k);
        if (da >= 0) out[count++] = *a;
        if ((da >= 0) != (db >= 0)) out[count++] = between(a, b, da / (da - db));
    }
    return count;
}

void mabd_raster_triangle(const mabd_view* view, const mabd_target* target, int32_t item,
                          const mabd_raster_vertex* a, const mabd_raster_vertex* b,
                          const mabd_raster_vertex* c) {
    if (a->clip & b->clip & c->clip) return;
    unsigned clip = a->clip | b->clip | c->clip;
    if (!clip) {
        fill(target, item, a, b, c);
        return;
    }
    mabd_raster_vertex polygon[2][POLYGON_MAX] = {{*a, *b, *c}};
    int n = 3, now = 0;
    for (int k = 0; k < PLANES && n >= 3; k++) {
        if (!(clip >> k & 1)) continue;
        n = clip_plane(view, k, n, polygon[now], polygon[1 - now]);
        now = 1 - now;
    }
    mabd_raster_vertex* p = polygon[now];
    for (int i = 0; i < n; i++) p[i].screen = mabd_view_project(view, p[i].point);
    for (int i = 1; i + 1 < n; i++) fill(target, item, &p[0], &p[i], &p[i + 1]);
}
