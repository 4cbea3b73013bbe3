// SPDX-License-Identifier: Apache-2.0
//
// Analysis in five steps, places of the elimination order numbered from 0:
//
//   tree       elimination tree by path compression (Liu 1990), then a postorder of it
//   counts     rows below each slot: row i of L has an entry in every slot on the paths from the
//              neighbours of i up the tree to i
//   nodes      slots chained in the tree with nested rows (fundamental supernodes), then children
//              merged into parents where a cost model says that zeros are cheaper than a front
//   rows       the walk of the counts on the tree of nodes; it yields sorted rows
//   maps       runs of rows in the parent's front, places of the blocks, offsets in the workspace
//
// O(entries of L by blocks) time; memory O(slots + edges), and O(rows lists of the nodes) in the
// last two steps.

#include "dual/block_symbolic.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct analysis {
    const mabd_dual_system* system;
    int32_t n;
    int32_t *order, *place;     // slot at a place, place of a slot (n)
    int32_t *start, *neighbour; // places coupled with a place, both directions (n + 1), (2 edges)
    int32_t* parent;            // elimination tree, -1 = root (n)
    int32_t* below;             // rows below a slot (n)
    int32_t *mark, *stack, *scratch; // (n) each
    int32_t *child, *next;           // first child, next sibling (n) each
    // nodes: of slots, the arrays are (n) long
    int32_t node_count;
    int32_t* node;        // of a place
    int32_t* node_parent; // -1 = root
    int32_t* width;       // rows of a node
    int32_t* node_below;  // rows below a node
    int32_t* into;        // node that a node was merged into, itself if none
    int32_t* node_start;  // places of a node (n + 1)
    int32_t* list_start;  // slots below a node, in `list` (n + 1)
    int32_t* list;        // places (list_start[node_count])
    int32_t part_count;
    int32_t part_first[MABD_BLOCK_PARTS + 2]; // nodes of a part, then of the top
    int64_t* time;                            // of the fronts of a subtree
    size_t bytes, list_bytes;
} analysis;

static int32_t edge_from(const mabd_dual_system* system, int32_t edge) {
    return system->from[edge] - system->slot_offset;
}
static int32_t edge_to(const mabd_dual_system* system, int32_t edge) {
    return system->to[edge] - system->slot_offset;
}
static int32_t width_at(const analysis* a, int32_t place) {
    return a->system->width[a->order[place]];
}

// ---- memory ------------------------------------------------------------------------------------

static void scratch_layout(analysis* a, mabd_arena* arena) {
    const size_t n = (size_t)a->n + 1;
    int32_t** arrays[] = {
        &a->order, &a->place,      &a->start,      &a->parent,     &a->below,  &a->mark,
        &a->stack, &a->child,      &a->next,       &a->node,       &a->width,  &a->node_parent,
        &a->into,  &a->node_below, &a->node_start, &a->list_start, &a->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = mabd_arena_take(arena, n, sizeof(int32_t));
    }
    a->time = mabd_arena_take(arena, n, sizeof *a->time);
    a->neighbour = mabd_arena_take(arena, 2 * (size_t)a->system->edge_count, sizeof(int32_t));
}

static mabd_status scratch_init(const mabd_allocator* allocator, const mabd_dual_system* system,
                                const int32_t* order, analysis* a) {
    mabd_arena arena = {NULL, 0, 0};
    *a = (analysis){.system = system, .n = system->slot_count};
    scratch_layout(a, &arena);
    a->bytes = arena.size = arena.used;
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    scratch_layout(a, &arena);
    memcpy(a->order, order, (size_t)a->n * sizeof(int32_t));
    return MABD_OK;
}

static void scratch_free(const mabd_allocator* allocator, analysis* a) {
    mabd_free(allocator, a->list, a->list_bytes);
    mabd_free(allocator, a->order, a->bytes);
}

// ---- tree --------------------------------------------------------------------------------------

