// SPDX-License-Identifier: Apache-2.0
// The dual solver of a component of a plan, and the arrays it works on. docs/theory/solvers.md has
// the rule. Counts of the plan and of the pattern of the factor decide, never times, so the choice
// is the same on every machine.
#pragma once

#include "dual/dual.h"
#include "mabd/sim.h"
#include "model/model_data.h"

/// Slots up to which `auto` factors every component without an analysis of its pattern.
#define MABD_DUAL_AUTO_MAX_SLOTS INT32_C(200000)
/// Largest factor that `auto` creates [bytes]: a larger component is solved by PCG.
#define MABD_DUAL_AUTO_MAX_BYTES ((size_t)4 << 30)

/// Build the plan of the dynamic bodies of a model as rigid ones, whose junctions have 6 freedoms.
/// width (joints): rows of each joint, 0 between bodies that do not move. MABD_ERR_MEMORY.
mabd_status mabd_rigid_plan_build(const mabd_allocator* allocator, const mabd_model* m,
                                  const int32_t* width, mabd_plan** plan);
/// The dual system of a component: views of the arrays of the plan and of D, U.
mabd_dual_system mabd_rigid_dual_system(const mabd_plan* plan, int32_t component, mabd_real* D,
                                        mabd_real* U);
/// Returns the direct dual solver of a component; null if it has no rows.
const mabd_dual_ops* mabd_rigid_direct_dual(const mabd_plan_component* component);
/// True if a component may get an iterative solver: conjugate gradients need a definite matrix, and
/// junctions make it quasi-definite.
bool mabd_rigid_may_iterate(const mabd_plan_component* component);
/// True if `auto` must know the bytes of the factor of a component.
bool mabd_rigid_may_be_too_large(const mabd_plan_component* component);
/// Select the dual solver of a component. direct_bytes: bytes of its direct solver, which are used
/// only if mabd_rigid_may_be_too_large.
const mabd_dual_ops* mabd_rigid_select_dual(const mabd_plan_component* component, mabd_dual dual,
                                            size_t direct_bytes);
/// Append the name of a solver to a list as in mabd_sim_plan.solvers, unless it is in it.
void mabd_rigid_add_solver_name(char text[64], const char* name);
