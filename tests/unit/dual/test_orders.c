// SPDX-License-Identifier: Apache-2.0
// Tests for the elimination orders: spanning trees (src/topology/spanning.c), separators, nested
// dissection and the choice among orders (src/dual/).
#include "dual/block_order.h"
#include "dual/order_dissect.h"
#include "dual/separator.h"
#include "support/counting_allocator.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t random_below(uint64_t* seed, uint32_t n) {
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((*seed >> 33) % n);
}

static mabd_plan* plan_of(const dual_graph* graph) {
    mabd_allocator allocator = mabd_default_allocator();
    bool* moving = malloc((size_t)graph->bodies);
    mabd_plan* plan;
    memset(moving, 1, (size_t)graph->bodies);
    cr_assert(eq(int,
                 mabd_plan_build(&allocator, graph->bodies, moving, graph->joints, graph->a,
                                 graph->b, graph->width, MABD_PLAN_AFFINE_ROWS, &plan),
                 MABD_OK));
    free(moving);
    return plan;
}

// ---- trees -------------------------------------------------------------------------------------

// Return the rows cut by a spanning tree of the joints in `chosen` (one bit each), -1 if they are
// none.
static int32_t rows_cut(const dual_graph* graph, uint32_t chosen) {
    int32_t group[16], rows = 0;
    for (int32_t i = 0; i < graph->bodies; i++) group[i] = i;
    for (int32_t j = 0; j < graph->joints; j++) {
        const int32_t a = group[graph->a[j]], b = group[graph->b[j]];
        if (!(chosen >> j & 1)) {
            rows += graph->width[j];
            continue;
        }
        if (a == b) return -1;
        for (int32_t i = 0; i < graph->bodies; i++) group[i] = group[i] == b ? a : group[i];
    }
    for (int32_t i = 0; i < graph->bodies; i++) {
        if (group[i] != group[0]) return -1;
    }
    return rows;
}

Test(orders, no_spanning_tree_cuts_fewer_rows) {
    uint64_t s = 1;
    int32_t trees = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const int32_t bodies = 2 + (int32_t)random_below(&s, 5);
        const int32_t more = 1 + (int32_t)random_below(&s, 5);
        dual_graph graph = dual_graph_make(bodies, bodies - 1 + more);
        for (int32_t j = 0; j < bodies - 1 + more; j++) {
            const int32_t b = j + 1 < bodies ? j + 1 : (int32_t)random_below(&s, (uint32_t)bodies);
            const int32_t a =
                j + 1 < bodies ? (int32_t)random_below(&s, (uint32_t)b)
                               : (b + 1 + (int32_t)random_below(&s, (uint32_t)bodies - 1)) % bodies;
            dual_graph_join(&graph, a, b, 1 + (int32_t)random_below(&s, 6));
        }
        int32_t least = INT32_MAX;
        for (uint32_t chosen = 0; chosen < 1u << graph.joints; chosen++) {
            const int32_t rows = rows_cut(&graph, chosen);
            trees += rows >= 0;
            if (rows >= 0 && rows < least) least = rows;
        }
        mabd_plan* plan = plan_of(&graph);
        cr_assert(eq(i32, plan->component_count, 1));
        cr_assert(eq(i32, plan->components[0].cut_rows, least), "graph %d", (int)seed);
        mabd_plan_destroy(plan);
        dual_graph_free(&graph);
    }
    cr_assert(lt(i32, 1000, trees));
}

// Prim's algorithm, by rows: the tree grows from body 0 by the widest joint that leaves it.
static int32_t widest_tree(const dual_graph* graph) {
    bool* in = calloc((size_t)graph->bodies, sizeof(bool));
    int32_t rows = 0;
    in[0] = true;
    for (int32_t n = 1; n < graph->bodies; n++) {
        int32_t best = -1;
        for (int32_t j = 0; j < graph->joints; j++) {
            if (graph->a[j] < 0 || graph->b[j] < 0 || in[graph->a[j]] == in[graph->b[j]]) continue;
            if (best < 0 || graph->width[j] > graph->width[best]) best = j;
        }
        in[graph->a[best]] = in[graph->b[best]] = true;
        rows += graph->width[best];
    }
    free(in);
    return rows;
}

