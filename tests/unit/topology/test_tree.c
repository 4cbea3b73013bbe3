// SPDX-License-Identifier: Apache-2.0
// Tests for src/topology/tree.h: spanning trees of small random graphs against enumeration of all
// subsets of joints.
#include "support/tree_sample.h"
#include "topology/tree.h"

#include <stdlib.h>

#define BODIES GRAPH_BODIES
#define JOINTS GRAPH_JOINTS
#define GRAPHS SAMPLE_GRAPHS

typedef graph_sample sample;

static mabd_tree tree_of(sample* s) {
    return sample_tree(s, mabd_tree_init);
}

// ---- oracles -----------------------------------------------------------------------------------

/// label (bodies): lowest body that can be reached over the inner joints of a subset (bits).
static void connect(const sample* s, uint32_t subset, int32_t* label) {
    for (int32_t i = 0; i < s->graph.body_count; i++) label[i] = i;
    for (int32_t round = 0; round < s->graph.body_count; round++) {
        for (int32_t k = 0; k < s->inner_count; k++) {
            if (!(subset >> k & 1)) continue;
            int32_t *a = &label[s->a[s->inner[k]]], *b = &label[s->b[s->inner[k]]];
            *a = *b = *a < *b ? *a : *b;
        }
    }
}

/// Return the fewest rows of inner joints of one component (by its lowest body) whose removal
/// leaves no cycle and keeps the component connected.
static int64_t least_cut_rows(const sample* s, const int32_t* whole, int32_t lowest) {
    int64_t least = INT64_MAX;
    for (uint32_t subset = 0; subset < 1u << s->inner_count; subset++) {
        int32_t label[BODIES], tree_joints = 0, bodies = 0;
        int64_t cut = 0;
        bool connected = true;
        connect(s, subset, label);
        for (int32_t i = 0; i < s->graph.body_count; i++) {
            if (!s->moving[i] || whole[i] != lowest) continue;
            bodies++;
            connected = connected && label[i] == lowest;
        }
        for (int32_t k = 0; k < s->inner_count; k++) {
            if (whole[s->a[s->inner[k]]] != lowest) continue;
            if (subset >> k & 1) {
                tree_joints++;
            } else {
                cut += s->width[s->inner[k]];
            }
        }
        if (connected && tree_joints == bodies - 1 && cut < least) least = cut;
    }
    return least;
}

/// True if the joints of a subset are one cycle: every body on it has two of them, all connected.
static bool is_cycle(const sample* s, uint32_t subset) {
    int32_t degree[BODIES] = {0}, label[BODIES], first = -1;
    connect(s, subset, label);
    for (int32_t k = 0; k < s->inner_count; k++) {
        if (!(subset >> k & 1)) continue;
        degree[s->a[s->inner[k]]]++, degree[s->b[s->inner[k]]]++;
    }
    for (int32_t i = 0; i < s->graph.body_count; i++) {
        if (degree[i] == 0) continue;
        if (first < 0) first = label[i];
        if (degree[i] != 2 || label[i] != first) return false;
    }
    return first >= 0;
}

/// True if some joint of the component lies on two cycles.
static bool cycles_share_a_joint(const sample* s, const int32_t* whole, int32_t lowest) {
    int32_t cycles[JOINTS] = {0};
    bool shared = false;
    for (uint32_t subset = 1; subset < 1u << s->inner_count; subset++) {
        if (!is_cycle(s, subset)) continue;
        for (int32_t k = 0; k < s->inner_count; k++) {
            if (!(subset >> k & 1) || whole[s->a[s->inner[k]]] != lowest) continue;
            shared = shared || ++cycles[k] > 1;
        }
    }
    return shared;
}

// ---- claims ------------------------------------------------------------------------------------

