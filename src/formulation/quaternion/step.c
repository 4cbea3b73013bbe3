// SPDX-License-Identifier: Apache-2.0
// The time step of the quaternion formulation.
//
// Each part takes the step on its own: the solves of its method (tableau.h), or, where one fails,
// parts of h/2, h/4, ... by implicit Euler: near singular poses the accelerations that trbdf2 would
// need at the start of each part are not bounded. A part that meets a stop in the step, or in which
// the force of an axis jumps, takes the step by implicit Euler, and the next one without history
// (axes.c). Results go to `next`; if all parts succeed, `next` becomes `now` and `now` becomes
// `last`. A failed step leaves the state as it was.

#include "formulation/quaternion/quaternion_sim.h"

#include "base/clock.h"
#include "base/error.h"
#include "formulation/quaternion/constrained.h"
#include "formulation/quaternion/drives.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/part_step.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/quaternion_works.h"
#include "formulation/quaternion/semi_implicit.h"
#include "formulation/quaternion/symmetric.h"
#include "rigid/row_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Halvings of the start of a step after which stalls near a solution come from its start pose.
#define STUCK_LEVEL 2

/// The step of a part: where it comes from and what it may use.
typedef struct part_step {
    mabd_quaternion_solve solve;
    const mabd_quaternion_node *from, *last, *slope; // last, slope: null = not known
    bool watches; // for forces that jump: `jumped` is set, and the method ends
    bool jumped;  // the step is one of implicit Euler, without history
} part_step;

// ---- one solve ---------------------------------------------------------------------------------

static void combine(mabd_real* out, int count, const mabd_tableau_solve* t, mabd_real h,
                    const mabd_real* start, const mabd_real* last, const mabd_real* stage,
                    const mabd_real* slope) {
    for (int k = 0; k < count; k++) {
        mabd_real sum = t->on_start * start[k];
        if (last) sum += t->on_last * last[k];
        if (stage) sum += t->on_stage * stage[k];
        if (slope) sum += t->slope * h * slope[k];
        out[k] = sum;
    }
}

static const mabd_real* at_body(const mabd_quaternion_node* node, size_t at) {
    return node ? node->body + at : NULL;
}
static const mabd_real* at_coordinate(const mabd_quaternion_node* node, size_t at) {
    return node ? node->x + at : NULL;
}

// Call for each controlled coordinate of a part.
typedef void coordinate_fn(part_step* p, int32_t coordinate, int32_t row, void* context);
static void for_coordinates(part_step* p, coordinate_fn* fn, void* context) {
    const mabd_quaternion_sim* sim = p->solve.sim;
    for (int32_t i = 0; i < p->solve.part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[p->solve.part->joint_first + i];
        const mabd_model_joint* joint = &sim->model->joints[j->joint];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        for (int32_t r = 0; r < set->control_count; r++) {
            fn(p, joint->coordinate + r, j->row + set->rigid_count + r, context);
        }
    }
}

typedef struct past_work {
    const mabd_tableau_solve* t;
    const mabd_quaternion_node *last, *stage, *slope;
} past_work;

static void past_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    const past_work* w = context;
    const size_t at = 2 * (size_t)coordinate;
    (void)row;
    combine(p->solve.sim->past.x + at, 2, w->t, p->solve.h, p->from->x + at,
            at_coordinate(w->last, at), at_coordinate(w->stage, at), at_coordinate(w->slope, at));
}

// Write the past of a solve; nodes with weight 0 are not read.
static void set_past(part_step* p, const mabd_tableau_solve* t, const mabd_quaternion_node* stage) {
    mabd_quaternion_sim* sim = p->solve.sim;
    past_work w = {t, t->on_last != 0 ? p->last : NULL, t->on_stage != 0 ? stage : NULL,
                   t->slope != 0 ? p->slope : NULL};
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->solve.part->body_first + i];
        const size_t at = MABD_NODE_REALS * body;
        combine(sim->past.body + at, MABD_NODE_REALS, t, p->solve.h, p->from->body + at,
                at_body(w.last, at), at_body(w.stage, at), at_body(w.slope, at));
    }
    for_coordinates(p, past_coordinate, &w);
}

