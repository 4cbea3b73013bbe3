// SPDX-License-Identifier: Apache-2.0
// A joint at the solution of an implicit function: its rows, their second derivatives, and the
// third ones where accelerations need them.
//
// With G of one row (rigid/geometric.h, multiplier 1) the rate J u has the derivatives u'G by the
// pose and J by the velocities, and the bend J a + u'G u has u'(G + G') by the velocities. Its
// derivatives by the pose are third derivatives of the row. They are taken by central differences
// of sixth order of the exact second ones along each direction: with steps of 0.01 (rad, or m) the
// error is some 1e-14 of the value. They are needed where accelerations start a step, not in
// every solve.

#include "formulation/quaternion/tangent_joint.h"

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/start_hold.h"

#include <string.h>

/// Step of differences [m] or [rad].
#define MOVE ((mabd_real)0.01)
/// Weights of differences over 1, 2 and 3 steps, times 60.
static const mabd_real difference_weights[3] = {45, -9, 1};

// Append the held axes of a joint to its rows.
static void find_held(const mabd_quaternion_point* p, mabd_tangent_joint* at) {
    at->held_count = 0;
    for (int32_t i = 0; p->holds && i < p->holds->count; i++) {
        mabd_start_hold* h = &p->holds->hold[i];
        const int32_t r = at->j->width + at->held_count;
        if (&p->s.sim->joints[h->place] != at->j) continue;
        mabd_rigid_joint_rows(&at->view, 1, &h->row, &h->near, &at->x[r], &at->J[r]);
        at->held[at->held_count++] = h;
    }
}

void mabd_tangent_joint_at(const mabd_quaternion_point* p, int32_t i, mabd_tangent_joint* at) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_quaternion_part* part = p->s.part;
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0};
    at->j = &sim->joints[part->joint_first + i];
    at->joint = &sim->model->joints[at->j->joint];
    at->set = &sim->model->row_sets[at->joint->row_set];
    at->first_row = 6 * (size_t)part->body_count + (size_t)(at->j->row - part->row_first);
    at->view = mabd_quaternion_view(sim, sim->pose, p->s.time, at->joint);
    const int32_t n = at->set->rigid_count;
    at->rigid = mabd_rigid_joint_rows(&at->view, n, at->set->rigid, NULL, at->x, at->J);
    for (int32_t r = 0; r < at->set->control_count; r++) {
        near[r] = sim->now.x[2 * (size_t)(at->joint->coordinate + r)];
    }
    if (at->set->control_count > 0) {
        at->controls = mabd_rigid_joint_rows(&at->view, at->set->control_count,
                                             at->set->control_row, near, at->x + n, at->J + n);
    }
    find_held(p, at);
}

const mabd_row* mabd_tangent_row_of(const mabd_tangent_joint* at, int32_t r) {
    const int32_t n = at->set->rigid_count;
    if (r >= at->j->width) return &at->held[r - at->j->width]->row;
    return r < n ? &at->set->rigid[r] : &at->set->control_row[r - n];
}

mabd_tangent_motion mabd_tangent_motion_of(const mabd_quaternion_point* p,
                                           const mabd_tangent_joint* at) {
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    const int32_t bodies[2] = {at->joint->a, at->joint->b};
    mabd_tangent_motion out;
    for (int k = 0; k < 2; k++) {
        const mabd_side_motion m = mabd_quaternion_side_motion(&p->s, p->node, bodies[k]);
        memcpy(out.u[k], m.u, sizeof m.u), memcpy(out.a[k], m.a, sizeof m.a);
        if (p->function == MABD_FUNCTION_REDUCE) memset(out.u[k], 0, sizeof m.u);
        if (p->function == MABD_FUNCTION_IMPACT) memset(out.a[k], 0, sizeof m.a);
        if (slots[k] < 0 || !p->y) continue;
        if (p->function == MABD_FUNCTION_IMPACT) {
            memcpy(out.a[k], p->y + 6 * (size_t)slots[k], sizeof m.a);
            for (int i = 0; i < 6; i++) out.u[k][i] += out.a[k][i];
            continue;
        }
        mabd_real* to = p->function == MABD_FUNCTION_ACCELERATE ? out.a[k] : out.u[k];
        memcpy(to, p->y + 6 * (size_t)slots[k], sizeof m.u);
    }
    return out;
}

