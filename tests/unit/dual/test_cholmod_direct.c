// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/cholmod_direct.c: residuals that no solver computes, LAPACK, and CHOLMOD's
// memory.
#include "dual/dual.h"
#include "support/counting_allocator.h"
#include "support/dual_solver.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_OFF (20 * dual_epsilon())

TestSuite(cholmod_direct, .init = suite_count);

// ---- helpers -----------------------------------------------------------------------------------

static void* create(const dual_case* c) {
    return dual_solver_create(&mabd_dual_direct, c);
}

static void destroy(void* solver) {
    dual_solver_destroy(&mabd_dual_direct, solver);
    cr_assert(eq(i64, suite_bytes, 0), "CHOLMOD's memory is given back");
}

static void factor_and_solve(void* solver, dual_case* c) {
    dual_solver_run(&mabd_dual_direct, solver, c);
}

// Solve and check the residual, and the solution against LAPACK if the system is small.
static void check(dual_graph graph, const char* what) {
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 17);
    void* solver = create(&c);
    factor_and_solve(solver, &c);
    size_t diagonal = c.plan->slot_block[c.plan->slot_count] * sizeof(mabd_real);
    size_t upper = c.plan->edge_block[c.plan->edge_count] * sizeof(mabd_real);
    cr_assert(eq(int, memcmp(c.system.D, c.D, diagonal), 0), "D is left as it is");
    cr_assert(eq(int, memcmp(c.system.U, c.U, upper), 0), "U is left as it is");
    double error = dual_case_backward_error(&c);
    cr_log_info("%s, %d rows: %.1e", what, c.system.row_count, error);
    cr_assert(lt(dbl, error, ROUND_OFF), "%s", what);
    if (c.system.row_count <= 400) {
        cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e5 * dual_epsilon()), "%s", what);
    }
    destroy(solver);
    dual_case_free(&c);
}

// ---- tests -------------------------------------------------------------------------------------

Test(cholmod_direct, solves_nets) {
    for (int32_t width = 0; width <= 6; width++) check(dual_graph_net(5, 6, width, 3), "net 5x6");
    check(dual_graph_net(1, 1, 3, 1), "one joint");
    check(dual_graph_net(2, 2, 0, 2), "net 2x2");
    check(dual_graph_net(30, 30, 3, 1), "net 30x30");
}

Test(cholmod_direct, solves_trees) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        check(dual_graph_tree((int32_t)(5 * seed), 0, seed), "tree");
    }
    check(dual_graph_tree(2000, 0, 5), "large tree");
}

Test(cholmod_direct, solves_rings) {
    check(dual_graph_ring(3, 5, 1), "ring of 3");
    check(dual_graph_ring(60, 0, 2), "ring of 60");
    check(dual_graph_ring(5000, 3, 3), "ring of 5000");
}

Test(cholmod_direct, solves_parallel_joints_and_random_graphs) {
    dual_graph two = dual_graph_make(2, 3);
    dual_graph_join(&two, 0, 1, 3);
    dual_graph_join(&two, 1, 0, 5);
    dual_graph_join(&two, 0, 1, 1);
    check(two, "three parallel joints");
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int32_t n = 2 + (int32_t)(seed % 25);
        check(dual_graph_random(n, n, 0, seed), "random graph");
    }
}

Test(cholmod_direct, agrees_with_the_chain_solver) {
    dual_case c = dual_case_make(dual_graph_chain(200, 0, 6), 0, 12, 0.5, 6);
    size_t n = (size_t)c.system.row_count;
    mabd_real* thomas = malloc(n * sizeof(mabd_real));
    cr_assert(eq(int, mabd_dual_chain.factor(NULL, &c.system, NULL), MABD_OK));
    mabd_dual_chain.solve(NULL, &c.system, c.x);
    memcpy(thomas, c.x, n * sizeof(mabd_real));
    dual_case_reset(&c);
    void* solver = create(&c);
    factor_and_solve(solver, &c);
    double difference = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        difference = fmax(difference, fabs((double)(c.x[i] - thomas[i])));
        largest = fmax(largest, fabs((double)thomas[i]));
    }
    cr_assert(lt(dbl, difference, 1e4 * dual_epsilon() * largest));
    destroy(solver);
    free(thomas);
    dual_case_free(&c);
}

