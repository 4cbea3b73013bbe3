// SPDX-License-Identifier: Apache-2.0
//
// Direct solve of any pattern: sparse L d L' of the dual matrix by CHOLMOD.
//
//   create   order the slots (AMD on the block graph), lay out the upper triangle of P K P' by
//            columns, analyse it, and factor the identity once: after that CHOLMOD holds all its
//            memory
//   factor   copy the blocks of D and U, which stay as they are, to their places; P K P' = L d L'
//   solve    y = P b,  L z = y,  d w = z,  L' v = w,  x = P' v, by plain loops over the factor
//
// Pattern of one column block t of the upper triangle, slots in elimination order:
//
//     rows of slots before t that t couples with, ascending     all columns of t alike
//     rows of t itself                                          down to the diagonal
//
// so that a block is copied knowing only the column pointers and the number of rows above it.
//
// Only the simplicial (LGPL) part of CHOLMOD is called: Common.supernodal = CHOLMOD_SIMPLICIAL. The
// matrix is handed over permuted, natural ordering, upper triangle: cholmod_factorize then works on
// it without a transpose or a copy. The order is AMD's alone, which has no random choice in it.
// CHOLMOD takes its own memory (SuiteSparse_config: malloc), not through mabd_allocator; the solver
// object with cholmod_common in it comes from mabd_allocator.

#include "dual/order_late.h"
#include "dual/slot_pattern.h"

#include <cholmod.h>
#include <math.h>

typedef struct direct_solver {
    cholmod_common common;
    cholmod_sparse matrix;  // upper triangle of P K P', arrays below
    cholmod_factor* factor; // simplicial L d L'
    int32_t slot_count, row_count;
    int32_t* order;      // slot at a place of the elimination order (slot_count)
    int32_t* first;      // first row of a slot in P K P' (slot_count)
    int32_t* diagonal;   // rows above the diagonal block in its columns (slot_count)
    int32_t* edge_above; // rows above the block of an edge in its columns (edge_count)
    int32_t* column;     // column pointers (row_count + 1)
    int32_t* row;        // row indices (column[row_count])
    double* value;       // (column[row_count])
    double* work;        // (row_count)
    size_t bytes;        // of the solver object with its arrays
} direct_solver;

static int32_t edge_from(const mabd_dual_system* system, int32_t edge) {
    return system->from[edge] - system->slot_offset;
}
static int32_t edge_to(const mabd_dual_system* system, int32_t edge) {
    return system->to[edge] - system->slot_offset;
}

// ---- memory ------------------------------------------------------------------------------------

// Count the entries of the upper triangle.
static int64_t count_entries(const mabd_dual_system* system) {
    int64_t entries = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        entries += system->width[s] * (system->width[s] + 1) / 2;
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        entries += system->width[edge_from(system, e)] * system->width[edge_to(system, e)];
    }
    return entries;
}

static void layout(const mabd_dual_system* system, size_t entries, mabd_arena* arena,
                   direct_solver* solver) {
    size_t slots = (size_t)system->slot_count, rows = (size_t)system->row_count;
    mabd_arena_take(arena, 1, sizeof(direct_solver));
    solver->order = mabd_arena_take(arena, slots, sizeof(int32_t));
    solver->first = mabd_arena_take(arena, slots, sizeof(int32_t));
    solver->diagonal = mabd_arena_take(arena, slots, sizeof(int32_t));
    solver->edge_above = mabd_arena_take(arena, (size_t)system->edge_count, sizeof(int32_t));
    solver->column = mabd_arena_take(arena, rows + 1, sizeof(int32_t));
    solver->row = mabd_arena_take(arena, entries, sizeof(int32_t));
    solver->value = mabd_arena_take(arena, entries, sizeof(double));
    solver->work = mabd_arena_take(arena, rows, sizeof(double));
}

static direct_solver* allocate(const mabd_allocator* allocator, const mabd_dual_system* system) {
    int64_t entries = count_entries(system);
    if (entries > INT32_MAX) return NULL;
    direct_solver counts;
    mabd_arena arena = {NULL, 0, 0};
    layout(system, (size_t)entries, &arena, &counts);
    if (arena.used == SIZE_MAX) return NULL;
    arena.size = arena.used;
    arena.memory = mabd_alloc(allocator, arena.size);
    if (!arena.memory) return NULL;
    arena.used = 0;
    direct_solver* solver = (direct_solver*)(void*)arena.memory;
    layout(system, (size_t)entries, &arena, solver);
    solver->bytes = arena.size;
    solver->slot_count = system->slot_count;
    solver->row_count = system->row_count;
    return solver;
}

static void direct_destroy(const mabd_allocator* allocator, void* object) {
    direct_solver* solver = object;
    if (!solver) return;
    cholmod_free_factor(&solver->factor, &solver->common);
    cholmod_finish(&solver->common);
    mabd_free(allocator, solver, solver->bytes);
}

