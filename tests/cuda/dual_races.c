// SPDX-License-Identifier: Apache-2.0
// Trees, long chains and many chains on a device, to be run under ThreadSanitizer: every kernel of
// levels.cu, segments.cu and chains.cu, with few enough threads for it to follow. The exit code is
// always 0; ctest reads its reports.
#include "cuda/dual/chains.h"
#include "cuda/dual/levels.h"
#include "cuda/dual/segments.h"

#include "device_case.h"

#define COLUMNS 2

// Levels, and columns to solve for.
typedef struct levels_case {
    mabd_cuda_levels levels;
    size_t rows;
    mabd_real* x;
} levels_case;

static void lay_levels(void* module, mabd_arena* arena) {
    levels_case* l = module;
    MABD_CUDA(dual_levels).layout(&l->levels, arena);
    l->x = mabd_arena_take(arena, COLUMNS * l->rows, sizeof *l->x);
}
// The error of the solution, of the slots that are kept.
static double close_case(const dual_case* c, const bool* kept, const mabd_real* b, device_case* d) {
    mabd_real* x = device_fetch(d, d->system.lambda, d->x);
    const double error = device_backward_error(c, kept, b, x);
    MABD_CUDA(device_close)(&d->device);
    free(x);
    return error;
}

// Columns are solved for as well, whatever is in them. left_out: null = none.
static double run_levels(const dual_case* c, const bool* left_out, const bool* kept,
                         const mabd_real* b) {
    const mabd_allocator allocator = mabd_default_allocator();
    int32_t* components = device_components(c->plan);
    levels_case l = {.rows = (size_t)c->plan->row_count};
    mabd_error error = {0};
    DEVICE_TRY(MABD_CUDA(levels_plan_part)(c->plan, c->plan->component_count, components, left_out,
                                           &allocator, &l.levels, &error));
    device_case d = device_case_open(c, b, lay_levels, &l);
    DEVICE_TRY(MABD_CUDA(dual_levels).upload(&l.levels, &d.device, &error));
    DEVICE_TRY(MABD_CUDA(dual_levels).factor(&l.levels, &d.device, &d.system, d.bad, &error));
    DEVICE_TRY(MABD_CUDA(dual_levels).solve(&l.levels, &d.device, &d.system, NULL, NULL, &error));
    DEVICE_TRY(MABD_CUDA(levels_forward)(&l.levels, &d.device, &d.system, COLUMNS, l.rows, 0, l.x,
                                         &error));
    DEVICE_TRY(
        MABD_CUDA(levels_back)(&l.levels, &d.device, &d.system, COLUMNS, l.rows, 0, l.x, &error));
    const double off = close_case(c, kept, b, &d);
    MABD_CUDA(dual_levels).release(&allocator, &l.levels);
    free(components);
    return off;
}

static double run_segments(const dual_case* c, const mabd_real* b) {
    const mabd_allocator allocator = mabd_default_allocator();
    int32_t* components = device_components(c->plan);
    mabd_cuda_segments segments;
    mabd_error error = {0};
    DEVICE_TRY(
        MABD_CUDA(dual_segments)
            .plan(c->plan, c->plan->component_count, components, &allocator, &segments, &error));
    device_case d = device_case_open(c, b, MABD_CUDA(dual_segments).layout, &segments);
    DEVICE_TRY(MABD_CUDA(dual_segments).upload(&segments, &d.device, &error));
    DEVICE_TRY(MABD_CUDA(dual_segments).factor(&segments, &d.device, &d.system, d.bad, &error));
    DEVICE_TRY(MABD_CUDA(dual_segments).solve(&segments, &d.device, &d.system, NULL, NULL, &error));
    const double off = close_case(c, NULL, b, &d);
    MABD_CUDA(dual_segments).release(&allocator, &segments);
    free(components);
    return off;
}

static double run_batch(const dual_case* c, const mabd_real* b) {
    const mabd_allocator allocator = mabd_default_allocator();
    int32_t* components = device_components(c->plan);
    mabd_cuda_batch batch;
    mabd_error error = {0};
    DEVICE_TRY(
        MABD_CUDA(dual_batch)
            .plan(c->plan, c->plan->component_count, components, &allocator, &batch, &error));
    device_case d = device_case_open(c, b, MABD_CUDA(dual_batch).layout, &batch);
    DEVICE_TRY(MABD_CUDA(dual_batch).upload(&batch, &d.device, &error));
    DEVICE_TRY(MABD_CUDA(dual_batch).factor(&batch, &d.device, &d.system, d.bad, &error));
    DEVICE_TRY(MABD_CUDA(dual_batch).solve(&batch, &d.device, &d.system, NULL, NULL, &error));
    const double off = close_case(c, NULL, b, &d);
    MABD_CUDA(dual_batch).release(&allocator, &batch);
    free(components);
    return off;
}

static void report(const char* what, dual_case* c, double off) {
    printf("%s: %d slots, backward error %s\n", what, (int)c->plan->slot_count,
           off < 100 * dual_epsilon() ? "of round-off" : "too large");
    dual_case_free(c);
}

// Two arms of a junction are joined; the joint that closes the cycle is left out.
static void run_cycle(void) {
    dual_graph graph = dual_graph_make(15, 16);
    dual_graph_join(&graph, -1, 0, 2);
    for (int32_t i = 1; i < 15; i++) dual_graph_join(&graph, 0, i, 3);
    dual_graph_join(&graph, 1, 2, 3);
    dual_case c = dual_case_make(graph, 0, 12, 1, 4);
    const int32_t slots = c.plan->slot_count;
    bool *cut = calloc((size_t)slots, sizeof *cut), *kept = calloc((size_t)slots, sizeof *kept);
    device_need(cut && kept && c.plan->loops == 1 && c.plan->junction_count == 1, "another graph");
    cut[c.plan->elimination[slots - 1]] = true;
    for (int32_t s = 0; s < slots; s++) kept[s] = !cut[s];
    mabd_real* b = device_right_side(c.plan, 5);
    const double off = run_levels(&c, cut, kept, b);
    free(b), free(cut), free(kept);
    report("cycle", &c, off);
}

int main(void) {
    // levels of several blocks, and two junctions in one of them; and of one block
    dual_graph trees =
        dual_graph_beside(dual_graph_tree(30, 0, 2), dual_graph_star(30, 2, 1, 3, 2));
    trees = dual_graph_beside(trees, dual_graph_star(30, 2, 1, 3, 2));
    dual_case tree = dual_case_make(trees, 0, 12, 1, 1);
    mabd_real* b = device_right_side(tree.plan, 5);
    report("trees", &tree, run_levels(&tree, NULL, NULL, b));
    free(b);
    run_cycle();
    dual_case chain = dual_case_make(dual_graph_chain(2300, 0, 2), 0, 12, 1, 1);
    b = device_right_side(chain.plan, 5);
    report("segments", &chain, run_segments(&chain, b));
    free(b);
    dual_graph graph = dual_graph_make(0, 0);
    for (int32_t i = 0; i < 40; i++) graph = dual_graph_beside(graph, dual_graph_chain(4, 0, 3));
    dual_case chains = dual_case_make(graph, 0, 12, 1, 1);
    b = device_right_side(chains.plan, 5);
    report("chains", &chains, run_batch(&chains, b));
    free(b);
    return 0;
}
