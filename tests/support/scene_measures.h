// SPDX-License-Identifier: Apache-2.0
// Measures of a scene that share no code with the builder.
#pragma once

#include "scene/scene_data.h"

const mabd_scene_body* scene_body(const mabd_scene* scene, int32_t i);
const mabd_scene_joint* scene_joint(const mabd_scene* scene, int32_t i);
/// Return the first geom of a body.
const mabd_geom* scene_geom(const mabd_scene* scene, int32_t body);

double vector_norm(const double* v);
/// c = a x b
void vector_cross(const double* a, const double* b, double* c);
/// out = v rotated by the unit quaternion q (w x y z)
void vector_rotate(const double* q, const double* v, double* out);

/// One side of a joint in the world: anchor, its velocity, angular velocity, axes of the frame.
typedef struct joint_side {
    double point[3], velocity[3], omega[3], axes[3][3];
} joint_side;
joint_side scene_side_a(const mabd_scene* scene, int32_t joint);
joint_side scene_side_b(const mabd_scene* scene, int32_t joint);

/// Return the largest over all joints of: distance of the anchors [m], their relative velocity
/// [m/s], relative angular velocity about locked axes [rad/s], difference of the frames' axes.
double scene_opening(const mabd_scene* scene);
/// Return the largest distance of an anchor from its expected place on its link [m]: an end (x =
/// +-half its length) or the surface of a ball; for a joint to the world also the middle. Balls are
/// links of bead_length between joints if that is > 0. A capsule or cylinder that does not lie
/// along x also counts.
double scene_misplaced(const mabd_scene* scene, double bead_length);
/// Count bodies and joints that have no name, or one that is not found again.
int32_t scene_wrong_names(const mabd_scene* scene);
/// Return a hash over poses, velocities, masses, shapes, joints and their axes.
uint64_t scene_hash(const mabd_scene* scene);
