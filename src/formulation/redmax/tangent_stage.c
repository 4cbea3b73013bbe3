// SPDX-License-Identifier: Apache-2.0
// Derivatives of the stages of implicit methods, in both directions (redmax_tangent.h).
//
// Balls, with the centre C = R_n of the chart of the step and rho_n a turn of it:
//
//   end        R+ = C exp q, omega+ = J v:
//              rho+ = J dq + exp(q)'rho_n,   d omega+ = J dv + (dJ.v) dq
//   residual   the link turns by exp(q)'rho_n against its parent at fixed q; its laws: laws.c
//   history    q_m = log(R_n'R_(n-1)), v_m = J(q_m)^-1 omega_(n-1):
//              J dq_m = rho_(n-1) - exp(q_m)'rho_n,      J dv_m = d omega_(n-1) - (dJ.v_m) dq_m
//
// In charts of their own balls are freedoms like others: tangent_charts.c.
// Prescribed freedoms have the row dq = dt of their target t, whose bar is z. A target that a
// program has set is reached along a line from where the axis was at the start of the step.

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/tangent_law.h"

#include "base/error.h"
#include "formulation/redmax/redmax_loops.h"
#include "rigid/linear_pass.h"

static const mabd_redmax_weights by_q = {1, 0, 0}, by_v = {0, 1, 0}, by_a = {0, 0, 1};

// Between the shares of the part in two vectors of freedoms.
static void pass_all(const mabd_redmax_pass* r, mabd_real s, mabd_real* y, mabd_real* x) {
    const size_t at = mabd_redmax_pass_first(r);
    mabd_pass_scaled(r->back, s, r->part->freedom_count, y + at, x + at);
}

// ---- balls -------------------------------------------------------------------------------------

// Between the end (q, v) of a step in its chart, with changes dq, dv, and the state after it.
void mabd_redmax_pass_end(const mabd_redmax_pass* r, const mabd_real* q, const mabd_real* v,
                          mabd_redmax_tangent end, mabd_redmax_tangent start) {
    const mabd_redmax_gradient* g = r->g;
    if (mabd_redmax_pass_is_plain(r)) {
        pass_all(r, 1, end.q, g->q), pass_all(r, 1, end.v, g->v);
        return;
    }
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const size_t at = (size_t)link->first;
        if (link->kind != MABD_PRIMITIVE_BALL) {
            mabd_pass_scaled(r->back, 1, link->count, end.q + at, g->q + at);
            mabd_pass_scaled(r->back, 1, link->count, end.v + at, g->v + at);
            continue;
        }
        const mabd_redmax_ball_maps b = mabd_redmax_ball_maps_at(r, link, q + at, v + at);
        mabd_pass_m3(r->back, 1, b.J, end.q + at, g->q + at);
        if (mabd_redmax_pass_is_centered(r, link)) {
            mabd_pass_m3(r->back, 1, mabd_m3_transpose(b.Q), end.q + at, start.q + at);
        }
        mabd_pass_m3(r->back, 1, b.J, end.v + at, g->v + at);
        mabd_pass_m3(r->back, 1, b.K, end.v + at, g->q + at);
    }
}

// Between the history q_m, v_m of a ball, dq and dv, and the states last and start.
static void pass_ball_history(const mabd_redmax_pass* r, const mabd_redmax_link* link,
                              mabd_real* dq, mabd_real* dv, mabd_redmax_tangent start,
                              mabd_redmax_tangent last) {
    const mabd_redmax_sim* sim = r->g->sim;
    const size_t at = (size_t)link->first;
    const mabd_redmax_ball_maps b = mabd_redmax_ball_maps_at(r, link, sim->q_m + at, sim->v_m + at);
    const mabd_mat3 inverse = b.inverse;
    const mabd_mat3 turned = mabd_m3_product(inverse, mabd_m3_transpose(b.Q));
    const mabd_mat3 bent = mabd_m3_product(inverse, b.K);
    if (r->back) {
        mabd_pass_m3(true, 1, inverse, dv, last.v + at);
        mabd_pass_m3(true, -1, bent, dv, dq);
    }
    mabd_pass_m3(r->back, 1, inverse, dq, last.q + at);
    mabd_pass_m3(r->back, -1, turned, dq, start.q + at);
    if (r->back) return;
    mabd_pass_m3(false, 1, inverse, dv, last.v + at);
    mabd_pass_m3(false, -1, bent, dv, dq);
}

