// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_dual.h"

#include "base/clock.h"
#include "base/memory.h"
#include "dual/block_lu.h"

#include <math.h>
#include <string.h>

/// Rows of a node, numbers of a block.
#define ROWS  6
#define BLOCK 36
/// Diagonal less its random part: above the sum of all others in a row, 6 neighbours at most.
#define DIAGONAL (7.0 * ROWS)

// LAPACK and OpenBLAS, which the library uses too.
void dgesv_(const int* n, const int* columns, double* A, const int* lda, int* pivots, double* b,
            const int* ldb, int* info);
void openblas_set_num_threads(int count);

typedef struct graph_case {
    int32_t nodes, edges;
    int32_t *from, *to, *width, *row;
    size_t *block, *edge_block;
    mabd_real *D, *U, *L, *x, *b;
    double *K, *work, *y; // dense, by columns
    int* pivots;
    mabd_dual_lu_system system;
} graph_case;

int32_t bench_dual_side(bench_graph graph, int32_t index) {
    static const int32_t SIDES[BENCH_GRAPH_COUNT][8] = {
        {2, 4, 8, 16, 32, 64, 0}, {2, 4, 8, 12, 16, 0}, {2, 3, 4, 5, 6, 0}};
    return SIDES[graph][index];
}

// ---- systems -----------------------------------------------------------------------------------

static void measure_box(bench_graph graph, int32_t n, int32_t* size) {
    size[0] = graph == BENCH_GRAPH_LADDER ? 2 : n;
    size[1] = n, size[2] = graph == BENCH_GRAPH_CRYSTAL ? n : 1;
}

// Count the edges of a box of nodes, each joined to the next along every direction; write them to
// from and to unless these are null, sorted.
static int32_t join(const int32_t* size, int32_t* from, int32_t* to) {
    const int32_t nx = size[0], ny = size[1], nz = size[2];
    int32_t count = 0;
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        const int32_t x = i % nx, y = i / nx % ny, z = i / (nx * ny);
        const int32_t next[3] = {x + 1 < nx ? i + 1 : -1, y + 1 < ny ? i + nx : -1,
                                 z + 1 < nz ? i + nx * ny : -1};
        for (int k = 0; k < 3; k++) {
            if (next[k] < 0) continue;
            if (from) from[count] = i, to[count] = next[k];
            count++;
        }
    }
    return count;
}

static void lay_out(graph_case* c, mabd_arena* arena) {
    const size_t nodes = (size_t)c->nodes, edges = (size_t)c->edges, n = ROWS * nodes;
#define TAKE(field, count) c->field = mabd_arena_take(arena, (count), sizeof *c->field)
    TAKE(from, edges);
    TAKE(to, edges);
    TAKE(width, nodes);
    TAKE(row, nodes);
    TAKE(block, nodes);
    TAKE(edge_block, edges);
    TAKE(D, BLOCK * nodes);
    TAKE(U, BLOCK * edges);
    TAKE(L, BLOCK * edges);
    TAKE(x, n);
    TAKE(b, n);
    TAKE(K, n * n);
    TAKE(work, n * n);
    TAKE(y, n);
    TAKE(pivots, n);
#undef TAKE
}

