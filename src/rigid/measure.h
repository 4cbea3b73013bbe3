// SPDX-License-Identifier: Apache-2.0
// Energies, momenta and joint errors from states, body by body and joint by joint.
//
//   kinetic    1/2 m v^2 + 1/2 w.J w, + 1/2 I x'^2 of armatures
//   gravity    -m g.c
//   spring     1/2 k (x - rest)^2
//   momentum   p = m v,  L = m c x v + R J w                       (about the world origin)
//   errors     the largest of all rigid rows of all joints, from the poses of their bodies
//
// Formulations add what is their own (strain, contacts) to the same sums.
#pragma once

#include "mabd/sim.h"
#include "rigid/frames.h"
#include "rigid/row_error.h"

#include <math.h>
#include <string.h>

/// A measure while it is summed up.
typedef struct mabd_rigid_sum {
    mabd_measure out;
    mabd_vec3 p, L; // momenta
} mabd_rigid_sum;

/// Return the sums of nothing.
MABD_FN mabd_rigid_sum mabd_rigid_sum_begin(void) {
    mabd_rigid_sum sum;
    memset(&sum, 0, sizeof sum);
    sum.out.worst_joint = -1;
    return sum;
}

/// Add potential energy and momentum of a mass [kg] at c with velocity v; its kinetic energy is
/// left to the caller. gravity (3) [m/s^2].
MABD_FN void mabd_rigid_sum_mass(mabd_real mass, const mabd_real* gravity, mabd_vec3 c, mabd_vec3 v,
                                 mabd_rigid_sum* sum) {
    sum->out.gravity -= mass * mabd_v3_dot(mabd_v3_load(gravity), c);
    sum->p = mabd_v3_axpy(mass, v, sum->p);
    sum->L = mabd_v3_axpy(mass, mabd_v3_cross(c, v), sum->L);
}

/// Add energies and momenta of a rigid body.
MABD_FN void mabd_rigid_sum_body(const mabd_model* m, int32_t body, const mabd_rigid_state* s,
                                 mabd_rigid_sum* sum) {
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_real *J = c->principal, mass = c->material.mass;
    const mabd_vec3 w = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    const mabd_vec3 spin = mabd_v3(J[0] * w.x, J[1] * w.y, J[2] * w.z);
    sum->out.kinetic += (mass * mabd_v3_dot(s->v, s->v) + mabd_v3_dot(w, spin)) / 2;
    mabd_rigid_sum_mass(mass, m->gravity, s->c, s->v, sum);
    sum->L = mabd_v3_add(sum->L, mabd_q_rotate(s->q, spin));
}

/// Add the energies of the spring and the armature of a control at its coordinate and rate.
MABD_FN void mabd_rigid_sum_control(const mabd_control* c, mabd_real x, mabd_real rate,
                                    mabd_rigid_sum* sum) {
    const mabd_real stretch = x - c->rest;
    sum->out.spring += c->spring * stretch * stretch / 2;
    sum->out.kinetic += c->armature * rate * rate / 2;
}

/// Add the errors of a joint. view: poses of its bodies.
MABD_FN void mabd_rigid_sum_joint(const mabd_model* m, int32_t joint, const mabd_joint_view* view,
                                  mabd_rigid_sum* sum) {
    mabd_rigid_keep_error(view, &m->row_sets[m->joints[joint].row_set], joint, &sum->out.gap,
                          &sum->out.angle_error, &sum->out.worst_joint);
}

/// Return the measure of the sums.
MABD_FN mabd_measure mabd_rigid_sum_end(const mabd_rigid_sum* sum) {
    mabd_measure out = sum->out;
    out.energy = out.kinetic + out.gravity + out.elastic + out.spring;
    mabd_v3_store(sum->p, out.linear_momentum);
    mabd_v3_store(sum->L, out.angular_momentum);
    return out;
}
