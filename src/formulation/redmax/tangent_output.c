// SPDX-License-Identifier: Apache-2.0
// Derivatives of what a user sees of a state: user frames (rigid/user_change.h), energy, wrenches
// of joints.
//
// The twist xi of a link and the change eta of its velocity, both in its frame, follow from the
// changes of the coordinates by one sweep; e and f as in tangent_motion.c. Charts are centred at
// the state, so S of a ball is 1:
//
//   xi = X xi_p + S dq + e + f     eta = X eta_p + ad(XV)(S dq + e) + S dv + ad(V) f
//
// and of a body in its principal frame (R, c), with both moved there: dc = R xi_v, phi = xi_w,
// dv = R (eta_v + phi x v), d om = eta_w.

#include "formulation/redmax/redmax_springs.h"
#include "formulation/redmax/redmax_tangent.h"
#include "rigid/parameter_change.h"
#include "rigid/row_jacobian.h"
#include "rigid/user_change.h"

#include <string.h>

static int32_t last_link(const mabd_redmax_part* part) {
    return part->link_first + part->link_count;
}

// ---- links -------------------------------------------------------------------------------------

static void clear_links(const mabd_redmax_gradient* g, const mabd_redmax_part* part) {
    const size_t first = (size_t)part->link_first;
    const size_t bytes = (size_t)part->link_count * sizeof *g->xi;
    memset(g->xi + first, 0, bytes), memset(g->eta + first, 0, bytes);
    memset(g->joint_xi + first, 0, bytes);
}

void mabd_redmax_link_changes(const mabd_redmax_gradient* g, const mabd_redmax_part* part,
                              mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = part->link_first; i < last_link(part); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial e = g->changes.parent_side[i], f = g->changes.body_side[i];
        mabd_spatial move = e, rate = mabd_sp_zero();
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            move = mabd_sp_axpy(t.q[k], sim->S[k], move);
            rate = mabd_sp_axpy(t.v[k], sim->S[k], rate);
        }
        if (link->path >= 0) { // S turns along a path
            for (int k = 0; k < link->count; k++) {
                const mabd_spatial turned = sim->paths[link->path].by_v[k];
                rate = mabd_sp_axpy(t.q[link->first + k], turned, rate);
            }
        }
        if (g->changes.moved == i) rate = mabd_sp_add(rate, g->changes.dV);
        g->xi[i] = mabd_sp_add(move, f);
        g->eta[i] = mabd_sp_add(mabd_sp_add(rate, mabd_sp_cross(sim->XV[i], move)),
                                mabd_sp_cross(sim->V[i], f));
        if (link->parent < 0) continue;
        const mabd_frame* E = &sim->E[i];
        g->xi[i] = mabd_sp_add(g->xi[i], mabd_frame_to_child(E, g->xi[link->parent]));
        g->eta[i] = mabd_sp_add(g->eta[i], mabd_frame_to_child(E, g->eta[link->parent]));
    }
}

// Bar of a twist of a link against its parent.
static mabd_spatial parent_side_bar(const mabd_redmax_gradient* g, int32_t i) {
    return mabd_sp_add(g->xi[i], mabd_sp_cross_wrench(g->sim->XV[i], g->eta[i]));
}

// Bars of links, those of their children included.
static void links_back(const mabd_redmax_gradient* g, const mabd_redmax_part* part,
                       mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = last_link(part) - 1; i >= part->link_first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        g->xi[i] = mabd_sp_add(g->xi[i], g->joint_xi[i]);
        const mabd_spatial move = parent_side_bar(g, i);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            t.q[k] += mabd_sp_dot(sim->S[k], move);
            t.v[k] += mabd_sp_dot(sim->S[k], g->eta[i]);
            if (link->path < 0) continue;
            t.q[k] += mabd_sp_dot(sim->paths[link->path].by_v[k - link->first], g->eta[i]);
        }
        if (link->parent < 0) continue;
        const mabd_frame* E = &sim->E[i];
        mabd_spatial *xi = &g->xi[link->parent], *eta = &g->eta[link->parent];
        *xi = mabd_sp_add(*xi, mabd_frame_to_parent(E, g->xi[i]));
        *eta = mabd_sp_add(*eta, mabd_frame_to_parent(E, g->eta[i]));
    }
}

