// SPDX-License-Identifier: Apache-2.0
// Tests for the rounds of the block factorisation (mabd_dual_rounds, src/dual/block_factor.c):
// systems that differ in touched slots only, against solves of each whole system and the residual.
#include "dual/block_factor.h"
#include "support/draw.h"
#include "support/dual_solver.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS     4
#define ROUND_OFF  (20 * dual_epsilon())
#define DIFFERENCE (1e5 * dual_epsilon())

// Change the blocks of touched slots, the edges between them, and their right-hand sides; K stays
// positive definite.
static void change(dual_case* c, const uint8_t* touched, uint64_t* seed) {
    const mabd_dual_system* system = &c->system;
    for (int32_t e = 0; e < system->edge_count; e++) {
        const int32_t s = system->from[e] - system->slot_offset,
                      t = system->to[e] - system->slot_offset;
        if (!touched[s] || !touched[t]) continue;
        const int32_t count = system->width[s] * system->width[t];
        for (int32_t k = 0; k < count; k++) {
            c->U[system->edge_block[e] + (size_t)k] += (mabd_real)0.01 * draw_real(seed);
        }
        for (int32_t k = 0; k < system->width[s]; k++) {
            c->D[system->block[s] + (size_t)(k * system->width[s] + k)] += (mabd_real)0.06;
        }
        for (int32_t k = 0; k < system->width[t]; k++) {
            c->D[system->block[t] + (size_t)(k * system->width[t] + k)] += (mabd_real)0.06;
        }
    }
    for (int32_t s = 0; s < system->slot_count; s++) {
        const int32_t w = system->width[s];
        if (!touched[s]) continue;
        for (int32_t k = 0; k < w; k++) {
            c->D[system->block[s] + (size_t)(k * w + k)] += (1 + draw_real(seed)) / 2;
            c->b[system->row[s] - system->row_offset + k] += draw_real(seed);
        }
    }
}

static double difference(const dual_case* c, const mabd_real* x, const mabd_real* y,
                         const uint8_t* touched) {
    double worst = 0, largest = 0;
    for (int32_t s = 0; s < c->system.slot_count; s++) {
        if (touched && !touched[s]) continue;
        for (int32_t k = 0; k < c->system.width[s]; k++) {
            const int32_t row = c->system.row[s] - c->system.row_offset + k;
            const double off = fabs((double)(x[row] - y[row]));
            worst = off > worst || isnan(off) ? off : worst;
            largest = fmax(largest, fabs((double)y[row]));
        }
    }
    return largest > 0 ? worst / largest : worst;
}

static void solve_whole(const mabd_dual_ops* ops, void* solver, dual_case* c) {
    dual_case_reset(c);
    cr_assert(eq(int, ops->factor(solver, &c->system, NULL), MABD_OK));
    ops->solve(solver, &c->system, c->x);
}

static void check(dual_graph graph, double part, mabd_pool* pool, const char* what) {
    const mabd_dual_ops* ops = &mabd_dual_block;
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(graph, 0, 12, 0.5, 17);
    void *solver = dual_solver_create(ops, &c), *whole = dual_solver_create(ops, &c);
    const size_t rows = (size_t)c.system.row_count;
    uint8_t* touched = malloc((size_t)c.system.slot_count);
    mabd_real *x = malloc(rows * sizeof *x), *first = malloc(rows * sizeof *x);
    uint64_t seed = 7;
    cr_assert(touched != NULL && x != NULL && first != NULL);
    c.system.pool = pool;
    for (int32_t s = 0; s < c.system.slot_count; s++) {
        touched[s] = draw_real(&seed) < 2 * part - 1 ? 3 : 0;
    }
    solve_whole(ops, whole, &c);
    memcpy(first, c.x, rows * sizeof *x);
    cr_assert(eq(int, ops->rounds->touch(&allocator, solver, touched), MABD_OK));
    for (int k = 0; k < ROUNDS; k++) {
        if (k > 0) change(&c, touched, &seed);
        dual_case_reset(&c);
        memcpy(x, c.b, rows * sizeof *x);
        cr_assert(eq(int,
                     k == 0 ? ops->rounds->begin(solver, &c.system, x, NULL)
                            : ops->rounds->factor(solver, &c.system, NULL),
                     MABD_OK));
        cr_assert(eq(int, memcmp(x, c.b, rows * sizeof *x), 0), "x is left as it is");
        ops->rounds->solve(solver, &c.system, x);
        solve_whole(ops, whole, &c);
        cr_expect(lt(dbl, difference(&c, x, c.x, touched), DIFFERENCE), "%s, round %d", what, k);
    }
    ops->rounds->complete(solver, &c.system, x);
    cr_expect(lt(dbl, difference(&c, x, c.x, NULL), DIFFERENCE), "%s", what);
    memcpy(c.x, x, rows * sizeof *x);
    cr_expect(lt(dbl, dual_case_backward_error(&c), ROUND_OFF), "%s", what);
    // a factor of another system begins anew
    solve_whole(ops, solver, &c);
    memcpy(x, c.x, rows * sizeof *x);
    solve_whole(ops, whole, &c);
    cr_expect(eq(int, memcmp(x, c.x, rows * sizeof *x), 0), "%s", what);
    dual_solver_destroy(ops, solver), dual_solver_destroy(ops, whole);
    free(touched), free(x), free(first);
    dual_case_free(&c);
}

static const double parts[] = {0, 0.01, 0.1, 0.4, 1};
#define PART_COUNT ((int)(sizeof parts / sizeof *parts))

Test(block_rounds, are_solves_of_whole_systems) {
    for (int i = 0; i < PART_COUNT; i++) {
        check(dual_graph_net(12, 9, 3, 3), parts[i], NULL, "net");
        check(dual_graph_net(7, 6, 0, 4), parts[i], NULL, "net of all widths");
        check(dual_graph_ring(60, 5, 5), parts[i], NULL, "ring");
        check(dual_graph_tree(80, 0, 6), parts[i], NULL, "tree");
        check(dual_graph_random(60, 20, 0, 7), parts[i], NULL, "random graph");
    }
}

// Large enough for parts below a top.
Test(block_rounds, are_solves_of_whole_systems_with_threads) {
    for (int i = 0; i < PART_COUNT; i++) {
        const mabd_allocator allocator = mabd_default_allocator();
        mabd_pool* pool = NULL;
        cr_assert(eq(int, mabd_pool_create(&allocator, 3, &pool), MABD_OK));
        check(dual_graph_net(40, 40, 3, 3), parts[i], pool, "large net, threads");
        mabd_pool_destroy(pool);
        check(dual_graph_net(40, 40, 3, 3), parts[i], NULL, "large net");
    }
}
