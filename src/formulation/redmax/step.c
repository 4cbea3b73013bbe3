// SPDX-License-Identifier: Apache-2.0
// The time step of the redmax formulation.
//
// Implicit methods are stages (q_b, v_b, gamma) with v = (q - q_b)/gamma, a = (v - v_b)/gamma:
//
//   euler     gamma = h          q_b = q_n                        v_b = v_n
//   bdf2      gamma = 2h/3       q_b = (4 q_n - q_(n-1))/3        v_b = (4 v_n - v_(n-1))/3
//   sdirk2    gamma = alpha h    q_b = q_n                        v_b = v_n
//             gamma = alpha h    q_b = q_n + (1-alpha) h v_al     v_b = v_n + (1-alpha) h a_al
//
// with alpha = 1 - sqrt(1/2) and v_al, a_al of the first stage. Bdf2 starts by sdirk2, also after
// jumps of inputs and after a step that was halved. Explicit methods are in explicit.c.
//
// Each part takes the step on its own. A step that fails, or that gains energy (guard.c), is
// repeated in parts of h/2, h/4, ... by the method without history. Results go to `next`; if all
// parts succeed, `next` becomes `now` and `now` becomes `last`. A failed step leaves the state as
// it was. Steps in which the law of an axis jumps: axes.c.
//
// Balls: charts are centred at the start of the step, so q_n = 0, v_n = omega_n, and the history is
// q_(n-1) = log(R_n' R_(n-1)), v_(n-1) = J(q_(n-1))^-1 omega_(n-1). Charts of their own: charts.c.

#include "formulation/redmax/redmax_sim.h"

#include "base/clock.h"
#include "base/error.h"
#include "formulation/redmax/explicit.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_lanes.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_works.h"

#include <math.h>
#include <string.h>

/// Divisions of a step whose contacts fail; from these on motions that did not converge, or that
/// gained energy, are used and reported.
#define DIVISIONS_EXACT 4

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}
static int32_t last_link(const mabd_redmax_solve* s) {
    return s->part->link_first + s->part->link_count;
}

// ---- nodes -------------------------------------------------------------------------------------

void mabd_redmax_load_node(const mabd_redmax_solve* s, const mabd_redmax_node* node) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] = node->q[k], sim->v[k] = node->v[k], sim->a[k] = 0;
    }
    for (int32_t i = s->part->link_first; s->part->has_charts && i < last_link(s); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const bool charted = mabd_redmax_is_charted(s, link);
        for (int32_t k = link->first; link->ball >= 0 && k < link->first + 3; k++) {
            sim->q[k] = charted ? s->start_q[k] : 0;
            if (charted) sim->v[k] = s->start_v[k];
        }
    }
}

// Rotation of a ball at the end of a step.
static mabd_quat end_turn(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                          const mabd_turn_chart* chart, mabd_vec3 q) {
    const mabd_real angle = mabd_v3_norm(q);
    const mabd_vec3 axis = angle > 0 ? mabd_v3_scale(1 / angle, q) : q;
    if (mabd_turn_is_euler(chart)) return mabd_q_from_matrix(chart->euler.R);
    return mabd_q_product(mabd_redmax_center(s, link), mabd_q_axis_angle(axis, angle));
}

static void store_ball(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                       mabd_redmax_node* to) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_vec3 q = mabd_v3_load(sim->q + link->first), v = mabd_v3_load(sim->v + link->first);
    const mabd_turn_chart chart = mabd_redmax_chart_at(s, link, q);
    const mabd_quat turn = mabd_q_normalize(end_turn(s, link, &chart, q));
    const mabd_quat joint = link->reversed ? mabd_q_conjugate(turn) : turn;
    const mabd_vec3 near = mabd_v3_load(s->from_node->theta + 3 * (size_t)link->ball);
    const mabd_vec3 theta = mabd_so3_log(mabd_q_matrix(joint));
    mabd_q_store(turn, to->turn + 4 * (size_t)link->ball);
    mabd_v3_store(mabd_rotvec_unwrap(theta, near, mabd_v3(1, 1, 1)),
                  to->theta + 3 * (size_t)link->ball);
    mabd_redmax_store_chart(s, link, to);
    mabd_v3_store(mabd_turn_mul(&chart, v), to->v + link->first);
}

