// SPDX-License-Identifier: Apache-2.0
// Derivatives of a step of each part, in both directions (redmax_tangent.h).
//
// Balls, with the centre C = R_n of the chart of the step and rho_n a turn of it:
//
//   end        R+ = C exp q, omega+ = J v:
//              rho+ = J dq + exp(q)'rho_n,   d omega+ = J dv + (dJ.v) dq
//   residual   the link turns by exp(q)'rho_n against its parent at fixed q; its laws: laws.c
//   history    q_m = log(R_n'R_(n-1)), v_m = J(q_m)^-1 omega_(n-1):
//              J dq_m = rho_(n-1) - exp(q_m)'rho_n,      J dv_m = d omega_(n-1) - (dJ.v_m) dq_m
//
// Prescribed freedoms have the row dq = dt of their target t, whose bar is z. A target that a
// program has set is reached along a line from where the axis was at the start of the step.
//
// A step in parts is a chain of steps by the method without history; going back over it, each is
// reached by taking the ones before it again.

#include "formulation/redmax/redmax_tape.h"

#include "base/error.h"
#include "formulation/redmax/explicit.h"
#include "rigid/linear_pass.h"

#include <string.h>

static const mabd_redmax_weights by_q = {1, 0, 0}, by_v = {0, 1, 0}, by_a = {0, 0, 1};

/// One step of one part, for derivatives.
typedef struct part_run {
    mabd_redmax_gradient* g;
    mabd_redmax_part* part;
    mabd_redmax_record after, before;
    const mabd_tape_step* step;
    mabd_redmax_report report;
    mabd_redmax_solve s;
    const mabd_real *stage_q, *end_q; // (freedoms) solutions of the stages
    bool back;
    mabd_error* error;
} part_run;

// ---- vectors of a part -------------------------------------------------------------------------

static size_t first_of(const part_run* r) {
    return (size_t)r->part->freedom_first;
}
static size_t bytes_of(const part_run* r) {
    return (size_t)r->part->freedom_count * sizeof(mabd_real);
}
static int32_t end_of(const part_run* r) {
    return r->part->freedom_first + r->part->freedom_count;
}
static int32_t last_link(const part_run* r) {
    return r->part->link_first + r->part->link_count;
}
static void clear(const part_run* r, mabd_real* x) {
    memset(x + first_of(r), 0, bytes_of(r));
}
static void copy(const part_run* r, mabd_real* to, const mabd_real* from) {
    memcpy(to + first_of(r), from + first_of(r), bytes_of(r));
}
static void clear_node(const part_run* r, mabd_redmax_tangent t) {
    clear(r, t.q), clear(r, t.v);
}
static void copy_tangent(const part_run* r, mabd_redmax_tangent to, mabd_redmax_tangent from) {
    copy(r, to.q, from.q), copy(r, to.v, from.v);
}
static bool is_ball(const part_run* r, int32_t k) {
    const mabd_redmax_sim* sim = r->g->sim;
    return sim->links[sim->freedoms[k].link].kind == MABD_PRIMITIVE_BALL;
}

// ---- balls -------------------------------------------------------------------------------------

/// J, dJ.v and exp(q) of a ball.
typedef struct ball_maps {
    mabd_mat3 J, K, Q;
} ball_maps;

static ball_maps ball_maps_at(const mabd_real* q, const mabd_real* v) {
    const mabd_chart chart = mabd_chart_at(mabd_v3_load(q));
    const mabd_vec3 u = mabd_v3_load(v);
    ball_maps b;
    b.J = mabd_chart_matrix(&chart), b.Q = mabd_chart_rotation(&chart);
    b.K = mabd_m3(mabd_chart_slope(&chart, mabd_v3(1, 0, 0), u),
                  mabd_chart_slope(&chart, mabd_v3(0, 1, 0), u),
                  mabd_chart_slope(&chart, mabd_v3(0, 0, 1), u));
    return b;
}

