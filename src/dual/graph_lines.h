// SPDX-License-Identifier: Apache-2.0
// Chains through a graph of slots: every slot in exactly one line, neighbours within a line
// coupled, others of the same line not, so that the dual matrix of a line is block tridiagonal.
#pragma once

#include "dual/graph_matrix.h"

/// Cover the graph by lines. slot (slot_count) gets the slots line by line; joined (slot_count): 1
/// if the slot before is in the same line. Deterministic. MABD_ERR_MEMORY: takes scratch memory.
mabd_status mabd_dual_graph_lines(const mabd_allocator* allocator, const mabd_dual_system* system,
                                  const mabd_dual_neighbours* list, int32_t* slot, uint8_t* joined);
