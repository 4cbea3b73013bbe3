// SPDX-License-Identifier: Apache-2.0
//
// Multifrontal P K = L U, node by node, children before parents. For each node, with its own rows
// and columns 1 and those below 2:
//
//   assemble    F = (F_11; F_21) own columns, G = F_12' own rows: blocks of the system + the
//               children's update matrices
//   eliminate   P F_11 = L_11 U_11, 8 columns J at a time, the largest entry of a column is its
//               pivot:
//                   U_IJ = L_II^-1 (F_IJ - sum_{k < I} L_Ik U_kJ)       rows I above J
//                   L_IJ = (F_IJ - sum_{k < J} L_Ik U_kJ) U_JJ^-1       rows I below J, own and not
//               then the rows right of the pivot block, as columns of their transpose:
//                   U_12' = (P G')' L_11'^-1
//   pass on     update matrix of the rows below = children's - L_21 U_12
//
// L_21 and U_12' are kept by tiles of 8 rows (dense_kernels.h), so every product is A B' of two
// tiles. Every entry is summed in a fixed order: bits depend neither on the length of vectors nor
// on anything else but the system.
//
// solve: L z = P b, U x = z; transposed: U' z = b, L' y = z, x = P' y.

#include "dual/block_lu_numeric.h"
#include "dual/dense_kernels.h"
#include "dual/magnitude.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Blocks are prefetched this many nodes ahead: small nodes take less time than a memory access.
#define AHEAD 4

// A node's front as the kernels see it.
typedef struct front {
    int32_t width, wide, below, deep; // rows, and padded to tiles
    int64_t height;                   // wide + deep: stride of F
    int64_t tile;                     // doubles of 8 rows of L or U
    double *F, *G;
    double *L, *U;  // tiles
    double* update; // deep x deep, by columns
    double *inverse, *least;
    int32_t* swap;
} front;

static double* update_of(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    return (node->kept ? f->kept : f->stack) + node->update;
}

static front open_front(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    front a;
    a.width = node->width, a.below = node->below;
    a.wide = MABD_BLOCK_PAD(a.width), a.deep = MABD_BLOCK_PAD(a.below);
    a.height = a.wide + a.deep;
    a.tile = MABD_TILE * (int64_t)a.width;
    a.F = f->F, a.G = f->G;
    a.L = f->L + node->panel;
    a.U = f->U + f->across[node - f->symbolic->nodes];
    a.update = update_of(f, node);
    a.inverse = f->inverse + node->row, a.least = f->least + node->row;
    a.swap = f->swap + node->row;
    return a;
}

static double* tiles_below(const front* a) {
    return a->L + a->wide / MABD_TILE * a->tile;
}

// ---- assemble ----------------------------------------------------------------------------------

// B (rows x columns, row-major) into columns of the front.
MABD_HOT void put_block(int rows, int columns, const mabd_real* B, double* F, int64_t height) {
    for (int c = 0; c < columns; c++) mabd_dual_copy(rows, B + c, columns, F + c * height);
}
// B (rows x columns, row-major) into rows of the front.
MABD_HOT void put_rows(int rows, int columns, const mabd_real* B, double* G, int64_t deep) {
    for (int r = 0; r < rows; r++) mabd_dual_copy(columns, B + r * columns, 1, G + r * deep);
}

// Put both blocks of an edge: C (rows x columns) in the columns of its earlier slot, and R (columns
// x rows) in the rows of that slot.
MABD_HOT void put_edge(int rows, int columns, const mabd_real* C, const mabd_real* R,
                       const mabd_dual_block_place* p, const front* a) {
    put_block(rows, columns, C, a->F + p->column * a->height + p->row, a->height);
    if (p->row < a->wide) {
        put_block(columns, rows, R, a->F + p->row * a->height + p->column, a->height);
    } else {
        put_rows(columns, rows, R, a->G + p->column * (int64_t)a->deep + p->row - a->wide, a->deep);
    }
}

