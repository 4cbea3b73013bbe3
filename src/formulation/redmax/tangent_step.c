// SPDX-License-Identifier: Apache-2.0
// Derivatives of a step of each part, in both directions (redmax_tangent.h).
//
// Methods without parts are in tangent_stage.c and tangent_explicit.c.
//
// A step in parts is a chain of steps by the method without history; going back over it, each is
// reached by taking the ones before it again.

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/tangent_law.h"

// ---- a step ------------------------------------------------------------------------------------

static mabd_status stages_back(mabd_redmax_pass* r, mabd_integrator method, mabd_redmax_tangent end,
                               mabd_redmax_tangent start, mabd_redmax_tangent last,
                               mabd_redmax_tangent begin) {
    switch (method) {
    case MABD_INTEGRATOR_SEMI_IMPLICIT:
        return mabd_redmax_explicit_back(r, end, start, begin);
    case MABD_INTEGRATOR_LINEAR_IMPLICIT:
        return mabd_redmax_linear_back(r, end, start, begin);
    default:
        return mabd_redmax_implicit_back(r, method, end, start, last, begin);
    }
}

static mabd_status stages_forward(mabd_redmax_pass* r, mabd_integrator method, bool halves) {
    switch (method) {
    case MABD_INTEGRATOR_SEMI_IMPLICIT:
        return mabd_redmax_explicit_forward(r, r->g->directions, halves);
    case MABD_INTEGRATOR_LINEAR_IMPLICIT:
        return mabd_redmax_linear_forward(r, halves);
    default:
        return mabd_redmax_implicit_forward(r, method, r->g->directions, halves);
    }
}

static mabd_status method_back(mabd_redmax_pass* r, mabd_integrator method, mabd_redmax_tangent end,
                               mabd_redmax_tangent start, mabd_redmax_tangent last,
                               mabd_redmax_tangent begin) {
    const mabd_redmax_tangent* history = method == MABD_INTEGRATOR_BDF2 ? &last : NULL;
    r->s.rows_known = true;
    mabd_redmax_enter_charts(&r->s);
    mabd_redmax_pass_charts(r, true, start, history);
    const mabd_status status = stages_back(r, method, end, start, last, begin);
    mabd_redmax_pass_charts(r, false, start, history);
    r->s.rows_known = false;
    return status;
}

static mabd_status method_forward(mabd_redmax_pass* r, mabd_integrator method, bool halves) {
    mabd_redmax_direction* d = r->g->directions;
    const bool history = method == MABD_INTEGRATOR_BDF2;
    r->s.rows_known = true;
    mabd_redmax_enter_charts(&r->s);
    for (int32_t i = 0; i < r->g->direction_count; i++) {
        mabd_redmax_pass_charts(r, true, d[i].now, history ? &d[i].last : NULL);
    }
    const mabd_status status = stages_forward(r, method, halves);
    for (int32_t i = 0; i < r->g->direction_count; i++) {
        mabd_redmax_pass_charts(r, false, d[i].now, history ? &d[i].last : NULL);
    }
    r->s.rows_known = false;
    return status;
}

// Stages that the simulation itself has taken.
static void use_own_stages(mabd_redmax_pass* r) {
    const mabd_redmax_sim* sim = r->g->sim;
    r->stage_q = sim->stage_q, r->end_q = sim->end_q;
    r->stage_force = sim->loops.stage_force, r->end_force = sim->loops.end_force;
    r->stage_branch = sim->stage_branch, r->end_branch = r->g->branch;
}

// Rows that the stages of the step on the tape did without.
static void take_left_out(const mabd_redmax_pass* r) {
    const size_t first = (size_t)r->part->row_first, count = (size_t)r->part->row_count;
    bool* to = r->g->sim->loops.left_out + first;
    if (count > 0) memcpy(to, r->after.left_out + first, count * sizeof *to);
}

