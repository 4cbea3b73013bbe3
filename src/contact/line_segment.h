// SPDX-License-Identifier: Apache-2.0
// A segment p(t) = p + t d, 0 <= t <= 1, against a core (core.h) in the frame of the core.
//
// The signed distance f of a convex set is convex along a line, so the closest point is the root of
// the non-decreasing function f'(t) = n(p(t)) . d. Closed forms:
//
//   segment     the two-segment problem: stationary point, and the four ends against the other
//   cylinder    side: f = |xy(t)| - R, smallest at t = -(xy . d_xy) / |d_xy|^2; it is the result if
//               p(t) lies beside the cylinder, between the planes of its caps
//
// Otherwise (edges, caps and rims) regula falsi and bisection on f' find the root. Convexity bounds
// the error: f(t) - min f <= |f'(t)| (width of the bracket).
#pragma once

#include "contact/core.h"

/// p + t d
MABD_FN mabd_vec3 mabd_segment_at(mabd_vec3 p, mabd_vec3 d, mabd_real t) {
    return mabd_v3_axpy(t, d, p);
}

/// Keep the part of [*t0, *t1] where |x + t d| <= half; empty: both become `inside`.
MABD_FN void mabd_segment_clip_slab(mabd_real x, mabd_real d, mabd_real half, mabd_real inside,
                                    mabd_real* t0, mabd_real* t1) {
    if (d == 0) return;
    mabd_real ta = (-half - x) / d, tb = (half - x) / d;
    *t0 = (mabd_real)fmax(*t0, fmin(ta, tb));
    *t1 = (mabd_real)fmin(*t1, fmax(ta, tb));
    if (!(*t0 <= *t1)) *t0 = *t1 = inside;
}

/// Keep the part of [*t0, *t1] within the infinite cylinder of `radius` about z.
MABD_FN void mabd_segment_clip_disc(mabd_vec3 p, mabd_vec3 d, mabd_real radius, mabd_real inside,
                                    mabd_real* t0, mabd_real* t1) {
    mabd_real a = d.x * d.x + d.y * d.y;
    if (!(a > 0)) return;
    mabd_real middle = -(p.x * d.x + p.y * d.y) / a;
    mabd_real x = p.x + middle * d.x, y = p.y + middle * d.y;
    mabd_real rest = (radius * radius - (x * x + y * y)) / a;
    mabd_real width = rest > 0 ? (mabd_real)sqrt(rest) : 0;
    *t0 = (mabd_real)fmax(*t0, middle - width);
    *t1 = (mabd_real)fmin(*t1, middle + width);
    if (!(*t0 <= *t1)) *t0 = *t1 = inside;
}

/// Return t of the point of the segment closest to the segment |z| <= half.
MABD_FN mabd_real mabd_segment_to_segment(mabd_real half, mabd_vec3 p, mabd_vec3 d) {
    // the line's closest point to the z axis, or to the end of the segment beside which it is
    mabd_real a = d.x * d.x + d.y * d.y, dd = mabd_v3_dot(d, d);
    if (!(dd > 0)) return 0;
    mabd_real best = 0, smallest = 0;
    for (int k = 0; k < 5; k++) {
        mabd_real t = k & 1;
        if (k == 2) t = a > 0 ? -(p.x * d.x + p.y * d.y) / a : 0;
        if (k > 2) {
            mabd_vec3 to_end = mabd_v3(-p.x, -p.y, (k == 3 ? half : -half) - p.z);
            t = mabd_v3_dot(to_end, d) / dd;
        }
        t = mabd_clamp(t, 0, 1);
        mabd_vec3 n;
        mabd_real f = mabd_segment_distance(half, mabd_segment_at(p, d, t), &n);
        if (k == 0 || f < smallest) best = t, smallest = f;
    }
    return best;
}

/// f'(t)
MABD_FN mabd_real mabd_segment_slope(const mabd_core* core, mabd_vec3 p, mabd_vec3 d, mabd_real t) {
    mabd_vec3 n;
    mabd_core_distance(core, mabd_segment_at(p, d, t), &n);
    return mabd_v3_dot(n, d);
}

/// Return the root of f' in [0, 1], or the end nearest to it.
MABD_FN mabd_real mabd_segment_root(const mabd_core* core, mabd_vec3 p, mabd_vec3 d) {
    mabd_real low = 0, high = 1;
    mabd_real slope_low = mabd_segment_slope(core, p, d, 0);
    mabd_real slope_high = mabd_segment_slope(core, p, d, 1);
    if (slope_low >= 0) return 0;
    if (slope_high <= 0) return 1;
    const mabd_real enough = (mabd_real)1e-15 * mabd_v3_norm(d);
    mabd_real t = 0;
    for (int i = 0; i < 80; i++) {
        mabd_real secant = low - slope_low * (high - low) / (slope_high - slope_low);
        t = i % 3 < 2 ? mabd_clamp(secant, low, high) : (low + high) / 2;
        mabd_real slope = mabd_segment_slope(core, p, d, t);
        if ((mabd_real)fabs(slope) * (high - low) <= enough) break;
        if (slope < 0)
            low = t, slope_low = slope;
        else
            high = t, slope_high = slope;
    }
    return t;
}

/// Return t of the point of the segment closest to (or deepest in) a core.
MABD_FN mabd_real mabd_segment_closest(const mabd_core* core, mabd_vec3 p, mabd_vec3 d) {
    if (core->kind == MABD_COLLIDER_CYLINDER) {
        mabd_real a = d.x * d.x + d.y * d.y;
        mabd_real t = a > 0 ? mabd_clamp(-(p.x * d.x + p.y * d.y) / a, 0, 1) : 0;
        mabd_vec3 at = mabd_segment_at(p, d, t);
        mabd_real u2 = at.x * at.x + at.y * at.y, r = core->half.x;
        if (a > 0 && u2 > r * r && (mabd_real)fabs(at.z) < core->half.z) return t;
    } else if (core->kind != MABD_COLLIDER_BOX) {
        return mabd_segment_to_segment(core->half.z, p, d);
    }
    return mabd_segment_root(core, p, d);
}

/// Keep the part of the segment beside the feature of the core with outward normal n: a face, the
/// side or a cap of a cylinder, a segment. If it is empty, both ends become `inside`.
MABD_FN void mabd_segment_clip(const mabd_core* core, mabd_vec3 p, mabd_vec3 d, mabd_vec3 n,
                               mabd_real inside, mabd_real* t0, mabd_real* t1) {
    mabd_real x = (mabd_real)fabs(n.x), y = (mabd_real)fabs(n.y), z = (mabd_real)fabs(n.z);
    const mabd_vec3 h = core->half;
    *t0 = 0, *t1 = 1;
    if (core->kind == MABD_COLLIDER_BOX) {
        if (x < y || x < z) mabd_segment_clip_slab(p.x, d.x, h.x, inside, t0, t1);
        if (y <= x || y < z) mabd_segment_clip_slab(p.y, d.y, h.y, inside, t0, t1);
        if (z <= x || z <= y) mabd_segment_clip_slab(p.z, d.z, h.z, inside, t0, t1);
    } else if (core->kind == MABD_COLLIDER_CYLINDER && z * z > x * x + y * y) {
        mabd_segment_clip_disc(p, d, h.x, inside, t0, t1);
    } else {
        mabd_segment_clip_slab(p.z, d.z, h.z, inside, t0, t1);
    }
}