/// A parameter whose product is summed.
typedef struct move_product {
    const mabd_redmax_gradient* g;
    mabd_real sum;
} move_product;

static void add_move(void* context, int32_t i, bool parent_side, mabd_spatial twist) {
    move_product* p = context;
    const mabd_redmax_gradient* g = p->g;
    mabd_spatial bar;
    if (parent_side) {
        bar = parent_side_bar(g, i);
    } else { // wrenches are seen in the frame of the joint
        bar = mabd_sp_sub(g->xi[i], g->joint_xi[i]);
        bar = mabd_sp_add(bar, mabd_sp_cross_wrench(g->sim->V[i], g->eta[i]));
    }
    p->sum += mabd_sp_dot(bar, twist);
}

static void set_move(void* context, int32_t i, bool parent_side, mabd_spatial twist) {
    mabd_redmax_gradient* g = context;
    mabd_spatial* to = parent_side ? &g->changes.parent_side[i] : &g->changes.body_side[i];
    *to = mabd_sp_add(*to, twist);
}

// ---- bodies ------------------------------------------------------------------------------------

// out (12) += the change of the user's state of the body of a link.
static void pass_body(const mabd_redmax_gradient* g, int32_t i, bool back, mabd_real* out) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[link->body]];
    const mabd_frame *P = &link->principal, W = mabd_frame_product(&sim->world[i], P);
    const mabd_spatial V = mabd_frame_to_child(P, sim->V[i]);
    const mabd_quat q = mabd_q_from_matrix(W.R);
    mabd_real xi[6] = {0}, eta[6] = {0};
    if (!back) {
        const mabd_spatial x = mabd_frame_to_child(P, g->xi[i]);
        const mabd_spatial y = mabd_frame_to_child(P, g->eta[i]);
        mabd_v3_store(mabd_m3_mul(W.R, x.v), xi), mabd_v3_store(x.w, xi + 3);
        mabd_v3_store(mabd_m3_mul(W.R, mabd_v3_add(y.v, mabd_v3_cross(x.w, V.v))), eta);
        mabd_v3_store(y.w, eta + 3);
    }
    mabd_rigid_pass_user(c, q, V.w, back, out, xi, eta);
    if (!back) return;
    const mabd_vec3 dv = mabd_m3_tmul(W.R, mabd_v3_load(eta));
    const mabd_spatial x = mabd_sp(mabd_v3_add(mabd_v3_load(xi + 3), mabd_v3_cross(V.v, dv)),
                                   mabd_m3_tmul(W.R, mabd_v3_load(xi)));
    const mabd_spatial y = mabd_sp(mabd_v3_load(eta + 3), dv);
    g->xi[i] = mabd_sp_add(g->xi[i], mabd_frame_to_parent(P, x));
    g->eta[i] = mabd_sp_add(g->eta[i], mabd_frame_to_parent(P, y));
}

// The centre of a body without a joint is its coordinate: the user's frame moves against it.
static void pass_center(const mabd_redmax_gradient* g, const mabd_parameter* p, bool back,
                        mabd_real* states, mabd_real* value) {
    const mabd_redmax_sim* sim = g->sim;
    if (p->kind != MABD_PARAMETER_CENTER) return;
    const int32_t i = sim->body_link[p->index];
    if (sim->links[i].joint >= 0) return;
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[p->index]];
    const mabd_rigid_state s = mabd_redmax_body(sim, p->index);
    const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s.q), s.omega);
    mabd_rigid_pass_user_center(c, s.q, om, p->component, back, states + 12 * (size_t)p->index,
                                value);
}

