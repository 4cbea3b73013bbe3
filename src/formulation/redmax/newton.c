// SPDX-License-Identifier: Apache-2.0
// Newton's method on a stage, with the exact matrix.
//
//   H dq = -r,   q += alpha dq
//
// where laws of axes are moved to the branches that dq is on before q moves (axes.c). The merit of
// a held axis is that of its way, D (q - hold)^2.
//
// dq is limited to half a radian, and slides to half the length of a link. alpha = 1, 1/2, ...
// until phi = sum r_i^2/|D_i| falls by 1e-4 alpha of itself, D of the first factor. The iteration
// ends when |dq| is below the tolerance. Without these safeguards Newton's method fails at the
// crack of a whip, and what it returns then has gained energy ([RM sec. 3.4] has none).

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_sim.h"

#include "base/clock.h"
#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_lanes.h"
#include "formulation/redmax/redmax_lift.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"

#include <math.h>
#include <string.h>

/// Turn of a ball by an impact, from where it would be without: within its chart [rad].
#define IMPACT_TURN 3
/// Relative change of accelerations that have converged.
#define ACCELERATED ((mabd_real)1e-13)
/// Deviation of a step from a linear one above which links are lifted.
#define DEVIATION ((mabd_real)2e-3)
/// Part of the merit at the start of a search that is left of it where lifted iterates converge.
#define LIFTED ((mabd_real)1e-8)
/// Largest error of a row of a loop at the end of an iteration [m], [rad].
#define GAP_MAX ((mabd_real)1e-8)

static mabd_status fail(const mabd_redmax_solve* s, mabd_status status, int32_t link,
                        const char* reason) {
    s->report->link = link, s->report->reason = reason;
    return status;
}

// Failure of the loop that is most open.
static mabd_status fail_loop(const mabd_redmax_solve* s, mabd_status status) {
    mabd_redmax_largest_gap(s, &s->report->joint);
    return fail(s, status, -1, "the loop does not close at");
}

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

static void evaluate(const mabd_redmax_solve* s) {
    const double clock = mabd_clock();
    mabd_redmax_rates(s);
    mabd_redmax_residual_of_links(s);
    mabd_redmax_axes_rows(s);
    s->report->seconds[MABD_REDMAX_RESIDUAL] += mabd_clock() - clock;
}

// Factor, and solve for -r on the current branches of laws; prescribed freedoms stay.
static mabd_status solve_branches(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const double clock = mabd_clock();
    int32_t link;
    if (s->loads) mabd_redmax_load_columns(s, false);
    const mabd_status status = mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link);
    const double factored = mabd_clock();
    s->report->seconds[MABD_REDMAX_FACTOR] += factored - clock;
    if (status != MABD_OK) return fail(s, status, link, "the inertia vanishes at");
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->step[k] = -sim->rows[k];
    if (s->part->border_count == 0) {
        mabd_redmax_apply(s, sim->step, sim->step);
    } else if (mabd_redmax_border_factor(s) == MABD_OK) {
        mabd_redmax_border_solve(s);
    } else {
        return fail_loop(s, MABD_ERR_SINGULAR);
    }
    s->report->seconds[MABD_REDMAX_SOLVE] += mabd_clock() - factored;
    s->report->iterations++;
    return MABD_OK;
}

// Find the step, with laws on the branches that it is on.
static mabd_status find_step(const mabd_redmax_solve* s) {
    int32_t link, changes = 0;
    MABD_TRY(solve_branches(s));
    while (s->part->law_count > 0 && mabd_redmax_move_axes(s, changes == 0, &link)) {
        if (++changes > MABD_NEWTON_BRANCH_CHANGES * s->sim->def.max_iterations) {
            return fail(s, MABD_ERR_DIVERGED, link, "stops, drives and friction do not settle at");
        }
        evaluate(s);
        MABD_TRY(solve_branches(s));
    }
    return MABD_OK;
}

static void set_weights(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const int32_t own = k - sim->links[sim->freedoms[k].link].first;
        const mabd_real pivot = s->part->law_count > 0 || mabd_redmax_is_lean(s)
                                    ? sim->stiff[k]
                                    : sim->D[3 * (size_t)k + own];
        sim->weight[k] = sim->freedoms[k].prescribed ? 0 : 1 / (mabd_real)fabs(pivot);
    }
    if (s->part->row_count > 0) mabd_redmax_set_row_weights(s);
}

