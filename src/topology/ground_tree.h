// SPDX-License-Identifier: Apache-2.0
// Spanning trees of a joint graph that hang at the ground (ground_tree.c holds the choice).
#pragma once

#include "topology/tree.h"

/// Build the spanning trees of a graph with the ground as root, in O(bodies + joints). The result
/// is a mabd_tree whose components, kinds and counts of joints are those of mabd_tree_init (bodies
/// that only the ground connects are not connected); different are
///
///   parent         -1 for a body that hangs at the ground or is a free root
///   parent_joint   joint to the parent or to the ground; -1 = free root, of a component that no
///                  joint connects to the ground, or not moving
///   depth          joints of the tree from a body to the ground; a free root has 0
///   order          as in mabd_tree: every body before its parent; read backwards it begins with
///                  the bodies that hang at the ground
///   cuts           joints that are not in the tree, also those to the ground
///
/// Among all such trees of a component these have the fewest rows in cut joints; of those that hang
/// at the ground, one with the fewest kept joints among the cuts of each width; if its joints all
/// have the same number of rows and none is kept, every body has the least depth. A free root is
/// the body whose farthest body is nearest, exact in a component without cycles. MABD_ERR_MEMORY:
/// the tree holds nothing. Free it with mabd_tree_free.
mabd_status mabd_ground_tree_init(const mabd_allocator* allocator, const mabd_graph* graph,
                                  mabd_tree* tree);
