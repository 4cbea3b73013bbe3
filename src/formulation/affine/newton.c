// SPDX-License-Identifier: Apache-2.0
// One implicit solve of a time step, whatever its scheme.
//
//   predict, find contacts
//   repeat   assemble, factor, solve, update; again at the same reference while branches of the
//            force laws of axes or contacts change (active_set.c)
//   until    the largest rotation of a body from its reference is below rotation_tolerance and the
//            error of the rows that one linear solve does not close is below row_tolerance, or the
//            iterations are used up
//
// Contacts of a pile (contact/parts.c) are solved at MABD_PILE_MAX_REFERENCES at most. Once bodies
// and planes have settled, contact forces stay, as external forces at material points, and
// references go on for joints alone until their rows are closed.
//
// A fixed number of one or two iterations gains energy where links turn far in a step (the crack of
// a whip); iterating on the rotation does not.

#include "formulation/affine/newton.h"

#include "formulation/affine/active_set.h"
#include "formulation/affine/contact/contact_parts.h"
#include "formulation/affine/contact/contact_rows.h"
#include "formulation/affine/limits.h"

#include "base/clock.h"

#include <math.h>

typedef mabd_affine_attempt attempt;
typedef mabd_affine_solve solve;
typedef mabd_affine_verdict verdict;

// ---- failures ----------------------------------------------------------------------------------

static attempt good(void) {
    return mabd_affine_outcome(MABD_OK, -1, -1, "");
}

static attempt out_of_memory(void) {
    return mabd_affine_outcome(MABD_ERR_MEMORY, 0, -1, "out of memory for contacts, at first of");
}

static attempt singular(int32_t joint) {
    return mabd_affine_outcome(MABD_ERR_SINGULAR, -1, joint,
                               "the dual matrix is not positive definite at");
}

static attempt inside_out(int32_t body) {
    return mabd_affine_outcome(MABD_ERR_DIVERGED, body, -1, "a body is turned inside out at");
}

static attempt broken(int32_t body) {
    return mabd_affine_outcome(MABD_ERR_DIVERGED, body, -1, "the state is not finite at");
}

double mabd_affine_lap(mabd_affine_sim* sim, mabd_affine_stage stage, double since) {
    const double now = mabd_clock();
    sim->times[stage] += now - since;
    return now;
}

// ---- one linear solve --------------------------------------------------------------------------

// Find the contacts at the reference.
static attempt find_contacts(mabd_affine_sim* sim, mabd_affine_find find) {
    const double clock = mabd_clock();
    const mabd_status status = sim->backend->find_contacts(sim, find);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CONTACT, clock);
    if (status == MABD_ERR_MEMORY) return out_of_memory();
    if (status == MABD_ERR_DEVICE) return mabd_affine_lost(status);
    const int32_t body = sim->contacts ? sim->contacts->geometry->bad_body : 0;
    return mabd_affine_outcome(status, body, -1, "the prediction is not finite, at first of");
}

static bool has_coupled_contacts(const mabd_affine_contacts* c) {
    return c && c->rows.contacts.count + c->support.contacts.count > 0;
}

// Solve for the multipliers, and for the forces of contacts that are rows or have supports.
static attempt solve_dual(mabd_affine_sim* sim, bool again) {
    const double clock = mabd_clock();
    if (has_coupled_contacts(sim->contacts)) {
        const mabd_status status = sim->backend->solve_contacts(sim, again);
        mabd_affine_lap(sim, MABD_AFFINE_STAGE_CONTACT, clock);
        if (status == MABD_ERR_MEMORY) return out_of_memory();
        MABD_AFFINE_TRY_STAGE(status);
    } else {
        MABD_AFFINE_TRY_STAGE(sim->backend->solve(sim));
        mabd_affine_lap(sim, MABD_AFFINE_STAGE_SOLVE, clock);
    }
    return good();
}

// One linear solve at the current reference; q_new gets the result. `again`: only eliminated
// contacts have changed since the last one.
static attempt iterate(mabd_affine_sim* sim, mabd_affine_pass pass, bool again,
                       mabd_affine_motion_report* report, mabd_step_info* info) {
    const mabd_affine_backend_ops* on = sim->backend;
    mabd_affine_update_report updated;
    int32_t joint = -1;
    double clock = mabd_clock();
    if (pass == MABD_PASS_FIRST) MABD_AFFINE_TRY_STAGE(on->restart(sim));
    MABD_AFFINE_TRY_STAGE(on->assemble(sim, pass));
    clock = mabd_affine_lap(sim, MABD_AFFINE_STAGE_ASSEMBLE, clock);
    const mabd_status status = on->factor(sim, &joint);
    if (status == MABD_ERR_SINGULAR) return singular(joint);
    MABD_AFFINE_TRY_STAGE(status);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_FACTOR, clock);
    const attempt solved = solve_dual(sim, again);
    if (solved.status != MABD_OK) return solved;
    clock = mabd_clock();
    MABD_AFFINE_TRY_STAGE(on->update(sim, &updated));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_UPDATE, clock);
    if (updated.inside_out >= 0) return inside_out(updated.inside_out);
    if (updated.joint >= 0) return singular(updated.joint);
    *report = updated.motion;
    info->iterations++;
    info->dual_iterations += sim->dual_report.iterations;
    info->dual_residual = sim->dual_report.residual;
    return report->broken_body < 0 ? good() : broken(report->broken_body);
}

