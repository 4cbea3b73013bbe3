// SPDX-License-Identifier: Apache-2.0
// A greedy cover of the slot graph by lines that run straight on, found from the pattern alone.
//
// A line grows from a free slot in both directions. Its end e continues to a free neighbour c that
// no other slot of the line touches. If there are several, let p be the slot before e:
//
//          +-- c1 --+
//     p -- e -- c2     the shorter the path from p to c1 that avoids e and its neighbours, the
//          +-- c3 --+  sharper the turn: in a net, left and right are one mesh away, straight on
//                      is farther
//
// so the farthest one is straight on; two that are equally near are a fork, where the line ends.
// Without short cycles (trees) the lowest slot is taken. Lines start at slots with the fewest
// neighbours first: at the borders, so that they run through. In a net they are its rows and
// columns.
//
// O(slots x slots within REACH), REACH small.

#include "dual/graph_lines.h"

#include <string.h>

#define REACH   8   // longest way round that counts as near
#define VISITED 256 // slots visited per choice; all others count as far
#define FAR     INT32_MAX

typedef struct tracer {
    const mabd_dual_neighbours* list;
    int32_t count;
    int32_t* path;    // 2 slots + 1: a line, grown from the middle both ways
    int32_t* touched; // line that last touched a slot
    int32_t* touches; // by how many of its slots
    int32_t* seen;    // search that last saw a slot
    int32_t* away;    // its distance there; -1 = to be avoided
    int32_t* queue;
    uint8_t* used;
    int32_t line, search;
} tracer;

static void touch(tracer* t, int32_t slot) {
    const mabd_dual_neighbours* list = t->list;
    t->used[slot] = 1;
    for (int32_t k = list->start[slot]; k < list->start[slot + 1]; k++) {
        const int32_t other = list->slot[k];
        if (t->touched[other] != t->line) t->touched[other] = t->line, t->touches[other] = 0;
        t->touches[other]++;
    }
}

static bool may_follow(const tracer* t, int32_t slot) {
    return !t->used[slot] && t->touched[slot] == t->line && t->touches[slot] == 1;
}

// Search breadth-first from p, not through e or its neighbours.
static void search_round(tracer* t, int32_t p, int32_t e) {
    const mabd_dual_neighbours* list = t->list;
    int32_t head = 0, tail = 0;
    t->search++;
    t->seen[e] = t->search, t->away[e] = -1;
    for (int32_t k = list->start[e]; k < list->start[e + 1]; k++) {
        t->seen[list->slot[k]] = t->search, t->away[list->slot[k]] = -1;
    }
    t->away[p] = 0;
    t->queue[tail++] = p;
    while (head < tail) {
        const int32_t s = t->queue[head++];
        if (t->away[s] == REACH) break;
        for (int32_t k = list->start[s]; k < list->start[s + 1] && tail < VISITED; k++) {
            const int32_t other = list->slot[k];
            if (t->seen[other] == t->search) continue;
            t->seen[other] = t->search;
            t->away[other] = t->away[s] + 1;
            t->queue[tail++] = other;
        }
    }
}

// Return the length of the path to c that avoids e.
static int32_t way_round(const tracer* t, int32_t c) {
    const mabd_dual_neighbours* list = t->list;
    int32_t least = FAR;
    for (int32_t k = list->start[c]; k < list->start[c + 1]; k++) {
        const int32_t s = list->slot[k];
        if (t->seen[s] == t->search && t->away[s] > 0 && t->away[s] < least) least = t->away[s];
    }
    return least;
}

static int32_t shared_neighbours(const tracer* t, int32_t a, int32_t b) {
    const mabd_dual_neighbours* list = t->list;
    int32_t i = list->start[a], j = list->start[b], count = 0;
    while (i < list->start[a + 1] && j < list->start[b + 1]) {
        const int32_t s = list->slot[i], r = list->slot[j];
        count += s == r;
        i += s <= r;
        j += r <= s;
    }
    return count;
}

