// SPDX-License-Identifier: Apache-2.0
// Components are found breadth first from their lowest body. `order` is the queue, so while the
// tree is built it runs from the root to the leaves; finish() reverses it. Read backwards, a
// breadth-first order meets every body before its parent, and the bodies of one level are
// consecutive.
#include "topology/spanning.h"
#include "topology/tree.h"

// ---- components --------------------------------------------------------------------------------

// Breadth-first search from root, whose place in the queue is `first`. Returns the end of the
// queue.
static int32_t visit(const mabd_graph* graph, mabd_tree* tree, int32_t root, int32_t first) {
    int32_t end = first;
    tree->component[root] = tree->component_count;
    tree->parent[root] = tree->parent_joint[root] = -1;
    tree->order[end++] = root;
    for (int32_t next = first; next < end; next++) {
        const int32_t body = tree->order[next];
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k];
            const int32_t other = mabd_graph_across(graph, joint, body);
            if (other < 0 || tree->component[other] >= 0) continue;
            tree->component[other] = tree->component_count;
            tree->parent[other] = body;
            tree->parent_joint[other] = joint;
            tree->order[end++] = other;
        }
    }
    tree->component_count++;
    return end;
}

static void find_components(const mabd_graph* graph, mabd_tree* tree) {
    int32_t end = 0;
    for (int32_t body = 0; body < graph->body_count; body++) {
        tree->component[body] = tree->parent[body] = tree->parent_joint[body] = -1;
        tree->depth[body] = -1;
    }
    for (int32_t body = 0; body < graph->body_count; body++) {
        if (graph->moving[body] && tree->component[body] < 0) end = visit(graph, tree, body, end);
    }
}

// Add the joints of a body to the counts of its component; a joint with two moving ends is counted
// at its end a.
static void count_joints(const mabd_graph* graph, int32_t body, mabd_tree_component* c) {
    const int32_t degree = graph->start[body + 1] - graph->start[body];
    if (degree > c->max_degree) c->max_degree = degree;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        const int32_t joint = graph->incident[k];
        const bool inner = mabd_graph_across(graph, joint, body) >= 0;
        if (inner && graph->a[joint] != body) continue;
        c->joint_count++;
        c->inner_count += inner;
        c->row_count += graph->width[joint];
    }
}

// Fill the components, whose bodies are known, up to their trees.
static void count_components(const mabd_graph* graph, mabd_tree* tree) {
    int32_t cut = 0;
    for (int32_t at = 0, i = 0; i < tree->component_count; i++) {
        mabd_tree_component* c = &tree->components[i];
        c->body_first = at;
        for (; at < graph->moving_count && tree->component[tree->order[at]] == i; at++) {
            count_joints(graph, tree->order[at], c);
        }
        c->body_count = at - c->body_first;
        c->cut_first = cut;
        c->cut_count = c->inner_count - c->body_count + 1;
        cut += c->cut_count;
    }
}

static mabd_component classify(const mabd_tree_component* c) {
    if (c->joint_count == 0) return MABD_COMPONENT_FREE;
    if (c->cut_count == 0) {
        return c->max_degree <= 2 ? MABD_COMPONENT_CHAIN : MABD_COMPONENT_TREE;
    }
    return c->cycles_meet ? MABD_COMPONENT_GRAPH : MABD_COMPONENT_LOOPS;
}

// ---- order and levels --------------------------------------------------------------------------

static void reverse(int32_t count, int32_t* items) {
    for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
        const int32_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

// Reverse the order of a component, which runs from the root to the leaves, and split it into
// levels.
static void find_levels(mabd_tree* tree, mabd_tree_component* c) {
    int32_t* order = tree->order + c->body_first;
    for (int32_t i = 0; i < c->body_count; i++) { // parents first
        const int32_t body = order[i], parent = tree->parent[body];
        tree->depth[body] = parent < 0 ? 0 : tree->depth[parent] + 1;
    }
    reverse(c->body_count, order);
    c->level_first = tree->level_count;
    c->level_count = tree->depth[order[0]] + 1;
    for (int32_t i = 0; i < c->body_count; i++) {
        if (i > 0 && tree->depth[order[i]] == tree->depth[order[i - 1]]) continue;
        tree->level_start[tree->level_count++] = c->body_first + i;
    }
}

// Joints between two moving bodies that are no parent joint.
static void collect_cuts(const mabd_graph* graph, mabd_tree* tree) {
    for (int32_t i = 0; i < tree->component_count; i++) tree->components[i].cut_count = 0;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (!mabd_graph_is_inner(graph, joint)) continue;
        const int32_t a = graph->a[joint], b = graph->b[joint];
        if (tree->parent_joint[a] == joint || tree->parent_joint[b] == joint) continue;
        mabd_tree_component* c = &tree->components[tree->component[a]];
        tree->cuts[c->cut_first + c->cut_count++] = joint;
        c->cut_rows += graph->width[joint];
    }
}

