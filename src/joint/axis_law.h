// SPDX-License-Identifier: Apache-2.0
// The force law of one joint axis: springs and dampers, a drive with a force limit, friction and
// stops, as one graph of the multiplier lambda over the coordinate x at the end of an implicit
// step.
//
// With x' = (x - x_b)/bh and x'' = (x' - x'_b)/bh each part is a function of x alone:
//
//   line      slope x - level                    spring, damper, armature:
//                                                slope = k + d/bh + I/bh^2
//   box       clamp((x - at)/c, -most, most)     c > 0: servo with gains, c = 1/(kp + kd/bh)
//                                                c = 0: any value between -most and most at x = at:
//                                                  rigid servo      at = target
//                                                  rate x' = v      at = x_b + bh v
//                                                  friction, x' = 0 at = x_b
//   stops     (-inf, 0] at x = lower, 0 between, [0, inf) at x = upper
//
// (the force on x is -lambda). Each part is non-decreasing in x, and so is their sum:
//
//   lambda          |  |                Piecewise linear, with vertical branches. On each branch
//                   | /|                  sloped     lambda = (x - x_star)/c     a compliant row
//                __ |/ |                  vertical   x = x_star                  a rigid row, c = 0
//               |   '                     flat       lambda is given             no row: a force
//           ____|                       A row of the dual system serves them all, one at a time.
//          |        friction   upper
//
// The rest of the system meets the axis as a falling line, x = e - w lambda with w > 0, which
// intersects a maximal monotone graph in exactly one point. Any point of the line determines the
// branch of the intersection: for rho > 0 the map x + rho lambda rises strictly along the graph and
// is onto, so z = x + rho lambda of the solution of a linear solve identifies one point of the
// graph (its resolvent). If rho = w, this point is the solution. For another rho, "solve on the
// branch, take the branch of z" is a semismooth Newton method on x = resolvent(x + rho lambda). It
// moves in the right direction, but too far from flat branches if rho < w and from vertical ones if
// rho > w, and could cycle. Two solves of one axis give w = -dx/dlambda, which replaces rho as soon
// as it is known. The first rho is the compliance of the free coordinate, J H^-1 J', an upper bound
// of w: all other constraints only stiffen the bodies. The search has converged when the point
// found lies on the graph.
//
// The spring of a held axis needs no row of its own: lambda of a vertical branch is the sum of all
// parts.
#pragma once

#include "math/shared.h"

#include <math.h>

#define MABD_AXIS_BOXES 2

/// clamp((x - at)/compliance, -most, most)
typedef struct mabd_axis_box {
    mabd_real at;         // coordinate of zero force [m] or [rad]
    mabd_real compliance; // [m/N] or [rad/(N m)], 0 = vertical
    mabd_real most;       // [N] or [N m], 0 = no box; may be infinite if vertical
} mabd_axis_box;

typedef struct mabd_axis_law {
    mabd_real slope, level; // of the line; slope >= 0
    mabd_real lower, upper; // lower <= upper, infinite = no stop
    mabd_axis_box box[MABD_AXIS_BOXES];
} mabd_axis_law;

/// Branch of the graph: at a stop or between stops; below, inside or above each box.
typedef struct mabd_axis_branch {
    int8_t stop;                 // -1 at lower, 0 between, 1 at upper
    int8_t box[MABD_AXIS_BOXES]; // -1, 0, 1
} mabd_axis_branch;

/// The row of a branch.
typedef struct mabd_axis_line {
    bool flat;            // lambda = `lambda` for any x
    mabd_real compliance; // else lambda = (x - x_star)/compliance; 0: x = x_star
    mabd_real x_star;
    mabd_real lambda;
} mabd_axis_line;

// Compute the one-sided limit of a box at x: from the left (side -1) or the right (1).
MABD_FN mabd_real mabd_axis_box_limit(const mabd_axis_box* box, mabd_real x, int side) {
    if (box->compliance > 0) {
        const mabd_real force = (x - box->at) / box->compliance;
        return force > box->most ? box->most : force < -box->most ? -box->most : force;
    }
    if (x == box->at) return side < 0 ? -box->most : box->most;
    return x < box->at ? -box->most : box->most;
}

/// Compute x + rho lambda at x without stops; lambda is the limit from the left (side -1) or right
/// (1).
MABD_FN mabd_real mabd_axis_rising(const mabd_axis_law* law, mabd_real rho, mabd_real x, int side) {
    mabd_real lambda = law->slope * x - law->level;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        if (law->box[i].most > 0) lambda += mabd_axis_box_limit(&law->box[i], x, side);
    }
    return x + rho * lambda;
}

/// Find the branch on which x + rho lambda = z. rho > 0 [m/N] or [rad/(N m)].
MABD_FN mabd_axis_branch mabd_axis_find(const mabd_axis_law* law, mabd_real rho, mabd_real z) {
    mabd_axis_branch branch = {0, {0, 0}};
    if (law->lower > -(mabd_real)INFINITY && z <= mabd_axis_rising(law, rho, law->lower, 1)) {
        branch.stop = -1;
        return branch;
    }
    if (law->upper < (mabd_real)INFINITY && z >= mabd_axis_rising(law, rho, law->upper, -1)) {
        branch.stop = 1;
        return branch;
    }
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        const mabd_axis_box* box = &law->box[i];
        if (!(box->most > 0) || box->most == (mabd_real)INFINITY) continue;
        const mabd_real reach = box->compliance * box->most;
        if (z < mabd_axis_rising(law, rho, box->at - reach, -1)) branch.box[i] = -1;
        if (z > mabd_axis_rising(law, rho, box->at + reach, 1)) branch.box[i] = 1;
    }
    return branch;
}

/// Return the row of a branch.
MABD_FN mabd_axis_line mabd_axis_row(const mabd_axis_law* law, mabd_axis_branch branch) {
    mabd_axis_line line = {false, 0, branch.stop < 0 ? law->lower : law->upper, 0};
    mabd_real slope = law->slope, level = law->level;
    if (branch.stop != 0) return line;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        const mabd_axis_box* box = &law->box[i];
        if (!(box->most > 0)) continue;
        if (branch.box[i] != 0) {
            level -= branch.box[i] * box->most;
        } else if (box->compliance > 0) {
            slope += 1 / box->compliance;
            level += box->at / box->compliance;
        } else {
            line.x_star = box->at;
            return line;
        }
    }
    line.flat = !(slope > 0);
    line.lambda = -level;
    if (line.flat) return line;
    line.compliance = 1 / slope;
    line.x_star = level / slope;
    return line;
}

/// Return the coordinate x of the point of a row with x + rho lambda = z.
MABD_FN mabd_real mabd_axis_point(const mabd_axis_line* line, mabd_real rho, mabd_real z) {
    if (line->flat) return z - rho * line->lambda;
    return (line->compliance * z + rho * line->x_star) / (line->compliance + rho);
}

/// Estimate w of an axis from two solves of it that differ by dx and dlambda. `own` is the
/// compliance of the free coordinate. The estimate is clamped to [1e-5 own, own], since other axes
/// may have changed too (contacts hold a body to 1e-3). Returns `rho` if the two solves give no
/// estimate.
MABD_FN mabd_real mabd_axis_learn(mabd_real own, mabd_real rho, mabd_real dx, mabd_real dlambda) {
    if (!(dx * dlambda < 0)) return rho;
    const mabd_real w = -dx / dlambda, least = own / 100000;
    return w < least ? least : w > own ? own : w;
}
