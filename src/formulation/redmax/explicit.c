// SPDX-License-Identifier: Apache-2.0
// Explicit methods: accelerations a(q, v) from M a = -r(q, v, 0) by one factor and solve of the
// mass matrix, O(links).
//
//   semi-implicit   v' = v + h a(q, v),  q' = q + h v'                       [RM eq. 2.21]
//                   fails where h^2 a turns a joint by more than a quarter of a turn
//   rk45            the pair of Dormand and Prince, order 5 with an estimate of order 4
//
// Rk45 divides h into steps of its own. A step is taken if its estimated error is at most
// newton_tolerance (1 + |y|) in every coordinate and rate y; the next one is
// 0.9 (tolerance/error)^(1/5) times as long, between 1/5 and 5. Charts of balls are centred at the
// start of each of them.

#include "formulation/redmax/explicit.h"

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Shortest step of rk45, as a part of h.
#define SHORTEST ((mabd_real)1e-9)

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

mabd_status mabd_redmax_semi_implicit_slope(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_redmax_load_node(s, s->from_node);
    s->time = s->from + s->h; // prescribed freedoms: where they must be at the end
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_real q, rate;
        if (!sim->freedoms[k].prescribed) continue;
        mabd_redmax_prescribed(s, k, &q, &rate);
        sim->a[k] = ((q - sim->q[k]) / s->h - sim->v[k]) / s->h;
    }
    s->time = s->from, s->gamma = s->h, s->by_rate = true;
    mabd_redmax_set_inputs(s);
    const mabd_status status = mabd_redmax_accelerate(s);
    s->by_rate = false;
    return status;
}

void mabd_redmax_semi_implicit_load(const mabd_redmax_solve* s, const mabd_real* a) {
    const size_t first = (size_t)s->part->freedom_first;
    mabd_redmax_load_node(s, s->from_node);
    memcpy(s->sim->a + first, a + first, (size_t)s->part->freedom_count * sizeof *a);
}

mabd_status mabd_redmax_semi_implicit_return(mabd_redmax_solve* s, const mabd_real* a,
                                             const mabd_real* force) {
    const mabd_redmax_weights mass = {0, 0, 1};
    const size_t row = (size_t)s->part->row_first, rows = (size_t)s->part->row_count;
    int32_t link;
    mabd_redmax_semi_implicit_load(s, a);
    memcpy(s->sim->loops.force + row, force + row, rows * sizeof *force);
    s->time = s->from, s->gamma = s->h, s->by_rate = true;
    mabd_redmax_set_inputs(s);
    mabd_redmax_residual(s);
    s->by_rate = false;
    MABD_TRY(mabd_redmax_factor(s, mass, &link));
    return rows > 0 ? mabd_redmax_mass_border(s) : MABD_OK;
}

// Turn of a joint by the accelerations of a link over the step, besides that of its rates.
static mabd_real turn_by_acceleration(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    const mabd_real* a = s->sim->a + link->first;
    const mabd_real size = s->h * s->h;
    if (link->count == 0 || s->sim->freedoms[link->first].prescribed) return 0;
    if (link->kind == MABD_PRIMITIVE_BALL) return size * mabd_v3_norm(mabd_v3_load(a));
    if (link->kind != MABD_PRIMITIVE_SCREW) return 0;
    return size * (mabd_real)fabs(a[0]) * mabd_v3_norm(link->S.w);
}

static mabd_status check_turns(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_real turn = turn_by_acceleration(s, &s->sim->links[i]);
        if (turn <= MABD_REDMAX_EXPLICIT_TURN) continue;
        s->report->link = i, s->report->reason = MABD_REDMAX_EXPLICIT_REASON;
        s->report->unstable = true;
        return MABD_ERR_DIVERGED;
    }
    return MABD_OK;
}

mabd_status mabd_redmax_semi_implicit(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    MABD_TRY(mabd_redmax_semi_implicit_slope(s));
    MABD_TRY(check_turns(s));
    memcpy(sim->end_q + s->part->freedom_first, sim->a + s->part->freedom_first,
           (size_t)s->part->freedom_count * sizeof *sim->a); // of derivatives
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->v[k] += s->h * sim->a[k];
        sim->q[k] += s->h * sim->v[k];
    }
    return MABD_OK;
}

// ---- rk45 --------------------------------------------------------------------------------------

