// SPDX-License-Identifier: Apache-2.0
// Where the borders of a part end, which links they pass, and memory for their elimination.
//
// A border acts on a few links: the two bodies of a cut joint, the points of a spring, the axes of
// a coupling. It ends at the link where their ways to the ground meet, or at the ground; a cut
// joint to the ground ends there. The borders of a link (its bundle) are those that end at it and
// those that pass it:
//
//        o  ends: row of (a, b)          Axes of a coupling are eliminated with their link, so that
//       / \                              their ways begin at the parents: a coupling ends where
//      o   o  pass                       these meet.
//      |   |
//      a   b  pass                       Borders of one spring end together: tensions of springs
//                                        over points between couple them (springs.c).
//
// Sums of a bundle of k borders, P (k x 6), R (k x 18) and Q (k x k), are there from its first
// child to its parent, in memory that others take over.

#include "formulation/redmax/redmax_bundles.h"

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_sim.h"

#include <string.h>

/// Work on all parts.
typedef struct planner {
    mabd_redmax_sim* sim;
    mabd_redmax_bundle* bundles; // (links + parts)
    mabd_redmax_part* part;
    int32_t ground;     // its bundle in the part
    int32_t* mark;      // (links + parts) last border that was added, of its part
    int32_t *at, *last; // (links + parts) next places of borders that end, and of others
    bool fills;         // else counts
} planner;

/// A border on its way to the ground.
typedef struct border_way {
    int32_t border, top; // -1 = ends at the ground
} border_way;

// ---- where borders end -------------------------------------------------------------------------

// Parents come first.
int32_t mabd_redmax_meeting(const mabd_redmax_sim* sim, int32_t a, int32_t b) {
    while (a != b) {
        if (a > b) {
            a = sim->links[a].parent;
        } else {
            b = sim->links[b].parent;
        }
    }
    return a;
}

static mabd_redmax_bundle* bundle_of(const planner* w, int32_t link) {
    return &w->bundles[link < 0 ? w->ground : link];
}

static void add(const planner* w, int32_t bundle, int32_t border, bool ends) {
    mabd_redmax_bundle* own = &w->bundles[bundle];
    if (w->mark[bundle] == border) return;
    w->mark[bundle] = border;
    if (w->fills) {
        w->sim->bundles.list[ends ? w->at[bundle]++ : w->last[bundle]++] = border;
    } else {
        *(ends ? &own->ends : &own->open) += 1;
    }
}

// Add a border to the bundles from a link to where it ends.
static void climb(const planner* w, border_way way, int32_t link) {
    for (; link != way.top; link = w->sim->links[link].parent) add(w, link, way.border, false);
    add(w, way.top < 0 ? w->ground : way.top, way.border, true);
}

// Place of a border in a bundle.
static int32_t place_of(const planner* w, const mabd_redmax_bundle* own, int32_t border) {
    const int32_t* list = w->sim->bundles.list + own->first;
    int32_t i = 0;
    while (list[i] != border) i++;
    return i;
}

static void touch(const planner* w, int32_t link, mabd_redmax_touch touch) {
    mabd_redmax_bundle* own = &w->bundles[link];
    if (w->fills) {
        touch.place = place_of(w, own, touch.border);
        w->sim->bundles.touches[own->touch_first + own->touch_count] = touch;
    }
    own->touch_count++;
}

// ---- borders of a part -------------------------------------------------------------------------

// Borders first .. end - 1 between two links; -1 = the ground.
static void add_pair(const planner* w, int32_t first, int32_t end, int32_t a, int32_t b,
                     int32_t top) {
    for (int32_t r = first; r < end; r++) {
        const border_way way = {r, top};
        const mabd_redmax_touch on_a = {.border = r, .axis = -1};
        const mabd_redmax_touch on_b = {.border = r, .axis = -1, .on_b = true};
        add(w, top < 0 ? w->ground : top, r, true);
        if (a >= 0) climb(w, way, a);
        if (b >= 0) climb(w, way, b);
        if (a >= 0) touch(w, a, on_a);
        if (b >= 0) touch(w, b, on_b);
    }
}

