// SPDX-License-Identifier: Apache-2.0
// Tests for the elimination of trees in place (src/dual/tree_aba.c): residuals that no solver
// computes, LAPACK, and the block factorisation of the same systems.
#include "dual/tree_numeric.h"
#include "support/counting_allocator.h"
#include "support/dual_case.h"
#include "support/dual_solver.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_OFF (40 * dual_epsilon())

static void factor_and_solve(void* solver, dual_case* c) {
    dual_case_reset(c);
    dual_solver_run(&mabd_dual_tree, solver, c);
}

static void check(dual_graph graph, double shift, const char* what) {
    dual_case c = dual_case_make(graph, 0, 12, shift, 23);
    void* solver = dual_solver_create(&mabd_dual_tree, &c);
    for (int round = 0; round < 2; round++) {
        factor_and_solve(solver, &c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "%s", what);
    }
    if (c.system.row_count <= 400) {
        cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e6 * dual_epsilon()), "%s", what);
    }
    dual_solver_destroy(&mabd_dual_tree, solver);
    dual_case_free(&c);
}

Test(tree_aba, solves_chains_and_trees_of_any_widths) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const int32_t width = (int32_t)(seed % 7);
        check(dual_graph_chain((int32_t)seed, width, seed), 0.5, "chain");
        check(dual_graph_tree((int32_t)(2 * seed), width, seed), 0.5, "tree");
    }
    check(dual_graph_tree(3000, 0, 5), 0.5, "large tree");
}

// MABD_PLAN_JUNCTION_ROWS and more make the middle body a junction; without a shift its joint to
// the ground has no block of its own.
Test(tree_aba, solves_junctions) {
    for (int32_t arms = 1; arms <= 40; arms++) {
        for (int32_t held = 0; held <= 2; held++) {
            const int32_t width = arms % 7;
            check(dual_graph_star(arms, 1 + arms % 3, held, width, (uint64_t)arms), 0.5, "star");
        }
        check(dual_graph_star(arms, 2, 1, 3, (uint64_t)arms), 0, "star without compliance");
        check(dual_graph_star(arms, 1, 2, 3, (uint64_t)arms), 0, "star held twice");
    }
}

// Two junctions in a row: the joint between them has no block of its own either.
Test(tree_aba, solves_junctions_on_junctions) {
    for (int32_t arms = 11; arms <= 30; arms++) {
        dual_graph graph = dual_graph_make(2 + 2 * arms, 2 + 2 * arms);
        dual_graph_join(&graph, 0, -1, 5);
        dual_graph_join(&graph, 0, 1, 3);
        for (int32_t i = 0; i < 2 * arms; i++) dual_graph_join(&graph, i % 2, 2 + i, 3);
        check(graph, 0, "two junctions");
    }
}

// A child of a junction is coupled with two slots for any number of children.
Test(tree_aba, a_star_of_a_hundred_thousand_has_two_couplings_a_child) {
    const int32_t arms = 100000;
    dual_case c = dual_case_make(dual_graph_star(arms, 1, 1, 3, 1), 0, 12, 0, 3);
    cr_assert(eq(i32, c.system.edge_count, 2 * arms + 3));
    void* solver = dual_solver_create(&mabd_dual_tree, &c);
    factor_and_solve(solver, &c);
    cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    cr_assert(lt(sz, mabd_dual_tree.bytes(solver), (size_t)arms * 5));
    dual_solver_destroy(&mabd_dual_tree, solver);
    dual_case_free(&c);
}

// Forward substitution while factoring: the same operations, so the same bits.
Test(tree_aba, takes_a_right_hand_side_along) {
    dual_graph graphs[] = {dual_graph_tree(60, 0, 3), dual_graph_star(14, 2, 1, 3, 4)};
    for (int i = 0; i < 2; i++) {
        dual_case c = dual_case_make(graphs[i], 0, 12, 0.5, 4);
        const size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
        mabd_real* apart = malloc(bytes);
        void* solver = dual_solver_create(&mabd_dual_tree, &c);
        factor_and_solve(solver, &c);
        memcpy(apart, c.x, bytes);
        dual_case_reset(&c);
        cr_assert(eq(int, mabd_dual_tree.factor_with(solver, &c.system, c.x, NULL), MABD_OK));
        mabd_dual_tree.solve_rest(solver, &c.system, c.x);
        cr_assert(eq(int, memcmp(apart, c.x, bytes), 0));
        dual_solver_destroy(&mabd_dual_tree, solver);
        dual_case_free(&c);
        free(apart);
    }
}

