// SPDX-License-Identifier: Apache-2.0
// Force laws of axes (rigid/axis_row.h) in the solves of a part: stops, limited drives, dry
// friction.
#pragma once

#include "formulation/quaternion/solve.h"

/// Note which parts have axes with laws.
void mabd_quaternion_mark_laws(mabd_quaternion_sim* sim);

/// Return the force on control k (a coordinate) from outside its bodies at coordinate x and rate,
/// without armature, on the current branch of its law [N] or [N m]. *held: its row holds x, and
/// *bend gets x''.
mabd_real mabd_quaternion_control_force(const mabd_quaternion_solve* s, const mabd_control* c,
                                        int32_t k, mabd_real x, mabd_real rate, bool* held,
                                        mabd_real* bend);

/// Axis of the joint that the row of a control is on.
MABD_FN mabd_axis mabd_quaternion_axis_of(const mabd_row* row) {
    return (mabd_axis)(row->kind == MABD_ROW_SLIDE ? row->axis : MABD_AXIS_RX + row->axis);
}
/// Force of servo and rate drive on the coordinate of a control [N] or [N m], and its derivatives.
typedef struct mabd_quaternion_effort {
    mabd_real force;
    mabd_real by_lambda, by_x, by_rate, by_target;
    mabd_real by_spring, by_rest, by_damping, by_friction; // parameters of the axis
} mabd_quaternion_effort;
/// Return the force of servo and rate drive of control r of a joint at the state, whose target is
/// in sim->input and whose multiplier is lambda. What holds an axis exerts all that its row does
/// besides spring, damper and friction of the axis; the part that accelerates the armature is not
/// in it.
mabd_quaternion_effort mabd_quaternion_effort_of(const mabd_quaternion_sim* sim, int32_t joint,
                                                 int32_t r, mabd_real lambda);

/// True if a row of unlimited force determines the rate of control k: a stop (branch `found`), a
/// rigid servo or a drive without limit. *to gets the rate [m/s] or [rad/s].
bool mabd_quaternion_is_held(const mabd_quaternion_solve* s, const mabd_control* c, int32_t k,
                             mabd_real* to);

/// Turn the coordinate *C of an axis with a law into the value and compliance of its row on the
/// current branch. True if the branch is flat: the row must not move the bodies.
bool mabd_quaternion_law_row(const mabd_quaternion_sim* sim, int32_t k, mabd_real* C,
                             mabd_real* compliance);

/// Take the branches of the state, for a step or for accelerations at `node`; where it has none,
/// guess them from the coordinates and rates there.
void mabd_quaternion_take_branches(const mabd_quaternion_solve* s,
                                   const mabd_quaternion_node* node);
/// Write the branches of the last solve as those that were found, for impacts.
void mabd_quaternion_begin_impacts(const mabd_quaternion_solve* s);
/// Begin the search of a solve with the branches at sim->pose and the forces sim->multiplier.
void mabd_quaternion_start_axes(const mabd_quaternion_solve* s);
/// Move axes to the branches that the solution sim->y of a linear solve is on. first: the first one
/// at this pose. Returns whether some axis was on a wrong one; *joint gets its joint.
bool mabd_quaternion_move_axes(const mabd_quaternion_solve* s, bool first, int32_t* joint);
/// True if every axis of the last evaluated iterate is on its graph, up to the tolerance; else
/// *joint gets the joint of one that is not.
bool mabd_quaternion_axes_settled(const mabd_quaternion_solve* s, const mabd_real* multiplier,
                                  int32_t* joint);

/// True if an axis of a part will pass a stop within the step, or moves into the one it is at.
bool mabd_quaternion_meets_stop(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part);
/// True if the force or rate of some axis jumps between the branch of the state and that of the
/// last solve.
bool mabd_quaternion_changed_branch(const mabd_quaternion_solve* s);
/// True if the last solve of a part ended with an axis on another branch than that of the state, or
/// where two branches meet: its derivatives are those of one side.
bool mabd_quaternion_axes_kinked(const mabd_quaternion_solve* s);
/// Copy the branches of the last solve of a part to an array (coordinates).
void mabd_quaternion_copy_branches(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                   mabd_axis_branch* to);
/// Put the axes of a part on given branches (coordinates), with the past and the inputs of a solve
/// and at sim->pose: rows of sim->axes.
void mabd_quaternion_set_branches(const mabd_quaternion_solve* s, const mabd_axis_branch* from);
/// Keep the branches of a step that succeeded.
void mabd_quaternion_keep_branches(mabd_quaternion_sim* sim);
