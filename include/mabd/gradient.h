// SPDX-License-Identifier: Apache-2.0
// Gradients: derivatives of a loss over a run by parameters of the scene and of its controls. A
// loss is a sum of terms, each the weighted square of a difference at some steps of the run. The
// header is the same for every formulation; kinds that a formulation lacks are refused by name.
//
// State k is the state after k steps, state 0 the start; step k leads from state k - 1 to state k,
// so the steps of a run are 1 .. steps. All values are in SI units and in the frames of the user
// (mabd/scene.h). Rotations are small turns of three components in the body frame: no quaternion
// has to stay of unit length.
#pragma once

#include "mabd/batch.h"

// ---- parameters --------------------------------------------------------------------------------

/// Kinds of parameters (name in loss files), their `index`, `axis` or `component`, and the value.
/// Start states are those after the start has been projected onto the joints (mabd/scene.h), and
/// derivatives go through that projection: a velocity against a joint has no effect.
///   start position    body, component 0..2: frame origin, world [m]
///   start rotation    body, component 0..2: turn t in the body frame [rad] from the rotation R of
///                     the scene: R exp(t); the value of the scene is 0
///   start velocity    body, component 0..2: of the frame origin, world [m/s]
///   start angular     body, component 0..2: angular velocity, world [rad/s]
///   coordinate, rate  joint, axis that is free, of composites and splines a number from 0 on: at
///                     the start [m], [rad], [m/s], [rad/s], of splines segments; the other
///                     bodies follow by the least motion in the mass metric. Angles are within half
///                     a turn. An axis that the joints or others of these parameters determine is
///                     MABD_ERR_INPUT of the run
///   mass              body: [kg]; centre of mass and inertia about it stay
///   center            body, component 0..2: centre of mass, body frame [m]; inertia about it
///                     stays
///   inertia           body, component 0..5: xx yy zz xy xz yz about the centre of mass, body axes
///                     [kg m^2]
///   anchor a, b       joint, component 0..2: anchor in the frame of body a, b; world coordinates
///                     if that is the world [m]
///   axis a, b         joint, component 0..2: turn t of the joint frame F on body a, b to
///                     exp(t) F, t in the frame of that body [rad]; the value of the scene is 0
///   stiffness, rest, damping, armature, friction
///                     joint, axis: fields of mabd_axis_def; damping includes servo_damping
///   spring            spring, component: 0 stiffness, 1 damping, 2 length
///   gravity           component 0..2: world [m/s^2]
///   ground            component: 0 stiffness, 1 damping, 2 tangent, 3 friction
///   control           control (mabd_model_control; copy * controls + control in a batch), steps
///                     first .. last: target that is held there, in the unit of the control; the
///                     value of the scene is its signal at the end of step `first`. Other steps
///                     keep the signal of the scene
///   force             body, component 0..5, steps first .. last: force at the centre of mass [N],
///                     torque [N m], world, besides those of the scene; the value of the scene
///                     is 0
///   spline            joint, component: control value of a surface; of a curve 6 frame + xyz, turn
/// With `index` -1 the four start kinds move all dynamic bodies as one rigid body, besides their
/// own start state: shift [m], turn about their common centre of mass in world axes [rad], velocity
/// [m/s], angular velocity about that centre [rad/s]; the value of the scene is 0. Where joints are
/// closed, or an axis is brought to its coordinate, it is the start after that which moves as one.
#define MABD_PARAMETER_LIST(X)                                                                     \
    X(START_POSITION, "start-position")                                                            \
    X(START_ROTATION, "start-rotation")                                                            \
    X(START_VELOCITY, "start-velocity")                                                            \
    X(START_ANGULAR, "start-angular")                                                              \
    X(COORDINATE, "coordinate")                                                                    \
    X(RATE, "rate")                                                                                \
    X(MASS, "mass")                                                                                \
    X(CENTER, "center")                                                                            \
    X(INERTIA, "inertia")                                                                          \
    X(ANCHOR_A, "anchor-a")                                                                        \
    X(ANCHOR_B, "anchor-b")                                                                        \
    X(AXIS_A, "axis-a")                                                                            \
    X(AXIS_B, "axis-b")                                                                            \
    X(STIFFNESS, "stiffness")                                                                      \
    X(REST, "rest")                                                                                \
    X(DAMPING, "damping")                                                                          \
    X(ARMATURE, "armature")                                                                        \
    X(FRICTION, "friction")                                                                        \
    X(SPRING, "spring")                                                                            \
    X(GRAVITY, "gravity")                                                                          \
    X(GROUND, "ground")                                                                            \
    X(CONTROL, "control")                                                                          \
    X(FORCE, "force")                                                                              \
    X(SPLINE, "spline")

