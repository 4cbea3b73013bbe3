// SPDX-License-Identifier: Apache-2.0
// Nets on a device, through the executor (cuda/dual/nets.cu): residuals against the stored matrix,
// solutions against the block factor, the same bits in any order of threads and blocks and whatever
// else is solved at the same time.
#include "cuda/dual/nets.h"

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
    mabd_cuda_nets nets;
} rig;

static void open_rig(rig* r, const mabd_plan* plan, int32_t count, const int32_t* components) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    TRY(MABD_CUDA(dual_pcg).plan(plan, count, components, &allocator, &r->nets, &error));
    r->on = dual_rig_open(plan, MABD_CUDA(dual_pcg).layout, &r->nets);
    TRY(MABD_CUDA(dual_pcg).upload(&r->nets, &r->on.device, &error));
}

static void close_rig(rig* r) {
    const mabd_allocator allocator = mabd_default_allocator();
    MABD_CUDA(dual_pcg).release(&allocator, &r->nets);
    dual_rig_close(&r->on);
}

// Factor and iterate with what has been loaded.
static mabd_dual_report run(rig* r, bool sweeps_only, double tolerance, int32_t most) {
    const mabd_dual_goal goal = {(mabd_real)tolerance, most};
    mabd_dual_report report = {-1, -1};
    mabd_error error = {0};
    TRY(MABD_CUDA(dual_pcg).factor(&r->nets, &r->on.device, &r->on.system, r->on.bad, &error));
    TRY((sweeps_only ? MABD_CUDA(dual_gs) : MABD_CUDA(dual_pcg))
            .solve(&r->nets, &r->on.device, &r->on.system, &goal, &report, &error));
    return report;
}

// The system of a case from c->x; the solution in c->x.
static mabd_dual_report solve(rig* r, dual_case* c, bool sweeps_only, double tolerance,
                              int32_t most) {
    dual_rig_load(&r->on, c);
    const mabd_dual_report report = run(r, sweeps_only, tolerance, most);
    dual_rig_fetch(&r->on, c);
    return report;
}

static void zero(dual_case* c) {
    memset(c->x, 0, (size_t)c->system.row_count * sizeof(mabd_real));
}

static dual_graph pattern(int which, uint64_t seed) {
    switch (which) {
    case 0:
        return dual_graph_ring(40, 0, seed);
    case 1:
        return dual_graph_net(2, 30, 0, seed); // a ladder
    case 2:
        return dual_graph_net(9, 8, 3, seed);
    case 3:
        return dual_graph_net(5, 6, 5, seed);
    case 4:
        return dual_graph_net(13, 13, 1, seed); // more than one part
    case 5:
        return dual_graph_net(4, 4, 2, seed);
    case 6:
        return dual_graph_net(4, 5, 6, seed); // bodies are junctions unless they are narrowed
    default:
        return dual_graph_without_junctions(dual_graph_random(40, 25, 0, seed));
    }
}
#define PATTERNS 8

static dual_case make(int which, uint64_t seed) {
    dual_case c =
        dual_case_make(dual_graph_without_junctions(pattern(which, seed)), 0, 12, 1, seed);
    zero(&c);
    return c;
}

static const int32_t first[] = {0};

// ---- solutions ----------------------------------------------------------------------------------

// K >= 1, so |x - y|_2 <= |b - K x|_2 <= sqrt(slots) times the largest residual of a slot.
static void expect_solution(dual_case* c, const mabd_real* exact, double tolerance) {
    double square = 0;
    for (int32_t k = 0; k < c->system.row_count; k++) {
        square += pow((double)(c->x[k] - exact[k]), 2);
    }
    cr_expect(le(dbl, sqrt(square), sqrt(c->system.slot_count) * tolerance + 1e-12));
}

