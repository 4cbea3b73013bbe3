// SPDX-License-Identifier: Apache-2.0
// Rounds of the contacts of a step in joint coordinates: motion and forces together.
//
//   r(q) = N(q)'l,   l by the laws of contact_forces.c in the rows g(q)
//
// A round begins at an iterate q with forces l. Points are found there, and
//
//   H dq = -(r - N'l) + N'dl,   l + dl by the laws in  g + N dq
//
// is one problem for the forces, W = N H^-1 N', with loops closed. H has the derivatives of r and
// of N'l (contact_push.c). Then q moves by dq. Near the solution this is Newton's method.
//
// Before the first round nothing is pressed, so the chains of the first H have no tension, which
// would be all that holds their links: r is bilinear, geometry times accelerations and forces. So
// the first round repeats its problem with H at the rates and forces of its own result, in the
// geometry of its start. With dq = h v, r(q + dq) is then met up to dq^2. (Without it, and with
// points that stay on the bodies, chains over pulleys diverge: a link of inertia I, length L and
// tension T that presses with f on a pulley of radius R is stable for f R < T L + I/h^2 only.)
//
// Axes move to other branches of their laws where the way is on another one, and the problem is
// solved again.

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_sim.h"
#include "formulation/redmax/redmax_works.h"

#include <math.h>
#include <string.h>

/// Rounds of a step; most take three.
#define ROUNDS_MAX 20
/// Problems of the first round.
#define FIRST_PROBLEMS 3
/// Problems in which axes may change the branches of their laws.
#define BRANCH_PROBLEMS 20
/// Problems after which friction of an axis that slips the other way is reversed.
#define CYCLE_PROBLEMS 6
/// Growth of the stiffness that holds pressed rows, and how often it grows in a problem.
#define HOLD_MORE 10
#define HOLDS     2
/// Rounds that converge quadratically while axes and points do not change.
#define WHOLE_ROUNDS 6
/// Error of rows after these that is enough: where an axis sticks the forces are not unique [m].
#define SETTLED ((mabd_real)1e-7)
/// Part of the tolerance of contacts to which rows and motion agree, if they improve so far.
#define PRECISE ((mabd_real)1e-2)
/// Largest turn of an axis in a round [rad].
#define TURN_MAX ((mabd_real)0.5)
/// Kinetic energy of a motion that did not converge, relative to that without contacts.
#define VIOLENT_GAIN 2

/// Wrenches of links that H is evaluated with.
typedef enum tension_guess {
    TENSION_NONE,   // zero: that of bodies at rest without forces
    TENSION_KEPT,   // of the last round
    TENSION_OF_WAY, // at the rates after the way of the round
} tension_guess;

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

static mabd_redmax_contact* point_at(const mabd_redmax_sim* sim, int32_t i) {
    return (mabd_redmax_contact*)sim->contacts->points.data + i;
}

// ---- linear problems ---------------------------------------------------------------------------

// Keep the residual of the rows at the iterate under the forces of the last round.
static void begin_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const size_t first = (size_t)s->part->freedom_first;
    mabd_redmax_set_pushes(sim, index);
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    mabd_redmax_axes_rows(s);
    memcpy(sim->contact_rows + first, sim->rows + first,
           (size_t)s->part->freedom_count * sizeof *sim->rows);
    memcpy(sim->contact_r + first, sim->r + first, (size_t)s->part->freedom_count * sizeof *sim->r);
}

// Add the change of the forces of rows in this round, times `sign`.
static void add_row_forces(const mabd_redmax_solve* s, mabd_real sign) {
    mabd_redmax_loops* loops = &s->sim->loops;
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        loops->force[r] += sign * loops->step[r];
    }
}

// Take what is left of the residual from the wrenches of the links, as if couples on both sides of
// each joint balanced it: out of equilibrium H would have the derivatives of columns S times the
// residual, which is more than the inertia of thin links against rolling.
static void balance(mabd_redmax_sim* sim, const mabd_redmax_solve* s) {
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial* S = sim->S + link->first;
        const mabd_real* r = sim->r + link->first;
        if (link->kind == MABD_PRIMITIVE_BALL) {
            if (sim->balls[link->ball].holds) continue;
            const mabd_mat3 back = mabd_turn_inverse(&sim->balls[link->ball].chart);
            sim->F[i].w = mabd_v3_sub(sim->F[i].w, mabd_m3_tmul(back, mabd_v3_load(r)));
            continue;
        }
        for (int32_t k = 0; k < link->count; k++) {
            const mabd_redmax_freedom* f = &sim->freedoms[link->first + k];
            if (f->held || f->prescribed) continue;
            const mabd_real size = mabd_sp_dot(S[k], S[k]);
            sim->F[i] = mabd_sp_axpy(-r[k] / size, S[k], sim->F[i]);
        }
    }
}

