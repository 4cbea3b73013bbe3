// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (works.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// Add what a method that has advanced by s->h did to the means of the multipliers of a part.
/// start: multipliers of the derivative at its start (rows of the part), null = those of the state.
void mabd_quaternion_add_means(const mabd_quaternion_solve* s, mabd_integrator method,
                               const mabd_real* start);
/// Book the step from sim->last at `time` [s] to sim->now, before its inputs are kept.
void mabd_quaternion_book_step(mabd_quaternion_sim* sim, mabd_real time);
