// SPDX-License-Identifier: Apache-2.0
// Errors of joints in a start pose.
#pragma once

#include "formulation/affine/start_work.h"

/// The joint with the largest error beyond its tolerance.
typedef struct mabd_affine_open_joint {
    int32_t joint;    // -1 = none
    mabd_real size;   // [m] or [rad]
    mabd_real excess; // over the tolerance
    bool angle;
} mabd_affine_open_joint;

/// View of a joint at the current state of the simulation, its bodies without strain.
mabd_joint_view mabd_affine_unstrained_view(const mabd_affine_start_work* s,
                                            const mabd_model_joint* joint);
/// Find the joint whose rigid rows have the largest error at q (bodies + 1 x 12).
mabd_affine_open_joint mabd_affine_find_open_joint(const mabd_affine_start_work* s,
                                                   const mabd_real* q);
/// Write the message that a joint is open, followed by `why`, and return MABD_ERR_INPUT.
mabd_status mabd_affine_refuse_open_joint(const mabd_affine_start_work* s,
                                          const mabd_affine_open_joint* open, const char* why);
