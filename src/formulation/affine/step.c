// SPDX-License-Identifier: Apache-2.0
// The M-ABD time step: which scheme, and what is done where its solve (solve.c) fails.
//
// What does not settle, is not finite or has no positive pivot is retried in parts of h/2, h/4, ... by implicit Euler.
//
// BDF2 needs the state one step ago. A step without it (the first one, or the one after a failure) is made by
// SDIRK2. During the two solves of SDIRK2, and during the parts of a retried step, q1, v1 hold the state
// before the step: they are the way back, and in the end they are the history of BDF2.
//
// A step in which an axis meets or leaves a stop is made by implicit Euler, and leaves no history (affine/active_set.c).

#include "formulation/affine/affine_step.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/newton.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

typedef mabd_affine_attempt attempt;

// Finish, if it is solved; *a: how that went.
static void finish(mabd_affine_sim* sim, bool keep_history, attempt* a) {
    const double clock = mabd_clock();
    const mabd_status status = sim->backend->finish(sim, keep_history);
    if (status != MABD_OK) *a = mabd_affine_lost(status);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_FINISH, clock);
}

// Tells a step that meets or leaves a stop; it is solved but not finished.
static bool changed_stop(mabd_affine_sim* sim, attempt* a) {
    const mabd_real least = MABD_STOP_IMPACT_TOLERANCES * mabd_affine_row_tolerance(sim);
    bool changed = false;
    if (a->status != MABD_OK) return false;
    const mabd_status status = sim->backend->changed_stop(sim, least, &changed);
    if (status != MABD_OK) *a = mabd_affine_lost(status);
    return changed;
}

static void go_back(mabd_affine_sim* sim, attempt* a) {
    const mabd_status status = sim->backend->copy_state(sim, true);
    if (status != MABD_OK) *a = mabd_affine_lost(status);
}

static attempt solve_by_euler(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_EULER, time, sim->def.h, info);
    if (a.status == MABD_OK) finish(sim, false, &a);
    return a;
}

// A step of BDF2; *blow: it met or left a stop and was not finished.
static attempt solve_by_bdf2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                             bool* blow) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_BDF2, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*blow) finish(sim, false, &a);
    return a;
}

// The same of SDIRK2.
static attempt solve_by_sdirk2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                               bool* blow) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_SDIRK_FIRST, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status != MABD_OK || *blow) return a;
    const bool converged = info->converged;
    finish(sim, false, &a);
    if (a.status != MABD_OK) return a;
    a = mabd_affine_newton(sim, MABD_SCHEME_SDIRK_SECOND, time, sim->def.h, info);
    info->converged &= converged;
    *blow = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*blow) {
        finish(sim, true, &a);
    } else {
        go_back(sim, &a);
    }
    return a;
}

// The step as the integrator has it; on failure the state before the step is back. *blow: a stop was met or left,
// BDF2 has to start anew.
static attempt solve_whole(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info, bool* blow) {
    const mabd_real least = MABD_STOP_IMPACT_TOLERANCES * mabd_affine_row_tolerance(sim);
    *blow = false;
    const mabd_status status = sim->backend->meets_stop(sim, sim->def.h, least, blow);
    if (status != MABD_OK) return mabd_affine_lost(status);
    const bool first = sim->contacts && !sim->has_history; // SDIRK2 knows no blows
    if (*blow || first || sim->def.integrator != MABD_INTEGRATOR_BDF2) {
        return solve_by_euler(sim, time, info);
    }
    const attempt a = sim->has_history ? solve_by_bdf2(sim, time, info, blow)
                                       : solve_by_sdirk2(sim, time, info, blow);
    return *blow ? solve_by_euler(sim, time, info) : a;
}

// Less of it will not help against a lack of memory or a device that fails.
static bool is_worth_halving(const attempt* a) {
    return a->status == MABD_ERR_SINGULAR || a->status == MABD_ERR_DIVERGED;
}

// The step in parts of h/2, h/4, ...: what does not settle is tried in halves, and so is all after it. On failure
// the state before the step is back.
static attempt solve_in_parts(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                              bool* blow) {
    const int32_t units = (int32_t)1 << sim->def.max_halvings;
    const mabd_real h = sim->def.h / (mabd_real)units;
    int32_t size = units / 2, done = 0;
    bool converged = true;
    *blow = false;
    info->retries++;
    info->substeps = 0;
    while (done < units) {
        attempt a = mabd_affine_newton(sim, MABD_SCHEME_EULER, time + (mabd_real)done * h,
                                       (mabd_real)size * h, info);
        if (a.status == MABD_OK) {
            converged &= info->converged;
            *blow |= changed_stop(sim, &a);
            if (a.status == MABD_OK) finish(sim, true, &a);
            done += size;
            info->substeps++;
        }
        if (a.status == MABD_OK) continue;
        if (!is_worth_halving(&a) || size == 1) {
            go_back(sim, &a);
            return a;
        }
        info->retries++;
        size /= 2;
    }
    info->converged = converged;
    const attempt good = {MABD_OK, -1, -1, ""};
    return good;
}

static mabd_status report_failure(const mabd_affine_sim* sim, const attempt* a, mabd_real time,
                                  mabd_error* error) {
    const mabd_model* m = sim->model;
    char label[160];
    if (a->reason[0] == '\0') return sim->backend->last_error(sim, error); // mabd_affine_lost
    if (a->joint >= 0) {
        mabd_model_joint_label(m, a->joint, label, sizeof label);
    } else {
        mabd_model_body_label(m, a->body, label, sizeof label);
    }
    return mabd_fail_at(error, a->status, a->body, a->joint, time, "%s %s (t = %g s)", a->reason,
                        label, (double)time);
}

mabd_status mabd_affine_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error) {
    mabd_affine_sim* sim = self;
    mabd_step_info local;
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->substeps = 1;
    const mabd_affine_backend_ops* on = sim->backend;
    on->swap_multipliers(sim);
    bool blow;
    attempt a = solve_whole(sim, time, info, &blow);
    const bool halve = is_worth_halving(&a);
    if (halve && sim->def.max_halvings > 0) {
        const mabd_status status = on->copy_state(sim, false);
        a = status == MABD_OK ? solve_in_parts(sim, time, info, &blow) : mabd_affine_lost(status);
    }
    if (a.status != MABD_OK) {
        sim->has_history = sim->has_history && (!halve || sim->def.max_halvings == 0);
        on->swap_multipliers(sim); // joint forces, and signals, are those of the last good step
        mabd_affine_begin_solve(sim, MABD_SCHEME_EULER, time - sim->def.h, sim->def.h);
        return report_failure(sim, &a, time, error);
    }
    sim->has_history = !blow;
    return MABD_OK;
}
