// SPDX-License-Identifier: Apache-2.0
// Slots, and the order of the bodies within a component. Slots are the order of elimination where the
// solver works in place, and follow the bodies where it does not: what is assembled body by body should
// lie in one place.
//
//   chain          along the path, from the end body with the lower index; a joint to the ground
//                  comes first on the first body and last on the last one. Bodies in path order.
//   tree           leaf to root: bodies by falling index if each has a higher one than its parent, else in reverse
//                  breadth-first order; each with its own two slots if it is a junction, its joints to the
//                  ground, then the joint to its parent. So all other joints of a body have
//                  lower slots than the joint to its parent. A large tree is cut into subtrees (base/parts.h),
//                  which come one group after the other, each in this order, and then what is above them: threads
//                  that eliminate groups go through memory as it lies.
//   loops, graph   bodies by index, each with its own two slots if it is a junction and those of its joints that have none
//                  yet. The order of elimination is kept beside: the joints of the chosen tree
//                  (spanning.c) as in a tree, then the cut joints (one per cycle) by index.
//
// O(bodies + joints).

#include "base/parts.h"
#include "topology/graph.h"

#include <string.h>

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

// Place the freedoms of a body if it is a junction, 6 in each of two slots. Returns the next slot.
static int32_t place_junction(mabd_graph* graph, int32_t body, int32_t slot) {
    if (!graph->junction[body]) return slot;
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

static int32_t carrier(const mabd_graph* graph, int32_t body) {
    const int32_t joint = graph->parent[body];
    return joint < 0 ? -1 : mabd_graph_across(graph, joint, body);
}

// Bodies (count), leaves first: size of the subtree of each, and the root of the one it is taken with, -1 = none.
static void find_subtrees(const mabd_graph* graph, int32_t count, const int32_t* bodies,
                          int32_t* size, int32_t* root) {
    const int32_t limit = mabd_tree_part_size(count);
    for (int32_t i = 0; i < count; i++) size[bodies[i]] = 1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t on = carrier(graph, bodies[i]);
        if (on >= 0) size[on] += size[bodies[i]];
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        const int32_t body = bodies[i], on = carrier(graph, body);
        root[body] = on >= 0 && root[on] >= 0 ? root[on] : size[body] <= limit ? body : -1;
    }
}

// Put subtrees that follow each other in groups, and the bodies of a group side by side, in the order they had. `sorted`:
// room for all bodies but the last, which carries all others.
static void gather_subtrees(mabd_graph* graph, int32_t count, int32_t* bodies, int32_t* sorted) {
    int32_t* root = graph->seen_from;
    int32_t* place =
        graph->junction_slot; // next of a group, at its first root; -1 - that at its others
    const int32_t limit = mabd_tree_part_size(count);
    int32_t first = -1, held = 0, next = 0;
    find_subtrees(graph, count, bodies, place, root);
    for (int32_t i = 0; i < count; i++) {
        const int32_t body = bodies[i];
        if (root[body] != body) continue;
        const int32_t size = place[body];
        if (held == 0) first = body;
        place[body] = held == 0 ? next : -1 - first;
        held = held + size < limit ? held + size : 0;
        next += size;
    }
    for (int32_t i = 0; i + 1 < count; i++) {
        const int32_t r = root[bodies[i]];
        const int32_t at = r < 0 ? next++ : place[place[r] < 0 ? -1 - place[r] : r]++;
        sorted[at] = bodies[i];
    }
    memcpy(bodies, sorted, (size_t)(count - 1) * sizeof *bodies);
}

static int32_t order_tree(mabd_graph* graph, const mabd_graph_part* part, int32_t slot) {
    int32_t* bodies = graph->bodies + part->body_first;
    reverse(part->body_count, bodies);
    if (part->loops == 0 && part->body_count >= MABD_TREE_LEAST) {
        gather_subtrees(graph, part->body_count, bodies, graph->elimination + slot);
    }
    for (int32_t i = 0; i < part->body_count; i++) {
        slot = place_junction(graph, bodies[i], slot);
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

// True if every body has a higher index than the one it hangs on.
static bool parents_are_lower(const mabd_graph* graph, const mabd_graph_part* part) {
    for (int32_t i = 0; i < part->body_count; i++) {
        const int32_t body = graph->bodies[part->body_first + i], joint = graph->parent[body];
        if (joint >= 0 && mabd_graph_across(graph, joint, body) > body) return false;
    }
    return true;
}

// Put the bodies of all components marked by_index in ascending order.
static void sort_bodies(mabd_graph* graph) {
    for (int32_t i = 0; i < graph->part_count; i++) graph->parts[i].sorted = 0;
    for (int32_t body = 0; body < graph->body_count; body++) {
        if (graph->part[body] < 0) continue;
        mabd_graph_part* part = &graph->parts[graph->part[body]];
        if (part->by_index) graph->bodies[part->body_first + part->sorted++] = body;
    }
}

// Give the slots from `first` on, which are in the order of elimination, to the bodies by index; that order is
// kept in `elimination`.
static void number_by_body(mabd_graph* graph, const mabd_graph_part* part, int32_t first) {
    const int32_t count = part->joint_count + 2 * part->junction_count;
    int32_t *order = graph->elimination + first, slot = first;
    for (int32_t k = 0; k < count; k++) {
        order[k] = graph->slot_joint[first + k];
        if (order[k] >= 0) graph->joint_slot[order[k]] = -1;
    }
    for (int32_t i = 0; i < part->body_count; i++) {
        const int32_t body = graph->bodies[part->body_first + i];
        graph->junction_slot[body] = slot;
        slot = place_junction(graph, body, slot);
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k];
            if (graph->joint_slot[joint] < 0) place(graph, joint, slot++);
        }
    }
    for (int32_t k = 0; k < count; k++) { // a junction's two follow each other
        const int32_t at =
            order[k] >= 0 ? graph->joint_slot[order[k]] : graph->junction_slot[-1 - order[k]]++;
        order[k] = at - first;
    }
}

void mabd_graph_order(mabd_graph* graph) {
    for (int32_t joint = 0; joint < graph->joint_count; joint++) graph->joint_slot[joint] = -1;
    for (int32_t i = 0; i < graph->part_count; i++) {
        mabd_graph_part* part = &graph->parts[i];
        part->by_index = part->kind == MABD_COMPONENT_TREE && parents_are_lower(graph, part);
    }
    sort_bodies(graph);
    int32_t slot = 0;
    for (int32_t i = 0; i < graph->part_count; i++) {
        mabd_graph_part* part = &graph->parts[i];
        bool chain = part->kind == MABD_COMPONENT_CHAIN;
        slot = chain ? order_chain(graph, part, slot) : order_tree(graph, part, slot);
        part->cut_slot = slot;
        slot += part->loops;
    }
    order_cuts(graph);

    for (int32_t i = 0; i < graph->part_count; i++) {
        graph->parts[i].by_index = graph->parts[i].loops > 0;
    }
    sort_bodies(graph);
    slot = 0;
    for (int32_t i = 0; i < graph->part_count; i++) {
        const mabd_graph_part* part = &graph->parts[i];
        const int32_t count = part->joint_count + 2 * part->junction_count;
        if (part->loops > 0) {
            number_by_body(graph, part, slot);
        } else {
            for (int32_t k = 0; k < count; k++) graph->elimination[slot + k] = k;
        }
        slot += count;
    }
}
