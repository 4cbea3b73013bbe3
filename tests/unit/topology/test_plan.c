// SPDX-License-Identifier: Apache-2.0
// Tests for src/topology/: plans of random graphs against brute force.
#include "support/counting_allocator.h"
#include "topology/plan.h"
#include "topology/print.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct topology {
    int32_t bodies, joints;
    bool* moving;
    int32_t *a, *b, *width;
    int32_t junction_rows; // 12 or 6
} topology;

static topology make(int32_t bodies, int32_t joints) {
    topology t = {bodies, joints, malloc((size_t)bodies + 1), NULL, NULL, NULL, 12};
    size_t bytes = ((size_t)joints + 1) * sizeof(int32_t);
    t.a = malloc(bytes), t.b = malloc(bytes), t.width = malloc(bytes);
    for (int32_t i = 0; i < bodies; i++) t.moving[i] = true;
    return t;
}

static void drop(topology* t) {
    free(t->moving), free(t->a), free(t->b), free(t->width);
}

static void join(topology* t, int32_t joint, int32_t a, int32_t b, int32_t width) {
    t->a[joint] = a, t->b[joint] = b, t->width[joint] = width;
}

static mabd_status build(const mabd_allocator* allocator, const topology* t, mabd_plan** plan) {
    return mabd_plan_build(allocator, t->bodies, t->moving, t->joints, t->a, t->b, t->width,
                           t->junction_rows, plan);
}

static mabd_plan* plan_of(const topology* t) {
    mabd_allocator allocator = mabd_default_allocator();
    mabd_plan* plan = NULL;
    cr_assert(eq(int, build(&allocator, t, &plan), MABD_OK));
    return plan;
}

static uint32_t random_below(uint64_t* seed, uint32_t n) {
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((*seed >> 33) % n);
}

static bool moves(const topology* t, int32_t body) {
    return body >= 0 && t->moving[body];
}

// A random graph: every fifth body fixed, some joints to the ground, some parallel, some without
// rows.
static topology random_topology(uint64_t seed) {
    uint64_t s = seed * 7919 + 1;
    int32_t bodies = 1 + (int32_t)random_below(&s, 40);
    int32_t joints = (int32_t)random_below(&s, 1 + (uint32_t)bodies * (1 + random_below(&s, 3)));
    topology t = make(bodies, joints);
    for (int32_t i = 0; i < bodies; i++) t.moving[i] = random_below(&s, 5) != 0;
    for (int32_t j = 0; j < joints; j++) {
        int32_t a = (int32_t)random_below(&s, (uint32_t)bodies + 1) - 1;
        int32_t b = (int32_t)random_below(&s, (uint32_t)bodies + 1) - 1;
        if (j > 0 && random_below(&s, 8) == 0) a = t.b[j - 1], b = t.a[j - 1];
        if (a == b && a >= 0) b = -1;
        bool rows = moves(&t, a) || moves(&t, b);
        join(&t, j, a, b, rows ? (int32_t)random_below(&s, 7) : 0);
    }
    return t;
}

// Branching paths: body i hangs on one of the `back` bodies before it, or on nothing.
static topology random_forest(uint64_t seed, uint32_t back) {
    uint64_t s = seed * 104729 + 3;
    int32_t bodies = 1 + (int32_t)random_below(&s, 60);
    topology t = make(bodies, 2 * bodies);
    for (int32_t i = 0; i < bodies; i++) {
        int32_t reach = i < (int32_t)back ? i : (int32_t)back;
        bool hangs = reach > 0 && random_below(&s, 8) != 0;
        int32_t on = hangs ? i - 1 - (int32_t)random_below(&s, (uint32_t)reach) : -1;
        join(&t, i, on, i, on >= 0 ? 3 : 0);
        join(&t, bodies + i, i, -1, random_below(&s, 10) == 0 ? 5 : 0);
    }
    return t;
}

