// SPDX-License-Identifier: Apache-2.0
// Residual and Newton matrix of a part at one iterate.
//
//   bodies   bh^2 E - J' l         l = bh^2 lambda, E: rigid/body_residual.h with motors and loads
//   rows     C + (c/bh^2) l          C of a rigid row, or x - x_star of a control
//
// A control of the coordinate x has the force lambda = base - k x - d x' - I x'' on it, with
// x' = (x - x_p)/bh and x'' = (x' - x'_p)/bh of the history p. As a compliant row:
//
//   c = 1/(k + d/bh + I/bh^2),   x_star = c (base + d x_p/bh + I (x_p/bh^2 + x'_p/bh))
//
// and x_star = target, c = 0 for a rigid servo. Since x is an angle or a component of a rotation
// vector with its exact derivatives, a servo has no second solution half a turn away, as the sine
// of [VQ eq. 21] has.

#include "formulation/quaternion/solve.h"

#include "formulation/quaternion/ball_damper.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/quaternion_layout.h"
#include "rigid/frames.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

// ---- poses -------------------------------------------------------------------------------------

static mabd_real value_at(const mabd_signal* signal, mabd_real time) {
    return signal ? mabd_signal_value(signal, time) : 0;
}

void mabd_quaternion_side(const mabd_quaternion_sim* sim, const mabd_real* pose, mabd_real time,
                          int32_t body, mabd_mat3* R, mabd_vec3* c) {
    const mabd_model* m = sim->model;
    *R = mabd_m3_identity(), *c = mabd_v3(0, 0, 0);
    if (body == m->body_count) return;
    mabd_quat q;
    if (sim->body_slot[body] >= 0) {
        *c = mabd_v3_load(pose + 7 * (size_t)body), q = mabd_q_load(pose + 7 * (size_t)body + 3);
    } else if (sim->body_script[body] >= 0) {
        const mabd_model_script* script = &m->scripts[sim->body_script[body]];
        const mabd_model_start user = mabd_model_script_pose(
            m, script, value_at(script->translation, time), value_at(script->angle, time));
        const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &user);
        *c = s.c, q = s.q;
    } else {
        const mabd_real* row = sim->now.body + MABD_NODE_REALS * (size_t)body;
        *c = mabd_v3_load(row), q = mabd_q_load(row + 3);
    }
    *R = mabd_q_matrix(q);
}

mabd_joint_view mabd_quaternion_view(const mabd_quaternion_sim* sim, const mabd_real* pose,
                                     mabd_real time, const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    mabd_quaternion_side(sim, pose, time, joint->a, &view.Aa, &view.ta);
    mabd_quaternion_side(sim, pose, time, joint->b, &view.Ab, &view.tb);
    return view;
}

// ---- bodies ------------------------------------------------------------------------------------

static mabd_quat combine(mabd_real s, mabd_quat a, mabd_quat b) {
    return mabd_q(s * (a.w - b.w), s * (a.x - b.x), s * (a.y - b.y), s * (a.z - b.z));
}

mabd_rigid_motion mabd_quaternion_motion(const mabd_quaternion_solve* s, const mabd_real* pose,
                                         const mabd_real* past) {
    const mabd_real rate = 1 / s->bh;
    mabd_rigid_motion m;
    m.q = mabd_q_load(pose + 3);
    m.v = mabd_v3_scale(rate, mabd_v3_sub(mabd_v3_load(pose), mabd_v3_load(past)));
    m.w = combine(rate, m.q, mabd_q_load(past + 3));
    m.dv = mabd_v3_scale(rate, mabd_v3_sub(m.v, mabd_v3_load(past + 7)));
    m.dw = combine(rate, m.w, mabd_q_load(past + 10));
    return m;
}

static void add_loads(const mabd_quaternion_solve* s, int32_t body, const mabd_rigid_motion* motion,
                      mabd_rigid_balance* r) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const mabd_real drag = m->classes[m->body_class[body]].material.drag;
    const mabd_mat3 R = mabd_q_matrix(motion->q);
    if (drag > 0) mabd_rigid_add_drag(drag, s->wind, motion, s->bh, r);
    for (int32_t i = sim->body_force[body]; i < sim->body_force[body + 1]; i++) {
        const mabd_model_force* f = &m->forces[i];
        const mabd_real k = f->signal ? mabd_signal_over(f->signal, s->from, s->h, s->time) : 1;
        const mabd_vec3 force = mabd_v3_scale(k, f->force), torque = mabd_v3_scale(k, f->torque);
        if (f->body_frame) {
            mabd_rigid_add_turning(R, f->point, force, torque, r);
        } else {
            mabd_rigid_add_force(R, f->point, force, r);
            mabd_rigid_add_torque(R, torque, r);
        }
    }
    if (!sim->inputs.has_applied) return;
    const mabd_real* applied = sim->inputs.applied + 6 * (size_t)body;
    r->f = mabd_v3_sub(r->f, mabd_v3_load(applied));
    mabd_rigid_add_torque(R, mabd_v3_load(applied + 3), r);
}

