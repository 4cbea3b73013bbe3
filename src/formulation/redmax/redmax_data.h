// SPDX-License-Identifier: Apache-2.0
// Data of a simulation in the redmax formulation [RM]: coordinates of the joints of a tree that
// hangs at the ground.
//
// Every joint is a string of links, each with one primitive; all but the last are without mass:
//
//   fixed         no freedom
//   screw S       E = rest exp(S q)       hinge (a, 0), slide (0, a)
//   translation   E = rest (1, +-q)       three slides at once
//   ball          E = rest (R exp([q]), 0)  chart re-centred at R at the start of every step, or
//                 E = rest (Q(q), 0)        in a chart of its own (charts.c)
//   path          E = rest Q(q1, ...)     spline curve or surface (path.h)
//
// The frame of a link is that of its own joint: of the joint frame on the body that the string
// carries. A tree may reach a joint from its body b: then the string is reversed and its axes are
// negated, so that coordinates keep the sign and zero of the scene.
//
//   ground -- link 0 -- link 1 -- ...     links of a part are consecutive, parents before children
//                  \--- link 2 -- ...     freedoms of a link are consecutive, in the order of links
//
// A *part* is a component of the joint graph. It has its own Newton iteration, history and retries,
// so a copy of a batch gives the same bits alone and among others, and parts may run on any thread.
// Scripted bodies are strings of prescribed screws, one for each part that hangs at them.
#pragma once

#include "base/pool.h"
#include "base/warnings.h"
#include "formulation/redmax/loop_data.h"
#include "formulation/redmax/path.h"
#include "formulation/redmax/spring_data.h"
#include "mabd/sim.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "math/turn_chart.h"
#include "model/model_data.h"
#include "rigid/axis_row.h"
#include "rigid/books.h"
#include "rigid/frames.h"
#include "rigid/inputs.h"

/// Turn by the acceleration of one step above which an explicit method has diverged [rad]. It takes
/// forces and rows at the pose before the step; a quarter of a turn further they point elsewhere.
/// Steady turning has no limit.
#define MABD_REDMAX_EXPLICIT_TURN (MABD_PI / 2)
/// What such a failure says, before the label of the joint or body.
#define MABD_REDMAX_EXPLICIT_REASON                                                                \
    "the step diverges: its acceleration turns by more than a quarter of a turn at"

/// Most stages of an implicit method (step.c).
#define MABD_REDMAX_STAGES 2

/// Names of the timed stages.
#define MABD_REDMAX_STAGE_LIST(X)                                                                  \
    X(STEP, "step") /* everything but the three below */                                           \
    X(RESIDUAL, "residual")                                                                        \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")

typedef enum mabd_redmax_stage_name {
#define X(name, text) MABD_REDMAX_##name,
    MABD_REDMAX_STAGE_LIST(X)
#undef X
        MABD_REDMAX_STAGE_COUNT
} mabd_redmax_stage_name;

typedef enum mabd_primitive {
    MABD_PRIMITIVE_FIXED,
    MABD_PRIMITIVE_SCREW,
    MABD_PRIMITIVE_TRANSLATION,
    MABD_PRIMITIVE_BALL,
    MABD_PRIMITIVE_CURVE,
    MABD_PRIMITIVE_SURFACE,
} mabd_primitive;

typedef struct mabd_redmax_link {
    mabd_primitive kind;
    int32_t parent;                // link, -1 = ground
    int32_t body;                  // that it carries, -1 = none
    int32_t share_of;              // body of whose mass it has a share (cuts.c), -1 = none
    int32_t shares;                // links with shares of the mass of its body, itself left out
    int32_t joint;                 // of the model, -1 = none: free body or script
    int32_t first, count;          // freedoms
    int32_t ball;                  // number among balls, -1 = no ball
    int32_t chart;                 // mabd_joint_chart of a ball
    int32_t path;                  // number among curves and surfaces, -1 = none
    int32_t loop;                  // number among links with cut joints, -1 = none
    int32_t spring;                // number among links with springs, -1 = none
    bool reversed;                 // the tree reaches the joint from body b
    bool laws;                     // a ball with springs, dampers, armature, servos or motors
    bool last;                     // of its string
    const mabd_joint_piece* piece; // of its joint, null = a plain joint
    mabd_frame rest;               // E = rest Q
    mabd_spatial S;                // of a screw, w and v parallel; of a translation: sign in S.v.x
    mabd_frame principal;          // principal frame of its body, or of that it shares, in its own
    mabd_spatial_inertia M;        // of its body, or its share of it; else zero
    mabd_real drag;                // [N s/m]
} mabd_redmax_link;

