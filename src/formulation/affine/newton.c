// SPDX-License-Identifier: Apache-2.0
// One implicit solve of a time step, whatever its scheme.
//
//   predict, find contacts
//   repeat   assemble, factor, solve, update; again at the same reference while axes or contacts change to another piece
//            of their force law (switch)
//   until    the largest rotation of a body from its reference is below rotation_tolerance, the rows that
//            one linear solve does not close are below row_tolerance, or the budget is used up
//
// A fixed budget of one or two iterations gains energy where links turn far in a step (a whip's crack);
// iterating on the rotation does not.

#include "formulation/affine/newton.h"
#include "formulation/affine/limits.h"

#include "base/clock.h"

#include <math.h>

typedef mabd_affine_attempt attempt;

static attempt failed(mabd_status status, int32_t body, int32_t joint, const char* reason) {
    const attempt a = {status, body, joint, reason};
    return a;
}

static attempt no_room(void) {
    return failed(MABD_ERR_MEMORY, 0, -1, "out of memory for contacts, at first of");
}

attempt mabd_affine_lost(mabd_status status) {
    return failed(status, -1, -1, "");
}

/// A stage that only a device can fail in.
#define STAGE(call)                                                                                \
    do {                                                                                           \
        const mabd_status status_ = (call);                                                        \
        if (status_ != MABD_OK) return mabd_affine_lost(status_);                                  \
    } while (0)

// Contacts at the reference.
static attempt find_contacts(mabd_affine_sim* sim, mabd_affine_find find) {
    const double clock = mabd_clock();
    const mabd_status status = sim->backend->find_contacts(sim, find);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CONTACT, clock);
    if (status == MABD_ERR_MEMORY) return no_room();
    if (status == MABD_ERR_DEVICE) return mabd_affine_lost(status);
    const int32_t body = sim->contacts ? sim->contacts->geometry->bad_body : 0;
    return failed(status, body, -1, "the prediction is not finite, at first of");
}

double mabd_affine_lap(mabd_affine_sim* sim, mabd_affine_stage stage, double since) {
    const double now = mabd_clock();
    sim->times[stage] += now - since;
    return now;
}

static attempt singular(int32_t joint) {
    return failed(MABD_ERR_SINGULAR, -1, joint, "the dual matrix is not positive definite at");
}

static attempt inside_out(int32_t body) {
    return failed(MABD_ERR_DIVERGED, body, -1, "a body is turned inside out at");
}

// Multipliers, with contacts that are rows or without.
static attempt solve_dual(mabd_affine_sim* sim, bool again) {
    const double clock = mabd_clock();
    if (sim->contacts &&
        sim->contacts->rows.contacts.count + sim->contacts->support.contacts.count > 0) {
        const mabd_status status = sim->backend->solve_contacts(sim, again);
        mabd_affine_lap(sim, MABD_AFFINE_STAGE_CONTACT, clock);
        if (status == MABD_ERR_MEMORY) return no_room();
        STAGE(status);
    } else {
        STAGE(sim->backend->solve(sim));
        mabd_affine_lap(sim, MABD_AFFINE_STAGE_SOLVE, clock);
    }
    return failed(MABD_OK, -1, -1, "");
}

// One linear solve at the current reference; q_new gets the result.
// `again`: only contacts in blocks have changed since the last one.
static attempt iterate(mabd_affine_sim* sim, mabd_affine_pass pass, bool again,
                       mabd_affine_motion_report* report, mabd_step_info* info) {
    const mabd_affine_backend_ops* on = sim->backend;
    mabd_affine_update_report updated;
    int32_t joint = -1;
    double clock = mabd_clock();
    if (pass == MABD_PASS_FIRST) STAGE(on->restart(sim));
    STAGE(on->assemble(sim, pass));
    clock = mabd_affine_lap(sim, MABD_AFFINE_STAGE_ASSEMBLE, clock);
    const mabd_status status = on->factor(sim, &joint);
    if (status == MABD_ERR_SINGULAR) return singular(joint);
    STAGE(status);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_FACTOR, clock);
    const attempt solved = solve_dual(sim, again);
    if (solved.status != MABD_OK) return solved;
    clock = mabd_clock();
    STAGE(on->update(sim, &updated));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_UPDATE, clock);
    if (updated.inside_out >= 0) return inside_out(updated.inside_out);
    if (updated.joint >= 0) return singular(updated.joint);
    *report = updated.motion;
    info->iterations++;
    info->dual_iterations += sim->dual_report.iterations;
    info->dual_residual = sim->dual_report.residual;
    if (report->broken_body >= 0) {
        return failed(MABD_ERR_DIVERGED, report->broken_body, -1, "the state is not finite at");
    }
    return failed(MABD_OK, -1, -1, "");
}

