// SPDX-License-Identifier: Apache-2.0
// Depth-first order of the bodies of a tree: the bodies behind a body follow it, seen from the
// ground. From the sizes of subtrees, the place of a body is behind those of its parent and of the
// subtrees of its siblings before.

#include "model/joint_tree.h"

/// Work arrays, by body.
typedef struct order_work {
    mabd_tree* tree;
    int32_t* size;   // bodies of its subtree
    int32_t* next;   // place of the next child
    int32_t* sorted; // new order of a component, from the ground
} order_work;

static void sort_component(const order_work* w, const mabd_tree_component* c) {
    int32_t* order = w->tree->order + c->body_first;
    const int32_t* parent = w->tree->parent;
    int32_t next_root = 0;
    for (int32_t k = 0; k < c->body_count; k++) w->size[order[k]] = 1;
    for (int32_t k = 0; k < c->body_count; k++) {
        if (parent[order[k]] >= 0) w->size[parent[order[k]]] += w->size[order[k]];
    }
    for (int32_t k = c->body_count - 1; k >= 0; k--) {
        const int32_t body = order[k];
        int32_t* next = parent[body] >= 0 ? &w->next[parent[body]] : &next_root;
        w->sorted[*next] = body;
        w->next[body] = *next + 1;
        *next += w->size[body];
    }
    for (int32_t k = 0; k < c->body_count; k++) order[c->body_count - 1 - k] = w->sorted[k];
}

mabd_status mabd_joint_tree_sort(const mabd_allocator* allocator, int32_t body_count,
                                 mabd_tree* tree) {
    const size_t bodies = (size_t)body_count;
    order_work w = {.tree = tree};
    mabd_arena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        w.size = mabd_arena_take(&arena, bodies, sizeof *w.size);
        w.next = mabd_arena_take(&arena, bodies, sizeof *w.next);
        w.sorted = mabd_arena_take(&arena, bodies, sizeof *w.sorted);
        if (pass == 0) MABD_TRY(mabd_arena_allocate(allocator, &arena));
    }
    for (int32_t i = 0; i < tree->component_count; i++) sort_component(&w, &tree->components[i]);
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
