// SPDX-License-Identifier: Apache-2.0
// The M-ABD time step.
//
//   predict, find contacts
//   repeat   assemble, factor, solve, update; again at the same reference while axes or contacts change to another piece
//            of their force law (switch)
//   until    the largest rotation of a body from its reference is below twist_tolerance, the rows that
//            one linear solve does not close are below row_tolerance, or the budget is used up
//   finish
//
// A fixed budget of one or two iterations gains energy where links turn far in a step (a whip's crack);
// iterating on the twist does not. What does not settle, is not finite or has no positive pivot is
// retried in parts of h/2, h/4, ... by implicit Euler.
//
// BDF2 needs the state one step ago. A step without it (the first one, or the one after a failure) is made by
// SDIRK2. During the two solves of SDIRK2, and during the parts of a retried step, q1, v1 hold the state
// before the step: they are the way back, and in the end they are the history of BDF2.
//
// A step in which an axis meets or leaves a stop is made by implicit Euler, and leaves no history (cpu/switch.c).

#include "formulation/mabd/affine_sim.h"

#include "base/clock.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A step that used up its budget is kept, and reported, if it is at least this close.
#define ACCEPTED_TWIST   ((mabd_real)0.1)  // [rad]
#define ACCEPTED_OPENING ((mabd_real)1e-4) // [m], [rad]

// Axes at a stop are there within the row tolerance: a way into it of this many times that is a blow.
#define LEAST_BLOW 10

// Budget of solves that only change pieces of axes and contacts, in iterations.
#define SWITCHES 20

// Solves at one reference in which contacts in blocks may change. A blow that goes through a chain takes some tens.
#define PATIENCE 60

// Iterations after which a step with contacts that still turns bodies far is better halved.
#define HOPELESS 5
#define SLOW     ((mabd_real)0.9) // of the one before: not so, if it falls

// Rotation in the first solve from which a step with rows is halved at once [rad].
#define VIOLENT ((mabd_real)0.4)

// References at which contacts are found anew. Corners come and go with the pose that they lead to, so it could go on forever; from
// then on they only come.
#define FINDS 3

// Part of the bending of contacts (below) to which they are solved at a reference.
#define ROUGH ((mabd_real)0.1)

// What contacts that are rows may be off their law: at the end, of the contact tolerance (what is left is noise, which differs from
// step to step and shakes stacks), and before, of what the next reference moves.
#define FINE     ((mabd_real)0.1)
#define COARSE   ((mabd_real)0.05)
#define COARSEST ((mabd_real)1e-4)
// Of fewer contacts forces are found anew, and well, at every reference: what they leave undoes the next one.
#define MANY_ROWS 300

// Part of a step below which it is not halved any more because of contacts.
#define LEAST_PART ((mabd_real)0.3)

// Contacts are planes where they were found: a point may leave its plane by so many contact tolerances.
#define BENDING 10

typedef struct attempt {
    mabd_status status;
    int32_t body, joint; // what failed, -1 = none
    const char* reason;
} attempt;

static attempt failed(mabd_status status, int32_t body, int32_t joint, const char* reason) {
    const attempt a = {status, body, joint, reason};
    return a;
}

static double lap(mabd_affine_sim* sim, mabd_stage stage, double since) {
    const double now = mabd_clock();
    sim->cpu.times[stage] += now - since;
    return now;
}

static attempt no_room(void) {
    return failed(MABD_ERR_MEMORY, 0, -1, "out of memory for contacts, at first of");
}

// Contacts at the reference.
static attempt find_contacts(mabd_affine_sim* sim, mabd_find find) {
    const double clock = mabd_clock();
    const mabd_status status = mabd_contacts_find(&sim->cpu, find);
    lap(sim, MABD_STAGE_CONTACT, clock);
    if (status == MABD_ERR_MEMORY) return no_room();
    return failed(status, 0, -1, "the prediction is not finite, at first of");
}

