// SPDX-License-Identifier: Apache-2.0
// Colours of slots (src/topology/color.c).
#include "dual/graph_matrix.h"
#include "support/dual_case.h"
#include "topology/color.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

typedef struct colors {
    dual_case c;
    mabd_dual_neighbours list;
    int32_t *color, *taken, *first, *order;
    int32_t count, most; // colours; most neighbours of a slot
} colors;

static colors make(dual_graph graph) {
    const mabd_allocator allocator = mabd_default_allocator();
    colors s = {.c = dual_case_make(graph, 0, 12, 1, 1)};
    const int32_t n = s.c.system.slot_count;
    cr_assert(eq(int, mabd_dual_neighbours_make(&allocator, &s.c.system, &s.list), MABD_OK));
    int32_t** arrays[] = {&s.color, &s.taken, &s.first, &s.order};
    for (int i = 0; i < 4; i++) *arrays[i] = malloc(((size_t)n + 1) * sizeof(int32_t));
    s.count = mabd_color_greedy(n, s.list.start, s.list.slot, s.color, s.taken);
    mabd_color_sort(n, s.color, s.count, s.first, s.order);
    for (int32_t k = 0; k < n; k++) {
        const int32_t degree = s.list.start[k + 1] - s.list.start[k];
        if (degree > s.most) s.most = degree;
    }
    return s;
}

static void release(colors* s) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_dual_neighbours_free(&allocator, &s->list);
    free(s->color), free(s->taken), free(s->first), free(s->order);
    dual_case_free(&s->c);
}

static dual_graph pattern(int which, uint64_t seed) {
    if (which == 0) return dual_graph_ring(41, 3, seed);
    if (which == 1) return dual_graph_net(9, 8, 3, seed);
    if (which == 2) return dual_graph_chain(50, 3, seed);
    return dual_graph_without_junctions(dual_graph_random(60, 50, 0, seed));
}

Test(color, no_edge_joins_two_of_one_color) {
    for (int which = 0; which < 4; which++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            colors s = make(pattern(which, seed));
            const mabd_dual_system* k = &s.c.system;
            for (int32_t e = 0; e < k->edge_count; e++) {
                cr_assert(ne(i32, s.color[k->from[e] - k->slot_offset],
                             s.color[k->to[e] - k->slot_offset]));
            }
            cr_expect(le(i32, s.count, s.most + 1), "pattern %d", which);
            release(&s);
        }
    }
}

// No lower colour is free: each one is the colour of a neighbour with a lower number.
Test(color, none_could_be_lower) {
    colors s = make(pattern(3, 7));
    for (int32_t i = 0; i < s.c.system.slot_count; i++) {
        for (int32_t c = 0; c < s.color[i]; c++) {
            bool found = false;
            for (int32_t k = s.list.start[i]; k < s.list.start[i + 1]; k++) {
                found |= s.list.slot[k] < i && s.color[s.list.slot[k]] == c;
            }
            cr_assert(found);
        }
    }
    release(&s);
}

Test(color, a_chain_has_two_and_an_odd_ring_three) {
    colors chain = make(pattern(2, 1)), ring = make(pattern(0, 1));
    cr_expect(eq(i32, chain.count, 2));
    cr_expect(eq(i32, ring.count, 3));
    release(&chain), release(&ring);
}

Test(color, sorted_each_slot_is_there_once) {
    colors s = make(pattern(1, 2));
    const int32_t n = s.c.system.slot_count;
    cr_expect(eq(i32, s.first[0], 0));
    cr_expect(eq(i32, s.first[s.count], n));
    for (int32_t c = 0; c < s.count; c++) {
        cr_expect(lt(i32, s.first[c], s.first[c + 1]));
        for (int32_t k = s.first[c]; k < s.first[c + 1]; k++) {
            cr_expect(eq(i32, s.color[s.order[k]], c));
            if (k > s.first[c]) cr_expect(lt(i32, s.order[k - 1], s.order[k]));
        }
    }
    release(&s);
}
