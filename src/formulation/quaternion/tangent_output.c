// SPDX-License-Identifier: Apache-2.0
// Derivatives of what a user sees of a state: user frames (rigid/user_change.h), energy.

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/tangent.h"

#include <string.h>

// out (12) += derivative of the user's state of a body.
static void pass_user(const mabd_quaternion_sim* sim, int32_t body, bool back, mabd_real* out,
                      mabd_real* xi, mabd_real* eta) {
    const mabd_quat q = mabd_q_load(sim->pose + 7 * (size_t)body + 3);
    const mabd_quat w = mabd_q_load(sim->now.body + MABD_NODE_REALS * (size_t)body + 10);
    mabd_rigid_pass_user(&sim->model->classes[sim->model->body_class[body]], q,
                         mabd_rigid_spin(q, w), back, out, xi, eta);
}

// state += derivative of the user's states by the center of mass of a body.
static void pass_user_center(const mabd_quaternion_sim* sim, const mabd_parameter* own, bool back,
                             mabd_real* state, mabd_real* value) {
    if (own->kind != MABD_PARAMETER_CENTER) return;
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[own->index]];
    const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)own->index;
    const mabd_quat q = mabd_q_normalize(mabd_q_load(row + 3));
    mabd_rigid_pass_user_center(c, q, mabd_rigid_spin(q, mabd_q_load(row + 10)), own->component,
                                back, state + 12 * (size_t)own->index, value);
}

static mabd_quaternion_solve solve_of(mabd_quaternion_sim* sim, int32_t part) {
    mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[part]};
    s.from = s.time = sim->time, s.h = sim->def.h;
    return s;
}

// Map between a node and the user's states of the bodies of a part.
static void pass_part(const mabd_quaternion_gradient* g, int32_t part, bool back, mabd_real* out,
                      mabd_quaternion_node node) {
    const mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_solve s = solve_of(g->sim, part);
    mabd_quaternion_take_pose(&s, &sim->now);
    memset(g->xi, 0, 6 * (size_t)s.part->body_count * sizeof *g->xi);
    memset(g->eta, 0, 6 * (size_t)s.part->body_count * sizeof *g->eta);
    if (!back) mabd_tangent_state(&s, false, &sim->now, g->xi, g->eta, node);
    for (int32_t i = 0; i < s.part->body_count; i++) {
        const int32_t body = sim->bodies[s.part->body_first + i];
        pass_user(sim, body, back, out + 12 * (size_t)body, g->xi + 6 * (size_t)i,
                  g->eta + 6 * (size_t)i);
    }
    if (back) mabd_tangent_state(&s, true, &sim->now, g->xi, g->eta, node);
}

void mabd_tangent_write_output(const mabd_quaternion_gradient* g, int32_t parameter,
                               mabd_real* state) {
    const mabd_parameter* own = &g->parameters[parameter];
    mabd_real one = 1;
    memset(state, 0, 12 * (size_t)g->sim->model->body_count * sizeof *state);
    for (int32_t i = 0; i < g->sim->part_count; i++) {
        pass_part(g, i, false, state, g->directions[parameter].now);
    }
    pass_user_center(g->sim, own, false, state, &one);
}

// ---- energy ------------------------------------------------------------------------------------

static void add_body_energy(const mabd_quaternion_gradient* g, int32_t body, mabd_real s,
                            mabd_real* xi, mabd_real* eta) {
    const mabd_quaternion_sim* sim = g->sim;
    const mabd_model* m = sim->model;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)body;
    const mabd_vec3 om =
        mabd_rigid_spin(mabd_q_load(sim->pose + 7 * (size_t)body + 3), mabd_q_load(row + 10));
    const mabd_vec3 L = mabd_rigid_diagonal_mul(mabd_v3_load(c->principal), om);
    const mabd_real mass = s * c->material.mass;
    mabd_v3_store(mabd_v3_axpy(-mass, mabd_v3_load(m->gravity), mabd_v3_load(xi)), xi);
    mabd_v3_store(mabd_v3_axpy(mass, mabd_v3_load(row + 7), mabd_v3_load(eta)), eta);
    mabd_v3_store(mabd_v3_axpy(s, L, mabd_v3_load(eta + 3)), eta + 3);
}

