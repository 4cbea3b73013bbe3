// SPDX-License-Identifier: Apache-2.0
// Elimination order: the slot of every joint, and the order of the bodies within a component.
//
//   chain          along the path, from the end body with the lower index; a joint to the ground
//                  comes first on the first body and last on the last one. Bodies in path order.
//   tree           leaf to root: bodies in reverse breadth-first order, each with its own two slots
//                  if it is a hub, its joints to the ground, then the joint to its parent. So all
//                  other joints of a body have lower slots than the joint to its parent.
//   loops, graph   the joints of the chosen tree (spanning.c) as in a tree, then the cut joints (one per
//                  cycle) by index.
//
// O(bodies + joints).

#include "topology/graph.h"

static void place(mabd_graph* graph, int32_t joint, int32_t slot) {
    graph->slot_joint[slot] = joint;
    graph->joint_slot[joint] = slot;
}

// Place the joints of a body to the ground, by index. Returns the next slot.
static int32_t place_grounded(mabd_graph* graph, int32_t body, int32_t slot) {
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        int32_t joint = graph->incident[k];
        if (mabd_graph_across(graph, joint, body) < 0) place(graph, joint, slot++);
    }
    return slot;
}

// Place the freedoms of a body if it is a hub, 6 in each of two slots. Returns the next slot.
static int32_t place_hub(mabd_graph* graph, int32_t body, int32_t slot) {
    if (!graph->hub[body]) return slot;
    graph->slot_joint[slot] = graph->slot_joint[slot + 1] = -1 - body;
    return slot + 2;
}

static bool is_chain_end(const mabd_graph* graph, int32_t body) {
    int32_t inner = 0;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        inner += mabd_graph_across(graph, graph->incident[k], body) >= 0;
    }
    return inner <= 1;
}

static int32_t first_chain_end(const mabd_graph* graph, const mabd_graph_part* part) {
    int32_t lowest = INT32_MAX;
    for (int32_t i = 0; i < part->body_count; i++) {
        int32_t body = graph->bodies[part->body_first + i];
        if (body < lowest && is_chain_end(graph, body)) lowest = body;
    }
    return lowest;
}

// The joint to the next body along a chain: the one without a slot, -1 at the end.
static int32_t onward(const mabd_graph* graph, int32_t body) {
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        if (graph->joint_slot[graph->incident[k]] < 0) return graph->incident[k];
    }
    return -1;
}

static int32_t order_chain(mabd_graph* graph, const mabd_graph_part* part, int32_t slot) {
    int32_t body = first_chain_end(graph, part);
    for (int32_t i = 0; i < part->body_count; i++) {
        graph->bodies[part->body_first + i] = body;
        slot = place_grounded(graph, body, slot);
        int32_t joint = onward(graph, body);
        if (joint < 0) break;
        place(graph, joint, slot++);
        body = mabd_graph_across(graph, joint, body);
    }
    return slot;
}

static void reverse(int32_t count, int32_t* items) {
    for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
        int32_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static int32_t order_tree(mabd_graph* graph, const mabd_graph_part* part, int32_t slot) {
    int32_t* bodies = graph->bodies + part->body_first;
    reverse(part->body_count, bodies);
    for (int32_t i = 0; i < part->body_count; i++) {
        slot = place_hub(graph, bodies[i], slot);
        slot = place_grounded(graph, bodies[i], slot);
        if (graph->parent[bodies[i]] >= 0) place(graph, graph->parent[bodies[i]], slot++);
    }
    return slot;
}

// Joints without a slot close cycles; their slots were left free at the end of each component.
static void order_cuts(mabd_graph* graph) {
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (graph->width[joint] == 0 || graph->joint_slot[joint] >= 0) continue;
        mabd_graph_part* part = &graph->parts[graph->part[graph->a[joint]]];
        place(graph, joint, part->cut_slot++);
    }
}

void mabd_graph_order(mabd_graph* graph) {
    for (int32_t joint = 0; joint < graph->joint_count; joint++) graph->joint_slot[joint] = -1;
    int32_t slot = 0;
    for (int32_t i = 0; i < graph->part_count; i++) {
        mabd_graph_part* part = &graph->parts[i];
        bool chain = part->kind == MABD_COMPONENT_CHAIN;
        slot = chain ? order_chain(graph, part, slot) : order_tree(graph, part, slot);
        part->cut_slot = slot;
        slot += part->loops;
    }
    order_cuts(graph);
}
