// SPDX-License-Identifier: Apache-2.0
// Tests for src/topology/ground_tree.h: trees that hang at the ground, of small random graphs,
// against enumeration of all subsets of joints.
#include "support/tree_sample.h"
#include "topology/ground_tree.h"

#define NODES  (GRAPH_BODIES + 1) // the last one is the ground
#define GRAPHS SAMPLE_GRAPHS

static mabd_tree tree_of(graph_sample* s) {
    return sample_tree(s, mabd_ground_tree_init);
}

// Node at an end of a joint: its body if it moves, else the ground.
static int32_t node_of(const graph_sample* s, int32_t body) {
    return moves(s, body) ? body : GRAPH_BODIES;
}

static bool in_subset(const graph_sample* s, uint32_t subset, int32_t joint) {
    return (subset >> joint & 1) && s->width[joint] > 0;
}

/// label (NODES): lowest node that can be reached over the joints of a subset (bits).
static void connect(const graph_sample* s, uint32_t subset, int32_t* label) {
    for (int32_t i = 0; i < NODES; i++) label[i] = i;
    for (int32_t round = 0; round < NODES; round++) {
        for (int32_t j = 0; j < s->graph.joint_count; j++) {
            if (!in_subset(s, subset, j)) continue;
            int32_t *a = &label[node_of(s, s->a[j])], *b = &label[node_of(s, s->b[j])];
            *a = *b = *a < *b ? *a : *b;
        }
    }
}

// Fewest rows whose removal leaves a forest that connects all that is connected.
static int64_t least_cut_rows(const graph_sample* s) {
    int32_t whole[NODES], label[NODES];
    int64_t least = INT64_MAX;
    connect(s, UINT32_MAX, whole);
    for (uint32_t subset = 0; subset < 1u << s->graph.joint_count; subset++) {
        int64_t cut = 0;
        int32_t joints = 0, merged = 0; // equal if the subset has no cycle
        bool connected = true;
        connect(s, subset, label);
        for (int32_t i = 0; i < NODES; i++) {
            connected = connected && label[i] == whole[i];
            merged += label[i] != i;
        }
        for (int32_t j = 0; j < s->graph.joint_count; j++) {
            joints += in_subset(s, subset, j);
            if (!in_subset(s, subset, j)) cut += s->width[j];
        }
        if (connected && joints == merged && cut < least) least = cut;
    }
    return least;
}

/// distance (NODES) from a node over all joints, or over inner ones; NODES = none.
static void distances(const graph_sample* s, int32_t from, bool inner, int32_t* distance) {
    for (int32_t i = 0; i < NODES; i++) distance[i] = i == from ? 0 : NODES;
    for (int32_t round = 0; round < NODES; round++) {
        for (int32_t j = 0; j < s->graph.joint_count; j++) {
            const int32_t a = node_of(s, s->a[j]), b = node_of(s, s->b[j]);
            if (s->width[j] == 0 || (inner && (a == GRAPH_BODIES || b == GRAPH_BODIES))) continue;
            if (distance[b] > distance[a] + 1) distance[b] = distance[a] + 1;
            if (distance[a] > distance[b] + 1) distance[a] = distance[b] + 1;
        }
    }
}

Test(ground_tree, every_body_comes_before_its_parent_over_a_joint_between_them) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        graph_sample s;
        bool seen[GRAPH_BODIES] = {false};
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        for (int32_t i = 0; i < s.graph.moving_count; i++) {
            const int32_t body = tree.order[i], joint = tree.parent_joint[body];
            const int32_t parent = tree.parent[body] < 0 ? GRAPH_BODIES : tree.parent[body];
            cr_assert(eq(int, seen[body], false));
            seen[body] = true;
            cr_assert(parent == GRAPH_BODIES || !seen[parent]);
            const int32_t above = parent == GRAPH_BODIES ? 0 : tree.depth[parent];
            cr_assert(eq(i32, tree.depth[body], joint < 0 ? 0 : above + 1));
            if (joint < 0) continue;
            const int32_t a = node_of(&s, s.a[joint]), b = node_of(&s, s.b[joint]);
            const bool down = a == body && b == parent, up = b == body && a == parent;
            cr_assert(down || up);
        }
        for (int32_t i = 0; i < s.graph.body_count; i++) cr_assert(eq(int, seen[i], s.moving[i]));
        sample_drop(&s, &tree);
    }
}

