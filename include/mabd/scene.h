// SPDX-License-Identifier: Apache-2.0
// The scene: a mutable list of bodies, joints and forces, filled by calls or from JSON.
// SI units, z up, quaternions w x y z. Bodies and joints are indices from 0; MABD_WORLD (-1) is the
// world. All input is checked here, once; a model that is built from a scene is trusted.
//
// Functions that return a status: MABD_ERR_INPUT for values that make no sense, with a message that
// names the body or joint; MABD_ERR_ARG for null arguments and definitions that do not come from
// their default function; MABD_ERR_MEMORY. `error` may be null. A call that fails leaves the scene
// as it was.
#pragma once

#include "mabd/base.h"

#define MABD_WORLD (-1)
/// Young's modulus of bodies of a new scene without their own [Pa]: steel.
#define MABD_DEFAULT_YOUNG ((mabd_real)2e11)

typedef struct mabd_scene mabd_scene;

// ---- signals: a number as a function of time --------------------------------------------------

typedef enum mabd_signal_kind {
    MABD_SIGNAL_NONE,     // the quantity is absent
    MABD_SIGNAL_CONSTANT, // value
    MABD_SIGNAL_SINE,     // value + amplitude sin(2 pi frequency t + phase)
    MABD_SIGNAL_RAMP,     // value before start, value_end after end, linear between
    MABD_SIGNAL_TABLE,    // linear between points, constant outside
    MABD_SIGNAL_STEPS,    // values[i] from times[i] up to times[i + 1], values[0] before times[0]
} mabd_signal_kind;

/// A number as a function of time. MABD_SIGNAL_STEPS jumps: integrators with history restart there,
/// so that held controls and switched forces are integrated with the order of the method. A step
/// that begins at a jump has the new value; a step with a jump inside has the mean over the step.
/// What prescribes a position may not jump: scripts and rigid servos without a max_force refuse it.
typedef struct mabd_signal {
    mabd_signal_kind kind;
    mabd_real value;         // constant, offset of a sine, start of a ramp
    mabd_real amplitude;     // sine
    mabd_real frequency;     // sine [Hz]
    mabd_real phase;         // sine [rad]
    mabd_real start, end;    // ramp [s]
    mabd_real value_end;     // ramp
    int32_t point_count;     // table, steps: >= 1
    const mabd_real* times;  // table, steps [s] (point_count): strictly rising; copied by the scene
    const mabd_real* values; // table, steps (point_count): copied by the scene
} mabd_signal;

/// Make a signal that is `value` for all time.
MABD_API mabd_signal mabd_signal_constant(mabd_real value);

// ---- bodies ------------------------------------------------------------------------------------

/// Shapes of geoms (name in JSON). Those from the plane on are surroundings: without mass and
/// volume, on bodies that are fixed or scripted.
#define MABD_SHAPE_LIST(X)                                                                         \
    X(BOX, "box")           /* size = full edge lengths x y z */                                   \
    X(SPHERE, "sphere")     /* size[0] = radius */                                                 \
    X(CAPSULE, "capsule")   /* size[0] = radius, size[1] = length between the centres; along z */  \
    X(CYLINDER, "cylinder") /* size[0] = radius, size[1] = length; along z */                      \
    X(PLANE, "plane")       /* solid where z <= 0, without end */                                  \
    X(BOWL, "bowl") /* lower half of a shell: size[0] = inner radius, size[1] = thickness */       \
    X(HEIGHT_FIELD, "height-field") /* solid below the surface `field` */

typedef enum mabd_shape {
#define X(name, text) MABD_SHAPE_##name,
    MABD_SHAPE_LIST(X)
#undef X
        MABD_SHAPE_COUNT
} mabd_shape;

/// Return the name of a shape as in JSON, a static text.
MABD_API const char* mabd_shape_name(mabd_shape shape);

/// A surface over a regular grid: node (i, j) is at x = (i - (columns - 1)/2) dx,
/// y = (j - (rows - 1)/2) dy, z = heights[j columns + i]; a cell is two triangles that share the
/// diagonal from its node (i, j) to (i + 1, j + 1).
typedef struct mabd_height_field {
    int32_t columns, rows;    // nodes along x and y, >= 2; at most 2^24 in all
    mabd_real dx, dy;         // cell size [m], > 0
    const mabd_real* heights; // (rows x columns) [m]; copied by the scene
} mabd_height_field;