// One linear solve at the current reference; q_new gets the result.
// `again`: only contacts in blocks have changed since the last one.
static attempt iterate(mabd_affine_sim* sim, mabd_pass pass, bool again, mabd_motion_report* report,
                       mabd_step_info* info) {
    mabd_cpu_sim* cpu = &sim->cpu;
    int32_t joint = -1;
    double clock = mabd_clock();
    if (pass == MABD_PASS_FIRST) mabd_cpu_restart(cpu);
    mabd_cpu_assemble(cpu, pass);
    clock = lap(sim, MABD_STAGE_ASSEMBLE, clock);
    if (mabd_cpu_factor(cpu, &joint) != MABD_OK) {
        return failed(MABD_ERR_SINGULAR, -1, joint, "the dual matrix is not positive definite at");
    }
    clock = lap(sim, MABD_STAGE_FACTOR, clock);
    if (cpu->contacts && cpu->contacts->free.count + cpu->contacts->carried.count > 0) {
        const mabd_status status = mabd_contacts_solve(cpu, again);
        clock = lap(sim, MABD_STAGE_CONTACT, clock);
        if (status != MABD_OK) return no_room();
    } else {
        mabd_cpu_solve(cpu);
        clock = lap(sim, MABD_STAGE_SOLVE, clock);
    }
    *report = mabd_cpu_update(cpu);
    lap(sim, MABD_STAGE_UPDATE, clock);
    info->iterations++;
    info->dual_iterations += cpu->dual_report.iterations;
    info->dual_residual = cpu->dual_report.residual;
    if (report->broken_body >= 0) {
        return failed(MABD_ERR_DIVERGED, report->broken_body, -1, "the state is not finite at");
    }
    return failed(MABD_OK, -1, -1, "");
}

// The reference for another iteration, and the contacts there; the same if only joints need it.
static attempt refer(mabd_affine_sim* sim, bool same_contacts, mabd_find find) {
    const double clock = mabd_clock();
    int32_t body = -1;
    if (!mabd_cpu_refer(&sim->cpu, &body)) {
        return failed(MABD_ERR_DIVERGED, body, -1, "a body is turned inside out at");
    }
    lap(sim, MABD_STAGE_PREDICT, clock);
    if (!same_contacts) return find_contacts(sim, find);
    mabd_contacts_shift(&sim->cpu);
    return failed(MABD_OK, -1, -1, "");
}

// What must be closed at the end: after a direct solve the rows that are not linear, after an iterative one
// all of them, measured at the bodies.
static mabd_real opening(const mabd_affine_sim* sim, const mabd_opening* open) {
    if (!sim->iterates) return open->nonlinear;
    return open->gap > open->angle ? open->gap : open->angle;
}

static mabd_real row_tolerance(const mabd_affine_sim* sim) {
    const mabd_real row = sim->def.row_tolerance, gap = sim->def.gap_tolerance;
    return sim->iterates && gap > row ? gap : row;
}

static attempt unsettled(const mabd_switch_report* pieces) {
    return failed(MABD_ERR_DIVERGED, -1, pieces->joint,
                  "stops, drives and friction do not settle at");
}

static attempt unsettled_contacts(const mabd_touch_report* touch) {
    return failed(MABD_ERR_DIVERGED, touch->body, -1, "contacts do not settle at");
}

// Projected CG may be stopped before it arrives.
static bool contacts_solved(const mabd_affine_sim* sim) {
    const mabd_contacts* c = sim->cpu.contacts;
    return !c || c->totals.residual <= sim->def.contact_tolerance;
}

static void report_contacts(const mabd_cpu_sim* cpu, const mabd_touch_report* touch,
                            mabd_step_info* info) {
    if (!cpu->contacts) return;
    const mabd_contact_totals* t = &cpu->contacts->totals;
    info->contacts = t->active;
    info->contact_iterations += t->products;
    info->contact_points = t->count;
    info->contact_residual = t->residual > touch->miss ? t->residual : touch->miss;
    info->friction_lag = touch->lag;
    info->penetration = t->penetration;
}

// The search for contacts has come to no end, in a part of a step that is not worth halving: what is lowest is taken, and reported.
static attempt take_lowest(mabd_affine_sim* sim, mabd_step_info* info,
                           const mabd_touch_report* touch) {
    mabd_contacts_take_lowest(&sim->cpu);
    const mabd_opening open = mabd_cpu_check(&sim->cpu, sim->cpu.q_new);
    info->gap = open.gap, info->angle_error = open.angle, info->worst_joint = open.joint;
    report_contacts(&sim->cpu, touch, info);
    if (!(opening(sim, &open) <= ACCEPTED_OPENING)) return unsettled_contacts(touch);
    return failed(MABD_OK, -1, -1, "");
}

static bool has_many_rows(const mabd_affine_sim* sim) {
    return sim->cpu.contacts && sim->cpu.contacts->free.count > MANY_ROWS;
}

// How well contact forces are found at the next reference, where points will be off by about `moves`.
static void set_goal(mabd_affine_sim* sim, mabd_real moves) {
    if (!sim->cpu.contacts) return;
    const mabd_real least = FINE * sim->def.contact_tolerance;
    mabd_real goal = has_many_rows(sim) ? COARSE * moves : 0;
    if (!(goal < COARSEST)) goal = COARSEST;
    sim->cpu.contacts->goal = goal > least ? goal : least;
}

