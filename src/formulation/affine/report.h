// SPDX-License-Identifier: Apache-2.0
// What stages have to say of the bodies and joints they went over, and how two such reports become one.
#pragma once

#include "math/shared.h"

/// What an iteration did to the bodies.
typedef struct mabd_affine_motion_report {
    mabd_real rotation;   // largest rotation of a body from its reference [rad]
    int32_t rotated_body; // which, -1 = no moving bodies
    int32_t broken_body;  // one whose state is not finite, -1 = none
    mabd_real*
        each; // (bodies) gets the rotation of every body, squared as below; null = nobody asks
} mabd_affine_motion_report;

/// How far rigid rows are open.
typedef struct mabd_affine_joint_error {
    mabd_real gap;       // [m]
    mabd_real angle;     // [rad]
    mabd_real nonlinear; // largest of the rows that one linear solve does not close [m], [rad]
    int32_t joint;       // where the larger of gap and angle is, -1 = no rows
} mabd_affine_joint_error;

/// One body more: the squares of twice its rotation and of its whole increment.
MABD_FN void mabd_affine_report_motion(mabd_affine_motion_report* report, int32_t body,
                                       mabd_real rotation, mabd_real size) {
    if (report->each) report->each[body] = rotation;
    if (!(size < (mabd_real)1e30) && report->broken_body < 0) report->broken_body = body;
    if (rotation > report->rotation) {
        report->rotation = rotation;
        report->rotated_body = body;
    }
}

/// The worse of two, each by itself; at equality the first joint.
MABD_FN void mabd_affine_joint_error_add(mabd_affine_joint_error* worst,
                                         const mabd_affine_joint_error* one) {
    const mabd_real before = worst->gap > worst->angle ? worst->gap : worst->angle;
    const mabd_real now = one->gap > one->angle ? one->gap : one->angle;
    if (one->joint >= 0 && (worst->joint < 0 || now > before)) worst->joint = one->joint;
    if (one->gap > worst->gap) worst->gap = one->gap;
    if (one->angle > worst->angle) worst->angle = one->angle;
    if (one->nonlinear > worst->nonlinear) worst->nonlinear = one->nonlinear;
}
