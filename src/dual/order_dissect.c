// SPDX-License-Identifier: Apache-2.0
//
// Nested dissection (George 1973): a separator S splits a part into A and B, which are ordered one
// after the other and split in turn; S comes last. Eliminating A then changes A and its
// surroundings, never B.
//
//   slots of a part:   [ A  .  .  . ][ B  .  .  . ][ S ]      reordered in place, A and B again
//
// Separators come from distances. Let a, b, c be slots far from each other (a pseudo-peripheral
// pair, and one off the path between them), d_a the number of steps from a, and so on. Candidates
// are the level sets of
//
//   f = d_a - d_b, d_a - d_c, d_b - d_c
//
// On a grid with a and c in corners next to each other d_a = x + y and d_c = X - x + y, so that
// their difference has straight level sets, where those of d_a alone, the levels of a breadth-first
// search, run along diagonals: twice as long, and four times the operations on a net. A function f
// whose values at neighbours are known cuts at any threshold t: {f <= t} less its slots that have a
// neighbour above t, which are S; or S from the other side. Slot v is in S for f(v) <= t < max of f
// at its neighbours: a range of t, so the weights of all thresholds come from one pass over the
// edges, by sums of differences. The lightest for its balance is taken for each f, all but hopeless
// ones are refined (separator.c), and the best is kept. A part without a cut that is lighter than
// both sides and leaves 1/8 on each is not cut.
//
// In the graph of slots a body with k joints is a clique of k slots, which any cut runs through or
// around: in a net a straight cut across links costs one joint a link, one through the junctions
// two to four. Weights decide.

#include "dual/order_dissect.h"

#include "dual/separator.h"

#include <string.h>

#define LEAF 100 // slots: smaller parts are not cut
// a cut that leaves less than 1/8 on one side is rejected, so there are O(log n) levels
#define SHARE     8
#define FUNCTIONS 3

typedef struct range {
    int32_t begin, end; // in `slots`
} range;

typedef struct dissection {
    const mabd_dual_neighbours* list;
    const int32_t* width;
    int32_t n;
    mabd_dual_separator cut;
    int32_t* slots;   // parts are ranges of it (n)
    uint8_t* opens;   // a set begins at this place (n)
    uint8_t* reached; // (n)
    uint8_t* kept;    // sides of the best cut so far (n)
    int32_t* queue;   // breadth first (n)
    int32_t* d[3];    // steps from a, b, c (n)
    int32_t* f;       // steps from the middle, then the function to cut by (n)
    int64_t* sum[3];  // rows up to a threshold, separators from below and from above (2 n + 2)
    range* todo;      // (n)
    int32_t todo_count;
} dissection;

/// A way to cut: f = d[plus] - d[minus].
typedef struct cutting {
    int plus, minus;
    int32_t threshold;
    bool above;         // the separator is taken from the side above
    int64_t cut, least; // rows of the separator and of the lighter side
} cutting;

static void layout(dissection* w, mabd_arena* arena) {
    const size_t n = (size_t)w->n;
    w->slots = mabd_arena_take(arena, n, sizeof *w->slots);
    w->opens = mabd_arena_take(arena, n, sizeof *w->opens);
    w->reached = mabd_arena_take(arena, n, sizeof *w->reached);
    w->kept = mabd_arena_take(arena, n, sizeof *w->kept);
    w->queue = mabd_arena_take(arena, n, sizeof *w->queue);
    w->todo = mabd_arena_take(arena, n, sizeof *w->todo);
    for (int i = 0; i < 3; i++) w->d[i] = mabd_arena_take(arena, n, sizeof(int32_t));
    w->f = mabd_arena_take(arena, n, sizeof *w->f);
    for (int i = 0; i < 3; i++) w->sum[i] = mabd_arena_take(arena, 2 * n + 2, sizeof(int64_t));
    mabd_dual_separator_layout(&w->cut, w->n, arena);
}

// ---- distances ---------------------------------------------------------------------------------

