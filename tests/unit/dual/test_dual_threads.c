// SPDX-License-Identifier: Apache-2.0
// Dual solvers that share their work: the same bits and the same failing slot with any number of
// threads; and the parts of a tree, which must be independent of each other.
#include "base/hash.h"
#include "dual/block_factor.h"
#include "dual/tree_parts.h"
#include "support/dual_case.h"
#include "support/dual_solver.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

#define MOST_THREADS 4

static void start_pools(mabd_pool* pools[MOST_THREADS]) {
    const mabd_allocator allocator = mabd_default_allocator();
    for (int32_t i = 0; i < MOST_THREADS; i++) {
        cr_assert(eq(int, mabd_pool_create(&allocator, i + 1, &pools[i]), MABD_OK));
    }
}

static void end_pools(mabd_pool* pools[MOST_THREADS]) {
    for (int32_t i = 0; i < MOST_THREADS; i++) mabd_pool_destroy(pools[i]);
}

static uint64_t hash_x(const dual_case* c) {
    return mabd_hash(MABD_HASH_START, c->x, (size_t)c->system.row_count * sizeof(mabd_real));
}

// Factor and solve, separately or in one call.
static uint64_t solve(const mabd_dual_ops* ops, void* solver, dual_case* c, bool with) {
    dual_case_reset(c);
    if (with) {
        cr_assert(eq(int, ops->factor_with(solver, &c->system, c->x, NULL), MABD_OK));
        ops->solve_rest(solver, &c->system, c->x);
    } else {
        cr_assert(eq(int, ops->factor(solver, &c->system, NULL), MABD_OK));
        ops->solve(solver, &c->system, c->x);
    }
    return hash_x(c);
}

static void expect_same(const mabd_dual_ops* ops, dual_graph graph) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    void* solver = dual_solver_create(ops, &c);
    mabd_pool* pools[MOST_THREADS];
    start_pools(pools);
    const uint64_t expected = solve(ops, solver, &c, false);
    cr_expect(lt(dbl, dual_case_backward_error(&c), 100 * dual_epsilon()));
    for (int32_t i = 0; i < 2 * MOST_THREADS; i++) {
        c.system.pool = pools[i / 2];
        cr_expect(eq(u64, solve(ops, solver, &c, i % 2 == 1), expected), "%s, %d threads",
                  ops->name, i / 2 + 1);
    }
    end_pools(pools);
    dual_solver_destroy(ops, solver);
    dual_case_free(&c);
}

// Set an impossible pivot at some slots and at two at a time; afterwards the solver works again.
static void expect_same_failure(const mabd_dual_ops* ops, dual_graph graph) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    void* solver = dual_solver_create(ops, &c);
    mabd_pool* pools[MOST_THREADS];
    start_pools(pools);
    const uint64_t expected = solve(ops, solver, &c, true);
    const int32_t n = c.system.slot_count;
    for (int32_t k = 0; k < 40; k += AMOUNT(1, 5)) {
        const int32_t slots[] = {(int32_t)((int64_t)k * (n - 1) / 39), k % 2 ? n - 1 - n / 7 : 0};
        int32_t first = -1;
        for (int32_t i = 0; i < MOST_THREADS; i++) {
            int32_t bad = -1;
            dual_case_reset(&c);
            for (int j = 0; j <= k % 2; j++) {
                c.system.D[c.system.block[slots[j]]] = (mabd_real)-1e3;
            }
            c.system.pool = pools[i];
            cr_assert(eq(int, ops->factor_with(solver, &c.system, c.x, &bad), MABD_ERR_SINGULAR));
            if (i == 0) first = bad;
            cr_expect(eq(i32, bad, first), "%s, %d threads", ops->name, i + 1);
            cr_expect(bad == slots[0] || (k % 2 && bad == slots[1]), "%s", ops->name);
            cr_expect(eq(u64, solve(ops, solver, &c, i % 2 == 1), expected));
        }
    }
    end_pools(pools);
    dual_solver_destroy(ops, solver);
    dual_case_free(&c);
}

