// SPDX-License-Identifier: Apache-2.0
// Results of rigid bodies as arrays of a user.
#pragma once

#include "model/model_data.h"
#include "rigid/row_jacobian.h"

#include <string.h>

/// Write the state of a body to its place in the arrays of mabd_sim_get_state; null arrays are left
/// out.
MABD_FN void mabd_rigid_write_state(const mabd_model_start* user, size_t body, mabd_real* positions,
                                    mabd_real* quaternions, mabd_real* velocities,
                                    mabd_real* angular) {
    const size_t three = 3 * sizeof(mabd_real), four = 4 * sizeof(mabd_real);
    if (positions) memcpy(positions + 3 * body, user->position, three);
    if (quaternions) memcpy(quaternions + 4 * body, user->rotation, four);
    if (velocities) memcpy(velocities + 3 * body, user->velocity, three);
    if (angular) memcpy(angular + 3 * body, user->angular_velocity, three);
}

/// Add s times the force and torque (6) of a row on body b, at its anchor in world axes. near:
/// coordinate before, of angle and vector rows; null for others.
MABD_FN void mabd_rigid_add_row_force(const mabd_joint_view* view, const mabd_row* row,
                                      const mabd_real* near, mabd_real s, mabd_real* wrench) {
    const mabd_rigid_joint at = mabd_rigid_joint_at(view, 1, row, near);
    const mabd_rigid_row J = mabd_rigid_row_jacobian(&at, row);
    const bool force = row->kind == MABD_ROW_POINT || row->kind == MABD_ROW_SLIDE;
    const mabd_vec3 effect = force ? J.b.f : mabd_m3_mul(view->Ab, J.b.t);
    if (!force) wrench += 3;
    mabd_v3_store(mabd_v3_axpy(s, effect, mabd_v3_load(wrench)), wrench);
}
