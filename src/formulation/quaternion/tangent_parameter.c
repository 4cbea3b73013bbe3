// SPDX-License-Identifier: Apache-2.0
// Derivatives of the implicit functions by parameters of the model.
//
// A body:   mass      F_f = k (acceleration - g),  way or change of velocity in the projections
//           inertia   F_t = k (dI al + om x dI om + 2 ka dI om), dI in the principal frame: the
//                     equations hold in every frame of the body, so that the change of the
//                     principal frame itself has no effect on the motion
//           gravity   F_f = -k m,  force  F_f = -k,  torque  F_t = -k R'
// An axis:  the row of a control is c (S x - N + lambda) with S = k + d/bh + I/bh^2, which is zero,
//           so dF = c d(S x - N): (x - rest), -k, x', x'' by stiffness, rest, damping, armature
// A joint:  a move of its frame on a body by a shift of the anchor and a turn of the axes, both in
//           the principal frame, is for its rows a move of that body by
//           (R(shift - turn x X), turn).
//           Rows and wrenches on the other body follow from J and G. The wrench on the body itself
//           keeps its place: dt = turn x t + (shift - turn x X) x R'f besides.
// The centre of mass moves the anchors of all joints of its body, and the points of its forces.

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/start_hold.h"
#include "formulation/quaternion/start_projection.h"
#include "formulation/quaternion/tangent_axis.h"
#include "formulation/quaternion/tangent_impact.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

/// A parameter in one implicit function.
typedef struct parameter_view {
    const mabd_quaternion_gradient* g;
    const mabd_quaternion_point* p;
    const mabd_parameter* own;
    int32_t index;
    int64_t step;
    bool back;
    mabd_real* F;
    mabd_quaternion_node out;
    mabd_real* value;
} parameter_view;

static void add(const parameter_view* v, mabd_real s, mabd_vec3 x, mabd_real* F) {
    mabd_real column[3];
    mabd_v3_store(x, column);
    mabd_pass(v->back, s, column, 3, 1, F, v->value);
}
static void add_one(const parameter_view* v, mabd_real x, mabd_real* F) {
    mabd_pass(v->back, x, (const mabd_real[1]){1}, 1, 1, F, v->value);
}
static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// ---- bodies ------------------------------------------------------------------------------------

/// What multiplies mass and inertia of a body in F.
typedef struct body_motion {
    mabd_vec3 a, al, om; // om: of the gyroscopic terms
    mabd_real ka;
} body_motion;

static body_motion motion_of(const mabd_quaternion_point* p, int32_t body, int32_t slot) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_vec3 zero = mabd_v3(0, 0, 0), g = mabd_v3_load(sim->model->gravity);
    body_motion out = {zero, zero, zero, 0};
    mabd_rigid_motion m;
    if (p->function == MABD_FUNCTION_SOLVE) {
        m = mabd_quaternion_motion(&p->s, sim->pose + 7 * (size_t)body,
                                   sim->past.body + MABD_NODE_REALS * (size_t)body);
        out.a = mabd_v3_sub(m.dv, g), out.al = mabd_rigid_spin(m.q, m.dw);
    } else if (p->function == MABD_FUNCTION_ACCELERATE) {
        m = mabd_quaternion_motion_at(&p->s, p->node, body);
        out.a = mabd_v3_sub(mabd_v3_load(p->y + 6 * (size_t)slot), g);
        out.al = mabd_v3_load(p->y + 6 * (size_t)slot + 3);
    } else if (p->function == MABD_FUNCTION_IMPACT) {
        out.a = mabd_v3_load(p->y + 6 * (size_t)slot);
        out.al = mabd_v3_load(p->y + 6 * (size_t)slot + 3);
        return out;
    } else if (p->function == MABD_FUNCTION_CLOSE) {
        mabd_rigid_way(sim->pose + 7 * (size_t)body, p->from + 7 * (size_t)body, &out.a, &out.al);
        return out;
    } else {
        const mabd_side_motion u = mabd_quaternion_side_motion(&p->s, p->node, body);
        out.a = mabd_v3_sub(mabd_v3_load(p->y + 6 * (size_t)slot), mabd_v3_load(u.u));
        out.al = mabd_v3_sub(mabd_v3_load(p->y + 6 * (size_t)slot + 3), mabd_v3_load(u.u + 3));
        return out;
    }
    out.om = mabd_rigid_spin(m.q, m.w), out.ka = mabd_rigid_q_dot(m.q, m.w);
    return out;
}