static void meet_tolerances(bool sweeps_only) {
    const double tolerances[] = {1e-3, 1e-7, 1e-11};
    for (int which = 0; which < PATTERNS; which++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            dual_case c = make(which, seed);
            mabd_real* exact = dual_solver_reference(&c);
            rig r;
            open_rig(&r, c.plan, 1, first);
            cr_expect(eq(int, r.nets.libraries.sparse != NULL, r.nets.width > 1));
            for (int k = 0; k < 3; k++) {
                zero(&c);
                const mabd_dual_report report = solve(&r, &c, sweeps_only, tolerances[k], 5000);
                const double residual = dual_case_slot_residual(&c);
                cr_expect(le(dbl, (double)report.residual, tolerances[k]), "pattern %d", which);
                cr_expect(lt(dbl, fabs(residual - (double)report.residual), 1e-13));
                cr_expect(lt(i32, 0, report.iterations));
                expect_solution(&c, exact, tolerances[k]);
            }
            close_rig(&r);
            free(exact);
            dual_case_free(&c);
        }
    }
}

Test(cuda_nets, conjugate_gradients_meet_their_tolerance) {
    meet_tolerances(false);
}

Test(cuda_nets, sweeps_meet_their_tolerance) {
    meet_tolerances(true);
}

Test(cuda_nets, conjugate_gradients_need_fewer_iterations_than_sweeps) {
    int32_t iterations[2];
    for (int i = 0; i < 2; i++) {
        dual_case c = dual_case_make(dual_graph_net(9, 9, 3, 3), 0, 3, 1e-2, 3);
        rig r;
        open_rig(&r, c.plan, 1, first);
        zero(&c);
        const mabd_dual_report report = solve(&r, &c, i == 0, 1e-8, 100000);
        cr_expect(le(dbl, (double)report.residual, 1e-8));
        iterations[i] = report.iterations;
        close_rig(&r);
        dual_case_free(&c);
    }
    cr_expect(lt(i32, 2 * iterations[1], iterations[0]));
}

// M is symmetric and positive, so the error falls in the norm of K with every sweep.
Test(cuda_nets, the_error_falls_with_every_sweep) {
    dual_case c = dual_case_make(dual_graph_net(6, 6, 3, 7), 0, 2, 1e-2, 7);
    const int32_t n = c.system.row_count;
    double *K = dual_case_dense(&c), before = INFINITY;
    mabd_real* exact = dual_solver_reference(&c);
    rig r;
    zero(&c);
    open_rig(&r, c.plan, 1, first);
    for (int sweep = 0; sweep < 20; sweep++) {
        double now = 0;
        cr_assert(eq(i32, solve(&r, &c, true, 0, 1).iterations, 1));
        for (int32_t k = 0; k < n * n; k++) {
            now += K[k] * (double)(c.x[k / n] - exact[k / n]) * (double)(c.x[k % n] - exact[k % n]);
        }
        cr_expect(lt(dbl, now, before), "sweep %d", sweep);
        before = now;
    }
    close_rig(&r);
    free(exact), free(K);
    dual_case_free(&c);
}

Test(cuda_nets, a_solution_given_as_guess_takes_no_iteration) {
    for (int sweeps_only = 0; sweeps_only < 2; sweeps_only++) {
        dual_case c = make(2, 5);
        rig r;
        open_rig(&r, c.plan, 1, first);
        cr_expect(lt(i32, 0, solve(&r, &c, sweeps_only, 1e-8, 5000).iterations));
        mabd_real* guess = malloc((size_t)c.system.row_count * sizeof(mabd_real));
        dual_rig_get(&r.on, r.on.system.guess, (size_t)c.system.row_count * sizeof(mabd_real),
                     guess);
        cr_expect(eq(int, memcmp(guess, c.x, (size_t)c.system.row_count * sizeof(mabd_real)), 0));
        cr_expect(eq(i32, solve(&r, &c, sweeps_only, 1e-8, 5000).iterations, 0));
        free(guess);
        close_rig(&r);
        dual_case_free(&c);
    }
}

// ---- ends ---------------------------------------------------------------------------------------

