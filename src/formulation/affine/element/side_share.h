// SPDX-License-Identifier: Apache-2.0
// Where one side of a joint writes its share of the dual system: to the block and the right-hand
// side of the joint, or to storage of its own if the side is deferred (mabd_affine_shares).
#pragma once

#include "formulation/affine/data.h"

/// Find a deferred side; null if the side is not deferred.
MABD_FN const mabd_affine_deferred* mabd_affine_shares_find(const mabd_affine_shares* shares,
                                                            int32_t side) {
    int32_t low = 0, high = shares->deferred_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (shares->deferred[middle].side < side) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < shares->deferred_count && shares->deferred[low].side == side;
    return found ? &shares->deferred[low] : NULL;
}

/// True if a joint has springs on the rotation vector and both its moving bodies carry such joints
/// and balls only, so that it may be started and finished in lanes. kinds (bodies):
/// mabd_affine_body_kind.
MABD_FN bool mabd_affine_is_spring_joint(const mabd_model* model, const uint8_t* kinds,
                                         const mabd_model_joint* joint) {
    if (!model->row_sets[joint->row_set].springs || joint->frame < 0) return false;
    const int32_t bodies[2] = {joint->a, joint->b};
    for (int i = 0; i < 2; i++) {
        if (model->body_motion[bodies[i]] == MABD_MOTION_DYNAMIC &&
            kinds[bodies[i]] != MABD_BODY_SPRUNG) {
            return false;
        }
    }
    return true;
}

// Kernels look up the offset in a table; the host searches for it. Kernels have no spring groups.
#ifdef MABD_KERNEL_SOURCE
MABD_FN size_t mabd_affine_shares_offset(const mabd_affine_shares* shares, int32_t side) {
    return shares->side_offset[side];
}
MABD_FN bool mabd_affine_in_group(const mabd_affine_sim* sim, const mabd_model_joint* joint) {
    return (void)sim, (void)joint, false;
}
#else
/// Offset of a deferred side in shares->values.
MABD_FN size_t mabd_affine_shares_offset(const mabd_affine_shares* shares, int32_t side) {
    return mabd_affine_shares_find(shares, side)->offset;
}
/// True if a joint is started and finished in lanes, with its group (affine/cpu/pack_turns.c).
MABD_FN bool mabd_affine_in_group(const mabd_affine_sim* sim, const mabd_model_joint* joint) {
    return mabd_affine_is_spring_joint(sim->model, sim->body_kind, joint);
}
#endif

/// Destination of the share of a side.
typedef struct mabd_affine_side_place {
    mabd_affine_side_mode mode;
    mabd_real *D, *rhs; // block (width x width), right-hand side (width)
} mabd_affine_side_place;

/// Find the place of a side of the plan.
MABD_FN mabd_affine_side_place mabd_affine_place_of_side(const mabd_affine_sim* sim, int32_t side) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t slot = plan->sides[side].slot;
    mabd_affine_side_place to;
    to.mode = (mabd_affine_side_mode)sim->shares->side_mode[side];
    to.D = sim->D + plan->slot_block[slot];
    to.rhs = sim->lambda + plan->slot_row[slot];
    if (to.mode == MABD_SIDE_DEFERRED) {
        const int32_t width = plan->slot_width[slot];
        to.D = sim->shares->values + mabd_affine_shares_offset(sim->shares, side);
        to.rhs = to.D + width * width;
    }
    return to;
}

/// Add the share of a deferred side to its joint, after all sides have written.
MABD_FN void mabd_affine_add_deferred(const mabd_affine_sim* sim,
                                      const mabd_affine_deferred* deferred) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_real* from = sim->shares->values + deferred->offset;
    mabd_real *D = sim->D + plan->slot_block[deferred->slot],
              *rhs = sim->lambda + plan->slot_row[deferred->slot];
    const int32_t width = plan->slot_width[deferred->slot];
    for (int32_t k = 0; k < width * width; k++) D[k] += *from++;
    for (int32_t k = 0; k < width; k++) rhs[k] += *from++;
}

/// Add the anchor on the body that does not move to rhs, for a joint with point rows to the ground.
MABD_FN void mabd_affine_add_ground(const mabd_affine_sim* sim, int32_t side, mabd_real* rhs) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[plan->sides[side].slot]];
    const bool is_b = plan->sides[side].is_b;
    const mabd_vec3 other = mabd_affine_point_of(sim->ref, is_b ? joint->a : joint->b,
                                                 mabd_v3_load(is_b ? joint->Xa : joint->Xb));
    mabd_v3_store(mabd_v3_axpy(is_b ? -1 : 1, other, mabd_v3_load(rhs)), rhs);
}

/// Add the compliances of the three springs of a joint to D (6 x 6). coordinate: its first one.
MABD_FN void mabd_affine_add_compliance(const mabd_affine_sim* sim, int32_t row_set,
                                        int32_t coordinate, mabd_real* D) {
    const mabd_affine_control_value* value = sim->controls + (size_t)row_set * MABD_JOINT_MAX_ROWS;
    if (!sim->model->row_sets[row_set].damped) {
        for (int k = 0; k < 3; k++) D[7 * (3 + k)] += value[k].compliance;
        return;
    }
    const mabd_real* C = sim->turn_compliance + 3 * (size_t)coordinate;
    for (int k = 0; k < 3; k++) D[7 * (3 + k)] += C[k];
    D[22] += C[3], D[23] += C[4], D[29] += C[5];
    D[27] += C[3], D[33] += C[4], D[34] += C[5];
}
