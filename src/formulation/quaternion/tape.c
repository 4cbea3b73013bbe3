// SPDX-License-Identifier: Apache-2.0
// The tape of a run: one record per state.
//
// A record holds the node (14 reals per body, 2 per controlled coordinate), the multipliers of the
// last solve, the first of two solves where the integrator has two, the branches of laws of axes in
// them, the targets of the step, the applied forces if forces are parameters, and how each part
// took the step. Everything else is
// rebuilt from it: the past of a solve from the nodes before, the inputs from time and targets, K
// from pose and multipliers. Steps that are not of the integrator's own kind, the start of bdf2
// and steps in halves, are taken again from the record before.

#include "formulation/quaternion/tape.h"

#include "formulation/quaternion/tableau.h"

#include <string.h>

static mabd_quaternion_record lay_out(const mabd_quaternion_gradient* g, mabd_arena* arena) {
    const mabd_quaternion_sim* sim = g->sim;
    const size_t bodies = (size_t)sim->model->body_count, real = sizeof(mabd_real);
    const size_t coordinates = (size_t)sim->model->coordinate_count, rows = (size_t)sim->row_count;
    mabd_quaternion_record r;
    memset(&r, 0, sizeof r);
    r.node.body = mabd_arena_take(arena, MABD_NODE_REALS * bodies, real);
    r.node.x = mabd_arena_take(arena, 2 * coordinates, real);
    r.lambda = mabd_arena_take(arena, rows, real);
    if (sim->def.quaternion.redundancy == MABD_REDUNDANCY_ELIMINATE) {
        r.dropped = mabd_arena_take(arena, rows, sizeof *r.dropped);
    }
    if (mabd_tableau_of(sim->def.integrator).count == 2) {
        r.stage.body = mabd_arena_take(arena, MABD_NODE_REALS * bodies, real);
        r.stage.x = mabd_arena_take(arena, 2 * coordinates, real);
        r.stage_lambda = mabd_arena_take(arena, rows, real);
    }
    r.target = mabd_arena_take(arena, sim->inputs.count, real);
    r.target_set = mabd_arena_take(arena, sim->inputs.count, sizeof *r.target_set);
    if (sim->model->laws) {
        r.branch = mabd_arena_take(arena, coordinates, sizeof *r.branch);
        r.stage_branch = mabd_arena_take(arena, coordinates, sizeof *r.branch);
        r.has_branches = mabd_arena_take(arena, 1, sizeof *r.has_branches);
    }
    if (g->has_forces) r.applied = mabd_arena_take(arena, 6 * bodies, real);
    r.taken = mabd_arena_take(arena, (size_t)sim->part_count, sizeof *r.taken);
    return r;
}

mabd_quaternion_record mabd_quaternion_record_at(const mabd_quaternion_gradient* g,
                                                 const void* bytes) {
    mabd_arena arena = {.memory = (char*)bytes, .size = SIZE_MAX};
    mabd_quaternion_record none;
    memset(&none, 0, sizeof none);
    return bytes ? lay_out(g, &arena) : none;
}

size_t mabd_quaternion_tape_size(const void* self, const void* work) {
    mabd_arena arena = {0};
    (void)self;
    lay_out(work, &arena);
    return mabd_bytes(1, arena.used);
}

static void copy_node(const mabd_quaternion_sim* sim, const mabd_quaternion_node* from,
                      const mabd_quaternion_node* to) {
    const size_t bodies = (size_t)sim->model->body_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    memcpy(to->body, from->body, MABD_NODE_REALS * bodies * sizeof *to->body);
    memcpy(to->x, from->x, 2 * coordinates * sizeof *to->x);
}

// The branches of the laws of axes are known: all parts learn them in the first step.
static bool has_branches(const mabd_quaternion_sim* sim) {
    return sim->part_count > 0 && sim->parts[0].has_branches;
}
static void set_branches(mabd_quaternion_sim* sim, bool known) {
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].has_branches = known;
}

