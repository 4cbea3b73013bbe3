// SPDX-License-Identifier: Apache-2.0
// The force law of one axis at the end of the solve under way, from the control and the history of its coordinate.
#pragma once

#include "formulation/affine/data.h"

/// The law of control r of a joint that has controls.
MABD_FN mabd_axis_law mabd_affine_axis_law(const mabd_affine_sim* sim,
                                           const mabd_model_joint* joint, int32_t r) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const mabd_affine_control_value* value =
        sim->controls + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + r;
    const int32_t i = joint->coordinate + r;
    const mabd_real bh = sim->step.beta_h, rate = 1 / bh, w = sim->step.w, w1 = sim->step.w1;
    const mabd_real x_b = w * sim->x[i] + w1 * sim->x1[i];
    const mabd_real xd_b = w * sim->xd[i] + w1 * sim->xd1[i];
    mabd_axis_law law;
    law.slope = c->stiffness + rate * (c->damping + rate * c->armature);
    law.level = value->target + rate * (c->damping * x_b + c->armature * (rate * x_b + xd_b));
    law.lower = c->lower, law.upper = c->upper;

    mabd_axis_box *drive = &law.box[0], *friction = &law.box[1];
    const mabd_real k = c->drive_gain + rate * c->drive_damping;
    drive->most = c->max_force;
    drive->compliance = k > 0 ? 1 / k : 0;
    drive->at = c->drive_rate ? x_b + bh * value->drive : value->drive;
    // kp (target - x) = kd (x - x_b)/bh
    if (k > 0) drive->at = (c->drive_gain * value->drive + rate * c->drive_damping * x_b) / k;
    friction->most = c->friction;
    friction->compliance = 0;
    friction->at = x_b;
    return law;
}
