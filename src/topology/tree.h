// SPDX-License-Identifier: Apache-2.0
// The spanning trees of a joint graph: components, parents, cut joints and an order from the leaves
// to the root. Every formulation and every tree solver can read it; nothing here depends on how a
// dual system is laid out (topology/plan.h adds that). Integers only.
//
//   component   bodies connected by joints that have rows, numbered by the lowest body
//   root        without cycles the lowest body of the component; with cycles the body whose
//               farthest body is nearest (spanning.c)
//   parent      next body on the way to the root, over the parent joint
//   level       bodies at one distance from the root, counted in joints of the tree
//   cut joint   joint between two moving bodies that is not in the tree: it closes one cycle
//
// Joints to the ground are neither in the tree nor cut: the ground couples nothing.
//
// The class of a component with n bodies, m joints between two of them and k = m - n + 1
// independent cycles:
//
//   free    no joints
//   chain   k = 0 and at most two joints on every body, those to the ground included
//   tree    k = 0
//   loops   no joint lies on two cycles: rings, four-bars in series
//   graph   the rest: ladders, nets
//
// The class describes the structure. It does not tell the cost of a solve: a ladder has as many
// cycles as a net, and costs as little as a chain.
#pragma once

#include "mabd/model.h"
#include "topology/graph.h"

typedef struct mabd_tree_component {
    mabd_component kind;
    int32_t body_first, body_count;    // in order; the root is the last one
    int32_t level_first, level_count;  // in level_start; the root's level is the last one
    int32_t cut_first, cut_count;      // in cuts; one cut joint for each independent cycle
    int32_t joint_count;               // joints with rows, those to the ground included
    int32_t inner_count;               // joints between two moving bodies
    int32_t max_degree;                // most joints on one body
    int64_t row_count;                 // rows of all its joints
    int64_t cut_rows;                  // rows of its cut joints
    bool cycles_meet;                  // some joint lies on two cycles
    int32_t extra_rows, extra_borders; // of what else couples its bodies: zero here, for its users
} mabd_tree_component;

typedef struct mabd_tree {
    int32_t component_count, level_count, cut_count;
    int32_t* component;    // of a body, -1 = the body does not move (body_count)
    int32_t* parent;       // parent body, -1 = root or not moving (body_count)
    int32_t* parent_joint; // joint to the parent, -1 = root or not moving (body_count)
    int32_t* depth; // joints of the tree from a body to its root, -1 = not moving (body_count)
    int32_t* order; // moving bodies by component, every body before its parent (moving_count)
    int32_t* level_start;            // levels, deepest first, as ranges of order (level_count + 1)
    int32_t* cuts;                   // cut joints by component, ascending in each (cut_count)
    mabd_tree_component* components; // (component_count)
    size_t body_bytes, component_bytes;
} mabd_tree;

/// Build the spanning trees of a graph, in O(bodies + joints). Among all spanning trees, those of a
/// component with cycles leave the fewest rows to the cut joints (spanning.c). The tree keeps no
/// pointer to the graph. On failure (MABD_ERR_MEMORY) the tree holds nothing.
mabd_status mabd_tree_init(const mabd_allocator* allocator, const mabd_graph* graph,
                           mabd_tree* tree);
/// Free the arrays of a tree. Allowed after mabd_tree_init failed.
void mabd_tree_free(const mabd_allocator* allocator, mabd_tree* tree);