// Between the end (q, v) of a step in its chart, with changes dq, dv, and the state after it.
static void pass_end(const part_run* r, const mabd_real* q, const mabd_real* v,
                     mabd_redmax_tangent end, mabd_redmax_tangent start) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const size_t at = (size_t)link->first;
        if (link->kind != MABD_PRIMITIVE_BALL) {
            mabd_pass_scaled(r->back, 1, link->count, end.q + at, g->q + at);
            mabd_pass_scaled(r->back, 1, link->count, end.v + at, g->v + at);
            continue;
        }
        const ball_maps b = ball_maps_at(q + at, v + at);
        mabd_pass_m3(r->back, 1, b.J, end.q + at, g->q + at);
        mabd_pass_m3(r->back, 1, mabd_m3_transpose(b.Q), end.q + at, start.q + at);
        mabd_pass_m3(r->back, 1, b.J, end.v + at, g->v + at);
        mabd_pass_m3(r->back, 1, b.K, end.v + at, g->q + at);
    }
}

// Between the history q_m, v_m of a ball, dq and dv, and the states last and start.
static void pass_ball_history(const part_run* r, size_t at, mabd_real* dq, mabd_real* dv,
                              mabd_redmax_tangent start, mabd_redmax_tangent last) {
    const mabd_redmax_sim* sim = r->g->sim;
    const mabd_vec3 q = mabd_v3_load(sim->q_m + at);
    const ball_maps b = ball_maps_at(sim->q_m + at, sim->v_m + at);
    const mabd_mat3 inverse = mabd_so3_log_gradients(q);
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
static void pass_base(const part_run* r, mabd_real s, mabd_redmax_tangent start) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) { // q of a ball is 0 at the start
        if (!is_ball(r, k)) mabd_pass_scaled(r->back, s, 1, g->base_q + k, start.q + k);
        mabd_pass_scaled(r->back, s, 1, g->base_v + k, start.v + k);
    }
}

static void pass_history(const part_run* r, mabd_redmax_tangent start, mabd_redmax_tangent last) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_real third = (mabd_real)1 / 3;
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const size_t at = (size_t)link->first;
        if (link->kind != MABD_PRIMITIVE_BALL) {
            mabd_pass_scaled(r->back, -third, link->count, g->base_q + at, last.q + at);
            mabd_pass_scaled(r->back, -third, link->count, g->base_v + at, last.v + at);
            continue;
        }
        mabd_real dq[3] = {0}, dv[3] = {0};
        if (!r->back) pass_ball_history(r, at, dq, dv, start, last);
        mabd_pass_scaled(r->back, -third, 3, g->base_q + at, dq);
        mabd_pass_scaled(r->back, -third, 3, g->base_v + at, dv);
        if (r->back) pass_ball_history(r, at, dq, dv, start, last);
    }
}

// The first stage of sdirk2 in the base of the second one.
static void pass_first_stage(const part_run* r, mabd_real* v, mabd_real* a) {
    const mabd_real rest = (1 - MABD_REDMAX_ALPHA) * r->s.h;
    const size_t at = first_of(r);
    mabd_pass_scaled(r->back, rest, r->part->freedom_count, r->g->base_q + at, v + at);
    mabd_pass_scaled(r->back, rest, r->part->freedom_count, r->g->base_v + at, a + at);
}

// ---- prescribed freedoms -----------------------------------------------------------------------

// y += s times the change of the value, or of the rate, of a prescribed freedom at the stage's
// time; x: change of its target. `begin`: the state before the step.
static void pass_prescribed(const part_run* r, int32_t k, bool rate, mabd_real s, mabd_real* y,
                            mabd_redmax_tangent begin, mabd_real* x) {
    const mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_real h = sim->def.h, part = (r->s.time - sim->time) / h;
    if (f->script || !sim->inputs.target_set[f->coordinate]) return;
    mabd_pass_scaled(r->back, s * (rate ? 1 / h : part), 1, y, x);
    mabd_pass_scaled(r->back, s * (rate ? -1 / h : 1 - part), 1, y, begin.q + k);
}