// The reference for another iteration, and the contacts there; the same if only joints need it.
static attempt relinearize(mabd_affine_sim* sim, bool same_contacts, mabd_affine_find find) {
    const double clock = mabd_clock();
    int32_t body = -1;
    STAGE(sim->backend->relinearize(sim, &body));
    if (body >= 0) return inside_out(body);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_PREDICT, clock);
    if (!same_contacts) return find_contacts(sim, find);
    STAGE(sim->backend->shift_contacts(sim));
    return failed(MABD_OK, -1, -1, "");
}

// What must be closed at the end: after a direct solve the rows that are not linear, after an iterative one
// all of them, measured at the bodies.
static mabd_real opening(const mabd_affine_sim* sim, const mabd_affine_joint_error* open) {
    if (!sim->iterates) return open->nonlinear;
    return open->gap > open->angle ? open->gap : open->angle;
}

mabd_real mabd_affine_row_tolerance(const mabd_affine_sim* sim) {
    const mabd_real row = sim->def.row_tolerance, gap = sim->def.gap_tolerance;
    return sim->iterates && gap > row ? gap : row;
}

static attempt unsettled(const mabd_affine_axis_report* pieces) {
    return failed(MABD_ERR_DIVERGED, -1, pieces->joint,
                  "stops, drives and friction do not settle at");
}

static attempt unsettled_contacts(const mabd_affine_contact_report* touch) {
    return failed(MABD_ERR_DIVERGED, touch->body, -1, "contacts do not settle at");
}

// Projected CG may be stopped before it arrives.
static bool contacts_solved(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    return !c || c->totals.residual <= sim->def.contact_tolerance;
}

static void report_contacts(const mabd_affine_sim* sim, const mabd_affine_contact_report* touch,
                            mabd_step_info* info) {
    if (!sim->contacts) return;
    const mabd_affine_contact_totals* t = &sim->contacts->totals;
    info->contacts = t->active;
    info->contact_iterations += t->products;
    info->contact_points = t->count;
    info->contact_residual = t->residual > touch->miss ? t->residual : touch->miss;
    info->affine.friction_lag = touch->lag;
    info->penetration = t->penetration;
}

// The search for contacts has come to no end, in a part of a step that is not worth halving: what is lowest is taken, and reported.
static attempt accept_best(mabd_affine_sim* sim, mabd_step_info* info,
                           const mabd_affine_contact_report* touch) {
    mabd_affine_joint_error open;
    STAGE(sim->backend->accept_best(sim));
    STAGE(sim->backend->check(sim, &open));
    info->gap = open.gap, info->angle_error = open.angle, info->worst_joint = open.joint;
    report_contacts(sim, touch, info);
    if (!(opening(sim, &open) <= MABD_ACCEPT_JOINT_ERROR)) return unsettled_contacts(touch);
    return failed(MABD_OK, -1, -1, "");
}

static bool has_many_rows(const mabd_affine_sim* sim) {
    return sim->contacts && sim->contacts->rows.contacts.count > MABD_ROW_GOAL_MIN_CONTACTS;
}

