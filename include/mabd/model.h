// SPDX-License-Identifier: Apache-2.0
// The model: a checked scene, immutable, in the frames the solvers work in. Shared by any number
// of simulations and threads.
#pragma once

#include "mabd/scene.h"

typedef struct mabd_model mabd_model;

/// Build a model of a scene, which may be destroyed afterwards. `allocator` may be null and is
/// copied. *model is null on failure: MABD_ERR_ARG, MABD_ERR_INPUT (the scene has no bodies, or
/// makes no sense as a whole), MABD_ERR_MEMORY.
MABD_API mabd_status mabd_model_build(const mabd_scene* scene, const mabd_allocator* allocator,
                                      mabd_model** model, mabd_error* error);
/// Destroy a model and release its memory; null does nothing. No simulation may use it any more.
MABD_API void mabd_model_destroy(mabd_model* model);

/// Number of bodies, over all copies. The world is not one of them.
MABD_API int32_t mabd_model_body_count(const mabd_model* model);
/// Number of joints, over all copies.
MABD_API int32_t mabd_model_joint_count(const mabd_model* model);
/// Number of rows of the dual system, rigid and compliant.
MABD_API int32_t mabd_model_row_count(const mabd_model* model);
/// Name of the scene; "" if it has none.
MABD_API const char* mabd_model_name(const mabd_model* model);
/// Write the name of a body into text, at most `size` bytes with the terminating zero, and return
/// text. A body without a name is "body 12", MABD_WORLD is "world". In a batch (mabd/batch.h) the
/// number of the copy comes first: "3/arm", "3/body 12".
MABD_API const char* mabd_model_body_name(const mabd_model* model, int32_t body, char* text,
                                          size_t size);
/// Write the name of a joint into text, at most `size` bytes with the terminating zero, and return
/// text. A joint without a name is "joint 12". In a batch (mabd/batch.h) the number of the copy
/// comes first: "3/elbow", "3/joint 12".
MABD_API const char* mabd_model_joint_name(const mabd_model* model, int32_t joint, char* text,
                                           size_t size);
/// Index of a named body, -1 if no body has the name. In a batch the name is "3/arm".
MABD_API int32_t mabd_model_find_body(const mabd_model* model, const char* name);
/// Index of a named joint, -1 if no joint has the name. In a batch the name is "3/elbow".
MABD_API int32_t mabd_model_find_joint(const mabd_model* model, const char* name);

/// Mass properties of one body, in its user frame.
typedef struct mabd_mass {
    mabd_real mass;         // [kg]
    mabd_real center[3];    // [m]
    mabd_real principal[3]; // principal moments about the centre of mass [kg m^2]
    mabd_real axes[4];      // principal frame in the user frame, quaternion w x y z
    mabd_real volume;       // [m^3]
} mabd_mass;
/// Mass properties of a body, in its user frame.
MABD_API mabd_mass mabd_model_body_mass(const mabd_model* model, int32_t body);
/// Whether a body is dynamic, fixed or scripted.
MABD_API mabd_motion mabd_model_body_motion(const mabd_model* model, int32_t body);
/// Geoms of a body in its user frame (*count); bodies of one class share the array, which lives as
/// long as the model.
MABD_API const mabd_geom* mabd_model_body_geoms(const mabd_model* model, int32_t body,
                                                int32_t* count);
/// Type of a joint; *a and *b get its bodies, MABD_WORLD = -1.
MABD_API mabd_joint mabd_model_joint_type(const mabd_model* model, int32_t joint, int32_t* a,
                                          int32_t* b);
/// Write the anchor of a joint on each of its bodies into anchor_a and anchor_b (3 each) [m], in
/// the user frame of the body; in world coordinates where the body is MABD_WORLD.
MABD_API void mabd_model_joint_anchors(const mabd_model* model, int32_t joint, mabd_real* anchor_a,
                                       mabd_real* anchor_b);
/// Write the x axis of the frame of a joint, the axis of a hinge, into axis_a and axis_b (3 each),
/// as unit vectors in the user frame of each body; in world coordinates where the body is
/// MABD_WORLD. Zeros if the joint constrains no direction, as a ball joint.
MABD_API void mabd_model_joint_axes(const mabd_model* model, int32_t joint, mabd_real* axis_a,
                                    mabd_real* axis_b);
/// Number of rigid rows of a joint; *compliant gets the number of compliant ones and may be null.
MABD_API int32_t mabd_model_joint_rows(const mabd_model* model, int32_t joint, int32_t* compliant);

/// How a line is drawn: coiled, straight, or as a curve on which a joint slides.
typedef enum mabd_polyline_kind {
    MABD_POLYLINE_SPRING,
    MABD_POLYLINE_CABLE,
    MABD_POLYLINE_CURVE
} mabd_polyline_kind;
/// A line through points of bodies, for pictures of what has no geom.
typedef struct mabd_polyline {
    mabd_polyline_kind kind;
    int32_t count;                   // at least 2
    const mabd_spring_point* points; // (count) user frames of bodies; world coordinates
} mabd_polyline;
/// Write the lines that show springs, cables and the splines of joints into `lines`, their points
/// into `points`, and return the number of lines; *point_count gets that of all points. If an array
/// is null both are only counted. `point_count` may be null. Deterministic, O(points).
MABD_API int32_t mabd_model_polylines(const mabd_model* model, mabd_polyline* lines,
                                      mabd_spring_point* points, int32_t* point_count);
/// True if the scene has a penalty ground; point and normal (3 each) get a point of its plane [m]
/// and its unit normal, world.
MABD_API bool mabd_model_ground_plane(const mabd_model* model, mabd_real* point, mabd_real* normal);

