// SPDX-License-Identifier: Apache-2.0
// Pieces of the step of a part that derivatives take again (step.c).
#pragma once

#include "formulation/quaternion/solve.h"
#include "formulation/quaternion/tableau.h"

/// Nodes from which a solve begins; last, stage, slope: null = not used.
typedef struct mabd_quaternion_sources {
    const mabd_quaternion_node *start, *last, *stage, *slope;
} mabd_quaternion_sources;

/// Write the past of a solve of a part into sim->past; s->h is the length of its step.
void mabd_quaternion_take_past(const mabd_quaternion_solve* s, const mabd_tableau_solve* t,
                               const mabd_quaternion_sources* from);
/// Advance a part from `time` by s->h to `to` by one method, as a step does. sim->next_lambda holds
/// the multipliers to begin with and gets those of the result; sim->stage is overwritten. s, past,
/// pose, multipliers and inputs are those of the last solve.
mabd_status mabd_quaternion_repeat(mabd_quaternion_solve* s, mabd_integrator method, mabd_real time,
                                   const mabd_quaternion_sources* from, mabd_quaternion_node* to);
