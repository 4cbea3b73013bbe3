// SPDX-License-Identifier: Apache-2.0
// How far the result of a dual solver is from the solution of the whole KKT system.
#pragma once

#include "support/kkt_scene.h"

/// Each is the largest over the components of the scene, relative to a scale of that component
/// alone, so a small part is not hidden by a large one. |.| is the largest entry, lengths in m,
/// angles in rad, forces in N, torques in N m, * the solution of the oracle.
typedef struct kkt_errors {
    double dq;      // |dq - dq*| / |increment over the whole step|
    double lambda;  // |lambda - lambda*| / |lambda*|
    double opening; // |J dq - c lambda - b| [m, rad], not relative
} kkt_errors;

/// dq (bodies x 12) and lambda (rows, joint by joint): the result to be measured.
kkt_errors kkt_measure(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda);
/// The same between two results, dq and lambda against other_dq and other_lambda; opening is 0.
kkt_errors kkt_between(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda,
                       const mabd_real* other_dq, const mabd_real* other_lambda);