// Coordinates of the stages: from the tape, or taken again.
static mabd_status find_stages(mabd_redmax_pass* r, mabd_integrator method) {
    mabd_redmax_sim* sim = r->g->sim;
    use_own_stages(r);
    r->on_tape = r->after.node.q && !r->impact;
    if (method == MABD_INTEGRATOR_SEMI_IMPLICIT) {
        if (r->on_tape && r->after.end_q) r->end_q = r->after.end_q, r->end_force = r->after.lambda;
        return MABD_OK;
    }
    const bool two = method == MABD_INTEGRATOR_SDIRK2;
    if (!r->after.node.q || (two && !r->after.stage_q) || r->impact) {
        mabd_redmax_begin_branches(&r->s, r->step->time);
        mabd_redmax_load_forces(&r->s);
        const mabd_status status = mabd_redmax_advance(&r->s, method, true, &sim->next);
        mabd_redmax_copy_branches(&r->s, r->g->branch);
        return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
    }
    r->stage_branch = r->after.stage_branch, r->end_branch = r->after.branch;
    r->end_force = r->after.lambda;
    take_left_out(r);
    if (r->after.stage_q) r->stage_q = r->after.stage_q, r->stage_force = r->after.stage_lambda;
    if (method == MABD_INTEGRATOR_LINEAR_IMPLICIT) r->stage_force = r->before.lambda;
    if (r->after.end_q) {
        r->end_q = r->after.end_q;
        return MABD_OK;
    }
    mabd_redmax_pass_copy(r, sim->end_q, r->after.node.q);
    if (mabd_redmax_pass_is_plain(r)) return MABD_OK;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->ball < 0) continue;
        memcpy(sim->end_q + link->first, r->after.ball_q + 3 * (size_t)link->ball,
               3 * sizeof *sim->end_q);
    }
    return MABD_OK;
}

// ---- steps in parts ----------------------------------------------------------------------------

static void set_part(mabd_redmax_pass* r, int32_t done, int32_t size) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_real unit = sim->def.h / (mabd_real)((int32_t)1 << sim->def.max_halvings);
    r->s.h = (mabd_real)size * unit;
    r->s.from = r->step->time + (mabd_real)done * unit;
    r->s.from_node = &sim->base;
}

// Take parts 0 .. last of a divided step again: sim->base is the start of the last one.
static mabd_status reach_part(mabd_redmax_pass* r, mabd_integrator method, int32_t last) {
    mabd_redmax_sim* sim = r->g->sim;
    int32_t done = 0;
    mabd_redmax_begin_branches(&r->s, r->step->time);
    mabd_redmax_copy_node(&r->s, &sim->now, &sim->base);
    mabd_redmax_load_forces(&r->s);
    for (int32_t k = 0; k <= last; k++) {
        set_part(r, done, r->g->sizes[k]);
        const mabd_status status = mabd_redmax_advance(&r->s, method, true, &sim->next);
        if (status != MABD_OK) return mabd_redmax_pass_fail(r, status);
        done += r->g->sizes[k];
        if (k < last) mabd_redmax_copy_node(&r->s, &sim->next, &sim->base);
    }
    mabd_redmax_copy_branches(&r->s, r->g->branch);
    return MABD_OK;
}

// Find the sizes of the parts of a divided step by dividing it again.
static mabd_status find_sizes(mabd_redmax_pass* r, int32_t* count) {
    use_own_stages(r);
    mabd_redmax_begin_branches(&r->s, r->step->time);
    r->s.sizes = r->g->sizes;
    const mabd_status status = mabd_redmax_divide(&r->s, r->step->time);
    r->s.sizes = NULL;
    *count = r->report.substeps;
    return status == MABD_OK ? MABD_OK : mabd_redmax_pass_fail(r, status);
}

