// SPDX-License-Identifier: Apache-2.0
// Derivatives of the impulses at the end of a step (axes.c): with M the mass matrix, y the jump of
// the rates and p the impulses of the rows of loops and couplings,
//
//   held axes       x'(q, v + y) = rate        stops, drives without limit, rigid servos
//   all others      (M(q) y - G(q)'p)_k = 0
//   rows            c(q, v + y) = 0            G(q)(v + y) + what scripts move
//
// M y - G'p is the residual of a tree that stands still (tangent_still.c), and c are the rows as
// rates, so all have the derivatives of any residual. Charts are centred at the node, where q = 0
// and J = 1: a turn rho of a ball turns the centre. x' of a component of a rotation vector is that
// of theta' = Y(q) (v + y), whose derivatives by the pose are in laws.c.

#include "formulation/redmax/tangent_law.h"

#include "formulation/redmax/redmax_loops.h"
#include "rigid/linear_pass.h"

static const mabd_redmax_weights by_q = {1, 0, 0}, by_v = {0, 1, 0};

// ---- the residual ------------------------------------------------------------------------------

// Return to the residual of the jump, with the forces of the rows in it.
static void enter_residual(mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    mabd_redmax_pass_copy(r, sim->a, sim->step);
    if (rows > 0) memcpy(sim->loops.force + row, sim->loops.step + row, rows * sizeof *sim->a);
    mabd_redmax_still_residual(r);
}

// Take the impact again: sim->next becomes the node after it. The mass matrix is factored.
static mabd_status enter(mabd_redmax_pass* r, mabd_redmax_moving* moving) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    if (!mabd_redmax_take_impacts(&r->s, &sim->next)) {
        return mabd_redmax_pass_fail(r, MABD_ERR_SINGULAR);
    }
    *moving = mabd_redmax_still_enter(r);
    r->s.from_node = &sim->next, r->s.in_charts = false;
    enter_residual(r);
    mabd_status status = mabd_redmax_factor(&r->s, mass, &link);
    if (status == MABD_OK && r->part->row_count > 0) status = mabd_redmax_mass_border(&r->s);
    if (status == MABD_OK) return MABD_OK;
    mabd_redmax_still_leave(r, moving);
    return mabd_redmax_pass_fail(r, MABD_ERR_SINGULAR);
}

// ---- held axes ---------------------------------------------------------------------------------

// y += the change of the rate that a held axis gets by the impact; t: changes of the node before.
static void pass_rate(const mabd_redmax_pass* r, const mabd_redmax_law* law, mabd_redmax_tangent t,
                      mabd_real* y) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const int32_t k = law->freedom;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    mabd_vec3 theta;
    mabd_mat3 Y;
    if (mabd_redmax_blocked_rate(&r->s, law)) {
        mabd_real last;
        const mabd_real share = mabd_redmax_target_share(&r->s, law, &last);
        mabd_pass_scaled(r->back, share, 1, y, g->target + k);
        mabd_pass_scaled(r->back, last, 1, y, g->last_target + k);
    }
    if (link->kind != MABD_PRIMITIVE_BALL) {
        mabd_pass_scaled(r->back, -1, 1, y, t.v + k);
        return;
    }
    mabd_redmax_ball_turn(&r->s, sim->freedoms[k].link, &theta, &Y);
    for (int j = 0; j < 3; j++) {
        const mabd_vec3 own = mabd_m3_column(&Y, j);
        mabd_pass_scaled(r->back, -mabd_v3_get(own, k - link->first), 1, y, t.v + link->first + j);
    }
}

static void pass_rates(const mabd_redmax_pass* r, mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = r->g->sim;
    for (int32_t i = r->part->law_first; i < r->part->law_first + r->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        if (!sim->freedoms[law->freedom].held) continue;
        pass_rate(r, law, t, r->g->hold + law->freedom);
    }
    mabd_redmax_pass_held_rates(r, sim->next.v, NULL, t.q);
}

// ---- backwards ---------------------------------------------------------------------------------

