// SPDX-License-Identifier: Apache-2.0
// Residuals that are round-off.
#pragma once

#include "formulation/quaternion/solve.h"

/// True if every entry of sim->residual, which is that of sim->pose and sim->multiplier, is below
/// the tolerance or is the round-off of its terms. Overwrites sim->rest of the part.
bool mabd_quaternion_is_round_off(const mabd_quaternion_solve* s);
