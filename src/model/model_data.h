// SPDX-License-Identifier: Apache-2.0
// Inside of a model, as the solvers read it. Immutable after mabd_model_build.
//
// Body index body_count is the world: a body at the origin that never moves. Joints to the world
// have it as a or b, so that no inner loop has a branch for it.
#pragma once

#include "base/memory.h"
#include "base/names.h"
#include "contact/shape.h"
#include "joint/rows.h"
#include "mabd/batch.h"
#include "model/material.h"
#include "scene/joint_piece.h"
#include "topology/plan.h"

/// Bodies of equal mass, elasticity and geoms.
typedef struct mabd_model_class {
    mabd_body_material material;
    mabd_real center[3];            // centre of mass in the user frame [m]
    mabd_real axes[4];              // principal frame in the user frame
    mabd_real principal[3];         // moments along it [kg m^2]
    int32_t geom_first, geom_count; // in geoms
} mabd_model_class;

/// Controls of one coordinate: force = base(t) - k x - d x' - I x'', base = k rest + kp target(t).
typedef struct mabd_control {
    bool rigid;                          // x = target(t), exactly
    mabd_real stiffness;                 // k + kp
    mabd_real damping;                   // d + kd
    mabd_real armature;                  // I
    mabd_real offset;                    // k rest
    mabd_real gain;                      // kp
    mabd_real gain_damping;              // kd, for the force of the servo alone
    mabd_real spring;                    // k alone, for the energy
    mabd_real rest;                      // [m] or [rad]
    const mabd_signal* servo;            // null = none
    bool law;                            // has stops, a limited drive or friction: joint/axis_law.h
    bool limited;                        // has stops: lower, upper
    bool drive_rate;                     // drive gives the rate, else the coordinate
    mabd_real lower, upper;              // [m] or [rad], infinite = none
    mabd_real limit_restitution;         // of these stops
    mabd_real drive_gain, drive_damping; // of a limited servo, both 0 = rigid
    mabd_real max_force;                 // of the drive, may be infinite; 0 = no drive
    const mabd_signal* drive;            // target of a limited servo, or rate; null = none
    mabd_real friction;                  // [N] or [N m]
    mabd_real friction_speed;            // > 0: smooth friction and pin, no part of the law
    mabd_pin_def pin;                    // friction 0 = none
} mabd_control;

/// A motor: a force on a coordinate, no row of the dual system.
typedef struct mabd_motor {
    mabd_row row;
    const mabd_signal* force; // [N] or [N m]
} mabd_motor;

/// Rows of all joints of one type with one set of controls: rigid rows, then one row per control.
typedef struct mabd_row_set {
    int32_t rigid_count;   // from the joint table
    int32_t control_count; // coordinates with springs, dampers, armature, servo
    int32_t motor_count;
    int32_t turn;     // first of its controls on a rotation vector
    bool vectors;     // has controls on components of a rotation vector
    bool damped;      // has dampers or armature on them; then all three have a control
    bool laws;        // has controls with stops, limited drives or friction
    bool points_only; // exactly the three point rows: the fast path
    bool springs;     // these, and springs on all three components of a rotation vector
    bool nonlinear;   // has rigid rows that one linear solve does not close
    mabd_row rigid[MABD_JOINT_MAX_ROWS];
    mabd_row control_row[MABD_JOINT_MAX_ROWS]; // their coordinates
    mabd_control control[MABD_JOINT_MAX_ROWS];
    mabd_motor motor[MABD_JOINT_MAX_ROWS];
    mabd_real weight[MABD_AXIS_COUNT]; // of forces and torques along the axes of the joint
} mabd_row_set;

typedef struct mabd_model_joint {
    int32_t a, b;           // bodies, body_count = world
    int32_t row_set;        // in row_sets
    int32_t frame;          // in frames, -1 = point rows only
    int32_t coordinate;     // first of its control coordinates, -1 = none
    int32_t type;           // mabd_joint
    int32_t piece_first;    // in pieces
    int32_t piece_count;    // 0 = a plain joint
    int32_t chart;          // mabd_joint_chart of a plain joint
    mabd_real Xa[3], Xb[3]; // anchors in the principal frames [m]
} mabd_model_joint;

/// Joint axes as columns, in the principal frames of a and b.
typedef struct mabd_model_frame {
    mabd_mat3 a, b;
} mabd_model_frame;

typedef struct mabd_model_force {
    int32_t body;
    bool body_frame;
    mabd_vec3 point;           // principal frame
    mabd_vec3 force, torque;   // world, or principal frame if body_frame
    const mabd_signal* signal; // null = 1
} mabd_model_force;

