// SPDX-License-Identifier: Apache-2.0
// The symmetric matrix K = G M^-1 G' + c of rows at one node, by the dual solvers of the plan: the
// frozen matrix of a substep, and that of velocities.

#include "base/clock.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/component_dual.h"
#include "rigid/mobility.h"

#include <string.h>

/// Goal of iterative solvers relative to the row tolerance over h, and their budget.
#define GOAL_PART           ((mabd_real)0.01)
#define GOAL_MAX_ITERATIONS 2000

static mabd_rigid_mobility mobility_of(const mabd_variational_sim* sim) {
    const mabd_rigid_mobility K = {sim->model, sim->plan, sim->G, sim->compliance, sim->D, sim->U};
    return K;
}

mabd_status mabd_variational_factor(const mabd_variational_solve* s, int32_t* joint) {
    mabd_variational_sim* sim = s->sim;
    const mabd_rigid_mobility K = mobility_of(sim);
    const double clock = mabd_clock();
    mabd_status status = MABD_OK;
    for (int32_t i = 0; i < s->island->component_count && status == MABD_OK; i++) {
        const int32_t c = s->island->components[i];
        int32_t bad = 0;
        if (!sim->ops[c]) continue;
        const mabd_dual_system system = mabd_rigid_dual_system(sim->plan, c, sim->D, sim->U);
        mabd_rigid_mobility_assemble(&K, c);
        if (sim->ops[c]->restart) sim->ops[c]->restart(sim->solvers[c]);
        status = sim->ops[c]->factor(sim->solvers[c], &system, &bad);
        *joint = sim->plan->slot_joint[sim->plan->components[c].slot_first + bad];
    }
    s->report->factor_seconds += mabd_clock() - clock;
    return status;
}

static void iterate(const mabd_variational_solve* s, int32_t c, const mabd_dual_system* system) {
    mabd_variational_sim* sim = s->sim;
    mabd_real *b = sim->work + system->row_offset, *x = sim->b + system->row_offset;
    const size_t bytes = (size_t)system->row_count * sizeof *x;
    const mabd_dual_goal goal = {GOAL_PART * sim->def.row_tolerance / s->h, GOAL_MAX_ITERATIONS};
    mabd_dual_report report = {0, 0};
    memcpy(b, x, bytes);
    memset(x, 0, bytes);
    sim->ops[c]->iterate(sim->solvers[c], system, &goal, b, x, &report);
    s->report->dual_iterations += report.iterations;
    const mabd_real left = report.residual * s->h;
    if (left > s->report->dual_residual) s->report->dual_residual = left;
}

void mabd_variational_solve_rows(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    const mabd_rigid_mobility K = mobility_of(sim);
    const double clock = mabd_clock();
    for (int32_t i = 0; i < s->island->component_count; i++) {
        const int32_t c = s->island->components[i];
        const mabd_dual_ops* ops = sim->ops[c];
        if (!ops) continue;
        const mabd_dual_system system = mabd_rigid_dual_system(sim->plan, c, sim->D, sim->U);
        if (ops->iterate) {
            iterate(s, c, &system);
        } else if (mabd_rigid_may_be_redundant(&sim->plan->components[c])) {
            mabd_rigid_mobility_solve(&K, c, ops, sim->solvers[c], &system, sim->b, sim->work);
        } else {
            ops->solve(sim->solvers[c], &system, sim->b + system.row_offset);
        }
    }
    s->report->solve_seconds += mabd_clock() - clock;
}