// First guess of poses: the node goes on with its velocity for `lead` seconds. Where rows determine
// the poses also with its acceleration, from the velocities one step ago if they are known: the
// guess decides how many iterations one factor serves (constrained.c).
static void guess(part_step* p, const mabd_quaternion_node* node, mabd_real lead) {
    mabd_quaternion_sim* sim = p->solve.sim;
    const mabd_quaternion_node* last =
        p->solve.part->constrained && node == p->from ? p->last : NULL;
    const mabd_real bend = lead * lead / (2 * p->solve.h);
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[p->solve.part->body_first + i];
        const mabd_real* row = node->body + MABD_NODE_REALS * body;
        mabd_real* pose = sim->pose + 7 * body;
        for (int k = 0; k < 7; k++) pose[k] = row[k] + lead * row[7 + k];
        for (int k = 0; last && k < 7; k++) {
            pose[k] += bend * (row[7 + k] - last->body[MABD_NODE_REALS * body + 7 + (size_t)k]);
        }
        mabd_q_store(mabd_q_normalize(mabd_q_load(pose + 3)), pose + 3);
    }
}

static void write_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    const mabd_quaternion_sim* sim = p->solve.sim;
    const mabd_quaternion_node* to = context;
    const size_t at = 2 * (size_t)coordinate;
    to->x[at] = sim->row_x[row];
    to->x[at + 1] = (sim->row_x[row] - sim->past.x[at]) / p->solve.bh;
}

// Write the node at the end of a solve.
static void write_node(part_step* p, mabd_quaternion_node* to) {
    mabd_quaternion_sim* sim = p->solve.sim;
    const mabd_quaternion_part* part = p->solve.part;
    for (int32_t i = 0; i < part->body_count; i++) {
        const size_t body = (size_t)sim->bodies[part->body_first + i];
        const mabd_real *pose = sim->pose + 7 * body,
                        *past = sim->past.body + MABD_NODE_REALS * body;
        mabd_real* row = to->body + MABD_NODE_REALS * body;
        for (int k = 0; k < 7; k++) {
            row[k] = pose[k], row[7 + k] = (pose[k] - past[k]) / p->solve.bh;
        }
    }
    for_coordinates(p, write_coordinate, to);
    mabd_quaternion_write_turns(&p->solve, to);
    for (int32_t r = part->row_first; r < part->row_first + part->row_count; r++) {
        sim->next_lambda[r] = sim->multiplier[r] / (p->solve.bh * p->solve.bh);
    }
}

// First guess of the scaled multipliers.
static void start_multipliers(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        sim->multiplier[r] = sim->dropped[r] ? 0 : sim->next_lambda[r] * s->bh * s->bh;
    }
}

// Solve a part whose rows determine its poses. Near poses where they do not, the choice `auto`
// takes the general equations.
static mabd_status solve_constrained(part_step* p, int index, const mabd_quaternion_node* stage,
                                     mabd_real lead) {
    mabd_quaternion_solve* s = &p->solve;
    const mabd_status status = mabd_quaternion_solve_constrained(s);
    if (status == MABD_OK || s->sim->def.quaternion.solver != MABD_SOLVER_AUTO) return status;
    guess(p, index == 0 ? p->from : stage, lead);
    start_multipliers(s);
    return mabd_quaternion_newton(s);
}

// One solve: from t over h, number `index` of its method; stage: result of the one before.
static mabd_status solve_once(part_step* p, const mabd_tableau* t, int index, mabd_real time,
                              const mabd_quaternion_node* stage, mabd_quaternion_node* to) {
    mabd_quaternion_solve* s = &p->solve;
    const mabd_tableau_solve* own = &t->solve[index];
    const mabd_real begin = index == 0 ? 0 : t->solve[0].end;
    s->bh = own->bh * s->h, s->from = time, s->time = time + own->end * s->h;
    mabd_quaternion_set_inputs(s);
    set_past(p, own, stage);
    const mabd_real lead = (own->end - begin) * s->h;
    guess(p, index == 0 ? p->from : stage, lead);
    start_multipliers(s);
    MABD_TRY(s->part->constrained ? solve_constrained(p, index, stage, lead)
                                  : mabd_quaternion_newton(s));
    write_node(p, to);
    p->jumped |= p->watches && mabd_quaternion_changed_branch(s);
    s->part->taken.rough |= s->part->laws && mabd_quaternion_axes_kinked(s);
    return MABD_OK;
}

// ---- a step of a part --------------------------------------------------------------------------