void mabd_tangent_sides(const mabd_tangent_joint* at, const mabd_real* a, bool back, mabd_real s,
                        mabd_real* y, mabd_real* dx) {
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int k = 0; k < 2; k++) {
        if (slots[k] >= 0) mabd_pass(back, s, a + 6 * k, 1, 6, y, dx + 6 * (size_t)slots[k]);
    }
}

static void store_row(const mabd_rigid_row* J, mabd_real* out) {
    mabd_v3_store(J->a.f, out), mabd_v3_store(J->a.t, out + 3);
    mabd_v3_store(J->b.f, out + 6), mabd_v3_store(J->b.t, out + 9);
}

void mabd_tangent_row(const mabd_tangent_joint* at, const mabd_rigid_row* J, bool back, mabd_real s,
                      mabd_real* y, mabd_real* dx) {
    mabd_real row[12];
    store_row(J, row);
    mabd_tangent_sides(at, row, back, s, y, dx);
}

// ---- second derivatives ------------------------------------------------------------------------

static mabd_rigid_blocks blocks_of(mabd_real blocks[4][36]) {
    const mabd_rigid_blocks G = {blocks[0], blocks[1], blocks[2], blocks[3]};
    return G;
}

static void add_wrench(const mabd_rigid_row* J, mabd_real lambda, mabd_real* wrench) {
    mabd_real row[12];
    store_row(J, row);
    for (int k = 0; k < 12; k++) wrench[k] += lambda * row[k];
}

void mabd_tangent_geometric(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                            mabd_real blocks[4][36], mabd_real* wrench) {
    const mabd_rigid_blocks G = blocks_of(blocks);
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_real *l = p->multiplier + at->j->row, near = 0;
    const int32_t n = at->set->rigid_count;
    const bool motors =
        p->function == MABD_FUNCTION_SOLVE || p->function == MABD_FUNCTION_ACCELERATE;
    mabd_rigid_add_geometric(&at->rigid, n, at->set->rigid, l, &G);
    if (at->set->control_count > 0) {
        mabd_rigid_add_geometric(&at->controls, at->set->control_count, at->set->control_row, l + n,
                                 &G);
    }
    for (int32_t r = 0; wrench && r < at->j->width; r++) add_wrench(&at->J[r], l[r], wrench);
    for (int32_t k = 0; k < at->held_count; k++) {
        const mabd_start_hold* h = at->held[k];
        const mabd_rigid_joint own = mabd_rigid_joint_at(&at->view, 1, &h->row, &h->near);
        mabd_rigid_add_geometric(&own, 1, &h->row, &h->multiplier, &G);
        if (wrench) add_wrench(&at->J[at->j->width + k], h->multiplier, wrench);
    }
    for (int32_t r = 0; motors && r < at->set->motor_count; r++) {
        const mabd_row* row = &at->set->motor[r].row;
        const mabd_real force =
            p->scale * sim->input[sim->model->coordinate_count + at->j->motor + r];
        mabd_real C;
        mabd_rigid_row J;
        const mabd_rigid_joint own = mabd_rigid_joint_rows(&at->view, 1, row, &near, &C, &J);
        mabd_rigid_add_geometric(&own, 1, row, &force, &G);
        if (wrench) add_wrench(&J, force, wrench);
    }
}

