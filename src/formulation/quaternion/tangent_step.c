// SPDX-License-Identifier: Apache-2.0
// Derivatives of a step of each part, in both directions.
//
// Forward a step is: slope at its start if trbdf2 does not know it, first solve, second solve,
// combination (tableau.h). Each solve takes its past from nodes by fixed weights,
//
//   past = on_start y_n + on_last y_n-1 + on_stage Y1 + slope h y_n'
//
// so its derivatives spread with the same weights. The adjoint takes the same pieces in the
// opposite order. A step in halves is a chain of Euler solves; going back over it, each is reached
// by taking the ones before it again. Axes with laws stay on the branches of each solve
// (tangent_axis.h), and the impact at the end of a step is one more function (tangent_impact.h).

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/part_step.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/tangent_axis.h"
#include "formulation/quaternion/tangent_impact.h"
#include "formulation/quaternion/tape.h"

#include "base/error.h"

#include <string.h>

/// One step of one part, for derivatives.
typedef struct part_run {
    mabd_quaternion_gradient* g;
    mabd_quaternion_part* part;
    mabd_quaternion_record after, before, last;
    const mabd_tape_step* step;
    mabd_quaternion_report report;
    mabd_tableau tableau;
    mabd_quaternion_node slope; // at the start, null = not used
    mabd_real h, time;          // of this step, or of the part of it
    bool back;
    mabd_error* error;
} part_run;

// ---- nodes of a part ---------------------------------------------------------------------------

typedef void node_fn(mabd_real s, int count, mabd_real* y, mabd_real* x);

// Call fn for the entries of a part in two nodes.
static void for_entries(const part_run* r, node_fn* fn, mabd_real s, mabd_quaternion_node y,
                        mabd_quaternion_node x) {
    const mabd_quaternion_sim* sim = r->g->sim;
    for (int32_t i = 0; i < r->part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[r->part->body_first + i];
        fn(s, MABD_NODE_REALS, y.body + at, x.body + at);
    }
    for (int32_t i = 0; i < r->part->joint_count; i++) {
        const int32_t index = sim->joints[r->part->joint_first + i].joint;
        const mabd_model_joint* joint = &sim->model->joints[index];
        const int32_t count = sim->model->row_sets[joint->row_set].control_count;
        if (count == 0) continue;
        const size_t at = 2 * (size_t)joint->coordinate;
        fn(s, 2 * count, y.x + at, x.x + at);
    }
}

static void add_entries(mabd_real s, int count, mabd_real* y, mabd_real* x) {
    mabd_pass_scaled(false, s, count, y, x);
}
static void set_entries(mabd_real s, int count, mabd_real* y, mabd_real* x) {
    for (int i = 0; i < count; i++) y[i] = s * x[i];
}

// y += s x; backwards x += s y.
static void pass(const part_run* r, mabd_real s, mabd_quaternion_node y, mabd_quaternion_node x) {
    if (s == 0) return;
    if (r->back) {
        for_entries(r, add_entries, s, x, y);
    } else {
        for_entries(r, add_entries, s, y, x);
    }
}
static void clear_entries(mabd_real s, int count, mabd_real* y, mabd_real* x) {
    (void)x;
    for (int i = 0; i < count; i++) y[i] = s;
}
static void clear(const part_run* r, mabd_quaternion_node y) {
    for_entries(r, clear_entries, 0, y, y);
}
static void copy(const part_run* r, mabd_quaternion_node to, mabd_quaternion_node from) {
    for_entries(r, set_entries, 1, to, from);
}

// ---- one solve ---------------------------------------------------------------------------------

static size_t unknowns_of(const part_run* r) {
    return 6 * (size_t)r->part->body_count + (size_t)r->part->row_count;
}

static mabd_quaternion_sources sources_of(const part_run* r, const mabd_tableau_solve* t,
                                          const mabd_quaternion_node* stage) {
    const mabd_quaternion_sources from = {&r->before.node, t->on_last != 0 ? &r->last.node : NULL,
                                          stage, r->slope.body ? &r->slope : NULL};
    return from;
}

