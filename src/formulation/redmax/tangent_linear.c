// SPDX-License-Identifier: Apache-2.0
// Derivatives of steps by linear-implicit, one Newton iteration of euler, in both directions.
//
// With F = r(q, v, a) - G'lambda and the rows C, from the predicted q_0 = q_b + h v_b, v_0 = v_b,
// a_0 = 0 and the forces lambda_0 of the last step,
//
//   F(x_0) + F'(x_0) dx = 0,   C(x_0) + C'(x_0) dx = 0,   dx = (dq, dq/h, dq/h^2, dlambda)
//
// F'(x_0) dx is a derivative along a line, and so a sum of values of F on it: with a difference of
// second, fourth or sixth order, whose points x_0 + e dx are within 0.003 dx, the step is
//
//   sum_k w_k F(x_0 + e_k dx) = 0     the point x_0 with weight 1, 2, 4 or 6 others with 1/e
//
// to round-off, and its derivatives at a fixed dx are sums of those of residuals. So second
// derivatives of forces are not written anywhere. Backwards, with H and L of the one iteration,
//
//   H'z + L'mu = q-bar + v-bar/h + a-bar/h^2      x_0-bar += x-bar - sum_k w_k (F'(x_k)'z + C'mu)
//
// The forces of rows are a state: lambda_0 bends the rows, and lambda = lambda_0 + dlambda.

#include "formulation/redmax/tangent_law.h"

#include "formulation/redmax/redmax_loops.h"

#include <math.h>

/// Points of a line: the difference of an order, and the point of the iteration, which is the last
/// one; the others go first in both directions.
typedef struct line_points {
    int count;
    mabd_real place[7];
    double weight[7];
} line_points;
static const line_points differences[3] = {
    {3, {-1, 1, 0}, {-1 / 2., 1 / 2.}},
    {5, {-2, -1, 1, 2, 0}, {1 / 12., -8 / 12., 8 / 12., -1 / 12.}},
    {7, {-3, -2, -1, 1, 2, 3, 0}, {-1 / 60., 9 / 60., -45 / 60., 45 / 60., -9 / 60., 1 / 60.}}};
/// Distance of the points in parts of dx.
#define SPACING ((mabd_real)1e-3)
/// Turns along dx up to which the differences of second and of fourth order are exact to round-off:
/// their errors are (SPACING turn)^2/6 and (SPACING turn)^4/30 of a residual that varies within a
/// radian.
#define SECOND_ORDER_TURN ((mabd_real)1e-3)
#define FOURTH_ORDER_TURN ((mabd_real)0.3)

static mabd_real weight_of(const line_points* line, int point) {
    return line->place[point] == 0 ? 1 : (mabd_real)line->weight[point] / SPACING;
}

// ---- points ------------------------------------------------------------------------------------

static void predict(mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        sim->q[k] = sim->q_b[k] + r->s.gamma * sim->v_b[k];
    }
    mabd_redmax_follow(&r->s);
    mabd_redmax_rates(&r->s);
}

// True if forces may vary faster than the turns of links: with rates of friction that is smooth,
// stretches of springs, depths of the ground.
static bool varies_fast(const mabd_redmax_pass* r) {
    const mabd_redmax_sim* sim = r->g->sim;
    bool fast = r->part->pins || r->part->spring_count > 0 || sim->model->ground_count > 0;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        fast |= sim->freedoms[k].control && sim->freedoms[k].control->friction_speed > 0;
    }
    return fast;
}

// Find dx: dq -> g->line_q, dlambda -> g->line_mu. Returns the points on it.
static const line_points* find_line(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    const int32_t row = r->part->row_first;
    mabd_redmax_set_stage(&r->s, MABD_INTEGRATOR_LINEAR_IMPLICIT, 0);
    predict(r);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->line_q[k] = r->end_q[k] - g->sim->q[k];
    }
    for (int32_t k = row; k < row + r->part->row_count; k++) {
        const mabd_real before = g->sim->loops.left_out[k] ? 0 : r->stage_force[k];
        g->line_force[k] = r->end_force[k] - before;
    }
    mabd_real turn = 0; // of any link: at most the sum
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        turn += (mabd_real)fabs(g->line_q[k]) / g->sim->freedoms[k].length;
    }
    if (varies_fast(r) || !(turn <= FOURTH_ORDER_TURN)) return &differences[2];
    return &differences[turn > SECOND_ORDER_TURN];
}

