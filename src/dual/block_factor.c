// SPDX-License-Identifier: Apache-2.0
//
// Direct solve by a block sparse factorisation.
//
//   create   order, analysis (block_symbolic.h), and memory for the factor, the update matrices
//            and one front
//   factor   multifrontal L d L' (block_numeric.c); D and U stay as they are
//
// Threads take parts (block_symbolic.h), which are independent of each other; the top follows them,
// and comes first in the backward pass. A thread uses one workspace for all its parts, which stays
// in its cache; there are as many workspaces as parts. Each part writes its contribution to the
// right-hand side of the top to an array of its own, `above`; contributions are added in the order
// of the parts. So the bits are the same for any number of threads.

#include "dual/block_factor.h"

#include "dual/block_analysis.h"

#include <string.h>

// Return the workspace of a part in doubles: front, scaled, least, below.
static size_t room_size_of(const mabd_dual_block_part* part) {
    const size_t wide = (size_t)part->widest, deep = (size_t)part->deepest;
    return (size_t)part->front_size + wide * (MABD_BLOCK_TILE + 1) + deep + 4 * MABD_BLOCK_TILE;
}
// A workspace is large enough for any part, the last one for the top.
static size_t room_size(const mabd_dual_block_symbolic* m, int32_t room) {
    size_t most = 0;
    if (room == m->part_count) return room_size_of(&m->parts[room]);
    for (int32_t p = 0; p < m->part_count; p++) {
        const size_t size = room_size_of(&m->parts[p]);
        if (size > most) most = size;
    }
    return most;
}
static size_t stacks_size(const mabd_dual_block_symbolic* m) {
    const size_t parts = (size_t)m->part_count * (size_t)m->stack_size;
    return parts > (size_t)m->top_size ? parts : (size_t)m->top_size;
}

static void layout(const mabd_dual_block_symbolic* m, mabd_arena* arena,
                   mabd_dual_block_solver* solver) {
    const size_t rows = (size_t)m->row_count, parts = (size_t)m->part_count + 1;
    mabd_arena_take(arena, 1, sizeof *solver);
    mabd_dual_block_factor* f = &solver->factor;
    f->L = mabd_arena_take(arena, (size_t)m->panel_size, sizeof(double));
    f->d = mabd_arena_take(arena, rows, sizeof(double));
    f->inverse = mabd_arena_take(arena, rows, sizeof(double));
    f->kept = mabd_arena_take(arena, (size_t)m->kept_size, sizeof(double));
    f->x = mabd_arena_take(arena, rows, sizeof(double));
    solver->bad = mabd_arena_take(arena, parts, sizeof *solver->bad);
    solver->above = mabd_arena_take(arena, (parts - 1) * (size_t)(m->row_count - m->top_row),
                                    sizeof *solver->above);
    solver->stacks = mabd_arena_take(arena, stacks_size(m), sizeof *solver->stacks);
    solver->rooms = mabd_arena_take(arena, parts, sizeof *solver->rooms);
    for (int32_t r = 0; r <= m->part_count; r++) {
        double* room = mabd_arena_take(arena, room_size(m, r), sizeof(double));
        if (solver->rooms) solver->rooms[r] = room;
    }
}

// Return the bytes of a solver with its values, without the analysis.
static size_t count_bytes(const mabd_dual_block_symbolic* symbolic) {
    mabd_dual_block_solver counts;
    mabd_arena arena = {NULL, 0, 0};
    layout(symbolic, &arena, &counts);
    return arena.used;
}

static mabd_status block_create_from(const mabd_allocator* allocator,
                                     const mabd_dual_system* system,
                                     mabd_dual_block_symbolic* symbolic, void** out) {
    (void)system;
    *out = NULL;
    mabd_arena arena = {NULL, count_bytes(symbolic), 0};
    if (arena.size != SIZE_MAX) arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) {
        mabd_dual_block_symbolic_destroy(allocator, symbolic);
        return MABD_ERR_MEMORY;
    }
    mabd_dual_block_solver* solver = (mabd_dual_block_solver*)(void*)arena.memory;
    layout(symbolic, &arena, solver);
    solver->factor.symbolic = solver->symbolic = symbolic;
    solver->kernels = mabd_dual_block_kernels_of(mabd_isa_count() - 1);
    solver->bytes = arena.size;
    *out = solver;
    return MABD_OK;
}