mabd_real mabd_redmax_merit(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[k];
        const bool coordinate = f->held && !f->prescribed; // the row is one of q, not of forces
        const mabd_real weight = coordinate ? 1 / sim->weight[k] : sim->weight[k];
        sum += sim->rows[k] * sim->rows[k] * weight;
    }
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        sum += sim->loops.gap[r] * sim->loops.gap[r] * sim->loops.weight[r];
    }
    return sum;
}

mabd_real mabd_redmax_step_size(const mabd_redmax_solve* s, int32_t* at) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real most = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        const mabd_real size = (mabd_real)fabs(sim->step[k]) / sim->freedoms[k].length;
        if (!(size <= most)) most = size, *at = sim->freedoms[k].link;
    }
    return most;
}

static void move(const mabd_redmax_solve* s, mabd_real alpha) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] = sim->trial[k] + alpha * sim->step[k];
    }
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        sim->loops.force[r] = sim->loops.trial[r] + alpha * sim->loops.step[r];
    }
    evaluate(s);
}

// Keep the iterate as the start of a search.
static void keep(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, row = (size_t)s->part->row_first;
    memcpy(sim->trial + first, sim->q + first, (size_t)s->part->freedom_count * sizeof *sim->q);
    memcpy(sim->loops.trial + row, sim->loops.force + row,
           (size_t)s->part->row_count * sizeof *sim->q);
}

// Go back to the start of a search.
static void go_back(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first, row = (size_t)s->part->row_first;
    memcpy(sim->q + first, sim->trial + first, (size_t)s->part->freedom_count * sizeof *sim->q);
    memcpy(sim->loops.force + row, sim->loops.trial + row,
           (size_t)s->part->row_count * sizeof *sim->q);
}

// True if the step from the start of a search, which is too long, may be taken by lifted iterates:
// they know no branches of laws and no bounds of pins.
static bool may_lift(const mabd_redmax_solve* s) {
    return s->part->law_count == 0 && !s->loads;
}

// Solve the stage by lifted iterates from the start of a search, whose merit is *phi; false if that
// fails: then the step is there again.
static bool lift(const mabd_redmax_solve* s, mabd_real* phi) {
    go_back(s);
    if (mabd_redmax_solve_lifted(s, !mabd_redmax_may_sweep(s))) {
        evaluate(s);
        const mabd_real now = mabd_redmax_merit(s);
        if (now <= LIFTED * *phi) {
            *phi = now;
            return true;
        }
    }
    go_back(s);
    evaluate(s);
    find_step(s); // as before
    return false;
}

// True if the step is repeated in parts where this one fails.
static bool may_divide(const mabd_redmax_solve* s) {
    const mabd_sim_def* def = &s->sim->def;
    const mabd_real least = def->h / (mabd_real)((int32_t)1 << def->max_halvings);
    return s->h > least && !s->part->pushed;
}

/// End of a search.
typedef enum search_end { SEARCH_FAILED, SEARCH_MOVED, SEARCH_SOLVED } search_end;

// True if the merit declines by the part alpha of the step; it becomes *phi.
static bool declines(const mabd_redmax_solve* s, mabd_real alpha, mabd_real* phi) {
    move(s, alpha);
    const mabd_real now = mabd_redmax_merit(s);
    if (!(now <= *phi * (1 - MABD_NEWTON_DECLINE * alpha))) return false;
    *phi = now;
    return true;
}

// Move by the step, shortened until the merit declines. *lifts: lifted iterates are yet to be tried
// in this stage; they are where the first move does not decline, or bends.
static search_end search(const mabd_redmax_solve* s, mabd_real alpha, mabd_real* phi, bool* lifts) {
    const bool predicts = *lifts && !mabd_redmax_may_sweep(s);
    const mabd_real start = *phi;
    keep(s);
    if (predicts) mabd_redmax_predict(s, alpha);
    bool down = declines(s, alpha, phi);
    if (*lifts && (!down || (predicts && mabd_redmax_deviation(s, alpha) > DEVIATION))) {
        *lifts = false, *phi = start;
        if (lift(s, phi)) return SEARCH_SOLVED;
        if (may_divide(s)) return SEARCH_FAILED;
        down = declines(s, alpha, phi);
    }
    for (int i = 0; !down && i < MABD_NEWTON_SEARCH_MAX; i++) {
        s->report->line_searches++;
        alpha /= 2;
        down = declines(s, alpha, phi);
    }
    if (!down) s->report->line_searches++;
    return down ? SEARCH_MOVED : SEARCH_FAILED;
}

