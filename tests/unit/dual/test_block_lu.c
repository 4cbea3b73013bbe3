// SPDX-License-Identifier: Apache-2.0
// Tests for the block LU (src/dual/block_lu*.c, order_pivots.c): residuals that no solver computes,
// LAPACK's dense LU, the symmetric factorisation, and counts of entries from the graph.
#include "dual/block_lu_numeric.h"
#include "dual/order_pivots.h"
#include "support/counting_allocator.h"
#include "support/dual_solver.h"
#include "support/lu_case.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// 1e-12 for doubles
#define SMALL (4500 * dual_epsilon())

static mabd_allocator heap;

static void use_heap(void) {
    heap = mabd_default_allocator();
}
TestSuite(block_lu, .init = use_heap);

// ---- helpers -----------------------------------------------------------------------------------

static mabd_dual_lu* create(const lu_case* c, const int32_t* order) {
    mabd_dual_lu* lu;
    cr_assert(eq(int, mabd_dual_lu_create(&heap, &c->system, order, &lu), MABD_OK));
    return lu;
}

static double factor(mabd_dual_lu* lu, const lu_case* c) {
    mabd_dual_lu_report report;
    const mabd_status status = mabd_dual_lu_factor(lu, &c->system, &report);
    cr_assert(eq(int, status, MABD_OK), "slot %d", (int)report.bad);
    cr_assert(eq(i32, report.bad, -1));
    return report.growth;
}

static void solve(mabd_dual_lu* lu, bool transposed, mabd_real* x) {
    if (transposed)
        mabd_dual_lu_solve_transposed(lu, x);
    else
        mabd_dual_lu_solve(lu, x);
}

// Solve in c->x, and refine x += K^-1 (b - K x).
static void run(mabd_dual_lu* lu, lu_case* c, bool transposed, int refinements) {
    const size_t n = (size_t)c->system.blocks.row_count;
    double* y = malloc(n * sizeof *y);
    mabd_real* r = malloc(n * sizeof *r);
    memcpy(c->x, c->b, n * sizeof *r);
    solve(lu, transposed, c->x);
    for (int k = 0; k < refinements; k++) {
        lu_case_product(c, transposed, c->x, y);
        for (size_t i = 0; i < n; i++) r[i] = (mabd_real)((double)c->b[i] - y[i]);
        solve(lu, transposed, r);
        for (size_t i = 0; i < n; i++) c->x[i] += r[i];
    }
    free(y), free(r);
}

// Factor and solve with K and K'. The backward error is at most 1e-12, and the difference from
// LAPACK at most 20 units of round-off times the condition number, which is below `condition`.
static void check(lu_case* c, const int32_t* order, int refinements, double condition,
                  const char* what) {
    mabd_dual_lu* lu = create(c, order);
    factor(lu, c);
    for (int transposed = 0; transposed < 2; transposed++) {
        run(lu, c, transposed, refinements);
        cr_assert(lt(dbl, lu_case_backward_error(c, transposed), SMALL), "%s", what);
        if (c->system.blocks.row_count > 500) continue;
        double found;
        const double difference = lu_case_dense_difference(c, transposed, &found);
        cr_assert(lt(dbl, found, condition), "%s", what);
        cr_assert(lt(dbl, difference, 20 * dual_epsilon() * found), "%s", what);
    }
    mabd_dual_lu_destroy(&heap, lu);
}

// ---- solutions ---------------------------------------------------------------------------------

// Joints as slots, mixed widths: the blocks of a definite system, shifted by 2, plus random numbers
// that are not symmetric.
static void check_joints(dual_graph graph, int32_t component, const char* what) {
    dual_case symmetric = dual_case_make(graph, component, 12, 2, 17);
    lu_case c = lu_case_copy(&symmetric, 0.4, 5);
    check(&c, NULL, 0, 1e4, what);
    lu_case_free(&c);
    dual_case_free(&symmetric);
}

