// SPDX-License-Identifier: Apache-2.0
// Work of contacts in a step, whatever coordinates their bodies move in.
//
// A contact has the force f on b and -f on a. Steps with contacts go by implicit Euler, which
// changes the kinetic energy by f . (h v0 + d)/2: v0 the velocity of b over a at the start, d the
// displacement in the step, at the contact point. So a contact that ends a speed takes its energy,
// one that returns the part e of it takes 1 - e^2. The tangential part of -f . (h v0 + d)/2 is
// taken by friction, the normal part by impacts. If a side is scripted, the script does the same
// work on its own point.
//
// A normal force does work in impacts only: approach by more than IMPACT_FALLS falls of a step, as
// those with restitution (contact_points.c). Along curved surfaces the normal turns within a step;
// what it then seems to take is an error of the step and stays in the integrator.
//
// Part of f carries the weight of the bodies, and a weight does the work of its displacement dt.
// In impacts they are spared m g . (h v0 - dt)/2, as in affine/contact/contact_books.c.

#include "formulation/redmax/redmax_contact.h"

#include <string.h>

/// Falls of a step from rest that an approach must exceed to be an impact, in g h^2.
#define IMPACT_FALLS 2

// The sum h v0 + d of a point of a body over the step [m].
static mabd_vec3 path_of(const mabd_redmax_contacts* c, const mabd_rigid_step* step, int32_t body,
                         mabd_vec3 X) {
    const mabd_rigid_state s0 = step->state(step->self, body, false),
                           s1 = step->state(step->self, body, true);
    const mabd_vec3 arm0 = mabd_q_rotate(s0.q, X), arm1 = mabd_q_rotate(s1.q, X);
    const mabd_vec3 d = mabd_v3_add(mabd_v3_sub(s1.c, s0.c), mabd_v3_sub(arm1, arm0));
    return mabd_v3_axpy(c->h, mabd_redmax_start_velocity(c, body, X), d);
}

// Displacement along the normal at the velocities of the start of the step [m].
static mabd_real start_way(const mabd_redmax_contacts* c, const mabd_redmax_contact* p) {
    const mabd_vec3 v = mabd_v3_sub(mabd_redmax_start_velocity(c, p->body[1], p->X[1]),
                                    mabd_redmax_start_velocity(c, p->body[0], p->X[0]));
    return c->h * mabd_v3_dot(p->axis[0], v);
}

// m g . (h v0 - dt)/2 of a body that moves by forces and was not counted yet.
static mabd_real weight_share(mabd_redmax_contacts* c, const mabd_rigid_step* step, int32_t body) {
    const mabd_model* m = c->model;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC || c->weighed[body]) return 0;
    c->weighed[body] = true;
    return mabd_rigid_weight_share(step, body);
}

static void book_one(mabd_redmax_contacts* c, const mabd_rigid_step* step,
                     const mabd_redmax_contact* p, mabd_rigid_works* work) {
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(c->model->gravity)) * c->h * c->h;
    mabd_vec3 path[2], force = mabd_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) path[side] = path_of(c, step, p->body[side], p->X[side]);
    const mabd_vec3 way = mabd_v3_sub(path[1], path[0]);
    for (int k = 0; k < 3; k++) force = mabd_v3_axpy(p->force[k] / 2, p->axis[k], force);
    for (int k = 1; k < 3; k++) {
        work->friction -= p->force[k] / 2 * mabd_v3_dot(p->axis[k], way);
    }
    for (int side = 0; side < 2; side++) {
        if (c->model->body_motion[p->body[side]] != MABD_MOTION_SCRIPTED) continue;
        work->scripts += (side ? -1 : 1) * mabd_v3_dot(force, path[side]);
    }
    if (!(-start_way(c, p) > IMPACT_FALLS * fall)) return;
    work->impacts -= p->force[0] / 2 * mabd_v3_dot(p->axis[0], way);
    work->impacts -= weight_share(c, step, p->body[0]) + weight_share(c, step, p->body[1]);
}

void mabd_redmax_book_contacts(mabd_redmax_contacts* c, const mabd_rigid_step* step,
                               mabd_rigid_works* work) {
    const mabd_redmax_contact* points = c->points.data;
    memset(c->weighed, 0, (size_t)c->model->body_count * sizeof *c->weighed);
    for (int32_t i = 0; i < c->points.count; i++) {
        if (points[i].force[0] > 0) book_one(c, step, &points[i], work);
    }
}
