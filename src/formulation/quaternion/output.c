// SPDX-License-Identifier: Apache-2.0
// Results for a user: poses in user frames, energies, joint forces, coordinates.
//
// Multipliers of methods with one solve are those of the solve. Those of two solves do not converge
// at the last one, so joint forces come from the accelerations at the state (kinematics.h). Where
// rows are redundant both are replaced by the weighted least-norm ones with the same forces on the
// bodies (multipliers.h). All of it is computed when joint forces are first requested.

#include "formulation/quaternion/quaternion_sim.h"

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/multipliers.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "rigid/frames.h"
#include "rigid/joint_coordinates.h"
#include "rigid/measure.h"
#include "rigid/rigid_output.h"
#include "rigid/script.h"
#include "scene/signal.h"

#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

static mabd_rigid_state state_of(const mabd_quaternion_sim* sim, int32_t body) {
    const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)body;
    mabd_rigid_state s;
    const int32_t script = sim->body_script[body];
    if (script >= 0) {
        return mabd_rigid_script_state(sim->model, &sim->model->scripts[script], sim->time);
    }
    s.c = mabd_v3_load(row), s.q = mabd_q_normalize(mabd_q_load(row + 3));
    s.v = mabd_v3_load(row + 7);
    s.omega = mabd_q_rotate(s.q, mabd_rigid_spin(s.q, mabd_q_load(row + 10)));
    return s;
}

void mabd_quaternion_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                               mabd_real* velocities, mabd_real* angular) {
    const mabd_quaternion_sim* sim = self;
    for (size_t i = 0; i < (size_t)sim->model->body_count; i++) {
        const mabd_rigid_state s = state_of(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(&sim->model->classes[sim->model->body_class[i]], &s, &user);
        mabd_rigid_write_state(&user, i, positions, quaternions, velocities, angular);
    }
}

// ---- energies ----------------------------------------------------------------------------------

// Add springs, armatures and errors of a joint.
static void measure_joint(const mabd_quaternion_sim* sim, int32_t index, mabd_rigid_sum* sum) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_quaternion_view_now(sim, joint);
    for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
        const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
        mabd_rigid_sum_control(&set->control[r], x[0], x[1], sum);
    }
    mabd_rigid_sum_joint(sim->model, index, &view, sum);
}

mabd_measure mabd_quaternion_measure(const void* self) {
    const mabd_quaternion_sim* sim = self;
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        if (sim->body_slot[i] < 0) continue;
        const mabd_rigid_state s = state_of(sim, i);
        mabd_rigid_sum_body(sim->model, i, &s, &sum);
    }
    for (int32_t i = 0; i < sim->model->joint_count; i++) measure_joint(sim, i, &sum);
    return mabd_rigid_sum_end(&sum);
}

mabd_energy_balance mabd_quaternion_energy_balance(const void* self) {
    const mabd_quaternion_sim* sim = self;
    const mabd_measure now = mabd_quaternion_measure(self);
    return mabd_rigid_books_balance(&sim->books, sim->model, &now, 0);
}

// ---- joints ------------------------------------------------------------------------------------

// Pose of a side at the state.
static void side_now(const mabd_quaternion_sim* sim, int32_t body, mabd_mat3* R, mabd_vec3* c) {
    if (body < sim->model->body_count && sim->body_slot[body] >= 0) {
        const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)body;
        *c = mabd_v3_load(row);
        *R = mabd_q_matrix(mabd_q_normalize(mabd_q_load(row + 3)));
    } else {
        mabd_quaternion_side(sim, NULL, sim->time, body, R, c);
    }
}

mabd_joint_view mabd_quaternion_view_now(const mabd_quaternion_sim* sim,
                                         const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    side_now(sim, joint->a, &view.Aa, &view.ta);
    side_now(sim, joint->b, &view.Ab, &view.tb);
    return view;
}

static bool has_damped_turns(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part) {
    const mabd_model* m = sim->model;
    bool has = false;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const int32_t joint = sim->joints[part->joint_first + i].joint;
        has |= m->row_sets[m->joints[joint].row_set].damped;
    }
    return has;
}

// Write the multipliers of a part at the state to sim->force_lambda, and the derivatives of the
// relative angular velocities of its damped rotations to sim->next_slope, which is free between
// steps.
static void find_multipliers(mabd_quaternion_sim* sim, mabd_quaternion_part* part, bool solved) {
    mabd_real* out = sim->force_lambda + part->row_first;
    const mabd_real* known = sim->lambda + part->row_first;
    const bool turns = has_damped_turns(sim, part);
    mabd_quaternion_report report = {0};
    mabd_quaternion_solve s = {.sim = sim, .part = part, .report = &report};
    s.from = s.time = sim->time, s.h = sim->def.h;
    if (!solved || turns) {
        mabd_quaternion_set_inputs(&s);
        if (mabd_quaternion_accelerate(&s, &sim->now) == MABD_OK) {
            if (turns) mabd_quaternion_write_slope(&s, &sim->now, &sim->next_slope);
            if (!solved) known = sim->y + part->vector_first + 6 * (size_t)part->body_count;
        }
    }
    memcpy(out, known, (size_t)part->row_count * sizeof *out);
    if (!part->redundant) return;
    if (sim->def.quaternion.multipliers == MABD_MULTIPLIERS_LEAST_NORM) {
        mabd_quaternion_reduce(&s, &sim->now, out);
    }
}