void mabd_redmax_store_node(const mabd_redmax_solve* s, mabd_redmax_node* to) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < last_link(s); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind == MABD_PRIMITIVE_BALL) {
            store_ball(s, link, to);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            to->q[k] = sim->q[k], to->v[k] = sim->v[k];
        }
    }
}

void mabd_redmax_copy_node(const mabd_redmax_solve* s, const mabd_redmax_node* from,
                           mabd_redmax_node* to) {
    for (int32_t i = s->part->link_first; i < last_link(s); i++) {
        const mabd_redmax_link* link = &s->sim->links[i];
        const size_t first = (size_t)link->first, bytes = (size_t)link->count * sizeof(mabd_real);
        memcpy(to->q + first, from->q + first, bytes);
        memcpy(to->v + first, from->v + first, bytes);
        if (link->ball < 0) continue;
        const size_t ball = (size_t)link->ball;
        memcpy(to->turn + 4 * ball, from->turn + 4 * ball, 4 * sizeof(mabd_real));
        memcpy(to->theta + 3 * ball, from->theta + 3 * ball, 3 * sizeof(mabd_real));
        to->chart[ball] = from->chart[ball];
    }
}

// ---- stages ------------------------------------------------------------------------------------

void mabd_redmax_local_past(const mabd_redmax_link* link, const mabd_redmax_node* at,
                            const mabd_redmax_node* before, mabd_real* q_out, mabd_real* v_out) {
    const size_t ball = (size_t)link->ball;
    const mabd_quat now = mabd_q_load(at->turn + 4 * ball);
    const mabd_quat last = mabd_q_load(before->turn + 4 * ball);
    const mabd_mat3 back = mabd_q_matrix(mabd_q_product(mabd_q_conjugate(now), last));
    const mabd_vec3 q = mabd_so3_log(back);
    mabd_v3_store(q, q_out + link->first);
    mabd_v3_store(mabd_chart_rates(q, mabd_v3_load(before->v + link->first)), v_out + link->first);
}

static void load_history(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    if (s->part->structure.plain) { // no balls
        const size_t first = (size_t)s->part->freedom_first;
        const size_t bytes = (size_t)s->part->freedom_count * sizeof *sim->q_m;
        memcpy(sim->q_m + first, sim->last.q + first, bytes);
        memcpy(sim->v_m + first, sim->last.v + first, bytes);
        return;
    }
    for (int32_t i = s->part->link_first; i < last_link(s); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (mabd_redmax_is_charted(s, link)) {
            mabd_redmax_chart_past(s, link, &sim->last, sim->q_m + link->first,
                                   sim->v_m + link->first);
            continue;
        }
        if (link->kind == MABD_PRIMITIVE_BALL) {
            mabd_redmax_local_past(link, &sim->now, &sim->last, sim->q_m, sim->v_m);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sim->q_m[k] = sim->last.q[k], sim->v_m[k] = sim->last.v[k];
        }
    }
}

void mabd_redmax_follow(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    if (s->part->structure.lean && !s->part->structure.ruled) return; // none is prescribed
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_real q, rate;
        if (!sim->freedoms[k].prescribed) continue;
        mabd_redmax_prescribed(s, k, &q, &rate);
        const bool follow = s->by_rate && mabd_redmax_has_rate(sim, k);
        sim->q[k] = follow ? sim->q_b[k] + s->gamma * rate : q;
    }
}

// Base of a stage at the start of the step.
static void set_base(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q_b[k] = s->start_q[k], sim->v_b[k] = s->start_v[k];
    }
}

