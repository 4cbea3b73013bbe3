// SPDX-License-Identifier: Apache-2.0
// Assembling a plan from numbered slots: sides, pairs and edges.
//
// A body with d joints makes d (d - 1) / 2 pairs, stored (0,1) (0,2) .. (0,d-1) (1,2) ..; a
// junction makes fewer (pair_shape). Two joints that share both bodies meet in a pair of each, and
// both name the same edge. The edges of slot s to higher slots are the union of the rest of the
// side lists of its one or two bodies behind s. Those lists are sorted, so a merge gives the edges
// by (from, to) without a search. O(bodies + joints + pairs).
#include "topology/plan.h"

#include "topology/order.h"

#include <string.h>

// The side lists while the plan's size is not known yet, and a cursor into each for the merge.
typedef struct side_lists {
    int32_t* start;  // sides of a body (body_count + 1)
    int32_t* early;  // sides of a junction before its own slots (body_count)
    int32_t* cursor; // sides of a body already merged (body_count)
    mabd_plan_side* sides;
    size_t bytes;
} side_lists;

static void side_lists_layout(const mabd_slots* s, mabd_arena* arena, side_lists* lists) {
    const size_t bodies = (size_t)s->graph->body_count;
    const size_t sides =
        (size_t)s->graph->start[bodies] + (size_t)s->junction_slots * (size_t)s->junction_count;
    lists->start = mabd_arena_take(arena, bodies + 1, sizeof(int32_t));
    lists->early = mabd_arena_take(arena, bodies, sizeof(int32_t));
    lists->cursor = mabd_arena_take(arena, bodies, sizeof(int32_t));
    lists->sides = mabd_arena_take(arena, sides, sizeof(mabd_plan_side));
}

static void add_side(side_lists* lists, int32_t body, int32_t slot, int32_t is_b) {
    mabd_plan_side entry = {slot, is_b};
    lists->sides[lists->start[body] + lists->cursor[body]++] = entry;
}

static mabd_status side_lists_init(const mabd_allocator* allocator, const mabd_slots* s,
                                   side_lists* lists) {
    mabd_arena arena = {0};
    side_lists_layout(s, &arena, lists);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    lists->bytes = arena.size;
    side_lists_layout(s, &arena, lists);

    for (int32_t i = 0; i < s->graph->body_count; i++) {
        const int32_t joints = s->graph->start[i + 1] - s->graph->start[i];
        lists->start[i + 1] = lists->start[i] + joints + (s->junction[i] ? s->junction_slots : 0);
    }
    // slots ascending, so every list comes out sorted
    for (int32_t slot = 0; slot < s->slot_count; slot++) {
        const bool junction = s->slot_joint[slot] < 0;
        for (int side = 0; side < 2; side++) {
            int32_t body = mabd_slots_end(s, slot, side);
            if (body < 0) continue;
            add_side(lists, body, slot, junction ? -1 : side);
            // right at the last of its slots
            if (junction) lists->early[body] = lists->cursor[body] - s->junction_slots;
        }
    }
    return MABD_OK;
}

// Pairs of a body. The joints of a junction before its own slots are coupled with these; joints
// behind them are coupled with them, and in a tree with each other: there, eliminating the junction
// leaves blocks. (In other components the solver finds this fill by itself.)
typedef struct pair_shape {
    int64_t early, late; // sides before the junction's own slots, sides from there on
    int64_t own;         // slots of a junction
    bool junction, fill; // fill: late joints are coupled with each other
} pair_shape;

static pair_shape shape_of(const mabd_slots* s, const side_lists* lists, int32_t body) {
    pair_shape shape = {lists->early[body], 0, s->junction_slots, s->junction[body], true};
    shape.late = lists->start[body + 1] - lists->start[body] - shape.early;
    if (shape.junction) shape.fill = s->tree->components[s->tree->component[body]].cut_count == 0;
    return shape;
}

// Pairs before those of side i, i = all sides: number of pairs.
static int64_t pairs_before(const pair_shape* s, int64_t i) {
    if (i <= s->early) return s->own * i;
    i -= s->early;
    if (!s->fill && i > s->own) i = s->own; // later sides have none
    return s->own * s->early + i * s->late - i * (i + 1) / 2;
}

