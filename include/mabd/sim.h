// SPDX-License-Identifier: Apache-2.0
// The simulation: state and workspace over one model. mabd_sim_create takes all memory;
// mabd_sim_step allocates only when there are more contacts than in any step before. The same
// model, definition and calls give the same bits on every machine and with any number of threads.
#pragma once

#include "mabd/model.h"

#ifdef MABD_SINGLE
#define mabd_sim_create mabd_sim_create_f32 // a float caller must not link to a double library
#endif

typedef struct mabd_sim mabd_sim;

// ---- choices -----------------------------------------------------------------------------------

/// Formulations: equations of motion and the method that steps them. Formulations that are not
/// built are refused with MABD_ERR_UNAVAILABLE.
#define MABD_FORMULATION_LIST(X)                                                                   \
    X(AFFINE, "affine") /* M-ABD: affine bodies, dual system of the joints */                      \
    X(QUATERNION, "quaternion")                                                                    \
    X(REDMAX, "redmax")                                                                            \
    X(VARIATIONAL, "variational")                                                                  \
    X(IMPULSE, "impulse")
/// Where a simulation runs.
#define MABD_BACKEND_LIST(X)                                                                       \
    X(CPU, "cpu")           /* the processor */                                                    \
    X(CUDA, "cuda")         /* a GPU */                                                            \
    X(EXECUTOR, "executor") /* the CUDA kernels on the processor: slow, for tests of the kernels */
/// Time integrators. AUTO is replaced by the formulation's own choice in mabd_sim_create.
#define MABD_INTEGRATOR_LIST(X)                                                                    \
    X(AUTO, "auto")                                                                                \
    X(BDF2, "bdf2")                                                                                \
    X(EULER, "euler")             /* implicit Euler; "bdf1" finds it too */                        \
    X(BDF2_LINEAR, "bdf2-linear") /* affine: BDF2 on the coordinates, which damps rotation */      \
    X(SDIRK2, "sdirk2")           /* two implicit solves; order 1 on mechanisms */                 \
    X(TRBDF2, "trbdf2")           /* trapezoidal rule, then BDF2, in one step; order 2 */          \
    X(PARESCHI_RUSSO, "pareschi-russo")   /* two implicit solves; rows stay open by O(h^2) */      \
    X(SEMI_IMPLICIT, "semi-implicit")     /* explicit forces, new velocities move the poses */     \
    X(LINEAR_IMPLICIT, "linear-implicit") /* one Newton iteration of implicit Euler */             \
    X(RK45, "rk45")                       /* Runge-Kutta pair that controls its own steps */       \
    X(RATTLE, "rattle") /* variational: forces in halves at both ends of a step; order 2 */        \
    X(SYMPLECTIC_EULER, "symplectic-euler") /* variational: whole forces at its start; order 1 */
#define MABD_PRESET_LIST(X)                                                                        \
    X(FAST, "fast")                                                                                \
    X(BALANCED, "balanced")                                                                        \
    X(EXACT, "exact")
/// Newton matrices of implicit formulations. AUTO is replaced by the formulation's own choice in
/// mabd_sim_create.
#define MABD_NEWTON_LIST(X)                                                                        \
    X(AUTO, "auto")                                                                                \
    X(EXACT, "exact")         /* all derivatives: fewest iterations */                             \
    X(SYMMETRIC, "symmetric") /* symmetric part, body by body: dual system of the joints */        \
    X(FROZEN, "frozen")       /* variational: one matrix for all iterations of a step */
/// Solvers of the dual system for components with branches or cycles (docs/theory/solvers.md).
#define MABD_DUAL_LIST(X)                                                                          \
    X(AUTO, "auto")     /* direct, but pcg where the factor would be too large */                  \
    X(DIRECT, "direct") /* factorisation */                                                        \
    X(STALE, "stale")   /* conjugate gradients, preconditioned by an older factor */               \
    X(GS, "gs")         /* block Gauss-Seidel over chains through the graph */                     \
    X(PCG, "pcg")       /* conjugate gradients, preconditioned by a sweep of gs */

typedef enum mabd_formulation {
#define X(name, text) MABD_FORMULATION_##name,
    MABD_FORMULATION_LIST(X)
#undef X
        MABD_FORMULATION_COUNT
} mabd_formulation;
typedef enum mabd_backend {
#define X(name, text) MABD_BACKEND_##name,
    MABD_BACKEND_LIST(X)
#undef X
        MABD_BACKEND_COUNT
} mabd_backend;
typedef enum mabd_integrator {
#define X(name, text) MABD_INTEGRATOR_##name,
    MABD_INTEGRATOR_LIST(X)
#undef X
        MABD_INTEGRATOR_COUNT
} mabd_integrator;
typedef enum mabd_preset {
#define X(name, text) MABD_PRESET_##name,
    MABD_PRESET_LIST(X)
#undef X
        MABD_PRESET_COUNT
} mabd_preset;
typedef enum mabd_newton {
#define X(name, text) MABD_NEWTON_##name,
    MABD_NEWTON_LIST(X)
#undef X
        MABD_NEWTON_COUNT
} mabd_newton;
typedef enum mabd_dual {
#define X(name, text) MABD_DUAL_##name,
    MABD_DUAL_LIST(X)
#undef X
        MABD_DUAL_COUNT
} mabd_dual;

/// Which problem gives the forces of contacts (redmax).
#define MABD_CONTACT_PROBLEM_LIST(X)                                                               \
    X(STAGGERED, "staggered") /* Coulomb's law: bounds of friction follow the normal forces */     \
    X(ONE_QP, "one-qp")       /* one convex problem over all cones of friction */