// Collect the neighbours of every place, for the current order.
static void collect_neighbours(analysis* a) {
    const mabd_dual_system* system = a->system;
    memset(a->start, 0, ((size_t)a->n + 1) * sizeof(int32_t));
    for (int32_t k = 0; k < a->n; k++) a->place[a->order[k]] = k;
    for (int32_t e = 0; e < system->edge_count; e++) {
        a->start[a->place[edge_from(system, e)]]++;
        a->start[a->place[edge_to(system, e)]]++;
    }
    int32_t sum = 0;
    for (int32_t k = 0; k <= a->n; k++) {
        sum += a->start[k];
        a->start[k] = sum;
    }
    for (int32_t e = system->edge_count - 1; e >= 0; e--) {
        const int32_t s = a->place[edge_from(system, e)], t = a->place[edge_to(system, e)];
        a->neighbour[--a->start[s]] = t;
        a->neighbour[--a->start[t]] = s;
    }
}

static void find_tree(analysis* a) {
    int32_t* ancestor = a->scratch;
    for (int32_t i = 0; i < a->n; i++) {
        a->parent[i] = ancestor[i] = -1;
        for (int32_t at = a->start[i]; at < a->start[i + 1]; at++) {
            for (int32_t k = a->neighbour[at]; k >= 0 && k < i;) {
                const int32_t up = ancestor[k];
                ancestor[k] = i;
                if (up < 0) a->parent[k] = i;
                k = up;
            }
        }
    }
}

// Child lists of a forest, children ascending.
static void list_children(int32_t n, const int32_t* parent, int32_t* child, int32_t* next) {
    for (int32_t k = 0; k < n; k++) child[k] = -1;
    for (int32_t k = n - 1; k >= 0; k--) {
        if (parent[k] < 0) continue;
        next[k] = child[parent[k]];
        child[parent[k]] = k;
    }
}

// out (n): nodes of the forest in postorder. child is used up.
static void list_postorder(int32_t n, const int32_t* parent, int32_t* child, const int32_t* next,
                           int32_t* stack, int32_t* out) {
    int32_t count = 0;
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0) continue;
        int32_t depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            const int32_t top = stack[depth - 1], down = child[top];
            if (down >= 0) {
                child[top] = next[down];
                stack[depth++] = down;
            } else {
                out[count++] = top;
                depth--;
            }
        }
    }
}

// Reorder so that places are a postorder of the tree.
static void make_postorder(analysis* a) {
    list_children(a->n, a->parent, a->child, a->next);
    list_postorder(a->n, a->parent, a->child, a->next, a->stack, a->scratch);
    for (int32_t k = 0; k < a->n; k++) a->mark[k] = a->order[a->scratch[k]];
    memcpy(a->order, a->mark, (size_t)a->n * sizeof(int32_t));
    collect_neighbours(a);
    find_tree(a);
}

// ---- counts ------------------------------------------------------------------------------------

// Count the rows below each slot; stop and return false when the factor exceeds `limit` entries.
static bool count_rows(analysis* a, double limit) {
    double entries = 0;
    for (int32_t k = 0; k < a->n; k++) a->below[k] = 0, a->mark[k] = -1;
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t rows = width_at(a, i);
        a->mark[i] = i;
        for (int32_t at = a->start[i]; at < a->start[i + 1]; at++) {
            for (int32_t k = a->neighbour[at]; k < i && a->mark[k] != i; k = a->parent[k]) {
                a->below[k] += rows;
                a->mark[k] = i;
                entries += rows * width_at(a, k);
            }
        }
        if (entries > limit) return false;
    }
    return true;
}

// Return the multiplications and additions of eliminating `width` rows with `below` rows under
// them.
static double front_flops(int32_t width, int32_t below) {
    const double w = width, r = below;
    return w * w * w / 3 + w * w * r + w * r * (r + 1);
}

mabd_status mabd_dual_block_cost(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 const int32_t* order, double limit, mabd_dual_block_count* count) {
    analysis a;
    MABD_TRY(scratch_init(allocator, system, order, &a));
    collect_neighbours(&a);
    find_tree(&a);
    // n columns of e entries in all take at least e^2 / n operations
    const bool counted = count_rows(&a, sqrt(limit) * sqrt((double)system->row_count));
    *count = (mabd_dual_block_count){counted ? 0 : limit, 0};
    for (int32_t k = 0; k < a.n && counted; k++) {
        const double width = width_at(&a, k);
        count->flops += front_flops(width_at(&a, k), a.below[k]);
        count->entries += width * ((width + 1) / 2 + a.below[k]);
    }
    scratch_free(allocator, &a);
    return MABD_OK;
}

