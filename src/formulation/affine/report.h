// SPDX-License-Identifier: Apache-2.0
// Reports of stages and dual solvers about bodies and joints, and how two reports are merged.
#pragma once

#include "dual/dual.h"
#include "formulation/affine/limits.h"

#include "math/shared.h"
#include "topology/plan.h"

/// Motion of the bodies in an iteration.
typedef struct mabd_affine_motion_report {
    mabd_real rotation;   // largest rotation of a body from its reference [rad]
    int32_t rotated_body; // which, -1 = no moving bodies
    int32_t broken_body;  // one whose state is not finite, -1 = none
    // (bodies) gets the square of twice the rotation of every body; null = not needed
    mabd_real* each;
} mabd_affine_motion_report;

/// Largest errors of rigid rows.
typedef struct mabd_affine_joint_error {
    mabd_real gap;       // [m]
    mabd_real angle;     // [rad]
    mabd_real nonlinear; // largest of the rows that one linear solve does not close [m], [rad]
    int32_t joint;       // where the larger of gap and angle is, -1 = no rows
} mabd_affine_joint_error;

/// Include one body: the squares of twice its rotation and of its whole increment.
MABD_FN void mabd_affine_report_motion(mabd_affine_motion_report* report, int32_t body,
                                       mabd_real rotation, mabd_real size) {
    if (report->each) report->each[body] = rotation;
    if (!(size < MABD_BROKEN_SQUARE) && report->broken_body < 0) report->broken_body = body;
    if (rotation > report->rotation) {
        report->rotation = rotation;
        report->rotated_body = body;
    }
}

/// Merge joint errors: the larger of each; at equality the first joint.
MABD_FN void mabd_affine_joint_error_add(mabd_affine_joint_error* worst,
                                         const mabd_affine_joint_error* one) {
    const mabd_real before = worst->gap > worst->angle ? worst->gap : worst->angle;
    const mabd_real now = one->gap > one->angle ? one->gap : one->angle;
    if (one->joint >= 0 && (worst->joint < 0 || now > before)) worst->joint = one->joint;
    if (one->gap > worst->gap) worst->gap = one->gap;
    if (one->angle > worst->angle) worst->angle = one->angle;
    if (one->nonlinear > worst->nonlinear) worst->nonlinear = one->nonlinear;
}

/// Goal of iterative dual solvers: half the gap tolerance [m], which leaves room for round-off
/// between residual and gap.
MABD_FN mabd_dual_goal mabd_affine_dual_goal(mabd_real gap_tolerance) {
    const mabd_dual_goal goal = {MABD_DUAL_GOAL_PART * gap_tolerance, MABD_DUAL_MAX_ITERATIONS};
    return goal;
}
/// Merge two reports: sum of the iterations, larger residual; a NaN stays.
MABD_FN void mabd_affine_dual_report_add(mabd_dual_report* sum, const mabd_dual_report* one) {
    sum->iterations += one->iterations;
    if (sum->residual == sum->residual && !(one->residual <= sum->residual)) {
        sum->residual = one->residual;
    }
}
/// Find the joint of a slot of the plan; for a slot of a junction, one of the joints on it.
MABD_FN int32_t mabd_affine_joint_near(const mabd_plan* plan, int32_t slot) {
    const int32_t joint = plan->slot_joint[slot];
    return joint >= 0 ? joint : plan->slot_joint[plan->sides[plan->side_start[-1 - joint]].slot];
}