/// One piece of a body. Two geoms may touch if each is in a category that the other's mask lets
/// through. Where they do, friction is the geometric mean of the two, restitution, rolling and
/// spinning friction the larger one, unless mabd_scene_set_pair says otherwise. The relative
/// angular velocity w of two touching bodies with normal n and normal force N is opposed by torques
/// of at most rolling_friction N across n and spinning_friction N along n. A surface that moves (a
/// conveyor) drags what touches it by friction.
typedef struct mabd_geom {
    mabd_shape shape;
    mabd_real size[3];              // [m], see MABD_SHAPE_LIST
    mabd_real position[3];          // of its centre in the body frame [m]
    mabd_real rotation[4];          // in the body frame
    mabd_real density;              // [kg/m^3]; not used by the shapes without mass
    mabd_real friction;             // Coulomb coefficient, >= 0
    mabd_real restitution;          // part of the approach speed that comes back, 0 .. 1
    mabd_real rolling_friction;     // >= 0 [m]: torque against rolling over normal force
    mabd_real spinning_friction;    // >= 0 [m]: the same about the normal
    mabd_real surface_velocity[3];  // of the surface over its body, in the body frame [m/s]
    uint32_t category;              // bits: categories of this geom; at least one
    uint32_t mask;                  // bits: categories that it touches; 0 = none
    const mabd_height_field* field; // of a height field, else null; copied by the scene
} mabd_geom;

typedef enum mabd_motion {
    MABD_MOTION_DYNAMIC,  // moved by the simulation
    MABD_MOTION_FIXED,    // never moves
    MABD_MOTION_SCRIPTED, // moved by `script`
} mabd_motion;

/// Motion of a scripted body: start pose, then moved by `direction` times `translation(t)` and
/// turned by `angle(t)` about `axis` through the start position (world coordinates).
typedef struct mabd_script {
    mabd_real direction[3];  // unit length is not required [1]
    mabd_signal translation; // [m]
    mabd_real axis[3];
    mabd_signal angle; // [rad]
} mabd_script;

/// One body. Start from mabd_default_body_def(). Mass properties: `inertia_given` -> mass, inertia,
/// center as they are; else from the geoms, scaled to `mass` if mass > 0. The body frame is the
/// user's; the model moves to the principal frame inside.
typedef struct mabd_body_def {
    const char* name; // unique in the scene, or null
    mabd_motion motion;
    int32_t geom_count;
    const mabd_geom* geoms; // (geom_count), may be null with explicit inertia; copied
    mabd_real mass;         // [kg], 0 = from the geoms
    bool inertia_given;
    mabd_real inertia[6]; // xx yy zz xy xz yz about the centre of mass, body axes [kg m^2]
    mabd_real center[3];  // centre of mass in the body frame [m] (with inertia_given)
    mabd_real density;    // [kg/m^3] volume of a body without geoms is mass / density; default 1000
    mabd_real young;      // Young's modulus [Pa]; default 0 = that of the scene
    mabd_real poisson;    // Poisson ratio, default 0.3
    mabd_real drag;       // linear drag against the wind [N s/m], default 0
    mabd_real position[3];
    mabd_real rotation[4];
    mabd_real velocity[3];         // of the body frame's origin, world [m/s]
    mabd_real angular_velocity[3]; // world [rad/s]
    mabd_script script;            // with MABD_MOTION_SCRIPTED
    uint32_t cookie;
} mabd_body_def;

/// Return the default body: dynamic, density 1000 kg/m^3, young of the scene, poisson 0.3, at the
/// origin with the axes of the world, at rest, without name and geoms.
MABD_API mabd_body_def mabd_default_body_def(void);
/// Make a geom of `shape`, centred at the body origin: friction 0.5, restitution 0, category 1,
/// mask all ones, no field, no rolling and spinning friction, a surface at rest. `size` (3) [m] as
/// in MABD_SHAPE_LIST, may be null for shapes without sizes; density [kg/m^3].
MABD_API mabd_geom mabd_geom_make(mabd_shape shape, const mabd_real* size, mabd_real density);

// ---- joints ------------------------------------------------------------------------------------