// ---- nodes -------------------------------------------------------------------------------------

static void find_chains(analysis* a) {
    int32_t* children = a->scratch;
    memset(children, 0, (size_t)a->n * sizeof(int32_t));
    for (int32_t k = 0; k < a->n; k++) {
        if (a->parent[k] >= 0) children[a->parent[k]]++;
    }
    a->node_count = 0;
    for (int32_t k = 0; k < a->n; k++) {
        const bool chained = k > 0 && a->parent[k - 1] == k && children[k] == 1 &&
                             a->below[k - 1] == a->below[k] + width_at(a, k);
        if (!chained) a->width[a->node_count++] = 0;
        const int32_t s = a->node_count - 1;
        a->node[k] = s;
        a->width[s] += width_at(a, k);
        a->node_below[s] = a->below[k]; // of the last one
        a->into[s] = s;
    }
    for (int32_t k = 0; k < a->n; k++) {
        a->node_parent[a->node[k]] = a->parent[k] < 0 ? -1 : a->node[a->parent[k]];
    }
}

// Return the time of a front in units of about 1/16 ns: a fixed part, pivots, arithmetic on padded
// tiles, the update matrix, and 1 ns for each entry of L, which is written to memory and read back.
static int64_t front_time(int64_t width, int64_t below) {
    const int64_t w = MABD_BLOCK_PAD(width), r = MABD_BLOCK_PAD(below);
    const int64_t arithmetic = width * (w * w / 3 + w * r + r * r);
    return 700 + 150 * width + arithmetic * 13 / 16 + 6 * r * r + 16 * width * (w + r);
}

// Merge children into their parents where that saves time.
static void merge_nodes(analysis* a) {
    list_children(a->node_count, a->node_parent, a->child, a->next);
    for (int32_t p = 0; p < a->node_count; p++) {
        for (int32_t c = a->child[p]; c >= 0; c = a->next[c]) {
            const int64_t apart = front_time(a->width[c], a->node_below[c]) +
                                  front_time(a->width[p], a->node_below[p]);
            if (front_time(a->width[c] + a->width[p], a->node_below[p]) > apart) continue;
            a->into[c] = p;
            a->width[p] += a->width[c];
        }
    }
}

// A part takes at least 100 microseconds, and 1/32 of the whole.
#define PART_TIME  ((int64_t)1600000)
#define PART_SHARE 32

// Find the top. post (nodes): merged and other nodes in postorder. number: 1 = top, 0 = in a part,
// 2 = in a part with its parent in the top; time (nodes): of the subtree. Returns the time of a
// part.
static int64_t find_top(const analysis* a, const int32_t* post, int64_t* time, int32_t* number) {
    int64_t whole = 0;
    for (int32_t s = 0; s < a->node_count; s++) time[s] = 0;
    for (int32_t i = 0; i < a->node_count; i++) {
        const int32_t s = post[i];
        if (a->into[s] != s) continue;
        const int64_t own = front_time(a->width[s], a->node_below[s]);
        time[s] += own, whole += own;
        if (a->node_parent[s] >= 0) time[a->node_parent[s]] += time[s];
    }
    const int64_t share = whole / PART_SHARE, limit = share > PART_TIME ? share : PART_TIME;
    for (int32_t i = a->node_count - 1; i >= 0; i--) {
        const int32_t s = post[i], parent = a->node_parent[s];
        if (time[s] > limit && whole > 4 * limit) {
            number[s] = 1;
        } else {
            number[s] = parent < 0 || number[parent] == 1 ? 2 : 0;
        }
    }
    return limit;
}

