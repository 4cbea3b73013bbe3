// SPDX-License-Identifier: Apache-2.0
// Copies that settle one by one. All copies are solved together, again and again, until each is good (formulation/mabd/solve.c). One
// that is good sooner keeps what it has come to then, aside, and takes it back in the end; what further solves make of it is nobody's
// concern. So a copy has the bits it would have alone, whatever the others need: components of different copies share
// nothing in a solve, and when to stop is the one thing that would.
//
// With contacts and with laws on axes more than that is decided for all bodies at once (how often pieces change at a reference, a step by
// Euler after a blow), so there copies go on together.

#include "cpu/stages.h"

#include <string.h>

bool mabd_cpu_settles_apart(const mabd_model* m) {
    return m->copy_count > 1 && !m->contact.enabled && !m->laws;
}

void mabd_cpu_open_copies(mabd_cpu_sim* sim) {
    memset(sim->copies, 0, sim->sizes.copies * sizeof *sim->copies);
}

// ---- looking -----------------------------------------------------------------------------------------

// Largest twist of the bodies of a copy that are in no run; those of runs come with their tile.
static void look_at_bodies(const mabd_cpu_sim* sim, int32_t copy, mabd_copy_state* state) {
    const int32_t first = copy * sim->model->copy_bodies, last = first + sim->model->copy_bodies;
    state->twist = 0, state->twisted_body = -1;
    for (int32_t i = first; i < last; i++) {
        if (!(sim->twists[i] > state->twist)) continue;
        state->twist = sim->twists[i], state->twisted_body = i;
    }
}

// A run is a part of one chain, so of one copy.
static void look_at_runs(const mabd_cpu_sim* sim) {
    const mabd_packs* packs = sim->packs;
    for (int32_t i = 0; packs->run_count > 0 && i < packs->tile_count; i++) {
        mabd_copy_state* state = &sim->copies[packs->tiles[i].body_first / sim->model->copy_bodies];
        if (packs->tiles[i].run < 0 || state->settled) continue;
        if (packs->motions[i].twist > state->twist) {
            state->twist = packs->motions[i].twist;
            state->twisted_body = packs->motions[i].twisted_body;
        }
        mabd_opening_add(&state->open, &packs->inner[i]);
    }
}

// Rigid rows of the joints of a copy, but those inside of runs.
static void look_at_joints(const mabd_cpu_sim* sim, int32_t copy, mabd_opening* worst) {
    const int32_t last = (copy + 1) * sim->model->copy_joints;
    const bool* inner = sim->packs->joint_inner;
    for (int32_t i = copy * sim->model->copy_joints; i < last;) {
        int32_t stop = last;
        if (inner) {
            while (i < last && inner[i]) i++;
            for (stop = i; stop < last && !inner[stop];) stop++;
        }
        if (i < stop) sim->stages->check(sim, sim->q_new, i, stop, worst);
        i = stop;
    }
}

// ---- keeping -----------------------------------------------------------------------------------------

// Part [first, first + count) of an array of rows of `width` reals goes aside, or comes back.
static void move(bool back, size_t width, size_t first, size_t count, mabd_real* now,
                 mabd_real* aside) {
    const size_t at = width * first, bytes = width * count * sizeof *now;
    memcpy(back ? now + at : aside + at, back ? aside + at : now + at, bytes);
}

static void move_bodies(mabd_cpu_sim* sim, int32_t copy, bool back) {
    const mabd_model* m = sim->model;
    const size_t bodies = (size_t)m->copy_bodies, coordinates = sim->sizes.coordinates;
    const size_t of_copy = coordinates / (size_t)m->copy_count, i = (size_t)copy;
    move(back, 12, i * bodies, bodies, sim->q_new, sim->settled_q);
    move(back, 6, i * bodies, bodies, sim->stress_new, sim->settled_stress);
    move(back, 1, i * of_copy, of_copy, sim->x_ref, sim->settled_x);
}

// Of copies that have just settled; back: of all that are kept. Multipliers lie by components.
static void move_kept(mabd_cpu_sim* sim, bool back) {
    const mabd_plan* plan = sim->model->plan;
    for (int32_t i = 0; i < sim->model->copy_count; i++) {
        const mabd_copy_state* state = &sim->copies[i];
        if (mabd_copy_moves(state, back)) move_bodies(sim, i, back);
    }
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        const int32_t body = plan->component_bodies[c->body_first];
        const mabd_copy_state* state = &sim->copies[body / sim->model->copy_bodies];
        if (!mabd_copy_moves(state, back)) continue;
        const int32_t row = plan->slot_row[c->slot_first];
        move(back, 1, (size_t)row, (size_t)(plan->slot_row[c->slot_first + c->slot_count] - row),
             sim->lambda, sim->settled_lambda);
    }
}

// ---- all together ------------------------------------------------------------------------------------

// Twists of those that have not settled, and what is open inside of their runs.
static void look(mabd_cpu_sim* sim) {
    static const mabd_opening closed = {0, 0, 0, -1};
    for (int32_t i = 0; i < sim->model->copy_count; i++) {
        if (sim->copies[i].settled) continue;
        sim->copies[i].open = closed;
        look_at_bodies(sim, i, &sim->copies[i]);
    }
    look_at_runs(sim);
}

int32_t mabd_cpu_settle_copies(mabd_cpu_sim* sim, const mabd_copy_goal* goal) {
    int32_t left = 0;
    look(sim);
    for (int32_t i = 0; i < sim->model->copy_count; i++) {
        mabd_copy_state* state = &sim->copies[i];
        if (state->settled) continue;
        state->twist = state->twist > 0 ? (mabd_real)sqrt(state->twist) / 2 : 0;
        const bool turned = state->twist <= goal->twist;
        if (turned || goal->last) look_at_joints(sim, i, &state->open);
        state->settled = turned && mabd_copy_is_closed(&state->open, goal);
        left += !state->settled;
    }
    if (left == 0) return 0;
    move_kept(sim, false);
    for (int32_t i = 0; i < sim->model->copy_count; i++) {
        sim->copies[i].kept = sim->copies[i].settled;
    }
    return left;
}

void mabd_cpu_close_copies(mabd_cpu_sim* sim) {
    move_kept(sim, true);
}
