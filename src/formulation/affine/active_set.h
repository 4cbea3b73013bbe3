// SPDX-License-Identifier: Apache-2.0
// The active set at one reference: branches of the force laws of axes and of contacts.
#pragma once

#include "formulation/affine/newton.h"

/// After a linear solve: move axes, then contacts, to the branches that the solution is on. Returns
/// MABD_VERDICT_AGAIN while branches change, MABD_VERDICT_NEXT once they are right,
/// MABD_VERDICT_LEAVE with *a if they do not settle or a device failed.
mabd_affine_verdict mabd_affine_update_active_set(mabd_affine_solve* solve, mabd_affine_attempt* a);
/// Failure of axes whose branches do not settle.
mabd_affine_attempt mabd_affine_axes_unsettled(const mabd_affine_axis_report* axes);
/// Joint error of a solve that must vanish at its end: after a direct dual solve that of the rows
/// which are not linear, after an iterative one that of all rows, measured at the bodies.
mabd_real mabd_affine_remaining_error(const mabd_affine_sim* sim,
                                      const mabd_affine_joint_error* error);
/// Copy counts and residuals of contacts to a step's report.
void mabd_affine_report_contacts(const mabd_affine_sim* sim,
                                 const mabd_affine_contact_report* contacts, mabd_step_info* info);