// How well contact forces are found at the next reference, where points will be off by about `moves`.
static void set_goal(mabd_affine_sim* sim, mabd_real moves) {
    if (!sim->contacts) return;
    const mabd_real least = MABD_ROW_GOAL_TOLERANCE_PART * sim->def.contact_tolerance;
    mabd_real goal = has_many_rows(sim) ? MABD_ROW_GOAL_MOTION_PART * moves : 0;
    if (!(goal < MABD_ROW_GOAL_MAX_M)) goal = MABD_ROW_GOAL_MAX_M;
    sim->contacts->search.goal = goal > least ? goal : least;
}

// What the last solve makes of that: by how much points have left their planes, and levers turn on by the next one.
static mabd_real still_moves(const mabd_affine_sim* sim, mabd_real bending, mabd_real rotation) {
    const mabd_real lever = sim->contacts ? sim->contacts->geometry->thin * rotation : 0;
    return lever > bending ? lever : bending;
}

// Contacts as rows have turned a body so far from the prediction that references would not settle.
static bool is_violent(const mabd_affine_sim* sim, mabd_real h, mabd_real rotation) {
    const mabd_affine_contacts* c = sim->contacts;
    return c && c->rows.contacts.count > 0 && h > MABD_HALVE_MIN_PART * sim->def.h &&
           rotation > MABD_HALVE_ROTATION_RAD;
}

// What a solve may have left open of axes: contact forces that are off by so much move them.
static mabd_real axis_slack(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_real slack = sim->iterates ? sim->def.gap_tolerance : 0;
    if (!c || c->rows.contacts.count == 0) return slack;
    if (sim->def.contact_tolerance > slack) slack = sim->def.contact_tolerance;
    return c->totals.residual > slack ? c->totals.residual : slack;
}

static bool is_fine(const mabd_affine_sim* sim) {
    return sim->contacts->search.goal <= sim->def.contact_tolerance;
}

// A solve under way: what its last round has left, and how far it has come.
typedef struct search {
    mabd_affine_sim* sim;
    mabd_step_info* info;
    mabd_real h;
    mabd_affine_motion_report motion;
    mabd_affine_axis_report pieces;
    mabd_affine_contact_report touch;
    mabd_affine_joint_error open;
    int32_t reference;       // number of the one that is solved at
    int32_t round;           // solves at it in which contacts were looked at
    int32_t switches;        // solves at references that had been solved at before
    bool solved;             // there has been one
    bool same;               // the next one is at the same reference
    bool anew;               // axes have not been looked at since contacts changed
    bool keep;               // contact forces are those of the last reference
    bool apart;              // copies settle one by one
    mabd_real last_rotation; // of the reference before
    double clock;
} search;

// After a solve:
typedef enum verdict {
    VERDICT_AGAIN, // solve once more at the same reference
    VERDICT_NEXT,  // the pieces are right; look at what it has left, and go to the next
    VERDICT_END,   // no more solves
    VERDICT_LEAVE, // the result is settled, good or bad
} verdict;

static attempt begin_search(search* s, mabd_affine_scheme scheme, mabd_real time) {
    mabd_affine_sim* sim = s->sim;
    const double clock = mabd_clock();
    STAGE(sim->backend->begin(sim, scheme, time, s->h));
    STAGE(sim->backend->predict(sim));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_PREDICT, clock);
    const attempt a = find_contacts(sim, MABD_FIND_FIRST);
    s->info->converged = false;
    s->apart = sim->sizes.apart > 0 && sim->backend->settle_copies;
    if (a.status == MABD_OK) set_goal(sim, mabd_affine_contacts_slide(sim->contacts));
    return a;
}

static bool is_flat(const search* s) {
    return s->touch.bending <= MABD_BENDING_MAX_TOLERANCES * s->sim->def.contact_tolerance;
}
static bool is_turned(const search* s) {
    return s->motion.rotation <= s->sim->def.affine.rotation_tolerance;
}

