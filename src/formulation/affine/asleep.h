// SPDX-License-Identifier: Apache-2.0
// Sleep: a scene in which everything rests is not stepped.
#pragma once

#include "formulation/affine/data.h"

/// True if nothing but an input from outside can move a scene that rests: contacts, gravity, no
/// copies, no scripts, forces, wind, motors or drives.
bool mabd_affine_may_sleep(const mabd_model* model);
/// True if the simulation sleeps through the step that begins now. Forces for this step wake it.
bool mabd_affine_sleeps(mabd_affine_sim* sim);
/// Report a step that was slept through.
void mabd_affine_report_sleep(const mabd_affine_sim* sim, mabd_step_info* info);
/// Look at the motion after a step; ends all motion if everything rests.
void mabd_affine_watch_sleep(mabd_affine_sim* sim);
/// Wake a simulation whose state was changed.
void mabd_affine_wake(mabd_affine_sim* sim);
