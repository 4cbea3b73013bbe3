// SPDX-License-Identifier: Apache-2.0
// Derivatives of steps by rk45, in both directions (explicit.c).
//
// They are those of the parts into which the error estimate divides a step, at sizes that stand
// still: the step is taken again from the state before it, to the bit, and the estimate, which
// jumps from one division to another, has no derivatives. Part by part, with slopes
// k_i = (v_i, a_i) at y_i = (q_i, v_i),
//
//   y_i = y_0 + h sum_j a_ij k_j        r(q_i, v_i, a_i, lambda) = 0,  c"(q_i, v_i, a_i) = 0
//
// and y_6 is the end. Back over stage i with bars y_i-bar and k_i-bar = (kq, kv)
//
//   M'z + G'mu = kv      q_i-bar -= (dr/dq)'z + (dc"/dq)'mu      v_i-bar += kq - ...
//   y_0-bar += y_i-bar   k_j-bar += h a_ij y_i-bar
//
// Accelerations of rows of loops are derivatives of their rates along the motion,
// c"(q, v, a) = d/ds c'(q + s v, v + s a), so their derivatives are those of c' at six points of
// that line by the difference of sixth order, whose error at turns of 0.01 rad is of round-off.
//
// Starts of parts are kept while they find room, else every second, fourth, ... of them.

#include "formulation/redmax/redmax_pass.h"

#include "formulation/redmax/explicit.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_loops.h"

#include <math.h>

#define END (MABD_REDMAX_RK45_STAGES - 1)

// ---- parts -------------------------------------------------------------------------------------

/// Parts of a step: every `spacing`th has its start in g->rk_nodes.
typedef struct rk_parts {
    int32_t count, spacing;
} rk_parts;

static void begin_step(mabd_redmax_pass* r) {
    r->s.from = r->step->time, r->s.h = r->g->sim->def.h;
    r->s.from_node = &r->g->sim->now;
    mabd_redmax_enter_charts(&r->s);
}

// Keep the start of part number k, from which the place `at` continues.
static void keep_start(mabd_redmax_pass* r, rk_parts* p, int32_t k, mabd_redmax_rk45_place at) {
    mabd_redmax_gradient* g = r->g;
    if (k % p->spacing != 0) return;
    if (k / p->spacing == MABD_REDMAX_RK45_STARTS) {
        for (int32_t i = 1; i < MABD_REDMAX_RK45_STARTS / 2; i++) {
            mabd_redmax_copy_node(&r->s, &g->rk_nodes[2 * i], &g->rk_nodes[i]);
            g->rk_places[i] = g->rk_places[2 * i];
        }
        p->spacing *= 2;
    }
    if (k % p->spacing != 0) return;
    mabd_redmax_copy_node(&r->s, r->s.from_node, &g->rk_nodes[k / p->spacing]);
    g->rk_places[k / p->spacing] = at;
}

static mabd_status find_parts(mabd_redmax_pass* r, rk_parts* p) {
    mabd_redmax_rk45_place at = {.next = r->g->sim->def.h};
    *p = (rk_parts){.spacing = 1};
    begin_step(r);
    for (;;) {
        keep_start(r, p, p->count, at);
        const mabd_status status = mabd_redmax_rk45_part(&r->s, &at);
        if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
        p->count++;
        if (at.ends) return MABD_OK;
        mabd_redmax_rk45_go_on(&r->s);
    }
}

// Take part number k again: sim->rk gets its slopes, and r->s is at its start.
static mabd_status reach_part(mabd_redmax_pass* r, rk_parts p, int32_t k,
                              mabd_redmax_rk45_place* at) {
    mabd_redmax_gradient* g = r->g;
    const int32_t kept = k / p.spacing;
    begin_step(r);
    mabd_redmax_copy_node(&r->s, &g->rk_nodes[kept], &g->sim->base);
    r->s.from_node = &g->sim->base, *at = g->rk_places[kept];
    mabd_redmax_enter_charts(&r->s);
    for (int32_t i = kept * p.spacing;; i++) {
        const mabd_status status = mabd_redmax_rk45_part(&r->s, at);
        if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
        if (i == k) return MABD_OK;
        mabd_redmax_rk45_go_on(&r->s);
    }
}

// ---- a stage -----------------------------------------------------------------------------------