Test(orders, large_trees_are_as_wide_as_those_of_prim) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        dual_graph graph =
            seed % 2 ? dual_graph_net(9, 11, 0, seed) : dual_graph_random(80, 60, 0, seed);
        int32_t rows = 0;
        for (int32_t j = 0; j < graph.joints; j++) {
            rows += graph.a[j] >= 0 && graph.b[j] >= 0 ? graph.width[j] : 0;
        }
        mabd_plan* plan = plan_of(&graph);
        cr_assert(eq(i32, plan->components[0].cut_rows, rows - widest_tree(&graph)));
        mabd_plan_destroy(plan);
        dual_graph_free(&graph);
    }
}

// Return the place of a joint in the elimination order.
static int32_t place_of(const mabd_plan* plan, int32_t joint) {
    int32_t place = 0;
    while (plan->elimination[place] != plan->joint_slot[joint]) place++;
    return place;
}

// Count steps from a body along joints eliminated before place `end`; return the largest.
static int32_t walk(const dual_graph* graph, const mabd_plan* plan, int32_t end, int32_t from,
                    int32_t* steps) {
    int32_t last = 0;
    for (int32_t i = 0; i < graph->bodies; i++) steps[i] = i == from ? 0 : INT32_MAX;
    for (bool more = true; more;) {
        more = false;
        for (int32_t j = 0; j < graph->joints; j++) {
            if (graph->a[j] < 0 || graph->b[j] < 0 || place_of(plan, j) >= end) continue;
            int32_t *a = &steps[graph->a[j]], *b = &steps[graph->b[j]];
            if (*a > *b) a = &steps[graph->b[j]], b = &steps[graph->a[j]];
            if (*a == INT32_MAX || *b <= *a + 1) continue;
            *b = *a + 1;
            more = true;
        }
    }
    for (int32_t i = 0; i < graph->bodies; i++) last = steps[i] > last ? steps[i] : last;
    return last;
}

// If all joints are equally wide, the tree has shortest paths from the root, which is in the
// middle.
Test(orders, equal_joints_give_a_shallow_tree) {
    dual_graph graphs[] = {dual_graph_net(7, 9, 3, 1), dual_graph_ring(21, 5, 1),
                           dual_graph_random(60, 20, 4, 5)};
    for (int g = 0; g < 3; g++) {
        dual_graph* graph = &graphs[g];
        mabd_plan* plan = plan_of(graph);
        int32_t *tree = malloc((size_t)graph->bodies * sizeof(int32_t)),
                *all = malloc((size_t)graph->bodies * sizeof(int32_t)), radius = INT32_MAX;
        // the root carries the last tree joint; of its two bodies it is the one nearer to the
        // others
        const int32_t end = plan->slot_count - plan->loops;
        const int32_t last = plan->slot_joint[plan->elimination[end - 1]];
        int32_t root = graph->a[last];
        if (graph->b[last] >= 0 && (root < 0 || walk(graph, plan, end, graph->b[last], tree) <
                                                    walk(graph, plan, end, root, tree))) {
            root = graph->b[last];
        }
        const int32_t depth = walk(graph, plan, end, root, tree);
        walk(graph, plan, plan->slot_count, root, all);
        for (int32_t i = 0; i < graph->bodies; i++) cr_assert(eq(i32, tree[i], all[i]));
        for (int32_t i = 0; i < graph->bodies; i++) {
            const int32_t far = walk(graph, plan, plan->slot_count, i, all);
            radius = far < radius ? far : radius;
        }
        cr_assert(le(i32, depth, radius + 1), "graph %d: %d, radius %d", g, depth, radius);
        free(tree), free(all);
        mabd_plan_destroy(plan);
        dual_graph_free(graph);
    }
}

// ---- systems -----------------------------------------------------------------------------------

