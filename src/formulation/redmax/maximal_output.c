// SPDX-License-Identifier: Apache-2.0
// Results in maximal coordinates: poses in user frames, energies, joint forces, coordinates, books.

#include "formulation/redmax/maximal.h"
#include "rigid/joint_coordinates.h"
#include "rigid/measure.h"
#include "rigid/rigid_output.h"
#include "rigid/script.h"

#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

mabd_rigid_state mabd_maximal_state_of(const mabd_maximal_sim* sim, const mabd_maximal_node* node,
                                       mabd_real time, int32_t body) {
    const mabd_model* m = sim->model;
    mabd_rigid_state s = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return s;
    if (sim->body_script[body] >= 0) {
        return mabd_rigid_script_state(m, &m->scripts[sim->body_script[body]], time);
    }
    if (sim->body_component[body] < 0) {
        s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &m->start[body]);
        s.v = s.omega = mabd_v3(0, 0, 0);
        return s;
    }
    const mabd_maximal_body* own = &node->body[body];
    s.c = own->c, s.q = own->q;
    s.v = mabd_q_rotate(own->q, own->V.v), s.omega = mabd_q_rotate(own->q, own->V.w);
    return s;
}

static mabd_rigid_state state_now(const mabd_maximal_sim* sim, int32_t body) {
    return mabd_maximal_state_of(sim, &sim->now, sim->time, body);
}

void mabd_maximal_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                            mabd_real* velocities, mabd_real* angular) {
    const mabd_maximal_sim* sim = self;
    const mabd_model* m = sim->model;
    for (size_t i = 0; i < (size_t)m->body_count; i++) {
        const mabd_rigid_state s = state_now(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(&m->classes[m->body_class[i]], &s, &user);
        mabd_rigid_write_state(&user, i, positions, quaternions, velocities, angular);
    }
}

// ---- joints ------------------------------------------------------------------------------------

mabd_joint_view mabd_maximal_view(const mabd_maximal_sim* sim, const mabd_model_joint* joint,
                                  const mabd_maximal_node* node, mabd_real time) {
    const mabd_rigid_state a = mabd_maximal_state_of(sim, node, time, joint->a);
    const mabd_rigid_state b = mabd_maximal_state_of(sim, node, time, joint->b);
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    view.Aa = mabd_q_matrix(a.q), view.ta = a.c;
    view.Ab = mabd_q_matrix(b.q), view.tb = b.c;
    return view;
}

void mabd_maximal_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_maximal_sim* sim = self;
    memcpy(forces, sim->wrench, 6 * (size_t)sim->model->joint_count * sizeof *forces);
}

void mabd_maximal_get_joint_coordinates(const void* self, int32_t index, mabd_real* coordinates) {
    const mabd_maximal_sim* sim = self;
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real known[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < set->control_count; r++) {
        known[r] = sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_coordinates(sim->model, index,
                                 mabd_maximal_view(sim, joint, &sim->now, sim->time), sim->start,
                                 known, coordinates);
}

void mabd_maximal_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x) {
    const mabd_maximal_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const mabd_model_joint* joint = &m->joints[copy * m->copy_joints + own->joint];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    if (own->kind != MABD_CONTROL_FORCE) {
        memcpy(x, sim->now.x + 2 * (size_t)(joint->coordinate + own->row), 2 * sizeof *x);
        return;
    }
    const mabd_joint_view view = mabd_maximal_view(sim, joint, &sim->now, sim->time);
    const mabd_rigid_state a = state_now(sim, joint->a), b = state_now(sim, joint->b);
    const mabd_rigid_twist ua = mabd_rigid_twist_of(&a), ub = mabd_rigid_twist_of(&b);
    const mabd_real near = 0;
    mabd_rigid_row J;
    mabd_rigid_joint_rows(&view, 1, &set->motor[own->row].row, &near, x, &J);
    x[1] = mabd_rigid_row_rate(&J, ua, ub);
}

// ---- energies ----------------------------------------------------------------------------------

mabd_measure mabd_maximal_measure(const void* self) {
    const mabd_maximal_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    for (int32_t i = 0; i < m->body_count; i++) {
        if (sim->body_component[i] < 0) continue;
        const mabd_rigid_state s = state_now(sim, i);
        mabd_rigid_sum_body(m, i, &s, &sum);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        const mabd_joint_view view = mabd_maximal_view(sim, joint, &sim->now, sim->time);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
            mabd_rigid_sum_control(&set->control[r], x[0], x[1], &sum);
        }
        mabd_rigid_sum_joint(m, i, &view, &sum);
    }
    sum.out.spring += mabd_maximal_spring_energy(sim);
    return mabd_rigid_sum_end(&sum);
}

mabd_energy_balance mabd_maximal_energy_balance(const void* self) {
    const mabd_maximal_sim* sim = self;
    const mabd_measure now = mabd_maximal_measure(self);
    return mabd_rigid_books_balance(&sim->books, sim->model, &now, MABD_BOOKED_CONTACTS);
}

// State of a body before or after the step that is booked.
static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_maximal_sim* sim = self;
    return mabd_maximal_state_of(sim, after ? &sim->now : &sim->last,
                                 after ? sim->time : sim->time - sim->def.h, body);
}

static void book_joint(mabd_maximal_sim* sim, const mabd_rigid_step* step, int32_t index) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const bool works = mabd_rigid_books_joint(m, index);
    const bool scripted = mabd_rigid_has_script(m, index);
    const int32_t slot = sim->plan->joint_slot[index];
    mabd_real force[2 * MABD_JOINT_MAX_ROWS] = {0};
    mabd_rigid_joint_step own = {.joint = index};
    if (!works && !scripted) return;
    for (int32_t r = 0; slot >= 0 && r < set->rigid_count; r++) {
        force[r] = sim->lambda[sim->plan->slot_row[slot] + r] / sim->def.h;
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const size_t k = (size_t)(joint->coordinate + r);
        const mabd_real *x0 = sim->last.x + 2 * k, *x1 = sim->now.x + 2 * k;
        memcpy(own.x[0] + 2 * r, x0, 2 * sizeof *x0);
        memcpy(own.x[1] + 2 * r, x1, 2 * sizeof *x1);
        own.through[r] = sim->through[k] * (x1[0] - x0[0]);
        force[set->rigid_count + r] = sim->through[k];
    }
    if (works) mabd_rigid_book_joint(step, &own, &sim->books.work);
    if (scripted) mabd_rigid_book_script(step, &own, force, &sim->books.work);
}

void mabd_maximal_book_step(mabd_maximal_sim* sim, mabd_real time) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = time,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    for (int32_t i = 0; i < sim->model->joint_count; i++) book_joint(sim, &step, i);
    mabd_maximal_book_springs(sim);
    if (sim->contacts) mabd_redmax_book_contacts(sim->contacts, &step, &sim->books.work);
    if (!mabd_rigid_books_bodies(&step)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
