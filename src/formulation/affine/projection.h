// SPDX-License-Identifier: Apache-2.0
// Projection of rigid poses and velocities onto the rows of joints, in the mass metric.
//
// A correction u of the twists of all bodies (6 numbers each: velocity of the centre of mass and
// angular velocity, both in the principal frame) that changes the rows by -b with the least u' M u:
//
//   u = -M^-1 J' lambda,  K lambda = b,  K = J M^-1 J',  M = diag(m, m, m, I1, I2, I3) of each body
//
// K has the pattern of the dual system of a step (topology/plan.h), so the solvers of the
// simulation factor it, component by component. The 6 degrees of freedom of a junction are the
// unknowns of its first slot; those of its second slot are decoupled.
//
// Redundant rows (a planar four-bar has three) make K singular. If a component has cycles, or
// several joints to the ground, K + S is factored, S = 1e-8 diag(K), and refined: x += (K + S)^-1
// (b - K x). For an eigenvalue k of K, each iteration reduces its part of the error by S/(k + S).
// In the null space of K a right-hand side that redundant rows contradict would grow, without
// effect on u. (Conjugate gradients are not suitable: such a part of b spoils their step.)
#pragma once

#include "formulation/affine/data.h"

#ifdef MABD_SINGLE
#define MABD_AFFINE_EPSILON ((mabd_real)1.2e-7)
#else
#define MABD_AFFINE_EPSILON ((mabd_real)2.2e-16)
#endif

/// Velocity of the centre of mass and angular velocity, principal frame [m/s], [rad/s]; as a
/// correction of a pose [m], [rad].
typedef struct mabd_affine_twist {
    mabd_vec3 v, w;
} mabd_affine_twist;

/// Poses, and which rows are held there. D, U, lambda_last and the dual solvers of `sim` are the
/// workspace.
typedef struct mabd_affine_projection {
    mabd_affine_sim* sim;
    const mabd_allocator* allocator;
    const mabd_real* q;        // (bodies + 1 x 12) rigid poses
    bool servos;               // rows of rigid servos are held as well
    mabd_real* work;           // (3 x rows)
    mabd_affine_twist* twists; // (bodies) u of the bodies of the last solved component
} mabd_affine_projection;

/// Allocate the workspace of a projection. MABD_ERR_MEMORY.
mabd_status mabd_affine_projection_create(mabd_affine_projection* p);
/// Free the workspace of a projection; a projection that was never created is allowed.
void mabd_affine_projection_destroy(mabd_affine_projection* p);

/// True if a control is a rigid servo of unlimited force; *target gets its target at the end of the
/// last solve [m] or [rad]. `row` counts the controls of the row set.
bool mabd_affine_rigid_servo(const mabd_affine_sim* sim, int32_t row_set, int32_t row,
                             mabd_real* target);

/// Write the errors of the held rows of a component at p->q to its part of sim->lambda_last [m],
/// [rad]; 0 for other rows. Returns the largest error.
mabd_real mabd_affine_projection_errors(const mabd_affine_projection* p, int32_t component);
/// Write the rates of the held rows of a component to its part of sim->lambda_last [m/s], [rad/s];
/// 0 for other rows. v (bodies x 12): rates of the affine coordinates. Returns the largest rate.
mabd_real mabd_affine_projection_rates(const mabd_affine_projection* p, int32_t component,
                                       const mabd_real* v);
/// Solve K lambda = b for one component, b in its part of sim->lambda_last, and write u = -M^-1 J'
/// lambda of its bodies to p->twists. MABD_ERR_SINGULAR, MABD_ERR_MEMORY.
mabd_status mabd_affine_projection_solve(const mabd_affine_projection* p, int32_t component);

/// Compute the twist of a body from rates of its affine coordinates (12), at the pose q (12).
mabd_affine_twist mabd_affine_twist_of(const mabd_real* q, const mabd_real* v);
/// Compute the rates of the affine coordinates (12) of a rigid body at the pose q (12).
void mabd_affine_twist_rates(const mabd_real* q, mabd_affine_twist u, mabd_real* v);
/// Compute the kinetic energy 1/2 u' M u of a body [J].
mabd_real mabd_affine_twist_energy(const mabd_model* m, int32_t body, mabd_affine_twist u);
