// SPDX-License-Identifier: Apache-2.0
// Data of a simulation in the impulse formulation [SI].
//
// A step is divided into equal parts, substeps. In each one the rows of joints, axes and contacts
// are linear in the velocities V = (v_a, w_a, v_b, w_b) of their two bodies, all in world axes:
//
//   J V = f . (v_b - v_a) + ta . w_a + tb . w_b         l: impulse of the row, +l J' on the bodies
//
// The rigid rows of a joint, its rigid servos, and springs, dampers, servos with gains and
// armatures of its axes are one block (rows.c); an axis with stops, a limited drive or friction is
// one row with its force law (axes.c).
//
// Blocks are swept in the order of impulse_colors.h, in lanes (impulse_packs.h), or all solved at
// once (impulse_direct.h); then the rows of axes, in the order of the model.
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "mabd/sim.h"
#include "math/sym3.h"
#include "rigid/axis_row.h"
#include "rigid/books.h"
#include "rigid/inputs.h"
#include "rigid/stability.h"

/// Names of the timed stages.
#define MABD_IMPULSE_STAGE_LIST(X)                                                                 \
    X(STEP, "step")         /* everything but the stages below */                                  \
    X(CONTACTS, "contacts") /* search */                                                           \
    X(ROWS, "rows")                                                                                \
    X(SWEEP, "sweep")

typedef enum mabd_impulse_stage {
#define X(name, text) MABD_IMPULSE_##name,
    MABD_IMPULSE_STAGE_LIST(X)
#undef X
        MABD_IMPULSE_STAGE_COUNT
} mabd_impulse_stage;

/// Most rows of a block: one for each freedom of two bodies.
#define MABD_IMPULSE_MAX_ROWS 6

/// What a row of a block beyond the rigid ones does.
typedef enum mabd_impulse_kind {
    MABD_IMPULSE_SERVO, // holds the coordinate of a control
    MABD_IMPULSE_LINE,  // spring, damper, servo with gains, armature on the coordinate
    MABD_IMPULSE_TURN,  // all of that on a component of the relative angular velocity
} mabd_impulse_kind;

/// Row of a block beyond the rigid ones.
typedef struct mabd_impulse_control {
    mabd_impulse_kind kind;
    int32_t control; // of the row set
} mabd_impulse_control;

/// A body in the sweeps: one cache line.
typedef struct mabd_impulse_line {
    mabd_real v[3], w[3];   // velocity of the centre, angular velocity; world
    mabd_real inverse_mass; // [1/kg], 0: it does not move by forces
    mabd_real moves;        // 1, or 0: it does not move by forces
} mabd_impulse_line;

/// Angular velocities of a body in a substep, principal frame (forces.c).
typedef struct mabd_impulse_spin {
    mabd_vec3 start; // at its start
    mabd_vec3 end;   // with loads and without impulses
    mabd_vec3 mean;  // with which the body turns without impulses
} mabd_impulse_spin;

/// Row J of the file head.
typedef struct mabd_impulse_row {
    mabd_vec3 f, ta, tb;
} mabd_impulse_row;

/// The rows of a block in a substep.
typedef struct mabd_impulse_block {
    mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
    mabd_real bias[MABD_IMPULSE_MAX_ROWS]; // b: rates that sweeps end
    mabd_real hold[MABD_IMPULSE_MAX_ROWS]; // likewise in relaxations
    mabd_real give[MABD_IMPULSE_MAX_ROWS]; // rate by impulse of rows of axes, 0 = rigid
} mabd_impulse_block;

/// A joint with at least one body that moves by forces.
typedef struct mabd_impulse_joint {
    int32_t a, b;  // bodies, body_count = world
    int32_t joint; // in the model
    int32_t row;   // first of its block in lambda
    int32_t axis;  // first of its rows in `axes`
    int32_t width; // rows of its block
    int32_t axis_count;
    bool firm;   // has rows of axes: its rigid rows do not give way
    bool locked; // its last three rigid rows lock the rotation
} mabd_impulse_joint;

/// A row with the force law of an axis.
typedef struct mabd_impulse_axis {
    int32_t a, b;
    int32_t joint, control; // in the model, in its row set
    mabd_impulse_row J;
    mabd_real K;            // J M^-1 J'
    mabd_real shift;        // J g: part of the rate of the coordinate besides J V (forces.c)
    mabd_axis_law law;      // of the displacement h (J V + J g) in the substep
    mabd_real lower, upper; // of the stops from the coordinate at the start of the substep
    mabd_real moved;        // displacement in the substep
    mabd_real before;       // J V at the start of the substep
} mabd_impulse_axis;