Test(block_lu, agrees_with_lapack_on_joints) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const int32_t n = 2 + (int32_t)seed, width = (int32_t)(seed % 7);
        check_joints(dual_graph_chain(n, width, seed), 0, "chain");
        check_joints(dual_graph_tree(2 * n, width, seed), 0, "tree");
        check_joints(dual_graph_ring(n + 1, width, seed), 0, "ring");
        check_joints(dual_graph_random(n, n, width, seed), 0, "random graph");
    }
    for (int32_t width = 0; width <= 6; width++) {
        check_joints(dual_graph_net(4, 5, width, 3), 0, "net");
    }
    check_joints(dual_graph_net(1, 1, 3, 1), 0, "one joint");
    check_joints(dual_graph_random(20, 60, 0, 7), 0, "dense graph");
    check_joints(dual_graph_net(15, 15, 3, 7), 0, "net of 15 x 15");
}

// K with bodies and joints without blocks of their own.
static void check_bodies(dual_graph graph, lu_bodies how, const char* what) {
    lu_case c = lu_case_bodies(graph, how);
    check(&c, NULL, 1, 1e6, what);
    check(&c, c.order, 1, 1e6, what);
    lu_case_free(&c);
}

Test(block_lu, solves_bodies_and_joints_without_blocks) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const lu_bodies how = {.mass = 1, .coupled = seed % 2, .mark = true, .seed = seed};
        const int32_t n = 1 + (int32_t)seed, width = (int32_t)(seed % 7);
        check_bodies(dual_graph_chain(n, width, seed), how, "chain");
        check_bodies(dual_graph_tree(n, width, seed), how, "tree");
        check_bodies(dual_graph_ring(n + 2, 1 + width % 5, seed), how, "ring");
        check_bodies(dual_graph_random(n + 8, 4, 1 + width % 3, seed), how, "random graph");
    }
    const lu_bodies how = {.mass = 1, .coupled = true, .mark = true, .seed = 3};
    for (int32_t width = 1; width <= 3; width++) {
        check_bodies(dual_graph_net(3, 4, width, 3), how, "net");
    }
}

// The scale of the bodies changes the pivots of the joints by its reciprocal; both are accepted.
Test(block_lu, solves_light_and_heavy_bodies) {
    for (int power = -6; power <= 6; power += 3) {
        const double mass = pow(10, power);
        lu_case c = lu_case_bodies(dual_graph_tree(20, 0, 4), (lu_bodies){.mass = mass, .seed = 4});
        mabd_dual_lu* lu = create(&c, c.order);
        factor(lu, &c);
        for (int transposed = 0; transposed < 2; transposed++) {
            run(lu, &c, transposed, 1);
            cr_assert(lt(dbl, lu_case_backward_error(&c, transposed), SMALL), "mass %g", mass);
        }
        mabd_dual_lu_destroy(&heap, lu);
        lu_case_free(&c);
    }
}

Test(block_lu, agrees_with_the_symmetric_solver) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        dual_graph graph =
            seed % 2 ? dual_graph_net(6, 6, 0, seed) : dual_graph_random(30, 20, 0, seed);
        dual_case symmetric = dual_case_make(graph, 0, 12, 0.5, seed);
        if (seed % 3 == 0) dual_case_negate_some(&symmetric, seed);
        lu_case c = lu_case_copy(&symmetric, 0, seed);
        const size_t n = (size_t)symmetric.system.row_count;
        memcpy(c.b, symmetric.b, n * sizeof(mabd_real));
        mabd_real* expected = dual_solver_reference(&symmetric);
        mabd_dual_lu* lu = create(&c, NULL);
        factor(lu, &c);
        for (int transposed = 0; transposed < 2; transposed++) {
            double difference = 0, largest = 0;
            run(lu, &c, transposed, 0);
            for (size_t i = 0; i < n; i++) {
                difference = fmax(difference, fabs((double)(c.x[i] - expected[i])));
                largest = fmax(largest, fabs((double)expected[i]));
            }
            cr_assert(lt(dbl, difference, 1e4 * dual_epsilon() * largest), "seed %d", (int)seed);
        }
        mabd_dual_lu_destroy(&heap, lu);
        free(expected);
        lu_case_free(&c);
        dual_case_free(&symmetric);
    }
}

