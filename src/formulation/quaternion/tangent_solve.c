// SPDX-License-Identifier: Apache-2.0
// Derivatives of a solve of the integrator by its past, and of the node at its end.
//
// With v = (c - c_p)/bh, w = (q - q_p)/bh and so on (rigid/body_residual.h), E_a and E_v of that
// file and k = bh^2,
//
//   dF_f = -k (m/bh^2 + drag/bh) dc_p - k m/bh dv_p
//   dF_t = -k (E_a/bh^2 + E_v/bh) dq_p - k E_a/bh dw_p
//
// A compliant row has dF = -c (d/bh + I/bh^2) dx_p - c I/bh dx'_p (assemble.c), a row that friction
// or a rate drive holds dF = -dx_p (tangent_axis.h), a damped rotation
// (ball_damper.h) d om = -2/bh H dq_p of both sides and -F I/bh of its past rates.
//
// The node: dc, dq = H'phi/2, and v, w, x, x' by differences with the past.

#include "formulation/quaternion/tangent.h"

#include "formulation/quaternion/tangent_axis.h"

// ---- bodies ------------------------------------------------------------------------------------

static void pass_body_past(const mabd_quaternion_point* p, int32_t slot, bool back, mabd_real* past,
                           mabd_real* F) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    const int32_t body = sim->bodies[p->s.part->body_first + slot];
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_real mass = c->material.mass, drag = c->material.drag, bh = p->s.bh;
    const mabd_vec3 J = mabd_v3_load(c->principal);
    const mabd_rigid_motion motion = mabd_quaternion_motion(
        &p->s, sim->pose + 7 * (size_t)body, sim->past.body + MABD_NODE_REALS * (size_t)body);
    mabd_real E_a[12], E_v[12];
    mabd_rigid_by_acceleration(J, motion.q, E_a);
    mabd_rigid_by_velocity(J, motion.q, motion.w, E_v);
    mabd_pass_scaled(back, -(mass + bh * drag), 3, F, past);
    mabd_pass_scaled(back, -bh * mass, 3, F, past + 7);
    mabd_pass(back, -1, E_a, 3, 4, F + 3, past + 3);
    mabd_pass(back, -bh, E_v, 3, 4, F + 3, past + 3);
    mabd_pass(back, -bh, E_a, 3, 4, F + 3, past + 10);
}

void mabd_tangent_turn(bool back, mabd_real s, mabd_quat q, mabd_real* dq, mabd_real* phi) {
    for (int k = 0; k < 3; k++) {
        const mabd_quat h = mabd_rigid_h_tmul(q, mabd_v3(k == 0, k == 1, k == 2));
        const mabd_real column[4] = {h.w / 2, h.x / 2, h.y / 2, h.z / 2};
        mabd_pass(back, s, column, 4, 1, dq, phi + k);
    }
}

static void pass_body_node(const mabd_quaternion_point* p, bool back, mabd_quat q, mabd_real* node,
                           mabd_real* dx, mabd_real* past) {
    const mabd_real rate = 1 / p->s.bh;
    mabd_pass_scaled(back, 1, 3, node, dx);
    mabd_tangent_turn(back, 1, q, node + 3, dx + 3);
    mabd_pass_scaled(back, rate, 3, node + 7, dx);
    mabd_tangent_turn(back, rate, q, node + 10, dx + 3);
    mabd_pass_scaled(back, -rate, 7, node + 7, past);
}

// ---- joints ------------------------------------------------------------------------------------

static void pass_damper_past(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                             bool back, mabd_quaternion_node past, mabd_real* F) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_ball_damper d = mabd_quaternion_damper(sim, at->joint, 1 / p->s.bh);
    const mabd_mat3 Q = at->rigid.Q, Fb = at->view.Fb;
    const mabd_vec3 inertia = mabd_v3_scale(d.rate, d.armature);
    const mabd_mat3 B = mabd_ball_gain(Fb, mabd_v3_add(d.damping, inertia));
    const mabd_mat3 BQ = mabd_m3_product(B, Q);
    const mabd_mat3 by[2] = {mabd_m3_axpy(-2, BQ, BQ), B}; // of r by om_a and om_b: -Q, 1
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b},
                  bodies[2] = {at->joint->a, at->joint->b};
    for (int on = 0; on < 2; on++) {
        if (slots[on] < 0) continue;
        mabd_real* torque = F + 6 * (size_t)slots[on] + 3;
        for (int of = 0; of < 2; of++) {
            mabd_real block[12];
            if (slots[of] < 0) continue;
            const mabd_mat3 M = on == 1 ? by[of] : mabd_m3_tproduct(Q, by[of]);
            const mabd_quat q = mabd_q_load(sim->pose + 7 * (size_t)bodies[of] + 3);
            mabd_rigid_h_columns(M, q, mabd_v3(0, 0, 0), block);
            mabd_pass(back, (on == 1 ? -1 : 1) * p->s.bh, block, 3, 4, torque,
                      past.body + MABD_NODE_REALS * (size_t)bodies[of] + 3);
        }
        for (int32_t r = 0; r < at->set->control_count; r++) {
            if (!mabd_quaternion_is_damped_turn(at->set, r)) continue;
            const int axis = at->set->control_row[r].axis;
            const mabd_vec3 column =
                mabd_v3_scale(mabd_v3_get(inertia, axis), mabd_m3_column(&Fb, axis));
            mabd_real out[3];
            mabd_v3_store(on == 1 ? column : mabd_m3_tmul(Q, column), out);
            mabd_pass(back, (on == 1 ? -1 : 1) * p->scale, out, 3, 1, torque,
                      past.x + 2 * (size_t)(at->joint->coordinate + r) + 1);
        }
    }
}