/// The twelve joints of [VQ Tab. 3] and two of [VI Tab. B.2]. Axes are those of the joint frame;
/// body a is the base.
/// (name in JSON, free translations, free rotations)
#define MABD_JOINT_LIST(X)                                                                         \
    X(FIXED, "fixed", "", "")                                                                      \
    X(PRISMATIC, "prismatic", "x", "")                                                             \
    X(HINGE, "hinge", "", "x")                                                                     \
    X(RECTANGULAR, "rectangular", "xy", "")                                                        \
    X(CYLINDRICAL, "cylindrical", "x", "x")                                                        \
    X(PIN_IN_SLOT, "pin-in-slot", "x", "y")                                                        \
    X(UNIVERSAL, "universal", "", "xy")                                                            \
    X(CARTESIAN, "cartesian", "xyz", "")                                                           \
    X(PLANAR, "planar", "xy", "z")                                                                 \
    X(BALL, "ball", "", "xyz")                                                                     \
    X(SLOT, "slot", "x", "xyz")                                                                    \
    X(FREE, "free", "xyz", "xyz")                                                                  \
    X(AXIS, "axis", "xyz", "x")                                                                    \
    X(POINT_ON_PLANE, "point-on-plane", "xy", "xyz")

/// Joints without such rows, for formulations that work with joint coordinates
/// (MABD_CAN_CURVES); given in world coordinates only, so `local` is refused.
///
///   screw            turns about x and advances along it by `pitch` per radian; axis rx
///   composite        `parts` one behind the other, each with its own frame
///   spline-curve     frame on b = frame on a C(q), C a cubic B-spline of frames: 1 freedom
///   spline-surface   frame on b = frame on a S(q1, q2), translations x y z, then rotations about
///                    x, y, z by bicubic B-splines: 2 freedoms
#define MABD_PATH_JOINT_LIST(X)                                                                    \
    X(SCREW, "screw", "", "x")                                                                     \
    X(COMPOSITE, "composite", "", "")                                                              \
    X(SPLINE_CURVE, "spline-curve", "", "")                                                        \
    X(SPLINE_SURFACE, "spline-surface", "", "")

typedef enum mabd_joint {
#define X(name, text, translations, rotations) MABD_JOINT_##name,
    MABD_JOINT_LIST(X) MABD_JOINT_COUNT, // types that every formulation has
    MABD_JOINT_LAST_WITH_ROWS = MABD_JOINT_COUNT - 1,
    MABD_PATH_JOINT_LIST(X)
#undef X
        MABD_JOINT_TYPE_COUNT
} mabd_joint;

/// Return the name of a joint type as in JSON, a static text.
MABD_API const char* mabd_joint_name(mabd_joint type);
/// Find the joint type with a name as in JSON; -1 if there is none.
MABD_API int mabd_joint_find(const char* name);

/// Coordinates of the three free rotations of a ball, slot, point-on-plane or free joint, for
/// formulations with joint coordinates (MABD_CAN_CURVES); others ignore them. The rotation R from
/// the frame on a to that on b is
///
///   local         C exp(q), C the rotation at the start of each step: no singular point
///   exponential   exp(q) from where both frames agree; beyond 4 rad q becomes (1 - 2pi/|q|) q
///   XYZ ...       the turn by q1 about x, then by q2 about the turned y, then by q3 about the
///                 turned z, and so on; with w = S q', where |det S| < 0.3 another of the twelve
#define MABD_JOINT_CHART_LIST(X)                                                                   \
    X(LOCAL, "local")                                                                              \
    X(EXPONENTIAL, "exponential")                                                                  \
    X(XYZ, "XYZ")                                                                                  \
    X(XZY, "XZY")                                                                                  \
    X(YXZ, "YXZ")                                                                                  \
    X(YZX, "YZX")                                                                                  \
    X(ZXY, "ZXY")                                                                                  \
    X(ZYX, "ZYX")                                                                                  \
    X(XYX, "XYX")                                                                                  \
    X(XZX, "XZX")                                                                                  \
    X(YXY, "YXY")                                                                                  \
    X(YZY, "YZY")                                                                                  \
    X(ZXZ, "ZXZ")                                                                                  \
    X(ZYZ, "ZYZ")

typedef enum mabd_joint_chart {
#define X(name, text) MABD_CHART_##name,
    MABD_JOINT_CHART_LIST(X)
#undef X
        MABD_JOINT_CHART_COUNT
} mabd_joint_chart;

/// Return the name of a chart as in JSON, a static text.
MABD_API const char* mabd_joint_chart_name(mabd_joint_chart chart);
/// Find the chart with a name as in JSON; -1 if there is none.
MABD_API int mabd_joint_chart_find(const char* name);

/// Friction of the bearing of an axis: a pin or guide of a radius and length, in the joint frame,
/// with a face against which the load along the axis presses. Its bound, with the load N across the
/// axis and the bending moment B turned by 90 degrees about it,
///   friction (4/pi) (|N/2 + B/length| + |N/2 - B/length|) + friction |load along the axis|,
/// times radius and face for a rotation; without a length (4/pi) |N|. On a rotation vector the
/// bearing is a ball: friction radius (4/pi) |load| about each axis.
typedef struct mabd_pin_def {
    mabd_real friction; // Coulomb's coefficient; 0 = no pin
    mabd_real radius;   // [m], > 0 for a rotation
    mabd_real length;   // [m], 0 = bending moments do not count
    mabd_real face;     // mean radius of the face [m], 0 = none
} mabd_pin_def;

