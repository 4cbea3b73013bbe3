// SPDX-License-Identifier: Apache-2.0
// Data of a simulation in maximal coordinates [RM chapter 1]: six velocities of each body, and rows
// of joints with multipliers.
//
// A body has its principal frame E and its twist V = (w, v) in that frame, so its inertia
// M = diag(I1, I2, I3, m, m, m) is constant and diagonal. Rows and loads are those of rigid bodies
// with the velocity of the centre in world axes, u = (R v, w) (rigid/twist.h): R turns nothing that
// M sees, so both forms are the same equations.
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "dual/dual.h"
#include "formulation/redmax/redmax_contact.h"
#include "rigid/books.h"
#include "rigid/mobility.h"

/// Names of the timed stages.
#define MABD_MAXIMAL_STAGE_LIST(X)                                                                 \
    X(STEP, "step") /* everything but the three below */                                           \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")                                                                              \
    X(CONTACTS, "contacts")

typedef enum mabd_maximal_stage {
#define X(name, text) MABD_MAXIMAL_##name,
    MABD_MAXIMAL_STAGE_LIST(X)
#undef X
        MABD_MAXIMAL_STAGE_COUNT
} mabd_maximal_stage;

/// A body that moves by forces.
typedef struct mabd_maximal_body {
    mabd_vec3 c;    // centre of mass, world [m]
    mabd_quat q;    // rotation of the principal frame
    mabd_spatial V; // twist in that frame
} mabd_maximal_body;

/// State of all bodies at one time.
typedef struct mabd_maximal_node {
    mabd_maximal_body* body; // (bodies)
    mabd_real* x;            // (coordinates x 2) controlled coordinates of joints and their rates
} mabd_maximal_node;

/// Report of the step of one component.
typedef struct mabd_maximal_report {
    mabd_status status;
    int32_t slot;       // of a failed factorisation, -1 = the motion of a body
    int32_t body;       // if slot < 0
    const char* reason; // of a failure
    double seconds[MABD_MAXIMAL_STAGE_COUNT];
} mabd_maximal_report;

typedef struct mabd_maximal_sim {
    const mabd_model* model;
    const mabd_model_start* start; // (bodies) of the run
    mabd_sim_def def;              // resolved
    mabd_warnings warnings;
    mabd_pool* pool;
    mabd_allocator allocator;
    void* memory;
    size_t memory_size, state_bytes;
    double times[MABD_MAXIMAL_STAGE_COUNT];

    mabd_plan* plan;           // of the rows that are solved for, junctions of 6 freedoms
    const mabd_dual_ops** ops; // (components) null = no rows
    void** solvers;            // (components)
    size_t solver_bytes;
    int32_t* body_component; // (bodies) -1 = moves by no forces
    int32_t* body_script;    // (bodies + 1) -1 = none
    int32_t* body_force;     // (bodies + 1) first force of a body

    // state
    mabd_maximal_node now;
    mabd_real* wrench; // (joints x 6) of the last step on b: force, torque at the anchor, world
    mabd_rigid_inputs inputs;
    mabd_rigid_books books;
    mabd_real time; // [s] of `now`

    // workspace
    mabd_maximal_node next;         // result of the step
    mabd_maximal_node last;         // before the step, for the books
    mabd_rigid_pose* poses;         // (bodies + 1) at the start of the step
    mabd_rigid_twist* u;            // (bodies + 1) at the start, of scripts over the step
    mabd_rigid_twist* free;         // (bodies + 1) without forces of rows, of scripts over the step
    mabd_rigid_wrench* load;        // (bodies + 1) forces and torques of a step
    mabd_rigid_twist* push_u;       // (bodies) response to a row of a contact
    mabd_rigid_row* J;              // (rows of the plan) as are those below
    mabd_real* goal;                // rates of the rows after the step, for zero impulses
    mabd_real* compliance;          // rate by impulse
    mabd_real* lambda;              // impulses of the step
    mabd_real *column, *work;       // a right-hand side; (2 x rows)
    mabd_real *D, *U;               // of K
    mabd_real* through;             // (coordinates) force on a controlled coordinate over the step
    mabd_redmax_contacts* contacts; // null = none
    double contact_seconds;         // of the step
    mabd_redmax_end* spring_ends;   // (springs) at the start of the step
    mabd_redmax_end* ground_ends;   // (points of the ground)
    mabd_maximal_report* reports;   // (components)
} mabd_maximal_sim;