// Junctions on a grid, a rod between neighbours, `missing` per cent of the rods left out; hung by
// its first row.
static dual_graph rod_net(int32_t n, uint32_t missing, uint64_t seed) {
    uint64_t s = seed;
    int32_t rod = n * n;
    dual_graph graph = dual_graph_make(3 * n * n, 4 * n * n + n);
    for (int32_t i = 0; i < n * n; i++) {
        for (int32_t across = 0; across < 2; across++) {
            if (across ? i / n == n - 1 : i % n == n - 1) continue;
            if (random_below(&s, 100) < missing) continue;
            dual_graph_join(&graph, i, rod, 3);
            dual_graph_join(&graph, rod++, across ? i + n : i + 1, 3);
        }
    }
    for (int32_t i = 0; i < n; i++) dual_graph_join(&graph, -1, i, 3);
    return graph;
}

// Two rails of n links each and a rung between every pair.
static dual_graph ladder(int32_t n) {
    dual_graph graph = dual_graph_make(3 * n, 4 * n);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t side = 0; side < 2; side++) {
            const int32_t link = 2 * i + side;
            dual_graph_join(&graph, i ? link - 2 : -1, link, 3);
            dual_graph_join(&graph, link, 2 * n + i, 5);
        }
    }
    return graph;
}

// The largest component, without values: D and U are not needed.
typedef struct pattern {
    mabd_plan* plan;
    mabd_dual_system system;
} pattern;

static pattern pattern_of(dual_graph graph) {
    pattern p = {.plan = plan_of(&graph)};
    const mabd_plan_component* c = p.plan->components;
    for (int32_t i = 1; i < p.plan->component_count; i++) {
        if (p.plan->components[i].slot_count > c->slot_count) c = &p.plan->components[i];
    }
    const int32_t slot = c->slot_first, end = slot + c->slot_count;
    p.system = (mabd_dual_system){.slot_count = c->slot_count,
                                  .edge_count = c->edge_count,
                                  .row_count = p.plan->slot_row[end] - p.plan->slot_row[slot],
                                  .width = p.plan->slot_width + slot,
                                  .row = p.plan->slot_row + slot,
                                  .row_offset = p.plan->slot_row[slot],
                                  .block = p.plan->slot_block + slot,
                                  .from = p.plan->edge_from + c->edge_first,
                                  .to = p.plan->edge_to + c->edge_first,
                                  .slot_offset = slot,
                                  .elimination = p.plan->elimination + slot,
                                  .edge_block = p.plan->edge_block + c->edge_first};
    dual_graph_free(&graph);
    return p;
}

static void check_permutation(const int32_t* order, int32_t n) {
    uint8_t* seen = calloc((size_t)n, 1);
    for (int32_t i = 0; i < n; i++) {
        cr_assert(order[i] >= 0 && order[i] < n && !seen[order[i]]);
        seen[order[i]] = 1;
    }
    free(seen);
}

// Expect the order to be a permutation, deterministic, as cheap as reported, and not beaten by any
// counted one.
static mabd_dual_order_report order_of(const pattern* p) {
    mabd_allocator allocator = mabd_default_allocator();
    const size_t n = (size_t)p->system.slot_count;
    int32_t *order = malloc(n * sizeof *order), *again = malloc(n * sizeof *again);
    mabd_dual_order_report report, second;
    mabd_dual_block_count count;
    cr_assert(eq(int, mabd_dual_block_order(&allocator, &p->system, order, &report), MABD_OK));
    cr_assert(eq(int, mabd_dual_block_order(&allocator, &p->system, again, &second), MABD_OK));
    check_permutation(order, (int32_t)n);
    cr_assert(eq(int, memcmp(order, again, n * sizeof *order), 0));
    cr_assert(eq(int, memcmp(&report, &second, sizeof report), 0));
    mabd_dual_block_cost(&allocator, &p->system, order, DBL_MAX, &count);
    cr_assert(eq(dbl, report.counts[report.which].flops, count.flops));
    cr_assert(eq(dbl, report.counts[report.which].entries, count.entries));
    for (int k = 0; k < MABD_ORDER_COUNT; k++) {
        if (report.counts[k].entries > 0)
            cr_assert(le(dbl, count.flops, report.counts[k].flops * (1 + 1e-11)));
    }
    free(order), free(again);
    return report;
}

// ---- separators --------------------------------------------------------------------------------