// Wrenches of the links in the geometry of the iterate, at the rates and forces after a share of
// the way of the round.
static void find_tension(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index,
                         mabd_real share) {
    mabd_redmax_set_pushes(sim, index);
    mabd_redmax_rates(s);
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->v[k] += share * sim->contact_way[k] / s->gamma;
        sim->a[k] += share * sim->contact_way[k] / (s->gamma * s->gamma);
    }
    add_row_forces(s, share);
    mabd_redmax_residual(s);
    add_row_forces(s, -share);
    balance(sim, s);
}

// Motion and wrenches of a part at rest without forces, in the geometry of the iterate.
static void rest_part(mabd_redmax_sim* sim, const mabd_redmax_solve* s) {
    const size_t first = (size_t)s->part->link_first;
    const size_t bytes = (size_t)s->part->link_count * sizeof *sim->F;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) sim->v[k] = sim->a[k] = 0;
    mabd_redmax_residual(s);
    memset(sim->F + first, 0, bytes);
    memset(sim->A + first, 0, bytes); // gravity
    memset(sim->XA + first, 0, bytes);
}

// Factor H in the geometry of the iterate.
static mabd_status factor_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index,
                               tension_guess guess) {
    const size_t first = (size_t)s->part->link_first;
    int32_t link;
    if (guess == TENSION_NONE) {
        rest_part(sim, s);
    } else {
        find_tension(sim, s, index, guess == TENSION_OF_WAY ? 1 : 0);
    }
    if (guess == TENSION_KEPT) {
        memcpy(sim->F + first, sim->contact_wrench + first,
               (size_t)s->part->link_count * sizeof *sim->F);
    }
    MABD_TRY(mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link));
    return s->part->border_count > 0 ? mabd_redmax_border_factor(s) : MABD_OK;
}

// Add what the last solve of a part does to the rows of its contacts.
static void add_to_rows(mabd_redmax_sim* sim, int32_t index) {
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        mabd_redmax_contact* p = point_at(sim, i);
        for (int side = 0; side < 2; side++) {
            if (p->part[side] != index) continue;
            const size_t link = (size_t)p->link[side];
            const mabd_spatial xi = mabd_sp_load(sim->x + MABD_VARIATION * link + 12);
            for (int k = 0; k < 3; k++) p->rest[k] += mabd_sp_dot(p->row[side][k], xi);
        }
    }
}

// The way of a part under the forces that the round begins with.
static void move_free(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const size_t first = (size_t)s->part->freedom_first;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->step[k] = -sim->contact_rows[k];
    }
    if (s->part->border_count > 0) {
        mabd_redmax_border_solve(s);
    } else {
        mabd_redmax_apply(s, sim->step, sim->step);
    }
    memcpy(sim->contact_way + first, sim->step + first,
           (size_t)s->part->freedom_count * sizeof *sim->step);
    add_to_rows(sim, index);
}

// Change of the wrench of a contact on a side in a problem.
static mabd_spatial change_on(const mabd_redmax_contact* p, int side) {
    mabd_spatial F = mabd_sp_zero();
    for (int k = 0; k < 3; k++) {
        F = mabd_sp_axpy(p->force[k] - p->last[k], p->row[side][k], F);
    }
    return F;
}

// Add the way of a part by the change of the forces.
static void move_by_forces(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const size_t first = (size_t)s->part->freedom_first;
    memset(sim->step + first, 0, (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        const mabd_redmax_contact* p = point_at(sim, i);
        for (int side = 0; side < 2; side++) {
            if (p->part[side] != index) continue;
            mabd_redmax_pull_wrench(sim, p->link[side], change_on(p, side), sim->step);
        }
    }
    mabd_redmax_respond(s, sim->step);
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->contact_way[k] += sim->step[k];
    }
    for (int32_t r = 0; r < s->part->row_count; r++) {
        sim->loops.step[s->part->row_first + r] += sim->loops.y[s->part->border_first + r];
    }
}

void mabd_redmax_subtract_changes(const mabd_redmax_solve* s, mabd_real* forces) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t index = (int32_t)(s->part - sim->parts);
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        const mabd_redmax_contact* p = point_at(sim, i);
        for (int side = 0; side < 2; side++) {
            if (p->part[side] != index) continue;
            mabd_spatial F = change_on(p, side);
            for (int32_t l = p->link[side]; l >= 0; l = sim->links[l].parent) {
                const mabd_redmax_link* link = &sim->links[l];
                for (int32_t k = link->first; k < link->first + link->count; k++) {
                    forces[k] -= mabd_sp_dot(sim->S[k], F);
                }
                F = mabd_frame_to_parent(&sim->E[l], F);
            }
        }
    }
}

