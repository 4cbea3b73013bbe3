// SPDX-License-Identifier: Apache-2.0
// The time step of the affine formulation: choice of the scheme, and retries where its solve
// (newton.c) fails.
//
// A step whose contacts between moving bodies would turn them far is divided before anything is
// solved (contact/parts.c): equal parts by implicit Euler.
//
// A step that does not settle, is not finite or has a pivot that is not positive is retried in
// parts of h/2, h/4, ... by implicit Euler.
//
// BDF2 needs the state one step ago. A step without it (the first one, or the one after a failure)
// uses SDIRK2, and so does a step at whose beginning a control or a force jumps (jumps.c). During
// the two solves of SDIRK2, and during the parts of a retried step, q1, v1 hold the state before
// the step: they are restored on failure, and in the end they are the history of BDF2.
//
// The first step of a simulation that whirls is divided (first_step.h).
//
// A step in which an axis meets or leaves a stop uses implicit Euler, and leaves no history
// (cpu/axes.c).
//
// With contacts, a step without history is one of implicit Euler, except after a jump. Then bodies
// that were hit (contact/contact.h) take the two solves of SDIRK2 as two parts of the step by
// implicit Euler, and all others take SDIRK2. Measured on an arm of 7 servos, targets held for 20
// ms, rms error of the angles [rad]:
//                                          h = 1 ms               h = 10 ms
//   step after a jump by         SDIRK2   Euler    BDF2     SDIRK2   Euler    BDF2
//   contacts enabled, none       2.0e-5   5.0e-5   1.2e-3   9.6e-4   3.8e-3   1.3e-2
//   hits a wall many times       7.3e-4   1.7e-4   1.2e-3   1.6e-3   3.6e-3   1.3e-2

#include "formulation/affine/affine_sim.h"
#include "formulation/affine/affine_step.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/asleep.h"
#include "formulation/affine/contact/contact_loads.h"
#include "formulation/affine/contact/saved.h"
#include "formulation/affine/energy_books.h"
#include "formulation/affine/fast_bodies.h"
#include "formulation/affine/first_step.h"
#include "formulation/affine/jumps.h"
#include "formulation/affine/kept_state.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/newton.h"

#include "base/clock.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

typedef mabd_affine_attempt attempt;

// Finish a solved step; *a gets a failure of the device.
static void finish(mabd_affine_sim* sim, bool keep_history, attempt* a) {
    const double clock = mabd_clock();
    mabd_status status = mabd_affine_books_add_solve(sim);
    if (status == MABD_OK) status = sim->backend->finish(sim, keep_history);
    if (status != MABD_OK) *a = mabd_affine_lost(status);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_FINISH, clock);
}

// True if a step that is solved but not finished meets or leaves a stop.
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
    mabd_affine_books_begin(sim);
    if (status != MABD_OK) *a = mabd_affine_lost(status);
}

static attempt solve_by_euler(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_EULER, time, sim->def.h, info);
    if (a.status == MABD_OK) finish(sim, false, &a);
    return a;
}

// A step by BDF2; *stop_changed: it met or left a stop and was not finished.
static attempt solve_by_bdf2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                             bool* stop_changed) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_BDF2, time, sim->def.h, info);
    *stop_changed = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*stop_changed) finish(sim, false, &a);
    return a;
}

// End a solve after the first of a step; the state before the step is restored on failure and if
// the solve met or left a stop. converged: the solves before it.
static void end_part(mabd_affine_sim* sim, bool converged, mabd_step_info* info, attempt* a,
                     bool* stop_changed) {
    info->converged &= converged;
    *stop_changed = changed_stop(sim, a);
    if (a->status == MABD_OK && !*stop_changed) {
        finish(sim, true, a);
    } else {
        go_back(sim, a);
    }
}

// A step of h by SDIRK2; *stop_changed: it met or left a stop, and the state before the step is
// restored.
static attempt solve_by_sdirk2(mabd_affine_sim* sim, mabd_real time, mabd_real h,
                               mabd_step_info* info, bool* stop_changed) {
    attempt a = mabd_affine_newton(sim, MABD_SCHEME_SDIRK_FIRST, time, h, info);
    *stop_changed = changed_stop(sim, &a);
    if (a.status != MABD_OK || *stop_changed) return a;
    const bool converged = info->converged;
    sim->has_history = false; // q1, v1 get the state before the step
    finish(sim, false, &a);
    if (a.status != MABD_OK) return a;
    a = mabd_affine_newton(sim, MABD_SCHEME_SDIRK_SECOND, time, h, info);
    end_part(sim, converged, info, &a, stop_changed);
    return a;
}

