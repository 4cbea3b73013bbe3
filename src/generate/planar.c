// SPDX-License-Identifier: Apache-2.0
// The point C with |C - A| = ra, |C - B| = rb: with e = B - A, C = A + u e / |e| +- v n,
// u = (e^2 + ra^2 - rb^2) / (2 |e|). Its velocity solves (C - A) . (v - vA) = 0,
// (C - B) . (v - vB) = 0. A bar from P to Q turns at w = (Q - P) x (vQ - vP) / |Q - P|^2.

#include "generate/planar.h"

#include <math.h>

bool mabd_generate_plane_meet(const mabd_generate_plane_point* a, mabd_real ra,
                              const mabd_generate_plane_point* b, mabd_real rb, mabd_real left,
                              mabd_generate_plane_point* out) {
    const mabd_real ex = b->x - a->x, ez = b->z - a->z, e2 = ex * ex + ez * ez;
    const mabd_real e = (mabd_real)sqrt(e2), u = (e2 + ra * ra - rb * rb) / (2 * e);
    const mabd_real v2 = ra * ra - u * u;
    if (!(v2 > (mabd_real)1e-9 * ra * ra)) return false;
    const mabd_real v = left * (mabd_real)sqrt(v2);
    out->x = a->x + (u * ex - v * ez) / e;
    out->z = a->z + (u * ez + v * ex) / e;
    const mabd_real ax = out->x - a->x, az = out->z - a->z, bx = out->x - b->x, bz = out->z - b->z;
    const mabd_real p = ax * a->vx + az * a->vz, q = bx * b->vx + bz * b->vz;
    const mabd_real det = ax * bz - az * bx;
    out->vx = (p * bz - q * az) / det;
    out->vz = (q * ax - p * bx) / det;
    return true;
}

mabd_vec3 mabd_generate_plane_world(const mabd_real* origin, const mabd_generate_plane_point* point,
                                    mabd_real y) {
    return mabd_v3(origin[0] + point->x, origin[1] + y, origin[2] + point->z);
}

void mabd_generate_plane_place(const mabd_real* origin, const mabd_generate_plane_point* p,
                               const mabd_generate_plane_point* q, mabd_real part, mabd_real y,
                               mabd_body_def* body) {
    const mabd_real dx = q->x - p->x, dz = q->z - p->z;
    const mabd_real dvx = q->vx - p->vx, dvz = q->vz - p->vz;
    const mabd_generate_plane_point at = {p->x + part * dx, p->z + part * dz, 0, 0};
    mabd_v3_store(mabd_generate_plane_world(origin, &at, y), body->position);
    mabd_q_store(mabd_q_axis_angle(mabd_v3(0, -1, 0), (mabd_real)atan2(dz, dx)), body->rotation);
    mabd_v3_store(mabd_v3(p->vx + part * dvx, 0, p->vz + part * dvz), body->velocity);
    const mabd_real speed = (dx * dvz - dz * dvx) / (dx * dx + dz * dz);
    mabd_v3_store(mabd_v3(0, -speed, 0), body->angular_velocity);
}

mabd_joint_def mabd_generate_plane_hinge(void) {
    const mabd_real c = (mabd_real)0.70710678118654752440;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_HINGE;
    mabd_q_store(mabd_q(c, 0, 0, -c), joint.frame); // x -> -y
    return joint;
}
