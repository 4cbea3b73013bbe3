// SPDX-License-Identifier: Apache-2.0
// Derivatives of the projection onto loops that ends a step (closing.c), in both directions.
//
// With the still residual m(q, x, y) = M(q) x - G'y, x the change and y its forces, each correction
// of a pose, from q to q + x, and the last one of the rates, from v to v + x, solve
//
//   pose    m(q, x, y) = 0,   C(q) + c(q, x) = 0
//   rates   m(q, x, y) = 0,   c(q, v + x) = 0          c(q, w) = G(q) w + what scripts move
//
// where scripts rest in the first, and held axes take x = 0, or Y(q) x = 0 of a rotation vector, in
// place of their m = 0. m is the residual of a tree that stands still (tangent_still.c), and c the
// rows as rates at w: so both have the derivatives of any residual. Methods that hold poses correct
// poses alone, and hardly ever. Going back with bars on q + x and v + x, each correction takes one
// factor, one transposed solve M'z + G'mu = x-bar, -Gz = 0, and two sweeps:
//
//   q-bar -= (dm/dq)'z + (dC/dq + dc/dq)'mu        v-bar -= G'mu
//
// One such correction of a pose and of rates that are closed, where x = y = 0, takes their changes
// to the nearest ones that loops and couplings allow: those of a linearisation (joint_step.c).

#include "formulation/redmax/tangent_law.h"

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_loops.h"

// ---- the way -----------------------------------------------------------------------------------

// Leave nothing but inertia.
static mabd_redmax_moving enter(mabd_redmax_pass* r) {
    const mabd_redmax_moving moving = mabd_redmax_still_enter(r);
    r->s.time = r->s.from + r->s.h;
    return moving;
}

static mabd_real* way_at(const mabd_redmax_pass* r, int32_t i) {
    return r->g->way + (size_t)i * (size_t)r->part->freedom_count;
}

// Project again, from sim->q and sim->v: g->way, closed_q, closed_v, open_v.
static mabd_status find_way(mabd_redmax_pass* r, mabd_integrator method, int32_t* count) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_solve s = r->s;
    s.time = s.from + s.h;
    s.way = g->way, s.way_count = count, s.loads = false;
    mabd_redmax_pass_copy(r, g->open_v, g->sim->v);
    const mabd_status status =
        mabd_redmax_holds_poses(method) ? mabd_redmax_close_poses(&s) : mabd_redmax_close_loops(&s);
    mabd_redmax_pass_copy(r, g->closed_q, g->sim->q);
    mabd_redmax_pass_copy(r, g->closed_v, g->sim->v);
    return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
}

/// A last correction of a pose below this is the projection onto the rows at the closed pose, whose
/// matrices are there for the rates [m], [rad].
#define LAST_CORRECTION ((mabd_real)1e-10)

// Take the ends of the way from the tape; false if it must be found. *last: after `count`
// corrections there is one as small as that.
static bool take_way(mabd_redmax_pass* r, int32_t* count, bool* last) {
    mabd_redmax_gradient* g = r->g;
    const int32_t part = (int32_t)(r->part - g->sim->parts);
    if (!r->on_tape) return false;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        if (g->sim->links[i].kind == MABD_PRIMITIVE_BALL) return false; // its node has no q
    }
    *count = r->after.corrections[part];
    *last = *count > 0 && r->after.last_correction[part] <= LAST_CORRECTION;
    if (*last) --*count;
    if (*count > 1) return false;
    memcpy(way_at(r, 0), g->sim->q + mabd_redmax_pass_first(r), mabd_redmax_pass_bytes(r));
    mabd_redmax_pass_copy(r, g->open_v, g->sim->v);
    mabd_redmax_pass_copy(r, g->closed_q, r->after.node.q);
    mabd_redmax_pass_copy(r, g->closed_v, r->after.node.v);
    return true;
}

// ---- one correction ----------------------------------------------------------------------------

/// One correction: number -1 is that of the rates.
static void place(mabd_redmax_pass* r, int32_t number) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real* q = number < 0 ? g->closed_q : way_at(r, number) - r->part->freedom_first;
    mabd_redmax_pass_copy(r, g->sim->q, q);
}

