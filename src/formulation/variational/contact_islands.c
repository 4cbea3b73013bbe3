// SPDX-License-Identifier: Apache-2.0
// Islands of a step: those of the simulation, and those that contacts between moving bodies join.
//
// An island of the step gets its meetings, room for its stops, points and boxes, and a matrix whose
// pattern has the pairs of bodies that a touch or a bound couples. Matrices of joined islands stay
// from step to step while their bodies and pairs are the same; all of this happens in one thread,
// before the islands move.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_system.h"

#include <string.h>

typedef struct mabd_variational_joined joined_islands;

// ---- which islands -----------------------------------------------------------------------------

// work[i]: the next island that is joined with i, -1 = none.
static void chain_islands(const mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = 0; i < sim->island_count; i++) c->work[i] = -1;
    for (int32_t i = sim->island_count - 1; i >= 0; i--) {
        const int32_t root = c->joined[i];
        if (root == i) continue;
        c->work[i] = c->work[root];
        c->work[root] = i;
    }
}

// joined[i]: the lowest island that contacts join island i with.
static void find_joined(const mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    mabd_variational_meeting* meetings = c->meetings.data;
    for (int32_t i = 0; i < sim->island_count; i++) c->joined[i] = i;
    for (int32_t i = 0; i < c->meetings.count; i++) {
        const int32_t a = sim->body_island[meetings[i].a], b = sim->body_island[meetings[i].b];
        if (a >= 0 && b >= 0) mabd_variational_unite(c->joined, a, b);
        meetings[i].island = b >= 0 ? b : a;
    }
    for (int32_t i = 0; i < sim->island_count; i++)
        c->joined[i] = mabd_variational_root(c->joined, i);
    for (int32_t i = 0; i < c->meetings.count; i++) {
        meetings[i].island = c->joined[meetings[i].island];
    }
    chain_islands(sim);
}

static void append(int32_t* list, int32_t* count, const int32_t* from, int32_t n) {
    memcpy(list + *count, from, (size_t)n * sizeof *list);
    *count += n;
}

/// Ends of the lists of joined islands while they are filled.
typedef struct list_ends {
    int32_t bodies, joints, components, springs;
} list_ends;

// Fill a joined island with those that belong to it.
static void merge(mabd_variational_sim* sim, int32_t first, list_ends* at,
                  mabd_variational_island* to) {
    mabd_variational_contacts* c = sim->contacts;
    joined_islands* now = &c->now;
    memset(to, 0, sizeof *to);
    to->first = first, to->exact = to->has_rows = true;
    to->bodies = now->bodies + at->bodies, to->joints = now->joints + at->joints;
    to->components = now->components + at->components, to->springs = now->springs + at->springs;
    for (int32_t i = first; i >= 0; i = c->work[i]) {
        const mabd_variational_island* own = &sim->islands[i];
        append(now->bodies, &at->bodies, own->bodies, own->body_count);
        append(now->joints, &at->joints, own->joints, own->joint_count);
        append(now->components, &at->components, own->components, own->component_count);
        append(now->springs, &at->springs, own->springs, own->spring_count);
        to->body_count += own->body_count, to->joint_count += own->joint_count;
        to->component_count += own->component_count, to->spring_count += own->spring_count;
        to->shifted |= own->shifted;
    }
    for (int32_t i = 0; i < to->body_count; i++) sim->body_slot[to->bodies[i]] = i;
}

// ---- pairs of bodies ---------------------------------------------------------------------------

static mabd_status add_pair(mabd_variational_sim* sim, int32_t a, int32_t b) {
    mabd_variational_contacts* c = sim->contacts;
    if (!mabd_variational_moves(sim, a) || !mabd_variational_moves(sim, b)) return MABD_OK;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->pairs, sizeof(mabd_variational_pair), 1));
    const bool rises = sim->body_slot[a] < sim->body_slot[b];
    const mabd_variational_pair pair = {rises ? a : b, rises ? b : a};
    ((mabd_variational_pair*)c->pairs.data)[c->pairs.count++] = pair;
    return MABD_OK;
}

// True if pair i comes before pair k, by slots.
static bool is_before(const mabd_variational_sim* sim, const mabd_variational_pair* pairs,
                      int32_t i, int32_t k) {
    const int32_t *slot = sim->body_slot, a = slot[pairs[i].a], b = slot[pairs[k].a];
    return a != b ? a < b : slot[pairs[i].b] < slot[pairs[k].b];
}

static void swap(mabd_variational_pair* pairs, int32_t i, int32_t k) {
    const mabd_variational_pair keep = pairs[i];
    pairs[i] = pairs[k], pairs[k] = keep;
}

