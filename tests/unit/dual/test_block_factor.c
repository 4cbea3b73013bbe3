// SPDX-License-Identifier: Apache-2.0
// Tests for the block factorisation (src/dual/block_*.c): residuals that no solver computes,
// LAPACK, and CHOLMOD's factorisation of the same systems.
#include "dual/block_factor.h"
#include "dual/block_order.h"
#include "support/counting_allocator.h"
#include "support/dual_solver.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_OFF (20 * dual_epsilon())

// ---- helpers -----------------------------------------------------------------------------------

// |x - y| / |y|, largest entries, y by CHOLMOD
static double direct_difference(dual_case* c) {
    const size_t n = (size_t)c->system.row_count;
    mabd_real* x = malloc(n * sizeof(mabd_real));
    memcpy(x, c->x, n * sizeof(mabd_real));
    dual_case_reset(c);
    void* solver = dual_solver_create(&mabd_dual_direct, c);
    dual_solver_run(&mabd_dual_direct, solver, c);
    dual_solver_destroy(&mabd_dual_direct, solver);
    double difference = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        difference = fmax(difference, fabs((double)(c->x[i] - x[i])));
        largest = fmax(largest, fabs((double)c->x[i]));
    }
    free(x);
    return difference / largest;
}

static void check_with(const mabd_dual_ops* ops, dual_case* c, const char* what) {
    dual_case_reset(c);
    void* solver = dual_solver_create(ops, c);
    dual_solver_run(ops, solver, c);
    size_t diagonal = c->plan->slot_block[c->plan->slot_count] * sizeof(mabd_real);
    size_t upper = c->plan->edge_block[c->plan->edge_count] * sizeof(mabd_real);
    cr_assert(ops->keeps_system);
    cr_assert(eq(int, memcmp(c->system.D, c->D, diagonal), 0), "D is left as it is");
    cr_assert(eq(int, memcmp(c->system.U, c->U, upper), 0), "U is left as it is");
    cr_assert(lt(dbl, dual_case_backward_error(c), ROUND_OFF), "%s, %s", what, ops->name);
    if (c->system.row_count <= 400) {
        cr_assert(lt(dbl, dual_case_dense_difference(c), 1e5 * dual_epsilon()), "%s", what);
    }
    cr_assert(lt(dbl, direct_difference(c), 1e5 * dual_epsilon()), "%s, %s", what, ops->name);
    dual_solver_destroy(ops, solver);
}

static void check(dual_graph graph, const char* what) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 17);
    check_with(&mabd_dual_block, &c, what);
    dual_case_free(&c);
}

// Two rails of n bodies with a rung at each body.
static dual_graph ladder(int32_t n, int32_t width) {
    dual_graph graph = dual_graph_make(2 * n, 3 * n);
    for (int32_t i = 0; i < n; i++) {
        dual_graph_join(&graph, 2 * i, 2 * i + 1, width);
        if (i + 1 == n) break;
        dual_graph_join(&graph, 2 * i, 2 * i + 2, width);
        dual_graph_join(&graph, 2 * i + 1, 2 * i + 3, 1 + i % 6);
    }
    return graph;
}

// n bodies on one body: their joints form a clique.
static dual_graph star(int32_t n) {
    dual_graph graph = dual_graph_make(n + 1, n);
    for (int32_t i = 0; i < n; i++) dual_graph_join(&graph, n, i, 1 + i % 6);
    return graph;
}

static dual_graph parallel_joints(void) {
    dual_graph graph = dual_graph_make(3, 6);
    dual_graph_join(&graph, 0, 1, 3);
    dual_graph_join(&graph, 1, 0, 5);
    dual_graph_join(&graph, 0, 1, 1);
    dual_graph_join(&graph, 1, 2, 6);
    dual_graph_join(&graph, 2, 1, 2);
    dual_graph_join(&graph, -1, 2, 4);
    return graph;
}

// ---- solutions ---------------------------------------------------------------------------------

Test(block_factor, solves_trees) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        check(dual_graph_tree((int32_t)(3 * seed), (int32_t)(seed % 7), seed), "tree");
    }
    check(dual_graph_tree(1500, 0, 5), "large tree");
    check(dual_graph_chain(300, 0, 5), "chain");
    check(star(60), "star");
}

Test(block_factor, solves_rings_and_ladders) {
    check(dual_graph_ring(3, 5, 1), "ring of 3");
    for (int32_t width = 0; width <= 6; width++) {
        check(dual_graph_ring(40 + width, width, 2), "ring");
        check(ladder(10 + 7 * width, width ? width : 3), "ladder");
    }
    check(dual_graph_ring(5000, 3, 3), "ring of 5000");
}

