// SPDX-License-Identifier: Apache-2.0
#include "formulation/impulse/impulse_colors.h"

#include "math/lanes.h"

#include <string.h>

#define LANES MABD_LANES
// Packs of one color and kind are counted for each of these.
#define CELLS (MABD_IMPULSE_COLORS * MABD_IMPULSE_KINDS)

// Number of the lowest bit that is not set; MABD_IMPULSE_COLORS if all are.
static int32_t lowest_free(uint32_t taken) {
    int32_t c = 0;
    while (c < MABD_IMPULSE_COLORS && (taken >> c & 1)) c++;
    return c;
}

// Number above the highest bit that is set, at most MABD_IMPULSE_COLORS.
static int32_t next_level(uint32_t taken) {
    int32_t c = 0;
    while (c < MABD_IMPULSE_COLORS && taken >> c) c++;
    return c;
}

static uint32_t marks_of(const mabd_impulse_item* item, const uint32_t* marks) {
    return (item->a >= 0 ? marks[item->a] : 0) | (item->b >= 0 ? marks[item->b] : 0);
}
static void mark(const mabd_impulse_item* item, int32_t number, uint32_t* marks) {
    const uint32_t bit = number < MABD_IMPULSE_COLORS ? UINT32_C(1) << number : 0;
    if (item->a >= 0) marks[item->a] |= bit;
    if (item->b >= 0) marks[item->b] |= bit;
}
static void unmark(const mabd_impulse_item* item, uint32_t* marks) {
    if (item->a >= 0) marks[item->a] = 0;
    if (item->b >= 0) marks[item->b] = 0;
}

// Items first .. last - 1 of a tile by its number.
typedef struct span {
    int32_t first, last;
} span;

static span items_of(int32_t tile, int32_t n) {
    const int32_t first = tile * MABD_IMPULSE_TILE_ITEMS, rest = n - first;
    const span s = {first,
                    first + (rest < MABD_IMPULSE_TILE_ITEMS ? rest : MABD_IMPULSE_TILE_ITEMS)};
    return s;
}

// ---- phases ------------------------------------------------------------------------------------

// Write the phase of each tile to tile_pack; those beyond the last get numbers of their own.
static void find_phases(const mabd_impulse_item* items, uint32_t* marks, mabd_impulse_order* o) {
    int32_t late = MABD_IMPULSE_COLORS;
    for (int32_t t = 0; t < o->tile_count; t++) {
        const span s = items_of(t, o->item_count);
        uint32_t taken = 0;
        for (int32_t i = s.first; i < s.last; i++) taken |= marks_of(&items[i], marks);
        const int32_t phase = lowest_free(taken);
        for (int32_t i = s.first; i < s.last; i++) mark(&items[i], phase, marks);
        o->tile_pack[t] = phase < MABD_IMPULSE_COLORS ? phase : late++;
    }
}

// Sort tiles by phase, those of one phase rising, and leave out numbers without a tile.
static void sort_tiles(mabd_impulse_order* o) {
    int32_t placed = 0, last = MABD_IMPULSE_COLORS;
    o->phase_count = 0;
    for (int32_t t = 0; t < o->tile_count; t++) {
        if (o->tile_pack[t] >= last) last = o->tile_pack[t] + 1;
    }
    for (int32_t phase = 0; phase < MABD_IMPULSE_COLORS; phase++) {
        const int32_t before = placed;
        for (int32_t t = 0; t < o->tile_count; t++) {
            if (o->tile_pack[t] == phase) o->tile[placed++] = t;
        }
        if (placed == before) break; // greedy numbers have no gaps
        o->phase_first[o->phase_count++] = before;
    }
    for (int32_t t = 0; t < o->tile_count && last > MABD_IMPULSE_COLORS; t++) {
        if (o->tile_pack[t] < MABD_IMPULSE_COLORS) continue;
        o->phase_first[o->phase_count++] = placed;
        o->tile[placed++] = t;
    }
    o->phase_first[o->phase_count] = o->tile_count;
}

// ---- colors ------------------------------------------------------------------------------------

// Color the items of a tile. Returns the number of its packs.
static int32_t color_tile(const mabd_impulse_item* items, span s, uint32_t* marks,
                          mabd_impulse_order* o) {
    int32_t cell[CELLS], packs = 0, used = 0;
    memset(cell, 0, sizeof cell);
    for (int32_t i = s.first; i < s.last; i++) {
        const uint32_t taken = marks_of(&items[i], marks);
        const int32_t c = o->levels ? next_level(taken) : lowest_free(taken);
        // what follows an item without a level has none either
        mark(&items[i], o->levels && c == MABD_IMPULSE_COLORS ? c - 1 : c, marks);
        o->color[i] = (uint8_t)c;
        if (c >= used) used = c + 1;
        packs +=
            c == MABD_IMPULSE_COLORS || cell[c * MABD_IMPULSE_KINDS + items[i].kind]++ % LANES == 0;
    }
    for (int32_t i = s.first; i < s.last; i++) unmark(&items[i], marks);
    if (used > o->color_count) o->color_count = used;
    return packs;
}

void mabd_impulse_order_color(int32_t n, const mabd_impulse_item* items, int32_t body_count,
                              uint32_t* marks, mabd_impulse_order* o) {
    o->item_count = n, o->tile_count = mabd_impulse_tiles(n);
    o->color_count = 0;
    memset(marks, 0, (size_t)body_count * sizeof *marks);
    find_phases(items, marks, o);
    sort_tiles(o);
    for (int32_t i = 0; i < n; i++) unmark(&items[i], marks);
    o->pack_count = 0;
    for (int32_t t = 0; t < o->tile_count; t++) {
        o->tile_pack[t] = o->pack_count;
        o->pack_count += color_tile(items, items_of(o->tile[t], n), marks, o);
    }
    o->tile_pack[o->tile_count] = o->pack_count;
}

// ---- packs -------------------------------------------------------------------------------------

// Put an item into a lane of a pack.
static void put(mabd_impulse_order* o, int32_t item, int32_t kind, int32_t place) {
    o->pack_kind[place / LANES] = (uint8_t)kind;
    o->pack_item[place] = item, o->place[item] = place;
}

static void pack_tile(const mabd_impulse_item* items, int32_t tile, mabd_impulse_order* o) {
    const span s = items_of(o->tile[tile], o->item_count);
    int32_t next[CELLS]; // free place of a color and kind, first its number of items
    memset(next, 0, sizeof next);
    for (int32_t i = s.first; i < s.last; i++) {
        if (o->color[i] == MABD_IMPULSE_COLORS) continue;
        next[o->color[i] * MABD_IMPULSE_KINDS + items[i].kind]++;
    }
    int32_t pack = o->tile_pack[tile];
    for (int32_t k = 0; k < CELLS; k++) {
        const int32_t packs = (next[k] + LANES - 1) / LANES;
        next[k] = pack * LANES;
        pack += packs;
    }
    for (int32_t i = s.first; i < s.last; i++) {
        if (o->color[i] == MABD_IMPULSE_COLORS) {
            put(o, i, items[i].kind, LANES * pack++);
        } else {
            put(o, i, items[i].kind, next[o->color[i] * MABD_IMPULSE_KINDS + items[i].kind]++);
        }
    }
}

void mabd_impulse_order_pack(const mabd_impulse_item* items, mabd_impulse_order* o) {
    for (int32_t k = 0; k < o->pack_count * LANES; k++) o->pack_item[k] = -1;
    for (int32_t t = 0; t < o->tile_count; t++) pack_tile(items, t, o);
}
