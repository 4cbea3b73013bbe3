// SPDX-License-Identifier: Apache-2.0
// Derivatives of the accelerations at a node (kinematics.c) and of its slope, with which trbdf2
// begins.
//
//   F_body = M a + E(q, w) - J' lambda          E: balance without accelerations, motors, dampers
//   F_row  = J a + u'G u + ...                   rigid rows and servos
//            J a + u'G u + (lambda - f)/I        controls with armature I
//            lambda - f                          controls without: f = base - k x - d x'
//
// and axes on a branch of their law that holds them are rigid rows (tangent_axis.h),
//
// by (dc, phi) = xi and (dv, d om) = eta of the bodies. Damped rotations (ball_damper.h) have the
// torque Y = D r + I r' on b and -Q'Y on a, with r = om_b - Q om_a, r' = al_b - Q al_a + om_b x
// Q om_a and d(Q y) = [Q y] phi_b - Q [y] phi_a, d(Q'y) = [Q'y] phi_a - Q'[y] phi_b:
//
//   dr  = eta_b - Q eta_a - [Q om_a] phi_b + Q [om_a] phi_a
//   dr' = -[Q al_a] phi_b + Q [al_a] phi_a - [Q om_a] eta_b
//         + [om_b] (Q eta_a + [Q om_a] phi_b - Q [om_a] phi_a)      and by al: 1, -Q

#include "formulation/quaternion/tangent.h"

#include "formulation/quaternion/tangent_axis.h"

#include <math.h>
#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

void mabd_tangent_state(const mabd_quaternion_solve* s, bool back, const mabd_quaternion_node* node,
                        mabd_real* xi, mabd_real* eta, mabd_quaternion_node tangent) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[s->part->body_first + i];
        const mabd_real* row = node->body + MABD_NODE_REALS * body;
        mabd_real *t = tangent.body + MABD_NODE_REALS * body, H[12];
        mabd_real *x = xi + 6 * (size_t)i, *u = eta + 6 * (size_t)i;
        const mabd_quat q = mabd_q_load(sim->pose + 7 * body + 3), w = mabd_q_load(row + 10);
        const mabd_mat3 turn = mabd_rigid_rate_turn(-mabd_rigid_q_dot(q, w), mabd_rigid_spin(q, w));
        mabd_rigid_h_columns(mabd_m3_identity(), q, mabd_v3(0, 0, 0), H); // 2 H
        if (back) {                                                       // eta depends on xi
            mabd_pass_m3(true, 1, turn, u + 3, x + 3);
        }
        mabd_pass_scaled(back, 1, 3, x, t);
        mabd_pass(back, 1 / mabd_q_norm(mabd_q_load(row + 3)), H, 3, 4, x + 3, t + 3);
        mabd_pass_scaled(back, 1, 3, u, t + 7);
        mabd_pass(back, 1, H, 3, 4, u + 3, t + 10);
        if (!back) mabd_pass_m3(false, 1, turn, u + 3, x + 3);
    }
}

static void pass_body(const mabd_quaternion_point* p, int32_t slot, bool back, mabd_real* F,
                      mabd_real* xi, mabd_real* eta, mabd_real* node) {
    mabd_quaternion_solve s = p->s;
    const mabd_model* m = s.sim->model;
    const int32_t body = s.sim->bodies[s.part->body_first + slot];
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_rigid_motion motion = mabd_quaternion_motion_at(&s, p->node, body);
    mabd_real E_v[12];
    s.bh = (mabd_real)INFINITY; // derivatives at fixed velocities
    const mabd_rigid_balance r = mabd_quaternion_balance(&s, body, &motion);
    mabd_rigid_by_velocity(mabd_v3_load(c->principal), motion.q, motion.w, E_v);
    mabd_pass_m3(back, 1, r.ft, F, xi + 3);
    mabd_pass_m3(back, 1, r.tt, F + 3, xi + 3);
    mabd_pass_scaled(back, c->material.drag, 3, F, eta);
    mabd_pass(back, 1, E_v, 3, 4, F + 3, node + 10);
}

// ---- damped rotations --------------------------------------------------------------------------