// Number the merged nodes (post: postorder): consecutive subtrees part by part, then the top.
// Returns their number.
static int32_t number_parts(analysis* a, const int32_t* post, int64_t* time, int32_t* number) {
    const int64_t limit = find_top(a, post, time, number);
    int32_t count = 0;
    int64_t held = 0;
    a->part_count = a->part_first[0] = 0;
    for (int32_t i = 0; i < a->node_count; i++) {
        const int32_t s = post[i];
        if (a->into[s] != s || number[s] == 1) continue;
        if (number[s] == 2) held += time[s];
        const bool full = number[s] == 2 && held >= limit && a->part_count + 1 < MABD_BLOCK_PARTS;
        number[s] = -1 - count++;
        if (!full) continue;
        a->part_first[++a->part_count] = count, held = 0;
    }
    if (count > a->part_first[a->part_count]) a->part_first[++a->part_count] = count;
    for (int32_t i = 0; i < a->node_count; i++) {
        const int32_t s = post[i];
        if (a->into[s] != s) continue;
        number[s] = number[s] == 1 ? count++ : -1 - number[s];
    }
    a->part_first[a->part_count + 1] = count;
    return count;
}

// Number the merged nodes, children before parents, and reorder the slots to suit.
static void number_nodes(analysis* a) {
    const int32_t nodes = a->node_count;
    int32_t *root = a->into, *number = a->mark, *member = a->scratch;
    for (int32_t s = nodes - 1; s >= 0; s--) root[s] = root[s] == s ? s : root[root[s]];
    for (int32_t s = 0; s < nodes; s++) {
        // a merged node gets no number: it has no parent and is skipped below
        if (root[s] == s) a->node_parent[s] = a->node_parent[s] < 0 ? -1 : root[a->node_parent[s]];
    }
    for (int32_t s = 0; s < nodes; s++) {
        if (root[s] != s) a->node_parent[s] = -1;
    }
    list_children(nodes, a->node_parent, a->child, a->next);
    list_postorder(nodes, a->node_parent, a->child, a->next, a->stack, a->below);
    const int32_t count = number_parts(a, a->below, a->time, number);
    // slots by node, ascending within a node
    memset(a->node_start, 0, ((size_t)count + 1) * sizeof(int32_t));
    for (int32_t k = 0; k < a->n; k++) a->node_start[number[root[a->node[k]]] + 1]++;
    for (int32_t s = 0; s < count; s++) a->node_start[s + 1] += a->node_start[s];
    for (int32_t k = 0; k < a->n; k++) {
        member[a->node_start[number[root[a->node[k]]]]++] = a->order[k];
    }
    for (int32_t s = count; s > 0; s--) a->node_start[s] = a->node_start[s - 1];
    a->node_start[0] = 0;
    // parents and widths under the new numbers
    for (int32_t s = 0; s < nodes; s++) {
        if (root[s] != s) continue;
        a->below[number[s]] = a->node_parent[s] < 0 ? -1 : number[a->node_parent[s]];
        a->stack[number[s]] = a->width[s];
    }
    memcpy(a->node_parent, a->below, (size_t)count * sizeof(int32_t));
    memcpy(a->width, a->stack, (size_t)count * sizeof(int32_t));
    memcpy(a->order, member, (size_t)a->n * sizeof(int32_t));
    a->node_count = count;
    for (int32_t s = 0; s < count; s++) {
        for (int32_t k = a->node_start[s]; k < a->node_start[s + 1]; k++) a->node[k] = s;
    }
    collect_neighbours(a);
}

// ---- rows --------------------------------------------------------------------------------------

// Visit every (row slot, node) of the factor: count them, or enter them into the lists.
static void walk_rows(analysis* a, bool enter) {
    for (int32_t s = 0; s < a->node_count; s++) a->mark[s] = -1;
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t own = a->node[i];
        for (int32_t at = a->start[i]; at < a->start[i + 1]; at++) {
            if (a->neighbour[at] >= i) continue;
            for (int32_t s = a->node[a->neighbour[at]]; s != own && a->mark[s] != i;
                 s = a->node_parent[s]) {
                a->mark[s] = i;
                if (enter) a->list[a->list_start[s]] = i;
                a->list_start[s]++;
            }
        }
    }
}

