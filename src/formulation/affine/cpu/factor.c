// SPDX-License-Identifier: Apache-2.0
// Factor and solve K lambda = b, component by component, with the selected solver.
//
// Threads: components are independent. Consecutive components form a group of at least
// MABD_GROUP_ROWS rows, the unit of work of one thread; groups depend on the plan only. A component
// with a large part of all rows would leave the other threads idle: if its solver supports threads,
// it is solved after the groups, with all threads. Neither changes bits, because solvers give the
// same result with any number of threads. If several components fail, the first one is reported.

#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/condense_chain.h"
#include "formulation/affine/cpu/reduced_chain.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/report.h"

#include <string.h>

// Rows beyond the 12 degrees of freedom of an affine body (three welds between two bodies) make K
// singular even with elasticity. In such a component each row then gives way by this fraction of
// its own compliance: enough for positive pivots, and 1e-10 of a correction is at the round-off of
// a position. Forces of redundant rows against each other are known only up to round-off divided by
// this number: at 1e-12 the error reached three times the weight of a door.
//
// The factored matrix is K + S, S = softness diag(K). The rows keep a residual S x, which for a
// mechanism with many redundant rows is 1e-11 of its levers and loads: more than a tight row
// tolerance allows, regardless of the number of iterations. A second solve removes it,
//
//   x1 = (K + S)^-1 b,   b - K x1 = S x1,   x2 = x1 + (K + S)^-1 S x1
//
// and leaves S (K + S)^-1 S x1. If n is a vector of rows that act against each other, K n = 0, then
// n'b = 0 for rows that can be closed and so n'S x1 = 0: the distribution of the load among them
// does not change.

// Soften joints between junctions. They have no compliance of their own: about J diag(H)^-1 J' is
// added when a junction is eliminated. The second solve does not remove this residual.
static void soften_late(const mabd_dual_system* system, int32_t edge) {
    int32_t s = system->from[edge] - system->slot_offset,
            t = system->to[edge] - system->slot_offset;
    const bool after = system->negative[s];
    if (after) {
        const int32_t junction = s;
        s = t, t = junction;
    }
    if (!system->late[s] || !system->negative[t]) return;
    const int32_t w = system->width[s], v = system->width[t];
    mabd_real* D = system->D + system->block[s];
    const mabd_real *H = system->D + system->block[t], *U = system->U + system->edge_block[edge];
    for (int32_t r = 0; r < w; r++) {
        for (int32_t k = 0; k < v; k++) {
            const mabd_real J = U[after ? k * w + r : r * v + k];
            D[r * w + r] -= MABD_REDUNDANT_SOFTNESS * J * J / H[k * v + k];
        }
    }
}

static void soften(const mabd_dual_system* system) {
    for (int32_t s = 0; s < system->slot_count; s++) {
        mabd_real* D = system->D + system->block[s];
        const int32_t width = system->width[s];
        for (int32_t r = 0; r < width; r++) D[r * width + r] *= 1 + MABD_REDUNDANT_SOFTNESS;
    }
    for (int32_t e = 0; system->late && e < system->edge_count; e++) soften_late(system, e);
}

// rest = S x
static void softened_rest(const mabd_dual_system* system, const mabd_real* x, mabd_real* rest) {
    const mabd_real part =
        MABD_REDUNDANT_SOFTNESS / (1 + MABD_REDUNDANT_SOFTNESS); // D is softened already
    for (int32_t s = 0; s < system->slot_count; s++) {
        const mabd_real* D = system->D + system->block[s];
        const int32_t width = system->width[s], row = system->row[s] - system->row_offset;
        for (int32_t r = 0; r < width; r++) rest[row + r] = part * D[r * width + r] * x[row + r];
    }
}

// Solve with the factor of a component, and remove the residual of softened rows. rest: factor has
// processed the right-hand side already, so only the rest of the solve is done.
static void solve(const mabd_affine_sim* sim, int32_t component, const mabd_dual_system* system,
                  bool rest, mabd_real* x) {
    const mabd_dual_ops* ops = sim->duals[component];
    if (rest && ops->solve_rest) {
        ops->solve_rest(sim->solvers[component], system, x);
    } else {
        ops->solve(sim->solvers[component], system, x);
    }
    if (!sim->softened[component]) return;
    mabd_real* taken = sim->rest + system->row_offset;
    softened_rest(system, x, taken);
    ops->solve(sim->solvers[component], system, taken);
    for (int32_t r = 0; r < system->row_count; r++) x[r] += taken[r];
}