Test(tree, components_are_the_connected_bodies_by_their_lowest_one) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        int32_t label[BODIES], count = 0, number[BODIES];
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        connect(&s, UINT32_MAX, label);
        for (int32_t i = 0; i < s.graph.body_count; i++) {
            if (s.moving[i] && label[i] == i) number[i] = count++;
            cr_expect(eq(i32, tree.component[i], s.moving[i] ? number[label[i]] : -1));
        }
        cr_expect(eq(i32, tree.component_count, count));
        sample_drop(&s, &tree);
    }
}

Test(tree, every_body_comes_before_its_parent_over_a_joint_between_them) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        bool seen[BODIES] = {false};
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            for (int32_t i = 0; i < part->body_count; i++) {
                const int32_t body = tree.order[part->body_first + i];
                const int32_t parent = tree.parent[body], joint = tree.parent_joint[body];
                cr_assert(eq(int, seen[body], false));
                cr_assert(eq(i32, tree.component[body], c));
                seen[body] = true;
                cr_assert(eq(int, parent < 0, i == part->body_count - 1), "the root is the last");
                cr_assert(eq(int, joint < 0, parent < 0));
                if (parent < 0) continue;
                cr_assert(eq(int, seen[parent], false));
                const bool forward = s.a[joint] == body && s.b[joint] == parent;
                cr_assert(forward || (s.b[joint] == body && s.a[joint] == parent));
                cr_assert(eq(i32, tree.depth[body], tree.depth[parent] + 1));
            }
        }
        for (int32_t i = 0; i < s.graph.body_count; i++) cr_assert(eq(int, seen[i], s.moving[i]));
        sample_drop(&s, &tree);
    }
}

Test(tree, the_root_of_a_component_without_cycles_is_its_lowest_body) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            const int32_t root = tree.order[part->body_first + part->body_count - 1];
            for (int32_t i = 0; i < part->body_count && part->cut_count == 0; i++) {
                cr_expect(le(i32, root, tree.order[part->body_first + i]));
            }
        }
        sample_drop(&s, &tree);
    }
}

Test(tree, levels_split_the_order_by_depth_with_the_deepest_first) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        check_levels(&s, &tree);
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            const int32_t root = tree.order[part->body_first + part->body_count - 1];
            cr_assert(eq(i32, tree.depth[root], 0));
        }
        sample_drop(&s, &tree);
    }
}

Test(tree, cut_joints_are_the_inner_joints_outside_the_tree_and_have_the_fewest_rows) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        int32_t label[BODIES], next[BODIES] = {0};
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        connect(&s, UINT32_MAX, label);
        for (int32_t k = 0; k < s.inner_count; k++) { // ascending, so cuts must have this order
            const int32_t joint = s.inner[k], a = s.a[joint], b = s.b[joint];
            if (tree.parent_joint[a] == joint || tree.parent_joint[b] == joint) continue;
            const int32_t c = tree.component[a];
            cr_assert(lt(i32, next[c], tree.components[c].cut_count));
            cr_assert(eq(i32, tree.cuts[tree.components[c].cut_first + next[c]++], joint));
        }
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            const int32_t lowest = label[tree.order[part->body_first]];
            cr_assert(eq(i32, next[c], part->cut_count));
            cr_expect(eq(i64, part->cut_rows, least_cut_rows(&s, label, lowest)));
        }
        sample_drop(&s, &tree);
    }
}

Test(tree, cycles_meet_where_some_joint_lies_on_two) {
    int32_t meetings = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        sample s;
        int32_t label[BODIES];
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        connect(&s, UINT32_MAX, label);
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            const int32_t lowest = label[tree.order[part->body_first]];
            const bool meet = cycles_share_a_joint(&s, label, lowest);
            cr_expect(eq(int, part->cycles_meet, meet));
            cr_expect(eq(int, part->kind == MABD_COMPONENT_GRAPH, meet));
            meetings += meet;
        }
        sample_drop(&s, &tree);
    }
    cr_expect(lt(i32, 20, meetings), "the samples must have both cases");
}

Test(tree, every_failing_allocation_leaves_nothing_behind) {
    check_allocations(mabd_tree_init, 10);
}