void mabd_redmax_set_stage(mabd_redmax_solve* s, mabd_integrator method, int number) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_real rest = (1 - MABD_REDMAX_ALPHA) * s->h;
    s->by_rate = method == MABD_INTEGRATOR_SDIRK2;
    s->gamma = s->h, s->time = s->from + s->h;
    if (number == 0 && !s->rows_known) mabd_redmax_leave_out_rows(s);
    if (method == MABD_INTEGRATOR_BDF2) {
        s->gamma = 2 * s->h / 3;
        load_history(s);
        for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
            sim->q_b[k] = (4 * s->start_q[k] - sim->q_m[k]) / 3;
            sim->v_b[k] = (4 * s->start_v[k] - sim->v_m[k]) / 3;
        }
        mabd_redmax_set_pasts(s, 0, &sim->last);
    } else if (number == 1) {
        s->gamma = MABD_REDMAX_ALPHA * s->h;
        mabd_redmax_set_pasts(s, rest, NULL);
        for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
            sim->q_b[k] = s->start_q[k] + rest * sim->v[k];
            sim->v_b[k] = s->start_v[k] + rest * sim->a[k];
        }
    } else {
        if (s->by_rate) s->gamma = MABD_REDMAX_ALPHA * s->h, s->time = s->from + s->gamma;
        set_base(s);
        mabd_redmax_set_pasts(s, 0, NULL);
    }
    mabd_redmax_set_inputs(s);
}

// Keep the forces of the rows of a stage.
static void keep_forces(const mabd_redmax_solve* s, mabd_real* to) {
    const size_t first = (size_t)s->part->row_first, count = (size_t)s->part->row_count;
    if (count > 0) memcpy(to + first, s->sim->loops.force + first, count * sizeof *to);
}

static void take_forces(const mabd_redmax_solve* s, const mabd_real* from) {
    const size_t first = (size_t)s->part->row_first, count = (size_t)s->part->row_count;
    if (count > 0) memcpy(s->sim->loops.force + first, from + first, count * sizeof *from);
}

// Solve a stage; prescribed freedoms are where they must be. Its coordinates go to `keep`. share:
// time over which its rates advance the step.
static mabd_status solve_stage(mabd_redmax_solve* s, mabd_integrator method, int number,
                               mabd_real share, mabd_real* keep) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first;
    mabd_redmax_set_stage(s, method, number);
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        sim->q[k] = sim->q_b[k] + s->gamma * sim->v_b[k];
    }
    mabd_redmax_follow(s);
    const bool once = method == MABD_INTEGRATOR_LINEAR_IMPLICIT;
    s->loads = s->part->pins && !s->part->touches && !once; // one iteration is not enough for them
    if (once) keep_forces(s, sim->loops.stage_force);
    const mabd_status status =
        mabd_redmax_with_bounds(s, once ? mabd_redmax_newton_once : mabd_redmax_newton);
    s->loads = false;
    if (once && status != MABD_OK) take_forces(s, sim->loops.stage_force); // they are a state
    if (status != MABD_OK) return status;
    memcpy(keep + first, sim->q + first, (size_t)s->part->freedom_count * sizeof *keep);
    keep_forces(s, keep == sim->stage_q ? sim->loops.stage_force : sim->loops.end_force);
    s->jumped |= s->watches && mabd_redmax_changed_branch(s);
    s->part->rough |= mabd_redmax_axes_kinked(s);
    s->law_work += share * mabd_redmax_law_power(s);
    mabd_redmax_add_stage(s, share, method == MABD_INTEGRATOR_BDF2);
    return MABD_OK;
}

void mabd_redmax_settle_prescribed(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        if (!sim->freedoms[k].prescribed || !mabd_redmax_has_rate(sim, k)) continue;
        mabd_redmax_prescribed(s, k, &sim->q[k], &sim->v[k]);
    }
}

static mabd_status advance_sdirk2(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_real rest = (1 - MABD_REDMAX_ALPHA) * s->h, own = MABD_REDMAX_ALPHA * s->h;
    mabd_status status = solve_stage(s, MABD_INTEGRATOR_SDIRK2, 0, rest, sim->stage_q);
    mabd_redmax_copy_branches(s, sim->stage_branch);
    if (status == MABD_OK && !s->jumped) {
        status = solve_stage(s, MABD_INTEGRATOR_SDIRK2, 1, own, sim->end_q);
    }
    if (status == MABD_OK) mabd_redmax_settle_prescribed(s);
    s->by_rate = false;
    return status;
}