// ---- references --------------------------------------------------------------------------------

// Take the solution as the next reference and find the contacts there; with same_contacts their
// points and normals stay.
static attempt relinearize(mabd_affine_sim* sim, bool same_contacts, mabd_affine_find find) {
    const double clock = mabd_clock();
    int32_t body = -1;
    MABD_AFFINE_TRY_STAGE(sim->backend->relinearize(sim, &body));
    if (body >= 0) return inside_out(body);
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_PREDICT, clock);
    if (!same_contacts) return find_contacts(sim, find);
    MABD_AFFINE_TRY_STAGE(sim->backend->shift_contacts(sim));
    return good();
}

mabd_real mabd_affine_row_tolerance(const mabd_affine_sim* sim) {
    const mabd_real row = sim->def.row_tolerance, gap = sim->def.gap_tolerance;
    return sim->iterates && gap > row ? gap : row;
}

// The same for the current solve: a part of a step may leave what the next one takes back.
static mabd_real solve_tolerance(const mabd_affine_sim* sim) {
    const mabd_real row = mabd_affine_row_tolerance(sim), gap = sim->def.gap_tolerance;
    return sim->contacts && sim->contacts->search.passes && gap > row ? gap : row;
}

// Iterative solvers of contact rows may stop before they converge.
static bool contacts_converged(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    return !c || c->totals.residual <= mabd_affine_contacts_tolerance(sim);
}

static bool has_many_rows(const mabd_affine_sim* sim) {
    return sim->contacts && sim->contacts->rows.contacts.count > MABD_ROW_GOAL_MIN_CONTACTS;
}

// Set the accuracy of contact forces at the next reference, where points will be off by `motion`
// [m].
static void set_goal(mabd_affine_sim* sim, mabd_real motion) {
    if (!sim->contacts) return;
    const bool pile =
        mabd_affine_contacts_are_pile(sim->contacts) && sim->contacts->search.parts > 1;
    const mabd_real least = pile ? MABD_PILE_GOAL_PART * mabd_affine_contacts_tolerance(sim)
                                 : MABD_ROW_GOAL_TOLERANCE_PART * sim->def.contact_tolerance;
    mabd_real goal = has_many_rows(sim) ? MABD_ROW_GOAL_MOTION_PART * motion : 0;
    if (!(goal < MABD_ROW_GOAL_MAX_M)) goal = MABD_ROW_GOAL_MAX_M;
    sim->contacts->search.goal = goal > least ? goal : least;
}

static bool has_final_goal(const mabd_affine_sim* sim) {
    return sim->contacts->search.goal <= mabd_affine_contacts_tolerance(sim);
}

// Estimate of that motion from the last solve: points leave their planes by `bending`, and levers
// of the least thickness turn by `rotation`.
static mabd_real next_motion(const mabd_affine_sim* sim, mabd_real bending, mabd_real rotation) {
    const mabd_real lever = sim->contacts ? sim->contacts->geometry->thin * rotation : 0;
    return lever > bending ? lever : bending;
}

// Contacts as rows have turned a body so far from the prediction that references would not settle.
static bool turns_too_far(const mabd_affine_sim* sim, mabd_real h, mabd_real rotation) {
    const mabd_affine_contacts* c = sim->contacts;
    return c && c->rows.contacts.count > 0 && h > MABD_HALVE_MIN_PART * sim->def.h &&
           rotation > MABD_HALVE_ROTATION_RAD;
}

// True if the contacts of a step that is not divided ask for substeps.
static bool wants_parts(const solve* s) {
    mabd_affine_contacts* c = s->sim->contacts;
    if (!c || c->search.parts > 1) return false;
    const int32_t halvings = s->sim->def.max_halvings;
    const int32_t most = halvings < 4 ? (int32_t)1 << halvings : MABD_MAX_PARTS;
    c->search.wanted = mabd_affine_contacts_parts(s->sim, s->h, most);
    return c->search.wanted > 1;
}

