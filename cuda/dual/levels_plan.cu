// SPDX-License-Identifier: Apache-2.0
// The lists of levels.h: integers only, made on the host.
//
//   slots   slots of the plan that are not left out, in the order of elimination
//   edges   edges between them, sorted by (from, to); a block that the plan stores as (to, from) is
//           transposed when it is copied. Joints of a junction that are eliminated after it get an
//           edge for each pair, with a block of zeros, where the plan has none: eliminating the
//           junction fills those blocks (topology/plan.c has them in trees only).
//   levels  a slot comes after all slots that change it, and no two slots of a level change the
//           same slot: the slots on both bodies of a joint change it without being coupled with
//           each other. Slots that change the same slot do so in their order, as in a loop.
//   arms    joints on a junction do not change it: before its own elimination the junction
//           subtracts their contributions (dual/tree_kernel.h), so a level has any number of arms
//
// O(slots + edges).

#include "cuda/dual/levels.h"

extern "C" {
#include "base/error.h"
#include "dual/tree_kernel.h"
}

// An edge of the list that is sorted.
typedef struct edge {
    int32_t from, to;
    size_t plan_edge; // offset in U of the plan, SIZE_MAX = none
    bool turned;
} edge;

// Temporary arrays.
typedef struct workspace {
    int32_t* place;              // number of a slot of the plan here, -1 = not in the lists
    edge *edges, *sorted;        // (room)
    int32_t* first;              // of a counting sort (slots + 2)
    int32_t *level_of, *changed; // level of a slot; 1 + the last level that changes it (slots)
    int32_t* late;               // joints of a junction that are eliminated after it (slots)
    void* memory;
    size_t size;
    int32_t count, room;
} workspace;

static void lay_workspace(const mabd_plan* plan, mabd_arena* arena, workspace* w) {
    const size_t slots = (size_t)plan->slot_count;
    w->place = (int32_t*)mabd_arena_take(arena, slots, sizeof *w->place);
    w->edges = (edge*)mabd_arena_take(arena, (size_t)w->room, sizeof *w->edges);
    w->sorted = (edge*)mabd_arena_take(arena, (size_t)w->room, sizeof *w->sorted);
    w->first = (int32_t*)mabd_arena_take(arena, slots + 2, sizeof *w->first);
    w->level_of = (int32_t*)mabd_arena_take(arena, slots, sizeof *w->level_of);
    w->changed = (int32_t*)mabd_arena_take(arena, slots, sizeof *w->changed);
    w->late = (int32_t*)mabd_arena_take(arena, slots, sizeof *w->late);
}

static void lay_lists(const mabd_cuda_levels* levels, mabd_arena* arena, mabd_cuda_level_lists* l) {
    const size_t slots = (size_t)levels->slot_count, edges = (size_t)levels->edge_count;
    l->order = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->order);
    l->level_first = (int32_t*)mabd_arena_take(arena, slots + 1, sizeof *l->level_first);
    l->slot = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->slot);
    l->width = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->width);
    l->row = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->row);
    l->start = (int32_t*)mabd_arena_take(arena, slots + 1, sizeof *l->start);
    l->to = (int32_t*)mabd_arena_take(arena, edges, sizeof *l->to);
    l->block = (size_t*)mabd_arena_take(arena, slots, sizeof *l->block);
    l->edge_block = (size_t*)mabd_arena_take(arena, edges, sizeof *l->edge_block);
    l->negative = (bool*)mabd_arena_take(arena, slots, sizeof *l->negative);
    if (levels->junction_count > 0) {
        l->junction_first = (int32_t*)mabd_arena_take(arena, slots + 1, sizeof *l->junction_first);
        l->arm = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->arm);
        l->junction_slot =
            (int32_t*)mabd_arena_take(arena, (size_t)levels->junction_count, sizeof(int32_t));
        l->arm_start =
            (int32_t*)mabd_arena_take(arena, (size_t)levels->junction_count + 1, sizeof(int32_t));
        l->arms = (int32_t*)mabd_arena_take(arena, slots, sizeof *l->arms);
    }
    if (!levels->copies) return;
    l->plan_block = (size_t*)mabd_arena_take(arena, slots, sizeof *l->plan_block);
    l->plan_edge = (size_t*)mabd_arena_take(arena, edges, sizeof *l->plan_edge);
    l->turned = (bool*)mabd_arena_take(arena, edges, sizeof *l->turned);
}

