// SPDX-License-Identifier: Apache-2.0
// Signed distance of two convex shapes by methods that the narrow phase does not use, and random
// pairs.
//
//   apart     min |x - y|, x in A, y in B, by projected gradients with momentum: needs only nearest
//             points of one solid. The support functions bound the distance from below along y - x,
//             so the result comes with its error.
//   overlap   max over directions n of s(n) = -h_A(n) - h_B(-n), h the support function: sampled on
//             the sphere, the best directions refined by a shrinking pattern.
#pragma once

#include "contact/narrow.h"

typedef struct convex_pair {
    mabd_collider a, b;
    mabd_pose pa, pb;
} convex_pair;

/// Draw a shape with sizes between 0.1 and 1 m; a height field is always the same one, of 9 x 9
/// nodes.
mabd_collider convex_draw_shape(mabd_collider_kind kind, uint64_t* state);
/// Draw two shapes in any pose, close to each other.
convex_pair convex_draw_pair(mabd_collider_kind a, mabd_collider_kind b, uint64_t* state);
/// Return the pair moved by x -> R x + t.
convex_pair convex_moved(convex_pair pair, mabd_mat3 R, mabd_vec3 t);

/// Compute the distance of the solids (0 if they overlap); *error bounds its error. Neither is a
/// plane.
double convex_distance(const convex_pair* pair, double* error);
/// Compute max over n of s(n): minus the penetration depth if they overlap. b may be a plane.
double convex_separation(const convex_pair* pair);
/// Compute s(n) of a unit vector, from a to b. b may be a plane, then n is minus its normal.
double convex_along(const convex_pair* pair, mabd_vec3 n);
/// Find the largest s(n) uphill from the unit vector n.
double convex_climb(const convex_pair* pair, mabd_vec3 n);
/// Return the point of a solid (not a plane) nearest to x, world.
mabd_vec3 convex_project(const mabd_collider* shape, const mabd_pose* pose, mabd_vec3 x);
/// Return the support point of a shape (not a plane) in the direction n, world.
mabd_vec3 convex_support(const mabd_collider* shape, const mabd_pose* pose, mabd_vec3 n);

/// Call mabd_narrow for a pair.
int32_t convex_narrow(const convex_pair* pair, mabd_real margin, mabd_contact_point* out);
/// Return the smallest distance of n points; a large number if n is 0.
mabd_real convex_smallest(const mabd_contact_point* points, int32_t n);
/// Return the point with the smallest distance; n > 0.
mabd_contact_point convex_deepest(const mabd_contact_point* points, int32_t n);
