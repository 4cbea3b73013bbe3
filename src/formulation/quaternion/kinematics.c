// SPDX-License-Identifier: Apache-2.0
// Solves with the mass matrix at a pose.
//
//   [ M  -J' ] [ a ]   [ f - omega x J omega ]        accelerations: J a = -u' G u of each row,
//   [ J   c  ] [ l ] = [ b                   ]        the derivative of J u along the motion
//
// A control with armature I has the force l = f - I x'': its row is J a + l/I = f/I - u'Gu. Without
// armature its force is known: l = f. A rigid servo has J a = p'' - u'Gu. Bodies with a prescribed
// motion enter the right-hand side with their velocity and acceleration.
//
// The same matrix with b = -C closes rows by the least motion in the mass metric (closing.c).

#include "formulation/quaternion/kinematics.h"

#include "formulation/quaternion/closing.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/quaternion_layout.h"
#include "formulation/quaternion/symmetric_turns.h"
#include "rigid/script.h"

#include <math.h>
#include <string.h>

// ---- rows at a pose ----------------------------------------------------------------------------

void mabd_quaternion_take_pose(const mabd_quaternion_solve* s, const mabd_quaternion_node* node) {
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t body = (size_t)s->sim->bodies[s->part->body_first + i];
        const mabd_real* row = node->body + MABD_NODE_REALS * body;
        memcpy(s->sim->pose + 7 * body, row, 3 * sizeof *row);
        mabd_q_store(mabd_q_normalize(mabd_q_load(row + 3)), s->sim->pose + 7 * body + 3);
    }
}

static const mabd_row_set* set_of(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j) {
    return &s->sim->model->row_sets[s->sim->model->joints[j->joint].row_set];
}

// Coordinates of the controls of a joint at the state.
static void read_near(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                      mabd_real* near) {
    const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
    for (int32_t r = 0; r < set_of(s, j)->control_count; r++) {
        near[r] = s->sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
}

void mabd_quaternion_row_values(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                mabd_real* C) {
    const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
    const mabd_row_set* set = set_of(s, j);
    const mabd_joint_view view = mabd_quaternion_view(s->sim, s->sim->pose, s->time, joint);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < set->rigid_count; r++) {
        C[r] = mabd_row_value(&view, &set->rigid[r], gap);
    }
    if (set->control_count == 0) return;
    read_near(s, j, near);
    mabd_joint_coordinates(&view, set->control_count, set->control_row, near, C + set->rigid_count);
}

void mabd_quaternion_rows(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                          mabd_real* C, mabd_rigid_row* J) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = set_of(s, j);
    const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, joint);
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0};
    mabd_rigid_joint_rows(&view, set->rigid_count, set->rigid, NULL, C, J);
    read_near(s, j, near);
    if (set->control_count > 0) {
        mabd_rigid_joint_rows(&view, set->control_count, set->control_row, near,
                              C + set->rigid_count, J + set->rigid_count);
    }
}

// ---- motions of sides --------------------------------------------------------------------------

// Velocity and acceleration of a body with a script.
static mabd_side_motion scripted_motion(const mabd_quaternion_sim* sim, mabd_real time,
                                        int32_t body) {
    const mabd_model_script* script = &sim->model->scripts[sim->body_script[body]];
    const mabd_rigid_script_motion at = mabd_rigid_script_at(sim->model, script, time);
    mabd_side_motion out;
    mabd_v3_store(at.u.v, out.u), mabd_v3_store(at.u.w, out.u + 3);
    mabd_v3_store(at.a.v, out.a), mabd_v3_store(at.a.w, out.a + 3);
    return out;
}

