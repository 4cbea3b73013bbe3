// SPDX-License-Identifier: Apache-2.0
// Which joints of a component with cycles are its tree, and which are cut.
#pragma once

#include "topology/graph.h"

/// For every component with cycles: choose the tree whose cut joints have the fewest rows, near its middle
/// body. Sets the root (`bodies` breadth first from it, along the tree), parent, cut_rows, cycles_meet and
/// kind. Takes and gives back scratch only if there are cycles. O(bodies + joints). After mabd_graph_init;
/// MABD_ERR_MEMORY.
mabd_status mabd_graph_span(const mabd_allocator* allocator, mabd_graph* graph);