static bool is_settled(const part_run* r, mabd_integrator method, int32_t k) {
    return method == MABD_INTEGRATOR_SDIRK2 && r->g->sim->freedoms[k].prescribed &&
           mabd_redmax_has_rate(r->g->sim, k);
}

// Freedoms that sdirk2 settles at its end: the stage has no part in them.
static void pass_settled(const part_run* r, mabd_integrator method, mabd_redmax_tangent end,
                         mabd_redmax_tangent begin, mabd_real* target) {
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        if (!is_settled(r, method, k)) continue;
        if (!r->back) end.q[k] = end.v[k] = 0;
        pass_prescribed(r, k, false, 1, end.q + k, begin, target + k);
        pass_prescribed(r, k, true, 1, end.v + k, begin, target + k);
        if (r->back) end.q[k] = end.v[k] = 0;
    }
}

// y += the change of a prescribed row in a stage.
static void pass_row(const part_run* r, int32_t k, mabd_real* y, mabd_redmax_tangent begin,
                     mabd_real* target) {
    if (!r->s.by_rate || !mabd_redmax_has_rate(r->g->sim, k)) {
        pass_prescribed(r, k, false, 1, y, begin, target + k);
        return;
    }
    mabd_pass_scaled(r->back, 1, 1, y, r->g->base_q + k);
    pass_prescribed(r, k, true, r->s.gamma, y, begin, target + k);
}

// ---- a residual --------------------------------------------------------------------------------

static mabd_status fail(const part_run* r, mabd_status status) {
    return mabd_fail(r->error, status, "the step has no derivatives (t = %g s)",
                     (double)r->step->time);
}

// Turns of the centres of charts in a residual, backwards; z null: of the wrenches.
static void centers_back(const part_run* r, mabd_real sign, const mabd_real* z, mabd_real* center) {
    const mabd_redmax_sim* sim = r->g->sim;
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind != MABD_PRIMITIVE_BALL) continue;
        const mabd_mat3 Q = mabd_chart_rotation(&sim->balls[link->ball].chart);
        mabd_vec3 bar = mabd_m3_mul(Q, mabd_redmax_parent_side_bar(sim, i).w);
        if (link->laws && z) {
            const mabd_vec3 own = mabd_v3_load(z + link->first);
            bar = mabd_v3_sub(bar, mabd_m3_tmul(mabd_redmax_ball_center(&r->s, i), own));
        }
        mabd_real* to = center + link->first;
        mabd_v3_store(mabd_v3_axpy(sign, bar, mabd_v3_load(to)), to);
    }
}

static void centers_forward(const part_run* r, const mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind != MABD_PRIMITIVE_BALL) continue;
        const mabd_mat3 Q = mabd_chart_rotation(&sim->balls[link->ball].chart);
        const mabd_vec3 rho = mabd_v3_load(center + link->first);
        mabd_spatial* e = &g->changes.parent_side[i];
        e->w = mabd_v3_add(e->w, mabd_m3_tmul(Q, rho));
        if (!link->laws) continue;
        const mabd_vec3 tau = mabd_m3_mul(mabd_redmax_ball_center(&r->s, i), rho);
        mabd_real* to = g->changes.r + link->first;
        mabd_v3_store(mabd_v3_sub(mabd_v3_load(to), tau), to);
    }
}

static void clear_changes(const part_run* r) {
    mabd_redmax_changes* c = &r->g->changes;
    const size_t first = (size_t)r->part->link_first;
    const size_t bytes = (size_t)r->part->link_count * sizeof *c->load;
    memset(c->parent_side + first, 0, bytes);
    memset(c->body_side + first, 0, bytes);
    memset(c->load + first, 0, bytes);
    clear(r, c->r);
    c->fall = mabd_v3(0, 0, 0);
}