mabd_side_motion mabd_quaternion_side_motion(const mabd_quaternion_solve* s,
                                             const mabd_quaternion_node* node, int32_t body) {
    const mabd_quaternion_sim* sim = s->sim;
    mabd_side_motion out;
    memset(&out, 0, sizeof out);
    if (sim->body_slot[body] >= 0) {
        const mabd_real* row = node->body + MABD_NODE_REALS * (size_t)body;
        memcpy(out.u, row + 7, 3 * sizeof *row);
        mabd_v3_store(
            mabd_rigid_spin(mabd_q_load(sim->pose + 7 * (size_t)body + 3), mabd_q_load(row + 10)),
            out.u + 3);
    } else if (sim->body_script[body] >= 0) {
        out = scripted_motion(sim, s->time, body);
    }
    return out;
}

mabd_vec3 mabd_quaternion_prescribed_spin(const mabd_quaternion_sim* sim, mabd_real time,
                                          int32_t body) {
    if (body == sim->model->body_count || sim->body_script[body] < 0) return mabd_v3(0, 0, 0);
    return mabd_v3_load(scripted_motion(sim, time, body).u + 3);
}

void mabd_quaternion_write_turns(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const int32_t index = sim->joints[s->part->joint_first + i].joint;
        const mabd_model_joint* joint = &sim->model->joints[index];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        if (!set->damped) continue;
        const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, joint);
        const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a);
        const mabd_side_motion b = mabd_quaternion_side_motion(s, node, joint->b);
        const mabd_vec3 rate = mabd_ball_rate(view.Fb, mabd_m3_tproduct(view.Ab, view.Aa),
                                              mabd_v3_load(a.u + 3), mabd_v3_load(b.u + 3));
        for (int32_t r = 0; r < set->control_count; r++) {
            if (!mabd_quaternion_is_damped_turn(set, r)) continue;
            node->x[2 * (size_t)(joint->coordinate + r) + 1] =
                mabd_v3_get(rate, set->control_row[r].axis);
        }
    }
}

mabd_real mabd_quaternion_curvature(const mabd_rigid_joint* at, const mabd_row* row,
                                    const mabd_real* ua, const mabd_real* ub) {
    mabd_real G[4][36], sum = 0;
    const mabd_real one = 1, *left[4] = {ua, ua, ub, ub}, *right[4] = {ua, ub, ua, ub};
    memset(G, 0, sizeof G);
    const mabd_rigid_blocks blocks = {G[0], G[1], G[2], G[3]};
    mabd_rigid_add_geometric(at, 1, row, &one, &blocks);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 36; i++) sum += left[k][i / 6] * G[k][i] * right[k][i % 6];
    }
    return sum;
}

// ---- matrix and right-hand side ----------------------------------------------------------------

void mabd_quaternion_store_rows(const mabd_quaternion_solve* s) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (j->slot < 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        mabd_quaternion_store_jacobian(s->sim, j, J, false);
        mabd_quaternion_store_jacobian(s->sim, j, J, true);
    }
}