Test(ground_tree, cut_joints_are_those_outside_the_tree_and_have_the_fewest_rows) {
    int32_t grounded_cuts = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        graph_sample s;
        int64_t rows = 0;
        int32_t cut = 0, next[GRAPH_BODIES] = {0};
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        for (int32_t j = 0; j < s.graph.joint_count; j++) {
            bool in_tree = s.width[j] == 0;
            for (int32_t i = 0; i < s.graph.body_count; i++) in_tree |= tree.parent_joint[i] == j;
            if (in_tree) continue;
            const int32_t body = moves(&s, s.a[j]) ? s.a[j] : s.b[j], c = tree.component[body];
            cr_assert(eq(i32, tree.cuts[tree.components[c].cut_first + next[c]++], j));
            grounded_cuts += !moves(&s, s.a[j]) || !moves(&s, s.b[j]);
            cut++;
        }
        for (int32_t c = 0; c < tree.component_count; c++) {
            cr_expect(eq(i32, tree.components[c].cut_count, next[c]));
            rows += tree.components[c].cut_rows;
        }
        cr_expect(eq(i32, tree.cut_count, cut));
        cr_expect(eq(i64, rows, least_cut_rows(&s)), "seed %d", (int)seed);
        sample_drop(&s, &tree);
    }
    cr_expect(lt(i32, 100, grounded_cuts),
              "the samples must have joints of two ways to the ground");
}

// With equal widths every body of a component that reaches the ground has the least depth.
Test(ground_tree, depth_is_the_distance_from_the_ground_if_all_joints_have_the_same_rows) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        graph_sample s;
        int32_t distance[NODES];
        draw_graph(&s, seed);
        for (int32_t j = 0; j < s.graph.joint_count; j++) s.width[j] = s.width[j] > 0 ? 5 : 0;
        mabd_tree tree = tree_of(&s);
        distances(&s, GRAPH_BODIES, false, distance);
        for (int32_t i = 0; i < s.graph.body_count; i++) {
            if (!s.moving[i] || distance[i] == NODES) continue;
            cr_expect(eq(i32, tree.depth[i], distance[i]), "seed %d, body %d", (int)seed, (int)i);
        }
        sample_drop(&s, &tree);
    }
}

// The farthest body of a component, from one of its bodies.
static int32_t height_from(const graph_sample* s, const mabd_tree* tree, int32_t body) {
    int32_t distance[NODES], most = 0;
    distances(s, body, true, distance);
    for (int32_t i = 0; i < s->graph.body_count; i++) {
        if (tree->component[i] == tree->component[body] && distance[i] > most) most = distance[i];
    }
    return most;
}

Test(ground_tree, a_free_root_is_the_middle_of_a_component_without_cycles) {
    int32_t roots = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        graph_sample s;
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        for (int32_t c = 0; c < tree.component_count; c++) {
            const mabd_tree_component* part = &tree.components[c];
            const int32_t root = tree.order[part->body_first + part->body_count - 1];
            if (part->inner_count != part->body_count - 1 || tree.parent_joint[root] >= 0) continue;
            const int32_t own = height_from(&s, &tree, root);
            for (int32_t i = 0; i < part->body_count; i++) {
                const int32_t other = height_from(&s, &tree, tree.order[part->body_first + i]);
                cr_expect(le(i32, own, other));
            }
            cr_expect(eq(i32, part->level_count, own + 1));
            roots += part->body_count > 2;
        }
        sample_drop(&s, &tree);
    }
    cr_expect(lt(i32, 20, roots), "the samples must have free components");
}

Test(ground_tree, levels_split_the_order_by_depth_with_the_deepest_first) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        graph_sample s;
        draw_graph(&s, seed);
        mabd_tree tree = tree_of(&s);
        check_levels(&s, &tree);
        sample_drop(&s, &tree);
    }
}

Test(ground_tree, every_failing_allocation_leaves_nothing_behind) {
    check_allocations(mabd_ground_tree_init, 12);
}

Test(ground_tree, of_joints_of_one_width_it_cuts_one_that_is_not_kept) {
    for (int32_t cut = 0; cut < 4; cut++) { // three bars in a ring with the ground
        bool keep[4] = {true, true, true, true};
        graph_sample s = {.moving = {true, true, true},
                          .a = {-1, 0, 1, 2},
                          .b = {0, 1, 2, -1},
                          .width = {5, 5, 5, 5}};
        keep[cut] = false;
        s.graph = (mabd_graph){.body_count = 3,
                               .joint_count = 4,
                               .moving = s.moving,
                               .a = s.a,
                               .b = s.b,
                               .width = s.width,
                               .keep = keep};
        mabd_tree tree = tree_of(&s);
        cr_expect(eq(int, tree.cut_count, 1));
        cr_expect(eq(int, tree.cuts[0], cut));
        sample_drop(&s, &tree);
    }
}