// Accelerations of a stage, the mass matrix with the loads of pins, and what residuals derive from.
static mabd_status enter_stage(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i) {
    const mabd_redmax_weights mass = {0, 0, 1};
    mabd_redmax_sim* sim = r->g->sim;
    int32_t link;
    mabd_redmax_rk45_stage(&r->s, at->begin, at->size, i);
    mabd_status status = mabd_redmax_accelerate(&r->s);
    if (status == MABD_OK && r->part->pins) {
        mabd_redmax_pass_loads(r);
        status = mabd_redmax_factor(&r->s, mass, &link);
        if (status == MABD_OK && r->part->row_count > 0) status = mabd_redmax_mass_border(&r->s);
    }
    if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
    mabd_redmax_derive_forces(&r->s);
    for (int32_t l = r->part->link_first; l < mabd_redmax_pass_end_link(r); l++) {
        if (sim->links[l].ball >= 0 && sim->links[l].laws) mabd_redmax_ball_derivatives(&r->s, l);
    }
    return MABD_OK;
}

static mabd_real* bar_at(mabd_real* slopes, int32_t k, int i) {
    return slopes + 2 * (MABD_REDMAX_RK45_STAGES * (size_t)k + (size_t)i);
}

// True if coordinate k varies at the start of a part: those of a centred chart are 0 there.
static bool varies(const mabd_redmax_pass* r, int32_t k) {
    const mabd_redmax_sim* sim = r->g->sim;
    return !mabd_redmax_pass_is_centered(r, &sim->links[sim->freedoms[k].link]);
}

// ---- accelerations of rows ---------------------------------------------------------------------

/// The difference of sixth order: weights at -3, -2, -1, 1, 2, 3.
static const mabd_real places[6] = {-3, -2, -1, 1, 2, 3};
static const double weights[6] = {-1 / 60., 9 / 60., -45 / 60., 45 / 60., -9 / 60., 1 / 60.};
/// Turn of a link between two of the points [rad].
#define LINE_TURN ((mabd_real)0.01)

// The rows as rates at a point of the line, `ahead` in time from the stage.
static void enter_point(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i,
                        mabd_real ahead) {
    mabd_redmax_sim* sim = r->g->sim;
    mabd_redmax_rk45_stage(&r->s, at->begin, at->size, i);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_real* own = mabd_redmax_rk45_slope(sim, k, i);
        sim->q[k] += ahead * own[0], sim->step[k] = own[0] + ahead * own[1];
    }
    mabd_redmax_enter_rows(&r->s, sim->step);
}

// Distance of the points on the line, in time: no link turns far, nor does its velocity.
static mabd_real line_spacing(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i) {
    const mabd_redmax_sim* sim = r->g->sim;
    mabd_real fast = 1;
    enter_point(r, at, i, 0);
    for (int32_t l = r->part->link_first; l < mabd_redmax_pass_end_link(r); l++) {
        const mabd_real turn = mabd_v3_norm(sim->V[l].w);
        if (turn > fast) fast = turn;
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_real* own = mabd_redmax_rk45_slope(sim, k, i);
        const mabd_real rate = (mabd_real)fabs(own[0]) / sim->freedoms[k].length;
        const mabd_real bend = (mabd_real)sqrt(fabs(own[1]) / sim->freedoms[k].length);
        fast = rate > fast ? rate : fast, fast = bend > fast ? bend : fast;
    }
    return LINE_TURN / fast;
}

static void leave_rows(mabd_redmax_pass* r) {
    r->s.by_rate = false, r->s.row_bars = NULL;
}

// Back over the accelerations of the rows, into g->q, g->v and the centres of charts.
static void rows_back(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i,
                      mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real spacing = line_spacing(r, at, i);
    mabd_real* mu = g->line_mu + r->part->border_first;
    for (int p = 0; p < 6; p++) {
        const mabd_real ahead = places[p] * spacing;
        enter_point(r, at, i, ahead);
        for (int32_t k = 0; k < r->part->row_count; k++) {
            mu[k] = (mabd_real)weights[p] / spacing * g->mu[r->part->border_first + k];
        }
        r->s.row_bars = mu;
        mabd_redmax_pull_back(&r->s, NULL, NULL);
        mabd_redmax_pass_clear(r, g->line_q), mabd_redmax_pass_clear(r, g->line_v);
        mabd_redmax_pass_collect(r, MABD_EQUATION_STEP, NULL, g->line_q, g->line_v, center);
        mabd_redmax_add_coupling_bars(&r->s, -1, g->line_v);
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            g->q[k] += g->line_q[k], g->v[k] += g->line_v[k] + ahead * g->line_q[k];
        }
    }
    leave_rows(r);
}