typedef struct mix_work {
    mabd_real first, second;
    const mabd_quaternion_node* stage;
    mabd_quaternion_node* to;
} mix_work;

static void mix_values(const part_step* p, const mix_work* w, int count, const mabd_real* start,
                       const mabd_real* stage, mabd_real* to) {
    (void)p;
    for (int k = 0; k < count; k++) {
        to[k] = (1 - w->first - w->second) * start[k] + w->first * stage[k] + w->second * to[k];
    }
}

static void mix_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    const mix_work* w = context;
    const size_t at = 2 * (size_t)coordinate;
    (void)row;
    mix_values(p, w, 2, p->from->x + at, w->stage->x + at, w->to->x + at);
}

// Combine the two solves of a method to its result.
static void mix(part_step* p, const mabd_tableau* t, mabd_quaternion_node* to) {
    mabd_quaternion_sim* sim = p->solve.sim;
    mix_work w = {t->first, t->second, &sim->stage, to};
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[p->solve.part->body_first + i];
        mix_values(p, &w, MABD_NODE_REALS, p->from->body + at, sim->stage.body + at, to->body + at);
    }
    for_coordinates(p, mix_coordinate, &w);
}

static void slope_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    mabd_quaternion_sim* sim = p->solve.sim;
    const mabd_quaternion_node* to = context;
    const size_t at = 2 * (size_t)coordinate;
    (void)row;
    for (size_t k = at; k < at + 2; k++) {
        sim->next_slope.x[k] = (to->x[k] - sim->past.x[k]) / p->solve.bh;
    }
}

// The derivative at the end of the last solve: (y - past)/bh.
static void write_end_slope(part_step* p, mabd_quaternion_node* to) {
    mabd_quaternion_sim* sim = p->solve.sim;
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[p->solve.part->body_first + i];
        for (size_t k = at; k < at + MABD_NODE_REALS; k++) {
            sim->next_slope.body[k] = (to->body[k] - sim->past.body[k]) / p->solve.bh;
        }
    }
    for_coordinates(p, slope_coordinate, to);
}

// Compute the derivative at the start of a step that does not know it.
static mabd_status find_slope(part_step* p, mabd_real time) {
    mabd_quaternion_solve* s = &p->solve;
    s->from = s->time = time;
    mabd_quaternion_set_inputs(s);
    MABD_TRY(mabd_quaternion_accelerate(s, p->from));
    mabd_quaternion_write_slope(s, p->from, &s->sim->next_slope);
    p->slope = &s->sim->next_slope;
    memcpy(s->sim->start_lambda + s->part->row_first,
           s->sim->y + s->part->vector_first + 6 * (size_t)s->part->body_count,
           (size_t)s->part->row_count * sizeof *s->sim->y);
    return MABD_OK;
}

// The solves of a method.
static mabd_status advance_by(part_step* p, mabd_integrator method, mabd_real time,
                              mabd_quaternion_node* to) {
    mabd_quaternion_sim* sim = p->solve.sim;
    const mabd_tableau t = mabd_tableau_of(method);
    if (method == MABD_INTEGRATOR_SEMI_IMPLICIT) {
        return mabd_quaternion_semi_implicit(&p->solve, time, p->from, to);
    }
    if (t.uses_slope && !p->slope) MABD_TRY(find_slope(p, time));
    if (t.count == 1) return solve_once(p, &t, 0, time, NULL, to);
    MABD_TRY(solve_once(p, &t, 0, time, NULL, &sim->stage));
    memcpy(sim->stage_lambda + p->solve.part->row_first,
           sim->next_lambda + p->solve.part->row_first,
           (size_t)p->solve.part->row_count * sizeof *sim->stage_lambda);
    mabd_quaternion_copy_branches(sim, p->solve.part, sim->stage_branch);
    if (p->watches && p->jumped) return MABD_OK;
    MABD_TRY(solve_once(p, &t, 1, time, &sim->stage, to));
    if (t.uses_slope) write_end_slope(p, to);
    if (t.combines) mix(p, &t, to);
    return MABD_OK;
}

