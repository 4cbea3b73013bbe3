// SPDX-License-Identifier: Apache-2.0
// Results for a user: poses in user frames, energies, joint forces, coordinates. Joint forces are
// those of the last substep, means about its start.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/frames.h"
#include "rigid/joint_coordinates.h"
#include "rigid/measure.h"
#include "rigid/rigid_output.h"
#include "rigid/rigid_springs.h"
#include "rigid/script.h"

#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

static mabd_rigid_state state_of(const mabd_variational_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    mabd_rigid_state s;
    if (sim->body_script[body] >= 0) {
        return mabd_rigid_script_state(m, &m->scripts[sim->body_script[body]], sim->time);
    }
    if (!mabd_variational_moves(sim, body)) {
        s = mabd_rigid_from_user(mabd_variational_class(sim, body), &sim->start[body]);
        s.v = s.omega = mabd_v3(0, 0, 0);
        return s;
    }
    const mabd_rigid_twist u = mabd_variational_velocities(sim)[body];
    s.c = sim->now[body].c, s.q = sim->now[body].q;
    s.v = u.v, s.omega = mabd_q_rotate(s.q, u.w);
    return s;
}

void mabd_variational_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                                mabd_real* velocities, mabd_real* angular) {
    const mabd_variational_sim* sim = self;
    for (size_t i = 0; i < (size_t)sim->model->body_count; i++) {
        const mabd_rigid_state s = state_of(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(mabd_variational_class(sim, (int32_t)i), &s, &user);
        mabd_rigid_write_state(&user, i, positions, quaternions, velocities, angular);
    }
}

// ---- joints ------------------------------------------------------------------------------------

static mabd_rigid_pose pose_of(const mabd_variational_sim* sim, int32_t body) {
    if (!mabd_variational_moves(sim, body)) {
        return mabd_variational_fixed_pose(sim, body, sim->time);
    }
    const mabd_rigid_pose pose = {mabd_q_matrix(sim->now[body].q), sim->now[body].c};
    return pose;
}

static mabd_joint_view view_now(const mabd_variational_sim* sim, const mabd_model_joint* joint) {
    const mabd_rigid_pose a = pose_of(sim, joint->a), b = pose_of(sim, joint->b);
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    view.Aa = a.R, view.ta = a.c, view.Ab = b.R, view.tb = b.c;
    return view;
}

// Coordinates and rates (controls x 2) of a joint at the state.
static void axes_now(const mabd_variational_sim* sim, int32_t joint, mabd_real* x) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const mabd_rigid_twist* u = mabd_variational_velocities(sim);
    const mabd_joint_view view = view_now(sim, j);
    mabd_real near[2 * MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < set->control_count; r++) near[2 * r] = sim->axis[j->coordinate + r].x;
    mabd_rigid_control_coordinates(set, &view, u[j->a], u[j->b], near, x);
}

// ---- energies ----------------------------------------------------------------------------------

static void measure_joint(const mabd_variational_sim* sim, int32_t joint, mabd_rigid_sum* sum) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const mabd_joint_view view = view_now(sim, j);
    mabd_real x[2 * MABD_JOINT_MAX_ROWS];
    if (j->coordinate >= 0 && set->control_count > 0) {
        axes_now(sim, joint, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            mabd_rigid_sum_control(&set->control[r], x[2 * r], x[2 * r + 1], sum);
        }
    }
    mabd_rigid_sum_joint(sim->model, joint, &view, sum);
}

mabd_measure mabd_variational_measure(const void* self) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!mabd_variational_moves(sim, i)) continue;
        const mabd_rigid_state s = state_of(sim, i);
        mabd_rigid_sum_body(m, i, &s, &sum);
    }
    for (int32_t i = 0; i < m->joint_count; i++) measure_joint(sim, i, &sum);
    if (m->spring_count > 0) {
        for (int32_t i = 0; i <= m->body_count; i++) sim->to[i] = pose_of(sim, i);
    }
    for (int32_t i = 0; i < m->spring_count; i++) {
        sum.out.spring += mabd_rigid_spring_energy(m, &m->springs[i], sim->to);
    }
    return mabd_rigid_sum_end(&sum);
}

mabd_energy_balance mabd_variational_energy_balance(const void* self) {
    const mabd_variational_sim* sim = self;
    const mabd_measure now = mabd_variational_measure(self);
    return mabd_rigid_books_balance(&sim->books, sim->model, &now,
                                    MABD_BOOKED_STOPS | MABD_BOOKED_CONTACTS);
}

// ---- forces ------------------------------------------------------------------------------------

// Force of the spring and the servo with gains of a control, which is not in its row.
static mabd_real explicit_force(const mabd_variational_sim* sim, const mabd_control* c, int32_t k) {
    if (c->rigid || !(c->stiffness > 0)) return 0;
    const mabd_real target = c->gain > 0 ? sim->input[k] : 0;
    return c->offset + c->gain * target - c->stiffness * sim->axis[k].x;
}

