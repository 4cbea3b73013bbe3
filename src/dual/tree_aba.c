// SPDX-License-Identifier: Apache-2.0
//
// Direct solve of a tree's dual system: elimination from the leaves to the root, in place.
//
// The plan numbers the joints of a tree so that the joint of a body towards the root comes after all its
// others. So when slot s is eliminated, all slots t1 < t2 < .. that it is still coupled with lie on one body,
// the one towards the root, and are coupled with each other already: there is no fill, and the blocks of L are
// where those of K were. This is the articulated-body elimination in the dual space: with the joints c of a
// body to its children and its joint u to the root,
//
//   Lambda_u = G_uu - G_uc (G_cc + diag Lambda_c)^-1 G_cu        G = J H^-1 J' of the body
//
// one child at a time. One child is block Thomas. (Algorithm 2 of [MABD] drops the offset between the frames of
// a body; this is the exact Schur complement.) Of a hub the slots are not its joints but its 12 freedoms, with
// negative pivots: elimination of a child subtracts from -H, which is the primal accumulation
// H + sum J' Lambda_c^-1 J of articulated bodies, and costs the same for each child.
//
// What is done to one slot is in tree_numeric.c.

#include "dual/tree_numeric.h"

typedef struct tree {
    size_t bytes;
    const mabd_tree_kernels* kernels;
    int32_t start[]; // edges of a slot (slot_count + 1)
} tree;

static size_t tree_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    (void)allocator;
    return mabd_bytes(sizeof(tree) + ((size_t)system->slot_count + 1) * sizeof(int32_t), 1);
}

// True if the later neighbours of every slot are each other's first ones: elimination makes no fill.
static bool is_tree(const mabd_dual_system* system, const int32_t* start) {
    for (int32_t s = 0; s < system->slot_count; s++) {
        for (int32_t e = start[s]; e + 1 < start[s + 1]; e++) {
            const int32_t t = system->to[e] - system->slot_offset;
            const int32_t rest = start[s + 1] - e - 1; // neighbours of s after t
            if (start[t + 1] - start[t] < rest) return false;
            for (int32_t k = 0; k < rest; k++) {
                if (system->to[start[t] + k] != system->to[e + 1 + k]) return false;
            }
        }
    }
    return true;
}

static mabd_status tree_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                               void** solver) {
    *solver = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    const size_t bytes = tree_bytes_for(allocator, system);
    tree* t = mabd_alloc(allocator, bytes);
    if (!t) return MABD_ERR_MEMORY;
    t->bytes = bytes;
    t->kernels = mabd_tree_kernels_of(mabd_isa_count() - 1);
    for (int32_t s = 0, e = 0; s <= system->slot_count; s++) {
        while (e < system->edge_count && system->from[e] - system->slot_offset < s) e++;
        t->start[s] = e;
    }
    if (!is_tree(system, t->start)) {
        mabd_free(allocator, t, bytes);
        return MABD_ERR_ARG;
    }
    *solver = t;
    return MABD_OK;
}

static void tree_destroy(const mabd_allocator* allocator, void* solver) {
    tree* t = solver;
    if (t) mabd_free(allocator, t, t->bytes);
}

static size_t tree_bytes(const void* solver) {
    return ((const tree*)solver)->bytes;
}

// ---- factor and solve --------------------------------------------------------------------------

static mabd_status tree_factor_with(void* solver, const mabd_dual_system* system, mabd_real* x,
                                    int32_t* bad) {
    const tree* t = solver;
    for (int32_t s = 0; s < system->slot_count; s++) {
        if (t->kernels->eliminate(system, t->start, s, x)) continue;
        if (bad) *bad = s;
        return MABD_ERR_SINGULAR;
    }
    return MABD_OK;
}

static mabd_status tree_factor(void* solver, const mabd_dual_system* system, int32_t* bad) {
    return tree_factor_with(solver, system, NULL, bad);
}

static void tree_solve_rest(void* solver, const mabd_dual_system* system, mabd_real* x) {
    const tree* t = solver;
    for (int32_t s = system->slot_count - 1; s >= 0; s--) t->kernels->back(system, t->start, s, x);
}

static void tree_solve(void* solver, const mabd_dual_system* system, mabd_real* x) {
    const tree* t = solver;
    for (int32_t s = 0; s < system->slot_count; s++) t->kernels->forward(system, t->start, s, x);
    tree_solve_rest(solver, system, x);
}

const mabd_dual_ops mabd_dual_tree = {
    .name = "tree",
    .keeps_system = false,
    .create = tree_create,
    .factor = tree_factor,
    .solve = tree_solve,
    .factor_with = tree_factor_with,
    .solve_rest = tree_solve_rest,
    .destroy = tree_destroy,
    .bytes = tree_bytes,
    .bytes_for = tree_bytes_for,
};
