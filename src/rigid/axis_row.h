// SPDX-License-Identifier: Apache-2.0
// The force law of a controlled axis (joint/axis_law.h) as a row of an implicit solve, and the
// search for the branch that the solution is on.
//
// A solve of length bh has x' = (x - x_b)/bh and x'' = (x' - x'_b)/bh of the history b, so that all
// that acts on the axis is one graph of x. A solve uses one branch of it and gives (x, lambda); the
// branch at x + rho lambda is used in the next one, until the point is on the graph.
//
// Signs: a law has the force -lambda on x. Rows of rigid bodies have +lambda (row_jacobian.h); the
// functions with `force` in their name take and give that one, so the sign changes here and nowhere
// else. As a row C + c lambda = 0 of rigid bodies a branch is
//
//   sloped     C = x - x_star,  c > 0
//   vertical   C = x - x_star,  c = 0
//   flat       lambda = force, whatever x is
#pragma once

#include "joint/axis_law.h"
#include "model/model_data.h"

#include <float.h>

/// Times in a row that all axes may change branch without fewer of them being wrong. Then one axis
/// changes at a time, which is sure to end (block principal pivoting).
#define MABD_AXIS_MAX_STALLS 3
/// Distance from the graph of the law that counts as round-off, relative to 1 + |x| + |x + rho
/// lambda|: a few tens of operations.
#ifdef MABD_SINGLE
#define MABD_AXIS_ROUND_OFF ((mabd_real)(64 * FLT_EPSILON))
#else
#define MABD_AXIS_ROUND_OFF ((mabd_real)(64 * DBL_EPSILON))
#endif

// ---- the law -----------------------------------------------------------------------------------

/// History of a coordinate in a solve of length bh: x_b and x'_b of the file head.
typedef struct mabd_axis_past {
    mabd_real bh; // [s]
    mabd_real x, rate;
} mabd_axis_past;

/// Build the force law of a control in one solve. base: k rest + kp target of a servo without limit
/// [N] or [N m]; drive: target of its limited drive, a coordinate or a rate. turns: dampers and
/// armature act elsewhere, on a relative angular velocity.
MABD_FN mabd_axis_law mabd_axis_law_of(const mabd_control* c, bool turns, mabd_real base,
                                       mabd_real drive, const mabd_axis_past* past) {
    const mabd_real bh = past->bh, rate = 1 / bh, x_b = past->x, xd_b = past->rate;
    mabd_axis_law law;
    law.slope = c->stiffness, law.level = base;
    if (!turns) {
        law.slope += rate * (c->damping + rate * c->armature);
        law.level += rate * (c->damping * x_b + c->armature * (rate * x_b + xd_b));
    }
    law.lower = c->lower, law.upper = c->upper;

    mabd_axis_box *driven = &law.box[0], *friction = &law.box[1];
    const mabd_real k = c->drive_gain + rate * c->drive_damping;
    driven->most = c->max_force;
    driven->compliance = k > 0 ? 1 / k : 0;
    driven->at = c->drive_rate ? x_b + bh * drive : drive;
    // kp (target - x) = kd (x - x_b)/bh
    if (k > 0) driven->at = (c->drive_gain * drive + rate * c->drive_damping * x_b) / k;
    friction->most = c->friction;
    friction->compliance = 0;
    friction->at = x_b;
    return law;
}

/// True if the target of a control is a coordinate that the axis takes exactly: a rigid servo, with
/// or without a limit.
MABD_FN bool mabd_axis_is_position(const mabd_control* c) {
    return c->rigid || (c->drive && !c->drive_rate && c->drive_gain == 0 && c->drive_damping == 0);
}

/// True if the force or the rate of an axis jumps where it goes from one branch to the next: it
/// arrives at a stop, at a box without compliance (it sticks, a drive reaches its target), or
/// passes such a box. A history that reaches over a jump is none. To leave a stop, to slip and to
/// give way are no jumps: the force is that of the end of the branch.
MABD_FN bool mabd_axis_jumps_between(const mabd_axis_law* law, mabd_axis_branch from,
                                     mabd_axis_branch to) {
    bool jumps = to.stop != 0 && from.stop != to.stop;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        const bool leaves = from.box[i] == 0;
        jumps |= !(law->box[i].compliance > 0) && from.box[i] != to.box[i] && !leaves;
    }
    return jumps;
}

/// True if an axis between its stops would pass one on its way, or still moves into the stop it is
/// at. least: displacement that counts [m] or [rad].
MABD_FN bool mabd_axis_meets_stop(const mabd_control* c, mabd_real x, mabd_real displacement,
                                  mabd_real least) {
    const mabd_real below = c->lower - x, above = x - c->upper; // > 0: beyond
    if (displacement < -least && below - displacement > least) return true;
    return displacement > least && above + displacement > least;
}

// ---- the search for its branch -----------------------------------------------------------------