// Compute the steps from `start` within its part to the slots not yet reached. Appends them to the
// queue from `count` on and returns its new length.
static int32_t walk(dissection* w, int32_t start, int32_t count, int32_t* d) {
    const mabd_dual_neighbours* list = w->list;
    int32_t end = count;
    w->queue[end++] = start;
    w->reached[start] = 1;
    d[start] = 0;
    for (int32_t next = count; next < end; next++) {
        const int32_t v = w->queue[next];
        for (int32_t i = list->start[v]; i < list->start[v + 1]; i++) {
            const int32_t u = list->slot[i];
            if (w->cut.side[u] != MABD_SIDE_A || w->reached[u]) continue;
            w->reached[u] = 1;
            d[u] = d[v] + 1;
            w->queue[end++] = u;
        }
    }
    return end;
}

// Compute the steps from `start` within a connected part; return the slot reached last.
static int32_t measure(dissection* w, int32_t start, int32_t* d) {
    const int32_t count = walk(w, start, 0, d);
    for (int32_t i = 0; i < count; i++) w->reached[w->queue[i]] = 0;
    return w->queue[count - 1];
}

// Compute d[0..2], the steps from three slots far apart.
static void measure_part(dissection* w, range part) {
    const int32_t* slots = w->slots;
    int32_t a = slots[part.begin], b = measure(w, a, w->d[0]), far = -1;
    for (int i = 0; i < 4 && w->d[0][b] > far; i++) {
        far = w->d[0][b];
        a = b;
        b = measure(w, a, w->d[0]);
    }
    measure(w, b, w->d[1]);
    int32_t middle = slots[part.begin], best = -1;
    for (int32_t i = part.begin; i < part.end; i++) {
        const int32_t v = slots[i], da = w->d[0][v], db = w->d[1][v], near = da < db ? da : db;
        if (near > best) best = near, middle = v;
    }
    measure(w, middle, w->f);
    int32_t c = middle, furthest = -1, off = -1;
    for (int32_t i = part.begin; i < part.end; i++) {
        const int32_t v = slots[i], da = w->d[0][v], db = w->d[1][v], near = da < db ? da : db;
        if (w->f[v] < furthest || (w->f[v] == furthest && near <= off)) continue;
        furthest = w->f[v], off = near, c = v;
    }
    measure(w, c, w->d[2]);
}

// ---- cuts --------------------------------------------------------------------------------------

// Compute f for a part; *low and *high get its range.
static void set_function(dissection* w, range part, const cutting* c, int32_t* low, int32_t* high) {
    *low = INT32_MAX, *high = INT32_MIN;
    for (int32_t i = part.begin; i < part.end; i++) {
        const int32_t v = w->slots[i], f = w->d[c->plus][v] - w->d[c->minus][v];
        w->f[v] = f;
        if (f < *low) *low = f;
        if (f > *high) *high = f;
    }
}

// Compute the least and greatest value of f at a slot and its neighbours in the part.
static void bounds(const dissection* w, int32_t slot, int32_t* least, int32_t* most) {
    *least = *most = w->f[slot];
    for (int32_t i = w->list->start[slot]; i < w->list->start[slot + 1]; i++) {
        const int32_t u = w->list->slot[i];
        if (w->cut.side[u] != MABD_SIDE_A) continue;
        if (w->f[u] < *least) *least = w->f[u];
        if (w->f[u] > *most) *most = w->f[u];
    }
}

// Compare cuts: fewest rows of the separator per row of the lighter side; a lighter side below 30 %
// only if there is no other.
static bool is_better(const cutting* x, const cutting* y, int64_t total) {
    const bool even_x = 10 * x->least >= 3 * total, even_y = 10 * y->least >= 3 * total;
    if (even_x != even_y) return even_x;
    return x->cut * y->least < y->cut * x->least;
}