// Slots, rows and offsets that do not start at 0, and a system whose factor reads them once more
// after other numbers.
Test(block_lu, works_on_a_component_that_is_not_the_first) {
    dual_graph graph = dual_graph_beside(dual_graph_chain(3, 2, 1), dual_graph_net(3, 3, 0, 2));
    dual_case symmetric = dual_case_make(graph, 1, 12, 0.5, 5);
    cr_assert(lt(i32, 0, symmetric.system.slot_offset));
    lu_case c = lu_case_copy(&symmetric, 0, 5);
    // the numbers of the copy, the pattern of the component
    mabd_real* lower =
        calloc(symmetric.plan->edge_block[symmetric.plan->edge_count] + 1, sizeof *lower);
    for (int32_t e = 0; e < symmetric.system.edge_count; e++) {
        const size_t n = (size_t)(c.width[c.from[e]] * c.width[c.to[e]]);
        memcpy(lower + symmetric.system.edge_block[e], c.L + c.edge_block[e], n * sizeof *lower);
    }
    mabd_dual_lu_system system = {symmetric.system, lower};
    const size_t bytes = (size_t)symmetric.system.row_count * sizeof *lower;
    mabd_dual_lu* lu;
    cr_assert(eq(int, mabd_dual_lu_create(&heap, &system, NULL, &lu), MABD_OK));
    cr_assert(eq(int, mabd_dual_lu_factor(lu, &system, NULL), MABD_OK));
    memcpy(c.x, c.b, bytes);
    mabd_dual_lu_solve(lu, c.x);
    cr_assert(lt(dbl, lu_case_backward_error(&c, false), SMALL));
    mabd_dual_lu_destroy(&heap, lu);
    free(lower);
    lu_case_free(&c);
    dual_case_free(&symmetric);
}

// ---- pivots ------------------------------------------------------------------------------------

// Chain of bodies and weld joints (6 rows). The leaf has the block m diag(1, -1, 1, -1, 1, -1), its
// joint the block I, and
//
//   L = | 1 1 |  three times, U = L':   L D^-1 U = | 1/m - 1/m  0 | = 0
//       | 0 0 |                                    |     0      0 |
//
// so the Schur complement of the joint does not show how large the products are.
static lu_case light_leaf(double mass) {
    lu_case c = lu_case_bodies(dual_graph_chain(6, 6, 1), (lu_bodies){.mass = 1, .seed = 1});
    const size_t at = c.edge_block[c.system.blocks.edge_count - 1]; // of the leaf and its joint
    for (int k = 0; k < 36; k++) {
        const int row = k / 6, column = k % 6;
        const bool one = row % 2 == 0 && column / 2 == row / 2;
        c.D[c.block[5] + (size_t)k] = (mabd_real)(row != column ? 0 : row % 2 ? -mass : mass);
        c.D[c.block[11] + (size_t)k] = row == column;
        c.L[at + (size_t)k] = c.U[at + (size_t)(6 * column + row)] = one;
    }
    return c;
}

// l = 1 / m, u = 1.
Test(block_lu, reports_the_growth) {
    for (int power = -8; power <= -2; power++) {
        const double mass = pow(10, power);
        lu_case c = light_leaf(mass);
        mabd_dual_lu* lu = create(&c, c.order);
        double most = 0;
        for (size_t i = 0; i < c.numbers; i++) most = fmax(most, fabs((double)c.D[i]));
        for (size_t i = 0; i < c.edge_numbers; i++) most = fmax(most, fabs((double)c.L[i]));
        const double growth = factor(lu, &c);
        cr_assert(epsilon_eq(dbl, growth * most * mass, 1, 1e-5), "%g", growth);
        run(lu, &c, false, 0);
        cr_assert(lt(dbl, lu_case_backward_error(&c, false), 10 * dual_epsilon() * growth));
        mabd_dual_lu_destroy(&heap, lu);
        lu_case_free(&c);
    }
}

