// SPDX-License-Identifier: Apache-2.0
// Redundant rows of a dense matrix [VQ App. B].
//
// With the singular values of A (rows k_i normalised) an orthonormal basis Z of the left kernel is
// known, Z'A = 0: column k of Z is one dependence sum_i z_ik k_i = 0 of rows. A row j with a large
// z_jk follows from the others with small coefficients. Until all columns are used,
//
//   (j, k) = argmin sum_{i /= j} z_ik^2 / z_jk^2                                    [VQ eq. 36]
//   leave out row j, and column k:  z_:i -= (z_ji/z_jk) z_:k for all other columns   [VQ eq. 37]
//
// LAPACK's dgesdd reads A, which is row-major, as A' = U S V': the kernel is in the last rows of
// V'. Cost: O(rows columns^2) for the values, about ten times that with V', O(rows count^2) for
// the choice. Memory with vectors: rows^2 + columns^2 + rows columns + workspace doubles.

#include "dual/row_rank.h"

#include <math.h>
#include <string.h>

extern void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda,
                    double* s, double* u, const int* ldu, double* vt, const int* ldvt, double* work,
                    const int* lwork, int* iwork, int* info);

struct mabd_row_rank {
    int32_t rows, columns;         // of the matrix
    int32_t most_rows, most_width; // of any matrix
    bool vectors;
    double* A;      // (most_rows x most_width)
    double* values; // (least of both)
    double* U;      // (most_width^2)
    double* V;      // (most_rows^2): V', by columns
    double* work;
    int32_t work_size;
    int* integers;
    bool* open; // (most_rows) columns of the kernel that are not used
    size_t bytes;
};

static int least(int a, int b) {
    return a < b ? a : b;
}

// Length of dgesdd's workspace [doubles].
static int32_t query_work(int rows, int width, bool vectors) {
    double size = 1, none = 0;
    int lwork = -1, info = 0, integer = 0;
    const char* job = vectors ? "A" : "N";
    dgesdd_(job, &width, &rows, &none, &width, &none, &none, &width, &none, &rows, &size, &lwork,
            &integer, &info);
    return (int32_t)size;
}

static void lay_out(mabd_row_rank* r, mabd_arena* arena) {
    const size_t rows = (size_t)r->most_rows, width = (size_t)r->most_width;
    mabd_arena_take(arena, 1, sizeof *r);
    r->A = mabd_arena_take(arena, rows * width, sizeof *r->A);
    r->values = mabd_arena_take(arena, rows < width ? rows : width, sizeof *r->values);
    r->U = mabd_arena_take(arena, r->vectors ? width * width : 0, sizeof *r->U);
    r->V = mabd_arena_take(arena, r->vectors ? rows * rows : 0, sizeof *r->V);
    r->work = mabd_arena_take(arena, (size_t)r->work_size, sizeof *r->work);
    r->integers = mabd_arena_take(arena, 8 * (rows < width ? rows : width), sizeof *r->integers);
    r->open = mabd_arena_take(arena, rows, sizeof *r->open);
}