// Subtract the bars of a sweep from those of the node before the impact; rates: also its rates.
static void collect(mabd_redmax_pass* r, const mabd_real* z, bool rates, mabd_redmax_tangent t) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k; // q of a ball is 0
            if (!mabd_redmax_pass_is_centered(r, link)) {
                t.q[at] -= mabd_redmax_bar(g->sim, i, k, by_q, z);
            }
            if (rates) t.v[at] -= mabd_redmax_bar(g->sim, i, k, by_v, z);
        }
    }
    mabd_redmax_pass_centers_back(r, -1, z, t.q);
    mabd_redmax_parameter_products(r->g, &r->s, MABD_EQUATION_IMPACT, r->step->step, -1, z);
}

// Back over the rows as rates after the impact.
static void rows_back(mabd_redmax_pass* r, const mabd_real* mu, mabd_redmax_tangent t) {
    mabd_redmax_pull_rate_rows(&r->s, r->g->sim->next.v, mu);
    collect(r, NULL, true, t);
    mabd_redmax_add_coupling_bars(&r->s, -1, t.v);
    r->s.row_bars = NULL, r->s.rates_at_once = false;
}

mabd_status mabd_redmax_impact_back(mabd_redmax_pass* r, mabd_redmax_tangent end) {
    mabd_redmax_gradient* g = r->g;
    mabd_real* mu = g->mu + r->part->border_first;
    mabd_redmax_moving moving;
    MABD_TRY(enter(r, &moving));
    mabd_redmax_pass_copy(r, g->z, end.v);
    if (r->part->row_count == 0) {
        mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    } else {
        mabd_redmax_mass_solve_transposed(&r->s, g->z, NULL, mu);
    }
    mabd_redmax_split_rows(r);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    collect(r, g->z, false, end);
    pass_rates(r, end);
    if (r->part->row_count > 0) rows_back(r, mu, end);
    mabd_redmax_still_leave(r, &moving);
    return MABD_OK;
}

// ---- forward -----------------------------------------------------------------------------------

// Changes in direction i of an equation that has been entered, by rates v (null = none) too.
static mabd_redmax_changes push(mabd_redmax_pass* r, int32_t i, mabd_redmax_tangent t,
                                mabd_real* v) {
    mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    mabd_redmax_pass_clear_changes(r);
    if (index >= 0) {
        mabd_redmax_parameter_changes(g, &r->s, MABD_EQUATION_IMPACT, index, r->step->step);
    }
    mabd_redmax_pass_centers_forward(r, t.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = v;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_redmax_link* link = &g->sim->links[g->sim->freedoms[k].link];
        g->q[k] = mabd_redmax_pass_is_centered(r, link) ? 0 : t.q[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    return c;
}

// Changes of the rows as rates after the impact, in all directions.
static void rows_forward(mabd_redmax_pass* r) {
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    mabd_redmax_enter_rows(&r->s, r->g->sim->next.v);
    for (int32_t i = 0; i < r->g->direction_count; i++) {
        const mabd_redmax_direction* d = &r->g->directions[i];
        const mabd_redmax_changes c = push(r, i, d->fresh, d->fresh.v);
        memcpy(d->rows + row, c.rows + row, rows * sizeof *c.rows);
        mabd_redmax_add_row_changes(&r->s, &c, d->rows + row);
    }
    enter_residual(r);
}

static void direction_forward(mabd_redmax_pass* r, int32_t i) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_direction* d = &g->directions[i];
    mabd_real* rows = d->rows + r->part->row_first;
    mabd_redmax_pass_set_target(r, i, 1);
    push(r, i, d->fresh, NULL);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->z[k] = -g->z[k], g->hold[k] = 0;
    }
    pass_rates(r, d->fresh);
    mabd_redmax_join_rows(r);
    if (r->part->row_count == 0) {
        mabd_redmax_apply(&r->s, g->z, g->z);
    } else {
        for (int32_t k = 0; k < r->part->row_count; k++) rows[k] = -rows[k];
        mabd_redmax_mass_solve(&r->s, g->z, rows);
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        d->fresh.v[k] += g->z[k];
    }
    mabd_redmax_pass_set_target(r, i, 0);
}

mabd_status mabd_redmax_impact_forward(mabd_redmax_pass* r) {
    mabd_redmax_moving moving;
    MABD_TRY(enter(r, &moving));
    if (r->part->row_count > 0) rows_forward(r);
    for (int32_t i = 0; i < r->g->direction_count; i++) direction_forward(r, i);
    mabd_redmax_still_leave(r, &moving);
    return MABD_OK;
}
