// SPDX-License-Identifier: Apache-2.0
// Coordinates of joints with pieces from the poses of their bodies.
#pragma once

#include "formulation/redmax/redmax_data.h"

/// Result of a fit: what the joint cannot reach.
typedef struct mabd_redmax_fit {
    mabd_real opening; // largest component of the remaining twist [m], [rad]
    mabd_real slip;    // largest component of the remaining relative velocity [m/s], [rad/s]
    mabd_real speed;   // of the two bodies [m/s], [rad/s]
} mabd_redmax_fit;

/// True if the coordinates of a joint follow from poses by a fit: it has pieces.
bool mabd_redmax_is_fitted(const mabd_redmax_sim* sim, int32_t joint);
/// Set the coordinates of joints with pieces of a node to those of the start pose.
void mabd_redmax_start_strings(const mabd_redmax_sim* sim, mabd_redmax_node* node);
/// Fit coordinates and rates of the string of a joint to the states of its bodies a and b. `near`
/// is where it begins; `to` gets the result and may be near, or null.
mabd_redmax_fit mabd_redmax_fit_string(const mabd_redmax_sim* sim, int32_t joint,
                                       const mabd_rigid_state* a, const mabd_rigid_state* b,
                                       const mabd_redmax_node* near, mabd_redmax_node* to);
