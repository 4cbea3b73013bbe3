// SPDX-License-Identifier: Apache-2.0
// Convex shapes against a bowl: the part z <= 0 of the shell Ri <= |x| <= Ro, in its own frame.
//
// The bowl is not convex, so a pair has several contacts, found from both sides:
//
//   1. points of the shape (centre of a sphere, ends of a capsule, corners of a box, on either rim
//      of a cylinder the point farthest from the bowl's centre and those a quarter turn from it),
//      each with the signed distance of the shell. Inside the bowl these are exact: the farthest
//      point of a convex set from the centre is one of them, and distance = Ri - |x|.
//   2. points of the inner and the outer rim, circles in z = 0, with the signed distance of the
//      shape: local minima over the circle, where the normal lies between those of the two surfaces
//      that meet
//   3. the outer surface: the ball of radius Ro against the shape, one point
//
// Signed distance of the half shell at x: below z = 0 radial (inside the solid the nearest of inner
// surface, outer surface and top); above it the distance to the top ring.
#include "contact/pairs.h"

#define RIM_SAMPLES 24

typedef struct bowl_pair {
    mabd_core core;
    mabd_pose pose;         // of a in the frame of b
    const mabd_pose* frame; // of b
    mabd_real inner, outer; // radii
    mabd_points* points;
} bowl_pair;

// Compute the signed distance of the half shell and its gradient.
static mabd_real shell_distance(const bowl_pair* pair, mabd_vec3 x, mabd_vec3* n) {
    mabd_vec3 out;
    if (x.z > 0) {
        const mabd_real rho = mabd_unit(mabd_v3(x.x, x.y, 0), mabd_v3(1, 0, 0), &out);
        const mabd_vec3 ring = mabd_v3_scale(mabd_clamp(rho, pair->inner, pair->outer), out);
        return mabd_unit(mabd_v3_sub(x, ring), mabd_v3(0, 0, 1), n);
    }
    const mabd_real r = mabd_unit(x, mabd_v3(0, 0, -1), &out);
    const mabd_real in = pair->inner - r, past = r - pair->outer;
    const bool top = in <= 0 && past <= 0 && x.z > in && x.z > past;
    *n = top ? mabd_v3(0, 0, 1) : in >= past ? mabd_v3_scale(-1, out) : out;
    return top ? x.z : in >= past ? in : past;
}

// Add a contact in the frame of the bowl; n: from the bowl to the shape.
static void add(const bowl_pair* pair, mabd_vec3 on_a, mabd_vec3 n, mabd_real distance, uint32_t fa,
                uint32_t fb) {
    const mabd_vec3 normal = mabd_m3_mul(pair->frame->rotation, mabd_v3_scale(-1, n));
    const mabd_vec3 x = mabd_pose_point(pair->frame, on_a);
    const mabd_vec3 on_b = mabd_v3_axpy(distance, normal, x);
    if (mabd_points_has(pair->points, on_b, normal, pair->inner)) return;
    mabd_points_keep(pair->points, x, normal, distance, fa, fb);
}

// Add the contact of the ball with the core's radius about x, a point of the core in the shape's
// frame.
static void add_point(const bowl_pair* pair, mabd_vec3 x, uint32_t feature) {
    mabd_vec3 n;
    const mabd_vec3 y = mabd_pose_point(&pair->pose, x);
    const mabd_real f = shell_distance(pair, y, &n);
    add(pair, mabd_v3_axpy(-pair->core.radius, n, y), n, f - pair->core.radius, feature, 0);
}

static void add_rim_points(const bowl_pair* pair, bool up) {
    const mabd_real r = pair->core.half.x, h = up ? pair->core.half.z : -pair->core.half.z;
    const mabd_vec3 center = mabd_pose_local(&pair->pose, mabd_v3(0, 0, 0));
    mabd_vec3 e;
    mabd_unit(mabd_v3(-center.x, -center.y, 0), mabd_v3(1, 0, 0), &e);
    const mabd_vec3 around[4] = {e, mabd_v3(-e.y, e.x, 0), mabd_v3(-e.x, -e.y, 0),
                                 mabd_v3(e.y, -e.x, 0)};
    for (uint32_t k = 0; k < 4; k++) {
        add_point(pair, mabd_v3(r * around[k].x, r * around[k].y, h), (up ? 8u : 0u) + k);
    }
}

static void add_points(const bowl_pair* pair) {
    const mabd_vec3 h = pair->core.half;
    switch (pair->core.kind) {
    case MABD_COLLIDER_SPHERE:
        add_point(pair, mabd_v3(0, 0, 0), 0);
        break;
    case MABD_COLLIDER_CAPSULE:
        add_point(pair, mabd_v3(0, 0, -h.z), 1);
        if (h.z > 0) add_point(pair, mabd_v3(0, 0, h.z), 2);
        break;
    case MABD_COLLIDER_BOX:
        for (uint32_t k = 0; k < 8; k++) {
            add_point(pair, mabd_v3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z), k);
        }
        break;
    default:
        add_rim_points(pair, false);
        add_rim_points(pair, true);
        break;
    }
}

// ---- rims ---------------------------------------------------------------------------------------