static mabd_status advance_by(mabd_redmax_solve* s, mabd_integrator method) {
    s->law_work = 0, s->switched = 0;
    mabd_redmax_enter_charts(s);
    mabd_redmax_begin_stages(s);
    switch (method) {
    case MABD_INTEGRATOR_EULER:
    case MABD_INTEGRATOR_BDF2:
    case MABD_INTEGRATOR_LINEAR_IMPLICIT:
        return solve_stage(s, method, 0, s->h, s->sim->end_q);
    case MABD_INTEGRATOR_SEMI_IMPLICIT:
        MABD_TRY(mabd_redmax_semi_implicit(s));
        mabd_redmax_add_stage(s, s->h, false);
        return MABD_OK;
    case MABD_INTEGRATOR_RK45:
        return mabd_redmax_rk45(s);
    default:
        return advance_sdirk2(s);
    }
}

// ---- the end of a step --------------------------------------------------------------------------

static bool is_implicit(mabd_integrator method) {
    return method == MABD_INTEGRATOR_EULER || method == MABD_INTEGRATOR_BDF2 ||
           method == MABD_INTEGRATOR_SDIRK2;
}

bool mabd_redmax_holds_poses(mabd_integrator method) {
    return method == MABD_INTEGRATOR_EULER || method == MABD_INTEGRATOR_BDF2;
}

// A spline must not be left.
static mabd_status check_paths(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; sim->path_count > 0 && i < last_link(s); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = 0; link->path >= 0 && k < link->count; k++) {
            if (!mabd_piece_is_beyond(link->piece, k, sim->q[link->first + k])) continue;
            s->report->link = i, s->report->reason = "the motion leaves the spline of";
            return MABD_ERR_DIVERGED;
        }
    }
    return MABD_OK;
}

// Explicit methods must not leave charts either; implicit ones look at each stage (newton.c).
static mabd_status check_charts(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->link_first; s->part->has_charts && i < last_link(s); i++) {
        const mabd_redmax_link* link = &s->sim->links[i];
        const char* why = NULL;
        if (mabd_redmax_is_charted(s, link)) why = mabd_redmax_leaves_chart(s, link);
        if (!why) continue;
        s->report->link = i, s->report->reason = why;
        return MABD_ERR_DIVERGED;
    }
    return MABD_OK;
}

mabd_status mabd_redmax_advance(mabd_redmax_solve* s, mabd_integrator method, bool last,
                                mabd_redmax_node* to) {
    s->report->joint = -1;
    MABD_TRY(advance_by(s, method));
    if (s->part->row_count > 0) {
        s->time = s->from + s->h;
        MABD_TRY(mabd_redmax_holds_poses(method) ? mabd_redmax_close_poses(s)
                                                 : mabd_redmax_close_loops(s));
    }
    MABD_TRY(check_paths(s));
    MABD_TRY(check_charts(s));
    mabd_redmax_store_node(s, to);
    const bool gains = is_implicit(method) && mabd_redmax_gains_energy(s, to);
    if (!gains || last) mabd_redmax_keep_stages(s);
    if (!gains || last) s->report->chart_switches += s->switched;
    if (!gains) return MABD_OK;
    s->report->guarded++;
    if (!last) {
        s->report->link = s->part->link_first, s->report->reason = "the step gains energy at";
        return MABD_ERR_DIVERGED;
    }
    s->report->converged = false;
    return MABD_OK;
}

// ---- a step of a part --------------------------------------------------------------------------

static mabd_integrator one_step_method(mabd_integrator method) {
    return method == MABD_INTEGRATOR_BDF2 ? MABD_INTEGRATOR_SDIRK2 : method;
}

mabd_integrator mabd_redmax_divided_method(const mabd_redmax_sim* sim,
                                           const mabd_redmax_part* part) {
    const mabd_integrator own = sim->def.integrator;
    if (part->law_count > 0 && is_implicit(own)) return MABD_INTEGRATOR_EULER;
    return one_step_method(own);
}