// The rest of one body's side list, behind the slot that is merged.
typedef struct tail {
    const mabd_plan_side* sides; // whole list of the body
    int32_t at, i, end;          // next place, place of the slot itself, end of the coupled sides
    mabd_plan_pair* pairs;       // of row i, null while counting
} tail;

static tail tail_begin(const mabd_slots* s, const side_lists* lists, int32_t body,
                       mabd_plan* plan) {
    tail t = {NULL, 0, 0, 0, NULL};
    if (body < 0) return t;
    const pair_shape shape = shape_of(s, lists, body);
    const int32_t early = (int32_t)shape.early, after = early + s->junction_slots;
    const int32_t end = (int32_t)(shape.early + shape.late);
    t.sides = lists->sides + lists->start[body];
    t.i = lists->cursor[body]++;
    t.at = t.i < early ? early : t.i + 1;
    t.end = t.i < early ? after : shape.fill || t.i < after ? end : t.at;
    if (plan) t.pairs = plan->pairs + plan->pair_start[body] + pairs_before(&shape, t.i);
    return t;
}

static int32_t tail_slot(const tail* t) {
    return t->at < t->end ? t->sides[t->at].slot : INT32_MAX;
}

static void tail_take(tail* t, int32_t slot, int32_t edge) {
    if (tail_slot(t) != slot) return;
    if (t->pairs) {
        mabd_plan_pair pair = {t->i, t->at, edge};
        *t->pairs++ = pair;
    }
    t->at++;
}

// Number all edges, in order of (from, to); returns how many. With a plan, fill its pairs and
// edges.
static int32_t merge_edges(const mabd_slots* s, side_lists* lists, mabd_plan* plan) {
    int32_t edge = 0;
    for (int32_t i = 0; i < s->graph->body_count; i++) lists->cursor[i] = 0;
    for (int32_t slot = 0; slot < s->slot_count; slot++) {
        tail a = tail_begin(s, lists, mabd_slots_end(s, slot, 0), plan);
        tail b = tail_begin(s, lists, mabd_slots_end(s, slot, 1), plan);
        for (;;) {
            int32_t to_a = tail_slot(&a), to_b = tail_slot(&b);
            int32_t to = to_a < to_b ? to_a : to_b;
            if (to == INT32_MAX) break;
            if (plan) plan->edge_from[edge] = slot, plan->edge_to[edge] = to;
            tail_take(&a, to, edge);
            tail_take(&b, to, edge);
            edge++;
        }
    }
    return edge;
}

// Lengths of the arrays that no field of the plan holds.
typedef struct array_sizes {
    int64_t sides, pairs, moving; // all below 2^31
} array_sizes;

// Pairs over all bodies, and rows over all slots; false if either does not fit an int32_t.
static bool count_pairs_and_rows(const mabd_slots* s, const side_lists* lists, int64_t* pairs,
                                 int64_t* rows) {
    *pairs = 0;
    *rows = (int64_t)s->junction_slots * MABD_PLAN_SLOT_ROWS * s->junction_count;
    for (int32_t body = 0; body < s->graph->body_count; body++) {
        const pair_shape shape = shape_of(s, lists, body);
        *pairs += pairs_before(&shape, shape.early + shape.late);
        if (*pairs > INT32_MAX) return false;
    }
    for (int32_t i = 0; i < s->tree->component_count; i++)
        *rows += s->tree->components[i].row_count;
    return *rows <= INT32_MAX;
}

// Point the arrays of p, whose counts are set, into the arena; the first piece is left for p
// itself.
static void layout(array_sizes sizes, mabd_arena* arena, mabd_plan* p) {
    size_t slots = (size_t)p->slot_count, edges = (size_t)p->edge_count;
    size_t bodies = (size_t)p->body_count;
    mabd_arena_take(arena, 1, sizeof(mabd_plan));
    p->slot_joint = mabd_arena_take(arena, slots, sizeof(int32_t));
    p->elimination = mabd_arena_take(arena, slots, sizeof(int32_t));
    p->joint_slot = mabd_arena_take(arena, (size_t)p->joint_count, sizeof(int32_t));
    p->slot_width = mabd_arena_take(arena, slots, sizeof(int32_t));
    p->slot_row = mabd_arena_take(arena, slots + 1, sizeof(int32_t));
    p->slot_negative = mabd_arena_take(arena, slots, sizeof(bool));
    p->slot_late = mabd_arena_take(arena, slots, sizeof(bool));
    p->slot_block = mabd_arena_take(arena, slots + 1, sizeof(size_t));
    p->edge_from = mabd_arena_take(arena, edges, sizeof(int32_t));
    p->edge_to = mabd_arena_take(arena, edges, sizeof(int32_t));
    p->edge_block = mabd_arena_take(arena, edges + 1, sizeof(size_t));
    p->side_start = mabd_arena_take(arena, bodies + 1, sizeof(int32_t));
    p->sides = mabd_arena_take(arena, (size_t)sizes.sides, sizeof(mabd_plan_side));
    p->early = mabd_arena_take(arena, bodies, sizeof(int32_t));
    p->pair_start = mabd_arena_take(arena, bodies + 1, sizeof(int32_t));
    p->pairs = mabd_arena_take(arena, (size_t)sizes.pairs, sizeof(mabd_plan_pair));
    p->components = mabd_arena_take(arena, (size_t)p->component_count, sizeof(mabd_plan_component));
    p->component_bodies = mabd_arena_take(arena, (size_t)sizes.moving, sizeof(int32_t));
}