typedef enum mabd_parameter_kind {
#define X(name, text) MABD_PARAMETER_##name,
    MABD_PARAMETER_LIST(X)
#undef X
        MABD_PARAMETER_COUNT
} mabd_parameter_kind;
/// Name of a kind of parameter as in loss files, "start-velocity"; "unknown" for other values.
/// Never null.
MABD_API const char* mabd_parameter_kind_name(mabd_parameter_kind kind);
/// Kind of parameter of a name as in loss files; -1 if there is none or `name` is null.
MABD_API int mabd_parameter_kind_find(const char* name);

/// One number by which a loss is differentiated. Start from mabd_default_parameter().
typedef struct mabd_parameter {
    mabd_parameter_kind kind;
    int32_t index;          // body, joint, spring or control; see MABD_PARAMETER_LIST
    int32_t axis;           // mabd_axis, for kinds on a joint axis
    int32_t component;      // for kinds with components
    int64_t first, last;    // steps, from 1, both included; control and force only
    mabd_real lower, upper; // bounds of mabd_optimize; infinite = none
    mabd_real scale;        // typical change of the value, in its unit, > 0: mabd_optimize works
                            // with value / scale, mabd_gradient_check steps in parts of it
} mabd_parameter;
/// Parameter of a kind: index 0, axis TX, component 0, steps 1 to 1, no bounds, scale 1.
MABD_API mabd_parameter mabd_default_parameter(mabd_parameter_kind kind);
/// Unit of the value of a parameter of a model, "m/s"; "" if the model has no such parameter.
MABD_API const char* mabd_parameter_unit(const mabd_model* model, const mabd_parameter* parameter);
/// Value that a parameter has in the scene, in a run with step h [s]: where an optimisation starts.
/// NaN if the model has no such parameter.
MABD_API mabd_real mabd_parameter_value(const mabd_model* model, mabd_real h,
                                        const mabd_parameter* parameter);

// ---- losses ------------------------------------------------------------------------------------

/// Kinds of terms of a loss (name in loss files), and the quantity x whose weight |x - target|^2
/// is added at every state first .. last.
///   point           body, point: the point of the body, world [m]; 3 targets
///   rotation        body: 4 sin^2(a/2) for the angle a between the body and the target quaternion
///                   (w x y z): a^2 for small angles [rad^2], smooth at every angle; 4 targets
///   velocity        body, point: of the point of the body, world [m/s]; 3 targets
///   angular         body: angular velocity, world [rad/s]; 3 targets
///   coordinate      joint, axis: as mabd_sim_get_joint_coordinates [m], [rad]; 1 target
///                   (composites and splines: of the coordinate of that number, from 0)
///   rate            joint, axis: its rate [m/s], [rad/s]; 1 target
///   joint force     joint, axis: component of the wrench that mabd_sim_get_joint_forces gives [N],
///                   [N m]; 1 target. Axis -1: all six, against 0. States from 1 on
///   control effort  joint, axis: force of servo, motor and rate drive on the axis [N], [N m],
///                   besides its spring, damper and friction and without what accelerates the
///                   armature; 1 target. States from 1 on
///   energy          kinetic + gravity + spring energy of all bodies [J]; 1 target
///   parameter       parameter number `index`, in its unit; 1 target. Added once, whatever the
///                   states
///   user            mabd_gradient_def.user_fn gives the value instead of the square
#define MABD_LOSS_LIST(X)                                                                          \
    X(POINT, "point")                                                                              \
    X(ROTATION, "rotation")                                                                        \
    X(VELOCITY, "velocity")                                                                        \
    X(ANGULAR, "angular")                                                                          \
    X(COORDINATE, "coordinate")                                                                    \
    X(RATE, "rate")                                                                                \
    X(JOINT_FORCE, "joint-force")                                                                  \
    X(CONTROL_EFFORT, "control-effort")                                                            \
    X(ENERGY, "energy")                                                                            \
    X(PARAMETER, "parameter")                                                                      \
    X(USER, "user")

