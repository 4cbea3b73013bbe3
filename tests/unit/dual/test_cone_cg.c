// SPDX-License-Identifier: Apache-2.0
// Tests for src/dual/cone_cg.c: Coulomb's law at the result, and the forces of another solver.
//
// Problems are random: W = B B' with B (3 n x columns), of full rank or not, n = 1 .. 8. With own =
// o (normal) and q (tangents) of a contact, c = softness own, forces l and rows g = W l + rest + c
// l, a residual up to the tolerance e [m] means, term by term of the law:
//
//   |min(o l_n, g_n)| <= e                                 normal
//   |l_t| <= mu l_n                                        cone
//   q (mu l_n - |l_t|) > e    =>   |g_t| <= e              sticks
//   q (l_t . g_t + mu l_n |g_t|) <= e (2 q mu l_n + |g_t|) slips against its displacement: the
//                                                          minimum over forces of the disk, up to e
#include "dual/cone_cg.h"

#include "support/contact_checks.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST    8 // contacts
#define ROWS    (3 * MOST)
#define COLUMNS (ROWS + 3)

typedef struct problem {
    int n; // rows
    mabd_real W[ROWS][ROWS], rest[ROWS], own[2 * MOST], friction[MOST];
    mabd_real force[ROWS], rows[ROWS], work[32 * MOST];
    int products; // counted here
    mabd_cone_problem of;
} problem;

static void multiply(void* self, const mabd_real* x, mabd_real* y) {
    problem* p = self;
    for (int i = 0; i < p->n; i++) {
        y[i] = 0;
        for (int j = 0; j < p->n; j++) y[i] += p->W[i][j] * x[j];
    }
    p->products++;
}

static void draw_matrix(problem* p, int columns, uint64_t* state) {
    mabd_real B[ROWS][COLUMNS];
    for (int i = 0; i < p->n; i++) {
        for (int k = 0; k < columns; k++) B[i][k] = (mabd_real)0.01 * draw_real(state);
    }
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++) {
            p->W[i][j] = 0;
            for (int k = 0; k < columns; k++) p->W[i][j] += B[i][k] * B[j][k];
        }
    }
}

// Contacts that mostly press; every fifth one has no friction.
static problem* draw_problem(int count, int columns, mabd_real softness, uint64_t* state) {
    problem* p = calloc(1, sizeof *p);
    p->n = 3 * count;
    draw_matrix(p, columns, state);
    for (int i = 0; i < count; i++) {
        const mabd_real mu = (draw_real(state) + 1) / 2;
        p->own[2 * i] = p->W[3 * i][3 * i];
        p->own[2 * i + 1] = (p->W[3 * i + 1][3 * i + 1] + p->W[3 * i + 2][3 * i + 2]) / 2;
        p->friction[i] = i % 5 == 4 ? 0 : mu;
        for (int k = 0; k < 3; k++) p->rest[3 * i + k] = (mabd_real)0.01 * draw_real(state);
        p->rest[3 * i] -= (mabd_real)0.005;
    }
    p->of = (mabd_cone_problem){.count = count,
                                .rest = p->rest,
                                .own = p->own,
                                .softness = softness,
                                .friction = p->friction,
                                .product = multiply,
                                .self = p,
                                .tolerance = (mabd_real)1e-9,
                                .max_products = 100000};
    return p;
}

static mabd_cone_report solve(problem* p) {
    cr_assert(le(sz, mabd_cone_cg_work(p->of.count), 32 * MOST));
    p->products = 0;
    const mabd_cone_report report = mabd_cone_cg(&p->of, p->force, p->rows, p->work);
    cr_assert(eq(int, report.products, p->products));
    return report;
}

// g = W l + rest + c l
static void rows_of(const problem* p, const mabd_real* force, mabd_real* g) {
    for (int i = 0; i < p->n; i++) {
        g[i] = p->rest[i] + p->of.softness * p->own[2 * (i / 3) + (i % 3 > 0)] * force[i];
        for (int j = 0; j < p->n; j++) g[i] += p->W[i][j] * force[j];
    }
}

static void expect_law(const problem* p, mabd_real e) {
    mabd_real g[ROWS];
    rows_of(p, p->force, g);
    contact_law_expect(&p->of, p->force, p->rows, g, e);
}

// Round-off of the updated gradient: a few times 1e-16 of 1e-2 m per product.
#define ROUND 1e-13

