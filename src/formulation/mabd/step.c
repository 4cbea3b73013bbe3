// SPDX-License-Identifier: Apache-2.0
// The M-ABD time step: which scheme, and what is done where its solve (solve.c) fails.
//
// What does not settle, is not finite or has no positive pivot is retried in parts of h/2, h/4, ... by implicit Euler.
//
// BDF2 needs the state one step ago. A step without it (the first one, or the one after a failure) is made by
// SDIRK2. During the two solves of SDIRK2, and during the parts of a retried step, q1, v1 hold the state
// before the step: they are the way back, and in the end they are the history of BDF2.
//
// A step in which an axis meets or leaves a stop is made by implicit Euler, and leaves no history (cpu/switch.c).

#include "formulation/mabd/solve.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

// Axes at a stop are there within the row tolerance: a way into it of this many times that is a blow.
#define LEAST_BLOW 10

typedef mabd_attempt attempt;

static void copy_state(mabd_cpu_sim* cpu, bool back) {
    const size_t bodies = 12 * cpu->sizes.bodies * sizeof(mabd_real);
    const size_t coordinates = cpu->sizes.coordinates * sizeof(mabd_real);
    memcpy(back ? cpu->q : cpu->q1, back ? cpu->q1 : cpu->q, bodies);
    memcpy(back ? cpu->v : cpu->v1, back ? cpu->v1 : cpu->v, bodies);
    memcpy(back ? cpu->x : cpu->x1, back ? cpu->x1 : cpu->x, coordinates);
    memcpy(back ? cpu->xd : cpu->xd1, back ? cpu->xd1 : cpu->xd, coordinates);
    memset(cpu->stress, 0, 6 * cpu->sizes.bodies * sizeof(mabd_real));
}

static void finish(mabd_affine_sim* sim, bool keep_history) {
    const double clock = mabd_clock();
    mabd_contacts_keep(&sim->cpu);
    mabd_cpu_finish(&sim->cpu, keep_history);
    mabd_affine_lap(sim, MABD_STAGE_FINISH, clock);
}

// Tells a step that meets or leaves a stop; it is solved but not finished.
static bool changed_stop(const mabd_affine_sim* sim, const attempt* a) {
    const mabd_real least = LEAST_BLOW * mabd_affine_row_tolerance(sim);
    return a->status == MABD_OK && mabd_cpu_changed_stop(&sim->cpu, least);
}

static attempt solve_by_euler(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info) {
    const attempt a = mabd_affine_solve(sim, MABD_SCHEME_EULER, time, sim->def.h, info);
    if (a.status == MABD_OK) finish(sim, false);
    return a;
}

// A step of BDF2; *blow: it met or left a stop and was not finished.
static attempt solve_by_bdf2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                             bool* blow) {
    const attempt a = mabd_affine_solve(sim, MABD_SCHEME_BDF2, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*blow) finish(sim, false);
    return a;
}

// The same of SDIRK2.
static attempt solve_by_sdirk2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                               bool* blow) {
    attempt a = mabd_affine_solve(sim, MABD_SCHEME_SDIRK_FIRST, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status != MABD_OK || *blow) return a;
    const bool converged = info->converged;
    finish(sim, false);
    a = mabd_affine_solve(sim, MABD_SCHEME_SDIRK_SECOND, time, sim->def.h, info);
    info->converged &= converged;
    *blow = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*blow) {
        finish(sim, true);
    } else {
        copy_state(&sim->cpu, true);
    }
    return a;
}

// The step as the integrator has it; on failure the state before the step is back. *blow: a stop was met or left,
// BDF2 has to start anew.
static attempt solve_whole(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info, bool* blow) {
    *blow = mabd_cpu_meets_stop(&sim->cpu, sim->def.h, LEAST_BLOW * mabd_affine_row_tolerance(sim));
    const bool first = sim->cpu.contacts && !sim->has_history; // SDIRK2 knows no blows
    if (*blow || first || sim->def.integrator != MABD_INTEGRATOR_BDF2) {
        return solve_by_euler(sim, time, info);
    }
    const attempt a = sim->has_history ? solve_by_bdf2(sim, time, info, blow)
                                       : solve_by_sdirk2(sim, time, info, blow);
    return *blow ? solve_by_euler(sim, time, info) : a;
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
    while (done < units) {
        const attempt a = mabd_affine_solve(sim, MABD_SCHEME_EULER, time + (mabd_real)done * h,
                                            (mabd_real)size * h, info);
        if (a.status == MABD_OK) {
            converged &= info->converged;
            *blow |= changed_stop(sim, &a);
            finish(sim, true);
            done += size;
            continue;
        }
        if (a.status == MABD_ERR_MEMORY || size == 1) {
            copy_state(&sim->cpu, true);
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
    const mabd_model* m = sim->cpu.model;
    char label[160];
    if (a->joint >= 0) {
        mabd_model_joint_label(m, a->joint, label, sizeof label);
    } else {
        mabd_model_body_label(m, a->body, label, sizeof label);
    }
    return mabd_fail_at(error, a->status, a->body, a->joint, time, "%s %s (t = %g s)", a->reason,
                        label, (double)time);
}

// The step under way writes its multipliers over those of the step before last.
static void swap_multipliers(mabd_cpu_sim* cpu) {
    mabd_real* last = cpu->lambda;
    cpu->lambda = cpu->lambda_last;
    cpu->lambda_last = last;
}

mabd_status mabd_affine_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error) {
    mabd_affine_sim* sim = self;
    mabd_step_info local;
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    swap_multipliers(&sim->cpu);
    bool blow;
    attempt a = solve_whole(sim, time, info, &blow);
    const bool halve = a.status != MABD_OK && a.status != MABD_ERR_MEMORY;
    if (halve && sim->def.max_halvings > 0) {
        copy_state(&sim->cpu, false);
        a = solve_in_parts(sim, time, info, &blow);
    }
    if (a.status != MABD_OK) {
        sim->has_history = sim->has_history && (!halve || sim->def.max_halvings == 0);
        swap_multipliers(&sim->cpu); // joint forces, and signals, are those of the last good step
        mabd_cpu_begin(&sim->cpu, MABD_SCHEME_EULER, time - sim->def.h, sim->def.h);
        return report_failure(sim, &a, time, error);
    }
    sim->has_history = !blow;
    return MABD_OK;
}