static void put_place(const mabd_dual_lu_system* system, const mabd_dual_block_place* p,
                      const front* a) {
    const mabd_real* upper = system->blocks.U + p->block;
    const mabd_real* lower = system->lower + p->block;
    const int rows = p->transposed ? p->columns : p->rows;
    const int columns = p->transposed ? p->rows : p->columns;
    const mabd_real *C = p->transposed ? lower : upper, *R = p->transposed ? upper : lower;
    if (rows == 3 && columns == 6) { // joints at points: lengths that the compiler knows
        put_edge(3, 6, C, R, p, a);
    } else if (rows == 6 && columns == 3) {
        put_edge(6, 3, C, R, p, a);
    } else {
        put_edge(rows, columns, C, R, p, a);
    }
}

// to += from', from rows x columns by columns, to by rows
static void add_turned(int32_t rows, int32_t columns, const double* from, int64_t stride,
                       double* to, int64_t deep) {
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) to[i * deep + j] += from[j * stride + i];
    }
}

// Add rows `down` of the columns `across` of a child's update matrix to the own columns and rows of
// the front, or to its update matrix.
static void add_run(const mabd_dual_block_run* down, const mabd_dual_block_run* across,
                    const double* from, int64_t stride, const front* a, bool own) {
    const int64_t row = down->at, column = across->at, wide = a->wide, deep = a->deep;
    const int32_t rows = down->length, columns = across->length;
    if (column < wide) {
        if (!own) return;
        mabd_dual_add_block(rows, columns, from, stride, a->F + column * a->height + row,
                            a->height);
    } else if (row < wide) {
        if (own) add_turned(rows, columns, from, stride, a->G + row * deep + column - wide, deep);
    } else if (!own) {
        double* to = a->update + (column - wide) * deep + row - wide;
        mabd_dual_add_block(rows, columns, from, stride, to, deep);
    }
}

static void add_child(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* child,
                      const front* a, bool own) {
    const int64_t stride = MABD_BLOCK_PAD(child->below);
    const mabd_dual_block_run *runs = f->symbolic->runs + child->run,
                              *end = runs + child->run_count;
    const double* from = update_of(f, child);
    for (const mabd_dual_block_run* across = runs; across < end; across++) {
        const double* rows = from;
        for (const mabd_dual_block_run* down = runs; down < end; down++) {
            add_run(down, across, rows, stride, a, own);
            rows += down->length;
        }
        from += across->length * stride;
    }
}
static void add_children(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node,
                         const front* a, bool own) {
    const int32_t* children = f->symbolic->children + node->child;
    for (int32_t i = 0; i < node->child_count; i++) {
        add_child(f, &f->symbolic->nodes[children[i]], a, own);
    }
}

static void assemble(const mabd_dual_lu_numbers* f, const mabd_dual_lu_system* system,
                     const mabd_dual_block_node* node, const front* a) {
    const mabd_dual_block_symbolic* m = f->symbolic;
    memset(a->F, 0, (size_t)(a->height * a->width) * sizeof(double));
    memset(a->G, 0, (size_t)a->deep * (size_t)a->width * sizeof(double));
    for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
        const mabd_dual_block_slot* s = &m->slots[k];
        double* F = a->F + (s->first - node->row) * (a->height + 1);
        const mabd_real* D = system->blocks.D + s->block;
        if (s->width == 6) {
            put_block(6, 6, D, F, a->height);
        } else {
            put_block(s->width, s->width, D, F, a->height);
        }
    }
    for (int32_t i = 0; i < node->place_count; i++) {
        put_place(system, &m->places[node->place + i], a);
    }
    add_children(f, node, a, true);
}

// ---- eliminate ---------------------------------------------------------------------------------

// Solve for 8 rows of U: X (8 x n, columns `stride` apart) = T^-1 X, T unit lower triangular, and
// copy its rows to pack.
MABD_HOT void finish_above(int n, const double* T, double* X, int64_t stride, double* pack) {
    for (int c = 0; c < n; c++, X += stride) {
        for (int k = 0; k < MABD_TILE; k++) {
            for (int r = k + 1; r < MABD_TILE; r++) X[r] -= T[MABD_TILE * k + r] * X[k];
            pack[MABD_TILE * k + c] = X[k];
        }
    }
}

