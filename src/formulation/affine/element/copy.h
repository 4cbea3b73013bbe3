// SPDX-License-Identifier: Apache-2.0
// Copies that settle one by one: operations on one copy, one body, one slot (affine/copies.c).
#pragma once

#include "formulation/affine/data.h"

/// Find the largest rotation of the moving bodies of a copy. rotations (bodies): squares of twice
/// the rotation.
MABD_FN void mabd_affine_stage_check_copy(const mabd_affine_sim* sim, const mabd_real* rotations,
                                          int32_t copy, mabd_affine_copy_state* state) {
    const int32_t first = copy * sim->model->copy_bodies, last = first + sim->model->copy_bodies;
    state->rotation = 0, state->rotated_body = -1;
    state->open.gap = state->open.angle = state->open.nonlinear = 0, state->open.joint = -1;
    for (int32_t i = first; i < last; i++) {
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC ||
            !(rotations[i] > state->rotation)) {
            continue;
        }
        state->rotation = rotations[i], state->rotated_body = i;
    }
}

/// Convert the rotation to an angle [rad]; true if it is within the tolerance.
MABD_FN bool mabd_affine_stage_turn_copy(const mabd_affine_copy_goal* goal,
                                         mabd_affine_copy_state* state) {
    state->rotation = state->rotation > 0 ? (mabd_real)sqrt(state->rotation) / 2 : 0;
    return state->rotation <= goal->rotation;
}

/// True if the errors of the joints of a copy are within the tolerance.
MABD_FN bool mabd_affine_stage_is_closed(const mabd_affine_copy_goal* goal,
                                         const mabd_affine_joint_error* open) {
    if (!goal->every_row) return open->nonlinear <= goal->joint_error;
    return (open->gap > open->angle ? open->gap : open->angle) <= goal->joint_error;
}

/// True if data of this copy is to be moved: saved if the copy has just settled, or restored (back)
/// if it was saved.
MABD_FN bool mabd_affine_stage_moves_copy(const mabd_affine_sim* sim, int32_t copy, bool back) {
    const mabd_affine_copy_state* state = &sim->copies[copy];
    return back ? state->saved : state->settled && !state->saved;
}

/// Save `count` reals from now to aside, or restore them (back).
MABD_FN void mabd_affine_stage_move_reals(size_t at, size_t count, bool back, mabd_real* now,
                                          mabd_real* aside) {
    mabd_real* to = back ? now : aside;
    const mabd_real* from = back ? aside : now;
    for (size_t k = at; k < at + count; k++) to[k] = from[k];
}

/// Save or restore the new coordinates, rotation and stress of one body.
MABD_FN void mabd_affine_stage_move_body(const mabd_affine_sim* sim, int32_t body, bool back) {
    if (!mabd_affine_stage_moves_copy(sim, body / sim->model->copy_bodies, back)) return;
    const size_t at = (size_t)body;
    mabd_affine_stage_move_reals(12 * at, 12, back, sim->q_new, sim->settled_q);
    mabd_affine_stage_move_reals(6 * at, 6, back, sim->stress_new, sim->settled_stress);
    if (sim->sizes.spins == 0) return;
    mabd_real* aside = sim->settled_spin + 8 * at;
    mabd_affine_stage_move_reals(0, 4, back, sim->spin_ref + 4 * at, aside);
    mabd_affine_stage_move_reals(0, 4, back, sim->spin_step + 4 * at, aside + 4);
}

/// Save or restore the reference of one coordinate. All copies have the same number of coordinates.
MABD_FN void mabd_affine_stage_move_coordinate(const mabd_affine_sim* sim, int32_t k, bool back) {
    const int32_t of_copy = (int32_t)(sim->sizes.coordinates / sim->sizes.copies);
    if (!mabd_affine_stage_moves_copy(sim, k / of_copy, back)) return;
    mabd_affine_stage_move_reals((size_t)k, 1, back, sim->x_ref, sim->settled_x);
}

/// Save or restore the multipliers of one slot: those of a joint, or degrees of freedom of a
/// junction.
MABD_FN void mabd_affine_stage_move_slot(const mabd_affine_sim* sim, int32_t slot, bool back) {
    const mabd_model* m = sim->model;
    const int32_t joint = m->plan->slot_joint[slot];
    const int32_t copy = joint >= 0 ? joint / m->copy_joints : (-1 - joint) / m->copy_bodies;
    if (!mabd_affine_stage_moves_copy(sim, copy, back)) return;
    mabd_affine_stage_move_reals((size_t)m->plan->slot_row[slot], (size_t)m->plan->slot_width[slot],
                                 back, sim->lambda, sim->settled_lambda);
}
