// SPDX-License-Identifier: Apache-2.0
// The active set at one reference. Axes settle for the current branches of contacts (cpu/axes.c),
// then contacts are searched (contact/line_search.c); a solve follows every change, at the same
// reference.

#include "formulation/affine/active_set.h"

#include "formulation/affine/contact/contact_parts.h"
#include "formulation/affine/limits.h"

#include "base/clock.h"

typedef mabd_affine_attempt attempt;

mabd_affine_attempt mabd_affine_axes_unsettled(const mabd_affine_axis_report* axes) {
    return mabd_affine_outcome(MABD_ERR_DIVERGED, -1, axes->joint,
                               "stops, drives and friction do not settle at");
}

static attempt contacts_unsettled(const mabd_affine_contact_report* contacts) {
    return mabd_affine_outcome(MABD_ERR_DIVERGED, contacts->body, -1, "contacts do not settle at");
}

mabd_real mabd_affine_remaining_error(const mabd_affine_sim* sim,
                                      const mabd_affine_joint_error* error) {
    if (!sim->iterates) return error->nonlinear;
    return error->gap > error->angle ? error->gap : error->angle;
}

void mabd_affine_report_contacts(const mabd_affine_sim* sim,
                                 const mabd_affine_contact_report* contacts, mabd_step_info* info) {
    if (!sim->contacts) return;
    const mabd_affine_contact_totals* t = &sim->contacts->totals;
    info->contacts = t->active;
    info->contact_iterations += t->products;
    info->contact_points = t->count;
    info->contact_residual = t->residual > contacts->miss ? t->residual : contacts->miss;
    info->affine.friction_lag = contacts->lag;
    info->penetration = t->penetration;
    info->affine.tolerance_used = mabd_affine_contacts_tolerance(sim);
}

// The contact search did not converge and the substep is too short to halve again: accept the
// iterate of lowest energy and report it.
static attempt accept_best(mabd_affine_sim* sim, mabd_step_info* info,
                           const mabd_affine_contact_report* contacts) {
    mabd_affine_joint_error error;
    MABD_AFFINE_TRY_STAGE(sim->backend->accept_best(sim));
    MABD_AFFINE_TRY_STAGE(sim->backend->check(sim, &error));
    info->gap = error.gap, info->angle_error = error.angle, info->worst_joint = error.joint;
    mabd_affine_report_contacts(sim, contacts, info);
    if (!(mabd_affine_remaining_error(sim, &error) <= MABD_ACCEPT_JOINT_ERROR)) {
        return contacts_unsettled(contacts);
    }
    return mabd_affine_lost(MABD_OK);
}

// Error of axes that a solve may leave: an error of contact forces moves axes by as much.
static mabd_real axis_slack(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_real slack = sim->iterates ? sim->def.gap_tolerance : 0;
    if (!c || c->rows.contacts.count == 0) return slack;
    if (sim->def.contact_tolerance > slack) slack = sim->def.contact_tolerance;
    return c->totals.residual > slack ? c->totals.residual : slack;
}

static bool may_solve_again(mabd_affine_solve* s) {
    return ++s->extra_solves < MABD_ACTIVE_SET_SOLVES_PER_ITERATION * s->sim->def.max_iterations;
}

mabd_affine_verdict mabd_affine_update_active_set(mabd_affine_solve* s, attempt* a) {
    mabd_affine_sim* sim = s->sim;
    mabd_affine_contact_report* contacts = &s->contacts;
    s->clock = mabd_clock();
    *a = mabd_affine_lost(sim->backend->update_axes(sim, s->first_axes, axis_slack(sim), &s->axes));
    if (a->status != MABD_OK) return MABD_VERDICT_LEAVE;
    s->first_axes = s->axes.changed == 0;
    if (s->axes.changed > 0 && may_solve_again(s)) return MABD_VERDICT_AGAIN;
    *a = mabd_affine_lost(sim->backend->search_contacts(sim, s->round++, contacts));
    if (a->status != MABD_OK) return MABD_VERDICT_LEAVE;
    s->info->contact_iterations += contacts->changed > 0;
    // branches need be no better than the planes of the contacts, which the next reference moves
    const bool off =
        contacts->changed > 0 && !(contacts->miss <= MABD_SEARCH_BENDING_PART * contacts->bending);
    const bool again = (s->axes.changed > 0 || off) && may_solve_again(s);
    if (off && s->round >= MABD_SEARCH_MAX_ROUNDS) {
        *a = s->h > MABD_HALVE_MIN_PART * sim->def.h ? contacts_unsettled(contacts)
                                                     : accept_best(sim, s->info, contacts);
        return MABD_VERDICT_LEAVE;
    }
    if (again) return MABD_VERDICT_AGAIN;
    if (s->axes.changed > 0 && s->axes.miss > MABD_ACCEPT_JOINT_ERROR) {
        *a = mabd_affine_axes_unsettled(&s->axes);
        return MABD_VERDICT_LEAVE;
    }
    if (off && contacts->miss > MABD_ACCEPT_JOINT_ERROR) {
        *a = contacts_unsettled(contacts);
        return MABD_VERDICT_LEAVE;
    }
    return MABD_VERDICT_NEXT;
}