// A ball must not leave its chart: a turn by more than half pi in a step.
static mabd_status check_balls(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        if (sim->links[i].kind != MABD_PRIMITIVE_BALL) continue;
        if (mabd_redmax_is_charted(s, &sim->links[i])) {
            const char* why = mabd_redmax_leaves_chart(s, &sim->links[i]);
            if (why) return fail(s, MABD_ERR_DIVERGED, i, why);
            continue;
        }
        const mabd_real turn = mabd_v3_norm(mabd_v3_load(sim->q + sim->links[i].first));
        if (!(turn < (s->part->pushed ? IMPACT_TURN : MABD_PI / 2))) {
            return fail(s, MABD_ERR_DIVERGED, i, "more than a quarter of a turn in a step at");
        }
    }
    return MABD_OK;
}

// The end of an iteration: loops are closed, and balls in their charts. Rows that contradict each
// other, or prescribed motion that loops do not allow, let the coordinates converge and stay open.
static mabd_status check_end(const mabd_redmax_solve* s) {
    int32_t joint = -1;
    const mabd_real gap = mabd_redmax_largest_gap(s, &joint) * (s->by_rate ? s->gamma : 1);
    if (!(gap <= GAP_MAX)) return fail_loop(s, MABD_ERR_DIVERGED);
    return check_balls(s);
}

// True if rows that the stage does without have opened, so that the step needs them.
static bool opens_left_out(const mabd_redmax_solve* s) {
    int32_t joint = -1;
    return !(mabd_redmax_largest_gap(s, &joint) <= GAP_MAX);
}

// A step without a search: the last one, since the merit is at round-off, or the only one.
static void move_fully(const mabd_redmax_solve* s) {
    keep(s);
    move(s, 1);
}

mabd_status mabd_redmax_newton(const mabd_redmax_solve* s) {
    const mabd_real goal = s->sim->def.redmax.newton_tolerance;
    int32_t link = s->part->link_first;
    mabd_real phi = 0;
    bool starts = true, lifts = may_lift(s);
    if (mabd_redmax_take_lane(s)) return check_balls(s);
    mabd_redmax_start_axes(s);
    evaluate(s);
    for (int32_t i = 0; i < s->sim->def.max_iterations; i++) {
        MABD_TRY(find_step(s));
        const mabd_real size = mabd_redmax_step_size(s, &link);
        if (starts) set_weights(s);
        if (starts || s->part->law_count > 0) phi = mabd_redmax_merit(s); // branches change it
        starts = false;
        if (!isfinite(size) || !isfinite(phi)) {
            return fail(s, MABD_ERR_DIVERGED, link, "the motion is not finite at");
        }
        if (size <= goal) {
            move_fully(s);
            starts = !s->by_rate && opens_left_out(s) && mabd_redmax_take_rows_back(s);
            if (!starts) return check_end(s);
            continue;
        }
        const mabd_real alpha = size > MABD_NEWTON_STEP_LIMIT ? MABD_NEWTON_STEP_LIMIT / size : 1;
        lifts &= size >= MABD_NEWTON_NOISE;
        const search_end end = search(s, alpha, &phi, &lifts);
        if (end == SEARCH_MOVED) continue;
        if (end == SEARCH_SOLVED && (s->by_rate || !opens_left_out(s))) return check_end(s);
        if (end == SEARCH_SOLVED) {
            starts = mabd_redmax_take_rows_back(s);
            continue;
        }
        if (!(size < MABD_NEWTON_NOISE)) {
            return fail(s, MABD_ERR_DIVERGED, link, "Newton's method does not converge at");
        }
        s->report->converged = false;
        move(s, 1); // from the start of the search
        return check_end(s);
    }
    return fail(s, MABD_ERR_DIVERGED, link, "Newton's method does not converge at");
}

mabd_status mabd_redmax_newton_once(const mabd_redmax_solve* s) {
    int32_t link = s->part->link_first;
    mabd_redmax_start_axes(s);
    evaluate(s);
    MABD_TRY(find_step(s));
    if (!isfinite(mabd_redmax_step_size(s, &link))) {
        return fail(s, MABD_ERR_DIVERGED, link, "the motion is not finite at");
    }
    move_fully(s);
    return check_balls(s); // loops are closed afterwards
}