// The residual at x_0 + ahead dx.
static void move_to(mabd_redmax_pass* r, mabd_real ahead) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    const mabd_real gamma = r->s.gamma;
    const int32_t row = r->part->row_first;
    predict(r);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_real way = ahead * g->line_q[k];
        sim->q[k] += way, sim->v[k] += way / gamma, sim->a[k] += way / (gamma * gamma);
    }
    for (int32_t k = row; k < row + r->part->row_count; k++) {
        sim->loops.force[k] = r->end_force[k] - (1 - ahead) * g->line_force[k];
    }
    mabd_redmax_set_branches(&r->s, r->end_branch);
    mabd_redmax_residual(&r->s);
}

// The same, and what it derives from.
static void enter_point(mabd_redmax_pass* r, mabd_real ahead) {
    mabd_redmax_sim* sim = r->g->sim;
    move_to(r, ahead);
    if (r->back) {
        mabd_redmax_derive_bars(&r->s);
    } else {
        mabd_redmax_derive_forces(&r->s);
    }
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        if (sim->links[i].ball >= 0 && sim->links[i].laws) mabd_redmax_ball_derivatives(&r->s, i);
    }
}

// The iteration: its residual, and the factors of H and of the border.
static mabd_status enter_iteration(mabd_redmax_pass* r) {
    int32_t link;
    move_to(r, 0);
    mabd_status status = mabd_redmax_factor(&r->s, mabd_redmax_stage_weights(r->s.gamma), &link);
    if (status == MABD_OK && r->part->border_count > 0) status = mabd_redmax_border_factor(&r->s);
    return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
}

// ---- backwards ---------------------------------------------------------------------------------

// Bars of the forces of the rows by a point, after the sweep of z.
static void forces_back(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_border* borders = mabd_redmax_borders(&r->s);
    for (int32_t k = 0; k < r->part->row_count; k++) {
        const int32_t row = r->part->row_first + k;
        if (borders[k].coupling || g->sim->loops.left_out[row]) continue;
        g->force[row] += mabd_redmax_read_column(g->sim, &borders[k]);
    }
}

// Subtract the share of a point from the bars of x_0, g->q, g->v and g->a, and of all else.
static void point_back(mabd_redmax_pass* r, const line_points* line, int point, const mabd_real* z,
                       mabd_real* mu, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real w = weight_of(line, point), place = line->place[point];
    const int32_t first = r->part->freedom_first, end = mabd_redmax_pass_end_freedom(r);
    if (place != 0) enter_point(r, place * SPACING); // else it is entered
    for (int32_t k = first; k < end; k++) g->z[k] = w * z[k];
    for (int32_t k = 0; k < r->part->row_count; k++) {
        g->line_mu[r->part->border_first + k] = w * mu[k];
    }
    r->s.row_bars = r->part->row_count > 0 ? g->line_mu + r->part->border_first : NULL;
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    if (place != 0) forces_back(r);
    for (int32_t k = first; k < end; k++) {
        const int32_t i = g->sim->freedoms[k].link;
        const mabd_redmax_weights by_a = {0, 0, 1};
        g->a[k] -= mabd_redmax_bar(g->sim, i, k - g->sim->links[i].first, by_a, g->z);
    }
    mabd_redmax_pass_collect(r, MABD_EQUATION_STEP, g->z, g->q, g->v, center);
    mabd_redmax_add_coupling_bars(&r->s, -1, g->q);
    mabd_redmax_pass_laws(r, center);
    r->s.row_bars = NULL, r->s.forces_at_once = false;
}

// Move the bars g->q, g->v, g->a of x_0 to the base of the step and to targets.
static void start_back(mabd_redmax_pass* r, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real gamma = r->s.gamma;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (!g->sim->freedoms[k].prescribed) {
            g->base_q[k] += g->q[k], g->base_v[k] += gamma * g->q[k] + g->v[k];
            continue;
        }
        const mabd_real rate = g->v[k] / gamma + g->a[k] / (gamma * gamma);
        mabd_real value = g->q[k] + rate;
        g->base_q[k] -= rate, g->base_v[k] -= g->a[k] / gamma;
        mabd_redmax_pass_prescribed(r, k, false, 1, &value, begin, g->target + k);
    }
}