static attempt begin(solve* s, mabd_affine_scheme scheme, mabd_real time) {
    mabd_affine_sim* sim = s->sim;
    const double clock = mabd_clock();
    MABD_AFFINE_TRY_STAGE(sim->backend->begin_solve(sim, scheme, time, s->h));
    MABD_AFFINE_TRY_STAGE(sim->backend->predict(sim));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_PREDICT, clock);
    const attempt a = find_contacts(sim, MABD_FIND_FIRST);
    s->info->converged = false;
    s->by_copy = sim->sizes.by_copy > 0 && sim->backend->settle_copies;
    if (a.status != MABD_OK) return a;
    if (wants_parts(s)) {
        return mabd_affine_outcome(MABD_ERR_DIVERGED, -1, -1, "contacts ask for substeps");
    }
    set_goal(sim, mabd_affine_contacts_slide(sim->contacts));
    return a;
}

// Contact points are close to the planes they were found with.
static bool is_flat(const solve* s) {
    const bool pile = mabd_affine_contacts_are_pile(s->sim->contacts);
    const mabd_real tolerances = pile ? MABD_PILE_BENDING_TOLERANCES : MABD_BENDING_MAX_TOLERANCES;
    return s->contacts.bending <= tolerances * mabd_affine_contacts_tolerance(s->sim);
}

static bool is_rotation_small(const solve* s) {
    return s->motion.rotation <= s->sim->def.affine.rotation_tolerance;
}

// Contacts of a pile are not solved again from this reference on, settled or not.
static bool has_spent_contacts(const solve* s) {
    return mabd_affine_contacts_are_pile(s->sim->contacts) &&
           s->reference + 1 >= MABD_PILE_MAX_REFERENCES;
}

static attempt next_reference(solve* s) {
    mabd_affine_sim* sim = s->sim;
    const bool pile = mabd_affine_contacts_are_pile(sim->contacts);
    const bool spent = pile && s->reference >= MABD_PILE_MAX_REFERENCES;
    const bool flat = spent || (is_flat(s) && is_rotation_small(s));
    const bool anew = s->reference < MABD_FIND_MAX_REFERENCES;
    const attempt a = relinearize(sim, flat, anew ? MABD_FIND_ANEW : MABD_FIND_MORE);
    if (a.status != MABD_OK) return a;
    set_goal(sim, next_motion(sim, s->contacts.bending, s->motion.rotation));
    s->keep_forces = flat && (pile || has_many_rows(sim)) && (spent || contacts_converged(sim));
    s->round = 0, s->first_axes = true;
    return a;
}

static attempt solve_once(solve* s) {
    if (s->solved && !s->same_reference) {
        const attempt a = next_reference(s);
        if (a.status != MABD_OK) return a;
    }
    const mabd_affine_pass pass = !s->solved          ? MABD_PASS_FIRST
                                  : s->same_reference ? MABD_PASS_AGAIN
                                                      : MABD_PASS_NEXT;
    const bool again = s->axes.changed == 0 && (pass == MABD_PASS_AGAIN || s->keep_forces);
    s->solved = true;
    return iterate(s->sim, pass, again, &s->motion, s->info);
}

// The branches are right: move the bodies that linear solves at this reference left out.
static verdict complete(solve* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    const double clock = mabd_clock();
    if (!sim->backend->complete) return MABD_VERDICT_NEXT;
    *a = mabd_affine_lost(sim->backend->complete(sim, &s->motion));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_UPDATE, clock);
    if (a->status == MABD_OK && s->motion.broken_body >= 0) *a = broken(s->motion.broken_body);
    return a->status == MABD_OK ? MABD_VERDICT_NEXT : MABD_VERDICT_LEAVE;
}

// ---- acceptance --------------------------------------------------------------------------------

// Report the worst copy, each by the last solve that counts for it.
static void add_copies(solve* s) {
    const mabd_affine_sim* sim = s->sim;
    for (size_t i = 0; i < sim->sizes.copies; i++) {
        const mabd_affine_copy_state* copy = &sim->copies[i];
        mabd_affine_joint_error_add(&s->joint_error, &copy->open);
        if (i > 0 && !(copy->rotation > s->motion.rotation)) continue;
        s->motion.rotation = copy->rotation, s->motion.rotated_body = copy->rotated_body;
    }
}

// Judge copy by copy: converged copies save their result, the others continue.
static verdict judge_copies(solve* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    const bool last = s->reference + 1 == sim->def.max_iterations;
    const mabd_affine_copy_goal goal = {.rotation = sim->def.affine.rotation_tolerance,
                                        .joint_error = mabd_affine_row_tolerance(sim),
                                        .first = s->reference == 0,
                                        .every_row = sim->iterates,
                                        .last = last};
    int32_t left = 0;
    *a = mabd_affine_lost(sim->backend->settle_copies(sim, &goal, &left));
    if (a->status != MABD_OK) return MABD_VERDICT_LEAVE;
    s->info->converged = left == 0;
    if (left > 0 && !last) return MABD_VERDICT_NEXT;
    *a = mabd_affine_lost(sim->backend->close_copies(sim));
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CHECK, s->clock);
    add_copies(s);
    return a->status == MABD_OK ? MABD_VERDICT_END : MABD_VERDICT_LEAVE;
}