// Point of a solve at the node `end` with multipliers lambda: matrix and factor.
static mabd_status enter_solve(part_run* r, int index, const mabd_quaternion_node* end,
                               const mabd_real* lambda, const mabd_axis_branch* branch,
                               const mabd_quaternion_node* stage, mabd_quaternion_point* p) {
    mabd_quaternion_sim* sim = r->g->sim;
    const mabd_tableau_solve* t = &r->tableau.solve[index];
    mabd_quaternion_solve s = {.sim = sim, .part = r->part, .report = &r->report};
    s.h = r->h, s.bh = t->bh * r->h, s.from = r->time, s.time = r->time + t->end * r->h;
    mabd_quaternion_set_inputs(&s);
    const mabd_quaternion_sources from = sources_of(r, t, stage);
    mabd_quaternion_take_past(&s, t, &from);
    mabd_quaternion_take_pose(&s, end);
    for (int32_t k = r->part->row_first; k < r->part->row_first + r->part->row_count; k++) {
        sim->multiplier[k] = lambda[k] * s.bh * s.bh;
    }
    *p = (mabd_quaternion_point){.s = s, .function = MABD_FUNCTION_SOLVE, .scale = s.bh * s.bh};
    p->multiplier = sim->multiplier;
    if (r->part->laws) mabd_quaternion_set_branches(&s, branch);
    mabd_quaternion_evaluate(&s, sim->pose, sim->multiplier, true);
    mabd_tangent_store_flat(p);
    return mabd_tangent_factor(p, r->error);
}

// Spread a past over the nodes that it comes from.
static void pass_past(const part_run* r, const mabd_tableau_solve* t, mabd_quaternion_node past,
                      const mabd_quaternion_tangent* d, mabd_quaternion_node start,
                      mabd_quaternion_node last, mabd_quaternion_node slope) {
    pass(r, t->on_start, past, start);
    pass(r, t->on_last, past, last);
    pass(r, t->on_stage, past, d->stage);
    pass(r, t->slope * r->h, past, slope);
}

// Backwards over a solve: node -> past; d->past has its part of what came after. rows: bars of the
// multipliers [1/N], null = none.
static void adjoint_solve(part_run* r, const mabd_quaternion_point* p, mabd_quaternion_node node,
                          const mabd_real* rows) {
    mabd_quaternion_gradient* g = r->g;
    const mabd_quaternion_node past = g->directions[0].past;
    const size_t bodies = 6 * (size_t)r->part->body_count;
    memset(g->dy, 0, unknowns_of(r) * sizeof *g->dy);
    mabd_tangent_node(p, true, node, g->dy, past);
    for (int32_t k = 0; rows && k < r->part->row_count; k++) {
        if (g->sim->dropped[r->part->row_first + k]) continue; // its multiplier is 0
        g->dy[bodies + (size_t)k] += rows[r->part->row_first + k] / p->scale;
    }
    mabd_tangent_solve(p, true, g->dy, g->F);
    mabd_tangent_past(p, true, past, g->F);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, p, i, r->step->step, true, g->F, node, &g->product[i]);
    }
}

// Forward over a solve for direction i: past -> node, which is zero before.
static void forward_solve(part_run* r, const mabd_quaternion_point* p, int32_t i,
                          mabd_quaternion_node node) {
    mabd_quaternion_gradient* g = r->g;
    const mabd_quaternion_node past = g->directions[i].past;
    mabd_real one = 1;
    memset(g->F, 0, unknowns_of(r) * sizeof *g->F);
    mabd_tangent_past(p, false, past, g->F);
    mabd_tangent_parameter(g, p, i, r->step->step, false, g->F, node, &one);
    mabd_tangent_solve(p, false, g->F, g->dy);
    mabd_tangent_node(p, false, node, g->dy, past);
}

// ---- the slope at the start --------------------------------------------------------------------

// Point of the accelerations at the start of the step.
static mabd_status enter_slope(part_run* r, mabd_quaternion_point* p) {
    mabd_quaternion_sim* sim = r->g->sim;
    mabd_quaternion_solve s = {.sim = sim, .part = r->part, .report = &r->report};
    s.h = r->h, s.from = s.time = r->time;
    mabd_quaternion_set_inputs(&s);
    if (mabd_quaternion_accelerate(&s, &r->before.node) != MABD_OK) {
        return mabd_fail(r->error, MABD_ERR_SINGULAR,
                         "the accelerations have no derivatives (t = %g s)", (double)r->time);
    }
    memcpy(r->g->solution, sim->y + r->part->vector_first, unknowns_of(r) * sizeof *r->g->solution);
    memcpy(r->g->projecting + r->part->row_first, r->g->solution + 6 * (size_t)r->part->body_count,
           (size_t)r->part->row_count * sizeof *r->g->solution);
    *p = (mabd_quaternion_point){.s = s, .function = MABD_FUNCTION_ACCELERATE, .scale = 1};
    p->multiplier = r->g->projecting, p->y = r->g->solution, p->node = &r->before.node;
    return mabd_tangent_find_contradiction(r->g, p);
}

