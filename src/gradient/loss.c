// SPDX-License-Identifier: Apache-2.0
// Losses of one state and their derivatives by what a user sees of it: per body position p, turn
// theta in the body frame, velocity and angular velocity omega (world).
//
//   point X      x = p + U X,          dx = dp - U [X] theta
//   velocity     x' = v + omega x U X
//   rotation     4 |vec d|^2, d = U* target:  by theta  -8 d_0 vec d / 2
//   coordinate   J of rigid/row_jacobian.h in (dc, phi): c = p + U center, R = U V
//   rate         J u with u = (v + omega x U center, R'omega); by the pose u'G besides
//
// Anchors and axes of a joint are parameters of its coordinates: a move of the joint frame on a
// body is a move of that body for the row (formulation/quaternion/tangent_parameter.c). The axes of
// a plain ball joint are those of the world in the start pose, F = R_0' on each body: a turn
// theta_0 of a body in state 0 turns them by -V'theta_0.

#include "gradient/loss.h"

#include "base/error.h"
#include "rigid/frames.h"
#include "rigid/geometric.h"
#include "scene/signal.h"
#include "sim/sim_object.h"

#include <math.h>
#include <string.h>

static mabd_vec3 vec_at(const mabd_real* values, int32_t body) {
    return mabd_v3_load(values + 3 * (size_t)body);
}
static void add(mabd_real* to, mabd_real s, mabd_vec3 x) {
    mabd_v3_store(mabd_v3_axpy(s, x, mabd_v3_load(to)), to);
}
static mabd_mat3 rotation_of(const mabd_loss_frame* f, int32_t body) {
    return mabd_q_matrix(mabd_q_load(f->quaternions + 4 * (size_t)body));
}
static mabd_real* bars_of(const mabd_loss_frame* f, int32_t body) {
    return f->state_bars + 12 * (size_t)body;
}

// ---- bodies ------------------------------------------------------------------------------------

static mabd_real point_loss(const mabd_loss_frame* f, const mabd_loss_term* t, bool bars) {
    const mabd_mat3 U = rotation_of(f, t->index);
    const mabd_vec3 X = mabd_v3_load(t->point), arm = mabd_m3_mul(U, X);
    const mabd_vec3 omega = vec_at(f->angular, t->index);
    const bool rate = t->kind == MABD_LOSS_VELOCITY;
    const mabd_vec3 x =
        rate ? mabd_v3_add(vec_at(f->velocities, t->index), mabd_v3_cross(omega, arm))
             : mabd_v3_add(vec_at(f->positions, t->index), arm);
    const mabd_vec3 e = mabd_v3_sub(x, mabd_v3_load(t->target));
    if (bars) {
        const mabd_vec3 g = mabd_v3_scale(2 * t->weight, e);
        const mabd_vec3 on_arm = rate ? mabd_v3_cross(g, omega) : g;
        mabd_real* b = bars_of(f, t->index);
        add(b + (rate ? 6 : 0), 1, g);
        add(b + 3, 1, mabd_v3_cross(X, mabd_m3_tmul(U, on_arm)));
        if (rate) add(b + 9, 1, mabd_v3_cross(arm, g));
    }
    return t->weight * mabd_v3_dot(e, e);
}

static mabd_real rotation_loss(const mabd_loss_frame* f, const mabd_loss_term* t, bool bars) {
    const mabd_quat q = mabd_q_load(f->quaternions + 4 * (size_t)t->index);
    const mabd_quat target = mabd_q_normalize(mabd_q_load(t->target));
    const mabd_quat d = mabd_q_product(mabd_q_conjugate(q), target);
    const mabd_vec3 v = mabd_v3(d.x, d.y, d.z);
    if (bars) add(bars_of(f, t->index) + 3, -4 * t->weight * d.w, v);
    return 4 * t->weight * mabd_v3_dot(v, v);
}

static mabd_real angular_loss(const mabd_loss_frame* f, const mabd_loss_term* t, bool bars) {
    const mabd_vec3 e = mabd_v3_sub(vec_at(f->angular, t->index), mabd_v3_load(t->target));
    if (bars) add(bars_of(f, t->index) + 9, 2 * t->weight, e);
    return t->weight * mabd_v3_dot(e, e);
}

