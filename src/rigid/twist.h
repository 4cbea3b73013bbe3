// SPDX-License-Identifier: Apache-2.0
// Poses, twists and the mass metric of rigid bodies.
//
// A twist u = (v, w) is the velocity of the centre in world axes and the angular velocity in the
// principal frame, or a small displacement: c + v, R exp([w]). It pairs with the wrenches of
// row_jacobian.h: the rate of a row is f.v + t.w over both bodies. In the mass metric
// M = diag(m, m, m, I1, I2, I3) of each body.
#pragma once

#include "model/model_data.h"
#include "rigid/row_jacobian.h"

/// A body by its principal frame.
typedef struct mabd_rigid_pose {
    mabd_mat3 R; // rotation
    mabd_vec3 c; // centre of mass, world [m]
} mabd_rigid_pose;

/// Velocity of the centre, world [m/s], and angular velocity, principal frame [rad/s]; as a
/// displacement [m], [rad].
typedef struct mabd_rigid_twist {
    mabd_vec3 v, w;
} mabd_rigid_twist;

/// Fill a joint view from poses (bodies + 1).
MABD_FN mabd_joint_view mabd_rigid_view(const mabd_model* m, const mabd_model_joint* joint,
                                        const mabd_rigid_pose* poses) {
    const mabd_rigid_pose *a = &poses[joint->a], *b = &poses[joint->b];
    mabd_joint_view view;
    mabd_model_joint_view(m, joint, &view);
    view.Aa = a->R, view.ta = a->c, view.Ab = b->R, view.tb = b->c;
    return view;
}

/// f.v + t.w
MABD_FN mabd_real mabd_rigid_power(mabd_rigid_wrench w, mabd_rigid_twist u) {
    return mabd_v3_dot(w.f, u.v) + mabd_v3_dot(w.t, u.w);
}
/// Compute the rate of a row from the twists of both bodies [m/s] or [rad/s].
MABD_FN mabd_real mabd_rigid_row_rate(const mabd_rigid_row* J, mabd_rigid_twist a,
                                      mabd_rigid_twist b) {
    return mabd_rigid_power(J->a, a) + mabd_rigid_power(J->b, b);
}
/// a + s b
MABD_FN mabd_rigid_twist mabd_rigid_twist_axpy(mabd_real s, mabd_rigid_twist b,
                                               mabd_rigid_twist a) {
    a.v = mabd_v3_axpy(s, b.v, a.v), a.w = mabd_v3_axpy(s, b.w, a.w);
    return a;
}
/// Return the constant twist, seen in the principal frame of `from`, that moves a body from one
/// pose to another in h [s].
MABD_FN mabd_rigid_twist mabd_rigid_mean_twist(const mabd_rigid_pose* from,
                                               const mabd_rigid_pose* to, mabd_real h) {
    mabd_rigid_twist u;
    u.v = mabd_v3_scale(1 / h, mabd_v3_sub(to->c, from->c));
    u.w = mabd_v3_scale(1 / h, mabd_so3_log(mabd_m3_tproduct(from->R, to->R)));
    return u;
}
/// Compute M^-1 f of a body of a class.
MABD_FN mabd_rigid_twist mabd_rigid_accelerate(const mabd_model_class* c, mabd_rigid_wrench f) {
    const mabd_real* I = c->principal;
    mabd_rigid_twist u;
    u.v = mabd_v3_scale(1 / c->material.mass, f.f);
    u.w = mabd_v3(f.t.x / I[0], f.t.y / I[1], f.t.z / I[2]);
    return u;
}
/// Compute the kinetic energy 1/2 u' M u of a body of a class [J].
MABD_FN mabd_real mabd_rigid_twist_energy(const mabd_model_class* c, mabd_rigid_twist u) {
    const mabd_real* I = c->principal;
    return (c->material.mass * mabd_v3_dot(u.v, u.v) + I[0] * u.w.x * u.w.x + I[1] * u.w.y * u.w.y +
            I[2] * u.w.z * u.w.z) /
           2;
}