// The slope of the state before the step, from the step to it.
static void known_slope(part_run* r) {
    const mabd_tableau_solve* t = &r->tableau.solve[1];
    mabd_quaternion_solve s = {.sim = r->g->sim, .part = r->part, .h = r->h};
    const mabd_quaternion_sources from = {&r->last.node, NULL, &r->before.stage, NULL};
    mabd_quaternion_take_past(&s, t, &from);
    copy(r, r->slope, r->before.node);
    for_entries(r, add_entries, -1, r->slope, r->g->sim->past);
    for_entries(r, set_entries, 1 / (t->bh * r->h), r->slope, r->slope);
}

static mabd_status find_slope(part_run* r, bool known) {
    mabd_quaternion_point p;
    if (!r->tableau.uses_slope) {
        r->slope = (mabd_quaternion_node){NULL, NULL};
        return MABD_OK;
    }
    r->slope = r->g->slope;
    if (known) {
        known_slope(r);
        return MABD_OK;
    }
    MABD_TRY(enter_slope(r, &p));
    mabd_quaternion_write_slope(&p.s, &r->before.node, &r->slope);
    return MABD_OK;
}

static void clear_changes(const part_run* r) {
    const size_t bytes = 6 * (size_t)r->part->body_count * sizeof(mabd_real);
    memset(r->g->xi, 0, bytes), memset(r->g->eta, 0, bytes);
    memset(r->g->dy, 0, unknowns_of(r) * sizeof *r->g->dy);
    memset(r->g->F, 0, unknowns_of(r) * sizeof *r->g->F);
}

// Backwards over the accelerations: slope -> state.
static mabd_status adjoint_slope(part_run* r, mabd_quaternion_node slope,
                                 mabd_quaternion_node state) {
    mabd_quaternion_gradient* g = r->g;
    mabd_quaternion_point p;
    MABD_TRY(enter_slope(r, &p));
    clear_changes(r);
    mabd_tangent_slope(&p, true, slope, g->dy, g->xi, g->eta, state);
    mabd_tangent_solve(&p, true, g->dy, g->F);
    mabd_tangent_contradict(g, &p, -1, r->step->step, g->F, g->xi);
    mabd_tangent_acceleration(&p, true, g->F, g->xi, g->eta, state);
    mabd_tangent_state(&p.s, true, p.node, g->xi, g->eta, state);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, &p, i, r->step->step, true, g->F, slope, &g->product[i]);
    }
    return MABD_OK;
}

// Forward over the accelerations: the slopes of all directions.
static mabd_status forward_slope(part_run* r) {
    mabd_quaternion_gradient* g = r->g;
    mabd_quaternion_point p;
    MABD_TRY(enter_slope(r, &p));
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_quaternion_tangent* d = &g->directions[i];
        mabd_real one = 1;
        clear_changes(r);
        clear(r, d->slope);
        mabd_tangent_state(&p.s, false, p.node, g->xi, g->eta, d->now);
        mabd_tangent_acceleration(&p, false, g->F, g->xi, g->eta, d->now);
        mabd_tangent_parameter(g, &p, i, r->step->step, false, g->F, d->slope, &one);
        mabd_tangent_contradict(g, &p, i, r->step->step, g->F, g->xi);
        mabd_tangent_solve(&p, false, g->F, g->dy);
        mabd_tangent_slope(&p, false, d->slope, g->dy, g->xi, g->eta, d->now);
    }
    return MABD_OK;
}

// ---- a step ------------------------------------------------------------------------------------

/// Ends of the solves of a step.
typedef struct step_ends {
    const mabd_quaternion_node *first, *second; // Y1, Y2; of one solve only the second
    const mabd_real *first_lambda, *second_lambda;
    const mabd_axis_branch *first_branch, *second_branch;
} step_ends;

static void begin_lambda(const part_run* r) {
    const size_t first = (size_t)r->part->row_first;
    memcpy(r->g->sim->next_lambda + first, r->before.lambda + first,
           (size_t)r->part->row_count * sizeof *r->before.lambda);
}