static mabd_status block_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                void** out) {
    mabd_dual_block_analysis analysis;
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    MABD_TRY(mabd_dual_block_prepare(allocator, system, &analysis));
    return block_create_from(allocator, system, analysis.symbolic, out);
}

static size_t held_bytes(int64_t capacity) {
    return mabd_bytes((size_t)capacity, sizeof(double));
}

static void block_destroy(const mabd_allocator* allocator, void* object) {
    mabd_dual_block_solver* solver = object;
    if (!solver) return;
    if (solver->rounds) {
        mabd_free(allocator, solver->rounds->held, held_bytes(solver->rounds->held_capacity));
        mabd_free(allocator, solver->rounds, solver->rounds->bytes);
    }
    mabd_dual_block_symbolic_destroy(allocator, solver->symbolic);
    mabd_free(allocator, solver, solver->bytes);
}

static size_t block_bytes(const void* object) {
    const mabd_dual_block_solver* solver = object;
    const mabd_dual_block_rounds* r = solver->rounds;
    const size_t rounds = r ? r->bytes + held_bytes(r->held_capacity) : 0;
    return solver->bytes + solver->symbolic->bytes + rounds;
}

static size_t block_bytes_from(const mabd_dual_system* system,
                               const mabd_dual_block_symbolic* symbolic) {
    const size_t own = count_bytes(symbolic);
    (void)system;
    return own > SIZE_MAX - symbolic->bytes ? SIZE_MAX : own + symbolic->bytes;
}

static size_t block_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    mabd_dual_block_analysis analysis;
    if (mabd_dual_block_prepare(allocator, system, &analysis) != MABD_OK) return SIZE_MAX;
    const size_t bytes = block_bytes_from(system, analysis.symbolic);
    mabd_dual_block_symbolic_destroy(allocator, analysis.symbolic);
    return bytes;
}

static int32_t slot_of_row(const mabd_dual_block_symbolic* symbolic, int32_t row) {
    const mabd_dual_block_slot* s = symbolic->slots;
    while (row >= s->first + s->width) s++;
    return s->slot;
}

double mabd_dual_block_least_pivot(const void* object, int32_t* slot) {
    const mabd_dual_block_solver* solver = object;
    int32_t row = 0;
    for (int32_t i = 1; i < solver->symbolic->row_count; i++) {
        if (solver->factor.d[i] < solver->factor.d[row]) row = i;
    }
    *slot = slot_of_row(solver->symbolic, row);
    return solver->factor.d[row];
}

// ---- parts -------------------------------------------------------------------------------------

typedef struct block_job {
    mabd_dual_block_solver* solver;
    const mabd_dual_system* system;
    mabd_real* x; // null = no right-hand side
    mabd_dual_block_pass pass;
} block_job;

static double* above_of(const block_job* job, int32_t p) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    return job->solver->above + (int64_t)p * (m->row_count - m->top_row);
}

// Return the factor as a part sees it that a thread processes.
static mabd_dual_block_factor view_of(const block_job* job, int32_t p, int32_t thread) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    const mabd_dual_block_part* part = &m->parts[p];
    const bool crowd = p == m->part_count || mabd_pool_threads(job->system->pool) > m->part_count;
    const int32_t room = crowd ? p : thread;
    mabd_dual_block_factor f = job->solver->factor;
    double* next = job->solver->rooms[room];
    f.stack = job->solver->stacks + (p < m->part_count ? room * m->stack_size : 0);
    f.front = next, next += (part->front_size + 7) / 8 * 8;
    f.scaled = next, next += part->widest * MABD_BLOCK_TILE;
    f.least = next, next += part->widest;
    f.below = next;
    f.above = p < m->part_count ? above_of(job, p) : f.x + m->top_row;
    f.pool = p < m->part_count ? NULL : job->system->pool;
    f.pass = job->pass;
    if (job->pass != MABD_BLOCK_ALL) {
        f.touched = job->solver->rounds->touched;
        f.held_at = job->solver->rounds->held_at, f.held = job->solver->rounds->held;
    }
    return f;
}

