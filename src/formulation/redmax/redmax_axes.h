// SPDX-License-Identifier: Apache-2.0
// Force laws of axes (rigid/axis_row.h) in the solves of a part: stops, limited drives, dry
// friction, and rigid servos on rotation vectors.
#pragma once

#include "formulation/redmax/redmax_data.h"
#include "formulation/redmax/redmax_motion.h"

/// Write coordinate and rate (2) of a freedom at a node; those of a ball are a component of its
/// rotation vector and its rate (axes.c).
void mabd_redmax_axis_state(const mabd_redmax_sim* sim, const mabd_redmax_node* node,
                            int32_t freedom, mabd_real* x);
/// Begin a step with the branches of the state; where it has none, guess them from the coordinates
/// and rates of s->from_node.
void mabd_redmax_take_branches(const mabd_redmax_solve* s);
/// Set the histories of rotation vectors for a stage: x_b = now theta of s->from_node plus `rest`
/// times their rates in the last stage (rest 0: none), or with `last` the node of one step ago
/// (4 theta - last)/3.
void mabd_redmax_set_pasts(const mabd_redmax_solve* s, mabd_real rest,
                           const mabd_redmax_node* last);
/// Set the targets of drives at the time of the solve, and begin the search with the branches of
/// the last one.
void mabd_redmax_start_axes(const mabd_redmax_solve* s);
/// Write the residual of the rows that a solve closes into sim->rows, from sim->r.
void mabd_redmax_axes_rows(const mabd_redmax_solve* s);
/// Move axes to the branches that the increment sim->step is on. first: the first solve at this
/// iterate. Returns whether some axis was on a wrong one; *link gets its link. A solve that keeps
/// all of them updates the forces on held components of rotation vectors.
bool mabd_redmax_move_axes(const mabd_redmax_solve* s, bool first, int32_t* link);

/// The same with the forces on held axes known: sim->reaction is what the increment adds to them.
bool mabd_redmax_move_axes_by(const mabd_redmax_solve* s, bool first, int32_t* link);
/// Put the axes of a part to where laws (over all parts) that a solve ended with have them.
void mabd_redmax_restore_laws(const mabd_redmax_solve* s, const mabd_redmax_law* from);

/// Reverse the dry friction of axes that slip against it after the increment sim->step; false if
/// none does. An axis that a contact moves, however little, does not stick.
bool mabd_redmax_reverse_slips(const mabd_redmax_solve* s);

/// True if an axis of a part will pass a stop within the step, or moves into the one it is at.
bool mabd_redmax_meets_stop(const mabd_redmax_sim* sim, const mabd_redmax_part* part);
/// True if the force or rate of some axis jumps between the branch of the state and that of the
/// last solve.
bool mabd_redmax_changed_branch(const mabd_redmax_solve* s);
/// True if a step whose branches before it are not known sets a rate: that of a drive or rigid
/// servo without limit, which the state does not have.
bool mabd_redmax_starts_drive(const mabd_redmax_solve* s);
/// True if the step from sim->last to sim->now ended a rate of a law into its stop.
bool mabd_redmax_stop_ends(const mabd_redmax_sim* sim, int32_t law);
/// Keep the branches of a step that succeeded.
void mabd_redmax_keep_branches(mabd_redmax_sim* sim);
/// Take the rates across stops and unlimited drives away by impulses: the rates of `node`, at the
/// time of s, after an impact without rebound. sim->step gets their changes, freedoms and laws say
/// which axes are held, and its part the work that stops take. False: the rates stay.
bool mabd_redmax_take_impacts(const mabd_redmax_solve* s, mabd_redmax_node* node);
/// Power of drives without limit at the end of the last solve [W].
mabd_real mabd_redmax_law_power(const mabd_redmax_solve* s);
/// Bound of the work of limited drives from s->from_node to `to` [J].
mabd_real mabd_redmax_drive_work(const mabd_redmax_solve* s, const mabd_redmax_node* to);

// ---- for derivatives ---------------------------------------------------------------------------

/// Put the laws of a part on branches (laws) of a stage that was solved before; forces on held
/// components of rotation vectors are zero.
void mabd_redmax_set_branches(const mabd_redmax_solve* s, const mabd_axis_branch* branch);
/// Copy the branches that the laws of a part are on to an array (laws).
void mabd_redmax_copy_branches(const mabd_redmax_solve* s, mabd_axis_branch* to);
/// Begin the next search of a part with branches of an array (laws).
void mabd_redmax_reset_branches(const mabd_redmax_solve* s, const mabd_axis_branch* from);
/// Find the forces on held components of rotation vectors from the residual at a solution.
void mabd_redmax_find_forces(const mabd_redmax_solve* s);
/// True if the law of an axis has changed its branch since the step before, or is where two meet,
/// after a solve.
bool mabd_redmax_axes_kinked(const mabd_redmax_solve* s);

/// What the branch of a law changes: the coordinate of a held axis, or else the force on it.
typedef struct mabd_redmax_law_change {
    bool held;
    mabd_real by_target; // by the target of its drive
    mabd_real by_past;   // by the history x_b of its coordinate
} mabd_redmax_law_change;
/// Return what the current branch of a law changes in a stage.
mabd_redmax_law_change mabd_redmax_law_change_of(const mabd_redmax_solve* s,
                                                 const mabd_redmax_law* law);
/// Side of the dry friction of a freedom on the current branch of its law: -1, 0, 1; the force is
/// minus it times the friction.
mabd_real mabd_redmax_friction_side(const mabd_redmax_sim* sim, int32_t freedom);
/// Share of the target of this step in that of a drive at the time of a stage; *last: of the target
/// of the step before. Both 0 without a target from outside.
mabd_real mabd_redmax_target_share(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                                   mabd_real* last);
/// True if the rate that a held axis takes in an impact is the target of its drive.
bool mabd_redmax_blocked_rate(const mabd_redmax_solve* s, const mabd_redmax_law* law);
