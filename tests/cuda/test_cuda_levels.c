// SPDX-License-Identifier: Apache-2.0
// Trees on a device, level by level: the bits of the CPU's tree solver in any order of threads and
// blocks, few levels whatever the number of arms on a junction, and trees that remain when the
// joints which close cycles are left out.
#include "cuda/dual/levels.h"

#include "device_case.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// Largest backward error of elimination: some round-offs for each of the rows that meet in one.
#define ROUND_OFF (100 * dual_epsilon())

// Levels of all components.
static mabd_cuda_levels plan_levels(const dual_case* c, const bool* left_out) {
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t count = c->plan->component_count;
    int32_t* components = device_components(c->plan);
    mabd_cuda_levels levels;
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(levels_plan_part)(c->plan, count, components, left_out, &allocator,
                                           &levels, &error));
    free(components);
    return levels;
}

static void release(mabd_cuda_levels* levels, device_case* d) {
    const mabd_allocator allocator = mabd_default_allocator();
    MABD_CUDA(device_close)(&d->device);
    MABD_CUDA(dual_levels).release(&allocator, levels);
}

static void run(mabd_cuda_levels* levels, device_case* d) {
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(dual_levels).upload(levels, &d->device, &error));
    DEVICE_TRY(MABD_CUDA(dual_levels).factor(levels, &d->device, &d->system, d->bad, &error));
    DEVICE_TRY(MABD_CUDA(dual_levels).solve(levels, &d->device, &d->system, NULL, NULL, &error));
}

// ---- trees --------------------------------------------------------------------------------------

// x on the device and by mabd_dual_tree; levels on the way. Frees the case.
static int32_t expect_bits_of_the_cpu(dual_case c) {
    mabd_real *b = device_right_side(c.plan, 5), *expected = device_right_side(c.plan, 5);
    int32_t level_count = 0;
    for (int32_t i = 0; i < c.plan->component_count; i++) {
        cr_assert(eq(i32, device_reference(&c, i, &mabd_dual_tree, expected), -1));
    }
    cr_expect(lt(dbl, device_backward_error(&c, NULL, b, expected), ROUND_OFF));
    for (size_t k = 0; k < DEVICE_ORDERS; k++) {
        setenv("MABD_EXEC_ORDER", device_order(k), 1);
        mabd_cuda_levels levels = plan_levels(&c, NULL);
        device_case d = device_case_open(&c, b, MABD_CUDA(dual_levels).layout, &levels);
        run(&levels, &d);
        mabd_real* x = device_fetch(&d, d.system.lambda, d.x);
        cr_assert(eq(i32, device_first_difference(d.x, x, expected), -1), "%s", device_order(k));
        cr_expect(eq(i32, device_first_bad(&d, NULL), -1));
        level_count = levels.level_count;
        release(&levels, &d);
        free(x);
    }
    free(b), free(expected);
    dual_case_free(&c);
    return level_count;
}

static dual_case make(dual_graph graph, uint64_t seed) {
    return dual_case_make(graph, 0, 12, 1, seed);
}

Test(cuda_levels, have_the_bits_of_the_cpu) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        expect_bits_of_the_cpu(make(dual_graph_tree(70, 0, seed), seed));
        expect_bits_of_the_cpu(make(dual_graph_tree(70, 3, seed), seed));
    }
    expect_bits_of_the_cpu(make(dual_graph_chain(40, 0, 3), 3));
    expect_bits_of_the_cpu(make(dual_graph_chain(40, 6, 3), 4));
}

Test(cuda_levels, take_several_components_at_once) {
    dual_graph graph = dual_graph_beside(dual_graph_tree(30, 0, 2), dual_graph_chain(12, 3, 2));
    graph = dual_graph_beside(graph, dual_graph_star(14, 2, 1, 0, 2));
    graph = dual_graph_beside(graph, dual_graph_star(20, 1, 0, 5, 7));
    dual_case c = make(graph, 9);
    cr_assert(eq(i32, c.plan->component_count, 4));
    cr_assert(eq(i32, c.plan->junction_count, 2));
    expect_bits_of_the_cpu(c);
}

// Arms of 3 joints, and the two slots of the junction; the ground comes after it. One arm after the
// other would take 40 levels and more.
Test(cuda_levels, of_a_star_are_few) {
    for (int32_t width = 0; width <= 6; width++) {
        dual_case c = make(dual_graph_star(40, 3, 1, width, 3), 3);
        cr_assert(eq(i32, c.plan->junction_count, 1));
        expect_bits_of_the_cpu(c);
    }
    cr_expect(eq(i32, expect_bits_of_the_cpu(make(dual_graph_star(40, 3, 1, 3, 3), 3)), 6));
    cr_expect(eq(i32, expect_bits_of_the_cpu(make(dual_graph_star(400, 3, 1, 5, 3), 3)), 6));
}