// Bars of the wrenches of joints, in the bars g->q, v, a of the residual.
static void wrenches_back(part_run* r, mabd_real* center) {
    mabd_redmax_gradient* g = r->g;
    if (!g->has_wrench) return;
    mabd_redmax_pull_back(&r->s, NULL, g->wrench);
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            g->q[at] += mabd_redmax_bar(g->sim, i, k, by_q, NULL);
            g->v[at] += mabd_redmax_bar(g->sim, i, k, by_v, NULL);
            g->a[at] += mabd_redmax_bar(g->sim, i, k, by_a, NULL);
        }
    }
    centers_back(r, 1, NULL, center);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, 1, NULL);
    memset(g->wrench + r->part->link_first, 0, (size_t)r->part->link_count * sizeof *g->wrench);
}

// ---- a stage -----------------------------------------------------------------------------------

// Rates and accelerations of a stage at q.
static void enter_rates(part_run* r, mabd_integrator method, int number, const mabd_real* q) {
    mabd_redmax_set_stage(&r->s, method, number);
    copy(r, r->g->sim->q, q);
    mabd_redmax_follow(&r->s);
    mabd_redmax_rates(&r->s);
}

static mabd_status enter_stage(part_run* r, mabd_integrator method, int number,
                               const mabd_real* q) {
    int32_t link;
    enter_rates(r, method, number, q);
    mabd_redmax_residual(&r->s);
    const mabd_status status =
        mabd_redmax_factor(&r->s, mabd_redmax_stage_weights(r->s.gamma), &link);
    return status == MABD_OK ? MABD_OK : fail(r, status);
}

// Back over a stage: bars g->q, v, a -> g->base_q, base_v, centres, targets, parameters.
static void stage_back(part_run* r, mabd_redmax_tangent start, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_real gamma = r->s.gamma;
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->v[k] += g->a[k] / gamma; // vb'
        g->base_q[k] = -g->v[k] / gamma, g->base_v[k] = -g->a[k] / gamma;
        g->z[k] = g->q[k] + g->v[k] / gamma;
    }
    mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            const mabd_real v = mabd_redmax_bar(sim, i, k, by_v, g->z);
            const mabd_real a = mabd_redmax_bar(sim, i, k, by_a, g->z);
            g->base_q[at] += (v + a / gamma) / gamma, g->base_v[at] += a / gamma;
        }
    }
    centers_back(r, -1, g->z, start.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, -1, g->z);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        if (sim->freedoms[k].prescribed) pass_row(r, k, g->z + k, begin, g->target);
    }
}

// Set the target that the parameter of direction i changes; back to zero with value 0.
static void set_target(const part_run* r, int32_t i, mabd_real value) {
    const mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    if (index < 0 || !mabd_redmax_sets_control(&g->parameters[index], r->step->step)) return;
    g->target[g->parameter_freedom[index]] = value;
}

// Changes of the residual by the parameter of direction i.
static void parameter_forward(const part_run* r, int32_t i) {
    mabd_redmax_gradient* g = r->g;
    const int32_t index = i + g->direction_first;
    if (index < 0) return;
    mabd_redmax_parameter_changes(g, &r->s, MABD_EQUATION_STEP, index, r->step->step);
}

// Forward over a stage in direction i: g->base_q, base_v -> g->q, v, a.
static void stage_forward(part_run* r, int32_t i, mabd_redmax_tangent start,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_real gamma = r->s.gamma;
    clear_changes(r);
    parameter_forward(r, i);
    centers_forward(r, start.q);
    mabd_redmax_changes c = g->changes;
    c.v = g->v, c.a = g->a;
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->v[k] = -g->base_q[k] / gamma, g->a[k] = (g->v[k] - g->base_v[k]) / gamma;
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->z[k] = 0;
        pass_row(r, k, g->z + k, begin, g->target);
    }
    mabd_redmax_apply(&r->s, g->z, g->q);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->v[k] = (g->q[k] - g->base_q[k]) / gamma, g->a[k] = (g->v[k] - g->base_v[k]) / gamma;
    }
}

// ---- implicit methods --------------------------------------------------------------------------

