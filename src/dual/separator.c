// SPDX-License-Identifier: Apache-2.0
//
// Refinement in passes, after Fiduccia and Mattheyses (1982), for separators of nodes. A slot v of
// the separator S may go to side k; then its neighbours on the other side must come into S:
//
//       A   | S |   B             gain(v, k) = w(v) - pull_k(v),   pull_k(v) = sum of w(u)
//       o---|-v-|---u                                              over neighbours u on side 1 - k
//
// A pass moves the slot with the greatest gain, even if it is negative, each slot at most once, and
// finally returns to the lightest separator seen. Passes repeat while they find a lighter one.
// Ties: the lighter side, then the lower slot. O(slots moved x neighbours x log) per pass.

#include "dual/separator.h"

#include <string.h>

#define PASSES      8
#define LEAST_TRIES 40 // moves without gain before a pass ends

void mabd_dual_separator_layout(mabd_dual_separator* s, int32_t slot_count, mabd_arena* arena) {
    const size_t n = (size_t)slot_count;
    s->side = mabd_arena_take(arena, n, sizeof *s->side);
    s->locked = mabd_arena_take(arena, n, sizeof *s->locked);
    for (int k = 0; k < 2; k++) {
        s->pull[k] = mabd_arena_take(arena, n, sizeof(int32_t));
        s->heap[k] = mabd_arena_take(arena, n, sizeof(int32_t));
        s->at[k] = mabd_arena_take(arena, n, sizeof(int32_t));
    }
    // a slot leaves the separator once and enters it at most once before and once after that
    s->trail = mabd_arena_take(arena, 3 * n, sizeof *s->trail);
    s->trail_side = mabd_arena_take(arena, 3 * n, sizeof *s->trail_side);
}

void mabd_dual_separator_clear(mabd_dual_separator* s, int32_t slot_count) {
    memset(s->side, MABD_SIDE_NONE, (size_t)slot_count);
    for (int32_t v = 0; v < slot_count; v++) s->at[0][v] = s->at[1][v] = -1;
}

// ---- heaps -------------------------------------------------------------------------------------

static int32_t gain(const mabd_dual_separator* s, int k, int32_t slot) {
    return s->width[slot] - s->pull[k][slot];
}

static bool before(const mabd_dual_separator* s, int k, int32_t u, int32_t v) {
    const int32_t gu = gain(s, k, u), gv = gain(s, k, v);
    return gu != gv ? gu > gv : u < v;
}

static void put(mabd_dual_separator* s, int k, int32_t place, int32_t slot) {
    s->heap[k][place] = slot;
    s->at[k][slot] = place;
}

