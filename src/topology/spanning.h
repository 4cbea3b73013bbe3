// SPDX-License-Identifier: Apache-2.0
// Spanning trees of components with cycles (spanning.c holds the reasons for the choice).
#pragma once

#include "topology/tree.h"

/// Choose the root and tree of every component with cycles: sets its part of `order` (root first,
/// breadth first), parent, parent_joint and cycles_meet. The caller has found the components and
/// counted their joints, cut_count included. MABD_ERR_MEMORY leaves the tree as it was.
mabd_status mabd_tree_span(const mabd_allocator* allocator, const mabd_graph* graph,
                           mabd_tree* tree);
