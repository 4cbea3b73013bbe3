// SPDX-License-Identifier: Apache-2.0
// A tree cut into parts that can be eliminated at the same time, and a top that comes after them. Integers only.
//
//             top             Parts are ranges of slots. A slot that is coupled with one beyond its range belongs to the top, and so does
//            /   \            all that a slot of the top is coupled with further up. What is left of a range changes nothing
//           r     r'          but itself and slots of the top in its own range, and is changed by itself alone.
//          /|\   /|\          Slots of the top are eliminated after all parts, ascending: the order of every sum is
//         part   part         "parts, then the top, each by ascending slots", whoever does the parts.
//
// The plan numbers large trees so that few slots reach beyond their range (base/parts.h): the roots of subtrees. The cut depends on
// the pattern alone, and one thread keeps to it too.
#pragma once

#include "dual/dual.h"

typedef struct mabd_tree_parts {
    int32_t count;      // of ranges
    int32_t* first;     // slots of a range (count + 1)
    int32_t* top_first; // of its slots that are of the top, in `top` (count + 1)
    int32_t* top;       // ascending
} mabd_tree_parts;

/// Most parts that so many slots are cut into.
int32_t mabd_tree_parts_most(int32_t slot_count);
/// Take the arrays of a tree of so many slots from an arena.
void mabd_tree_parts_layout(int32_t slot_count, mabd_arena* arena, mabd_tree_parts* parts);
/// Cut, into one part if the tree is small or most of it would be the top. start (slot_count + 1): edges of a slot. MABD_ERR_MEMORY.
mabd_status mabd_tree_parts_find(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 const int32_t* start, mabd_tree_parts* parts);
