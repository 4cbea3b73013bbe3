// SPDX-License-Identifier: Apache-2.0
// The tape: what derivatives need of each state of a run (tape.c).
#pragma once

#include "formulation/quaternion/tangent.h"

/// One record: a state, and how the step to it was taken. Pointers into the bytes of the record.
typedef struct mabd_quaternion_record {
    mabd_quaternion_node node;      // the state
    bool* dropped;                  // (rows) left out of the step as redundant; null = no row is
    mabd_real* lambda;              // (rows) of the last solve
    mabd_quaternion_node stage;     // first of two solves; null if the integrator has one
    mabd_real* stage_lambda;        // (rows) its multipliers
    mabd_real* target;              // (coordinates + motors) set from outside during the step
    bool* target_set;               // (coordinates + motors)
    mabd_axis_branch* branch;       // (coordinates) of the last solve; null without laws of axes
    mabd_axis_branch* stage_branch; // (coordinates) of the first of two solves
    bool* has_branches;             // (1) false at the start of a run
    mabd_real* applied;             // (bodies x 6) forces of the step; null without parameters
    mabd_quaternion_taken* taken;   // (parts)
} mabd_quaternion_record;

/// Return the pointers into the bytes of a record; null: all pointers are null.
mabd_quaternion_record mabd_quaternion_record_at(const mabd_quaternion_gradient* g,
                                                 const void* bytes);

/// State of the simulation that a record replaces while derivatives are taken.
typedef struct mabd_quaternion_saved {
    mabd_quaternion_node now;
    mabd_real* lambda;
    mabd_rigid_inputs inputs;
    mabd_axis_branch* branch;
    bool* dropped;
    bool has_branches;
    mabd_real time;
} mabd_quaternion_saved;

/// Make the simulation see the step from record `before` to `after`, which begins at `time` [s].
mabd_quaternion_saved mabd_quaternion_enter(mabd_quaternion_sim* sim,
                                            const mabd_quaternion_record* before,
                                            const mabd_quaternion_record* after, mabd_real time);
/// Undo mabd_quaternion_enter.
void mabd_quaternion_leave(mabd_quaternion_sim* sim, const mabd_quaternion_saved* saved);
