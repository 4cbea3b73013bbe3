// SPDX-License-Identifier: Apache-2.0
//
// A component with cycles: tree joints T, one cut joint per independent cycle C. Slots run leaf to root
// through T, then through C. Eliminated in that order the dual matrix is
//
//     [ K_TT  K_TC ]   [ L_T      ] [ d_T       ] [ L_T' W' ]      L_T d_T L_T' = K_TT     no fill: a tree
//     [ K_CT  K_CC ] = [ W    L_S ] [       d_S ] [      L_S']     W = K_CT L_T^-T d_T^-1
//                                                                  S = K_CC - W d_T W'     dense, cut rows square
//
// which is the Schur complement S of the cut rows over the tree solve, without any code of its own. Two things
// set its cost:
//
//   size of S       the rows of C. Spanning trees are the bases of a matroid, so the greedy choice (Kruskal 1956: wide
//                   joints first) makes the rows of T the most and those of C the fewest.
//   entries of W    eliminating joints from a leaf on carries a cut joint along: it is coupled with every joint that
//                   can be reached through joints already gone. So its rows stand below every tree joint on the ways
//                   from both of its bodies to the root: as many as their depths. Among joints equally wide, those
//                   nearer to the middle are taken first, and the middle is the root.
//
// The middle is the body whose farthest body is nearest. Searches from far bodies bound that distance from
// below for all others; the next search starts where the bound is least, and goes on from the body it
// reaches last. Where the bound is met there is no better one; that takes a few rounds, and after six the
// best is taken. With depths d(body) from it, joints are sorted by (width falling, d(a) + d(b), index). If
// all widths are the same this gives a breadth-first tree: the joints from level n to n + 1 have key 2n +
// 1, those within a level 2n, so that each body is reached from the level before.
//
// Cycles meet if some joint lies on two of the cycles that the cut joints close: going up from both ends of
// each cut joint to where the ways join, a tree joint is passed for a second time. That depends on the
// tree for single joints, but not as a whole: if no two fundamental cycles share a joint there are no
// other cycles (every cycle is a sum of them), whatever tree is taken.

#include "topology/spanning.h"

#define ROUNDS 6

typedef struct spanning {
    mabd_graph* graph;
    int32_t* depth;  // of a body: from the middle, then along the tree; -1 = not reached (bodies)
    int32_t* bound;  // of the distance to the farthest body (bodies)
    int32_t* link;   // joint by which a body was reached; or its way up, of a union-find (bodies)
    int32_t* queue;  // (moving)
    int32_t* middle; // of a component (parts)
    int32_t* count;  // of a counting sort (2 bodies + 8)
    int32_t *joint, *sorted; // joints that lie in components with cycles (joints)
    uint8_t* tree;           // joint is in the tree (joints)
    uint8_t* passed;         // the joint to a body's parent lies on a cycle (bodies)
    size_t bytes;
} spanning;

static void layout(spanning* s, mabd_arena* arena) {
    const size_t bodies = (size_t)s->graph->body_count, joints = (size_t)s->graph->joint_count;
    s->depth = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->bound = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->link = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->queue = mabd_arena_take(arena, (size_t)s->graph->moving_count, sizeof(int32_t));
    s->middle = mabd_arena_take(arena, (size_t)s->graph->part_count, sizeof(int32_t));
    s->count = mabd_arena_take(arena, 2 * bodies + 8, sizeof(int32_t));
    s->joint = mabd_arena_take(arena, joints, sizeof(int32_t));
    s->sorted = mabd_arena_take(arena, joints, sizeof(int32_t));
    s->tree = mabd_arena_take(arena, joints, sizeof(uint8_t));
    s->passed = mabd_arena_take(arena, bodies, sizeof(uint8_t));
}

static mabd_status allocate(const mabd_allocator* allocator, spanning* s) {
    mabd_arena arena = {NULL, 0, 0};
    layout(s, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    s->bytes = arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(s, &arena);
    return MABD_OK;
}

// ---- the middle --------------------------------------------------------------------------------

// Breadth first from root over all joints, or over those of the tree; fills depth, link and queue. Returns
// the last body reached.
static int32_t search(spanning* s, const mabd_graph_part* part, int32_t root, bool tree_only) {
    const mabd_graph* graph = s->graph;
    const int32_t* bodies = graph->bodies + part->body_first;
    int32_t end = 0;
    for (int32_t i = 0; i < part->body_count; i++) s->depth[bodies[i]] = -1;
    s->queue[end++] = root;
    s->depth[root] = 0;
    s->link[root] = -1;
    for (int32_t next = 0; next < end; next++) {
        const int32_t body = s->queue[next];
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k], to = mabd_graph_across(graph, joint, body);
            if (to < 0 || s->depth[to] >= 0 || (tree_only && !s->tree[joint])) continue;
            s->depth[to] = s->depth[body] + 1;
            s->link[to] = joint;
            s->queue[end++] = to;
        }
    }
    return s->queue[end - 1];
}