static int32_t find(int32_t* up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

// Return true if a body has enough rows to other moving bodies, counting one joint to each, to be a
// junction.
static bool is_junction(const topology* t, int32_t body) {
    int32_t rows = 0;
    for (int32_t j = 0; j < t->joints; j++) {
        const bool on = t->a[j] == body || t->b[j] == body;
        bool first = t->width[j] > 0;
        for (int32_t i = 0; i < j; i++) {
            const bool beside = (t->a[i] == t->a[j] && t->b[i] == t->b[j]) ||
                                (t->a[i] == t->b[j] && t->b[i] == t->a[j]);
            if (beside && t->width[i] > 0) first = false;
        }
        if (on && first && moves(t, t->a[j]) && moves(t, t->b[j])) rows += t->width[j];
    }
    return t->moving[body] && rows >= mabd_plan_junction_limit(t->junction_rows / 6);
}

static bool has_joint_on(const topology* t, const mabd_plan* plan, int32_t slot, int32_t body) {
    const int32_t joint = plan->slot_joint[slot];
    return joint >= 0 && (t->a[joint] == body || t->b[joint] == body);
}

static const mabd_plan_component* component_of(const mabd_plan* plan, int32_t slot) {
    const mabd_plan_component* c = plan->components;
    while (slot >= c->slot_first + c->slot_count) c++;
    return c;
}

// Two slots are coupled by a body that carries both; by a junction only if one is the junction's
// own, or, in a tree, if both come after these.
static bool coupled_by(const topology* t, const mabd_plan* plan, int32_t body, int32_t s,
                       int32_t u) {
    const bool own_s = plan->slot_joint[s] == -1 - body, own_u = plan->slot_joint[u] == -1 - body;
    const bool on_s = own_s || has_joint_on(t, plan, s, body);
    const bool on_u = own_u || has_joint_on(t, plan, u, body);
    if (!on_s || !on_u) return false;
    if (!is_junction(t, body) || own_s || own_u) return true;
    int32_t last = -1;
    for (int32_t k = 0; k < plan->slot_count; k++)
        last = plan->slot_joint[k] == -1 - body ? k : last;
    return component_of(plan, s)->loops == 0 && s > last && u > last;
}

static bool coupled(const topology* t, const mabd_plan* plan, int32_t s, int32_t u) {
    for (int32_t body = 0; body < t->bodies; body++) {
        if (t->moving[body] && coupled_by(t, plan, body, s, u)) return true;
    }
    return false;
}

static void check_slots(const topology* t, const mabd_plan* plan) {
    int32_t slots = 0, junctions = 0, row = 0, widest = 0;
    size_t block = 0;
    for (int32_t body = 0; body < t->bodies; body++) junctions += is_junction(t, body);
    cr_assert(eq(i32, plan->junction_count, junctions));
    for (int32_t j = 0; j < t->joints; j++) {
        int32_t slot = plan->joint_slot[j];
        cr_assert(eq(int, slot >= 0, t->width[j] > 0));
        if (slot < 0) continue;
        cr_assert(eq(i32, plan->slot_joint[slot], j));
        slots++;
    }
    slots += t->junction_rows / 6 * junctions;
    cr_assert(eq(i32, plan->slot_count, slots));
    for (int32_t s = 0; s < slots; s++) {
        const int32_t joint = plan->slot_joint[s];
        int32_t width = joint < 0 ? 6 : t->width[joint];
        bool late = joint >= 0;
        if (joint < 0) cr_assert(is_junction(t, -1 - joint));
        for (int side = 0; side < 2 && joint >= 0; side++) {
            const int32_t body = side ? t->b[joint] : t->a[joint];
            late = late && (!moves(t, body) || is_junction(t, body));
        }
        cr_assert(eq(int, plan->slot_negative[s], joint < 0));
        cr_assert(eq(int, plan->slot_late[s], late));
        cr_assert(eq(i32, plan->slot_width[s], width));
        cr_assert(eq(i32, plan->slot_row[s], row));
        cr_assert(eq(sz, plan->slot_block[s], block));
        row += width, block += (size_t)(width * width);
        if (width > widest) widest = width;
    }
    cr_assert(eq(i32, plan->row_count, row));
    cr_assert(eq(i32, plan->slot_row[slots], row));
    cr_assert(eq(sz, plan->slot_block[slots], block));
    cr_assert(eq(i32, plan->widest, widest));
}

// Every two coupled slots have exactly one edge, and no others have one.
static void check_edges(const topology* t, const mabd_plan* plan) {
    int32_t n = plan->slot_count;
    int32_t* seen = calloc((size_t)n * (size_t)n + 1, sizeof(int32_t));
    size_t block = 0;
    for (int32_t e = 0; e < plan->edge_count; e++) {
        int32_t from = plan->edge_from[e], to = plan->edge_to[e];
        cr_assert(from < to);
        if (e > 0) {
            int32_t before = plan->edge_from[e - 1];
            cr_assert(before < from || (before == from && plan->edge_to[e - 1] < to));
        }
        seen[from * n + to]++;
        cr_assert(eq(sz, plan->edge_block[e], block));
        block += (size_t)(plan->slot_width[from] * plan->slot_width[to]);
    }
    cr_assert(eq(sz, plan->edge_block[plan->edge_count], block));
    for (int32_t s = 0; s < n; s++) {
        for (int32_t u = s + 1; u < n; u++) {
            cr_assert(eq(i32, seen[s * n + u], coupled(t, plan, s, u)));
        }
    }
    free(seen);
}

// Each body lists its joints by slot, and each pair of them once with the right edge.
static void check_bodies(const topology* t, const mabd_plan* plan) {
    cr_assert(eq(i32, plan->side_start[0], 0));
    for (int32_t body = 0; body < t->bodies; body++) {
        int32_t first = plan->side_start[body], d = plan->side_start[body + 1] - first, degree = 0;
        const mabd_plan_side* sides = plan->sides + first;
        for (int32_t j = 0; j < t->joints; j++) {
            bool on = t->a[j] == body || t->b[j] == body;
            degree += on && t->width[j] > 0 && t->moving[body];
        }
        cr_assert(eq(i32, d, degree + (is_junction(t, body) ? t->junction_rows / 6 : 0)));
        cr_assert(eq(int, plan->early[body] >= 0, is_junction(t, body)));
        int32_t expected = 0;
        for (int32_t i = 0; i < d; i++) {
            int32_t joint = plan->slot_joint[sides[i].slot];
            cr_assert(eq(int, sides[i].is_b < 0, joint < 0));
            if (joint >= 0) cr_assert(eq(i32, sides[i].is_b ? t->b[joint] : t->a[joint], body));
            const int32_t own = i - plan->early[body];
            if (joint < 0) cr_assert(own >= 0 && own < t->junction_rows / 6);
            cr_assert(i == 0 || sides[i - 1].slot < sides[i].slot);
            for (int32_t k = i + 1; k < d; k++) {
                expected += coupled_by(t, plan, body, sides[i].slot, sides[k].slot);
            }
        }
        int32_t pairs = plan->pair_start[body + 1] - plan->pair_start[body];
        cr_assert(eq(i32, pairs, expected));
        char* seen = calloc((size_t)d * (size_t)d + 1, 1);
        for (int32_t k = 0; k < pairs; k++) {
            mabd_plan_pair pair = plan->pairs[plan->pair_start[body] + k];
            cr_assert(0 <= pair.i && pair.i < pair.j && pair.j < d);
            cr_assert(eq(int, seen[pair.i * d + pair.j]++, 0));
            cr_assert(coupled_by(t, plan, body, sides[pair.i].slot, sides[pair.j].slot));
            cr_assert(eq(i32, plan->edge_from[pair.edge], sides[pair.i].slot));
            cr_assert(eq(i32, plan->edge_to[pair.edge], sides[pair.j].slot));
        }
        free(seen);
    }
}

static bool joins(const topology* t, int32_t joint) {
    return t->width[joint] > 0 && moves(t, t->a[joint]) && moves(t, t->b[joint]);
}

// Return true if unmarked joints lead from a to b.
static bool connected(const topology* t, const bool* gone, int32_t a, int32_t b) {
    int32_t* up = malloc((size_t)t->bodies * sizeof(int32_t));
    for (int32_t i = 0; i < t->bodies; i++) up[i] = i;
    for (int32_t j = 0; j < t->joints; j++) {
        if (joins(t, j) && !gone[j]) up[find(up, t->a[j])] = find(up, t->b[j]);
    }
    bool result = find(up, a) == find(up, b);
    free(up);
    return result;
}

// A joint lies on two cycles if its bodies are connected by two paths that avoid it. One path
// remains when joints are removed as long as the bodies stay connected; another one avoids some
// joint of it.
static bool lies_on_two_cycles(const topology* t, int32_t joint) {
    bool* gone = calloc((size_t)t->joints, sizeof(bool));
    bool* path = calloc((size_t)t->joints, sizeof(bool));
    int32_t a = t->a[joint], b = t->b[joint];
    bool two = false;
    gone[joint] = true;
    if (connected(t, gone, a, b)) {
        for (int32_t j = 0; j < t->joints; j++) {
            if (!joins(t, j) || j == joint) continue;
            gone[j] = true;
            if (!connected(t, gone, a, b)) gone[j] = false, path[j] = true;
        }
        memset(gone, 0, (size_t)t->joints);
        gone[joint] = true;
        for (int32_t j = 0; j < t->joints && !two; j++) {
            gone[j] = gone[j] || path[j];
            two = path[j] && connected(t, gone, a, b);
            gone[j] = j == joint;
        }
    }
    free(gone), free(path);
    return two;
}

// Find the class of a body's component by union-find and counting: independent of the plan's
// search.
static mabd_component expected_class(const topology* t, int32_t* up, int32_t body, int32_t* loops) {
    int32_t root = find(up, body), bodies = 0, inner = 0, joints = 0;
    bool meet = false;
    bool thin = true;
    for (int32_t i = 0; i < t->bodies; i++) {
        if (!t->moving[i] || find(up, i) != root) continue;
        int degree = 0;
        for (int32_t j = 0; j < t->joints; j++) {
            degree += t->width[j] > 0 && (t->a[j] == i || t->b[j] == i);
        }
        thin = thin && degree <= 2;
        bodies++;
    }
    for (int32_t j = 0; j < t->joints; j++) {
        int32_t end = moves(t, t->a[j]) ? t->a[j] : t->b[j];
        if (t->width[j] == 0 || find(up, end) != root) continue;
        joints++;
        inner += moves(t, t->a[j]) && moves(t, t->b[j]);
    }
    *loops = inner - (bodies - 1);
    if (joints == 0) return MABD_COMPONENT_FREE;
    if (*loops == 0) return thin ? MABD_COMPONENT_CHAIN : MABD_COMPONENT_TREE;
    for (int32_t j = 0; j < t->joints && !meet; j++) {
        meet = joins(t, j) && find(up, t->a[j]) == root && lies_on_two_cycles(t, j);
    }
    return meet ? MABD_COMPONENT_GRAPH : MABD_COMPONENT_LOOPS;
}

static void check_component(const topology* t, const mabd_plan* plan, int32_t* up, int32_t index) {
    const mabd_plan_component* c = &plan->components[index];
    int32_t root = find(up, plan->component_bodies[c->body_first]), loops;
    cr_assert(eq(int, (int)c->kind,
                 (int)expected_class(t, up, plan->component_bodies[c->body_first], &loops)));
    cr_assert(eq(i32, c->loops, loops));
    for (int32_t i = 0; i < c->body_count; i++) {
        cr_assert(eq(i32, find(up, plan->component_bodies[c->body_first + i]), root));
    }
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        int32_t joint = plan->slot_joint[s], end = -1 - joint;
        if (joint >= 0) end = moves(t, t->a[joint]) ? t->a[joint] : t->b[joint];
        cr_assert(eq(i32, find(up, end), root));
    }
    for (int32_t e = c->edge_first; e < c->edge_first + c->edge_count; e++) {
        cr_assert(plan->edge_from[e] >= c->slot_first);
        cr_assert(plan->edge_to[e] < c->slot_first + c->slot_count);
    }
    if (c->kind != MABD_COMPONENT_CHAIN) return;
    const int32_t* path = plan->component_bodies + c->body_first;
    int32_t first = plan->slot_joint[c->slot_first], last = c->body_count - 1;
    cr_assert(last == 0 || path[0] < path[last], "chains start at their lower end");
    cr_assert(t->a[first] == path[0] || t->b[first] == path[0]);
    cr_assert(eq(i32, c->edge_count, c->slot_count - 1));
    for (int32_t i = 0; i < c->edge_count; i++) {
        cr_assert(eq(i32, plan->edge_from[c->edge_first + i], c->slot_first + i));
        cr_assert(eq(i32, plan->edge_to[c->edge_first + i], c->slot_first + i + 1));
    }
}

