// SPDX-License-Identifier: Apache-2.0
#include "rigid/script.h"

#include "scene/signal.h"

static mabd_real value_at(const mabd_signal* signal, mabd_real time) {
    return signal ? mabd_signal_value(signal, time) : 0;
}
static mabd_real rate_at(const mabd_signal* signal, mabd_real time) {
    return signal ? mabd_signal_rate(signal, time) : 0;
}
static mabd_real bend_at(const mabd_signal* signal, mabd_real time) {
    return signal ? mabd_signal_bend(signal, time) : 0;
}

mabd_rigid_pose mabd_rigid_script_pose(const mabd_model* m, const mabd_model_script* script,
                                       mabd_real time) {
    const mabd_model_start user = mabd_model_script_pose(
        m, script, value_at(script->translation, time), value_at(script->angle, time));
    const mabd_rigid_state s =
        mabd_rigid_from_user(&m->classes[m->body_class[script->body]], &user);
    const mabd_rigid_pose pose = {mabd_q_matrix(s.q), s.c};
    return pose;
}

mabd_rigid_script_motion mabd_rigid_script_at(const mabd_model* m, const mabd_model_script* script,
                                              mabd_real time) {
    const mabd_model_class* c = &m->classes[m->body_class[script->body]];
    mabd_rigid_script_motion out;
    out.pose = mabd_rigid_script_pose(m, script, time);
    const mabd_mat3 R = out.pose.R, axes = mabd_q_matrix(mabd_q_load(c->axes));
    const mabd_vec3 arm = mabd_m3_mul(R, mabd_m3_tmul(axes, mabd_v3_load(c->center)));
    const mabd_vec3 omega = mabd_v3_scale(rate_at(script->angle, time), script->axis);
    const mabd_vec3 alpha = mabd_v3_scale(bend_at(script->angle, time), script->axis);
    const mabd_vec3 sweep = mabd_v3_cross(omega, arm);
    out.u.v = mabd_v3_axpy(rate_at(script->translation, time), script->direction, sweep);
    out.a.v = mabd_v3_add(mabd_v3_cross(alpha, arm), mabd_v3_cross(omega, sweep));
    out.a.v = mabd_v3_axpy(bend_at(script->translation, time), script->direction, out.a.v);
    out.u.w = mabd_m3_tmul(R, omega), out.a.w = mabd_m3_tmul(R, alpha);
    return out;
}

mabd_rigid_state mabd_rigid_script_state(const mabd_model* m, const mabd_model_script* script,
                                         mabd_real time) {
    const mabd_rigid_script_motion at = mabd_rigid_script_at(m, script, time);
    const mabd_rigid_state s = {at.pose.c, mabd_q_from_matrix(at.pose.R), at.u.v,
                                mabd_m3_mul(at.pose.R, at.u.w)};
    return s;
}