void mabd_redmax_load_forces(const mabd_redmax_solve* s) {
    mabd_redmax_clear_means(s);
    mabd_redmax_start_bounds(s);
    const mabd_redmax_loops* loops = &s->sim->loops;
    const size_t first = (size_t)s->part->row_first;
    memcpy(loops->force + first, loops->lambda + first,
           (size_t)s->part->row_count * sizeof *loops->force);
}

// The step in parts of h/2, h/4, ...: a part that fails is halved; after a success parts may double
// again where they fit.
mabd_status mabd_redmax_divide(mabd_redmax_solve* s, mabd_real time) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t units = (int32_t)1 << sim->def.max_halvings;
    const mabd_real unit = sim->def.h / (mabd_real)units;
    const mabd_integrator method = mabd_redmax_divided_method(sim, s->part);
    int32_t size = units / 2, done = 0;
    s->report->retries++, s->report->substeps = s->report->chart_switches = 0;
    s->part->peak_after = s->part->peak;
    mabd_redmax_copy_node(s, &sim->now, &sim->base);
    mabd_redmax_load_forces(s);
    s->from_node = &sim->base;
    mabd_redmax_copy_branches(s, sim->base_branch);
    while (done < units) {
        s->h = (mabd_real)size * unit, s->from = time + (mabd_real)done * unit;
        mabd_redmax_reset_branches(s, sim->base_branch); // a part that failed has moved them
        const mabd_status status = mabd_redmax_advance(s, method, size == 1, &sim->next);
        if (status == MABD_OK) {
            mabd_redmax_copy_node(s, &sim->next, &sim->base);
            mabd_redmax_copy_branches(s, sim->base_branch);
            if (s->sizes) s->sizes[s->report->substeps] = size;
            done += size;
            s->report->substeps++;
            if (2 * size < units && done % (2 * size) == 0) size *= 2;
        } else if (size == 1 || s->report->unstable) {
            return status;
        } else {
            s->report->retries++;
            size /= 2;
        }
    }
    return MABD_OK;
}

void mabd_redmax_begin_branches(mabd_redmax_solve* s, mabd_real time) {
    if (s->part->law_count == 0) return;
    s->from_node = &s->sim->now, s->from = s->time = time, s->h = s->sim->def.h;
    mabd_redmax_set_inputs(s);
    mabd_redmax_take_branches(s);
}

// The method of a step: parts that meet a stop within it take it by implicit Euler.
static mabd_integrator method_of(const mabd_redmax_sim* sim, const mabd_redmax_part* part,
                                 bool history) {
    const mabd_integrator own = sim->def.integrator;
    if (part->touches && is_implicit(own)) return MABD_INTEGRATOR_EULER;
    if (part->law_count > 0 && is_implicit(own) && mabd_redmax_meets_stop(sim, part)) {
        return MABD_INTEGRATOR_EULER;
    }
    return history ? own : one_step_method(own);
}

// The step by one method; by implicit Euler if a law jumps in it.
static mabd_status advance_once(mabd_redmax_solve* s, mabd_integrator method, mabd_real time) {
    mabd_redmax_sim* sim = s->sim;
    const bool last = sim->def.max_halvings == 0;
    mabd_redmax_begin_branches(s, time);
    mabd_redmax_load_forces(s);
    const mabd_status status = mabd_redmax_advance(s, method, last, &sim->next);
    s->part->lane_solved = 0; // what lanes have solved is of this attempt
    if (!s->jumped) return status;
    s->watches = false, s->part->peak_after = s->part->peak;
    s->part->taken = MABD_INTEGRATOR_EULER;
    s->report->chart_switches = 0;
    mabd_redmax_begin_branches(s, time);
    mabd_redmax_load_forces(s);
    return mabd_redmax_advance(s, MABD_INTEGRATOR_EULER, last, &sim->next);
}

mabd_redmax_solve mabd_redmax_begin_step(mabd_redmax_sim* sim, int32_t index) {
    mabd_redmax_report* report = &sim->reports[index];
    *report = (mabd_redmax_report){.link = -1, .joint = -1, .substeps = 1, .converged = true};
    const mabd_redmax_solve s = {.sim = sim,
                                 .part = &sim->parts[index],
                                 .report = report,
                                 .from = sim->time,
                                 .h = sim->def.h,
                                 .force = sim->force,
                                 .motor = sim->motor,
                                 .from_node = &sim->now,
                                 .in_charts = true,
                                 .start_q = sim->now.q,
                                 .start_v = sim->now.v};
    return s;
}