/// One coordinate of a string: tau = base + push - k q - d q' - I q''. Where it has a law (axes.c),
/// push, k, d, held and hold are those of the branch of the law at the current solve.
typedef struct mabd_redmax_freedom {
    int32_t link;
    int32_t axis;                // mabd_axis in the joint, -1 = free body or script
    int32_t coordinate;          // of its control over all joints, -1 = none
    int32_t motor;               // of its motor over all joints, -1 = none
    int32_t law;                 // of its force law over all parts, -1 = none
    bool prescribed;             // follows a signal or target exactly; not of a ball
    bool held;                   // q = hold instead of its equation of motion; of a ball: theta
    const mabd_control* control; // null = none
    const mabd_motor* engine;    // null = none
    const mabd_signal* script;   // of a scripted body, null = none
    mabd_real k, d, I;
    mabd_real push;   // [N] or [N m]
    mabd_real miss;   // by which the bound of its pin is to change
    mabd_real bend;   // of -tau by q, by the load of its pin; 0 where bounds stand still
    mabd_real bound;  // of friction, with that of its pin at the current solve [N] or [N m]
    mabd_real hold;   // [m] or [rad]
    mabd_real length; // [m] of a translation, by which it is compared with angles; 1 of an angle
} mabd_redmax_freedom;

/// A ball at an iterate.
typedef struct mabd_redmax_ball {
    mabd_turn_chart chart;
    mabd_mat3 R;                      // rotation of the joint: centre of the chart times exp([q])
    mabd_mat3 by_v, by_a;             // dJ.v, dJ.a: column k = dJ_k v
    mabd_mat3 rate;                   // J' along the motion: sum v_k dJ_k
    mabd_mat3 bend;                   // column m = d/dq_m of (sum v_k dJ_k) v
    mabd_real k[9], d[9], inertia[9]; // -dtau/dq, -dtau/dq', -dtau/dq'' (row-major)
    bool holds;                       // some component of theta is held
    mabd_mat3 rows;   // then dtheta/dq, and the rows of its equations of motion that are left:
    mabd_mat3 forces; // those of the inverse transposed of `rows`, zero where theta is held
} mabd_redmax_ball;

/// The force law of a freedom with stops, a limited drive or friction, or of a rigid servo on a
/// component of a rotation vector.
typedef struct mabd_redmax_law {
    int32_t freedom;
    mabd_axis_search search;
    mabd_real drive; // target of its drive or rigid servo at the time of a solve
    mabd_real x_b;   // history of the coordinate of a ball: theta' = (theta - x_b)/gamma
    bool ends;       // its stop ended its rate in the step that is booked
    mabd_real yield; // bound of the compliance of the single coordinate over gamma^2
} mabd_redmax_law;

/// State of all parts at one time.
typedef struct mabd_redmax_node {
    mabd_real *q, *v; // (freedoms) coordinates and rates; of a ball 0, or q in its own chart, and
                      // angular velocity, link frame
    mabd_real* turn;  // (balls x 4) rotations of balls
    mabd_real* theta; // (balls x 3) rotation vectors of their joints, followed over whole turns
    int8_t* chart;    // (balls) mabd_joint_chart of q
} mabd_redmax_node;

/// How sweeps go over the links of a part (lean.h, redmax_lanes.h).
typedef struct mabd_redmax_structure {
    int32_t range_first, range_count;
    int32_t slot_first; // of N
    int32_t pack;       // -1 = none
    int32_t ball_first, ball_count;
    bool lean, plain;   // its sweeps are those of lean.h; and no link has three freedoms or rules
    bool ruled;         // lean, with laws, prescribed motion or friction of axes
    bool swept;         // the last residual was one of these
    bool divided_links; // has tasks
    bool bundled;       // its borders are eliminated along the tree (redmax_bundles.h)
    int64_t operations; // of which the last factor took so many, in pairs of * and +
} mabd_redmax_structure;

