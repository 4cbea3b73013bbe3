// SPDX-License-Identifier: Apache-2.0
// The bordered Newton system of loops: along the step (dq, dlambda) that it gives, the residuals of
// motion and rows change by minus themselves, by differences of fourth order. So every term of the
// matrix is there: tree, rows, forces that turn with one body and with two.

#include "support/redmax_case.h"
#include "support/sanitized.h"

#include "formulation/redmax/redmax_loops.h"

#define FREEDOMS 64
#define ROWS     64

/// Residuals of an iterate.
typedef struct residuals {
    double r[FREEDOMS], gap[ROWS];
} residuals;

static residuals evaluate(const redmax_case* c, const mabd_real* q, const mabd_real* force,
                          double along) {
    mabd_redmax_sim* sim = c->inside;
    const mabd_redmax_part* part = c->solve.part;
    residuals out;
    for (int i = 0; i < part->freedom_count; i++) sim->q[i] = q[i] + along * sim->step[i];
    for (int i = 0; i < part->row_count; i++) {
        sim->loops.force[i] = force[i] + along * sim->loops.step[i];
    }
    mabd_redmax_rates(&c->solve);
    mabd_redmax_residual(&c->solve);
    for (int i = 0; i < part->freedom_count; i++) out.r[i] = sim->r[i];
    for (int i = 0; i < part->row_count; i++) out.gap[i] = sim->loops.gap[i];
    return out;
}

// Error of the derivative along the step, relative to the sizes of residuals and rows.
static double step_error(redmax_case* c) {
    mabd_redmax_sim* sim = c->inside;
    const mabd_redmax_part* part = c->solve.part;
    mabd_real q[FREEDOMS], force[ROWS];
    double most = 0, size_r = 0, size_gap = 0, error_r = 0, error_gap = 0;
    int32_t link;
    for (int i = 0; i < part->freedom_count; i++) q[i] = sim->q[i], sim->step[i] = 0;
    for (int i = 0; i < part->row_count; i++) {
        force[i] = 20 * random_real(&c->state), sim->loops.step[i] = 0;
    }
    const residuals start = evaluate(c, q, force, 0);
    rig_check(mabd_redmax_factor(&c->solve, mabd_redmax_stage_weights(c->solve.gamma), &link),
              &(mabd_error){0}, "factor");
    for (int i = 0; i < part->freedom_count; i++) sim->step[i] = -sim->r[i];
    rig_check(mabd_redmax_border_factor(&c->solve), &(mabd_error){0}, "border");
    mabd_redmax_border_solve(&c->solve);
    const mabd_real* left = sim->loops.rest; // of rows that contradict each other
    for (int i = 0; i < part->freedom_count; i++) most = fmax(most, fabs(sim->step[i]));
    const double e = 3e-4 / most, at[4] = {-2 * e, -e, e, 2 * e}, weight[4] = {1, -8, 8, -1};
    double dr[FREEDOMS] = {0}, dgap[ROWS] = {0};
    for (int k = 0; k < 4; k++) {
        const residuals there = evaluate(c, q, force, at[k]);
        for (int i = 0; i < part->freedom_count; i++) dr[i] += weight[k] * there.r[i] / (12 * e);
        for (int i = 0; i < part->row_count; i++) dgap[i] += weight[k] * there.gap[i] / (12 * e);
    }
    for (int i = 0; i < part->freedom_count; i++) {
        size_r = fmax(size_r, fabs(start.r[i]) + fabs(dr[i]));
        error_r = fmax(error_r, fabs(dr[i] + start.r[i]));
    }
    for (int i = 0; i < part->row_count; i++) {
        size_gap = fmax(size_gap, fabs(start.gap[i]) + fabs(left[i]));
        error_gap = fmax(error_gap, fabs(dgap[i] + start.gap[i] + left[i]));
    }
    return fmax(error_r / size_r, error_gap / size_gap);
}

static void check_scenes(bool by_rate, double bound) {
    const random_pattern patterns[3] = {RANDOM_RING, RANDOM_LOOPS, RANDOM_LADDER};
    int slides = 0, turns = 0, cases = 0;
    double worst = 0;
    for (uint64_t seed = 0; seed < AMOUNT(60, 9); seed++) {
        const random_scene_def def = {.seed = seed,
                                      .pattern = patterns[seed % 3],
                                      .bodies = 6,
                                      .grounded = seed % 2 == 0,
                                      .wide = true,
                                      .mass_range = 3};
        redmax_case c = redmax_case_make(&def, seed % 4 == 0);
        const mabd_redmax_part* part = &c.inside->parts[0];
        if (part->cut_count > 0 && part->freedom_count <= FREEDOMS && part->row_count <= ROWS) {
            redmax_case_draw(&c, (mabd_real)0.05);
            c.solve.by_rate = by_rate;
            const double error = step_error(&c);
            cr_expect(error < bound, "seed %d: %g", (int)seed, error);
            worst = fmax(worst, error), cases++;
            for (int i = 0; i < part->cut_count; i++) {
                slides += c.inside->loops.cuts[i].turn_count == 6;
                turns += c.inside->loops.cuts[i].turn_count == 3;
            }
        }
        redmax_case_free(&c);
    }
    printf("%d cases, cut joints with slide rows %d, with cross rows only %d: error %.1e\n", cases,
           slides, turns, worst);
    cr_expect(cases >= AMOUNT(30, 3) && slides > 0 && turns > 0);
}

Test(redmax_border, newton_steps_of_closed_poses_remove_the_residuals) {
    check_scenes(false, 1e-6);
}

Test(redmax_border, newton_steps_of_closed_rates_remove_the_residuals) {
    check_scenes(true, 1e-6);
}
