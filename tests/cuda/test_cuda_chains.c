// SPDX-License-Identifier: Apache-2.0
// Many chains on a device give the bits of those on the CPU: the same source, the same order.
#include "cuda/dual/chains.h"

#include "device_case.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static mabd_cuda_batch plan_batch(const dual_case* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t count = c->plan->component_count;
    int32_t* components = device_components(c->plan);
    mabd_cuda_batch batch;
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(dual_batch).plan(c->plan, count, components, &allocator, &batch, &error));
    free(components);
    return batch;
}

// `count` chains of each of some patterns, one of each after the other. Widths of a pattern are
// drawn if width is zero.
typedef struct pattern {
    int32_t slots, width;
    uint64_t seed;
} pattern;

static dual_case make(int32_t count, int32_t patterns, const pattern* p) {
    dual_graph graph = dual_graph_make(0, 0);
    for (int32_t i = 0; i < count * patterns; i++) {
        const pattern* one = &p[i % patterns];
        graph = dual_graph_beside(graph, dual_graph_chain(one->slots, one->width, one->seed));
    }
    dual_case c = dual_case_make(graph, 0, 12, 1, 7);
    cr_assert(eq(i32, c.plan->component_count, count * patterns));
    return c;
}

// In one order, and a second right-hand side with the same factor. D and U stay as they are.
static void expect_bits_in_order(const dual_case* c, const char* order, int32_t groups,
                                 const mabd_real* b, const mabd_real* expected) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_cuda_batch batch = plan_batch(c);
    mabd_error error = {0};
    cr_expect(eq(i32, batch.group_count, groups));
    setenv("MABD_EXEC_ORDER", order, 1);
    device_case d = device_case_open(c, b, MABD_CUDA(dual_batch).layout, &batch);
    DEVICE_TRY(MABD_CUDA(dual_batch).upload(&batch, &d.device, &error));
    DEVICE_TRY(MABD_CUDA(dual_batch).factor(&batch, &d.device, &d.system, d.bad, &error));
    for (int again = 0; again < 2; again++) {
        DEVICE_TRY(
            MABD_CUDA(device_upload)(&d.device, b, d.x * sizeof *b, d.system.lambda, &error));
        DEVICE_TRY(MABD_CUDA(dual_batch).solve(&batch, &d.device, &d.system, NULL, NULL, &error));
        mabd_real* x = device_fetch(&d, d.system.lambda, d.x);
        cr_assert(eq(i32, device_first_difference(d.x, x, expected), -1), "%s", order);
        free(x);
    }
    cr_expect(eq(i32, device_first_bad(&d, NULL), -1));
    mabd_real *D = device_fetch(&d, d.system.D, d.D), *U = device_fetch(&d, d.system.U, d.U);
    cr_assert(eq(i32, device_first_difference(d.D, D, c->D), -1), "%s", "D");
    cr_assert(eq(i32, device_first_difference(d.U, U, c->U), -1), "%s", "U");
    free(D), free(U);
    MABD_CUDA(device_close)(&d.device);
    MABD_CUDA(dual_batch).release(&allocator, &batch);
}

// Frees the case.
static void expect_bits_of_the_cpu(dual_case c, int32_t groups) {
    mabd_real *b = device_right_side(c.plan, 5), *expected = device_right_side(c.plan, 5);
    for (int32_t i = 0; i < c.plan->component_count; i++) {
        cr_assert(eq(i32, device_reference(&c, i, &mabd_dual_chain, expected), -1));
    }
    cr_expect(lt(dbl, device_backward_error(&c, NULL, b, expected), 100 * dual_epsilon()));
    for (size_t k = 0; k < DEVICE_ORDERS; k++) {
        expect_bits_in_order(&c, device_order(k), groups, b, expected);
    }
    free(b), free(expected);
    dual_case_free(&c);
}

// Two tiles and a part of one.
Test(cuda_chains, have_the_bits_of_the_cpu) {
    for (int32_t width = 1; width <= 6; width++) {
        const pattern p = {9, width, 1};
        expect_bits_of_the_cpu(make(70, 1, &p), 1);
    }
}

Test(cuda_chains, of_mixed_widths) {
    const pattern p = {14, 0, 3};
    expect_bits_of_the_cpu(make(70, 1, &p), 1);
}

Test(cuda_chains, of_several_patterns_at_once) {
    const pattern p[] = {{5, 0, 1}, {9, 3, 1}, {1, 6, 1}, {5, 0, 2}, {2, 1, 1}};
    expect_bits_of_the_cpu(make(33, 5, p), 5);
}

Test(cuda_chains, report_the_slot_whose_pivot_fails) {
    const pattern p[] = {{6, 0, 1}, {9, 3, 1}};
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = make(40, 2, p);
    mabd_real* b = device_right_side(c.plan, 5);
    mabd_error error = {0};
    for (int32_t slot = 1; slot < c.plan->slot_count; slot += 53) {
        mabd_real* D = c.D + c.plan->slot_block[slot];
        const mabd_real entry = *D;
        *D = -1e3;
        mabd_cuda_batch batch = plan_batch(&c);
        device_case d = device_case_open(&c, b, MABD_CUDA(dual_batch).layout, &batch);
        DEVICE_TRY(MABD_CUDA(dual_batch).upload(&batch, &d.device, &error));
        DEVICE_TRY(MABD_CUDA(dual_batch).factor(&batch, &d.device, &d.system, d.bad, &error));
        cr_expect(eq(i32, device_first_bad(&d, NULL), slot));
        MABD_CUDA(device_close)(&d.device);
        MABD_CUDA(dual_batch).release(&allocator, &batch);
        *D = entry;
    }
    free(b);
    dual_case_free(&c);
}

Test(cuda_chains, refuse_what_is_no_chain) {
    dual_case c = dual_case_make(dual_graph_star(3, 3, 1, 3, 3), 0, 12, 1, 4);
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t component = 0;
    mabd_cuda_batch batch;
    mabd_error error = {0};
    cr_expect(eq(int, MABD_CUDA(dual_batch).plan(c.plan, 1, &component, &allocator, &batch, &error),
                 MABD_ERR_ARG));
    dual_case_free(&c);
}

Test(cuda_chains, give_back_all_memory_whatever_fails) {
    const pattern p = {5, 0, 1};
    dual_case c = make(3, 1, &p);
    const int32_t components[] = {0, 1, 2};
    mabd_status status = MABD_ERR_MEMORY;
    for (int64_t fail_at = 0; status != MABD_OK; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_cuda_batch batch;
        mabd_error error = {0};
        status = MABD_CUDA(dual_batch).plan(c.plan, 3, components, &allocator, &batch, &error);
        if (status == MABD_OK) {
            cr_expect(eq(i64, fail_at, 4)); // sorted components, patterns, groups, lists
            MABD_CUDA(dual_batch).release(&allocator, &batch);
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
        }
        cr_expect(eq(i64, counter.live_blocks, 0));
        cr_expect(eq(i64, counter.wrong_frees, 0));
    }
    dual_case_free(&c);
}