// What the last solve makes of that: by how much points have left their planes, and levers turn on by the next one.
static mabd_real still_moves(const mabd_affine_sim* sim, mabd_real bending, mabd_real twist) {
    const mabd_real lever = sim->cpu.contacts ? sim->cpu.contacts->thin * twist : 0;
    return lever > bending ? lever : bending;
}

// Contacts as rows have turned a body so far from the prediction that references would not settle.
static bool is_violent(const mabd_affine_sim* sim, mabd_real h, mabd_real twist) {
    const mabd_contacts* c = sim->cpu.contacts;
    return c && c->free.count > 0 && h > LEAST_PART * sim->def.h && twist > VIOLENT;
}

// What a solve may have left open of axes: contact forces that are off by so much move them.
static mabd_real axis_slack(const mabd_affine_sim* sim) {
    const mabd_contacts* c = sim->cpu.contacts;
    mabd_real slack = sim->iterates ? sim->def.gap_tolerance : 0;
    if (!c || c->free.count == 0) return slack;
    if (sim->def.contact_tolerance > slack) slack = sim->def.contact_tolerance;
    return c->totals.residual > slack ? c->totals.residual : slack;
}

static bool is_fine(const mabd_affine_sim* sim) {
    return sim->cpu.contacts->goal <= sim->def.contact_tolerance;
}

// One implicit solve; q_new gets the result, q and its history stay.
static attempt solve(mabd_affine_sim* sim, mabd_scheme scheme, mabd_real time, mabd_real h,
                     mabd_step_info* info) {
    mabd_cpu_sim* cpu = &sim->cpu;
    mabd_motion_report report = {0, -1, -1};
    mabd_opening open = {0, 0, 0, -1};
    mabd_switch_report pieces = {0, 0, 0, -1};
    const mabd_real tolerance = row_tolerance(sim);
    const int32_t before = info->iterations;
    mabd_touch_report touch = {0, 0, 0, 0, -1};
    double clock = mabd_clock();
    mabd_cpu_begin(cpu, scheme, time, h);
    mabd_cpu_predict(cpu);
    lap(sim, MABD_STAGE_PREDICT, clock);
    attempt a = find_contacts(sim, MABD_FIND_FIRST);
    if (a.status != MABD_OK) return a;
    info->converged = false;
    int32_t switches = 0, round = 0; // solves at a reference that has been solved at before
    bool same = false, anew = true, keep = false;
    mabd_real last_twist = (mabd_real)INFINITY;
    set_goal(sim, mabd_contacts_slide(cpu->contacts));
    for (int32_t i = 0; i < sim->def.max_iterations && !info->converged; i += !same) {
        if (info->iterations > before && !same) {
            const bool flat = touch.bending <= BENDING * sim->def.contact_tolerance &&
                              report.twist <= sim->def.twist_tolerance;
            a = refer(sim, flat, i < FINDS ? MABD_FIND_ANEW : MABD_FIND_MORE);
            if (a.status != MABD_OK) return a;
            set_goal(sim, still_moves(sim, touch.bending, report.twist));
            keep = flat && has_many_rows(sim) && contacts_solved(sim);
            round = 0, anew = true;
        }
        const mabd_pass pass = info->iterations == before ? MABD_PASS_FIRST
                               : same                     ? MABD_PASS_AGAIN
                                                          : MABD_PASS_NEXT;
        const bool again = pieces.changed == 0 && (pass == MABD_PASS_AGAIN || keep);
        a = iterate(sim, pass, again, &report, info);
        if (a.status != MABD_OK) return a;
        clock = mabd_clock();
        pieces = mabd_cpu_switch(cpu, anew, axis_slack(sim));
        // axes settle for the pieces of contacts that there are, then these are looked at
        anew = pieces.changed == 0;
        if (pieces.changed > 0 && ++switches < SWITCHES * sim->def.max_iterations) {
            same = true;
            continue;
        }
        touch = mabd_contacts_switch(cpu, round++);
        info->contact_iterations += touch.changed > 0;
        // pieces need be no better than the planes of the contacts, which the next reference brings
        const bool rough = touch.changed > 0 && touch.miss <= ROUGH * touch.bending;
        same = (pieces.changed > 0 || (touch.changed > 0 && !rough)) &&
               ++switches < SWITCHES * sim->def.max_iterations;
        if (touch.changed > 0 && !rough && round >= PATIENCE) {
            if (h > LEAST_PART * sim->def.h) return unsettled_contacts(&touch);
            return take_lowest(sim, info, &touch);
        }
        if (same) continue;
        if (pieces.changed > 0 && pieces.miss > ACCEPTED_OPENING) return unsettled(&pieces);
        if (touch.changed > 0 && !rough && touch.miss > ACCEPTED_OPENING) {
            return unsettled_contacts(&touch);
        }
        const bool settled = report.twist <= sim->def.twist_tolerance &&
                             (i >= FINDS || touch.bending <= BENDING * sim->def.contact_tolerance);
        const bool slows = !(report.twist < SLOW * last_twist);
        last_twist = report.twist;
        if (i >= HOPELESS && cpu->contacts && report.twist > ACCEPTED_TWIST && slows) break;
        if (i == 0 && is_violent(sim, h, report.twist)) break;
        const bool right = settled && pieces.changed + touch.changed == 0;
        if (!right && i + 1 < sim->def.max_iterations) continue;
        open = mabd_cpu_check(cpu, cpu->q_new);
        lap(sim, MABD_STAGE_CHECK, clock);
        const bool closed =
            right && opening(sim, &open) <= tolerance && pieces.opening <= tolerance;
        info->converged = closed && contacts_solved(sim);
        if (closed && !info->converged && is_fine(sim)) break; // its budget is used up
    }
    report_contacts(cpu, &touch, info);
    info->twist = report.twist;
    info->gap = open.gap;
    info->angle_error = open.angle;
    info->worst_joint = open.joint;
    if (info->converged) return failed(MABD_OK, -1, -1, "");
    if (!(report.twist <= ACCEPTED_TWIST)) {
        return failed(MABD_ERR_DIVERGED, report.twisted_body, -1,
                      "the rotation does not settle at");
    }
    if (!(opening(sim, &open) <= ACCEPTED_OPENING)) {
        return failed(MABD_ERR_DIVERGED, -1, open.joint, "the rows do not close at");
    }
    if (!(pieces.opening <= ACCEPTED_OPENING)) return unsettled(&pieces);
    return failed(MABD_OK, -1, -1, "");
}

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
    lap(sim, MABD_STAGE_FINISH, clock);
}