typedef enum mabd_contact_problem {
#define X(name, text) MABD_CONTACT_PROBLEM_##name,
    MABD_CONTACT_PROBLEM_LIST(X)
#undef X
        MABD_CONTACT_PROBLEM_COUNT
} mabd_contact_problem;

/// What is unknown in a step (redmax).
#define MABD_COORDINATES_LIST(X)                                                                   \
    X(REDUCED, "reduced") /* coordinates of joints */                                              \
    X(MAXIMAL, "maximal") /* six velocities of each body, and forces of joints */

typedef enum mabd_coordinates {
#define X(name, text) MABD_COORDINATES_##name,
    MABD_COORDINATES_LIST(X)
#undef X
        MABD_COORDINATES_COUNT
} mabd_coordinates;

/// Where Baumgarte's stabilisation acts on the rows of joints (redmax with coordinates maximal).
#define MABD_BAUMGARTE_LIST(X)                                                                     \
    X(VELOCITY, "velocity")         /* G v = -gamma g */                                           \
    X(ACCELERATION, "acceleration") /* G a = -G' v - 2 alpha G v - alpha^2 g */

typedef enum mabd_baumgarte_level {
#define X(name, text) MABD_BAUMGARTE_##name,
    MABD_BAUMGARTE_LIST(X)
#undef X
        MABD_BAUMGARTE_COUNT
} mabd_baumgarte_level;

/// How redundant rows are handled (quaternion).
#define MABD_REDUNDANCY_LIST(X)                                                                    \
    X(PROXIMAL, "proximal")   /* all rows are kept, no decision about rank */                      \
    X(ELIMINATE, "eliminate") /* as in [VQ App. B]: dense analysis, redundant rows are left out */

typedef enum mabd_redundancy {
#define X(name, text) MABD_REDUNDANCY_##name,
    MABD_REDUNDANCY_LIST(X)
#undef X
        MABD_REDUNDANCY_COUNT
} mabd_redundancy;

/// Which equations are solved for poses (quaternion).
#define MABD_SOLVER_LIST(X)                                                                        \
    X(AUTO, "auto")       /* fully constrained where every joint coordinate is driven */           \
    X(GENERAL, "general") /* poses and multipliers together */                                     \
    X(FULLY_CONSTRAINED, "fully-constrained") /* poses from the rows alone, then multipliers */

typedef enum mabd_solver {
#define X(name, text) MABD_SOLVER_##name,
    MABD_SOLVER_LIST(X)
#undef X
        MABD_SOLVER_COUNT
} mabd_solver;

/// Which of the joint forces that give the same motion are reported (quaternion).
#define MABD_MULTIPLIERS_LIST(X)                                                                   \
    X(LEAST_NORM, "least-norm") /* the least sum of weight times force squared */                  \
    X(ANY, "any")               /* those of the solver */

typedef enum mabd_multipliers {
#define X(name, text) MABD_MULTIPLIERS_##name,
    MABD_MULTIPLIERS_LIST(X)
#undef X
        MABD_MULTIPLIERS_COUNT
} mabd_multipliers;

/// Cone of the friction forces of a contact (variational).
#define MABD_CONE_LIST(X)                                                                          \
    X(CIRCULAR, "circular") /* Coulomb's law in every direction */                                 \
    X(PYRAMID, "pyramid")   /* a cone of cone_sides sides, whose friction depends on direction */

typedef enum mabd_cone {
#define X(name, text) MABD_CONE_##name,
    MABD_CONE_LIST(X)
#undef X
        MABD_CONE_COUNT
} mabd_cone;

/// How the rows of joints are solved (impulse).
#define MABD_IMPULSE_JOINTS_LIST(X)                                                                \
    X(ITERATIVE, "iterative") /* one after the other, in sweeps */                                 \
    X(DIRECT, "direct")       /* all of a mechanism at once, by the dual solvers */

typedef enum mabd_impulse_joints {
#define X(name, text) MABD_IMPULSE_JOINTS_##name,
    MABD_IMPULSE_JOINTS_LIST(X)
#undef X
        MABD_IMPULSE_JOINTS_COUNT
} mabd_impulse_joints;

/// What takes errors of positions away (impulse).
#define MABD_CORRECTION_LIST(X)                                                                    \
    X(SOFT, "soft")           /* rows that give way, then relaxation takes their velocity out */   \
    X(BAUMGARTE, "baumgarte") /* rigid rows that move by a part of their error */                  \
    X(NONE, "none")

typedef enum mabd_correction {
#define X(name, text) MABD_CORRECTION_##name,
    MABD_CORRECTION_LIST(X)
#undef X
        MABD_CORRECTION_COUNT
} mabd_correction;

/// Orders in which the rows of a component can be eliminated (docs/theory/solvers.md).
#define MABD_ORDER_LIST(X)                                                                         \
    X(TREE, "tree") /* leaf to root: no fill */                                                    \
    X(CUT, "cut")   /* leaf to root, joints that close cycles last: their Schur complement */      \
    X(DEGREE, "degree")                                                                            \
    X(DISSECTION, "dissection")

typedef enum mabd_order {
#define X(name, text) MABD_ORDER_##name,
    MABD_ORDER_LIST(X)
#undef X
        MABD_ORDER_COUNT
} mabd_order;

