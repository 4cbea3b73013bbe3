// SPDX-License-Identifier: Apache-2.0
// The order in which sequential impulses visit their items: joints, rows of axes, contacts.
//
// An item moves one or two bodies. Items that share no body may be visited in any order or at the
// same time, with the same bits. The order is fixed by the list of items alone:
//
//   tile    512 consecutive items: the work of a thread, sized to stay in its cache
//   phase   tiles that share no body: they run on threads; phases follow each other
//   color   items of a tile that share no body
//   pack    up to 8 items of one color and one kind, in lanes
//
//   phase 0: tile 0 | tile 2 | ...      tile: color 0: pack pack pack, color 1: pack pack, ...
//   phase 1: tile 1 | tile 3 | ...            rest: one item a pack
//
// Phases and colors are greedy: the lowest number that none of the bodies has, kept as 32 bits for
// each body. A body with more items than colors (a floor that moves) sends its other items to the
// rest of the tile, in order, and tiles beyond the last phase follow one by one. Bodies that do not
// move are no bodies of an item. O(items).
//
// Levels instead of colors: an item comes after all earlier ones of its bodies, so a tile is
// visited as in the order of its list, in as few packs as that allows. Contacts have levels: a
// stack of 40 boxes whose contacts go from the ground up stands where one in two colors falls.
#pragma once

#include "base/memory.h"

#define MABD_IMPULSE_TILE_ITEMS 512
#define MABD_IMPULSE_COLORS     32
/// Kinds of items in one order: 0 .. MABD_IMPULSE_KINDS - 1.
#define MABD_IMPULSE_KINDS 24

/// What is visited: bodies that move, -1 = none on that side, a != b unless both are -1.
typedef struct mabd_impulse_item {
    int32_t a, b;
    int32_t kind; // packs have one kind
} mabd_impulse_item;

/// An order of items. The arrays are the caller's.
typedef struct mabd_impulse_order {
    int32_t item_count, tile_count, phase_count, pack_count;
    bool levels;          // in: levels instead of colors
    int32_t color_count;  // most colors of a tile, with one for its rest
    uint8_t* color;       // (item_count) MABD_IMPULSE_COLORS = the rest of its tile
    int32_t* phase_first; // (tiles + 1) tiles of phase p: first[p] .. first[p + 1] - 1
    int32_t* tile;        // (tiles) tile t is the tile[t]-th of consecutive items
    int32_t* tile_pack;   // (tiles + 1) packs of tile t
    uint8_t* pack_kind;   // (packs)
    int32_t* pack_item;   // (packs x 8) items in lanes, -1 = none
    int32_t* place;       // (item_count) 8 pack + lane
} mabd_impulse_order;

/// Return the number of tiles of n items.
static inline int32_t mabd_impulse_tiles(int32_t n) {
    return (n + MABD_IMPULSE_TILE_ITEMS - 1) / MABD_IMPULSE_TILE_ITEMS;
}

/// Color n items and count packs, tiles, phases, colors: order->color, phase_first, tile and
/// tile_pack are written. marks (bodies): scratch.
void mabd_impulse_order_color(int32_t n, const mabd_impulse_item* items, int32_t body_count,
                              uint32_t* marks, mabd_impulse_order* order);
/// Put the colored items into packs: order->pack_kind, pack_item and place are written.
void mabd_impulse_order_pack(const mabd_impulse_item* items, mabd_impulse_order* order);