// ---- slots and edges ----------------------------------------------------------------------------

// Number the slots that are not left out; returns how many.
static int32_t number_slots(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const bool* left_out, int32_t* place) {
    int32_t slots = 0;
    for (int32_t s = 0; s < plan->slot_count; s++) place[s] = -1;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        for (int32_t k = c->slot_first; k < c->slot_first + c->slot_count; k++) {
            const int32_t slot = c->slot_first + plan->elimination[k];
            if (!left_out || !left_out[slot]) place[slot] = slots++;
        }
    }
    return slots;
}

static void add_edge(workspace* w, int32_t a, int32_t b, size_t plan_edge) {
    const edge one = {a < b ? a : b, a < b ? b : a, plan_edge, a > b};
    if (w->count < w->room) w->edges[w->count] = one;
    w->count++;
}

// Add an edge for each pair of joints that are eliminated after their junction.
static void add_pairs_of_junction(const mabd_plan* plan, int32_t body, workspace* w) {
    int32_t own = -1, late = 0;
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        if (plan->sides[i].is_b < 0) own = w->place[plan->sides[i].slot];
    }
    for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
        const int32_t at = w->place[plan->sides[i].slot];
        if (plan->sides[i].is_b < 0 || at < own) continue;
        for (int32_t k = 0; k < late; k++) add_edge(w, w->late[k], at, SIZE_MAX);
        w->late[late++] = at;
    }
}

static void list_edges(const mabd_plan* plan, int32_t count, const int32_t* components,
                       workspace* w) {
    w->count = 0;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        for (int32_t e = c->edge_first; e < c->edge_first + c->edge_count; e++) {
            const int32_t a = w->place[plan->edge_from[e]], b = w->place[plan->edge_to[e]];
            if (a >= 0 && b >= 0) add_edge(w, a, b, plan->edge_block[e]);
        }
        if (c->loops == 0 || c->junction_count == 0) continue;
        for (int32_t k = c->body_first; k < c->body_first + c->body_count; k++) {
            const int32_t body = plan->component_bodies[k];
            if (plan->early[body] >= 0) add_pairs_of_junction(plan, body, w);
        }
    }
}

// Counting sort by one end.
static void sort_edges(int32_t slots, const workspace* w, bool by_to, const edge* from, edge* to) {
    memset(w->first, 0, ((size_t)slots + 2) * sizeof *w->first);
    for (int32_t e = 0; e < w->count; e++) w->first[(by_to ? from[e].to : from[e].from) + 1]++;
    for (int32_t s = 0; s < slots; s++) w->first[s + 1] += w->first[s];
    for (int32_t e = 0; e < w->count; e++) {
        to[w->first[by_to ? from[e].to : from[e].from]++] = from[e];
    }
}

static void fill_slots(const mabd_plan* plan, const workspace* w, mabd_cuda_levels* levels) {
    mabd_cuda_level_lists* l = &levels->host;
    for (int32_t slot = 0; slot < plan->slot_count; slot++) {
        const int32_t s = w->place[slot];
        if (s < 0) continue;
        l->slot[s] = slot, l->width[s] = plan->slot_width[slot], l->row[s] = plan->slot_row[slot];
        l->block[s] = plan->slot_block[slot], l->negative[s] = plan->slot_negative[slot];
    }
    for (int32_t s = 0; s < levels->slot_count && levels->copies; s++) {
        l->plan_block[s] = l->block[s];
        l->block[s] = levels->D_reals;
        levels->D_reals += (size_t)(l->width[s] * l->width[s]);
    }
}

static void fill_edges(const workspace* w, mabd_cuda_levels* levels) {
    mabd_cuda_level_lists* l = &levels->host;
    for (int32_t s = 0, e = 0; s <= levels->slot_count; s++) {
        while (e < w->count && w->edges[e].from < s) e++;
        l->start[s] = e;
    }
    for (int32_t e = 0; e < w->count; e++) {
        const edge* one = &w->edges[e];
        l->to[e] = one->to;
        l->edge_block[e] = one->plan_edge;
        if (!levels->copies) continue;
        l->plan_edge[e] = one->plan_edge, l->turned[e] = one->turned;
        l->edge_block[e] = levels->U_reals;
        levels->U_reals += (size_t)(l->width[one->from] * l->width[one->to]);
    }
}

