// SPDX-License-Identifier: Apache-2.0
// Long chains on a device, in segments: K x = b to round-off, as near the CPU's block Thomas as the
// condition of K allows, the same bits in any order of threads and blocks.
#include "cuda/dual/segments.h"

#include "device_case.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// Largest backward error of elimination: some round-offs for each of the rows that meet in one.
#define ROUND_OFF (100 * dual_epsilon())

static mabd_cuda_segments plan_segments(const dual_case* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t count = c->plan->component_count;
    int32_t* components = device_components(c->plan);
    mabd_cuda_segments segments;
    mabd_error error = {0};
    DEVICE_TRY(
        MABD_CUDA(dual_segments).plan(c->plan, count, components, &allocator, &segments, &error));
    free(components);
    return segments;
}

static void run(mabd_cuda_segments* segments, device_case* d) {
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(dual_segments).upload(segments, &d->device, &error));
    DEVICE_TRY(MABD_CUDA(dual_segments).factor(segments, &d->device, &d->system, d->bad, &error));
    DEVICE_TRY(
        MABD_CUDA(dual_segments).solve(segments, &d->device, &d->system, NULL, NULL, &error));
}

// x of all chains of a case, to be freed; *bad: first slot whose pivot failed.
static mabd_real* solve(const dual_case* c, const mabd_real* b, const char* order, int32_t* bad) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_cuda_segments segments = plan_segments(c);
    setenv("MABD_EXEC_ORDER", order, 1);
    device_case d = device_case_open(c, b, MABD_CUDA(dual_segments).layout, &segments);
    run(&segments, &d);
    mabd_real* x = device_fetch(&d, d.system.lambda, d.x);
    *bad = device_first_bad(&d, NULL);
    MABD_CUDA(device_close)(&d.device);
    MABD_CUDA(dual_segments).release(&allocator, &segments);
    return x;
}

static double difference(const mabd_plan* plan, const mabd_real* x, const mabd_real* y) {
    double off = 0, largest = 0;
    for (int32_t i = 0; i < plan->row_count; i++) {
        const double d = fabs((double)x[i] - (double)y[i]);
        off = isnan(d) ? INFINITY : fmax(off, d);
        largest = fmax(largest, fabs((double)y[i]));
    }
    return off / largest;
}

// Residual, CPU and orders. K = G G' + I with 12 random columns in each body: its condition is some
// hundreds. Frees the case.
static void expect_solution(dual_case c) {
    mabd_real *b = device_right_side(c.plan, 5), *expected = device_right_side(c.plan, 5);
    int32_t bad = -1;
    for (int32_t i = 0; i < c.plan->component_count; i++) {
        cr_assert(eq(i32, device_reference(&c, i, &mabd_dual_chain, expected), -1));
    }
    mabd_real* x = solve(&c, b, device_order(0), &bad);
    cr_expect(eq(i32, bad, -1));
    cr_expect(lt(dbl, device_backward_error(&c, NULL, b, x), ROUND_OFF), "%d slots",
              c.plan->slot_count);
    cr_expect(lt(dbl, difference(c.plan, x, expected), 1000 * ROUND_OFF), "%d slots",
              c.plan->slot_count);
    for (size_t k = 1; k < DEVICE_ORDERS; k++) {
        mabd_real* other = solve(&c, b, device_order(k), &bad);
        cr_assert(zero(int, memcmp(x, other, (size_t)c.plan->row_count * sizeof *x)), "%s",
                  device_order(k));
        free(other);
    }
    free(b), free(expected), free(x);
    dual_case_free(&c);
}

static dual_case make(dual_graph graph, uint64_t seed) {
    return dual_case_make(graph, 0, 12, 1, seed);
}

Test(cuda_segments, solve_chains_of_any_length) {
    const int32_t lengths[] = {1, 2, 31, 63, 64, 65, 66, 95, 96, 97, 98, 128, 129, 130, 300};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        expect_solution(make(dual_graph_chain(lengths[k], 3, k), k));
        expect_solution(make(dual_graph_chain(lengths[k], 0, k), k));
    }
}