/// A body that carries more than its inertia holds (carriers.c).
typedef struct mabd_impulse_carrier {
    int32_t body;
    mabd_sym3 over;   // inverse of the inertia that impulses see, principal frame [1/(kg m^2)]
    mabd_vec3 torque; // of loads in the substep, principal frame [N m]
} mabd_impulse_carrier;

/// How rows give way: dl = mass K^-1 (-(J V + b)) - leak l, b = rate C.
typedef struct mabd_impulse_soft {
    mabd_real rate; // [1/s]
    mabd_real mass, leak;
} mabd_impulse_soft;

/// Blocks of joints in lanes (impulse_blocks.h), and all at once (impulse_direct.h).
typedef struct mabd_impulse_blocks mabd_impulse_blocks;
typedef struct mabd_impulse_direct mabd_impulse_direct;
/// Functions of one instruction set (impulse_sweep.h).
typedef struct mabd_impulse_lanes mabd_impulse_lanes;
typedef struct mabd_impulse_contacts mabd_impulse_contacts;

typedef struct mabd_impulse_sim {
    const mabd_model* model;
    const mabd_model_start* start; // (bodies) of the run
    mabd_sim_def def;              // resolved
    mabd_warnings warnings;
    mabd_pool* pool;
    mabd_allocator allocator;
    void* memory;
    size_t memory_size, state_bytes;
    double times[MABD_IMPULSE_STAGE_COUNT];

    int32_t joint_count, row_count, axis_count;
    bool firm;                  // some joints are
    bool steady;                // loads are those of gravity alone, and set
    mabd_impulse_joint* joints; // in the order of the model
    int32_t* joint_place;       // (joints of the model) in `joints`, -1 = none
    const mabd_impulse_lanes* lanes;
    int32_t pack_count;          // of bodies that move by forces (impulse_bodies.h)
    int32_t* moving;             // (packs x 8)
    bool* round;                 // (packs)
    mabd_real* made;             // (bodies x 8)
    int32_t* body_script;        // (bodies + 1) -1 = none
    int32_t* body_force;         // (bodies + 1) first force of a body
    mabd_impulse_blocks* blocks; // joints = iterative, else null
    mabd_impulse_direct* direct; // joints = direct, else null
    mabd_real size2;             // mabd_impulse_largest_size2

    // state
    mabd_impulse_line* lines; // (bodies + 1)
    mabd_quat* q;             // (bodies + 1) rotations of the principal frames
    mabd_vec3* c;             // (bodies + 1) centres of mass, world [m]
    mabd_real* x;             // (coordinates x 2) controlled coordinates of joints and their rates
    mabd_real* lambda;        // (rows) impulses of the last substep [N s], [N m s]
    mabd_real* axis_impulse;  // (axes) likewise
    mabd_real part;           // length of the last substep [s], 0 = none
    int32_t depth;            // of automatic substeps: 2^depth in a step
    mabd_rigid_inputs inputs;
    mabd_rigid_books books;
    mabd_real given; // most energy that bodies were given in the run so far [J] (divergence.c)
    mabd_real time;  // [s] of the state

    // state before the step
    mabd_impulse_line* last_lines;
    mabd_quat* last_q;
    mabd_vec3* last_c;
    mabd_real *last_x, *last_lambda, *last_axis_impulse, last_part, last_given;
    mabd_rigid_books last_books;

    // workspace
    mabd_real h;                     // of a substep [s]
    mabd_real from;                  // time at the start of the substep [s]
    mabd_impulse_contacts* contacts; // null = none
    mabd_impulse_soft soft_contact;
    mabd_impulse_soft soft;          // of joints
    mabd_impulse_line* begin_lines;  // (bodies + 1) at the start of the substep
    mabd_rigid_pose* poses;          // (bodies + 1) at the start of the substep
    mabd_sym3* inertia;              // (bodies + 1) inverse, world [1/(kg m^2)]
    mabd_impulse_spin* spin;         // (bodies + 1)
    mabd_vec3* shift;                // (bodies + 1) g: rate of turning besides w, world (forces.c)
    mabd_rigid_wrench* load;         // (bodies + 1)
    mabd_impulse_axis* axes;         // (axes) by joint
    mabd_rigid_stability* stability; // (bodies)
    mabd_real* carried;              // (bodies + 1) bound of stiffness against turns [N m]
    mabd_impulse_carrier* carriers;  // (bodies) the first carrier_count
    int32_t carrier_count;
    mabd_real carried_most;    // largest (h w)^2 of them
    bool carrying;             // there were some since the start
    mabd_real* axis_work;      // (coordinates) work through the controls in the step [J]
    mabd_real change, largest; // of impulses in the last sweep
    int32_t sweep;             // number of the sweep in the step
    bool keep_rows;            // K^-1 of the first substep (rows_lanes.c)
    bool turned;               // the substep begins backwards (sweep.c)
} mabd_impulse_sim;
