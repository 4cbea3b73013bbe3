// SPDX-License-Identifier: Apache-2.0
// Junctions, slots, and the order of the bodies within a component. Slots are the order of
// elimination where the solver works in place, and follow the bodies where it does not: blocks that
// are assembled body by body should be close in memory.
//
//   chain          Along the path, from the end body with the lower index; a joint to the ground
//                  comes first on the first body and last on the last one. Bodies in path order.
//   tree           Leaf to root: bodies by falling index if each has a higher one than its parent,
//                  else in the order of the tree; each with its own slots if it is a junction,
//                  its joints to the ground, then the joint to its parent. So all other joints of a
//                  body have lower slots than the joint to its parent. A large tree is cut into
//                  subtrees (base/parts.h), which come one group after the other, each in this
//                  order, and then the bodies above them: threads that eliminate groups read
//                  memory in sequence.
//   loops, graph   Bodies by index, each with its own slots if it is a junction and those of
//                  its joints that have none yet. The order of elimination is kept beside: the
//                  joints of the spanning tree as in a tree, then the cut joints by index.
//
// O(bodies + joints).
//
// Junctions. A body couples all its joints with each other in K = J H^-1 J': r rows make a dense
// block whose elimination takes r^3 / 3 products. With the n = 12 or 6 freedoms z of the body as
// unknowns of their own,
//
//   | K'  J | |lambda|   | b |       K' without the body's share; z = H^-1 J' lambda puts it back
//   | J' -H | |  z   | = | 0 |
//
// a row is coupled with these n only, and r rows take about (w^2 / 3 + n w + n^2) r products, w =
// rows of a joint. Joints to the ground do not count: K' of such a joint is zero, it comes after
// the junction's slots and is coupled with the others there as if the junction were none.
#include "topology/order.h"

#include "base/parts.h"

#include <string.h>

// ---- junctions ---------------------------------------------------------------------------------

// False for a joint beside another one between the same bodies: several joints to one body do not
// make a junction. `mark` holds, for each body, the body (plus 1) whose joints last reached it.
static bool is_new_neighbour(mabd_slots* s, int32_t body, int32_t other) {
    if (s->mark[other] == body + 1) return false;
    s->mark[other] = body + 1;
    return true;
}

static bool is_junction(mabd_slots* s, int32_t body) {
    const mabd_graph* graph = s->graph;
    int64_t rows = 0;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        const int32_t joint = graph->incident[k];
        const int32_t other = mabd_graph_across(graph, joint, body);
        if (other >= 0 && is_new_neighbour(s, body, other)) rows += graph->width[joint];
    }
    return rows >= mabd_plan_junction_limit(s->junction_slots);
}

static void find_junctions(mabd_slots* s) {
    for (int32_t body = 0; body < s->graph->body_count; body++) {
        if (s->tree->component[body] < 0) continue;
        s->junction[body] = is_junction(s, body);
        s->junctions[s->tree->component[body]] += s->junction[body];
        s->junction_count += s->junction[body];
    }
    s->slot_count = s->graph->active_count + s->junction_slots * s->junction_count;
}

// ---- slots -------------------------------------------------------------------------------------

static void place(mabd_slots* s, int32_t joint, int32_t slot) {
    s->slot_joint[slot] = joint;
    s->joint_slot[joint] = slot;
}

// Place the joints of a body to the ground, by index. Returns the next slot.
static int32_t place_grounded(mabd_slots* s, int32_t body, int32_t slot) {
    const mabd_graph* graph = s->graph;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        const int32_t joint = graph->incident[k];
        if (mabd_graph_across(graph, joint, body) < 0) place(s, joint, slot++);
    }
    return slot;
}

// Place the freedoms of a body if it is a junction, 6 in each of its slots. Returns the next slot.
static int32_t place_junction(mabd_slots* s, int32_t body, int32_t slot) {
    if (!s->junction[body]) return slot;
    for (int32_t k = 0; k < s->junction_slots; k++) s->slot_joint[slot++] = -1 - body;
    return slot;
}

// ---- chains ------------------------------------------------------------------------------------

static bool is_chain_end(const mabd_graph* graph, int32_t body) {
    int32_t inner = 0;
    for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
        inner += mabd_graph_across(graph, graph->incident[k], body) >= 0;
    }
    return inner <= 1;
}

static int32_t first_chain_end(const mabd_slots* s, const mabd_tree_component* c) {
    int32_t lowest = INT32_MAX;
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = s->tree->order[c->body_first + i];
        if (body < lowest && is_chain_end(s->graph, body)) lowest = body;
    }
    return lowest;
}