// Without rows exchanged, K = [m -1; 1 0] has a multiplier of 1 / m. One front holds both slots.
Test(block_lu, exchanges_rows_inside_a_front) {
    lu_case c = lu_case_bodies(dual_graph_chain(1, 6, 1), (lu_bodies){.mass = 1e-12, .seed = 2});
    mabd_dual_lu* lu = create(&c, c.order);
    cr_assert(eq(i32, lu->symbolic->node_count, 1));
    cr_assert(lt(dbl, factor(lu, &c), 10));
    for (int transposed = 0; transposed < 2; transposed++) {
        run(lu, &c, transposed, 0);
        cr_assert(lt(dbl, lu_case_backward_error(&c, transposed), 20 * dual_epsilon()));
    }
    mabd_dual_lu_destroy(&heap, lu);
    lu_case_free(&c);
}

static dual_graph tree_and_twin(int32_t n, int32_t width, uint64_t seed) {
    dual_graph tree = dual_graph_tree(n, width, seed), graph = dual_graph_make(n, n + 1);
    for (int32_t j = 0; j < n; j++) dual_graph_join(&graph, tree.a[j], tree.b[j], tree.width[j]);
    dual_graph_join(&graph, tree.a[n - 1], tree.b[n - 1], tree.width[n - 1]);
    dual_graph_free(&tree);
    return graph;
}

// Two joints with the same rows: the one that is eliminated last has no pivot.
Test(block_lu, a_joint_that_depends_on_others_fails) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const double mass = pow(10, (double)(seed % 5) - 2);
        const lu_bodies how = {.mass = mass, .twin = true, .mark = true, .seed = seed};
        lu_case c = lu_case_bodies(tree_and_twin(12, (int32_t)(seed % 7), seed), how);
        mabd_dual_lu* lu = create(&c, c.order);
        mabd_dual_lu_report report;
        cr_assert(eq(int, mabd_dual_lu_factor(lu, &c.system, &report), MABD_ERR_SINGULAR),
                  "seed %d", (int)seed);
        cr_assert(eq(i32, report.bad, 24), "seed %d", (int)seed);
        mabd_dual_lu_destroy(&heap, lu);
        lu_case_free(&c);
    }
}

// The same with a shift of 1e-8: condition 1e8 to 1e10, growth up to the reciprocal of the shift.
Test(block_lu, a_shift_gives_dependent_joints_pivots) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const lu_bodies how = {.mass = 1, .shift = 1e-8, .twin = true, .seed = seed};
        lu_case c = lu_case_bodies(tree_and_twin(12, (int32_t)(seed % 7), seed), how);
        for (int given = 0; given < 2; given++) {
            mabd_dual_lu* lu = create(&c, given ? c.order : NULL);
            cr_assert(lt(dbl, factor(lu, &c), 1e11), "seed %d", (int)seed);
            for (int transposed = 0; transposed < 2; transposed++) {
                run(lu, &c, transposed, 1);
                cr_assert(lt(dbl, lu_case_backward_error(&c, transposed), SMALL), "seed %d",
                          (int)seed);
            }
            mabd_dual_lu_destroy(&heap, lu);
        }
        lu_case_free(&c);
    }
}

static void check_fails(mabd_dual_lu* lu, const lu_case* c, int32_t slot) {
    mabd_dual_lu_report report;
    cr_assert(eq(int, mabd_dual_lu_factor(lu, &c->system, &report), MABD_ERR_SINGULAR));
    if (slot >= 0) cr_assert(eq(i32, report.bad, slot));
    cr_assert(eq(int, mabd_dual_lu_factor(lu, &c->system, NULL), MABD_ERR_SINGULAR));
}

