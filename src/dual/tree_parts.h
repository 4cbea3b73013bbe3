// SPDX-License-Identifier: Apache-2.0
// A tree cut into parts that can be eliminated at the same time, and a top that comes after them. Integers only.
//
//             top                     Let p(s) be the last slot that s is coupled with among those after it: the joint
//            /   \                    towards the root of the body that s hangs on. Slots from which p leads to r are the
//           r     r'                  subtree of r. If all that the subtree is coupled with lies in it, its slots other
//          /|\   /|\                  than r change nothing outside but r itself. So r belongs to the top, and
//         part   part                 what is below it to a part.
//
// A slot of the top that is no such r is changed by slots of the top alone, and r first by its part and then by the top: the order
// of all sums is that of "parts, then the top, each by ascending slots", whoever does the parts. The cut depends on the pattern
// alone, and one thread keeps to it too; unless these sums are the same with all slots ascending, which they are if slots are
// numbered by levels. Then one thread goes through memory as it lies: of parts in short runs, twice as fast.
#pragma once

#include "dual/dual.h"

typedef struct mabd_tree_parts {
    int32_t count;  // of parts; the top is the part after the last
    int32_t* first; // slots of a part, in `slots` (count + 2)
    int32_t* slots; // by parts, ascending in each (slot_count); null = all are of the top
    bool ascending; // the sums are those of ascending slots
} mabd_tree_parts;

/// Most parts that so many slots are cut into.
int32_t mabd_tree_parts_most(int32_t slot_count);
/// Take the arrays of a tree of so many slots from an arena.
void mabd_tree_parts_layout(int32_t slot_count, mabd_arena* arena, mabd_tree_parts* parts);
/// Cut. start (slot_count + 1): edges of a slot. MABD_ERR_MEMORY.
mabd_status mabd_tree_parts_find(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 const int32_t* start, mabd_tree_parts* parts);
