// SPDX-License-Identifier: Apache-2.0
#include "topology/graph.h"

static bool joint_is_valid(const mabd_graph* graph, int32_t joint) {
    int32_t a = graph->a[joint], b = graph->b[joint], width = graph->width[joint];
    if (a < -1 || a >= graph->body_count || b < -1 || b >= graph->body_count) return false;
    if (width < 0 || width > MABD_GRAPH_JOINT_ROWS) return false;
    if (width == 0) return true;
    if (a == b) return false;
    return mabd_graph_end(graph, joint, 0) >= 0 || mabd_graph_end(graph, joint, 1) >= 0;
}

// Number of sides (moving ends of joints with rows); -1 if a joint is not valid.
static int64_t count_sides(mabd_graph* graph) {
    int64_t sides = 0;
    graph->active_count = graph->moving_count = 0;
    for (int32_t body = 0; body < graph->body_count; body++) {
        graph->moving_count += graph->moving[body];
    }
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (!joint_is_valid(graph, joint)) return -1;
        if (graph->width[joint] == 0) continue;
        graph->active_count++;
        for (int side = 0; side < 2; side++) sides += mabd_graph_end(graph, joint, side) >= 0;
    }
    return sides;
}

static void layout(mabd_graph* graph, mabd_arena* arena) {
    graph->start = mabd_arena_take(arena, (size_t)graph->body_count + 1, sizeof(int32_t));
    graph->incident = mabd_arena_take(arena, (size_t)graph->side_count, sizeof(int32_t));
}

static mabd_status allocate(const mabd_allocator* allocator, mabd_graph* graph) {
    mabd_arena arena = {0};
    layout(graph, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    graph->bytes = arena.size;
    layout(graph, &arena);
    return MABD_OK;
}

// Counting sort of the joints by body: start[body + 1] counts, then runs as the place to fill.
static void collect_joints(mabd_graph* graph) {
    int32_t* start = graph->start;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t joint = 0; joint < graph->joint_count; joint++) {
            if (graph->width[joint] == 0) continue;
            for (int side = 0; side < 2; side++) {
                int32_t body = mabd_graph_end(graph, joint, side);
                if (body < 0) continue;
                if (pass == 0) {
                    start[body + 1]++;
                } else {
                    graph->incident[start[body]++] = joint;
                }
            }
        }
        if (pass == 0) {
            for (int32_t i = 0; i < graph->body_count; i++) start[i + 1] += start[i];
        }
    }
    for (int32_t i = graph->body_count; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
}

mabd_status mabd_graph_init(const mabd_allocator* allocator, mabd_graph* graph) {
    graph->start = NULL;
    int64_t sides = count_sides(graph);
    if (sides < 0) return MABD_ERR_ARG;
    if (sides > INT32_MAX) return MABD_ERR_MEMORY;
    graph->side_count = (int32_t)sides;
    MABD_TRY(allocate(allocator, graph));
    collect_joints(graph);
    return MABD_OK;
}

void mabd_graph_free(const mabd_allocator* allocator, mabd_graph* graph) {
    mabd_free(allocator, graph->start, graph->bytes);
    graph->start = NULL;
}