void mabd_quaternion_store_matrix(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const mabd_quaternion_part* part = s->part;
    mabd_quaternion_clear(sim, part);
    mabd_quaternion_store_rows(s);
    for (int32_t i = 0; i < part->body_count; i++) {
        const int32_t body = sim->bodies[part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        mabd_real* D = sim->D + sim->slot_block[part->slot_first + i];
        for (int k = 0; k < 6; k++) D[7 * k] = k < 3 ? c->material.mass : c->principal[k - 3];
    }
}

void mabd_quaternion_release_row(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                 int32_t r, mabd_real diagonal, bool hold) {
    const mabd_quaternion_sim* sim = s->sim;
    const size_t blocks[2] = {j->block_a, j->block_b};
    mabd_real* D = sim->D + sim->slot_block[s->part->slot_first + j->slot];
    D[(size_t)(r * (j->width + 1))] = diagonal;
    for (int k = 0; !hold && k < 2; k++) {
        if (blocks[k] != SIZE_MAX) memset(sim->lower + blocks[k] + 6 * r, 0, 6 * sizeof *D);
    }
}

// Add the armature of damped rotations, I = F diag F', to the mass matrix.
static void add_turn_inertia(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                             mabd_mat3 I, mabd_mat3 Q) {
    const mabd_rigid_blocks M = mabd_quaternion_blocks(s, j);
    const mabd_mat3 IQ = mabd_m3_product(I, Q);
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(M.bb, t, t, 1, I);
    mabd_rigid_add_part(M.ba, t, t, -1, IQ);
    mabd_rigid_add_part(M.ab, t, t, -1, mabd_m3_transpose(IQ));
    mabd_rigid_add_part(M.aa, t, t, 1, mabd_m3_tproduct(Q, IQ));
}

// Add armature of damped rotations to the mass matrix, and their dampers to the right-hand side:
// with r' = al_b - Q al_a + om_b x Q om_a the torque on b is -F (D F'r + I F'r').
static void add_turns(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                      const mabd_joint_view* view, mabd_vec3 om_a, mabd_vec3 om_b) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_ball_damper d = mabd_quaternion_damper(sim, joint, 0);
    const mabd_mat3 Q = mabd_m3_tproduct(view->Ab, view->Aa);
    const mabd_mat3 I = mabd_ball_gain(view->Fb, d.armature);
    const mabd_vec3 seen = mabd_m3_mul(Q, om_a), r = mabd_v3_sub(om_b, seen);
    const mabd_vec3 y = mabd_v3_add(mabd_m3_mul(mabd_ball_gain(view->Fb, d.damping), r),
                                    mabd_m3_mul(I, mabd_v3_cross(om_b, seen)));
    mabd_real* rhs = sim->rhs + s->part->vector_first;
    if (!sim->dual) add_turn_inertia(s, j, I, Q); // it has rows of the axes instead
    if (j->slot_b >= 0) {
        mabd_real* to = rhs + 6 * (size_t)j->slot_b + 3;
        mabd_v3_store(mabd_v3_sub(mabd_v3_load(to), y), to);
    }
    if (j->slot_a >= 0) {
        mabd_real* to = rhs + 6 * (size_t)j->slot_a + 3;
        mabd_v3_store(mabd_v3_add(mabd_v3_load(to), mabd_m3_tmul(Q, y)), to);
    }
}

// Add a force along a row to the right-hand side of its bodies.
static void push(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j, mabd_real force,
                 const mabd_rigid_row* J) {
    const mabd_rigid_wrench* side[2] = {&J->a, &J->b};
    const int32_t slots[2] = {j->slot_a, j->slot_b};
    for (int k = 0; k < 2; k++) {
        if (slots[k] < 0) continue;
        mabd_real* to = s->sim->rhs + s->part->vector_first + 6 * (size_t)slots[k];
        mabd_v3_store(mabd_v3_axpy(force, side[k]->f, mabd_v3_load(to)), to);
        mabd_v3_store(mabd_v3_axpy(force, side[k]->t, mabd_v3_load(to + 3)), to + 3);
    }
}

// Right-hand sides of the rows of a joint for accelerations.
static void set_joint(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                      const mabd_quaternion_joint* j, mabd_real* b) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = set_of(s, j);
    const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, joint);
    const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a),
                           o = mabd_quaternion_side_motion(s, node, joint->b);
    mabd_real C[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    mabd_quaternion_rows(s, j, C, J);
    for (int32_t r = 0; r < j->width; r++) {
        const bool rigid = r < set->rigid_count;
        const int32_t k = rigid ? 0 : r - set->rigid_count;
        const mabd_row* row = rigid ? &set->rigid[r] : &set->control_row[k];
        const mabd_rigid_joint at = mabd_rigid_joint_at(&view, 1, row, &C[r]);
        b[r] = -mabd_quaternion_curvature(&at, row, a.u, o.u) -
               mabd_rigid_wrench_dot(&J[r].a, a.a) - mabd_rigid_wrench_dot(&J[r].b, o.a);
        if (rigid) continue;
        const mabd_control* c = &set->control[k];
        const int32_t coordinate = joint->coordinate + k;
        const mabd_real rate =
            mabd_rigid_wrench_dot(&J[r].a, a.u) + mabd_rigid_wrench_dot(&J[r].b, o.u);
        const bool turns = mabd_quaternion_is_damped_turn(set, k);
        mabd_real bend;
        bool held;
        const mabd_real force =
            mabd_quaternion_control_force(s, c, coordinate, C[r], turns ? 0 : rate, &held, &bend);
        if (held) {
            b[r] += bend;
        } else if (c->armature > 0 && !turns) {
            b[r] += force / c->armature;
            mabd_quaternion_release_row(s, j, r, 1 / c->armature, true);
        } else if (c->armature > 0 && sim->dual) {
            push(s, j, force, &J[r]);
            b[r] = 0;
            mabd_quaternion_store_turn(s, j, r, row->axis, 1 / c->armature);
        } else {
            b[r] = force;
            mabd_quaternion_release_row(s, j, r, 1, false);
        }
    }
    if (set->damped) add_turns(s, j, &view, mabd_v3_load(a.u + 3), mabd_v3_load(o.u + 3));
}

