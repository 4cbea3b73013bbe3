// SPDX-License-Identifier: Apache-2.0
// Derivatives of the start state through its two projections (kinematics.c, state.c).
//
//   user      dp, theta (turn in the user's body frame), d velocity, d omega (world)
//   placed    dc0 = dp + d arm,  phi0 = V'theta,  dv0 = d vel + d omega x arm + omega x d arm,
//             arm = U center,  d arm = U (theta x center)
//   close     F = (m (c - c0), J tau(q, q0)) - J'mu, C = 0:   tau = 2 vec(q0* q)/(q0.q),
//             d tau = (I + [tau]/2 + tau tau'/4) phi - (I - [tau]/2 + tau tau'/4) phi0
//   turn      om0 = R'omega:  d om0 = R'd omega + [om0] phi
//   carry     v0 += w x (c - c0), w the angular velocity of all bodies as one, if it is a
//             parameter: the closed start moves as one rigid body, not the one before
//   project   F = M (u - u0) - J'mu,  J u = 0
//   node      c, q, v, w = q (x) (0, om)/2:  dw = q (x) (0, d om)/2 + q (x) (0, phi) (x) (0, om)/4,
//             coordinates x with dx = J xi and rates with dx' = u'G xi + J eta
//
// The center of mass moves c0 and v0 at a fixed state of the user: d arm = U d center besides.

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/start_hold.h"
#include "formulation/quaternion/start_projection.h"
#include "formulation/quaternion/tangent_joint.h"
#include "rigid/frames.h"
#include "rigid/parameter_change.h"

#include "base/error.h"

#include <string.h>

/// A part at the start of a run.
typedef struct start_point {
    mabd_quaternion_gradient* g;
    mabd_quaternion_report report;
    mabd_quaternion_point close, project;
} start_point;

// ---- the point ---------------------------------------------------------------------------------

// Copy the poses or nodes of the bodies of a part, `reals` each.
static void copy_bodies(const mabd_quaternion_solve* s, size_t reals, const mabd_real* from,
                        mabd_real* to) {
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t at = reals * (size_t)s->sim->bodies[s->part->body_first + i];
        memcpy(to + at, from + at, reals * sizeof *to);
    }
}

// Way of the centre of a body in the first projection.
static mabd_vec3 way_of(const mabd_quaternion_point* p, int32_t body) {
    const size_t at = 7 * (size_t)body;
    return mabd_v3_sub(mabd_v3_load(p->s.sim->pose + at), mabd_v3_load(p->from + at));
}

// Add w x (c - c0) to the velocities of a node.
static void carry_spin(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                       mabd_quaternion_node* node) {
    const mabd_vec3 w = mabd_rigid_common_spin(g->parameter_count, g->parameters, g->values);
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = p->s.sim->bodies[p->s.part->body_first + i];
        mabd_real* v = node->body + MABD_NODE_REALS * (size_t)body + 7;
        mabd_v3_store(mabd_v3_add(mabd_v3_load(v), mabd_v3_cross(w, way_of(p, body))), v);
    }
}

// The two implicit functions of a part.
static void set_points(start_point* at, const mabd_quaternion_solve* s) {
    mabd_quaternion_gradient* g = at->g;
    at->close = (mabd_quaternion_point){.s = *s, .function = MABD_FUNCTION_CLOSE, .scale = 1};
    at->close.multiplier = g->closing, at->close.from = g->open_pose;
    at->close.node = &g->begin, at->close.holds = &g->holds[0];
    at->project = at->close;
    at->project.function = MABD_FUNCTION_PROJECT;
    at->project.multiplier = g->projecting, at->project.holds = &g->holds[1];
    at->project.y = g->solution + s->part->vector_first;
}