// True if contacts solve the component again with the original right-hand side; it must then stay
// out of the factorisation.
static bool is_solved_again(const mabd_affine_sim* sim, int32_t component) {
    const mabd_affine_contacts* c = sim->contacts;
    return c && c->by_component.met[component] &&
           c->rows.contacts.count + c->support.contacts.count > 0;
}

// Factor a component, together with the right-hand side of the next solve where the solver can use
// it.
static mabd_status factor(mabd_affine_sim* sim, int32_t component, const mabd_dual_system* system,
                          int32_t* bad) {
    const mabd_dual_ops* ops = sim->duals[component];
    void* solver = sim->solvers[component];
    if (mabd_affine_reduced_chain_is(sim, component))
        return mabd_affine_reduced_chain_factor(sim, component, bad);
    if (!ops->factor_with || is_solved_again(sim, component)) {
        return ops->factor(solver, system, bad);
    }
    return ops->factor_with(solver, system, sim->lambda + system->row_offset, bad);
}

// ---- groups ----

static int32_t rows_of(const mabd_plan* plan, int32_t component) {
    const mabd_plan_component* c = &plan->components[component];
    return plan->slot_row[c->slot_first + c->slot_count] - plan->slot_row[c->slot_first];
}

int32_t mabd_affine_find_groups(const mabd_plan* plan, mabd_affine_group* groups) {
    int32_t count = 0, first = 0;
    int64_t weight = 0; // rows, plus one for each component
    for (int32_t i = 0; i < plan->component_count; i++) {
        const int32_t rows = rows_of(plan, i);
        if (i > first && rows >= MABD_GROUP_ROWS) {
            if (groups) groups[count] = (mabd_affine_group){.first = first, .last = i};
            count++, first = i, weight = 0;
        }
        weight += rows + 1;
        if (weight < MABD_GROUP_ROWS && i + 1 < plan->component_count) continue;
        if (groups) groups[count] = (mabd_affine_group){.first = first, .last = i + 1};
        count++, first = i + 1, weight = 0;
    }
    return count;
}

static bool is_shared(const mabd_affine_sim* sim, const mabd_affine_group* group) {
    if (!sim->pool || group->last != group->first + 1) return false;
    const mabd_dual_ops* ops = sim->duals[group->first];
    const int64_t rows = rows_of(sim->model->plan, group->first);
    return ops && ops->shares_work && rows >= MABD_SHARED_ROWS &&
           rows * MABD_SHARED_SHARE >= sim->model->plan->row_count;
}

typedef void (*group_work)(mabd_affine_sim* sim, mabd_affine_group* group, mabd_pool* pool);

typedef struct group_job {
    mabd_affine_sim* sim;
    group_work work;
} group_job;

static void do_group(void* context, int32_t part, int32_t thread) {
    const group_job* job = context;
    mabd_affine_group* group = &job->sim->groups[part];
    (void)thread;
    if (!is_shared(job->sim, group)) job->work(job->sim, group, NULL);
}

static void run_groups(mabd_affine_sim* sim, group_work work) {
    const int32_t count = (int32_t)sim->sizes.groups;
    group_job job = {sim, work};
    mabd_pool_run(sim->pool, count, do_group, &job);
    for (int32_t i = 0; sim->pool && i < count; i++) {
        if (is_shared(sim, &sim->groups[i])) work(sim, &sim->groups[i], sim->pool);
    }
}

// ---- factor ----

static mabd_status factor_component(mabd_affine_sim* sim, int32_t component, mabd_pool* pool,
                                    int32_t* joint) {
    const mabd_dual_ops* ops = sim->duals[component];
    if (!ops) return MABD_OK;
    mabd_dual_system system = mabd_affine_dual_system(sim, component);
    const mabd_affine_condensed_part part = mabd_affine_condense_part(sim, component);
    int32_t bad = 0;
    system.pool = pool;
    if (part == MABD_CONDENSED_DONE) return MABD_OK;
    if (part == MABD_CONDENSED_COPY) mabd_affine_condense_restore(sim, component);
    mabd_status status =
        part == MABD_CONDENSED_CHAIN    ? mabd_affine_condense_chain_factor(sim, component, &bad)
        : part == MABD_CONDENSED_SOLVER ? mabd_affine_condense_factor(sim, component, &system, &bad)
                                        : factor(sim, component, &system, &bad);
    sim->softened[component] = status == MABD_ERR_SINGULAR && ops->keeps_system;
    if (sim->softened[component]) {
        soften(&system);
        status = factor(sim, component, &system, &bad);
    }
    if (status != MABD_OK)
        *joint = mabd_affine_joint_near(sim->model->plan, system.slot_offset + bad);
    return status;
}