Test(cuda_nets, no_more_iterations_than_allowed) {
    for (int sweeps_only = 0; sweeps_only < 2; sweeps_only++) {
        for (int32_t most = 0; most < 4; most++) {
            dual_case c = make(2, 5);
            rig r;
            open_rig(&r, c.plan, 1, first);
            const mabd_dual_report report = solve(&r, &c, sweeps_only, 1e-15, most);
            cr_expect(eq(i32, report.iterations, most));
            cr_expect(lt(dbl, fabs(dual_case_slot_residual(&c) - (double)report.residual), 1e-13));
            close_rig(&r);
            dual_case_free(&c);
        }
    }
}

// Round-off keeps the residual above: restarts do not halve it any more.
Test(cuda_nets, a_goal_that_cannot_be_met_ends) {
    dual_case c = make(2, 5);
    rig r;
    open_rig(&r, c.plan, 1, first);
    const mabd_dual_report report = solve(&r, &c, false, 1e-30, 1000000);
    cr_expect(lt(dbl, (double)report.residual, 1e-13));
    cr_expect(lt(i32, report.iterations, 1000));
    close_rig(&r);
    dual_case_free(&c);
}

Test(cuda_nets, a_right_hand_side_that_is_not_finite_ends) {
    for (int sweeps_only = 0; sweeps_only < 2; sweeps_only++) {
        dual_case c = make(4, 5);
        rig r;
        open_rig(&r, c.plan, 1, first);
        c.b[3] = (mabd_real)NAN;
        const mabd_dual_report report = solve(&r, &c, sweeps_only, 1e-8, 1000000);
        cr_expect(not(le(dbl, (double)report.residual, 1e-8)));
        cr_expect(lt(i32, report.iterations, 10));
        close_rig(&r);
        dual_case_free(&c);
    }
}

Test(cuda_nets, report_the_slot_whose_pivot_fails) {
    for (int which = 0; which < 4; which++) {
        dual_case c = make(which, 4);
        rig r;
        int32_t* bad = malloc((size_t)c.plan->slot_count * sizeof *bad);
        open_rig(&r, c.plan, 1, first);
        for (int32_t slot = 0; slot < c.system.slot_count; slot += 7) {
            dual_case_reset(&c);
            c.system.D[c.system.block[slot]] = -1;
            dual_rig_load(&r.on, &c);
            run(&r, true, 1, 0);
            dual_rig_get(&r.on, r.on.bad, (size_t)c.plan->slot_count * sizeof *bad, bad);
            for (int32_t s = 0; s < c.plan->slot_count; s++) cr_assert(eq(i32, bad[s], s == slot));
        }
        free(bad);
        close_rig(&r);
        dual_case_free(&c);
    }
}

// ---- bits ---------------------------------------------------------------------------------------

Test(cuda_nets, the_same_bits_in_any_order) {
    const char* const orders[] = {"forward", "reverse", "random:1", "random:7"};
    for (int which = 0; which < PATTERNS; which++) {
        for (int sweeps_only = 0; sweeps_only < 2; sweeps_only++) {
            dual_case c = make(which, 3);
            const size_t bytes = (size_t)c.system.row_count * sizeof(mabd_real);
            mabd_real* expected = malloc(bytes);
            for (int i = 0; i < 4; i++) {
                rig r;
                setenv("MABD_EXEC_ORDER", orders[i], 1);
                setenv("MABD_EXEC_ASYNC", i % 2 ? "1" : "0", 1);
                open_rig(&r, c.plan, 1, first);
                zero(&c);
                solve(&r, &c, sweeps_only, 1e-9, 5000);
                if (i == 0) memcpy(expected, c.x, bytes);
                cr_expect(eq(int, memcmp(expected, c.x, bytes), 0), "pattern %d, %s", which,
                          orders[i]);
                close_rig(&r);
            }
            free(expected);
            dual_case_free(&c);
        }
    }
}