static mabd_vec3 rim_at(mabd_real radius, mabd_real angle) {
    return mabd_v3(radius * (mabd_real)cos(angle), radius * (mabd_real)sin(angle), 0);
}

// Compute the signed distance of the core at a point of the bowl, and its gradient in the bowl's
// frame.
static mabd_real distance_at(const bowl_pair* pair, mabd_vec3 x, mabd_vec3* n) {
    mabd_vec3 local;
    const mabd_real f = mabd_core_distance(&pair->core, mabd_pose_local(&pair->pose, x), &local);
    *n = mabd_m3_mul(pair->pose.rotation, local);
    return f;
}

// Find the smallest distance between two angles by ternary search.
static mabd_real refine(const bowl_pair* pair, mabd_real radius, mabd_real low, mabd_real high) {
    mabd_vec3 n;
    for (int i = 0; i < 60; i++) {
        const mabd_real third = (high - low) / 3;
        const mabd_real f = distance_at(pair, rim_at(radius, low + third), &n);
        const mabd_real g = distance_at(pair, rim_at(radius, high - third), &n);
        if (f <= g)
            high -= third;
        else
            low += third;
    }
    return (low + high) / 2;
}

// Add a point of a rim if the normal of the shape there lies between the top and the adjacent
// surface.
static void add_rim(const bowl_pair* pair, mabd_real radius, mabd_real angle, uint32_t feature) {
    const mabd_vec3 x = rim_at(radius, angle);
    const mabd_real side = radius < pair->outer ? -1 : 1, slack = (mabd_real)1e-6;
    mabd_vec3 n;
    const mabd_real f = distance_at(pair, x, &n);
    const mabd_real outward = -side * (n.x * x.x + n.y * x.y) / radius;
    if (!(outward >= -slack) || !(-n.z >= -slack)) return;
    add(pair, mabd_v3_axpy(-(f - pair->core.radius), n, x), mabd_v3_scale(-1, n),
        f - pair->core.radius, 0x20u, feature);
}

// Add local minima, and both ends of a stretch of equal values, as under a face that lies on the
// rim.
static void add_circle(const bowl_pair* pair, mabd_real radius, uint32_t first) {
    mabd_real f[RIM_SAMPLES];
    const mabd_real step = 2 * MABD_PI / RIM_SAMPLES, equal = (mabd_real)1e-9 * radius;
    mabd_vec3 n;
    for (int i = 0; i < RIM_SAMPLES; i++) {
        f[i] = distance_at(pair, rim_at(radius, step * (mabd_real)i), &n);
    }
    const mabd_real far = pair->points->margin + pair->core.radius + step * radius;
    for (int i = 0; i < RIM_SAMPLES; i++) {
        const mabd_real before = f[(i + RIM_SAMPLES - 1) % RIM_SAMPLES] - f[i];
        const mabd_real after = f[(i + 1) % RIM_SAMPLES] - f[i], angle = step * (mabd_real)i;
        if (!(f[i] < far) || before < -equal || after < -equal) continue;
        const bool level_before = before <= equal, level_after = after <= equal;
        if (level_before && level_after && i % (RIM_SAMPLES / 4) != 0) continue;
        const bool flat = level_before || level_after;
        add_rim(pair, radius, flat ? angle : refine(pair, radius, angle - step, angle + step),
                first + (uint32_t)i);
    }
}

// Add the contact with the ball of the outer surface, for a shape outside it.
static void add_outer(const bowl_pair* pair) {
    mabd_vec3 n;
    const mabd_real f = distance_at(pair, mabd_v3(0, 0, 0), &n), r = pair->core.radius;
    const bool outside = f > (pair->inner + pair->outer) / 2;
    if (!outside || n.z < -(mabd_real)1e-6) return; // n: from the shape to the bowl's centre
    const mabd_vec3 on_a = mabd_v3_scale(-(f - r), n);
    add(pair, on_a, mabd_v3_scale(-1, n), f - r - pair->outer, 0x21u, 0x60u);
}

void mabd_narrow_bowl(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                      const mabd_pose* pb, mabd_points* points) {
    bowl_pair pair = {.core = mabd_core_of(a), .frame = pb, .points = points};
    pair.inner = b->size[0], pair.outer = b->size[0] + b->size[1];
    pair.pose.position = mabd_pose_local(pb, pa->position);
    pair.pose.rotation = mabd_m3_tproduct(pb->rotation, pa->rotation);
    add_points(&pair);
    if (a->kind == MABD_COLLIDER_SPHERE) return; // its one point is exact

    const mabd_vec3 c = pair.pose.position;
    const mabd_real reach = mabd_v3_norm(pair.core.half) + pair.core.radius + points->margin;
    const mabd_real rho = (mabd_real)sqrt(c.x * c.x + c.y * c.y);
    if ((mabd_real)fabs(c.z) >= reach && !(c.z < 0)) return;
    if ((mabd_real)fabs(c.z) < reach && rho + reach > pair.inner && rho - reach < pair.outer) {
        add_circle(&pair, pair.inner, 0x20u);
        add_circle(&pair, pair.outer, 0x40u);
    }
    add_outer(&pair);
}