static void pass_mass(const parameter_view* v, int32_t slot) {
    const mabd_quaternion_point* p = v->p;
    const mabd_model* m = p->s.sim->model;
    const int32_t body = v->own->index;
    const body_motion motion = motion_of(p, body, slot);
    mabd_real* F = v->F + 6 * (size_t)slot;
    if (v->own->kind == MABD_PARAMETER_MASS) {
        add(v, p->scale, motion.a, F);
        return;
    }
    const mabd_mat3 dI =
        mabd_rigid_inertia_change(&m->classes[m->body_class[body]], v->own->component);
    const mabd_vec3 L = mabd_m3_mul(dI, motion.om);
    const mabd_vec3 gyro = mabd_v3_axpy(2 * motion.ka, L, mabd_v3_cross(motion.om, L));
    add(v, p->scale, mabd_v3_add(mabd_m3_mul(dI, motion.al), gyro), F + 3);
}

static void pass_gravity(const parameter_view* v) {
    const mabd_quaternion_sim* sim = v->p->s.sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < v->p->s.part->body_count; i++) {
        const int32_t body = sim->bodies[v->p->s.part->body_first + i];
        const mabd_real mass = m->classes[m->body_class[body]].material.mass;
        add(v, -v->p->scale * mass, unit(v->own->component), v->F + 6 * (size_t)i);
    }
}

static void pass_force(const parameter_view* v, int32_t slot) {
    const mabd_real* pose = v->p->s.sim->pose + 7 * (size_t)v->own->index;
    const int k = v->own->component;
    mabd_real* F = v->F + 6 * (size_t)slot;
    if (v->step < v->own->first || v->step > v->own->last) return;
    if (k < 3) {
        add(v, -v->p->scale, unit(k), F);
    } else {
        add(v, -v->p->scale, mabd_m3_tmul(mabd_q_matrix(mabd_q_load(pose + 3)), unit(k - 3)),
            F + 3);
    }
}

// ---- axes --------------------------------------------------------------------------------------

// Coordinate of a control, its rate and the rate of that, as F has them.
static void find_coordinate(const mabd_quaternion_point* p, const mabd_tangent_joint* at, int32_t k,
                            mabd_real* x) {
    const mabd_real* past = p->s.sim->past.x + 2 * (size_t)(at->joint->coordinate + k);
    const int32_t r = at->set->rigid_count + k;
    x[0] = at->x[r];
    if (p->function == MABD_FUNCTION_SOLVE) {
        x[1] = (x[0] - past[0]) / p->s.bh, x[2] = (x[1] - past[1]) / p->s.bh;
        return;
    }
    const mabd_tangent_motion m = mabd_tangent_motion_of(p, at);
    const mabd_rigid_joint own =
        mabd_rigid_joint_at(&at->view, 1, &at->set->control_row[k], &at->x[r]);
    const mabd_rigid_wrench* side[2] = {&at->J[r].a, &at->J[r].b};
    x[1] = 0;
    x[2] = mabd_quaternion_curvature(&own, &at->set->control_row[k], m.u[0], m.u[1]);
    for (int i = 0; i < 2; i++) {
        x[1] += mabd_v3_dot(side[i]->f, mabd_v3_load(m.u[i])) +
                mabd_v3_dot(side[i]->t, mabd_v3_load(m.u[i] + 3));
        x[2] += mabd_v3_dot(side[i]->f, mabd_v3_load(m.a[i])) +
                mabd_v3_dot(side[i]->t, mabd_v3_load(m.a[i] + 3));
    }
}

