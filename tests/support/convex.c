// SPDX-License-Identifier: Apache-2.0
#include "support/convex.h"

#include "support/draw.h"

#define NODES 9

static const mabd_height_field* terrain(void) {
    static mabd_real heights[NODES * NODES];
    static mabd_height_field field = {NODES, NODES, 0.3, 0.25, heights};
    uint64_t state = 11;
    for (int i = 0; i < NODES * NODES; i++) heights[i] = 0.15 * draw_real(&state);
    return &field;
}

mabd_collider convex_draw_shape(mabd_collider_kind kind, uint64_t* state) {
    mabd_collider shape = {.kind = kind};
    if (kind == MABD_COLLIDER_HEIGHT_FIELD) {
        shape.field = terrain();
        return shape;
    }
    for (int k = 0; k < 3; k++) shape.size[k] = 0.55 + 0.45 * draw_real(state);
    if (kind == MABD_COLLIDER_PLANE) shape.size[0] = shape.size[1] = shape.size[2] = 0;
    return shape;
}

static mabd_pose draw_pose(uint64_t* state, mabd_real size) {
    mabd_pose pose;
    pose.rotation = draw_rotation(state);
    pose.position = draw_vec3(state, size);
    return pose;
}

convex_pair convex_draw_pair(mabd_collider_kind a, mabd_collider_kind b, uint64_t* state) {
    convex_pair pair;
    pair.a = convex_draw_shape(a, state), pair.b = convex_draw_shape(b, state);
    pair.pa = draw_pose(state, 1), pair.pb = draw_pose(state, 1);
    return pair;
}

convex_pair convex_moved(convex_pair pair, mabd_mat3 R, mabd_vec3 t) {
    mabd_pose* poses[2] = {&pair.pa, &pair.pb};
    for (int k = 0; k < 2; k++) {
        poses[k]->rotation = mabd_m3_product(R, poses[k]->rotation);
        poses[k]->position = mabd_v3_add(mabd_m3_mul(R, poses[k]->position), t);
    }
    return pair;
}

static double bound(double x, double limit) {
    return fmin(fmax(x, -limit), limit);
}

mabd_vec3 convex_project(const mabd_collider* shape, const mabd_pose* pose, mabd_vec3 x) {
    mabd_vec3 p = mabd_pose_local(pose, x);
    const double r = shape->size[0];
    mabd_vec3 core = mabd_v3(0, 0, 0);
    switch (shape->kind) {
    case MABD_COLLIDER_BOX:
        p = mabd_v3(bound(p.x, shape->size[0] / 2), bound(p.y, shape->size[1] / 2),
                    bound(p.z, shape->size[2] / 2));
        return mabd_pose_point(pose, p);
    case MABD_COLLIDER_CYLINDER: {
        const double rho = sqrt(p.x * p.x + p.y * p.y), s = rho > r ? r / rho : 1;
        p = mabd_v3(s * p.x, s * p.y, bound(p.z, shape->size[1] / 2));
        return mabd_pose_point(pose, p);
    }
    case MABD_COLLIDER_CAPSULE:
        core.z = bound(p.z, shape->size[1] / 2);
        break;
    default:
        break;
    }
    mabd_vec3 out = mabd_v3_sub(p, core);
    const double length = mabd_v3_norm(out);
    if (length > r) p = mabd_v3_axpy(r / length, out, core);
    return mabd_pose_point(pose, p);
}

mabd_vec3 convex_support(const mabd_collider* shape, const mabd_pose* pose, mabd_vec3 n) {
    const mabd_vec3 d = mabd_m3_tmul(pose->rotation, n);
    const double r = shape->size[0], rho = sqrt(d.x * d.x + d.y * d.y), length = mabd_v3_norm(d);
    const double up = (d.z < 0 ? -0.5 : 0.5) * shape->size[1];
    mabd_vec3 p = mabd_v3(0, 0, 0);
    switch (shape->kind) {
    case MABD_COLLIDER_BOX:
        p = mabd_v3((d.x < 0 ? -0.5 : 0.5) * shape->size[0],
                    (d.y < 0 ? -0.5 : 0.5) * shape->size[1],
                    (d.z < 0 ? -0.5 : 0.5) * shape->size[2]);
        break;
    case MABD_COLLIDER_CYLINDER:
        p = mabd_v3(rho > 0 ? r * d.x / rho : 0, rho > 0 ? r * d.y / rho : 0, up);
        break;
    case MABD_COLLIDER_CAPSULE:
        p = mabd_v3_axpy(r / length, d, mabd_v3(0, 0, up));
        break;
    default:
        p = mabd_v3_scale(r / length, d);
        break;
    }
    return mabd_pose_point(pose, p);
}