// Take the change x of the last correction, and its forces; its mass matrix is factored.
static void take_change(mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    const size_t row = (size_t)r->part->row_first;
    mabd_redmax_pass_copy(r, sim->a, sim->step);
    memcpy(sim->loops.force + row, sim->loops.step + row,
           (size_t)r->part->row_count * sizeof *sim->loops.force);
}

// Find the change x of a correction again; it goes to sim->a.
static mabd_status find_change(mabd_redmax_pass* r, int32_t number) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    place(r, number);
    mabd_redmax_pass_copy(r, sim->v, g->open_v);
    mabd_redmax_pass_clear(r, sim->a);
    r->s.by_rate = number < 0, r->s.rests = false;
    const mabd_status status = mabd_redmax_find_correction(&r->s);
    if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
    take_change(r);
    return MABD_OK;
}

// The residual m of a correction and its derivatives, and C where a pose is corrected; the mass
// matrix is factored.
static void enter_residual(mabd_redmax_pass* r, int32_t number) {
    place(r, number);
    mabd_redmax_still_residual(r);
}

// The rows c of a correction at their rates.
static void enter_rows(mabd_redmax_pass* r, int32_t number) {
    mabd_redmax_gradient* g = r->g;
    r->s.rests = number >= 0;
    mabd_redmax_enter_rows(&r->s, number < 0 ? g->closed_v : g->sim->a);
    r->s.rests = false;
}

// Back over them with the bars mu: to g->q, and with `rates` to g->v.
static void rows_back(mabd_redmax_pass* r, int32_t number, const mabd_real* mu, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    mabd_real* v = number < 0 ? g->v : NULL;
    r->s.rests = number >= 0;
    mabd_redmax_pull_rate_rows(&r->s, number < 0 ? g->closed_v : g->sim->a, mu);
    mabd_redmax_pass_collect(r, MABD_EQUATION_CLOSING, NULL, g->q, v, center);
    if (v) mabd_redmax_add_coupling_bars(&r->s, -1, v);
    r->s.row_bars = NULL, r->s.rests = r->s.rates_at_once = false;
}

// ---- backwards ---------------------------------------------------------------------------------

// Back over one correction: bars of its end in g->q, or in g->v, become those of its start.
static mabd_status correction_back(mabd_redmax_pass* r, int32_t number, bool found,
                                   mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    const bool rates = number < 0;
    mabd_real* mu = g->mu + r->part->border_first;
    if (!found) MABD_TRY(find_change(r, number));
    if (found) take_change(r);
    enter_residual(r, number);
    mabd_redmax_pass_copy(r, g->z, rates ? g->v : g->q);
    mabd_redmax_mass_solve_transposed(&r->s, g->z, NULL, mu);
    r->s.row_bars = rates ? NULL : mu;
    mabd_redmax_split_rows(r);
    mabd_redmax_pass_held_rates(r, g->sim->a, g->q, center);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    mabd_redmax_pass_collect(r, MABD_EQUATION_CLOSING, g->z, g->q, NULL, center);
    r->s.forces_at_once = false;
    if (!rates) mabd_redmax_add_coupling_bars(&r->s, -1, g->q);
    rows_back(r, number, mu, center);
    return MABD_OK;
}

// Back over a last correction of a pose, by the matrices of the rates at the closed pose.
static void last_back(mabd_redmax_pass* r, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    mabd_real* mu = g->mu + r->part->border_first;
    mabd_redmax_pass_copy(r, g->z, g->q);
    mabd_redmax_mass_solve_transposed(&r->s, g->z, NULL, mu);
    r->s.by_rate = false, r->s.row_bars = mu;
    mabd_redmax_rows(&r->s);
    mabd_redmax_pull_back(&r->s, NULL, NULL);
    mabd_redmax_pass_collect(r, MABD_EQUATION_CLOSING, NULL, g->q, NULL, center);
    mabd_redmax_add_coupling_bars(&r->s, -1, g->q);
    r->s.row_bars = NULL;
}