static mabd_status implicit_back(part_run* r, mabd_integrator method, mabd_redmax_tangent end,
                                 mabd_redmax_tangent start, mabd_redmax_tangent last,
                                 mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const bool two = method == MABD_INTEGRATOR_SDIRK2, history = method == MABD_INTEGRATOR_BDF2;
    if (two) enter_rates(r, method, 0, r->stage_q);
    MABD_TRY(enter_stage(r, method, two, r->end_q));
    clear(r, g->q), clear(r, g->v), clear(r, g->a);
    pass_settled(r, method, end, begin, g->target);
    pass_end(r, g->sim->q, g->sim->v, end, start);
    wrenches_back(r, start.q);
    stage_back(r, start, begin);
    pass_base(r, history ? (mabd_real)4 / 3 : 1, start);
    if (history) pass_history(r, start, last);
    if (!two) return MABD_OK;
    clear(r, g->q), clear(r, g->v), clear(r, g->a);
    pass_first_stage(r, g->v, g->a);
    MABD_TRY(enter_stage(r, method, 0, r->stage_q));
    stage_back(r, start, begin);
    pass_base(r, 1, start);
    return MABD_OK;
}

static mabd_status implicit_forward(part_run* r, mabd_integrator method,
                                    mabd_redmax_direction* from, bool halves) {
    mabd_redmax_gradient* g = r->g;
    const bool two = method == MABD_INTEGRATOR_SDIRK2, history = method == MABD_INTEGRATOR_BDF2;
    for (int number = 0; number <= two; number++) {
        const bool last = number == two;
        if (number == 1) enter_rates(r, method, 0, r->stage_q);
        MABD_TRY(enter_stage(r, method, number, last ? r->end_q : r->stage_q));
        for (int32_t i = 0; i < g->direction_count; i++) {
            mabd_redmax_direction* d = &from[i];
            const mabd_redmax_tangent begin = halves ? d->last : d->now;
            set_target(r, i, 1);
            clear(r, g->base_q), clear(r, g->base_v);
            pass_base(r, history ? (mabd_real)4 / 3 : 1, d->now);
            if (history) pass_history(r, d->now, d->last);
            if (number == 1) pass_first_stage(r, d->stage_v, d->stage_a);
            stage_forward(r, i, d->now, begin);
            if (!last) copy(r, d->stage_v, g->v), copy(r, d->stage_a, g->a);
            if (last) {
                clear_node(r, d->fresh);
                pass_end(r, g->sim->q, g->sim->v, d->fresh, d->now);
                pass_settled(r, method, d->fresh, begin, g->target);
            }
            set_target(r, i, 0);
        }
    }
    return MABD_OK;
}

// ---- semi-implicit -----------------------------------------------------------------------------

// q+ = h v+ and v+ = v + h a of balls, in sim->trial and sim->step.
static void explicit_end(const part_run* r) {
    mabd_redmax_sim* sim = r->g->sim;
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        sim->step[k] = sim->v[k] + r->s.h * sim->a[k];
        sim->trial[k] = sim->q[k] + r->s.h * sim->step[k];
    }
}

// y += the change of the acceleration of a prescribed freedom: ((t - q)/h - v)/h.
static void pass_prescribed_slope(part_run* r, int32_t k, mabd_real* y, mabd_redmax_tangent start,
                                  mabd_redmax_tangent begin) {
    const mabd_real rate = 1 / r->s.h, kept = r->s.time;
    r->s.time = r->s.from + r->s.h;
    pass_prescribed(r, k, false, rate * rate, y, begin, r->g->target + k);
    r->s.time = kept;
    mabd_pass_scaled(r->back, -rate * rate, 1, y, start.q + k);
    mabd_pass_scaled(r->back, -rate, 1, y, start.v + k);
}