// The ends of the solves: from the tape, or taken again where it has no first solve.
static mabd_status find_ends(part_run* r, mabd_integrator method, step_ends* ends) {
    mabd_quaternion_sim* sim = r->g->sim;
    const mabd_tableau* t = &r->tableau;
    *ends = (step_ends){&r->after.stage, &r->after.node,        r->after.stage_lambda,
                        r->after.lambda, r->after.stage_branch, r->after.branch};
    if (t->count == 1) return MABD_OK;
    if (!r->after.stage.body) {
        mabd_quaternion_solve s = {.sim = sim, .part = r->part, .h = r->h, .report = &r->report};
        const mabd_quaternion_sources from = {&r->before.node, NULL, NULL,
                                              r->slope.body ? &r->slope : NULL};
        begin_lambda(r);
        if (mabd_quaternion_repeat(&s, method, r->time, &from, &sim->next) != MABD_OK) {
            return mabd_fail(r->error, MABD_ERR_DIVERGED, "a step cannot be repeated (t = %g s)",
                             (double)r->time);
        }
        ends->first = &sim->stage, ends->first_lambda = sim->stage_lambda;
        ends->first_branch = sim->stage_branch;
    } else if (t->combines) { // Y2 from the combination
        copy(r, sim->next, r->after.node);
        for_entries(r, add_entries, t->first + t->second - 1, sim->next, r->before.node);
        for_entries(r, add_entries, -t->first, sim->next, r->after.stage);
        for_entries(r, set_entries, 1 / t->second, sim->next, sim->next);
        ends->second = &sim->next;
    }
    return MABD_OK;
}

// Backwards over a step by one method: bars `end` of its result and of the slope there -> start,
// last and slope of its beginning, which are added to.
static mabd_status adjoint_method(part_run* r, const step_ends* ends, mabd_quaternion_node end,
                                  mabd_quaternion_node start, mabd_quaternion_node last,
                                  mabd_quaternion_node slope) {
    const mabd_quaternion_tangent* d = &r->g->directions[0];
    const mabd_tableau* t = &r->tableau;
    const int index = t->count - 1;
    mabd_quaternion_point p;
    clear(r, d->stage), clear(r, d->past);
    if (t->combines) {
        pass(r, 1 - t->first - t->second, end, start);
        pass(r, t->first, end, d->stage);
        for_entries(r, set_entries, t->second, end, end);
    }
    if (t->uses_slope) { // slope at the end = (y - past)/bh
        const mabd_real rate = 1 / (t->solve[index].bh * r->h);
        for_entries(r, add_entries, rate, end, d->slope);
        for_entries(r, add_entries, -rate, d->past, d->slope);
    }
    MABD_TRY(enter_solve(r, index, ends->second, ends->second_lambda, ends->second_branch,
                         index == 1 ? ends->first : NULL, &p));
    adjoint_solve(r, &p, end, r->g->lambda);
    clear(r, d->slope);
    pass_past(r, &t->solve[index], d->past, d, start, last, slope);
    if (index == 0) return MABD_OK;
    clear(r, d->past);
    MABD_TRY(enter_solve(r, 0, ends->first, ends->first_lambda, ends->first_branch, NULL, &p));
    adjoint_solve(r, &p, d->stage, NULL);
    pass_past(r, &t->solve[0], d->past, d, start, last, slope);
    return MABD_OK;
}

static mabd_status forward_method(part_run* r, const step_ends* ends) {
    mabd_quaternion_gradient* g = r->g;
    const mabd_tableau* t = &r->tableau;
    mabd_quaternion_point p;
    for (int index = 0; index < t->count; index++) {
        const bool end = index == t->count - 1;
        MABD_TRY(enter_solve(r, index, end ? ends->second : ends->first,
                             end ? ends->second_lambda : ends->first_lambda,
                             end ? ends->second_branch : ends->first_branch,
                             index == 1 ? ends->first : NULL, &p));
        for (int32_t i = 0; i < g->direction_count; i++) {
            const mabd_quaternion_tangent* d = &g->directions[i];
            const mabd_quaternion_node out = end ? d->fresh : d->stage;
            clear(r, d->past);
            pass_past(r, &t->solve[index], d->past, d, d->now, d->last, d->slope);
            clear(r, out);
            forward_solve(r, &p, i, out);
            if (!end) continue;
            if (t->uses_slope) {
                copy(r, d->slope, out);
                for_entries(r, add_entries, -1, d->slope, d->past);
                for_entries(r, set_entries, 1 / p.s.bh, d->slope, d->slope);
            }
            if (!t->combines) continue;
            for_entries(r, set_entries, t->second, out, out);
            for_entries(r, add_entries, t->first, out, d->stage);
            for_entries(r, add_entries, 1 - t->first - t->second, out, d->now);
        }
    }
    return MABD_OK;
}