// Advance a part from p->from at `time` by p->solve.h to `to`, by one method.
static mabd_status advance(part_step* p, mabd_integrator method, mabd_real time,
                           mabd_quaternion_node* to) {
    const mabd_quaternion_sim* sim = p->solve.sim;
    const bool found = mabd_tableau_of(method).uses_slope && !p->slope;
    MABD_TRY(advance_by(p, method, time, to));
    if (p->watches && p->jumped) return MABD_OK; // it is taken again
    mabd_quaternion_add_means(&p->solve, method,
                              found ? sim->start_lambda + p->solve.part->row_first : NULL);
    return MABD_OK;
}

// The method of a step without history.
static mabd_integrator one_step_method(const mabd_sim_def* def) {
    return def->integrator == MABD_INTEGRATOR_BDF2 ? def->quaternion.bdf2_start : def->integrator;
}

// The method of a step. A part that does not know its branches does not know the accelerations that
// trbdf2 needs either.
static mabd_integrator method_of(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                 bool history) {
    if (part->laws && mabd_quaternion_meets_stop(sim, part)) return MABD_INTEGRATOR_EULER;
    if (sim->def.integrator == MABD_INTEGRATOR_BDF2 && history) return MABD_INTEGRATOR_BDF2;
    const mabd_integrator method = one_step_method(&sim->def);
    const bool unknown = part->laws && !part->has_branches && mabd_tableau_of(method).uses_slope;
    return unknown ? MABD_INTEGRATOR_SDIRK2 : method;
}

static void copy_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    mabd_quaternion_sim* sim = p->solve.sim;
    (void)row, (void)context;
    memcpy(sim->base.x + 2 * (size_t)coordinate, sim->next.x + 2 * (size_t)coordinate,
           2 * sizeof *sim->base.x);
}

// Make `next` the node from which the rest of a halved step goes on.
static void go_on(part_step* p) {
    mabd_quaternion_sim* sim = p->solve.sim;
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[p->solve.part->body_first + i];
        memcpy(sim->base.body + at, sim->next.body + at, MABD_NODE_REALS * sizeof(mabd_real));
    }
    for_coordinates(p, copy_coordinate, NULL);
    p->from = &sim->base, p->slope = NULL;
}

// Begin with the multipliers of the state, and without means.
static void restore_lambda(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part) {
    memcpy(sim->next_lambda + part->row_first, sim->lambda + part->row_first,
           (size_t)part->row_count * sizeof *sim->lambda);
    memset(sim->mean_lambda + part->row_first, 0,
           (size_t)part->row_count * sizeof *sim->mean_lambda);
}

// Begin a step with the branches of the state; its inputs and poses are those of the start.
static void take_branches(part_step* p, mabd_real time) {
    if (!p->solve.part->laws) return;
    p->solve.from = p->solve.time = time;
    mabd_quaternion_set_inputs(&p->solve);
    mabd_quaternion_take_pose(&p->solve, p->from);
    mabd_quaternion_take_branches(&p->solve, p->from);
}

// Take the step from its start again, without history.
static void begin_again(part_step* p, mabd_real time) {
    p->from = &p->solve.sim->now, p->last = p->slope = NULL;
    p->watches = false;
    restore_lambda(p->solve.sim, p->solve.part);
    take_branches(p, time);
}

// The step in parts of h/2, h/4, ...: a part that fails is halved, and so are all after it. Stalls
// near a solution (newton.c) right at the start of the step, again in its first quarter, come from
// its start pose: smaller parts do not cure them.
static mabd_status advance_in_parts(part_step* p, mabd_real time) {
    mabd_quaternion_sim* sim = p->solve.sim;
    mabd_quaternion_report* report = p->solve.report;
    const int32_t units = (int32_t)1 << sim->def.max_halvings;
    int32_t size = units / 2, done = 0;
    mabd_quaternion_taken* taken = &p->solve.part->taken;
    int level = 1;
    report->retries++;
    report->substeps = 0;
    taken->halved = true;
    begin_again(p, time);
    while (done < units) {
        const mabd_real unit = sim->def.h / (mabd_real)units;
        p->solve.h = (mabd_real)size * unit;
        p->solve.accepts = size == 1;
        p->slope = NULL;
        report->near = false;
        const mabd_status status =
            advance(p, MABD_INTEGRATOR_EULER, time + (mabd_real)done * unit, &sim->next);
        if (status == MABD_OK) {
            go_on(p);
            done += size;
            report->substeps++;
            taken->parts[level]++;
        } else if (size == 1 || (report->near && done == 0 && level == STUCK_LEVEL)) {
            return status;
        } else {
            report->retries++;
            size /= 2;
            level++;
        }
    }
    return MABD_OK;
}