static void add_cuts(const planner* w, bool turns) {
    const mabd_redmax_part* part = w->part;
    for (int32_t i = part->cut_first; i < part->cut_first + part->cut_count; i++) {
        const mabd_redmax_cut* cut = &w->sim->loops.cuts[i];
        const int32_t row = cut->row_first - part->row_first;
        const int32_t turn = cut->turn_first - part->border_first;
        const int32_t first = turns ? turn : row;
        add_pair(w, first, first + (turns ? cut->turn_count : cut->row_count), cut->a, cut->b,
                 mabd_redmax_meeting(w->sim, cut->a, cut->b));
    }
}

static void add_coupling(const planner* w, int32_t border, const mabd_model_coupling* own) {
    const mabd_redmax_sim* sim = w->sim;
    border_way way = {border, -1};
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t link = sim->freedoms[sim->couplings.freedom[i]].link;
        const int32_t parent = sim->links[link].parent;
        way.top = i == own->first ? parent : mabd_redmax_meeting(sim, way.top, parent);
    }
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t link = sim->freedoms[sim->couplings.freedom[i]].link;
        const mabd_redmax_touch on = {.border = border, .axis = i};
        climb(w, way, link);
        touch(w, link, on);
    }
}

static void add_couplings(const planner* w) {
    const mabd_redmax_sim* sim = w->sim;
    const mabd_redmax_part* part = w->part;
    for (int32_t i = 0; i < part->coupling_count; i++) {
        const int32_t index = sim->couplings.order[part->coupling_first + i];
        add_coupling(w, part->row_count - part->coupling_count + i, &sim->model->couplings[index]);
    }
}

static void add_spring(const planner* w, int32_t index) {
    const mabd_redmax_spring* spring = &w->sim->springs.springs[index];
    const mabd_model_spring* own = &w->sim->model->springs[spring->index];
    const mabd_redmax_point* points = w->sim->springs.points + own->first;
    const int32_t each = own->count == 2 ? 3 : 4;
    int32_t top = -1;
    bool found = false;
    for (int32_t k = 0; k < own->count; k++) {
        if (points[k].link < 0) continue;
        top = found ? mabd_redmax_meeting(w->sim, top, points[k].link) : points[k].link;
        found = true;
    }
    for (int32_t k = 0; k + 1 < own->count; k++) {
        const int32_t first = spring->border - w->part->border_first + each * k;
        add_pair(w, first, first + each, points[k].link, points[k + 1].link, top);
    }
    if (own->count == 2) return;
    mabd_redmax_bundle* at = bundle_of(w, top);
    if (w->fills) w->sim->bundles.springs[at->spring_first + at->spring_count] = index;
    at->spring_count++;
}

// Add all borders of a part, in their order: lists of bundles rise.
static void add_part(planner* w, int32_t index) {
    mabd_redmax_part* part = &w->sim->parts[index];
    w->part = part, w->ground = w->sim->link_count + index;
    add_cuts(w, false);
    add_couplings(w);
    add_cuts(w, true);
    for (int32_t i = part->spring_first; i < part->spring_first + part->spring_count; i++) {
        if (w->sim->springs.springs[i].border >= 0) add_spring(w, i);
    }
}

static void add_parts(planner* w) {
    const int32_t n = w->sim->link_count + w->sim->part_count;
    for (int32_t i = 0; i < n; i++) {
        w->mark[i] = -1, w->bundles[i].touch_count = w->bundles[i].spring_count = 0;
    }
    for (int32_t p = 0; p < w->sim->part_count; p++) {
        if (w->sim->parts[p].structure.bundled) add_part(w, p);
    }
}

// Place of the borders that go on in the bundle of the parent; both lists rise.
static void map_up(const planner* w, int32_t link) {
    const mabd_redmax_bundle* own = &w->bundles[link];
    const mabd_redmax_bundle* parent = bundle_of(w, w->sim->links[link].parent);
    const int32_t* list = w->sim->bundles.list;
    int32_t ends = 0, open = 0;
    for (int32_t i = own->ends; i < own->ends + own->open; i++) {
        const int32_t border = list[own->first + i];
        while (ends < parent->ends && list[parent->first + ends] < border) ends++;
        while (open < parent->open && list[parent->first + parent->ends + open] < border) open++;
        const bool found = ends < parent->ends && list[parent->first + ends] == border;
        w->sim->bundles.up[own->first + i] = found ? ends : parent->ends + open;
    }
}

// ---- memory ------------------------------------------------------------------------------------