static void factor_group(mabd_affine_sim* sim, mabd_affine_group* group, mabd_pool* pool) {
    group->status = MABD_OK;
    for (int32_t i = group->first; i < group->last && group->status == MABD_OK; i++) {
        group->status = factor_component(sim, i, pool, &group->joint);
    }
}

mabd_status mabd_affine_factor(mabd_affine_sim* sim, int32_t* joint) {
    run_groups(sim, factor_group);
    for (size_t i = 0; i < sim->sizes.groups; i++) {
        if (sim->groups[i].status == MABD_OK) continue;
        *joint = sim->groups[i].joint;
        return sim->groups[i].status;
    }
    return MABD_OK;
}

// ---- solve ----

static void iterate(mabd_affine_sim* sim, int32_t component, const mabd_dual_system* system,
                    mabd_dual_report* sum) {
    const mabd_dual_goal goal = mabd_affine_dual_goal(sim->gap_tolerance);
    mabd_dual_report report;
    mabd_real *lambda = sim->lambda + system->row_offset, *x = sim->guess + system->row_offset;
    sim->duals[component]->iterate(sim->solvers[component], system, &goal, lambda, x, &report);
    memcpy(lambda, x, (size_t)system->row_count * sizeof(mabd_real));
    mabd_affine_dual_report_add(sum, &report);
}

static void solve_component(mabd_affine_sim* sim, int32_t component, mabd_pool* pool,
                            mabd_dual_report* report) {
    if (!sim->duals[component]) return;
    mabd_dual_system system = mabd_affine_dual_system(sim, component);
    const mabd_affine_condensed_part part = mabd_affine_condense_part(sim, component);
    system.pool = pool;
    if (part == MABD_CONDENSED_DONE) return;
    if (part == MABD_CONDENSED_CHAIN) {
        mabd_affine_condense_chain_solve(sim, component);
    } else if (part == MABD_CONDENSED_SOLVER) {
        sim->duals[component]->rounds->solve(sim->solvers[component], &system,
                                             sim->lambda + system.row_offset);
    } else if (mabd_affine_reduced_chain_is(sim, component)) {
        mabd_affine_reduced_chain_solve(sim, component);
    } else if (sim->duals[component]->iterate) {
        iterate(sim, component, &system, report);
    } else {
        solve(sim, component, &system, !is_solved_again(sim, component),
              sim->lambda + system.row_offset);
    }
}

static void solve_group(mabd_affine_sim* sim, mabd_affine_group* group, mabd_pool* pool) {
    group->report = (mabd_dual_report){0, 0};
    for (int32_t i = group->first; i < group->last; i++) {
        solve_component(sim, i, pool, &group->report);
    }
}

mabd_status mabd_affine_solve_component(mabd_affine_sim* sim, int32_t component, int32_t* joint) {
    MABD_TRY(factor_component(sim, component, sim->pool, joint));
    solve_component(sim, component, sim->pool, &sim->dual_report);
    return MABD_OK;
}

void mabd_affine_solve_dual(mabd_affine_sim* sim) {
    run_groups(sim, solve_group);
    sim->dual_report = (mabd_dual_report){0, 0};
    for (size_t i = 0; i < sim->sizes.groups; i++) {
        mabd_affine_dual_report_add(&sim->dual_report, &sim->groups[i].report);
    }
}

void mabd_affine_solve_again(mabd_affine_sim* sim, int32_t component) {
    const mabd_dual_ops* ops = sim->duals[component];
    if (!ops) return;
    const mabd_dual_system system = mabd_affine_dual_system(sim, component);
    if (!ops->iterate) {
        solve(sim, component, &system, false, sim->lambda + system.row_offset);
        return;
    }
    memset(sim->guess + system.row_offset, 0, (size_t)system.row_count * sizeof(mabd_real));
    iterate(sim, component, &system, &sim->dual_report);
}

void mabd_affine_restart(mabd_affine_sim* sim) {
    if (sim->sizes.guess == 0) return;
    memcpy(sim->guess, sim->lambda_last, sim->sizes.guess * sizeof(mabd_real));
    for (int32_t i = 0; i < sim->model->plan->component_count; i++) {
        if (sim->solvers[i] && sim->duals[i]->restart) sim->duals[i]->restart(sim->solvers[i]);
    }
}

bool mabd_affine_iterates(const mabd_affine_sim* sim) {
    for (int32_t i = 0; sim->sizes.guess > 0 && i < sim->model->plan->component_count; i++) {
        if (sim->duals[i] && sim->duals[i]->iterate) return true;
    }
    return false;
}
