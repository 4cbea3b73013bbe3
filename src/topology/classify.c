// SPDX-License-Identifier: Apache-2.0
// The class of a component. With n moving bodies, m joints between two of them and k = m - n + 1 independent
// cycles:
//
//   free    no joints
//   chain   k = 0 and at most two joints on every body, the ground's included
//   tree    k = 0
//   loops   no joint lies on two cycles: rings, linkages in series
//   graph   the rest: ladders, nets
//
// The class says what the structure is. How a component with cycles is solved is a matter of cost, which the
// number of cycles does not tell: a ladder has as many as a net, and costs as little as a chain.

#include "topology/graph.h"

mabd_component mabd_graph_classify(const mabd_graph_part* part) {
    if (part->joint_count == 0) return MABD_COMPONENT_FREE;
    if (part->loops == 0) {
        return part->max_degree <= 2 ? MABD_COMPONENT_CHAIN : MABD_COMPONENT_TREE;
    }
    return part->cycles_meet ? MABD_COMPONENT_GRAPH : MABD_COMPONENT_LOOPS;
}