/// Forces along or about one free axis of a joint. Lengths in m, angles in rad.
/// With coordinate x (0 in the start pose): force on x = -stiffness (x - rest) - damping x'
///   - armature x'' + servo_stiffness (servo(t) - x) - servo_damping x' + motor(t).
/// On rx, ry, rz of joints with three free rotations x is a component of the rotation vector;
/// damping, armature, and servo_damping without max_force, act on the relative angular velocity O
/// of b against a in the joint frame on b instead of x': torque on b = -damping O - armature O'.
/// All but the motor are implicit: one compliant row. `servo_rigid` makes x = servo(t) exactly.
/// Besides: stops that keep lower <= x <= upper, with rebound at limit_restitution times the speed
/// of an impact; a drive x' = motor_velocity(t); a limit of the force of servo or drive; dry
/// friction, which holds x' = 0 up to its force. They share the row (src/joint/axis_law.h) and are
/// as implicit.
typedef struct mabd_axis_def {
    mabd_real stiffness;         // [N/m] or [N m/rad]
    mabd_real rest;              // [m] or [rad]
    mabd_real damping;           // [N s/m] or [N m s/rad]
    mabd_real armature;          // [kg] or [kg m^2]
    mabd_signal servo;           // target [m] or [rad]; NONE = no servo
    bool servo_rigid;            // the target is met exactly, with unlimited force
    bool limited;                // lower and upper count
    mabd_real servo_stiffness;   // [N/m] or [N m/rad]
    mabd_real servo_damping;     // [N s/m] or [N m s/rad]
    mabd_signal motor;           // force [N] or torque [N m]; NONE = no motor
    mabd_real lower, upper;      // stops [m] or [rad], lower <= upper; infinite = none on that side
    mabd_real limit_restitution; // of the stops, 0 .. 1
    mabd_signal motor_velocity;  // target rate [m/s] or [rad/s]; NONE = none; not beside a servo
    mabd_real max_force;         // of servo or motor_velocity [N] or [N m]; 0 = unlimited
    mabd_real friction;          // Coulomb friction [N] or [N m]
    mabd_real friction_speed;    // [m/s] or [rad/s]: friction tanh(x'/friction_speed); 0 = dry
    mabd_pin_def pin; // friction of a bearing, that grows with its load; beside `friction`
    /// Weight of the force on this axis among redundant rows (mabd_joint_def), > 0; 0 = that of the
    /// joint. An axis with nothing but a weight may be locked: it is that of the row that locks it.
    mabd_real weight;
} mabd_axis_def;

/// Axes of a joint, in this order everywhere.
typedef enum mabd_axis {
    MABD_AXIS_TX,
    MABD_AXIS_TY,
    MABD_AXIS_TZ,
    MABD_AXIS_RX,
    MABD_AXIS_RY,
    MABD_AXIS_RZ,
    MABD_AXIS_COUNT
} mabd_axis;

/// A cubic B-spline of frames, in the joint frame on a. The coordinate q counts segments: frames
/// i .. i + 3 make segment i, and q = i is its start, near frame i + 1. An open curve has count - 3
/// segments and must not be left; a closed one has count, and q goes on beyond them.
typedef struct mabd_curve_def {
    int32_t count;           // frames, at least 4
    const mabd_real* frames; // (count x 7) position [m], rotation; neighbours less than pi apart
    bool closed;
} mabd_curve_def;

/// Bicubic B-splines over a grid: q1 counts segments along rows, q2 along columns.
typedef struct mabd_surface_def {
    int32_t rows, columns; // at least 4 each
    /// Control values (rows x columns) of x y z [m] and of rotations about x y z [rad]; null = 0.
    const mabd_real* values[MABD_AXIS_COUNT];
} mabd_surface_def;

/// A part of a composite joint: its frame stands in the frame behind the part before it, in that on
/// a at first, with all coordinates zero.
typedef struct mabd_joint_part {
    mabd_joint type;     // any with a freedom but free, composite and splines
    mabd_real anchor[3]; // [m]
    mabd_real frame[4];
    mabd_real pitch;        // of a screw [m/rad]
    mabd_joint_chart chart; // of a ball, slot or point-on-plane
} mabd_joint_part;