void mabd_redmax_write_output(mabd_redmax_gradient* g, int32_t parameter, mabd_real* states) {
    const mabd_redmax_sim* sim = g->sim;
    const size_t bytes = (size_t)sim->link_count * sizeof *g->xi;
    mabd_real one = 1;
    mabd_redmax_place_now(sim);
    memset(states, 0, 12 * (size_t)sim->model->body_count * sizeof *states);
    memset(g->changes.parent_side, 0, bytes), memset(g->changes.body_side, 0, bytes);
    mabd_redmax_visit_moves(g, parameter, set_move, g);
    mabd_redmax_spline spline;
    g->changes.moved = -1;
    if (mabd_redmax_spline_change(g, parameter, &spline)) {
        set_move(g, spline.link, true, spline.xi);
        g->changes.moved = spline.link, g->changes.dV = spline.dV;
    }
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_part* part = &sim->parts[p];
        mabd_redmax_link_changes(g, part, g->directions[parameter].now);
        for (int32_t i = part->link_first; i < last_link(part); i++) {
            if (sim->links[i].body < 0) continue;
            pass_body(g, i, false, states + 12 * (size_t)sim->links[i].body);
        }
    }
    pass_center(g, &g->parameters[parameter], false, states, &one);
}

// ---- energy ------------------------------------------------------------------------------------

static void add_body_energy(const mabd_redmax_gradient* g, int32_t i, mabd_real s) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_vec3 weight = mabd_v3_scale(-s * link->M.mass, mabd_v3_load(sim->model->gravity));
    const mabd_vec3 l = mabd_m3_tmul(sim->world[i].R, weight);
    const mabd_spatial momentum = mabd_inertia_mul(&link->M, sim->V[i]);
    g->xi[i] = mabd_sp_add(g->xi[i], mabd_sp(mabd_v3_cross(link->principal.p, l), l));
    g->eta[i] = mabd_sp_axpy(s, momentum, g->eta[i]);
}

mabd_redmax_ball_axes mabd_redmax_ball_axes_at(const mabd_redmax_sim* sim,
                                               const mabd_redmax_link* link) {
    const mabd_vec3 w = mabd_v3_load(sim->now.v + link->first);
    mabd_redmax_ball_axes b;
    mabd_mat3 turn = mabd_m3_identity();
    b.theta = mabd_v3_load(sim->now.theta + 3 * (size_t)link->ball);
    b.rho_turn = mabd_m3_axpy(-1, turn, turn);
    if (link->reversed) { // rho = -R w
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(sim->now.turn + 4 * (size_t)link->ball));
        turn = mabd_m3_axpy(-2, R, R);
        b.rho_turn = mabd_rigid_product_skew(R, w);
    }
    b.rho = mabd_m3_mul(turn, w), b.rho_rate = turn;
    b.theta_turn = mabd_m3_product(mabd_so3_log_gradients(b.theta), turn);
    return b;
}

static void add_law_energy(const mabd_redmax_gradient* g, int32_t k, mabd_real s) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const mabd_control* c = sim->freedoms[k].control;
    const mabd_redmax_tangent t = g->directions[0].now;
    if (!c) return;
    if (link->kind != MABD_PRIMITIVE_BALL) {
        t.q[k] += s * c->spring * (sim->now.q[k] - c->rest);
        t.v[k] += s * c->armature * sim->now.v[k];
        return;
    }
    const mabd_redmax_ball_axes b = mabd_redmax_ball_axes_at(sim, link);
    const int own = k - link->first;
    mabd_real force[3] = {0}, momentum[3] = {0};
    force[own] = s * c->spring * (mabd_v3_get(b.theta, own) - c->rest);
    momentum[own] = s * c->armature * mabd_v3_get(b.rho, own);
    mabd_pass_m3(true, 1, b.theta_turn, force, t.q + link->first);
    mabd_pass_m3(true, 1, b.rho_turn, momentum, t.q + link->first);
    mabd_pass_m3(true, 1, b.rho_rate, momentum, t.v + link->first);
}