mabd_rigid_balance mabd_quaternion_balance(const mabd_quaternion_solve* s, int32_t body,
                                           const mabd_rigid_motion* motion) {
    const mabd_model* m = s->sim->model;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_rigid_inertia inertia = {c->material.mass, mabd_v3_load(c->principal)};
    mabd_rigid_balance r =
        mabd_rigid_body_balance(&inertia, motion, mabd_v3_load(m->gravity), s->bh);
    add_loads(s, body, motion, &r);
    return r;
}

static void evaluate_body(const mabd_quaternion_solve* s, int32_t slot, const mabd_real* pose,
                          bool matrix) {
    mabd_quaternion_sim* sim = s->sim;
    const int32_t body = sim->bodies[s->part->body_first + slot];
    const mabd_rigid_motion motion = mabd_quaternion_motion(
        s, pose + 7 * (size_t)body, sim->past.body + MABD_NODE_REALS * (size_t)body);
    const mabd_rigid_balance r = mabd_quaternion_balance(s, body, &motion);
    const mabd_real k = s->bh * s->bh;
    mabd_real* out = sim->residual + s->part->vector_first + 6 * (size_t)slot;
    mabd_v3_store(mabd_v3_scale(k, r.f), out);
    mabd_v3_store(mabd_v3_scale(k, r.t), out + 3);
    if (matrix) {
        mabd_rigid_add_balance(&r, k, sim->D + sim->slot_block[s->part->slot_first + slot]);
    }
}

// ---- joints ------------------------------------------------------------------------------------

/// Rows of a joint at an iterate.
typedef struct joint_rows {
    mabd_joint_view view;
    mabd_rigid_joint rigid, controls;
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], compliance[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    bool flat[2 * MABD_JOINT_MAX_ROWS]; // on a flat branch of a law
} joint_rows;

// Turn the coordinate x of a control into the value and compliance of its row.
static void control_row(const mabd_quaternion_solve* s, const mabd_control* c, int32_t coordinate,
                        bool turns, mabd_real* C, mabd_real* compliance) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_real target = sim->input[coordinate], rate = 1 / s->bh;
    const mabd_real x_p = sim->past.x[2 * (size_t)coordinate];
    const mabd_real xd_p = sim->past.x[2 * (size_t)coordinate + 1];
    *compliance = 0;
    if (c->rigid) {
        *C -= target;
        return;
    }
    if (turns) { // its damper and armature are in mabd_ball_damper
        *compliance = c->stiffness > 0 ? 1 / c->stiffness : 0;
        *C -= *compliance * (c->offset + c->gain * target);
        return;
    }
    const mabd_real damping = rate * c->damping, inertia = rate * rate * c->armature;
    *compliance = 1 / (c->stiffness + damping + inertia);
    const mabd_real base = c->offset + c->gain * target;
    *C -= *compliance * (base + damping * x_p + inertia * (x_p + s->bh * xd_p));
}

// A row without gains, or one that is left out: its multiplier is zero.
static void release(const mabd_quaternion_solve* s, joint_rows* rows, int32_t r) {
    memset(&rows->J[r], 0, sizeof rows->J[r]);
    rows->C[r] = 0, rows->compliance[r] = s->bh * s->bh;
}

static void find_rows(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                      const mabd_real* pose, joint_rows* rows) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t n = set->rigid_count;
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0};
    rows->view = mabd_quaternion_view(sim, pose, s->time, joint);
    rows->rigid = mabd_rigid_joint_rows(&rows->view, n, set->rigid, NULL, rows->C, rows->J);
    memset(rows->flat, 0, sizeof rows->flat);
    for (int32_t r = 0; r < n; r++) rows->compliance[r] = 0;
    if (set->control_count == 0) return;
    for (int32_t r = 0; r < set->control_count; r++) {
        near[r] = sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
    rows->controls = mabd_rigid_joint_rows(&rows->view, set->control_count, set->control_row, near,
                                           rows->C + n, rows->J + n);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const bool turns = mabd_quaternion_is_damped_turn(set, r);
        sim->row_x[j->row + n + r] = rows->C[n + r];
        if (c->law) {
            rows->flat[n + r] = mabd_quaternion_law_row(sim, joint->coordinate + r, &rows->C[n + r],
                                                        &rows->compliance[n + r]);
            continue;
        }
        control_row(s, c, joint->coordinate + r, turns, &rows->C[n + r], &rows->compliance[n + r]);
        if (turns && !c->rigid && !(c->stiffness > 0)) release(s, rows, n + r);
    }
}

