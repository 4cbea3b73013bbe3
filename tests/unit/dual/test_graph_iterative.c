// SPDX-License-Identifier: Apache-2.0
// Tests for the iterative dual solvers (src/dual/graph_*.c): residuals against the stored matrix,
// the norm of the error, symmetry of the preconditioner, the lines through a graph, memory.
#include "dual/graph_lines.h"
#include "dual/graph_sweep.h"
#include "support/counting_allocator.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const mabd_dual_ops* const solvers[] = {&mabd_dual_gs, &mabd_dual_pcg, &mabd_dual_stale};

// Make a graph of two rails and rungs.
static dual_graph ladder(int32_t n, int32_t width, uint64_t seed) {
    return dual_graph_net(2, n, width, seed);
}

static dual_graph pattern(int which, uint64_t seed) {
    switch (which) {
    case 0:
        return dual_graph_ring(40, 0, seed);
    case 1:
        return ladder(30, 0, seed);
    case 2:
        return dual_graph_net(9, 8, 3, seed);
    case 3:
        return dual_graph_without_junctions(dual_graph_tree(60, 0, seed));
    case 4:
        return dual_graph_chain(50, 3, seed);
    default:
        return dual_graph_without_junctions(dual_graph_random(40, 25, 0, seed));
    }
}
#define PATTERNS 6

// sqrt((x - y)' K (x - y))
static double energy_norm(const double* K, int32_t n, const mabd_real* x, const mabd_real* y) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        double row = 0;
        for (int32_t j = 0; j < n; j++) {
            row += K[(size_t)i * (size_t)n + (size_t)j] * (double)(x[j] - y[j]);
        }
        sum += row * (double)(x[i] - y[i]);
    }
    return sqrt(fmax(sum, 0));
}

static void* create(const mabd_dual_ops* ops, const dual_case* c) {
    mabd_allocator allocator = mabd_default_allocator();
    void* solver = NULL;
    cr_assert(eq(int, ops->create(&allocator, &c->system, &solver), MABD_OK));
    return solver;
}

static void destroy(const mabd_dual_ops* ops, void* solver) {
    mabd_allocator allocator = mabd_default_allocator();
    ops->destroy(&allocator, solver);
}

static void zero(dual_case* c) {
    memset(c->x, 0, (size_t)c->system.row_count * sizeof(mabd_real));
}

// Factor and iterate from c->x.
static mabd_dual_report run(const mabd_dual_ops* ops, void* solver, dual_case* c, double tolerance,
                            int32_t most) {
    const mabd_dual_goal goal = {(mabd_real)tolerance, most};
    mabd_dual_report report = {-1, -1};
    int32_t bad = -1;
    cr_assert(eq(int, ops->factor(solver, &c->system, &bad), MABD_OK), "slot %d", bad);
    ops->iterate(solver, &c->system, &goal, c->b, c->x, &report);
    return report;
}

// ---- solutions ---------------------------------------------------------------------------------

Test(graph_iterative, every_solver_meets_its_tolerance_on_every_pattern) {
    const double tolerances[] = {1e-3, 1e-7, 1e-11};
    for (int i = 0; i < COUNT(solvers); i++) {
        for (int which = 0; which < PATTERNS; which++) {
            for (uint64_t seed = 1; seed <= 3; seed++) {
                dual_case c = dual_case_make(pattern(which, seed), 0, 12, 1, seed);
                void* solver = create(solvers[i], &c);
                for (int k = 0; k < COUNT(tolerances); k++) {
                    zero(&c);
                    const mabd_dual_report r = run(solvers[i], solver, &c, tolerances[k], 5000);
                    cr_expect(le(dbl, (double)r.residual, tolerances[k]), "%s, pattern %d",
                              solvers[i]->name, which);
                    cr_expect(le(dbl, dual_case_slot_residual(&c), tolerances[k] + 1e-13),
                              "%s, pattern %d", solvers[i]->name, which);
                    cr_expect(
                        lt(dbl, fabs(dual_case_slot_residual(&c) - (double)r.residual), 1e-13));
                }
                destroy(solvers[i], solver);
                dual_case_free(&c);
            }
        }
    }
}

