// SPDX-License-Identifier: Apache-2.0
// Coordinates of joints describe a mechanism without rows as long as its joints form a tree from
// the ground. Every joint that is not in the tree (a cut joint) costs its rows, so the tree is a
// spanning tree of greatest width, with the ground as one more node:
//
//   Kruskal over the joints, sorted by (width falling, kept first, d(a) + d(b), index)
//
// where d is the distance from the ground over all joints and d(ground) = 0. If all widths are the
// same, the joints from level n to n + 1 have key 2n + 1, those within a level 2n, and the tree is
// a breadth-first one: each body has the least depth. With several widths least depth among the
// trees of greatest width is no matroid problem any more; the key is then a good guess.
//
// A component without a joint to the ground has a free root. With cycles it keeps the tree and root
// of mabd_tree_init; without, its only tree hangs at its middle: half-way between the two ends of a
// longest path, which two searches find.
#include "topology/ground_tree.h"

#include <string.h>

/// Workspace. Node body_count + c of the union-find forest is the ground of component c.
typedef struct builder {
    const mabd_graph* graph;
    mabd_tree* tree;
    int32_t* distance;       // of a body from the ground over all joints, -1 = none (bodies)
    int32_t* queue;          // (moving)
    int32_t* up;             // union-find forest (bodies + components)
    int32_t* count;          // of a counting sort (2 bodies + 16)
    int32_t *joint, *sorted; // joints with rows (joints)
    uint8_t* in_tree;        // (joints)
    uint8_t* grounded;       // the component has a joint to the ground (components)
    size_t bytes;
} builder;

static void layout(builder* w, mabd_arena* arena) {
    const size_t bodies = (size_t)w->graph->body_count, joints = (size_t)w->graph->joint_count;
    const size_t components = (size_t)w->tree->component_count;
    w->distance = mabd_arena_take(arena, bodies, sizeof(int32_t));
    w->queue = mabd_arena_take(arena, (size_t)w->graph->moving_count, sizeof(int32_t));
    w->up = mabd_arena_take(arena, bodies + components, sizeof(int32_t));
    w->count = mabd_arena_take(arena, 2 * bodies + 16, sizeof(int32_t));
    w->joint = mabd_arena_take(arena, joints, sizeof(int32_t));
    w->sorted = mabd_arena_take(arena, joints, sizeof(int32_t));
    w->in_tree = mabd_arena_take(arena, joints, sizeof(uint8_t));
    w->grounded = mabd_arena_take(arena, components, sizeof(uint8_t));
}

static mabd_status allocate(const mabd_allocator* allocator, builder* w) {
    mabd_arena arena = {0};
    layout(w, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    w->bytes = arena.size;
    layout(w, &arena);
    return MABD_OK;
}

// ---- joints ------------------------------------------------------------------------------------

// The moving body at one end of a joint with rows; both: whether the other end moves too.
static int32_t moving_end(const mabd_graph* graph, int32_t joint, bool* both) {
    const int32_t a = mabd_graph_end(graph, joint, 0), b = mabd_graph_end(graph, joint, 1);
    *both = a >= 0 && b >= 0;
    return a >= 0 ? a : b;
}

// Component of a joint with rows.
static int32_t component_of(const builder* w, int32_t joint) {
    bool both;
    return w->tree->component[moving_end(w->graph, joint, &both)];
}

static int32_t key(const builder* w, int32_t joint, bool by_width) {
    const int32_t a = mabd_graph_end(w->graph, joint, 0), b = mabd_graph_end(w->graph, joint, 1);
    if (by_width) {
        const bool kept = w->graph->keep && w->graph->keep[joint];
        return 2 * (MABD_GRAPH_JOINT_ROWS - w->graph->width[joint]) + !kept;
    }
    return (a >= 0 ? w->distance[a] : 0) + (b >= 0 ? w->distance[b] : 0);
}

// Stable counting sort by one key.
static void sort(builder* w, int32_t n, bool by_width, const int32_t* from, int32_t* to) {
    const int32_t keys = by_width ? 2 * MABD_GRAPH_JOINT_ROWS + 2 : 2 * w->graph->body_count + 1;
    memset(w->count, 0, ((size_t)keys + 1) * sizeof *w->count);
    for (int32_t i = 0; i < n; i++) w->count[key(w, from[i], by_width) + 1]++;
    for (int32_t i = 0; i < keys; i++) w->count[i + 1] += w->count[i];
    for (int32_t i = 0; i < n; i++) to[w->count[key(w, from[i], by_width)]++] = from[i];
}

// ---- searches ----------------------------------------------------------------------------------

// Go on with a breadth-first search from the bodies that are in the queue; fills distance, and
// parents if only joints of the tree are passed. Returns the end of the queue.
static int32_t search(builder* w, int32_t end, bool tree_only) {
    const mabd_graph* graph = w->graph;
    for (int32_t next = 0; next < end; next++) {
        const int32_t body = w->queue[next];
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k];
            const int32_t to = mabd_graph_across(graph, joint, body);
            if (to < 0 || w->distance[to] >= 0 || (tree_only && !w->in_tree[joint])) continue;
            w->distance[to] = w->distance[body] + 1;
            if (tree_only) w->tree->parent[to] = body, w->tree->parent_joint[to] = joint;
            w->queue[end++] = to;
        }
    }
    return end;
}

