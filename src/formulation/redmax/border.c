// SPDX-License-Identifier: Apache-2.0
// The Newton system of a part with loops, couplings or springs between links: H of the tree
// (factor.c) with a border of rows (loops.c, couplings.c), of relative motions p (loops.c) and of
// changes of forces (springs.c), y = (lambda, p):
//
//   | H  -U | | dq |   | -r |       U  wrenches of a unit of y on the links
//   | L   e | | dy | = | -C |       L  rows by the variations of the links;  e = 0, or -1 for p
//
//   (L H^-1 U + e) dy = -C + L H^-1 r        dq = H^-1 (-r + U dy)
//
// One solve in O(links) for each column of U, then a dense matrix of the size of y. Rows may be
// redundant: a four-bar of hinges in a plane has five rows at its cut joint and needs two of them,
// and at a dead point it needs none. So the factor has a shift of the rows, a small part of the
// mean diagonal entry of L H^-1 U, and the solution is refined without it (rigid/refine.h). Solved
// is for lambda + dlambda, from zero, not for dlambda: what is left in directions without effect
// does not add up over the iterations.
//
// Derivatives of a run solve the transposed system, with the transposed matrices of both factors:
//
//   H'z + L'mu = y,  -U'z + e'mu = b        (L H^-1 U + e)'mu = b + U'H^-T y
//
// With the mass matrix in place of H, and G in place of L, the same matrix G M^-1 G' gives
// accelerations and projections (closing.c).

#include "dual/dense_lu.h"
#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_springs.h"
#include "rigid/refine.h"

#include <math.h>
#include <string.h>

/// Shift of the rows relative to the mean of their diagonal entries.
#define SHIFT ((mabd_real)1e-8)
/// Refinement: the residual that is enough, relative to the right-hand side; the fall that is
/// progress; solves.
#define ENOUGH ((mabd_real)1e-14)
#define FALL   ((mabd_real)0.5)
#define SOLVES 20
/// Part of the bars of forces that rows may leave: more means that redundant rows share the force.
#define DETERMINED ((mabd_real)1e-6)
/// Bars of forces that have died away over the steps of linear-implicit, whose state they are.
#define NOTHING ((mabd_real)1e-200)

// ---- matrix ------------------------------------------------------------------------------------

/// A bordered system: of a stage, with p, or of the mass matrix, with rows only.
typedef struct bordered {
    const mabd_redmax_solve* s;
    bool mass;
    int32_t n;
    const mabd_redmax_border* borders;
    mabd_real *matrix, *factor;
    int32_t* pivot;
} bordered;

static bordered bordered_of(const mabd_redmax_solve* s, bool mass) {
    const mabd_redmax_loops* loops = &s->sim->loops;
    const bordered w = {.s = s,
                        .mass = mass,
                        .n = mass ? s->part->row_count : mabd_redmax_border_size(s),
                        .borders = mabd_redmax_borders(s),
                        .matrix = loops->matrix + s->part->matrix_first,
                        .factor = loops->factor + s->part->matrix_first,
                        .pivot = loops->pivot + s->part->border_first};
    return w;
}

// Forces (count) of a wrench on the freedoms of a link, in the rows of H: held ones do not yield.
static void rows_of_link(const mabd_redmax_sim* sim, const mabd_redmax_link* link, mabd_real* f) {
    if (link->kind == MABD_PRIMITIVE_BALL && sim->balls[link->ball].holds) {
        mabd_v3_store(mabd_m3_mul(sim->balls[link->ball].forces, mabd_v3_load(f)), f);
        return;
    }
    for (int32_t k = 0; k < link->count; k++) {
        if (sim->freedoms[link->first + k].held) f[k] = 0;
    }
}