// Derivative of the energy of an axis by a parameter of it.
static mabd_real axis_energy_by(const mabd_redmax_sim* sim, const mabd_parameter* p, int32_t k) {
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const mabd_control* c = sim->freedoms[k].control;
    mabd_real x = sim->now.q[k], rate = sim->now.v[k];
    if (link->kind == MABD_PRIMITIVE_BALL) {
        const mabd_redmax_ball_axes b = mabd_redmax_ball_axes_at(sim, link);
        x = mabd_v3_get(b.theta, k - link->first), rate = mabd_v3_get(b.rho, k - link->first);
    }
    switch (p->kind) {
    case MABD_PARAMETER_STIFFNESS:
        return (x - c->rest) * (x - c->rest) / 2;
    case MABD_PARAMETER_REST:
        return -c->spring * (x - c->rest);
    case MABD_PARAMETER_ARMATURE:
        return rate * rate / 2;
    default:
        return 0;
    }
}

static mabd_real gravity_energy_by(const mabd_redmax_sim* sim, int component) {
    mabd_real sum = 0;
    for (int32_t i = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->body < 0) continue;
        const mabd_frame W = mabd_frame_product(&sim->world[i], &link->principal);
        sum -= link->M.mass / mabd_redmax_share(sim, link) * mabd_v3_get(W.p, component);
    }
    return sum;
}

/// Forces of springs and ground on the points of a body, link frame.
typedef struct stored_force {
    int32_t link;
    mabd_vec3 sum;
} stored_force;

static void sum_stored(void* context, int32_t link, mabd_spatial F) {
    stored_force* own = context;
    if (link == own->link) own->sum = mabd_v3_add(own->sum, F.v);
}

// A body that hangs by its centre: its points move against it by minus the centre, and the forces
// on them are minus the derivatives of the energy.
static mabd_real free_center_energy_by(const mabd_redmax_sim* sim, int32_t i, int component) {
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[link->body]];
    const mabd_mat3 U =
        mabd_m3_product(link->principal.R, mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes))));
    stored_force own = {i, mabd_v3(0, 0, 0)};
    mabd_redmax_spring_energy_pull(sim, sum_stored, &own);
    if (sim->model->ground_count > 0) mabd_redmax_ground_energy_pull(sim, sum_stored, &own);
    return mabd_v3_dot(mabd_m3_column(&U, component), own.sum);
}

// Derivative of the energy by a parameter at fixed coordinates and rates; moves of frames apart.
static mabd_real energy_by(const mabd_redmax_gradient* g, int32_t index) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_model* m = sim->model;
    const mabd_parameter* p = &g->parameters[index];
    if (p->kind == MABD_PARAMETER_GRAVITY) return gravity_energy_by(sim, p->component);
    if (p->kind == MABD_PARAMETER_GROUND) return mabd_redmax_ground_energy_by(sim, p->component);
    if (p->kind == MABD_PARAMETER_SPRING) {
        return mabd_redmax_spring_energy_by(sim, p->index, p->component);
    }
    if (p->kind >= MABD_PARAMETER_STIFFNESS && p->kind <= MABD_PARAMETER_ARMATURE) {
        return axis_energy_by(sim, p, g->parameter_freedom[index]);
    }
    const bool center = p->kind == MABD_PARAMETER_CENTER;
    if (p->kind != MABD_PARAMETER_MASS && p->kind != MABD_PARAMETER_INERTIA && !center) return 0;
    const int32_t i = sim->body_link[p->index];
    const mabd_rigid_state s = mabd_redmax_body(sim, p->index);
    const mabd_vec3 gravity = mabd_v3_load(m->gravity);
    if (p->kind == MABD_PARAMETER_MASS) {
        return mabd_v3_dot(s.v, s.v) / 2 - mabd_v3_dot(gravity, s.c);
    }
    const mabd_model_class* c = &m->classes[m->body_class[p->index]];
    if (!center) {
        const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s.q), s.omega);
        return mabd_v3_dot(om, mabd_m3_mul(mabd_rigid_inertia_change(c, p->component), om)) / 2;
    }
    if (sim->links[i].joint < 0) return free_center_energy_by(sim, i, p->component);
    const mabd_mat3 U = mabd_q_matrix(mabd_q_product(s.q, mabd_q_conjugate(mabd_q_load(c->axes))));
    const mabd_vec3 d = mabd_m3_column(&U, p->component); // the centre moves by d, world
    return c->material.mass *
           (mabd_v3_dot(s.v, mabd_v3_cross(s.omega, d)) - mabd_v3_dot(gravity, d));
}

