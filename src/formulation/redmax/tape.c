// SPDX-License-Identifier: Apache-2.0
// The tape of a run: one record per state.
//
// A record holds coordinates and rates, the coordinates of balls in the chart of the step, those of
// the first of two stages where the integrator has two, the forces of rows, the end of the last
// stage where a projection may follow, the targets of the step, the applied forces
// if forces are parameters, the wrenches of joints if losses have them, and how each part took the
// step. Rates, accelerations, wrenches and factors of the stages are computed again, to the bit.
// The step that starts bdf2, and steps in parts, are taken again from the record before; bdf2 keeps
// first stages if parameters are controls or forces, since it starts anew whenever these change.
// Axes with laws have the branches of each stage on the tape; impacts are taken again.

#include "formulation/redmax/redmax_tape.h"

#include <string.h>

static mabd_redmax_record lay_out(const mabd_redmax_gradient* g, mabd_arena* arena) {
    const mabd_redmax_sim* sim = g->sim;
    const size_t bodies = (size_t)sim->model->body_count, real = sizeof(mabd_real);
    const size_t freedoms = (size_t)sim->freedom_count, balls = (size_t)sim->ball_count;
    const size_t parts = (size_t)sim->part_count, laws = (size_t)sim->law_count;
    const size_t rows = (size_t)sim->loops.row_count;
    mabd_redmax_record r;
    memset(&r, 0, sizeof r);
    r.node.q = mabd_arena_take(arena, freedoms, real);
    r.node.v = mabd_arena_take(arena, freedoms, real);
    r.node.turn = mabd_arena_take(arena, 4 * balls, real);
    r.node.theta = mabd_arena_take(arena, 3 * balls, real);
    r.ball_q = mabd_arena_take(arena, 3 * balls, real);
    r.lambda = mabd_arena_take(arena, rows, real);
    if (rows > 0) r.end_q = mabd_arena_take(arena, freedoms, real);
    if (g->keeps_stage) {
        r.stage_q = mabd_arena_take(arena, freedoms, real);
        r.stage_lambda = mabd_arena_take(arena, rows, real);
    }
    r.target = mabd_arena_take(arena, sim->inputs.count, real);
    if (g->keeps_applied) r.applied = mabd_arena_take(arena, 6 * bodies, real);
    if (g->keeps_wrench) r.wrench = mabd_arena_take(arena, 6 * (size_t)sim->link_count, real);
    r.peak = mabd_arena_take(arena, parts, real);
    r.target_set = mabd_arena_take(arena, sim->inputs.count, sizeof *r.target_set);
    r.left_out = mabd_arena_take(arena, rows, sizeof *r.left_out);
    r.node.chart = mabd_arena_take(arena, balls, sizeof *r.node.chart);
    r.last_correction = mabd_arena_take(arena, parts, real);
    r.corrections = mabd_arena_take(arena, parts, sizeof *r.corrections);
    r.taken = mabd_arena_take(arena, parts, sizeof *r.taken);
    r.divided = mabd_arena_take(arena, parts, sizeof *r.divided);
    r.impact = mabd_arena_take(arena, parts, sizeof *r.impact);
    r.rough = mabd_arena_take(arena, parts, sizeof *r.rough);
    r.branch = mabd_arena_take(arena, laws, sizeof *r.branch);
    r.stage_branch = mabd_arena_take(arena, laws, sizeof *r.stage_branch);
    r.has_branches = mabd_arena_take(arena, 1, sizeof *r.has_branches);
    return r;
}

mabd_redmax_record mabd_redmax_record_at(const mabd_redmax_gradient* g, const void* bytes) {
    mabd_arena arena = {.memory = (char*)bytes, .size = SIZE_MAX};
    mabd_redmax_record none;
    memset(&none, 0, sizeof none);
    return bytes ? lay_out(g, &arena) : none;
}

size_t mabd_redmax_tape_size(const void* self, const void* work) {
    mabd_arena arena = {0};
    (void)self;
    lay_out(work, &arena);
    return mabd_bytes(1, arena.used);
}

static void copy_node(const mabd_redmax_sim* sim, const mabd_redmax_node* from,
                      const mabd_redmax_node* to) {
    const size_t freedoms = (size_t)sim->freedom_count, balls = (size_t)sim->ball_count;
    memcpy(to->q, from->q, freedoms * sizeof *to->q);
    memcpy(to->v, from->v, freedoms * sizeof *to->v);
    memcpy(to->turn, from->turn, 4 * balls * sizeof *to->turn);
    memcpy(to->theta, from->theta, 3 * balls * sizeof *to->theta);
    memcpy(to->chart, from->chart, balls * sizeof *to->chart);
}

static void write_balls(const mabd_redmax_sim* sim, mabd_real* to) {
    for (int32_t i = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->ball < 0) continue;
        memcpy(to + 3 * (size_t)link->ball, sim->end_q + link->first, 3 * sizeof *to);
    }
}

// The branches of laws are known: all parts learn them in the first step.
static bool has_branches(const mabd_redmax_sim* sim) {
    bool known = false;
    for (int32_t i = 0; i < sim->part_count; i++) known |= sim->parts[i].has_branches;
    return known;
}
static void set_branches(mabd_redmax_sim* sim, bool known) {
    for (int32_t i = 0; i < sim->part_count; i++) {
        sim->parts[i].has_branches = known && sim->parts[i].law_count > 0;
    }
}

