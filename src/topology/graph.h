// SPDX-License-Identifier: Apache-2.0
// The joint graph of a model: the joints that have rows, by moving body. Integers only.
//
// Nodes are the moving bodies. Edges are the joints with rows between two of them. Fixed and
// scripted bodies and the world are the ground, which is no node: a joint to the ground belongs to
// its one moving body.
#pragma once

#include "base/memory.h"

/// Most rows of a joint.
#define MABD_GRAPH_JOINT_ROWS 6

typedef struct mabd_graph {
    int32_t body_count, joint_count;
    const bool* moving;   // the body is dynamic (body_count)
    const int32_t *a, *b; // bodies of a joint, -1 = world (joint_count)
    const int32_t* width; // rows of a joint, 0..6; joints without rows are ignored (joint_count)
    const bool* keep;     // joints that a ground tree takes before others of their width
                          // (joint_count), null = none
    int32_t moving_count; // moving bodies
    int32_t active_count; // joints that have rows
    int32_t side_count;   // moving ends of these joints
    int32_t* start;       // joints on a body, in incident (body_count + 1)
    int32_t* incident;    // joints, ascending on each body
    size_t bytes;
} mabd_graph;

/// Moving body at side 0 (a) or 1 (b) of a joint, -1 if that side does not move.
static inline int32_t mabd_graph_end(const mabd_graph* graph, int32_t joint, int side) {
    int32_t body = side ? graph->b[joint] : graph->a[joint];
    return body >= 0 && graph->moving[body] ? body : -1;
}

/// The moving body at the other end of a joint of `body`, -1 = ground.
static inline int32_t mabd_graph_across(const mabd_graph* graph, int32_t joint, int32_t body) {
    return mabd_graph_end(graph, joint, graph->a[joint] == body);
}

/// True if a joint has rows and moving bodies at both ends.
static inline bool mabd_graph_is_inner(const mabd_graph* graph, int32_t joint) {
    return graph->width[joint] > 0 && mabd_graph_end(graph, joint, 0) >= 0 &&
           mabd_graph_end(graph, joint, 1) >= 0;
}

/// Check the joints and collect them by body, in O(bodies + joints). The caller has set body_count,
/// joint_count, moving, a, b and width, and keeps these arrays as long as the graph. MABD_ERR_ARG
/// if a body index or width is out of range, or if a joint with rows has no moving body or the same
/// one twice. MABD_ERR_MEMORY also if there are more than INT32_MAX moving ends of joints.
mabd_status mabd_graph_init(const mabd_allocator* allocator, mabd_graph* graph);
/// Free the arrays of a graph. Allowed after mabd_graph_init failed.
void mabd_graph_free(const mabd_allocator* allocator, mabd_graph* graph);