// ---- joints ------------------------------------------------------------------------------------

/// A row of a joint at a state of the user.
typedef struct loss_row {
    const mabd_model_joint* joint;
    mabd_row row;
    mabd_joint_view view;
    mabd_rigid_row J;
    mabd_real x, rate;
    mabd_real u[2][6];     // velocities of the sides
    mabd_real by_pose[12]; // of the rate
    mabd_real G[4][36];
} loss_row;

static mabd_rigid_state side_of(const mabd_loss_frame* f, int32_t body) {
    const mabd_model* m = &f->variant->model;
    mabd_rigid_state s = {.q = {.w = 1}};
    mabd_model_start user;
    if (body == m->body_count) return s;
    memcpy(user.position, f->positions + 3 * (size_t)body, sizeof user.position);
    memcpy(user.rotation, f->quaternions + 4 * (size_t)body, sizeof user.rotation);
    memcpy(user.velocity, f->velocities + 3 * (size_t)body, sizeof user.velocity);
    memcpy(user.angular_velocity, f->angular + 3 * (size_t)body, sizeof user.angular_velocity);
    return mabd_rigid_from_user(&m->classes[m->body_class[body]], &user);
}

static void store_side(mabd_rigid_state s, mabd_mat3* R, mabd_vec3* c, mabd_real* u) {
    *R = mabd_q_matrix(s.q), *c = s.c;
    mabd_v3_store(s.v, u), mabd_v3_store(mabd_m3_tmul(*R, s.omega), u + 3);
}

// Axes of the world in the start pose, on a body (principal frame).
static mabd_mat3 start_axes(const mabd_loss_frame* f, int32_t body) {
    const mabd_model* m = &f->variant->model;
    if (body == m->body_count) return mabd_m3_identity();
    const mabd_mat3 U = mabd_q_matrix(mabd_q_load(f->start_quaternions + 4 * (size_t)body));
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(m->classes[m->body_class[body]].axes));
    return mabd_m3_transpose(mabd_m3_product(U, V));
}

static void find_row(const mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                     loss_row* r) {
    const mabd_model* m = &f->variant->model;
    mabd_real known[MABD_AXIS_COUNT];
    const mabd_real one = 1;
    r->joint = &m->joints[t->index];
    mabd_joint_coordinate((mabd_joint)r->joint->type, (mabd_axis)t->axis, &r->row);
    mabd_model_joint_view(m, r->joint, &r->view);
    store_side(side_of(f, r->joint->a), &r->view.Aa, &r->view.ta, r->u[0]);
    store_side(side_of(f, r->joint->b), &r->view.Ab, &r->view.tb, r->u[1]);
    if (r->joint->frame < 0) {
        r->view.Fa = start_axes(f, r->joint->a), r->view.Fb = start_axes(f, r->joint->b);
    }
    mabd_sim_get_joint_coordinates(sim, t->index, known);
    const mabd_rigid_joint at =
        mabd_rigid_joint_rows(&r->view, 1, &r->row, &known[t->axis], &r->x, &r->J);
    const mabd_rigid_blocks G = {r->G[0], r->G[1], r->G[2], r->G[3]};
    memset(r->G, 0, sizeof r->G);
    mabd_rigid_add_geometric(&at, 1, &r->row, &one, &G);
    for (int k = 0; k < 12; k++) {
        r->by_pose[k] = 0;
        for (int i = 0; i < 12; i++) {
            r->by_pose[k] += r->u[i / 6][i % 6] * r->G[2 * (i / 6) + k / 6][6 * (i % 6) + k % 6];
        }
    }
    const mabd_rigid_wrench* J[2] = {&r->J.a, &r->J.b};
    r->rate = 0;
    for (int k = 0; k < 2; k++) {
        r->rate += mabd_v3_dot(J[k]->f, mabd_v3_load(r->u[k])) +
                   mabd_v3_dot(J[k]->t, mabd_v3_load(r->u[k] + 3));
    }
}