// Return the moving body of a joint with the lower index, or the junction.
static int32_t lowest_body(const topology* t, int32_t joint) {
    if (joint < 0) return -1 - joint;
    const int32_t a = t->a[joint], b = t->b[joint];
    if (!moves(t, a)) return b;
    return moves(t, b) && b < a ? b : a;
}

// Elimination runs leaf to root: each joint is the last one of one of its bodies. In a component
// with cycles this holds for all but the cut joints at its end. There the slots follow the bodies.
static void check_elimination(const topology* t, const mabd_plan* plan, int32_t index) {
    const mabd_plan_component* c = &plan->components[index];
    const int32_t* order = plan->elimination + c->slot_first;
    int32_t* place = malloc(((size_t)c->slot_count + 1) * sizeof(int32_t));
    const int32_t tree_end = c->slot_count - c->loops;
    int32_t cut_rows = 0;
    for (int32_t k = 0; k < c->slot_count; k++) place[k] = -1;
    for (int32_t k = 0; k < c->slot_count; k++) {
        cr_assert(order[k] >= 0 && order[k] < c->slot_count && place[order[k]] < 0);
        place[order[k]] = k;
        if (c->loops == 0) cr_assert(eq(i32, order[k], k));
        if (k >= tree_end) cut_rows += plan->slot_width[c->slot_first + order[k]];
    }
    cr_assert(eq(i32, cut_rows, c->cut_rows));
    for (int32_t k = 0; k < tree_end && c->kind != MABD_COMPONENT_CHAIN; k++) {
        const int32_t s = c->slot_first + order[k], joint = plan->slot_joint[s];
        bool last = joint < 0;
        for (int side = 0; side < 2 && joint >= 0; side++) {
            const int32_t body = side ? t->b[joint] : t->a[joint];
            int32_t top = -1;
            if (!moves(t, body)) {
                last = true;
                continue;
            }
            for (int32_t i = plan->side_start[body]; i < plan->side_start[body + 1]; i++) {
                const int32_t at = place[plan->sides[i].slot - c->slot_first];
                if (at < tree_end && at > top) top = at;
            }
            last = last || top == k;
        }
        cr_assert(last, "slot %d of component %d", s, index);
    }
    for (int32_t s = c->slot_first; s + 1 < c->slot_first + c->slot_count && c->loops > 0; s++) {
        cr_assert(lowest_body(t, plan->slot_joint[s]) <= lowest_body(t, plan->slot_joint[s + 1]));
    }
    free(place);
}