// A column of zeros in slot s: the blocks (all, s) lose column k.
static void clear_column(lu_case* c, int32_t slot, int32_t k) {
    const int32_t w = c->width[slot];
    for (int32_t r = 0; r < w; r++) c->D[c->block[slot] + (size_t)(r * w + k)] = 0;
    for (int32_t e = 0; e < c->system.blocks.edge_count; e++) {
        const int32_t i = c->from[e], j = c->to[e];
        mabd_real *U = c->U + c->edge_block[e], *L = c->L + c->edge_block[e];
        for (int32_t r = 0; r < c->width[i] && j == slot; r++) U[r * w + k] = 0;
        for (int32_t r = 0; r < c->width[j] && i == slot; r++) L[r * w + k] = 0;
    }
}

static void expect_named_and_recovered(dual_graph graph) {
    dual_case symmetric = dual_case_make(graph, 0, 12, 2, 17);
    lu_case good = lu_case_copy(&symmetric, 0.3, 5);
    mabd_dual_lu* lu = create(&good, NULL);
    for (int32_t slot = 0; slot < good.system.blocks.slot_count; slot++) {
        lu_case c = lu_case_copy(&symmetric, 0.3, 5);
        clear_column(&c, slot, slot % c.width[slot]);
        check_fails(lu, &c, slot);
        lu_case_free(&c);
        factor(lu, &good);
        run(lu, &good, false, 0);
        cr_assert(lt(dbl, lu_case_backward_error(&good, false), SMALL));
    }
    mabd_dual_lu_destroy(&heap, lu);
    lu_case_free(&good);
    dual_case_free(&symmetric);
}

Test(block_lu, names_the_slot_whose_pivot_fails_and_recovers) {
    expect_named_and_recovered(dual_graph_net(3, 4, 0, 4));
    expect_named_and_recovered(dual_graph_chain(9, 0, 4)); // mixed widths
    expect_named_and_recovered(dual_graph_chain(5, 5, 4));
}

static void expect_finite(dual_graph graph) {
    dual_case symmetric = dual_case_make(graph, 0, 12, 2, 17);
    lu_case c = lu_case_copy(&symmetric, 0.3, 5);
    mabd_dual_lu* lu = create(&c, NULL);
    mabd_real* arrays[] = {c.D, c.U, c.L};
    const size_t sizes[] = {c.numbers, c.edge_numbers, c.edge_numbers};
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizes[k]; i++) {
            const mabd_real kept = arrays[k][i];
            arrays[k][i] = (mabd_real)(i % 2 ? NAN : INFINITY);
            check_fails(lu, &c, -1);
            arrays[k][i] = kept;
        }
    }
    factor(lu, &c);
    mabd_dual_lu_destroy(&heap, lu);
    lu_case_free(&c);
    dual_case_free(&symmetric);
}

Test(block_lu, numbers_that_are_not_finite_fail) {
    expect_finite(dual_graph_net(3, 3, 0, 4));
    expect_finite(dual_graph_chain(7, 0, 4));
    expect_finite(dual_graph_chain(4, 3, 4));
}

// A chain without an order is factored by block Thomas, with one by fronts: both find
// the same solutions, and the same growth but for rows that a front of several slots exchanges.
Test(block_lu, chains_agree_with_fronts) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        dual_case symmetric =
            dual_case_make(dual_graph_chain(40, (int32_t)(seed % 7), seed), 0, 12, 2, seed);
        lu_case c = lu_case_copy(&symmetric, 0.2, seed);
        const size_t n = (size_t)c.system.blocks.row_count;
        int32_t order[64];
        for (int32_t k = 0; k < c.system.blocks.slot_count; k++) order[k] = k;
        mabd_dual_lu *thomas = create(&c, NULL), *fronts = create(&c, order);
        cr_assert(thomas->symbolic == NULL && fronts->symbolic != NULL);
        cr_assert(eq(i64, mabd_dual_lu_count(thomas).pattern, mabd_dual_lu_count(fronts).pattern));
        const double growth = factor(thomas, &c);
        cr_assert(epsilon_eq(dbl, growth / factor(fronts, &c), 1, 0.5), "seed %d", (int)seed);
        mabd_real* other = malloc(n * sizeof *other);
        for (int transposed = 0; transposed < 2; transposed++) {
            run(fronts, &c, transposed, 0);
            memcpy(other, c.x, n * sizeof *other);
            run(thomas, &c, transposed, 0);
            double difference = 0, largest = 0;
            for (size_t i = 0; i < n; i++) {
                difference = fmax(difference, fabs((double)(c.x[i] - other[i])));
                largest = fmax(largest, fabs((double)other[i]));
            }
            cr_assert(lt(dbl, difference, 1e4 * dual_epsilon() * largest), "seed %d", (int)seed);
        }
        free(other);
        mabd_dual_lu_destroy(&heap, thomas), mabd_dual_lu_destroy(&heap, fronts);
        lu_case_free(&c);
        dual_case_free(&symmetric);
    }
}