// ---- bases of stages ---------------------------------------------------------------------------

// Between the base of a stage (g->base_q, base_v), and the states it comes from.
void mabd_redmax_pass_base(const mabd_redmax_pass* r, mabd_real s, mabd_redmax_tangent start) {
    const mabd_redmax_gradient* g = r->g;
    if (mabd_redmax_pass_is_plain(r)) {
        pass_all(r, s, g->base_q, start.q), pass_all(r, s, g->base_v, start.v);
        return;
    }
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const bool zero = mabd_redmax_pass_is_centered(r, link); // q is 0 at the start
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (!zero) mabd_pass_scaled(r->back, s, 1, g->base_q + k, start.q + k);
            mabd_pass_scaled(r->back, s, 1, g->base_v + k, start.v + k);
        }
    }
    if (r->part->law_count > 0) mabd_redmax_pass_theta(r, s, r->s.from_node, start);
}

static void pass_history(const mabd_redmax_pass* r, mabd_redmax_tangent start,
                         mabd_redmax_tangent last) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_real third = (mabd_real)1 / 3;
    if (mabd_redmax_pass_is_plain(r)) {
        pass_all(r, -third, g->base_q, last.q), pass_all(r, -third, g->base_v, last.v);
        return;
    }
    if (r->part->law_count > 0) mabd_redmax_pass_theta(r, -third, &g->sim->last, last);
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const size_t at = (size_t)link->first;
        if (!mabd_redmax_pass_is_centered(r, link)) {
            mabd_pass_scaled(r->back, -third, link->count, g->base_q + at, last.q + at);
            mabd_pass_scaled(r->back, -third, link->count, g->base_v + at, last.v + at);
            continue;
        }
        mabd_real dq[3] = {0}, dv[3] = {0};
        if (!r->back) pass_ball_history(r, link, dq, dv, start, last);
        mabd_pass_scaled(r->back, -third, 3, g->base_q + at, dq);
        mabd_pass_scaled(r->back, -third, 3, g->base_v + at, dv);
        if (r->back) pass_ball_history(r, link, dq, dv, start, last);
    }
}

// The first stage of sdirk2 in the base of the second one; theta: rates of rotation vectors.
static void pass_first_stage(const mabd_redmax_pass* r, mabd_real* v, mabd_real* a,
                             mabd_real* theta) {
    const mabd_real rest = (1 - MABD_REDMAX_ALPHA) * r->s.h;
    pass_all(r, rest, r->g->base_q, v), pass_all(r, rest, r->g->base_v, a);
    if (r->back) mabd_redmax_pass_clear(r, theta);
    pass_all(r, rest, r->g->base_theta, theta);
}

// ---- prescribed freedoms -----------------------------------------------------------------------

// y += s times the change of the value, or of the rate, of a prescribed freedom at the stage's
// time; x: change of its target. `begin`: the state before the step.
void mabd_redmax_pass_prescribed(const mabd_redmax_pass* r, int32_t k, bool rate, mabd_real s,
                                 mabd_real* y, mabd_redmax_tangent begin, mabd_real* x) {
    const mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_real h = sim->def.h, part = (r->s.time - sim->time) / h;
    if (f->script || !sim->inputs.target_set[f->coordinate]) return;
    mabd_pass_scaled(r->back, s * (rate ? 1 / h : part), 1, y, x);
    mabd_pass_scaled(r->back, s * (rate ? -1 / h : 1 - part), 1, y, begin.q + k);
}

