// SPDX-License-Identifier: Apache-2.0
// The class of a component, from its counts. With n moving bodies, m joints between two of them and
// k = m - n + 1 independent cycles:
//
//   free    no joints
//   chain   k = 0 and at most two joints on every body, the ground's included
//   tree    k = 0
//   loops   k <= 8, or 6 k <= 5 % of the component's rows
//   graph   the rest
//
// The rule for loops: cutting one joint per cycle leaves a tree; the cut joints cost one tree solve
// per cut row and a dense factor of up to 6 k rows. That pays while 6 k is small on its own or
// small beside the rows of the tree; a net has as many cycles as bodies, and wants a sparse factor.

#include "topology/graph.h"

#define FEW_LOOPS        8
#define ROWS_PER_CUT     6
#define CUT_ROWS_DIVISOR 20 // 5 %

mabd_component mabd_graph_classify(const mabd_graph_part* part) {
    if (part->joint_count == 0) return MABD_COMPONENT_FREE;
    if (part->loops == 0) {
        return part->max_degree <= 2 ? MABD_COMPONENT_CHAIN : MABD_COMPONENT_TREE;
    }
    int64_t cut_rows = (int64_t)ROWS_PER_CUT * part->loops;
    bool few = part->loops <= FEW_LOOPS || cut_rows * CUT_ROWS_DIVISOR <= part->row_count;
    return few ? MABD_COMPONENT_LOOPS : MABD_COMPONENT_GRAPH;
}