static void sink(const mabd_variational_sim* sim, mabd_variational_pair* pairs, int32_t count,
                 int32_t i) {
    for (int32_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(sim, pairs, child, child + 1)) child++;
        if (!is_before(sim, pairs, i, child)) return;
        swap(pairs, i, child);
        i = child;
    }
}

// Sort the pairs by slots and leave out what repeats.
static void sort_pairs(const mabd_variational_sim* sim) {
    mabd_list* list = &sim->contacts->pairs;
    mabd_variational_pair* pairs = list->data;
    int32_t kept = 0;
    for (int32_t i = list->count / 2; i-- > 0;) sink(sim, pairs, list->count, i);
    for (int32_t end = list->count - 1; end > 0; end--) {
        swap(pairs, 0, end);
        sink(sim, pairs, end, 0);
    }
    for (int32_t i = 0; i < list->count; i++) {
        if (kept > 0 && pairs[kept - 1].a == pairs[i].a && pairs[kept - 1].b == pairs[i].b)
            continue;
        pairs[kept++] = pairs[i];
    }
    list->count = kept;
}

// Pairs of bodies that the touches and boxes of an island couple: contacts->pairs.
static mabd_status find_pairs(mabd_variational_sim* sim, const mabd_variational_island* island) {
    mabd_variational_contacts* c = sim->contacts;
    c->pairs.count = 0;
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        int32_t stops;
        if (mabd_variational_list_bounds(sim, island->joints[i], NULL, &stops) == 0) continue;
        MABD_TRY(add_pair(sim, j->a, j->b));
    }
    for (int32_t i = 0; i < island->meeting_count; i++) {
        const mabd_variational_meeting* m = mabd_variational_meeting_of(c, island, i);
        MABD_TRY(add_pair(sim, m->a, m->b));
    }
    sort_pairs(sim);
    return MABD_OK;
}

// ---- matrices ----------------------------------------------------------------------------------

mabd_status mabd_variational_give_system(mabd_variational_sim* sim,
                                         mabd_variational_island* island) {
    mabd_variational_contacts* c = sim->contacts;
    MABD_TRY(find_pairs(sim, island));
    return mabd_variational_system_create(sim, island, c->pairs.count, c->pairs.data,
                                          &island->system);
}

// The island of the step before with the same lowest island, null = none.
static mabd_variational_island* find_before(const mabd_variational_contacts* c, int32_t first) {
    int32_t low = 0, high = c->before.count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (c->before.islands[middle].first < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < c->before.count && c->before.islands[low].first == first;
    return found ? &c->before.islands[low] : NULL;
}

static bool has_pattern(const mabd_variational_sim* sim, const mabd_variational_island* before,
                        const mabd_variational_island* now) {
    const mabd_list* pairs = &sim->contacts->pairs;
    return before->system && before->body_count == now->body_count &&
           memcmp(before->bodies, now->bodies, (size_t)now->body_count * sizeof *now->bodies) ==
               0 &&
           mabd_variational_system_has_pairs(before->system, pairs->count, pairs->data);
}

// The matrix of a joined island: that of the step before if its pattern is the same.
static mabd_status take_system(mabd_variational_sim* sim, mabd_variational_island* island) {
    mabd_variational_contacts* c = sim->contacts;
    mabd_variational_island* before = find_before(c, island->first);
    MABD_TRY(find_pairs(sim, island));
    if (before && has_pattern(sim, before, island)) {
        island->system = before->system;
        before->system = NULL;
        return MABD_OK;
    }
    MABD_TRY(mabd_variational_system_create(sim, island, c->pairs.count, c->pairs.data,
                                            &island->system));
    c->system_bytes += mabd_variational_system_bytes(island->system);
    return MABD_OK;
}

static void drop_islands(mabd_variational_contacts* c, joined_islands* list) {
    for (int32_t i = 0; i < list->count; i++) {
        c->system_bytes -= mabd_variational_system_bytes(list->islands[i].system);
        mabd_variational_system_destroy(&c->allocator, list->islands[i].system);
        list->islands[i].system = NULL;
    }
    list->count = 0;
}

void mabd_variational_drop_systems(mabd_variational_contacts* c) {
    drop_islands(c, &c->now);
    drop_islands(c, &c->before);
}

// ---- room --------------------------------------------------------------------------------------

// Sort the meetings by island: contacts->order, and the part of each island of the step.
static mabd_status sort_meetings(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    const mabd_variational_meeting* meetings = c->meetings.data;
    int32_t first = 0;
    c->order.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->order, sizeof(int32_t), c->meetings.count));
    c->order.count = c->meetings.count;
    for (int32_t i = 0; i < sim->island_count; i++) c->count[i] = 0;
    for (int32_t i = 0; i < c->meetings.count; i++) c->count[meetings[i].island]++;
    for (int32_t g = 0; g < c->group_count; g++) {
        mabd_variational_island* island = c->groups[g];
        island->meeting_first = first, island->meeting_count = c->count[island->first];
        c->count[island->first] = first;
        first += island->meeting_count;
    }
    for (int32_t i = 0; i < c->meetings.count; i++) {
        ((int32_t*)c->order.data)[c->count[meetings[i].island]++] = i;
    }
    return MABD_OK;
}