static bool is_settled(const mabd_redmax_pass* r, mabd_integrator method, int32_t k) {
    return method == MABD_INTEGRATOR_SDIRK2 && r->g->sim->freedoms[k].prescribed &&
           mabd_redmax_has_rate(r->g->sim, k);
}

// Freedoms that sdirk2 settles at its end: the stage has no part in them.
static void pass_settled(const mabd_redmax_pass* r, mabd_integrator method, mabd_redmax_tangent end,
                         mabd_redmax_tangent begin, mabd_real* target) {
    if (mabd_redmax_pass_is_plain(r)) return;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (!is_settled(r, method, k)) continue;
        if (!r->back) end.q[k] = end.v[k] = 0;
        mabd_redmax_pass_prescribed(r, k, false, 1, end.q + k, begin, target + k);
        mabd_redmax_pass_prescribed(r, k, true, 1, end.v + k, begin, target + k);
        if (r->back) end.q[k] = end.v[k] = 0;
    }
}

// y += the change of a prescribed row in a stage.
static void pass_row(const mabd_redmax_pass* r, int32_t k, mabd_real* y, mabd_redmax_tangent begin,
                     mabd_real* target) {
    if (!r->s.by_rate || !mabd_redmax_has_rate(r->g->sim, k)) {
        mabd_redmax_pass_prescribed(r, k, false, 1, y, begin, target + k);
        return;
    }
    mabd_pass_scaled(r->back, 1, 1, y, r->g->base_q + k);
    mabd_redmax_pass_prescribed(r, k, true, r->s.gamma, y, begin, target + k);
}

// ---- a residual --------------------------------------------------------------------------------

mabd_status mabd_redmax_pass_fail_shared(const mabd_redmax_pass* r) {
    return mabd_fail(r->error, MABD_ERR_UNAVAILABLE,
                     "forces that redundant rows of a loop share have no derivatives (t = %g s)",
                     (double)r->step->time);
}

mabd_status mabd_redmax_pass_fail(const mabd_redmax_pass* r, mabd_status status) {
    return mabd_fail(r->error, status, "the step has no derivatives (t = %g s)",
                     (double)r->step->time);
}

// Turns of the centres of charts in a residual, backwards; z null: of the wrenches.
void mabd_redmax_pass_centers_back(const mabd_redmax_pass* r, mabd_real sign, const mabd_real* z,
                                   mabd_real* center) {
    const mabd_redmax_sim* sim = r->g->sim;
    if (mabd_redmax_pass_is_plain(r)) return;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (!mabd_redmax_pass_is_centered(r, link)) continue;
        const mabd_mat3 Q = mabd_turn_rotation(&sim->balls[link->ball].chart);
        mabd_vec3 bar = mabd_m3_mul(Q, mabd_redmax_parent_side_bar(sim, i).w);
        // a lean ball has dampers and armature alone: its centre changes nothing in them
        if (link->laws && z && !r->part->structure.swept) {
            const mabd_vec3 own = mabd_v3_load(z + link->first);
            bar = mabd_v3_sub(bar, mabd_m3_tmul(mabd_redmax_ball_center(&r->s, i), own));
        }
        mabd_real* to = center + link->first;
        mabd_v3_store(mabd_v3_axpy(sign, bar, mabd_v3_load(to)), to);
    }
}

void mabd_redmax_pass_centers_forward(const mabd_redmax_pass* r, const mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (!mabd_redmax_pass_is_centered(r, link)) continue;
        const mabd_mat3 Q = mabd_turn_rotation(&sim->balls[link->ball].chart);
        const mabd_vec3 rho = mabd_v3_load(center + link->first);
        mabd_spatial* e = &g->changes.parent_side[i];
        e->w = mabd_v3_add(e->w, mabd_m3_tmul(Q, rho));
        if (!link->laws) continue;
        const mabd_vec3 tau = mabd_m3_mul(mabd_redmax_ball_center(&r->s, i), rho);
        mabd_real* to = g->changes.r + link->first;
        mabd_v3_store(mabd_v3_sub(mabd_v3_load(to), tau), to);
    }
}

