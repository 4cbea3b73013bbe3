// SPDX-License-Identifier: Apache-2.0
// Slots: the places of joints and junctions in the dual system. Scratch of a plan that is being
// built.
#pragma once

#include "topology/plan.h"
#include "topology/tree.h"

typedef struct mabd_slots {
    const mabd_graph* graph;
    const mabd_tree* tree;
    int32_t junction_count;
    int32_t junction_slots; // of each junction, of 6 freedoms each: 1 or 2
    int32_t slot_count;     // one slot for each active joint, those of junctions
    bool* junction;         // the body is a junction (body_count)
    int32_t* junctions;     // junctions of a component (component_count)
    int32_t* bodies;        // moving bodies by component, in the order of the slots (moving_count)
    int32_t* slot_joint;    // joint of a slot; -1 - body for the slots of a junction (slot_count)
    int32_t* joint_slot;    // slot of a joint, -1 = the joint has no rows (joint_count)
    int32_t* elimination;   // slots in order of elimination, from 0 in each component (slot_count)
    int32_t *mark, *place;  // scratch (body_count)
    int32_t* sorted;        // scratch: bodies of a component sorted so far (component_count)
    bool* by_index;         // scratch: bodies of a component get sorted by index (component_count)
    size_t bytes;
} mabd_slots;

/// Find the junctions of a graph, number its slots and order its bodies, in O(bodies + joints).
/// junction_slots: 1 or 2, slots of 6 freedoms that a junction has.
/// `slots` points to graph and tree, which must outlive it. On failure (MABD_ERR_MEMORY) it holds
/// nothing.
mabd_status mabd_slots_init(const mabd_allocator* allocator, const mabd_graph* graph,
                            const mabd_tree* tree, int32_t junction_slots, mabd_slots* slots);
/// Free the arrays of slots. Allowed after mabd_slots_init failed.
void mabd_slots_free(const mabd_allocator* allocator, mabd_slots* slots);

/// Number of slots of a component.
static inline int32_t mabd_slots_of(const mabd_slots* slots, int32_t component) {
    return slots->tree->components[component].joint_count +
           slots->junction_slots * slots->junctions[component];
}

/// Bodies of a slot: at side 0 (a) or 1 (b) the moving body of its joint, or at side 0 the junction
/// itself; -1 = none.
static inline int32_t mabd_slots_end(const mabd_slots* slots, int32_t slot, int side) {
    int32_t joint = slots->slot_joint[slot];
    if (joint >= 0) return mabd_graph_end(slots->graph, joint, side);
    return side ? -1 : -1 - joint;
}
