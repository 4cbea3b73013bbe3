// SPDX-License-Identifier: Apache-2.0
// Data of a simulation in the quaternion formulation [VQ].
//
// A body is its centre c and unit quaternion q (principal frame) with the velocities v = c',
// w = q': 14 reals, a *node* of the integrator. Each component of the joint graph is a *part*: it
// has its own Newton iteration, its own factor and its own retries, so a copy of a batch gives the
// same bits alone and among others, and parts may run on any thread.
//
// Unknowns of a solve are 6 increments per body and one multiplier per row. Slots of the linear
// system are the bodies of a part, 6 wide, then its joints, as wide as they have rows:
//
//   K = | bh^2 (A - G)   -J'        |     U holds the blocks above the diagonal, lower those below:
//       |      J       c/bh^2 + e W |     (body, body) of G, (body, joint) of J
//
// Multipliers are scaled by bh^2 inside, which makes the condition of K independent of h.
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "dual/block_lu.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "rigid/axis_row.h"
#include "rigid/body_residual.h"
#include "rigid/books.h"
#include "rigid/inputs.h"

/// Names of the timed stages.
#define MABD_QUATERNION_STAGE_LIST(X)                                                              \
    X(STEP, "step") /* everything but the two below */                                             \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")

typedef enum mabd_quaternion_stage {
#define X(name, text) MABD_QUATERNION_##name,
    MABD_QUATERNION_STAGE_LIST(X)
#undef X
        MABD_QUATERNION_STAGE_COUNT
} mabd_quaternion_stage;

/// Reals of a body at a node: c (3), q (4), v (3), w (4).
#define MABD_NODE_REALS 14

/// A node of the integrator: bodies and controlled coordinates.
typedef struct mabd_quaternion_node {
    mabd_real* body; // (bodies x MABD_NODE_REALS)
    mabd_real* x;    // (coordinates x 2) coordinate and rate
} mabd_quaternion_node;

/// A joint in the linear system of its part. Slots are those of the part, -1 = the side does not
/// move by forces.
typedef struct mabd_quaternion_joint {
    int32_t joint;          // in the model
    int32_t row;            // first of its rows, over all parts
    int32_t width;          // rows: rigid ones, then one per control; may be 0
    int32_t motor;          // first of its motors, as numbered by the inputs
    int32_t slot_a, slot_b; // of its bodies
    int32_t slot;           // its own, -1 = no rows
    /// Offsets in U and lower of the blocks (a, joint), (b, joint), (a, b); SIZE_MAX = none.
    size_t block_a, block_b, block_ab;
} mabd_quaternion_joint;

struct mabd_body_graph;
struct mabd_elimination;
/// Most halvings of a step, as mabd_sim_def allows them.
#define MABD_QUATERNION_HALVINGS 20

/// How a part took its last step, for derivatives.
typedef struct mabd_quaternion_taken {
    mabd_integrator method;
    bool had_slope; // the slope at its start was known
    bool halved;
    bool impact; // velocities jumped at its end (kinematics.h)
    bool rough;  // the law of an axis changed its branch, or is where two meet
    int32_t parts[MABD_QUATERNION_HALVINGS + 1]; // parts of h/2^i, in this order
} mabd_quaternion_taken;

/// A component of the joint graph.
typedef struct mabd_quaternion_part {
    int32_t body_first, body_count;   // in sim->bodies
    int32_t joint_first, joint_count; // in sim->joints
    int32_t row_first, row_count;     // rows of its joints
    int32_t slot_first, slot_count;   // in the slot arrays
    int32_t edge_first, edge_count;   // in the edge arrays
    size_t vector_first;              // of its unknowns in vectors: 6 per body, then its rows
    mabd_dual_lu* lu;                 // null with the symmetric Newton
    struct mabd_body_graph* graph; // for multipliers of redundant rows (body_graph.h); null = none
    struct mabd_elimination* elimination; // of redundant rows (elimination.h); null = none
    bool constrained;                     // its rows determine all poses (constrained.h)
    bool redundant;                       // its rows depend on each other at the start
    mabd_real shift;                      // e of the file head
    bool has_history;                     // `last` is one step before `now`: BDF2 may use it
    bool has_slope;                       // `slope` is the derivative at `now`
    bool history_after;                   // values after the step that is being taken
    bool slope_after;
    bool laws;                   // some axis has a force law (axes.c)
    bool has_branches;           // `branch` is known: a step was taken
    mabd_axis_stalls stalls;     // of the search for branches
    mabd_quaternion_taken taken; // the last step
} mabd_quaternion_part;