static mabd_status explicit_back(part_run* r, mabd_redmax_tangent end, mabd_redmax_tangent start,
                                 mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_status status = mabd_redmax_semi_implicit_slope(&r->s);
    if (status != MABD_OK) return fail(r, status);
    explicit_end(r);
    clear(r, g->q), clear(r, g->v), clear(r, g->a);
    pass_end(r, sim->trial, sim->step, end, start);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->v[k] += r->s.h * g->q[k];
        g->a[k] += r->s.h * g->v[k];
    }
    wrenches_back(r, start.q);
    copy(r, g->z, g->a);
    mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            if (link->kind != MABD_PRIMITIVE_BALL) {
                start.q[at] += g->q[at] - mabd_redmax_bar(sim, i, k, by_q, g->z);
            }
            start.v[at] += g->v[at] - mabd_redmax_bar(sim, i, k, by_v, g->z);
        }
    }
    centers_back(r, -1, g->z, start.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, -1, g->z);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        if (sim->freedoms[k].prescribed) pass_prescribed_slope(r, k, g->z + k, start, begin);
    }
    return MABD_OK;
}

static void slope_forward(part_run* r, int32_t i, mabd_redmax_direction* d,
                          mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    clear_changes(r);
    parameter_forward(r, i);
    centers_forward(r, d->now.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q, c.v = g->v;
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->q[k] = is_ball(r, k) ? 0 : d->now.q[k], g->v[k] = d->now.v[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->z[k] = 0;
        pass_prescribed_slope(r, k, g->z + k, d->now, begin);
    }
    mabd_redmax_apply(&r->s, g->z, g->a);
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        g->v[k] += r->s.h * g->a[k];
        g->q[k] += r->s.h * g->v[k];
    }
}

static mabd_status explicit_forward(part_run* r, mabd_redmax_direction* from, bool halves) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_status status = mabd_redmax_semi_implicit_slope(&r->s);
    if (status != MABD_OK) return fail(r, status);
    explicit_end(r);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        set_target(r, i, 1);
        slope_forward(r, i, d, halves ? d->last : d->now);
        clear_node(r, d->fresh);
        pass_end(r, sim->trial, sim->step, d->fresh, d->now);
        set_target(r, i, 0);
    }
    return MABD_OK;
}

// ---- a step ------------------------------------------------------------------------------------

static mabd_status method_back(part_run* r, mabd_integrator method, mabd_redmax_tangent end,
                               mabd_redmax_tangent start, mabd_redmax_tangent last,
                               mabd_redmax_tangent begin) {
    if (method == MABD_INTEGRATOR_SEMI_IMPLICIT) return explicit_back(r, end, start, begin);
    return implicit_back(r, method, end, start, last, begin);
}

static mabd_status method_forward(part_run* r, mabd_integrator method, bool halves) {
    mabd_redmax_direction* d = r->g->directions;
    if (method == MABD_INTEGRATOR_SEMI_IMPLICIT) return explicit_forward(r, d, halves);
    return implicit_forward(r, method, d, halves);
}

// Coordinates of the stages: from the tape, or taken again.
static mabd_status find_stages(part_run* r, mabd_integrator method) {
    mabd_redmax_sim* sim = r->g->sim;
    r->stage_q = sim->stage_q, r->end_q = sim->end_q;
    if (method == MABD_INTEGRATOR_SEMI_IMPLICIT) return MABD_OK;
    const bool two = method == MABD_INTEGRATOR_SDIRK2;
    if (!r->after.node.q || (two && !r->after.stage_q)) {
        const mabd_status status = mabd_redmax_advance(&r->s, method, true, &sim->next);
        return status == MABD_OK ? MABD_OK : fail(r, status);
    }
    if (r->after.stage_q) r->stage_q = r->after.stage_q;
    copy(r, sim->end_q, r->after.node.q);
    for (int32_t i = r->part->link_first; i < last_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->ball < 0) continue;
        memcpy(sim->end_q + link->first, r->after.ball_q + 3 * (size_t)link->ball,
               3 * sizeof *sim->end_q);
    }
    return MABD_OK;
}

// ---- steps in parts ----------------------------------------------------------------------------

