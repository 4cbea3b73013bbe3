// SPDX-License-Identifier: Apache-2.0
// All dual solvers of a device behind one table: a plan with a component of each kind is solved by
// as many solvers, and K x = b holds over the whole plan.
#include "cuda/dual/solvers.h"

#include "device_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// Chains of one pattern, a long chain, a tree, a ring and a net of 12 x 12 cycles of 3 rows.
static dual_case make(void) {
    dual_graph graph = dual_graph_make(0, 0);
    for (int32_t i = 0; i < 40; i++) graph = dual_graph_beside(graph, dual_graph_chain(4, 0, 3));
    graph = dual_graph_beside(graph, dual_graph_chain(300, 3, 1));
    graph = dual_graph_beside(graph, dual_graph_tree(30, 0, 2));
    graph = dual_graph_beside(graph, dual_graph_ring(9, 5, 1));
    graph = dual_graph_beside(graph, dual_graph_net(13, 13, 3, 1));
    return dual_case_make(graph, 0, 12, 1, 7);
}

static mabd_cuda_solvers plan_solvers(const mabd_plan* plan, mabd_dual dual) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_cuda_solvers solvers = {0};
    mabd_error error = {0};
    bool* in_place = calloc((size_t)plan->component_count, sizeof *in_place);
    for (int32_t i = 0; i < plan->component_count; i++) in_place[i] = true;
    DEVICE_TRY(MABD_CUDA(solvers_plan)(plan, dual, in_place, &allocator, &solvers, &error));
    free(in_place);
    return solvers;
}

static void layout(void* solvers, mabd_arena* arena) {
    MABD_CUDA(solvers_layout)(solvers, arena);
}

// Solve with one choice of the user; the largest residual of a slot is as the goal says.
static mabd_dual_report expect_solution(mabd_dual dual, mabd_cuda_place iterative) {
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_dual_goal goal = {(mabd_real)1e-12, 2000};
    dual_case c = make();
    mabd_real* b = device_right_side(c.plan, 5);
    mabd_cuda_solvers solvers = plan_solvers(c.plan, dual);
    mabd_dual_report report = {-1, -1};
    mabd_error error = {0};
    cr_expect(ge(i32, solvers.counts[iterative], 1));
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_HOST], 0));
    device_case d = device_case_open(&c, b, layout, &solvers);
    dual_rig rig = {.device = d.device};
    mabd_real* zero = device_reals(d.x);
    dual_rig_put(&rig, zero, d.x * sizeof *zero, d.system.guess);
    DEVICE_TRY(MABD_CUDA(solvers_upload)(&solvers, &d.device, &error));
    DEVICE_TRY(MABD_CUDA(solvers_factor)(&solvers, &d.device, &d.system, d.bad, &error));
    DEVICE_TRY(MABD_CUDA(solvers_solve)(&solvers, &d.device, &d.system, &goal, &report, &error));
    mabd_real* x = device_fetch(&d, d.system.lambda, d.x);
    cr_expect(eq(i32, device_first_bad(&d, NULL), -1));
    cr_expect(lt(dbl, device_backward_error(&c, NULL, b, x), 1e-11));
    MABD_CUDA(device_close)(&d.device);
    MABD_CUDA(solvers_release)(&allocator, &solvers);
    free(x), free(b), free(zero);
    dual_case_free(&c);
    return report;
}

Test(cuda_solvers, every_direct_solver_has_a_component) {
    dual_case c = make();
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_cuda_solvers solvers = plan_solvers(c.plan, MABD_DUAL_AUTO);
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_BATCH], 40));
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_SEGMENTS], 1));
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_LEVELS], 1));
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_LOOPS], 1));
    cr_expect(eq(i32, solvers.counts[MABD_CUDA_PCG], 1));
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        const bool on_device = place != MABD_CUDA_NONE && place != MABD_CUDA_HOST;
        cr_expect(eq(int, solvers.solvers[place] != NULL, on_device && solvers.counts[place] > 0));
    }
    MABD_CUDA(solvers_release)(&allocator, &solvers);
    dual_case_free(&c);
}

Test(cuda_solvers, solve_a_component_of_each_kind) {
    const mabd_dual_report cg = expect_solution(MABD_DUAL_AUTO, MABD_CUDA_PCG);
    cr_expect(lt(i32, 0, cg.iterations));
    cr_expect(le(dbl, (double)cg.residual, 1e-12));
}

// Gauss-Seidel takes more iterations than conjugate gradients with the same sweep.
Test(cuda_solvers, solve_by_sweeps_where_the_user_says_so) {
    const mabd_dual_report cg = expect_solution(MABD_DUAL_PCG, MABD_CUDA_PCG);
    const mabd_dual_report gs = expect_solution(MABD_DUAL_GS, MABD_CUDA_GS);
    cr_expect(lt(i32, cg.iterations, gs.iterations));
}

Test(cuda_solvers, only_nets_iterate) {
    for (int place = 0; place < MABD_CUDA_PLACES; place++) {
        cr_expect(eq(int, MABD_CUDA(place_iterates)((mabd_cuda_place)place),
                     place == MABD_CUDA_GS || place == MABD_CUDA_PCG));
    }
}