Test(block_factor, solves_nets_and_random_graphs) {
    for (int32_t width = 0; width <= 6; width++) check(dual_graph_net(5, 6, width, 3), "net 5x6");
    check(dual_graph_net(1, 1, 3, 1), "one joint");
    check(dual_graph_net(2, 2, 0, 2), "net 2x2");
    check(dual_graph_net(30, 30, 3, 1), "net 30x30");
    check(parallel_joints(), "parallel joints");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        int32_t n = 2 + (int32_t)(seed % 25);
        check(dual_graph_random(n, n, 0, seed), "random graph");
    }
    check(dual_graph_random(60, 500, 0, 7), "dense graph");
}

static void check_quasi(dual_graph graph, uint64_t seed) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, seed);
    dual_case_negate_some(&c, seed);
    check_with(&mabd_dual_block, &c, "quasi-definite");
    check_with(&mabd_dual_block, &c, "quasi-definite");
    dual_case_free(&c);
}

Test(block_factor, solves_quasi_definite_systems) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int32_t n = 2 + (int32_t)(seed % 15), width = (int32_t)(seed % 7);
        check_quasi(dual_graph_random(n, n, width, seed), seed);
        check_quasi(dual_graph_tree(2 * n, width, seed), seed);
    }
    check_quasi(dual_graph_net(12, 12, 3, 1), 1);
}

// Freedoms of a body: 12 rows, wider than any joint. K = [D0 U; U' D1], D = 12 I + a random part.
Test(block_factor, solves_slots_of_12_rows) {
    static mabd_real D[288], U[144], b[24], x[24];
    const int32_t width[] = {12, 12}, row[] = {0, 12}, from = 0, to = 1;
    const size_t block[] = {0, 144}, edge_block = 0;
    dual_case c = {.system = {2, 1, 24, width, row, 0, block, &from, &to, 0, &edge_block, NULL,
                              NULL, NULL, D, U},
                   .D = D,
                   .U = U,
                   .b = b,
                   .x = x};
    uint64_t seed = 5;
    for (int k = 0; k < 144; k++) U[k] = (mabd_real)dual_random(&seed) / 2;
    for (int k = 0; k < 288; k++) D[k] = k % 144 % 13 ? U[k % 12] * U[k / 12 % 12] / 4 : 12;
    for (int k = 0; k < 24; k++) b[k] = x[k] = (mabd_real)dual_random(&seed);
    void* solver = dual_solver_create(&mabd_dual_block, &c);
    dual_solver_run(&mabd_dual_block, solver, &c);
    cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e4 * dual_epsilon()));
    dual_solver_destroy(&mabd_dual_block, solver);
}

Test(block_factor, works_on_a_component_that_is_not_the_first) {
    dual_graph graph = dual_graph_make(7, 8);
    for (int32_t i = 0; i < 3; i++) dual_graph_join(&graph, i ? i - 1 : -1, i, 2);
    for (int32_t i = 3; i < 7; i++) dual_graph_join(&graph, i, i < 6 ? i + 1 : 3, 2 + i % 3);
    dual_graph_join(&graph, 3, 5, 4);
    dual_case c = dual_case_make(graph, 1, 12, 0.5, 5);
    cr_assert(eq(i32, c.system.slot_offset, 3));
    check_with(&mabd_dual_block, &c, "second component");
    dual_case_free(&c);
}

// Rank 2 per body and a shift of 1e-10 of the entries: condition 1e10, as of redundant joints.
Test(block_factor, stays_backward_stable_at_condition_1e10) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        dual_graph graph =
            seed % 2 ? dual_graph_net(6, 6, 3, seed) : dual_graph_random(30, 20, 0, seed);
        dual_case c = dual_case_make(graph, 0, 2, 1e-10, seed);
        void* solver = dual_solver_create(&mabd_dual_block, &c);
        dual_solver_run(&mabd_dual_block, solver, &c);
        if (sizeof(mabd_real) == 8) {
            cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "seed %d", (int)seed);
        }
        dual_solver_destroy(&mabd_dual_block, solver);
        dual_case_free(&c);
    }
}

// Off-diagonal blocks so weak that the factor decays below the normal numbers.
Test(block_factor, solves_systems_whose_factor_fades_out) {
    dual_case c = dual_case_make(dual_graph_net(12, 12, 3, 1), 0, 12, 0.5, 3);
    size_t upper = c.plan->edge_block[c.plan->edge_count];
    for (size_t i = 0; i < upper; i++) c.U[i] *= (mabd_real)(sizeof(mabd_real) == 8 ? 1e-70 : 1e-9);
    check_with(&mabd_dual_block, &c, "weak coupling");
    dual_case_free(&c);
}