// One block for the plan and all its arrays; null on failure.
static mabd_plan* allocate(mabd_plan counts, array_sizes sizes) {
    mabd_arena arena = {0};
    layout(sizes, &arena, &counts);
    if (mabd_arena_allocate(&counts.allocator, &arena) != MABD_OK) return NULL;
    counts.bytes = arena.size;
    layout(sizes, &arena, &counts);
    mabd_plan* plan = (mabd_plan*)(void*)arena.memory;
    *plan = counts;
    return plan;
}

// True if no body of a joint gives its block a share: then it is definite only after a junction.
static bool is_late(const mabd_slots* s, int32_t joint) {
    for (int side = 0; side < 2; side++) {
        int32_t body = mabd_graph_end(s->graph, joint, side);
        if (body >= 0 && !s->junction[body]) return false;
    }
    return true;
}

static void fill_slots(const mabd_slots* s, mabd_plan* plan) {
    if (plan->slot_count) {
        memcpy(plan->elimination, s->elimination, (size_t)plan->slot_count * sizeof(int32_t));
    }
    memcpy(plan->joint_slot, s->joint_slot, (size_t)s->graph->joint_count * sizeof(int32_t));
    for (int32_t slot = 0; slot < plan->slot_count; slot++) {
        const int32_t joint = s->slot_joint[slot];
        const int32_t width = joint < 0 ? MABD_PLAN_SLOT_ROWS : s->graph->width[joint];
        plan->slot_negative[slot] = joint < 0;
        plan->slot_late[slot] = joint >= 0 && is_late(s, joint);
        plan->slot_joint[slot] = joint;
        plan->slot_width[slot] = width;
        plan->slot_row[slot + 1] = plan->slot_row[slot] + width;
        plan->slot_block[slot + 1] = plan->slot_block[slot] + (size_t)(width * width);
        if (width > plan->widest) plan->widest = width;
    }
}

static void fill_sides(const mabd_slots* s, const side_lists* lists, mabd_plan* plan) {
    const size_t bodies = (size_t)s->graph->body_count, count = (size_t)lists->start[bodies];
    if (count) memcpy(plan->sides, lists->sides, count * sizeof(mabd_plan_side));
    for (int32_t body = 0; body < s->graph->body_count; body++) {
        const pair_shape shape = shape_of(s, lists, body);
        const int64_t pairs = pairs_before(&shape, shape.early + shape.late);
        plan->early[body] = shape.junction ? (int32_t)shape.early : -1;
        plan->side_start[body + 1] = lists->start[body + 1];
        plan->pair_start[body + 1] = (int32_t)(plan->pair_start[body] + pairs);
    }
}

static void fill_components(const mabd_slots* s, mabd_plan* plan) {
    int32_t slot = 0, edge = 0;
    for (int32_t i = 0; i < s->tree->component_count; i++) {
        const mabd_tree_component* part = &s->tree->components[i];
        mabd_plan_component* c = &plan->components[i];
        c->kind = part->kind;
        c->loops = part->cut_count;
        c->cut_rows = (int32_t)part->cut_rows;
        c->body_first = part->body_first;
        c->body_count = part->body_count;
        c->junction_count = s->junctions[i];
        c->ground_count = part->joint_count - part->inner_count;
        c->slot_first = slot;
        c->slot_count = mabd_slots_of(s, i);
        slot += c->slot_count;
        c->edge_first = edge;
        while (edge < plan->edge_count && plan->edge_from[edge] < slot) edge++;
        c->edge_count = edge - c->edge_first;
        plan->counts[part->kind]++;
        plan->loops += part->cut_count;
    }
    if (s->graph->moving_count) {
        memcpy(plan->component_bodies, s->bodies, (size_t)s->graph->moving_count * sizeof(int32_t));
    }
}

