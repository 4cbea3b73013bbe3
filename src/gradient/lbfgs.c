// SPDX-License-Identifier: Apache-2.0
//   repeat   xbar = minimiser of the model inside the bounds,  d = xbar - x
//            x += a d with a from the line search, a = 1 first; s = a d, y = change of the gradient
// The first direction has no curvature: its first step has length 1 at most. If a line brings
// nothing, the pairs are forgotten once and the way of the projected gradient is tried.
#include "gradient/lbfgs.h"

#include "base/error.h"
#include "gradient/lbfgs_model.h"
#include "gradient/wolfe_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LINE_EVALUATIONS 30 // a bisected line of a double is exhausted after 52

typedef struct minimizer {
    const mabd_lbfgs_def* def;
    mabd_lbfgs_model model;
    mabd_optimize_info* info;
    mabd_real *x, *g, *d;       // (n) iterate, its gradient, direction
    mabd_real *trial, *trial_g; // (n) last point that was evaluated
    mabd_real value, trial_value, step;
    mabd_arena arena;
} minimizer;

static void lay_out(minimizer* m) {
    const size_t n = (size_t)m->def->n;
    mabd_real** arrays[] = {&m->x, &m->g, &m->d, &m->trial, &m->trial_g};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = (mabd_real*)mabd_arena_take(&m->arena, n, sizeof(mabd_real));
    }
    mabd_lbfgs_model_layout(&m->model, &m->arena);
}

static mabd_real inside(const mabd_lbfgs_def* def, int32_t i, mabd_real x) {
    return x < def->lower[i] ? def->lower[i] : x > def->upper[i] ? def->upper[i] : x;
}

// Largest entry of P(x - g) - x.
static mabd_real projected_gradient(const minimizer* m) {
    mabd_real largest = 0;
    for (int32_t i = 0; i < m->def->n; i++) {
        const mabd_real way = (mabd_real)fabs(inside(m->def, i, m->x[i] - m->g[i]) - m->x[i]);
        if (!(way <= largest)) largest = way;
    }
    return largest;
}

// Evaluate at m->trial.
static mabd_status evaluate(minimizer* m, mabd_error* error) {
    m->info->runs++;
    const mabd_status status =
        m->def->evaluate(m->def->user, m->trial, &m->trial_value, m->trial_g, error);
    if (status != MABD_OK) return status;
    mabd_real sum = m->trial_value;
    for (int32_t i = 0; i < m->def->n; i++) sum += (mabd_real)fabs(m->trial_g[i]);
    if (isfinite(sum)) return MABD_OK;
    return mabd_fail(error, MABD_ERR_DIVERGED, "the loss or its gradient is not finite");
}

// x + step d inside the bounds; round-off away from a bound is the bound.
static mabd_real stepped(const minimizer* m, int32_t i, mabd_real step) {
    const mabd_real d = m->d[i], x = inside(m->def, i, m->x[i] + step * d);
    const mabd_real bound = d > 0 ? m->def->upper[i] : m->def->lower[i];
    const mabd_real noise = 4 * (mabd_real)DBL_EPSILON * (mabd_real)fabs(step * d);
    return d != 0 && isfinite(bound) && fabs(bound - x) <= noise ? bound : x;
}

static mabd_status along_line(void* user, mabd_real step, mabd_real* value, mabd_real* slope,
                              mabd_error* error) {
    minimizer* m = (minimizer*)user;
    *slope = 0;
    for (int32_t i = 0; i < m->def->n; i++) m->trial[i] = stepped(m, i, step);
    MABD_TRY(evaluate(m, error));
    *value = m->trial_value;
    for (int32_t i = 0; i < m->def->n; i++) *slope += m->trial_g[i] * m->d[i];
    return MABD_OK;
}

// Longest step along d inside the bounds.
static mabd_real longest_step(const minimizer* m) {
    mabd_real longest = (mabd_real)1e10;
    for (int32_t i = 0; i < m->def->n; i++) {
        const mabd_real d = m->d[i];
        const mabd_real bound = d > 0 ? m->def->upper[i] : m->def->lower[i];
        if (d != 0 && isfinite(bound) && (bound - m->x[i]) / d < longest) {
            longest = (bound - m->x[i]) / d;
        }
    }
    return longest > 1 ? longest : 1;
}

// Fill d with the way to the minimiser of the model and return g'd; 0 if there is none.
static mabd_real find_direction(minimizer* m) {
    mabd_real slope = 0;
    if (!mabd_lbfgs_model_minimize(&m->model, m->x, m->g, m->d)) return 0;
    for (int32_t i = 0; i < m->def->n; i++) {
        m->d[i] -= m->x[i];
        slope += m->g[i] * m->d[i];
    }
    return slope;
}