// Move axes of a part to the branches of their laws that the way is on; true if some have moved.
static bool move_axes(mabd_redmax_sim* sim, const mabd_redmax_solve* s, int k) {
    const size_t at = (size_t)s->part->freedom_first;
    const size_t bytes = (size_t)s->part->freedom_count * sizeof *sim->r;
    int32_t link;
    if (s->part->law_count == 0) return false;
    memcpy(sim->step + at, sim->contact_way + at, bytes);
    memcpy(sim->r + at, sim->contact_r + at, bytes);
    if (k >= CYCLE_PROBLEMS && mabd_redmax_reverse_slips(s)) return true;
    return mabd_redmax_move_axes(s, k == 0, &link);
}

// The forces by H with the wrenches of `guess`, and the way by them.
static mabd_status try_problem(mabd_redmax_sim* sim, tension_guess guess, const mabd_real* before,
                               mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = mabd_redmax_contact_host_of(sim);
    for (int32_t i = 0; i < c->points.count; i++) {
        mabd_redmax_contact* p = point_at(sim, i);
        memcpy(p->force, p->last, sizeof p->force);
        memcpy(p->rest, p->start, sizeof p->rest);
    }
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        const mabd_redmax_solve* s = &sim->contact_solves[i];
        const size_t first = (size_t)s->part->freedom_first;
        memcpy(sim->contact_way + first, before + first,
               (size_t)s->part->freedom_count * sizeof *before);
        *bad = i;
        begin_part(sim, &sim->contact_solves[i], i);
        MABD_TRY(factor_part(sim, &sim->contact_solves[i], i, guess));
        move_free(sim, &sim->contact_solves[i], i);
    }
    return mabd_redmax_contact_forces(c, &host, sim->def.redmax.contacts,
                                      sim->def.contact_tolerance, info);
}

// One problem for the forces. Where W has no minimum within the laws, H holds pressed rows by more.
static mabd_status solve_problem(mabd_redmax_sim* sim, tension_guess guess, mabd_step_info* info,
                                 int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    mabd_status status = MABD_OK;
    for (int32_t i = 0; i < c->points.count; i++) {
        memcpy(point_at(sim, i)->last, point_at(sim, i)->force, sizeof point_at(sim, i)->last);
    }
    memcpy(sim->trial, sim->contact_way, (size_t)sim->freedom_count * sizeof *sim->trial);
    for (int k = 0; k < HOLDS; k++) {
        status = try_problem(sim, guess, sim->trial, info, bad);
        if (status == MABD_ERR_MEMORY) return status;
        if (status == MABD_OK && info->contact_residual <= sim->def.contact_tolerance) break;
        c->hold *= HOLD_MORE;
    }
    if (status == MABD_ERR_DIVERGED) {
        sim->reports[*bad].reason = "the forces of contacts diverge near";
    }
    MABD_TRY(status);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (c->touches[i]) move_by_forces(sim, &sim->contact_solves[i], i);
    }
    return MABD_OK;
}

// ---- rounds ------------------------------------------------------------------------------------

// Largest part of the way that turns no axis by more than TURN_MAX; *size: of the whole [rad].
static mabd_real share_of_way(const mabd_redmax_sim* sim, mabd_real* size) {
    *size = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!sim->contacts->touches[i]) continue;
        const mabd_redmax_solve* s = &sim->contact_solves[i];
        for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
            const mabd_real own = (mabd_real)fabs(sim->contact_way[k]) / sim->freedoms[k].length;
            if (!(own <= *size)) *size = own;
        }
    }
    return *size > TURN_MAX ? TURN_MAX / *size : 1;
}

static void move_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, mabd_real share) {
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] += share * sim->contact_way[k];
    }
    add_row_forces(s, share);
    mabd_redmax_rates(s);
    mabd_redmax_velocities(s);
}

// Largest change of gaps and slips that the forces ask for in this round [m].
static mabd_real change_of_rows(const mabd_redmax_sim* sim) {
    mabd_real most = 0;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        const mabd_redmax_contact* p = point_at(sim, i);
        for (int k = 0; k < 3; k++) {
            const mabd_real own = (mabd_real)fabs(p->wanted[k] - p->start[k]);
            if (!(own <= most)) most = own;
        }
    }
    return most;
}