mabd_integrator mabd_redmax_step_method(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    const bool restart =
        sim->def.integrator == MABD_INTEGRATOR_BDF2 && mabd_redmax_jumps(sim, part);
    return method_of(sim, part, part->has_history && !restart);
}

static bool has_failed(const mabd_redmax_report* report) {
    return report->status == MABD_ERR_SINGULAR || report->status == MABD_ERR_DIVERGED;
}

// Take a step again that bdf2 cannot, by the method that starts it: its stages are 0.29 of the step
// instead of 0.67, so it needs no parts where bodies that are pushed together buckle.
static void start_anew(mabd_redmax_solve* s, mabd_real time) {
    s->report->retries++, s->report->chart_switches = 0;
    s->part->peak_after = s->part->peak;
    s->part->taken = one_step_method(MABD_INTEGRATOR_BDF2);
    s->report->status = advance_once(s, s->part->taken, time);
    s->part->rough = true; // small changes may let bdf2 pass
}

void mabd_redmax_step_part(mabd_redmax_sim* sim, int32_t index) {
    mabd_redmax_part* part = &sim->parts[index];
    mabd_redmax_solve s = mabd_redmax_begin_step(sim, index);
    mabd_redmax_report* report = s.report;
    const mabd_real time = sim->time;
    const mabd_integrator own = sim->def.integrator;
    const bool poses = part->poses;
    part->poses |= sim->inputs.has_applied; // forces of the world turn in the link frames
    const mabd_integrator method = mabd_redmax_step_method(sim, part);
    const bool lawful = part->law_count > 0 && is_implicit(own) && own != MABD_INTEGRATOR_EULER;
    bool smooth = !lawful || method != MABD_INTEGRATOR_EULER;
    s.watches = lawful && smooth;
    part->peak_after = part->peak;
    part->stopped = 0;
    part->taken = method, part->divided = part->impact = part->rough = false;
    report->status = advance_once(&s, method, time);
    const bool diverged = has_failed(report) && report->guarded == 0; // not for its energy
    if (diverged && method == MABD_INTEGRATOR_BDF2 && part->law_count == 0) start_anew(&s, time);
    const bool failed = has_failed(report);
    const bool divides = own == MABD_INTEGRATOR_RK45; // the step itself
    const bool halve = failed && !divides && !report->unstable;
    part->history_after = true;
    if (halve && sim->def.max_halvings > 0) {
        s.watches = false;
        mabd_redmax_begin_branches(&s, time);
        report->status = mabd_redmax_divide(&s, time);
        part->history_after = false, part->divided = true;
    }
    smooth &= !s.jumped && !(lawful && report->retries > 0);
    part->history_after &= smooth && !(lawful && mabd_redmax_starts_drive(&s));
    if (!smooth && report->status == MABD_OK) {
        part->impact = mabd_redmax_take_impacts(&s, &sim->next);
    }
    part->poses = poses;
}

// Parts with tasks of their own (lean.h) take their steps one after the other, with all threads.
static void step_small_part(void* context, int32_t index, int32_t thread) {
    mabd_redmax_sim* sim = context;
    const int32_t part = index - sim->pack_count;
    if (part >= 0) {
        if (!sim->parts[part].structure.divided_links && sim->parts[part].structure.pack < 0)
            mabd_redmax_step_part(sim, part);
        return;
    }
    const mabd_lean_pack* pack = &sim->packs[index];
    mabd_redmax_solve_pack(sim, index, thread);
    for (int32_t k = pack->first; k < pack->first + pack->count; k++) {
        mabd_redmax_step_part(sim, sim->pack_parts[k]);
    }
}

static void step_parts(mabd_redmax_sim* sim) {
    mabd_pool_run(sim->pool, sim->pack_count + sim->part_count, step_small_part, sim);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (sim->parts[i].structure.divided_links) mabd_redmax_step_part(sim, i);
    }
}

