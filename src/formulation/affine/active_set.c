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

#include "formulation/affine/element/axis.h"
#include "formulation/affine/limits.h"

bool mabd_affine_active_set_moves_all(mabd_affine_sim* sim, bool anew, int32_t changed) {
    if (anew || changed < sim->fewest) {
        sim->fewest = changed;
        sim->patience = MABD_ACTIVE_SET_MAX_STALLS;
    } else if (sim->patience > 0) {
        sim->patience--;
    }
    return sim->patience > 0;
}

mabd_affine_axis_report mabd_affine_update_active_set(mabd_affine_sim* sim, bool anew,
                                                      mabd_real slack) {
    const mabd_model* m = sim->model;
    mabd_affine_axis_report report = {0, 0, 0, -1};
    if (sim->sizes.axes == 0) return report;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->row_sets[m->joints[i].row_set].laws)
            mabd_affine_stage_find_branch(sim, i, slack, &report);
    }
    const bool all = mabd_affine_active_set_moves_all(sim, anew, report.changed);
    for (int32_t i = m->joint_count - 1; i >= 0; i--) {
        if (mabd_affine_stage_move_axes(sim, i, all) && !all) break;
    }
    return report;
}

// ---- blows ----------------------------------------------------------------------------------------

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