// Solve problems until no axis of a part changes the branch of its law.
static mabd_status solve_branches(mabd_redmax_sim* sim, tension_guess guess, mabd_step_info* info,
                                  int32_t* bad) {
    bool moves = true;
    for (int k = 0; k < BRANCH_PROBLEMS && moves; k++) {
        MABD_TRY(solve_problem(sim, guess, info, bad));
        moves = false;
        for (int32_t i = 0; i < sim->part_count; i++) {
            if (sim->contacts->touches[i]) {
                moves |= move_axes(sim, &sim->contact_solves[i], k);
            }
        }
    }
    sim->contacts->moves = moves;
    return MABD_OK;
}

// One round; *error: the way of its rows [m].
static mabd_status take_round(mabd_redmax_sim* sim, int k, mabd_step_info* info, int32_t* bad,
                              mabd_real* error) {
    mabd_redmax_contacts* c = sim->contacts;
    mabd_real size;
    MABD_TRY(mabd_redmax_find_again(sim));
    MABD_TRY(solve_branches(sim, k == 0 ? TENSION_NONE : TENSION_KEPT, info, bad));
    for (int j = 1; k == 0 && j < FIRST_PROBLEMS; j++) {
        MABD_TRY(solve_branches(sim, TENSION_OF_WAY, info, bad));
    }
    const mabd_real share = share_of_way(sim, &size);
    if (!isfinite(size)) return MABD_ERR_DIVERGED;
    *error = change_of_rows(sim);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        mabd_redmax_solve* s = &sim->contact_solves[i];
        find_tension(sim, s, i, share);
        memcpy(sim->contact_wrench + s->part->link_first, sim->F + s->part->link_first,
               (size_t)s->part->link_count * sizeof *sim->F);
        move_part(sim, s, share);
    }
    return MABD_OK;
}

// True if the parts with contacts have far more kinetic energy than without: contacts give none,
// so forces that do are none.
static bool is_violent(const mabd_redmax_sim* sim) {
    const mabd_redmax_contacts* c = sim->contacts;
    mabd_real sum = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (c->touches[i]) sum += mabd_redmax_kinetic(&sim->contact_solves[i]);
    }
    return !(sum <= VIOLENT_GAIN * c->kinetic);
}

static mabd_status give_up(mabd_redmax_sim* sim, mabd_status status, int32_t bad) {
    if (!sim->reports[bad].reason) {
        sim->reports[bad].reason = "the forces of contacts diverge near";
    }
    return status;
}

static mabd_status finish(mabd_redmax_sim* sim, mabd_step_info* info) {
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!sim->contacts->touches[i]) continue;
        mabd_redmax_set_pushes(sim, i);
        const mabd_redmax_solve* s = &sim->contact_solves[i];
        mabd_redmax_rates(s);
        mabd_redmax_residual(s);
        mabd_redmax_clear_means(s); // those without contacts
        mabd_redmax_begin_stages(s);
        mabd_redmax_add_stage(s, s->h, false);
        mabd_redmax_keep_stages(s);
    }
    info->converged &= info->contact_residual <= sim->def.contact_tolerance;
    info->converged &= !sim->contacts->moves;
    return MABD_OK;
}

// Begin where the part would be with the velocities of the start of the step.
static void start_part(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] = sim->q_b[k] + s->gamma * sim->v_b[k];
    }
    mabd_redmax_follow(s);
    mabd_redmax_start_axes(s);
    mabd_redmax_rates(s);
    mabd_redmax_velocities(s);
}

mabd_status mabd_redmax_contact_rounds(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    const mabd_real goal = sim->def.contact_tolerance;
    mabd_redmax_contacts* c = sim->contacts;
    mabd_real error = (mabd_real)INFINITY;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (c->touches[i]) start_part(&sim->contact_solves[i]);
    }
    c->hold = 1;
    for (int k = 0; k < ROUNDS_MAX; k++) {
        const mabd_real last = error;
        const mabd_status status = take_round(sim, k, info, bad, &error);
        if (status == MABD_ERR_MEMORY) return status;
        if (status != MABD_OK) return give_up(sim, status, *bad);
        const bool exact = error <= PRECISE * goal || (error <= goal && error > last / 2);
        const bool solved = (info->contact_residual <= goal && !c->moves) || !sim->divides;
        if (exact && solved && k > 0) return finish(sim, info);
        if (k >= WHOLE_ROUNDS && solved && error <= SETTLED) return finish(sim, info);
    }
    info->converged = false;
    if (error > info->contact_residual) info->contact_residual = error;
    if (!sim->divides && !is_violent(sim)) return finish(sim, info);
    return give_up(sim, MABD_ERR_DIVERGED, *bad);
}