#define MABD_JOINT_MAX_FREEDOMS 6

/// One joint. The joint frame is given either once in world coordinates (`local` false), or on
/// each body in that body's user frame (`local` true). Start from mabd_default_joint_def().
typedef struct mabd_joint_def {
    const char* name; // unique in the scene, or null
    mabd_joint type;
    int32_t a, b; // bodies, or MABD_WORLD; a != b
    bool local;
    mabd_real anchor[3];   // world [m] (local false)
    mabd_real frame[4];    // world, columns = joint axes x y z (local false)
    mabd_real anchor_a[3]; // in body a [m] (local true); world if a is MABD_WORLD
    mabd_real frame_a[4];
    mabd_real anchor_b[3];
    mabd_real frame_b[4];
    const mabd_axis_def*
        axes[MABD_AXIS_COUNT]; // null = nothing on that axis; free axes only; copied
    /// Weights of the forces and torques of the joint, > 0. Where rows are redundant, formulations
    /// that solve for the least forces (quaternion) minimise the sum of weight times force or
    /// torque squared, components in the joint frame on a; others ignore weights.
    mabd_real force_weight, torque_weight;
    mabd_real pitch;                 // of a screw [m/rad]
    const mabd_curve_def* curve;     // of a spline-curve; copied
    const mabd_surface_def* surface; // of a spline-surface; copied
    mabd_real start[2];              // coordinates of a spline in the start pose
    int32_t part_count;              // of a composite, with MABD_JOINT_MAX_FREEDOMS at most
    const mabd_joint_part* parts;    // (part_count) copied
    mabd_joint_chart chart;          // of a joint with three free rotations
    uint32_t cookie;
} mabd_joint_def;

/// Return the default joint: a ball joint at the world origin between the world (a) and body 0 (b),
/// with the axes of the world, without name and axis controls, both weights 1.
MABD_API mabd_joint_def mabd_default_joint_def(void);
/// Return the default part of a composite joint: a hinge without an offset.
MABD_API mabd_joint_part mabd_default_joint_part(void);

/// Compute the quaternion `frame` (4) of the frame whose x axis is along `x` (3) and whose y axis
/// is `y` (3) made orthogonal to x; with y null any y axis. False if x has no length or y is
/// parallel to x.
MABD_API bool mabd_frame_from_axes(const mabd_real* x, const mabd_real* y, mabd_real* frame);

// ---- forces ------------------------------------------------------------------------------------

/// A force and a torque on one body, over time: both are multiplied by `signal`.
typedef struct mabd_force_def {
    int32_t body;
    mabd_real point[3];  // where the force acts, body frame [m]
    mabd_real force[3];  // [N]
    mabd_real torque[3]; // [N m]
    bool body_frame;     // force and torque turn with the body; else world
    mabd_signal signal;  // NONE = 1
} mabd_force_def;

// ---- springs, nodes, ground, couplings ---------------------------------------------------------

/// A point of a body in its user frame, or of the world (MABD_WORLD) [m].
typedef struct mabd_spring_point {
    int32_t body;
    mabd_real point[3];
} mabd_spring_point;

/// Tension T of a spring of length l and rest length L (name in JSON).
#define MABD_SPRING_LAW_LIST(X)                                                                    \
    X(LINEAR, "linear") /* T = stiffness (l - L) + damping l' */                                   \
    X(STRAIN, "strain") /* T = (stiffness (l - L) + damping l') / L */                             \
    X(CABLE, "cable")   /* that of strain where it pulls and l > L, else 0 */
typedef enum mabd_spring_law {
#define X(name, text) MABD_SPRING_##name,
    MABD_SPRING_LAW_LIST(X)
#undef X
        MABD_SPRING_LAW_COUNT
} mabd_spring_law;

/// A spring along a line through points of bodies: from the first one to the last one over those
/// between, on which it slides without friction. Start from mabd_default_spring_def().
typedef struct mabd_spring_def {
    int32_t point_count;             // >= 2
    const mabd_spring_point* points; // (point_count) on at least two bodies; copied
    mabd_real stiffness;             // [N/m]; [N] of strain and cable
    mabd_real damping;               // [N s/m]; [N s] of strain and cable
    mabd_real length;                // rest length [m]; 0 = that of the start pose
    mabd_spring_law law;
    uint32_t cookie;
} mabd_spring_def;
/// Return the default spring: linear, without points, stiffness and damping.
MABD_API mabd_spring_def mabd_default_spring_def(void);