void mabd_redmax_pass_collect(mabd_redmax_pass* r, mabd_redmax_equation equation,
                              const mabd_real* z, mabd_real* q, mabd_real* v, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        for (int k = 0; k < link->count; k++) {
            q[link->first + k] -= mabd_redmax_bar(g->sim, i, k, by_q, z);
            if (v) v[link->first + k] -= mabd_redmax_bar(g->sim, i, k, by_v, z);
        }
    }
    mabd_redmax_pass_centers_back(r, -1, z, center);
    mabd_redmax_parameter_products(g, &r->s, equation, r->step->step, -1, z);
}

void mabd_redmax_pass_clear_changes(const mabd_redmax_pass* r) {
    mabd_redmax_changes* c = &r->g->changes;
    const size_t first = (size_t)r->part->link_first;
    const size_t bytes = (size_t)r->part->link_count * sizeof *c->load;
    memset(c->parent_side + first, 0, bytes);
    memset(c->body_side + first, 0, bytes);
    memset(c->load + first, 0, bytes);
    mabd_redmax_pass_clear(r, c->r);
    memset(c->rows + r->part->row_first, 0, (size_t)r->part->row_count * sizeof *c->rows);
    c->fall = mabd_v3(0, 0, 0);
    c->moved = -1;
}

// Bars of the wrenches of joints, in the bars g->q, v, a of the residual.
void mabd_redmax_pass_wrenches_back(mabd_redmax_pass* r, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    if (!g->has_wrench) return;
    mabd_redmax_pull_back(&r->s, NULL, g->wrench);
    mabd_redmax_add_force_bars(&r->s, g->force + r->part->row_first);
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            g->q[at] += mabd_redmax_bar(g->sim, i, k, by_q, NULL);
            g->v[at] += mabd_redmax_bar(g->sim, i, k, by_v, NULL);
            g->a[at] += mabd_redmax_bar(g->sim, i, k, by_a, NULL);
        }
    }
    mabd_redmax_pass_centers_back(r, 1, NULL, center);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, 1, NULL);
    memset(g->wrench + r->part->link_first, 0, (size_t)r->part->link_count * sizeof *g->wrench);
}

// ---- a stage -----------------------------------------------------------------------------------

// Rates and accelerations of a stage at q.
static void enter_rates(mabd_redmax_pass* r, mabd_integrator method, int number,
                        const mabd_real* q) {
    mabd_redmax_set_stage(&r->s, method, number);
    mabd_redmax_pass_copy(r, r->g->sim->q, q);
    mabd_redmax_follow(&r->s);
    mabd_redmax_rates(&r->s);
}

void mabd_redmax_pass_loads(mabd_redmax_pass* r) {
    r->s.loads = r->part->pins;
    if (!r->s.loads) return;
    mabd_redmax_update_bounds(&r->s);
    mabd_redmax_load_columns(&r->s, true);
}

// Charts of balls at the iterate, which lean sweeps leave out.
static void place_balls(const mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_turn_kind local = {.number = MABD_TURN_EXPONENTIAL};
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind != MABD_PRIMITIVE_BALL) continue;
        sim->balls[link->ball].chart =
            mabd_turn_chart_at(local, mabd_v3_load(sim->q + link->first));
    }
}

