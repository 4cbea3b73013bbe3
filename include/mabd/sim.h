// SPDX-License-Identifier: Apache-2.0
// The simulation: state and workspace over one model. All memory is taken in mabd_sim_create;
// mabd_sim_step allocates nothing but for contacts, when there are more of them than ever before. Same
// model, same def, same calls: same bits.
#pragma once

#include "mabd/model.h"

#ifdef MABD_SINGLE
#define mabd_sim_create mabd_sim_create_f32 // a float caller must not link to a double library
#endif

typedef struct mabd_sim mabd_sim;

#define MABD_FORMULATION_LIST(X)                                                                   \
    X(MABD, "mabd")                                                                                \
    X(QUATERNION, "quaternion")                                                                    \
    X(REDMAX, "redmax")                                                                            \
    X(VARIATIONAL, "variational")                                                                  \
    X(IMPULSE, "impulse")
/// Where a simulation runs.
#define MABD_BACKEND_LIST(X)                                                                       \
    X(CPU, "cpu")           /* the processor */                                                    \
    X(CUDA, "cuda")         /* a GPU */                                                            \
    X(EXECUTOR, "executor") /* the kernels of cuda, run on the processor: to check them, slow */
#define MABD_INTEGRATOR_LIST(X)                                                                    \
    X(BDF2, "bdf2")                                                                                \
    X(EULER, "euler")
#define MABD_PRESET_LIST(X)                                                                        \
    X(FAST, "fast")                                                                                \
    X(BALANCED, "balanced")                                                                        \
    X(EXACT, "exact")
/// How the dual system is solved where a component has branches or cycles (docs/theory/solvers.md).
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

typedef enum mabd_dual {
#define X(name, text) MABD_DUAL_##name,
    MABD_DUAL_LIST(X)
#undef X
        MABD_DUAL_COUNT
} mabd_dual;

/// Orders in which the rows of a component can be eliminated (docs/theory/solvers.md).
#define MABD_ORDER_LIST(X)                                                                         \
    X(TREE, "tree") /* leaf to root: no fill */                                                    \
    X(CUT, "cut")   /* the same, joints that close cycles last: their Schur complement */          \
    X(DEGREE, "degree")                                                                            \
    X(DISSECTION, "dissection")

typedef enum mabd_order {
#define X(name, text) MABD_ORDER_##name,
    MABD_ORDER_LIST(X)
#undef X
        MABD_ORDER_COUNT
} mabd_order;

/// Names as on the command line.
MABD_API const char* mabd_formulation_name(mabd_formulation value);
MABD_API const char* mabd_backend_name(mabd_backend value);
MABD_API const char* mabd_integrator_name(mabd_integrator value);
MABD_API const char* mabd_preset_name(mabd_preset value);
MABD_API const char* mabd_dual_name(mabd_dual value);
MABD_API const char* mabd_order_name(mabd_order value);
/// Value of a name, -1 if there is none.
MABD_API int mabd_formulation_find(const char* name);
MABD_API int mabd_backend_find(const char* name);
MABD_API int mabd_integrator_find(const char* name);
MABD_API int mabd_preset_find(const char* name);
MABD_API int mabd_dual_find(const char* name);
/// The solvers that a simulation will use for the components of a class, as "block" or "block, pcg"; "" if the
/// model has none of that class or they have no rows. Returns text.
MABD_API const char* mabd_model_dual_solvers(const mabd_model* model, mabd_dual dual,
                                             mabd_component kind, char* text, size_t size);
/// Bytes that an M-ABD simulation will hold with this choice of dual solvers (CPU backend); SIZE_MAX if too
/// many or not known.
MABD_API size_t mabd_model_sim_bytes(const mabd_model* model, mabd_dual dual);

/// What memory is for.
#define MABD_MEMORY_LIST(X)                                                                        \
    X(MODEL, "model")         /* bodies, joints, shapes, names */                                  \
    X(PLAN, "plan")           /* topology */                                                       \
    X(STATE, "state")         /* what steps hand on; checkpoints hold it */                        \
    X(WORKSPACE, "workspace") /* rebuilt by every step */                                          \
    X(CONTACTS, "contacts")                                                                        \
    X(DUAL, "dual") /* what solvers of the dual system keep of their own */
typedef enum mabd_memory {
#define X(name, text) MABD_MEMORY_##name,
    MABD_MEMORY_LIST(X)
#undef X
        MABD_MEMORY_COUNT
} mabd_memory;
MABD_API const char* mabd_memory_name(mabd_memory part);
/// bytes (MABD_MEMORY_COUNT) of a model and a simulation of it that holds `bytes_sim`, as mabd_model_sim_bytes
/// tells: the first two sum to bytes_model of mabd_model_get_info, the others to bytes_sim.
MABD_API void mabd_model_memory(const mabd_model* model, mabd_dual dual, size_t bytes_sim,
                                size_t* bytes);

