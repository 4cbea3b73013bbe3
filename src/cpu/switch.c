// SPDX-License-Identifier: Apache-2.0
// Switch: after a linear solve, which piece of its force law (joint/axis_law.h) every axis stands on.
//
// The solve was made on one piece of each law and gave (x, lambda): on a sloped piece both from the row, on a
// vertical one lambda at the place of the piece, on a flat one x as the bodies have it. The piece of x + rho lambda is
// taken for the next solve. A point that is on the graph already, but for round-off, keeps its piece: at a corner both
// pieces are right.
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

// One axis after the solve; x_new is its coordinate at the bodies. How far it was off the graph is returned.
static mabd_real switch_axis(const mabd_axis_law* law, mabd_axis_state* axis, mabd_real x_new,
                             mabd_real* lambda, bool* changed) {
    const mabd_axis_line line = axis->line;
    if (line.flat) *lambda = line.lambda;
    const mabd_real x = line.flat ? x_new : line.x_star + line.compliance * *lambda;
    if (axis->solved) {
        axis->rho = mabd_axis_learn(axis->own, axis->rho, x - axis->x, *lambda - axis->lambda);
    }
    axis->solved = true, axis->x = x, axis->lambda = *lambda;
    const mabd_real z = x + axis->rho * *lambda;
    const mabd_axis_piece piece = mabd_axis_find(law, axis->rho, z);
    const mabd_axis_line next = mabd_axis_row(law, piece);
    const mabd_real miss = (mabd_real)fabs(x - mabd_axis_point(&next, axis->rho, z));
    *changed = !(miss <= ROUND_OFF * (1 + (mabd_real)fabs(x) + (mabd_real)fabs(z)));
    if (!*changed) return 0;
    axis->piece = piece;
    axis->line = next;
    return miss;
}

static void switch_joint(mabd_cpu_sim* sim, int32_t index, mabd_switch_report* report) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t slot = sim->model->plan->joint_slot[index];
    mabd_real* lambda = sim->lambda + sim->model->plan->slot_row[slot] + set->rigid_count;
    mabd_real x[MABD_JOINT_MAX_ROWS];
    mabd_joint_view view;
    mabd_cpu_view(sim, joint, sim->q_new, &view);
    mabd_joint_coordinates(&view, set->control_count, set->control_row,
                           sim->x_ref + joint->coordinate, x);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].law) continue;
        mabd_axis_state* axis = &sim->axes[joint->coordinate + r];
        const mabd_axis_law law = mabd_cpu_axis_law(sim, joint, r);
        const bool held = !axis->line.flat && axis->line.compliance == 0;
        const mabd_real opening = held ? (mabd_real)fabs(x[r] - axis->line.x_star) : 0;
        bool changed;
        const mabd_real miss = switch_axis(&law, axis, x[r], &lambda[r], &changed);
        report->changed += changed;
        if (larger(miss, opening) > larger(report->miss, report->opening)) report->joint = index;
        report->miss = larger(report->miss, miss);
        report->opening = larger(report->opening, opening);
    }
}

mabd_switch_report mabd_cpu_switch(mabd_cpu_sim* sim) {
    const mabd_model* m = sim->model;
    mabd_switch_report report = {0, 0, 0, -1};
    if (sim->sizes.axes == 0) return report;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->row_sets[m->joints[i].row_set].laws) switch_joint(sim, i, &report);
    }
    return report;
}

// ---- blows ----------------------------------------------------------------------------------------

// An axis between its stops that would pass one within h, or at a stop that it still runs into.
static bool meets_stop(const mabd_control* c, mabd_real x, mabd_real way, mabd_real least) {
    const mabd_real below = c->lower - x, above = x - c->upper; // > 0: beyond
    if (way < -least && below - way > least) return true;
    return way > least && above + way > least;
}

bool mabd_cpu_meets_stop(const mabd_cpu_sim* sim, mabd_real h, mabd_real least) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; sim->sizes.axes > 0 && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; set->laws && r < set->control_count; r++) {
            const int32_t k = joint->coordinate + r;
            const mabd_control* c = &set->control[r];
            if (c->limited && meets_stop(c, sim->x[k], h * sim->xd[k], least)) return true;
        }
    }
    return false;
}

static bool changed_stop(const mabd_control* c, mabd_real x, const mabd_axis_state* axis,
                         mabd_real least) {
    const bool held = fabs(x - c->lower) <= least || fabs(x - c->upper) <= least;
    return held != (axis->piece.stop != 0) && fabs(axis->x - x) > least;
}

bool mabd_cpu_changed_stop(const mabd_cpu_sim* sim, mabd_real least) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; sim->sizes.axes > 0 && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; set->laws && r < set->control_count; r++) {
            const int32_t k = joint->coordinate + r;
            const mabd_control* c = &set->control[r];
            if (c->limited && changed_stop(c, sim->x[k], &sim->axes[k], least)) return true;
        }
    }
    return false;
}
