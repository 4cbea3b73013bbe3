// SPDX-License-Identifier: Apache-2.0
// Components with cycles on a device, through the executor (cuda/dual/loops.cu): solutions against
// the block factor and the stored matrix, copies in batches, junctions, the same bits in any order
// of threads and blocks.
#include "cuda/dual/loops.h"

#include "cuda/dual_rig.h"
#include "support/counting_allocator.h"
#include "support/dual_solver.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

#define TRY(call) cr_assert(eq(int, call, MABD_OK), "%s", error.text)

typedef struct rig {
    dual_rig on;
    mabd_cuda_loops loops;
} rig;

static void open_rig(rig* r, const mabd_plan* plan, int32_t count, const int32_t* components) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    TRY(MABD_CUDA(dual_loops).plan(plan, count, components, &allocator, &r->loops, &error));
    r->on = dual_rig_open(plan, MABD_CUDA(dual_loops).layout, &r->loops);
    TRY(MABD_CUDA(dual_loops).upload(&r->loops, &r->on.device, &error));
}

static void close_rig(rig* r) {
    const mabd_allocator allocator = mabd_default_allocator();
    MABD_CUDA(dual_loops).release(&allocator, &r->loops);
    dual_rig_close(&r->on);
}

static void run(rig* r) {
    mabd_error error = {0};
    TRY(MABD_CUDA(dual_loops).factor(&r->loops, &r->on.device, &r->on.system, r->on.bad, &error));
    TRY(MABD_CUDA(dual_loops).solve(&r->loops, &r->on.device, &r->on.system, NULL, NULL, &error));
}

// The system of a case; the solution in c->x.
static void solve(rig* r, dual_case* c) {
    dual_rig_load(&r->on, c);
    run(r);
    dual_rig_fetch(&r->on, c);
}

// Slots of a component that are reported as failed.
static int32_t count_bad(const rig* r, const dual_case* c, int32_t* first) {
    const size_t slots = (size_t)c->plan->slot_count;
    int32_t *bad = malloc(slots * sizeof *bad), count = 0;
    dual_rig_get(&r->on, r->on.bad, slots * sizeof *bad, bad);
    *first = -1;
    for (int32_t s = c->system.slot_count - 1; s >= 0; s--) {
        if (!bad[c->system.slot_offset + s]) continue;
        count++;
        *first = s;
    }
    free(bad);
    return count;
}

// Four-bars in series: `links` rings that share a body with the next.
static dual_graph rings_in_series(int32_t links, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(3 * links + 1, 4 * links + 1);
    dual_graph_join(&graph, -1, 0, width ? width : 3);
    for (int32_t i = 0; i < links; i++) {
        const int32_t corner[] = {3 * i, 3 * i + 1, 3 * i + 3, 3 * i + 2};
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            dual_graph_join(&graph, corner[k], corner[(k + 1) % 4],
                            width ? width : 1 + (int32_t)((seed >> 33) % 5));
        }
    }
    return graph;
}

static dual_graph pattern(int which, uint64_t seed) {
    switch (which) {
    case 0:
        return dual_graph_ring(4, 5, seed); // a four-bar
    case 1:
        return dual_graph_ring(40, 0, seed);
    case 2:
        return rings_in_series(12, 5, seed);
    case 3:
        return rings_in_series(9, 0, seed);
    case 4:
        return dual_graph_net(5, 6, 3, seed);
    case 5:
        return dual_graph_net(2, 20, 0, seed); // a ladder
    case 6:
        return dual_graph_without_junctions(dual_graph_random(40, 12, 0, seed));
    case 7:
        return dual_graph_random(40, 12, 0, seed); // with junctions
    default:
        return dual_graph_random(60, 5, 6, seed);
    }
}
#define PATTERNS 9

static const int32_t first[] = {0};

// ---- solutions ----------------------------------------------------------------------------------

// |x - y| / |y| with y from the block factor; x is c->x, which is reset.
static double block_difference(dual_case* c) {
    mabd_real *x = c->x, *y;
    double difference = 0, largest = 0;
    c->x = malloc((size_t)c->system.row_count * sizeof(mabd_real));
    y = dual_solver_reference(c);
    for (int32_t k = 0; k < c->system.row_count; k++) {
        const double d = fabs((double)(x[k] - y[k]));
        difference = isnan(d) ? INFINITY : fmax(difference, d);
        largest = fmax(largest, fabs((double)y[k]));
    }
    free(x), free(y);
    return difference / largest;
}