static void check(const topology* t, const mabd_plan* plan) {
    int32_t* up = malloc(((size_t)t->bodies + 1) * sizeof(int32_t));
    int32_t components = 0, lowest = -1, slot = 0, edge = 0, loops = 0;
    int32_t counts[MABD_COMPONENT_COUNT] = {0};
    for (int32_t i = 0; i < t->bodies; i++) up[i] = i;
    for (int32_t j = 0; j < t->joints; j++) {
        if (t->width[j] == 0 || !moves(t, t->a[j]) || !moves(t, t->b[j])) continue;
        up[find(up, t->a[j])] = find(up, t->b[j]);
    }
    check_slots(t, plan);
    check_edges(t, plan);
    check_bodies(t, plan);
    for (int32_t i = 0; i < t->bodies; i++) components += t->moving[i] && find(up, i) == i;
    cr_assert(eq(i32, plan->component_count, components));
    for (int32_t i = 0; i < components; i++) {
        const mabd_plan_component* c = &plan->components[i];
        int32_t low = INT32_MAX;
        for (int32_t k = 0; k < c->body_count; k++) {
            int32_t body = plan->component_bodies[c->body_first + k];
            if (body < low) low = body;
        }
        cr_assert(low > lowest, "components are numbered by their lowest body");
        lowest = low;
        cr_assert(eq(i32, c->slot_first, slot));
        cr_assert(eq(i32, c->edge_first, edge));
        slot += c->slot_count, edge += c->edge_count, loops += c->loops, counts[c->kind]++;
        check_component(t, plan, up, i);
        check_elimination(t, plan, i);
    }
    cr_assert(eq(i32, slot, plan->slot_count));
    cr_assert(eq(i32, edge, plan->edge_count));
    cr_assert(eq(i32, loops, plan->loops));
    cr_assert(eq(int, memcmp(counts, plan->counts, sizeof(counts)), 0));
    free(up);
}