// Search along d. *found tells whether a lower point is in trial; m->step has its length.
static mabd_status search(minimizer* m, mabd_real slope, bool* found, mabd_error* error) {
    mabd_search_result result;
    mabd_real norm = 0;
    for (int32_t i = 0; i < m->def->n; i++) norm += m->d[i] * m->d[i];
    norm = (mabd_real)sqrt(norm);
    const mabd_search_def line = {.value = m->value,
                                  .slope = slope,
                                  .first = m->model.count > 0 || norm < 1 ? 1 : 1 / norm,
                                  .longest = longest_step(m),
                                  .max_evaluations = LINE_EVALUATIONS,
                                  .evaluate = along_line,
                                  .user = m};
    *found = false;
    MABD_TRY(mabd_line_search(&line, &result, error));
    if (result.step == 0) return result.failure;
    m->step = result.step;
    *found = true;
    if (result.wolfe) return MABD_OK; // the last point that was evaluated
    mabd_real value, last;
    return along_line(m, result.step, &value, &last, error);
}

// Move to trial and take in the pair.
static void accept(minimizer* m) {
    for (int32_t i = 0; i < m->def->n; i++) {
        m->d[i] = m->trial[i] - m->x[i];
        const mabd_real y = m->trial_g[i] - m->g[i];
        m->x[i] = m->trial[i], m->g[i] = m->trial_g[i];
        m->trial_g[i] = y;
    }
    mabd_lbfgs_model_add(&m->model, m->d, m->trial_g);
    m->value = m->trial_value;
}

// One iteration. *found is false if no direction brings anything.
static mabd_status iterate(minimizer* m, bool* found, mabd_error* error) {
    mabd_status status = MABD_OK;
    *found = false;
    for (int attempt = 0; attempt < 2 && !*found; attempt++) {
        const bool fresh = m->model.count == 0;
        const mabd_real slope = find_direction(m);
        if (slope < 0) {
            status = search(m, slope, found, error);
            if (status != MABD_OK && status != MABD_ERR_DIVERGED) return status;
        }
        if (*found) break;
        if (fresh) return status;
        mabd_lbfgs_model_clear(&m->model);
    }
    if (*found) accept(m);
    return *found ? MABD_OK : status;
}

static bool tell(minimizer* m) {
    m->info->loss = m->value;
    m->info->gradient = projected_gradient(m);
    const mabd_optimize_step step = {.iteration = m->info->iterations,
                                     .runs = m->info->runs,
                                     .loss = m->value,
                                     .gradient = m->info->gradient,
                                     .step = m->step,
                                     .parameters = m->x};
    return !m->def->progress || m->def->progress(m->def->user, &step);
}

// True if the minimisation ends here; info->reason says why.
static bool is_over(minimizer* m, bool going) {
    mabd_optimize_info* info = m->info;
    if (!going) {
        info->reason = MABD_STOP_USER;
    } else if (info->gradient <= m->def->gradient_tolerance) {
        info->reason = MABD_STOP_GRADIENT;
    } else if (m->def->loss_tolerance > 0 && m->value <= m->def->loss_tolerance) {
        info->reason = MABD_STOP_LOSS;
    } else if (info->iterations >= m->def->max_iterations) {
        info->reason = MABD_STOP_ITERATIONS;
    } else {
        return false;
    }
    return true;
}

static mabd_status run(minimizer* m, mabd_error* error) {
    MABD_TRY(evaluate(m, error));
    memcpy(m->x, m->trial, (size_t)m->def->n * sizeof *m->x);
    memcpy(m->g, m->trial_g, (size_t)m->def->n * sizeof *m->g);
    m->value = m->info->first_loss = m->trial_value;
    while (!is_over(m, tell(m))) {
        const mabd_real before = m->value;
        bool found;
        MABD_TRY(iterate(m, &found, error));
        if (found) m->info->iterations++;
        if (found && m->value < before) continue;
        if (found) tell(m);
        m->info->reason = MABD_STOP_FLAT;
        return MABD_OK;
    }
    return MABD_OK;
}

mabd_status mabd_lbfgs(const mabd_lbfgs_def* def, mabd_real* x, mabd_optimize_info* info,
                       mabd_error* error) {
    minimizer m = {.def = def, .info = info};
    m.model = (mabd_lbfgs_model){
        .n = def->n, .memory = def->memory, .lower = def->lower, .upper = def->upper};
    *info = (mabd_optimize_info){.reason = MABD_STOP_FLAT};
    lay_out(&m);
    if (mabd_arena_allocate(&def->allocator, &m.arena) != MABD_OK) {
        return mabd_fail_memory(error, "optimising");
    }
    lay_out(&m);
    mabd_lbfgs_model_clear(&m.model);
    for (int32_t i = 0; i < def->n; i++) m.trial[i] = m.x[i] = inside(def, i, x[i]);
    const mabd_status status = run(&m, error);
    memcpy(x, m.x, (size_t)def->n * sizeof *x);
    mabd_free(&def->allocator, m.arena.memory, m.arena.size);
    return status;
}