void mabd_variational_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_real zero = 0;
    memset(forces, 0, 6 * (size_t)m->joint_count * sizeof *forces);
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = mabd_variational_set(sim, i);
        const int32_t first = mabd_variational_first_row(sim, i);
        const mabd_joint_view view = view_now(sim, joint);
        mabd_real *wrench = forces + 6 * (size_t)i, near[MABD_JOINT_MAX_ROWS];
        const bool moves =
            mabd_variational_moves(sim, joint->a) || mabd_variational_moves(sim, joint->b);
        if (!moves) continue;
        for (int32_t r = 0; first >= 0 && r < set->rigid_count; r++) {
            mabd_rigid_add_row_force(&view, &set->rigid[r], NULL, sim->lambda[first + r], wrench);
        }
        for (int32_t r = 0; r < set->control_count; r++) {
            near[r] = sim->axis[joint->coordinate + r].x;
        }
        const mabd_rigid_joint at =
            mabd_rigid_joint_at(&view, set->control_count, set->control_row, near);
        for (int32_t r = 0; r < set->control_count; r++) {
            const int32_t k = joint->coordinate + r;
            const mabd_real lambda = sim->lambda[first + set->rigid_count + r];
            const mabd_real spring = explicit_force(sim, &set->control[r], k) +
                                     mabd_variational_bound_force(sim, k, false);
            const bool turn = mabd_variational_is_damped_turn(set, r);
            const bool slide = set->control_row[r].kind == MABD_ROW_SLIDE;
            mabd_rigid_row J = mabd_rigid_row_jacobian(&at, &set->control_row[r]);
            mabd_real* part = slide ? wrench : wrench + 3;
            mabd_vec3 effect = slide ? J.b.f : mabd_m3_mul(view.Ab, J.b.t);
            mabd_vec3 sum =
                mabd_v3_axpy(turn ? spring : spring + lambda, effect, mabd_v3_load(part));
            if (turn) {
                J = mabd_variational_turn_row(&view, set->control_row[r].axis);
                effect = mabd_m3_mul(view.Ab, J.b.t);
                sum = mabd_v3_axpy(lambda, effect, sum);
            }
            mabd_v3_store(sum, part);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const mabd_real p = sim->input[mabd_rigid_motor_input(&sim->inputs, i, r)];
            mabd_rigid_add_row_force(&view, &set->motor[r].row, &zero, p, wrench);
        }
    }
}

void mabd_variational_get_efforts(const void* self, mabd_real* efforts) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    memset(efforts, 0, 6 * (size_t)m->joint_count * sizeof *efforts);
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = mabd_variational_set(sim, i);
        const int32_t first = mabd_variational_first_row(sim, i);
        mabd_real x[2 * MABD_JOINT_MAX_ROWS];
        if (first < 0 || set->control_count == 0) continue;
        axes_now(sim, i, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const mabd_row* row = &set->control_row[r];
            const int32_t k = m->joints[i].coordinate + r;
            const mabd_axis axis =
                (mabd_axis)(row->kind == MABD_ROW_SLIDE ? row->axis : MABD_AXIS_RX + row->axis);
            mabd_real* effort = &efforts[6 * (size_t)i + (size_t)axis];
            if (mabd_variational_is_held(c) || mabd_variational_is_paced(c)) {
                // all that the row does besides spring and damper
                *effort = sim->lambda[first + set->rigid_count + r] +
                          c->spring * (x[2 * r] - c->rest) +
                          (c->damping - c->gain_damping) * x[2 * r + 1];
            } else {
                *effort = c->gain * ((c->gain > 0 ? sim->input[k] : 0) - x[2 * r]) -
                          c->gain_damping * x[2 * r + 1] +
                          mabd_variational_bound_force(sim, k, true);
            }
        }
    }
}

void mabd_variational_get_joint_coordinates(const void* self, int32_t joint,
                                            mabd_real* coordinates) {
    const mabd_variational_sim* sim = self;
    const mabd_model_joint* j = &sim->model->joints[joint];
    mabd_real known[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < mabd_variational_set(sim, joint)->control_count; r++) {
        known[r] = sim->axis[j->coordinate + r].x;
    }
    mabd_rigid_joint_coordinates(sim->model, joint, view_now(sim, j), sim->start, known,
                                 coordinates);
}

void mabd_variational_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x) {
    const mabd_variational_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const int32_t joint = copy * m->copy_joints + own->joint;
    const mabd_model_joint* j = &m->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    if (own->kind != MABD_CONTROL_FORCE) {
        mabd_real all[2 * MABD_JOINT_MAX_ROWS];
        axes_now(sim, joint, all);
        memcpy(x, all + 2 * own->row, 2 * sizeof *x);
        return;
    }
    const mabd_joint_view view = view_now(sim, j);
    const mabd_rigid_twist* u = mabd_variational_velocities(sim);
    const mabd_real near = 0;
    mabd_rigid_row J;
    mabd_rigid_joint_rows(&view, 1, &set->motor[own->row].row, &near, x, &J);
    x[1] = mabd_rigid_row_rate(&J, u[j->a], u[j->b]);
}