// A few bodies carry most joints: adjacent junctions, attached to the ground, in trees and in
// cycles.
static topology random_junctions(uint64_t seed) {
    uint64_t s = seed * 15485863 + 5;
    const int32_t junctions = 1 + (int32_t)random_below(&s, 4);
    const int32_t bodies = junctions + 5 + (int32_t)random_below(&s, 40);
    const int32_t more = seed % 2 ? (int32_t)random_below(&s, 12) : 0;
    const int32_t held = (int32_t)random_below(&s, 6);
    topology t = make(bodies, bodies - 1 + more + held);
    int32_t joint = 0;
    for (int32_t i = 1; i < bodies; i++) {
        const int32_t width = 1 + (int32_t)random_below(&s, 6);
        join(&t, joint++, (int32_t)random_below(&s, (uint32_t)(i < junctions ? i : junctions)), i,
             width);
    }
    for (int32_t i = 0; i < more; i++) {
        const int32_t a = (int32_t)random_below(&s, (uint32_t)junctions);
        const int32_t b = (int32_t)random_below(&s, (uint32_t)bodies);
        join(&t, joint++, a, a == b ? -1 : b, 1 + (int32_t)random_below(&s, 6));
    }
    for (int32_t i = 0; i < held; i++) {
        const int32_t a = (int32_t)random_below(&s, (uint32_t)bodies);
        join(&t, joint++, -1, a, 1 + (int32_t)random_below(&s, 6));
    }
    return t;
}

