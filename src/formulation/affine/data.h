// SPDX-License-Identifier: Apache-2.0
// State and workspace of a simulation in the affine formulation. All arrays are in one arena; the
// stages of a step allocate nothing and loop in fixed order:
//
//   predict    rigid reference                                 per body
//   assemble   y = H^-1 r, K = J H^-1 J' + c, b = J y + C      per body, for the joints it carries
//   factor, solve   K lambda = b                               per component (dual/)
//   update     q_new = ref + y - H^-1 J' lambda, stress        per body
//   active set   branches of axes with stops, limits, friction  per joint with such axes
//   check      errors of the rows at q_new                     per joint
//   relinearize  reference <- (rotation of A_new, t_new)         per body, before another iteration
//   finish     rates, history                                  per body
//   books      energy by cause (energy_books.c)                per joint and body that does work
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "dual/dual.h"
#include "formulation/affine/body_types.h"
#include "formulation/affine/contact/contact.h"
#include "formulation/affine/report.h"
#include "formulation/affine/scheme.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "rigid/axis_row.h"

/// Names of the timed stages.
#define MABD_AFFINE_STAGE_LIST(X)                                                                  \
    X(PREDICT, "predict")                                                                          \
    X(CONTACT, "contact")                                                                          \
    X(ASSEMBLE, "assemble")                                                                        \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")                                                                              \
    X(UPDATE, "update")                                                                            \
    X(CHECK, "check")                                                                              \
    X(FINISH, "finish")
/// The timed stages.
typedef enum mabd_affine_stage {
#define X(name, text) MABD_AFFINE_STAGE_##name,
    MABD_AFFINE_STAGE_LIST(X)
#undef X
        MABD_AFFINE_STAGE_COUNT
} mabd_affine_stage;

/// Array sizes, computed from the model only.
typedef struct mabd_affine_sizes {
    size_t bodies, coordinates, rows, diagonal_reals, edge_reals;
    size_t classes, row_sets, forces, components, widest_body, motor_only;
    size_t threads;
    size_t axes;      // coordinates, or 0 if no axis has a law (joint/axis_law.h)
    size_t turns;     // coordinates, or 0 if no rotation has dampers (element/turn_damper.h)
    size_t turn_laws; // coordinates, or 0 if no rotation with dampers has a law
    size_t guess;     // rows, or 0 if no dual solver is iterative
    size_t held;      // bodies, or 0 without contacts: nothing is solved twice at a reference
    size_t sleeps;    // bodies, or 0 if the scene may not sleep (asleep.c)
    size_t rest;      // rows, or 0 if no component may be softened (factor.c)
    size_t groups;    // of components (factor.c)
    size_t targets;   // copies x controls (targets.c)
    size_t copies;    // 0 = none
    size_t spins;     // bodies, or 0 if no body turns in its own frame (element/spin.h)
    size_t by_copy;   // bodies, or 0 if copies do not settle one by one (copies.c)
    size_t booked_joints, booked_bodies; // that do work of their own (energy_books.c)
    size_t booked_controls;              // as many as controls, or 0 without them
} mabd_affine_sizes;

/// One control row at the end time of the step: lambda = (x - x_star)/c.
typedef struct mabd_affine_control_value {
    mabd_real compliance; // c = 1/(k + d/bh + I/bh^2), 0 = rigid
    mabd_real target;     // k rest + kp target(t) [N or N m], or target(t) of a rigid one
    mabd_real drive;      // target or rate of the drive of a law
} mabd_affine_control_value;

/// Compute mabd_affine_control_value.target of a control whose servo has the target `target`.
MABD_FN mabd_real mabd_affine_control_target(const mabd_control* control, mabd_real target) {
    return control->rigid ? target : control->offset + control->gain * target;
}

/// Compute x* = c (k rest + kp target + d x_b/bh + I (x_b/bh + x'_b)/bh), rate = 1/bh.
MABD_FN mabd_real mabd_affine_control_goal(const mabd_control* control,
                                           const mabd_affine_control_value* value, mabd_real rate,
                                           mabd_real x_b, mabd_real xd_b) {
    return value->compliance * (value->target + rate * (control->damping * x_b +
                                                        control->armature * (rate * x_b + xd_b)));
}