/// The branch of an axis in the solves at one reference and the next ones.
typedef struct mabd_axis_search {
    mabd_real own;       // compliance of the single coordinate, an upper bound of w
    mabd_real rho;       // estimate of w (joint/axis_law.h)
    mabd_real x, lambda; // of the last solve
    mabd_axis_line line; // row of the branch
    mabd_axis_branch branch;
    mabd_axis_branch found; // branch that the last solve is on, if it moves
    bool solved;            // false until the first solve
    bool moves;             // the last solve is on another branch
} mabd_axis_search;

/// Start with a branch. own: compliance of the single coordinate [m/N] or [rad/(N m)].
MABD_FN void mabd_axis_search_start(const mabd_axis_law* law, mabd_real own,
                                    mabd_axis_branch branch, mabd_axis_search* axis) {
    axis->own = axis->rho = own;
    axis->solved = axis->moves = false;
    axis->branch = branch;
    axis->line = mabd_axis_row(law, branch);
}

/// Find the branch for the next solve of an axis after a solve that gave x and lambda. Returns the
/// distance from the graph [m] or [rad], 0 if the current branch is right. slack: distance that is
/// no error, besides round-off. A change from one stop to the other passes through a branch between
/// them: contacts may hold the bodies so that the axis yields far less than rho, and it would
/// alternate between the stops forever.
MABD_FN mabd_real mabd_axis_search_find(const mabd_axis_law* law, mabd_axis_search* axis,
                                        mabd_real x, mabd_real lambda, mabd_real slack) {
    if (axis->solved) {
        axis->rho = mabd_axis_learn(axis->own, axis->rho, x - axis->x, lambda - axis->lambda);
    }
    axis->solved = true, axis->x = x, axis->lambda = lambda;
    const mabd_real z = x + axis->rho * lambda;
    axis->found = mabd_axis_find(law, axis->rho, z);
    const mabd_axis_line next = mabd_axis_row(law, axis->found);
    const mabd_real miss = (mabd_real)fabs(x - mabd_axis_point(&next, axis->rho, z));
    const mabd_real round_off = MABD_AXIS_ROUND_OFF * (1 + (mabd_real)fabs(x) + (mabd_real)fabs(z));
    axis->moves = !(miss <= (round_off > slack ? round_off : slack));
    if (axis->branch.stop * axis->found.stop < 0) {
        const mabd_real low = mabd_axis_rising(law, axis->rho, law->lower, 1),
                        high = mabd_axis_rising(law, axis->rho, law->upper, -1);
        axis->found = mabd_axis_find(law, axis->rho, (low + high) / 2);
    }
    return axis->moves ? miss : 0;
}

/// Use the branch that was found in the next solve.
MABD_FN void mabd_axis_search_move(const mabd_axis_law* law, mabd_axis_search* axis) {
    axis->branch = axis->found;
    axis->line = mabd_axis_row(law, axis->branch);
}

/// Return the force of the branch on x if it is flat.
MABD_FN mabd_real mabd_axis_flat_force(const mabd_axis_search* axis) {
    return -axis->line.lambda;
}

/// Return the branch near x with the force of the row on it.
MABD_FN mabd_axis_branch mabd_axis_find_by_force(const mabd_axis_law* law, mabd_real rho,
                                                 mabd_real x, mabd_real force) {
    return mabd_axis_find(law, rho, x - rho * force);
}

/// True if the point (x, force) of an axis is where two branches of its law meet. least:
/// displacement that counts [m] or [rad].
MABD_FN bool mabd_axis_is_edge(const mabd_axis_law* law, mabd_real rho, mabd_real x,
                               mabd_real force, mabd_real least) {
    const mabd_axis_branch below = mabd_axis_find_by_force(law, rho, x - least, force);
    const mabd_axis_branch above = mabd_axis_find_by_force(law, rho, x + least, force);
    bool edge = below.stop != above.stop;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) edge |= below.box[i] != above.box[i];
    return edge;
}

/// mabd_axis_search_find with the force of the row on x.
MABD_FN mabd_real mabd_axis_search_by_force(const mabd_axis_law* law, mabd_axis_search* axis,
                                            mabd_real x, mabd_real force, mabd_real slack) {
    return mabd_axis_search_find(law, axis, x, -force, slack);
}

/// Counts that keep the search of many axes from cycling.
typedef struct mabd_axis_stalls {
    int32_t fewest; // wrong axes
    int32_t left;   // changes of all axes that may still bring no progress
} mabd_axis_stalls;

/// Return whether all wrong axes change branch after a solve, or one only. first: the first solve
/// at a reference; changed: wrong axes.
MABD_FN bool mabd_axis_moves_all(mabd_axis_stalls* stalls, bool first, int32_t changed) {
    if (first || changed < stalls->fewest) {
        stalls->fewest = changed;
        stalls->left = MABD_AXIS_MAX_STALLS;
    } else if (stalls->left > 0) {
        stalls->left--;
    }
    return stalls->left > 0;
}
