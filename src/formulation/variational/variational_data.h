// SPDX-License-Identifier: Apache-2.0
// Data of a simulation in the variational formulation [VI].
//
// State of a body at a node: centre c, unit quaternion q (principal frame), linear momentum P
// (world) and angular momentum L (principal frame). Momenta lack the impulses of joints at the
// node, so they are not the velocities of a user (velocities.c). With them the state needs no
// history: steps of any length may follow each other.
//
// Bodies that a joint or a spring connects are an *island*: it has its own Newton iteration, its
// own substeps and its own retries, so a copy of a batch gives the same bits alone and among
// others, and islands may run on any thread. Contacts between bodies of two islands make them one
// for a step (variational_contact.h).
//
// Rows are those of a plan (topology/plan.h) with junctions of 6 freedoms: for each joint its rigid
// rows, then one per control. Unknowns of a substep are V = (v, w) of the bodies and the impulses
// of the rows; state and results hold forces, impulses over h.
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "dual/dual.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "rigid/axis_row.h"
#include "rigid/books.h"
#include "rigid/inputs.h"
#include "rigid/twist.h"

/// Names of the timed stages.
#define MABD_VARIATIONAL_STAGE_LIST(X)                                                             \
    X(STEP, "step") /* everything but those below */                                               \
    X(CONTACT, "contact")                                                                          \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")

typedef enum mabd_variational_stage {
#define X(name, text) MABD_VARIATIONAL_##name,
    MABD_VARIATIONAL_STAGE_LIST(X)
#undef X
        MABD_VARIATIONAL_STAGE_COUNT
} mabd_variational_stage;

/// A body at a node.
typedef struct mabd_variational_body {
    mabd_vec3 c; // [m]
    mabd_quat q;
    mabd_vec3 P, L; // [kg m/s] world, [kg m^2/s] principal frame
    mabd_vec3 v, w; // of the last substep [m/s], [rad/s] principal frame: first guess of the next
    mabd_rigid_twist node; // velocity at the node, for dampers of springs
} mabd_variational_body;

/// State of the axis of a control at a node.
typedef struct mabd_variational_axis {
    mabd_real x;        // coordinate [m] or [rad]
    mabd_real armature; // momentum of the armature [kg m/s] or [kg m^2/s]
    mabd_real rate;     // mean rate of the last substep
    mabd_real lack;     // time before the node in which its damper has not acted yet [s]
} mabd_variational_axis;

/// What a row does.
typedef enum mabd_variational_row_kind {
    MABD_VARIATIONAL_HELD, // value or coordinate at the end of the substep is given
    MABD_VARIATIONAL_AXIS, // acts on the mean rate of its coordinate
    MABD_VARIATIONAL_RATE, // acts on a rate at the start: dampers of three free rotations
    MABD_VARIATIONAL_NONE, // has no effect
} mabd_variational_row_kind;

/// A row in a substep. Its equation is r = 0,
///   HELD  r = (C - target)/h           AXIS, RATE  r = y - target + c (impulse - base)
typedef struct mabd_variational_row {
    mabd_real r;       // [m/s] or [rad/s]
    mabd_real c, base; // compliance, impulse at rate 0
    mabd_real own;     // G M^-1 G' + c
    mabd_real target;  // value of HELD, rate of others
    mabd_real damping; // explicit part after the end [N s/m] or [N m s/rad], 0 = none
    mabd_real late;    // its time [s]
    bool lagged;       // by the rate of the substep before
    mabd_variational_row_kind kind;
} mabd_variational_row;

/// A body in a substep.
typedef struct mabd_variational_motion {
    mabd_rigid_twist V, change, base; // iterate, increment, iterate before the increment
    mabd_rigid_wrench
        in; // momentum before the impulses of the start: (P, L) + h/2 f, half the drag
    mabd_rigid_wrench given; // impulses of rows and contacts on it, to the last iterate
    mabd_rigid_wrench d;     // residual of the balance of momentum
    mabd_rigid_wrench push;  // d less the impulses of the increment
    mabd_rigid_twist free;   // M^-1 d
    mabd_real drag;          // implicit part of the drag times its share of h [kg]
    mabd_vec3 wind;          // [m/s]
    mabd_mat3 turn;          // E, of exact matrices only
} mabd_variational_motion;

/// Bodies that move together, with their joints.
typedef struct mabd_variational_island {
    const int32_t* bodies;     // (body_count)
    const int32_t* joints;     // (joint_count) of the model, with rows or motors
    const int32_t* components; // (component_count) of the plan
    int32_t body_count, joint_count, component_count;
    const int32_t* springs; // (spring_count)
    int32_t spring_count;
    int32_t first;                          // its lowest static island
    int32_t depth;                          // of the step
    bool has_rows;                          // some joint has rows
    bool exact;                             // unsymmetric matrix in every iteration
    bool shifted;                           // its rows may depend on each other
    struct mabd_variational_system* system; // over bodies and rows, null = none
    // contacts, stops and boxes of a step (variational_contact.h)
    int32_t touch_first, touch_count, stop_count; // touches: stops, then points
    int32_t box_first, box_count;
    int32_t meeting_first, meeting_count;
} mabd_variational_island;

/// Report of the step of one island.
typedef struct mabd_variational_report {
    mabd_status status;
    int32_t body, joint; // of a failure, -1 = none
    const char* reason;
    int32_t iterations, line_searches, retries, substeps, barrier_iterations, restarts;
    int32_t dual_iterations;
    mabd_real penetration;                // [m]
    mabd_real friction, impacts, scripts; // works of contacts and stops in the step [J]
    mabd_real dual_residual;
    bool converged;
    mabd_real gap, angle_error;
    int32_t worst_joint;
    double factor_seconds, solve_seconds;
} mabd_variational_report;