typedef enum mabd_loss_kind {
#define X(name, text) MABD_LOSS_##name,
    MABD_LOSS_LIST(X)
#undef X
        MABD_LOSS_COUNT
} mabd_loss_kind;
/// Name of a kind of loss term as in loss files, "joint-force"; "unknown" for other values. Never
/// null.
MABD_API const char* mabd_loss_kind_name(mabd_loss_kind kind);
/// Kind of loss term of a name as in loss files; -1 if there is none or `name` is null.
MABD_API int mabd_loss_kind_find(const char* name);

/// One term of a loss. Start from mabd_default_loss_term().
typedef struct mabd_loss_term {
    mabd_loss_kind kind;
    int32_t index;       // body, joint or parameter; see MABD_LOSS_LIST
    int32_t axis;        // mabd_axis, for kinds on a joint
    mabd_real point[3];  // in the body frame [m]
    mabd_real target[4]; // as many as the kind has
    mabd_real weight;    // finite, >= 0
    int64_t first, last; // states 0 .. steps, both included
} mabd_loss_term;
/// Term of a kind: index 0, axis TX, point at the frame origin, targets 0 (rotation: 1 0 0 0),
/// weight 1, at state 0.
MABD_API mabd_loss_term mabd_default_loss_term(mabd_loss_kind kind);

/// A loss of the user's own. Called at every state of a term of kind user, in order, with the
/// simulation in that state. Write the loss into *value and its derivatives into the arrays, which
/// are zero before the call: by position d_position, by a turn in the body frame d_rotation, by
/// velocity d_velocity and by angular velocity d_angular (bodies x 3 each), in the frames of
/// mabd_sim_get_state. The arrays are null if only the loss is wanted. The term's weight is applied
/// afterwards. Must not step or change the simulation.
typedef void mabd_loss_fn(void* user, int64_t step, const mabd_sim* sim, mabd_real* value,
                          mabd_real* d_position, mabd_real* d_rotation, mabd_real* d_velocity,
                          mabd_real* d_angular);

// ---- gradients ---------------------------------------------------------------------------------

/// What to differentiate, and by what. Start from mabd_default_gradient_def().
typedef struct mabd_gradient_def {
    int32_t parameter_count, term_count; // >= 0
    const mabd_parameter* parameters;    // (parameter_count), copied by create
    const mabd_loss_term* terms;         // (term_count), copied by create
    mabd_loss_fn* user_fn;               // for terms of kind user, else null
    void* user;                          // passed to user_fn
    int64_t steps;                       // of the run, >= 1
    size_t tape_bytes; // most memory for the tape; 0 = all steps at once. With less, parts of the
                       // run are computed twice
    uint32_t cookie;   // set by mabd_default_gradient_def
} mabd_gradient_def;
/// Definition without parameters and terms, one step, a tape of all steps.
MABD_API mabd_gradient_def mabd_default_gradient_def(void);

/// Report of one gradient.
typedef struct mabd_gradient_info {
    mabd_real loss;
    int64_t steps;           // of the run
    int64_t recomputed;      // steps that were taken twice because the tape is too small for all
    int32_t non_smooth;      // steps in which the law of an axis changed its branch (a stop was met
                             // or left, an axis stuck or slipped, a drive reached its target or its
                             // limit) or ended where two branches meet, and steps that were halved.
                             // The derivative is that of the branch on which each solve ended
    double forward_seconds;  // wall time of the run
    double backward_seconds; // wall time of the adjoint
} mabd_gradient_info;

// ---- loss files --------------------------------------------------------------------------------

/// Parameters and terms that were read from a file (docs/guide/gradients.md).
typedef struct mabd_loss mabd_loss;
/// Read a loss file for runs of `model` with `steps` steps of h [s]; names become indices, in a
/// model of copies "3/arm" those of copy 3 and "arm" those of the first one. *loss is null on
/// failure: MABD_ERR_ARG; MABD_ERR_IO: the file cannot be read; MABD_ERR_INPUT: the file is
/// wrong, or names what the model does not have, and the error has line and column;
/// MABD_ERR_MEMORY.
MABD_API mabd_status mabd_loss_load(const mabd_model* model, mabd_real h, int64_t steps,
                                    const char* path, mabd_loss** loss, mabd_error* error);
/// Read the text of a loss file, of `length` bytes, as mabd_loss_load does.
MABD_API mabd_status mabd_loss_load_text(const mabd_model* model, mabd_real h, int64_t steps,
                                         const char* text, size_t length, mabd_loss** loss,
                                         mabd_error* error);
