// SPDX-License-Identifier: Apache-2.0
// One implicit solve of a time step, whatever its scheme.
#pragma once

#include "formulation/affine/backend.h"

/// Outcome of a solve.
typedef struct mabd_affine_attempt {
    mabd_status status;
    int32_t body, joint; // where it failed, -1 = none
    const char* reason;  // "" after a failure of the device (mabd_affine_backend_ops.last_error)
} mabd_affine_attempt;

/// State of a solve from iteration to iteration.
typedef struct mabd_affine_solve {
    mabd_affine_sim* sim;
    mabd_step_info* info;
    mabd_real h; // [s]
    mabd_affine_motion_report motion;
    mabd_affine_axis_report axes;
    mabd_affine_contact_report contacts;
    mabd_affine_joint_error joint_error;
    int32_t reference;       // number of the current one
    int32_t round;           // searches for contacts at the current reference
    int32_t extra_solves;    // at references that had been solved at before
    bool solved;             // at least once
    bool same_reference;     // the next solve is at the same reference
    bool first_axes;         // axes were not updated since contacts changed
    bool keep_forces;        // forces of contact rows are those of the last reference
    bool by_copy;            // copies converge one by one
    mabd_real last_rotation; // of the reference before [rad]
    double clock;            // when stage `check` began [s]
} mabd_affine_solve;

/// Decision after a linear solve.
typedef enum mabd_affine_verdict {
    MABD_VERDICT_AGAIN, // solve again at the same reference
    MABD_VERDICT_NEXT,  // the active set is right: check the result, continue at the next reference
    MABD_VERDICT_END,   // no more solves
    MABD_VERDICT_LEAVE, // the outcome is decided, good or bad
} mabd_affine_verdict;

/// Solve the equations of a scheme for the step of length h [s] that begins at `time` [s]. q_new
/// gets the result, q and its history stay. Counts and measures are added to *info.
/// MABD_ERR_SINGULAR, MABD_ERR_DIVERGED, MABD_ERR_MEMORY, MABD_ERR_DEVICE.
mabd_affine_attempt mabd_affine_newton(mabd_affine_sim* sim, mabd_affine_scheme scheme,
                                       mabd_real time, mabd_real h, mabd_step_info* info);
/// Joint error allowed at the end of a step [m], [rad].
mabd_real mabd_affine_row_tolerance(const mabd_affine_sim* sim);

/// Make an attempt of its parts. body, joint: -1 = none.
MABD_FN mabd_affine_attempt mabd_affine_outcome(mabd_status status, int32_t body, int32_t joint,
                                                const char* reason) {
    const mabd_affine_attempt a = {status, body, joint, reason};
    return a;
}
/// Attempt that ended with the status of a device: on failure the state of the step is unknown.
MABD_FN mabd_affine_attempt mabd_affine_lost(mabd_status status) {
    return mabd_affine_outcome(status, -1, -1, "");
}
/// Add the time since `since` to a stage. Returns now [s].
double mabd_affine_lap(mabd_affine_sim* sim, mabd_affine_stage stage, double since);

/// Call a stage in a function that returns mabd_affine_attempt; only a device can fail in it.
#define MABD_AFFINE_TRY_STAGE(call)                                                                \
    do {                                                                                           \
        const mabd_status status_ = (call);                                                        \
        if (status_ != MABD_OK) return mabd_affine_lost(status_);                                  \
    } while (0)