// Take the projections of a part. sim->now holds the start state of the model as it is.
static mabd_status enter_start(start_point* at, int32_t index, mabd_error* error) {
    mabd_quaternion_gradient* g = at->g;
    mabd_quaternion_sim* sim = g->sim;
    mabd_quaternion_part* part = &sim->parts[index];
    mabd_quaternion_solve s = {.sim = sim, .part = part, .report = &at->report};
    s.h = s.bh = sim->def.h;
    set_points(at, &s);
    MABD_TRY(mabd_start_take_holds(g, true, index, at->close.holds, error));
    MABD_TRY(mabd_start_take_holds(g, false, index, at->project.holds, error));
    mabd_quaternion_take_pose(&s, &sim->now);
    copy_bodies(&s, 7, sim->pose, g->open_pose);
    MABD_TRY(mabd_start_close(&at->close, g->closing, error));
    mabd_start_write(&s, &sim->now);
    carry_spin(g, &at->close, &sim->now);
    copy_bodies(&s, MABD_NODE_REALS, sim->now.body, g->begin.body); // its velocities stay
    MABD_TRY(mabd_start_project(&at->project, &sim->now, g->projecting, error));
    mabd_quaternion_read_coordinates(&s, &sim->now);
    for (int32_t i = 0; i < part->body_count; i++) {
        const mabd_side_motion m =
            mabd_quaternion_side_motion(&s, &sim->now, sim->bodies[part->body_first + i]);
        memcpy(g->solution + part->vector_first + 6 * (size_t)i, m.u, sizeof m.u);
    }
    return MABD_OK;
}

// ---- closing -----------------------------------------------------------------------------------

static mabd_status factor_close(const mabd_quaternion_point* p, bool back, mabd_error* error) {
    mabd_start_store_close(p);
    MABD_TRY(mabd_tangent_factor(p, error));
    mabd_start_hold_rows(&p->s, p->holds);
    return mabd_start_border(p, back, p->holds, error);
}

// F += F_in (dc0, phi0) of the first projection.
static void pass_close(const mabd_quaternion_point* p, bool back, mabd_real* F, mabd_real* placed) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = sim->bodies[p->s.part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        mabd_real *f = F + 6 * (size_t)i, *x = placed + 12 * (size_t)body;
        mabd_vec3 way, tau;
        mabd_rigid_way(sim->pose + 7 * (size_t)body, p->from + 7 * (size_t)body, &way, &tau);
        mabd_pass_scaled(back, -c->material.mass, 3, f, x);
        mabd_pass_m3(back, -1, mabd_rigid_way_slope(mabd_v3_load(c->principal), tau, -1), f + 3,
                     x + 3);
    }
}

// ---- projecting --------------------------------------------------------------------------------

static mabd_status factor_project(const mabd_quaternion_point* p, bool back, mabd_error* error) {
    mabd_start_store_project(&p->s);
    MABD_TRY(mabd_tangent_factor(p, error));
    mabd_start_hold_rows(&p->s, p->holds);
    return mabd_start_border(p, back, p->holds, error);
}

// F += F_in by the closed pose xi and by dv0, d omega of `placed`.
static void pass_project(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                         bool back, mabd_real* F, mabd_real* xi, mabd_real* placed) {
    const mabd_mat3 spin =
        mabd_m3_skew(mabd_rigid_common_spin(g->parameter_count, g->parameters, g->values));
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = sim->bodies[p->s.part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        const mabd_vec3 J = mabd_v3_load(c->principal);
        const mabd_side_motion u0 = mabd_quaternion_side_motion(&p->s, p->node, body);
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(sim->pose + 7 * (size_t)body + 3));
        mabd_real *f = F + 6 * (size_t)i, *x = placed + 12 * (size_t)body;
        mabd_pass_scaled(back, -c->material.mass, 3, f, x + 6);
        mabd_pass_m3(back, -c->material.mass, spin, f, xi + 6 * (size_t)i); // w x (dc - dc0)
        mabd_pass_m3(back, c->material.mass, spin, f, x);
        // d om0 = R'd omega + [om0] phi
        mabd_pass_m3(back, -1, mabd_rigid_diagonal_product(J, mabd_m3_transpose(R)), f + 3, x + 9);
        mabd_pass_m3(back, -1, mabd_rigid_diagonal_product(J, mabd_m3_skew(mabd_v3_load(u0.u + 3))),
                     f + 3, xi + 6 * (size_t)i + 3);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_real G[4][36];
        mabd_tangent_joint_at(p, i, &at);
        const mabd_tangent_motion motion = mabd_tangent_motion_of(p, &at);
        const int32_t slots[2] = {at.j->slot_a, at.j->slot_b};
        memset(G, 0, sizeof G);
        mabd_tangent_geometric(p, &at, G, NULL);
        for (int k = 0; k < 4; k++) {
            const int32_t on = slots[k / 2], of = slots[k % 2];
            if (on < 0 || of < 0) continue;
            mabd_pass(back, -1, G[k], 6, 6, F + 6 * (size_t)on, xi + 6 * (size_t)of);
        }
        for (int32_t r = 0; r < at.set->rigid_count && at.j->slot >= 0; r++) {
            mabd_real rate[12];
            mabd_tangent_rate_gradient(&at, r, motion.u[0], motion.u[1], rate);
            mabd_tangent_sides(&at, rate, back, 1, F + at.first_row + r, xi);
        }
        for (int32_t k = 0; k < at.held_count; k++) {
            mabd_real rate[12];
            mabd_tangent_rate_gradient(&at, at.j->width + k, motion.u[0], motion.u[1], rate);
            mabd_tangent_sides(&at, rate, back, 1, &at.held[k]->f, xi);
        }
    }
}