// Subtract s times the wrenches of a row from the residual of its bodies.
static void subtract_row(mabd_real* residual, const mabd_quaternion_joint* j, mabd_real s,
                         const mabd_rigid_row* J) {
    const mabd_rigid_wrench* side[2] = {&J->a, &J->b};
    const int32_t slots[2] = {j->slot_a, j->slot_b};
    for (int k = 0; k < 2; k++) {
        if (slots[k] < 0) continue;
        mabd_real* out = residual + 6 * (size_t)slots[k];
        mabd_v3_store(mabd_v3_axpy(-s, side[k]->f, mabd_v3_load(out)), out);
        mabd_v3_store(mabd_v3_axpy(-s, side[k]->t, mabd_v3_load(out + 3)), out + 3);
    }
}

void mabd_quaternion_store_jacobian(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j,
                                    const mabd_rigid_row* J, bool is_b) {
    const size_t block = is_b ? j->block_b : j->block_a;
    if (block == SIZE_MAX) return;
    for (int32_t r = 0; r < j->width; r++) {
        mabd_real row[6];
        const mabd_rigid_wrench* w = is_b ? &J[r].b : &J[r].a;
        mabd_v3_store(w->f, row), mabd_v3_store(w->t, row + 3);
        for (int32_t i = 0; i < 6; i++) {
            sim->lower[block + (size_t)(6 * r + i)] = row[i];
            sim->U[block + (size_t)(j->width * i + r)] = -row[i];
        }
    }
}

mabd_rigid_blocks mabd_quaternion_blocks(const mabd_quaternion_solve* s,
                                         const mabd_quaternion_joint* j) {
    const mabd_quaternion_sim* sim = s->sim;
    const size_t* block = sim->slot_block + s->part->slot_first;
    mabd_rigid_blocks G = {NULL, NULL, NULL, NULL};
    if (j->slot_a >= 0) G.aa = sim->D + block[j->slot_a];
    if (j->slot_b >= 0) G.bb = sim->D + block[j->slot_b];
    if (j->block_ab == SIZE_MAX) return G;
    mabd_real *up = sim->U + j->block_ab, *down = sim->lower + j->block_ab;
    const bool rising = j->slot_a < j->slot_b;
    G.ab = rising ? up : down, G.ba = rising ? down : up;
    return G;
}

// Subtract the wrenches of the motors of a joint, times `scale`, from the residual.
static void add_motors(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                       const joint_rows* rows, mabd_real scale, bool matrix) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real* residual = sim->residual + s->part->vector_first;
    const mabd_real near[3] = {0, 0, 0};
    for (int32_t r = 0; r < set->motor_count; r++) {
        const mabd_row* row = &set->motor[r].row;
        const mabd_real p = scale * sim->input[sim->model->coordinate_count + j->motor + r];
        mabd_real C;
        mabd_rigid_row J;
        if (p == 0) continue;
        const mabd_rigid_joint at = mabd_rigid_joint_rows(&rows->view, 1, row, near, &C, &J);
        subtract_row(residual, j, p, &J);
        if (!matrix) continue;
        const mabd_rigid_blocks G = mabd_quaternion_blocks(s, j);
        const mabd_real minus = -p;
        mabd_rigid_add_geometric(&at, 1, row, &minus, &G);
    }
}

static void store_joint(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                        const joint_rows* rows, const mabd_real* l) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
    const mabd_rigid_blocks G = mabd_quaternion_blocks(s, j);
    mabd_real minus[2 * MABD_JOINT_MAX_ROWS];
    mabd_real* D = sim->D + sim->slot_block[s->part->slot_first + j->slot];
    for (int32_t r = 0; r < j->width; r++) {
        minus[r] = -l[r];
        D[(size_t)(r * (j->width + 1))] = rows->compliance[r] / (s->bh * s->bh);
    }
    mabd_quaternion_store_jacobian(sim, j, rows->J, false);
    mabd_quaternion_store_jacobian(sim, j, rows->J, true);
    mabd_rigid_add_geometric(&rows->rigid, set->rigid_count, set->rigid, minus, &G);
    if (set->control_count > 0) {
        mabd_rigid_add_geometric(&rows->controls, set->control_count, set->control_row,
                                 minus + set->rigid_count, &G);
    }
}