mabd_status mabd_quaternion_accelerate(const mabd_quaternion_solve* s,
                                       const mabd_quaternion_node* node) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_part* part = s->part;
    mabd_real* b = sim->rhs + part->vector_first;
    int32_t body, joint;
    mabd_quaternion_take_pose(s, node);
    if (part->laws) mabd_quaternion_take_branches(s, node);
    mabd_quaternion_store_matrix(s);
    mabd_quaternion_forces(s, node, b);
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        if (j->slot < 0) continue;
        set_joint(s, node, j, b + 6 * (size_t)part->body_count + (j->row - part->row_first));
    }
    const mabd_status status = mabd_quaternion_factor(s, &body, &joint);
    if (status != MABD_OK) {
        s->report->body = body, s->report->joint = joint;
        s->report->reason = "the accelerations have no solution at";
        return status;
    }
    mabd_quaternion_solve_linear(s);
    return MABD_OK;
}

// Angular acceleration of a side, principal frame, from the last solve.
static mabd_vec3 side_turn(const mabd_quaternion_solve* s, int32_t body) {
    const int32_t slot = s->sim->body_slot[body];
    if (slot >= 0) {
        return mabd_v3_load(s->sim->y + s->part->vector_first + 6 * (size_t)slot + 3);
    }
    if (body == s->sim->model->body_count || s->sim->body_script[body] < 0) {
        return mabd_v3(0, 0, 0);
    }
    return mabd_v3_load(scripted_motion(s->sim, s->time, body).a + 3);
}

// Derivatives of the relative angular velocities of a damped joint: F'r'.
static void write_turn_slopes(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                              const mabd_model_joint* joint, const mabd_quaternion_node* slope) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, joint);
    const mabd_mat3 Q = mabd_m3_tproduct(view.Ab, view.Aa);
    const mabd_vec3 om_a = mabd_v3_load(mabd_quaternion_side_motion(s, node, joint->a).u + 3);
    const mabd_vec3 om_b = mabd_v3_load(mabd_quaternion_side_motion(s, node, joint->b).u + 3);
    const mabd_vec3 turn =
        mabd_v3_sub(side_turn(s, joint->b), mabd_m3_mul(Q, side_turn(s, joint->a)));
    const mabd_vec3 bend =
        mabd_m3_tmul(view.Fb, mabd_v3_add(turn, mabd_v3_cross(om_b, mabd_m3_mul(Q, om_a))));
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(set, r)) continue;
        slope->x[2 * (size_t)(joint->coordinate + r) + 1] =
            mabd_v3_get(bend, set->control_row[r].axis);
    }
}