Test(graph_iterative, every_solver_agrees_with_dense_cholesky) {
    for (int i = 0; i < COUNT(solvers); i++) {
        dual_graph graph = dual_graph_without_junctions(dual_graph_random(30, 30, 0, 5));
        dual_case c = dual_case_make(graph, 0, 12, 1, 5);
        void* solver = create(solvers[i], &c);
        zero(&c);
        run(solvers[i], solver, &c, 1e-12, 5000);
        cr_expect(lt(dbl, dual_case_dense_difference(&c), 1e-9), "%s", solvers[i]->name);
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

Test(graph_iterative, works_on_a_component_that_is_not_the_first) {
    for (int i = 0; i < COUNT(solvers); i++) {
        dual_graph graph = dual_graph_make(7, 8);
        for (int32_t k = 0; k < 3; k++) dual_graph_join(&graph, k ? k - 1 : -1, k, 2);
        for (int32_t k = 3; k < 7; k++) dual_graph_join(&graph, k, k < 6 ? k + 1 : 3, 2 + k % 3);
        dual_graph_join(&graph, 3, 5, 4);
        dual_case c = dual_case_make(graph, 1, 12, 1, 5);
        cr_assert(lt(i32, 0, c.system.slot_offset));
        void* solver = create(solvers[i], &c);
        zero(&c);
        run(solvers[i], solver, &c, 1e-12, 5000);
        cr_expect(lt(dbl, dual_case_slot_residual(&c), 1e-11), "%s", solvers[i]->name);
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

// A chain is one line, and a tree without branches too: the first sweep is the exact solution.
Test(graph_iterative, a_chain_takes_one_iteration) {
    for (int i = 0; i < COUNT(solvers); i++) {
        dual_case c = dual_case_make(dual_graph_chain(80, 0, 3), 0, 12, 1, 3);
        void* solver = create(solvers[i], &c);
        zero(&c);
        cr_expect(eq(i32, run(solvers[i], solver, &c, 1e-10, 50).iterations, 1), "%s",
                  solvers[i]->name);
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

Test(graph_iterative, the_error_of_gauss_seidel_falls_with_every_sweep) {
    for (int which = 0; which < PATTERNS; which++) {
        dual_case c = dual_case_make(pattern(which, 7), 0, 2, 1e-2, 7);
        const int32_t n = c.system.row_count;
        double* K = dual_case_dense(&c);
        mabd_real* exact = malloc((size_t)n * sizeof(mabd_real));
        void* direct = create(&mabd_dual_direct, &c);
        cr_assert(eq(int, mabd_dual_direct.factor(direct, &c.system, NULL), MABD_OK));
        memcpy(exact, c.b, (size_t)n * sizeof(mabd_real));
        mabd_dual_direct.solve(direct, &c.system, exact);
        void* solver = create(&mabd_dual_gs, &c);
        zero(&c);
        const double start = energy_norm(K, n, c.x, exact);
        double before = start;
        for (int sweep = 0; sweep < 30 && before > 1e-10 * start; sweep++) {
            cr_assert(eq(i32, run(&mabd_dual_gs, solver, &c, 0, 1).iterations, 1));
            const double now = energy_norm(K, n, c.x, exact);
            cr_expect(lt(dbl, now, before), "pattern %d, sweep %d", which, sweep);
            before = now;
        }
        destroy(&mabd_dual_gs, solver);
        destroy(&mabd_dual_direct, direct);
        free(exact), free(K);
        dual_case_free(&c);
    }
}

Test(graph_iterative, conjugate_gradients_need_fewer_iterations_than_gauss_seidel) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        int32_t iterations[2];
        for (int i = 0; i < 2; i++) {
            dual_case c = dual_case_make(dual_graph_net(14, 14, 3, seed), 0, 3, 1e-2, seed);
            void* solver = create(solvers[i], &c);
            zero(&c);
            const mabd_dual_report r = run(solvers[i], solver, &c, 1e-8, 100000);
            cr_expect(le(dbl, (double)r.residual, 1e-8));
            iterations[i] = r.iterations;
            destroy(solvers[i], solver);
            dual_case_free(&c);
        }
        cr_log_info("gs %d, pcg %d", iterations[0], iterations[1]);
        cr_expect(lt(i32, 2 * iterations[1], iterations[0]));
    }
}

Test(graph_iterative, a_warm_start_saves_iterations) {
    for (int i = 0; i < 2; i++) {
        dual_case c = dual_case_make(dual_graph_net(12, 12, 3, 2), 0, 3, 1e-2, 2);
        void* solver = create(solvers[i], &c);
        zero(&c);
        const int32_t cold = run(solvers[i], solver, &c, 1e-8, 100000).iterations;
        cr_expect(eq(i32, run(solvers[i], solver, &c, 1e-8, 100000).iterations, 0));
        for (int32_t k = 0; k < c.system.row_count; k++) c.b[k] *= (mabd_real)(1 + 1e-4 * (k % 7));
        const int32_t warm = run(solvers[i], solver, &c, 1e-8, 100000).iterations;
        cr_log_info("%s: cold %d, warm %d", solvers[i]->name, cold, warm);
        cr_expect(lt(i32, warm, cold));
        cr_expect(lt(i32, 0, warm));
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

// ---- the older factor --------------------------------------------------------------------------

static void scale_diagonal(dual_case* c, double s, int32_t every) {
    for (int32_t slot = 0; slot < c->system.slot_count; slot += every) {
        const int32_t w = c->system.width[slot];
        for (int32_t k = 0; k < w; k++) {
            mabd_real* d = c->system.D + c->system.block[slot] + k * w + k;
            *d *= (mabd_real)s;
        }
    }
    memcpy(c->D, c->system.D, c->plan->slot_block[c->plan->slot_count] * sizeof(mabd_real));
}

Test(graph_iterative, an_older_factor_serves_until_it_does_not) {
    dual_case c = dual_case_make(dual_graph_net(10, 10, 3, 2), 0, 12, 1, 2);
    void* solver = create(&mabd_dual_stale, &c);
    zero(&c);
    cr_expect(le(i32, run(&mabd_dual_stale, solver, &c, 1e-9, 1000).iterations, 1), "new");
    scale_diagonal(&c, 1.01, 2);
    zero(&c);
    const mabd_dual_report near = run(&mabd_dual_stale, solver, &c, 1e-9, 1000);
    cr_expect(lt(i32, 1, near.iterations), "the factor is that of the matrix before");
    cr_expect(le(i32, near.iterations, 12));
    mabd_dual_stale.restart(solver);
    zero(&c);
    cr_expect(le(i32, run(&mabd_dual_stale, solver, &c, 1e-9, 1000).iterations, 1), "forgotten");
    scale_diagonal(&c, 1e4, 3);
    zero(&c);
    const mabd_dual_report far = run(&mabd_dual_stale, solver, &c, 1e-9, 1000);
    cr_expect(le(dbl, dual_case_slot_residual(&c), 1e-9 + 1e-11));
    cr_expect(lt(i32, 12, far.iterations), "too old");
    zero(&c);
    cr_expect(le(i32, run(&mabd_dual_stale, solver, &c, 1e-9, 1000).iterations, 1), "made anew");
    destroy(&mabd_dual_stale, solver);
    dual_case_free(&c);
}

// ---- the preconditioner ------------------------------------------------------------------------

static mabd_dual_graph_sweep* make_sweep(const dual_case* c, void** memory) {
    static mabd_dual_graph_sweep sweep;
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_arena arena = {0};
    mabd_dual_graph_sweep_layout(&sweep, &c->system, &arena);
    arena.size = arena.used;
    *memory = arena.memory = aligned_alloc(64, (arena.used + 63) / 64 * 64);
    memset(arena.memory, 0, arena.size);
    arena.used = 0;
    mabd_dual_graph_sweep_layout(&sweep, &c->system, &arena);
    cr_assert(eq(int, mabd_dual_graph_sweep_prepare(&sweep, &allocator, &c->system), MABD_OK));
    cr_assert(eq(int, mabd_dual_graph_sweep_factor(&sweep, &c->system, NULL), MABD_OK));
    return &sweep;
}

static double dot(int32_t n, const mabd_real* x, const mabd_real* y) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += (double)x[k] * (double)y[k];
    return sum;
}

Test(graph_iterative, the_sweep_is_symmetric_and_positive) {
    for (int which = 0; which < PATTERNS; which++) {
        dual_case c = dual_case_make(pattern(which, 11), 0, 12, 0.5, 11);
        void* memory;
        mabd_dual_graph_sweep* sweep = make_sweep(&c, &memory);
        const int32_t n = c.system.row_count;
        mabd_real* v = malloc(4 * (size_t)n * sizeof(mabd_real));
        mabd_real *x = v, *y = v + n, *Mx = v + 2 * n, *My = v + 3 * n;
        uint64_t seed = 3;
        for (int round = 0; round < 10; round++) {
            for (int32_t k = 0; k < 2 * n; k++) v[k] = (mabd_real)dual_random(&seed);
            mabd_dual_graph_sweep_apply(sweep, x, Mx);
            mabd_dual_graph_sweep_apply(sweep, y, My);
            const double a = dot(n, Mx, y), b = dot(n, x, My), scale = sqrt(dot(n, Mx, Mx) * n);
            cr_expect(lt(dbl, fabs(a - b), 1e-13 * scale), "pattern %d: %g %g", which, a, b);
            cr_expect(lt(dbl, 0, dot(n, x, Mx)));
            // K z, computed here and as a by-product of the sweep
            mabd_dual_graph_matrix_product(&sweep->matrix, My, Mx);
            mabd_dual_graph_sweep_product(sweep, y, x);
            for (int32_t k = 0; k < n; k++) {
                cr_assert(lt(dbl, fabs((double)(Mx[k] - x[k])), 1e-12), "pattern %d", which);
            }
        }
        free(v);
        free(memory);
        dual_case_free(&c);
    }
}

Test(graph_iterative, names_the_slot_whose_pivot_fails_and_recovers) {
    for (int i = 0; i < COUNT(solvers); i++) {
        dual_case c = dual_case_make(dual_graph_net(4, 5, 0, 4), 0, 12, 0.5, 4);
        void* solver = create(solvers[i], &c);
        for (int32_t slot = 0; slot < c.system.slot_count; slot++) {
            int32_t bad = -1;
            dual_case_reset(&c);
            c.system.D[c.system.block[slot]] = -1;
            if (solvers[i]->restart) solvers[i]->restart(solver);
            cr_assert(eq(int, solvers[i]->factor(solver, &c.system, &bad), MABD_ERR_SINGULAR));
            cr_assert(eq(i32, bad, slot), "%s", solvers[i]->name);
        }
        dual_case_reset(&c);
        zero(&c);
        run(solvers[i], solver, &c, 1e-10, 5000);
        cr_expect(lt(dbl, dual_case_slot_residual(&c), 1e-9));
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

Test(graph_iterative, a_matrix_that_is_not_finite_ends_the_iteration) {
    for (int i = 0; i < 2; i++) {
        dual_case c = dual_case_make(dual_graph_net(4, 4, 3, 4), 0, 12, 0.5, 4);
        void* solver = create(solvers[i], &c);
        zero(&c);
        c.b[3] = (mabd_real)NAN;
        const mabd_dual_report r = run(solvers[i], solver, &c, 1e-8, 1000000);
        cr_expect(not(le(dbl, (double)r.residual, 1e-8)));
        cr_expect(lt(i32, r.iterations, 10));
        destroy(solvers[i], solver);
        dual_case_free(&c);
    }
}

// ---- lines -------------------------------------------------------------------------------------

typedef struct cover {
    int32_t* slot;
    uint8_t* joined;
    mabd_dual_neighbours list;
} cover;

static cover make_cover(const dual_case* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    const size_t n = (size_t)c->system.slot_count;
    cover v = {malloc(n * sizeof(int32_t)), malloc(n), {0}};
    cr_assert(eq(int, mabd_dual_neighbours_make(&allocator, &c->system, &v.list), MABD_OK));
    cr_assert(
        eq(int, mabd_dual_graph_lines(&allocator, &c->system, &v.list, v.slot, v.joined), MABD_OK));
    return v;
}

static void free_cover(cover* v) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_dual_neighbours_free(&allocator, &v->list);
    free(v->slot), free(v->joined);
}

static bool coupled(const mabd_dual_neighbours* list, int32_t a, int32_t b) {
    for (int32_t k = list->start[a]; k < list->start[a + 1]; k++) {
        if (list->slot[k] == b) return true;
    }
    return false;
}

Test(graph_iterative, lines_hold_every_slot_once_and_are_block_tridiagonal) {
    for (int which = 0; which < PATTERNS; which++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            dual_case c = dual_case_make(pattern(which, seed), 0, 12, 1, seed);
            cover v = make_cover(&c);
            const int32_t n = c.system.slot_count;
            uint8_t* found = calloc((size_t)n, 1);
            cr_assert(eq(int, v.joined[0], 0));
            for (int32_t p = 0; p < n; p++) {
                cr_assert(v.slot[p] >= 0 && v.slot[p] < n && !found[v.slot[p]]);
                found[v.slot[p]] = 1;
                for (int32_t q = p; v.joined[q];) {
                    q--;
                    cr_assert(eq(int, coupled(&v.list, v.slot[p], v.slot[q]), q == p - 1));
                }
            }
            free(found);
            free_cover(&v);
            dual_case_free(&c);
        }
    }
}

// m x n junctions with rods between them, as the scene net: its lines are the rows and columns.
Test(graph_iterative, the_lines_of_a_net_of_rods_run_straight) {
    const int32_t m = 9, n = 12;
    const int32_t rods = m * (n - 1) + n * (m - 1);
    dual_graph graph = dual_graph_make(m * n + rods, 2 * rods);
    int32_t* way = malloc(2 * (size_t)rods * sizeof(int32_t)); // row of a joint, or m + column
    int32_t rod = m * n;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            for (int down = 0; down < 2; down++) {
                if (down ? i + 1 == m : j + 1 == n) continue;
                way[graph.joints] = way[graph.joints + 1] = down ? m + j : i;
                dual_graph_join(&graph, i * n + j, rod, 3);
                dual_graph_join(&graph, rod++, down ? (i + 1) * n + j : i * n + j + 1, 3);
            }
        }
    }
    dual_case c = dual_case_make(graph, 0, 12, 1, 1);
    cover v = make_cover(&c);
    int32_t lines = 0, bent = 0;
    for (int32_t p = 0; p < c.system.slot_count; p++) {
        lines += !v.joined[p];
        if (!v.joined[p]) continue;
        bent += way[c.plan->slot_joint[v.slot[p]]] != way[c.plan->slot_joint[v.slot[p - 1]]];
    }
    cr_expect(eq(i32, bent, 5), "the border goes round its corners and on into a column");
    cr_expect(eq(i32, lines, m + n - 3 + 1), "the joint that would close the border is alone");
    free_cover(&v);
    free(way);
    dual_case_free(&c);
}

// ---- memory and bits ---------------------------------------------------------------------------

Test(graph_iterative, neither_factor_nor_iterate_allocates) {
    for (int i = 0; i < COUNT(solvers); i++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        dual_case c = dual_case_make(dual_graph_net(8, 8, 0, 1), 0, 12, 1, 2);
        void* solver;
        cr_assert(eq(int, solvers[i]->create(&allocator, &c.system, &solver), MABD_OK));
        const int64_t before = counter.calls;
        for (int round = 0; round < 20; round++) {
            zero(&c);
            run(solvers[i], solver, &c, 1e-9, 5000);
        }
        cr_expect(eq(i64, counter.calls, before));
        if (solvers[i] != &mabd_dual_stale) { // CHOLMOD holds more
            cr_expect(eq(sz, solvers[i]->bytes(solver), (size_t)counter.live_bytes));
            cr_expect(
                eq(sz, solvers[i]->bytes_for(&allocator, &c.system), solvers[i]->bytes(solver)));
        }
        cr_expect(ge(sz, solvers[i]->bytes(solver), (size_t)counter.live_bytes));
        solvers[i]->destroy(&allocator, solver);
        cr_expect(eq(i64, counter.live_blocks, 0));
        cr_expect(eq(i64, counter.wrong_frees, 0));
        dual_case_free(&c);
    }
}

Test(graph_iterative, every_allocation_may_fail) {
    dual_case c = dual_case_make(dual_graph_net(4, 4, 0, 1), 0, 12, 1, 2);
    for (int i = 0; i < COUNT(solvers); i++) {
        int64_t failures = 0;
        for (int64_t fail_at = 0;; fail_at++) {
            counting_allocator counter = {.fail_at = fail_at};
            const mabd_allocator allocator = counting_allocator_make(&counter);
            void* solver = &c;
            const mabd_status status = solvers[i]->create(&allocator, &c.system, &solver);
            if (status == MABD_OK) {
                zero(&c);
                run(solvers[i], solver, &c, 1e-9, 5000);
                cr_expect(lt(dbl, dual_case_slot_residual(&c), 1e-8));
                solvers[i]->destroy(&allocator, solver);
            } else {
                cr_assert(eq(int, status, MABD_ERR_MEMORY));
                cr_assert(solver == NULL);
                failures++;
            }
            cr_assert(eq(i64, counter.live_blocks, 0), "%s, call %d", solvers[i]->name,
                      (int)fail_at);
            if (counter.calls <= fail_at) break;
        }
        cr_expect(ge(i64, failures, 3), "%s", solvers[i]->name);
    }
    dual_case_free(&c);
}

Test(graph_iterative, gives_the_same_bits_every_time) {
    for (int i = 0; i < COUNT(solvers); i++) {
        dual_case c = dual_case_make(dual_graph_net(9, 9, 0, 4), 0, 12, 1, 4);
        const size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
        mabd_real* first = malloc(bytes);
        for (int round = 0; round < 3; round++) {
            void* solver = create(solvers[i], &c);
            zero(&c);
            run(solvers[i], solver, &c, 1e-9, 5000);
            if (round == 0) memcpy(first, c.x, bytes);
            cr_assert(eq(int, memcmp(first, c.x, bytes), 0));
            destroy(solvers[i], solver);
        }
        free(first);
        dual_case_free(&c);
    }
}

Test(graph_iterative, refuses_an_empty_system) {
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_dual_system empty = {0};
    for (int i = 0; i < COUNT(solvers); i++) {
        void* solver;
        cr_expect(eq(int, solvers[i]->create(&allocator, &empty, &solver), MABD_ERR_ARG));
        solvers[i]->destroy(&allocator, NULL);
    }
}