// X (8 x n) -> L = X T^-1, T the upper triangle of the factored diagonal tile
MABD_HOT void finish_columns(int n, const double* T, const double* inverse, const double* X,
                             int64_t stride, double* L) {
    mabd_dual_column x[MABD_TILE];
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
        x[c] = mabd_dual_column_load(X + c * stride);
#pragma GCC unroll 8
        for (int k = 0; k < c; k++) x[c] = mabd_dual_column_sub(x[c], x[k], T[MABD_TILE * c + k]);
        x[c] = mabd_dual_column_clean(mabd_dual_column_scale(x[c], inverse[c]));
        mabd_dual_column_store(x[c], L + MABD_TILE * c);
    }
}

// X (8 x n) -> U = X T'^-1, T the unit lower triangle of the factored diagonal tile
MABD_HOT void finish_rows(int n, const double* T, const double* X, int64_t stride, double* U) {
    mabd_dual_column x[MABD_TILE];
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
        x[c] = mabd_dual_column_load(X + c * stride);
#pragma GCC unroll 8
        for (int k = 0; k < c; k++) x[c] = mabd_dual_column_sub(x[c], x[k], T[MABD_TILE * k + c]);
        x[c] = mabd_dual_column_clean(x[c]);
        mabd_dual_column_store(x[c], U + MABD_TILE * c);
    }
}

// Return the row of the largest entry of a column from row `first` on, -1 if all are NaN.
MABD_HOT int32_t find_pivot(const double* column, int32_t first, int32_t end) {
    double most = -1;
    int32_t row = -1;
    for (int32_t i = first; i < end; i++) {
        const double size = fabs(column[i]);
        if (size > most) most = size, row = i;
    }
    return row;
}

// Exchange two own rows: in F, and in the columns of L before column j.
static void swap_rows(const front* a, int32_t j, int32_t p, int32_t q) {
    double *L = a->L + p / MABD_TILE * a->tile + p % MABD_TILE,
           *M = a->L + q / MABD_TILE * a->tile + q % MABD_TILE;
    for (int32_t k = 0; k < a->width; k++) {
        double *x = a->F + k * a->height + p, *y = a->F + k * a->height + q;
        const double kept = *x;
        *x = *y, *y = kept;
    }
    for (int32_t k = 0; k < j; k++, L += MABD_TILE, M += MABD_TILE) {
        const double kept = *L;
        *L = *M, *M = kept;
    }
}

// Subtract the column c of the panel at column j, whose pivot is in place, from its later columns.
MABD_HOT void subtract_column(int n, int c, int32_t j, const front* a, double inverse) {
    double* F = a->F + j * a->height + j;
    double *own = F + c * a->height, multiplier[MABD_TILE] = {0};
    for (int r = c + 1; r < MABD_TILE; r++) own[r] = multiplier[r] = own[r] * inverse;
    for (int64_t i = 0; i < a->wide - j; i += MABD_TILE) {
        mabd_dual_column l = mabd_dual_column_load(i ? own + i : multiplier);
        if (i) {
            l = mabd_dual_column_scale(l, inverse);
            mabd_dual_column_store(l, own + i);
        }
#pragma GCC unroll 8
        for (int k = c + 1; k < n; k++) {
            double* x = F + k * a->height;
            const mabd_dual_column rest = mabd_dual_column_load(x + i);
            mabd_dual_column_store(mabd_dual_column_sub(rest, l, x[c]), x + i);
        }
    }
}

// Factor n own columns from j on, rows j to the last own one. Returns the column of the first
// failing pivot from j on, or -1.
MABD_HOT int factor_panel(int n, int32_t j, const front* a) {
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
        const double* column = a->F + (j + c) * a->height;
        const int32_t p = find_pivot(column, j + c, a->width);
        if (p < 0 || !(fabs(column[p]) > a->least[j + c])) return c;
        const double inverse = 1 / column[p];
        if (!(fabs(inverse) > 0 && fabs(inverse) <= DBL_MAX)) return c;
        a->swap[j + c] = p;
        if (p != j + c) swap_rows(a, j, j + c, p);
        a->inverse[j + c] = inverse;
        subtract_column(n, c, j, a, inverse);
    }
    return -1;
}

