// SPDX-License-Identifier: Apache-2.0
// From the frame of a user to the principal frame of a rigid body and back.
//
//   user frame        position p, rotation U, velocity of p, angular velocity (world)
//   principal frame   centre c = p + U center,  R = U V,  v = p' + omega x (U center)
//
// with V the principal axes and `center` the centre of mass in the user frame.
#pragma once

#include "math/quat.h"
#include "model/model_data.h"
#include "rigid/twist.h"

/// A rigid body by its principal frame.
typedef struct mabd_rigid_state {
    mabd_vec3 c;     // centre of mass, world [m]
    mabd_quat q;     // rotation of the principal frame
    mabd_vec3 v;     // velocity of the centre [m/s]
    mabd_vec3 omega; // angular velocity, world [rad/s]
} mabd_rigid_state;

/// Return the twist of a state.
MABD_FN mabd_rigid_twist mabd_rigid_twist_of(const mabd_rigid_state* s) {
    mabd_rigid_twist u;
    u.v = s->v, u.w = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    return u;
}
/// Convert a state of a body of a class from its user frame.
MABD_FN mabd_rigid_state mabd_rigid_from_user(const mabd_model_class* c,
                                              const mabd_model_start* user) {
    const mabd_quat turn = mabd_q_load(user->rotation);
    const mabd_vec3 arm = mabd_q_rotate(turn, mabd_v3_load(c->center));
    mabd_rigid_state s;
    s.omega = mabd_v3_load(user->angular_velocity);
    s.c = mabd_v3_add(mabd_v3_load(user->position), arm);
    s.v = mabd_v3_add(mabd_v3_load(user->velocity), mabd_v3_cross(s.omega, arm));
    s.q = mabd_q_normalize(mabd_q_product(turn, mabd_q_load(c->axes)));
    return s;
}

/// Convert a state of a body of a class to its user frame.
MABD_FN void mabd_rigid_to_user(const mabd_model_class* c, const mabd_rigid_state* s,
                                mabd_model_start* user) {
    const mabd_quat turn = mabd_q_product(s->q, mabd_q_conjugate(mabd_q_load(c->axes)));
    const mabd_vec3 arm = mabd_q_rotate(turn, mabd_v3_load(c->center));
    mabd_v3_store(mabd_v3_sub(s->c, arm), user->position);
    mabd_q_store(turn, user->rotation);
    mabd_v3_store(mabd_v3_sub(s->v, mabd_v3_cross(s->omega, arm)), user->velocity);
    mabd_v3_store(s->omega, user->angular_velocity);
}
