// SPDX-License-Identifier: Apache-2.0
// The start state, states that are set, states as bytes. All are states that the joints allow
// (rigid/start.h).

#include "formulation/quaternion/quaternion_sim.h"

#include "base/error.h"
#include "formulation/quaternion/constrained.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/kinematics.h"
#include "rigid/frames.h"

#include <string.h>

static void store_body(const mabd_rigid_state* s, mabd_real* row) {
    const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    mabd_v3_store(s->c, row), mabd_q_store(s->q, row + 3);
    mabd_v3_store(s->v, row + 7);
    mabd_q_store(mabd_rigid_h_tmul(s->q, mabd_v3_scale((mabd_real)0.5, om)), row + 10);
}

static mabd_quaternion_solve solve_at(mabd_quaternion_sim* sim, int32_t part,
                                      mabd_quaternion_report* report) {
    mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[part], .report = report};
    s.from = s.time = sim->time, s.h = sim->def.h, s.bh = sim->def.h;
    return s;
}

// Read the coordinates of all controls at a node, and set controls and motors there.
static void read_controls(mabd_quaternion_sim* sim, mabd_quaternion_node* node) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_report report = {0};
        mabd_quaternion_solve s = solve_at(sim, p, &report);
        mabd_quaternion_read_coordinates(&s, node);
        mabd_quaternion_set_inputs(&s);
    }
}

// Leave out the redundant rows at a node. On failure the choice is as before.
static mabd_status eliminate(mabd_quaternion_sim* sim, const mabd_quaternion_node* node, bool first,
                             mabd_error* error) {
    const size_t rows = (size_t)sim->row_count * sizeof *sim->dropped;
    memcpy(sim->last_dropped, sim->dropped, rows);
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_report report = {0};
        const mabd_quaternion_solve s = solve_at(sim, p, &report);
        if (!s.part->elimination) continue;
        mabd_quaternion_take_pose(&s, node);
        if (mabd_quaternion_eliminate(&s, first) == MABD_OK) continue;
        memcpy(sim->dropped, sim->last_dropped, rows);
        return mabd_fail(error, MABD_ERR_DIVERGED,
                         "redundant rows cannot be left out: singular values do not converge");
    }
    return MABD_OK;
}

// Decide which parts are fully constrained at a node.
static mabd_status judge_parts(mabd_quaternion_sim* sim, const mabd_quaternion_node* node,
                               mabd_error* error) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_report report = {0};
        const mabd_quaternion_solve s = solve_at(sim, p, &report);
        MABD_TRY(mabd_quaternion_judge_constrained(&s, node, error));
    }
    return MABD_OK;
}

void mabd_quaternion_forget_history(mabd_quaternion_sim* sim) {
    const size_t bodies = MABD_NODE_REALS * (size_t)sim->model->body_count * sizeof(mabd_real);
    const size_t coordinates = 2 * (size_t)sim->model->coordinate_count * sizeof(mabd_real);
    mabd_quaternion_node* nodes[] = {&sim->last, &sim->next, &sim->base, &sim->stage, &sim->past};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        memcpy(nodes[i]->body, sim->now.body, bodies);
        memcpy(nodes[i]->x, sim->now.x, coordinates);
    }
    memset(sim->lambda, 0, (size_t)sim->row_count * sizeof *sim->lambda);
    memset(sim->branch, 0, (size_t)sim->model->coordinate_count * sizeof *sim->branch);
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].has_history = sim->parts[p].has_slope = sim->parts[p].has_branches = false;
    }
    sim->forces_known = false;
}

void mabd_quaternion_place_bodies(mabd_quaternion_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[i]], &sim->start[i]);
        if (sim->body_slot[i] < 0) s.v = s.omega = mabd_v3(0, 0, 0);
        store_body(&s, sim->now.body + MABD_NODE_REALS * (size_t)i);
    }
}