// Eliminate own columns j .. j + n - 1. Returns the failing column among them, or -1.
MABD_HOT int eliminate_columns(int n, int32_t j, const front* a, double* pack) {
    double* F = a->F + j * a->height;
    for (int32_t i = 0; i < j; i += MABD_TILE) {
        const double* L = a->L + i / MABD_TILE * a->tile;
        if (i > 0) mabd_dual_tile_sub(n, i, L, pack, F + i, F + i, a->height);
        finish_above(n, L + MABD_TILE * i, F + i, a->height, pack + MABD_TILE * i);
    }
    for (int32_t i = j; i < a->wide && j > 0; i += MABD_TILE) {
        const double* L = a->L + i / MABD_TILE * a->tile;
        mabd_dual_tile_sub(n, j, L, pack, F + i, F + i, a->height);
    }
    const int bad = factor_panel(n, j, a);
    if (bad >= 0) return bad;
    for (int64_t i = 0; i < a->wide; i += MABD_TILE) {
        double* L = a->L + i / MABD_TILE * a->tile + MABD_TILE * j;
        for (int c = 0; c < n; c++) {
            const mabd_dual_column x = mabd_dual_column_load(F + c * a->height + i);
            mabd_dual_column_store(x, L + MABD_TILE * c);
        }
    }
    const double* T = a->L + j / MABD_TILE * a->tile + MABD_TILE * j;
    for (int64_t i = a->wide; i < a->height; i += MABD_TILE) {
        double* L = a->L + i / MABD_TILE * a->tile;
        if (j > 0) mabd_dual_tile_sub(n, j, L, pack, F + i, F + i, a->height);
        finish_columns(n, T, a->inverse + j, F + i, a->height, L + MABD_TILE * j);
    }
    return -1;
}

// Compute n columns from j on of U_12'.
MABD_HOT void eliminate_rows(int n, int32_t j, const front* a) {
    const double* L = a->L + j / MABD_TILE * a->tile;
    double* G = a->G + j * (int64_t)a->deep;
    for (int64_t i = 0; i < a->deep; i += MABD_TILE) {
        double* U = a->U + i / MABD_TILE * a->tile;
        if (j > 0) mabd_dual_tile_sub(n, j, U, L, G + i, G + i, a->deep);
        finish_rows(n, L + MABD_TILE * j, G + i, a->deep, U + MABD_TILE * j);
    }
}

static void swap_sides(const front* a) {
    for (int32_t k = 0; k < a->width; k++) {
        if (a->swap[k] == k) continue;
        double *x = a->G + k * (int64_t)a->deep, *y = a->G + a->swap[k] * (int64_t)a->deep;
        for (int32_t i = 0; i < a->deep; i++) {
            const double kept = x[i];
            x[i] = y[i], y[i] = kept;
        }
    }
}

static int eliminate_some(int n, int32_t j, const front* a, double* pack) {
    int bad;
#define CALL(count) bad = eliminate_columns(count, j, a, pack)
    MABD_FOR_COUNT(n, CALL)
#undef CALL
    return bad;
}

static int at_most_tile(int32_t rows) {
    return rows < MABD_TILE ? (int)rows : MABD_TILE;
}

// Eliminate the own columns and rows; return the first failing column, or -1.
static int32_t eliminate(const front* a, double* pack) {
    for (int32_t j = 0; j < a->width; j += MABD_TILE) {
        const int bad = eliminate_some(at_most_tile(a->width - j), j, a, pack);
        if (bad >= 0) return j + bad;
    }
    if (a->below == 0) return -1;
    swap_sides(a);
    for (int32_t j = 0; j < a->width; j += MABD_TILE) {
#define CALL(n) eliminate_rows(n, j, a)
        MABD_FOR_COUNT(at_most_tile(a->width - j), CALL)
#undef CALL
    }
    return -1;
}

