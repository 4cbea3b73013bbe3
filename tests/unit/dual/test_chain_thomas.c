// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/chain_thomas.c and src/math/block.h: residuals that no solver computes, and
// LAPACK.
#include "dual/chain_thomas.h"
#include "math/block.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_OFF (20 * dual_epsilon()) // a block row has at most 18 entries

static void solve(dual_case* c) {
    int32_t bad = -1;
    cr_assert(eq(int, mabd_dual_chain.factor(NULL, &c->system, &bad), MABD_OK), "slot %d", bad);
    mabd_dual_chain.solve(NULL, &c->system, c->x);
}

typedef struct chain_case {
    int32_t n, width; // width 0: random
} chain_case;

ParameterizedTestParameters(chain_thomas, residual_is_round_off) {
    static chain_case cases[] = {
        {1, 1},   {1, 2},   {1, 3},     {1, 4},     {1, 5},      {1, 6},      {2, 3},
        {2, 0},   {3, 0},   {100, 1},   {100, 2},   {100, 3},    {100, 4},    {100, 5},
        {100, 6}, {100, 0}, {10000, 3}, {10000, 0}, {100000, 5}, {100000, 0}, {1000000, 3}};
    return cr_make_param_array(chain_case, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(chain_case* p, chain_thomas, residual_is_round_off) {
    dual_graph graph = dual_graph_chain(p->n, p->width, (uint64_t)p->n);
    dual_case c = dual_case_make(graph, 0, 12, 0, 7);
    cr_assert(eq(i32, c.system.slot_count, p->n));
    solve(&c);
    double error = dual_case_backward_error(&c);
    cr_log_info("%d joints, width %d: %.1e", p->n, p->width, error);
    cr_assert(lt(dbl, error, ROUND_OFF), "n = %d, width %d", p->n, p->width);
    dual_case_free(&c);
}

// condition below 1e4 for these sizes
Test(chain_thomas, agrees_with_dense_cholesky) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        int32_t n = 1 + (int32_t)(seed % 30), width = (int32_t)(seed % 7);
        dual_case c = dual_case_make(dual_graph_chain(n, width, seed), 0, 12, 0.1, seed);
        solve(&c);
        double difference = dual_case_dense_difference(&c);
        cr_assert(lt(dbl, difference, 1e4 * dual_epsilon()), "seed %d", (int)seed);
        dual_case_free(&c);
    }
}

// Every pair of neighbouring widths, in both orders.
Test(chain_thomas, takes_any_two_widths_side_by_side) {
    for (int32_t w = 1; w <= 6; w++) {
        for (int32_t v = 1; v <= 6; v++) {
            dual_graph graph = dual_graph_make(8, 8);
            for (int32_t i = 0; i < 8; i++) dual_graph_join(&graph, i - 1, i, i % 3 ? w : v);
            dual_case c = dual_case_make(graph, 0, 12, 0.1, (uint64_t)(7 * w + v));
            solve(&c);
            cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "%d beside %d", w, v);
            cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e4 * dual_epsilon()));
            dual_case_free(&c);
        }
    }
}

// Rank 1 per body and a shift of 1e-10 of the entries: condition 1e10. The error of the solution
// may grow with the condition, its residual must not.
Test(chain_thomas, stays_backward_stable_at_condition_1e10) {
    if (sizeof(mabd_real) < 8) cr_skip("single precision");
    for (uint64_t seed = 1; seed <= 40; seed++) {
        dual_graph graph = dual_graph_chain(40, (int32_t)(seed % 7), seed);
        dual_case c = dual_case_make(graph, 0, 1, 1e-10, seed);
        solve(&c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "seed %d", (int)seed);
        if (seed % 7 != 1) { // width 1 has full rank
            double largest = 0;
            for (int32_t i = 0; i < c.system.row_count; i++) largest = fmax(largest, fabs(c.x[i]));
            cr_assert(largest > 1e8, "the system must be ill-conditioned");
        }
        dual_case_free(&c);
    }
}

Test(chain_thomas, works_on_a_component_that_is_not_the_first) {
    dual_graph graph = dual_graph_make(9, 9);
    for (int32_t i = 0; i < 4; i++) dual_graph_join(&graph, i ? i - 1 : -1, i, 2);
    for (int32_t i = 4; i < 9; i++) dual_graph_join(&graph, i > 4 ? i - 1 : -1, i, 3 + i % 3);
    dual_case c = dual_case_make(graph, 1, 12, 0.1, 5);
    cr_assert(eq(i32, c.system.slot_offset, 4));
    cr_assert(eq(i32, c.system.row_offset, 8));
    solve(&c);
    cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF));
    cr_assert(lt(dbl, dual_case_dense_difference(&c), 1e4 * dual_epsilon()));
    size_t before = 4 * 4 * sizeof(mabd_real);
    cr_assert(eq(int, memcmp(c.system.D, c.D, before), 0), "the first component was written");
    dual_case_free(&c);
}

