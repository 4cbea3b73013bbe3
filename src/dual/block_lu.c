// SPDX-License-Identifier: Apache-2.0
//
// Create, factor and solve.
//
// Chains in the order of their slots are factored by chain_lu.h; all else:
//
//   create   order (the caller's, or the cheaper one of two: the cheapest of block_order.h, and the
//            system's own), analysis (block_symbolic.h), memory
//   factor   scale of every column, then the fronts (block_lu_numeric.c)
//
// A front with w rows eliminated and r below takes 2 w^3 / 3 + 2 w^2 r + 2 w r^2 operations, twice
// those of a symmetric factor.

#include "dual/block_lu.h"

#include "dual/block_lu_numeric.h"
#include "dual/block_order.h"
#include "dual/magnitude.h"
#include "dual/order_pivots.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PROTOTYPES(isa) MABD_LU_PROTOTYPES(isa);
#define TABLE(isa)                                                                                 \
    {MABD_LU_JOIN(factor, isa), MABD_LU_JOIN(solve, isa), MABD_LU_JOIN(solve_transposed, isa)},

MABD_ISA_EACH(PROTOTYPES)
static const mabd_dual_lu_kernels tables[] = {MABD_ISA_EACH(TABLE)};

const mabd_dual_lu_kernels* mabd_dual_lu_kernels_of(int32_t isa) {
    return &tables[isa];
}

// ---- order -------------------------------------------------------------------------------------

// Keep the cheaper one of two orders in `best`; *count gets its cost.
static mabd_status compare(const mabd_allocator* allocator, const mabd_dual_system* system,
                           int32_t* best, const int32_t* other, mabd_dual_block_count* count) {
    mabd_dual_block_count cost;
    MABD_TRY(mabd_dual_block_cost(allocator, system, best, DBL_MAX, count));
    MABD_TRY(mabd_dual_block_cost(allocator, system, other, count->flops, &cost));
    if (cost.entries == 0 || cost.flops >= count->flops) return MABD_OK;
    memcpy(best, other, (size_t)system->slot_count * sizeof *best);
    *count = cost;
    return MABD_OK;
}

// Choose among the cheapest order of the graph and the order of the system, with late slots moved.
static mabd_status choose_among(const mabd_allocator* allocator, const mabd_dual_system* system,
                                int32_t* best, int32_t* other, mabd_dual_block_count* count) {
    mabd_dual_order_report report;
    MABD_TRY(mabd_dual_block_order(allocator, system, best, &report));
    MABD_TRY(mabd_dual_order_pivots(allocator, system, best));
    MABD_TRY(mabd_dual_block_order_by(allocator, system, MABD_ORDER_TREE, other));
    MABD_TRY(mabd_dual_order_pivots(allocator, system, other));
    return compare(allocator, system, best, other, count);
}

static mabd_status choose(const mabd_allocator* allocator, const mabd_dual_system* system,
                          int32_t* order, mabd_dual_block_count* count) {
    const size_t bytes = mabd_bytes((size_t)system->slot_count, sizeof(int32_t));
    int32_t* other = mabd_alloc(allocator, bytes);
    if (!other) return MABD_ERR_MEMORY;
    const mabd_status status = choose_among(allocator, system, order, other, count);
    mabd_free(allocator, other, bytes);
    return status;
}

// ---- memory ------------------------------------------------------------------------------------

// Return the size of U_12' of all nodes [doubles]; across (node_count): offsets, may be null.
static int64_t place_rows(const mabd_dual_block_symbolic* m, int64_t* across) {
    int64_t size = 0;
    for (int32_t s = 0; s < m->node_count; s++) {
        if (across) across[s] = size;
        size += MABD_BLOCK_PAD(m->nodes[s].below) * (int64_t)m->nodes[s].width;
    }
    return size;
}

// Sizes of the workspace of one front [doubles].
typedef struct front_sizes {
    size_t F, G, pack, z;
} front_sizes;