/// A point mass: a body that does not rotate, for ropes of points. Start from
/// mabd_default_node_def().
typedef struct mabd_node_def {
    const char* name;      // unique among bodies, or null
    mabd_real position[3]; // [m]
    mabd_real velocity[3]; // [m/s]
    mabd_real mass;        // [kg], > 0
    uint32_t cookie;
} mabd_node_def;
/// Return the default node: 1 kg at rest at the origin.
MABD_API mabd_node_def mabd_default_node_def(void);

/// A plane that pushes points of bodies back. With the depth d > 0 of a point below it and its
/// velocity u along it: normal force f = stiffness d + damping d' where that is positive, friction
/// -tangent u, at most friction f. Start from mabd_default_ground_def().
typedef struct mabd_ground_def {
    mabd_real point[3];              // of the plane, world [m]
    mabd_real normal[3];             // out of the ground, world; made unit length
    mabd_real stiffness;             // of each point [N/m], > 0
    mabd_real damping;               // [N s/m]
    mabd_real tangent;               // [N s/m]
    mabd_real friction;              // Coulomb's coefficient
    int32_t point_count;             // 0 = corners of all boxes of dynamic bodies, and all nodes
    const mabd_spring_point* points; // (point_count) of dynamic bodies; copied
    uint32_t cookie;
} mabd_ground_def;
/// Return the default ground: through the origin, normal z, 1e5 N/m, 100 N s/m, without friction,
/// corners and nodes.
MABD_API mabd_ground_def mabd_default_ground_def(void);

/// One axis of a coupling: a coordinate x of a joint.
typedef struct mabd_coupling_axis {
    int32_t joint;
    int32_t axis;    // mabd_axis, free; not a component of a rotation vector
    mabd_real ratio; // not 0
} mabd_coupling_axis;

/// Most axes of a coupling.
#define MABD_COUPLING_MAX_AXES 8

/// Coordinates that move in concert: sum of ratio x = offset. The first axis follows the others.
/// Start from mabd_default_coupling_def().
typedef struct mabd_coupling_def {
    const char* name; // for messages, or null
    int32_t axis_count;
    const mabd_coupling_axis* axes; // (axis_count) 2 .. MABD_COUPLING_MAX_AXES; copied
    mabd_real offset;               // [m] or [rad] times the ratios
    uint32_t cookie;
} mabd_coupling_def;
/// Return the default coupling: no axes, offset 0.
MABD_API mabd_coupling_def mabd_default_coupling_def(void);

// ---- contacts ----------------------------------------------------------------------------------

/// How the geoms of a scene touch. Start from mabd_default_contact_def().
typedef struct mabd_contact_def {
    bool enabled;     // false: geoms pass through each other
    bool neighbours;  // bodies that share a joint touch, too
    mabd_real margin; // contacts exist from this distance on [m]; 0 = automatic
    mabd_real
        compliance; // 0 .. 1: softness of a contact over that of the bodies behind it, the part of
                    // its own row's J H^-1 J' by which it gives way
    uint32_t cookie;
} mabd_contact_def;

/// Return the default contacts: not enabled, neighbours do not touch, automatic margin, compliance
/// 1e-3: a body at rest sinks in by a thousandth of its fall in one step, 1 micrometre at 10 ms.
MABD_API mabd_contact_def mabd_default_contact_def(void);

/// How two bodies touch; it takes precedence over their geoms and joints.
typedef struct mabd_pair_def {
    int32_t a, b;  // bodies, a != b
    bool excluded; // they never touch; nothing else may be given then
    bool friction_given, restitution_given;
    bool rolling_friction_given, spinning_friction_given;
    mabd_real friction;          // >= 0, else from the geoms
    mabd_real restitution;       // 0 .. 1, else from the geoms
    mabd_real rolling_friction;  // >= 0 [m], else from the geoms
    mabd_real spinning_friction; // >= 0 [m], else from the geoms
} mabd_pair_def;

// ---- the builder -------------------------------------------------------------------------------

/// Create an empty scene with gravity (0, 0, -9.81) m/s^2, no wind and Young's modulus
/// MABD_DEFAULT_YOUNG. `allocator` may be null:
/// malloc and free. On failure *scene is null.
MABD_API mabd_status mabd_scene_create(const mabd_allocator* allocator, mabd_scene** scene);
/// Free a scene. Models that were built from it stay valid. Null is allowed.
MABD_API void mabd_scene_destroy(mabd_scene* scene);

/// Add one body and copy all of `def`. *id gets its index; `id` may be null.
MABD_API mabd_status mabd_scene_add_body(mabd_scene* scene, const mabd_body_def* def, int32_t* id,
                                         mabd_error* error);
