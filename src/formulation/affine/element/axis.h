// SPDX-License-Identifier: Apache-2.0
// Active set of one joint with force laws (affine/active_set.c).
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/element/rebound.h"
#include "formulation/affine/limits.h"
#include "rigid/axis_row.h"

// Stops with rebound. A step of implicit Euler that ends at the place x0 + w h leaves the axis with
// the speed w, so a stop that returns the part e of the speed of an impact stands there instead of
// at its own place, for this step. What else acts on the axis follows from the first linear solve,
// made without that stop: if it ends beyond the stop, at x, the axis is accelerated by
// a = ((x - x0)/h - x0')/h, and w is that of element/rebound.h. Other schemes treat stops as
// without rebound: a step that meets one is repeated by Euler (step.c).

/// Start the stops of control r of a joint in a solve.
MABD_FN void mabd_affine_rebound_start(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                       int32_t r) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const int32_t k = joint->coordinate + r;
    mabd_affine_axis_state* axis = &sim->axes[k];
    const mabd_real way = sim->step.lead * sim->xd[k];
    axis->rebound = 0, axis->rebound_waits = false;
    if (!(c->limit_restitution > 0) || sim->step.w1 != 0) return;
    if (!(fabs(way) > MABD_REBOUND_MIN_WAY)) return;
    axis->rebound = way < 0 ? -1 : 1;
    axis->rebound_waits = true;
}

/// Set the place of a stop that waits, after the first linear solve gave x.
MABD_FN void mabd_affine_rebound_place(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                       int32_t r, mabd_real x) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const int32_t k = joint->coordinate + r;
    mabd_affine_axis_state* axis = &sim->axes[k];
    const mabd_real stop = axis->rebound < 0 ? c->lower : c->upper, side = axis->rebound;
    const mabd_real h = sim->step.lead, x0 = sim->x[k], v = side * sim->xd[k];
    const mabd_real way = side * (x - x0), a = (way / h - v) / h;
    axis->rebound_waits = false;
    const mabd_real w =
        side * (x - stop) > 0
            ? mabd_affine_rebound(c->limit_restitution, v, side * (stop - x0), a > 0 ? a : 0, h)
            : 0;
    if (!(w > 0)) axis->rebound = 0;
    axis->rebound_at = x0 - side * h * w;
    if (side * (axis->rebound_at - stop) > 0) axis->rebound = 0;
}

// Move or remove the stop of an axis with rebound.
MABD_FN void mabd_affine_rebound_apply(const mabd_affine_axis_state* axis, mabd_axis_law* law) {
    if (axis->rebound == 0) return;
    if (axis->rebound < 0) {
        law->lower = axis->rebound_waits ? -(mabd_real)INFINITY : axis->rebound_at;
        if (law->upper < law->lower) law->lower = law->upper;
    } else {
        law->upper = axis->rebound_waits ? (mabd_real)INFINITY : axis->rebound_at;
        if (law->upper < law->lower) law->upper = law->lower;
    }
}

/// Build the force law of control r of a joint, without dampers and armature of damped rotations.
MABD_FN mabd_axis_law mabd_affine_axis_law(const mabd_affine_sim* sim,
                                           const mabd_model_joint* joint, int32_t r) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[r];
    const mabd_affine_control_value* value =
        sim->controls + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + r;
    const int32_t i = joint->coordinate + r;
    const mabd_real w = sim->step.w, w1 = sim->step.w1;
    const mabd_axis_past past = {sim->step.beta_h, w * sim->x[i] + w1 * sim->x1[i],
                                 w * sim->xd[i] + w1 * sim->xd1[i]};
    mabd_axis_law law =
        mabd_axis_law_of(c, mabd_affine_is_damped_turn(set, r), value->target, value->drive, &past);
    if (c->limit_restitution > 0) mabd_affine_rebound_apply(&sim->axes[i], &law);
    return law;
}

// The larger of two numbers; a NaN in b is ignored.
MABD_FN mabd_real mabd_affine_axis_larger(mabd_real a, mabd_real b) {
    return b > a ? b : a;
}

