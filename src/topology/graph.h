// SPDX-License-Identifier: Apache-2.0
// Scratch of a plan being built: the joints on each moving body, components, classes and order.
// graph.c fills the graph and its components, spanning.c chooses the trees of those with cycles, classify.c
// names their class, order.c numbers the slots, plan.c copies the result into a plan.
#pragma once

#include "topology/plan.h"

/// What classify and order need to know of a component.
typedef struct mabd_graph_part {
    int32_t body_first, body_count; // in bodies
    int32_t joint_count;            // with rows, those to the ground included
    int32_t inner_count;            // joints between two moving bodies
    int32_t junction_count;         // bodies that are junctions
    int32_t max_degree;             // joints on its busiest body
    int32_t loops;                  // independent cycles: inner_count - body_count + 1
    int32_t cut_slot;               // next free slot for a joint that closes a cycle
    int32_t sorted;                 // bodies already in order
    bool by_index;                  // bodies are to be in ascending order
    int64_t row_count;
    int64_t cut_rows; // of the joints that close cycles
    bool cycles_meet; // some joint lies on two of them
    mabd_component kind;
} mabd_graph_part;

typedef struct mabd_graph {
    int32_t body_count, joint_count; // as given
    const bool* moving;
    const int32_t *a, *b, *width;
    int32_t moving_count, active_count, part_count; // active: joints that have rows
    int32_t junction_count, slot_count; // slots: one for each active joint, two for each junction
    int32_t* start;                     // joints on a body, in incident (body_count + 1)
    int32_t* incident;                  // joints, ascending on each body
    int32_t* part;                      // component of a body, -1 = not moving (body_count)
    int32_t* parent;        // joint that leads to the root of the body's component, -1 = root
    int32_t* bodies;        // by component: breadth first from the root, later the plan's order
    mabd_graph_part* parts; // sorted by lowest body (part_count)
    bool* junction;         // (body_count)
    int32_t* seen_from;  // body, plus 1, whose joints were last seen to reach this one (body_count)
    int32_t* slot_joint; // joint of a slot; -1 - body for the slots of a junction (slot_count)
    int32_t* joint_slot; // its inverse, -1 = no rows (joint_count)
    int32_t* junction_slot; // first slot of a junction (body_count)
    int32_t* elimination;   // slots in order of elimination, from 0 in each component (slot_count)
    size_t bytes;
} mabd_graph;

/// Moving body at side 0 (a) or 1 (b) of a joint, -1 if that side does not move.
static inline int32_t mabd_graph_end(const mabd_graph* graph, int32_t joint, int side) {
    int32_t body = side ? graph->b[joint] : graph->a[joint];
    return body >= 0 && graph->moving[body] ? body : -1;
}
/// The moving body at the other end of a joint, -1 = ground.
static inline int32_t mabd_graph_across(const mabd_graph* graph, int32_t joint, int32_t body) {
    return mabd_graph_end(graph, joint, graph->a[joint] == body);
}

/// Check the joints, collect them by body and split the graph into components. The caller has set
/// body_count to b and width. MABD_ERR_ARG if a joint is not as mabd_plan_build demands.
mabd_status mabd_graph_init(const mabd_allocator* allocator, mabd_graph* graph);
/// Safe on a graph whose mabd_graph_init failed.
void mabd_graph_free(const mabd_allocator* allocator, mabd_graph* graph);
/// Bodies of a slot: those of its joint that move, or the junction itself; -1 = none.
static inline int32_t mabd_graph_slot_end(const mabd_graph* graph, int32_t slot, int side) {
    int32_t joint = graph->slot_joint[slot];
    if (joint >= 0) return mabd_graph_end(graph, joint, side);
    return side ? -1 : -1 - joint;
}

/// Class of a component whose counts are set.
mabd_component mabd_graph_classify(const mabd_graph_part* part);
/// Fill slot_joint, joint_slot and elimination, and put `bodies` into the order of the slots.
void mabd_graph_order(mabd_graph* graph);