/// Memory that is free again, by place.
typedef struct hole {
    size_t at, size;
} hole;
typedef struct hole_list {
    hole* holes;
    int32_t count;
    size_t end; // of what is in use
} hole_list;

static size_t take(hole_list* free, size_t size) {
    for (int32_t i = 0; i < free->count; i++) {
        hole* own = &free->holes[i];
        if (own->size < size) continue;
        const size_t at = own->at;
        own->at += size, own->size -= size;
        return at;
    }
    free->end += size;
    return free->end - size;
}

static void give(hole_list* free, size_t at, size_t size) {
    int32_t i = 0;
    if (size == 0) return;
    while (i < free->count && free->holes[i].at < at) i++;
    if (i > 0 && free->holes[i - 1].at + free->holes[i - 1].size == at) {
        free->holes[--i].size += size;
    } else {
        memmove(free->holes + i + 1, free->holes + i, (size_t)(free->count - i) * sizeof(hole));
        free->holes[i] = (hole){at, size};
        free->count++;
    }
    if (i + 1 < free->count && free->holes[i].at + free->holes[i].size == free->holes[i + 1].at) {
        free->holes[i].size += free->holes[i + 1].size;
        memmove(free->holes + i + 1, free->holes + i + 2,
                (size_t)(free->count - i - 2) * sizeof(hole));
        free->count--;
    }
}

static size_t sums_size(const mabd_redmax_bundle* own) {
    const size_t k = (size_t)own->ends + (size_t)own->open;
    return k * (6 + MABD_VARIATION + k);
}

// Places of the sums of a part, from the leaves to the ground.
static size_t place_sums(planner* w, const mabd_redmax_part* part, hole* holes, size_t from) {
    hole_list free = {holes, 0, from};
    mabd_redmax_bundle* ground = bundle_of(w, -1);
    ground->sums = take(&free, sums_size(ground));
    for (int32_t i = part->link_first + part->link_count - 1; i >= part->link_first; i--) {
        const mabd_lean_link* link = &w->sim->lean[i];
        mabd_redmax_bundle* own = &w->bundles[i];
        if (link->leaf) own->sums = take(&free, sums_size(own));
        const int32_t parent = w->sim->links[i].parent;
        if (link->opens) w->bundles[parent].sums = take(&free, sums_size(&w->bundles[parent]));
        give(&free, own->sums, sums_size(own));
    }
    return free.end;
}

static size_t kept_size(const mabd_redmax_bundle* own, int32_t freedoms) {
    const size_t t = (size_t)own->ends, o = (size_t)own->open;
    return t * (t + 6 + MABD_VARIATION + 2 * o) + o * (2 * (size_t)freedoms + 1);
}

// Largest workspace of a bundle: rows of those that end, or their matrix.
static size_t scratch_size(const mabd_redmax_bundle* own) {
    const size_t t = (size_t)own->ends, o = (size_t)own->open;
    const size_t rows = t * (MABD_VARIATION + o), square = t * t;
    return (rows > square ? rows : square) + t + o;
}

/// Sizes of all arrays.
typedef struct plan_sizes {
    size_t list, touches, springs, work, kept, scratch, borders;
} plan_sizes;

// Number the lists of a bundle behind those before it.
static void number(mabd_redmax_bundle* own, int32_t freedoms, int32_t* pivots, plan_sizes* n) {
    own->first = (int32_t)n->list, n->list += (size_t)own->ends + (size_t)own->open;
    own->touch_first = (int32_t)n->touches, n->touches += (size_t)own->touch_count;
    own->spring_first = (int32_t)n->springs, n->springs += (size_t)own->spring_count;
    own->pivot = *pivots, *pivots += own->ends;
    own->kept = n->kept, n->kept += kept_size(own, freedoms);
}

static plan_sizes number_all(planner* w, hole* holes) {
    mabd_redmax_sim* sim = w->sim;
    plan_sizes n = {0};
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_part* part = &sim->parts[p];
        int32_t pivots = part->border_first;
        size_t scratch = 0;
        if (part->border_first + part->border_count > (int32_t)n.borders) {
            n.borders = (size_t)(part->border_first + part->border_count);
        }
        if (!part->structure.bundled) continue;
        w->ground = sim->link_count + p;
        for (int32_t i = 0; i <= part->link_count; i++) {
            const bool link = i < part->link_count;
            mabd_redmax_bundle* own = bundle_of(w, link ? part->link_first + i : -1);
            number(own, link ? sim->links[part->link_first + i].count : 0, &pivots, &n);
            if (scratch_size(own) > scratch) scratch = scratch_size(own);
        }
        n.work = place_sums(w, part, holes, n.work);
        sim->bundles.scratch_first[p] = n.scratch, n.scratch += scratch;
    }
    return n;
}