// Two junctions in a level, and levels with more slots than a block has threads.
Test(cuda_levels, of_two_stars_side_by_side) {
    dual_graph graph = dual_graph_star(40, 2, 1, 0, 3);
    graph = dual_graph_beside(graph, dual_graph_star(50, 2, 1, 3, 4));
    cr_expect(eq(i32, expect_bits_of_the_cpu(make(graph, 3)), 5));
}

// A junction on a junction on a junction: the joint between two is the late one of the outer and an
// arm of the inner one.
Test(cuda_levels, of_junctions_on_junctions) {
    dual_graph graph = dual_graph_make(3 + 3 * 15, 3 + 3 * 15);
    dual_graph_join(&graph, -1, 0, 4);
    dual_graph_join(&graph, 0, 1, 5);
    dual_graph_join(&graph, 1, 2, 3);
    for (int32_t i = 0; i < 3 * 15; i++) dual_graph_join(&graph, i % 3, 3 + i, 1 + (i / 3) % 6);
    dual_case c = make(graph, 8);
    cr_assert(eq(i32, c.plan->junction_count, 3));
    cr_expect(eq(i32, expect_bits_of_the_cpu(c),
                 3 * 3 + 1)); // arms and the joint before, two slots; the ground
}

Test(cuda_levels, report_the_slots_whose_pivots_fail) {
    dual_case c =
        make(dual_graph_beside(dual_graph_tree(30, 0, 2), dual_graph_star(20, 2, 1, 3, 2)), 1);
    mabd_real* b = device_right_side(c.plan, 5);
    for (int32_t slot = 0; slot < c.plan->slot_count; slot += 7) {
        mabd_real* D = c.D + c.plan->slot_block[slot];
        const mabd_real entry = *D;
        *D = c.plan->slot_negative[slot] ? 1e3 : -1e3;
        mabd_cuda_levels levels = plan_levels(&c, NULL);
        device_case d = device_case_open(&c, b, MABD_CUDA(dual_levels).layout, &levels);
        run(&levels, &d);
        cr_expect(eq(i32, device_first_bad(&d, NULL), slot));
        release(&levels, &d);
        *D = entry;
    }
    free(b);
    dual_case_free(&c);
}

// ---- slots left out -----------------------------------------------------------------------------

// The slots that are eliminated last in each component, one for each cycle.
static bool* cuts_of(const mabd_plan* plan) {
    bool* cut = calloc((size_t)plan->slot_count + 1, sizeof *cut);
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        int32_t rows = 0;
        for (int32_t k = c->slot_count - c->loops; k < c->slot_count; k++) {
            const int32_t slot = c->slot_first + plan->elimination[c->slot_first + k];
            cut[slot] = true;
            rows += plan->slot_width[slot];
        }
        cr_assert(eq(i32, rows, c->cut_rows));
    }
    return cut;
}

#define COLUMNS 3

// COLUMNS right-hand sides side by side, each with rows from row `offset` on; the first is b.
static void solve_columns(const mabd_cuda_levels* levels, device_case* d, mabd_real* x) {
    const size_t stride = d->x + 5;
    mabd_device other = d->device;
    mabd_error error = {0};
    void* memory = NULL;
    cr_assert(eq(int, cudaMalloc(&memory, COLUMNS * stride * sizeof *x), cudaSuccess));
    DEVICE_TRY(MABD_CUDA(device_upload)(&other, x, COLUMNS * stride * sizeof *x, memory, &error));
    DEVICE_TRY(
        MABD_CUDA(levels_forward)(levels, &other, &d->system, COLUMNS, stride, -2, memory, &error));
    DEVICE_TRY(
        MABD_CUDA(levels_back)(levels, &other, &d->system, COLUMNS, stride, -2, memory, &error));
    DEVICE_TRY(MABD_CUDA(device_download)(&other, memory, COLUMNS * stride * sizeof *x, x, &error));
    DEVICE_TRY(MABD_CUDA(device_wait)(&other, &error));
    cr_assert(eq(int, cudaFree(memory), cudaSuccess));
}

