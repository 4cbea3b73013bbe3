// SPDX-License-Identifier: Apache-2.0
// A scene for every engine: rigid bodies in their principal frames, ball joints and hinges, and
// shapes that touch.
//
//   mabd-peers 3                  format and its version
//   name chain-100
//   gravity 0 0 -9.81             [m/s^2]
//   time 0.01 200                 step [s], number of steps
//   bodies N
//   mass  Ixx Iyy Izz  x y z  qw qx qy qz  vx vy vz  wx wy wz       N lines
//   joints M
//   a b  xa ya za  xb yb zb  ua va wa  ub vb wb                     M lines
//   shapes K
//   box  body  sx sy sz  x y z  qw qx qy qz  mu                     K lines
//
// Frames of bodies: origin at the centre of mass, axes along the principal ones. Velocities are of
// the centre of mass, in world axes. a, b: bodies from 0, -1 = the world; anchors are in the frame
// of the body, or in world coordinates, and so are the two unit axes of a hinge; those of a ball
// joint are zero. A body without mass and moments is fixed. Shapes, with their sizes and frames as
// in MABD_SHAPE_LIST, are in the frame of their body; where two touch, friction is the geometric
// mean of the two mu, and nothing rebounds. Bodies that share a joint and two fixed ones never
// touch. Numbers have all digits: reading restores the same bits.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_WORLD (-1)

/// Pose and motion of a body.
typedef struct peer_state {
    double position[3];   // of the centre of mass [m]
    double quaternion[4]; // w x y z, of the principal frame
    double velocity[3];   // of the centre of mass [m/s]
    double angular[3];    // world axes [rad/s]
} peer_state;

typedef struct peer_body {
    double mass;       // [kg]; 0: fixed
    double inertia[3]; // principal moments [kg m^2]
    peer_state start;
} peer_body;

typedef struct peer_joint {
    int32_t a, b;                    // PEER_WORLD = the world
    double anchor_a[3], anchor_b[3]; // [m]
    double axis_a[3], axis_b[3];     // of a hinge, unit length; zero: a ball joint
} peer_joint;

/// Shapes: name in the text.
#define PEER_SHAPE_LIST(X)                                                                         \
    X(BOX, "box")           /* full edge lengths */                                                \
    X(SPHERE, "sphere")     /* radius */                                                           \
    X(CAPSULE, "capsule")   /* radius, length between the centres; along z */                      \
    X(CYLINDER, "cylinder") /* radius, length; along z */                                          \
    X(PLANE, "plane")       /* solid where z <= 0 */                                               \
    X(BOWL, "bowl")         /* lower half of a shell: inner radius, thickness */

typedef enum peer_shape_kind {
#define X(name, text) PEER_SHAPE_##name,
    PEER_SHAPE_LIST(X)
#undef X
        PEER_SHAPE_COUNT
} peer_shape_kind;

typedef struct peer_shape {
    peer_shape_kind kind;
    int32_t body;
    double size[3];       // [m], unused ones 0
    double position[3];   // in the frame of the body [m]
    double quaternion[4]; // w x y z
    double friction;
} peer_shape;

typedef struct peer_scene {
    char name[64]; // one word
    double gravity[3];
    double h; // [s]
    int64_t steps;
    int32_t body_count, joint_count, shape_count;
    peer_body* bodies;  // (body_count)
    peer_joint* joints; // (joint_count)
    peer_shape* shapes; // (shape_count) 0: nothing touches
} peer_scene;

/// Allocate zeroed bodies, joints and shapes. False if memory is short; then nothing is allocated.
bool peer_scene_create(int32_t bodies, int32_t joints, int32_t shapes, peer_scene* scene);
void peer_scene_destroy(peer_scene* scene);
/// Write a scene as text. The caller checks `out` for errors.
void peer_scene_write(const peer_scene* scene, FILE* out);
/// Read a scene, to be destroyed. False: message (size bytes) gets the error as "line 7: text", and
/// nothing is allocated.
bool peer_scene_read(FILE* in, peer_scene* scene, char* message, size_t size);
/// True if a joint is a hinge, false if it is a ball joint.
bool peer_joint_is_hinge(const peer_joint* joint);
/// True if any joint is a hinge.
bool peer_scene_has_hinges(const peer_scene* scene);
/// True if a shape is a bowl, which most engines lack.
bool peer_scene_has_bowl(const peer_scene* scene);
/// True if a body is fixed.
bool peer_body_is_fixed(const peer_body* body);
/// True if joint i connects body i with body i - 1, and joint 0 body 0 with the world: one chain in
/// the order of its bodies.
bool peer_scene_is_chain(const peer_scene* scene);

#ifdef __cplusplus
}
#endif