// Find the best threshold of a cut. Returns the rows of the part.
static int64_t find_threshold(dissection* w, range part, cutting* c, cutting* best) {
    int32_t low, high;
    set_function(w, part, c, &low, &high);
    const size_t span = (size_t)(high - low) + 1;
    for (int i = 0; i < 3; i++) memset(w->sum[i], 0, (span + 1) * sizeof(int64_t));
    for (int32_t i = part.begin; i < part.end; i++) {
        const int32_t v = w->slots[i], f = w->f[v] - low, rows = w->width[v];
        int32_t least, most;
        bounds(w, v, &least, &most);
        w->sum[0][f] += rows;
        w->sum[1][f] += rows, w->sum[1][most - low] -= rows;
        w->sum[2][least - low] += rows, w->sum[2][f] -= rows;
    }
    for (size_t t = 1; t < span; t++) {
        for (int i = 0; i < 3; i++) w->sum[i][t] += w->sum[i][t - 1];
    }
    const int64_t total = w->sum[0][span - 1];
    for (size_t t = 0; t + 1 < span; t++) {
        for (int above = 0; above < 2; above++) {
            const int64_t cut = w->sum[1 + above][t], up = total - w->sum[0][t];
            const int64_t sides[2] = {w->sum[0][t] - (above ? 0 : cut), up - (above ? cut : 0)};
            c->threshold = low + (int32_t)t, c->above = above, c->cut = cut;
            c->least = sides[0] < sides[1] ? sides[0] : sides[1];
            if (c->least > 0 && is_better(c, best, total)) *best = *c;
        }
    }
    return total;
}

static void apply(dissection* w, range part, const cutting* c) {
    // the level set of a slot does not depend on sides already set: `bounds` reads slots of side A,
    // so the new sides are stored separately until all are known
    uint8_t* side = w->reached;
    int32_t low, high;
    set_function(w, part, c, &low, &high);
    for (int32_t i = part.begin; i < part.end; i++) {
        const int32_t v = w->slots[i], f = w->f[v];
        int32_t least, most;
        bounds(w, v, &least, &most);
        const bool up = f > c->threshold;
        const bool cut = c->above ? up && least <= c->threshold : !up && most > c->threshold;
        side[v] = cut ? MABD_SIDE_CUT : up ? MABD_SIDE_B : MABD_SIDE_A;
    }
    for (int32_t i = part.begin; i < part.end; i++) {
        w->cut.side[w->slots[i]] = side[w->slots[i]];
        side[w->slots[i]] = 0;
    }
}

// Cut at a threshold, refine, and keep the sides if they are the best so far.
static void try_cut(dissection* w, range part, cutting* c, int64_t total, cutting* best) {
    const int32_t count = part.end - part.begin, *slots = w->slots + part.begin;
    const int64_t* weight = w->cut.weight;
    apply(w, part, c);
    mabd_dual_separator_refine(&w->cut, count, slots, total * 6 / 10);
    c->cut = weight[MABD_SIDE_CUT];
    c->least = weight[0] < weight[1] ? weight[0] : weight[1];
    const bool better = is_better(c, best, total);
    for (int32_t i = 0; i < count; i++) {
        if (better) w->kept[slots[i]] = w->cut.side[slots[i]];
        w->cut.side[slots[i]] = MABD_SIDE_A;
    }
    if (better) *best = *c;
}

// Split a connected part; false if no cut is worthwhile.
static bool split(dissection* w, range part) {
    static const int8_t functions[FUNCTIONS][2] = {{0, 1}, {0, 2}, {1, 2}};
    cutting found[FUNCTIONS], best = {.cut = 1, .least = 0};
    int64_t total = 0, lightest = INT64_MAX;
    measure_part(w, part);
    for (int i = 0; i < FUNCTIONS; i++) {
        cutting c = {.plus = functions[i][0], .minus = functions[i][1]};
        found[i] = best;
        total = find_threshold(w, part, &c, &found[i]);
        if (found[i].least > 0 && found[i].cut < lightest) lightest = found[i].cut;
    }
    for (int i = 0; i < FUNCTIONS; i++) {
        const bool hopeless = found[i].least == 0 || found[i].cut * 2 / 3 > lightest;
        if (!hopeless) try_cut(w, part, &found[i], total, &best);
    }
    if (best.cut >= best.least || SHARE * best.least < total) return false;
    for (int32_t i = part.begin; i < part.end; i++) {
        w->cut.side[w->slots[i]] = w->kept[w->slots[i]];
    }
    return true;
}

