// SPDX-License-Identifier: Apache-2.0
//
// Direct solve of a tree's dual system: elimination from the leaves to the root, in place.
//
// The plan numbers the joints of a tree so that the joint of a body towards the root comes after
// all its others. So when slot s is eliminated, all slots t1 < t2 < .. that it is still coupled
// with lie on one body, the one towards the root, and are coupled with each other already: there is
// no fill, and the blocks of L are where those of K were. This is the articulated-body elimination
// in the dual space: with the joints c of a body to its children and its joint u to the root,
//
//   Lambda_u = G_uu - G_uc (G_cc + diag Lambda_c)^-1 G_cu        G = J H^-1 J' of the body
//
// one child at a time. One child is block Thomas. (Algorithm 2 of [MABD] drops the offset between
// the frames of a body; this is the exact Schur complement.) Of a junction the slots are not its
// joints but its 12 freedoms, with negative pivots: elimination of a child subtracts from -H, which
// is the primal accumulation H + sum J' Lambda_c^-1 J of articulated bodies, and costs the same for
// each child.
//
// The elimination of one slot is in tree_kernel.h.
//
// A large tree is cut into parts (tree_parts.h), which threads process; the top follows them, and
// comes first in the backward pass.

#include "dual/tree_kernel.h"
#include "dual/tree_numeric.h"
#include "dual/tree_parts.h"

typedef struct tree {
    size_t bytes;
    const mabd_dual_tree_kernels* kernels;
    mabd_dual_tree_parts parts;
    int32_t* bad;   // slot whose pivot failed in a part, INT32_MAX = none (parts.count)
    int32_t* start; // edges of a slot (slot_count + 1)
} tree;

static void tree_layout(int32_t slot_count, mabd_arena* arena, tree* t) {
    mabd_arena_take(arena, 1, sizeof *t);
    t->start = mabd_arena_take(arena, (size_t)slot_count + 1, sizeof *t->start);
    t->bad = mabd_arena_take(arena, (size_t)mabd_dual_tree_parts_most(slot_count), sizeof *t->bad);
    mabd_dual_tree_parts_layout(slot_count, arena, &t->parts);
}

static size_t tree_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    mabd_arena arena = {NULL, 0, 0};
    tree counts;
    (void)allocator;
    tree_layout(system->slot_count, &arena, &counts);
    return arena.used;
}

static mabd_status tree_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                               void** solver) {
    *solver = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    mabd_arena arena = {.size = tree_bytes_for(allocator, system)};
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    tree* t = (tree*)(void*)arena.memory;
    tree_layout(system->slot_count, &arena, t);
    t->bytes = arena.size;
    t->kernels = mabd_dual_tree_kernels_of(mabd_isa_count() - 1);
    for (int32_t s = 0, e = 0; s <= system->slot_count; s++) {
        while (e < system->edge_count && system->from[e] - system->slot_offset < s) e++;
        t->start[s] = e;
    }
    mabd_status status = mabd_dual_tree_fits(system, t->start) ? MABD_OK : MABD_ERR_ARG;
    if (status == MABD_OK)
        status = mabd_dual_tree_parts_find(allocator, system, t->start, &t->parts);
    if (status == MABD_OK) {
        *solver = t;
    } else {
        mabd_free(allocator, t, t->bytes);
    }
    return status;
}

static void tree_destroy(const mabd_allocator* allocator, void* solver) {
    tree* t = solver;
    if (t) mabd_free(allocator, t, t->bytes);
}

static size_t tree_bytes(const void* solver) {
    return ((const tree*)solver)->bytes;
}

// ---- factor ------------------------------------------------------------------------------------

typedef struct tree_job {
    tree* t;
    const mabd_dual_system* system;
    mabd_real* x;
} tree_job;

// Factor the slots of a range that are not in the top; return the one whose pivot fails, INT32_MAX
// = none.
static int32_t factor_range(const tree_job* job, int32_t part) {
    const mabd_dual_tree_parts* parts = &job->t->parts;
    const int32_t *top = parts->top + parts->top_first[part],
                  *end = parts->top + parts->top_first[part + 1];
    for (int32_t s = parts->first[part]; s < parts->first[part + 1]; s++) {
        if (top < end && *top == s) {
            top++;
        } else if (!job->t->kernels->eliminate(job->system, job->t->start, s, job->x)) {
            return s;
        }
    }
    return INT32_MAX;
}

