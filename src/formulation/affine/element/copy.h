// SPDX-License-Identifier: Apache-2.0
// Copies that settle one by one: operations on one copy, one body, one slot (affine/copies.c).
#pragma once

#include "formulation/affine/data.h"

/// True if the current solve is for a copy.
MABD_FN bool mabd_affine_stage_counts(const mabd_affine_sim* sim, int32_t copy) {
    if (sim->scope == MABD_SCOPE_ALL) return true;
    return sim->jumps[copy] == (sim->scope == MABD_SCOPE_JUMPING);
}

/// Begin a solve for one copy. A copy that the solve is not for counts as settled.
MABD_FN void mabd_affine_stage_begin_copy(const mabd_affine_sim* sim, int32_t copy) {
    mabd_affine_copy_state* state = &sim->copies[copy];
    state->settled = !mabd_affine_stage_counts(sim, copy);
    state->saved = false;
    state->rotation = 0, state->rotated_body = -1;
    state->open.gap = state->open.angle = state->open.nonlinear = 0, state->open.joint = -1;
}

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

/// Returns the copy that a body belongs to.
MABD_FN int32_t mabd_affine_copy_of_body(const mabd_affine_sim* sim, int32_t body) {
    return body / sim->model->copy_bodies;
}
/// Returns the copy that a coordinate belongs to. All copies have the same number of coordinates.
MABD_FN int32_t mabd_affine_copy_of_coordinate(const mabd_affine_sim* sim, int32_t k) {
    return k / (int32_t)(sim->sizes.coordinates / sim->sizes.copies);
}
/// Returns the copy that a slot belongs to: that of a joint or of a junction.
MABD_FN int32_t mabd_affine_copy_of_slot(const mabd_affine_sim* sim, int32_t slot) {
    const mabd_model* m = sim->model;
    const int32_t joint = m->plan->slot_joint[slot];
    return joint >= 0 ? joint / m->copy_joints : (-1 - joint) / m->copy_bodies;
}

/// Save or restore the new coordinates, rotation and stress of one body.
MABD_FN void mabd_affine_stage_move_body(const mabd_affine_sim* sim, int32_t body, bool back) {
    if (!mabd_affine_stage_moves_copy(sim, mabd_affine_copy_of_body(sim, body), back)) return;
    const size_t at = (size_t)body;
    mabd_affine_stage_move_reals(12 * at, 12, back, sim->q_new, sim->settled_q);
    mabd_affine_stage_move_reals(6 * at, 6, back, sim->stress_new, sim->settled_stress);
    if (sim->sizes.spins == 0) return;
    mabd_real* aside = sim->settled_spin + 8 * at;
    mabd_affine_stage_move_reals(0, 4, back, sim->spin_ref + 4 * at, aside);
    mabd_affine_stage_move_reals(0, 4, back, sim->spin_step + 4 * at, aside + 4);
}

/// Save or restore the reference of one coordinate.
MABD_FN void mabd_affine_stage_move_coordinate(const mabd_affine_sim* sim, int32_t k, bool back) {
    if (!mabd_affine_stage_moves_copy(sim, mabd_affine_copy_of_coordinate(sim, k), back)) return;
    mabd_affine_stage_move_reals((size_t)k, 1, back, sim->x_ref, sim->settled_x);
}

/// Save or restore the multipliers of one slot: those of a joint, or degrees of freedom of a
/// junction.
MABD_FN void mabd_affine_stage_move_slot(const mabd_affine_sim* sim, int32_t slot, bool back) {
    const mabd_model* m = sim->model;
    if (!mabd_affine_stage_moves_copy(sim, mabd_affine_copy_of_slot(sim, slot), back)) return;
    mabd_affine_stage_move_reals((size_t)m->plan->slot_row[slot], (size_t)m->plan->slot_width[slot],
                                 back, sim->lambda, sim->settled_lambda);
}

// ---- steps in which some copies have a jump ----------------------------------------------------
//
// A step by BDF2 for the copies without a jump, then one by SDIRK2 from the same state for the
// others (affine/copies.c):
//   KEEP     before the first: keep the part of the state that does not become history
//   RETURN   between the two: keep the result of the first, go back to the state before the step
//   TAKE     after the second: copies without a jump take the result of the first