static front_sizes largest_front(const mabd_dual_block_symbolic* m) {
    front_sizes sizes = {0, 0, 0, 0};
    for (int32_t s = 0; s < m->node_count; s++) {
        const size_t width = (size_t)m->nodes[s].width;
        const size_t wide = (size_t)MABD_BLOCK_PAD(m->nodes[s].width);
        const size_t deep = (size_t)MABD_BLOCK_PAD(m->nodes[s].below);
        if ((wide + deep) * width > sizes.F) sizes.F = (wide + deep) * width;
        if (deep * width > sizes.G) sizes.G = deep * width;
        if (wide * MABD_BLOCK_TILE > sizes.pack) sizes.pack = wide * MABD_BLOCK_TILE;
        if (wide + deep > sizes.z) sizes.z = wide + deep;
    }
    return sizes;
}

static void layout(const mabd_dual_block_symbolic* m, mabd_arena* arena, mabd_dual_lu* lu) {
    const size_t rows = (size_t)m->row_count, slots = (size_t)m->slot_count;
    const int64_t stack = m->stack_size > m->top_size ? m->stack_size : m->top_size;
    const front_sizes sizes = largest_front(m);
    mabd_dual_lu_numbers* f = &lu->factor;
    mabd_arena_take(arena, 1, sizeof *lu);
    f->L = mabd_arena_take(arena, (size_t)m->panel_size, sizeof(double));
    f->U = mabd_arena_take(arena, (size_t)place_rows(m, NULL), sizeof(double));
    f->across = mabd_arena_take(arena, (size_t)m->node_count, sizeof *f->across);
    f->inverse = mabd_arena_take(arena, rows, sizeof(double));
    f->swap = mabd_arena_take(arena, rows, sizeof *f->swap);
    f->least = mabd_arena_take(arena, rows, sizeof(double));
    f->x = mabd_arena_take(arena, rows, sizeof(double));
    f->kept = mabd_arena_take(arena, (size_t)m->kept_size, sizeof(double));
    f->stack = mabd_arena_take(arena, (size_t)stack, sizeof(double));
    f->F = mabd_arena_take(arena, sizes.F, sizeof(double));
    f->G = mabd_arena_take(arena, sizes.G, sizeof(double));
    f->pack = mabd_arena_take(arena, sizes.pack, sizeof(double));
    f->z = mabd_arena_take(arena, sizes.z, sizeof(double));
    lu->size = mabd_arena_take(arena, slots, sizeof(double));
    lu->schur = mabd_arena_take(arena, slots, sizeof(double));
    lu->empty = mabd_arena_take(arena, slots, sizeof(bool));
}

// Create a solver over an analysis, which it takes over, also on failure.
static mabd_status create_from(const mabd_allocator* allocator, mabd_dual_block_symbolic* symbolic,
                               int64_t entries, mabd_dual_lu** out) {
    mabd_dual_lu counts;
    mabd_arena arena = {NULL, 0, 0};
    layout(symbolic, &arena, &counts);
    const mabd_status status = mabd_arena_allocate(allocator, &arena);
    if (status != MABD_OK) {
        mabd_dual_block_symbolic_destroy(allocator, symbolic);
        return status;
    }
    mabd_dual_lu* lu = (mabd_dual_lu*)(void*)arena.memory;
    layout(symbolic, &arena, lu);
    place_rows(symbolic, lu->factor.across);
    lu->factor.symbolic = lu->symbolic = symbolic;
    lu->kernels = mabd_dual_lu_kernels_of(mabd_isa_count() - 1);
    lu->entries = entries;
    lu->bytes = arena.size;
    *out = lu;
    return MABD_OK;
}

static mabd_status create_in(const mabd_allocator* allocator, const mabd_dual_system* system,
                             const int32_t* given, int32_t* order, mabd_dual_lu** out) {
    mabd_dual_block_symbolic* symbolic;
    mabd_dual_block_count count;
    if (given) {
        memcpy(order, given, (size_t)system->slot_count * sizeof *order);
        MABD_TRY(mabd_dual_block_cost(allocator, system, order, DBL_MAX, &count));
    } else {
        MABD_TRY(choose(allocator, system, order, &count));
    }
    MABD_TRY(mabd_dual_block_analyse(allocator, system, order, &symbolic));
    return create_from(allocator, symbolic, 2 * (int64_t)count.entries - system->row_count, out);
}