// A diagonal entry that is negative, zero without coupling, infinite or not a number fails its
// slot.
Test(chain_thomas, names_the_slot_whose_pivot_fails) {
    double values[] = {-1, -1e-3, (double)NAN, (double)INFINITY, -(double)INFINITY};
    dual_case c = dual_case_make(dual_graph_chain(24, 0, 3), 0, 12, 0.1, 9);
    for (int32_t slot = 0; slot < 24; slot++) {
        int32_t w = c.system.width[slot];
        for (int32_t k = 0; k < w; k++) {
            for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                int32_t bad = -1;
                dual_case_reset(&c);
                c.system.D[c.system.block[slot] + (size_t)(k * w + k)] = (mabd_real)values[v];
                cr_assert(eq(int, mabd_dual_chain_factor(&c.system, &bad), MABD_ERR_SINGULAR));
                cr_assert(eq(i32, bad, slot), "row %d, value %g", k, values[v]);
            }
        }
    }
    dual_case_reset(&c);
    c.system.D[c.system.block[5]] = -1;
    cr_assert(eq(int, mabd_dual_chain_factor(&c.system, NULL), MABD_ERR_SINGULAR));
    dual_case_free(&c);
}

Test(chain_thomas, a_zero_pivot_fails) {
    for (int32_t width = 1; width <= 6; width++) {
        dual_case c = dual_case_make(dual_graph_chain(3, width, 1), 0, 12, 0.1, 1);
        int32_t bad = -1;
        memset(c.system.U, 0, 2 * (size_t)(width * width) * sizeof(mabd_real));
        mabd_real* D = c.system.D + c.system.block[1];
        for (int32_t k = 0; k < width; k++)
            D[(width - 1) * width + k] = D[k * width + width - 1] = 0;
        cr_assert(eq(int, mabd_dual_chain_factor(&c.system, &bad), MABD_ERR_SINGULAR));
        cr_assert(eq(i32, bad, 1), "width %d", width);
        dual_case_free(&c);
    }
}

// Scales far from 1 must not overflow the products of two simultaneous pivots.
Test(chain_thomas, takes_systems_of_any_scale) {
    double scales[] = {1e-12, 1e-6, 1e6, 1e12};
    dual_case c = dual_case_make(dual_graph_chain(50, 0, 8), 0, 12, 0.1, 8);
    for (int s = 0; s < 4; s++) {
        for (size_t k = 0; k < c.plan->slot_block[50]; k++) c.D[k] *= (mabd_real)scales[s];
        for (size_t k = 0; k < c.plan->edge_block[49]; k++) c.U[k] *= (mabd_real)scales[s];
        dual_case_reset(&c);
        solve(&c);
        cr_assert(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "scale %g", scales[s]);
        for (size_t k = 0; k < c.plan->slot_block[50]; k++) c.D[k] /= (mabd_real)scales[s];
        for (size_t k = 0; k < c.plan->edge_block[49]; k++) c.U[k] /= (mabd_real)scales[s];
    }
    dual_case_free(&c);
}

Test(chain_thomas, gives_the_same_bits_every_time) {
    dual_case c = dual_case_make(dual_graph_chain(300, 0, 4), 0, 12, 0, 4);
    size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
    mabd_real* first = malloc(bytes);
    solve(&c);
    memcpy(first, c.x, bytes);
    dual_case_reset(&c);
    solve(&c);
    cr_assert(eq(int, memcmp(first, c.x, bytes), 0));
    free(first);
    dual_case_free(&c);
}

Test(chain_thomas, holds_no_memory) {
    dual_case c = dual_case_make(dual_graph_chain(3, 3, 1), 0, 12, 0, 1);
    mabd_allocator none = {NULL, NULL, NULL};
    void* solver = &c;
    cr_assert(eq(int, mabd_dual_chain.create(&none, &c.system, &solver), MABD_OK));
    cr_assert(solver == NULL);
    cr_assert(eq(sz, mabd_dual_chain.bytes(solver), 0));
    mabd_dual_chain.destroy(&none, solver);
    dual_case_free(&c);
}

// L d L' of a random block multiplies back to the block.
Test(chain_thomas, block_ldl_multiplies_back) {
    uint64_t seed = 11;
    for (int trial = 0; trial < 60; trial++) {
        int w = 1 + trial % 6;
        double G[36], S[36];
        mabd_real L[36];
        for (int k = 0; k < w * w; k++) G[k] = dual_random(&seed);
        for (int i = 0; i < w * w; i++) {
            S[i] = i / w == i % w ? 0.5 : 0;
            for (int k = 0; k < w; k++) S[i] += G[i / w * w + k] * G[i % w * w + k];
            L[i] = (mabd_real)S[i];
        }
        cr_assert(mabd_block_ldl(w, L));
        for (int i = 0; i < w; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k <= j; k++) {
                    double lik = k == i ? 1 : (double)L[i * w + k];
                    double ljk = k == j ? 1 : (double)L[j * w + k];
                    sum += lik * ljk / (double)L[k * w + k];
                }
                cr_assert(lt(dbl, fabs(sum - S[i * w + j]), 40 * dual_epsilon()), "width %d", w);
            }
        }
    }
}