static mabd_status list_rows(const mabd_allocator* allocator, analysis* a) {
    memset(a->list_start, 0, ((size_t)a->n + 1) * sizeof(int32_t));
    walk_rows(a, false);
    int64_t sum = 0;
    for (int32_t s = 0; s <= a->node_count; s++) {
        const int32_t count = s < a->node_count ? a->list_start[s] : 0;
        a->list_start[s] = (int32_t)sum;
        sum += count;
        if (sum > INT32_MAX) return MABD_ERR_MEMORY;
    }
    a->list_bytes = mabd_bytes((size_t)sum, sizeof(int32_t));
    a->list = mabd_alloc(allocator, a->list_bytes);
    if (!a->list) return MABD_ERR_MEMORY;
    walk_rows(a, true);
    for (int32_t s = a->node_count; s > 0; s--) a->list_start[s] = a->list_start[s - 1];
    a->list_start[0] = 0;
    for (int32_t s = 0; s < a->node_count; s++) {
        a->node_below[s] = 0;
        for (int32_t i = a->list_start[s]; i < a->list_start[s + 1]; i++) {
            a->node_below[s] += width_at(a, a->list[i]);
        }
    }
    return MABD_OK;
}

// ---- maps --------------------------------------------------------------------------------------

// Return true if the i-th slot below node s starts a run: it does not follow the previous one, or
// it is the first beyond the parent's own rows, or of the top.
static bool starts_run(const analysis* a, int32_t s, int32_t i) {
    if (i == a->list_start[s] || a->list[i] != a->list[i - 1] + 1) return true;
    if (a->list[i] == a->node_start[a->part_first[a->part_count]]) return true;
    const int32_t parent = a->node_parent[s];
    return a->node[a->list[i - 1]] == parent && a->node[a->list[i]] != parent;
}

static int32_t count_runs(const analysis* a) {
    int32_t runs = 0;
    for (int32_t s = 0; s < a->node_count; s++) {
        for (int32_t i = a->list_start[s]; i < a->list_start[s + 1]; i++)
            runs += starts_run(a, s, i);
    }
    return runs;
}

static void layout(const analysis* a, size_t runs, mabd_arena* arena, mabd_dual_block_symbolic* m) {
    const size_t slots = (size_t)a->n, nodes = (size_t)a->node_count;
    mabd_arena_take(arena, 1, sizeof *m);
    m->slots = mabd_arena_take(arena, slots, sizeof *m->slots);
    m->nodes = mabd_arena_take(arena, nodes, sizeof *m->nodes);
    m->children = mabd_arena_take(arena, nodes, sizeof *m->children);
    m->runs = mabd_arena_take(arena, runs, sizeof *m->runs);
    m->places = mabd_arena_take(arena, (size_t)a->system->edge_count, sizeof *m->places);
    m->parts = mabd_arena_take(arena, (size_t)a->part_count + 1, sizeof *m->parts);
}

static mabd_dual_block_symbolic* allocate(const mabd_allocator* allocator, const analysis* a) {
    mabd_dual_block_symbolic counts = {0};
    mabd_arena arena = {NULL, 0, 0};
    const size_t runs = (size_t)count_runs(a);
    layout(a, runs, &arena, &counts);
    if (arena.used == SIZE_MAX) return NULL;
    arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return NULL;
    arena.used = 0;
    mabd_dual_block_symbolic* m = (mabd_dual_block_symbolic*)(void*)arena.memory;
    layout(a, runs, &arena, m);
    m->bytes = arena.size;
    m->slot_count = a->n;
    m->row_count = a->system->row_count;
    m->node_count = a->node_count;
    return m;
}

static mabd_dual_block_slot slot_of(const analysis* a, int32_t place, int32_t first) {
    const mabd_dual_system* system = a->system;
    const int32_t s = a->order[place];
    return (mabd_dual_block_slot){.block = system->block[s],
                                  .slot = s,
                                  .row = system->row[s] - system->row_offset,
                                  .first = first,
                                  .width = system->width[s]};
}

static void fill_nodes(const analysis* a, mabd_dual_block_symbolic* m) {
    int32_t row = 0;
    for (int32_t s = 0; s < a->node_count; s++) {
        mabd_dual_block_node* node = &m->nodes[s];
        node->row = row;
        node->width = a->width[s];
        node->below = a->node_below[s];
        node->slot = a->node_start[s];
        node->slot_count = a->node_start[s + 1] - a->node_start[s];
        for (int32_t k = node->slot; k < a->node_start[s + 1]; k++) {
            m->slots[k] = slot_of(a, k, row);
            row += width_at(a, k);
        }
        const int64_t w = MABD_BLOCK_PAD(node->width), r = MABD_BLOCK_PAD(node->below);
        node->panel = m->panel_size;
        m->panel_size += (w + r) * node->width;
        m->flops += front_flops(node->width, node->below);
    }
}