static void check_separator(const pattern* p, const mabd_dual_separator* s) {
    int64_t weight[3] = {0, 0, 0};
    for (int32_t v = 0; v < p->system.slot_count; v++) weight[s->side[v]] += p->system.width[v];
    for (int k = 0; k < 3; k++) cr_assert(eq(i64, weight[k], s->weight[k]));
    for (int32_t e = 0; e < p->system.edge_count; e++) {
        const int u = s->side[p->system.from[e] - p->system.slot_offset];
        const int v = s->side[p->system.to[e] - p->system.slot_offset];
        cr_assert(u == v || u == MABD_SIDE_CUT || v == MABD_SIDE_CUT);
    }
}

// Start from random halves, with all slots of A next to B in the separator.
Test(orders, separators_stay_separators_and_get_lighter) {
    mabd_allocator allocator = mabd_default_allocator();
    double before = 0, after = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t s = seed;
        pattern p = pattern_of(seed % 2 ? dual_graph_net(12, 12, 0, seed)
                                        : dual_graph_random(150, 60, 0, seed));
        const int32_t n = p.system.slot_count;
        mabd_dual_neighbours list;
        mabd_dual_separator cut = {.width = p.system.width, .list = &list};
        mabd_arena arena = {NULL, 0, 0};
        cr_assert(eq(int, mabd_dual_neighbours_make(&allocator, &p.system, &list), MABD_OK));
        mabd_dual_separator_layout(&cut, n, &arena);
        arena = (mabd_arena){mabd_alloc(&allocator, arena.used), arena.used, 0};
        mabd_dual_separator_layout(&cut, n, &arena);
        mabd_dual_separator_clear(&cut, n);
        int32_t* slots = malloc((size_t)n * sizeof *slots);
        int64_t total = 0, start = 0, sides[2] = {0, 0};
        for (int32_t v = 0; v < n; v++) {
            slots[v] = v;
            cut.side[v] = (uint8_t)(v < n / 2 ? 0 : random_below(&s, 8) > 0);
            total += p.system.width[v];
        }
        for (int32_t v = 0; v < n; v++) {
            for (int32_t i = list.start[v]; cut.side[v] == 0 && i < list.start[v + 1]; i++) {
                if (cut.side[list.slot[i]] == 1) cut.side[v] = MABD_SIDE_CUT;
            }
            if (cut.side[v] == MABD_SIDE_CUT)
                start += p.system.width[v];
            else
                sides[cut.side[v]] += p.system.width[v];
        }
        const int64_t limit = total * 6 / 10;
        mabd_dual_separator_refine(&cut, n, slots, limit);
        check_separator(&p, &cut);
        cr_assert(le(i64, cut.weight[MABD_SIDE_CUT], start));
        const int64_t most = sides[0] > sides[1] ? sides[0] : sides[1];
        for (int k = 0; k < 2; k++) cr_assert(le(i64, cut.weight[k], limit > most ? limit : most));
        before += (double)start, after += (double)cut.weight[MABD_SIDE_CUT];
        free(slots);
        mabd_free(&allocator, arena.memory, arena.size);
        mabd_dual_neighbours_free(&allocator, &list);
        mabd_plan_destroy(p.plan);
    }
    cr_log_info("rows of 40 separators: %.0f before, %.0f after", before, after);
    cr_assert(lt(dbl, after, 0.6 * before));
}

// ---- dissection --------------------------------------------------------------------------------

// Sets are numbered without gaps. Of two coupled sets the greater must be a separator: it comes
// after all that it separates, so it is coupled with two or more sets below it, and slots of a set
// that is coupled with none below lie in parts of at most `leaf` slots.
Test(orders, dissection_makes_small_parts_and_separators) {
    mabd_allocator allocator = mabd_default_allocator();
    pattern p = pattern_of(rod_net(40, 0, 1));
    const int32_t n = p.system.slot_count;
    int32_t* set = malloc((size_t)n * sizeof *set);
    int32_t* size = calloc((size_t)n, sizeof *size);
    uint8_t* above = calloc((size_t)n, 1);
    int32_t sets = 0, parts = 0;
    cr_assert(eq(int, mabd_dual_dissect(&allocator, &p.system, set), MABD_OK));
    for (int32_t v = 0; v < n; v++) size[set[v]]++, sets = set[v] >= sets ? set[v] + 1 : sets;
    for (int32_t e = 0; e < p.system.edge_count; e++) {
        const int32_t u = set[p.system.from[e]], v = set[p.system.to[e]];
        if (u != v) above[u > v ? u : v] = 1;
    }
    for (int32_t k = 0; k < sets; k++) {
        cr_assert(lt(i32, 0, size[k]));
        parts += !above[k];
        cr_assert(le(i32, size[k], 100), "set %d of %d slots", k, size[k]);
    }
    cr_assert(ge(i32, parts, 64));
    // the last one halves the net: one joint of each of 40 links, and at most a few more
    cr_assert(le(i32, size[sets - 1], 44));
    free(set), free(size), free(above);
    mabd_plan_destroy(p.plan);
}