mabd_status mabd_quaternion_start(mabd_quaternion_sim* sim, mabd_error* error) {
    const mabd_model* m = sim->model;
    sim->time = 0;
    mabd_quaternion_place_bodies(sim);
    memset(sim->now.x, 0, 2 * (size_t)m->coordinate_count * sizeof *sim->now.x);
    mabd_rigid_inputs_clear(&sim->inputs);
    memset(sim->times, 0, sizeof sim->times);
    read_controls(sim, &sim->now);
    MABD_TRY(eliminate(sim, &sim->now, true, error));
    MABD_TRY(judge_parts(sim, &sim->now, error));
    mabd_quaternion_forget_history(sim);
    const mabd_measure start = mabd_quaternion_measure(sim);
    mabd_rigid_books_open(&sim->books, &start);
    return MABD_OK;
}

mabd_status mabd_quaternion_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                      bool moved, mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    sim->time = time;
    memcpy(sim->next.x, sim->now.x, 2 * (size_t)m->coordinate_count * sizeof *sim->now.x);
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_real* from = sim->now.body + MABD_NODE_REALS * (size_t)i;
        mabd_real* row = sim->next.body + MABD_NODE_REALS * (size_t)i;
        memcpy(row, from, MABD_NODE_REALS * sizeof *row);
        if (sim->body_slot[i] < 0) continue;
        mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[i]], &state[i]);
        if (!moved) s.c = mabd_v3_load(from), s.q = mabd_q_load(from + 3);
        store_body(&s, row);
    }
    read_controls(sim, &sim->next);
    MABD_TRY(eliminate(sim, &sim->next, false, error));
    const mabd_measure before = mabd_quaternion_measure(sim);
    const mabd_quaternion_node now = sim->now;
    sim->now = sim->next, sim->next = now;
    mabd_quaternion_forget_history(sim);
    const mabd_measure after = mabd_quaternion_measure(sim);
    mabd_rigid_books_carry(&sim->books, &before, &after);
    return MABD_OK;
}

// ---- states as bytes ---------------------------------------------------------------------------

// Visit every array of a state. A change of this order raises state_version.
static void visit(void* self, mabd_rigid_cursor* at) {
    mabd_quaternion_sim* sim = self;
    const size_t bodies = (size_t)sim->model->body_count, real = sizeof(mabd_real);
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    mabd_quaternion_node* nodes[] = {&sim->now, &sim->last, &sim->slope};
    for (int i = 0; i < 3; i++) {
        mabd_rigid_visit(at, nodes[i]->body, MABD_NODE_REALS * bodies * real);
        mabd_rigid_visit(at, nodes[i]->x, 2 * coordinates * real);
    }
    mabd_rigid_visit(at, sim->lambda, (size_t)sim->row_count * real);
    mabd_rigid_visit_flags(at, sim->dropped, (size_t)sim->row_count);
    mabd_rigid_inputs_visit(&sim->inputs, at);
    mabd_rigid_visit(at, &sim->books, sizeof sim->books);
    mabd_rigid_visit(at, sim->branch, coordinates * sizeof *sim->branch);
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_rigid_visit_flags(at, &sim->parts[p].has_history, 1);
        mabd_rigid_visit_flags(at, &sim->parts[p].has_slope, 1);
        mabd_rigid_visit_flags(at, &sim->parts[p].has_branches, 1);
    }
}

size_t mabd_quaternion_state_size(const void* self) {
    return mabd_rigid_state_size(self, visit);
}

void mabd_quaternion_save(const void* self, void* buffer) {
    mabd_rigid_save(self, visit, buffer);
}

mabd_status mabd_quaternion_restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_quaternion_sim* sim = self;
    MABD_TRY(mabd_rigid_restore(self, visit, buffer, size));
    sim->time = time;
    sim->forces_known = false;
    for (int32_t p = 0; p < sim->part_count; p++) { // motors at the state, for joint forces
        mabd_quaternion_report report = {0};
        mabd_quaternion_solve s = solve_at(sim, p, &report);
        mabd_quaternion_set_inputs(&s);
    }
    return MABD_OK;
}