// ---- levels -------------------------------------------------------------------------------------

// True for a joint on a junction that is eliminated before it.
static bool is_arm(const mabd_cuda_level_lists* l, int32_t s) {
    return !l->negative[s] && l->start[s + 1] > l->start[s] && l->negative[l->to[l->start[s]]];
}

static int32_t find_levels(const mabd_cuda_levels* levels, workspace* w) {
    const mabd_cuda_level_lists* l = &levels->host;
    int32_t count = 0;
    int32_t* changed = w->changed; // zero: none
    for (int32_t s = 0; s < levels->slot_count; s++) {
        const bool arm = is_arm(l, s);
        int32_t level = changed[s];
        for (int32_t e = l->start[s]; e < l->start[s + 1] && !arm; e++) {
            if (changed[l->to[e]] > level) level = changed[l->to[e]];
        }
        for (int32_t e = l->start[s]; e < l->start[s + 1]; e++) {
            if (changed[l->to[e]] < level + 1) changed[l->to[e]] = level + 1;
        }
        w->level_of[s] = level;
        if (level + 1 > count) count = level + 1;
    }
    return count;
}

// Sort 0 .. n - 1 by keys below `count` into `order`; first (count + 1): first entry of a key.
static void sort_by(int32_t n, const int32_t* key, int32_t count, int32_t* first, int32_t* order) {
    memset(first, 0, ((size_t)count + 1) * sizeof *first);
    for (int32_t i = 0; i < n; i++) first[key[i] + 1]++;
    for (int32_t i = 0; i < count; i++) first[i + 1] += first[i];
    for (int32_t i = 0; i < n; i++) order[first[key[i]]++] = i;
    for (int32_t i = count; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
}

// Junctions in the order of their levels, and their arms in the order of elimination.
static void list_junctions(mabd_cuda_levels* levels, workspace* w) {
    const mabd_cuda_level_lists* l = &levels->host;
    int32_t junctions = 0, *place = w->changed, *next = w->late;
    for (int32_t i = 0, level = 0; i < levels->slot_count; i++) {
        const int32_t s = l->order[i];
        while (level < levels->level_count && i >= l->level_first[level]) {
            l->junction_first[level++] = junctions;
        }
        // the second slot of a junction is in a later level, and has no edge to a junction
        if (!l->negative[s] || l->start[s] == l->start[s + 1] || !l->negative[l->to[l->start[s]]])
            continue;
        place[s] = junctions, l->junction_slot[junctions++] = s;
    }
    l->junction_first[levels->level_count] = junctions;
    for (int32_t s = 0; s < levels->slot_count; s++) {
        if (is_arm(l, s)) l->arm_start[place[l->to[l->start[s]]] + 1]++;
    }
    for (int32_t i = 0; i < junctions; i++) {
        next[i] = l->arm_start[i];
        l->arm_start[i + 1] += l->arm_start[i];
    }
    for (int32_t s = 0; s < levels->slot_count; s++) {
        l->arm[s] = is_arm(l, s) ? next[place[l->to[l->start[s]]]]++ : -1;
        if (l->arm[s] >= 0) l->arms[l->arm[s]] = s;
    }
    levels->arm_count = l->arm_start[junctions];
}

// ---- plan, layout, upload, release --------------------------------------------------------------

// Sort the edges of the workspace, allocate the lists and fill them.
static mabd_status fill(const mabd_plan* plan, const mabd_allocator* allocator, workspace* w,
                        mabd_cuda_levels* levels, mabd_error* error) {
    mabd_arena arena = {NULL, 0, 0};
    sort_edges(levels->slot_count, w, true, w->edges, w->sorted);
    sort_edges(levels->slot_count, w, false, w->sorted, w->edges);
    levels->edge_count = w->count;
    lay_lists(levels, &arena, &levels->host);
    if (arena.used == SIZE_MAX) return mabd_fail_memory(error, "listing levels");
    levels->size = arena.size = arena.used;
    levels->host_memory = arena.memory = (char*)mabd_alloc(allocator, arena.size);
    if (!arena.memory) return mabd_fail_memory(error, "listing levels");
    arena.used = 0;
    lay_lists(levels, &arena, &levels->host);
    fill_slots(plan, w, levels);
    fill_edges(w, levels);
    mabd_dual_system system = {};
    system.slot_count = levels->slot_count, system.to = levels->host.to;
    if (!mabd_dual_tree_fits(&system, levels->host.start)) {
        return mabd_fail(error, MABD_ERR_ARG, "the level solver takes trees only");
    }
    levels->level_count = find_levels(levels, w);
    sort_by(levels->slot_count, w->level_of, levels->level_count, levels->host.level_first,
            levels->host.order);
    if (levels->junction_count > 0) list_junctions(levels, w);
    return MABD_OK;
}

static void release(const mabd_allocator* allocator, void* solver) {
    mabd_cuda_levels* levels = (mabd_cuda_levels*)solver;
    const mabd_cuda_levels none = {};
    mabd_free(allocator, levels->host_memory, levels->size);
    *levels = none;
}

static mabd_status take_workspace(const mabd_plan* plan, const mabd_allocator* allocator,
                                  workspace* w, mabd_error* error) {
    mabd_arena arena = {NULL, 0, 0};
    lay_workspace(plan, &arena, w);
    w->size = arena.size = arena.used;
    w->memory = arena.memory =
        arena.used == SIZE_MAX ? NULL : (char*)mabd_alloc(allocator, arena.size);
    if (!w->memory) return mabd_fail_memory(error, "listing levels");
    arena.used = 0;
    lay_workspace(plan, &arena, w);
    return MABD_OK;
}

mabd_status MABD_CUDA(levels_plan_part)(const mabd_plan* plan, int32_t count,
                                        const int32_t* components, const bool* left_out,
                                        const mabd_allocator* allocator, mabd_cuda_levels* levels,
                                        mabd_error* error) {
    const mabd_cuda_levels none = {};
    workspace w = {};
    *levels = none;
    levels->copies = left_out != NULL;
    for (int32_t i = 0; i < count; i++) {
        levels->junction_count += plan->components[components[i]].junction_count;
    }
    w.room = plan->edge_count;
    mabd_status status = take_workspace(plan, allocator, &w, error);
    if (status == MABD_OK) {
        levels->slot_count = number_slots(plan, count, components, left_out, w.place);
        list_edges(plan, count, components, &w);
    }
    if (status == MABD_OK && w.count > w.room) { // junctions add edges that the plan does not have
        mabd_free(allocator, w.memory, w.size);
        w.room = w.count;
        status = take_workspace(plan, allocator, &w, error);
        if (status == MABD_OK) {
            number_slots(plan, count, components, left_out, w.place);
            list_edges(plan, count, components, &w);
        }
    }
    if (status == MABD_OK) status = fill(plan, allocator, &w, levels, error);
    mabd_free(allocator, w.memory, w.size);
    if (status != MABD_OK) release(allocator, levels);
    return status;
}

static mabd_status plan_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const mabd_allocator* allocator, void* solver, mabd_error* error) {
    return MABD_CUDA(levels_plan_part)(plan, count, components, NULL, allocator,
                                       (mabd_cuda_levels*)solver, error);
}