/// True if control r of a row set is an axis of a damped rotation (element/turn_damper.h).
MABD_FN bool mabd_affine_is_damped_turn(const mabd_row_set* set, int32_t r) {
    return set->damped && r >= set->turn && r < set->turn + 3;
}

/// Bodies with at most this many joints save y (12) and their blocks (9 each), which are reused
/// while only contacts of other bodies change.
#define MABD_SAVED_SIDES 2
#define MABD_SAVED_REALS (12 + 9 * 3)

/// Work of a booked joint since the start of the run, row of sim->work_joint [J]. The last two are
/// of the solves of the current step.
enum {
    MABD_BOOK_DRIVES,
    MABD_BOOK_SCRIPTS,
    MABD_BOOK_DAMPERS,
    MABD_BOOK_FRICTION,
    MABD_BOOK_IMPACTS,
    MABD_BOOK_STOPS, // taken by its stops
    MABD_BOOK_PUSH,  // force of its stops times displacement
    MABD_BOOK_JOINT_COLUMNS,
};
/// Work of a booked body since the start of the run, row of sim->work_body [J].
enum { MABD_BOOK_FORCES, MABD_BOOK_DRAG, MABD_BOOK_BODY_COLUMNS };

/// Work of contacts [J].
typedef struct mabd_affine_contact_energy {
    mabd_real friction, impacts; // taken
    mabd_real scripts;           // done by scripted bodies
    mabd_real surfaces;          // done by surfaces that move over their bodies
    mabd_real rolling;           // taken by rolling and spinning friction
} mabd_affine_contact_energy;

/// Energy books of a simulation that are on the host on all backends (energy_books.c).
typedef struct mabd_affine_books {
    mabd_real start[4];                 // kinetic, gravity, elastic, spring at the start [J]
    mabd_real applied;                  // work of forces for one step [J]
    mabd_affine_contact_energy contact; // of finished steps
    mabd_real stored[2]; // in contacts at the end of the last step: normal, tangential [J]
    mabd_affine_contact_energy pending; // of the solves of the current step; not saved
    bool solved;                        // the current step has finished a solve; not saved
} mabd_affine_books;

/// The row of an axis with a force law, and its current branch.
typedef struct mabd_affine_axis_state {
    bool known;                  // false until the first assemble of a solve
    mabd_real remainder;         // of its coordinate at the reference (joint/rows.h)
    mabd_real x_low, lambda_low; // at the best point of the search for contacts
    // of a stop with rebound that the axis moves to, in a solve by implicit Euler
    int8_t rebound;       // -1 the lower one, 1 the upper one, 0 none
    bool rebound_waits;   // its place follows from the first linear solve, which has no such stop
    mabd_real rebound_at; // its place in this solve
    mabd_axis_search search;
} mabd_affine_axis_state;

/// One row J of a body and Y = H^-1 J'.
typedef struct mabd_affine_row_work {
    mabd_vec12 J, Y;
} mabd_affine_row_work;

/// One joint on a body during assembly. Point rows come first and need no J: the attachment
/// determines their blocks.
typedef struct mabd_affine_side_work {
    mabd_affine_attachment point;
    mabd_real sign;                                 // of the point rows: +1 on body b, -1 on a
    int32_t points;                                 // point rows: 3 or 0
    int32_t others;                                 // rows after them
    mabd_affine_row_work rows[MABD_JOINT_MAX_ROWS]; // (others)
} mabd_affine_side_work;

/// One joint with point rows and vector rows on a body (affine/element/assemble_springs.h).
typedef struct mabd_affine_spring_work {
    mabd_affine_attachment point;
    mabd_real sign; // of the point rows: +1 on body b, -1 on a
    int32_t count;  // vector rows, 0..3
    mabd_vec3 N[3]; // (count) axes
    mabd_mat3 V;    // compliance between point and rotation, multiplied by sign R
} mabd_affine_spring_work;

/// How a body is assembled.
typedef enum mabd_affine_body_kind {
    MABD_BODY_GENERAL,  // any rows and forces
    MABD_BODY_SIMPLE,   // point rows only, no forces but inertia and gravity
    MABD_BODY_SPRUNG,   // point rows and vector rows, any forces but motors
    MABD_BODY_JUNCTION, // its degrees of freedom are unknowns of the dual system
    MABD_BODY_ROWS,     // point, slide and cross rows, no forces but inertia and gravity
} mabd_affine_body_kind;

