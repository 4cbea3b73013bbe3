// SPDX-License-Identifier: Apache-2.0
// Data and functions that the files of the broad phase share. broad.c describes the method.
#pragma once

#include "base/memory.h"
#include "contact/broad.h"
#include "math/shared.h"

#define BROAD_LEVELS_MAX 32
#define BROAD_BINS       2048 // bins of box sizes, eight per octave
#define BROAD_ALL_AXES   7
#define BROAD_UNBOUNDED  BROAD_BINS // bin of the geoms that are in no grid

/// One grid: the geoms whose largest extents are within a factor of two of each other.
typedef struct broad_level {
    double scale[3];      // 1 / cell size [1/m]
    double base[3];       // cell of a coordinate x: (int64)(x scale - base), >= 1 for all geoms
    int64_t cells[3];     // largest cell of any geom
    int64_t first, count; // its range of the sorted arrays; a sentinel key follows
    int axes;             // set of axes in the keys: bits x 1, y 2, z 4
    int shift[3];         // bit position of each axis in a key
    uint64_t used[3];     // all ones if an axis is in the set, else zero
    int bits;             // number of bits of a key
} broad_level;

/// Data of a geom that a search reads: one cache line.
typedef struct broad_entry {
    mabd_broad_box box;
    mabd_broad_geom geom;
} broad_entry;

/// Pairs of bodies as sorted lists of the larger bodies.
typedef struct broad_pair_list {
    int32_t reach;   // bodies >= 0 whose indices differ by more are no pair of the list
    int32_t* first;  // (body_count + 2) by 1 + the smaller body, into larger
    int32_t* larger; // the larger bodies, ascending
} broad_pair_list;

struct mabd_broad {
    mabd_allocator allocator;
    size_t bytes; // bytes of this block: everything but the pairs
    int32_t geom_capacity, body_count;
    broad_pair_list excluded, exceptions; // exceptions only with members
    int32_t member_count;
    int32_t* member_first; // (body_count + 1) into member_group; only with members
    int32_t* member_group; // (member_count) groups of a body, ascending

    uint16_t* bin;         // (n) size bin of each geom
    uint64_t* key[2];      // (n + levels) cells, by level; sorted
    int32_t* id[2];        // (n + levels) geoms; id[1] holds the unbounded ones before the sort
    broad_entry* sorted;   // (n + levels) in the order of the keys
    int32_t* bucket_first; // (2 n + 17) hashed cells of a coarse level
    int32_t* bucket;       // (n) places in the sorted arrays
    int32_t* bin_count;    // (BROAD_BINS)
    double (*bin_extent)[3];
    uint8_t* bin_level; // (BROAD_BINS)
    void* scratch;      // scratch memory of the radix sort

    uint64_t* raw[2]; // (pair_capacity) packed pairs; the result is written over the unsorted ones
    int64_t pair_capacity;

    // state of the current update
    const mabd_broad_input* input;
    int pair_shift; // a packed pair is i << pair_shift | j
    int64_t raw_count;
    int32_t level_count, unbounded_count;
    double lo[3], hi[3]; // bounds of the lower corners of all bounded boxes
    broad_level levels[BROAD_LEVELS_MAX];
};

/// Read all boxes: sizes, bounds, the list of unbounded geoms. Returns the first invalid geom, -1 =
/// none.
int32_t broad_survey(mabd_broad* broad);
/// Choose the levels from the sizes, and a grid for each.
void broad_choose_levels(mabd_broad* broad);
/// Fill keys and ids by level, unsorted, and test the unbounded geoms in the same pass.
void broad_fill_keys(mabd_broad* broad);
/// Sort the keys and ids of a level. Overwrites the sorted boxes of all levels.
void broad_sort_keys(mabd_broad* broad, broad_level* level);
/// Copy boxes and geoms of a level in the order of its keys.
void broad_sort_entries(mabd_broad* broad, const broad_level* level);
/// Return the set of axes with which sorting and searching a level is expected to be fastest. bits:
/// bits of the cells along each axis.
int broad_choose_axes(const mabd_broad* broad, int32_t level, const int bits[3]);
/// Return true if searching the levels fine and fine + 1 as one level with these cells [m] is
/// expected to be faster.
bool broad_merge_pays(const mabd_broad* broad, int32_t fine, const double cell[3]);
/// Find the pairs within a level.
void broad_search_level(mabd_broad* broad, const broad_level* level);
/// Find the pairs between members of a level and all finer levels.
void broad_search_finer(mabd_broad* broad, int32_t level);