// F += the derivative by the angular velocity of all bodies as one: -m d w x (c - c0).
static void pass_common_spin(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                             int32_t index, bool back, mabd_real* F, mabd_real* value) {
    const mabd_parameter* own = &g->parameters[index];
    const mabd_model* m = g->sim->model;
    if (own->kind != MABD_PARAMETER_START_ANGULAR || own->index >= 0) return;
    const mabd_vec3 e = mabd_v3(own->component == 0, own->component == 1, own->component == 2);
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = p->s.sim->bodies[p->s.part->body_first + i];
        mabd_real column[3];
        mabd_v3_store(mabd_v3_cross(e, way_of(p, body)), column);
        mabd_pass(back, -m->classes[m->body_class[body]].material.mass, column, 3, 1,
                  F + 6 * (size_t)i, value);
    }
}

// ---- the node ----------------------------------------------------------------------------------

static void pass_end_body(const mabd_quaternion_point* p, int32_t slot, bool back, mabd_real* node,
                          mabd_real* xi, mabd_real* eta) {
    const int32_t body = p->s.sim->bodies[p->s.part->body_first + slot];
    const mabd_quat q = mabd_q_load(p->s.sim->pose + 7 * (size_t)body + 3);
    const mabd_vec3 om = mabd_v3_load(p->y + 6 * (size_t)slot + 3);
    mabd_pass_scaled(back, 1, 3, node, xi);
    mabd_tangent_turn(back, 1, q, node + 3, xi + 3);
    mabd_pass_scaled(back, 1, 3, node + 7, eta);
    mabd_tangent_turn(back, 1, q, node + 10, eta + 3);
    for (int k = 0; k < 3; k++) { // q (x) (0, e) (x) (0, om)/4
        const mabd_quat h = mabd_q_product(mabd_rigid_h_tmul(q, mabd_v3(k == 0, k == 1, k == 2)),
                                           mabd_q(0, om.x, om.y, om.z));
        const mabd_real column[4] = {h.w / 4, h.x / 4, h.y / 4, h.z / 4};
        mabd_pass(back, 1, column, 4, 1, node + 10, xi + 3 + k);
    }
}