/// Name of a formulation as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_formulation_name(mabd_formulation value);
/// Name of a backend as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_backend_name(mabd_backend value);
/// Name of an integrator as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_integrator_name(mabd_integrator value);
/// Name of a preset as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_preset_name(mabd_preset value);
/// Name of a Newton matrix as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_newton_name(mabd_newton value);
/// Name of a choice of dual solvers as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_dual_name(mabd_dual value);
/// Name of a problem of contacts as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_contact_problem_name(mabd_contact_problem value);
/// Name of coordinates as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_coordinates_name(mabd_coordinates value);
/// Name of a level of Baumgarte's stabilisation as on the command line; "unknown" for other values.
MABD_API const char* mabd_baumgarte_level_name(mabd_baumgarte_level value);
/// Name of a handling of redundant rows as on the command line; "unknown" for other values.
MABD_API const char* mabd_redundancy_name(mabd_redundancy value);
/// Name of a choice of equations as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_solver_name(mabd_solver value);
/// Name of a choice of multipliers as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_multipliers_name(mabd_multipliers value);
/// Name of a cone of friction as on the command line; "unknown" for other values. Never null.
MABD_API const char* mabd_cone_name(mabd_cone value);
/// Name of a way to solve the rows of joints as on the command line; "unknown" for other values.
MABD_API const char* mabd_impulse_joints_name(mabd_impulse_joints value);
/// Name of a correction of positions as on the command line; "unknown" for other values.
MABD_API const char* mabd_correction_name(mabd_correction value);
/// Name of an elimination order as `mabd info --plan` prints it; "unknown" for other values.
MABD_API const char* mabd_order_name(mabd_order value);
/// Formulation of a name, -1 if no formulation has it. "mabd" is accepted for affine.
MABD_API int mabd_formulation_find(const char* name);
/// Backend of a name, -1 if no backend has it.
MABD_API int mabd_backend_find(const char* name);
/// Integrator of a name, -1 if no integrator has it. "bdf1" is accepted for euler.
MABD_API int mabd_integrator_find(const char* name);
/// Preset of a name, -1 if no preset has it.
MABD_API int mabd_preset_find(const char* name);
/// Newton matrix of a name, -1 if none has it.
MABD_API int mabd_newton_find(const char* name);
/// Choice of dual solvers of a name, -1 if no choice has it.
MABD_API int mabd_dual_find(const char* name);

// ---- formulations and backends -----------------------------------------------------------------

/// Features of a scene or a program that a formulation may lack.
#define MABD_CAN_LIST(X)                                                                           \
    X(CONTACTS, "contacts") /* geoms touch, with friction and restitution */                       \
    X(LOOPS, "loops")       /* joints that close cycles, also through fixed bodies or the world */ \
    X(STOPS, "stops")       /* stops, limited drives and friction of joint axes */                 \
    X(SCRIPTS, "scripts")   /* bodies with prescribed motion */                                    \
    X(BATCH, "batch")       /* copies of one mechanism (mabd/batch.h) */                           \
    X(GRADIENT, "gradient") /* derivatives of a run */                                             \
    X(SPRINGS, "springs")   /* springs and cables through points of bodies */                      \
    X(NODES, "nodes")       /* point masses */                                                     \
    X(GROUND, "ground")     /* a plane that pushes points back */                                  \
    X(COUPLINGS, "couplings") /* coordinates of joints that move in concert */                     \
    X(PINS, "pins")           /* friction of pins, and friction_speed */                           \
    X(CURVES, "curves")       /* joints of type screw, composite, spline-curve, spline-surface */  \
    X(REBOUND, "limit_restitution") /* stops of joint axes with rebound */                         \
    X(ROLLING, "rolling_friction")  /* rolling_friction and spinning_friction of contacts */       \
    X(SURFACES, "surface_velocity") /* surfaces that move over their bodies */
typedef enum mabd_can_index {
#define X(name, text) MABD_CAN_INDEX_##name,
    MABD_CAN_LIST(X)
#undef X
        MABD_CAN_COUNT
} mabd_can_index;
/// Bits of mabd_formulation_info.can.
typedef enum mabd_can {
#define X(name, text) MABD_CAN_##name = 1 << MABD_CAN_INDEX_##name,
    MABD_CAN_LIST(X)
#undef X
} mabd_can;
/// Name of feature number `index` (bit 1 << index of mabd_formulation_info.can); "unknown" beyond
/// MABD_CAN_COUNT. Never null.
MABD_API const char* mabd_can_name(mabd_can_index index);

/// Most stages that a formulation times.
#define MABD_MAX_STAGES 16

/// Properties of a formulation.
typedef struct mabd_formulation_info {
    bool built;                // false: only `name` is set
    const char* name;          // as on the command line
    const char* paper_name;    // its name in the literature, "M-ABD"; "" = not built
    uint32_t can;              // MABD_CAN_ bits
    uint32_t integrators;      // bit 1 << mabd_integrator for each one it accepts
    uint32_t backends;         // bit 1 << mabd_backend for each one built into this library
    const char* const* stages; // names of its timers (stage_count), then a null pointer
    int32_t stage_count;       // at most MABD_MAX_STAGES
} mabd_formulation_info;
/// Properties of a formulation, built or not; O(1). The pointers stay valid for ever.
MABD_API mabd_formulation_info mabd_formulation_get_info(mabd_formulation formulation);

/// State of a backend in this library and on this machine.
typedef struct mabd_backend_info {
    bool built;           // it is in the library
    bool present;         // it can be used on this machine
    char target[128];     // instruction sets or GPUs it is built for
    char device[128];     // device it would run on, "" = none
    char missing[512];    // why it is not present, "" if it is
    size_t memory, spare; // of the device: all and free bytes; 0 = not known
} mabd_backend_info;
/// State of a backend in this library and on this machine. Searches for devices: may take 0.1 s.
MABD_API mabd_backend_info mabd_backend_get_info(mabd_backend backend);

// ---- definition --------------------------------------------------------------------------------

