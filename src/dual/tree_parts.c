// SPDX-License-Identifier: Apache-2.0
// Subtrees of at most `limit` slots are taken as large as they come, and put together in the order of their roots
// until a part has as many.
//
// May r be a root? Slots s of its subtree must be coupled with the subtree only. It is enough to look at one step: if
//
//   t = p(s)  or  p(t) = p(s)      for every t that s is coupled with                                         (1)
//
// holds for all s with p(s) = r, they are. What (1) fails for lies on p(s) < p(t), and as elimination makes no fill, p(s) is
// coupled with p(t): then p(p(s)) is looked at in the same way. With hubs the joints of its children have t = its first
// slot, p(s) = its second, p(t) = its joint to the root.
//
// O(slots + edges).

#include "dual/tree_parts.h"

#include <string.h>

// Trees with fewer slots are not cut: some 100 microseconds.
#define LEAST_SLOTS 1024
// Slots of a part: 1/64 of all for a good balance, no fewer than pay for the thread to take it, and no more than the second
// level of the cache holds.
#define PART_SHARE 64
#define PART_LEAST 128
#define PART_MOST  4096

static int32_t limit_of(int32_t slot_count) {
    const int32_t share = slot_count / PART_SHARE;
    return share < PART_LEAST ? PART_LEAST : share > PART_MOST ? PART_MOST : share;
}

int32_t mabd_tree_parts_most(int32_t slot_count) {
    return slot_count < LEAST_SLOTS ? 0 : slot_count / limit_of(slot_count) + 1;
}

void mabd_tree_parts_layout(int32_t slot_count, mabd_arena* arena, mabd_tree_parts* parts) {
    const int32_t most = mabd_tree_parts_most(slot_count);
    parts->count = 0;
    parts->ascending = false;
    parts->first = mabd_arena_take(arena, (size_t)most + 2, sizeof *parts->first);
    parts->slots = NULL;
    if (most > 0) {
        parts->slots = mabd_arena_take(arena, (size_t)slot_count, sizeof *parts->slots);
    }
}

typedef struct cut {
    const mabd_dual_system* system;
    const int32_t* start;
    int32_t n;
    int32_t* parent; // p(s), -1 = none (n)
    int32_t* size;   // of the subtree; 0 = may not be a root (n)
    int32_t* root;   // of the subtree that a slot is taken with, itself for a root, -1 = top (n)
    int32_t* part;   // of a root (n)
} cut;

static void cut_layout(int32_t n, mabd_arena* arena, cut* c) {
    int32_t** arrays[] = {&c->parent, &c->size, &c->root, &c->part};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = mabd_arena_take(arena, (size_t)n, sizeof(int32_t));
    }
}

static int32_t neighbour(const cut* c, int32_t edge) {
    return c->system->to[edge] - c->system->slot_offset;
}

static void find_parents(cut* c) {
    for (int32_t s = 0; s < c->n; s++) {
        c->size[s] = 1;
        c->parent[s] = c->start[s + 1] > c->start[s] ? neighbour(c, c->start[s + 1] - 1) : -1;
    }
    for (int32_t s = 0; s < c->n; s++) {
        if (c->parent[s] >= 0) c->size[c->parent[s]] += c->size[s];
    }
    for (int32_t s = 0; s < c->n; s++) { // (1)
        const int32_t p = c->parent[s];
        for (int32_t e = c->start[s]; e < c->start[s + 1]; e++) {
            const int32_t t = neighbour(c, e);
            if (t != p && c->parent[t] != p) c->size[p] = 0;
        }
    }
}

static void find_roots(cut* c, int32_t limit) {
    for (int32_t s = c->n - 1; s >= 0; s--) {
        const int32_t p = c->parent[s];
        if (p >= 0 && c->root[p] >= 0) {
            c->root[s] = c->root[p];
        } else {
            c->root[s] = c->size[s] > 1 && c->size[s] <= limit ? s : -1;
        }
    }
}

// Number the parts, and count their slots in `first`.
static void gather(cut* c, int32_t limit, mabd_tree_parts* parts) {
    int32_t held = 0;
    for (int32_t s = 0; s < c->n; s++) {
        if (c->root[s] != s) continue;
        if (held == 0) parts->count++;
        c->part[s] = parts->count - 1;
        held += c->size[s] - 1;
        if (held >= limit) held = 0;
    }
}

static int32_t part_of(const cut* c, const mabd_tree_parts* parts, int32_t slot) {
    const int32_t root = c->root[slot];
    return root < 0 || root == slot ? parts->count : c->part[root];
}

// True if each root is changed by its part before it is by the top, in ascending order too.
static bool is_ascending(cut* c) {
    int32_t* inside = c->parent; // last slot of its part that changes a root; no longer needed
    memset(inside, -1, (size_t)c->n * sizeof *inside);
    for (int32_t s = 0; s < c->n; s++) {
        for (int32_t e = c->start[s]; e < c->start[s + 1] && c->root[s] >= 0; e++) {
            const int32_t t = neighbour(c, e);
            if (t == c->root[s]) inside[t] = s;
        }
    }
    for (int32_t s = 0; s < c->n; s++) {
        if (c->root[s] >= 0 && c->root[s] != s) continue;
        for (int32_t e = c->start[s]; e < c->start[s + 1]; e++) {
            const int32_t t = neighbour(c, e);
            if (c->root[t] == t && inside[t] > s) return false;
        }
    }
    return true;
}

static void sort(const cut* c, mabd_tree_parts* parts) {
    int32_t* first = parts->first;
    memset(first, 0, ((size_t)parts->count + 2) * sizeof *first);
    for (int32_t s = 0; s < c->n; s++) first[part_of(c, parts, s) + 1]++;
    for (int32_t k = 0; k <= parts->count; k++) first[k + 1] += first[k];
    for (int32_t s = 0; s < c->n; s++) parts->slots[first[part_of(c, parts, s)]++] = s;
    for (int32_t k = parts->count + 1; k > 0; k--) first[k] = first[k - 1];
    first[0] = 0;
}

mabd_status mabd_tree_parts_find(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 const int32_t* start, mabd_tree_parts* parts) {
    cut c = {.system = system, .start = start, .n = system->slot_count};
    const int32_t limit = limit_of(c.n);
    mabd_arena arena = {NULL, 0, 0};
    parts->count = 0;
    parts->first[0] = 0, parts->first[1] = c.n;
    if (!parts->slots) return MABD_OK;
    cut_layout(c.n, &arena, &c);
    arena.size = arena.used;
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    cut_layout(c.n, &arena, &c);
    find_parents(&c);
    find_roots(&c, limit);
    gather(&c, limit, parts);
    sort(&c, parts);
    parts->ascending = is_ascending(&c);
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
