// SPDX-License-Identifier: Apache-2.0
// The block LU on the graphs of [VI figures 9b-d]: nodes of 6 rows, values random and diagonally
// dominant, pattern symmetric, values not. A ladder has loops of constant size, a net and a crystal
// loops that grow. Prints the time beside LAPACK's dense LU; claims the residual.
#include "base/clock.h"
#include "dual/block_lu.h"
#include "support/dual_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
            const int* ldb, int* info);

#define ROWS      6
#define EDGES_MAX 8192

typedef struct node_graph {
    const char* name;
    int nodes, edges;
    int32_t from[EDGES_MAX], to[EDGES_MAX];
} node_graph;

// Nodes x, y, z of a box, each joined to the next along every direction; sorted by (from, to).
static void make_box(node_graph* g, const char* name, int nx, int ny, int nz) {
    g->name = name, g->nodes = nx * ny * nz, g->edges = 0;
    for (int i = 0; i < g->nodes; i++) {
        const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
        const int to[3] = {x + 1 < nx ? i + 1 : -1, y + 1 < ny ? i + nx : -1,
                           z + 1 < nz ? i + nx * ny : -1};
        for (int k = 0; k < 3; k++) {
            if (to[k] < 0) continue;
            g->from[g->edges] = i, g->to[g->edges++] = to[k];
        }
    }
}

typedef struct node_system {
    mabd_dual_lu_system system;
    int32_t *width, *row;
    size_t *block, *edge_block;
    mabd_real *D, *U, *L, *x, *b;
    double* dense; // by columns
    int n;
} node_system;

static node_system make_system(const node_graph* g) {
    const size_t nodes = (size_t)g->nodes, edges = (size_t)g->edges, block = ROWS * ROWS;
    node_system s = {.n = ROWS * g->nodes};
    const size_t n = (size_t)s.n;
    uint64_t seed = 3;
    s.width = calloc(nodes, sizeof *s.width), s.row = calloc(nodes, sizeof *s.row);
    s.block = calloc(nodes, sizeof *s.block), s.edge_block = calloc(edges, sizeof *s.edge_block);
    s.D = calloc(nodes * block, sizeof *s.D), s.U = calloc(edges * block, sizeof *s.U);
    s.L = calloc(edges * block, sizeof *s.L), s.x = calloc(n, sizeof *s.x);
    s.b = calloc(n, sizeof *s.b), s.dense = calloc(n * n, sizeof *s.dense);
    for (size_t i = 0; i < nodes; i++) {
        s.width[i] = ROWS, s.row[i] = ROWS * (int32_t)i, s.block[i] = block * i;
        for (size_t k = 0; k < block; k++) {
            const size_t r = k / ROWS, c = k % ROWS;
            s.D[block * i + k] = (mabd_real)(dual_random(&seed) + (r == c ? 7 * ROWS : 0));
            s.dense[(ROWS * i + c) * n + ROWS * i + r] = s.D[block * i + k];
        }
    }
    for (size_t e = 0; e < edges; e++) {
        const size_t a = ROWS * (size_t)g->from[e], b = ROWS * (size_t)g->to[e];
        s.edge_block[e] = block * e;
        for (size_t k = 0; k < block; k++) {
            const size_t r = k / ROWS, c = k % ROWS;
            s.U[block * e + k] = (mabd_real)dual_random(&seed);
            s.L[block * e + k] = (mabd_real)dual_random(&seed);
            s.dense[(b + c) * n + a + r] = s.U[block * e + k];
            s.dense[(a + c) * n + b + r] = s.L[block * e + k];
        }
    }
    for (size_t i = 0; i < n; i++) s.b[i] = s.x[i] = (mabd_real)dual_random(&seed);
    const mabd_dual_system blocks = {.slot_count = g->nodes,
                                     .edge_count = g->edges,
                                     .row_count = s.n,
                                     .width = s.width,
                                     .row = s.row,
                                     .block = s.block,
                                     .from = g->from,
                                     .to = g->to,
                                     .edge_block = s.edge_block,
                                     .D = s.D,
                                     .U = s.U};
    s.system = (mabd_dual_lu_system){blocks, s.L};
    return s;
}

static void free_system(node_system* s) {
    free(s->width), free(s->row), free(s->block), free(s->edge_block);
    free(s->D), free(s->U), free(s->L), free(s->x), free(s->b), free(s->dense);
}

// |b - K x| / (|K| |x| + |b|), largest entries and row sums.
static double backward_error(const node_system* s) {
    const size_t n = (size_t)s->n;
    double residual = 0, matrix = 0, x = 0, b = 0;
    for (size_t r = 0; r < n; r++) {
        double sum = -s->b[r], row = 0;
        for (size_t c = 0; c < n; c++) {
            sum += s->dense[c * n + r] * s->x[c], row += fabs(s->dense[c * n + r]);
        }
        residual = fmax(residual, fabs(sum)), matrix = fmax(matrix, row);
        x = fmax(x, fabs(s->x[r])), b = fmax(b, fabs(s->b[r]));
    }
    return residual / (matrix * x + b);
}

static void expect_solved(const char* name, int nx, int ny, int nz) {
    const mabd_allocator heap = mabd_default_allocator();
    static node_graph g;
    make_box(&g, name, nx, ny, nz);
    node_system s = make_system(&g);
    mabd_dual_lu* lu;
    cr_assert(eq(int, mabd_dual_lu_create(&heap, &s.system, NULL, &lu), MABD_OK));
    double clock = mabd_clock();
    cr_assert(eq(int, mabd_dual_lu_factor(lu, &s.system, NULL), MABD_OK));
    mabd_dual_lu_solve(lu, s.x);
    const double sparse = mabd_clock() - clock, error = backward_error(&s);
    int *pivots = calloc((size_t)s.n, sizeof *pivots), one = 1, info;
    double* y = calloc((size_t)s.n, sizeof *y);
    for (int i = 0; i < s.n; i++) y[i] = s.b[i];
    clock = mabd_clock();
    dgesv_(&s.n, &one, s.dense, &s.n, pivots, y, &s.n, &info);
    const double dense = mabd_clock() - clock;
    double worst = 0;
    for (int i = 0; i < s.n; i++) worst = fmax(worst, fabs(y[i] - s.x[i]));
    printf("%-8s %4d nodes: residual %.1e, %8.1f us, %8.1f us by LAPACK (%.1f times)\n", g.name,
           g.nodes, error, 1e6 * sparse, 1e6 * dense, dense / sparse);
    cr_expect(lt(dbl, error, 1e-12), "%s %d", name, g.nodes);
    cr_expect(lt(dbl, worst, 1e-12), "%s %d", name, g.nodes);
    free(pivots), free(y);
    mabd_dual_lu_destroy(&heap, lu);
    free_system(&s);
}

Test(block_lu_graphs, solves_ladders) {
    for (int n = 2; n <= 64; n *= 2) expect_solved("ladder", 2, n, 1);
}
Test(block_lu_graphs, solves_nets) {
    for (int n = 2; n <= 16; n *= 2) expect_solved("net", n, n, 1);
}
Test(block_lu_graphs, solves_crystals) {
    for (int n = 2; n <= 6; n++) expect_solved("crystal", n, n, n);
}