/// Where the joint state of one entry lies: of a joint of the tree that hangs at the ground, or of
/// a body that hangs at no joint (`joint` = -1) and moves freely.
///
/// Positions of a joint: its free axes in the order of mabd_axis, slides [m] and angles [rad], 0 in
/// the start pose; three free rotations (ball, slot, point-on-plane, free) are one unit quaternion
/// w x y z, the joint frame on b seen from that on a. Velocities: their rates [m/s], [rad/s]; of
/// three free rotations the angular velocity of b against a, in the joint frame on b [rad/s].
/// Positions of a free body: position and quaternion of mabd_sim_get_state; velocities: its
/// velocity, world, and its angular velocity, in the user frame of the body. Of a node: its
/// position and its velocity alone.
typedef struct mabd_joint_layout {
    int32_t joint;                          // -1 = none
    int32_t body;                           // that the joint carries away from the ground
    bool reversed;                          // body is a of the joint, else b
    int32_t position_first, position_count; // count: that of velocities, one more with a quaternion
    int32_t velocity_first, velocity_count;
} mabd_joint_layout;

/// Sizes of a joint state.
typedef struct mabd_joint_layout_info {
    int32_t entries;               // joints of the tree, then free bodies
    int32_t positions, velocities; // of a state
    int32_t cut_joints;            // that close loops: they follow from the others
} mabd_joint_layout_info;

/// Lay out the joint state of a model: joints of the tree with the ground as root whose cut joints
/// have the fewest rows, in the order of the scene, then bodies without a joint to hang at; with
/// copies (mabd/batch.h) that of the first, which all others have too. Computed on demand, in
/// O(bodies + joints). The first `capacity` entries go to `entries`, which may be null if capacity
/// is 0; *info gets the sizes. MABD_ERR_ARG: null; MABD_ERR_MEMORY.
MABD_API mabd_status mabd_model_joint_layout(const mabd_model* model, int32_t capacity,
                                             mabd_joint_layout* entries,
                                             mabd_joint_layout_info* info, mabd_error* error);

/// Step that the scene suggests [s], 0 = none.
MABD_API mabd_real mabd_model_suggested_h(const mabd_model* model);
/// Duration that the scene suggests [s], 0 = none.
MABD_API mabd_real mabd_model_suggested_duration(const mabd_model* model);
/// Gravity (3), world [m/s^2]. The array lives as long as the model.
MABD_API const mabd_real* mabd_model_gravity(const mabd_model* model);

/// Classes of connected components of the dual system. Fixed and scripted bodies separate
/// components, so a linkage closed through the ground is a chain.
#define MABD_COMPONENT_LIST(X)                                                                     \
    X(FREE, "free") /* one body without rows */                                                    \
    X(CHAIN, "chain")                                                                              \
    X(TREE, "tree")                                                                                \
    X(LOOPS, "loops") /* cycles that share no joint */                                             \
    X(GRAPH, "graph")

typedef enum mabd_component {
#define X(name, text) MABD_COMPONENT_##name,
    MABD_COMPONENT_LIST(X)
#undef X
        MABD_COMPONENT_COUNT
} mabd_component;
/// Name of a class of components; "unknown" for other values. Never null.
MABD_API const char* mabd_component_name(mabd_component kind);

/// Counts of a model.
typedef struct mabd_model_info {
    int32_t bodies, dynamic_bodies, joints, rows, compliant_rows;
    int32_t classes;                          // of bodies with equal mass, material and geoms
    int32_t geoms[MABD_SHAPE_COUNT];          // by shape, over all bodies
    bool contacts;                            // geoms touch
    int32_t colliders;                        // geoms that may touch, over all bodies
    int32_t excluded_pairs;                   // of bodies that never touch: jointed or excluded
    int32_t excluded_groups;                  // of three bodies or more, of which no two touch
    int32_t grouped_bodies;                   // of these groups; a body of n groups counts n times
    int32_t components[MABD_COMPONENT_COUNT]; // by class
    int32_t loops;                            // independent cycles over all components
    int32_t widest_block;                     // rows of the widest joint
    int32_t weighted_joints; // with weights of forces other than 1; for quaternion only
    int32_t young_bodies;    // moving ones of another Young's modulus than steel; for affine only
    int32_t charted_joints;  // with another chart than local; for redmax only
    size_t bytes_model;      // held by the model
    uint64_t hash;           // mabd_model_hash
} mabd_model_info;
/// Counts of a model; O(1). Memory and solvers of a simulation of it: mabd_sim_get_plan.
MABD_API mabd_model_info mabd_model_get_info(const mabd_model* model);
/// Fingerprint of everything in the model that changes its motion, scripts, signals and contacts
/// included, names not; O(1). Equal scenes have equal fingerprints in every build of one version
/// with the same mabd_real.
MABD_API uint64_t mabd_model_hash(const mabd_model* model);

/// Sums over the components of one class.
typedef struct mabd_plan_totals {
    int64_t components, bodies, joints, rows;
    int64_t junctions; // bodies with so many joints that their freedoms are unknowns themselves
    int64_t couplings; // pairs of joints, or of a joint and half a junction, that share a body
    int64_t cycles;    // independent ones
    int64_t cut_rows;  // of the joints that close cycles: fewest rows whose removal leaves trees
} mabd_plan_totals;
/// Sums over the components of one class; O(components).
MABD_API mabd_plan_totals mabd_model_plan_totals(const mabd_model* model, mabd_component kind);
