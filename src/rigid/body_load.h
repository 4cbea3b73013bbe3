// SPDX-License-Identifier: Apache-2.0
// Loads of one rigid body from a scene and from outside: gravity, forces of the scene, applied
// forces. Drag is left to the formulations, which differ in where they take the velocity.
//
// Forces in world axes, torques in the principal frame: a force f at the point X of a body with
// rotation R has the torque X x R'f.
#pragma once

#include "rigid/inputs.h"
#include "rigid/row_jacobian.h"

/// A time in a step.
typedef struct mabd_rigid_moment {
    mabd_real from, time, h; // of the start of the step, or a part of it; the time; its length [s]
} mabd_rigid_moment;

/// Add force k of the scene, on a body with rotation R.
MABD_FN void mabd_rigid_add_scene_force(const mabd_model_force* own, mabd_mat3 R,
                                        const mabd_rigid_moment* at, mabd_rigid_wrench* load) {
    const mabd_real k = own->signal ? mabd_rigid_signal(own->signal, at->from, at->h, at->time) : 1;
    const mabd_vec3 f = mabd_v3_scale(k, own->force), t = mabd_v3_scale(k, own->torque);
    const mabd_vec3 world = own->body_frame ? mabd_m3_mul(R, f) : f;
    const mabd_vec3 seen = own->body_frame ? f : mabd_m3_tmul(R, f);
    load->f = mabd_v3_add(load->f, world);
    load->t = mabd_v3_add(load->t, mabd_v3_cross(own->point, seen));
    load->t = mabd_v3_add(load->t, own->body_frame ? t : mabd_m3_tmul(R, t));
}

/// Return gravity, forces of the scene and applied forces on a body with rotation R. first: its
/// first force in the model (model/first_force.h).
MABD_FN mabd_rigid_wrench mabd_rigid_body_load(const mabd_model* m, const mabd_rigid_inputs* inputs,
                                               int32_t body, int32_t first, mabd_mat3 R,
                                               const mabd_rigid_moment* at) {
    const mabd_real mass = m->classes[m->body_class[body]].material.mass;
    mabd_rigid_wrench load;
    load.f = mabd_v3_scale(mass, mabd_v3_load(m->gravity)), load.t = mabd_v3(0, 0, 0);
    for (int32_t i = first; i < m->force_count && m->forces[i].body == body; i++) {
        mabd_rigid_add_scene_force(&m->forces[i], R, at, &load);
    }
    if (inputs->has_applied) {
        const mabd_real* own = inputs->applied + 6 * (size_t)body;
        load.f = mabd_v3_add(load.f, mabd_v3_load(own));
        load.t = mabd_v3_add(load.t, mabd_m3_tmul(R, mabd_v3_load(own + 3)));
    }
    return load;
}
