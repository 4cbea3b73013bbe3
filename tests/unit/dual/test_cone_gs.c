// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/cone_gs.c: Coulomb's law at the result, and the forces of projected conjugate
// gradients.
//
// Problems are rows of bodies that touch their neighbours: W = B B', B (3 n x 4 n), where contact i
// acts on the freedoms 4 i .. 4 i + 7 only, so W is sparse: contact i shares blocks with i - 1, i
// and i + 1. The terms of the law are those of test_cone_cg.c.
#include "dual/cone_gs.h"

#include "support/contact_checks.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST   24 // contacts
#define ROWS   (3 * MOST)
#define WIDTH  8 // freedoms that a contact acts on
#define BLOCKS (3 * MOST)
#define FIRST  5 // column of contact 0

typedef struct problem {
    int32_t start[MOST], end[MOST], column[BLOCKS];
    mabd_real block[9 * BLOCKS], rest[ROWS], own[2 * MOST], friction[MOST];
    mabd_real force[ROWS], rows[ROWS], work[32 * MOST];
    mabd_cone_matrix W;
    mabd_cone_problem of;
} problem;

static void draw_matrix(problem* p, int count, uint64_t* state) {
    mabd_real B[ROWS][4 * MOST + WIDTH] = {{0}};
    for (int i = 0; i < 3 * count; i++) {
        for (int k = 0; k < WIDTH; k++) B[i][4 * (i / 3) + k] = (mabd_real)0.01 * draw_real(state);
    }
    int32_t blocks = 0;
    for (int i = 0; i < count; i++) {
        p->start[i] = blocks;
        for (int j = i > 0 ? i - 1 : 0; j < count && j <= i + 1; j++, blocks++) {
            p->column[blocks] = FIRST + j;
            for (int k = 0; k < 9; k++) {
                mabd_real* out = &p->block[9 * blocks + k];
                for (int m = 0; m < 4 * MOST + WIDTH; m++) {
                    *out += B[3 * i + k / 3][m] * B[3 * j + k % 3][m];
                }
            }
        }
        p->end[i] = blocks;
    }
    p->W = (mabd_cone_matrix){count, FIRST, p->start, p->end, p->column, p->block};
}

static const mabd_real* own_block(const problem* p, int i) {
    int k = p->start[i];
    while (p->column[k] != FIRST + i) k++;
    return p->block + 9 * k;
}

// Contacts that mostly press; every fifth one has no friction.
static problem* draw_problem(int count, mabd_real softness, uint64_t* state) {
    problem* p = calloc(1, sizeof *p);
    draw_matrix(p, count, state);
    for (int i = 0; i < count; i++) {
        const mabd_real* D = own_block(p, i);
        p->own[2 * i] = D[0], p->own[2 * i + 1] = (D[4] + D[8]) / 2;
        p->friction[i] = i % 5 == 4 ? 0 : (draw_real(state) + 1) / 4;
        for (int k = 0; k < 3; k++) p->rest[3 * i + k] = (mabd_real)0.01 * draw_real(state);
        p->rest[3 * i] -= (mabd_real)0.005;
    }
    p->of = (mabd_cone_problem){.count = count,
                                .rest = p->rest,
                                .own = p->own,
                                .softness = softness,
                                .friction = p->friction,
                                .product = mabd_cone_matrix_product,
                                .self = &p->W,
                                .tolerance = (mabd_real)1e-10,
                                .max_products = 20000};
    return p;
}

static mabd_cone_report solve(problem* p) {
    cr_assert(le(sz, mabd_cone_gs_work(p->of.count), 32 * MOST));
    return mabd_cone_gs(&p->of, &p->W, p->force, p->rows, p->work);
}

// g = W l + rest + c l, entry by entry
static void rows_of(const problem* p, mabd_real* g) {
    for (int i = 0; i < 3 * p->of.count; i++) {
        g[i] = p->rest[i] + p->of.softness * p->own[2 * (i / 3) + (i % 3 > 0)] * p->force[i];
        for (int k = p->start[i / 3]; k < p->end[i / 3]; k++) {
            const int j = 3 * (p->column[k] - FIRST);
            for (int m = 0; m < 3; m++) g[i] += p->block[9 * k + 3 * (i % 3) + m] * p->force[j + m];
        }
    }
}

static void expect_law(const problem* p, mabd_real e) {
    mabd_real g[ROWS];
    rows_of(p, g);
    contact_law_expect(&p->of, p->force, p->rows, g, e);
}