// Damping or armature of a damped rotation: y = f (f.r) or f (f.r') on b, -Q'y on a.
static void pass_turn_gain(const parameter_view* v, const mabd_tangent_joint* at, int32_t k) {
    const mabd_quaternion_point* p = v->p;
    const mabd_quaternion_sim* sim = p->s.sim;
    const int axis = at->set->control_row[k].axis;
    const mabd_vec3 f = mabd_m3_column(&at->view.Fb, axis);
    const mabd_mat3 Q = at->rigid.Q;
    mabd_real gain;
    if (p->function == MABD_FUNCTION_SOLVE) {
        const mabd_vec3 om_a = mabd_quaternion_ball_side(&p->s, sim->pose, at->joint->a).om;
        const mabd_vec3 om_b = mabd_quaternion_ball_side(&p->s, sim->pose, at->joint->b).om;
        gain = mabd_v3_dot(f, mabd_v3_sub(om_b, mabd_m3_mul(Q, om_a)));
        if (v->own->kind == MABD_PARAMETER_ARMATURE) {
            gain -= sim->past.x[2 * (size_t)(at->joint->coordinate + k) + 1];
            gain /= p->s.bh;
        }
    } else if (p->function == MABD_FUNCTION_IMPACT) {
        const mabd_tangent_motion m = mabd_tangent_motion_of(p, at);
        gain = mabd_v3_dot(
            f, mabd_v3_sub(mabd_v3_load(m.a[1] + 3), mabd_m3_mul(Q, mabd_v3_load(m.a[0] + 3))));
    } else {
        const mabd_tangent_motion m = mabd_tangent_motion_of(p, at);
        const mabd_vec3 seen = mabd_m3_mul(Q, mabd_v3_load(m.u[0] + 3));
        const mabd_vec3 om = mabd_v3_load(m.u[1] + 3);
        const mabd_vec3 al =
            mabd_v3_sub(mabd_v3_load(m.a[1] + 3), mabd_m3_mul(Q, mabd_v3_load(m.a[0] + 3)));
        gain = v->own->kind == MABD_PARAMETER_DAMPING
                   ? mabd_v3_dot(f, mabd_v3_sub(om, seen))
                   : mabd_v3_dot(f, mabd_v3_add(al, mabd_v3_cross(om, seen)));
    }
    if (at->j->slot_b >= 0) add(v, p->scale * gain, f, v->F + 6 * (size_t)at->j->slot_b + 3);
    if (at->j->slot_a >= 0) {
        add(v, -p->scale * gain, mabd_m3_tmul(Q, f), v->F + 6 * (size_t)at->j->slot_a + 3);
    }
}

// Derivative of -f of a control by a parameter of its axis; x: coordinate, rate, bend.
static mabd_real force_change(const parameter_view* v, const mabd_control* c,
                              const mabd_tangent_axis* axis, const mabd_real* x) {
    switch (v->own->kind) {
    case MABD_PARAMETER_STIFFNESS:
        return x[0] - c->rest;
    case MABD_PARAMETER_REST:
        return -c->spring;
    case MABD_PARAMETER_DAMPING:
        return x[1];
    case MABD_PARAMETER_FRICTION:
        return axis->friction;
    default: // armature
        return x[2];
    }
}

// Add the derivative `change` of -f, f the force of a control, to its row; slope_change: that of
// the force in the slope, which has coordinate and rate of the node.
static void pass_control_force(const parameter_view* v, const mabd_tangent_joint* at, int32_t k,
                               const mabd_tangent_axis* axis, mabd_real change,
                               mabd_real slope_change) {
    add_one(v, axis->weight * change, v->F + at->first_row + at->set->rigid_count + k);
    if (!axis->armed) return;
    add_one(v, -axis->weight * slope_change,
            v->out.x + 2 * (size_t)(at->joint->coordinate + k) + 1);
}

// Force of a control among accelerations, without armature, at coordinate and rate x.
static mabd_real control_force(const mabd_quaternion_point* p, const mabd_control* c,
                               int32_t coordinate, const mabd_real* x) {
    bool held;
    mabd_real bend;
    return mabd_quaternion_control_force(&p->s, c, coordinate, x[0], x[1], &held, &bend);
}