/// How components are solved: one line for all that have the same pattern.
typedef struct mabd_dual_line {
    mabd_component kind;
    int32_t components; // that are alike; the rest is said of one
    int32_t bodies, joints, rows, junctions, cut_rows;
    const char* solver;
    bool direct;                            // false: iterative, and only `bytes` follows
    mabd_order order;                       // the one with the fewest operations
    int32_t fronts;                         // dense ones, of the factorisation
    double flops;                           // of a factorisation, with what merging fronts adds
    double entries;                         // stored for the factor, with what padding adds
    size_t bytes;                           // that the solver holds
    double order_flops[MABD_ORDER_COUNT];   // of each order; 0: not tried
    double order_entries[MABD_ORDER_COUNT]; // 0: given up after so many operations
    uint64_t pattern;                       // fingerprint
} mabd_dual_line;

/// Fill at most `capacity` lines, in the order of the components; *count gets how many, *left_out how many
/// components did not fit. Components without rows have none. MABD_ERR_MEMORY.
MABD_API mabd_status mabd_model_dual_plan(const mabd_model* model, mabd_dual dual, int32_t capacity,
                                          mabd_dual_line* lines, int32_t* count, int32_t* left_out);

/// How to simulate. Start from mabd_default_sim_def() or mabd_preset_sim_def().
typedef struct mabd_sim_def {
    mabd_formulation formulation;
    mabd_backend backend;
    mabd_integrator integrator;
    mabd_dual dual;
    mabd_real h;                  // step [s], > 0
    mabd_real rotation_tolerance; // largest rotation of a body from its reference at the end [rad]
    mabd_real row_tolerance;      // largest opening of a rigid row at the end [m], [rad]
    mabd_real gap_tolerance;      // largest opening left by an iterative dual solver [m], [rad]
    mabd_real contact_tolerance;  // how far contacts may be off their law: gap, slip [m]
    int32_t friction_updates; // how often in a step bounds of friction follow normal forces, >= 0
    int32_t max_iterations;   // budget of one step, >= 1
    int32_t max_halvings;     // a failed step is retried in parts of h/2, h/4, ..., h/2^this
    int32_t threads;          // >= 1; results do not depend on it
    const mabd_allocator* allocator; // null = default
    uint32_t cookie;
} mabd_sim_def;

/// BDF2, h = 10 ms, balanced preset, one thread.
MABD_API mabd_sim_def mabd_default_sim_def(void);
/// Set the tolerances and budget of a preset: fast 3e-2, balanced 1e-2, exact 1e-6 rad of rotation; gap tolerance
/// 1e-6, 1e-7, 1e-10 m; contact tolerance 1e-5, 1e-6, 1e-9 m.
MABD_API void mabd_sim_def_apply_preset(mabd_sim_def* def, mabd_preset preset);

/// The model must outlive the simulation.
MABD_API mabd_status mabd_sim_create(const mabd_model* model, const mabd_sim_def* def,
                                     mabd_sim** sim, mabd_error* error);
MABD_API void mabd_sim_destroy(mabd_sim* sim);

/// What a backend is in this library and on this machine.
typedef struct mabd_backend_info {
    bool built;           // it is in the library
    bool present;         // and can be used here
    char target[128];     // what it is built for: instruction sets, GPUs
    char device[128];     // what it would run on, "" = nothing
    char missing[512];    // why it is not present, "" if it is
    size_t memory, spare; // of the device, and what is free of it [bytes]; 0 = not known
} mabd_backend_info;
/// Looks for devices: may take a tenth of a second.
MABD_API mabd_backend_info mabd_backend_get_info(mabd_backend backend);
/// Back to the start state of the scene.
MABD_API void mabd_sim_reset(mabd_sim* sim);

/// What one step did.
typedef struct mabd_step_info {
    int32_t iterations; // linear solves, over all parts of the step
    int32_t retries;    // how often the step, or what was left of it, was halved
    bool converged;     // false: the budget was used up before the tolerances were met
    mabd_real rotation; // largest rotation of a body from its reference in the last iteration [rad]
    mabd_real gap;      // largest opening of a rigid translation row [m]
    mabd_real angle_error;   // largest error of a rigid rotation row [rad]
    int32_t worst_joint;     // where gap or angle_error is largest, -1 = no joints
    int32_t dual_iterations; // of iterative dual solvers, over all linear solves and components
    mabd_real dual_residual; // largest they left in the last linear solve [m], [rad]
    int32_t contacts;        // contact points that push at the end of the step
    int32_t contact_points;  // all that were looked at
    int32_t
        contact_iterations; // products and sweeps, and solves made only because contacts changed
    mabd_real contact_residual; // farthest that a contact is off its law at the end [m]
    mabd_real friction_lag; // of bounds of friction behind the normal forces, of the sum of both
    mabd_real penetration;  // deepest overlap at the end [m]
} mabd_step_info;

/// Advance by h. On failure the state is that before the step, and the error names the body or joint.
MABD_API mabd_status mabd_sim_step(mabd_sim* sim, mabd_step_info* info, mabd_error* error);

