// SPDX-License-Identifier: Apache-2.0
// Chains through a graph of slots: every slot in exactly one line, neighbours within a line coupled, others
// of the same line not, so that the dual matrix of a line is block tridiagonal.
#pragma once

#include "dual/graph_matrix.h"

/// slot (slot_count) gets the slots line by line; joined (slot_count): 1 where the slot before is of the same
/// line. Integers only, the same for the same pattern. MABD_ERR_MEMORY: takes scratch memory.
mabd_status mabd_graph_lines(const mabd_allocator* allocator, const mabd_dual_system* system,
                             const mabd_neighbours* list, int32_t* slot, uint8_t* joined);
