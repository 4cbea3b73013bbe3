// SPDX-License-Identifier: Apache-2.0
// A range has one to two times the size of a part. Let p(s) be the last slot that s is coupled
// with. Slots with p(s) beyond twice the size reach out of the range wherever it ends; it ends
// where the fewest others do. While it grows to slot t, their number is
//
//   open(t + 1) = open(t) + (1 if p(t) is within reach) - (slots s of the range with p(s) = t)
//
// A slot outside the top is changed by its range alone: if d < s changes s and d is in another
// range, d is coupled with s beyond its range, so d is in the top, and s too. O(slots + edges).

#include "dual/tree_parts.h"

#include "base/parts.h"

#include <string.h>

// A tree is not cut if more than 1/8 of it would be the top: a star of short arms.
#define TOP_SHARE 8

int32_t mabd_dual_tree_parts_most(int32_t slot_count) {
    return slot_count < MABD_TREE_LEAST ? 1 : slot_count / mabd_part_size(slot_count) + 1;
}

static int32_t most_of_top(int32_t slot_count) {
    return slot_count < MABD_TREE_LEAST ? 0 : slot_count / TOP_SHARE;
}

void mabd_dual_tree_parts_layout(int32_t slot_count, mabd_arena* arena,
                                 mabd_dual_tree_parts* parts) {
    const size_t most = (size_t)mabd_dual_tree_parts_most(slot_count);
    parts->count = 0;
    parts->first = mabd_arena_take(arena, most + 1, sizeof *parts->first);
    parts->top_first = mabd_arena_take(arena, most + 1, sizeof *parts->top_first);
    parts->top = mabd_arena_take(arena, (size_t)most_of_top(slot_count), sizeof *parts->top);
}

typedef struct cut {
    const mabd_dual_system* system;
    const int32_t* start;
    int32_t n;
    int32_t* closed; // slots of the current range whose p is this one (n)
    bool* top;       // (n)
} cut;

static void cut_layout(int32_t n, mabd_arena* arena, cut* c) {
    c->closed = mabd_arena_take(arena, (size_t)n, sizeof *c->closed);
    c->top = mabd_arena_take(arena, (size_t)n, sizeof *c->top);
}

static int32_t neighbour(const cut* c, int32_t edge) {
    return c->system->to[edge] - c->system->slot_offset;
}

// Return p(s), n = none.
static int32_t last_of(const cut* c, int32_t s) {
    return c->start[s + 1] > c->start[s] ? neighbour(c, c->start[s + 1] - 1) : c->n;
}

// Return the end of the range that begins at `first`.
static int32_t find_end(const cut* c, int32_t first, int32_t size) {
    int32_t open = 0, least = INT32_MAX, end = c->n;
    const int32_t beyond = c->n - first > 2 * size ? first + 2 * size : c->n;
    memset(c->closed + first, 0, (size_t)(beyond - first) * sizeof *c->closed);
    for (int32_t t = first; t < beyond; t++) {
        open -= c->closed[t];
        if (last_of(c, t) < beyond) open++, c->closed[last_of(c, t)]++;
        if (t + 1 < first + size || open >= least) continue;
        least = open, end = t + 1;
    }
    return end;
}

static void find_ranges(const cut* c, mabd_dual_tree_parts* parts) {
    const int32_t size = mabd_part_size(c->n);
    parts->first[0] = parts->count = 0;
    for (int32_t first = 0; first < c->n;) {
        first = find_end(c, first, size);
        parts->first[++parts->count] = first;
    }
}

// Find the top; false if it has too many slots.
static bool find_top(const cut* c, mabd_dual_tree_parts* parts) {
    int32_t count = 0;
    for (int32_t p = 0; p < parts->count; p++) {
        parts->top_first[p] = count;
        for (int32_t s = parts->first[p]; s < parts->first[p + 1]; s++) {
            if (!c->top[s] && last_of(c, s) < parts->first[p + 1]) continue;
            if (count == most_of_top(c->n)) return false;
            parts->top[count++] = s;
            for (int32_t e = c->start[s]; e < c->start[s + 1]; e++) c->top[neighbour(c, e)] = true;
        }
    }
    parts->top_first[parts->count] = count;
    return true;
}

mabd_status mabd_dual_tree_parts_find(const mabd_allocator* allocator,
                                      const mabd_dual_system* system, const int32_t* start,
                                      mabd_dual_tree_parts* parts) {
    cut c = {.system = system, .start = start, .n = system->slot_count};
    bool found = false;
    if (c.n >= MABD_TREE_LEAST) {
        mabd_arena arena = {NULL, 0, 0};
        cut_layout(c.n, &arena, &c);
        arena.size = arena.used;
        arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
        if (!arena.memory) return MABD_ERR_MEMORY;
        arena.used = 0;
        cut_layout(c.n, &arena, &c);
        find_ranges(&c, parts);
        found = find_top(&c, parts);
        mabd_free(allocator, arena.memory, arena.size);
    }
    if (found) return MABD_OK;
    parts->count = 1;
    parts->first[0] = parts->top_first[0] = parts->top_first[1] = 0;
    parts->first[1] = c.n;
    return MABD_OK;
}