// Return the end of the slots of a part, which start at *first.
static const mabd_dual_block_slot* slots_end(const block_job* job, const mabd_dual_block_part* part,
                                             const mabd_dual_block_slot** first) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    *first = m->slots;
    if (part->first == part->last) return m->slots;
    const mabd_dual_block_node* last = &m->nodes[part->last - 1];
    *first += m->nodes[part->first].slot;
    return m->slots + last->slot + last->slot_count;
}

static bool is_touched(const block_job* job, int32_t node) {
    return job->solver->rounds->touched[node] != 0;
}

// Copy the right-hand side of the touched nodes of a part into elimination order, on top of what
// untouched nodes add to it; or in the first round that of untouched nodes.
static void take_some(const block_job* job, const mabd_dual_block_part* part) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    const bool base = job->pass == MABD_BLOCK_BASE;
    for (int32_t n = part->first; n < part->last; n++) {
        const mabd_dual_block_node* node = &m->nodes[n];
        double* to = job->solver->factor.x + node->row;
        const double* below = job->solver->rounds->below + node->row;
        if (!base && !is_touched(job, n)) continue;
        for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
            const mabd_dual_block_slot* s = &m->slots[k];
            for (int32_t r = 0; r < s->width; r++, to++, below++) {
                const double b = (double)job->x[s->row + r];
                *to = !base ? b + *below : is_touched(job, n) ? 0 : b;
            }
        }
    }
}

// Copy the right-hand side of a part into elimination order.
static void take(const block_job* job, const mabd_dual_block_part* part) {
    const mabd_dual_block_slot *s, *end = slots_end(job, part, &s);
    if (job->pass != MABD_BLOCK_ALL) {
        take_some(job, part);
        return;
    }
    for (; s < end; s++) {
        const mabd_real* from = job->x + s->row;
        double* to = job->solver->factor.x + s->first;
        for (int32_t r = 0; r < s->width; r++) to[r] = (double)from[r];
    }
}

// Copy the solution at the nodes of a pass into the system's order; or back (`known`) at the other
// nodes.
static void give_some(const block_job* job, const mabd_dual_block_part* part, bool known) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    const bool touched = (job->pass == MABD_BLOCK_TOUCHED) != known;
    for (int32_t n = part->first; n < part->last; n++) {
        const mabd_dual_block_node* node = &m->nodes[n];
        if (is_touched(job, n) != touched) continue;
        for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
            double* x = job->solver->factor.x + m->slots[k].first;
            mabd_real* lambda = job->x + m->slots[k].row;
            for (int32_t r = 0; r < m->slots[k].width; r++) {
                if (known) {
                    x[r] = (double)lambda[r];
                } else {
                    lambda[r] = (mabd_real)x[r];
                }
            }
        }
    }
}

// Copy the solution of a part into the system's order.
static void give(const block_job* job, const mabd_dual_block_part* part) {
    const mabd_dual_block_slot *s, *end = slots_end(job, part, &s);
    if (job->pass != MABD_BLOCK_ALL) {
        give_some(job, part, false);
        return;
    }
    for (; s < end; s++) {
        const double* from = job->solver->factor.x + s->first;
        mabd_real* to = job->x + s->row;
        for (int32_t r = 0; r < s->width; r++) to[r] = (mabd_real)from[r];
    }
}

// Add the contribution of a part at the rows below one of its roots to x of the top, and clear it.
static void add_above(const block_job* job, int32_t p, const mabd_dual_block_node* root) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    double* above = above_of(job, p);
    for (int32_t i = root->run; i < root->run + root->run_count; i++) {
        const mabd_dual_block_run* run = &m->runs[i];
        double *to = job->solver->factor.x + run->row, *from = above + (run->row - m->top_row);
        for (int32_t r = 0; r < run->length; r++) to[r] += from[r], from[r] = 0;
    }
}

// Build the right-hand side of the top, once all parts are done.
static void take_top(const block_job* job) {
    const mabd_dual_block_symbolic* m = job->solver->symbolic;
    const mabd_dual_block_part* top = &m->parts[m->part_count];
    take(job, top);
    for (int32_t s = top->first; s < top->last; s++) {
        const mabd_dual_block_node* node = &m->nodes[s];
        int32_t p = 0;
        for (int32_t i = node->child; i < node->child + node->child_count; i++) {
            const int32_t child = m->children[i];
            if (child >= top->first) break;
            while (child >= m->parts[p].last) p++;
            add_above(job, p, &m->nodes[child]);
        }
    }
}

