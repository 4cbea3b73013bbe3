// SPDX-License-Identifier: Apache-2.0
// The spanning tree of a component with cycles: tree joints T, one cut joint per independent cycle
// C. Eliminated from leaf to root through T, then through C, the dual matrix is
//
//   [ K_TT  K_TC ]   [ L_T      ] [ d_T       ] [ L_T' W' ]    L_T d_T L_T' = K_TT  no fill: a tree
//   [ K_CT  K_CC ] = [ W    L_S ] [       d_S ] [      L_S']   W = K_CT L_T^-T d_T^-1
//                                                              S = K_CC - W d_T W'  dense
//
// which is the Schur complement S of the cut rows over the tree solve, without any code of its own.
// Two things set its cost:
//
//   size of S      The rows of C. Spanning trees are the bases of a matroid, so the greedy choice
//                  (Kruskal 1956: wide joints first) makes the rows of T the most and those of C
//                  the fewest.
//   entries of W   Eliminating joints from a leaf on carries a cut joint along: it is coupled with
//                  every joint that can be reached through eliminated joints. So its rows are
//                  below every tree joint on the paths from both of its bodies to the root: as many
//                  as their depths. Among joints equally wide, those nearer to the middle are
//                  taken first, and the middle is the root.
//
// The middle is the body whose farthest body is nearest. Searches from far bodies bound that
// distance from below for all others; the next search starts where the bound is least, and
// continues from the body it reaches last. Where the bound is met there is no better body; that
// takes a few rounds, and after six the best body found is taken. With depths d(body) from it,
// joints are sorted by (width falling, d(a) + d(b), index). If all widths are the same this gives a
// breadth-first tree: the joints from level n to n + 1 have key 2n + 1, those within a level 2n, so
// each body is reached from the level before.
//
// Cycles meet if some joint lies on two of the cycles that the cut joints close: going up from both
// ends of each cut joint to where the paths join, a tree joint is passed for a second time. Single
// joints depend on the tree, the answer does not: if no two fundamental cycles share a joint, there
// are no other cycles (every cycle is a sum of them), whatever tree is taken.
#include "topology/spanning.h"

#define ROUNDS 6

typedef struct spanning {
    const mabd_graph* graph;
    mabd_tree* tree;
    int32_t* depth;  // of a body: from the middle, then along the tree; -1 = not reached (bodies)
    int32_t* bound;  // lower bound of the distance to the farthest body (bodies)
    int32_t* link;   // joint by which a body was reached; or its parent in a union-find (bodies)
    int32_t* queue;  // (moving)
    int32_t* middle; // of a component (components)
    int32_t* count;  // of a counting sort (2 bodies + 8)
    int32_t *joint, *sorted; // joints that lie in components with cycles (joints)
    uint8_t* in_tree;        // the joint is in the tree (joints)
    uint8_t* passed;         // the joint to a body's parent lies on a cycle (bodies)
    size_t bytes;
} spanning;

static void layout(spanning* s, mabd_arena* arena) {
    const size_t bodies = (size_t)s->graph->body_count, joints = (size_t)s->graph->joint_count;
    s->depth = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->bound = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->link = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->queue = mabd_arena_take(arena, (size_t)s->graph->moving_count, sizeof(int32_t));
    s->middle = mabd_arena_take(arena, (size_t)s->tree->component_count, sizeof(int32_t));
    s->count = mabd_arena_take(arena, 2 * bodies + 8, sizeof(int32_t));
    s->joint = mabd_arena_take(arena, joints, sizeof(int32_t));
    s->sorted = mabd_arena_take(arena, joints, sizeof(int32_t));
    s->in_tree = mabd_arena_take(arena, joints, sizeof(uint8_t));
    s->passed = mabd_arena_take(arena, bodies, sizeof(uint8_t));
}

static mabd_status allocate(const mabd_allocator* allocator, spanning* s) {
    mabd_arena arena = {0};
    layout(s, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    s->bytes = arena.size;
    layout(s, &arena);
    return MABD_OK;
}

// ---- the middle --------------------------------------------------------------------------------

// Breadth first from root over all joints, or over those of the tree; fills depth, link and queue.
// Returns the last body reached.
static int32_t search(spanning* s, const mabd_tree_component* c, int32_t root, bool tree_only) {
    const mabd_graph* graph = s->graph;
    const int32_t* bodies = s->tree->order + c->body_first;
    int32_t end = 0;
    for (int32_t i = 0; i < c->body_count; i++) s->depth[bodies[i]] = -1;
    s->queue[end++] = root;
    s->depth[root] = 0;
    s->link[root] = -1;
    for (int32_t next = 0; next < end; next++) {
        const int32_t body = s->queue[next];
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k], to = mabd_graph_across(graph, joint, body);
            if (to < 0 || s->depth[to] >= 0 || (tree_only && !s->in_tree[joint])) continue;
            s->depth[to] = s->depth[body] + 1;
            s->link[to] = joint;
            s->queue[end++] = to;
        }
    }
    return s->queue[end - 1];
}