// G of one row with the multiplier 1.
static void find_geometric(const mabd_tangent_joint* at, int32_t r, mabd_real blocks[4][36]) {
    const mabd_row* row = mabd_tangent_row_of(at, r);
    const mabd_rigid_joint own = mabd_rigid_joint_at(&at->view, 1, row, &at->x[r]);
    const mabd_rigid_blocks G = blocks_of(blocks);
    const mabd_real one = 1;
    memset(blocks, 0, 4 * 36 * sizeof(mabd_real));
    mabd_rigid_add_geometric(&own, 1, row, &one, &G);
}

void mabd_tangent_rate_gradient(const mabd_tangent_joint* at, int32_t r, const mabd_real* ua,
                                const mabd_real* ub, mabd_real* out) {
    mabd_real G[4][36];
    find_geometric(at, r, G);
    for (int k = 0; k < 12; k++) {
        out[k] = 0;
        for (int i = 0; i < 6; i++) {
            out[k] += ua[i] * G[k / 6][6 * i + k % 6] + ub[i] * G[2 + k / 6][6 * i + k % 6];
        }
    }
}

void mabd_tangent_bend_rates(const mabd_tangent_joint* at, int32_t r, const mabd_real* ua,
                             const mabd_real* ub, mabd_real* out) {
    mabd_real G[4][36];
    mabd_tangent_rate_gradient(at, r, ua, ub, out);
    find_geometric(at, r, G);
    for (int k = 0; k < 12; k++) {
        const mabd_real *by_a = G[2 * (k / 6)], *by_b = G[2 * (k / 6) + 1];
        for (int i = 0; i < 6; i++) {
            out[k] += by_a[6 * (k % 6) + i] * ua[i] + by_b[6 * (k % 6) + i] * ub[i];
        }
    }
}

// ---- third derivatives -------------------------------------------------------------------------

// A quantity of a row with the sides as in `view`.
static mabd_real quantity_of(const mabd_tangent_joint* at, int32_t r, const mabd_joint_view* view,
                             mabd_row_quantity quantity, const mabd_tangent_motion* m) {
    const mabd_row* row = mabd_tangent_row_of(at, r);
    const mabd_rigid_joint own = mabd_rigid_joint_at(view, 1, row, &at->x[r]);
    const mabd_rigid_row J = mabd_rigid_row_jacobian(&own, row);
    const bool rate = quantity == MABD_ROW_RATE;
    mabd_real j[12], sum = rate ? 0 : mabd_quaternion_curvature(&own, row, m->u[0], m->u[1]);
    store_row(&J, j);
    for (int k = 0; k < 12; k++) sum += j[k] * (rate ? m->u : m->a)[k / 6][k % 6];
    return sum;
}

/// A direction of change of the sides of a joint.
typedef struct side_move {
    int side;
    bool frame;            // of the joint frame on its body, else of the body
    mabd_vec3 shift, turn; // shift: world for a body, principal frame for the joint frame
} side_move;

static mabd_joint_view move_view(const mabd_joint_view* view, const side_move* move, mabd_real s) {
    const mabd_real angle = mabd_v3_norm(move->turn);
    const mabd_vec3 axis = angle > 0 ? mabd_v3_scale(1 / angle, move->turn) : mabd_v3(1, 0, 0);
    const mabd_mat3 turn = mabd_q_matrix(mabd_q_axis_angle(axis, s * angle));
    mabd_joint_view out = *view;
    mabd_mat3* R = move->side == 0 ? &out.Aa : &out.Ab;
    mabd_mat3* F = move->side == 0 ? &out.Fa : &out.Fb;
    mabd_vec3* t = move->side == 0 ? &out.ta : &out.tb;
    mabd_vec3* X = move->side == 0 ? &out.Xa : &out.Xb;
    if (move->frame) {
        *X = mabd_v3_axpy(s, move->shift, *X);
        *F = mabd_m3_product(turn, *F);
    } else {
        *t = mabd_v3_axpy(s, move->shift, *t);
        *R = mabd_m3_product(*R, turn);
    }
    return out;
}