static mabd_dual_block_count cost_of(const pattern* p, mabd_order which) {
    mabd_allocator allocator = mabd_default_allocator();
    int32_t* order = malloc((size_t)p->system.slot_count * sizeof *order);
    mabd_dual_block_count count;
    cr_assert(eq(int, mabd_dual_block_order_by(&allocator, &p->system, which, order), MABD_OK));
    check_permutation(order, p->system.slot_count);
    cr_assert(
        eq(int, mabd_dual_block_cost(&allocator, &p->system, order, DBL_MAX, &count), MABD_OK));
    free(order);
    return count;
}

static void compare(const char* what, dual_graph graph, double worst) {
    pattern p = pattern_of(graph);
    const mabd_dual_block_count degree = cost_of(&p, MABD_ORDER_DEGREE),
                                dissection = cost_of(&p, MABD_ORDER_DISSECTION);
    cr_log_info("%s: %d slots, minimum degree %.4g Mflop, dissection %.4g Mflop", what,
                p.system.slot_count, 1e-6 * degree.flops, 1e-6 * dissection.flops);
    cr_assert(lt(dbl, dissection.flops, worst * degree.flops), "%s: %g and %g", what,
              dissection.flops, degree.flops);
    mabd_plan_destroy(p.plan);
}

Test(orders, dissection_is_never_far_from_minimum_degree) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        compare("net, rods missing", rod_net(10 + 4 * (int32_t)seed, 25, seed), 2);
        compare("net, mixed joints", dual_graph_net(6 * (int32_t)seed, 20, 0, seed), 2);
        compare("random graph", dual_graph_random(40 * (int32_t)seed, 10 * (int32_t)seed, 0, seed),
                2);
    }
}

Test(orders, dissection_wins_on_large_nets) {
    compare("net 50 x 50", rod_net(50, 0, 1), 0.95);
    compare("net 100 x 100", rod_net(100, 0, 1), 0.95); // minimum degree: 607 to 1088, by numbering
    pattern large = pattern_of(rod_net(100, 0, 1));
    cr_assert(lt(dbl, cost_of(&large, MABD_ORDER_DISSECTION).flops, 5.5e8)); // METIS: 6.19e8
    mabd_plan_destroy(large.plan);
    compare("net 100 x 100, rods missing", rod_net(100, 5, 1), 1.1);
    pattern p = pattern_of(rod_net(60, 0, 1));
    cr_assert(eq(int, (int)order_of(&p).which, MABD_ORDER_DISSECTION));
    mabd_plan_destroy(p.plan);
}

// ---- the choice --------------------------------------------------------------------------------

static mabd_dual_order_report choose(dual_graph graph) {
    pattern p = pattern_of(graph);
    mabd_dual_order_report report = order_of(&p);
    mabd_plan_destroy(p.plan);
    return report;
}

static dual_graph star(int32_t arms) {
    dual_graph graph = dual_graph_make(arms + 1, arms);
    for (int32_t i = 0; i < arms; i++) dual_graph_join(&graph, arms, i, 5);
    return graph;
}

Test(orders, trees_keep_the_order_of_the_plan) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_assert(eq(int, (int)choose(dual_graph_tree(60, 1 + (int32_t)seed % 6, seed)).which,
                     MABD_ORDER_TREE));
    }
    cr_assert(eq(int, (int)choose(star(60)).which, MABD_ORDER_TREE));
    cr_assert(eq(int, (int)choose(dual_graph_chain(40, 3, 1)).which, MABD_ORDER_TREE));
}