/// Fields of mabd_sim_def that only the affine formulation uses.
typedef struct mabd_affine_def {
    mabd_real rotation_tolerance; // largest rotation of a body from its reference at the end of a
                                  // solve [rad], > 0
    int32_t friction_updates;     // times per step that friction bounds follow normal forces, >= 0
    bool orbit; // correct the path of centres that whirl, which BDF2 damps (bdf2; default true)
    mabd_real pile_tolerance; // contact_tolerance of piles: groups of many bodies in contact [m],
                              // > 0; counts where it is the larger one
    bool sleep; // do not step a scene in which everything rests, until a force or a state that is
                // set wakes it (default false)
} mabd_affine_def;

/// Fields of mabd_sim_def that only the quaternion formulation uses.
typedef struct mabd_quaternion_def {
    mabd_real newton_tolerance; // largest residual of a solve, every entry as a length [m] or an
                                // angle [rad]: |E_f| bh^2/m, |E_t| bh^2/J, |C|; > 0
    mabd_integrator bdf2_start; // first step of bdf2, and after jumps: trbdf2, sdirk2 or euler
    mabd_redundancy redundancy; // of rows
    mabd_solver solver;
    mabd_multipliers multipliers; // reported by mabd_sim_get_joint_forces
    mabd_newton newton;  // auto, exact or symmetric; the solution is the same. `dual` is used
                         // with symmetric only
    mabd_real baumgarte; // part of the row errors that a step of semi-implicit takes away, 0 to 1;
                         // 1 with all other integrators
} mabd_quaternion_def;

/// Fields of mabd_sim_def that only the redmax formulation uses.
typedef struct mabd_redmax_def {
    mabd_real newton_tolerance; // largest increment of a coordinate at the end of a Newton
                                // iteration [rad], slides relative to the length of a link; error
                                // of a step of rk45; > 0
    mabd_real energy_guard;     // energy that an implicit step may gain, relative to the largest
                                // kinetic energy so far plus weight times reach; 0 = off
    mabd_contact_problem contacts; // that gives the forces of contacts
    mabd_coordinates coordinates;  // maximal: newton_tolerance and energy_guard are not used
    mabd_real baumgarte;           // maximal: gamma h or alpha h, the part of the row errors that a
                                   // step takes away, 0 to 1, or 0.8 at level acceleration
    mabd_baumgarte_level baumgarte_level; // maximal
} mabd_redmax_def;

/// Most substeps of a step of the variational formulation that a definition can ask for.
#define MABD_VARIATIONAL_SUBSTEPS_MAX 4096

/// Fields of mabd_sim_def that only the variational formulation uses.
typedef struct mabd_variational_def {
    int32_t substeps;   // of a step, 0 = as many as its forces need, up to 4096
    mabd_newton newton; // auto, exact or frozen: auto takes exact where joints close cycles; `dual`
                        // is used where it is not exact
    mabd_cone cone;     // of friction
    int32_t cone_sides; // of a pyramid: 4, 6 or 8
} mabd_variational_def;

/// Fields of mabd_sim_def that only the impulse formulation uses.
typedef struct mabd_impulse_def {
    int32_t substeps;    // equal parts of a step; 0 = as many as are stable, never fewer than
                         // in a step before
    int32_t sweeps;      // over all rows in each part, >= 0
    int32_t relaxations; // sweeps after the poses have moved, that end the velocities of
                         // corrections, >= 0
    mabd_impulse_joints joints;
    mabd_correction correction;
    mabd_real baumgarte;     // part of an error that a substep takes away (correction baumgarte),
                             // 0 to 1
    mabd_real slop;          // overlap of contacts that is left alone [m], >= 0
    mabd_real contact_hertz; // of soft contacts, at most a quarter per substep [1/s], > 0
    mabd_real joint_hertz;   // of soft joints, at most a quarter per substep [1/s], > 0
} mabd_impulse_def;

/// How to simulate. Start from mabd_default_sim_def(). mabd_sim_create refuses, by name, a field
/// that the chosen formulation does not use and that differs from mabd_default_sim_def() followed
/// by mabd_sim_def_apply_preset() of `preset`.
typedef struct mabd_sim_def {
    mabd_formulation formulation;
    mabd_backend backend;
    mabd_integrator integrator;
    mabd_preset preset;              // written by mabd_sim_def_apply_preset
    mabd_dual dual;                  // dual solver of components with branches or cycles
    mabd_real h;                     // step [s], > 0
    mabd_real row_tolerance;         // largest error of a rigid row after a step [m], [rad], > 0
    mabd_real gap_tolerance;         // largest row error left by iterative solvers [m], [rad], > 0
    mabd_real contact_tolerance;     // largest error of gap and slip at contacts [m], > 0
    int32_t max_iterations;          // budget of one step, >= 1; 0 = the formulation's own
    int32_t max_halvings;            // retry a failed step in parts of h/2 ... h/2^this, 0 to 20
    int32_t threads;                 // >= 1; results do not depend on it
    const mabd_allocator* allocator; // null = mabd_default_allocator(); copied by create
    mabd_affine_def affine;
    mabd_quaternion_def quaternion;
    mabd_redmax_def redmax;
    mabd_variational_def variational;
    mabd_impulse_def impulse;
    uint32_t cookie; // set by mabd_default_sim_def
} mabd_sim_def;