static void clear_coordinate(part_step* p, int32_t coordinate, int32_t row, void* context) {
    (void)row, (void)context;
    memset(p->solve.sim->next_slope.x + 2 * (size_t)coordinate, 0, 2 * sizeof(mabd_real));
}

// Clear a slope that does not hold after the step: states that continue alike are equal bytes.
static void clear_slope(part_step* p) {
    mabd_quaternion_sim* sim = p->solve.sim;
    if (!mabd_tableau_of(sim->def.integrator).uses_slope) return; // it is not kept
    for (int32_t i = 0; i < p->solve.part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[p->solve.part->body_first + i];
        memset(sim->next_slope.body + at, 0, MABD_NODE_REALS * sizeof(mabd_real));
    }
    for_coordinates(p, clear_coordinate, NULL);
}

void mabd_quaternion_take_past(const mabd_quaternion_solve* s, const mabd_tableau_solve* t,
                               const mabd_quaternion_sources* from) {
    part_step p = {.solve = *s, .from = from->start, .last = from->last, .slope = from->slope};
    set_past(&p, t, from->stage);
}

mabd_status mabd_quaternion_repeat(mabd_quaternion_solve* s, mabd_integrator method, mabd_real time,
                                   const mabd_quaternion_sources* from, mabd_quaternion_node* to) {
    part_step p = {.solve = *s, .from = from->start, .last = from->last, .slope = from->slope};
    p.solve.accepts = true; // what the step accepted
    const mabd_status status = advance(&p, method, time, to);
    *s = p.solve;
    return status;
}

static void measure_rows(part_step* p) {
    mabd_quaternion_sim* sim = p->solve.sim;
    mabd_quaternion_report* report = p->solve.report;
    mabd_quaternion_take_pose(&p->solve, &sim->next);
    for (int32_t i = 0; i < p->solve.part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[p->solve.part->joint_first + i];
        const mabd_model_joint* joint = &sim->model->joints[j->joint];
        const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, p->solve.time, joint);
        mabd_rigid_keep_error(&view, &sim->model->row_sets[joint->row_set], j->joint, &report->gap,
                              &report->angle_error, &report->worst_joint);
    }
}

// The step by one method.
static mabd_status take_whole_step(part_step* p, mabd_integrator method, mabd_real time) {
    mabd_quaternion_sim* sim = p->solve.sim;
    restore_lambda(sim, p->solve.part);
    take_branches(p, time);
    const mabd_status status = advance(p, method, time, &sim->next);
    if (status != MABD_OK || !p->jumped) return status;
    begin_again(p, time);
    p->solve.part->taken.method = MABD_INTEGRATOR_EULER;
    return advance(p, MABD_INTEGRATOR_EULER, time, &sim->next);
}

// The step by implicit Euler, whose one solve is at the end of the step. Rigid servos from a table
// may be in concert there and not at the first solve of two: BDF2 still starts on them.
static mabd_status take_euler_step(part_step* p, mabd_real time) {
    p->solve.report->retries++;
    p->solve.part->taken.method = MABD_INTEGRATOR_EULER;
    p->solve.part->taken.had_slope = false;
    begin_again(p, time);
    return advance(p, MABD_INTEGRATOR_EULER, time, &p->solve.sim->next);
}

// A step that stalled near a solution and that no smaller one cures: it is reported as not
// converged.
static mabd_status accept_near(part_step* p, mabd_integrator method, mabd_real time) {
    mabd_quaternion_taken* taken = &p->solve.part->taken;
    *taken = (mabd_quaternion_taken){.method = method, .had_slope = p->slope != NULL};
    p->solve.accepts = true;
    p->solve.report->substeps = 1;
    return take_whole_step(p, method, time);
}

// The step by one method; if it fails by implicit Euler, or in parts.
static mabd_status take_step(part_step* p, mabd_integrator method, mabd_real time) {
    const part_step start = *p;
    p->solve.accepts = p->solve.sim->def.max_halvings == 0;
    mabd_status status = take_whole_step(p, method, time);
    const bool near = p->solve.report->near;
    const bool again = method != MABD_INTEGRATOR_SEMI_IMPLICIT &&
                       (status == MABD_ERR_SINGULAR || status == MABD_ERR_DIVERGED);
    if (!again || p->solve.sim->def.max_halvings == 0) return status;
    if (mabd_tableau_of(method).count == 2) {
        *p = start;
        if (take_euler_step(p, time) == MABD_OK) return MABD_OK;
    }
    status = advance_in_parts(p, time);
    if (status == MABD_OK || !near) return status;
    *p = start;
    return accept_near(p, method, time);
}

