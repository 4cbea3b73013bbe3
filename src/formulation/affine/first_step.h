// SPDX-License-Identifier: Apache-2.0
// Division of the first step of a simulation whose bodies whirl about a pivot.
//
// SDIRK2 closes the rows of a joint at the ends of both of its solves. Its velocity across the rows
// is then wrong by 0.35 h a, a: the acceleration of the joint, and BDF2 takes it as history. At 10
// ms, a rod that whirls at 30 rad/s lost 1.8 % of its rate in this way, and had up to 1.6 % more
// energy in the first steps. So SDIRK2 is used over h/n, and BDF2 over h/n, 2h/n, ... h/2, each
// with the state at the start of the step as its history, at the same distance as its end:
//
//   0   h/n  2h/n      4h/n                8h/n
//   |----|----|---------|-------------------|----        n a power of two, log2(n) + 2 solves
//   SDIRK2   BDF2      BDF2               BDF2
//
// BDF2 computes velocities from positions, so that the error is that of SDIRK2 over h/n, and does
// not stay. The accelerations in the middle and at the end of the step are extrapolated to its
// start, and the path of centres is corrected from the second step on (affine/element/orbit.h).
#pragma once

#include "formulation/affine/data.h"

/// Compute n of the first step: 1 if no body turns by MABD_START_SLOW_RAD in it, or one by more
/// than MABD_START_FAST_RAD. In a batch this holds for each copy: if one has n = 1, all have. The
/// state that was set must be on the host.
int32_t mabd_affine_start_units(const mabd_affine_sim* sim);
