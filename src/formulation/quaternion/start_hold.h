// SPDX-License-Identifier: Apache-2.0
// Axes whose coordinate or rate at the start is a parameter (start_hold.c).
#pragma once

#include "formulation/quaternion/tangent.h"

/// A held axis: a row beside those of the matrix.
typedef struct mabd_start_hold {
    int32_t parameter; // its number
    int32_t place;     // of its joint in sim->joints
    mabd_row row;
    mabd_real target;     // coordinate or rate [m], [rad], [m/s], [rad/s]
    mabd_real near;       // angles are those nearest to it [rad]
    mabd_real x, begin;   // coordinate at the pose, and before it is closed [m], [rad]
    mabd_real multiplier; // in the unit of F
    mabd_real f;          // tangent or bar of the row, or its right-hand side and solution
    mabd_rigid_row J;
} mabd_start_hold;

/// Held axes of one part in one of the two projections, with the workspace of their solves.
typedef struct mabd_start_holds {
    int32_t count;
    mabd_start_hold* hold;
    mabd_real *b, *y; // (unknowns of a part) right-hand side and solution of a projection
    mabd_real* Z;     // (count x unknowns of a part) K^-1 B, or K^-T B
    mabd_real* S;     // (count x count) B'Z, factored
    int32_t* pivot;   // (count) rows of S
} mabd_start_holds;

/// Lay out the arrays for all parts; closing: coordinates, else rates.
void mabd_start_lay_out_holds(const mabd_quaternion_gradient* g, bool closing,
                              mabd_start_holds* holds, mabd_arena* arena);
/// Take the held axes of part number `part` from the parameters and their values. MABD_ERR_INPUT
/// for an angle of more than half a turn.
mabd_status mabd_start_take_holds(const mabd_quaternion_gradient* g, bool closing, int32_t part,
                                  mabd_start_holds* holds, mabd_error* error);
/// Refuse a held axis that has no derivative. MABD_ERR_UNAVAILABLE.
mabd_status mabd_start_check_hold(const mabd_quaternion_sim* sim, const mabd_parameter* p,
                                  mabd_error* error);

/// Evaluate x and J of the held axes at sim->pose.
void mabd_start_hold_rows(const mabd_quaternion_solve* s, mabd_start_holds* holds);
/// Prepare solves with the factor of K of a point and its held axes, at their J. MABD_ERR_INPUT
/// names an axis that is not free.
mabd_status mabd_start_border(const mabd_quaternion_point* p, bool back, mabd_start_holds* holds,
                              mabd_error* error);
/// Solve with K and the held axes as mabd_tangent_solve does with K alone; `f` of each held axis
/// belongs to b, and gets its part of the solution.
void mabd_start_solve(const mabd_quaternion_point* p, bool back, mabd_start_holds* holds,
                      mabd_real* b, mabd_real* x);