// A step without history of `units` shortest parts (first_step.h); *stop_changed: it met or left a
// stop, and the state before the step is restored.
static attempt solve_start(mabd_affine_sim* sim, int32_t units, mabd_real time,
                           mabd_step_info* info, bool* stop_changed) {
    const mabd_real h = sim->def.h / (mabd_real)units;
    attempt a = solve_by_sdirk2(sim, time, h, info, stop_changed);
    for (int32_t n = 1; n < units && a.status == MABD_OK && !*stop_changed; n *= 2) {
        const bool converged = info->converged;
        const mabd_real part = (mabd_real)n * h;
        a = mabd_affine_newton(sim, MABD_SCHEME_START, time + part, part, info);
        end_part(sim, converged, info, &a, stop_changed);
    }
    return a;
}

// Add the report of another solve of the same step.
static void join_reports(const mabd_step_info* other, mabd_step_info* info) {
    info->converged &= other->converged;
    if (other->gap > info->gap) info->worst_joint = other->worst_joint;
    info->gap = other->gap > info->gap ? other->gap : info->gap;
    info->angle_error =
        other->angle_error > info->angle_error ? other->angle_error : info->angle_error;
    if (other->affine.rotation > info->affine.rotation) {
        info->affine.rotation = other->affine.rotation;
    }
}

// A part around the two solves of a step in which some copies have a jump; false if it failed.
static bool move_steady(mabd_affine_sim* sim, mabd_affine_steady_part part, attempt* a) {
    if (a->status == MABD_OK) *a = mabd_affine_lost(sim->backend->steady_copies(sim, part));
    return a->status == MABD_OK;
}

// A step in which some copies have a jump and others do not: BDF2 for the latter, then SDIRK2 from
// the same state for the former (copies.c). There are no stops.
static attempt solve_mixed(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info) {
    bool no_stop;
    attempt a = mabd_affine_lost(MABD_OK);
    if (!move_steady(sim, MABD_STEADY_KEEP, &a)) return a;
    sim->scope = MABD_SCOPE_STEADY;
    a = solve_by_bdf2(sim, time, info, &no_stop);
    sim->scope = MABD_SCOPE_JUMPING;
    const mabd_step_info steady = *info;
    if (a.status == MABD_OK) sim->has_history = false;
    if (move_steady(sim, MABD_STEADY_RETURN, &a)) {
        a = solve_by_sdirk2(sim, time, sim->def.h, info, &no_stop);
        join_reports(&steady, info);
        move_steady(sim, MABD_STEADY_TAKE, &a);
    }
    sim->scope = MABD_SCOPE_ALL;
    return a;
}

// The whole step by the integrator; on failure the state before the step is restored.
// *stop_changed: a stop was met or left, BDF2 has to start again.
static attempt solve_whole(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                           bool* stop_changed) {
    const bool euler = sim->def.integrator == MABD_INTEGRATOR_EULER;
    const mabd_affine_jump jump =
        sim->has_history && !euler ? mabd_affine_find_jumps(sim, time) : MABD_JUMP_NONE;
    const mabd_real least = MABD_STOP_IMPACT_TOLERANCES * mabd_affine_row_tolerance(sim);
    *stop_changed = false;
    const mabd_status status = sim->backend->meets_stop(sim, sim->def.h, least, stop_changed);
    if (status != MABD_OK) return mabd_affine_lost(status);
    const bool first = sim->contacts && !sim->has_history; // its contacts are not known yet
    if (*stop_changed || first || euler) return solve_by_euler(sim, time, info);
    sim->restarts = jump != MABD_JUMP_NONE;
    if (jump == MABD_JUMP_SOME) return solve_mixed(sim, time, info);
    const bool history = sim->has_history && jump == MABD_JUMP_NONE;
    const int32_t units = sim->is_start ? mabd_affine_start_units(sim) : 1;
    const attempt a = history ? solve_by_bdf2(sim, time, info, stop_changed)
                              : solve_start(sim, units, time, info, stop_changed);
    return *stop_changed ? solve_by_euler(sim, time, info) : a;
}

// A shorter step does not help if memory is short or a device fails.
static bool is_worth_halving(const attempt* a) {
    return a->status == MABD_ERR_SINGULAR || a->status == MABD_ERR_DIVERGED;
}

static void start_parts(mabd_affine_contact_search* search) {
    search->parts = search->wanted = 1;
    search->passes = false;
}

