// SPDX-License-Identifier: Apache-2.0
// Errors of a dual solver's result relative to the solution of the whole KKT system.
#pragma once

#include "support/kkt_scene.h"

/// Each is the largest over the components of the scene, relative to a scale of that component
/// alone, so a large part does not hide a small one. |.| is the largest entry; lengths in m, angles
/// in rad, forces in N, torques in N m; * is the solution of the oracle.
typedef struct kkt_errors {
    double dq;      // |dq - dq*| / |increment over the whole step|
    double lambda;  // |lambda - lambda*| / |lambda*|
    double opening; // |J dq - c lambda - b| [m, rad], not relative
} kkt_errors;

/// Measure a result: dq (bodies x 12) and lambda (rows, joint by joint).
kkt_errors kkt_measure(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda);
/// Compare two results: dq and lambda with other_dq and other_lambda; opening is 0.
kkt_errors kkt_between(const kkt_system* kkt, const mabd_real* dq, const mabd_real* lambda,
                       const mabd_real* other_dq, const mabd_real* other_lambda);
