// SPDX-License-Identifier: Apache-2.0
// Derivatives of the steps of explicit methods, in both directions (explicit.c).

#include "formulation/redmax/redmax_pass.h"

#include "formulation/redmax/explicit.h"
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

mabd_status mabd_redmax_explicit_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                      mabd_redmax_tangent start, mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_status status = mabd_redmax_semi_implicit_slope(&r->s);
    if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
    explicit_end(r);
    mabd_redmax_pass_clear(r, g->q), mabd_redmax_pass_clear(r, g->v),
        mabd_redmax_pass_clear(r, g->a);
    mabd_redmax_pass_end(r, sim->trial, sim->step, end, start);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] += r->s.h * g->q[k];
        g->a[k] += r->s.h * g->v[k];
    }
    mabd_redmax_pass_wrenches_back(r, start.q);
    mabd_redmax_pass_copy(r, g->z, g->a);
    mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            if (link->kind != MABD_PRIMITIVE_BALL) {
                start.q[at] += g->q[at] - mabd_redmax_bar(sim, i, k, by_q, g->z);
            }
            start.v[at] += g->v[at] - mabd_redmax_bar(sim, i, k, by_v, g->z);
        }
    }
    mabd_redmax_pass_centers_back(r, -1, g->z, start.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_STEP, r->step->step, -1, g->z);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        if (sim->freedoms[k].prescribed) pass_prescribed_slope(r, k, g->z + k, start, begin);
    }
    return MABD_OK;
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
        g->q[k] = mabd_redmax_pass_is_ball(r, k) ? 0 : d->now.q[k], g->v[k] = d->now.v[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->z[k] = -g->z[k];
        if (!g->sim->freedoms[k].prescribed) continue;
        g->z[k] = 0;
        pass_prescribed_slope(r, k, g->z + k, d->now, begin);
    }
    mabd_redmax_apply(&r->s, g->z, g->a);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->v[k] += r->s.h * g->a[k];
        g->q[k] += r->s.h * g->v[k];
    }
}

mabd_status mabd_redmax_explicit_forward(mabd_redmax_pass* r, mabd_redmax_direction* from,
                                         bool halves) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const mabd_status status = mabd_redmax_semi_implicit_slope(&r->s);
    if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
    explicit_end(r);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction* d = &from[i];
        mabd_redmax_pass_set_target(r, i, 1);
        slope_forward(r, i, d, halves ? d->last : d->now);
        mabd_redmax_pass_clear_node(r, d->fresh);
        mabd_redmax_pass_end(r, sim->trial, sim->step, d->fresh, d->now);
        mabd_redmax_pass_set_target(r, i, 0);
    }
    return MABD_OK;
}