MABD_FN int broad_bit_length(uint64_t x) {
    int bits = 0;
    while (x != 0) bits++, x >>= 1;
    return bits;
}

/// Return the cell of a coordinate [m] along an axis. Non-decreasing in x; within 2^40 cells of the
/// origin its error is below 2^-11 of a cell, beyond that all coordinates share the last cell.
MABD_FN int64_t broad_cell(const broad_level* level, int axis, double x) {
    const double limit = 1099511627776.0; // 2^40
    double t = x * level->scale[axis];
    t = t < -limit ? -limit : t;
    t = t > limit ? limit : t;
    return (int64_t)(t - level->base[axis]);
}

MABD_FN bool broad_overlap(const mabd_broad_box* a, const mabd_broad_box* b) {
    return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
           (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

/// True if a list holds the pair of the bodies a and b.
MABD_FN bool broad_is_listed(const broad_pair_list* list, int32_t a, int32_t b) {
    const int32_t small = a < b ? a : b, large = a < b ? b : a;
    // neighbours usually have close indices: most pairs are decided without reading the lists
    if (small >= 0 && large - small > list->reach) return false;
    const int32_t* const larger = list->larger;
    int32_t first = list->first[small + 1], end = list->first[small + 2];
    while (end - first > 16) {
        const int32_t middle = first + (end - first) / 2;
        if (larger[middle] <= large)
            first = middle;
        else
            end = middle;
    }
    for (; first < end; first++) {
        if (larger[first] == large) return true;
    }
    return false;
}

/// True if a group holds both bodies.
MABD_FN bool broad_share_group(const mabd_broad* broad, int32_t a, int32_t b) {
    if (a < 0 || b < 0) return false;
    const int32_t* const group = broad->member_group;
    int32_t i = broad->member_first[a], k = broad->member_first[b];
    const int32_t i_end = broad->member_first[a + 1], k_end = broad->member_first[b + 1];
    while (i < i_end && k < k_end) {
        if (group[i] == group[k]) return true;
        if (group[i] < group[k])
            i++;
        else
            k++;
    }
    return false;
}

MABD_FN bool broad_excluded(const mabd_broad* broad, int32_t a, int32_t b) {
    if (broad_is_listed(&broad->excluded, a, b)) return true;
    return broad->member_count > 0 && broad_share_group(broad, a, b) &&
           !broad_is_listed(&broad->exceptions, a, b);
}

/// Append the pair of the geoms a and b, whose boxes overlap, if they may collide.
MABD_FN void broad_offer(mabd_broad* broad, int32_t a, const mabd_broad_geom* ga, int32_t b,
                         const mabd_broad_geom* gb) {
    if ((ga->moving | gb->moving) == 0 || ga->body == gb->body) return;
    if ((ga->category & gb->mask) == 0 || (gb->category & ga->mask) == 0) return;
    if (broad_excluded(broad, ga->body, gb->body)) return;
    const uint64_t i = (uint64_t)(a < b ? a : b), j = (uint64_t)(a < b ? b : a);
    if (broad->raw_count < broad->pair_capacity) {
        broad->raw[0][broad->raw_count] = i << broad->pair_shift | j;
    }
    broad->raw_count++;
}

/// Test the geoms at two places of the sorted arrays and append their pair if they may collide.
MABD_FN void broad_test(mabd_broad* broad, int64_t p, int64_t q) {
    const broad_entry *const a = &broad->sorted[p], *const b = &broad->sorted[q];
    if (!broad_overlap(&a->box, &b->box)) return;
    broad_offer(broad, broad->id[0][p], &a->geom, broad->id[0][q], &b->geom);
}