// Bodies on one body, in an order with joints before bodies: fronts of joints hold no body.
Test(block_lu, a_joint_without_a_block_before_its_bodies_fails) {
    enum { BODIES = 31 };
    dual_graph graph = dual_graph_make(BODIES, BODIES);
    for (int32_t i = 0; i < BODIES; i++) dual_graph_join(&graph, i ? 0 : -1, i, 6);
    lu_case c = lu_case_bodies(graph, (lu_bodies){.mass = 1, .mark = true, .seed = 1});
    int32_t order[2 * BODIES];
    for (int32_t k = 0; k < 2 * BODIES; k++) order[k] = (k + BODIES) % (2 * BODIES);
    mabd_dual_lu* lu = create(&c, order);
    mabd_dual_lu_report report;
    cr_assert(eq(int, mabd_dual_lu_factor(lu, &c.system, &report), MABD_ERR_SINGULAR));
    cr_assert(ge(i32, report.bad, BODIES));
    mabd_dual_lu_destroy(&heap, lu);
    check(&c, NULL, 1, 1e6, "an order of the solver");
    lu_case_free(&c);
}

// ---- orders ------------------------------------------------------------------------------------

Test(block_lu, late_slots_follow_a_slot_of_their_own) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        lu_case c = lu_case_bodies(dual_graph_random(20, (int32_t)(seed % 15), 3, seed),
                                   (lu_bodies){.mass = 1, .mark = true, .seed = seed});
        const mabd_dual_system* s = &c.system.blocks;
        const int32_t n = s->slot_count;
        int32_t *order = malloc((size_t)n * sizeof *order),
                *place = malloc((size_t)n * sizeof *place);
        bool* used = calloc((size_t)n, sizeof *used);
        for (int32_t k = 0; k < n; k++) order[k] = place[k] = (k * 7 + (int32_t)seed) % n;
        if (n % 7 == 0) {
            for (int32_t k = 0; k < n; k++) order[k] = n - 1 - k;
        }
        cr_assert(eq(int, mabd_dual_order_pivots(&heap, s, order), MABD_OK));
        for (int32_t k = 0; k < n; k++) place[k] = -1;
        for (int32_t k = 0; k < n; k++) {
            cr_assert(eq(i32, place[order[k]], -1), "a permutation");
            place[order[k]] = k;
        }
        // before every late slot: at least as many bodies as late slots, unless all bodies are
        int32_t bodies = 0, late = 0;
        for (int32_t k = 0; k < n; k++) {
            if (order[k] < 20)
                bodies++;
            else
                late++;
            cr_assert(late <= bodies || bodies == 20);
        }
        for (int32_t e = 0; e < s->edge_count; e++) {
            if (place[s->from[e]] < place[s->to[e]]) used[s->to[e]] = true;
        }
        for (int32_t k = 20; k < n; k++) cr_assert(used[k], "a body comes first");
        free(order), free(place), free(used);
        lu_case_free(&c);
    }
}

