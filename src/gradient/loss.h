// SPDX-License-Identifier: Apache-2.0
// The loss of one state of a run and its derivatives (loss.c).
#pragma once

#include "formulation/formulation.h"
#include "gradient/variant.h"

/// Terms of a loss with the arrays that they read and write.
typedef struct mabd_loss_frame {
    const mabd_variant* variant;
    mabd_gradient_def def;              // its arrays are copies
    mabd_real h;                        // [s]
    mabd_real *positions, *quaternions; // (bodies x 3), (bodies x 4)
    mabd_real *velocities, *angular;    // (bodies x 3)
    mabd_real* forces;                  // (joints x 6) null = no term needs them
    mabd_real* state_bars;              // (bodies x 12) position, turn, velocity, angular velocity
    mabd_real* force_bars;              // (joints x 6)
    mabd_real *efforts, *effort_bars;   // (joints x 6) null = no term needs them
    mabd_real *axes,
        *axis_bars;       // (joints x 6 x 2) of joints with pieces; null = no term needs them
    mabd_real energy_bar; // by the energy
    mabd_real* start_quaternions; // (bodies x 4) of state 0; null = no term needs them
    mabd_real* start_bars;        // (bodies x 3) by turns of the bodies in state 0
    mabd_real* user_bars;         // (4 x bodies x 3) of the user's function; null = none
} mabd_loss_frame;

/// True if some term is on an axis of a plain ball joint: these are the axes of the world at the
/// start.
bool mabd_loss_needs_start(const mabd_model* model, const mabd_gradient_def* def);
/// Begin a run: keep what the terms need of the start. The simulation is in state 0.
void mabd_loss_start(const mabd_loss_frame* f, const mabd_sim* sim);
/// True if some term needs a state.
bool mabd_loss_active(const mabd_loss_frame* f, int64_t state);
/// Add the terms of a state to *loss; the simulation is in it. With gradient (parameters) also set
/// the bars of the frame and add derivatives by parameters at a fixed state; null = only the loss.
void mabd_loss_evaluate(mabd_loss_frame* f, const mabd_sim* sim, int64_t state, mabd_real* loss,
                        mabd_real* gradient);
/// Add the terms of parameters, which count once.
void mabd_loss_parameters(const mabd_loss_frame* f, mabd_real* loss, mabd_real* gradient);
/// Refuse terms that have no derivatives: MABD_ERR_UNAVAILABLE.
mabd_status mabd_loss_refuse(const mabd_loss_frame* f, const mabd_sim* sim, const mabd_loss_term* t,
                             mabd_error* error);
/// True if terms are by coordinates of joints with pieces.
bool mabd_loss_needs_axes(const mabd_model* m, const mabd_gradient_def* def);