// Blocks of six columns are processed by rows in vectors, with the same bits on every instruction
// set.
Test(tree_aba, kernels_of_all_instruction_sets_give_the_same_bits) {
    for (int32_t width = 0; width <= 6; width += 3) {
        dual_case c = dual_case_make(dual_graph_tree(200, width, 7), 0, 12, 0.5, 4);
        const mabd_dual_system* system = &c.system;
        const size_t rows = (size_t)system->row_count;
        mabd_real* expected = malloc(rows * sizeof *expected);
        int32_t* start = malloc(((size_t)system->slot_count + 1) * sizeof *start);
        for (int32_t s = 0, e = 0; s <= system->slot_count; s++) {
            while (e < system->edge_count && system->from[e] - system->slot_offset < s) e++;
            start[s] = e;
        }
        for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
            const mabd_dual_tree_kernels* kernels = mabd_dual_tree_kernels_of(isa);
            dual_case_reset(&c);
            for (int32_t s = 0; s < system->slot_count; s++) {
                cr_assert(kernels->eliminate(system, start, s, c.x));
            }
            for (int32_t s = system->slot_count - 1; s >= 0; s--) {
                kernels->back(system, start, s, c.x);
            }
            if (isa == 0) memcpy(expected, c.x, rows * sizeof *expected);
            cr_expect(eq(int, memcmp(expected, c.x, rows * sizeof *expected), 0), "%s, width %d",
                      mabd_isa_name(isa), width);
        }
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
        free(start), free(expected);
        dual_case_free(&c);
    }
}

Test(tree_aba, names_the_slot_whose_pivot_fails) {
    dual_case c = dual_case_make(dual_graph_star(12, 2, 1, 3, 4), 0, 12, 0.5, 4);
    void* solver = dual_solver_create(&mabd_dual_tree, &c);
    for (int32_t slot = 0; slot < c.system.slot_count; slot++) {
        const int32_t w = c.system.width[slot];
        const bool junction = c.system.negative[slot];
        const double values[] = {NAN, junction ? 1e3 : -1e3};
        for (int v = 0; v < 2; v++) {
            int32_t bad = -1;
            dual_case_reset(&c);
            c.system.D[c.system.block[slot] + (size_t)((w - 1) * w + w - 1)] = (mabd_real)values[v];
            cr_assert(eq(int, mabd_dual_tree.factor(solver, &c.system, &bad), MABD_ERR_SINGULAR));
            cr_assert(eq(i32, bad, slot), "value %g", values[v]);
        }
    }
    dual_solver_destroy(&mabd_dual_tree, solver);
    dual_case_free(&c);
}

Test(tree_aba, refuses_what_is_no_tree) {
    mabd_allocator allocator = mabd_default_allocator();
    mabd_dual_system empty = {0};
    void* solver = &empty;
    cr_assert(eq(int, mabd_dual_tree.create(&allocator, &empty, &solver), MABD_ERR_ARG));
    cr_assert(eq(ptr, solver, NULL));
    dual_graph graphs[] = {dual_graph_ring(6, 3, 1), dual_graph_net(4, 4, 3, 1)};
    for (int i = 0; i < 2; i++) {
        dual_case c = dual_case_make(graphs[i], 0, 12, 0.5, 4);
        cr_assert(eq(int, mabd_dual_tree.create(&allocator, &c.system, &solver), MABD_ERR_ARG));
        cr_assert(eq(ptr, solver, NULL));
        dual_case_free(&c);
    }
}

Test(tree_aba, takes_its_memory_at_create_and_gives_it_back) {
    counting_allocator counter = {.fail_at = -1};
    mabd_allocator allocator = counting_allocator_make(&counter);
    dual_case c = dual_case_make(dual_graph_star(12, 2, 1, 0, 4), 0, 12, 0.5, 4);
    void* solver = NULL;
    cr_assert(eq(int, mabd_dual_tree.create(&allocator, &c.system, &solver), MABD_OK));
    cr_assert(eq(i64, counter.live_bytes, (int64_t)mabd_dual_tree.bytes(solver)));
    cr_assert(
        eq(sz, mabd_dual_tree.bytes_for(&allocator, &c.system), mabd_dual_tree.bytes(solver)));
    const int64_t calls = counter.calls;
    factor_and_solve(solver, &c);
    cr_assert(eq(i64, counter.calls, calls));
    mabd_dual_tree.destroy(&allocator, solver);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));

    counter.fail_at = counter.calls;
    cr_assert(eq(int, mabd_dual_tree.create(&allocator, &c.system, &solver), MABD_ERR_MEMORY));
    cr_assert(eq(ptr, solver, NULL));
    cr_assert(eq(i64, counter.live_blocks, 0));
    dual_case_free(&c);
}