static void fill_parts(const analysis* a, mabd_dual_block_symbolic* m) {
    m->part_count = a->part_count;
    for (int32_t p = 0; p <= a->part_count; p++) {
        mabd_dual_block_part* part = &m->parts[p];
        part->first = a->part_first[p], part->last = a->part_first[p + 1];
        for (int32_t s = part->first; s < part->last; s++) {
            const mabd_dual_block_node* node = &m->nodes[s];
            const int32_t w = MABD_BLOCK_PAD(node->width), r = MABD_BLOCK_PAD(node->below);
            const int64_t size = (int64_t)(w + r) * node->width;
            if (size > part->front_size) part->front_size = size;
            if (w > part->widest) part->widest = w;
            if (r > part->deepest) part->deepest = r;
        }
    }
    const int32_t top = a->part_first[a->part_count];
    m->top_row = top < m->node_count ? m->nodes[top].row : m->row_count;
}

static void fill_children(analysis* a, mabd_dual_block_symbolic* m) {
    int32_t count = 0;
    list_children(a->node_count, a->node_parent, a->child, a->next);
    for (int32_t s = 0; s < a->node_count; s++) {
        m->nodes[s].child = count;
        for (int32_t c = a->child[s]; c >= 0; c = a->next[c]) m->children[count++] = c;
        m->nodes[s].child_count = count - m->nodes[s].child;
    }
}

// Fill the runs of one node: the slots below it appear in the front of the parent in the same
// order.
static int32_t fill_runs_of(const analysis* a, mabd_dual_block_symbolic* m, int32_t s,
                            int32_t count) {
    mabd_dual_block_node* node = &m->nodes[s];
    node->run = count;
    if (a->node_parent[s] < 0) return count;
    mabd_dual_block_node* parent = &m->nodes[a->node_parent[s]];
    int32_t at = a->list_start[a->node_parent[s]], local = MABD_BLOCK_PAD(parent->width);
    for (int32_t i = a->list_start[s]; i < a->list_start[s + 1]; i++) {
        const int32_t place = a->list[i], row = m->slots[place].first;
        const bool own = a->node[place] == a->node_parent[s];
        if (!own) {
            for (; a->list[at] != place; at++) local += width_at(a, a->list[at]);
            parent->inherits = 1;
        }
        if (starts_run(a, s, i)) {
            m->runs[count++] = (mabd_dual_block_run){row, own ? row - parent->row : local, 0};
        }
        m->runs[count - 1].length += width_at(a, place);
    }
    node->run_count = count - node->run;
    return count;
}

// Fill the places of node s: local rows in its front; its slots below have their local rows in
// `local`.
static void fill_places_of(const analysis* a, mabd_dual_block_symbolic* m, int32_t s,
                           const int32_t* edges, int32_t* local) {
    mabd_dual_block_node* node = &m->nodes[s];
    int32_t row = MABD_BLOCK_PAD(node->width);
    for (int32_t k = a->node_start[s]; k < a->node_start[s + 1]; k++) {
        local[k] = m->slots[k].first - node->row;
    }
    for (int32_t i = a->list_start[s]; i < a->list_start[s + 1]; i++) {
        local[a->list[i]] = row;
        row += width_at(a, a->list[i]);
    }
    for (int32_t i = 0; i < node->place_count; i++) {
        const int32_t e = edges[node->place + i];
        const int32_t u = a->place[edge_from(a->system, e)], v = a->place[edge_to(a->system, e)];
        m->places[node->place + i] = (mabd_dual_block_place){.block = a->system->edge_block[e],
                                                             .row = local[u < v ? v : u],
                                                             .column = local[u < v ? u : v],
                                                             .rows = (int16_t)width_at(a, u),
                                                             .columns = (int16_t)width_at(a, v),
                                                             .transposed = u < v};
    }
}

