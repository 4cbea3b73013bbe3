// SPDX-License-Identifier: Apache-2.0
// Joints by body, and connected components. Nodes are moving bodies, edges are joints with rows
// between two of them; a joint with one moving end counts for the degree of that body only.
//
// Components are found breadth first from their lowest body, which becomes the root. The visiting
// order and the joint by which each body was reached are kept: read backwards, that order meets
// every body before the one it hangs on. O(bodies + joints).
//
// Junctions. A body couples all its joints with each other in K = J H^-1 J': r rows make a dense block whose
// elimination takes r^3 / 3 products. With the 12 freedoms z of the body as unknowns of their own,
//
//   | K'  J | |lambda|   | b |       K' without the body's share; z = H^-1 J' lambda puts it back
//   | J' -H | |  z   | = | 0 |
//
// a row is coupled with these 12 only, and r rows take about (w^2 / 3 + 12 w + 144) r products, w = rows of a
// joint. Joints to the ground do not count: K' of such a joint is zero, it comes after
// the junction's slots and is coupled with the others there as if the junction were none.

#include "topology/graph.h"

static bool joint_is_valid(const mabd_graph* graph, int32_t joint) {
    int32_t a = graph->a[joint], b = graph->b[joint], width = graph->width[joint];
    if (a < -1 || a >= graph->body_count || b < -1 || b >= graph->body_count) return false;
    if (width < 0 || width > MABD_PLAN_SLOT_ROWS) return false;
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

static void layout(mabd_graph* graph, size_t sides, mabd_arena* arena) {
    size_t bodies = (size_t)graph->body_count, joints = (size_t)graph->joint_count;
    size_t moving = (size_t)graph->moving_count;
    size_t junctions = sides * MABD_PLAN_SLOT_ROWS / MABD_PLAN_JUNCTION_ROWS; // no more than that
    size_t slots = (size_t)graph->active_count + 2 * junctions;
    graph->start = mabd_arena_take(arena, bodies + 1, sizeof(int32_t));
    graph->incident = mabd_arena_take(arena, sides, sizeof(int32_t));
    graph->part = mabd_arena_take(arena, bodies, sizeof(int32_t));
    graph->parent = mabd_arena_take(arena, bodies, sizeof(int32_t));
    graph->bodies = mabd_arena_take(arena, moving, sizeof(int32_t));
    graph->parts = mabd_arena_take(arena, moving, sizeof(mabd_graph_part));
    graph->slot_joint = mabd_arena_take(arena, slots, sizeof(int32_t));
    graph->elimination = mabd_arena_take(arena, slots, sizeof(int32_t));
    graph->junction_slot = mabd_arena_take(arena, bodies, sizeof(int32_t));
    graph->joint_slot = mabd_arena_take(arena, joints, sizeof(int32_t));
    graph->junction = mabd_arena_take(arena, bodies, sizeof(bool));
    graph->seen_from = mabd_arena_take(arena, bodies, sizeof(int32_t));
}

static mabd_status allocate(const mabd_allocator* allocator, size_t sides, mabd_graph* graph) {
    mabd_arena arena = {NULL, 0, 0};
    layout(graph, sides, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    graph->bytes = arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(graph, sides, &arena);
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

// False for a joint beside another one between the same bodies: several joints to one body do not make a junction.
static bool is_new_neighbour(mabd_graph* graph, int32_t body, int32_t joint) {
    int32_t* seen = &graph->seen_from[mabd_graph_across(graph, joint, body)];
    if (*seen == body + 1) return false;
    *seen = body + 1;
    return true;
}

// Add what the joints of a body say about it and its component; a joint with two moving ends is
// counted at its end a.
static void count_body(mabd_graph* graph, int32_t body, mabd_graph_part* part) {
    int32_t degree = graph->start[body + 1] - graph->start[body];
    int64_t inner_rows = 0;
    if (degree > part->max_degree) part->max_degree = degree;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        int32_t joint = graph->incident[k];
        bool inner = mabd_graph_across(graph, joint, body) >= 0;
        if (inner && is_new_neighbour(graph, body, joint)) inner_rows += graph->width[joint];
        if (inner && graph->a[joint] != body) continue;
        part->joint_count++;
        part->inner_count += inner;
        part->row_count += graph->width[joint];
    }
    graph->junction[body] = inner_rows >= MABD_PLAN_JUNCTION_ROWS;
    part->junction_count += graph->junction[body];
}

// Breadth-first search from root; `bodies` is its queue, `first` the place of the root in it.
// Returns the end of the queue.
static int32_t visit(mabd_graph* graph, int32_t root, int32_t first) {
    int32_t index = graph->part_count++, end = first;
    mabd_graph_part* part = &graph->parts[index];
    graph->part[root] = index;
    graph->parent[root] = -1;
    graph->bodies[end++] = root;
    for (int32_t next = first; next < end; next++) {
        int32_t body = graph->bodies[next];
        count_body(graph, body, part);
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            int32_t joint = graph->incident[k], other = mabd_graph_across(graph, joint, body);
            if (other < 0 || graph->part[other] >= 0) continue;
            graph->part[other] = index;
            graph->parent[other] = joint;
            graph->bodies[end++] = other;
        }
    }
    part->body_first = first;
    part->body_count = end - first;
    part->loops = part->inner_count - part->body_count + 1;
    part->kind = mabd_graph_classify(part);
    return end;
}

mabd_status mabd_graph_init(const mabd_allocator* allocator, mabd_graph* graph) {
    graph->start = NULL;
    graph->part_count = 0;
    int64_t sides = count_sides(graph);
    if (sides < 0) return MABD_ERR_ARG;
    if (sides > INT32_MAX) return MABD_ERR_MEMORY;
    MABD_TRY(allocate(allocator, (size_t)sides, graph));
    collect_joints(graph);

    for (int32_t i = 0; i < graph->body_count; i++) graph->part[i] = -1;
    int32_t end = 0;
    for (int32_t body = 0; body < graph->body_count; body++) {
        if (graph->moving[body] && graph->part[body] < 0) end = visit(graph, body, end);
    }
    graph->junction_count = 0;
    for (int32_t i = 0; i < graph->part_count; i++)
        graph->junction_count += graph->parts[i].junction_count;
    graph->slot_count = graph->active_count + 2 * graph->junction_count;
    return MABD_OK;
}

void mabd_graph_free(const mabd_allocator* allocator, mabd_graph* graph) {
    mabd_free(allocator, graph->start, graph->bytes);
    graph->start = NULL;
}
