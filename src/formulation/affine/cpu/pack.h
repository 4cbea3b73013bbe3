// SPDX-License-Identifier: Apache-2.0
// Which bodies are worked on together, and by whom.
//
// Tiles are segments of bodies: what one thread does at a time, small enough that one stage finds in the cache what the one before
// has left there. Packs are up to MABD_LANES bodies of a tile that are alike, so that one function text works on all of
// them (math/lanes.h). Moving bodies that are in no pack are the odd ones of their tile; they go one by one, after the packs.
//
// A long chain of equal links is cut into segments, one a tile, that are eliminated in lanes (affine/cpu/segment.h).
//
// A joint has a side on each of its bodies, and each side adds its share to the joint's block and right-hand side. In the order above
// the first side writes and the second adds. If that one is in another tile, which may be done at the same time, it writes to
// a place of its own instead, and is added when all tiles are done; where tiles go one after the other it adds. A sum of two
// numbers does not depend on their order, so all this depends on the model alone and changes no bits.
//
// Joints with springs on the rotation vector, between bodies that carry no others than these and balls, go in lanes as well
// where something is to be done once for a joint: start and finish (affine/cpu/pack_turns.c). Their groups are dealt out to the tiles;
// other joints with coordinates are the lone ones.
//
// Rows that look at both bodies of a joint want both references. A tile can make its own on its way; bodies that another tile looks
// at, the borders, are predicted before all tiles, and nobody writes to their references after.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/limits.h"
#include "math/lanes.h"

#define MABD_SEGMENT_BODIES (MABD_LANES * MABD_SEGMENT_LINKS)
/// What elimination leaves of a joint with w rows: Z (w x w), Y (w x w), h (w).
#define MABD_SEGMENT_SAVED(w) ((2 * (w) + 1) * (w))
/// Rows of the joints of a segment: 3 point rows, or as many as this of any kind.
#define MABD_SEGMENT_LEAST_ROWS 4

/// Most joints of a body in a pack.
#define MABD_PACK_SIDES 6

/// One joint of each body of a pack.
typedef struct mabd_affine_pack_side {
    mabd_lanes X[3];          // attachment, principal frame [m]
    mabd_lanes sign;          // of the point rows: +1 on body b, -1 on a
    size_t block[MABD_LANES]; // where its block goes, in D or mabd_affine_packs.apart
    int32_t row[MABD_LANES];  // its first row
    int32_t width;            // rows of all lanes: 3, or 6 with springs (packs of MABD_BODY_SPRUNG)
    int32_t spring[MABD_LANES]; // first coordinate, with springs
    int32_t row_set[MABD_LANES];
    uint8_t mode[MABD_LANES]; // mabd_affine_side_mode
} mabd_affine_pack_side;

/// The other ends of these joints, for packs whose rows look at both bodies.
typedef struct mabd_affine_pack_other {
    int32_t body[MABD_LANES];  // the other body
    int32_t frame[MABD_LANES]; // of the joint, -1 = none
    int32_t row_set;           // of all
    bool is_b;                 // bodies of the pack are b of these joints
    bool one_frame;            // all have the same
    bool begins;     // some lane has the first side of its joint; then also the following is read
    mabd_lanes X[3]; // attachment on the other body, principal frame [m]
    mabd_lanes soft, share; // of that body (mabd_strain_of); soft = 0 if it does not move
} mabd_affine_pack_other;

/// One off-diagonal block of each body of a pack.
typedef struct mabd_affine_pack_pair {
    size_t block[MABD_LANES]; // in U
} mabd_affine_pack_pair;

/// Bodies of one class and kind with as many joints each; if these are not all balls, joint by joint of as many rows (bodies with
/// springs), or of one row set and on the same side. Lanes from `count` on repeat the last one and are not stored.
typedef struct mabd_affine_pack {
    int32_t count;            // bodies, 1 .. MABD_LANES
    int32_t side_count;       // joints of each
    int32_t side_first;       // in mabd_affine_packs.sides
    int32_t other_first;      // in mabd_affine_packs.others: as many, if they look at both bodies
    int32_t pair_first;       // in mabd_affine_packs.pairs: (0,1) (0,2) .. (1,2) ..
    int32_t body_class;       // of all
    int32_t kind;             // of all, mabd_affine_body_kind
    int32_t body[MABD_LANES]; // rising
    uint8_t halo;             // bit l: body l is one
} mabd_affine_pack;