static void pass_axis(const parameter_view* v, const mabd_tangent_joint* at) {
    int32_t k;
    const mabd_quaternion_point* p = v->p;
    const mabd_control* c = mabd_rigid_axis_control(p->s.sim->model, v->own, &k);
    const bool gain =
        v->own->kind == MABD_PARAMETER_DAMPING || v->own->kind == MABD_PARAMETER_ARMATURE;
    mabd_real x[3];
    if (!c) return;
    if (gain && mabd_quaternion_is_damped_turn(at->set, k)) {
        pass_turn_gain(v, at, k);
        return;
    }
    const mabd_tangent_axis axis = mabd_tangent_axis_of(p, at, k);
    if (axis.held) return;
    find_coordinate(p, at, k, x);
    const mabd_real change = force_change(v, c, &axis, x);
    if (axis.armed) { // the slope has coordinate and rate of the node
        const int32_t coordinate = at->joint->coordinate + k;
        memcpy(x, p->node->x + 2 * (size_t)coordinate, 2 * sizeof *x);
        x[2] = axis.weight * (control_force(p, c, coordinate, x) -
                              p->multiplier[at->j->row + at->set->rigid_count + k]);
    }
    pass_control_force(v, at, k, &axis, change, force_change(v, c, &axis, x));
}

// Armature and rates of drives in an impact.
static void pass_impact_axis(const parameter_view* v, const mabd_tangent_joint* at) {
    int32_t k;
    const mabd_quaternion_point* p = v->p;
    const mabd_control* c = mabd_rigid_axis_control(p->s.sim->model, v->own, &k);
    if (!c || v->own->kind != MABD_PARAMETER_ARMATURE) return;
    const int32_t r = at->set->rigid_count + k;
    if (mabd_quaternion_is_damped_turn(at->set, k)) {
        pass_turn_gain(v, at, k);
    } else if (mabd_tangent_impact_row(p, at, r) == MABD_IMPACT_ARMED) {
        add_one(v, -p->multiplier[at->j->row + r] / (c->armature * c->armature),
                v->F + at->first_row + r);
    }
}

// ---- controls ----------------------------------------------------------------------------------

// True if some parameter sets control `index` in a step.
static bool is_set(const mabd_quaternion_gradient* g, int32_t index, int64_t step) {
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        if (p->kind == MABD_PARAMETER_CONTROL && p->index == index && p->first <= step &&
            step <= p->last) {
            return true;
        }
    }
    return false;
}

// Derivative of the input of a solve by the value of a control (inputs.c).
static mabd_real input_change(const parameter_view* v, bool rigid) {
    const mabd_quaternion_solve* s = &v->p->s;
    const mabd_parameter* own = v->own;
    const bool now = own->first <= v->step && v->step <= own->last;
    const bool before = own->first <= v->step - 1 && v->step - 1 <= own->last;
    if (!now && !(rigid && is_set(v->g, own->index, v->step))) return 0;
    if (!rigid || !is_set(v->g, own->index, v->step - 1)) return now ? 1 : 0;
    const mabd_real part = (s->time - s->sim->time) / s->sim->def.h;
    return (now ? part : 0) + (before ? 1 - part : 0);
}

static void pass_motor(const parameter_view* v, const mabd_tangent_joint* at, int32_t row) {
    const mabd_real near = 0, s = -v->p->scale * input_change(v, false);
    mabd_real C;
    mabd_rigid_row J;
    mabd_rigid_joint_rows(&at->view, 1, &at->set->motor[row].row, &near, &C, &J);
    const mabd_rigid_wrench* side[2] = {&J.a, &J.b};
    for (int k = 0; k < 2; k++) {
        const int32_t slot = k == 0 ? at->j->slot_a : at->j->slot_b;
        if (slot < 0) continue;
        add(v, s, side[k]->f, v->F + 6 * (size_t)slot);
        add(v, s, side[k]->t, v->F + 6 * (size_t)slot + 3);
    }
}

// The rate that a drive without limit keeps in an impact.
static void pass_impact_input(const parameter_view* v, const mabd_tangent_joint* at) {
    const mabd_quaternion_sim* sim = v->p->s.sim;
    const mabd_copy_control* own = &sim->model->controls[v->own->index % sim->model->control_count];
    if (own->kind == MABD_CONTROL_FORCE) return;
    const mabd_control* c = &at->set->control[own->row];
    const int32_t r = at->set->rigid_count + own->row;
    const bool stopped = sim->axes[at->joint->coordinate + own->row].found.stop != 0;
    if (!c->drive_rate || stopped) return;
    if (mabd_tangent_impact_row(v->p, at, r) != MABD_IMPACT_HELD) return;
    add_one(v, -input_change(v, false), v->F + at->first_row + r);
}

