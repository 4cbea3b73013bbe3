// SPDX-License-Identifier: Apache-2.0
// Error of the rigid rows of a joint, from poses alone.
#pragma once

#include "model/model_data.h"

/// Compute the largest error of the translations [m] and of the rotations [rad] that a joint locks.
/// The view holds the poses of both bodies; gap and angle are 0 where nothing is locked.
MABD_FN void mabd_rigid_joint_error(const mabd_joint_view* view, const mabd_row_set* set,
                                    mabd_real* gap, mabd_real* angle) {
    const mabd_vec3 gap_vector = mabd_joint_gap(view);
    *gap = *angle = 0;
    if (set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT) {
        *gap = mabd_v3_norm(gap_vector);
    }
    for (int32_t r = 0; r < set->rigid_count; r++) {
        const mabd_row* row = &set->rigid[r];
        const mabd_real C = (mabd_real)fabs(mabd_row_value(view, row, gap_vector));
        const mabd_real turn = C < 1 ? (mabd_real)asin(C) : MABD_PI / 2;
        if (row->kind == MABD_ROW_SLIDE && C > *gap) *gap = C;
        if (row->kind == MABD_ROW_CROSS && turn > *angle) *angle = turn;
    }
}

/// Raise the largest errors so far of all joints by those of one: gap [m], angle [rad], and the
/// joint that raised one of them last (-1 = none so far).
MABD_FN void mabd_rigid_keep_error(const mabd_joint_view* view, const mabd_row_set* set,
                                   int32_t joint, mabd_real* gap, mabd_real* angle,
                                   int32_t* worst) {
    mabd_real open, turn;
    mabd_rigid_joint_error(view, set, &open, &turn);
    if (open > *gap || turn > *angle || *worst < 0) *worst = joint;
    if (open > *gap) *gap = open;
    if (turn > *angle) *angle = turn;
}