// b += U y of a wrench on a link, which enters by the columns `left`; rows: in the rows of H, else
// as forces.
static void pull_link(const mabd_redmax_sim* sim, const mabd_spatial* left, int32_t link,
                      mabd_spatial F, bool rows, mabd_real* b) {
    for (int32_t i = link; i >= 0; i = sim->links[i].parent) {
        const mabd_redmax_link* own = &sim->links[i];
        mabd_real f[3];
        for (int32_t k = 0; k < own->count; k++) f[k] = mabd_sp_dot(left[own->first + k], F);
        if (rows) rows_of_link(sim, own, f);
        for (int32_t k = 0; k < own->count; k++) b[own->first + k] += f[k];
        F = mabd_frame_to_parent(&sim->E[i], F);
    }
}

static void pull_as(const bordered* w, int32_t at, mabd_real y, bool rows, mabd_real* b) {
    const mabd_redmax_border* border = &w->borders[at];
    if (y == 0) return;
    if (border->coupling) {
        mabd_redmax_pull_coupling(w->s->sim, border->coupling, y, rows, b);
        return;
    }
    const mabd_spatial* left = mabd_redmax_left(w->s);
    pull_link(w->s->sim, left, border->a, mabd_sp_scale(y, border->on_a), rows, b);
    pull_link(w->s->sim, left, border->b, mabd_sp_scale(y, border->on_b), rows, b);
}

static void pull(const bordered* w, int32_t at, mabd_real y, mabd_real* b) {
    pull_as(w, at, y, true, b);
}

// W . six reals of the variations of a link, -1 = none.
static mabd_real read_link(const mabd_redmax_sim* sim, int32_t link, int at, mabd_spatial W) {
    if (link < 0) return 0;
    return mabd_sp_dot(W, mabd_sp_load(sim->x + MABD_VARIATION * (size_t)link + at));
}

mabd_real mabd_redmax_read_row(const mabd_redmax_sim* sim, const mabd_redmax_border* border) {
    return read_link(sim, border->a, 0, border->rate_a) +
           read_link(sim, border->a, 12, border->pose_a) +
           read_link(sim, border->b, 0, border->rate_b) +
           read_link(sim, border->b, 12, border->pose_b);
}

mabd_real mabd_redmax_read_column(const mabd_redmax_sim* sim, const mabd_redmax_border* border) {
    return read_link(sim, border->a, 0, border->on_a) + read_link(sim, border->b, 0, border->on_b);
}

mabd_real mabd_redmax_row_change(const mabd_redmax_solve* s, bool mass,
                                 const mabd_redmax_border* border, const mabd_real* dq) {
    const mabd_redmax_sim* sim = s->sim;
    if (border->coupling) {
        const mabd_real sum = mabd_redmax_coupled(sim, border->coupling, dq);
        return mass ? sum : border->weight * sum;
    }
    if (!mass) return mabd_redmax_read_row(sim, border);
    return read_link(sim, border->a, 6, border->on_a) + read_link(sim, border->b, 6, border->on_b);
}

static mabd_real read_row(const bordered* w, int32_t at, const mabd_real* dq) {
    return mabd_redmax_row_change(w->s, w->mass, &w->borders[at], dq);
}

static void clear(const mabd_redmax_solve* s, mabd_real* b) {
    memset(b + s->part->freedom_first, 0, (size_t)s->part->freedom_count * sizeof *b);
}

// True of a row that the stage does without.
static bool is_left_out(const bordered* w, int32_t r) {
    return !mabd_redmax_is_active(w->s, w->mass, r);
}

// Column and row of the identity: the unknown is zero for a right-hand side of zero.
static void leave_out(const bordered* w, int32_t r) {
    const size_t n = (size_t)w->n, at = (size_t)r;
    for (size_t k = 0; k < n; k++) w->matrix[at * n + k] = w->matrix[k * n + at] = 0;
    w->matrix[at * n + at] = 1;
}

// Clear the right-hand sides of the rows that the stage does without.
static void clear_left_out(const bordered* w, mabd_real* rhs) {
    for (int32_t r = 0; r < w->s->part->row_count; r++) {
        if (is_left_out(w, r)) rhs[r] = 0;
    }
}