// Compute n columns from j on of update = -L_21 U_12.
MABD_HOT void pass_on_columns(int n, int64_t j, const front* a) {
    const double *L = tiles_below(a), *U = a->U + j / MABD_TILE * a->tile;
    double* update = a->update + j * a->deep;
    for (int64_t i = 0; i < a->deep; i += MABD_TILE, L += a->tile) {
        mabd_dual_tile_sub(n, a->width, L, U, NULL, update + i, a->deep);
    }
}
static void pass_on(const front* a) {
    for (int32_t j = 0; j < a->below; j += MABD_TILE) {
#define CALL(n) pass_on_columns(n, j, a)
        MABD_FOR_COUNT(at_most_tile(a->below - j), CALL)
#undef CALL
    }
}

// ---- growth ------------------------------------------------------------------------------------

// Return the largest magnitude of column k of the tiles below a front.
MABD_HOT double column_most(const front* a, const double* tiles, int32_t k) {
    double most[MABD_TILE] = {0};
    tiles += MABD_TILE * k;
    for (int32_t i = 0; i < a->deep; i += MABD_TILE, tiles += a->tile) {
#pragma GCC unroll 8
        for (int r = 0; r < MABD_TILE; r++) most[r] = mabd_dual_larger(fabs(tiles[r]), most[r]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) most[r] = mabd_dual_larger(most[r], most[r + 4]);
    return mabd_dual_larger(mabd_dual_larger(most[0], most[1]), mabd_dual_larger(most[2], most[3]));
}

// Return the largest |l_ik| |u_kj| over the pivots of a front. Multipliers of own rows are at
// most 1.
static double front_growth(const front* a) {
    const double* below = tiles_below(a);
    double most = 0;
    for (int32_t k = 0; k < a->width; k++) {
        const double* row = a->L + k / MABD_TILE * a->tile + k % MABD_TILE;
        double u = column_most(a, a->U, k);
        for (int32_t c = k; c < a->width; c++) u = mabd_dual_larger(fabs(row[MABD_TILE * c]), u);
        most = mabd_dual_larger(mabd_dual_larger(1, column_most(a, below, k)) * u, most);
    }
    return most;
}

// ---- solve -------------------------------------------------------------------------------------

static void swap_entries(double* x, int32_t p, int32_t q) {
    const double kept = x[p];
    x[p] = x[q], x[q] = kept;
}

// Subtract A x, A the tiles of L_21 or U_12', from the right-hand side at the rows below.
static void subtract_below(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node,
                           const front* a, const double* A, const double* x) {
    const double* z = f->z;
    for (int32_t i = 0; i < a->deep; i += MABD_TILE, A += a->tile) {
        mabd_dual_column sum = {{{0}}};
        for (int32_t k = 0; k < a->width; k++) {
            sum = mabd_dual_column_sub(sum, mabd_dual_column_load(A + MABD_TILE * k), x[k]);
        }
        mabd_dual_column_store(sum, f->z + i);
    }
    for (int32_t i = node->run; i < node->run + node->run_count; i++) {
        const mabd_dual_block_run* run = &f->symbolic->runs[i];
        mabd_dual_add(run->length, z, f->x + run->row);
        z += run->length;
    }
}

// x of the own rows = L_11^-1 P x, then x of the rows below -= L_21 x
static void forward(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    const front a = open_front(f, node);
    double* x = f->x + node->row;
    for (int32_t k = 0; k < a.width; k++) swap_entries(x, k, a.swap[k]);
    for (int64_t i = 0; i < a.wide; i += MABD_TILE) {
        const double* L = a.L + i / MABD_TILE * a.tile;
#define CALL(n) mabd_dual_tile_forward(n, L, i, x)
        MABD_FOR_COUNT(a.width - i, CALL)
#undef CALL
    }
    subtract_below(f, node, &a, tiles_below(&a), x);
}

// x[j ..] = U_jj'^-1 (x[j ..] - U_kj' x_k), n rows
MABD_HOT void forward_transposed_tile(int n, int64_t j, const front* a, double* x) {
    const double* T = a->L + j / MABD_TILE * a->tile + MABD_TILE * j;
    if (j > 0) {
        mabd_dual_tile_dots(n, a->L + MABD_TILE * j, a->tile, j / MABD_TILE, x, x + j);
    }
    x += j;
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) {
#pragma GCC unroll 8
        for (int k = 0; k < c; k++) x[c] -= T[MABD_TILE * c + k] * x[k];
        x[c] *= a->inverse[j + c];
    }
}

