// SPDX-License-Identifier: Apache-2.0
// Identity of contact points from call to call: a point is known by its two geoms and by its place
// on body b.
//
// Narrow-phase points come and go with the pose, and the feature numbers of a box that tips over an
// edge change while the point stays. So points of one pair are matched by distance on body b. Lists
// of known points are sorted by pair, as the broad phase reports pairs, so one walk over the pairs
// is one walk over the list.
#pragma once

#include "math/vec3.h"

/// The two geoms of a contact point.
typedef struct mabd_collide_key {
    int32_t i, j; // geoms, i < j
} mabd_collide_key;

/// What a contact point is recognised by.
typedef struct mabd_collide_identity {
    mabd_collide_key key;
    mabd_vec3 X; // the point, in the frame of body b [m]
} mabd_collide_identity;

/// A list of known points and a place in it. Records of `stride` bytes, each beginning with a
/// mabd_collide_identity, sorted by key. Not owned.
typedef struct mabd_collide_known {
    const void* data;
    size_t stride; // [bytes]
    int32_t count;
    int32_t place; // first record whose key is not below the last one looked for
} mabd_collide_known;

/// Compare two keys by i, then by j. Returns < 0, 0 or > 0.
int mabd_collide_compare(mabd_collide_key a, mabd_collide_key b);
/// Move known->place to the first record of a pair. Returns the number of records of the pair. Keys
/// must not fall from call to call.
int32_t mabd_collide_match_pair(mabd_collide_known* known, mabd_collide_key key);
/// Record of the pair at known->place whose point is nearest to X and not taken yet. count: records
/// of the pair, of which the first 32 are considered. Bit k of *taken: record k is taken; the bit
/// of the record found is set. Returns the number of the record in the list, -1 = none.
int32_t mabd_collide_match_nearest(const mabd_collide_known* known, int32_t count, mabd_vec3 X,
                                   uint32_t* taken);