static mabd_status enter_stage(mabd_redmax_pass* r, mabd_integrator method, int number,
                               const mabd_real* q, const mabd_axis_branch* branch,
                               const mabd_real* force) {
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    int32_t link;
    if (rows > 0) memcpy(r->g->sim->loops.force + row, force + row, rows * sizeof *force);
    enter_rates(r, method, number, q);
    mabd_redmax_set_branches(&r->s, branch);
    if (mabd_redmax_pass_sweeps(r)) {
        mabd_redmax_residual_of_links(&r->s);
        place_balls(r);
    } else if (mabd_redmax_pass_is_plain(r)) {
        mabd_redmax_residual_of_links(&r->s);
    } else {
        mabd_redmax_residual(&r->s);
    }
    if (r->part->pins && r->part->law_count > 0) { // dry bounds are those of these wrenches
        mabd_redmax_update_bounds(&r->s);
        mabd_redmax_set_branches(&r->s, branch);
        mabd_redmax_residual(&r->s);
    }
    mabd_redmax_pass_loads(r);
    mabd_redmax_find_forces(&r->s);
    mabd_status status = mabd_redmax_factor(&r->s, mabd_redmax_stage_weights(r->s.gamma), &link);
    if (status == MABD_OK && r->part->border_count > 0) status = mabd_redmax_border_factor(&r->s);
    return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
}

// Solve the transposed system of a stage for g->z, which holds its right-hand side, and for the
// bars of rows.
static mabd_status solve_back(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    mabd_real *mu = g->mu + r->part->border_first, *force = g->force + r->part->row_first;
    if (r->part->border_count == 0) {
        mabd_redmax_apply_transposed(&r->s, g->z, g->z);
        return MABD_OK;
    }
    if (!mabd_redmax_stage_solve_transposed(&r->s, g->z, force, mu)) {
        return mabd_redmax_pass_fail_shared(r);
    }
    memset(force, 0, (size_t)r->part->row_count * sizeof *force);
    r->s.row_bars = mu;
    return MABD_OK;
}

// Back over a stage: bars g->q, v, a, which are used up -> g->base_q, base_v, centres, targets,
// parameters.
static mabd_status stage_back(mabd_redmax_pass* r, mabd_redmax_tangent start,
                              mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_real gamma = r->s.gamma;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] += g->a[k] / gamma; // vb'
        g->base_q[k] = -g->v[k] / gamma, g->base_v[k] = -g->a[k] / gamma;
        g->z[k] = g->q[k] + g->v[k] / gamma;
    }
    MABD_TRY(solve_back(r));
    if (!mabd_redmax_pass_is_plain(r)) mabd_redmax_split_rows(r);
    mabd_redmax_pull_rates(&r->s, g->z, g->v, g->a);
    if (r->s.by_rate) mabd_redmax_add_coupling_bars(&r->s, 1 / gamma, g->base_q);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->base_q[k] += (g->v[k] + g->a[k] / gamma) / gamma, g->base_v[k] += g->a[k] / gamma;
    }
    mabd_redmax_pass_centers_back(r, -1, g->z, start.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, -1, g->z);
    if (mabd_redmax_pass_is_plain(r)) return MABD_OK;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (sim->freedoms[k].prescribed) pass_row(r, k, g->hold + k, begin, g->target);
    }
    mabd_redmax_pass_laws(r, start.q);
    r->s.row_bars = NULL;
    return MABD_OK;
}

// Set the target that the parameter of direction i changes; back to zero with value 0.
void mabd_redmax_pass_set_target(const mabd_redmax_pass* r, int32_t i, mabd_real value) {
    const mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    if (index < 0) return;
    const int32_t k = g->parameter_freedom[index];
    if (mabd_redmax_sets_target(g, index, r->step->step)) g->target[k] = value;
    if (mabd_redmax_sets_target(g, index, r->step->step - 1)) g->last_target[k] = value;
}

// Changes of the residual by the parameter of direction i.
void mabd_redmax_pass_parameter(const mabd_redmax_pass* r, int32_t i) {
    mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    if (index < 0) return;
    mabd_redmax_parameter_changes(g, &r->s, MABD_EQUATION_STEP, index, r->step->step);
}