static size_t direct_bytes(const void* object) {
    const direct_solver* solver = object;
    return solver->bytes + solver->common.memory_inuse;
}

// ---- analysis ----------------------------------------------------------------------------------

static void start_cholmod(cholmod_common* common) {
    mabd_dual_cholmod_start(common);
    common->final_asis = 1;
    common->final_ll = 0;
    common->nmethods = 1;
}

// Compute a fill-reducing order of the slots, by AMD and a postorder of the elimination tree.
static mabd_status find_order(const mabd_dual_system* system, direct_solver* solver) {
    cholmod_common* common = &solver->common;
    common->method[0].ordering = CHOLMOD_AMD;
    common->postorder = 1;
    cholmod_sparse* blocks = mabd_dual_slot_pattern(system, common);
    cholmod_factor* analysis = blocks ? cholmod_analyze(blocks, common) : NULL;
    if (analysis) {
        const int* order = analysis->Perm;
        for (int32_t k = 0; k < solver->slot_count; k++) solver->order[k] = order[k];
    }
    mabd_status status = analysis ? MABD_OK : MABD_ERR_MEMORY;
    cholmod_free_factor(&analysis, common);
    cholmod_free_sparse(&blocks, common);
    return status;
}

// Return the bytes of the solver with CHOLMOD's factor and workspace. The column counts of the
// block analysis give the entries of the factor: exact where all joints have the same width,
// otherwise estimated with their mean width.
static size_t direct_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    const double rows = system->row_count, mean = rows / system->slot_count;
    double entries = 0, own;
    cholmod_common common;
    (void)allocator;
    start_cholmod(&common);
    common.method[0].ordering = CHOLMOD_AMD;
    cholmod_sparse* blocks = mabd_dual_slot_pattern(system, &common);
    cholmod_factor* analysis = blocks ? cholmod_analyze(blocks, &common) : NULL;
    for (int32_t k = 0; analysis && k < system->slot_count; k++) {
        const int32_t width = system->width[((const int*)analysis->Perm)[k]];
        entries += width * ((width + 1) / 2.0 + mean * (((const int*)analysis->ColCount)[k] - 1));
    }
    const bool known = analysis != NULL;
    cholmod_free_factor(&analysis, &common);
    cholmod_free_sparse(&blocks, &common);
    cholmod_finish(&common);

    mabd_arena arena = {NULL, 0, 0};
    direct_solver counts;
    layout(system, (size_t)count_entries(system), &arena, &counts);
    own = (double)arena.used;
    // an int and a double per entry; 6 ints per column in the factor, 8 and a double in the
    // workspace
    own += 12 * entries + rows * (6 * 4 + 8 * 4 + 8);
    return known && arena.used != SIZE_MAX && own < 1e18 ? (size_t)own : SIZE_MAX;
}

// Lay out the columns of the upper triangle. `diagonal` counts the rows above each diagonal block
// while blocks are entered in elimination order, so the rows of every column are ascending.
static void lay_out_columns(const mabd_dual_system* system, direct_solver* solver) {
    int32_t *first = solver->first, *column = solver->column;
    for (int32_t k = 0, row = 0; k < solver->slot_count; k++) {
        first[solver->order[k]] = row;
        row += system->width[solver->order[k]];
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        int32_t s = edge_from(system, e), t = edge_to(system, e);
        int32_t later = first[s] > first[t] ? s : t, earlier = s + t - later;
        solver->diagonal[later] += system->width[earlier];
    }
    column[0] = 0;
    for (int32_t k = 0; k < solver->slot_count; k++) {
        int32_t slot = solver->order[k], c = first[slot];
        for (int32_t j = 0; j < system->width[slot]; j++) {
            column[c + j + 1] = column[c + j] + solver->diagonal[slot] + j + 1;
        }
    }
}

// Neighbours of a slot: edges by slot, both directions, as scratch lists in CSR form.
typedef struct neighbours {
    int32_t* start; // (slot_count + 1)
    int32_t* edge;  // (2 edge_count)
} neighbours;

static void collect_neighbours(const mabd_dual_system* system, neighbours* list) {
    int32_t n = system->slot_count;
    for (int32_t e = 0; e < system->edge_count; e++) {
        list->start[edge_from(system, e) + 1]++;
        list->start[edge_to(system, e) + 1]++;
    }
    for (int32_t s = 0; s < n; s++) list->start[s + 1] += list->start[s];
    for (int32_t e = 0; e < system->edge_count; e++) {
        list->edge[list->start[edge_from(system, e)]++] = e;
        list->edge[list->start[edge_to(system, e)]++] = e;
    }
    for (int32_t s = n; s > 0; s--) list->start[s] = list->start[s - 1];
    list->start[0] = 0;
}