Test(dual_threads, trees_give_the_same_bits) {
    for (int32_t width = 0; width <= 6; width += 3) {
        expect_same(&mabd_dual_tree, dual_graph_without_junctions(dual_graph_tree(4000, width, 7)));
        expect_same(&mabd_dual_tree, dual_graph_tree(2500, width, 8));
        expect_same(&mabd_dual_tree, dual_graph_star(40, 50, 1, width, 9));
    }
    expect_same(&mabd_dual_tree, dual_graph_star(3000, 1, 1, 3, 9));
}

Test(dual_threads, nets_and_graphs_give_the_same_bits) {
    for (int32_t width = 0; width <= 6; width += 3) {
        expect_same(&mabd_dual_block, dual_graph_net(30, 30, width, 5));
        expect_same(&mabd_dual_block, dual_graph_random(3000, 60, width, 5));
    }
    expect_same(&mabd_dual_block, dual_graph_ring(5000, 3, 5));
    expect_same(&mabd_dual_block, dual_graph_net(60, 60, 3, 5));
}

Test(dual_threads, name_the_same_slot_that_fails) {
    expect_same_failure(&mabd_dual_tree, dual_graph_without_junctions(dual_graph_tree(3000, 3, 7)));
    expect_same_failure(&mabd_dual_block, dual_graph_net(30, 30, 3, 5));
}

// A net is cut, and most of its fronts are in parts.
Test(dual_threads, a_net_has_parts) {
    dual_case c = dual_case_make(dual_graph_net(60, 60, 3, 5), 0, 12, 0.5, 4);
    mabd_dual_block_solver* solver = dual_solver_create(&mabd_dual_block, &c);
    const mabd_dual_block_symbolic* m = solver->symbolic;
    cr_expect(ge(i32, m->part_count, 8));
    cr_expect(le(i32, m->part_count, MABD_BLOCK_PARTS));
    cr_expect(ge(i32, 10 * m->parts[m->part_count].first, 9 * m->node_count));
    for (int32_t p = 0; p <= m->part_count; p++) {
        cr_expect(eq(i32, m->parts[p].first, p ? m->parts[p - 1].last : 0));
    }
    cr_expect(eq(i32, m->parts[m->part_count].last, m->node_count));
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
}

// Then no two threads may use the workspace of one part.
Test(dual_threads, more_threads_than_parts_give_the_same_bits) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(dual_graph_net(30, 30, 3, 5), 0, 12, 0.5, 4);
    mabd_dual_block_solver* solver = dual_solver_create(&mabd_dual_block, &c);
    const uint64_t expected = solve(&mabd_dual_block, solver, &c, true);
    cr_assert(lt(i32, 1, solver->symbolic->part_count));
    cr_assert(eq(int,
                 mabd_pool_create(&allocator, solver->symbolic->part_count + 2, &c.system.pool),
                 MABD_OK));
    for (int i = 0; i < 20; i++) {
        cr_expect(eq(u64, solve(&mabd_dual_block, solver, &c, i % 2), expected));
    }
    mabd_pool_destroy(c.system.pool);
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
}

// An update matrix is live from its node to its parent, or to the end if it is kept for the top; no
// two live matrices overlap. alive (size): the node whose update matrix occupies a place, -1 =
// none.
static void mark(const mabd_dual_block_node* node, int64_t size, int32_t before, int32_t after,
                 int32_t* alive) {
    const int64_t r = MABD_BLOCK_PAD(node->below);
    int64_t others = 0;
    cr_assert(node->update >= 0 && node->update + r * r <= size);
    for (int64_t i = 0; i < r * r; i++) {
        others += alive[node->update + i] != before;
        alive[node->update + i] = after;
    }
    cr_assert(eq(i64, others, 0));
}