// bound (by body): the largest distance from a body found so far.
static int32_t find_middle(spanning* s, const mabd_tree_component* c) {
    const int32_t* bodies = s->tree->order + c->body_first;
    int32_t middle = bodies[0], next = middle, least = INT32_MAX;
    for (int32_t i = 0; i < c->body_count; i++) s->bound[bodies[i]] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int32_t far = search(s, c, next, false);
        if (s->depth[far] < least) least = s->depth[far], middle = next;
        search(s, c, far, false);
        for (int32_t i = 0; i < c->body_count; i++) {
            const int32_t body = bodies[i];
            if (s->depth[body] > s->bound[body]) s->bound[body] = s->depth[body];
        }
        for (int32_t i = 0; i < c->body_count; i++) {
            if (s->bound[bodies[i]] < s->bound[next]) next = bodies[i];
        }
        if (s->bound[next] >= least) break;
    }
    return middle;
}

// ---- the tree ----------------------------------------------------------------------------------

static int32_t key(const spanning* s, int32_t joint, bool by_width) {
    const mabd_graph* graph = s->graph;
    return by_width ? 6 - graph->width[joint]
                    : s->depth[graph->a[joint]] + s->depth[graph->b[joint]];
}

// Stable counting sort by one key.
static void sort(spanning* s, int32_t count, bool by_width, const int32_t* from, int32_t* to) {
    const int32_t keys = by_width ? 7 : 2 * s->graph->body_count;
    for (int32_t i = 0; i <= keys; i++) s->count[i] = 0;
    for (int32_t i = 0; i < count; i++) s->count[key(s, from[i], by_width) + 1]++;
    for (int32_t i = 0; i < keys; i++) s->count[i + 1] += s->count[i];
    for (int32_t i = 0; i < count; i++) to[s->count[key(s, from[i], by_width)]++] = from[i];
}

// Root of a body in the union-find forest, halving the paths.
static int32_t find(int32_t* up, int32_t body) {
    while (up[body] != body) body = up[body] = up[up[body]];
    return body;
}

static mabd_tree_component* component_of(const spanning* s, int32_t joint) {
    return &s->tree->components[s->tree->component[s->graph->a[joint]]];
}

static void grow_trees(spanning* s) {
    const mabd_graph* graph = s->graph;
    int32_t count = 0;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (!mabd_graph_is_inner(graph, joint)) continue;
        if (component_of(s, joint)->cut_count > 0) s->joint[count++] = joint;
    }
    sort(s, count, false, s->joint, s->sorted);
    sort(s, count, true, s->sorted, s->joint);
    for (int32_t body = 0; body < graph->body_count; body++) s->link[body] = body;
    for (int32_t i = 0; i < count; i++) {
        const int32_t joint = s->joint[i];
        const int32_t a = find(s->link, graph->a[joint]), b = find(s->link, graph->b[joint]);
        s->in_tree[joint] = a != b;
        s->link[a > b ? a : b] = a > b ? b : a;
    }
}

// ---- the result --------------------------------------------------------------------------------

// Root the tree of a component at its middle.
static void hang(spanning* s, const mabd_tree_component* c, int32_t root) {
    mabd_tree* tree = s->tree;
    search(s, c, root, true);
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = s->queue[i], joint = s->link[body];
        tree->order[c->body_first + i] = body;
        tree->parent_joint[body] = joint;
        tree->parent[body] = joint < 0 ? -1 : mabd_graph_across(s->graph, joint, body);
    }
}

// Go up from both ends of a cut joint; true if another cycle passed the same joint before.
static bool passes_twice(spanning* s, int32_t joint) {
    int32_t a = s->graph->a[joint], b = s->graph->b[joint];
    while (a != b) {
        int32_t* lower = s->depth[a] > s->depth[b] ? &a : &b;
        if (s->passed[*lower]) return true;
        s->passed[*lower] = 1;
        *lower = s->tree->parent[*lower];
    }
    return false;
}

static void find_meetings(spanning* s) {
    for (int32_t joint = 0; joint < s->graph->joint_count; joint++) {
        if (!mabd_graph_is_inner(s->graph, joint) || s->in_tree[joint]) continue;
        mabd_tree_component* c = component_of(s, joint);
        if (c->cut_count > 0 && !c->cycles_meet) c->cycles_meet = passes_twice(s, joint);
    }
}

mabd_status mabd_tree_span(const mabd_allocator* allocator, const mabd_graph* graph,
                           mabd_tree* tree) {
    spanning s = {.graph = graph, .tree = tree};
    MABD_TRY(allocate(allocator, &s));
    for (int32_t i = 0; i < tree->component_count; i++) {
        const mabd_tree_component* c = &tree->components[i];
        if (c->cut_count == 0) continue;
        s.middle[i] = find_middle(&s, c);
        search(&s, c, s.middle[i], false);
    }
    grow_trees(&s);
    for (int32_t i = 0; i < tree->component_count; i++) {
        if (tree->components[i].cut_count > 0) hang(&s, &tree->components[i], s.middle[i]);
    }
    find_meetings(&s);
    mabd_free(allocator, s.depth, s.bytes);
    return MABD_OK;
}