/// A point of a body in its principal frame, or of the world (body_count).
typedef struct mabd_model_point {
    int32_t body;
    mabd_vec3 X; // [m]
} mabd_model_point;

typedef struct mabd_model_spring {
    int32_t first, count; // in spring_points
    int32_t law;          // mabd_spring_law
    mabd_real stiffness, damping, length;
} mabd_model_spring;

typedef struct mabd_model_ground {
    mabd_vec3 point, normal;               // world; unit
    mabd_real stiffness, damping, tangent; // of each point [N/m], [N s/m], [N s/m]
    mabd_real friction;
} mabd_model_ground;

/// sum of ratio x = offset over its axes
typedef struct mabd_model_coupling {
    int32_t first, count; // in coupling_axes
    mabd_real offset;
} mabd_model_coupling;

typedef struct mabd_model_script {
    int32_t body;
    mabd_vec3 direction, axis;              // axis: unit or zero
    mabd_vec3 pivot;                        // start position of the user frame
    const mabd_signal *translation, *angle; // null = none
} mabd_model_script;

/// Start state of a body in its user frame.
typedef struct mabd_model_start {
    mabd_real position[3], rotation[4], velocity[3], angular_velocity[3];
} mabd_model_start;

/// A control of one joint of a copy that a program can set (mabd/batch.h).
typedef struct mabd_copy_control {
    int32_t joint; // in the first copy
    int32_t row;   // of its row set's control, or of its motor
    mabd_axis axis;
    mabd_control_kind kind;
} mabd_copy_control;

/// A geom that may touch others, in the principal frame of its class.
typedef struct mabd_model_collider {
    mabd_collider shape; // its field is the model's
    mabd_pose pose;      // x_principal = rotation x_collider + position
    mabd_real friction, restitution;
    mabd_real rolling, spinning; // friction [m]
    mabd_vec3 surface;           // velocity of the surface, principal frame [m/s]
    uint32_t category, mask;
} mabd_model_collider;

/// Surface of one pair of bodies.
typedef struct mabd_model_pair {
    int32_t a, b;                    // bodies, a < b
    bool excluded;                   // then also in exclusions; else they touch in any group
    mabd_real friction, restitution; // -1 = from the colliders
    mabd_real rolling, spinning;     // friction [m], -1 = from the colliders
} mabd_model_pair;

/// Coefficients of two surfaces that touch.
typedef struct mabd_model_surfaces {
    mabd_real friction, restitution;
    mabd_real rolling, spinning; // friction [m]
} mabd_model_surfaces;

/// Contacts of the scene. All zero if they are not enabled.
typedef struct mabd_model_contact {
    bool enabled;
    bool rolls;           // some surface or pair has rolling or spinning friction
    bool surfaces;        // some surface moves over its body
    mabd_real margin;     // [m], 0 = automatic
    mabd_real compliance; // of a row, relative to its own J H^-1 J'
    int32_t collider_count, exclusion_count, pair_count, member_count;
    int32_t exception_count;
    int32_t* collider_first;        // colliders first[c] .. first[c + 1] - 1 are those of class c
                                    // (class_count + 1)
    mabd_model_collider* colliders; // (collider_count) without those whose mask is 0
    int32_t (*exclusions)[2];       // bodies that never touch (exclusion_count), as mabd_broad_def
                                    // takes them: any order, may repeat
    mabd_model_pair* pairs;         // (pair_count) rising by a, then b
    int32_t (*members)[2];          // bodies and their groups (member_count), rising: no two bodies
                                    // of a group touch
    int32_t (*exceptions)[2];       // pairs of bodies that touch in spite of a group
                                    // (exception_count)
} mabd_model_contact;