// ---- steps in halves ---------------------------------------------------------------------------

// Length, of h, and start of part number k of a halved step; false if there is none.
static bool find_half(const mabd_quaternion_taken* taken, int32_t k, mabd_real* part,
                      mabd_real* from) {
    *from = 0, *part = 1;
    for (int i = 1; i <= MABD_QUATERNION_HALVINGS; i++) {
        *part /= 2;
        const int32_t count = taken->parts[i];
        if (k < count) {
            *from += (mabd_real)k * *part;
            return true;
        }
        *from += (mabd_real)count * *part;
        k -= count;
    }
    return false;
}

// Take part number k of a halved step again; sim->base is its start, sim->next its end.
static mabd_status repeat_half(part_run* r, const mabd_quaternion_taken* taken, int32_t k) {
    mabd_quaternion_sim* sim = r->g->sim;
    mabd_real part, from;
    mabd_quaternion_solve s = {.sim = sim, .part = r->part, .report = &r->report};
    const mabd_quaternion_sources sources = {.start = &sim->base};
    find_half(taken, k, &part, &from);
    s.h = part * sim->def.h;
    r->h = s.h, r->time = r->step->time + from * sim->def.h;
    const mabd_status status =
        mabd_quaternion_repeat(&s, MABD_INTEGRATOR_EULER, r->time, &sources, &sim->next);
    if (status == MABD_OK) return MABD_OK;
    return mabd_fail(r->error, status, "a part of a step cannot be repeated (t = %g s)",
                     (double)r->time);
}

// Reach part number k of a halved step from its beginning.
static mabd_status reach_half(part_run* r, const mabd_quaternion_taken* taken, int32_t k) {
    mabd_quaternion_sim* sim = r->g->sim;
    copy(r, sim->base, r->before.node);
    begin_lambda(r);
    for (int32_t i = 0; i < k; i++) {
        MABD_TRY(repeat_half(r, taken, i));
        copy(r, sim->base, sim->next);
    }
    return repeat_half(r, taken, k);
}

static int32_t count_halves(const mabd_quaternion_taken* taken) {
    int32_t count = 0;
    for (int i = 1; i <= MABD_QUATERNION_HALVINGS; i++) count += taken->parts[i];
    return count;
}

// Both directions: end is bars -> bars, or unused forward.
static mabd_status pass_halves(part_run* r, const mabd_quaternion_taken* taken,
                               mabd_quaternion_node end, mabd_quaternion_node start) {
    mabd_quaternion_gradient* g = r->g;
    mabd_quaternion_sim* sim = g->sim;
    const int32_t count = count_halves(taken);
    const mabd_quaternion_node before = r->before.node, none = {NULL, NULL};
    r->tableau = mabd_tableau_of(MABD_INTEGRATOR_EULER);
    r->slope = none;
    for (int32_t k = 0; k < count; k++) {
        r->before.node = before;
        MABD_TRY(reach_half(r, taken, r->back ? count - 1 - k : k));
        const step_ends ends = {NULL, &sim->next, NULL, sim->next_lambda, NULL, g->branch};
        mabd_quaternion_copy_branches(sim, r->part, g->branch);
        r->before.node = sim->base;
        if (r->back) {
            clear(r, g->directions[0].fresh);
            MABD_TRY(adjoint_method(r, &ends, end, g->directions[0].fresh, none, none));
            memset(g->lambda + r->part->row_first, 0,
                   (size_t)r->part->row_count * sizeof *g->lambda);
            copy(r, end, g->directions[0].fresh);
            continue;
        }
        MABD_TRY(forward_method(r, &ends));
        for (int32_t i = 0; i < g->direction_count; i++) {
            copy(r, g->directions[i].now, g->directions[i].fresh);
        }
    }
    r->before.node = before;
    if (r->back) pass(r, 1, end, start);
    return MABD_OK;
}

// ---- impacts -----------------------------------------------------------------------------------

