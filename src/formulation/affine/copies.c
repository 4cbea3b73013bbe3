// SPDX-License-Identifier: Apache-2.0
// Copies that converge one by one. All copies are solved together, repeatedly, until each has
// converged (affine/newton.c). A copy that converges sooner saves its result and restores it in the
// end; later solves do not count for it. So a copy has the same bits as if it were simulated alone,
// whatever the others need: components of different copies share nothing in a solve but the
// decision when to stop.
//
// With contacts and with laws on axes more is decided for all bodies at once (the number of changes
// of branches at a reference, a step by Euler after an impact), so there copies converge together.
//
// Where some copies have a jump (affine/jumps.c) and others do not, the step is taken twice from
// the same state: by BDF2, which counts for the copies without a jump, then by SDIRK2 for the
// others (affine/step.c). Each copy has the bits that it has alone; a copy that a solve is not for
// counts as settled, but a failure of its equations is a failure of the step. Such a step costs
// three solves instead of one or two. Solving each set of copies by itself would take lists of
// bodies, joints and components for every stage, and where all copies of a batch act at the same
// times, as they do in most, no step is taken twice.

#include "formulation/affine/copies.h"

#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/element/copy.h"

#include <string.h>

bool mabd_affine_settles_by_copy(const mabd_model* m) {
    return m->copy_count > 1 && !m->contact.enabled && !m->laws;
}

// A segment is part of one chain, so of one copy; its rotation and its joint error come with its
// tile.
static void check_segments(const mabd_affine_sim* sim) {
    const mabd_affine_packs* packs = sim->packs;
    for (int32_t i = 0; packs->segment_count > 0 && i < packs->tile_count; i++) {
        mabd_affine_copy_state* state =
            &sim->copies[packs->tiles[i].body_first / sim->model->copy_bodies];
        if (packs->tiles[i].segment < 0 || state->settled) continue;
        if (packs->motions[i].rotation > state->rotation) {
            state->rotation = packs->motions[i].rotation;
            state->rotated_body = packs->motions[i].rotated_body;
        }
        mabd_affine_joint_error_add(&state->open, &packs->inner_errors[i]);
    }
}

// Rigid rows of the joints of a copy, except those inside segments.
static void check_joints(const mabd_affine_sim* sim, int32_t copy, mabd_affine_joint_error* worst) {
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

static void move_copies(const mabd_affine_sim* sim, bool back) {
    const int32_t coordinates = (int32_t)sim->sizes.coordinates;
    for (int32_t i = 0; i < sim->model->body_count; i++) mabd_affine_stage_move_body(sim, i, back);
    for (int32_t i = 0; i < coordinates; i++) mabd_affine_stage_move_coordinate(sim, i, back);
    for (int32_t i = 0; i < sim->model->plan->slot_count; i++)
        mabd_affine_stage_move_slot(sim, i, back);
}

int32_t mabd_affine_settle_copies(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal) {
    const int32_t copies = sim->model->copy_count;
    int32_t left = 0;
    for (int32_t i = 0; goal->first && i < copies; i++) mabd_affine_stage_begin_copy(sim, i);
    for (int32_t i = 0; i < copies; i++) {
        mabd_affine_copy_state* state = &sim->copies[i];
        if (!state->settled) mabd_affine_stage_check_copy(sim, sim->rotations, i, state);
    }
    check_segments(sim);
    for (int32_t i = 0; i < copies; i++) {
        mabd_affine_copy_state* state = &sim->copies[i];
        if (state->settled) continue;
        const bool turned = mabd_affine_stage_turn_copy(goal, state);
        if (turned || goal->last) check_joints(sim, i, &state->open);
        state->settled = turned && mabd_affine_stage_is_closed(goal, &state->open);
        left += !state->settled;
    }
    if (left == 0) return 0;
    move_copies(sim, false);
    for (int32_t i = 0; i < copies; i++) sim->copies[i].saved = sim->copies[i].settled;
    return left;
}

void mabd_affine_close_copies(mabd_affine_sim* sim) {
    move_copies(sim, true);
}

void mabd_affine_steady_copies(mabd_affine_sim* sim, mabd_affine_steady_part part) {
    const int32_t coordinates = (int32_t)sim->sizes.coordinates;
    for (int32_t i = 0; i < sim->model->body_count; i++)
        mabd_affine_stage_steady_body(sim, part, i);
    for (int32_t i = 0; i < coordinates; i++) mabd_affine_stage_steady_coordinate(sim, part, i);
    for (int32_t i = 0; i < sim->model->plan->slot_count; i++)
        mabd_affine_stage_steady_slot(sim, part, i);
}
