// SPDX-License-Identifier: Apache-2.0
// Inside of a scene. Filled by builder.c, which checks everything; read by model/.
#pragma once

#include "base/list.h"
#include "base/names.h"
#include "base/warnings.h"
#include "mabd/scene.h"

#define MABD_BODY_COOKIE     UINT32_C(0x6d61626f)
#define MABD_JOINT_COOKIE    UINT32_C(0x6d616a6f)
#define MABD_CONTACT_COOKIE  UINT32_C(0x6d61636f)
#define MABD_SPRING_COOKIE   UINT32_C(0x6d617370)
#define MABD_NODE_COOKIE     UINT32_C(0x6d616e6f)
#define MABD_GROUND_COOKIE   UINT32_C(0x6d616772)
#define MABD_COUPLING_COOKIE UINT32_C(0x6d617570)

/// What the bodies of one add call share.
typedef struct mabd_scene_class {
    int32_t geom_first, geom_count; // in scene->geoms
    bool inertia_given;
    mabd_real mass, inertia[6], center[3];
    mabd_real density, poisson, drag;
    mabd_real young; // 0 = that of the scene
} mabd_scene_class;

typedef struct mabd_scene_body {
    int32_t class_index;
    int32_t script; // in scene->scripts, -1 = none
    mabd_motion motion;
    mabd_real position[3], rotation[4]; // unit quaternion
    mabd_real velocity[3], angular_velocity[3];
} mabd_scene_body;

/// Controls and weights of the axes of one joint type; shared by the joints of one add call.
typedef struct mabd_scene_axes {
    bool used[MABD_AXIS_COUNT];
    mabd_axis_def axis[MABD_AXIS_COUNT]; // signal tables are owned by the scene; weight is 0
    mabd_real weight[MABD_AXIS_COUNT];   // of the forces on all axes, also on locked ones
} mabd_scene_axes;

typedef struct mabd_scene_joint {
    mabd_joint type;
    int32_t a, b;                      // MABD_WORLD or a body
    int32_t axes;                      // in scene->axes, -1 = none
    int32_t piece_first, piece_count;  // in scene->pieces; none of a plain joint
    mabd_joint_chart chart;            // of a plain joint
    mabd_real anchor_a[3], frame_a[4]; // in the user frame of a (world if a is the world)
    mabd_real anchor_b[3], frame_b[4];
} mabd_scene_joint;

/// A body of a group of which no two bodies touch.
typedef struct mabd_scene_member {
    int32_t body, group;
    int32_t after; // the group replaces earlier pairs, those with an index below this
} mabd_scene_member;

typedef struct mabd_scene_spring {
    int32_t first, count; // in scene->spring_points
    mabd_spring_law law;
    mabd_real stiffness, damping;
    mabd_real length; // > 0
} mabd_scene_spring;

typedef struct mabd_scene_coupling {
    int32_t first, count; // in scene->coupling_axes
    mabd_real offset;
} mabd_scene_coupling;

typedef struct mabd_param_entry {
    char *name, *value, *fallback, *unit, *meaning; // owned
} mabd_param_entry;

struct mabd_scene {
    mabd_allocator allocator;
    char* name; // owned; "" by default
    mabd_real gravity[3];
    mabd_real wind_direction[3]; // unit, or zero without wind
    mabd_signal wind_strength;
    mabd_real h, duration;
    mabd_real young;   // of bodies without their own [Pa], > 0
    bool close_joints; // of the start pose
    mabd_contact_def contact;
    mabd_list pairs;         // mabd_pair_def, as they came: the last one of a pair holds
    mabd_list members;       // mabd_scene_member, by group
    int32_t group_count;     // groups of members
    mabd_list geoms;         // mabd_geom; fields are owned by the scene
    mabd_list fields;        // mabd_height_field*, each one block with its heights behind it
    mabd_list classes;       // mabd_scene_class
    mabd_list class_buckets; // int32_t open-addressed hash of classes -> index, -1 = empty
    mabd_list bodies;        // mabd_scene_body
    mabd_list scripts;       // mabd_script
    mabd_list joints;        // mabd_scene_joint
    mabd_list axes;          // mabd_scene_axes
    mabd_list pieces;        // mabd_joint_piece
    mabd_list piece_values;  // mabd_real, of splines
    mabd_list forces;        // mabd_force_def
    mabd_list springs;       // mabd_scene_spring
    mabd_list spring_points; // mabd_spring_point
    mabd_list nodes;         // int32_t bodies that are nodes, rising
    mabd_ground_def ground;  // cookie 0 = none; points are in ground_points
    mabd_list ground_points; // mabd_spring_point
    mabd_list couplings;     // mabd_scene_coupling
    mabd_list coupling_axes; // mabd_coupling_axis
    mabd_list tables;        // blocks of signal tables: mabd_scene_table
    mabd_names body_names, joint_names; // of the first copy, if it holds copies
    int32_t copies;                     // 0 = it holds bodies of its own
    mabd_list params;                   // mabd_param_entry
    mabd_warnings warnings;
    char* text; // JSON it was loaded from, owned; "" by default
};

typedef struct mabd_scene_table {
    mabd_real* data; // times, then values
    int32_t count;   // points
} mabd_scene_table;

/// Return Young's modulus of a class of a scene [Pa]: its own, or that of the scene.
static inline mabd_real mabd_scene_class_young(const mabd_scene* scene,
                                               const mabd_scene_class* body_class) {
    return body_class->young > 0 ? body_class->young : scene->young;
}

/// True if a body is a node (mabd_scene_add_node).
bool mabd_scene_is_node(const mabd_scene* scene, int32_t body);

/// A copy of a zero-terminated text in the scene's allocator; null if out of memory.
char* mabd_scene_copy_text(const mabd_scene* scene, const char* text);
/// Free what mabd_scene_copy_text gave. Null is allowed.
void mabd_scene_free_text(const mabd_scene* scene, char* text);