// Condition about 1e2 with rank 12; some 1e2 / shift with rank 3.
static void expect_agreement(int rank, double shift, double tolerance) {
    int junctions = 0;
    for (int which = 0; which < PATTERNS; which++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            dual_case c = dual_case_make(pattern(which, seed), 0, rank, shift, seed);
            int32_t slot;
            rig r;
            cr_assert(lt(i32, 0, c.plan->components[0].loops));
            junctions += c.plan->components[0].junction_count;
            open_rig(&r, c.plan, 1, first);
            solve(&r, &c);
            cr_expect(eq(i32, count_bad(&r, &c, &slot), 0), "pattern %d, seed %d, slot %d", which,
                      (int)seed, slot);
            cr_expect(lt(dbl, dual_case_backward_error(&c), tolerance), "pattern %d", which);
            cr_expect(lt(dbl, block_difference(&c), 1e3 * tolerance), "pattern %d", which);
            solve(&r, &c); // again: nothing is left over from the first time
            cr_expect(lt(dbl, dual_case_backward_error(&c), tolerance), "pattern %d", which);
            close_rig(&r);
            dual_case_free(&c);
        }
    }
    cr_expect(lt(i32, 0, junctions), "some are with junctions");
}

Test(cuda_loops, agree_with_the_block_factor) {
    expect_agreement(12, 1, 1e-14);
}

Test(cuda_loops, agree_where_the_matrix_is_ill_conditioned) {
    expect_agreement(3, 1e-3, 1e-12);
}

Test(cuda_loops, leave_the_matrix_as_it_is) {
    dual_case c = dual_case_make(pattern(3, 2), 0, 12, 1, 2);
    const size_t D = c.plan->slot_block[c.plan->slot_count] * sizeof(mabd_real),
                 U = c.plan->edge_block[c.plan->edge_count] * sizeof(mabd_real);
    mabd_real* copy = malloc(D + U);
    rig r;
    open_rig(&r, c.plan, 1, first);
    solve(&r, &c);
    dual_rig_get(&r.on, r.on.system.D, D, copy);
    cr_expect(eq(int, memcmp(copy, c.D, D), 0));
    dual_rig_get(&r.on, r.on.system.U, U, copy);
    cr_expect(eq(int, memcmp(copy, c.U, U), 0));
    free(copy);
    close_rig(&r);
    dual_case_free(&c);
}

// ---- several components -------------------------------------------------------------------------

static void add_ring(dual_graph* graph, int32_t body, int32_t n, int32_t width) {
    for (int32_t i = 0; i < n; i++) {
        dual_graph_join(graph, body + i, body + (i + 1) % n, width);
    }
}

// Copies of a ring, a chain, one more, larger ones with as many cut rows, and one with more.
static dual_graph several(void) {
    dual_graph graph = dual_graph_make(4 * 5 + 3 + 4 + 2 * 7 + 6, 60);
    for (int32_t i = 0; i < 5; i++) add_ring(&graph, 4 * i, 4, 5);
    for (int32_t i = 20; i < 23; i++) dual_graph_join(&graph, i == 20 ? -1 : i - 1, i, 4);
    add_ring(&graph, 23, 4, 5);
    add_ring(&graph, 27, 7, 5);
    add_ring(&graph, 34, 7, 5);
    add_ring(&graph, 41, 6, 3);
    return graph;
}
#define SEVERAL 9

Test(cuda_loops, copies_are_solved_in_batches) {
    const int32_t components[SEVERAL] = {0, 1, 2, 3, 4, 6, 7, 8, 9}; // 5 is the chain
    dual_case c[SEVERAL], chain = dual_case_make(several(), 5, 12, 1, 3);
    rig r;
    int32_t slot;
    for (int i = 0; i < SEVERAL; i++) {
        c[i] = dual_case_make(several(), components[i], 12, 1, 3);
        for (int32_t k = 0; k < c[i].system.row_count; k++) c[i].b[k] += (mabd_real)i;
    }
    open_rig(&r, c[0].plan, SEVERAL, components);
    cr_expect(eq(i32, r.loops.class_count, 2));
    cr_expect(eq(i32, r.loops.classes[0].count, 8));
    cr_expect(eq(i32, r.loops.classes[0].stretch_count, 3),
              "5 copies, one beyond the chain, 2 larger");
    cr_expect(eq(i32, r.loops.classes[0].stretches[0].count, 5));
    dual_rig_load(&r.on, &chain);
    for (int i = 0; i < SEVERAL; i++) dual_rig_load(&r.on, &c[i]);
    run(&r);
    for (int i = 0; i < SEVERAL; i++) {
        dual_rig_fetch(&r.on, &c[i]);
        cr_expect(eq(i32, count_bad(&r, &c[i], &slot), 0));
        cr_expect(lt(dbl, dual_case_backward_error(&c[i]), 1e-14), "component %d", components[i]);
        dual_case_free(&c[i]);
    }
    dual_rig_fetch(&r.on, &chain);
    cr_expect(
        eq(int, memcmp(chain.x, chain.b, (size_t)chain.system.row_count * sizeof(mabd_real)), 0));
    close_rig(&r);
    dual_case_free(&chain);
}

