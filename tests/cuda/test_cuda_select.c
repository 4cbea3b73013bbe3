// SPDX-License-Identifier: Apache-2.0
// Which component goes to which solver of a device.
#include "cuda/dual/select.h"

#include "formulation/affine/backend.h"
#include "support/counting_allocator.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

// Places of all components, with the rule of the affine formulation for elimination in place.
static mabd_status select_places(const mabd_plan* plan, mabd_dual dual,
                                 const mabd_allocator* allocator, mabd_cuda_place* places,
                                 mabd_error* error) {
    bool* in_place = calloc((size_t)plan->component_count, sizeof *in_place);
    for (int32_t i = 0; i < plan->component_count; i++) {
        in_place[i] = mabd_affine_host.direct_dual(&plan->components[i]) != &mabd_dual_block;
    }
    const mabd_status status =
        MABD_CUDA(select_places)(plan, dual, in_place, allocator, places, error);
    free(in_place);
    return status;
}

// Place of the first component of a graph, which is freed; all components have the same.
static int place_of(dual_graph graph, mabd_dual dual) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(graph, 0, 12, 1, 7);
    mabd_cuda_place* places = malloc((size_t)c.plan->component_count * sizeof *places);
    mabd_error error = {0};
    cr_assert(eq(int, select_places(c.plan, dual, &allocator, places, &error), MABD_OK));
    const int place = (int)places[0];
    for (int32_t i = 1; i < c.plan->component_count; i++) {
        cr_expect(eq(int, (int)places[i], place));
    }
    free(places);
    dual_case_free(&c);
    return place;
}

static dual_graph copies(int32_t count, int32_t slots, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(0, 0);
    for (int32_t i = 0; i < count; i++) {
        graph = dual_graph_beside(graph, dual_graph_chain(slots, width, seed));
    }
    return graph;
}

Test(cuda_select, of_chains) {
    cr_expect(eq(int, place_of(dual_graph_chain(20, 3, 1), MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
    cr_expect(eq(int, place_of(dual_graph_chain(256, 3, 1), MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
    cr_expect(eq(int, place_of(dual_graph_chain(257, 3, 1), MABD_DUAL_AUTO), MABD_CUDA_SEGMENTS));
    cr_expect(eq(int, place_of(copies(31, 6, 0, 4), MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
    cr_expect(eq(int, place_of(copies(32, 6, 0, 4), MABD_DUAL_AUTO), MABD_CUDA_BATCH));
    cr_expect(eq(int, place_of(copies(32, 300, 2, 4), MABD_DUAL_AUTO), MABD_CUDA_BATCH));
    cr_expect(eq(int, place_of(dual_graph_chain(20, 3, 1), MABD_DUAL_PCG), MABD_CUDA_LEVELS));
}

// As many slots, but of other widths.
Test(cuda_select, of_chains_that_are_not_alike) {
    dual_graph graph = dual_graph_beside(copies(16, 6, 3, 1), copies(16, 6, 2, 1));
    cr_expect(eq(int, place_of(graph, MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
    graph = dual_graph_beside(copies(16, 6, 3, 1), copies(16, 5, 3, 1));
    cr_expect(eq(int, place_of(graph, MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
}

Test(cuda_select, of_bodies_without_joints) {
    cr_expect(eq(int, place_of(dual_graph_make(3, 0), MABD_DUAL_AUTO), MABD_CUDA_NONE));
}

Test(cuda_select, of_trees) {
    cr_expect(eq(int, place_of(dual_graph_star(5, 3, 1, 3, 3), MABD_DUAL_AUTO), MABD_CUDA_LEVELS));
    cr_expect(eq(int, place_of(dual_graph_star(40, 3, 1, 3, 3), MABD_DUAL_GS), MABD_CUDA_LEVELS));
    cr_expect(eq(int, place_of(dual_graph_star(5, 3, 1, 3, 3), MABD_DUAL_GS), MABD_CUDA_GS));
    // held in several places: rows may depend on each other
    cr_expect(eq(int, place_of(dual_graph_star(5, 3, 2, 3, 3), MABD_DUAL_AUTO), MABD_CUDA_HOST));
}

Test(cuda_select, of_cycles) {
    cr_expect(eq(int, place_of(dual_graph_ring(30, 6, 1), MABD_DUAL_AUTO), MABD_CUDA_LOOPS));
    cr_expect(eq(int, place_of(dual_graph_ring(30, 6, 1), MABD_DUAL_PCG), MABD_CUDA_PCG));
    // 9 x 9 cycles of 3 rows, 12 x 12 of them
    cr_expect(eq(int, place_of(dual_graph_net(10, 10, 3, 1), MABD_DUAL_AUTO), MABD_CUDA_LOOPS));
    cr_expect(eq(int, place_of(dual_graph_net(13, 13, 3, 1), MABD_DUAL_AUTO), MABD_CUDA_PCG));
    cr_expect(eq(int, place_of(dual_graph_net(13, 13, 3, 1), MABD_DUAL_GS), MABD_CUDA_GS));
    cr_expect(eq(int, place_of(dual_graph_net(13, 13, 3, 1), MABD_DUAL_DIRECT), MABD_CUDA_HOST));
}

Test(cuda_select, says_so_without_memory) {
    dual_case c = dual_case_make(copies(40, 3, 3, 1), 0, 12, 1, 7);
    mabd_cuda_place places[40];
    for (int64_t fail_at = 0; fail_at < 2; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_error error = {0};
        cr_expect(eq(int, select_places(c.plan, MABD_DUAL_AUTO, &allocator, places, &error),
                     MABD_ERR_MEMORY));
        cr_expect(eq(i64, counter.live_blocks, 0));
    }
    dual_case_free(&c);
}