mabd_status mabd_redmax_closing_back(mabd_redmax_pass* r, mabd_integrator method,
                                     mabd_redmax_tangent end, mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    const bool rates = !mabd_redmax_holds_poses(method);
    int32_t count = 0;
    bool last = false;
    mabd_status status = MABD_OK;
    const bool taken = rates && take_way(r, &count, &last);
    if (!taken) status = find_way(r, method, &count);
    if (status != MABD_OK) return status;
    mabd_redmax_pass_clear(r, g->q), mabd_redmax_pass_clear(r, g->v);
    mabd_redmax_pass_end(r, g->closed_q, g->closed_v, end, start);
    if (!rates && count == 0) return MABD_OK;
    const mabd_redmax_moving moving = enter(r);
    if (rates) status = correction_back(r, -1, !taken, start.q);
    if (last && status == MABD_OK) last_back(r, start.q);
    for (int32_t k = count - 1; k >= 0 && status == MABD_OK; k--) {
        status = correction_back(r, k, false, start.q);
    }
    mabd_redmax_still_leave(r, &moving);
    return status;
}

// ---- forward -----------------------------------------------------------------------------------

// Changes in direction i, of q and of rates v (null = none), of an equation that has been entered.
static mabd_redmax_changes push(mabd_redmax_pass* r, int32_t i, mabd_redmax_direction* d,
                                mabd_real* v) {
    mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    mabd_redmax_pass_clear_changes(r);
    if (index >= 0) {
        mabd_redmax_parameter_changes(g, &r->s, MABD_EQUATION_CLOSING, index, r->step->step);
    }
    mabd_redmax_pass_centers_forward(r, d->now.q);
    mabd_redmax_changes c = g->changes;
    c.q = d->stage_v, c.v = v;
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    return c;
}

// The rows c of a correction in all directions.
static void rows_forward(mabd_redmax_pass* r, int32_t number, mabd_redmax_direction* from) {
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    enter_rows(r, number);
    for (int32_t i = 0; i < r->g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        const mabd_redmax_changes c = push(r, i, d, number < 0 ? d->stage_a : NULL);
        memcpy(d->rows + row, c.rows + row, rows * sizeof *c.rows);
        mabd_redmax_add_row_changes(&r->s, &c, d->rows + row);
    }
}

static mabd_status correction_forward(mabd_redmax_pass* r, int32_t number,
                                      mabd_redmax_direction* from) {
    mabd_redmax_gradient* g = r->g;
    const size_t row = (size_t)r->part->row_first;
    MABD_TRY(find_change(r, number));
    rows_forward(r, number, from);
    enter_residual(r, number);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        const mabd_redmax_changes c = push(r, i, d, NULL);
        mabd_real* to = number < 0 ? d->stage_a : d->stage_v;
        if (number >= 0) mabd_redmax_add_row_changes(&r->s, &c, c.rows + row);
        for (int32_t k = 0; k < r->part->row_count; k++) {
            const mabd_real own = number < 0 ? 0 : c.rows[row + (size_t)k];
            d->rows[row + (size_t)k] = -d->rows[row + (size_t)k] - own;
        }
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            g->z[k] = -g->z[k], g->hold[k] = 0;
        }
        mabd_redmax_pass_held_rates(r, g->sim->a, d->stage_v, d->now.q);
        mabd_redmax_join_rows(r);
        mabd_redmax_mass_solve(&r->s, g->z, d->rows + row);
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            to[k] += g->z[k];
        }
    }
    return MABD_OK;
}

// A last correction of a pose, by the matrices of the rates at the closed pose.
static mabd_status last_forward(mabd_redmax_pass* r, mabd_redmax_direction* from) {
    mabd_redmax_gradient* g = r->g;
    const size_t row = (size_t)r->part->row_first;
    MABD_TRY(find_change(r, -1));
    r->s.by_rate = false;
    mabd_redmax_rows(&r->s);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        const mabd_redmax_changes c = push(r, i, d, NULL);
        mabd_redmax_add_row_changes(&r->s, &c, c.rows + row);
        for (int32_t k = 0; k < r->part->row_count; k++) {
            d->rows[row + (size_t)k] = -c.rows[row + (size_t)k];
        }
        mabd_redmax_pass_clear(r, g->z);
        mabd_redmax_mass_solve(&r->s, g->z, d->rows + row);
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            d->stage_v[k] += g->z[k];
        }
    }
    return MABD_OK;
}

