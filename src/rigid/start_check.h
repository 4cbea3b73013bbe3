// SPDX-License-Identifier: Apache-2.0
// Errors of joints in a start pose.
#pragma once

#include "rigid/start_work.h"

/// The joint with the largest error beyond its tolerance.
typedef struct mabd_rigid_open_joint {
    int32_t joint;    // -1 = none
    mabd_real size;   // [m] or [rad]
    mabd_real excess; // over the tolerance
    bool angle;
} mabd_rigid_open_joint;

/// View of a joint at the current state of the simulation, start->now.
mabd_joint_view mabd_rigid_view_now(const mabd_rigid_start_work* s, const mabd_model_joint* joint);
/// Compute the error of a joint that is round-off at s->poses [m].
mabd_real mabd_rigid_round_off(const mabd_joint_view* view);
/// Find the joint whose rigid rows have the largest error at s->poses.
mabd_rigid_open_joint mabd_rigid_find_open_joint(const mabd_rigid_start_work* s);
/// Write the message that a joint is open, followed by `why`, and return MABD_ERR_INPUT.
mabd_status mabd_rigid_refuse_open_joint(const mabd_rigid_start_work* s,
                                         const mabd_rigid_open_joint* open, const char* why);