// ---- failures ----------------------------------------------------------------------------------

// In a quasi-definite system, rows of the other sign add to a pivot: only a large entry of the
// wrong sign fails with certainty.
static void check_failing_pivots(const mabd_dual_ops* ops, dual_graph graph, bool quasi) {
    double values[] = {quasi ? -1e6 : -1, quasi ? -1e6 : 0, (double)NAN, (double)INFINITY};
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    if (quasi) dual_case_negate_some(&c, 4);
    void* solver = dual_solver_create(ops, &c);
    for (int32_t slot = 0; slot < c.system.slot_count; slot++) {
        int32_t w = c.system.width[slot];
        double sign = quasi && c.negative[slot] ? -1 : 1;
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            int32_t bad = -1, k = (slot + (int32_t)v) % w;
            dual_case_reset(&c);
            c.system.D[c.system.block[slot] + (size_t)(k * w + k)] = (mabd_real)(sign * values[v]);
            cr_assert(eq(int, ops->factor(solver, &c.system, &bad), MABD_ERR_SINGULAR));
            cr_assert(eq(i32, bad, slot), "value %g", sign * values[v]);
            cr_assert(eq(int, ops->factor(solver, &c.system, NULL), MABD_ERR_SINGULAR));
        }
        dual_case_reset(&c);
        dual_solver_run(ops, solver, &c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    }
    dual_solver_destroy(ops, solver);
    dual_case_free(&c);
}

Test(block_factor, names_the_slot_whose_pivot_fails_and_recovers) {
    for (int quasi = 0; quasi < 2; quasi++) {
        check_failing_pivots(&mabd_dual_block, dual_graph_net(4, 5, 0, 4), quasi);
        check_failing_pivots(&mabd_dual_block, dual_graph_tree(25, 0, 4), quasi);
        check_failing_pivots(&mabd_dual_direct, dual_graph_net(4, 5, 0, 4), quasi);
    }
}

// The pivots of a quasi-definite matrix have the signs of the marks: with one wrong mark it is not
// quasi-definite.
Test(block_factor, a_pivot_of_the_wrong_sign_fails) {
    const mabd_dual_ops* solvers[] = {&mabd_dual_block, &mabd_dual_direct};
    dual_case c = dual_case_make(dual_graph_net(4, 4, 0, 4), 0, 12, 0.5, 4);
    dual_case_negate_some(&c, 9);
    for (int i = 0; i < 2; i++) {
        void* solver = dual_solver_create(solvers[i], &c);
        for (int32_t slot = 0; slot < c.system.slot_count; slot++) {
            int32_t bad = -1;
            c.negative[slot] = !c.negative[slot];
            cr_assert(eq(int, solvers[i]->factor(solver, &c.system, &bad), MABD_ERR_SINGULAR));
            cr_assert(eq(i32, bad, slot), "%s", solvers[i]->name);
            c.negative[slot] = !c.negative[slot];
        }
        dual_solver_destroy(solvers[i], solver);
    }
    dual_case_free(&c);
}

// K = [1 1; 1 1 + e]: the pivot of the second row is e, which is round-off if e is a few units of
// it.
Test(block_factor, a_row_that_depends_on_others_fails) {
    dual_graph graph = dual_graph_make(2, 2);
    for (int i = 0; i < 2; i++) dual_graph_join(&graph, 0, 1, 1);
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    void* solver = dual_solver_create(&mabd_dual_block, &c);
    c.system.D[c.system.block[0]] = c.system.U[c.system.edge_block[0]] = 1;
    c.system.D[c.system.block[1]] = (mabd_real)(1 + 4 * 2.220446049250313e-16);
    cr_assert(eq(int, mabd_dual_block.factor(solver, &c.system, NULL), MABD_ERR_SINGULAR));
    c.system.D[c.system.block[1]] = (mabd_real)(1 + 1e-5);
    cr_assert(eq(int, mabd_dual_block.factor(solver, &c.system, NULL), MABD_OK));
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
}

Test(block_factor, a_coupling_that_is_no_number_fails) {
    dual_case c = dual_case_make(dual_graph_net(6, 6, 3, 4), 0, 12, 0.5, 4);
    void* solver = dual_solver_create(&mabd_dual_block, &c);
    for (int32_t e = 0; e < c.system.edge_count; e++) {
        dual_case_reset(&c);
        c.system.U[c.system.edge_block[e] + (size_t)(e % 9)] = (mabd_real)NAN;
        cr_assert(eq(int, mabd_dual_block.factor(solver, &c.system, NULL), MABD_ERR_SINGULAR));
    }
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
}