// ---- backwards ---------------------------------------------------------------------------------

// Move the bars g->q and g->v of the iterate of stage i to the start of the part and to slopes.
static void spread(mabd_redmax_pass* r, mabd_real size, int i, mabd_redmax_tangent start) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (varies(r, k)) start.q[k] += g->q[k];
        start.v[k] += g->v[k];
        for (int j = 0; j < i; j++) {
            const mabd_real w = size * mabd_redmax_rk45_weight(i, j);
            mabd_real* bar = bar_at(g->rk_bars, k, j);
            bar[0] += w * g->q[k], bar[1] += w * g->v[k];
        }
    }
}

// Back over the slope of a stage.
static mabd_status stage_back(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i,
                              mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    MABD_TRY(enter_stage(r, at, i));
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_real* bar = bar_at(g->rk_bars, k, i);
        g->q[k] = 0, g->v[k] = bar[0], g->a[k] = bar[1];
    }
    if (i == END) mabd_redmax_pass_wrenches_back(r, start.q);
    MABD_TRY(mabd_redmax_pass_accelerations_back(r));
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    mabd_redmax_pass_collect(r, MABD_EQUATION_STEP, g->z, g->q, g->v, start.q);
    r->s.loads = false;
    if (r->part->row_count > 0) rows_back(r, at, i, start.q);
    spread(r, at->size, i, start);
    return MABD_OK;
}

// The end of a part: bars of the state after it -> g->q, g->v.
static mabd_status end_back(mabd_redmax_pass* r, bool closes, mabd_redmax_tangent end,
                            mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    if (closes) return mabd_redmax_closing_back(r, MABD_INTEGRATOR_RK45, end, start);
    mabd_redmax_pass_clear(r, g->q), mabd_redmax_pass_clear(r, g->v);
    mabd_redmax_pass_end(r, sim->q, sim->v, end, start);
    return MABD_OK;
}

static mabd_status part_back(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at,
                             mabd_redmax_tangent end, mabd_redmax_tangent start) {
    mabd_redmax_gradient* g = r->g;
    const bool closes = at->ends && r->part->row_count > 0;
    memset(bar_at(g->rk_bars, r->part->freedom_first, 0), 0,
           2 * MABD_REDMAX_RK45_STAGES * mabd_redmax_pass_bytes(r));
    mabd_redmax_pass_charts(r, true, start, NULL);
    MABD_TRY(end_back(r, closes, end, start));
    spread(r, at->size, END, start);
    const bool forces = closes || (at->ends && g->has_wrench);
    for (int i = forces ? END : END - 1; i >= 0; i--) MABD_TRY(stage_back(r, at, i, start));
    mabd_redmax_pass_charts(r, false, start, NULL);
    return MABD_OK;
}

mabd_status mabd_redmax_rk45_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                  mabd_redmax_tangent begin) {
    const mabd_redmax_tangent start = r->g->directions[0].last; // there is no history
    mabd_redmax_rk45_place at;
    rk_parts parts;
    MABD_TRY(find_parts(r, &parts));
    for (int32_t k = parts.count - 1; k >= 0; k--) {
        MABD_TRY(reach_part(r, parts, k, &at));
        mabd_redmax_pass_clear_node(r, start);
        MABD_TRY(part_back(r, &at, end, start));
        mabd_redmax_pass_copy_node(r, end, start);
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        begin.q[k] += end.q[k], begin.v[k] += end.v[k];
    }
    mabd_redmax_pass_clear_node(r, start);
    return MABD_OK;
}

// ---- forward -----------------------------------------------------------------------------------

// Changes of the iterate of stage i -> g->q, g->v.
static void gather(mabd_redmax_pass* r, mabd_real size, int i, const mabd_redmax_direction* d) {
    mabd_redmax_gradient* g = r->g;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->q[k] = varies(r, k) ? d->now.q[k] : 0, g->v[k] = d->now.v[k];
        for (int j = 0; j < i; j++) {
            const mabd_real* slope = bar_at(d->rk_slopes, k, j);
            const mabd_real w = size * mabd_redmax_rk45_weight(i, j);
            g->q[k] += w * slope[0], g->v[k] += w * slope[1];
        }
    }
}