/// Where the energy of springs and ground goes.
typedef struct stored_bar {
    const mabd_redmax_gradient* g;
    mabd_real s;
} stored_bar;

static void add_stored(void* context, int32_t link, mabd_spatial F) {
    const stored_bar* own = context;
    own->g->xi[link] = mabd_sp_axpy(-own->s, F, own->g->xi[link]);
}

static void add_energy(const mabd_redmax_gradient* g, mabd_real s) {
    const mabd_redmax_sim* sim = g->sim;
    stored_bar stored = {g, s};
    mabd_redmax_spring_energy_pull(sim, add_stored, &stored);
    if (sim->model->ground_count > 0) mabd_redmax_ground_energy_pull(sim, add_stored, &stored);
    for (int32_t i = 0; i < sim->link_count; i++) {
        if (sim->links[i].body >= 0) {
            add_body_energy(g, i, s / mabd_redmax_share(sim, &sim->links[i]));
        }
    }
    for (int32_t k = 0; k < sim->freedom_count; k++) add_law_energy(g, k, s);
    for (int32_t i = 0; i < g->parameter_count; i++) g->product[i] += s * energy_by(g, i);
}

// ---- wrenches of joints ------------------------------------------------------------------------

// Position of the joint on the parent of a string, by a bar in the world.
static void add_parent_point(mabd_redmax_gradient* g, int32_t joint, mabd_vec3 bar) {
    const mabd_redmax_sim* sim = g->sim;
    int32_t i = sim->joint_link[joint];
    while (sim->links[i].parent >= 0 && sim->links[sim->links[i].parent].joint == joint) {
        i = sim->links[i].parent;
    }
    const int32_t parent = sim->links[i].parent;
    if (parent >= 0) {
        const mabd_vec3 l = mabd_m3_tmul(sim->world[parent].R, bar);
        const mabd_spatial at = mabd_sp(mabd_v3_cross(sim->links[i].rest.p, l), l);
        g->xi[parent] = mabd_sp_add(g->xi[parent], at);
    }
    const mabd_model_joint* own = &sim->model->joints[joint];
    const mabd_joint_view view = mabd_redmax_view(sim, own);
    mabd_mat3 U = view.Ab; // the anchor on b is a parameter
    if (own->b < sim->model->body_count) {
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[own->b]];
        U = mabd_m3_product(U, mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes))));
    }
    const bool free =
        parent >= 0 && sim->links[parent].joint < 0; // its frame moves with its centre
    for (int32_t k = 0; k < g->parameter_count; k++) {
        const mabd_parameter* p = &g->parameters[k];
        const mabd_real by = mabd_v3_dot(mabd_m3_column(&U, p->component % 3), bar);
        if (p->kind == MABD_PARAMETER_ANCHOR_B && p->index == joint) g->product[k] += by;
        if (p->kind == MABD_PARAMETER_CENTER && p->index == own->b && free) g->product[k] -= by;
    }
}