// Add bars of one side: by its pose (f, t), and of its velocity (vf, vt), times s.
static void add_side(const mabd_loss_frame* f, int32_t body, mabd_real s, mabd_rigid_wrench pose,
                     const mabd_rigid_wrench* velocity) {
    const mabd_model* m = &f->variant->model;
    if (body == m->body_count || m->body_motion[body] != MABD_MOTION_DYNAMIC) return;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_mat3 U = rotation_of(f, body), V = mabd_q_matrix(mabd_q_load(c->axes));
    const mabd_vec3 center = mabd_v3_load(c->center), omega = vec_at(f->angular, body);
    mabd_real* b = bars_of(f, body);
    mabd_vec3 on_arm = pose.f;
    if (velocity) {
        const mabd_mat3 R = mabd_m3_product(U, V);
        const mabd_vec3 om = mabd_m3_tmul(R, omega), arm = mabd_m3_mul(U, center);
        pose.t = mabd_v3_add(pose.t, mabd_v3_cross(velocity->t, om)); // d om = R'd omega + [om] phi
        on_arm = mabd_v3_add(on_arm, mabd_v3_cross(velocity->f, omega));
        add(b + 6, s, velocity->f);
        add(b + 9, s, mabd_m3_mul(R, velocity->t));
        add(b + 9, s, mabd_v3_cross(arm, velocity->f));
    }
    add(b, s, pose.f);
    add(b + 3, s, mabd_m3_mul(V, pose.t));
    add(b + 3, s, mabd_v3_cross(center, mabd_m3_tmul(U, on_arm)));
}

// Derivative of the coordinate, or of its rate, by a move of the joint frame on b, or else on a:
// the anchor by `shift`, the axes by `turn`, both in the principal frame.
static mabd_real moved(const loss_row* r, bool rate, bool is_b, mabd_vec3 shift, mabd_vec3 turn) {
    const mabd_mat3 R = is_b ? r->view.Ab : r->view.Aa;
    const mabd_vec3 arm =
        mabd_m3_mul(R, mabd_v3_sub(shift, mabd_v3_cross(turn, is_b ? r->view.Xb : r->view.Xa)));
    const mabd_rigid_wrench* J = is_b ? &r->J.b : &r->J.a;
    if (!rate) return mabd_v3_dot(J->f, arm) + mabd_v3_dot(J->t, turn);
    const mabd_real* by = r->by_pose + (is_b ? 6 : 0);
    const mabd_vec3 om = mabd_v3_load(r->u[is_b] + 3);
    return mabd_v3_dot(mabd_v3_load(by), arm) + mabd_v3_dot(mabd_v3_load(by + 3), turn) +
           mabd_v3_dot(J->f, mabd_v3_cross(mabd_m3_mul(R, om), arm)) +
           mabd_v3_dot(J->t, mabd_v3_cross(om, turn));
}

static mabd_mat3 axes_of(const mabd_model* m, int32_t body) {
    if (body == m->body_count) return mabd_m3_identity();
    return mabd_q_matrix(mabd_q_load(m->classes[m->body_class[body]].axes));
}

// Derivative of the coordinate, or of its rate, by an anchor or axis of the joint.
static mabd_real move_change(const mabd_loss_frame* f, const loss_row* r, const mabd_loss_term* t,
                             int32_t parameter) {
    const mabd_parameter* p = &f->variant->parameters[parameter];
    if (p->index != t->index || p->kind < MABD_PARAMETER_ANCHOR_A ||
        p->kind > MABD_PARAMETER_AXIS_B) {
        return 0;
    }
    const bool is_b = p->kind == MABD_PARAMETER_ANCHOR_B || p->kind == MABD_PARAMETER_AXIS_B;
    const bool anchor = p->kind == MABD_PARAMETER_ANCHOR_A || p->kind == MABD_PARAMETER_ANCHOR_B;
    const mabd_mat3 V = axes_of(&f->variant->model, is_b ? r->joint->b : r->joint->a);
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    const mabd_vec3 change = mabd_m3_tmul(V, mabd_variant_turn(f->variant, parameter));
    return moved(r, t->kind == MABD_LOSS_RATE, is_b, anchor ? change : zero,
                 anchor ? zero : change);
}