static void factor_part(void* context, int32_t p, int32_t thread) {
    const block_job* job = context;
    const mabd_dual_block_factor f = view_of(job, p, thread);
    const mabd_dual_block_part* part = &job->solver->symbolic->parts[p];
    if (job->x && p < job->solver->symbolic->part_count) take(job, part);
    job->solver->bad[p] = job->solver->kernels->factor(&f, job->system, part, job->x != NULL);
}

static void forward_part(void* context, int32_t p, int32_t thread) {
    const block_job* job = context;
    const mabd_dual_block_factor f = view_of(job, p, thread);
    const mabd_dual_block_part* part = &job->solver->symbolic->parts[p];
    if (p < job->solver->symbolic->part_count) take(job, part);
    job->solver->kernels->forward(&f, part);
}

static void backward_part(void* context, int32_t p, int32_t thread) {
    const block_job* job = context;
    const mabd_dual_block_factor f = view_of(job, p, thread);
    const mabd_dual_block_part* part = &job->solver->symbolic->parts[p];
    job->solver->kernels->backward(&f, part);
    give(job, part);
}

// ---- factor and solve --------------------------------------------------------------------------

// If several parts fail, report the first.
static mabd_status factor_job(block_job* job, int32_t* bad) {
    mabd_dual_block_solver* solver = job->solver;
    const int32_t parts = solver->symbolic->part_count;
    int32_t failed = -1;
    mabd_pool_run(job->system->pool, parts, factor_part, job);
    for (int32_t p = 0; p < parts && failed < 0; p++) failed = solver->bad[p];
    if (job->x) take_top(job);
    if (failed < 0) {
        factor_part(job, parts, 0);
        failed = solver->bad[parts];
    }
    if (failed < 0) return MABD_OK;
    if (bad) *bad = slot_of_row(solver->symbolic, failed);
    return MABD_ERR_SINGULAR;
}

static mabd_status block_factor_with(void* object, const mabd_dual_system* system, mabd_real* b,
                                     int32_t* bad) {
    mabd_dual_block_solver* solver = object;
    block_job job = {solver, system, b, MABD_BLOCK_ALL};
    return factor_job(&job, bad);
}

static mabd_status block_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    return block_factor_with(object, system, NULL, bad);
}

static void backward_job(block_job* job) {
    const int32_t parts = job->solver->symbolic->part_count;
    backward_part(job, parts, 0);
    mabd_pool_run(job->system->pool, parts, backward_part, job);
}

static void forward_job(block_job* job) {
    const int32_t parts = job->solver->symbolic->part_count;
    mabd_pool_run(job->system->pool, parts, forward_part, job);
    take_top(job);
    forward_part(job, parts, 0);
}

static void block_solve_rest(void* object, const mabd_dual_system* system, mabd_real* x) {
    block_job job = {object, system, x, MABD_BLOCK_ALL};
    backward_job(&job);
}

static void block_solve(void* object, const mabd_dual_system* system, mabd_real* x) {
    block_job job = {object, system, x, MABD_BLOCK_ALL};
    forward_job(&job);
    backward_job(&job);
}

// ---- rounds ------------------------------------------------------------------------------------
// The touched nodes are those of touched slots and all their ancestors. Update matrices that
// untouched nodes pass on to touched ones are held; `below` is what they add to the right-hand side
// there.

static void rounds_layout(const mabd_dual_block_symbolic* m, mabd_arena* arena,
                          mabd_dual_block_rounds* r) {
    mabd_arena_take(arena, 1, sizeof *r);
    r->touched = mabd_arena_take(arena, (size_t)m->node_count, sizeof *r->touched);
    r->held_at = mabd_arena_take(arena, (size_t)m->node_count, sizeof *r->held_at);
    r->below = mabd_arena_take(arena, (size_t)m->row_count, sizeof *r->below);
}