Test(dual_threads, update_matrices_that_live_are_apart) {
    dual_case c = dual_case_make(dual_graph_net(40, 40, 3, 5), 0, 12, 0.5, 4);
    mabd_dual_block_solver* solver = dual_solver_create(&mabd_dual_block, &c);
    const mabd_dual_block_symbolic* m = solver->symbolic;
    const int64_t most = m->stack_size > m->top_size ? m->stack_size : m->top_size;
    int32_t* stack = malloc((size_t)most * sizeof *stack);
    int32_t* kept = malloc((size_t)m->kept_size * sizeof *kept);
    int64_t left = 0;
    for (int64_t i = 0; i < m->kept_size; i++) kept[i] = -1;
    cr_assert(lt(i32, 1, m->part_count));
    for (int32_t p = 0; p <= m->part_count; p++) {
        const mabd_dual_block_part* part = &m->parts[p];
        const int64_t size = p < m->part_count ? m->stack_size : m->top_size;
        for (int64_t i = 0; i < most; i++) stack[i] = -1;
        for (int32_t s = part->first; s < part->last; s++) {
            const mabd_dual_block_node* node = &m->nodes[s];
            mark(node, node->kept ? m->kept_size : size, -1, s, node->kept ? kept : stack);
            for (int32_t i = node->child; i < node->child + node->child_count; i++) {
                const mabd_dual_block_node* child = &m->nodes[m->children[i]];
                cr_assert(eq(i32, child->kept, m->children[i] < part->first));
                mark(child, child->kept ? m->kept_size : size, m->children[i], -1,
                     child->kept ? kept : stack);
            }
        }
        for (int64_t i = 0; i < size; i++) left += stack[i] >= 0;
    }
    for (int64_t i = 0; i < m->kept_size; i++) left += kept[i] >= 0;
    cr_assert(eq(i64, left, 0));
    free(stack), free(kept);
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
}

// ---- parts of a tree ---------------------------------------------------------------------------

static int32_t* starts(const mabd_dual_system* system) {
    int32_t* start = malloc(((size_t)system->slot_count + 1) * sizeof *start);
    for (int32_t s = 0, e = 0; s <= system->slot_count; s++) {
        while (e < system->edge_count && system->from[e] - system->slot_offset < s) e++;
        start[s] = e;
    }
    return start;
}

// Slots of a part are coupled with slots of their range only, and those of the top with the top
// above them. Returns the top.
static int32_t check_parts(dual_graph graph, bool cut) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    const mabd_dual_system* system = &c.system;
    const int32_t n = system->slot_count;
    int32_t* start = starts(system);
    bool* top = calloc((size_t)n, sizeof *top);
    mabd_dual_tree_parts parts;
    mabd_arena arena = {.memory = aligned_alloc(MABD_ALIGNMENT, 1 << 20), .size = 1 << 20};
    mabd_dual_tree_parts_layout(n, &arena, &parts);
    cr_assert(eq(int, mabd_dual_tree_parts_find(&allocator, system, start, &parts), MABD_OK));
    cr_expect(le(i32, parts.count, mabd_dual_tree_parts_most(n)));
    cr_expect(cut ? parts.count > 8 : parts.count == 1, "%d slots: %d parts", n, parts.count);
    cr_expect(eq(i32, parts.first[0], 0));
    cr_expect(eq(i32, parts.first[parts.count], n));
    const int32_t tops = parts.top_first[parts.count];
    for (int32_t i = 0; i < tops; i++) top[parts.top[i]] = true;
    for (int32_t p = 0; p < parts.count; p++) {
        for (int32_t i = parts.top_first[p]; i < parts.top_first[p + 1]; i++) {
            cr_expect(parts.top[i] >= parts.first[p] && parts.top[i] < parts.first[p + 1]);
        }
        for (int32_t s = parts.first[p]; s < parts.first[p + 1]; s++) {
            for (int32_t e = start[s]; e < start[s + 1]; e++) {
                const int32_t t = system->to[e] - system->slot_offset;
                cr_expect(top[s] ? top[t] : t < parts.first[p + 1], "slot %d", s);
            }
        }
    }
    free(arena.memory);
    free(top);
    free(start);
    dual_case_free(&c);
    return tops;
}

Test(dual_threads, parts_of_a_tree_are_independent) {
    cr_expect(
        le(i32, check_parts(dual_graph_without_junctions(dual_graph_tree(5000, 3, 7)), true), 625));
    cr_expect(le(i32, check_parts(dual_graph_star(40, 50, 1, 3, 9), true), 250));
    check_parts(dual_graph_tree(1000, 3, 7), false);       // too small
    check_parts(dual_graph_star(3000, 1, 1, 3, 9), false); // all top
}
