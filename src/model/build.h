// SPDX-License-Identifier: Apache-2.0
// Steps of building a model, in the order they are called by build.c.
#pragma once

#include "model/model_data.h"
#include "scene/scene_data.h"

/// Entries that the arena of a model has for each array; upper bounds where sharing is known later.
typedef struct mabd_model_sizes {
    size_t bodies, joints, classes, row_sets, frames, forces, scripts, signals, table_reals;
    size_t controls, name, pieces, piece_values;
    size_t springs, spring_points, nodes, grounds, ground_points, couplings, coupling_axes;
    size_t geoms, fields, heights;                       // of classes; nodes of height fields
    size_t collider_first, colliders, exclusions, pairs; // 0 without contacts
    size_t members, exceptions;                          // 0 without groups
} mabd_model_sizes;

/// State of a build. Arrays of `model` are carved from one arena before any step fills them.
typedef struct mabd_model_builder {
    const mabd_scene* scene;
    mabd_model* model;
    int32_t*
        row_set_of; // ((axes + 1) x types of joints) first row set of axes and type, -1 = unused
    int32_t* joint_set; // (joints) row set of a joint
    int32_t* pair_of;   // (joints) place in row_set_of of a row set
    size_t table_used;  // reals of model->tables in use
} mabd_model_builder;

/// Copy a signal and its table; null for MABD_SIGNAL_NONE.
const mabd_signal* mabd_builder_signal(mabd_model_builder* builder, const mabd_signal* signal);

/// Principal frames, Lame constants (classes.c).
void mabd_builder_classes(mabd_model_builder* builder);
/// A point (3) and a frame (4) of the user frame, in the principal frame of a class (classes.c).
void mabd_class_to_principal(const mabd_model_class* c, const mabd_real* point,
                             const mabd_real* frame, mabd_vec3* X, mabd_mat3* F);

/// Count geoms and contacts of a scene into n (contacts.c).
void mabd_builder_count_geoms(const mabd_scene* scene, mabd_model_sizes* n);
/// Copy the geoms with their height fields.
void mabd_builder_geoms(mabd_model_builder* builder);
/// Fill colliders, pairs and exclusions if contacts are enabled; needs classes and joints. Takes
/// temporary memory: MABD_ERR_MEMORY.
mabd_status mabd_builder_contacts(mabd_model_builder* builder);
/// Counts and bytes of a finished model, all of mabd_model_info but the hash (model_info.c).
mabd_model_info mabd_model_count(const mabd_model* m);
/// Hash of all identity fields of a model (model_hash.c); O(size of the model).
uint64_t mabd_model_compute_hash(const mabd_model* m);
/// Number the row sets that the joints need (row_sets.c): one for each pair of joint type and set
/// of axes in use, and one for each joint that can be controlled. Fills joint_set and pair_of.
int32_t mabd_builder_number_row_sets(mabd_model_builder* builder);
/// Set of axes of a numbered row set, -1 = none.
int32_t mabd_builder_axes_of(const mabd_model_builder* builder, int32_t row_set);
/// The first row set with the same type and axes; it owns the signals.
int32_t mabd_builder_first_like(const mabd_model_builder* builder, int32_t row_set);
/// Fill the numbered row sets.
void mabd_builder_row_sets(mabd_model_builder* builder);
/// Most controls that a copy of the scene can have (model_copies.c).
size_t mabd_builder_control_limit(const mabd_scene* scene);
/// Fill counts and controls of copies (model_copies.c); needs joints.
void mabd_builder_copies(mabd_model_builder* builder);
/// Count springs, nodes, ground and couplings of a scene into n (model_springs.c).
void mabd_builder_count_springs(const mabd_scene* scene, mabd_model_sizes* n);
/// Fill springs, nodes, ground and couplings; needs classes and geoms (model_springs.c).
void mabd_builder_springs(mabd_model_builder* builder);
/// Check that the ground has points; corners: those of boxes, and then no dynamic body may have
/// another shape (model_springs.c). MABD_ERR_INPUT names the body.
mabd_status mabd_model_check_ground(const mabd_model* m, bool corners, mabd_error* error);
/// Check that the joints of all copies have the same controls; MABD_ERR_INPUT names copy and joint.
mabd_status mabd_model_check_copies(const mabd_model* model, mabd_error* error);
/// Check that the start pose lies between the stops of every axis (limits.c); MABD_ERR_INPUT names
/// the joint and the distance from the stop.
mabd_status mabd_model_check_limits(const mabd_model* model, mabd_error* error);
