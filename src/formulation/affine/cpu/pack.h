// SPDX-License-Identifier: Apache-2.0
// Which bodies are processed together, and by which thread.
//
// A tile is a range of consecutive bodies that one thread processes at a time, small enough that
// each stage finds the data of the previous one in the cache. A pack is up to MABD_LANES equal
// bodies of a tile, processed together by one source (math/lanes.h). Moving bodies in no pack are
// the unpacked bodies of their tile; they are processed one by one, after the packs.
//
// A long chain of equal links is cut into segments, one per tile, which are eliminated in lanes
// (affine/cpu/segment.h).
//
// A joint has a side on each of its bodies, and each side adds its share to the block and the
// right-hand side of the joint. In the order above the first side writes and the second adds. If
// the second side is in another tile, which another thread may process at the same time, it is
// deferred: it writes to storage of its own, which is added when all tiles are done. If tiles are
// processed in order, it adds directly. A sum of two numbers does not depend on their order, so the
// result depends on the model only.
//
// Joints with springs on the rotation vector, between bodies that carry only such joints and balls,
// form groups of MABD_LANES: start and finish of a joint are done in lanes too
// (affine/cpu/pack_turns.c). Groups are distributed over the tiles; other joints with coordinates
// are ungrouped.
//
// Rows that depend on both bodies of a joint need both references. A tile can predict its own
// bodies during assembly; bodies that another tile reads, the halo, are predicted before all tiles,
// and no tile writes their references afterwards.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/limits.h"
#include "math/lanes.h"

#define MABD_SEGMENT_BODIES (MABD_LANES * MABD_SEGMENT_LINKS)
/// Reals that elimination saves of a joint with w rows: Z (w x w), Y (w x w), h (w).
#define MABD_SEGMENT_SAVED(w) ((2 * (w) + 1) * (w))
/// Rows of the joints of a segment: 3 point rows, or as many as this of any kind.
#define MABD_SEGMENT_LEAST_ROWS 4

/// Most joints of a body in a pack.
#define MABD_PACK_SIDES 6

/// One joint of each body of a pack.
typedef struct mabd_affine_pack_side {
    mabd_lanes X[3];          // attachment, principal frame [m]
    mabd_lanes sign;          // of the point rows: +1 on body b, -1 on a
    size_t block[MABD_LANES]; // offset of its block in D or mabd_affine_shares.values
    int32_t row[MABD_LANES];  // its first row
    int32_t width;            // rows of all lanes: 3, or 6 with springs (packs of MABD_BODY_SPRUNG)
    int32_t spring[MABD_LANES]; // first coordinate, with springs
    int32_t row_set[MABD_LANES];
    uint8_t mode[MABD_LANES]; // mabd_affine_side_mode
} mabd_affine_pack_side;

/// The other bodies of these joints, for packs whose rows depend on both bodies.
typedef struct mabd_affine_pack_other {
    int32_t body[MABD_LANES];  // the other body
    int32_t frame[MABD_LANES]; // of the joint, -1 = none
    int32_t row_set;           // of all
    bool is_b;                 // bodies of the pack are b of these joints
    bool one_frame;            // all have the same
    bool begins;     // some lane has the first side of its joint; then also the following is read
    mabd_lanes X[3]; // attachment on the other body, principal frame [m]
    mabd_lanes soft, share; // of that body (mabd_affine_strain_of); soft = 0 if it does not move
} mabd_affine_pack_other;

/// One off-diagonal block of each body of a pack.
typedef struct mabd_affine_pack_pair {
    size_t block[MABD_LANES]; // in U
} mabd_affine_pack_pair;

/// Bodies of one class and kind with equal numbers of joints. If not all joints are balls, joint i
/// of all bodies has the same number of rows (bodies with springs), or the same row set and side.
/// Lanes from `count` on repeat the last body and are not stored.
typedef struct mabd_affine_pack {
    int32_t count;            // bodies, 1 .. MABD_LANES
    int32_t side_count;       // joints of each
    int32_t side_first;       // in mabd_affine_packs.sides
    int32_t other_first;      // in mabd_affine_packs.others, if rows depend on both bodies
    int32_t pair_first;       // in mabd_affine_packs.pairs: (0,1) (0,2) .. (1,2) ..
    int32_t body_class;       // of all
    int32_t kind;             // of all, mabd_affine_body_kind
    int32_t body[MABD_LANES]; // rising
    uint8_t halo;             // bit l: body l is in the halo
} mabd_affine_pack;

