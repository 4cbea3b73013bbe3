// SPDX-License-Identifier: Apache-2.0
// The tape: what derivatives need of each state of a run (tape.c).
#pragma once

#include "formulation/redmax/redmax_tangent.h"

/// One record: a state, and how the step to it was taken. Pointers into the bytes of the record.
typedef struct mabd_redmax_record {
    mabd_redmax_node node;          // the state
    mabd_real* ball_q;              // (balls x 3) coordinates of balls at the end of the last stage
    mabd_real* stage_q;             // (freedoms) of the first of two stages; null = not kept
    mabd_real* end_q;               // (freedoms) of the last stage, if a projection may follow; of
                                    // semi-implicit the accelerations; null = not kept
    bool* left_out;                 // (rows) that the stages did without
    mabd_real* lambda;              // (rows) forces of the rows at the end of the step
    mabd_real* stage_lambda;        // (rows) in the first of two stages; null = not kept
    mabd_real* target;              // (coordinates + motors) set from outside during the step
    bool* target_set;               // (coordinates + motors)
    mabd_real* applied;             // (bodies x 6) forces of the step; null without parameters
    mabd_real* wrench;              // (links x 6) of the joints; null without losses by them
    mabd_real* peak;                // (parts) largest kinetic energy so far [J]
    int8_t* taken;                  // (parts) mabd_integrator of the step
    int8_t* corrections;            // (parts) of the poses at the end of the step
    mabd_real* last_correction;     // (parts) largest change by the last of them
    bool* divided;                  // (parts) the step was taken in parts
    bool* impact;                   // (parts) and ended with impulses
    bool* rough;                    // (parts) a law changed its branch in it, or is where two meet
    mabd_axis_branch* branch;       // (laws) of the last stage
    mabd_axis_branch* stage_branch; // (laws) of the first of two stages
    bool* has_branches;             // (1) false at the start of a run
} mabd_redmax_record;

/// Return the pointers into the bytes of a record; null: all pointers are null.
mabd_redmax_record mabd_redmax_record_at(const mabd_redmax_gradient* g, const void* bytes);

/// State of the simulation that records replace while derivatives are taken.
typedef struct mabd_redmax_saved {
    mabd_redmax_node now, last;
    mabd_rigid_inputs inputs;
    mabd_axis_branch* branch;
    bool has_branches;
    mabd_real* lambda;
    mabd_real time;
} mabd_redmax_saved;

/// Make the simulation see the step from record `before` to `after`, which begins at `time` [s].
mabd_redmax_saved mabd_redmax_enter(mabd_redmax_sim* sim, const mabd_redmax_record* last,
                                    const mabd_redmax_record* before,
                                    const mabd_redmax_record* after, mabd_real time);
/// Undo mabd_redmax_enter.
void mabd_redmax_leave(mabd_redmax_sim* sim, const mabd_redmax_saved* saved);