// Friction coefficients up to `most`.
static void expect_law_of_draws(mabd_real softness, bool full, mabd_real most, int draws) {
    uint64_t state = 11;
    for (int count = 1; count <= MOST; count++) {
        for (int k = 0; k < draws; k++) {
            const int columns = full ? 3 * count + 3 : 1 + (3 * count) / 2;
            problem* p = draw_problem(count, columns, softness, &state);
            for (int i = 0; i < count; i++) p->friction[i] *= most;
            const mabd_cone_report report = solve(p);
            cr_expect(report.converged, "%d contacts, draw %d: %g after %d", count, k,
                      (double)report.residual, (int)report.products);
            cr_expect(le(dbl, report.residual, p->of.tolerance));
            if (report.converged) expect_law(p, p->of.tolerance + ROUND);
            free(p);
        }
    }
}

Test(cone_cg, the_law_holds_at_the_result) {
    expect_law_of_draws(1e-3, true, 1, 60);
}

Test(cone_cg, the_law_holds_where_rows_depend_on_each_other) {
    expect_law_of_draws(1e-3, false, (mabd_real)0.5, 60);
}

// Bounds that follow converged normal forces converge here, but slowly: 41 passes.
Test(cone_cg, friction_settles_where_rows_depend_on_each_other) {
    uint64_t state = 11;
    problem* p = NULL;
    for (int k = 0; k < 60 + 54; k++) {
        free(p);
        p = draw_problem(1 + k / 60, 1 + 3 * (1 + k / 60) / 2, (mabd_real)1e-3, &state);
    }
    p->of.max_products = 3000;
    const mabd_cone_report report = solve(p);
    cr_expect(report.converged, "%g after %d", (double)report.residual, (int)report.products);
    if (report.converged) expect_law(p, p->of.tolerance + ROUND);
    free(p);
}

// ---- another solver ----------------------------------------------------------------------------

// Projected gradient with steps below 1/|W + c| and constant friction bounds, until it no longer
// changes.
static void descend(const problem* p, const mabd_real* bound, mabd_real* l) {
    mabd_real size = 0, g[ROWS];
    for (int i = 0; i < p->n; i++) size += p->W[i][i] * (1 + p->of.softness); // trace > norm
    for (int round = 0; round < 400000; round++) {
        mabd_real change = 0;
        rows_of(p, l, g);
        for (int i = 0; i < p->n / 3; i++) {
            mabd_real x[3];
            for (int k = 0; k < 3; k++) x[k] = l[3 * i + k] - g[3 * i + k] / size;
            const mabd_real push = hypot(x[1], x[2]);
            x[0] = fmax(x[0], 0);
            if (push > bound[i]) x[1] *= bound[i] / push, x[2] *= bound[i] / push;
            for (int k = 0; k < 3; k++) {
                change = fmax(change, fabs(x[k] - l[3 * i + k]));
                l[3 * i + k] = x[k];
            }
        }
        if (change < 1e-12) return;
    }
}

// Let the bounds follow the normal forces. True if they converged.
static bool iterate_to_coulomb(const problem* p, mabd_real* l) {
    mabd_real bound[MOST] = {0};
    memset(l, 0, sizeof(mabd_real) * ROWS);
    for (int pass = 0; pass < 100; pass++) {
        mabd_real change = 0;
        descend(p, bound, l);
        for (int i = 0; i < p->n / 3; i++) {
            const mabd_real next = p->friction[i] * l[3 * i];
            change = fmax(change, fabs(next - bound[i]));
            bound[i] = next;
        }
        if (change < 1e-9) return true;
    }
    return false;
}

// Forces are about 1 N to 100 N. The condition of W + c is below 3 n/softness < 600, so a residual
// of 1e-10 m of 1e-2 m leaves less than 1e-5 of the forces.
Test(cone_cg, forces_are_those_of_another_solver) {
    uint64_t state = 5;
    int compared = 0;
    for (int k = 0; k < 40; k++) {
        const int count = 1 + k % 4;
        problem* p = draw_problem(count, 3 * count + 3, (mabd_real)0.05, &state);
        mabd_real expected[ROWS];
        p->of.tolerance = (mabd_real)1e-10;
        const mabd_cone_report report = solve(p);
        const bool settled = iterate_to_coulomb(p, expected);
        cr_expect(report.converged, "draw %d", k);
        for (int i = 0; settled && i < p->n; i++) {
            cr_expect(epsilon_eq(dbl, p->force[i], expected[i], 1e-5 * (1 + fabs(expected[i]))),
                      "draw %d row %d", k, i);
        }
        compared += settled;
        free(p);
    }
    cr_expect(ge(int, compared, 35), "of 40");
}

// One contact, by hand: W = o I, rest (-d, -s, 0).
#define ONE_OWN  ((mabd_real)1e-4)
#define ONE_SOFT ((mabd_real)1e-3)

