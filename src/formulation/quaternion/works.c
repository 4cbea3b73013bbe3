// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (rigid/books.h).
//
// Forces that only multipliers know, of rigid servos and on scripted bodies, enter as their mean
// over the step, that with which the method changed the velocities:
//
//   euler, semi-implicit   l_n+1
//   bdf2                   (l_n + l_n+1)/2, of the same order
//   two solves             w_0 l_n' + w_1 l_1 + w_2 l_2 of the solves, with the weights that the
//                          derivatives at the start and in both solves have in the result; l_n'
//                          belongs to the derivative at the start. The single ones do not converge
//                          with order 2, their mean does.
//
// Parts of a halved step count by their length. Works do not depend on which of the multipliers of
// redundant rows are taken: all of them do the same work on motions that the rows allow.

#include "formulation/quaternion/quaternion_works.h"

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/tableau.h"
#include "rigid/script.h"

#include <string.h>

/// Weights of multipliers in a mean: at the start, in the first of two solves, in the last solve.
typedef struct mean_weights {
    mabd_real start, stage, last;
} mean_weights;

static mean_weights weights_of(mabd_integrator method) {
    const mabd_tableau t = mabd_tableau_of(method);
    const mabd_tableau_solve *one = &t.solve[0], *two = &t.solve[1];
    const mabd_real first = t.combines ? t.first : 0, second = t.combines ? t.second : 1;
    if (method == MABD_INTEGRATOR_BDF2) return (mean_weights){(mabd_real)0.5, 0, (mabd_real)0.5};
    if (t.count == 1) return (mean_weights){0, 0, 1};
    const mabd_real on_stage = first + second * two->on_stage;
    return (mean_weights){on_stage * one->slope + second * two->slope, on_stage * one->bh,
                          second * two->bh};
}

void mabd_quaternion_add_means(const mabd_quaternion_solve* s, mabd_integrator method,
                               const mabd_real* start) {
    const mabd_quaternion_sim* sim = s->sim;
    const mean_weights w = weights_of(method);
    const mabd_real part = s->h / sim->def.h;
    for (int32_t i = 0; i < s->part->row_count; i++) {
        const int32_t r = s->part->row_first + i;
        const mabd_real first = start ? start[i] : sim->lambda[r];
        const mabd_real stage = w.stage != 0 ? sim->stage_lambda[r] : 0;
        sim->mean_lambda[r] +=
            part * (w.start * first + w.stage * stage + w.last * sim->next_lambda[r]);
    }
}

// State of a body before or after the step that is booked.
static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_state s = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return s;
    const int32_t script = sim->body_script[body];
    if (script >= 0) {
        return mabd_rigid_script_state(m, &m->scripts[script],
                                       after ? sim->time + sim->def.h : sim->time);
    }
    const mabd_quaternion_node* node = after ? &sim->now : &sim->last;
    const mabd_real* row = node->body + MABD_NODE_REALS * (size_t)body;
    s.c = mabd_v3_load(row), s.q = mabd_q_normalize(mabd_q_load(row + 3));
    s.v = mabd_v3_load(row + 7);
    s.omega = mabd_q_rotate(s.q, mabd_rigid_spin(s.q, mabd_q_load(row + 10)));
    return s;
}

static void book_joint(mabd_quaternion_sim* sim, const mabd_rigid_step* step,
                       const mabd_quaternion_joint* j) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[j->joint];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const bool works = mabd_rigid_books_joint(m, j->joint);
    const bool scripted = mabd_rigid_has_script(m, j->joint);
    mabd_rigid_joint_step own = {.joint = j->joint};
    if (!works && !scripted) return;
    for (int32_t r = 0; r < set->control_count; r++) {
        const size_t at = (size_t)(joint->coordinate + r);
        const mabd_real *x0 = sim->last.x + 2 * at, *x1 = sim->now.x + 2 * at;
        memcpy(own.x[0] + 2 * r, x0, 2 * sizeof *x0);
        memcpy(own.x[1] + 2 * r, x1, 2 * sizeof *x1);
        own.through[r] = sim->mean_lambda[j->row + set->rigid_count + r] * (x1[0] - x0[0]);
        if (set->control[r].law) own.stop[r] = (int8_t)sim->branch[at].stop;
    }
    if (works) mabd_rigid_book_joint(step, &own, &sim->books.work);
    if (scripted) mabd_rigid_book_script(step, &own, sim->mean_lambda + j->row, &sim->books.work);
}

void mabd_quaternion_book_step(mabd_quaternion_sim* sim, mabd_real time) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = time,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    for (int32_t i = 0; i < sim->joint_count; i++) book_joint(sim, &step, &sim->joints[i]);
    if (!mabd_rigid_books_bodies(&step)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
