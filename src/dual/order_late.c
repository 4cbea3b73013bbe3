// SPDX-License-Identifier: Apache-2.0
//
// K = | K'  J |   A junction's block is always -H. A joint's own block is K' = 0 if all its moving
//     | J' -H |   bodies are junctions, and J H^-1 J' > 0 once all 12 freedoms of one of them are
//                 eliminated.
//
// The two slots of a junction are consecutive in the system, so counting identifies junctions.
// O(slots + edges).

#include "dual/order_late.h"

#include <string.h>

typedef struct late_order {
    int32_t* place;       // of a slot in the order
    int32_t* junction;    // junction of a slot, -1 = none
    int32_t* ready;       // place at which a junction is complete
    int32_t* wait;        // place that a late slot must come after
    int32_t *head, *next; // slots moved to a place
    int32_t* order;       // the new one
    size_t bytes;
} late_order;

static void layout(size_t slots, mabd_arena* arena, late_order* l) {
    int32_t** arrays[] = {&l->place, &l->junction, &l->ready, &l->wait,
                          &l->head,  &l->next,     &l->order};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = mabd_arena_take(arena, slots, sizeof(int32_t));
    }
}

static mabd_status allocate(const mabd_allocator* allocator, size_t slots, late_order* l) {
    mabd_arena arena = {NULL, 0, 0};
    layout(slots, &arena, l);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    l->bytes = arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(slots, &arena, l);
    return MABD_OK;
}

static void find_junctions(const mabd_dual_system* system, const int32_t* order, late_order* l) {
    int32_t count = 0;
    for (int32_t k = 0; k < system->slot_count; k++) {
        l->place[order[k]] = k;
        l->wait[k] = INT32_MAX;
        l->head[k] = -1;
    }
    for (int32_t s = 0; s < system->slot_count; s++) {
        l->junction[s] = system->negative[s] ? count++ / 2 : -1;
        if (l->junction[s] < 0) continue;
        int32_t* ready = &l->ready[l->junction[s]];
        *ready = count % 2 || l->place[s] > *ready ? l->place[s] : *ready;
    }
}

static void find_waits(const mabd_dual_system* system, late_order* l) {
    for (int32_t e = 0; e < system->edge_count; e++) {
        int32_t s = system->from[e] - system->slot_offset, t = system->to[e] - system->slot_offset;
        if (system->negative[s]) { // t is the junction's
            const int32_t junction = s;
            s = t, t = junction;
        }
        if (!system->late[s] || l->junction[t] < 0) continue;
        const int32_t ready = l->ready[l->junction[t]];
        if (ready < l->wait[s]) l->wait[s] = ready;
    }
}

mabd_status mabd_dual_order_late(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 int32_t* order) {
    const int32_t n = system->slot_count;
    late_order l;
    if (!system->negative || !system->late) return MABD_OK;
    MABD_TRY(allocate(allocator, (size_t)n, &l));
    find_junctions(system, order, &l);
    find_waits(system, &l);
    for (int32_t k = n - 1; k >= 0; k--) { // the lists come out in the old order
        const int32_t s = order[k];
        if (!system->late[s] || l.wait[s] == INT32_MAX || l.wait[s] < k) continue;
        l.next[s] = l.head[l.wait[s]];
        l.head[l.wait[s]] = s;
    }
    int32_t count = 0;
    for (int32_t k = 0; k < n; k++) {
        const int32_t s = order[k];
        const bool put_off = system->late[s] && l.wait[s] != INT32_MAX && l.wait[s] > k;
        if (!put_off) l.order[count++] = s;
        for (int32_t t = l.head[k]; t >= 0; t = l.next[t]) l.order[count++] = t;
    }
    memcpy(order, l.order, (size_t)n * sizeof *order);
    mabd_free(allocator, l.place, l.bytes);
    return MABD_OK;
}
