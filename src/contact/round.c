// SPDX-License-Identifier: Apache-2.0
// Spheres and capsules against sphere, capsule, box and cylinder.
//
// In the frame of b, a is p(t) = p + t d with a radius around it (a sphere: d = 0). With the signed
// distance f and gradient n of the core of b, every t gives a contact that holds for the ball at
// p(t):
//
//   distance = f(p(t)) - r_a - r_b,    normal = -n,    on_a = p(t) - r_a n
//
// The t used: the ends of the part of the segment that lies beside the touching feature of b (two
// points where the axes are parallel, on a face, or along a cylinder), and the closest point t* if
// it is closer than both ends, as it is where the axes cross. When a pair turns out of parallel, t*
// appears between the ends as soon as it is 1e-6 r_a closer than they are, and the ends leave the
// margin. Where the segment itself enters a box or cylinder, the ball at one t does not determine
// the penetration of the whole shape: there n is the direction of least penetration of the two
// cores (epa.c), and both ends are measured along it. Features of a: 0 = t*, 1 = first end, 2 =
// second end.
#include "contact/hull.h"
#include "contact/line_segment.h"
#include "contact/pairs.h"

typedef struct round_pair {
    mabd_core a, b;
    const mabd_pose* pose; // of b
    mabd_vec3 p, d;        // segment of a in the frame of b
    mabd_points* points;
} round_pair;

// Return the normal where the cores of two capsules intersect: orthogonal to both.
static mabd_vec3 gradient_across(const round_pair* pair) {
    mabd_vec3 n;
    mabd_unit(mabd_v3_cross(mabd_v3(0, 0, 1), pair->d), mabd_v3(1, 0, 0), &n);
    return n;
}

// Compute the signed distance and gradient of the core of b at p(t).
static mabd_real evaluate(const round_pair* pair, mabd_real t, mabd_vec3* at, mabd_vec3* n) {
    *at = mabd_segment_at(pair->p, pair->d, t);
    mabd_real f = mabd_core_distance(&pair->b, *at, n);
    const bool line = pair->b.kind < MABD_COLLIDER_BOX;
    if (line && f <= (mabd_real)1e-12 * (pair->a.radius + pair->b.radius)) {
        *n = gradient_across(pair);
    }
    return f;
}

static void add_at(const round_pair* pair, mabd_real t, uint32_t feature) {
    mabd_vec3 at, n;
    mabd_real distance = evaluate(pair, t, &at, &n) - pair->a.radius - pair->b.radius;
    mabd_vec3 on_a = mabd_v3_axpy(-pair->a.radius, n, at);
    mabd_vec3 normal = mabd_m3_mul(pair->pose->rotation, mabd_v3_scale(-1, n));
    mabd_points_add(pair->points, mabd_pose_point(pair->pose, on_a), normal, distance, feature, 0);
}

// Add contacts of a segment inside the solid: its ends, in front of the plane that touches b with
// normal -n.
static void add_deep(const round_pair* pair) {
    const mabd_hull a = mabd_hull_of_segment(pair->p, pair->d), b = mabd_hull_of_core(&pair->b);
    mabd_hull_contact contact;
    mabd_hull_depth(&a, &b, &contact);

    const mabd_vec3 n = contact.normal, world = mabd_m3_mul(pair->pose->rotation, n);
    const mabd_vec3 level = mabd_hull_support(&b, mabd_v3_scale(-1, n));
    for (uint32_t k = 0; k < 2; k++) {
        const mabd_vec3 end = mabd_segment_at(pair->p, pair->d, k);
        const mabd_real distance = mabd_v3_dot(n, mabd_v3_sub(level, end)) - pair->a.radius;
        const mabd_vec3 on_a = mabd_pose_point(pair->pose, mabd_v3_axpy(pair->a.radius, n, end));
        mabd_points_add(pair->points, on_a, world, distance, 1 + k, 0);
    }
}

static void add_segment(const round_pair* pair) {
    mabd_vec3 at, n, ignored;
    mabd_real t = mabd_segment_closest(&pair->b, pair->p, pair->d), t0, t1;
    mabd_real closest = evaluate(pair, t, &at, &n);
    if (!(closest - pair->a.radius - pair->b.radius < pair->points->margin)) return;
    if (closest <= 0 && pair->b.kind >= MABD_COLLIDER_BOX) {
        add_deep(pair);
        return;
    }

    mabd_segment_clip(&pair->b, pair->p, pair->d, n, t, &t0, &t1);
    if (!((t1 - t0) * mabd_v3_norm(pair->d) > (mabd_real)1e-3 * pair->a.radius)) {
        add_at(pair, t, 0);
        return;
    }
    mabd_real f0 = evaluate(pair, t0, &at, &ignored), f1 = evaluate(pair, t1, &at, &ignored);
    mabd_real slack = (mabd_real)1e-6 * pair->a.radius;
    if (closest < (mabd_real)fmin(f0, f1) - slack) add_at(pair, t, 0);
    add_at(pair, t0, 1);
    add_at(pair, t1, 2);
}

void mabd_narrow_round(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points) {
    round_pair pair = {.a = mabd_core_of(a), .b = mabd_core_of(b), .pose = pb, .points = points};
    mabd_vec3 axis = mabd_m3_tmul(pb->rotation, pa->rotation.c3);
    mabd_vec3 center = mabd_pose_local(pb, pa->position);
    pair.d = mabd_v3_scale(2 * pair.a.half.z, axis);
    pair.p = mabd_v3_axpy(-pair.a.half.z, axis, center);
    if (pair.a.half.z > 0)
        add_segment(&pair);
    else
        add_at(&pair, 0, 0);
}