// Judge whether the solve is good, or whether more iterations would not make it so.
static verdict judge(solve* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    const mabd_real tolerance = solve_tolerance(sim), rotation = s->motion.rotation;
    const int32_t i = s->reference;
    const bool rolled = s->contacts.rolling <= MABD_TURN_TORQUE_PART;
    const bool settled =
        is_rotation_small(s) && (i >= MABD_FIND_MAX_REFERENCES || (is_flat(s) && rolled));
    const bool stalls = !(rotation < MABD_MIN_CONTRACTION * s->last_rotation);
    s->last_rotation = rotation;
    if (i >= MABD_HALVE_AFTER_ITERATIONS && sim->contacts && rotation > MABD_ACCEPT_ROTATION_RAD &&
        stalls)
        return MABD_VERDICT_END;
    if (i == 0 && turns_too_far(sim, s->h, rotation)) return MABD_VERDICT_END;
    const bool stays = s->axes.changed + s->contacts.changed == 0;
    const bool right = (settled || has_spent_contacts(s)) && stays;
    if (!right && i + 1 < sim->def.max_iterations) return MABD_VERDICT_NEXT;
    *a = mabd_affine_lost(sim->backend->check(sim, &s->joint_error));
    if (a->status != MABD_OK) return MABD_VERDICT_LEAVE;
    mabd_affine_lap(sim, MABD_AFFINE_STAGE_CHECK, s->clock);
    const bool closed = right && mabd_affine_remaining_error(sim, &s->joint_error) <= tolerance &&
                        s->axes.joint_error <= tolerance;
    s->info->converged = closed && settled && contacts_converged(sim);
    if (s->info->converged) return MABD_VERDICT_END;
    // its products are used up
    return closed && has_final_goal(sim) ? MABD_VERDICT_END : MABD_VERDICT_NEXT;
}

// Report, and decide whether a solve that used up its iterations is close enough.
static attempt end(const solve* s) {
    const mabd_affine_sim* sim = s->sim;
    mabd_step_info* info = s->info;
    mabd_affine_report_contacts(sim, &s->contacts, info);
    info->affine.rotation = s->motion.rotation;
    info->gap = s->joint_error.gap;
    info->angle_error = s->joint_error.angle;
    info->worst_joint = s->joint_error.joint;
    if (info->converged) return good();
    if (!(s->motion.rotation <= MABD_ACCEPT_ROTATION_RAD)) {
        return mabd_affine_outcome(MABD_ERR_DIVERGED, s->motion.rotated_body, -1,
                                   "the rotation does not settle at");
    }
    if (!(mabd_affine_remaining_error(sim, &s->joint_error) <= MABD_ACCEPT_JOINT_ERROR)) {
        return mabd_affine_outcome(MABD_ERR_DIVERGED, -1, s->joint_error.joint,
                                   "the rows do not close at");
    }
    if (!(s->axes.joint_error <= MABD_ACCEPT_JOINT_ERROR))
        return mabd_affine_axes_unsettled(&s->axes);
    return good();
}

mabd_affine_attempt mabd_affine_newton(mabd_affine_sim* sim, mabd_affine_scheme scheme,
                                       mabd_real time, mabd_real h, mabd_step_info* info) {
    solve s = {.sim = sim,
               .info = info,
               .h = h,
               .motion = {0, -1, -1, NULL},
               .axes = {0, 0, 0, -1},
               .contacts = {.body = -1},
               .joint_error = {0, 0, 0, -1},
               .first_axes = true,
               .last_rotation = (mabd_real)INFINITY};
    attempt a = begin(&s, scheme, time);
    if (a.status != MABD_OK) return a;
    while (s.reference < sim->def.max_iterations) {
        a = solve_once(&s);
        if (a.status != MABD_OK) return a;
        verdict v = mabd_affine_update_active_set(&s, &a);
        if (v == MABD_VERDICT_NEXT) v = complete(&s, &a);
        if (v == MABD_VERDICT_NEXT) v = s.by_copy ? judge_copies(&s, &a) : judge(&s, &a);
        if (v == MABD_VERDICT_LEAVE) return a;
        if (v == MABD_VERDICT_END) break;
        s.same_reference = v == MABD_VERDICT_AGAIN;
        s.reference += !s.same_reference;
    }
    return end(&s);
}