/// Report of the step of one part.
typedef struct mabd_quaternion_report {
    mabd_status status;
    int32_t body, joint; // of a failure, -1 = none
    const char* reason;
    mabd_real off; // of a target, before the reason; 0 = none
    int32_t iterations, line_searches, refinements, retries, substeps, redundant_rows;
    bool converged;
    bool near;           // the last failure was a stall near a solution (newton.c)
    mabd_real round_off; // largest residual above the tolerance that is round-off (round_off.c)
    mabd_real gap, angle_error, consistency;
    int32_t worst_joint;
    int32_t fallbacks;       // iterations with the symmetric part of the matrix
    int32_t dual_iterations; // of iterative dual solvers
    mabd_real dual_residual;
    double factor_seconds, solve_seconds;
} mabd_quaternion_report;

struct mabd_quaternion_dual;

typedef struct mabd_quaternion_sim {
    const mabd_model* model;
    const mabd_model_start* start; // (bodies) of the run
    mabd_sim_def def;              // resolved
    mabd_warnings warnings;
    mabd_pool* pool;
    void* memory;
    size_t memory_size, state_bytes, lu_bytes;
    mabd_allocator allocator; // of the factors
    double times[MABD_QUATERNION_STAGE_COUNT];

    int32_t part_count, body_count, joint_count, row_count, slot_count, edge_count;
    size_t unknown_count, diagonal_reals, edge_reals;
    mabd_quaternion_part* parts;
    mabd_quaternion_report* reports; // (parts)
    mabd_quaternion_joint* joints;   // by part
    int32_t* bodies;                 // bodies that move by forces, by part
    int32_t* joint_place;            // place of a joint of the model in `joints`, -1 = none
    int32_t* body_slot;              // slot in its part (bodies + 1), -1 = does not move by forces
    int32_t* body_script;            // script of a body (bodies + 1), -1 = none
    int32_t* body_force;             // first force of a body (bodies + 1)

    // pattern of K, by part
    int32_t *width, *slot_row, *order;
    bool* late; // joints: their diagonal blocks may be zero
    int32_t *edge_from, *edge_to;
    size_t *slot_block, *edge_block;
    struct mabd_quaternion_dual* dual; // of the symmetric Newton (symmetric.h), null = exact
    // numbers of K
    mabd_real *D, *U, *lower;

    // state
    mabd_quaternion_node now, last, slope; // at the time, one step ago; derivative at the time
    mabd_real* lambda;                     // (rows) of the last solve, force on b [N] or [N m]
    bool* dropped;                         // (rows) left out as redundant
    mabd_rigid_inputs inputs;              // targets and forces from outside
    mabd_axis_branch* branch;              // (coordinates) of the laws of axes in the last step
    mabd_rigid_books books;                // energies at the start, works since

    // workspace
    mabd_quaternion_node base, stage, past, next, next_slope;
    mabd_real* next_lambda;               // (rows)
    bool* last_dropped;                   // (rows) before the step
    mabd_real* stage_lambda;              // (rows) of the first of two solves
    mabd_real* start_lambda;              // (rows) of accelerations at the start of a step
    mabd_real* mean_lambda;               // (rows) means over the step, for works
    mabd_axis_branch* stage_branch;       // (coordinates) likewise
    mabd_real* trial;                     // (bodies x 7) pose that a line search tries
    mabd_real* pose;                      // (bodies x 7) of the iterate
    mabd_real *y, *rhs, *rest, *residual; // (unknowns)
    mabd_real* multiplier;                // (rows) scaled multipliers of the iterate
    mabd_real* trial_multiplier;          // (rows)
    mabd_real* row_x;                     // (rows) coordinates of controls at the iterate
    mabd_real* input;                     // (coordinates + motors) targets and forces of the solve
    mabd_real* force_lambda;              // (rows) multipliers of the accelerations
    mabd_axis_search* axes;               // (coordinates) of axes with laws
    bool forces_known;                    // force_lambda belongs to `now`
    mabd_real time;                       // [s] of `now`
} mabd_quaternion_sim;

/// Centre of a body of a node, or of a pose.
MABD_FN mabd_vec3 mabd_node_center(const mabd_real* row) {
    return mabd_v3_load(row);
}
/// Unit quaternion of a body of a node, or of a pose.
MABD_FN mabd_quat mabd_node_turn(const mabd_real* row) {
    return mabd_q_load(row + 3);
}