static void fill_matrix(const bordered* w) {
    mabd_real* b = w->s->sim->loops.pull;
    const size_t n = (size_t)w->n;
    for (int32_t c = 0; c < w->n; c++) {
        if (is_left_out(w, c)) continue;
        clear(w->s, b);
        pull(w, c, 1, b);
        mabd_redmax_apply(w->s, b, b);
        for (int32_t r = 0; r < w->n; r++) {
            const mabd_real own = r == c && !w->mass ? w->borders[r].own : 0;
            w->matrix[(size_t)r * n + (size_t)c] = read_row(w, r, b) + own;
        }
    }
    if (!w->mass && !w->s->still) mabd_redmax_spring_border(w->s, w->n, w->matrix);
    for (int32_t r = 0; r < w->s->part->row_count; r++) {
        if (is_left_out(w, r)) leave_out(w, r);
    }
}

// Diagonal entry of a row.
static mabd_real diagonal_of(const bordered* w, int32_t r) {
    if (mabd_redmax_has_bundles(w->s)) {
        return w->s->sim->bundles.diagonal[w->s->part->border_first + r];
    }
    return (mabd_real)fabs(w->matrix[(size_t)r * (size_t)w->n + (size_t)r]);
}

// Mean diagonal entry of the rows; 1 if they have no effect at all. With the mass matrix it is at
// least what round-off is not: without that the forces of rows between bodies that are already one,
// such as a second weld, are errors over errors.
static mabd_real mean_row(const bordered* w) {
    const int32_t rows = w->s->part->row_count;
    mabd_real sum = 0, least = 0;
    int32_t count = 0;
    for (int32_t r = 0; r < rows; r++) {
        if (is_left_out(w, r)) continue;
        count++;
        sum += diagonal_of(w, r);
        if (w->mass) least += mabd_redmax_least_effect(w->s, r);
    }
    if (sum < least) sum = least;
    return sum > 0 ? sum / (mabd_real)count : 1;
}

static mabd_status factor_border(const bordered* w) {
    const size_t n = (size_t)w->n;
    int32_t bad;
    if (mabd_redmax_has_bundles(w->s)) return MABD_OK; // H was factored with them
    fill_matrix(w);
    memcpy(w->factor, w->matrix, n * n * sizeof *w->matrix);
    const mabd_real shift = SHIFT * mean_row(w);
    for (int32_t r = 0; r < w->s->part->row_count; r++) {
        w->factor[(size_t)r * n + (size_t)r] += shift;
    }
    mabd_real* scale = w->s->sim->loops.scale + w->s->part->border_first;
    return mabd_dense_lu_factor(w->n, w->factor, w->pivot, scale, &bad) ? MABD_OK
                                                                        : MABD_ERR_SINGULAR;
}

mabd_real* mabd_redmax_mass_matrix(const mabd_redmax_solve* s) {
    const bordered w = bordered_of(s, true);
    fill_matrix(&w);
    return w.matrix;
}

mabd_status mabd_redmax_mass_border(const mabd_redmax_solve* s) {
    const bordered w = bordered_of(s, true);
    return factor_border(&w);
}

// Weights of the rows in the merit: that of C^2/(2 L H^-1 U), an energy. A rate counts with gamma.
void mabd_redmax_set_row_weights(const mabd_redmax_solve* s) {
    const bordered w = bordered_of(s, false);
    const mabd_real mean = mean_row(&w), scale = s->by_rate ? s->gamma : 1;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        const mabd_real own = diagonal_of(&w, r);
        s->sim->loops.weight[s->part->row_first + r] =
            is_left_out(&w, r) ? 0 : scale / (own > mean ? own : mean);
    }
}

mabd_status mabd_redmax_border_factor(const mabd_redmax_solve* s) {
    const bordered w = bordered_of(s, false);
    return factor_border(&w);
}

// ---- solves ------------------------------------------------------------------------------------

static void apply_factor(void* context, mabd_real* x) {
    const bordered* w = context;
    mabd_dense_lu_solve(w->n, w->factor, w->pivot, x);
}