void mabd_quaternion_write_slope(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                                 const mabd_quaternion_node* slope) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_part* part = s->part;
    const mabd_real* y = sim->y + part->vector_first;
    for (int32_t i = 0; i < part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[part->body_first + i];
        const mabd_quat q = mabd_q_load(node->body + at + 3), w = mabd_q_load(node->body + at + 10);
        const mabd_quat turn = mabd_rigid_h_tmul(q, mabd_v3_load(y + 6 * (size_t)i + 3));
        const mabd_real square = mabd_rigid_q_dot(w, w), half = (mabd_real)0.5;
        memcpy(slope->body + at, node->body + at + 7, 7 * sizeof *y);
        memcpy(slope->body + at + 7, y + 6 * (size_t)i, 3 * sizeof *y);
        mabd_q_store(mabd_q(half * turn.w - square * q.w, half * turn.x - square * q.x,
                            half * turn.y - square * q.y, half * turn.z - square * q.z),
                     slope->body + at + 10);
    }
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        const mabd_model_joint* joint = &sim->model->joints[j->joint];
        const mabd_row_set* set = set_of(s, j);
        const mabd_real* l = y + 6 * (size_t)part->body_count + (j->row - part->row_first);
        for (int32_t k = 0; k < set->control_count; k++) {
            const mabd_control* c = &set->control[k];
            const size_t at = 2 * (size_t)(joint->coordinate + k);
            const mabd_real x = node->x[at], rate = node->x[at + 1];
            bool held;
            mabd_real bend;
            const mabd_real force =
                mabd_quaternion_control_force(s, c, joint->coordinate + k, x, rate, &held, &bend);
            slope->x[at] = rate, slope->x[at + 1] = held ? bend : 0;
            if (!held && c->armature > 0 && !mabd_quaternion_is_damped_turn(set, k)) {
                slope->x[at + 1] = (force - l[set->rigid_count + k]) / c->armature; // x''
            }
        }
        if (set->damped) write_turn_slopes(s, node, joint, slope);
    }
}

// ---- semi-implicit steps -----------------------------------------------------------------------

static mabd_real* rows_of(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j) {
    return s->sim->rhs + s->part->vector_first + 6 * (size_t)s->part->body_count +
           (j->row - s->part->row_first);
}

void mabd_quaternion_add_targets(const mabd_quaternion_solve* s, mabd_real k) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const int32_t rigid = set_of(s, j)->rigid_count;
        const int32_t first = s->sim->model->joints[j->joint].coordinate;
        for (int32_t r = rigid; j->slot >= 0 && r < j->width; r++) {
            rows_of(s, j)[r] += k * s->sim->input[first + r - rigid];
        }
    }
}

void mabd_quaternion_add_rates(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                               mabd_real alpha) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
        const int32_t rigid = set_of(s, j)->rigid_count;
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (j->slot < 0) continue;
        const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a);
        const mabd_side_motion o = mabd_quaternion_side_motion(s, node, joint->b);
        mabd_quaternion_rows(s, j, C, J);
        for (int32_t r = 0; r < j->width; r++) {
            if (r >= rigid) C[r] -= s->sim->input[joint->coordinate + r - rigid];
            const mabd_real rate =
                mabd_rigid_wrench_dot(&J[r].a, a.u) + mabd_rigid_wrench_dot(&J[r].b, o.u);
            rows_of(s, j)[r] -= (rate + alpha * C[r] / s->h) / s->h;
        }
    }
}

// ---- impacts -----------------------------------------------------------------------------------

// The rows of a joint in an impact: those of unlimited force take the rates across them away,
// armature is inertia, all other forces are too weak.
static void set_impact(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                       const mabd_quaternion_joint* j) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = set_of(s, j);
    const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a),
                           o = mabd_quaternion_side_motion(s, node, joint->b);
    mabd_real* b = rows_of(s, j);
    mabd_real C[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    mabd_quaternion_rows(s, j, C, J);
    for (int32_t r = 0; r < j->width; r++) {
        const int32_t k = r - set->rigid_count;
        mabd_real rate = 0;
        if (k >= 0 && !mabd_quaternion_is_held(s, &set->control[k], joint->coordinate + k, &rate)) {
            const mabd_real armature = set->control[k].armature;
            const bool inertia = armature > 0 && !mabd_quaternion_is_damped_turn(set, k);
            mabd_quaternion_release_row(s, j, r, inertia ? 1 / armature : 1, inertia);
            continue;
        }
        b[r] = rate - mabd_rigid_wrench_dot(&J[r].a, a.u) - mabd_rigid_wrench_dot(&J[r].b, o.u);
    }
    if (!set->damped) return;
    const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, joint);
    const mabd_ball_damper d = mabd_quaternion_damper(sim, joint, 0);
    add_turn_inertia(s, j, mabd_ball_gain(view.Fb, d.armature), mabd_m3_tproduct(view.Ab, view.Aa));
}

