// SPDX-License-Identifier: Apache-2.0
// Narrow phase: compute the contact points of two shapes from their poses. Geometry only: no
// masses, no state, no allocation; nothing is kept between calls.
//
// A contact point is a pair of surface points with the direction between them,
//
//   on_b = on_a + distance normal,     |normal| = 1, from a to b,     distance < 0: overlap,
//
// and represents the row "distance stays >= 0" with the points fixed to their bodies. Points of
// separated shapes are reported up to a margin, so that rows exist before the shapes meet. The
// smallest distance is the signed distance of the shapes: the Euclidean distance if they are apart,
// minus the penetration depth if they overlap. The other points widen the support polygon.
//
//   sphere, capsule   a point or a segment with a radius: signed distance of the other shape along
//                     the segment, which is convex (round.c)
//   plane             the lowest points (plane.c)
//   box, cylinder     closed forms for faces, caps, edges; otherwise GJK if apart, EPA if they
//                     overlap; polygons of the touching features clipped against each other
//                     (solid.c)
//   bowl              farthest points inside, rims and outer surface as convex parts (bowl.c)
//   height field      triangle by triangle, without contacts at inner edges (height_field.c)
//
// a and b may be swapped: the result has the same bits with the sides and the halves of `feature`
// exchanged and the normal reversed. For this, pairs are brought into one order: by kind, else by
// size, else by position along one fixed direction.
#pragma once

#include "contact/shape.h"

#define MABD_CONTACT_MAX_POINTS 8

typedef struct mabd_contact_point {
    mabd_vec3 on_a, on_b; // on each surface, world [m]
    mabd_vec3 normal;     // unit, from a to b, world
    mabd_real distance;   // [m]
    // feature of a << 16 | feature of b: the same number for the same features
    uint32_t feature;
} mabd_contact_point;

/// Find points of a and b closer than `margin` [m], in an order that depends on the input alone.
/// Returns their number: up to 5, or up to 8 against bowls and height fields, where one pair may
/// touch in several places. Poses, sizes and heights must be finite. Two shapes that are each a
/// plane, bowl or height field have no points.
int32_t mabd_narrow(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                    const mabd_pose* pb, mabd_real margin,
                    mabd_contact_point out[MABD_CONTACT_MAX_POINTS]);