static void layout_chain(const mabd_dual_system* system, mabd_arena* arena, mabd_dual_lu* lu) {
    mabd_arena_take(arena, 1, sizeof *lu);
    mabd_dual_chain_lu_lay_out(system, arena, &lu->chain);
}

static mabd_status create_chain(const mabd_allocator* allocator, const mabd_dual_system* system,
                                mabd_dual_lu** out) {
    mabd_dual_lu counts;
    mabd_arena arena = {NULL, 0, 0};
    layout_chain(system, &arena, &counts);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    mabd_dual_lu* lu = (mabd_dual_lu*)(void*)arena.memory;
    layout_chain(system, &arena, lu);
    for (int32_t i = 0; i < system->slot_count; i++) {
        const int32_t w = system->width[i];
        const int32_t v = i + 1 < system->slot_count ? system->width[i + 1] : 0;
        lu->entries += w * w + 2 * w * v;
    }
    lu->bytes = arena.size;
    *out = lu;
    return MABD_OK;
}

mabd_status mabd_dual_lu_create(const mabd_allocator* allocator, const mabd_dual_lu_system* system,
                                const int32_t* order, mabd_dual_lu** lu) {
    *lu = NULL;
    if (system->blocks.slot_count < 1) return MABD_ERR_ARG;
    if (!order && mabd_dual_chain_lu_suits(&system->blocks)) {
        return create_chain(allocator, &system->blocks, lu);
    }
    const size_t bytes = mabd_bytes((size_t)system->blocks.slot_count, sizeof(int32_t));
    int32_t* own = mabd_alloc(allocator, bytes);
    if (!own) return MABD_ERR_MEMORY;
    const mabd_status status = create_in(allocator, &system->blocks, order, own, lu);
    mabd_free(allocator, own, bytes);
    return status;
}

void mabd_dual_lu_destroy(const mabd_allocator* allocator, mabd_dual_lu* lu) {
    if (!lu) return;
    if (lu->symbolic) mabd_dual_block_symbolic_destroy(allocator, lu->symbolic);
    mabd_free(allocator, lu, lu->bytes);
}

size_t mabd_dual_lu_bytes(const mabd_dual_lu* lu) {
    return lu->bytes + (lu->symbolic ? lu->symbolic->bytes : 0);
}

mabd_dual_lu_entries mabd_dual_lu_count(const mabd_dual_lu* lu) {
    mabd_dual_lu_entries entries = {lu->entries, lu->symbolic ? 0 : lu->entries};
    if (!lu->symbolic) return entries;
    for (int32_t s = 0; s < lu->symbolic->node_count; s++) {
        const mabd_dual_block_node* node = &lu->symbolic->nodes[s];
        entries.stored += node->width * ((int64_t)node->width + 2 * (int64_t)node->below);
    }
    return entries;
}

// ---- scales ------------------------------------------------------------------------------------

// Set the least pivots of a slot by the columns of its block; a column of zeros gets 0 and marks
// the slot as empty.
static void scale_slot(mabd_dual_lu* lu, const mabd_real* D, const mabd_dual_block_slot* s) {
    double* least = lu->factor.least + s->first;
    lu->size[s->slot] = lu->schur[s->slot] = 0;
    lu->empty[s->slot] = false;
    for (int32_t c = 0; c < s->width; c++) {
        double most = 0;
        for (int32_t r = 0; r < s->width; r++) {
            most = mabd_dual_larger(fabs((double)D[r * s->width + c]), most);
        }
        least[c] = MABD_DUAL_LU_LEAST * most;
        lu->size[s->slot] = mabd_dual_larger(most, lu->size[s->slot]);
        if (most == 0) lu->empty[s->slot] = true;
    }
}

// Return the largest magnitude of both blocks of an edge, and note their product over the diagonal
// block of the other slot for slots that need it.
static double scale_edge(mabd_dual_lu* lu, const mabd_dual_lu_system* system, int32_t edge) {
    const mabd_dual_system* b = &system->blocks;
    const int32_t s = b->from[edge] - b->slot_offset, t = b->to[edge] - b->slot_offset;
    const int32_t n = b->width[s] * b->width[t];
    const double upper = mabd_dual_most_of(n, b->U + b->edge_block[edge]);
    const double lower = mabd_dual_most_of(n, system->lower + b->edge_block[edge]);
    if (lu->empty[s] && lu->size[t] > 0) {
        lu->schur[s] = mabd_dual_larger(upper * lower / lu->size[t], lu->schur[s]);
    }
    if (lu->empty[t] && lu->size[s] > 0) {
        lu->schur[t] = mabd_dual_larger(upper * lower / lu->size[s], lu->schur[t]);
    }
    return mabd_dual_larger(upper, lower);
}

