// SPDX-License-Identifier: Apache-2.0
//
// Multifrontal K = L d L', node by node, children before parents. For each node:
//
//   assemble    own columns F of the front = blocks of D and U + the children's update matrices
//   eliminate   8 columns J at a time, 8 rows I at a time:
//                   X_IJ = F_IJ - sum_{k < J} L_Ik (d_k L_Jk)'
//                   X_JJ = L_JJ d_J L_JJ'          L_IJ = X_IJ L_JJ'^-1 d_J^-1
//   pass on     update matrix of the rows below = children's - L_21 d L_21'
//
// solve: L z = b, d w = z, L' x = w, node by node, forwards and backwards.
//
// Threads process parts concurrently (block_factor.c). The top has few and large fronts: there
// threads share the rows of a front's columns, and the columns of its update matrix. Every tile is
// computed as by one thread.

#include "dual/block_numeric.h"
#include "dual/dense_kernels.h"
#include "math/block.h"

#include <math.h>
#include <string.h>

// A pivot this small beside its row's own diagonal is round-off: the row depends on the others.
#define LEAST_PIVOT 1e-14

// Blocks are prefetched this many nodes ahead: small nodes take less time than a memory access.
#define AHEAD 5

// A node's front as the kernels see it.
typedef struct front {
    int32_t width, wide, below, deep; // rows, and padded to tiles
    int64_t height;                   // wide + deep: stride of F
    double* F;                        // own columns
    double* L;                        // tiles
    double* update;                   // deep x deep, by columns
    double *d, *inverse;
} front;

static double* update_of(const mabd_dual_block_factor* f, const mabd_dual_block_node* node) {
    const int64_t held = f->touched ? f->held_at[node - f->symbolic->nodes] : -1;
    if (held >= 0) return f->held + held;
    return (node->kept ? f->kept : f->stack) + node->update;
}

static front open_front(const mabd_dual_block_factor* f, const mabd_dual_block_node* node) {
    front a;
    a.width = node->width, a.below = node->below;
    a.wide = MABD_BLOCK_PAD(a.width), a.deep = MABD_BLOCK_PAD(a.below);
    a.height = a.wide + a.deep;
    a.F = f->front;
    a.L = f->L + node->panel;
    a.update = update_of(f, node);
    a.d = f->d + node->row, a.inverse = f->inverse + node->row;
    return a;
}

// ---- assemble ----------------------------------------------------------------------------------

// Write both triangles: no code reads the upper one. D is symmetric, its rows are its columns.
MABD_HOT void add_diagonal(int w, const mabd_real* D, double sign, const front* a, int32_t column,
                           double* least) {
    double* F = a->F + column * a->height + column;
    for (int j = 0; j < w; j++, F += a->height) {
        mabd_dual_copy(w, D + j * w, 1, F);
        least[column + j] = sign * fabs(LEAST_PIVOT * (double)D[j * w + j]);
    }
}

// U is from x to.
MABD_HOT void add_edge(int from, int to, const mabd_real* U, bool transposed, double* F,
                       int64_t height) {
    if (transposed) {
        for (int i = 0; i < from; i++) mabd_dual_copy(to, U + i * to, 1, F + i * height);
    } else {
        for (int j = 0; j < to; j++) mabd_dual_copy(from, U + j, to, F + j * height);
    }
}

MABD_HOT void add_triangle_just(int n, const double* from, int64_t from_stride, double* to,
                                int64_t to_stride) {
#pragma GCC unroll 8
    for (int j = 0; j < n; j++)
        mabd_dual_add_just(n - j, from + j * (from_stride + 1), to + j * (to_stride + 1));
}
// to += from, lower triangles, n x n
static void add_triangle(int32_t n, const double* from, int64_t from_stride, double* to,
                         int64_t to_stride) {
    if (n <= MABD_TILE) {
#define CALL(count) add_triangle_just(count, from, from_stride, to, to_stride)
        MABD_FOR_COUNT(n, CALL)
#undef CALL
        return;
    }
    for (int32_t j = 0; j < n; j++)
        mabd_dual_add(n - j, from + j * (from_stride + 1), to + j * (to_stride + 1));
}