// Add the bounds of one island of the simulation to an island of the step.
static void add_bounds(mabd_variational_sim* sim, int32_t own, bool stops,
                       mabd_variational_island* to) {
    mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = c->bound_first[own]; i < c->bound_first[own + 1]; i++) {
        const bool stop = c->bounds[i].kind <= MABD_VARIATIONAL_UPPER;
        if (stop != stops) continue;
        if (stop) {
            mabd_variational_touch* t = mabd_variational_touches(c, to) + to->stop_count++;
            memset(t, 0, sizeof *t);
            t->bound = i;
        } else {
            mabd_variational_drive* d = mabd_variational_drives(c, to) + to->box_count++;
            memset(d, 0, sizeof *d);
            d->bound = i;
        }
    }
}

static mabd_status give_room(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    const int64_t touches =
        c->stop_count + (int64_t)MABD_CONTACT_MAX_POINTS * (int64_t)c->meetings.count;
    const int64_t boxes = c->bound_count - c->stop_count;
    int32_t touch = 0, box = 0;
    c->touches.count = c->barriers.count = c->drives.count = c->boxes.count = 0;
    MABD_TRY(
        mabd_list_reserve(&c->allocator, &c->touches, sizeof(mabd_variational_touch), touches));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->barriers, sizeof(mabd_barrier_contact), touches));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->drives, sizeof(mabd_variational_drive), boxes));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->boxes, sizeof(mabd_barrier_box), boxes));
    for (int32_t g = 0; g < c->group_count; g++) {
        mabd_variational_island* island = c->groups[g];
        island->touch_first = touch, island->box_first = box;
        island->stop_count = island->box_count = 0;
        for (int32_t i = island->first; i >= 0; i = c->work[i]) {
            add_bounds(sim, i, true, island);
            add_bounds(sim, i, false, island);
        }
        island->touch_count = island->stop_count;
        touch += island->stop_count + MABD_CONTACT_MAX_POINTS * island->meeting_count;
        box += island->box_count;
    }
    return MABD_OK;
}

// ---- the islands of a step ---------------------------------------------------------------------

// Give the bodies of islands that were joined their places back.
static void part_islands(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    const joined_islands keep = c->before;
    for (int32_t g = 0; g < c->now.count; g++) {
        const mabd_variational_island* island = &c->now.islands[g];
        for (int32_t i = 0, own = -1, k = 0; i < island->body_count; i++, k++) {
            const int32_t body = island->bodies[i];
            if (sim->body_island[body] != own) own = sim->body_island[body], k = 0;
            sim->body_slot[body] = k;
        }
    }
    drop_islands(c, &c->before);
    c->before = c->now, c->now = keep;
    c->now.count = 0;
}

mabd_status mabd_variational_join_islands(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    list_ends at = {0, 0, 0, 0};
    part_islands(sim);
    find_joined(sim);
    c->group_count = 0;
    for (int32_t i = 0; i < sim->island_count; i++) {
        mabd_variational_island* island = &sim->islands[i];
        if (c->joined[i] != i) continue;
        if (c->work[i] >= 0) {
            island = &c->now.islands[c->now.count++];
            merge(sim, i, &at, island);
        }
        c->groups[c->group_count++] = island;
    }
    MABD_TRY(sort_meetings(sim));
    MABD_TRY(give_room(sim));
    for (int32_t i = 0; i < c->now.count; i++) MABD_TRY(take_system(sim, &c->now.islands[i]));
    for (int32_t g = 0; g < c->group_count; g++) {
        mabd_variational_island* island = c->groups[g];
        if (island->meeting_count == 0 || island->system) continue;
        MABD_TRY(mabd_variational_give_system(sim, island));
        sim->solver_bytes += mabd_variational_system_bytes(island->system);
    }
    return MABD_OK;
}

// ---- depths ------------------------------------------------------------------------------------

int32_t mabd_variational_least_depth(const mabd_variational_sim* sim,
                                     const mabd_variational_island* island) {
    const mabd_variational_contacts* c = sim->contacts;
    int32_t depth = sim->depth[island->first];
    for (int32_t i = island->first; c && i >= 0; i = c->work[i]) {
        if (sim->depth[i] > depth) depth = sim->depth[i];
    }
    return depth;
}