// Derivative of a quantity of a row along a move.
static mabd_real differentiate(const mabd_tangent_joint* at, int32_t r, mabd_row_quantity quantity,
                               const mabd_tangent_motion* m, const side_move* move) {
    mabd_real sum = 0;
    for (int k = 1; k <= 3; k++) {
        const mabd_joint_view up = move_view(&at->view, move, (mabd_real)k * MOVE);
        const mabd_joint_view down = move_view(&at->view, move, (mabd_real)-k * MOVE);
        sum += difference_weights[k - 1] *
               (quantity_of(at, r, &up, quantity, m) - quantity_of(at, r, &down, quantity, m));
    }
    return sum / (60 * MOVE);
}

void mabd_tangent_bend_gradient(const mabd_tangent_joint* at, int32_t r,
                                const mabd_tangent_motion* m, mabd_real* out) {
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int k = 0; k < 12; k++) {
        const mabd_vec3 e = mabd_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2), zero = mabd_v3(0, 0, 0);
        const side_move move = {k / 6, false, k % 6 < 3 ? e : zero, k % 6 < 3 ? zero : e};
        out[k] = slots[k / 6] < 0 ? 0 : differentiate(at, r, MABD_ROW_BEND, m, &move);
    }
}

// Sum of weight times bend over the rigid rows with the sides as in `view`.
static mabd_real sum_of_bends(const mabd_tangent_joint* at, const mabd_real* weights,
                              const mabd_joint_view* view, const mabd_tangent_motion* m) {
    const mabd_row* rows = at->set->rigid;
    const int32_t n = at->set->rigid_count;
    const mabd_rigid_joint own = mabd_rigid_joint_at(view, n, rows, at->x);
    mabd_real G[4][36], wrench[12] = {0}, sum = 0;
    const mabd_rigid_blocks blocks = blocks_of(G);
    memset(G, 0, sizeof G);
    mabd_rigid_add_geometric(&own, n, rows, weights, &blocks);
    for (int32_t r = 0; r < n; r++) {
        const mabd_rigid_row J = mabd_rigid_row_jacobian(&own, &rows[r]);
        add_wrench(&J, weights[r], wrench);
    }
    for (int k = 0; k < 12; k++) {
        sum += wrench[k] * m->a[k / 6][k % 6];
        for (int i = 0; i < 12; i++) {
            const mabd_real* block = G[2 * (k / 6) + i / 6];
            sum += m->u[k / 6][k % 6] * block[6 * (k % 6) + i % 6] * m->u[i / 6][i % 6];
        }
    }
    return sum;
}

void mabd_tangent_bends_gradient(const mabd_tangent_joint* at, const mabd_real* weights,
                                 const mabd_tangent_motion* m, mabd_real* out) {
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int k = 0; k < 12; k++) {
        const mabd_vec3 e = mabd_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2), zero = mabd_v3(0, 0, 0);
        const side_move move = {k / 6, false, k % 6 < 3 ? e : zero, k % 6 < 3 ? zero : e};
        out[k] = 0;
        for (int step = 1; step <= 3 && slots[k / 6] >= 0; step++) {
            const mabd_joint_view up = move_view(&at->view, &move, (mabd_real)step * MOVE);
            const mabd_joint_view down = move_view(&at->view, &move, (mabd_real)-step * MOVE);
            out[k] += difference_weights[step - 1] *
                      (sum_of_bends(at, weights, &up, m) - sum_of_bends(at, weights, &down, m)) /
                      (60 * MOVE);
        }
    }
}

mabd_real mabd_tangent_moved(const mabd_tangent_joint* at, int32_t r, mabd_row_quantity quantity,
                             const mabd_tangent_motion* m, int side, mabd_vec3 shift,
                             mabd_vec3 turn) {
    const side_move move = {side, true, shift, turn};
    return differentiate(at, r, quantity, m, &move);
}