/// Definition with the affine formulation on the CPU, integrator auto, h = 10 ms, preset balanced,
/// one thread.
MABD_API mabd_sim_def mabd_default_sim_def(void);
/// Write `preset`, its tolerances and budget into a definition, for all formulations. fast,
/// balanced, exact: row tolerance 1e-6, 1e-9, 1e-12; gap tolerance 1e-6, 1e-7, 1e-10; contact
/// tolerance 1e-5, 1e-6, 1e-9 m; affine: rotation 3e-2, 1e-2, 1e-6 rad, friction updates 1, 1, 50,
/// piles 1e-4, 1e-4, 1e-6 m; quaternion: Newton tolerance 1e-8, 1e-10, 1e-12, BDF2 started by
/// trbdf2, Newton auto, Baumgarte 1; redmax: Newton tolerance 1e-8, 1e-8, 1e-11, energy guard 1e-4,
/// Baumgarte 0.5; variational: substeps 0, Newton auto, cone circular; impulse: substeps 2, 4, 0,
/// sweeps 1, 1, 10, joints iterative, iterative, direct. max_iterations becomes 0. Other fields
/// stay as they are; an unknown preset changes nothing.
MABD_API void mabd_sim_def_apply_preset(mabd_sim_def* def, mabd_preset preset);

// ---- plan: cost of a simulation before it is created -------------------------------------------

/// Uses of memory.
#define MABD_MEMORY_LIST(X)                                                                        \
    X(MODEL, "model")         /* bodies, joints, shapes, names */                                  \
    X(PLAN, "plan")           /* topology */                                                       \
    X(STATE, "state")         /* passed from step to step; saved in checkpoints */                 \
    X(WORKSPACE, "workspace") /* rebuilt by every step */                                          \
    X(CONTACTS, "contacts")                                                                        \
    X(DUAL, "dual") /* factors and vectors of the dual solvers */
typedef enum mabd_memory {
#define X(name, text) MABD_MEMORY_##name,
    MABD_MEMORY_LIST(X)
#undef X
        MABD_MEMORY_COUNT
} mabd_memory;
/// Name of a use of memory as `mabd info` prints it; "unknown" for other values. Never null.
MABD_API const char* mabd_memory_name(mabd_memory part);

/// How components of one pattern are solved. All numbers but `components` are those of one of them.
typedef struct mabd_dual_line {
    mabd_component kind;
    int32_t components; // with this pattern
    int32_t bodies, joints, rows, junctions, cut_rows;
    const char* solver;
    bool direct;                            // false: iterative, and of the rest only `bytes` is set
    mabd_order order;                       // the one with the fewest operations
    int32_t fronts;                         // dense fronts of the factorisation
    double flops;                           // of a factorisation, merging of fronts included
    double entries;                         // stored for the factor, padding included
    size_t bytes;                           // held by the solver
    double order_flops[MABD_ORDER_COUNT];   // of each order; 0: not tried
    double order_entries[MABD_ORDER_COUNT]; // 0: given up after so many operations
    uint64_t pattern;                       // fingerprint
} mabd_dual_line;

/// Most lines of a mabd_sim_plan.
#define MABD_PLAN_MAX_LINES 32

/// Joints of a tree with the same string of primitives, from body a to body b: Tx, Ty, Tz a slide
/// along an axis, Rx, Ry, Rz a turn about it, Hx, Hy, Hz a helix (n for another axis), T three
/// slides, B a ball, C a curve, S a surface, - nothing that moves.
typedef struct mabd_string_line {
    const char* name;    // of the joint type; "no joint" of a free body, "node", "script"
    char primitives[64]; // such as "Tx Rx"
    int32_t count;       // joints, or bodies without one
    int32_t reversed;    // of them: the tree goes from body b to body a
    int32_t freedoms;    // of one of them
} mabd_string_line;

/// Joints of one type that a tree cuts.
typedef struct mabd_cut_line {
    int32_t joints, rows; // held by rows of their own
    int32_t welds,
        weld_rows; // that stay in the tree, a body of theirs being cut and welded instead
} mabd_cut_line;

/// The tree of a formulation with joint coordinates.
typedef struct mabd_tree_plan {
    int32_t links; // 0: the formulation has no tree
    int32_t freedoms;
    int32_t coupling_rows;
    int32_t border;         // unknowns beside the freedoms: rows, and changes of their forces
                            // and of those of springs
    int32_t line_count;     // lines in use
    int32_t lines_left_out; // joints with strings beyond the last line
    mabd_string_line lines[MABD_PLAN_MAX_LINES]; // in the order of the tree
    mabd_cut_line cuts[MABD_JOINT_TYPE_COUNT];
} mabd_tree_plan;

/// Memory and solvers of a simulation that is not created yet.
typedef struct mabd_sim_plan {
    mabd_sim_def def;                // resolved: no integrator auto, no max_iterations 0
    size_t bytes[MABD_MEMORY_COUNT]; // by use: MODEL and PLAN are held by the model, the others by
                                     // the simulation, all on the host
    size_t bytes_model;              // sum of MODEL and PLAN
    size_t bytes_sim;                // sum of the others; SIZE_MAX: too many to count
    size_t bytes_per_contact;        // taken besides for each contact point; 0: no contacts
    mabd_real bytes_per_body;        // (bytes_model + bytes_sim) / bodies
    int32_t line_count;              // lines in use
    int32_t lines_left_out;          // components with patterns beyond the last line
    mabd_dual_line lines[MABD_PLAN_MAX_LINES]; // in the order of the components; components
                                               // without rows have none
    char solvers[MABD_COMPONENT_COUNT][64];    // of each class, "block" or "block, pcg"; "" = none
    mabd_tree_plan tree;
} mabd_sim_plan;
/// Compute the memory and the solvers of a simulation of `model` by `def`, without creating it.
/// Analyses each pattern of component symbolically once and leaves the analysis in the model: the
/// next mabd_sim_create with the allocator of the model takes it and does not analyse again. Checks
/// the definition and the model as mabd_sim_create does: MABD_ERR_ARG, MABD_ERR_UNAVAILABLE;
/// MABD_ERR_MEMORY.
MABD_API mabd_status mabd_sim_get_plan(const mabd_model* model, const mabd_sim_def* def,
                                       mabd_sim_plan* plan, mabd_error* error);

