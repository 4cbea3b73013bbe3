// SPDX-License-Identifier: Apache-2.0
// Tests for tests/support/kkt_oracle.c: residual by plain loops, and the dense matrix by LAPACK.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#ifdef MABD_WITH_UMFPACK

#include "support/dual_case.h"
#include "support/kkt_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* pivots, double* b,
                   const int* ldb, int* info);

#define MAX_BODIES  6
#define MAX_ROWS    30
#define MAX_ENTRIES (2 * 24 * MAX_ROWS)

typedef struct problem {
    int32_t bodies, rows, entries;
    mabd_real H[MAX_BODIES * 144], value[MAX_ENTRIES], c[MAX_ROWS];
    mabd_real r[12 * MAX_BODIES], b[MAX_ROWS], y[12 * MAX_BODIES], x[MAX_ROWS];
    int32_t row[MAX_ENTRIES], column[MAX_ENTRIES];
} problem;

static void fill_block(mabd_real* H, uint64_t* seed) {
    double G[144];
    for (int k = 0; k < 144; k++) G[k] = dual_random(seed);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 12; j++) {
            double sum = i == j;
            for (int k = 0; k < 12; k++) sum += G[12 * i + k] * G[12 * j + k];
            H[12 * i + j] = (mabd_real)sum;
        }
    }
}

static void add_entry(problem* p, int32_t row, int32_t column, double value) {
    p->row[p->entries] = row, p->column[p->entries] = column;
    p->value[p->entries++] = (mabd_real)value;
}

// Rows between two random bodies; every entry is given in two halves, every third row is compliant.
static void make_problem(problem* p, uint64_t seed) {
    *p = (problem){.bodies = 1 + (int32_t)(seed % MAX_BODIES)};
    p->rows = (int32_t)(seed % 5) * p->bodies;
    for (int32_t i = 0; i < p->bodies; i++) fill_block(p->H + 144 * i, &seed);
    for (int32_t i = 0; i < p->rows; i++) {
        int32_t ends[2] = {i % p->bodies, (i + 1 + i / p->bodies) % p->bodies};
        for (int side = 0; side < 1 + (ends[0] != ends[1]); side++) {
            for (int32_t k = 0; k < 12; k++) {
                double value = dual_random(&seed), part = dual_random(&seed);
                add_entry(p, i, 12 * ends[side] + k, value - part);
                add_entry(p, i, 12 * ends[side] + k, part);
            }
        }
        p->c[i] = i % 3 ? 0 : (mabd_real)fabs(dual_random(&seed));
        p->b[i] = (mabd_real)dual_random(&seed);
    }
    for (int32_t i = 0; i < 12 * p->bodies; i++) p->r[i] = (mabd_real)dual_random(&seed);
}

static mabd_status solve(problem* p) {
    return mabd_kkt_solve(p->bodies, p->H, p->rows, p->entries, p->row, p->column, p->value, p->c,
                          p->r, p->b, p->y, p->x);
}

// largest entry of r - H y - J' x and b - J y + c x
static double residual(const problem* p) {
    double top[12 * MAX_BODIES], low[MAX_ROWS], worst = 0;
    for (int32_t i = 0; i < 12 * p->bodies; i++) {
        top[i] = (double)p->r[i];
        for (int32_t k = 0; k < 12; k++) {
            top[i] -= (double)p->H[12 * i + k] * (double)p->y[i / 12 * 12 + k];
        }
    }
    for (int32_t i = 0; i < p->rows; i++) low[i] = (double)(p->b[i] + p->c[i] * p->x[i]);
    for (int32_t k = 0; k < p->entries; k++) {
        top[p->column[k]] -= (double)(p->value[k] * p->x[p->row[k]]);
        low[p->row[k]] -= (double)(p->value[k] * p->y[p->column[k]]);
    }
    for (int32_t i = 0; i < 12 * p->bodies; i++) worst = fmax(worst, fabs(top[i]));
    for (int32_t i = 0; i < p->rows; i++) worst = fmax(worst, fabs(low[i]));
    return worst;
}