Test(block_factor, refuses_an_empty_system) {
    mabd_allocator allocator = mabd_default_allocator();
    mabd_dual_system empty = {0};
    void* solver;
    cr_assert(eq(int, mabd_dual_block.create(&allocator, &empty, &solver), MABD_ERR_ARG));
    mabd_dual_block.destroy(&allocator, NULL);
}

// ---- bits --------------------------------------------------------------------------------------

static void check_bits(const mabd_dual_ops* ops, dual_graph graph, bool quasi) {
    dual_case c = dual_case_make(graph, 0, 12, quasi ? 0.5 : 0.01, 4);
    if (quasi) dual_case_negate_some(&c, 4);
    size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
    mabd_real* first = malloc(bytes);
    for (int round = 0; round < 2; round++) {
        for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
            dual_case_reset(&c);
            mabd_dual_block_solver* solver = dual_solver_create(ops, &c);
            solver->kernels = mabd_dual_block_kernels_of(isa);
            dual_solver_run(ops, solver, &c);
            cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "%s", mabd_isa_name(isa));
            if (round == 0 && isa == 0) memcpy(first, c.x, bytes);
            cr_assert(eq(int, memcmp(first, c.x, bytes), 0), "%s", mabd_isa_name(isa));
            dual_solver_destroy(ops, solver);
        }
    }
    free(first);
    dual_case_free(&c);
}

Test(block_factor, gives_the_same_bits_for_all_instruction_sets) {
    for (int32_t width = 0; width <= 6; width++) {
        check_bits(&mabd_dual_block, dual_graph_net(9, 9, width, 4), width % 2);
        check_bits(&mabd_dual_block, dual_graph_tree(100, width, 4), width % 2);
    }
    check_bits(&mabd_dual_block, star(40), false);
    check_bits(&mabd_dual_block, star(40), true);
}

static void check_taken_along(const mabd_dual_ops* ops, dual_graph graph) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 4);
    size_t n = (size_t)c.system.row_count, bytes = n * sizeof(mabd_real);
    mabd_real* expected = malloc(bytes);
    void* solver = dual_solver_create(ops, &c);
    dual_solver_run(ops, solver, &c);
    memcpy(expected, c.x, bytes);
    for (int round = 0; round < 2; round++) { // the second after a failure halfway
        dual_case_reset(&c);
        cr_assert(eq(int, ops->factor_with(solver, &c.system, c.x, NULL), MABD_OK));
        cr_assert(eq(int, memcmp(c.x, c.b, bytes), 0), "b is left as it is");
        ops->solve_rest(solver, &c.system, c.x);
        cr_assert(eq(int, memcmp(c.x, expected, bytes), 0));
        c.system.D[c.system.block[c.system.slot_count / 2]] = (mabd_real)-1;
        cr_assert(eq(int, ops->factor_with(solver, &c.system, c.x, NULL), MABD_ERR_SINGULAR));
    }
    free(expected);
    dual_solver_destroy(ops, solver);
    dual_case_free(&c);
}

Test(block_factor, a_right_hand_side_taken_along_gives_the_same_bits) {
    check_taken_along(&mabd_dual_block, dual_graph_net(9, 9, 0, 4));
    check_taken_along(&mabd_dual_block, dual_graph_tree(60, 0, 4));
}

// ---- cost --------------------------------------------------------------------------------------

static double tree_flops(int32_t depth) {
    int32_t bodies = (1 << depth) - 1;
    dual_graph graph = dual_graph_make(bodies, bodies);
    for (int32_t i = 0; i < bodies; i++) dual_graph_join(&graph, i ? (i - 1) / 2 : -1, i, 3);
    dual_case c = dual_case_make(graph, 0, 1, 0.5, 1);
    mabd_dual_block_solver* solver = dual_solver_create(&mabd_dual_block, &c);
    double flops = solver->symbolic->flops;
    dual_solver_destroy(&mabd_dual_block, solver);
    dual_case_free(&c);
    return flops;
}

Test(block_factor, the_cost_of_a_tree_is_linear) {
    double ratio = tree_flops(13) / tree_flops(10);
    cr_assert(ratio > 7.9 && ratio < 8.2, "%g", ratio);
}