// Set the least magnitude of all pivots; return the largest magnitude of K.
static double scale(mabd_dual_lu* lu, const mabd_dual_lu_system* system) {
    const mabd_dual_block_symbolic* m = lu->symbolic;
    double most = 0;
    for (int32_t k = 0; k < m->slot_count; k++) {
        scale_slot(lu, system->blocks.D + m->slots[k].block, &m->slots[k]);
        most = mabd_dual_larger(lu->size[m->slots[k].slot], most);
    }
    for (int32_t e = 0; e < system->blocks.edge_count; e++) {
        most = mabd_dual_larger(scale_edge(lu, system, e), most);
    }
    for (int32_t k = 0; k < m->slot_count; k++) {
        const mabd_dual_block_slot* s = &m->slots[k];
        double* least = lu->factor.least + s->first;
        for (int32_t c = 0; c < s->width && lu->empty[s->slot]; c++) {
            if (least[c] == 0) least[c] = MABD_DUAL_LU_LEAST * lu->schur[s->slot];
        }
    }
    return most;
}

// ---- factor and solve --------------------------------------------------------------------------

static int32_t slot_of_row(const mabd_dual_block_symbolic* symbolic, int32_t row) {
    const mabd_dual_block_slot* s = symbolic->slots;
    while (row >= s->first + s->width) s++;
    return s->slot;
}

mabd_status mabd_dual_lu_factor(mabd_dual_lu* lu, const mabd_dual_lu_system* system,
                                mabd_dual_lu_report* report) {
    double growth = 0;
    if (!lu->symbolic) {
        const int32_t bad = mabd_dual_chain_lu_factor(&lu->chain, system, &growth);
        if (report) report->bad = bad, report->growth = growth;
        return bad < 0 ? MABD_OK : MABD_ERR_SINGULAR;
    }
    const double most = scale(lu, system);
    const int32_t failed = lu->kernels->factor(&lu->factor, system, &growth);
    if (report) {
        report->growth = most > 0 ? growth / most : 0;
        report->bad = failed < 0 ? -1 : slot_of_row(lu->symbolic, failed);
    }
    return failed < 0 ? MABD_OK : MABD_ERR_SINGULAR;
}

// Copy a vector between the order of the system and the order of elimination.
static void take(mabd_dual_lu* lu, const mabd_real* x) {
    for (int32_t k = 0; k < lu->symbolic->slot_count; k++) {
        const mabd_dual_block_slot* s = &lu->symbolic->slots[k];
        double* to = lu->factor.x + s->first;
        for (int32_t r = 0; r < s->width; r++) to[r] = (double)x[s->row + r];
    }
}
static void give(const mabd_dual_lu* lu, mabd_real* x) {
    for (int32_t k = 0; k < lu->symbolic->slot_count; k++) {
        const mabd_dual_block_slot* s = &lu->symbolic->slots[k];
        const double* from = lu->factor.x + s->first;
        for (int32_t r = 0; r < s->width; r++) x[s->row + r] = (mabd_real)from[r];
    }
}

void mabd_dual_lu_solve(mabd_dual_lu* lu, mabd_real* x) {
    if (!lu->symbolic) {
        mabd_dual_chain_lu_solve(&lu->chain, x);
        return;
    }
    take(lu, x);
    lu->kernels->solve(&lu->factor);
    give(lu, x);
}

void mabd_dual_lu_solve_transposed(mabd_dual_lu* lu, mabd_real* x) {
    if (!lu->symbolic) {
        mabd_dual_chain_lu_solve_transposed(&lu->chain, x);
        return;
    }
    take(lu, x);
    lu->kernels->solve_transposed(&lu->factor);
    give(lu, x);
}