static void factor_part(void* context, int32_t part, int32_t thread) {
    const tree_job* job = context;
    (void)thread;
    job->t->bad[part] = factor_range(job, part);
}

// If several slots fail, report the lowest: it depends on lower slots only.
static mabd_status tree_factor_with(void* solver, const mabd_dual_system* system, mabd_real* x,
                                    int32_t* bad) {
    tree* t = solver;
    const mabd_dual_tree_parts* parts = &t->parts;
    tree_job job = {t, system, x};
    int32_t failed = INT32_MAX;
    mabd_pool_run(system->pool, parts->count, factor_part, &job);
    for (int32_t p = 0; p < parts->count; p++) failed = t->bad[p] < failed ? t->bad[p] : failed;
    for (int32_t i = 0; i < parts->top_first[parts->count] && parts->top[i] < failed; i++) {
        if (!t->kernels->eliminate(system, t->start, parts->top[i], x)) failed = parts->top[i];
    }
    if (failed == INT32_MAX) return MABD_OK;
    if (bad) *bad = failed;
    return MABD_ERR_SINGULAR;
}

static mabd_status tree_factor(void* solver, const mabd_dual_system* system, int32_t* bad) {
    return tree_factor_with(solver, system, NULL, bad);
}

// ---- solve -------------------------------------------------------------------------------------

static void back_any(const tree_job* job, int32_t s) {
    job->t->kernels->back(job->system, job->t->start, s, job->x);
}

static void back_part(void* context, int32_t part, int32_t thread) {
    const tree_job* job = context;
    const mabd_dual_tree_parts* parts = &job->t->parts;
    int32_t top = parts->top_first[part + 1] - 1;
    (void)thread;
    for (int32_t s = parts->first[part + 1] - 1; s >= parts->first[part]; s--) {
        if (top >= parts->top_first[part] && parts->top[top] == s) {
            top--;
        } else {
            back_any(job, s);
        }
    }
}

static void tree_solve_rest(void* solver, const mabd_dual_system* system, mabd_real* x) {
    const mabd_dual_tree_parts* parts = &((tree*)solver)->parts;
    tree_job job = {solver, system, x};
    for (int32_t i = parts->top_first[parts->count] - 1; i >= 0; i--) back_any(&job, parts->top[i]);
    mabd_pool_run(system->pool, parts->count, back_part, &job);
}

static void forward_any(const tree_job* job, int32_t s) {
    job->t->kernels->forward(job->system, job->t->start, s, job->x);
}

static void forward_part(void* context, int32_t part, int32_t thread) {
    const tree_job* job = context;
    const mabd_dual_tree_parts* parts = &job->t->parts;
    int32_t top = parts->top_first[part];
    (void)thread;
    for (int32_t s = parts->first[part]; s < parts->first[part + 1]; s++) {
        if (top < parts->top_first[part + 1] && parts->top[top] == s) {
            top++;
        } else {
            forward_any(job, s);
        }
    }
}

static void tree_solve(void* solver, const mabd_dual_system* system, mabd_real* x) {
    const mabd_dual_tree_parts* parts = &((tree*)solver)->parts;
    tree_job job = {solver, system, x};
    mabd_pool_run(system->pool, parts->count, forward_part, &job);
    for (int32_t i = 0; i < parts->top_first[parts->count]; i++) forward_any(&job, parts->top[i]);
    tree_solve_rest(solver, system, x);
}

const mabd_dual_ops mabd_dual_tree = {
    .name = "tree",
    .keeps_system = false,
    .shares_work = true,
    .create = tree_create,
    .factor = tree_factor,
    .solve = tree_solve,
    .factor_with = tree_factor_with,
    .solve_rest = tree_solve_rest,
    .destroy = tree_destroy,
    .bytes = tree_bytes,
    .bytes_for = tree_bytes_for,
};