Test(cholmod_direct, works_on_a_component_that_is_not_the_first) {
    dual_graph graph = dual_graph_make(7, 8);
    for (int32_t i = 0; i < 3; i++) dual_graph_join(&graph, i ? i - 1 : -1, i, 2);
    for (int32_t i = 3; i < 7; i++) dual_graph_join(&graph, i, i < 6 ? i + 1 : 3, 2 + i % 3);
    dual_graph_join(&graph, 3, 5, 4);
    dual_case c = dual_case_make(graph, 1, 12, 0.5, 5);
    cr_assert(eq(i32, c.system.slot_offset, 3));
    void* solver = create(&c);
    factor_and_solve(solver, &c);
    cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e4 * dual_epsilon()));
    destroy(solver);
    dual_case_free(&c);
}

// Rank 2 per body and a shift of 1e-10 of the entries: condition 1e10, as of redundant joints.
Test(cholmod_direct, stays_backward_stable_at_condition_1e10) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        dual_graph graph =
            seed % 2 ? dual_graph_net(6, 6, 3, seed) : dual_graph_random(30, 20, 0, seed);
        dual_case c = dual_case_make(graph, 0, 2, 1e-10, seed);
        void* solver = create(&c);
        factor_and_solve(solver, &c);
        double largest = 0;
        for (int32_t i = 0; i < c.system.row_count; i++)
            largest = fmax(largest, fabs((double)c.x[i]));
        if (sizeof(mabd_real) == 8) {
            cr_assert(largest > 1e8, "the system must be ill-conditioned");
            cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "seed %d", (int)seed);
        }
        destroy(solver);
        dual_case_free(&c);
    }
}

// The pivot of a row is its diagonal entry minus a sum of squares over positive pivots, so a
// negative entry fails at its own slot in any elimination order.
Test(cholmod_direct, names_the_slot_whose_pivot_fails_and_recovers) {
    double values[] = {-1, (double)NAN, (double)INFINITY};
    dual_case c = dual_case_make(dual_graph_net(4, 5, 0, 4), 0, 12, 0.5, 4);
    void* solver = create(&c);
    for (int32_t slot = 0; slot < c.system.slot_count; slot++) {
        int32_t w = c.system.width[slot];
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            int32_t bad = -1, k = (slot + (int32_t)v) % w;
            dual_case_reset(&c);
            c.system.D[c.system.block[slot] + (size_t)(k * w + k)] = (mabd_real)values[v];
            mabd_status status = mabd_dual_direct.factor(solver, &c.system, &bad);
            cr_assert(eq(int, status, MABD_ERR_SINGULAR));
            cr_assert(eq(i32, bad, slot), "value %g", values[v]);
        }
        dual_case_reset(&c);
        factor_and_solve(solver, &c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    }
    destroy(solver);
    dual_case_free(&c);
}

Test(cholmod_direct, a_zero_pivot_fails) {
    dual_case c = dual_case_make(dual_graph_ring(5, 3, 4), 0, 12, 0.5, 4);
    void* solver = create(&c);
    for (int32_t slot = 0; slot < 5; slot++) {
        int32_t bad = -1;
        dual_case_reset(&c);
        memset(c.system.U, 0, 5 * 9 * sizeof(mabd_real));
        memset(c.system.D + c.system.block[slot], 0, 9 * sizeof(mabd_real));
        cr_assert(eq(int, mabd_dual_direct.factor(solver, &c.system, &bad), MABD_ERR_SINGULAR));
        cr_assert(eq(i32, bad, slot));
        cr_assert(eq(int, mabd_dual_direct.factor(solver, &c.system, NULL), MABD_ERR_SINGULAR));
    }
    destroy(solver);
    dual_case_free(&c);
}

