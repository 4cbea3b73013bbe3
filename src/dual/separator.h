// SPDX-License-Identifier: Apache-2.0
// Separators of a graph of slots: sets of slots without which the rest falls apart into two sides
// that are not coupled. Weight = rows.
#pragma once

#include "dual/graph_matrix.h"

enum { MABD_SIDE_A, MABD_SIDE_B, MABD_SIDE_CUT, MABD_SIDE_NONE };

/// A part of the graph, split in three. Slots of other parts are on MABD_SIDE_NONE.
typedef struct mabd_dual_separator {
    const mabd_dual_neighbours* list;
    const int32_t* width; // (slot_count)
    uint8_t* side;        // (slot_count)
    int64_t weight[3];    // rows on each side and in the separator
    // work
    int32_t* pull[2];    // rows that enter the separator if a slot moves to a side (slot_count)
    int32_t* heap[2];    // slots of the separator by gain, best first (slot_count)
    int32_t* at[2];      // place in the heap, -1 = not in it (slot_count)
    int32_t* trail;      // slots moved in a pass (3 slot_count)
    uint8_t* trail_side; // their previous sides
    uint8_t* locked;     // has left the separator in this pass (slot_count)
    int32_t count[2], trail_count;
} mabd_dual_separator;

/// Take the arrays from the arena. Called twice: with a measuring arena, then with memory. All
/// slots are on MABD_SIDE_NONE after mabd_dual_separator_clear.
void mabd_dual_separator_layout(mabd_dual_separator* separator, int32_t slot_count,
                                mabd_arena* arena);
void mabd_dual_separator_clear(mabd_dual_separator* separator, int32_t slot_count);

/// Make the separator lighter. slots (count): the part, whose sides are set (no A next to a B);
/// weights are counted here. Neither side grows beyond `limit` rows unless it already exceeded it.
void mabd_dual_separator_refine(mabd_dual_separator* separator, int32_t count, const int32_t* slots,
                                int64_t limit);