/// A component of the joint graph.
typedef struct mabd_redmax_part {
    int32_t link_first, link_count;
    int32_t freedom_first, freedom_count;
    int32_t body_count;
    int32_t law_first, law_count;
    int32_t cut_first, cut_count;       // joints that close loops
    int32_t row_first, row_count;       // their rows
    int32_t border_first, border_count; // rows, relative motions, changes of forces of springs
    int32_t motion_count;               // relative motions
    size_t matrix_first;
    int32_t spring_first, spring_count;
    int32_t spring_border;                  // behind the last border of its springs
    int32_t coupling_first, coupling_count; // their rows are the last ones of row_count
    mabd_axis_stalls stalls;                // of the search for branches
    bool has_branches;                      // sim->branch is known
    mabd_redmax_structure structure;
    int32_t lane_solved, lane_taken; // stages of its step solved in lanes, and those it has taken
    int32_t lane_iterations[MABD_REDMAX_STAGES], lane_searches[MABD_REDMAX_STAGES];
    double lane_seconds[MABD_REDMAX_STAGE_COUNT];
    bool touches;          // had contact points in the last step: it goes on by implicit Euler
    bool pins;             // the friction of some axis follows its load (pins.c)
    bool frictions;        // some axis has friction
    bool pushed;           // sim->push acts on its links
    bool has_charts;       // some ball has a chart of its own
    bool poses;            // forces depend on poses: variations have 18 entries, else 12
    bool driven;           // has prescribed freedoms or forces that turn with a body
    mabd_real reach;       // weight times length of its longest branch [J]
    mabd_real peak;        // largest kinetic energy so far [J]
    bool has_history;      // `last` is one step before `now`: BDF2 may use it
    bool history_after;    // value after the step that is being taken
    mabd_integrator taken; // method of the last step
    bool divided;          // the last step was taken in parts
    bool impact;           // and ended with impulses
    mabd_real stopped;     // work that stops took by these [J]
    bool rough;            // the law of an axis changed its branch in it, or is where two meet, or
                           // bdf2 failed
    mabd_real peak_after;
    int32_t corrections;       // of the poses that end the last step or part of one (closing.c)
    mabd_real last_correction; // largest change of a coordinate by the last of them [m], [rad]
} mabd_redmax_part;

/// Forces of contacts on a link, and how they change as it moves: their points move along its
/// surface (contact_push.c).
typedef struct mabd_redmax_thrust {
    mabd_spatial F;  // wrench in the link frame
    mabd_real K[36]; // its change by a small motion of the link, row-major; both in its frame
} mabd_redmax_thrust;

/// Report of the step of one part.
typedef struct mabd_redmax_report {
    mabd_status status;
    int32_t link;  // of a failure, -1 = none
    int32_t joint; // of a failure at a cut joint, -1 = none
    const char* reason;
    int32_t iterations, line_searches, retries, substeps, guarded, chart_switches;
    bool converged;
    bool unstable; // an explicit method has diverged: a shorter step now would hide it
    double seconds[MABD_REDMAX_STAGE_COUNT];
} mabd_redmax_report;