// Tells a step that meets or leaves a stop; it is solved but not finished.
static bool changed_stop(const mabd_affine_sim* sim, const attempt* a) {
    const mabd_real least = LEAST_BLOW * row_tolerance(sim);
    return a->status == MABD_OK && mabd_cpu_changed_stop(&sim->cpu, least);
}

static attempt solve_by_euler(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info) {
    const attempt a = solve(sim, MABD_SCHEME_EULER, time, sim->def.h, info);
    if (a.status == MABD_OK) finish(sim, false);
    return a;
}

// A step of BDF2; *blow: it met or left a stop and was not finished.
static attempt solve_by_bdf2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                             bool* blow) {
    const attempt a = solve(sim, MABD_SCHEME_BDF2, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status == MABD_OK && !*blow) finish(sim, false);
    return a;
}

// The same of SDIRK2.
static attempt solve_by_sdirk2(mabd_affine_sim* sim, mabd_real time, mabd_step_info* info,
                               bool* blow) {
    attempt a = solve(sim, MABD_SCHEME_SDIRK_FIRST, time, sim->def.h, info);
    *blow = changed_stop(sim, &a);
    if (a.status != MABD_OK || *blow) return a;
    const bool converged = info->converged;
    finish(sim, false);
    a = solve(sim, MABD_SCHEME_SDIRK_SECOND, time, sim->def.h, info);
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
    *blow = mabd_cpu_meets_stop(&sim->cpu, sim->def.h, LEAST_BLOW * row_tolerance(sim));
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
        const attempt a =
            solve(sim, MABD_SCHEME_EULER, time + (mabd_real)done * h, (mabd_real)size * h, info);
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
    return failed(MABD_OK, -1, -1, "");
}

static mabd_status report_failure(const mabd_affine_sim* sim, const attempt* a, mabd_real time,
                                  mabd_error* error) {
    const mabd_model* m = sim->cpu.model;
    const bool joint = a->joint >= 0;
    const int32_t index = joint ? a->joint : a->body;
    const char* kind = joint ? "joint" : "body";
    char name[128], label[160];
    if (mabd_names_write(joint ? &m->joint_names : &m->body_names, index, name, sizeof name)) {
        snprintf(label, sizeof label, "%s '%s'", kind, name);
    } else {
        snprintf(label, sizeof label, "%s %d", kind, (int)index);
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