/// Add n bodies that share everything of `def` but the pose (and, if given, the velocities).
/// positions (n x 3) [m], rotations (n x 4), velocities (n x 3) [m/s], angular (n x 3) [rad/s]; all
/// but positions may be null: the value of `def` for all. Names are `def->name` + "/" + 0, 1, ...;
/// *first gets the index of the first body, `first` may be null.
MABD_API mabd_status mabd_scene_add_body_n(mabd_scene* scene, const mabd_body_def* def, int32_t n,
                                           const mabd_real* positions, const mabd_real* rotations,
                                           const mabd_real* velocities, const mabd_real* angular,
                                           int32_t* first, mabd_error* error);
/// Add one joint between bodies of the scene and copy all of `def`. *id gets its index; `id` may be
/// null.
MABD_API mabd_status mabd_scene_add_joint(mabd_scene* scene, const mabd_joint_def* def, int32_t* id,
                                          mabd_error* error);
/// Add n joints of one type and one set of axis controls between bodies a[i] and b[i]. anchors (n x
/// 3) [m] and frames (n x 4) are in world coordinates; frames may be null: def->frame for all.
/// Names are `def->name` + "/" + 0, 1, ...; *first gets the index of the first joint, `first` may
/// be null.
MABD_API mabd_status mabd_scene_add_joint_n(mabd_scene* scene, const mabd_joint_def* def, int32_t n,
                                            const int32_t* a, const int32_t* b,
                                            const mabd_real* anchors, const mabd_real* frames,
                                            int32_t* first, mabd_error* error);
/// Add a force and a torque on one body and copy all of `def`. Forces on one body add up.
MABD_API mabd_status mabd_scene_add_force(mabd_scene* scene, const mabd_force_def* def,
                                          mabd_error* error);
/// Add a spring and copy all of `def`. MABD_ERR_INPUT if its points are all on one body, none is on
/// a body that moves by forces, or two that follow each other coincide in the start pose.
MABD_API mabd_status mabd_scene_add_spring(mabd_scene* scene, const mabd_spring_def* def,
                                           mabd_error* error);
/// Add a node: a dynamic body, drawn as a sphere of 1000 kg/m^3, that springs, forces and the
/// ground act on and joints do not. *id gets its index among the bodies; `id` may be null.
MABD_API mabd_status mabd_scene_add_node(mabd_scene* scene, const mabd_node_def* def, int32_t* id,
                                         mabd_error* error);
/// Set the ground and copy all of `def`. A later call replaces an earlier one.
MABD_API mabd_status mabd_scene_set_ground(mabd_scene* scene, const mabd_ground_def* def,
                                           mabd_error* error);
/// Add a coupling of axes of joints and copy all of `def`. MABD_ERR_INPUT if an axis is locked, is
/// a component of a rotation vector, is named twice, or if its first axis is the first one of
/// another coupling or has a rigid servo.
MABD_API mabd_status mabd_scene_add_coupling(mabd_scene* scene, const mabd_coupling_def* def,
                                             mabd_error* error);
/// Set gravity (3) [m/s^2], in world axes.
MABD_API mabd_status mabd_scene_set_gravity(mabd_scene* scene, const mabd_real* gravity,
                                            mabd_error* error);
/// Set the wind velocity: `direction` (3), made unit length, times strength(t) [m/s]. It acts on
/// bodies that have `drag`. The signal is copied.
MABD_API mabd_status mabd_scene_set_wind(mabd_scene* scene, const mabd_real* direction,
                                         const mabd_signal* strength, mabd_error* error);
/// Set the step size [s] and the simulated time [s] that the scene suggests; 0 = none.
MABD_API mabd_status mabd_scene_set_time(mabd_scene* scene, mabd_real h, mabd_real duration,
                                         mabd_error* error);
/// Set Young's modulus [Pa], > 0, of all bodies without their own, those that are added before or
/// later. A new scene has MABD_DEFAULT_YOUNG. If the scene has bodies and no dynamic one takes the
/// value, it is set and mabd_scene_warnings reports it. Copies (mabd/batch.h) keep the value that
/// their own scene had when they were added. MABD_ERR_ARG for a null scene, MABD_ERR_INPUT for a
/// value that is not finite or not positive.
MABD_API mabd_status mabd_scene_set_young(mabd_scene* scene, mabd_real young, mabd_error* error);
/// Set whether joints that are open in the start pose are closed; by default they are an error of
/// mabd_sim_create. Bodies move by the least motion in the mass metric, the sum of mass times
/// squared distance and moment of inertia times squared rotation, that closes all rigid rows with
/// rigid servos at their targets. MABD_ERR_ARG for a null scene.
MABD_API mabd_status mabd_scene_set_close_joints(mabd_scene* scene, bool close, mabd_error* error);
/// Set how geoms touch. A later call replaces the settings of an earlier one.
MABD_API mabd_status mabd_scene_set_contact(mabd_scene* scene, const mabd_contact_def* def,
                                            mabd_error* error);