typedef struct mabd_variational_sim {
    const mabd_model* model;
    const mabd_model_start* start; // (bodies) of the run
    mabd_sim_def def;              // resolved
    mabd_warnings warnings;
    mabd_pool* pool;
    mabd_plan* plan;
    void* memory;
    size_t memory_size, state_bytes, solver_bytes;
    mabd_allocator allocator;
    double times[MABD_VARIATIONAL_STAGE_COUNT];

    int32_t island_count;                            // without contacts
    mabd_variational_island* islands;                // (island_count)
    mabd_variational_report* reports;                // (island_count)
    int32_t *bodies, *joints, *components, *springs; // by island
    int32_t* body_island;                            // (bodies) -1 = does not move by forces
    int32_t* body_slot;                              // (bodies) place in its island
    int32_t* body_script;                            // (bodies + 1) script, -1 = none
    int32_t* body_force;                             // (bodies + 1) first force
    mabd_real* reach;                                // (bodies) radius of gyration [m]
    const mabd_dual_ops** ops;                       // (components) null = no rows
    void** solvers;                                  // (components) of the symmetric matrix
    mabd_real *D, *U;                                // of the symmetric matrix
    struct mabd_variational_exact* exact;            // exact matrices, null = none
    struct mabd_variational_contacts* contacts;      // null = no contacts, stops and boxes
    bool damped_springs;                             // between points

    // state
    mabd_variational_body *now, *next;       // (bodies) at the time; in the step
    mabd_variational_axis *axis, *next_axis; // (coordinates)
    mabd_real *lambda, *next_lambda;         // (rows) force on b [N], [N m]
    int32_t* depth;                          // (islands) a step has 2^depth parts
    bool begun;                              // a step was taken (symplectic-euler)
    mabd_rigid_inputs inputs;
    mabd_rigid_books books;

    // workspace
    mabd_variational_motion* motion; // (bodies)
    mabd_variational_row* rows;      // (rows)
    mabd_rigid_row* G;               // (rows) at the start of a substep, or at a node
    mabd_rigid_row* next_G;     // (rows) of rates at the end by V: f, E't; of exact matrices only
    mabd_real* compliance;      // (rows) of the symmetric matrix
    mabd_rigid_pose *from, *to; // (bodies + 1) at the start and the end of a substep
    mabd_rigid_twist* twist;    // (bodies + 1) for damped springs
    mabd_rigid_wrench* load;    // (bodies + 1)
    mabd_real *impulse, *base, *change;     // (rows) iterate, the one before, increment
    mabd_real *b, *work;                    // (rows), (2 x rows)
    mabd_real* input;                       // (coordinates + motors)
    mabd_real* mean_lambda;                 // (rows) over the step
    mabd_real* mean_force;                  // (coordinates) springs, servos, boxes, over the step
    mabd_real* x0;                          // (coordinates) at the start of a substep
    mabd_real* x1;                          // (coordinates) at the iterate
    struct mabd_rigid_stability* stability; // (bodies)
    mabd_rigid_twist* velocity;             // (bodies + 1) of a user
    mabd_real* share;                       // (rows) impulses that it adds to the momenta
    mabd_rigid_twist* last_velocity;        // (bodies + 1) before the step, for the books
    mabd_real* last_share;                  // (rows) likewise
    bool velocity_known;
    mabd_real time; // [s] of `now`
} mabd_variational_sim;

/// A substep of an island.
typedef struct mabd_variational_solve {
    mabd_variational_sim* sim;
    mabd_variational_island* island;
    mabd_variational_report* report;
    mabd_real h;    // of the substep [s]
    mabd_real time; // of its start [s]
} mabd_variational_solve;

/// True if a control holds its coordinate: a rigid servo of unlimited force.
MABD_FN bool mabd_variational_is_held(const mabd_control* c) {
    return c->rigid ||
           (c->drive && mabd_axis_is_position(c) && !(c->max_force < (mabd_real)INFINITY));
}
/// True if a control holds the rate of its coordinate with unlimited force.
MABD_FN bool mabd_variational_is_paced(const mabd_control* c) {
    return c->drive && c->drive_rate && !(c->max_force < (mabd_real)INFINITY);
}
/// True if a body moves by forces.
MABD_FN bool mabd_variational_moves(const mabd_variational_sim* sim, int32_t body) {
    return body < sim->model->body_count && sim->body_island[body] >= 0;
}
/// Class of a body.
MABD_FN const mabd_model_class* mabd_variational_class(const mabd_variational_sim* sim,
                                                       int32_t body) {
    return &sim->model->classes[sim->model->body_class[body]];
}
/// Rows of a joint of the model.
MABD_FN const mabd_row_set* mabd_variational_set(const mabd_variational_sim* sim, int32_t joint) {
    return &sim->model->row_sets[sim->model->joints[joint].row_set];
}
/// Rows of a joint in the vectors of rows: from first to end - 1; -1, -1 = it has none.
typedef struct mabd_variational_range {
    int32_t first, end;
} mabd_variational_range;
MABD_FN mabd_variational_range mabd_variational_rows(const mabd_variational_sim* sim,
                                                     int32_t joint) {
    const int32_t slot = sim->plan->joint_slot[joint];
    if (slot < 0) return (mabd_variational_range){-1, -1};
    const int32_t first = sim->plan->slot_row[slot];
    return (mabd_variational_range){first, first + sim->plan->slot_width[slot]};
}
/// First row of a joint in the vectors of rows, -1 = it has none.
MABD_FN int32_t mabd_variational_first_row(const mabd_variational_sim* sim, int32_t joint) {
    return mabd_variational_rows(sim, joint).first;
}
