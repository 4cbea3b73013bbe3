// SPDX-License-Identifier: Apache-2.0
// The model: a checked scene, immutable, in the frames the solvers work in. Shared by any number
// of simulations and threads.
#pragma once

#include "mabd/scene.h"

typedef struct mabd_model mabd_model;

/// Build a model. The scene may be destroyed afterwards. `allocator` may be null.
MABD_API mabd_status mabd_model_build(const mabd_scene* scene, const mabd_allocator* allocator,
                                      mabd_model** model, mabd_error* error);
MABD_API void mabd_model_destroy(mabd_model* model);

MABD_API int32_t mabd_model_body_count(const mabd_model* model);
MABD_API int32_t mabd_model_joint_count(const mabd_model* model);
/// Rows of the dual system: rigid ones and compliant ones.
MABD_API int32_t mabd_model_row_count(const mabd_model* model);
/// Name of the scene.
MABD_API const char* mabd_model_name(const mabd_model* model);
/// Write the name of a body or joint (may be a generated one) into text, at most size bytes with the
/// terminating zero; a body without name is "body 12". In a batch (mabd/batch.h) the copy stands before it: "3/arm",
/// "3/body 12". Returns text.
MABD_API const char* mabd_model_body_name(const mabd_model* model, int32_t body, char* text,
                                          size_t size);
MABD_API const char* mabd_model_joint_name(const mabd_model* model, int32_t joint, char* text,
                                           size_t size);
/// Index of a named body or joint, -1 if there is none.
MABD_API int32_t mabd_model_find_body(const mabd_model* model, const char* name);
MABD_API int32_t mabd_model_find_joint(const mabd_model* model, const char* name);

/// Mass properties of one body, in its user frame.
typedef struct mabd_mass {
    mabd_real mass;         // [kg]
    mabd_real center[3];    // [m]
    mabd_real principal[3]; // principal moments about the centre of mass [kg m^2]
    mabd_real axes[4];      // principal frame in the user frame, w x y z
    mabd_real volume;       // [m^3]
} mabd_mass;
MABD_API mabd_mass mabd_model_body_mass(const mabd_model* model, int32_t body);
MABD_API mabd_motion mabd_model_body_motion(const mabd_model* model, int32_t body);
/// The geoms of a body (user frame); *count gets how many. Bodies of one class share them.
MABD_API const mabd_geom* mabd_model_body_geoms(const mabd_model* model, int32_t body,
                                                int32_t* count);
/// Type and bodies of a joint (MABD_WORLD = -1).
MABD_API mabd_joint mabd_model_joint_type(const mabd_model* model, int32_t joint, int32_t* a,
                                          int32_t* b);
/// The point that a joint keeps together, on each of its bodies in that body's user frame [m] (3); world
/// coordinates where the body is MABD_WORLD.
MABD_API void mabd_model_joint_anchors(const mabd_model* model, int32_t joint, mabd_real* anchor_a,
                                       mabd_real* anchor_b);
/// Rigid and compliant rows of a joint.
MABD_API int32_t mabd_model_joint_rows(const mabd_model* model, int32_t joint, int32_t* compliant);

/// Suggested step and duration [s], 0 = none.
MABD_API mabd_real mabd_model_suggested_h(const mabd_model* model);
MABD_API mabd_real mabd_model_suggested_duration(const mabd_model* model);
/// Gravity [m/s^2] (3).
MABD_API const mabd_real* mabd_model_gravity(const mabd_model* model);

/// Classes of connected components, as the dual system sees them: fixed and scripted bodies
/// separate components, so a linkage closed through the ground is a chain.
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
MABD_API const char* mabd_component_name(mabd_component kind);

/// What `mabd info` prints.
typedef struct mabd_model_info {
    int32_t bodies, dynamic_bodies, joints, rows, compliant_rows, classes;
    int32_t geoms[MABD_SHAPE_COUNT];          // by shape, over all bodies
    bool contacts;                            // geoms touch
    int32_t colliders;                        // geoms that may, over all bodies
    int32_t excluded_pairs;                   // of bodies that never do: jointed or set apart
    int32_t components[MABD_COMPONENT_COUNT]; // how many of each class
    int32_t loops;                            // independent cycles over all components
    int32_t widest_block;                     // rows of the widest joint
    size_t bytes_model;                       // held by the model
    size_t bytes_sim;                         // an M-ABD simulation will hold (CPU, dual auto)
    mabd_real bytes_per_body;                 // (bytes_model + bytes_sim) / bodies
    size_t bytes_per_contact;                 // it takes besides for each point; 0: no contacts
    uint64_t hash;                            // of all numbers of the model
} mabd_model_info;
MABD_API mabd_model_info mabd_model_get_info(const mabd_model* model);

/// Sums over the components of one class.
typedef struct mabd_plan_totals {
    int64_t components, bodies, joints, rows;
    int64_t junctions; // bodies with so many joints that their freedoms are unknowns themselves
    int64_t
        couplings;    // pairs of joints that share a moving body, or of a joint and half a junction
    int64_t cycles;   // independent ones
    int64_t cut_rows; // of the joints that close them: the fewest that can be cut to leave trees
} mabd_plan_totals;
MABD_API mabd_plan_totals mabd_model_plan_totals(const mabd_model* model, mabd_component kind);
