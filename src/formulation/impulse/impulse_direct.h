// SPDX-License-Identifier: Apache-2.0
// Rows of joints solved all at once, by the dual solvers (direct.c), and the projection of poses
// onto them (project.c).
#pragma once

#include "formulation/impulse/impulse_sim.h"
#include "rigid/component_dual.h"
#include "rigid/mobility.h"

/// One row of the direct solve: a row of the block of a joint.
typedef struct mabd_impulse_direct_row {
    mabd_impulse_row J;
    mabd_real bias, hold, give; // as in mabd_impulse_block
    mabd_real impulse;          // of the substep [N s] or [N m s]
} mabd_impulse_direct_row;

/// Memory of joints = direct. Rows and slots are those of the plan.
struct mabd_impulse_direct {
    mabd_plan* plan;               // of rigid bodies
    const mabd_dual_ops** ops;     // (components) null = no rows
    void** solver;                 // (components)
    mabd_real *D, *U;              // as the plan says
    mabd_impulse_direct_row* rows; // (rows)
    mabd_rigid_row* J;             // (rows) the same rows for rigid/mobility.h
    mabd_real *give, *x, *work;    // (rows), (rows), (2 x rows)
    bool* loose;                   // (components) rows may depend on each other: refine
    int32_t* bad;                  // (components) slot whose factor failed, -1 = none
    mabd_real *change, *largest;   // (components) of impulses, in the last solve
    mabd_rigid_twist* way;         // (bodies) of a projection
    mabd_quat* kept_q;             // (bodies) before a projection
    mabd_vec3* kept_c;             // (bodies)
    int32_t* refused;              // (components) projections that did not help
    bool told;                     // it was said
    size_t solver_bytes;
    mabd_arena arena;
};

/// Create the memory of sim->direct for a simulation whose joints and axes are numbered.
/// MABD_ERR_MEMORY: call mabd_impulse_direct_destroy.
mabd_status mabd_impulse_direct_create(mabd_impulse_sim* sim);
/// Free sim->direct; null is allowed.
void mabd_impulse_direct_destroy(mabd_impulse_sim* sim);
/// Bytes held.
size_t mabd_impulse_direct_bytes(const mabd_impulse_sim* sim);
/// Compute the rows at sim->poses and factor them. MABD_ERR_SINGULAR.
mabd_status mabd_impulse_direct_factor(mabd_impulse_sim* sim, mabd_error* error);
/// Change the velocities so that all rows hold; relax: without their errors.
void mabd_impulse_direct_solve(mabd_impulse_sim* sim, bool relax);
/// Write the impulses of the rows to sim->lambda.
void mabd_impulse_direct_keep(mabd_impulse_sim* sim);

/// Move the poses onto the rows (project.c). sim->poses are those of the state before and after.
/// MABD_ERR_SINGULAR.
mabd_status mabd_impulse_project(mabd_impulse_sim* sim, mabd_error* error);

// ---- shared by direct.c and project.c ----

/// Do something to each component with rows, on threads.
typedef void mabd_impulse_component_fn(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool);
void mabd_impulse_each_component(mabd_impulse_sim* sim, mabd_impulse_component_fn* act);
/// Write row r of the direct solve, or none, for rigid/mobility.h.
void mabd_impulse_direct_put(mabd_impulse_sim* sim, int32_t a, int32_t b, const mabd_impulse_row* J,
                             mabd_real give, int32_t row);
/// Factor K of a component; bad gets the slot that fails, -1 = none.
void mabd_impulse_direct_reduce(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool);
/// Solve K x = b, b in the part of a component of x.
void mabd_impulse_direct_apply(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool);
/// MABD_ERR_SINGULAR if the factor of some component failed, with its joint.
mabd_status mabd_impulse_direct_check(mabd_impulse_sim* sim, mabd_error* error);
