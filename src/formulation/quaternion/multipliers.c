// SPDX-License-Identifier: Apache-2.0
// Weighted least-norm multipliers.
//
//   minimise 1/2 lambda' W lambda  with  J' lambda = E0:
//   (J' W^-1 J) y = E0,  lambda = W^-1 J y                                           [VQ eq. 32]
//
// by the body graph (body_graph.h), where [VQ] takes a sparse QR. W holds the weights of forces
// and torques along the axes of the joint on body a. Slide and rotation rows are along these axes:
// their weights are on the diagonal. Point rows are along the axes of the world: with the joint
// axes B (columns, world) their block is
//
//   W^-1 = B diag(1/w) B'
//
// Only free rows take part: forces of springs, dampers and servos with gains follow from the pose.
// Any multipliers of a solve give E0 = J' lambda, so that the motion stays as it is.

#include "formulation/quaternion/multipliers.h"

#include "formulation/quaternion/kinematics.h"

#include <string.h>

// Axis of the joint whose weight a row has; -1 for point rows.
static int axis_of(const mabd_row* row) {
    switch (row->kind) {
    case MABD_ROW_POINT:
        return -1;
    case MABD_ROW_SLIDE:
        return row->axis;
    case MABD_ROW_CROSS:
        return MABD_AXIS_RX + 3 - row->axis - row->other;
    default:
        return MABD_AXIS_RX + row->axis;
    }
}

// Entry (i, k) of B diag(1/w) B'
static mabd_real point_entry(const mabd_mat3* B, const mabd_real* weight, int i, int k) {
    mabd_real sum = 0;
    if (weight[0] == weight[1] && weight[1] == weight[2]) return i == k ? 1 / weight[0] : 0;
    for (int m = 0; m < 3; m++) {
        const mabd_vec3 axis = mabd_m3_column(B, m);
        sum += mabd_v3_get(axis, i) * mabd_v3_get(axis, k) / weight[m];
    }
    return sum;
}

// Write V of a joint. Returns true if it is not diagonal.
static bool set_joint(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                      mabd_real* V) {
    const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
    const mabd_row_set* set = &s->sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_quaternion_view(s->sim, s->sim->pose, s->time, joint);
    const mabd_mat3 B = mabd_m3_product(view.Aa, view.Fa);
    memset(V, 0, (size_t)(j->width * j->width) * sizeof *V);
    for (int32_t r = 0; r < j->width; r++) {
        const bool rigid = r < set->rigid_count;
        const mabd_row* row = rigid ? &set->rigid[r] : &set->control_row[r - set->rigid_count];
        const int axis = axis_of(row);
        if (!mabd_is_free_row(set, r)) continue;
        if (axis >= 0) V[r * (j->width + 1)] = 1 / set->weight[axis];
        for (int32_t q = 0; axis < 0 && q < set->rigid_count; q++) {
            if (set->rigid[q].kind != MABD_ROW_POINT) continue;
            V[r * j->width + q] = point_entry(&B, set->weight, row->axis, set->rigid[q].axis);
        }
    }
    return set->weight[0] != set->weight[1] || set->weight[1] != set->weight[2];
}

void mabd_quaternion_set_weights(const mabd_quaternion_solve* s) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        if (j->slot < 0) continue;
        mabd_real* V = s->part->graph->V + (size_t)i * MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH;
        s->part->graph->mixed[i] = set_joint(s, j, V);
    }
}

mabd_status mabd_quaternion_factor_weighted(const mabd_quaternion_solve* s) {
    int32_t slot;
    mabd_quaternion_set_weights(s);
    return mabd_body_graph_factor(s, MABD_MULTIPLIER_SHIFT, &slot);
}

void mabd_quaternion_least_norm(const mabd_quaternion_solve* s, const mabd_real* E0,
                                mabd_real* lambda) {
    mabd_real* y = s->part->graph->motion;
    mabd_body_graph_solve(s, E0, y);
    mabd_body_graph_row_forces(s, y, lambda);
}

void mabd_quaternion_reduce(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                            mabd_real* lambda) {
    mabd_body_graph* graph = s->part->graph;
    mabd_quaternion_take_pose(s, node);
    mabd_quaternion_store_rows(s);
    mabd_body_graph_body_forces(s, lambda, graph->force);
    if (mabd_quaternion_factor_weighted(s) == MABD_OK) {
        mabd_quaternion_least_norm(s, graph->force, lambda);
    }
}