Test(block_factor, takes_the_cheapest_order) {
    mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(dual_graph_net(20, 20, 3, 1), 0, 12, 0.5, 2);
    size_t n = (size_t)c.system.slot_count;
    int32_t *order = malloc(n * sizeof *order), *seen = calloc(n, sizeof *seen);
    mabd_dual_block_count natural, chosen, stopped;
    mabd_dual_order_report report;
    for (size_t i = 0; i < n; i++) order[i] = (int32_t)i;
    mabd_dual_block_cost(&allocator, &c.system, order, HUGE_VAL, &natural);
    cr_assert(eq(int, mabd_dual_block_order(&allocator, &c.system, order, &report), MABD_OK));
    mabd_dual_block_cost(&allocator, &c.system, order, HUGE_VAL, &chosen);
    mabd_dual_block_cost(&allocator, &c.system, order, chosen.flops / 100, &stopped);
    cr_assert(eq(dbl, stopped.flops, chosen.flops / 100));
    cr_assert(eq(dbl, stopped.entries, 0));
    cr_assert(lt(dbl, chosen.flops, natural.flops));
    cr_assert(eq(dbl, report.counts[report.which].flops, chosen.flops));
    for (size_t i = 0; i < n; i++) seen[order[i]]++;
    for (size_t i = 0; i < n; i++) cr_assert(eq(i32, seen[i], 1), "a permutation");
    free(order), free(seen);
    dual_case_free(&c);
}

// ---- memory ------------------------------------------------------------------------------------

static void check_memory(const mabd_dual_ops* ops, dual_graph graph) {
    counting_allocator counter = {.fail_at = -1};
    mabd_allocator allocator = counting_allocator_make(&counter);
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 2);
    void* solver;
    size_t expected = ops->bytes_for(&allocator, &c.system);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(int, ops->create(&allocator, &c.system, &solver), MABD_OK));
    int64_t calls = counter.calls;
    cr_assert(eq(sz, ops->bytes(solver), (size_t)counter.live_bytes));
    cr_assert(eq(sz, ops->bytes(solver), expected));
    dual_solver_run(ops, solver, &c);
    cr_assert(eq(i64, counter.calls, calls), "neither factor nor solve allocates");
    ops->destroy(&allocator, solver);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));
    dual_case_free(&c);
}

Test(block_factor, knows_its_memory_and_takes_it_at_create) {
    check_memory(&mabd_dual_block, dual_graph_net(8, 8, 3, 1));
    check_memory(&mabd_dual_block, dual_graph_random(30, 30, 0, 2));
    check_memory(&mabd_dual_block, dual_graph_tree(40, 0, 3));
}

// Let each call of one allocator fail in turn until all succeed; return their number.
static int64_t fail_in_turn(const mabd_dual_ops* ops, dual_case* c, bool suite) {
    for (int64_t fail_at = 0;; fail_at++) {
        counting_allocator counter = {.fail_at = suite ? -1 : fail_at};
        mabd_allocator allocator = counting_allocator_make(&counter);
        void* solver = c;
        suite_calls = 0;
        suite_fail_at = suite ? fail_at : -1;
        mabd_status status = ops->create(&allocator, &c->system, &solver);
        if (status == MABD_OK) {
            dual_case_reset(c);
            dual_solver_run(ops, solver, c);
            cr_assert(lt(dbl, dual_case_backward_error(c), ROUND_OFF));
            ops->destroy(&allocator, solver);
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
            cr_assert(solver == NULL);
        }
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, suite_bytes, 0));
        if (suite ? suite_calls <= fail_at : counter.calls <= fail_at) return fail_at;
    }
}

Test(block_factor, every_allocation_may_fail) {
    suite_count();
    dual_case net = dual_case_make(dual_graph_net(4, 4, 0, 1), 0, 12, 0.5, 2);
    dual_case tree = dual_case_make(dual_graph_tree(20, 0, 1), 0, 12, 0.5, 2);
    cr_assert(ge(i64, fail_in_turn(&mabd_dual_block, &net, false), 5));
    cr_assert(ge(i64, fail_in_turn(&mabd_dual_block, &net, true), 5));
    cr_assert(ge(i64, fail_in_turn(&mabd_dual_block, &tree, false), 5));
    // large enough for a dissection: three more blocks
    dual_case large = dual_case_make(dual_graph_net(12, 12, 6, 1), 0, 12, 0.5, 2);
    cr_assert(ge(i64, fail_in_turn(&mabd_dual_block, &large, false), 8));
    cr_assert(ge(i64, fail_in_turn(&mabd_dual_block, &large, true), 10));
    dual_case_free(&large);
    dual_case_free(&net);
    dual_case_free(&tree);
}