// Add a child's update matrix to the own columns of the front, or to those below: for each run of
// its columns, the runs of rows from there on.
static void add_child(const mabd_dual_block_factor* f, const mabd_dual_block_node* child,
                      const front* a, bool own) {
    const int64_t stride = MABD_BLOCK_PAD(child->below);
    const mabd_dual_block_run *runs = f->symbolic->runs + child->run,
                              *end = runs + child->run_count;
    const double* from = update_of(f, child); // diagonal entry of a run's first column
    const int64_t height = own ? a->height : a->deep;
    const int32_t above = own ? 0 : a->wide; // local row of the first entry of a column
    for (const mabd_dual_block_run* across = runs; across < end; across++) {
        const int32_t columns = across->length;
        if (own == (across->at < a->wide)) {
            double* to = (own ? a->F : a->update) + (across->at - above) * height - above;
            const double* rows = from + columns;
            add_triangle(columns, from, stride, to + across->at, height);
            for (const mabd_dual_block_run* down = across + 1; down < end; down++) {
                mabd_dual_add_block(down->length, columns, rows, stride, to + down->at, height);
                rows += down->length;
            }
        }
        from += columns * (stride + 1);
    }
}
static void add_children(const mabd_dual_block_factor* f, const mabd_dual_block_node* node,
                         const front* a, bool own) {
    const int32_t* children = f->symbolic->children + node->child;
    for (int32_t i = 0; i < node->child_count; i++) {
        add_child(f, &f->symbolic->nodes[children[i]], a, own);
    }
}

// Prefetch the blocks of a node: they are read in elimination order, not in the order of memory.
// (Inlined: gcc treats a function that only prefetches as one without effect and drops its calls.)
MABD_HOT void prefetch(const mabd_dual_block_symbolic* m, const mabd_dual_system* system,
                       const mabd_dual_block_node* node) {
    for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
        const mabd_dual_block_slot* slot = &m->slots[k];
        mabd_block_prefetch(slot->width, slot->width, system->D + slot->block, 0);
    }
    for (int32_t i = node->place; i < node->place + node->place_count; i++) {
        const mabd_dual_block_place* place = &m->places[i];
        mabd_block_prefetch(place->rows, place->columns, system->U + place->block, 0);
    }
}

static void assemble(const mabd_dual_block_factor* f, const mabd_dual_system* system,
                     const mabd_dual_block_node* node, const front* a) {
    const mabd_dual_block_symbolic* m = f->symbolic;
    memset(a->F, 0, (size_t)(a->height * a->width) * sizeof(double));
    for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
        const mabd_dual_block_slot* s = &m->slots[k];
        const mabd_real* D = system->D + s->block;
        const double sign = system->negative && system->negative[s->slot] ? -1 : 1;
        // joints at points: lengths that the compiler knows
        if (s->width == 3) {
            add_diagonal(3, D, sign, a, s->first - node->row, f->least);
        } else {
            add_diagonal(s->width, D, sign, a, s->first - node->row, f->least);
        }
    }
    for (int32_t i = 0; i < node->place_count; i++) {
        const mabd_dual_block_place* p = &m->places[node->place + i];
        const mabd_real* U = system->U + p->block;
        double* F = a->F + p->column * a->height + p->row;
        if (p->rows == 3 && p->columns == 3) {
            add_edge(3, 3, U, p->transposed, F, a->height);
        } else {
            add_edge(p->rows, p->columns, U, p->transposed, F, a->height);
        }
    }
    add_children(f, node, a, true);
}

// ---- eliminate ---------------------------------------------------------------------------------

// scaled (columns x 8) = the rows of a tile times d
static void scale_rows(int32_t columns, const double* L, const double* d, double* scaled) {
    for (int32_t k = 0; k < columns; k++) {
        mabd_dual_column_store(
            mabd_dual_column_scale(mabd_dual_column_load(L + MABD_TILE * k), d[k]),
            scaled + MABD_TILE * k);
    }
}

// Return true if a pivot has the sign of `least` (which may be that of a zero) and a larger
// magnitude, and its reciprocal is not zero.
MABD_HOT bool is_pivot(double pivot, double reciprocal, double least) {
    const double sign = copysign(1, least);
    return sign * pivot > sign * least && sign * reciprocal > 0;
}