// largest difference between (y, x) and the solution of the dense matrix by LU
static double dense_difference(const problem* p) {
    int m = 12 * p->bodies, n = m + p->rows, one = 1, info = -1;
    double* A = calloc((size_t)(n * n), sizeof(double));
    double* z = calloc((size_t)n, sizeof(double));
    int* pivots = calloc((size_t)n, sizeof(int));
    for (int k = 0; k < 144 * p->bodies; k++) {
        A[k / 12 * n + k / 144 * 12 + k % 12] = (double)p->H[k];
    }
    for (int k = 0; k < p->entries; k++) {
        A[(m + p->row[k]) * n + p->column[k]] += (double)p->value[k];
        A[p->column[k] * n + m + p->row[k]] += (double)p->value[k];
    }
    for (int k = 0; k < p->rows; k++) A[(m + k) * n + m + k] = -(double)p->c[k];
    for (int k = 0; k < n; k++) z[k] = (double)(k < m ? p->r[k] : p->b[k - m]);
    dgesv_(&n, &one, A, &n, pivots, z, &n, &info); // symmetric: order of storage does not matter
    double worst = info ? INFINITY : 0;
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(z[k] - (double)(k < m ? p->y[k] : p->x[k - m])));
    }
    free(A), free(z), free(pivots);
    return worst;
}

Test(kkt_oracle, solves_random_systems) {
    static problem p;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        make_problem(&p, seed);
        cr_assert(eq(int, solve(&p), MABD_OK), "seed %d", (int)seed);
        cr_assert(lt(dbl, residual(&p), 1e4 * dual_epsilon()), "seed %d", (int)seed);
        cr_assert(lt(dbl, dense_difference(&p), 1e6 * dual_epsilon()), "seed %d", (int)seed);
    }
}

// One body, H = h I, one row n: x = (n y0 - b) / (n n' / h + c) with y0 = r / h.
Test(kkt_oracle, one_row_has_a_closed_form) {
    static problem p;
    p = (problem){.bodies = 1, .rows = 1};
    for (int k = 0; k < 12; k++) {
        p.H[13 * k] = 4;
        p.r[k] = 8;
        add_entry(&p, 0, k, 1);
    }
    p.c[0] = 2, p.b[0] = 9;
    cr_assert(eq(int, solve(&p), MABD_OK));
    cr_assert(lt(dbl, fabs((double)p.x[0] - (24.0 - 9) / (12.0 / 4 + 2)), 1e2 * dual_epsilon()));
    cr_assert(lt(dbl, fabs((double)p.y[7] - (8 - 3.0) / 4), 1e2 * dual_epsilon()));
}

Test(kkt_oracle, reports_a_singular_system) {
    static problem p;
    p = (problem){.bodies = 1, .rows = 2};
    for (int k = 0; k < 12; k++) p.H[13 * k] = 1;
    add_entry(&p, 0, 3, 1);
    add_entry(&p, 1, 3, 1);
    cr_assert(eq(int, solve(&p), MABD_ERR_SINGULAR));
    p.c[1] = 1;
    cr_assert(eq(int, solve(&p), MABD_OK));
}

Test(kkt_oracle, takes_bodies_without_rows_and_nothing_at_all) {
    static problem p;
    make_problem(&p, 5);
    cr_assert(eq(i32, p.rows, 0));
    cr_assert(eq(int, solve(&p), MABD_OK));
    cr_assert(lt(dbl, residual(&p), 1e4 * dual_epsilon()));
    p = (problem){0};
    cr_assert(eq(int, solve(&p), MABD_OK));
}

Test(kkt_oracle, refuses_more_entries_than_an_index_can_count) {
    static problem p;
    mabd_status status =
        mabd_kkt_solve(15000000, p.H, 0, 0, NULL, NULL, NULL, NULL, p.r, p.b, p.y, p.x);
    cr_assert(eq(int, status, MABD_ERR_MEMORY));
}

#else

Test(kkt_oracle, is_not_built) {
    cr_skip("built without UMFPACK");
}

#endif