// Edges by the node of their earlier slot.
static void fill_places(analysis* a, mabd_dual_block_symbolic* m) {
    int32_t* edges = a->neighbour; // no longer needed
    int32_t* fill = a->mark;
    memset(fill, 0, ((size_t)a->n + 1) * sizeof(int32_t));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t e = 0; e < a->system->edge_count; e++) {
            const int32_t u = a->place[edge_from(a->system, e)];
            const int32_t v = a->place[edge_to(a->system, e)];
            const int32_t s = a->node[u < v ? u : v];
            if (pass)
                edges[fill[s]++] = e;
            else
                m->nodes[s].place_count++;
        }
        for (int32_t s = 0, sum = 0; s < a->node_count && !pass; s++) {
            m->nodes[s].place = fill[s] = sum;
            sum += m->nodes[s].place_count;
        }
    }
    for (int32_t s = 0; s < a->node_count; s++) fill_places_of(a, m, s, edges, a->scratch);
}

// Place the update matrices of a part in the stacks. A matrix is needed from its node to its
// parent. Matrices of even and of odd depth each form a stack: a node takes its children's from one
// while it puts its own on the other. Matrices that a part leaves for the top are stored
// separately, so that the next part can reuse the same stacks while they are in the cache. Returns
// the size of the stacks.
static int64_t place_updates_of(mabd_dual_block_symbolic* m, const mabd_dual_block_part* part,
                                const int32_t* depth) {
    int64_t top[2] = {0, 0}, highest[2] = {0, 0};
    for (int32_t s = part->first; s < part->last; s++) {
        mabd_dual_block_node* node = &m->nodes[s];
        const int64_t r = MABD_BLOCK_PAD(node->below);
        const int own = depth[s];
        if (node->kept) {
            node->update = m->kept_size;
            m->kept_size += r * r;
        } else {
            node->update = top[own];
            top[own] += r * r;
            if (top[own] > highest[own]) highest[own] = top[own];
        }
        for (int32_t i = node->child; i < node->child + node->child_count; i++) {
            if (m->children[i] < part->first) continue; // of another part
            top[!own] = m->nodes[m->children[i]].update;
            break;
        }
    }
    for (int32_t s = part->first; s < part->last; s++) {
        if (depth[s] && !m->nodes[s].kept) m->nodes[s].update += highest[0];
    }
    return highest[0] + highest[1];
}

static void place_updates(analysis* a, mabd_dual_block_symbolic* m) {
    int32_t* depth = a->scratch;
    for (int32_t s = a->node_count - 1; s >= 0; s--) {
        depth[s] = a->node_parent[s] < 0 ? 0 : depth[a->node_parent[s]] ^ 1;
    }
    const int32_t top = m->parts[m->part_count].first;
    for (int32_t s = 0; s < top; s++) m->nodes[s].kept = a->node_parent[s] >= top;
    m->stack_size = m->kept_size = 0;
    for (int32_t p = 0; p < m->part_count; p++) {
        const int64_t size = place_updates_of(m, &m->parts[p], depth);
        if (size > m->stack_size) m->stack_size = size;
    }
    m->top_size = place_updates_of(m, &m->parts[m->part_count], depth);
}

mabd_status mabd_dual_block_analyse(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    const int32_t* order, mabd_dual_block_symbolic** symbolic) {
    analysis a;
    *symbolic = NULL;
    MABD_TRY(scratch_init(allocator, system, order, &a));
    collect_neighbours(&a);
    find_tree(&a);
    make_postorder(&a);
    count_rows(&a, DBL_MAX);
    find_chains(&a);
    merge_nodes(&a);
    number_nodes(&a);
    mabd_status status = list_rows(allocator, &a);
    mabd_dual_block_symbolic* m = status == MABD_OK ? allocate(allocator, &a) : NULL;
    if (m) {
        int32_t runs = 0;
        fill_nodes(&a, m);
        fill_parts(&a, m);
        fill_children(&a, m);
        for (int32_t s = 0; s < a.node_count; s++) runs = fill_runs_of(&a, m, s, runs);
        fill_places(&a, m);
        place_updates(&a, m);
    }
    scratch_free(allocator, &a);
    *symbolic = m;
    return m ? MABD_OK : MABD_ERR_MEMORY;
}

void mabd_dual_block_symbolic_destroy(const mabd_allocator* allocator,
                                      mabd_dual_block_symbolic* symbolic) {
    if (symbolic) mabd_free(allocator, symbolic, symbolic->bytes);
}
