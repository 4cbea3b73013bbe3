// SPDX-License-Identifier: Apache-2.0
// Time integration as numbers: a step is one or two implicit solves, each given by a few
// coefficients.
#pragma once

#include "math/vec3.h"

#include <stdbool.h>

/// One implicit solve: v = (q_new - q_b)/bh and v' = (v - v_b)/bh at its end. Each scheme is a
/// choice of numbers: q_b = w q + w1 q1, v_b = w v + w1 v1 [VQ eq. 25, App. A].
///
///                  q is at   end      bh      w       w1          g = 1 - 1/sqrt(2), k = (1 - g)/g
///   euler          t         t + h    h       1       0
///   bdf2           t         t + h    2h/3    4/3    -1/3         q1 at t - h
///   sdirk first    t         t + gh   gh      1       0
///   sdirk second   t + gh    t + h    gh      k       1 - k       q1 at t
///   start          the numbers of bdf2, over a part of the first step (first_step.h)
///
/// The two solves of SDIRK2 start BDF2; unlike one Euler step they add no visible damping.
typedef enum mabd_affine_scheme {
    MABD_SCHEME_EULER,
    MABD_SCHEME_BDF2,
    MABD_SCHEME_SDIRK_FIRST,
    MABD_SCHEME_SDIRK_SECOND,
    MABD_SCHEME_START,
} mabd_affine_scheme;

/// Coefficients of a solve, equal for all bodies of one scheme.
typedef struct mabd_affine_step_scale {
    mabd_real beta_h;   // bh [s]
    mabd_real w, w1;    // of mabd_affine_scheme; w1 = 0: q1, v1 are not used
    mabd_real lead;     // from q to the end [s]
    mabd_real back;     // from q1 to q [s], 0 if w1 = 0
    mabd_real curve;    // guess: q + lead (v + curve (v - v1))
    mabd_real time_end; // of the solve [s]
    bool saves_start;   // its state is restored if a later solve of the step fails
    bool orbits;        // paths of centres are corrected (affine/element/orbit.h)
    bool starts_orbits; // accelerations one step ago are extrapolated, for corrections to follow
    mabd_vec3 wind;     // [m/s]
} mabd_affine_step_scale;

/// Compute q_hat = q_b + bh v_b of one coordinate: the motion by inertia only.
MABD_FN mabd_real mabd_affine_step_target(const mabd_affine_step_scale* s, mabd_real q,
                                          mabd_real q1, mabd_real v, mabd_real v1) {
    return (s->w * q + s->w1 * q1) + s->beta_h * (s->w * v + s->w1 * v1);
}
/// Compute q + lead (v + curve (v - v1)), a prediction of second order.
MABD_FN mabd_real mabd_affine_step_guess(const mabd_affine_step_scale* s, mabd_real q, mabd_real v,
                                         mabd_real v1) {
    return q + s->lead * (v + s->curve * (v - v1));
}

/// Compute (q_new - q_b)/bh of one coordinate, rate = 1/bh.
MABD_FN mabd_real mabd_affine_step_rate(mabd_real rate, mabd_real w, mabd_real w1, mabd_real q_new,
                                        mabd_real q, mabd_real q1) {
    return rate * (q_new - (w * q + w1 * q1));
}
/// Predict a joint coordinate from its rate, before the bodies are predicted.
MABD_FN mabd_real mabd_affine_step_coordinate(const mabd_affine_step_scale* s, mabd_real x,
                                              mabd_real xd) {
    return x + s->lead * xd;
}
