// SPDX-License-Identifier: Apache-2.0
// Numbers that tune the impulse formulation.
#pragma once

#include "mabd/base.h"

/// Damping ratio of soft joints: errors fall without overshooting at any frequency.
#define MABD_IMPULSE_JOINT_DAMPING ((mabd_real)2)
/// Largest frequency of a soft row times the substep: above a quarter it overshoots.
#define MABD_IMPULSE_HERTZ_MAX ((mabd_real)0.25)
/// Error of the rows of a mechanism below which its poses are not projected (2-norm) [m], [rad].
#define MABD_IMPULSE_PROJECT_LEAST ((mabd_real)1e-13)
/// Error from which it is said if no projection makes it smaller (2-norm) [m], [rad].
#define MABD_IMPULSE_PROJECT_MUCH ((mabd_real)1e-6)
/// Stiffness against turns of a body with which the torque of a rotation row counts, relative to
/// the torque: soft rows of carriers open by 4/(pi^2 40) = 0.01 rad at most (carriers.c).
#define MABD_IMPULSE_TORQUE_STIFFNESS ((mabd_real)40)
/// Largest turn of a body in a step whose substeps share K^-1 of ball joints [rad] (rows_lanes.c).
#define MABD_IMPULSE_SHARED_TURN ((mabd_real)0.25)
/// Most halvings of a projection.
#define MABD_IMPULSE_PROJECT_HALVINGS 6
/// Packs of bodies that a thread takes at once: 512 bodies.
#define MABD_IMPULSE_BODY_PACKS 64
/// Part of its diagonal that is added to a block that is not positive definite.
#define MABD_IMPULSE_BLOCK_SHIFT ((mabd_real)1e-10)
/// Newton iterations of the implicit midpoint rule of a free rotation: quadratic from a start that
/// is off by h |w|, 1/8 at 10 rad/s and 10 ms.
#define MABD_IMPULSE_SPIN_ITERATIONS 3
/// Residual of that rule, relative to the angular momentum, above which a body takes the substep
/// without gyroscopic torque: iterations that do not converge would gain energy.
#define MABD_IMPULSE_SPIN_RESIDUAL ((mabd_real)1e-3)
/// Largest change of an impulse in the last sweep, relative to the largest impulse, of a step that
/// counts as converged.
#define MABD_IMPULSE_CONVERGED ((mabd_real)1e-3)
/// Distance up to which contact points are found: falls in a step from rest, and at least [m].
#define MABD_IMPULSE_MARGIN_FALLS 4
#define MABD_IMPULSE_MARGIN_LEAST ((mabd_real)1e-3)
/// Damping ratio of soft contacts.
#define MABD_IMPULSE_CONTACT_DAMPING ((mabd_real)10)
/// Largest speed at which overlapping bodies part [m/s].
#define MABD_IMPULSE_PUSH_MPS ((mabd_real)4)
/// Least speed of approach of a rebound [m/s].
#define MABD_IMPULSE_REBOUND_MPS ((mabd_real)0.5)
/// Sweeps of the rebound: points of one face share it.
#define MABD_IMPULSE_REBOUND_SWEEPS 8
/// Stiffness of a row that has a torque and no stiffness of its own, relative to the springs of its
/// joint.
#define MABD_IMPULSE_SLOPE_LEAST ((mabd_real)1e-6)
/// Kinetic energy of fast bodies, relative to all energy that bodies were given, at which a step
/// diverges (divergence.c): beyond what errors of the order h gain, and few steps before numbers
/// end.
#define MABD_IMPULSE_GAIN_MOST ((mabd_real)10)
/// Most substeps and sweeps that a definition may have.
#define MABD_IMPULSE_COUNT_MAX 100000
