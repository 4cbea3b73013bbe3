// SPDX-License-Identifier: Apache-2.0
// Factor and solve the dual systems of all components on the CPU.
#pragma once

#include "formulation/affine/data.h"

/// Divide all components into groups, from the plan only. Returns the number of groups; groups:
/// null = count only.
int32_t mabd_affine_find_groups(const mabd_plan* plan, mabd_affine_group* groups);
/// Factor all components. MABD_ERR_SINGULAR: *joint gets the joint whose pivot failed.
mabd_status mabd_affine_factor(mabd_affine_sim* sim, int32_t* joint);
/// Solve all components after factor. sim->lambda: right-hand side in, multipliers out. Sets
/// dual_report; iterative solvers start from sim->guess and store their solution there.
void mabd_affine_solve_dual(mabd_affine_sim* sim);
/// Factor and solve one component. Its part of sim->lambda: right-hand side in, multipliers out.
/// MABD_ERR_SINGULAR: *joint gets the joint whose pivot failed.
mabd_status mabd_affine_solve_component(mabd_affine_sim* sim, int32_t component, int32_t* joint);
/// Solve one component again with the factor of the last mabd_affine_factor. Its part of
/// sim->lambda: right-hand side in, multipliers out. Iterative solvers start from zero.
void mabd_affine_solve_again(mabd_affine_sim* sim, int32_t component);
/// Prepare iterative solvers before the first factor of a solve: they start from the multipliers of
/// the last step and discard saved data, so that a step depends on the saved state only.
void mabd_affine_restart(mabd_affine_sim* sim);
/// True if some component is solved iteratively.
bool mabd_affine_iterates(const mabd_affine_sim* sim);