/// Joints with three point rows and springs on all of the rotation vector. Lanes from `count` on repeat the last one.
typedef struct mabd_affine_spring_group {
    int32_t count;             // joints, 1 .. MABD_LANES
    int32_t a[MABD_LANES];     // bodies
    int32_t b[MABD_LANES];     //
    int32_t frame[MABD_LANES]; // in the model
    int32_t coordinate[MABD_LANES];
    int32_t row[MABD_LANES]; // of its first spring
    int32_t row_set[MABD_LANES];
} mabd_affine_spring_group;

typedef struct mabd_affine_tile {
    int32_t body_first, body_last; // bodies first .. last - 1, and so on
    int32_t pack_first, pack_last;
    int32_t unpacked_first, unpacked_last;
    int32_t segment; // all bodies are this one's, -1 = none
    bool looks;      // some pack has rows that look at both bodies
    int32_t group_first, group_last;
} mabd_affine_tile;

/// Bodies next to the links of every lane of a segment: of other lanes, or none of the segment's.
typedef struct mabd_affine_segment_end {
    int32_t body[MABD_LANES];
    mabd_lanes soft, share;     // as of mabd_affine_pack_other
    mabd_affine_pack_side side; // of the links there
} mabd_affine_segment_end;

/// MABD_SEGMENT_BODIES links of one class that follow each other in a chain: body i of them has slots slot + i and slot + i + 1.
/// Lane l has bodies MABD_SEGMENT_LINKS l, ... of these.
typedef struct mabd_affine_segment {
    mabd_affine_segment_end before, after;
    int32_t body, slot;      // first ones
    int32_t width;           // rows of all its joints
    int32_t kind;            // of all, MABD_BODY_SIMPLE (balls) or MABD_BODY_ROWS
    int32_t row_set;         // of all joints, if they are no balls
    int32_t frame;           // the same
    size_t kept;             // first one in mabd_affine_packs.kept
    size_t edge[MABD_LANES]; // where the block between its cuts goes, in U
    int32_t bad;             // slot whose pivot failed, -1 = none
    mabd_real sign[2];       // of the point rows of each link's joints
    uint8_t halo[2];         // bit l: the first, the last link of lane l is a border
} mabd_affine_segment;

struct mabd_affine_packs {
    int32_t tile_count, pack_count, side_count, other_count, pair_count, unpacked_count;
    int32_t segment_count, group_count, ungrouped_count, halo_count;
    size_t kept_count;
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
        segment_X; // (segment_count x MABD_SEGMENT_LINKS + 2 x 6) attachments of both joints
    bool*
        joint_inner; // (joints) update looks at the joint, a ball inside of a segment; null = no segments
    mabd_lanes* kept;                      // (kept_count) affine/cpu/segment.h
    mabd_affine_motion_report* motions;    // (tile_count) of the stage under way
    mabd_affine_joint_error* joint_errors; // (tile_count)
    mabd_affine_joint_error* inner_errors; // (tile_count) of the joints inside segments, by update
    size_t bytes;
};

/// Tiles and packs of a model. kinds (bodies): mabd_affine_body_kind of affine/data.h. in_order: tiles will be assembled one after the
/// other. MABD_ERR_MEMORY.
mabd_status mabd_affine_packs_create(const mabd_allocator* allocator, const mabd_model* model,
                                     const uint8_t* kinds, bool in_order,
                                     mabd_affine_packs** packs);
void mabd_affine_packs_destroy(const mabd_allocator* allocator, mabd_affine_packs* packs);
/// Bytes that mabd_affine_packs_create will take, SIZE_MAX if that cannot be found out.
size_t mabd_affine_packs_bytes_for(const mabd_model* model, const uint8_t* kinds);
