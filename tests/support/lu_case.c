// SPDX-License-Identifier: Apache-2.0
#include "support/lu_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
extern void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a,
                    const int* lda, const int* ipiv, double* b, const int* ldb, int* info);
extern void dgecon_(const char* norm, const int* n, const double* a, const int* lda,
                    const double* anorm, double* rcond, double* work, int* iwork, int* info);

static void* must(void* memory) {
    if (!memory) abort();
    return memory;
}
static void* zeroed(size_t n, size_t size) {
    return must(calloc(n + 1, size));
}

// ---- systems -----------------------------------------------------------------------------------

static lu_case make(int32_t slots, int32_t edges) {
    lu_case c = {.width = zeroed((size_t)slots, sizeof(int32_t)),
                 .row = zeroed((size_t)slots, sizeof(int32_t)),
                 .block = zeroed((size_t)slots, sizeof(size_t)),
                 .late = zeroed((size_t)slots, sizeof(bool)),
                 .from = zeroed((size_t)edges, sizeof(int32_t)),
                 .to = zeroed((size_t)edges, sizeof(int32_t)),
                 .edge_block = zeroed((size_t)edges, sizeof(size_t))};
    c.system.blocks = (mabd_dual_system){.slot_count = slots,
                                         .edge_count = edges,
                                         .width = c.width,
                                         .row = c.row,
                                         .block = c.block,
                                         .from = c.from,
                                         .to = c.to,
                                         .edge_block = c.edge_block};
    return c;
}

// Allocate the numbers; widths and edges are known.
static void finish(lu_case* c) {
    mabd_dual_system* s = &c->system.blocks;
    for (int32_t k = 0; k < s->slot_count; k++) {
        c->row[k] = s->row_count, c->block[k] = c->numbers;
        s->row_count += c->width[k], c->numbers += (size_t)(c->width[k] * c->width[k]);
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        c->edge_block[e] = c->edge_numbers;
        c->edge_numbers += (size_t)(c->width[c->from[e]] * c->width[c->to[e]]);
    }
    c->D = zeroed(c->numbers, sizeof(mabd_real));
    c->U = zeroed(c->edge_numbers, sizeof(mabd_real));
    c->L = zeroed(c->edge_numbers, sizeof(mabd_real));
    c->b = zeroed((size_t)s->row_count, sizeof(mabd_real));
    c->x = zeroed((size_t)s->row_count, sizeof(mabd_real));
    s->D = c->D, s->U = c->U, c->system.lower = c->L;
}

static void draw(size_t n, double size, uint64_t* seed, mabd_real* x) {
    for (size_t i = 0; i < n; i++) x[i] += (mabd_real)(size * dual_random(seed));
}

static void draw_side(lu_case* c, uint64_t* seed) {
    draw((size_t)c->system.blocks.row_count, 1, seed, c->b);
    memcpy(c->x, c->b, (size_t)c->system.blocks.row_count * sizeof(mabd_real));
}

lu_case lu_case_copy(const dual_case* from, double skew, uint64_t seed) {
    const mabd_dual_system* s = &from->system;
    lu_case c = make(s->slot_count, s->edge_count);
    memcpy(c.width, s->width, (size_t)s->slot_count * sizeof(int32_t));
    for (int32_t e = 0; e < s->edge_count; e++) {
        c.from[e] = s->from[e] - s->slot_offset, c.to[e] = s->to[e] - s->slot_offset;
    }
    finish(&c);
    c.system.blocks.elimination = s->elimination;
    for (int32_t k = 0; k < s->slot_count; k++) {
        const size_t w = (size_t)c.width[k];
        memcpy(c.D + c.block[k], s->D + s->block[k], w * w * sizeof(mabd_real));
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t w = c.width[c.from[e]], v = c.width[c.to[e]];
        const mabd_real* U = s->U + s->edge_block[e];
        for (int32_t i = 0; i < w * v; i++) {
            c.U[c.edge_block[e] + (size_t)i] = U[i];
            c.L[c.edge_block[e] + (size_t)(i % v * w + i / v)] = U[i];
        }
    }
    draw(c.numbers, skew, &seed, c.D);
    draw(c.edge_numbers, skew, &seed, c.U), draw(c.edge_numbers, skew, &seed, c.L);
    draw_side(&c, &seed);
    return c;
}

// Find the edge of two slots by halving; edges are sorted.
static int32_t edge_of(const lu_case* c, int32_t from, int32_t to) {
    int32_t low = 0, high = c->system.blocks.edge_count - 1;
    while (low < high) {
        const int32_t e = (low + high) / 2;
        if (c->from[e] < from || (c->from[e] == from && c->to[e] < to))
            low = e + 1;
        else
            high = e;
    }
    return low;
}

typedef struct pair {
    int32_t from, to;
} pair;

