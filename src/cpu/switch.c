// SPDX-License-Identifier: Apache-2.0
// Switch: after a linear solve, which piece of its force law (joint/axis_law.h) every axis stands on.
//
// The solve was made on one piece of each law and gave (x, lambda): on a sloped piece both from the row, on a
// vertical one lambda at the place of the piece, on a flat one x from the bodies, as far as it is linear. The piece of
// x + rho lambda is taken for the next solve, at the same reference: while pieces change, bodies may fly far off, and all axes
// together are one linear complementarity problem, which has one solution. A point that is on the graph already,
// but for round-off, keeps its piece: at a corner both pieces are right.
//
// Changing all axes at once takes a few solves but may go round in circles. If a few times in a row no fewer axes were wrong
// than at best, only the last wrong one is changed until they are fewer, which is sure to end (block principal
// pivoting; K is positive definite).
//
// Stops and velocities. A stop that is met takes the speed away within two steps of implicit Euler: in the first one x
// arrives (and x' is what that took), in the second one it stays. Formulas with history (BDF2, the second stage
// of SDIRK2) would extrapolate the speed from before and throw the axis back, by up to the full speed. So a step that meets a
// stop, and the one after it, is made by Euler, for all bodies: the blow goes through the joints (step.c). The same
// holds for a step that leaves a stop: bodies that the blow has compressed bounce off within a fraction of a step, and BDF2
// would make half as much again of that speed.

#include "cpu/axes.h"

#include <float.h>

#ifdef MABD_SINGLE
#define EPSILON FLT_EPSILON
#else
#define EPSILON DBL_EPSILON
#endif

// Of x + rho lambda, in units of round-off.
#define ROUND_OFF ((mabd_real)(64 * EPSILON))

static mabd_real larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

// How often all axes may change at once without fewer of them being wrong.
#define PATIENCE 3

// x at the end of the linear solve: x_ref + J dq, dq in the frames of the bodies.
static mabd_real linear_coordinate(const mabd_cpu_sim* sim, const mabd_model_joint* joint,
                                   const mabd_joint_view* ref, int32_t r) {
    const mabd_row* row = &sim->model->row_sets[joint->row_set].control_row[r];
    const mabd_vec3 gap = mabd_joint_gap(ref);
    mabd_real x = sim->x_ref[joint->coordinate + r] + sim->axes[joint->coordinate + r].remainder;
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? joint->b : joint->a;
        if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_mat3 R = is_b ? ref->Ab : ref->Aa;
        const mabd_affine q = mabd_affine_load(sim->q_new + 12 * (size_t)body);
        mabd_affine d;
        d.d1 = mabd_m3_tmul(R, mabd_v3_sub(q.d1, R.c1));
        d.d2 = mabd_m3_tmul(R, mabd_v3_sub(q.d2, R.c2));
        d.d3 = mabd_m3_tmul(R, mabd_v3_sub(q.d3, R.c3));
        d.tau = mabd_m3_tmul(R, mabd_v3_sub(q.tau, is_b ? ref->tb : ref->ta));
        x += mabd_affine_dot(mabd_row_jacobian(ref, row, gap, is_b), d);
    }
    return x;
}

// The piece that an axis should stand on after a solve that gave x and lambda. How far it was off the graph is
// returned, 0 if it stands right. From one stop to the other it goes by way of a piece between: contacts may hold the bodies so
// that the axis gives way far less than rho, and it would go from stop to stop forever.
static mabd_real find_piece(const mabd_axis_law* law, mabd_axis_state* axis, mabd_real x,
                            mabd_real lambda, mabd_real slack) {
    if (axis->solved) {
        axis->rho = mabd_axis_learn(axis->own, axis->rho, x - axis->x, lambda - axis->lambda);
    }
    axis->solved = true, axis->x = x, axis->lambda = lambda;
    const mabd_real z = x + axis->rho * lambda;
    axis->found = mabd_axis_find(law, axis->rho, z);
    const mabd_axis_line next = mabd_axis_row(law, axis->found);
    const mabd_real miss = (mabd_real)fabs(x - mabd_axis_point(&next, axis->rho, z));
    const mabd_real round_off = ROUND_OFF * (1 + (mabd_real)fabs(x) + (mabd_real)fabs(z));
    axis->moves = !(miss <= larger(slack, round_off));
    if (axis->piece.stop * axis->found.stop < 0) {
        const mabd_real low = mabd_axis_rising(law, axis->rho, law->lower, 1),
                        high = mabd_axis_rising(law, axis->rho, law->upper, -1);
        axis->found = mabd_axis_find(law, axis->rho, (low + high) / 2);
    }
    return axis->moves ? miss : 0;
}

