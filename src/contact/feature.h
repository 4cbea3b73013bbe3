// SPDX-License-Identifier: Apache-2.0
// The feature of a box or cylinder that faces a direction, as a convex polygon or an edge, and the
// contact polygon of two such features.
//
// Reference: a face of a box, or a cap as the octagon inscribed in its rim, with normal n.
// Incident: the feature of the other shape in the direction -n. The incident polygon is clipped by
// the sides of the reference (Sutherland-Hodgman); the remaining points touch at their heights over
// the reference plane:
//
//        incident            o-----------o
//        cut by the sides    |---o---o---|---        o: points, distance = height over reference
//        reference           '-----------'
//
// Ids: corners carry the number of the corner of their shape, clipped points the numbers of the
// incident edge and of the side that clips it, so a point keeps its id as long as it is the same
// one.
#pragma once

#include "contact/hull.h"

#define MABD_FEATURE_CORNERS_MAX 16
#define MABD_FEATURE_SIDES_MAX   8

typedef struct mabd_feature_corner {
    mabd_vec3 x;
    uint32_t id;   // of the point
    uint32_t edge; // of the edge from here to the next corner
    uint32_t side; // side of the reference that made it, 0 = none
} mabd_feature_corner;

/// Corners counter-clockwise about `normal`; two corners: an edge.
typedef struct mabd_feature {
    int32_t count;
    uint32_t id; // of the face
    mabd_vec3 normal;
    mabd_feature_corner corner[MABD_FEATURE_CORNERS_MAX];
} mabd_feature;

/// Find the reference feature: the face of a box that faces d most, or the cap of a cylinder.
void mabd_feature_face(const mabd_hull* hull, mabd_vec3 d, mabd_feature* face);
/// Find the feature that touches a plane with normal -d: the face of a box, or the cap of a
/// cylinder if it is within 45 degrees of d, else the line of its side.
void mabd_feature_incident(const mabd_hull* hull, mabd_vec3 d, mabd_feature* feature);
/// Find the edge of a box or the side of a cylinder whose direction is within 1e-3 rad of a right
/// angle to d; false if there is none.
bool mabd_feature_edge(const mabd_hull* hull, mabd_vec3 d, mabd_feature* edge);
/// Clip `incident` by the sides of `face`; the result may be empty.
void mabd_feature_clip(const mabd_feature* face, mabd_feature* incident);