static int compare_pairs(const void* a, const void* b) {
    const pair *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

// List the pairs of coupled slots of a graph, each once. Returns their number.
static int32_t list_pairs(const dual_graph* graph, bool coupled, pair* pairs) {
    int32_t n = 0, kept = 0;
    for (int32_t j = 0; j < graph->joints; j++) {
        const int32_t a = graph->a[j], b = graph->b[j];
        if (a >= 0) pairs[n++] = (pair){a, graph->bodies + j};
        if (b >= 0) pairs[n++] = (pair){b, graph->bodies + j};
        if (coupled && a >= 0 && b >= 0) pairs[n++] = (pair){a < b ? a : b, a < b ? b : a};
    }
    qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || compare_pairs(&pairs[i], &pairs[i - 1]) != 0) pairs[kept++] = pairs[i];
    }
    return kept;
}

// Bodies from the last to the first, each followed by its joint towards the root; then the other
// joints.
static void find_order(lu_case* c, const dual_graph* graph) {
    int32_t* root = zeroed((size_t)graph->bodies, sizeof(int32_t));
    bool* used = zeroed((size_t)graph->joints, sizeof(bool));
    int32_t n = 0;
    c->order = zeroed((size_t)c->system.blocks.slot_count, sizeof(int32_t));
    for (int32_t i = 0; i < graph->bodies; i++) root[i] = -1;
    for (int32_t j = 0; j < graph->joints; j++) {
        const int32_t a = graph->a[j], b = graph->b[j], child = a > b ? a : b;
        if (root[child] < 0) root[child] = j, used[j] = true;
    }
    for (int32_t i = graph->bodies - 1; i >= 0; i--) {
        c->order[n++] = i;
        if (root[i] >= 0) c->order[n++] = graph->bodies + root[i];
    }
    for (int32_t j = 0; j < graph->joints; j++) {
        if (!used[j]) c->order[n++] = graph->bodies + j;
    }
    free(root), free(used);
}

// J (w x 6) of a joint at a body; the block (body, joint) is -J'.
static void put_side(lu_case* c, int32_t body, int32_t joint, const double* J) {
    const int32_t w = c->width[joint];
    const size_t at = c->edge_block[edge_of(c, body, joint)];
    for (int32_t r = 0; r < w; r++) {
        for (int32_t k = 0; k < 6; k++) {
            c->L[at + (size_t)(r * 6 + k)] = (mabd_real)J[r * 6 + k];
            c->U[at + (size_t)(k * w + r)] = (mabd_real)-J[r * 6 + k];
        }
    }
}

// Rows near those of unit vectors, so that chains of any length are well conditioned.
static void draw_rows(int32_t joint, double sign, uint64_t* seed, double* J) {
    for (int i = 0; i < 36; i++) {
        const double unit = i % 6 == (i / 6 + joint) % 6 ? sign : 0;
        J[i] = unit + 0.2 * dual_random(seed);
    }
}

static void put_joints(lu_case* c, const dual_graph* graph, const lu_bodies* how, uint64_t* seed) {
    double J[2][36] = {{0}};
    for (int32_t j = 0; j < graph->joints; j++) {
        const int32_t slot = graph->bodies + j, w = c->width[slot];
        const bool again = how->twin && j == graph->joints - 1;
        for (int side = 0; side < 2 && !again; side++) draw_rows(j, side ? 1 : -1, seed, J[side]);
        if (graph->a[j] >= 0) put_side(c, graph->a[j], slot, J[0]);
        if (graph->b[j] >= 0) put_side(c, graph->b[j], slot, J[1]);
        for (int32_t r = 0; r < w; r++) {
            c->D[c->block[slot] + (size_t)(r * w + r)] = (mabd_real)how->shift;
        }
        c->late[slot] = true;
    }
}

lu_case lu_case_bodies(dual_graph graph, lu_bodies how) {
    uint64_t seed = how.seed;
    pair* pairs = zeroed(3 * (size_t)graph.joints, sizeof *pairs);
    const int32_t edges = list_pairs(&graph, how.coupled, pairs);
    lu_case c = make(graph.bodies + graph.joints, edges);
    for (int32_t i = 0; i < graph.bodies; i++) c.width[i] = 6;
    for (int32_t j = 0; j < graph.joints; j++) c.width[graph.bodies + j] = graph.width[j];
    for (int32_t e = 0; e < edges; e++) c.from[e] = pairs[e].from, c.to[e] = pairs[e].to;
    finish(&c);
    for (int32_t i = 0; i < graph.bodies; i++) {
        mabd_real* D = c.D + c.block[i];
        for (int k = 0; k < 6; k++) D[7 * k] = (mabd_real)(how.mass * (1.5 + dual_random(&seed)));
        draw(36, 0.1 * how.mass, &seed, D);
    }
    for (int32_t e = 0; e < edges && how.coupled; e++) {
        if (c.to[e] >= graph.bodies) continue;
        draw(36, 0.05 * how.mass, &seed, c.U + c.edge_block[e]);
        draw(36, 0.05 * how.mass, &seed, c.L + c.edge_block[e]);
    }
    put_joints(&c, &graph, &how, &seed);
    draw_side(&c, &seed);
    find_order(&c, &graph);
    if (how.mark) c.system.blocks.late = c.late;
    free(pairs);
    dual_graph_free(&graph);
    return c;
}