// True if a row that was left out is open at the end of the step.
static bool is_open(part_step* p, mabd_real time, int32_t* joint) {
    mabd_quaternion_solve* s = &p->solve;
    s->h = s->sim->def.h, s->from = time, s->time = time + s->h;
    mabd_quaternion_set_inputs(s);
    mabd_quaternion_take_pose(s, &s->sim->next);
    return mabd_quaternion_dropped_open(s, joint);
}

// A step with rows that are left out. If it fails, or leaves such a row open, other rows are left
// out, and it is taken once more: those of the state before it, or at its end.
static mabd_status step_without_rows(part_step* p, mabd_integrator method, mabd_real time) {
    const part_step start = *p;
    mabd_quaternion_sim* sim = p->solve.sim;
    mabd_quaternion_report* report = p->solve.report;
    const mabd_quaternion_part* part = p->solve.part;
    const size_t rows = (size_t)part->row_count * sizeof *sim->dropped;
    bool *now = sim->dropped + part->row_first, *last = sim->last_dropped + part->row_first;
    int32_t joint;
    report->redundant_rows = mabd_quaternion_dropped_count(sim, part);
    restore_lambda(sim, part);
    mabd_status status = advance(p, method, time, &sim->next);
    if (status == MABD_OK && !is_open(p, time, &joint)) return MABD_OK;
    if (status != MABD_OK) mabd_quaternion_take_pose(&p->solve, &sim->now);
    memcpy(last, now, rows);
    if (mabd_quaternion_eliminate(&p->solve, false) == MABD_OK) {
        *p = start;
        status = take_step(p, method, time);
    }
    if (status == MABD_OK && is_open(p, time, &joint)) {
        report->reason = "a redundant row that was left out is open at";
        report->body = -1, report->joint = joint;
        status = MABD_ERR_DIVERGED;
    }
    if (status != MABD_OK) memcpy(now, last, rows);
    return status;
}

// Name the drive whose target cannot be met, at the end of a failed step or at that of its last
// solve.
static void blame_drive(const part_step* p, mabd_real time) {
    mabd_quaternion_solve end = p->solve, failed = p->solve;
    end.h = end.sim->def.h, end.from = time, end.time = time + end.h;
    mabd_quaternion_set_inputs(&end);
    if (mabd_quaternion_blame_drive(&end)) return;
    mabd_quaternion_set_inputs(&failed);
    mabd_quaternion_blame_drive(&failed);
}

static void step_part(void* context, int32_t index, int32_t thread) {
    mabd_quaternion_sim* sim = context;
    mabd_quaternion_part* part = &sim->parts[index];
    mabd_quaternion_report* report = &sim->reports[index];
    const mabd_real time = sim->time;
    (void)thread;
    *report = (mabd_quaternion_report){.body = -1,
                                       .joint = -1,
                                       .worst_joint = -1,
                                       .substeps = 1,
                                       .converged = true,
                                       .consistency = 1};
    const bool restart = mabd_quaternion_jumps(sim, part, time);
    const bool history = part->has_history && !restart;
    part_step p = {.solve = {.sim = sim, .part = part, .h = sim->def.h, .report = report},
                   .from = &sim->now,
                   .last = history ? &sim->last : NULL,
                   .slope = part->has_slope && !restart ? &sim->slope : NULL};
    const mabd_integrator method = method_of(sim, part, history);
    const bool watches = part->laws && sim->def.integrator != MABD_INTEGRATOR_EULER;
    bool smooth = !watches || method != MABD_INTEGRATOR_EULER;
    p.watches = watches && smooth;
    if (sim->dual) mabd_quaternion_dual_restart(sim, part);
    part->taken = (mabd_quaternion_taken){.method = method, .had_slope = p.slope != NULL};
    report->status =
        part->elimination ? step_without_rows(&p, method, time) : take_step(&p, method, time);
    if (report->status == MABD_ERR_DIVERGED) blame_drive(&p, time);
    if (report->status != MABD_OK) return;
    const bool parts = part->taken.halved || part->taken.method != method; // by implicit Euler
    smooth &= !p.jumped && !(watches && parts);
    if (!smooth) part->taken.impact = mabd_quaternion_take_impacts(&p.solve, &sim->next);
    part->history_after = smooth;
    part->slope_after =
        smooth && !parts && method == sim->def.integrator && mabd_tableau_of(method).uses_slope;
    if (!part->slope_after) clear_slope(&p);
    measure_rows(&p);
}