// Angular velocity of a side of a joint and its derivative, as the solve has them.
mabd_ball_side mabd_quaternion_ball_side(const mabd_quaternion_solve* s, const mabd_real* pose,
                                         int32_t body) {
    const mabd_quaternion_sim* sim = s->sim;
    mabd_ball_side side = {mabd_v3(0, 0, 0), mabd_rigid_rate_turn(0, mabd_v3(0, 0, 0))};
    if (sim->body_slot[body] >= 0) {
        const mabd_rigid_motion m = mabd_quaternion_motion(
            s, pose + 7 * (size_t)body, sim->past.body + MABD_NODE_REALS * (size_t)body);
        side.om = mabd_rigid_spin(m.q, m.w);
        side.T = mabd_rigid_rate_turn(1 / s->bh - mabd_rigid_q_dot(m.q, m.w), side.om);
    } else {
        side.om = mabd_quaternion_prescribed_spin(sim, s->time, body);
    }
    return side;
}

mabd_ball_damper mabd_quaternion_damper(const mabd_quaternion_sim* sim,
                                        const mabd_model_joint* joint, mabd_real rate) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real d[3] = {0}, inertia[3] = {0}, past[3] = {0};
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(set, r)) continue;
        const int axis = set->control_row[r].axis;
        d[axis] = set->control[r].damping, inertia[axis] = set->control[r].armature;
        past[axis] = sim->past.x[2 * (size_t)(joint->coordinate + r) + 1];
    }
    return (mabd_ball_damper){mabd_v3_load(d), mabd_v3_load(inertia), mabd_v3_load(past), rate};
}

// The gains of axes with force laws: the symmetric Newton has the others in rows of their axes
// (symmetric_turns.c).
static mabd_ball_damper keep_laws(const mabd_row_set* set, mabd_ball_damper d) {
    mabd_real damping[3], armature[3];
    mabd_v3_store(d.damping, damping), mabd_v3_store(d.armature, armature);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(set, r) || set->control[r].law) continue;
        damping[set->control_row[r].axis] = armature[set->control_row[r].axis] = 0;
    }
    d.damping = mabd_v3_load(damping), d.armature = mabd_v3_load(armature);
    return d;
}

static void add_damper(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                       const mabd_real* pose, const joint_rows* rows, bool matrix) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    if (!set->damped) return;
    const mabd_ball_damper d = mabd_quaternion_damper(sim, joint, 1 / s->bh);
    const bool whole = matrix && !sim->dual;
    const mabd_ball_side a = mabd_quaternion_ball_side(s, pose, joint->a),
                         b = mabd_quaternion_ball_side(s, pose, joint->b);
    const mabd_rigid_blocks G = mabd_quaternion_blocks(s, j);
    mabd_real* residual = sim->residual + s->part->vector_first;
    mabd_ball_damper_add(&d, rows->view.Fb, rows->rigid.Q, &a, &b, s->bh * s->bh,
                         j->slot_a >= 0 ? residual + 6 * (size_t)j->slot_a + 3 : NULL,
                         j->slot_b >= 0 ? residual + 6 * (size_t)j->slot_b + 3 : NULL,
                         whole ? &G : NULL);
    if (whole || !matrix) return;
    const mabd_ball_damper kept = keep_laws(set, d);
    mabd_ball_damper_add(&kept, rows->view.Fb, rows->rigid.Q, &a, &b, s->bh * s->bh, NULL, NULL,
                         &G);
}

static void evaluate_joint(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                           const mabd_real* pose, const mabd_real* multiplier, bool matrix) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_real* residual = sim->residual + s->part->vector_first;
    mabd_real* out = residual + 6 * (size_t)s->part->body_count + (j->row - s->part->row_first);
    const mabd_real* l = multiplier + j->row;
    joint_rows rows;
    find_rows(s, j, pose, &rows);
    for (int32_t r = 0; r < j->width; r++) {
        if (sim->dropped[j->row + r]) release(s, &rows, r);
        out[r] = rows.C[r] + rows.compliance[r] / (s->bh * s->bh) * l[r];
        subtract_row(residual, j, l[r], &rows.J[r]);
        if (rows.flat[r]) memset(&rows.J[r], 0, sizeof rows.J[r]); // its multiplier is known
    }
    if (matrix && j->slot >= 0) store_joint(s, j, &rows, l);
    add_motors(s, j, &rows, s->bh * s->bh, matrix);
    add_damper(s, j, pose, &rows, matrix);
}