static void multiply(void* context, const mabd_real* x, mabd_real* y) {
    const bordered* w = context;
    for (int32_t r = 0; r < w->n; r++) {
        const mabd_real* row = w->matrix + (size_t)r * (size_t)w->n;
        y[r] = 0;
        for (int32_t k = 0; k < w->n; k++) y[r] += row[k] * x[k];
    }
}

static mabd_real largest(void* context, const mabd_real* x) {
    const bordered* w = context;
    mabd_real most = 0;
    for (int32_t i = 0; i < w->n; i++) {
        if (!(fabs(x[i]) <= most)) most = (mabd_real)fabs(x[i]);
    }
    return most;
}

// Solve for y of the part with its right-hand side in loops.rhs.
static void solve_border(bordered* w) {
    const mabd_redmax_loops* loops = &w->s->sim->loops;
    const size_t at = (size_t)w->s->part->border_first;
    const mabd_rigid_system system = {(size_t)w->n, w, apply_factor, multiply, largest};
    const mabd_real size = largest(w, loops->rhs + at);
    const mabd_rigid_refinement until = {ENOUGH * size, (mabd_real)INFINITY, FALL, SOLVES};
    mabd_rigid_refine(&system, &until, loops->rhs + at, loops->y + at, loops->rest + at);
}

void mabd_redmax_border_solve(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_loops* loops = &sim->loops;
    bordered w = bordered_of(s, false);
    const size_t first = (size_t)s->part->freedom_first, at = (size_t)s->part->border_first;
    const int32_t rows = s->part->row_count, row = s->part->row_first;
    mabd_real *rhs = loops->rhs + at, *y = loops->y + at;
    if (mabd_redmax_has_bundles(s)) {
        for (int32_t r = 0; r < s->part->border_count; r++) {
            rhs[r] = r < rows ? -loops->gap[row + r] : 0;
        }
        mabd_redmax_bundle_solve(s, false, sim->step, rhs, loops->force);
        for (int32_t r = 0; r < rows; r++) loops->step[row + r] = rhs[r] - loops->force[row + r];
        for (int32_t r = 0; r < rows; r++) y[r] = loops->step[row + r];
        return;
    }
    memcpy(loops->pull + first, sim->step + first, (size_t)s->part->freedom_count * sizeof *y);
    mabd_redmax_apply_defects(s, s->lifted, loops->pull, loops->pull); // -H^-1 r
    for (int32_t r = 0; r < w.n; r++) y[r] = r < rows ? loops->force[row + r] : 0;
    multiply(&w, y, rhs);
    for (int32_t r = 0; r < w.n; r++) {
        rhs[r] -= read_row(&w, r, loops->pull) + (r < rows ? loops->gap[row + r] : 0);
    }
    clear_left_out(&w, rhs);
    solve_border(&w);
    for (int32_t r = 0; r < rows; r++) {
        y[r] -= loops->force[row + r];
        loops->step[row + r] = y[r];
    }
    for (int32_t r = 0; r < w.n; r++) pull(&w, r, y[r], sim->step);
    mabd_redmax_apply_defects(s, s->lifted, sim->step, sim->step);
}

// Solve (H x - U y, L x + e y) = (x, c): x (freedoms), c (n) in and out.
static void solve_bordered(bordered w, mabd_real* x, mabd_real* c) {
    const mabd_redmax_solve* s = w.s;
    const mabd_redmax_loops* loops = &s->sim->loops;
    const size_t first = (size_t)s->part->freedom_first, at = (size_t)s->part->border_first;
    if (mabd_redmax_has_bundles(s)) {
        memset(loops->rhs + at, 0, (size_t)s->part->border_count * sizeof *c);
        memcpy(loops->rhs + at, c, (size_t)w.n * sizeof *c);
        mabd_redmax_bundle_solve(s, w.mass, x, loops->rhs + at, NULL);
        memcpy(c, loops->rhs + at, (size_t)w.n * sizeof *c);
        return;
    }
    memcpy(loops->pull + first, x + first, (size_t)s->part->freedom_count * sizeof *x);
    mabd_redmax_apply(s, loops->pull, loops->pull);
    for (int32_t r = 0; r < w.n; r++)
        loops->rhs[at + (size_t)r] = c[r] - read_row(&w, r, loops->pull);
    clear_left_out(&w, loops->rhs + at);
    solve_border(&w);
    for (int32_t r = 0; r < w.n; r++) {
        c[r] = loops->y[at + (size_t)r];
        pull(&w, r, c[r], x);
    }
    mabd_redmax_apply(s, x, x);
}