/// Joints with three point rows and springs on all components of the rotation vector. Lanes from
/// `count` on repeat the last joint.
typedef struct mabd_affine_spring_group {
    int32_t count;             // joints, 1 .. MABD_LANES
    bool damped;               // all have dampers or armature (element/turn_damper.h), or none has
    int32_t a[MABD_LANES];     // bodies
    int32_t b[MABD_LANES];     //
    int32_t frame[MABD_LANES]; // in the model
    int32_t coordinate[MABD_LANES];
    int32_t row[MABD_LANES]; // of its first spring
    int32_t row_set[MABD_LANES];
} mabd_affine_spring_group;

/// Bodies that one thread processes at a time, with their packs and groups.
typedef struct mabd_affine_tile {
    int32_t body_first, body_last; // bodies first .. last - 1, and so on
    int32_t pack_first, pack_last;
    int32_t unpacked_first, unpacked_last;
    int32_t segment; // the segment that all bodies belong to, -1 = none
    bool looks;      // some pack has rows that depend on both bodies
    int32_t group_first, group_last;
} mabd_affine_tile;

/// Bodies next to the links of every lane of a segment; they belong to other lanes or other tiles.
typedef struct mabd_affine_segment_end {
    int32_t body[MABD_LANES];
    mabd_lanes soft, share;     // as of mabd_affine_pack_other
    mabd_affine_pack_side side; // of the links there
} mabd_affine_segment_end;

/// MABD_SEGMENT_BODIES consecutive links of one class in a chain: link i has slots slot + i and
/// slot + i + 1. Lane l holds links MABD_SEGMENT_LINKS l, MABD_SEGMENT_LINKS l + 1, ...
typedef struct mabd_affine_segment {
    mabd_affine_segment_end before, after;
    int32_t body, slot;      // first ones
    int32_t width;           // rows of all its joints
    int32_t kind;            // of all, MABD_BODY_SIMPLE (balls) or MABD_BODY_ROWS
    int32_t row_set;         // of all joints, unless they are balls
    int32_t frame;           // of all joints, unless they are balls
    size_t saved;            // first one in mabd_affine_packs.saved
    size_t edge[MABD_LANES]; // where the block between its cuts goes, in U
    int32_t bad;             // slot whose pivot failed, -1 = none
    mabd_real sign[2];       // of the point rows of each link's joints
    uint8_t halo[2];         // bit l: the first, the last link of lane l is in the halo
} mabd_affine_segment;

struct mabd_affine_packs {
    int32_t tile_count, pack_count, side_count, other_count, pair_count, unpacked_count;
    int32_t segment_count, group_count, ungrouped_count, halo_count;
    size_t saved_count;
    mabd_affine_shares shares;
    mabd_affine_tile* tiles;
    mabd_affine_pack* packs;
    mabd_affine_pack_side* sides;
    mabd_affine_pack_other* others;
    mabd_affine_pack_pair* pairs;
    int32_t* unpacked;                // (unpacked_count) bodies
    int32_t* halo;                    // (halo_count) bodies, rising
    mabd_affine_spring_group* groups; // (group_count)
    int32_t* ungrouped;            // (ungrouped_count) joints with coordinates that are in no group
    mabd_affine_segment* segments; // (segment_count)
    mabd_lanes*
        segment_X;     // (segment_count x MABD_SEGMENT_LINKS + 2 x 6) attachments of both joints
    bool* joint_inner; // (joints) update checks it, a ball inside a segment; null = no segments
    mabd_lanes* saved; // (saved_count) affine/cpu/segment.h
    mabd_affine_motion_report* motions;    // (tile_count) of the current stage
    mabd_affine_joint_error* joint_errors; // (tile_count)
    mabd_affine_joint_error* inner_errors; // (tile_count) of the joints inside segments, by update
    size_t bytes;
};

/// Create tiles and packs of a model. kinds (bodies): mabd_affine_body_kind. in_order: tiles will
/// be assembled one after the other, so that no side is deferred. MABD_ERR_MEMORY.
mabd_status mabd_affine_packs_create(const mabd_allocator* allocator, const mabd_model* model,
                                     const uint8_t* kinds, bool in_order,
                                     mabd_affine_packs** packs);
/// Free packs; null is allowed.
void mabd_affine_packs_destroy(const mabd_allocator* allocator, mabd_affine_packs* packs);
/// Bytes that mabd_affine_packs_create will take; SIZE_MAX if they cannot be counted.
size_t mabd_affine_packs_bytes_for(const mabd_model* model, const uint8_t* kinds);
