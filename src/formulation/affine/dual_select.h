// SPDX-License-Identifier: Apache-2.0
// Which dual solver solves a component, and the arrays it works on.
#pragma once

#include "formulation/affine/data.h"
#include "rigid/component_dual.h"

/// Select the dual solver of a component according to sim->dual. Reads model and dual only, and
/// analyses a large component into sim->analysis (mabd_affine_analysis_begin).
const mabd_dual_ops* mabd_affine_dual_select(const mabd_affine_sim* sim, int32_t component);
/// True if some component may get an iterative solver, from counts only, without a symbolic
/// factorisation.
bool mabd_affine_may_iterate(const mabd_affine_sim* sim);
/// Append a warning to sim->warnings if sim->dual names an iterative solver and components with
/// junctions get a direct one instead: one warning, which describes the first of these components.
void mabd_affine_dual_warn(mabd_affine_sim* sim);
/// The dual system of a component: views of the arrays of the plan and of sim->D, sim->U.
mabd_dual_system mabd_affine_dual_system(const mabd_affine_sim* sim, int32_t component);