static mabd_status rounds_create(const mabd_allocator* allocator, mabd_dual_block_solver* solver) {
    mabd_dual_block_rounds counts = {0};
    mabd_arena arena = {NULL, 0, 0};
    if (solver->rounds) return MABD_OK;
    rounds_layout(solver->symbolic, &arena, &counts);
    arena.size = arena.used;
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    solver->rounds = (mabd_dual_block_rounds*)(void*)arena.memory;
    rounds_layout(solver->symbolic, &arena, solver->rounds);
    solver->rounds->bytes = arena.size;
    return MABD_OK;
}

// Mark touched nodes and place the update matrices to be held. Returns the size of these.
static int64_t mark_nodes(const mabd_dual_block_symbolic* m, const uint8_t* slots,
                          mabd_dual_block_rounds* r) {
    int64_t size = 0;
    for (int32_t n = 0; n < m->node_count; n++) {
        const mabd_dual_block_node* node = &m->nodes[n];
        const int32_t* children = m->children + node->child;
        r->touched[n] = 0, r->held_at[n] = -1;
        for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
            r->touched[n] |= slots[m->slots[k].slot] != 0;
        }
        for (int32_t i = 0; i < node->child_count; i++) r->touched[n] |= r->touched[children[i]];
        for (int32_t i = 0; i < node->child_count && r->touched[n]; i++) {
            const mabd_dual_block_node* child = &m->nodes[children[i]];
            const int64_t deep = MABD_BLOCK_PAD(child->below);
            if (r->touched[children[i]] || child->kept) continue;
            r->held_at[children[i]] = size, size += deep * deep;
        }
    }
    return size;
}

static mabd_status rounds_touch(const mabd_allocator* allocator, void* object,
                                const uint8_t* touched) {
    mabd_dual_block_solver* solver = object;
    MABD_TRY(rounds_create(allocator, solver));
    mabd_dual_block_rounds* r = solver->rounds;
    const int64_t size = mark_nodes(solver->symbolic, touched, r);
    if (size <= r->held_capacity) return MABD_OK;
    mabd_free(allocator, r->held, held_bytes(r->held_capacity));
    r->held_capacity = 0;
    r->held = mabd_alloc(allocator, held_bytes(size));
    if (!r->held) return MABD_ERR_MEMORY;
    r->held_capacity = size;
    return MABD_OK;
}

static mabd_status rounds_begin(void* object, const mabd_dual_system* system, mabd_real* x,
                                int32_t* bad) {
    mabd_dual_block_solver* solver = object;
    const mabd_dual_block_symbolic* m = solver->symbolic;
    block_job job = {solver, system, x, MABD_BLOCK_BASE};
    const mabd_status status = factor_job(&job, bad);
    for (int32_t n = 0; n < m->node_count; n++) {
        if (!solver->rounds->touched[n]) continue;
        const int32_t row = m->nodes[n].row;
        memcpy(solver->rounds->below + row, solver->factor.x + row,
               (size_t)m->nodes[n].width * sizeof(double));
    }
    return status;
}

static mabd_status rounds_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    block_job job = {object, system, NULL, MABD_BLOCK_TOUCHED};
    return factor_job(&job, bad);
}

static void rounds_solve(void* object, const mabd_dual_system* system, mabd_real* x) {
    block_job job = {object, system, x, MABD_BLOCK_TOUCHED};
    forward_job(&job);
    backward_job(&job);
}

static void rounds_complete(void* object, const mabd_dual_system* system, mabd_real* x) {
    mabd_dual_block_solver* solver = object;
    block_job job = {solver, system, x, MABD_BLOCK_UNTOUCHED};
    for (int32_t p = 0; p <= solver->symbolic->part_count; p++) {
        give_some(&job, &solver->symbolic->parts[p], true);
    }
    backward_job(&job);
}

static const mabd_dual_rounds rounds = {.touch = rounds_touch,
                                        .begin = rounds_begin,
                                        .factor = rounds_factor,
                                        .solve = rounds_solve,
                                        .complete = rounds_complete};

const mabd_dual_ops mabd_dual_block = {
    .name = "block",
    .keeps_system = true,
    .shares_work = true,
    .create = block_create,
    .create_from = block_create_from,
    .factor = block_factor,
    .solve = block_solve,
    .factor_with = block_factor_with,
    .solve_rest = block_solve_rest,
    .destroy = block_destroy,
    .bytes = block_bytes,
    .bytes_for = block_bytes_for,
    .bytes_from = block_bytes_from,
    .rounds = &rounds,
};
