// SPDX-License-Identifier: Apache-2.0
// Jumps of controls and forces, after which the state one step ago is no history of the motion.
#pragma once

#include "formulation/affine/data.h"

/// Copies that have a jump in a step.
typedef enum mabd_affine_jump {
    MABD_JUMP_NONE,
    MABD_JUMP_SOME, // of several copies that settle one by one: sim->jumps
    MABD_JUMP_ALL,  // or some, and all copies take the step by one scheme
} mabd_affine_jump;

/// Find the copies with a jump in the step of length def.h that begins at `time` [s]; sets
/// sim->jumps unless the result is MABD_JUMP_NONE.
mabd_affine_jump mabd_affine_find_jumps(mabd_affine_sim* sim, mabd_real time);
/// Remember the targets and applied forces of a step that succeeded, for the next one.
void mabd_affine_keep_inputs(mabd_affine_sim* sim);
/// Forget the inputs of the last step: targets are those of the signals, no forces were applied.
void mabd_affine_forget_inputs(mabd_affine_sim* sim);