// Keep the larger measures of two parts of a step.
static void keep_worst(const mabd_step_info* part, mabd_step_info* worst) {
    if (part->gap > worst->gap) worst->worst_joint = part->worst_joint;
    worst->gap = (mabd_real)fmax(worst->gap, part->gap);
    worst->angle_error = (mabd_real)fmax(worst->angle_error, part->angle_error);
    worst->penetration = (mabd_real)fmax(worst->penetration, part->penetration);
    worst->contact_residual = (mabd_real)fmax(worst->contact_residual, part->contact_residual);
    worst->affine.rotation = (mabd_real)fmax(worst->affine.rotation, part->affine.rotation);
    worst->affine.tolerance_used =
        (mabd_real)fmax(worst->affine.tolerance_used, part->affine.tolerance_used);
}

// The step in parts of h/2, h/4, ..., or as many as contacts ask for: a part that fails is halved,
// and so are all parts after it. On failure the state before the step is restored.
static attempt solve_in_parts(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                              bool* stop_changed) {
    const int32_t units = (int32_t)1 << sim->def.max_halvings;
    const mabd_real h = sim->def.h / (mabd_real)units;
    const int32_t wanted = sim->contacts ? sim->contacts->search.wanted : 1;
    int32_t size = units / (wanted > 1 ? wanted : 2), done = 0;
    bool converged = true;
    mabd_step_info worst = {0};
    *stop_changed = false;
    info->retries += wanted <= 1;
    info->substeps = 0;
    if (sim->contacts) sim->contacts->search.parts = units / size;
    while (done < units) {
        if (sim->contacts) sim->contacts->search.passes = wanted > 1 && done + size < units;
        attempt a = mabd_affine_newton(sim, MABD_SCHEME_EULER, time + (mabd_real)done * h,
                                       (mabd_real)size * h, info);
        if (a.status == MABD_OK) {
            converged &= info->converged;
            *stop_changed |= changed_stop(sim, &a);
            if (a.status == MABD_OK) finish(sim, true, &a);
            keep_worst(info, &worst);
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
    keep_worst(&worst, info);
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
    sim->step_time = time;
    if (mabd_affine_sleeps(sim)) {
        mabd_affine_report_sleep(sim, info);
        return MABD_OK;
    }
    if (mabd_affine_saved_keep(sim) != MABD_OK) {
        return mabd_fail(error, MABD_ERR_MEMORY, "out of memory for contacts");
    }
    on->swap_multipliers(sim);
    mabd_affine_books_begin(sim);
    const bool continues = sim->has_history && sim->def.integrator != MABD_INTEGRATOR_EULER;
    bool stop_changed;
    if (sim->contacts) start_parts(&sim->contacts->search);
    attempt a = solve_whole(sim, time, info, &stop_changed);
    const bool halve = is_worth_halving(&a);
    const bool history = sim->has_history, divide = halve && sim->def.max_halvings > 0;
    const bool kept = divide && sim->contacts && mabd_affine_keep_state(sim) == MABD_OK;
    if (divide && sim->contacts && !kept) {
        a = mabd_affine_outcome(MABD_ERR_MEMORY, 0, -1, "out of memory for a divided step of");
    } else if (divide) {
        const mabd_status status = on->copy_state(sim, false);
        a = status == MABD_OK ? solve_in_parts(sim, time, info, &stop_changed)
                              : mabd_affine_lost(status);
    }
    if (a.status == MABD_OK) {
        const double clock = mabd_clock();
        const bool one = continues && !sim->restarts && !stop_changed && info->substeps == 1;
        a = mabd_affine_lost(mabd_affine_books_add_step(sim, time, one));
        mabd_affine_lap(sim, MABD_AFFINE_STAGE_FINISH, clock);
    }
    if (a.status != MABD_OK) {
        sim->has_history = history && (sim->contacts || !divide);
        if (kept) mabd_affine_return_state(sim);
        mabd_affine_saved_return(sim);
        on->swap_multipliers(sim); // joint forces, and signals, are those of the last good step
        sim->step_time = time - sim->def.h;
        mabd_affine_begin_solve(sim, MABD_SCHEME_EULER, sim->step_time, sim->def.h);
        return report_failure(sim, &a, time, error);
    }
    sim->has_history = !stop_changed;
    sim->is_start = false;
    if (!on->has_device) mabd_affine_watch_fast(sim, time, false);
    if (!on->has_device) mabd_affine_contacts_watch_loads(sim, time);
    mabd_affine_keep_inputs(sim);
    mabd_affine_clear_applied(sim);
    mabd_affine_watch_sleep(sim);
    return MABD_OK;
}