// Coordinate x after the linear solve: x_ref + J dq, dq in the frames of the bodies.
MABD_FN mabd_real mabd_affine_axis_coordinate(const mabd_affine_sim* sim,
                                              const mabd_model_joint* joint,
                                              const mabd_joint_view* ref, int32_t r) {
    const mabd_row* row = &sim->model->row_sets[joint->row_set].control_row[r];
    const mabd_vec3 gap = mabd_joint_gap(ref);
    mabd_real x = sim->x_ref[joint->coordinate + r] + sim->axes[joint->coordinate + r].remainder;
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? joint->b : joint->a;
        if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_mat3 R = is_b ? ref->Ab : ref->Aa;
        const mabd_vec12 q = mabd_vec12_load(sim->q_new + 12 * (size_t)body);
        mabd_vec12 d;
        d.d1 = mabd_m3_tmul(R, mabd_v3_sub(q.d1, R.c1));
        d.d2 = mabd_m3_tmul(R, mabd_v3_sub(q.d2, R.c2));
        d.d3 = mabd_m3_tmul(R, mabd_v3_sub(q.d3, R.c3));
        d.tau = mabd_m3_tmul(R, mabd_v3_sub(q.tau, is_b ? ref->tb : ref->ta));
        x += mabd_vec12_dot(mabd_affine_row_jacobian(ref, row, gap, is_b), d);
    }
    return x;
}

// True if control r of a joint holds its coordinate at *place in the current solve.
MABD_FN bool mabd_affine_axis_is_held(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                      int32_t r, mabd_real* place) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const mabd_axis_line* line = &sim->axes[joint->coordinate + r].search.line;
    if (!c->law) {
        *place = sim->controls[(size_t)joint->row_set * MABD_JOINT_MAX_ROWS + (size_t)r].target;
        return c->rigid;
    }
    *place = line->x_star;
    return !line->flat && line->compliance == 0;
}

// Coordinate and force of the law of control r of a damped rotation after a solve, without dampers
// and armature (element/turn_damper.h). lambda (controls): of the solve.
MABD_FN mabd_real mabd_affine_axis_damped(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                          const mabd_joint_view* ref, int32_t r,
                                          const mabd_real* lambda, mabd_real* force) {
    const int32_t first = sim->model->row_sets[joint->row_set].turn, row = r - first;
    const int32_t at = joint->coordinate + first;
    const mabd_real* S = sim->turn_damper + 3 * (size_t)at;
    const mabd_axis_line* line = &sim->axes[joint->coordinate + r].search.line;
    const int entry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; // of xx yy zz xy xz yz
    mabd_real x[3];
    for (int32_t k = 0; k < 3; k++) {
        if (!mabd_affine_axis_is_held(sim, joint, first + k, &x[k]))
            x[k] = mabd_affine_axis_coordinate(sim, joint, ref, first + k);
    }
    if (line->flat) {
        *force = line->lambda;
    } else if (line->compliance > 0) {
        *force = (x[row] - line->x_star) / line->compliance;
    } else {
        *force = lambda[r] - S[6 + row];
        for (int k = 0; k < 3; k++) *force -= S[entry[row][k]] * (x[k] - sim->x_ref[at + k]);
    }
    return x[row];
}

