// SPDX-License-Identifier: Apache-2.0
// Springs through points of rigid bodies: forces and energy at poses, and their part of the
// stability estimate of explicit steps. Poses and twists are those of all bodies, scripted ones
// included, and of the world: (bodies + 1).
#pragma once

#include "rigid/spring_law.h"
#include "rigid/stability.h"
#include "rigid/twist.h"

/// A spring at one state.
typedef struct mabd_rigid_spring {
    mabd_real length, rate; // [m], [m/s]
    mabd_rigid_spring_tension t;
    mabd_real elastic; // tension without damping [N]
} mabd_rigid_spring;

/// Compute the state of a spring at poses and twists.
mabd_rigid_spring mabd_rigid_spring_at(const mabd_model* m, const mabd_model_spring* own,
                                       const mabd_rigid_pose* poses, const mabd_rigid_twist* u);
/// Add the wrenches of a tension T [N] along a spring to those of bodies, loads (bodies + 1). Those
/// of scripted bodies and of the world are the forces that hold it.
void mabd_rigid_spring_pull(const mabd_model* m, const mabd_model_spring* own,
                            const mabd_rigid_pose* poses, mabd_real T, mabd_rigid_wrench* loads);
/// Compute the energy of a spring at poses [J].
mabd_real mabd_rigid_spring_energy(const mabd_model* m, const mabd_model_spring* own,
                                   const mabd_rigid_pose* poses);
/// Add a spring to the stability of its bodies, s (bodies), for a step that takes its forces at the
/// start.
void mabd_rigid_spring_stability(const mabd_model* m, const mabd_model_spring* own,
                                 const mabd_rigid_pose* poses, const mabd_rigid_twist* u,
                                 mabd_rigid_stability* s);