static mabd_status parts_back(mabd_redmax_pass* r, mabd_integrator method, mabd_redmax_tangent end,
                              mabd_redmax_tangent begin) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent start = g->directions[0].last; // there is no history
    int32_t count;
    MABD_TRY(find_sizes(r, &count));
    if (r->impact) MABD_TRY(mabd_redmax_impact_back(r, end));
    for (int32_t k = count - 1; k >= 0; k--) {
        MABD_TRY(reach_part(r, method, k));
        mabd_redmax_pass_clear_node(r, start);
        MABD_TRY(method_back(r, method, end, start, start, begin));
        mabd_redmax_pass_copy_node(r, end, start);
    }
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        begin.q[k] += end.q[k], begin.v[k] += end.v[k];
    }
    mabd_redmax_pass_clear_node(r, start);
    return MABD_OK;
}

// Forward: `last` keeps the state before the step.
static mabd_status parts_forward(mabd_redmax_pass* r, mabd_integrator method) {
    mabd_redmax_gradient* g = r->g;
    int32_t count;
    MABD_TRY(find_sizes(r, &count));
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_pass_copy_node(r, g->directions[i].last, g->directions[i].now);
    }
    for (int32_t k = 0; k < count; k++) {
        MABD_TRY(reach_part(r, method, k));
        MABD_TRY(method_forward(r, method, true));
        for (int32_t i = 0; i < g->direction_count; i++) {
            mabd_redmax_pass_copy_node(r, g->directions[i].now, g->directions[i].fresh);
        }
    }
    if (!r->impact) return MABD_OK;
    MABD_TRY(mabd_redmax_impact_forward(r));
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_pass_copy_node(r, g->directions[i].now, g->directions[i].fresh);
    }
    return MABD_OK;
}

// Bars of the targets of this step and of the one before -> parameters.
static void targets_back(const mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    const int32_t part = (int32_t)(r->part - g->sim->parts);
    for (int32_t k = g->sorted_first[part]; k < g->sorted_first[part + 1]; k++) {
        const int32_t i = g->sorted[k], at = g->parameter_freedom[i];
        if (mabd_redmax_sets_target(g, i, r->step->step)) g->product[i] += g->target[at];
        if (mabd_redmax_sets_target(g, i, r->step->step - 1)) g->product[i] += g->last_target[at];
    }
}

// ---- a step of a part --------------------------------------------------------------------------

static mabd_status part_back(mabd_redmax_pass* r, mabd_integrator method, bool divided) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_direction* d = &g->directions[0];
    // bars of the state after: now, last -> `fresh`, and those of the state before
    mabd_redmax_pass_copy_node(r, d->fresh, d->now);
    mabd_redmax_pass_copy_node(r, d->now, d->last);
    mabd_redmax_pass_clear_node(r, d->last);
    mabd_redmax_pass_clear(r, g->target), mabd_redmax_pass_clear(r, g->last_target);
    if (method == MABD_INTEGRATOR_RK45) {
        MABD_TRY(mabd_redmax_rk45_back(r, d->fresh, d->now));
    } else if (divided) {
        MABD_TRY(parts_back(r, mabd_redmax_divided_method(g->sim, r->part), d->fresh, d->now));
    } else {
        MABD_TRY(find_stages(r, method));
        if (r->impact) MABD_TRY(mabd_redmax_impact_back(r, d->fresh));
        MABD_TRY(method_back(r, method, d->fresh, d->now, d->last, d->now));
    }
    targets_back(r);
    return MABD_OK;
}

// In one direction: the state that a step of rk45 begins at is the one before.
static mabd_status rk45_forward(mabd_redmax_pass* r) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_pass_copy_node(r, g->directions[i].last, g->directions[i].now);
    }
    return mabd_redmax_rk45_forward(r);
}

static mabd_status part_forward(mabd_redmax_pass* r, mabd_integrator method, bool divided) {
    mabd_redmax_gradient* g = r->g;
    if (method == MABD_INTEGRATOR_RK45) return rk45_forward(r);
    if (divided) return parts_forward(r, mabd_redmax_divided_method(g->sim, r->part));
    MABD_TRY(find_stages(r, method));
    MABD_TRY(method_forward(r, method, false));
    if (r->impact) MABD_TRY(mabd_redmax_impact_forward(r));
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_pass_copy_node(r, g->directions[i].last, g->directions[i].now);
        mabd_redmax_pass_copy_node(r, g->directions[i].now, g->directions[i].fresh);
    }
    return MABD_OK;
}