// Add the torque of dampers and armature of a rotation vector on b: -F (d r + I r'), with the
// relative angular velocity r in the joint frame F on b.
static void add_damper_torque(const mabd_quaternion_sim* sim, const mabd_model_joint* joint,
                              const mabd_joint_view* view, mabd_real* wrench) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real torque[3] = {0};
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(set, r)) continue;
        const size_t rate = 2 * (size_t)(joint->coordinate + r) + 1;
        torque[set->control_row[r].axis] = -set->control[r].damping * sim->now.x[rate] -
                                           set->control[r].armature * sim->next_slope.x[rate];
    }
    const mabd_vec3 world = mabd_m3_mul(view->Ab, mabd_m3_mul(view->Fb, mabd_v3_load(torque)));
    mabd_v3_store(mabd_v3_add(mabd_v3_load(wrench + 3), world), wrench + 3);
}

// Multipliers at the state.
static const mabd_real* multipliers(const mabd_quaternion_sim* self) {
    mabd_quaternion_sim* sim = (mabd_quaternion_sim*)self; // its state does not change
    const mabd_integrator i = sim->def.integrator;
    const bool solved = i == MABD_INTEGRATOR_EULER || i == MABD_INTEGRATOR_BDF2 ||
                        i == MABD_INTEGRATOR_SEMI_IMPLICIT;
    for (int32_t p = 0; !sim->forces_known && p < sim->part_count; p++) {
        find_multipliers(sim, &sim->parts[p], solved);
    }
    sim->forces_known = true;
    return sim->force_lambda;
}

void mabd_quaternion_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_real* lambda = multipliers(sim);
    const mabd_real zero = 0;
    memset(forces, 0, 6 * (size_t)m->joint_count * sizeof *forces);
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[i];
        const mabd_model_joint* joint = &m->joints[j->joint];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        const mabd_joint_view view = mabd_quaternion_view_now(sim, joint);
        mabd_real* wrench = forces + 6 * (size_t)j->joint;
        for (int32_t r = 0; r < set->rigid_count; r++) {
            mabd_rigid_add_row_force(&view, &set->rigid[r], NULL, lambda[j->row + r], wrench);
        }
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
            mabd_rigid_add_row_force(&view, &set->control_row[r], x,
                                     lambda[j->row + set->rigid_count + r], wrench);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const mabd_real p = sim->input[m->coordinate_count + j->motor + r];
            mabd_rigid_add_row_force(&view, &set->motor[r].row, &zero, p, wrench);
        }
        if (set->damped) add_damper_torque(sim, joint, &view, wrench);
    }
}

void mabd_quaternion_get_efforts(const void* self, mabd_real* efforts) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_real* lambda = multipliers(sim);
    memset(efforts, 0, 6 * (size_t)m->joint_count * sizeof *efforts);
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[i];
        const mabd_row_set* set = &m->row_sets[m->joints[j->joint].row_set];
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_axis axis = mabd_quaternion_axis_of(&set->control_row[r]);
            const mabd_real own = lambda[j->row + set->rigid_count + r];
            efforts[6 * (size_t)j->joint + (size_t)axis] =
                mabd_quaternion_effort_of(sim, j->joint, r, own).force;
        }
    }
}

void mabd_quaternion_get_joint_coordinates(const void* self, int32_t index,
                                           mabd_real* coordinates) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real known[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
        known[r] = sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_coordinates(sim->model, index, mabd_quaternion_view_now(sim, joint),
                                 sim->start, known, coordinates);
}

// Velocity of a side (6): of the centre, world; angular, principal frame.
static void side_velocity(const mabd_quaternion_sim* sim, int32_t body, mabd_real* u) {
    memset(u, 0, 6 * sizeof *u);
    if (body == sim->model->body_count) return;
    const mabd_rigid_state s = state_of(sim, body);
    mabd_v3_store(s.v, u);
    mabd_v3_store(mabd_q_rotate(mabd_q_conjugate(s.q), s.omega), u + 3);
}

void mabd_quaternion_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const mabd_model_joint* joint = &m->joints[copy * m->copy_joints + own->joint];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    if (own->kind != MABD_CONTROL_FORCE) {
        memcpy(x, sim->now.x + 2 * (size_t)(joint->coordinate + own->row), 2 * sizeof *x);
        return;
    }
    const mabd_joint_view view = mabd_quaternion_view_now(sim, joint);
    const mabd_real near = 0;
    mabd_real ua[6], ub[6];
    mabd_rigid_row J;
    mabd_rigid_joint_rows(&view, 1, &set->motor[own->row].row, &near, x, &J);
    side_velocity(sim, joint->a, ua), side_velocity(sim, joint->b, ub);
    x[1] = mabd_v3_dot(J.a.f, mabd_v3_load(ua)) + mabd_v3_dot(J.a.t, mabd_v3_load(ua + 3)) +
           mabd_v3_dot(J.b.f, mabd_v3_load(ub)) + mabd_v3_dot(J.b.t, mabd_v3_load(ub + 3));
}