static attempt next_reference(search* s) {
    mabd_affine_sim* sim = s->sim;
    const bool flat = is_flat(s) && is_turned(s);
    const attempt a = relinearize(
        sim, flat, s->reference < MABD_FIND_MAX_REFERENCES ? MABD_FIND_ANEW : MABD_FIND_MORE);
    if (a.status != MABD_OK) return a;
    set_goal(sim, still_moves(sim, s->touch.bending, s->motion.rotation));
    s->keep = flat && has_many_rows(sim) && contacts_solved(sim);
    s->round = 0, s->anew = true;
    return a;
}

static attempt solve_once(search* s) {
    if (s->solved && !s->same) {
        const attempt a = next_reference(s);
        if (a.status != MABD_OK) return a;
    }
    const mabd_affine_pass pass = !s->solved ? MABD_PASS_FIRST
                                  : s->same  ? MABD_PASS_AGAIN
                                             : MABD_PASS_NEXT;
    const bool again = s->pieces.changed == 0 && (pass == MABD_PASS_AGAIN || s->keep);
    s->solved = true;
    return iterate(s->sim, pass, again, &s->motion, s->info);
}

static bool may_switch(search* s) {
    return ++s->switches < MABD_ACTIVE_SET_SOLVES_PER_ITERATION * s->sim->def.max_iterations;
}

// Axes settle for the pieces of contacts that there are, then these are looked at.
static verdict change_pieces(search* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    mabd_affine_contact_report* touch = &s->touch;
    s->clock = mabd_clock();
    *a = mabd_affine_lost(sim->backend->update_axes(sim, s->anew, axis_slack(sim), &s->pieces));
    if (a->status != MABD_OK) return VERDICT_LEAVE;
    s->anew = s->pieces.changed == 0;
    if (s->pieces.changed > 0 && may_switch(s)) return VERDICT_AGAIN;
    *a = mabd_affine_lost(sim->backend->search_contacts(sim, s->round++, touch));
    if (a->status != MABD_OK) return VERDICT_LEAVE;
    s->info->contact_iterations += touch->changed > 0;
    s->info->line_searches += sim->contacts != NULL;
    // pieces need be no better than the planes of the contacts, which the next reference brings
    const bool off =
        touch->changed > 0 && !(touch->miss <= MABD_SEARCH_BENDING_PART * touch->bending);
    const bool same = (s->pieces.changed > 0 || off) && may_switch(s);
    if (off && s->round >= MABD_SEARCH_MAX_ROUNDS) {
        *a = s->h > MABD_HALVE_MIN_PART * sim->def.h ? unsettled_contacts(touch)
                                                     : accept_best(sim, s->info, touch);
        return VERDICT_LEAVE;
    }
    if (same) return VERDICT_AGAIN;
    if (s->pieces.changed > 0 && s->pieces.miss > MABD_ACCEPT_JOINT_ERROR) {
        *a = unsettled(&s->pieces);
        return VERDICT_LEAVE;
    }
    if (off && touch->miss > MABD_ACCEPT_JOINT_ERROR) {
        *a = unsettled_contacts(touch);
        return VERDICT_LEAVE;
    }
    return VERDICT_NEXT;
}

// The worst of all copies, each by the last solve that is its own.
static void add_copies(search* s) {
    const mabd_affine_sim* sim = s->sim;
    for (size_t i = 0; i < sim->sizes.copies; i++) {
        const mabd_affine_copy_state* copy = &sim->copies[i];
        mabd_affine_joint_error_add(&s->open, &copy->open);
        if (i > 0 && !(copy->rotation > s->motion.rotation)) continue;
        s->motion.rotation = copy->rotation, s->motion.rotated_body = copy->rotated_body;
    }
}

// The same copy by copy: those that are good have their result, the others go on.
static verdict judge_copies(search* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    const bool last = s->reference + 1 == sim->def.max_iterations;
    const mabd_affine_copy_goal goal = {.rotation = sim->def.affine.rotation_tolerance,
                                        .opening = mabd_affine_row_tolerance(sim),
                                        .first = s->reference == 0,
                                        .every_row = sim->iterates,
                                        .last = last};
    int32_t left = 0;
    *a = mabd_affine_lost(sim->backend->settle_copies(sim, &goal, &left));
    if (a->status != MABD_OK) return VERDICT_LEAVE;
    s->info->converged = left == 0;
    if (left > 0 && !last) return VERDICT_NEXT;
    *a = mabd_affine_lost(sim->backend->close_copies(sim));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CHECK, s->clock);
    add_copies(s);
    return a->status == MABD_OK ? VERDICT_END : VERDICT_LEAVE;
}