Test(plan, random_junctions_agree_with_brute_force) {
    for (int32_t rows = 6; rows <= 12; rows += 6) {
        int32_t junctions = 0;
        for (uint64_t seed = 1; seed <= 200; seed++) {
            topology t = random_junctions(seed);
            t.junction_rows = rows;
            mabd_plan* plan = plan_of(&t);
            check(&t, plan);
            junctions += plan->junction_count;
            mabd_plan_destroy(plan);
            drop(&t);
        }
        cr_assert(lt(i32, 200, junctions));
    }
}

Test(plan, a_junction_has_six_or_twelve_freedoms) {
    topology t = random_junctions(1);
    mabd_allocator allocator = mabd_default_allocator();
    mabd_plan* plan = NULL;
    for (int32_t rows = 0; rows <= 13; rows++) {
        t.junction_rows = rows;
        if (rows == 6 || rows == 12) continue;
        cr_assert(eq(int, build(&allocator, &t, &plan), MABD_ERR_ARG));
        cr_assert(plan == NULL);
    }
    drop(&t);
}

Test(plan, random_graphs_agree_with_brute_force) {
    int32_t seen[MABD_COMPONENT_COUNT] = {0};
    for (uint64_t seed = 0; seed < 600; seed++) {
        topology t = random_topology(seed);
        mabd_plan* plan = plan_of(&t);
        check(&t, plan);
        for (int k = 0; k < MABD_COMPONENT_COUNT; k++) seen[k] += plan->counts[k];
        mabd_plan_destroy(plan);
        drop(&t);
    }
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) cr_assert(seen[k] > 20, "class %d", k);
}

Test(plan, random_forests_agree_with_brute_force) {
    int32_t chains = 0, trees = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        topology t = random_forest(seed, 1 + (uint32_t)(seed % 4));
        mabd_plan* plan = plan_of(&t);
        check(&t, plan);
        chains += plan->counts[MABD_COMPONENT_CHAIN];
        trees += plan->counts[MABD_COMPONENT_TREE];
        cr_assert(eq(i32, plan->loops, 0));
        mabd_plan_destroy(plan);
        drop(&t);
    }
    cr_assert(chains > 100 && trees > 100);
}

// An m x n net of bodies with a joint between neighbours has (m - 1)(n - 1) cycles.
static topology make_net(int32_t m, int32_t n) {
    topology t = make(m * n, m * (n - 1) + n * (m - 1));
    int32_t joint = 0;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            if (j + 1 < n) join(&t, joint++, i * n + j, i * n + j + 1, 3);
            if (i + 1 < m) join(&t, joint++, i * n + j, (i + 1) * n + j, 3);
        }
    }
    return t;
}

// Rings that share a body are loops however many there are, rings that share a joint are a graph.
Test(plan, cycles_that_share_a_joint_make_a_graph) {
    topology net = make_net(2, 3), rings = make(61, 80);
    for (int32_t i = 0; i < 20; i++) {
        for (int32_t k = 0; k < 4; k++) {
            int32_t first = 3 * i, body = first + k, next = k == 3 ? first : body + 1;
            join(&rings, 4 * i + k, body, next, 5);
        }
    }
    mabd_plan *meet = plan_of(&net), *apart = plan_of(&rings);
    cr_assert(eq(i32, meet->loops, 2));
    cr_assert(eq(i32, meet->counts[MABD_COMPONENT_GRAPH], 1));
    cr_assert(eq(i32, apart->loops, 20));
    cr_assert(eq(i32, apart->counts[MABD_COMPONENT_LOOPS], 1));
    check(&net, meet);
    check(&rings, apart);
    mabd_plan_destroy(meet), mabd_plan_destroy(apart);
    drop(&net), drop(&rings);
}