// ---- parts -------------------------------------------------------------------------------------

static void set_sides(dissection* w, range part, uint8_t side) {
    for (int32_t i = part.begin; i < part.end; i++) w->cut.side[w->slots[i]] = side;
}

static void leave(dissection* w, range part, bool cut_further) {
    if (part.begin == part.end) return;
    if (cut_further && part.end - part.begin > LEAF) {
        w->todo[w->todo_count++] = part;
    } else {
        w->opens[part.begin] = 1;
    }
}

// Reorder a part by its sides and queue these for splitting.
static void divide(dissection* w, range part) {
    int32_t begin = part.begin, count = 0, ends[3];
    for (int side = 0; side < 3; side++) {
        for (int32_t i = part.begin; i < part.end; i++) {
            if (w->cut.side[w->slots[i]] == side) w->queue[count++] = w->slots[i];
        }
        ends[side] = part.begin + count;
    }
    memcpy(w->slots + part.begin, w->queue, (size_t)count * sizeof(int32_t));
    set_sides(w, part, MABD_SIDE_NONE);
    for (int side = 0; side < 3; side++) {
        leave(w, (range){begin, ends[side]}, side != MABD_SIDE_CUT);
        begin = ends[side];
    }
}

// Reorder a part by its connected components; true if it is one.
static bool divide_components(dissection* w, range part) {
    int32_t count = 0, pieces = 0;
    for (int32_t i = part.begin; i < part.end; i++) {
        if (w->reached[w->slots[i]]) continue;
        count = walk(w, w->slots[i], count, w->d[0]);
        pieces++;
    }
    set_sides(w, part, MABD_SIDE_A);
    for (int32_t i = 0; i < count; i++) w->reached[w->queue[i]] = 0;
    if (pieces == 1) return true;
    memcpy(w->slots + part.begin, w->queue, (size_t)count * sizeof(int32_t));
    set_sides(w, part, MABD_SIDE_NONE);
    for (int32_t i = part.begin, begin = part.begin; i < part.end; i++) {
        const bool last = i + 1 == part.end || w->d[0][w->slots[i + 1]] == 0;
        if (!last) continue;
        leave(w, (range){begin, i + 1}, true);
        begin = i + 1;
    }
    return false;
}

static void dissect(dissection* w) {
    mabd_dual_separator_clear(&w->cut, w->n);
    for (int32_t s = 0; s < w->n; s++) w->slots[s] = s;
    leave(w, (range){0, w->n}, true);
    while (w->todo_count > 0) {
        const range part = w->todo[--w->todo_count];
        set_sides(w, part, MABD_SIDE_A);
        if (!divide_components(w, part)) continue;
        if (split(w, part)) {
            divide(w, part);
        } else {
            set_sides(w, part, MABD_SIDE_NONE);
            w->opens[part.begin] = 1;
        }
    }
}

mabd_status mabd_dual_dissect(const mabd_allocator* allocator, const mabd_dual_system* system,
                              int32_t* set) {
    mabd_dual_neighbours list;
    mabd_arena arena = {NULL, 0, 0};
    dissection w = {.n = system->slot_count, .width = system->width};
    MABD_TRY(mabd_dual_neighbours_make(allocator, system, &list));
    layout(&w, &arena);
    arena.size = arena.used;
    if (arena.size != SIZE_MAX) arena.memory = mabd_alloc(allocator, arena.size);
    if (arena.memory) {
        arena.used = 0;
        layout(&w, &arena);
        w.list = w.cut.list = &list;
        w.cut.width = system->width;
        dissect(&w);
        for (int32_t i = 0, number = -1; i < w.n; i++) {
            number += w.opens[i];
            set[w.slots[i]] = number;
        }
        mabd_free(allocator, arena.memory, arena.size);
    }
    mabd_dual_neighbours_free(allocator, &list);
    return arena.memory ? MABD_OK : MABD_ERR_MEMORY;
}
