// SPDX-License-Identifier: Apache-2.0
// The symmetric Newton: dual systems of the parts on the solvers of dual/ (symmetric.c).
#pragma once

#include "formulation/quaternion/solve.h"

/// Build plan, arrays and solvers of the dual systems of all parts: sim->dual. The pattern of the
/// simulation is filled. MABD_ERR_MEMORY: call mabd_quaternion_dual_destroy.
mabd_status mabd_quaternion_dual_create(mabd_quaternion_sim* sim);
/// Free sim->dual; null does nothing.
void mabd_quaternion_dual_destroy(mabd_quaternion_sim* sim);
/// Return the bytes of sim->dual, its solvers included; 0 if it is null.
size_t mabd_quaternion_dual_bytes(const mabd_quaternion_sim* sim);
/// Name the solvers of the components of each class in the plan of a simulation.
void mabd_quaternion_dual_name(const mabd_quaternion_sim* sim, mabd_sim_plan* plan);

/// True if a component of a part has an iterative solver.
bool mabd_quaternion_dual_iterates(const mabd_quaternion_sim* sim,
                                   const mabd_quaternion_part* part);
/// Forget what solvers of a part keep from earlier systems.
void mabd_quaternion_dual_restart(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part);

/// Replace the blocks of bodies in the matrix of a part by their symmetric parts, made definite
/// relative to the inertia of the body, and the blocks between bodies by zero.
void mabd_quaternion_make_symmetric(const mabd_quaternion_solve* s);
/// Factor J A^-1 J' + c of the matrix of a part, whose blocks of bodies are symmetric; blocks
/// between bodies are not read. MABD_ERR_SINGULAR: *bad is the slot of the part.
mabd_status mabd_quaternion_dual_factor(const mabd_quaternion_solve* s, int32_t* bad);
/// Solve with that factor. x: right-hand side in, solution out, unknowns of the part.
void mabd_quaternion_dual_solve(const mabd_quaternion_solve* s, mabd_real* x);