static void fill_edge_blocks(mabd_plan* plan) {
    for (int32_t edge = 0; edge < plan->edge_count; edge++) {
        int32_t from = plan->slot_width[plan->edge_from[edge]];
        int32_t to = plan->slot_width[plan->edge_to[edge]];
        plan->edge_block[edge + 1] = plan->edge_block[edge] + (size_t)(from * to);
    }
}

// The plan of slots whose sides are collected.
static mabd_status assemble(const mabd_allocator* allocator, const mabd_slots* s, side_lists* lists,
                            mabd_plan** out) {
    int64_t pairs, rows;
    if (!count_pairs_and_rows(s, lists, &pairs, &rows)) return MABD_ERR_MEMORY;
    mabd_plan counts = {
        .body_count = s->graph->body_count,
        .joint_count = s->graph->joint_count,
        .slot_count = s->slot_count,
        .junction_count = s->junction_count,
        .junction_slots = s->junction_slots,
        .row_count = (int32_t)rows,
        .edge_count = merge_edges(s, lists, NULL),
        .component_count = s->tree->component_count,
        .allocator = *allocator,
    };
    array_sizes sizes = {lists->start[s->graph->body_count], pairs, s->graph->moving_count};
    mabd_plan* plan = allocate(counts, sizes);
    if (!plan) return MABD_ERR_MEMORY;
    fill_slots(s, plan);
    fill_sides(s, lists, plan);
    merge_edges(s, lists, plan);
    fill_edge_blocks(plan);
    fill_components(s, plan);
    *out = plan;
    return MABD_OK;
}

static mabd_status build_from_slots(const mabd_allocator* allocator, const mabd_slots* s,
                                    mabd_plan** plan) {
    side_lists lists;
    MABD_TRY(side_lists_init(allocator, s, &lists));
    mabd_status status = assemble(allocator, s, &lists, plan);
    mabd_free(allocator, lists.start, lists.bytes);
    return status;
}

static mabd_status build_from_tree(const mabd_allocator* allocator, const mabd_graph* graph,
                                   const mabd_tree* tree, int32_t junction_slots,
                                   mabd_plan** plan) {
    mabd_slots slots;
    MABD_TRY(mabd_slots_init(allocator, graph, tree, junction_slots, &slots));
    mabd_status status = build_from_slots(allocator, &slots, plan);
    mabd_slots_free(allocator, &slots);
    return status;
}

static mabd_status build_from_graph(const mabd_allocator* allocator, const mabd_graph* graph,
                                    int32_t junction_slots, mabd_plan** plan) {
    mabd_tree tree;
    MABD_TRY(mabd_tree_init(allocator, graph, &tree));
    mabd_status status = build_from_tree(allocator, graph, &tree, junction_slots, plan);
    mabd_tree_free(allocator, &tree);
    return status;
}

mabd_status mabd_plan_build(const mabd_allocator* allocator, int32_t body_count, const bool* moving,
                            int32_t joint_count, const int32_t* a, const int32_t* b,
                            const int32_t* width, int32_t junction_rows, mabd_plan** plan) {
    mabd_graph graph = {.body_count = body_count,
                        .joint_count = joint_count,
                        .moving = moving,
                        .a = a,
                        .b = b,
                        .width = width};
    *plan = NULL;
    if (junction_rows != MABD_PLAN_RIGID_ROWS && junction_rows != MABD_PLAN_AFFINE_ROWS) {
        return MABD_ERR_ARG;
    }
    MABD_TRY(mabd_graph_init(allocator, &graph));
    mabd_status status =
        build_from_graph(allocator, &graph, junction_rows / MABD_PLAN_SLOT_ROWS, plan);
    mabd_graph_free(allocator, &graph);
    return status;
}

void mabd_plan_destroy(mabd_plan* plan) {
    if (!plan) return;
    mabd_allocator allocator = plan->allocator;
    mabd_free(&allocator, plan, plan->bytes);
}
