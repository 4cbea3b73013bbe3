// SPDX-License-Identifier: Apache-2.0
// Contact points of a model from the poses of its bodies, for any formulation.
//
//   mabd_collide_find_pairs    pairs of geoms whose boxes overlap somewhere in the step
//   mabd_collide_find_points   points of one of these pairs, in a fixed order
//   collide/match.h            the same points in the next call
//
// Poses are 12 reals per body: the columns of a rotation matrix, then the position of the principal
// frame. A step has two of them: its start, and its end as far as it is known (a prediction at
// first, then an iterate). Points are found at the end pose, within a margin, so that rows exist
// before shapes meet. A pair that comes closer in the step by more than half its thickness is
// looked at where the step starts as well: at the predicted end its bodies may have passed through
// each other. A row with such a point is linear in the motion, so nothing passes (speculative
// contact).
//
// Body b of a pair moves; of two bodies that move it is the lighter one.
#pragma once

#include "base/list.h"
#include "collide/match.h"
#include "contact/broad.h"
#include "contact/narrow.h"
#include "model/model_data.h"

/// Poses of all bodies in a step.
typedef struct mabd_collide_motion {
    const mabd_real* start; // (bodies x 12)
    const mabd_real* end;   // (bodies x 12) rotations exactly
    bool strained;    // matrices of `start` are a rotation times a stretch near 1: the rotation
                      // is taken out where shapes are placed there
    bool predicted;   // `end` is a prediction, no iterate
    mabd_real margin; // distance up to which points are reported [m]
} mabd_collide_motion;

/// Two geoms whose boxes overlap: g of body a, h of body b.
typedef struct mabd_collide_pair {
    mabd_collide_key key;
    int32_t g, h;                // geoms
    int32_t a, b;                // bodies; b moves
    mabd_model_surfaces surface; // coefficients of the pair
} mabd_collide_pair;

/// One contact point of a pair.
typedef struct mabd_collide_point {
    mabd_vec3 Xa, Xb;   // the point on each surface, in the frames of the bodies [m]
    mabd_vec3 normal;   // unit, world, from a to b
    mabd_real distance; // of the surfaces at the end pose, along the normal [m]
    uint32_t feature;   // as mabd_contact_point
} mabd_collide_point;

typedef struct mabd_collide {
    const mabd_model* model; // not owned
    mabd_allocator allocator;
    int32_t geom_count, plane_count;
    int32_t copy_count, copy_bodies, copy_geoms; // bodies of each copy, and most geoms of one
    int32_t *geom_first, *plane_first;           // of each copy (copy_count + 1)
    const mabd_model_collider** collider;        // (geom_count)
    mabd_broad_geom* geoms;                      // (geom_count)
    mabd_broad_box* boxes;                       // (geom_count)
    mabd_broad_plane* planes; // (plane_count) their geoms are counted from the first of the copy
    mabd_real* thickness;     // (geom_count) [m]
    mabd_real* reach;         // (geom_count) farthest point from the origin of the body [m]
    mabd_real thin;           // least thickness of a geom that moves [m]
    mabd_broad* broad;
    int32_t bad_body;             // whose box is no number, after MABD_ERR_DIVERGED
    mabd_list found;              // mabd_broad_pair of all copies, if there is more than one
    const mabd_broad_pair* pairs; // (pair_count) sorted by i, then by j
    int64_t pair_count;
    void* memory; // the arena behind the arrays
    size_t memory_size;
} mabd_collide;

/// Take the memory for the geoms of a model, whose contacts are enabled. The model must outlive
/// *out, the allocator is copied. MABD_ERR_MEMORY; *out is null then.
mabd_status mabd_collide_create(const mabd_model* model, const mabd_allocator* allocator,
                                mabd_collide** out);
/// Null is allowed.
void mabd_collide_destroy(mabd_collide* collide);
/// Bytes held now.
size_t mabd_collide_bytes(const mabd_collide* collide);
/// Bytes that create takes for a model; SIZE_MAX if too many.
size_t mabd_collide_bytes_for(const mabd_model* model);

/// Find the pairs of geoms whose boxes, from start to end of the motion, overlap.
/// MABD_ERR_MEMORY; MABD_ERR_DIVERGED if a pose is not finite: bad_body.
mabd_status mabd_collide_find_pairs(mabd_collide* collide, const mabd_collide_motion* motion);
/// Find the points of pair i (0 .. pair_count - 1) and fill *pair. Returns the number of points.
/// Points of later references are those at the end pose, unless these are on the other side.
int32_t mabd_collide_find_points(const mabd_collide* collide, const mabd_collide_motion* motion,
                                 int64_t i, mabd_collide_pair* pair,
                                 mabd_collide_point points[MABD_CONTACT_MAX_POINTS]);
/// Displacement of Xb of body b relative to Xa of body a from start to end of the motion [m],
/// world.
mabd_vec3 mabd_collide_displacement(const mabd_collide_motion* motion, int32_t a, mabd_vec3 Xa,
                                    int32_t b, mabd_vec3 Xb);
/// Pose of a geom at the end of the motion.
mabd_pose mabd_collide_end_pose(const mabd_collide* collide, const mabd_collide_motion* motion,
                                int32_t geom);
/// Find the deepest overlap of two shapes at poses q (bodies x 12), which may be strained. *depth
/// gets it [m], 0 = none; *a, *b get the bodies, -1 = none. Forgets the pairs. MABD_ERR_MEMORY,
/// MABD_ERR_DIVERGED as mabd_collide_find_pairs.
mabd_status mabd_collide_overlap(mabd_collide* collide, const mabd_real* q, mabd_real* depth,
                                 int32_t* a, int32_t* b);