/// A copy of a batch in the current solve, where copies settle one by one (copies.c).
typedef struct mabd_affine_copy_state {
    bool settled; // its result is within the tolerances
    bool saved;   // its result is saved while other copies continue
    mabd_real rotation;
    int32_t rotated_body;         // -1 = no moving bodies
    mabd_affine_joint_error open; // errors of its last solve
} mabd_affine_copy_state;

/// Copies that a solve is for. In a step in which some copies have a jump, all are solved twice,
/// and each copy keeps the solve that is meant for it (copies.c).
typedef enum mabd_affine_scope {
    MABD_SCOPE_ALL,
    MABD_SCOPE_STEADY,  // those without a jump, by BDF2
    MABD_SCOPE_JUMPING, // those with a jump, by SDIRK2
} mabd_affine_scope;

/// Parts of such a step around its solves (element/copy.h).
typedef enum mabd_affine_steady_part {
    MABD_STEADY_KEEP,
    MABD_STEADY_RETURN,
    MABD_STEADY_TAKE,
} mabd_affine_steady_part;

/// Tolerances at which a copy has settled.
typedef struct mabd_affine_copy_goal {
    mabd_real rotation;    // of its bodies, at most [rad]
    mabd_real joint_error; // of its rows, at most [m], [rad]
    bool first;            // solve: no copy has settled before
    bool every_row;        // all rows count, otherwise only nonlinear rows
    bool last;             // no solve follows: report the errors of all copies
} mabd_affine_copy_goal;

/// How a side writes to the block of its joint.
typedef enum mabd_affine_side_mode {
    MABD_SIDE_ADD,      // adds to the share of the first side
    MABD_SIDE_FIRST,    // writes
    MABD_SIDE_GROUND,   // writes; it is the only side, because the other body does not move
    MABD_SIDE_DEFERRED, // writes to separate storage: the first side is in another tile
} mabd_affine_side_mode;

/// A deferred side, whose joint is started in another tile. At `offset` in
/// mabd_affine_shares.values are its block (width^2) and its right-hand side (width).
typedef struct mabd_affine_deferred {
    int32_t side; // of the plan
    int32_t slot;
    size_t offset;
} mabd_affine_deferred;

/// Where the sides of all joints write their shares of the dual system.
typedef struct mabd_affine_shares {
    int32_t deferred_count;
    size_t value_count;
    uint8_t* side_mode;  // (sides of the plan) mabd_affine_side_mode
    size_t* side_offset; // (sides of the plan) in values, of deferred sides; devices only
    mabd_affine_deferred* deferred; // (deferred_count) rising by side
    mabd_real* values;              // (value_count) shares of deferred sides
} mabd_affine_shares;

/// Tiles and packs of bodies (affine/cpu/pack.h).
typedef struct mabd_affine_packs mabd_affine_packs;
typedef struct mabd_affine_analysis mabd_affine_analysis;

/// Position of a solve in the iteration. Geometric stiffness is computed from the stress of the
/// last step or of the last iteration, and does not change at one reference.
typedef enum mabd_affine_pass {
    MABD_PASS_FIRST, // first solve of a step
    MABD_PASS_NEXT,  // first solve at a new reference
    MABD_PASS_AGAIN, // another solve at the same reference
} mabd_affine_pass;

/// The reduced chain of a component (affine/cpu/reduced_chain.h).
typedef struct mabd_affine_reduced_chain mabd_affine_reduced_chain;

/// The stages as compiled for one instruction set (affine/cpu/isa_table.h).
typedef struct mabd_affine_isa_table mabd_affine_isa_table;

/// Consecutive components that one thread factors and solves, and the result.
typedef struct mabd_affine_group {
    int32_t first, last; // components first .. last - 1
    mabd_status status;
    int32_t joint; // where it failed
    mabd_dual_report report;
} mabd_affine_group;

/// The table of a backend (formulation/affine/backend.h).
typedef struct mabd_affine_backend_ops mabd_affine_backend_ops;