/// Values of one evaluation of a part: where signals are read and what the stage is.
typedef struct mabd_redmax_solve {
    struct mabd_redmax_sim* sim;
    mabd_redmax_part* part;
    mabd_redmax_report* report;
    mabd_real from, h;                  // the step or part of a step that the stage belongs to [s]
    mabd_real time;                     // of the stage
    mabd_real gamma;                    // v = (q - q_b)/gamma, a = (v - v_b)/gamma
    mabd_real stored;                   // in springs and ground, at the last energy [J]
    mabd_real law_work;                 // of drives without limit over the step [J]
    mabd_vec3 wind;                     // [m/s]
    mabd_real* force;                   // (freedoms) base of the laws
    mabd_real* motor;                   // (freedoms) forces of motors
    const mabd_redmax_node* from_node;  // charts of balls are centred here
    const mabd_real *start_q, *start_v; // (freedoms) at the start of the step, in its charts
    int32_t*
        sizes; // gets the sizes of the parts of a divided step, of h/2^max_halvings; null = none
    const struct mabd_redmax_pull* pull; // loads that pull bodies to a start state; null = none
    mabd_real* way; // gets the poses (CORRECTIONS x freedoms of the part) of closing.c that are
                    // corrected, and *way_count their number; null = none
    int32_t* way_count;
    const mabd_real* row_bars; // (rows of the part) in pull-backs; null = none
    mabd_spatial* kept_bars; // (cuts x 2) by pull-backs with forces_at_once, of the frames of cuts
    int32_t switched;        // of charts at the starts of the parts of a step
    bool watches;            // notes jumps of laws
    bool jumped;             // the force or rate of a law has jumped
    bool by_rate;   // prescribed freedoms follow the rate of their signal, and rows of cut joints
                    // hold their rates (stages of sdirk2)
    bool in_charts; // of a step: balls move in their own charts (charts.c), else in local ones
    bool loads;     // bounds of smooth pins vary with wrenches: sim->left (pins.c)
    bool still;     // without springs between points
    bool rates_at_once;  // in pull-backs: rows that are rates go to their links together (loops.c)
    bool forces_at_once; // and so do the derivatives of the forces of cut joints
    bool lifted;         // poses, velocities and accelerations of links are iterates (lift.c)
    bool ranks;          // a factor leaves out the rows that follow from others (redundancy.c)
    bool rows_known;     // loops.left_out is that of the step
    bool rests;          // scripted bodies at cut joints have no velocity
} mabd_redmax_solve;