// The joint to the next body along a chain: the one without a slot, -1 at the end.
static int32_t onward(const mabd_slots* s, int32_t body) {
    for (int32_t k = s->graph->start[body]; k < s->graph->start[body + 1]; k++) {
        if (s->joint_slot[s->graph->incident[k]] < 0) return s->graph->incident[k];
    }
    return -1;
}

static int32_t order_chain(mabd_slots* s, const mabd_tree_component* c, int32_t slot) {
    int32_t body = first_chain_end(s, c);
    for (int32_t i = 0; i < c->body_count; i++) {
        s->bodies[c->body_first + i] = body;
        slot = place_grounded(s, body, slot);
        const int32_t joint = onward(s, body);
        if (joint < 0) break;
        place(s, joint, slot++);
        body = mabd_graph_across(s->graph, joint, body);
    }
    return slot;
}

// ---- trees -------------------------------------------------------------------------------------

// Bodies (count), leaves first: size of the subtree of each, and the root of the subtree that it is
// taken with, -1 = none.
static void find_subtrees(const mabd_tree* tree, int32_t count, const int32_t* bodies,
                          int32_t* size, int32_t* root) {
    const int32_t limit = mabd_part_size(count);
    for (int32_t i = 0; i < count; i++) size[bodies[i]] = 1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t on = tree->parent[bodies[i]];
        if (on >= 0) size[on] += size[bodies[i]];
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        const int32_t body = bodies[i], on = tree->parent[body];
        root[body] = on >= 0 && root[on] >= 0 ? root[on] : size[body] <= limit ? body : -1;
    }
}

// Put subtrees that follow each other in groups, and the bodies of a group side by side, in the
// order they had. `sorted`: room for all bodies but the last, which is the root of all others.
// While places are given, `place` of the first root of a group is its next place; of its other
// roots -1 - that root.
static void gather_subtrees(mabd_slots* s, int32_t count, int32_t* bodies, int32_t* sorted) {
    int32_t *root = s->mark, *place = s->place;
    const int32_t limit = mabd_part_size(count);
    int32_t first = -1, held = 0, next = 0;
    find_subtrees(s->tree, count, bodies, place, root);
    for (int32_t i = 0; i < count; i++) {
        const int32_t body = bodies[i];
        if (root[body] != body) continue;
        const int32_t size = place[body];
        if (held == 0) first = body;
        place[body] = held == 0 ? next : -1 - first;
        held = held + size < limit ? held + size : 0;
        next += size;
    }
    for (int32_t i = 0; i + 1 < count; i++) {
        const int32_t r = root[bodies[i]];
        const int32_t at = r < 0 ? next++ : place[place[r] < 0 ? -1 - place[r] : r]++;
        sorted[at] = bodies[i];
    }
    memcpy(bodies, sorted, (size_t)(count - 1) * sizeof *bodies);
}

// Slots of a component in the order of its bodies, leaves first; then its cut joints.
static int32_t order_tree(mabd_slots* s, const mabd_tree_component* c, int32_t slot) {
    int32_t* bodies = s->bodies + c->body_first;
    if (c->cut_count == 0 && c->body_count >= MABD_TREE_LEAST) {
        gather_subtrees(s, c->body_count, bodies, s->elimination + slot);
    }
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t joint = s->tree->parent_joint[bodies[i]];
        slot = place_junction(s, bodies[i], slot);
        slot = place_grounded(s, bodies[i], slot);
        if (joint >= 0) place(s, joint, slot++);
    }
    for (int32_t i = 0; i < c->cut_count; i++) place(s, s->tree->cuts[c->cut_first + i], slot++);
    return slot;
}

// True if every body has a higher index than its parent.
static bool parents_are_lower(const mabd_tree* tree, const mabd_tree_component* c) {
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = tree->order[c->body_first + i];
        if (tree->parent[body] > body) return false;
    }
    return true;
}

// Put the bodies of all components marked by_index in rising or falling order.
static void sort_bodies(mabd_slots* s, bool rising) {
    const int32_t n = s->graph->body_count;
    for (int32_t i = 0; i < s->tree->component_count; i++) s->sorted[i] = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t body = rising ? i : n - 1 - i, part = s->tree->component[body];
        if (part < 0 || !s->by_index[part]) continue;
        s->bodies[s->tree->components[part].body_first + s->sorted[part]++] = body;
    }
}

// ---- components with cycles --------------------------------------------------------------------

