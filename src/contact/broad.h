// SPDX-License-Identifier: Apache-2.0
// Broad phase: which geoms may touch. Boxes along the axes go in, the sorted list of the pairs (i,
// j), i < j, whose closed boxes overlap and which may collide at all comes out.
//
// A pair may collide if at least one of the two moves, they belong to different bodies, each is in
// a category that the other's mask lets through, and their bodies are not an excluded pair.
//
// The result depends on the input alone; the list is complete and has no false pair, as far as
// boxes can tell. All memory is taken in create and reserve: an update allocates nothing.
#pragma once

#include "mabd/base.h"

/// [m]. lo <= hi; bounds may be infinite.
typedef struct mabd_broad_box {
    mabd_real lo[3], hi[3];
} mabd_broad_box;

typedef struct mabd_broad_geom {
    int32_t body;      // -1 = none: part of the fixed surroundings
    uint32_t category; // bits: what it is
    uint32_t mask;     // bits: what it collides with
    int32_t moving;    // 0 = fixed or scripted: needs no contact with its like
} mabd_broad_geom;

/// The solid half space normal . x <= offset. Its geom's box must be unbounded (infinite in all
/// axes, as a rule); the geom is then paired with those boxes only that reach into the half space.
typedef struct mabd_broad_plane {
    int32_t geom;
    mabd_real normal[3]; // any length > 0
    mabd_real offset;    // [m] times that length
} mabd_broad_plane;

typedef struct mabd_broad_pair {
    int32_t i, j; // geoms, i < j
} mabd_broad_pair;

typedef struct mabd_broad_def {
    int32_t geom_capacity; // most geoms of an update
    int32_t body_count;    // bodies are 0 .. body_count - 1
    int32_t pair_capacity; // to begin with; 0 = twice the geoms
    int32_t exclusion_count;
    const int32_t (*exclusions)[2]; // pairs of bodies (-1 allowed), any order, may repeat; copied
} mabd_broad_def;

typedef struct mabd_broad_input {
    int32_t geom_count, plane_count;
    const mabd_broad_geom* geoms;   // (geom_count)
    const mabd_broad_box* boxes;    // (geom_count)
    const mabd_broad_plane* planes; // (plane_count), by rising geom
} mabd_broad_input;

typedef struct mabd_broad_result {
    const mabd_broad_pair*
        pairs; // sorted by i, then j; owned by the broad phase, until the next update
    int64_t count;
    int32_t level_count;     // sizes of cells in use
    int32_t unbounded_count; // geoms tested against all others
    int32_t bad_geom;        // the first geom that was refused, -1 = none
} mabd_broad_result;

typedef struct mabd_broad mabd_broad;

/// MABD_ERR_ARG if a count is negative or a body is out of range, MABD_ERR_MEMORY. The allocator is
/// copied.
mabd_status mabd_broad_create(const mabd_allocator* allocator, const mabd_broad_def* def,
                              mabd_broad** broad);
/// Null is allowed.
void mabd_broad_destroy(mabd_broad* broad);
/// Room for at least `pairs` pairs. On failure nothing is changed. Results of updates become
/// invalid.
mabd_status mabd_broad_reserve(mabd_broad* broad, int64_t pairs);
/// Find the pairs. MABD_ERR_ARG: too many geoms, a box with NaN or lo > hi (bad_geom says which), a
/// plane whose geom is bounded. MABD_ERR_MEMORY: there are more pairs than room for them; count is
/// the room needed, pairs is null: reserve and repeat. error may be null.
mabd_status mabd_broad_update(mabd_broad* broad, const mabd_broad_input* input,
                              mabd_broad_result* result, mabd_error* error);
/// Bytes held now.
size_t mabd_broad_bytes(const mabd_broad* broad);
/// What they are after create; SIZE_MAX if too many.
size_t mabd_broad_bytes_for(const mabd_broad_def* def);