// Solve for the accelerations at the factored mass matrix, with the forces in sim->step. Rows of
// loops have no acceleration if gamma is 0; else their rates vanish after gamma.
static mabd_status solve_accelerations(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_real* rows = sim->loops.force + s->part->row_first;
    if (s->part->row_count == 0) {
        mabd_redmax_apply(s, sim->step, sim->a);
        return MABD_OK;
    }
    if (mabd_redmax_mass_border(s) != MABD_OK) return fail_loop(s, MABD_ERR_SINGULAR);
    if (!(s->gamma > 0)) mabd_redmax_row_accelerations(s, rows);
    for (int32_t r = 0; r < s->part->row_count; r++) {
        rows[r] = s->gamma > 0 ? -sim->loops.gap[s->part->row_first + r] / s->gamma : -rows[r];
    }
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->a[k] = sim->step[k];
    mabd_redmax_mass_solve(s, sim->a, rows);
    return MABD_OK;
}

static mabd_status accelerate(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->step[k] = sim->a[k]; // of prescribed freedoms
        sim->a[k] = 0;
    }
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        sim->loops.force[r] = 0;
    }
    mabd_redmax_residual(s);
    const mabd_status status = mabd_redmax_factor(s, mass, &link);
    if (status != MABD_OK) return fail(s, status, link, "the inertia vanishes at");
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        if (!sim->freedoms[k].prescribed) sim->step[k] = -sim->r[k];
    }
    MABD_TRY(solve_accelerations(s));
    mabd_redmax_residual(s);
    s->report->iterations++;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        if (!isfinite(sim->a[k])) {
            return fail(s, MABD_ERR_DIVERGED, sim->freedoms[k].link, "the motion is not finite at");
        }
    }
    return MABD_OK;
}

// Solve for the change of the accelerations, in sim->step, that leaves those of rows as they are,
// and move the forces of the rows.
static mabd_status improve_rows(const mabd_redmax_solve* s) {
    const mabd_redmax_loops* loops = &s->sim->loops;
    const size_t row = (size_t)s->part->row_first, rows = (size_t)s->part->row_count;
    if (mabd_redmax_mass_border(s) != MABD_OK) return fail_loop(s, MABD_ERR_SINGULAR);
    memset(loops->step + row, 0, rows * sizeof *loops->step);
    mabd_redmax_mass_solve(s, s->sim->step, loops->step + row);
    for (size_t k = row; k < row + rows; k++) loops->force[k] += loops->step[k];
    return MABD_OK;
}

// One iteration of Newton's method for accelerations on which bounds of pins depend; *size gets the
// largest change, relative to the accelerations. Those of rows of loops stay as they are.
static mabd_status improve(const mabd_redmax_solve* s, mabd_real* size) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_weights mass = {0, 0, 1};
    mabd_real most = 0;
    int32_t link;
    mabd_redmax_residual(s);
    mabd_redmax_load_columns(s, false);
    const mabd_status status = mabd_redmax_factor(s, mass, &link);
    if (status != MABD_OK) return fail(s, status, link, "the inertia vanishes at");
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->step[k] = sim->freedoms[k].prescribed ? 0 : -sim->r[k];
    }
    if (s->part->row_count > 0) {
        MABD_TRY(improve_rows(s));
    } else {
        mabd_redmax_apply(s, sim->step, sim->step);
    }
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->a[k] += sim->step[k];
        const mabd_real own = (mabd_real)fabs(sim->step[k]) / (1 + (mabd_real)fabs(sim->a[k]));
        if (!(own <= most)) most = own;
    }
    *size = most;
    s->report->iterations++;
    return isfinite(most)
               ? MABD_OK
               : fail(s, MABD_ERR_DIVERGED, s->part->link_first, "the motion is not finite at");
}

mabd_status mabd_redmax_accelerate(const mabd_redmax_solve* own) {
    mabd_redmax_solve s = *own;
    mabd_real size = (mabd_real)INFINITY;
    if (!s.part->pins) return accelerate(own);
    if (s.part->row_count > 0) MABD_TRY(accelerate(own)); // with the bounds of before
    s.loads = true;                                       // explicit methods have no dry friction
    for (int32_t i = 0; i < s.sim->def.max_iterations && size > ACCELERATED; i++) {
        const mabd_real last = size;
        MABD_TRY(improve(&s, &size));
        if (size < MABD_NEWTON_NOISE && !(size < last)) break;
    }
    s.report->converged &= size < MABD_NEWTON_NOISE;
    mabd_redmax_residual(&s);
    return MABD_OK;
}