static void set_part(part_run* r, int32_t done, int32_t size) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_real unit = sim->def.h / (mabd_real)((int32_t)1 << sim->def.max_halvings);
    r->s.h = (mabd_real)size * unit;
    r->s.from = r->step->time + (mabd_real)done * unit;
    r->s.from_node = &sim->base;
}

// Take parts 0 .. last of a divided step again: sim->base is the start of the last one.
static mabd_status reach_part(part_run* r, mabd_integrator method, int32_t last) {
    mabd_redmax_sim* sim = r->g->sim;
    int32_t done = 0;
    mabd_redmax_copy_node(&r->s, &sim->now, &sim->base);
    for (int32_t k = 0; k <= last; k++) {
        set_part(r, done, r->g->sizes[k]);
        const mabd_status status = mabd_redmax_advance(&r->s, method, true, &sim->next);
        if (status != MABD_OK) return fail(r, status);
        done += r->g->sizes[k];
        if (k < last) mabd_redmax_copy_node(&r->s, &sim->next, &sim->base);
    }
    return MABD_OK;
}

// Find the sizes of the parts of a divided step by dividing it again.
static mabd_status find_sizes(part_run* r, int32_t* count) {
    r->s.sizes = r->g->sizes;
    const mabd_status status = mabd_redmax_divide(&r->s, r->step->time);
    r->s.sizes = NULL;
    *count = r->report.substeps;
    return status == MABD_OK ? MABD_OK : fail(r, status);
}

static mabd_status parts_back(part_run* r, mabd_integrator method, mabd_redmax_tangent end,
                              mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent start = g->directions[0].last; // there is no history
    int32_t count;
    MABD_TRY(find_sizes(r, &count));
    r->stage_q = g->sim->stage_q, r->end_q = g->sim->end_q;
    for (int32_t k = count - 1; k >= 0; k--) {
        MABD_TRY(reach_part(r, method, k));
        clear_node(r, start);
        MABD_TRY(method_back(r, method, end, start, start, begin));
        copy_tangent(r, end, start);
    }
    for (int32_t k = r->part->freedom_first; k < end_of(r); k++) {
        begin.q[k] += end.q[k], begin.v[k] += end.v[k];
    }
    clear_node(r, start);
    return MABD_OK;
}

// Forward: `last` keeps the state before the step.
static mabd_status parts_forward(part_run* r, mabd_integrator method) {
    mabd_redmax_gradient* g = r->g;
    int32_t count;
    MABD_TRY(find_sizes(r, &count));
    r->stage_q = g->sim->stage_q, r->end_q = g->sim->end_q;
    for (int32_t i = 0; i < g->direction_count; i++) {
        copy_tangent(r, g->directions[i].last, g->directions[i].now);
    }
    for (int32_t k = 0; k < count; k++) {
        MABD_TRY(reach_part(r, method, k));
        MABD_TRY(method_forward(r, method, true));
        for (int32_t i = 0; i < g->direction_count; i++) {
            copy_tangent(r, g->directions[i].now, g->directions[i].fresh);
        }
    }
    return MABD_OK;
}

// ---- a step of a part --------------------------------------------------------------------------

static mabd_status part_back(part_run* r, mabd_integrator method, bool divided) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_direction* d = &g->directions[0];
    // bars of the state after: now, last -> `fresh`, and those of the state before
    copy_tangent(r, d->fresh, d->now);
    copy_tangent(r, d->now, d->last);
    clear_node(r, d->last);
    clear(r, g->target);
    if (divided) {
        MABD_TRY(parts_back(r, mabd_redmax_divided_method(g->sim, r->part), d->fresh, d->now));
    } else {
        MABD_TRY(find_stages(r, method));
        MABD_TRY(method_back(r, method, d->fresh, d->now, d->last, d->now));
    }
    const int32_t part = (int32_t)(r->part - g->sim->parts);
    for (int32_t k = g->sorted_first[part]; k < g->sorted_first[part + 1]; k++) {
        const int32_t i = g->sorted[k];
        if (!mabd_redmax_sets_control(&g->parameters[i], r->step->step)) continue;
        g->product[i] += g->target[g->parameter_freedom[i]];
    }
    return MABD_OK;
}