// Factor the n x n block F (columns `stride` apart) as L d L' into T (columns 8 apart); rows from n
// on are zero. Uses scalars: each pivot depends on the previous one, and lanes would only add
// latency. Returns the column of the first failing pivot, or -1.
MABD_HOT int factor_tile(int n, const double* F, int64_t stride, double* T, const double* least,
                         double* d, double* inverse) {
    double x[MABD_TILE][MABD_TILE];
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
#pragma GCC unroll 8
        for (int i = j; i < n; i++) x[j][i] = F[j * stride + i];
    }
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
        const double pivot = x[j][j], reciprocal = 1 / pivot;
        if (!is_pivot(pivot, reciprocal, least[j])) return j;
        d[j] = pivot, inverse[j] = reciprocal;
#pragma GCC unroll 8
        for (int c = j + 1; c < n; c++) {
            const double l = x[j][c] * reciprocal;
#pragma GCC unroll 8
            for (int i = c; i < n; i++) x[c][i] -= l * x[j][i];
            T[MABD_TILE * j + c] = l;
        }
    }
    return -1;
}

// X (8 x n, columns `stride` apart) -> L = X T'^-1 d^-1 with T the factored diagonal tile
MABD_HOT void finish_tile(int n, const double* T, const double* inverse, const double* X,
                          int64_t stride, double* L) {
    mabd_dual_column x[MABD_TILE];
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
        x[c] = mabd_dual_column_load(X + c * stride);
#pragma GCC unroll 8
        for (int j = 0; j < c; j++) x[c] = mabd_dual_column_sub(x[c], x[j], T[MABD_TILE * j + c]);
        mabd_dual_column_store(mabd_dual_column_clean(mabd_dual_column_scale(x[c], inverse[c])),
                               L + MABD_TILE * c);
    }
}

// Current columns j .. j + n - 1, their factored diagonal tile, and its rows times d.
typedef struct columns {
    const front* a;
    int32_t n, j;
    const double *T, *scaled;
} columns;

// Least operations for which threads share a front, and tiles per work unit.
#define SHARED_WORK 400000
#define SHARED_ROWS 8

// Eliminate rows i to end of columns whose diagonal tile is done.
MABD_HOT void eliminate_rows(int n, const columns* c, int64_t i, int64_t end) {
    const front* a = c->a;
    const int64_t tile = MABD_TILE * (int64_t)a->width; // doubles of 8 rows of L
    double* F = a->F + c->j * a->height;
    for (; i < end; i += MABD_TILE) {
        double* L = a->L + i / MABD_TILE * tile;
        if (c->j > 0) mabd_dual_tile_sub(n, c->j, L, c->scaled, F + i, F + i, a->height);
        finish_tile(n, c->T, a->inverse + c->j, F + i, a->height, L + MABD_TILE * (int64_t)c->j);
    }
}

static void eliminate_rows_part(void* context, int32_t part, int32_t thread) {
    const columns* c = context;
    const int64_t first = c->j + MABD_TILE + (int64_t)part * SHARED_ROWS * MABD_TILE;
    const int64_t beyond = first + SHARED_ROWS * MABD_TILE;
    const int64_t end = beyond < c->a->height ? beyond : c->a->height;
    (void)thread;
#define CALL(count) eliminate_rows(count, c, first, end)
    MABD_FOR_COUNT(c->n, CALL)
#undef CALL
}

// Eliminate columns j .. j + n - 1 of the front. Returns the failing column among them, or -1.
MABD_HOT int eliminate_columns(int n, int32_t j, const front* a, const mabd_dual_block_factor* f) {
    double* own = a->L + j / MABD_TILE * MABD_TILE * (int64_t)a->width;
    double* F = a->F + j * a->height;
    double T[MABD_TILE * MABD_TILE];
    columns c = {a, n, j, T, f->scaled};
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        mabd_dual_column_store((mabd_dual_column){{{0}}}, T + MABD_TILE * k);
    if (j > 0) {
        scale_rows(j, own, a->d, f->scaled);
        mabd_dual_tile_sub(n, j, own, f->scaled, F + j, F + j, a->height);
    }
    const int bad = factor_tile(n, F + j, a->height, T, f->least + j, a->d + j, a->inverse + j);
    if (bad >= 0) return bad;
    memcpy(own + MABD_TILE * (int64_t)j, T, (size_t)(MABD_TILE * n) * sizeof(double));
    const int64_t rows = a->height - j - MABD_TILE;
    if (f->pool && rows * n * (j + n) > SHARED_WORK) {
        const int64_t part = SHARED_ROWS * MABD_TILE;
        mabd_pool_run(f->pool, (int32_t)((rows + part - 1) / part), eliminate_rows_part, &c);
    } else {
        eliminate_rows(n, &c, j + MABD_TILE, a->height);
    }
    return -1;
}