// ---- the step ----------------------------------------------------------------------------------

static void rotate(mabd_redmax_sim* sim) {
    const mabd_redmax_node oldest = sim->last;
    sim->last = sim->now, sim->now = sim->next, sim->next = oldest;
    for (int32_t i = 0; i < sim->link_count; i++) {
        mabd_sp_store(sim->F[i], sim->wrench + 6 * (size_t)i);
    }
    memcpy(sim->loops.lambda, sim->loops.force,
           (size_t)sim->loops.row_count * sizeof *sim->loops.force);
    for (int32_t i = 0; i < sim->part_count; i++) {
        sim->parts[i].has_history = sim->parts[i].history_after;
        sim->parts[i].peak = sim->parts[i].peak_after;
    }
}

// Let the parts of a step meet: those that touch others and did not go by implicit Euler go again.
static mabd_status meet(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    bool again = false;
    *bad = 0;
    MABD_TRY(mabd_redmax_find_contacts(sim));
    for (int32_t i = 0; i < sim->part_count; i++) {
        mabd_redmax_part* part = &sim->parts[i];
        if (!sim->contacts->touches[i] || part->touches || !is_implicit(sim->def.integrator)) {
            continue;
        }
        part->touches = again = true;
        mabd_redmax_step_part(sim, i);
        *bad = i;
        if (sim->reports[i].status != MABD_OK) return sim->reports[i].status;
    }
    if (again) MABD_TRY(mabd_redmax_find_contacts(sim));
    MABD_TRY(mabd_redmax_close_contacts(sim, info, bad));
    for (int32_t i = 0; i < sim->part_count; i++) {
        sim->parts[i].touches = sim->contacts->touches[i];
    }
    return MABD_OK;
}

static void add_report(const mabd_redmax_report* r, mabd_step_info* info) {
    info->iterations += r->iterations;
    info->retries += r->retries;
    if (r->substeps > info->substeps) info->substeps = r->substeps;
    info->line_searches += r->line_searches;
    info->converged &= r->converged;
    info->redmax.guarded += r->guarded;
    info->redmax.chart_switches += r->chart_switches;
}

static mabd_status report_failure(const mabd_redmax_sim* sim, const mabd_redmax_report* r,
                                  mabd_real time, mabd_error* error) {
    const mabd_redmax_link* link = &sim->links[r->link < 0 ? 0 : r->link];
    const bool cut = r->joint >= 0;
    const int32_t joint = cut ? r->joint : link->joint, body = cut ? -1 : link->body;
    char label[160];
    if (joint >= 0) {
        mabd_model_joint_label(sim->model, joint, label, sizeof label);
    } else {
        mabd_model_body_label(sim->model, body < 0 ? 0 : body, label, sizeof label);
    }
    return mabd_fail_at(error, r->status, body, joint, time, "%s %s (t = %g s)",
                        r->reason ? r->reason : "the step fails at", label, (double)time);
}

static void add_times(mabd_redmax_sim* sim, double elapsed) {
    double inside = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        for (int k = MABD_REDMAX_RESIDUAL; k < MABD_REDMAX_STAGE_COUNT; k++) {
            const double own = sim->reports[i].seconds[k] + sim->parts[i].lane_seconds[k];
            sim->times[k] += own;
            inside += own;
        }
    }
    sim->times[MABD_REDMAX_STEP] += elapsed - inside;
}

// Take the step from `time` over def.h to `next`. *bad gets the part that failed.
static mabd_status take_step(mabd_redmax_sim* sim, mabd_real time, mabd_step_info* info,
                             int32_t* bad) {
    mabd_status status = MABD_OK;
    *bad = -1;
    sim->time = time, sim->placed = false;
    sim->signals_jump = mabd_rigid_signal_jumps(sim->model, time, sim->def.h);
    step_parts(sim);
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_report* r = &sim->reports[i];
        if (r->status != MABD_OK && *bad < 0) *bad = i, status = r->status;
        add_report(r, info);
    }
    if (status != MABD_OK || !sim->contacts) return status;
    status = meet(sim, info, bad);
    if (status != MABD_OK) sim->reports[*bad].status = status;
    return status;
}