static void finish(const mabd_graph* graph, mabd_tree* tree) {
    collect_cuts(graph, tree);
    for (int32_t i = 0; i < tree->component_count; i++) {
        mabd_tree_component* c = &tree->components[i];
        c->kind = classify(c);
        find_levels(tree, c);
    }
    tree->level_start[tree->level_count] = graph->moving_count;
}

// ---- memory ------------------------------------------------------------------------------------

static void layout_bodies(const mabd_graph* graph, mabd_tree* tree, mabd_arena* arena) {
    const size_t bodies = (size_t)graph->body_count, moving = (size_t)graph->moving_count;
    tree->component = mabd_arena_take(arena, bodies, sizeof(int32_t));
    tree->parent = mabd_arena_take(arena, bodies, sizeof(int32_t));
    tree->parent_joint = mabd_arena_take(arena, bodies, sizeof(int32_t));
    tree->depth = mabd_arena_take(arena, bodies, sizeof(int32_t));
    tree->order = mabd_arena_take(arena, moving, sizeof(int32_t));
    tree->level_start = mabd_arena_take(arena, moving + 1, sizeof(int32_t));
}

static mabd_status allocate_bodies(const mabd_allocator* allocator, const mabd_graph* graph,
                                   mabd_tree* tree) {
    mabd_arena arena = {0};
    layout_bodies(graph, tree, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    tree->body_bytes = arena.size;
    layout_bodies(graph, tree, &arena);
    return MABD_OK;
}

static void layout_components(mabd_tree* tree, mabd_arena* arena) {
    const size_t components = (size_t)tree->component_count, cuts = (size_t)tree->cut_count;
    tree->components = mabd_arena_take(arena, components, sizeof(mabd_tree_component));
    tree->cuts = mabd_arena_take(arena, cuts, sizeof(int32_t));
}

static mabd_status allocate_components(const mabd_allocator* allocator, mabd_tree* tree) {
    mabd_arena arena = {0};
    layout_components(tree, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    tree->component_bytes = arena.size;
    layout_components(tree, &arena);
    return MABD_OK;
}

// Cut joints of all components: n bodies in c trees leave m - n + c of m joints.
static int32_t count_cuts(const mabd_graph* graph, const mabd_tree* tree) {
    int32_t inner = 0;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        inner += mabd_graph_is_inner(graph, joint);
    }
    return inner - graph->moving_count + tree->component_count;
}

static mabd_status build(const mabd_allocator* allocator, const mabd_graph* graph,
                         mabd_tree* tree) {
    MABD_TRY(allocate_bodies(allocator, graph, tree));
    find_components(graph, tree);
    tree->cut_count = count_cuts(graph, tree);
    MABD_TRY(allocate_components(allocator, tree));
    count_components(graph, tree);
    if (tree->cut_count > 0) MABD_TRY(mabd_tree_span(allocator, graph, tree));
    finish(graph, tree);
    return MABD_OK;
}

mabd_status mabd_tree_init(const mabd_allocator* allocator, const mabd_graph* graph,
                           mabd_tree* tree) {
    *tree = (mabd_tree){0};
    mabd_status status = build(allocator, graph, tree);
    if (status != MABD_OK) mabd_tree_free(allocator, tree);
    return status;
}

void mabd_tree_free(const mabd_allocator* allocator, mabd_tree* tree) {
    mabd_free(allocator, tree->component, tree->body_bytes);
    mabd_free(allocator, tree->components, tree->component_bytes);
    *tree = (mabd_tree){0};
}
