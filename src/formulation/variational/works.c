// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (rigid/books.h). Forces of rows enter as their means over
// the step, those with which it changed the momenta.

#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/script.h"

#include <string.h>

// State of a body before or after the step that is booked.
static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_state s = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return s;
    if (sim->body_script[body] >= 0) {
        return mabd_rigid_script_state(m, &m->scripts[sim->body_script[body]],
                                       after ? sim->time + sim->def.h : sim->time);
    }
    if (!mabd_variational_moves(sim, body)) {
        s = mabd_rigid_from_user(mabd_variational_class(sim, body), &sim->start[body]);
        s.v = s.omega = mabd_v3(0, 0, 0);
        return s;
    }
    const mabd_variational_body* own = after ? &sim->next[body] : &sim->now[body];
    s.c = own->c, s.q = own->q;
    s.v = own->node.v, s.omega = mabd_q_rotate(own->q, own->node.w);
    return s;
}

static void book_joint(mabd_variational_sim* sim, const mabd_rigid_step* step, int32_t joint) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* j = &m->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint);
    const bool works = mabd_rigid_books_joint(m, joint);
    const bool scripted = mabd_rigid_has_script(m, joint);
    mabd_rigid_joint_step own = {.joint = joint};
    if (!works && !scripted) return;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_variational_axis *x0 = &sim->axis[j->coordinate + r],
                                    *x1 = &sim->next_axis[j->coordinate + r];
        own.x[0][2 * r] = x0->x, own.x[0][2 * r + 1] = x0->rate;
        own.x[1][2 * r] = x1->x, own.x[1][2 * r + 1] = x1->rate;
        own.through[r] = sim->mean_lambda[first + set->rigid_count + r] * (x1->x - x0->x);
    }
    if (works) mabd_rigid_book_joint(step, &own, &sim->books.work);
    if (scripted && first >= 0) {
        mabd_rigid_book_script(step, &own, sim->mean_lambda + first, &sim->books.work);
    }
}

void mabd_variational_book_step(mabd_variational_sim* sim) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = sim->time,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    for (int32_t k = 0; mabd_rigid_books_joints(sim->model) && k < sim->model->joint_count; k++) {
        book_joint(sim, &step, k);
    }
    if (!mabd_rigid_books_bodies(&step)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