// Let go of stops that would pull; true if there are some.
static bool release_pulling(const mabd_quaternion_solve* s) {
    const mabd_real* y = s->sim->y + s->part->vector_first + 6 * (size_t)s->part->body_count;
    bool found = false;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const mabd_row_set* set = set_of(s, j);
        const mabd_real* l = y + (j->row - s->part->row_first) + set->rigid_count;
        for (int32_t k = 0; set->laws && k < set->control_count; k++) {
            mabd_axis_branch* branch =
                &s->sim->axes[s->sim->model->joints[j->joint].coordinate + k].found;
            if (!set->control[k].law || !((mabd_real)branch->stop * l[k] > 0)) continue;
            branch->stop = 0, found = true;
        }
    }
    return found;
}

// Write the rates of the coordinates after an impact: those of stops are zero.
static void write_impact_rates(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_real* y = sim->y + s->part->vector_first;
    const mabd_real zero[6] = {0};
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_row_set* set = set_of(s, j);
        const mabd_real* of_a = j->slot_a >= 0 ? y + 6 * (size_t)j->slot_a : zero;
        const mabd_real* of_b = j->slot_b >= 0 ? y + 6 * (size_t)j->slot_b : zero;
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (set->control_count == 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        for (int32_t k = 0; k < set->control_count; k++) {
            const size_t at = (size_t)(sim->model->joints[j->joint].coordinate + k);
            const mabd_rigid_row* row = &J[set->rigid_count + k];
            node->x[2 * at + 1] +=
                mabd_rigid_wrench_dot(&row->a, of_a) + mabd_rigid_wrench_dot(&row->b, of_b);
            if (set->control[k].law && sim->axes[at].found.stop != 0) node->x[2 * at + 1] = 0;
        }
    }
    mabd_quaternion_write_turns(s, node);
}

bool mabd_quaternion_take_impacts(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_part* part = s->part;
    mabd_real* b = sim->rhs + part->vector_first;
    mabd_quaternion_begin_impacts(s);
    do {
        int32_t body, joint;
        mabd_quaternion_store_matrix(s);
        memset(b, 0, (6 * (size_t)part->body_count + (size_t)part->row_count) * sizeof *b);
        for (int32_t i = 0; i < part->joint_count; i++) {
            const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
            if (j->slot >= 0) set_impact(s, node, j);
        }
        if (mabd_quaternion_factor(s, &body, &joint) != MABD_OK) return false;
        mabd_quaternion_solve_linear(s);
    } while (release_pulling(s));
    mabd_quaternion_add_velocities(s, sim->y + part->vector_first, node);
    write_impact_rates(s, node);
    return true;
}

// ---- coordinates -------------------------------------------------------------------------------

void mabd_quaternion_read_coordinates(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    mabd_quaternion_take_pose(s, node);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
        const mabd_row_set* set = set_of(s, j);
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (set->control_count == 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a);
        const mabd_side_motion o = mabd_quaternion_side_motion(s, node, joint->b);
        for (int32_t k = 0; k < set->control_count; k++) {
            const int32_t r = set->rigid_count + k;
            mabd_real* x = node->x + 2 * (size_t)(joint->coordinate + k);
            x[0] = C[r],
            x[1] = mabd_rigid_wrench_dot(&J[r].a, a.u) + mabd_rigid_wrench_dot(&J[r].b, o.u);
        }
    }
    mabd_quaternion_write_turns(s, node);
}
