// SPDX-License-Identifier: Apache-2.0
// Components of the joint graph that springs and couplings connect: one after the other, in the
// order of their first components, each component as it was.

#include "model/joint_tree.h"

#include <string.h>

/// Work on the merge of components.
typedef struct grouping {
    const mabd_model* model;
    mabd_tree* tree;
    int32_t* leader;                 // (components) union-find: the first component of a group
    int32_t *order, *cuts;           // new orders
    mabd_tree_component* components; // new components
    int32_t* place;                  // (components) new number of a leader
} grouping;

static int32_t find(const grouping* g, int32_t c) {
    while (g->leader[c] != c) c = g->leader[c] = g->leader[g->leader[c]];
    return c;
}

// Connect the component of a body with that of another one; -1 = none so far. Returns the latter.
static int32_t connect(const grouping* g, int32_t body, int32_t with) {
    const mabd_model* m = g->model;
    if (body >= m->body_count || g->tree->component[body] < 0) return with;
    if (with < 0) return g->tree->component[body];
    const int32_t a = find(g, g->tree->component[body]), b = find(g, with);
    if (a < b) g->leader[b] = a;
    if (b < a) g->leader[a] = b;
    return with;
}

static void connect_all(const grouping* g) {
    const mabd_model* m = g->model;
    for (int32_t i = 0; i < m->spring_count; i++) {
        const mabd_model_spring* spring = &m->springs[i];
        int32_t with = -1;
        for (int32_t k = 0; k < spring->count; k++) {
            with = connect(g, m->spring_points[spring->first + k].body, with);
        }
    }
    for (int32_t i = 0; i < m->coupling_count; i++) {
        const mabd_model_coupling* coupling = &m->couplings[i];
        int32_t with = -1;
        for (int32_t k = 0; k < coupling->count; k++) {
            const mabd_model_joint* joint = &m->joints[m->coupling_axes[coupling->first + k].joint];
            with = connect(g, joint->a, with);
            with = connect(g, joint->b, with);
        }
    }
}

// Append a component to that of its group.
static void append(grouping* g, int32_t index) {
    const mabd_tree_component* from = &g->tree->components[index];
    mabd_tree_component* to = &g->components[g->place[find(g, index)]];
    memcpy(g->order + to->body_first + to->body_count, g->tree->order + from->body_first,
           (size_t)from->body_count * sizeof *g->order);
    memcpy(g->cuts + to->cut_first + to->cut_count, g->tree->cuts + from->cut_first,
           (size_t)from->cut_count * sizeof *g->cuts);
    to->body_count += from->body_count, to->cut_count += from->cut_count;
    to->joint_count += from->joint_count, to->inner_count += from->inner_count;
    to->row_count += from->row_count, to->cut_rows += from->cut_rows;
    to->cycles_meet |= from->cycles_meet;
    if (from->max_degree > to->max_degree) to->max_degree = from->max_degree;
}

// Number the groups and find where their bodies and cut joints begin. Returns how many there are.
static int32_t number(grouping* g) {
    const mabd_tree* tree = g->tree;
    int32_t count = 0, bodies = 0, cuts = 0;
    for (int32_t i = 0; i < tree->component_count; i++) {
        if (find(g, i) != i) continue;
        g->components[count] = tree->components[i];
        g->place[i] = count++;
    }
    for (int32_t i = 0; i < count; i++) {
        g->components[i].body_first = g->components[i].body_count = 0;
        g->components[i].cut_first = g->components[i].cut_count = 0;
    }
    for (int32_t i = 0; i < tree->component_count; i++) { // sizes, for the first places
        mabd_tree_component* to = &g->components[g->place[find(g, i)]];
        to->body_count += tree->components[i].body_count;
        to->cut_count += tree->components[i].cut_count;
    }
    for (int32_t i = 0; i < count; i++) {
        mabd_tree_component* c = &g->components[i];
        c->body_first = bodies, c->cut_first = cuts;
        bodies += c->body_count, cuts += c->cut_count;
        *c = (mabd_tree_component){
            .kind = c->kind, .body_first = c->body_first, .cut_first = c->cut_first};
    }
    return count;
}

static void merge(grouping* g, int32_t moving) {
    mabd_tree* tree = g->tree;
    const int32_t count = number(g);
    for (int32_t i = 0; i < tree->component_count; i++) append(g, i);
    for (int32_t i = 0; i < g->model->body_count; i++) {
        if (tree->component[i] >= 0) tree->component[i] = g->place[find(g, tree->component[i])];
    }
    memcpy(tree->order, g->order, (size_t)moving * sizeof *g->order);
    if (tree->cut_count > 0) {
        memcpy(tree->cuts, g->cuts, (size_t)tree->cut_count * sizeof *g->cuts);
    }
    memcpy(tree->components, g->components, (size_t)count * sizeof *g->components);
    tree->component_count = count;
}

mabd_status mabd_joint_tree_merge(const mabd_allocator* allocator, const mabd_model* m,
                                  mabd_tree* tree) {
    const size_t n = (size_t)tree->component_count;
    grouping g = {.model = m, .tree = tree};
    mabd_arena arena = {0};
    int32_t moving = 0;
    if (m->spring_count == 0 && m->coupling_count == 0) return MABD_OK;
    for (size_t i = 0; i < n; i++) moving += tree->components[i].body_count;
    for (int pass = 0; pass < 2; pass++) {
        g.leader = mabd_arena_take(&arena, n, sizeof *g.leader);
        g.place = mabd_arena_take(&arena, n, sizeof *g.place);
        g.order = mabd_arena_take(&arena, (size_t)moving, sizeof *g.order);
        g.cuts = mabd_arena_take(&arena, (size_t)tree->cut_count, sizeof *g.cuts);
        g.components = mabd_arena_take(&arena, n, sizeof *g.components);
        if (pass == 0) MABD_TRY(mabd_arena_allocate(allocator, &arena));
    }
    for (size_t i = 0; i < n; i++) g.leader[i] = (int32_t)i;
    connect_all(&g);
    merge(&g, moving);
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
