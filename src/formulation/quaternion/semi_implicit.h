// SPDX-License-Identifier: Apache-2.0
// Semi-implicit Euler with Baumgarte's stabilisation (semi_implicit.c).
#pragma once

#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/solve.h"

/// Advance a part from a node at `time` [s] by s->h to another. Rows may be rigid ones and rigid
/// servos only. MABD_ERR_SINGULAR: the report names the slot.
mabd_status mabd_quaternion_semi_implicit(mabd_quaternion_solve* s, mabd_real time,
                                          const mabd_quaternion_node* from,
                                          mabd_quaternion_node* to);