struct mabd_affine_sim {
    const mabd_model* model;
    const mabd_affine_backend_ops* backend; // where the stages run
    mabd_sim_def def;
    bool iterates;      // some component has an iterative dual solver
    bool has_history;   // q1, v1 are one step h behind: BDF2 may use them
    bool is_start;      // no step has been taken since the state was set
    void* memory;       // the arena
    size_t memory_size; // [bytes]
    const mabd_affine_isa_table* stages;
    mabd_affine_packs* packs;
    mabd_affine_shares* shares;                // of the packs
    mabd_pool* pool;                           // null = one thread
    mabd_affine_reduced_chain* reduced_chains; // (components) null = no segments
    mabd_affine_sizes sizes;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    mabd_real* name; // (count x columns) [unit]
#include "formulation/affine/fields.def"
#undef FIELD
    mabd_affine_block* blocks; // (classes) for step.beta_h; with contacts as many for euler.beta_h
    mabd_affine_control_value* controls; // (row_sets x MABD_JOINT_MAX_ROWS)
    mabd_real* motors;                   // (row_sets x MABD_JOINT_MAX_ROWS) [N] or [N m]
    mabd_real* target;                   // (targets) STATE: set from outside (targets.c)
    bool* target_set;                    // (targets) STATE: the target replaces the signal
    mabd_real* last_target;              // (targets) STATE: of the last step (jumps.c)
    bool* last_set;                      // (targets) STATE: of the last step
    mabd_real* older_target;             // (targets) STATE: of the step before the last
    bool* older_set;                     // (targets) STATE: of the step before the last
    bool* jumps;                         // (control copies) have a jump in the current step
    mabd_affine_copy_state* copies;      // (copies) in the current solve
    mabd_affine_axis_state* axes;        // (axes) by coordinate
    mabd_axis_stalls stalls;             // of the active set of axes (rigid/axis_row.h)
    mabd_real* force_scale;              // (forces) signal values
    mabd_real* applied; // (bodies x 6) STATE: force and torque for the next step, world [N, N m]
    uint64_t* applied_print; // (control copies) STATE: of the forces in the last step (jumps.c)
    mabd_real step_time;     // beginning of the current step [s]
    bool has_applied;        // STATE: some are not 0
    bool had_applied;        // STATE: some were not 0 in the last step
    bool has_steps;          // some signal of the model is piecewise constant
    bool restarts;           // the current step has history and does not use it: jumps
    bool is_stage;           // the current solve is the first one of SDIRK2
    mabd_affine_books books; // STATE, in part
    int32_t *booked_joint, *booked_body;       // (booked_joints), (booked_bodies) rising
    mabd_affine_control_value* controls_start; // (booked_controls) controls at the start of a step
    mabd_real* motors_start;                   // (booked_controls) motors there
    mabd_real* force_start;                    // (forces) force_scale there
    mabd_vec3 wind_start;                      // wind there [m/s]
    const mabd_model_start* start;             // (bodies) of the run
    mabd_warnings warnings;                    // from creation on
    bool warned_fast;                 // of a body that turns too far in a step (fast_bodies.c)
    bool warned_load;                 // of a body that a heavy one presses into another (loads.c)
    int32_t watched;                  // bodies before this one were looked at
    uint8_t* body_kind;               // (bodies) mabd_affine_body_kind
    bool* hangs_on_points;            // (bodies) its joints have point rows only, no controls
    bool* turns_freely;               // (bodies) no rigid row of its joints holds a rotation
    bool* anchored;                   // (bodies) its component has a joint to the ground
    int32_t* motor_only;              // (motor_only) joints that have motors but no rows
    mabd_affine_side_work* sides;     // (widest_body)
    mabd_affine_spring_work* springs; // (widest_body)
    mabd_vec3* points;                // (widest_body)
    const mabd_dual_ops** duals;      // (components) selected solver, null without rows
    void** solvers;                   // (components) of dual/
    mabd_affine_analysis* analysis;   // during plan and creation (dual_analysis.h), else null
    bool* softened;                   // (components) factored with softened rows (factor.c)
    mabd_affine_group* groups;        // (groups) of all components
    mabd_dual dual;                   // dual solver of the definition
    mabd_affine_scope scope;          // copies that the current solve is for
    mabd_real gap_tolerance;          // of iterative solvers [m], [rad]
    // of the last solve: iterations of all components, largest residual
    mabd_dual_report dual_report;
    bool shared_edges;              // some off-diagonal block gets shares of several bodies
    bool solvers_later;             // dual solvers are created on first use
    void* device;                   // data of a backend on its device, null = none
    mabd_affine_contacts* contacts; // null = the model has none
    mabd_affine_step_scale step;
    mabd_affine_step_scale euler;          // of bodies that were hit (affine/contact/contact.h)
    mabd_real blocks_beta_h[2];            // beta h of `blocks`
    double times[MABD_AFFINE_STAGE_COUNT]; // wall time of each stage [s]
};