// Choose the first step of a line: the neighbour with the fewest neighbours in common with its
// start, so that it does not cross a body with many joints if there is an alternative.
static int32_t first_step(const tracer* t, int32_t s) {
    const mabd_dual_neighbours* list = t->list;
    int32_t best = -1, least = FAR;
    for (int32_t k = list->start[s]; k < list->start[s + 1]; k++) {
        if (!may_follow(t, list->slot[k])) continue;
        const int32_t shared = shared_neighbours(t, s, list->slot[k]);
        if (shared < least) least = shared, best = list->slot[k];
    }
    return best;
}

// Next slot of a line that came from p to e, -1 = it ends.
static int32_t next_step(tracer* t, int32_t p, int32_t e) {
    const mabd_dual_neighbours* list = t->list;
    int32_t choices = 0, best = -1, farthest = -1;
    bool fork = false;
    for (int32_t k = list->start[e]; k < list->start[e + 1]; k++) {
        if (may_follow(t, list->slot[k]) && choices++ == 0) best = list->slot[k];
    }
    if (choices <= 1) return best;
    search_round(t, p, e);
    for (int32_t k = list->start[e]; k < list->start[e + 1]; k++) {
        if (!may_follow(t, list->slot[k])) continue;
        const int32_t length = way_round(t, list->slot[k]);
        if (length > farthest) {
            farthest = length, best = list->slot[k], fork = false;
        } else if (length == farthest && length != FAR) {
            fork = true;
        }
    }
    return fork ? -1 : best;
}

// Trace the line through a free slot into path[*first ... *last].
static void trace(tracer* t, int32_t start, int32_t* first, int32_t* last) {
    int32_t a = t->count, b = t->count, next;
    t->line++;
    t->path[a] = start;
    touch(t, start);
    for (next = first_step(t, start); next >= 0; next = next_step(t, t->path[b - 1], t->path[b])) {
        t->path[++b] = next;
        touch(t, next);
    }
    while (b > t->count && (next = next_step(t, t->path[a + 1], t->path[a])) >= 0) {
        t->path[--a] = next;
        touch(t, next);
    }
    *first = a, *last = b;
}

// Sort all slots by ascending number of neighbours, then by index (counting sort; `counts` has
// slots + 1).
static void sort_by_degree(const mabd_dual_neighbours* list, int32_t n, int32_t* counts,
                           int32_t* sorted) {
    memset(counts, 0, ((size_t)n + 1) * sizeof(int32_t));
    for (int32_t s = 0; s < n; s++) counts[list->start[s + 1] - list->start[s] + 1]++;
    for (int32_t d = 0; d < n; d++) counts[d + 1] += counts[d];
    for (int32_t s = 0; s < n; s++) sorted[counts[list->start[s + 1] - list->start[s]]++] = s;
}

static void layout(tracer* t, int32_t** sorted, mabd_arena* arena) {
    const size_t n = (size_t)t->count;
    t->path = mabd_arena_take(arena, 2 * n + 1, sizeof(int32_t));
    t->touched = mabd_arena_take(arena, n, sizeof(int32_t));
    t->touches = mabd_arena_take(arena, n, sizeof(int32_t));
    t->seen = mabd_arena_take(arena, n, sizeof(int32_t));
    t->away = mabd_arena_take(arena, n, sizeof(int32_t));
    t->queue = mabd_arena_take(arena, VISITED, sizeof(int32_t));
    t->used = mabd_arena_take(arena, n, sizeof(uint8_t));
    *sorted = mabd_arena_take(arena, n, sizeof(int32_t));
}

mabd_status mabd_dual_graph_lines(const mabd_allocator* allocator, const mabd_dual_system* system,
                                  const mabd_dual_neighbours* list, int32_t* slot,
                                  uint8_t* joined) {
    tracer t = {.list = list, .count = system->slot_count};
    mabd_arena arena = {0};
    int32_t *sorted, first, last, at = 0;
    layout(&t, &sorted, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(&t, &sorted, &arena);
    sort_by_degree(list, t.count, t.path, sorted);
    for (int32_t i = 0; i < t.count; i++) {
        if (t.used[sorted[i]]) continue;
        trace(&t, sorted[i], &first, &last);
        for (int32_t k = first; k <= last; k++) {
            joined[at] = k > first;
            slot[at++] = t.path[k];
        }
    }
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
