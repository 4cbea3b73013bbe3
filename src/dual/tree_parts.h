// SPDX-License-Identifier: Apache-2.0
// A tree cut into parts that can be eliminated concurrently, and a top that follows them. Integers
// only.
//
//             top      Parts are ranges of slots. A slot coupled with one beyond its range belongs
//            /   \     to the top, and so do all slots that a slot of the top is coupled with
//           r     r'   further up. The other slots of a range change only their range and slots of
//          /|\   /|\   the top in it, and only their range changes them. Slots of the top are
//         part   part  eliminated after all parts, ascending, so the order of every sum is "parts,
//                      then the top, each by ascending slots", whichever thread does the parts.
//
// The plan numbers large trees so that few slots reach beyond their range (base/parts.h): the roots
// of subtrees. The cut depends on the pattern alone; one thread uses it too.
#pragma once

#include "dual/dual.h"

typedef struct mabd_dual_tree_parts {
    int32_t count;      // ranges
    int32_t* first;     // first slot of a range (count + 1)
    int32_t* top_first; // first of its slots in `top` (count + 1)
    int32_t* top;       // slots of the top, ascending
} mabd_dual_tree_parts;

/// Largest number of parts for a tree of slot_count slots.
int32_t mabd_dual_tree_parts_most(int32_t slot_count);
/// Take the arrays for a tree of slot_count slots from an arena.
void mabd_dual_tree_parts_layout(int32_t slot_count, mabd_arena* arena,
                                 mabd_dual_tree_parts* parts);
/// Cut a tree; one part if it is small or if most of it would be the top. start (slot_count + 1):
/// first edge of each slot. MABD_ERR_MEMORY.
mabd_status mabd_dual_tree_parts_find(const mabd_allocator* allocator,
                                      const mabd_dual_system* system, const int32_t* start,
                                      mabd_dual_tree_parts* parts);