Test(plan, parallel_joints_share_one_edge_listed_by_both_bodies) {
    topology t = make(2, 2);
    join(&t, 0, 0, 1, 3);
    join(&t, 1, 1, 0, 2);
    mabd_plan* plan = plan_of(&t);
    cr_assert(eq(i32, plan->edge_count, 1));
    cr_assert(eq(i32, plan->pair_start[2], 2));
    cr_assert(eq(i32, plan->pairs[0].edge, 0));
    cr_assert(eq(i32, plan->pairs[1].edge, 0));
    cr_assert(eq(int, plan->components[0].kind, MABD_COMPONENT_LOOPS));
    cr_assert(eq(i32, plan->loops, 1));
    mabd_plan_destroy(plan);
    drop(&t);
}

Test(plan, a_linkage_closed_through_the_ground_is_a_chain_numbered_from_its_lower_end) {
    topology t = make(4, 4); // ground - 3 - 0 - 2 - ground, body 1 fixed
    t.moving[1] = false;
    join(&t, 0, 2, -1, 5);
    join(&t, 1, 0, 2, 4);
    join(&t, 2, 3, 0, 3);
    join(&t, 3, 1, 3, 2);
    mabd_plan* plan = plan_of(&t);
    cr_assert(eq(i32, plan->counts[MABD_COMPONENT_CHAIN], 1));
    for (int32_t s = 0; s < 4; s++) cr_assert(eq(i32, plan->slot_joint[s], s));
    int32_t expected[3] = {2, 0, 3};
    for (int i = 0; i < 3; i++) cr_assert(eq(i32, plan->component_bodies[i], expected[i]));
    mabd_plan_destroy(plan);
    drop(&t);
}

Test(plan, a_body_on_two_ground_joints_is_a_chain) {
    topology t = make(1, 2);
    join(&t, 0, -1, 0, 3);
    join(&t, 1, 0, -1, 5);
    mabd_plan* plan = plan_of(&t);
    cr_assert(eq(i32, plan->counts[MABD_COMPONENT_CHAIN], 1));
    cr_assert(eq(i32, plan->edge_count, 1));
    cr_assert(eq(i32, plan->slot_joint[0], 0));
    mabd_plan_destroy(plan);
    drop(&t);
}

Test(plan, empty_scenes_have_empty_plans) {
    topology t = make(0, 0);
    mabd_plan* plan = plan_of(&t);
    cr_assert(eq(i32, plan->component_count, 0));
    cr_assert(eq(i64, mabd_plan_sum(plan, MABD_COMPONENT_FREE).components, 0));
    mabd_plan_destroy(plan);
    drop(&t);
}