// Put a root into the queue: at distance 1 from the ground if it hangs there by a joint, else 0.
static void add_root(builder* w, int32_t body, int32_t joint, int32_t* end) {
    w->distance[body] = joint >= 0;
    w->tree->parent[body] = -1, w->tree->parent_joint[body] = joint;
    w->queue[(*end)++] = body;
}

// Forget the distances of a component.
static void clear(builder* w, const mabd_tree_component* c) {
    for (int32_t i = 0; i < c->body_count; i++) {
        w->distance[w->tree->order[c->body_first + i]] = -1;
    }
}

// Put the bodies of a component that a joint connects to the ground into the queue.
static int32_t add_grounded(builder* w, const mabd_tree_component* c, bool tree_only) {
    int32_t end = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = w->tree->order[c->body_first + i];
        for (int32_t k = w->graph->start[body]; k < w->graph->start[body + 1]; k++) {
            const int32_t joint = w->graph->incident[k];
            if (mabd_graph_across(w->graph, joint, body) >= 0 || w->distance[body] >= 0) continue;
            if (!tree_only || w->in_tree[joint]) add_root(w, body, joint, &end);
        }
    }
    return end;
}

// Body in the middle of the tree of a component: half-way along a longest path.
static int32_t find_middle(builder* w, const mabd_tree_component* c) {
    int32_t far = w->tree->order[c->body_first];
    for (int round = 0; round < 2; round++) {
        int32_t end = 0;
        clear(w, c);
        add_root(w, far, -1, &end);
        far = w->queue[search(w, end, true) - 1];
    }
    for (int32_t up = w->distance[far] / 2; up > 0; up--) far = w->tree->parent[far];
    return far;
}

// ---- the trees ---------------------------------------------------------------------------------

static void find_distances(builder* w) {
    for (int32_t i = 0; i < w->tree->component_count; i++) {
        const mabd_tree_component* c = &w->tree->components[i];
        clear(w, c);
        const int32_t end = add_grounded(w, c, false);
        w->grounded[i] = end > 0;
        search(w, end, false);
    }
}

static int32_t find(int32_t* up, int32_t node) {
    while (up[node] != node) node = up[node] = up[up[node]];
    return node;
}

// Choose the joints of the trees of all components that reach the ground.
static void grow(builder* w) {
    const mabd_graph* graph = w->graph;
    const int32_t nodes = graph->body_count + w->tree->component_count;
    int32_t n = 0;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (graph->width[joint] > 0 && w->grounded[component_of(w, joint)]) w->joint[n++] = joint;
    }
    sort(w, n, false, w->joint, w->sorted);
    sort(w, n, true, w->sorted, w->joint);
    for (int32_t i = 0; i < nodes; i++) w->up[i] = i;
    for (int32_t i = 0; i < n; i++) {
        bool both;
        const int32_t joint = w->joint[i], body = moving_end(graph, joint, &both);
        const int32_t other = both ? mabd_graph_across(graph, joint, body)
                                   : graph->body_count + component_of(w, joint);
        const int32_t a = find(w->up, body), b = find(w->up, other);
        w->in_tree[joint] = a != b;
        w->up[a] = b;
    }
}

// Keep the tree that mabd_tree_init chose for a component without a joint to the ground.
static void keep(builder* w, const mabd_tree_component* c) {
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t joint = w->tree->parent_joint[w->tree->order[c->body_first + i]];
        if (joint >= 0) w->in_tree[joint] = 1;
    }
}