// Add bars of the start rotations, which the axes of a plain ball joint follow, times s.
static void add_start(const mabd_loss_frame* f, const loss_row* r, mabd_real s, bool rate) {
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const int32_t body = side ? r->joint->b : r->joint->a;
        if (body == f->variant->model.body_count) continue;
        const mabd_vec3 by = {moved(r, rate, side, zero, mabd_v3(1, 0, 0)),
                              moved(r, rate, side, zero, mabd_v3(0, 1, 0)),
                              moved(r, rate, side, zero, mabd_v3(0, 0, 1))};
        add(f->start_bars + 3 * (size_t)body, -s,
            mabd_m3_mul(axes_of(&f->variant->model, body), by));
    }
}

// True of a term by a coordinate of a joint with pieces.
static bool is_piece(const mabd_model* m, const mabd_loss_term* t) {
    const bool row = t->kind == MABD_LOSS_COORDINATE || t->kind == MABD_LOSS_RATE;
    return row && m->joints[t->index].piece_count > 0;
}

bool mabd_loss_needs_axes(const mabd_model* m, const mabd_gradient_def* def) {
    bool needs = false;
    for (int32_t i = 0; i < def->term_count; i++) needs |= is_piece(m, &def->terms[i]);
    return needs;
}

static size_t piece_place(const mabd_loss_term* t) {
    return 12 * (size_t)t->index + 2 * (size_t)t->axis + (t->kind == MABD_LOSS_RATE);
}

static mabd_real row_loss(const mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                          mabd_real* gradient) {
    loss_row r;
    if (is_piece(&f->variant->model, t)) {
        const mabd_real off = f->axes[piece_place(t)] - t->target[0];
        if (gradient) f->axis_bars[piece_place(t)] += 2 * t->weight * off;
        return t->weight * off * off;
    }
    find_row(f, sim, t, &r);
    const bool rate = t->kind == MABD_LOSS_RATE;
    const mabd_real e = (rate ? r.rate : r.x) - t->target[0], s = 2 * t->weight * e;
    if (gradient) {
        const mabd_real* by = r.by_pose;
        const mabd_rigid_wrench a = {mabd_v3_load(by), mabd_v3_load(by + 3)};
        const mabd_rigid_wrench b = {mabd_v3_load(by + 6), mabd_v3_load(by + 9)};
        add_side(f, r.joint->a, s, rate ? a : r.J.a, rate ? &r.J.a : NULL);
        add_side(f, r.joint->b, s, rate ? b : r.J.b, rate ? &r.J.b : NULL);
        if (r.joint->frame < 0) add_start(f, &r, s, rate);
        for (int32_t i = 0; i < f->variant->parameter_count; i++) {
            gradient[i] += s * move_change(f, &r, t, i);
        }
    }
    return t->weight * e * e;
}

static mabd_real force_loss(const mabd_loss_frame* f, const mabd_loss_term* t, bool bars) {
    const mabd_real* wrench = f->forces + 6 * (size_t)t->index;
    mabd_real sum = 0;
    for (int k = 0; k < 6; k++) {
        if (t->axis >= 0 && t->axis != k) continue;
        const mabd_real e = wrench[k] - (t->axis >= 0 ? t->target[0] : 0);
        sum += t->weight * e * e;
        if (bars) f->force_bars[6 * (size_t)t->index + (size_t)k] += 2 * t->weight * e;
    }
    return sum;
}

// The motor of a joint axis among the controls, or else its servo or rate drive; -1 = none.
static int32_t control_of(const mabd_model* m, int32_t joint, int32_t axis, bool motor) {
    const int32_t member = m->copy_joints > 0 ? joint % m->copy_joints : joint;
    const int32_t copy = m->copy_joints > 0 ? joint / m->copy_joints : 0;
    for (int32_t i = 0; i < m->control_count; i++) {
        const mabd_copy_control* c = &m->controls[i];
        if (c->joint == member && (int32_t)c->axis == axis &&
            (c->kind == MABD_CONTROL_FORCE) == motor) {
            return copy * m->control_count + i;
        }
    }
    return -1;
}

