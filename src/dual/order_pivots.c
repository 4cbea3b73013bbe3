// SPDX-License-Identifier: Apache-2.0
//
// K = | A -J' |   A joint's own block is 0, and J_b A_b^-1 J_b' once a body b of it is eliminated,
//     | J  0  |   which is regular: the rows of one joint are independent on each of its bodies.
//
// The rows of two joints on one body need not be: a bar between two ball joints turns about its
// axis, so six rows have rank five. So a body serves one joint: the earliest in the order that has
// no other body. In a tree every joint has a body of its own; joints that close loops come last,
// when all bodies are eliminated. O(slots + edges).

#include "dual/order_pivots.h"

#include "base/memory.h"

#include <string.h>

typedef struct pivot_order {
    int32_t* place;             // of a slot in the order (slots)
    int32_t *start, *neighbour; // late slots coupled with a slot (slots + 1), (edges)
    bool* served;               // late slots that have a body (slots)
    bool* passed;               // late slots whose place is behind (slots)
    int32_t* order;             // the new one (slots)
    int32_t count;              // slots in it
} pivot_order;

static void layout(const mabd_dual_system* system, mabd_arena* arena, pivot_order* p) {
    const size_t slots = (size_t)system->slot_count;
    p->place = mabd_arena_take(arena, slots, sizeof(int32_t));
    p->start = mabd_arena_take(arena, slots + 1, sizeof(int32_t));
    p->neighbour = mabd_arena_take(arena, (size_t)system->edge_count, sizeof(int32_t));
    p->served = mabd_arena_take(arena, slots, sizeof(bool));
    p->passed = mabd_arena_take(arena, slots, sizeof(bool));
    p->order = mabd_arena_take(arena, slots, sizeof(int32_t));
}

// Return the slot of an edge that is not late if the other is, else -1; *late gets the other.
static int32_t body_of(const mabd_dual_system* system, int32_t edge, int32_t* late) {
    const int32_t s = system->from[edge] - system->slot_offset;
    const int32_t t = system->to[edge] - system->slot_offset;
    if (system->late[s] == system->late[t]) return -1;
    *late = system->late[s] ? s : t;
    return system->late[s] ? t : s;
}

static void collect(const mabd_dual_system* system, pivot_order* p) {
    int32_t late, sum = 0;
    for (int32_t e = 0; e < system->edge_count; e++) {
        const int32_t body = body_of(system, e, &late);
        if (body >= 0) p->start[body]++;
    }
    for (int32_t s = 0; s <= system->slot_count; s++) p->start[s] = sum += p->start[s];
    for (int32_t e = system->edge_count - 1; e >= 0; e--) {
        const int32_t body = body_of(system, e, &late);
        if (body >= 0) p->neighbour[--p->start[body]] = late;
    }
}

// Put a slot that is not late into the order, and the late slot that it serves if that one's place
// is behind.
static void put_body(pivot_order* p, int32_t body) {
    int32_t best = -1;
    p->order[p->count++] = body;
    for (int32_t i = p->start[body]; i < p->start[body + 1]; i++) {
        const int32_t s = p->neighbour[i];
        if (!p->served[s] && (best < 0 || p->place[s] < p->place[best])) best = s;
    }
    if (best < 0) return;
    p->served[best] = true;
    if (p->passed[best]) p->order[p->count++] = best;
}

static void put_all(const mabd_dual_system* system, const int32_t* order, pivot_order* p) {
    for (int32_t k = 0; k < system->slot_count; k++) {
        const int32_t s = order[k];
        if (!system->late[s]) {
            put_body(p, s);
        } else if (p->served[s]) {
            p->order[p->count++] = s;
        }
        p->passed[s] = true;
    }
    for (int32_t k = 0; k < system->slot_count; k++) {
        const int32_t s = order[k];
        if (system->late[s] && !p->served[s]) p->order[p->count++] = s;
    }
}

mabd_status mabd_dual_order_pivots(const mabd_allocator* allocator, const mabd_dual_system* system,
                                   int32_t* order) {
    pivot_order p = {0};
    mabd_arena arena = {NULL, 0, 0};
    if (!system->late) return MABD_OK;
    layout(system, &arena, &p);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    layout(system, &arena, &p);
    for (int32_t k = 0; k < system->slot_count; k++) p.place[order[k]] = k;
    collect(system, &p);
    put_all(system, order, &p);
    memcpy(order, p.order, (size_t)system->slot_count * sizeof *order);
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