static void sift_up(mabd_dual_separator* s, int k, int32_t place) {
    const int32_t slot = s->heap[k][place];
    while (place > 0 && before(s, k, slot, s->heap[k][(place - 1) / 2])) {
        put(s, k, place, s->heap[k][(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(s, k, place, slot);
}

static void sift_down(mabd_dual_separator* s, int k, int32_t place) {
    const int32_t slot = s->heap[k][place], count = s->count[k];
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child >= count) break;
        if (child + 1 < count && before(s, k, s->heap[k][child + 1], s->heap[k][child])) child++;
        if (!before(s, k, s->heap[k][child], slot)) break;
        put(s, k, place, s->heap[k][child]);
        place = child;
    }
    put(s, k, place, slot);
}

static void insert(mabd_dual_separator* s, int k, int32_t slot) {
    put(s, k, s->count[k]++, slot);
    sift_up(s, k, s->count[k] - 1);
}

static void take_out(mabd_dual_separator* s, int k, int32_t slot) {
    const int32_t place = s->at[k][slot], last = s->heap[k][--s->count[k]];
    s->at[k][slot] = -1;
    if (last == slot) return;
    put(s, k, place, last);
    sift_up(s, k, place);
    sift_down(s, k, s->at[k][last]);
}

static void empty(mabd_dual_separator* s) {
    for (int k = 0; k < 2; k++) {
        while (s->count[k] > 0) s->at[k][s->heap[k][--s->count[k]]] = -1;
    }
}

// ---- moves -------------------------------------------------------------------------------------

static int32_t count_pull(const mabd_dual_separator* s, int k, int32_t slot) {
    int32_t rows = 0;
    for (int32_t i = s->list->start[slot]; i < s->list->start[slot + 1]; i++) {
        const int32_t u = s->list->slot[i];
        if (s->side[u] == 1 - k) rows += s->width[u];
    }
    return rows;
}

static void enter(mabd_dual_separator* s, int32_t slot) {
    for (int k = 0; k < 2; k++) {
        s->pull[k][slot] = count_pull(s, k, slot);
        insert(s, k, slot);
    }
}

static void set_side(mabd_dual_separator* s, int32_t slot, int side) {
    s->trail[s->trail_count] = slot;
    s->trail_side[s->trail_count++] = s->side[slot];
    s->weight[s->side[slot]] -= s->width[slot];
    s->weight[side] += s->width[slot];
    s->side[slot] = (uint8_t)side;
}

// The pull of the slots next to `slot` towards side k changes by `rows`.
static void add_pull(mabd_dual_separator* s, int k, int32_t slot, int32_t rows) {
    for (int32_t i = s->list->start[slot]; i < s->list->start[slot + 1]; i++) {
        const int32_t v = s->list->slot[i];
        if (s->at[k][v] < 0) continue;
        s->pull[k][v] += rows;
        if (rows < 0)
            sift_up(s, k, s->at[k][v]);
        else
            sift_down(s, k, s->at[k][v]);
    }
}

static void move(mabd_dual_separator* s, int32_t slot, int k) {
    take_out(s, 0, slot);
    take_out(s, 1, slot);
    s->locked[slot] = 1;
    set_side(s, slot, k);
    add_pull(s, 1 - k, slot, s->width[slot]);
    for (int32_t i = s->list->start[slot]; i < s->list->start[slot + 1]; i++) {
        const int32_t u = s->list->slot[i];
        if (s->side[u] != 1 - k) continue;
        set_side(s, u, MABD_SIDE_CUT);
        add_pull(s, k, u, -s->width[u]);
        if (!s->locked[u]) enter(s, u);
    }
}

static void go_back(mabd_dual_separator* s, int32_t trail_count) {
    while (s->trail_count > trail_count) {
        const int32_t slot = s->trail[--s->trail_count];
        const int side = s->trail_side[s->trail_count];
        s->weight[s->side[slot]] -= s->width[slot];
        s->weight[side] += s->width[slot];
        s->side[slot] = (uint8_t)side;
    }
}

// ---- passes ------------------------------------------------------------------------------------

// Return the side that the next slot moves to, -1 = none may move.
static int choose_side(const mabd_dual_separator* s, int64_t limit) {
    bool may[2];
    for (int k = 0; k < 2; k++) {
        may[k] = s->count[k] > 0 && s->weight[k] + s->width[s->heap[k][0]] <= limit;
    }
    if (!may[0] || !may[1]) return may[0] ? 0 : may[1] ? 1 : -1;
    const int32_t ga = gain(s, 0, s->heap[0][0]), gb = gain(s, 1, s->heap[1][0]);
    if (ga != gb) return ga > gb ? 0 : 1;
    return s->weight[0] <= s->weight[1] ? 0 : 1;
}

static int64_t difference(const mabd_dual_separator* s) {
    const int64_t d = s->weight[0] - s->weight[1];
    return d < 0 ? -d : d;
}

// Do one pass; true if the separator is lighter, or equally light with more even sides.
static bool refine_once(mabd_dual_separator* s, int64_t limit) {
    const int32_t tries = LEAST_TRIES + s->count[0] / 4;
    const int64_t weight = s->weight[2];
    int64_t best = weight, even = difference(s);
    int32_t kept = 0, idle = 0;
    s->trail_count = 0;
    for (int k = choose_side(s, limit); k >= 0 && idle < tries; k = choose_side(s, limit)) {
        move(s, s->heap[k][0], k);
        idle++;
        if (s->weight[2] > best || (s->weight[2] == best && difference(s) >= even)) continue;
        if (s->weight[2] < best) idle = 0;
        best = s->weight[2], even = difference(s);
        kept = s->trail_count;
    }
    empty(s);
    for (int32_t i = 0; i < s->trail_count; i++) s->locked[s->trail[i]] = 0;
    go_back(s, kept);
    return best < weight;
}

void mabd_dual_separator_refine(mabd_dual_separator* s, int32_t count, const int32_t* slots,
                                int64_t limit) {
    memset(s->weight, 0, sizeof s->weight);
    for (int32_t i = 0; i < count; i++) s->weight[s->side[slots[i]]] += s->width[slots[i]];
    for (int k = 0; k < 2; k++) {
        if (s->weight[k] > limit) limit = s->weight[k];
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (int32_t i = 0; i < count; i++) {
            if (s->side[slots[i]] == MABD_SIDE_CUT) enter(s, slots[i]);
        }
        if (!refine_once(s, limit)) break;
    }
}
