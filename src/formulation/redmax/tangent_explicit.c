// SPDX-License-Identifier: Apache-2.0
// Derivatives of the steps of explicit methods, in both directions (explicit.c).
//
// Accelerations a of loops solve r(q, v, a, lambda) = 0 with rows c(q, v + h a) = 0 that are rates
// after the step. Back over them, M'z + G'mu = a-bar and -Gz = lambda-bar, with mu on c/h; a
// projection (tangent_closing.c) ends the step.

#include "formulation/redmax/redmax_pass.h"

#include "formulation/redmax/explicit.h"
#include "formulation/redmax/redmax_loops.h"
#include "rigid/linear_pass.h"

static const mabd_redmax_weights by_q = {1, 0, 0}, by_v = {0, 1, 0};

// ---- semi-implicit -----------------------------------------------------------------------------

// q+ = h v+ and v+ = v + h a of balls, in sim->trial and sim->step.
static void explicit_end(const mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        sim->step[k] = sim->v[k] + r->s.h * sim->a[k];
        sim->trial[k] = sim->q[k] + r->s.h * sim->step[k];
    }
}

// y += the change of the acceleration of a prescribed freedom: ((t - q)/h - v)/h.
static void pass_prescribed_slope(mabd_redmax_pass* r, int32_t k, mabd_real* y,
                                  mabd_redmax_tangent start, mabd_redmax_tangent begin) {
    const mabd_real rate = 1 / r->s.h, kept = r->s.time;
    r->s.time = r->s.from + r->s.h;
    mabd_redmax_pass_prescribed(r, k, false, rate * rate, y, begin, r->g->target + k);
    r->s.time = kept;
    mabd_pass_scaled(r->back, -rate * rate, 1, y, start.q + k);
    mabd_pass_scaled(r->back, -rate, 1, y, start.v + k);
}

// Rows of loops as rates w = v + h a, in sim->step.
static void enter_rows(mabd_redmax_pass* r) {
    mabd_redmax_enter_rows(&r->s, r->g->sim->step);
}

// Return to the residual of the accelerations, with the derivatives of the forces of rows.
static void enter_residual(mabd_redmax_pass* r) {
    r->s.by_rate = false;
    mabd_redmax_pass_copy(r, r->g->sim->v, r->s.start_v);
    mabd_redmax_residual(&r->s);
    mabd_redmax_derive_forces(&r->s);
}

mabd_status mabd_redmax_pass_accelerations_back(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    mabd_real *mu = g->mu + r->part->border_first, *force = g->force + r->part->row_first;
    mabd_redmax_pass_copy(r, g->z, g->a);
    if (r->part->row_count == 0) {
        mabd_redmax_apply_transposed(&r->s, g->z, g->z);
        return MABD_OK;
    }
    if (!mabd_redmax_mass_solve_transposed(&r->s, g->z, force, mu)) {
        return mabd_redmax_pass_fail_shared(r);
    }
    memset(force, 0, (size_t)r->part->row_count * sizeof *force);
    return MABD_OK;
}

// Subtract the bars of a sweep from those of the start, and move those of centres and parameters.
static void collect(mabd_redmax_pass* r, const mabd_real* z, mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            if (!mabd_redmax_pass_is_centered(r, link)) {
                start.q[at] -= mabd_redmax_bar(g->sim, i, k, by_q, z);
            }
            start.v[at] -= mabd_redmax_bar(g->sim, i, k, by_v, z);
        }
    }
    mabd_redmax_pass_centers_back(r, -1, z, start.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, -1, z);
}

// Back over the rows as rates.
static void rows_back(mabd_redmax_pass* r, mabd_redmax_tangent start) {
    mabd_redmax_pull_rate_rows(&r->s, r->g->sim->step, r->g->mu + r->part->border_first);
    collect(r, NULL, start);
    mabd_redmax_add_coupling_bars(&r->s, -1, start.v);
    r->s.row_bars = NULL, r->s.by_rate = r->s.rates_at_once = false;
}

// True if the accelerations of the step and its forces are on the tape.
static bool is_known(const mabd_redmax_pass* r) {
    return r->on_tape && r->after.end_q && !r->part->pins;
}

// The accelerations at the start of a step, and the mass matrix with the loads of pins there.
static mabd_status enter_slope(mabd_redmax_pass* r) {
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    r->s.loads = false;
    mabd_status status = is_known(r)
                             ? mabd_redmax_semi_implicit_return(&r->s, r->end_q, r->end_force)
                             : mabd_redmax_semi_implicit_slope(&r->s);
    if (status == MABD_OK && r->part->pins) {
        mabd_redmax_pass_loads(r);
        status = mabd_redmax_factor(&r->s, mass, &link);
        if (status == MABD_OK && r->part->row_count > 0) status = mabd_redmax_mass_border(&r->s);
    }
    return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
}