/// Derivatives of r and r' by the turns and angular velocities of a and b.
typedef struct turn_blocks {
    mabd_mat3 r_phi[2], r_om[2], s_phi[2], s_om[2]; // s = r'
    mabd_vec3 r, s;
} turn_blocks;

static turn_blocks find_turns(const mabd_tangent_joint* at, const mabd_tangent_motion* m) {
    const mabd_mat3 Q = at->rigid.Q, one = mabd_m3_identity();
    const mabd_vec3 om_a = mabd_v3_load(m->u[0] + 3), om_b = mabd_v3_load(m->u[1] + 3);
    const mabd_vec3 al_a = mabd_v3_load(m->a[0] + 3), al_b = mabd_v3_load(m->a[1] + 3);
    const mabd_vec3 seen = mabd_m3_mul(Q, om_a), seen_al = mabd_m3_mul(Q, al_a);
    const mabd_mat3 W = mabd_m3_skew(om_b), S = mabd_m3_skew(seen);
    const mabd_mat3 QA = mabd_rigid_product_skew(Q, om_a), QL = mabd_rigid_product_skew(Q, al_a);
    turn_blocks t;
    t.r_om[0] = mabd_m3_axpy(-2, Q, Q), t.r_om[1] = one;
    t.r_phi[0] = QA, t.r_phi[1] = mabd_m3_axpy(-2, S, S);
    t.s_phi[0] = mabd_m3_axpy(-1, mabd_m3_product(W, QA), QL);
    t.s_phi[1] = mabd_m3_axpy(-1, mabd_m3_skew(seen_al), mabd_m3_product(W, S));
    t.s_om[0] = mabd_m3_product(W, Q), t.s_om[1] = mabd_m3_axpy(-2, S, S);
    t.r = mabd_v3_sub(om_b, seen);
    t.s = mabd_v3_add(mabd_v3_sub(al_b, seen_al), mabd_v3_cross(om_b, seen));
    return t;
}

void mabd_tangent_damper(const mabd_tangent_joint* at, mabd_vec3 damping, mabd_vec3 armature,
                         const mabd_tangent_motion* m, bool back, mabd_real* F, mabd_real* xi,
                         mabd_real* eta) {
    const mabd_mat3 Q = at->rigid.Q;
    const mabd_mat3 D = mabd_ball_gain(at->view.Fb, damping);
    const mabd_mat3 I = mabd_ball_gain(at->view.Fb, armature);
    const turn_blocks t = find_turns(at, m);
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    const mabd_vec3 Y = mabd_v3_add(mabd_m3_mul(D, t.r), mabd_m3_mul(I, t.s));
    for (int of = 0; of < 2; of++) {
        if (slots[of] < 0) continue;
        mabd_real* phi = xi + 6 * (size_t)slots[of] + 3;
        mabd_real* om = eta ? eta + 6 * (size_t)slots[of] + 3 : NULL;
        const mabd_mat3 by_phi =
            mabd_m3_axpy(1, mabd_m3_product(D, t.r_phi[of]), mabd_m3_product(I, t.s_phi[of]));
        const mabd_mat3 by_om =
            mabd_m3_axpy(1, mabd_m3_product(D, t.r_om[of]), mabd_m3_product(I, t.s_om[of]));
        if (slots[1] >= 0) {
            mabd_real* torque = F + 6 * (size_t)slots[1] + 3;
            mabd_pass_m3(back, 1, by_phi, torque, phi);
            if (om) mabd_pass_m3(back, 1, by_om, torque, om);
        }
        if (slots[0] < 0) continue;
        mabd_real* torque = F + 6 * (size_t)slots[0] + 3;
        const mabd_mat3 own = of == 0 ? mabd_m3_skew(mabd_m3_tmul(Q, Y))
                                      : mabd_m3_axpy(-2, mabd_m3_tproduct(Q, mabd_m3_skew(Y)),
                                                     mabd_m3_tproduct(Q, mabd_m3_skew(Y)));
        mabd_pass_m3(back, -1, mabd_m3_tproduct(Q, by_phi), torque, phi);
        mabd_pass_m3(back, -1, own, torque, phi);
        if (om) mabd_pass_m3(back, -1, mabd_m3_tproduct(Q, by_om), torque, om);
    }
}

