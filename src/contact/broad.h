// SPDX-License-Identifier: Apache-2.0
// Broad phase: find geoms that may touch. The input is axis-aligned boxes; the output is the sorted
// list of pairs (i, j), i < j, whose closed boxes overlap and which are allowed to collide.
//
// A pair may collide if at least one of the two moves, they belong to different bodies, each
// category is in the other's mask, and their bodies are not excluded: neither listed as a pair, nor
// members of one group without being listed as an exception.
//
// The result depends on the input alone. The list contains every overlapping pair of boxes and no
// other. Create and reserve allocate all memory; an update allocates nothing.
#pragma once

#include "mabd/base.h"

/// An axis-aligned box [m]. lo <= hi; bounds may be infinite.
typedef struct mabd_broad_box {
    mabd_real lo[3], hi[3];
} mabd_broad_box;

typedef struct mabd_broad_geom {
    int32_t body;      // -1 = none: part of the static environment
    uint32_t category; // bits of the categories it belongs to
    uint32_t mask;     // bits of the categories it collides with
    int32_t moving;    // 0 = fixed or scripted: two such geoms never collide
} mabd_broad_geom;

/// The solid half space normal . x <= offset. The box of its geom must be unbounded (usually
/// infinite in all axes); the geom is paired only with boxes that reach into the half space.
typedef struct mabd_broad_plane {
    int32_t geom;
    mabd_real normal[3]; // any length > 0
    mabd_real offset;    // [m] times that length
} mabd_broad_plane;

typedef struct mabd_broad_pair {
    int32_t i, j; // geoms, i < j
} mabd_broad_pair;

typedef struct mabd_broad_def {
    int32_t geom_capacity; // largest number of geoms of an update
    int32_t body_count;    // bodies are 0 .. body_count - 1
    int32_t pair_capacity; // initial; 0 = twice the geoms
    int32_t exclusion_count;
    const int32_t (*exclusions)[2]; // pairs of bodies (-1 allowed), any order, may repeat; copied
    int32_t member_count;
    const int32_t (*members)[2]; // body >= 0 and group, rising by body, then by group; copied
    int32_t exception_count;
    const int32_t (*exceptions)[2]; // pairs that collide in spite of groups; as exclusions
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
    int32_t level_count;     // number of cell sizes in use
    int32_t unbounded_count; // geoms tested against all others
    int32_t bad_geom;        // first refused geom, -1 = none
} mabd_broad_result;

typedef struct mabd_broad mabd_broad;

/// Create a broad phase. Fails with MABD_ERR_ARG if a count is negative or a body is out of range,
/// or with MABD_ERR_MEMORY. The allocator is copied.
mabd_status mabd_broad_create(const mabd_allocator* allocator, const mabd_broad_def* def,
                              mabd_broad** broad);
/// Destroy a broad phase and free its memory; null is allowed.
void mabd_broad_destroy(mabd_broad* broad);
/// Reserve memory for at least `pairs` pairs. On failure nothing changes. Invalidates results of
/// earlier updates.
mabd_status mabd_broad_reserve(mabd_broad* broad, int64_t pairs);
/// Find the pairs. MABD_ERR_ARG: too many geoms, a box with NaN or lo > hi (bad_geom is its index),
/// or a plane whose geom is bounded. MABD_ERR_MEMORY: the pairs exceed the reserved memory; count
/// is the number needed and pairs is null; reserve and repeat. error may be null.
mabd_status mabd_broad_update(mabd_broad* broad, const mabd_broad_input* input,
                              mabd_broad_result* result, mabd_error* error);
/// Return the bytes currently allocated.
size_t mabd_broad_bytes(const mabd_broad* broad);
/// Return the bytes allocated after create; SIZE_MAX if they overflow.
size_t mabd_broad_bytes_for(const mabd_broad_def* def);