Test(plan, bad_joints_are_refused) {
    mabd_allocator allocator = mabd_default_allocator();
    int32_t cases[][3] = {{0, 0, 3}, {0, 2, 3}, {-2, 0, 3}, {0, -1, 7}, {0, -1, -1}, {1, -1, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        topology t = make(2, 1);
        t.moving[1] = false;
        join(&t, 0, cases[i][0], cases[i][1], cases[i][2]);
        mabd_plan* plan;
        cr_assert(eq(int, build(&allocator, &t, &plan), MABD_ERR_ARG), "case %zu", i);
        cr_assert(plan == NULL);
        drop(&t);
    }
}

Test(plan, equal_graphs_give_equal_hashes_and_others_do_not) {
    for (uint64_t seed = 0; seed < 50; seed++) {
        topology t = random_topology(seed);
        mabd_plan *one = plan_of(&t), *two = plan_of(&t);
        uint64_t hash = mabd_plan_hash(one);
        cr_assert(hash == mabd_plan_hash(two));
        mabd_plan_destroy(two);
        for (int32_t j = 0; j < t.joints; j++) {
            if (t.width[j] == 0) continue;
            t.width[j] = t.width[j] % 6 + 1;
            two = plan_of(&t);
            cr_assert(hash != mabd_plan_hash(two));
            mabd_plan_destroy(two);
            break;
        }
        mabd_plan_destroy(one);
        drop(&t);
    }
}

static topology make_chain(int32_t links) {
    topology t = make(links, links);
    for (int32_t j = 0; j < links; j++) join(&t, j, j - 1, j, 3);
    return t;
}

Test(plan, of_a_million_links_is_a_chain) {
    topology t = make_chain(1000000);
    mabd_plan* plan = plan_of(&t);
    cr_assert(eq(i32, plan->edge_count, 999999));
    cr_assert(eq(i32, plan->counts[MABD_COMPONENT_CHAIN], 1));
    for (int32_t e = 0; e < plan->edge_count; e++) {
        cr_assert(plan->edge_from[e] == e && plan->edge_to[e] == e + 1);
    }
    mabd_plan_destroy(plan);
    drop(&t);
}

static void* largest_alloc(void* context, size_t bytes) {
    size_t* largest = context;
    if (bytes > *largest) *largest = bytes;
    return bytes < (size_t)1 << 30 ? aligned_alloc(64, bytes) : NULL;
}

static void largest_free(void* context, void* memory, size_t bytes) {
    (void)context, (void)bytes;
    free(memory);
}

// Joints of one body to the ground form pairs with each other: 65536 is the largest number whose
// pairs fit 31 bits. The refusal comes before the pairs are visited and before any memory for them
// is requested.
Test(plan, bodies_with_too_many_pairs_are_refused) {
    size_t largest = 0;
    mabd_allocator allocator = {largest_alloc, largest_free, &largest};
    int32_t counts[] = {65537, 100000, 200000};
    for (size_t i = 0; i < 3; i++) {
        topology t = make(1, counts[i]);
        for (int32_t j = 0; j < counts[i]; j++) join(&t, j, 0, -1, 6);
        mabd_plan* plan;
        cr_assert(eq(int, build(&allocator, &t, &plan), MABD_ERR_MEMORY));
        cr_assert(plan == NULL);
        cr_assert(lt(sz, largest, 100000000));
        drop(&t);
    }
}

// Two pairs for each child and the junction's own pair, or one for each child.
Test(plan, the_pairs_of_a_junction_are_linear_in_its_joints) {
    for (int32_t children = 11; children <= 1100000; children *= 10) {
        topology t = make(children + 1, children);
        for (int32_t j = 0; j < children; j++) join(&t, j, children, j, 3);
        mabd_plan* plan = plan_of(&t);
        cr_assert(eq(i32, plan->junction_count, 1));
        cr_assert(eq(i32, plan->edge_count, 2 * children + 1));
        cr_assert(eq(i32, plan->row_count, 3 * children + 12));
        cr_assert(eq(i32, mabd_plan_joint_rows(plan), 3 * children));
        mabd_plan_destroy(plan);
        t.junction_rows = 6;
        plan = plan_of(&t);
        cr_assert(eq(i32, plan->edge_count, children));
        cr_assert(eq(i32, plan->row_count, 3 * children + 6));
        cr_assert(eq(i32, mabd_plan_joint_rows(plan), 3 * children));
        mabd_plan_destroy(plan);
        drop(&t);
    }
}

Test(plan, every_allocation_may_fail) {
    topology t = random_topology(12);
    for (int64_t fails = 0;; fails++) {
        counting_allocator counter = {.fail_at = fails};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_plan* plan;
        mabd_status status = build(&allocator, &t, &plan);
        if (status == MABD_OK) {
            cr_assert(eq(sz, (size_t)counter.live_bytes, plan->bytes), "it tells all it holds");
            mabd_plan_destroy(plan);
            cr_assert(eq(i64, counter.live_blocks, 0));
            cr_assert(eq(i64, counter.wrong_frees, 0));
            cr_assert(fails >= 3);
            break;
        }
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
        cr_assert(plan == NULL);
        cr_assert(eq(i64, counter.live_blocks, 0), "leak after failure %d", (int)fails);
    }
    drop(&t);
}

Test(plan, sums_by_class) {
    topology t = make(6, 4); // 0-1-0 two joints; 2-3 ball to the ground; 4 and 5 free
    join(&t, 0, 0, 1, 3);
    join(&t, 1, 0, 1, 2);
    join(&t, 2, 2, 3, 3);
    join(&t, 3, 3, -1, 5);
    mabd_plan* plan = plan_of(&t);
    mabd_plan_totals expected[MABD_COMPONENT_COUNT] = {
        [MABD_COMPONENT_FREE] = {.components = 2, .bodies = 2},
        [MABD_COMPONENT_CHAIN] = {1, 2, 2, 8, 0, 1, 0, 0},
        [MABD_COMPONENT_LOOPS] = {1, 2, 2, 5, 0, 1, 1, 2}, // the narrow one is cut
    };
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        mabd_plan_totals sum = mabd_plan_sum(plan, (mabd_component)k);
        cr_assert(eq(int, memcmp(&sum, &expected[k], sizeof(sum)), 0), "class %d", k);
    }
    mabd_plan_destroy(plan);
    drop(&t);
}