static void pass_joint_past(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                            mabd_quaternion_node past, mabd_real* F) {
    const mabd_real rate = 1 / p->s.bh;
    for (int32_t r = 0; r < at->set->control_count; r++) {
        const mabd_tangent_axis axis = mabd_tangent_axis_of(p, at, r);
        mabd_real* x = past.x + 2 * (size_t)(at->joint->coordinate + r);
        mabd_real* row = F + at->first_row + at->set->rigid_count + r;
        const mabd_real inertia = axis.weight * rate * axis.armature;
        mabd_pass_scaled(back, -axis.by_past, 1, row, x);
        mabd_pass_scaled(back, -rate * (axis.weight * axis.damping + inertia), 1, row, x);
        mabd_pass_scaled(back, -inertia, 1, row, x + 1);
    }
    if (at->set->damped) pass_damper_past(p, at, back, past, F);
}

// Rates of damped rotations: F'(om_b - Q om_a), with om of the solve.
static void pass_turn_rates(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                            mabd_quaternion_node node, mabd_real* dx, mabd_quaternion_node past) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b},
                  bodies[2] = {at->joint->a, at->joint->b};
    const mabd_mat3 Q = at->rigid.Q;
    const mabd_ball_side a = mabd_quaternion_ball_side(&p->s, sim->pose, bodies[0]);
    const mabd_ball_side b = mabd_quaternion_ball_side(&p->s, sim->pose, bodies[1]);
    // r = om_b - Q om_a:  by phi_b  T_b - [Q om_a],  by phi_a  -Q (T_a - [om_a])
    const mabd_mat3 turn[2] = {mabd_m3_product(Q, mabd_m3_axpy(-1, a.T, mabd_m3_skew(a.om))),
                               mabd_m3_axpy(-1, mabd_m3_skew(mabd_m3_mul(Q, a.om)), b.T)};
    for (int k = 0; k < 2; k++) {
        if (slots[k] < 0) continue;
        mabd_real block[12], rows[9];
        const mabd_mat3 own = mabd_m3_transpose(at->view.Fb);
        const mabd_mat3 M = mabd_m3_product(own, turn[k]);
        const mabd_mat3 by_om = k == 1 ? own : mabd_m3_product(own, mabd_m3_axpy(-2, Q, Q));
        mabd_rigid_h_columns(by_om, mabd_q_load(sim->pose + 7 * (size_t)bodies[k] + 3),
                             mabd_v3(0, 0, 0), block);
        for (int i = 0; i < 9; i++) {
            const mabd_vec3 column = mabd_m3_column(&M, i % 3);
            rows[i] = mabd_v3_get(column, i / 3);
        }
        for (int32_t r = 0; r < at->set->control_count; r++) {
            if (!mabd_quaternion_is_damped_turn(at->set, r)) continue;
            const int axis = at->set->control_row[r].axis;
            mabd_real* rate = node.x + 2 * (size_t)(at->joint->coordinate + r) + 1;
            mabd_pass(back, 1, rows + 3 * axis, 1, 3, rate, dx + 6 * (size_t)slots[k] + 3);
            mabd_pass(back, -1 / p->s.bh, block + 4 * axis, 1, 4, rate,
                      past.body + MABD_NODE_REALS * (size_t)bodies[k] + 3);
        }
    }
}

static void pass_joint_node(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                            mabd_quaternion_node node, mabd_real* dx, mabd_quaternion_node past) {
    const mabd_real rate = 1 / p->s.bh;
    for (int32_t r = 0; r < at->set->control_count; r++) {
        const size_t k = 2 * (size_t)(at->joint->coordinate + r);
        const mabd_rigid_row* J = &at->J[at->set->rigid_count + r];
        const bool turns = mabd_quaternion_is_damped_turn(at->set, r);
        mabd_tangent_row(at, J, back, 1, node.x + k, dx);
        if (turns) continue;
        mabd_tangent_row(at, J, back, rate, node.x + k + 1, dx);
        mabd_pass_scaled(back, -rate, 1, node.x + k + 1, past.x + k);
    }
    if (at->set->damped) pass_turn_rates(p, at, back, node, dx, past);
}

// True if joint number i of the part has controls: others add nothing to past and node.
static bool has_controls(const mabd_quaternion_point* p, int32_t i) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const int32_t joint = sim->joints[p->s.part->joint_first + i].joint;
    return sim->model->row_sets[sim->model->joints[joint].row_set].control_count > 0;
}

// ---- the whole ---------------------------------------------------------------------------------

void mabd_tangent_past(const mabd_quaternion_point* p, bool back, mabd_quaternion_node past,
                       mabd_real* F) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->s.part->body_first + i];
        pass_body_past(p, i, back, past.body + MABD_NODE_REALS * body, F + 6 * (size_t)i);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        if (!has_controls(p, i)) continue;
        mabd_tangent_joint_at(p, i, &at);
        pass_joint_past(p, &at, back, past, F);
    }
}

void mabd_tangent_node(const mabd_quaternion_point* p, bool back, mabd_quaternion_node node,
                       mabd_real* dy, mabd_quaternion_node past) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->s.part->body_first + i];
        pass_body_node(p, back, mabd_q_load(sim->pose + 7 * body + 3),
                       node.body + MABD_NODE_REALS * body, dy + 6 * (size_t)i,
                       past.body + MABD_NODE_REALS * body);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        if (!has_controls(p, i)) continue;
        mabd_tangent_joint_at(p, i, &at);
        pass_joint_node(p, &at, back, node, dy, past);
    }
}