static problem* one_contact(mabd_real d, mabd_real s, mabd_real mu) {
    problem* p = calloc(1, sizeof *p);
    p->n = 3;
    for (int i = 0; i < 3; i++) p->W[i][i] = ONE_OWN;
    p->rest[0] = -d, p->rest[1] = -s;
    p->own[0] = p->own[1] = ONE_OWN;
    p->friction[0] = mu;
    p->of = (mabd_cone_problem){.count = 1,
                                .rest = p->rest,
                                .own = p->own,
                                .softness = ONE_SOFT,
                                .friction = p->friction,
                                .product = multiply,
                                .self = p,
                                .tolerance = (mabd_real)1e-12,
                                .max_products = 1000};
    return p;
}

Test(cone_cg, one_contact_is_the_closed_form) {
    const mabd_real d = (mabd_real)1e-3, mu = (mabd_real)0.4, o = ONE_OWN, soft = ONE_SOFT;
    for (int k = 0; k < 3; k++) {
        const mabd_real s = d * (mabd_real)k / 2;
        problem* p = one_contact(d, s, mu);
        cr_expect(solve(p).converged);
        const mabd_real normal = d / (o * (1 + soft)), stick = s / (o * (1 + soft));
        cr_expect(epsilon_eq(dbl, p->force[0], normal, 1e-7));
        cr_expect(epsilon_eq(dbl, p->force[1], fmin(stick, mu * normal), 1e-7));
        cr_expect(epsilon_eq(dbl, p->force[2], 0, 1e-7));
        free(p);
    }
}

// ---- the budget --------------------------------------------------------------------------------

// One product for the gradient, and one more if round-off moved a force across its bound.
Test(cone_cg, a_start_at_the_solution_takes_two_products) {
    uint64_t state = 23;
    for (int k = 0; k < 80; k++) {
        const int count = 1 + k % MOST;
        problem* p = draw_problem(count, 3 * count + 3, (mabd_real)1e-3, &state);
        p->of.tolerance = (mabd_real)1e-10;
        cr_assert(solve(p).converged);
        p->of.tolerance = (mabd_real)1e-9;
        const mabd_cone_report again = solve(p);
        cr_expect(again.converged);
        cr_expect(le(int, again.products, 2), "draw %d", k);
        free(p);
    }
}

// The current step is completed and its result measured: two more products.
Test(cone_cg, the_budget_of_products_is_not_exceeded) {
    uint64_t state = 31;
    for (int most = 1; most < 12; most++) {
        problem* p = draw_problem(MOST, ROWS + 3, (mabd_real)1e-3, &state);
        p->of.tolerance = (mabd_real)1e-14;
        p->of.max_products = most;
        const mabd_cone_report report = solve(p);
        cr_expect(not(report.converged));
        cr_expect(lt(dbl, p->of.tolerance, report.residual), "the residual is reported");
        cr_expect(le(int, report.products, most + 2));
        contact_law_cones(&p->of, p->force);
        free(p);
    }
}

// Slips of 1e-3 m cannot be resolved to 1e-15 m: the displacement is 1e-16 of the positions.
Test(cone_cg, a_tolerance_below_round_off_comes_to_an_end, .timeout = 20) {
    uint64_t state = 5;
    for (int k = 0; k < 20; k++) {
        problem* p = draw_problem(1 + k % 4, 3 * (1 + k % 4) + 3, (mabd_real)0.05, &state);
        p->of.tolerance = (mabd_real)1e-15;
        p->of.max_products = 3000;
        cr_expect(le(dbl, solve(p).residual, 1e-9), "draw %d", k);
        free(p);
    }
}

Test(cone_cg, nothing_to_solve_is_solved) {
    const mabd_cone_problem none = {.count = 0, .tolerance = (mabd_real)1e-9};
    const mabd_cone_report report = mabd_cone_cg(&none, NULL, NULL, NULL);
    cr_expect(report.converged);
    cr_expect(eq(int, report.products, 0));
    cr_expect(eq(dbl, report.residual, 0));
    cr_expect(eq(sz, mabd_cone_cg_work(0), 0));
}

// Given bounds are constant for any normal forces; with updates they converge to Coulomb's law.
Test(cone_cg, given_bounds_stand_until_they_are_updated) {
    const mabd_real d = (mabd_real)1e-3, normal = d / (ONE_OWN * (1 + ONE_SOFT));
    for (int updates = 0; updates < 3; updates++) {
        problem* p = one_contact(d, 2 * d, (mabd_real)0.5);
        mabd_real bound = 1;
        p->of.bound = &bound, p->of.updates = updates;
        cr_expect(solve(p).converged);
        cr_expect(epsilon_eq(dbl, p->force[0], normal, 1e-7));
        cr_expect(epsilon_eq(dbl, p->force[1], updates ? normal / 2 : 1, 1e-7), "%d updates",
                  updates);
        cr_expect(epsilon_eq(dbl, bound, updates ? normal / 2 : 1, 1e-7), "%d updates", updates);
        free(p);
    }
}