mabd_status mabd_redmax_closing_forward(mabd_redmax_pass* r, mabd_integrator method,
                                        mabd_redmax_direction* from) {
    mabd_redmax_gradient* g = r->g;
    const bool rates = !mabd_redmax_holds_poses(method);
    int32_t count = 0;
    bool last = false;
    if (!rates || !take_way(r, &count, &last)) MABD_TRY(find_way(r, method, &count));
    const mabd_redmax_moving moving = enter(r);
    mabd_status status = MABD_OK;
    for (int32_t k = 0; k < count && status == MABD_OK; k++) {
        status = correction_forward(r, k, from);
    }
    if (last && status == MABD_OK) status = last_forward(r, from);
    if (rates && status == MABD_OK) status = correction_forward(r, -1, from);
    mabd_redmax_still_leave(r, &moving);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        mabd_redmax_pass_copy(r, g->q, d->stage_v), mabd_redmax_pass_copy(r, g->v, d->stage_a);
        mabd_redmax_pass_clear_node(r, d->fresh);
        mabd_redmax_pass_end(r, g->closed_q, g->closed_v, d->fresh, d->now);
    }
    return status;
}

// ---- changes of a closed state -----------------------------------------------------------------

// Take the changes of a node for those of coordinates and rates in charts at its rotations.
static void into_charts(const mabd_redmax_pass* r, const mabd_redmax_direction* d) {
    const mabd_redmax_sim* sim = r->g->sim;
    mabd_redmax_pass_copy(r, d->stage_v, d->now.q), mabd_redmax_pass_copy(r, d->stage_a, d->now.v);
    mabd_redmax_pass_clear_node(r, d->now);
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind != MABD_PRIMITIVE_BALL) continue;
        const mabd_redmax_ball_maps b = mabd_redmax_ball_maps_at(
            r, link, r->g->closed_q + link->first, r->g->closed_v + link->first);
        mabd_real* rate = d->stage_a + link->first; // J = 1 at the centre
        const mabd_vec3 bent = mabd_m3_mul(b.K, mabd_v3_load(d->stage_v + link->first));
        mabd_v3_store(mabd_v3_sub(mabd_v3_load(rate), bent), rate);
    }
}

mabd_status mabd_redmax_close_changes(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_solve kept = r->s;
    r->s.in_charts = false, r->s.h = 0;
    mabd_redmax_enter_charts(&r->s);
    mabd_redmax_load_node(&r->s, r->s.from_node);
    mabd_redmax_pass_copy(r, g->closed_q, g->sim->q);
    mabd_redmax_pass_copy(r, g->closed_v, g->sim->v);
    mabd_redmax_pass_copy(r, g->open_v, g->sim->v);
    memcpy(way_at(r, 0), g->sim->q + mabd_redmax_pass_first(r), mabd_redmax_pass_bytes(r));
    for (int32_t i = 0; i < g->direction_count; i++) into_charts(r, &g->directions[i]);
    const mabd_redmax_moving moving = enter(r);
    mabd_status status = correction_forward(r, 0, g->directions);
    if (status == MABD_OK) status = correction_forward(r, -1, g->directions);
    mabd_redmax_still_leave(r, &moving);
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_redmax_direction* d = &g->directions[i];
        mabd_redmax_pass_copy(r, g->q, d->stage_v), mabd_redmax_pass_copy(r, g->v, d->stage_a);
        mabd_redmax_pass_clear_node(r, d->fresh);
        mabd_redmax_pass_end(r, g->closed_q, g->closed_v, d->fresh, d->now);
        mabd_redmax_pass_copy_node(r, d->now, d->fresh);
    }
    r->s = kept;
    return status;
}