// A ring of n bodies with equal joints: after the cut, each tree joint but the last ones has one
// tree joint and the cut joint below it.
Test(orders, a_ring_is_cut_for_the_price_of_a_few_rows) {
    pattern p = pattern_of(dual_graph_ring(101, 3, 1));
    const mabd_dual_block_count cut = cost_of(&p, MABD_ORDER_CUT);
    const mabd_dual_order_report report = order_of(&p);
    // 6 + 9 rows and 6 below for each of 101 joints, less 3 x 3 for the last but one and the last
    cr_assert(le(dbl, cut.entries, 101 * (6 + 3 * 6)));
    cr_assert(eq(dbl, report.counts[MABD_ORDER_TREE].flops, 0));
    cr_assert(ge(dbl, report.counts[report.which].flops, 0.5 * cut.flops));
    mabd_plan_destroy(p.plan);
}

// A ring with one narrow joint, which minimum degree ignores: that one is cut.
static dual_graph narrow_ring(int32_t n) {
    dual_graph graph = dual_graph_ring(n, 6, 1);
    graph.width[n / 3] = 1;
    return graph;
}

// Few cycles: the Schur complement of the cut joints. Many: the graph's orders, whose cost is
// linear, while cutting costs the cube of the cycles.
Test(orders, loops_fall_over_to_the_graph_by_cost) {
    pattern few = pattern_of(narrow_ring(12)), half = pattern_of(ladder(500)),
            all = pattern_of(ladder(1000));
    const mabd_dual_order_report short_one = order_of(&few), h = order_of(&half),
                                 a = order_of(&all);
    const double per_rung = a.counts[a.which].flops / 1000;
    cr_log_info("ladder: %.4g operations a rung by %d, cut %.4g", per_rung, (int)a.which,
                cost_of(&all, MABD_ORDER_CUT).flops / 1000);
    cr_assert(eq(int, (int)short_one.which, MABD_ORDER_CUT));
    cr_assert(ne(int, (int)a.which, MABD_ORDER_CUT));
    cr_assert(epsilon_eq(dbl, per_rung, h.counts[h.which].flops / 500, 0.02 * per_rung));
    cr_assert(lt(dbl, per_rung, 10000));
    cr_assert(lt(dbl, 100 * 1000 * per_rung, cost_of(&all, MABD_ORDER_CUT).flops));
    mabd_plan_destroy(few.plan), mabd_plan_destroy(half.plan), mabd_plan_destroy(all.plan);
}

Test(orders, random_graphs_get_the_cheapest_order) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        pattern p =
            pattern_of(dual_graph_random(30 + 5 * (int32_t)seed, 3 * (int32_t)seed, 0, seed));
        const mabd_dual_order_report report = order_of(&p);
        const double least = report.counts[report.which].flops;
        cr_assert(le(dbl, least, cost_of(&p, MABD_ORDER_DEGREE).flops));
        cr_assert(le(dbl, least, cost_of(&p, MABD_ORDER_CUT).flops));
        mabd_plan_destroy(p.plan);
    }
}

// ---- memory ------------------------------------------------------------------------------------

Test(orders, every_allocation_may_fail) {
    pattern p = pattern_of(dual_graph_net(14, 14, 6, 1));
    int32_t* order = malloc((size_t)p.system.slot_count * sizeof *order);
    int64_t fails = 0;
    for (mabd_status status = MABD_ERR_MEMORY; status != MABD_OK; fails++) {
        counting_allocator counter = {.fail_at = fails};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_dual_order_report report;
        status = mabd_dual_block_order(&allocator, &p.system, order, &report);
        cr_assert(status == MABD_OK || status == MABD_ERR_MEMORY);
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, counter.wrong_frees, 0));
        if (status == MABD_OK) cr_assert(lt(dbl, 0, report.counts[MABD_ORDER_DISSECTION].flops));
    }
    cr_assert(lt(i64, 6, fails));
    free(order);
    mabd_plan_destroy(p.plan);
}
