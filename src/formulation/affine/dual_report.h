// SPDX-License-Identifier: Apache-2.0
// What both backends ask of dual solvers, and make of what these say.
#pragma once

#include "formulation/affine/data.h"

/// Goal of iterative solvers: closer than the tolerance, which leaves room for round-off between residual and gap.
MABD_FN mabd_dual_goal mabd_affine_dual_goal(const mabd_affine_sim* sim) {
    const mabd_dual_goal goal = {(mabd_real)0.5 * sim->gap_tolerance, 2000};
    return goal;
}
/// Iterations of both, the larger residual; a NaN stays.
MABD_FN void mabd_dual_report_add(mabd_dual_report* sum, const mabd_dual_report* one) {
    sum->iterations += one->iterations;
    if (sum->residual == sum->residual && !(one->residual <= sum->residual)) {
        sum->residual = one->residual;
    }
}
/// The joint of a slot of the plan; of a junction, one that it carries.
MABD_FN int32_t mabd_affine_joint_near(const mabd_plan* plan, int32_t slot) {
    const int32_t joint = plan->slot_joint[slot];
    return joint >= 0 ? joint : plan->slot_joint[plan->sides[plan->side_start[-1 - joint]].slot];
}