void lu_case_free(lu_case* c) {
    free(c->width), free(c->row), free(c->block), free(c->late), free(c->order);
    free(c->from), free(c->to), free(c->edge_block);
    free(c->D), free(c->U), free(c->L), free(c->b), free(c->x);
}

// ---- measures ----------------------------------------------------------------------------------

// Visit every entry of K: visit(context, row, column, value).
typedef void entry_visit(void* context, int32_t row, int32_t column, double value);

static void visit_block(const mabd_real* B, int32_t row, int32_t rows, int32_t column,
                        int32_t columns, entry_visit* visit, void* context) {
    for (int32_t i = 0; i < rows * columns; i++) {
        visit(context, row + i / columns, column + i % columns, (double)B[i]);
    }
}

static void visit_all(const lu_case* c, entry_visit* visit, void* context) {
    const mabd_dual_system* s = &c->system.blocks;
    for (int32_t k = 0; k < s->slot_count; k++) {
        visit_block(c->D + c->block[k], c->row[k], c->width[k], c->row[k], c->width[k], visit,
                    context);
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t i = c->from[e], j = c->to[e];
        const size_t at = c->edge_block[e];
        visit_block(c->U + at, c->row[i], c->width[i], c->row[j], c->width[j], visit, context);
        visit_block(c->L + at, c->row[j], c->width[j], c->row[i], c->width[i], visit, context);
    }
}

typedef struct product {
    bool transposed;
    const mabd_real* x;
    double *y, *sums; // product, sums of magnitudes of the rows
} product;

static void add_entry(void* context, int32_t row, int32_t column, double value) {
    product* p = context;
    const int32_t i = p->transposed ? column : row, j = p->transposed ? row : column;
    p->y[i] += value * (double)p->x[j];
    if (p->sums) p->sums[i] += fabs(value);
}

void lu_case_product(const lu_case* c, bool transposed, const mabd_real* x, double* y) {
    product p = {transposed, x, y, NULL};
    memset(y, 0, (size_t)c->system.blocks.row_count * sizeof *y);
    visit_all(c, add_entry, &p);
}

double lu_case_backward_error(const lu_case* c, bool transposed) {
    const int32_t n = c->system.blocks.row_count;
    double *y = zeroed((size_t)n, sizeof *y), *sums = zeroed((size_t)n, sizeof *sums);
    double residual = 0, matrix = 0, solution = 0, side = 0;
    product p = {transposed, c->x, y, sums};
    visit_all(c, add_entry, &p);
    for (int32_t i = 0; i < n; i++) {
        const double r = fabs((double)c->b[i] - y[i]);
        residual = isnan(r) ? INFINITY : fmax(residual, r);
        matrix = fmax(matrix, sums[i]);
        solution = fmax(solution, fabs((double)c->x[i]));
        side = fmax(side, fabs((double)c->b[i]));
    }
    free(y), free(sums);
    return residual / (matrix * solution + side);
}

typedef struct dense {
    int n;
    double* K; // by columns
} dense;

static void put_entry(void* context, int32_t row, int32_t column, double value) {
    const dense* d = context;
    d->K[(size_t)column * (size_t)d->n + (size_t)row] = value;
}

static double norm_1(const dense* d) {
    double norm = 0;
    for (int j = 0; j < d->n; j++) {
        double sum = 0;
        for (int i = 0; i < d->n; i++) sum += fabs(d->K[(size_t)j * (size_t)d->n + (size_t)i]);
        norm = fmax(norm, sum);
    }
    return norm;
}

// y = K^-1 y
static double solve_dense(const dense* d, bool transposed, double* y) {
    const int n = d->n, one = 1;
    const double norm = norm_1(d);
    int *pivots = zeroed((size_t)n, sizeof *pivots), *iwork = zeroed((size_t)n, sizeof *iwork);
    double *work = zeroed(4 * (size_t)n, sizeof *work), reciprocal = 0;
    int info;
    dgetrf_(&n, &n, d->K, &n, pivots, &info);
    if (info == 0) dgecon_("1", &n, d->K, &n, &norm, &reciprocal, work, iwork, &info);
    if (info == 0) dgetrs_(transposed ? "T" : "N", &n, &one, d->K, &n, pivots, y, &n, &info);
    free(pivots), free(iwork), free(work);
    return info ? INFINITY : 1 / reciprocal;
}

double lu_case_dense_difference(const lu_case* c, bool transposed, double* condition) {
    const int n = c->system.blocks.row_count;
    dense d = {n, zeroed((size_t)n * (size_t)n, sizeof(double))};
    double *y = zeroed((size_t)n, sizeof *y), difference = 0, largest = 0;
    visit_all(c, put_entry, &d);
    for (int i = 0; i < n; i++) y[i] = (double)c->b[i];
    *condition = solve_dense(&d, transposed, y);
    for (int i = 0; i < n; i++) {
        const double e = fabs((double)c->x[i] - y[i]);
        difference = isnan(e) ? INFINITY : fmax(difference, e);
        largest = fmax(largest, fabs(y[i]));
    }
    free(d.K), free(y);
    return difference / largest;
}