static int eliminate_some(int n, int32_t j, const front* a, const mabd_dual_block_factor* f) {
    int bad;
#define CALL(count) bad = eliminate_columns(count, j, a, f)
    MABD_FOR_COUNT(n, CALL)
#undef CALL
    return bad;
}

// Eliminate the own columns; return the first failing one, or -1.
static int32_t eliminate(const front* a, const mabd_dual_block_factor* f) {
    for (int32_t j = 0; j < a->width; j += MABD_TILE) {
        const int n = a->width - j < MABD_TILE ? (int)(a->width - j) : MABD_TILE;
        const int bad = eliminate_some(n, j, a, f);
        if (bad >= 0) return j + bad;
    }
    return -1;
}

// Compute n columns from j on of update = -L_21 d L_21', lower tiles.
MABD_HOT void pass_on_columns(int n, int64_t j, const front* a, double* scaled) {
    const int64_t tile = MABD_TILE * (int64_t)a->width;
    const double* L = a->L + (a->wide + j) / MABD_TILE * tile;
    double* update = a->update + j * a->deep;
    scale_rows(a->width, L, a->d, scaled);
    for (int64_t i = j; i < a->deep; i += MABD_TILE, L += tile) {
        mabd_dual_tile_sub(n, a->width, L, scaled, NULL, update + i, a->deep);
    }
}
static void pass_on_some(const front* a, int64_t j, double* scaled) {
#define CALL(n) pass_on_columns(n, j, a, scaled)
    MABD_FOR_COUNT(a->below - j, CALL)
#undef CALL
}
// The own columns of the front are no longer needed: they serve as workspace of the parts.
static void pass_on_part(void* context, int32_t part, int32_t thread) {
    const front* a = context;
    (void)thread;
    pass_on_some(a, MABD_TILE * (int64_t)part, a->F + MABD_TILE * (int64_t)part * a->width);
}
static void pass_on(front* a, const mabd_dual_block_factor* f) {
    if (f->pool && (int64_t)a->width * a->deep * a->deep > SHARED_WORK) {
        mabd_pool_run(f->pool, a->deep / MABD_TILE, pass_on_part, a);
        return;
    }
    for (int64_t j = 0; j < a->deep; j += MABD_TILE) pass_on_some(a, j, f->scaled);
}

// ---- solve -------------------------------------------------------------------------------------

// Compute x of the own rows = d^-1 L_11^-1 x, and subtract L_21 (L_11^-1 x) from x of the rows
// below.
static void solve_forward(const mabd_dual_block_factor* f, const mabd_dual_block_node* node) {
    const front a = open_front(f, node);
    const int64_t tile = MABD_TILE * (int64_t)a.width;
    double* x = f->x + node->row;
    for (int64_t i = 0; i < a.wide; i += MABD_TILE) {
        const double* L = a.L + i / MABD_TILE * tile;
#define CALL(n) mabd_dual_tile_forward(n, L, i, x)
        MABD_FOR_COUNT(a.width - i, CALL)
#undef CALL
    }
    for (int64_t i = 0; i < a.deep; i += MABD_TILE) {
        const double* L = a.L + (a.wide + i) / MABD_TILE * tile;
        mabd_dual_column sum = {{{0}}};
        for (int32_t k = 0; k < a.width; k++) {
            sum = mabd_dual_column_sub(sum, mabd_dual_column_load(L + MABD_TILE * k), x[k]);
        }
        mabd_dual_column_store(sum, f->below + i);
    }
    const double* z = f->below;
    for (int32_t i = 0; i < node->run_count; i++) {
        const mabd_dual_block_run* run = &f->symbolic->runs[node->run + i];
        const int32_t up = run->row - f->symbolic->top_row;
        mabd_dual_add(run->length, z, up >= 0 ? f->above + up : f->x + run->row);
        z += run->length;
    }
    for (int32_t k = 0; k < a.width; k++) x[k] *= a.inverse[k];
}