// Bars of the end of a step in g->q and g->v, through the projection that ends it.
static mabd_status end_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                            mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    if (r->part->row_count == 0) {
        mabd_redmax_pass_clear(r, g->q), mabd_redmax_pass_clear(r, g->v);
        mabd_redmax_pass_end(r, sim->trial, sim->step, end, start);
        return MABD_OK;
    }
    mabd_redmax_pass_copy(r, sim->q, sim->trial), mabd_redmax_pass_copy(r, sim->v, sim->step);
    MABD_TRY(mabd_redmax_closing_back(r, MABD_INTEGRATOR_SEMI_IMPLICIT, end, start));
    MABD_TRY(enter_slope(r));
    explicit_end(r);
    return MABD_OK;
}

mabd_status mabd_redmax_explicit_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                      mabd_redmax_tangent start, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    if (is_known(r)) {
        mabd_redmax_semi_implicit_load(&r->s, r->end_q);
    } else {
        MABD_TRY(enter_slope(r));
    }
    explicit_end(r);
    MABD_TRY(end_back(r, end, start));
    mabd_redmax_pass_chart_laws(r);
    mabd_redmax_derive_bars(&r->s);
    mabd_redmax_pass_clear(r, g->a);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] += r->s.h * g->q[k];
        g->a[k] += r->s.h * g->v[k];
    }
    mabd_redmax_pass_wrenches_back(r, start.q);
    MABD_TRY(mabd_redmax_pass_accelerations_back(r));
    for (int32_t k = 0; k < r->part->row_count; k++) {
        g->mu[r->part->border_first + k] /= r->s.h; // rows are rates
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
        if (!mabd_redmax_pass_is_centered(r, link)) start.q[k] += g->q[k];
        start.v[k] += g->v[k];
    }
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    collect(r, g->z, start);
    r->s.forces_at_once = false;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (sim->freedoms[k].prescribed) pass_prescribed_slope(r, k, g->z + k, start, begin);
    }
    if (r->part->row_count > 0) rows_back(r, start);
    return MABD_OK;
}

// Rows as rates in direction i, without the change of a.
static void rows_forward(mabd_redmax_pass* r, int32_t i, mabd_redmax_direction* d) {
    mabd_redmax_gradient* g = r->g;
    const size_t row = (size_t)r->part->row_first;
    mabd_redmax_pass_clear_changes(r);
    mabd_redmax_pass_parameter(r, i);
    mabd_redmax_pass_centers_forward(r, d->now.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = d->now.v;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_redmax_link* link = &g->sim->links[g->sim->freedoms[k].link];
        g->q[k] = mabd_redmax_pass_is_centered(r, link) ? 0 : d->now.q[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    memcpy(d->rows + row, c.rows + row, (size_t)r->part->row_count * sizeof *c.rows);
    mabd_redmax_add_row_changes(&r->s, &c, d->rows + row);
}

static void slope_forward(mabd_redmax_pass* r, int32_t i, mabd_redmax_direction* d,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_pass_clear_changes(r);
    mabd_redmax_pass_parameter(r, i);
    mabd_redmax_pass_centers_forward(r, d->now.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = g->v;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_redmax_link* link = &g->sim->links[g->sim->freedoms[k].link];
        const bool zero = mabd_redmax_pass_is_centered(r, link); // q is 0 at the start
        g->q[k] = zero ? 0 : d->now.q[k], g->v[k] = d->now.v[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->z[k] = 0;
        pass_prescribed_slope(r, k, g->z + k, d->now, begin);
    }
    if (r->part->row_count == 0) {
        mabd_redmax_apply(&r->s, g->z, g->a);
    } else {
        mabd_real* rows = d->rows + r->part->row_first;
        for (int32_t k = 0; k < r->part->row_count; k++) rows[k] /= -r->s.h;
        mabd_redmax_mass_solve(&r->s, g->z, rows);
        mabd_redmax_pass_copy(r, g->a, g->z);
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] += r->s.h * g->a[k];
        g->q[k] += r->s.h * g->v[k];
    }
}

mabd_status mabd_redmax_explicit_forward(mabd_redmax_pass* r, mabd_redmax_direction* from,
                                         bool halves) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    MABD_TRY(enter_slope(r));
    explicit_end(r);
    const bool closes = r->part->row_count > 0;
    mabd_redmax_derive_forces(&r->s);
    if (closes) {
        enter_rows(r);
        for (int32_t i = 0; i < g->direction_count; i++) rows_forward(r, i, &from[i]);
        enter_residual(r);
    }
    mabd_redmax_pass_chart_laws(r);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        mabd_redmax_pass_set_target(r, i, 1);
        slope_forward(r, i, d, halves ? d->last : d->now);
        mabd_redmax_pass_clear_node(r, d->fresh);
        if (closes) {
            mabd_redmax_pass_copy(r, d->stage_v, g->q), mabd_redmax_pass_copy(r, d->stage_a, g->v);
        } else {
            mabd_redmax_pass_end(r, sim->trial, sim->step, d->fresh, d->now);
        }
        mabd_redmax_pass_set_target(r, i, 0);
    }
    if (!closes) return MABD_OK;
    mabd_redmax_pass_copy(r, sim->q, sim->trial), mabd_redmax_pass_copy(r, sim->v, sim->step);
    return mabd_redmax_closing_forward(r, MABD_INTEGRATOR_SEMI_IMPLICIT, from);
}
