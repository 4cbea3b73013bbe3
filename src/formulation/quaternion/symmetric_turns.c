// SPDX-License-Identifier: Apache-2.0
// Dampers and armature on three free rotations in the matrix of the symmetric Newton.
//
// A damper couples the rotations of its two bodies: with the row j = (F_k on b, -Q'F_k on a) of the
// rotation about axis k of the joint frame, and b_k = bh (d_k + I_k/bh), its derivative is
// b_k j'j up to terms of the rates. The symmetric Newton has no blocks between bodies, and without
// them it converges as b/(J + b): not at all where dampers are stiff. But every such axis has a row
// in the system, and a row of compliance 1/b_k is that block. A row that has the spring of the axis
// already, of compliance c, takes both: with the multipliers l of the spring, L of the sum,
//
//   j dx + c l = -C,   L = l - b j dx      =>      j dx + c'L = -(c'/c) C,   1/c' = 1/c + b
//
// and l follows from dx. Axes with force laws keep the blocks of their bodies (assemble.c), and
// rigid servos hold their axes without a damper.

#include "formulation/quaternion/symmetric_turns.h"

#include <string.h>

/// A damped rotation with its row.
typedef struct turn_row {
    const mabd_quaternion_joint* j;
    int32_t r;         // row of the joint
    int axis;          // of the rotation
    mabd_real gain;    // b
    mabd_real springs; // compliance c of the spring, scaled; 0 = none
} turn_row;

typedef void turn_fn(const mabd_quaternion_solve* s, const turn_row* turn);

// Call for each damped rotation of a part whose row carries it.
static void for_turns(const mabd_quaternion_solve* s, turn_fn* fn) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
        for (int32_t k = 0; set->damped && k < set->control_count; k++) {
            const mabd_control* c = &set->control[k];
            const mabd_real gain = s->bh * c->damping + c->armature;
            if (!mabd_quaternion_is_damped_turn(set, k) || c->law || c->rigid) continue;
            const turn_row turn = {j, set->rigid_count + k, set->control_row[k].axis, gain,
                                   c->stiffness > 0 ? 1 / (c->stiffness * s->bh * s->bh) : 0};
            if (gain > 0) fn(s, &turn);
        }
    }
}

void mabd_quaternion_store_turn(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                int32_t r, int axis, mabd_real compliance) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_joint_view v =
        mabd_quaternion_view(sim, sim->pose, s->time, &sim->model->joints[j->joint]);
    const mabd_vec3 F = mabd_m3_column(&v.Fb, axis);
    const mabd_vec3 on_a = mabd_v3_scale(-1, mabd_m3_tmul(mabd_m3_tproduct(v.Ab, v.Aa), F));
    const mabd_vec3 torque[2] = {on_a, F};
    const size_t block[2] = {j->block_a, j->block_b};
    for (int side = 0; side < 2; side++) {
        mabd_real row[6] = {0};
        if (block[side] == SIZE_MAX) continue;
        mabd_v3_store(torque[side], row + 3);
        for (int32_t i = 0; i < 6; i++) {
            sim->lower[block[side] + (size_t)(6 * r + i)] = row[i];
            sim->U[block[side] + (size_t)(j->width * i + r)] = -row[i];
        }
    }
    mabd_real* D = sim->D + sim->slot_block[s->part->slot_first + j->slot];
    D[(size_t)(r * (j->width + 1))] = compliance;
}

static void store(const mabd_quaternion_solve* s, const turn_row* turn) {
    const mabd_quaternion_sim* sim = s->sim;
    if (turn->springs == 0) {
        mabd_quaternion_store_turn(s, turn->j, turn->r, turn->axis, 1 / turn->gain);
        return;
    }
    mabd_real* D = sim->D + sim->slot_block[s->part->slot_first + turn->j->slot];
    D[(size_t)(turn->r * (turn->j->width + 1))] = 1 / (1 / turn->springs + turn->gain);
}

void mabd_quaternion_store_turns(const mabd_quaternion_solve* s) {
    for_turns(s, store);
}

// Place of the row of a damped rotation in vectors of unknowns.
static size_t place_of(const mabd_quaternion_solve* s, const turn_row* turn) {
    return s->part->vector_first + 6 * (size_t)s->part->body_count +
           (size_t)(turn->j->row - s->part->row_first + turn->r);
}

// -(c'/c) C in place of -C: (1 - c'/c) = c'b
static void scale(const mabd_quaternion_solve* s, const turn_row* turn) {
    const size_t at = place_of(s, turn);
    const mabd_real c = turn->springs, part = c > 0 ? 1 - 1 / (1 + c * turn->gain) : 1;
    s->sim->rhs[at] += part * s->sim->residual[at];
}

void mabd_quaternion_scale_turns(const mabd_quaternion_solve* s) {
    for_turns(s, scale);
}

// l = l - (residual + j dx)/c, 0 without a spring
static void finish(const mabd_quaternion_solve* s, const turn_row* turn) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_joint* j = turn->j;
    const size_t at = place_of(s, turn), block[2] = {j->block_a, j->block_b};
    const int32_t slot[2] = {j->slot_a, j->slot_b};
    mabd_real way = sim->residual[at];
    sim->y[at] = 0;
    if (turn->springs == 0) return;
    for (int side = 0; side < 2; side++) {
        if (block[side] == SIZE_MAX) continue;
        const mabd_real* J = sim->lower + block[side] + 6 * (size_t)turn->r;
        const mabd_real* dx = sim->y + s->part->vector_first + 6 * (size_t)slot[side];
        for (int k = 0; k < 6; k++) way += J[k] * dx[k];
    }
    sim->y[at] = sim->multiplier[j->row + turn->r] - way / turn->springs;
}

void mabd_quaternion_finish_turns(const mabd_quaternion_solve* s) {
    for_turns(s, finish);
}