static void add_joint_force(mabd_redmax_gradient* g, int32_t joint, const mabd_real* bars) {
    const mabd_redmax_sim* sim = g->sim;
    const int32_t i = sim->joint_link[joint];
    const mabd_spatial F = mabd_sp_load(sim->wrench + 6 * (size_t)i);
    const mabd_mat3 R = sim->world[i].R;
    mabd_vec3 f = mabd_v3_load(bars), t = mabd_v3_load(bars + 3);
    if (sim->links[i].reversed) { // f_b = -R F_v, t_b = -R F_w - arm x f_b
        const mabd_vec3 by_arm = mabd_v3_cross(mabd_m3_mul(R, F.v), t); // -f_b x t
        f = mabd_v3_sub(f, mabd_v3_cross(t, mabd_redmax_arm(sim, joint)));
        f = mabd_v3_scale(-1, f), t = mabd_v3_scale(-1, t);
        add_parent_point(g, joint, by_arm);
        g->joint_xi[i].v = mabd_v3_sub(g->joint_xi[i].v, mabd_m3_tmul(R, by_arm));
    }
    const mabd_spatial bar = mabd_sp(mabd_m3_tmul(R, t), mabd_m3_tmul(R, f));
    const mabd_vec3 turn =
        mabd_v3_add(mabd_v3_cross(F.w, bar.w), mabd_v3_cross(F.v, bar.v)); // R (xi_w x F)
    g->wrench[i] = mabd_sp_add(g->wrench[i], bar);
    g->joint_xi[i].w = mabd_v3_add(g->joint_xi[i].w, turn);
    g->has_wrench = true;
}

// ---- forces of cut joints ----------------------------------------------------------------------

// Bars of the turns, in the world, of the sides of a joint by a row with force lambda; returns that
// of lambda. A slide row pulls along R_a n, a cross row turns about W x U, W = R_b w, U = R_a u.
static mabd_real row_force_bars(const mabd_joint_view* view, const mabd_row* row, mabd_real lambda,
                                mabd_vec3 f, mabd_vec3 t, mabd_vec3 turn[2]) {
    turn[0] = turn[1] = mabd_v3(0, 0, 0);
    if (row->kind == MABD_ROW_POINT) return mabd_v3_get(f, row->axis);
    if (row->kind == MABD_ROW_SLIDE) {
        const mabd_vec3 n = mabd_m3_mul(view->Aa, mabd_m3_column(&view->Fa, row->axis));
        turn[0] = mabd_v3_scale(lambda, mabd_v3_cross(n, f));
        return mabd_v3_dot(n, f);
    }
    const mabd_rigid_axes x = mabd_rigid_row_axes(view, row);
    const mabd_vec3 U = mabd_m3_mul(view->Aa, x.u), W = mabd_m3_mul(view->Ab, x.w);
    turn[0] = mabd_v3_scale(lambda, mabd_v3_cross(U, mabd_v3_cross(t, W)));
    turn[1] = mabd_v3_scale(lambda, mabd_v3_cross(W, mabd_v3_cross(U, t)));
    return mabd_v3_dot(mabd_v3_cross(W, U), t);
}

// A bar of the turn of a side of a joint: of its link, and of the parameters of its axes.
static void add_side_turn(mabd_redmax_gradient* g, int32_t joint, bool is_b, int32_t link,
                          mabd_vec3 bar) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_model_joint* own = &sim->model->joints[joint];
    const mabd_joint_view view = mabd_redmax_view(sim, own);
    const int32_t body = is_b ? own->b : own->a;
    mabd_mat3 U = is_b ? view.Ab : view.Aa; // of the user's frame
    if (link >= 0) {
        g->xi[link].w = mabd_v3_add(g->xi[link].w, mabd_m3_tmul(sim->world[link].R, bar));
    }
    if (body < sim->model->body_count) {
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
        U = mabd_m3_product(U, mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes))));
    }
    for (int32_t k = 0; k < g->parameter_count; k++) {
        const mabd_parameter* p = &g->parameters[k];
        if (p->kind != (is_b ? MABD_PARAMETER_AXIS_B : MABD_PARAMETER_AXIS_A)) continue;
        if (p->index != joint) continue;
        const mabd_vec3 turn =
            mabd_rigid_turn_change(g->parameter_count, g->parameters, g->values, k);
        g->product[k] += mabd_v3_dot(mabd_m3_mul(U, turn), bar);
    }
}