static mabd_status part_forward(part_run* r, mabd_integrator method, bool divided) {
    mabd_redmax_gradient* g = r->g;
    if (divided) return parts_forward(r, mabd_redmax_divided_method(g->sim, r->part));
    MABD_TRY(find_stages(r, method));
    MABD_TRY(method_forward(r, method, false));
    for (int32_t i = 0; i < g->direction_count; i++) {
        copy_tangent(r, g->directions[i].last, g->directions[i].now);
        copy_tangent(r, g->directions[i].now, g->directions[i].fresh);
    }
    return MABD_OK;
}

static mabd_redmax_solve solve_of(part_run* r) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_solve s = {.sim = sim,
                                 .part = r->part,
                                 .report = &r->report,
                                 .from = r->step->time,
                                 .h = sim->def.h,
                                 .force = sim->force,
                                 .motor = sim->motor,
                                 .from_node = &sim->now};
    return s;
}

static mabd_status pass_part(part_run* r, int32_t index) {
    mabd_redmax_sim* sim = r->g->sim;
    r->part = &sim->parts[index];
    const mabd_redmax_part kept = *r->part;
    r->part->poses |= sim->inputs.has_applied;
    r->part->peak = r->part->peak_after = r->before.peak[index];
    r->s = solve_of(r);
    const mabd_integrator method = (mabd_integrator)r->after.taken[index];
    const bool divided = r->after.divided[index];
    const mabd_status status =
        r->back ? part_back(r, method, divided) : part_forward(r, method, divided);
    *r->part = kept;
    return status;
}

// A step from the state alone, without history: what has failed in one piece is taken in parts.
static mabd_status fresh_part(part_run* r, int32_t index) {
    mabd_redmax_sim* sim = r->g->sim;
    r->part = &sim->parts[index];
    const mabd_redmax_part kept = *r->part;
    const mabd_integrator own = sim->def.integrator;
    const mabd_integrator method =
        own == MABD_INTEGRATOR_BDF2 ? mabd_redmax_divided_method(sim, r->part) : own;
    r->part->poses |= sim->inputs.has_applied;
    r->s = solve_of(r);
    mabd_status status = mabd_redmax_advance(&r->s, method, sim->def.max_halvings == 0, &sim->next);
    const bool divided = status == MABD_ERR_SINGULAR || status == MABD_ERR_DIVERGED;
    r->part->peak_after = kept.peak;
    r->s = solve_of(r);
    status = part_forward(r, method, divided && sim->def.max_halvings > 0);
    *r->part = kept;
    return status;
}

mabd_status mabd_redmax_pass_fresh_step(mabd_redmax_gradient* g, mabd_error* error) {
    const mabd_tape_step step = {.step = 1, .time = g->sim->time};
    part_run r = {.g = g, .step = &step, .error = error};
    mabd_status status = MABD_OK;
    for (int32_t i = 0; i < g->sim->part_count && status == MABD_OK; i++) {
        status = fresh_part(&r, i);
    }
    g->sim->placed = false;
    return status;
}

mabd_status mabd_redmax_pass_step(mabd_redmax_gradient* g, const mabd_tape_step* step, bool back,
                                  mabd_error* error) {
    part_run r = {.g = g, .step = step, .back = back, .error = error};
    mabd_status status = MABD_OK;
    r.after = mabd_redmax_record_at(g, step->after);
    r.before = mabd_redmax_record_at(g, step->before);
    const mabd_redmax_record last = mabd_redmax_record_at(g, step->last);
    const mabd_redmax_saved saved =
        mabd_redmax_enter(g->sim, &last, &r.before, &r.after, step->time);
    for (int32_t i = 0; i < g->sim->part_count && status == MABD_OK; i++) status = pass_part(&r, i);
    mabd_redmax_leave(g->sim, &saved);
    if (back) g->has_wrench = false;
    return status;
}