// A small net that is done soon, a chain that is not solved here, a larger net, a ring.
static dual_graph several(void) {
    dual_graph graph = dual_graph_make(9 + 5 + 64 + 6, 200);
    for (int32_t i = 0; i < 9; i++) {
        if (i % 3 < 2) dual_graph_join(&graph, i, i + 1, 3);
        if (i < 6) dual_graph_join(&graph, i, i + 3, 3);
    }
    for (int32_t i = 9; i < 14; i++) dual_graph_join(&graph, i == 9 ? -1 : i - 1, i, 4);
    for (int32_t i = 0; i < 64; i++) {
        if (i % 8 < 7) dual_graph_join(&graph, 14 + i, 15 + i, 3);
        if (i < 56) dual_graph_join(&graph, 14 + i, 22 + i, 3);
    }
    for (int32_t i = 0; i < 6; i++) dual_graph_join(&graph, 78 + i, 78 + (i + 1) % 6, 3);
    return graph;
}

Test(cuda_nets, several_at_once_do_what_each_does_alone) {
    const int32_t components[] = {0, 2, 3};
    dual_case c[3], chain = dual_case_make(several(), 1, 12, 0.1, 6);
    mabd_dual_report alone = {0, 0};
    mabd_real* x[3];
    rig r;
    for (int i = 0; i < 3; i++) {
        c[i] = dual_case_make(several(), components[i], 12, 0.1, 6);
        zero(&c[i]);
        open_rig(&r, c[i].plan, 1, &components[i]);
        const mabd_dual_report one = solve(&r, &c[i], false, 1e-9, 5000);
        alone.iterations += one.iterations;
        if (one.residual > alone.residual) alone.residual = one.residual;
        close_rig(&r);
        x[i] = c[i].x;
        c[i].x = calloc((size_t)c[i].system.row_count, sizeof(mabd_real));
    }
    open_rig(&r, c[0].plan, 3, components);
    dual_rig_load(&r.on, &chain);
    for (int i = 0; i < 3; i++) dual_rig_load(&r.on, &c[i]);
    const mabd_dual_report together = run(&r, false, 1e-9, 5000);
    cr_expect(eq(i32, together.iterations, alone.iterations));
    cr_expect(eq(dbl, (double)together.residual, (double)alone.residual));
    for (int i = 0; i < 3; i++) {
        dual_rig_fetch(&r.on, &c[i]);
        cr_expect(
            eq(int, memcmp(c[i].x, x[i], (size_t)c[i].system.row_count * sizeof(mabd_real)), 0));
        cr_expect(le(dbl, dual_case_slot_residual(&c[i]), 1e-9 + 1e-13));
        free(x[i]);
        dual_case_free(&c[i]);
    }
    dual_rig_fetch(&r.on, &chain);
    cr_expect(
        eq(int, memcmp(chain.x, chain.b, (size_t)chain.system.row_count * sizeof(mabd_real)), 0));
    close_rig(&r);
    dual_case_free(&chain);
}

// ---- memory and refusals ------------------------------------------------------------------------

Test(cuda_nets, every_allocation_may_fail) {
    dual_case c = make(7, 1);
    int64_t fail_at = 0;
    for (;; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_cuda_nets nets;
        mabd_error error = {0};
        const mabd_status status =
            MABD_CUDA(dual_pcg).plan(c.plan, 1, first, &allocator, &nets, &error);
        cr_assert(eq(int, status, counter.calls > fail_at ? MABD_ERR_MEMORY : MABD_OK));
        MABD_CUDA(dual_pcg).release(&allocator, &nets);
        cr_assert(eq(i64, counter.live_blocks, 0));
        if (status == MABD_OK) break;
    }
    cr_expect(ge(i64, fail_at, 5));
    dual_case_free(&c);
}

Test(cuda_nets, junctions_are_refused) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(dual_graph_star(14, 2, 1, 3, 1), 0, 12, 1, 1);
    mabd_cuda_nets nets;
    mabd_error error = {0};
    cr_expect(eq(int, MABD_CUDA(dual_pcg).plan(c.plan, 1, first, &allocator, &nets, &error),
                 MABD_ERR_ARG));
    dual_case_free(&c);
}