static void write_forces(const mabd_redmax_sim* sim, const mabd_redmax_record* r) {
    const size_t freedoms = (size_t)sim->freedom_count * sizeof *r->end_q;
    const size_t rows = (size_t)sim->loops.row_count * sizeof *r->lambda;
    if (r->end_q) memcpy(r->end_q, sim->end_q, freedoms);
    if (rows == 0) return;
    memcpy(r->left_out, sim->loops.left_out, (size_t)sim->loops.row_count * sizeof *r->left_out);
    memcpy(r->lambda, sim->loops.lambda, rows);
    if (r->stage_lambda) memcpy(r->stage_lambda, sim->loops.stage_force, rows);
}

void mabd_redmax_tape_write(const void* self, const void* work, void* bytes) {
    const mabd_redmax_sim* sim = self;
    const mabd_redmax_record r = mabd_redmax_record_at(work, bytes);
    const size_t bodies = (size_t)sim->model->body_count, inputs = sim->inputs.count;
    copy_node(sim, &sim->now, &r.node);
    write_balls(sim, r.ball_q);
    write_forces(sim, &r);
    if (r.stage_q) {
        memcpy(r.stage_q, sim->stage_q, (size_t)sim->freedom_count * sizeof *r.stage_q);
    }
    memcpy(r.target, sim->inputs.target, inputs * sizeof *r.target);
    memcpy(r.target_set, sim->inputs.target_set, inputs * sizeof *r.target_set);
    if (r.applied) memcpy(r.applied, sim->inputs.last_applied, 6 * bodies * sizeof *r.applied);
    if (r.wrench) memcpy(r.wrench, sim->wrench, 6 * (size_t)sim->link_count * sizeof *r.wrench);
    for (int32_t i = 0; i < sim->part_count; i++) {
        r.peak[i] = sim->parts[i].peak;
        r.taken[i] = (int8_t)sim->parts[i].taken, r.divided[i] = sim->parts[i].divided;
        r.impact[i] = sim->parts[i].impact, r.rough[i] = sim->parts[i].rough;
        r.corrections[i] = (int8_t)sim->parts[i].corrections;
        r.last_correction[i] = sim->parts[i].last_correction;
    }
    memcpy(r.branch, sim->branch, (size_t)sim->law_count * sizeof *r.branch);
    memcpy(r.stage_branch, sim->stage_branch, (size_t)sim->law_count * sizeof *r.stage_branch);
    *r.has_branches = has_branches(sim);
}

bool mabd_redmax_tape_read(void* self, const void* work, const void* bytes, mabd_real time) {
    mabd_redmax_sim* sim = self;
    const mabd_redmax_record r = mabd_redmax_record_at(work, bytes);
    const size_t inputs = sim->inputs.count;
    bool rough = false;
    copy_node(sim, &r.node, &sim->now);
    if (r.wrench) memcpy(sim->wrench, r.wrench, 6 * (size_t)sim->link_count * sizeof *r.wrench);
    memcpy(sim->inputs.target, r.target, inputs * sizeof *r.target);
    memcpy(sim->inputs.target_set, r.target_set, inputs * sizeof *r.target_set);
    memcpy(sim->loops.lambda, r.lambda, (size_t)sim->loops.row_count * sizeof *r.lambda);
    memcpy(sim->branch, r.branch, (size_t)sim->law_count * sizeof *r.branch);
    sim->time = time, sim->placed = false;
    for (int32_t i = 0; i < sim->part_count; i++) {
        rough |= r.divided[i] || r.impact[i] || r.rough[i];
    }
    return rough;
}

mabd_redmax_saved mabd_redmax_enter(mabd_redmax_sim* sim, const mabd_redmax_record* last,
                                    const mabd_redmax_record* before,
                                    const mabd_redmax_record* after, mabd_real time) {
    const mabd_redmax_saved saved = {.now = sim->now,
                                     .last = sim->last,
                                     .inputs = sim->inputs,
                                     .branch = sim->branch,
                                     .has_branches = has_branches(sim),
                                     .lambda = sim->loops.lambda,
                                     .time = sim->time};
    sim->now = before->node, sim->placed = false;
    sim->loops.lambda = before->lambda;
    if (last->node.q) sim->last = last->node;
    sim->inputs.target = after->target, sim->inputs.target_set = after->target_set;
    sim->inputs.last_target = before->target, sim->inputs.last_set = before->target_set;
    sim->branch = before->branch;
    set_branches(sim, *before->has_branches);
    if (after->applied) sim->inputs.applied = after->applied;
    sim->inputs.has_applied = after->applied != NULL;
    sim->time = time;
    return saved;
}

void mabd_redmax_leave(mabd_redmax_sim* sim, const mabd_redmax_saved* saved) {
    sim->now = saved->now, sim->last = saved->last;
    sim->loops.lambda = saved->lambda;
    sim->inputs = saved->inputs;
    sim->branch = saved->branch;
    set_branches(sim, saved->has_branches);
    sim->time = saved->time, sim->placed = false;
}