/// True if a body uses implicit Euler in the current solve, even if others do not.
MABD_FN bool mabd_affine_is_euler(const mabd_affine_sim* sim, int32_t body) {
    return sim->contacts && sim->contacts->by_body.euler[body] != MABD_EULER_NOT;
}
/// Returns the coefficients of the current solve for a body.
MABD_FN const mabd_affine_step_scale* mabd_affine_scale(const mabd_affine_sim* sim, int32_t body) {
    return mabd_affine_is_euler(sim, body) ? &sim->euler : &sim->step;
}
/// Returns the constant block of a body in the current solve.
MABD_FN const mabd_affine_block* mabd_affine_block_of(const mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_block* blocks = sim->blocks + sim->model->body_class[body];
    return mabd_affine_is_euler(sim, body) ? blocks + sim->sizes.classes : blocks;
}

/// Compute A X + t of a body, world [m]. q: affine coordinates of all bodies (bodies + 1 x 12).
MABD_FN mabd_vec3 mabd_affine_point_of(const mabd_real* q, int32_t body, mabd_vec3 X) {
    q += 12 * (size_t)body;
    return mabd_v3_add(mabd_m3_mul(mabd_m3_load(q), X), mabd_v3_load(q + 9));
}

/// Outcome of an update of the branches of axes with laws.
typedef struct mabd_affine_axis_report {
    int32_t changed; // axes that were on the wrong branch
    mabd_real miss;  // largest distance of one of them from its graph [m], [rad]
    // largest distance of an axis on a vertical branch from its place [m], [rad]
    mabd_real joint_error;
    int32_t joint; // joint with the larger of the two, -1 = none
} mabd_affine_axis_report;

/// Fill both states of a joint view from affine coordinates (bodies + 1 x 12).
MABD_FN void mabd_affine_view(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                              const mabd_real* q, mabd_joint_view* view) {
    const mabd_real *a = q + 12 * (size_t)joint->a, *b = q + 12 * (size_t)joint->b;
    mabd_model_joint_view(sim->model, joint, view);
    view->Aa = mabd_m3_load(a), view->ta = mabd_v3_load(a + 9);
    view->Ab = mabd_m3_load(b), view->tb = mabd_v3_load(b + 9);
}

/// Relative angular velocity (3) of the damped rotation of a joint, joint frame on b [rad/s].
MABD_FN const mabd_real* mabd_affine_turn_rate_of(const mabd_affine_sim* sim,
                                                  const mabd_model_joint* joint) {
    const int32_t first = sim->model->row_sets[joint->row_set].turn;
    return sim->turn + 4 * (size_t)(joint->coordinate + first) + 6;
}

/// Fill a joint view at the reference, with the rotation vector that assemble computed.
MABD_FN void mabd_affine_ref_view(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                  mabd_vec3* phi, mabd_joint_view* view) {
    mabd_affine_view(sim, joint, sim->ref, view);
    if (joint->coordinate < 0 || !sim->model->row_sets[joint->row_set].vectors) return;
    *phi = mabd_v3_load(sim->phi + 3 * (size_t)joint->coordinate);
    view->phi = phi;
}

/// Compute the axis of the vector row of control k of a joint on body a or b, in the frame of that
/// body, sign included. R: reference of the body.
MABD_FN mabd_vec3 mabd_affine_turn_axis(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                        int32_t k, int is_b, mabd_mat3 R) {
    const mabd_vec3 n = mabd_v3_load(sim->turn_axes + 3 * (size_t)(joint->coordinate + k));
    return mabd_v3_scale(is_b ? 1 : -1, mabd_m3_tmul(R, n));
}

/// Read H^-1 J' lambda of a junction, which the dual system solves for.
MABD_FN mabd_vec12 mabd_affine_junction_freedoms(const mabd_affine_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t slot = plan->sides[plan->side_start[body] + plan->early[body]].slot;
    return mabd_vec12_load(sim->lambda + plan->slot_row[slot]);
}