static void add_joint_energy(const mabd_quaternion_gradient* g, int32_t index, mabd_real s) {
    const mabd_quaternion_sim* sim = g->sim;
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
        mabd_real* bar = g->directions[0].now.x + 2 * (size_t)(joint->coordinate + r);
        bar[0] += s * c->spring * (x[0] - c->rest), bar[1] += s * c->armature * x[1];
    }
}

// Derivative of the energy by a parameter at a fixed state.
static mabd_real energy_by(const mabd_quaternion_gradient* g, const mabd_parameter* own) {
    const mabd_quaternion_sim* sim = g->sim;
    const mabd_model* m = sim->model;
    if (own->kind == MABD_PARAMETER_GRAVITY) {
        mabd_real sum = 0;
        for (int32_t i = 0; i < sim->body_count; i++) {
            const int32_t body = sim->bodies[i];
            sum -= m->classes[m->body_class[body]].material.mass *
                   sim->now.body[MABD_NODE_REALS * (size_t)body + (size_t)own->component];
        }
        return sum;
    }
    if (own->kind == MABD_PARAMETER_MASS || own->kind == MABD_PARAMETER_INERTIA) {
        const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)own->index;
        const mabd_vec3 v = mabd_v3_load(row + 7);
        const mabd_quat q = mabd_q_normalize(mabd_q_load(row + 3));
        const mabd_vec3 om = mabd_rigid_spin(q, mabd_q_load(row + 10));
        if (own->kind == MABD_PARAMETER_MASS) {
            return mabd_v3_dot(v, v) / 2 - mabd_v3_dot(mabd_v3_load(m->gravity), mabd_v3_load(row));
        }
        const mabd_mat3 dI =
            mabd_rigid_inertia_change(&m->classes[m->body_class[own->index]], own->component);
        return mabd_v3_dot(om, mabd_m3_mul(dI, om)) / 2;
    }
    int32_t k;
    const mabd_control* c = mabd_rigid_axis_control(m, own, &k);
    if (!c) return 0;
    const mabd_real* x = sim->now.x + 2 * (size_t)(m->joints[own->index].coordinate + k);
    switch (own->kind) {
    case MABD_PARAMETER_STIFFNESS:
        return (x[0] - c->rest) * (x[0] - c->rest) / 2;
    case MABD_PARAMETER_REST:
        return -c->spring * (x[0] - c->rest);
    case MABD_PARAMETER_ARMATURE:
        return x[1] * x[1] / 2;
    default:
        return 0;
    }
}

static void add_energy(const mabd_quaternion_gradient* g, mabd_real s, mabd_real* gradient) {
    const mabd_quaternion_sim* sim = g->sim;
    for (int32_t part = 0; part < sim->part_count; part++) {
        const mabd_quaternion_solve at = solve_of(g->sim, part);
        const size_t bytes = 6 * (size_t)at.part->body_count * sizeof *g->xi;
        mabd_quaternion_take_pose(&at, &sim->now);
        memset(g->xi, 0, bytes), memset(g->eta, 0, bytes);
        for (int32_t i = 0; i < at.part->body_count; i++) {
            add_body_energy(g, sim->bodies[at.part->body_first + i], s, g->xi + 6 * (size_t)i,
                            g->eta + 6 * (size_t)i);
        }
        mabd_tangent_state(&at, true, &sim->now, g->xi, g->eta, g->directions[0].now);
        for (int32_t i = 0; i < at.part->joint_count; i++) {
            add_joint_energy(g, sim->joints[at.part->joint_first + i].joint, s);
        }
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        gradient[i] += s * energy_by(g, &g->parameters[i]);
    }
}

mabd_status mabd_tangent_add_output(mabd_quaternion_gradient* g, const mabd_output_bars* bars,
                                    mabd_error* error) {
    mabd_real* state = (mabd_real*)bars->state; // read only
    for (int32_t i = 0; i < g->sim->part_count; i++) {
        pass_part(g, i, true, state, g->directions[0].now);
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        pass_user_center(g->sim, &g->parameters[i], true, state, &g->product[i]);
    }
    if (bars->energy != 0) add_energy(g, bars->energy, g->product);
    return mabd_tangent_forces(g, bars, g->product, error);
}