// z[j ..] = L_jj'^-1 (z[j ..] - L_ij' z_i), n rows; z holds all rows of the front
MABD_HOT void backward_tile(int n, const front* a, int64_t j, double* z) {
    const double* L = a->L + (j / MABD_TILE * a->width + j) * MABD_TILE;
    const int64_t tile = MABD_TILE * (int64_t)a->width, first = j + MABD_TILE;
    mabd_dual_tile_dots(n, L + tile, tile, (a->height - first) / MABD_TILE, z + first, z + j);
    mabd_dual_tile_backward(n, L, z + j);
}

// x of the own rows = L_11'^-1 (x - L_21' x of the rows below); z: room for all rows of the front
static void solve_backward(const mabd_dual_block_factor* f, const mabd_dual_block_node* node,
                           double* z) {
    const front a = open_front(f, node);
    double* below = z + a.wide;
    for (int32_t k = a.width; k < a.wide; k++) z[k] = 0;
    memcpy(z, f->x + node->row, (size_t)a.width * sizeof(double));
    for (int32_t i = 0; i < node->run_count; i++) {
        const mabd_dual_block_run* run = &f->symbolic->runs[node->run + i];
        memcpy(below, f->x + run->row, (size_t)run->length * sizeof(double));
        below += run->length;
    }
    for (double* end = z + a.height; below < end; below++) *below = 0;
    for (int64_t j = a.wide - MABD_TILE; j >= 0; j -= MABD_TILE) {
#define CALL(n) backward_tile(n, &a, j, z)
        MABD_FOR_COUNT(a.width - j, CALL)
#undef CALL
    }
    memcpy(f->x + node->row, z, (size_t)a.width * sizeof(double));
}

// ---- all nodes ----------------------------------------------------------------------------------

// Prefetch a node's columns of L, unless they are so many that processing hides the latency. They
// are written node by node and read downwards, a pattern that hardware prefetchers do not follow.
#define LARGE 4096 // doubles
MABD_HOT void ask_for_columns(const mabd_dual_block_factor* f, const mabd_dual_block_node* node) {
    const int64_t height = MABD_BLOCK_PAD(node->width) + MABD_BLOCK_PAD(node->below);
    const int64_t size = height * node->width;
    const double* L = f->L + node->panel;
    for (int64_t i = 0; i < size && size < LARGE; i += MABD_TILE) MABD_PREFETCH(L + i);
}

// True if a pass leaves out a node.
MABD_HOT bool leaves_out(const mabd_dual_block_factor* f, int32_t node) {
    if (f->pass == MABD_BLOCK_ALL || f->pass == MABD_BLOCK_BASE) return false;
    return (f->touched[node] != 0) != (f->pass == MABD_BLOCK_TOUCHED);
}

int32_t MABD_BLOCK_JOIN(factor, MABD_ISA)(const mabd_dual_block_factor* f,
                                          const mabd_dual_system* system,
                                          const mabd_dual_block_part* part, bool with) {
    for (int32_t s = part->first; s < part->last; s++) {
        const mabd_dual_block_node* node = &f->symbolic->nodes[s];
        if (leaves_out(f, s)) continue;
        front a = open_front(f, node);
        if (s + AHEAD < part->last) prefetch(f->symbolic, system, node + AHEAD);
        if (s + 1 < part->last) ask_for_columns(f, node + 1);
        assemble(f, system, node, &a);
        const int32_t bad = eliminate(&a, f);
        if (bad >= 0) return node->row + bad;
        if (node->below) pass_on(&a, f);
        if (node->inherits) add_children(f, node, &a, false);
        if (with && !(f->pass == MABD_BLOCK_BASE && f->touched[s])) solve_forward(f, node);
    }
    return -1;
}

void MABD_BLOCK_JOIN(forward, MABD_ISA)(const mabd_dual_block_factor* f,
                                        const mabd_dual_block_part* part) {
    for (int32_t s = part->first; s < part->last; s++) {
        if (!leaves_out(f, s)) solve_forward(f, &f->symbolic->nodes[s]);
    }
}

void MABD_BLOCK_JOIN(backward, MABD_ISA)(const mabd_dual_block_factor* f,
                                         const mabd_dual_block_part* part) {
    for (int32_t s = part->last - 1; s >= part->first; s--) {
        const mabd_dual_block_node* node = &f->symbolic->nodes[s];
        if (leaves_out(f, s)) continue;
        if (s - 2 >= part->first) ask_for_columns(f, node - 2);
        solve_backward(f, node, f->front);
    }
}