// F'(om_b - Q om_a) of damped rotations, om fixed in the bodies.
void mabd_tangent_turn_rates(const mabd_tangent_joint* at, const mabd_tangent_motion* m, bool back,
                             mabd_quaternion_node node, mabd_real* xi, mabd_real* eta) {
    const mabd_mat3 Q = at->rigid.Q;
    const mabd_vec3 om_a = mabd_v3_load(m->u[0] + 3);
    const mabd_mat3 seen = mabd_m3_skew(mabd_m3_mul(Q, om_a));
    const mabd_mat3 turn[2] = {mabd_rigid_product_skew(Q, om_a), mabd_m3_axpy(-2, seen, seen)};
    const mabd_mat3 spin[2] = {mabd_m3_axpy(-2, Q, Q), mabd_m3_identity()};
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int32_t r = 0; r < at->set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(at->set, r)) continue;
        const mabd_vec3 f = mabd_m3_column(&at->view.Fb, at->set->control_row[r].axis);
        mabd_real* out = node.x + 2 * (size_t)(at->joint->coordinate + r) + 1;
        for (int k = 0; k < 2; k++) {
            mabd_real by[3];
            if (slots[k] < 0) continue;
            mabd_v3_store(mabd_m3_tmul(turn[k], f), by);
            if (xi) mabd_pass(back, 1, by, 1, 3, out, xi + 6 * (size_t)slots[k] + 3);
            mabd_v3_store(mabd_m3_tmul(spin[k], f), by);
            mabd_pass(back, 1, by, 1, 3, out, eta + 6 * (size_t)slots[k] + 3);
        }
    }
}

static void pass_end(const mabd_quaternion_point* p, bool back, mabd_quaternion_node node,
                     mabd_real* xi, mabd_real* eta) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->s.part->body_first + i];
        pass_end_body(p, i, back, node.body + MABD_NODE_REALS * body, xi + 6 * (size_t)i,
                      eta + 6 * (size_t)i);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        const mabd_tangent_motion m = mabd_tangent_motion_of(p, &at);
        for (int32_t k = 0; k < at.set->control_count; k++) {
            const int32_t r = at.set->rigid_count + k;
            mabd_real rate[12], *x = node.x + 2 * (size_t)(at.joint->coordinate + k);
            mabd_tangent_row(&at, &at.J[r], back, 1, x, xi);
            if (mabd_quaternion_is_damped_turn(at.set, k)) continue;
            mabd_tangent_rate_gradient(&at, r, m.u[0], m.u[1], rate);
            mabd_tangent_sides(&at, rate, back, 1, x + 1, xi);
            mabd_tangent_row(&at, &at.J[r], back, 1, x + 1, eta);
        }
        if (at.set->damped) mabd_tangent_turn_rates(&at, &m, back, node, xi, eta);
    }
}

// Coordinates and rates of the start by moves of joint frames.
static void pass_end_parameter(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                               int32_t index, bool back, mabd_quaternion_node node,
                               mabd_real* value) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        const int32_t number = sim->joints[p->s.part->joint_first + i].joint;
        const mabd_model_joint* joint = &sim->model->joints[number];
        for (int side = 0; side < 2; side++) {
            mabd_vec3 shift, turn;
            mabd_tangent_joint at;
            if (joint->coordinate < 0) continue;
            if (!mabd_tangent_move(g, index, joint, number, side, &shift, &turn)) continue;
            mabd_tangent_joint_at(p, i, &at);
            const mabd_tangent_motion m = mabd_tangent_motion_of(p, &at);
            const mabd_mat3 R = side == 0 ? at.view.Aa : at.view.Ab;
            const mabd_vec3 X = side == 0 ? at.view.Xa : at.view.Xb;
            const mabd_vec3 arm = mabd_m3_mul(R, mabd_v3_sub(shift, mabd_v3_cross(turn, X)));
            for (int32_t k = 0; k < at.set->control_count; k++) {
                const int32_t r = at.set->rigid_count + k;
                const mabd_rigid_wrench* J = side == 0 ? &at.J[r].a : &at.J[r].b;
                const mabd_real dx = mabd_v3_dot(J->f, arm) + mabd_v3_dot(J->t, turn);
                mabd_real* x = node.x + 2 * (size_t)(at.joint->coordinate + k);
                mabd_pass_scaled(back, dx, 1, x, value);
                if (mabd_quaternion_is_damped_turn(at.set, k)) continue;
                mabd_pass_scaled(back,
                                 mabd_tangent_moved(&at, r, MABD_ROW_RATE, &m, side, shift, turn),
                                 1, x + 1, value);
            }
        }
    }
}

// ---- from the user's frame ---------------------------------------------------------------------