void mabd_redmax_mass_solve(const mabd_redmax_solve* s, mabd_real* x, mabd_real* c) {
    solve_bordered(bordered_of(s, true), x, c);
}

void mabd_redmax_stage_solve(const mabd_redmax_solve* s, mabd_real* x, mabd_real* c) {
    solve_bordered(bordered_of(s, false), x, c);
}

void mabd_redmax_subtract_border(const mabd_redmax_solve* s, bool mass, mabd_real* forces) {
    const bordered w = bordered_of(s, mass);
    const mabd_real* y = s->sim->loops.y + s->part->border_first;
    if (mabd_redmax_has_bundles(s)) {
        mabd_redmax_bundle_subtract(s, mass, forces);
        return;
    }
    for (int32_t r = 0; r < w.n; r++) pull_as(&w, r, -y[r], false, forces);
}

void mabd_redmax_pull_wrench(const mabd_redmax_sim* sim, int32_t link, mabd_spatial F,
                             mabd_real* b) {
    pull_link(sim, sim->S, link, F, true, b);
}

void mabd_redmax_respond(const mabd_redmax_solve* s, mabd_real* x) {
    const mabd_redmax_loops* loops = &s->sim->loops;
    bordered w = bordered_of(s, false);
    const size_t first = (size_t)s->part->freedom_first, at = (size_t)s->part->border_first;
    if (mabd_redmax_has_bundles(s)) {
        memset(loops->rhs + at, 0, (size_t)s->part->border_count * sizeof *x);
        mabd_redmax_bundle_solve(s, false, x, loops->rhs + at, NULL);
        return;
    }
    if (s->part->border_count > 0) {
        memcpy(loops->pull + first, x + first, (size_t)s->part->freedom_count * sizeof *x);
        mabd_redmax_apply(s, loops->pull, loops->pull);
        for (int32_t r = 0; r < w.n; r++)
            loops->rhs[at + (size_t)r] = -read_row(&w, r, loops->pull);
        clear_left_out(&w, loops->rhs + at);
        solve_border(&w);
        for (int32_t r = 0; r < w.n; r++) pull(&w, r, loops->y[at + (size_t)r], x);
    }
    mabd_redmax_apply(s, x, x);
}

// ---- transposed solves -------------------------------------------------------------------------

static void apply_factor_transposed(void* context, mabd_real* x) {
    const bordered* w = context;
    mabd_dense_lu_solve_transposed(w->n, w->factor, w->pivot, x);
}

static void multiply_transposed(void* context, const mabd_real* x, mabd_real* y) {
    const bordered* w = context;
    for (int32_t k = 0; k < w->n; k++) y[k] = 0;
    for (int32_t r = 0; r < w->n; r++) {
        const mabd_real* row = w->matrix + (size_t)r * (size_t)w->n;
        for (int32_t k = 0; k < w->n; k++) y[k] += row[k] * x[r];
    }
}

// Entry `at` of U'z after a transposed solve, which has left minus the twists of z in sim->x.
static mabd_real read_column(const bordered* w, int32_t at, const mabd_real* z) {
    const mabd_redmax_border* border = &w->borders[at];
    const mabd_redmax_sim* sim = w->s->sim;
    if (border->coupling) return mabd_redmax_coupled_free(sim, border->coupling, z);
    return -mabd_redmax_read_column(sim, border);
}