typedef struct mabd_redmax_sim {
    const mabd_model* model;
    const mabd_model_start* start; // (bodies) of the run
    mabd_sim_def def;              // resolved
    mabd_warnings warnings;
    mabd_pool* pool;
    mabd_allocator allocator;
    void* memory;
    size_t memory_size, state_bytes, factor_bytes;
    double times[MABD_REDMAX_STAGE_COUNT];

    int32_t part_count, link_count, freedom_count, ball_count, path_count, law_count;
    mabd_redmax_part* parts;
    mabd_redmax_report* reports;   // (parts)
    mabd_redmax_link* links;       // by part
    mabd_redmax_freedom* freedoms; // in the order of links
    mabd_redmax_law* laws;         // in the order of freedoms
    int32_t* body_link;            // link that carries a body (bodies + 1), -1 = none
    int32_t* body_script;          // script of a body (bodies + 1), -1 = none
    int32_t* body_force;           // first force of a body (bodies + 1)
    int32_t* joint_link;           // last link of the string of a joint (joints), -1 = none

    // state
    mabd_redmax_node now, last; // at the time, one step ago
    mabd_real* wrench;          // (links x 6) F of the last step
    mabd_axis_branch* branch;   // (laws) of the last step
    mabd_rigid_inputs inputs;   // targets and forces from outside
    mabd_rigid_books books;     // energies at the start, works since
    mabd_real time;             // [s] of `now`
    bool signals_jump;          // some signal jumps at `now`
    bool placed;                // frames and velocities of links are those of `now`

    // workspace: iterate and stages (freedoms)
    mabd_redmax_node next, base;  // result of the step; start of the rest of a halved one
    mabd_real *q, *v, *a;         // iterate
    mabd_real *q_b, *v_b;         // base of the stage
    mabd_real *q_m, *v_m;         // history in the chart of the step
    mabd_real *start_q, *start_v; // start of the step where balls have charts of their own
    int8_t* start_chart;          // (balls) their charts
    mabd_real *stage_q, *end_q;   // solutions of the first of two stages, and of the last one
    mabd_real *trial, *step, *r, *weight;
    mabd_real* rows;  // residual of the rows that a solve closes: r, or where axes are held from q
    mabd_real* stiff; // diagonal of D where no axis is held
    mabd_real* reaction;                       // change of r by a step
    mabd_real *force, *motor;                  // base of the laws, and of motors
    mabd_real *guard_force, *guard_motor;      // means over a step
    mabd_real *mean_force, *stage_force;       // through freedoms: mean over the step, of a method
    mabd_real *mean_friction, *stage_friction; // of friction: its force, or the bound of dry one
    mabd_rigid_state* before;                  // (bodies) before the step, for works
    mabd_real* rk;                             // (freedoms x 2 x 7) slopes of rk45
    mabd_redmax_ball* balls;
    mabd_redmax_loops loops; // lambda is state
    mabd_redmax_bundles bundles;
    mabd_redmax_springs springs;
    mabd_redmax_couplings couplings;
    mabd_redmax_path* paths;
    struct mabd_redmax_contacts* contacts; // null = none
    mabd_redmax_solve* contact_solves;     // (parts) stages of parts with contacts
    bool* contact_poses;                   // (parts) value of the part's own
    mabd_real whole_h;                     // of the step, also while it is taken in parts [s]
    mabd_real begun;  // of such a step before the part that is being taken, else 0 [s]
    bool divides;     // a step whose contacts fail can be divided further
    void* kept_state; // of the start of a step that is taken in parts
    size_t kept_bytes;
    mabd_redmax_thrust* push;     // (links) of contacts; null = none
    mabd_spatial* contact_wrench; // (links) kept from round to round of contacts
    mabd_real *contact_rows, *contact_r,
        *contact_way;               // (freedoms) residual and step of a round of contacts
    mabd_axis_branch* stage_branch; // (laws) of the first of two stages
    mabd_axis_branch* base_branch;  // (laws) at the start of the rest of a halved step
    // links: frames, motion, wrench, vectors of a solve
    mabd_frame *E, *world;
    mabd_spatial *V, *A, *F, *XV, *XA, *Sv;
    mabd_real* N;      // (slots) blocks of links, in lean.h
    mabd_real* up;     // (links x 18)
    mabd_real* x;      // (links x 18)
    mabd_real* defect; // (links x 18) of lifted iterates
    mabd_real* lift;   // (links x 6) N times the defect
    // freedoms: columns
    mabd_spatial *S, *G;
    mabd_spatial* left; // by which wrenches enter r, with the loads of pins
    mabd_real *B, *K;   // (freedoms x 18)
    mabd_real* D;       // (freedoms x 3) rows of the factored pivots of links
    int8_t* pivot;      // (freedoms)
    mabd_real* u;       // (freedoms)

    // lean.h
    mabd_real* lean_chart;          // (balls x 18) at an iterate
    mabd_real* lean_upper;          // (freedoms) of the factored pivots of links
    struct mabd_lean_link* lean;    // (links)
    struct mabd_lean_range* ranges; // by part
    mabd_real* base_force;          // (freedoms) of the laws of lean parts
    mabd_real* lean_law;            // (freedoms x 4) in force, of ruled parts
    const struct mabd_lean_table* sweeps;
    size_t N_size, range_size;
    // redmax_lanes.h
    int32_t pack_count;
    int32_t* pack_parts; // (parts)
    struct mabd_lean_pack* packs;
    const struct mabd_lean_lanes_table* lanes;
    void *pack_memory, *lane_work;
    mabd_redmax_law* lane_laws; // (stages x laws) of solutions in lanes
    size_t pack_size, lane_bytes;
} mabd_redmax_sim;

/// Body that a link carries, or of whose mass it has a share; -1 = none.
MABD_FN int32_t mabd_redmax_carried(const mabd_redmax_link* link) {
    return link->body >= 0 ? link->body : link->share_of;
}
/// True if loads act on a link: forces on its body, or what pulls the start to its place, which
/// acts on shares of bodies too.
MABD_FN bool mabd_redmax_is_loaded(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    return link->body >= 0 || (s->pull && link->share_of >= 0);
}

/// Reals of a variation of a link: dV, dA, and xi if forces depend on poses.
#define MABD_VARIATION 18
MABD_FN int mabd_redmax_width(const mabd_redmax_part* part) {
    return part->poses ? MABD_VARIATION : 12;
}
