// SPDX-License-Identifier: Apache-2.0
// The start state, states that are set, states as bytes. All are states that the joints allow
// (rigid/start.h). Momenta of a start are those of its velocities: the discrete Legendre transform.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/frames.h"
#include "rigid/joint_coordinates.h"

#include <string.h>

// Bodies, coordinates and momenta of armatures from a state in sim->from and sim->twist.
static void take_axes(mabd_variational_sim* sim, mabd_real time, bool near) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* j = &m->joints[i];
        const mabd_row_set* set = mabd_variational_set(sim, i);
        mabd_real x[2 * MABD_JOINT_MAX_ROWS], last[2 * MABD_JOINT_MAX_ROWS] = {0};
        if (j->coordinate < 0 || set->control_count == 0) continue;
        const mabd_joint_view view = mabd_variational_view(sim, sim->from, time, i);
        for (int32_t r = 0; near && r < set->control_count; r++) {
            last[2 * r] = sim->axis[j->coordinate + r].x;
        }
        mabd_rigid_control_coordinates(set, &view, sim->twist[j->a], sim->twist[j->b], last, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            mabd_variational_axis* axis = &sim->axis[j->coordinate + r];
            memset(axis, 0, sizeof *axis);
            axis->x = x[2 * r], axis->rate = x[2 * r + 1];
            axis->armature = set->control[r].armature * axis->rate;
        }
    }
}

static void take_body(mabd_variational_sim* sim, int32_t i, const mabd_rigid_state* s, bool pose) {
    mabd_variational_body* body = &sim->now[i];
    const mabd_model_class* c = mabd_variational_class(sim, i);
    const mabd_vec3 center = pose ? s->c : body->c;
    const mabd_quat turn = pose ? s->q : body->q;
    const mabd_real* J = c->principal;
    memset(body, 0, sizeof *body);
    body->c = center, body->q = turn;
    body->v = s->v, body->w = mabd_q_rotate(mabd_q_conjugate(turn), s->omega);
    body->node.v = body->v, body->node.w = body->w;
    body->P = mabd_v3_scale(c->material.mass, body->v);
    body->L = mabd_v3(J[0] * body->w.x, J[1] * body->w.y, J[2] * body->w.z);
    sim->from[i].R = mabd_q_matrix(turn), sim->from[i].c = center;
    sim->twist[i] = body->node;
}

// Take a state (bodies) as that of `time`, without history.
static void take_state(mabd_variational_sim* sim, mabd_real time, const mabd_model_start* state,
                       bool moved, bool near) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_rigid_twist still = {{0, 0, 0}, {0, 0, 0}};
        const mabd_rigid_state s = mabd_rigid_from_user(mabd_variational_class(sim, i), &state[i]);
        if (mabd_variational_moves(sim, i)) {
            take_body(sim, i, &s, moved);
        } else if (sim->body_script[i] >= 0) {
            sim->twist[i] = mabd_rigid_twist_of(&s);
        } else {
            const mabd_rigid_state fixed =
                mabd_rigid_from_user(mabd_variational_class(sim, i), &sim->start[i]);
            sim->from[i].R = mabd_q_matrix(fixed.q), sim->from[i].c = fixed.c;
            sim->twist[i] = still;
        }
    }
    take_axes(sim, time, near);
    memset(sim->lambda, 0, (size_t)sim->plan->row_count * sizeof *sim->lambda);
    memset(sim->input, 0, sim->inputs.count * sizeof *sim->input);
    sim->time = time;
    sim->begun = sim->velocity_known = false;
}

// Write the world and fixed bodies to both ends of a step.
static void place_fixed(mabd_variational_sim* sim) {
    const int32_t world = sim->model->body_count;
    sim->from[world].R = mabd_m3_identity(), sim->from[world].c = mabd_v3(0, 0, 0);
    memset(&sim->twist[world], 0, sizeof sim->twist[world]);
    for (int32_t i = 0; i <= world; i++) {
        if (!mabd_variational_moves(sim, i)) sim->to[i] = sim->from[i];
    }
}

mabd_status mabd_variational_start(mabd_variational_sim* sim, mabd_error* error) {
    (void)error;
    mabd_rigid_inputs_clear(&sim->inputs);
    memset(sim->times, 0, sizeof sim->times);
    memset(sim->depth, 0, (size_t)sim->island_count * sizeof *sim->depth);
    mabd_variational_reset_contacts(sim);
    place_fixed(sim);
    take_state(sim, 0, sim->start, true, false);
    place_fixed(sim);
    const mabd_measure start = mabd_variational_measure(sim);
    mabd_rigid_books_open(&sim->books, &start);
    return MABD_OK;
}

mabd_status mabd_variational_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                       bool moved, mabd_error* error) {
    mabd_variational_sim* sim = self;
    (void)error;
    const mabd_measure before = mabd_variational_measure(sim);
    if (moved) mabd_variational_reset_contacts(sim);
    take_state(sim, time, state, moved, true);
    const mabd_measure after = mabd_variational_measure(sim);
    mabd_rigid_books_carry(&sim->books, &before, &after);
    return MABD_OK;
}

// ---- states as bytes ---------------------------------------------------------------------------

// Visit every array of a state. A change of this order raises state_version.
static void visit(void* self, mabd_rigid_cursor* at) {
    mabd_variational_sim* sim = self;
    const size_t bodies = (size_t)sim->model->body_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    mabd_rigid_visit(at, sim->now, bodies * sizeof *sim->now);
    mabd_rigid_visit(at, sim->axis, coordinates * sizeof *sim->axis);
    mabd_rigid_visit(at, sim->lambda, (size_t)sim->plan->row_count * sizeof *sim->lambda);
    mabd_rigid_visit(at, sim->depth, (size_t)sim->island_count * sizeof *sim->depth);
    mabd_rigid_visit(at, sim->input, sim->inputs.count * sizeof *sim->input);
    mabd_rigid_inputs_visit(&sim->inputs, at);
    mabd_rigid_visit(at, &sim->books, sizeof sim->books);
    mabd_rigid_visit_flags(at, &sim->begun, 1);
}

size_t mabd_variational_state_size(const void* self) {
    const mabd_variational_sim* sim = self;
    return mabd_rigid_state_size(self, visit) + mabd_variational_contacts_state_size(sim->contacts);
}

void mabd_variational_save(const void* self, void* buffer) {
    const mabd_variational_sim* sim = self;
    mabd_rigid_save(self, visit, buffer);
    mabd_variational_save_contacts(sim->contacts,
                                   (char*)buffer + mabd_rigid_state_size(self, visit));
}

mabd_status mabd_variational_restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_variational_sim* sim = self;
    const size_t own = mabd_rigid_state_size(self, visit);
    if (size < own) return MABD_ERR_INPUT;
    const void* points = (const char*)buffer + own;
    MABD_TRY(mabd_variational_restore_contacts(sim->contacts, points, size - own, true));
    MABD_TRY(mabd_rigid_restore(self, visit, buffer, own));
    MABD_TRY(mabd_variational_restore_contacts(sim->contacts, points, size - own, false));
    sim->time = time;
    sim->velocity_known = false;
    return MABD_OK;
}