// Add s times row `at` of L to the bars: those of links in sim->up, those of freedoms y.
static void push_row(const bordered* w, int32_t at, mabd_real s, mabd_real* y) {
    const mabd_redmax_border* border = &w->borders[at];
    if (border->coupling) {
        const mabd_real weight = w->mass ? s : s * border->weight;
        mabd_redmax_pull_coupling(w->s->sim, border->coupling, weight, false, y);
    } else if (w->mass) {
        mabd_redmax_add_bar(w->s->sim, border->a, 6, s, border->on_a);
        mabd_redmax_add_bar(w->s->sim, border->b, 6, s, border->on_b);
    } else {
        mabd_redmax_push_row(w->s->sim, border, s);
    }
}

void mabd_redmax_add_bar(const mabd_redmax_sim* sim, int32_t link, int at, mabd_real s,
                         mabd_spatial bar) {
    if (link < 0) return;
    mabd_real* up = sim->up + MABD_VARIATION * (size_t)link + at;
    mabd_sp_store(mabd_sp_axpy(s, bar, mabd_sp_load(up)), up);
}

void mabd_redmax_push_row(const mabd_redmax_sim* sim, const mabd_redmax_border* border,
                          mabd_real s) {
    mabd_redmax_add_bar(sim, border->a, 0, s, border->rate_a);
    mabd_redmax_add_bar(sim, border->b, 0, s, border->rate_b);
    mabd_redmax_add_bar(sim, border->a, 12, s, border->pose_a);
    mabd_redmax_add_bar(sim, border->b, 12, s, border->pose_b);
}

// Solve H'z + L'mu = y, -U'z + e'mu = bars of the rows (null = 0): z holds y and gets z.
static bool solve_transposed(bordered w, mabd_real* z, const mabd_real* bars, mabd_real* mu) {
    const mabd_redmax_loops* loops = &w.s->sim->loops;
    const size_t at = (size_t)w.s->part->border_first, first = (size_t)w.s->part->freedom_first;
    const int32_t rows = w.s->part->row_count;
    const mabd_rigid_system system = {(size_t)w.n, &w, apply_factor_transposed, multiply_transposed,
                                      largest};
    mabd_real *rhs = loops->rhs + at, most = 0;
    if (mabd_redmax_has_bundles(w.s)) {
        return mabd_redmax_bundle_solve_transposed(w.s, w.mass, z, bars, mu);
    }
    memcpy(loops->pull + first, z + first, (size_t)w.s->part->freedom_count * sizeof *z);
    mabd_redmax_apply_transposed(w.s, loops->pull, loops->pull);
    for (int32_t r = 0; r < w.n; r++) {
        const mabd_real bar = bars && r < rows ? bars[r] : 0;
        rhs[r] = bar + read_column(&w, r, loops->pull);
        if (fabs(bar) > most) most = (mabd_real)fabs(bar);
    }
    clear_left_out(&w, rhs);
    const mabd_rigid_refinement until = {ENOUGH * largest(&w, rhs), (mabd_real)INFINITY, FALL,
                                         SOLVES};
    mabd_rigid_refine(&system, &until, rhs, mu, loops->rest + at);
    mabd_redmax_clear_bars(w.s);
    for (int32_t r = 0; r < w.n; r++) push_row(&w, r, -mu[r], z);
    mabd_redmax_apply_transposed_bars(w.s, z, z);
    const mabd_real left = largest(&w, loops->rest + at);
    return most <= NOTHING || left <= until.goal || left <= DETERMINED * most;
}

bool mabd_redmax_stage_solve_transposed(const mabd_redmax_solve* s, mabd_real* z,
                                        const mabd_real* bars, mabd_real* mu) {
    return solve_transposed(bordered_of(s, false), z, bars, mu);
}

bool mabd_redmax_mass_solve_transposed(const mabd_redmax_solve* s, mabd_real* z,
                                       const mabd_real* bars, mabd_real* mu) {
    return solve_transposed(bordered_of(s, true), z, bars, mu);
}