// Solve the system of a stage for g->q, with the right-hand side in g->z and the changes c.
static void solve_forward(mabd_redmax_pass* r, const mabd_redmax_changes* c) {
    mabd_redmax_gradient* g = r->g;
    mabd_real *y = g->mu + r->part->border_first, *rows = c->rows + r->part->row_first;
    if (r->part->border_count == 0) {
        mabd_redmax_apply(&r->s, g->z, g->q);
        return;
    }
    mabd_redmax_add_row_changes(&r->s, c, rows);
    for (int32_t k = 0; k < r->part->border_count; k++) {
        y[k] = k < r->part->row_count ? -rows[k] : 0;
    }
    mabd_redmax_stage_solve(&r->s, g->z, y);
    mabd_redmax_pass_copy(r, g->q, g->z);
}

// Forward over a stage in direction i: g->base_q, base_v -> g->q, v, a.
static void stage_forward(mabd_redmax_pass* r, int32_t i, mabd_redmax_tangent start,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real gamma = r->s.gamma;
    mabd_redmax_pass_clear_changes(r);
    mabd_redmax_pass_parameter(r, i);
    mabd_redmax_pass_centers_forward(r, start.q);
    mabd_redmax_pass_laws(r, start.q);
    mabd_redmax_changes c = g->changes;
    c.v = g->v, c.a = g->a;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] = -g->base_q[k] / gamma, g->a[k] = (g->v[k] - g->base_v[k]) / gamma;
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->hold[k] = 0;
        pass_row(r, k, g->hold + k, begin, g->target);
    }
    mabd_redmax_join_rows(r);
    solve_forward(r, &c);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] = (g->q[k] - g->base_q[k]) / gamma, g->a[k] = (g->v[k] - g->base_v[k]) / gamma;
    }
}

// Rates and accelerations of the first stage of sdirk2, at its poses.
static void enter_first_stage(mabd_redmax_pass* r, mabd_integrator method) {
    enter_rates(r, method, 0, r->stage_q);
    if (r->part->law_count > 0) mabd_redmax_place(&r->s); // histories of rotation vectors
}

static void clear_stage(const mabd_redmax_pass* r) {
    const mabd_redmax_gradient* g = r->g;
    mabd_redmax_pass_clear(r, g->q), mabd_redmax_pass_clear(r, g->v);
    mabd_redmax_pass_clear(r, g->a);
}

// ---- implicit methods --------------------------------------------------------------------------

// True if a projection onto loops ends a step.
static bool ends_closed(const mabd_redmax_pass* r) {
    return r->part->row_count > 0;
}

mabd_status mabd_redmax_implicit_back(mabd_redmax_pass* r, mabd_integrator method,
                                      mabd_redmax_tangent end, mabd_redmax_tangent start,
                                      mabd_redmax_tangent last, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const bool two = method == MABD_INTEGRATOR_SDIRK2, history = method == MABD_INTEGRATOR_BDF2;
    const mabd_redmax_tangent own = {g->q, g->v};
    if (two) enter_first_stage(r, method);
    if (ends_closed(r)) {
        enter_rates(r, method, two, r->end_q);
        if (two) mabd_redmax_settle_prescribed(&r->s);
        mabd_redmax_set_branches(&r->s, r->end_branch); // held axes stay where they are
        MABD_TRY(mabd_redmax_closing_back(r, method, end, start));
        if (two) enter_first_stage(r, method); // the base of the second stage
        MABD_TRY(enter_stage(r, method, two, r->end_q, r->end_branch, r->end_force));
    } else {
        MABD_TRY(enter_stage(r, method, two, r->end_q, r->end_branch, r->end_force));
        mabd_redmax_pass_clear_node(r, own);
        mabd_redmax_pass_end(r, g->sim->q, g->sim->v, end, start);
    }
    mabd_redmax_pass_clear(r, g->a), mabd_redmax_pass_clear(r, g->base_theta);
    pass_settled(r, method, own, begin, g->target);
    mabd_redmax_pass_wrenches_back(r, start.q);
    MABD_TRY(stage_back(r, start, begin));
    mabd_redmax_pass_base(r, history ? (mabd_real)4 / 3 : 1, start);
    if (history) pass_history(r, start, last);
    if (!two) return MABD_OK;
    clear_stage(r);
    pass_first_stage(r, g->v, g->a, g->stage_theta);
    MABD_TRY(enter_stage(r, method, 0, r->stage_q, r->stage_branch, r->stage_force));
    mabd_redmax_pass_clear(r, g->base_theta);
    mabd_redmax_pass_theta_rate(r, g->stage_theta, start.q);
    MABD_TRY(stage_back(r, start, begin));
    mabd_redmax_pass_base(r, 1, start);
    return MABD_OK;
}