// Root of a component without a joint to the ground.
static int32_t free_root(builder* w, const mabd_tree_component* c) {
    const int32_t root = w->tree->order[c->body_first + c->body_count - 1]; // of mabd_tree_init
    return c->inner_count > c->body_count - 1 ? root : find_middle(w, c);
}

// Hang a component at the ground or at its free root, and write its part of order and levels.
static void hang(builder* w, int32_t index) {
    mabd_tree* tree = w->tree;
    mabd_tree_component* c = &tree->components[index];
    int32_t end = 0;
    if (w->grounded[index]) {
        clear(w, c);
        end = add_grounded(w, c, true);
    } else {
        keep(w, c);
        const int32_t root = free_root(w, c);
        clear(w, c);
        add_root(w, root, -1, &end);
    }
    search(w, end, true);
    c->level_first = tree->level_count;
    for (int32_t i = 0; i < c->body_count; i++) { // deepest first
        const int32_t body = w->queue[c->body_count - 1 - i];
        const bool next = i == 0 || w->distance[body] != tree->depth[w->queue[c->body_count - i]];
        tree->order[c->body_first + i] = body;
        tree->depth[body] = w->distance[body];
        if (next) tree->level_start[tree->level_count++] = c->body_first + i;
    }
    c->level_count = tree->level_count - c->level_first;
}

// ---- cut joints --------------------------------------------------------------------------------

static void count_cuts(const builder* w) {
    mabd_tree* tree = w->tree;
    tree->cut_count = 0;
    for (int32_t i = 0; i < tree->component_count; i++) {
        mabd_tree_component* c = &tree->components[i];
        const int32_t in_tree = c->body_count - (w->grounded[i] ? 0 : 1);
        c->cut_first = tree->cut_count, c->cut_count = 0, c->cut_rows = 0;
        tree->cut_count += c->joint_count - in_tree;
    }
}

// Components and cuts are one block: replace it by one that has room for the joints to the ground.
static mabd_status resize(const mabd_allocator* allocator, mabd_tree* tree) {
    mabd_tree_component* old = tree->components;
    const size_t old_bytes = tree->component_bytes, n = (size_t)tree->component_count;
    mabd_arena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        tree->components = mabd_arena_take(&arena, n, sizeof *tree->components);
        tree->cuts = mabd_arena_take(&arena, (size_t)tree->cut_count, sizeof *tree->cuts);
        if (pass > 0) break;
        if (mabd_arena_allocate(allocator, &arena) != MABD_OK) {
            tree->components = old; // mabd_tree_free releases it
            return MABD_ERR_MEMORY;
        }
    }
    if (n > 0) memcpy(tree->components, old, n * sizeof *old);
    mabd_free(allocator, old, old_bytes);
    tree->component_bytes = arena.size;
    return MABD_OK;
}

static void collect_cuts(builder* w) {
    mabd_tree* tree = w->tree;
    for (int32_t joint = 0; joint < w->graph->joint_count; joint++) {
        if (w->graph->width[joint] == 0 || w->in_tree[joint]) continue;
        mabd_tree_component* c = &tree->components[component_of(w, joint)];
        tree->cuts[c->cut_first + c->cut_count++] = joint;
        c->cut_rows += w->graph->width[joint];
    }
}

static mabd_status build(const mabd_allocator* allocator, builder* w) {
    mabd_tree* tree = w->tree;
    MABD_TRY(allocate(allocator, w));
    find_distances(w);
    count_cuts(w);
    MABD_TRY(resize(allocator, tree));
    grow(w);
    tree->level_count = 0;
    for (int32_t i = 0; i < tree->component_count; i++) hang(w, i);
    tree->level_start[tree->level_count] = w->graph->moving_count;
    collect_cuts(w);
    return MABD_OK;
}

mabd_status mabd_ground_tree_init(const mabd_allocator* allocator, const mabd_graph* graph,
                                  mabd_tree* tree) {
    MABD_TRY(mabd_tree_init(allocator, graph, tree));
    builder w = {.graph = graph, .tree = tree};
    const mabd_status status = build(allocator, &w);
    mabd_free(allocator, w.distance, w.bytes);
    if (status != MABD_OK) mabd_tree_free(allocator, tree);
    return status;
}
