// SPDX-License-Identifier: Apache-2.0
// After a linear solve: the branch of its force law (joint/axis_law.h) for every axis.
//
// The solve used one branch of each law and gave (x, lambda): on a sloped branch both from the row,
// on a vertical one lambda at the place of the branch, on a flat one x from the bodies, as far as
// it is linear. The branch at x + rho lambda is used in the next solve, at the same reference:
// while branches change, bodies may fly far off, and all axes together are one linear
// complementarity problem, which has one solution. A point that is on the graph already, up to
// round-off, keeps its branch: at a corner both branches are right.
//
// Changing all axes at once takes a few solves but may cycle. If the number of wrong axes has not
// fallen below its least value MABD_AXIS_MAX_STALLS times in a row, only the last wrong axis
// changes until it has, which is sure to end (block principal pivoting; K is positive definite).
//
// Stops and velocities. A stop takes the speed away within two steps of implicit Euler: in the
// first one x arrives (and x' is the mean speed on the way), in the second one it stays. Formulas
// with history (BDF2, the second stage of SDIRK2) would extrapolate the speed from before and throw
// the axis back, by up to the full speed. So a step that meets a stop, and the step after it, use
// Euler for all bodies: the impact runs through the joints (step.c). The same holds for a step that
// leaves a stop: bodies that the impact has compressed bounce off within a fraction of a step, and
// BDF2 would add half of that speed again.

#include "formulation/affine/cpu/axes.h"

#include "formulation/affine/element/axis.h"
#include "formulation/affine/limits.h"

bool mabd_affine_moves_all_axes(mabd_affine_sim* sim, bool first, int32_t changed) {
    return mabd_axis_moves_all(&sim->stalls, first, changed);
}

mabd_affine_axis_report mabd_affine_update_axes(mabd_affine_sim* sim, bool first, mabd_real slack) {
    const mabd_model* m = sim->model;
    mabd_affine_axis_report report = {0, 0, 0, -1};
    if (sim->sizes.axes == 0) return report;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->row_sets[m->joints[i].row_set].laws)
            mabd_affine_stage_find_branch(sim, i, slack, &report);
    }
    const bool all = mabd_affine_moves_all_axes(sim, first, report.changed);
    for (int32_t i = m->joint_count - 1; i >= 0; i--) {
        if (mabd_affine_stage_move_axes(sim, i, all) && !all) break;
    }
    return report;
}

// ---- stops -------------------------------------------------------------------------------------

static bool any_stop(const mabd_affine_sim* sim, mabd_real span, mabd_real least) {
    for (int32_t i = 0; sim->sizes.axes > 0 && i < sim->model->joint_count; i++) {
        if (mabd_affine_stage_any_stop(sim, i, span, least)) return true;
    }
    return false;
}

bool mabd_affine_meets_stop(const mabd_affine_sim* sim, mabd_real h, mabd_real least) {
    return any_stop(sim, h, least);
}

bool mabd_affine_changed_stop(const mabd_affine_sim* sim, mabd_real least) {
    return any_stop(sim, 0, least);
}