void mabd_quaternion_tape_write(const void* self, const void* work, void* bytes) {
    const mabd_quaternion_sim* sim = self;
    const mabd_quaternion_gradient* g = work;
    const mabd_quaternion_record r = mabd_quaternion_record_at(g, bytes);
    const size_t inputs = sim->inputs.count;
    const size_t rows = (size_t)sim->row_count * sizeof(mabd_real);
    copy_node(sim, &sim->now, &r.node);
    memcpy(r.lambda, sim->lambda, rows);
    if (r.dropped) memcpy(r.dropped, sim->dropped, (size_t)sim->row_count * sizeof *r.dropped);
    if (r.stage.body) {
        copy_node(sim, &sim->stage, &r.stage);
        memcpy(r.stage_lambda, sim->stage_lambda, rows);
    }
    memcpy(r.target, sim->inputs.target, inputs * sizeof *r.target);
    memcpy(r.target_set, sim->inputs.target_set, inputs * sizeof *r.target_set);
    if (r.branch) {
        const size_t size = (size_t)sim->model->coordinate_count * sizeof *r.branch;
        memcpy(r.branch, sim->branch, size);
        memcpy(r.stage_branch, sim->stage_branch, size);
        *r.has_branches = has_branches(sim);
    }
    if (r.applied) { // those of the step that ended here
        memcpy(r.applied, sim->inputs.last_applied,
               6 * (size_t)sim->model->body_count * sizeof *r.applied);
    }
    for (int32_t i = 0; i < sim->part_count; i++) r.taken[i] = sim->parts[i].taken;
}

bool mabd_quaternion_tape_read(void* self, const void* work, const void* bytes, mabd_real time) {
    mabd_quaternion_sim* sim = self;
    const mabd_quaternion_record r = mabd_quaternion_record_at(work, bytes);
    const size_t inputs = sim->inputs.count;
    bool rough = false;
    copy_node(sim, &r.node, &sim->now);
    memcpy(sim->lambda, r.lambda, (size_t)sim->row_count * sizeof *r.lambda);
    memcpy(sim->inputs.target, r.target, inputs * sizeof *r.target);
    memcpy(sim->inputs.target_set, r.target_set, inputs * sizeof *r.target_set);
    if (r.branch) {
        memcpy(sim->branch, r.branch, (size_t)sim->model->coordinate_count * sizeof *r.branch);
        set_branches(sim, *r.has_branches);
    }
    sim->time = time;
    sim->forces_known = false;
    for (int32_t i = 0; i < sim->part_count; i++) {
        mabd_quaternion_report report = {0};
        mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[i], .report = &report};
        s.from = time - sim->def.h, s.time = time, s.h = sim->def.h; // as its last solve
        mabd_quaternion_set_inputs(&s);
        rough |= r.taken[i].halved || r.taken[i].rough || r.taken[i].impact;
    }
    return rough;
}

mabd_quaternion_saved mabd_quaternion_enter(mabd_quaternion_sim* sim,
                                            const mabd_quaternion_record* before,
                                            const mabd_quaternion_record* after, mabd_real time) {
    const mabd_quaternion_saved saved = {
        .now = sim->now,
        .lambda = sim->lambda,
        .inputs = sim->inputs,
        .branch = sim->branch,
        .dropped = sim->dropped,
        .has_branches = has_branches(sim),
        .time = sim->time,
    };
    sim->now = before->node, sim->lambda = before->lambda;
    sim->inputs.target = after->target, sim->inputs.target_set = after->target_set;
    sim->inputs.last_target = before->target, sim->inputs.last_set = before->target_set;
    if (after->applied) sim->inputs.applied = after->applied;
    sim->inputs.has_applied = after->applied != NULL;
    if (after->dropped) sim->dropped = after->dropped;
    if (before->branch) sim->branch = before->branch, set_branches(sim, *before->has_branches);
    sim->time = time;
    return saved;
}

void mabd_quaternion_leave(mabd_quaternion_sim* sim, const mabd_quaternion_saved* saved) {
    sim->now = saved->now, sim->lambda = saved->lambda;
    sim->inputs = saved->inputs;
    if (sim->branch != saved->branch) set_branches(sim, saved->has_branches);
    sim->branch = saved->branch, sim->dropped = saved->dropped;
    sim->time = saved->time;
}