static void pass_input(const parameter_view* v, const mabd_tangent_joint* at) {
    const mabd_model* m = v->p->s.sim->model;
    const mabd_copy_control* own = &m->controls[v->own->index % m->control_count];
    if (own->kind == MABD_CONTROL_FORCE) {
        pass_motor(v, at, own->row);
        return;
    }
    const mabd_tangent_axis axis = mabd_tangent_axis_of(v->p, at, own->row);
    const bool position = mabd_axis_is_position(&at->set->control[own->row]);
    const mabd_real change = -axis.by_target * input_change(v, position);
    if (axis.held) {
        add_one(v, change, v->F + at->first_row + at->set->rigid_count + own->row);
    } else {
        pass_control_force(v, at, own->row, &axis, change, change);
    }
}

// ---- moves of joint frames ---------------------------------------------------------------------

bool mabd_tangent_move(const mabd_quaternion_gradient* g, int32_t index,
                       const mabd_model_joint* joint, int32_t number, int side, mabd_vec3* shift,
                       mabd_vec3* turn) {
    const mabd_parameter* own = &g->parameters[index];
    const mabd_model* m = g->sim->model;
    const int32_t body = side == 0 ? joint->a : joint->b;
    mabd_mat3 V = mabd_m3_identity();
    *shift = *turn = mabd_v3(0, 0, 0);
    if (body < m->body_count) {
        V = mabd_q_matrix(mabd_q_load(m->classes[m->body_class[body]].axes));
    }
    if (own->kind == MABD_PARAMETER_CENTER) {
        if (own->index != body) return false;
        *shift = mabd_m3_tmul(V, mabd_v3_scale(-1, unit(own->component)));
        return true;
    }
    const bool anchor =
        own->kind == (side == 0 ? MABD_PARAMETER_ANCHOR_A : MABD_PARAMETER_ANCHOR_B);
    const bool axis = own->kind == (side == 0 ? MABD_PARAMETER_AXIS_A : MABD_PARAMETER_AXIS_B);
    if (own->index != number || (!anchor && !axis)) return false;
    if (anchor) *shift = mabd_m3_tmul(V, unit(own->component));
    if (axis)
        *turn = mabd_m3_tmul(
            V, mabd_rigid_turn_change(g->parameter_count, g->parameters, g->values, index));
    return true;
}

static bool is_motion(const mabd_quaternion_point* p) {
    return p->function == MABD_FUNCTION_SOLVE || p->function == MABD_FUNCTION_ACCELERATE;
}

// Derivative of row r, of its value in F, by a move.
static mabd_real row_change(const mabd_quaternion_point* p, const mabd_tangent_joint* at, int32_t r,
                            int side, mabd_vec3 shift, mabd_vec3 turn, const mabd_real* move,
                            const mabd_tangent_motion* m) {
    const mabd_rigid_wrench* J = side == 0 ? &at->J[r].a : &at->J[r].b;
    const mabd_real x =
        mabd_v3_dot(J->f, mabd_v3_load(move)) + mabd_v3_dot(J->t, mabd_v3_load(move + 3));
    const int32_t k = r - at->set->rigid_count;
    const mabd_control* c = k < 0 || r >= at->j->width ? NULL : &at->set->control[k];
    mabd_tangent_axis axis = {.held = true};
    if (c && is_motion(p)) axis = mabd_tangent_axis_of(p, at, k);
    switch (p->function) {
    case MABD_FUNCTION_SOLVE:
        return axis.flat ? 0 : x;
    case MABD_FUNCTION_CLOSE:
        return c ? 0 : x;
    case MABD_FUNCTION_REDUCE:
        return c && !c->rigid ? 0 : mabd_tangent_moved(at, r, MABD_ROW_RATE, m, side, shift, turn);
    case MABD_FUNCTION_IMPACT:
        return mabd_tangent_impact_moved(p, at, r, m, side, shift, turn);
    case MABD_FUNCTION_PROJECT:
        return c ? 0 : mabd_tangent_moved(at, r, MABD_ROW_RATE, m, side, shift, turn);
    default:
        break;
    }
    mabd_real sum = 0;
    if (axis.held || axis.armed) {
        sum = mabd_tangent_moved(at, r, MABD_ROW_BEND, m, side, shift, turn);
    }
    if (!axis.held) { // k dx + d dx'
        const mabd_real rate =
            axis.turns ? 0 : mabd_tangent_moved(at, r, MABD_ROW_RATE, m, side, shift, turn);
        sum += axis.weight * (axis.stiffness * x + axis.damping * rate);
    }
    return sum;
}