struct mabd_model {
    mabd_allocator allocator;
    mabd_real gravity[3];
    mabd_real wind_direction[3];
    const mabd_signal* wind; // null = none
    mabd_real h, duration;
    bool close_joints; // of the start pose
    int32_t body_count, joint_count, class_count, geom_count, row_set_count, frame_count;
    int32_t coordinate_count; // controls over all joints
    bool laws;                // some row set has laws
    bool pins;                // some axis has a pin or a friction speed
    bool rebounds;            // some axis has stops with rebound
    int32_t force_count, script_count, signal_count;
    int32_t spring_count, spring_point_count, node_count, ground_count, ground_point_count;
    int32_t coupling_count, coupling_axis_count;
    int32_t rigid_row_count;
    mabd_model_class* classes;
    mabd_geom* geoms;
    mabd_height_field* fields; // of the geoms, each with its part of heights
    mabd_real* heights;
    mabd_model_contact contact;
    int32_t* body_class;      // (body_count)
    uint8_t* body_motion;     // mabd_motion (body_count + 1)
    mabd_model_start* start;  // (body_count)
    mabd_model_joint* joints; // (joint_count)
    mabd_model_frame* frames;
    int32_t piece_count, piece_value_count;
    mabd_joint_piece* pieces; // of joints without atomic rows
    mabd_real* piece_values;  // of splines
    mabd_row_set* row_sets;
    mabd_model_force* forces; // sorted by body
    mabd_model_spring* springs;
    mabd_model_point* spring_points;
    int32_t* nodes;                  // bodies that are nodes, rising
    mabd_model_ground* ground;       // (ground_count) one or none
    mabd_model_point* ground_points; // by body
    mabd_model_coupling* couplings;
    mabd_coupling_axis* coupling_axes;
    mabd_model_script* scripts;
    mabd_signal* signals;
    mabd_real* tables; // points of the signals
    char* name;
    int32_t copy_count; // 0 = no copies: names are those of all bodies and joints
    int32_t copy_bodies, copy_joints, control_count; // of each copy; of all, if there are none
    mabd_copy_control* controls;                     // (control_count)
    mabd_names body_names, joint_names;              // of the first copy, if there are copies
    mabd_plan* plan;
    void* memory; // the arena behind all arrays above but names and plan
    size_t memory_size;
    mabd_model_info info; // counts and hash, computed once
    void* analysis;       // left by a plan for a simulation (model_analysis.h), null = none
};

/// Write a point of a body in its principal frame as one in its user frame,
/// x_user = axes X + center; the two frames of the world (body_count) are one.
void mabd_model_to_user_frame(const mabd_model* model, int32_t body, mabd_vec3 X, mabd_real* point);

/// Copies that have controls of their own: a model without copies counts as one.
MABD_FN int32_t mabd_model_control_copies(const mabd_model* m) {
    return m->copy_count > 0 ? m->copy_count : 1;
}

/// Both sides of a joint: constants only (states are filled in by the caller).
MABD_FN void mabd_model_joint_view(const mabd_model* m, const mabd_model_joint* joint,
                                   mabd_joint_view* view) {
    view->Xa = mabd_v3_load(joint->Xa), view->Xb = mabd_v3_load(joint->Xb);
    view->phi = NULL;
    if (joint->frame >= 0) {
        view->Fa = m->frames[joint->frame].a, view->Fb = m->frames[joint->frame].b;
    } else {
        view->Fa = view->Fb = mabd_m3_identity();
    }
}

/// Colliders of a body in the principal frame of its class (*count); none without contacts.
MABD_FN const mabd_model_collider* mabd_model_colliders(const mabd_model* m, int32_t body,
                                                        int32_t* count) {
    *count = 0;
    if (!m->contact.enabled) return NULL;
    const int32_t* first = m->contact.collider_first + m->body_class[body];
    *count = first[1] - first[0];
    return m->contact.colliders + first[0];
}
/// True if a body is a node: a point mass. O(log nodes)
bool mabd_model_is_node(const mabd_model* m, int32_t body);
/// Write the bytes of a model into entries MABD_MEMORY_MODEL and MABD_MEMORY_PLAN of bytes.
void mabd_model_memory(const mabd_model* m, size_t* bytes);
/// Write "body 'arm'" or "body 3", with copies "copy 17, body 'arm'", for messages. Returns text.
const char* mabd_model_body_label(const mabd_model* m, int32_t body, char* text, size_t size);
/// Write "joint 'pin'" or "joint 3", with copies "copy 17, joint 3", for messages. Returns text.
const char* mabd_model_joint_label(const mabd_model* m, int32_t joint, char* text, size_t size);

/// Coefficients between a collider of body a and one of body b: those of the pair of bodies where
/// the scene gives them, else geometric mean of friction and the larger one of the others.
mabd_model_surfaces mabd_model_surface(const mabd_model* m, int32_t a,
                                       const mabd_model_collider* on_a, int32_t b,
                                       const mabd_model_collider* on_b);

/// Compute the pose of a scripted body in its user frame from the values of its signals: `way` [m]
/// along the direction, `angle` [rad] about the axis; a signal that is not there is not read. Its
/// velocities are those of the start state.
mabd_model_start mabd_model_script_pose(const mabd_model* m, const mabd_model_script* script,
                                        mabd_real way, mabd_real angle);
/// Convert a start state in the user frame to affine coordinates q and rates v (12 each) of a rigid
/// body in the principal frame of its class.
void mabd_model_to_affine(const mabd_model_class* c, const mabd_model_start* start, mabd_real* q,
                          mabd_real* v);