Test(cone_gs, the_law_holds_at_the_result) {
    uint64_t state = 11;
    for (int count = 1; count <= MOST; count++) {
        for (int k = 0; k < 20; k++) {
            problem* p = draw_problem(count, (mabd_real)1e-3, &state);
            const mabd_cone_report report = solve(p);
            cr_expect(report.converged, "%d contacts, draw %d: %g after %d", count, k,
                      (double)report.residual, (int)report.products);
            if (report.converged) expect_law(p, p->of.tolerance + 1e-13);
            free(p);
        }
    }
}

// Forces are about 1 N to 100 N, the condition is below 3/softness: 1e-10 m of 1e-2 m leaves less
// than 1e-5 of them.
Test(cone_gs, forces_are_those_of_projected_cg) {
    uint64_t state = 5;
    for (int k = 0; k < 60; k++) {
        problem* p = draw_problem(1 + k % MOST, (mabd_real)0.05, &state);
        mabd_real force[ROWS] = {0}, rows[ROWS];
        cr_expect(solve(p).converged, "draw %d", k);
        cr_expect(mabd_cone_cg(&p->of, force, rows, p->work).converged, "draw %d", k);
        for (int i = 0; i < 3 * p->of.count; i++) {
            cr_expect(epsilon_eq(dbl, p->force[i], force[i], 1e-5 * (1 + fabs(force[i]))),
                      "draw %d row %d", k, i);
        }
        free(p);
    }
}

// Every third entry has three rows g = 0 for forces of any sign, by sweeps and by projected CG.
Test(cone_gs, linear_entries_have_closed_rows) {
    uint64_t state = 77;
    for (int k = 0; k < 60; k++) {
        problem* p = draw_problem(3 + k % (MOST - 2), (mabd_real)0.05, &state);
        mabd_real force[ROWS] = {0}, rows[ROWS], g[ROWS];
        bool linear[MOST], pulls = false;
        for (int i = 0; i < MOST; i++) linear[i] = i % 3 == 1;
        p->of.linear = linear;
        cr_expect(solve(p).converged, "draw %d", k);
        cr_expect(mabd_cone_cg(&p->of, force, rows, p->work).converged, "draw %d", k);
        rows_of(p, g);
        for (int i = 0; i < 3 * p->of.count; i++) {
            cr_expect(epsilon_eq(dbl, p->force[i], force[i], 1e-5 * (1 + fabs(force[i]))),
                      "draw %d row %d", k, i);
            if (linear[i / 3]) cr_expect(le(dbl, fabs(g[i]), 2e-10), "draw %d row %d", k, i);
            pulls |= linear[i / 3] && i % 3 == 0 && p->force[i] < 0;
        }
        cr_expect(k != MOST - 3 || pulls, "no force pulls");
        free(p);
    }
}

Test(cone_gs, a_start_at_the_solution_takes_one_sweep_forth_and_back) {
    uint64_t state = 23;
    for (int k = 0; k < 40; k++) {
        problem* p = draw_problem(1 + k % MOST, (mabd_real)1e-3, &state);
        cr_assert(solve(p).converged);
        p->of.tolerance = (mabd_real)1e-9;
        const mabd_cone_report again = solve(p);
        cr_expect(again.converged);
        cr_expect(eq(int, again.products, 2), "draw %d", k);
        free(p);
    }
}

// A sweep runs forward and backward: an odd budget is exceeded by one sweep.
Test(cone_gs, the_budget_of_sweeps_is_not_exceeded) {
    uint64_t state = 31;
    for (int most = 1; most < 12; most++) {
        problem* p = draw_problem(MOST, (mabd_real)1e-3, &state);
        p->of.tolerance = (mabd_real)1e-15;
        p->of.max_products = most;
        const mabd_cone_report report = solve(p);
        cr_expect(not(report.converged));
        cr_expect(lt(dbl, p->of.tolerance, report.residual), "the residual is reported");
        cr_expect(le(int, report.products, most + 1));
        contact_law_cones(&p->of, p->force);
        free(p);
    }
}

Test(cone_gs, nothing_to_solve_is_solved) {
    const mabd_cone_problem none = {.count = 0, .tolerance = (mabd_real)1e-9};
    const mabd_cone_matrix W = {.count = 0};
    const mabd_cone_report report = mabd_cone_gs(&none, &W, NULL, NULL, NULL);
    cr_expect(report.converged);
    cr_expect(eq(int, report.products, 0));
    cr_expect(eq(dbl, report.residual, 0));
    cr_expect(eq(sz, mabd_cone_gs_work(0), 0));
}