// The force of a motor on an axis during the step to a state, 0 = there is none; *set_by gets the
// parameter that sets it, -1 = none.
static mabd_real motor_force(const mabd_loss_frame* f, const mabd_loss_term* t, int64_t state,
                             int32_t* set_by) {
    const mabd_model* m = &f->variant->model;
    const int32_t control = control_of(m, t->index, t->axis, true);
    *set_by = -1;
    if (control < 0) return 0;
    for (int32_t i = 0; i < f->variant->parameter_count; i++) {
        const mabd_parameter* p = &f->variant->parameters[i];
        if (p->kind != MABD_PARAMETER_CONTROL || p->index != control) continue;
        if (p->first <= state && state <= p->last) *set_by = i;
    }
    if (*set_by >= 0) return f->variant->values[*set_by];
    const mabd_copy_control* own = &m->controls[control % m->control_count];
    const mabd_row_set* set = &m->row_sets[m->joints[t->index].row_set];
    const mabd_real end = f->h * (mabd_real)state;
    return mabd_signal_over(set->motor[own->row].force, end - f->h, f->h, end);
}

// The force of motor, servo and rate drive.
static mabd_real effort_loss(const mabd_loss_frame* f, const mabd_loss_term* t, int64_t state,
                             mabd_real* gradient) {
    const size_t place = 6 * (size_t)t->index + (size_t)t->axis;
    int32_t set_by;
    const mabd_real value = motor_force(f, t, state, &set_by) + f->efforts[place];
    const mabd_real e = value - t->target[0];
    if (gradient) f->effort_bars[place] += 2 * t->weight * e;
    if (gradient && set_by >= 0) gradient[set_by] += 2 * t->weight * e;
    return t->weight * e * e;
}

// ---- the rest ----------------------------------------------------------------------------------

static mabd_real energy_loss(mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                             bool bars) {
    const mabd_real e = mabd_sim_measure(sim).energy - t->target[0];
    if (bars) f->energy_bar += 2 * t->weight * e;
    return t->weight * e * e;
}

static mabd_real user_loss(const mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                           int64_t state, bool bars) {
    const size_t n = 3 * (size_t)f->variant->model.body_count;
    mabd_real value = 0, *d = bars ? f->user_bars : NULL;
    if (d) memset(d, 0, 4 * n * sizeof *d);
    f->def.user_fn(f->def.user, state, sim, &value, d, d ? d + n : NULL, d ? d + 2 * n : NULL,
                   d ? d + 3 * n : NULL);
    for (size_t i = 0; d && i < n; i++) {
        for (size_t k = 0; k < 4; k++) {
            f->state_bars[12 * (i / 3) + 3 * k + i % 3] += t->weight * d[k * n + i];
        }
    }
    return t->weight * value;
}

static bool is_active(const mabd_loss_term* t, int64_t state) {
    return t->kind != MABD_LOSS_PARAMETER && t->first <= state && state <= t->last;
}

bool mabd_loss_needs_start(const mabd_model* model, const mabd_gradient_def* def) {
    bool needs = false;
    for (int32_t i = 0; i < def->term_count; i++) {
        const mabd_loss_term* t = &def->terms[i];
        const bool row = t->kind == MABD_LOSS_COORDINATE || t->kind == MABD_LOSS_RATE;
        needs |= row && model->joints[t->index].frame < 0;
    }
    return needs;
}

void mabd_loss_start(const mabd_loss_frame* f, const mabd_sim* sim) {
    if (!f->start_bars) return;
    mabd_sim_get_state(sim, NULL, f->start_quaternions, NULL, NULL);
    memset(f->start_bars, 0, 3 * (size_t)f->variant->model.body_count * sizeof *f->start_bars);
}

bool mabd_loss_active(const mabd_loss_frame* f, int64_t state) {
    if (state == 0 && f->start_bars) return true;
    for (int32_t i = 0; i < f->def.term_count; i++) {
        if (is_active(&f->def.terms[i], state)) return true;
    }
    return false;
}