/// Copy `count` reals at `at`.
MABD_FN void mabd_affine_copy_reals(size_t at, size_t count, const mabd_real* from, mabd_real* to) {
    for (size_t k = at; k < at + count; k++) to[k] = from[k];
}
/// Keep what has no history (KEEP), exchange it with what was kept (RETURN), take it (TAKE).
MABD_FN void mabd_affine_steady_row(mabd_affine_steady_part part, size_t at, size_t count,
                                    mabd_real* now, mabd_real* other) {
    for (size_t k = at; k < at + count; k++) {
        const mabd_real old = other[k];
        if (part != MABD_STEADY_TAKE) other[k] = now[k];
        if (part != MABD_STEADY_KEEP) now[k] = old;
    }
}
/// Keep an array and go back to its history (RETURN), or take what was kept (TAKE).
MABD_FN void mabd_affine_steady_past(mabd_affine_steady_part part, size_t at, size_t count,
                                     const mabd_real* past, mabd_real* now, mabd_real* other) {
    if (part == MABD_STEADY_RETURN) {
        mabd_affine_copy_reals(at, count, now, other);
        mabd_affine_copy_reals(at, count, past, now);
    } else if (part == MABD_STEADY_TAKE) {
        mabd_affine_copy_reals(at, count, other, now);
    }
}
/// True if the data of a copy takes part.
MABD_FN bool mabd_affine_steady_counts(const mabd_affine_sim* sim, mabd_affine_steady_part part,
                                       int32_t copy) {
    return part != MABD_STEADY_TAKE || !sim->jumps[copy];
}

/// One part of the step for the state of a body.
MABD_FN void mabd_affine_stage_steady_body(const mabd_affine_sim* sim, mabd_affine_steady_part part,
                                           int32_t body) {
    const size_t i = (size_t)body;
    if (!mabd_affine_steady_counts(sim, part, mabd_affine_copy_of_body(sim, body))) return;
    mabd_affine_steady_past(part, 12 * i, 12, sim->q1, sim->q, sim->steady_q);
    mabd_affine_steady_past(part, 12 * i, 12, sim->v1, sim->v, sim->steady_v);
    mabd_affine_steady_past(part, 6 * i, 6, sim->stress1, sim->stress, sim->steady_stress);
    if (sim->sizes.spins == 0) return;
    mabd_affine_steady_row(part, MABD_SPIN_REALS * i, MABD_SPIN_REALS, sim->spin, sim->steady_spin);
    mabd_affine_steady_row(part, MABD_CENTER_REALS * i, MABD_CENTER_REALS, sim->center,
                           sim->steady_center);
    mabd_affine_steady_row(part, 0, 6, sim->orbit + 6 * i, sim->steady_orbit + 7 * i);
    mabd_affine_steady_row(part, 0, 1, sim->orbit_part + i, sim->steady_orbit + 7 * i + 6);
}

/// One part of the step for a coordinate.
MABD_FN void mabd_affine_stage_steady_coordinate(const mabd_affine_sim* sim,
                                                 mabd_affine_steady_part part, int32_t k) {
    const size_t i = (size_t)k;
    if (!mabd_affine_steady_counts(sim, part, mabd_affine_copy_of_coordinate(sim, k))) return;
    mabd_affine_steady_past(part, i, 1, sim->x1, sim->x, sim->steady_x);
    mabd_affine_steady_past(part, i, 1, sim->xd1, sim->xd, sim->steady_xd);
    if (sim->sizes.turns == 0) return;
    mabd_affine_steady_row(part, 4 * i, 4, sim->turn, sim->steady_turn);
}

/// One part of the step for the multipliers of a slot, which SDIRK2 overwrites.
MABD_FN void mabd_affine_stage_steady_slot(const mabd_affine_sim* sim, mabd_affine_steady_part part,
                                           int32_t slot) {
    const size_t at = (size_t)sim->model->plan->slot_row[slot];
    const size_t count = (size_t)sim->model->plan->slot_width[slot];
    if (!mabd_affine_steady_counts(sim, part, mabd_affine_copy_of_slot(sim, slot))) return;
    mabd_affine_steady_past(part, at, count, sim->lambda, sim->lambda, sim->steady_lambda);
}