/// Set how one pair of bodies touches. A later call replaces an earlier one for the same pair. A
/// pair that is not `excluded` touches even if the two bodies share a joint.
MABD_API mabd_status mabd_scene_set_pair(mabd_scene* scene, const mabd_pair_def* def,
                                         mabd_error* error);
/// Exclude contacts between any two of n bodies, n >= 2, bodies (n); O(n) memory. A later call of
/// mabd_scene_set_pair replaces this for its pair, and this replaces earlier ones. MABD_ERR_INPUT
/// if a body is missing, the world, or named twice.
MABD_API mabd_status mabd_scene_exclude(mabd_scene* scene, int32_t n, const int32_t* bodies,
                                        mabd_error* error);
/// Set the name of the scene, which is copied; a new scene has the name "". MABD_ERR_ARG for null
/// or a name with control characters, which must not reach a terminal.
MABD_API mabd_status mabd_scene_set_name(mabd_scene* scene, const char* name);

/// Find the index of a named body, -1 if there is none or `name` is null. Names of bulk calls, as
/// "chain/12", are found too. O(1).
MABD_API int32_t mabd_scene_find_body(const mabd_scene* scene, const char* name);
/// Find the index of a named joint, -1 if there is none or `name` is null. Names of bulk calls, as
/// "chain/12", are found too. O(1).
MABD_API int32_t mabd_scene_find_joint(const mabd_scene* scene, const char* name);
/// Return the number of bodies, fixed and scripted ones included.
MABD_API int32_t mabd_scene_body_count(const mabd_scene* scene);
/// Return the number of joints.
MABD_API int32_t mabd_scene_joint_count(const mabd_scene* scene);

// ---- JSON --------------------------------------------------------------------------------------

/// One `--set NAME=VALUE`; value is the text as typed.
typedef struct mabd_setting {
    const char* name;
    const char* value;
} mabd_setting;

/// A parameter that a scene file declares, after the settings were applied.
typedef struct mabd_param {
    const char* name;
    const char* value;    // as text, after --set
    const char* fallback; // the default, as text
    const char* unit;
    const char* meaning;
} mabd_param;

/// Fill an empty scene from a JSON file (docs/guide/scene-format.md). settings (setting_count)
/// replace the defaults of params; null if there are none. MABD_ERR_INPUT: the file is wrong, and
/// the error has line, column and what was expected. MABD_ERR_IO: it cannot be read. MABD_ERR_ARG:
/// the scene is not empty. After a failure the scene may hold a part of the file: destroy it.
MABD_API mabd_status mabd_scene_load(mabd_scene* scene, const char* path, int32_t setting_count,
                                     const mabd_setting* settings, mabd_error* error);
/// Fill an empty scene from JSON text of `length` bytes; a terminating zero is not needed. settings
/// (setting_count) replace the defaults of params; null if there are none. MABD_ERR_INPUT: the text
/// is wrong, and the error has line, column and what was expected. MABD_ERR_ARG: the scene is not
/// empty. After a failure the scene may hold a part of the text: destroy it.
MABD_API mabd_status mabd_scene_load_text(mabd_scene* scene, const char* text, size_t length,
                                          int32_t setting_count, const mabd_setting* settings,
                                          mabd_error* error);
/// Return the number of parameters that the loaded file declares.
MABD_API int32_t mabd_scene_param_count(const mabd_scene* scene);
/// Return parameter i, from 0; empty texts if i is out of range. Its texts live as long as the
/// scene.
MABD_API mabd_param mabd_scene_param(const mabd_scene* scene, int32_t i);
/// Copy at most `capacity` warnings about the scene to `warnings`, oldest first, and return how
/// many there are. `warnings` may be null if capacity is 0. A null scene has none.
MABD_API int32_t mabd_scene_warnings(const mabd_scene* scene, int32_t capacity,
                                     mabd_warning* warnings);
/// Return the JSON text that the scene was loaded from, "" if none; it lives as long as the scene.
MABD_API const char* mabd_scene_text(const mabd_scene* scene);