// ---- joints ------------------------------------------------------------------------------------

void mabd_tangent_wrenches(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                           mabd_real* F, mabd_real* xi) {
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    mabd_real G[4][36];
    memset(G, 0, sizeof G);
    mabd_tangent_geometric(p, at, G, NULL);
    for (int k = 0; k < 4; k++) {
        const int32_t on = slots[k / 2], of = slots[k % 2];
        if (on >= 0 && of >= 0) {
            mabd_pass(back, -1, G[k], 6, 6, F + 6 * (size_t)on, xi + 6 * (size_t)of);
        }
    }
}

// F += weight d(-f) = weight (k dx + d dx') of a control.
static void pass_control(const mabd_tangent_joint* at, int32_t k, const mabd_tangent_axis* axis,
                         const mabd_tangent_motion* m, bool back, mabd_real* F, mabd_real* xi,
                         mabd_real* eta) {
    const int32_t r = at->set->rigid_count + k;
    mabd_tangent_row(at, &at->J[r], back, axis->weight * axis->stiffness, F, xi);
    if (axis->turns) return;
    mabd_real bend[12];
    mabd_tangent_rate_gradient(at, r, m->u[0], m->u[1], bend);
    mabd_tangent_sides(at, bend, back, axis->weight * axis->damping, F, xi);
    mabd_tangent_row(at, &at->J[r], back, axis->weight * axis->damping, F, eta);
}

static void pass_joint(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                       mabd_real* F, mabd_real* xi, mabd_real* eta) {
    const mabd_tangent_motion m = mabd_tangent_motion_of(p, at);
    mabd_tangent_wrenches(p, at, back, F, xi);
    if (back && at->set->rigid_count > 0) { // bends of rigid rows by the pose, all at once
        mabd_real bends[12], one = 1;
        mabd_tangent_bends_gradient(at, F + at->first_row, &m, bends);
        mabd_tangent_sides(at, bends, true, 1, &one, xi);
    }
    for (int32_t r = 0; r < at->j->width; r++) {
        const int32_t k = r - at->set->rigid_count;
        mabd_tangent_axis axis = {.held = true};
        mabd_real* row = F + at->first_row + r;
        if (k >= 0) axis = mabd_tangent_axis_of(p, at, k);
        if (axis.held || axis.armed) {
            mabd_real bend[12], rates[12];
            mabd_tangent_bend_rates(at, r, m.u[0], m.u[1], rates);
            if (!back || k >= 0) {
                mabd_tangent_bend_gradient(at, r, &m, bend);
                mabd_tangent_sides(at, bend, back, 1, row, xi);
            }
            mabd_tangent_sides(at, rates, back, 1, row, eta);
        }
        if (!axis.held) pass_control(at, k, &axis, &m, back, row, xi, eta);
    }
    if (!at->set->damped) return;
    const mabd_ball_damper d = mabd_quaternion_damper(p->s.sim, at->joint, 0);
    mabd_tangent_damper(at, d.damping, d.armature, &m, back, F, xi, eta);
}

void mabd_tangent_acceleration(const mabd_quaternion_point* p, bool back, mabd_real* F,
                               mabd_real* xi, mabd_real* eta, mabd_quaternion_node node) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->s.part->body_first + i], at = 6 * (size_t)i;
        pass_body(p, i, back, F + at, xi + at, eta + at, node.body + MABD_NODE_REALS * body);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        pass_joint(p, &at, back, F, xi, eta);
    }
}

// ---- the slope ---------------------------------------------------------------------------------

void mabd_tangent_spin(bool back, mabd_vec3 y, mabd_real* w, mabd_real* dq) {
    for (int k = 0; k < 4; k++) {
        const mabd_quat h = mabd_rigid_h_tmul(mabd_q(k == 0, k == 1, k == 2, k == 3), y);
        const mabd_real column[4] = {h.w / 2, h.x / 2, h.y / 2, h.z / 2};
        mabd_pass(back, 1, column, 4, 1, w, dq + k);
    }
}

