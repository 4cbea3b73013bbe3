// SPDX-License-Identifier: Apache-2.0
// Two segments are nearest to each other at an end of one of them, or where the common
// perpendicular of their lines meets both: with u = b - a, v = d - c, w = a - c the points a + s u,
// c + t v with
//
//   s = ((u.v)(v.w) - (v.v)(u.w)) / det,  t = ((u.u)(v.w) - (u.v)(u.w)) / det,
//   det = u.u v.v - (u.v)^2.
#include "support/line_segments.h"

#include "support/scene_measures.h"

#include <math.h>

static double dot(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double point_segment_distance(const double* p, const double* a, const double* b) {
    double u[3], w[3], rest[3];
    for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], w[k] = p[k] - a[k];
    double length2 = dot(u, u);
    double t = length2 > 0 ? fmin(fmax(dot(u, w) / length2, 0), 1) : 0;
    for (int k = 0; k < 3; k++) rest[k] = w[k] - t * u[k];
    return vector_norm(rest);
}

double segment_distance(const double* a, const double* b, const double* c, const double* d) {
    double ends = fmin(fmin(point_segment_distance(a, c, d), point_segment_distance(b, c, d)),
                       fmin(point_segment_distance(c, a, b), point_segment_distance(d, a, b)));
    double u[3], v[3], w[3], rest[3];
    for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = d[k] - c[k], w[k] = a[k] - c[k];
    double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), det = uu * vv - uv * uv;
    if (!(det > 1e-12 * uu * vv)) return ends; // parallel, or a point
    double s = (uv * dot(v, w) - vv * dot(u, w)) / det, t = (uu * dot(v, w) - uv * dot(u, w)) / det;
    if (s < 0 || s > 1 || t < 0 || t > 1) return ends;
    for (int k = 0; k < 3; k++) rest[k] = w[k] + s * u[k] - t * v[k];
    return fmin(ends, vector_norm(rest));
}

void scene_segment(const mabd_scene* scene, int32_t body, double* from, double* to) {
    const mabd_scene_body* b = scene_body(scene, body);
    const mabd_geom* geom = scene_geom(scene, body);
    const bool long_one = geom->shape == MABD_SHAPE_CAPSULE || geom->shape == MABD_SHAPE_CYLINDER;
    double half[3] = {0, 0, long_one ? geom->size[1] / 2 : 0}, turned[3], arm[3], middle[3];
    vector_rotate(geom->rotation, half, turned);
    vector_rotate(b->rotation, turned, arm);
    vector_rotate(b->rotation, geom->position, middle);
    for (int k = 0; k < 3; k++) {
        from[k] = b->position[k] + middle[k] - arm[k];
        to[k] = b->position[k] + middle[k] + arm[k];
    }
}
