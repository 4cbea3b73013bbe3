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
#include "rigid/frames.h"
#include "rigid/joint_coordinates.h"
#include "rigid/row_error.h"
#include "rigid/script.h"
#include "scene/signal.h"

#include <math.h>
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
    const size_t three = 3 * sizeof(mabd_real), four = 4 * sizeof(mabd_real);
    for (size_t i = 0; i < (size_t)sim->model->body_count; i++) {
        const mabd_rigid_state s = state_of(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(&sim->model->classes[sim->model->body_class[i]], &s, &user);
        if (positions) memcpy(positions + 3 * i, user.position, three);
        if (quaternions) memcpy(quaternions + 4 * i, user.rotation, four);
        if (velocities) memcpy(velocities + 3 * i, user.velocity, three);
        if (angular) memcpy(angular + 3 * i, user.angular_velocity, three);
    }
}

// ---- energies ----------------------------------------------------------------------------------

static void measure_body(const mabd_quaternion_sim* sim, int32_t body, mabd_measure* out,
                         mabd_vec3* p, mabd_vec3* L) {
    const mabd_model* m = sim->model;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_rigid_state s = state_of(sim, body);
    const mabd_real mass = c->material.mass;
    const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s.q), s.omega);
    const mabd_vec3 spin = mabd_rigid_diagonal_mul(mabd_v3_load(c->principal), om);
    out->kinetic += (mass * mabd_v3_dot(s.v, s.v) + mabd_v3_dot(om, spin)) / 2;
    out->gravity -= mass * mabd_v3_dot(mabd_v3_load(m->gravity), s.c);
    *p = mabd_v3_axpy(mass, s.v, *p);
    *L = mabd_v3_add(mabd_v3_axpy(mass, mabd_v3_cross(s.c, s.v), *L), mabd_q_rotate(s.q, spin));
}

// Add springs, armatures and errors of a joint.
static void measure_joint(const mabd_quaternion_sim* sim, int32_t index, mabd_measure* out) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real gap, angle;
    for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
        out->spring += c->spring * (x[0] - c->rest) * (x[0] - c->rest) / 2;
        out->kinetic += c->armature * x[1] * x[1] / 2;
    }
    const mabd_joint_view view = mabd_quaternion_view_now(sim, joint);
    mabd_rigid_joint_error(&view, set, &gap, &angle);
    if (gap > out->gap || angle > out->angle_error || out->worst_joint < 0) {
        out->worst_joint = index;
    }
    if (gap > out->gap) out->gap = gap;
    if (angle > out->angle_error) out->angle_error = angle;
}

mabd_measure mabd_quaternion_measure(const void* self) {
    const mabd_quaternion_sim* sim = self;
    mabd_measure out = {.worst_joint = -1};
    mabd_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        if (sim->body_slot[i] >= 0) measure_body(sim, i, &out, &p, &L);
    }
    for (int32_t i = 0; i < sim->model->joint_count; i++) measure_joint(sim, i, &out);
    out.energy = out.kinetic + out.gravity + out.spring;
    mabd_v3_store(p, out.linear_momentum);
    mabd_v3_store(L, out.angular_momentum);
    return out;
}

mabd_energy_balance mabd_quaternion_energy_balance(const void* self) {
    const mabd_quaternion_sim* sim = self;
    const mabd_measure now = mabd_quaternion_measure(self);
    const mabd_real unknown = (mabd_real)NAN;
    mabd_energy_balance b;
    b.kinetic = now.kinetic - sim->start_energy[0];
    b.gravity = now.gravity - sim->start_energy[1];
    b.spring = now.spring - sim->start_energy[2];
    b.elastic = 0;
    b.drives = b.scripts = b.forces = b.dampers = b.friction = b.drag = b.impacts = unknown;
    b.integrator = -(b.kinetic + b.gravity + b.spring);
    return b;
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

// Write the multipliers of a part at the state to sim->force_lambda.
static void find_multipliers(mabd_quaternion_sim* sim, mabd_quaternion_part* part, bool solved) {
    mabd_real* out = sim->force_lambda + part->row_first;
    const mabd_real* known = sim->lambda + part->row_first;
    mabd_quaternion_report report = {0};
    mabd_quaternion_solve s = {.sim = sim, .part = part, .report = &report};
    s.from = s.time = sim->time, s.h = sim->def.h;
    if (!solved) {
        mabd_quaternion_set_inputs(&s);
        if (mabd_quaternion_accelerate(&s, &sim->now) == MABD_OK) {
            known = sim->y + part->vector_first + 6 * (size_t)part->body_count;
        }
    }
    memcpy(out, known, (size_t)part->row_count * sizeof *out);
    if (!part->redundant) return;
    if (sim->def.quaternion.multipliers == MABD_MULTIPLIERS_LEAST_NORM) {
        mabd_quaternion_reduce(&s, &sim->now, out);
    }
}

// Multipliers at the state.
static const mabd_real* multipliers(const mabd_quaternion_sim* self) {
    mabd_quaternion_sim* sim = (mabd_quaternion_sim*)self; // its state does not change
    const mabd_integrator i = sim->def.integrator;
    const bool solved = i == MABD_INTEGRATOR_EULER || i == MABD_INTEGRATOR_BDF2;
    for (int32_t p = 0; !sim->forces_known && p < sim->part_count; p++) {
        find_multipliers(sim, &sim->parts[p], solved);
    }
    sim->forces_known = true;
    return sim->force_lambda;
}

// Add s times the force and torque of a row on body b, world axes.
static void add_row(const mabd_joint_view* view, const mabd_row* row, const mabd_real* near,
                    mabd_real s, mabd_real* wrench) {
    const mabd_rigid_joint at = mabd_rigid_joint_at(view, 1, row, near);
    const mabd_rigid_row J = mabd_rigid_row_jacobian(&at, row);
    const bool force = row->kind == MABD_ROW_POINT || row->kind == MABD_ROW_SLIDE;
    const mabd_vec3 effect = force ? J.b.f : mabd_m3_mul(view->Ab, J.b.t);
    if (!force) wrench += 3;
    mabd_v3_store(mabd_v3_axpy(s, effect, mabd_v3_load(wrench)), wrench);
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
            add_row(&view, &set->rigid[r], NULL, lambda[j->row + r], wrench);
        }
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
            add_row(&view, &set->control_row[r], x, lambda[j->row + set->rigid_count + r], wrench);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const mabd_real p = sim->input[m->coordinate_count + j->motor + r];
            add_row(&view, &set->motor[r].row, &zero, p, wrench);
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

void mabd_quaternion_control_state(const mabd_quaternion_sim* sim, int32_t copy, int32_t control,
                                   mabd_real* x) {
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