// ---- simulation --------------------------------------------------------------------------------

/// Create a simulation in the start state of the model, which must outlive it. *sim is null on
/// failure: MABD_ERR_ARG (definition), MABD_ERR_UNAVAILABLE (formulation, feature or backend),
/// MABD_ERR_MEMORY, MABD_ERR_DEVICE.
MABD_API mabd_status mabd_sim_create(const mabd_model* model, const mabd_sim_def* def,
                                     mabd_sim** sim, mabd_error* error);
/// Destroy a simulation and release its memory; null does nothing.
MABD_API void mabd_sim_destroy(mabd_sim* sim);
/// Return to the start state of the model: step 0, no targets, stage times 0.
MABD_API void mabd_sim_reset(mabd_sim* sim);

/// Fields of mabd_step_info of the affine formulation.
typedef struct mabd_affine_step_info {
    mabd_real rotation;     // largest rotation of a body from its reference in the last solve [rad]
    mabd_real friction_lag; // of friction bounds behind the normal forces, relative to their sum
    mabd_real tolerance_used; // of contacts that `converged` was judged by: contact_tolerance, or
                              // affine.pile_tolerance if the step had a pile [m]
    bool asleep;              // everything rests: the step did nothing (affine.sleep)
} mabd_affine_step_info;

/// Fields of mabd_step_info of the quaternion formulation.
typedef struct mabd_quaternion_step_info {
    int32_t refinements;    // of linear solves, over all parts of the step
    int32_t redundant_rows; // left out at the end of the step (redundancy eliminate; else 0)
    mabd_real consistency;  // least cosine of axes that a joint keeps parallel; 1 at a closed pose
    mabd_real round_off;    // largest residual above newton_tolerance that is round-off [m], [rad]
} mabd_quaternion_step_info;

/// Fields of mabd_step_info of the redmax formulation.
typedef struct mabd_redmax_step_info {
    int32_t guarded; // times that a step or a part of it gained more energy than energy_guard
    int32_t chart_switches; // times that a ball went on in other coordinates of its chart
} mabd_redmax_step_info;

/// Fields of mabd_step_info of the variational formulation.
typedef struct mabd_variational_step_info {
    int32_t barrier_iterations; // iterations with inequalities
    int32_t restarts;           // times that such an iteration began again from a cold start
} mabd_variational_step_info;

/// Fields of mabd_step_info of the impulse formulation.
typedef struct mabd_impulse_step_info {
    mabd_real impulse_change; // largest change of an impulse in the last sweep, relative to the
                              // largest impulse; above 1e-3 the step has not converged
    int32_t colors;           // of joints and contacts: rows of a color are independent
    int32_t carriers;  // bodies whose joints carry more than their inertia holds in a substep:
                       // impulses turn them as bodies of more inertia
    mabd_real carried; // largest ratio of that inertia to their own, 0 without such bodies; its
                       // root times `substeps` is a number of substeps that needs none
} mabd_impulse_step_info;

/// Report of one step.
typedef struct mabd_step_info {
    int32_t iterations;         // linear solves over all parts of the step (impulse: sweeps)
    int32_t retries;            // times that the rest of the step was halved
    int32_t substeps;           // parts that the step was taken in, 1 = not divided
    int32_t line_searches;      // line searches over contacts and axes
    bool converged;             // false: the budget was used up before the tolerances were met
    mabd_real gap;              // largest error of a rigid translation row [m]
    mabd_real angle_error;      // largest error of a rigid rotation row [rad]
    int32_t worst_joint;        // where gap or angle_error is largest, -1 = no joints
    int32_t dual_iterations;    // of iterative dual solvers, over all linear solves and components
    mabd_real dual_residual;    // their largest residual in the last linear solve [m], [rad]
    int32_t contacts;           // contact points with a force at the end of the step
    int32_t contact_points;     // contact points that were considered
    int32_t contact_iterations; // products, sweeps, and solves made only because contacts changed
    mabd_real contact_residual; // largest error of a contact law at the end [m]
    mabd_real penetration;      // deepest overlap at the end [m]
    mabd_affine_step_info affine;           // zero in other formulations
    mabd_quaternion_step_info quaternion;   // zero in other formulations
    mabd_redmax_step_info redmax;           // zero in other formulations
    mabd_variational_step_info variational; // zero in other formulations
    mabd_impulse_step_info impulse;         // zero in other formulations
} mabd_step_info;

/// Advance by h. `info` and `error` may be null. On failure the state is that before the step and
/// the error names the body or joint: MABD_ERR_SINGULAR, MABD_ERR_DIVERGED, MABD_ERR_MEMORY,
/// MABD_ERR_DEVICE.
MABD_API mabd_status mabd_sim_step(mabd_sim* sim, mabd_step_info* info, mabd_error* error);

/// Model of a simulation.
MABD_API const mabd_model* mabd_sim_model(const mabd_sim* sim);
/// Definition of a simulation with every choice resolved: integrator and max_iterations are those
/// in use, `allocator` points to the simulation's own copy.
MABD_API mabd_sim_def mabd_sim_get_def(const mabd_sim* sim);
/// Number of steps since the start state.
MABD_API int64_t mabd_sim_step_count(const mabd_sim* sim);
/// Simulated time [s] = step count * h.
MABD_API mabd_real mabd_sim_time(const mabd_sim* sim);
/// Bytes that the simulation holds on the host. They never shrink.
MABD_API size_t mabd_sim_bytes(const mabd_sim* sim);
/// Bytes that the simulation holds on the device of its backend, 0 on the processor.
MABD_API size_t mabd_sim_device_bytes(const mabd_sim* sim);
/// Write the bytes of model and simulation by use into bytes (MABD_MEMORY_COUNT). MODEL and PLAN
/// sum to bytes_model of mabd_model_get_info, the others to mabd_sim_bytes.
MABD_API void mabd_sim_memory(const mabd_sim* sim, size_t* bytes);