static void pass_move(const parameter_view* v, const mabd_tangent_joint* at, int side,
                      mabd_vec3 shift, mabd_vec3 turn) {
    const mabd_quaternion_point* p = v->p;
    const mabd_mat3 R = side == 0 ? at->view.Aa : at->view.Ab;
    const mabd_vec3 X = side == 0 ? at->view.Xa : at->view.Xb;
    const mabd_vec3 arm = mabd_v3_sub(shift, mabd_v3_cross(turn, X));
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    mabd_tangent_motion m;
    mabd_real move[6], G[4][36], wrench[12];
    mabd_v3_store(mabd_m3_mul(R, arm), move), mabd_v3_store(turn, move + 3);
    memset(G, 0, sizeof G), memset(wrench, 0, sizeof wrench);
    mabd_tangent_geometric(p, at, G, wrench);
    for (int on = 0; on < 2; on++) {
        mabd_real column[6] = {0};
        if (slots[on] < 0) continue;
        mabd_pass(false, 1, G[2 * on + side], 6, 6, column, move);
        if (on == side) {
            const mabd_vec3 f = mabd_v3_load(wrench + 6 * on),
                            t = mabd_v3_load(wrench + 6 * on + 3);
            const mabd_vec3 own =
                mabd_v3_add(mabd_v3_cross(turn, t), mabd_v3_cross(arm, mabd_m3_tmul(R, f)));
            mabd_v3_store(mabd_v3_add(mabd_v3_load(column + 3), own), column + 3);
        }
        mabd_pass(v->back, -1, column, 6, 1, v->F + 6 * (size_t)slots[on], v->value);
    }
    if (p->function != MABD_FUNCTION_SOLVE && p->function != MABD_FUNCTION_CLOSE) {
        m = mabd_tangent_motion_of(p, at);
    }
    for (int32_t r = 0; r < at->j->width; r++) {
        add_one(v, row_change(p, at, r, side, shift, turn, move, &m), v->F + at->first_row + r);
    }
    for (int32_t k = 0; k < at->held_count; k++) { // coordinate or rate, as a rigid row
        const int32_t r = at->j->width + k;
        add_one(v, row_change(p, at, r, side, shift, turn, move, &m), &at->held[k]->f);
    }
    for (int32_t k = 0; p->function == MABD_FUNCTION_IMPACT && k < at->set->control_count; k++) {
        add_one(v, mabd_tangent_impact_rate_moved(p, at, k, &m, side, shift, turn),
                v->out.x + 2 * (size_t)(at->joint->coordinate + k) + 1);
    }
    if (p->function != MABD_FUNCTION_SOLVE) return;
    for (int32_t k = 0; k < at->set->control_count; k++) { // coordinates of the node
        const mabd_rigid_row* J = &at->J[at->set->rigid_count + k];
        const mabd_rigid_wrench* w = side == 0 ? &J->a : &J->b;
        const mabd_real x =
            mabd_v3_dot(w->f, mabd_v3_load(move)) + mabd_v3_dot(w->t, mabd_v3_load(move + 3));
        mabd_real* out = v->out.x + 2 * (size_t)(at->joint->coordinate + k);
        add_one(v, x, out);
        if (!mabd_quaternion_is_damped_turn(at->set, k)) add_one(v, x / p->s.bh, out + 1);
    }
}