#define STAGES MABD_REDMAX_RK45_STAGES
static const double nodes[STAGES] = {0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1};
static const double table[STAGES][STAGES - 1] = {
    {0},
    {1 / 5.},
    {3 / 40., 9 / 40.},
    {44 / 45., -56 / 15., 32 / 9.},
    {19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729.},
    {9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656.},
    {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84.},
};
static const double error_weights[STAGES] = {71 / 57600.,      0,         -71 / 16695., 71 / 1920.,
                                             -17253 / 339200., 22 / 525., -1 / 40.};

mabd_real mabd_redmax_rk45_weight(int i, int j) {
    return (mabd_real)table[i][j];
}

mabd_real* mabd_redmax_rk45_slope(const mabd_redmax_sim* sim, int32_t k, int i) {
    return sim->rk + 2 * (MABD_REDMAX_RK45_STAGES * (size_t)k + (size_t)i);
}

void mabd_redmax_rk45_stage(mabd_redmax_solve* s, mabd_real begin, mabd_real h, int i) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] = s->start_q[k], sim->v[k] = s->start_v[k], sim->a[k] = 0;
        for (int j = 0; j < i; j++) {
            sim->q[k] += h * (mabd_real)table[i][j] * mabd_redmax_rk45_slope(sim, k, j)[0];
            sim->v[k] += h * (mabd_real)table[i][j] * mabd_redmax_rk45_slope(sim, k, j)[1];
        }
    }
    s->time = s->from + begin + (mabd_real)nodes[i] * h;
    mabd_redmax_set_inputs(s);
}

// Largest error of the step, relative to the tolerance.
static mabd_real error_of(const mabd_redmax_solve* s, mabd_real h) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real most = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const mabd_real y[2] = {sim->q[k], sim->v[k]};
        for (int c = 0; c < 2; c++) {
            mabd_real sum = 0;
            for (int i = 0; i < STAGES; i++)
                sum += (mabd_real)error_weights[i] * mabd_redmax_rk45_slope(sim, k, i)[c];
            const mabd_real error = (mabd_real)fabs(h * sum) / (1 + (mabd_real)fabs(y[c]));
            if (!(error <= most)) most = error;
        }
    }
    return most / sim->def.redmax.newton_tolerance;
}

// One trial: the iterate becomes the result.
static mabd_status try_step(mabd_redmax_solve* s, mabd_real begin, mabd_real h, mabd_real* error) {
    mabd_redmax_sim* sim = s->sim;
    for (int i = 0; i < STAGES; i++) {
        mabd_redmax_rk45_stage(s, begin, h, i);
        MABD_TRY(mabd_redmax_accelerate(s));
        for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
            mabd_real* own = mabd_redmax_rk45_slope(sim, k, i);
            own[0] = sim->v[k], own[1] = sim->a[k];
        }
    }
    *error = error_of(s, h);
    return isfinite(*error) ? MABD_OK : MABD_ERR_DIVERGED;
}

mabd_status mabd_redmax_rk45_part(mabd_redmax_solve* s, mabd_redmax_rk45_place* at) {
    for (;;) {
        mabd_real error = INFINITY;
        at->begin = at->end;
        at->ends = at->begin + at->next >= s->h * (1 - SHORTEST);
        at->size = at->ends ? s->h - at->begin : at->next;
        const mabd_status status = try_step(s, at->begin, at->size, &error);
        if (status == MABD_ERR_DIVERGED) {
            error = INFINITY;
        } else if (status != MABD_OK) {
            return status;
        }
        const mabd_real grow = (mabd_real)(0.9 * pow((double)error, -0.2));
        at->next = at->size * (grow < (mabd_real)0.2 ? (mabd_real)0.2 : grow > 5 ? 5 : grow);
        if (error <= 1) {
            at->end = at->ends ? s->h : at->begin + at->size;
            s->report->substeps++;
            return MABD_OK;
        }
        if (at->next < SHORTEST * s->h) {
            s->report->link = s->part->link_first;
            s->report->reason = "the steps of rk45 become too short at";
            return MABD_ERR_DIVERGED;
        }
    }
}

void mabd_redmax_rk45_go_on(mabd_redmax_solve* s) {
    mabd_redmax_store_node(s, &s->sim->base);
    s->from_node = &s->sim->base;
    mabd_redmax_enter_charts(s);
}

mabd_status mabd_redmax_rk45(mabd_redmax_solve* s) {
    mabd_redmax_rk45_place at = {.next = s->h};
    s->report->substeps = 0;
    for (;;) {
        MABD_TRY(mabd_redmax_rk45_part(s, &at));
        if (at.ends) return MABD_OK; // the iterate, in the charts of the last part
        mabd_redmax_rk45_go_on(s);
    }
}
