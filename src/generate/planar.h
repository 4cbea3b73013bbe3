// SPDX-License-Identifier: Apache-2.0
// Linkages in the x-z plane: points with velocities, bars between them. Angles from +x towards +z,
// so hinge axes are -y.
#pragma once

#include "generate/tools.h"

/// A point of a linkage: place [m] and velocity [m/s].
typedef struct mabd_generate_plane_point {
    mabd_real x, z, vx, vz;
} mabd_generate_plane_point;

/// Compute the point at distance ra from a and rb from b, to the left of the line from a to b (left
/// = +1) or to the right (-1), with the velocity that the two rods give it. False if the circles do
/// not meet, or only touch.
bool mabd_generate_plane_meet(const mabd_generate_plane_point* a, mabd_real ra,
                              const mabd_generate_plane_point* b, mabd_real rb, mabd_real left,
                              mabd_generate_plane_point* out);
/// Compute the world position of a plane point, `y` off the plane of `origin` (3).
mabd_vec3 mabd_generate_plane_world(const mabd_real* origin, const mabd_generate_plane_point* point,
                                    mabd_real y);
/// Set pose and velocity of a body whose origin is `y` off the plane at the fraction `part` of the
/// line from p to q, with x along that line.
void mabd_generate_plane_place(const mabd_real* origin, const mabd_generate_plane_point* p,
                               const mabd_generate_plane_point* q, mabd_real part, mabd_real y,
                               mabd_body_def* body);
/// Return the definition of a hinge of axis -y.
mabd_joint_def mabd_generate_plane_hinge(void);