// Give the slots from `first` on, which are in the order of elimination, to the bodies by index;
// that order is kept in `elimination`.
static void number_by_body(mabd_slots* s, int32_t component, int32_t first) {
    const mabd_tree_component* c = &s->tree->components[component];
    const mabd_graph* graph = s->graph;
    const int32_t count = mabd_slots_of(s, component);
    int32_t *order = s->elimination + first, slot = first;
    for (int32_t k = 0; k < count; k++) {
        order[k] = s->slot_joint[first + k];
        if (order[k] >= 0) s->joint_slot[order[k]] = -1;
    }
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = s->bodies[c->body_first + i];
        s->place[body] = slot;
        slot = place_junction(s, body, slot);
        for (int32_t k = graph->start[body]; k < graph->start[body + 1]; k++) {
            const int32_t joint = graph->incident[k];
            if (s->joint_slot[joint] < 0) place(s, joint, slot++);
        }
    }
    for (int32_t k = 0; k < count; k++) { // the slots of a junction follow each other
        const int32_t at = order[k] >= 0 ? s->joint_slot[order[k]] : s->place[-1 - order[k]]++;
        order[k] = at - first;
    }
}

// ---- all components ----------------------------------------------------------------------------

// Slots in the order of elimination.
static void order_components(mabd_slots* s) {
    const mabd_tree* tree = s->tree;
    for (int32_t joint = 0; joint < s->graph->joint_count; joint++) s->joint_slot[joint] = -1;
    for (int32_t i = 0; i < tree->component_count; i++) {
        const mabd_tree_component* c = &tree->components[i];
        s->by_index[i] = c->kind == MABD_COMPONENT_TREE && parents_are_lower(tree, c);
    }
    sort_bodies(s, false);
    for (int32_t i = 0, slot = 0; i < tree->component_count; i++) {
        const mabd_tree_component* c = &tree->components[i];
        const bool chain = c->kind == MABD_COMPONENT_CHAIN;
        slot = chain ? order_chain(s, c, slot) : order_tree(s, c, slot);
    }
}

static void number_components(mabd_slots* s) {
    const mabd_tree* tree = s->tree;
    for (int32_t i = 0; i < tree->component_count; i++) {
        s->by_index[i] = tree->components[i].cut_count > 0;
    }
    sort_bodies(s, true);
    for (int32_t i = 0, slot = 0; i < tree->component_count; i++) {
        const int32_t count = mabd_slots_of(s, i);
        if (tree->components[i].cut_count > 0) {
            number_by_body(s, i, slot);
        } else {
            for (int32_t k = 0; k < count; k++) s->elimination[slot + k] = k;
        }
        slot += count;
    }
}

// ---- memory ------------------------------------------------------------------------------------

static void layout(mabd_slots* s, mabd_arena* arena) {
    const size_t bodies = (size_t)s->graph->body_count, joints = (size_t)s->graph->joint_count;
    const size_t moving = (size_t)s->graph->moving_count, sides = (size_t)s->graph->side_count;
    const size_t components = (size_t)s->tree->component_count;
    const size_t least = (size_t)mabd_plan_junction_limit(s->junction_slots);
    const size_t junctions = sides * MABD_PLAN_SLOT_ROWS / least; // at most
    const size_t slots = (size_t)s->graph->active_count + (size_t)s->junction_slots * junctions;
    s->slot_joint = mabd_arena_take(arena, slots, sizeof(int32_t));
    s->elimination = mabd_arena_take(arena, slots, sizeof(int32_t));
    s->joint_slot = mabd_arena_take(arena, joints, sizeof(int32_t));
    s->bodies = mabd_arena_take(arena, moving, sizeof(int32_t));
    s->junctions = mabd_arena_take(arena, components, sizeof(int32_t));
    s->sorted = mabd_arena_take(arena, components, sizeof(int32_t));
    s->by_index = mabd_arena_take(arena, components, sizeof(bool));
    s->junction = mabd_arena_take(arena, bodies, sizeof(bool));
    s->mark = mabd_arena_take(arena, bodies, sizeof(int32_t));
    s->place = mabd_arena_take(arena, bodies, sizeof(int32_t));
}

mabd_status mabd_slots_init(const mabd_allocator* allocator, const mabd_graph* graph,
                            const mabd_tree* tree, int32_t junction_slots, mabd_slots* slots) {
    mabd_arena arena = {0};
    *slots = (mabd_slots){.graph = graph, .tree = tree, .junction_slots = junction_slots};
    layout(slots, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    slots->bytes = arena.size;
    layout(slots, &arena);
    find_junctions(slots);
    const size_t moving = (size_t)graph->moving_count;
    if (moving) memcpy(slots->bodies, tree->order, moving * sizeof(int32_t));
    order_components(slots);
    number_components(slots);
    return MABD_OK;
}

void mabd_slots_free(const mabd_allocator* allocator, mabd_slots* slots) {
    mabd_free(allocator, slots->slot_joint, slots->bytes);
    *slots = (mabd_slots){0};
}