/// Find the branches for the axes of a joint with laws, and set the multipliers of flat branches.
MABD_FN void mabd_affine_stage_find_branch(mabd_affine_sim* sim, int32_t index, mabd_real slack,
                                           mabd_affine_axis_report* report) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t slot = sim->model->plan->joint_slot[index];
    mabd_real* lambda = sim->lambda + sim->model->plan->slot_row[slot] + set->rigid_count;
    mabd_real x_new[MABD_JOINT_MAX_ROWS];
    mabd_joint_view view, ref;
    mabd_vec3 phi;
    mabd_affine_view(sim, joint, sim->q_new, &view);
    mabd_affine_ref_view(sim, joint, &phi, &ref);
    mabd_joint_coordinates(&view, set->control_count, set->control_row,
                           sim->x_ref + joint->coordinate, x_new);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].law) continue;
        mabd_affine_axis_state* axis = &sim->axes[joint->coordinate + r];
        const mabd_axis_line* line = &axis->search.line;
        const bool held = !line->flat && line->compliance == 0;
        const mabd_real error = held ? (mabd_real)fabs(x_new[r] - line->x_star) : 0;
        mabd_real x, force;
        if (mabd_affine_is_damped_turn(set, r)) {
            x = mabd_affine_axis_damped(sim, joint, &ref, r, lambda, &force);
        } else {
            if (line->flat) lambda[r] = line->lambda;
            x = line->flat ? mabd_affine_axis_coordinate(sim, joint, &ref, r)
                           : line->x_star + line->compliance * lambda[r];
            force = lambda[r];
        }
        if (axis->rebound_waits) mabd_affine_rebound_place(sim, joint, r, x);
        const mabd_axis_law law = mabd_affine_axis_law(sim, joint, r);
        const mabd_real miss = mabd_axis_search_find(&law, &axis->search, x, force, slack);
        report->changed += axis->search.moves;
        if (mabd_affine_axis_larger(miss, error) >
            mabd_affine_axis_larger(report->miss, report->joint_error))
            report->joint = index;
        report->miss = mabd_affine_axis_larger(report->miss, miss);
        report->joint_error = mabd_affine_axis_larger(report->joint_error, error);
    }
}

/// Add a report to a sum; `more` is of later joints.
MABD_FN void mabd_affine_axis_report_add(mabd_affine_axis_report* sum,
                                         const mabd_affine_axis_report* more) {
    const mabd_real before = mabd_affine_axis_larger(sum->miss, sum->joint_error),
                    now = mabd_affine_axis_larger(more->miss, more->joint_error);
    if (now > before) sum->joint = more->joint;
    sum->changed += more->changed;
    sum->miss = mabd_affine_axis_larger(sum->miss, more->miss);
    sum->joint_error = mabd_affine_axis_larger(sum->joint_error, more->joint_error);
}

/// Change all axes of a joint that are on a wrong branch, or the first one only. True if there was
/// one.
MABD_FN bool mabd_affine_stage_move_axes(mabd_affine_sim* sim, int32_t index, bool all) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    bool moved = false;
    for (int32_t r = 0; set->laws && r < set->control_count && (all || !moved); r++) {
        mabd_affine_axis_state* axis = &sim->axes[joint->coordinate + r];
        if (!set->control[r].law || !axis->search.moves) continue;
        const mabd_axis_law law = mabd_affine_axis_law(sim, joint, r);
        mabd_axis_search_move(&law, &axis->search);
        moved = true;
    }
    return moved;
}

// ---- impacts at stops ----

// True if an axis has reached or left a stop in this solve.
MABD_FN bool mabd_affine_axis_changed(const mabd_affine_sim* sim, const mabd_control* c, int32_t k,
                                      mabd_real least) {
    const mabd_real x = sim->x[k];
    const mabd_axis_search* axis = &sim->axes[k].search;
    const bool held = fabs(x - c->lower) <= least || fabs(x - c->upper) <= least;
    return held != (axis->branch.stop != 0) && fabs(axis->x - x) > least;
}

/// True if some axis of a joint will meet a stop within `span` seconds (> 0), or has reached or
/// left one (span = 0).
MABD_FN bool mabd_affine_stage_any_stop(const mabd_affine_sim* sim, int32_t index, mabd_real span,
                                        mabd_real least) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    for (int32_t r = 0; set->laws && r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const int32_t k = joint->coordinate + r;
        if (!c->limited) continue;
        if (span > 0 ? mabd_axis_meets_stop(c, sim->x[k], span * sim->xd[k], least)
                     : mabd_affine_axis_changed(sim, c, k, least)) {
            return true;
        }
    }
    return false;
}