// Entries of K: width^2 of every slot and both blocks of every edge.
static int64_t entries_of(const lu_case* c) {
    return (int64_t)c->numbers + 2 * (int64_t)c->edge_numbers;
}

static mabd_dual_lu_entries count(const lu_case* c, const int32_t* order) {
    mabd_dual_lu* lu = create(c, order);
    const mabd_dual_lu_entries entries = mabd_dual_lu_count(lu);
    mabd_dual_lu_destroy(&heap, lu);
    return entries;
}

// A link has a body and a joint of w rows: 36 + w^2, edges of the joint to two bodies 4 * 6 w, of
// two bodies 2 * 36. The first joint has one body.
static void check_chain(int32_t n, int32_t width, bool coupled) {
    const lu_bodies how = {.mass = 1, .coupled = coupled, .mark = true, .seed = 1};
    lu_case c = lu_case_bodies(dual_graph_chain(n, width, 1), how);
    const int64_t link = 36 + width * width + 24 * width + (coupled ? 72 : 0);
    const int64_t expected = n * link - 12 * width - (coupled ? 72 : 0);
    cr_assert(eq(i64, entries_of(&c), expected));
    cr_assert(eq(i64, count(&c, c.order).pattern, expected));
    c.system.blocks.elimination = c.order;
    cr_assert(eq(i64, count(&c, NULL).pattern, expected), "the order of the system is cheaper");
    lu_case_free(&c);
}

Test(block_lu, chains_have_no_fill) {
    for (int32_t n = 100; n <= AMOUNT(100000, 10000); n *= 10) {
        check_chain(n, 3, false);
        check_chain(n, 5, true);
    }
    for (int32_t width = 1; width <= 6; width++) check_chain(100, width, width % 2);
}

// Fronts that are merged add zeros; their number is proportional to the number of links.
Test(block_lu, the_stored_entries_of_a_chain_are_linear) {
    for (int32_t width = 1; width <= 6; width++) {
        int64_t stored[3];
        for (int32_t i = 0; i < 3; i++) {
            lu_case c = lu_case_bodies(dual_graph_chain(1000 * (i + 1), width, 1),
                                       (lu_bodies){.mass = 1, .coupled = true, .seed = 1});
            stored[i] = count(&c, c.order).stored;
            cr_assert(le(dbl, (double)stored[i], 1.5 * (double)entries_of(&c)));
            lu_case_free(&c);
        }
        cr_assert(eq(i64, stored[2] - stored[1], stored[1] - stored[0]), "width %d", (int)width);
    }
}

Test(block_lu, trees_have_no_fill) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const lu_bodies how = {.mass = 1, .coupled = seed % 2, .seed = seed};
        const int32_t n = (int32_t)(seed * seed);
        lu_case c = lu_case_bodies(dual_graph_tree(n, (int32_t)(seed % 7), seed), how);
        cr_assert(eq(i64, count(&c, c.order).pattern, entries_of(&c)), "seed %d", (int)seed);
        lu_case_free(&c);
    }
}

Test(block_lu, solves_a_long_chain) {
    lu_case c = lu_case_bodies(dual_graph_chain(AMOUNT(100000, 10000), 0, 1),
                               (lu_bodies){.mass = 1, .coupled = true, .mark = true, .seed = 1});
    check(&c, c.order, 1, 0, "long chain");
    lu_case_free(&c);
}

// ---- bits --------------------------------------------------------------------------------------

static void check_bits(dual_graph graph, lu_bodies how) {
    lu_case c = lu_case_bodies(graph, how);
    const size_t n = (size_t)c.system.blocks.row_count, bytes = n * sizeof(mabd_real);
    mabd_real* first[2] = {malloc(bytes), malloc(bytes)};
    double growth = 0;
    for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
        mabd_dual_lu* lu = create(&c, NULL);
        lu->kernels = mabd_dual_lu_kernels_of(isa);
        for (int i = 0; i < 4; i++) {
            const double found = factor(lu, &c);
            run(lu, &c, i % 2, 0);
            if (isa == 0 && i < 2) memcpy(first[i], c.x, bytes), growth = found;
            cr_assert(eq(int, memcmp(first[i % 2], c.x, bytes), 0), "%s", mabd_isa_name(isa));
            cr_assert(eq(dbl, found, growth), "%s", mabd_isa_name(isa));
        }
        mabd_dual_lu_destroy(&heap, lu);
    }
    free(first[0]), free(first[1]);
    lu_case_free(&c);
}

