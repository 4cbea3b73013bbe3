// SPDX-License-Identifier: Apache-2.0
// The order of sequential impulses: what runs at the same time shares no body, and nothing is lost.

#include "formulation/impulse/impulse_colors.h"
#include "math/lanes.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct graph {
    int32_t n, bodies;
    mabd_impulse_item* items;
    mabd_impulse_order order;
} graph;

static void* take(size_t n, size_t size) {
    void* memory = calloc(n ? n : 1, size);
    cr_assert_not_null(memory);
    return memory;
}

static void build(graph* g) {
    mabd_impulse_order* o = &g->order;
    const size_t n = (size_t)g->n, tiles = (size_t)mabd_impulse_tiles(g->n);
    uint32_t* marks = take((size_t)g->bodies, sizeof *marks);
    o->color = take(n, 1), o->phase_first = take(tiles + 1, 4), o->tile = take(tiles, 4);
    o->tile_pack = take(tiles + 1, 4), o->place = take(n, 4);
    mabd_impulse_order_color(g->n, g->items, g->bodies, marks, o);
    o->pack_kind = take((size_t)o->pack_count, 1);
    o->pack_item = take(MABD_LANES * (size_t)o->pack_count, 4);
    mabd_impulse_order_pack(g->items, o);
    free(marks);
}

static void drop(graph* g) {
    mabd_impulse_order* o = &g->order;
    free(o->color), free(o->phase_first), free(o->tile), free(o->tile_pack), free(o->place);
    free(o->pack_kind), free(o->pack_item), free(g->items);
}

// Uniform in [0, 1).
static mabd_real unit(uint64_t* draw) {
    return (1 + draw_real(draw)) / 2;
}

// Random pairs of neighbours by index, some with one side at rest.
static graph draw_graph(int32_t n, int32_t bodies, int32_t reach, uint64_t* draw) {
    graph g = {n, bodies, take((size_t)n, sizeof *g.items), {0}};
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = (int32_t)(unit(draw) * (bodies - reach));
        g.items[i].a = a, g.items[i].b = a + 1 + (int32_t)(unit(draw) * (reach - 1));
        if (unit(draw) < 0.1) g.items[i].b = -1;
        g.items[i].kind = (int32_t)(unit(draw) * 3);
    }
    return g;
}

// Mark the bodies of an item with a stamp; false if one has it.
static bool stamp(const mabd_impulse_item* item, int32_t number, int32_t* stamps) {
    const bool new =
        (item->a < 0 || stamps[item->a] != number) && (item->b < 0 || stamps[item->b] != number);
    if (item->a >= 0) stamps[item->a] = number;
    if (item->b >= 0) stamps[item->b] = number;
    return new;
}

static void check_packs(const graph* g) {
    const mabd_impulse_order* o = &g->order;
    int32_t seen = 0, *stamps = take((size_t)g->bodies, sizeof *stamps);
    for (int32_t p = 0; p < o->pack_count; p++) {
        int32_t count = 0;
        for (int32_t l = 0; l < MABD_LANES; l++) {
            const int32_t i = o->pack_item[MABD_LANES * p + l];
            if (i < 0) continue;
            cr_assert(stamp(&g->items[i], p + 1, stamps), "pack %d: two items share a body", p);
            cr_assert_eq(g->items[i].kind, o->pack_kind[p]);
            cr_assert_eq(o->place[i], MABD_LANES * p + l);
            count++;
        }
        cr_assert_gt(count, 0);
        seen += count;
    }
    cr_assert_eq(seen, g->n);
    free(stamps);
}

static void check_phases(const graph* g) {
    const mabd_impulse_order* o = &g->order;
    int32_t *stamps = take((size_t)g->bodies, sizeof *stamps), tiles = 0;
    int32_t* owner = take((size_t)g->bodies, sizeof *owner); // tile + 1 within the phase
    for (int32_t f = 0; f < o->phase_count; f++) {
        memset(owner, 0, (size_t)g->bodies * sizeof *owner);
        for (int32_t t = o->phase_first[f]; t < o->phase_first[f + 1]; t++, tiles++) {
            for (int32_t k = MABD_LANES * o->tile_pack[t]; k < MABD_LANES * o->tile_pack[t + 1];
                 k++) {
                const int32_t i = o->pack_item[k];
                for (int side = 0; i >= 0 && side < 2; side++) {
                    const int32_t body = side ? g->items[i].b : g->items[i].a;
                    if (body < 0) continue;
                    cr_assert(owner[body] == 0 || owner[body] == t + 1,
                              "phase %d: body %d is in two tiles", f, body);
                    owner[body] = t + 1;
                }
            }
        }
    }
    cr_assert_eq(tiles, mabd_impulse_tiles(g->n));
    free(stamps), free(owner);
}

Test(impulse_colors, items_of_a_pack_and_tiles_of_a_phase_share_no_body) {
    uint64_t draw = 7;
    const int32_t sizes[][3] = {{1, 8, 2}, {500, 300, 20}, {5000, 4000, 9}, {3000, 80, 70}};
    for (int k = 0; k < 4; k++) {
        graph g = draw_graph(sizes[k][0], sizes[k][1], sizes[k][2], &draw);
        build(&g);
        check_packs(&g), check_phases(&g);
        drop(&g);
    }
}

// Every joint of a chain shares a body with the next: two colors, two phases, full packs.
Test(impulse_colors, a_chain_has_two_colors_two_phases_and_full_packs) {
    graph g = {4096, 4097, take(4096, sizeof *g.items), {0}};
    for (int32_t i = 0; i < g.n; i++) g.items[i].a = i, g.items[i].b = i + 1;
    build(&g);
    check_packs(&g), check_phases(&g);
    cr_assert_eq(g.order.color_count, 2);
    cr_assert_eq(g.order.phase_count, 2);
    cr_assert_eq(g.order.pack_count, 4096 / MABD_LANES);
    drop(&g);
}

// A floor that moves under 100 boxes has more items than colors: the rest follows one by one, in
// order, after the colors.
Test(impulse_colors, a_body_with_more_items_than_colors_has_a_rest_in_order) {
    graph g = {100, 101, take(100, sizeof *g.items), {0}};
    for (int32_t i = 0; i < g.n; i++) g.items[i].a = 100, g.items[i].b = i;
    build(&g);
    check_packs(&g);
    cr_assert_eq(g.order.color_count, MABD_IMPULSE_COLORS + 1);
    cr_assert_eq(g.order.pack_count, 100);
    for (int32_t i = MABD_IMPULSE_COLORS; i < g.n; i++) {
        cr_assert_eq(g.order.place[i], MABD_LANES * i);
    }
    drop(&g);
}

// More tiles on one body than phases: each of the others is a phase of its own.
Test(impulse_colors, tiles_beyond_the_last_phase_follow_one_by_one) {
    const int32_t tiles = MABD_IMPULSE_COLORS + 5, n = tiles * MABD_IMPULSE_TILE_ITEMS;
    graph g = {n, n + 1, take((size_t)n, sizeof *g.items), {0}};
    for (int32_t i = 0; i < n; i++) {
        g.items[i].a = i % MABD_IMPULSE_TILE_ITEMS == 0 ? n : -1, g.items[i].b = i;
    }
    build(&g);
    check_packs(&g), check_phases(&g);
    cr_assert_eq(g.order.phase_count, tiles);
    drop(&g);
}