static mabd_redmax_solve solve_of(mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_solve s = {.sim = sim,
                                 .part = r->part,
                                 .report = &r->report,
                                 .from = r->step->time,
                                 .h = sim->def.h,
                                 .force = sim->force,
                                 .motor = sim->motor,
                                 .from_node = &sim->now,
                                 .in_charts = true,
                                 .kept_bars = r->back && r->g->moves_cuts ? r->g->kept_bars : NULL};
    return s;
}

static mabd_status pass_part(mabd_redmax_pass* r, int32_t index) {
    mabd_redmax_sim* sim = r->g->sim;
    r->part = &sim->parts[index];
    const mabd_redmax_part kept = *r->part;
    r->on_tape = false;
    r->part->poses |= sim->inputs.has_applied;
    r->part->peak = r->part->peak_after = r->before.peak[index];
    r->s = solve_of(r);
    const mabd_integrator method = (mabd_integrator)r->after.taken[index];
    const bool divided = r->after.divided[index];
    r->impact = r->after.impact[index];
    const mabd_status status =
        r->back ? part_back(r, method, divided) : part_forward(r, method, divided);
    *r->part = kept;
    return status;
}

// A step from the state alone, without history: what has failed in one piece is taken in parts.
static mabd_status fresh_part(mabd_redmax_pass* r, int32_t index) {
    mabd_redmax_sim* sim = r->g->sim;
    r->part = &sim->parts[index];
    const mabd_redmax_part kept = *r->part;
    r->part->has_history = false;
    mabd_redmax_step_part(sim, index);
    const mabd_integrator method = r->part->taken;
    const bool divided = r->part->divided;
    mabd_status status = sim->reports[index].status;
    if (status != MABD_OK) status = mabd_redmax_pass_fail(r, status);
    r->impact = r->part->impact;
    *r->part = kept;
    r->part->poses |= sim->inputs.has_applied;
    r->s = solve_of(r);
    if (status == MABD_OK) status = part_forward(r, method, divided);
    *r->part = kept;
    return status;
}

// Let changes of the state of a part be those that its loops and couplings allow.
static mabd_status close_part(mabd_redmax_pass* r, int32_t index) {
    r->part = &r->g->sim->parts[index];
    r->s = solve_of(r);
    if (r->part->row_count == 0) return MABD_OK;
    mabd_redmax_follow_welds(r->g, r->part);
    r->g->sim->placed = false;
    return mabd_redmax_close_changes(r);
}

mabd_status mabd_redmax_pass_fresh_step(mabd_redmax_gradient* g, mabd_error* error) {
    const mabd_tape_step step = {.step = 1, .time = g->sim->time};
    mabd_redmax_pass r = {.g = g, .step = &step, .error = error};
    mabd_status status = MABD_OK;
    for (int32_t i = 0; i < g->sim->part_count && status == MABD_OK; i++) {
        status = close_part(&r, i);
        if (status == MABD_OK) status = fresh_part(&r, i);
    }
    g->sim->placed = false;
    return status;
}

mabd_status mabd_redmax_pass_step(mabd_redmax_gradient* g, const mabd_tape_step* step, bool back,
                                  mabd_error* error) {
    mabd_redmax_pass r = {.g = g, .step = step, .back = back, .error = error};
    mabd_status status = MABD_OK;
    r.after = mabd_redmax_record_at(g, step->after);
    r.before = mabd_redmax_record_at(g, step->before);
    const mabd_redmax_record last = mabd_redmax_record_at(g, step->last);
    const mabd_redmax_saved saved =
        mabd_redmax_enter(g->sim, &last, &r.before, &r.after, step->time);
    for (int32_t i = 0; i < g->sim->part_count && status == MABD_OK; i++) status = pass_part(&r, i);
    mabd_redmax_leave(g->sim, &saved);
    if (back) g->has_wrench = false;
    return status;
}