// x of the own rows = U_11'^-1 x, then x of the rows below -= U_12' x
static void forward_transposed(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    const front a = open_front(f, node);
    double* x = f->x + node->row;
    for (int64_t j = 0; j < a.wide; j += MABD_TILE) {
#define CALL(n) forward_transposed_tile(n, j, &a, x)
        MABD_FOR_COUNT(a.width - j, CALL)
#undef CALL
    }
    subtract_below(f, node, &a, a.U, x);
}

// Copy x of a front to f->z, padded with zeros, and subtract A' (x of the rows below) from the own
// rows, A the tiles of L_21 or U_12'.
static void gather(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node, const front* a,
                   const double* A) {
    double *z = f->z, *below = z + a->wide;
    memcpy(z, f->x + node->row, (size_t)a->width * sizeof(double));
    for (int32_t k = a->width; k < a->wide; k++) z[k] = 0;
    for (int32_t i = node->run; i < node->run + node->run_count; i++) {
        const mabd_dual_block_run* run = &f->symbolic->runs[i];
        memcpy(below, f->x + run->row, (size_t)run->length * sizeof(double));
        below += run->length;
    }
    for (double* end = z + a->height; below < end; below++) *below = 0;
    if (a->deep == 0) return;
    for (int32_t j = 0; j < a->width; j += MABD_TILE) {
        const double* y = z + a->wide;
#define CALL(n) mabd_dual_tile_dots(n, A + MABD_TILE * j, a->tile, a->deep / MABD_TILE, y, z + j)
        MABD_FOR_COUNT(at_most_tile(a->width - j), CALL)
#undef CALL
    }
}

// z[i ..] = U_ii^-1 (z[i ..] - U_ik z_k), n rows
MABD_HOT void backward_tile(int n, int64_t i, const front* a, double* z) {
    const double* U = a->L + i / MABD_TILE * a->tile;
    mabd_dual_column sum = mabd_dual_column_load(z + i);
    for (int64_t k = i + MABD_TILE; k < a->width; k++) {
        sum = mabd_dual_column_sub(sum, mabd_dual_column_load(U + MABD_TILE * k), z[k]);
    }
    mabd_dual_column_store(sum, z + i);
    U += MABD_TILE * i, z += i;
#pragma GCC unroll 8
    for (int c = n - 1; c >= 0; c--) {
        z[c] *= a->inverse[i + c];
#pragma GCC unroll 8
        for (int r = 0; r < c; r++) z[r] -= U[MABD_TILE * c + r] * z[c];
    }
}

// x of the own rows = U_11^-1 (x - U_12 x of the rows below)
static void backward(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    const front a = open_front(f, node);
    gather(f, node, &a, a.U);
    for (int64_t i = a.wide - MABD_TILE; i >= 0; i -= MABD_TILE) {
#define CALL(n) backward_tile(n, i, &a, f->z)
        MABD_FOR_COUNT(a.width - i, CALL)
#undef CALL
    }
    memcpy(f->x + node->row, f->z, (size_t)a.width * sizeof(double));
}

// z[j ..] = L_jj'^-1 (z[j ..] - L_ij' z_i), n rows
MABD_HOT void backward_transposed_tile(int n, int64_t j, const front* a, double* z) {
    const double* T = a->L + j / MABD_TILE * a->tile + MABD_TILE * j;
    const int64_t next = j + MABD_TILE, count = (a->wide - next) / MABD_TILE;
    if (count > 0) mabd_dual_tile_dots(n, T + a->tile, a->tile, count, z + next, z + j);
    mabd_dual_tile_backward(n, T, z + j);
}