static void look_at_joint(mabd_cpu_sim* sim, int32_t index, mabd_real slack,
                          mabd_switch_report* report) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t slot = sim->model->plan->joint_slot[index];
    mabd_real* lambda = sim->lambda + sim->model->plan->slot_row[slot] + set->rigid_count;
    mabd_real x_new[MABD_JOINT_MAX_ROWS];
    mabd_joint_view view, ref;
    mabd_vec3 phi;
    mabd_cpu_view(sim, joint, sim->q_new, &view);
    mabd_cpu_ref_view(sim, joint, &phi, &ref);
    mabd_joint_coordinates(&view, set->control_count, set->control_row,
                           sim->x_ref + joint->coordinate, x_new);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].law) continue;
        mabd_axis_state* axis = &sim->axes[joint->coordinate + r];
        const mabd_axis_law law = mabd_cpu_axis_law(sim, joint, r);
        const mabd_axis_line* line = &axis->line;
        const bool held = !line->flat && line->compliance == 0;
        const mabd_real opening = held ? (mabd_real)fabs(x_new[r] - line->x_star) : 0;
        if (line->flat) lambda[r] = line->lambda;
        const mabd_real x = line->flat ? linear_coordinate(sim, joint, &ref, r)
                                       : line->x_star + line->compliance * lambda[r];
        const mabd_real miss = find_piece(&law, axis, x, lambda[r], slack);
        report->changed += axis->moves;
        if (larger(miss, opening) > larger(report->miss, report->opening)) report->joint = index;
        report->miss = larger(report->miss, miss);
        report->opening = larger(report->opening, opening);
    }
}

// Move all axes that stand wrong, or the last one only.
static void move_axes(mabd_cpu_sim* sim, bool all) {
    const mabd_model* m = sim->model;
    for (int32_t i = m->joint_count - 1; i >= 0; i--) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; set->laws && r < set->control_count; r++) {
            mabd_axis_state* axis = &sim->axes[joint->coordinate + r];
            if (!set->control[r].law || !axis->moves) continue;
            const mabd_axis_law law = mabd_cpu_axis_law(sim, joint, r);
            axis->piece = axis->found;
            axis->line = mabd_axis_row(&law, axis->piece);
            if (!all) return;
        }
    }
}

mabd_switch_report mabd_cpu_switch(mabd_cpu_sim* sim, bool anew, mabd_real slack) {
    const mabd_model* m = sim->model;
    mabd_switch_report report = {0, 0, 0, -1};
    if (sim->sizes.axes == 0) return report;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->row_sets[m->joints[i].row_set].laws) look_at_joint(sim, i, slack, &report);
    }
    if (anew || report.changed < sim->fewest) {
        sim->fewest = report.changed;
        sim->patience = PATIENCE;
    } else if (sim->patience > 0) {
        sim->patience--;
    }
    move_axes(sim, sim->patience > 0);
    return report;
}

// ---- blows ----------------------------------------------------------------------------------------

// What is asked of an axis with stops: its coordinate is k, `span` and `least` are as given.
typedef bool stop_test(const mabd_cpu_sim* sim, const mabd_control* c, int32_t k, mabd_real span,
                       mabd_real least);

static bool any_stop(const mabd_cpu_sim* sim, stop_test* holds, mabd_real span, mabd_real least) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; sim->sizes.axes > 0 && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; set->laws && r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            if (c->limited && holds(sim, c, joint->coordinate + r, span, least)) return true;
        }
    }
    return false;
}

// An axis between its stops that would pass one within `span` of time, or at a stop that it still runs into.
static bool meets_stop(const mabd_cpu_sim* sim, const mabd_control* c, int32_t k, mabd_real span,
                       mabd_real least) {
    const mabd_real x = sim->x[k], way = span * sim->xd[k];
    const mabd_real below = c->lower - x, above = x - c->upper; // > 0: beyond
    if (way < -least && below - way > least) return true;
    return way > least && above + way > least;
}

bool mabd_cpu_meets_stop(const mabd_cpu_sim* sim, mabd_real h, mabd_real least) {
    return any_stop(sim, meets_stop, h, least);
}

static bool changed_stop(const mabd_cpu_sim* sim, const mabd_control* c, int32_t k, mabd_real span,
                         mabd_real least) {
    (void)span;
    const mabd_real x = sim->x[k];
    const mabd_axis_state* axis = &sim->axes[k];
    const bool held = fabs(x - c->lower) <= least || fabs(x - c->upper) <= least;
    return held != (axis->piece.stop != 0) && fabs(axis->x - x) > least;
}

bool mabd_cpu_changed_stop(const mabd_cpu_sim* sim, mabd_real least) {
    return any_stop(sim, changed_stop, 0, least);
}