static void pass_body_slope(const mabd_quaternion_point* p, int32_t slot, bool back,
                            mabd_real* slope, mabd_real* dy, mabd_real* node) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const size_t body = (size_t)sim->bodies[p->s.part->body_first + slot];
    const mabd_real* row = p->node->body + MABD_NODE_REALS * body;
    const mabd_quat q = mabd_q_load(row + 3), w = mabd_q_load(row + 10);
    const mabd_vec3 al = mabd_v3_load(p->y + 6 * (size_t)slot + 3);
    const mabd_real parts[4] = {q.w, q.x, q.y, q.z}, rates[4] = {w.w, w.x, w.y, w.z};
    mabd_real by_w[16];
    mabd_pass_scaled(back, 1, 7, slope, node + 7);
    mabd_pass_scaled(back, 1, 3, slope + 7, dy);
    // w' = q (x) (0, al)/2 - |w|^2 q
    mabd_tangent_turn(back, 1, q, slope + 10, dy + 3);
    mabd_tangent_spin(back, al, slope + 10, node + 3);
    mabd_pass_scaled(back, -mabd_rigid_q_dot(w, w), 4, slope + 10, node + 3);
    for (int i = 0; i < 16; i++) by_w[i] = -2 * parts[i / 4] * rates[i % 4];
    mabd_pass(back, 1, by_w, 4, 4, slope + 10, node + 10);
}

// F'r' of damped rotations.
static void pass_turn_slope(const mabd_tangent_joint* at, const mabd_tangent_motion* m, bool back,
                            mabd_quaternion_node slope, mabd_real* dy, mabd_real* xi,
                            mabd_real* eta) {
    const turn_blocks t = find_turns(at, m);
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int32_t r = 0; r < at->set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(at->set, r)) continue;
        const mabd_vec3 axis = mabd_m3_column(&at->view.Fb, at->set->control_row[r].axis);
        mabd_real* out = slope.x + 2 * (size_t)(at->joint->coordinate + r) + 1;
        for (int k = 0; k < 2; k++) {
            if (slots[k] < 0) continue;
            const size_t place = 6 * (size_t)slots[k] + 3;
            mabd_real by[3];
            mabd_v3_store(mabd_m3_tmul(t.s_phi[k], axis), by);
            mabd_pass(back, 1, by, 1, 3, out, xi + place);
            mabd_v3_store(mabd_m3_tmul(t.s_om[k], axis), by);
            mabd_pass(back, 1, by, 1, 3, out, eta + place);
            mabd_v3_store(mabd_m3_tmul(t.r_om[k], axis), by);
            mabd_pass(back, 1, by, 1, 3, out, dy + place);
        }
    }
}

void mabd_tangent_slope(const mabd_quaternion_point* p, bool back, mabd_quaternion_node slope,
                        mabd_real* dy, mabd_real* xi, mabd_real* eta, mabd_quaternion_node node) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t place = MABD_NODE_REALS * (size_t)sim->bodies[p->s.part->body_first + i];
        pass_body_slope(p, i, back, slope.body + place, dy + 6 * (size_t)i, node.body + place);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        for (int32_t k = 0; k < at.set->control_count; k++) {
            const mabd_tangent_axis axis = mabd_tangent_axis_of(p, &at, k);
            const size_t place = 2 * (size_t)(at.joint->coordinate + k);
            mabd_pass_scaled(back, 1, 1, slope.x + place, node.x + place + 1);
            if (!axis.armed) continue;
            // x'' = (f - lambda)/I
            mabd_real* bend = slope.x + place + 1;
            mabd_real* row = dy + at.first_row + at.set->rigid_count + k;
            mabd_pass_scaled(back, -axis.weight * axis.stiffness, 1, bend, node.x + place);
            mabd_pass_scaled(back, -axis.weight * axis.damping, 1, bend, node.x + place + 1);
            mabd_pass_scaled(back, -axis.weight, 1, bend, row);
        }
        if (!at.set->damped) continue;
        const mabd_tangent_motion m = mabd_tangent_motion_of(p, &at);
        pass_turn_slope(&at, &m, back, slope, dy, xi, eta);
    }
}