static double draw(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void fill(graph_case* c) {
    const size_t n = ROWS * (size_t)c->nodes;
    uint64_t seed = 3;
    for (size_t i = 0; i < (size_t)c->nodes; i++) {
        c->width[i] = ROWS, c->row[i] = ROWS * (int32_t)i, c->block[i] = BLOCK * i;
        for (size_t k = 0; k < BLOCK; k++) {
            const size_t r = k / ROWS, s = k % ROWS;
            c->D[BLOCK * i + k] = (mabd_real)(draw(&seed) + (r == s ? DIAGONAL : 0));
            c->K[(ROWS * i + s) * n + ROWS * i + r] = (double)c->D[BLOCK * i + k];
        }
    }
    for (size_t e = 0; e < (size_t)c->edges; e++) {
        const size_t a = ROWS * (size_t)c->from[e], b = ROWS * (size_t)c->to[e];
        c->edge_block[e] = BLOCK * e;
        for (size_t k = 0; k < BLOCK; k++) {
            const size_t r = k / ROWS, s = k % ROWS;
            c->U[BLOCK * e + k] = (mabd_real)draw(&seed);
            c->L[BLOCK * e + k] = (mabd_real)draw(&seed);
            c->K[(b + s) * n + a + r] = (double)c->U[BLOCK * e + k];
            c->K[(a + s) * n + b + r] = (double)c->L[BLOCK * e + k];
        }
    }
    for (size_t i = 0; i < n; i++) c->b[i] = (mabd_real)draw(&seed);
    const mabd_dual_system blocks = {.slot_count = c->nodes,
                                     .edge_count = c->edges,
                                     .row_count = (int32_t)n,
                                     .width = c->width,
                                     .row = c->row,
                                     .block = c->block,
                                     .from = c->from,
                                     .to = c->to,
                                     .edge_block = c->edge_block,
                                     .D = c->D,
                                     .U = c->U};
    c->system = (mabd_dual_lu_system){blocks, c->L};
}

// ---- measures ----------------------------------------------------------------------------------

// |b - K x| / (|K| |x| + |b|) of x (n doubles).
static double residual_of(const graph_case* c, const double* x) {
    const size_t n = ROWS * (size_t)c->nodes;
    double residual = 0, matrix = 0, size = 0, right = 0;
    for (size_t r = 0; r < n; r++) {
        double sum = -(double)c->b[r], row = 0;
        for (size_t s = 0; s < n; s++) {
            sum += c->K[s * n + r] * x[s], row += fabs(c->K[s * n + r]);
        }
        residual = fmax(residual, fabs(sum)), matrix = fmax(matrix, row);
        size = fmax(size, fabs(x[r])), right = fmax(right, fabs((double)c->b[r]));
    }
    return residual / (matrix * size + right);
}

static mabd_status time_both(graph_case* c, mabd_dual_lu* lu, int32_t repeats,
                             bench_dual_result* result) {
    const int n = ROWS * c->nodes, one = 1;
    const size_t count = (size_t)n;
    result->seconds = result->dense_seconds = INFINITY;
    for (int32_t k = 0; k < repeats; k++) {
        int info;
        memcpy(c->x, c->b, count * sizeof *c->x);
        double start = mabd_clock();
        MABD_TRY(mabd_dual_lu_factor(lu, &c->system, NULL));
        mabd_dual_lu_solve(lu, c->x);
        result->seconds = fmin(result->seconds, mabd_clock() - start);
        for (size_t i = 0; i < count; i++) c->y[i] = (double)c->b[i];
        memcpy(c->work, c->K, count * count * sizeof *c->work);
        start = mabd_clock();
        dgesv_(&n, &one, c->work, &n, c->pivots, c->y, &n, &info);
        result->dense_seconds = fmin(result->dense_seconds, mabd_clock() - start);
        if (info != 0) return MABD_ERR_SINGULAR;
    }
    result->dense_residual = residual_of(c, c->y);
    result->difference = 0;
    for (size_t i = 0; i < count; i++) {
        result->difference = fmax(result->difference, fabs(c->y[i] - (double)c->x[i]));
        c->y[i] = (double)c->x[i];
    }
    result->residual = residual_of(c, c->y);
    return MABD_OK;
}

mabd_status bench_dual_run(bench_graph graph, int32_t side, int32_t repeats,
                           bench_dual_result* result) {
    const mabd_allocator heap = mabd_default_allocator();
    graph_case c = {.nodes = 0};
    mabd_arena arena = {NULL, 0, 0};
    mabd_dual_lu* lu;
    int32_t size[3];
    openblas_set_num_threads(1);
    measure_box(graph, side, size);
    c.nodes = size[0] * size[1] * size[2], c.edges = join(size, NULL, NULL);
    lay_out(&c, &arena);
    MABD_TRY(mabd_arena_allocate(&heap, &arena));
    lay_out(&c, &arena);
    join(size, c.from, c.to);
    fill(&c);
    mabd_status status = mabd_dual_lu_create(&heap, &c.system, NULL, &lu);
    if (status == MABD_OK) {
        *result = (bench_dual_result){.nodes = c.nodes, .rows = ROWS * c.nodes};
        result->entries = mabd_dual_lu_count(lu).pattern;
        status = time_both(&c, lu, repeats, result);
        mabd_dual_lu_destroy(&heap, lu);
    }
    mabd_free(&heap, arena.memory, arena.size);
    return status;
}