// Make `next` the state at the end of the step.
static void keep_step(mabd_redmax_sim* sim) {
    rotate(sim);
    mabd_redmax_keep_branches(sim);
    mabd_redmax_book_step(sim);
    sim->time += sim->def.h;
}

static void set_length(mabd_redmax_sim* sim, mabd_real h) {
    sim->def.h = sim->contacts->h = h;
}

// Take the step in `count` steps of equal length. `info` sums up what they report.
static mabd_status take_steps(mabd_redmax_sim* sim, mabd_real time, int32_t count,
                              mabd_step_info* info, int32_t* bad) {
    const mabd_real h = sim->whole_h / (mabd_real)count;
    mabd_step_info sum = {0};
    mabd_status status = MABD_OK;
    set_length(sim, h);
    sum.converged = true;
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].has_history = false;
    for (int32_t i = 0; i < count && status == MABD_OK; i++) {
        mabd_step_info own = {.converged = true, .worst_joint = -1};
        sim->begun = (mabd_real)i * h;
        status = take_step(sim, time + sim->begun, &own, bad);
        own.iterations += sum.iterations, own.retries += sum.retries;
        own.line_searches += sum.line_searches, own.converged &= sum.converged;
        own.contact_iterations += sum.contact_iterations;
        if (sum.contact_residual > own.contact_residual) {
            own.contact_residual = sum.contact_residual;
        }
        if (sum.penetration > own.penetration) own.penetration = sum.penetration;
        own.redmax.guarded += sum.redmax.guarded;
        own.redmax.chart_switches += sum.redmax.chart_switches;
        sum = own;
        if (status == MABD_OK) keep_step(sim);
    }
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].has_history = false;
    set_length(sim, sim->whole_h);
    sim->begun = 0;
    sum.substeps = count;
    *info = sum;
    return status;
}

// A step whose contacts fail is taken in parts of h/2, h/4, ... by all parts together: links that
// are held by the tension of chains, and impacts of many bodies at once, are easier with the
// inertia of a shorter step.
static mabd_status divide_step(mabd_redmax_sim* sim, mabd_real time, mabd_step_info* info,
                               int32_t* bad) {
    const int32_t tried = info->retries;
    mabd_status status = MABD_ERR_DIVERGED;
    mabd_redmax_save(sim, sim->kept_state);
    for (int32_t k = 1; k <= sim->def.max_halvings && status != MABD_OK; k++) {
        sim->divides = k < DIVISIONS_EXACT && k < sim->def.max_halvings;
        status = take_steps(sim, time, (int32_t)1 << k, info, bad);
        info->retries += tried + k;
        if (status == MABD_ERR_MEMORY) break;
        if (status != MABD_OK) {
            mabd_redmax_restore(sim, sim->kept_state, mabd_redmax_state_size(sim), time);
        }
    }
    return status;
}

mabd_status mabd_redmax_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error) {
    mabd_redmax_sim* sim = self;
    mabd_step_info local;
    const double clock = mabd_clock();
    int32_t bad;
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->converged = true, info->worst_joint = -1;
    const bool implicit = is_implicit(sim->def.integrator);
    sim->divides = implicit && sim->def.max_halvings > 0;
    if (sim->contacts) sim->contacts->direct = false;
    mabd_status status = take_step(sim, time, info, &bad);
    const bool failed = status == MABD_ERR_DIVERGED || status == MABD_ERR_SINGULAR;
    if (failed && sim->contacts && implicit) {
        status = divide_step(sim, time, info, &bad);
    } else if (status == MABD_OK) {
        keep_step(sim);
    }
    add_times(sim, mabd_clock() - clock);
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "finding contacts");
    if (status != MABD_OK) return report_failure(sim, &sim->reports[bad], time, error);
    sim->time = time + sim->def.h;
    mabd_rigid_inputs_keep(&sim->inputs);
    mabd_redmax_measure_rows(sim, &info->gap, &info->angle_error, &info->worst_joint);
    return MABD_OK;
}
