// SPDX-License-Identifier: Apache-2.0
// Symbolic analyses of components while a simulation is planned or created. mabd_affine_plan leaves
// them in the model, and creation takes them from there: a pattern is analysed once.
#pragma once

#include "dual/block_analysis.h"
#include "formulation/affine/data.h"

/// Set sim->analysis to the one that a plan left in the model, or to an empty one. An analysis of
/// the model is used only if `allocator` is the model's, since solvers keep parts of it.
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_analysis_begin(mabd_affine_sim* sim, const mabd_allocator* allocator);
/// Return the analysis of a component, made now if it is missing; null if memory runs out.
/// sim->analysis keeps it; it is valid until the next call for another component.
const mabd_dual_block_analysis* mabd_affine_analysis_of(const mabd_affine_sim* sim,
                                                        int32_t component);
/// Take the symbolic factorisation of a component out of sim->analysis; null if it has none, or if
/// sim->analysis is null. The caller owns it.
mabd_dual_block_symbolic* mabd_affine_analysis_take(const mabd_affine_sim* sim, int32_t component);
/// Leave sim->analysis, which is of the model's allocator, in the model, and set it to null.
void mabd_affine_analysis_leave(mabd_affine_sim* sim);
/// Destroy sim->analysis and set it to null; null does nothing.
void mabd_affine_analysis_end(mabd_affine_sim* sim);