/// Energies, momenta and joint errors of a state.
typedef struct mabd_measure {
    mabd_real kinetic, gravity, elastic, spring; // [J]; armature counts as kinetic
    mabd_real energy;                            // their sum [J]
    mabd_real linear_momentum[3];                // [kg m/s]
    mabd_real angular_momentum[3];               // about the world origin [kg m^2/s]
    mabd_real gap;                               // largest error of a rigid translation row [m]
    mabd_real angle_error;                       // largest error of a rigid rotation row [rad]
    int32_t worst_joint;                         // -1 = no joints
} mabd_measure;
/// Measure energies, momenta and joint errors of the current state, independently of the solver.
/// O(bodies + joints).
MABD_API mabd_measure mabd_sim_measure(const mabd_sim* sim);

/// Accounts of the energy balance: X(NAME, field, kind). Kinds: change of an energy; WORK of an
/// account that adds energy; TAKEN by an account that removes it; REST, what is left.
#define MABD_ENERGY_LIST(X)                                                                        \
    X(KINETIC, kinetic, CHANGE) /* of bodies and armatures */                                      \
    X(GRAVITY, gravity, CHANGE)                                                                    \
    X(ELASTIC, elastic, CHANGE)     /* of strained bodies */                                       \
    X(SPRING, spring, CHANGE)       /* of springs of axes, and of the softness of contacts */      \
    X(DRIVES, drives, WORK)         /* servos, motors, rates of axes */                            \
    X(SCRIPTS, scripts, WORK)       /* scripted bodies, by their joints and contacts */            \
    X(FORCES, forces, WORK)         /* forces of the scene and of mabd_sim_apply_force */          \
    X(SURFACES, surfaces, WORK)     /* friction of surfaces that move over their bodies */         \
    X(DAMPERS, dampers, TAKEN)      /* dampers of axes, servo_damping */                           \
    X(FRICTION, friction, TAKEN)    /* of axes and of contacts */                                  \
    X(ROLLING, rolling, TAKEN)      /* rolling and spinning friction of contacts */                \
    X(DRAG, drag, TAKEN)            /* drag against wind; < 0: wind drives the bodies */           \
    X(IMPACTS, impacts, TAKEN)      /* stops of axes, normal forces of contacts */                 \
    X(INTEGRATOR, integrator, REST) /* numerics: time steps and tolerances */
/// Accounts in the order of the list.
typedef enum mabd_energy {
#define X(name, field, kind) MABD_ENERGY_##name,
    MABD_ENERGY_LIST(X)
#undef X
        MABD_ENERGY_COUNT
} mabd_energy;
/// What the number of an account says.
typedef enum mabd_energy_kind {
    MABD_ENERGY_IS_CHANGE, // energy now minus energy at the start
    MABD_ENERGY_IS_WORK,   // > 0: it has added energy to the system
    MABD_ENERGY_IS_TAKEN,  // > 0: it has removed energy
    MABD_ENERGY_IS_REST,   // > 0: removed by no account
} mabd_energy_kind;
/// Name of an account, "kinetic"; "unknown" beyond MABD_ENERGY_COUNT. Never null.
MABD_API const char* mabd_energy_name(mabd_energy account);
/// Kind of an account; REST beyond MABD_ENERGY_COUNT.
MABD_API mabd_energy_kind mabd_energy_get_kind(mabd_energy account);

/// Energy by cause since the start of the run [J]. For all numbers that are not NaN
///   kinetic + gravity + elastic + spring
///     = drives + scripts + forces + surfaces
///       - dampers - friction - rolling - drag - impacts - integrator
/// A cause that a formulation does not tell apart is NaN, and lies in `integrator`.
typedef struct mabd_energy_balance {
#define X(name, field, kind) mabd_real field;
    MABD_ENERGY_LIST(X)
#undef X
} mabd_energy_balance;
/// Energy by cause since the start state or the last reset [J]; of a batch the sums over its
/// copies. Works are sums over steps: of second order in h for smooth forces, `integrator` too. A
/// change of energy by mabd_sim_set_state is left out. The books are part of a saved state.
/// O(bodies + joints).
MABD_API mabd_energy_balance mabd_sim_get_energy_balance(const mabd_sim* sim);

/// Write the state of all bodies in their user frames; any pointer may be null. positions
/// (bodies x 3) [m], quaternions (bodies x 4) w x y z, velocities (bodies x 3) of the frame origin
/// [m/s], angular (bodies x 3) angular velocities in world axes [rad/s].
MABD_API void mabd_sim_get_state(const mabd_sim* sim, mabd_real* positions, mabd_real* quaternions,
                                 mabd_real* velocities, mabd_real* angular);
/// Set the state in user frames, with the arrays of mabd_sim_get_state; a null array leaves its
/// part as it is. positions (bodies x 3) [m], quaternions (bodies x 4) w x y z of any length > 0,
/// velocities (bodies x 3) of the frame origin [m/s], angular (bodies x 3) world [rad/s]. Values of
/// fixed and scripted bodies are not read. Time, step count, targets and applied forces stay;
/// integrators with a history start again, contacts are found again, bodies are free of strain, and
/// angles of joints are those nearest to the ones before. Velocities against the joints are
/// projected as at the start, with a warning. MABD_ERR_ARG: no sim. MABD_ERR_INPUT: a value is not
/// finite; a rigid row is open by more than 1e-6 m or rad, besides the opening that strained bodies
/// have in the current state (the error names the joint), and the scene does not close joints; or
/// an axis lies beyond its stops. MABD_ERR_MEMORY. After an error nothing has been set.
MABD_API mabd_status mabd_sim_set_state(mabd_sim* sim, const mabd_real* positions,
                                        const mabd_real* quaternions, const mabd_real* velocities,
                                        const mabd_real* angular, mabd_error* error);