// Write the node before the impact at the end of a step of Euler into g->struck: velocities are the
// differences over the step.
static void find_struck(part_run* r, const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = r->g->sim;
    const mabd_quaternion_node to = r->g->struck, past = sim->past;
    copy(r, to, r->after.node);
    for (int32_t i = 0; i < r->part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[r->part->body_first + i];
        for (size_t k = at; k < at + 7; k++) to.body[k + 7] = (to.body[k] - past.body[k]) / s->bh;
    }
    for (int32_t i = 0; i < r->part->joint_count; i++) {
        const int32_t index = sim->joints[r->part->joint_first + i].joint;
        const mabd_model_joint* joint = &sim->model->joints[index];
        const int32_t count = sim->model->row_sets[joint->row_set].control_count;
        for (size_t k = 2 * (size_t)joint->coordinate, n = 0; n < (size_t)count; n++, k += 2) {
            to.x[k + 1] = (to.x[k] - past.x[k]) / s->bh;
        }
    }
}

// Point of the impact at the end of a step of Euler, or of one in halves.
static mabd_status enter_impact(part_run* r, const mabd_quaternion_taken* taken,
                                mabd_quaternion_point* p) {
    mabd_quaternion_gradient* g = r->g;
    mabd_quaternion_sim* sim = g->sim;
    const mabd_tableau euler = mabd_tableau_of(MABD_INTEGRATOR_EULER);
    mabd_quaternion_sources from = {.start = &r->before.node};
    if (taken->halved) {
        MABD_TRY(reach_half(r, taken, count_halves(taken) - 1));
        mabd_quaternion_copy_branches(sim, r->part, g->branch);
        from.start = &sim->base;
    }
    mabd_quaternion_solve s = {.sim = sim, .part = r->part, .report = &r->report};
    s.h = s.bh = r->h, s.from = r->time, s.time = r->time + r->h;
    mabd_quaternion_set_inputs(&s);
    mabd_quaternion_take_past(&s, &euler.solve[0], &from);
    find_struck(r, &s);
    mabd_quaternion_take_pose(&s, &g->struck);
    if (r->part->laws) {
        mabd_quaternion_set_branches(&s, taken->halved ? g->branch : r->after.branch);
    }
    mabd_quaternion_write_turns(&s, &g->struck);
    copy(r, sim->stage, g->struck);
    return mabd_tangent_enter_impact(g, &s, &g->struck, &sim->stage, p, r->error);
}

// Backwards over an impact: the bars of the node after it become those of the node before it.
static mabd_status adjoint_impact(part_run* r, const mabd_quaternion_taken* taken,
                                  mabd_quaternion_node node) {
    mabd_quaternion_gradient* g = r->g;
    const mabd_quaternion_node after = g->directions[0].stage;
    mabd_quaternion_point p;
    MABD_TRY(enter_impact(r, taken, &p));
    clear_changes(r);
    copy(r, after, node);
    mabd_tangent_impact_end(&p, true, node, g->dy, g->xi, g->eta);
    mabd_tangent_solve(&p, true, g->dy, g->F);
    mabd_tangent_impact(&p, true, g->F, g->xi, g->eta);
    mabd_tangent_state(&p.s, true, p.node, g->xi, g->eta, node);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, &p, i, r->step->step, true, g->F, after, &g->product[i]);
    }
    return MABD_OK;
}

// Forward over an impact: the tangents `now` of all directions.
static mabd_status forward_impact(part_run* r, const mabd_quaternion_taken* taken) {
    mabd_quaternion_gradient* g = r->g;
    mabd_quaternion_point p;
    MABD_TRY(enter_impact(r, taken, &p));
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_quaternion_node node = g->directions[i].now, moved = g->directions[i].fresh;
        mabd_real one = 1;
        clear_changes(r);
        clear(r, moved);
        mabd_tangent_state(&p.s, false, p.node, g->xi, g->eta, node);
        mabd_tangent_impact(&p, false, g->F, g->xi, g->eta);
        mabd_tangent_parameter(g, &p, i, r->step->step, false, g->F, moved, &one);
        mabd_tangent_solve(&p, false, g->F, g->dy);
        mabd_tangent_impact_end(&p, false, node, g->dy, g->xi, g->eta);
        pass(r, 1, node, moved);
    }
    return MABD_OK;
}

// ---- entries -----------------------------------------------------------------------------------

