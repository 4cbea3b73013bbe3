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

static void block_destroy(const mabd_allocator* allocator, void* object) {
    mabd_dual_block_solver* solver = object;
    if (!solver) return;
    mabd_dual_block_symbolic_destroy(allocator, solver->symbolic);
    mabd_free(allocator, solver, solver->bytes);
}

static size_t block_bytes(const void* object) {
    const mabd_dual_block_solver* solver = object;
    return solver->bytes + solver->symbolic->bytes;
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

// Copy the right-hand side of a part into elimination order.
static void take(const block_job* job, const mabd_dual_block_part* part) {
    const mabd_dual_block_slot *s, *end = slots_end(job, part, &s);
    for (; s < end; s++) {
        const mabd_real* from = job->x + s->row;
        double* to = job->solver->factor.x + s->first;
        for (int32_t r = 0; r < s->width; r++) to[r] = (double)from[r];
    }
}

// Copy the solution of a part into the system's order.
static void give(const block_job* job, const mabd_dual_block_part* part) {
    const mabd_dual_block_slot *s, *end = slots_end(job, part, &s);
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
static mabd_status block_factor_with(void* object, const mabd_dual_system* system, mabd_real* b,
                                     int32_t* bad) {
    mabd_dual_block_solver* solver = object;
    block_job job = {solver, system, b};
    const int32_t parts = solver->symbolic->part_count;
    int32_t failed = -1;
    mabd_pool_run(system->pool, parts, factor_part, &job);
    for (int32_t p = 0; p < parts && failed < 0; p++) failed = solver->bad[p];
    if (b) take_top(&job);
    if (failed < 0) {
        factor_part(&job, parts, 0);
        failed = solver->bad[parts];
    }
    if (failed < 0) return MABD_OK;
    if (bad) *bad = slot_of_row(solver->symbolic, failed);
    return MABD_ERR_SINGULAR;
}

static mabd_status block_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    return block_factor_with(object, system, NULL, bad);
}

static void block_solve_rest(void* object, const mabd_dual_system* system, mabd_real* x) {
    mabd_dual_block_solver* solver = object;
    block_job job = {solver, system, x};
    backward_part(&job, solver->symbolic->part_count, 0);
    mabd_pool_run(system->pool, solver->symbolic->part_count, backward_part, &job);
}

static void block_solve(void* object, const mabd_dual_system* system, mabd_real* x) {
    mabd_dual_block_solver* solver = object;
    block_job job = {solver, system, x};
    mabd_pool_run(system->pool, solver->symbolic->part_count, forward_part, &job);
    take_top(&job);
    forward_part(&job, solver->symbolic->part_count, 0);
    block_solve_rest(object, system, x);
}

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
};