// Changes in direction i of what has been entered, by g->q and g->v.
static mabd_redmax_changes push(mabd_redmax_pass* r, int32_t i, const mabd_redmax_direction* d) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_pass_clear_changes(r);
    mabd_redmax_pass_parameter(r, i);
    mabd_redmax_pass_centers_forward(r, d->now.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = g->v;
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    return c;
}

// Changes of the accelerations of rows, at fixed accelerations of the freedoms -> d->rows.
static void rows_forward(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i) {
    mabd_redmax_gradient* g = r->g;
    const size_t row = (size_t)r->part->row_first, rows = (size_t)r->part->row_count;
    const mabd_real spacing = line_spacing(r, at, i);
    for (int32_t d = 0; d < g->direction_count; d++) {
        memset(g->directions[d].rows + row, 0, rows * sizeof *g->force);
    }
    for (int p = 0; p < 6; p++) {
        const mabd_real ahead = places[p] * spacing, weight = (mabd_real)weights[p] / spacing;
        enter_point(r, at, i, ahead);
        for (int32_t d = 0; d < g->direction_count; d++) {
            const mabd_redmax_direction* own = &g->directions[d];
            gather(r, at->size, i, own);
            for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
                g->q[k] += ahead * g->v[k];
            }
            const mabd_redmax_changes c = push(r, d, own);
            mabd_redmax_add_row_changes(&r->s, &c, c.rows + row);
            for (size_t k = row; k < row + rows; k++) own->rows[k] += weight * c.rows[k];
        }
    }
    leave_rows(r);
}

static mabd_status stage_forward(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at, int i) {
    mabd_redmax_gradient* g = r->g;
    const int32_t row = r->part->row_first;
    if (r->part->row_count > 0) rows_forward(r, at, i);
    MABD_TRY(enter_stage(r, at, i));
    for (int32_t d = 0; d < g->direction_count; d++) {
        mabd_redmax_direction* own = &g->directions[d];
        gather(r, at->size, i, own);
        push(r, d, own);
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            g->z[k] = -g->z[k];
        }
        for (int32_t k = row; k < row + r->part->row_count; k++) own->rows[k] = -own->rows[k];
        if (r->part->row_count > 0) {
            mabd_redmax_mass_solve(&r->s, g->z, own->rows + row);
        } else {
            mabd_redmax_apply(&r->s, g->z, g->z);
        }
        for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
            mabd_real* slope = bar_at(own->rk_slopes, k, i);
            slope[0] = g->v[k], slope[1] = g->z[k];
        }
    }
    r->s.loads = false;
    return MABD_OK;
}

static mabd_status part_forward(mabd_redmax_pass* r, const mabd_redmax_rk45_place* at) {
    mabd_redmax_gradient* g = r->g;
    const bool closes = at->ends && r->part->row_count > 0;
    for (int i = 0; i < END; i++) MABD_TRY(stage_forward(r, at, i));
    mabd_redmax_rk45_stage(&r->s, at->begin, at->size, END);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &g->directions[i];
        gather(r, at->size, END, d);
        if (closes) {
            mabd_redmax_pass_copy(r, d->stage_v, g->q), mabd_redmax_pass_copy(r, d->stage_a, g->v);
        } else {
            mabd_redmax_pass_clear_node(r, d->fresh);
            mabd_redmax_pass_end(r, g->sim->q, g->sim->v, d->fresh, d->now);
        }
    }
    return closes ? mabd_redmax_closing_forward(r, MABD_INTEGRATOR_RK45, g->directions) : MABD_OK;
}

mabd_status mabd_redmax_rk45_forward(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_rk45_place at;
    rk_parts parts;
    MABD_TRY(find_parts(r, &parts));
    for (int32_t k = 0; k < parts.count; k++) {
        MABD_TRY(reach_part(r, parts, k, &at));
        for (int32_t i = 0; i < g->direction_count; i++) {
            mabd_redmax_pass_charts(r, true, g->directions[i].now, NULL);
        }
        MABD_TRY(part_forward(r, &at));
        for (int32_t i = 0; i < g->direction_count; i++) {
            mabd_redmax_pass_copy_node(r, g->directions[i].now, g->directions[i].fresh);
        }
    }
    return MABD_OK;
}