// One stage in one direction; g->q, v, a get its changes.
static void direction_forward(mabd_redmax_pass* r, mabd_integrator method, int number, int32_t i,
                              mabd_redmax_direction* d, mabd_redmax_tangent begin) {
    const mabd_redmax_gradient* g = r->g;
    const bool history = method == MABD_INTEGRATOR_BDF2;
    mabd_redmax_pass_clear(r, g->base_q), mabd_redmax_pass_clear(r, g->base_v);
    mabd_redmax_pass_clear(r, g->base_theta);
    mabd_redmax_pass_base(r, history ? (mabd_real)4 / 3 : 1, d->now);
    if (history) pass_history(r, d->now, d->last);
    if (number == 1) pass_first_stage(r, d->stage_v, d->stage_a, d->stage_theta);
    stage_forward(r, i, d->now, begin);
}

// The end of the last stage in one direction.
static void end_forward(mabd_redmax_pass* r, mabd_integrator method, mabd_redmax_direction* d,
                        mabd_redmax_tangent begin) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent own = {g->q, g->v};
    pass_settled(r, method, own, begin, g->target);
    if (ends_closed(r)) {
        mabd_redmax_pass_copy(r, d->stage_v, g->q), mabd_redmax_pass_copy(r, d->stage_a, g->v);
        return;
    }
    mabd_redmax_pass_clear_node(r, d->fresh);
    mabd_redmax_pass_end(r, g->sim->q, g->sim->v, d->fresh, d->now);
}

mabd_status mabd_redmax_implicit_forward(mabd_redmax_pass* r, mabd_integrator method,
                                         mabd_redmax_direction* from, bool halves) {
    mabd_redmax_gradient* g = r->g;
    const bool two = method == MABD_INTEGRATOR_SDIRK2;
    for (int number = 0; number <= two; number++) {
        const bool last = number == two;
        if (number == 1) enter_first_stage(r, method);
        MABD_TRY(enter_stage(r, method, number, last ? r->end_q : r->stage_q,
                             last ? r->end_branch : r->stage_branch,
                             last ? r->end_force : r->stage_force));
        for (int32_t i = 0; i < g->direction_count; i++) {
            mabd_redmax_direction* d = &from[i];
            const mabd_redmax_tangent begin = halves ? d->last : d->now;
            mabd_redmax_pass_set_target(r, i, 1);
            direction_forward(r, method, number, i, d, begin);
            if (last) {
                end_forward(r, method, d, begin);
            } else {
                mabd_redmax_pass_copy(r, d->stage_v, g->v);
                mabd_redmax_pass_copy(r, d->stage_a, g->a);
                mabd_redmax_pass_clear(r, d->stage_theta);
                mabd_redmax_pass_theta_rate(r, d->stage_theta, d->now.q);
            }
            mabd_redmax_pass_set_target(r, i, 0);
        }
    }
    if (!ends_closed(r)) return MABD_OK;
    if (two) mabd_redmax_settle_prescribed(&r->s);
    return mabd_redmax_closing_forward(r, method, from);
}