/// Push n bodies during the next step. forces (n x 3) [N] act at the centre of mass, torques (n x
/// 3) [N m], both along world axes; either array may be null. Several calls, and several entries of
/// one body, add up. The forces are constant over the step, part of a saved state, and gone after
/// the step; a step that fails keeps them. If they differ from those of the last step, integrators
/// with history restart (in a batch: in these copies). MABD_ERR_ARG: no sim or no bodies, an index
/// that is no body, a value that is not finite, or a force other than 0 on a fixed or scripted
/// body; then no force has been added.
MABD_API mabd_status mabd_sim_apply_force(mabd_sim* sim, int32_t n, const int32_t* bodies,
                                          const mabd_real* forces, const mabd_real* torques,
                                          mabd_error* error);
/// Copy a simulation: *clone gets a simulation of the same model and def in the same state, with
/// its time, targets, applied forces and warnings. Both step to the same bits and independently of
/// each other. The model must outlive both. MABD_ERR_ARG, MABD_ERR_MEMORY, MABD_ERR_DEVICE; then
/// *clone is null.
MABD_API mabd_status mabd_sim_clone(const mabd_sim* sim, mabd_sim** clone, mabd_error* error);
/// Copy at most `capacity` warnings of a simulation to `warnings`, oldest first, and return how
/// many there are since its creation. `warnings` may be null if capacity is 0. A null simulation
/// has none.
MABD_API int32_t mabd_sim_warnings(const mabd_sim* sim, int32_t capacity, mabd_warning* warnings);
/// Write the wrench of the rows of each joint on its body b in the last step into forces
/// (joints x 6): force [N], then torque [N m], world axes, at the anchor; rigid, compliant and
/// motor rows together.
MABD_API void mabd_sim_get_joint_forces(const mabd_sim* sim, mabd_real* forces);
/// Write the coordinates of one joint relative to its start into coordinates (6): TX TY TZ [m],
/// RX RY RZ [rad]. Angles of hinge-like axes are unwrapped if the axis has a compliant row. Locked
/// axes give their error. A ball joint without controls has no frame: its angles are in the world
/// axes of the start pose.
MABD_API void mabd_sim_get_joint_coordinates(const mabd_sim* sim, int32_t joint,
                                             mabd_real* coordinates);

/// Rank of the rows of a simulation.
typedef struct mabd_rank_info {
    int32_t rows;      // rigid rows of joints, and one per rigid servo
    int32_t rank;      // of their derivatives by the poses of rigid bodies
    int32_t redundant; // rows - rank
    int32_t freedoms;  // 6 per body that moves by forces - rank
} mabd_rank_info;
/// Find the rank of the rows at the current state, by the singular values of a dense matrix for
/// each mechanism: seconds for 2000 rows. MABD_ERR_UNAVAILABLE for formulations other than
/// quaternion and above 4000 coupled rows, MABD_ERR_MEMORY, MABD_ERR_ARG for null.
MABD_API mabd_status mabd_sim_get_rank(mabd_sim* sim, mabd_rank_info* rank, mabd_error* error);

/// One contact point at the end of the last step.
typedef struct mabd_contact_info {
    int32_t a, b;        // bodies; b moves
    mabd_real point[3];  // world [m]
    mabd_real normal[3]; // unit, world, from a to b
    mabd_real force[3];  // on b, world [N]
    mabd_real distance;  // of the surfaces, by the linearised rows [m]; < 0: overlap
    bool slips;          // friction is at its bound
} mabd_contact_info;
/// Write at most `capacity` contacts with a force, in a fixed order; return how many there are.
/// Valid until the next step or restore.
MABD_API int32_t mabd_sim_get_contacts(const mabd_sim* sim, int32_t capacity,
                                       mabd_contact_info* contacts);
/// Compute the deepest overlap of the current state from the shapes [m]. *a and *b get the two
/// bodies, -1 = no overlap. MABD_ERR_MEMORY.
MABD_API mabd_status mabd_sim_overlap(const mabd_sim* sim, mabd_real* depth, int32_t* a,
                                      int32_t* b);

// ---- state as bytes ----------------------------------------------------------------------------

/// Bytes that mabd_sim_save writes. They change with the number of contacts.
MABD_API size_t mabd_sim_state_size(const mabd_sim* sim);
/// Write the complete state into buffer (mabd_sim_state_size bytes). A simulation of an equal model
/// and definition that restores it continues bit for bit.
MABD_API void mabd_sim_save(const mabd_sim* sim, void* buffer);
/// Restore a state that mabd_sim_save wrote. MABD_ERR_INPUT if it is of another model, formulation
/// or definition, and the error names the difference; MABD_ERR_ARG if sim or buffer is null;
/// MABD_ERR_MEMORY. On failure the simulation is unchanged.
MABD_API mabd_status mabd_sim_restore(mabd_sim* sim, const void* buffer, size_t size,
                                      mabd_error* error);

// ---- times -------------------------------------------------------------------------------------

/// Write the wall time of each stage since creation or the last reset into seconds
/// (MABD_MAX_STAGES) [s]; unused entries become 0. mabd_formulation_get_info names the stages.
MABD_API void mabd_sim_get_times(const mabd_sim* sim, double* seconds);