static mabd_real term_loss(mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                           int64_t state, mabd_real* gradient) {
    const bool bars = gradient != NULL;
    switch (t->kind) {
    case MABD_LOSS_POINT:
    case MABD_LOSS_VELOCITY:
        return point_loss(f, t, bars);
    case MABD_LOSS_ROTATION:
        return rotation_loss(f, t, bars);
    case MABD_LOSS_ANGULAR:
        return angular_loss(f, t, bars);
    case MABD_LOSS_COORDINATE:
    case MABD_LOSS_RATE:
        return row_loss(f, sim, t, gradient);
    case MABD_LOSS_JOINT_FORCE:
        return force_loss(f, t, bars);
    case MABD_LOSS_CONTROL_EFFORT:
        return effort_loss(f, t, state, gradient);
    case MABD_LOSS_ENERGY:
        return energy_loss(f, sim, t, bars);
    default:
        return user_loss(f, sim, t, state, bars);
    }
}

void mabd_loss_evaluate(mabd_loss_frame* f, const mabd_sim* sim, int64_t state, mabd_real* loss,
                        mabd_real* gradient) {
    const mabd_model* m = &f->variant->model;
    if (gradient) {
        memset(f->state_bars, 0, 12 * (size_t)m->body_count * sizeof *f->state_bars);
        if (f->forces) {
            memset(f->force_bars, 0, 6 * (size_t)m->joint_count * sizeof *f->force_bars);
        }
        if (f->efforts) {
            memset(f->effort_bars, 0, 6 * (size_t)m->joint_count * sizeof *f->effort_bars);
        }
        f->energy_bar = 0;
    }
    mabd_sim_get_state(sim, f->positions, f->quaternions, f->velocities, f->angular);
    if (f->forces) mabd_sim_get_joint_forces(sim, f->forces);
    if (f->axes) sim->ops->get_axes(sim->self, f->axes);
    if (gradient && f->axes) {
        memset(f->axis_bars, 0, 12 * (size_t)m->joint_count * sizeof *f->axis_bars);
    }
    if (f->efforts && sim->ops->get_efforts) sim->ops->get_efforts(sim->self, f->efforts);
    for (int32_t i = 0; i < f->def.term_count; i++) {
        const mabd_loss_term* t = &f->def.terms[i];
        if (is_active(t, state)) *loss += term_loss(f, sim, t, state, gradient);
    }
    for (size_t i = 0; gradient && state == 0 && f->start_bars && i < 3 * (size_t)m->body_count;
         i++) {
        f->state_bars[12 * (i / 3) + 3 + i % 3] += f->start_bars[i];
    }
}

void mabd_loss_parameters(const mabd_loss_frame* f, mabd_real* loss, mabd_real* gradient) {
    for (int32_t i = 0; i < f->def.term_count; i++) {
        const mabd_loss_term* t = &f->def.terms[i];
        if (t->kind != MABD_LOSS_PARAMETER) continue;
        const mabd_real e = f->variant->values[t->index] - t->target[0];
        *loss += t->weight * e * e;
        if (gradient) gradient[t->index] += 2 * t->weight * e;
    }
}

mabd_status mabd_loss_refuse(const mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                             mabd_error* error) {
    const mabd_model* model = &f->variant->model;
    const char* kind = mabd_loss_kind_name(t->kind);
    if (is_piece(model, t)) {
        if (!sim->ops->get_axes) {
            return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                             "formulation '%s' has no %s of joints with pieces", sim->ops->name,
                             kind);
        }
        sim->ops->get_axes(sim->self, f->axes);
        if (!isnan(f->axes[piece_place(t)])) return MABD_OK;
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, t->index, 0,
                            "%s: joint %d has no coordinate %d that is a length or an angle", kind,
                            (int)t->index, (int)t->axis);
    }
    if (t->kind != MABD_LOSS_CONTROL_EFFORT) return MABD_OK;
    if (control_of(model, t->index, t->axis, false) < 0) return MABD_OK;
    if (sim->ops->get_efforts) {
        sim->ops->get_efforts(sim->self, f->efforts);
        if (!isnan(f->efforts[6 * (size_t)t->index + (size_t)t->axis])) return MABD_OK;
    }
    return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, t->index, 0,
                        "formulation '%s', %s: the force of what holds this axis is not told "
                        "apart from others on it",
                        sim->ops->name, kind);
}