// Enter the rows of `slot` into the columns of another slot, below `above` rows.
static void enter_rows(const mabd_dual_system* system, direct_solver* solver, int32_t slot,
                       int32_t into, int32_t above) {
    for (int32_t j = 0; j < system->width[into]; j++) {
        int32_t* row = solver->row + solver->column[solver->first[into] + j] + above;
        int32_t count = slot == into ? j + 1 : system->width[slot];
        for (int32_t i = 0; i < count; i++) row[i] = solver->first[slot] + i;
    }
}

// Lay out row indices and edge_above. Slots are taken in elimination order, each entering the
// columns of its later neighbours; `filled` counts the rows entered so far.
static void lay_out_rows(const mabd_dual_system* system, direct_solver* solver,
                         const neighbours* list, int32_t* filled) {
    for (int32_t k = 0; k < solver->slot_count; k++) {
        int32_t slot = solver->order[k];
        enter_rows(system, solver, slot, slot, filled[slot]);
        for (int32_t i = list->start[slot]; i < list->start[slot + 1]; i++) {
            int32_t e = list->edge[i];
            int32_t other = edge_from(system, e) + edge_to(system, e) - slot;
            if (solver->first[other] < solver->first[slot]) continue;
            enter_rows(system, solver, slot, other, filled[other]);
            solver->edge_above[e] = filled[other];
            filled[other] += system->width[slot];
        }
    }
}

static mabd_status lay_out(const mabd_allocator* allocator, const mabd_dual_system* system,
                           direct_solver* solver) {
    size_t slots = (size_t)system->slot_count;
    size_t bytes = mabd_bytes(2 * slots + 1 + 2 * (size_t)system->edge_count, sizeof(int32_t));
    int32_t* scratch = bytes == SIZE_MAX ? NULL : mabd_alloc(allocator, bytes);
    if (!scratch) return MABD_ERR_MEMORY;
    neighbours list = {scratch, scratch + slots + 1};
    int32_t* filled = list.edge + 2 * (size_t)system->edge_count;
    collect_neighbours(system, &list);
    lay_out_columns(system, solver);
    lay_out_rows(system, solver, &list, filled);
    mabd_free(allocator, scratch, bytes);
    return MABD_OK;
}

static void describe_matrix(direct_solver* solver) {
    size_t n = (size_t)solver->row_count;
    solver->matrix = (cholmod_sparse){.nrow = n,
                                      .ncol = n,
                                      .nzmax = (size_t)solver->column[n],
                                      .p = solver->column,
                                      .i = solver->row,
                                      .x = solver->value,
                                      .stype = 1,
                                      .itype = CHOLMOD_INT,
                                      .xtype = CHOLMOD_REAL,
                                      .dtype = CHOLMOD_DOUBLE,
                                      .sorted = 1,
                                      .packed = 1};
}

// Analyse the current scalar pattern and factor the identity on it.
static mabd_status analyse(direct_solver* solver) {
    cholmod_common* common = &solver->common;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 0;
    describe_matrix(solver);
    for (int32_t c = 0; c < solver->row_count; c++) solver->value[solver->column[c + 1] - 1] = 1;
    solver->factor = cholmod_analyze(&solver->matrix, common);
    if (!solver->factor) return MABD_ERR_MEMORY;
    cholmod_factorize(&solver->matrix, solver->factor, common);
    return common->status == CHOLMOD_OK ? MABD_OK : MABD_ERR_MEMORY;
}

static mabd_status direct_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 void** out) {
    *out = NULL;
    if (system->slot_count < 1) return MABD_ERR_ARG;
    direct_solver* solver = allocate(allocator, system);
    if (!solver) return MABD_ERR_MEMORY;
    start_cholmod(&solver->common);
    mabd_status status = find_order(system, solver);
    if (status == MABD_OK) status = mabd_dual_order_late(allocator, system, solver->order);
    if (status == MABD_OK) status = lay_out(allocator, system, solver);
    if (status == MABD_OK) status = analyse(solver);
    if (status != MABD_OK) {
        direct_destroy(allocator, solver);
        return status;
    }
    *out = solver;
    return MABD_OK;
}

// ---- factor ------------------------------------------------------------------------------------

static void copy_diagonal(const mabd_dual_system* system, direct_solver* solver, int32_t slot) {
    int32_t w = system->width[slot], c = solver->first[slot], above = solver->diagonal[slot];
    const mabd_real* D = system->D + system->block[slot];
    for (int32_t j = 0; j < w; j++) {
        double* value = solver->value + solver->column[c + j] + above;
        for (int32_t i = 0; i <= j; i++) value[i] = (double)D[j * w + i]; // D is symmetric
    }
}

