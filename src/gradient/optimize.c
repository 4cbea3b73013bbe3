// SPDX-License-Identifier: Apache-2.0
// mabd_optimize: the optimiser of lbfgs.h on a gradient, in the variables value / scale, so that
// parameters of different units weigh alike. The derivative by value / scale is scale times that by
// the value.
#include "base/error.h"
#include "gradient/gradient_defs.h"
#include "gradient/gradient_run.h"
#include "gradient/lbfgs.h"

#include <math.h>

typedef struct optimization {
    mabd_gradient* gradient;
    const mabd_optimize_def* def;
    int32_t count;
    const mabd_parameter* parameters;
    mabd_real *x, *lower, *upper, *values; // (count); values = x * scale
    bool started;                          // the run at the start has succeeded
} optimization;

static void lay_out(optimization* o, mabd_arena* arena) {
    mabd_real** arrays[] = {&o->x, &o->lower, &o->upper, &o->values};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = (mabd_real*)mabd_arena_take(arena, (size_t)o->count, sizeof(mabd_real));
    }
}

// Values of scaled variables. A variable at its bound gives the bound, without round-off.
static void to_values(const optimization* o, const mabd_real* x, mabd_real* values) {
    for (int32_t i = 0; i < o->count; i++) {
        const mabd_parameter* p = &o->parameters[i];
        values[i] = x[i] * p->scale;
        if (x[i] <= o->lower[i]) values[i] = p->lower;
        if (x[i] >= o->upper[i]) values[i] = p->upper;
    }
}

static mabd_status evaluate(void* user, const mabd_real* x, mabd_real* value, mabd_real* gradient,
                            mabd_error* error) {
    optimization* o = (optimization*)user;
    mabd_gradient_info info;
    to_values(o, x, o->values);
    const mabd_status status = mabd_gradient_run(o->gradient, o->values, gradient, &info, error);
    // joints that cannot be closed, a mass below 0: the step was too long
    if (status == MABD_ERR_INPUT && o->started) return MABD_ERR_DIVERGED;
    MABD_TRY(status);
    o->started = true;
    *value = info.loss;
    for (int32_t i = 0; i < o->count; i++) gradient[i] *= o->parameters[i].scale;
    return MABD_OK;
}

static bool report(void* user, const mabd_optimize_step* step) {
    const optimization* o = (const optimization*)user;
    mabd_optimize_step shown = *step;
    to_values(o, step->parameters, o->values);
    shown.parameters = o->values;
    return !o->def->progress || o->def->progress(o->def->user, &shown);
}

static mabd_status check(const mabd_gradient* gradient, const mabd_optimize_def* def,
                         const mabd_real* p, mabd_error* error) {
    if (!gradient || !def || !p) return mabd_fail(error, MABD_ERR_ARG, "a null argument");
    if (def->cookie != MABD_OPTIMIZE_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the definition does not come from mabd_default_optimize_def");
    }
    if (def->max_iterations < 1 || def->memory < 1 || !(def->gradient_tolerance >= 0) ||
        !(def->loss_tolerance >= 0)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "max_iterations and memory must be >= 1, the tolerances >= 0");
    }
    for (int32_t i = 0; i < gradient->def.parameter_count; i++) {
        if (isfinite(p[i])) continue;
        return mabd_fail(error, MABD_ERR_ARG, "parameter %d is not finite at the start", (int)i);
    }
    if (gradient->def.parameter_count > 0) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "there are no parameters to optimise");
}

static mabd_status minimize(optimization* o, mabd_real* p, mabd_optimize_info* info,
                            mabd_error* error) {
    for (int32_t i = 0; i < o->count; i++) {
        const mabd_parameter* own = &o->parameters[i];
        o->lower[i] = own->lower / own->scale, o->upper[i] = own->upper / own->scale;
        o->x[i] = p[i] / own->scale;
    }
    const mabd_lbfgs_def def = {.n = o->count,
                                .memory = o->def->memory,
                                .max_iterations = o->def->max_iterations,
                                .lower = o->lower,
                                .upper = o->upper,
                                .gradient_tolerance = o->def->gradient_tolerance,
                                .loss_tolerance = o->def->loss_tolerance,
                                .evaluate = evaluate,
                                .progress = report,
                                .user = o,
                                .allocator = o->gradient->allocator};
    const mabd_status status = mabd_lbfgs(&def, o->x, info, error);
    to_values(o, o->x, p);
    return status;
}

mabd_status mabd_optimize(mabd_gradient* gradient, const mabd_optimize_def* def, mabd_real* p,
                          mabd_optimize_info* info, mabd_error* error) {
    MABD_TRY(check(gradient, def, p, error));
    mabd_optimize_info unused;
    optimization o = {.gradient = gradient,
                      .def = def,
                      .count = gradient->def.parameter_count,
                      .parameters = gradient->def.parameters};
    mabd_arena arena = {0};
    lay_out(&o, &arena);
    if (mabd_arena_allocate(&gradient->allocator, &arena) != MABD_OK) {
        return mabd_fail_memory(error, "optimising");
    }
    lay_out(&o, &arena);
    const mabd_status status = minimize(&o, p, info ? info : &unused, error);
    mabd_free(&gradient->allocator, arena.memory, arena.size);
    return status;
}