double convex_along(const convex_pair* pair, mabd_vec3 n) {
    if (pair->b.kind == MABD_COLLIDER_PLANE) {
        const mabd_vec3 up = pair->pb.rotation.c3;
        const mabd_vec3 low = convex_support(&pair->a, &pair->pa, mabd_v3_scale(-1, up));
        return mabd_v3_dot(up, mabd_v3_sub(low, pair->pb.position));
    }
    const mabd_vec3 x = convex_support(&pair->a, &pair->pa, n);
    const mabd_vec3 y = convex_support(&pair->b, &pair->pb, mabd_v3_scale(-1, n));
    return mabd_v3_dot(n, mabd_v3_sub(y, x));
}

// x and y move against their difference and are projected; momentum is dropped when the distance
// rises.
double convex_distance(const convex_pair* pair, double* error) {
    mabd_vec3 x = pair->pa.position, y = pair->pb.position, x0 = x, y0 = y;
    double momentum = 1, upper = 1e300, lower = 0, last = 1e300;
    for (int i = 0; i < 20000; i++) {
        const double next = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        const double w = (momentum - 1) / next;
        const mabd_vec3 u = mabd_v3_axpy(w, mabd_v3_sub(x, x0), x);
        const mabd_vec3 v = mabd_v3_axpy(w, mabd_v3_sub(y, y0), y);
        const mabd_vec3 between = mabd_v3_scale(0.5, mabd_v3_sub(v, u));
        x0 = x, y0 = y, momentum = next;
        x = convex_project(&pair->a, &pair->pa, mabd_v3_add(u, between));
        y = convex_project(&pair->b, &pair->pb, mabd_v3_sub(v, between));
        const mabd_vec3 gap = mabd_v3_sub(y, x);
        const double length = mabd_v3_norm(gap);
        if (length > last) momentum = 1;
        last = length;
        upper = fmin(upper, length);
        if (length > 0) {
            lower = fmax(lower, convex_along(pair, mabd_v3_scale(1 / length, gap)));
        }
        if (upper - lower < 1e-10) break;
    }
    *error = upper - lower;
    return upper;
}

// Climb from n with a pattern of eight directions that shrinks when none is better.
double convex_climb(const convex_pair* pair, mabd_vec3 n) {
    double best = convex_along(pair, n), step = 0.05;
    while (step > 1e-9) {
        const mabd_vec3 e = mabd_v3_cross(n, fabs(n.x) < 0.6 ? mabd_v3(1, 0, 0) : mabd_v3(0, 1, 0));
        const mabd_vec3 e1 = mabd_v3_scale(1 / mabd_v3_norm(e), e), e2 = mabd_v3_cross(n, e1);
        bool better = false;
        for (int k = 0; k < 16; k++) {
            const double angle = MABD_PI * k / 8 + 1e3 * step;
            mabd_vec3 trial = mabd_v3_axpy(step * cos(angle), e1, n);
            trial = mabd_v3_axpy(step * sin(angle), e2, trial);
            trial = mabd_v3_scale(1 / mabd_v3_norm(trial), trial);
            const double s = convex_along(pair, trial);
            if (s > best) best = s, n = trial, better = true;
        }
        if (!better) step /= 2;
    }
    return best;
}

#define SAMPLES 3000
#define STARTS  12

double convex_separation(const convex_pair* pair) {
    if (pair->b.kind == MABD_COLLIDER_PLANE) return convex_along(pair, mabd_v3(0, 0, 1));
    double best[STARTS];
    mabd_vec3 start[STARTS];
    for (int k = 0; k < STARTS; k++) best[k] = -1e300;
    for (int i = 0; i < SAMPLES; i++) { // Fibonacci lattice
        const double z = 1 - (2 * i + 1.0) / SAMPLES, rho = sqrt(1 - z * z),
                     angle = 2.399963229728653 * i;
        const mabd_vec3 n = mabd_v3(rho * cos(angle), rho * sin(angle), z);
        const double s = convex_along(pair, n);
        int k = STARTS - 1;
        if (s <= best[k]) continue;
        for (; k > 0 && s > best[k - 1]; k--) best[k] = best[k - 1], start[k] = start[k - 1];
        best[k] = s, start[k] = n;
    }
    double result = -1e300;
    for (int k = 0; k < STARTS; k++) result = fmax(result, convex_climb(pair, start[k]));
    return result;
}

int32_t convex_narrow(const convex_pair* pair, mabd_real margin, mabd_contact_point* out) {
    return mabd_narrow(&pair->a, &pair->pa, &pair->b, &pair->pb, margin, out);
}

mabd_real convex_smallest(const mabd_contact_point* points, int32_t n) {
    mabd_real smallest = 1e30;
    for (int32_t i = 0; i < n; i++) smallest = fmin(smallest, points[i].distance);
    return smallest;
}

mabd_contact_point convex_deepest(const mabd_contact_point* points, int32_t n) {
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++) {
        if (points[i].distance < points[best].distance) best = i;
    }
    return points[best];
}