#define TAKE(field, n) b->field = mabd_arena_take(&arena, (n), sizeof *b->field)

// The arrays whose sizes the plan gives.
static mabd_status take_arrays(mabd_redmax_sim* sim, const plan_sizes* n) {
    mabd_redmax_bundles* b = &sim->bundles;
    mabd_arena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        TAKE(list, n->list);
        TAKE(up, n->list);
        TAKE(touches, n->touches);
        TAKE(springs, n->springs);
        TAKE(pivot, n->borders);
        TAKE(m, n->borders);
        TAKE(w, n->borders);
        TAKE(total, n->borders);
        TAKE(diagonal, n->borders);
        TAKE(work, n->work);
        TAKE(kept, n->kept);
        TAKE(scratch, n->scratch);
        if (pass == 0) MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    }
    b->memory[1] = arena.memory, b->sizes[1] = arena.size;
    return MABD_OK;
}

// ---- the plan ----------------------------------------------------------------------------------

static mabd_status fill(planner* w, hole* holes) {
    mabd_redmax_sim* sim = w->sim;
    add_parts(w);
    const plan_sizes n = number_all(w, holes);
    MABD_TRY(take_arrays(sim, &n));
    for (int32_t i = 0; i < sim->link_count + sim->part_count; i++) {
        w->at[i] = w->bundles[i].first, w->last[i] = w->at[i] + w->bundles[i].ends;
    }
    memset(sim->bundles.list, -1, n.list * sizeof *sim->bundles.list);
    w->fills = true;
    add_parts(w);
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_part* part = &sim->parts[p];
        w->ground = sim->link_count + p;
        for (int32_t i = 0; part->structure.bundled && i < part->link_count; i++) {
            map_up(w, part->link_first + i);
        }
    }
    return MABD_OK;
}

static mabd_status create(mabd_redmax_sim* sim) {
    mabd_redmax_bundles* b = &sim->bundles;
    const size_t n = (size_t)sim->link_count + (size_t)sim->part_count;
    planner w = {.sim = sim};
    hole* holes = NULL;
    mabd_arena fixed = {0}, arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        b->bundles = mabd_arena_take(&fixed, n, sizeof *b->bundles);
        b->scratch_first = mabd_arena_take(&fixed, (size_t)sim->part_count, sizeof(size_t));
        if (pass == 0) MABD_TRY(mabd_arena_allocate(&sim->allocator, &fixed));
    }
    b->memory[0] = fixed.memory, b->sizes[0] = fixed.size, w.bundles = b->bundles;
    for (int pass = 0; pass < 2; pass++) {
        int32_t** arrays[] = {&w.mark, &w.at, &w.last};
        for (int k = 0; k < 3; k++) *arrays[k] = mabd_arena_take(&arena, n, sizeof(int32_t));
        holes = mabd_arena_take(&arena, n + 2, sizeof *holes);
        if (pass == 0) MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    }
    const mabd_status status = fill(&w, holes);
    mabd_free(&sim->allocator, arena.memory, arena.size);
    return status;
}

mabd_status mabd_redmax_bundles_create(mabd_redmax_sim* sim, int32_t most) {
    bool some = false;
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].structure.bundled = sim->parts[p].border_count > most;
        some |= sim->parts[p].structure.bundled;
    }
    return some ? create(sim) : MABD_OK;
}

void mabd_redmax_bundles_destroy(mabd_redmax_sim* sim) {
    for (int k = 0; k < 2; k++) {
        mabd_free(&sim->allocator, sim->bundles.memory[k], sim->bundles.sizes[k]);
        sim->bundles.memory[k] = NULL, sim->bundles.sizes[k] = 0;
    }
}

size_t mabd_redmax_bundles_bytes(const mabd_redmax_sim* sim) {
    return sim->bundles.sizes[0] + sim->bundles.sizes[1];
}