// placed (12 per body: dc0, phi0, dv0, d omega) += the derivative by the user's start state.
static void pass_place(const mabd_quaternion_point* p, bool back, mabd_real* placed,
                       mabd_real* user) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = sim->bodies[p->s.part->body_first + i];
        mabd_rigid_pass_placed(&m->classes[m->body_class[body]], &m->start[body], back,
                               placed + 12 * (size_t)body, user + 12 * (size_t)body);
    }
}

// placed += the derivative by the center of mass.
static void pass_place_center(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                              int32_t index, bool back, mabd_real* placed, mabd_real* value) {
    const mabd_parameter* own = &g->parameters[index];
    const mabd_model* m = g->sim->model;
    if (own->kind != MABD_PARAMETER_CENTER) return;
    if (&g->sim->parts[g->parameter_part[index]] != p->s.part) return;
    mabd_rigid_pass_placed_center(&m->start[own->index], own->component, back,
                                  placed + 12 * (size_t)own->index, value);
}

// ---- both directions ---------------------------------------------------------------------------

static size_t unknowns_of(const mabd_quaternion_part* part) {
    return 6 * (size_t)part->body_count + (size_t)part->row_count;
}

// The row of a held axis is x - p or B u - p.
static void clear_held(const mabd_quaternion_point* p) {
    for (int32_t i = 0; i < p->holds->count; i++) p->holds->hold[i].f = 0;
}
static void set_held(const mabd_quaternion_point* p, int32_t parameter) {
    for (int32_t i = 0; i < p->holds->count; i++) {
        p->holds->hold[i].f = p->holds->hold[i].parameter == parameter ? -1 : 0;
    }
}
static void add_held(const mabd_quaternion_point* p, mabd_real* gradient) {
    for (int32_t i = 0; i < p->holds->count; i++) {
        gradient[p->holds->hold[i].parameter] -= p->holds->hold[i].f;
    }
}

static mabd_status adjoint_part(start_point* at, mabd_error* error) {
    mabd_quaternion_gradient* g = at->g;
    mabd_real *placed = g->placed, *gradient = g->product;
    const mabd_quaternion_node bars = g->directions[0].now;
    const mabd_quaternion_part* part = at->close.s.part;
    const size_t bytes = unknowns_of(part) * sizeof(mabd_real);
    mabd_real *F = g->F, *dy = g->dy, *xi = g->xi;
    const mabd_quaternion_node none = {NULL, NULL};
    memset(xi, 0, 6 * (size_t)part->body_count * sizeof *xi);
    memset(dy, 0, bytes);
    pass_end(&at->project, true, bars, xi, dy);
    MABD_TRY(factor_project(&at->project, true, error));
    clear_held(&at->project);
    mabd_start_solve(&at->project, true, at->project.holds, dy, F);
    pass_project(g, &at->project, true, F, xi, placed);
    add_held(&at->project, gradient);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        pass_end_parameter(g, &at->project, i, true, bars, &gradient[i]);
        mabd_tangent_parameter(g, &at->project, i, 0, true, F, none, &gradient[i]);
        pass_common_spin(g, &at->project, i, true, F, &gradient[i]);
    }
    memset(dy, 0, bytes);
    memcpy(dy, xi, 6 * (size_t)part->body_count * sizeof *xi);
    MABD_TRY(factor_close(&at->close, true, error));
    clear_held(&at->close);
    mabd_start_solve(&at->close, true, at->close.holds, dy, F);
    pass_close(&at->close, true, F, placed);
    add_held(&at->close, gradient);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, &at->close, i, 0, true, F, none, &gradient[i]);
        pass_place_center(g, &at->close, i, true, placed, &gradient[i]);
    }
    pass_place(&at->close, true, placed, g->start);
    return MABD_OK;
}