static void copy_edge(const mabd_dual_system* system, direct_solver* solver, int32_t edge) {
    int32_t s = edge_from(system, edge), t = edge_to(system, edge);
    int32_t w = system->width[s], v = system->width[t], above = solver->edge_above[edge];
    const mabd_real* U = system->U + system->edge_block[edge];
    if (solver->first[s] < solver->first[t]) {
        for (int32_t j = 0; j < v; j++) {
            double* value = solver->value + solver->column[solver->first[t] + j] + above;
            for (int32_t i = 0; i < w; i++) value[i] = (double)U[i * v + j];
        }
    } else {
        for (int32_t i = 0; i < w; i++) {
            double* value = solver->value + solver->column[solver->first[s] + i] + above;
            for (int32_t j = 0; j < v; j++) value[j] = (double)U[i * v + j];
        }
    }
}

// A pivot this small relative to its row's own diagonal is round-off: the row depends on the
// others.
#define LEAST_PIVOT 1e-14

static bool is_pivot(double pivot, double diagonal) {
    return pivot > LEAST_PIVOT * fabs(diagonal) && 1 / pivot > 0;
}

// Return the first slot, in elimination order, with a pivot that is not finite or has the wrong
// sign; -1 if there is none.
static int32_t find_bad_slot(const mabd_dual_system* system, const direct_solver* solver) {
    const cholmod_factor* L = solver->factor;
    const int* p = L->p;
    const double* x = L->x;
    const int32_t end = (int32_t)L->minor; // CHOLMOD stopped there, at a zero
    for (int32_t place = 0; place < solver->slot_count; place++) {
        const int32_t slot = solver->order[place], first = solver->first[slot];
        const double sign = system->negative && system->negative[slot] ? -1 : 1;
        for (int32_t k = first; k < first + system->width[slot]; k++) {
            const double diagonal = solver->value[solver->column[k + 1] - 1];
            if (k >= end || !is_pivot(sign * x[p[k]], diagonal)) return slot;
        }
    }
    return -1;
}

static mabd_status direct_factor(void* object, const mabd_dual_system* system, int32_t* bad) {
    direct_solver* solver = object;
    for (int32_t s = 0; s < system->slot_count; s++) copy_diagonal(system, solver, s);
    for (int32_t e = 0; e < system->edge_count; e++) copy_edge(system, solver, e);

    cholmod_factorize(&solver->matrix, solver->factor, &solver->common);
    if (solver->common.status < CHOLMOD_OK) return MABD_ERR_MEMORY;
    const int32_t slot = find_bad_slot(system, solver);
    if (slot < 0) return MABD_OK;
    if (bad) *bad = slot;
    return MABD_ERR_SINGULAR;
}

// ---- solve -------------------------------------------------------------------------------------

// y = L \ y, then y = d \ y
static void solve_lower(const cholmod_factor* L, double* y) {
    const int32_t n = (int32_t)L->n;
    const int *p = L->p, *nz = L->nz, *i = L->i;
    const double* x = L->x;
    for (int32_t k = 0; k < n; k++) {
        const int begin = p[k], end = begin + nz[k];
        const double yk = y[k];
        for (int at = begin + 1; at < end; at++) y[i[at]] -= x[at] * yk;
        y[k] = yk / x[begin];
    }
}

// y = L' \ y
static void solve_upper(const cholmod_factor* L, double* y) {
    const int *p = L->p, *nz = L->nz, *i = L->i;
    const double* x = L->x;
    for (int32_t k = (int32_t)L->n - 1; k >= 0; k--) {
        const int begin = p[k], end = begin + nz[k];
        double yk = y[k];
        for (int at = begin + 1; at < end; at++) yk -= x[at] * y[i[at]];
        y[k] = yk;
    }
}

static void direct_solve(void* object, const mabd_dual_system* system, mabd_real* x) {
    direct_solver* solver = object;
    double* y = solver->work;
    for (int32_t s = 0; s < system->slot_count; s++) {
        const mabd_real* from = x + (system->row[s] - system->row_offset);
        for (int32_t i = 0; i < system->width[s]; i++) y[solver->first[s] + i] = (double)from[i];
    }
    solve_lower(solver->factor, y);
    solve_upper(solver->factor, y);
    for (int32_t s = 0; s < system->slot_count; s++) {
        mabd_real* to = x + (system->row[s] - system->row_offset);
        for (int32_t i = 0; i < system->width[s]; i++) to[i] = (mabd_real)y[solver->first[s] + i];
    }
}

const mabd_dual_ops mabd_dual_direct = {
    .name = "direct",
    .keeps_system = true,
    .create = direct_create,
    .factor = direct_factor,
    .solve = direct_solve,
    .destroy = direct_destroy,
    .bytes = direct_bytes,
    .bytes_for = direct_bytes_for,
};