// x of the own rows = P' L_11'^-1 (x - L_21' x of the rows below)
static void backward_transposed(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    const front a = open_front(f, node);
    gather(f, node, &a, tiles_below(&a));
    for (int64_t j = a.wide - MABD_TILE; j >= 0; j -= MABD_TILE) {
#define CALL(n) backward_transposed_tile(n, j, &a, f->z)
        MABD_FOR_COUNT(a.width - j, CALL)
#undef CALL
    }
    for (int32_t k = a.width - 1; k >= 0; k--) swap_entries(f->z, k, a.swap[k]);
    memcpy(f->x + node->row, f->z, (size_t)a.width * sizeof(double));
}

// ---- all nodes ----------------------------------------------------------------------------------

// Prefetch the blocks of a node: they are read in elimination order, not in the order of memory.
MABD_HOT void prefetch(const mabd_dual_block_symbolic* m, const mabd_dual_lu_system* system,
                       const mabd_dual_block_node* node) {
    for (int32_t k = node->slot; k < node->slot + node->slot_count; k++) {
        const mabd_dual_block_slot* slot = &m->slots[k];
        mabd_block_prefetch(slot->width, slot->width, system->blocks.D + slot->block, 0);
    }
    for (int32_t i = node->place; i < node->place + node->place_count; i++) {
        const mabd_dual_block_place* place = &m->places[i];
        mabd_block_prefetch(place->rows, place->columns, system->blocks.U + place->block, 0);
        mabd_block_prefetch(place->rows, place->columns, system->lower + place->block, 0);
    }
}

// Prefetch a node's part of the factor, unless it is so large that processing hides the latency.
#define LARGE 4096 // doubles
MABD_HOT void prefetch_factor(const mabd_dual_lu_numbers* f, const mabd_dual_block_node* node) {
    const int64_t deep = MABD_BLOCK_PAD(node->below) * (int64_t)node->width;
    const int64_t size = deep + MABD_BLOCK_PAD(node->width) * (int64_t)node->width;
    const double *L = f->L + node->panel, *U = f->U + f->across[node - f->symbolic->nodes];
    for (int64_t i = 0; i < size && size < LARGE; i += MABD_TILE) MABD_PREFETCH(L + i);
    for (int64_t i = 0; i < deep && size < LARGE; i += MABD_TILE) MABD_PREFETCH(U + i);
}

int32_t MABD_LU_JOIN(factor, MABD_ISA)(const mabd_dual_lu_numbers* f,
                                       const mabd_dual_lu_system* system, double* growth) {
    *growth = 0;
    for (int32_t s = 0; s < f->symbolic->node_count; s++) {
        const mabd_dual_block_node* node = &f->symbolic->nodes[s];
        const front a = open_front(f, node);
        if (s + AHEAD < f->symbolic->node_count) prefetch(f->symbolic, system, node + AHEAD);
        if (s + 1 < f->symbolic->node_count) prefetch_factor(f, node + 1);
        assemble(f, system, node, &a);
        const int32_t bad = eliminate(&a, f->pack);
        if (bad >= 0) return node->row + bad;
        if (node->below) pass_on(&a);
        if (node->inherits) add_children(f, node, &a, false);
        *growth = mabd_dual_larger(front_growth(&a), *growth);
    }
    return -1;
}

void MABD_LU_JOIN(solve, MABD_ISA)(const mabd_dual_lu_numbers* f) {
    const mabd_dual_block_node* nodes = f->symbolic->nodes;
    for (int32_t s = 0; s < f->symbolic->node_count; s++) forward(f, nodes + s);
    for (int32_t s = f->symbolic->node_count - 1; s >= 0; s--) {
        if (s >= 2) prefetch_factor(f, nodes + s - 2);
        backward(f, nodes + s);
    }
}

void MABD_LU_JOIN(solve_transposed, MABD_ISA)(const mabd_dual_lu_numbers* f) {
    const mabd_dual_block_node* nodes = f->symbolic->nodes;
    for (int32_t s = 0; s < f->symbolic->node_count; s++) forward_transposed(f, nodes + s);
    for (int32_t s = f->symbolic->node_count - 1; s >= 0; s--) {
        if (s >= 2) prefetch_factor(f, nodes + s - 2);
        backward_transposed(f, nodes + s);
    }
}
