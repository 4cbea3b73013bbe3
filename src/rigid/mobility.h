// SPDX-License-Identifier: Apache-2.0
// Mobility of the rows of joints between rigid bodies: the rates that they get by forces.
//
//   K = J M^-1 J' + C
//
// J: rows by twists of bodies (row_jacobian.h), M = diag(m, m, m, I1, I2, I3) of each body, C a
// diagonal of compliances. K has the pattern of a plan (topology/plan.h), so the dual solvers
// factor it, component by component. The 6 degrees of freedom of a junction are unknowns as well,
// those of its first slot; a second slot, of plans for affine bodies, is decoupled.
//
// Redundant rows (a planar four-bar has three) make K singular. If a component has cycles, or
// several joints to the ground, K + S is factored, S = 1e-8 diag(K), and refined: x += (K + S)^-1
// (b - K x). For an eigenvalue k of K, each iteration reduces its part of the error by S/(k + S).
// In the null space of K a right-hand side that redundant rows contradict would grow, without
// effect on the bodies. (Conjugate gradients are not suitable: such a part of b spoils their step.)
#pragma once

#include "dual/dual.h"
#include "rigid/twist.h"

/// K of the components of a plan. Vectors are by row of the plan.
typedef struct mabd_rigid_mobility {
    const mabd_model* m;
    const mabd_plan* plan;
    const mabd_rigid_row* J;     // (rows of the plan)
    const mabd_real* compliance; // (rows of the plan) C, null = 0
    mabd_real *D, *U;            // as the plan says
} mabd_rigid_mobility;

/// True if a component may have redundant rows: a tree with one joint to the ground has none.
bool mabd_rigid_may_be_redundant(const mabd_plan_component* c);
/// Write K of a component, with its shift S if it may have redundant rows, to D and U. Rows without
/// an effect get 1.
void mabd_rigid_mobility_assemble(const mabd_rigid_mobility* k, int32_t component);
/// Compute M^-1 J' x of a body.
mabd_rigid_twist mabd_rigid_mobility_response(const mabd_rigid_mobility* k, int32_t body,
                                              const mabd_real* x);
/// Solve K x = b of a component, whose K is factored by ops: b in its part of x, which becomes the
/// solution; work (2 x rows of the plan). Rows of junctions become 0.
void mabd_rigid_mobility_solve(const mabd_rigid_mobility* k, int32_t component,
                               const mabd_dual_ops* ops, void* solver,
                               const mabd_dual_system* system, mabd_real* x, mabd_real* work);