/// Destroy a loss; null does nothing.
MABD_API void mabd_loss_destroy(mabd_loss* loss);
/// Definition of a gradient with the parameters and terms of a loss, which must outlive it.
MABD_API mabd_gradient_def mabd_loss_gradient_def(const mabd_loss* loss);
/// Values (parameter_count) of the parameters: those that the file gives, else those of the scene.
/// They live as long as the loss.
MABD_API const mabd_real* mabd_loss_values(const mabd_loss* loss);
/// Number, from 0, of the entry of the file that a parameter comes from; an entry may stand for
/// several parameters in sequence.
MABD_API int32_t mabd_loss_entry(const mabd_loss* loss, int32_t parameter);

/// Derivatives of the loss of one model by its parameters. Owns a private copy of the numbers of
/// the model, a simulation of it and the tape.
typedef struct mabd_gradient mabd_gradient;

/// Create a gradient of a run from the start state of a model, which must outlive it. The
/// definition of the simulation chooses the formulation; its allocator serves the gradient, too.
/// MABD_ERR_INPUT: a parameter or term that the model does not have. MABD_ERR_UNAVAILABLE: the
/// formulation has no derivatives of it; the text names the thing. MABD_ERR_MEMORY, also if
/// tape_bytes is too small; the text says how many bytes a tape with checkpoints needs.
MABD_API mabd_status mabd_gradient_create(const mabd_model* model, const mabd_sim_def* sim_def,
                                          const mabd_gradient_def* def, mabd_gradient** gradient,
                                          mabd_error* error);
/// Destroy a gradient; null is allowed.
MABD_API void mabd_gradient_destroy(mabd_gradient* gradient);
/// Bytes that a gradient holds, tape and simulation included; runs take no more.
MABD_API size_t mabd_gradient_bytes(const mabd_gradient* gradient);
/// Number of parameters.
MABD_API int32_t mabd_gradient_parameter_count(const mabd_gradient* gradient);
/// Parameter number `index`.
MABD_API mabd_parameter mabd_gradient_parameter(const mabd_gradient* gradient, int32_t index);

/// Run with the parameter values p (parameters) and compute the loss and, by the adjoint, its
/// derivatives into `out` (parameters); null = the loss alone. info may be null. A start state that
/// the parameters open is closed by the least motion in the mass metric. Errors are those of the
/// start state and of steps.
MABD_API mabd_status mabd_gradient_run(mabd_gradient* gradient, const mabd_real* p, mabd_real* out,
                                       mabd_gradient_info* info, mabd_error* error);
/// Run with the parameter values p and write the derivatives of the states 0, every, 2 every, ...
/// by all parameters: ds_dp (steps/every + 1 x bodies x 12 x parameters), where 12 are position,
/// turn in the body frame, velocity and angular velocity (world). Takes further memory for the
/// time of the call: some 90 reals per body and parameter.
MABD_API mabd_status mabd_gradient_forward(mabd_gradient* gradient, const mabd_real* p,
                                           int64_t every, mabd_real* ds_dp, mabd_error* error);
/// Compute differences of fourth order of the loss by every parameter into differences
/// (parameters), to compare derivatives with: (8 (f(p + d) - f(p - d)) - (f(p + 2d) - f(p - 2d))) /
/// (12 d) with d = step times the scale of the parameter; step 0 = 1e-3. Four runs for each
/// parameter; bounds are not looked at. Fails as mabd_gradient_run does.
MABD_API mabd_status mabd_gradient_differences(mabd_gradient* gradient, const mabd_real* p,
                                               mabd_real step, mabd_real* differences,
                                               mabd_error* error);
/// Compare the derivatives at p with mabd_gradient_differences, all by value / scale. *worst gets
/// the largest difference relative to the largest magnitude of the two gradients' entries, *which
/// (may be null) the parameter. Differences of long or chaotic runs are not exact to more than
/// 1e-8.
MABD_API mabd_status mabd_gradient_check(mabd_gradient* gradient, const mabd_real* p,
                                         mabd_real step, mabd_real* worst, int32_t* which,
                                         mabd_error* error);