static mabd_status adjoint_part(part_run* r, const mabd_quaternion_taken* taken) {
    mabd_quaternion_gradient* g = r->g;
    const mabd_quaternion_tangent* d = &g->directions[0];
    step_ends ends;
    // bars of the state after: now, last, slope -> `end`, and those of the state before
    const mabd_quaternion_node end = d->fresh, slope = g->begin;
    copy(r, end, d->now);
    copy(r, d->now, d->last);
    clear(r, d->last), clear(r, slope);
    if (taken->impact) MABD_TRY(adjoint_impact(r, taken, end));
    if (taken->halved) {
        clear(r, d->slope);
        const mabd_quaternion_node bars = g->slope;
        copy(r, bars, end);
        return pass_halves(r, taken, bars, d->now);
    }
    MABD_TRY(find_slope(r, taken->had_slope));
    MABD_TRY(find_ends(r, taken->method, &ends));
    MABD_TRY(adjoint_method(r, &ends, end, d->now, d->last, slope));
    if (!r->tableau.uses_slope) return MABD_OK;
    if (taken->had_slope) {
        copy(r, d->slope, slope);
        return MABD_OK;
    }
    return adjoint_slope(r, slope, d->now);
}

static mabd_status forward_part(part_run* r, const mabd_quaternion_taken* taken) {
    mabd_quaternion_gradient* g = r->g;
    step_ends ends;
    for (int32_t i = 0; i < g->direction_count; i++) { // fresh holds the start of halves
        if (taken->halved) copy(r, g->directions[i].stage, g->directions[i].now);
    }
    if (taken->halved) {
        MABD_TRY(pass_halves(r, taken, g->slope, g->slope));
        for (int32_t i = 0; i < g->direction_count; i++) {
            copy(r, g->directions[i].last, g->directions[i].stage);
        }
        return taken->impact ? forward_impact(r, taken) : MABD_OK;
    }
    MABD_TRY(find_slope(r, taken->had_slope));
    if (r->tableau.uses_slope && !taken->had_slope) MABD_TRY(forward_slope(r));
    MABD_TRY(find_ends(r, taken->method, &ends));
    MABD_TRY(forward_method(r, &ends));
    for (int32_t i = 0; i < g->direction_count; i++) {
        copy(r, g->directions[i].last, g->directions[i].now);
        copy(r, g->directions[i].now, g->directions[i].fresh);
    }
    return taken->impact ? forward_impact(r, taken) : MABD_OK;
}

static mabd_status pass_step(mabd_quaternion_sim* sim, mabd_quaternion_gradient* g,
                             const mabd_tape_step* step, bool back, mabd_error* error) {
    part_run r = {.g = g, .step = step, .back = back, .error = error};
    mabd_status status = MABD_OK;
    r.after = mabd_quaternion_record_at(g, step->after);
    r.before = mabd_quaternion_record_at(g, step->before);
    r.last = mabd_quaternion_record_at(g, step->last);
    const mabd_quaternion_saved saved = mabd_quaternion_enter(sim, &r.before, &r.after, step->time);
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        const mabd_quaternion_taken* taken = &r.after.taken[i];
        r.part = &sim->parts[i];
        r.tableau = mabd_tableau_of(taken->method);
        r.h = sim->def.h, r.time = step->time;
        status = back ? adjoint_part(&r, taken) : forward_part(&r, taken);
    }
    mabd_quaternion_leave(sim, &saved);
    if (back) memset(g->lambda, 0, (size_t)sim->row_count * sizeof *g->lambda);
    return status;
}

mabd_status mabd_quaternion_adjoint_step(void* self, void* work, const mabd_tape_step* step,
                                         const mabd_output_bars* bars, mabd_error* error) {
    if (bars) MABD_TRY(mabd_tangent_add_output(work, bars, error));
    return step->step == 0 ? mabd_tangent_start_back(work, error)
                           : pass_step(self, work, step, true, error);
}

mabd_status mabd_quaternion_forward_step(void* self, void* work, const mabd_tape_step* step,
                                         mabd_real* states, mabd_error* error) {
    const mabd_quaternion_gradient* g = work;
    const size_t reals = 12 * (size_t)g->sim->model->body_count;
    if (step->step == 0) {
        MABD_TRY(mabd_tangent_start_forward(work, states, error));
    } else {
        MABD_TRY(pass_step(self, work, step, false, error));
    }
    for (int32_t i = 0; states && i < g->parameter_count; i++) {
        mabd_tangent_write_output(g, i, states + (size_t)i * reals);
    }
    return MABD_OK;
}