// Bars of the end of the iteration -> g->q, g->v, g->a.
static mabd_status end_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                            mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent own = {g->q, g->v};
    find_line(r);
    move_to(r, 1);
    if (r->part->row_count > 0) {
        MABD_TRY(mabd_redmax_closing_back(r, MABD_INTEGRATOR_LINEAR_IMPLICIT, end, start));
        find_line(r);
    } else {
        mabd_redmax_pass_clear_node(r, own);
        mabd_redmax_pass_end(r, g->sim->q, g->sim->v, end, start);
    }
    mabd_redmax_pass_clear(r, g->a);
    if (g->has_wrench) enter_point(r, 1);
    mabd_redmax_pass_wrenches_back(r, start.q);
    r->s.forces_at_once = false;
    return MABD_OK;
}

mabd_status mabd_redmax_linear_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                    mabd_redmax_tangent start, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const int32_t first = r->part->freedom_first, last = mabd_redmax_pass_end_freedom(r);
    mabd_real *mu = g->mu + r->part->border_first, *force = g->force + r->part->row_first;
    MABD_TRY(end_back(r, end, start));
    const line_points* line = find_line(r); // the projection has used its memory
    MABD_TRY(enter_iteration(r));
    const mabd_real gamma = r->s.gamma;
    mabd_redmax_pass_clear(r, g->base_q), mabd_redmax_pass_clear(r, g->base_v);
    mabd_redmax_pass_clear(r, g->base_theta);
    for (int32_t k = first; k < last; k++) {
        g->z[k] = g->q[k] + (g->v[k] + g->a[k] / gamma) / gamma;
    }
    if (r->part->border_count == 0) {
        mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    } else if (!mabd_redmax_stage_solve_transposed(&r->s, g->z, force, mu)) {
        return mabd_redmax_pass_fail_shared(r);
    }
    memset(force, 0, (size_t)r->part->row_count * sizeof *force);
    mabd_redmax_split_rows(r);
    for (int32_t k = first; k < last; k++) { // dq = x* - q_0 of a held axis
        if (g->sim->freedoms[k].held && !g->sim->freedoms[k].prescribed) g->q[k] -= g->hold[k];
    }
    mabd_redmax_pass_copy(r, g->line_z, g->z);
    for (int p = line->count - 1; p >= 0; p--) {
        point_back(r, line, p, g->line_z, mu, start.q);
        mabd_redmax_pass_clear(r, g->hold); // their rows are those of the iteration
    }
    start_back(r, begin);
    mabd_redmax_pass_base(r, 1, start);
    return MABD_OK;
}

// ---- forward -----------------------------------------------------------------------------------

// Changes of x_0 -> g->q, g->v, g->a.
static void start_forward(mabd_redmax_pass* r, const mabd_redmax_direction* d,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real gamma = r->s.gamma;
    mabd_redmax_pass_clear(r, g->base_q), mabd_redmax_pass_clear(r, g->base_v);
    mabd_redmax_pass_clear(r, g->base_theta);
    mabd_redmax_pass_base(r, 1, d->now);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->q[k] = g->base_q[k] + gamma * g->base_v[k], g->v[k] = g->base_v[k], g->a[k] = 0;
        if (!g->sim->freedoms[k].prescribed) continue;
        g->q[k] = 0;
        mabd_redmax_pass_prescribed(r, k, false, 1, g->q + k, begin, g->target + k);
        g->v[k] = (g->q[k] - g->base_q[k]) / gamma;
        g->a[k] = (g->v[k] - g->base_v[k]) / gamma;
    }
}

// Wrenches by the changes of the forces of the rows before the step, on links.
static void forces_forward(mabd_redmax_pass* r, const mabd_redmax_direction* d) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_border* borders = mabd_redmax_borders(&r->s);
    for (int32_t k = 0; k < r->part->row_count; k++) {
        const mabd_redmax_border* own = &borders[k];
        const mabd_real force = d->force[r->part->row_first + k];
        if (own->coupling || g->sim->loops.left_out[r->part->row_first + k]) continue;
        mabd_spatial* load = g->changes.load;
        if (own->a >= 0) load[own->a] = mabd_sp_axpy(-force, own->on_a, load[own->a]);
        if (own->b >= 0) load[own->b] = mabd_sp_axpy(-force, own->on_b, load[own->b]);
    }
}