/// Linearise one step at the present state of a simulation, for control design: how the joint state
/// after the next step changes with the joint state before it and with the controls. A joint state
/// has nv = mabd_joint_layout_info.velocities (mabd_model_joint_layout) velocities, and its
/// positions change by as many reals: three free rotations turn by theta, R exp([theta]), in the
/// frame of their velocities. A change of the state is (positions, velocities), 2 nv reals. With
/// loops and couplings it stands for the nearest change, in the mass metric, that they allow:
/// coordinates first, then velocities.
///   dnext_dstate    (2 nv x 2 nv), row-major: row = change of the next state, column = of this
///   one;
///                   null = not wanted
///   dnext_dcontrol  (2 nv x controls of mabd_model_control): by the value of each control during
///                   the step (of a rigid servo that follows its signal: 0); null = not wanted
/// The step is that of the simulation's integrator, from its state alone: `bdf2` takes it by its
/// start method, as after mabd_sim_set_state. Pending forces act. The simulation does not change;
/// memory is taken for the time of the call. MABD_ERR_UNAVAILABLE names what has no derivatives:
/// formulations other than `redmax`, copies, and what mabd_gradient_create refuses.
MABD_API mabd_status mabd_gradient_step(const mabd_sim* sim, mabd_real* dnext_dstate,
                                        mabd_real* dnext_dcontrol, mabd_error* error);

// ---- optimisation ------------------------------------------------------------------------------

/// Report of one iteration of mabd_optimize to its progress callback.
typedef struct mabd_optimize_step {
    int32_t iteration; // from 0, the start
    int32_t runs;      // of the simulation so far
    mabd_real loss;
    mabd_real gradient;          // largest entry of the projected gradient, by value / scale
    mabd_real step;              // length of the accepted step along its direction; 0 at the start
    const mabd_real* parameters; // (parameter_count) values
} mabd_optimize_step;
/// Progress of an optimisation. Return false to stop it; the best values so far are kept.
typedef bool mabd_optimize_fn(void* user, const mabd_optimize_step* step);

/// How to optimise. Start from mabd_default_optimize_def(). Values are in units of their `scale`.
typedef struct mabd_optimize_def {
    int32_t max_iterations;       // >= 1
    int32_t memory;               // pairs of steps and gradients that model the curvature, >= 1
    mabd_real gradient_tolerance; // stop if no entry of the projected gradient is larger, >= 0
    mabd_real loss_tolerance;     // stop if the loss is not larger; 0 = never
    mabd_optimize_fn* progress;   // called at the start and after each iteration; may be null
    void* user;                   // passed to progress
    uint32_t cookie;              // set by mabd_default_optimize_def
} mabd_optimize_def;
/// Definition with 100 iterations, 10 pairs, gradient tolerance 1e-8, loss tolerance 0, no
/// progress.
MABD_API mabd_optimize_def mabd_default_optimize_def(void);

/// Why an optimisation ended.
#define MABD_STOP_LIST(X)                                                                          \
    X(GRADIENT, "gradient") /* the projected gradient is below its tolerance */                    \
    X(LOSS, "loss")         /* the loss is below its tolerance */                                  \
    X(FLAT, "flat")         /* the loss falls no further in floating-point numbers */              \
    X(ITERATIONS, "iterations")                                                                    \
    X(USER, "user") /* the progress callback */
typedef enum mabd_stop {
#define X(name, text) MABD_STOP_##name,
    MABD_STOP_LIST(X)
#undef X
        MABD_STOP_COUNT
} mabd_stop;
/// Name of a reason to stop, "gradient"; "unknown" for other values. Never null.
MABD_API const char* mabd_stop_name(mabd_stop reason);

/// Report of an optimisation.
typedef struct mabd_optimize_info {
    int32_t iterations;
    int32_t runs;         // of the simulation, each with a gradient
    mabd_real first_loss; // at the start
    mabd_real loss;       // at the end
    mabd_real gradient;   // largest entry of the projected gradient, by value / scale
    mabd_stop reason;
} mabd_optimize_info;

/// Minimise the loss of a gradient over its parameters inside their bounds by L-BFGS-B with a
/// strong Wolfe line search. p (parameter_count) holds the start, which is moved inside the bounds
/// first, and gets the result; also after a failure it has the best values found. A step to values
/// at which the run fails with MABD_ERR_DIVERGED, or which no start has (MABD_ERR_INPUT: joints
/// that cannot be closed, a mass of 0), is shortened. MABD_ERR_ARG; MABD_ERR_MEMORY; the status of
/// a run that fails at the start, or for another reason. `info` may be null.
MABD_API mabd_status mabd_optimize(mabd_gradient* gradient, const mabd_optimize_def* def,
                                   mabd_real* p, mabd_optimize_info* info, mabd_error* error);