Test(block_lu, gives_the_same_bits_again_and_for_all_instruction_sets) {
    for (int32_t width = 0; width <= 6; width++) {
        const lu_bodies how = {.mass = 1, .coupled = true, .mark = true, .seed = 9};
        check_bits(dual_graph_tree(60, width, 4), how);
    }
    check_bits(dual_graph_net(7, 7, 3, 4), (lu_bodies){.mass = 1, .shift = 0.1, .seed = 9});
}

// ---- memory ------------------------------------------------------------------------------------

Test(block_lu, knows_its_memory_and_takes_it_at_create) {
    for (int32_t i = 0; i < 3; i++) {
        counting_allocator counter = {.fail_at = -1};
        mabd_allocator allocator = counting_allocator_make(&counter);
        lu_case c = lu_case_bodies(i ? dual_graph_net(6, 6, i, 1) : dual_graph_tree(40, 0, 3),
                                   (lu_bodies){.mass = 1, .mark = true, .seed = 1});
        mabd_dual_lu* lu;
        cr_assert(eq(int, mabd_dual_lu_create(&allocator, &c.system, NULL, &lu), MABD_OK));
        const int64_t calls = counter.calls;
        cr_assert(eq(sz, mabd_dual_lu_bytes(lu), (size_t)counter.live_bytes));
        factor(lu, &c);
        run(lu, &c, false, 0), run(lu, &c, true, 0);
        cr_assert(eq(i64, counter.calls, calls), "neither factor nor solve allocates");
        mabd_dual_lu_destroy(&allocator, lu);
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, counter.wrong_frees, 0));
        lu_case_free(&c);
    }
}

// Let each call of one allocator fail in turn until all succeed; return their number.
static int64_t fail_in_turn(lu_case* c, const int32_t* order, bool suite) {
    for (int64_t fail_at = 0;; fail_at++) {
        counting_allocator counter = {.fail_at = suite ? -1 : fail_at};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_dual_lu* lu = (mabd_dual_lu*)(void*)c;
        suite_calls = 0;
        suite_fail_at = suite ? fail_at : -1;
        const mabd_status status = mabd_dual_lu_create(&allocator, &c->system, order, &lu);
        if (status == MABD_OK) {
            factor(lu, c);
            run(lu, c, false, 1);
            cr_assert(lt(dbl, lu_case_backward_error(c, false), SMALL));
            mabd_dual_lu_destroy(&allocator, lu);
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
            cr_assert(lu == NULL);
        }
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, suite_bytes, 0));
        if (suite ? suite_calls <= fail_at : counter.calls <= fail_at) return fail_at;
    }
}

Test(block_lu, every_allocation_may_fail) {
    suite_count();
    lu_case c =
        lu_case_bodies(dual_graph_net(4, 4, 2, 1), (lu_bodies){.mass = 1, .mark = true, .seed = 1});
    cr_assert(ge(i64, fail_in_turn(&c, NULL, false), 12));
    cr_assert(ge(i64, fail_in_turn(&c, NULL, true), 5));
    cr_assert(ge(i64, fail_in_turn(&c, c.order, false), 5));
    lu_case_free(&c);
}

Test(block_lu, refuses_an_empty_system) {
    mabd_dual_lu_system empty = {.lower = NULL};
    mabd_dual_lu* lu;
    cr_assert(eq(int, mabd_dual_lu_create(&heap, &empty, NULL, &lu), MABD_ERR_ARG));
    cr_assert(lu == NULL);
    mabd_dual_lu_destroy(&heap, NULL);
}