// Points of the forces of a body move with its centre of mass.
static void pass_force_points(const parameter_view* v, int32_t slot) {
    const mabd_quaternion_solve* s = &v->p->s;
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const int32_t body = v->own->index;
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(sim->pose + 7 * (size_t)body + 3));
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(m->classes[m->body_class[body]].axes));
    const mabd_vec3 shift = mabd_m3_tmul(V, unit(v->own->component));
    for (int32_t i = sim->body_force[body]; i < sim->body_force[body + 1]; i++) {
        const mabd_model_force* f = &m->forces[i];
        const mabd_real k = f->signal ? mabd_signal_over(f->signal, s->from, s->h, s->time) : 1;
        const mabd_vec3 seen = f->body_frame ? f->force : mabd_m3_tmul(R, f->force);
        add(v, v->p->scale * k, mabd_v3_cross(shift, seen), v->F + 6 * (size_t)slot + 3);
    }
}

// ---- the whole ---------------------------------------------------------------------------------

static bool moves_frames(mabd_parameter_kind kind) {
    return kind == MABD_PARAMETER_CENTER || kind == MABD_PARAMETER_ANCHOR_A ||
           kind == MABD_PARAMETER_ANCHOR_B || kind == MABD_PARAMETER_AXIS_A ||
           kind == MABD_PARAMETER_AXIS_B;
}

// Call pass_move for every joint of the part that a parameter moves.
static void pass_moves(const parameter_view* v) {
    const mabd_quaternion_sim* sim = v->p->s.sim;
    for (int32_t i = 0; i < v->p->s.part->joint_count; i++) {
        const int32_t number = sim->joints[v->p->s.part->joint_first + i].joint;
        const mabd_model_joint* joint = &sim->model->joints[number];
        for (int side = 0; side < 2; side++) {
            mabd_tangent_joint at;
            mabd_vec3 shift, turn;
            if (!mabd_tangent_move(v->g, v->index, joint, number, side, &shift, &turn)) continue;
            mabd_tangent_joint_at(v->p, i, &at);
            pass_move(v, &at, side, shift, turn);
        }
    }
}

// Joint of a parameter of an axis or a control, in the model.
static int32_t joint_of(const mabd_model* m, const mabd_parameter* p) {
    if (p->kind != MABD_PARAMETER_CONTROL) return p->index;
    const int32_t copy = p->index / m->control_count;
    return copy * m->copy_joints + m->controls[p->index % m->control_count].joint;
}

void mabd_tangent_parameter(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                            int32_t index, int64_t step, bool back, mabd_real* F,
                            mabd_quaternion_node out, mabd_real* value) {
    const mabd_parameter* own = &g->parameters[index];
    const mabd_quaternion_sim* sim = p->s.sim;
    const parameter_view v = {g, p, own, index, step, back, F, out, value};
    const bool motion = is_motion(p), impact = p->function == MABD_FUNCTION_IMPACT;
    const mabd_quaternion_part* part = p->s.part;
    const int32_t place = g->parameter_part[index];
    if (place >= 0 && &sim->parts[place] != part) return;
    if (own->kind == MABD_PARAMETER_CONTROL && (step < own->first || step > own->last + 1)) return;
    mabd_tangent_joint at;
    switch (own->kind) {
    case MABD_PARAMETER_MASS:
    case MABD_PARAMETER_INERTIA:
        if (p->function == MABD_FUNCTION_REDUCE) break;
        pass_mass(&v, sim->body_slot[own->index]);
        break;
    case MABD_PARAMETER_GRAVITY:
        if (motion) pass_gravity(&v);
        break;
    case MABD_PARAMETER_FORCE:
        if (motion) pass_force(&v, sim->body_slot[own->index]);
        break;
    case MABD_PARAMETER_STIFFNESS:
    case MABD_PARAMETER_REST:
    case MABD_PARAMETER_DAMPING:
    case MABD_PARAMETER_ARMATURE:
    case MABD_PARAMETER_FRICTION:
    case MABD_PARAMETER_CONTROL:
        if (!motion && !impact) break;
        mabd_tangent_joint_at(p, sim->joint_place[joint_of(sim->model, own)] - part->joint_first,
                              &at);
        if (own->kind == MABD_PARAMETER_CONTROL) {
            (impact ? pass_impact_input : pass_input)(&v, &at);
        } else {
            (impact ? pass_impact_axis : pass_axis)(&v, &at);
        }
        break;
    default:
        if (moves_frames(own->kind)) pass_moves(&v);
        if (own->kind == MABD_PARAMETER_CENTER && motion) {
            pass_force_points(&v, sim->body_slot[own->index]);
        }
        break;
    }
}
