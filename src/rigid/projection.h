// SPDX-License-Identifier: Apache-2.0
// Projection of rigid poses and velocities onto the rows of joints, in the mass metric.
//
// A correction u of the twists of all bodies (twist.h) that changes the rows by -b with the least
// u' M u:
//
//   u = -M^-1 J' lambda,  K lambda = b,  K = J M^-1 J'
//
// K is the mobility of the rows (mobility.h) on the plan of the model, also with redundant rows.
#pragma once

#include "base/pool.h"
#include "dual/dual.h"
#include "rigid/twist.h"

/// Poses, and which rows are held there.
typedef struct mabd_rigid_projection {
    const mabd_model* m;
    const mabd_allocator* allocator;
    mabd_real time;               // of signals [s]
    const mabd_real* targets;     // (coordinates) set by a program, NaN = the signal; may be null
    const mabd_rigid_pose* poses; // (bodies + 1)
    bool servos;                  // rows of rigid servos are held as well
    int32_t threads;              // that factor and solve
    mabd_real* rows;              // (rows of the plan) right-hand sides, and solutions
    mabd_rigid_twist* twists;     // (bodies) u of the bodies of the last solved component
    // workspace
    mabd_real *D, *U, *work; // as the plan says; (2 x rows)
    mabd_rigid_row* J;       // (rows) of the last solved component
    mabd_pool* pool;
    const mabd_dual_ops* ops; // solver of one component
    void* solver;
    int32_t component; // -1 = none
} mabd_rigid_projection;

/// Allocate the workspace of a projection. MABD_ERR_MEMORY.
mabd_status mabd_rigid_projection_create(mabd_rigid_projection* p);
/// Free the workspace of a projection; a projection that was never created is allowed.
void mabd_rigid_projection_destroy(mabd_rigid_projection* p);

/// True if a control of a joint is a rigid servo of unlimited force; *target gets its target at
/// p->time [m] or [rad].
bool mabd_rigid_servo_target(const mabd_rigid_projection* p, const mabd_model_joint* joint,
                             int32_t control, mabd_real* target);

/// Compute the errors of the held rows of a joint at p->poses into C (rows of its slot) [m], [rad];
/// 0 for other rows. Returns the largest error.
mabd_real mabd_rigid_joint_errors(const mabd_rigid_projection* p, int32_t joint, mabd_real* C);
/// Compute the rates of the held rows of a joint at twists u (bodies + 1) into `rates` (rows of its
/// slot) [m/s], [rad/s]; 0 for other rows. Returns the largest rate.
mabd_real mabd_rigid_joint_rates(const mabd_rigid_projection* p, int32_t joint,
                                 const mabd_rigid_twist* u, mabd_real* rates);
/// Compute the largest error of the held rows of a component [m], [rad]. Needs no workspace.
mabd_real mabd_rigid_component_error(const mabd_rigid_projection* p, int32_t component);
/// Write the errors of the held rows of a component to its part of p->rows; returns the largest.
mabd_real mabd_rigid_projection_errors(const mabd_rigid_projection* p, int32_t component);
/// Write the rates of the held rows of a component at twists u (bodies + 1) to its part of p->rows;
/// returns the largest.
mabd_real mabd_rigid_projection_rates(const mabd_rigid_projection* p, int32_t component,
                                      const mabd_rigid_twist* u);
/// Solve K lambda = b for one component, b in its part of p->rows, and write u = -M^-1 J' lambda of
/// its bodies to p->twists. MABD_ERR_SINGULAR, MABD_ERR_MEMORY.
mabd_status mabd_rigid_projection_solve(mabd_rigid_projection* p, int32_t component);