// One of a batch fails: its cut slot is reported, and the others are solved.
Test(cuda_loops, report_the_cut_joint_whose_pivot_fails) {
    const int32_t components[SEVERAL] = {0, 1, 2, 3, 4, 6, 7, 8, 9};
    for (int broken = 0; broken < SEVERAL; broken++) {
        dual_case c[SEVERAL];
        rig r;
        for (int i = 0; i < SEVERAL; i++) {
            c[i] = dual_case_make(several(), components[i], 12, 1, 3);
        }
        dual_case* b = &c[broken];
        const int32_t cut = b->system.elimination[b->system.slot_count - 1];
        for (int i = 0; i < SEVERAL; i++) c[i].system.D[b->system.block[cut]] = -100;
        open_rig(&r, c[0].plan, SEVERAL, components);
        for (int i = 0; i < SEVERAL; i++) dual_rig_load(&r.on, &c[i]);
        run(&r);
        for (int i = 0; i < SEVERAL; i++) {
            int32_t slot;
            dual_rig_fetch(&r.on, &c[i]);
            cr_expect(eq(i32, count_bad(&r, &c[i], &slot), i == broken));
            cr_expect(eq(i32, slot, i == broken ? cut : -1));
            if (i != broken) cr_expect(lt(dbl, dual_case_backward_error(&c[i]), 1e-14));
        }
        for (int i = 0; i < SEVERAL; i++) dual_case_free(&c[i]);
        close_rig(&r);
    }
}

Test(cuda_loops, report_the_tree_joint_whose_pivot_fails) {
    dual_case c = dual_case_make(pattern(2, 4), 0, 12, 1, 4);
    rig r;
    open_rig(&r, c.plan, 1, first);
    for (int32_t k = 0; k < c.system.slot_count - c.plan->components[0].loops; k += 5) {
        const int32_t slot = c.system.elimination[k];
        int32_t bad[256];
        cr_assert(le(i32, c.plan->slot_count, 256));
        dual_case_reset(&c);
        c.system.D[c.system.block[slot]] = -1;
        dual_rig_load(&r.on, &c);
        run(&r);
        dual_rig_get(&r.on, r.on.bad, (size_t)c.plan->slot_count * sizeof *bad, bad);
        cr_expect(eq(i32, bad[slot], 1));
        for (int32_t i = 0; i < k; i++) cr_expect(eq(i32, bad[c.system.elimination[i]], 0));
    }
    close_rig(&r);
    dual_case_free(&c);
}

// ---- bits ---------------------------------------------------------------------------------------

Test(cuda_loops, the_same_bits_in_any_order) {
    const char* const orders[] = {"forward", "reverse", "random:1", "random:7"};
    for (int which = 0; which < PATTERNS; which++) {
        dual_case c = dual_case_make(pattern(which, 3), 0, 12, 1, 3);
        const size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
        mabd_real* expected = malloc(bytes);
        for (int i = 0; i < 4; i++) {
            rig r;
            setenv("MABD_EXEC_ORDER", orders[i], 1);
            setenv("MABD_EXEC_ASYNC", i % 2 ? "1" : "0", 1);
            open_rig(&r, c.plan, 1, first);
            solve(&r, &c);
            if (i == 0) memcpy(expected, c.x, bytes);
            cr_expect(eq(int, memcmp(expected, c.x, bytes), 0), "pattern %d, %s", which, orders[i]);
            close_rig(&r);
        }
        free(expected);
        dual_case_free(&c);
    }
}

// ---- memory and refusals ------------------------------------------------------------------------

Test(cuda_loops, every_allocation_may_fail) {
    const int32_t components[SEVERAL] = {0, 1, 2, 3, 4, 6, 7, 8, 9};
    dual_case c = dual_case_make(several(), 0, 12, 1, 3);
    int64_t fail_at = 0;
    for (;; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_cuda_loops loops;
        mabd_error error = {0};
        const mabd_status status =
            MABD_CUDA(dual_loops).plan(c.plan, SEVERAL, components, &allocator, &loops, &error);
        cr_assert(eq(int, status, counter.calls > fail_at ? MABD_ERR_MEMORY : MABD_OK));
        MABD_CUDA(dual_loops).release(&allocator, &loops);
        cr_assert(eq(i64, counter.live_blocks, 0));
        if (status == MABD_OK) break;
    }
    cr_expect(ge(i64, fail_at, 8));
    dual_case_free(&c);
}

Test(cuda_loops, trees_are_refused) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(dual_graph_chain(5, 3, 1), 0, 12, 1, 1);
    mabd_cuda_loops loops;
    mabd_error error = {0};
    cr_expect(eq(int, MABD_CUDA(dual_loops).plan(c.plan, 1, first, &allocator, &loops, &error),
                 MABD_ERR_ARG));
    dual_case_free(&c);
}