// bound (by body): the largest distance from a body known so far.
static int32_t find_middle(spanning* s, const mabd_graph_part* part) {
    const int32_t* bodies = s->graph->bodies + part->body_first;
    int32_t middle = bodies[0], next = middle, least = INT32_MAX;
    for (int32_t i = 0; i < part->body_count; i++) s->bound[bodies[i]] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int32_t far = search(s, part, next, false);
        if (s->depth[far] < least) least = s->depth[far], middle = next;
        search(s, part, far, false);
        for (int32_t i = 0; i < part->body_count; i++) {
            const int32_t body = bodies[i];
            if (s->depth[body] > s->bound[body]) s->bound[body] = s->depth[body];
        }
        for (int32_t i = 0; i < part->body_count; i++) {
            if (s->bound[bodies[i]] < s->bound[next]) next = bodies[i];
        }
        if (s->bound[next] >= least) break;
    }
    return middle;
}

// ---- the tree ----------------------------------------------------------------------------------

static bool is_inner(const mabd_graph* graph, int32_t joint) {
    return graph->width[joint] > 0 && mabd_graph_end(graph, joint, 0) >= 0 &&
           mabd_graph_end(graph, joint, 1) >= 0;
}

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

// Root of a body in the union-find forest, halving the ways.
static int32_t find(int32_t* up, int32_t body) {
    while (up[body] != body) body = up[body] = up[up[body]];
    return body;
}

static void grow_trees(spanning* s) {
    const mabd_graph* graph = s->graph;
    int32_t count = 0;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (!is_inner(graph, joint)) continue;
        if (graph->parts[graph->part[graph->a[joint]]].loops > 0) s->joint[count++] = joint;
    }
    sort(s, count, false, s->joint, s->sorted);
    sort(s, count, true, s->sorted, s->joint);
    for (int32_t body = 0; body < graph->body_count; body++) s->link[body] = body;
    for (int32_t i = 0; i < count; i++) {
        const int32_t joint = s->joint[i];
        const int32_t a = find(s->link, graph->a[joint]), b = find(s->link, graph->b[joint]);
        s->tree[joint] = a != b;
        s->link[a > b ? a : b] = a > b ? b : a;
        if (a == b) graph->parts[graph->part[graph->a[joint]]].cut_rows += graph->width[joint];
    }
}

// ---- the result --------------------------------------------------------------------------------

static void hang(spanning* s, mabd_graph_part* part, int32_t root) {
    mabd_graph* graph = s->graph;
    search(s, part, root, true);
    for (int32_t i = 0; i < part->body_count; i++) {
        const int32_t body = s->queue[i];
        graph->bodies[part->body_first + i] = body;
        graph->parent[body] = s->link[body];
    }
}

// Go up from both ends of a cut joint; true if another cycle has been this way.
static bool passes_twice(spanning* s, int32_t joint) {
    const mabd_graph* graph = s->graph;
    int32_t a = graph->a[joint], b = graph->b[joint];
    while (a != b) {
        int32_t* lower = s->depth[a] > s->depth[b] ? &a : &b;
        if (s->passed[*lower]) return true;
        s->passed[*lower] = 1;
        *lower = mabd_graph_across(graph, graph->parent[*lower], *lower);
    }
    return false;
}

static void find_meetings(spanning* s) {
    const mabd_graph* graph = s->graph;
    for (int32_t joint = 0; joint < graph->joint_count; joint++) {
        if (!is_inner(graph, joint) || s->tree[joint]) continue;
        mabd_graph_part* part = &graph->parts[graph->part[graph->a[joint]]];
        if (part->loops > 0 && !part->cycles_meet) part->cycles_meet = passes_twice(s, joint);
    }
}

static bool has_cycles(const mabd_graph* graph) {
    for (int32_t i = 0; i < graph->part_count; i++) {
        if (graph->parts[i].loops > 0) return true;
    }
    return false;
}

mabd_status mabd_graph_span(const mabd_allocator* allocator, mabd_graph* graph) {
    spanning s = {.graph = graph};
    if (!has_cycles(graph)) return MABD_OK;
    MABD_TRY(allocate(allocator, &s));
    for (int32_t i = 0; i < graph->part_count; i++) {
        if (graph->parts[i].loops == 0) continue;
        s.middle[i] = find_middle(&s, &graph->parts[i]);
        search(&s, &graph->parts[i], s.middle[i], false);
    }
    grow_trees(&s);
    for (int32_t i = 0; i < graph->part_count; i++) {
        if (graph->parts[i].loops > 0) hang(&s, &graph->parts[i], s.middle[i]);
    }
    find_meetings(&s);
    for (int32_t i = 0; i < graph->part_count; i++) {
        graph->parts[i].kind = mabd_graph_classify(&graph->parts[i]);
    }
    mabd_free(allocator, s.depth, s.bytes);
    return MABD_OK;
}