// Whether the solve is good, or more of them would not make it so.
static verdict judge(search* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    const mabd_real tolerance = mabd_affine_row_tolerance(sim), rotation = s->motion.rotation;
    const int32_t i = s->reference;
    const bool settled = is_turned(s) && (i >= MABD_FIND_MAX_REFERENCES || is_flat(s));
    const bool slows = !(rotation < MABD_MIN_CONTRACTION * s->last_rotation);
    s->last_rotation = rotation;
    if (i >= MABD_HALVE_AFTER_ITERATIONS && sim->contacts && rotation > MABD_ACCEPT_ROTATION_RAD &&
        slows)
        return VERDICT_END;
    if (i == 0 && is_violent(sim, s->h, rotation)) return VERDICT_END;
    const bool right = settled && s->pieces.changed + s->touch.changed == 0;
    if (!right && i + 1 < sim->def.max_iterations) return VERDICT_NEXT;
    *a = mabd_affine_lost(sim->backend->check(sim, &s->open));
    if (a->status != MABD_OK) return VERDICT_LEAVE;
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CHECK, s->clock);
    const bool closed =
        right && opening(sim, &s->open) <= tolerance && s->pieces.opening <= tolerance;
    s->info->converged = closed && contacts_solved(sim);
    if (s->info->converged) return VERDICT_END;
    return closed && is_fine(sim) ? VERDICT_END : VERDICT_NEXT; // its budget is used up
}

// Reports, and tells whether a solve that used up its budget is close enough.
static attempt end_search(const search* s) {
    const mabd_affine_sim* sim = s->sim;
    mabd_step_info* info = s->info;
    report_contacts(sim, &s->touch, info);
    info->affine.rotation = s->motion.rotation;
    info->gap = s->open.gap;
    info->angle_error = s->open.angle;
    info->worst_joint = s->open.joint;
    if (info->converged) return failed(MABD_OK, -1, -1, "");
    if (!(s->motion.rotation <= MABD_ACCEPT_ROTATION_RAD)) {
        return failed(MABD_ERR_DIVERGED, s->motion.rotated_body, -1,
                      "the rotation does not settle at");
    }
    if (!(opening(sim, &s->open) <= MABD_ACCEPT_JOINT_ERROR)) {
        return failed(MABD_ERR_DIVERGED, -1, s->open.joint, "the rows do not close at");
    }
    if (!(s->pieces.opening <= MABD_ACCEPT_JOINT_ERROR)) return unsettled(&s->pieces);
    return failed(MABD_OK, -1, -1, "");
}

mabd_affine_attempt mabd_affine_newton(mabd_affine_sim* sim, mabd_affine_scheme scheme,
                                       mabd_real time, mabd_real h, mabd_step_info* info) {
    search s = {.sim = sim,
                .info = info,
                .h = h,
                .motion = {0, -1, -1, NULL},
                .pieces = {0, 0, 0, -1},
                .touch = {0, 0, 0, 0, -1},
                .open = {0, 0, 0, -1},
                .anew = true,
                .last_rotation = (mabd_real)INFINITY};
    attempt a = begin_search(&s, scheme, time);
    if (a.status != MABD_OK) return a;
    while (s.reference < sim->def.max_iterations) {
        a = solve_once(&s);
        if (a.status != MABD_OK) return a;
        verdict v = change_pieces(&s, &a);
        if (v == VERDICT_NEXT) v = s.apart ? judge_copies(&s, &a) : judge(&s, &a);
        if (v == VERDICT_LEAVE) return a;
        if (v == VERDICT_END) break;
        s.same = v == VERDICT_AGAIN;
        s.reference += !s.same;
    }
    return end_search(&s);
}