MABD_API const mabd_model* mabd_sim_model(const mabd_sim* sim);
MABD_API mabd_sim_def mabd_sim_get_def(const mabd_sim* sim);
MABD_API int64_t mabd_sim_step_count(const mabd_sim* sim);
/// Simulated time [s] = step count * h.
MABD_API mabd_real mabd_sim_time(const mabd_sim* sim);
/// Bytes held by the simulation, and the most it ever held.
MABD_API size_t mabd_sim_bytes(const mabd_sim* sim);
/// Bytes held on the device of its backend, 0 on the processor.
MABD_API size_t mabd_sim_device_bytes(const mabd_sim* sim);
/// bytes (MABD_MEMORY_COUNT) of the model and the simulation as it is now: the first two as with
/// mabd_model_memory, the others sum to mabd_sim_bytes.
MABD_API void mabd_sim_memory(const mabd_sim* sim, size_t* bytes);

/// Energies [J], momenta and joint errors of the current state.
typedef struct mabd_measure {
    mabd_real kinetic, gravity, elastic, spring; // armature counts as kinetic
    mabd_real energy;                            // their sum
    mabd_real linear_momentum[3];                // [kg m/s]
    mabd_real angular_momentum[3];               // about the world origin [kg m^2/s]
    mabd_real gap;                               // [m]
    mabd_real angle_error;                       // [rad]
    int32_t worst_joint;                         // -1 = no joints
} mabd_measure;
/// O(bodies + joints); independent of the solver.
MABD_API mabd_measure mabd_sim_measure(const mabd_sim* sim);

/// State in user frames. Any pointer may be null. positions (bodies x 3) [m], quaternions (bodies x 4)
/// w x y z, velocities (bodies x 3) of the frame origin [m/s], angular (bodies x 3) world [rad/s].
MABD_API void mabd_sim_get_state(const mabd_sim* sim, mabd_real* positions, mabd_real* quaternions,
                                 mabd_real* velocities, mabd_real* angular);
/// What joint i's rows do to its body b, world axes, at the anchor: force [N] and torque [N m]
/// (joints x 6), in the last step; rigid, compliant and motor rows together.
MABD_API void mabd_sim_get_joint_forces(const mabd_sim* sim, mabd_real* forces);
/// Coordinates of one joint relative to its start (6): TX TY TZ [m], RX RY RZ [rad]; angles of
/// hinge-like axes are unwrapped if the axis has a compliant row. Locked axes give their error. A ball joint
/// without controls keeps no frame: its turns are told in the world axes of the start pose.
MABD_API void mabd_sim_get_joint_coordinates(const mabd_sim* sim, int32_t joint,
                                             mabd_real* coordinates);

/// One point where two bodies touch, at the end of the last step.
typedef struct mabd_contact_info {
    int32_t a, b;       // bodies; b moves
    mabd_real point[3]; // world [m]
    mabd_real normal[3];
    mabd_real force[3]; // on b, world [N]
    mabd_real distance; // of the surfaces, as far as rows are linear [m]; < 0: overlap
    bool slips;         // friction has its bound
} mabd_contact_info;
/// Fill at most `capacity` contacts that push, in a fixed order; returns how many there are. Valid until the next step
/// or restore.
MABD_API int32_t mabd_sim_get_contacts(const mabd_sim* sim, int32_t capacity,
                                       mabd_contact_info* contacts);
/// Deepest overlap of the current state, by the shapes themselves [m]; *a, *b get the two bodies, -1 = nothing
/// overlaps. MABD_ERR_MEMORY.
MABD_API mabd_status mabd_sim_overlap(const mabd_sim* sim, mabd_real* depth, int32_t* a,
                                      int32_t* b);

/// Complete state as bytes: restoring it in a simulation of an equal model and def continues bit for bit.
MABD_API size_t mabd_sim_state_size(const mabd_sim* sim);
MABD_API void mabd_sim_save(const mabd_sim* sim, void* buffer);
/// MABD_ERR_INPUT if the buffer is not from an equal model and def.
MABD_API mabd_status mabd_sim_restore(mabd_sim* sim, const void* buffer, size_t size,
                                      mabd_error* error);

/// Time spent [s] since creation or the last reset, by stage.
#define MABD_STAGE_LIST(X)                                                                         \
    X(PREDICT, "predict")                                                                          \
    X(CONTACT, "contact")                                                                          \
    X(ASSEMBLE, "assemble")                                                                        \
    X(FACTOR, "factor")                                                                            \
    X(SOLVE, "solve")                                                                              \
    X(UPDATE, "update")                                                                            \
    X(CHECK, "check")                                                                              \
    X(FINISH, "finish")
typedef enum mabd_stage {
#define X(name, text) MABD_STAGE_##name,
    MABD_STAGE_LIST(X)
#undef X
        MABD_STAGE_COUNT
} mabd_stage;
MABD_API const char* mabd_stage_name(mabd_stage stage);
/// seconds (MABD_STAGE_COUNT)
MABD_API void mabd_sim_get_times(const mabd_sim* sim, double* seconds);