mabd_status mabd_row_rank_create(const mabd_allocator* allocator, int32_t rows, int32_t columns,
                                 bool vectors, mabd_row_rank** rank) {
    mabd_row_rank sizes = {.most_rows = rows, .most_width = columns, .vectors = vectors};
    mabd_arena arena = {0};
    *rank = NULL;
    sizes.work_size = query_work(rows, columns, vectors);
    lay_out(&sizes, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    *rank = (mabd_row_rank*)(void*)arena.memory;
    **rank = sizes;
    (*rank)->bytes = arena.size;
    lay_out(*rank, &arena);
    return MABD_OK;
}

void mabd_row_rank_destroy(const mabd_allocator* allocator, mabd_row_rank* rank) {
    if (rank) mabd_free(allocator, rank, rank->bytes);
}

size_t mabd_row_rank_bytes(const mabd_row_rank* rank) {
    return rank ? rank->bytes : 0;
}

double* mabd_row_rank_begin(mabd_row_rank* rank, int32_t rows, int32_t columns) {
    rank->rows = rows, rank->columns = columns;
    memset(rank->A, 0, (size_t)rows * (size_t)columns * sizeof *rank->A);
    return rank->A;
}

// Divide each row by its length; false if a row is not finite. Zero rows stay.
static bool normalise(mabd_row_rank* r) {
    for (int32_t i = 0; i < r->rows; i++) {
        double *row = r->A + (size_t)i * (size_t)r->columns, sum = 0;
        for (int32_t k = 0; k < r->columns; k++) sum += row[k] * row[k];
        if (!isfinite(sum)) return false;
        const double scale = sum > 0 ? 1 / sqrt(sum) : 0;
        for (int32_t k = 0; k < r->columns; k++) row[k] *= scale;
    }
    return true;
}

int32_t mabd_row_rank_find(mabd_row_rank* r, double tolerance) {
    const int rows = r->rows, width = r->columns, size = r->work_size;
    const char* job = r->vectors ? "A" : "N";
    int info = 0, count = 0;
    if (rows == 0 || width == 0) return 0;
    if (!normalise(r)) return -1;
    dgesdd_(job, &width, &rows, r->A, &width, r->values, r->U, &width, r->V, &rows, r->work, &size,
            r->integers, &info);
    if (info != 0) return -1;
    while (count < least(rows, width) && r->values[count] > tolerance * r->values[0]) count++;
    return count;
}

// Entry of row i of the matrix in column k of the kernel.
static double* kernel(const mabd_row_rank* r, int32_t i, int32_t k) {
    return r->V + (size_t)i * (size_t)r->rows + (size_t)k;
}

// The row and column of eq. 36, from `first` on. False if no row is left.
static bool find_best(const mabd_row_rank* r, int32_t first, const bool* may, const bool* dropped,
                      int32_t* row, int32_t* column) {
    double best = INFINITY, *sum = r->work;
    for (int32_t k = first; k < r->rows; k++) sum[k] = 0;
    for (int32_t i = 0; i < r->rows; i++) {
        const double* z = kernel(r, i, 0);
        for (int32_t k = first; k < r->rows; k++) sum[k] += z[k] * z[k];
    }
    for (int32_t i = 0; i < r->rows; i++) {
        const double* z = kernel(r, i, 0);
        for (int32_t k = first; may[i] && !dropped[i] && k < r->rows; k++) {
            if (!r->open[k] || !(sum[k] < best * z[k] * z[k])) continue;
            best = sum[k] / (z[k] * z[k]), *row = i, *column = k;
        }
    }
    return best < INFINITY;
}

// eq. 37
static void eliminate(const mabd_row_rank* r, int32_t first, int32_t row, int32_t column) {
    const double pivot = *kernel(r, row, column);
    for (int32_t i = 0; i < r->rows; i++) r->work[i] = *kernel(r, row, i) / pivot;
    for (int32_t i = 0; i < r->rows; i++) {
        const double z = *kernel(r, i, column);
        if (z == 0) continue;
        double* own = kernel(r, i, 0);
        for (int32_t k = first; k < r->rows; k++) {
            if (r->open[k] && k != column) own[k] -= r->work[k] * z;
        }
    }
}

bool mabd_row_rank_choose(mabd_row_rank* r, int32_t count, const bool* may, bool* dropped) {
    const int32_t first = r->rows - count;
    if (first < 0) return false;
    for (int32_t k = 0; k < r->rows; k++) r->open[k] = k >= first;
    for (int32_t n = 0; n < count; n++) {
        int32_t row = -1, column = -1;
        if (!find_best(r, first, may, dropped, &row, &column)) return false;
        eliminate(r, first, row, column);
        r->open[column] = false;
        dropped[row] = true;
    }
    return true;
}