static void add_cut_force(mabd_redmax_gradient* g, const mabd_redmax_cut* cut,
                          const mabd_real* bars) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_model_joint* joint = &sim->model->joints[cut->joint];
    const mabd_joint_view view = mabd_redmax_view(sim, joint);
    const mabd_vec3 f = mabd_v3_load(bars), t = mabd_v3_load(bars + 3);
    for (int32_t r = 0; r < cut->row_count; r++) {
        const mabd_row* row = &sim->model->row_sets[joint->row_set].rigid[r];
        mabd_vec3 turn[2];
        g->force[cut->row_first + r] +=
            row_force_bars(&view, row, sim->loops.lambda[cut->row_first + r], f, t, turn);
        add_side_turn(g, cut->joint, false, cut->a, turn[0]);
        add_side_turn(g, cut->joint, true, cut->b, turn[1]);
    }
}

// ---- the whole ---------------------------------------------------------------------------------

void mabd_redmax_add_output(mabd_redmax_gradient* g, const mabd_output_bars* bars, int64_t step) {
    const mabd_redmax_sim* sim = g->sim;
    mabd_real* states = (mabd_real*)bars->state; // read only
    mabd_redmax_place_now(sim);
    for (int32_t p = 0; p < sim->part_count; p++) clear_links(g, &sim->parts[p]);
    for (int32_t i = 0; i < sim->link_count; i++) {
        const int32_t body = sim->links[i].body;
        if (body >= 0) pass_body(g, i, true, states + 12 * (size_t)body);
    }
    if (bars->energy != 0) add_energy(g, bars->energy);
    for (int32_t k = 0; bars->axes && k < sim->freedom_count; k++) {
        const int32_t joint = mabd_redmax_piece_joint(sim, k);
        if (joint < 0) continue;
        const mabd_real* bar = bars->axes + 12 * (size_t)joint + 2 * (size_t)sim->freedoms[k].axis;
        g->directions[0].now.q[k] += bar[0], g->directions[0].now.v[k] += bar[1];
    }
    if (bars->efforts) mabd_redmax_add_effort_bars(g, step, bars->efforts);
    for (int32_t j = 0; bars->forces && j < sim->model->joint_count; j++) {
        if (sim->joint_link[j] >= 0) add_joint_force(g, j, bars->forces + 6 * (size_t)j);
    }
    for (int32_t i = 0; bars->forces && i < sim->loops.cut_count; i++) {
        const mabd_redmax_cut* cut = &sim->loops.cuts[i];
        if (cut->weld) continue; // the wrench of its string
        add_cut_force(g, cut, bars->forces + 6 * (size_t)cut->joint);
    }
    for (int32_t p = 0; p < sim->part_count; p++) {
        links_back(g, &sim->parts[p], g->directions[0].now);
    }
    for (int32_t i = 0; i < g->parameter_count; i++) {
        move_product own = {g, 0};
        mabd_redmax_visit_moves(g, i, add_move, &own);
        mabd_redmax_spline spline;
        if (mabd_redmax_spline_change(g, i, &spline)) {
            add_move(&own, spline.link, true, spline.xi);
            own.sum += mabd_sp_dot(g->eta[spline.link], spline.dV);
        }
        g->product[i] += own.sum;
        pass_center(g, &g->parameters[i], true, states, &g->product[i]);
    }
}