mabd_rigid_motion mabd_quaternion_motion_at(const mabd_quaternion_solve* s,
                                            const mabd_quaternion_node* node, int32_t body) {
    const mabd_real* row = node->body + MABD_NODE_REALS * (size_t)body;
    const mabd_rigid_motion motion = {mabd_q_load(s->sim->pose + 7 * (size_t)body + 3),
                                      mabd_q_load(row + 10), mabd_q(0, 0, 0, 0),
                                      mabd_v3_load(row + 7), mabd_v3(0, 0, 0)};
    return motion;
}

void mabd_quaternion_forces(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                            mabd_real* out) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const int32_t body = sim->bodies[s->part->body_first + i];
        const mabd_rigid_motion motion = mabd_quaternion_motion_at(s, node, body);
        const mabd_rigid_balance r = mabd_quaternion_balance(s, body, &motion);
        mabd_v3_store(r.f, sim->residual + s->part->vector_first + 6 * (size_t)i);
        mabd_v3_store(r.t, sim->residual + s->part->vector_first + 6 * (size_t)i + 3);
    }
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        joint_rows rows;
        rows.view = mabd_quaternion_view(sim, sim->pose, s->time, &m->joints[j->joint]);
        add_motors(s, j, &rows, 1, false);
    }
    for (int32_t i = 0; i < 6 * s->part->body_count; i++) {
        out[i] = -sim->residual[s->part->vector_first + (size_t)i];
    }
}

// ---- the whole ---------------------------------------------------------------------------------

void mabd_quaternion_clear(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part) {
    const mabd_dual_lu_system system = mabd_quaternion_system(sim, part);
    const mabd_dual_system* b = &system.blocks;
    for (int32_t i = 0; i < b->slot_count; i++) {
        memset(b->D + b->block[i], 0, (size_t)(b->width[i] * b->width[i]) * sizeof *b->D);
    }
    for (int32_t i = 0; i < b->edge_count; i++) {
        const size_t bytes = (size_t)(b->width[b->from[i]] * b->width[b->to[i]]) * sizeof *b->U;
        memset(sim->U + b->edge_block[i], 0, bytes);
        memset(sim->lower + b->edge_block[i], 0, bytes);
    }
}

static void measure(mabd_real value, int32_t body, int32_t joint, mabd_quaternion_size* size) {
    const mabd_real magnitude = (mabd_real)fabs(value);
    size->merit += value * value;
    if (magnitude <= size->largest) return; // a value that is not finite stays
    size->largest = magnitude, size->body = body, size->joint = joint;
}

mabd_quaternion_size mabd_quaternion_size_of(const mabd_quaternion_sim* sim,
                                             const mabd_quaternion_part* part,
                                             const mabd_real* vector) {
    const mabd_model* m = sim->model;
    mabd_quaternion_size size = {0, 0, 0, -1, -1};
    for (int32_t i = 0; i < part->body_count; i++) {
        const int32_t body = sim->bodies[part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        for (int k = 0; k < 6; k++) {
            const mabd_real mass = k < 3 ? c->material.mass : c->principal[k - 3];
            measure(vector[6 * i + k] / mass, body, -1, &size);
        }
    }
    size.balance = size.largest;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        const mabd_real* row = vector + 6 * (size_t)part->body_count + (j->row - part->row_first);
        for (int32_t r = 0; r < j->width; r++) measure(row[r], -1, j->joint, &size);
    }
    return size;
}

mabd_quaternion_size mabd_quaternion_evaluate(const mabd_quaternion_solve* s, const mabd_real* pose,
                                              const mabd_real* multiplier, bool matrix) {
    const mabd_quaternion_part* part = s->part;
    if (matrix) mabd_quaternion_clear(s->sim, part);
    for (int32_t i = 0; i < part->body_count; i++) evaluate_body(s, i, pose, matrix);
    for (int32_t i = 0; i < part->joint_count; i++) {
        evaluate_joint(s, &s->sim->joints[part->joint_first + i], pose, multiplier, matrix);
    }
    return mabd_quaternion_size_of(s->sim, part, s->sim->residual + part->vector_first);
}

void mabd_quaternion_evaluate_loads(const mabd_quaternion_solve* s, const mabd_real* pose) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->body_count; i++) evaluate_body(s, i, pose, false);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &sim->model->joints[j->joint];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        joint_rows rows;
        if (set->motor_count == 0 && !set->damped) continue;
        rows.view = mabd_quaternion_view(sim, pose, s->time, joint);
        rows.rigid.Q = mabd_m3_tproduct(rows.view.Ab, rows.view.Aa);
        add_motors(s, j, &rows, s->bh * s->bh, false);
        add_damper(s, j, pose, &rows, false);
    }
}