static void no_allocation_in(dual_graph graph) {
    counting_allocator counter = {.fail_at = -1};
    mabd_allocator allocator = counting_allocator_make(&counter);
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 2);
    void* solver;
    cr_assert(eq(int, mabd_dual_direct.create(&allocator, &c.system, &solver), MABD_OK));
    cr_assert(suite_calls > 0, "the count must see CHOLMOD's calls");
    int64_t before = suite_calls, own = counter.calls, bytes = suite_bytes;
    for (int round = 0; round < 100; round++) {
        dual_case_reset(&c);
        if (round % 10 == 9) { // a failed factor must not allocate, nor cause the next one to do so
            c.system.D[c.system.block[round % c.system.slot_count]] = round % 20 == 9 ? -1 : 0;
            mabd_dual_direct.factor(solver, &c.system, NULL);
            continue;
        }
        factor_and_solve(solver, &c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "round %d", round);
    }
    cr_assert(eq(i64, suite_calls, before));
    cr_assert(eq(i64, suite_bytes, bytes), "nor free");
    cr_assert(eq(i64, counter.calls, own));
    cr_assert(eq(sz, mabd_dual_direct.bytes(solver), (size_t)(counter.live_bytes + suite_bytes)));
    mabd_dual_direct.destroy(&allocator, solver);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));
    cr_assert(eq(i64, suite_bytes, 0));
    dual_case_free(&c);
}

Test(cholmod_direct, neither_factor_nor_solve_allocates) {
    no_allocation_in(dual_graph_net(8, 8, 3, 1));
    no_allocation_in(dual_graph_random(30, 30, 0, 2));
    no_allocation_in(dual_graph_tree(40, 0, 3));
}

Test(cholmod_direct, every_allocation_may_fail) {
    dual_case c = dual_case_make(dual_graph_net(4, 4, 0, 1), 0, 12, 0.5, 2);
    int64_t own = 0, suite = 0;
    for (int which = 0; which < 2; which++) {
        for (int64_t fail_at = 0;; fail_at++) {
            counting_allocator counter = {.fail_at = which ? -1 : fail_at};
            mabd_allocator allocator = counting_allocator_make(&counter);
            void* solver = &c;
            suite_calls = 0;
            suite_fail_at = which ? fail_at : -1;
            mabd_status status = mabd_dual_direct.create(&allocator, &c.system, &solver);
            suite_fail_at = -1;
            if (status == MABD_OK) {
                factor_and_solve(solver, &c);
                cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
                dual_case_reset(&c);
                mabd_dual_direct.destroy(&allocator, solver);
            } else {
                cr_assert(eq(int, status, MABD_ERR_MEMORY));
                cr_assert(solver == NULL);
            }
            cr_assert(eq(i64, counter.live_blocks, 0));
            cr_assert(eq(i64, suite_bytes, 0), "call %d of %d", (int)fail_at, which);
            int64_t calls = which ? suite_calls : counter.calls;
            if (calls <= fail_at) break; // the failing call was not reached
            if (which) suite = fail_at + 1;
            if (!which) own = fail_at + 1;
        }
    }
    cr_assert(own >= 2 && suite >= 10, "%d own, %d of CHOLMOD", (int)own, (int)suite);
    dual_case_free(&c);
}

Test(cholmod_direct, gives_the_same_bits_every_time) {
    dual_case c = dual_case_make(dual_graph_net(9, 9, 0, 4), 0, 12, 0, 4);
    size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
    mabd_real* first = malloc(bytes);
    for (int round = 0; round < 3; round++) {
        dual_case_reset(&c);
        void* solver = create(&c);
        factor_and_solve(solver, &c);
        if (round == 0) memcpy(first, c.x, bytes);
        cr_assert(eq(int, memcmp(first, c.x, bytes), 0));
        destroy(solver);
    }
    free(first);
    dual_case_free(&c);
}

Test(cholmod_direct, refuses_an_empty_system) {
    mabd_allocator allocator = mabd_default_allocator();
    mabd_dual_system empty = {0};
    void* solver;
    cr_assert(eq(int, mabd_dual_direct.create(&allocator, &empty, &solver), MABD_ERR_ARG));
    mabd_dual_direct.destroy(&allocator, NULL);
}
