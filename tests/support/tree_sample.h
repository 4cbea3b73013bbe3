// SPDX-License-Identifier: Apache-2.0
// Trees of small random graphs, and the checks that hold for every builder of a mabd_tree.
#pragma once

#include "support/counting_allocator.h"
#include "support/graph_sample.h"
#include "topology/tree.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define SAMPLE_GRAPHS 1000

/// mabd_tree_init, or another builder of the same type.
typedef mabd_status tree_builder(const mabd_allocator* allocator, const mabd_graph* graph,
                                 mabd_tree* tree);

/// Build the tree of a sample.
static inline mabd_tree sample_tree(graph_sample* s, tree_builder* build) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_tree tree;
    cr_assert(eq(int, mabd_graph_init(&allocator, &s->graph), MABD_OK));
    cr_assert(eq(int, build(&allocator, &s->graph, &tree), MABD_OK));
    return tree;
}

/// Free the tree of a sample.
static inline void sample_drop(graph_sample* s, mabd_tree* tree) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_tree_free(&allocator, tree);
    mabd_graph_free(&allocator, &s->graph);
}

/// Check that levels split the order of every component by depth, the deepest first, without a gap
/// between components.
static inline void check_levels(const graph_sample* s, const mabd_tree* tree) {
    int32_t first = 0;
    for (int32_t c = 0; c < tree->component_count; c++) {
        const mabd_tree_component* part = &tree->components[c];
        cr_assert(eq(i32, part->level_first, first));
        cr_assert(eq(i32, tree->level_start[first], part->body_first));
        for (int32_t level = 0; level < part->level_count; level++) {
            const int32_t* range = tree->level_start + first + level;
            const int32_t depth = tree->depth[tree->order[range[0]]];
            cr_assert(lt(i32, range[0], range[1]));
            cr_assert(level == 0 || tree->depth[tree->order[range[-1]]] == depth + 1);
            for (int32_t k = range[0]; k < range[1]; k++) {
                cr_assert(eq(i32, tree->depth[tree->order[k]], depth));
            }
        }
        first += part->level_count;
    }
    cr_assert(eq(i32, first, tree->level_count));
    cr_assert(eq(i32, tree->level_start[first], s->graph.moving_count));
}

/// Check that every failing allocation of a builder leaves nothing behind; most: allocations.
static inline void check_allocations(tree_builder* build, int most) {
    graph_sample s;
    uint64_t seed = 0;
    do { // a graph with cycles, which makes all allocations
        draw_graph(&s, seed++);
    } while (s.inner_count < GRAPH_BODIES);
    for (int fail = 0;; fail++) {
        counting_allocator counter = {.fail_at = fail};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_tree tree;
        mabd_status status = mabd_graph_init(&allocator, &s.graph);
        if (status == MABD_OK) {
            status = build(&allocator, &s.graph, &tree);
            if (status == MABD_OK) mabd_tree_free(&allocator, &tree);
        }
        mabd_graph_free(&allocator, &s.graph);
        cr_assert(eq(i64, counter.live_blocks, 0));
        cr_assert(eq(i64, counter.wrong_frees, 0));
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
        cr_assert(lt(int, fail, most));
    }
}