Test(cuda_segments, solve_blocks_of_any_width) {
    for (int32_t width = 1; width <= 6; width++) {
        expect_solution(make(dual_graph_chain(200, width, 2), (uint64_t)width));
    }
}

// Cuts of cuts: two depths above the chain.
Test(cuda_segments, solve_a_long_chain_in_few_launches) {
    dual_case c = make(dual_graph_chain(5000, 2, 1), 1);
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_cuda_segments segments = plan_segments(&c);
    cr_expect(eq(i32, segments.depths, 3));
    cr_expect(eq(i32, segments.segment_first[1], 157)); // 156 cuts
    cr_expect(eq(i32, segments.segment_first[2], 157 + 5));
    cr_expect(eq(i32, segments.segment_first[3], 157 + 5 + 1));
    MABD_CUDA(dual_segments).release(&allocator, &segments);
    expect_solution(c);
    expect_solution(make(dual_graph_chain(3000, 0, 4), 4));
}

Test(cuda_segments, solve_several_chains_at_once) {
    dual_graph graph = dual_graph_beside(dual_graph_chain(2200, 0, 1), dual_graph_chain(10, 3, 2));
    graph = dual_graph_beside(graph, dual_graph_chain(100, 6, 3));
    graph = dual_graph_beside(graph, dual_graph_chain(70, 1, 4));
    expect_solution(make(graph, 7));
}

// G of one column in each body: K is I and something of low rank, as badly conditioned as 1 /
// shift.
Test(cuda_segments, are_stable_where_the_matrix_is_nearly_singular) {
    dual_case c = dual_case_make(dual_graph_chain(700, 3, 2), 0, 4, 1e-9, 3);
    mabd_real* b = device_right_side(c.plan, 5);
    int32_t bad = -1;
    mabd_real* x = solve(&c, b, device_order(0), &bad);
    cr_expect(eq(i32, bad, -1));
    cr_expect(lt(dbl, device_backward_error(&c, NULL, b, x), ROUND_OFF));
    free(b), free(x);
    dual_case_free(&c);
}

Test(cuda_segments, report_the_slot_whose_pivot_fails) {
    dual_case c = make(dual_graph_chain(2300, 0, 2), 2);
    mabd_real* b = device_right_side(c.plan, 5);
    const int32_t slots[] = {0, 1, 31, 32, 63, 64, 1000, 1023, 1055, 2298, 2299};
    for (size_t k = 0; k < sizeof slots / sizeof *slots; k++) {
        mabd_real* D = c.D + c.plan->slot_block[slots[k]];
        const mabd_real entry = *D;
        int32_t bad = -1;
        *D = -1e3;
        free(solve(&c, b, device_order(k % 4), &bad));
        cr_expect(eq(i32, bad, slots[k]));
        *D = entry;
    }
    free(b);
    dual_case_free(&c);
}

Test(cuda_segments, refuse_what_is_no_chain) {
    dual_case c = make(dual_graph_star(3, 3, 1, 3, 3), 4);
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t component = 0;
    mabd_cuda_segments segments;
    mabd_error error = {0};
    cr_expect(
        eq(int, MABD_CUDA(dual_segments).plan(c.plan, 1, &component, &allocator, &segments, &error),
           MABD_ERR_ARG));
    dual_case_free(&c);
}

Test(cuda_segments, say_so_without_memory) {
    dual_case c = make(dual_graph_chain(300, 3, 2), 2);
    counting_allocator counter = {.fail_at = 0};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    const int32_t component = 0;
    mabd_cuda_segments segments;
    mabd_error error = {0};
    cr_expect(
        eq(int, MABD_CUDA(dual_segments).plan(c.plan, 1, &component, &allocator, &segments, &error),
           MABD_ERR_MEMORY));
    counter.fail_at = -1;
    DEVICE_TRY(MABD_CUDA(dual_segments).plan(c.plan, 1, &component, &allocator, &segments, &error));
    MABD_CUDA(dual_segments).release(&allocator, &segments);
    cr_expect(eq(i64, counter.live_blocks, 0));
    cr_expect(eq(i64, counter.wrong_frees, 0));
    dual_case_free(&c);
}