// The rest is a tree: T x = b, in system.lambda and in columns; D, U and rows of cuts are not
// overwritten. Frees the case.
static void expect_tree_without_cuts(dual_case c, const char* order) {
    const mabd_plan* plan = c.plan;
    const size_t rows = (size_t)plan->row_count, stride = rows + 5;
    bool *cut = cuts_of(plan), *kept = calloc((size_t)plan->slot_count + 1, sizeof *kept);
    mabd_real* b = device_right_side(plan, 5);
    mabd_real* columns = device_reals(COLUMNS * stride);
    setenv("MABD_EXEC_ORDER", order, 1);
    for (int k = 0; k < COLUMNS; k++) {
        mabd_real* more = device_right_side(plan, 5 + (uint64_t)k);
        memcpy(columns + (size_t)k * stride + 2, more, rows * sizeof *more);
        free(more);
    }
    for (int32_t s = 0; s < plan->slot_count; s++) kept[s] = !cut[s];
    mabd_cuda_levels levels = plan_levels(&c, cut);
    device_case d = device_case_open(&c, b, MABD_CUDA(dual_levels).layout, &levels);
    run(&levels, &d);
    mabd_real* x = device_fetch(&d, d.system.lambda, d.x);
    cr_expect(eq(i32, device_first_bad(&d, kept), -1));
    cr_expect(lt(dbl, device_backward_error(&c, kept, b, x), ROUND_OFF));
    solve_columns(&levels, &d, columns);
    cr_assert(eq(i32, device_first_difference(rows, columns + 2, x), -1), "%s", "first column");
    for (int k = 0; k < COLUMNS; k++) {
        mabd_real* more = device_right_side(plan, 5 + (uint64_t)k);
        const mabd_real* column = columns + (size_t)k * stride + 2;
        cr_expect(lt(dbl, device_backward_error(&c, kept, more, column), ROUND_OFF));
        for (int32_t s = 0; s < plan->slot_count; s++) {
            for (int32_t i = plan->slot_row[s]; i < plan->slot_row[s + 1] && cut[s]; i++) {
                cr_expect(eq(dbl, column[i], more[i]));
            }
        }
        free(more);
    }
    mabd_real *D = device_fetch(&d, d.system.D, d.D), *U = device_fetch(&d, d.system.U, d.U);
    cr_assert(eq(i32, device_first_difference(d.D, D, c.D), -1), "%s", "D");
    cr_assert(eq(i32, device_first_difference(d.U, U, c.U), -1), "%s", "U");
    release(&levels, &d);
    free(D), free(U), free(x), free(b), free(columns), free(cut), free(kept);
    dual_case_free(&c);
}

static dual_graph star_with_cycles(int32_t held) {
    dual_graph star = dual_graph_star(24, 3, held, 0, 6);
    dual_graph graph = dual_graph_make(star.bodies, star.joints + 4);
    for (int32_t i = 0; i < star.joints; i++) {
        dual_graph_join(&graph, star.a[i], star.b[i], star.width[i]);
    }
    dual_graph_join(&graph, 0, 3, 2); // the junction and the end of an arm
    dual_graph_join(&graph, 5, 9, 3);
    dual_graph_join(&graph, 4, 30, 1);
    dual_graph_join(&graph, 31, 60, 6);
    dual_graph_free(&star);
    return graph;
}

Test(cuda_levels, leave_out_what_closes_cycles) {
    for (size_t k = 0; k < 3; k++) {
        expect_tree_without_cuts(make(dual_graph_ring(20, 0, 4), 4), device_order(k));
        expect_tree_without_cuts(make(dual_graph_without_junctions(dual_graph_net(4, 5, 0, 4)), 4),
                                 device_order(k));
        expect_tree_without_cuts(make(dual_graph_random(40, 12, 0, 4), 4), device_order(k));
        dual_graph both = dual_graph_beside(dual_graph_ring(9, 5, 2), dual_graph_tree(20, 0, 3));
        expect_tree_without_cuts(make(both, 4), device_order(k));
    }
}

Test(cuda_levels, leave_out_what_closes_cycles_through_junctions) {
    for (size_t k = 0; k < 3; k++) {
        // with many places on the ground the junction leaves more blocks than the plan has
        dual_case c = make(star_with_cycles(k == 0 ? 2 : 12), 4);
        cr_assert(ge(i32, c.plan->junction_count, 1));
        cr_assert(eq(i32, c.plan->loops, 4));
        expect_tree_without_cuts(c, device_order(k));
    }
}

Test(cuda_levels, refuse_cycles) {
    dual_case c = make(dual_graph_net(3, 3, 2, 4), 4);
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t component = 0;
    mabd_cuda_levels levels;
    mabd_error error = {0};
    cr_expect(eq(
        int, MABD_CUDA(levels_plan_part)(c.plan, 1, &component, NULL, &allocator, &levels, &error),
        MABD_ERR_ARG));
    dual_case_free(&c);
}

Test(cuda_levels, give_back_all_memory_whatever_fails) {
    dual_case c = make(star_with_cycles(2), 4);
    bool* cut = cuts_of(c.plan);
    const int32_t component = 0;
    mabd_status status = MABD_ERR_MEMORY;
    for (int64_t fail_at = 0; status != MABD_OK; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_cuda_levels levels;
        mabd_error error = {0};
        status =
            MABD_CUDA(levels_plan_part)(c.plan, 1, &component, cut, &allocator, &levels, &error);
        if (status == MABD_OK) {
            cr_expect(eq(i64, fail_at, 2)); // workspace, lists
            MABD_CUDA(dual_levels).release(&allocator, &levels);
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
        }
        cr_expect(eq(i64, counter.live_blocks, 0));
        cr_expect(eq(i64, counter.wrong_frees, 0));
    }
    free(cut);
    dual_case_free(&c);
}