static void layout(void* solver, mabd_arena* arena) {
    mabd_cuda_levels* levels = (mabd_cuda_levels*)solver;
    mabd_arena lists = {NULL, levels->size, 0};
    lists.memory = (char*)mabd_arena_take(arena, levels->size, 1);
    levels->memory = lists.memory;
    lay_lists(levels, &lists, &levels->on);
    levels->D = (mabd_real*)mabd_arena_take(arena, levels->D_reals, sizeof *levels->D);
    levels->U = (mabd_real*)mabd_arena_take(arena, levels->U_reals, sizeof *levels->U);
    levels->kept = (mabd_real*)mabd_arena_take(arena, (size_t)levels->arm_count * MABD_ARM_KEPT,
                                               sizeof *levels->kept);
}

static mabd_status upload(void* solver, const mabd_device* device, mabd_error* error) {
    const mabd_cuda_levels* levels = (const mabd_cuda_levels*)solver;
    return MABD_CUDA(device_upload)(device, levels->host_memory, levels->size, levels->memory,
                                    error);
}

const mabd_cuda_dual_ops MABD_CUDA(dual_levels) = {
    .name = "levels",
    .size = sizeof(mabd_cuda_levels),
    .iterative = false,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = MABD_CUDA(levels_factor),
    .solve = MABD_CUDA(levels_solve),
    .release = release,
};