// ---- the step ----------------------------------------------------------------------------------

static void rotate(mabd_quaternion_sim* sim) {
    const mabd_quaternion_node oldest = sim->last, slope = sim->slope;
    mabd_real* lambda = sim->lambda;
    sim->last = sim->now, sim->now = sim->next, sim->next = oldest;
    if (mabd_tableau_of(sim->def.integrator).uses_slope) {
        sim->slope = sim->next_slope, sim->next_slope = slope;
    }
    sim->lambda = sim->next_lambda, sim->next_lambda = lambda;
    sim->forces_known = false;
    for (int32_t i = 0; i < sim->part_count; i++) {
        sim->parts[i].has_history = sim->parts[i].history_after;
        sim->parts[i].has_slope = sim->parts[i].slope_after;
    }
}

static void add_report(const mabd_quaternion_report* r, mabd_step_info* info) {
    info->iterations += r->iterations;
    info->retries += r->retries;
    if (r->substeps > info->substeps) info->substeps = r->substeps;
    info->line_searches += r->line_searches;
    info->converged &= r->converged;
    if (r->gap > info->gap || r->angle_error > info->angle_error || info->worst_joint < 0) {
        if (r->worst_joint >= 0) info->worst_joint = r->worst_joint;
    }
    if (r->gap > info->gap) info->gap = r->gap;
    if (r->angle_error > info->angle_error) info->angle_error = r->angle_error;
    info->dual_iterations += r->dual_iterations;
    if (r->dual_residual > info->dual_residual) info->dual_residual = r->dual_residual;
    info->quaternion.refinements += r->refinements;
    info->quaternion.redundant_rows += r->redundant_rows;
    if (r->round_off > info->quaternion.round_off) info->quaternion.round_off = r->round_off;
    if (r->consistency < info->quaternion.consistency) {
        info->quaternion.consistency = r->consistency;
    }
}

static mabd_status report_failure(const mabd_quaternion_sim* sim, const mabd_quaternion_report* r,
                                  mabd_real time, mabd_error* error) {
    char label[160], off[32] = "";
    if (r->off > 0) snprintf(off, sizeof off, "%.4g ", (double)r->off);
    if (r->joint >= 0) {
        mabd_model_joint_label(sim->model, r->joint, label, sizeof label);
    } else {
        mabd_model_body_label(sim->model, r->body < 0 ? 0 : r->body, label, sizeof label);
    }
    return mabd_fail_at(error, r->status, r->body, r->joint, time, "%s%s %s (t = %g s)", off,
                        r->reason ? r->reason : "the step fails at", label, (double)time);
}

mabd_status mabd_quaternion_step(void* self, mabd_real time, mabd_step_info* info,
                                 mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    mabd_step_info local;
    const double clock = mabd_clock();
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->converged = true, info->worst_joint = -1;
    info->quaternion.consistency = 1;
    sim->time = time;
    mabd_pool_run(sim->pool, sim->part_count, step_part, sim);
    double factor = 0, solve = 0;
    const mabd_quaternion_report* bad = NULL;
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_quaternion_report* r = &sim->reports[i];
        if (r->status != MABD_OK && !bad) bad = r;
        factor += r->factor_seconds, solve += r->solve_seconds;
        add_report(r, info);
    }
    sim->times[MABD_QUATERNION_FACTOR] += factor, sim->times[MABD_QUATERNION_SOLVE] += solve;
    sim->times[MABD_QUATERNION_STEP] += mabd_clock() - clock - factor - solve;
    if (bad) return report_failure(sim, bad, time, error);
    rotate(sim);
    mabd_quaternion_keep_branches(sim);
    mabd_quaternion_book_step(sim, time);
    sim->time = time + sim->def.h;
    mabd_rigid_inputs_keep(&sim->inputs);
    return MABD_OK;
}