// Add the share of a point, which has been entered, to the changes of the residual, in d->stage_v,
// and of the rows.
static void point_forward(mabd_redmax_pass* r, const line_points* line, int point, int32_t i,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_direction* d = &g->directions[i];
    const mabd_real w = weight_of(line, point);
    const int32_t row = r->part->row_first;
    mabd_redmax_pass_set_target(r, i, 1);
    start_forward(r, d, begin);
    mabd_redmax_pass_clear_changes(r);
    mabd_redmax_pass_parameter(r, i);
    mabd_redmax_pass_centers_forward(r, d->now.q);
    mabd_redmax_pass_laws(r, d->now.q);
    if (line->place[point] != 0) forces_forward(r, d);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = g->v, c.a = g->a;
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    mabd_redmax_add_row_changes(&r->s, &c, c.rows + row);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        d->stage_v[k] += w * g->z[k];
    }
    for (int32_t k = row; k < row + r->part->row_count; k++) d->rows[k] += w * c.rows[k];
    mabd_redmax_pass_set_target(r, i, 0);
}

// The end of the iteration in direction i, from the sums over all points.
static void solve_forward(mabd_redmax_pass* r, int32_t i) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_direction* d = &g->directions[i];
    const mabd_real gamma = r->s.gamma;
    const int32_t first = r->part->freedom_first, end = mabd_redmax_pass_end_freedom(r);
    mabd_real *y = g->mu + r->part->border_first, *rows = d->rows + r->part->row_first;
    for (int32_t k = first; k < end; k++) {
        const mabd_redmax_freedom* f = &g->sim->freedoms[k];
        g->z[k] = -d->stage_v[k];
        g->hold[k] = f->prescribed ? 0 : g->hold[k] - g->q[k]; // dq = x* - q_0
    }
    mabd_redmax_join_rows(r);
    if (r->part->border_count == 0) {
        mabd_redmax_apply(&r->s, g->z, g->z);
    } else {
        for (int32_t k = 0; k < r->part->border_count; k++) {
            y[k] = k < r->part->row_count ? -rows[k] : 0;
        }
        mabd_redmax_stage_solve(&r->s, g->z, y);
        for (int32_t k = 0; k < r->part->row_count; k++) d->force[r->part->row_first + k] = y[k];
    }
    for (int32_t k = first; k < end; k++) {
        g->q[k] += g->z[k], g->v[k] += g->z[k] / gamma;
    }
}

mabd_status mabd_redmax_linear_forward(mabd_redmax_pass* r, bool halves) {
    mabd_redmax_gradient* g = r->g;
    const bool closes = r->part->row_count > 0;
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    const line_points* line = find_line(r);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_pass_clear(r, g->directions[i].stage_v);
        memset(g->directions[i].rows + row, 0, rows * sizeof *g->force);
    }
    for (int p = 0; p < line->count; p++) {
        if (line->place[p] != 0) enter_point(r, line->place[p] * SPACING);
        if (line->place[p] == 0) MABD_TRY(enter_iteration(r));
        for (int32_t i = 0; i < g->direction_count; i++) {
            const mabd_redmax_direction* d = &g->directions[i];
            point_forward(r, line, p, i, halves ? d->last : d->now);
            if (line->place[p] != 0) continue;
            solve_forward(r, i);
            mabd_redmax_pass_copy(r, d->stage_v, g->q), mabd_redmax_pass_copy(r, d->stage_a, g->v);
        }
    }
    enter_point(r, 1);
    if (closes) {
        return mabd_redmax_closing_forward(r, MABD_INTEGRATOR_LINEAR_IMPLICIT, g->directions);
    }
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_redmax_direction* d = &g->directions[i];
        mabd_redmax_pass_copy(r, g->q, d->stage_v), mabd_redmax_pass_copy(r, g->v, d->stage_a);
        mabd_redmax_pass_clear_node(r, d->fresh);
        mabd_redmax_pass_end(r, g->sim->q, g->sim->v, d->fresh, d->now);
    }
    return MABD_OK;
}