static void forward_close(start_point* at, const mabd_real* start, int32_t i, mabd_real* placed) {
    mabd_quaternion_gradient* g = at->g;
    const size_t reals = 12 * (size_t)g->sim->model->body_count;
    const mabd_quaternion_part* part = at->close.s.part;
    const mabd_quaternion_node none = {NULL, NULL};
    mabd_real one = 1;
    set_held(&at->close, i);
    memset(g->F, 0, unknowns_of(part) * sizeof *g->F);
    memset(placed, 0, reals * sizeof *placed);
    pass_place(&at->close, false, placed, (mabd_real*)start + (size_t)i * reals); // read only
    pass_place_center(g, &at->close, i, false, placed, &one);
    pass_close(&at->close, false, g->F, placed);
    mabd_tangent_parameter(g, &at->close, i, 0, false, g->F, none, &one);
}

static mabd_status forward_part(start_point* at, const mabd_real* start, mabd_error* error) {
    mabd_quaternion_gradient* g = at->g;
    const mabd_quaternion_part* part = at->close.s.part;
    const mabd_quaternion_node none = {NULL, NULL};
    mabd_real* placed = g->placed;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_real one = 1;
        MABD_TRY(factor_close(&at->close, false, error));
        forward_close(at, start, i, placed);
        mabd_start_solve(&at->close, false, at->close.holds, g->F, g->dy);
        memcpy(g->xi, g->dy, 6 * (size_t)part->body_count * sizeof *g->xi);
        MABD_TRY(factor_project(&at->project, false, error));
        set_held(&at->project, i);
        memset(g->F, 0, unknowns_of(part) * sizeof *g->F);
        pass_project(g, &at->project, false, g->F, g->xi, placed);
        mabd_tangent_parameter(g, &at->project, i, 0, false, g->F, none, &one);
        pass_common_spin(g, &at->project, i, false, g->F, &one);
        mabd_start_solve(&at->project, false, at->project.holds, g->F, g->dy);
        pass_end(&at->project, false, g->directions[i].now, g->xi, g->dy);
        pass_end_parameter(g, &at->project, i, false, g->directions[i].now, &one);
    }
    return MABD_OK;
}

// Place the bodies of `now` by the start state of the model.
static void place_model(mabd_quaternion_sim* sim) {
    const mabd_model_start* kept = sim->start;
    sim->start = sim->model->start;
    mabd_quaternion_place_bodies(sim);
    sim->start = kept;
}

mabd_status mabd_quaternion_gradient_begin(void* self, void* work, mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    start_point at = {.g = work};
    mabd_quaternion_clear_directions(work);
    MABD_TRY(mabd_quaternion_start(sim, error));
    place_model(sim);
    for (int32_t i = 0; i < sim->part_count; i++) MABD_TRY(enter_start(&at, i, error));
    mabd_quaternion_forget_history(sim);
    return MABD_OK;
}

// Begin at the start state of the model; `now` is set aside.
static void leave_now(mabd_quaternion_gradient* g) {
    mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_node kept = sim->now;
    sim->now = sim->next, sim->next = kept;
    memcpy(sim->now.x, kept.x, 2 * (size_t)sim->model->coordinate_count * sizeof *kept.x);
    sim->time = 0;
    place_model(sim);
}

mabd_status mabd_tangent_start_back(mabd_quaternion_gradient* g, mabd_error* error) {
    mabd_quaternion_sim* sim = g->sim;
    start_point at = {.g = g};
    mabd_status status = MABD_OK;
    const size_t bytes = 12 * (size_t)sim->model->body_count * sizeof *g->start;
    leave_now(g);
    memset(g->placed, 0, bytes), memset(g->start, 0, bytes);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        status = enter_start(&at, i, error);
        if (status == MABD_OK) status = adjoint_part(&at, error);
    }
    const mabd_quaternion_node now = sim->now;
    sim->now = sim->next, sim->next = now;
    return status;
}

mabd_status mabd_tangent_start_forward(mabd_quaternion_gradient* g, const mabd_real* start,
                                       mabd_error* error) {
    mabd_quaternion_sim* sim = g->sim;
    start_point at = {.g = g};
    mabd_status status = MABD_OK;
    mabd_quaternion_clear_directions(g);
    leave_now(g);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        status = enter_start(&at, i, error);
        if (status == MABD_OK) status = forward_part(&at, start, error);
    }
    const mabd_quaternion_node now = sim->now;
    sim->now = sim->next, sim->next = now;
    return status;
}
