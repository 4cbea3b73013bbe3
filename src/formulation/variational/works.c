// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (rigid/books.h). Forces of rows enter as their means over
// the step. An impulse l of a row at a node lies on both sides of it: the share k before it is what
// the velocities of a user have more than the momenta (velocities.c). So over a step from 0 to 1
//
//   mean force = (sum of l of its substeps + k1 - k0)/h,   of second order

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/joint_coordinates.h"
#include "rigid/script.h"

#include <string.h>

// True if works of a step need velocities: those of axes, and of drag.
static bool needs_velocities(const mabd_variational_sim* sim) {
    bool needs = mabd_rigid_books_joints(sim->model);
    for (int32_t i = 0; i < sim->model->class_count; i++) {
        needs |= sim->model->classes[i].material.drag > 0;
    }
    return needs;
}

void mabd_variational_begin_books(mabd_variational_sim* sim) {
    const size_t bodies = (size_t)sim->model->body_count + 1;
    if (!needs_velocities(sim)) return;
    memcpy(sim->last_velocity, mabd_variational_velocities(sim),
           bodies * sizeof *sim->last_velocity);
    memcpy(sim->last_share, sim->share, (size_t)sim->plan->row_count * sizeof *sim->share);
}

// State of a body before or after the step that is booked.
static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_state s = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return s;
    if (sim->body_script[body] >= 0) {
        return mabd_rigid_script_state(m, &m->scripts[sim->body_script[body]],
                                       after ? sim->time : sim->time - sim->def.h);
    }
    if (!mabd_variational_moves(sim, body)) {
        s = mabd_rigid_from_user(mabd_variational_class(sim, body), &sim->start[body]);
        s.v = s.omega = mabd_v3(0, 0, 0);
        return s;
    }
    const mabd_variational_body* own = after ? &sim->now[body] : &sim->next[body];
    const mabd_rigid_twist u = after ? sim->velocity[body] : sim->last_velocity[body];
    s.c = own->c, s.q = own->q;
    s.v = u.v, s.omega = mabd_q_rotate(own->q, u.w);
    return s;
}

// Coordinates and rates (controls x 2) of a joint before or after the step.
static void axes_at(const mabd_variational_sim* sim, int32_t joint, bool after, mabd_real* x) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const mabd_variational_axis* axis = (after ? sim->axis : sim->next_axis) + j->coordinate;
    const mabd_rigid_state a = state_at(sim, j->a, after), b = state_at(sim, j->b, after);
    mabd_real near[2 * MABD_JOINT_MAX_ROWS] = {0};
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, j, &view);
    view.Aa = mabd_q_matrix(a.q), view.ta = a.c, view.Ab = mabd_q_matrix(b.q), view.tb = b.c;
    for (int32_t r = 0; r < set->control_count; r++) near[2 * r] = axis[r].x;
    mabd_rigid_control_coordinates(set, &view, mabd_rigid_twist_of(&a), mabd_rigid_twist_of(&b),
                                   near, x);
}

// Mean force of a row over the step.
static mabd_real mean_of(const mabd_variational_sim* sim, int32_t row) {
    return sim->mean_lambda[row] + (sim->share[row] - sim->last_share[row]) / sim->def.h;
}

static void book_joint(mabd_variational_sim* sim, const mabd_rigid_step* step, int32_t joint) {
    const mabd_model* m = sim->model;
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint);
    const bool works = mabd_rigid_books_joint(m, joint);
    const bool scripted = mabd_rigid_has_script(m, joint);
    mabd_rigid_joint_step own = {.joint = joint};
    mabd_real force[2 * MABD_JOINT_MAX_ROWS];
    if (!works && !scripted) return;
    if (set->control_count > 0) {
        axes_at(sim, joint, false, own.x[0]);
        axes_at(sim, joint, true, own.x[1]);
    }
    for (int32_t r = 0; first >= 0 && r < set->rigid_count; r++) {
        force[r] = mean_of(sim, first + r);
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_real *x0 = own.x[0] + 2 * r, *x1 = own.x[1] + 2 * r;
        const mabd_real row = mean_of(sim, first + set->rigid_count + r);
        const mabd_real spring = sim->mean_force[m->joints[joint].coordinate + r];
        const bool turn = mabd_variational_is_damped_turn(set, r); // its damper is booked as such
        own.through[r] = (turn ? spring : row + spring) * (x1[0] - x0[0]);
        force[set->rigid_count + r] = turn ? spring : row + spring;
    }
    if (works) mabd_rigid_book_joint(step, &own, &sim->books.work);
    if (scripted && first >= 0) mabd_rigid_book_script(step, &own, force, &sim->books.work);
}

// Works of contacts and stops, island by island (contact_step.c).
static void book_contacts(mabd_variational_sim* sim) {
    const int32_t count = sim->contacts ? sim->contacts->group_count : 0;
    for (int32_t i = 0; i < count; i++) {
        sim->books.work.friction += sim->reports[i].friction;
        sim->books.work.impacts += sim->reports[i].impacts;
        sim->books.work.scripts += sim->reports[i].scripts;
    }
}

void mabd_variational_book_step(mabd_variational_sim* sim) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = sim->time - sim->def.h,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    if (needs_velocities(sim)) mabd_variational_velocities(sim);
    for (int32_t k = 0; mabd_rigid_books_joints(sim->model) && k < sim->model->joint_count; k++) {
        book_joint(sim, &step, k);
    }
    book_contacts(sim);
    if (!mabd_rigid_books_bodies(&step)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
